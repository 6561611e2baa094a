//! Tests of the files that a person names: thousands of them, devices and pipes, and outputs that would replace something.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::support::{callsieve, shown};
use serde_json::{Value, json};

/// A request as a line of a log.
fn request(n: usize) -> String {
    let docs = r#"[{"name": "ring", "description": "Rings a bell.", "parameters": {"type": "dict", "required": ["bell"], "properties": {"bell": {"type": "string", "description": "Which bell."}}}}]"#;
    let line = json!({"id": format!("r{n}"), "prompt": format!("Ring bell number {n}"), "function": docs, "response": format!("[ring(bell='{n}')]")});
    format!("{line}\n")
}

/// Writes logs of one request each into folders of a hundred files.
fn logs(folder: &Path, n_files: usize) {
    for n in 0..n_files {
        let inner = folder.join(format!("{:03}", n / 100));
        std::fs::create_dir_all(&inner).unwrap();
        std::fs::write(inner.join(format!("f{n:05}.jsonl")), request(n)).unwrap();
    }
}

fn in_folder(folder: &Path, arguments: &[&str]) -> Output {
    callsieve().current_dir(folder).args(arguments).output().unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn of_many_inputs_a_person_sees_ten_and_their_number_and_a_program_all() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    logs(&at("logs"), 250);
    let plan = text(&in_folder(folder.path(), &["plan", "logs"]));
    let words: Vec<&str> = plan.split_whitespace().collect();
    assert!(
        words.join(" ").contains("inputs 250 files: logs/000/f00000.jsonl, logs/000/f00001.jsonl,"),
        "{plan}"
    );
    assert!(words.join(" ").contains("logs/000/f00009.jsonl and 240 more"), "{plan}");
    assert_eq!(plan.matches(".jsonl").count(), 10, "{plan}");
    let inspected = text(&in_folder(folder.path(), &["inspect", "logs"]));
    assert!(inspected.contains("and 240 more") && !inspected.contains("f00010.jsonl"), "{inspected}");
    let inspected: Value =
        serde_json::from_slice(&in_folder(folder.path(), &["inspect", "logs", "--json"]).stdout).unwrap();
    assert_eq!(inspected["files"].as_array().unwrap().len(), 250);

    let run = in_folder(folder.path(), &["run", "logs", "--out", "a", "--quiet"]);
    assert!(run.status.success(), "{}", shown(&run));
    let read = |name: &str| std::fs::read_to_string(at(name)).unwrap();
    let report: Value = serde_json::from_str(&read("a/report.json")).unwrap();
    let inputs = report["rebuild"]["inputs"].as_array().unwrap();
    assert_eq!(inputs.len(), 250);
    let hashes: Vec<&str> = inputs.iter().map(|input| input["sha256"].as_str().unwrap()).collect();
    let page = read("a/report.html");
    assert_eq!(hashes.iter().filter(|hash| page.contains(*hash)).count(), 10);
    assert!(page.contains("and 240 more, of 250 inputs; report.json lists all."));
    assert!(read("a/dataset/README.md").contains("\nInputs: 250. "));

    // Each file of another run has other bytes.
    for n in 0..250 {
        std::fs::write(at("logs").join(format!("{:03}/f{n:05}.jsonl", n / 100)), request(n + 1_000)).unwrap();
    }
    let run = in_folder(folder.path(), &["run", "logs", "--out", "b", "--quiet"]);
    assert!(run.status.success(), "{}", shown(&run));
    let compared = text(&in_folder(folder.path(), &["compare", "a", "b"]));
    assert!(compared.contains("and 240 more") && compared.matches("logs/000/").count() == 10, "{compared}");
    let compared = in_folder(folder.path(), &["compare", "a", "b", "--json"]);
    let compared: Value = serde_json::from_slice(&compared.stdout).unwrap();
    assert_eq!(compared["inputs"].as_array().unwrap().len(), 250);
}

#[test]
fn an_audit_of_many_training_sets_names_ten_and_writes_each_cleaned_set() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    // All have one name, each in a folder of its own.
    for n in 0..120 {
        std::fs::create_dir_all(at(&format!("train/{n:03}"))).unwrap();
        std::fs::write(at(&format!("train/{n:03}/part.jsonl")), request(n)).unwrap();
    }
    std::fs::write(at("bench.jsonl"), request(7)).unwrap();
    let audit = in_folder(
        folder.path(),
        &["audit", "--train", "train", "--bench", "bench.jsonl", "--bench-format", "rows", "--out", "o"],
    );
    assert!(audit.status.success(), "{}", shown(&audit));
    assert!((0..120).all(|n| at(&format!("o/dataset/{n:03}/part.jsonl")).is_file()));
    let page = std::fs::read_to_string(at("o/report.html")).unwrap();
    assert!(page.contains("and 110 more, of 120 training sets; "), "{page}");
    assert_eq!(page.matches("train/").count(), 10);
    let report: Value = serde_json::from_slice(&std::fs::read(at("o/audit.json")).unwrap()).unwrap();
    assert_eq!(report["train"].as_array().unwrap().len(), 120);
}

/// Runs a command that must end by itself.
fn ended(mut command: Command, limit: Duration) -> Output {
    let mut child =
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).stdin(Stdio::null()).spawn().unwrap();
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > limit {
            child.kill().unwrap();
            panic!("{command:?} runs for more than {limit:?}");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    child.wait_with_output().unwrap()
}

#[cfg(unix)]
#[test]
fn a_device_is_refused_wherever_a_file_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(at("log.jsonl"), request(1)).unwrap();
    let run = in_folder(folder.path(), &["run", "log.jsonl", "--out", "run", "--quiet"]);
    assert!(run.status.success(), "{}", shown(&run));
    for name in ["p.toml", "zero.npy", "BFCL_v4_live_simple.json"] {
        std::os::unix::fs::symlink("/dev/zero", at(name)).unwrap();
    }
    let question = json!({"id": "live_simple_0-0-0", "question": [[{"role": "user", "content": "Ring it"}]],
        "function": [{"name": "ring", "description": "Rings.", "parameters": {"type": "dict", "required": [], "properties": {}}}]});
    let answer = json!({"id": "live_simple_0-0-0", "ground_truth": [{"ring": {}}]});
    std::fs::create_dir_all(at("bench/possible_answer")).unwrap();
    std::fs::write(at("bench/BFCL_v4_live_simple.json"), format!("{question}\n")).unwrap();
    std::fs::write(at("bench/possible_answer/BFCL_v4_live_simple.json"), format!("{answer}\n")).unwrap();
    let zero = "/dev/zero";
    let (names, weights) = (format!("redact.names=\"{zero}\""), format!("judge-queries.weights=\"{zero}\""));
    let cases: [&[&str]; 18] = [
        &["run", "log.jsonl", "--decisions", zero, "--out", "o"],
        &["plan", "log.jsonl", "--decisions", zero],
        &["run", zero, "--out", "o"],
        &["plan", zero],
        &["plan", "p.toml"],
        &["plan", "log.jsonl", "--set", &names],
        &["plan", "log.jsonl", "--set", &weights],
        &["plan", "--cost", "log.jsonl", "--prices", zero],
        &["inspect", zero],
        &["fix", zero],
        &["check", zero],
        &["pairs", zero, "--field", "prompt"],
        &["calibrate", "--run", "run", "--labels", zero],
        &["review", "run", "--import", zero],
        &["calibrate", "--bfcl", "BFCL_v4_live_simple.json"],
        &["audit", "scores", zero],
        &["audit", "--train", zero, "--bench", "log.jsonl", "--bench-format", "rows", "--out", "o"],
        &["batch", "import", zero],
    ];
    let more: [&[&str]; 3] = [
        &["audit", "--train", "log.jsonl", "--bench", zero, "--bench-format", "rows", "--out", "o"],
        &["evaluate", "--dataset", "bench", "--results", zero],
        &["pairs", "log.jsonl", "--field", "prompt", "--metric", "cosine", "--embedder", "file:zero.npy"],
    ];
    for arguments in cases.iter().chain(&more) {
        let mut command = callsieve();
        command.current_dir(folder.path()).args(*arguments);
        let output = ended(command, Duration::from_mins(1));
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code().is_some_and(|code| [1, 2, 3].contains(&code)), "{arguments:?}: {error}");
        assert!(error.contains("device"), "{arguments:?}: {error}");
    }
}

#[cfg(unix)]
#[test]
fn a_pipe_that_a_shell_makes_is_read_as_a_file_of_decisions() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("log.jsonl", &(0..40).map(request).collect::<String>());
    // More than the first bytes, which show whether it is an archive.
    let decisions: String = (0..40)
        .map(|n| format!("{}\n", json!({"id": format!("r{n}"), "decision": "drop", "why": "a test"})))
        .collect();
    write("d.jsonl", &decisions);
    let program = callsieve().get_program().to_str().unwrap().to_owned();
    let shell = |line: &str| {
        let mut command = Command::new("bash");
        command.current_dir(folder.path()).args(["-c", &line.replace("callsieve", &program)]);
        command.env("NO_COLOR", "1").env("CALLSIEVE_SETS", "no-such-folder");
        ended(command, Duration::from_mins(1))
    };
    let run = shell("callsieve run -q log.jsonl --out run --decisions <(cat d.jsonl)");
    assert!(run.status.code() == Some(0) || run.status.code() == Some(1), "{}", shown(&run));
    let report: Value =
        serde_json::from_slice(&std::fs::read(folder.path().join("run/report.json")).unwrap()).unwrap();
    assert_eq!(report["requests"]["dropped"], 40, "{}", shown(&run));
    let plan = shell("callsieve plan log.jsonl --decisions <(cat d.jsonl)");
    assert!(plan.status.success(), "{}", shown(&plan));
    let log = shell("cat log.jsonl | callsieve inspect /dev/stdin");
    assert!(log.status.success(), "{}", shown(&log));
    let empty = shell("callsieve plan log.jsonl --decisions /dev/null");
    assert!(empty.status.success(), "{}", shown(&empty));
}

/// Returns every file of a folder with its bytes.
fn bytes_below(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.push((path.clone(), std::fs::read(&path).unwrap()));
            }
        }
    }
    files.sort();
    files
}

#[test]
fn no_output_replaces_a_file_of_a_run_or_an_input() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("log.jsonl"), (0..12).map(request).collect::<String>()).unwrap();
    let run = in_folder(folder.path(), &["run", "log.jsonl", "--out", "run", "--quiet"]);
    assert!(run.status.success(), "{}", shown(&run));
    let mut scores = "model,x,y\n".to_owned();
    (0..12).for_each(|n| writeln!(scores, "m{n},{},{}", 40 + n * 3, 35 + n * 3 + n % 4).unwrap());
    std::fs::write(at("scores.csv"), &scores).unwrap();
    std::fs::write(at("results.jsonl"), "").unwrap();
    let before = bytes_below(folder.path());
    let refused = |arguments: &[&str], expected: &str| {
        let ended = in_folder(folder.path(), arguments);
        let error = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(ended.status.code(), Some(2), "{arguments:?}: {error}");
        assert!(error.contains(expected) && error.contains("\nhint: "), "{arguments:?}: {error}");
        assert!(bytes_below(folder.path()) == before, "{arguments:?} changed a file");
    };
    let results = ["evaluate", "--dataset", "run", "--results", "results.jsonl"];
    for target in ["run/rows.parquet", "run/report.json", "run/new.csv", "run/dataset/README.md"] {
        for flag in ["--residuals", "--page"] {
            refused(&["audit", "scores", "scores.csv", flag, target], "inside the run folder");
        }
        for flag in ["--verdicts", "--parquet", "--score-dir", "--page"] {
            refused(&[&results[..], &[flag, target]].concat(), "inside the run folder");
        }
        refused(&["evaluate", "--dataset", "run", "--ask", "m", "--save", target], "inside the run folder");
        refused(&["held", "run", "--unverified", "--out", target], "inside the run folder");
        refused(&["init", "log.jsonl", "--force", "--out", target], "inside the run folder");
        refused(&["batch", "export", "log.jsonl", "--save", target], "inside the run folder");
        refused(&["calibrate", "--bfcl", "run/dataset", "--write", target], "inside the run folder");
    }
    refused(&["audit", "scores", "scores.csv", "--residuals", "scores.csv"], "this is the input scores.csv");
    refused(&["audit", "scores", "scores.csv", "--page", "./scores.csv"], "this is the input scores.csv");
    refused(
        &["audit", "scores", "scores.csv", "--residuals", "new.csv", "--page", "./new.csv"],
        "this is the file of --residuals, too",
    );
    refused(&["init", "log.jsonl", "--force", "--out", "log.jsonl"], "this is the input log.jsonl");
    refused(&["batch", "export", "log.jsonl", "--save", "log.jsonl"], "this is the input log.jsonl");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(at("run/rows.parquet"), at("link.csv")).unwrap();
        let ended = in_folder(folder.path(), &["audit", "scores", "scores.csv", "--residuals", "link.csv"]);
        assert_eq!(ended.status.code(), Some(2), "{}", shown(&ended));
        std::fs::remove_file(at("link.csv")).unwrap();
        // Standard output is written to, and not replaced.
        let ended =
            in_folder(folder.path(), &["audit", "scores", "scores.csv", "--residuals", "/dev/stdout"]);
        assert!(ended.status.success() && text(&ended).contains("\"model\":\"m0\""), "{}", shown(&ended));
        assert!(Path::new("/dev/stdout").is_symlink());
    }
    assert!(bytes_below(folder.path()) == before);
}

#[test]
fn residuals_are_no_formulas_for_a_spreadsheet() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let models = [
        "=HYPERLINK(\"x\")",
        "+1",
        "-1",
        "@SUM(A1)",
        "＝1",
        "＋1",
        "－1",
        "＠1",
        "'=1",
        "plain",
        "a=1",
        "\u{a0}=1",
    ];
    let mut scores = csv::Writer::from_path(at("scores.csv")).unwrap();
    scores.write_record(["model", "=x", "y"]).unwrap();
    for (n, model) in models.iter().enumerate() {
        scores.write_record([*model, &(40 + n * 3).to_string(), &(35 + n * 3 + n % 4).to_string()]).unwrap();
    }
    scores.flush().unwrap();
    let arguments = ["audit", "scores", "scores.csv", "--x", "=x", "--y", "y", "--residuals", "out.csv"];
    let ended = in_folder(folder.path(), &arguments);
    assert!(ended.status.success(), "{}", shown(&ended));
    let mut rows = csv::Reader::from_path(at("out.csv")).unwrap();
    let rows: Vec<csv::StringRecord> = rows.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), models.len());
    for row in &rows {
        assert_eq!(&row[0], "'=x");
        let bare = row[2].trim_start();
        assert!(!bare.starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠']), "{row:?}");
    }
    let written: std::collections::BTreeSet<&str> = rows.iter().map(|row| &row[2]).collect();
    assert!(
        written.contains("plain") && written.contains("a=1") && written.contains("'=HYPERLINK(\"x\")"),
        "{written:?}"
    );
    // Numbers stay numbers.
    assert!(rows.iter().all(|row| row[9].parse::<f64>().is_ok()), "{rows:?}");
}

#[test]
fn an_error_about_megabytes_is_a_few_lines_with_its_hint() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    let long = "x".repeat(3 << 20);
    write("log.jsonl", &request(1));
    write("value.toml", &format!("name = \"a\"\n[[stages]]\nkind = \"{long}\"\n"));
    write("key.toml", &format!("name = \"a\"\n{long} = 1\n"));
    write("broken.toml", &format!("name = \"a\"\n{long}\n"));
    write("lines.toml", &format!("name = \"a\"\n[[stages]]\nkind = \"\"\"{}\"\"\"\n", "x\n".repeat(1 << 20)));
    write("d.jsonl", &format!("{{\"id\": \"{long}\", \"decision\": \"{long}\"}}\n"));
    write("d.csv", &format!("id,{long}\n1,2\n"));
    write("key.jsonl", &format!("{{\"{long}\": 1}}\n"));
    write("questions.json", &format!("{{\"id\": \"a\", \"function\": \"{long}\"}}\n"));
    write("scores.csv", &format!("model,{long}\na,1\n"));
    write("labels.jsonl", &format!("{{\"id\": \"a\", \"label\": \"{long}\"}}\n"));
    write("results.jsonl", &format!("{{\"id\": \"{long}\", \"result\": \"x\"}}\n"));
    let run = in_folder(folder.path(), &["run", "log.jsonl", "--out", "run", "--quiet"]);
    assert!(run.status.success(), "{}", shown(&run));
    let argument = "y".repeat(100_000);
    let set = format!("merge-near-docs.threshold=\"{argument}\"");
    let cases: [&[&str]; 18] = [
        &["plan", "value.toml"],
        &["plan", "key.toml"],
        &["plan", "broken.toml"],
        &["plan", "lines.toml"],
        &["run", "log.jsonl", "--decisions", "d.jsonl", "--out", "o"],
        &["run", "log.jsonl", "--decisions", "d.csv", "--out", "o"],
        &["run", "key.jsonl", "--out", "o"],
        &["check", "questions.json"],
        &["audit", "scores", "scores.csv"],
        &["calibrate", "--run", "run", "--labels", "labels.jsonl"],
        &["evaluate", "--dataset", "run", "--results", "results.jsonl"],
        &["plan", "log.jsonl", "--set", &set],
        &["plan", &argument],
        &["why", "run", &argument],
        &["explain", &argument],
        &["stages", &argument],
        &["held", "run", "--reason", &argument],
        &["completions", &argument],
    ];
    for arguments in cases {
        let ended = in_folder(folder.path(), arguments);
        let error = String::from_utf8_lossy(&ended.stderr).into_owned();
        let n_chars = error.chars().count();
        let shown: String = error.chars().take(5_000).collect();
        assert!(ended.status.code().is_some_and(|code| [0, 1, 2].contains(&code)), "{shown}");
        assert!(n_chars < 5_000, "{n_chars} characters: {shown}");
        assert!(ended.stdout.len() < 20_000, "{:?}: {} bytes", &arguments[..1], ended.stdout.len());
    }
}
