//! Shapes of ids that a path itself shows: with `"seat_id": "S-101"` in a result, `S-987` is an id as well, though it is too short to look
//! like one.

use std::collections::BTreeSet;
use std::ops::Range;

use callsieve_bfcl::conversation::{Message, Role};
use serde_json::Value as Json;

use super::mentions::{lower, run_end};

/// Last words of keys whose values are ids, in lower case.
const ID_WORDS: [&str; 8] = ["id", "ids", "uuid", "sku", "ref", "reference", "code", "key"];
/// Characters of a value that shows a shape.
const MIN_CHARS: usize = 3;
/// Keys of an object that are ids if so many have one shape.
const MIN_KEYS: usize = 2;

/// Digits of an id that has the form of known ones with other letters; names of things such as `B-52` have fewer.
const MIN_DIGITS: usize = 3;

/// Shapes of ids.
pub(super) struct Shapes {
    /// Letters in lower case as they are, `9` for each run of digits.
    exact: BTreeSet<String>,
    /// `a` for each letter of those whose parts are joined.
    forms: BTreeSet<String>,
}

impl Shapes {
    /// Learns from results and arguments.
    pub(super) fn of(messages: &[Message]) -> Self {
        let mut shapes = Self { exact: BTreeSet::new(), forms: BTreeSet::new() };
        for message in messages {
            if message.role == Role::Tool
                && let Ok(result) = serde_json::from_str(&message.content)
            {
                shapes.learn("", &result);
            }
            for call in &message.calls {
                shapes.learn("", &call.arguments);
            }
        }
        shapes
    }

    fn learn(&mut self, key: &str, value: &Json) {
        match value {
            Json::String(text) if is_id_key(key) => self.add(shape(text)),
            Json::Array(items) => items.iter().for_each(|item| self.learn(key, item)),
            Json::Object(entries) => {
                let of_keys: Vec<String> = entries.keys().filter_map(|key| shape(key)).collect();
                if of_keys.len() == entries.len()
                    && of_keys.len() >= MIN_KEYS
                    && of_keys.iter().all(|it| *it == of_keys[0])
                {
                    self.add(of_keys.into_iter().next());
                }
                entries.iter().for_each(|(key, value)| self.learn(key, value));
            }
            _ => {}
        }
    }

    fn add(&mut self, shape: Option<String>) {
        let Some(shape) = shape else { return };
        self.forms.extend(shape.contains(['-', '_']).then(|| form(&shape)));
        self.exact.insert(shape);
    }

    /// Returns whether a text is an id by its shape.
    pub(super) fn has(&self, text: &str) -> bool {
        let is_long = || text.bytes().filter(u8::is_ascii_digit).count() >= MIN_DIGITS;
        shape(text).is_some_and(|shape| {
            self.exact.contains(&shape) || (is_long() && self.forms.contains(&form(&shape)))
        })
    }

    /// Returns the places of ids in a text, in characters.
    pub(super) fn ids(&self, chars: &[char]) -> Vec<Range<usize>> {
        let (mut found, mut at) = (Vec::new(), 0);
        while at < chars.len() && !self.exact.is_empty() {
            let end = token_end(chars, at);
            if self.has(&lower(&chars[at..end])) {
                found.push(at..end);
            }
            at = end.max(at + 1);
        }
        found
    }
}

/// Returns the end of a run of letters and digits whose parts are joined by `-` or `_`.
fn token_end(chars: &[char], at: usize) -> usize {
    let mut end = run_end(chars, at);
    while end > at && matches!(chars.get(end), Some('-' | '_')) && run_end(chars, end + 1) > end + 1 {
        end = run_end(chars, end + 1);
    }
    end
}

/// Returns whether the values of a key are ids: its last word says so.
pub(super) fn is_id_key(key: &str) -> bool {
    let start = key.rfind(|c: char| !c.is_ascii_alphanumeric()).map_or(0, |at| at + 1);
    let word = &key[start..];
    let is_word = |word: &str| ID_WORDS.contains(&word.to_ascii_lowercase().as_str());
    // `orderId`
    let capital =
        word.rfind(|c: char| c.is_ascii_uppercase()).filter(|at| *at > 0).map_or("", |at| &word[at..]);
    is_word(word) || is_word(capital)
}

/// Returns a shape with `a` for each letter.
fn form(shape: &str) -> String {
    shape.chars().map(|c| if c.is_ascii_alphabetic() { 'a' } else { c }).collect()
}

/// Returns the shape of a value of ASCII letters and digits with `-` and `_` between them; `None` without both.
fn shape(text: &str) -> Option<String> {
    let is_joined = text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    let has = |of: fn(&u8) -> bool| text.as_bytes().iter().any(of);
    if !is_joined || text.len() < MIN_CHARS || !has(u8::is_ascii_digit) || !has(u8::is_ascii_alphabetic) {
        return None;
    }
    let mut shape = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '0'..='9' if shape.ends_with('9') => {}
            '0'..='9' => shape.push('9'),
            c => shape.push(c.to_ascii_lowercase()),
        }
    }
    Some(shape)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shapes(result: &Json) -> Shapes {
        Shapes::of(&[Message::text(Role::Tool, result.to_string())])
    }

    #[test]
    fn values_of_keys_that_are_ids_show_their_shape() {
        let shapes = shapes(
            &json!({"seat_id": "S-101", "orderId": "b77", "label": "Q-3", "P1x": {}, "prices": {"T1a": 1, "T2a": 2}}),
        );
        for (text, is_id) in [
            ("S-9", true),
            ("s-987", true),
            ("B1234", true),
            ("T9A", true),
            ("Q-4", false),
            ("Q-456", true),
            ("P2x", false),
        ] {
            assert_eq!(shapes.has(text), is_id, "{text}");
        }
        let chars: Vec<char> = "Seats S-5, XS-7 and b99.".chars().collect();
        assert_eq!(shapes.ids(&chars), [6..9, 20..23]);
    }

    #[test]
    fn values_without_letters_or_digits_show_none() {
        let shapes = shapes(&json!({"id": "101", "code": "USD", "ref": "a", "key": "two words 2"}));
        assert!(shapes.exact.is_empty());
    }

    #[test]
    fn keys_of_ids_are_found_by_their_last_word() {
        for (key, is_id) in [
            ("id", true),
            ("order_id", true),
            ("orderId", true),
            ("ID", true),
            ("paid", false),
            ("id_type", false),
        ] {
            assert_eq!(is_id_key(key), is_id, "{key}");
        }
    }
}
