//! The result of a tool as JSON.

use serde_json::{Value, json};

use crate::call::{Failure, Observation, Origin};

/// Returns the observation in a result of `tools/call`. Structured content comes first; then a text that is JSON, as its
/// value; then the text. Several pieces of content are a list.
pub(super) fn observation(mut result: Value, max_depth: usize) -> Observation {
    let is_error = result.get("isError").and_then(Value::as_bool).unwrap_or(false);
    let structured =
        result.get_mut("structuredContent").map(Value::take).filter(|content| !content.is_null());
    let value = match structured {
        Some(structured) => structured,
        None => match result.get_mut("content").map(Value::take) {
            Some(Value::Array(pieces)) => content(pieces),
            _ => Value::Null,
        },
    };
    if depth(&value) > max_depth {
        let text = format!("the value nests deeper than {max_depth} levels");
        return Observation::failure(Failure::TooDeep, text, Origin::Real);
    }
    let failure = is_error.then_some(Failure::ErrorResult);
    Observation { result: value, failure, origin: Origin::Real }
}

fn content(pieces: Vec<Value>) -> Value {
    let mut values: Vec<Value> = pieces.into_iter().map(piece).collect();
    match values.len() {
        0 => Value::Null,
        1 => values.remove(0),
        _ => Value::Array(values),
    }
}

/// Returns a piece of content: the value of a text, and other kinds as they are.
fn piece(piece: Value) -> Value {
    match piece.get("text").and_then(Value::as_str) {
        Some(text) if piece.get("type").is_some_and(|kind| kind == "text") => {
            // Only lists and objects: `007` is a text, and so is `true`.
            let is_nested = text.trim_start().starts_with(['{', '[']);
            match serde_json::from_str(text) {
                Ok(value) if is_nested => value,
                _ => json!(text),
            }
        }
        _ => piece,
    }
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(result: Value) -> (Value, Option<Failure>) {
        let seen = observation(result, 3);
        (seen.result, seen.failure)
    }

    #[test]
    fn structured_content_comes_first_then_json_then_text() {
        let text = |text: &str| json!({"type": "text", "text": text});
        assert_eq!(
            of(json!({"structuredContent": {"a": 1}, "content": [text("x")]})),
            (json!({"a": 1}), None)
        );
        assert_eq!(of(json!({"content": [text(" {\"a\": 1.50}")]})).0.to_string(), "{\"a\":1.50}");
        assert_eq!(of(json!({"content": [text("007")]})), (json!("007"), None));
        assert_eq!(of(json!({"content": [text("[1"), text("[1]")]})), (json!(["[1", [1]]), None));
        assert_eq!(of(json!({"content": []})), (Value::Null, None));
        let image = json!({"type": "image", "data": "AA=="});
        assert_eq!(of(json!({"content": [image]})), (image, None));
        assert_eq!(
            of(json!({"isError": true, "content": [text("gone")]})),
            (json!("gone"), Some(Failure::ErrorResult))
        );
        assert_eq!(of(json!({"structuredContent": [[[[1]]]]})).1, Some(Failure::TooDeep));
    }
}
