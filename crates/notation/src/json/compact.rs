//! Writes JSON as `serde_json` writes the value of it, without making the value: a copy of a long text costs less than
//! a tree of it.

/// The most levels of a text that is written; `serde_json` reads up to 127.
const MAX_LEVELS: usize = 100;

/// The most keys of an object that is written: each is compared with those before it.
const MAX_KEYS: usize = 64;

/// Adds a list of objects compactly, as `serde_json` writes the value of it: keys in their order, numbers with their digits.
/// Returns the keys of each object. `None` for any other text, and for what needs a value: repeated keys, keys with
/// escapes, lone surrogates, many keys, many levels; then what was added has no meaning.
///
/// The text must be valid JSON by its grammar, such as that of a `RawValue`; of any other text the result has no
/// meaning.
pub fn compact_objects<'j>(json: &'j str, into: &mut String) -> Option<Vec<Vec<&'j str>>> {
    into.reserve(json.len());
    let (levels, keys) = (Vec::with_capacity(8), Vec::new());
    let mut writer = Writer { json, at: 0, copied: 0, text: into, levels, keys, elements: Vec::new() };
    writer.write()?;
    Some(writer.elements)
}

/// An object or a list that is not closed yet.
enum Level {
    /// Where its keys begin; whether the next text is a key.
    Object {
        first_key: usize,
        is_key_next: bool,
    },
    List,
}

struct Writer<'j, 't> {
    json: &'j str,
    at: usize,
    /// What is before this place is written; what is from here to `at` is to be copied.
    copied: usize,
    text: &'t mut String,
    levels: Vec<Level>,
    /// The keys of all open objects, outermost first.
    keys: Vec<&'j str>,
    /// The keys of the elements of the list that are closed.
    elements: Vec<Vec<&'j str>>,
}

impl<'j> Writer<'j, '_> {
    fn write(&mut self) -> Option<()> {
        while let Some(&byte) = self.json.as_bytes().get(self.at) {
            let is_between = matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b',' | b']');
            let is_of_list = match self.levels.len() {
                0 => is_between || byte == b'[',
                1 => is_between || byte == b'{',
                _ => true,
            };
            is_of_list.then_some(())?;
            match byte {
                b' ' | b'\t' | b'\n' | b'\r' => self.skip_blanks(),
                b'{' | b'[' => self.open(byte)?,
                b'}' | b']' => self.close(),
                b',' | b':' => self.separate(byte),
                b'"' => self.string()?,
                b'-' | b'0'..=b'9' => self.number(),
                // `true`, `false` or `null`.
                _ => self.at += 1,
            }
        }
        self.copy();
        Some(())
    }

    /// Writes what is to be copied.
    fn copy(&mut self) {
        // Of a text that is no JSON, a place may be inside a character.
        self.text.push_str(self.json.get(self.copied..self.at).unwrap_or_default());
        self.copied = self.at;
    }

    fn skip_blanks(&mut self) {
        self.copy();
        let rest = &self.json.as_bytes()[self.at..];
        let is_blank = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
        self.at += rest.iter().take_while(is_blank).count();
        self.copied = self.at;
    }

    fn open(&mut self, byte: u8) -> Option<()> {
        if self.levels.len() == MAX_LEVELS {
            return None;
        }
        let first_key = self.keys.len();
        let is_object = byte == b'{';
        self.levels.push(if is_object {
            Level::Object { first_key, is_key_next: true }
        } else {
            Level::List
        });
        self.at += 1;
        Some(())
    }

    fn close(&mut self) {
        if let Some(Level::Object { first_key, .. }) = self.levels.pop() {
            if self.levels.len() == 1 {
                self.elements.push(self.keys.split_off(first_key));
            } else {
                self.keys.truncate(first_key);
            }
        }
        self.at += 1;
    }

    fn separate(&mut self, byte: u8) {
        if let Some(Level::Object { is_key_next, .. }) = self.levels.last_mut() {
            *is_key_next = byte == b',';
        }
        self.at += 1;
    }

    fn number(&mut self) {
        let is_of_number = |byte: &&u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
        let start = self.at;
        self.at += self.json.as_bytes()[start..].iter().take_while(is_of_number).count();
        // `serde_json` keeps the digits, and writes exponents in one way.
        if let Some((digits, exponent)) = self.json[start..self.at].split_once(['e', 'E']) {
            let sign = if exponent.starts_with(['+', '-']) { "" } else { "+" };
            self.text.push_str(&self.json[self.copied..start]);
            self.text.extend([digits, "e", sign, exponent]);
            self.copied = self.at;
        }
    }

    fn string(&mut self) -> Option<()> {
        let start = self.at;
        self.at += 1;
        loop {
            let rest = &self.json.as_bytes()[self.at..];
            self.at += end_of_run(rest)?;
            if self.json.as_bytes()[self.at] == b'"' {
                break;
            }
            self.escape()?;
        }
        self.at += 1;
        let json = self.json;
        match self.levels.last() {
            Some(&Level::Object { first_key, is_key_next: true }) => {
                self.key(&json[start + 1..self.at - 1], first_key)
            }
            _ => Some(()),
        }
    }

    fn key(&mut self, key: &'j str, first_key: usize) -> Option<()> {
        // The names with which `serde_json` marks numbers and raw values.
        let is_plain = !key.contains('\\') && !key.starts_with("$serde_json");
        let known = &self.keys[first_key..];
        (is_plain && known.len() < MAX_KEYS && !known.contains(&key)).then(|| self.keys.push(key))
    }

    /// Passes an escape; one that `serde_json` writes in another form is written.
    fn escape(&mut self) -> Option<()> {
        match *self.json.as_bytes().get(self.at + 1)? {
            b'"' | b'\\' | b'b' | b'f' | b'n' | b'r' | b't' => self.at += 2,
            b'/' => {
                self.copy();
                self.text.push('/');
                self.at += 2;
                self.copied = self.at;
            }
            b'u' => {
                self.copy();
                let c = self.unicode()?;
                push_escaped(self.text, c);
                self.copied = self.at;
            }
            _ => return None,
        }
        Some(())
    }

    /// Reads the character of `\uXXXX`, or of two of them that are one.
    fn unicode(&mut self) -> Option<char> {
        let first = self.code_unit()?;
        if let Some(c) = char::from_u32(first.into()) {
            return Some(c);
        }
        let second = self.code_unit()?;
        char::decode_utf16([first, second]).next()?.ok()
    }

    fn code_unit(&mut self) -> Option<u16> {
        let digits = self.json.get(self.at..self.at + 6)?.strip_prefix("\\u")?;
        self.at += 6;
        u16::from_str_radix(digits, 16).ok()
    }
}

/// The bytes of most keys and words, which are looked through one by one.
const SHORT: usize = 16;

/// Returns the place of the first quote or backslash.
fn end_of_run(bytes: &[u8]) -> Option<usize> {
    let start = &bytes[..bytes.len().min(SHORT)];
    match start.iter().position(|byte| matches!(byte, b'"' | b'\\')) {
        None => Some(start.len() + memchr::memchr2(b'"', b'\\', &bytes[start.len()..])?),
        found => found,
    }
}

/// Writes a character of a string as `serde_json` does.
fn push_escaped(text: &mut String, c: char) {
    match c {
        '"' | '\\' | '\0'..='\u{1f}' => {
            let quoted = serde_json::to_string(&c).expect("a character is JSON");
            text.push_str(&quoted[1..quoted.len() - 1]);
        }
        c => text.push(c),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    /// Writes a text as the value of the only key of the only object of a list.
    fn written(json: &str) -> Option<String> {
        let mut text = String::new();
        compact_objects(&format!(r#"[{{"x":{json}}}]"#), &mut text)?;
        Some(text[r#"[{"x":"#.len()..text.len() - "}]".len()].to_owned())
    }

    fn value_text(json: &str) -> String {
        serde_json::from_str::<Value>(json).unwrap().to_string()
    }

    #[test]
    fn texts_are_written_as_the_value_is() {
        for json in [
            r#" [ { "a" : 1.0 , "b" : [ true , false , null ] } , { } ] "#,
            r#"{"n": [-0, 0.10, 1E5, 1e5, 2.5E-03, 1e+7, 123456789012345678901234567890]}"#,
            r#"["\u00e9 \/ \" \\ \b\f\n\r\t \u0001 \u001F \u0022 \u005c \u007f \ud83d\ude00 \uFEFF", "é😀"]"#,
            "[]",
            "\"x\"",
            "12",
            "null",
        ] {
            assert_eq!(written(json).unwrap(), value_text(json), "{json}");
        }
    }

    #[test]
    fn the_keys_of_each_object_of_a_list_are_returned() {
        let mut text = String::new();
        let list = r#" [ {"type": 1, "function": {"name": [{"x": 2}]}}, {} , {"a": [], "b": {"c": {}}}]"#;
        let keys = compact_objects(list, &mut text).unwrap();
        assert_eq!(keys, [vec!["type", "function"], vec![], vec!["a", "b"]]);
        assert_eq!(text, value_text(list));
        assert!(compact_objects("[]", &mut String::new()).unwrap().is_empty());
        for other in [
            r#"{"a": {"b": 1}}"#,
            "[1]",
            r#"[{}, "x"]"#,
            "[[]]",
            "[null]",
            "[{}, -1]",
            "true",
            r#"[{"a": 1, "a": 1}]"#,
        ] {
            assert_eq!(compact_objects(other, &mut String::new()), None, "{other}");
        }
    }

    #[test]
    fn what_needs_a_value_is_not_written() {
        let deep = format!("{}{}", "[".repeat(MAX_LEVELS - 1), "]".repeat(MAX_LEVELS - 1));
        let wide: Vec<String> = (0..=MAX_KEYS).map(|at| format!("\"k{at}\": 0")).collect();
        let wide = format!("{{{}}}", wide.join(","));
        for json in [
            r#"{"a": 1, "a": 2}"#,
            r#"[{"b": {"a": 1, "x": 0, "a": 2}}]"#,
            r#"{"\u0061": 1}"#,
            r#"["\ud83d"]"#,
            r#"["\ude00\ud83d"]"#,
            r#"["\ud83d\u0041"]"#,
            r#"{"$serde_json::private::Number": "1"}"#,
            &deep,
            &wide,
        ] {
            assert_eq!(written(json), None, "{json}");
        }
        assert!(written(&deep[1..deep.len() - 1]).is_some());
    }

    fn json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 40, 5, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                proptest::collection::vec((any::<String>(), inner), 0..5)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn any_value_is_written_as_serde_json_does(value in json()) {
            for text in [value.to_string(), serde_json::to_string_pretty(&value).unwrap()] {
                if let Some(written) = written(&text) {
                    prop_assert_eq!(written, value.to_string());
                } else {
                    prop_assert!(text.contains('\\'));
                }
            }
        }

        #[test]
        fn no_text_panics(text in "[\\[\\]{}\",:\\\\u0-9eEé a-f-]{0,40}") {
            written(&text);
        }
    }
}
