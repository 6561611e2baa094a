//! What a log says about a request besides its words: when, who, which model, how it ended.
//!
//! A fact the log does not have, or has in a form that is not understood, is absent;
//! no request is lost for it.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ingest::path::{Path, at};
use crate::ingest::shapes::{
    BODY_FACTS, Columns, Envelope, Fact, PARALLEL_TOOL_CALLS, SERIAL_TOOL_CALLS, TOOL_CHOICE, column,
};

/// Facts of one request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// When it came, in milliseconds since 1970 (UTC); a time without a zone is taken as UTC.
    pub time_ms: Option<i64>,
    /// The model asked for.
    pub model: Option<String>,
    /// The user or tenant.
    pub user: Option<String>,
    /// The conversation it belongs to.
    pub session: Option<String>,
    /// `auto`, `none`, `required` or `function:NAME`.
    pub tool_choice: Option<String>,
    /// Whether the model might make several calls at once.
    pub parallel_tool_calls: Option<bool>,
    /// Why the model stopped, in the API's own word; `error` where the request failed and
    /// `unreadable` where the response holds more than text and calls.
    pub finish_reason: Option<String>,
    /// The HTTP status.
    pub status: Option<i64>,
}

/// Finds facts in a line and in the body inside it; the line's own count first.
pub(super) struct FactFinder<'a> {
    pub(super) line: &'a Value,
    pub(super) body: &'a Value,
    pub(super) envelope: &'a Envelope,
    pub(super) columns: &'a Columns,
}

impl FactFinder<'_> {
    /// The request's id in the log.
    pub(super) fn external_id(&self) -> Option<String> {
        self.find(Fact::Id, word)
    }

    /// All facts but how it ended.
    pub(super) fn facts(&self) -> Facts {
        let flag = |path| at(self.body, path).and_then(Value::as_bool);
        Facts {
            time_ms: self.find(Fact::Time, time_ms),
            model: self.find(Fact::Model, word),
            user: self.find(Fact::User, word),
            session: self.find(Fact::Session, word),
            status: self.find(Fact::Status, status),
            tool_choice: TOOL_CHOICE.iter().find_map(|path| tool_choice(at(self.body, path)?)),
            parallel_tool_calls: flag(PARALLEL_TOOL_CALLS)
                .or_else(|| flag(SERIAL_TOOL_CALLS).map(|serial| !serial)),
            finish_reason: None,
        }
    }

    fn find<T>(&self, fact: Fact, read: fn(&Value) -> Option<T>) -> Option<T> {
        // Strings are not looked into here: a model that answers in JSON may well say "status".
        let at_paths = |value, paths: &[(Fact, Path)]| {
            paths.iter().filter(|(known, _)| *known == fact).find_map(|(_, path)| read(at(value, path)?))
        };
        at_paths(self.line, self.envelope.facts)
            .or_else(|| read(column(self.line, self.columns.of(fact))?))
            .or_else(|| at_paths(self.body, BODY_FACTS))
    }
}

fn word(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn status(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| value.as_str()?.trim().parse().ok())
}

fn time_ms(value: &Value) -> Option<i64> {
    match value {
        Value::Number(number) => epoch_ms(&number.to_string()),
        Value::String(text) => epoch_ms(text.trim()).or_else(|| calendar_ms(text.trim())),
        _ => None,
    }
}

/// A count as large as the first number is taken as one of this many a second; as seconds it would lie after the year 5000.
const UNITS_A_SECOND: &[(u64, i64)] =
    &[(100_000_000_000_000_000, 1_000_000_000), (100_000_000_000_000, 1_000_000), (100_000_000_000, 1_000)];

fn epoch_ms(number: &str) -> Option<i64> {
    if let Ok(count) = number.parse::<i64>() {
        let unit = UNITS_A_SECOND.iter().find(|(least, _)| count.unsigned_abs() >= *least);
        return Some(unit.map_or_else(|| count * 1000, |(_, a_second)| count / (a_second / 1000)));
    }
    // Only seconds are written with a fraction: it is what Python's `time.time()` gives.
    let seconds: f64 = number.parse().ok()?;
    i64::try_from(SignedDuration::try_from_secs_f64(seconds).ok()?.as_millis()).ok()
}

fn calendar_ms(text: &str) -> Option<i64> {
    let timestamp = text.parse::<Timestamp>().or_else(|_| {
        let civil = text.parse::<DateTime>()?;
        civil.to_zoned(TimeZone::UTC).map(|zoned| zoned.timestamp())
    });
    timestamp.ok().map(Timestamp::as_millisecond)
}

/// Reads `tool_choice` and `function_call` of any API.
fn tool_choice(choice: &Value) -> Option<String> {
    let word = match choice {
        Value::String(word) => word.as_str(),
        Value::Object(fields) => {
            let name =
                choice.get("function").and_then(|function| function.get("name")).or(fields.get("name"));
            if let Some(name) = name.and_then(Value::as_str) {
                return Some(format!("function:{name}"));
            }
            fields.get("type")?.as_str()?
        }
        _ => return None,
    };
    let word = word.to_ascii_lowercase();
    Some(if word == "any" { "required".to_owned() } else { word })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn times_of_every_kind_are_read() {
        let second = 1_708_905_692_000;
        for (time, expected) in [
            (json!(1_708_905_692), Some(second)),
            (json!(1_708_905_692_123_u64), Some(second + 123)),
            (json!(1_708_905_692_123_456_u64), Some(second + 123)),
            (json!(1_708_905_692_123_456_789_u64), Some(second + 123)),
            (json!(1_708_905_692.5), Some(second + 500)),
            (json!("1708905692"), Some(second)),
            (json!("2024-02-26T00:01:32Z"), Some(second)),
            (json!("2024-02-26T01:01:32.250+01:00"), Some(second + 250)),
            (json!("2024-02-26 00:01:32.25"), Some(second + 250)),
            (json!("2024-02-26"), Some(second - 92_000)),
            (json!("yesterday"), None),
            (json!("NaN"), None),
            (json!("1e400"), None),
            (json!(i64::MIN), Some(i64::MIN / 1_000_000)),
            (json!({"seconds": 1}), None),
        ] {
            assert_eq!(time_ms(&time), expected, "{time}");
        }
    }

    #[test]
    fn tool_choices_of_every_api_are_read() {
        for (choice, expected) in [
            (json!("auto"), Some("auto")),
            (json!("any"), Some("required")),
            (json!({"type": "any"}), Some("required")),
            (json!("ANY"), Some("required")),
            (json!({"type": "auto"}), Some("auto")),
            (json!({"type": "function", "function": {"name": "f"}}), Some("function:f")),
            (json!({"type": "tool", "name": "f"}), Some("function:f")),
            (json!({"name": "f"}), Some("function:f")),
            (json!(7), None),
        ] {
            assert_eq!(tool_choice(&choice).as_deref(), expected, "{choice}");
        }
    }
}
