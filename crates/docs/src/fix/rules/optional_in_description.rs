//! A required parameter is optional according to its description.

use serde_json::Value;

use crate::fix::opinion::{Change, Opinion};
use crate::fix::required::REQUIRED;
use crate::fix::rule::{FixRule, Safety};
use crate::fix::shape::is_stated_optional;
use crate::fix::walk::each_parameters;

pub(super) static RULE: FixRule = FixRule {
    code: "schema/optional-in-description",
    what: "A required parameter is optional according to its description.",
    why: "`Optional.`, `(optional)` or `This parameter is optional.` means not required, so the name is removed from \
          the list, with one edit per parameter. The list contradicts the description, so the edit is not safe. \
          `optional` as an adjective inside a sentence has no effect.",
    safety: Safety::Unsafe,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"type": "string", "description": "Optional. x"}}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"type": "string", "description": "The optional suffix of x."}}}}"#,
    judge,
};

fn judge(opinion: &mut Opinion<'_>) {
    each_parameters(opinion.functions, |site, schema| {
        let Some(Value::Array(required)) = schema.get(REQUIRED) else { return };
        let property = |name: &Value| schema.get("properties")?.get(name.as_str()?)?.as_object();
        // From the end, so that earlier indexes stay valid.
        for (n, name) in required.iter().enumerate().rev() {
            if property(name).is_some_and(is_stated_optional) {
                opinion.change(Change::at(site.pointer).remove(&format!("{REQUIRED}/{n}"), name));
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::fix::fix;

    #[test]
    fn each_optional_parameter_is_removed_by_a_separate_edit() {
        let of = |description: &str| json!({"type": "string", "description": description});
        let function = json!({"name": "f", "description": "d", "parameters": {"type": "dict",
            "required": ["a", "b", "c", "d"], "properties": {
                "a": of("Optional. x"), "b": of("y"), "c": of("z (optional)"), "d": of("Optional headers.")}}});
        let fixed = fix(std::slice::from_ref(&function), Safety::Unsafe);
        let parameters = &fixed.functions[0]["parameters"];
        assert_eq!(parameters["required"], json!(["b", "d"]));
        assert_eq!(parameters["properties"]["a"]["default"], Value::Null);
        let n_edits = fixed.edits.iter().filter(|edit| edit.rule.code == RULE.code).count();
        assert_eq!(n_edits, 2);
        assert_eq!(fix(std::slice::from_ref(&function), Safety::Safe).functions, [function]);
    }

    #[test]
    fn flat_parameters_follow_their_descriptions() {
        let function = json!({"name": "f", "description": "d", "parameters": {
            "a": {"data_type": "String", "description": "Optional. Version of the bell."},
            "b": {"data_type": "String", "description": "Which bell."},
            "c": {"data_type": "Integer", "description": "How often (default: 10)"},
            "d": {"data_type": "Object", "description": "Optional headers."},
            "e": "string (Optional. Which tower.)"}});
        let fixed = fix(&[function], Safety::Unsafe);
        let parameters = &fixed.functions[0]["parameters"];
        assert_eq!(parameters["required"], json!(["b"]));
        assert_eq!(parameters["properties"]["c"]["default"], json!(10));
    }
}
