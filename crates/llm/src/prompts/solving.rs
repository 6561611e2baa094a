//! Solving: the request for the next step of a solution path, and the step in an answer; results of functions that a model stands in for.
//!
//! A step is asked for in one of three ways: as calls of tools, as Thought / Action / Action Input in a text, or as an object that fits
//! a JSON Schema, which small models and servers without tools can answer.

use callsieve_bfcl::conversation::{Call, Message, Role, openai_message};
use callsieve_engine::fingerprint::Fingerprint;
use callsieve_engine::language_model::{ChatAnswer, ChatRequest};
use callsieve_text::json_answer::object_in;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::drafting::{Drafted, calls_in};
use super::texts::{SAMPLING, Task, Texts};

/// How a model is asked for a step.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Wire {
    /// With the functions as tools; calls come as calls of tools.
    #[default]
    Tools,
    /// With the functions in the system message; calls come as Thought, Action and Action Input in the text.
    Text,
    /// With a JSON Schema of the answer; calls come as members of an object.
    Schema,
}

/// What a model is asked with tools or in a text.
static STEP: Task = Task {
    name: "step",
    prompt: include_str!("../../../../configs/prompts/solve.md"),
    usual_output: 100,
    max_output: 1024,
};
/// The form of a step as text.
const TEXT_FORM: &str = include_str!("../../../../configs/prompts/solve_text.md");
/// What a model is asked with a schema.
static SCHEMA_STEP: Task = Task {
    name: "calls",
    prompt: include_str!("../../../../configs/prompts/solve_step.md"),
    usual_output: 100,
    max_output: 1024,
};
/// What a model is asked that stands in for a function.
pub static RESULTS: Task = Task {
    name: "result",
    prompt: include_str!("../../../../configs/prompts/simulate_result.md"),
    usual_output: 150,
    max_output: 2000,
};

/// The prompt at a step that was tried before: `{candidates}` and `{observation}` are replaced.
pub const TRY_ANOTHER: &str = include_str!("../../../../configs/prompts/try_another.md");

/// One of several samples of a model. Several have a temperature above 0.
#[derive(Debug, Clone, Copy)]
pub struct Sampled<'a> {
    /// The model.
    pub model: &'a str,
    /// The number of the sample: equal requests with other numbers are asked separately.
    pub sample: u32,
    /// Whether there are several.
    pub is_one_of_several: bool,
}

impl Wire {
    /// Adds the prompts to the resume key of a stage.
    pub fn fingerprint(self, fingerprint: &mut Fingerprint) {
        let task = if self == Self::Schema { &SCHEMA_STEP } else { &STEP };
        task.fingerprint("prompt", fingerprint);
        fingerprint.built_in("text form", TEXT_FORM);
        fingerprint.built_in("another", TRY_ANOTHER);
    }

    /// Returns the system message of a path; `None` where the prompt is part of each request.
    pub fn system(self, functions: &[Value]) -> Option<Message> {
        let text = match self {
            Self::Tools => STEP.prompt.to_owned(),
            Self::Text => {
                format!("{}\n{TEXT_FORM}\nThe functions are:\n{}", STEP.prompt, json!(functions))
            }
            Self::Schema => return None,
        };
        Some(Message::text(Role::System, text))
    }

    /// Returns the request for the next step after messages; `None` if the texts are too long.
    pub fn question(self, functions: &[Value], messages: &[Message], of: Sampled<'_>) -> Option<ChatRequest> {
        if self == Self::Schema {
            let n_samples = if of.is_one_of_several { 2 } else { 1 };
            let drafted = Drafted::request(functions, messages)?;
            return Some(drafted.question_of(&SCHEMA_STEP, of.model, of.sample, n_samples));
        }
        let messages: Vec<Value> = messages.iter().map(openai_message).collect();
        let mut body = Map::new();
        body.insert("messages".to_owned(), json!(messages));
        if self == Self::Tools {
            let tool = |function: &Value| json!({"type": "function", "function": function});
            body.insert("tools".to_owned(), functions.iter().map(tool).collect());
        } else {
            body.insert("stop".to_owned(), json!(["\nObservation:"]));
        }
        body.insert("temperature".to_owned(), json!(if of.is_one_of_several { SAMPLING } else { 0.0 }));
        body.insert("max_tokens".to_owned(), json!(STEP.max_output));
        Some(ChatRequest {
            model: of.model.to_owned(),
            body,
            sample: of.sample,
            usual_output: STEP.usual_output,
            max_output: STEP.max_output,
        })
    }

    /// Reads the text and the calls of an answer. Arguments that are no JSON object stay the text that the model wrote.
    ///
    /// # Errors
    /// Why the answer cannot be used.
    pub fn step_in(self, answer: &ChatAnswer) -> Result<(Option<String>, Vec<Call>), &'static str> {
        let text = Some(answer.text.trim()).filter(|text| !text.is_empty()).map(str::to_owned);
        match self {
            Self::Schema => {
                let object = object_in(&answer.text, answer.is_cut())?;
                let reason = object.get("reason").and_then(Value::as_str).map(str::to_owned);
                Ok((reason.filter(|reason| !reason.trim().is_empty()), calls_in(answer)?))
            }
            Self::Text => text.map(|text| (Some(text), Vec::new())).ok_or("the answer is empty"),
            Self::Tools => {
                let arguments = |text: &str| match serde_json::from_str::<Value>(text) {
                    Ok(Value::Object(members)) => Value::Object(members),
                    _ if text.trim().is_empty() => json!({}),
                    _ => Value::from(text),
                };
                let call = |call: &callsieve_engine::language_model::AnsweredCall| Call {
                    id: None,
                    name: call.name.clone(),
                    arguments: arguments(&call.arguments),
                };
                let calls: Vec<Call> = answer.calls.iter().map(call).collect();
                if text.is_none() && calls.is_empty() {
                    return Err("the answer is empty");
                }
                Ok((text, calls))
            }
        }
    }
}

/// Returns the request for the result of a call, after the calls before it with their results; `None` if the texts are too long.
pub fn simulation(
    function: &Value,
    earlier: &[(&Call, &str)],
    call: &Call,
    model: &str,
) -> Option<ChatRequest> {
    let shown = |call: &Call| format!("{} {}", call.name, call.arguments);
    let before: Vec<String> =
        earlier.iter().map(|(call, result)| format!("{} -> {result}", shown(call))).collect();
    let texts = Texts::sections(
        std::slice::from_ref(function),
        &[("EARLIER RESULTS", &before.join("\n")), ("CALL", &shown(call))],
    )?;
    let schema = json!({
        "type": "object",
        "properties": {"error": {"type": "string"}, "result": {"type": "string"}},
        "required": ["error", "result"],
        "additionalProperties": false
    });
    Some(RESULTS.question(&texts, &schema, model, 0, 1))
}

/// Reads the result that a model wrote for a call, or the error.
///
/// # Errors
/// Why the answer cannot be used.
pub fn result_in(answer: &ChatAnswer) -> Result<Result<Value, String>, &'static str> {
    let object = object_in(&answer.text, answer.is_cut())?;
    let error = object.get("error").and_then(Value::as_str).unwrap_or_default().trim();
    if !error.is_empty() {
        return Ok(Err(error.to_owned()));
    }
    let result = object.get("result").ok_or("the answer has no result")?;
    Ok(Ok(match result {
        Value::String(text) => serde_json::from_str(text).unwrap_or_else(|_| Value::from(text.as_str())),
        other => other.clone(),
    }))
}

#[cfg(test)]
mod tests {
    use callsieve_engine::language_model::AnsweredCall;

    use super::*;

    const ONCE: Sampled<'_> = Sampled { model: "m", sample: 0, is_one_of_several: false };

    fn ring() -> Vec<Value> {
        vec![
            json!({"name": "ring", "description": "Rings.", "parameters": {"type": "object", "properties": {}}}),
        ]
    }

    #[test]
    fn each_wire_asks_in_its_form() {
        let said = [Message::text(Role::User, "Ring.")];
        let tools = Wire::Tools.question(&ring(), &said, ONCE).unwrap();
        assert_eq!(tools.body["tools"][0]["function"]["name"], "ring");
        assert_eq!(tools.body["messages"], json!([{"role": "user", "content": "Ring."}]));
        let text = Wire::Text.question(&ring(), &said, ONCE).unwrap();
        assert!(text.body.get("tools").is_none() && text.body["stop"] == json!(["\nObservation:"]));
        let system = Wire::Text.system(&ring()).unwrap().content;
        assert!(system.contains("Action Input:") && system.contains("\"name\":\"ring\""), "{system}");
        let schema = Wire::Schema.question(&ring(), &said, ONCE).unwrap();
        assert!(schema.body["response_format"].is_object() && Wire::Schema.system(&ring()).is_none());
        let sampled = Sampled { is_one_of_several: true, ..ONCE };
        assert_eq!(
            Wire::Tools.question(&ring(), &said, sampled).unwrap().body["temperature"],
            json!(SAMPLING)
        );
    }

    #[test]
    fn a_step_is_read_from_each_form() {
        let mut answer = ChatAnswer::of_text("I ring.");
        answer.calls.push(AnsweredCall {
            id: Some("x".into()),
            name: "ring".into(),
            arguments: "{\"n\": 2}".into(),
        });
        answer.calls.push(AnsweredCall { id: None, name: "ring".into(), arguments: "twice".into() });
        let (text, calls) = Wire::Tools.step_in(&answer).unwrap();
        assert_eq!((text.as_deref(), calls.len()), (Some("I ring."), 2));
        assert_eq!((&calls[0].arguments, &calls[1].arguments), (&json!({"n": 2}), &json!("twice")));
        assert_eq!(Wire::Tools.step_in(&ChatAnswer::default()), Err("the answer is empty"));
        let object =
            ChatAnswer::of_text(r#"{"reason": "So.", "calls": [{"name": "ring", "arguments": "{}"}]}"#);
        let (text, calls) = Wire::Schema.step_in(&object).unwrap();
        assert_eq!((text.as_deref(), calls[0].name.as_str()), (Some("So."), "ring"));
        assert!(Wire::Schema.step_in(&ChatAnswer::of_text("ring()")).is_err());
        let (text, calls) = Wire::Text.step_in(&ChatAnswer::of_text("Thought: x")).unwrap();
        assert_eq!((text.as_deref(), calls.len()), (Some("Thought: x"), 0));
    }

    #[test]
    fn a_result_is_json_or_an_error() {
        let of = |text: &str| result_in(&ChatAnswer::of_text(text));
        assert_eq!(of(r#"{"error": "", "result": "{\"id\": 4}"}"#), Ok(Ok(json!({"id": 4}))));
        assert_eq!(of(r#"{"error": "", "result": "done"}"#), Ok(Ok(json!("done"))));
        assert_eq!(of(r#"{"error": "No such bell.", "result": ""}"#), Ok(Err("No such bell.".to_owned())));
        assert!(of(r#"{"error": ""}"#).is_err());
        let call = Call { id: None, name: "ring".into(), arguments: json!({"id": "B-4"}) };
        let asked = simulation(&ring()[0], &[(&call, "{\"rang\": 1}")], &call, "m").unwrap();
        let text = asked.body["messages"][1]["content"].as_str().unwrap();
        assert!(
            text.contains("=== EARLIER RESULTS ===\nring {\"id\":\"B-4\"} -> {\"rang\": 1}\n=== CALL ==="),
            "{text}"
        );
    }
}
