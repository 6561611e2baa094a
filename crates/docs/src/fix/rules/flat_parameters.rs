//! `parameters` maps names to types, descriptions or schemas, without a schema around them.

use serde_json::{Map, Value};

use crate::fix::opinion::{Change, Opinion};
use crate::fix::rule::{FixRule, Safety};
use crate::fix::shape::{as_schema, is_flat, is_parameter, says_kind, schema_of};
use crate::fix::values::is_undescribed;
use crate::fix::walk::each_function;

pub(super) static RULE: FixRule = FixRule {
    code: "schema/flat-parameters",
    what: "`parameters` maps names to types, descriptions or schemas, without a schema around them.",
    why: "The map becomes `properties`. All parameters are required except those with a default or called optional, \
          which is a guess. Further marks and descriptions of single parameters are handled one by one.",
    safety: Safety::Unsafe,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": {"type": "str", "description": "x"}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "object"}}"#,
    judge,
};

fn judge(opinion: &mut Opinion<'_>) {
    each_function(opinion.functions, |pointer, function| {
        let flat = function.get("parameters").filter(|parameters| is_flat(parameters));
        let Some(before @ Value::Object(map)) = flat else { return };
        // A name with texts and no description may be a call or a function.
        if is_undescribed(function) && !function.contains_key("title") && !map.values().any(says_kind) {
            return;
        }
        let properties: Map<String, Value> = map
            .iter()
            .filter(|(key, value)| is_parameter(map, key, value))
            .map(|(key, value)| (key.clone(), as_schema(value)))
            .collect();
        let mut schema = schema_of(&properties);
        if let Some(required @ Value::Array(_)) = map.get("required") {
            schema["required"] = required.clone();
        }
        if let Some(definitions) = map.get("$defs") {
            schema["$defs"] = definitions.clone();
        }
        opinion.change(Change::at(pointer).replace("parameters", before, schema));
    });
}
