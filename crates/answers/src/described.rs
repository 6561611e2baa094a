//! Defaults that only the description of a parameter states.
//!
//! The ground truths of BFCL accept them: of 454 omitted optional parameters whose descriptions state a default (non-Live and Live of V4),
//! 400 or so list it beside the empty text.

use callsieve_bfcl::types::Type;
use serde_json::{Number, Value};

/// Words for a default, in lower case. The others count only where the first one is missing: "standard" has other meanings.
const WORDS: [&[&str]; 2] = [
    &["default"],
    &[
        "standardwert",
        "standard",
        "vorgabe",
        "valor por defecto",
        "por defecto",
        "valor predeterminado",
        "predeterminado",
        "predeterminada",
        "par défaut",
    ],
];
/// What may stand between the word and its value, in lower case; the longest first.
const BETWEEN: [&str; 13] = [
    " value is ",
    " value: ",
    " value ",
    "s to ",
    " to ",
    " is ",
    " ist ",
    " est ",
    " es ",
    ": ",
    "=",
    ":",
    " ",
];
/// Words between the last two of several alternatives.
const OR: [&str; 8] = [" or ", " and ", " oder ", " und ", " o ", " y ", " ou ", " et "];

/// Returns the default that a description states, if it is sure: a number, yes or no, an option of the enum, a quoted text, or one of
/// the words that the description lists before, at the end of a clause.
pub(crate) fn described_default(schema: &Value) -> Option<Value> {
    let text = schema["description"].as_str()?;
    // Of the same length, so that places are those of the text.
    let lower = text.to_ascii_lowercase();
    let words = WORDS.iter().find(|words| words.iter().any(|word| lower.contains(word)))?;
    let mut places: Vec<(usize, &str)> = words.iter().flat_map(|word| lower.match_indices(word)).collect();
    places.sort_by_key(|&(at, word)| (at, std::cmp::Reverse(word.len())));
    let mut mentions = places.into_iter().filter_map(|(at, word)| {
        let is_word = !lower[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let after = &text[at + word.len()..];
        let between = BETWEEN.iter().find(|between| {
            after.get(..between.len()).is_some_and(|start| start.eq_ignore_ascii_case(between))
        })?;
        is_word.then(|| value_at(after[between.len()..].trim_start(), &text[..at], schema))
    });
    let first = mentions.next()??;
    // Another one may be that of a special case.
    mentions.all(|other| other.as_ref() == Some(&first)).then_some(first)
}

/// Reads the value at the start of a text, which may be one of several that the description lists before.
fn value_at(text: &str, before: &str, schema: &Value) -> Option<Value> {
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
        Type::String if is_quoted => (!written.trim().is_empty()).then(|| Value::from(written)),
        Type::String => listed(written, before).map(Value::from),
        _ => None,
    }
}

/// Returns an alternative of a list in a text, as the list writes it: "low, medium or high".
fn listed<'t>(wanted: &str, text: &'t str) -> Option<&'t str> {
    let wanted = wanted.trim().to_lowercase();
    if wanted.is_empty() {
        return None;
    }
    text.split(['.', ':', ';', '(', ')', '\n']).find_map(|clause| {
        let mut items: Vec<&str> = clause.split([',', '|', '/']).collect();
        for or in OR {
            items = items.into_iter().flat_map(|item| item.split(or)).collect();
        }
        let bare =
            |item: &'t str| item.trim_matches(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`'));
        let mut items = items.into_iter().map(bare).filter(|item| !item.is_empty());
        let is_list = clause.contains([',', '|', '/']) || OR.iter().any(|or| clause.contains(or));
        items.find(|item| is_list && item.to_lowercase() == wanted)
    })
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
            ("string", "Possible values: low, medium, high, urgent. Default: medium", json!("medium")),
            ("string", "One of: day | night. Default is Night.", json!("night")),
            ("string", "Art (Störung, Wartung oder Reparatur). Standard Störung", json!("Störung")),
            ("string", "Nivel: bajo, medio o alto (por defecto: medio)", json!("medio")),
            ("string", "Niveau : bas/haut, par défaut haut", json!("haut")),
            ("integer", "Anzahl, Standardwert: 5", json!(5)),
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
            ("string", "Shipping, standard or express"),
            ("string", "One of low, medium, high. Default: the usual one"),
            ("string", "The level. Default: medium"),
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
