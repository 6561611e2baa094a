//! A function or a schema has a key that BFCL does not have.

use serde_json::{Map, Value};

use super::reference::holds_reference;
use crate::combining::COMBINING;
use crate::fix::form::{is_schema, is_stray_parameter};
use crate::fix::keys::{DEFINITIONS, FUNCTION, PARAMETERS, SCHEMA};
use crate::fix::opinion::{Change, Opinion};
use crate::fix::required::REQUIRED;
use crate::fix::rule::{FixRule, Safety};
use crate::fix::values::is_nothing;
use crate::fix::walk::{SchemaPlace, each_function, each_schema};
use crate::holders::{HOLDERS, takes_nothing};

pub(super) static RULE: FixRule = FixRule {
    code: "schema/extra-key",
    what: "A function or a schema has a key that BFCL does not have.",
    why: "Official docs use a closed set of keys; flags of other APIs (`strict`, `additionalProperties`, `$schema`, \
          examples, descriptions of the result) are dropped. Information about a value is moved to its description \
          first, and keys that may hold parameters, or are parameters outside of `properties`, are kept.",
    safety: Safety::Safe,
    fires: r#"{"name": "f", "description": "d", "strict": true}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {}}}"#,
    judge,
};

fn judge(opinion: &mut Opinion<'_>) {
    let functions = opinion.functions;
    each_function(functions, |pointer, function| {
        // If there are no parameters, any key may hold them.
        let found = function.get("parameters").is_some_and(|parameters| !is_nothing(parameters));
        let lists_required = |key: &str, value: &Value| {
            key == REQUIRED
                && value.is_array()
                && function.get("parameters").is_some_and(|all| !is_schema(all))
        };
        let stays = |key: &str, value: &Value| {
            !found
                || FUNCTION.contains(&key)
                || HOLDERS.contains(&key) && !takes_nothing(value)
                || lists_required(key, value)
        };
        drop_others(pointer, function, stays, opinion);
    });
    each_schema(functions, |site, schema| {
        let needs_definitions =
            site.place == SchemaPlace::Parameters && holds_reference(&functions[site.function]);
        let is_outermost = site.place == SchemaPlace::Parameters;
        let known = |key: &str, value: &Value| {
            let own: &[&str] = if is_outermost { &PARAMETERS } else { &SCHEMA };
            own.contains(&key)
                || (is_outermost && is_stray_parameter(key, value))
                || COMBINING.contains(&key)
                || (needs_definitions && DEFINITIONS.contains(&key))
        };
        drop_others(site.pointer, schema, known, opinion);
    });
}

fn drop_others(
    pointer: &str,
    map: &Map<String, Value>,
    stays: impl Fn(&str, &Value) -> bool,
    opinion: &mut Opinion<'_>,
) {
    for (key, value) in map.iter().filter(|(key, value)| !stays(key, value)) {
        opinion.change(Change::at(pointer).remove(&crate::patch::token(key), value));
    }
}
