//! Tests of paths and files that a person mixed up: inputs and outputs in run folders, names that are not UTF-8,
//! archives, logs that were emptied. Nothing that exists is lost.

use std::ffi::OsStr;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use crate::support::{callsieve, output, shown};
use serde_json::{Value, json};

const LOG: &str = "tests/it/documented/files/mylog.jsonl";

fn file_names(folder: &Path) -> Vec<PathBuf> {
    crate::support::stable_bytes(folder).into_keys().collect()
}

/// Runs the program in a folder.
fn at<S: AsRef<OsStr>>(folder: &Path, arguments: impl IntoIterator<Item = S>) -> Output {
    callsieve().current_dir(folder).args(arguments).stdin(Stdio::null()).output().unwrap()
}

/// A folder with the log, for runs in it.
fn home() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    std::fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join(LOG), home.path().join("mylog.jsonl")).unwrap();
    home
}

/// A folder with the log and a finished run of it in `out`.
fn home_with_run() -> tempfile::TempDir {
    let home = home();
    let run = at(home.path(), ["run", "-q", "mylog.jsonl", "--out", "out"]);
    assert!(run.status.success(), "{}", shown(&run));
    home
}

fn from_standard_input(home: &Path, out: &str, more: &[&str]) -> Output {
    let log = std::fs::File::open(home.join("mylog.jsonl")).unwrap();
    let mut command = callsieve();
    command.current_dir(home).args(["run", "-q", "-", "--out", out]).args(more).stdin(log).output().unwrap()
}

/// Writes a benchmark: the log without its damaged lines, which a benchmark may not have.
fn write_benchmark(home: &Path) {
    let log = std::fs::read(home.join("mylog.jsonl")).unwrap();
    let is_readable = |line: &&[u8]| serde_json::from_slice::<Value>(line).is_ok();
    let lines: Vec<&[u8]> = log.split(|byte| *byte == b'\n').filter(is_readable).collect();
    std::fs::write(home.join("bench.jsonl"), lines.join(&b'\n')).unwrap();
}

fn question_file(home: &Path) -> String {
    let is_questions = |name: &PathBuf| {
        let name = name.to_string_lossy();
        name.contains("BFCL_") && !name.contains("possible_answer")
    };
    let name = file_names(&home.join("out")).into_iter().find(is_questions).unwrap();
    Path::new("out").join(name).to_str().unwrap().to_owned()
}

#[test]
fn a_run_that_reads_its_own_folder_is_refused_and_removes_nothing() {
    let home = home_with_run();
    let home = home.path();
    assert!(from_standard_input(home, "piped", &[]).status.success());
    std::os::unix::fs::symlink("out/dataset", home.join("link")).unwrap();
    let (before, piped) = (file_names(&home.join("out")), std::fs::read(home.join("piped/stdin")).unwrap());
    let questions = question_file(home);
    write_benchmark(home);
    for arguments in [
        vec!["run", "mylog.jsonl", "--out", "out", "--baseline", "out/dataset"],
        vec!["run", "mylog.jsonl", "--out", "out", "--baseline", "link", "--freeze"],
        vec!["run", &questions, "--out", "out"],
        vec!["run", "out/ingest/requests.parquet", "--out", "./out"],
        vec!["run", "piped/stdin", "--out", "piped"],
        vec!["audit", "--train", "mylog.jsonl", "--bench", "out/dataset", "--out", "out"],
        vec!["audit", "--train", &questions, "--bench", "bench.jsonl", "--out", "out"],
    ] {
        for more in [&[][..], &["--fresh"]] {
            let refused = at(home, arguments.iter().chain(more));
            let text = shown(&refused);
            assert_eq!(refused.status.code(), Some(2), "{arguments:?}: {text}");
            assert!(text.contains("this is inside the run folder") && text.contains("hint: "), "{text}");
            assert_eq!(file_names(&home.join("out")), before, "{arguments:?}");
            assert_eq!(std::fs::read(home.join("piped/stdin")).unwrap(), piped);
        }
    }
}

#[test]
fn a_run_folder_is_in_no_other_run_folder() {
    let home = home_with_run();
    let home = home.path();
    for out in ["out/dataset/x", "out/x", "out/dataset"] {
        let refused = at(home, ["run", "mylog.jsonl", "--out", out]);
        let text = shown(&refused);
        assert_eq!(refused.status.code(), Some(2), "{text}");
        assert!(text.contains(&format!("run folder {out}: this is inside the run folder ")), "{text}");
        assert!(!home.join("out/x").exists() && !home.join("out/dataset/x").exists());
    }
    let again = at(home, ["run", "-q", "mylog.jsonl", "--out", "out"]);
    assert!(again.status.success(), "{}", shown(&again));
}

#[test]
fn init_overwrites_no_input_and_nothing_in_a_run_folder() {
    let home = home_with_run();
    let home = home.path();
    std::os::unix::fs::symlink("mylog.jsonl", home.join("link.toml")).unwrap();
    std::fs::hard_link(home.join("mylog.jsonl"), home.join("hard.toml")).unwrap();
    let (log, report) = (
        std::fs::read(home.join("mylog.jsonl")).unwrap(),
        std::fs::read(home.join("out/report.json")).unwrap(),
    );
    for out in
        ["mylog.jsonl", "link.toml", "hard.toml", "out/report.json", "out/x.toml", "out/dataset/x.toml"]
    {
        let refused = at(home, ["init", "mylog.jsonl", "--out", out, "--force"]);
        let text = shown(&refused);
        assert_eq!(refused.status.code(), Some(2), "{text}");
        assert!(text.contains(&format!("error: {out}: this is ")) && text.contains("hint: "), "{text}");
    }
    assert_eq!(std::fs::read(home.join("mylog.jsonl")).unwrap(), log);
    assert_eq!(std::fs::read(home.join("out/report.json")).unwrap(), report);
    assert!(!home.join("out/x.toml").exists() && !home.join("out/dataset/x.toml").exists());
    let written = at(home, ["init", "mylog.jsonl", "--out", "x.toml", "--force"]);
    assert!(written.status.success(), "{}", shown(&written));
}

#[test]
fn a_log_without_a_request_does_not_replace_a_finished_run() {
    let home = home_with_run();
    let home = home.path();
    let before = crate::support::stable_bytes(&home.join("out"));
    let log = std::fs::read(home.join("mylog.jsonl")).unwrap();
    for content in ["", "garbage\n", "{\"a\": 1}\n"] {
        std::fs::write(home.join("mylog.jsonl"), content).unwrap();
        // Another pipeline would remove stages of the earlier one.
        for pipeline in [&[][..], &["--set", "seed=2"]] {
            let failed = at(home, ["run", "-q", "mylog.jsonl", "--out", "out"].iter().chain(pipeline));
            let text = shown(&failed);
            assert_eq!(failed.status.code(), Some(1), "{content:?}: {text}");
            assert!(text.contains("the earlier run in out is kept as it was"), "{text}");
            crate::support::assert_same_bytes(&before, &crate::support::stable_bytes(&home.join("out")));
            let verified = at(home, ["verify", "out"]);
            assert!(verified.status.success(), "{}", shown(&verified));
            let report = at(home, ["report", "out"]);
            assert!(report.status.success(), "{}", shown(&report));
        }
    }
    std::fs::write(home.join("mylog.jsonl"), log).unwrap();
    let again = at(home, ["run", "mylog.jsonl", "--out", "out"]);
    assert!(again.status.success() && shown(&again).contains("reused "), "{}", shown(&again));
}

#[test]
fn stages_of_another_pipeline_stay_until_a_request_is_found() {
    let home = home_with_run();
    let home = home.path();
    let before = crate::support::stable_bytes(&home.join("out"));
    let pipeline = Path::new(env!("CARGO_MANIFEST_DIR")).join("pipelines/parse-only.toml");
    std::fs::write(home.join("mylog.jsonl"), "garbage\n").unwrap();
    let arguments = ["run", "-q", pipeline.to_str().unwrap(), "--input", "mylog.jsonl", "--out", "out"];
    let failed = at(home, arguments);
    assert_eq!(failed.status.code(), Some(1), "{}", shown(&failed));
    crate::support::assert_same_bytes(&before, &crate::support::stable_bytes(&home.join("out")));
}

#[cfg(target_os = "linux")]
#[test]
fn names_that_are_not_utf_8_are_read_and_written() {
    use std::os::unix::ffi::OsStrExt as _;
    let home = home();
    let home = home.path();
    let (log, out) = (OsStr::from_bytes(b"caf\xe9.jsonl"), OsStr::from_bytes(b"x\xff"));
    std::fs::create_dir(home.join("logs")).unwrap();
    for name in [Path::new("logs").join(log), PathBuf::from(log)] {
        std::fs::copy(home.join("mylog.jsonl"), home.join(name)).unwrap();
    }
    let run = |arguments: &[&OsStr]| at(home, [&[OsStr::new("run"), OsStr::new("-q")], arguments].concat());
    let flag = OsStr::new("--out");
    for arguments in [&[OsStr::new("logs")][..], &[log], &[OsStr::new("mylog.jsonl"), flag, out]] {
        let done = run(arguments);
        assert!(done.status.success(), "{arguments:?}: {}", shown(&done));
    }
    let run_file: Value =
        serde_json::from_slice(&std::fs::read(home.join("out/logs/run.json")).unwrap()).unwrap();
    assert_eq!(run_file["inputs"][0]["path"], "logs/caf\u{fffd}.jsonl");
    // The same log with one more line is the same input.
    let mut text = std::fs::read_to_string(home.join("mylog.jsonl")).unwrap();
    text += "\n{broken\n";
    std::fs::write(home.join("logs").join(log), text).unwrap();
    let again = run(&[OsStr::new("logs")]);
    assert!(again.status.success(), "{}", shown(&again));
    write_benchmark(home);
    let bench = OsStr::new("bench.jsonl");
    let arguments =
        [OsStr::new("audit"), OsStr::new("--train"), log, OsStr::new("--bench"), bench, OsStr::new("-q")];
    let audit = at(home, arguments);
    assert!(audit.status.success(), "{}", shown(&audit));
    let init = at(home, [OsStr::new("init"), log]);
    let text = shown(&init);
    assert_eq!(init.status.code(), Some(2), "{text}");
    assert!(text.contains("caf\u{fffd}.jsonl: the name is not UTF-8"), "{text}");
}

#[test]
fn a_forgotten_record_does_not_come_back_in_the_copy_of_standard_input() {
    let home = home();
    let home = home.path();
    assert!(from_standard_input(home, "out", &[]).status.success());
    assert!(home.join("out/stdin").is_file());
    let forgotten = at(home, ["forget", "out", "--id", "lib-007"]);
    assert!(forgotten.status.success(), "{}", shown(&forgotten));
    for more in [&[][..], &["--fresh"]] {
        let again = from_standard_input(home, "out", more);
        assert!(again.status.success(), "{}", shown(&again));
        assert!(!home.join("out/stdin").exists());
    }
    let verified = at(home, ["verify", "out"]);
    assert!(verified.status.success(), "{}", shown(&verified));
}

#[test]
fn the_check_of_a_run_without_a_dataset_reports_that() {
    let home = home();
    let home = home.path();
    let pipeline = Path::new(env!("CARGO_MANIFEST_DIR")).join("pipelines/parse-only.toml");
    let arguments = ["run", "-q", pipeline.to_str().unwrap(), "--input", "mylog.jsonl", "--out", "out"];
    assert!(at(home, arguments).status.success());
    assert!(!home.join("out/dataset").exists());
    let checked = at(home, ["check", "out"]);
    let text = shown(&checked);
    assert_eq!(checked.status.code(), Some(2), "{text}");
    assert!(text.contains("error: out: the run has no dataset to check\nhint: "), "{text}");
}

#[test]
fn an_id_of_two_kinds_is_not_guessed_when_a_record_is_forgotten() {
    let home = home_with_run();
    let home = home.path();
    let why = shown(&at(home, ["why", "out", "lib-007"]));
    let id = why.split("request ").nth(1).unwrap().split_whitespace().next().unwrap();
    assert_eq!(id.len(), 32, "{why}");
    let log = std::fs::read_to_string(home.join("mylog.jsonl")).unwrap().replace("lib-001", id);
    std::fs::write(home.join("mylog.jsonl"), log).unwrap();
    assert!(at(home, ["run", "-q", "mylog.jsonl", "--out", "out"]).status.success());
    for more in [&[][..], &["--all"]] {
        let refused = at(home, ["forget", "out", "--id", id].iter().chain(more));
        let text = shown(&refused);
        assert_eq!(refused.status.code(), Some(2), "{text}");
        assert!(
            text.contains(&format!(
                "\"{id}\" means different rows of out:\n  request:{id}  a request id of "
            )),
            "{text}"
        );
    }
    // The hint names one that is not ambiguous.
    let forgotten = at(home, ["forget", "out", "--id", &id[..31]]);
    assert!(forgotten.status.success(), "{}", shown(&forgotten));
}

#[test]
fn archives_and_damaged_tables_are_refused_by_name() {
    let home = home();
    let home = home.path();
    let tar = [&[b'x'; 257][..], b"ustar\x0000", &[0; 300]].concat();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(b"PAR1 and columns PAR1").unwrap();
    let gzip = gzip.finish().unwrap();
    let zstd = zstd::encode_all(&b"PAR1 and columns PAR1"[..], 1).unwrap();
    let sheet = [b"PK\x03\x04", &[0; 26][..], b"[Content_Types].xml"].concat();
    for (name, content, expected) in [
        ("log.zip", b"PK\x03\x04\0\0\0\0".to_vec(), "a zip archive, not a log\nhint: unpack it"),
        ("log.xlsx", sheet, "not a log\nhint: save the table as CSV"),
        ("log.jsonl", tar, "a tar archive, not a log\nhint: unpack it"),
        ("log.jsonl.xz", b"\xfd7zXZ\0\0".to_vec(), "compressed with xz, not a log\nhint: unpack it"),
        ("log.jsonl.bz2", b"BZh91AY&SY".to_vec(), "compressed with bzip2, not a log\nhint: unpack it"),
        ("log.parquet", b"PAR1 damaged PAR1".to_vec(), "the file cannot be read as Parquet: "),
        ("log.parquet.gz", gzip.clone(), "this is Parquet in gzip, which is not read\nhint: unpack it"),
        ("log.json.gz", gzip, "this is Parquet in gzip, which is not read\nhint: unpack it"),
        ("log.parquet.zst", zstd, "this is Parquet in Zstandard, which is not read\nhint: unpack it"),
        ("log.bin", b"PAR1 and columns PAR1".to_vec(), "this is Parquet under another name\nhint: rename it"),
        ("other.parquet", b"{\"query\": 1}\n".to_vec(), "the file cannot be read as Parquet: "),
    ] {
        std::fs::write(home.join(name), content).unwrap();
        let refused = at(home, ["run", name, "--out", "out"]);
        let text = shown(&refused);
        assert_eq!(refused.status.code(), Some(2), "{name}: {text}");
        assert!(text.contains(&format!("input {name}: ")) && text.contains(expected), "{name}: {text}");
        assert!(!home.join("out").exists(), "{name}");
    }
    let decisions = at(home, ["run", "mylog.jsonl", "--decisions", "log.xlsx"]);
    let text = shown(&decisions);
    assert_eq!(decisions.status.code(), Some(2), "{text}");
    assert!(
        text.contains("log.xlsx: this is a spreadsheet") && text.contains("hint: save the table as CSV"),
        "{text}"
    );
}

#[test]
fn the_number_of_threads_has_a_limit() {
    for command in [&["run", "raw/hosted.jsonl"][..], &["audit", "--train", "x", "--bench", "y"]] {
        for n_threads in ["0", "1025", "100000"] {
            let refused = output(&[command, &["--threads", n_threads]].concat());
            let text = shown(&refused);
            assert_eq!(refused.status.code(), Some(2), "{text}");
            assert!(text.contains("1..=1024"), "{text}");
        }
    }
}

#[test]
fn members_that_a_row_of_parquet_lacks_are_absent() {
    let home = home();
    let home = home.path();
    let unified = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/parquet/unified_structs.parquet");
    let run = at(home, ["run", "-q", unified.to_str().unwrap(), "--out", "out"]);
    assert!(run.status.success(), "{}", shown(&run));
    let report: Value =
        serde_json::from_slice(&std::fs::read(home.join("out/report.json")).unwrap()).unwrap();
    assert_eq!(report["ingest"]["records"], json!(2));
    // Docs with the parameters of other functions, all of them null, would be dropped.
    assert_eq!(report["requests"]["dropped"], json!(0), "{}", report["requests"]);
    let lists = callsieve::engine::frame::FrameFile::open(&home.join("out/lists.parquet")).unwrap();
    let lists = lists.read_all().unwrap();
    let functions = lists.texts("functions").unwrap();
    let n_with = |name: &str| {
        (0..lists.height()).filter(|&row| functions.get(row).is_some_and(|text| text.contains(name))).count()
    };
    assert_eq!((n_with("isbn"), n_with("city\""), n_with("null")), (1, 1, 0));
}
