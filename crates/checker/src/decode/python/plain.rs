//! Calls with literals as arguments, which is what most outputs are, read without a syntax tree.
//!
//! Whatever is not of this form is left to the parser: escapes, prefixes and triple quotes of texts, exponents, operators,
//! calls as values, tuples, characters outside of ASCII in names, and every error. The parser is the oracle of the tests.

use num_bigint::BigInt;

use crate::value::{PyDict, PyValue};

/// Brackets inside each other; deeper texts are left to the parser.
const MAX_DEPTH: usize = 32;

/// Digits of an integer that fits into 64 bits for sure.
const MAX_DIGITS: usize = 18;

/// Words that are no names.
const KEYWORDS: [&str; 35] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def",
    "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is",
    "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
];

/// Returns the calls of a list; `None` if it has another form than the one read here.
pub(super) fn decode(text: &str) -> Option<PyValue> {
    let mut reader = PlainCallReader { text, at: 0 };
    reader.expect(b'[')?;
    let mut calls = Vec::new();
    reader.each(b']', |reader| {
        calls.push(reader.call()?);
        Some(())
    })?;
    (reader.at == text.len()).then_some(PyValue::List(calls))
}

struct PlainCallReader<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> PlainCallReader<'t> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Skips the spaces between tokens, which inside of brackets may be line feeds.
    fn skip_spaces(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n')) {
            self.at += 1;
        }
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        self.take(byte).then_some(())
    }

    fn take(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    /// Reads elements with commas between them, and perhaps one behind the last, up to the closing bracket.
    fn each(&mut self, close: u8, mut element: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.skip_spaces();
        while !self.take(close) {
            element(self)?;
            self.skip_spaces();
            if self.take(b',') {
                self.skip_spaces();
            } else if self.peek() != Some(close) {
                return None;
            }
        }
        Some(())
    }

    fn word(&mut self) -> Option<&'t str> {
        let rest = &self.text[self.at..];
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let end = rest.bytes().position(|byte| !is_part(&byte)).unwrap_or(rest.len());
        let word = &rest[..end];
        self.at += end;
        (!word.is_empty() && !word.as_bytes()[0].is_ascii_digit()).then_some(word)
    }

    fn name(&mut self) -> Option<&'t str> {
        self.word().filter(|word| !KEYWORDS.contains(word))
    }

    fn call(&mut self) -> Option<PyValue> {
        let start = self.at;
        self.name()?;
        while self.take(b'.') {
            self.name()?;
        }
        let name = PyValue::text(&self.text[start..self.at]);
        self.expect(b'(')?;
        let mut arguments = PyDict::default();
        self.each(b')', |reader| {
            let name = PyValue::text(reader.name()?);
            reader.skip_spaces();
            reader.expect(b'=')?;
            reader.skip_spaces();
            arguments.insert(name, reader.value(0)?);
            Some(())
        })?;
        Some(PyValue::Dict(PyDict::from_iter([(name, PyValue::Dict(arguments))])))
    }

    /// Reads a value. What follows it is a comma, a colon or a bracket, or the text is refused by the caller.
    fn value(&mut self, depth: usize) -> Option<PyValue> {
        match self.peek()? {
            _ if depth > MAX_DEPTH => None,
            quote @ (b'\'' | b'"') => self.string(quote).map(PyValue::text),
            b'-' => {
                self.at += 1;
                self.number(true)
            }
            b'0'..=b'9' => self.number(false),
            b'[' => {
                self.at += 1;
                let mut elements = Vec::new();
                self.each(b']', |reader| {
                    elements.push(reader.value(depth + 1)?);
                    Some(())
                })?;
                Some(PyValue::List(elements))
            }
            b'{' => {
                self.at += 1;
                self.members(depth + 1)
            }
            _ => match self.word()? {
                "True" => Some(PyValue::Bool(true)),
                "False" => Some(PyValue::Bool(false)),
                "None" => Some(PyValue::None),
                word => (!KEYWORDS.contains(&word)).then(|| PyValue::text(word)),
            },
        }
    }

    /// Reads a dict with texts as keys. Without members the braces are a dict too.
    fn members(&mut self, depth: usize) -> Option<PyValue> {
        let mut members = PyDict::default();
        self.each(b'}', |reader| {
            let quote = reader.peek().filter(|byte| matches!(byte, b'\'' | b'"'))?;
            let key = PyValue::text(reader.string(quote)?);
            reader.skip_spaces();
            reader.expect(b':')?;
            reader.skip_spaces();
            members.insert(key, reader.value(depth)?);
            Some(())
        })?;
        Some(PyValue::Dict(members))
    }

    /// Reads a text on one line without escapes.
    fn string(&mut self, quote: u8) -> Option<&'t str> {
        let rest = &self.text[self.at + 1..];
        let end = rest.bytes().position(|byte| byte == quote || matches!(byte, b'\\' | b'\n' | b'\r' | 0))?;
        if rest.as_bytes()[end] != quote {
            return None;
        }
        self.at += end + 2;
        // Three quotes begin another kind of text.
        (end > 0 || self.peek() != Some(quote)).then_some(&rest[..end])
    }

    /// Reads decimal digits, with a fraction perhaps.
    fn number(&mut self, is_negative: bool) -> Option<PyValue> {
        let start = self.at;
        let whole = self.digits()?;
        if whole.len() > MAX_DIGITS || (whole.len() > 1 && whole.starts_with('0')) {
            return None;
        }
        let is_float = self.take(b'.');
        if is_float {
            self.digits()?;
        }
        if matches!(self.peek(), Some(byte) if byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.')) {
            return None;
        }
        if is_float {
            let value: f64 = self.text[start..self.at].parse().ok()?;
            return Some(PyValue::Float(if is_negative { -value } else { value }));
        }
        let value: i64 = whole.parse().ok()?;
        Some(PyValue::Int(BigInt::from(if is_negative { -value } else { value })))
    }

    fn digits(&mut self) -> Option<&'t str> {
        let rest = &self.text[self.at..];
        let end = rest.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len());
        self.at += end;
        (end > 0).then(|| &rest[..end])
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{by_tree, decode as decode_any};
    use crate::mode::Mode;

    /// Decodes a text in both ways; returns whether it was read here.
    fn compared(text: &str) -> bool {
        let Some(here) = super::decode(text) else { return false };
        for mode in [Mode::Official, Mode::Strict] {
            let expected = by_tree(text, mode).map(|value| value.repr()).map_err(|error| error.exception);
            assert_eq!(Ok(here.repr()), expected, "{text:?}");
        }
        true
    }

    #[test]
    fn calls_with_literals_are_read_without_a_tree() {
        for text in [
            "[]",
            "[ring(bell=1)]",
            "[ring(bell=1), tower.ring(bell = 2 ,)]",
            "[ring(bell=-0, loud=-0.0, at=10.50, who='Ann', why=\"it's\", how=[1, [], {}], on={'a': True, \"b\": None})]",
            "[ring(\n  bell=true,\n  bell=False\n)]",
            "[ring(bell=''), ring(bell=\"é ß\")]",
        ] {
            assert!(compared(text), "{text:?} is left to the parser");
        }
        for text in [
            "",
            "ring(bell=1)",
            "[ring(bell=1)] # done",
            "[ring(1)]",
            "[ring(bell=(1, 2))]",
            "[ring(bell=01)]",
            "[ring(bell=1e5)]",
            "[ring(bell=1_0)]",
            "[ring(bell=.5)]",
            "[ring(bell=5.)]",
            "[ring(bell='a' 'b')]",
            "[ring(bell=r'a')]",
            "[ring(bell='''a''')]",
            "[ring(bell=a.b)]",
            "[ring(bell=1+1)]",
            "[ring(class=1)]",
            "[ring(bell=lambda)]",
            "[(ring)(a=1)]",
            "[ring(bell='a\\n')]",
            "[ring(bell='a\rb')]",
            "[ring(bell=é)]",
            "[ring(bell={1: 2})]",
            "[ring(bell=1]",
            "[ring(bell=1)",
            "[ring(bell==1)]",
            "[ring(a=1 b=2)]",
            "[ring()(a=1)]",
            "[,]",
            "[ring(,)]",
            "[ring(bell=5cm)]",
            "[1.ring(a=1)]",
        ] {
            assert!(!compared(text), "{text:?} is read here");
        }
        let deep = |n: usize| format!("[ring(a={}{})]", "[".repeat(n), "]".repeat(n));
        assert!(compared(&deep(30)) && !compared(&deep(60)));
        assert!(decode_any(&deep(60), Mode::Official).is_ok());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        /// Texts of tokens that calls are made of, well formed or not.
        #[test]
        fn what_is_read_here_is_what_the_parser_reads(
            tokens in prop::collection::vec(
                prop::sample::select(vec![
                    "ring", "a", "b", ".", "=", "(", ")", "[", "]", "{", "}", ",", ":", " ", "\n", "'", "\"", "'x'", "\"y\"", "''",
                    "1", "0", "-", "2.5", "-0.0", "True", "None", "not", "e5", "_", "\\", "é", "#", "a=1", "ring(", "b='c'", "{'k': ",
                ]),
                0..24,
            ),
        ) {
            compared(&tokens.concat());
            compared(&format!("[ring({})]", tokens.concat()));
            compared(&format!("[ring(a={})]", tokens.concat()));
        }
    }
}
