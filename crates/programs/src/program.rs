//! A program: calls in order, whose arguments are values of the user or places in earlier results.

use std::fmt;
use std::str::FromStr;

use callsieve_environment::value_path::{Step as PathStep, ValuePath};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Calls in order, from an initial state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// The number of the initial state in the environment.
    pub state: usize,
    /// The calls.
    pub steps: Vec<Step>,
}

/// One call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The function.
    pub function: String,
    /// Its arguments, in the order of the function's parameters.
    pub arguments: Vec<(String, Argument)>,
    /// The call is expected to fail; the steps after it repair what it lacked.
    pub fails: bool,
}

/// An argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Argument {
    /// A value that the user gives.
    Literal {
        /// The value.
        value: Value,
        /// Where the generator took it from.
        taken_from: TakenFrom,
    },
    /// A place in the result of an earlier step.
    Result(ResultPath),
}

/// Where a literal was taken from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TakenFrom {
    /// A place in the initial state.
    State(String),
    /// A list of values in the bindings.
    Bindings,
    /// The values that the function's doc allows.
    Enum,
    /// The default in the function's doc.
    Default,
    /// An example in the function's doc.
    Example,
}

/// A place in the result of a step: `$1.orders[0].id` is in the result of the first step.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ResultPath {
    /// The step, from 0.
    pub step: usize,
    /// The place in its result.
    pub path: ValuePath,
}

impl fmt::Display for ResultPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dot = if matches!(self.path.steps.first(), Some(PathStep::Member(_))) { "." } else { "" };
        write!(f, "${}{dot}{}", self.step + 1, self.path)
    }
}

impl FromStr for ResultPath {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let refused = || format!("\"{text}\" is not a place in a result, such as $1.orders[0].id");
        let rest = text.strip_prefix('$').ok_or_else(refused)?;
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (number, rest) = rest.split_at(digits);
        let step =
            number.parse::<usize>().ok().and_then(|number| number.checked_sub(1)).ok_or_else(refused)?;
        let path = match rest.strip_prefix('.') {
            Some(rest) if !rest.is_empty() => rest,
            None if rest.is_empty() || rest.starts_with('[') => rest,
            _ => return Err(refused()),
        };
        Ok(Self { step, path: path.parse().map_err(|_| refused())? })
    }
}

impl Serialize for ResultPath {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ResultPath {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl Step {
    /// Returns the argument of a parameter.
    pub fn argument(&self, parameter: &str) -> Option<&Argument> {
        self.arguments.iter().find(|(name, _)| name == parameter).map(|(_, argument)| argument)
    }

    /// Returns the places in earlier results that it uses, with their parameters.
    pub fn references(&self) -> impl Iterator<Item = (&str, &ResultPath)> {
        self.arguments.iter().filter_map(|(parameter, argument)| match argument {
            Argument::Result(path) => Some((parameter.as_str(), path)),
            Argument::Literal { .. } => None,
        })
    }

    /// Returns the values that the user gives, with their parameters.
    pub fn literals(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.arguments.iter().filter_map(|(parameter, argument)| match argument {
            Argument::Literal { value, .. } => Some((parameter.as_str(), value)),
            Argument::Result(_) => None,
        })
    }
}

impl Program {
    /// Returns `true` if a later step uses the result of this one.
    pub fn is_used(&self, step: usize) -> bool {
        self.steps.iter().any(|later| later.references().any(|(_, path)| path.step == step))
    }

    /// Returns `true` if a step uses the result of an earlier one.
    pub fn has_dependency(&self) -> bool {
        self.steps.iter().any(|step| step.references().next().is_some())
    }

    /// Returns the program without a step whose result no other uses.
    #[must_use]
    pub fn without(&self, removed: usize) -> Self {
        let mut program = self.clone();
        program.steps.remove(removed);
        for step in &mut program.steps {
            for (_, argument) in &mut step.arguments {
                if let Argument::Result(path) = argument
                    && path.step > removed
                {
                    path.step -= 1;
                }
            }
        }
        program
    }

    /// Returns the program with another value for an argument.
    #[must_use]
    pub fn with_literal(&self, step: usize, parameter: &str, value: &Value) -> Self {
        let mut program = self.clone();
        for (name, argument) in &mut program.steps[step].arguments {
            if let Argument::Literal { value: old, .. } = argument
                && name == parameter
            {
                *old = value.clone();
            }
        }
        program
    }

    /// Returns the functions that it calls, in the order of their first call.
    pub fn functions(&self) -> Vec<&str> {
        let mut functions: Vec<&str> = Vec::new();
        for step in &self.steps {
            if !functions.contains(&step.function.as_str()) {
                functions.push(&step.function);
            }
        }
        functions
    }

    /// Returns a text that two programs have in common only if they make the same calls in the same order.
    pub fn signature(&self) -> String {
        self.signature_of(self.steps.iter().map(Step::signature))
    }

    /// Returns a text that two programs of independent calls have in common only if they make the same calls, in any order.
    pub fn signature_in_any_order(&self) -> String {
        let mut steps: Vec<String> = self.steps.iter().map(Step::signature).collect();
        steps.sort_unstable();
        self.signature_of(steps)
    }

    fn signature_of(&self, steps: impl IntoIterator<Item = String>) -> String {
        steps.into_iter().fold(self.state.to_string(), |text, step| text + "\n" + &step)
    }
}

impl Step {
    fn signature(&self) -> String {
        use fmt::Write as _;
        let mut text = self.function.clone();
        for (parameter, argument) in &self.arguments {
            let _ = match argument {
                Argument::Literal { value, .. } => write!(text, "\t{parameter}={value}"),
                Argument::Result(path) => write!(text, "\t{parameter}={path}"),
            };
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(function: &str, arguments: &[(&str, &str)]) -> Step {
        let argument = |text: &str| match text.parse() {
            Ok(path) => Argument::Result(path),
            Err(_) => Argument::Literal { value: text.into(), taken_from: TakenFrom::Bindings },
        };
        let arguments = arguments.iter().map(|(name, text)| ((*name).to_owned(), argument(text))).collect();
        Step { function: function.to_owned(), arguments, fails: false }
    }

    #[test]
    fn a_place_in_a_result_is_read_as_it_is_written() {
        for text in ["$1", "$2.orders[0].id", "$12[3]", "$1.\"a.b\".c"] {
            assert_eq!(text.parse::<ResultPath>().unwrap().to_string(), text);
        }
        for text in ["1.a", "$0.a", "$1.", "$1[a]", "$1[0", "$1 a", "$1[-1]", "$", "$x"] {
            assert!(text.parse::<ResultPath>().is_err(), "{text}");
        }
    }

    #[test]
    fn independent_calls_in_another_order_have_the_same_signature_in_any_order() {
        let of = |steps: &[Step]| Program { state: 0, steps: steps.to_vec() };
        let (one, two) = (step("a", &[("x", "v")]), step("b", &[("x", "w")]));
        let (there, back) = (of(&[one.clone(), two.clone()]), of(&[two, one.clone()]));
        assert_ne!(there.signature(), back.signature());
        assert_eq!(there.signature_in_any_order(), back.signature_in_any_order());
        let other = of(&[one, step("b", &[("x", "other")])]);
        assert_ne!(other.signature_in_any_order(), there.signature_in_any_order());
    }

    #[test]
    fn a_removed_step_moves_the_references_behind_it() {
        let steps = vec![
            step("a", &[]),
            step("b", &[("x", "$1.id")]),
            step("c", &[]),
            step("d", &[("x", "$2.id"), ("y", "w")]),
        ];
        let program = Program { state: 0, steps };
        assert!(program.is_used(0) && program.is_used(1) && !program.is_used(2) && !program.is_used(3));
        let shorter = program.without(2);
        assert_eq!(shorter.signature(), "0\na\nb\tx=$1.id\nd\tx=$2.id\ty=\"w\"");
        let program =
            Program { state: 0, steps: vec![step("c", &[]), step("a", &[]), step("b", &[("x", "$2.id")])] };
        assert_eq!(program.without(0).signature(), "0\na\nb\tx=$1.id");
        assert_eq!(program.functions(), ["c", "a", "b"]);
        assert!(program.has_dependency());
    }

    #[test]
    fn only_a_literal_is_replaced() {
        let program = Program { state: 0, steps: vec![step("a", &[("x", "1"), ("y", "2")])] };
        assert_eq!(program.with_literal(0, "y", &"3".into()).signature(), "0\na\tx=\"1\"\ty=\"3\"");
        assert_eq!(program.with_literal(0, "z", &"3".into()), program);
    }
}
