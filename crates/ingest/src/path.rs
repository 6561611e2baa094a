//! Finds values in JSON by path, also through JSON in strings.
//!
//! Many logs store a body as a string, and gateways sometimes do it twice. Such a string is replaced by its value, so
//! it is parsed once, but only if the value matches the path: any other text stays as it was sent.

use serde_json::Value;

use crate::lookup::Lookup as _;
use callsieve_notation::python;

/// Nested keys, outermost first; in a list a key is an index.
pub(super) type Path = &'static [&'static str];

/// The maximum nesting of JSON in strings that is unwrapped.
const MAX_UNWRAPS: usize = 3;

/// Returns the value at a path, through JSON in strings; null counts as missing.
pub(super) fn find<'v>(value: &'v mut Value, path: &[&str]) -> Option<&'v mut Value> {
    let mut at = value;
    for key in path {
        open_if(at, |inner| child_of(inner, key).is_some());
        at = child(at, key)?;
    }
    (!at.is_null()).then_some(at)
}

/// Returns the value at a path, only through objects and lists; null counts as missing.
pub(super) fn at<'v>(value: &'v Value, path: &[&str]) -> Option<&'v Value> {
    path.iter().try_fold(value, |at, key| child_of(at, key)).filter(|found| !found.is_null())
}

/// In a path for [`gather`]: each element of a list.
pub(super) const EACH: &str = "*";

/// Returns all values that a path leads to, through JSON in strings; null counts as missing.
pub(super) fn gather<'v>(value: &'v mut Value, path: &[&str]) -> Vec<&'v mut Value> {
    let mut found = Vec::new();
    gather_into(value, path, &mut found);
    found
}

fn gather_into<'v>(value: &'v mut Value, path: &[&str], found: &mut Vec<&'v mut Value>) {
    let Some((key, rest)) = path.split_first() else {
        if !value.is_null() {
            found.push(value);
        }
        return;
    };
    open_if(value, |inner| leads_somewhere(inner, path));
    if *key == EACH {
        let elements = value.as_array_mut().into_iter().flatten();
        elements.for_each(|element| gather_into(element, rest, found));
    } else if let Some(inner) = child(value, key) {
        gather_into(inner, rest, found);
    }
}

/// Returns `true` if a path leads to a value, without parsing strings.
fn leads_somewhere(value: &Value, path: &[&str]) -> bool {
    match path.split_first() {
        None => !value.is_null(),
        Some(_) if value.is_string() => true,
        Some((&EACH, rest)) => {
            value.as_array().is_some_and(|list| list.iter().any(|element| leads_somewhere(element, rest)))
        }
        Some((key, rest)) => child_of(value, key).is_some_and(|inner| leads_somewhere(inner, rest)),
    }
}

/// Replaces a string by the JSON that it holds, if that is wanted.
fn open_if(value: &mut Value, is_wanted: impl Fn(&Value) -> bool) {
    if let Some(inner) = unwrapped(value).filter(is_wanted) {
        *value = inner;
    }
}

/// Replaces a string at a path by the JSON object or list that it holds.
pub(super) fn open(value: &mut Value, path: &[&str]) {
    if let Some(found) = find(value, path) {
        open_if(found, |_| true);
    }
}

/// Returns the JSON object or list that a string holds, or the value itself.
pub(super) fn opened(mut value: Value) -> Value {
    open_if(&mut value, |_| true);
    value
}

/// Returns the object at a path.
pub(super) fn find_object<'v>(value: &'v mut Value, path: &[&str]) -> Option<&'v mut Value> {
    let at = find(value, path)?;
    open_if(at, Value::is_object);
    at.is_object().then_some(at)
}

/// Replaces a string by the list that it holds, in JSON or Python syntax. Returns `true` if the value is a list now.
pub(super) fn become_list(value: &mut Value) -> bool {
    if let Value::String(text) = value
        && let Some(list) = written_list(text)
    {
        *value = list;
    }
    value.is_array()
}

/// Returns the list that a text holds, in JSON or Python syntax.
pub(super) fn written_list(text: &str) -> Option<Value> {
    let text = text.trim();
    if text.starts_with('"') {
        return unwrap_json(text).filter(Value::is_array);
    }
    if !(text.starts_with('[') && text.ends_with(']')) {
        return None;
    }
    serde_json::from_str(text).ok().or_else(|| python::literal(text).ok()).filter(Value::is_array)
}

/// Returns the JSON object or list that a text holds, also if it is wrapped in strings.
pub(super) fn unwrap_json(text: &str) -> Option<Value> {
    let mut value = parse_if_json(text)?;
    for _ in 1..MAX_UNWRAPS {
        match value {
            Value::String(inner) => value = parse_if_json(&inner)?,
            _ => break,
        }
    }
    (value.is_object() || value.is_array()).then_some(value)
}

fn parse_if_json(text: &str) -> Option<Value> {
    let text = text.trim();
    if text.starts_with(['{', '[', '"']) { serde_json::from_str(text).ok() } else { None }
}

fn unwrapped(value: &Value) -> Option<Value> {
    value.as_str().and_then(unwrap_json)
}

fn child<'v>(value: &'v mut Value, key: &str) -> Option<&'v mut Value> {
    match value {
        Value::Object(map) => map.field_mut(key),
        Value::Array(list) => list.get_mut(key.parse::<usize>().ok()?),
        _ => None,
    }
}

fn child_of<'v>(value: &'v Value, key: &str) -> Option<&'v Value> {
    match value {
        Value::Object(map) => map.field(key),
        Value::Array(list) => list.get(key.parse::<usize>().ok()?),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Returns a value wrapped in JSON strings `times` times.
    fn wrapped(value: &Value, times: usize) -> Value {
        (0..times).fold(value.clone(), |inner, _| Value::String(inner.to_string()))
    }

    #[test]
    fn three_layers_of_json_in_strings_are_walked_through_and_four_are_not() {
        for (times, found) in [(0, true), (1, true), (3, true), (4, false)] {
            let mut value = json!({"request": wrapped(&json!({"messages": [7]}), times)});
            assert_eq!(find(&mut value, &["request", "messages", "0"]).is_some(), found, "{times} layers");
        }
    }

    #[test]
    fn text_that_does_not_hold_the_key_stays_as_it_was_sent() {
        let sent = json!({"request": "{ \"other\" : 1 }", "note": "[1, "});
        let mut value = sent.clone();
        assert_eq!(find(&mut value, &["request", "messages"]), None);
        assert_eq!(find(&mut value, &["note", "0"]), None);
        assert_eq!(value, sent);
    }

    #[test]
    fn a_path_with_each_finds_all_and_leaves_text_that_is_something_else() {
        let mut value = json!({"spans": [{"tool": 1}, {"tool": null}, {"tool": [2]}, {}]});
        assert_eq!(gather(&mut value, &["spans", EACH, "tool"]), [&json!(1), &json!([2])]);
        let mut stored = json!({"spans": "[{\"tool\": 1}]"});
        assert_eq!(gather(&mut stored, &["spans", EACH, "tool"]), [&json!(1)]);
        let sent = json!({"spans": "[1, 2]"});
        let mut value = sent.clone();
        assert_eq!(gather(&mut value, &["spans", EACH, "tool"]).len(), 0);
        assert_eq!(value, sent);
    }

    #[test]
    fn null_counts_as_missing() {
        assert_eq!(find(&mut json!({"a": null}), &["a"]), None);
    }
}
