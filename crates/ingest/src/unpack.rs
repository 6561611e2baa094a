//! Splits lines that hold several requests: spans of a trace, runs of an export, observations, a list of lines. Unwraps
//! lines that a log shipper wrapped.
//!
//! Each part is an item with the number of its line and its own fate; the first part counts as the item of the file.
//! Only a line of no known log format is split.

use serde_json::Value;

use crate::path::{EACH, Path, at, gather, unwrap_json};
use crate::stream::is_chunk;

/// The paths of several requests in one line.
const PACKS: &[Path] = &[
    &["resourceSpans", EACH, "scopeSpans", EACH, "spans", EACH],
    &["resourceSpans", EACH, "instrumentationLibrarySpans", EACH, "spans", EACH],
    &["resource_spans", EACH, "scope_spans", EACH, "spans", EACH],
    &["resourceLogs", EACH, "scopeLogs", EACH, "logRecords", EACH],
    &["batches", EACH, "scopeSpans", EACH, "spans", EACH],
    &["spans", EACH],
    &["runs", EACH],
    &["observations", EACH],
    &["data", EACH],
];

/// The keys of a trace that apply to all its observations.
const HANDED_DOWN: &[&str] = &["sessionId", "userId"];

/// Returns the keys of lines with several requests, and of wrapped lines.
pub(super) fn names() -> Vec<&'static str> {
    let packs = PACKS.iter().map(|path| path[0]);
    let wrappers = WRAPPERS.iter().map(|wrapper| wrapper.key);
    let keys = [HANDED_DOWN, TIMES, KEYS_OF_PARTS].into_iter().flatten().copied();
    packs.chain(wrappers).chain(keys).collect()
}

/// Returns the parts of a line, in order; `None` if it holds no list of objects.
pub(super) fn unpack(line: &mut Value) -> Option<Vec<Value>> {
    if let Value::Array(list) = line {
        let is_pack = !list.is_empty() && list.iter().all(is_part);
        return is_pack.then(|| std::mem::take(list));
    }
    if !line.is_object() || is_chunk(line) {
        return None;
    }
    let mut handed_down = HANDED_DOWN;
    let mut parts = Vec::new();
    for path in PACKS {
        let found = gather(line, path);
        if found.iter().all(|part| part.is_object()) {
            parts.extend(found.into_iter().map(Value::take));
        }
    }
    if parts.is_empty() {
        parts.extend(WRAPPERS.iter().find_map(|wrapper| wrapper.take(line)));
        handed_down = TIMES;
    }
    let said_once: Vec<(&str, Value)> =
        handed_down.iter().filter_map(|key| Some((*key, at(line, &[key])?.clone()))).collect();
    hand_down(&said_once, &mut parts);
    (!parts.is_empty()).then_some(parts)
}

fn hand_down(said_once: &[(&str, Value)], parts: &mut [Value]) {
    for fields in parts.iter_mut().filter_map(Value::as_object_mut) {
        for (key, value) in said_once {
            let field = fields.entry(*key).or_insert(Value::Null);
            if field.is_null() {
                field.clone_from(value);
            }
        }
    }
}

/// The keys of the time at which a log shipper received a line.
const TIMES: &[&str] = &["timestamp", "time", "ts"];

/// A field in which a log shipper stores the whole line that it received.
struct Wrapper {
    key: &'static str,
    /// The field may hold an object; otherwise only an object as a string.
    is_object: bool,
}

const WRAPPERS: &[Wrapper] = &[
    Wrapper { key: "payload", is_object: true },
    Wrapper { key: "jsonPayload", is_object: true },
    Wrapper { key: "data", is_object: true },
    Wrapper { key: "event", is_object: true },
    Wrapper { key: "message", is_object: false },
    Wrapper { key: "log", is_object: false },
    Wrapper { key: "textPayload", is_object: false },
];

impl Wrapper {
    fn take(&self, line: &mut Value) -> Option<Value> {
        let field = line.get_mut(self.key)?;
        match field {
            Value::String(text) => unwrap_json(text).filter(is_part),
            object if self.is_object && is_part(object) => Some(object.take()),
            _ => None,
        }
    }
}

/// Objects with one of these keys are messages or functions, never lines.
const KEYS_OF_PARTS: &[&str] = &["role", "from", "parameters", "input_schema", "inputSchema"];

/// Returns `true` if a value may be a line of its own.
fn is_part(value: &Value) -> bool {
    let is_function = value.get("type").and_then(Value::as_str) == Some("function");
    value.is_object() && !is_function && KEYS_OF_PARTS.iter().all(|key| value.get(key).is_none())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn spans_of_all_scopes_come_in_order() {
        let mut line = json!({"resourceSpans": [
            {"scopeSpans": [{"spans": [{"n": 1}, {"n": 2}]}, {"spans": []}]},
            {"scopeSpans": [{"spans": [{"n": 3}]}]}]});
        assert_eq!(unpack(&mut line), Some(vec![json!({"n": 1}), json!({"n": 2}), json!({"n": 3})]));
    }

    #[test]
    fn observations_without_a_session_inherit_that_of_the_trace() {
        let mut line = json!({"sessionId": "s", "observations": [{"sessionId": null}, {"sessionId": "t"}]});
        let parts = unpack(&mut line).unwrap();
        assert_eq!((parts[0]["sessionId"].as_str(), parts[1]["sessionId"].as_str()), (Some("s"), Some("t")));
    }

    #[test]
    fn wrapped_lines_and_lists_of_lines_are_unpacked() {
        let inner = json!({"query": "When is high tide?"});
        for mut line in [
            json!({"stream": "stdout", "log": format!("{inner}\n")}),
            json!({"data": inner.to_string()}),
            json!([inner]),
        ] {
            assert_eq!(unpack(&mut line), Some(vec![inner.clone()]));
        }
        let mut line = json!({"ts": 1, "payload": inner});
        assert_eq!(unpack(&mut line), Some(vec![json!({"query": "When is high tide?", "ts": 1})]));
        for mut line in
            [json!({"message": inner}), json!({"message": "tide"}), json!({"data": {"role": "user"}})]
        {
            assert_eq!(unpack(&mut line), None);
        }
    }

    #[test]
    fn a_line_without_a_list_of_objects_is_not_split() {
        for mut line in [json!({"data": [1, 2]}), json!({"runs": []}), json!([]), json!([{"role": "user"}])] {
            let sent = line.clone();
            assert_eq!((unpack(&mut line), line), (None, sent));
        }
    }
}
