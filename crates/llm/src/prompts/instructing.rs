//! Instructing: the request for instructions over some functions, and the proposals in an answer.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::drafting::call_of;
use super::texts::{Task, Texts};
use callsieve_bfcl::conversation::Call;
use callsieve_engine::language_model::{ChatAnswer, ChatRequest};
use callsieve_text::json_answer::object_in;

/// What a model is asked.
pub static INSTRUCTIONS: Task = Task {
    name: "instructions",
    prompt: include_str!("../../../../configs/prompts/write_instructions.md"),
    usual_output: 600,
    max_output: 4000,
};

/// What is wanted of a model.
#[derive(Debug, Clone, Copy)]
pub struct Wish<'a> {
    /// What the requests are like, in a sentence.
    pub kind: &'a str,
    /// The number of requests.
    pub n: usize,
    /// Each is a conversation: later messages of the user are wanted too.
    pub several_turns: bool,
    /// Requests about other functions.
    pub examples: &'a [String],
    /// Values of parameters that exist, by `function.parameter`.
    pub values: &'a BTreeMap<String, Vec<Value>>,
    /// The prompt; that of [`INSTRUCTIONS`] if it is `None`.
    pub prompt: Option<&'a str>,
}

/// Returns the request for instructions over functions; `None` if the texts are too long. Requests with different numbers of the
/// sample are asked separately.
pub fn question(functions: &[Value], wish: &Wish<'_>, model: &str, sample: u32) -> Option<ChatRequest> {
    let wanted = format!("Write {} requests. {}", wish.n, wish.kind);
    let examples = wish.examples.iter().map(|example| format!("- {example}")).collect::<Vec<_>>().join("\n");
    let value = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let line = |(parameter, values): (&String, &Vec<Value>)| {
        format!("- {parameter}: {}", values.iter().map(value).collect::<Vec<_>>().join("; "))
    };
    let values = wish.values.iter().map(line).collect::<Vec<_>>().join("\n");
    let sections = [("WANTED", wanted.as_str()), ("EXAMPLES", &examples), ("VALUES", &values)];
    let n_sections = if values.is_empty() { 2 } else { 3 };
    let texts = Texts::sections(functions, &sections[..n_sections])?;
    let names: Vec<&str> = functions.iter().filter_map(|function| function["name"].as_str()).collect();
    let call = json!({
        "type": "object",
        "properties": {"name": {"type": "string", "enum": names}, "arguments": {"type": "string"}},
        "required": ["name", "arguments"],
        "additionalProperties": false
    });
    let turn = json!({
        "type": "object",
        "properties": {"request": {"type": "string"}, "calls": {"type": "array", "items": call}},
        "required": ["request", "calls"],
        "additionalProperties": false
    });
    let mut instruction = turn.clone();
    if wish.several_turns {
        instruction["properties"]["then"] = json!({"type": "array", "items": turn});
        instruction["required"] = json!(["request", "calls", "then"]);
    }
    let schema = json!({
        "type": "object",
        "properties": {"instructions": {"type": "array", "items": instruction}},
        "required": ["instructions"],
        "additionalProperties": false
    });
    // Several requests about the same functions are different ones.
    let mut request = INSTRUCTIONS.question(&texts, &schema, model, sample, 2);
    if let Some(prompt) = wish.prompt {
        request.body["messages"][0]["content"] = prompt.into();
    }
    Some(request)
}

/// A message of the user that a model proposes.
#[derive(Debug, Clone, PartialEq)]
pub struct ProposedTurn {
    /// What the user writes.
    pub request: String,
    /// The calls; an argument may be a place in the result of an earlier one, of any turn.
    pub calls: Vec<Call>,
}

/// An instruction that a model proposes: its turns, at least one.
pub type Proposal = Vec<ProposedTurn>;

/// Reads the instructions of an answer. One that is not in the form is an error of its own, and the others are used.
///
/// # Errors
/// Why the answer cannot be used: it is no object, or has no list of instructions.
pub fn proposals_in(answer: &ChatAnswer) -> Result<Vec<Result<Proposal, &'static str>>, &'static str> {
    let object = object_in(&answer.text, answer.is_cut())?;
    let list = ["instructions", "requests", "queries"].iter().find_map(|key| object.get(*key)?.as_array());
    let list = list.ok_or("the answer has no list of instructions")?;
    Ok(list.iter().map(proposal_of).collect())
}

fn proposal_of(value: &Value) -> Result<Proposal, &'static str> {
    let later = value.get("then").and_then(Value::as_array).into_iter().flatten();
    std::iter::once(value).chain(later).map(turn_of).collect()
}

fn turn_of(value: &Value) -> Result<ProposedTurn, &'static str> {
    let request = ["request", "instruction", "query"].iter().find_map(|key| value.get(*key)?.as_str());
    let request = request.map(str::trim).filter(|text| !text.is_empty()).ok_or("it has no request")?;
    let calls = value.get("calls").and_then(Value::as_array).ok_or("it has no list of calls")?;
    let read = |call: &Value| call_of(call).ok_or("a call has no name, or its arguments are no JSON object");
    Ok(ProposedTurn { request: request.to_owned(), calls: calls.iter().map(read).collect::<Result<_, _>>()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proposal_that_is_not_in_the_form_leaves_the_others() {
        let text = r#"{"instructions": [{"request": "Ring B-4 twice.", "calls": [{"name": "ring", "arguments": "{\"times\": 2}"}]},
            {"request": "", "calls": []}, {"request": "Ring.", "calls": [{"name": "ring", "arguments": "twice"}]}, {"request": "Ring."}]}"#;
        let read = proposals_in(&ChatAnswer::of_text(text)).unwrap();
        let faults: Vec<Option<&str>> = read.iter().map(|one| one.as_ref().err().copied()).collect();
        assert_eq!(
            faults,
            [
                None,
                Some("it has no request"),
                Some("a call has no name, or its arguments are no JSON object"),
                Some("it has no list of calls")
            ]
        );
        assert_eq!(read[0].as_ref().unwrap()[0].calls[0].arguments, json!({"times": 2}));
        let turns = r#"{"instructions": [{"request": "Ring B-4.", "calls": [], "then": [{"request": "Again.", "calls": []}]}]}"#;
        let read = proposals_in(&ChatAnswer::of_text(turns)).unwrap();
        assert_eq!(read[0].as_ref().unwrap()[1].request, "Again.");
        assert!(proposals_in(&ChatAnswer::of_text("{}")).is_err());
        assert!(proposals_in(&ChatAnswer::of_text("Sorry, I cannot.")).is_err());
        assert_eq!(proposals_in(&ChatAnswer::of_text(r#"{"instructions": []}"#)), Ok(Vec::new()));
    }

    #[test]
    fn a_prompt_of_a_person_replaces_the_built_in_one() {
        let wish = Wish {
            kind: "Each needs one call.",
            n: 3,
            several_turns: false,
            examples: &["Ring.".to_owned()],
            values: &BTreeMap::new(),
            prompt: Some("Mine."),
        };
        let request = question(&[json!({"name": "ring"})], &wish, "m", 4).unwrap();
        assert_eq!(request.body["messages"][0]["content"], "Mine.");
        let text = request.body["messages"][1]["content"].as_str().unwrap();
        assert!(
            text.contains("Write 3 requests. Each needs one call.\n=== EXAMPLES ===\n- Ring.\n=== END"),
            "{text}"
        );
    }

    #[test]
    fn values_that_exist_are_a_section_of_their_own() {
        let values = [("ring.bell".to_owned(), vec![json!("B-4"), json!(7)])].into();
        let wish =
            Wish { kind: "", n: 1, several_turns: false, examples: &[], values: &values, prompt: None };
        let request = question(&[json!({"name": "ring"})], &wish, "m", 0).unwrap();
        let text = request.body["messages"][1]["content"].as_str().unwrap();
        assert!(text.contains("=== VALUES ===\n- ring.bell: B-4; 7\n=== END"), "{text}");
    }
}
