//! Tests that every rule fires on its example and not on the counter-example, and that `check` agrees with `fix`.

// `json!` is easiest to read inside the call.
#![allow(clippy::needless_pass_by_value)]

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::rules::{Level, RULES};
use super::*;
use crate::fix::{self, Safety};

fn list(text: &str) -> Vec<Value> {
    match serde_json::from_str(text).unwrap() {
        Value::Array(functions) => functions,
        function => vec![function],
    }
}

fn codes(functions: &[Value]) -> BTreeSet<&'static str> {
    check(functions).iter().map(|finding| finding.rule.code).collect()
}

/// Returns a function with these properties and required names.
fn function(properties: &Value, required: &Value) -> Value {
    let parameters = json!({"type": "dict", "required": required, "properties": properties});
    json!({"name": "f", "description": "d", "parameters": parameters})
}

/// Returns a function with one described parameter.
fn parameter(mut schema: Value, required: bool) -> Vec<Value> {
    schema["description"] = json!("x");
    let required = if required { json!(["a"]) } else { json!([]) };
    vec![function(&json!({"a": schema}), &required)]
}

/// Returns examples (fires, quiet) for rules where those of `fix` do not apply or do not exist.
fn own_example(code: &str) -> Option<(Vec<Value>, Vec<Value>)> {
    let whole = |fires: Value, quiet: Value| Some((vec![fires], vec![quiet]));
    let one =
        |fires: Value, quiet: Value, required| Some((parameter(fires, required), parameter(quiet, required)));
    let named = |a: &str, b: &str| {
        let of = |name: &str| json!({"name": name, "description": "d", "parameters": {"type": "dict", "required": [], "properties": {}}});
        vec![of(a), of(b)]
    };
    let plain = function(&json!({}), &json!([]));
    match code {
        "schema/unreadable-parameters" => {
            whole(json!({"name": "f", "description": "d", "parameters": 7}), plain)
        }
        "schema/required-among-properties" => whole(
            function(&json!({"required": ["a"]}), &json!([])),
            function(&json!({"required": "a"}), &json!([])),
        ),
        "schema/required-outside-parameters" => {
            let mut beside = plain.clone();
            beside["required"] = json!([]);
            whole(beside, plain)
        }
        "schema/misspelled-key" => {
            let mut twice = plain.clone();
            twice["desc"] = json!("d");
            whole(twice, plain)
        }
        "schema/items-not-a-schema" => one(
            json!({"type": "array", "items": [{"type": "string"}]}),
            json!({"type": "array", "items": {"type": "string"}}),
            true,
        ),
        "schema/required-per-parameter" => {
            one(json!({"type": "string", "required": true}), json!({"type": "string", "required": []}), true)
        }
        "schema/unknown-type" => one(json!({"type": "thingummy"}), json!({"type": "str"}), true),
        "schema/nullable-type" => {
            one(json!({"type": ["string", "null"]}), json!({"type": ["string", "integer"]}), true)
        }
        "schema/several-types" => {
            one(json!({"type": ["string", "integer"]}), json!({"type": ["string", "null"]}), true)
        }
        "schema/reference" => one(json!({"$ref": "#/$defs/a"}), json!({"type": "string"}), true),
        "schema/combined-schemas" => {
            one(json!({"anyOf": [{"type": "string"}, {"type": "integer"}]}), json!({"$ref": "#/a"}), true)
        }
        "schema/default-type" => {
            one(json!({"type": "float", "default": 1}), json!({"type": "float", "default": 1.0}), false)
        }
        "schema/default-not-in-enum" => one(
            json!({"type": "array", "items": {"type": "string"}, "enum": ["b"], "default": ["b"]}),
            json!({"type": "float", "enum": [1, 2.5], "default": 1.0}),
            false,
        ),
        "schema/enum-type" => one(
            json!({"type": "integer", "enum": ["1"]}),
            json!({"type": "integer", "enum": [1, null]}),
            true,
        ),
        "schema/duplicate-name" => Some((named("a.b", "a.b"), named("a.b", "a_b"))),
        _ => None,
    }
}

#[test]
fn every_rule_fires_on_its_example_and_not_on_the_counter_example() {
    let mut wrong = Vec::new();
    for rule in &RULES {
        let shown = rule.example.map(|example| (list(example.fires), list(example.quiet)));
        let (fires, quiet) = shown.or_else(|| own_example(rule.code)).unwrap_or_else(|| {
            let of_fix = fix::rules().find(|of_fix| of_fix.code == rule.code);
            let of_fix = of_fix.unwrap_or_else(|| panic!("{} has no example", rule.code));
            (list(of_fix.fires), list(of_fix.quiet))
        });
        if !codes(&fires).contains(rule.code) {
            wrong.push(format!("{} does not fire: {:?}", rule.code, codes(&fires)));
        }
        if codes(&quiet).contains(rule.code) {
            wrong.push(format!("{} fires: {:?}", rule.code, codes(&quiet)));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_codes_of_the_schema_are_in_the_table_and_every_rule_has_a_sentence() {
    for code in schema::codes_of_the_schema() {
        assert!(rules::of(&code).is_some(), "{code}");
    }
    let distinct: BTreeSet<_> = RULES.iter().map(|rule| rule.code).collect();
    assert_eq!(distinct.len(), RULES.len());
    for rule in &RULES {
        assert!(rule.what().ends_with('.'), "{}", rule.code);
        assert_eq!(rule.by.is_empty(), rule.level == Level::Fact && rule.code != "schema/described-default");
    }
}

#[test]
fn a_conforming_function_has_no_error_and_no_note() {
    let function = json!({"name": "tides.get", "description": "Tides of a harbour.", "parameters": {
        "type": "dict", "properties": {
            "harbour": {"type": "string", "description": "Which."},
            "days": {"type": "array", "description": "When.", "items": {"type": "integer"}, "default": [1]},
            "at": {"type": "dict", "description": "Where.", "default": null, "properties": {
                "Content-Type": {"type": "float", "description": "Any key."}}}},
        "required": ["harbour"]}});
    let found = check(&[function]);
    assert!(found.iter().all(|finding| finding.rule.level == Level::Fact), "{found:?}");
}

#[test]
fn a_finding_has_a_place_a_value_and_an_expected_value() {
    let functions =
        [json!({"name": "f", "description": "d", "parameters": {"type": "object", "required": ["b"],
        "properties": {"a/b": {"type": "strin", "description": "x", "nullable": true, "default": 1}}}})];
    let found: Vec<String> = check(&functions)
        .into_iter()
        .map(|finding| {
            format!("{} {}: {} / {}", finding.rule.code, finding.at, finding.found, finding.expected)
        })
        .collect();
    assert_eq!(
        found,
        [
            r#"schema/type-synonym /0/parameters/type: "object" / one of string, integer, float, boolean, array, tuple, dict, any"#,
            r#"schema/unknown-type /0/parameters/properties/a~1b/type: "strin" / one of string, integer, float, boolean, array, tuple, dict, any"#,
            r#"schema/nullable-type /0/parameters/properties/a~1b/nullable: the key "nullable" / only type, description, default, enum, items, properties"#,
            r#"schema/required-without-property /0/parameters/required/0: "b" / a name of `properties`"#,
            r#"schema/parameter-name /0/parameters/properties/a~1b: "a/b" / an identifier"#,
        ]
    );
}

#[test]
fn fixed_functions_have_no_errors() {
    let mut n_clean = 0;
    for rule in fix::rules() {
        for text in [rule.fires, rule.quiet] {
            let fixed = fix::fix(&list(text), Safety::Unsafe);
            if !fixed.findings.is_empty() {
                continue;
            }
            let errors: Vec<_> = check(&fixed.functions)
                .into_iter()
                .filter(|found| found.rule.level == Level::Error)
                .collect();
            assert!(errors.is_empty(), "{}: {errors:?} in {}", rule.code, json!(fixed.functions));
            n_clean += 1;
        }
    }
    assert!(n_clean > 40, "{n_clean}");
}

#[test]
fn the_linter_stops_at_the_first_fault_in_the_order_of_its_checks() {
    let code = |function: &Value| linter::fault(function).map(|fault| fault.finding.rule.code);
    let with = |schema: Value, required: bool| code(&parameter(schema, required)[0]);
    assert_eq!(with(json!({"type": "string"}), true), None);
    assert_eq!(with(json!({"type": "string", "default": null}), false), None);
    assert_eq!(with(json!({"type": "string"}), false), Some("schema/optional-without-default"));
    assert_eq!(with(json!({"type": "string", "default": "x"}), true), Some("schema/required-with-default"));
    assert_eq!(with(json!({"type": "float", "default": 1}), true), Some("schema/default-type"));
    assert_eq!(
        with(json!({"type": "tuple", "items": {"type": "any"}, "default": []}), false),
        Some("schema/default-type")
    );
    assert_eq!(with(json!({"type": "boolean", "enum": ["x"], "default": 1}), true), Some("schema/enum-type"));
    assert_eq!(with(json!({"type": "dict", "additionalProperties": {"type": "any"}}), true), None);
    assert_eq!(with(json!({"type": "dict"}), true), Some("schema/dict-without-properties"));
    let nested = json!({"type": "dict", "properties": {"class": {"type": "string", "description": "x"}}});
    assert_eq!(with(nested, true), Some("schema/python-keyword"));
    assert_eq!(code(&json!({"name": "f", "parameters": 7})), Some("schema/missing-description"));
    assert_eq!(code(&json!([])), Some("schema/not-a-function"));
}
