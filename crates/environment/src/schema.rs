//! JSON Schemas of functions as others write them, with the type names of JSON Schema.

use serde_json::{Map, Value, json};

/// Names of types in other notations, and those of JSON Schema.
const TYPES: [(&str, &str); 9] = [
    ("dict", "object"),
    ("float", "number"),
    ("double", "number"),
    ("int", "integer"),
    ("long", "integer"),
    ("str", "string"),
    ("bool", "boolean"),
    ("list", "array"),
    ("tuple", "array"),
];

/// Returns a function doc with `name`, `description`, `parameters` and `response`, in this order, with the type names of
/// JSON Schema. `name` is the one under which the function is called.
pub(crate) fn doc(name: &str, doc: &Value) -> Map<String, Value> {
    let get = |key: &str| doc.get(key).filter(|value| !value.is_null());
    let mut parameters =
        get("parameters").or_else(|| get("inputSchema")).cloned().unwrap_or_else(|| json!({}));
    translate(&mut parameters);
    if let Value::Object(schema) = &mut parameters {
        if !schema.contains_key("type") {
            schema.shift_insert(0, "type".to_owned(), "object".into());
        }
        schema.entry("properties").or_insert_with(|| json!({}));
    } else {
        parameters = json!({"type": "object", "properties": {}});
    }
    let mut read = Map::new();
    read.insert("name".to_owned(), name.into());
    read.insert("description".to_owned(), get("description").cloned().unwrap_or_else(|| "".into()));
    read.insert("parameters".to_owned(), parameters);
    if let Some(response) = get("response").or_else(|| get("outputSchema")) {
        let mut response = response.clone();
        translate(&mut response);
        read.insert("response".to_owned(), response);
    }
    read
}

/// Replaces names of types below a schema. `any` is no type. JSON that was read from text is not deep.
fn translate(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            if members.get("type").is_some_and(|name| name == "any") {
                members.shift_remove("type");
            }
            for (key, value) in members.iter_mut() {
                match (key.as_str(), value) {
                    ("type", Value::String(name)) => {
                        if let Some((_, known)) = TYPES.iter().find(|(other, _)| other == name) {
                            *name = (*known).to_owned();
                        }
                    }
                    // Values of a parameter, not schemas.
                    ("default" | "enum" | "const" | "examples" | "required", _) => {}
                    (_, value) => translate(value),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(translate),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_of_python_become_those_of_json_schema() {
        let given = json!({"name": "x", "parameters": {"type": "dict", "properties": {
            "type": {"type": "float", "default": {"type": "dict"}},
            "all": {"type": "any"},
            "list": {"type": "list", "items": {"type": "int"}},
        }}, "response": {"type": "dict"}});
        let doc = doc("f", &given);
        assert_eq!(doc["name"], "f");
        assert_eq!(doc["response"], json!({"type": "object"}));
        assert_eq!(
            doc["parameters"]["properties"],
            json!({"type": {"type": "number", "default": {"type": "dict"}}, "all": {}, "list": {"type": "array", "items": {"type": "integer"}}})
        );
    }

    #[test]
    fn a_doc_without_a_schema_has_no_parameters() {
        let empty = json!({"type": "object", "properties": {}});
        assert_eq!(doc("f", &json!({}))["parameters"], empty);
        assert_eq!(doc("f", &json!({"inputSchema": true}))["parameters"], empty);
    }
}
