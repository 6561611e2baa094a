//! The function with which a model ends a path: with an answer, or by giving up.
//!
//! Its name, parameters and values are those of the paper (appendix A.8), so that published data can be compared.

use std::fmt;

use serde_json::{Value, json};

/// The name of the function.
pub const NAME: &str = "Finish";
/// The value of `return_type` with an answer.
pub const GIVE_ANSWER: &str = "give_answer";
/// The value of `return_type` without.
pub const GIVE_UP: &str = "give_up_and_restart";

/// What a call of `Finish` means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finish {
    /// The path has this answer.
    Answer(String),
    /// The path gives up.
    GiveUp,
}

/// Why a call of `Finish` cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FinishFault {
    /// The arguments are no JSON object.
    NotAnObject,
    /// `return_type` is missing.
    NoReturnType,
    /// `return_type` has a value that does not exist.
    UnknownReturnType,
    /// `final_answer` is missing, null or blank.
    NoAnswer,
}

impl fmt::Display for FinishFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotAnObject => "the arguments are not a JSON object",
            Self::NoReturnType => "return_type is missing",
            Self::UnknownReturnType => "return_type is neither give_answer nor give_up_and_restart",
            Self::NoAnswer => "final_answer is missing",
        })
    }
}

/// Reads the arguments of a call. An answer that is not a string is kept as its JSON text.
///
/// # Errors
/// If they have a fault; the path goes on with an observation that names it.
pub fn read(arguments: &Value) -> Result<Finish, FinishFault> {
    let arguments = arguments.as_object().ok_or(FinishFault::NotAnObject)?;
    match arguments.get("return_type") {
        None => Err(FinishFault::NoReturnType),
        Some(Value::String(kind)) if kind == GIVE_UP => Ok(Finish::GiveUp),
        Some(Value::String(kind)) if kind == GIVE_ANSWER => match arguments.get("final_answer") {
            None | Some(Value::Null) => Err(FinishFault::NoAnswer),
            Some(Value::String(answer)) if answer.trim().is_empty() => Err(FinishFault::NoAnswer),
            Some(Value::String(answer)) => Ok(Finish::Answer(answer.clone())),
            Some(answer) => Ok(Finish::Answer(answer.to_string())),
        },
        Some(_) => Err(FinishFault::UnknownReturnType),
    }
}

/// Returns the doc of the function as JSON, in the format of a function doc (`name`, `description`, `parameters`).
pub fn function_doc() -> Value {
    json!({
        "name": NAME,
        "description": "Ends the task with the final answer, or gives up and starts again from an earlier step.",
        "parameters": {
            "type": "object",
            "properties": {
                "return_type": {
                    "type": "string",
                    "enum": [GIVE_ANSWER, GIVE_UP],
                    "description": "Whether there is an answer or the attempt cannot lead to one.",
                },
                "final_answer": {
                    "type": "string",
                    "description": "The answer for the user. Required if return_type is give_answer.",
                },
            },
            "required": ["return_type"],
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_needs_a_text() {
        let answer = |value: Value| read(&json!({"return_type": GIVE_ANSWER, "final_answer": value}));
        assert_eq!(answer("42".into()), Ok(Finish::Answer("42".to_owned())));
        assert_eq!(answer(json!({"n": 1})), Ok(Finish::Answer("{\"n\":1}".to_owned())));
        assert_eq!(answer(" ".into()), Err(FinishFault::NoAnswer));
        assert_eq!(answer(Value::Null), Err(FinishFault::NoAnswer));
        assert_eq!(read(&json!({"return_type": GIVE_ANSWER})), Err(FinishFault::NoAnswer));
    }

    #[test]
    fn giving_up_needs_no_answer() {
        assert_eq!(read(&json!({"return_type": GIVE_UP})), Ok(Finish::GiveUp));
        assert_eq!(read(&json!({"return_type": "stop"})), Err(FinishFault::UnknownReturnType));
        assert_eq!(read(&json!({})), Err(FinishFault::NoReturnType));
        assert_eq!(read(&json!("give_answer")), Err(FinishFault::NotAnObject));
    }

    #[test]
    fn the_doc_has_both_ways_to_end() {
        let doc = function_doc();
        assert_eq!(doc["name"], "Finish");
        assert_eq!(doc["parameters"]["properties"]["return_type"]["enum"], json!([GIVE_ANSWER, GIVE_UP]));
        assert_eq!(doc["parameters"]["required"], json!(["return_type"]));
    }
}
