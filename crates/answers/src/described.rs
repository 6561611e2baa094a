//! Defaults that only the description of a parameter states.
//!
//! The ground truths of BFCL accept them: of 454 omitted optional parameters whose descriptions state a default (non-Live and Live of V4),
//! 400 or so list it beside the empty text.

use callsieve_bfcl::types::Type;
use serde_json::{Number, Value};

const WORD: &str = "default";
/// What may stand between the word and its value, in lower case; the longest first.
const BETWEEN: [&str; 10] =
    [" value is ", " value: ", " value ", "s to ", " to ", " is ", ": ", "=", ":", " "];

/// Returns the default that a description states, if it is sure: a number, yes or no, an option of the enum, or a quoted text, at the end
/// of a clause.
pub(crate) fn described_default(schema: &Value) -> Option<Value> {
    let text = schema["description"].as_str()?;
    let lower = text.to_ascii_lowercase();
    let mut mentions = lower.match_indices(WORD).filter_map(|(at, _)| {
        let is_word = !lower[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let after = &text[at + WORD.len()..];
        let between = BETWEEN.iter().find(|between| {
            after.get(..between.len()).is_some_and(|start| start.eq_ignore_ascii_case(between))
        })?;
        is_word.then(|| value_at(after[between.len()..].trim_start(), schema))
    });
    let first = mentions.next()??;
    // Another one may be that of a special case.
    mentions.all(|other| other.as_ref() == Some(&first)).then_some(first)
}

/// Reads the value at the start of a text.
fn value_at(text: &str, schema: &Value) -> Option<Value> {
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\'' | '`'));
    let (written, rest) = match quote {
        Some(quote) => text[1..].split_once(quote)?,
        None => text.split_at(end_of_clause(text)),
    };
    let (written, is_quoted) = (written.trim_end(), quote.is_some());
    let is_whole =
        rest.trim_start().is_empty() || rest.trim_start().starts_with([',', ';', ')', ']', '.', '\n']);
    if !is_whole && is_quoted {
        return None;
    }
    if let Some(options) = schema["enum"].as_array() {
        return options
            .iter()
            .find(|option| option.as_str().map_or_else(|| option.to_string(), str::to_owned) == written)
            .cloned();
    }
    match Type::of(schema)? {
        Type::Integer => written.parse::<i64>().ok().map(Value::from),
        Type::Float => serde_json::from_str::<Number>(written).ok().map(Value::Number),
        Type::Boolean => written.to_ascii_lowercase().parse::<bool>().ok().map(Value::Bool),
        Type::String => (is_quoted && !written.trim().is_empty()).then(|| Value::from(written)),
        _ => None,
    }
}

/// Returns where a clause ends: at a bracket, a comma, or the end of a sentence.
fn end_of_clause(text: &str) -> usize {
    let is_end = |&(at, c): &(usize, char)| {
        let next = text[at + c.len_utf8()..].chars().next();
        matches!(c, ',' | ';' | ')' | ']' | '\n') || c == '.' && next.is_none_or(char::is_whitespace)
    };
    text.char_indices().find(is_end).map_or(text.len(), |(at, _)| at)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_default_is_read_where_it_is_sure() {
        let of = |kind: &str, description: &str| {
            described_default(&json!({"type": kind, "description": description}))
        };
        for (kind, description, expected) in [
            ("integer", "Duration in minutes, default 60", json!(60)),
            ("integer", "Rows (default: 20).", json!(20)),
            ("float", "The decrease a year (optional). Default is 0.5", json!(0.5)),
            ("integer", "Pages. Defaults to 3. Must be positive.", json!(3)),
            ("boolean", "Whether to sort. Default value is True.", json!(true)),
            ("string", "Source of the data. default is 'tide table'", json!("tide table")),
            ("string", "Signature, e.g., 4/4. Default '4/4'", json!("4/4")),
        ] {
            assert_eq!(of(kind, description), Some(expected), "{description}");
        }
        for (kind, description) in [
            ("integer", "Default is 1 hour"),
            ("integer", "Lines by default"),
            ("integer", "The default_rows of 20"),
            ("integer", "Default 20, or default 30 at night"),
            ("string", "Defaults to the present season"),
            ("string", "Default is United Kingdom"),
            ("array", "Default is []"),
        ] {
            assert_eq!(of(kind, description), None, "{description}");
        }
        let unit = |description: &str| {
            described_default(
                &json!({"type": "string", "enum": ["metric", "imperial"], "description": description}),
            )
        };
        assert_eq!(unit("Unit. Default is metric."), Some(json!("metric")));
        assert_eq!(unit("Unit. Default is metres."), None);
    }
}
