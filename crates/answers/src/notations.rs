//! Reads calls that a model wrote as JSON or as an action, in the notations of common APIs and agent libraries.
//!
//! A notation is a row of a table. A value is a call only if it reads in one way: its name and its arguments have their
//! own keys, or its only key is a function that the request offers. Everything else that names an offered function is
//! for `recorded` to report as unreadable. Deliberately absent: completing and repairing what a model wrote.

use serde_json::{Map, Value};

use super::attempt::{attempted, offered_part};
use callsieve_bfcl::conversation::Call;
use callsieve_notation::levels::{MAX_KEPT, is_within};
use callsieve_notation::python;

/// A notation of a call with a key for its name and a key for its arguments.
struct KeyPair {
    name: &'static str,
    arguments: &'static [&'static str],
    /// Other JSON has these keys too, so the name must be that of an offered function.
    must_be_offered: bool,
}

const KEY_PAIRS: &[KeyPair] = &[
    KeyPair { name: "name", arguments: &["arguments", "parameters"], must_be_offered: false },
    KeyPair { name: "name", arguments: &["input", "args"], must_be_offered: true },
    KeyPair {
        name: "tool",
        arguments: &["args", "arguments", "parameters", "input"],
        must_be_offered: false,
    },
    KeyPair {
        name: "tool_name",
        arguments: &["tool_input", "arguments", "parameters", "args", "input"],
        must_be_offered: false,
    },
    KeyPair {
        name: "function",
        arguments: &["parameters", "arguments", "args", "input"],
        must_be_offered: false,
    },
    KeyPair {
        name: "function_name",
        arguments: &["arguments", "parameters", "args", "input"],
        must_be_offered: false,
    },
    KeyPair {
        name: "action",
        arguments: &["action_input", "arguments", "parameters", "args"],
        must_be_offered: true,
    },
];

/// Keys of objects that hold one call.
const FRAMES: &[&str] = &["function", "function_call", "functionCall", "tool_call", "toolUse"];

/// Keys of lists of calls.
const LISTS: &[&str] = &["tool_calls", "function_calls"];

/// Maximum depth of lists and frames around a call.
const MAX_FRAMES: usize = 4;

/// Names that agent libraries use for no call, in lower case.
const NO_CALL: &[&str] = &["", "none", "null", "no_tool", "finish", "final_answer", "final answer", "n/a"];

/// Reads a text that is one JSON value, or a Python literal of the same.
pub(super) fn value_of(text: &str) -> Option<Value> {
    if !text.trim_start().starts_with(['{', '[']) {
        return None;
    }
    let value = serde_json::from_str(text).ok().or_else(|| python::literal(text.trim()).ok())?;
    is_within(&value, MAX_KEPT).then_some(value)
}

/// Reads calls from a value; `None` if it, or an element of it, is no call.
pub(super) fn calls_of(value: &Value, is_offered: &dyn Fn(&str) -> bool) -> Option<Vec<Call>> {
    calls_within(value, is_offered, MAX_FRAMES)
}

fn calls_within(value: &Value, is_offered: &dyn Fn(&str) -> bool, depth: usize) -> Option<Vec<Call>> {
    let depth = depth.checked_sub(1)?;
    let object = match value {
        Value::Array(elements) if !elements.is_empty() => {
            let calls = elements.iter().map(|element| calls_within(element, is_offered, depth));
            return calls.collect::<Option<Vec<_>>>().map(|calls| calls.concat());
        }
        Value::Object(object) => object,
        _ => return None,
    };
    if let Some(call) = KEY_PAIRS.iter().find_map(|pair| pair.call(object, is_offered)) {
        return Some(vec![call]);
    }
    if let Some(list) = LISTS.iter().find_map(|key| object.get(*key)).filter(|list| list.is_array()) {
        return calls_within(list, is_offered, depth);
    }
    if let Some(frame) = FRAMES.iter().find_map(|key| object.get(*key)).filter(|frame| frame.is_object()) {
        return calls_within(frame, is_offered, depth);
    }
    named_by_its_key(object, is_offered).map(|call| vec![call])
}

impl KeyPair {
    fn call(&self, object: &Map<String, Value>, is_offered: &dyn Fn(&str) -> bool) -> Option<Call> {
        let name = object.get(self.name)?.as_str()?;
        let is_known = is_offered(name);
        let is_none = NO_CALL.contains(&name.to_lowercase().as_str());
        if !is_known && (is_none || self.must_be_offered) {
            return None;
        }
        let arguments = self.arguments.iter().find_map(|key| object.get(*key))?;
        Some(Call { id: None, name: name.to_owned(), arguments: arguments_of(arguments) })
    }
}

/// The arguments of a call, which some models and servers write as JSON inside a text, once or twice.
pub(super) fn arguments_of(arguments: &Value) -> Value {
    const MOST_TIMES: usize = 2;
    let mut inner = arguments.clone();
    for _ in 0..MOST_TIMES {
        match inner.as_str().map(serde_json::from_str::<Value>) {
            Some(Ok(value)) => inner = value,
            _ => break,
        }
    }
    if inner.is_object() { inner } else { arguments.clone() }
}

/// Reads BFCL's forms: `{"f": {"a": 1}}`, which its handlers decode, and `{"f": {"a": [1, 2]}}`, a ground truth, of
/// which the first alternatives are the arguments.
fn named_by_its_key(object: &Map<String, Value>, is_offered: &dyn Fn(&str) -> bool) -> Option<Call> {
    let (name, parameters) = object.iter().next().filter(|_| object.len() == 1)?;
    let parameters = parameters.as_object().filter(|_| is_offered(name))?;
    let is_ground_truth = !parameters.is_empty()
        && parameters
            .values()
            .all(|value| value.as_array().is_some_and(|alternatives| !alternatives.is_empty()));
    let arguments = if is_ground_truth { first_alternatives(parameters)? } else { parameters.clone() };
    Some(Call { id: None, name: name.clone(), arguments: Value::Object(arguments) })
}

/// Returns the first alternative of each parameter; an empty text means that the parameter is left out. `None` if an
/// alternative is an object, whose own values may be alternatives or values.
fn first_alternatives(parameters: &Map<String, Value>) -> Option<Map<String, Value>> {
    let mut arguments = Map::new();
    for (name, alternatives) in parameters {
        let first = alternatives.as_array()?.first()?;
        match first {
            Value::Object(_) => return None,
            Value::String(text) if text.is_empty() => {}
            _ => drop(arguments.insert(name.clone(), first.clone())),
        }
    }
    Some(arguments)
}

/// Reads `f({"a": 1})`, with or without a namespace before the name.
pub(super) fn call_with_object(text: &str, is_offered: &dyn Fn(&str) -> bool) -> Option<Call> {
    let (name, rest) = text.split_once('(')?;
    let name = name.trim();
    let (name, _) = offered_part(name, is_offered)?;
    let arguments = value_of(rest.trim_end().strip_suffix(')')?)?;
    arguments.is_object().then(|| Call { id: None, name: name.to_owned(), arguments })
}

const ACTION: &str = "Action:";
const ACTION_INPUT: &str = "Action Input:";

/// What a text with a line `Action:` is.
pub(super) enum Action {
    /// One action with its arguments.
    Call(Call),
    /// An offered function, and anything but one object of arguments; the name.
    Unreadable(String),
    /// No action, or none that is a call.
    None,
}

/// Reads the action of a `ReAct` agent: a line `Action: NAME`, then `Action Input: {…}` up to the end of the text.
pub(super) fn action_of(text: &str, is_offered: &dyn Fn(&str) -> bool) -> Action {
    let after = |line: &'_ str| line.trim_start().strip_prefix(ACTION).map(str::to_owned);
    let actions: Vec<String> = text.lines().filter_map(after).collect();
    let Some(first) = actions.first() else { return Action::None };
    let name = first.trim().trim_matches(['`', '"', '\'', '*']);
    let input = text.split_once(ACTION_INPUT).map(|(_, input)| super::recorded::unfenced(input.trim()));
    let arguments = input.and_then(value_of).filter(Value::is_object);
    let is_name = !name.contains(char::is_whitespace) && !NO_CALL.contains(&name.to_lowercase().as_str());
    match arguments {
        Some(arguments) if actions.len() == 1 && (is_name || is_offered(name)) => {
            Action::Call(Call { id: None, name: name.to_owned(), arguments })
        }
        _ => match words(first).find(|word| is_offered(word)) {
            Some(named) => Action::Unreadable(named.to_owned()),
            None => Action::None,
        },
    }
}

/// Signs of markup that models write around calls, in notations that are not read.
const MARKUP: &[&str] = &[
    "<tool_call",
    "<functioncall",
    "<function_call",
    "<function=",
    "<invoke",
    "<|tool_call",
    "<|python_tag|>",
    "[TOOL_CALLS]",
];

/// Most objects in a text that are tried as calls.
const MAX_OBJECTS: usize = 16;

/// Returns the offered function that a text calls in a notation that is not read, or inside prose; `None` for prose that
/// calls nothing.
pub(super) fn named_in_call(text: &str, is_offered: &dyn Fn(&str) -> bool) -> Option<String> {
    if let Some(value) = value_of(text) {
        return named_in(&value, is_offered);
    }
    if MARKUP.iter().any(|mark| text.contains(mark)) {
        let named = words(text).find_map(|word| offered_part(word, is_offered));
        return named.map(|(name, _)| name.to_owned());
    }
    let objects = text.match_indices('{').take(MAX_OBJECTS).filter_map(|(at, _)| {
        let mut values = serde_json::Deserializer::from_str(&text[at..]).into_iter::<Value>();
        values.next()?.ok().filter(|value| is_within(value, MAX_KEPT))
    });
    let mut calls = objects.filter_map(|value| calls_of(&value, is_offered)).flatten();
    let call = calls.find(|call| is_offered(&call.name)).map(|call| call.name);
    call.or_else(|| attempted(text, is_offered))
}

/// Returns the first key or text of a value that is the name of an offered function.
fn named_in(value: &Value, is_offered: &dyn Fn(&str) -> bool) -> Option<String> {
    match value {
        Value::String(text) => is_offered(text).then(|| text.clone()),
        Value::Array(elements) => elements.iter().find_map(|element| named_in(element, is_offered)),
        Value::Object(object) => object.iter().find_map(|(key, value)| {
            if is_offered(key) { Some(key.clone()) } else { named_in(value, is_offered) }
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

/// The words of a text that may be names of functions.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.' | '-')));
    words.map(|word| word.trim_matches('.')).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn offered(name: &str) -> bool {
        name == "weather"
    }

    fn arguments(text: &str) -> Option<Vec<(String, Value)>> {
        let calls = calls_of(&value_of(text)?, &offered)?;
        Some(calls.into_iter().map(|call| (call.name, call.arguments)).collect())
    }

    #[test]
    fn calls_in_the_notations_of_apis_and_agent_libraries_are_read() {
        for text in [
            r#"[{"type": "function", "function": {"name": "weather", "arguments": {"city": "Oslo"}}}]"#,
            r#"[{"id": "c", "type": "function", "function": {"name": "weather", "arguments": "{\"city\": \"Oslo\"}"}}]"#,
            r#"{"tool_calls": [{"function": {"name": "weather", "arguments": {"city": "Oslo"}}}]}"#,
            r#"{"tool": "weather", "args": {"city": "Oslo"}}"#,
            r#"{"function": "weather", "parameters": {"city": "Oslo"}}"#,
            r#"{"tool_name": "weather", "tool_input": {"city": "Oslo"}}"#,
            r#"{"action": "weather", "action_input": {"city": "Oslo"}}"#,
            r#"[{"name": "weather", "input": {"city": "Oslo"}}]"#,
            r#"[{"weather": {"city": "Oslo"}}]"#,
            r#"[{"weather": {"city": ["Oslo", "oslo"], "unit": ["", "C"]}}]"#,
            "[{'name': 'weather', 'arguments': {'city': 'Oslo'}}]",
        ] {
            assert_eq!(
                arguments(text),
                Some(vec![("weather".to_owned(), json!({"city": "Oslo"}))]),
                "{text}"
            );
        }
    }

    #[test]
    fn other_json_is_no_call() {
        for text in [
            r#"{"answer": "It rains."}"#,
            r#"{"tide": {"city": "Oslo"}}"#,
            r#"{"action": "Final Answer", "action_input": "None fits."}"#,
            r#"{"tool": "none", "args": {}}"#,
            r#"{"name": "Ida", "input": {"age": 3}}"#,
            r#"[{"weather": {"places": [{"city": ["Oslo"]}]}}]"#,
            r#"[{"name": "weather", "arguments": {}}, "and more"]"#,
            "[]",
        ] {
            assert_eq!(arguments(text), None, "{text}");
        }
    }

    #[test]
    fn an_offered_name_in_a_notation_that_is_not_read_is_found() {
        for text in [
            r#"{"do": "weather", "with": {"city": "Oslo"}}"#,
            r#"[{"weather": {"places": [{"city": ["Oslo"]}]}}]"#,
            r#"<function=weather>{"city": "Oslo"}</function>"#,
            r#"<invoke name="weather"><parameter name="city">Oslo</parameter></invoke>"#,
            "I call this:\n```json\n{\"name\": \"weather\", \"arguments\": {\"city\": \"Oslo\"}}\n```",
        ] {
            assert_eq!(named_in_call(text, &offered).as_deref(), Some("weather"), "{text}");
        }
        for text in [
            "None of my functions, such as weather, can do that.",
            "Use {braces} and weather.",
            r#"{"answer": "The weather is fine."}"#,
            r#"I would need {"name": "tide", "arguments": {}} for that."#,
        ] {
            assert_eq!(named_in_call(text, &offered), None, "{text}");
        }
    }
}
