//! Reads the JSON of an item without making values of its function docs, which are most of it and are stored as text.
//!
//! Where a log format may have the docs of a request, a list of objects becomes an outline: the same list of objects with
//! the same keys, and null for each value. That is enough to determine the log format (see the test of
//! [`log_formats`](crate::log_formats)); a record of it takes the [`SentDocs`], and any other item gets the values back.

use std::fmt::Formatter;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::known_lists::{KnownList, KnownLists, SentList};
use crate::log_formats::Columns;
use crate::log_formats::envelopes::ENVELOPES;
use callsieve_notation::json::compact::compact_objects;
use callsieve_text::content_hash::content_hash;

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
    /// The list as it was sent.
    sent: &'t str,
    list: TakenList,
}

/// A list of docs, as it is stored.
#[derive(Debug, PartialEq)]
pub(super) struct TakenList {
    /// The list as `serde_json` writes its value; empty if it is stored.
    pub(super) text: String,
    pub(super) list: SentList,
}

impl TakenList {
    /// Docs of which nothing but the text is known.
    pub(super) fn of_text(text: String) -> Self {
        Self { text, list: SentList::NotLookedUp }
    }
}

impl SentDocs<'_> {
    /// Takes the docs with this name in a body.
    pub(super) fn take(&mut self, body: &[&str], name: &str) -> Option<TakenList> {
        let at = self.found.iter().position(|docs| docs.body == body && docs.name == name)?;
        Some(self.found.swap_remove(at).list)
    }

    /// Puts the values of all docs where their outlines are.
    pub(super) fn put_back(self, value: &mut Value) {
        for Docs { body, name, sent, .. } in self.found {
            let body = body.iter().try_fold(&mut *value, |at, key| at.get_mut(key));
            if let Some(outline) = body.and_then(|body| body.get_mut(&name)) {
                // It would be an error of the item, which has been read.
                *outline = serde_json::from_str(sent).expect("a list whose elements were read is JSON");
            }
        }
    }
}

/// Reads a text of JSON; its docs are returned apart. Of a list that is `known` to be stored only the outline is read.
///
/// # Errors
///
/// Returns the error of `serde_json` if the text is not JSON.
pub(super) fn read<'t>(
    text: &'t str,
    columns: &Columns,
    known: Option<&KnownLists>,
) -> serde_json::Result<(Value, SentDocs<'t>)> {
    if text.starts_with('{') {
        let mut docs = SentDocs::default();
        let mut reader = serde_json::Deserializer::from_str(text);
        let body = Body { columns, known, path: Vec::new(), docs: &mut docs };
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
    known: Option<&'a KnownLists>,
    /// The keys that lead to it.
    path: Vec<&'static str>,
    docs: &'a mut SentDocs<'t>,
}

impl<'t> Body<'_, 't> {
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

    /// Reads the value under a name of docs: of a list of functions the outline.
    fn value_of_docs(&mut self, name: &str, sent: &'t str) -> serde_json::Result<Value> {
        if !sent.starts_with('[') {
            return serde_json::from_str(sent);
        }
        let hash = self.known.map(|known| (known, content_hash(sent)));
        if let Some(KnownList { key, outline }) = hash.and_then(|(known, hash)| known.get(hash)) {
            self.add_docs(name, sent, TakenList { text: String::new(), list: SentList::Stored(key) });
            return Ok(Value::clone(&outline));
        }
        let Some((text, outline)) = compact_list(sent) else { return serde_json::from_str(sent) };
        let list = match hash {
            Some((known, sent)) => SentList::New { sent, outline: known.shared(&outline) },
            None => SentList::NotLookedUp,
        };
        self.add_docs(name, sent, TakenList { text, list });
        Ok(outline)
    }

    fn add_docs(&mut self, name: &str, sent: &'t str, list: TakenList) {
        self.docs.found.push(Docs { body: self.path.clone(), name: name.to_owned(), sent, list });
    }
}

/// Returns a list of functions as `serde_json` writes its value, and its outline; `None` for any other list, and if a function
/// needs a value.
fn compact_list(sent: &str) -> Option<(String, Value)> {
    let mut text = String::new();
    let elements = compact_objects(sent, &mut text).filter(|elements| !elements.is_empty())?;
    let outline = |keys: Vec<&str>| keys.into_iter().map(|key| (key.to_owned(), Value::Null)).collect();
    Some((text, Value::Array(elements.into_iter().map(|keys| Value::Object(outline(keys))).collect())))
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

    fn visit_map<A: MapAccess<'t>>(mut self, mut from: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = from.next_key::<String>()? {
            if key.starts_with("$serde_json") {
                return Err(A::Error::custom("a name of serde_json"));
            }
            let value = if self.has_docs(&key) {
                let sent: &RawValue = from.next_value()?;
                self.value_of_docs(&key, sent.get()).map_err(A::Error::custom)?
            } else if let Some(path) = self.within(&key) {
                let within = Body { columns: self.columns, known: self.known, path, docs: &mut *self.docs };
                from.next_value_seed(within)?
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const TOOLS: &str = r#"[ {"type": "function", "function": {"name": "ring", "x": 1E2}}, {} ]"#;

    fn read(text: &str) -> (Value, SentDocs<'_>) {
        super::read(text, &Columns::default(), None).unwrap()
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
            let list = TakenList { text: compact.to_owned(), list: SentList::NotLookedUp };
            assert_eq!(docs.take(body, "tools"), Some(list));
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
            assert!(super::read(text, &Columns::default(), None).is_err(), "{text}");
        }
    }

    #[test]
    fn a_column_with_another_use_is_no_docs() {
        let columns = Columns { query: vec!["function".to_owned()], ..Columns::default() };
        let (_, docs) = super::read(r#"{"function": [{"name": "ring"}]}"#, &columns, None).unwrap();
        assert!(docs.found.is_empty());
    }

    #[test]
    fn of_a_list_that_is_stored_the_outline_is_read_and_nothing_else() {
        let text = format!(r#"{{"tools": {TOOLS}, "query": "Ring."}}"#);
        let known = KnownLists::default();
        let read = || super::read(&text, &Columns::default(), Some(&known)).unwrap();
        let (value, mut docs) = read();
        let Some(TakenList { text: compact, list: SentList::New { sent, outline } }) =
            docs.take(&[], "tools")
        else {
            panic!("a new list")
        };
        assert!(!compact.is_empty() && value["tools"] == *outline);
        known.add(sent, outline, 7);
        let (again, mut docs) = read();
        assert_eq!(again, value);
        let stored = TakenList { text: String::new(), list: SentList::Stored(7) };
        assert_eq!(docs.take(&[], "tools"), Some(stored));
        let (mut again, docs) = read();
        docs.put_back(&mut again);
        assert_eq!(again, serde_json::from_str::<Value>(&text).unwrap());
    }
}
