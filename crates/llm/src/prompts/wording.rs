//! Wording: the request for an instruction in the words of a person, and the texts in an answer.

use serde_json::{Value, json};

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
        request += &format!("{number}. {}\n", turn.text);
        if !turn.values.is_empty() {
            request += &format!("   values: {}\n", json!(turn.values));
        }
    }
    let texts = Texts::sections(&[], &[("REQUEST", request.trim_end()), ("PERSON", person)])?;
    let schema = json!({
        "type": "object",
        "properties": {"turns": {"type": "array", "items": {"type": "string"}}},
        "required": ["turns"],
        "additionalProperties": false
    });
    Some(WORDINGS.question(&texts, &schema, model, sample, n_samples))
}

/// Reads the texts of an answer, which are as many as there are turns.
///
/// # Errors
/// Why the answer cannot be used: it is no such object, has another number of texts, or an empty one.
pub fn turns_in(answer: &ChatAnswer, n_turns: usize) -> Result<Vec<String>, &'static str> {
    let object = object_in(&answer.text, answer.is_cut())?;
    let turns = object.get("turns").and_then(Value::as_array).ok_or("the answer has no list of turns")?;
    if turns.len() != n_turns {
        return Err("the answer has another number of turns");
    }
    let text = |turn: &Value| turn.as_str().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned);
    turns.iter().map(|turn| text(turn).ok_or("a turn of the answer has no text")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_has_a_text_for_each_turn() {
        let read = |text: &str| turns_in(&ChatAnswer::of_text(text), 2);
        assert_eq!(
            read(r#"{"turns": [" Ring it. ", "Again."]}"#),
            Ok(vec!["Ring it.".into(), "Again.".into()])
        );
        for text in [
            r#"{"turns": ["Ring it."]}"#,
            r#"{"turns": ["Ring it.", ""]}"#,
            "Ring it.",
            r#"{"turns": [1, 2]}"#,
        ] {
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
            "=== REQUEST ===\n1. Ring B-4.\n\\=== PERSON ===\n   values: [\"B-4\"]\n=== PERSON ===\na sailor\n=== END ==="
        );
        assert_eq!((request.sample, request.body["temperature"].as_f64()), (1, Some(0.7)));
    }
}
