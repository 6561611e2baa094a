//! What a call sees of functions: their names, the names and types of their parameters, which of them must be given,
//! which values may be, and what is taken for those left out. Descriptions are no part of it.
//!
//! A call that fits functions fits all others of the same interface.

use serde_json::{Map, Value, json};

use super::canonical;

/// What stands for the name of an only function: there is no other that a call could mean.
const ONLY: &str = "*";

/// The interface of some functions as text: equal for lists whose calls fit each other, in whatever order the functions are.
/// The name of an only function is left out.
pub fn of(functions: &[Value]) -> String {
    let mut shown: Vec<String> = functions
        .iter()
        .map(|function| {
            let name = if functions.len() == 1 { ONLY.into() } else { function["name"].clone() };
            let parameters = shape(&function["parameters"]);
            canonical::value_text(&Value::from(vec![name, parameters]))
        })
        .collect();
    shown.sort_unstable();
    shown.join("\n")
}

/// A schema without what is said about it.
fn shape(schema: &Value) -> Value {
    let Value::Object(schema) = schema else { return Value::Null };
    let mut shown = Map::new();
    for (key, value) in schema {
        let value = match key.as_str() {
            "type" => value.clone(),
            // A call that leaves the parameter out stands for one that gives this value.
            "default" if !is_nothing(value) => value.clone(),
            "required" | "enum" => sorted(value),
            "properties" => members(value, schema.get("required").map_or(&[], values)),
            "items" | "additionalProperties" | "not" => shape(value),
            "anyOf" | "oneOf" | "allOf" => Value::from(values(value).iter().map(shape).collect::<Vec<_>>()),
            _ => continue,
        };
        shown.insert(key.clone(), value);
    }
    Value::Object(shown)
}

/// Whether a default says that there is none.
fn is_nothing(default: &Value) -> bool {
    default.is_null()
        || default
            .as_str()
            .is_some_and(|text| ["", "null", "none"].contains(&text.trim().to_lowercase().as_str()))
}

/// Members by name; what is taken for one that must be given is nothing to a call.
fn members(properties: &Value, required: &[Value]) -> Value {
    let members = properties.as_object().into_iter().flatten().map(|(name, schema)| {
        let mut shown = shape(schema);
        if let (Value::Object(shown), true) = (&mut shown, required.contains(&json!(name))) {
            shown.shift_remove("default");
        }
        (name.clone(), shown)
    });
    Value::Object(members.collect())
}

fn sorted(list: &Value) -> Value {
    let mut list = values(list).to_vec();
    list.sort_by_key(canonical::value_text);
    Value::Array(list)
}

fn values(list: &Value) -> &[Value] {
    list.as_array().map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use std::slice::from_ref;

    use super::*;

    fn function(name: &str, parameters: &Value) -> Value {
        json!({"name": name, "description": "Tells the tide.", "parameters": parameters})
    }

    #[test]
    fn words_and_order_are_no_part_and_what_a_call_must_hold_to_is() {
        let parameters = json!({"type": "dict", "required": ["port", "day"], "properties": {
            "port": {"type": "string", "description": "Which port.", "enum": ["Inner", "Outer"]},
            "day": {"type": "array", "items": {"type": "integer", "description": "A day."}, "default": []}}});
        let tide = function("tide", &parameters);
        let mut said = tide.clone();
        said["parameters"]["properties"]["port"] = json!({"enum": ["Outer", "Inner"], "default": "Inner", "type": "string", "description": "The port meant."});
        said["parameters"]["required"] = json!(["day", "port"]);
        assert_eq!(of(from_ref(&tide)), of(&[said]));
        let wind = function("wind", &parameters);
        // An only function is meant whatever it is called; of several each is meant by its name.
        assert_eq!(of(from_ref(&tide)), of(from_ref(&wind)));
        assert_eq!(of(&[tide.clone(), wind.clone()]), of(&[wind.clone(), tide.clone()]));
        assert_ne!(of(&[tide.clone(), wind.clone()]), of(&[tide.clone(), function("gale", &parameters)]));
        let changes = [
            ("/parameters/required", json!(["port"])),
            ("/parameters/properties/port/type", json!("integer")),
            ("/parameters/properties/port/enum", json!(["Inner"])),
            ("/parameters/properties/day/items/type", json!("string")),
        ];
        for (at, value) in changes {
            let mut other = tide.clone();
            *other.pointer_mut(at).unwrap() = value;
            assert_ne!(of(from_ref(&tide)), of(&[other]), "{at}");
        }
    }

    #[test]
    fn what_is_taken_for_a_parameter_left_out_is_part_of_it() {
        let with = |default: Value| {
            function(
                "tide",
                &json!({"type": "dict", "required": [], "properties": {
                "day": {"type": "string", "description": "Which day.", "default": default}}}),
            )
        };
        for none in [json!("null"), json!("None"), json!("")] {
            assert_eq!(of(&[with(Value::Null)]), of(&[with(none)]));
        }
        assert_ne!(of(&[with(json!("today"))]), of(&[with(json!("tomorrow"))]));
        assert_ne!(of(&[with(json!("today"))]), of(&[with(Value::Null)]));
    }
}
