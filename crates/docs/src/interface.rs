//! The part of functions that decides which calls are valid: names, names and types of parameters, required
//! parameters, allowed values and defaults. Descriptions are not part of it.
//!
//! A call that is valid for some functions is valid for all others with the same interface.

use rustc_hash::FxHashSet;
use serde_json::{Map, Value};

use super::canonical;

/// Replaces the name of a list's only function, as a call cannot mean another.
const ONLY: &str = "*";

/// Returns the interface of some functions as text, which is equal for lists that accept the same calls. The order of
/// functions makes no difference, and the name of an only function is omitted.
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

/// Returns a schema without descriptions.
fn shape(schema: &Value) -> Value {
    let Value::Object(schema) = schema else { return Value::Null };
    let mut shown = Map::new();
    for (key, value) in schema {
        let value = match key.as_str() {
            "type" => value.clone(),
            // A call without the parameter means the same as a call with this value.
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

/// Returns true if a default states that there is no default.
fn is_nothing(default: &Value) -> bool {
    default.is_null()
        || default
            .as_str()
            .is_some_and(|text| ["", "null", "none"].contains(&text.trim().to_lowercase().as_str()))
}

/// Returns the properties by name; a required property has no default, as no call can omit it.
fn members(properties: &Value, required: &[Value]) -> Value {
    let required: FxHashSet<&str> = required.iter().filter_map(Value::as_str).collect();
    let members = properties.as_object().into_iter().flatten().map(|(name, schema)| {
        let mut shown = shape(schema);
        if let (Value::Object(shown), true) = (&mut shown, required.contains(name.as_str())) {
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

    use serde_json::json;

    use super::*;

    fn function(name: &str, parameters: &Value) -> Value {
        json!({"name": name, "description": "Returns the tide.", "parameters": parameters})
    }

    #[test]
    fn descriptions_and_order_make_no_difference_but_constraints_do() {
        let parameters = json!({"type": "dict", "required": ["port", "day"], "properties": {
            "port": {"type": "string", "description": "Which port.", "enum": ["Inner", "Outer"]},
            "day": {"type": "array", "items": {"type": "integer", "description": "A day."}, "default": []}}});
        let tide = function("tide", &parameters);
        let mut said = tide.clone();
        said["parameters"]["properties"]["port"] = json!({"enum": ["Outer", "Inner"], "default": "Inner", "type": "string", "description": "The port meant."});
        said["parameters"]["required"] = json!(["day", "port"]);
        assert_eq!(of(from_ref(&tide)), of(&[said]));
        let wind = function("wind", &parameters);
        // The name of an only function makes no difference; the names of several functions do.
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
    fn defaults_of_optional_parameters_are_part_of_the_interface() {
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
