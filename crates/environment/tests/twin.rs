//! The sample as a declared environment and as an MCP server: the same docs, results, errors and states.

#![allow(clippy::unwrap_used, reason = "a test")]
#![cfg(unix)]

mod common;

use std::path::Path;

use callsieve_environment::call::{Call, Failure};
use callsieve_environment::declared::{Declared, DeclaredSettings};
use callsieve_environment::environment::{Environment, ValueSource};
use callsieve_environment::settings::EnvironmentSettings;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRng, TestRunner};
use serde_json::{Map, Value, json};

/// Calls that are compared, in programs of this many.
const N_PROGRAMS: usize = 60;
const N_CALLS: usize = 40;

fn root() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the two environments; `None` if there is no Python.
fn twins() -> Option<(Declared, Box<dyn Environment>)> {
    callsieve_testkit::tools::python3()?;
    let file = root().join("raw/repair-shop.toml");
    let declared = Declared::open(&DeclaredSettings { file }).unwrap_or_else(|error| panic!("{error}"));
    let settings = EnvironmentSettings::read(&root().join("examples/repair-shop/environment.toml"));
    let twin = settings.and_then(|settings| settings.open(&common::supervisor()));
    Some((declared, twin.unwrap_or_else(|error| panic!("{error}"))))
}

/// Draws an argument: a value of the state, of the doc, or a wrong one.
fn argument(
    declared: &Declared,
    state: &Value,
    function: &str,
    name: &str,
    schema: &Value,
    rng: &mut TestRng,
) -> Value {
    let draw = rng.next_u32();
    if draw.is_multiple_of(23) {
        return [json!(null), json!("X-1"), json!(-1), json!(2.5), json!(true), json!([])]
            [draw as usize / 23 % 6]
            .clone();
    }
    let mut pool: Vec<Value> = schema["enum"].as_array().cloned().unwrap_or_default();
    for source in declared.value_sources() {
        if source.function == function && source.parameter == name {
            match source.source {
                ValueSource::State { path } => pool.extend(path.find(state)),
                ValueSource::Values(values) | ValueSource::Recorded(values) => pool.extend(values),
                ValueSource::Result { .. } => {}
            }
        }
    }
    if pool.is_empty() {
        pool = match schema["type"].as_str() {
            Some("integer" | "number") => vec![json!(1), json!(2), json!(7), json!(20)],
            _ => vec![json!("2026-03-10"), json!("2026-03-20"), json!("a"), json!("2026-02-01")],
        };
    }
    pool.swap_remove(rng.next_u32() as usize % pool.len())
}

fn program(declared: &Declared, state: &Value, rng: &mut TestRng) -> Vec<Call> {
    let draw = |_| {
        let function = &declared.functions()[rng.next_u32() as usize % declared.functions().len()];
        let required = function.doc["parameters"]["required"].as_array().cloned().unwrap_or_default();
        let mut arguments = Map::new();
        for (name, schema) in function.parameters() {
            let is_given = if required.contains(&json!(name)) {
                !rng.next_u32().is_multiple_of(40)
            } else {
                rng.next_u32().is_multiple_of(3)
            };
            if is_given {
                arguments
                    .insert(name.to_owned(), argument(declared, state, function.name(), name, schema, rng));
            }
        }
        Call::new(function.name(), arguments)
    };
    (0..N_CALLS).map(draw).collect()
}

#[test]
fn the_sample_and_its_server_have_the_same_docs() {
    let Some((declared, twin)) = twins() else { return };
    assert_eq!(declared.functions(), twin.functions());
    assert_eq!(declared.initial_states(), twin.initial_states());
}

#[test]
fn random_calls_have_the_same_results_in_the_sample_and_its_server() {
    let Some((declared, twin)) = twins() else { return };
    let mut runner = TestRunner::deterministic();
    let (mut n_good, mut n_refused, mut seen_functions) = (0, 0, std::collections::BTreeSet::new());
    for n in 0..N_PROGRAMS {
        let state = &declared.initial_states()[n % declared.initial_states().len()];
        let calls = program(&declared, &state.value, runner.rng());
        let (ours, theirs) = (declared.run(state, &calls).unwrap(), twin.run(state, &calls).unwrap());
        for ((call, ours), theirs) in calls.iter().zip(&ours.observations).zip(&theirs.observations) {
            assert_eq!((&ours.result, ours.failure), (&theirs.result, theirs.failure), "{call:?}");
            match ours.failure {
                None => {
                    n_good += 1;
                    seen_functions.insert(call.name.clone());
                }
                Some(failure) => {
                    assert_eq!(failure, Failure::ErrorResult);
                    n_refused += 1;
                }
            }
        }
        assert_eq!(ours.state_hash, theirs.state_hash);
        if n % 10 == 0 {
            assert_eq!(twin.run_fresh(state, &calls).unwrap(), theirs);
        }
    }
    assert!(n_good > 300 && n_refused > 100, "{n_good} good, {n_refused} refused");
    let names = seen_functions.into_iter().collect::<Vec<_>>();
    assert!(names.len() >= 20, "only {names:?} succeeded");
}

proptest! {
    #![proptest_config(Config { cases: 200, ..Config::default() })]

    #[test]
    fn any_call_of_the_sample_is_an_observation(name in "[a-z_]{3,20}", arguments in callsieve_testkit::arbitrary::json_value(), which in 0usize..25) {
        let text = include_str!("../../../raw/repair-shop.toml");
        let declared = Declared::read("sample", text).unwrap();
        let members = arguments.as_object().cloned().unwrap_or_default();
        let state = &declared.initial_states()[0];
        let known = declared.functions()[which].name().to_owned();
        let first = known.as_str();
        let mut with_names = Map::new();
        for (parameter, _) in declared.functions()[which].parameters() {
            with_names.insert(parameter.to_owned(), arguments.clone());
        }
        let calls = [Call::new(name, members), Call::new(first, with_names)];
        let execution = declared.run(state, &calls).unwrap();
        prop_assert_eq!(execution.observations.len(), 2);
        prop_assert_eq!(&execution, &declared.run(state, &calls).unwrap());
    }
}
