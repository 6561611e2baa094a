//! What of docs is compared: functions as `fix` would leave them with all its fixes allowed, so that `str` and `string`,
//! or another order of keys, make no difference.

use serde_json::Value;

use super::fix::renames::{Rename, name_of};
use super::{canonical, fix, interface};

/// One function in the form in which it is compared.
#[derive(Debug, PartialEq, Eq)]
pub struct Function {
    /// Its name after the fixes.
    pub name: String,
    /// The names of its parameters.
    pub parameters: Vec<String>,
    /// Canonical JSON of the list that holds it alone.
    pub text: String,
}

impl Function {
    /// Fixes a function and takes from it what is compared.
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
pub struct List {
    /// The text that near copies are found by: canonical JSON.
    pub text: String,
    /// All descriptions, one a line.
    pub descriptions: String,
    /// What calls see of it.
    pub interface: String,
    /// The names that fixes change on the way: a call recorded against the list is carried along by them.
    pub renames: Vec<Rename>,
    /// The name of the only function as it was sent, and as it is after the fixes.
    pub only: Option<(String, String)>,
}

impl List {
    /// Fixes a list and takes from it what is compared.
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

/// Adds the descriptions of a function or a schema, and of all inside of it, one a line.
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
    fn spelling_makes_no_difference() {
        let one = json!({"name": "ring", "description": "Rings.", "parameters": {"type": "object",
            "properties": {"bell": {"type": "str", "description": "Which."}}, "required": ["bell"]}});
        let other = json!({"parameters": {"required": ["bell"], "properties": {"bell": {"description": "Which.",
            "type": "string"}}, "type": "dict"}, "description": "Rings.", "name": "ring"});
        let function = Function::of(&one);
        assert_eq!(function, Function::of(&other));
        assert_eq!((function.name.as_str(), &function.parameters[..]), ("ring", &["bell".to_owned()][..]));
        // A list of one function has the text of that function.
        assert_eq!(List::of(&[one]).text, function.text);
    }
}
