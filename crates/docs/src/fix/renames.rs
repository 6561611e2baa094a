//! Names changed by fixes, and their application to recorded calls.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::patch::rename_keys;

/// One changed name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rename {
    /// The index of the function in the input.
    pub function: usize,
    /// The name of the function in the input, even if it was renamed.
    pub name: String,
    /// The old name of the parameter; `None` if the function itself was renamed.
    pub parameter: Option<String>,
    /// The new name.
    pub to: String,
}

/// A rename as a rule states it.
#[derive(Debug)]
pub struct Renamed {
    /// The index of the function.
    pub function: usize,
    /// The old name of the parameter; `None` if the function itself was renamed.
    pub parameter: Option<String>,
    /// The new name.
    pub to: String,
}

/// Applies renames to a recorded call; `name` is the function's name as sent.
///
/// If a list has two functions with the same name, the renames of the first are applied.
pub fn carry(renames: &[Rename], name: &str, arguments: Map<String, Value>) -> (String, Map<String, Value>) {
    let mut now = name.to_owned();
    let own = renames.iter().find(|rename| rename.name == name).map(|rename| rename.function);
    let mut of_parameters = Vec::new();
    for rename in renames.iter().filter(|rename| Some(rename.function) == own) {
        match &rename.parameter {
            Some(parameter) => of_parameters.push((parameter.as_str(), rename.to.as_str())),
            None => now.clone_from(&rename.to),
        }
    }
    (now, rename_keys(arguments, &of_parameters))
}

/// Returns the name of a function; empty if it has none.
pub fn name_of(function: &Value) -> String {
    function.get("name").and_then(Value::as_str).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::fix::{Safety, fix};

    #[test]
    fn a_recorded_call_follows_its_function_and_its_parameters() {
        let properties = json!({"class": {"type": "string", "description": "c"}, "x-key": {"type": "string", "description": "k"}});
        let function = json!({"name": "book-flight", "description": "d",
            "parameters": {"type": "dict", "required": ["class", "x-key"], "properties": properties}});
        let fixed = fix(&[function], Safety::Safe);
        let arguments = json!({"class": "economy", "x-key": "k"}).as_object().unwrap().clone();
        let (name, arguments) = carry(&fixed.renames, "book-flight", arguments);
        assert_eq!(name, "book_flight");
        assert_eq!(Value::Object(arguments).to_string(), r#"{"_class":"economy","x_key":"k"}"#);
    }

    #[test]
    fn calls_of_other_functions_are_unchanged() {
        let renames =
            [Rename { function: 0, name: "a".into(), parameter: Some("class".into()), to: "_class".into() }];
        let arguments = json!({"class": 1}).as_object().unwrap().clone();
        assert_eq!(carry(&renames, "b", arguments.clone()), ("b".to_owned(), arguments));
    }
}
