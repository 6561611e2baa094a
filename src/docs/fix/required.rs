//! The one list of parameters that must be given, beside the properties.

use rustc_hash::FxHashSet;
use serde_json::{Map, Value};

use super::keys::PARAMETERS;
use super::opinion::{Change, Opinion};
use super::walk::{Site, each_parameters};

pub(super) const REQUIRED: &str = "required";

/// The names a schema requires; nothing where it has no list of them.
pub(crate) fn names(schema: &Map<String, Value>) -> Option<FxHashSet<&str>> {
    Some(schema.get(REQUIRED)?.as_array()?.iter().filter_map(Value::as_str).collect())
}

/// Shows every `parameters` with its properties and takes up the change proposed for it.
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

/// One more name at the end of a list that is there.
pub(super) fn with_name(change: Change, name: &str) -> Change {
    change.add("required/-", name)
}

/// The list in its place among the keys of `parameters`.
pub(super) fn with_required(change: Change, schema: &Map<String, Value>, names: Vec<Value>) -> Change {
    change.set_in_order(schema, REQUIRED, names, &PARAMETERS)
}
