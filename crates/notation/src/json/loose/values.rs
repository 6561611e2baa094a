//! Objects, lists, words and numbers, in every form with a clear meaning.

use serde_json::{Map, Number, Value};

use super::ends::StringPlace;
use super::{LooseReader, Stop, StopKind};
use crate::MAX_DEPTH;
use crate::allowance::{BRACKET_BYTES, ELEMENT_BYTES, MEMBER_BYTES};
use crate::json::marks::bare_key;
use crate::repeated::insert;

/// A key, or the text in its place.
enum Key {
    Quoted(String),
    Bare(String),
    /// The text ends inside the key.
    Cut,
}

impl LooseReader<'_> {
    /// Reads a value; `None` if the text ends before it has a meaning, or an ellipsis replaces it.
    pub(super) fn value(&mut self) -> Result<Option<Value>, Stop> {
        self.value_at(StringPlace::Element)
    }

    fn value_at(&mut self, place: StringPlace) -> Result<Option<Value>, Stop> {
        self.skip_blanks();
        let Some(mark) = self.mark() else {
            self.cut();
            return Ok(None);
        };
        if self.quote_is_next() {
            return self.strings(place).map(|text| text.map(Value::String));
        }
        match mark {
            '{' => self.object().map(Some),
            '[' => self.list(']').map(|(items, _)| Some(Value::Array(items))),
            '(' => self.tuple().map(Some),
            '.' | '…' if self.ellipsis() => Ok(None),
            '-' | '+' | '.' | '0'..='9' => self.number(),
            _ => self.word(place),
        }
    }

    fn object(&mut self) -> Result<Value, Stop> {
        self.push('{', '}')?;
        let mut map = Map::new();
        let mut elements = Vec::new();
        while self.goes_on('}')? {
            self.take(MEMBER_BYTES)?;
            let n_before = map.len() + elements.len();
            self.member(&mut map, &mut elements)?;
            self.separator(n_before < map.len() + elements.len());
        }
        Ok(if elements.is_empty() { Value::Object(map) } else { Value::Array(elements) })
    }

    /// Reads the elements up to the closing bracket, and returns true if there was a comma.
    fn list(&mut self, close: char) -> Result<(Vec<Value>, bool), Stop> {
        self.push(if close == ']' { '[' } else { '(' }, close)?;
        let mut items = Vec::new();
        let mut has_comma = false;
        while self.goes_on(close)? {
            self.take(ELEMENT_BYTES)?;
            let item = self.value()?;
            let is_there = item.is_some();
            items.extend(item);
            has_comma |= self.separator(is_there);
        }
        let is_in_list = self.open.last() == Some(&']');
        if is_in_list && matches!(items.first(), Some(Value::Object(_) | Value::Array(_))) {
            self.inner_list_end = Some(self.at);
        }
        Ok((items, has_comma))
    }

    fn tuple(&mut self) -> Result<Value, Stop> {
        self.notes.is_python = true;
        let (mut items, has_comma) = self.list(')')?;
        match items.pop() {
            Some(only) if items.is_empty() && !has_comma => Ok(only),
            last => {
                items.extend(last);
                Ok(Value::Array(items))
            }
        }
    }

    fn push(&mut self, open: char, close: char) -> Result<(), Stop> {
        if self.open.len() >= MAX_DEPTH {
            let message = format!("more than {MAX_DEPTH} brackets deep");
            return Err(Stop { kind: StopKind::TooDeep, at: self.at, message });
        }
        self.step_over(open);
        self.open.push(close);
        self.take(BRACKET_BYTES)
    }

    pub(super) fn take(&self, n_bytes: usize) -> Result<(), Stop> {
        if self.allowance.take(n_bytes) {
            return Ok(());
        }
        let message = "the text would become too large".to_owned();
        Err(Stop { kind: StopKind::TooLarge, at: self.at, message })
    }

    /// Returns true if another element follows in the innermost bracket; otherwise closes it.
    fn goes_on(&mut self, close: char) -> Result<bool, Stop> {
        loop {
            self.skip_blanks();
            match self.mark() {
                None => self.cut(),
                Some(mark) if mark == close => self.step_over(mark),
                // An outer bracket closes: the closing bracket of this one is missing.
                Some(mark @ (']' | '}' | ')')) if self.open.contains(&mark) => self.likely(),
                Some(']' | '}' | ')') => return Err(self.beyond(&format!("`{close}`"))),
                Some(',') => {
                    // In a list an empty element may be intended.
                    if close == '}' {
                        self.slip();
                    } else {
                        self.likely();
                    }
                    self.step_over(',');
                    continue;
                }
                Some('.' | '…') if self.ellipsis() => {
                    self.skip_blanks();
                    self.eat(',');
                    continue;
                }
                Some(_) => return Ok(true),
            }
            self.open.pop();
            return Ok(false);
        }
    }

    /// Skips the comma after an element, and returns true if there was one.
    fn separator(&mut self, was_read: bool) -> bool {
        self.skip_blanks();
        if self.mark() == Some(';') {
            self.slip();
            self.step_over(';');
            return true;
        }
        if self.eat(',') {
            return true;
        }
        if was_read && self.mark().is_some_and(|mark| !matches!(mark, ']' | '}' | ')' | '.' | '…')) {
            self.slip();
        }
        false
    }

    fn member(&mut self, map: &mut Map<String, Value>, elements: &mut Vec<Value>) -> Result<(), Stop> {
        let start = self.at;
        let (key, is_quoted) = match self.key()? {
            Key::Quoted(key) => (key, true),
            Key::Bare(key) => (key, false),
            Key::Cut => return Ok(()),
        };
        self.skip_blanks();
        match self.mark() {
            None => self.cut(),
            Some(':' | '=') if elements.is_empty() => {
                self.colon();
                if let Some(value) = self.value_at(StringPlace::Member)? {
                    insert(map, key, value, start, &mut self.notes.repeated);
                }
            }
            Some(',' | '}') if map.is_empty() && is_quoted => {
                self.notes.is_python = true;
                elements.push(Value::String(key));
            }
            Some(_) => return Err(self.beyond("a colon")),
        }
        Ok(())
    }

    /// Skips the colon, or its equivalent in other languages: `=>`, `=`.
    fn colon(&mut self) {
        if self.eat('=') {
            self.slip();
            self.eat('>');
        } else {
            self.eat(':');
        }
    }

    fn key(&mut self) -> Result<Key, Stop> {
        if self.quote_is_next() {
            return Ok(self.string(StringPlace::Key)?.map_or(Key::Cut, Key::Quoted));
        }
        let name = bare_key(self.rest());
        if name.is_empty() {
            return Err(self.beyond("a key"));
        }
        self.at += name.len();
        if self.quote_is_next() {
            self.after_half_quoted_key(name)?;
        }
        if self.rest().is_empty() {
            self.cut();
            return Ok(Key::Cut);
        }
        Ok(Key::Bare(name.to_owned()))
    }

    /// Handles a key without its opening quote, unless its letters are a prefix: `u'name'`.
    fn after_half_quoted_key(&mut self, name: &str) -> Result<(), Stop> {
        let quote = self.peek().map_or(0, char::len_utf8);
        let after = self.rest()[quote..].trim_start();
        if !after.starts_with([':', '：']) {
            self.at -= name.len();
            return Err(self.beyond("a key"));
        }
        self.slip();
        self.at += quote;
        Ok(())
    }

    fn number(&mut self) -> Result<Option<Value>, Stop> {
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '+' | '-');
        let rest = self.rest();
        let written = &rest[..rest.find(|c| !is_part(c)).unwrap_or(rest.len())];
        let unsigned = written.trim_start_matches(['+', '-']);
        if written.len() - unsigned.len() < 2 && unsigned.starts_with(|c: char| c.is_ascii_alphabetic()) {
            self.at += written.len() - unsigned.len();
            return self.word(StringPlace::Element);
        }
        if let Some(number) = json_number(written) {
            self.at += written.len();
            return Ok(Some(Value::Number(number)));
        }
        if written.len() == rest.len() && json_number(&format!("{written}0")).is_some() {
            self.at = self.text.len();
            self.cut();
            return Ok(None);
        }
        Err(self.beyond("a number"))
    }

    fn word(&mut self, place: StringPlace) -> Result<Option<Value>, Stop> {
        let word = bare_word(self.rest());
        if word.is_empty() {
            return Err(self.beyond("a value"));
        }
        let after = &self.rest()[word.len()..];
        if after.starts_with(['"', '\'', '`']) {
            return self.prefixed(word, place);
        }
        if after.trim_start_matches([' ', '\t']).starts_with('(') {
            return Err(self.program(&format!("`{word}(` is a call, not a value")));
        }
        let value = match word {
            "true" | "True" | "TRUE" => Value::Bool(true),
            "false" | "False" | "FALSE" => Value::Bool(false),
            "null" | "None" | "NULL" => Value::Null,
            "NaN" | "nan" | "Infinity" | "inf" | "undefined" => {
                self.notes.no_value.get_or_insert(self.at);
                Value::Null
            }
            _ if after.is_empty() && WORDS.iter().any(|whole| whole.starts_with(word)) => {
                self.at = self.text.len();
                self.cut();
                return Ok(None);
            }
            _ => return Err(self.beyond("a value")),
        };
        self.notes.is_python |= matches!(word, "True" | "False" | "None" | "nan" | "inf");
        self.at += word.len();
        Ok(Some(value))
    }

    /// Reads a string after the letters of its prefix.
    fn prefixed(&mut self, prefix: &str, place: StringPlace) -> Result<Option<Value>, Stop> {
        match prefix {
            "u" | "U" | "r" | "R" => {
                self.notes.is_python = true;
                self.at += prefix.len();
                let text =
                    self.strings(if prefix.eq_ignore_ascii_case("r") { StringPlace::Raw } else { place })?;
                Ok(text.map(Value::String))
            }
            "f" | "F" | "rf" | "fr" | "b" | "B" | "rb" | "br" | "t" => {
                Err(self.program(&format!("a string with the prefix `{prefix}` is not plain text")))
            }
            _ => Err(self.beyond("a value")),
        }
    }
}

/// Words of which a truncated word may be the beginning.
const WORDS: [&str; 9] = ["true", "false", "null", "True", "False", "None", "undefined", "NaN", "Infinity"];

fn bare_word(text: &str) -> &str {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '.');
    let word = &text[..text.find(|c| !is_part(c)).unwrap_or(text.len())];
    if word.starts_with(|c: char| c.is_alphabetic() || matches!(c, '_' | '$')) { word } else { "" }
}

/// Returns the JSON number for a JavaScript or Python number, digit for digit.
fn json_number(written: &str) -> Option<Number> {
    let (sign, digits) = match written.as_bytes().first()? {
        b'-' => ("-", &written[1..]),
        b'+' => ("", &written[1..]),
        _ => ("", written),
    };
    if digits.starts_with(['+', '-']) {
        return None;
    }
    if let Some(hex) = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        // `from_str_radix` accepts a sign, which is invalid after the prefix.
        if !hex.starts_with(|c: char| c.is_ascii_hexdigit()) {
            return None;
        }
        let number = u64::from_str_radix(hex, 16).ok()?;
        return format!("{sign}{number}").parse().ok();
    }
    if digits.contains('_') || digits.ends_with(['e', 'E', '+', '-']) {
        return None;
    }
    let (mantissa, exponent) = digits.find(['e', 'E']).map_or((digits, ""), |at| digits.split_at(at));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
    if matches!(mantissa, "" | ".") {
        return None;
    }
    let whole = if whole.is_empty() { "0" } else { whole };
    let json = match (mantissa.contains('.'), fraction) {
        (false, _) => format!("{sign}{whole}{exponent}"),
        (true, "") => format!("{sign}{whole}.0{exponent}"),
        (true, fraction) => format!("{sign}{whole}.{fraction}{exponent}"),
    };
    json.parse().ok()
}
