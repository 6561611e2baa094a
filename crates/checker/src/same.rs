//! Whether the evaluator treats two values as equal.

use serde_json::Value;

use super::rules::standardized;
use super::value::PyValue;

/// Returns whether the evaluator accepts `a` where `b` is the alternative, if both have a type that fits.
///
/// Texts are compared without case and some punctuation: a text, the texts in a list, and the members of a dict or of
/// the dicts in a list. Deeper texts are compared exactly. All other values are equal as in Python, so `1` equals `1.0`
/// and `true`.
pub fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_member(a, b))
        }
        _ => same_member(a, b),
    }
}

/// Compares two values, or two elements of lists.
fn same_member(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same_in_dict(a, b)))
        }
        _ => same_in_dict(a, b),
    }
}

/// Returns whether the evaluator accepts `a` where `b` is an alternative of a member of a dict: texts are compared as in
/// [`same`], other values exactly.
pub fn same_in_dict(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::String(a), Value::String(b)) => a == b || standardized(a) == standardized(b),
        _ => PyValue::from_json(a).equals(&PyValue::from_json(b)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{Case, Checker, Kind, Language};

    /// Returns whether an output with the value passes, by the rules themselves.
    fn passes(value: &Value, alternative: &Value) -> bool {
        let (kind, items) = match value {
            Value::String(_) => ("string", ""),
            Value::Bool(_) => ("boolean", ""),
            Value::Number(number) if number.is_i64() => ("integer", ""),
            Value::Number(_) => ("float", ""),
            Value::Array(elements) if elements.iter().any(Value::is_object) => ("array", "dict"),
            Value::Array(elements) if elements.iter().any(Value::is_array) => ("array", "array"),
            Value::Array(elements) if elements.iter().any(Value::is_number) => ("array", "integer"),
            Value::Array(_) => ("array", "string"),
            _ => ("dict", ""),
        };
        let functions = json!([{"name": "f", "parameters": {"required": ["a"], "properties": {
            "a": {"type": kind, "items": {"type": items}}}}}]);
        let listed = |members: &Value| {
            let members = members.as_object().unwrap();
            Value::Object(members.iter().map(|(key, value)| (key.clone(), json!([value]))).collect())
        };
        let alternative = match alternative {
            Value::Object(_) => listed(alternative),
            Value::Array(elements) => {
                elements.iter().map(|one| if one.is_object() { listed(one) } else { one.clone() }).collect()
            }
            other => other.clone(),
        };
        let truth = json!([{"f": {"a": [alternative]}}]);
        let case = Case::new(&functions, &truth, Kind::Simple, Language::Python);
        let output = PyValue::from_json(&json!([{"f": {"a": value}}]));
        Checker::default().check(&case, &output).unwrap().is_valid()
    }

    #[test]
    fn values_are_the_same_if_an_output_with_one_passes_for_the_other() {
        for (a, b, expected) in [
            (json!("New York, NY"), json!("new-york ny"), true),
            (json!("it's"), json!("it\"s"), true),
            (json!("New York!"), json!("New York"), false),
            (json!("STRASSE"), json!("straße"), false),
            (json!(["A b", "c"]), json!(["ab", "C"]), true),
            (json!(["a", "b"]), json!(["b", "a"]), false),
            (json!([["A"]]), json!([["a"]]), false),
            (json!({"k": "A b"}), json!({"k": "ab"}), true),
            (json!({"k": ["A"]}), json!({"k": ["a"]}), false),
            (json!({"k": 1}), json!({"j": 1}), false),
            (json!([{"k": "A"}]), json!([{"k": "a"}]), true),
            (json!([{"k": {"l": "A"}}]), json!([{"k": {"l": "a"}}]), false),
            (json!(1), json!(1.0), true),
            (json!([1, 2]), json!([1.0, 2.0]), true),
            (json!(true), json!(1), true),
        ] {
            assert_eq!(same(&a, &b), expected, "{a} {b}");
            assert_eq!(same(&b, &a), expected, "{b} {a}");
            assert_eq!(passes(&a, &b), expected, "{a} {b}, by the rules");
        }
        assert!(!same(&json!("1"), &json!(1)));
        let large = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        assert!(!same(&large("9007199254740993"), &large("9007199254740992")));
    }
}
