//! Makes instructions over an environment, and prints some of them with the reasons of the others.
//!
//! `cargo run --release -p callsieve-programs --example make_instructions -- ENVIRONMENT.toml N [BINDINGS.toml [SUPERVISOR]]`.
//! SUPERVISOR is the program `callsieve-supervisor`, which environments with processes need.

use std::collections::BTreeMap;
use std::path::PathBuf;

use callsieve_environment::process::Supervisor;
use callsieve_environment::settings::EnvironmentSettings;
use callsieve_programs::bindings::Bindings;
use callsieve_programs::generate::{Generation, Settings, Tally};
use callsieve_programs::wording::templates::Templates;

#[allow(clippy::print_stdout)] // It is what the example does.
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(file), Some(wanted)) = (arguments.next(), arguments.next()) else {
        return Err("expected ENVIRONMENT.toml N [BINDINGS.toml]".into());
    };
    let wanted: usize = wanted.parse()?;
    let (bindings, supervisor) = (arguments.next(), arguments.next());
    let supervisor = Supervisor {
        command: supervisor.into_iter().map(Into::into).collect(),
        path: std::env::var_os("PATH").unwrap_or_default(),
    };
    let environment = EnvironmentSettings::read(&PathBuf::from(file))?.open(&supervisor)?;
    let bindings = match bindings {
        Some(file) => Bindings::read(&PathBuf::from(file), &*environment)?,
        None => Bindings::default(),
    };
    let templates = Templates::english();
    let mut generation = Generation::new(&*environment, &bindings, &templates, Settings::default());
    let (mut accepted, mut rejected) = (Vec::new(), BTreeMap::<&str, (u64, String)>::new());
    let mut tally = Tally::default();
    while accepted.len() < wanted && generation.candidates() < 200_000 {
        for outcome in generation.next_round(&|| false)?.into_iter().flatten() {
            tally.add(&outcome);
            match outcome.outcome {
                Ok(instruction) => accepted.push(instruction),
                Err(rejection) => {
                    let of_reason = rejected.entry(rejection.reason.code()).or_default();
                    of_reason.0 += 1;
                    of_reason.1 = rejection.detail;
                }
            }
        }
    }
    accepted.truncate(wanted);
    for instruction in accepted.iter().take(140) {
        println!("[{}, {}]", instruction.stratum.name(), instruction.style.name());
        for turn in &instruction.turns {
            println!("  user: {}", turn.user.text);
            for step in turn.steps.clone() {
                let (call, seen) = &instruction.executed.calls[step];
                let arguments = serde_json::Value::Object(call.arguments.clone());
                let used: Vec<String> = instruction.program.steps[step]
                    .references()
                    .map(|(parameter, place)| format!("{parameter} = {place}"))
                    .collect();
                let result: String = seen.result.to_string().chars().take(140).collect();
                println!("    {}{arguments} {} -> {result}", call.name, used.join(", "));
            }
            println!("  assistant: {}", turn.answer.text);
        }
    }
    let dependent = accepted.iter().filter(|instruction| instruction.program.has_dependency()).count();
    println!("{dependent} with a value of an earlier result");
    println!("{} accepted of {} candidates", accepted.len(), generation.candidates());
    for (code, (n, example)) in rejected {
        println!("{n:8} {code} ({example})");
    }
    println!("{}", serde_json::to_string_pretty(&generation.coverage(&tally))?);
    Ok(())
}
