//! Where a string ends.
//!
//! A quote ends its string where what follows can follow a string in its place; any other is part of the text. A
//! string whose closing quote was forgotten ends where a bracket closes or a key begins. How far one looks ahead is
//! bounded, so that time stays linear in the text.

use crate::notation::json::marks::{bare_key, blanks_len, is_blank, plain_mark};

/// Where a string stands, which tells what can follow it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Key,
    /// The value of a key.
    Member,
    /// In a list or alone.
    Element,
    /// The value of a key or an element, written as one raw string.
    Raw,
}

/// How far to look past a quote for what follows it.
const MAX_LOOK_BYTES: usize = 1024;

/// The characters that may close a string opened with this one.
pub(super) fn closing(quote: char) -> Option<&'static str> {
    match quote {
        '"' => Some("\""),
        '\'' => Some("'"),
        '`' => Some("`"),
        '“' | '”' | '„' | '‟' | '«' | '»' | '＂' | '〝' => Some("”“„‟«»＂〞\""),
        '‘' | '’' | '‚' | '‛' | '＇' => Some("’‘‚‛＇'"),
        _ => None,
    }
}

/// Whether a colon stands at the start of a text.
pub(super) fn begins_with_colon(text: &str) -> bool {
    text.trim_start_matches(is_blank).starts_with([':', '：'])
}

/// Whether a bare key and a colon stand at the start of a text.
pub(super) fn has_colon(text: &str) -> bool {
    let name = bare_key(text);
    !name.is_empty() && begins_with_colon(&text[name.len()..])
}

/// Whether a string in this place can end where `after` follows.
pub(super) fn can_end(after: &str, place: Place) -> bool {
    let gap = blanks_len(near(after));
    let rest = &after[gap..];
    let Some(next) = rest.chars().next().map(plain_mark) else { return true };
    match next {
        ':' | '=' => place == Place::Key,
        ',' => place == Place::Key || comma_separates(&rest[rest.chars().next().map_or(1, char::len_utf8)..]),
        '}' | ']' | ')' => true,
        _ if place == Place::Key => false,
        '+' | ';' | '#' => true,
        '/' => rest.starts_with("//") || rest.starts_with("/*"),
        '\\' => rest[1..].starts_with(['n', 'r', 't', '\n']),
        c if closing(c).is_some() => true,
        _ => after[..gap].contains('\n') && has_colon(rest),
    }
}

/// Whether a bracket closes or a key in quotes begins here, as after a string that should have ended before.
pub(super) fn structure_follows(text: &str, place: Place) -> bool {
    let rest = &text[blanks_len(near(text))..];
    let after = |rest: &str| rest.trim_start_matches(is_blank).chars().next().map(plain_mark);
    match rest.chars().next() {
        _ if place == Place::Key => false,
        Some('}' | ']') => after(&rest[1..]).is_none_or(|next| matches!(next, ',' | '}' | ']')),
        Some(quote @ ('"' | '\'')) => {
            let name = bare_key(near(&rest[1..]));
            let behind = &rest[1 + name.len()..];
            !name.is_empty() && behind.strip_prefix(quote).and_then(after) == Some(':')
        }
        _ => false,
    }
}

/// The text without the comma that was meant to stand behind it.
pub(super) fn without_comma(text: &str) -> &str {
    text.trim_end().trim_end_matches(',')
}

/// Whether what follows a comma can follow one between values.
fn comma_separates(after: &str) -> bool {
    const WORDS: [&str; 8] = ["true", "false", "null", "True", "False", "None", "undefined", "NaN"];
    let rest = &after[blanks_len(near(after))..];
    let Some(next) = rest.chars().next().map(plain_mark) else { return true };
    if !next.is_alphabetic() && !matches!(next, '_' | '$') {
        return true;
    }
    let word = bare_key(near(rest));
    let after = &rest[word.len()..];
    WORDS.contains(&word) || has_colon(near(rest)) || after.is_empty() || after.starts_with(['"', '\'', '('])
}

/// The beginning of a text, as far as one looks ahead.
fn near(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_LOOK_BYTES)]
}
