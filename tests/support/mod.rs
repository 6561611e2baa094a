//! Runs the program in its own process and folder, like a user.

// Each test binary uses a part of it.
#![allow(dead_code)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Returns the program, to be started in the project's folder with a clean environment.
pub(crate) fn callsieve() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_callsieve"));
    command.current_dir(env!("CARGO_MANIFEST_DIR")).env("NO_COLOR", "1").env_remove("RUST_BACKTRACE");
    command.env_remove("COLUMNS").env_remove("CLICOLOR_FORCE").env_remove("CLICOLOR");
    // The tests must not find the public sets of this machine.
    command.env("CALLSIEVE_SETS", "no-such-folder");
    command
}

/// Runs the program and returns its output, for any exit code.
pub(crate) fn output(arguments: &[&str]) -> Output {
    callsieve().args(arguments).output().expect("the program starts")
}

/// The setting that reads the sample's answers by people.
pub(crate) const ANSWERS: &str = "decisions=raw/answers.jsonl";

/// Runs the live recipe on the sample log into a folder. The run must succeed.
pub(crate) fn run_sample(out: &Path, more: &[&str]) -> Output {
    let out = out.to_str().expect("temporary folders have plain names");
    let mut arguments = vec!["run", "--quiet", "--out", out, "--set", ANSWERS];
    arguments.extend(more);
    let output = output(&arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output
}

/// Returns every file that must be the same for equal runs, with its bytes: dataset, deltas, raw tables, ledger, rows
/// and lists.
///
/// Manifests, `run.json` and `report.json` hold clock times and command lines and are left out.
pub(crate) fn stable_bytes(run: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![run.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a run folder can be read") {
            let path = entry.expect("a run folder can be read").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "parquet")
                || path.strip_prefix(run).is_ok_and(|name| name.starts_with("dataset"))
            {
                let name = path.strip_prefix(run).expect("below the run").to_owned();
                files.insert(name, std::fs::read(&path).expect("a file of the run can be read"));
            }
        }
    }
    files
}

/// Returns all text of a run except the raw tables: cells of Parquet, and the content of other files.
pub(crate) fn text_of(run: &Path) -> Vec<(String, String)> {
    let mut texts = Vec::new();
    let mut folders = vec![run.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a run folder can be read") {
            let path = entry.expect("a run folder can be read").path();
            let name =
                path.strip_prefix(run).expect("a run folder can be read").to_string_lossy().into_owned();
            if path.is_dir() {
                folders.push(path);
            } else if ["ingest/requests.parquet", "ingest/doc_lists.parquet"].contains(&name.as_str()) {
            } else if name.ends_with(".parquet") {
                let frame = callsieve::engine::frame::FrameFile::open(&path)
                    .expect("a run folder can be read")
                    .read_all()
                    .expect("a run folder can be read");
                let rows: Vec<String> = (0..frame.height())
                    .map(|row| serde_json::Value::Object(frame.row_json(row)).to_string())
                    .collect();
                texts.push((name, rows.join("\n")));
            } else {
                texts.push((
                    name,
                    String::from_utf8_lossy(&std::fs::read(&path).expect("a run folder can be read"))
                        .into_owned(),
                ));
            }
        }
    }
    texts
}

/// Writes a log of many rows: several blocks to read, several batches per table, some broken lines.
pub(crate) fn write_long_log(path: &Path, n_rows: usize) {
    use std::io::Write as _;
    let mut file =
        std::io::BufWriter::new(std::fs::File::create(path).expect("a temporary file can be made"));
    for n in 0..n_rows {
        if n % 50 == 7 {
            writeln!(file, "{{broken").expect("a temporary file can be written");
        }
        let filler = "It takes the height above chart datum, in metres, and the time of day. ".repeat(8);
        let docs = format!(
            "[{{\"name\": \"tide_{0}\", \"description\": \"Tells the tide of harbour {0}. {filler}\"}}]",
            n % 9000
        );
        let row =
            serde_json::json!({"query": format!("When is high tide in harbour {n}?"), "functions": docs});
        writeln!(file, "{row}").expect("a temporary file can be written");
    }
}

/// Returns the report without times.
pub(crate) fn report_without_timing(run: &Path) -> serde_json::Value {
    let bytes = std::fs::read(run.join("report.json")).expect("a finished run has a report");
    let mut report: serde_json::Value = serde_json::from_slice(&bytes).expect("a report is JSON");
    report.as_object_mut().expect("a report is an object").remove("timing");
    report
}

/// Fails with the names of the files that differ.
pub(crate) fn assert_same_bytes(one: &BTreeMap<PathBuf, Vec<u8>>, other: &BTreeMap<PathBuf, Vec<u8>>) {
    let names = |files: &BTreeMap<PathBuf, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(one), names(other));
    let differ: Vec<_> =
        one.iter().filter(|(name, bytes)| other[*name] != **bytes).map(|(name, _)| name).collect();
    assert!(differ.is_empty(), "{differ:?} differ");
}

/// Returns standard output followed by standard error, as text.
pub(crate) fn shown(output: &Output) -> String {
    format!(
        "exit: {}\n--- stdout\n{}--- stderr\n{}",
        output.status.code().map_or("none".to_owned(), |code| code.to_string()),
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

/// Replaces every digit of a figure except 0 by `#`, so that tables keep their widths. Ids, names and places keep their digits.
///
/// For tests that read the sample run and are about something else than its figures. These are in a few snapshots: those of
/// the run, its card, its comparison with another run, and of what changes it.
pub(crate) fn without_figures(text: &str) -> String {
    let masked = |word: &str| {
        let figure = word.trim_matches(|c: char| "()+-=%,.:;".contains(c));
        let is_figure = figure != "0" && figure.chars().all(|c| c.is_ascii_digit() || ",.".contains(c));
        if is_figure { word.replace(|c: char| c.is_ascii_digit(), "#") } else { word.to_owned() }
    };
    let words = text.split_inclusive(char::is_whitespace);
    words.map(|word| word.replacen(word.trim_end(), &masked(word.trim_end()), 1)).collect()
}

/// Copies a folder with its content.
pub(crate) fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a temporary folder can be copied");
    for entry in std::fs::read_dir(from).expect("a temporary folder can be copied") {
        let path = entry.expect("a temporary folder can be copied").path();
        let target = to.join(path.file_name().expect("a temporary folder can be copied"));
        if path.is_dir() {
            copy_folder(&path, &target);
        } else {
            std::fs::copy(&path, &target).expect("a temporary folder can be copied");
        }
    }
}
