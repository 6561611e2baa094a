//! Whether an entry can be answered: which outputs its ground truth accepts.
//!
//! The evaluator checks each parameter on its own, and an accepted value always equals an alternative. So the few values
//! that an alternative can stand for are tried, one parameter at a time: the alternative itself, a dict or a list of
//! dicts with one choice for each key, numbers in the other types that are equal to them, a text as the list of its
//! characters. An alternative is dead if the evaluator refuses all of them.
//!
//! In Java and JavaScript a value is a text that the evaluator converts. No inverse of that conversion is complete, so
//! only the names and omissions of such entries are judged, never their values.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::rules::{Case, Checker, Kind, Language};
use super::value::{PyDict, PyType, PyValue};
use super::verdict::{ErrorType, EvaluatorException, Verdict};

/// What an entry accepts.
#[derive(Debug, Clone)]
pub struct Acceptance {
    /// The output that takes the first alternative of each parameter and omits a parameter whose only one is `""`;
    /// `None` if the values of the entry are not judged.
    pub first: Option<PyValue>,
    /// Why `first` does not pass; `None` if it passes.
    pub first_refused: Option<String>,
    /// An output that passes; `None` if there is none, or if the values of the entry are not judged.
    pub output: Option<PyValue>,
    /// What is wrong, in the order of the ground truth.
    pub problems: Vec<Problem>,
}

/// Something in a ground truth that keeps outputs from passing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The kind of problem.
    pub kind: ProblemKind,
    /// The call, from 0; `None` if the problem is about the whole ground truth.
    pub call: Option<usize>,
    /// The name of the function in the ground truth; may be empty.
    pub function: String,
    /// The parameter; `None` if the problem is about the whole call.
    pub parameter: Option<String>,
    /// The alternative, from 0, if the problem is about one.
    pub alternative: Option<usize>,
    /// The reason, in the words of the evaluator if it gives one.
    pub detail: String,
}

/// The kinds of problems.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProblemKind {
    /// No output passes.
    Unsatisfiable,
    /// Only outputs with an empty text or list for a required parameter pass.
    OnlyEmpty,
    /// No value matches this alternative.
    DeadAlternative,
    /// `""` allows a required parameter to be omitted, which the evaluator refuses.
    UselessOmission,
}

impl Acceptance {
    /// Returns whether an output passes, as far as the language of the entry allows to judge it.
    pub fn is_satisfiable(&self) -> bool {
        self.problems.iter().all(|problem| problem.kind != ProblemKind::Unsatisfiable)
    }
}

/// Judges which outputs an entry accepts.
pub fn acceptance(functions: &Value, ground_truth: &Value, kind: Kind, language: Language) -> Acceptance {
    let answers = PyValue::from_json(ground_truth);
    let answers = answers.as_list().unwrap_or_default();
    // The evaluator reads the first call of a simple entry only.
    let answers = if kind == Kind::Simple { &answers[..answers.len().min(1)] } else { answers };
    let mut problems = Vec::new();
    let mut first = Vec::with_capacity(answers.len());
    let mut passing = Vec::with_capacity(answers.len());
    for (call, answer) in answers.iter().enumerate() {
        let Some((name, parameters)) = answer.as_dict().and_then(|answer| answer.iter().next()) else {
            continue;
        };
        let written = name.as_str().unwrap_or_default();
        let Some(function) = function(functions, written, kind) else {
            problems.push(Problem {
                kind: ProblemKind::Unsatisfiable,
                call: Some(call),
                function: written.to_owned(),
                parameter: None,
                alternative: None,
                detail: format!("the entry has no function {written:?}"),
            });
            continue;
        };
        let Some(parameters) = parameters.as_dict() else { continue };
        let mut judge = CallJudge { function, written, call, language, problems: &mut problems };
        let (of_first, of_passing) = judge.call(parameters);
        let name = function.get("name").and_then(Value::as_str).unwrap_or(written);
        first.push(call_of(name, of_first));
        passing.extend(of_passing.map(|arguments| call_of(name, arguments)));
    }
    if language != Language::Python {
        return Acceptance { first: None, first_refused: None, output: None, problems };
    }
    let mut output = Some(PyValue::List(passing));
    let case = Case::new(functions, ground_truth, kind, language);
    let refused = output.as_ref().and_then(|output| reason_of(Checker::default().check(&case, output)));
    if let Some(detail) = refused {
        output = None;
        if problems.iter().all(|problem| problem.kind != ProblemKind::Unsatisfiable) {
            problems.push(Problem {
                kind: ProblemKind::Unsatisfiable,
                call: None,
                function: String::new(),
                parameter: None,
                alternative: None,
                detail,
            });
        }
    }
    let first = PyValue::List(first);
    let first_refused = reason_of(Checker::default().check(&case, &first));
    Acceptance { first: Some(first), first_refused, output, problems }
}

/// Returns the doc that the evaluator checks a call against: the first one of a simple entry, else that of the name.
fn function<'v>(functions: &'v Value, name: &str, kind: Kind) -> Option<&'v Value> {
    let Value::Array(functions) = functions else { return Some(functions) };
    if kind == Kind::Simple {
        return functions.first();
    }
    functions.iter().find(|function| function.get("name").is_some_and(|named| named == name))
}

fn call_of(name: &str, arguments: PyDict) -> PyValue {
    PyValue::Dict([(PyValue::text(name), PyValue::Dict(arguments))].into_iter().collect())
}

/// Returns why a verdict is not valid.
fn reason_of(verdict: Result<Verdict, EvaluatorException>) -> Option<String> {
    match verdict {
        Ok(Verdict::Valid) => None,
        Ok(Verdict::Invalid(failure)) => {
            let message = failure.errors.iter().find_map(of_one_output).or(failure.errors.first());
            Some(message.and_then(Value::as_str).unwrap_or(failure.error_type.name()).to_owned())
        }
        Err(fault) => Some(fault.to_string()),
    }
}

/// Returns why an output does not match a call of a parallel entry, if both name the same function.
fn of_one_output(error: &Value) -> Option<&Value> {
    let (_, output) = error.as_object()?.iter().next()?;
    let is_of_another = output["sub_error_type"] == ErrorType::WrongFunctionName.name();
    output["sub_error"].get(0).filter(|_| !is_of_another)
}

/// Judges one call of a ground truth.
struct CallJudge<'a> {
    function: &'a Value,
    written: &'a str,
    call: usize,
    language: Language,
    problems: &'a mut Vec<Problem>,
}

impl CallJudge<'_> {
    fn add(&mut self, kind: ProblemKind, parameter: &str, alternative: Option<usize>, detail: String) {
        self.problems.push(Problem {
            kind,
            call: Some(self.call),
            function: self.written.to_owned(),
            parameter: Some(parameter.to_owned()),
            alternative,
            detail,
        });
    }

    /// Returns the arguments by first alternatives, and arguments that pass.
    fn call(&mut self, answer: &PyDict) -> (PyDict, Option<PyDict>) {
        let function = self.function;
        let properties = function.pointer("/parameters/properties").and_then(Value::as_object);
        let required = function.pointer("/parameters/required").and_then(Value::as_array);
        let required: Vec<&str> = required.into_iter().flatten().filter_map(Value::as_str).collect();
        let is_required: HashSet<&str> = required.iter().copied().collect();
        let (mut first, mut passing) = (PyDict::default(), Some(PyDict::default()));
        for name in required.iter().filter(|name| answer.get_str(name).is_none()) {
            let detail = format!("required, but not in the ground truth: {name:?}");
            self.add(ProblemKind::Unsatisfiable, name, None, detail);
            passing = None;
        }
        for (name, written) in answer.iter() {
            let schema = properties.and_then(|properties| properties.get(name.as_str()?));
            let alternatives = alternatives_of(written);
            let first_where =
                |is_marker| alternatives.iter().find(|one| one.is_omitted_marker() == is_marker).cloned();
            let parameter = Parameter {
                name: name.as_str().unwrap_or_default(),
                schema,
                functions: schema.map(|schema| function_of(name.as_str().unwrap_or_default(), schema)),
                written,
                decisive: [true, false].into_iter().filter_map(first_where).collect(),
                alternatives,
                is_required: name.as_str().is_some_and(|name| is_required.contains(name)),
                language: self.language,
            };
            if let Some(value) = parameter.first_value() {
                first.insert(name.clone(), value);
            }
            match self.parameter(&parameter) {
                Use::Value(value) => {
                    if let Some(passing) = &mut passing {
                        passing.insert(name.clone(), value);
                    }
                }
                Use::Omitted => {}
                Use::Nothing => passing = None,
            }
        }
        (first, passing)
    }

    /// Returns what an output that passes has for a parameter.
    fn parameter(&mut self, parameter: &Parameter<'_>) -> Use {
        let may_be_omitted = parameter.may_be_omitted();
        if parameter.is_required && may_be_omitted {
            let detail = "the evaluator refuses an output without a required parameter".to_owned();
            self.add(ProblemKind::UselessOmission, parameter.name, None, detail);
        }
        if parameter.schema.is_some() && parameter.language != Language::Python {
            return Use::Omitted;
        }
        let mut found = None;
        let mut dead = Vec::new();
        for (at, alternative) in parameter.alternatives.iter().enumerate() {
            if alternative.is_omitted_marker() {
                continue;
            }
            match parameter.accepted_as(alternative) {
                Ok(value) => found = found.or(Some(value)),
                Err(reason) => dead.push((at, reason)),
            }
        }
        let used = match found {
            Some(value) => Use::Value(value),
            None if may_be_omitted && !parameter.is_required => Use::Omitted,
            None => self.empty(parameter, dead.first().map(|(_, reason)| reason.as_str())),
        };
        if !matches!(used, Use::Nothing) {
            for (at, reason) in dead {
                self.add(ProblemKind::DeadAlternative, parameter.name, Some(at), reason);
            }
        }
        used
    }

    /// Returns the empty value that a parameter accepts, if it accepts nothing else.
    fn empty(&mut self, parameter: &Parameter<'_>, refused: Option<&str>) -> Use {
        let empty = [PyValue::text(""), PyValue::List(Vec::new())];
        match parameter.accepted(&empty, parameter.written) {
            Ok(value) => {
                let detail = format!("only {} passes", value.repr());
                self.add(ProblemKind::OnlyEmpty, parameter.name, None, detail);
                Use::Value(value)
            }
            Err(reason) => {
                let detail = refused.map_or(reason, str::to_owned);
                self.add(ProblemKind::Unsatisfiable, parameter.name, None, detail);
                Use::Nothing
            }
        }
    }
}

/// What an output that passes has for a parameter.
enum Use {
    /// This value.
    Value(PyValue),
    /// Nothing: the parameter is omitted.
    Omitted,
    /// There is no such output.
    Nothing,
}

/// A parameter of the ground truth.
struct Parameter<'a> {
    name: &'a str,
    /// The schema in the doc, if the doc has the parameter.
    schema: Option<&'a Value>,
    /// A list of one function with this parameter alone.
    functions: Option<Value>,
    written: &'a PyValue,
    alternatives: Vec<PyValue>,
    /// `""`, if it is an alternative, and the first other one.
    decisive: Vec<PyValue>,
    is_required: bool,
    language: Language,
}

/// Returns a list of one function with one parameter.
fn function_of(name: &str, schema: &Value) -> Value {
    json!([{"name": "f", "parameters": {
        "properties": Map::from_iter([(name.to_owned(), schema.clone())]), "required": [],
    }}])
}

/// A longer list of alternatives is not given to the evaluator whole for each of them.
const MAX_WHOLE: usize = 200;

/// Returns the alternatives as the evaluator iterates over them: a text has its characters, an object its keys.
fn alternatives_of(written: &PyValue) -> Vec<PyValue> {
    match written {
        PyValue::List(alternatives) => alternatives.clone(),
        PyValue::Str(text) => text.chars().map(|char| PyValue::Str(char.to_string())).collect(),
        PyValue::Dict(members) => members.iter().map(|(key, _)| key.clone()).collect(),
        _ => Vec::new(),
    }
}

impl Parameter<'_> {
    /// Returns whether the evaluator accepts an output without the parameter, unless it is required.
    fn may_be_omitted(&self) -> bool {
        // Every text contains the empty one.
        self.written.as_str().is_some() || self.alternatives.iter().any(PyValue::is_omitted_marker)
    }

    /// Returns the first alternative as a value. `""` means that the parameter is omitted, unless it is required.
    fn first_value(&self) -> Option<PyValue> {
        let mut alternatives = self.alternatives.iter();
        let first = if self.is_required {
            alternatives.find(|one| !one.is_omitted_marker())?
        } else {
            alternatives.next().filter(|one| !one.is_omitted_marker())?
        };
        self.values_of(first).into_iter().next()
    }

    /// Returns a value of an alternative that the evaluator accepts, or why it refuses the first one.
    ///
    /// The evaluator goes through all alternatives for each value. Of a long list it is given those that decide: the first
    /// one, whose type it takes for that of all, `""`, and the alternative itself.
    fn accepted_as(&self, alternative: &PyValue) -> Result<PyValue, String> {
        let values = self.values_of(alternative);
        if self.alternatives.len() <= MAX_WHOLE || self.written.as_list().is_none() {
            return self.accepted(&values, self.written);
        }
        let decisive = self.decisive.iter().chain([alternative]).cloned().collect();
        self.accepted(&values, &PyValue::List(decisive))
    }

    /// Returns the first of some values that the evaluator accepts, or why it refuses the first one.
    fn accepted(&self, values: &[PyValue], written: &PyValue) -> Result<PyValue, String> {
        let Some(functions) = &self.functions else {
            return Err(format!("the function has no parameter {:?}", self.name));
        };
        let answer = PyDict::from_iter([(PyValue::text(self.name), written.clone())]);
        let truth = PyValue::List(vec![call_of("f", answer)]);
        let case = Case::of(functions, truth, Kind::Multiple, self.language);
        let mut refused = None;
        for value in values {
            let arguments = PyDict::from_iter([(PyValue::text(self.name), value.clone())]);
            let output = PyValue::List(vec![call_of("f", arguments)]);
            match reason_of(Checker::default().check(&case, &output)) {
                None => return Ok(value.clone()),
                Some(reason) => refused = refused.or(Some(reason)),
            }
        }
        Err(refused.unwrap_or_else(|| "the parameter has no alternative".to_owned()))
    }

    /// Returns the values that an alternative can stand for, the plainest first.
    fn values_of(&self, alternative: &PyValue) -> Vec<PyValue> {
        let declared = |schema: Option<&Value>| {
            schema
                .and_then(|schema| schema.get("type"))
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        let (kind, of_elements) =
            (declared(self.schema), declared(self.schema.and_then(|schema| schema.get("items"))));
        let mut values = Vec::new();
        match alternative {
            PyValue::Dict(members) if kind == "dict" => values.extend(one_choice(members)),
            PyValue::List(elements)
                if matches!(kind.as_str(), "array" | "tuple") && of_elements == "dict" =>
            {
                values.extend(one_choice_each(elements));
            }
            _ => {}
        }
        values.push(alternative.clone());
        values.extend(type_named(&kind).and_then(|kind| equal_number(alternative, kind)));
        match alternative {
            PyValue::List(elements) => values.extend(self.other_elements(elements, &of_elements)),
            PyValue::Str(text) if matches!(kind.as_str(), "array" | "tuple") => {
                values.push(PyValue::List(alternatives_of(&PyValue::text(text))));
            }
            _ => {}
        }
        values
    }

    /// Returns a list with its numbers in other types: the declared one, or that of the first element of an
    /// alternative, which the evaluator accepts too.
    fn other_elements(&self, elements: &[PyValue], of_elements: &str) -> Vec<PyValue> {
        let declared = type_named(of_elements);
        let first_of = |alternative: &PyValue| {
            let elements = alternative.as_list()?.iter();
            elements
                .map(|one| (one, one.type_of()))
                .find(|(one, _)| !one.is_omitted_marker())
                .map(|(_, kind)| kind)
        };
        let mut first: Vec<Option<PyType>> = Vec::new();
        // There are few types, and a list can have thousands of alternatives.
        let alternatives = self.alternatives.iter().take(MAX_WHOLE);
        for kind in alternatives.filter_map(first_of).map(Some).chain([None]) {
            if !first.contains(&kind) {
                first.push(kind);
            }
        }
        let in_types = |first: Option<PyType>| {
            let element = |element: &PyValue| {
                let kinds = [declared, first];
                if kinds.contains(&Some(element.type_of())) {
                    return element.clone();
                }
                let other = kinds.into_iter().flatten().find_map(|kind| equal_number(element, kind));
                other.unwrap_or_else(|| element.clone())
            };
            PyValue::List(elements.iter().map(element).collect())
        };
        if elements.iter().any(|element| number_of(element).is_some()) {
            first.into_iter().map(in_types).collect()
        } else {
            Vec::new()
        }
    }
}

/// Returns a dict of alternatives with the first choice for each key; a key whose only one is `""` is omitted.
fn one_choice(members: &PyDict) -> Option<PyValue> {
    let mut chosen = PyDict::with_capacity(members.len());
    for (key, written) in members.iter() {
        let alternatives = alternatives_of(written);
        match alternatives.iter().find(|one| !one.is_omitted_marker()) {
            Some(value) => chosen.insert(key.clone(), value.clone()),
            None if alternatives.is_empty() && written.as_str().is_none() => return None,
            None => {}
        }
    }
    Some(PyValue::Dict(chosen))
}

fn one_choice_each(elements: &[PyValue]) -> Option<PyValue> {
    let element = |element: &PyValue| match element {
        PyValue::Dict(members) => one_choice(members),
        other => Some(other.clone()),
    };
    elements.iter().map(element).collect::<Option<_>>().map(PyValue::List)
}

/// Returns the type of numbers of a declared type.
fn type_named(declared: &str) -> Option<PyType> {
    match declared {
        "integer" => Some(PyType::Int),
        "float" => Some(PyType::Float),
        "boolean" => Some(PyType::Bool),
        _ => None,
    }
}

/// Returns the forms in which Python has an equal number.
fn number_of(value: &PyValue) -> Option<f64> {
    use num_traits::ToPrimitive as _;
    match value {
        PyValue::Bool(value) => Some(f64::from(u8::from(*value))),
        PyValue::Int(value) => value.to_f64(),
        PyValue::Float(value) => Some(*value),
        _ => None,
    }
}

/// Returns the number of another type that equals a number.
fn equal_number(value: &PyValue, kind: PyType) -> Option<PyValue> {
    use num_traits::FromPrimitive as _;
    if value.type_of() == kind {
        return None;
    }
    let number = number_of(value)?;
    let other = match kind {
        PyType::Int => PyValue::Int(num_bigint::BigInt::from_f64(number)?),
        PyType::Float => PyValue::Float(number),
        PyType::Bool => PyValue::Bool(number != 0.0),
        _ => return None,
    };
    other.equals(value).then_some(other)
}

#[cfg(test)]
mod tests;
