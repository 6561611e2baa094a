//! Tests of what entries accept.

use proptest::prelude::*;
use serde_json::json;

use super::ProblemKind::{DeadAlternative, OnlyEmpty, Unsatisfiable, UselessOmission};
use super::*;

/// Judges a call of `f` whose parameter `a` has this schema and these alternatives.
fn judged(schema: &Value, is_required: bool, alternatives: &Value) -> Acceptance {
    let required = if is_required { vec!["a"] } else { vec![] };
    let functions = json!([{"name": "f", "parameters": {"required": required, "properties": {"a": schema}}}]);
    acceptance(&functions, &json!([{"f": {"a": alternatives}}]), Kind::Simple, Language::Python)
}

fn kinds(judged: &Acceptance) -> Vec<(ProblemKind, Option<usize>)> {
    judged.problems.iter().map(|problem| (problem.kind, problem.alternative)).collect()
}

fn output(judged: &Acceptance) -> Option<String> {
    judged.output.as_ref().map(PyValue::repr)
}

#[test]
fn what_an_output_can_match_is_no_problem() {
    let text = json!({"type": "string"});
    let array = |items: &str| json!({"type": "array", "items": {"type": items}});
    for (schema, alternatives, value) in [
        (text.clone(), json!(["x", "y"]), "'x'"),
        (json!({"type": "integer"}), json!([5]), "5"),
        (json!({"type": "integer"}), json!([5, 5.0]), "5"),
        (json!({"type": "integer"}), json!([null]), "None"),
        (json!({"type": "float"}), json!([5, 5.5]), "5"),
        (json!({"type": "boolean"}), json!(["dontcare"]), "'dontcare'"),
        (json!({"type": "any"}), json!([[1, {"b": 2}]]), "[1, {'b': 2}]"),
        (json!({"type": "tuple", "items": {"type": "float"}}), json!([[1, 2.5]]), "[1, 2.5]"),
        (array("float"), json!([[1.5, 2]]), "[1.5, 2.0]"),
        (array("string"), json!([["a"], []]), "['a']"),
        (array("array"), json!([[["a"], ["b"]]]), "[['a'], ['b']]"),
        (array("string"), json!(["ab"]), "'ab'"),
        (array("dict"), json!([[{"b": ["x", "y"], "c": ["", 1]}]]), "[{'b': 'x', 'c': 1}]"),
        (json!({"type": "dict"}), json!([{"b": ["", {"c": [1]}], "d": [""]}]), "{'b': {'c': [1]}}"),
    ] {
        let judged = judged(&schema, true, &alternatives);
        assert_eq!(kinds(&judged), [], "{schema} {alternatives}");
        assert_eq!(output(&judged), Some(format!("[{{'f': {{'a': {value}}}}}]")), "{schema} {alternatives}");
    }
}

#[test]
fn alternatives_that_no_output_matches_are_dead() {
    let array = json!({"type": "array", "items": {"type": "string"}});
    for (schema, alternatives, dead) in [
        (json!({"type": "string"}), json!(["x", null]), 1),
        (json!({"type": "string"}), json!(["x", 5]), 1),
        (json!({"type": "integer"}), json!([5, "5"]), 1),
        (json!({"type": "integer"}), json!(["", 1, null]), 2),
        (json!({"type": "any"}), json!(["x", ["x"]]), 1),
        (array, json!([["a"], [1, {"b": 1}]]), 1),
        (json!({"type": "dict"}), json!([{"a": [1]}, {"b": []}]), 1),
    ] {
        let judged = judged(&schema, false, &alternatives);
        assert_eq!(kinds(&judged), [(DeadAlternative, Some(dead))], "{schema} {alternatives}");
        assert!(judged.output.is_some());
    }
    // The type of the first alternative counts.
    assert_eq!(kinds(&judged(&json!({"type": "integer"}), false, &json!(["5", 5]))), []);
}

#[test]
fn entries_that_no_output_passes_are_unsatisfiable() {
    let array = json!({"type": "array", "items": {"type": "string"}});
    for (schema, alternatives) in [
        (array, json!([])),
        (json!({"type": "dict"}), json!([""])),
        (json!({"type": "integer"}), json!([""])),
        (json!({"type": "number"}), json!([1])),
        (json!({"type": "array"}), json!([["a"]])),
        (json!({"type": "dict"}), json!([{"b": []}])),
    ] {
        let judged = judged(&schema, true, &alternatives);
        assert!(!judged.is_satisfiable() && judged.output.is_none(), "{schema} {alternatives}");
    }
    let of = |ground_truth: Value, kind| {
        let functions = json!([{"name": "f", "parameters": {"required": ["a"], "properties": {"a": {"type": "integer"}}}}]);
        acceptance(&functions, &ground_truth, kind, Language::Python)
    };
    for ground_truth in [
        json!([{"f": {}}]),
        json!([{"f": {"a": [1], "b": [2]}}]),
        json!([]),
        json!({"f": {"a": [1]}}),
        json!([{}]),
        json!([{"f": [1]}]),
    ] {
        for kind in [Kind::Simple, Kind::Multiple] {
            assert!(!of(ground_truth.clone(), kind).is_satisfiable(), "{ground_truth} {kind:?}");
        }
    }
    // The name is not compared in a simple entry.
    assert!(of(json!([{"g": {"a": [1]}}]), Kind::Simple).is_satisfiable());
    let unknown = of(json!([{"g": {"a": [1]}}]), Kind::Multiple);
    assert_eq!(kinds(&unknown), [(Unsatisfiable, None)]);
    // A parameter that the doc does not have can be omitted; its values are dead.
    let omitted = of(json!([{"f": {"a": [1], "b": ["x", ""]}}]), Kind::Parallel);
    assert_eq!(kinds(&omitted), [(DeadAlternative, Some(0))]);
    assert_eq!(output(&omitted).unwrap(), "[{'f': {'a': 1}}]");
    assert_eq!(omitted.first.unwrap().repr(), "[{'f': {'a': 1, 'b': 'x'}}]");
    assert_eq!(omitted.first_refused.unwrap(), "Unexpected parameter: 'b'.");
}

#[test]
fn an_omission_of_a_required_parameter_is_useless_and_may_leave_only_the_empty_text() {
    let text = json!({"type": "string"});
    assert_eq!(kinds(&judged(&text, true, &json!(["x", ""]))), [(UselessOmission, None)]);
    assert_eq!(kinds(&judged(&text, false, &json!(["x", ""]))), []);
    let only = judged(&text, true, &json!([""]));
    assert_eq!(kinds(&only), [(UselessOmission, None), (OnlyEmpty, None)]);
    assert!(only.is_satisfiable());
    assert_eq!(output(&only).unwrap(), "[{'f': {'a': ''}}]");
    let array = json!({"type": "array", "items": {"type": "string"}});
    assert_eq!(output(&judged(&array, true, &json!([""]))).unwrap(), "[{'f': {'a': []}}]");
}

#[test]
fn the_first_output_has_first_alternatives_and_a_default_before_it_may_be_omitted() {
    let text = json!({"type": "string"});
    for (is_required, alternatives, expected) in [
        (false, json!(["x", "y"]), "[{'f': {'a': 'x'}}]"),
        (false, json!(["", "x"]), "[{'f': {}}]"),
        (true, json!(["", "x"]), "[{'f': {'a': 'x'}}]"),
    ] {
        assert_eq!(judged(&text, is_required, &alternatives).first.unwrap().repr(), expected);
    }
}

#[test]
fn each_call_of_a_parallel_entry_is_judged() {
    let functions = json!([
        {"name": "f", "parameters": {"required": ["a"], "properties": {"a": {"type": "integer"}}}},
        {"name": "g", "parameters": {"required": [], "properties": {"b": {"type": "string"}}}},
    ]);
    let of = |truth: Value| acceptance(&functions, &truth, Kind::Parallel, Language::Python);
    let good = of(json!([{"f": {"a": [1, 2]}}, {"f": {"a": [1]}}, {"g": {"b": [""]}}]));
    assert_eq!(output(&good).unwrap(), "[{'f': {'a': 1}}, {'f': {'a': 1}}, {'g': {}}]");
    let wrong = of(json!([{"f": {"a": [1]}}, {"g": {"b": []}}]));
    let place = |problem: &Problem| (problem.call, problem.function.clone(), problem.parameter.clone());
    let expected = (Some(1), "g".to_owned(), Some("b".to_owned()));
    assert_eq!(wrong.problems.iter().map(place).collect::<Vec<_>>(), [expected]);
}

#[test]
fn only_names_and_omissions_of_other_languages_are_judged() {
    let functions =
        json!([{"name": "f", "parameters": {"required": ["a"], "properties": {"a": {"type": "HashMap"}}}}]);
    let of = |truth: Value| acceptance(&functions, &truth, Kind::Simple, Language::Java);
    let unknown = of(json!([{"f": {"a": [{"b": 1}]}}]));
    assert!(unknown.is_satisfiable() && unknown.output.is_none() && unknown.first.is_none());
    assert!(!of(json!([{"f": {}}])).is_satisfiable());
    assert!(!of(json!([{"f": {"a": ["x"], "b": ["y"]}}])).is_satisfiable());
    assert_eq!(kinds(&of(json!([{"f": {"a": ["x", ""]}}]))), [(UselessOmission, None)]);
}

/// Arbitrary JSON, small and often of the forms of a ground truth.
fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!("")),
        Just(json!("ab")),
        Just(json!(null)),
        Just(json!(1)),
        Just(json!(1.0)),
        Just(json!(true)),
        Just(json!(2.5)),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::vec(inner, 0..2).prop_map(|values| ["k".to_owned()]
                .into_iter()
                .zip(values)
                .collect::<Map<_, _>>()
                .into()),
        ]
    })
}

proptest! {
    #[test]
    fn a_value_that_passes_is_found_for_every_accepted_value(
        kind in prop_oneof![
            Just("string"), Just("integer"), Just("float"), Just("boolean"), Just("array"), Just("tuple"),
            Just("dict"), Just("any")],
        items in prop_oneof![Just("string"), Just("integer"), Just("float"), Just("dict"), Just("any")],
        alternatives in prop::collection::vec(values(), 0..4),
        given in values(),
    ) {
        let schema = json!({"type": kind, "items": {"type": items}});
        let alternatives = Value::from(alternatives);
        let judged = judged(&schema, true, &alternatives);
        let functions = json!([{"name": "f", "parameters": {"required": ["a"], "properties": {"a": schema}}}]);
        let truth = json!([{"f": {"a": alternatives}}]);
        let case = Case::new(&functions, &truth, Kind::Simple, Language::Python);
        let passes = |output: &PyValue| matches!(Checker::default().check(&case, output), Ok(Verdict::Valid));
        // Whatever passes shows that the entry is satisfiable, and the output that is returned passes.
        if passes(&PyValue::from_json(&json!([{"f": {"a": given}}]))) {
            prop_assert!(judged.is_satisfiable(), "{truth}: {given} passes");
        }
        prop_assert_eq!(judged.is_satisfiable(), judged.output.as_ref().is_some_and(passes));
    }
}

#[test]
fn of_a_long_list_the_same_alternatives_are_dead_as_of_its_parts() {
    let text = |n: usize| json!(format!("bell {n}"));
    let of = |schema: &Value, alternatives: Vec<Value>| kinds(&judged(schema, true, &json!(alternatives)));
    for (schema, first, other) in [
        (json!({"type": "string"}), text(0), json!(5)),
        (json!({"type": "integer"}), json!(0), json!("5")),
        (json!({"type": "any"}), text(0), json!(["x"])),
        (json!({"type": "array", "items": {"type": "string"}}), json!(["a"]), json!([1, {"b": 1}])),
        (json!({"type": "dict"}), json!({"a": [1]}), json!({"b": []})),
    ] {
        let is_dead = of(&schema, vec![first.clone(), other.clone()]) == [(DeadAlternative, Some(1))];
        assert!(is_dead, "{schema}");
        for marker in [vec![], vec![json!("")]] {
            // Of a short list, for which the evaluator is given all alternatives. With "" first, it takes other types.
            let short: Vec<Value> = marker.iter().chain([&first, &other]).cloned().collect();
            let is_dead = of(&schema, short).contains(&(DeadAlternative, Some(marker.len() + 1)));
            let long = |n: usize| match n % 7 {
                3 => other.clone(),
                _ => first.clone(),
            };
            let n_before = marker.len();
            let alternatives: Vec<Value> = marker.into_iter().chain((0..3 * MAX_WHOLE).map(long)).collect();
            let expected = (0..3 * MAX_WHOLE)
                .filter(|n| is_dead && n % 7 == 3)
                .map(|n| (DeadAlternative, Some(n + n_before)));
            let found: Vec<_> =
                of(&schema, alternatives).into_iter().filter(|(kind, _)| *kind != UselessOmission).collect();
            assert_eq!(found, expected.collect::<Vec<_>>(), "{schema}");
        }
    }
}
