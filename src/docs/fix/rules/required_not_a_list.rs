//! `required` is not a list of names.

use serde_json::{Map, Value};

use crate::docs::fix::marks;
use crate::docs::fix::opinion::{Change, Opinion};
use crate::docs::fix::required::{REQUIRED, each_with_properties};
use crate::docs::fix::{Rule, Safety};

pub(super) static RULE: Rule = Rule {
    code: "schema/required-not-a-list",
    what: "`required` is not a list of names.",
    why: "A name, or names with commas between, makes a list of them, and so do names in deeper lists or marked in an \
          object; `true` means all parameters, anything else none.",
    safety: Safety::Safe,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": "a", "properties": {
        "a": {"type": "string", "description": "x"}}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {}}}"#,
    judge,
};

fn judge(opinion: &mut Opinion<'_>) {
    each_with_properties(opinion, |site, schema, properties| {
        let before = schema.get(REQUIRED)?;
        let is_list_of_names = before.as_array().is_some_and(|list| !list.iter().any(holds_names));
        let names: Vec<Value> = names(before, properties).into_iter().map(Value::String).collect();
        (!is_list_of_names).then(|| Change::at(site.pointer).replace(REQUIRED, before, names))
    });
}

/// Whether an element is itself a list or an object, in which the names stand deeper.
fn holds_names(element: &Value) -> bool {
    element.is_array() || element.is_object()
}

fn names(required: &Value, properties: &Map<String, Value>) -> Vec<String> {
    let all = || properties.keys().cloned().collect();
    match required {
        Value::Bool(true) => all(),
        Value::String(name) if properties.contains_key(name) => vec![name.clone()],
        Value::String(word) => match word.trim().to_ascii_lowercase().as_str() {
            "true" | "yes" | "all" => all(),
            "false" | "no" | "none" | "null" | "" => Vec::new(),
            _ => word
                .split([',', ' ', '[', ']', '"', '\''])
                .filter(|n| !n.is_empty())
                .map(str::to_owned)
                .collect(),
        },
        Value::Array(list) => list.iter().flat_map(|element| names(element, properties)).collect(),
        Value::Object(map) => named(map, properties),
        _ => Vec::new(),
    }
}

/// `{"name": "city"}` names one, `{"city": true}` each that is marked.
fn named(map: &Map<String, Value>, properties: &Map<String, Value>) -> Vec<String> {
    if let Some(Value::String(name)) = map.get("name") {
        return vec![name.clone()];
    }
    let marked = map
        .iter()
        .filter(|(name, value)| properties.contains_key(*name) && marks::read(REQUIRED, value) == Some(true));
    marked.map(|(name, _)| name.clone()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_are_found_in_every_form() {
        let properties = json!({"city": {}, "day": {}, "a b": {}}).as_object().unwrap().clone();
        for (required, expected) in [
            (json!("city"), vec!["city"]),
            (json!("city, day"), vec!["city", "day"]),
            (json!("a b"), vec!["a b"]),
            (json!("true"), vec!["city", "day", "a b"]),
            (json!({"city": true, "day": false}), vec!["city"]),
            (json!([["city"], {"name": "day"}]), vec!["city", "day"]),
            (json!(null), vec![]),
        ] {
            assert_eq!(names(&required, &properties), expected, "{required}");
        }
    }
}
