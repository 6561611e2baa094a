//! BFCL entries: instructions of one turn whose calls are made at once, and those without a right call.

use callsieve_bfcl::category::Category;
use serde_json::{Map, Value, json};

use crate::record::Record;

/// Returns the category of an entry; `None` where a live entry cannot hold the instruction.
pub fn category(record: &Record, n_functions: usize) -> Option<Category> {
    if record.turns.len() != 1 || (record.calls.len() > 1 && !record.together) {
        return None;
    }
    Some(match record.calls.len() {
        0 => Category::Irrelevance,
        n_calls => Category::of_answer(n_functions, n_calls),
    })
}

/// Returns the ground truth: for each call, the executed value of every argument. An optional parameter that was left out may
/// be left out, or have its default; one that has its default may be left out. `carried` gives a call the names of `functions`, which are in BFCL's form.
pub fn answer(
    record: &Record,
    functions: &[Value],
    carried: impl Fn(&str, Map<String, Value>) -> (String, Map<String, Value>),
) -> Vec<Value> {
    let of_call = |name: &str, arguments: &Map<String, Value>| {
        let (name, arguments) = carried(name, arguments.clone());
        let function = functions.iter().find(|function| function["name"] == name.as_str());
        let mut values: Map<String, Value> =
            arguments.into_iter().map(|(name, value)| (name, json!([value]))).collect();
        let parameters = function.map(|function| &function["parameters"]);
        let properties = parameters.and_then(|parameters| parameters["properties"].as_object());
        let required = parameters.and_then(|parameters| parameters["required"].as_array());
        let is_required = |parameter: &str| {
            required.is_some_and(|required| required.iter().any(|name| name.as_str() == Some(parameter)))
        };
        for (parameter, schema) in properties.into_iter().flatten() {
            let default = schema.get("default").filter(|default| !default.is_null());
            match values.get_mut(parameter).and_then(Value::as_array_mut) {
                None => {
                    let allowed = std::iter::once(json!("")).chain(default.cloned());
                    values.insert(parameter.clone(), allowed.collect());
                }
                // Without the argument the call is the same.
                Some(allowed) if !is_required(parameter) && allowed.first() == default => {
                    allowed.push(json!(""));
                }
                Some(_) => {}
            }
        }
        json!({ name: values })
    };
    record.calls.iter().map(|call| of_call(&call.name, &call.arguments)).collect()
}
