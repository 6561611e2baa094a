//! Reads the files of a hub: the API database, the evaluation questions and the responses, each as JSON lines.
//!
//! A line that cannot be read is reported with the file, the line and the reason, and never stops the reading. The published scripts
//! stop at such a line. Fields that no script uses may be missing and may have any type: in the published data `api_arguments` is a
//! string, a list, an object or null.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde_json::{Map, Value};

/// An entry of the API database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiEntry {
    /// Its line in the file, from 1.
    pub line: usize,
    /// The domain, such as `Text embedding`: the scripts compare it with that of the question.
    pub domain: String,
    /// The framework; empty if missing.
    pub framework: String,
    /// What the API does; empty if missing.
    pub functionality: String,
    /// The name, usually of the model; empty if missing. The match does not use it.
    pub api_name: String,
    /// The call in Python.
    pub api_call: String,
    /// `api_arguments` as JSON text; `null` if missing. The match does not use it.
    pub api_arguments: String,
}

/// An evaluation question and its reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// Its line in the file, from 1. Responses refer to it as `question_id`.
    pub line: usize,
    /// The instruction of the user, from `code` between `###Instruction:` and `###Output:`; empty if missing.
    pub instruction: String,
    /// The domain of the reference entry.
    pub domain: String,
    /// The call of the reference entry.
    pub api_call: String,
}

/// A response of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// Its line in the file, from 1.
    pub line: usize,
    /// The number of the question, from 1; `None` if missing or not an integer.
    pub question_id: Option<i64>,
    /// The text; `None` if missing or not a string.
    pub text: Option<String>,
}

/// The records of a file and the lines that hold none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Records<T> {
    /// In the order of the lines.
    pub records: Vec<T>,
    /// In the order of the lines.
    pub faults: Vec<LineFault>,
}

/// A line that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {reason}")]
pub struct LineFault {
    /// The file, as the caller names it.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// Why.
    pub reason: LineReason,
}

/// Why a line cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LineReason {
    /// It holds no text.
    Empty,
    /// It is not JSON; the error of the parser.
    NotJson(String),
    /// It is JSON but not an object.
    NotAnObject,
    /// A field that the match needs is missing.
    MissingField(&'static str),
    /// A field that the match needs has another type than expected: its name and the expected type.
    WrongType(&'static str, &'static str),
}

impl fmt::Display for LineReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("the line is empty"),
            Self::NotJson(error) => write!(f, "not JSON: {error}"),
            Self::NotAnObject => f.write_str("not a JSON object"),
            Self::MissingField(field) => write!(f, "no field \"{field}\""),
            Self::WrongType(field, expected) => write!(f, "field \"{field}\" is not {expected}"),
        }
    }
}

/// Reads the API database of a hub. `file` is the name in faults.
pub fn read_database(file: &str, text: &str) -> Records<ApiEntry> {
    read(file, text, |line, object| {
        Ok(ApiEntry {
            line,
            domain: required(object, "domain")?,
            framework: optional(object, "framework"),
            functionality: optional(object, "functionality"),
            api_name: optional(object, "api_name"),
            api_call: required(object, "api_call")?,
            api_arguments: object.get("api_arguments").unwrap_or(&Value::Null).to_string(),
        })
    })
}

/// Reads the evaluation questions of a hub. `file` is the name in faults.
pub fn read_questions(file: &str, text: &str) -> Records<Question> {
    read(file, text, |line, object| {
        let data = object.get("api_data").ok_or(LineReason::MissingField("api_data"))?;
        let data = data.as_object().ok_or(LineReason::WrongType("api_data", "an object"))?;
        Ok(Question {
            line,
            instruction: instruction(&optional(object, "code")).to_owned(),
            domain: required(data, "domain")?,
            api_call: required(data, "api_call")?,
        })
    })
}

/// Reads the responses of a model. `file` is the name in faults.
pub fn read_responses(file: &str, text: &str) -> Records<Response> {
    read(file, text, |line, object| {
        Ok(Response {
            line,
            question_id: object.get("question_id").and_then(|id| i64::deserialize(id).ok()),
            text: object.get("text").and_then(Value::as_str).map(str::to_owned),
        })
    })
}

/// Returns questions by the number that responses use.
pub fn by_number(questions: &[Question]) -> BTreeMap<i64, &Question> {
    let number = |question: &Question| i64::try_from(question.line).unwrap_or(i64::MAX);
    questions.iter().map(|question| (number(question), question)).collect()
}

fn read<T>(
    file: &str,
    text: &str,
    record: impl Fn(usize, &Map<String, Value>) -> Result<T, LineReason>,
) -> Records<T> {
    let (mut records, mut faults) = (Vec::new(), Vec::new());
    for (at, content) in text.lines().enumerate() {
        let line = at + 1;
        match object(content).and_then(|object| record(line, &object)) {
            Ok(read) => records.push(read),
            Err(reason) => faults.push(LineFault { file: file.to_owned(), line, reason }),
        }
    }
    Records { records, faults }
}

fn object(line: &str) -> Result<Map<String, Value>, LineReason> {
    if line.trim().is_empty() {
        return Err(LineReason::Empty);
    }
    match serde_json::from_str(line) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(LineReason::NotAnObject),
        Err(error) => Err(LineReason::NotJson(error.to_string())),
    }
}

fn required(object: &Map<String, Value>, field: &'static str) -> Result<String, LineReason> {
    let value = object.get(field).ok_or(LineReason::MissingField(field))?;
    value.as_str().map(str::to_owned).ok_or(LineReason::WrongType(field, "a string"))
}

fn optional(object: &Map<String, Value>, field: &str) -> String {
    object.get(field).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn instruction(code: &str) -> &str {
    let after = code.split_once("Instruction:").map_or("", |(_, after)| after);
    after.split("###Output:").next().unwrap_or_default().trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_needs_only_its_domain_and_its_call() {
        let text = r#"{"domain": "Text", "api_call": "hub.load('a')"}
{"domain": "Text", "api_call": "hub.load('b')", "api_name": "b", "api_arguments": ["x"], "performance": {}}"#;
        let read = read_database("api.jsonl", text);
        assert_eq!(read.faults, []);
        assert_eq!(read.records[0].api_arguments, "null");
        assert_eq!(
            read.records[1],
            ApiEntry {
                line: 2,
                domain: "Text".into(),
                framework: String::new(),
                functionality: String::new(),
                api_name: "b".into(),
                api_call: "hub.load('b')".into(),
                api_arguments: "[\"x\"]".into(),
            }
        );
    }

    #[test]
    fn each_bad_line_is_reported_with_its_reason_and_the_others_are_read() {
        let text = "{\"domain\": \"D\", \"api_call\": \"f()\"}\n\n[1]\n{\"domain\": \"D\"}\n\
                    {\"domain\": 3, \"api_call\": \"f()\"}\n{\"domain\": \"D\", \"api_call\": \"g()\"}";
        let read = read_database("api.jsonl", text);
        assert_eq!(read.records.iter().map(|entry| entry.line).collect::<Vec<_>>(), [1, 6]);
        let faults: Vec<String> = read.faults.iter().map(ToString::to_string).collect();
        assert_eq!(
            faults,
            [
                "api.jsonl:2: the line is empty",
                "api.jsonl:3: not a JSON object",
                "api.jsonl:4: no field \"api_call\"",
                "api.jsonl:5: field \"domain\" is not a string",
            ]
        );
        let cut = read_database("api.jsonl", "{\"domain\":");
        assert!(matches!(cut.faults[0].reason, LineReason::NotJson(_)));
    }

    #[test]
    fn a_question_keeps_its_number_after_a_bad_line() {
        let text = "x\n{\"code\": \"###Instruction: Find cats.\\n###Output: <<<domain>>>: D\", \
                    \"api_data\": {\"domain\": \"D\", \"api_call\": \"f('a')\"}}";
        let read = read_questions("eval.json", text);
        assert_eq!(read.faults[0].line, 1);
        let numbered = by_number(&read.records);
        assert_eq!(numbered[&2].instruction, "Find cats.");
        assert_eq!(numbered[&2].api_call, "f('a')");
        assert!(!numbered.contains_key(&1));
    }

    #[test]
    fn a_response_without_text_or_number_is_still_a_response() {
        let read =
            read_responses("r.jsonl", "{\"question_id\": 1, \"text\": \"t\"}\n{\"question_id\": \"1\"}");
        assert_eq!(read.records[0], Response { line: 1, question_id: Some(1), text: Some("t".into()) });
        assert_eq!(read.records[1], Response { line: 2, question_id: None, text: None });
    }
}
