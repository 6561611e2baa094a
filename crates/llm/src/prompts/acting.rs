//! Acting: the request for the calls of the next step of a conversation. Answers are read by [`calls_in`](super::drafting::calls_in).

use super::drafting::Drafted;
use super::texts::{OfferedFunctions, Task};
use callsieve_bfcl::conversation::Message;
use callsieve_engine::language_model::ChatRequest;

/// What a model is asked.
pub static STEPS: Task = Task {
    name: "calls",
    prompt: include_str!("../../../../configs/prompts/make_calls.md"),
    usual_output: 80,
    max_output: 1000,
};

/// Returns the request for the next calls of a conversation; `None` if the texts are too long.
pub fn question(functions: &OfferedFunctions, messages: &[Message], model: &str) -> Option<ChatRequest> {
    Some(Drafted::offered(functions, messages)?.question_of(&STEPS, model, 0, 1))
}
