//! Tests of declared environments: the sample, every operation, and faults of files.

use serde_json::{Map, Value, json};

use super::*;
use crate::environment::{Effect, ValueSource};

const SAMPLE: &str = include_str!("../../../../raw/repair-shop.toml");

fn sample() -> Declared {
    Declared::read("raw/repair-shop.toml", SAMPLE).unwrap_or_else(|fault| panic!("{fault}"))
}

fn call(name: &str, arguments: Value) -> Call {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    Call::new(name, arguments)
}

/// Runs calls from the first state, and returns the results as JSON, failed ones as `{"failed": text}`.
fn results(environment: &Declared, calls: &[(&str, Value)]) -> Vec<Value> {
    let calls: Vec<Call> = calls.iter().map(|(name, arguments)| call(name, arguments.clone())).collect();
    let execution = environment.run(&environment.initial_states()[0], &calls).unwrap();
    let observations = execution.observations.into_iter();
    observations
        .map(|seen| if seen.failure.is_some() { json!({"failed": seen.result}) } else { seen.result })
        .collect()
}

#[test]
fn the_sample_has_what_it_promises() {
    let sample = sample();
    assert_eq!(sample.functions().len(), 25);
    assert_eq!(sample.shared.model.tables.len(), 5);
    assert_eq!(sample.initial_states().len(), 3);
    for (state, table) in sample
        .initial_states()
        .iter()
        .flat_map(|state| sample.shared.model.tables.iter().map(move |table| (state, table)))
    {
        let n_rows = state.value[&table.name].as_array().unwrap().len();
        assert!((8..=20).contains(&n_rows), "{} of {} has {n_rows} rows", table.name, state.name);
    }
    let writes = sample.functions().iter().filter(|function| function.effect == Some(Effect::Writes)).count();
    assert_eq!(writes, 14);
}
