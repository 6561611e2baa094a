//! Tests that all dialects of a function are read equally, and that other values are refused with a reason.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::fix::{Safety, fix};

fn read(value: Value) -> (Vec<Value>, Vec<&'static str>) {
    let mut steps = Vec::new();
    let functions = functions(value, &mut steps).unwrap();
    (functions, steps.into_iter().map(ParseStep::code).collect())
}

fn fault(value: Value) -> ParseFaultKind {
    functions(value, &mut Vec::new()).unwrap_err().kind
}

#[test]
fn every_dialect_is_read_as_the_same_function() {
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
        (
            json!({"actionGroupName": "bells", "functionSchema": {"functions": [function]}}),
            &["bare-object", "bedrock"],
        ),
        (
            json!({"actionGroups": [{"actionGroupName": "bells", "functionSchema": {"functions": [function]}}]}),
            &["bare-object", "bedrock"],
        ),
        (json!([{"type": "haystack.tools.tool.Tool", "data": function}]), &["haystack"]),
        (
            json!({"type": "haystack.tools.toolset.Toolset",
                "data": {"tools": [{"type": "haystack.tools.tool.Tool", "data": function}]}}),
            &["bare-object", "haystack", "container"],
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
fn every_key_that_holds_functions_is_read() {
    let (a, b) = (json!({"name": "a", "parameters": {}}), json!({"name": "b", "parameters": {}}));
    for value in [
        json!([{"tools": [a], "functions": [b]}]),
        json!([{"functionDeclarations": [a], "function_declarations": [b]}]),
        json!({"tool": a, "function": b}),
        json!({"function": a, "tools": [{"type": "function", "function": b}]}),
        json!({"functions": json!([a]).to_string(), "tools": [b]}),
        json!({"result": {"tools": [a]}, "tools": [b]}),
        json!({"tools": [], "functions": [a, b], "function": {}}),
        json!({"functions": [a, b], "tools": [{"function": a}, {"function": b}]}),
    ] {
        assert_eq!(read(value.clone()).0, [a.clone(), b.clone()], "{value}");
    }
    let broken = json!({"tools": [a], "functions": "[{name"});
    assert_eq!(fault(broken), ParseFaultKind::NotAFunction);
}

#[test]
fn a_member_of_a_map_keeps_its_own_name() {
    let (functions, steps) = read(json!({"t1": {"description": "d", "name": "ring", "parameters": {}}}));
    assert_eq!(functions, [json!({"name": "ring", "description": "d", "parameters": {}})]);
    assert_eq!(steps, ["bare-object", "function-map", "own-name"]);
    let same = json!({"ring": {"name": "ring", "parameters": {}}});
    assert_eq!(read(same).1, ["bare-object", "function-map"]);
}

#[test]
fn a_repeated_key_in_a_string_is_reported() {
    let twice = r#"{"name": "f", "parameters": {"a": 1, "a": 2}}"#;
    let prose = "Rings.\nParameters: {\"a\": \"x\", \"a\": \"y\"}";
    for value in [
        json!([twice]),
        json!([{"type": "function", "function": twice}]),
        json!({"tools": format!("[{twice}]")}),
        json!({"f": twice}),
        json!(["{'name': 'f', 'name': 'g'}"]),
        json!({"Function_Description": {"ring": prose}}),
        json!({"Documentation": r#"{"openapi": "3.0.0", "paths": {}, "paths": {"/a": {}}}"#}),
    ] {
        assert_eq!(fault(value.clone()), ParseFaultKind::DuplicateKey, "{value}");
    }
}

#[test]
fn keys_and_their_order_stay_as_sent() {
    let function = json!({"strict": true, "input_schema": {}, "name": "f"});
    let (functions, _) = read(json!([function]));
    assert_eq!(functions[0].to_string(), r#"{"strict":true,"parameters":{},"name":"f"}"#);
}

#[test]
fn values_that_are_not_functions_have_a_reason() {
    assert_eq!(fault(json!({})), ParseFaultKind::NoFunctions);
    assert_eq!(fault(json!([])), ParseFaultKind::NoFunctions);
    assert_eq!(fault(json!([null])), ParseFaultKind::NotAFunction);
    assert_eq!(fault(json!(["go search the web"])), ParseFaultKind::NotAFunction);
    assert_eq!(fault(json!([{"name": "f"}, 7])), ParseFaultKind::NotAFunction);
    assert_eq!(fault(json!({"function": "search"})), ParseFaultKind::MissingName);
    assert_eq!(fault(json!([{"name": " "}])), ParseFaultKind::MissingName);
    assert_eq!(fault(json!({"city": {"type": "string", "description": "x"}})), ParseFaultKind::MissingName);
}

#[test]
fn a_catalogue_of_servers_is_read_as_their_tools_or_refused() {
    let ring = json!({"name": "ring", "description": "d", "parameters": {}});
    let config = json!({"mcpServers": {"bells": {"command": "npx", "args": ["bells"]}}});
    let entry = json!({"name": "Bells", "description": "Rings bells.", "config": config});
    let mut with_tools = entry.clone();
    with_tools["tools"] = json!({"bells": {"server_name": "bells", "tools": [ring]}});
    let started = json!({"command": "npx", "args": ["bells"], "tools": [ring]});
    for catalogue in [json!([with_tools]), json!([started]), json!({"bells": started})] {
        assert_eq!(read(catalogue.clone()).0, std::slice::from_ref(&ring), "{catalogue}");
    }
    for catalogue in [
        json!([entry]),
        json!([with_tools, entry]),
        config.clone(),
        config["mcpServers"].clone(),
        json!({"name": "Bells", "url": "https://bells.com/mcp", "transport": "sse"}),
    ] {
        assert_eq!(fault(catalogue.clone()), ParseFaultKind::NoFunctions, "{catalogue}");
    }
}

#[test]
fn too_many_wrappers_are_refused() {
    let deep = (0..20).fold(json!({"name": "f"}), |inner, _| json!([inner]));
    assert_eq!(fault(deep), ParseFaultKind::TooDeep);
}

#[test]
fn parameters_of_all_places_of_a_request_are_merged() {
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
fn a_list_of_only_switches_has_no_function() {
    assert_eq!(fault(json!([{"type": "web_search"}, {"googleSearch": {}}])), ParseFaultKind::NoFunctions);
}

#[test]
fn the_schema_of_a_call_is_not_a_function() {
    let form = json!({"title": "Call", "type": "object", "properties": {"name": {}, "arguments": {}}});
    assert_eq!(fault(form), ParseFaultKind::MissingName);
}

/// Generates a valid function like those of the official data.
fn function() -> impl Strategy<Value = Value> {
    // A keyword of Python is no name of a parameter, and is renamed.
    let keywords = [
        "and", "assert", "async", "await", "break", "class", "continue", "def", "del", "elif", "else",
        "except", "finally", "for", "from", "global", "import", "lambda", "nonlocal", "not", "pass", "raise",
        "return", "try", "while", "with", "yield",
    ];
    let word = "[a-z]{3,8}".prop_filter("a keyword", move |word| !keywords.contains(&word.as_str()));
    let kind = prop::sample::select(vec!["string", "integer", "float", "boolean"]);
    let parameter = (word.clone(), kind, "[A-Z][a-z ]{0,12}\\.", any::<bool>());
    (word, "[A-Z][a-z ]{0,20}\\.", prop::collection::vec(parameter, 0..4)).prop_map(
        |(name, description, parameters)| {
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
            json!({"name": format!("f_{name}"), "description": description,
            "parameters": {"type": "dict", "properties": properties, "required": required}})
        },
    )
}

/// Returns the schema of a function with JSON Schema's words.
fn json_schema(function: &Value) -> Value {
    let text = function["parameters"].to_string();
    let text = text
        .replace(r#""type":"dict""#, r#""type":"object""#)
        .replace(r#""type":"float""#, r#""type":"number""#);
    serde_json::from_str(&text).unwrap()
}

/// Returns the schema with types as Gemini's old client writes them.
fn upper_case(schema: &Value) -> Value {
    let kinds = ["object", "string", "integer", "number", "boolean"];
    let shout = |text: String, kind: &&str| {
        text.replace(&format!(r#""type":"{kind}""#), &format!(r#""type_":"{}""#, kind.to_uppercase()))
    };
    serde_json::from_str(&kinds.iter().fold(schema.to_string(), shout)).unwrap()
}

/// Returns each parameter with a `required` mark instead of one list.
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

/// Returns the function in every dialect.
fn printed(function: &Value) -> Vec<Value> {
    let (name, description, schema) = (&function["name"], &function["description"], json_schema(function));
    let plain = json!({"name": name, "description": description, "parameters": schema});
    let properties = &function["parameters"]["properties"];
    let required = &function["parameters"]["required"];
    vec![
        json!([function]),
        json!({"tools": [{"type": "function", "function": plain}]}),
        json!({"functions": [plain]}),
        json!([{"type": "function", "name": name, "description": description, "parameters": schema, "strict": true}]),
        json!([plain, {"type": "web_search_preview"}]),
        json!([{"name": name, "description": description, "input_schema": schema}, {"type": "bash_20250124", "name": "bash"}]),
        json!([{"functionDeclarations": [{"name": name, "description": description, "parameters": upper_case(&schema)}]}]),
        json!({"jsonrpc": "2.0", "result": {"tools": [{"name": name, "description": description, "inputSchema": schema}]}}),
        json!({"server": {"tools": [{"name": name, "description": description, "inputSchema": schema}]}}),
        json!([{"toolSpec": {"name": name, "description": description, "inputSchema": {"json": schema}}}]),
        json!([{"name": name, "description": description, "parameters": schema.to_string()}]),
        json!({name.as_str().unwrap(): {"description": description, "parameters": schema}}),
        json!([{"api_name": name, "api_description": description, "parameters": properties, "required": required}]),
        json!([{"name": name, "description": description, "query_parameters": marked(function)}]),
        json!([{"name": name, "description": description, "parameters": {"type": "object", "properties": marked(function)}}]),
    ]
}

/// Returns an object with two functions under different keys, in the dialects that have several.
fn in_two_holders(a: &Value, b: &Value, n: usize) -> Value {
    let holders = [
        "tools",
        "functions",
        "functionDeclarations",
        "function_declarations",
        "api_list",
        "tool",
        "function",
    ];
    let (first, second) = (holders[n % 7], holders[(n + 1 + n / 7 % 6) % 7]);
    let under = |key: &str, function: &Value| match key {
        "tool" | "function" => function.clone(),
        _ => json!([function]),
    };
    json!([{first: under(first, a), second: under(second, b)}])
}

/// Returns the text of a doc in a string, in a string of a wrapper, in a list under a key, or unchanged.
fn in_layer(text: &str, n: usize) -> String {
    match n % 5 {
        0 => format!("[{text}]"),
        1 => json!([text]).to_string(),
        2 => json!([{"type": "function", "function": text}]).to_string(),
        3 => json!({"tools": format!("[{text}]")}).to_string(),
        _ => json!(json!([text]).to_string()).to_string(),
    }
}

proptest! {
    #[test]
    fn two_containers_are_read_or_reported(a in function(), b in function(), n in 0..42_usize) {
        let sent = in_two_holders(&a, &b, n);
        if let Ok(functions) = crate::parse::parse(&sent.to_string()).and_then(crate::parse::Parsed::sure) {
            let expected = if a == b { vec![a] } else { vec![a, b] };
            prop_assert_eq!(functions, expected, "{}", sent);
        }
    }

    #[test]
    fn functions_with_the_same_name_are_not_merged(a in function(), b in function(), n in 0..5_usize) {
        let mut b = b;
        b["name"] = a["name"].clone();
        let sent = in_layer(&format!("{a}, {b}"), if n == 2 { 0 } else { n });
        if let Ok(functions) = crate::parse::parse(&sent).and_then(crate::parse::Parsed::sure) {
            prop_assert_eq!(functions, vec![a, b], "{}", sent);
        }
    }

    #[test]
    fn a_repeated_key_is_a_fault_in_every_layer(a in function(), b in function(), n in 0..5_usize) {
        prop_assume!(a["parameters"] != b["parameters"]);
        let text = a.to_string();
        let sent = in_layer(&format!("{}, \"parameters\": {}}}", &text[..text.len() - 1], b["parameters"]), n);
        let fault = crate::parse::parse(&sent).and_then(crate::parse::Parsed::sure).map_err(|fault| fault.kind);
        prop_assert_eq!(fault, Err(ParseFaultKind::DuplicateKey), "{}", sent);
    }

    #[test]
    fn every_dialect_is_read_and_fixed_to_the_same_doc(function in function()) {
        for sent in printed(&function) {
            let parsed = crate::parse::parse(&sent.to_string()).unwrap();
            let fixed = fix(&parsed.functions, Safety::Unsafe).functions;
            prop_assert_eq!(json!(fixed), json!([function]), "{}", sent);
        }
    }
}

#[test]
fn an_unreadable_operation_does_not_affect_the_others() {
    let value = json!({"openapi": "3.0.0", "paths": {"/boats": {
        "get": {"operationId": "listBoats", "summary": "All boats"},
        "post": {"operationId": "addBoat", "parameters": [{"$ref": "#/components/parameters/Lost"}]}}}});
    let mut faults = Vec::new();
    let functions =
        readable_functions(value.clone(), &mut Vec::new(), &mut faults, &Allowance::of("")).unwrap();
    assert_eq!(functions.len(), 1);
    assert_eq!(functions[0]["name"], "listBoats");
    assert_eq!(faults.len(), 1);
    assert!(faults[0].message.contains("POST /boats"), "{}", faults[0]);
    assert_eq!(super::functions(value, &mut Vec::new()), Err(faults.remove(0)));
}

#[test]
fn the_only_schema_of_a_function_is_its_parameters_under_any_key() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    for key in ["schema", "params_json_schema", "signature"] {
        let function = json!({"name": "f", "description": "d", key: schema, "outputSchema": schema});
        let functions = super::functions(function, &mut Vec::new()).unwrap();
        assert_eq!(functions[0]["parameters"], schema, "{key}");
    }
    let several = json!({"name": "f", "description": "d", "before": schema, "after": schema});
    assert_eq!(super::functions(several.clone(), &mut Vec::new()), Ok(vec![several]));
}

#[test]
fn the_description_of_a_wrapper_is_kept() {
    let value = json!({"type": "function", "description": "Returns the time.", "function": {"name": "now"}});
    assert_eq!(
        super::functions(value, &mut Vec::new()),
        Ok(vec![json!({"name": "now", "description": "Returns the time."})])
    );
}

#[test]
fn every_alias_of_parameters_is_in_the_list_of_holders() {
    let aliases = tables::ALIASES.iter().filter(|(_, key, _)| *key == "parameters").map(|(alias, ..)| alias);
    for key in tables::PLACES.iter().chain(aliases) {
        assert!(HOLDERS.contains(key), "{key}");
    }
}

#[test]
fn a_parameter_with_the_name_of_a_wrapper_is_not_unwrapped() {
    let parameter = json!({"type": "str", "description": "What to send."});
    let sent = json!([{"name": "f", "description": "d", "parameters": {"json": parameter}}]);
    assert_eq!(read(sent.clone()).0, *sent.as_array().unwrap());
    for inner in
        [json!({"type": "object"}), json!({"type": "object", "properties": {}}), json!({"properties": {}})]
    {
        let sent = json!([{"name": "f", "description": "d", "parameters": {"json": inner}}]);
        assert_eq!(read(sent).0[0]["parameters"], inner);
    }
}

#[test]
fn data_of_other_objects_is_not_a_function() {
    let data = json!({"name": "f"});
    for value in [
        json!({"data": data}),
        json!({"type": "haystack", "data": data}),
        json!({"type": "event", "data": data}),
    ] {
        assert_eq!(fault(value.clone()), ParseFaultKind::MissingName, "{value}");
    }
}
