//! Converts recorded values to the declared types.
//!
//! Only lossless conversions are made: `"5"` becomes `5` for an integer, `"true"` becomes `true`,
//! `5.0` becomes `5`, and a text that equals an enum value for the checker gets the spelling of
//! the enum. Nested values are converted too, although the official checker does not check their
//! types, because a value that contradicts its doc makes the answer doubtful.

use serde_json::{Map, Number, Value};

use super::fault::{AnswerError, AnswerFault};
use callsieve_bfcl::types::{Type, is_whole};
use callsieve_checker::same;

/// Maximum number of digits of an integer that Python parses.
const MAX_DIGITS: usize = 4300;

/// All integers below this have an exact float.
const EXACT_BELOW: f64 = 9_007_199_254_740_992.0;

/// Converts a value to the type of a schema, if that is lossless.
///
/// A value of another type is accepted if it is the default or in the enum.
///
/// # Errors
/// If the value or a nested one has the wrong type, is not in its enum, or has an unknown key.
pub fn fit(schema: &Value, value: &Value) -> Result<Value, AnswerError> {
    match cast(schema, value)? {
        Some(value) => in_enum(schema, value),
        None if is_in_doc(schema, value) => Ok(value.clone()),
        None => {
            let declared = schema["type"].as_str().unwrap_or_default();
            Err(AnswerFault::WrongType.at("", format!("declared as {declared}, but is {value}")))
        }
    }
}

/// Converts a value to the declared type, without a check of its enum; `None` if there is no lossless conversion.
///
/// # Errors
/// If a nested value does not fit its schema.
pub fn cast(schema: &Value, value: &Value) -> Result<Option<Value>, AnswerError> {
    let Some(declared) = Type::of(schema) else { return Ok(Some(value.clone())) };
    Ok(match (declared, value) {
        (Type::Any, _) | (Type::String, Value::String(_)) | (Type::Boolean, Value::Bool(_)) => {
            Some(value.clone())
        }
        (Type::Boolean, Value::String(text)) => match text.to_ascii_lowercase().as_str() {
            "true" => Some(Value::Bool(true)),
            "false" => Some(Value::Bool(false)),
            _ => None,
        },
        (Type::Integer, Value::Number(number)) => whole(number),
        (Type::Float, Value::Number(number)) => float(number),
        (Type::Integer, Value::String(text)) => number_in(text).filter(is_whole).map(Value::Number),
        (Type::Float, Value::String(text)) => number_in(text).and_then(|number| float(&number)),
        (Type::String, Value::Bool(_) | Value::Number(_)) => listed(schema, &value.to_string()),
        (Type::Array | Type::Tuple, Value::Array(elements)) => Some(cast_elements(schema, elements)?),
        (Type::Dict, Value::Object(members)) => Some(cast_members(schema, members)?),
        _ => None,
    })
}

/// Returns the single enum text for a boolean or a number, in any case: `"True"` for `true`.
fn listed(schema: &Value, written: &str) -> Option<Value> {
    let texts = schema["enum"].as_array()?.iter();
    let mut same = texts.filter(|text| text.as_str().is_some_and(|text| text.eq_ignore_ascii_case(written)));
    let found = same.next()?;
    same.next().is_none().then(|| found.clone())
}

fn whole(number: &Number) -> Option<Value> {
    if is_whole(number) {
        return (number.as_str().len() <= MAX_DIGITS).then(|| Value::Number(number.clone()));
    }
    let value = number.as_f64().filter(|value| value.fract() == 0.0 && value.abs() < EXACT_BELOW)?;
    serde_json::from_str(&format!("{value:.0}")).ok()
}

/// Returns a number that has an exact float, because the checker converts integers to floats before it compares.
fn float(number: &Number) -> Option<Value> {
    // Larger numbers than the largest float are refused.
    let value = number.as_f64().filter(|value| value.is_finite());
    let is_exact = value.is_some_and(|value| !is_whole(number) || value.abs() < EXACT_BELOW);
    is_exact.then(|| Value::Number(number.clone()))
}

fn number_in(text: &str) -> Option<Number> {
    serde_json::from_str(text.trim()).ok()
}

fn cast_elements(schema: &Value, elements: &[Value]) -> Result<Value, AnswerError> {
    let fit_at = |(index, element): (usize, &Value)| {
        fit(&schema["items"], element).map_err(|error| error.under(&format!("[{index}]")))
    };
    elements.iter().enumerate().map(fit_at).collect::<Result<_, _>>().map(Value::Array)
}

/// Converts the members of a dict. An unknown key is a fault only if the doc names some; `null` means an omitted key.
fn cast_members(schema: &Value, members: &Map<String, Value>) -> Result<Value, AnswerError> {
    let properties = schema.get("properties").and_then(Value::as_object).filter(|named| !named.is_empty());
    let Some(properties) = properties else { return Ok(Value::Object(members.clone())) };
    let mut fitted = Map::with_capacity(members.len());
    for (key, value) in members {
        let Some(property) = properties.get(key) else {
            return Err(AnswerFault::UnknownParameter.at(key, "the parameter has no such key"));
        };
        let is_omitted = value.is_null() && Type::of(property).is_some_and(|declared| declared != Type::Any);
        if !is_omitted {
            fitted.insert(key.clone(), fit(property, value).map_err(|error| error.under(key))?);
        }
    }
    Ok(Value::Object(fitted))
}

/// Returns whether a value of another type is the default or in the enum, such as `"dontcare"` for a boolean. Not for
/// `""`, which means an omitted parameter.
fn is_in_doc(schema: &Value, value: &Value) -> bool {
    let is_writable = !value.is_array() && !value.is_object() && *value != "";
    is_writable && (schema.get("default") == Some(value) || members_of_enum(schema).contains(value))
}

fn members_of_enum(schema: &Value) -> &[Value] {
    schema.get("enum").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Checks a value against the enum and returns the spelling of the enum; for an array, its elements if the enum lists
/// elements.
fn in_enum(schema: &Value, value: Value) -> Result<Value, AnswerError> {
    let members = members_of_enum(schema);
    if schema.get("default").is_some_and(|default| same(default, &value)) {
        return Ok(value);
    }
    match value {
        Value::Array(elements) if !members.iter().any(Value::is_array) => elements
            .into_iter()
            .map(|element| choose(members, element))
            .collect::<Result<_, _>>()
            .map(Value::Array),
        value => choose(members, value),
    }
}

fn choose(members: &[Value], value: Value) -> Result<Value, AnswerError> {
    let same_type = |member: &&Value| std::mem::discriminant(*member) == std::mem::discriminant(&value);
    let is_checked = members.iter().any(|member| same_type(&member));
    // An empty text marks a nested key that may be omitted.
    if !is_checked || members.contains(&value) || value == "" {
        return Ok(value);
    }
    let is_spelling = |member: &&Value| **member != "" && same(member, &value);
    match members.iter().filter(same_type).find(is_spelling) {
        Some(member) => Ok(member.clone()),
        None => Err(AnswerFault::NotInEnum.at("", format!("{value} is not in the enum"))),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fitted(schema: &Value, value: &str) -> Result<String, AnswerFault> {
        let value: Value = serde_json::from_str(value).unwrap();
        fit(schema, &value).map(|value| value.to_string()).map_err(|error| error.fault)
    }

    fn typed(name: &str, value: &str) -> Option<String> {
        fitted(&json!({"type": name}), value).ok()
    }

    #[test]
    fn lossless_conversions_are_made() {
        for (name, value, expected) in [
            ("integer", "\"5\"", "5"),
            ("integer", "\"-12\"", "-12"),
            ("integer", "5.0", "5"),
            ("integer", "1E3", "1000"),
            ("integer", "123456789012345678901234567890", "123456789012345678901234567890"),
            ("float", "5", "5"),
            ("float", "\"2.50\"", "2.50"),
            ("boolean", "\"true\"", "true"),
            ("boolean", "\"False\"", "false"),
            ("any", "[1]", "[1]"),
        ] {
            assert_eq!(typed(name, value).as_deref(), Some(expected), "{name} {value}");
        }
    }

    #[test]
    fn lossy_and_ambiguous_conversions_are_refused() {
        for (name, value) in [
            ("integer", "5.5"),
            ("integer", "\"5.0\""),
            ("integer", "\"05\""),
            ("integer", "\"five\""),
            ("integer", "true"),
            ("integer", "1e400"),
            ("float", "9007199254740993"),
            ("float", "1e400"),
            ("float", "true"),
            ("boolean", "1"),
            ("boolean", "\"yes\""),
            ("string", "5"),
            ("string", "null"),
            ("array", "\"[]\""),
            ("dict", "[]"),
        ] {
            assert_eq!(typed(name, value), None, "{name} {value}");
        }
    }

    #[test]
    fn a_value_of_another_type_is_accepted_if_the_doc_has_it() {
        let boolean = json!({"type": "boolean", "enum": ["True", "False", "dontcare"]});
        assert_eq!(fitted(&boolean, "\"dontcare\""), Ok("\"dontcare\"".to_owned()));
        assert_eq!(fitted(&boolean, "\"maybe\""), Err(AnswerFault::WrongType));
        assert_eq!(fitted(&json!({"type": "string", "default": null}), "null"), Ok("null".to_owned()));
    }

    #[test]
    fn an_enum_of_the_same_type_is_checked_and_sets_the_spelling() {
        let unit = json!({"type": "string", "enum": ["Fahrenheit", "Celsius"], "default": "N/A"});
        assert_eq!(fitted(&unit, "\"celsius\""), Ok("\"Celsius\"".to_owned()));
        assert_eq!(fitted(&unit, "\"N/A\""), Ok("\"N/A\"".to_owned()));
        assert_eq!(fitted(&unit, "\"Kelvin\""), Err(AnswerFault::NotInEnum));
        assert_eq!(fitted(&json!({"type": "integer", "enum": ["1", "2"]}), "3"), Ok("3".to_owned()));
        // A boolean or a number becomes its text if the enum has just one.
        let flag = json!({"type": "string", "enum": ["True", "False", "2021"]});
        assert_eq!(fitted(&flag, "true"), Ok("\"True\"".to_owned()));
        assert_eq!(fitted(&flag, "2021"), Ok("\"2021\"".to_owned()));
        assert_eq!(fitted(&flag, "2022"), Err(AnswerFault::WrongType));
        assert_eq!(
            fitted(&json!({"type": "string", "enum": ["True", "true"]}), "true"),
            Err(AnswerFault::WrongType)
        );
        assert_eq!(
            fitted(&json!({"type": "string", "enum": ["", "a"]}), "\" \""),
            Err(AnswerFault::NotInEnum)
        );
    }

    #[test]
    fn an_enum_on_an_array_lists_its_elements() {
        let tags = json!({"type": "array", "items": {"type": "string"}, "enum": ["a", "b"]});
        assert_eq!(fitted(&tags, r#"["b","a"]"#), Ok(r#"["b","a"]"#.to_owned()));
        assert_eq!(fitted(&tags, r#"["c"]"#), Err(AnswerFault::NotInEnum));
    }

    #[test]
    fn nested_values_are_converted_and_faults_have_their_place() {
        let schema = json!({"type": "dict", "properties": {
            "ages": {"type": "array", "items": {"type": "integer"}}, "name": {"type": "string"},
        }});
        assert_eq!(fitted(&schema, r#"{"ages":["4",5],"name":null}"#), Ok(r#"{"ages":[4,5]}"#.to_owned()));
        let error = fit(&schema, &json!({"ages": [4, "x"]})).unwrap_err();
        assert_eq!((error.fault, error.at.as_str()), (AnswerFault::WrongType, "ages[1]"));
        assert_eq!(fitted(&schema, r#"{"size":1}"#), Err(AnswerFault::UnknownParameter));
        assert_eq!(fitted(&json!({"type": "dict"}), r#"{"size":null}"#), Ok(r#"{"size":null}"#.to_owned()));
    }
}
