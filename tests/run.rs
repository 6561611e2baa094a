//! Laws of a whole run, held on the program itself: nothing lost, same bytes, safe to stop.

// A test that cannot set itself up may fail where it stands.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, clippy::print_stdout)]

mod support;

use std::path::Path;
use std::process::Stdio;
use std::time::Instant;

use serde_json::Value;
use support::{
    assert_same_bytes, report_without_timing, run_sample, stable_bytes, toolsieve, write_long_log,
};
use toolsieve::engine::frame::FrameFile;

fn json(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

#[test]
fn one_thread_and_many_give_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log.jsonl");
    write_long_log(&log, 12_000);
    for more in [&[][..], &["--limit", "5000"], &["--sample-rows", "5000"]] {
        let run = |threads: &str| {
            let out = folder.path().join(format!("{threads}{}", more.concat()));
            let mut command = toolsieve();
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
fn a_run_killed_at_any_moment_goes_on_to_the_same_bytes() {
    use std::os::unix::process::ExitStatusExt as _;
    const KILLS: u32 = 10;
    let folder = tempfile::tempdir().unwrap();
    let whole = folder.path().join("whole");
    let start = Instant::now();
    run_sample(&whole, &[]);
    let whole_time = start.elapsed();
    let killed = folder.path().join("killed");
    let mut n_hit = 0;
    for nth in 0..KILLS {
        // Moments spread over the whole run. Every other one begins from nothing, since what is left of a run that
        // goes on is short.
        if nth % 2 == 0 && killed.exists() {
            std::fs::remove_dir_all(&killed).unwrap();
        }
        let mut run = toolsieve()
            .args(["run", "--quiet", "--set", "draft-answers.answers=raw/answers.jsonl", "--out"])
            .arg(&killed)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(whole_time.mul_f64(f64::from(nth + 1) / f64::from(KILLS + 2)));
        run.kill().unwrap();
        n_hit += u32::from(run.wait().unwrap().signal() == Some(9));
    }
    assert!(n_hit >= 3, "only {n_hit} of {KILLS} kills hit a live run");
    run_sample(&killed, &[]);
    assert_same_bytes(&stable_bytes(&whole), &stable_bytes(&killed));
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
    // From the other side: the places of all rows and of all lines without one are those of the files, each once.
    let place =
        |row| (rows.ints("file").unwrap().get(row).unwrap(), rows.ints("line").unwrap().get(row).unwrap());
    let lines = toolsieve::engine::payload::read_lines(&out).unwrap();
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
fn every_stage_of_the_recipe_finds_work_in_the_sample_but_the_last_merge() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    run_sample(&out, &[]);
    let report = json(&out.join("report.json"));
    for stage in report["stages"].as_array().unwrap() {
        let id = stage["id"].as_str().unwrap();
        let works =
            !stage["fates"].as_array().unwrap().is_empty() || !stage["edits"].as_object().unwrap().is_empty();
        assert!(works || id == "merge-fixed-docs", "{id} has nothing to do");
    }
    for category in ["simple", "multiple", "parallel", "parallel_multiple"] {
        for set in ["scored", "unverified"] {
            assert!(
                report["exported"][format!("{set}/{category}")].as_u64() > Some(0),
                "{set}/{category} is empty"
            );
        }
    }
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
    let stages = ["04-merge-exact-docs", "05-merge-near-docs", "06-merge-near-queries"];
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

fn run_sample_inputs(out: &Path, input: &str) {
    let output = support::output(&["run", "--quiet", "--out", out.to_str().unwrap(), "--input", input]);
    assert!(output.status.success(), "{}", support::shown(&output));
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
fn parquet_and_standard_input_give_the_rows_that_a_file_gives() {
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
        toolsieve::engine::frame::Values::Text(rows.iter().map(|row| Some(get(row))).collect())
    };
    let columns = vec![("query", column(|row| &row.0)), ("functions", column(|row| &row.1))];
    toolsieve::engine::frame::write_frame(&parquet, columns).unwrap();

    let listed = |name: &str, input: &str, standard: Option<&str>| {
        let out = folder.path().join(name);
        let mut command = toolsieve();
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

/// Rows of one log, run through the live recipe; gives the last word on each row by its own id.
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
fn a_call_follows_the_names_of_the_list_it_was_sent_with_to_the_list_that_stands_for_it() {
    let docs = |from: &str| {
        serde_json::json!([{"name": "ferry", "description": "Books a seat on a ferry between two islands of the archipelago.",
            "parameters": {"type": "dict", "required": [from], "properties": {from: {"type": "string", "description": "Island of departure."}}}}])
        .to_string()
    };
    let row = |id: &str, time: u64, from: &str, query: &str| {
        serde_json::json!({"id": id, "ts": time, "prompt": query, "function": docs(from), "response": {"role": "assistant",
            "tool_calls": [{"id": "c", "type": "function", "function": {"name": "ferry", "arguments": {from: "Runmarö"}}}]}})
    };
    // `from` is a Python keyword: fixed, the later list is the same as the earlier one, and merges into it.
    let fates = fates_of(&[
        row("early", 1_900_000_000, "_from", "Book me a ferry seat from Runmarö"),
        row("later", 2_000_000_000, "from", "My dog and I must leave Runmarö by boat"),
    ]);
    assert_eq!(fates["early"], ("exported".to_owned(), None));
    assert_eq!(fates["later"], ("exported".to_owned(), None));
}

#[test]
fn the_first_of_several_steps_is_no_answer() {
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
    assert!(fates.values().all(|(_, reason)| reason.as_deref() != Some("query/same")), "{fates:?}");
}

#[test]
fn a_call_that_failed_is_not_taken_from_a_twin_that_nobody_looked_after() {
    let user = serde_json::json!({"role": "user", "content": "Ring the bell for the wedding at noon"});
    let result = serde_json::json!({"role": "tool", "tool_call_id": "a", "content": "{\"error\": \"the rope is broken\"}"});
    let sorry = serde_json::json!({"role": "assistant", "content": "That did not work."});
    let fates = fates_of(&[
        chat("failed", 1_900_000_001, std::slice::from_ref(&user), Some(&ring("a", 3))),
        chat("failed-next", 1_900_000_002, &[user.clone(), ring("a", 3), result], Some(&sorry)),
        chat("twin", 1_900_000_003, &[user], Some(&ring("b", 3))),
    ]);
    assert_eq!(fates["failed"], ("held".to_owned(), Some("answer/refuted".to_owned())));
    assert_eq!(fates["twin"], ("merged".to_owned(), Some("query/same".to_owned())));
}

#[test]
fn a_short_reply_in_a_conversation_is_no_spam() {
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
fn a_file_whose_new_name_tells_another_format_is_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let (wrong, right) = (folder.path().join("log.jsonl"), folder.path().join("log.csv"));
    std::fs::write(
        &wrong,
        format!("query,functions\n\"Ring the bell twice\",\"{}\"\n", one_function().replace('"', "\"\"")),
    )
    .unwrap();
    let out = folder.path().join("run");
    let records = |input: &Path| {
        let run = support::output(&[
            "run",
            "--quiet",
            "--out",
            out.to_str().unwrap(),
            "--input",
            input.to_str().unwrap(),
            "--set",
            "max_fault_share=1",
        ]);
        assert!(run.status.success(), "{}", support::shown(&run));
        report_without_timing(&out)["ingest"]["records"].as_u64().unwrap()
    };
    assert_eq!(records(&wrong), 0);
    std::fs::rename(&wrong, &right).unwrap();
    assert_eq!(records(&right), 1);
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
    let set = format!("draft-answers.answers={}", answers.display());
    let out = folder.path().join("run");
    let run = support::output(&[
        "run",
        "--out",
        out.to_str().unwrap(),
        "--input",
        log.to_str().unwrap(),
        "--set",
        &set,
    ]);
    assert!(run.status.success(), "{}", support::shown(&run));
    assert!(support::shown(&run).contains("request 1 is the id of several rows"), "{}", support::shown(&run));
}

/// The original release of the V2 Live set holds 2,251 entries, 6,682 functions offered and 1,617 distinct ones.
#[test]
fn the_original_live_release_is_read_without_a_loss() {
    let data =
        std::env::var("TOOLSIEVE_BFCL_V2").unwrap_or_else(|_| "../shared/data/bfcl-v2-live".to_owned());
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join(data);
    if !data.is_dir() {
        println!("skipped: {} is not here; TOOLSIEVE_BFCL_V2 names another place", data.display());
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    let categories = ["simple", "multiple", "parallel", "parallel_multiple", "irrelevance", "relevance"];
    let inputs = categories.map(|category| data.join(format!("BFCL_v2_live_{category}.json")));
    let mut command = toolsieve();
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
    // The four entries that offer no function leave for that reason, and no other row does.
    assert_eq!(report["requests"]["reasons"], serde_json::json!({"parse/no-functions": 4}));
    assert_eq!(report["composition"]["requests"], 2247);
    assert_eq!(report["composition"]["functions_offered"], 6682);
    assert_eq!(report["composition"]["distinct_functions"], 1617);
}
