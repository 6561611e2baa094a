//! The eight stateful classes of the official evaluator: all functions, and the published calls of `multi_turn_base`.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests write small files to temporary folders"
)]
#![cfg(unix)]

mod common;

use std::path::Path;
use std::process::Command;

use callsieve_environment::call::Call;
use callsieve_environment::environment::InitialState;
use callsieve_environment::settings::EnvironmentSettings;
use rayon::prelude::*;
use serde_json::Value;

/// Prints a line for each entry: its initial state, and its published calls with the names of parameters.
const PROGRAMS: &str = r#"
import ast, importlib, inspect, json, os, bfcl_eval
data = os.path.join(os.path.dirname(bfcl_eval.__file__), "data")
package = "bfcl_eval.eval_checker.multi_turn_eval.func_source_code."
parameters = {}
for module in ["gorilla_file_system", "math_api", "message_api", "posting_api", "ticket_api", "trading_bot", "travel_booking",
               "vehicle_control"]:
    for _, cls in inspect.getmembers(importlib.import_module(package + module), inspect.isclass):
        for name, function in inspect.getmembers(cls, inspect.isfunction):
            parameters[name] = list(inspect.signature(function).parameters)[1:]
answers = {}
with open(os.path.join(data, "possible_answer", "BFCL_v4_multi_turn_base.json")) as file:
    for line in file:
        answer = json.loads(line)
        answers[answer["id"]] = answer["ground_truth"]
with open(os.path.join(data, "BFCL_v4_multi_turn_base.json")) as file:
    for line in file:
        entry = json.loads(line)
        calls = []
        for text in [text for turn in answers[entry["id"]] for text in turn]:
            call = ast.parse(text, mode="eval").body
            arguments = {keyword.arg: ast.literal_eval(keyword.value) for keyword in call.keywords}
            for name, value in zip(parameters[call.func.id], call.args):
                arguments[name] = ast.literal_eval(value)
            calls.append({"name": call.func.id, "arguments": arguments})
        print(json.dumps({"state": entry["initial_config"], "calls": calls}))
"#;

#[test]
fn the_published_calls_of_the_official_classes_run_without_an_error_and_the_same_again() {
    let Some(folder) = callsieve_testkit::data::path("bfcl-venv") else { return };
    let python = folder.join("bin/python");
    let output = Command::new(&python).args(["-c", PROGRAMS]).output().unwrap();
    if String::from_utf8_lossy(&output.stderr).contains("No module named 'mpmath'") {
        // The evaluator of single calls does not need it, and its environment may lack it.
        return;
    }
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let programs: Vec<(InitialState, Vec<Call>)> = String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(|line| {
            let mut program: Value = serde_json::from_str(line).unwrap();
            let state = InitialState { name: "published".to_owned(), value: program["state"].take() };
            (state, serde_json::from_value(program["calls"].take()).unwrap())
        })
        .collect();
    assert_eq!(programs.len(), 200);
    let settings = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/bfcl-classes/environment.toml");
    let mut settings = EnvironmentSettings::read(&settings).unwrap();
    if let EnvironmentSettings::Python(settings) = &mut settings {
        settings.python = python;
    }
    let environment = settings.open(&common::supervisor()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((environment.functions().len(), environment.initial_states().len()), (128, 195));
    assert!(environment.functions().iter().all(|function| function.doc.contains_key("response")));
    let failures: usize = programs
        .par_iter()
        .map(|(state, calls)| {
            let first = environment.run(state, calls).unwrap();
            assert_eq!(first, environment.run(state, calls).unwrap());
            assert!(first.state_hash.is_some());
            first.observations.iter().filter(|seen| seen.failure.is_some()).count()
        })
        .sum();
    assert_eq!(failures, 0);
    let n_calls: usize = programs.iter().map(|(_, calls)| calls.len()).sum();
    assert_eq!(n_calls, 1142);
    for (state, calls) in programs.iter().step_by(40) {
        assert_eq!(environment.run_fresh(state, calls).unwrap(), environment.run(state, calls).unwrap());
    }
}
