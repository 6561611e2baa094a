//! Marks conversations in which a call failed: the model may have answered without what it needed.
//!
//! A result has failed if its JSON says so by a usual key, or if its text begins like an error message.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use super::{Item, Mark, Role, quoted};

pub(super) const CODE: &str = "suspicion/failed-result";
const WEIGHT: u32 = 2;

static ERROR: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?i)^\s*(\w*error(?-u:\b)|\w*exception(?-u:\b)|traceback \(most recent|failed(?-u:\b)|fatal(?-u:\b)|(http\s*)?[45]\d\d\s+[a-z]|timed? ?out(?-u:\b))",
    )
    .expect("the pattern is valid")
});

pub(super) fn marks(item: &Item) -> Vec<Mark> {
    let results = item.turns().filter(|message| message.role == Role::Tool);
    let failed = results.filter(|message| is_failed(&message.text));
    failed
        .map(|message| Mark {
            code: CODE.to_owned(),
            text: format!("a call failed: {}", quoted(message.text.trim())),
            weight: WEIGHT,
        })
        .collect()
}

fn is_failed(text: &str) -> bool {
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(object)) => {
            let is = |key: &str, test: &dyn Fn(&Value) -> bool| object.get(key).is_some_and(test);
            let is_given = |value: &Value| {
                !matches!(value, Value::Null | Value::Bool(false)) && value != "" && value != 0
            };
            let is_error_word = |value: &Value| {
                value.as_str().is_some_and(|word| {
                    ["error", "failed", "failure", "fail"].contains(&word.to_lowercase().as_str())
                }) || value.as_u64().is_some_and(|code| (400..600).contains(&code))
            };
            is("error", &is_given)
                || is("errors", &|value| {
                    is_given(value) && value.as_array().is_none_or(|all| !all.is_empty())
                })
                || is("isError", &|value| *value == true)
                || is("success", &|value| *value == false)
                || is("ok", &|value| *value == false)
                || is("status", &is_error_word)
                || is("status_code", &is_error_word)
        }
        Ok(Value::String(text)) => ERROR.is_match(&text),
        Ok(_) => false,
        Err(_) => ERROR.is_match(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_that_report_a_failure_are_failed() {
        for text in [
            r#"{"error": "no such city"}"#,
            r#"{"errors": ["x"]}"#,
            r#"{"isError": true, "content": []}"#,
            r#"{"success": false}"#,
            r#"{"status": "Error"}"#,
            r#"{"status": 503}"#,
            "Error: no such city",
            "ValueError: bad",
            "Traceback (most recent call last):",
            "HTTP 404 Not Found",
            r#""Timeout after 3 s""#,
        ] {
            assert!(is_failed(text), "{text}");
        }
    }

    #[test]
    fn other_results_are_not() {
        for text in [
            r#"{"error": null, "errors": [], "ok": true, "status": "ok", "status_code": 200}"#,
            r#"{"error": false, "found": 0}"#,
            "404",
            "Errors were rare this year",
            "All seats are taken",
            "[]",
            "",
        ] {
            assert!(!is_failed(text), "{text}");
        }
    }
}
