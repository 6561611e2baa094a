//! Converts recorded calls to ground truth for the current docs.
//!
//! A call was made with the docs as they were sent; fixes may have renamed functions and
//! parameters since. A name that is spelled in another way is that of the docs (`called`). The result is in the format of the official checker: one object per call,
//! `{name: {parameter: [alternatives]}}`, with the parameters in the order of the doc. A call that
//! the checker would refuse, or that contradicts the doc (an invented parameter, a value outside
//! the enum), is a fault. `alternatives` writes single values.

use serde_json::{Map, Value};

use super::alternatives::{alternatives, is_checkable};
use super::called::CallableFunctions;
use super::fault::{AnswerError, AnswerFault};
use callsieve_bfcl::conversation::Call;

/// Writes calls as ground truth for `functions`, docs in BFCL form.
///
/// Names that a fix changed must have been renamed before: see `docs::fix::renames`.
///
/// # Errors
/// If a call does not fit the docs, or cannot be written so that it passes the checker.
pub fn ground_truth(calls: &[Call], functions: &[Value]) -> Result<Vec<Value>, AnswerError> {
    if calls.is_empty() {
        return Err(AnswerFault::NoCall.at("", "no call was recorded"));
    }
    calls.iter().map(|call| carry(call, functions)).collect()
}

fn carry(call: &Call, functions: &[Value]) -> Result<Value, AnswerError> {
    let name = call.name.as_str();
    let mut named = functions.iter().filter(|function| function["name"] == name);
    let function = match (named.next(), named.next()) {
        (Some(_), Some(_)) => {
            return Err(AnswerFault::AmbiguousFunction.at(name, "several functions have this name"));
        }
        (found, _) => found.or_else(|| {
            let place = CallableFunctions::new(functions).only_place_of(call)?;
            functions.get(place)
        }),
    };
    let Some(function) = function else {
        return Err(AnswerFault::UnknownFunction.at(name, "no function has this name"));
    };
    // The name in the docs, which may be spelled in another way than in the call.
    let name = function["name"].as_str().unwrap_or(name);
    let Some(arguments) = call.arguments.as_object() else {
        return Err(AnswerFault::ArgumentsNotAnObject.at(name, "the arguments are not an object"));
    };
    let parameters = parameters(function, arguments).map_err(|error| error.under(name))?;
    Ok(Value::Object(Map::from_iter([(name.to_owned(), Value::Object(parameters))])))
}

fn parameters(function: &Value, arguments: &Map<String, Value>) -> Result<Map<String, Value>, AnswerError> {
    let no_properties = Map::new();
    let properties = function["parameters"]["properties"].as_object().unwrap_or(&no_properties);
    let required: Vec<_> = function["parameters"]["required"].as_array().into_iter().flatten().collect();
    if let Some(unknown) = arguments.keys().find(|parameter| !properties.contains_key(*parameter)) {
        return Err(AnswerFault::UnknownParameter.at(unknown, "the function has no such parameter"));
    }
    if let Some(missing) =
        required.iter().filter_map(|name| name.as_str()).find(|name| !arguments.contains_key(*name))
    {
        return Err(AnswerFault::MissingRequired.at(missing, "required but missing"));
    }
    let mut written = Map::with_capacity(properties.len());
    for (parameter, schema) in properties {
        let value = arguments.get(parameter);
        if !is_checkable(schema) {
            // The checker refuses a parameter that the ground truth omits before it looks at the type.
            match value {
                None => continue,
                Some(_) => {
                    return Err(AnswerFault::UncheckableType.at(parameter, "declared with an unknown type"));
                }
            }
        }
        let is_required = required.iter().any(|name| *name == parameter);
        let alternatives =
            alternatives(schema, is_required, value).map_err(|error| error.under(parameter))?;
        written.insert(parameter.clone(), Value::Array(alternatives));
    }
    Ok(written)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn functions() -> Vec<Value> {
        vec![json!({"name": "trips.find", "description": "", "parameters": {
            "type": "dict", "required": ["_from", "seats"],
            "properties": {
                "_from": {"type": "string"},
                "seats": {"type": "integer"},
                "class": {"type": "string", "enum": ["first", "second"], "default": "second"},
                "tags": {"type": "array", "items": {"type": "string"}, "default": null},
                "odd": {"type": "object"},
            },
        }})]
    }

    fn call(name: &str, arguments: Value) -> Call {
        Call { id: None, name: name.to_owned(), arguments }
    }

    fn carried(arguments: Value) -> Result<Value, (AnswerFault, String)> {
        match ground_truth(&[call("trips.find", arguments)], &functions()) {
            Ok(mut calls) => Ok(calls.remove(0)["trips.find"].take()),
            Err(error) => Err((error.fault, error.at)),
        }
    }

    #[test]
    fn parameters_are_in_doc_order_and_omitted_ones_are_marked() {
        let written = carried(json!({"seats": 2, "_from": "Oslo"})).unwrap();
        assert_eq!(
            written.to_string(),
            r#"{"_from":["Oslo"],"seats":[2],"class":["","second"],"tags":[""]}"#
        );
    }

    #[test]
    fn calls_that_do_not_fit_the_docs_are_faults() {
        let at = |fault: AnswerFault, at: &str| Err((fault, at.to_owned()));
        assert_eq!(carried(json!({"_from": "Oslo"})), at(AnswerFault::MissingRequired, "trips.find.seats"));
        assert_eq!(
            carried(json!({"_from": "Oslo", "seats": 1, "verbose": true})),
            at(AnswerFault::UnknownParameter, "trips.find.verbose")
        );
        assert_eq!(
            carried(json!({"_from": "Oslo", "seats": "two"})),
            at(AnswerFault::WrongType, "trips.find.seats")
        );
        assert_eq!(
            carried(json!({"_from": "Oslo", "seats": 1, "class": "third"})),
            at(AnswerFault::NotInEnum, "trips.find.class")
        );
        assert_eq!(
            carried(json!({"_from": "Oslo", "seats": 1, "tags": ["a", 1]})),
            at(AnswerFault::WrongType, "trips.find.tags[1]")
        );
        assert_eq!(
            carried(json!({"_from": "Oslo", "seats": 1, "odd": {}})),
            at(AnswerFault::UncheckableType, "trips.find.odd")
        );
        assert_eq!(
            carried(json!({"_from": "", "seats": 1})),
            at(AnswerFault::EmptyValue, "trips.find._from")
        );
        assert_eq!(carried(json!("seats=1")), at(AnswerFault::ArgumentsNotAnObject, "trips.find"));
    }

    #[test]
    fn the_function_must_be_in_the_docs_exactly_once() {
        let fault = |calls: &[Call], functions: &[Value]| ground_truth(calls, functions).unwrap_err().fault;
        assert_eq!(fault(&[], &functions()), AnswerFault::NoCall);
        assert_eq!(fault(&[call("trips.find_v2", json!({}))], &functions()), AnswerFault::UnknownFunction);
        let twice = [functions(), functions()].concat();
        assert_eq!(fault(&[call("trips.find", json!({}))], &twice), AnswerFault::AmbiguousFunction);
    }

    #[test]
    fn a_call_is_written_under_the_name_in_the_docs() {
        for name in ["trips.find", "trips_find", "findTrips"] {
            let calls = [call(name, json!({"_from": "Oslo", "seats": 1}))];
            let written = ground_truth(&calls, &functions()).unwrap();
            assert!(written[0].get("trips.find").is_some(), "{name}: {written:?}");
        }
        let calls = [call("findTrips", json!({"_from": "Oslo", "seats": 1, "verbose": true}))];
        assert_eq!(ground_truth(&calls, &functions()).unwrap_err().fault, AnswerFault::UnknownFunction);
    }

    #[test]
    fn a_fault_names_the_place_and_the_problem() {
        let calls = [call("trips.find", json!({"_from": "Oslo", "seats": 1.5}))];
        let error = ground_truth(&calls, &functions()).unwrap_err();
        assert_eq!(error.to_string(), "trips.find.seats: declared as integer, but is 1.5");
        assert_eq!(error.fault.code(), "answer/wrong-type");
    }

    #[test]
    fn reason_codes_are_distinct() {
        let codes: BTreeSet<_> = AnswerFault::ALL.into_iter().map(AnswerFault::code).collect();
        let sentences: BTreeSet<_> = AnswerFault::ALL.into_iter().map(AnswerFault::what).collect();
        assert_eq!((codes.len(), sentences.len()), (AnswerFault::ALL.len(), AnswerFault::ALL.len()));
    }

    proptest! {
        #[test]
        fn arbitrary_docs_and_arguments_do_not_panic(doc in "[\\[\\]{}\":,a-z0-9]{0,40}", arguments in "[\\[\\]{}\":,a-z0-9]{0,20}") {
            let read = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_else(|_| json!(text));
            let function = json!({"name": "f", "parameters": {"properties": {"a": read(&doc)}, "required": read(&doc)}});
            let calls = [call("f", read(&arguments)), call("f", json!({"a": read(&arguments)}))];
            for call in calls {
                let _ = ground_truth(&[call], std::slice::from_ref(&function));
            }
        }
    }
}
