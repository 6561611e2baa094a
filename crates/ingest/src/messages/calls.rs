//! Reads the calls of a message: name and arguments, in the format of any API.

use serde_json::{Map, Value};

use crate::lookup::Lookup as _;
use crate::path::become_list;
use crate::reasons::{BAD_MESSAGE, ItemFault};
use callsieve_bfcl::conversation::Call;
use callsieve_notation::levels::{MAX_KEPT, is_within};

/// Takes the calls outside a message's content: in lists, and the single call of older APIs.
pub(super) fn take_calls(fields: &mut Map<String, Value>, calls: &mut Vec<Call>) -> Result<(), ItemFault> {
    for key in CALL_LISTS {
        let mut list = fields.field_mut(key).map(Value::take).unwrap_or_default();
        if become_list(&mut list)
            && let Value::Array(list) = list
        {
            for call in list {
                push_call(read_call(call)?, calls);
            }
        }
    }
    if let Some(call @ Value::Object(_)) = fields.field_mut("function_call").map(Value::take) {
        calls.push(read_call(call)?);
    }
    // The API's original answer, which LangChain keeps; it may repeat the same calls.
    match fields.field_mut("additional_kwargs").map(Value::take) {
        Some(Value::Object(mut more)) if calls.is_empty() => take_calls(&mut more, calls),
        _ => Ok(()),
    }
}

/// The keys of lists of calls in a message. `LangChain` keeps calls with invalid arguments separately.
const CALL_LISTS: &[&str] = &["tool_calls", "toolCalls", "invalid_tool_calls"];

/// Adds a call, unless it is a duplicate: `LangChain` stores a call both inside and outside the content. Calls without
/// an id, or with any difference, are separate calls, whatever ids a log gives them.
pub(super) fn push_call(call: Call, calls: &mut Vec<Call>) {
    let is_told_twice = call.id.as_deref().is_some_and(|id| !id.is_empty()) && calls.contains(&call);
    if !is_told_twice {
        calls.push(call);
    }
}

/// The keys of objects, possibly nested, that may hold a call's name and arguments; in most APIs the call itself does.
const CALL_FRAMES: &[&str] = &["tool_call", "function", "custom", "functionCall", "function_call", "toolUse"];

/// The keys of a call's id.
const IDS: &[&str] = &["call_id", "id", "toolUseId", "toolCallId"];

/// The keys of its name.
const NAMES: &[&str] = &["name", "toolName"];

/// The keys of its arguments; the last two are those of training sets and agent libraries.
const ARGUMENTS: &[&str] = &["arguments", "input", "args", "parameters", "kwargs"];

/// Reads a call of any API.
pub(crate) fn read_call(mut call: Value) -> Result<Call, ItemFault> {
    let mut id = None;
    let take = |call: &mut Value, keys: &[&str]| {
        let mut found = keys.iter().filter_map(|key| call.field_mut(key).map(Value::take));
        found.find(|value| !value.is_null())
    };
    loop {
        id = id.or_else(|| take(&mut call, IDS).and_then(string));
        let frame = CALL_FRAMES.iter().find(|frame| call.field(frame).is_some_and(Value::is_object));
        let Some(frame) = frame else { break };
        call = call.field_mut(frame).map(Value::take).unwrap_or_default();
    }
    let Some(Value::String(name)) = take(&mut call, NAMES) else {
        return Err(ItemFault::new(BAD_MESSAGE, "a call without a name"));
    };
    let arguments = take(&mut call, ARGUMENTS).unwrap_or_else(|| Map::new().into());
    Ok(Call { id, name, arguments: read_arguments(arguments) })
}

fn read_arguments(arguments: Value) -> Value {
    match arguments {
        Value::String(text) => match serde_json::from_str(&text) {
            Ok(object @ Value::Object(_)) if is_within(&object, MAX_KEPT) => object,
            _ => Value::String(text),
        },
        other => as_kept(other),
    }
}

/// Returns arguments as they are stored: as text if they are nested too deep to be parsed again.
pub(crate) fn as_kept(arguments: Value) -> Value {
    if is_within(&arguments, MAX_KEPT) { arguments } else { Value::String(arguments.to_string()) }
}

/// Returns the text of a string.
pub(super) fn string(value: Value) -> Option<String> {
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
    fn arguments_are_read_under_every_key_and_the_first_one_counts() {
        for key in ARGUMENTS {
            let call = read_call(json!({"name": "ring", *key: {"times": 2}})).unwrap();
            assert_eq!(call.arguments, json!({"times": 2}), "{key}");
        }
        let both = json!({"name": "ring", "parameters": {"times": 3}, "arguments": "{\"times\": 2}"});
        assert_eq!(read_call(both).unwrap().arguments, json!({"times": 2}));
        assert_eq!(read_call(json!({"name": "ring"})).unwrap().arguments, json!({}));
    }
}
