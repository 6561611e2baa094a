//! Runs in parts: whatever the number of processes and whatever becomes of one of them, the results are those of one process.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::json;

use crate::support::{
    assert_same_bytes, callsieve, copy_folder, output, report_without_timing, shown, stable_bytes,
    write_long_log,
};

/// A folder with logs, in which runs are made.
struct Home(tempfile::TempDir);

impl Home {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    fn call(&self, arguments: &[&str]) -> Output {
        callsieve().current_dir(self.0.path()).args(arguments).output().unwrap()
    }

    /// A call that must succeed; returns what it prints to standard output.
    fn done(&self, arguments: &[&str]) -> String {
        let output = self.call(arguments);
        assert!(output.status.success(), "{arguments:?}\n{}", shown(&output));
        String::from_utf8(output.stdout).unwrap()
    }

    /// A call that must fail; returns the exit code and the message.
    fn refused(&self, arguments: &[&str]) -> (i32, String) {
        let output = self.call(arguments);
        assert!(!output.status.success(), "{arguments:?}\n{}", shown(&output));
        (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
    }

    /// Does all parts of the next step, the last first.
    fn parts(&self, arguments: &[&str], n_parts: u32) {
        for number in (1..=n_parts).rev() {
            let part = format!("{number}/{n_parts}");
            self.done(&[arguments, &["--part", &part]].concat());
        }
    }

    fn assert_same(&self, one: &str, other: &str) {
        let (one, other) = (self.path(one), self.path(other));
        assert_same_bytes(&stable_bytes(&one), &stable_bytes(&other));
        let (one, of_parts) = (report_without_timing(&one), report_without_timing(&other));
        for (key, value) in one.as_object().unwrap() {
            assert!(*value == of_parts[key], "{key} of report.json differs");
        }
        assert!(!other.join("parts").exists(), "parts hold raw text and are removed");
    }
}

fn raw() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("raw").display().to_string()
}

#[test]
fn a_log_that_is_read_in_one_two_and_five_parts_has_the_same_bytes() {
    let (home, raw) = (Home::new(), raw());
    home.done(&["run", &raw, "--out", "one", "--quiet"]);
    for n_parts in [1, 2, 5] {
        let out = format!("of-{n_parts}");
        home.parts(&["run", &raw, "--out", &out], n_parts);
        home.done(&["merge", &out, "--quiet"]);
        home.assert_same("one", &out);
        home.done(&["verify", &out]);
    }
}

#[test]
fn every_stage_that_can_be_judged_in_parts_has_the_same_bytes() {
    let (home, raw) = (Home::new(), format!("{}/hosted.jsonl", raw()));
    home.done(&["run", &raw, "--out", "one", "--quiet"]);
    let call = ["run", &raw, "--out", "parts"];
    home.parts(&call, 3);
    let names = fs::read_dir(home.path("one/stages")).unwrap();
    let mut names: Vec<String> =
        names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    let mut judged = Vec::new();
    for stage in names.iter().map(|name| name.split_once('-').unwrap().1) {
        home.done(&["merge", "parts", "--until", stage]);
        let said = home.done(&[&call[..], &["--part", "2/3"]].concat());
        if said.contains("is not divided") {
            assert!(said.contains(&format!("none: {stage} is not divided, because ")), "{said}");
            continue;
        }
        assert!(said.contains(&format!("2/3 of {stage}, in parts")), "{said}");
        home.done(&[&call[..], &["--part", "3/3"]].concat());
        let again = home.done(&[&call[..], &["--part", "2/3"]].concat());
        assert!(again.contains(&format!("2/3 of {stage} was done before")), "{again}");
        home.done(&[&call[..], &["--part", "1/3"]].concat());
        judged.push(stage);
    }
    for stage in ["redact-docs", "drop-spam", "parse-docs", "merge-near-queries", "judge-queries", "fix-docs"]
    {
        assert!(judged.contains(&stage), "{stage} was judged at once: {judged:?}");
    }
    home.done(&["merge", "parts"]);
    home.assert_same("one", "parts");
}

#[test]
fn a_large_log_is_cut_inside_its_file_and_its_lines_are_numbered_on() {
    let home = Home::new();
    write_long_log(&home.path("long.jsonl"), 5_000);
    home.done(&["run", "long.jsonl", "--out", "one", "--quiet"]);
    let call = ["run", "long.jsonl", "--out", "parts"];
    home.parts(&call, 4);
    let manifest = |part: &str| -> serde_json::Value {
        let text =
            fs::read_to_string(home.path(&format!("parts/parts/ingest/{part}/manifest.json"))).unwrap();
        serde_json::from_str(&text).unwrap()
    };
    let of_part = manifest("2-of-4");
    let extent = &of_part["facts"]["extents"][0];
    assert!(
        extent["bytes"]["start"].as_u64() > Some(0) && extent["n_items"].as_u64() > Some(1000),
        "{extent}"
    );
    home.done(&["merge", "parts", "--quiet"]);
    home.assert_same("one", "parts");
    let why = |run: &str| home.done(&["why", run, "long.jsonl:4000"]);
    assert_eq!(why("one").replace("one", "RUN"), why("parts").replace("parts", "RUN"));
}

/// Logs in which the answers of requests are in another file, and the first row with a list of functions is not always read.
fn write_batches(home: &Home) {
    let tool = |name: &str| json!({"type": "function", "function": {"name": name, "parameters": {}}});
    let body = |n: usize| {
        let text = format!("Ring bell number {n} in the tower of the old town hall.");
        json!({"messages": [{"role": "user", "content": text}], "tools": [tool(["ring", "toll", "chime"][n % 3])]})
    };
    let requests: String = (0..300)
        .map(|n| format!("{}\n", json!({"custom_id": format!("q{n}"), "method": "POST", "body": body(n)})))
        .collect();
    let answer = |n: usize| {
        let name = ["ring", "toll", "chime"][n % 3];
        let call = json!({"id": "c", "type": "function", "function": {"name": name, "arguments": "{}"}});
        let message = json!({"role": "assistant", "tool_calls": [call]});
        let response = json!({"status_code": 200, "body": {"choices": [{"message": message}]}});
        json!({"custom_id": format!("q{n}"), "response": response})
    };
    let answers: String = (0..300).rev().map(|n| format!("{}\n", answer(n))).collect();
    let plain: String = (300..600)
        .map(|n| {
            let mut row = body(n);
            row["user"] = json!(if n < 450 { "a" } else { "b" });
            row["created"] = json!(1_700_000_000 + n * 60);
            format!("{row}\n")
        })
        .collect();
    home.write("answers.jsonl", &answers);
    home.write("plain.jsonl", &plain);
    home.write("requests.jsonl", &requests);
}

#[test]
fn answers_limits_samples_and_periods_do_not_depend_on_parts() {
    let home = Home::new();
    write_batches(&home);
    let logs = ["answers.jsonl", "plain.jsonl", "requests.jsonl"];
    for (at, more) in [
        &[][..],
        &["--limit", "50"],
        &["--limit", "320"],
        &["--sample-rows", "40"],
        &["--since", "2023-11-15T04:00:00Z"],
        &["--set", "ingest.max_line_bytes=300"],
    ]
    .iter()
    .enumerate()
    {
        let (one, out) = (format!("one-{at}"), format!("parts-{at}"));
        let call = |out| [&["run"], &logs[..], more, &["--out", out]].concat();
        home.done(&[&call(&one)[..], &["--quiet"]].concat());
        home.parts(&call(&out), 7);
        home.done(&["merge", &out, "--quiet"]);
        home.assert_same(&one, &out);
    }
}

#[test]
fn an_audit_is_read_and_judged_in_parts() {
    let home = Home::new();
    let docs = r#"[{"name": "ring", "description": "Rings the bell of a tower at an hour.", "parameters": {"type": "dict", "properties": {}}}]"#;
    let question = |n: usize| {
        let text = format!(
            "Ring the bell of the {n}th tower on the left bank of the river at noon, and again at six."
        );
        let functions: serde_json::Value = serde_json::from_str(docs).unwrap();
        json!({"id": format!("live_simple_{n}-0-0"), "question": [[{"role": "user", "content": text}]], "function": functions})
    };
    fs::create_dir(home.path("bench")).unwrap();
    let bench: String = (0..30).map(|n| format!("{}\n", question(n))).collect();
    home.write("bench/BFCL_v4_live_simple.json", &bench);
    let row = |n: usize| {
        let text = match n % 10 {
            3 => question(n % 30)["question"][0][0]["content"].as_str().unwrap().to_owned(),
            _ => format!("What is the water level of the {n}th lock today, in metres above the datum?"),
        };
        json!({"messages": [{"role": "user", "content": text}, {"role": "assistant", "content": "Done."}]})
    };
    let train: String = (0..500).map(|n| format!("{}\n", row(n))).collect();
    home.write("train.jsonl", &train);
    let call = |out| ["audit", "--train", "train.jsonl", "--bench", "bench", "--out", out];
    home.done(&[&call("one")[..], &["--quiet"]].concat());
    home.parts(&call("parts"), 3);
    home.done(&["merge", "parts", "--until", "drop-benchmark-overlap"]);
    home.parts(&call("parts"), 3);
    home.done(&["merge", "parts", "--quiet"]);
    home.assert_same("one", "parts");
    for file in ["hits.jsonl", "removed.jsonl", "statement.md", "dataset/train.jsonl"] {
        let text = |run: &str| fs::read_to_string(home.path(run).join(file)).unwrap();
        assert_eq!(text("one"), text("parts"), "{file}");
        assert!(!text("one").is_empty(), "{file}");
    }
}

#[test]
fn instructions_are_made_at_once_and_judged_in_parts() {
    let home = Home::new();
    let environment =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("raw/repair-shop.toml").display().to_string();
    let call = |out| ["generate", &environment, "--accept", "20", "--out", out];
    home.done(&[&call("one")[..], &["--quiet"]].concat());
    let said = home.done(&[&call("parts")[..], &["--part", "1/2"]].concat());
    assert!(said.contains("none: ingest is not divided, because its rows are made"), "{said}");
    home.done(&["merge", "parts", "--until", "check-provenance"]);
    home.parts(&call("parts"), 2);
    home.done(&["merge", "parts", "--quiet"]);
    home.assert_same("one", "parts");
}

#[cfg(unix)]
#[test]
fn a_process_that_ends_in_the_middle_of_its_part_is_named_and_its_part_done_again() {
    let home = Home::new();
    write_long_log(&home.path("long.jsonl"), 5_000);
    home.done(&["run", "long.jsonl", "--out", "one", "--quiet"]);
    let call = ["run", "long.jsonl", "--out", "parts"];
    home.done(&[&call[..], &["--part", "1/3"]].concat());
    home.done(&[&call[..], &["--part", "3/3"]].concat());
    // The system ends it when its file would be larger than 4 KiB.
    let line = format!(
        "ulimit -f 8; exec {} run long.jsonl --out parts --part 2/3",
        env!("CARGO_BIN_EXE_callsieve")
    );
    let ended =
        std::process::Command::new("sh").args(["-c", &line]).current_dir(home.0.path()).output().unwrap();
    assert!(!ended.status.success(), "{}", shown(&ended));
    let (code, why) = home.refused(&["merge", "parts"]);
    assert_eq!(code, 3, "{why}");
    assert!(why.contains("1 of 3 parts of ingest cannot be joined; not finished: 2/3"), "{why}");
    assert!(why.contains("hint: do each of them again, such as `--part 2/3`"), "{why}");
    assert!(!home.path("parts/ingest").exists() && !home.path("parts/run.json").exists());
    home.done(&[&call[..], &["--part", "2/3"]].concat());
    home.done(&["merge", "parts", "--quiet"]);
    home.assert_same("one", "parts");
}

#[test]
fn a_merge_that_is_stopped_is_continued_by_the_same_call() {
    let home = Home::new();
    write_long_log(&home.path("long.jsonl"), 5_000);
    home.done(&["run", "long.jsonl", "--out", "one", "--quiet"]);
    home.parts(&["run", "long.jsonl", "--out", "parts"], 2);
    for waits in [30, 200, 500, 900, 1500] {
        let mut merge =
            callsieve().current_dir(home.0.path()).args(["merge", "parts", "--quiet"]).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(waits));
        merge.kill().unwrap();
        merge.wait().unwrap();
    }
    // The last one may have been done.
    if home.path("parts/parts").exists() {
        home.done(&["merge", "parts", "--quiet"]);
    }
    home.assert_same("one", "parts");
}

#[test]
fn parts_of_other_inputs_or_settings_are_not_joined() {
    let home = Home::new();
    write_long_log(&home.path("long.jsonl"), 3000);
    let call = ["run", "long.jsonl", "--out", "parts"];
    home.parts(&call, 2);
    // A byte is changed after it was read.
    let mut bytes = fs::read(home.path("long.jsonl")).unwrap();
    let whole = bytes.clone();
    let at = bytes.len() - 100;
    bytes[at] ^= 1;
    fs::write(home.path("long.jsonl"), &bytes).unwrap();
    let (code, why) = home.refused(&["merge", "parts"]);
    assert_eq!(code, 3, "{why}");
    assert!(why.contains("long.jsonl: it was changed since its parts were read: bytes "), "{why}");
    // So is its length.
    fs::write(home.path("long.jsonl"), [&whole[..], b"\n"].concat()).unwrap();
    let (_, why) = home.refused(&["merge", "parts"]);
    assert!(why.contains("of other inputs, settings or another build: 1/2, 2/2"), "{why}");
    fs::write(home.path("long.jsonl"), &whole).unwrap();
    // Another setting, by which other rows would be kept.
    let (code, why) = home.refused(&[&call[..], &["--part", "2/2", "--set", "seed=9"]].concat());
    assert_eq!(code, 2, "{why}");
    assert!(
        why.contains("other parts of it were begun by another command: `") && why.contains("run long.jsonl"),
        "{why}"
    );
    // A damaged one.
    let content = home.path("parts/parts/ingest/1-of-2/content.bin");
    let mut bytes = fs::read(&content).unwrap();
    bytes[1000] ^= 1;
    fs::write(&content, bytes).unwrap();
    let (_, why) = home.refused(&["merge", "parts"]);
    assert!(why.contains("damaged: 1/2 (content.bin"), "{why}");
    home.done(&[&call[..], &["--part", "1/2"]].concat());
    home.done(&["merge", "parts", "--quiet"]);
}

#[test]
fn what_cannot_be_done_in_parts_is_refused_with_a_hint() {
    let home = Home::new();
    home.write("a.jsonl", "{\"query\": \"Ring the bell.\", \"functions\": [{\"name\": \"ring\"}]}\n");
    for (arguments, expected) in [
        (&["run", "a.jsonl", "--part", "1/2", "--fresh"][..], "leave out --fresh"),
        (&["run", "-", "--part", "1/2"], "standard input can be read only once"),
        (
            &["run", "a.jsonl", "--part", "3/2"],
            "expected a number and the number of all parts, such as 3/8: from 1/N to N/N",
        ),
        (
            &["run", "a.jsonl", "--part", "half"],
            "expected a number and the number of all parts, such as 3/8: from 1/N to N/N",
        ),
        (&["merge", "nowhere"], "nowhere: there is no such folder"),
        (&["merge", "."], "there are no parts of a run to join"),
        (&["run", "gone.jsonl", "--part", "1/2"], "gone.jsonl"),
    ] {
        let (code, why) = home.refused(arguments);
        assert_eq!(code, 2, "{why}");
        assert!(why.contains(expected), "{arguments:?}: {why}");
    }
    home.done(&["run", "a.jsonl", "--out", "done", "--quiet"]);
    let (_, why) = home.refused(&["run", "a.jsonl", "--out", "done", "--part", "1/2"]);
    assert!(why.contains("done contains a finished run"), "{why}");
    assert!(home.done(&["merge", "done"]).contains("done is finished: there are no parts to join"));
    home.done(&["run", "a.jsonl", "--out", "begun", "--part", "1/2"]);
    let (_, why) = home.refused(&["merge", "begun", "--until", "split-everything"]);
    assert!(
        why.contains("the pipeline has no stage split-everything\nhint: its stages are redact, "),
        "{why}"
    );
}

#[test]
fn a_run_without_parts_goes_on_without_them_and_removes_them() {
    let home = Home::new();
    home.write("a.jsonl", "{\"query\": \"Ring the bell.\", \"functions\": [{\"name\": \"ring\"}]}\n");
    home.done(&["run", "a.jsonl", "--out", "out/x", "--part", "2/2"]);
    let (_, why) = home.refused(&["report", "out/x"]);
    assert!(why.contains("hint: `callsieve merge out/x` continues where it stopped"), "{why}");
    let warned = shown(&home.call(&["run", "a.jsonl", "--out", "out/x", "--quiet"]));
    assert!(
        warned.contains("out/x has parts of this run, which are not joined and will be removed"),
        "{warned}"
    );
    home.done(&["run", "a.jsonl", "--out", "out/y", "--quiet"]);
    home.assert_same("out/x", "out/y");
}

#[test]
fn parts_are_merged_from_any_folder_and_with_paths_below_their_own() {
    let home = Home::new();
    fs::create_dir_all(home.path("logs/deep")).unwrap();
    home.write("logs/a.jsonl", "{\"query\": \"Ring the bell.\", \"functions\": [{\"name\": \"ring\"}]}\n");
    let part = callsieve()
        .current_dir(home.path("logs"))
        .args(["run", "a.jsonl", "--out", "run", "--part", "1/1"])
        .output()
        .unwrap();
    assert!(part.status.success(), "{}", shown(&part));
    let merged = home.done(&["merge", "logs/run"]);
    assert!(merged.contains("logs/run"), "{merged}");
    assert!(home.path("logs/run/run.json").is_file());
}

#[test]
fn several_processes_do_parts_of_one_run_at_the_same_time() {
    let (home, raw) = (Home::new(), raw());
    let part = |number: u32| {
        let part = format!("{number}/6");
        callsieve()
            .current_dir(home.0.path())
            .args(["run", &raw, "--out", "parts", "--part", &part, "--quiet"])
            .spawn()
            .unwrap()
    };
    // One part is done by two processes, as a scheduler does that has lost sight of the first.
    let processes: Vec<_> = [1, 2, 3, 4, 5, 6, 3].into_iter().map(part).collect();
    for mut process in processes {
        assert!(process.wait().unwrap().success());
    }
    home.done(&["merge", "parts", "--quiet"]);
    let one = output(&["run", &raw, "--out", home.path("one").to_str().unwrap(), "--quiet"]);
    assert!(one.status.success(), "{}", shown(&one));
    home.assert_same("one", "parts");
}

#[test]
fn parts_that_ended_after_the_run_are_told_and_removed() {
    let home = Home::new();
    let row = |text: &str| format!("{}\n", json!({"query": text, "functions": [{"name": "ring"}]}));
    home.write("a.jsonl", &[row("Ring the bell."), row("Ring it again at noon.")].concat());
    home.parts(&["run", "a.jsonl", "--out", "parts"], 2);
    // As if a process had taken longer than the run.
    let (late, aside) = (home.path("parts/parts"), home.path("aside"));
    copy_folder(&late, &aside);
    home.done(&["merge", "parts", "--quiet"]);
    for command in [&["purge", "parts", "--raw"][..], &["forget", "parts", "--id", "a.jsonl:1"]] {
        copy_folder(&aside, &late);
        let (code, why) = home.refused(&["verify", "parts"]);
        assert!(code == 1 && why.contains("hint: `callsieve purge RUN --raw` removes them"), "{why}");
        home.done(command);
        assert!(!late.exists(), "{command:?}");
    }
    assert_eq!(home.done(&["verify", "parts"]), "");
}

#[test]
fn a_person_s_drop_of_a_held_row_does_not_keep_later_stages_from_being_divided() {
    let (home, raw) = (Home::new(), format!("{}/hosted.jsonl", raw()));
    home.done(&["run", &raw, "--out", "first", "--quiet"]);
    let held =
        home.done(&["held", "first", "--reason", "relevance/unsure", "--decide", "drop", "--format", "csv"]);
    home.write("drops.csv", &held);
    let call = |out| ["run", &raw, "--decisions", "drops.csv", "--out", out];
    home.done(&[&call("one")[..], &["--quiet"]].concat());
    home.parts(&call("parts"), 2);
    home.done(&["merge", "parts", "--until", "fix-docs"]);
    let said = home.done(&[&call("parts")[..], &["--part", "1/2"]].concat());
    assert!(said.contains("1/2 of fix-docs"), "{said}");
    home.done(&[&call("parts")[..], &["--part", "2/2"]].concat());
    home.done(&["merge", "parts", "--quiet"]);
    home.assert_same("one", "parts");
}

#[test]
fn an_input_that_changed_after_it_was_joined_is_told() {
    let home = Home::new();
    let row = |n: usize| {
        format!("{}\n", json!({"query": format!("Ring bell {n}."), "functions": [{"name": "ring"}]}))
    };
    home.write("a.jsonl", &[row(1), row(2)].concat());
    let call = ["run", "a.jsonl", "--out", "parts", "--quiet"];
    home.parts(&call, 2);
    let said = home.done(&["merge", "parts", "--until", "drop-spam"]);
    assert!(
        said.contains("all stages before drop-spam are done"),
        "merge prints, though its parts were quiet: {said}"
    );
    home.parts(&call, 1);
    home.write("a.jsonl", &[row(1), row(2), row(3)].concat());
    let (code, why) = home.refused(&["merge", "parts"]);
    assert_eq!(code, 3, "{why}");
    assert!(
        why.contains("changed since their parts were joined\nhint: begin again in another folder"),
        "{why}"
    );
    home.write("a.jsonl", &[row(1), row(2)].concat());
    home.done(&["merge", "parts"]);
}

/// A file may have 64 KiB, as on a disk that is full.
#[cfg(unix)]
#[test]
fn a_full_disk_stops_a_part_and_the_merge_and_both_go_on_once_there_is_room() {
    let home = Home::new();
    let log = home.path("long.jsonl");
    write_long_log(&log, 3000);
    let log = log.to_str().unwrap();
    home.done(&["run", log, "--out", "one", "--quiet"]);
    let cramped = |arguments: &[&str]| {
        let program = callsieve().get_program().to_owned();
        let mut command = std::process::Command::new("sh");
        command.current_dir(home.0.path()).env("CALLSIEVE_SETS", "no-such-folder").args([
            "-c",
            "trap '' XFSZ; ulimit -f 128; exec \"$@\"",
            "sh",
        ]);
        let output = command.arg(program).args(arguments).output().unwrap();
        assert!(!output.status.success(), "{}", shown(&output));
        String::from_utf8(output.stderr).unwrap()
    };
    let part = |number: &'static str| ["run", log, "--out", "parts", "--part", number, "--quiet"];
    let told = cramped(&part("1/2"));
    assert!(told.contains("error: writing ") && told.contains("hint: "), "{told}");
    home.done(&part("2/2"));
    let (code, told) = home.refused(&["merge", "parts", "--quiet"]);
    assert!(code == 3 && told.contains("not finished: 1/2"), "{code} {told}");
    home.done(&part("1/2"));
    let told = cramped(&["merge", "parts", "--quiet"]);
    assert!(told.contains("error: writing ") && told.contains("hint: "), "{told}");
    home.done(&["merge", "parts", "--quiet"]);
    home.assert_same("one", "parts");
}
