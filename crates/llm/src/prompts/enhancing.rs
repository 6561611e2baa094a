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

/// Reads the corrected text in an answer; `None` if the model changes nothing.
///
/// # Errors
/// Why the answer cannot be used: it is no such object, or says that it changes the text and has none.
pub fn text_in(answer: &ChatAnswer) -> Result<Option<String>, &'static str> {
    let object = object_in(&answer.text, answer.is_cut())?;
    let is_changed = object.get("is_changed").and_then(Value::as_bool);
    match (is_changed, object.get("text").and_then(Value::as_str).map(str::trim)) {
        (Some(false), _) => Ok(None),
        (_, None | Some("")) => Err("the answer has no text"),
        (_, Some(text)) => Ok(Some(text.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_is_not_changed_may_be_left_out() {
        let read = |text: &str| text_in(&ChatAnswer::of_text(text.to_owned()));
        assert_eq!(read(r#"{"is_changed": false, "text": "Ring."}"#), Ok(None));
        assert_eq!(read(r#"{"is_changed": false}"#), Ok(None));
        assert_eq!(read(r#"{"is_changed": true, "text": " Ring. "}"#), Ok(Some("Ring.".to_owned())));
        assert_eq!(read(r#"{"text": "Ring."}"#), Ok(Some("Ring.".to_owned())));
        for text in ["Ring.", r#"{"is_changed": true}"#, r#"{"is_changed": true, "text": ""}"#] {
            assert!(read(text).is_err(), "{text}");
        }
        let cut = ChatAnswer::cut("{".to_owned());
        assert_eq!(text_in(&cut).unwrap_err(), "the answer is cut off");
    }
}
