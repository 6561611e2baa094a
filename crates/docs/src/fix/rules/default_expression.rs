//! A default is an expression of a programming language, not a value.

use serde_json::Value;

use crate::fix::keys::DESCRIPTION;
use crate::fix::opinion::{Change, Opinion};
use crate::fix::rule::{FixRule, Safety};
use crate::fix::walk::{SchemaPlace, each_schema};
use crate::fix::wording::sentence::with_sentence;

/// The key under which source readers put it.
const EXPRESSION: &str = "default_expression";

pub(super) static RULE: FixRule = FixRule {
    code: "schema/default-expression",
    what: "A default is an expression of a programming language, not a value.",
    why: "Its value is unknown, and none is invented. The description states the expression (`Default is \
          os.linesep.`), which is enough for BFCL.",
    safety: Safety::Safe,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {
        "a": {"type": "string", "description": "x", "default_expression": "os.linesep"}}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {
        "a": {"type": "string", "description": "Default is os.linesep."}}}}"#,
    judge,
};

fn judge(opinion: &mut Opinion<'_>) {
    each_schema(opinion.functions, |site, schema| {
        let Some(before @ Value::String(expression)) = schema.get(EXPRESSION) else { return };
        let described = schema.get(DESCRIPTION);
        let is_text = described.is_none_or(|text| text.is_string() || text.is_null());
        let expression = expression.trim();
        if site.place == SchemaPlace::Parameters || expression.is_empty() || !is_text {
            return;
        }
        let change = Change::at(site.pointer).remove(EXPRESSION, before);
        let text = described.and_then(Value::as_str).unwrap_or_default();
        let sentence = format!("Default is {expression}.");
        opinion.change(if text.contains(&sentence) {
            change
        } else {
            change.set(schema, DESCRIPTION, with_sentence(text, &sentence))
        });
    });
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::fix::fix;

    #[test]
    fn the_description_states_the_expression_and_no_default_is_invented() {
        for (described, expected) in [
            (json!("The end of a line"), "The end of a line. Default is os.linesep."),
            (json!("Default is os.linesep."), "Default is os.linesep."),
            (Value::Null, "a. Default is os.linesep."),
        ] {
            let property =
                json!({"type": "string", "description": described, "default_expression": "os.linesep"});
            let function = json!({"name": "f", "description": "d",
                "parameters": {"type": "dict", "required": [], "properties": {"a": property}}});
            let fixed = fix(&[function], Safety::Unsafe);
            let expected = json!({"type": "string", "description": expected});
            assert_eq!(fixed.functions[0]["parameters"]["properties"]["a"], expected);
            assert!(fixed.edits.iter().all(|edit| edit.rule.code != "schema/extra-key"));
        }
    }
}
