//! Acting: the request for the calls of the next step of a conversation, and the step in an answer.

use serde_json::Value;

use super::drafting::{Drafted, calls_in};
use super::texts::{OfferedFunctions, Task};
use callsieve_bfcl::conversation::{Call, Message};
use callsieve_engine::language_model::{ChatAnswer, ChatRequest};
use callsieve_text::json_answer::object_in;

/// What a model is asked.
pub static STEPS: Task = Task {
    name: "calls",
    prompt: include_str!("../../../../configs/prompts/make_calls.md"),
    usual_output: 80,
    max_output: 1000,
};

/// The member of an answer with wishes that no function fulfils.
const UNCOVERED: &str = "uncovered";

/// What a model does next.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Step {
    /// The calls; none if nothing is left to do.
    pub calls: Vec<Call>,
    /// Wishes of the last message that no function fulfils, in its words.
    pub uncovered: Vec<String>,
}

/// Returns the request for the next step of a conversation; `None` if the texts are too long.
pub fn question(functions: &OfferedFunctions, messages: &[Message], model: &str) -> Option<ChatRequest> {
    Some(Drafted::offered(functions, messages)?.question_with(&[UNCOVERED], &STEPS, model, (0, 1)))
}

/// Reads the step in an answer. One without wishes, such as that of an earlier prompt, has none.
///
/// # Errors
/// As [`calls_in`].
pub fn step_in(answer: &ChatAnswer) -> Result<Step, &'static str> {
    let calls = calls_in(answer)?;
    let object = object_in(&answer.text, answer.is_cut())?;
    let wishes = object.get(UNCOVERED).and_then(Value::as_array).into_iter().flatten();
    let wishes = wishes.filter_map(Value::as_str).map(str::trim).filter(|wish| !wish.is_empty());
    Ok(Step { calls, uncovered: wishes.map(str::to_owned).collect() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_has_its_wishes_and_an_older_answer_none() {
        let read = |text: &str| step_in(&ChatAnswer::of_text(text)).map(|step| step.uncovered);
        let wish = r#"{"reason": "Done.", "uncovered": ["email me the receipt", " "], "calls": []}"#;
        assert_eq!(read(wish), Ok(vec!["email me the receipt".to_owned()]));
        for text in [r#"{"reason": "Done.", "calls": []}"#, r#"{"uncovered": null, "calls": []}"#] {
            assert_eq!(read(text), Ok(Vec::new()), "{text}");
        }
        assert!(read(r#"{"uncovered": []}"#).is_err());
    }

    #[test]
    fn the_answer_has_wishes_before_calls() {
        let question = question(&OfferedFunctions::of(&[]), &[], "m").unwrap();
        let schema = &question.body["response_format"]["json_schema"]["schema"];
        assert_eq!(schema["required"], serde_json::json!(["reason", "uncovered", "calls"]));
    }
}
