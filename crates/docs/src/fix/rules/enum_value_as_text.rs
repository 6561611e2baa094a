//! All allowed values are numbers or booleans written as text.
//!
//! The editors of the official data converted `"7"` to 7 if every value of the list was a number, and left lists with a
//! word among them (`"dontcare"`). So does this rule.

use serde_json::Value;

use crate::fix::opinion::{Change, Opinion};
use crate::fix::rule::{FixRule, Safety};
use crate::fix::values::cast;
use crate::fix::walk::each_schema;

pub(super) static RULE: FixRule = FixRule {
    code: "schema/enum-value-as-text",
    what: "The allowed values of a number or a boolean are all written as text.",
    why: "A call can never use them. They are converted if each text is exactly how its value is written.",
    safety: Safety::Safe,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"type": "integer", "description": "x", "enum": ["1", "2"]}}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"type": "integer", "description": "x", "enum": ["1", "2", "dontcare"]}}}}"#,
    judge,
};

fn judge(opinion: &mut Opinion<'_>) {
    each_schema(opinion.functions, |site, schema| {
        let (Some(before @ Value::Array(texts)), Some(kind)) =
            (schema.get("enum"), schema.get("type").and_then(Value::as_str))
        else {
            return;
        };
        let is_scalar = ["integer", "float", "boolean"].contains(&kind) && !texts.is_empty();
        let values: Option<Vec<Value>> = texts.iter().map(|text| cast(text.as_str()?, kind)).collect();
        if let Some(values) = values.filter(|values| is_scalar && !values.contains(&Value::Null)) {
            opinion.change(Change::at(site.pointer).replace("enum", before, values));
        }
    });
}
