//! Tests the forms of `parameters`: schemas, bare maps, and maps that could be either.

use callsieve_testkit::arbitrary::object;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::{Safety, fix};

/// Returns the parameters of a function after all edits, as `(name, type)`, the required ones, and the codes of findings.
fn read(function: &Value) -> (Vec<(String, String)>, Value, Vec<&'static str>) {
    let fixed = fix(std::slice::from_ref(function), Safety::Unsafe);
    let parameters = &fixed.functions[0]["parameters"];
    let kind = |property: &Value| property["type"].as_str().unwrap_or_default().to_owned();
    let properties = parameters["properties"].as_object().cloned().unwrap_or_default();
    let properties = properties.iter().map(|(name, property)| (name.clone(), kind(property))).collect();
    let codes = fixed.findings.iter().map(|finding| finding.rule.code).collect();
    (properties, parameters["required"].clone(), codes)
}

fn function(parameters: &Value) -> Value {
    json!({"name": "find_mill", "description": "Finds mills.", "parameters": parameters})
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(name, kind)| ((*name).to_owned(), (*kind).to_owned())).collect()
}

const WORDS: [&str; 17] = [
    "properties",
    "property",
    "type",
    "$ref",
    "anyOf",
    "allOf",
    "required",
    "description",
    "title",
    "default",
    "enum",
    "items",
    "const",
    "definitions",
    "examples",
    "dependencies",
    "format",
];

#[test]
fn a_parameter_of_a_bare_map_may_have_the_name_of_any_word_of_a_schema() {
    for word in WORDS {
        let of = |kind: &str| json!({"type": kind, "description": "What it has."});
        let sent = function(&json!({word: of("str"), "radius": of("int, optional")}));
        let name = if word == "$ref" { "ref" } else { word };
        let (properties, required, codes) = read(&sent);
        let expected = (pairs(&[(name, "string"), ("radius", "integer")]), json!([name]), Vec::<&str>::new());
        assert_eq!((properties, required, codes), expected, "{word}");
        let safe = fix(std::slice::from_ref(&sent), Safety::Safe);
        assert_eq!(safe.functions, [sent], "{word}");
    }
}

#[test]
fn two_words_of_a_schema_are_two_parameters() {
    for one in WORDS {
        for other in WORDS.into_iter().filter(|other| *other != one) {
            let of = |kind: &str| json!({"type": kind, "description": "What it has."});
            let (properties, ..) = read(&function(&json!({one: of("str"), other: of("str")})));
            let names: Vec<_> = properties.iter().map(|(name, _)| name.replace("ref", "$ref")).collect();
            assert_eq!(names, [one, other], "{one} {other}");
        }
    }
}

#[test]
fn a_parameter_called_properties_is_read_in_the_notations_of_collections() {
    for (parameters, properties, required) in [
        (
            json!({"properties": {"type": "List[str]", "description": "What it has.", "default": ""},
                "radius": {"type": "int", "description": "How far.", "default": "10"}}),
            pairs(&[("properties", "array"), ("radius", "integer")]),
            json!([]),
        ),
        (
            json!({"properties": {"type": "string", "description": "Which of its properties."}}),
            pairs(&[("properties", "string")]),
            json!(["properties"]),
        ),
        (
            json!({"properties": {"type": "string"}, "required": ["properties"]}),
            pairs(&[("properties", "string")]),
            json!(["properties"]),
        ),
        (
            json!({"properties": {"description": "What it has."}, "radius": {"description": "How far."}}),
            pairs(&[("properties", "string"), ("radius", "string")]),
            json!(["properties", "radius"]),
        ),
        (
            json!({"properties": "str", "radius": "int"}),
            pairs(&[("properties", "string"), ("radius", "integer")]),
            json!(["properties", "radius"]),
        ),
        (
            json!({"properties": {"type": ["string", "null"], "description": "What it has."}}),
            pairs(&[("properties", "string")]),
            json!(["properties"]),
        ),
    ] {
        let (found, needed, _) = read(&function(&parameters));
        assert_eq!((found, needed), (properties, required), "{parameters}");
    }
}

#[test]
fn a_list_of_required_names_beside_the_map_counts() {
    for word in ["properties", "required", "type", "items"] {
        let of = |kind: &str| json!({"type": kind, "description": "What it has."});
        let mut sent = function(&json!({word: of("bool"), "radius": of("int")}));
        sent["required"] = json!([word]);
        let (properties, required, codes) = read(&sent);
        let expected =
            (pairs(&[(word, "boolean"), ("radius", "integer")]), json!([word]), Vec::<&str>::new());
        assert_eq!((properties, required, codes), expected, "{word}");
    }
}

#[test]
fn the_names_of_properties_in_a_schema_are_unchanged() {
    for word in WORDS {
        let properties = json!({word: {"type": "string", "description": "x"}});
        for parameters in [
            json!({"type": "object", "properties": properties, "required": [word]}),
            json!({"properties": properties, "required": [word]}),
        ] {
            let name = if word == "$ref" { "ref" } else { word };
            let (found, required, codes) = read(&function(&parameters));
            let expected = (pairs(&[(name, "string")]), json!([name]), Vec::<&str>::new());
            assert_eq!((found, required, codes), expected, "{parameters}");
        }
    }
    let texts = json!({"type": "object", "properties": {"type": "string", "radius": "integer"}});
    assert_eq!(read(&function(&texts)).0, pairs(&[("type", "string"), ("radius", "integer")]));
    let listed = json!({"properties": {"type": "string", "title": "string"}, "required": ["type"]});
    assert_eq!(read(&function(&listed)).0, pairs(&[("type", "string"), ("title", "string")]));
}

#[test]
fn a_map_that_could_be_a_schema_is_reported_and_unchanged() {
    let of = |kind: &str| json!({"type": kind, "description": "What it has."});
    for parameters in [
        json!({"properties": {"type": "string"}}),
        json!({"properties": {"type": "string", "description": "string"}}),
        json!({"type": of("str"), "properties": {"radius": of("int")}}),
        json!({"required": of("bool"), "properties": {"radius": of("int")}}),
        json!({"properties": of("str"), "radius": of("int"), "required": ["type"]}),
        json!({"properties": of("str"), "radius": of("int"), "additionalProperties": false}),
        json!({"properties": of("str"), "radius": of("int"), "anyOf": [{"required": ["radius"]}]}),
        json!({"properties": "What it has."}),
    ] {
        let sent = function(&parameters);
        for allow in [Safety::Safe, Safety::Unsafe] {
            let fixed = fix(std::slice::from_ref(&sent), allow);
            assert_eq!(fixed.functions, std::slice::from_ref(&sent), "{parameters}");
            let codes: Vec<_> = fixed.findings.iter().map(|finding| finding.rule.code).collect();
            assert_eq!(codes, ["schema/unreadable-parameters"], "{parameters}");
        }
    }
}

#[test]
fn a_parameter_beside_the_properties_of_a_schema_is_kept_and_reported() {
    let of = |kind: &str| json!({"type": kind, "description": "x"});
    let parameters = json!({"type": "object", "properties": {"mill": of("string")}, "required": ["mill"],
        "radius": of("integer"), "additionalProperties": {"type": "string"}, "example": of("integer"),
        "returns": of("string"), "x-order": of("string"), "format": of("string"), "title": "Mills"});
    let fixed = fix(&[function(&parameters)], Safety::Unsafe);
    let expected = json!({"type": "dict", "properties": {"mill": of("string")}, "required": ["mill"],
        "radius": of("integer"), "format": of("string")});
    assert_eq!(fixed.functions[0]["parameters"], expected);
    let places: Vec<_> = fixed.findings.iter().map(|finding| finding.at.as_str()).collect();
    assert_eq!(places, ["/0/parameters/radius", "/0/parameters/format"]);
}

/// Returns the names that each function requires after all edits.
fn required(parameters: &[Value]) -> Vec<Value> {
    let named = |(n, parameters): (usize, &Value)| json!({"name": format!("f{n}"), "description": "d", "parameters": parameters});
    let functions: Vec<_> = parameters.iter().enumerate().map(named).collect();
    let fixed = fix(&functions, Safety::Unsafe).functions;
    fixed.iter().map(|function| function["parameters"]["required"].clone()).collect()
}

#[test]
fn nullable_marks_an_optional_parameter_only_without_a_list_of_required_ones() {
    let of = |nullable: Value| json!({"type": "integer", "description": "How many.", "nullable": nullable});
    let (yes, no) = (of(json!(true)), of(json!(false)));
    let properties = json!({"a": yes, "b": no});
    assert_eq!(required(&[json!({"a": yes, "b": no})]), [json!(["b"])]);
    assert_eq!(required(&[json!({"a": yes, "b": no, "required": ["a"]})]), [json!(["a"])]);
    let schema = json!({"type": "object", "properties": properties, "required": ["a", "b"]});
    assert_eq!(required(&[schema]), [json!(["a", "b"])]);
    let inputs =
        json!({"name": "f", "description": "d", "inputs": {"a": yes, "b": no}, "output_type": "string"});
    let fixed = fix(&[inputs], Safety::Unsafe).functions;
    let expected = json!({"type": "dict", "required": ["b"], "properties": {
        "a": {"type": "integer", "description": "How many.", "default": null},
        "b": {"type": "integer", "description": "How many."}}});
    assert_eq!(fixed[0]["parameters"], expected);
}

#[test]
fn marks_of_one_function_rule_the_unmarked_parameters_of_the_list() {
    let of = |description: &str| json!({"type": "str", "description": description});
    let unmarked = json!({"c": of("Which tower."), "d": of("Which hour.")});
    for mark in [
        "[REQUIRED] Which bell.",
        "(required) Which bell",
        "Required. Which bell.",
        "Which bell (required)",
        "Which bell. Required.",
    ] {
        let marked = json!({"a": of(mark), "b": of("How loud.")});
        assert_eq!(required(&[marked.clone(), unmarked.clone()]), [json!(["a"]), json!([])], "{mark}");
        assert_eq!(required(&[unmarked.clone(), marked]), [json!([]), json!(["a"])], "{mark}");
    }
    for mark in
        ["(optional) Which bell", "Optional. Which bell.", "Which bell [optional]", "The time required."]
    {
        let marked = json!({"a": of(mark), "b": of("How loud.")});
        let needs = if mark.contains("ptional") { json!(["b"]) } else { json!(["a", "b"]) };
        assert_eq!(required(&[marked, unmarked.clone()]), [needs, json!(["c", "d"])], "{mark}");
    }
    let list = |mark: &str| json!([{"name": "a", "type": "str", "description": mark}, {"name": "b", "type": "str", "description": "How loud."}]);
    let texts = json!({"a": "[REQUIRED] string: Which bell.", "b": "string: How loud."});
    let schema =
        json!({"type": "object", "properties": {"a": of("Required. Which bell."), "b": of("How loud.")}});
    let all = [list("Which bell."), list("Required. Which bell."), texts, schema, unmarked];
    assert_eq!(required(&all), [json!([]), json!(["a"]), json!(["a"]), json!(["a"]), json!([])]);
}

#[test]
fn a_list_of_required_names_is_no_convention_and_follows_none() {
    let of = |description: &str| json!({"type": "str", "description": description});
    let listed = json!({"a": of("Required. Which bell."), "b": of("How loud."), "required": ["b"]});
    let unmarked = json!({"c": of("Which tower.")});
    assert_eq!(required(&[listed.clone(), unmarked]), [json!(["b"]), json!(["c"])]);
    let marked = json!({"d": of("Required. Which bell."), "e": of("How loud.")});
    assert_eq!(required(&[listed, marked]), [json!(["b"]), json!(["d"])]);
}

/// Generates the name of a parameter: a word of a schema, or another name.
fn any_name() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        2 => prop::sample::select(WORDS.to_vec()),
        1 => prop::sample::select(vec!["mill", "radius", "options", "min", "nullable", "desc"]),
    ]
}

/// Generates a parameter as collections write them.
fn any_parameter() -> impl Strategy<Value = Value> {
    let kind = prop::sample::select(vec!["str", "string", "int, optional", "List[str]", "number", "bool"]);
    let text = prop::sample::select(vec![
        "What it has.",
        "Required. What it has.",
        "Which (optional)",
        "Longitude, decimal",
        "How many (default: 3)",
    ]);
    let extra = prop::sample::select(vec![
        json!({}),
        json!({"default": "10"}),
        json!({"nullable": true}),
        json!({"enum": ["a", "b"]}),
        json!({"required": true}),
        json!({"optional": true}),
    ]);
    (prop::option::of(kind), text, extra).prop_map(|(kind, text, mut parameter)| {
        parameter["description"] = json!(text);
        if let Some(kind) = kind {
            parameter["type"] = json!(kind);
        }
        parameter
    })
}

/// Generates the parameters of a function: a bare map or a schema, with or without a list of required names.
fn any_parameters() -> impl Strategy<Value = (Value, bool)> {
    let all = prop::collection::vec((any_name(), any_parameter()), 1..5);
    (all, any::<bool>(), any::<bool>()).prop_map(|(members, is_schema, is_listed)| {
        let properties = object(members);
        let names: Vec<_> =
            properties.as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect();
        let mut parameters =
            if is_schema { json!({"type": "object", "properties": properties}) } else { properties };
        if is_listed && (is_schema || !names.iter().any(|name| name == "required")) {
            parameters["required"] = json!(names[..names.len().div_ceil(2)]);
        }
        (parameters, is_schema)
    })
}

/// Returns the names of the parameters as sent, and which of them are required.
fn sent_names(parameters: &Value, is_schema: bool) -> (Vec<String>, Option<Vec<String>>) {
    let names = |list: &Value| {
        Some(list.as_array()?.iter().filter_map(|name| Some(name.as_str()?.to_owned())).collect())
    };
    let required = parameters.get("required").and_then(names);
    let all = if is_schema { &parameters["properties"] } else { parameters };
    let is_name = |(key, value): &(&String, &Value)| *key != "required" || value.is_object();
    let all = all.as_object().into_iter().flatten().filter(is_name);
    (all.map(|(name, _)| name.clone()).collect(), required)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    /// No safe edit removes a parameter, renames one whose name a call can use, or changes what a list requires. With
    /// all edits no parameter is lost either: it is in the schema, or the map is as sent and reported.
    #[test]
    fn no_edit_loses_a_parameter_and_no_safe_edit_changes_its_meaning((parameters, is_schema) in any_parameters()) {
        let (names, required) = sent_names(&parameters, is_schema);
        let legal = |names: &[String]| names.iter().map(|name| name.replace('$', "")).collect::<Vec<_>>();
        let sent = [function(&parameters)];
        for allow in [Safety::Safe, Safety::Unsafe] {
            let fixed = fix(&sent, allow);
            let now = &fixed.functions[0]["parameters"];
            if now["type"] == "dict" {
                let (after, needed) = sent_names(now, true);
                prop_assert_eq!(&after, &legal(&names));
                if let (Some(required), Safety::Safe) = (&required, allow) {
                    // A parameter that is marked as required is in the list, wherever the doc has the mark.
                    let is_marked = |name: &&String| parameters["properties"][name.as_str()]["required"] == true;
                    let marked = names.iter().filter(|name| !required.contains(name)).filter(is_marked);
                    let all: Vec<_> = required.iter().chain(marked).cloned().collect();
                    prop_assert_eq!(needed.unwrap_or_default(), legal(&all));
                }
                prop_assert!(is_schema || allow == Safety::Unsafe);
            } else {
                prop_assert_eq!(now, &parameters);
                prop_assert!(fixed.findings.iter().any(|finding| finding.rule.code == "schema/unreadable-parameters"));
            }
        }
    }
}
