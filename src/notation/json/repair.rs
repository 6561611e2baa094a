//! A broken text is repaired only where two repairers agree.
//!
//! Either one alone turns some broken texts into something their writer never
//! meant, and does so in silence. They fail in different places, so a value both
//! arrive at is taken; where they differ the better one's comes with a fault. Texts that
//! are cut off never come here: both would close the brackets and hide the loss. Neither
//! is linear on every text, so long ones stay away too.

use rustc_hash::FxHashSet;
use serde_json::Value;

use super::strict;

/// The longest text that is repaired; both repairers take time that may grow with its square.
const MAX_BYTES: usize = 256 * 1024;

/// Why a text was not repaired for sure.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum NotRepaired {
    /// At least one repairer gave up.
    Beyond,
    /// The two arrived at different values; this is the better one's.
    Disagree(Value),
}

/// The list or object that both repairers make of the text.
///
/// # Errors
/// Where one gives up, the two differ, or the result is a mere scalar (a repairer that quotes prose).
pub(crate) fn agreed(text: &str) -> Result<Value, NotRepaired> {
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

/// Whether at least one repairer makes this value of the text.
pub(crate) fn confirms(text: &str, value: &Value) -> bool {
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

/// The words that stand right behind a quote.
fn quoted_starts(text: &str) -> FxHashSet<&str> {
    let quotes = ['"', '\'', '`', '“', '”', '„', '‘', '’', '«'];
    text.match_indices(quotes).map(|(at, quote)| first_word(&text[at + quote.len()..])).collect()
}

/// Whether every string of a value began with a quote: a bare word is a name, and what it stands for is not known.
///
/// The word of a type says all there is to say, also where it is one of Python's own names.
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
    fn a_name_that_stands_for_a_text_is_not_the_text() {
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
