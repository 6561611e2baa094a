//! Every function and every parameter says what it is.

use serde_json::{Map, Value};

use super::opinion::{Change, Opinion};
use super::walk::{Place, each_function, each_schema};
use super::{Rule, Safety};

const DESCRIPTION: &str = "description";

pub(super) static TITLE: Rule = Rule {
    code: "schema/title-for-description",
    what: "A title stands where a description should be.",
    why: "The title is the writer's own word for it, and BFCL has no titles.",
    safety: Safety::Safe,
    fires: r#"{"name": "f", "title": "Does it", "parameters": {"type": "dict", "required": [], "properties": {}}}"#,
    quiet: r#"{"name": "f", "title": "Does it", "description": "d"}"#,
    judge: title,
};

fn title(opinion: &mut Opinion<'_>) {
    let functions = opinion.functions;
    let mut look = |pointer: &str, map: &Map<String, Value>| {
        let Some(before @ Value::String(text)) = map.get("title") else { return };
        if !text.trim().is_empty() && is_undescribed(map) {
            let change = Change::at(pointer);
            opinion.change(match map.get(DESCRIPTION) {
                Some(empty) => change.replace(DESCRIPTION, empty, text.as_str()),
                None => change.rename("title", before, DESCRIPTION),
            });
        }
    };
    each_function(functions, &mut look);
    each_schema(functions, |site, schema| {
        if site.place != Place::Parameters {
            look(site.pointer, schema);
        }
    });
}

pub(super) static MISSING: Rule = Rule {
    code: "schema/missing-description",
    what: "A function or a parameter has no description.",
    why: "Every official one has. Its name is the only word there is for it; it tells a model nothing new, so the \
          edit is not safe.",
    safety: Safety::Unsafe,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"type": "string"}}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"type": "array", "description": "x", "items": {"type": "string"}}}}}"#,
    judge: missing,
};

fn missing(opinion: &mut Opinion<'_>) {
    let functions = opinion.functions;
    let mut describe = |pointer: &str, map: &Map<String, Value>, name: &str| {
        if is_undescribed(map) && !name.trim().is_empty() {
            opinion.change(Change::at(pointer).set(map, DESCRIPTION, name));
        }
    };
    each_function(functions, |pointer, function| {
        describe(pointer, function, function.get("name").and_then(Value::as_str).unwrap_or_default());
    });
    each_schema(functions, |site, schema| {
        if let Place::Parameter(name) | Place::Member(name) = site.place {
            describe(site.pointer, schema, name);
        }
    });
}

/// Whether a description is missing, null or blank.
pub(super) fn is_undescribed(map: &Map<String, Value>) -> bool {
    match map.get(DESCRIPTION) {
        None | Some(Value::Null) => true,
        Some(Value::String(text)) => text.trim().is_empty(),
        Some(_) => false,
    }
}
