//! Tests that the APIs accept the definitions, and that these convert back.

use std::collections::HashSet;

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use serde_json::{Map, json};

use super::*;
use crate::arbitrary::messy_functions;
use crate::check::check;
use crate::check::rules::Level;
use crate::fix::{Safety, fix};
use crate::parse::parse;

fn list(text: &str) -> Vec<Value> {
    serde_json::from_str(text).unwrap()
}

fn function(name: &str, properties: &Value, required: &Value) -> Value {
    let parameters = json!({"type": "dict", "properties": properties, "required": required});
    json!({"name": name, "description": "d", "parameters": parameters})
}

/// Returns a function with every feature of BFCL.
fn full() -> Value {
    function(
        "harbour.berth",
        &json!({
            "boat": {"type": "string", "description": "Which.", "enum": ["cog", "hulk"]},
            "at": {"type": "tuple", "description": "Where.", "items": {"type": "float"}},
            "note": {"type": "any", "description": "Anything."},
            "crew": {"type": "array", "description": "Who.", "items": {"type": "dict", "properties": {
                "name": {"type": "string", "description": "Name."}}}},
            "pier": {"type": "integer", "description": "Pier.", "enum": [1, 2], "default": 2},
            "sail": {"type": "boolean", "description": "Under sail.", "default": null}
        }),
        &json!(["boat", "at", "note", "crew"]),
    )
}

/// Returns the reasons of changes and faults with their places, in order.
fn story(functions: &[Value], api: Api) -> Vec<(&'static str, String)> {
    let converted = convert(functions, api);
    let faults = converted.faults.into_iter().map(|fault| (fault.reason, fault.at));
    converted.changes.into_iter().map(|change| (change.reason, change.at)).chain(faults).collect()
}

#[test]
fn every_reason_is_reported_for_its_example_and_not_for_the_counter_example() {
    for reason in REASONS {
        let codes = |functions: &str| -> Vec<_> {
            story(&list(functions), reason.api).into_iter().map(|(code, _)| code).collect()
        };
        assert!(codes(reason.fires).contains(&reason.code), "{} is not reported", reason.code);
        assert!(!codes(reason.quiet).contains(&reason.code), "{} is reported", reason.code);
        assert!(reason.what.ends_with('.') && reason.code.starts_with("convert/"), "{}", reason.code);
    }
    let codes: HashSet<_> = REASONS.iter().map(|reason| reason.code).collect();
    assert_eq!(codes.len(), REASONS.len());
}

#[test]
fn openai_anthropic_and_mcp_use_json_schema_under_different_keys() {
    let schema = json!({"type": "object", "properties": {
        "boat": {"type": "string", "description": "Which.", "enum": ["cog", "hulk"]},
        "at": {"type": "array", "description": "Where.", "items": {"type": "number"}},
        "note": {"description": "Anything."},
        "crew": {"type": "array", "description": "Who.", "items": {"type": "object", "properties": {
            "name": {"type": "string", "description": "Name."}}}},
        "pier": {"type": "integer", "description": "Pier.", "enum": [1, 2], "default": 2},
        "sail": {"type": "boolean", "description": "Under sail.", "default": null}},
        "required": ["boat", "at", "note", "crew"]});
    let expected = [
        (
            Api::OpenAi,
            json!({"type": "function", "function": {"name": "harbour_berth", "description": "d", "parameters": schema}}),
            "convert/renamed",
        ),
        (
            Api::Anthropic,
            json!({"name": "harbour_berth", "description": "d", "input_schema": schema}),
            "convert/renamed",
        ),
        (Api::Mcp, json!({"name": "harbour.berth", "description": "d", "inputSchema": schema}), ""),
    ];
    for (api, tool, renamed) in expected {
        let converted = convert(&[full()], api);
        assert_eq!(converted.tools[0].to_string(), tool.to_string());
        let codes: Vec<_> = converted.changes.iter().map(|change| change.reason).collect();
        let all = [renamed, "convert/type-replaced"];
        assert_eq!(codes, all.iter().filter(|code| !code.is_empty()).copied().collect::<Vec<_>>());
        assert_eq!(converted.faults, []);
    }
}

#[test]
fn gemini_uses_a_subset_of_openapi_and_the_description_has_the_rest() {
    let converted = convert(&[full(), function("now", &json!({}), &json!([]))], Api::Gemini);
    let schema = json!({"type": "OBJECT", "properties": {
        "boat": {"type": "STRING", "description": "Which.", "enum": ["cog", "hulk"]},
        "at": {"type": "ARRAY", "description": "Where.", "items": {"type": "NUMBER"}},
        "note": {"type": "STRING", "description": "Anything."},
        "crew": {"type": "ARRAY", "description": "Who.", "items": {"type": "OBJECT", "properties": {
            "name": {"type": "STRING", "description": "Name."}}}},
        "pier": {"type": "INTEGER", "description": "Pier. Enum values: [1,2]. Default is: 2."},
        "sail": {"type": "BOOLEAN", "description": "Under sail."}},
        "required": ["boat", "at", "note", "crew"]});
    let declarations = json!([{"functionDeclarations": [
        {"name": "harbour_berth", "description": "d", "parameters": schema},
        {"name": "now", "description": "d"}]}]);
    assert_eq!(json!(converted.tools).to_string(), declarations.to_string());
    let at = |name: &str, key: &str| format!("/0/parameters/properties/{name}/{key}");
    let expected = [
        ("convert/renamed", "/0/name".to_owned(), json!("harbour.berth"), json!("harbour_berth")),
        ("convert/type-replaced", at("at", "type"), json!("tuple"), json!("ARRAY")),
        ("convert/type-replaced", at("note", "type"), json!("any"), json!("STRING")),
        ("convert/enum-in-description", at("pier", "enum"), json!([1, 2]), Value::Null),
        ("convert/default-in-description", at("pier", "default"), json!(2), Value::Null),
    ];
    let expected = expected.map(|(reason, at, from, to)| Change { reason, at, from, to });
    assert_eq!(converted.changes, expected);
    assert_eq!(convert(&[], Api::Gemini).tools, [] as [Value; 0]);
    // The fact that there is no default is lost if the description mentions one.
    let without = json!({"unit": {"type": "string", "default": null, "description": "Default is knots."}});
    let converted = convert(&[function("f", &without, &json!([]))], Api::Gemini);
    let changes: Vec<_> =
        converted.changes.iter().map(|change| (change.reason, change.at.as_str())).collect();
    assert_eq!(changes, [("convert/key-left-out", "/0/parameters/properties/unit/default")]);
}

#[test]
fn a_sentence_that_the_description_has_is_not_repeated() {
    let parameter = json!({"type": "string", "description": "Unit. Default is: c.", "default": "c"});
    let tools = convert(&[function("f", &json!({"unit": parameter}), &json!([]))], Api::Gemini).tools;
    let unit = &tools[0]["functionDeclarations"][0]["parameters"]["properties"]["unit"];
    assert_eq!(*unit, json!({"type": "STRING", "description": "Unit. Default is: c."}));
}

#[test]
fn names_that_an_api_refuses_are_faults_and_unchanged() {
    let long = "n".repeat(65);
    let parameter = json!({"type": "integer", "description": "x"});
    let functions = [
        function(&long, &json!({}), &json!([])),
        function("prüfen", &json!({ "jahr.zahl": parameter }), &json!(["jahr.zahl"])),
    ];
    let refused = |api| -> Vec<String> { story(&functions, api).into_iter().map(|(_, at)| at).collect() };
    assert_eq!(refused(Api::OpenAi), ["/0/name", "/1/name"]);
    assert_eq!(refused(Api::Anthropic), ["/1/name"]);
    assert_eq!(refused(Api::Mcp), ["/1/name"]);
    assert_eq!(refused(Api::Gemini), ["/0/name", "/1/name", "/1/parameters/properties/jahr.zahl"]);
    assert_eq!(convert(&functions, Api::Mcp).tools[1]["name"], "prüfen");
}

#[test]
fn invalid_bfcl_is_passed_through() {
    for odd in
        [json!("f"), json!({"name": 1, "parameters": []}), json!({"name": "f", "parameters": {"type": 7}})]
    {
        for api in Api::ALL {
            let tools = convert(std::slice::from_ref(&odd), api).tools;
            assert!(!tools[0].is_null(), "{odd}");
        }
    }
}

/// Returns true if a function breaks no rule of `fix`.
fn is_valid_bfcl(function: &Value) -> bool {
    !check(std::slice::from_ref(function)).iter().any(|finding| finding.rule.level == Level::Error)
}

/// Generates valid functions: random ones after all fixes, with unique names.
fn valid_functions() -> impl Strategy<Value = Vec<Value>> {
    messy_functions().prop_map(|functions| {
        let mut fixed = fix(&functions, Safety::Unsafe).functions;
        let mut names = HashSet::new();
        fixed.retain(|function| {
            is_valid_bfcl(function) && names.insert(function["name"].to_string().replace('.', "_"))
        });
        fixed
    })
}

/// Replaces a type everywhere.
fn with_type(value: &mut Value, from: &str, to: &str) {
    match value {
        Value::Object(map) => {
            if map.get("type").is_some_and(|kind| *kind == from) {
                map.insert("type".to_owned(), to.into());
            }
            map.values_mut().for_each(|value| with_type(value, from, to));
        }
        Value::Array(all) => all.iter_mut().for_each(|value| with_type(value, from, to)),
        _ => {}
    }
}

/// The keys of a Gemini schema that are fields of its API.
const GEMINI_KEYS: [&str; 7] = ["type", "description", "enum", "items", "properties", "required", "nullable"];
const GEMINI_TYPES: [&str; 6] = ["STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT"];

fn is_gemini_schema(schema: &Value) -> bool {
    let Some(map) = schema.as_object() else { return false };
    let is_text = |value: &Value| value.as_str().is_some_and(|text| !text.is_empty());
    let all_of = |key: &str, fits: &dyn Fn(&Value) -> bool| match map.get(key) {
        Some(Value::Object(members)) => !members.is_empty() && members.values().all(fits),
        Some(Value::Array(values)) => values.iter().all(fits),
        other => other.is_none(),
    };
    map.keys().all(|key| GEMINI_KEYS.contains(&key.as_str()))
        && map.get("type").and_then(Value::as_str).is_some_and(|kind| GEMINI_TYPES.contains(&kind))
        && map.get("description").is_none_or(Value::is_string)
        && all_of("enum", &is_text)
        && all_of("required", &is_text)
        && all_of("properties", &is_gemini_schema)
        && map.get("items").is_none_or(is_gemini_schema)
}

/// Returns true if an API accepts a tool by its published rules for names and schemas.
fn is_taken(tool: &Value, api: Api) -> bool {
    let definition = if api == Api::OpenAi { &tool["function"] } else { tool };
    let (key, max_chars) = match api {
        Api::OpenAi | Api::Gemini => ("parameters", 64),
        Api::Anthropic => ("input_schema", 128),
        Api::Mcp => ("inputSchema", 128),
    };
    let name = definition["name"].as_str().unwrap();
    let takes = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c) || api == Api::Mcp && c == '.';
    let schema = definition.get(key);
    let is_schema = match api {
        Api::Gemini => schema.is_none_or(is_gemini_schema),
        _ => schema.is_some_and(|schema| {
            schema["type"] == "object" && jsonschema::draft202012::meta::is_valid(schema)
        }),
    };
    let keys: Vec<_> =
        definition.as_object().unwrap().keys().filter(|k| *k != "name" && *k != "description").collect();
    name.chars().all(takes)
        && !name.is_empty()
        && name.len() <= max_chars
        && is_schema
        && keys.iter().all(|k| *k == key)
}

#[test]
fn every_api_accepts_a_function_with_every_feature_of_bfcl() {
    for api in Api::ALL {
        let tools = convert(&[full()], api).tools;
        let tool = if api == Api::Gemini { &tools[0]["functionDeclarations"][0] } else { &tools[0] };
        assert!(is_taken(tool, api), "{tool}");
    }
    assert!(!is_taken(
        &json!({"name": "a.b", "description": "d", "input_schema": {"type": "object"}}),
        Api::Anthropic
    ));
    assert!(!is_taken(
        &json!({"name": "f", "description": "d", "input_schema": {"type": "dict"}}),
        Api::Anthropic
    ));
    assert!(!is_gemini_schema(&json!({"type": "OBJECT", "properties": {}})));
}

#[test]
fn random_functions_are_often_valid() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut n_parameters = 0;
    for _ in 0..200 {
        let functions = valid_functions().new_tree(&mut runner).unwrap().current();
        n_parameters += functions
            .iter()
            .filter_map(|function| function["parameters"]["properties"].as_object().map(Map::len))
            .sum::<usize>();
    }
    assert!(n_parameters > 50, "{n_parameters}");
}

#[test]
fn a_null_default_of_a_nested_schema_is_left_out_with_a_reason() {
    let class = json!({"type": "string", "description": "x", "default": null});
    let of = |properties: Value| {
        let function = json!({"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": properties}});
        let changes = convert(&[function], Api::Gemini).changes;
        changes.iter().map(|change| (change.reason, change.at.clone())).collect::<Vec<_>>()
    };
    assert_eq!(of(json!({"class": class})), []);
    let team = json!({"team": {"type": "dict", "description": "x", "default": null, "properties": {"class": class}}});
    let at = "/0/parameters/properties/team/properties/class/default".to_owned();
    assert_eq!(of(team), [("convert/key-left-out", at)]);
}

proptest! {
    #[test]
    fn an_api_accepts_every_tool_without_a_fault(functions in valid_functions()) {
        for api in Api::ALL {
            let converted = convert(&functions, api);
            if !converted.faults.is_empty() {
                continue;
            }
            let tools = match api {
                Api::Gemini => converted.tools.iter().flat_map(|tool| tool["functionDeclarations"].as_array().unwrap().clone()).collect(),
                _ => converted.tools,
            };
            prop_assert_eq!(tools.len(), functions.len());
            for tool in &tools {
                prop_assert!(is_taken(tool, api), "{:?}: {}", api, tool);
            }
        }
    }

    /// Compares with the original, except for listed changes and for `any`, which JSON Schema cannot express.
    #[test]
    fn tools_are_read_and_fixed_back_to_the_same_functions(functions in valid_functions()) {
        let mut functions = Value::Array(functions);
        with_type(&mut functions, "any", "string");
        with_type(&mut functions, "tuple", "array");
        let mut functions = fix(functions.as_array().unwrap(), Safety::Unsafe).functions;
        functions.retain(is_valid_bfcl);
        for api in Api::ALL {
            for function in &functions {
                let converted = convert(std::slice::from_ref(function), api);
                let (renamed, lost): (Vec<_>, Vec<_>) =
                    converted.changes.iter().partition(|change| change.reason == "convert/renamed");
                if !lost.is_empty() {
                    continue;
                }
                let mut expected = function.clone();
                if let Some(change) = renamed.first() {
                    expected["name"] = change.to.clone();
                }
                let parsed = parse(&Value::Array(converted.tools).to_string()).unwrap();
                let fixed = fix(&parsed.functions, Safety::Unsafe).functions;
                prop_assert_eq!(&fixed, &vec![expected], "{:?}", api);
            }
        }
    }
}
