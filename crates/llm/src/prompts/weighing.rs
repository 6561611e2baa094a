//! Weighing: the request for a verdict on a solution path, and on two of them. Verdicts are read by who counts them.

use serde_json::{Value, json};

use super::texts::{Task, Texts};
use callsieve_bfcl::conversation::Message;
use callsieve_engine::language_model::ChatRequest;

/// What a model is asked about one path.
pub static SOLVED: Task = Task {
    name: "verdict",
    prompt: include_str!("../../../../configs/prompts/judge_solutions.md"),
    usual_output: 60,
    max_output: 600,
};
/// What a model is asked about two.
pub static BETTER: Task = Task {
    name: "preference",
    prompt: include_str!("../../../../configs/prompts/compare_solutions.md"),
    usual_output: 60,
    max_output: 600,
};

/// Returns the question for one of several samples whether a conversation, of which the last message is the final answer, does what the user
/// asks; `None` if the texts are too long.
pub fn question(
    functions: &[Value],
    conversation: &[Message],
    model: &str,
    (sample, n_samples): (u32, u32),
) -> Option<ChatRequest> {
    let schema = json!({
        "type": "object",
        "properties": {
            "reason": {"type": "string"},
            "solvable": {"type": "string", "enum": ["solvable", "unsolvable", "unsure"]},
            "verdict": {"type": "string", "enum": ["solved", "unsolved", "unsure"]}
        },
        "required": ["reason", "solvable", "verdict"],
        "additionalProperties": false
    });
    let texts = Texts::request(functions, conversation)?;
    Some(SOLVED.question(&texts, &schema, model, sample, n_samples))
}

/// Returns the question who of two did better for a request; `None` if the texts are too long. The texts of each are those of a path.
pub fn comparison(
    request: &str,
    [first, second]: [&str; 2],
    model: &str,
    (sample, n_samples): (u32, u32),
) -> Option<ChatRequest> {
    let schema = json!({
        "type": "object",
        "properties": {
            "reason": {"type": "string"},
            "verdict": {"type": "string", "enum": ["first", "second", "tie"]}
        },
        "required": ["reason", "verdict"],
        "additionalProperties": false
    });
    let sections = [("REQUEST", request), ("FIRST ASSISTANT", first), ("SECOND ASSISTANT", second)];
    let texts = Texts::sections(&[], &sections)?;
    Some(BETTER.question(&texts, &schema, model, sample, n_samples))
}

#[cfg(test)]
mod tests {
    use callsieve_bfcl::conversation::Role;

    use super::*;

    #[test]
    fn a_verdict_is_one_of_the_words() {
        let said = [Message::text(Role::User, "Ring."), Message::text(Role::Assistant, "It rang.")];
        let request = question(&[], &said, "m", (0, 3)).unwrap();
        let schema = &request.body["response_format"]["json_schema"]["schema"];
        assert_eq!(schema["properties"]["verdict"]["enum"], json!(["solved", "unsolved", "unsure"]));
        let text = request.body["messages"][1]["content"].as_str().unwrap();
        assert!(text.contains("[user] Ring.\n[assistant] It rang.\n"), "{text}");
        assert!(request.body["temperature"].as_f64() > Some(0.0));
    }

    #[test]
    fn two_paths_are_shown_in_their_order() {
        let request = comparison("Ring.", ["It rang.", "=== REQUEST ==="], "m", (0, 1)).unwrap();
        let text = request.body["messages"][1]["content"].as_str().unwrap();
        assert!(
            text.contains("=== FIRST ASSISTANT ===\nIt rang.\n=== SECOND ASSISTANT ===\n\\=== REQUEST ==="),
            "{text}"
        );
    }
}
