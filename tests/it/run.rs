//! Tests of the laws of a whole run on the program: no row is lost, the bytes are the same, and a run can be stopped.

use std::path::Path;
use std::process::Stdio;

use crate::support::{
    ANSWERS, assert_same_bytes, callsieve, copy_folder, report_without_timing, run_sample, stable_bytes,
    write_long_log,
};
use callsieve::bfcl::category::Category;
use callsieve::engine::frame::FrameFile;
use callsieve_testkit::data;
use serde_json::Value;

fn json(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

#[test]
fn one_thread_and_many_have_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log.jsonl");
    write_long_log(&log, 12_000);
    for more in [&[][..], &["--limit", "5000"], &["--sample-rows", "5000"]] {
        let run = |threads: &str| {
            let out = folder.path().join(format!("{threads}{}", more.concat()));
            let mut command = callsieve();
            command
                .args(["run", "--quiet", "--threads", threads, "--input"])
                .arg(&log)
                .arg("--out")
                .arg(&out)
                .args(more);
            let status = command
                .env("POLARS_MAX_THREADS", threads)
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status();
            assert!(status.unwrap().success());
            (stable_bytes(&out), report_without_timing(&out))
        };
        let (one, one_report) = run("1");
        for threads in ["2", "5"] {
            let (many, many_report) = run(threads);
            assert_same_bytes(&one, &many);
            assert_eq!(one_report, many_report, "{threads} threads, {more:?}");
        }
    }
}

#[cfg(unix)]
#[test]
fn a_run_killed_at_any_moment_continues_to_the_same_bytes() {
    use std::os::unix::process::ExitStatusExt as _;
    const KILLS: u32 = 10;
    let folder = tempfile::tempdir().unwrap();
    let whole = folder.path().join("whole");
    run_sample(&whole, &[]);
    let n_files = count_files(&whole);
    let killed = folder.path().join("killed");
    let mut n_hit = 0;
    for nth in 0..KILLS {
        // Moments over the whole run, by the number of its existing files. Every other run begins from nothing, because
        // the rest of a continued run is short.
        if nth % 2 == 0 && killed.exists() {
            std::fs::remove_dir_all(&killed).unwrap();
        }
        let mut run = callsieve()
            .args(["run", "--quiet", "--set", ANSWERS, "--out"])
            .arg(&killed)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let wanted = n_files * (nth as usize + 1) / (KILLS as usize + 2);
        while count_files(&killed) < wanted && run.try_wait().unwrap().is_none() {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        run.kill().unwrap();
        n_hit += u32::from(run.wait().unwrap().signal() == Some(9));
    }
    assert!(n_hit >= 3, "only {n_hit} of {KILLS} kills hit a live run");
    run_sample(&killed, &[]);
    assert_same_bytes(&stable_bytes(&whole), &stable_bytes(&killed));
}

/// Returns the files below a folder, in which files may be written and renamed at the same time.
fn count_files(folder: &Path) -> usize {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| if entry.path().is_dir() { count_files(&entry.path()) } else { 1 }).sum()
}

#[test]
fn the_order_of_the_input_files_does_not_reach_the_dataset_or_the_ledger() {
    let folder = tempfile::tempdir().unwrap();
    let inputs = ["raw/hosted.jsonl", "raw/openai.jsonl.gz", "raw/anthropic.jsonl", "raw/pairs.csv"];
    let bytes = |name: &str, inputs: &[&str]| {
        let out = folder.path().join(name);
        let mut arguments = vec!["--input"];
        arguments.extend(inputs);
        run_sample(&out, &arguments);
        let mut files = stable_bytes(&out);
        files.retain(|name, _| name.starts_with("dataset") || name.ends_with("ledger.parquet"));
        files
    };
    let forward = bytes("forward", &inputs);
    let mut turned = inputs;
    turned.reverse();
    assert_same_bytes(&forward, &bytes("turned", &turned));
}

#[test]
fn every_line_and_every_request_is_accounted_for_once() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    run_sample(&out, &[]);
    let report = json(&out.join("report.json"));
    let count = |pointer: &str| report.pointer(pointer).and_then(Value::as_u64).unwrap();
    assert_eq!(
        count("/ingest/lines"),
        count("/ingest/records") + count("/ingest/no_request") + count("/ingest/unreadable")
    );
    let fates = ["kept", "merged", "held", "dropped"].map(|fate| count(&format!("/requests/{fate}")));
    assert_eq!(count("/requests/rows"), fates.iter().sum::<u64>());
    assert!(fates.iter().all(|&rows| rows > 0), "the sample shows every fate: {fates:?}");
    let exported: u64 = report["exported"].as_object().unwrap().values().filter_map(Value::as_u64).sum();
    assert_eq!(exported, fates[0]);

    let rows = FrameFile::open(&out.join("rows.parquet")).unwrap().read_all().unwrap();
    assert_eq!(rows.height() as u64, count("/requests/rows"));
    // Conversely, the places of all rows and of all lines without one are those of the files, each once.
    let place =
        |row| (rows.ints("file").unwrap().get(row).unwrap(), rows.ints("line").unwrap().get(row).unwrap());
    let lines = callsieve::engine::raw::read_lines(&out).unwrap();
    let places: Vec<(i64, i64)> = (0..rows.height())
        .map(place)
        .chain(lines.iter().map(|line| (i64::from(line.file), line.line)))
        .collect();
    let distinct: std::collections::BTreeSet<_> = places.iter().copied().collect();
    assert_eq!((distinct.len(), places.len() as u64), (places.len(), count("/ingest/lines")));
    for (file, name) in [(0, "raw/hosted.jsonl"), (2, "raw/anthropic.jsonl")] {
        let n_lines = std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(name))
            .unwrap()
            .split(|byte| *byte == b'\n')
            .count()
            - 1;
        let expected: Vec<i64> = (1..=i64::try_from(n_lines).unwrap()).collect();
        let found: Vec<i64> = distinct.iter().filter(|(of, _)| *of == file).map(|(_, line)| *line).collect();
        assert_eq!(found, expected, "{name}");
    }
    let words = rows.texts("fate").unwrap();
    let n_exported = (0..rows.height()).filter(|&row| words.get(row) == Some("exported")).count();
    assert_eq!(n_exported as u64, exported);
}

#[test]
fn every_stage_of_the_recipe_but_four_finds_work_in_the_sample() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    run_sample(&out, &[]);
    let report = json(&out.join("report.json"));
    for stage in report["stages"].as_array().unwrap() {
        let id = stage["id"].as_str().unwrap();
        let works =
            !stage["fates"].as_array().unwrap().is_empty() || !stage["edits"].as_object().unwrap().is_empty();
        // The sample has no load test; `tests/it/ferries.rs` has one. Flags are cells, no edits.
        let idle = ["cap-templates", "merge-fixed-docs", "verify-answers", "flag-answers"];
        assert!(works || idle.contains(&id), "{id} has nothing to do");
    }
    for category in ["simple", "multiple", "parallel", "parallel_multiple"] {
        for set in ["scored", "unverified"] {
            assert!(
                report["exported"][format!("{set}/{category}")].as_u64() > Some(0),
                "{set}/{category} is empty"
            );
        }
    }
    for set in ["scored/irrelevance", "unverified/irrelevance", "unverified/relevance"] {
        assert!(report["exported"][set].as_u64() > Some(0), "{set} is empty");
    }
    let kinds = report["redacted"].as_object().unwrap();
    assert!(kinds.len() >= 5, "{kinds:?}");
}

#[test]
fn a_changed_setting_reruns_that_stage_and_what_follows_and_nothing_before() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    run_sample(&out, &[]);
    let changed_at = |stage: &str| {
        let path = out.join("stages").join(stage).join("manifest.json");
        std::fs::metadata(path).unwrap().modified().unwrap()
    };
    let stages = ["06-merge-exact-docs", "08-merge-near-docs", "10-merge-near-queries"];
    let before = stages.map(changed_at);
    run_sample(&out, &["--set", "merge-near-docs.threshold=0.7"]);
    let after = stages.map(changed_at);
    assert_eq!(before[0], after[0]);
    assert!(before[1] < after[1] && before[2] < after[2]);
    run_sample(&out, &["--set", "merge-near-docs.threshold=0.7"]);
    assert_eq!(after, stages.map(changed_at));
}

#[test]
fn changed_input_is_read_again_and_renamed_input_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let (log, out) = (folder.path().join("log.jsonl"), folder.path().join("run"));
    let row = |query: &str| {
        format!("{{\"query\": {query:?}, \"functions\": \"[{{\\\"name\\\": \\\"now\\\"}}]\"}}\n")
    };
    let ingested = || json(&out.join("ingest/manifest.json"));
    let input = |path: &Path| path.to_str().unwrap().to_owned();
    std::fs::write(&log, row("What time is it in Oslo?")).unwrap();
    run_sample_inputs(&out, &input(&log));
    let first = ingested();
    let renamed = folder.path().join("renamed.jsonl");
    std::fs::rename(&log, &renamed).unwrap();
    run_sample_inputs(&out, &input(&renamed));
    assert_eq!(first, ingested());
    std::fs::write(&renamed, row("What time is it in Rome?")).unwrap();
    run_sample_inputs(&out, &input(&renamed));
    assert_ne!(first["key"], ingested()["key"]);
}

/// Writes a log of one request.
fn write_question(path: &Path, query: &str) {
    let row = format!("{{\"query\": {query:?}, \"functions\": \"[{{\\\"name\\\": \\\"now\\\"}}]\"}}\n");
    std::fs::write(path, row).unwrap();
}

#[test]
fn a_run_is_replaced_by_one_of_other_inputs_only_on_request() {
    let folder = tempfile::tempdir().unwrap();
    let (log, other, out) = (folder.path().join("log.jsonl"), folder.path().join("other.jsonl"), "run");
    let out = folder.path().join(out);
    write_question(&log, "What time is it in Oslo?");
    write_question(&other, "What time is it in Rome today?");
    let run = |inputs: &[&Path], more: &[&str], stdin: Option<&Path>| {
        let mut command = callsieve();
        command.args(["run", "--quiet", "--out"]).arg(&out).args(more);
        if !inputs.is_empty() {
            command.arg("--input").args(inputs);
        }
        if let Some(path) = stdin {
            command.stdin(std::fs::File::open(path).unwrap());
        }
        let output = command.output().unwrap();
        (output.status.code(), crate::support::shown(&output))
    };
    let dash = Path::new("-");
    assert_eq!(run(&[&log], &[], None).0, Some(0));
    let whole = stable_bytes(&out);
    let refused = |what: &str, (code, text): (Option<i32>, String)| {
        assert_eq!(code, Some(2), "{what}: {text}");
        assert!(text.contains("contains a run of other inputs: it read "), "{what}: {text}");
        assert!(
            text.contains("log.jsonl, but this run reads ") && text.contains("--fresh"),
            "{what}: {text}"
        );
        assert!(!out.join("stdin").exists() && !out.join("stdin.partial").exists(), "{what}");
    };
    refused("the sample log", run(&[], &[], None));
    refused("another file", run(&[&other], &[], None));
    refused("one more file", run(&[&log, &other], &[], None));
    refused("another pipe", run(&[dash], &[], Some(&other)));
    assert_same_bytes(&whole, &stable_bytes(&out));
    // The same content under another name, and other settings, continue the run.
    assert_eq!(run(&[dash], &[], Some(&log)).0, Some(0));
    assert_eq!(run(&[&log], &["--set", "max_fault_share=1", "--limit", "1"], None).0, Some(0));
    assert_eq!(run(&[&log], &[], None).0, Some(0));
    // An interrupted run is not replaced either.
    std::fs::remove_file(out.join("stdin")).unwrap();
    std::fs::remove_file(out.join("run.json")).unwrap();
    refused("the sample log, in an unfinished run", run(&[], &[], None));
    assert_eq!(run(&[&other], &["--fresh"], None).0, Some(0));
    assert_ne!(whole, stable_bytes(&out));
}

#[cfg(unix)]
#[test]
fn errors_about_an_interrupted_run_name_the_command_that_continues_it() {
    let folder = tempfile::tempdir().unwrap();
    let (log, out) = (folder.path().join("it's a log.jsonl"), folder.path().join("run"));
    write_question(&log, "What time is it in Oslo?");
    let arguments = ["run", "--fresh", "--out", out.to_str().unwrap(), "--input", log.to_str().unwrap()];
    assert!(crate::support::output(&arguments).status.success());
    let whole = stable_bytes(&out);
    std::fs::remove_file(out.join("run.json")).unwrap();
    let told = crate::support::shown(&crate::support::output(&["report", out.to_str().unwrap()]));
    assert!(told.contains(&format!("error: the run in {} is not finished\n", out.display())), "{told}");
    let command = told.split("hint: `").nth(1).unwrap().split('`').next().unwrap();
    assert!(told.contains("` continues where it stopped") && !command.contains("--fresh"), "{told}");
    let again = std::process::Command::new("sh")
        .args(["-c", command])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(
        again.status.success() && crate::support::shown(&again).contains("reused "),
        "{}",
        crate::support::shown(&again)
    );
    assert_same_bytes(&whole, &stable_bytes(&out));
    // Another command has used the folder since.
    std::fs::remove_file(out.join("run.json")).unwrap();
    let purge = crate::support::shown(&crate::support::output(&["purge", out.to_str().unwrap(), "--raw"]));
    assert!(purge.contains("is not finished\nhint: the command that began it continues"), "{purge}");
}

fn run_sample_inputs(out: &Path, input: &str) {
    let output =
        crate::support::output(&["run", "--quiet", "--out", out.to_str().unwrap(), "--input", input]);
    assert!(output.status.success(), "{}", crate::support::shown(&output));
}

#[test]
fn a_sample_is_the_same_each_time_and_the_rest_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    let sample = |name: &str| {
        let out = folder.path().join(name);
        run_sample(&out, &["--sample-rows", "40"]);
        (json(&out.join("report.json"))["ingest"].clone(), stable_bytes(&out))
    };
    let (counts, bytes) = sample("one");
    assert_eq!(counts["records"], 40);
    let passed_over = counts["not_sampled"].as_u64().unwrap();
    let others = counts["no_request"].as_u64().unwrap() + counts["unreadable"].as_u64().unwrap();
    assert_eq!(counts["lines"].as_u64().unwrap(), 40 + passed_over + others);
    assert_same_bytes(&bytes, &sample("two").1);
}

#[test]
fn a_sample_represents_the_dataset_for_any_order_of_files() {
    let folder = tempfile::tempdir().unwrap();
    let pipeline = folder.path().join("sampled.toml");
    let live =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("pipelines/live.toml")).unwrap();
    let stage = "[[stages]]\nkind = \"sample\"\nsize = 40\nstrata = [\"category\", \"language\"]\nmax_per_list = 3\n\n[export]";
    std::fs::write(&pipeline, live.replace("[export]", stage)).unwrap();
    let sample = |name: &str, inputs: &[&str]| {
        let out = folder.path().join(name);
        let mut command = callsieve();
        command.arg("run").arg(&pipeline).args(["--quiet", "--out"]).arg(&out).arg("--input").args(inputs);
        let command = command.args(["--set", ANSWERS]);
        assert!(command.stdout(Stdio::null()).status().unwrap().success());
        let dataset =
            stable_bytes(&out).into_iter().filter(|(name, _)| name.starts_with("dataset")).collect();
        (json(&out.join("report.json")), dataset, out)
    };
    let (report, forward, out) =
        sample("forward", &["raw/hosted.jsonl", "raw/openai.jsonl.gz", "raw/pairs.csv"]);
    let left = |step: &str| {
        let funnel = report["funnel"].as_array().unwrap();
        funnel.iter().find(|row| row["step"] == step).unwrap()["requests"].as_u64().unwrap()
    };
    assert_eq!([left("sample"), left("export")], [40, 40]);
    let sum = |counts: &Value| counts.as_object().unwrap().values().map(|n| n.as_u64().unwrap()).sum::<u64>();
    assert_eq!([sum(&report["entries"]["category"]), sum(&report["exported"])], [40, 40]);
    let mut weights = 0.0;
    for set in ["scored", "unverified"] {
        let rows =
            FrameFile::open(&out.join(format!("dataset/data/{set}.parquet"))).unwrap().read_all().unwrap();
        weights += (0..rows.height()).map(|row| rows.row_json(row)["weight"].as_f64().unwrap()).sum::<f64>();
    }
    #[allow(clippy::cast_precision_loss)]
    let population = left("split") as f64;
    assert!((weights - population).abs() < 1e-6, "{weights} for {population} rows");
    let (_, turned, _) = sample("turned", &["raw/pairs.csv", "raw/openai.jsonl.gz", "raw/hosted.jsonl"]);
    assert_same_bytes(&forward, &turned);
}

#[test]
fn parquet_and_standard_input_have_the_same_rows_as_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let rows: Vec<(String, String)> = (0..5)
        .map(|n| (format!("How many herons nest in marsh {n}?"), format!("[{{\"name\": \"herons_{n}\"}}]")))
        .collect();
    let lines: String = rows
        .iter()
        .map(|(query, docs)| serde_json::json!({"query": query, "functions": docs}).to_string() + "\n")
        .collect();
    let (jsonl, parquet) = (folder.path().join("log.jsonl"), folder.path().join("log.parquet"));
    std::fs::write(&jsonl, &lines).unwrap();
    let column = |get: fn(&(String, String)) -> &str| {
        callsieve::engine::frame::Values::Text(rows.iter().map(|row| Some(get(row))).collect())
    };
    let columns = vec![("query", column(|row| &row.0)), ("functions", column(|row| &row.1))];
    callsieve::engine::frame::write_frame(&parquet, columns).unwrap();

    let listed = |name: &str, input: &str, standard: Option<&str>| {
        let out = folder.path().join(name);
        let mut command = callsieve();
        command.args(["run", "pipelines/parse-only.toml", "--quiet", "--input", input, "--out"]).arg(&out);
        if let Some(path) = standard {
            command.stdin(std::fs::File::open(path).unwrap());
        }
        assert!(command.stdout(Stdio::null()).status().unwrap().success());
        let lists = FrameFile::open(&out.join("lists.parquet")).unwrap().read_all().unwrap();
        let functions = lists.texts("functions").unwrap();
        (0..lists.height()).map(|row| functions.get(row).unwrap().to_owned()).collect::<Vec<_>>()
    };
    let from_file = listed("file", jsonl.to_str().unwrap(), None);
    assert_eq!(from_file.len(), 5);
    assert_eq!(from_file, listed("parquet", parquet.to_str().unwrap(), None));
    assert_eq!(from_file, listed("standard", "-", jsonl.to_str()));
}

/// Returns a line of OTLP with `n` spans, the second of which has no question.
fn otlp_line(name: &str, n_spans: usize) -> Value {
    let pair = |key: &str, value: &str| serde_json::json!({"key": key, "value": {"stringValue": value}});
    let span = |n: usize| {
        let mut attributes = vec![
            pair("gen_ai.prompt.0.role", "user"),
            pair("gen_ai.prompt.0.content", &format!("{name} {n}")),
        ];
        if n != 1 {
            attributes.push(pair("llm.request.functions.0.name", "tide"));
        }
        serde_json::json!({"spanId": format!("{name}-{n}"), "attributes": attributes})
    };
    let spans: Vec<Value> = (0..n_spans).map(span).collect();
    serde_json::json!({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]})
}

#[test]
fn a_line_with_several_requests_is_counted_by_its_parts_under_any_limit() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log.jsonl");
    let lines =
        [otlp_line("a", 4), otlp_line("b", 1), serde_json::json!({"level": "info"}), otlp_line("c", 3)];
    std::fs::write(&log, lines.iter().map(|line| line.to_string() + "\n").collect::<String>()).unwrap();
    // For each case: lines, requests, lines without one, skipped lines. No part of a line that was not begun is
    // counted.
    for (more, expected) in [
        (vec![], [9, 6, 3, 0]),
        (vec!["--limit", "2"], [7, 2, 1, 4]),
        (vec!["--limit", "4"], [7, 4, 1, 2]),
        (vec!["--limit", "5"], [9, 5, 2, 2]),
        (vec!["--sample-rows", "2"], [9, 2, 3, 4]),
    ] {
        for threads in ["1", "4"] {
            let out = folder.path().join(format!("run{threads}{}", more.concat()));
            let mut command = callsieve();
            command.args(["run", "pipelines/parse-only.toml", "--quiet", "--threads", threads]).args(&more);
            let run = command.arg("--input").arg(&log).arg("--out").arg(&out).output().unwrap();
            assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
            let ingest = &json(&out.join("report.json"))["ingest"];
            let counts =
                ["lines", "records", "no_request", "not_sampled"].map(|key| ingest[key].as_u64().unwrap());
            assert_eq!(counts, expected, "{more:?}");
        }
    }
    let why = callsieve().arg("why").arg(folder.path().join("run1")).arg("log.jsonl:1").output().unwrap();
    let why = String::from_utf8(why.stdout).unwrap();
    assert!(why.contains("id a-0") && why.contains("id a-3"), "{why}");
}

#[test]
fn a_bulk_export_of_runs_is_read_from_parquet() {
    const INPUTS: [&str; 1] = [
        r#"{"messages": [[{"lc": 1, "type": "constructor", "id": ["langchain", "HumanMessage"], "kwargs": {"content": "When?"}}]]}"#,
    ];
    const OUTPUTS: [&str; 1] =
        [r#"{"generations": [[{"text": "At noon.", "message": {"kwargs": {"content": "At noon."}}}]]}"#];
    const EXTRA: [&str; 1] = [
        r#"{"invocation_params": {"model": "m", "tools": [{"type": "function", "function": {"name": "tide"}}]}}"#,
    ];
    let folder = tempfile::tempdir().unwrap();
    let (exported, out) = (folder.path().join("runs.parquet"), folder.path().join("run"));
    let column = |texts: &'static [&'static str; 1]| {
        callsieve::engine::frame::Values::Text(texts.iter().map(|text| Some(*text)).collect())
    };
    let columns = vec![
        ("id", column(&["r1"])),
        ("inputs", column(&INPUTS)),
        ("outputs", column(&OUTPUTS)),
        ("extra", column(&EXTRA)),
    ];
    callsieve::engine::frame::write_frame(&exported, columns).unwrap();
    let mut command = callsieve();
    command
        .args(["run", "pipelines/parse-only.toml", "--quiet", "--input"])
        .arg(&exported)
        .arg("--out")
        .arg(&out);
    assert!(command.stdout(Stdio::null()).status().unwrap().success());
    let requests = FrameFile::open(&out.join("ingest/requests.parquet")).unwrap().read_all().unwrap();
    let text = |column: &str| requests.texts(column).unwrap().get(0).map(str::to_owned).unwrap();
    assert_eq!(
        (text("log_format"), text("external_id"), text("model")),
        ("langsmith".into(), "r1".into(), "m".into())
    );
    assert_eq!(text("messages"), r#"[{"role":"user","content":"When?"}]"#);
    assert_eq!(text("response"), r#"{"role":"assistant","content":"At noon."}"#);
}

/// Runs the live recipe on rows of one log. Returns the final fate of each row by its own id.
fn fates_of(rows: &[Value]) -> std::collections::BTreeMap<String, (String, Option<String>)> {
    let folder = tempfile::tempdir().unwrap();
    let (log, out) = (folder.path().join("log.jsonl"), folder.path().join("run"));
    std::fs::write(&log, rows.iter().map(|row| row.to_string() + "\n").collect::<String>()).unwrap();
    run_sample_inputs(&out, log.to_str().unwrap());
    let rows = FrameFile::open(&out.join("rows.parquet")).unwrap().read_all().unwrap();
    let text = |column: &str, row| rows.texts(column).unwrap().get(row).map(str::to_owned);
    let fate = |row| (text("external_id", row).unwrap(), (text("fate", row).unwrap(), text("reason", row)));
    (0..rows.height()).map(fate).collect()
}

#[test]
fn a_call_follows_the_renames_of_its_list_to_the_leader() {
    let docs = |from: &str| {
        serde_json::json!([{"name": "ferry", "description": "Books a seat on a ferry between two islands of the archipelago.",
            "parameters": {"type": "dict", "required": [from], "properties": {from: {"type": "string", "description": "Island of departure."}}}}])
        .to_string()
    };
    let row = |id: &str, time: u64, from: &str, query: &str| {
        serde_json::json!({"id": id, "ts": time, "prompt": query, "function": docs(from), "response": {"role": "assistant",
            "tool_calls": [{"id": "c", "type": "function", "function": {"name": "ferry", "arguments": {from: "Runmarö"}}}]}})
    };
    // `from` is a Python keyword: the fixed later list equals the earlier one and is merged into it.
    let fates = fates_of(&[
        row("early", 1_900_000_000, "_from", "Book me a ferry seat from Runmarö"),
        row("later", 2_000_000_000, "from", "My dog and I must leave Runmarö by boat"),
    ]);
    assert_eq!(fates["early"], ("exported".to_owned(), None));
    assert_eq!(fates["later"], ("exported".to_owned(), None));
}

#[test]
fn the_first_of_several_steps_is_not_an_answer() {
    let user =
        serde_json::json!({"role": "user", "content": "Check the pump of basin 3 and start it if it is dry"});
    let call = |id: &str, name: &str| serde_json::json!({"role": "assistant", "content": null, "tool_calls": [{"id": id, "type": "function", "function": {"name": name, "arguments": "{\"basin\": 3}"}}]});
    let result = serde_json::json!({"role": "tool", "tool_call_id": "a", "content": "{\"dry\": true}"});
    let tools: Vec<Value> = ["check_pump", "start_pump"]
        .iter()
        .map(|name| serde_json::json!({"type": "function", "function": {"name": name, "description": format!("{name} of a basin"),
            "parameters": {"type": "object", "required": ["basin"], "properties": {"basin": {"type": "integer", "description": "Number of the basin."}}}}}))
        .collect();
    let row = |id: &str, messages: Vec<&Value>, answer: &Value| serde_json::json!({"id": id, "ts": 1_900_000_000, "request": {"messages": messages, "tools": tools}, "response": {"choices": [{"message": answer, "finish_reason": "tool_calls"}]}});
    let (first, second) = (call("a", "check_pump"), call("b", "start_pump"));
    let fates =
        fates_of(&[row("first", vec![&user], &first), row("second", vec![&user, &first, &result], &second)]);
    assert_eq!(fates["first"], ("held".to_owned(), Some("answer/several-steps".to_owned())));
    assert_eq!(fates["second"], ("merged".to_owned(), Some("conversation/continues".to_owned())));
}

fn one_function() -> String {
    r#"[{"name": "ring", "description": "Rings the bell.", "parameters": {"type": "dict", "required": ["times"], "properties": {"times": {"type": "integer", "description": "How often."}}}}]"#.to_owned()
}

fn ring(id: &str, times: u32) -> Value {
    serde_json::json!({"role": "assistant", "content": null, "tool_calls": [
        {"id": id, "type": "function", "function": {"name": "ring", "arguments": format!("{{\"times\": {times}}}")}}]})
}

fn chat(id: &str, time: u64, messages: &[Value], answer: Option<&Value>) -> Value {
    let functions: Value = serde_json::from_str(&one_function()).unwrap();
    serde_json::json!({"id": id, "ts": time, "request": {"messages": messages, "tools": [{"type": "function", "function": functions[0]}]},
        "response": answer.map(|answer| serde_json::json!({"choices": [{"message": answer, "finish_reason": "tool_calls"}]}))})
}

#[test]
fn requests_differ_when_anything_around_the_question_differs() {
    let user = serde_json::json!({"role": "user", "content": "Ring the bell as often as today asks for"});
    let system = |text: &str| serde_json::json!({"role": "system", "content": text});
    let fates = fates_of(&[
        chat(
            "may",
            1_900_000_001,
            &[user.clone(), system("Today is May: ring 3 times.")],
            Some(&ring("a", 3)),
        ),
        chat(
            "june",
            1_900_000_002,
            &[user.clone(), system("Today is June: ring 9 times.")],
            Some(&ring("b", 9)),
        ),
        chat("before", 1_900_000_003, &[system("Today is May: ring 3 times."), user], Some(&ring("c", 3))),
    ]);
    assert!(fates.values().all(|(_, reason)| reason.as_deref() != Some("query/duplicate")), "{fates:?}");
}

#[test]
fn a_failed_call_is_not_taken_from_an_equal_request() {
    let user =
        serde_json::json!({"role": "user", "content": "Ring the bell 3 times for the wedding at noon"});
    let result = serde_json::json!({"role": "tool", "tool_call_id": "a", "content": "{\"error\": \"the rope is broken\"}"});
    let sorry = serde_json::json!({"role": "assistant", "content": "That did not work."});
    let fates = fates_of(&[
        chat("failed", 1_900_000_001, std::slice::from_ref(&user), Some(&ring("a", 3))),
        chat("failed-next", 1_900_000_002, &[user.clone(), ring("a", 3), result], Some(&sorry)),
        chat("twin", 1_900_000_003, &[user], Some(&ring("b", 3))),
    ]);
    assert_eq!(fates["failed"], ("held".to_owned(), Some("answer/refuted".to_owned())));
    assert_eq!(fates["twin"], ("merged".to_owned(), Some("query/duplicate".to_owned())));
}

#[test]
fn a_short_reply_in_a_conversation_is_not_spam() {
    let asked = serde_json::json!({"role": "assistant", "content": "Shall I ring the bell three times?"});
    let reply = serde_json::json!({"role": "user", "content": "yes"});
    let fates = fates_of(&[
        chat("reply", 1_900_000_001, &[asked, reply.clone()], Some(&ring("a", 3))),
        chat("alone", 1_900_000_002, &[reply], Some(&ring("b", 3))),
    ]);
    assert_eq!(fates["reply"].0, "exported");
    assert_eq!(fates["alone"], ("dropped".to_owned(), Some("spam/too-short".to_owned())));
}

#[test]
fn a_file_renamed_to_another_format_is_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let (lines, table) = (folder.path().join("log.jsonl"), folder.path().join("log.csv"));
    let request = serde_json::json!({"query": "Ring the bell twice", "functions": one_function()});
    std::fs::write(&lines, format!("{request}\n")).unwrap();
    let out = folder.path().join("run");
    let run = |input: &Path| {
        let (out, input) = (out.to_str().unwrap(), input.to_str().unwrap());
        crate::support::output(&[
            "run",
            "--quiet",
            "--out",
            out,
            "--input",
            input,
            "--set",
            "max_fault_share=1",
        ])
    };
    let records = || report_without_timing(&out)["ingest"]["records"].as_u64().unwrap();
    assert_eq!(run(&lines).status.code(), Some(0));
    assert_eq!(records(), 1);
    // As a table the line is the header, and there is no row: the input fails, and the earlier run is kept.
    std::fs::rename(&lines, &table).unwrap();
    let again = run(&table);
    assert_eq!(again.status.code(), Some(1), "{}", crate::support::shown(&again));
    assert!(crate::support::shown(&again).contains("no request"), "{}", crate::support::shown(&again));
    assert_eq!(records(), 1);
}

#[test]
fn an_answer_for_an_id_that_several_rows_have_is_not_guessed() {
    let folder = tempfile::tempdir().unwrap();
    let (log, answers) = (folder.path().join("log.jsonl"), folder.path().join("answers.jsonl"));
    let user = |text: &str| serde_json::json!({"role": "user", "content": text});
    let rows = [
        chat("1", 1_900_000_001, &[user("Ring the bell for the bride")], None),
        chat("1", 1_900_000_002, &[user("How loud is a church organ, roughly?")], None),
    ];
    std::fs::write(&log, rows.map(|row| row.to_string() + "\n").concat()).unwrap();
    std::fs::write(&answers, "{\"request\": \"1\", \"ground_truth\": [{\"ring\": {\"times\": [3]}}]}\n")
        .unwrap();
    let set = format!("decisions={}", answers.display());
    let out = folder.path().join("run");
    let run = crate::support::output(&[
        "run",
        "--out",
        out.to_str().unwrap(),
        "--input",
        log.to_str().unwrap(),
        // Whether a bell fits does not matter here.
        "--set",
        "judge-queries.irrelevant_to=0.0",
        "--set",
        "judge-queries.relevant_from=0.000001",
        "--set",
        &set,
    ]);
    assert!(run.status.success(), "{}", crate::support::shown(&run));
    let why = "answers.jsonl:1: answer is not applied: 2 rows have this id; name the request id instead";
    assert!(crate::support::shown(&run).contains(why), "{}", crate::support::shown(&run));
}

/// Returns the irrelevance entries of a run by set, of a log of questions that no bell answers.
fn irrelevance_entries(folder: &Path, response: Option<&str>) -> Vec<(String, u64)> {
    let (log, out) = (folder.join("log.jsonl"), folder.join("run"));
    let questions = [
        "Who won the ladies' final in Rome?",
        "Translate a sonnet into Danish",
        "What is seven times eleven?",
    ];
    let rows: Vec<String> = (1_900_000_001..)
        .zip(questions)
        .map(|(time, question)| {
            let user = serde_json::json!({"role": "user", "content": question});
            let answer = response.map(|text| serde_json::json!({"role": "assistant", "content": text}));
            let mut row = chat(&time.to_string(), time, &[user], answer.as_ref());
            if answer.is_some() {
                row["response"]["choices"][0]["finish_reason"] = "stop".into();
            }
            row.to_string() + "\n"
        })
        .collect();
    std::fs::write(&log, rows.concat()).unwrap();
    let (out_name, log_name) = (out.to_str().unwrap(), log.to_str().unwrap());
    // The relevance by the text does not matter here.
    let lines = ["judge-queries.irrelevant_to=0.9998", "judge-queries.relevant_from=0.9999"];
    let arguments = ["run", "--out", out_name, "--input", log_name, "--set", lines[0], "--set", lines[1]];
    let run = crate::support::output(&arguments);
    assert!(run.status.success(), "{}", crate::support::shown(&run));
    let report = json(&out.join("report.json"));
    let n_judged = report["operating_points"]["judge-queries"]["bins"].as_array().unwrap().iter();
    let n_by_text: u64 = n_judged.map(|bin| bin["irrelevant"].as_u64().unwrap()).sum();
    assert_eq!(n_by_text, if response.is_some() { 0 } else { 3 }, "{report}");
    let exported = report["exported"].as_object().unwrap();
    exported.iter().map(|(heading, n)| (heading.clone(), n.as_u64().unwrap())).collect()
}

#[test]
fn irrelevance_is_scored_if_the_log_declined_and_unverified_if_based_on_the_text() {
    let (silent, declined) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    assert_eq!(irrelevance_entries(silent.path(), None), [("unverified/irrelevance".to_owned(), 3)]);
    let file = silent.path().join("run/dataset/unverified/BFCL_v4_live_irrelevance.json");
    let first: Value =
        serde_json::from_str(std::fs::read_to_string(file).unwrap().lines().next().unwrap()).unwrap();
    assert_eq!(first["id"], "live_irrelevance_0-ts0-u0");
    let prose = Some("None of the bells can do that.");
    // The text of one leaves open whether a bell is meant.
    let expected = [("scored/irrelevance".to_owned(), 2), ("unverified/irrelevance".to_owned(), 1)];
    assert_eq!(irrelevance_entries(declined.path(), prose), expected);
    let why = crate::support::output(&["why", silent.path().join("run").to_str().unwrap(), "1900000001"]);
    assert!(
        crate::support::shown(&why).contains("judged-irrelevant (nothing confirms the label, so unverified)"),
        "{}",
        crate::support::shown(&why)
    );
}

/// Checks that the original release of the V2 Live set has 2,251 entries, 6,682 offered functions and 1,617 distinct
/// ones.
#[test]
fn the_original_live_release_is_read_without_a_loss() {
    let Some(data) = data::path("bfcl-v2-live") else { return };
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    let categories = ["simple", "multiple", "parallel", "parallel_multiple", "irrelevance", "relevance"];
    let inputs = categories.map(|category| data.join(format!("BFCL_v2_live_{category}.json")));
    let mut command = callsieve();
    command
        .args(["run", "pipelines/parse-only.toml", "--quiet", "--out"])
        .arg(&out)
        .arg("--input")
        .args(&inputs);
    assert!(command.stdout(Stdio::null()).status().unwrap().success());
    let report = json(&out.join("report.json"));
    assert_eq!(report["ingest"]["records"], 2251);
    assert_eq!(report["ingest"]["unreadable"], 0);
    assert_eq!(report["fault_share"].as_f64(), Some(0.0));
    // The four entries that offer no function are dropped for that reason, and no other row is.
    assert_eq!(report["requests"]["reasons"], serde_json::json!({"parse/no-functions": 4}));
    assert_eq!(report["composition"]["requests"], 2247);
    assert_eq!(report["composition"]["functions_offered"], 6682);
    assert_eq!(report["composition"]["distinct_functions"], 1617);
}

/// Checks the figures that pages show beside those of a dataset.
#[test]
fn the_original_live_release_has_the_composition_that_pages_show() {
    use callsieve::report::published::{
        CATEGORIES, FUNCTIONS_OF_ENTRIES, PARAMETERS_OF_FUNCTIONS, WORDS_OF_QUERIES,
    };
    let Some(data) = data::path("bfcl-v2-live") else { return };
    let (mut functions, mut parameters, mut words) = ([0; 9], [0; 9], [0; 8]);
    let bin = |ends: &[usize], size: usize| ends.partition_point(|end| *end < size);
    for (category, n_entries) in CATEGORIES {
        let file = data.join(format!("BFCL_v2_live_{}.json", category.name().trim_start_matches("live_")));
        let text = std::fs::read_to_string(file).unwrap();
        let entries: Vec<serde_json::Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(entries.len() as u64, n_entries, "{}", category.name());
        for entry in entries {
            // A single function stands without a list.
            let single = std::slice::from_ref(&entry["function"]);
            let offered = entry["function"].as_array().map_or(single, Vec::as_slice);
            functions[bin(&[1, 2, 3, 4, 5, 10, 20, 50], offered.len())] += 1;
            for function in offered {
                let n = function["parameters"]["properties"].as_object().map_or(0, serde_json::Map::len);
                parameters[bin(&[0, 1, 2, 3, 4, 5, 10, 20], n)] += 1;
            }
            // Categories differ in whether the messages are in a list of turns.
            let messages = entry["question"][0].as_array().or(entry["question"].as_array()).unwrap();
            let query = messages.iter().rfind(|message| message["role"] == "user");
            let n_words = query.map_or(0, |it| it["content"].as_str().unwrap().split_whitespace().count());
            words[bin(&[5, 10, 20, 40, 80, 160, 320], n_words)] += 1;
        }
    }
    assert_eq!(functions, FUNCTIONS_OF_ENTRIES);
    assert_eq!(parameters, PARAMETERS_OF_FUNCTIONS);
    assert_eq!(words, WORDS_OF_QUERIES);
}

/// Returns the content of every file of a run folder as text: Parquet cell by cell, other files unchanged.
fn texts_of(run: &Path) -> std::collections::BTreeMap<String, String> {
    let mut texts = std::collections::BTreeMap::new();
    let mut folders = vec![run.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let mut text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
            if path.extension().is_some_and(|extension| extension == "parquet") {
                let frame = FrameFile::open(&path).unwrap().read_all().unwrap();
                text.extend((0..frame.height()).map(|row| Value::Object(frame.row_json(row)).to_string()));
            }
            texts.insert(path.strip_prefix(run).unwrap().to_str().unwrap().to_owned(), text);
        }
    }
    texts
}

/// Returns the files that hold a text.
fn files_with(run: &Path, wanted: &str) -> Vec<String> {
    let texts = texts_of(run).into_iter();
    texts.filter(|(_, text)| text.contains(wanted)).map(|(file, _)| file).collect()
}

fn row_of(run: &Path, external_id: &str) -> (String, String, Option<String>) {
    let rows = FrameFile::open(&run.join("rows.parquet")).unwrap().read_all().unwrap();
    let text = |column: &str, row| rows.texts(column).unwrap().get(row).map(str::to_owned);
    let row =
        (0..rows.height()).find(|&row| text("external_id", row).as_deref() == Some(external_id)).unwrap();
    (text("request_id", row).unwrap(), text("fate", row).unwrap(), text("reason", row))
}

/// Questions about a quay, all exported; the question of `marked` has unique words.
fn write_quay_log(path: &Path, marked: &str) {
    let docs = |what: &str, word: &str| {
        let about = match what {
            "depth" => "Measures how many metres of water stand above the sill at low tide",
            "length" => "Returns the distance between both ends, bollard to bollard, along the edge",
            "owner" => "Looks up who holds title in the land register, with postal address and telephone",
            _ => "Lists fees for mooring overnight by season, ship class and gross tonnage",
        };
        let about = if word.is_empty() {
            about.to_owned()
        } else {
            format!("Anything anybody could wish {word}, told in prose by somebody who was there")
        };
        serde_json::json!([{"name": format!("quay_{what}"), "description": about,
            "parameters": {"type": "object", "required": ["quay"], "properties": {"quay": {"type": "string", "description": format!("{what}: which")}}}}])
    };
    let call = |what: &str, quay: &str| {
        serde_json::json!({"role": "assistant", "tool_calls": [{"id": "c", "type": "function",
            "function": {"name": format!("quay_{what}"), "arguments": serde_json::json!({"quay": quay}).to_string()}}]})
    };
    let mut rows = Vec::new();
    for (n, what) in ["depth", "length", "owner", "tariff"].into_iter().enumerate() {
        let (query, quay, word) = if what == marked {
            ("How does zebrafinch marmalade reach the old northern stone landing", "Quincunx", " near Xanadu")
        } else {
            ("What do I have to know about the small harbour in the west", "Runmarö", "")
        };
        rows.push(serde_json::json!({"id": format!("log-{what}-4711"), "ts": 1_900_000_000 + n, "user": format!("user-{what}"),
            "prompt": format!("{query}: its {what}?"), "function": docs(what, word).to_string(), "response": call(what, quay)}));
        rows.push(serde_json::json!({"id": format!("next-{what}"), "ts": 1_900_000_100 + n,
            "prompt": format!("And which {what} has the new pier that they built in spring, after the flood?"),
            "function": docs(what, "").to_string(), "response": call(what, "New pier")}));
    }
    std::fs::write(path, rows.iter().map(|row| row.to_string() + "\n").collect::<String>()).unwrap();
}

fn forget(run: &Path, arguments: &[&str]) -> std::process::Output {
    let mut all = vec!["forget", run.to_str().unwrap(), "--id"];
    all.extend(arguments);
    crate::support::output(&all)
}

#[test]
fn a_forgotten_record_is_in_no_file_and_does_not_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let (log, out) = (folder.path().join("log.jsonl"), folder.path().join("run"));
    write_quay_log(&log, "owner");
    let input = log.to_str().unwrap();
    run_sample_inputs(&out, input);
    let (id, fate, _) = row_of(&out, "log-owner-4711");
    assert_eq!(fate, "exported");
    let traces = ["zebrafinch", "Quincunx", "Xanadu", "user-owner", "log-owner-4711", &id];
    for trace in traces {
        assert!(!files_with(&out, trace).is_empty(), "{trace} stands somewhere before");
    }
    assert!(files_with(&out, "zebrafinch").len() >= 3);
    let before = json(&out.join("report.json"));

    let forgotten = forget(&out, &["log-owner-4711"]);
    assert!(forgotten.status.success(), "{}", crate::support::shown(&forgotten));
    for trace in traces {
        assert_eq!(files_with(&out, trace), [] as [String; 0], "{trace}");
    }
    let after = json(&out.join("report.json"));
    let count = |report: &Value, key: &str| report["requests"][key].as_u64().unwrap();
    assert_eq!((count(&after, "forgotten"), count(&after, "rows")), (1, count(&before, "rows")));
    assert_eq!(count(&after, "kept"), count(&before, "kept") - 1);
    let fates = ["kept", "merged", "held", "dropped", "forgotten"].map(|fate| count(&after, fate));
    assert_eq!(count(&after, "rows"), fates.iter().sum::<u64>());
    let edits = |report: &Value| {
        let stages = report["stages"].as_array().unwrap();
        stages.iter().find(|stage| stage["id"] == "fix-docs").unwrap()["edits"]["schema/type-synonym"]
            .as_u64()
    };
    assert_eq!((edits(&before), edits(&after)), (Some(5), Some(4)), "edits of the doc list went with it");
    for command in ["why", "diff"] {
        let told = crate::support::output(
            &[&[command, out.to_str().unwrap()][..], if command == "why" { &["next-owner"] } else { &[] }]
                .concat(),
        );
        assert!(told.status.success(), "{}", crate::support::shown(&told));
    }
    let why = crate::support::shown(&crate::support::output(&["why", out.to_str().unwrap(), &id]));
    assert!(why.contains("forgotten/record"), "{why}");
    let again = crate::support::shown(&forget(&out, &[&id]));
    assert!(again.contains("exit: 0") && again.contains("nothing to do"), "{again}");

    for more in [&[][..], &["--fresh"]] {
        let mut arguments = vec!["run", "--out", out.to_str().unwrap(), "--input", input];
        arguments.extend(more);
        let run = crate::support::output(&arguments);
        assert!(
            crate::support::shown(&run)
                .contains("lines     8 = 7 requests + 0 without a request + 0 unreadable + 1 forgotten"),
            "{}",
            crate::support::shown(&run)
        );
        for trace in traces {
            assert_eq!(files_with(&out, trace), [] as [String; 0], "{trace} after a run with {more:?}");
        }
        let lines = callsieve::engine::raw::read_lines(&out).unwrap();
        assert_eq!(
            lines.iter().map(|line| (line.line, line.fate.as_str())).collect::<Vec<_>>(),
            [(5, "forgotten")]
        );
    }
}

#[test]
fn other_entries_keep_their_ids_and_their_answers_when_one_is_forgotten() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    run_sample(&out, &[]);
    // As in the run folder, in the order of the dataset's tables.
    let entries = |set: &str| -> Vec<(String, String)> {
        let path = out.join("dataset/data").join(format!("{set}.parquet"));
        let frame = FrameFile::open(&path).unwrap().read_all().unwrap();
        let ids = frame.texts("id").unwrap();
        let ids: Vec<&str> = (0..frame.height()).map(|row| ids.get(row).unwrap()).collect();
        let known = callsieve::engine::entries::read(&out).unwrap();
        let of_set: Vec<_> = known.into_iter().filter(|entry| entry.set == set).collect();
        assert_eq!(of_set.iter().map(|entry| &*entry.id).collect::<Vec<_>>(), ids);
        of_set.into_iter().map(|entry| (entry.id, entry.request_id.unwrap())).collect()
    };
    let ids = |file: &Path| -> Vec<String> {
        let id = |line: &str| serde_json::from_str::<Value>(line).unwrap()["id"].as_str().unwrap().to_owned();
        std::fs::read_to_string(file).unwrap_or_default().lines().map(id).collect()
    };
    let (scored, unverified) = (entries("scored"), entries("unverified"));
    // If two entries of both sets have the same id, only one of them is removed.
    let is_in_both = |(id, _): &&(String, String)| unverified.iter().any(|(other, _)| other == id);
    let (gone, request) = scored.iter().find(is_in_both).unwrap_or(&scored[0]).clone();
    let forgotten = forget(&out, &[&request, "--json"]);
    assert!(forgotten.status.success(), "{}", crate::support::shown(&forgotten));
    let told: Value = serde_json::from_slice(&forgotten.stdout).unwrap();
    assert_eq!(
        (told["requests"][0]["was"].as_str(), &told["counts"]["forgotten"]),
        (Some(&*request), &1.into())
    );
    assert_eq!(entries("unverified"), unverified);
    assert_eq!(entries("scored"), scored.into_iter().filter(|(id, _)| *id != gone).collect::<Vec<_>>());
    for (set, folder) in [("scored", out.join("dataset")), ("unverified", out.join("dataset/unverified"))] {
        let mut left = Vec::new();
        for category in Category::ALL {
            let questions = ids(&folder.join(category.file_name()));
            if let Some(path) = category.answer_path() {
                assert_eq!(questions, ids(&folder.join(path)), "the evaluator pairs them line by line");
            }
            left.extend(questions);
        }
        assert_eq!(left, entries(set).into_iter().map(|(id, _)| id).collect::<Vec<_>>(), "{set}");
    }
}

#[test]
fn an_answer_from_a_forgotten_record_is_removed_too() {
    let folder = tempfile::tempdir().unwrap();
    let (log, out) = (folder.path().join("log.jsonl"), folder.path().join("run"));
    let user =
        serde_json::json!({"role": "user", "content": "Ring the bell 3 times for the wedding at noon"});
    let rows = [
        chat("asks", 1_900_000_001, std::slice::from_ref(&user), None),
        chat("answers", 1_900_000_002, &[user], Some(&ring("a", 48_151))),
    ];
    std::fs::write(&log, rows.map(|row| row.to_string() + "\n").concat()).unwrap();
    run_sample_inputs(&out, log.to_str().unwrap());
    assert_eq!(row_of(&out, "asks").1, "exported");
    assert!(files_with(&out, "48151").iter().any(|file| file.starts_with("dataset")));
    let (id, _, _) = row_of(&out, "answers");
    let told = crate::support::shown(&forget(&out, &["answers"]));
    assert!(told.contains("held      1 request got the answer from it"), "{told}");
    for trace in ["48151", &id] {
        assert_eq!(files_with(&out, trace), [] as [String; 0], "{trace}");
    }
    let (_, fate, reason) = row_of(&out, "asks");
    assert_eq!((fate.as_str(), reason.as_deref()), ("held", Some("forgotten/answer")));
    assert!(
        !out.join("dataset/unverified/BFCL_v4_live_simple.json").exists(),
        "an empty category has no file"
    );
    let lists = FrameFile::open(&out.join("lists.parquet")).unwrap().read_all().unwrap();
    let lists_left = (lists.texts("fate").unwrap().get(0), lists.texts("reason").unwrap().get(0));
    assert_eq!(lists_left, (Some("held"), Some("cascade/no-request-left")));
    // Again: rows that were held for the first record stay held.
    assert!(forget(&out, &["asks"]).status.success());
    assert_eq!(json(&out.join("report.json"))["requests"]["forgotten"], 2);
    assert_eq!(files_with(&out, "wedding"), [] as [String; 0]);
}

#[test]
fn several_records_of_one_id_are_listed_and_equal_records_are_one() {
    let folder = tempfile::tempdir().unwrap();
    let (log, out) = (folder.path().join("log.jsonl"), folder.path().join("run"));
    let user = |text: &str| serde_json::json!({"role": "user", "content": text});
    let rows = [
        chat("1", 1_900_000_001, &[user("Ring the bell for the bride")], None),
        chat("1", 1_900_000_002, &[user("How loud is a church organ, roughly?")], None),
        chat("2", 1_900_000_003, &[user("Who repairs bells in this part of the country?")], None),
        chat("2", 1_900_000_003, &[user("Who repairs bells in this part of the country?")], None),
    ];
    std::fs::write(&log, rows.map(|row| row.to_string() + "\n").concat()).unwrap();
    run_sample_inputs(&out, log.to_str().unwrap());
    let untouched = stable_bytes(&out);
    let several = forget(&out, &["1"]);
    assert_eq!(several.status.code(), Some(2));
    let (first, _, _) = row_of(&out, "1");
    assert!(crate::support::shown(&several).contains(&first), "{}", crate::support::shown(&several));
    assert_same_bytes(&untouched, &stable_bytes(&out));
    assert!(forget(&out, &["2"]).status.success(), "equal records are one");
    assert_eq!(files_with(&out, "repairs"), [] as [String; 0]);
    assert!(forget(&out, &["1", "--all"]).status.success());
    assert_eq!(json(&out.join("report.json"))["requests"]["forgotten"], 4);
    let run =
        crate::support::output(&["run", "--out", out.to_str().unwrap(), "--input", log.to_str().unwrap()]);
    assert!(crate::support::shown(&run).contains("4 forgotten"), "{}", crate::support::shown(&run));
}

#[test]
fn an_interrupted_forget_is_finished_by_the_same_command() {
    let folder = tempfile::tempdir().unwrap();
    let (log, whole) = (folder.path().join("log.jsonl"), folder.path().join("whole"));
    write_quay_log(&log, "owner");
    run_sample_inputs(&whole, log.to_str().unwrap());
    let untouched = folder.path().join("untouched");
    copy_folder(&whole, &untouched);
    assert!(forget(&whole, &["log-owner-4711"]).status.success());
    // In the order of writing, with whether the record can still be found by its id if the file cannot be written.
    let files = [
        ("forgotten.parquet", true),
        ("dataset/data/unverified.parquet", true),
        ("ingest/requests.parquet", true),
        ("stages/14-fix-docs/edits.parquet", false),
        ("stages/16-draft-answers/columns.parquet", false),
        ("ingest/requests.index.parquet", false),
    ];
    let cut = folder.path().join("cut");
    for (n_done, (file, is_there)) in files.into_iter().enumerate() {
        if cut.exists() {
            std::fs::remove_dir_all(&cut).unwrap();
        }
        copy_folder(&untouched, &cut);
        // A folder that is not empty at the path of the new file.
        let obstacle = cut.join(format!("{file}.partial"));
        std::fs::create_dir(&obstacle).unwrap();
        std::fs::write(obstacle.join("x"), "").unwrap();
        let stopped = forget(&cut, &["log-owner-4711"]);
        assert_eq!(stopped.status.code(), Some(3), "{file}: {}", crate::support::shown(&stopped));
        std::fs::remove_dir_all(&obstacle).unwrap();
        let again = forget(&cut, &["log-owner-4711"]);
        assert!(again.status.success(), "{n_done}: {}", crate::support::shown(&again));
        assert_same_bytes(&stable_bytes(&whole), &stable_bytes(&cut));
        assert_eq!(report_without_timing(&whole), report_without_timing(&cut), "{n_done}");
        assert_eq!(json(&cut.join("forgotten.json")), json(&whole.join("forgotten.json")));
        let told = crate::support::shown(&again);
        assert_eq!(told.contains("this finished an earlier, interrupted forget"), !is_there, "{told}");
    }
}

#[test]
fn a_purged_run_keeps_its_history_and_the_next_run_reads_its_inputs_again() {
    let folder = tempfile::tempdir().unwrap();
    let (log, out) = (folder.path().join("log.jsonl"), folder.path().join("run"));
    write_quay_log(&log, "owner");
    let run = || {
        let mut command = callsieve();
        command.args(["run", "--quiet", "--input", "-", "--out"]).arg(&out);
        command.stdin(std::fs::File::open(&log).unwrap()).stdout(Stdio::null());
        assert!(command.status().unwrap().success());
    };
    run();
    let whole = stable_bytes(&out);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = |name: &str| std::fs::metadata(out.join(name)).unwrap().permissions().mode() & 0o777;
        assert_eq!(["stdin", "ingest/requests.parquet", "ingest/doc_lists.parquet"].map(mode), [0o600; 3]);
        assert_eq!(mode("ingest"), 0o700);
    }
    let raw = ["ingest/doc_lists.parquet", "ingest/requests.parquet", "stdin"];
    assert!(raw.iter().all(|file| files_with(&out, "owner").contains(&(*file).to_owned())));
    let arguments = ["purge", out.to_str().unwrap(), "--raw", "--everything", "--json"];
    let purged: Value = serde_json::from_slice(&crate::support::output(&arguments).stdout).unwrap();
    let files: Vec<&str> =
        purged["files"].as_array().unwrap().iter().map(|file| file["file"].as_str().unwrap()).collect();
    assert_eq!(files, ["ingest/requests.parquet", "ingest/doc_lists.parquet", "stdin"]);
    assert_eq!(purged["files"][0]["cells"]["messages"], 8);
    for word in ["zebrafinch", "user-owner"] {
        assert!(files_with(&out, word).iter().all(|file| !raw.contains(&file.as_str())), "{word}");
    }
    assert_eq!(json(&out.join("ingest/manifest.json"))["purged"], true);
    let again: Value = serde_json::from_slice(&crate::support::output(&arguments).stdout).unwrap();
    assert_eq!(again["files"], serde_json::json!([]));
    let why =
        crate::support::shown(&crate::support::output(&["why", out.to_str().unwrap(), "log-owner-4711"]));
    assert!(why.contains("removed by purge") && why.contains("exported as simple"), "{why}");
    assert!(crate::support::output(&["diff", out.to_str().unwrap()]).status.success());
    run();
    assert_same_bytes(&whole, &stable_bytes(&out));
}

#[test]
fn a_redacted_and_purged_run_holds_no_raw_value() {
    let folder = tempfile::tempdir().unwrap();
    let (log, out, file) =
        (folder.path().join("log.jsonl"), folder.path().join("run"), folder.path().join("p.toml"));
    std::fs::write(&file, callsieve::pipeline::LIVE).unwrap();
    let (in_query, in_docs) = ("marta.holm@fjordmail.no", "harbour.desk@fjordmail.no");
    let docs = one_function().replace("Rings the bell.", &format!("Rings the bell; ask {in_docs}."));
    let row = serde_json::json!({"id": "a", "ts": 1_900_000_000, "prompt": format!("Ring the bell and write to {in_query}"),
        "function": docs, "response": ring("c", 3)});
    std::fs::write(&log, row.to_string() + "\n").unwrap();
    let (file, out_name, log) = (file.to_str().unwrap(), out.to_str().unwrap(), log.to_str().unwrap());
    let run = crate::support::output(&["run", file, "--quiet", "--out", out_name, "--input", log]);
    assert!(run.status.success(), "{}", crate::support::shown(&run));
    assert_eq!(files_with(&out, in_query), ["ingest/requests.parquet"]);
    assert_eq!(files_with(&out, in_docs), ["ingest/doc_lists.parquet"]);
    let why = |id: &str| crate::support::shown(&crate::support::output(&["why", out_name, id, "--full"]));
    let before = why("a");
    let purge = || crate::support::output(&["purge", out_name, "--raw"]);
    let purged = purge();
    assert!(purged.status.success(), "{}", crate::support::shown(&purged));
    for value in [in_query, in_docs] {
        assert_eq!(files_with(&out, value), [] as [String; 0]);
    }
    assert_eq!(why("a"), before);
    assert!(crate::support::shown(&purge()).contains("nothing to do"));
}
