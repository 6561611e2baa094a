//! Parameters have individual marks as required or optional.

use serde_json::{Map, Value, json};

use crate::fix::marks;
use crate::fix::opinion::{Change, Opinion};
use crate::fix::required::{REQUIRED, names, with_name, with_required};
use crate::fix::rule::{FixRule, Safety};
use crate::fix::walk::each_parameters;
use crate::patch::token;

pub(super) static RULE: FixRule = FixRule {
    code: "schema/required-per-parameter",
    what: "Parameters have individual marks as required or optional.",
    why: "BFCL has one list for all parameters. Each mark is removed, and a parameter marked as required is added to \
          the list, in the order of the properties, with one edit per parameter.",
    safety: Safety::Safe,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "properties": {
        "a": {"type": "string", "description": "x", "required": true}}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"type": "string", "description": "x"}}}}"#,
    judge,
};

fn judge(opinion: &mut Opinion<'_>) {
    each_parameters(opinion.functions, |site, schema| {
        let Some(Value::Object(properties)) = schema.get("properties") else { return };
        let marked: Vec<_> = properties.iter().filter_map(marked).collect();
        if marked.is_empty() {
            return;
        }
        let mut known = names(schema).unwrap_or_default();
        // Without an existing list, all required parameters are added to a new one at once.
        if !schema.get(REQUIRED).is_some_and(Value::is_array) {
            let required = marked.iter().filter(|(_, _, is_required)| *is_required);
            let required: Vec<_> = required.map(|(name, ..)| json!(name)).collect();
            known.extend(marked.iter().map(|(name, ..)| *name));
            opinion.change(with_required(Change::at(site.pointer), schema, required));
        }
        for (name, property, is_required) in marked {
            let marks = property.iter().filter(|(key, value)| marks::read(key, value).is_some());
            let change = marks.fold(Change::at(site.pointer), |change, (key, before)| {
                change.remove(&format!("properties/{}/{key}", token(name)), before)
            });
            let is_new = is_required && known.insert(name);
            opinion.change(if is_new { with_name(change, name) } else { change });
        }
    });
}

/// Returns a parameter with a mark, and true if it is required.
fn marked<'s>((name, property): (&'s String, &'s Value)) -> Option<(&'s str, &'s Map<String, Value>, bool)> {
    let property = property.as_object()?;
    Some((name, property, marks::of(property)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fix::fix;

    fn fixed(parameters: &Value) -> (Value, Vec<&'static str>) {
        let function = json!({"name": "f", "description": "d", "parameters": parameters});
        let fixed = fix(&[function], Safety::Safe);
        let codes = fixed.edits.iter().map(|edit| edit.rule.code).collect();
        (fixed.functions[0]["parameters"]["required"].clone(), codes)
    }

    #[test]
    fn each_parameter_has_a_separate_edit() {
        let property =
            |mark: bool| json!({"type": "string", "description": "x", "required": mark, "default": ""});
        let (required, codes) = fixed(&json!({"type": "dict", "required": ["c"], "properties": {
            "a": property(true), "b": property(false), "c": property(true)}}));
        assert_eq!(required, json!(["c", "a"]));
        assert_eq!(codes, ["schema/required-per-parameter"; 3]);
    }

    #[test]
    fn marks_replace_an_unreadable_list() {
        let property =
            |mark: bool| json!({"type": "string", "description": "x", "required": mark, "default": ""});
        let (required, _) = fixed(&json!({"type": "dict", "required": {"q": "z"}, "properties": {
            "a": property(true), "b": property(false)}}));
        assert_eq!(required, json!(["a"]));
    }
}
