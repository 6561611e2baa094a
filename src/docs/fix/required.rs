//! Which parameters must be given: one list beside the properties.

use serde_json::{Map, Value, json};

use super::frame::PARAMETERS;
use super::opinion::{Change, Opinion};
use super::walk::{Place, Site, each_function, each_parameters, each_schema};
use super::{Rule, Safety};
use crate::docs::patch::token;

const REQUIRED: &str = "required";

pub(super) static BESIDE_PARAMETERS: Rule = Rule {
    code: "schema/required-beside-parameters",
    what: "The list of required parameters stands beside `parameters`.",
    why: "It belongs inside and is moved there.",
    safety: Safety::Safe,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "properties": {}}, "required": []}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {}}, "required": []}"#,
    judge: beside_parameters,
};

fn beside_parameters(opinion: &mut Opinion<'_>) {
    each_function(opinion.functions, |pointer, function| {
        let Some(before @ Value::Array(_)) = function.get(REQUIRED) else { return };
        let Some(Value::Object(parameters)) = function.get("parameters") else { return };
        if !parameters.contains_key(REQUIRED) {
            let change =
                Change::at(pointer).remove(REQUIRED, before).add("parameters/required", before.clone());
            opinion.change(change);
        }
    });
}

pub(super) static AMONG_PROPERTIES: Rule = Rule {
    code: "schema/required-among-properties",
    what: "The list of required parameters stands among the properties.",
    why: "A list is no schema, so it cannot be a parameter of that name; it is moved out.",
    safety: Safety::Safe,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "properties": {"required": ["a"]}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {
        "required": {"type": "boolean", "description": "x", "default": false}}}}"#,
    judge: among_properties,
};

fn among_properties(opinion: &mut Opinion<'_>) {
    each_schema(opinion.functions, |site, schema| {
        let Some(before @ Value::Array(list)) = schema.get("properties").and_then(|all| all.get(REQUIRED))
        else {
            return;
        };
        let change = Change::at(site.pointer).remove("properties/required", before);
        let moves = site.place == Place::Parameters && !schema.contains_key(REQUIRED);
        let change = if moves { with_required(change, schema, list.clone()) } else { change };
        opinion.change(change);
    });
}

pub(super) static PER_PARAMETER: Rule = Rule {
    code: "schema/required-per-parameter",
    what: "Parameters are marked as required or optional one by one.",
    why: "The marks are collected into the one list, in the order of the properties.",
    safety: Safety::Safe,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "properties": {
        "a": {"type": "string", "description": "x", "required": true}}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"type": "string", "description": "x"}}}}"#,
    judge: per_parameter,
};

fn per_parameter(opinion: &mut Opinion<'_>) {
    each_with_properties(opinion, |site, schema, properties| {
        let listed = schema.get(REQUIRED).and_then(Value::as_array);
        let mut required: Vec<_> = listed.into_iter().flatten().cloned().collect();
        let mut change = Change::at(site.pointer);
        for (name, property) in properties {
            let mark = |key: &str| property.get(key).filter(|value| value.is_boolean());
            for (key, means) in [(REQUIRED, true), ("optional", false)] {
                let Some(before) = mark(key) else { continue };
                change = change.remove(&format!("properties/{}/{key}", token(name)), before);
                if *before == means && !required.contains(&json!(name)) {
                    required.push(json!(name));
                }
            }
        }
        if change.is_empty() {
            return None;
        }
        let same = listed.is_some_and(|listed| *listed == required);
        Some(if same { change } else { with_required(change, schema, required) })
    });
}

pub(super) static NOT_A_LIST: Rule = Rule {
    code: "schema/required-not-a-list",
    what: "`required` is not a list.",
    why: "A name, or names with commas between, makes a list of them; `true` means all parameters, anything else none.",
    safety: Safety::Safe,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": "a", "properties": {
        "a": {"type": "string", "description": "x"}}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {}}}"#,
    judge: not_a_list,
};

fn not_a_list(opinion: &mut Opinion<'_>) {
    each_with_properties(opinion, |site, schema, properties| {
        let before = schema.get(REQUIRED).filter(|required| !required.is_array())?;
        let names = match before {
            Value::String(name) if properties.contains_key(name) => vec![json!(name)],
            Value::String(names) => names.split(',').map(|name| json!(name.trim())).collect(),
            Value::Bool(true) => properties.keys().map(|name| json!(name)).collect(),
            _ => Vec::new(),
        };
        Some(Change::at(site.pointer).replace(REQUIRED, before, names))
    });
}

pub(super) static MISSING_REQUIRED: Rule = Rule {
    code: "schema/missing-required",
    what: "`parameters` has no list of required parameters.",
    why: "JSON Schema reads that as none, and BFCL writes it out.",
    safety: Safety::Safe,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "properties": {}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {}}}"#,
    judge: missing_required,
};

fn missing_required(opinion: &mut Opinion<'_>) {
    each_parameters(opinion.functions, |site, schema| {
        if !schema.contains_key(REQUIRED) {
            opinion.change(with_required(Change::at(site.pointer), schema, Vec::new()));
        }
    });
}

pub(super) static WITHOUT_PROPERTY: Rule = Rule {
    code: "schema/required-without-property",
    what: "`required` names a parameter that does not exist, or one twice.",
    why: "No call can give it, so every answer would be wrong; the name is taken off the list.",
    safety: Safety::Safe,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["ghost"], "properties": {}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"type": "string", "description": "x"}}}}"#,
    judge: without_property,
};

fn without_property(opinion: &mut Opinion<'_>) {
    each_with_properties(opinion, |site, schema, properties| {
        let before @ Value::Array(list) = schema.get(REQUIRED)? else { return None };
        let mut known: Vec<Value> = Vec::with_capacity(list.len());
        for name in list {
            if name.as_str().is_some_and(|name| properties.contains_key(name)) && !known.contains(name) {
                known.push(name.clone());
            }
        }
        (known.len() < list.len()).then(|| Change::at(site.pointer).replace(REQUIRED, before, known))
    });
}

pub(super) static NESTED: Rule = Rule {
    code: "schema/nested-required",
    what: "A schema inside `parameters` has a list of required members.",
    why: "BFCL knows `required` only for the function's own parameters; no official doc has it deeper.",
    safety: Safety::Safe,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"type": "dict", "description": "x", "required": [], "properties": {}}}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"type": "dict", "description": "x", "properties": {}}}}}"#,
    judge: nested,
};

fn nested(opinion: &mut Opinion<'_>) {
    each_schema(opinion.functions, |site, schema| {
        if let Some(before) = schema.get(REQUIRED).filter(|_| site.place != Place::Parameters) {
            opinion.change(Change::at(site.pointer).remove(REQUIRED, before));
        }
    });
}

/// Shows every `parameters` with its properties and takes up the change proposed for it.
fn each_with_properties(
    opinion: &mut Opinion<'_>,
    mut look: impl FnMut(&Site<'_>, &Map<String, Value>, &Map<String, Value>) -> Option<Change>,
) {
    each_parameters(opinion.functions, |site, schema| {
        if let Some(Value::Object(properties)) = schema.get("properties")
            && let Some(change) = look(site, schema, properties)
        {
            opinion.change(change);
        }
    });
}

/// The list in its place among the keys of `parameters`.
fn with_required(change: Change, schema: &Map<String, Value>, names: Vec<Value>) -> Change {
    change.set_in_order(schema, REQUIRED, names, &PARAMETERS)
}
