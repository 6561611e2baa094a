//! Strict JSON in one pass, with a record of repeated keys.
//!
//! It accepts and refuses exactly the texts that `serde_json` does, which the tests verify. It exists because
//! `serde_json` silently keeps the last of two equal keys, and a custom visitor would lose the digits of numbers
//! (`1.50`). Strings are scanned eight bytes at a time. Time is linear, depth is limited.

use serde_json::{Map, Value};
use thiserror::Error;

use crate::MAX_DEPTH;
use crate::allowance::{Allowance, BRACKET_BYTES, ELEMENT_BYTES, MEMBER_BYTES};
use crate::repeated::{Repeated, insert};

/// A value, and the repeated keys in it.
#[derive(Debug, PartialEq)]
pub struct Strict {
    /// The value.
    pub value: Value,
    /// Keys that occur twice in one object with different values.
    pub repeated: Vec<Repeated>,
}

/// The reason for which a text is not JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("expected {expected} at byte {at}")]
pub struct NotStrict {
    /// The byte at which reading stopped.
    pub at: usize,
    /// The missing text.
    pub expected: &'static str,
}

impl NotStrict {
    /// Returns true if the text was valid up to its end.
    pub fn is_at_end(self, text: &str) -> bool {
        self.at >= text.len()
    }
}

/// Reads a whole text.
///
/// # Errors
/// If `serde_json` would refuse it too.
pub fn read(text: &str) -> Result<Strict, NotStrict> {
    read_within(text, &Allowance::of(text))
}

/// Reads a whole text like [`read`], within an allowance.
///
/// # Errors
/// If `serde_json` would refuse it too, or its value would exceed the allowance.
pub fn read_within(text: &str, allowance: &Allowance) -> Result<Strict, NotStrict> {
    let mut reader = StrictReader::new(text, allowance);
    let value = allowance.attempt(|| reader.whole())?;
    Ok(Strict { value, repeated: reader.repeated })
}

/// Returns the value of a text if it is JSON and no key occurs twice with different values.
pub fn sure(text: &str) -> Option<Value> {
    read(text).ok().filter(|strict| strict.repeated.is_empty()).map(|strict| strict.value)
}

/// Returns the length of the value at the start of a text, or the place of the error.
///
/// # Errors
/// The byte at which the text is no JSON.
pub fn prefix_len(text: &str) -> Result<usize, usize> {
    let allowance = Allowance::of(text);
    let mut reader = StrictReader::new(text, &allowance);
    reader.value(0).map(|_| reader.at).map_err(|error| error.at)
}

struct StrictReader<'t> {
    text: &'t str,
    bytes: &'t [u8],
    at: usize,
    allowance: &'t Allowance,
    repeated: Vec<Repeated>,
}

impl<'t> StrictReader<'t> {
    fn new(text: &'t str, allowance: &'t Allowance) -> Self {
        Self { text, bytes: text.as_bytes(), at: 0, allowance, repeated: Vec::new() }
    }

    /// Reads a value with only whitespace around it.
    fn whole(&mut self) -> Result<Value, NotStrict> {
        self.skip_blanks();
        let value = self.value(0)?;
        self.skip_blanks();
        if self.at < self.text.len() { Err(self.expected("the end")) } else { Ok(value) }
    }

    fn value(&mut self, depth: usize) -> Result<Value, NotStrict> {
        match self.peek() {
            Some(b'"') => self.string().map(Value::String),
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word("true", Value::Bool(true)),
            Some(b'f') => self.word("false", Value::Bool(false)),
            Some(b'n') => self.word("null", Value::Null),
            _ => Err(self.expected("a value")),
        }
    }

    fn object(&mut self, depth: usize) -> Result<Value, NotStrict> {
        self.open(depth)?;
        let mut map = Map::new();
        if !self.closes(b'}') {
            self.take(BRACKET_BYTES)?;
            loop {
                self.take(MEMBER_BYTES)?;
                if self.peek() != Some(b'"') {
                    return Err(self.expected("a key in quotes"));
                }
                let start = self.at;
                let key = self.string()?;
                self.skip_blanks();
                self.eat(b':', "a colon")?;
                self.skip_blanks();
                let value = self.value(depth + 1)?;
                insert(&mut map, key, value, start, &mut self.repeated);
                if !self.goes_on(b'}', "a comma or a closing brace")? {
                    break;
                }
            }
        }
        Ok(Value::Object(map))
    }

    fn array(&mut self, depth: usize) -> Result<Value, NotStrict> {
        self.open(depth)?;
        let mut items = Vec::new();
        if !self.closes(b']') {
            self.take(BRACKET_BYTES)?;
            loop {
                self.take(ELEMENT_BYTES)?;
                items.push(self.value(depth + 1)?);
                if !self.goes_on(b']', "a comma or a closing bracket")? {
                    break;
                }
            }
        }
        Ok(Value::Array(items))
    }

    fn string(&mut self) -> Result<String, NotStrict> {
        let start = self.at + 1;
        self.at = start + plain_len(&self.bytes[start..]);
        if self.peek() == Some(b'"') {
            let text = self.text[start..self.at].to_owned();
            self.at += 1;
            return Ok(text);
        }
        let mut text = self.text[start..self.at].to_owned();
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(text);
                }
                Some(b'\\') => text.push(self.escape()?),
                _ => return Err(self.expected("the end of a string")),
            }
            let from = self.at;
            self.at += plain_len(&self.bytes[from..]);
            text.push_str(&self.text[from..self.at]);
        }
    }

    fn escape(&mut self) -> Result<char, NotStrict> {
        self.at += 1;
        let plain = match self.peek() {
            Some(byte @ (b'"' | b'\\' | b'/')) => byte,
            Some(b'b') => b'\x08',
            Some(b'f') => b'\x0c',
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b't') => b'\t',
            Some(b'u') => return self.utf16(),
            _ => return Err(self.expected("an escape that JSON supports")),
        };
        self.at += 1;
        Ok(char::from(plain))
    }

    /// Reads `uXXXX`, and the second half if it is the first half of a surrogate pair.
    fn utf16(&mut self) -> Result<char, NotStrict> {
        let first = self.unit()?;
        let is_high = (0xD800..0xDC00).contains(&first);
        if !is_high || !self.bytes[self.at..].starts_with(b"\\u") {
            return char::from_u32(first.into())
                .ok_or_else(|| self.expected("both halves of a surrogate pair"));
        }
        self.at += 1;
        let second = self.unit()?;
        let paired = char::decode_utf16([first, second]).next();
        paired.and_then(Result::ok).ok_or_else(|| self.expected("the second half of a surrogate pair"))
    }

    fn unit(&mut self) -> Result<u16, NotStrict> {
        self.at += 1;
        let mut unit = 0;
        for _ in 0..4 {
            let digit = self.peek().and_then(|byte| char::from(byte).to_digit(16));
            let digit = digit.and_then(|digit| u16::try_from(digit).ok());
            unit = unit << 4 | digit.ok_or_else(|| self.expected("four hexadecimal digits"))?;
            self.at += 1;
        }
        Ok(unit)
    }

    fn number(&mut self) -> Result<Value, NotStrict> {
        let start = self.at;
        self.at += usize::from(self.peek() == Some(b'-'));
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            self.at += usize::from(matches!(self.peek(), Some(b'+' | b'-')));
            self.digits()?;
        }
        let number = self.text[start..self.at].parse().map_err(|_| self.expected("a number"))?;
        Ok(Value::Number(number))
    }

    fn digits(&mut self) -> Result<(), NotStrict> {
        let rest = &self.bytes[self.at..];
        let n_digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += n_digits;
        if n_digits == 0 { Err(self.expected("a digit")) } else { Ok(()) }
    }

    fn word(&mut self, word: &str, value: Value) -> Result<Value, NotStrict> {
        let common = self.bytes[self.at..].iter().zip(word.bytes()).take_while(|(a, b)| **a == *b).count();
        self.at += common;
        if common == word.len() { Ok(value) } else { Err(self.expected("a value")) }
    }

    fn open(&mut self, depth: usize) -> Result<(), NotStrict> {
        if depth == MAX_DEPTH {
            return Err(self.expected("fewer brackets"));
        }
        self.at += 1;
        self.skip_blanks();
        Ok(())
    }

    fn take(&self, n_bytes: usize) -> Result<(), NotStrict> {
        if self.allowance.take(n_bytes) { Ok(()) } else { Err(self.expected("fewer values")) }
    }

    fn closes(&mut self, close: u8) -> bool {
        let closes = self.peek() == Some(close);
        self.at += usize::from(closes);
        closes
    }

    /// Skips a comma and returns true, or skips the closing bracket and returns false.
    fn goes_on(&mut self, close: u8, expected: &'static str) -> Result<bool, NotStrict> {
        self.skip_blanks();
        if self.closes(close) {
            return Ok(false);
        }
        self.eat(b',', expected)?;
        self.skip_blanks();
        Ok(true)
    }

    fn eat(&mut self, wanted: u8, expected: &'static str) -> Result<(), NotStrict> {
        if self.closes(wanted) { Ok(()) } else { Err(self.expected(expected)) }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn skip_blanks(&mut self) {
        while let Some(b' ' | b'\n' | b'\t' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    fn expected(&self, expected: &'static str) -> NotStrict {
        NotStrict { at: self.at, expected }
    }
}

/// Returns the number of bytes before a quote, a backslash, a control character or the end.
fn plain_len(bytes: &[u8]) -> usize {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const HIGHS: u64 = ONES << 7;
    let has_zero = |word: u64| word.wrapping_sub(ONES) & !word & HIGHS;
    let (words, _) = bytes.as_chunks::<8>();
    // Eight at once; a byte that may end the run is checked alone.
    let is_plain = |word: &&[u8; 8]| {
        let word = u64::from_ne_bytes(**word);
        let below_blank = word.wrapping_sub(ONES * 0x20) & !word & HIGHS;
        below_blank | has_zero(word ^ (ONES * 0x22)) | has_zero(word ^ (ONES * 0x5c)) == 0
    };
    let start = 8 * words.iter().take_while(is_plain).count();
    let is_plain = |byte: &&u8| **byte >= 0x20 && !matches!(**byte, b'"' | b'\\');
    start + bytes[start..].iter().take_while(is_plain).count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use callsieve_testkit::arbitrary;

    #[test]
    fn numbers_keep_their_digits_and_strings_their_characters() {
        let text = r#" [1.50, -0, 1e+400, "\ud83d\ude00\u00e9\/", "äöü"] "#;
        assert_eq!(read(text).unwrap().value.to_string(), r#"[1.50,-0,1e+400,"😀é/","äöü"]"#);
    }

    #[test]
    fn a_repeated_key_is_recorded_if_the_values_differ() {
        let read = read(r#"{"a": 1, "b": {"c": 2, "c": 2}, "a": 3}"#).unwrap();
        assert_eq!(read.value, json!({"a": 3, "b": {"c": 2}}));
        assert_eq!(read.repeated, [Repeated { key: "a".to_owned(), at: 32 }]);
    }

    #[test]
    fn a_truncated_text_is_refused_at_its_end() {
        for text in ["[1, ", "{\"a\"", "\"a", "tr", "-", "[1e", "\"\\", "\"\\u00"] {
            assert!(read(text).unwrap_err().is_at_end(text), "{text}");
        }
        assert!(!read("[1 2").unwrap_err().is_at_end("[1 2"));
    }

    /// Returns the printed result of the other reader, as the two must not differ in a single digit.
    fn reference(text: &str) -> Option<String> {
        serde_json::from_str::<Value>(text).ok().map(|value| value.to_string())
    }

    proptest! {
        #[test]
        fn printed_values_are_parsed_to_the_same_values(value in arbitrary::json_value()) {
            for text in [value.to_string(), serde_json::to_string_pretty(&value).unwrap()] {
                prop_assert_eq!(read(&text).unwrap().value.to_string(), value.to_string());
            }
        }

        #[test]
        fn any_text_is_read_like_by_the_other_reader(text in "([\\[\\]{},:\"\\\\]|\"a\"|\"\\\\u|d83d|dc00|[0-9.eE+-]|true|null|\u{1}|é| |\\\\n|[a-z]{7,9}){0,24}") {
            prop_assert_eq!(read(&text).ok().map(|read| read.value.to_string()), reference(&text));
        }
    }
}
