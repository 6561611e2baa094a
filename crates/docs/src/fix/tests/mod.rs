//! Tests the laws that every rule follows, and the results of whole docs.

use std::collections::HashSet;

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::arbitrary::messy_functions;

mod forms;

fn list(text: &str) -> Vec<Value> {
    match serde_json::from_str(text).unwrap() {
        Value::Array(functions) => functions,
        function => vec![function],
    }
}

/// Returns the codes of all results of `fix` at the given safety.
fn codes(functions: &[Value], allow: Safety) -> Vec<&'static str> {
    let fixed = fix(functions, allow);
    let edits = fixed.edits.iter().map(|edit| edit.rule.code);
    edits.chain(fixed.findings.iter().map(|finding| finding.rule.code)).collect()
}

/// Returns `properties` of one function after all edits.
fn properties(properties: &Value, required: &Value) -> String {
    let parameters = json!({"type": "object", "properties": properties, "required": required});
    let fixed = fix(&[json!({"name": "f", "description": "d", "parameters": parameters})], Safety::Unsafe);
    fixed.functions[0]["parameters"]["properties"].to_string()
}

#[test]
fn every_rule_fires_on_its_example_and_not_on_the_counter_example() {
    for rule in rules() {
        assert!(codes(&list(rule.fires), Safety::Unsafe).contains(&rule.code), "{} does not fire", rule.code);
        assert!(!codes(&list(rule.quiet), Safety::Unsafe).contains(&rule.code), "{} fires", rule.code);
    }
}

/// Returns true if a rule with cues has results for a list, regardless of its cues.
fn has_results(functions: &[Value]) -> bool {
    let draft = Draft::new(functions.to_vec());
    let mut waiting = PHASES
        .into_iter()
        .flatten()
        .chain(&FINDINGS)
        .filter(|(_, wanted)| wanted.meet(Cues::among(&[cues::Cue::Irregular])) && !wanted.are_all());
    waiting.any(|(rule, _)| {
        let judged = draft.judged((*rule, Cues::ALL), None);
        !judged.changes.is_empty() || !judged.findings.is_empty()
    })
}

#[test]
fn no_rule_fires_on_a_regular_function() {
    let mut n_regular = 0;
    for function in rules().flat_map(|rule| [list(rule.fires), list(rule.quiet)]).flatten() {
        if regular::is_regular(&function) {
            n_regular += 1;
            assert!(!has_results(std::slice::from_ref(&function)), "{function}");
        }
    }
    assert!(n_regular > 10);
}

#[test]
fn codes_are_unique_and_sentences_end_with_a_full_stop() {
    let mut seen = HashSet::new();
    for rule in rules() {
        assert!(seen.insert(rule.code), "{} twice", rule.code);
        assert!(
            rule.code.starts_with("schema/") && rule.what.ends_with('.') && rule.why.ends_with('.'),
            "{}",
            rule.code
        );
    }
}

#[test]
fn a_valid_doc_is_unchanged() {
    let function = json!({"name": "weather.get", "description": "Weather of a city.", "parameters": {
        "type": "dict", "properties": {
            "city": {"type": "string", "description": "The city."},
            "days": {"type": "array", "description": "Which.", "items": {"type": "integer"}, "default": [1]},
            "unit": {"type": "string", "enum": ["c", "f"], "description": "Unit; default c."}},
        "required": ["city"]}});
    let fixed = fix(std::slice::from_ref(&function), Safety::Unsafe);
    assert_eq!(fixed.functions[0].to_string(), function.to_string());
    assert_eq!((fixed.edits.len(), fixed.proposals.len(), fixed.findings.len()), (0, 0, 0));
}

#[test]
fn an_openai_doc_becomes_a_bfcl_one_with_few_edits() {
    let sent = list(
        r#"{"name": "f", "strict": true, "description": "d", "parameters": {"type": "object", "properties":
        {"n": {"type": "number", "description": "y"}}, "required": ["n"], "additionalProperties": false}}"#,
    );
    let fixed = fix(&sent, Safety::Safe);
    assert_eq!(
        fixed.functions[0].to_string(),
        r#"{"name":"f","description":"d","parameters":{"type":"dict","properties":{"n":{"type":"float","description":"y"}},"required":["n"]}}"#
    );
    let codes: Vec<_> = fixed.edits.iter().map(|edit| edit.rule.code).collect();
    assert_eq!(codes, ["schema/type-synonym", "schema/type-synonym", "schema/extra-key", "schema/extra-key"]);
    assert_eq!(
        serde_json::to_value(&fixed.edits[0].patch).unwrap(),
        json!([
        {"op": "test", "path": "/0/parameters/type", "value": "object"},
        {"op": "replace", "path": "/0/parameters/type", "value": "dict"}])
    );
}

#[test]
fn missing_keys_of_parameters_come_in_the_usual_order() {
    for parameters in [
        r#"{"properties": {}}"#,
        r#"{"required": [], "properties": {}}"#,
        r#"{"properties": {}, "required": []}"#,
        "{}",
    ] {
        let fixed = fix(
            &list(&format!(r#"{{"name": "f", "description": "d", "parameters": {parameters}}}"#)),
            Safety::Safe,
        );
        assert_eq!(
            fixed.functions[0]["parameters"].to_string(),
            r#"{"type":"dict","required":[],"properties":{}}"#
        );
    }
}

#[test]
fn marks_on_parameters_become_the_list_of_required_ones() {
    let sent = list(
        r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "properties": {
        "b": {"type": "string", "description": "x", "required": true},
        "a": {"type": "string", "description": "y", "required": false},
        "c": {"type": "string", "description": "z", "optional": false}}}}"#,
    );
    let fixed = fix(&sent, Safety::Safe);
    let parameters = &fixed.functions[0]["parameters"];
    assert_eq!(parameters["required"], json!(["b", "c"]));
    assert_eq!(
        parameters["properties"]["a"].to_string(),
        r#"{"type":"string","description":"y","default":null}"#
    );
}

#[test]
fn forms_of_other_collections_become_schemas() {
    let seal = list(
        r#"{"name": "f", "description": "d", "parameters": {"method": {"type": "str", "description": "m"},
        "n": {"type": "int, optional", "description": "x"}}, "required": ["method"], "responses": {}}"#,
    );
    let expected = r#"{"type":"dict","required":["method"],"properties":{"method":{"type":"string","description":"m"},"n":{"type":"integer","description":"x","default":null}}}"#;
    assert_eq!(fix(&seal, Safety::Unsafe).functions[0]["parameters"].to_string(), expected);

    let blog = list(
        r#"{"name": "f", "description": "d", "parameters": [{"name": "id", "description": "ID"}, {"name": "n", "type": "int", "default": 3}]}"#,
    );
    let expected = r#"{"type":"dict","required":["id"],"properties":{"id":{"description":"ID","type":"string"},"n":{"type":"integer","default":3,"description":"n"}}}"#;
    assert_eq!(fix(&blog, Safety::Unsafe).functions[0]["parameters"].to_string(), expected);

    let words = list(
        r#"{"name": "f", "description": "d", "parameters": {"amount": "integer", "lat": "Latitude (-90; 90)"}}"#,
    );
    let expected = r#"{"type":"dict","required":["amount","lat"],"properties":{"amount":{"type":"integer","description":"amount"},"lat":{"description":"Latitude (-90; 90)","type":"string"}}}"#;
    assert_eq!(fix(&words, Safety::Unsafe).functions[0]["parameters"].to_string(), expected);
}

#[test]
fn separate_lists_of_parameters_are_joined() {
    let sent = list(
        r#"{"name": "f", "description": "d", "required_parameters": [{"name": "q", "type": "STRING", "description": "x", "default": "cats"}],
        "optional_parameters": [{"name": "safe", "type": "BOOLEAN", "description": "y", "default": "false"}], "method": "GET"}"#,
    );
    let expected = r#"{"type":"dict","required":["q"],"properties":{"q":{"type":"string","description":"x"},"safe":{"type":"boolean","description":"y","default":false}}}"#;
    assert_eq!(fix(&sent, Safety::Safe).functions[0]["parameters"].to_string(), expected);
}

#[test]
fn a_bare_map_is_unchanged_unless_unsafe_edits_are_allowed() {
    let sent = list(
        r#"{"name": "f", "description": "d", "parameters": {"type": {"type": "str", "description": "x"}}}"#,
    );
    let fixed = fix(&sent, Safety::Safe);
    assert_eq!(fixed.functions, sent);
    assert_eq!(fixed.proposals[0].rule.code, "schema/flat-parameters");
    assert_eq!(fixed.findings[0].rule.code, "schema/unreadable-parameters");
}

#[test]
fn parameters_in_an_unknown_form_are_never_dropped() {
    let sent = list(
        r#"{"name": "f", "description": "d", "required_parameters": ["city"], "optional_parameters": []}"#,
    );
    let fixed = fix(&sent, Safety::Unsafe);
    assert_eq!(fixed.functions, sent);
    assert_eq!(fixed.findings[0].rule.code, "schema/unreadable-parameters");
}

#[test]
fn nullable_types_are_distinguished_from_several_types() {
    let sent = json!({"q": {"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}], "description": "x"},
        "p": {"anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "string"}], "description": "pages"},
        "r": {"type": "str | int", "description": "y"}});
    assert_eq!(
        properties(&sent, &json!(["q", "p", "r"])),
        concat!(
            r#"{"q":{"description":"x. Format: date.","type":"string"},"p":{"description":"pages","type":"any"},"#,
            r#""r":{"type":"any","description":"y"}}"#
        )
    );
}

#[test]
fn arrays_and_tuples_get_items() {
    let sent = json!({"a": {"type": "List[List[int]]", "description": "x"},
        "b": {"type": "array", "description": "x", "items": [{"type": "number"}, {"type": "number"}]},
        "c": {"type": "array", "description": "x", "default": [1, 2]}, "d": {"type": "set", "description": "x"}});
    assert_eq!(
        properties(&sent, &json!(["a", "b", "c", "d"])),
        concat!(
            r#"{"a":{"type":"array","description":"x","items":{"type":"array","items":{"type":"integer"}}},"#,
            r#""b":{"type":"tuple","description":"x","items":{"type":"float"}},"#,
            r#""c":{"type":"array","description":"x","default":[1,2],"items":{"type":"integer"}},"#,
            r#""d":{"type":"array","description":"x","items":{"type":"string"}}}"#
        )
    );
}

#[test]
fn a_renamed_parameter_keeps_its_place_and_is_renamed_in_required() {
    let sent = list(
        r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["to", "from"],
        "properties": {"from": {"type": "string", "description": "x"}, "to": {"type": "string", "description": "y"}}}}"#,
    );
    let fixed = fix(&sent, Safety::Safe);
    let parameters = &fixed.functions[0]["parameters"];
    assert_eq!(parameters["required"], json!(["to", "_from"]));
    assert_eq!(parameters["properties"].as_object().unwrap().keys().collect::<Vec<_>>(), ["_from", "to"]);
    assert_eq!(fixed.renames.len(), 1);
}

#[test]
fn two_names_never_become_equal() {
    let sent =
        list(r#"[{"name": "get-weather", "description": "a"}, {"name": "get_weather", "description": "b"}]"#);
    let fixed = fix(&sent, Safety::Unsafe);
    assert_eq!(fixed.functions[0]["name"], "get-weather");
    assert!(fixed.renames.is_empty());
    assert_eq!(
        fixed.findings.iter().map(|finding| finding.rule.code).collect::<Vec<_>>(),
        ["schema/illegal-name"]
    );
}

#[test]
fn an_edit_that_would_lose_content_is_reported_instead() {
    let parameters = |properties: &Value, required: &Value| json!({"type": "dict", "properties": properties, "required": required});
    let of = |kind: &str| json!({"name": "a", "type": kind, "description": "x"});
    let enumerated = json!([{"type": "integer", "enum": [1]}, {"type": "integer", "description": "y"}]);
    for (key, value, code) in [
        (
            "parameters",
            parameters(&json!([of("string"), of("integer")]), &json!(["a"])),
            "schema/unreadable-property",
        ),
        ("required_parameters", json!([of("string"), of("integer")]), "schema/unreadable-parameters"),
        (
            "parameters",
            parameters(
                &json!({"a": {"type": "array", "description": "x", "items": enumerated}}),
                &json!(["a"]),
            ),
            "schema/unreadable-property",
        ),
        (
            "parameters",
            parameters(
                &json!({"a": {"type": "string", "description": "x", "allOf": [{"type": "integer", "enum": [1, 2]}]}}),
                &json!(["a"]),
            ),
            "schema/combined-schemas",
        ),
        (
            "parameters",
            parameters(
                &json!({"a": {"type": "string", "description": "x", "not": {"enum": ["b"]}}}),
                &json!(["a"]),
            ),
            "schema/combined-schemas",
        ),
        (
            "parameters",
            parameters(&json!({"a": {"type": "string", "description": "x"}}), &json!({"a": "x"})),
            "schema/unreadable-property",
        ),
    ] {
        let sent = json!({"name": "f", "description": "d", key: value});
        let fixed = fix(std::slice::from_ref(&sent), Safety::Safe);
        assert_eq!(fixed.functions, std::slice::from_ref(&sent), "{sent}");
        assert_eq!(
            fixed.findings.iter().map(|finding| finding.rule.code).collect::<Vec<_>>(),
            [code],
            "{sent}"
        );
    }
}

/// Applies patches to a list with this crate and with another implementation.
fn patched(functions: &[Value], edits: &[Edit]) -> (Value, Value) {
    let (mut ours, mut theirs) = (json!(functions), json!(functions));
    for edit in edits {
        patch::apply(&mut ours, &edit.patch).unwrap();
        let other: json_patch::Patch = serde_json::from_value(json!(edit.patch)).unwrap();
        json_patch::patch(&mut theirs, &other).unwrap();
    }
    (ours, theirs)
}

#[test]
fn messy_functions_become_the_expected_ones() {
    for line in include_str!("cases.jsonl").lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let fixed = fix(std::slice::from_ref(&case["sent"]), Safety::Unsafe);
        assert_eq!(json!(fixed.functions), json!([case["fixed"]]), "{}", case["title"]);
    }
}

#[test]
fn a_repeated_function_is_kept_once_and_later_renames_have_the_original_index() {
    let ring = json!({"name": "ring-it", "description": "d"});
    let sent = [ring.clone(), ring, json!({"name": "toll-it", "description": "e"})];
    let fixed = fix(&sent, Safety::Safe);
    let names: Vec<_> = fixed.functions.iter().map(renames::name_of).collect();
    assert_eq!(names, ["ring_it", "toll_it"]);
    let places: Vec<_> = fixed.renames.iter().map(|rename| (rename.function, rename.name.as_str())).collect();
    assert_eq!(places, [(0, "ring-it"), (2, "toll-it")]);
}

#[test]
fn names_that_differ_only_in_dots_are_reported() {
    let sent =
        list(r#"[{"name": "bells.ring", "description": "a"}, {"name": "bells_ring", "description": "b"}]"#);
    assert!(codes(&sent, Safety::Safe).contains(&"schema/duplicate-name"));
}

/// Returns the number of results of a rule that visits all functions.
fn n_results_for_all(entry: &RuleEntry, functions: &[Value]) -> usize {
    let awake = vec![Some(Cues::ALL); functions.len()];
    let mut opinion = Opinion::new(VisitedDocs { functions, awake: &awake, wanted: Cues::ALL });
    (entry.0.judge)(&mut opinion);
    opinion.changes.len() + opinion.findings.len()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn a_fixed_list_needs_no_more_fixes(functions in messy_functions(), guess in any::<bool>()) {
        let allow = if guess { Safety::Unsafe } else { Safety::Safe };
        let once = fix(&functions, allow);
        let twice = fix(&once.functions, allow);
        prop_assert_eq!(twice.edits.first().map(|edit| (edit.rule.code, &edit.patch)), None);
        prop_assert_eq!(json!(twice.functions).to_string(), json!(once.functions).to_string());
    }

    #[test]
    fn cues_suppress_no_result(functions in messy_functions()) {
        let draft = Draft::new(functions.clone());
        for entry in PHASES.into_iter().flatten().chain(&FINDINGS) {
            let judged = draft.judged(*entry, None);
            let said = judged.changes.len() + judged.findings.len();
            prop_assert_eq!(said, n_results_for_all(entry, &functions), "{}", entry.0.code);
        }
    }

    #[test]
    fn applying_the_patches_in_order_returns_the_fixed_list(functions in messy_functions(), guess in any::<bool>()) {
        let allow = if guess { Safety::Unsafe } else { Safety::Safe };
        let fixed = fix(&functions, allow);
        let (ours, theirs) = patched(&functions, &fixed.edits);
        prop_assert_eq!(ours.to_string(), json!(fixed.functions).to_string());
        prop_assert_eq!(theirs, ours);
        patched(&fixed.functions, &fixed.proposals);
    }

    #[test]
    fn every_edit_tests_the_old_value(functions in messy_functions()) {
        for edit in fix(&functions, Safety::Unsafe).edits {
            let moves_only = edit.patch.iter().all(|op| matches!(op, PatchOp::Move { .. }));
            let tested = matches!(edit.patch[0], PatchOp::Test { .. });
            prop_assert!(tested || moves_only, "{}: {:?}", edit.rule.code, edit.patch);
        }
    }

    #[test]
    fn renames_list_every_changed_name(functions in messy_functions()) {
        let fixed = fix(&functions, Safety::Safe);
        // Repeated functions are kept once, so the others have other indexes.
        prop_assume!(functions.len() == fixed.functions.len());
        for (before, after) in functions.iter().zip(&fixed.functions) {
            let (name, _) = renames::carry(&fixed.renames, &renames::name_of(before), serde_json::Map::new());
            let twin = functions.iter().filter(|other| other["name"] == before["name"]).count() > 1;
            prop_assert!(twin || name == renames::name_of(after));
        }
    }
}

#[test]
fn exclusions_are_reported_and_not_dropped() {
    for (key, value) in [("not", json!({"enum": ["z"]})), ("if", json!({"minLength": 1}))] {
        let property = json!({"type": "string", "description": "x", key: value});
        let function = json!({"name": "f", "description": "d",
            "parameters": {"type": "dict", "required": ["a"], "properties": {"a": property}}});
        let fixed = fix(std::slice::from_ref(&function), Safety::Unsafe);
        assert_eq!(fixed.functions, [function]);
        assert_eq!(fixed.findings.len(), 1, "{key}");
    }
}

#[test]
fn null_in_an_enum_is_removed_if_it_is_the_default_and_reported_otherwise() {
    let fixed = |property: Value, required: &[&str]| {
        let function = json!({"name": "f", "description": "d",
            "parameters": {"type": "dict", "required": required, "properties": {"a": property}}});
        fix(&[function], Safety::Unsafe)
    };
    let property = json!({"type": ["string", "null"], "description": "x", "enum": ["b", null]});
    let optional = fixed(property, &[]);
    assert_eq!(optional.functions[0]["parameters"]["properties"]["a"]["enum"], json!(["b"]));
    assert!(optional.findings.is_empty());
    let needed = fixed(json!({"type": "string", "description": "x", "enum": ["b", null]}), &["a"]);
    assert_eq!(needed.findings.len(), 1);
}
