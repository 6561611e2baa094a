//! A parameter has no type.

use serde_json::{Map, Value};

use crate::combining::SUBSTITUTES;
use crate::fix::keys::DESCRIPTION;
use crate::fix::opinion::{Change, Opinion};
use crate::fix::rule::{FixRule, Safety};
use crate::fix::walk::{SchemaPlace, each_schema};
use crate::fix::wording::kind;
use callsieve_bfcl::types::Type;

pub(super) static RULE: FixRule = FixRule {
    code: "schema/missing-type",
    what: "A parameter has no type.",
    why: "The type is inferred from the properties, items, enum or default, or from a type that the description \
          states (`Latitude, decimal`); otherwise it is string, which is a guess.",
    safety: Safety::Unsafe,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"description": "x", "enum": ["c", "f"]}}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"description": "x", "type": "string"}}}}"#,
    judge,
};

fn judge(opinion: &mut Opinion<'_>) {
    each_schema(opinion.functions, |site, schema| {
        let combined = SUBSTITUTES.iter().any(|key| schema.contains_key(*key));
        let absent = schema.get("type").is_none_or(|kind| kind.is_null() || *kind == "");
        if site.place != SchemaPlace::Parameters && absent && !combined {
            opinion.change(Change::at(site.pointer).set(schema, "type", inferred(schema)));
        }
    });
}

fn inferred(schema: &Map<String, Value>) -> Type {
    if schema.get("properties").is_some_and(Value::is_object) {
        return Type::Dict;
    }
    if schema.contains_key("items") {
        return Type::Array;
    }
    let choices = schema.get("enum").and_then(Value::as_array).into_iter().flatten();
    let mut types = choices.chain(schema.get("default")).filter_map(Type::of_value);
    match types.next() {
        Some(first) if types.all(|kind| kind == first) => first,
        None => {
            let text = schema.get(DESCRIPTION).and_then(Value::as_str);
            text.and_then(kind::stated).unwrap_or(Type::String)
        }
        _ => Type::String,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::fix::fix;

    #[test]
    fn a_type_in_the_description_counts_only_if_nothing_else_states_one() {
        for (property, expected) in [
            (json!({"description": "Longitude, decimal"}), "float"),
            (json!({"description": "Longitude, decimal", "type": ""}), "float"),
            (json!({"description": "Longitude, decimal", "default": "east"}), "string"),
            (json!({"description": "Longitude, decimal", "enum": [1, 2]}), "integer"),
            (json!({"description": "Longitude, decimal", "type": "string"}), "string"),
            (json!({"description": "Longitude (-180; 180)"}), "string"),
        ] {
            let function = json!({"name": "f", "description": "d",
                "parameters": {"type": "dict", "required": ["a"], "properties": {"a": property}}});
            let sent = [function];
            let fixed = fix(&sent, Safety::Unsafe).functions;
            assert_eq!(fixed[0]["parameters"]["properties"]["a"]["type"], expected, "{property}");
            if property.get("type").is_none() {
                assert_eq!(fix(&sent, Safety::Safe).functions, sent);
            }
        }
    }

    #[test]
    fn a_map_of_descriptions_states_types_too() {
        let function = json!({"name": "f", "description": "d",
            "parameters": {"lat": "Latitude, decimal (-90; 90)", "n": "Count of bells", "who": "Name"}});
        let fixed = fix(&[function], Safety::Unsafe).functions;
        let kinds =
            ["lat", "n", "who"].map(|name| fixed[0]["parameters"]["properties"][name]["type"].clone());
        assert_eq!(json!(kinds), json!(["float", "integer", "string"]));
    }
}
