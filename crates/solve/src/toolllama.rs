//! Writes training data of `ToolLLaMA`: one conversation for each reply with a call, which is its last turn and the target.
//!
//! From the lists of `training::toolbench_messages` it makes the steps, and [`write_file`] the bytes, of ToolBench's
//! `preprocess/preprocess_toolllama_data.py`, its peculiarities included: a text that comes with a call is lost, and so
//! are texts without a call that another message follows before the next call. A list that ends with a text has no step.
//! Which paths become data is up to the caller; the original leaves out answers without `valid_data`.

use std::io::{self, Write};

use callsieve_bfcl::conversation::{Call, Message, Role};
use callsieve_checker::PyValue;
use callsieve_notation::{MAX_DEPTH, levels};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::ser::PrettyFormatter;

use crate::react_text::argument_text;

// The texts that the model is trained with, with their spelling. From `process_system_message` in `toolbench/utils.py` of
// ToolBench (github.com/OpenBMB/ToolBench), Apache License 2.0, Copyright the authors of ToolBench; unchanged.

/// What every system message has to contain: the output format is explained after it.
pub const STEP_SENTENCE: &str = "with a function call to actually excute your step.";
const OUTPUT_FORMAT: &str = " Your output should follow this format:\nThought:\nAction\nAction Input:\n";
const FUNCTIONS: &str = "\nSpecifically, you have access to the following APIs: ";

const THOUGHT: &str = "\nThought: ";

/// One conversation to train on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrainingStep {
    /// `Step N: query`, where N is the number of messages before the reply. It is unique only within one path.
    pub id: String,
    /// The turns; the last is the reply to learn.
    pub conversations: Vec<Turn>,
}

/// One turn of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    /// The author.
    pub from: Speaker,
    /// The text.
    pub value: String,
}

/// The author of a turn, as ToolBench names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Speaker {
    /// The instructions, with the output format and the functions.
    System,
    /// The query, or a diversity prompt.
    User,
    /// The model.
    Assistant,
    /// The result of a call.
    Function,
}

/// Why messages have no training steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum StepFault {
    /// A system message lacks [`STEP_SENTENCE`], so there is no place for the output format.
    #[error("a system message does not contain \"{}\"", STEP_SENTENCE)]
    NoStepSentence,
    /// The functions have more levels than the readers of JSON accept.
    #[error("the functions have more than {} levels of lists and objects", MAX_DEPTH)]
    DeepFunctions,
}

/// Returns the training steps of one path, in the order of its lists of messages.
///
/// Each list ends with a reply; `functions` are the docs on offer, with that of `Finish`. Arguments that are a string are
/// written as they are, an object as compact JSON: the same bytes as the original need the string that the model wrote.
/// Several calls of one reply, which the original does not have, are written one after the other.
///
/// # Errors
/// If a system message lacks [`STEP_SENTENCE`], or the functions nest too deep.
pub fn steps(
    query: &str,
    train_messages: &[Vec<Message>],
    functions: &[Value],
) -> Result<Vec<TrainingStep>, StepFault> {
    if !levels::are_within(functions, MAX_DEPTH) {
        return Err(StepFault::DeepFunctions);
    }
    let functions = python_list(functions);
    let steps = train_messages.iter().map(|messages| step(query, messages, &functions));
    steps.filter_map(Result::transpose).collect()
}

/// Returns the step of one list; `None` if its last message is not a reply with a call.
fn step(query: &str, messages: &[Message], functions: &str) -> Result<Option<TrainingStep>, StepFault> {
    let mut conversations = Vec::new();
    let mut thoughts = String::new();
    for message in messages {
        if message.role == Role::Assistant && message.calls.is_empty() {
            thoughts.extend([THOUGHT, &message.content]);
            continue;
        }
        conversations.push(turn(message, &thoughts, functions)?);
        thoughts.clear();
    }
    let is_target = |last: &Message| last.role == Role::Assistant && !last.calls.is_empty();
    let before = messages.split_last().filter(|(last, _)| is_target(last)).map(|(_, before)| before);
    Ok(before.map(|before| TrainingStep { id: format!("Step {}: {query}", before.len()), conversations }))
}

fn turn(message: &Message, thoughts: &str, functions: &str) -> Result<Turn, StepFault> {
    let (from, value) = match message.role {
        Role::System => (Speaker::System, system_text(&message.content, functions)?),
        Role::User => (Speaker::User, message.content.clone()),
        Role::Assistant => (Speaker::Assistant, reply_text(thoughts, &message.calls)),
        Role::Tool => (Speaker::Function, message.content.clone()),
    };
    Ok(Turn { from, value })
}

/// Returns the instructions with the output format, after every occurrence of the sentence, and the functions.
fn system_text(instructions: &str, functions: &str) -> Result<String, StepFault> {
    if !instructions.contains(STEP_SENTENCE) {
        return Err(StepFault::NoStepSentence);
    }
    let explained = instructions.replace(STEP_SENTENCE, &format!("{STEP_SENTENCE}{OUTPUT_FORMAT}"));
    Ok(format!("{explained}{FUNCTIONS}{functions}"))
}

/// Returns a reply with the texts before it; without any, its thought is empty.
fn reply_text(thoughts: &str, calls: &[Call]) -> String {
    let mut text = if thoughts.is_empty() { THOUGHT.to_owned() } else { thoughts.to_owned() };
    for call in calls {
        text += &format!("\nAction: {}\nAction Input: {}", call.name, argument_text(&call.arguments));
    }
    text
}

/// Returns values as Python's `str` writes a list. Versions of Python differ in the characters that they escape because
/// their Unicode does not have them yet.
fn python_list(values: &[Value]) -> String {
    let values: Vec<String> = values.iter().map(|value| PyValue::from_json(value).repr()).collect();
    format!("[{}]", values.join(", "))
}

/// Writes the steps of all paths as one JSON file, as Python's `json.dump` does with `indent=4` and `ensure_ascii=False`:
/// UTF-8, without a line break at the end.
///
/// # Errors
/// If the writer fails.
pub fn write_file(out: &mut dyn Write, steps: &[TrainingStep]) -> io::Result<()> {
    let format = PrettyFormatter::with_indent(b"    ");
    steps.serialize(&mut serde_json::Serializer::with_formatter(out, format))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use callsieve_testkit::arbitrary::json_value;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::reply::{Observation, Reply};
    use crate::settings::{Method, Semantics, Settings};
    use crate::tests::{answer, call, letters, settings};
    use crate::{Search, training};

    const QUERY: &str = "When is \"high\" tide?";

    fn opening() -> Vec<Message> {
        let instructions = format!("You plan boat trips. Think first, {STEP_SENTENCE} Then stop.");
        vec![Message::text(Role::System, instructions), Message::text(Role::User, "When is high tide?")]
    }

    fn reply(content: &str, name: &str, arguments: Value) -> Message {
        let call = Call { arguments, ..call(name) };
        Message { calls: vec![call], ..Message::text(Role::Assistant, content) }
    }

    fn values(step: &TrainingStep) -> Vec<&str> {
        step.conversations.iter().map(|turn| turn.value.as_str()).collect()
    }

    fn tide() -> Message {
        reply("This text is lost.", "tide", json!("{\n  \"port\": \"Tromsø\"\n}"))
    }

    /// The original script gave what the tests expect of these messages.
    fn lists() -> Vec<Vec<Message>> {
        let first = [opening(), vec![tide()]].concat();
        let text = |text: &str| Message::text(Role::Assistant, text);
        let after = vec![
            Message { name: Some("tide".to_owned()), ..Message::text(Role::Tool, "{'at': \"06:10\"}") },
            text("It is early."),
            Message::text(Role::User, "Try another way."),
            text("I check."),
            text("Then I end."),
        ];
        let second = [first.clone(), after].concat();
        let last = reply("", "Finish", json!("{\"return_type\": \"give_answer\"}"));
        let third = [second.clone(), vec![last]].concat();
        vec![first, second, third]
    }

    #[test]
    fn each_list_that_ends_with_a_call_is_one_step() {
        let steps = steps(QUERY, &lists(), &[]).unwrap();
        let ids: Vec<&str> = steps.iter().map(|step| step.id.as_str()).collect();
        assert_eq!(ids, ["Step 2: When is \"high\" tide?", "Step 8: When is \"high\" tide?"]);
        let speakers = serde_json::to_value(&steps[1].conversations).unwrap();
        let speakers: Vec<&Value> = speakers.as_array().unwrap().iter().map(|turn| &turn["from"]).collect();
        assert_eq!(speakers, ["system", "user", "assistant", "function", "user", "assistant"]);
    }

    #[test]
    fn a_text_counts_only_if_a_call_follows_it_at_once() {
        let steps = steps(QUERY, &lists(), &[]).unwrap();
        assert_eq!(
            values(&steps[1])[1..],
            [
                "When is high tide?",
                "\nThought: \nAction: tide\nAction Input: {\n  \"port\": \"Tromsø\"\n}",
                "{'at': \"06:10\"}",
                "Try another way.",
                "\nThought: I check.\nThought: Then I end.\nAction: Finish\nAction Input: {\"return_type\": \"give_answer\"}",
            ]
        );
    }

    #[test]
    fn the_instructions_explain_the_format_and_list_the_functions_as_python_does() {
        let functions = [
            json!({
                "name": "tide",
                "description": "The harbour's \"tide\"\ttable\n",
                "parameters": {
                    "type": "object",
                    "properties": {"height": {"minimum": 0.5, "maximum": 1e16, "example": -3, "default": null}},
                    "required": [],
                    "optional": ["it's"],
                    "strict": true,
                    "loose": false,
                },
            }),
            json!({"name": "Finish", "parameters": {}}),
        ];
        let steps = steps(QUERY, &lists(), &functions).unwrap();
        let expected = "You plan boat trips. Think first, with a function call to actually excute your step. \
            Your output should follow this format:\nThought:\nAction\nAction Input:\n Then stop.\n\
            Specifically, you have access to the following APIs: [{'name': 'tide', \
            'description': 'The harbour\\'s \"tide\"\\ttable\\n', 'parameters': {'type': 'object', 'properties': \
            {'height': {'minimum': 0.5, 'maximum': 1e+16, 'example': -3, 'default': None}}, 'required': [], \
            'optional': [\"it's\"], 'strict': True, 'loose': False}}, {'name': 'Finish', 'parameters': {}}]";
        assert_eq!(values(&steps[0])[0], expected);
    }

    #[test]
    fn instructions_without_the_sentence_and_deep_functions_are_refused() {
        let list = vec![vec![Message::text(Role::System, "Plan."), tide()]];
        let fault = steps(QUERY, &list, &[]).unwrap_err();
        assert_eq!(fault, StepFault::NoStepSentence);
        assert_eq!(
            fault.to_string(),
            "a system message does not contain \"with a function call to actually excute your step.\""
        );
        let nested = |levels: usize| (0..levels).fold(json!(1), |value, _| json!([value]));
        assert_eq!(steps(QUERY, &lists(), &[nested(MAX_DEPTH)]).unwrap_err(), StepFault::DeepFunctions);
        assert_eq!(steps(QUERY, &lists(), &[nested(MAX_DEPTH - 1)]).unwrap().len(), 2);
    }

    #[test]
    fn lists_that_do_not_end_with_a_call_have_no_step() {
        let observed = [lists()[0].clone(), vec![Message::text(Role::Tool, "06:10")]].concat();
        let of_the_user = vec![Message { role: Role::User, ..tide() }];
        assert_eq!(steps(QUERY, &[Vec::new(), opening(), observed, of_the_user], &[]), Ok(Vec::new()));
    }

    #[test]
    fn arguments_in_an_object_are_compact_and_several_calls_follow_each_other() {
        let mut reply = reply("", "tide", json!({"port": "Oslo", "day": 2}));
        reply.calls.push(call("sun"));
        let steps = steps(QUERY, &[vec![reply]], &[]).unwrap();
        let expected = "\nThought: \nAction: tide\nAction Input: {\"port\":\"Oslo\",\"day\":2}\nAction: sun\nAction Input: {}";
        assert_eq!(
            (steps[0].id.as_str(), values(&steps[0])),
            ("Step 0: When is \"high\" tide?", vec![expected])
        );
    }

    #[test]
    fn a_search_gives_its_training_file() {
        let settings = Settings { semantics: Semantics::Toolbench, ..settings(Method::Dfsdt { width: 2 }) };
        let mut search = Search::new(settings, opening(), ["a".to_owned()]);
        search.reply(Reply::text("I think.")).unwrap();
        search.reply(Reply::calls(vec![call("a")])).unwrap();
        search.observe(Observation::result("one")).unwrap();
        search.reply(answer("done")).unwrap();
        let leaf = search.tree().chosen().unwrap().leaf;
        let lists = training::toolbench_messages(search.tree(), leaf, "{candidates}");
        let roles: Vec<String> = lists.iter().map(|list| letters(list)).collect();
        assert_eq!(roles, ["SUA", "SUAA", "SUAAFA"]);
        let steps = steps(QUERY, &lists, &[]).unwrap();
        assert_eq!(values(&steps[0])[2], "\nThought: I think.\nAction: a\nAction Input: {}");
        assert_eq!(steps.iter().map(|step| step.conversations.len()).collect::<Vec<_>>(), [3, 5]);
    }

    #[test]
    fn the_file_has_four_spaces_and_unescaped_letters() {
        let value = "é\u{7f}\u{1}\u{8}\"\\/\u{2028}".to_owned();
        let turn = Turn { from: Speaker::Function, value };
        let step = TrainingStep { id: "Step 1: é".to_owned(), conversations: vec![turn] };
        let written = |steps: &[TrainingStep]| {
            let mut out = Vec::new();
            write_file(&mut out, steps).unwrap();
            String::from_utf8(out).unwrap()
        };
        let expected = "[\n    {\n        \"id\": \"Step 1: é\",\n        \"conversations\": [\n            {\n                \
            \"from\": \"function\",\n                \"value\": \"é\u{7f}\\u0001\\b\\\"\\\\/\u{2028}\"\n            }\n        ]\n    }\n]";
        assert_eq!(written(&[step]), expected);
        assert_eq!(written(&[]), "[]");
    }

    fn message() -> impl Strategy<Value = Message> {
        let roles = prop::sample::select(vec![Role::User, Role::Tool, Role::Assistant, Role::Assistant]);
        (roles, ".{0,6}", any::<bool>()).prop_map(|(role, text, has_call)| match role {
            Role::Assistant if has_call => reply(&text, "tide", json!("{}")),
            role => Message::text(role, text),
        })
    }

    proptest! {
        #[test]
        fn every_message_but_a_bare_text_is_a_turn_and_the_file_is_read_back(
            list in prop::collection::vec(message(), 0..8),
            functions in prop::collection::vec(json_value(), 0..3),
        ) {
            let list = [opening(), list].concat();
            let is_reply = |message: &Message| message.role == Role::Assistant && !message.calls.is_empty();
            let is_turn = |message: &&Message| message.role != Role::Assistant || !message.calls.is_empty();
            let steps = steps(QUERY, std::slice::from_ref(&list), &functions).unwrap();
            prop_assert_eq!(steps.len(), usize::from(list.last().is_some_and(is_reply)));
            for step in &steps {
                prop_assert_eq!(step.conversations.len(), list.iter().filter(is_turn).count());
                prop_assert_eq!(step.conversations.last().unwrap().from, Speaker::Assistant);
            }
            let mut out = Vec::new();
            write_file(&mut out, &steps).unwrap();
            prop_assert_eq!(serde_json::from_slice::<Vec<TrainingStep>>(&out).unwrap(), steps);
        }
    }
}
