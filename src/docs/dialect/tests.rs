//! Every dialect gives the same function, and what is none has a reason.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::docs::fix::{Safety, fix};

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
        (
            json!({"name": "bells", "tools": {"north": {"version": "1", "tools": [function]}}}),
            &["bare-object", "container", "server-map"],
        ),
        (json!({"north": {"tools": [function]}}), &["bare-object", "server-map", "container"]),
        (json!([{"apiCode": "f", "functionality": "d", "input_parameters": schema}]), &["api-record"]),
        (json!([{"type": "function", "function": function.to_string()}]), &["wrapper", "json-string"]),
        (json!({"tools": json!([function]).to_string()}), &["bare-object", "container", "json-string"]),
        (
            json!({"f": json!({"description": "d", "parameters": schema}).to_string()}),
            &["bare-object", "function-map"],
        ),
        (json!([{"name": "outer", "function": function}]), &["wrapper"]),
        (json!([function, {"type": "web_search_preview"}]), &["server-tool-left-out"]),
        (
            json!([{"functionDeclarations": [function]}, {"googleSearch": {}}]),
            &["gemini", "server-tool-left-out"],
        ),
        (
            json!([{"function_declarations": [function], "codeExecution": {}}]),
            &["server-tool-left-out", "gemini"],
        ),
        (
            json!([{"title": "f", "description": "d", "type": "object", "properties": {}}]),
            &["named-by-title"],
        ),
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

#[test]
fn parameters_of_all_places_of_a_request_are_joined() {
    let record = json!([{"name": "f", "path_parameters": {"id": {"type": "string"}}, "host": "h",
        "query_parameters": {"page": {"type": "integer"}}}]);
    let (functions, steps) = read(record);
    let expected =
        r#"{"name":"f","parameters":{"id":{"type":"string"},"page":{"type":"integer"}},"host":"h"}"#;
    assert_eq!((functions[0].to_string().as_str(), steps), (expected, vec!["api-record"]));
    let twice = json!([{"name": "f", "path_parameters": {"id": {}}, "query_parameters": {"id": {}}}]);
    assert_eq!(read(twice.clone()).0, twice.as_array().unwrap().clone());
}

#[test]
fn a_list_of_switches_alone_holds_no_function() {
    assert_eq!(fault(json!([{"type": "web_search"}, {"googleSearch": {}}])), ParseFault::NoFunctions);
}

#[test]
fn the_form_of_a_call_is_no_function() {
    let form = json!({"title": "Call", "type": "object", "properties": {"name": {}, "arguments": {}}});
    assert_eq!(fault(form), ParseFault::Nameless);
}

/// A conforming function, as the official data has them.
fn function() -> impl Strategy<Value = Value> {
    let word = "[a-z]{3,8}";
    let kind = prop::sample::select(vec!["string", "integer", "float", "boolean"]);
    let parameter = (word, kind, "[A-Z][a-z ]{0,12}\\.", any::<bool>());
    (word, "[A-Z][a-z ]{0,20}\\.", prop::collection::vec(parameter, 0..4)).prop_map(
        |(name, said, parameters)| {
            let (mut properties, mut required) = (Map::new(), Vec::new());
            for (name, kind, description, is_required) in parameters {
                let mut schema = json!({"type": kind, "description": description});
                if is_required {
                    required.push(name.clone());
                } else {
                    schema["default"] = Value::Null;
                }
                required.dedup();
                if properties.insert(name.clone(), schema).is_some() {
                    required.retain(|other| *other != name);
                    properties[&name] = json!({"type": kind, "description": "Again.", "default": null});
                }
            }
            json!({"name": format!("f_{name}"), "description": said,
            "parameters": {"type": "dict", "properties": properties, "required": required}})
        },
    )
}

/// The schema of a function in the words of JSON Schema.
fn json_schema(function: &Value) -> Value {
    let text = function["parameters"].to_string();
    let text = text
        .replace(r#""type":"dict""#, r#""type":"object""#)
        .replace(r#""type":"float""#, r#""type":"number""#);
    serde_json::from_str(&text).unwrap()
}

/// The schema with its types as Gemini's old client writes them.
fn shouted(schema: &Value) -> Value {
    let kinds = ["object", "string", "integer", "number", "boolean"];
    let shout = |text: String, kind: &&str| {
        text.replace(&format!(r#""type":"{kind}""#), &format!(r#""type_":"{}""#, kind.to_uppercase()))
    };
    serde_json::from_str(&kinds.iter().fold(schema.to_string(), shout)).unwrap()
}

/// Each parameter with a mark instead of a list beside them.
fn marked(function: &Value) -> Map<String, Value> {
    let required = function["parameters"]["required"].as_array().unwrap();
    let properties = function["parameters"]["properties"].as_object().unwrap();
    let mark = |(name, schema): (&String, &Value)| {
        let mut schema = schema.clone();
        schema["required"] = required.contains(&json!(name)).into();
        (name.clone(), schema)
    };
    properties.iter().map(mark).collect()
}

/// The function in every dialect.
fn printed(function: &Value) -> Vec<Value> {
    let (name, said, schema) = (&function["name"], &function["description"], json_schema(function));
    let plain = json!({"name": name, "description": said, "parameters": schema});
    let properties = &function["parameters"]["properties"];
    let required = &function["parameters"]["required"];
    vec![
        json!([function]),
        json!({"tools": [{"type": "function", "function": plain}]}),
        json!({"functions": [plain]}),
        json!([{"type": "function", "name": name, "description": said, "parameters": schema, "strict": true}]),
        json!([plain, {"type": "web_search_preview"}]),
        json!([{"name": name, "description": said, "input_schema": schema}, {"type": "bash_20250124", "name": "bash"}]),
        json!([{"functionDeclarations": [{"name": name, "description": said, "parameters": shouted(&schema)}]}]),
        json!({"jsonrpc": "2.0", "result": {"tools": [{"name": name, "description": said, "inputSchema": schema}]}}),
        json!({"server": {"tools": [{"name": name, "description": said, "inputSchema": schema}]}}),
        json!([{"toolSpec": {"name": name, "description": said, "inputSchema": {"json": schema}}}]),
        json!([{"name": name, "description": said, "parameters": schema.to_string()}]),
        json!({name.as_str().unwrap(): {"description": said, "parameters": schema}}),
        json!([{"api_name": name, "api_description": said, "parameters": properties, "required": required}]),
        json!([{"name": name, "description": said, "query_parameters": marked(function)}]),
        json!([{"name": name, "description": said, "parameters": {"type": "object", "properties": marked(function)}}]),
    ]
}

proptest! {
    #[test]
    fn every_dialect_is_read_and_fixed_to_the_same_doc(function in function()) {
        for sent in printed(&function) {
            let parsed = crate::docs::parse::parse(&sent.to_string()).unwrap();
            let fixed = fix(&parsed.functions, Safety::Unsafe).functions;
            prop_assert_eq!(json!(fixed), json!([function]), "{}", sent);
        }
    }
}
