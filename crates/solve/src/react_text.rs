//! Reads and writes calls as text: Thought, Action and Action Input, each at the beginning of a line.
//!
//! The reader is tolerant: the thought may be missing, labels may be in bold or any case, the input may be fenced, and
//! text after it is ignored. A model that continues with an observation has invented it, so everything from there on is
//! cut off.

use std::fmt;

use callsieve_bfcl::conversation::{Call, Message, Role};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Why a text has no call that can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TextFault {
    /// It has no action.
    NoAction,
    /// Its action has no name.
    NoName,
    /// Its action has no input.
    NoInput,
}

impl fmt::Display for TextFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoAction => "there is no Action",
            Self::NoName => "the Action has no name",
            Self::NoInput => "there is no Action Input",
        })
    }
}

/// A text of a model.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReadText {
    /// The thought, or the whole text if it has no call that can be read; `None` if it is empty.
    pub thought: Option<String>,
    /// The call. Arguments that are no JSON object are the string that the model wrote.
    pub call: Option<Call>,
    /// Why there is no call.
    pub fault: Option<TextFault>,
    /// The text went on with an invented observation.
    pub invented_observation: bool,
}

const THOUGHT: &str = "Thought";
const ACTION: &str = "Action";
const INPUT: &str = "Action Input";
const OBSERVATION: &str = "Observation";
/// What stands around labels and names as mark-up.
const MARKUP: [char; 4] = ['*', '_', '#', '`'];

/// Reads a text. Only the first action counts.
pub fn read(text: &str) -> ReadText {
    let mut found = ReadText::default();
    let mut text = text;
    let labels = labels(text);
    let action = labels.iter().position(|label| label.name == ACTION);
    let cut = labels.iter().find(|label| label.name == OBSERVATION);
    if let Some(cut) = cut {
        text = &text[..cut.start];
        found.invented_observation = true;
    }
    let action = action.filter(|at| labels[*at].start < text.len()).map(|at| &labels[at]);
    let thought_end = action.map_or(text.len(), |label| label.start);
    found.thought = thought(&text[..thought_end]);
    let Some(action) = action else {
        found.fault = Some(TextFault::NoAction);
        return found;
    };
    let input = labels.iter().find(|label| label.name == INPUT && label.start >= action.end);
    let input = input.filter(|label| label.start < text.len());
    let name = &text[action.end.min(text.len())..input.map_or(text.len(), |label| label.start)];
    match call(name, input.map(|label| &text[label.end.min(text.len())..])) {
        Ok(call) => found.call = Some(call),
        Err(fault) => {
            found.fault = Some(fault);
            found.thought = Some(text.trim().to_owned());
        }
    }
    found
}

struct Label {
    name: &'static str,
    /// Where its line begins, in bytes.
    start: usize,
    /// Where its value begins.
    end: usize,
}

/// Returns the labels at the beginnings of lines. Lines inside the JSON of an input begin with quotes or brackets, so they
/// are none, unless a string has an unescaped line break, which JSON does not allow.
fn labels(text: &str) -> Vec<Label> {
    let mut labels = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        if let Some((name, length)) = label(line) {
            labels.push(Label { name, start, end: start + length });
        }
        start += line.len();
    }
    labels
}

/// Returns the label of a line, and its length in bytes with the mark-up and the colon.
fn label(line: &str) -> Option<(&'static str, usize)> {
    let is_markup = |letter: char| letter.is_whitespace() || MARKUP.contains(&letter);
    let (before, value) = line.split_once(':')?;
    let name = before.trim_matches(is_markup);
    let known = [THOUGHT, ACTION, INPUT, OBSERVATION];
    let name = known.into_iter().find(|known| name.eq_ignore_ascii_case(known))?;
    // The end of bold text, as in `**Action:** search`.
    let closing = value.len() - value.trim_start_matches('*').len();
    Some((name, before.len() + 1 + closing))
}

fn thought(text: &str) -> Option<String> {
    let text = text.trim();
    let value = match label(text) {
        Some((THOUGHT, length)) => text[length..].trim(),
        _ => text,
    };
    (!value.is_empty()).then(|| value.to_owned())
}

fn call(name: &str, input: Option<&str>) -> Result<Call, TextFault> {
    let name = name.trim().lines().next().unwrap_or_default();
    let name = name.trim_matches(|letter: char| letter.is_whitespace() || "*`\"".contains(letter));
    if name.is_empty() {
        return Err(TextFault::NoName);
    }
    let input = input.map(unfenced).filter(|input| !input.is_empty()).ok_or(TextFault::NoInput)?;
    Ok(Call { id: None, name: name.to_owned(), arguments: arguments(input) })
}

/// Returns the text inside a code fence that begins the text.
fn unfenced(text: &str) -> &str {
    let text = text.trim();
    let Some(inside) = text.strip_prefix("```") else { return text };
    let inside = inside.trim_start_matches(|letter: char| letter.is_ascii_alphanumeric());
    inside.split("```").next().unwrap_or_default().trim()
}

/// Returns the object with which the text begins; other text is kept as a string.
fn arguments(text: &str) -> Value {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    match values.next() {
        Some(Ok(value @ Value::Object(_))) => value,
        _ => Value::String(text.to_owned()),
    }
}

/// Returns messages as text: calls become part of the assistant's text, observations messages of the user. Neighbouring
/// messages of the user stay apart.
pub fn written(messages: &[Message]) -> Vec<Message> {
    messages.iter().map(written_message).collect()
}

fn written_message(message: &Message) -> Message {
    match message.role {
        Role::Tool => Message::text(Role::User, format!("{OBSERVATION}: {}", message.content)),
        Role::Assistant if !message.calls.is_empty() => {
            Message::text(Role::Assistant, written_calls(&message.content, &message.calls))
        }
        Role::System | Role::User | Role::Assistant => message.clone(),
    }
}

/// Returns a thought and calls as text. The thought is left out if it is empty.
pub fn written_calls(thought: &str, calls: &[Call]) -> String {
    let thought = (!thought.is_empty()).then(|| format!("{THOUGHT}: {thought}"));
    let call = |call: &Call| format!("{ACTION}: {}\n{INPUT}: {}", call.name, argument_text(&call.arguments));
    thought.into_iter().chain(calls.iter().map(call)).collect::<Vec<_>>().join("\n")
}

/// Returns arguments as the model writes them.
pub(crate) fn argument_text(arguments: &Value) -> String {
    match arguments {
        Value::String(text) => text.clone(),
        arguments => arguments.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use callsieve_testkit::arbitrary::{json_value, object};
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn read_call(text: &str) -> (String, Value) {
        let call = read(text).call.unwrap_or_else(|| panic!("{text}"));
        (call.name, call.arguments)
    }

    #[test]
    fn the_written_form_may_vary() {
        let expected = ("find".to_owned(), json!({"x": 1}));
        for text in [
            "Thought: I look.\nAction: find\nAction Input: {\"x\": 1}",
            "Action: find\nAction Input: {\"x\": 1}",
            "\nThought: \nAction: find\nAction Input:\n```json\n{\"x\": 1}\n```\nThat is all.",
            "**Thought:** I look.\n**Action:** `find`\n**Action Input:** {\"x\": 1} and so on",
            "action: find\naction input: {\n  \"x\": 1\n}\n\nFinal words",
            "Action: find\nAction Input: {\"x\": 1}\nAction: other\nAction Input: {}",
        ] {
            assert_eq!(read_call(text), expected, "{text}");
        }
        assert_eq!(read("Thought: I look.\nAction: f\nAction Input: {}").thought.unwrap(), "I look.");
        assert_eq!(read("I look.\nAction: f\nAction Input: {}").thought.unwrap(), "I look.");
    }

    #[test]
    fn an_invented_observation_is_cut_off() {
        let text = "Action: find\nAction Input: {\"x\": 1}\nObservation: 7\nAction: Finish\nAction Input: {}";
        let found = read(text);
        assert!(found.invented_observation);
        assert_eq!(read_call(text), ("find".to_owned(), json!({"x": 1})));
        let found = read("Observation: 7\nAction: find\nAction Input: {}");
        assert_eq!((found.thought, found.call, found.fault), (None, None, Some(TextFault::NoAction)));
    }

    #[test]
    fn a_text_without_a_call_has_a_fault() {
        let fault = |text: &str| read(text).fault;
        assert_eq!(fault("I wonder."), Some(TextFault::NoAction));
        assert_eq!(fault("Action: \nAction Input: {}"), Some(TextFault::NoName));
        assert_eq!(fault("Action: find"), Some(TextFault::NoInput));
        assert_eq!(fault("Action: find\nAction Input: "), Some(TextFault::NoInput));
        assert_eq!(fault("Action Input: {}\nAction: find"), Some(TextFault::NoInput));
        assert_eq!(read("I wonder.").thought.unwrap(), "I wonder.");
        assert_eq!(read("Hm.\nAction: find\n").thought.unwrap(), "Hm.\nAction: find");
    }

    #[test]
    fn an_input_that_is_no_object_is_kept_as_a_string() {
        let input = |text: &str| read_call(&format!("Action: f\nAction Input: {text}")).1;
        assert_eq!(input("{\"x\": "), json!("{\"x\":"));
        assert_eq!(input("Oslo"), json!("Oslo"));
        assert_eq!(input("[1]"), json!("[1]"));
    }

    #[test]
    fn observations_become_messages_of_the_user() {
        let call = Call { id: None, name: "f".to_owned(), arguments: json!({"x": 1}) };
        let messages = [
            Message { calls: vec![call], ..Message::text(Role::Assistant, "I look.") },
            Message { name: Some("f".to_owned()), ..Message::text(Role::Tool, "7") },
        ];
        let written = written(&messages);
        assert_eq!(written[0].content, "Thought: I look.\nAction: f\nAction Input: {\"x\":1}");
        assert_eq!((written[1].role, written[1].content.as_str()), (Role::User, "Observation: 7"));
        assert!(written.iter().all(|message| message.calls.is_empty() && message.name.is_none()));
    }

    proptest! {
        #[test]
        fn any_text_is_read(lines in prop::collection::vec("(\\*\\*)?(Thought|Action|Action Input|Observation|ä)?:?(a| |```|\\{|\"|ä){0,3}", 0..8)) {
            let text = lines.join("\n");
            let found = read(&text);
            prop_assert_eq!(found.call.is_none(), found.fault.is_some());
        }

        #[test]
        fn what_is_written_is_read_back(
            thought in "([A-Za-z]{1,8} ?){1,4}",
            name in "[a-z_]{0,7}[a-z]",
            members in prop::collection::vec(("[a-z]{1,4}", json_value()), 0..4),
        ) {
            let thought = thought.trim().to_owned();
            let call = Call { id: None, name, arguments: object(members) };
            let found = read(&written_calls(&thought, std::slice::from_ref(&call)));
            prop_assert_eq!(found, ReadText { thought: Some(thought), call: Some(call), ..ReadText::default() });
        }
    }
}
