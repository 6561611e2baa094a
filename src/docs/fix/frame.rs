//! Keys of a function and of a schema: the right ones, no others, in BFCL's order.

use serde_json::{Map, Value, json};

use super::form::is_nothing;
use super::opinion::{Change, Opinion};
use super::references::holds_reference;
use super::walk::{Place, each_function, each_parameters, each_schema};
use super::{Rule, Safety};

/// The keys of a function, in order.
const FUNCTION: [&str; 3] = ["name", "description", "parameters"];
/// The keys of `parameters`, in the order they get where one was missing.
pub(super) const PARAMETERS: [&str; 3] = ["type", "required", "properties"];
/// The keys of any other schema.
const SCHEMA: [&str; 6] = ["type", "description", "default", "enum", "items", "properties"];
/// Keys that say what nothing else says, so they wait for a rule or a reader.
const COMBINING: [&str; 4] = ["$ref", "anyOf", "oneOf", "allOf"];
const DEFINITIONS: [&str; 2] = ["$defs", "definitions"];

/// Other words for a function's keys.
const FUNCTION_ALIASES: [(&str, &str); 7] = [
    ("arguments", "parameters"),
    ("args", "parameters"),
    ("params", "parameters"),
    ("parameter", "parameters"),
    ("desc", "description"),
    ("summary", "description"),
    ("doc", "description"),
];
/// Other words for a schema's keys.
const SCHEMA_ALIASES: [(&str, &str); 6] = [
    ("property", "properties"),
    ("prefixItems", "items"),
    ("desc", "description"),
    ("summary", "description"),
    ("enums", "enum"),
    ("choices", "enum"),
];

pub(super) static MISSPELLED_KEY: Rule = Rule {
    code: "schema/misspelled-key",
    what: "A key is called by another word than BFCL's.",
    why: "Readers look for `parameters`, `properties` and `description` only; the key is renamed where it stands.",
    safety: Safety::Safe,
    fires: r#"{"name": "f", "desc": "d", "parameters": {"type": "dict", "required": [], "properties": {}}}"#,
    quiet: r#"{"name": "f", "desc": "d", "description": "e"}"#,
    judge: misspelled_key,
};

fn misspelled_key(opinion: &mut Opinion<'_>) {
    let functions = opinion.functions;
    each_function(functions, |pointer, function| rename_alias(pointer, function, &FUNCTION_ALIASES, opinion));
    each_schema(functions, |site, schema| rename_alias(site.pointer, schema, &SCHEMA_ALIASES, opinion));
}

/// Renames the first alias whose value is of the kind its key asks for.
fn rename_alias(
    pointer: &str,
    map: &Map<String, Value>,
    aliases: &[(&str, &str)],
    opinion: &mut Opinion<'_>,
) {
    let fits = |key: &str, value: &Value| match key {
        "description" => value.is_string(),
        "enum" | "items" => value.is_array(),
        "parameters" => value.is_object() || value.is_array(),
        _ => value.is_object(),
    };
    let found = map.iter().find_map(|(alias, value)| {
        let (_, key) = aliases.iter().find(|(known, _)| known == alias)?;
        let renames = fits(key, value) && !map.contains_key(*key);
        renames.then(|| Change::at(pointer).rename(alias, value, key))
    });
    if let Some(change) = found {
        opinion.change(change);
    }
}

pub(super) static MISSING_PROPERTIES: Rule = Rule {
    code: "schema/missing-properties",
    what: "`parameters` has no `properties`.",
    why: "A function without parameters says so with an empty object.",
    safety: Safety::Safe,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": []}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {}}}"#,
    judge: missing_properties,
};

fn missing_properties(opinion: &mut Opinion<'_>) {
    each_parameters(opinion.functions, |site, schema| {
        let absent = schema.get("properties").is_none_or(|value| value.is_null() || *value == json!([]));
        let combined = COMBINING.iter().any(|key| schema.contains_key(*key));
        if absent && !combined {
            opinion.change(Change::at(site.pointer).set_in_order(
                schema,
                "properties",
                json!({}),
                &PARAMETERS,
            ));
        }
    });
}

pub(super) static EXTRA_KEY: Rule = Rule {
    code: "schema/extra-key",
    what: "A function or a schema has a key BFCL does not know.",
    why: "Official docs use a closed set of keys; flags of other APIs (`strict`, `additionalProperties`, `$schema`, \
          examples, descriptions of the result) are dropped. What such keys say about a value is folded first.",
    safety: Safety::Safe,
    fires: r#"{"name": "f", "description": "d", "strict": true}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {}}}"#,
    judge: extra_key,
};

fn extra_key(opinion: &mut Opinion<'_>) {
    let functions = opinion.functions;
    each_function(functions, |pointer, function| {
        // Where parameters could not be found, any key may hold them.
        let found = function.get("parameters").is_some_and(|parameters| !is_nothing(parameters));
        drop_others(pointer, function, |key| !found || FUNCTION.contains(&key), opinion);
    });
    each_schema(functions, |site, schema| {
        let needs_definitions = site.place == Place::Parameters && holds_reference(&functions[site.function]);
        let known = |key: &str| {
            let own: &[&str] = if site.place == Place::Parameters { &PARAMETERS } else { &SCHEMA };
            own.contains(&key)
                || COMBINING.contains(&key)
                || (needs_definitions && DEFINITIONS.contains(&key))
        };
        drop_others(site.pointer, schema, known, opinion);
    });
}

fn drop_others(
    pointer: &str,
    map: &Map<String, Value>,
    known: impl Fn(&str) -> bool,
    opinion: &mut Opinion<'_>,
) {
    for (key, value) in map.iter().filter(|(key, _)| !known(key)) {
        opinion.change(Change::at(pointer).remove(&crate::docs::patch::token(key), value));
    }
}

pub(super) static KEY_ORDER: Rule = Rule {
    code: "schema/key-order",
    what: "The keys of a function stand in another order than name, description, parameters.",
    why: "Every official doc has them so, and models read docs from the front.",
    safety: Safety::Safe,
    fires: r#"{"description": "d", "name": "f", "parameters": {"type": "dict", "required": [], "properties": {}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "properties": {}, "required": []}}"#,
    judge: key_order,
};

fn key_order(opinion: &mut Opinion<'_>) {
    each_function(opinion.functions, |pointer, function| {
        let change = Change::at(pointer).order(function.keys().map(String::as_str), &FUNCTION);
        if !change.is_empty() {
            opinion.change(change);
        }
    });
}
