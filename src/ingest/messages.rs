//! Messages of any API become [`Message`]s.
//!
//! One reader serves all chat APIs, because logs mix them: gateways put content
//! blocks of one into messages of another. Reasoning blocks are left
//! out, since they are not said to anyone; other parts that are not text are a fault,
//! because a request without its image is another request.

use serde_json::{Map, Value};

use crate::conversation::{Call, Message, Role};
use crate::ingest::path::{become_list, written_list};
use crate::ingest::reasons::{BAD_MESSAGE, Fault, NON_TEXT_PART};

/// Reads a list of messages; lists inside the list are read as if they were not there.
pub(super) fn read_messages(list: Value) -> Result<Vec<Message>, Fault> {
    let mut messages = Vec::new();
    push_messages(list, &mut messages)?;
    Ok(messages)
}

/// Reads a query: a list of messages, or a text that is one, or else one user message with the text untouched.
pub(super) fn read_query(query: Value) -> Result<Vec<Message>, Fault> {
    match query {
        Value::String(text) => match written_list(&text).filter(is_message_list) {
            Some(list) => read_messages(list),
            None => Ok(vec![Message::text(Role::User, text)]),
        },
        Value::Number(number) => Ok(vec![Message::text(Role::User, number.to_string())]),
        other => read_messages(other),
    }
}

/// Reads an assistant's message whose role is taken for granted: its fields, or just its text.
pub(super) fn read_answer(answer: Value) -> Result<Message, Fault> {
    match answer {
        Value::Object(fields) => read_fields(Role::Assistant, fields).map(|(message, _)| message),
        other => Ok(Message::text(Role::Assistant, read_content(other)?.text())),
    }
}

/// Reads instructions that stand beside the messages: a text, a list of text parts, or an object that holds one.
pub(super) fn read_system(mut system: Value) -> Result<Message, Fault> {
    let parts = system.get_mut("parts").map(Value::take);
    Ok(Message::text(Role::System, read_content(parts.unwrap_or(system))?.text()))
}

/// Reads Gemini's contents: messages whose role may be left out, which then is the user's.
pub(super) fn read_contents(mut contents: Value) -> Result<Vec<Message>, Fault> {
    if let Value::Array(list) = &mut contents {
        for content in list.iter_mut().filter_map(Value::as_object_mut) {
            content.entry("role").or_insert_with(|| "user".into());
        }
    }
    read_messages(contents)
}

const ROLES: &[(&str, Role)] = &[
    ("system", Role::System),
    ("developer", Role::System),
    ("user", Role::User),
    ("human", Role::User),
    ("assistant", Role::Assistant),
    ("model", Role::Assistant),
    ("tool", Role::Tool),
    ("function", Role::Tool),
];

fn role_of(message: &Value) -> Option<Role> {
    let name = message.get("role")?.as_str()?;
    ROLES.iter().find(|(known, _)| *known == name).map(|(_, role)| *role)
}

/// Whether a list that was found in a text is meant as messages: people ask about lists, too.
fn is_message_list(list: &Value) -> bool {
    list.as_array().is_some_and(|list| {
        !list.is_empty()
            && list
                .iter()
                .all(|element| role_of(element).is_some() || element.is_array() && is_message_list(element))
    })
}

fn push_messages(value: Value, messages: &mut Vec<Message>) -> Result<(), Fault> {
    let number = messages.len() + 1;
    match value {
        Value::Array(list) => list.into_iter().try_for_each(|element| push_messages(element, messages)),
        Value::Object(_) => {
            let role = role_of(&value).ok_or_else(|| bad_message(number, &value))?;
            let Value::Object(object) = value else { return Ok(()) };
            let (message, results) = read_fields(role, object)?;
            // A turn that only hands back results says nothing itself.
            let says_nothing = message.content.is_empty() && message.calls.is_empty() && !results.is_empty();
            messages.extend(results);
            if !says_nothing {
                messages.push(message);
            }
            Ok(())
        }
        other => Err(bad_message(number, &other)),
    }
}

fn bad_message(number: usize, value: &Value) -> Fault {
    let detail = match value.get("role") {
        Some(role) => format!("message {number} has the role {role}"),
        None if value.is_object() => format!("message {number} has no role"),
        None => format!("message {number} is no object"),
    };
    Fault::new(BAD_MESSAGE, detail)
}

/// Reads the fields of a message; results of calls that stand in its content are messages of their own.
fn read_fields(role: Role, mut fields: Map<String, Value>) -> Result<(Message, Vec<Message>), Fault> {
    let mut take = |key: &str| fields.get_mut(key).map(Value::take).unwrap_or_default();
    let content = match take("content") {
        Value::Null => take("parts"),
        content => content,
    };
    let mut content = read_content(content)?;
    let mut calls = std::mem::take(&mut content.calls);
    let mut tool_calls = take("tool_calls");
    if become_list(&mut tool_calls)
        && let Value::Array(list) = tool_calls
    {
        for call in list {
            calls.push(read_call(call)?);
        }
    }
    let function_call = take("function_call");
    if function_call.is_object() {
        calls.push(read_call(function_call)?);
    }
    if let Value::String(refusal) = take("refusal") {
        content.texts.push(refusal);
    }
    let call_id = match take("tool_call_id") {
        Value::String(id) => Some(id),
        _ => None,
    };
    let results = std::mem::take(&mut content.results);
    Ok((Message { role, content: content.text(), calls, call_id, is_error: false }, results))
}

/// What a message's content holds, sorted.
#[derive(Default)]
struct Content {
    texts: Vec<String>,
    calls: Vec<Call>,
    results: Vec<Message>,
}

impl Content {
    fn text(mut self) -> String {
        if self.texts.len() == 1 { self.texts.swap_remove(0) } else { self.texts.join("\n") }
    }
}

/// What a part of a list of parts is, by its type.
#[derive(Clone, Copy)]
enum Part {
    /// Text, in this field.
    Text(&'static str),
    Call,
    Result,
    Reasoning,
}

const PARTS: &[(&str, Part)] = &[
    ("text", Part::Text("text")),
    ("input_text", Part::Text("text")),
    ("output_text", Part::Text("text")),
    ("refusal", Part::Text("refusal")),
    ("tool_use", Part::Call),
    ("tool_result", Part::Result),
    ("thinking", Part::Reasoning),
    ("redacted_thinking", Part::Reasoning),
    ("reasoning", Part::Reasoning),
];

/// What a part is that says so by a key and not by a type, as Gemini's do.
const KEYED_PARTS: &[(&str, Part)] = &[
    ("functionCall", Part::Call),
    ("function_call", Part::Call),
    ("functionResponse", Part::Result),
    ("function_response", Part::Result),
    ("thought", Part::Reasoning),
];

fn read_content(content: Value) -> Result<Content, Fault> {
    let mut found = Content::default();
    match content {
        Value::Null => {}
        Value::String(text) => found.texts.push(text),
        Value::Array(parts) => parts.into_iter().try_for_each(|part| read_part(part, &mut found))?,
        // Some logs store a tool's result as the JSON it was.
        other => found.texts.push(other.to_string()),
    }
    Ok(found)
}

fn read_part(mut part: Value, found: &mut Content) -> Result<(), Fault> {
    if part.is_string() {
        found.texts.extend(string(part));
        return Ok(());
    }
    match part_kind(&part)? {
        Part::Text(field) => match part.get_mut(field).map(Value::take) {
            Some(Value::String(text)) => found.texts.push(text),
            _ => return Err(Fault::new(NON_TEXT_PART, "a text part without text")),
        },
        Part::Call => found.calls.push(read_call(part)?),
        Part::Result => found.results.push(read_result(part)?),
        Part::Reasoning => {}
    }
    Ok(())
}

fn part_kind(part: &Value) -> Result<Part, Fault> {
    let Some(name) = part.get("type").and_then(Value::as_str) else {
        let is_there =
            |key: &str| part.get(key).is_some_and(|value| !matches!(value, Value::Null | Value::Bool(false)));
        let keyed = KEYED_PARTS.iter().find(|(key, _)| is_there(key)).map(|(_, kind)| *kind);
        return match (keyed, part.get("text"), part.as_object().and_then(|fields| fields.keys().next())) {
            (Some(kind), _, _) => Ok(kind),
            (None, None, Some(key)) => {
                Err(Fault::new(NON_TEXT_PART, format!("a part with {key:?} and no text")))
            }
            _ => Ok(Part::Text("text")),
        };
    };
    let known = PARTS.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind);
    known.ok_or_else(|| Fault::new(NON_TEXT_PART, format!("a part of type {name:?}")))
}

/// Objects that may hold a result; in Anthropic's API the part itself does.
const RESULT_FRAMES: &[&str] = &["functionResponse", "function_response"];

fn read_result(mut part: Value) -> Result<Message, Fault> {
    let frame = RESULT_FRAMES.iter().find(|frame| part.get(**frame).is_some_and(Value::is_object));
    if let Some(frame) = frame {
        part = part.get_mut(*frame).map(Value::take).unwrap_or_default();
    }
    let mut take = |key: &str| part.get_mut(key).map(Value::take).filter(|value| !value.is_null());
    let content = read_content(take("content").or_else(|| take("response")).unwrap_or_default())?.text();
    let is_error = take("is_error") == Some(Value::Bool(true));
    let call_id = take("tool_use_id").or_else(|| take("id")).and_then(string);
    Ok(Message { call_id, is_error, ..Message::text(Role::Tool, content) })
}

/// Objects that may hold a call's name and arguments; in most APIs the call itself does.
const CALL_FRAMES: &[&str] = &["function", "custom", "functionCall", "function_call"];

fn read_call(mut call: Value) -> Result<Call, Fault> {
    let mut id = string(call.get_mut("id").map(Value::take).unwrap_or_default());
    let frame = CALL_FRAMES.iter().find(|frame| call.get(**frame).is_some_and(Value::is_object));
    let mut inner = match frame {
        Some(frame) => call.get_mut(*frame).map(Value::take).unwrap_or_default(),
        None => call,
    };
    let mut take = |key: &str| inner.get_mut(key).map(Value::take).filter(|value| !value.is_null());
    let Some(Value::String(name)) = take("name") else {
        return Err(Fault::new(BAD_MESSAGE, "a call without a name"));
    };
    id = id.or_else(|| take("id").and_then(string));
    let arguments = ["arguments", "input", "args"].into_iter().find_map(&mut take);
    let arguments = arguments.unwrap_or_else(|| Map::new().into());
    Ok(Call { id, name, arguments: read_arguments(arguments) })
}

fn read_arguments(arguments: Value) -> Value {
    match arguments {
        Value::String(text) => match serde_json::from_str(&text) {
            Ok(object @ Value::Object(_)) => object,
            _ => Value::String(text),
        },
        other => other,
    }
}

fn string(value: Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn openai_messages_are_read_with_their_calls_and_results() {
        let messages = read_messages(json!([
            {"role": "developer", "content": "Be brief."},
            {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
            {"role": "assistant", "content": null, "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{\"x\": 1.50}"}},
                {"id": "c2", "type": "function", "function": {"name": "g", "arguments": "{\"x\": "}}]},
            {"role": "tool", "tool_call_id": "c1", "content": "done"},
            {"role": "assistant", "content": "", "function_call": {"name": "h", "arguments": "{}"}},
        ]));
        let call = |id: Option<&str>, name: &str, arguments| Call {
            id: id.map(str::to_owned),
            name: name.to_owned(),
            arguments,
        };
        let arguments = serde_json::from_str("{\"x\": 1.50}").unwrap();
        let expected = vec![
            Message::text(Role::System, "Be brief."),
            Message::text(Role::User, "a\nb"),
            Message {
                calls: vec![call(Some("c1"), "f", arguments), call(Some("c2"), "g", json!("{\"x\": "))],
                ..Message::text(Role::Assistant, "")
            },
            Message { call_id: Some("c1".to_owned()), ..Message::text(Role::Tool, "done") },
            Message { calls: vec![call(None, "h", json!({}))], ..Message::text(Role::Assistant, "") },
        ];
        assert_eq!(messages, Ok(expected));
    }

    #[test]
    fn anthropic_results_come_before_the_text_of_their_turn() {
        let messages = read_messages(json!([
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "hm"},
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "t1", "name": "f", "input": {"x": 1}}]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "t1", "is_error": true, "content": [{"type": "text", "text": "no"}]},
                {"type": "text", "text": "Again."}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t2", "content": "yes"}]},
        ]));
        let call = Call { id: Some("t1".to_owned()), name: "f".to_owned(), arguments: json!({"x": 1}) };
        let result = |id: &str, is_error, text: &str| Message {
            call_id: Some(id.to_owned()),
            is_error,
            ..Message::text(Role::Tool, text)
        };
        let expected = vec![
            Message { calls: vec![call], ..Message::text(Role::Assistant, "I look.") },
            result("t1", true, "no"),
            Message::text(Role::User, "Again."),
            result("t2", false, "yes"),
        ];
        assert_eq!(messages, Ok(expected));
    }

    #[test]
    fn gemini_contents_are_read_with_their_calls_and_results() {
        let messages = read_contents(json!([
            {"parts": [{"text": "How high is the tide?"}]},
            {"role": "model", "parts": [
                {"thought": true, "text": "hm"},
                {"functionCall": {"id": "g1", "name": "tide", "args": {"at": "noon"}}, "thoughtSignature": "c2ln"}]},
            {"role": "user", "parts": [{"functionResponse": {"id": "g1", "name": "tide", "response": {"metres": 2}}}]},
            {"role": "model", "parts": [{"text": "Two metres."}]},
        ]));
        let call =
            Call { id: Some("g1".to_owned()), name: "tide".to_owned(), arguments: json!({"at": "noon"}) };
        let expected = vec![
            Message::text(Role::User, "How high is the tide?"),
            Message { calls: vec![call], ..Message::text(Role::Assistant, "") },
            Message { call_id: Some("g1".to_owned()), ..Message::text(Role::Tool, "{\"metres\":2}") },
            Message::text(Role::Assistant, "Two metres."),
        ];
        assert_eq!(messages, Ok(expected));
        let image = json!([{"role": "user", "parts": [{"inlineData": {"mimeType": "image/png"}}]}]);
        assert_eq!(read_contents(image).unwrap_err().detail, "a part with \"inlineData\" and no text");
    }

    #[test]
    fn a_query_that_is_a_list_of_messages_becomes_messages() {
        let both = vec![Message::text(Role::System, "s"), Message::text(Role::User, "it's")];
        let json =
            "[{\"role\": \"system\", \"content\": \"s\"}, {\"role\": \"user\", \"content\": \"it's\"}]";
        let python = " [{'role': 'system', 'content': 's'}, {'role': 'user', 'content': \"it's\"}]\n";
        for query in [json!(json), json!(python), serde_json::from_str(json).unwrap()] {
            assert_eq!(read_query(query), Ok(both.clone()));
        }
        let nested = json!([[{"role": "system", "content": "s"}, {"role": "user", "content": "it's"}]]);
        assert_eq!(read_query(nested), Ok(both));
    }

    #[test]
    fn any_other_query_is_one_user_message_untouched() {
        for text in
            ["", " hi\n", "[1, 2, 3]", "[]", "[{'role': 'hero'}]", "[{'role': 'user'", "{\"role\": \"user\"}"]
        {
            assert_eq!(read_query(json!(text)), Ok(vec![Message::text(Role::User, text)]));
        }
        assert_eq!(read_query(json!(42)), Ok(vec![Message::text(Role::User, "42")]));
    }

    #[test]
    fn messages_that_cannot_be_read_say_which() {
        let fault = |messages| read_messages(messages).unwrap_err().detail;
        let user = json!({"role": "user", "content": "hi"});
        assert_eq!(fault(json!([user, {"role": "hero"}])), "message 2 has the role \"hero\"");
        assert_eq!(fault(json!([user, {"content": "x"}])), "message 2 has no role");
        assert_eq!(fault(json!(["hi"])), "message 1 is no object");
        assert_eq!(
            fault(json!([{"role": "assistant", "tool_calls": [{"id": "c"}]}])),
            "a call without a name"
        );
        assert_eq!(
            fault(json!([{"role": "user", "content": [{"type": "input_audio"}]}])),
            "a part of type \"input_audio\""
        );
    }
}
