//! Undoes one encoding of a whole text.
//!
//! Supported: HTML entities, the doubled quotes of CSV cells, and the backslashes of strings that lost their outer
//! quotes. The first quote of the text decides, as none of these encodings leaves it bare. A text with such marks only
//! inside its strings is unchanged.

use super::step::ParseStep;
use callsieve_notation::json::marks::is_blank;

/// The longest supported entity, without its ampersand.
const MAX_ENTITY_BYTES: usize = 9;

/// Returns the text with one encoding undone, if it is encoded.
pub(super) fn decode(text: &str) -> Option<(ParseStep, String)> {
    if has_entities(text) {
        return Some((ParseStep::HtmlEntities, without_entities(text)));
    }
    if let Some(cell) = csv_cell(text) {
        return Some((ParseStep::CsvQuotes, cell.replace("\"\"", "\"")));
    }
    is_escaped(text).then(|| (ParseStep::EscapedJson, unescaped(text)))
}

/// Returns true if the first quote of the text is an entity, possibly escaped twice.
fn has_entities(text: &str) -> bool {
    const QUOTES: [&str; 9] =
        ["quot;", "#34;", "#034;", "#x22;", "#39;", "#039;", "#x27;", "apos;", "lsquo;"];
    let quote = text.find(['"', '\'']).unwrap_or(text.len());
    text[..quote].match_indices('&').any(|(at, _)| {
        let mut name = &text[at + 1..];
        while let Some(inner) = name.strip_prefix("amp;") {
            name = inner;
        }
        QUOTES
            .iter()
            .any(|entity| name.get(..entity.len()).is_some_and(|name| name.eq_ignore_ascii_case(entity)))
    })
}

fn without_entities(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        plain.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        match entity(rest) {
            Some((c, len)) => {
                plain.push(c);
                rest = &rest[len..];
            }
            None => plain.push('&'),
        }
    }
    plain + rest
}

/// Returns the character of the entity after an ampersand, and its length in bytes.
fn entity(text: &str) -> Option<(char, usize)> {
    let len = text.bytes().take(MAX_ENTITY_BYTES).position(|byte| byte == b';')?;
    let name = &text[..len];
    let c = match name.strip_prefix('#') {
        Some(number) => {
            let hex = number.strip_prefix(['x', 'X']);
            let code = hex.map_or_else(|| number.parse().ok(), |hex| u32::from_str_radix(hex, 16).ok());
            char::from_u32(code?)?
        }
        None => named(name)?,
    };
    Some((c, len + 1))
}

/// Returns the character of a named entity: those that escaping writes, and JSON's punctuation.
fn named(name: &str) -> Option<char> {
    const NAMED: [(&str, char); 18] = [
        ("quot", '"'),
        ("QUOT", '"'),
        ("apos", '\''),
        ("amp", '&'),
        ("AMP", '&'),
        ("lt", '<'),
        ("gt", '>'),
        ("nbsp", '\u{a0}'),
        ("lbrace", '{'),
        ("lcub", '{'),
        ("rbrace", '}'),
        ("rcub", '}'),
        ("lbrack", '['),
        ("lsqb", '['),
        ("rbrack", ']'),
        ("rsqb", ']'),
        ("colon", ':'),
        ("comma", ','),
    ];
    NAMED.iter().find(|(known, _)| *known == name).map(|(_, c)| *c)
}

/// Returns the content of a CSV cell, with its quotes still doubled.
fn csv_cell(text: &str) -> Option<&str> {
    let is_doubled = |text: &str| {
        let mut quotes = text.split(|c| c != '"').filter(|run| !run.is_empty());
        text.contains("\"\"") && quotes.all(|run| run.len() % 2 == 0)
    };
    if let Some(inner) = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) {
        let begins = inner.trim_start().starts_with(['[', '{']);
        return (begins && is_doubled(inner)).then_some(inner);
    }
    let first = text.find('"')?;
    let begins = text.starts_with(['[', '{']) && text[first..].starts_with("\"\"");
    // An empty string is also two quotes, but punctuation follows it.
    let is_punctuated =
        text[first..].trim_start_matches('"').starts_with(|c: char| c == '_' || c.is_alphanumeric());
    (begins && is_punctuated && is_doubled(text)).then_some(text)
}

/// Returns true if a backslash follows the opening brackets: `{\"name\": …`, `{\n  "name": …`.
fn is_escaped(text: &str) -> bool {
    let inner = text.trim_start_matches(|c| matches!(c, '[' | '{' | '(') || is_blank(c));
    let escaped =
        inner.strip_prefix('\\').is_some_and(|rest| rest.starts_with(['"', '\'', '\\', 'n', 'r', 't']));
    escaped && inner.len() < text.len()
}

/// Returns the text with one layer of backslashes removed.
fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        plain.push_str(&rest[..at]);
        let mut chars = rest[at + 1..].chars();
        match chars.next() {
            Some(c @ ('"' | '\'' | '\\' | '/')) => plain.push(c),
            Some('n') => plain.push('\n'),
            Some('r') => plain.push('\r'),
            Some('t') => plain.push('\t'),
            Some('b') => plain.push('\x08'),
            Some('f') => plain.push('\x0c'),
            // An escape within an escape belongs to the inner layer.
            Some(c) => plain.extend(['\\', c]),
            // An escape truncated at the end has no meaning.
            None => {}
        }
        rest = chars.as_str();
    }
    plain + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(text: &str) -> Option<String> {
        decode(text).map(|(_, plain)| plain)
    }

    #[test]
    fn entities_are_decoded_if_the_first_quote_is_one() {
        assert_eq!(decoded("{&quot;a&#34;: &#x27;b&apos;}").as_deref(), Some("{\"a\": 'b'}"));
        assert_eq!(decoded("{&amp;quot;a&amp;quot;: 1}").as_deref(), Some("{&quot;a&quot;: 1}"));
        assert_eq!(
            decoded("&#91;{&quot;a&quot;: &quot;x &lt; y &unknown; & z&quot;}]").as_deref(),
            Some("[{\"a\": \"x < y &unknown; & z\"}]")
        );
        assert_eq!(decoded("{\"a\": \"&quot;b&quot;\",}"), None);
    }

    #[test]
    fn doubled_quotes_are_decoded_with_and_without_the_outer_ones() {
        for text in [r#"[{""a"": ""b""}]"#, r#""[{""a"": ""b""}]""#] {
            assert_eq!(decoded(text).as_deref(), Some(r#"[{"a": "b"}]"#));
        }
        assert_eq!(decoded(r#"{""a"": """"}"#).as_deref(), Some(r#"{"a": ""}"#));
        assert_eq!(decoded(r#"{"": 1, "a": ""}"#), None);
        assert_eq!(decoded(r#"["", "a",]"#), None);
    }

    #[test]
    fn one_layer_of_backslashes_is_removed() {
        assert_eq!(decoded(r#"{\"a\": \"x \\\"y\\\"\"}"#).as_deref(), Some(r#"{"a": "x \"y\""}"#));
        assert_eq!(decoded(r#"[\n  {"a": 1}\n]"#).as_deref(), Some("[\n  {\"a\": 1}\n]"));
        assert_eq!(decoded(r#"{"a": "\"b\"",}"#), None);
    }
}
