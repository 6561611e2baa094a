//! The form of a text without its content: letters become `x`, digits `9`; keys and punctuation stay.
//!
//! The output is shown before anything was redacted, and recognisers miss names and addresses. So no word of a value is
//! shown at all.

use crate::text::short::shortened;

/// The maximum number of bytes of a text that are used.
const MAX_BYTES: usize = 400;
/// The maximum length of a key; a longer one is a sentence in quotes.
const MAX_KEY_CHARS: usize = 40;

/// Returns the form of a text's beginning, in one line of at most `max_chars` characters.
pub(super) fn form(text: &str, max_chars: usize) -> String {
    let text = beginning(text.trim());
    let mut form = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if let Some(key) = key(rest) {
            form += key;
            rest = &rest[key.len()..];
            continue;
        }
        form.push(mark(c));
        rest = &rest[c.len_utf8()..];
    }
    shortened(&form, max_chars)
}

/// Returns the form of bytes that may not be text.
pub(super) fn form_of_bytes(bytes: &[u8], max_chars: usize) -> String {
    form(&String::from_utf8_lossy(&bytes[..bytes.len().min(MAX_BYTES)]), max_chars)
}

fn beginning(text: &str) -> &str {
    let end = (0..=MAX_BYTES.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    &text[..end]
}

fn mark(c: char) -> char {
    match c {
        _ if c.is_numeric() => '9',
        _ if c.is_alphabetic() => 'x',
        _ if c.is_control() || c.is_whitespace() => ' ',
        // Combining marks and symbols could reveal content too.
        _ if c.is_ascii() => c,
        _ => '·',
    }
}

/// Returns the quoted key at the start of a text: an identifier followed by a colon.
fn key(text: &str) -> Option<&str> {
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let name = text[1..].split(quote).next()?;
    let is_name = is_plain(name) && text[1 + name.len()..].starts_with(quote);
    let end = name.len() + 2;
    (is_name && text.get(end..)?.trim_start().starts_with(':')).then(|| &text[..end])
}

/// Returns `true` if a name looks like an identifier: short, without sequences of digits, spaces and punctuation.
pub(super) fn is_plain(name: &str) -> bool {
    let digits = name.chars().filter(char::is_ascii_digit).count();
    !name.is_empty()
        && name.len() <= MAX_KEY_CHARS
        && digits <= 2
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_stay_and_values_lose_their_words() {
        let text =
            r#"{"prompt": "Mail jo@example.org, 17 März", 'user_id':  "ann", "Ann Lee": 3, "4155550100": 1}"#;
        let expected =
            r#"{"prompt": "xxxx xx@xxxxxxx.xxx, 99 xxxx", 'user_id':  "xxx", "xxx xxx": 9, "9999999999": 9}"#;
        assert_eq!(form(text, 200), expected);
        assert_eq!(form("{\"a\": \"tide\"}", 6), "{\"a\": …");
        assert_eq!(form_of_bytes(b"caf\xe9 \x00!", 9), "xxx·  !");
    }
}
