//! Answers that people wrote for requests, as calls with alternatives: `[{function: {parameter: [alternatives]}}]`.
//!
//! They come from the decisions of a run (`decisions` reads the file, and checks their form by [`check_form`]). Names and
//! values are checked against the docs when an answer is used, since only then the docs are known, by the rules and with the
//! faults of recorded answers. One that does not fit holds its own request: unlike a recorded value, what a person wrote is
//! never cast, since the person can say what is meant.

use serde_json::{Map, Value};

use super::alternatives::{alternatives, is_checkable};
use super::fault::{AnswerError, AnswerFault};
use super::value::fit;
use callsieve_bfcl::types::{Type, is_whole};

/// An answer under the names of `functions`; each call goes with its parameters under the names that `carry` gives them,
/// which are those of `functions`.
///
/// # Errors
/// When the answer names a function or parameter that the docs do not have, leaves out a required one, or holds a value that
/// the docs do not allow.
pub fn carried(
    ground_truth: &[Value],
    functions: &[Value],
    carry: impl Fn(&str, Map<String, Value>) -> (String, Map<String, Value>),
) -> Result<Vec<Value>, AnswerError> {
    let carried = calls(ground_truth).flatten().map(|(name, parameters)| {
        // Who reads the docs as they are now may write their names.
        if let Ok(call) = call(name, parameters, functions) {
            return Ok(Value::Object(call));
        }
        let (name, parameters) = carry(name, parameters.clone());
        call(&name, &parameters, functions).map(Value::Object)
    });
    carried.collect()
}

/// Checks the form of a ground truth: calls of one function each, every parameter with a list of alternatives.
///
/// # Errors
/// What is wrong with it.
pub fn check_form(ground_truth: &[Value]) -> Result<(), String> {
    if ground_truth.is_empty() {
        return Err("holds no call".to_owned());
    }
    calls(ground_truth).try_for_each(|call| {
        let (name, parameters) = call?;
        check_alternatives(name, parameters)
    })
}

/// The calls of a ground truth, each as its function's name and its parameters.
fn calls(ground_truth: &[Value]) -> impl Iterator<Item = Result<(&str, &Map<String, Value>), String>> {
    ground_truth.iter().enumerate().map(|(index, call)| {
        let mut members = call.as_object().into_iter().flatten();
        match (members.next(), members.next()) {
            (Some((name, Value::Object(parameters))), None) => Ok((name.as_str(), parameters)),
            _ => Err(format!("call {index} is not one function name with an object of parameters")),
        }
    })
}

fn check_alternatives(name: &str, parameters: &Map<String, Value>) -> Result<(), String> {
    let faulty = parameters.iter().find(|(_, alternatives)| !is_filled_list(alternatives));
    match faulty {
        Some((parameter, _)) => Err(format!("{name}.{parameter} is not a list of at least one alternative")),
        None => Ok(()),
    }
}

fn call(
    name: &str,
    parameters: &Map<String, Value>,
    functions: &[Value],
) -> Result<Map<String, Value>, AnswerError> {
    let mut named = functions.iter().filter(|function| function["name"] == name);
    let Some(function) = named.next() else {
        return Err(AnswerFault::UnknownFunction.at(name, "no doc has this name"));
    };
    if named.next().is_some() {
        return Err(AnswerFault::AmbiguousFunction.at(name, "several docs have this name"));
    }
    let parameters = of_function(&function["parameters"], parameters).map_err(|unfit| unfit.under(name))?;
    Ok(Map::from_iter([(name.to_owned(), Value::Object(parameters))]))
}

fn of_function(schema: &Value, parameters: &Map<String, Value>) -> Result<Map<String, Value>, AnswerError> {
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let mut written = Map::with_capacity(parameters.len());
    for (parameter, alternatives) in parameters {
        let Some(schema) = schema["properties"].get(parameter) else {
            return Err(AnswerFault::UnknownParameter.at(parameter, "the doc has no such parameter"));
        };
        let of_parameter = of_parameter(schema, alternatives.as_array().map_or(&[], Vec::as_slice));
        written.insert(parameter.clone(), of_parameter.map_err(|unfit| unfit.under(parameter))?);
    }
    for required in required {
        let alternatives = written.get(required).and_then(Value::as_array);
        if !alternatives.into_iter().flatten().any(|alternative| *alternative != "") {
            return Err(AnswerFault::MissingRequired.at(required, "required, but has no value"));
        }
    }
    Ok(written)
}

fn of_parameter(schema: &Value, list: &[Value]) -> Result<Value, AnswerError> {
    if !is_checkable(schema) {
        return Err(AnswerFault::UncheckableType.at("", "declared with an unknown type"));
    }
    let n_null = list.iter().filter(|one| one.is_null()).count();
    if n_null > 0 && n_null < list.iter().filter(|one| **one != "").count() {
        return Err(AnswerFault::WrongType.at("", "null stands beside other values"));
    }
    list.iter().map(|one| if *one == "" { Ok(one.clone()) } else { alternative(schema, one) }).collect()
}

/// One alternative in the form that the checker compares with, which is that in which it is written.
fn alternative(schema: &Value, one: &Value) -> Result<Value, AnswerError> {
    let wrong = || {
        let declared = schema["type"].as_str().unwrap_or_default();
        Err(AnswerFault::WrongType.at("", format!("declared as {declared}, but is {one}")))
    };
    match (Type::of(schema), one) {
        (Some(Type::Dict), Value::Object(members)) => of_members(schema, members),
        (Some(Type::Array | Type::Tuple), Value::Array(elements))
            if Type::of(&schema["items"]) == Some(Type::Dict) =>
        {
            let element = |(at, element): (usize, &Value)| {
                alternative(&schema["items"], element).map_err(|unfit| unfit.under(&format!("[{at}]")))
            };
            elements.iter().enumerate().map(element).collect()
        }
        (Some(declared), Value::Null) if declared.is_container() => wrong(),
        _ => {
            let written = alternatives(schema, true, Some(one))?.pop().unwrap_or_default();
            if is_as_written(one, &written) { Ok(written) } else { wrong() }
        }
    }
}

/// The members of a dict, each of which lists its alternatives in turn.
fn of_members(schema: &Value, members: &Map<String, Value>) -> Result<Value, AnswerError> {
    let properties = schema["properties"].as_object().filter(|named| !named.is_empty());
    for (key, list) in members {
        let Some(list) = list.as_array().filter(|list| !list.is_empty()) else {
            return Err(
                AnswerFault::WrongType.at(key, "not a list of alternatives, as members of a dict are")
            );
        };
        let Some(properties) = properties else { continue };
        let Some(property) = properties.get(key) else {
            return Err(AnswerFault::UnknownParameter.at(key, "the doc has no such key"));
        };
        for one in list.iter().filter(|one| **one != "") {
            let fitted = fit(property, one).map_err(|unfit| unfit.under(key))?;
            if !is_as_written(one, &fitted) {
                let declared = property["type"].as_str().unwrap_or_default();
                return Err(AnswerFault::WrongType.at(key, format!("declared as {declared}, but is {one}")));
            }
        }
    }
    Ok(Value::Object(members.clone()))
}

/// Whether a value that was fitted is the one that was written: texts may be spelled as the enum has them, and whole
/// numbers among floats as floats.
fn is_as_written(one: &Value, fitted: &Value) -> bool {
    match (one, fitted) {
        (Value::String(_), Value::String(_)) => true,
        (Value::Number(one), Value::Number(fitted)) => one == fitted || is_whole(one) && !is_whole(fitted),
        (Value::Array(one), Value::Array(fitted)) => {
            one.len() == fitted.len()
                && one.iter().zip(fitted).all(|(one, fitted)| is_as_written(one, fitted))
        }
        (Value::Object(one), Value::Object(fitted)) => {
            let is_same =
                |(key, one): (&String, &Value)| fitted.get(key).is_some_and(|it| is_as_written(one, it));
            one.len() == fitted.len() && one.iter().all(is_same)
        }
        _ => one == fitted,
    }
}

fn is_filled_list(value: &Value) -> bool {
    value.as_array().is_some_and(|elements| !elements.is_empty())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn as_it_is(name: &str, parameters: Map<String, Value>) -> (String, Map<String, Value>) {
        (name.to_owned(), parameters)
    }

    fn functions() -> [Value; 1] {
        [json!({"name": "f", "parameters": {"type": "dict", "required": ["city"], "properties": {
            "city": {"type": "string"}, "filter": {"type": "dict"},
            "people": {"type": "array", "items": {"type": "dict"}},
        }}})]
    }

    /// What becomes of one answer when it is used.
    fn used(
        ground_truth: &Value,
        carry: impl Fn(&str, Map<String, Value>) -> (String, Map<String, Value>),
    ) -> Result<Vec<Value>, String> {
        let calls = ground_truth.as_array().unwrap();
        check_form(calls)?;
        carried(calls, &functions(), carry).map_err(|unfit| unfit.to_string())
    }

    #[test]
    fn names_that_a_fix_changed_are_followed_and_those_that_it_left_behind_are_known_too() {
        let expected = json!([{"f": {"city": ["Oslo", "Oslo, Norway"]}}]);
        let town = |name: &str, mut parameters: Map<String, Value>| {
            let city = parameters.remove("town").unwrap_or_default();
            parameters.insert("city".to_owned(), city);
            (name.to_lowercase(), parameters)
        };
        assert_eq!(used(&expected, as_it_is).map(Value::Array), Ok(expected.clone()));
        for answer in [expected.clone(), json!([{"F": {"town": ["Oslo", "Oslo, Norway"]}}])] {
            assert_eq!(used(&answer, town).map(Value::Array), Ok(expected.clone()));
        }
    }

    #[test]
    fn what_is_no_answer_is_named() {
        for (ground_truth, message) in [
            (json!([]), "holds no call"),
            (json!([{"f": {}, "g": {}}]), "call 0 is not one function name with an object of parameters"),
            (json!([{"f": []}]), "call 0 is not one function name with an object of parameters"),
            (json!([{"f": {"city": "Oslo"}}]), "f.city is not a list of at least one alternative"),
            (json!([{"f": {"city": []}}]), "f.city is not a list of at least one alternative"),
        ] {
            assert_eq!(used(&ground_truth, as_it_is).unwrap_err(), message);
        }
    }

    #[test]
    fn an_answer_that_does_not_fit_the_docs_is_named() {
        let used = |ground_truth: &Value| used(ground_truth, as_it_is).map(drop);
        let said = |message: &str| Err(message.to_owned());
        assert_eq!(
            used(&json!([{"f": {"city": ["Oslo"], "filter": [{"a": [1]}], "people": ["", [{"age": [3]}]]}}])),
            Ok(())
        );
        assert_eq!(used(&json!([{"g": {}}])), said("g: no doc has this name"));
        assert_eq!(
            used(&json!([{"f": {"city": ["Oslo"], "town": [1]}}])),
            said("f.town: the doc has no such parameter")
        );
        assert_eq!(used(&json!([{"f": {}}])), said("f.city: required, but has no value"));
        assert_eq!(used(&json!([{"f": {"city": [""]}}])), said("f.city: required, but has no value"));
        let nested = "not a list of alternatives, as members of a dict are";
        assert_eq!(
            used(&json!([{"f": {"city": ["Oslo"], "filter": [{"a": 1}]}}])),
            said(&format!("f.filter.a: {nested}"))
        );
        assert_eq!(
            used(&json!([{"f": {"city": ["Oslo"], "people": [[{"a": 1}]]}}])),
            said(&format!("f.people[0].a: {nested}"))
        );
    }

    #[test]
    fn values_are_held_to_the_docs_and_never_cast() {
        let functions = [
            json!({"name": "pay", "parameters": {"type": "dict", "required": [], "properties": {
                "amount": {"type": "float"}, "times": {"type": "integer"}, "note": {"type": "string"},
                "unit": {"type": "string", "enum": ["Euro", "Krone"]}, "tags": {"type": "array", "items": {"type": "string"}},
                "rates": {"type": "array", "items": {"type": "float"}}, "odd": {"type": "mystery"},
                "to": {"type": "dict", "properties": {"bank": {"type": "string"}, "age": {"type": "integer"}}},
            }}}),
        ];
        let paid = |parameters: &Value| {
            let answer = [json!({ "pay": parameters })];
            carried(&answer, &functions, as_it_is).map_err(|unfit| (unfit.fault, unfit.to_string()))
        };
        for fits in [
            json!({"amount": [500, 500.5], "unit": ["euro", ""], "tags": [[], ["a"]], "note": ["a"]}),
            json!({"to": [{"bank": ["a", "b", ""], "age": [4]}], "rates": [[0.5, 1.5]]}),
        ] {
            assert_eq!(paid(&fits).map_err(|(_, message)| message).map(|_| ()), Ok(()), "{fits}");
        }
        for (parameters, fault, message) in [
            (
                r#"{"amount": ["1200"]}"#,
                AnswerFault::WrongType,
                r#"pay.amount: declared as float, but is "1200""#,
            ),
            (r#"{"times": [5.0]}"#, AnswerFault::WrongType, "pay.times: declared as integer, but is 5.0"),
            (
                r#"{"amount": [1e400]}"#,
                AnswerFault::WrongType,
                "pay.amount: declared as float, but is 1e+400",
            ),
            (r#"{"note": ["a", 5]}"#, AnswerFault::WrongType, "pay.note: declared as string, but is 5"),
            (r#"{"note": ["a", null]}"#, AnswerFault::WrongType, "pay.note: null stands beside other values"),
            (r#"{"tags": [null]}"#, AnswerFault::WrongType, "pay.tags: declared as array, but is null"),
            (r#"{"tags": ["a"]}"#, AnswerFault::WrongType, r#"pay.tags: declared as array, but is "a""#),
            (r#"{"tags": [["a", 1]]}"#, AnswerFault::WrongType, "pay.tags[1]: declared as string, but is 1"),
            (r#"{"to": ["me"]}"#, AnswerFault::WrongType, r#"pay.to: declared as dict, but is "me""#),
            (
                r#"{"to": [{"age": ["4"]}]}"#,
                AnswerFault::WrongType,
                r#"pay.to.age: declared as integer, but is "4""#,
            ),
            (
                r#"{"to": [{"iban": ["x"]}]}"#,
                AnswerFault::UnknownParameter,
                "pay.to.iban: the doc has no such key",
            ),
            (r#"{"unit": ["Franc"]}"#, AnswerFault::NotInEnum, r#"pay.unit: "Franc" is not in the enum"#),
            (r#"{"odd": ["x"]}"#, AnswerFault::UncheckableType, "pay.odd: declared with an unknown type"),
        ] {
            let parameters: Value = serde_json::from_str(parameters).unwrap();
            assert_eq!(paid(&parameters).map(|_| ()), Err((fault, message.to_owned())));
        }
        let twice = [functions[0].clone(), functions[0].clone()];
        let ambiguous = carried(&[json!({"pay": {}})], &twice, as_it_is).unwrap_err();
        assert_eq!(ambiguous.fault, AnswerFault::AmbiguousFunction);
    }
}
