//! The protocol with the process of the package, with a program that stands for its Python.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;

use serde_json::json;
use tempfile::TempDir;

use super::*;
use crate::results;

/// Writes an environment whose Python is a shell script.
fn environment(script: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let python = folder.path().join("bin/python");
    std::fs::create_dir(folder.path().join("bin")).unwrap();
    std::fs::write(&python, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&python, std::fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

/// Scores four outputs, whose texts are `0` to `3`.
fn score(script: &str) -> Result<Vec<Scored>> {
    score_with(script, Vec::new())
}

fn score_with(script: &str, variables: Vec<(OsString, OsString)>) -> Result<Vec<Scored>> {
    let environment = environment(script);
    let results = environment.path().join("r.jsonl");
    let lines: String = (0..4)
        .map(|n| format!("{}\n", json!({"id": format!("multi_turn_base_{n}"), "result": [[n.to_string()]]})))
        .collect();
    std::fs::write(&results, lines).unwrap();
    let systems = results::read(&[results], true).unwrap();
    let entry = |n: usize| Entry {
        id: format!("multi_turn_base_{n}"),
        question: Arc::new(json!([])),
        functions: Arc::default(),
        ground_truth: Arc::new(json!([["ring()"]])),
        result_types: Value::Null,
        more: json!({"initial_config": {}}).as_object().unwrap().clone(),
    };
    let category = Category {
        name: "multi_turn_base".to_owned(),
        path: Path::new("q").to_owned(),
        scoring: Scoring::Official(""),
        entries: (0..4).map(entry).collect(),
    };
    let jobs: Vec<Job<'_>> = systems[0]
        .rows
        .iter()
        .enumerate()
        .map(|(at, row)| Job {
            place: (0, at),
            category: &category,
            entry: &category.entries[at],
            row,
            is_calls: false,
            decoding: SystemDecoding::default(),
        })
        .collect();
    let package = Package::find(environment.path())?.with_timeout(Duration::from_secs(2));
    let package = package.with_variables(variables);
    package.score(Checker::default(), &jobs).map(|(scored, _)| scored)
}

const START: &str = r#"echo '{"version": "1", "network": "none"}'
n=0"#;
const VALID: &str =
    r#"echo "{\"n\": $n, \"valid\": true, \"error_type\": null, \"error\": [], \"decoded\": null}""#;
const WRONG: &str =
    r#"echo "{\"n\": $n, \"valid\": false, \"error_type\": \"multi_turn:x\", \"error\": [\"no\"]}""#;

/// Returns a program that answers as the cases of a shell's `case` say.
fn answers(cases: &str) -> String {
    format!("{START}\nwhile read -r line; do\n  case \"$line\" in {cases} esac\n  n=$((n + 1))\ndone")
}

fn types(scored: &[Scored]) -> Vec<&str> {
    scored
        .iter()
        .map(|scored| if scored.valid { "valid" } else { scored.error_type.as_deref().unwrap_or_default() })
        .collect()
}

#[test]
fn each_output_has_the_verdict_of_its_line() {
    let state = r#"*'"initial_config":{}'*"#;
    let script = answers(&format!(r#"{state}'[["2"]]'*) {WRONG} ;; {state}) {VALID} ;;"#));
    assert_eq!(types(&score(&script).unwrap()), ["valid", "valid", "multi_turn:x", "valid"]);
}

#[test]
fn a_copy_of_the_process_spoils_no_other_output() {
    let script = answers(&format!(r#"*'[["0"]]'*) {VALID}; {VALID} ;; *) {VALID} ;;"#));
    assert_eq!(types(&score(&script).unwrap()), ["valid"; 4]);
}

#[test]
fn a_signal_to_all_processes_of_the_group_does_not_leave_it() {
    let script = answers(&format!(r#"*'[["1"]]'*) kill -9 0 ;; *) {VALID} ;;"#));
    assert_eq!(types(&score(&script).unwrap()), ["valid", ABORT, "valid", "valid"]);
}

#[test]
fn an_output_without_a_verdict_is_wrong_and_the_others_are_scored() {
    for (fault, answer) in [
        ("it ends", "exit 1"),
        ("it hangs", "exec sleep 60"),
        ("it hangs in a program of its own", "sleep 60"),
        ("no JSON", "echo garbage"),
        ("no verdict", "echo '{}'"),
        ("a verdict without a number", "echo '{\"valid\": true}'"),
        ("the verdict of another output", r#"echo "{\"n\": 9, \"valid\": true}""#),
        ("a number, no verdict", r#"echo "{\"n\": $n}""#),
        ("a missing line", ":"),
    ] {
        let script = answers(&format!(r#"*'[["1"]]'*) {answer} ;; *) {VALID} ;;"#));
        let start = std::time::Instant::now();
        assert_eq!(types(&score(&script).unwrap()), ["valid", ABORT, "valid", "valid"], "{fault}");
        assert!(start.elapsed() < Duration::from_secs(20), "{fault}: {:?}", start.elapsed());
    }
}

#[test]
fn a_line_that_an_output_writes_between_the_verdicts_moves_no_verdict() {
    let forged = r#"echo '{"valid": true}'; echo '{"n": 2, "valid": true}'"#;
    let script = answers(&format!(r#"*'[["1"]]'*) {forged}; {WRONG} ;; *) {VALID} ;;"#));
    assert_eq!(types(&score(&script).unwrap()), ["valid", ABORT, "valid", "valid"]);
}

#[test]
fn a_program_that_goes_on_after_the_process_does_not_delay_the_verdicts() {
    let script = format!("/bin/sleep 30 &\n{}", answers(&format!("*) {VALID} ;;")));
    // Without a PATH to it there is no unshare, as on other systems.
    for variables in [vec![], vec![("PATH".into(), "/nowhere".into())]] {
        let start = std::time::Instant::now();
        assert_eq!(types(&score_with(&script, variables).unwrap()), ["valid"; 4]);
        assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    }
}

#[test]
fn the_process_has_no_variables_but_those_it_is_given() {
    // The test runner sets this one.
    let is_set = "[ -z \"$CARGO_MANIFEST_DIR\" ] || exit 1";
    let script = format!("{is_set}\n{}", answers(&format!("*) {VALID} ;;")));
    assert_eq!(types(&score(&script).unwrap()), ["valid"; 4]);
}

#[test]
fn an_exception_of_the_package_is_a_fault_of_the_output() {
    let aborted = r#"echo "{\"n\": $n, \"valid\": false, \"aborted\": true, \"error\": [\"KeyError: x\"]}""#;
    let scored = score(&answers(&format!("*) {aborted} ;;"))).unwrap();
    assert_eq!((types(&scored), &scored[0].error), (vec![ABORT; 4], &vec![json!("KeyError: x")]));
}

#[test]
fn a_process_that_does_not_start_is_an_error_with_its_last_words() {
    for (script, expected) in [
        (
            "echo 'No module named bfcl_eval' >&2; exit 1",
            "the process ended\nNo module named bfcl_eval\nhint: install it again with: python3 -m venv",
        ),
        ("echo hello", "its first line is \"hello\""),
        ("exec sleep 60", "no verdict within 2 s"),
    ] {
        let error = score(script).unwrap_err().to_string();
        assert!(error.contains(expected), "{script}: {error}");
    }
    let error = Package::find(Path::new("/nowhere")).unwrap_err().to_string();
    assert!(
        error.contains("install it with: python3 -m venv /nowhere && /nowhere/bin/pip install"),
        "{error}"
    );
}

#[test]
fn the_command_that_installs_is_for_a_shell() {
    let command = install(Path::new("/my folder/it's"));
    assert!(
        command.starts_with(r"python3 -m venv '/my folder/it'\''s' && '/my folder/it'\''s/bin/pip' install "),
        "{command}"
    );
}
