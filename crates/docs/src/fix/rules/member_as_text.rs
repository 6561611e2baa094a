//! A part of a schema is an object or a list inside a string.

use serde_json::{Map, Value};

use crate::fix::opinion::{Change, Opinion};
use crate::fix::rule::{FixRule, Safety};
use crate::fix::values::written;
use crate::fix::walk::each_schema;
use crate::patch::token;

/// Keys whose value is never text.
const PARTS: [&str; 4] = ["properties", "items", "required", "enum"];

pub(super) static RULE: FixRule = FixRule {
    code: "schema/member-as-text",
    what: "A part of a schema is an object or a list inside a string.",
    why: "Some exports write nested values as text; the text is parsed.",
    safety: Safety::Safe,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": "[\"a\"]", "properties": {
        "a": {"type": "string", "description": "x"}}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {
        "a": {"type": "string", "description": "x", "default": "[1]"}}}}"#,
    judge,
};

fn judge(opinion: &mut Opinion<'_>) {
    each_schema(opinion.functions, |site, schema| {
        let own = PARTS.iter().filter_map(|part| Some(((*part).to_owned(), schema.get(*part)?)));
        for (key, before) in own.chain(members(schema)) {
            if let Some(inner) = before.as_str().and_then(written) {
                opinion.change(Change::at(site.pointer).replace(&key, before, inner));
            }
        }
    });
}

/// Returns the schemas of the properties, with their pointers.
fn members(schema: &Map<String, Value>) -> impl Iterator<Item = (String, &Value)> {
    let members = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    members.map(|(name, member)| (format!("properties/{}", token(name)), member))
}
