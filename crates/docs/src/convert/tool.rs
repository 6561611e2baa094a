//! Writes the definition of one function, and the list around all of them.

use serde_json::{Map, Value, json};

use super::names::name_in;
use super::reasons::{KEY_LEFT_OUT, RENAMED};
use super::{Api, ChangeLog, gemini, json_schema};
use crate::patch::token;

/// Returns the definition of the function at index `n`.
pub(super) fn definition(function: &Value, n: usize, api: Api, story: &mut ChangeLog) -> Value {
    let Value::Object(function) = function else { return function.clone() };
    let mut definition = Map::new();
    for (key, value) in function {
        let at = format!("/{n}/{}", token(key));
        match (key.as_str(), value) {
            ("name", Value::String(name)) => {
                definition.insert(key.clone(), renamed(name, at, api, story).into());
            }
            ("name" | "description", _) => {
                definition.insert(key.clone(), value.clone());
            }
            ("parameters", _) => {
                definition.extend(
                    schema(value, &at, api, story).map(|schema| (schema_key(api).to_owned(), schema)),
                );
            }
            _ => story.add(&KEY_LEFT_OUT, at, value, Value::Null),
        }
    }
    match api {
        Api::OpenAi => json!({"type": "function", "function": definition}),
        Api::Anthropic | Api::Mcp | Api::Gemini => definition.into(),
    }
}

/// Returns the definitions as the API's list of tools.
pub(super) fn framed(definitions: Vec<Value>, api: Api) -> Vec<Value> {
    if api == Api::Gemini && !definitions.is_empty() {
        return vec![json!({"functionDeclarations": definitions})];
    }
    definitions
}

fn renamed(name: &str, at: String, api: Api, story: &mut ChangeLog) -> String {
    let new = name_in(api, name);
    if new != name {
        story.add(&RENAMED, at, &name.into(), new.clone().into());
    }
    new
}

/// Returns the schema of the parameters; `None` where Gemini requires that there is no schema.
fn schema(parameters: &Value, at: &str, api: Api, story: &mut ChangeLog) -> Option<Value> {
    let Value::Object(parameters) = parameters else { return Some(parameters.clone()) };
    match api {
        Api::OpenAi | Api::Anthropic | Api::Mcp => Some(json_schema::schema(parameters, at, story)),
        Api::Gemini => gemini::parameters(parameters, at, story),
    }
}

fn schema_key(api: Api) -> &'static str {
    match api {
        Api::OpenAi | Api::Gemini => "parameters",
        Api::Anthropic => "input_schema",
        Api::Mcp => "inputSchema",
    }
}
