//! Reads the JSON of an item without making values of its function docs, which are most of it and are stored as text.
//!
//! Where a log format may have the docs of a request, a list of objects becomes an outline: the same list of objects with
//! the same keys, and null for each value. That is enough to determine the log format (see the test of
//! [`log_formats`](crate::log_formats)); a record of it takes the [`SentDocs`], and any other item gets the values back.

use std::fmt::Formatter;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::log_formats::Columns;
use crate::log_formats::envelopes::ENVELOPES;
use callsieve_notation::json::compact::compact;

/// The keys of function docs that are read this way. Log formats read nothing else under them.
pub(crate) const DOCS: [&str; 4] = ["tools", "functions", "function", "function_docs"];

/// The function docs of an item of which its value has an outline only.
#[derive(Debug, Default)]
pub(super) struct SentDocs<'t> {
    found: Vec<Docs<'t>>,
}

#[derive(Debug)]
struct Docs<'t> {
    /// The keys of the object that has them, outermost first.
    body: Vec<&'static str>,
    name: String,
    /// The functions as they were sent.
    sent: Vec<&'t str>,
    /// The list as `serde_json` writes its value.
    compact: String,
}

impl SentDocs<'_> {
    /// Takes the text of the docs with this name in a body.
    pub(super) fn take(&mut self, body: &[&str], name: &str) -> Option<String> {
        let at = self.found.iter().position(|docs| docs.body == body && docs.name == name)?;
        Some(self.found.swap_remove(at).compact)
    }

    /// Puts the values of all docs where their outlines are.
    pub(super) fn put_back(self, value: &mut Value) {
        for Docs { body, name, sent, .. } in self.found {
            let body = body.iter().try_fold(&mut *value, |at, key| at.get_mut(key));
            if let Some(outline) = body.and_then(|body| body.get_mut(&name)) {
                let read = |text: &str| {
                    serde_json::from_str::<Value>(text).expect("a text that was written compactly is JSON")
                };
                *outline = sent.into_iter().map(read).collect();
            }
        }
    }
}

/// Reads a text of JSON; its docs are returned apart.
///
/// # Errors
///
/// Returns the error of `serde_json` if the text is not JSON.
pub(super) fn read<'t>(text: &'t str, columns: &Columns) -> serde_json::Result<(Value, SentDocs<'t>)> {
    if text.starts_with('{') {
        let mut docs = SentDocs::default();
        let mut reader = serde_json::Deserializer::from_str(text);
        let body = Body { columns, path: Vec::new(), docs: &mut docs };
        if let Ok(value) = body.deserialize(&mut reader)
            && reader.end().is_ok()
        {
            return Ok((value, docs));
        }
    }
    serde_json::from_str(text).map(|value| (value, SentDocs::default()))
}

/// Reads an object that may have docs, or an envelope of such an object.
struct Body<'a, 't> {
    columns: &'a Columns,
    /// The keys that lead to it.
    path: Vec<&'static str>,
    docs: &'a mut SentDocs<'t>,
}

impl Body<'_, '_> {
    /// Returns `true` if the docs of a request may be under this key.
    fn has_docs(&self, key: &str) -> bool {
        let has_other_use = || self.columns.besides_functions().any(|name| name == key);
        DOCS.contains(&key) && !has_other_use()
    }

    /// Returns the path of the object under a key if a body may be in it.
    fn within(&self, key: &str) -> Option<Vec<&'static str>> {
        let depth = self.path.len();
        let leads_on = |body: &&[&'static str]| body.starts_with(&self.path) && body.get(depth) == Some(&key);
        let body = ENVELOPES.iter().map(|envelope| envelope.body).find(leads_on)?;
        Some(body[..=depth].to_vec())
    }
}

impl<'t> DeserializeSeed<'t> for Body<'_, 't> {
    type Value = Value;

    fn deserialize<D: Deserializer<'t>>(self, from: D) -> Result<Value, D::Error> {
        from.deserialize_any(self)
    }
}

/// What this reader leaves to `serde_json` is an error of it, such as a number, which is a map of its own kind there.
impl<'t> Visitor<'t> for Body<'_, 't> {
    type Value = Value;

    fn expecting(&self, into: &mut Formatter<'_>) -> std::fmt::Result {
        into.write_str("a body")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::String(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'t>>(self, mut from: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(element) = from.next_element()? {
            list.push(element);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'t>>(self, mut from: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = from.next_key::<String>()? {
            if key.starts_with("$serde_json") {
                return Err(A::Error::custom("a name of serde_json"));
            }
            let value = if self.has_docs(&key) {
                from.next_value_seed(Found { path: &self.path, name: &key, docs: &mut *self.docs })?
            } else if let Some(path) = self.within(&key) {
                from.next_value_seed(Body { columns: self.columns, path, docs: &mut *self.docs })?
            } else {
                from.next_value()?
            };
            if map.insert(key, value).is_some() {
                return Err(A::Error::custom("a repeated key"));
            }
        }
        Ok(Value::Object(map))
    }
}

/// Reads a value that may be docs.
struct Found<'a, 't> {
    /// The keys that lead to the object that has it.
    path: &'a [&'static str],
    name: &'a str,
    docs: &'a mut SentDocs<'t>,
}

impl<'t> DeserializeSeed<'t> for Found<'_, 't> {
    type Value = Value;

    fn deserialize<D: Deserializer<'t>>(self, from: D) -> Result<Value, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'t> Visitor<'t> for Found<'_, 't> {
    type Value = Value;

    fn expecting(&self, into: &mut Formatter<'_>) -> std::fmt::Result {
        into.write_str("a list of functions, or a text")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::String(text.to_owned()))
    }

    /// Returns the outline of the functions.
    fn visit_seq<A: SeqAccess<'t>>(self, mut from: A) -> Result<Value, A::Error> {
        let (mut sent, mut list, mut outline) = (Vec::new(), String::from("["), Vec::new());
        while let Some(raw) = from.next_element::<&RawValue>()? {
            let text = raw.get();
            if !sent.is_empty() {
                list.push(',');
            }
            let keys = compact(text, &mut list).filter(|_| text.starts_with('{'));
            let Some(keys) = keys else { return Err(A::Error::custom("needs a value")) };
            let fields = keys.into_iter().map(|key| (key.to_owned(), Value::Null));
            outline.push(Value::Object(fields.collect()));
            sent.push(text);
        }
        if !sent.is_empty() {
            list.push(']');
            let (body, name) = (self.path.to_vec(), self.name.to_owned());
            self.docs.found.push(Docs { body, name, sent, compact: list });
        }
        Ok(Value::Array(outline))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const TOOLS: &str = r#"[ {"type": "function", "function": {"name": "ring", "x": 1E2}}, {} ]"#;

    fn read(text: &str) -> (Value, SentDocs<'_>) {
        super::read(text, &Columns::default()).unwrap()
    }

    #[test]
    fn docs_become_an_outline_in_every_envelope_and_come_back() {
        for (start, body, end) in [
            ("{", &[][..], "}"),
            (r#"{"request": {"body": {"#, &["request", "body"], "}}}"),
            (r#"{"ts": 1.5, "body": {"id": 7,"#, &["body"], "}}"),
        ] {
            let text = format!(r#"{start}"tools": {TOOLS}, "other": {TOOLS}{end}"#);
            let (mut value, mut docs) = read(&text);
            let found = body.iter().fold(&value, |at, key| &at[key]);
            assert_eq!(found["tools"], json!([{"type": null, "function": null}, {}]), "{text}");
            assert_eq!(found["other"], serde_json::from_str::<Value>(TOOLS).unwrap());
            assert_eq!(docs.take(&["elsewhere"], "tools"), None);
            docs.put_back(&mut value);
            assert_eq!(value, serde_json::from_str::<Value>(&text).unwrap());
            let (_, mut docs) = read(&text);
            let compact = r#"[{"type":"function","function":{"name":"ring","x":1e+2}},{}]"#;
            assert_eq!(docs.take(body, "tools").as_deref(), Some(compact));
        }
    }

    #[test]
    fn other_values_are_read_as_they_are() {
        for text in [
            r#"{"tools": []}"#,
            r#"{"tools": "[{\"name\": 1}]"}"#,
            r#"{"tools": null, "body": 3, "request": [1.0], "params": true}"#,
            r#"{"tools": {"ring": {"x": 1}}}"#,
            r#"{"tools": ["ring"]}"#,
            r#"{"tools": [{"a": 1, "a": 2}]}"#,
            r#"{"tools": [{"name": 1}], "tools": 2}"#,
            r#"{"wrapped": {"tools": [{"name": 1}]}}"#,
            r#"[{"tools": [{"name": 1}]}]"#,
        ] {
            let (value, docs) = read(text);
            assert_eq!(value, serde_json::from_str::<Value>(text).unwrap(), "{text}");
            assert!(docs.found.is_empty(), "{text}");
        }
        for text in [r#"{"tools": [{"name": "\ud83d"}]}"#, r#"{"tools": [{]}"#, r#"{"tools": [{}]} 1"#, ""] {
            assert!(super::read(text, &Columns::default()).is_err(), "{text}");
        }
    }

    #[test]
    fn a_column_with_another_use_is_no_docs() {
        let columns = Columns { query: vec!["function".to_owned()], ..Columns::default() };
        let (_, docs) = super::read(r#"{"function": [{"name": "ring"}]}"#, &columns).unwrap();
        assert!(docs.found.is_empty());
    }
}
