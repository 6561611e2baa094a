//! Tests of `callsieve evaluate --engine official`: with programs that stand for the package's Python, and with the package.

use std::fs;

use serde_json::{Value, json};

use super::{Bench, lines, verdicts};
use crate::support::{callsieve, shown};
use callsieve_testkit::data;

/// Returns a dataset with a multi-turn category of three entries, and outputs for it.
fn multi_turn() -> Bench {
    let bench = Bench::new();
    let id = |n: usize| format!("multi_turn_base_{n}");
    let question = |n| json!({"id": id(n), "question": [[]], "initial_config": {}, "involved_classes": []});
    let truth = |n| json!({"id": id(n), "ground_truth": [["ring()"]]});
    let row = |n| json!({"id": id(n), "result": [["[ring()]", "Done."]]});
    let all = |of: &dyn Fn(usize) -> Value| lines(&(0..3).map(of).collect::<Vec<_>>());
    bench.write("dataset/BFCL_v4_multi_turn_base.json", &all(&question));
    bench.write("dataset/possible_answer/BFCL_v4_multi_turn_base.json", &all(&truth));
    bench.write("model/multi_turn/BFCL_v4_multi_turn_base_result.json", &all(&row));
    bench
}

/// Writes a Python that answers the second output in this way, and others as wrong.
fn with_python(bench: &Bench, second: &str) {
    let script = format!(
        r#"#!/bin/sh
echo '{{"version": "9", "network": "none", "files": "read-only"}}'
n=0
while read -r line; do
  case "$line" in
    *'"id":"multi_turn_base_1"'*) {second} ;;
    *) echo "{{\"n\": $n, \"valid\": false, \"error_type\": \"multi_turn:x\", \"error\": [\"no\"]}}" ;;
  esac
  n=$((n + 1))
done
"#
    );
    bench.write("venv/bin/python", &script);
    let python = bench.path("venv/bin/python");
    fs::set_permissions(python, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
}

fn with_package(bench: &Bench, more: &[&str]) -> std::process::Output {
    package_command(bench, more).output().unwrap()
}

fn package_command(bench: &Bench, more: &[&str]) -> std::process::Command {
    let mut command = callsieve();
    command.current_dir(bench.folder.path()).env("BFCL_VENV", "venv");
    command
        .args(["evaluate", "--dataset", "dataset", "--results", "model", "--engine", "official"])
        .args(more);
    command
}

#[test]
fn without_the_official_package_the_error_has_the_command_that_installs_it() {
    let bench = multi_turn();
    let output = with_package(&bench, &[]);
    assert_eq!(output.status.code(), Some(2));
    let text = shown(&output);
    assert!(
        text.contains(
            "hint: install it with: python3 -m venv venv && venv/bin/pip install --no-deps bfcl-eval=="
        ),
        "{text}"
    );
    bench.write("venv/bin/python", "#!/bin/sh\necho 'No module named bfcl_eval' >&2\nexit 1\n");
    let python = bench.path("venv/bin/python");
    fs::set_permissions(python, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let output = with_package(&bench, &[]);
    assert_eq!(output.status.code(), Some(2));
    let text = shown(&output);
    for expected in ["No module named bfcl_eval", "hint: install it again with: python3 -m venv venv"] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
}

#[test]
fn the_official_package_scores_multi_turn_outputs() {
    let bench = multi_turn();
    with_python(&bench, r#"echo "{\"n\": $n, \"valid\": true}""#);
    let output = with_package(&bench, &[]);
    let text = shown(&output);
    assert!(output.status.success(), "{text}");
    for expected in [
        "Verdicts by bfcl-eval 9; network of its process: none; files: read-only.",
        "warning: the verdicts are those of bfcl-eval 9; this program knows",
        "multi_turn:x",
        "A mean of BFCL needs outputs of all its categories",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    let output = with_package(&bench, &["--verdicts", "-"]);
    let all = verdicts(&String::from_utf8(output.stdout).unwrap());
    let valid: Vec<&Value> = all.iter().map(|verdict| &verdict["valid"]).collect();
    assert_eq!(valid, [false, true, false]);
}

#[test]
fn an_output_at_which_the_package_fails_is_wrong_and_moves_no_verdict() {
    for second in ["exit 1", "echo garbage", ":", "echo '{\"valid\": true}'"] {
        let bench = multi_turn();
        with_python(&bench, second);
        let output = with_package(&bench, &["--verdicts", "-"]);
        assert!(output.status.success(), "{second}: {}", shown(&output));
        let all = verdicts(&String::from_utf8(output.stdout).unwrap());
        let found: Vec<(&Value, &Value)> = all.iter().map(|of| (&of["id"], &of["error_type"])).collect();
        let expected = [
            (&json!("multi_turn_base_0"), &json!("multi_turn:x")),
            (&json!("multi_turn_base_1"), &json!("evaluator:abort")),
            (&json!("multi_turn_base_2"), &json!("multi_turn:x")),
        ];
        assert_eq!(found, expected, "{second}");
    }
}

/// However this program ends, what an output executes does not go on.
#[cfg(target_os = "linux")]
#[test]
fn the_process_ends_with_a_program_that_is_killed() {
    let bench = multi_turn();
    let mark = format!("hang-{}", std::process::id());
    with_python(&bench, &format!("exec sh -c 'while :; do sleep 1; done' {mark}"));
    let is_there = || {
        let processes = fs::read_dir("/proc").unwrap().flatten();
        let lines = processes.filter_map(|process| fs::read(process.path().join("cmdline")).ok());
        lines.into_iter().any(|line| {
            String::from_utf8_lossy(&line).contains(&format!("sh\0-c\0while :; do sleep 1; done\0{mark}"))
        })
    };
    let wait_until = |wanted: bool| {
        for _ in 0..200 {
            if is_there() == wanted {
                return true;
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        false
    };
    for signal in ["KILL", "TERM", "INT"] {
        let mut command = package_command(&bench, &[]);
        let mut child =
            command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn().unwrap();
        assert!(wait_until(true), "{signal}: the process has not begun");
        let pid = child.id().to_string();
        assert!(std::process::Command::new("kill").args(["-s", signal, &pid]).status().unwrap().success());
        child.wait().unwrap();
        assert!(wait_until(false), "{signal}: the process goes on");
    }
}

#[test]
fn rules_that_the_package_does_not_have_are_refused_before_it_is_searched() {
    for more in [["--mode", "strict"], ["--matching", "maximum"]] {
        let output = with_package(&multi_turn(), &more);
        assert_eq!(output.status.code(), Some(2));
        assert!(shown(&output).contains("the package has no --mode strict and no --matching maximum"));
    }
}

/// With the installed package: `bfcl-venv` in the data folder is its environment.
#[test]
fn an_output_that_executes_code_changes_no_other_verdict_and_sees_no_key() {
    let Some(environment) = data::path("bfcl-venv") else { return };
    let bench = Bench::new();
    let question = |n: usize| {
        json!({"id": format!("multi_turn_base_{n}"), "question": [[]], "initial_config": {"GorillaFileSystem": {"root": {
            "home": {"type": "directory", "contents": {}}}}}, "involved_classes": ["GorillaFileSystem"]})
    };
    let truth =
        |n: usize| json!({"id": format!("multi_turn_base_{n}"), "ground_truth": [["mkdir(dir_name='a')"]]});
    // The services import the module.
    let out_of_reach = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let leak = out_of_reach.path().join("leak");
    let command = format!(
        "(/bin/cat /proc/self/environ /proc/$PPID/environ; /usr/bin/env) > {}; echo '{{\"valid\": true}}'; /bin/sleep 300 &",
        leak.display()
    );
    let attack = json!([{"inspect.os.system": json!({"command": command}).to_string()}]);
    let right = json!([{"mkdir": "{\"dir_name\": \"a\"}"}]);
    let rows = [
        json!({"id": "multi_turn_base_0", "result": [[attack]]}),
        json!({"id": "multi_turn_base_1", "result": [[right, "Done."]]}),
        json!({"id": "multi_turn_base_2", "result": [["Nothing."]]}),
    ];
    bench.write("dataset/BFCL_v4_multi_turn_base.json", &lines(&[question(0), question(1), question(2)]));
    let truths = lines(&[truth(0), truth(1), truth(2)]);
    bench.write("dataset/possible_answer/BFCL_v4_multi_turn_base.json", &truths);
    bench.write("model/multi_turn/BFCL_v4_multi_turn_base_result.json", &lines(&rows));
    let score = |path: &str| {
        let start = std::time::Instant::now();
        let output = callsieve()
            .current_dir(bench.folder.path())
            .env("BFCL_VENV", &environment)
            .env("SOME_PASSWORD", "hunter2")
            .env("PATH", path)
            .args(["evaluate", "--dataset", "dataset", "--results", "model", "--engine", "official"])
            .args(["--verdicts", "-"])
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", shown(&output));
        assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
        let all = verdicts(&String::from_utf8(output.stdout.clone()).unwrap());
        let valid: Vec<&Value> = all.iter().map(|verdict| &verdict["valid"]).collect();
        assert_eq!(valid, [false, true, false], "{all:#?}");
        // The package itself gives the calls of wrong outputs only.
        assert_eq!(all[1]["decoded"], json!([[["mkdir(dir_name='a')"], []]]), "{all:#?}");
        shown(&output)
    };
    // Where the system isolates processes, no file can be written; otherwise it can, which shows that the attack is executed.
    let text = score(&std::env::var("PATH").unwrap());
    assert!(leak.exists() == text.contains("files: writable"), "{text}");
    let text = score("/nowhere");
    assert!(text.contains("files: writable"), "{text}");
    let seen = fs::read(&leak).unwrap();
    assert!(!seen.is_empty() && !String::from_utf8_lossy(&seen).contains("hunter2"));
}
