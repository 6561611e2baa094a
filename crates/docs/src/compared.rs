//! The form in which docs are compared: after all fixes, safe and unsafe, so that `str` and `string`, or a different
//! order of keys, make no difference.

use serde_json::Value;

use super::fix::renames::{Rename, name_of};
use super::{canonical, fix, interface};

/// A function in the form in which it is compared.
#[derive(Debug, PartialEq, Eq)]
pub struct ComparedFunction {
    /// The name after the fixes.
    pub name: String,
    /// The names of the parameters.
    pub parameters: Vec<String>,
    /// The canonical JSON of a list with only this function.
    pub text: String,
}

impl ComparedFunction {
    /// Fixes a function and returns its compared form.
    pub fn of(sent: &Value) -> Self {
        let (fixed, _) = fix::mended(std::slice::from_ref(sent), fix::Safety::Unsafe);
        let first = fixed.first().unwrap_or(sent);
        let parameters = first.pointer("/parameters/properties").and_then(Value::as_object);
        Self {
            name: name_of(first),
            parameters: parameters.map(|map| map.keys().cloned().collect()).unwrap_or_default(),
            text: canonical::text(std::slice::from_ref(first)),
        }
    }
}

/// A doc list in the form in which it is compared.
#[derive(Debug, PartialEq, Eq)]
pub struct ComparedList {
    /// The canonical JSON, in which near duplicates are searched.
    pub text: String,
    /// All descriptions, one per line.
    pub descriptions: String,
    /// The interface: names, types and required parameters, without descriptions.
    pub interface: String,
    /// The names that fixes change; recorded calls are renamed in the same way.
    pub renames: Vec<Rename>,
    /// The name before and after the fixes, if the list has exactly one function.
    pub only: Option<(String, String)>,
}

impl ComparedList {
    /// Fixes a list and returns its compared form.
    pub fn of(functions: &[Value]) -> Self {
        let (fixed, renames) = fix::mended(functions, fix::Safety::Unsafe);
        let mut descriptions = String::new();
        for function in &fixed {
            gather_descriptions(function, &mut descriptions);
        }
        Self {
            text: canonical::text(&fixed),
            descriptions,
            interface: interface::of(&fixed),
            renames,
            only: match (functions, &fixed[..]) {
                ([sent], [fixed]) => Some((name_of(sent), name_of(fixed))),
                _ => None,
            },
        }
    }
}

/// Appends all descriptions in a function or schema, at any depth, one per line.
fn gather_descriptions(value: &Value, out: &mut String) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                match value {
                    Value::String(text) if key == "description" => {
                        out.push_str(text);
                        out.push('\n');
                    }
                    value => gather_descriptions(value, out),
                }
            }
        }
        Value::Array(values) => {
            for value in values {
                gather_descriptions(value, out);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn spelling_and_key_order_make_no_difference() {
        let one = json!({"name": "ring", "description": "Rings.", "parameters": {"type": "object",
            "properties": {"bell": {"type": "str", "description": "Which."}}, "required": ["bell"]}});
        let other = json!({"parameters": {"required": ["bell"], "properties": {"bell": {"description": "Which.",
            "type": "string"}}, "type": "dict"}, "description": "Rings.", "name": "ring"});
        let function = ComparedFunction::of(&one);
        assert_eq!(function, ComparedFunction::of(&other));
        assert_eq!((function.name.as_str(), &function.parameters[..]), ("ring", &["bell".to_owned()][..]));
        // A list with one function has the same text as the function.
        assert_eq!(ComparedList::of(&[one]).text, function.text);
    }
}
