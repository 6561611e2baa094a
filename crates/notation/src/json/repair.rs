//! Repairs a broken text only if two repairers agree.
//!
//! Either repairer alone silently turns some broken texts into values that were never meant. They fail in different
//! cases, so a value that both return is accepted; otherwise the value of the better one is returned with a fault.
//! Truncated texts are never repaired: both repairers would close the brackets and hide the loss. Neither is linear on
//! every text, so long ones are not repaired either.

use rustc_hash::FxHashSet;
use serde_json::Value;

use super::strict;

/// The maximum length of a repaired text; the time of both repairers may grow with its square.
const MAX_BYTES: usize = 256 * 1024;

/// The reason for which a text has no certain repair.
#[derive(Debug, Clone, PartialEq)]
pub enum NotRepaired {
    /// At least one repairer failed.
    Beyond,
    /// The results are different; this is that of the better one.
    Disagree(Value),
}

/// Returns the list or object that both repairers return.
///
/// # Errors
/// If one fails, the two differ, or the result is a scalar (repairers turn prose into a string).
pub fn agreed(text: &str) -> Result<Value, NotRepaired> {
    if text.len() > MAX_BYTES {
        return Err(NotRepaired::Beyond);
    }
    match (first(text), second(text)) {
        (Some(first), Some(second)) if first != second => Err(NotRepaired::Disagree(first)),
        (Some(first), Some(_)) if n_nulls(&first) > n_null_words(text) => Err(NotRepaired::Disagree(first)),
        (Some(first), Some(_)) if !all_quoted(&first, &quoted_starts(text)) => {
            Err(NotRepaired::Disagree(first))
        }
        (Some(first), Some(_)) => Ok(first),
        _ => Err(NotRepaired::Beyond),
    }
}

/// Returns true if at least one repairer returns this value.
pub fn confirms(text: &str, value: &Value) -> bool {
    text.len() <= MAX_BYTES && (first(text).as_ref() == Some(value) || second(text).as_ref() == Some(value))
}

fn first(text: &str) -> Option<Value> {
    jsonrepair_rs::jsonrepair(text).ok().and_then(|json| structure(&json))
}

fn second(text: &str) -> Option<Value> {
    jsonfix::repair(text).ok().and_then(|json| structure(&json))
}

/// Returns the value of a repaired text: a list or an object without a repeated key.
fn structure(json: &str) -> Option<Value> {
    let read = strict::read(json).ok()?;
    (read.repeated.is_empty() && (read.value.is_array() || read.value.is_object())).then_some(read.value)
}

/// Returns the number of nulls in a value: repairers write one in place of a missing value.
fn n_nulls(value: &Value) -> usize {
    match value {
        Value::Null => 1,
        Value::Array(items) => items.iter().map(n_nulls).sum(),
        Value::Object(map) => map.values().map(n_nulls).sum(),
        _ => 0,
    }
}

/// Returns the words directly after a quote.
fn quoted_starts(text: &str) -> FxHashSet<&str> {
    let quotes = ['"', '\'', '`', '“', '”', '„', '‘', '’', '«'];
    text.match_indices(quotes).map(|(at, quote)| first_word(&text[at + quote.len()..])).collect()
}

/// Returns true if every string of a value began with a quote: a bare word is a name with an unknown value.
///
/// The name of a type is accepted, as it has the same meaning in Python.
fn all_quoted(value: &Value, starts: &FxHashSet<&str>) -> bool {
    match value {
        Value::String(text) => starts.contains(first_word(text)) || first_word(text).is_empty(),
        Value::Array(items) => items.iter().all(|item| all_quoted(item, starts)),
        Value::Object(map) => map.iter().all(|(key, value)| key == "type" || all_quoted(value, starts)),
        _ => true,
    }
}

fn first_word(text: &str) -> &str {
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    &text[..end.unwrap_or(text.len())]
}

/// Returns the number of words in a text that mean null.
fn n_null_words(text: &str) -> usize {
    ["null", "None", "NULL"].iter().map(|word| text.matches(word).count()).sum()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_missing_comma_is_inserted() {
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
    fn a_name_of_a_constant_is_not_its_value() {
        let variable = "{'name': 'f', 'description': TEXT}";
        let expected = json!({"name": "f", "description": "TEXT"});
        assert_eq!(agreed(variable), Err(NotRepaired::Disagree(expected)));
        let class = "{'name': 'f', 'a': {'type': str}}";
        assert_eq!(agreed(class), Ok(json!({"name": "f", "a": {"type": "str"}})));
    }

    #[test]
    fn prose_is_not_a_repaired_string() {
        assert_eq!(agreed("just some words"), Err(NotRepaired::Beyond));
    }

    #[test]
    fn different_results_are_uncertain() {
        let text = "{\"name\": \"f\", \"description\": `d`}";
        assert!(agreed(text).is_err());
    }

    #[test]
    fn one_repairer_can_confirm_a_value() {
        assert!(confirms("{\"a\": 1 \"b\": 2}", &json!({"a": 1, "b": 2})));
        assert!(!confirms("{\"a\": 1 \"b\": 2}", &json!({"a": 1})));
    }
}
