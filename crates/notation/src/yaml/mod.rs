//! YAML 1.2 as JSON: mappings, and lists of mappings, in one document or several.
//!
//! Scalars follow the core schema, so `no` is a word and `1.50` keeps its digits. Aliases are copied only as long as
//! the result has about the size of the text, so a few lines never become gigabytes. Prose is full of colons; accepted
//! texts have the structure of data, with names as keys. Deliberately absent: merge keys, tags beyond the core schema,
//! keys that are not scalars, and infinity; texts with any of these are not read.

mod scalars;

use std::collections::HashMap;

use saphyr_parser::{Event, Parser, ScalarStyle};
use serde_json::{Map, Value};

use crate::MAX_DEPTH;
use crate::allowance::{Allowance, BRACKET_BYTES, ELEMENT_BYTES, MEMBER_BYTES, bytes_of};
use crate::json::outline::Outline;
use crate::repeated::{Repeated, insert};

/// The maximum size of copied values, as a multiple of the text's size.
const MAX_GROWTH: usize = 4;

/// The value of a YAML text.
#[derive(Debug, PartialEq)]
pub struct Yaml {
    /// The only document, or a list of all documents.
    pub value: Value,
    /// Keys that occur twice in one mapping with different values.
    pub repeated: Vec<Repeated>,
    /// Whether the last value is missing: `type:`.
    pub is_left_open: bool,
}

/// Reads a text as YAML if it has the structure of data.
pub fn read(text: &str, allowance: &Allowance) -> Option<Yaml> {
    allowance.attempt(|| read_with(text, allowance).ok_or(())).ok()
}

fn read_with(text: &str, allowance: &Allowance) -> Option<Yaml> {
    if !begins_like_yaml(text) || Outline::of(text).depth > MAX_DEPTH {
        return None;
    }
    let mut reader = YamlReader {
        parser: Parser::new_from_str(text),
        anchors: HashMap::new(),
        n_copied: 0,
        max_copied: MAX_GROWTH * text.len(),
        allowance,
        repeated: Vec::new(),
        is_left_open: false,
    };
    let mut documents = reader.documents()?;
    if !documents.iter().all(is_data) {
        return None;
    }
    let value = match (documents.pop()?, documents.is_empty()) {
        (only, true) => only,
        (last, false) => {
            documents.push(last);
            Value::Array(documents)
        }
    };
    Some(Yaml { value, repeated: reader.repeated, is_left_open: reader.is_left_open })
}

/// Returns true if the first line with content opens a mapping, a list or a document.
fn begins_like_yaml(text: &str) -> bool {
    let first = text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with(['#', '%']));
    first.is_some_and(|line| {
        let line = line.trim_start_matches("- ").trim_start();
        line.starts_with("---")
            || line == "-"
            || line.split_once(':').is_some_and(|(key, _)| is_name(key.trim_matches(['"', '\''])))
    })
}

/// Returns true if a value has the structure of data and not of a note: `Note: call me` is prose.
fn is_data(value: &Value) -> bool {
    match value {
        Value::Object(map) => {
            let is_built = map.len() > 1 || map.values().any(|value| value.is_object() || value.is_array());
            is_built && map.keys().all(|key| is_name(key))
        }
        Value::Array(items) => {
            !items.is_empty() && items.iter().all(|item| item.is_object() && is_data(item))
        }
        _ => false,
    }
}

/// Returns true if a key could be a name.
fn is_name(key: &str) -> bool {
    !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || "_-./$@".contains(c))
}

struct YamlReader<'t> {
    parser: Parser<'t, saphyr_parser::StrInput<'t>>,
    /// The values with an anchor, and their size.
    anchors: HashMap<usize, (Value, usize)>,
    n_copied: usize,
    max_copied: usize,
    allowance: &'t Allowance,
    repeated: Vec<Repeated>,
    /// Whether the last scalar is empty, without quotes or a tag.
    is_left_open: bool,
}

/// An event and its offset, which the YAML reader counts in characters.
type PlacedEvent<'t> = (Event<'t>, usize);

impl<'t> YamlReader<'t> {
    fn next(&mut self) -> Option<PlacedEvent<'t>> {
        let (event, span) = self.parser.next_event()?.ok()?;
        Some((event, span.start.index()))
    }

    fn documents(&mut self) -> Option<Vec<Value>> {
        let mut documents = Vec::new();
        loop {
            match self.next()?.0 {
                Event::StreamEnd => return Some(documents),
                Event::StreamStart | Event::DocumentEnd | Event::Nothing => {}
                Event::DocumentStart(_) => {
                    let event = self.next()?;
                    self.take(ELEMENT_BYTES)?;
                    documents.push(self.value(event, 0)?);
                }
                _ => return None,
            }
        }
    }

    fn value(&mut self, (event, _): PlacedEvent<'t>, depth: usize) -> Option<Value> {
        if depth > MAX_DEPTH {
            return None;
        }
        if let Event::Scalar(text, style, ..) = &event {
            let is_quoted = matches!(style, ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted);
            self.is_left_open = text.is_empty() && !is_quoted;
        }
        let (value, anchor) = match event {
            Event::Scalar(text, style, anchor, tag) => (scalars::read(&text, style, tag.as_deref())?, anchor),
            Event::SequenceStart(anchor, None) => (self.sequence(depth)?, anchor),
            Event::MappingStart(anchor, None) => (self.mapping(depth)?, anchor),
            Event::Alias(anchor) => {
                self.is_left_open = false;
                return self.copy(anchor);
            }
            _ => return None,
        };
        if anchor > 0 {
            let size = size(&value);
            self.take(bytes_of(&value))?;
            self.anchors.insert(anchor, (value.clone(), size));
            // The anchored value itself was written once and copied once.
            self.count(size)?;
        }
        Some(value)
    }

    fn sequence(&mut self, depth: usize) -> Option<Value> {
        let mut items = Vec::new();
        self.take(BRACKET_BYTES)?;
        loop {
            match self.next()? {
                (Event::SequenceEnd, _) => return Some(Value::Array(items)),
                event => {
                    self.take(ELEMENT_BYTES)?;
                    items.push(self.value(event, depth + 1)?);
                }
            }
        }
    }

    fn mapping(&mut self, depth: usize) -> Option<Value> {
        let mut map = Map::new();
        self.take(BRACKET_BYTES)?;
        loop {
            match self.next()? {
                (Event::MappingEnd, _) => return Some(Value::Object(map)),
                (Event::Scalar(key, style, 0, None), at) => {
                    let is_plain = matches!(style, ScalarStyle::Plain);
                    if is_plain && matches!(&*key, "<<" | "" | "~" | "null") {
                        return None;
                    }
                    self.take(MEMBER_BYTES)?;
                    let event = self.next()?;
                    let value = self.value(event, depth + 1)?;
                    insert(&mut map, key.into_owned(), value, at, &mut self.repeated);
                }
                _ => return None,
            }
        }
    }

    fn take(&self, n_bytes: usize) -> Option<()> {
        self.allowance.take(n_bytes).then_some(())
    }

    fn copy(&mut self, anchor: usize) -> Option<Value> {
        let size = self.anchors.get(&anchor)?.1;
        self.count(size)?;
        let (value, _) = self.anchors.get(&anchor)?;
        self.take(bytes_of(value))?;
        Some(value.clone())
    }

    fn count(&mut self, size: usize) -> Option<()> {
        self.n_copied += size;
        (self.n_copied <= self.max_copied).then_some(())
    }
}

/// Returns the approximate size of a value as text, in bytes.
fn size(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len() + 2,
        Value::Array(items) => items.iter().map(size).sum::<usize>() + 2,
        Value::Object(map) => map.iter().map(|(key, value)| key.len() + 3 + size(value)).sum::<usize>() + 2,
        _ => 4,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn within(text: &str) -> Option<Yaml> {
        read(text, &Allowance::of(text))
    }

    fn yaml(text: &str) -> Option<Value> {
        within(text).map(|yaml| yaml.value)
    }

    #[test]
    fn a_mapping_and_a_list_of_mappings_are_read() {
        let text = "# tools\nname: ferry\nparameters:\n  type: object\n  required: [port]\n  default: no\n";
        let value =
            json!({"name": "ferry", "parameters": {"type": "object", "required": ["port"], "default": "no"}});
        assert_eq!(yaml(text), Some(value));
        let text = "- name: a\n  tags:\n  - x\n- name: b\n  tags: []\n";
        assert_eq!(yaml(text), Some(json!([{"name": "a", "tags": ["x"]}, {"name": "b", "tags": []}])));
        assert_eq!(
            yaml("---\nname: a\nn: 1\n---\nname: b\nn: 2\n"),
            Some(json!([{"name": "a", "n": 1}, {"name": "b", "n": 2}]))
        );
    }

    #[test]
    fn scalars_follow_the_core_schema() {
        let text = "a: 1.50\nb: 0x1F\nc: ~\nd: yes\ne: '1'\nf: !!str 1\ng: 2024-01-01\nh: 1e3\ni: |\n  one\n  two\nj: -.5\nk: 1.2.3\n";
        let value = yaml(text).unwrap().to_string();
        let expected = r#"{"a":1.50,"b":31,"c":null,"d":"yes","e":"1","f":"1","g":"2024-01-01","h":1e+3,"i":"one\ntwo\n","j":-0.5,"k":"1.2.3"}"#;
        assert_eq!(value.replace("1e3", "1e+3"), expected);
    }

    #[test]
    fn a_code_with_leading_zeros_and_a_sign_after_the_prefix_stay_text() {
        let text = "a: 00123\nb: 0x+5\nc: 0o-7\nd: 0\ne: 0.50\nf: -01\ng: 0o17\n";
        let expected = json!({"a": "00123", "b": "0x+5", "c": "0o-7", "d": 0, "f": "-01", "g": 15});
        let mut value = yaml(text).unwrap();
        assert_eq!(value.as_object_mut().unwrap().shift_remove("e").unwrap().to_string(), "0.50");
        assert_eq!(value, expected);
    }

    #[test]
    fn prose_is_not_yaml() {
        for text in [
            "Note: call me",
            "Please note: this is\na text: of two lines",
            "- get the weather\n- call: me",
            "just words",
            "My tool: it does things\nYour tool: it does others",
        ] {
            assert_eq!(yaml(text), None, "{text}");
        }
    }

    #[test]
    fn values_without_an_equivalent_in_json_are_not_read() {
        for text in [
            "a: .inf\nb: 1",
            "a: &x 1\n<<: {b: 1}",
            "? [1]\n: 2\nb: 1",
            "a: !!binary abc\nb: 1",
            "{a: 1}: 2\nb: 1",
        ] {
            assert_eq!(yaml(text), None, "{text}");
        }
    }

    #[test]
    fn aliases_are_copied_and_never_explode() {
        assert_eq!(
            yaml("a: &x {city: {type: string}}\nb: *x\n"),
            Some(json!({"a": {"city": {"type": "string"}}, "b": {"city": {"type": "string"}}}))
        );
        let mut bomb = "a0: &a0 [lol, lol, lol, lol]\n".to_owned();
        for n in 1..40 {
            let before = n - 1;
            bomb += &format!("a{n}: &a{n} [*a{before}, *a{before}, *a{before}, *a{before}]\n");
        }
        assert_eq!(yaml(&bomb), None);
    }

    #[test]
    fn a_repeated_key_is_reported() {
        let read = within("a: 1\nb: {c: 1}\na: 2\n");
        // The YAML reader may also refuse it.
        assert!(read.is_none_or(|yaml| yaml.repeated.len() == 1));
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "([-:?|>&*!%#{}\\[\\],'\" \n]|a|1|é|key: |- |  |\t|<<){0,40}") {
            let _ = yaml(&text);
        }
    }
}
