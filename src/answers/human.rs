//! Answers that people wrote for requests, as calls with alternatives: `[{function: {parameter: [alternatives]}}]`.
//!
//! They come from the decisions of a run (`decisions` reads the file, and checks their form by [`check_form`]). Names
//! are checked against the docs when an answer is used, since only then the docs are known: an answer that does not fit
//! holds its own request. Values are not judged: a person may well accept what a doc does not name. Every fault names
//! the file and the line.

use serde_json::{Map, Value};

use super::fault::CarryFault;
use crate::bfcl::types::Type;

/// An answer that does not fit the docs of its request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unfit {
    /// What kind of fault it is.
    pub fault: CarryFault,
    /// What is wrong, and where in the answer.
    pub message: String,
}

/// An answer under the names of `functions`; each call goes with its parameters under the names that `carry` gives them,
/// which are those of `functions`. `place` is the file and line of the answer, for messages.
///
/// # Errors
/// When the answer names a function or parameter the docs do not have, or leaves out a required one.
pub fn carried(
    ground_truth: &[Value],
    place: &str,
    functions: &[Value],
    carry: impl Fn(&str, Map<String, Value>) -> (String, Map<String, Value>),
) -> Result<Vec<Value>, Unfit> {
    let carried = calls(ground_truth).flatten().map(|(name, parameters)| {
        // Who reads the docs as they are now may write their names.
        let fits = check_names(name, parameters, functions).is_ok();
        let (name, parameters) =
            if fits { (name.to_owned(), parameters.clone()) } else { carry(name, parameters.clone()) };
        check_names(&name, &parameters, functions)
            .map_err(|unfit| Unfit { message: format!("{place}: {}", unfit.message), ..unfit })?;
        Ok(Value::Object(Map::from_iter([(name, Value::Object(parameters))])))
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

fn check_names(name: &str, parameters: &Map<String, Value>, functions: &[Value]) -> Result<(), Unfit> {
    let unfit = |fault, message| Err(Unfit { fault, message });
    let Some(function) = functions.iter().find(|function| function["name"] == name) else {
        return unfit(CarryFault::UnknownFunction, format!("no doc of the request is called {name}"));
    };
    let properties = &function["parameters"]["properties"];
    for (parameter, alternatives) in parameters {
        let Some(schema) = properties.get(parameter) else {
            return unfit(CarryFault::UnknownParameter, format!("{name} has no parameter {parameter}"));
        };
        if !alternatives
            .as_array()
            .into_iter()
            .flatten()
            .all(|alternative| is_well_nested(schema, alternative))
        {
            let message =
                format!("{name}.{parameter} holds a dict whose values are not lists of alternatives");
            return unfit(CarryFault::WrongType, message);
        }
    }
    for required in
        function["parameters"]["required"].as_array().into_iter().flatten().filter_map(Value::as_str)
    {
        let alternatives = parameters.get(required).and_then(Value::as_array);
        if !alternatives.into_iter().flatten().any(|alternative| *alternative != "") {
            return unfit(
                CarryFault::MissingRequired,
                format!("{name}.{required} is required, but has no value"),
            );
        }
    }
    Ok(())
}

/// Whether the dicts of an alternative, where the doc declares some, have lists of alternatives as values.
fn is_well_nested(schema: &Value, alternative: &Value) -> bool {
    match (Type::of(schema), alternative) {
        (Some(Type::Dict), Value::Object(members)) => members.values().all(is_filled_list),
        (Some(Type::Array | Type::Tuple), Value::Array(elements))
            if Type::of(&schema["items"]) == Some(Type::Dict) =>
        {
            elements.iter().all(|element| is_well_nested(&schema["items"], element))
        }
        _ => true,
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
        let message = |unfit: Unfit| unfit.message.strip_prefix("file.jsonl:2: ").unwrap().to_owned();
        carried(calls, "file.jsonl:2", &functions(), carry).map_err(message)
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
        assert_eq!(used(&json!([{"g": {}}])), said("no doc of the request is called g"));
        assert_eq!(used(&json!([{"f": {"city": ["Oslo"], "town": [1]}}])), said("f has no parameter town"));
        assert_eq!(used(&json!([{"f": {}}])), said("f.city is required, but has no value"));
        assert_eq!(used(&json!([{"f": {"city": [""]}}])), said("f.city is required, but has no value"));
        let nested = "holds a dict whose values are not lists of alternatives";
        assert_eq!(
            used(&json!([{"f": {"city": ["Oslo"], "filter": [{"a": 1}]}}])),
            said(&format!("f.filter {nested}"))
        );
        assert_eq!(
            used(&json!([{"f": {"city": ["Oslo"], "people": [[{"a": 1}]]}}])),
            said(&format!("f.people {nested}"))
        );
    }
}
