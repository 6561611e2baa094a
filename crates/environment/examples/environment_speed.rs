//! Runs programs of a file in an environment, and prints how many ran, failed and differed, and how fast.
//!
//! `cargo run --release -p callsieve-environment --example environment_speed -- SUPERVISOR SETTINGS [PROGRAMS] [--repeat N]
//! [--fresh | --explore]`. A line of PROGRAMS is `{"state": …, "calls": [{"name", "arguments"}]}`; without it, each initial state runs
//! every function once, without arguments. With `--random N`, N programs of five calls are drawn from the sources of values
//! that the environment knows.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::cast_precision_loss,
    reason = "a program for developers"
)]

use std::collections::BTreeMap;
use std::time::Instant;

use callsieve_environment::call::Call;
use callsieve_environment::canonical::state_hash;
use callsieve_environment::environment::{Environment, Execution, InitialState, ValueSource};
use callsieve_environment::process::Supervisor;
use callsieve_environment::settings::EnvironmentSettings;
use rayon::prelude::*;
use serde_json::{Map, Value};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let is_fresh = arguments.iter().any(|argument| argument == "--fresh");
    let is_explored = arguments.iter().any(|argument| argument == "--explore");
    let value_of = |name: &str| -> Option<usize> {
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.get(at + 1)?.parse().ok()
    };
    let repeat = value_of("--repeat").unwrap_or(1);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let supervisor = Supervisor { command: vec![arguments[0].clone().into()], path };
    let settings = EnvironmentSettings::read(arguments[1].as_ref()).unwrap_or_else(|error| panic!("{error}"));
    let start = Instant::now();
    let environment = settings.open(&supervisor).unwrap_or_else(|error| panic!("{error}"));
    println!(
        "{}: {} functions, {} initial states, opened in {:?}, conditions {:?}",
        environment.name(),
        environment.functions().len(),
        environment.initial_states().len(),
        start.elapsed(),
        environment.conditions()
    );
    let programs = match arguments.get(2).filter(|argument| !argument.starts_with("--")) {
        Some(file) => read_programs(file),
        None => match value_of("--random") {
            Some(n_programs) => random_programs(&*environment, n_programs),
            None => every_function(&*environment),
        },
    };
    let programs: Vec<&(InitialState, Vec<Call>)> = (0..repeat).flat_map(|_| &programs).collect();
    let start = Instant::now();
    let run = |program: &&(InitialState, Vec<Call>)| {
        let (state, calls) = program;
        let run = match (is_fresh, is_explored) {
            (true, _) => environment.run_fresh(state, calls),
            (false, true) => environment.explore(state, calls),
            (false, false) => environment.run_to_hash(state, calls),
        };
        // The hash stands for the state: all states together fill the memory.
        Execution { end_state: None, ..run.unwrap_or_else(|error| panic!("{error}")) }
    };
    let executions: Vec<Execution> = programs.par_iter().map(run).collect();
    let seconds = start.elapsed().as_secs_f64();
    let n_calls: usize = executions.iter().map(|execution| execution.observations.len()).sum();
    let mut failures: BTreeMap<&str, usize> = BTreeMap::new();
    for failure in
        executions.iter().flat_map(|execution| &execution.observations).filter_map(|seen| seen.failure)
    {
        *failures.entry(failure.name()).or_default() += 1;
    }
    println!(
        "{} programs, {n_calls} calls, {:.1} programs/s, failures {failures:?}",
        programs.len(),
        programs.len() as f64 / seconds
    );
    let again: Vec<Execution> = programs.par_iter().map(run).collect();
    let n_differ = executions.iter().zip(&again).filter(|(first, second)| first != second).count();
    let digest = state_hash(&serde_json::to_value(&executions).unwrap());
    println!("{digest} is the hash of all observations and states");
    let n_states = executions.iter().filter(|execution| execution.state_hash.is_some()).count();
    println!("{n_differ} differ when they run again, {n_states} have an end state");
    for (program, execution) in programs.iter().zip(&executions).take(1000) {
        for (call, seen) in
            program.1.iter().zip(&execution.observations).filter(|(_, seen)| seen.failure.is_some())
        {
            if std::env::var_os("SHOW").is_some() {
                println!(
                    "{}: {} {} -> {}",
                    program.0.name,
                    call.name,
                    Value::Object(call.arguments.clone()),
                    seen.result
                );
            }
        }
    }
}

fn read_programs(file: &str) -> Vec<(InitialState, Vec<Call>)> {
    let text = std::fs::read_to_string(file).unwrap();
    let programs = text.lines().enumerate().map(|(line, text)| {
        let program: Value = serde_json::from_str(text).unwrap();
        let state = InitialState { name: format!("line {}", line + 1), value: program["state"].clone() };
        (state, serde_json::from_value(program["calls"].clone()).unwrap())
    });
    programs.collect()
}

fn every_function(environment: &dyn Environment) -> Vec<(InitialState, Vec<Call>)> {
    let calls = environment.functions().iter().map(|function| Call::new(function.name(), Map::new()));
    let calls: Vec<Call> = calls.collect();
    environment.initial_states().iter().map(|state| (state.clone(), calls.clone())).collect()
}

fn random_programs(environment: &dyn Environment, n_programs: usize) -> Vec<(InitialState, Vec<Call>)> {
    let sources = environment.value_sources();
    let mut seed = 1_u64;
    let mut draw = |n: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(seed >> 33).unwrap() % n.max(1)
    };
    let mut program = |number: usize| {
        let state = &environment.initial_states()[number % environment.initial_states().len()];
        let mut calls = Vec::new();
        for _ in 0..5 {
            let function = &environment.functions()[draw(environment.functions().len())];
            let mut arguments = Map::new();
            for (name, schema) in function.parameters() {
                let mut pool = schema["enum"].as_array().cloned().unwrap_or_default();
                for source in &sources {
                    if source.function == function.name() && source.parameter == name {
                        match &source.source {
                            ValueSource::State { path } => pool.extend(path.find(&state.value)),
                            ValueSource::Values(values) | ValueSource::Recorded(values) => {
                                pool.extend(values.iter().cloned());
                            }
                            ValueSource::Result { .. } => {}
                        }
                    }
                }
                if !pool.is_empty() {
                    let place = draw(pool.len());
                    arguments.insert(name.to_owned(), pool.swap_remove(place));
                }
            }
            calls.push(Call::new(function.name(), arguments));
        }
        (state.clone(), calls)
    };
    (0..n_programs).map(&mut program).collect()
}
