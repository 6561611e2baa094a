//! The form in which functions are compared.
//!
//! A function is compared as `fix` would leave it with all its fixes allowed, as canonical
//! JSON: the form that near copies of doc lists are compared by. So `str` and `string`, or
//! another order of keys, make no difference.

use serde_json::Value;

use crate::docs::{canonical, fix};
use crate::similarity::overlap::Function;

/// Raised when the form changes or a reader reads otherwise: whoever compares puts it into a resume key.
pub const VERSION: u32 = 2;

/// A function in the form in which it is compared.
pub fn function(function: &Value) -> Function {
    let (fixed, _) = fix::mended(std::slice::from_ref(function), fix::Safety::Unsafe);
    let first = fixed.first().unwrap_or(function);
    let parameters = first.pointer("/parameters/properties").and_then(Value::as_object);
    Function {
        name: first.get("name").and_then(Value::as_str).unwrap_or_default().to_owned(),
        parameters: parameters.map(|map| map.keys().cloned().collect()).unwrap_or_default(),
        text: canonical::text(std::slice::from_ref(first)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn spelling_makes_no_difference() {
        let one = function(&json!({"name": "ring", "description": "Rings.", "parameters": {"type": "object",
            "properties": {"bell": {"type": "str", "description": "Which."}}, "required": ["bell"]}}));
        let other = function(
            &json!({"parameters": {"required": ["bell"], "properties": {"bell": {"description": "Which.",
            "type": "string"}}, "type": "dict"}, "description": "Rings.", "name": "ring"}),
        );
        assert_eq!(one, other);
        assert_eq!((one.name.as_str(), one.parameters), ("ring", vec!["bell".to_owned()]));
    }
}
