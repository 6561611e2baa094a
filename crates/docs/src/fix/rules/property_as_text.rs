//! A property is a text instead of a schema.

use serde_json::Value;

use crate::fix::opinion::{Change, Opinion};
use crate::fix::rule::{FixRule, Safety};
use crate::fix::shape::as_schema;
use crate::fix::walk::each_schema;
use crate::patch::token;

pub(super) static RULE: FixRule = FixRule {
    code: "schema/property-as-text",
    what: "A property is a text instead of a schema.",
    why: "The name of a type becomes the type, any other text the description.",
    safety: Safety::Safe,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "properties": {"a": "integer"}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "properties": {"a": 7}}}"#,
    judge,
};

fn judge(opinion: &mut Opinion<'_>) {
    each_schema(opinion.functions, |site, schema| {
        let members = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
        for (name, member) in members.filter(|(_, member)| member.is_string()) {
            let key = format!("properties/{}", token(name));
            opinion.change(Change::at(site.pointer).replace(&key, member, as_schema(member)));
        }
    });
}
