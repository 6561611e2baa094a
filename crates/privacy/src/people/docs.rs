//! Doc lists as text: the descriptions, which a recogniser reads, and the values that they offer, which stay.
//!
//! The text is searched for quoted strings with their keys, as JSON and Python write them. Other notations have no
//! descriptions here, so nothing in them is read; and a key, a name or a type is never a value.

use std::collections::BTreeSet;
use std::ops::Range;

use callsieve_text::words::for_each_word;

/// Keys of texts for people.
const DESCRIPTIONS: [&str; 5] = ["description", "summary", "docstring", "help", "comment"];
/// Keys whose strings are neither descriptions nor offered values.
const SYNTAX: [&str; 6] = ["name", "type", "format", "$ref", "required", "pattern"];
/// Minimum number of words of a description that is read.
const LEAST_WORDS: usize = 3;

/// The key of the name of a function.
const NAME: &str = "name";

/// Returns true for a sign of a function's name.
fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-')
}

/// A quoted string that is no key.
struct Literal<'t> {
    key: &'t str,
    bytes: Range<usize>,
}

/// Returns the places of the descriptions in a doc list, in order.
pub(crate) fn descriptions(text: &str) -> Vec<Range<usize>> {
    let is_read = |literal: &Literal<'_>| {
        DESCRIPTIONS.contains(&literal.key)
            && text[literal.bytes.clone()].split_whitespace().count() >= LEAST_WORDS
    };
    literals(text).into_iter().filter(is_read).map(|literal| literal.bytes).collect()
}

/// The words that a doc list offers as values: enumerations, defaults and examples; and its names of several parts.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct OfferedValues {
    words: String,
    /// The names of functions and parameters.
    names: BTreeSet<String>,
}

impl OfferedValues {
    /// Returns the values that a doc list offers.
    pub fn of(text: &str) -> Self {
        let (mut words, mut names) = (String::new(), BTreeSet::new());
        for literal in literals(text) {
            if literal.key == NAME && text[literal.bytes.clone()].chars().all(is_of_name) {
                names.insert(text[literal.bytes.clone()].to_owned());
            }
            if !DESCRIPTIONS.contains(&literal.key) && !SYNTAX.contains(&literal.key) {
                words += &words_of(&text[literal.bytes]);
            }
        }
        Self { words, names }
    }

    /// Returns true if the place is a part of a longer name of the doc list, or is called like a function: `ask_mira`,
    /// `mira(`. A name that is a person's too is not decided by that.
    pub(super) fn has_function_at(&self, text: &str, start: usize, end: usize) -> bool {
        let from = text[..start]
            .rfind(|c| !is_of_name(c))
            .map_or(0, |at| at + text[at..].chars().next().map_or(1, char::len_utf8));
        let to = text[end..].find(|c| !is_of_name(c)).map_or(text.len(), |at| end + at);
        let is_longer = from < start || to > end;
        (is_longer || text[to..].starts_with('(')) && self.names.contains(&text[from..to])
    }

    /// Returns true if all words of a value are offered, one after the other.
    pub(super) fn has(&self, value: &str) -> bool {
        let words = words_of(value);
        words.len() > 1 && self.words.contains(&words)
    }
}

/// Returns the words of a text in folded case, with a space before and after each.
fn words_of(text: &str) -> String {
    let mut words = " ".to_owned();
    for_each_word(text, |word| {
        words.push_str(word);
        words.push(' ');
    });
    words
}

/// Returns the quoted strings that are no keys, each with the key it is under. A string does not go over a line break.
fn literals(text: &str) -> Vec<Literal<'_>> {
    let bytes = text.as_bytes();
    let (mut found, mut keys) = (Vec::new(), vec![""]);
    // What was before: a single quote opens a string only where a value can be.
    let mut may_open = true;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' | b'\'' if byte == b'"' || may_open => {
                let Some(end) = end_of(bytes, at) else {
                    at += 1;
                    continue;
                };
                let follows = bytes[end + 1..].iter().position(|byte| !byte.is_ascii_whitespace());
                let is_key = follows.is_some_and(|offset| bytes[end + 1 + offset] == b':');
                let inside = at + 1..end;
                if is_key {
                    if let Some(last) = keys.last_mut() {
                        *last = &text[inside];
                    }
                } else {
                    let key = keys.last().copied().unwrap_or_default();
                    found.push(Literal { key, bytes: inside });
                }
                at = end;
                may_open = false;
            }
            b'[' => keys.push(keys.last().copied().unwrap_or_default()),
            b'{' => keys.push(""),
            b']' | b'}' if keys.len() > 1 => drop(keys.pop()),
            _ => {}
        }
        match bytes[at] {
            b'{' | b'[' | b'(' | b',' | b':' => may_open = true,
            byte if !byte.is_ascii_whitespace() => may_open = false,
            _ => {}
        }
        at += 1;
    }
    found
}

/// Returns the byte of the quote that closes the string opened at `start`.
fn end_of(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        match *bytes.get(at)? {
            b'\\' => at += 2,
            b'\n' => return None,
            byte if byte == bytes[start] => return Some(at),
            _ => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const JSON: &str = r#"[{"name": "Paris", "description": "Asks \"Mira\" for help.", "parameters": {"type": "dict",
        "properties": {"doctor": {"type": "string", "description": "The doctor", "enum": ["Dr. Adams", "Baker"]}}}}]"#;

    #[test]
    fn descriptions_of_some_words_are_read() {
        let read =
            |text: &str| descriptions(text).into_iter().map(|at| text[at].to_owned()).collect::<Vec<_>>();
        assert_eq!(read(JSON), [r#"Asks \"Mira\" for help."#]);
        assert_eq!(read("{'description': 'It is Mira\\'s bell', 'x': 1}"), ["It is Mira\\'s bell"]);
        assert_eq!(read("// the user's bell and Mira's\ndescription: call Mira now"), [""; 0]);
        assert_eq!(read("{\"description\": \"never closed"), [""; 0]);
    }

    #[test]
    fn values_that_a_list_offers_are_known_by_their_words() {
        let offered = OfferedValues::of(JSON);
        let has = |value: &str| offered.has(value);
        assert!(has("Adams") && has("dr. adams") && has("Baker"));
        assert!(!has("Paris") && !has("Mira") && !has("Adam") && !has("Adams Baker 2") && !has(""));
    }
}
