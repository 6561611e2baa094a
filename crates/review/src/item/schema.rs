//! Marks arguments outside the limits of their schema: `enum`, `minimum`, `maximum`, `pattern`, `minLength`, `maxLength`.
//!
//! Types are not checked here: the stages that make answers do that. A pattern that needs a backtracking engine is ignored.

use regex::RegexBuilder;
use serde_json::Value;

use super::arguments::arguments;
use super::{Item, Mark, quoted};

pub(super) const CODE: &str = "suspicion/outside-schema";
const WEIGHT: u32 = 4;

/// Largest program of a pattern, in bytes; docs are written by strangers.
const MAX_PATTERN_BYTES: usize = 1 << 18;

pub(super) fn marks(item: &Item) -> Vec<Mark> {
    let mut marks = Vec::new();
    for argument in arguments(item) {
        let Some(schema) = argument.schema else { continue };
        // An empty text or null stands for an optional parameter that is left out.
        for value in argument.values.iter().filter(|value| **value != "" && !value.is_null()) {
            if let Some(fault) = fault(value, schema) {
                let shown = value.as_str().map_or_else(|| value.to_string(), quoted);
                let text = format!("{}: {shown} {fault}", argument.path);
                marks.push(Mark { code: CODE.to_owned(), text, weight: WEIGHT });
            }
        }
    }
    marks
}

/// Returns how a value breaks its schema.
fn fault(value: &Value, schema: &Value) -> Option<String> {
    if let Value::Array(values) = value {
        return values.iter().find_map(|value| fault(value, schema.get("items")?));
    }
    if let Some(allowed) = schema["enum"].as_array()
        && !allowed.iter().any(|allowed| is_equal(allowed, value))
    {
        return Some("is not in the enum".to_owned());
    }
    match value {
        Value::Number(number) => number.as_f64().and_then(|number| number_fault(number, schema)),
        Value::String(text) => text_fault(text, schema),
        _ => None,
    }
}

/// Whether two values are equal; 1 and 1.0 are.
fn is_equal(one: &Value, other: &Value) -> bool {
    one == other || one.as_f64().is_some_and(|one| other.as_f64() == Some(one))
}

fn number_fault(number: f64, schema: &Value) -> Option<String> {
    let limit = |key: &str| Some((schema[key].as_f64()?, &schema[key]));
    if let Some((_, shown)) = limit("minimum").filter(|(least, _)| number < *least) {
        return Some(format!("is less than the minimum {shown}"));
    }
    if let Some((_, shown)) = limit("maximum").filter(|(most, _)| number > *most) {
        return Some(format!("is more than the maximum {shown}"));
    }
    if let Some((_, shown)) = limit("exclusiveMinimum").filter(|(least, _)| number <= *least) {
        return Some(format!("is not more than {shown}"));
    }
    let (_, shown) = limit("exclusiveMaximum").filter(|(most, _)| number >= *most)?;
    Some(format!("is not less than {shown}"))
}

fn text_fault(text: &str, schema: &Value) -> Option<String> {
    let n_chars = text.chars().count() as u64;
    if let Some(most) = schema["maxLength"].as_u64().filter(|most| n_chars > *most) {
        return Some(format!("has {n_chars} characters, more than the maximum {most}"));
    }
    if let Some(least) = schema["minLength"].as_u64().filter(|least| n_chars < *least) {
        return Some(format!("has {n_chars} characters, less than the minimum {least}"));
    }
    let pattern = schema["pattern"].as_str()?;
    let regex = RegexBuilder::new(pattern).size_limit(MAX_PATTERN_BYTES).build().ok()?;
    (!regex.is_match(text)).then(|| format!("does not match the pattern {}", quoted(pattern)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::booking;
    use super::*;

    fn texts(arguments: Value) -> Vec<String> {
        marks(&booking("q", arguments)).into_iter().map(|mark| mark.text).collect()
    }

    #[test]
    fn each_limit_is_checked() {
        assert_eq!(texts(json!({"seats": 0})), ["book.seats: 0 is less than the minimum 1"]);
        assert_eq!(texts(json!({"seats": 7})), ["book.seats: 7 is more than the maximum 6"]);
        assert_eq!(texts(json!({"class": "third"})), ["book.class: \"third\" is not in the enum"]);
        assert_eq!(
            texts(json!({"city": "Kristiansand"})),
            ["book.city: \"Kristiansand\" has 12 characters, more than the maximum 9"]
        );
        assert_eq!(
            texts(json!({"code": "BX777"})),
            ["book.code: \"BX777\" does not match the pattern \"^[A-Z]{2}-[0-9]+$\""]
        );
    }

    #[test]
    fn values_at_the_limits_are_not_marked() {
        let none: [&str; 0] = [];
        assert_eq!(texts(json!({"seats": 6, "class": "first", "city": "Trondheim", "code": "BX-7"})), none);
        assert_eq!(texts(json!({"seats": 1.0, "other": 99})), none);
    }

    #[test]
    fn a_pattern_that_cannot_be_read_or_is_too_large_is_ignored() {
        let mut item = booking("q", json!({"city": "Oslo"}));
        for pattern in ["(?=x)y", "(", "((a{1000}){1000}){1000}"] {
            item.functions[0].doc["parameters"]["properties"]["city"] = json!({"pattern": pattern});
            assert_eq!(marks(&item), [], "{pattern}");
        }
    }

    #[test]
    fn alternatives_and_lists_of_an_answer_are_checked() {
        let mut item = booking("q", json!({}));
        item.functions[0].doc["parameters"]["properties"]["list"] = json!({"items": {"maximum": 3}});
        item.drafted_answer = Some(json!([{"book": {"seats": [2, 9, ""], "list": [[1, 4]]}}]));
        let found: Vec<String> = marks(&item).into_iter().map(|mark| mark.text).collect();
        assert_eq!(
            found,
            ["book.seats: 9 is more than the maximum 6", "book.list: [1,4] is more than the maximum 3"]
        );
    }
}
