//! Examples of key schemas and of compressed responses, and laws for any JSON.

use std::collections::BTreeSet;

use callsieve_testkit::arbitrary::json_value;
use callsieve_testkit::data;
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::probe::read_trees;

fn bells(n: usize) -> Value {
    let bell = |id: usize| json!({"id": id, "name": format!("Bell {id}"), "tower": "north", "note": null, "tags": []});
    json!({"bells": (0..n).map(bell).collect::<Vec<_>>(), "next": null, "total": n})
}

#[test]
fn keys_that_are_always_empty_are_dropped_and_repeated_values_are_kept_once() {
    let schema = key_schema(&[bells(4)], None);
    let expected = json!({"bells": [{"id": "any", "name": "any", "tower": "once"}], "total": "any"});
    assert_eq!(schema.to_template(), expected);
    assert_eq!(KeySchema::of_template(&expected), schema);
    let compressed = compress(&schema, &bells(3), &Budget::chars(120));
    assert_eq!(
        compressed,
        json!({"bells": [{"id": 0, "name": "Bell 0", "tower": "north"}, {"id": 1, "name": "Bell 1"},
            {"id": 2, "name": "Bell 2"}], "total": 3})
    );
}

#[test]
fn keys_of_the_schema_without_an_example_are_kept() {
    let response = json!({"type": "object", "properties": {"next": {"type": "string"}, "page": {"type": "integer"},
        "bells": {"type": "array", "items": {"properties": {"id": {}, "weight": {}}}}}});
    let schema = key_schema(&[bells(2)], Some(&response));
    let bell = json!({"id": "any", "name": "any", "tower": "any", "weight": "any"});
    assert_eq!(schema.to_template(), json!({"bells": [bell], "page": "any", "total": "any"}));
    let of_schema = json!({"bells": [{"id": "any", "weight": "any"}], "next": "any", "page": "any"});
    assert_eq!(key_schema(&[], Some(&response)).to_template(), of_schema);
    assert_eq!(key_schema(&[], None), KeySchema::Any);
}

#[test]
fn an_object_whose_keys_are_ids_is_a_map() {
    let map: Value = (0..30)
        .map(|id| (format!("bell-{id}"), json!({"size": id})))
        .collect::<serde_json::Map<_, _>>()
        .into();
    let schema = key_schema(&[json!({"bells": map})], None);
    assert_eq!(schema.to_template(), json!({"bells": {"*": "any"}}));
    let other = json!({"bells": {"bell-99": {"size": 99}}, "padding": "x".repeat(90)});
    assert_eq!(compress(&schema, &other, &Budget::chars(80)), json!({"bells": {"bell-99": {"size": 99}}}));
}

#[test]
fn a_response_within_the_budget_is_not_changed() {
    let schema = KeySchema::of_template(&json!({"total": "int"}));
    assert_eq!(compress(&schema, &bells(2), &Budget::chars(10_000)), bells(2));
    assert_eq!(compress(&schema, &bells(2), &Budget::chars(50)), json!({"total": 2}));
}

#[test]
fn a_response_of_another_kind_keeps_its_keys() {
    let schema = key_schema(&[bells(4)], None);
    let error = json!({"error": "The tower is closed because of the wind."});
    assert_eq!(compress(&schema, &error, &Budget::chars(40)), json!({"error": "The tower is closed beca…"}));
    assert_eq!(
        compress(&schema, &json!("x".repeat(90)), &Budget::chars(30)),
        json!(format!("{}…", "x".repeat(24)))
    );
}

#[test]
fn a_budget_that_nothing_fits_gives_the_smallest_value() {
    for (response, smallest) in [
        (bells(9), json!({})),
        (json!([1, 2]), json!([])),
        (json!("bell"), json!("")),
        (json!(12345), json!(12345)),
    ] {
        assert_eq!(compress(&KeySchema::Any, &response, &Budget::chars(1)), smallest);
    }
}

#[test]
fn budgets_count_what_they_are_asked_to() {
    let value = json!(["abcd", "é"]);
    assert_eq!(Budget::chars(0).size(&value), 12);
    assert_eq!(Budget::estimated_tokens(0).size(&value), 4);
    let words = Budget::tokens(0, |text| text.split(',').count());
    assert_eq!(words.size(&value), 2);
}

#[test]
fn a_response_deeper_than_readers_accept_is_cut() {
    let deep = (0..300).fold(json!(1), |value, _| json!({"a": value}));
    let compressed = compress(&KeySchema::Any, &deep, &Budget::chars(10_000));
    assert!(is_within(&compressed, MAX_DEPTH + 1) && compressed["a"]["a"].is_object());
}

/// Adds the paths of all keys; elements of a list are one place.
fn keys(value: &Value, path: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                let path = format!("{path}/{key}");
                keys(value, &path, found);
                found.insert(path);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| keys(item, &format!("{path}[]"), found)),
        _ => {}
    }
}

fn assert_laws(schema: &KeySchema, response: &Value, limit: usize) {
    let budget = Budget::chars(limit);
    let compressed = compress(schema, response, &budget);
    let text = compressed.to_string();
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), compressed);
    assert_eq!(compress(schema, &compressed, &budget), compressed, "not idempotent on {response}");
    let (mut before, mut after) = (BTreeSet::new(), BTreeSet::new());
    keys(response, "", &mut before);
    keys(&compressed, "", &mut after);
    assert!(after.is_subset(&before), "{response} became {compressed}");
    assert!(budget.fits(&compressed) || compressed == cut::smallest(response), "{compressed} is too large");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn any_response_is_compressed_to_a_valid_part_of_itself(
        response in json_value(),
        example in json_value(),
        limit in 0..200_usize,
    ) {
        assert_laws(&key_schema(std::slice::from_ref(&example), None), &response, limit);
        assert_laws(&key_schema(&[response.clone(), example.clone()], Some(&example)), &response, limit);
        assert_laws(&KeySchema::of_template(&example), &response, limit);
    }

    #[test]
    fn a_template_is_read_back(example in json_value()) {
        let schema = key_schema(&[example], None);
        let read: KeySchema = serde_json::from_value(serde_json::to_value(&schema).unwrap()).unwrap();
        // A map with the one key `*` and one of all keys are written alike, and an empty object keeps everything.
        prop_assert_eq!(read.to_template(), KeySchema::of_template(&read.to_template()).to_template());
    }
}

#[test]
fn answers_in_trees_of_toolbench_are_compressed() {
    let Some(folder) = data::path("apis/toolbench") else { return };
    let mut n_cut = 0;
    for group in ["G1_answer", "G2_answer", "G3_answer"] {
        for entry in std::fs::read_dir(folder.join("data_example/answer").join(group)).unwrap() {
            let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
            for probe in read_trees("answer", &text).probes {
                let Some(crate::probe::body::Body::Json(response)) = probe.body else { continue };
                n_cut += usize::from(!Budget::chars(300).fits(&response));
                assert_laws(&key_schema(std::slice::from_ref(&response), None), &response, 300);
            }
        }
    }
    // Most of the others were cut when they were recorded, so they are text.
    assert_eq!(n_cut, 4);
}

#[test]
fn examples_of_published_responses_fit_the_budget_of_toolbench() {
    let Some(path) = data::path("apis/restgpt") else { return };
    let read = crate::read_file(&path.join("specs/tmdb_oas.json")).unwrap();
    let budget = Budget::chars(1_024);
    let [mut n_large, mut n_by_keys, mut n_fit] = [0; 3];
    for api in read.tools.iter().flat_map(|tool| &tool.functions) {
        let Some(example) = api.example.as_ref().filter(|example| !budget.fits(example)) else { continue };
        let schema = key_schema(std::slice::from_ref(example), api.response.as_ref());
        n_large += 1;
        n_by_keys += usize::from(budget.fits(&schema.kept(example)));
        let compressed = compress(&schema, example, &budget);
        n_fit += usize::from(budget.fits(&compressed));
        assert_laws(&schema, example, 1_024);
    }
    assert_eq!((n_large, n_by_keys, n_fit), (35, 1, 35));
}
