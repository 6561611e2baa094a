//! Unwraps containers of several functions and wrappers of one.
//!
//! Both are rows of `tables`. Values under several keys are all taken, in the order of the object's keys; a value that
//! is not a list where a list is required stays in place.

use serde_json::{Map, Value};

use super::catalogue::is_server;
use super::holds_parameters;
use super::tables::{CONTAINERS, FRAMES};
use crate::parse::step::ParseStep;

/// Tests if the value under a key holds functions.
type Holds = fn(&str, &Value) -> bool;

/// Removes and returns all values that hold functions, in the order of the object's keys.
pub(super) fn held(map: &mut Map<String, Value>) -> Vec<(Value, ParseStep)> {
    let containers = CONTAINERS.iter().map(|(path, step)| (*path, *step, holds_functions as Holds));
    let frames = FRAMES.iter().map(|(key, step)| (std::slice::from_ref(key), *step, holds_function as Holds));
    let place = |path: &[&str]| map.keys().position(|key| key == path[0]);
    let mut found: Vec<_> = containers
        .chain(frames)
        .filter(|(_, step, _)| *step != ParseStep::Haystack || is_of_haystack(map))
        .filter(|(path, _, holds)| at_path(map, path).is_some_and(|inner| holds(path[path.len() - 1], inner)))
        .filter_map(|(path, step, _)| Some((place(path)?, path, step)))
        .collect();
    found.sort_by_key(|(place, ..)| *place);
    let mut held: Vec<_> =
        found.into_iter().filter_map(|(_, path, step)| Some((take_path(map, path)?, step))).collect();
    if held.len() > 1 {
        held.retain(|(inner, _)| !is_empty(inner));
    }
    held
}

/// Copies the name and the description of a wrapper to its only function.
pub(super) fn inherit(held: &mut [(Value, ParseStep)], frame: &Map<String, Value>) {
    let [(Value::Object(inner), step)] = held else { return };
    if !FRAMES.iter().any(|(_, of_frame)| of_frame == step) {
        return;
    }
    for key in ["name", "description"] {
        if let Some(value) = frame.get(key).filter(|value| value.is_string() && !inner.contains_key(key)) {
            inner.insert(key.to_owned(), value.clone());
        }
    }
}

/// Returns true for an object of haystack, which has the name of its class; `data` alone may hold anything.
fn is_of_haystack(map: &Map<String, Value>) -> bool {
    map.get("type")
        .and_then(Value::as_str)
        .is_some_and(|class| class.starts_with("haystack") && class.contains('.'))
}

fn at_path<'m>(map: &'m Map<String, Value>, path: &[&str]) -> Option<&'m Value> {
    let (first, below) = path.split_first()?;
    below.iter().try_fold(map.get(*first)?, |value, key| value.get(*key))
}

fn take_path(map: &mut Map<String, Value>, path: &[&str]) -> Option<Value> {
    let (last, above) = path.split_last()?;
    let holder = above.iter().try_fold(map, |map, key| map.get_mut(*key)?.as_object_mut())?;
    holder.shift_remove(*last)
}

fn is_empty(value: &Value) -> bool {
    value.as_array().is_some_and(Vec::is_empty) || value.as_object().is_some_and(Map::is_empty)
}

/// Returns true if the value under a container's key is a list, or another form of one.
fn holds_functions(key: &str, value: &Value) -> bool {
    match value {
        Value::Array(_) => true,
        // One function under its wrapper's key is not a map of functions.
        Value::Object(_) => key != "function",
        Value::String(text) => text.trim_start().starts_with('['),
        _ => false,
    }
}

/// Returns true if the value under a wrapper's key is an object, or text with an object.
fn holds_function(_: &str, value: &Value) -> bool {
    value.is_object() || value.as_str().is_some_and(|text| text.trim_start().starts_with('{'))
}

/// Returns true if a value is an object with a list of functions, such as one server's response.
pub(super) fn is_container(value: &Value) -> bool {
    value.as_object().is_some_and(|map| {
        (!holds_parameters(map) || is_server(map))
            && CONTAINERS
                .iter()
                .any(|(path, _)| path.len() == 1 && map.get(path[0]).is_some_and(Value::is_array))
    })
}
