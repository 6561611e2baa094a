//! A key has another name than in BFCL.

use serde_json::{Map, Value};

use crate::fix::form::says_kind;
use crate::fix::keys::{FUNCTION_ALIASES, SCHEMA_ALIASES};
use crate::fix::opinion::{Change, Opinion};
use crate::fix::rule::{FixRule, Safety};
use crate::fix::values::written;
use crate::fix::walk::{each_function, each_schema};
use crate::holders::{HOLDERS, is_part, takes_nothing};

pub(super) static RULE: FixRule = FixRule {
    code: "schema/misspelled-key",
    what: "A key has another name than in BFCL.",
    why: "Only `parameters`, `properties` and `description` are read; the key is renamed in place.",
    safety: Safety::Safe,
    fires: r#"{"name": "f", "desc": "d", "parameters": {"type": "dict", "required": [], "properties": {}}}"#,
    quiet: r#"{"name": "f", "desc": "d", "description": "e"}"#,
    judge,
};

fn judge(opinion: &mut Opinion<'_>) {
    let functions = opinion.functions;
    each_function(functions, |pointer, function| {
        rename_alias(pointer, function, &FUNCTION_ALIASES, opinion);
        rename_holder(pointer, function, opinion);
    });
    each_schema(functions, |site, schema| rename_alias(site.pointer, schema, &SCHEMA_ALIASES, opinion));
}

/// Returns true if a value holds parameters and not the arguments of a call, which have no description.
fn holds_parameters(function: &Map<String, Value>, value: &Value) -> bool {
    match value {
        Value::Array(_) => true,
        Value::Object(members) => {
            function.contains_key("description") || members.is_empty() || members.values().any(says_kind)
        }
        Value::String(text) => written(text).is_some_and(|inner| inner.get("properties").is_some()),
        _ => false,
    }
}

/// Renames another key that holds parameters if the function has none under the BFCL key; drops one with the same
/// content.
fn rename_holder(pointer: &str, function: &Map<String, Value>, opinion: &mut Opinion<'_>) {
    let fits = |key: &str, value: &Value| HOLDERS.contains(&key) && holds_parameters(function, value);
    let others = function.iter().filter(|(key, value)| fits(key, value));
    let own = function.get("parameters");
    let change = Change::at(pointer);
    if let Some((key, same)) = others.clone().find(|(_, value)| own == Some(value)) {
        return opinion.change(change.remove(key, same));
    }
    if !own.is_none_or(takes_nothing) {
        return;
    }
    let mut whole = others.filter(|(key, _)| !is_part(key));
    let found = whole.clone().find(|(_, value)| !takes_nothing(value));
    match (found.or_else(|| whole.next()), own) {
        (Some((key, value)), None) => opinion.change(change.rename(key, value, "parameters")),
        (Some((key, value)), Some(none)) if found.is_some() => {
            opinion.change(change.remove("parameters", none).rename(key, value, "parameters"));
        }
        _ => {}
    }
}

/// Renames the first alias whose value has the type of its key.
fn rename_alias(
    pointer: &str,
    map: &Map<String, Value>,
    aliases: &[(&str, &str)],
    opinion: &mut Opinion<'_>,
) {
    let fits = |key: &str, value: &Value| match key {
        "description" | "type" | "format" => value.is_string(),
        "default" => true,
        // An empty list of values allows all of them.
        "enum" => value.as_array().is_some_and(|values| !values.is_empty()),
        "items" => value.is_array(),
        _ => value.is_object(),
    };
    let found = map.iter().find_map(|(alias, value)| {
        let (_, key) = aliases.iter().find(|(known, _)| known == alias)?;
        let renames = fits(key, value) && !map.contains_key(*key);
        renames.then(|| Change::at(pointer).rename(alias, value, key))
    });
    if let Some(change) = found {
        opinion.change(change);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::fix::fix;

    fn names_of_parameters(function: Value) -> (Vec<String>, usize) {
        let fixed = fix(&[function], Safety::Unsafe);
        let properties = fixed.functions[0]["parameters"]["properties"].as_object().cloned();
        (properties.unwrap_or_default().keys().cloned().collect(), fixed.findings.len())
    }

    #[test]
    fn parameters_under_another_key_replace_empty_ones() {
        let schema = json!({"type": "object", "required": ["bell"], "properties": {
            "bell": {"type": "string", "description": "Which."}}});
        let list = json!([{"name": "bell", "type": "string", "description": "Which."}]);
        for (key, value) in [
            ("arguments", json!({"bell": {"type": "string", "description": "Which."}})),
            ("required_parameters", list.clone()),
            ("input_schema", schema.clone()),
            ("args_schema", schema),
        ] {
            for own in [json!({}), json!({"type": "object", "properties": {}}), json!(null)] {
                let function = json!({"name": "ring", "description": "d", "parameters": own, key: value});
                assert_eq!(names_of_parameters(function), (vec!["bell".to_owned()], 0), "{key} {own}");
            }
        }
    }

    #[test]
    fn additional_parameters_under_another_key_are_kept_and_reported() {
        let schema = |name: &str| {
            json!({"type": "object", "required": [name], "properties": {
            name: {"type": "string", "description": "x"}}})
        };
        let both = |other: Value| json!({"name": "f", "description": "d", "parameters": schema("a"), "input_schema": other});
        assert_eq!(names_of_parameters(both(schema("a"))), (vec!["a".to_owned()], 0));
        let fixed = fix(&[both(schema("b"))], Safety::Unsafe);
        assert_eq!(fixed.functions[0]["input_schema"], schema("b"));
        assert_eq!(fixed.findings[0].rule.code, "schema/unreadable-parameters");
    }
}
