//! A type has another name than BFCL's eight types.

use serde_json::{Value, json};

use crate::fix::notation;
use crate::fix::opinion::{Change, Opinion};
use crate::fix::rule::{FixRule, Safety};
use crate::fix::values::is_undescribed;
use crate::fix::walk::{SchemaPlace, each_schema};
use callsieve_bfcl::types::Type;

pub(super) static RULE: FixRule = FixRule {
    code: "schema/type-synonym",
    what: "A type has another name than BFCL's eight types.",
    why: "The checker fails on an unknown type. The name is translated (object to dict, number to float, List[int] \
          to array with items), and stated elements and choices are kept; text in brackets after the type becomes \
          the description if there is none.",
    safety: Safety::Safe,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "object", "required": [], "properties": {}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"type": "thingummy", "description": "x"}}}}"#,
    judge,
};

fn judge(opinion: &mut Opinion<'_>) {
    each_schema(opinion.functions, |site, schema| {
        let Some(before @ Value::String(written)) = schema.get("type") else { return };
        if Type::named(written).is_some() {
            return;
        }
        let Some(notation) = notation::read(written).filter(|notation| !notation.lossy) else { return };
        if site.place == SchemaPlace::Parameters && notation.kind != Type::Dict {
            return;
        }
        let mut change = Change::at(site.pointer).replace("type", before, notation.kind);
        let said = [
            ("items", notation.items.as_ref().map(|items| items.schema())),
            ("enum", (!notation.choices.is_empty()).then(|| json!(notation.choices))),
            ("description", notation.format.filter(|_| is_undescribed(schema)).map(|format| json!(format))),
        ];
        for (key, value) in said {
            if let Some(value) = value.filter(|_| key == "description" || !schema.contains_key(key)) {
                change = change.set(schema, key, value);
            }
        }
        opinion.change(change);
    });
}
