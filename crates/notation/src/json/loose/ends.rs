//! Finds the end of a string.
//!
//! A quote ends its string if the following text can follow a string at that place; otherwise it is part of the text. A
//! string without a closing quote ends where a bracket closes or a key begins. The lookahead is limited, so time is
//! linear in the text.

use crate::json::marks::{bare_key, blanks_len, is_blank, plain_mark};

/// The place of a string, which decides what can follow it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StringPlace {
    Key,
    /// The value of a key.
    Member,
    /// An element of a list, or the whole text.
    Element,
    /// The value of a key or an element, written as one raw string.
    Raw,
}

/// Maximum lookahead after a quote.
const MAX_LOOK_BYTES: usize = 1024;

/// Returns the characters that may close a string opened with this one.
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

/// Returns true if a text begins with a colon.
pub(super) fn begins_with_colon(text: &str) -> bool {
    text.trim_start_matches(is_blank).starts_with([':', '：'])
}

/// Returns true if a text begins with a bare key and a colon.
pub(super) fn has_colon(text: &str) -> bool {
    let name = bare_key(text);
    !name.is_empty() && begins_with_colon(&text[name.len()..])
}

/// Returns true if a string at this place can end before `after`.
pub(super) fn can_end(after: &str, place: StringPlace) -> bool {
    let gap = blanks_len(near(after));
    let rest = &after[gap..];
    let Some(next) = rest.chars().next().map(plain_mark) else { return true };
    match next {
        ':' | '=' => place == StringPlace::Key,
        ',' => {
            place == StringPlace::Key
                || comma_separates(&rest[rest.chars().next().map_or(1, char::len_utf8)..])
        }
        '}' | ']' | ')' => true,
        _ if place == StringPlace::Key => false,
        '+' | ';' | '#' => true,
        '/' => rest.starts_with("//") || rest.starts_with("/*"),
        '\\' => rest[1..].starts_with(['n', 'r', 't', '\n']),
        c if closing(c).is_some() => true,
        _ => after[..gap].contains('\n') && has_colon(rest),
    }
}

/// Returns true if a bracket closes or a quoted key begins here, as after a string without a closing quote.
pub(super) fn structure_follows(text: &str, place: StringPlace) -> bool {
    let rest = &text[blanks_len(near(text))..];
    let after = |rest: &str| rest.trim_start_matches(is_blank).chars().next().map(plain_mark);
    match rest.chars().next() {
        _ if place == StringPlace::Key => false,
        Some('}' | ']') => after(&rest[1..]).is_none_or(|next| matches!(next, ',' | '}' | ']')),
        Some(quote @ ('"' | '\'')) => {
            let name = bare_key(near(&rest[1..]));
            let behind = &rest[1 + name.len()..];
            !name.is_empty() && behind.strip_prefix(quote).and_then(after) == Some(':')
        }
        _ => false,
    }
}

/// Returns the text without a final comma that belongs after it.
pub(super) fn without_comma(text: &str) -> &str {
    text.trim_end().trim_end_matches(',')
}

/// Returns true if the text after a comma can follow a comma between values.
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

/// Returns the start of a text, up to the maximum lookahead.
fn near(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_LOOK_BYTES)]
}
