//! A parameter is required according to its description, and there is no list of required ones.

use serde_json::Value;

use crate::fix::keys::DESCRIPTION;
use crate::fix::marks;
use crate::fix::opinion::Opinion;
use crate::fix::required::list_needed;
use crate::fix::rule::{FixRule, Safety};
use crate::fix::wording::says_required;

pub(super) static RULE: FixRule = FixRule {
    code: "schema/required-in-description",
    what: "A parameter is required according to its description, and there is no list of required ones.",
    why: "`Required.` or `(required)` is the only statement about it, so the name is added to the list, with one \
          edit per parameter. A condition (`Required if …`) or an existing list prevents the edit.",
    safety: Safety::Safe,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "properties": {
        "a": {"type": "string", "description": "Required. x"}}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "properties": {
        "a": {"type": "string", "description": "Required if b is given."}}}}"#,
    judge,
};

fn judge(opinion: &mut Opinion<'_>) {
    list_needed(opinion, |properties| {
        let is_required = |property: &Value| {
            let text = property.get(DESCRIPTION).and_then(Value::as_str);
            let is_marked = property.as_object().is_some_and(|property| marks::of(property).is_some());
            !is_marked && property.get("default").is_none() && text.is_some_and(says_required)
        };
        properties
            .iter()
            .filter(|(_, property)| is_required(property))
            .map(|(name, _)| name.as_str())
            .collect()
    });
}
