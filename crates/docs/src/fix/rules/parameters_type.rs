//! The type of `parameters` is not dict.

use serde_json::Value;

use crate::fix::keys::PARAMETERS;
use crate::fix::opinion::{Change, Opinion};
use crate::fix::rule::{FixRule, Safety};
use crate::fix::walk::each_parameters;

pub(super) static RULE: FixRule = FixRule {
    code: "schema/parameters-type",
    what: "The type of `parameters` is not dict.",
    why: "Every official doc has this type, and a schema with properties can have no other.",
    safety: Safety::Safe,
    fires: r#"{"name": "f", "description": "d", "parameters": {"required": [], "properties": {}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {}}}"#,
    judge,
};

fn judge(opinion: &mut Opinion<'_>) {
    each_parameters(opinion.functions, |site, schema| {
        let wrong = match schema.get("type") {
            None => true,
            Some(kind) => *kind != "dict" && schema.get("properties").is_some_and(Value::is_object),
        };
        if wrong {
            opinion.change(Change::at(site.pointer).set_in_order(schema, "type", "dict", &PARAMETERS));
        }
    });
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::fix::fix;

    #[test]
    fn a_schema_of_another_type_without_properties_keeps_it() {
        let parameters = json!({"type": "array", "items": {"type": "string"}});
        let sent = [json!({"name": "f", "description": "d", "parameters": parameters})];
        assert_eq!(fix(&sent, Safety::Unsafe).functions[0]["parameters"], parameters);
    }
}
