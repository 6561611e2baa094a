//! Prints how many tests did not run because of missing data. It is the last test binary of the program, and has no test runner that
//! would capture its output.
//!
//! It also checks the list itself: each test exists, and CONTRIBUTING describes each part.

#![allow(clippy::print_stdout, clippy::disallowed_methods)] // Its output is what it is for.

use std::collections::BTreeSet;
use std::path::Path;

use callsieve_testkit::data::{self, DataPart, PARTS};
use callsieve_testkit::tools::{self, TOOLS};

fn main() {
    // Other test runners request a list of tests from each binary; this one has none.
    if std::env::args().any(|argument| argument == "--list") {
        return;
    }
    assert_list_is_true();
    let tests = |parts: &[&DataPart]| -> BTreeSet<&str> {
        parts.iter().flat_map(|part| part.tests.iter().copied()).collect()
    };
    // The tests of the model are in builds with local models.
    let parts = || PARTS.iter().filter(|part| part.path != data::MINILM || cfg!(feature = "models"));
    let missing: Vec<&DataPart> = parts().filter(|part| !data::folder().join(part.path).exists()).collect();
    let (n_all, n_not_run) = (tests(&parts().collect::<Vec<_>>()).len(), tests(&missing).len());
    println!();
    report_tools();
    if missing.is_empty() {
        println!("data: all {n_all} tests that need data from outside the repository had it");
        return;
    }
    let names: Vec<&str> = missing.iter().map(|part| part.path).collect();
    println!(
        "data: {n_not_run} of {n_all} tests that need data from outside the repository DID NOT RUN: {} lacks {} (see CONTRIBUTING.md, Data for tests)",
        data::folder().display(),
        names.join(", ")
    );
    let required: Vec<&&DataPart> = missing.iter().filter(|part| !part.is_optional).collect();
    if data::is_required() && !required.is_empty() {
        println!("data: {} is 1, so this is a failure", data::REQUIRED);
        std::process::exit(1);
    }
}

/// Prints how many tests did not run because a program is missing.
fn report_tools() {
    for tool in TOOLS.iter().filter(|tool| !tools::is_there(tool.command)) {
        let (n_tests, command) = (tool.tests.len(), tool.command);
        println!("tools: {n_tests} tests that need {command} DID NOT RUN: there is no {command} on PATH");
    }
}

/// Checks that every test of the list exists, and that CONTRIBUTING describes every part.
fn assert_list_is_true() {
    let project = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut sources = String::new();
    for folder in ["src", "crates", "tests"] {
        read_sources(&project.join(folder), &mut sources);
    }
    let described =
        std::fs::read_to_string(project.join("CONTRIBUTING.md")).expect("CONTRIBUTING.md is there");
    for test in TOOLS.iter().flat_map(|tool| tool.tests) {
        assert!(sources.contains(&format!("fn {test}()")), "there is no test {test}");
    }
    for part in PARTS {
        assert!(
            described.contains(&format!("`{}`", part.path)),
            "CONTRIBUTING.md does not describe {}",
            part.path
        );
        for test in part.tests {
            assert!(sources.contains(&format!("fn {test}()")), "{}: there is no test {test}", part.path);
        }
    }
}

fn read_sources(folder: &Path, sources: &mut String) {
    for entry in std::fs::read_dir(folder).expect("the sources are there") {
        let path = entry.expect("the sources are there").path();
        if path.is_dir() {
            read_sources(&path, sources);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            sources.push_str(&std::fs::read_to_string(&path).expect("sources are text"));
        }
    }
}
