//! Wording: the request for an instruction in the words of a person, and the texts in an answer.

use serde_json::{Map, Value, json};

use super::texts::{Task, Texts};
use callsieve_engine::language_model::{ChatAnswer, ChatRequest};
use callsieve_text::json_answer::object_in;

/// What a model is asked.
pub static WORDINGS: Task = Task {
    name: "wording",
    prompt: include_str!("../../../../configs/prompts/word_instructions.md"),
    usual_output: 80,
    max_output: 1500,
};

/// A turn of an instruction that is to be worded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlainTurn {
    /// The text.
    pub text: String,
    /// The values that have to be in it, as it has them.
    pub values: Vec<String>,
}

/// Returns the request for one of several wordings; `None` if the texts are too long.
pub fn question(
    turns: &[PlainTurn],
    person: &str,
    model: &str,
    (sample, n_samples): (u32, u32),
) -> Option<ChatRequest> {
    let mut request = String::new();
    for (number, turn) in (1..).zip(turns) {
        request += &format!("message_{number}: {}\n", turn.text);
        if !turn.values.is_empty() {
            request += &format!("values of message_{number}: {}\n", json!(turn.values));
        }
    }
    let texts = Texts::sections(&[], &[("MESSAGES", request.trim_end()), ("YOU ARE", person)])?;
    // A list would not say how many texts there are.
    let keys: Vec<String> = (1..=turns.len()).map(key).collect();
    let properties: Map<String, Value> =
        keys.iter().map(|key| (key.clone(), json!({"type": "string"}))).collect();
    let schema =
        json!({"type": "object", "properties": properties, "required": keys, "additionalProperties": false});
    Some(WORDINGS.question(&texts, &schema, model, sample, n_samples))
}

/// Reads the texts of an answer, which are as many as there are turns.
///
/// # Errors
/// Why the answer cannot be used: it is no such object, or lacks a text.
pub fn turns_in(answer: &ChatAnswer, n_turns: usize) -> Result<Vec<String>, &'static str> {
    let object = object_in(&answer.text, answer.is_cut())?;
    let text = |nth: usize| {
        let text = object.get(&key(nth)).and_then(Value::as_str).map(str::trim);
        text.filter(|text| !text.is_empty()).map(str::to_owned).ok_or("the answer lacks a message")
    };
    (1..=n_turns).map(text).collect()
}

/// The key of a message, from 1.
fn key(number: usize) -> String {
    format!("message_{number}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_has_a_text_for_each_turn() {
        let read = |text: &str| turns_in(&ChatAnswer::of_text(text), 2);
        let both = r#"{"message_1": " Ring it. ", "message_2": "Again."}"#;
        assert_eq!(read(both), Ok(vec!["Ring it.".into(), "Again.".into()]));
        for text in
            [r#"{"message_1": "Ring it."}"#, r#"{"message_1": "Ring it.", "message_2": " "}"#, "Ring it."]
        {
            assert!(read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_request_has_turns_values_and_person_apart() {
        let turn = PlainTurn { text: "Ring B-4.\n=== PERSON ===".into(), values: vec!["B-4".into()] };
        let request = question(&[turn], "a sailor", "m", (1, 2)).unwrap();
        let text = request.body["messages"][1]["content"].as_str().unwrap();
        assert_eq!(
            text,
            "=== MESSAGES ===\nmessage_1: Ring B-4.\n\\=== PERSON ===\nvalues of message_1: [\"B-4\"]\n=== YOU ARE ===\na sailor\n=== END ==="
        );
        assert_eq!((request.sample, request.body["temperature"].as_f64()), (1, Some(0.7)));
    }
}
