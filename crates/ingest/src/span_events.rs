//! Collects the messages of a request that a span holds as events, one for each message.
//!
//! OpenTelemetry's conventions had an event for each message (`gen_ai.user.message`, `gen_ai.choice`) before they had
//! `gen_ai.input.messages`. Spans hold them as their events or, from pydantic-ai before 1.0, as JSON in the attribute
//! `events`. Here they become the attributes of the later convention, so the tables describe both in one entry.

use serde_json::{Map, Value};

use crate::attributes::{nested, plain};
use crate::path::{Path, find, opened, written_list};

/// The paths of events in a line; its attributes are nested already.
const PLACES: &[Path] = &[&["attributes", "events"], &["events"]];

/// The paths at which messages and answer are stored.
const INPUT: Path = &["attributes", "gen_ai", "input", "messages"];
const OUTPUT: Path = &["attributes", "gen_ai", "output", "messages"];

/// The events of messages, by the role of the message.
const MESSAGES: &[(&str, &str)] = &[
    ("gen_ai.system.message", "system"),
    ("gen_ai.user.message", "user"),
    ("gen_ai.assistant.message", "assistant"),
    ("gen_ai.tool.message", "tool"),
];

/// The event of an answer.
const CHOICE: &str = "gen_ai.choice";

/// The older events of all messages and of the answer, each with the attribute that holds them.
const PROMPT: (&str, &str) = ("gen_ai.content.prompt", "prompt");
const COMPLETION: (&str, &str) = ("gen_ai.content.completion", "completion");

/// The prefix of the names of these events.
const PREFIX: &str = "gen_ai.";

/// Keys of which a body has one, if its text was stored.
const SAYS: &[&str] = &["content", "message", "tool_calls", "parts"];

/// Returns the keys of events in a line.
pub(super) fn names() -> Vec<&'static str> {
    PLACES.iter().map(|path| path[0]).collect()
}

/// Stores the messages of a line's events as attributes, unless it has such attributes.
pub(super) fn gather(line: &mut Value) {
    if find(line, INPUT).is_some() {
        return;
    }
    let Some(events) = PLACES.iter().find_map(|path| events_at(line, path)) else { return };
    let events = match events {
        Value::Array(events) => events,
        // The reader of messages reports that the text is incomplete.
        cut => return put(line, INPUT, cut),
    };
    let (mut input, mut output) = (Vec::new(), Vec::new());
    for event in events {
        match read_event(event) {
            Some(Said::Message(message)) => input.push(message),
            Some(Said::Choice(message)) => output.push(message),
            Some(Said::Prompt(messages)) => input.extend(messages),
            Some(Said::Completion(messages)) => output.extend(messages),
            None => {}
        }
    }
    if input.is_empty() {
        return;
    }
    put(line, INPUT, Value::Array(input));
    match output.len() {
        0 => {}
        1 => put(line, OUTPUT, Value::Array(output)),
        // The parts of one answer, which are read as one turn.
        _ => put(line, OUTPUT, Value::Array(vec![Value::Array(output)])),
    }
}

/// Returns the events at a path if some are about messages, or the incomplete text of such events.
fn events_at(line: &mut Value, path: Path) -> Option<Value> {
    let events = find(line, path)?;
    let events = match events {
        Value::String(text) if text.contains(PREFIX) => match written_list(text) {
            Some(list) => list,
            None if text.trim_start().starts_with('[') => return Some(events.clone()),
            None => return None,
        },
        Value::Array(_) => events.clone(),
        _ => return None,
    };
    let has_known = events.as_array()?.iter().filter_map(name_of).any(is_known);
    has_known.then_some(events)
}

/// Returns `true` for the name of an event of one message.
pub(super) fn is_known(name: &str) -> bool {
    [CHOICE, PROMPT.0, COMPLETION.0].contains(&name) || MESSAGES.iter().any(|(known, _)| *known == name)
}

/// Returns the name of an event: in the event, or in its attributes as an object or as OTLP's list.
fn name_of(event: &Value) -> Option<&str> {
    let names = ["event.name", "name", "eventName"].iter().filter_map(|key| event.get(*key)?.as_str());
    if let Some(name) = names.into_iter().find(|name| name.starts_with(PREFIX)) {
        return Some(name);
    }
    match event.get("attributes")? {
        Value::Array(pairs) => {
            let pair = pairs.iter().find(|pair| pair.get("key").is_some_and(|key| key == "event.name"))?;
            pair.pointer("/value/stringValue")?.as_str()
        }
        attributes => attributes.get("event.name")?.as_str(),
    }
}

/// A message of a request or of its answer, or all of them.
enum Said {
    Message(Value),
    Choice(Value),
    Prompt(Vec<Value>),
    Completion(Vec<Value>),
}

fn read_event(mut event: Value) -> Option<Said> {
    let name = name_of(&event)?.to_owned();
    if name == PROMPT.0 {
        return content_of(&mut event, PROMPT.1).map(Said::Prompt);
    }
    if name == COMPLETION.0 {
        return content_of(&mut event, COMPLETION.1).map(Said::Completion);
    }
    if let Some((_, role)) = MESSAGES.iter().find(|(known, _)| *known == name) {
        return Some(Said::Message(message(role, body_of(event)?)));
    }
    if name != CHOICE {
        return None;
    }
    let mut body = body_of(event)?;
    // The first of several alternatives is the answer, as in the responses of APIs.
    if body.get("index").and_then(Value::as_u64).is_some_and(|index| index > 0) {
        return None;
    }
    let beside = ["tool_calls", "finish_reason"].map(|key| (key, body.remove(key)));
    let mut fields = match body.remove("message").map(opened) {
        Some(Value::Object(fields)) => fields,
        Some(Value::String(text)) => Map::from_iter([("content".to_owned(), Value::String(text))]),
        _ => body,
    };
    for (key, value) in beside {
        if let Some(value) = value {
            fields.entry(key).or_insert(value);
        }
    }
    Some(Said::Choice(message("assistant", fields)))
}

/// Returns the messages in an attribute of an event.
fn content_of(event: &mut Value, key: &str) -> Option<Vec<Value>> {
    let mut attributes = nested(event.get_mut("attributes")?.take());
    match opened(find(&mut attributes, &["gen_ai", key])?.take()) {
        Value::Array(messages) => Some(messages),
        message @ Value::Object(_) => Some(vec![message]),
        _ => None,
    }
}

/// Returns the fields of an event's message: a body, the event's attributes, JSON in one of them, or the event itself.
fn body_of(mut event: Value) -> Option<Map<String, Value>> {
    let body = event.get_mut("body").map(|body| opened(plain(body.take()))).unwrap_or_default();
    let mut attributes = event.get_mut("attributes").map(|list| nested(list.take())).unwrap_or_default();
    let content = find(&mut attributes, &["gen_ai", "event", "content"]).map(Value::take).map(opened);
    [body, content.unwrap_or_default(), attributes, event].into_iter().find_map(|place| match place {
        Value::Object(fields) if SAYS.iter().any(|key| fields.contains_key(*key)) => Some(fields),
        _ => None,
    })
}

/// Returns a message with its role and with content in the form of a chat API.
fn message(role: &str, mut fields: Map<String, Value>) -> Value {
    if !fields.get("role").is_some_and(Value::is_string) {
        fields.insert("role".to_owned(), Value::String(role.to_owned()));
    }
    if role == "tool" {
        if let Some(id) = fields.remove("id") {
            fields.entry("tool_call_id").or_insert(id);
        }
        // What a function returned may be any JSON.
        if let Some(returned) = fields.get_mut("content").filter(|content| !content.is_string()) {
            *returned = Value::String(returned.to_string());
        }
    }
    for part in fields.get_mut("content").and_then(Value::as_array_mut).into_iter().flatten() {
        // pydantic-ai names the type of a part its kind.
        if let Some(kind) = part.get("kind").cloned().filter(|_| part.get("type").is_none()) {
            part["type"] = kind;
        }
    }
    Value::Object(fields)
}

/// Stores a value at a path, unless there is one.
fn put(line: &mut Value, path: Path, value: Value) {
    let mut place = line;
    for key in path {
        if place.is_null() {
            *place = Value::Object(Map::new());
        }
        let Some(fields) = place.as_object_mut() else { return };
        place = fields.entry(*key).or_insert(Value::Null);
    }
    if place.is_null() {
        *place = value;
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn gathered(mut line: Value) -> (Value, Value) {
        gather(&mut line);
        (line.pointer("/attributes/gen_ai/input/messages").cloned().unwrap_or_default(), {
            line.pointer("/attributes/gen_ai/output/messages").cloned().unwrap_or_default()
        })
    }

    #[test]
    fn events_of_every_form_become_messages() {
        let asked = json!({"content": "Water the ferns", "role": "user"});
        let answer = json!({"content": "Done.", "role": "assistant", "finish_reason": "stop"});
        let choice = json!({"index": 0, "finish_reason": "stop", "message": {"content": "Done.", "role": "assistant"}});
        let with = |name: &str, body: &Value| {
            let mut event = body.clone();
            event["event.name"] = json!(name);
            event
        };
        let flat = json!([with("gen_ai.user.message", &asked), with("gen_ai.choice", &choice)]);
        let typed = |key: &str, value: &str| json!({"key": key, "value": {"stringValue": value}});
        let spans = json!([
            {"name": "gen_ai.user.message", "attributes": [typed("gen_ai.event.content", &asked.to_string())]},
            {"name": "gen_ai.choice", "attributes": {"gen_ai.event.content": choice.to_string()}}]);
        let fields = json!([
            {"name": "gen_ai.user.message", "attributes": [typed("content", "Water the ferns"), typed("role", "user")]},
            {"name": "gen_ai.choice", "attributes": {"finish_reason": "stop", "message": choice["message"].to_string()}}]);
        let records = json!([
            {"attributes": {"event.name": "gen_ai.user.message"}, "body": {"content": "Water the ferns"}},
            {"attributes": {"event.name": "gen_ai.choice"}, "body": choice}]);
        let whole = json!([
            {"name": "gen_ai.content.prompt", "attributes": [typed("gen_ai.prompt", &json!([asked]).to_string())]},
            {"name": "gen_ai.content.completion", "attributes": {"gen_ai.completion": json!([answer]).to_string()}}]);
        for events in [flat.clone(), json!(flat.to_string()), spans, fields, records, whole] {
            for line in [json!({"attributes": {"events": events}}), json!({"events": events})] {
                let (input, output) = gathered(line);
                assert_eq!(input[0]["content"], asked["content"], "{events}");
                assert_eq!((&input[0]["role"], input.as_array().unwrap().len()), (&json!("user"), 1));
                for key in ["content", "role", "finish_reason"] {
                    assert_eq!(output[0][key], answer[key], "{events}");
                }
            }
        }
    }

    #[test]
    fn other_events_and_lines_with_messages_stay_as_they_are() {
        for events in [
            json!([{"name": "exception", "attributes": {"exception.message": "no"}}]),
            json!([{"event.name": "gen_ai.user.message"}]),
            json!("gen_ai.user.message"),
            json!([]),
            json!(7),
        ] {
            let line = json!({"name": "chat", "attributes": {"events": events}});
            let mut gathered = line.clone();
            gather(&mut gathered);
            assert_eq!(gathered, line);
        }
        let known = json!({"attributes": {"gen_ai": {"input": {"messages": []}},
            "events": [{"event.name": "gen_ai.user.message", "content": "Water the ferns"}]}});
        assert_eq!(gathered(known).0, json!([]));
    }

    #[test]
    fn only_the_first_of_several_alternatives_is_the_answer() {
        let choice = |index: u64, text: &str| json!({"event.name": "gen_ai.choice", "index": index, "message": {"content": text}});
        let asked = json!({"event.name": "gen_ai.user.message", "content": "Water the ferns"});
        let (_, output) = gathered(json!({"events": [asked, choice(0, "Done."), choice(1, "Later.")]}));
        assert_eq!(output.as_array().map(Vec::len), Some(1));
        let (_, output) = gathered(json!({"events": [asked, choice(0, "Done."), choice(0, "Really.")]}));
        assert_eq!(output[0].as_array().map(Vec::len), Some(2));
    }
}
