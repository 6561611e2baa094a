//! A title replaces the description.

use serde_json::{Map, Value};

use crate::fix::keys::DESCRIPTION;
use crate::fix::opinion::{Change, Opinion};
use crate::fix::rule::{FixRule, Safety};
use crate::fix::values::is_undescribed;
use crate::fix::walk::{SchemaPlace, each_function, each_schema};

pub(super) static RULE: FixRule = FixRule {
    code: "schema/title-as-description",
    what: "A title replaces the description.",
    why: "The title is the author's own description, and BFCL has no titles.",
    safety: Safety::Safe,
    fires: r#"{"name": "f", "title": "Does it", "parameters": {"type": "dict", "required": [], "properties": {}}}"#,
    quiet: r#"{"name": "f", "title": "Does it", "description": "d"}"#,
    judge,
};

fn judge(opinion: &mut Opinion<'_>) {
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
        // Elements are described by their array.
        if !matches!(site.place, SchemaPlace::Parameters | SchemaPlace::Items) {
            look(site.pointer, schema);
        }
    });
}
