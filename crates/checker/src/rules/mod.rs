//! Checks calls against the ground truth of an entry, in the order of the official evaluator (`ast_checker.py`).
//!
//! `call` checks one call against one doc, `types` the type of a value, `values` its value, `parallel` assigns outputs
//! to calls. `strict` compares values in strict mode.

mod call;
mod parallel;
mod strict;
#[cfg(test)]
mod tests;
mod types;
mod values;

use serde_json::{Map, Value};

pub use values::standardized;

use super::decode::is_list_of_calls;
use super::mode::Mode;
use super::value::{PyDict, PyValue};
use super::verdict::{ErrorType, EvaluatorException, Verdict};

/// How an output is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Checker {
    /// Whether verdicts follow the official code or its documentation.
    pub mode: Mode,
    /// How outputs are assigned to the calls of a parallel entry.
    pub matching: Matching,
    /// Whether the model writes `_` for `.` in names of functions (`underscore_to_dot` of the evaluator).
    pub underscore_to_dot: bool,
}

/// How outputs are assigned to the calls of a parallel entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Matching {
    /// Each call takes the first output that matches, as the official code does.
    #[default]
    Greedy,
    /// A maximum matching: an entry fails only if no assignment passes.
    Maximum,
}

/// The language that an entry's docs are written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Language {
    /// All live categories and most others.
    #[default]
    Python,
    /// `simple_java`.
    Java,
    /// `simple_javascript`.
    JavaScript,
}

/// The rule for the number of calls, by category.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// One call of the first doc.
    Simple,
    /// One call of the doc that the ground truth names.
    Multiple,
    /// Several calls in any order.
    Parallel,
}

impl Kind {
    /// Returns the rule for a category, by parts of its name as the official evaluator does.
    pub fn of_category(name: &str) -> Self {
        if name.contains("parallel") {
            Self::Parallel
        } else if name.contains("multiple") {
            Self::Multiple
        } else {
            Self::Simple
        }
    }
}

/// An entry to check outputs against; prepared once, used for any number of outputs.
#[derive(Debug, Clone)]
pub struct Case<'v> {
    functions: &'v Value,
    ground_truth: PyValue,
    kind: Kind,
    language: Language,
}

impl<'v> Case<'v> {
    /// Returns the entry with these functions (a list, or one doc) and the ground truth of its answer file.
    pub fn new(functions: &'v Value, ground_truth: &Value, kind: Kind, language: Language) -> Self {
        Self { functions, ground_truth: PyValue::from_json(ground_truth), kind, language }
    }

    /// Returns an entry whose ground truth is a value already.
    pub(super) fn of(functions: &'v Value, ground_truth: PyValue, kind: Kind, language: Language) -> Self {
        Self { functions, ground_truth, kind, language }
    }

    /// Returns the language of the entry.
    pub fn language(&self) -> Language {
        self.language
    }

    /// Returns the first doc.
    fn first_function(&self) -> Result<&'v Value, EvaluatorException> {
        match self.functions {
            Value::Array(functions) => functions
                .first()
                .ok_or_else(|| EvaluatorException::new("IndexError", "the entry has no function")),
            _ => Err(EvaluatorException::new("KeyError", "the functions of the entry are no list")),
        }
    }

    /// Returns the first doc with this name.
    fn function(&self, name: &PyValue) -> Result<&'v Value, EvaluatorException> {
        let Value::Array(functions) = self.functions else { return Ok(self.functions) };
        for function in functions {
            let Some(named) = member(function, "name") else {
                return Err(EvaluatorException::new("KeyError", "a function of the entry has no name"));
            };
            if named.as_str().is_some_and(|named| name.as_str() == Some(named)) {
                return Ok(function);
            }
        }
        let name = name.repr();
        Err(EvaluatorException::new(
            "TypeError",
            format!("the ground truth calls {name}, which is no function of the entry"),
        ))
    }

    /// Returns the calls of the ground truth.
    fn answers(&self) -> Result<&[PyValue], EvaluatorException> {
        self.ground_truth
            .as_list()
            .ok_or_else(|| EvaluatorException::new("TypeError", "the ground truth of the entry is no list"))
    }

    /// Returns a call of the ground truth.
    fn answer(&self, at: usize) -> Result<&PyDict, EvaluatorException> {
        let answer = self.answers()?.get(at);
        let answer = answer.ok_or_else(|| {
            EvaluatorException::new("IndexError", format!("the ground truth has no call {at}"))
        })?;
        answer.as_dict().ok_or_else(|| {
            EvaluatorException::new("AttributeError", format!("call {at} of the ground truth is no object"))
        })
    }
}

/// Returns a member of an object.
fn member<'v>(value: &'v Value, key: &str) -> Option<&'v Value> {
    value.as_object().and_then(|members| property(members, key))
}

/// Most docs have few members: to go through them is faster than to hash the key.
const FEW: usize = 16;

fn property<'v>(members: &'v Map<String, Value>, key: &str) -> Option<&'v Value> {
    if members.len() > FEW {
        return members.get(key);
    }
    members.iter().find(|(name, _)| *name == key).map(|(_, value)| value)
}

/// Returns the name that a call of the ground truth has: its first key.
fn name_of(answer: &PyDict) -> Result<&PyValue, EvaluatorException> {
    let first = answer.iter().next();
    first
        .map(|(name, _)| name)
        .ok_or_else(|| EvaluatorException::new("IndexError", "a call of the ground truth is empty"))
}

impl Checker {
    /// Checks decoded calls against an entry.
    ///
    /// # Errors
    /// If the official evaluator stops with an exception at this output; in strict mode never.
    pub fn check(self, case: &Case<'_>, decoded: &PyValue) -> Result<Verdict, EvaluatorException> {
        let Some(calls) = decoded.as_list().filter(|_| is_list_of_calls(decoded)) else {
            return Ok(Verdict::invalid(
                ErrorType::DecoderWrongOutputFormat,
                "Did not output in the specified format. Note: the model_result is wrapped in a string to ensure json \
                 serializability.",
            ));
        };
        let verdict = self.check_calls(case, calls);
        match (self.mode, verdict) {
            (Mode::Strict, Err(fault)) => Ok(Verdict::invalid(ErrorType::StrictEntry, fault.detail)),
            (_, verdict) => verdict,
        }
    }

    fn check_calls(self, case: &Case<'_>, calls: &[PyValue]) -> Result<Verdict, EvaluatorException> {
        const WRONG_COUNT: &str = "Wrong number of functions.";
        match case.kind {
            Kind::Parallel => {
                if calls.len() != case.answers()?.len() {
                    return Ok(Verdict::invalid(ErrorType::ParallelWrongCount, WRONG_COUNT));
                }
                parallel::check(self, case, calls)
            }
            Kind::Multiple => {
                if calls.len() != case.answers()?.len() {
                    return Ok(Verdict::invalid(ErrorType::MultipleWrongCount, WRONG_COUNT));
                }
                let answer = case.answer(0)?;
                let function = case.function(name_of(answer)?)?;
                let Some(call) = calls.first() else {
                    return Err(EvaluatorException::new("IndexError", "the ground truth has no call"));
                };
                call::check(self, case.language, function, call, answer)
            }
            Kind::Simple => {
                let [call] = calls else {
                    return Ok(Verdict::invalid(ErrorType::SimpleWrongCount, WRONG_COUNT));
                };
                call::check(self, case.language, case.first_function()?, call, case.answer(0)?)
            }
        }
    }

    /// Checks a decoded output of a category without ground truth; `None` means that it could not be decoded.
    ///
    /// Any call counts, whatever it names; in strict mode only a call of a function on offer (`functions`, a list of docs
    /// or one doc). `expects_call` is true for relevance and false for irrelevance.
    pub fn check_relevance(
        self,
        functions: &Value,
        decoded: Option<&PyValue>,
        expects_call: bool,
    ) -> Verdict {
        let has_call = decoded.is_some_and(|decoded| {
            !super::decode::is_empty_output(decoded)
                && (self.mode == Mode::Official || self.calls_function_on_offer(functions, decoded))
        });
        match (expects_call, has_call) {
            (true, false) => Verdict::invalid(
                ErrorType::RelevanceDecoderFailed,
                "Invalid syntax. Failed to decode AST when it should have.",
            ),
            (false, true) => Verdict::invalid(
                ErrorType::IrrelevanceDecoderSuccess,
                "Valid syntax. Successfully decode AST when it should not.",
            ),
            _ => Verdict::Valid,
        }
    }

    /// Returns whether a call names a function of the entry. A list of another form has none.
    fn calls_function_on_offer(self, functions: &Value, decoded: &PyValue) -> bool {
        let functions = match functions {
            Value::Array(functions) => functions.as_slice(),
            one => std::slice::from_ref(one),
        };
        let written =
            |name: &str| if self.underscore_to_dot { name.replace('.', "_") } else { name.to_owned() };
        let names: Vec<String> =
            functions.iter().filter_map(|function| function.get("name")?.as_str()).map(written).collect();
        let mut calls = decoded.as_list().unwrap_or_default().iter().filter_map(PyValue::as_dict);
        calls.any(|call| call.iter().any(|(name, _)| names.iter().any(|known| name.as_str() == Some(known))))
    }
}
