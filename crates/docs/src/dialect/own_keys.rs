//! Other APIs' names for a function's own keys: its name, its description, its parameters.
//!
//! The names are rows of `tables`. Also supported: parameters grouped by their place in a web request, a schema under
//! an unknown key, and a schema in place of the function. Only keys are renamed and wrappers removed; the inside of the
//! parameters is left to `fix`.

use serde_json::{Map, Value};

use super::tables::{ABOUT_ANSWERS, ALIASES, PLACES, SCHEMA_HOLDERS, SCHEMA_PARTS};
use super::{Collector, holds_parameters, is_named};
use crate::fix::form::describes_parameter;
use crate::holders::are_held_for_fix;
use crate::parse::step::ParseStep;
use crate::patch::rename_key;
use callsieve_notation::allowance::{Allowance, bytes_of};

impl Collector<'_> {
    /// Renames other APIs' names for a function's keys.
    pub(super) fn with_own_keys(&mut self, mut map: Map<String, Value>) -> Map<String, Value> {
        for (alias, key, step) in ALIASES {
            let taken = map.contains_key(*key) || (*key == "parameters" && are_held_for_fix(&map));
            if !taken && map.get(*alias).is_some_and(|value| can_be(key, value)) {
                map = rename_key(map, alias, key);
                self.note(*step);
            }
        }
        if let Some(joined) = joined_places(&map, self.allowance) {
            map = joined;
            self.note(ParseStep::ApiRecord);
        }
        if let Some(key) = only_schema(&map).map(str::to_owned) {
            map = rename_key(map, &key, "parameters");
            self.note(ParseStep::ApiRecord);
        }
        if let Some(around) = schema_as_function(&map, self.allowance) {
            if !is_named(&map) {
                self.note(ParseStep::NamedByTitle);
            }
            map = around;
        }
        unframe_schema(&mut map);
        map
    }
}

/// Returns true if a value has the type that a function's key requires.
fn can_be(key: &str, value: &Value) -> bool {
    match key {
        "parameters" => value.is_object() || value.is_array() || value.is_null() || value.is_string(),
        _ => value.as_str().is_some_and(|text| !text.trim().is_empty()),
    }
}

/// Merges the parameters of all places of a web request into one map, unless a name occurs in two places.
fn joined_places(map: &Map<String, Value>, allowance: &Allowance) -> Option<Map<String, Value>> {
    if are_held_for_fix(map) {
        return None;
    }
    let mut joined = Map::new();
    let mut first = None;
    for (key, value) in map.iter().filter(|(key, _)| PLACES.contains(&key.as_str())) {
        first.get_or_insert(key);
        allowance.take(bytes_of(value)).then_some(())?;
        for (name, parameter) in value.as_object()? {
            if joined.insert(name.clone(), parameter.clone()).is_some() {
                return None;
            }
        }
    }
    let first = first?;
    let mut joined = Some(Value::Object(joined));
    let members = map.iter().filter_map(|(key, value)| match key {
        key if key == first => Some(("parameters".to_owned(), joined.take()?)),
        key if PLACES.contains(&key.as_str()) => None,
        _ => Some((key.clone(), value.clone())),
    });
    Some(members.collect())
}

/// Returns the key of the only schema with properties in a function without parameters, whatever its name.
fn only_schema(map: &Map<String, Value>) -> Option<&str> {
    if holds_parameters(map) || map.contains_key("properties") || !is_named(map) {
        return None;
    }
    let is_schema = |value: &Value| {
        let is_object = value.get("type").is_none_or(|kind| *kind == "object" || *kind == "dict");
        is_object && value.get("properties").is_some_and(Value::is_object)
    };
    let is_about_answers = |key: &str| {
        let key = key.to_ascii_lowercase();
        ABOUT_ANSWERS.iter().any(|word| key.contains(word))
    };
    let mut found = map.iter().filter(|(key, value)| !is_about_answers(key) && is_schema(value));
    match (found.next(), found.next()) {
        (Some((key, _)), None) => Some(key),
        _ => None,
    }
}

/// Returns the function for a schema in its place, as pydantic prints a class: the title is the name.
fn schema_as_function(map: &Map<String, Value>, allowance: &Allowance) -> Option<Map<String, Value>> {
    let properties = map.get("properties")?.as_object().filter(|_| !holds_parameters(map))?;
    let name = map.get("name").or_else(|| map.get("title")).filter(|name| can_be("name", name))?;
    // The schema of a call, which prompts print next to their tools, is not a function.
    if properties.len() == 2 && ["name", "arguments"].iter().all(|key| properties.contains_key(*key)) {
        return None;
    }
    let n_bytes: usize = map.values().map(bytes_of).sum();
    allowance.take(n_bytes).then_some(())?;
    let mut function = Map::new();
    function.insert("name".to_owned(), name.clone());
    let is_part = |key: &str| SCHEMA_PARTS.contains(&key);
    let others = map.iter().filter(|(key, _)| !is_part(key) && *key != "name" && *key != "title");
    function.extend(others.map(|(key, value)| (key.clone(), value.clone())));
    let parts = map.iter().filter(|(key, _)| is_part(key)).map(|(key, value)| (key.clone(), value.clone()));
    let is_frame = |(key, value): &(String, Value)| key == "type" && value == "function";
    function.insert("parameters".to_owned(), Value::Object(parts.filter(|part| !is_frame(part)).collect()));
    Some(function)
}

/// Removes a wrapper around the schema.
fn unframe_schema(map: &mut Map<String, Value>) {
    if let Some(Value::Object(schema)) = map.get_mut("parameters")
        && schema.len() == 1
        && let Some(key) = SCHEMA_HOLDERS.iter().find(|key| schema.get(**key).is_some_and(is_wrapped_schema))
    {
        let inner = schema.shift_remove(*key).unwrap_or_default();
        map.insert("parameters".to_owned(), inner);
    }
}

/// Returns true if an object is not the only parameter of a bare map, with the name of a wrapper.
fn is_wrapped_schema(value: &Value) -> bool {
    let is_other_type = |kind: &str| !["object", "dict"].contains(&kind.to_ascii_lowercase().as_str());
    let is_parameter = value.get("type").and_then(Value::as_str).is_some_and(is_other_type)
        && value.get("properties").is_none()
        && describes_parameter(value);
    value.is_object() && !is_parameter
}
