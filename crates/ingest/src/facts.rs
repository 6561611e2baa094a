//! Facts about a request besides its content: time, user, model, how it ended.
//!
//! A fact that the log does not have, or has in an unknown form, is absent; it never causes the loss of a request.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::log_formats::bodies::BODY_FACTS;
use crate::log_formats::{Columns, Envelope, Fact};
use crate::lookup::Lookup as _;
use crate::path::{Path, at, unwrap_json};
use callsieve_engine::columns::{
    ASSISTANT, FINISH_REASON, MODEL, PARALLEL_TOOL_CALLS, SESSION, STATUS, TIME_MS, TOOL_CHOICE, USER,
};
use callsieve_engine::raw::RowCells;

/// Facts of one request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// When it was sent, in milliseconds since 1970 (UTC); a time without a zone counts as UTC.
    pub time_ms: Option<i64>,
    /// The model asked for.
    pub model: Option<String>,
    /// The user or tenant.
    pub user: Option<String>,
    /// The app, team or trace that sent it; several words have a comma between them.
    pub assistant: Option<String>,
    /// The conversation it belongs to.
    pub session: Option<String>,
    /// `auto`, `none`, `required` or `function:NAME`.
    pub tool_choice: Option<String>,
    /// Whether the model was allowed to make several calls at once.
    pub parallel_tool_calls: Option<bool>,
    /// Why the model stopped, in the API's own word. Also `error` if the request failed, `stream` if the response is
    /// stored as chunks, `truncated` if the logger truncated it, and `unreadable` if it holds more than text and calls.
    pub finish_reason: Option<String>,
    /// The HTTP status.
    pub status: Option<i64>,
}

impl Facts {
    /// Adds the facts to the cells of a row.
    pub(super) fn into_cells(self, cells: RowCells) -> RowCells {
        cells
            .with(TIME_MS, self.time_ms)
            .with(MODEL, self.model)
            .with(USER, self.user)
            .with(ASSISTANT, self.assistant)
            .with(SESSION, self.session)
            .with(TOOL_CHOICE, self.tool_choice)
            .with(PARALLEL_TOOL_CALLS, self.parallel_tool_calls.map(i64::from))
            .with(FINISH_REASON, self.finish_reason)
            .with(STATUS, self.status)
    }
}

/// Finds facts in a line and in its body; those of the line have precedence.
pub(super) struct FactFinder<'a> {
    pub(super) line: &'a Value,
    pub(super) content: &'a Value,
    pub(super) envelope: &'a Envelope,
    /// The paths of facts in bodies of this API.
    pub(super) body_facts: &'a [(Fact, Path)],
    pub(super) columns: &'a Columns,
}

impl FactFinder<'_> {
    /// Returns the request's id in the log.
    pub(super) fn external_id(&self) -> Option<String> {
        self.find(Fact::Id, word)
    }

    /// Returns `true` if the log says that the request failed.
    pub(super) fn failed(&self) -> bool {
        self.find(Fact::Failed, failure).is_some() || self.find(Fact::Error, error).is_some()
    }

    /// Returns all facts; often only the response shows how the request ended.
    pub(super) fn facts(&self) -> Facts {
        let serial = || self.find(Fact::SerialCalls, Value::as_bool).map(|serial| !serial);
        Facts {
            time_ms: self.find(Fact::Time, time_ms),
            model: self.find(Fact::Model, word),
            user: self.find(Fact::User, word),
            assistant: self.find(Fact::Assistant, words),
            session: self.find(Fact::Session, word),
            status: self.find(Fact::Status, status),
            tool_choice: self.find(Fact::ToolChoice, tool_choice),
            parallel_tool_calls: self.find(Fact::ParallelCalls, Value::as_bool).or_else(serial),
            finish_reason: self.find(Fact::FinishReason, word),
        }
    }

    fn find<T>(&self, fact: Fact, read: fn(&Value) -> Option<T>) -> Option<T> {
        // Strings are not parsed here: a model's answer in JSON may contain "status".
        let at_paths = |value, paths: &[(Fact, Path)]| {
            let mut paths = paths.iter().filter(|(known, _)| *known == fact);
            paths.find_map(|(_, path)| read(at(value, path)?))
        };
        let in_columns = || self.columns.of(fact).iter().find_map(|name| read(column(self.line, name)?));
        at_paths(self.line, self.envelope.facts)
            .or_else(|| at_paths(self.content, self.body_facts))
            .or_else(in_columns)
            .or_else(|| at_paths(self.content, BODY_FACTS))
    }
}

/// Returns the value of a column; a name with dots is that of a column, or leads into objects: `metadata.app`.
fn column<'v>(line: &'v Value, name: &str) -> Option<&'v Value> {
    let inside = || {
        let (first, rest) = name.split_once('.')?;
        rest.split('.').try_fold(line.field(first)?, |at, key| at.field(key))
    };
    line.field(name).or_else(inside)
}

/// The status words of failed requests in logs without an HTTP status.
const FAILURES: &[&str] = &["failure", "failed", "error", "status_code_error", "2"];

fn failure(value: &Value) -> Option<()> {
    FAILURES.contains(&word(value)?.to_ascii_lowercase().as_str()).then_some(())
}

fn error(value: &Value) -> Option<()> {
    match value {
        Value::String(text) => !text.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        _ => false,
    }
    .then_some(())
}

fn word(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// A word, or several with a comma between them; a list may be JSON in a text.
fn words(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if text.trim_start().starts_with('[') => words(&unwrap_json(text)?),
        Value::Array(elements) => {
            let all: Vec<String> = elements.iter().filter_map(word).collect();
            (!all.is_empty()).then(|| all.join(", "))
        }
        value => word(value),
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

/// The lower limits of epoch times in units of this many per second; as seconds they would be after the year 5000.
const UNITS_A_SECOND: &[(u64, i64)] =
    &[(100_000_000_000_000_000, 1_000_000_000), (100_000_000_000_000, 1_000_000), (100_000_000_000, 1_000)];

fn epoch_ms(number: &str) -> Option<i64> {
    if let Ok(count) = number.parse::<i64>() {
        let unit = UNITS_A_SECOND.iter().find(|(least, _)| count.unsigned_abs() >= *least);
        return Some(unit.map_or_else(|| count * 1000, |(_, a_second)| count / (a_second / 1000)));
    }
    // Only seconds are written with a fraction, as by Python's `time.time()`.
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

/// Reads `tool_choice` and `function_call` of any API, and Gemini's mode with the names it allows.
fn tool_choice(choice: &Value) -> Option<String> {
    match choice {
        Value::String(text) if text.trim_start().starts_with('{') => tool_choice(&unwrap_json(text)?),
        Value::String(word) => mode(word),
        Value::Object(fields) => {
            let frame = FORCED.iter().find_map(|key| choice.get(*key).filter(|frame| frame.is_object()));
            let name = frame.and_then(|frame| frame.get("name"));
            let name = name.or_else(|| NAMES.iter().find_map(|key| fields.get(*key)));
            if let Some(name) = name.and_then(Value::as_str).or_else(|| only_one_allowed(choice)) {
                return Some(format!("function:{name}"));
            }
            let word = ["mode", "type"].iter().find_map(|key| fields.get(*key)?.as_str());
            let allowed = at(choice, &["allowed_tools", "mode"]).and_then(Value::as_str);
            // Bedrock uses a key with an empty object.
            mode(allowed.or(word).or_else(|| fields.keys().next().map(String::as_str))?)
        }
        _ => None,
    }
}

/// Keys of objects that may hold the name of the function to call.
const FORCED: &[&str] = &["function", "tool"];

/// Keys of that name in the choice itself.
const NAMES: &[&str] = &["name", "toolName"];

/// Gemini's keys of the functions that may be called.
const ALLOWED: &[&str] = &["allowedFunctionNames", "allowed_function_names"];

fn only_one_allowed(choice: &Value) -> Option<&str> {
    let names = ALLOWED.iter().find_map(|key| choice.get(*key)?.as_array())?;
    names.first().filter(|_| names.len() == 1)?.as_str()
}

fn mode(word: &str) -> Option<String> {
    let word = word.to_ascii_lowercase();
    match word.as_str() {
        "" => None,
        "any" => Some("required".to_owned()),
        _ => Some(word),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::log_formats::names::is_read;

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
            (json!({"tool": {"name": "f"}}), Some("function:f")),
            (json!({"type": "tool", "toolName": "f"}), Some("function:f")),
            (json!("{\"type\": \"tool\", \"toolName\": \"f\"}"), Some("function:f")),
            (json!("{\"type\": \"auto\"}"), Some("auto")),
            (json!("{\"type\": \"au"), None),
            (json!({"any": {}}), Some("required")),
            (json!({"mode": "ANY"}), Some("required")),
            (json!({"mode": "ANY", "allowedFunctionNames": ["f"]}), Some("function:f")),
            (json!({"mode": "ANY", "allowedFunctionNames": ["f", "g"]}), Some("required")),
            (json!({"type": "allowed_tools", "allowed_tools": {"mode": "auto"}}), Some("auto")),
            (json!({"disable_parallel_tool_use": true, "type": "auto"}), Some("auto")),
            (json!({}), None),
            (json!(7), None),
        ] {
            assert_eq!(tool_choice(&choice).as_deref(), expected, "{choice}");
        }
    }

    #[test]
    fn a_column_with_dots_is_one_or_leads_into_objects() {
        let line = json!({"metadata": {"app": "bells", "by": {"team": "night"}}, "metadata.app": "piers", "tags": ["a"]});
        for (name, expected) in [
            ("metadata.app", Some("piers")),
            ("metadata.by.team", Some("night")),
            ("metadata.by.team.id", None),
            ("tags.0", None),
            ("metadata", None),
            ("elsewhere.app", None),
        ] {
            assert_eq!(column(&line, name).and_then(Value::as_str), expected, "{name}");
        }
        let columns = Columns { assistant: vec!["wunsch.app".to_owned()], ..Columns::default() };
        assert!(is_read("wunsch", &columns) && !is_read("wunsch", &Columns::default()));
    }
}
