//! A parameter has no mark, and others are marked as optional.

use serde_json::{Map, Value};

use crate::fix::marks;
use crate::fix::opinion::Opinion;
use crate::fix::required::list_needed;
use crate::fix::rule::{FixRule, Safety};
use crate::fix::shape::{has_no_way_out, is_stated_optional};

pub(super) static RULE: FixRule = FixRule {
    code: "schema/unmarked-parameter",
    what: "Other parameters are marked as optional, this one has no mark, and there is no list of required ones.",
    why: "A mark on one parameter (`optional: true`) means that unmarked ones are required, except those with a \
          default or called optional. If other parameters are marked as required, unmarked ones are not required.",
    safety: Safety::Safe,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "properties": {
        "a": {"type": "string", "description": "x"},
        "b": {"type": "string", "description": "y", "optional": true}}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "properties": {
        "a": {"type": "string", "description": "x"},
        "b": {"type": "string", "description": "y", "required": true}}}}"#,
    judge,
};

fn judge(opinion: &mut Opinion<'_>) {
    list_needed(opinion, |properties| {
        let mark = |property: &Value| property.as_object().and_then(marks::of);
        // The highest mark of all: every mark present is optional.
        if properties.values().filter_map(mark).max() != Some(false) {
            return Vec::new();
        }
        let unmarked = properties.iter().filter(|(_, property)| mark(property).is_none());
        let needed = unmarked.filter(|(_, property)| property.as_object().is_some_and(is_needed));
        needed.map(|(name, _)| name.as_str()).collect()
    });
}

fn is_needed(property: &Map<String, Value>) -> bool {
    has_no_way_out(property) && !is_stated_optional(property)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::fix::fix;

    #[test]
    fn unmarked_parameters_are_required_one_edit_each() {
        let of = |description: &str| json!({"type": "string", "description": description});
        let function = json!({"name": "f", "description": "d", "parameters": {"type": "dict", "properties": {
            "a": of("x"), "b": {"type": "string", "description": "y", "optional": true}, "c": of("z"),
            "d": of("Optional. w"), "e": of("w (default: 'v')"),
            "g": {"type": "string", "description": "w", "default": "v"}}}});
        let fixed = fix(&[function], Safety::Safe);
        assert_eq!(fixed.functions[0]["parameters"]["required"], json!(["a", "c"]));
        let n_edits = fixed.edits.iter().filter(|edit| edit.rule.code == RULE.code).count();
        assert_eq!(n_edits, 2);
    }
}
