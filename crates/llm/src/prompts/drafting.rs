//! Drafting: the request for the calls that answer a conversation, and the calls in an answer.
//!
//! The arguments are JSON in a text, since the strict form of a JSON Schema cannot describe an object that depends on the
//! function. Calls are not asked for as calls of tools, which many servers ignore.

use serde_json::{Map, Value, json};

use super::texts::{OfferedFunctions, Task, Texts};
use callsieve_bfcl::conversation::{Call, Message};
use callsieve_engine::language_model::{ChatAnswer, ChatRequest};
use callsieve_text::json_answer::object_in;

/// What a model is asked.
pub static DRAFTS: Task = Task {
    name: "calls",
    prompt: include_str!("../../../../configs/prompts/draft_answers.md"),
    usual_output: 80,
    max_output: 1000,
};

/// A request that a model drafts an answer to.
pub struct Drafted {
    texts: Texts,
    names: Vec<String>,
}

impl Drafted {
    /// Returns the texts of a request; `None` if they are too long.
    pub fn request(functions: &[Value], messages: &[Message]) -> Option<Self> {
        let name = |function: &Value| function["name"].as_str().map(str::to_owned);
        let mut names: Vec<String> = functions.iter().filter_map(name).collect();
        names.sort_unstable();
        names.dedup();
        Some(Self { texts: Texts::request(functions, messages)?, names })
    }

    /// Returns the texts of a request whose docs are written already; `None` if they are too long.
    pub(super) fn offered(functions: &OfferedFunctions, messages: &[Message]) -> Option<Self> {
        Some(Self { texts: Texts::offered(functions, messages)?, names: functions.names().to_vec() })
    }

    /// Returns the question for one of several samples.
    pub fn question(&self, model: &str, sample: u32, n_samples: u32) -> ChatRequest {
        self.question_of(&DRAFTS, model, sample, n_samples)
    }

    /// Returns the question of another task whose answers are calls.
    pub(super) fn question_of(&self, task: &Task, model: &str, sample: u32, n_samples: u32) -> ChatRequest {
        self.question_with(&[], task, model, (sample, n_samples))
    }

    /// The same with further members of the answer, each a list of texts.
    pub(super) fn question_with(
        &self,
        lists: &[&str],
        task: &Task,
        model: &str,
        (sample, n_samples): (u32, u32),
    ) -> ChatRequest {
        let call = json!({
            "type": "object",
            "properties": {"name": {"type": "string", "enum": self.names}, "arguments": {"type": "string"}},
            "required": ["name", "arguments"],
            "additionalProperties": false
        });
        let mut members = Map::new();
        members.insert("reason".to_owned(), json!({"type": "string"}));
        let texts = json!({"type": "array", "items": {"type": "string"}});
        members.extend(lists.iter().map(|list| ((*list).to_owned(), texts.clone())));
        members.insert("calls".to_owned(), json!({"type": "array", "items": call}));
        let required: Vec<&String> = members.keys().collect();
        let schema = json!({"type": "object", "required": required, "properties": members, "additionalProperties": false});
        task.question(&self.texts, &schema, model, sample, n_samples)
    }
}

/// Reads the calls in an answer; none if the model writes no call.
///
/// # Errors
/// Why the answer cannot be used: it is no such object, or the arguments of a call are no JSON object.
pub fn calls_in(answer: &ChatAnswer) -> Result<Vec<Call>, &'static str> {
    let object = object_in(&answer.text, answer.is_cut())?;
    let calls = object.get("calls").and_then(Value::as_array).ok_or("the answer has no list of calls")?;
    calls
        .iter()
        .map(|call| call_of(call).ok_or("a call has no name, or its arguments are no JSON object"))
        .collect()
}

pub(super) fn call_of(call: &Value) -> Option<Call> {
    let arguments = match call.get("arguments")? {
        Value::String(text) => serde_json::from_str(text).ok()?,
        arguments => arguments.clone(),
    };
    let name = call.get("name")?.as_str()?.to_owned();
    arguments.is_object().then_some(Call { id: None, name, arguments })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calls(text: &str) -> Result<Vec<(String, Value)>, &'static str> {
        let answer = ChatAnswer::of_text(text.to_owned());
        let calls = calls_in(&answer)?;
        Ok(calls.into_iter().map(|call| (call.name, call.arguments)).collect())
    }

    #[test]
    fn arguments_are_read_as_a_text_or_as_an_object() {
        let expected = Ok(vec![("ring".to_owned(), json!({"times": 2}))]);
        assert_eq!(calls(r#"{"calls": [{"name": "ring", "arguments": "{\"times\": 2}"}]}"#), expected);
        assert_eq!(calls(r#"So: {"calls": [{"name": "ring", "arguments": {"times": 2}}]}"#), expected);
        assert_eq!(calls(r#"{"reason": "No bell.", "calls": []}"#), Ok(Vec::new()));
    }

    #[test]
    fn an_answer_that_is_not_of_that_form_is_no_draft() {
        for text in [
            "ring(times=2)",
            r#"{"reason": "r"}"#,
            r#"{"calls": [{"name": "ring", "arguments": "twice"}]}"#,
            r#"{"calls": [{"name": "ring", "arguments": "[2]"}]}"#,
            r#"{"calls": [{"arguments": "{}"}]}"#,
            r#"{"calls": ["ring"]}"#,
        ] {
            assert!(calls(text).is_err(), "{text}");
        }
        let cut = ChatAnswer::cut("{\"calls\": [{".to_owned());
        assert_eq!(calls_in(&cut).unwrap_err(), "the answer is cut off");
    }

    #[test]
    fn the_names_of_the_functions_are_the_only_names_of_calls() {
        let functions = [json!({"name": "toll"}), json!({"name": "ring"})];
        let message: Message = serde_json::from_value(json!({"role": "user", "content": "Ring."})).unwrap();
        let drafted = Drafted::request(&functions, std::slice::from_ref(&message)).unwrap();
        let question = drafted.question("m", 0, 1);
        let written = Drafted::offered(&OfferedFunctions::of(&functions), &[message]).unwrap();
        assert_eq!(written.question("m", 0, 1), question);
        let items =
            &question.body["response_format"]["json_schema"]["schema"]["properties"]["calls"]["items"];
        assert_eq!(items["properties"]["name"]["enum"], json!(["ring", "toll"]));
    }
}
