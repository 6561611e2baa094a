//! Random JSON for tests: any value of small depth.

use proptest::prelude::*;
use serde_json::{Map, Value};

/// Generates any JSON value of small depth.
pub fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1e9..1e9_f64).prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((".{0,4}", inner), 0..5).prop_map(object),
        ]
    })
}

/// Returns an object with these members; of repeated keys the last value counts.
pub fn object(members: Vec<(impl Into<String>, Value)>) -> Value {
    members.into_iter().map(|(key, value)| (key.into(), value)).collect::<Map<_, _>>().into()
}
