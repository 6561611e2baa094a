//! `required` is not a list of names.

use serde_json::{Map, Value};

use crate::fix::marks;
use crate::fix::opinion::{Change, Opinion};
use crate::fix::required::{REQUIRED, each_with_properties};
use crate::fix::rule::{FixRule, Safety};

pub(super) static RULE: FixRule = FixRule {
    code: "schema/required-not-a-list",
    what: "`required` is not a list of names.",
    why: "A name, comma-separated names, names in nested lists and names marked in an object become a list; `true` \
          means all parameters, `false` and null none. A value without names of parameters is unchanged.",
    safety: Safety::Safe,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": "a", "properties": {
        "a": {"type": "string", "description": "x"}}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {}}}"#,
    judge,
};

fn judge(opinion: &mut Opinion<'_>) {
    each_with_properties(opinion, |site, schema, properties| {
        let before = schema.get(REQUIRED)?;
        if before.as_array().is_some_and(|list| !list.iter().any(holds_names)) {
            return None;
        }
        let names = names(before, properties)?.into_iter().map(Value::String).collect::<Vec<_>>();
        Some(Change::at(site.pointer).replace(REQUIRED, before, names))
    });
}

/// Returns true if an element is a list or an object with nested names.
fn holds_names(element: &Value) -> bool {
    element.is_array() || element.is_object()
}

/// Returns the names in the value; `None` if no name can be read from it.
fn names(required: &Value, properties: &Map<String, Value>) -> Option<Vec<String>> {
    let all = || properties.keys().cloned().collect();
    match required {
        Value::Null | Value::Bool(false) => Some(Vec::new()),
        Value::Bool(true) => Some(all()),
        Value::String(name) if properties.contains_key(name) => Some(vec![name.clone()]),
        Value::String(word) => match word.trim().to_ascii_lowercase().as_str() {
            "true" | "yes" | "all" => Some(all()),
            "false" | "no" | "none" | "null" | "" => Some(Vec::new()),
            _ => listed(word, properties),
        },
        Value::Array(list) => {
            let each: Option<Vec<_>> = list.iter().map(|element| names(element, properties)).collect();
            Some(each?.concat())
        }
        Value::Object(map) => named(map, properties),
        Value::Number(_) => None,
    }
}

/// Returns the names in a text, at least one of which is a parameter.
fn listed(text: &str, properties: &Map<String, Value>) -> Option<Vec<String>> {
    let names = text.split([',', ' ', '[', ']', '"', '\'']).filter(|name| !name.is_empty());
    let names: Vec<String> = names.map(str::to_owned).collect();
    let is_list = names.is_empty() || names.iter().any(|name| properties.contains_key(name));
    is_list.then_some(names)
}

/// Returns the name in `{"name": "city"}`, or the marked names in `{"city": true}`, where every value is a mark.
fn named(map: &Map<String, Value>, properties: &Map<String, Value>) -> Option<Vec<String>> {
    if let Some(Value::String(name)) = map.get("name") {
        return Some(vec![name.clone()]);
    }
    let mut names = Vec::new();
    for (name, value) in map {
        if marks::read(REQUIRED, value).filter(|_| properties.contains_key(name))? {
            names.push(name.clone());
        }
    }
    Some(names)
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
            let expected = expected.into_iter().map(str::to_owned).collect();
            assert_eq!(names(&required, &properties), Some(expected), "{required}");
        }
    }

    #[test]
    fn a_value_without_names_is_not_an_empty_list() {
        let properties = json!({"city": {}}).as_object().unwrap().clone();
        for required in
            [json!({"city": "x"}), json!({"town": true}), json!("town"), json!(7), json!([{"city": "x"}])]
        {
            assert_eq!(names(&required, &properties), None, "{required}");
        }
    }
}
