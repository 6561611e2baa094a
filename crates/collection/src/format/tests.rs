//! One small document of each format, and laws for all of them.

use callsieve_testkit::arbitrary::{json_value, object};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::FORMATS;
use crate::document::{Document, Source, of_text};
use crate::fault::FaultKind;
use crate::read::{Read, read_text, read_value};
use crate::tool::Api;

/// The functions of a source that is read without a fault or a loss.
fn functions(read: &Read) -> Vec<&Api> {
    assert_eq!((&read.faults, read.counts.lost(), &read.counts.missing), (&Vec::new(), 0, &Vec::new()));
    read.tools.iter().flat_map(|tool| &tool.functions).collect()
}

fn kinds(read: &Read) -> Vec<FaultKind> {
    read.faults.iter().map(|fault| fault.kind).collect()
}

fn rapidapi_tool() -> Value {
    json!({"tool_name": "Bell Rings", "tool_description": "Rings bells.", "title": "Bells",
        "api_list": [{"name": "Ring it", "url": "https://bells.example.com/ring/{id}", "method": "get",
            "description": "Rings one bell.", "required_parameters": [],
            "optional_parameters": [{"name": "id", "type": "NUMBER", "description": "Its number.", "default": "7"},
                {"name": "mode", "type": "STRING", "description": "", "default": ""}],
            "schema": {"sound": "str"}}]})
}

#[test]
fn a_tool_of_rapidapi_keeps_optional_parameters_without_required_ones() {
    let text = rapidapi_tool().to_string();
    let read = read_text("tools/Music/bell_rings.json", &text);
    let functions = functions(&read);
    assert_eq!(read.format, Some("rapidapi"));
    let tool = &read.tools[0];
    assert_eq!((tool.category.as_deref(), tool.host.as_deref()), (Some("Music"), Some("bells.example.com")));
    assert_eq!((tool.title.as_deref(), tool.description.as_str()), (Some("Bells"), "Rings bells."));
    let api = functions[0];
    assert_eq!((api.name.as_str(), api.method.as_deref()), ("Ring_it", Some("GET")));
    assert_eq!(api.doc["parameters"]["properties"]["id"]["default"], "7");
    assert_eq!(api.doc["parameters"]["properties"]["mode"], json!({"type": "STRING", "description": ""}));
    assert_eq!(api.doc["parameters"]["required"], json!([]));
    assert_eq!(api.response, Some(json!({"type": "object", "properties": {"sound": {"type": "string"}}})));
}

#[test]
fn the_form_of_prompts_has_its_category_in_the_functions() {
    let mut tool = rapidapi_tool();
    tool["api_list"][0]["category_name"] = json!("Sound");
    let read = read_value("prompt", tool);
    assert_eq!(read.tools[0].category.as_deref(), Some("Sound"));
}

#[test]
fn a_function_of_many_queries_is_one() {
    let api = |default: &str| {
        json!({"category_name": "Music", "tool_name": "Bells", "api_name": "Ring", "api_description": "Rings.",
            "required_parameters": [{"name": "id", "type": "STRING", "description": "d", "default": default}],
            "optional_parameters": [], "method": "GET"})
    };
    let query =
        |apis: &[Value]| json!({"query": "Ring.", "query_id": 1, "relevant APIs": [], "api_list": apis});
    let read = read_value("G1_query", json!([query(&[api("3")]), query(&[api("3"), api("")])]));
    let functions = functions(&read);
    assert_eq!((read.format, read.tools.len(), functions.len()), (Some("rapidapi-queries"), 1, 2));
    assert_eq!(functions[0].doc["parameters"]["properties"]["id"]["example"], "3");
    assert_ne!(functions[0].name, functions[1].name);
    let reference =
        json!([query(&[json!({"category_name": "Music", "tool_name": "Bells", "api_name": "Ring"})])]);
    assert_eq!(kinds(&read_value("demo", reference)), [FaultKind::NotAFunction]);
}

#[test]
fn schemas_of_responses_are_read_without_functions() {
    let read = read_value(
        "response_examples/Music/bells.json",
        json!({"api_list": [
        {"name": "Ring", "schema": {"sound": "str"}}, {"name": "Stop", "schema": {}}]}),
    );
    assert_eq!((read.format, kinds(&read)), (Some("rapidapi-responses"), vec![FaultKind::LooseResponse]));
    let response = &read.responses[0];
    assert_eq!((response.tool.as_str(), response.category.as_deref()), ("bells", Some("Music")));
}

fn description() -> Value {
    json!({"openapi": "3.0.0", "servers": [{"url": "https://bells.example.com/v1"}],
        "info": {"title": "Bells", "description": "All bells.", "license": {"name": "MIT"}},
        "paths": {"/bells/{id}": {"parameters": [{"$ref": "#/components/parameters/Id"}],
            "put": {"operationId": "change bell", "summary": "Changes a bell.",
                "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Bell"}}}},
                "responses": {"404": {"description": "None."},
                    "200": {"$ref": "#/components/responses/Bell"}}}}},
        "components": {"parameters": {"Id": {"name": "id", "in": "path", "required": true,
                "description": "Its number.", "example": 7, "schema": {"type": "integer", "example": 3}}},
            "responses": {"Bell": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Bell"},
                "example": {"size": 1}}}}},
            "schemas": {"Bell": {"type": "object", "properties": {
                "size": {"type": "integer", "default": 1, "description": "Its size."},
                "kind": {"allOf": [{"type": "string"}, {"enum": ["big", "small"]}]},
                "inner": {"$ref": "#/components/schemas/Bell"}}}}}})
}

#[test]
fn an_api_description_has_requests_and_responses() {
    let read = read_value("bells", description());
    let functions = functions(&read);
    let tool = &read.tools[0];
    assert_eq!(
        (read.format, tool.name.as_str(), tool.licence.as_deref()),
        (Some("openapi"), "Bells", Some("MIT"))
    );
    assert_eq!(tool.host.as_deref(), Some("https://bells.example.com/v1"));
    let api = functions[0];
    assert_eq!((api.name.as_str(), api.original_name.as_str()), ("change_bell", "change bell"));
    assert_eq!((api.method.as_deref(), api.path.as_deref()), (Some("PUT"), Some("/bells/{id}")));
    assert_eq!(api.response.as_ref().unwrap()["properties"]["size"]["default"], 1);
    assert_eq!(api.example, Some(json!({"size": 1})));
    assert_eq!(api.doc["parameters"]["properties"]["id"]["example"], 7);
    assert_eq!(api.origin.at, "/paths/~1bells~1{id}/put");
    assert_eq!(read.counts.parameters.source, 4);
}

#[test]
fn yaml_and_swagger_are_read_too() {
    let yaml = "swagger: '2.0'\nhost: bells.example.com\nbasePath: /v1\nschemes: [http]\ninfo: {title: Bells}\n\
        paths:\n  /ring:\n    get:\n      description: Rings.\n      parameters:\n        - {name: id, in: query, \
        type: string, default: a}\n      responses: {'200': {schema: {type: string}}}\n";
    let read = read_text("bells.yaml", yaml);
    let functions = functions(&read);
    assert_eq!(
        (read.format, read.tools[0].host.as_deref()),
        (Some("swagger"), Some("http://bells.example.com/v1"))
    );
    assert_eq!(
        (functions[0].name.as_str(), &functions[0].response),
        ("get_ring", &Some(json!({"type": "string"})))
    );
}

#[test]
fn requests_of_a_postman_collection_have_their_addresses() {
    let read = read_value(
        "bells",
        json!({"info": {"name": "Bells", "_postman_id": "1"}, "item": [{"name": "All",
        "item": [{"name": "Ring", "request": {"method": "POST", "description": "Rings.",
            "url": {"raw": "https://bells.example.com/:id?n=1", "path": [":id"],
                "query": [{"key": "n", "description": "Times."}], "variable": [{"key": "id", "description": "Its number."}]},
            "body": {"mode": "raw", "raw": "{\"loud\": {\"by\": 2}}"}},
            "response": [{"code": 404, "body": "no"}, {"code": 200, "body": "{\"rung\": true}"}]}]}]}),
    );
    let functions = functions(&read);
    let api = functions[0];
    assert_eq!(
        (read.format, read.tools[0].host.as_deref()),
        (Some("postman"), Some("https://bells.example.com"))
    );
    assert_eq!((api.method.as_deref(), api.origin.at.as_str()), (Some("POST"), "/item/0/item/0"));
    assert_eq!(api.example, Some(json!({"rung": true})));
    assert_eq!(read.counts.parameters.read, 4);
}

fn mcp_tool() -> Value {
    json!({"name": "ring", "description": "Rings.", "annotations": {"readOnlyHint": false, "title": null},
        "inputSchema": {"type": "object", "properties": {"id": {"type": ["string", "null"], "default": null}}},
        "outputSchema": {"type": "object", "properties": {"rung": {"type": "boolean"}}}})
}

#[test]
fn tools_of_servers_are_read_in_every_wrapper() {
    let tool = mcp_tool();
    let replies = format!(
        "{}\n{}\n",
        json!({"jsonrpc": "2.0", "id": 1, "result": {"tools": [tool], "nextCursor": "x"}}),
        json!({"jsonrpc": "2.0", "id": 2, "result": {"tools": [{"name": "stop", "inputSchema": {"type": "object"}}]}}),
    );
    let catalogue = json!([{"name": "Bell server", "category": "Music", "description": "Bells.",
        "config": {"mcpServers": {"bells": {}}}, "tools": {"bells": {"server_name": "bells", "tools": [tool]}}}]);
    let cases = [
        (read_value("bells", json!({"tools": [tool]})), 1),
        (read_value("bells", json!([tool])), 1),
        (read_value("bells", json!({"jsonrpc": "2.0", "id": 1, "result": {"tools": [tool]}})), 1),
        (read_text("bells", &replies), 2),
        (read_value("other", json!({"bells": {"tools": [tool]}})), 1),
        (read_value("other", catalogue), 1),
    ];
    for (read, n_functions) in cases {
        let functions = functions(&read);
        assert_eq!(
            (read.format, read.tools.len(), functions.len()),
            (Some("mcp"), 1, n_functions),
            "{read:?}"
        );
        assert_eq!(read.tools[0].name, "bells");
        assert_eq!(functions[0].doc["parameters"], tool["inputSchema"]);
        assert_eq!(functions[0].response, Some(tool["outputSchema"].clone()));
        assert_eq!(functions[0].annotations, Some(json!({"readOnlyHint": false})));
    }
}

#[test]
fn servers_without_tools_and_errors_are_faults() {
    let config = json!([{"name": "Bells", "config": {"mcpServers": {"bells": {"command": "npx"}}}}]);
    assert_eq!(kinds(&read_value("config", config)), [FaultKind::EmptyTool]);
    let error = json!({"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "no tools"}});
    assert_eq!(kinds(&read_value("bells", error)), [FaultKind::ServerError, FaultKind::EmptyTool]);
}

#[test]
fn records_with_maps_of_parameters_are_read() {
    let seal = "{\"api_name\": \"ring\", \"api_description\": \"Rings.\", \"field\": \"Music/Bells\", \
        \"parameters\": {\"n\": {\"type\": \"int\", \"description\": \"Times.\"}}, \"required\": [\"n\"], \
        \"responses\": {\"sound\": {\"type\": \"str\", \"description\": \"It.\"}}}\n";
    let read = read_text("tool.jsonl", &seal.repeat(2));
    assert_eq!((read.format, functions(&read).len()), (Some("seal-tools"), 2));
    let tool = &read.tools[0];
    assert_eq!((tool.category.as_deref(), tool.collection.as_deref()), (Some("Music"), Some("Bells")));
    assert_eq!(tool.functions[0].doc["parameters"]["required"], json!(["n"]));
    assert_ne!(tool.functions[0].name, read.tools[1].functions[0].name);

    let read = read_value(
        "spec",
        json!([
        {"name": "Bells.Ring", "description": "Rings.", "arguments": {"n": {"description": "Times.", "required": false,
            "default_value": "1", "allowed_values": ["1", "2"]}}, "output_parameters": {"sound": {"type": "string"}}},
        {"name": "find", "description": "Finds.", "host": "bells.example.com", "method": "get", "endpoint": "/find",
            "path_parameters": {"id": {"type": "string"}}, "query_parameters": {"id": {"type": "string"}},
            "output_parameters": {}}]),
    );
    let functions = functions(&read);
    let tools: Vec<&str> = read.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!((read.format, tools), (Some("nestful"), vec!["Bells", "bells.example.com"]));
    assert_eq!(functions[0].name, "Bells_Ring");
    assert_eq!(functions[0].doc["parameters"]["properties"]["n"]["enum"], json!(["1", "2"]));
    assert_eq!(functions[1].doc["parameters"]["required"], json!(["id", "id_query"]));
    assert_eq!(functions[1].method.as_deref(), Some("GET"));
}

#[test]
fn a_table_of_classes_is_read_without_executing_it() {
    let table = "id,类名,应用场景,路径,api_info\n1,RingBell,Music,apis/ring.py,\"description = 'Rings.'\n\
        input_parameters = {\n  'type': {'type': 'str', 'description': 'Its kind.'}\n}\n\
        output_parameters = {'sound': {'type': 'str', 'description': 'It.'}}\"\n2,StopBell,Music,apis/stop.py,.\n";
    let read = read_text("all_apis.csv", table);
    assert_eq!(
        (read.format, kinds(&read), read.counts.lost()),
        (Some("api-bank"), vec![FaultKind::NotAFunction], 0)
    );
    let tool = &read.tools[0];
    assert_eq!((tool.name.as_str(), tool.category.as_deref()), ("RingBell", Some("Music")));
    assert_eq!(tool.functions[0].doc["parameters"]["properties"]["type"]["description"], "Its kind.");
    assert_eq!(tool.functions[0].response.as_ref().unwrap()["properties"]["sound"]["type"], "str");
}

#[test]
fn a_module_of_python_is_a_tool() {
    let source = "\"\"\"Rings bells.\"\"\"\nimport os\n\ndef ring(n: int = 1, loud: bool = False):\n    \"\"\"Rings a bell.\"\"\"\n";
    let read = read_text("bells/tower.py", source);
    let functions = functions(&read);
    assert_eq!((read.format, read.tools[0].name.as_str()), (Some("python"), "tower"));
    assert_eq!(read.tools[0].description, "Rings bells.");
    assert_eq!(functions[0].doc["parameters"]["properties"]["n"]["default"], 1);
    assert_eq!(read.counts.uncounted_functions, 1);
    assert_eq!(kinds(&read_text("none.py", "import os\n")), [FaultKind::NoFunctions]);
}

#[test]
fn definitions_of_apis_and_frameworks_are_read() {
    let schema = json!({"type": "object", "required": ["n"],
        "properties": {"n": {"type": "integer", "description": "Times.", "enum": [1, 2]}}});
    let map = json!({"n": {"type": "integer", "description": "Times.", "enum": [1, 2]}});
    let base = |key: &str, value: &Value| json!({"name": "ring", "description": "Rings.", key: value});
    let definitions = [
        json!([{"type": "function", "function": base("parameters", &schema)}]),
        json!({"tools": [{"type": "function", "name": "ring", "description": "Rings.", "parameters": schema}]}),
        json!([base("input_schema", &schema)]),
        json!({"functionDeclarations": [base("parameters", &schema)]}),
        json!([base("inputs", &map)]),
        json!([base("args", &map)]),
        json!([base("args_schema", &schema)]),
        json!([base("fn_schema", &schema)]),
        json!([{"metadata": base("fn_schema", &schema)}]),
    ];
    for definition in definitions {
        let read = read_value("bells", definition.clone());
        let functions = functions(&read);
        assert_eq!((read.format, functions.len()), (Some("definitions"), 1), "{definition}");
        let parameters = &functions[0].doc["parameters"];
        assert_eq!(
            (&parameters["properties"], &parameters["required"]),
            (&map, &json!(["n"])),
            "{definition}"
        );
        assert_eq!(read.counts.enums.source, 1, "{definition}");
    }
}

#[test]
fn a_bad_entry_of_a_list_is_one_fault() {
    let read = read_value(
        "bells",
        json!([{"name": "ring", "description": "Rings."}, 3, {"title": 1}, {"name": "stop"}]),
    );
    assert_eq!(kinds(&read), [FaultKind::NotAFunction; 3]);
    assert_eq!(read.tools[0].functions.len(), 1);
    assert_eq!(
        kinds(&read_value("calls", json!([{"role": "API", "api_name": "ring"}]))),
        [FaultKind::NoFunctions]
    );
}

#[test]
fn damaged_text_is_read_with_a_fault_or_refused() {
    let damaged = "tools = [{'name': 'ring', 'description': 'Rings.', 'parameters': None,}]";
    let read = read_text("bells.txt", damaged);
    assert_eq!((read.tools[0].functions.len(), read.counts.uncounted_functions), (1, 1));
    assert_eq!(kinds(&read_text("a.txt", "Ring the bell at noon.")), [FaultKind::Unreadable]);
    assert_eq!(kinds(&read_text("a.json", "")), [FaultKind::Empty]);
}

/// One document of each format, in the order of the table.
fn samples() -> Vec<(&'static str, String)> {
    let parameters = json!({"n": {"type": "int"}});
    let query = json!([{"query": "Ring.", "api_list": [{"tool_name": "a", "api_name": "b", "api_description": "c"}]}]);
    let seal = json!({"api_name": "ring", "field": "Music", "parameters": parameters, "responses": {}});
    let nestful =
        json!([{"name": "ring", "description": "Rings.", "parameters": parameters, "output_parameters": {}}]);
    let postman = json!({"info": {"_postman_id": "1"}, "item": []});
    vec![
        ("a.json", query.to_string()),
        ("a.json", rapidapi_tool().to_string()),
        ("a.json", json!({"api_list": [{"name": "ring", "schema": {}}]}).to_string()),
        ("a.json", description().to_string()),
        ("a.yml", "swagger: 2.0\npaths: {}\n".to_owned()),
        ("a.json", postman.to_string()),
        ("a.json", json!([mcp_tool()]).to_string()),
        ("a.jsonl", format!("{seal}\n{seal}\n")),
        ("a.json", nestful.to_string()),
        ("a.csv", "类名,api_info\nRing,.\n".to_owned()),
        ("a.py", "def ring(): pass".to_owned()),
        ("a.json", json!([{"name": "ring", "description": "Rings.", "parameters": {}}]).to_string()),
    ]
}

#[test]
fn a_document_is_recognised_by_its_own_format_only() {
    for (at, (name, text)) in samples().into_iter().enumerate() {
        let document: Document = of_text(Source::new(name), &text, &mut Vec::new()).unwrap();
        let recognised: Vec<&str> = FORMATS
            .iter()
            .filter(|format| (format.recognises)(&document))
            .map(|format| format.name)
            .collect();
        let mut expected = vec![FORMATS[at].name];
        expected.extend((at + 1 < FORMATS.len()).then_some("definitions"));
        assert_eq!(recognised, expected, "{text}");
    }
}

/// Keys that formats look for.
const KEYS: &str = "api_list|tools|name|query|api_name|paths|openapi|swagger|info|item|parameters|properties|inputSchema\
    |result|function|functions|output_parameters|required_parameters|responses|request|type|get|in|schema|$ref";

/// Generates JSON with the keys that formats look for.
fn likely() -> impl Strategy<Value = Value> {
    let key = prop::sample::select(KEYS.split('|').map(str::to_owned).collect::<Vec<_>>());
    let leaf = prop_oneof![
        json_value(),
        Just(json!("ring")),
        Just(json!("object")),
        Just(json!("3.0")),
        Just(json!("#/paths"))
    ];
    leaf.prop_recursive(5, 40, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key.clone(), inner), 0..6).prop_map(object),
        ]
    })
}

fn assert_reads(read: &Read) {
    let functions = read.tools.iter().map(|tool| tool.functions.len()).sum::<usize>();
    assert!(functions > 0 || !read.responses.is_empty() || !read.faults.is_empty() || read.format.is_some());
    assert!(read.tools.iter().all(|tool| !tool.functions.is_empty()));
    let again = crate::Collection::of(vec![read.clone()]);
    assert_eq!(again.n_functions() + again.merged_functions, functions);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn any_json_is_read_or_a_fault(value in prop_oneof![likely(), json_value()]) {
        let read = read_value("any", value.clone());
        assert_reads(&read);
        let text = read_text("any", &value.to_string());
        prop_assert_eq!(text.tools, read.tools);
    }

    #[test]
    fn any_text_is_read_or_a_fault(name in "[a-z]\\.(json|jsonl|csv|yaml|py|txt)", text in "\\PC{0,60}|(\\{\"name\": \"[a-z]\"\\}\n){0,4}") {
        assert_reads(&read_text(&name, &text));
    }

    #[test]
    fn a_changed_sample_is_read_or_a_fault(at in 0..12_usize, cut in any::<prop::sample::Index>(), with in "[\\[\\]{}\",:a]{0,3}") {
        let (name, mut text) = samples().swap_remove(at);
        let mut place = cut.index(text.len());
        while !text.is_char_boundary(place) {
            place -= 1;
        }
        text.insert_str(place, &with);
        assert_reads(&read_text(name, &text));
    }
}

/// Each schema refers to the next one twice, so that 2^40 schemas would be resolved.
#[test]
fn a_description_that_expands_without_end_is_read_in_bounded_time() {
    for (key, is_list) in [("properties", false), ("allOf", true)] {
        let level = |n: usize| {
            let next = json!({"$ref": format!("#/components/schemas/A{}", n + 1)});
            let both = if is_list { json!([next, next]) } else { json!({"a": next, "b": next}) };
            (format!("A{n}"), json!({"type": "object", "description": "d", key: both}))
        };
        let schemas: serde_json::Map<String, Value> = (0..40).map(level).collect();
        let content = json!({"application/json": {"schema": {"$ref": "#/components/schemas/A0"}}});
        let read = read_value(
            "laughs",
            json!({"openapi": "3.0.0", "components": {"schemas": schemas},
            "paths": {"/ring": {"post": {"requestBody": {"content": content}, "responses": {"200": {"content": content}}}}}}),
        );
        assert_eq!((read.tools.len(), read.format), (1, Some("openapi")));
    }
}

#[test]
fn the_page_lists_every_format_and_reason() {
    let page = include_str!("../../../../docs/collections.md");
    let formats = FORMATS.iter().map(|format| format.name.to_owned());
    let faults = FaultKind::ALL.iter().map(|kind| format!("| `{}` | {} |", kind.code(), kind.what()));
    let rules = crate::filter::RULES.iter().map(|rule| format!("| `{}` | {} |", rule.code, rule.what));
    for text in formats.chain(faults).chain(rules) {
        assert!(page.contains(&text), "docs/collections.md does not list {text}");
    }
}
