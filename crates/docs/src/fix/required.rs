//! The list of required parameters.

use rustc_hash::FxHashSet;
use serde_json::{Map, Value, json};

use super::keys::PARAMETERS;
use super::opinion::{Change, Opinion};
use super::walk::{SchemaPlace, Site, each_parameters, each_schema};

pub(super) const REQUIRED: &str = "required";

/// Returns the names that a schema requires; `None` if it has no list of them.
pub(crate) fn names(schema: &Map<String, Value>) -> Option<FxHashSet<&str>> {
    Some(schema.get(REQUIRED)?.as_array()?.iter().filter_map(Value::as_str).collect())
}

/// Visits each `parameters` that has properties and applies the proposed changes.
pub(super) fn each_with_properties(
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

/// Visits each optional parameter without a default and applies the proposed default.
pub(super) fn each_without_default(
    opinion: &mut Opinion<'_>,
    look: impl Fn(&Map<String, Value>) -> Option<Value>,
) {
    let mut required = None;
    each_schema(opinion.functions, |site, schema| match site.place {
        SchemaPlace::Parameters => required = names(schema),
        SchemaPlace::Parameter(name) => {
            let is_optional = required.as_ref().is_some_and(|required| !required.contains(name));
            if is_optional
                && !schema.contains_key("default")
                && let Some(default) = look(schema)
            {
                opinion.change(Change::at(site.pointer).add("default", default));
            }
        }
        SchemaPlace::Member(_) | SchemaPlace::Items => {}
    });
}

/// Creates missing lists of required names from names found in the properties, one edit each.
pub(super) fn list_needed(
    opinion: &mut Opinion<'_>,
    needed: impl for<'p> Fn(&'p Map<String, Value>) -> Vec<&'p str>,
) {
    each_parameters(opinion.functions, |site, schema| {
        let Some(Value::Object(properties)) = schema.get("properties") else { return };
        if schema.contains_key(REQUIRED) {
            return;
        }
        for (n, name) in needed(properties).into_iter().enumerate() {
            let change = Change::at(site.pointer);
            opinion.change(match n {
                0 => with_required(change, schema, vec![json!(name)]),
                _ => with_name(change, name),
            });
        }
    });
}

/// Appends a name to an existing list.
pub(super) fn with_name(change: Change, name: &str) -> Change {
    change.add("required/-", name)
}

/// Adds the list at its position among the keys of `parameters`.
pub(super) fn with_required(change: Change, schema: &Map<String, Value>, names: Vec<Value>) -> Change {
    change.set_in_order(schema, REQUIRED, names, &PARAMETERS)
}
