//! A small API as a draft, and the drafts of published descriptions.

use callsieve_environment::declared::Declared;
use callsieve_environment::environment::Environment as _;
use callsieve_testkit::arbitrary::object;
use callsieve_testkit::data;
use proptest::prelude::*;
use serde_json::json;

use super::file::to_file;
use super::*;
use crate::read_file;

fn towers() -> Value {
    let bell = json!({"type": "object", "properties": {"id": {"type": "integer"},
        "name": {"type": "string", "description": "Its name."}, "kind": {"type": "string", "enum": ["big", "small"]},
        "cast": {"type": ["string", "null"]}, "sounds": {"type": "array", "items": {"type": "string"}}}});
    let json_of = |schema: Value| json!({"content": {"application/json": {"schema": schema}}});
    let in_path =
        |name: &str| json!({"name": name, "in": "path", "required": true, "schema": {"type": "integer"}});
    let in_query = |name: &str| json!({"name": name, "in": "query", "schema": {"type": "string"}});
    let one = || json!({"200": json_of(bell.clone())});
    json!({"openapi": "3.0.0", "info": {"title": "Towers"}, "paths": {
        "/v1/towers/{id}/bells": {"parameters": [in_path("id")],
            "get": {"operationId": "listBells", "parameters": [in_query("kind"), in_query("limit"), in_query("page"), in_query("lang")],
                "responses": {"200": json_of(json!({"properties": {"total": {"type": "integer"},
                    "results": {"type": "array", "items": bell}}}))}},
            "post": {"operationId": "addBell", "responses": one(), "requestBody": json_of(json!({"type": "object",
                "properties": {"name": {"type": "string"}, "weight": {"type": "number"}}}))}},
        "/v1/bells/{bell_id}": {"parameters": [in_path("bell_id")],
            "get": {"operationId": "getBell", "responses": one()},
            "patch": {"operationId": "changeBell", "responses": one(), "requestBody": json_of(json!({"type": "object",
                "properties": {"name": {"type": "string"}}}))},
            "delete": {"operationId": "removeBell", "responses": {"204": {}}}},
        "/v1/bells/loudest": {"get": {"operationId": "loudestBells", "responses": {"200": json_of(json!({"type": "array", "items": bell}))}}},
        "/v1/bells/{bell_id}/start": {"post": {"operationId": "startBell", "parameters": [in_path("bell_id")], "responses": {}}},
        "/v1/towers/{id}": {"get": {"operationId": "getTower", "parameters": [in_path("id")], "responses": {}}},
        "/v1/bells": {"delete": {"operationId": "removeBells", "parameters": [in_query("ids")], "responses": {}}},
        "/search": {"get": {"operationId": "search", "responses": {}}}}})
}

#[test]
fn resources_become_tables_with_keys_and_references() {
    let draft = draft_environment("towers", towers()).unwrap();
    let names: Vec<_> = draft.tables.iter().map(|table| (table.name.as_str(), table.key.as_str())).collect();
    assert_eq!(names, [("bells", "id"), ("towers", "id")]);
    let columns: Vec<_> = draft.tables[0]
        .columns
        .iter()
        .map(|column| (column.name.as_str(), column.kind, column.references.as_deref()))
        .collect();
    let expected = [
        ("id", ColumnType::Integer, None),
        ("name", ColumnType::Text, None),
        ("kind", ColumnType::Text, None),
        ("cast", ColumnType::Text, None),
        ("sounds", ColumnType::Texts, None),
        ("weight", ColumnType::Number, None),
        ("tower_id", ColumnType::Integer, Some("towers")),
    ];
    assert_eq!(columns, expected);
    assert_eq!(draft.tables[0].columns[2].values, [json!("big"), json!("small")]);
}

#[test]
fn functions_have_operations_and_roles() {
    let draft = draft_environment("towers", towers()).unwrap();
    let operations: Vec<_> = draft
        .functions
        .iter()
        .map(|function| (function.name.as_str(), function.operation, function.table.as_str()))
        .collect();
    let expected = [
        ("listBells", Operation::Find, "bells"),
        ("addBell", Operation::Insert, "bells"),
        ("getBell", Operation::Read, "bells"),
        ("changeBell", Operation::Update, "bells"),
        ("removeBell", Operation::Delete, "bells"),
        ("loudestBells", Operation::Find, "bells"),
        ("getTower", Operation::Read, "towers"),
        ("removeBells", Operation::Delete, "bells"),
    ];
    assert_eq!(operations, expected);
    let roles = |index: usize| -> Vec<(String, Role, Option<String>)> {
        let bindings = draft.functions[index].parameters.iter();
        bindings.map(|binding| (binding.parameter.clone(), binding.role, binding.column.clone())).collect()
    };
    let role =
        |name: &str, role: Role, column: Option<&str>| (name.to_owned(), role, column.map(str::to_owned));
    let expected = [
        role("id", Role::Filter, Some("tower_id")),
        role("kind", Role::Filter, Some("kind")),
        role("limit", Role::Limit, None),
        role("page", Role::Offset, None),
        role("lang", Role::Ignored, None),
    ];
    assert_eq!(roles(0), expected);
    assert_eq!(draft.functions[0].notes, ["the parameter \"lang\" has no column"]);
    let expected = [
        role("id", Role::Value, Some("tower_id")),
        role("name", Role::Value, Some("name")),
        role("weight", Role::Value, Some("weight")),
    ];
    assert_eq!(roles(1), expected);
    assert_eq!(roles(3), [role("bell_id", Role::Key, Some("id")), role("name", Role::Value, Some("name"))]);
    assert_eq!(draft.functions[5].notes, ["the rows are those that the service calls \"loudest\""]);
    assert_eq!(roles(7), [role("ids", Role::Keys, Some("id"))]);
    let left_out: Vec<_> = draft.left_out.iter().map(|left_out| left_out.name.as_str()).collect();
    assert_eq!(left_out, ["startBell", "search"]);
}

#[test]
fn a_draft_is_written_as_json_and_other_values_are_refused() {
    let draft = serde_json::to_value(draft_environment("towers", towers()).unwrap()).unwrap();
    assert_eq!(draft["functions"][0]["operation"], "find");
    assert_eq!(draft["tables"][0]["columns"][0]["kind"], "integer");
    let refused = draft_environment("bells", json!([{"name": "ring", "description": "Rings."}])).unwrap_err();
    assert_eq!(refused.kind, FaultKind::NoFunctions);
}

/// Reads a draft as an environment.
fn declared(draft: &Draft) -> Option<Declared> {
    let text = to_file(draft)?;
    Some(Declared::read("draft.toml", &text).unwrap_or_else(|fault| panic!("{fault}\n{text}")))
}

#[test]
fn the_file_of_a_draft_declares_an_environment() {
    let draft = draft_environment("towers", towers()).unwrap();
    let environment = declared(&draft).unwrap();
    let names: Vec<_> =
        environment.functions().iter().map(|function| function.doc["name"].as_str().unwrap()).collect();
    let expected =
        ["listBells", "addBell", "getBell", "changeBell", "removeBell", "loudestBells", "getTower"];
    assert_eq!(names, expected);
    let list = &environment.functions()[0].doc["parameters"];
    assert_eq!(list["required"], json!(["id"]));
    assert_eq!(list["properties"]["kind"]["enum"], json!(["big", "small"]));
    let text = to_file(&draft).unwrap();
    for part in
        ["# removeBells", "# startBell: \"start\" is an action", "# the parameter \"lang\" has no column"]
    {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn published_descriptions_give_drafts() {
    let Some(folder) = data::path("apis/restgpt") else { return };
    let mut n_declared = Vec::new();
    for (file, expected) in [("spotify_oas.json", [17, 34, 6]), ("tmdb_oas.json", [18, 54, 0])] {
        let read = read_file(&folder.join("specs").join(file)).unwrap();
        let draft = draft_of(&read.tools[0]);
        n_declared.push(declared(&draft).unwrap().functions().len());
        for function in &draft.functions {
            let table = draft.tables.iter().find(|table| table.name == function.table).unwrap();
            let is_column = |column: &String| table.columns.iter().any(|known| known.name == *column);
            assert!(function.parameters.iter().filter_map(|binding| binding.column.as_ref()).all(is_column));
        }
        assert_eq!([draft.tables.len(), draft.functions.len(), draft.left_out.len()], expected, "{file}");
    }
    assert_eq!(n_declared, [29, 54]);
}

fn names() -> impl Strategy<Value = String> {
    prop_oneof!["[a-c]{1,2}[-_ ]?[a-c]?", Just("id".to_owned()), Just("row".to_owned()), "\\PC{0,6}"]
}

fn described() -> impl Strategy<Value = Value> {
    let kind = prop::sample::select(vec!["string", "integer", "number", "boolean", "array", "object"]);
    (kind, "\\PC{0,8}|a\"b\\\\|\n").prop_map(|(kind, text)| json!({"type": kind, "description": text}))
}

fn description_of_api() -> impl Strategy<Value = Value> {
    let row = || {
        let members = prop::collection::vec((names(), described()), 0..5);
        members.prop_map(|members| json!({"type": "object", "properties": object(members)}))
    };
    let part = prop_oneof![names(), names().prop_map(|name| format!("{{{name}}}"))];
    let method = prop::sample::select(vec!["get", "post", "put", "delete"]);
    let inputs = prop::collection::vec((names(), any::<bool>()), 0..4);
    let operation = (prop::collection::vec(part, 1..4), method, row(), row(), inputs, names());
    prop::collection::vec(operation, 1..6).prop_map(|operations| {
        let mut paths = json!({});
        for (parts, method, body, response, inputs, id) in operations {
            let place = |name: &String| if parts.contains(&format!("{{{name}}}")) { "path" } else { "query" };
            let input = |(name, is_required): &(String, bool)| {
                json!({"name": name, "in": place(name), "required": is_required, "schema": {"type": "integer"}})
            };
            let content = |schema: &Value| json!({"content": {"application/json": {"schema": schema}}});
            let parameters: Vec<Value> = inputs.iter().map(input).collect();
            let parameters = Value::from(parameters);
            paths[format!("/{}", parts.join("/"))][method] = json!({"operationId": id, "parameters": parameters,
                "requestBody": content(&body), "responses": {"200": content(&response)}});
        }
        json!({"openapi": "3.0.0", "info": {"title": "Any"}, "paths": paths})
    })
}

proptest! {
    #[test]
    fn the_file_of_any_draft_declares_an_environment(description in description_of_api()) {
        if let Ok(draft) = draft_environment("any", description)
            && let Some(environment) = declared(&draft)
        {
            prop_assert!(environment.functions().len() <= draft.functions.len());
        }
    }
}
