//! Calls that datasets recorded: dialogues of API-Bank, and search trees of ToolBench.

use callsieve_notation::allowance::Allowance;
use callsieve_notation::json::strict;
use callsieve_notation::python;
use serde_json::{Map, Value};

use super::body::Body;
use super::log::{Log, Probe, read};
use crate::reading::{owned, text};

/// The function with which a search ends, which is no API.
const FINISH: &str = "Finish";

/// Reads the calls in a dialogue of API-Bank: the lines with the role `API`. The other lines are left out.
pub fn read_dialogues(name: &str, text: &str) -> Log {
    read(name, text, |map| Ok(dialogue_call(map)?.into_iter().collect()))
}

/// Reads the calls in a search tree of ToolBench, in the order of the search.
///
/// An observation wraps the answer as text next to an error, and the answer may be printed by Python; it is unwrapped.
pub fn read_trees(name: &str, text: &str) -> Log {
    read(name, text, |map| {
        let tree =
            map.get("tree").map(|tree| tree.get("tree").unwrap_or(tree)).ok_or("the answer has no `tree`")?;
        let mut calls = Vec::new();
        collect(tree, None, &mut calls);
        Ok(calls)
    })
}

fn dialogue_call(map: &Map<String, Value>) -> Result<Option<Probe>, String> {
    if map.get("role").and_then(Value::as_str) != Some("API") {
        return Ok(None);
    }
    let result = map.get("result").and_then(Value::as_object).ok_or("the call has no `result`")?;
    let named = owned(map, &["api_name"]).or_else(|| owned(result, &["api_name"]));
    let name = named.ok_or("the call has no `api_name`")?;
    let member = |key: &&str| Some(((*key).to_owned(), result.get(*key)?.clone()));
    let answer = ["output", "exception"].iter().filter_map(member).collect();
    Ok(Some(Probe::answered(&name, &name, Body::Json(Value::Object(answer)))))
}

/// Adds the calls below a node; `function` is the one that the node's parent chose. The depth is bounded by the reader.
fn collect(node: &Value, function: Option<&str>, calls: &mut Vec<Probe>) {
    let Some(map) = node.as_object() else { return };
    let chosen =
        text(map, &["node_type"]).filter(|kind| *kind == "Action").and_then(|_| text(map, &["description"]));
    if let (Some(function), Some(observation)) = (function, text(map, &["observation"]))
        && function != FINISH
    {
        let (api, tool) = function.rsplit_once("_for_").unwrap_or((function, function));
        calls.push(Probe::answered(tool, api, answer(observation)));
    }
    for child in map.get("children").and_then(Value::as_array).into_iter().flatten() {
        collect(child, chosen, calls);
    }
}

/// Returns the answer in an observation, or the observation if it has an error instead.
fn answer(observation: &str) -> Body {
    let body = Body::of_text(observation);
    let inner =
        body.object().filter(|map| map.contains_key("error")).and_then(|map| text(map, &["response"]));
    inner.map_or(body.clone(), |text| printed(text).map_or_else(|| Body::Text(text.to_owned()), Body::Json))
}

/// Returns the value of a text that is JSON, or was printed by Python.
fn printed(text: &str) -> Option<Value> {
    let allowance = Allowance::of(text);
    if let Ok(strict) = strict::read_within(text, &allowance) {
        return Some(strict.value);
    }
    text.starts_with(['{', '['])
        .then(|| python::read_within(text, &allowance).ok())
        .flatten()
        .map(|read| read.value)
}
