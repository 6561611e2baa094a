//! The form of a text without what it says: letters become `x`, digits `9`; keys and marks stay.
//!
//! Recognisers miss names and addresses, and what is shown here is looked at before anything
//! was redacted. So no word of a value is shown at all.

use crate::text::short::shortened;

/// Bytes of a text that are looked at.
const MAX_BYTES: usize = 400;
/// A longer key is no key, but a sentence in quotes.
const MAX_KEY_CHARS: usize = 40;

/// The form of a text's beginning, in one line of at most so many characters.
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

/// The form of bytes that may be no text.
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
        // Whatever a combining mark or a symbol could still say.
        _ if c.is_ascii() => c,
        _ => '·',
    }
}

/// The key in quotes that a text begins with: an identifier with a colon behind it.
fn key(text: &str) -> Option<&str> {
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let name = text[1..].split(quote).next()?;
    let is_name = is_plain(name) && text[1 + name.len()..].starts_with(quote);
    let end = name.len() + 2;
    (is_name && text.get(end..)?.trim_start().starts_with(':')).then(|| &text[..end])
}

/// Whether a name is one that a program gave: short, without digits in a row, blanks and marks.
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
