//! Tests example descriptions and their functions, and random descriptions.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn read(spec: &Value) -> (Vec<Value>, Vec<&'static str>) {
    let mut steps = Vec::new();
    let (functions, fault) = functions(spec.as_object().unwrap(), &mut steps, &Allowance::of("")).unwrap();
    assert_eq!(fault, None);
    (functions, steps.into_iter().map(ParseStep::code).collect())
}

fn fault(spec: &Value) -> String {
    let (_, fault) = functions(spec.as_object().unwrap(), &mut Vec::new(), &Allowance::of("")).unwrap();
    let fault = fault.unwrap();
    assert_eq!(fault.kind, ParseFaultKind::UnreadableOperation);
    fault.message
}

#[test]
fn an_operation_has_its_place_in_the_description() {
    let places = |spec: &Value| -> Vec<(String, bool)> {
        let map = spec.as_object().unwrap();
        let description = describe(map, &Allowance::of("")).unwrap();
        let at = |operation: Operation| (operation.at.clone(), spec.pointer(&operation.at).is_some());
        description.operations.into_iter().map(at).collect()
    };
    let paths = json!({"/boats/{id}": {"get": {}, "put": {"parameters": [3]}, "delete": {}}});
    let expected =
        ["/paths/~1boats~1{id}/get", "/paths/~1boats~1{id}/delete"].map(|at| (at.to_owned(), true));
    assert_eq!(places(&json!({"openapi": "3.0.0", "paths": paths})), expected);
    let request = |name: &str| json!({"name": name, "request": "https://boats.example.com"});
    let items = json!([request("a"), {"name": "all", "item": [request("b"), request("c")]}]);
    let collection = json!({"collection": {"info": {"_postman_id": "1"}, "item": items}});
    let expected = ["0", "1/item/0", "1/item/1"].map(|at| (format!("/collection/item/{at}"), true));
    assert_eq!(places(&collection), expected);
    assert!(describe(json!({"paths": {}}).as_object().unwrap(), &Allowance::of("")).is_none());
}

/// Returns a description with one operation, `POST /boats/{id}`.
fn with_operation(operation: &Value, components: &Value) -> Value {
    json!({"openapi": "3.1.0", "paths": {"/boats/{id}": {"post": operation}}, "components": components})
}

#[test]
fn an_operation_becomes_a_function_with_parameters_of_all_places() {
    let spec = json!({
        "openapi": "3.0.2", "info": {"title": "Harbour"}, "servers": [{"url": "/"}],
        "paths": {"/boats/{id}": {
            "summary": "One boat",
            "parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "integer"}},
                {"name": "lang", "in": "query", "schema": {"type": "string"}}],
            "put": {
                "operationId": "moveBoat", "summary": "Move", "description": "Moves a boat.",
                "parameters": [{"name": "lang", "in": "query", "description": "Of the answer.",
                        "schema": {"type": "string", "enum": ["de", "no"], "default": "no", "description": "x"}},
                    {"$ref": "#/components/parameters/Trace"},
                    {"name": "Authorization", "in": "header", "schema": {"type": "string"}},
                    {"name": "key", "in": "query", "schema": {"type": "string"}}],
                "requestBody": {"required": true, "content": {"text/plain": {}, "application/json; charset=utf-8": {
                    "schema": {"type": "object", "required": ["berth"], "properties": {
                        "berth": {"$ref": "#/components/schemas/Berth"},
                        "id": {"type": "string", "description": "The captain's."},
                        "moved": {"type": "string", "readOnly": true}}}}}},
                "responses": {"200": {"description": "ok"}}},
            "get": {"responses": {}}}},
        "components": {
            "parameters": {"Trace": {"name": "X-Trace", "in": "header", "required": true, "schema": {"type": "string"}}},
            "schemas": {"Berth": {"type": "object", "properties": {"pier": {"$ref": "#/components/schemas/Pier"}}},
                "Pier": {"type": "string", "description": "Which pier."}},
            "securitySchemes": {"k": {"type": "apiKey", "in": "query", "name": "key"}}}});
    let (functions, steps) = read(&spec);
    assert_eq!(
        functions,
        [
            json!({"name": "moveBoat", "description": "Moves a boat.", "parameters": {"type": "dict",
                "required": ["id", "X-Trace", "berth"], "properties": {
                    "id": {"type": "integer"},
                    "lang": {"type": "string", "enum": ["de", "no"], "default": "no", "description": "Of the answer."},
                    "X-Trace": {"type": "string"},
                    "berth": {"type": "object", "properties": {"pier": {"type": "string", "description": "Which pier."}}},
                    "id_body": {"type": "string", "description": "The captain's."}}}}),
            json!({"name": "get_boats_id", "description": "One boat", "parameters": {"type": "dict",
                "required": ["id"], "properties": {"id": {"type": "integer"}, "lang": {"type": "string"}}}}),
        ]
    );
    assert_eq!(steps, ["openapi", "place-suffix", "named-by-path"]);
}

#[test]
fn a_body_that_is_not_a_plain_object_is_one_parameter() {
    for (schema, expected) in [
        (
            json!({"type": "array", "items": {"type": "string"}}),
            json!({"type": "array", "items": {"type": "string"}}),
        ),
        (json!({"type": "object"}), json!({"type": "object"})),
        (
            json!({"oneOf": [{"type": "string"}, {"type": "integer"}]}),
            json!({"oneOf": [{"type": "string"}, {"type": "integer"}]}),
        ),
        (json!(true), json!({})),
    ] {
        let operation = json!({"operationId": "f", "requestBody": {"description": "What.", "required": true,
            "content": {"application/vnd.x+json": {"schema": schema}}}});
        let (functions, _) = read(&with_operation(&operation, &json!({})));
        let mut expected = expected;
        expected["description"] = json!("What.");
        assert_eq!(
            functions[0]["parameters"],
            json!({"type": "dict", "properties": {"body": expected}, "required": ["body"]})
        );
    }
}

#[test]
fn parts_of_all_of_are_merged_unless_they_contradict_each_other() {
    let body = |schema: Value| {
        let operation =
            json!({"operationId": "f", "requestBody": {"content": {"application/json": {"schema": schema}}}});
        let components = json!({"schemas": {"Named": {"type": "object", "description": "n", "required": ["name"],
            "properties": {"name": {"type": "string"}}}}});
        read(&with_operation(&operation, &components)).0[0]["parameters"].clone()
    };
    let named = json!({"$ref": "#/components/schemas/Named"});
    assert_eq!(
        body(json!({"allOf": [named, {"type": "object", "description": "m", "required": ["age"],
            "properties": {"age": {"type": "integer"}}}]})),
        json!({"type": "dict", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
            "required": ["name", "age"]})
    );
    let contradiction = body(json!({"allOf": [named, {"type": "string"}]}));
    assert_eq!(contradiction["properties"]["body"]["allOf"][1], json!({"type": "string"}));
}

#[test]
fn a_recursive_schema_is_cut_and_an_unresolved_reference_is_kept() {
    let operation = json!({"operationId": "f", "parameters": [
        {"name": "tree", "in": "query", "schema": {"$ref": "#/components/schemas/Tree"}},
        {"name": "lost", "in": "query", "schema": {"$ref": "other.yaml#/Lost"}}]});
    let tree = json!({"schemas": {"Tree": {"type": "object", "description": "A tree.", "properties": {
        "kids": {"type": "array", "items": {"$ref": "#/components/schemas/Tree"}}}}}});
    let (functions, steps) = read(&with_operation(&operation, &tree));
    let properties = &functions[0]["parameters"]["properties"];
    assert_eq!(
        properties["tree"]["properties"]["kids"]["items"],
        json!({"type": "object", "description": "A tree."})
    );
    assert_eq!(properties["lost"], json!({"$ref": "other.yaml#/Lost"}));
    assert!(steps.contains(&"recursion-cut"));
}

#[test]
fn swagger_2_has_its_own_parameters() {
    let spec = json!({"swagger": "2.0", "paths": {"/boats": {
        "post": {"operationId": "add", "summary": "Adds.", "parameters": [
            {"name": "boat", "in": "body", "required": true, "schema": {"$ref": "#/definitions/Boat"}},
            {"name": "Trace-Id", "in": "header", "type": "string"}]},
        "put": {"operationId": "fill", "description": "Fills.", "parameters": [
            {"name": "tags", "in": "formData", "type": "array", "items": {"type": "string"}, "collectionFormat": "csv",
                "description": "Which.", "required": true},
            {"name": "rows", "in": "body", "schema": {"type": "array", "items": {"type": "integer"}}},
            {"name": "token", "in": "header", "type": "string"}]}}},
        "definitions": {"Boat": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}},
        "securityDefinitions": {"t": {"type": "apiKey", "in": "header", "name": "token"}}});
    let (functions, steps) = read(&spec);
    assert_eq!(
        functions,
        [
            json!({"name": "add", "description": "Adds.", "parameters": {"type": "dict", "required": ["name"],
                "properties": {"name": {"type": "string"}, "Trace-Id": {"type": "string"}}}}),
            json!({"name": "fill", "description": "Fills.", "parameters": {"type": "dict", "required": ["tags"],
                "properties": {"tags": {"type": "array", "items": {"type": "string"}, "description": "Which."},
                    "rows": {"type": "array", "items": {"type": "integer"}}}}}),
        ]
    );
    assert_eq!(steps, ["swagger"]);
}

#[test]
fn a_collection_becomes_one_function_per_request() {
    let spec = json!({"info": {"schema": "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"},
        "item": [{"name": "Boats", "item": [
            {"name": "Find boat", "request": {"method": "GET", "description": {"content": "Finds."}, "url": {
                "raw": "{{host}}/boats/:id?full=1&old=1", "path": ["boats", ":id"],
                "query": [{"key": "full", "value": "1"}, {"key": "old", "value": "1", "disabled": true}],
                "variable": [{"key": "id", "value": "7", "description": "Which boat."}]}}},
            {"name": "Add boat", "request": {"method": "POST", "url": "http://h/boats?lang=de", "header": [{"key": "X"}],
                "body": {"mode": "raw", "raw": "{\"name\": \"a {{b}}\", \"berth\": {{berth}}, \"at\": [1.5], \"in\": {\"n\": 1}}",
                    "options": {"raw": {"language": "json"}}}}}]},
            {"name": "Send", "request": {"url": {"raw": "h/f"}, "body": {"mode": "formdata", "formdata": [
                {"key": "paper", "type": "file", "description": "A scan."}, {"key": "no", "disabled": true}]}}},
            {"name": "Ping", "request": "http://h/ping"}]});
    let (functions, steps) = read(&spec);
    let parameters = |properties: Value, required: Value| json!({"type": "dict", "properties": properties, "required": required});
    assert_eq!(
        functions,
        [
            json!({"name": "Find boat", "description": "Finds.", "parameters": parameters(
                json!({"id": {"type": "string", "description": "Which boat."}, "full": {"type": "string"}}), json!(["id"]))}),
            json!({"name": "Add boat", "description": "Add boat", "parameters": parameters(
                json!({"lang": {"type": "string"}, "name": {"type": "string"}, "berth": {},
                    "at": {"type": "array", "items": {"type": "number"}},
                    "in": {"type": "object", "properties": {"n": {"type": "integer"}}}}), json!([]))}),
            json!({"name": "Send", "description": "Send", "parameters": parameters(
                json!({"paper": {"type": "file", "description": "A scan."}}), json!([]))}),
            json!({"name": "Ping", "description": "Ping", "parameters": parameters(json!({}), json!([]))}),
        ]
    );
    assert_eq!(steps, ["postman", "types-inferred"]);
}

#[test]
fn an_unreadable_operation_is_reported() {
    for (operation, message) in [
        (json!(7), "operation POST /boats/{id}: expected an object"),
        (json!({"parameters": [{"in": "query"}]}), "operation POST /boats/{id}: a parameter has no name"),
        (json!({"parameters": {"a": 1}}), "operation POST /boats/{id}: `parameters` is not a list"),
        (
            json!({"parameters": [{"name": "a"}]}),
            "operation POST /boats/{id}: parameter \"a\" has no place (`in`)",
        ),
        (
            json!({"parameters": [{"$ref": "#/components/parameters/P"}]}),
            "operation POST /boats/{id}: a parameter: \"#/components/parameters/P\" leads nowhere",
        ),
        (
            json!({"requestBody": {"$ref": "#/components/a"}}),
            "operation POST /boats/{id}: the body: its references are circular",
        ),
    ] {
        let components = json!({"a": {"$ref": "#/components/a"}});
        assert_eq!(fault(&with_operation(&operation, &components)), message);
    }
    let collection = json!({"info": {"_postman_id": "1"}, "item": [{"name": "a", "item": [{"name": "b", "request": {
        "body": {"mode": "raw", "raw": "{\"a\": "}}}, {"name": "c"}]}]});
    assert_eq!(
        fault(&collection),
        "request \"a\" / \"b\": its body is not JSON: expected a value at byte 5; \
         request \"a\" / \"c\": it has no request"
    );
}

#[test]
fn a_description_is_found_only_in_a_documentation_record() {
    let spec = json!({"openapi": 3.1, "paths": {"/a": {"get": {"operationId": "a"}}}});
    let (functions, steps) = read(&json!({"Name": "A", "Documentation": spec.to_string()}));
    assert_eq!((functions.len(), steps), (1, vec!["json-string", "openapi"]));
    for other in [
        json!({"name": "f", "paths": {}}),
        json!({"openapi": "3.0.0"}),
        json!({"openapi": "1.0", "paths": {}}),
        json!({"info": {"schema": "mine"}, "item": []}),
        json!({"Documentation": "See the site."}),
    ] {
        assert!(
            super::functions(other.as_object().unwrap(), &mut Vec::new(), &Allowance::of("")).is_none(),
            "{other}"
        );
    }
}

#[test]
fn the_growth_by_references_is_limited() {
    let mut schemas = json!({"x0": {"type": "string"}});
    for n in 1..40 {
        let one = json!({"$ref": format!("#/components/schemas/x{}", n - 1)});
        schemas[format!("x{n}")] = json!({"type": "object", "properties": {"a": one, "b": one, "c": one}});
    }
    let operation = json!({"operationId": "f", "parameters": [
        {"name": "x", "in": "query", "schema": {"$ref": "#/components/schemas/x39"}}]});
    let (functions, _) = read(&with_operation(&operation, &json!({"schemas": schemas})));
    assert!(functions[0].to_string().len() < 1_000_000);
    assert!(functions[0].to_string().contains("$ref"));
}

/// Generates JSON in which the words of API descriptions are frequent.
fn any_description() -> impl Strategy<Value = Value> {
    let word = prop::sample::select(vec![
        "openapi",
        "swagger",
        "paths",
        "/a",
        "get",
        "parameters",
        "name",
        "in",
        "query",
        "body",
        "path",
        "schema",
        "requestBody",
        "content",
        "application/json",
        "type",
        "object",
        "properties",
        "required",
        "$ref",
        "allOf",
        "items",
        "#/components/schemas/A",
        "components",
        "schemas",
        "A",
        "info",
        "item",
        "request",
        "url",
        "raw",
        "mode",
        "key",
        "variable",
        "formdata",
        "_postman_id",
        "3.0",
        "2.0",
    ]);
    let leaf = prop_oneof![
        word.clone().prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        any::<i8>().prop_map(Value::from)
    ];
    leaf.prop_recursive(6, 60, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((word.clone(), inner), 0..6).prop_map(|entries| entries
                .into_iter()
                .map(|(key, value)| (key.to_owned(), value))
                .collect()),
        ]
    })
}

proptest! {
    #[test]
    fn any_description_is_read_or_refused(value in any_description(), schema in any_description()) {
        let operation = json!({"parameters": [{"name": "a", "in": "query", "schema": schema}], "requestBody": value});
        let schemas = json!({"A": schema, "B": value});
        for spec in [
            json!({"openapi": "3.0.0", "paths": {"/a": {"get": operation}, "/b": value}, "components": {"schemas": schemas}}),
            json!({"swagger": "2.0", "paths": {"/a": value, "/b": {"get": operation}}}),
            json!({"info": {"_postman_id": 1}, "item": [{"name": "a", "request": value}, {"name": "b", "request": {"url": value, "body": schema}}]}),
            value,
        ] {
            if let Some((functions, _)) = spec.as_object().and_then(|map| functions(map, &mut Vec::new(), &Allowance::of(""))) {
                prop_assert!(functions.iter().all(|function| function["parameters"]["properties"].is_object()));
            }
        }
    }
}
