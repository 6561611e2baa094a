//! Reads the default stated in a description.
//!
//! BFCL states a default in its field or as a sentence (`Default is 10.`). `(default: 10)` and `Default: 10` are notes
//! of other formats: their value belongs in the field if it is a literal of the parameter's type.

use serde_json::{Map, Value};

use crate::fix::keys::DESCRIPTION;
use crate::fix::values::{cast, fits};

const WORD: &str = "default";

/// Words between `default` and the value in a sentence.
const VERBS: [&str; 2] = [" is ", " to "];

/// Returns the value that a note in the description states as the default: a literal valid for the type and the enum.
pub(in crate::fix) fn noted(schema: &Map<String, Value>) -> Option<Value> {
    let text = schema.get(DESCRIPTION)?.as_str()?;
    let kind = schema.get("type")?.as_str()?;
    let mut notes = mentions(text).filter(|mention| mention.is_note);
    let value = notes.find_map(|mention| value_of(mention.rest, kind, schema.get("enum")))?;
    fits(&value, schema).then_some(value)
}

/// Returns true if a text states a default, as a note or in a sentence; its value may be any expression.
pub(in crate::fix) fn is_named(text: &str) -> bool {
    mentions(text).any(|mention| mention.is_note || mention.is_sentence)
}

/// A mention of a default in a text.
struct Mention<'t> {
    /// The text from the value on.
    rest: &'t str,
    /// Whether it has a colon or an equals sign, or is in brackets without a verb.
    is_note: bool,
    /// Whether it has a verb.
    is_sentence: bool,
}

fn mentions(text: &str) -> impl Iterator<Item = Mention<'_>> {
    let lower = text.to_ascii_lowercase();
    let places: Vec<usize> = lower.match_indices(WORD).map(|(at, _)| at).collect();
    places.into_iter().filter_map(move |at| {
        let (before, after) = (&text[..at], &text[at + WORD.len()..]);
        let is_word = !before.ends_with(|c: char| c.is_alphanumeric() || c == '_');
        is_word.then(|| mention(before, after)).flatten()
    })
}

fn mention<'t>(before: &str, after: &'t str) -> Option<Mention<'t>> {
    let after = after.strip_prefix(" value").or_else(|| after.strip_prefix('s')).unwrap_or(after);
    if let Some(rest) = after.trim_start().strip_prefix([':', '=']) {
        return Some(Mention { rest: rest.trim_start(), is_note: true, is_sentence: false });
    }
    let verb = VERBS.iter().find_map(|verb| after.strip_prefix(verb));
    let is_bracketed = before.rfind(['(', '[']).is_some_and(|open| !before[open..].contains([')', ']']));
    let rest = verb.or_else(|| after.strip_prefix(' ').filter(|_| is_bracketed))?;
    Some(Mention { rest: rest.trim_start(), is_note: verb.is_none(), is_sentence: verb.is_some() })
}

/// Returns the value at the start of a text if only the end of a sentence or a bracket follows.
fn value_of(text: &str, kind: &str, choices: Option<&Value>) -> Option<Value> {
    let (written, is_quoted) = literal(text)?;
    let choices = choices.and_then(Value::as_array);
    let as_text = Value::from(written);
    let value = match kind {
        "string" if ["None", "null"].contains(&written) && !is_quoted => Some(Value::Null),
        "string" => {
            let is_choice = choices.is_some_and(|choices| choices.contains(&as_text));
            (is_quoted || is_choice).then_some(as_text)
        }
        _ => cast(written, kind),
    }?;
    let is_allowed = value.is_null() || choices.is_none_or(|choices| choices.contains(&value));
    is_allowed.then_some(value)
}

/// Returns the literal at the start of a text, and whether it is quoted.
fn literal(text: &str) -> Option<(&str, bool)> {
    let first = text.chars().next()?;
    if let Some(close) = closing(first) {
        let inner = &text[first.len_utf8()..];
        let end = inner.find(close)?;
        let is_quote = !['[', '{'].contains(&first);
        let written = if is_quote { &inner[..end] } else { &text[..=end + 1] };
        return ends(&inner[end + close.len_utf8()..]).then_some((written, is_quote && first != '`'));
    }
    let end = text.find(|c: char| c.is_whitespace() || [')', ']', ';'].contains(&c)).unwrap_or(text.len());
    let written = text[..end].trim_end_matches(['.', ',']);
    let is_whole = !written.is_empty() && ends(&text[written.len()..]);
    is_whole.then_some((written, false))
}

fn closing(open: char) -> Option<char> {
    match open {
        '\'' | '"' | '`' => Some(open),
        '[' => Some(']'),
        '{' => Some('}'),
        _ => None,
    }
}

/// Returns true if a value ends here: at the end of the text, or before punctuation.
fn ends(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with(['.', ',', ';', ')', ']', '\n', '\r'])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_note_with_a_literal_of_the_type_is_the_default() {
        for (kind, text, expected) in [
            ("integer", "How often (default: 10)", Some(json!(10))),
            ("integer", "How often (optional, default 10)", Some(json!(10))),
            ("integer", "How often. Default: 10.", Some(json!(10))),
            ("integer", "How often. Default value: 10, maximum: 20", Some(json!(10))),
            ("integer", "How often. Default = 10", Some(json!(10))),
            ("integer", "How often. Default: `10`.", Some(json!(10))),
            ("float", "How loud [default: 0.5]", Some(json!(0.5))),
            ("boolean", "Whether to ring. Default: false", Some(json!(false))),
            ("string", "Which (default: 'north')", Some(json!("north"))),
            ("string", "Which. Default: None", Some(Value::Null)),
            ("array", "Which. Default: []", Some(json!([]))),
            ("integer", "How often. Default: 10 times", None),
            ("integer", "How often. Default: 10,000", None),
            ("integer", "How often. Default is 10.", None),
            ("integer", "How often. Defaults to 10.", None),
            ("integer", "How often (defaults to 10).", None),
            ("integer", "How often. Default: ten.", None),
            ("boolean", "Default: 0", None),
            ("string", "Which. Default: north", None),
            ("string", "Which. Default: the first bell", None),
            ("any", "Which. Default: 7", None),
            ("string", "The nodefault: 'x'", None),
        ] {
            let schema = json!({"type": kind, "description": text});
            assert_eq!(noted(schema.as_object().unwrap()), expected, "{kind} {text}");
        }
        let chosen = |text: &str| {
            let schema = json!({"type": "string", "description": text, "enum": ["north", "south"]});
            noted(schema.as_object().unwrap())
        };
        assert_eq!(chosen("Which. Default: north."), Some(json!("north")));
        assert_eq!(chosen("Which. Default: 'west'."), None);
    }

    #[test]
    fn a_default_is_stated_in_notes_and_sentences() {
        for text in
            ["(default: all)", "Default: return all", "Defaults to now.", "The default is 10", "(default 7)"]
        {
            assert!(is_named(text), "{text}");
        }
        for text in ["The default bell", "Value used by default", "Specifies the default value for a bell."] {
            assert!(!is_named(text), "{text}");
        }
    }
}
