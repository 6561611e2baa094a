//! Writes one parameter of a ground truth: the list of values that count as correct.
//!
//! The official format has pitfalls, and this is the only file that handles them. `""` means
//! *may be omitted*, so it comes before a default and cannot be a value. A dict is written as
//! one more level of alternatives, but only one. All elements of an array must have the declared
//! type or the type of the first element. `null` is allowed for scalars only. Each list has at
//! most one value besides `""`; people can add other correct values.

use serde_json::{Map, Number, Value};

use super::described::described_default;
use super::fault::{AnswerError, AnswerFault};
use super::value::{cast, fit};
use callsieve_bfcl::types::{Type, is_whole};
use callsieve_checker::{same, same_in_dict};

/// Returns whether the checker can check a parameter; a type that it does not know aborts the whole evaluation.
pub fn is_checkable(schema: &Value) -> bool {
    match Type::of(schema) {
        Some(Type::Array | Type::Tuple) => Type::of(&schema["items"]).is_some(),
        declared => declared.is_some(),
    }
}

/// Returns the alternatives of a parameter, with or without a given value. The schema must be checkable.
///
/// | parameter | alternatives |
/// |---|---|
/// | required | the value |
/// | optional, value is the default | `""` and the value |
/// | optional, another value | the value |
/// | optional, omitted (or `null`) | `""`, and the default if there is one |
///
/// # Errors
/// If the value is missing, does not fit the schema, or cannot be distinguished from an omitted one.
pub fn alternatives(
    schema: &Value,
    is_required: bool,
    given: Option<&Value>,
) -> Result<Vec<Value>, AnswerError> {
    let Some(given) = given.filter(|value| is_required || !value.is_null()) else {
        return if is_required { Err(missing()) } else { Ok(omitted(schema)) };
    };
    let default = stated_default(schema);
    let default = default.as_ref();
    if *given == "" && may_be_empty(schema) {
        let is_default = default.is_none_or(|default| *default == "");
        return if is_default && !is_required { Ok(omitted(schema)) } else { Err(empty()) };
    }
    let value = fit(schema, given)?;
    let is_default = default.is_some_and(|default| is_same_default(default, &value, same));
    let written = write(schema, value)?;
    Ok(if is_default && !is_required { value_or_omitted(schema, written) } else { vec![written] })
}

/// Returns the default of a schema: that of its key, otherwise the one that its description states.
pub fn stated_default(schema: &Value) -> Option<Value> {
    let of_key = schema.get("default").filter(|default| !default.is_null());
    of_key.cloned().or_else(|| described_default(schema))
}

/// Returns whether a value is the default. Blanks and punctuation differ from the empty text here, although the checker
/// treats them as equal.
fn is_same_default(default: &Value, value: &Value, is_same: fn(&Value, &Value) -> bool) -> bool {
    let is_bare = |value: &Value| value.as_str().is_some_and(|text| !text.contains(char::is_alphanumeric));
    if is_bare(default) || is_bare(value) { default == value } else { is_same(default, value) }
}

fn missing() -> AnswerError {
    AnswerFault::MissingRequired.at("", "required but missing")
}

fn empty() -> AnswerError {
    AnswerFault::EmptyValue.at("", "an empty text means that the parameter is omitted")
}

/// Returns whether an empty text can be a value of the parameter, by its type or default.
fn may_be_empty(schema: &Value) -> bool {
    matches!(Type::of(schema), Some(Type::String | Type::Any))
        || schema.get("default").is_some_and(|v| *v == "")
}

/// Returns the alternatives of an optional parameter that was omitted.
fn omitted(schema: &Value) -> Vec<Value> {
    let is_container = Type::of(schema).is_some_and(Type::is_container);
    let default = match (stated_default(schema), schema.get("default")) {
        (None, None) => None,
        (None, Some(_)) => (!is_container).then_some(Value::Null),
        (Some(default), _) => match cast(schema, &default) {
            Ok(Some(value)) => write(schema, value).ok(),
            // The checker accepts a default of another type unchanged.
            Ok(None) => (!is_container).then(|| default.clone()),
            Err(_) => None,
        },
    };
    match default {
        // Next to `""` the checker does not check element types, and aborts if one of as many elements is not a dict.
        Some(default) if !is_list_of_dicts(schema, &default) => or_omitted(default),
        _ => vec!["".into()],
    }
}

/// Returns the alternatives of a parameter whose value is the default: it may also be omitted, unless that could abort
/// the checker.
fn value_or_omitted(schema: &Value, value: Value) -> Vec<Value> {
    if is_list_of_dicts(schema, &value) { vec![value] } else { or_omitted(value) }
}

fn is_list_of_dicts(schema: &Value, value: &Value) -> bool {
    Type::of(&schema["items"]) == Some(Type::Dict)
        && value.as_array().is_some_and(|elements| !elements.is_empty())
}

/// Writes one alternative in the form that the checker expects for the declared type.
fn write(schema: &Value, value: Value) -> Result<Value, AnswerError> {
    match (Type::of(schema), value) {
        (Some(Type::Dict), Value::Object(members)) => Ok(write_dict(schema, members)),
        (Some(Type::Array | Type::Tuple), Value::Array(elements)) => write_array(&schema["items"], elements),
        (_, value) => Ok(value),
    }
}

/// Writes a dict as a dict of alternatives; deeper values are compared unchanged.
fn write_dict(schema: &Value, members: Map<String, Value>) -> Value {
    let no_properties = Map::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&no_properties);
    let default_of = |key: &str| properties.get(key).and_then(|property| property.get("default"));
    let unnamed = properties.keys().filter(|key| !members.contains_key(*key));
    let defaults: Vec<_> = unnamed.filter_map(|key| Some((key.clone(), default_of(key)?.clone()))).collect();
    let given = members.into_iter().map(|(key, value)| {
        let is_default =
            default_of(&key).is_some_and(|default| is_same_default(default, &value, same_in_dict));
        let alternatives = if is_default { or_omitted(value) } else { vec![value] };
        (key, Value::Array(alternatives))
    });
    let omitted = defaults.into_iter().map(|(key, default)| (key, Value::Array(or_omitted(default))));
    Value::Object(given.chain(omitted).collect())
}

/// Returns `""` and the value; only `""` if the value is empty.
fn or_omitted(value: Value) -> Vec<Value> {
    if value == "" { vec![value] } else { vec!["".into(), value] }
}

fn write_array(items: &Value, mut elements: Vec<Value>) -> Result<Value, AnswerError> {
    let declared = Type::of(items);
    let first = elements.iter().find(|element| **element != "").map(Type::of_value);
    if declared == Some(Type::Float) && first == Some(Some(Type::Float)) {
        elements.iter_mut().for_each(spell_as_float);
    }
    // The checker looks inside the elements of an array of dicts, so another type of element would abort it.
    let first = first.filter(|_| declared != Some(Type::Dict));
    let expected = declared.map(|declared| Some(declared.expected_by_checker()));
    let is_accepted = |element: &Value| [expected, first].contains(&Some(Type::of_value(element)));
    if let Some(index) = elements.iter().position(|element| !is_accepted(element)) {
        return Err(AnswerFault::MixedArray.at(format!("[{index}]"), "not of the type of the first element"));
    }
    let write_element = |element| match element {
        Value::Object(members) if declared == Some(Type::Dict) => write_dict(items, members),
        element => element,
    };
    Ok(elements.into_iter().map(write_element).collect())
}

/// Writes a whole number as a float: in a list of floats the checker refuses integers if the first element is a float.
fn spell_as_float(element: &mut Value) {
    if let Value::Number(number) = element
        && is_whole(number)
        && let Ok(float) = serde_json::from_str::<Number>(&format!("{number}.0"))
    {
        *number = float;
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn given(schema: &Value, value: &Value) -> Value {
        alternatives(schema, false, Some(value)).unwrap().into()
    }

    fn fault(schema: &Value, is_required: bool, value: &Value) -> AnswerFault {
        alternatives(schema, is_required, Some(value)).unwrap_err().fault
    }

    #[test]
    fn an_omitted_parameter_may_have_its_default() {
        for (schema, expected) in [
            (json!({"type": "string"}), json!([""])),
            (json!({"type": "string", "default": ""}), json!([""])),
            (json!({"type": "string", "default": "x"}), json!(["", "x"])),
            (json!({"type": "integer", "default": "10"}), json!(["", 10])),
            (json!({"type": "boolean", "default": "dontcare"}), json!(["", "dontcare"])),
            (json!({"type": "integer", "default": null}), json!(["", null])),
            (json!({"type": "array", "items": {"type": "string"}, "default": null}), json!([""])),
            (json!({"type": "array", "items": {"type": "string"}, "default": []}), json!(["", []])),
            (json!({"type": "array", "items": {"type": "string"}, "default": "all"}), json!([""])),
            (json!({"type": "dict", "properties": {}, "default": {"a": 1}}), json!(["", {"a": [1]}])),
            (json!({"type": "array", "items": {"type": "dict"}, "default": [{"a": 1}]}), json!([""])),
        ] {
            assert_eq!(Value::from(alternatives(&schema, false, None).unwrap()), expected, "{schema}");
            assert_eq!(
                Value::from(alternatives(&schema, false, Some(&Value::Null)).unwrap()),
                expected,
                "{schema}"
            );
        }
    }

    #[test]
    fn a_value_may_be_omitted_only_if_it_is_the_default() {
        let unit = json!({"type": "string", "default": "Celsius"});
        assert_eq!(given(&unit, &json!("celsius")), json!(["", "celsius"]));
        assert_eq!(given(&unit, &json!("kelvin")), json!(["kelvin"]));
        assert_eq!(alternatives(&unit, true, Some(&json!("Celsius"))), Ok(vec![json!("Celsius")]));
        assert_eq!(given(&json!({"type": "float", "default": 5.0}), &json!(5)), json!(["", 5]));
        // The checker treats a blank as the empty text, but they are two values.
        assert_eq!(given(&json!({"type": "string", "default": ""}), &json!(" ")), json!([" "]));
    }

    #[test]
    fn an_empty_text_is_written_only_for_an_omitted_parameter() {
        let text = json!({"type": "string"});
        assert_eq!(given(&text, &json!("")), json!([""]));
        assert_eq!(given(&json!({"type": "string", "default": null}), &json!("")), json!(["", null]));
        assert_eq!(
            fault(&json!({"type": "string", "default": "x"}), false, &json!("")),
            AnswerFault::EmptyValue
        );
        assert_eq!(fault(&text, true, &json!("")), AnswerFault::EmptyValue);
        assert_eq!(given(&json!({"type": "integer", "default": ""}), &json!("")), json!([""]));
        assert_eq!(
            fault(&json!({"type": "integer", "default": ""}), true, &json!("")),
            AnswerFault::EmptyValue
        );
        assert_eq!(
            fault(&json!({"type": "integer", "enum": [""]}), true, &json!("")),
            AnswerFault::WrongType
        );
        assert_eq!(fault(&json!({"type": "integer"}), false, &json!("")), AnswerFault::WrongType);
    }

    #[test]
    fn a_required_value_must_be_present() {
        let text = json!({"type": "string"});
        assert_eq!(alternatives(&text, true, None).unwrap_err().fault, AnswerFault::MissingRequired);
        assert_eq!(fault(&text, true, &Value::Null), AnswerFault::WrongType);
    }

    #[test]
    fn empty_arrays_and_dicts_are_values() {
        let array = json!({"type": "array", "items": {"type": "string"}});
        assert_eq!(alternatives(&array, true, Some(&json!([]))), Ok(vec![json!([])]));
        assert_eq!(alternatives(&json!({"type": "dict"}), true, Some(&json!({}))), Ok(vec![json!({})]));
    }

    #[test]
    fn a_dict_has_one_level_of_alternatives() {
        let schema = json!({"type": "dict", "properties": {
            "size": {"type": "string"},
            "milk": {"type": "string", "default": "whole"},
            "sugar": {"type": "boolean", "default": false},
            "cup": {"type": "dict", "properties": {"ml": {"type": "integer"}}},
        }});
        assert_eq!(
            given(&schema, &json!({"size": "large", "milk": "Whole", "cup": {"ml": "200"}})),
            json!([{"size": ["large"], "milk": ["", "Whole"], "cup": [{"ml": 200}], "sugar": ["", false]}])
        );
    }

    #[test]
    fn an_array_of_dicts_has_alternatives_in_each_dict() {
        let schema = json!({"type": "array", "items": {"type": "dict"}});
        assert_eq!(
            given(&schema, &json!([{"age": 18}, {"age": 21}])),
            json!([[{"age": [18]}, {"age": [21]}]])
        );
        let with_default = json!({"type": "array", "items": {"type": "dict"}, "default": [{"age": 18}]});
        assert_eq!(given(&with_default, &json!([{"age": 18}])), json!([[{"age": [18]}]]));
    }

    #[test]
    fn whole_numbers_after_a_float_are_written_as_floats() {
        let floats = json!({"type": "array", "items": {"type": "float"}});
        assert_eq!(given(&floats, &json!([2.5, 1])).to_string(), "[[2.5,1.0]]");
        assert_eq!(given(&floats, &json!([1, 2.5])).to_string(), "[[1,2.5]]");
        assert_eq!(given(&floats, &json!([1, 2])).to_string(), "[[1,2]]");
    }

    #[test]
    fn an_array_the_checker_refuses_is_a_fault() {
        let anything = json!({"type": "array", "items": {"type": "any"}});
        assert_eq!(given(&anything, &json!([1, "a", 2])), json!([[1, "a", 2]]));
        assert_eq!(fault(&anything, false, &json!(["a", 1])), AnswerFault::MixedArray);
        let dicts = json!({"type": "array", "items": {"type": "dict", "default": "all"}});
        assert_eq!(fault(&dicts, false, &json!(["all"])), AnswerFault::MixedArray);
    }

    #[test]
    fn any_accepts_a_value_unchanged() {
        assert_eq!(given(&json!({"type": "any"}), &json!({"a": [1]})), json!([{"a": [1]}]));
    }

    #[test]
    fn only_the_eight_types_are_checkable() {
        assert!(is_checkable(&json!({"type": "tuple", "items": {"type": "float"}})));
        assert!(!is_checkable(&json!({"type": "array"})));
        assert!(!is_checkable(&json!({"type": "array", "items": {"type": "number"}})));
        assert!(!is_checkable(&json!({"type": "object"})));
        assert!(!is_checkable(&json!({})));
    }
}
