//! Runs the programs of an instruction set again, and counts those whose results and end states are those of the file.
//!
//! `cargo run --release -p callsieve-instruct --example replay -- PROGRAMS.jsonl ENVIRONMENT.toml [SUPERVISOR [N]]`. Every
//! program runs in a fresh episode, and N of them, by default 50 over the whole file, in newly started processes as well.
//! SUPERVISOR is the program `callsieve-supervisor`. The exit code is 1 if anything differs.

#![allow(clippy::print_stdout, clippy::disallowed_methods, reason = "a program for developers")]

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

use callsieve_environment::call::{Call, Failure};
use callsieve_environment::environment::{Environment, Execution};
use callsieve_environment::process::Supervisor;
use callsieve_environment::settings::EnvironmentSettings;
use callsieve_instruct::record::Record;

/// Programs that run in newly started processes as well.
const FRESH: usize = 50;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [programs, settings, others @ ..] = &arguments[..] else {
        return Err("expected PROGRAMS.jsonl ENVIRONMENT.toml [SUPERVISOR [N]]".into());
    };
    let supervisor = Supervisor {
        command: others.iter().take(1).map(Into::into).collect(),
        path: std::env::var_os("PATH").unwrap_or_default(),
    };
    let n_fresh = others.get(1).map_or(Ok(FRESH), |number| number.parse())?;
    let environment = EnvironmentSettings::read(Path::new(settings))?.open(&supervisor)?;
    let text = std::fs::read_to_string(programs)?;
    let records = text.lines().map(serde_json::from_str).collect::<Result<Vec<Record>, _>>()?;
    let mut differ = 0;
    for (nth, record) in records.iter().enumerate() {
        differ += usize::from(!is_same(record, &*environment, false, nth)?);
    }
    println!("{} of {} programs are the same in a fresh episode", records.len() - differ, records.len());
    let every = records.len().div_ceil(n_fresh.max(1)).max(1);
    let (mut n_run, mut differ_fresh) = (0, 0);
    for (nth, record) in records.iter().enumerate().step_by(every).take(n_fresh) {
        n_run += 1;
        differ_fresh += usize::from(!is_same(record, &*environment, true, nth)?);
    }
    println!("{} of {n_run} programs are the same in new processes", n_run - differ_fresh);
    Ok(if differ + differ_fresh == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Whether the calls of a record return what it says, and end in its state. A record without calls is.
fn is_same(
    record: &Record,
    environment: &dyn Environment,
    is_fresh: bool,
    nth: usize,
) -> Result<bool, Box<dyn Error>> {
    if record.calls.is_empty() {
        return Ok(true);
    }
    let state = environment.initial_states().iter().find(|state| state.name == record.state);
    let state = state.ok_or_else(|| format!("line {}: no initial state \"{}\"", nth + 1, record.state))?;
    let calls: Vec<Call> =
        record.calls.iter().map(|call| Call::new(call.name.clone(), call.arguments.clone())).collect();
    let Execution { observations, state_hash, .. } =
        if is_fresh { environment.run_fresh(state, &calls)? } else { environment.run(state, &calls)? };
    let results = observations.iter().zip(&record.calls).position(|(seen, call)| {
        seen.result != call.result || seen.failure.map(Failure::name) != call.failure.as_deref()
    });
    if let Some(at) = results {
        println!("line {}: call {} returns {}", nth + 1, at + 1, observations[at].result);
    } else if state_hash != record.end_state {
        println!("line {}: the state at the end differs", nth + 1);
    }
    Ok(results.is_none() && state_hash == record.end_state)
}
