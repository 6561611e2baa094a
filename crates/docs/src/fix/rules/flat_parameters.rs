//! `parameters` maps names to types, descriptions or schemas, without a schema around them.

use std::cell::LazyCell;

use serde_json::{Map, Value};

use crate::fix::convention::Convention;
use crate::fix::form::{is_flat, is_parameter, says_kind};
use crate::fix::opinion::{Change, Opinion};
use crate::fix::required::REQUIRED;
use crate::fix::rule::{FixRule, Safety};
use crate::fix::shape::{as_schema, schema_of};
use crate::fix::values::is_undescribed;
use crate::fix::walk::each_function;

pub(super) static RULE: FixRule = FixRule {
    code: "schema/flat-parameters",
    what: "`parameters` maps names to types, descriptions or schemas, without a schema around them.",
    why: "The map becomes `properties`. All parameters are required except those with a default, called optional or \
          with `nullable: true`; if a function of the list marks its required parameters, only marked ones are. This \
          is a guess. Further marks and descriptions of single parameters are handled one by one.",
    safety: Safety::Unsafe,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": {"type": "str", "description": "x"}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "object"}}"#,
    judge,
};

fn judge(opinion: &mut Opinion<'_>) {
    let functions = opinion.functions;
    let convention = LazyCell::new(|| Convention::of(&functions));
    each_function(functions, |pointer, function| {
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
        let mut schema = schema_of(&properties, *convention);
        let mut change = Change::at(pointer);
        if let Some(required @ Value::Array(_)) = map.get(REQUIRED) {
            schema[REQUIRED] = required.clone();
        } else if let Some(required @ Value::Array(_)) = function.get(REQUIRED) {
            // The list is still outside of the map only if a parameter has its name.
            schema[REQUIRED] = required.clone();
            change = change.remove(REQUIRED, required);
        }
        if let Some(definitions) = map.get("$defs") {
            schema["$defs"] = definitions.clone();
        }
        opinion.change(change.replace("parameters", before, schema));
    });
}
