//! The last rung: a broken text is repaired only where two repairers agree.
//!
//! Either one alone turns some broken texts into something their writer never
//! meant, and does so in silence. They fail in different places, so a value both
//! arrive at is taken; where they differ the better one's comes with a fault. Texts that
//! are cut off never come here: both would close the brackets and hide the loss. Neither
//! is linear on every text, so long ones stay away too.

use serde_json::Value;

use super::strict;

/// The longest text that is repaired; both repairers take time that may grow with its square.
const MAX_BYTES: usize = 256 * 1024;

/// Why a text was not repaired for sure.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum NotRepaired {
    /// At least one repairer gave up.
    Beyond,
    /// The two arrived at different values; this is the better one's.
    Disagree(Value),
}

/// The list or object that both repairers make of the text.
///
/// # Errors
/// Where one gives up, the two differ, or the result is a mere scalar (a repairer that quotes prose).
pub(super) fn agreed(text: &str) -> Result<Value, NotRepaired> {
    if text.len() > MAX_BYTES {
        return Err(NotRepaired::Beyond);
    }
    match (first(text), second(text)) {
        (Some(first), Some(second)) if first != second => Err(NotRepaired::Disagree(first)),
        (Some(first), Some(_)) if n_nulls(&first) > n_null_words(text) => Err(NotRepaired::Disagree(first)),
        (Some(first), Some(_)) => Ok(first),
        _ => Err(NotRepaired::Beyond),
    }
}

/// Whether at least one repairer makes this value of the text.
pub(super) fn confirms(text: &str, value: &Value) -> bool {
    text.len() <= MAX_BYTES && (first(text).as_ref() == Some(value) || second(text).as_ref() == Some(value))
}

fn first(text: &str) -> Option<Value> {
    jsonrepair_rs::jsonrepair(text).ok().and_then(|json| structure(&json))
}

fn second(text: &str) -> Option<Value> {
    jsonfix::repair(text).ok().and_then(|json| structure(&json))
}

/// The value of a repaired text: a list or an object without a key that stands twice.
fn structure(json: &str) -> Option<Value> {
    let read = strict::read(json).ok()?;
    (read.repeated.is_empty() && (read.value.is_array() || read.value.is_object())).then_some(read.value)
}

/// How many nulls a value holds: repairers write one where a value is missing.
fn n_nulls(value: &Value) -> usize {
    match value {
        Value::Null => 1,
        Value::Array(items) => items.iter().map(n_nulls).sum(),
        Value::Object(map) => map.values().map(n_nulls).sum(),
        _ => 0,
    }
}

/// How many words of a text mean null.
fn n_null_words(text: &str) -> usize {
    ["null", "None", "NULL"].iter().map(|word| text.matches(word).count()).sum()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_missing_comma_is_put_in() {
        assert_eq!(
            agreed("{\"name\": \"f\"\n \"description\": \"d\"}"),
            Ok(json!({"name": "f", "description": "d"}))
        );
    }

    #[test]
    fn typographic_quotes_and_raw_newlines_are_read() {
        assert_eq!(agreed("{“name”: “f”}"), Ok(json!({"name": "f"})));
        assert_eq!(agreed("{\"d\": \"one\ntwo\"}"), Ok(json!({"d": "one\ntwo"})));
    }

    #[test]
    fn prose_is_not_a_repaired_string() {
        assert_eq!(agreed("just some words"), Err(NotRepaired::Beyond));
    }

    #[test]
    fn where_the_two_differ_nothing_is_sure() {
        let text = "{\"name\": \"f\", \"description\": `d`}";
        assert!(agreed(text).is_err());
    }

    #[test]
    fn one_repairer_can_confirm_a_value() {
        assert!(confirms("{\"a\": 1 \"b\": 2}", &json!({"a": 1, "b": 2})));
        assert!(!confirms("{\"a\": 1 \"b\": 2}", &json!({"a": 1})));
    }
}
