//! Snapshots of whole commands with output, errors and exit codes.
//!
//! `INSTA_UPDATE=always cargo test` updates them; read the difference before you keep it.

use std::collections::BTreeSet;
use std::path::Path;

use crate::support::{ANSWERS, callsieve, output, run_sample, shown};

/// Compares with a snapshot, without parts that differ between machines.
fn snapshot(name: &str, text: &str, folder: &Path) {
    let text = without_times(text).replace(folder.to_str().unwrap(), "FOLDER");
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true, snapshot_path => "../snapshots" }, {
        insta::assert_snapshot!(name, text);
    });
}

/// Returns a text in which no step has its time.
fn without_times(text: &str) -> String {
    let seconds = |line: &str| match line.split_once(" s  ") {
        Some((step, outcome)) if step.ends_with(|c: char| c.is_ascii_digit()) => {
            format!(
                "{} N s  {outcome}",
                step.trim_end_matches(|c: char| c.is_ascii_digit() || ". ".contains(c))
            )
        }
        _ => line.to_owned(),
    };
    text.lines().map(|line| seconds(line) + "\n").collect()
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn help_names_every_command_and_every_exit_code() {
    let folder = tempfile::tempdir().unwrap();
    snapshot("help", &shown(&output(&["--help"])), folder.path());
    for command in ["run", "why", "purge", "forget"] {
        snapshot(&format!("help_{command}"), &shown(&output(&[command, "--help"])), folder.path());
    }
}

#[test]
fn the_sample_run_prints_its_funnel() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    let arguments = ["run", "--out", path(&out), "--set", ANSWERS];
    let (first, again) = (output(&arguments), output(&arguments));
    snapshot("run_sample", &shown(&first), folder.path());
    // The figures are in that snapshot; the second run prints the same ones.
    let [printed, printed_again] = [&first.stdout, &again.stdout].map(|text| String::from_utf8_lossy(text));
    let (reused, printed_again): (Vec<&str>, Vec<&str>) =
        printed_again.lines().partition(|line| line.starts_with("reused "));
    assert_eq!(printed_again, printed.lines().collect::<Vec<_>>());
    let [steps, steps_again] =
        [&first.stderr, &again.stderr].map(|text| without_times(&String::from_utf8_lossy(text)));
    let steps: BTreeSet<&str> = steps.lines().collect();
    let marked = |line: &str| match line.split_once(' ') {
        Some((step, _)) if steps.contains(line) => format!("{step} as in the first run\n"),
        _ => format!("{line}\n"),
    };
    let steps_again: String = steps_again.lines().map(marked).collect();
    snapshot("run_sample_again", &format!("{}\n{steps_again}", reused.join("\n")), folder.path());
}

#[test]
fn a_plan_shows_stages_and_columns_without_a_run() {
    let folder = tempfile::tempdir().unwrap();
    snapshot("plan", &shown(&output(&["plan"])), folder.path());
}

#[test]
fn why_explains_exported_merged_held_and_unreadable_rows() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    run_sample(&out, &[]);
    let why = |row: &str| shown(&output(&["why", path(&out), row]));
    snapshot("why_exported", &why("r0357"), folder.path());
    snapshot("why_held", &why("raw/pairs.csv:5"), folder.path());
    snapshot("why_unknown", &why("nobody"), folder.path());
    let rows =
        callsieve::engine::frame::FrameFile::open(&out.join("rows.parquet")).unwrap().read_all().unwrap();
    let text = |column: &str, row| rows.texts(column).unwrap().get(row);
    let merged = (0..rows.height()).find(|&row| text("reason", row) == Some("query/near-duplicate")).unwrap();
    snapshot("why_merged", &why(text("request_id", merged).unwrap()), folder.path());
    let lines = callsieve::engine::raw::read_lines(&out).unwrap();
    let broken = lines.iter().find(|line| line.fate == "unreadable").unwrap();
    snapshot("why_unreadable", &why(&format!("hosted.jsonl:{}", broken.line)), folder.path());

    let json = why_json(&out, text("request_id", merged).unwrap());
    let request = &json["requests"][0];
    assert_eq!((&json["kind"], &request["fate"]["name"]), (&"requests".into(), &"merged".into()));
    assert_eq!(request["place"]["file"], "raw/hosted.jsonl");
    assert!(request["docs"]["text"].as_str().unwrap().ends_with("\n]"), "texts are whole: {request}");
    let merge = &request["stages"][0]["events"][0];
    assert_eq!(merge["merged_into"], request["fate"]["merged_into"][0]["id"]);
    assert_eq!((&merge["action"], &merge["score"]["metric"]), (&"merge".into(), &"rouge-l-f1".into()));
    let edit = &request["stages"][1]["events"][0]["edit"];
    assert_eq!((&edit["column"], &edit["patch"][1]["op"]), (&"functions".into(), &"replace".into()));
    assert_eq!(edit["words"][1], "+ parameter file, type \"string\"");
    let exported = why_json(&out, "r0357");
    let kept = &exported["requests"][0]["kept"];
    assert_eq!(
        (&kept["category"], &kept["answer"][0]["spot_price"]["hour"][0]),
        (&"simple".into(), &18.into())
    );
    assert_eq!(exported["requests"][0]["judgement"]["basis"]["evidence"]["called"], 1);
    let list = why_json(&out, exported["requests"][0]["docs"]["list_id"].as_str().unwrap());
    assert_eq!((&list["kind"], &list["fate"]["name"]), (&"list".into(), &"merged".into()));
    assert!(list["requests"].as_array().unwrap().contains(&exported["requests"][0]["id"]), "{list}");
    let line = why_json(&out, &format!("hosted.jsonl:{}", broken.line));
    assert_eq!((&line["kind"], &line["reason"]), (&"line".into(), &"ingest/not-json".into()));
}

/// Returns what `why --json` prints.
fn why_json(run: &Path, row: &str) -> serde_json::Value {
    let output = output(&["why", path(run), row, "--json"]);
    assert!(output.status.success() && output.stderr.is_empty(), "{}", shown(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn sets_are_listed_described_and_imported() {
    let folder = tempfile::tempdir().unwrap();
    let (dir, file) = (folder.path().join("sets"), folder.path().join("bells.jsonl"));
    let records = [
        r#"{"id": "a", "messages": [{"role": "user", "content": "Ring it"}], "tools": [{"name": "ring"}]}"#,
        r#"{"id": "b", "text": "Peal it"}"#,
    ];
    std::fs::write(&file, records.join("\n")).unwrap();
    let sets = |arguments: &[&str]| {
        let all = [&["sets"], arguments, &["--dir", path(&dir)]].concat();
        shown(&output(&all))
    };
    snapshot("sets_list", &sets(&["list"]), folder.path());
    let own = ["add", "bells", path(&file), "--format", "chat", "--licence", "MIT"];
    let steps = [
        sets(&["add", "bells", path(&file)]),
        sets(&["add", "bells", path(&file), "--format", "bfcl", "--licence", "MIT"]),
        sets(&own),
        sets(&["status", "bells", "anyscale"]),
        sets(&["status", "bells", "anyscale", "--json"]),
        sets(&["list", "bells", "--json"]),
        sets(&["status", "nobody"]),
    ];
    snapshot("sets", &steps.join("\n"), folder.path());
}

#[test]
fn diff_shows_edits_before_and_after() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    run_sample(&out, &[]);
    snapshot("diff", &shown(&output(&["diff", path(&out), "--each", "1"])), folder.path());
    let json = output(&["diff", path(&out), "--reason", "schema/python-keyword", "--json"]);
    let lines: Vec<serde_json::Value> = String::from_utf8(json.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(!lines.is_empty() && lines.iter().all(|line| line["patch"].is_array()));
}

#[test]
fn purge_lists_what_it_removed_from_each_file() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    let purge = |more: &[&str]| shown(&output(&[&["purge", path(&out)], more].concat()));
    snapshot("purge_no_run", &purge(&["--raw"]), folder.path());
    run_sample(&out, &[]);
    snapshot("purge_of_nothing_named", &purge(&[]), folder.path());
    snapshot("purge_not_redacted", &purge(&["--raw"]), folder.path());
    snapshot("purge_everything", &purge(&["--raw", "--everything"]), folder.path());
    snapshot("purge_again", &purge(&["--raw", "--everything"]), folder.path());
    snapshot("why_purged", &shown(&output(&["why", path(&out), "r0357"])), folder.path());
    let docs = &why_json(&out, "r0357")["requests"][0]["docs"];
    assert!(docs["text"].is_null() && docs["is_purged"] == true, "{docs}");
}

#[test]
fn forget_lists_what_it_removed_from_each_file() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    let forget = |more: &[&str]| shown(&output(&[&["forget", path(&out), "--id"], more].concat()));
    snapshot("forget_no_run", &forget(&["r0357"]), folder.path());
    run_sample(&out, &[]);
    snapshot("forget_unknown", &forget(&["nobody"]), folder.path());
    snapshot("forget", &forget(&["r0357"]), folder.path());
    snapshot("forget_again", &forget(&["3a6ea0f0197fa76d604f51215a99e20e"]), folder.path());
    snapshot("why_forgotten", &shown(&output(&["why", path(&out), "raw/hosted.jsonl:194"])), folder.path());
    let request = &why_json(&out, "raw/hosted.jsonl:194")["requests"][0];
    assert!(request["sent"].is_null() && request["docs"].is_null(), "{request}");
    assert_eq!(
        (&request["forgotten"][0]["action"], &request["place"]["line"]),
        (&"forget".into(), &194.into())
    );
    let by_its_old_id = why_json(&out, "3a6ea0f0197fa76d604f51215a99e20e");
    assert_eq!(
        (&by_its_old_id["kind"], &by_its_old_id["reason"]),
        (&"forgotten".into(), &"forgotten/record".into())
    );
    let taken = callsieve::engine::folder::RunFolder::take(&out).unwrap();
    for refused in [forget(&["r0358"]), shown(&output(&["purge", path(&out), "--raw"]))] {
        assert!(refused.contains("exit: 2") && refused.contains("is in use by process"), "{refused}");
    }
    drop(taken);
}

#[test]
fn explain_shows_an_example_and_an_unknown_code_gets_the_nearest() {
    let folder = tempfile::tempdir().unwrap();
    snapshot("explain", &shown(&output(&["explain", "query/duplicate"])), folder.path());
    snapshot("explain_rule", &shown(&output(&["explain", "schema/python-keyword"])), folder.path());
    snapshot("explain_settings", &shown(&output(&["explain", "sample/over-list-cap"])), folder.path());
    snapshot("explain_line", &shown(&output(&["explain", "ingest/not-utf8"])), folder.path());
    snapshot("explain_unknown", &shown(&output(&["explain", "query/duplicat"])), folder.path());
    assert!(output(&["explain"]).stdout.len() > 1000);
}

#[test]
fn stages_are_listed_from_the_code() {
    let folder = tempfile::tempdir().unwrap();
    snapshot("stages_one", &shown(&output(&["stages", "merge-near-queries"])), folder.path());
    snapshot("stages_split", &shown(&output(&["stages", "split"])), folder.path());
    snapshot("stages_sample", &shown(&output(&["stages", "sample"])), folder.path());
    let json = String::from_utf8(output(&["stages", "--json"]).stdout).unwrap();
    assert_eq!(json.lines().count(), callsieve::stages::KINDS.len());
}

#[test]
fn the_schema_of_pipelines_is_json_and_knows_every_kind() {
    let schema: serde_json::Value = serde_json::from_slice(&output(&["schema"]).stdout).unwrap();
    let kinds = schema["properties"]["stages"]["items"]["oneOf"].as_array().unwrap();
    assert_eq!(kinds.len(), callsieve::stages::KINDS.len());
}

#[test]
fn errors_at_the_start_name_the_place_and_have_a_hint() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let file = folder.path().join(name);
        std::fs::write(&file, text).unwrap();
        file.to_str().unwrap().to_owned()
    };
    let unknown_key = write("key.toml", "name = \"a\"\n\n[[stages]]\nkind = \"drop-spam\"\nmin_leters = 3\n");
    let unknown_kind = write("kind.toml", "[[stages]]\nkind = \"drop-spm\"\n");
    let wrong_type = write("type.toml", "[[stages]]\nkind = \"drop-spam\"\nmin_letters = \"three\"\n");
    let no_column = write("column.toml", "[[stages]]\nkind = \"merge-exact-docs\"\n");
    let twice = write("twice.toml", "[[stages]]\nkind = \"drop-spam\"\n[[stages]]\nkind = \"drop-spam\"\n");
    let not_toml = write("broken.toml", "[[stages]\nkind = 1\n");
    let stale = write(
        "stale.toml",
        "[ingest]\ninputs = [\"raw/pairs.csv\"]\n[[stages]]\nkind = \"parse-docs\"\n[[stages]]\nkind = \"merge-exact-docs\"\n[[stages]]\nkind = \"fix-docs\"\n",
    );
    let strata = |column: &str| format!("[[stages]]\nkind = \"sample\"\nstrata = [\"{column}\"]\n");
    let other_table = write("other-table.toml", &strata("functions"));
    let too_early = write("too-early.toml", &strata("category"));
    let thesis = folder.path().join("thesis");
    std::fs::create_dir(&thesis).unwrap();
    std::fs::write(thesis.join("chapter-1.tex"), "x").unwrap();
    let out = folder.path().join("out").to_str().unwrap().to_owned();
    let cases: &[(&str, &[&str])] = &[
        ("unknown key", &["plan", &unknown_key]),
        ("unknown kind", &["plan", &unknown_kind]),
        ("wrong type", &["plan", &wrong_type]),
        ("column that nobody writes", &["plan", &no_column]),
        ("two stages of one id", &["plan", &twice]),
        ("not TOML", &["plan", &not_toml]),
        ("no such pipeline", &["plan", "pipelines/life.toml"]),
        ("edits after the last merge", &["plan", &stale]),
        ("set for an unknown stage", &["plan", "--set", "merge-near-doc.threshold=0.7"]),
        ("set of an unknown key", &["plan", "--set", "merge-near-docs.treshold=0.7"]),
        ("set of a value out of range", &["plan", "--set", "merge-near-docs.threshold=1.7"]),
        ("set without a value", &["plan", "--set", "merge-near-docs.threshold"]),
        ("set inside a table", &["plan", "--set", "ingest.columns.qery=[\"text\"]"]),
        ("set into something that is no table", &["plan", "--set", "merge-near-docs.threshold.x=0.7"]),
        ("a gate that is no number", &["plan", "--set", "merge-near-queries.cosine=on"]),
        ("a name that leaves the folder", &["plan", "--set", "name=\"../live\""]),
        ("one file twice", &["plan", "--input", "raw/pairs.csv", "./raw/pairs.csv"]),
        ("missing input", &["run", "--input", "no-such-log.jsonl", "--out", &out]),
        ("folder without a log", &["run", "docs", "--out", &out]),
        ("pattern without a file", &["run", "raw/*.none", "--out", &out]),
        ("two pipelines", &["run", "pipelines/live.toml", "pipelines/parse-only.toml", "--out", &out]),
        ("decisions that are not there", &["run", "--decisions", "none.jsonl", "--out", &out]),
        ("answers as a setting of a stage", &["plan", "--set", "draft-answers.answers=raw/answers.jsonl"]),
        ("folder of other things", &["run", "--out", thesis.to_str().unwrap()]),
        ("why without a run", &["why", &out, "r1"]),
        ("unknown kind of stage", &["stages", "merge"]),
        ("strata by a column of the other table", &["plan", &other_table]),
        ("strata by a column that nobody writes", &["plan", &too_early]),
        ("open words out of range", &["plan", "--set", "split.open_text_words=1"]),
    ];
    let mut text = String::new();
    for (what, arguments) in cases {
        text += &format!("== {what}\n{}\n", shown(&output(arguments)));
    }
    snapshot("errors", &text, folder.path());
}

#[test]
fn a_log_without_requests_is_reported_with_the_findings() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log.csv");
    std::fs::write(&log, "question_text,docs\nWhen is low tide?,[]\n").unwrap();
    let out = folder.path().join("run");
    snapshot(
        "run_empty",
        &shown(&output(&["run", "--input", path(&log), "--out", path(&out)])),
        folder.path(),
    );
    let sets = ["ingest.columns.query=[\"question_text\"]", "ingest.columns.functions=[\"docs\"]"];
    let read =
        output(&["run", "--input", path(&log), "--out", path(&out), "--set", sets[0], "--set", sets[1]]);
    assert!(String::from_utf8(read.stdout).unwrap().contains("lines     1 = 1 request"));
}

#[test]
fn numbers_words_and_lists_can_be_set_from_the_command_line() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    let sets = [
        "merge-near-docs.threshold=0.9",
        "merge-near-queries.cosine=off",
        "drop-spam.test_words=[\"ahoy\"]",
        "seed=7",
    ];
    let mut arguments = vec!["run", "--quiet", "--out", path(&out)];
    for set in sets {
        arguments.extend(["--set", set]);
    }
    assert!(output(&arguments).status.success());
    let run: serde_json::Value =
        serde_json::from_slice(&std::fs::read(out.join("run.json")).unwrap()).unwrap();
    let settings = |id: &str| {
        let stages = run["pipeline"]["stages"].as_array().unwrap();
        stages.iter().find(|stage| stage["id"] == id).unwrap()["settings"].clone()
    };
    assert_eq!(settings("merge-near-docs")["threshold"].as_f64(), Some(0.9));
    assert_eq!(settings("merge-near-queries")["cosine"], "off");
    assert_eq!(settings("drop-spam")["test_words"], serde_json::json!(["ahoy"]));
    assert_eq!(run["seed"], 7);
}

#[test]
fn a_folder_in_use_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    let taken = callsieve::engine::folder::RunFolder::take(&out).unwrap();
    let refused = output(&["run", "--quiet", "--out", path(&out)]);
    assert_eq!(refused.status.code(), Some(2));
    let error = String::from_utf8(refused.stderr).unwrap();
    assert!(error.contains(&format!("process {}", std::process::id())), "{error}");
    drop(taken);
    assert!(output(&["run", "--quiet", "--out", path(&out)]).status.success());
}

#[test]
fn too_many_faults_fail_the_gate() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    let run = output(&["run", "--quiet", "--out", path(&out), "--set", "max_fault_share=0.001"]);
    assert_eq!(run.status.code(), Some(1));
    assert!(String::from_utf8(run.stderr).unwrap().contains("max_fault_share"));
    assert!(out.join("report.json").is_file(), "the run is finished all the same");
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_reports_it_and_continues_to_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log.jsonl");
    crate::support::write_long_log(&log, 12_000);
    let out = folder.path().join("run");
    let mut run = crate::support::callsieve()
        .args(["run", "--quiet", "--input", path(&log), "--out", path(&out)])
        .stderr(std::process::Stdio::piped())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    // The first step has ended, so some steps are kept and some remain.
    while !out.join("ingest").exists() && run.try_wait().unwrap().is_none() {
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    let interrupt =
        std::process::Command::new("kill").args(["-INT", &run.id().to_string()]).status().unwrap();
    assert!(interrupt.success());
    let ended = run.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(130), "{}", String::from_utf8_lossy(&ended.stderr));
    assert!(out.join("ingest/manifest.json").is_file());
    let whole = folder.path().join("whole");
    for folder in [&out, &whole] {
        assert!(output(&["run", "--quiet", "--input", path(&log), "--out", path(folder)]).status.success());
    }
    crate::support::assert_same_bytes(
        &crate::support::stable_bytes(&out),
        &crate::support::stable_bytes(&whole),
    );
}

#[test]
fn calibrate_measures_the_weights_and_writes_them() {
    let folder = tempfile::tempdir().unwrap();
    let bells = ["noon", "storm", "dawn", "harbour", "market", "tower"];
    for (category, queries) in [
        ("simple", ["Ring the {} bell 3 times", "Please ring the {} bell twice"]),
        ("irrelevance", ["who won the cup", "tell me a joke"]),
    ] {
        let mut lines = String::new();
        for (n, bell) in bells.iter().cycle().take(24).enumerate() {
            let question = queries[n % 2].replace("{}", bell);
            let function = serde_json::json!({"name": format!("ring_{n}"), "description": format!("Rings the {bell} bell."),
                "parameters": {"type": "dict", "required": ["times"], "properties": {"times": {"type": "integer", "description": "How many times to ring."}}}});
            lines += &serde_json::json!({"id": n.to_string(), "question": [[{"role": "user", "content": question}]], "function": [function]}).to_string();
            lines.push('\n');
        }
        std::fs::write(folder.path().join(format!("BFCL_v4_live_{category}.json")), lines).unwrap();
    }
    let weights = folder.path().join("weights.toml");
    let arguments = ["calibrate", "--bfcl", path(folder.path()), "--repeats", "2", "--write", path(&weights)];
    let fitted = output(&arguments);
    snapshot("calibrate", &shown(&fitted), folder.path());
    let told = String::from_utf8(fitted.stdout).unwrap();
    assert!(told.lines().all(|line| line.chars().count() <= 80), "{told}");
    let again = [
        "calibrate",
        "--bfcl",
        path(folder.path()),
        "--test",
        "--weights",
        path(&weights),
        "--fold",
        "first",
    ];
    snapshot("calibrate_test", &shown(&output(&again)), folder.path());
    snapshot("calibrate_nothing", &shown(&output(&["calibrate"])), folder.path());
}

#[test]
fn the_first_command_of_the_readme_starts_this_program_and_no_other() {
    let manifest = std::fs::read_to_string("Cargo.toml").unwrap();
    let manifest: toml::Table = manifest.parse().unwrap();
    // Without it `cargo run` refuses a workspace with several programs.
    assert_eq!(manifest["package"]["default-run"].as_str(), Some(env!("CARGO_PKG_NAME")));
    assert!(std::fs::read_to_string("README.md").unwrap().contains("cargo run -- run "));
}

#[test]
fn manual_pages_are_written_for_every_command() {
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("man1");
    let output = output(&["man", pages.to_str().unwrap()]);
    assert!(output.status.success(), "{}", shown(&output));
    let page = |name: &str| std::fs::read_to_string(pages.join(name)).unwrap();
    assert!(page("callsieve.1").starts_with(".ie") && page("callsieve.1").contains("callsieve\\-run(1)"));
    assert!(page("callsieve-audit.1").contains("\\fB\\-\\-train\\fR"));
    assert!(!pages.join("callsieve-supervise.1").exists());
    let printed = crate::support::output(&["man"]);
    assert!(String::from_utf8(printed.stdout).unwrap().contains("callsieve\\-merge(1)"));
}

#[cfg(unix)]
#[test]
fn the_page_of_a_run_is_opened_in_the_browser_that_the_user_names() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let (run, told, browser) =
        (folder.path().join("run"), folder.path().join("told"), folder.path().join("browser"));
    run_sample(&run, &[]);
    std::fs::write(
        &browser,
        format!(
            "#!/bin/sh\necho \"$1\" > {}.new\nmv {}.new {}\n",
            told.display(),
            told.display(),
            told.display()
        ),
    )
    .unwrap();
    std::fs::set_permissions(&browser, std::fs::Permissions::from_mode(0o755)).unwrap();
    let call = |run: &std::path::Path| {
        let mut command = callsieve();
        command.env("BROWSER", &browser).args(["report", run.to_str().unwrap(), "--open"]).output().unwrap()
    };
    let output = call(&run);
    assert!(output.status.success(), "{}", shown(&output));
    // It is started beside the program.
    for _ in 0..200 {
        if told.exists() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let opened = std::fs::read_to_string(&told).unwrap();
    assert!(opened.trim_end().ends_with("run/report.html"), "{opened}");
    std::fs::remove_file(run.join("report.html")).unwrap();
    let refused = shown(&call(&run));
    assert!(refused.contains("there is no page\nhint: `callsieve report "), "{refused}");
}

#[test]
fn a_project_file_gives_defaults_that_the_command_line_overrides() {
    let folder = tempfile::tempdir().unwrap();
    let row = |n: usize| {
        format!("{{\"query\": \"Ring bell {n} of the tower.\", \"functions\": [{{\"name\": \"ring\"}}]}}\n")
    };
    std::fs::write(folder.path().join("a.jsonl"), (0..5).map(row).collect::<String>()).unwrap();
    std::fs::write(folder.path().join("callsieve.toml"), "sets = \"sets\"\n[run]\nlimit = 3\nquiet = true\n")
        .unwrap();
    let call = |arguments: &[&str]| {
        let mut command = callsieve();
        command.env_remove("CALLSIEVE_SETS").current_dir(folder.path()).args(arguments).output().unwrap()
    };
    let records = |out: &str, more: &[&str]| {
        let output = call(&[&["run", "a.jsonl", "--out", out], more].concat());
        assert!(output.status.success() && output.stdout.is_empty(), "{}", shown(&output));
        let report = std::fs::read_to_string(folder.path().join(out).join("report.json")).unwrap();
        serde_json::from_str::<serde_json::Value>(&report).unwrap()["ingest"]["records"].clone()
    };
    assert_eq!(records("one", &[]), 3);
    assert_eq!(records("two", &["--limit", "4"]), 4);
    let recorded = std::fs::read_to_string(folder.path().join("one/run.json")).unwrap();
    assert!(recorded.contains("\"--limit=3\""), "{recorded}");
    let sets = shown(&call(&["sets", "status"]));
    assert!(sets.contains(path(&folder.path().join("sets"))), "{sets}");
    let refused = shown(&call(&["run", "a.jsonl", "--sample-rows", "2"]));
    assert!(
        refused.contains("cannot be used with") && refused.contains("callsieve.toml adds --limit=3 --quiet"),
        "{refused}"
    );
    std::fs::write(folder.path().join("callsieve.toml"), "[run]\nlimits = 3\n").unwrap();
    let output = call(&["run", "a.jsonl"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        shown(&output).contains("[run] has no option limits\nhint: did you mean \"limit\"?"),
        "{}",
        shown(&output)
    );
}
