//! Takes functions out of the frames that APIs and people put around them.
//!
//! Three tables, one entry a dialect: containers (`{"tools": […]}`), frames around
//! one function (`{"type": "function", "function": {…}}`) and other names for a
//! function's own keys (`input_schema`). A new dialect is a new row. Only frames
//! go; what is inside a function stays as it was sent, and is for `fix`.

use serde_json::{Map, Value};

use crate::docs::parse::fault::{Fault, ParseFault};
use crate::docs::parse::step::Step;
use crate::docs::patch::rename_key;
use crate::docs::{source, spec};

/// Keys that lead from an object to the list of functions it holds.
const CONTAINERS: &[(&[&str], Step)] = &[
    (&["tools"], Step::Container),
    (&["functions"], Step::Container),
    (&["function"], Step::Container),
    (&["result", "tools"], Step::Container),
    (&["toolConfig", "tools"], Step::Bedrock),
    (&["functionDeclarations"], Step::Gemini),
    (&["function_declarations"], Step::Gemini),
];

/// Keys under which a frame holds its one function.
const FRAMES: &[(&str, Step)] =
    &[("function", Step::Wrapper), ("toolSpec", Step::Bedrock), ("tool", Step::Wrapper)];

/// Other names of a function's keys, taken where the BFCL one is absent.
const ALIASES: &[(&str, &str, Step)] = &[
    ("api_name", "name", Step::ApiRecord),
    ("api_description", "description", Step::ApiRecord),
    ("input_schema", "parameters", Step::Anthropic),
    ("inputSchema", "parameters", Step::ModelContext),
    ("parameters_json_schema", "parameters", Step::PydanticAi),
    ("parametersJsonSchema", "parameters", Step::Gemini),
];

/// How many frames may stand inside one another.
const MAX_FRAMES: usize = 8;

/// The functions of a value, each an object with a name; `steps` takes note of the frames that went.
///
/// # Errors
/// Where no function is found, or one of the elements is none: half a list is not what was sent.
pub fn functions(value: Value, steps: &mut Vec<Step>) -> Result<Vec<Value>, Fault> {
    match value {
        Value::Array(_) => {}
        Value::Object(_) => note(steps, Step::BareObject),
        _ => return Err(Fault::new(ParseFault::NoFunctions, format!("the value is {}", kind(&value)))),
    }
    let mut functions = Vec::new();
    collect(value, MAX_FRAMES, &mut functions, steps)?;
    if functions.is_empty() {
        return Err(Fault::new(ParseFault::NoFunctions, "the text holds no function"));
    }
    Ok(functions)
}

fn collect(value: Value, frames: usize, out: &mut Vec<Value>, steps: &mut Vec<Step>) -> Result<(), Fault> {
    let Some(frames) = frames.checked_sub(1) else {
        return Err(Fault::new(
            ParseFault::TooDeep,
            format!("more than {MAX_FRAMES} frames around a function"),
        ));
    };
    match value {
        Value::Array(values) => {
            if values.iter().any(Value::is_array) {
                note(steps, Step::NestedList);
            }
            values.into_iter().try_for_each(|value| collect(value, frames, out, steps))
        }
        Value::Object(map) => collect_object(map, frames, out, steps),
        Value::String(text) if text.trim_start().starts_with('{') => match serde_json::from_str(&text) {
            Ok(inner) => {
                note(steps, Step::JsonString);
                collect(inner, frames, out, steps)
            }
            Err(_) => Err(not_a_function(out.len(), "a string")),
        },
        Value::String(text) => match source::functions(&text, steps) {
            Some(functions) => collect(Value::Array(functions?), frames, out, steps),
            None => Err(not_a_function(out.len(), "a string")),
        },
        other => Err(not_a_function(out.len(), kind(&other))),
    }
}

fn collect_object(
    mut map: Map<String, Value>,
    frames: usize,
    out: &mut Vec<Value>,
    steps: &mut Vec<Step>,
) -> Result<(), Fault> {
    if map.is_empty() {
        return Err(Fault::new(
            ParseFault::NoFunctions,
            "an object without keys stands where a function should be",
        ));
    }
    if !is_named(&map) {
        if let Some(functions) = spec::functions(&map, steps) {
            out.extend(functions?);
            return Ok(());
        }
        if let Some((list, step)) = contained(&mut map) {
            note(steps, step);
            return collect(list, frames, out, steps);
        }
        if let Some((function, step)) = framed(&mut map) {
            note(steps, step);
            return collect(function, frames, out, steps);
        }
    }
    let map = with_own_keys(map, steps);
    if is_named(&map) {
        out.push(Value::Object(map));
        return Ok(());
    }
    if is_map_of_functions(&map) {
        note(steps, Step::FunctionMap);
        out.extend(map.into_iter().map(named_by_key));
        return Ok(());
    }
    let found = match map.get("name") {
        Some(Value::String(_)) => "its name is empty".to_owned(),
        Some(other) => format!("its name is {}", kind(other)),
        None => format!("its keys are {}", listed(map.keys())),
    };
    Err(Fault::new(ParseFault::Nameless, format!("function {} has no name: {found}", out.len())))
}

/// Renames what other APIs call a function's keys.
fn with_own_keys(mut map: Map<String, Value>, steps: &mut Vec<Step>) -> Map<String, Value> {
    for (alias, key, step) in ALIASES {
        if map.contains_key(*alias) && !map.contains_key(*key) {
            map = rename_key(map, alias, key);
            note(steps, *step);
        }
    }
    // Bedrock puts one more object around the schema.
    if let Some(Value::Object(schema)) = map.get_mut("parameters")
        && schema.len() == 1
        && schema.get("json").is_some_and(Value::is_object)
    {
        let inner = schema.shift_remove("json").unwrap_or_default();
        map.insert("parameters".to_owned(), inner);
    }
    map
}

fn contained(map: &mut Map<String, Value>) -> Option<(Value, Step)> {
    CONTAINERS.iter().find_map(|(path, step)| {
        let (last, above) = path.split_last()?;
        let holder = above.iter().try_fold(&mut *map, |map, key| map.get_mut(*key)?.as_object_mut())?;
        holder.get(*last).filter(|list| list.is_array())?;
        holder.shift_remove(*last).map(|list| (list, *step))
    })
}

fn framed(map: &mut Map<String, Value>) -> Option<(Value, Step)> {
    FRAMES.iter().find_map(|(key, step)| {
        map.get(*key).filter(|inner| inner.is_object())?;
        map.shift_remove(*key).map(|inner| (inner, *step))
    })
}

fn is_named(map: &Map<String, Value>) -> bool {
    map.get("name").and_then(Value::as_str).is_some_and(|name| !name.trim().is_empty())
}

/// Whether the keys are function names: every value is an object that describes one.
fn is_map_of_functions(map: &Map<String, Value>) -> bool {
    map.iter().all(|(key, value)| {
        let describes =
            |inner: &Map<_, _>| inner.contains_key("parameters") || inner.contains_key("description");
        !key.trim().is_empty() && value.as_object().is_some_and(describes)
    }) && map.values().any(|value| value.get("parameters").is_some())
}

fn named_by_key((name, value): (String, Value)) -> Value {
    let mut function = Map::new();
    function.insert("name".to_owned(), Value::String(name.clone()));
    if let Value::Object(members) = value {
        function.extend(members);
    }
    function.insert("name".to_owned(), Value::String(name));
    Value::Object(function)
}

fn not_a_function(index: usize, found: &str) -> Fault {
    Fault::new(ParseFault::NotAFunction, format!("function {index} is {found}, not an object"))
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

fn listed<'a>(keys: impl Iterator<Item = &'a String>) -> String {
    keys.take(5)
        .map(|key| format!("{:?}", key.chars().take(40).collect::<String>()))
        .collect::<Vec<_>>()
        .join(", ")
}

/// Takes note of a step once, however many functions it was taken for.
fn note(steps: &mut Vec<Step>, step: Step) {
    if !steps.contains(&step) {
        steps.push(step);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(value: Value) -> (Vec<Value>, Vec<&'static str>) {
        let mut steps = Vec::new();
        let functions = functions(value, &mut steps).unwrap();
        (functions, steps.into_iter().map(Step::code).collect())
    }

    fn fault(value: Value) -> ParseFault {
        functions(value, &mut Vec::new()).unwrap_err().kind
    }

    #[test]
    fn every_dialect_gives_the_same_function() {
        let schema = json!({"type": "object", "properties": {}});
        let function = json!({"name": "f", "description": "d", "parameters": schema});
        let sent: &[(Value, &[&str])] = &[
            (json!([function]), &[]),
            (function.clone(), &["bare-object"]),
            (json!([{"type": "function", "function": function}]), &["wrapper"]),
            (
                json!({"tools": [{"type": "function", "function": function}]}),
                &["bare-object", "container", "wrapper"],
            ),
            (json!({"functions": [function]}), &["bare-object", "container"]),
            (json!({"jsonrpc": "2.0", "result": {"tools": [function]}}), &["bare-object", "container"]),
            (json!([{"functionDeclarations": [function]}]), &["gemini"]),
            (json!([{"name": "f", "description": "d", "input_schema": schema}]), &["anthropic"]),
            (json!([{"name": "f", "description": "d", "inputSchema": schema}]), &["model-context"]),
            (
                json!([{"toolSpec": {"name": "f", "description": "d", "inputSchema": {"json": schema}}}]),
                &["bedrock", "model-context"],
            ),
            (json!([{"name": "f", "description": "d", "parameters_json_schema": schema}]), &["pydantic-ai"]),
            (json!([{"api_name": "f", "api_description": "d", "parameters": schema}]), &["api-record"]),
            (json!({"f": {"description": "d", "parameters": schema}}), &["bare-object", "function-map"]),
            (json!([[function]]), &["nested-list"]),
            (json!([function.to_string()]), &["json-string"]),
        ];
        for (value, steps) in sent {
            assert_eq!(read(value.clone()), (vec![function.clone()], steps.to_vec()), "{value}");
        }
    }

    #[test]
    fn keys_and_their_order_stay_as_sent() {
        let function = json!({"strict": true, "input_schema": {}, "name": "f"});
        let (functions, _) = read(json!([function]));
        assert_eq!(functions[0].to_string(), r#"{"strict":true,"parameters":{},"name":"f"}"#);
    }

    #[test]
    fn what_is_no_function_has_a_reason() {
        assert_eq!(fault(json!({})), ParseFault::NoFunctions);
        assert_eq!(fault(json!([])), ParseFault::NoFunctions);
        assert_eq!(fault(json!([null])), ParseFault::NotAFunction);
        assert_eq!(fault(json!(["go search the web"])), ParseFault::NotAFunction);
        assert_eq!(fault(json!([{"name": "f"}, 7])), ParseFault::NotAFunction);
        assert_eq!(fault(json!({"function": "search"})), ParseFault::Nameless);
        assert_eq!(fault(json!([{"name": " "}])), ParseFault::Nameless);
        assert_eq!(fault(json!({"city": {"type": "string", "description": "x"}})), ParseFault::Nameless);
    }

    #[test]
    fn frames_without_end_are_refused() {
        let deep = (0..20).fold(json!({"name": "f"}), |inner, _| json!([inner]));
        assert_eq!(fault(deep), ParseFault::TooDeep);
    }
}
