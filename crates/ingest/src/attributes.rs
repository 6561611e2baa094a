//! Converts the attributes of spans to nested JSON, for all exporters.
//!
//! OpenTelemetry uses flat names (`gen_ai.prompt.0.role`). Exporters write them as an object, as OTLP's list of keys
//! and typed values, as columns of a table, or already nested. All of these become one tree under `attributes`, in
//! which numbers are list indexes, so that tables of paths can describe the formats. Values stay unchanged: only the
//! levels of the conventions are split, never the names inside a tool's schema.

use rustc_hash::FxHashMap;
use serde_json::{Map, Value};

use crate::path::{Path, find, find_object, opened};

/// The paths of attributes in a line.
const PLACES: &[Path] = &[&["attributes"], &["metadata", "attributes"]];

/// Other names of the first of these.
const OTHER_NAMES: &[&str] = &["span_attributes", "SpanAttributes"];

/// The prefixes of attributes that are among the other fields.
const LOOSE: &[&str] = &["attributes.", "gen_ai.", "llm.", "ai.", "session.", "user.", "enduser."];

/// The prefixes of which one must occur; otherwise names with dots are not attributes.
const MARKS: &[&str] = &["attributes.", "gen_ai.", "llm.", "ai."];

/// The maximum number of parts of a name; the last part of a longer name holds its rest.
const MAX_PARTS: usize = 16;

/// The levels that may be nested already and still hold names with dots.
const LEVELS: &[&str] = &[
    "gen_ai",
    "llm",
    "ai",
    "prompt",
    "response",
    "input_messages",
    "output_messages",
    "message",
    "contents",
    "message_content",
    "tool_calls",
    "tool_call",
    "tools",
    "tool",
];

/// The key of the value that a level has itself: `ai.prompt` may be a text beside `ai.prompt.tools`.
pub(super) const OWN: &str = "";

/// Returns the names of columns that hold attributes.
pub(super) fn names() -> Vec<&'static str> {
    PLACES.iter().map(|path| path[0]).chain(OTHER_NAMES.iter().copied()).collect()
}

/// Returns `true` if a column is a single attribute.
pub(super) fn is_loose(name: &str) -> bool {
    LOOSE.iter().any(|start| name.starts_with(start))
}

/// Nests the attributes of a line, if it has any.
pub(super) fn nest(line: &mut Value) {
    let Some(fields) = line.as_object_mut() else { return };
    gather_loose(fields);
    for path in PLACES {
        if let Some(attributes) = find(line, path) {
            *attributes = nested(attributes.take());
        }
    }
}

/// Moves attributes under another name, or among the other fields, to `attributes`.
fn gather_loose(fields: &mut Map<String, Value>) {
    // A table has the column in every row.
    if fields.get("attributes").is_some_and(Value::is_null) {
        fields.shift_remove("attributes");
    }
    let other = OTHER_NAMES.iter().find_map(|name| fields.get_mut(*name).map(Value::take));
    if let Some(attributes) = other {
        fields.entry("attributes").or_insert(attributes);
    }
    let starts = |name: &str, with: &[&str]| with.iter().any(|start| name.starts_with(start));
    if !fields.keys().any(|name| starts(name, MARKS)) {
        return;
    }
    let (loose, rest): (Map<_, _>, Map<_, _>) =
        std::mem::take(fields).into_iter().partition(|(name, _)| starts(name, LOOSE));
    *fields = rest;
    let attributes = fields.entry("attributes").or_insert_with(|| Map::new().into());
    *attributes = nested(attributes.take());
    if let Value::Object(attributes) = attributes {
        let bare = |name: String| name.strip_prefix("attributes.").map(str::to_owned).unwrap_or(name);
        attributes.extend(loose.into_iter().map(|(name, value)| (bare(name), value)));
    }
}

/// A level of attributes while it is built.
enum Node {
    Leaf(Value),
    Level(Level),
}

#[derive(Default)]
struct Level {
    /// The value of the level itself, unless it is an object.
    own: Value,
    children: Vec<(String, Node)>,
    places: FxHashMap<String, usize>,
}

/// Returns attributes as one tree: those of a line, or of an event in it.
pub(super) fn nested(attributes: Value) -> Value {
    let pairs: Vec<(String, Value)> = match opened(attributes) {
        Value::Object(fields) => fields.into_iter().collect(),
        Value::Array(list) => list.into_iter().filter_map(key_and_value).collect(),
        other => return other,
    };
    let mut root = Level::default();
    for (name, value) in pairs {
        let parts: Vec<&str> = name.splitn(MAX_PARTS, '.').collect();
        root.put(&parts, value);
    }
    root.into_value()
}

impl Level {
    fn put(&mut self, parts: &[&str], value: Value) {
        let Some((first, rest)) = parts.split_first() else { return };
        let node = self.child(first);
        if rest.is_empty() {
            match node {
                Node::Leaf(leaf) => *leaf = nested_level(first, value),
                Node::Level(level) => level.add_own(value),
            }
        } else {
            node.make_level().put(rest, value);
        }
    }

    /// Adds the value of the level itself: an object, also as a string, to the children, where it changes none of them.
    fn add_own(&mut self, mut value: Value) {
        find_object(&mut value, &[]);
        let Value::Object(fields) = value else {
            self.own = value;
            return;
        };
        for (name, value) in fields {
            if let Node::Leaf(leaf @ Value::Null) = self.child(&name) {
                *leaf = value;
            }
        }
    }

    fn child(&mut self, name: &str) -> &mut Node {
        let next = self.children.len();
        let place = *self.places.entry(name.to_owned()).or_insert(next);
        if place == next {
            self.children.push((name.to_owned(), Node::Leaf(Value::Null)));
        }
        &mut self.children[place].1
    }

    /// Returns the level as JSON; a level whose names are all numbers becomes a list.
    fn into_value(self) -> Value {
        let mut children = self.children;
        let number = |name: &str| name.parse::<usize>().ok();
        if !children.is_empty() && children.iter().all(|(name, _)| number(name).is_some()) {
            children.sort_by_key(|(name, _)| number(name));
            return children.into_iter().map(|(_, node)| node.into_value()).collect();
        }
        let own = Some((OWN.to_owned(), self.own)).filter(|(_, own)| !own.is_null());
        Value::Object(children.into_iter().map(|(name, node)| (name, node.into_value())).chain(own).collect())
    }
}

impl Node {
    fn make_level(&mut self) -> &mut Level {
        if let Self::Leaf(leaf) = self {
            let mut level = Level::default();
            level.add_own(leaf.take());
            *self = Self::Level(level);
        }
        match self {
            Self::Level(level) => level,
            Self::Leaf(_) => unreachable!("it was made a level"),
        }
    }

    fn into_value(self) -> Value {
        match self {
            Self::Leaf(value) => value,
            Self::Level(level) => level.into_value(),
        }
    }
}

/// Nests a value that is nested already and may hold names with dots one level down.
fn nested_level(name: &str, value: Value) -> Value {
    let is_level = LEVELS.contains(&name) || name.parse::<usize>().is_ok();
    match value {
        Value::Object(_) if is_level => nested(value),
        Value::Array(list) if is_level => list
            .into_iter()
            .map(|element| if element.is_object() { nested(element) } else { element })
            .collect(),
        other => other,
    }
}

fn key_and_value(mut pair: Value) -> Option<(String, Value)> {
    let value = pair.get_mut("value").map(Value::take).unwrap_or_default();
    Some((pair.get("key")?.as_str()?.to_owned(), plain(value)))
}

/// The names of OTLP's value types, as in its JSON and as libraries write them.
const SCALARS: &[&str] =
    &["stringValue", "string_value", "doubleValue", "double_value", "boolValue", "bool_value"];
/// Whole numbers, which OTLP writes as strings.
const INTEGERS: &[&str] = &["intValue", "int_value"];
const LISTS: &[&str] = &["arrayValue", "array_value"];
const OBJECTS: &[&str] = &["kvlistValue", "kvlist_value"];

/// Returns the value inside OTLP's typed value.
pub(super) fn plain(mut typed: Value) -> Value {
    let mut take = |names: &[&str]| names.iter().find_map(|name| typed.get_mut(*name).map(Value::take));
    let values = |mut list: Value| match list.get_mut("values").map(Value::take) {
        Some(Value::Array(values)) => values,
        _ => Vec::new(),
    };
    if let Some(scalar) = take(SCALARS) {
        return scalar;
    }
    if let Some(number) = take(INTEGERS) {
        return number.as_str().and_then(|text| text.parse::<i64>().ok()).map_or(number, Value::from);
    }
    if let Some(list) = take(LISTS) {
        return values(list).into_iter().map(plain).collect();
    }
    match take(OBJECTS) {
        Some(object) => Value::Object(values(object).into_iter().filter_map(key_and_value).collect()),
        None => typed,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn nest_of(mut line: Value) -> Value {
        nest(&mut line);
        line
    }

    #[test]
    fn flat_names_listed_pairs_and_loose_columns_become_one_tree() {
        let tree = json!({"gen_ai": {"prompt": [{"role": "user"}, {"role": "tool"}], "system": "x"}});
        let flat =
            json!({"gen_ai.prompt.0.role": "user", "gen_ai.prompt.1.role": "tool", "gen_ai.system": "x"});
        assert_eq!(nest_of(json!({"attributes": flat})), json!({"attributes": tree}));
        assert_eq!(nest_of(json!({"SpanAttributes": flat}))["attributes"], tree);
        assert_eq!(nest_of(flat.clone()), json!({"attributes": tree}));
        let columns: Map<_, _> =
            flat.as_object().unwrap().iter().map(|(k, v)| (format!("attributes.{k}"), v.clone())).collect();
        assert_eq!(nest_of(columns.into()), json!({"attributes": tree}));
        let pairs: Vec<Value> = flat
            .as_object()
            .unwrap()
            .iter()
            .map(|(k, v)| json!({"key": k, "value": {"stringValue": v}}))
            .collect();
        assert_eq!(nest_of(json!({"attributes": pairs})), json!({"attributes": tree}));
        assert_eq!(nest_of(json!({"attributes": tree})), json!({"attributes": tree}));
    }

    #[test]
    fn a_value_of_a_level_itself_is_kept_beside_its_parts() {
        for (own, expected) in [
            (
                json!("{\"prompt\": \"Ring the bell\", \"tools\": 1}"),
                json!({"tools": [7], "prompt": "Ring the bell"}),
            ),
            (json!("Ring the bell"), json!({"tools": [7], "": "Ring the bell"})),
        ] {
            let (before, after) = (
                json!({"ai.prompt": own, "ai.prompt.tools": [7]}),
                json!({"ai.prompt.tools": [7], "ai.prompt": own}),
            );
            assert_eq!(nest_of(json!({"attributes": before}))["attributes"]["ai"]["prompt"], expected);
            assert_eq!(nest_of(after)["attributes"]["ai"]["prompt"], expected);
        }
        let list = json!({"attributes": {"llm.x": "all", "llm.x.0": "a"}});
        assert_eq!(nest_of(list)["attributes"]["llm"]["x"], json!(["a"]));
    }

    #[test]
    fn lists_are_in_the_order_of_their_numbers() {
        let flat = json!({"llm.x.10": "c", "llm.x.9": "b", "llm.x.0": "a"});
        assert_eq!(nest_of(flat)["attributes"]["llm"]["x"], json!(["a", "b", "c"]));
    }

    #[test]
    fn typed_values_are_plain() {
        let value = json!({"kvlistValue": {"values": [
            {"key": "a.b", "value": {"intValue": "7"}},
            {"key": "l", "value": {"arrayValue": {"values": [{"boolValue": true}, {"doubleValue": 0.5}]}}}]}});
        let line = nest_of(json!({"attributes": [{"key": "gen_ai.x", "value": value}]}));
        assert_eq!(line["attributes"]["gen_ai"]["x"], json!({"a.b": 7, "l": [true, 0.5]}));
    }

    #[test]
    fn names_inside_a_schema_keep_their_dots() {
        let schema = json!({"parameters": {"properties": {"user.name": {"type": "string"}}}});
        let line = json!({"attributes": {"llm.tools": [{"tool.json_schema": schema}]}});
        assert_eq!(nest_of(line)["attributes"]["llm"]["tools"], json!([{"tool": {"json_schema": schema}}]));
    }

    #[test]
    fn a_line_without_marks_and_a_name_of_only_dots_are_unchanged() {
        let line = json!({"user.id": 1, "session.id": 2});
        assert_eq!(nest_of(line.clone()), line);
        nest_of(json!({"attributes": {"gen_ai.".repeat(100_000): 1}}));
    }
}
