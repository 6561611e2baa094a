//! Enhancing: the request for a corrected user message, and the text in an answer.

use serde_json::{Value, json};

use super::texts::{Task, Texts};
use callsieve_bfcl::conversation::Message;
use callsieve_engine::language_model::{ChatAnswer, ChatRequest};
use callsieve_text::json_answer::object_in;

/// What a model is asked.
pub static EDITS: Task = Task {
    name: "edit",
    prompt: include_str!("../../../../configs/prompts/enhance_prompts.md"),
    usual_output: 120,
    max_output: 2000,
};

/// Returns the request for a correction of the last user message; `None` if the texts are too long.
pub fn question(functions: &[Value], messages: &[Message], model: &str) -> Option<ChatRequest> {
    let schema = json!({
        "type": "object",
        "properties": {"reason": {"type": "string"}, "is_changed": {"type": "boolean"}, "text": {"type": "string"}},
        "required": ["reason", "is_changed", "text"],
        "additionalProperties": false
    });
    Some(EDITS.question(&Texts::request(functions, messages)?, &schema, model, 0, 1))
}

/// A text in an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Correction {
    /// The text, whatever the answer says of it.
    pub text: String,
    /// The answer says that nothing is changed.
    pub says_unchanged: bool,
}

/// Reads the corrected text in an answer; `None` if it has none and says that nothing is changed. Whether the text is another one, the
/// text decides.
///
/// # Errors
/// Why the answer cannot be used: it is no such object, or says that it changes the text and has none.
pub fn correction_in(answer: &ChatAnswer) -> Result<Option<Correction>, &'static str> {
    let object = object_in(&answer.text, answer.is_cut())?;
    let says_unchanged = object.get("is_changed").and_then(Value::as_bool) == Some(false);
    match object.get("text").and_then(Value::as_str).map(str::trim) {
        None | Some("") if says_unchanged => Ok(None),
        None | Some("") => Err("the answer has no text"),
        Some(text) => Ok(Some(Correction { text: text.to_owned(), says_unchanged })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_is_not_changed_may_be_left_out_and_one_that_is_there_counts() {
        let read = |text: &str| correction_in(&ChatAnswer::of_text(text.to_owned()));
        let ring = |says_unchanged| Ok(Some(Correction { text: "Ring.".to_owned(), says_unchanged }));
        assert_eq!(read(r#"{"is_changed": false, "text": "Ring."}"#), ring(true));
        assert_eq!(read(r#"{"is_changed": false}"#), Ok(None));
        assert_eq!(read(r#"{"is_changed": true, "text": " Ring. "}"#), ring(false));
        assert_eq!(read(r#"{"text": "Ring."}"#), ring(false));
        for text in ["Ring.", r#"{"is_changed": true}"#, r#"{"is_changed": true, "text": ""}"#] {
            assert!(read(text).is_err(), "{text}");
        }
        let cut = ChatAnswer::cut("{".to_owned());
        assert_eq!(correction_in(&cut).unwrap_err(), "the answer is cut off");
    }
}
