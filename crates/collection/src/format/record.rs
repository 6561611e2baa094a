//! Pieces of formats whose functions are records with maps of parameters.

use serde_json::{Map, Value};

use super::parameters;
use crate::census::{Census, Kind};
use crate::reading::Reading;

/// Returns a map of response fields as a schema; `None` if it is empty.
pub(super) fn response(map: Option<&Value>, reading: &mut Reading, at: &str) -> Option<Value> {
    let map = map?.as_object().filter(|map| !map.is_empty())?;
    let mut schema = parameters::of_map(map, Some(&[]), reading, at);
    if let Some(schema) = schema.as_object_mut() {
        schema.shift_remove("required");
    }
    Some(schema)
}

/// Counts a map of parameters, with the words that a format has for defaults and allowed values.
pub(super) fn count_map(map: &Map<String, Value>, census: &mut Census) {
    for parameter in map.values() {
        census.parameter();
        count_parameter(parameter, census);
    }
}

/// Counts what one parameter states.
pub(super) fn count_parameter(parameter: &Value, census: &mut Census) {
    census.schema(parameter);
    let Some(map) = parameter.as_object() else {
        let is_description = parameter.as_str().is_some_and(|text| text.contains(' ') || text.len() > 20);
        if is_description {
            census.description(parameter.as_str());
        }
        return;
    };
    if let (Some(default), false) = (map.get("default_value"), map.contains_key("default")) {
        census.value(Kind::Defaults, default);
    }
    let is_list = |value: &&Value| value.as_array().is_some_and(|values| !values.is_empty());
    let allowed =
        ["allowed_values", "possible_values", "choices"].iter().filter_map(|key| map.get(*key)).find(is_list);
    if let (Some(allowed), false) = (allowed, map.contains_key("enum")) {
        census.value(Kind::Enums, allowed);
    }
}
