//! Reads answers that people wrote for requests.
//!
//! One JSON object a line, `{"request": id, "ground_truth": [{function: {parameter:
//! [alternatives]}}]}`; blank lines are skipped. The form of all lines is checked when the
//! file is read, their names against the docs when an answer is used, since only then the
//! docs are known: such an answer holds its own request. Values are not judged: a person may
//! well accept what a doc does not name. Every error names the file and the line.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Map, Value};
use thiserror::Error;

use super::fault::CarryFault;
use crate::bfcl::types::Type;

/// Why a file of answers cannot be used.
#[derive(Debug, Error)]
pub enum HumanError {
    /// The file cannot be read.
    #[error("answers {}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// Some lines are no answers.
    #[error("{}", told(path, faults))]
    Lines {
        /// The file.
        path: PathBuf,
        /// The lines, from 1, and what is wrong in each.
        faults: Vec<(usize, String)>,
    },
}

/// Most lines that a message names.
const MOST_TOLD: usize = 20;
/// What a line is like, for a message.
const FORM: &str =
    r#"hint: a line is {"request": ID, "ground_truth": [{FUNCTION: {PARAMETER: [ALTERNATIVES]}}]}"#;

fn told(path: &Path, faults: &[(usize, String)]) -> String {
    let path = path.display();
    let lines = faults.iter().take(MOST_TOLD).map(|(line, fault)| format!("answers {path}:{line}: {fault}"));
    let more = match faults.len().saturating_sub(MOST_TOLD) {
        0 => String::new(),
        n_more => format!("\nand {n_more} more lines"),
    };
    format!("{}{more}\n{FORM}", lines.collect::<Vec<_>>().join("\n"))
}

/// An answer that does not fit the docs of its request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unfit {
    /// What kind of fault it is.
    pub fault: CarryFault,
    /// What is wrong, and where in the answer.
    pub message: String,
}

/// The answers of one file, by request.
#[derive(Debug, Default)]
pub struct HumanAnswers {
    path: PathBuf,
    answers: BTreeMap<String, Answer>,
}

#[derive(Debug)]
struct Answer {
    line: usize,
    ground_truth: Vec<Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    request: String,
    ground_truth: Vec<Value>,
}

impl HumanAnswers {
    /// Reads a file of answers.
    ///
    /// # Errors
    /// When the file cannot be read, or lines are no answers or second ones for their requests: all of them are named.
    pub fn read(path: &Path) -> Result<Self, HumanError> {
        let file_error = |source| HumanError::File { path: path.to_owned(), source };
        let mut read = Self { path: path.to_owned(), answers: BTreeMap::new() };
        let mut faults = Vec::new();
        for (index, text) in BufReader::new(File::open(path).map_err(file_error)?).lines().enumerate() {
            let text = text.map_err(file_error)?;
            if !text.trim().is_empty()
                && let Err(fault) = read.add(index + 1, &text)
            {
                faults.push((index + 1, fault));
            }
        }
        if faults.is_empty() { Ok(read) } else { Err(HumanError::Lines { path: read.path, faults }) }
    }

    /// The requests that have an answer, in order of their ids.
    pub fn requests(&self) -> impl Iterator<Item = &str> {
        self.answers.keys().map(String::as_str)
    }

    /// Whether a person answered a request of this id.
    pub fn has(&self, request: &str) -> bool {
        self.answers.contains_key(request)
    }

    /// The answer that a person gave for a request, if any; each call with its parameters under the names that `carry` gives
    /// them, which are those of `functions`.
    ///
    /// # Errors
    /// When the answer names a function or parameter the docs do not have, or leaves out a required one.
    pub fn ground_truth(
        &self,
        request: &str,
        functions: &[Value],
        carry: impl Fn(&str, Map<String, Value>) -> (String, Map<String, Value>),
    ) -> Option<Result<Vec<Value>, Unfit>> {
        let answer = self.answers.get(request)?;
        let carried = calls(&answer.ground_truth).flatten().map(|(name, parameters)| {
            // Who reads the docs as they are now may write their names.
            let fits = check_names(name, parameters, functions).is_ok();
            let (name, parameters) =
                if fits { (name.to_owned(), parameters.clone()) } else { carry(name, parameters.clone()) };
            check_names(&name, &parameters, functions).map_err(|unfit| {
                let place = format!("{}:{}", self.path.display(), answer.line);
                Unfit { message: format!("{place}: {}", unfit.message), ..unfit }
            })?;
            Ok(Value::Object(Map::from_iter([(name, Value::Object(parameters))])))
        });
        Some(carried.collect())
    }

    fn add(&mut self, line: usize, text: &str) -> Result<(), String> {
        let row: Row = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if row.ground_truth.is_empty() {
            return Err("`ground_truth` holds no call".to_owned());
        }
        for call in calls(&row.ground_truth) {
            let (name, parameters) = call?;
            check_alternatives(name, parameters)?;
        }
        if let Some(earlier) = self.answers.get(&row.request) {
            return Err(format!("request {} is answered in line {} already", row.request, earlier.line));
        }
        self.answers.insert(row.request, Answer { line, ground_truth: row.ground_truth });
        Ok(())
    }
}

/// The calls of a ground truth, each as its function's name and its parameters.
fn calls(ground_truth: &[Value]) -> impl Iterator<Item = Result<(&str, &Map<String, Value>), String>> {
    ground_truth.iter().enumerate().map(|(index, call)| {
        let mut members = call.as_object().into_iter().flatten();
        match (members.next(), members.next()) {
            (Some((name, Value::Object(parameters))), None) => Ok((name.as_str(), parameters)),
            _ => Err(format!("call {index} is not one function name with an object of parameters")),
        }
    })
}

fn check_alternatives(name: &str, parameters: &Map<String, Value>) -> Result<(), String> {
    let faulty = parameters.iter().find(|(_, alternatives)| !is_filled_list(alternatives));
    match faulty {
        Some((parameter, _)) => Err(format!("{name}.{parameter} is not a list of at least one alternative")),
        None => Ok(()),
    }
}

fn check_names(name: &str, parameters: &Map<String, Value>, functions: &[Value]) -> Result<(), Unfit> {
    let unfit = |fault, message| Err(Unfit { fault, message });
    let Some(function) = functions.iter().find(|function| function["name"] == name) else {
        return unfit(CarryFault::UnknownFunction, format!("no doc of the request is called {name}"));
    };
    let properties = &function["parameters"]["properties"];
    for (parameter, alternatives) in parameters {
        let Some(schema) = properties.get(parameter) else {
            return unfit(CarryFault::UnknownParameter, format!("{name} has no parameter {parameter}"));
        };
        if !alternatives
            .as_array()
            .into_iter()
            .flatten()
            .all(|alternative| is_well_nested(schema, alternative))
        {
            let message =
                format!("{name}.{parameter} holds a dict whose values are not lists of alternatives");
            return unfit(CarryFault::WrongType, message);
        }
    }
    for required in
        function["parameters"]["required"].as_array().into_iter().flatten().filter_map(Value::as_str)
    {
        let alternatives = parameters.get(required).and_then(Value::as_array);
        if !alternatives.into_iter().flatten().any(|alternative| *alternative != "") {
            return unfit(
                CarryFault::MissingRequired,
                format!("{name}.{required} is required, but has no value"),
            );
        }
    }
    Ok(())
}

/// Whether the dicts of an alternative, where the doc declares some, have lists of alternatives as values.
fn is_well_nested(schema: &Value, alternative: &Value) -> bool {
    match (Type::of(schema), alternative) {
        (Some(Type::Dict), Value::Object(members)) => members.values().all(is_filled_list),
        (Some(Type::Array | Type::Tuple), Value::Array(elements))
            if Type::of(&schema["items"]) == Some(Type::Dict) =>
        {
            elements.iter().all(|element| is_well_nested(&schema["items"], element))
        }
        _ => true,
    }
}

fn is_filled_list(value: &Value) -> bool {
    value.as_array().is_some_and(|elements| !elements.is_empty())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn read(text: &str) -> Result<HumanAnswers, String> {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        HumanAnswers::read(file.path()).map_err(|error| {
            let text = error.to_string();
            let text = text.replace(&format!("answers {}:", file.path().display()), "");
            text.replace(&format!("\n{FORM}"), "")
        })
    }

    fn as_it_is(name: &str, parameters: Map<String, Value>) -> (String, Map<String, Value>) {
        (name.to_owned(), parameters)
    }

    fn functions() -> [Value; 1] {
        [json!({"name": "f", "parameters": {"type": "dict", "required": ["city"], "properties": {
            "city": {"type": "string"}, "filter": {"type": "dict"},
            "people": {"type": "array", "items": {"type": "dict"}},
        }}})]
    }

    /// The message for one answer when it is used.
    fn used(ground_truth: &Value) -> Result<(), String> {
        let answers = read(&json!({"request": "r", "ground_truth": ground_truth}).to_string())?;
        let answer = answers.ground_truth("r", &functions(), as_it_is).unwrap();
        answer.map(|_| ()).map_err(|unfit| unfit.message.split_once(": ").unwrap().1.to_owned())
    }

    #[test]
    fn answers_are_found_by_request() {
        let answers = read("\n{\"request\": \"r1\", \"ground_truth\": [{\"f\": {\"city\": [\"Oslo\", \"Oslo, Norway\"]}}]}\n").unwrap();
        assert_eq!(answers.requests().collect::<Vec<_>>(), ["r1"]);
        let expected = [json!({"f": {"city": ["Oslo", "Oslo, Norway"]}})];
        assert_eq!(answers.ground_truth("r1", &functions(), as_it_is), Some(Ok(expected.to_vec())));
        assert_eq!(answers.ground_truth("r2", &functions(), as_it_is), None);
        // Names that a fix changed are followed, and those that it left behind are known, too.
        let town = |name: &str, mut parameters: Map<String, Value>| {
            let city = parameters.remove("town").unwrap_or_default();
            parameters.insert("city".to_owned(), city);
            (name.to_lowercase(), parameters)
        };
        let old = read(r#"{"request": "r1", "ground_truth": [{"F": {"town": ["Oslo", "Oslo, Norway"]}}]}"#)
            .unwrap();
        for answers in [answers, old] {
            assert_eq!(answers.ground_truth("r1", &functions(), town), Some(Ok(expected.to_vec())));
        }
    }

    #[test]
    fn a_line_of_the_wrong_form_is_named() {
        let line = |ground_truth: &str| format!("\n{{\"request\": \"r\", \"ground_truth\": {ground_truth}}}");
        for (text, message) in [
            (line("[]"), "2: `ground_truth` holds no call"),
            (
                line("[{\"f\": {}, \"g\": {}}]"),
                "2: call 0 is not one function name with an object of parameters",
            ),
            (line("[{\"f\": []}]"), "2: call 0 is not one function name with an object of parameters"),
            (line("[{\"f\": {\"city\": \"Oslo\"}}]"), "2: f.city is not a list of at least one alternative"),
            (line("[{\"f\": {\"city\": []}}]"), "2: f.city is not a list of at least one alternative"),
            (format!("{0}{0}", line("[{\"f\": {}}]")), "3: request r is answered in line 2 already"),
        ] {
            assert_eq!(read(&text).unwrap_err(), message);
        }
        assert!(
            read("{\"request\": \"r\", \"ground_truth\": [], \"by\": 1}")
                .unwrap_err()
                .starts_with("1: unknown field `by`")
        );
    }

    #[test]
    fn all_faulty_lines_are_named_at_once() {
        let text = "{\"request\": \"a\", \"ground_truth\": []}\n{\"request\": \"b\", \"ground_truth\": [{\"f\": {}}]}\nnone\n";
        let told = read(text).unwrap_err();
        assert!(told.starts_with("1: `ground_truth` holds no call\n3: expected"), "{told}");
    }

    #[test]
    fn an_answer_that_does_not_fit_the_docs_is_named() {
        let said = |message: &str| Err(message.to_owned());
        assert_eq!(
            used(&json!([{"f": {"city": ["Oslo"], "filter": [{"a": [1]}], "people": ["", [{"age": [3]}]]}}])),
            Ok(())
        );
        assert_eq!(used(&json!([{"g": {}}])), said("no doc of the request is called g"));
        assert_eq!(used(&json!([{"f": {"city": ["Oslo"], "town": [1]}}])), said("f has no parameter town"));
        assert_eq!(used(&json!([{"f": {}}])), said("f.city is required, but has no value"));
        assert_eq!(used(&json!([{"f": {"city": [""]}}])), said("f.city is required, but has no value"));
        let nested = "holds a dict whose values are not lists of alternatives";
        assert_eq!(
            used(&json!([{"f": {"city": ["Oslo"], "filter": [{"a": 1}]}}])),
            said(&format!("f.filter {nested}"))
        );
        assert_eq!(
            used(&json!([{"f": {"city": ["Oslo"], "people": [[{"a": 1}]]}}])),
            said(&format!("f.people {nested}"))
        );
    }

    #[test]
    fn a_missing_file_is_named() {
        let error = HumanAnswers::read(Path::new("no/such/file.jsonl")).unwrap_err();
        assert!(error.to_string().starts_with("answers no/such/file.jsonl: "), "{error}");
    }

    proptest! {
        #[test]
        fn no_line_panics(text in "[\\[\\]{}\":,a-z0-9 \n]{0,60}") {
            let _ = read(&text);
        }
    }
}
