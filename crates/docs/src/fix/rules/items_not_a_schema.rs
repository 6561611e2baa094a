//! `items` is the name of a type, or a list of schemas.

use serde_json::{Value, json};

use crate::fix::notation;
use crate::fix::opinion::{Change, Opinion};
use crate::fix::rule::{FixRule, Safety};
use crate::fix::walk::each_schema;

pub(super) static RULE: FixRule = FixRule {
    code: "schema/items-not-a-schema",
    what: "`items` is the name of a type, or a list of schemas.",
    why: "BFCL requires one schema for all elements. A name becomes the type; a list of equal schemas makes the \
          parameter a tuple.",
    safety: Safety::Safe,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"type": "array", "description": "x", "items": "string"}}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"type": "array", "description": "x", "items": [{"type": "string"}, {"type": "integer"}]}}}}"#,
    judge,
};

fn judge(opinion: &mut Opinion<'_>) {
    each_schema(opinion.functions, |site, schema| {
        let Some(before) = schema.get("items") else { return };
        match before {
            Value::String(text) if notation::read(text).is_some() => {
                opinion.change(Change::at(site.pointer).replace("items", before, json!({"type": text})));
            }
            Value::Array(list) => {
                let Some(first @ Value::Object(_)) = list.first() else { return };
                if first.get("type").is_some() && list.iter().all(|other| other == first) {
                    let change = Change::at(site.pointer).replace("items", before, first.clone());
                    opinion.change(change.set(schema, "type", "tuple"));
                }
            }
            _ => {}
        }
    });
}
