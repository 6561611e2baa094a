//! Random values that look like function docs, for property tests of this module.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::fix::waking_keys;
use callsieve_testkit::arbitrary::object;

/// Generates a list of functions with random faults: each key holds a value that may or may not fit it.
pub(super) fn messy_functions() -> impl Strategy<Value = Vec<Value>> {
    let name =
        prop::sample::select(vec!["f", "get weather", "a.class", "9lives", "get-x", "get_x", "_", "…"]);
    let extra = prop::collection::vec((any_key(), schema()), 0..4);
    let one = (name, schema(), extra).prop_map(|(name, parameters, extra)| {
        let mut function = object(extra);
        let map = function.as_object_mut().expect("`object` makes an object");
        map.insert("name".into(), name.into());
        map.insert("parameters".into(), parameters);
        function
    });
    prop::collection::vec(one, 1..3)
}

/// Generates a BFCL key, a key of another format, or a key that a rule looks for.
fn any_key() -> impl Strategy<Value = &'static str> {
    let own = [
        "type",
        "description",
        "items",
        "properties",
        "properties",
        "required",
        "required",
        "optional",
        "name",
    ];
    let others = [
        "$defs",
        "class",
        "_class",
        "city",
        "x-key",
        "x_key",
        "strict",
        "additionalProperties",
        "is_required",
        "rest",
        "default_expression",
    ];
    prop_oneof![
        3 => prop::sample::select([&own[..], &["type", "default", "enum"], &others].concat()),
        2 => prop::sample::select(waking_keys()),
    ]
}

fn any_type() -> impl Strategy<Value = Value> {
    prop::sample::select(vec![
        json!("string"),
        json!("object"),
        json!("dict"),
        json!("number"),
        json!("List[int]"),
        json!("array"),
        json!("ARRAY"),
        json!("Optional[str]"),
        json!(["string", "null"]),
        json!(["integer", "string"]),
        json!("tuple"),
        json!("int | str"),
        json!("DATE (YYYY-MM-DD)"),
        json!("gibberish here"),
        json!(null),
        json!("boolean"),
        json!("Literal['a', 'b']"),
        json!("any"),
        json!("integer"),
        json!("float"),
    ])
}

fn odd_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        any_type(),
        prop::sample::select(vec![
            json!(true),
            json!(false),
            json!("a"),
            json!("10"),
            json!("false"),
            json!("a, b"),
            json!(["a", "city"]),
            json!([]),
            json!({}),
            json!(7),
            json!("dontcare"),
            json!("#/$defs/N"),
            json!("#/properties/city"),
            json!("The city. Default is 'x'."),
            json!("Optional. The city (default: 10)"),
            json!("Required. The city."),
            json!(["*args"]),
            json!(""),
            json!([1, 2]),
            json!([null]),
            json!([{"name": "a", "type": "str"}]),
            json!({"$ref": "#/properties/city"}),
            json!("{\"type\": \"object\", \"properties\": {}}"),
            json!([{"type": "string"}, {"type": "null"}]),
        ]),
    ]
}

fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        odd_value(),
        prop::collection::vec((any_key(), odd_value()), 0..5).prop_map(object),
        any_type().prop_map(|kind| json!({"type": kind, "description": "x"})),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| prop::collection::vec((any_key(), inner), 1..6).prop_map(object))
}
