//! What a source holds, counted item by item: functions, parameters, defaults, examples, enums, descriptions.
//!
//! Each format counts its documents on its own, without its reader, and the functions that were read are counted too.
//! Items are compared by content and function, not only by number, so a lost default is not balanced by another one. An
//! item of the source that is in no function that was read is *missing*.

use std::collections::BTreeMap;

use callsieve_text::content_hash::content_hash;
use serde::Serialize;
use serde_json::Value;

use crate::tool::{Api, Tool};

/// The kinds of items.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Tools.
    Tools,
    /// Functions.
    Functions,
    /// Parameters, with those inside of other parameters.
    Parameters,
    /// Defaults of parameters.
    Defaults,
    /// Examples of parameters.
    Examples,
    /// Lists of allowed values.
    Enums,
    /// Descriptions of tools, functions and parameters that are not blank.
    Descriptions,
}

/// The most characters of an item that a message shows.
const MAX_SHOWN: usize = 60;

/// Keys of a schema with one schema, or a list of them.
const SCHEMAS: [&str; 9] =
    ["items", "additionalProperties", "not", "contains", "allOf", "anyOf", "oneOf", "prefixItems", "else"];

/// Keys of a schema with schemas by name that are not parameters.
const NAMED: [&str; 3] = ["$defs", "definitions", "patternProperties"];

/// Items with their numbers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Census {
    items: BTreeMap<(Kind, u128), Item>,
    /// The function that is counted.
    function: String,
}

#[derive(Debug, Clone, PartialEq)]
struct Item {
    n: usize,
    shown: String,
}

/// An item of a source that was not read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Missing {
    /// The kind.
    pub kind: Kind,
    /// The function and the item, cut.
    pub item: String,
    /// How often it is missing.
    pub n: usize,
}

impl Census {
    /// Returns what the functions of tools hold.
    pub fn of_tools(tools: &[Tool]) -> Self {
        let mut census = Self::default();
        for tool in tools {
            census.tool(&tool.name, Some(&tool.description));
            tool.functions.iter().for_each(|api| census.api(api));
        }
        census
    }

    fn api(&mut self, api: &Api) {
        self.function(&api.original_name, api.doc.get("description").and_then(Value::as_str));
        self.schema(api.parameters());
    }

    /// Counts a tool and its description.
    pub fn tool(&mut self, name: &str, description: Option<&str>) {
        self.function.clear();
        self.add(Kind::Tools, name.trim());
        self.description(description);
    }

    /// Counts a function and its description; what follows belongs to it.
    pub fn function(&mut self, name: &str, description: Option<&str>) {
        name.clone_into(&mut self.function);
        self.add(Kind::Functions, "");
        self.description(description);
    }

    /// Counts a parameter of the current function. Its name is not compared, since equal names get numbers.
    pub fn parameter(&mut self) {
        self.add(Kind::Parameters, "");
    }

    /// Counts a description, unless it is blank.
    pub fn description(&mut self, text: Option<&str>) {
        if let Some(text) = text.filter(|text| !text.trim().is_empty()) {
            self.add(Kind::Descriptions, text);
        }
    }

    /// Counts a value: a default, an example, a list of allowed values.
    pub fn value(&mut self, kind: Kind, value: &Value) {
        self.add(kind, &value.to_string());
    }

    /// Counts everything in a JSON Schema of parameters.
    pub fn schema(&mut self, schema: &Value) {
        let Value::Object(map) = schema else {
            return schema.as_array().into_iter().flatten().for_each(|each| self.schema(each));
        };
        self.keywords(schema);
        for (_, property) in map.get("properties").and_then(Value::as_object).into_iter().flatten() {
            self.parameter();
            self.schema(property);
        }
        for key in SCHEMAS {
            if let Some(inner) = map.get(key) {
                self.schema(inner);
            }
        }
        let named = NAMED.iter().filter_map(|key| map.get(*key)?.as_object());
        for inner in named.flat_map(serde_json::Map::values) {
            self.schema(inner);
        }
    }

    /// Counts the keywords of one schema that say something about its value.
    pub fn keywords(&mut self, schema: &Value) {
        self.description(schema.get("description").and_then(Value::as_str));
        if let Some(default) = schema.get("default") {
            self.value(Kind::Defaults, default);
        }
        if let Some(values @ Value::Array(_)) = schema.get("enum") {
            self.value(Kind::Enums, values);
        }
        for key in ["example", "examples"] {
            if let Some(example) = schema.get(key) {
                self.value(Kind::Examples, example);
            }
        }
    }

    /// Returns the number of items of a kind.
    pub fn count(&self, kind: Kind) -> usize {
        self.items.iter().filter(|((of, _), _)| *of == kind).map(|(_, item)| item.n).sum()
    }

    /// Returns the items that another census has fewer of, in a fixed order.
    pub fn missing_in(&self, other: &Self) -> Vec<Missing> {
        let missing = |(key, item): (&(Kind, u128), &Item)| {
            let n = item.n.saturating_sub(other.items.get(key).map_or(0, |other| other.n));
            (n > 0).then(|| Missing { kind: key.0, item: item.shown.clone(), n })
        };
        self.items.iter().filter_map(missing).collect()
    }

    fn add(&mut self, kind: Kind, content: &str) {
        let key = format!("{}\0{content}", self.function);
        let shown = || {
            let shown = if content.is_empty() { &self.function } else { content };
            format!("{}: {}", self.function, shown.chars().take(MAX_SHOWN).collect::<String>())
        };
        self.items.entry((kind, content_hash(&key))).or_insert_with(|| Item { n: 0, shown: shown() }).n += 1;
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn census(schema: &Value) -> Census {
        let mut census = Census::default();
        census.function("ring", Some("Rings."));
        census.schema(schema);
        census
    }

    #[test]
    fn a_schema_is_counted_at_all_depths() {
        let schema = json!({"type": "object", "properties": {
            "description": {"type": "string", "description": "Text.", "default": ""},
            "at": {"anyOf": [{"type": "string", "enum": ["now"]}, {"type": "null"}], "examples": ["now"]},
            "bells": {"type": "array", "items": {"$ref": "#/$defs/Bell"}}},
            "$defs": {"Bell": {"properties": {"size": {"default": 1, "description": " "}}}}});
        let census = census(&schema);
        let counts = [Kind::Functions, Kind::Parameters, Kind::Defaults, Kind::Enums, Kind::Examples];
        assert_eq!(counts.map(|kind| census.count(kind)), [1, 4, 2, 1, 1]);
        assert_eq!(census.count(Kind::Descriptions), 2);
        assert_eq!(census.missing_in(&census), []);
    }

    #[test]
    fn a_changed_default_is_missing_although_the_numbers_agree() {
        let of = |default: u8| census(&json!({"properties": {"n": {"default": default}}}));
        let missing = of(1).missing_in(&of(2));
        assert_eq!(missing, [Missing { kind: Kind::Defaults, item: "ring: 1".to_owned(), n: 1 }]);
        assert_eq!(of(1).count(Kind::Defaults), of(2).count(Kind::Defaults));
    }
}
