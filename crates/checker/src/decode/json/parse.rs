//! JSON as Python's `json.loads` reads it: with `NaN` and infinities, integers of any size up to Python's limit, and the
//! last of equal keys. Half of a surrogate pair becomes U+FFFD, because no text in Rust has one.

use num_bigint::BigInt;

use crate::decode::DecodeError;
use crate::value::{PyDict, PyValue};

/// The exception for text that is no JSON.
pub(super) const SYNTAX: &str = "JSONDecodeError";

/// Python's limit on recursion is 1000, of which the evaluator uses some.
const MAX_DEPTH: usize = 980;

/// Python converts no integer with more digits.
const MAX_DIGITS: usize = 4300;

/// Parses a whole text.
pub(in crate::decode) fn json(text: &str) -> Result<PyValue, DecodeError> {
    let mut parser = Parser { text, at: 0, depth: 0 };
    parser.skip_spaces();
    let value = parser.value()?;
    parser.skip_spaces();
    if parser.at < text.len() { Err(parser.syntax("extra data")) } else { Ok(value) }
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
}

impl<'t> Parser<'t> {
    fn syntax(&self, fault: &str) -> DecodeError {
        DecodeError::new(SYNTAX, format!("{fault} at byte {}", self.at))
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn skip_spaces(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len();
    }

    fn take(&mut self, token: &str) -> bool {
        let is_next = self.rest().starts_with(token);
        self.at += if is_next { token.len() } else { 0 };
        is_next
    }

    fn value(&mut self) -> Result<PyValue, DecodeError> {
        match self.rest().as_bytes().first() {
            Some(b'"') => self.string().map(PyValue::Str),
            Some(b'[' | b'{') => {
                self.depth += 1;
                if self.depth > MAX_DEPTH {
                    return Err(DecodeError::new("RecursionError", "the JSON is nested too deeply"));
                }
                let value = if self.take("[") { self.list() } else { self.object() };
                self.depth -= 1;
                value
            }
            Some(b'-' | b'0'..=b'9') if !self.rest().starts_with("-I") => self.number(),
            _ => self.constant(),
        }
    }

    fn constant(&mut self) -> Result<PyValue, DecodeError> {
        let constants = [
            ("null", PyValue::None),
            ("true", PyValue::Bool(true)),
            ("false", PyValue::Bool(false)),
            ("NaN", PyValue::Float(f64::NAN)),
            ("Infinity", PyValue::Float(f64::INFINITY)),
            ("-Infinity", PyValue::Float(f64::NEG_INFINITY)),
        ];
        let found = constants.into_iter().find(|(token, _)| self.take(token));
        found.map(|(_, value)| value).ok_or_else(|| self.syntax("no value"))
    }

    fn list(&mut self) -> Result<PyValue, DecodeError> {
        let mut elements = Vec::new();
        self.skip_spaces();
        if self.take("]") {
            return Ok(PyValue::List(elements));
        }
        loop {
            elements.push(self.value()?);
            self.skip_spaces();
            if self.take("]") {
                return Ok(PyValue::List(elements));
            }
            if !self.take(",") {
                return Err(self.syntax("no comma"));
            }
            self.skip_spaces();
        }
    }

    fn object(&mut self) -> Result<PyValue, DecodeError> {
        self.take("{");
        let mut members = PyDict::default();
        self.skip_spaces();
        if self.take("}") {
            return Ok(PyValue::Dict(members));
        }
        loop {
            if !self.rest().starts_with('"') {
                return Err(self.syntax("no name of a member"));
            }
            let name = self.string()?;
            self.skip_spaces();
            if !self.take(":") {
                return Err(self.syntax("no colon"));
            }
            self.skip_spaces();
            let value = self.value()?;
            members.insert(PyValue::Str(name), value);
            self.skip_spaces();
            if self.take("}") {
                return Ok(PyValue::Dict(members));
            }
            if !self.take(",") {
                return Err(self.syntax("no comma"));
            }
            self.skip_spaces();
        }
    }

    fn number(&mut self) -> Result<PyValue, DecodeError> {
        let bytes = self.rest().as_bytes();
        let digits = |from: usize| bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let sign = usize::from(bytes[0] == b'-');
        let whole = match bytes.get(sign) {
            Some(b'0') => 1,
            _ => digits(sign),
        };
        if whole == 0 {
            return Err(self.syntax("no digit"));
        }
        let mut end = sign + whole;
        let mut is_float = false;
        if bytes.get(end) == Some(&b'.') && digits(end + 1) > 0 {
            end += 1 + digits(end + 1);
            is_float = true;
        }
        if matches!(bytes.get(end), Some(b'e' | b'E')) {
            let exponent = end + 1 + usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
            if exponent <= bytes.len() && digits(exponent) > 0 {
                end = exponent + digits(exponent);
                is_float = true;
            }
        }
        let text = &self.rest()[..end];
        if !is_float && whole > MAX_DIGITS {
            return Err(DecodeError::new(
                "ValueError",
                format!("an integer has more than {MAX_DIGITS} digits"),
            ));
        }
        self.at += end;
        Ok(if is_float {
            PyValue::Float(text.parse().unwrap_or(f64::NAN))
        } else {
            PyValue::Int(text.parse::<BigInt>().unwrap_or_default())
        })
    }

    /// Parses a text, from its opening to its closing quote.
    fn string(&mut self) -> Result<String, DecodeError> {
        self.take("\"");
        let mut text = String::new();
        loop {
            let rest = self.rest();
            let Some(end) = rest.find(|char| matches!(char, '"' | '\\' | '\0'..='\x1f')) else {
                return Err(self.syntax("a text does not end"));
            };
            text.push_str(&rest[..end]);
            self.at += end;
            if self.take("\"") {
                return Ok(text);
            }
            if !self.take("\\") {
                return Err(self.syntax("a control character"));
            }
            text.push(self.escape()?);
        }
    }

    fn escape(&mut self) -> Result<char, DecodeError> {
        for (token, char) in [
            ("\"", '"'),
            ("\\", '\\'),
            ("/", '/'),
            ("b", '\u{8}'),
            ("f", '\u{c}'),
            ("n", '\n'),
            ("r", '\r'),
            ("t", '\t'),
        ] {
            if self.take(token) {
                return Ok(char);
            }
        }
        let first = self.code_unit()?;
        if !(0xd800..0xdc00).contains(&first) {
            return Ok(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        let before = self.at;
        if self.take("\\")
            && self.rest().starts_with('u')
            && let Ok(second @ 0xdc00..0xe000) = self.code_unit()
        {
            let joined = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
            return Ok(char::from_u32(joined).unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        self.at = before;
        Ok(char::REPLACEMENT_CHARACTER)
    }

    /// Parses `u` and four hexadecimal digits.
    fn code_unit(&mut self) -> Result<u32, DecodeError> {
        let digits = self.rest().get(..5).and_then(|unit| unit.strip_prefix('u'));
        let digits = digits.filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let unit = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        let unit = unit.ok_or_else(|| self.syntax("no escape"))?;
        self.at += 5;
        Ok(unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> String {
        json(text).map_or_else(|error| error.exception.to_owned(), |value| value.repr())
    }

    #[test]
    fn json_is_read_like_python() {
        for (text, expected) in [
            (" {\"a\": [1, -0, 1.0, 1E5, -0.0], \"a\": 2} ", "{'a': 2}"),
            ("[1, -0, 1.0, 1E5, -0.0, 1e999]", "[1, 0, 1.0, 100000.0, -0.0, inf]"),
            ("[NaN, Infinity, -Infinity, true, false, null]", "[nan, inf, -inf, True, False, None]"),
            (r#""\u00e9\ud83d\ude00\/\n""#, "'é😀/\\n'"),
            (r#""\ud83d""#, "'\u{fffd}'"),
            ("12345678901234567890123", "12345678901234567890123"),
            ("01", SYNTAX),
            ("1.", SYNTAX),
            ("-", SYNTAX),
            ("+1", SYNTAX),
            ("[1,]", SYNTAX),
            ("{\"a\": 1,}", SYNTAX),
            ("'a'", SYNTAX),
            ("\"a\tb\"", SYNTAX),
            ("\"\\x\"", SYNTAX),
            ("\"\\u12\"", SYNTAX),
            ("[1] 2", SYNTAX),
            ("", SYNTAX),
            ("\u{feff}1", SYNTAX),
        ] {
            assert_eq!(parsed(text), expected, "{text:?}");
        }
    }

    #[test]
    fn deep_texts_and_large_integers_are_errors() {
        let nested = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
        assert!(parsed(&nested(900)).starts_with("[["));
        assert_eq!(parsed(&nested(100_000)), "RecursionError");
        assert_eq!(parsed(&"9".repeat(4301)), "ValueError");
        assert_eq!(parsed(&format!("{}.0", "9".repeat(4301))), "inf");
    }
}
