//! Tests of `callsieve evaluate`: a small dataset with results of every form, and the official files with their own
//! ground truths as answers (`callsieve_testkit::data`).

mod handlers;
mod multi_turn;
mod official;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use crate::support::{callsieve, shown};
use callsieve_testkit::data;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A dataset of five categories and results for it.
struct Bench {
    folder: TempDir,
}

fn lines(values: &[Value]) -> String {
    values.iter().fold(String::new(), |mut text, value| {
        writeln!(text, "{value}").unwrap();
        text
    })
}

fn doc(name: &str) -> Value {
    json!({"name": name, "description": "Rings a bell.", "parameters": {"type": "dict", "required": ["bell"],
        "properties": {"bell": {"type": "integer", "description": "Its number."},
                       "tune": {"type": "string", "description": "What it plays.", "default": "ding"}}}})
}

fn entry(id: &str, functions: &[&str]) -> Value {
    let functions: Vec<Value> = functions.iter().map(|name| doc(name)).collect();
    json!({"id": id, "question": [[{"role": "user", "content": "Ring it."}]], "function": functions})
}

fn answer(id: &str, calls: &[(&str, i64)]) -> Value {
    let calls: Vec<Value> =
        calls.iter().map(|(name, bell)| json!({*name: {"bell": [bell], "tune": ["", "ding"]}})).collect();
    json!({"id": id, "ground_truth": calls})
}

impl Bench {
    fn new() -> Self {
        let this = Self { folder: tempfile::tempdir().unwrap() };
        this.category(
            "live_simple",
            &[entry("live_simple_0-0-0", &["tower.ring"]), entry("live_simple_1-0-1", &["tower.ring"])],
            &[
                answer("live_simple_0-0-0", &[("tower.ring", 1)]),
                answer("live_simple_1-0-1", &[("tower.ring", 2)]),
            ],
        );
        this.category(
            "live_multiple",
            &[entry("live_multiple_0-0-0", &["ring", "mute"])],
            &[answer("live_multiple_0-0-0", &[("ring", 3)])],
        );
        this.category(
            "live_parallel",
            &[entry("live_parallel_0-0-0", &["ring"])],
            &[answer("live_parallel_0-0-0", &[("ring", 1), ("ring", 2)])],
        );
        this.category("live_irrelevance", &[entry("live_irrelevance_0-0-0", &["ring"])], &[]);
        this.write("dataset/BFCL_v4_multi_turn_base.json", "{\"id\": \"multi_turn_base_0\"}\n");
        this
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn category(&self, name: &str, entries: &[Value], answers: &[Value]) {
        self.write(&format!("dataset/BFCL_v4_{name}.json"), &lines(entries));
        if !answers.is_empty() {
            self.write(&format!("dataset/possible_answer/BFCL_v4_{name}.json"), &lines(answers));
        }
    }

    /// Writes the texts as the results of all entries.
    fn results(&self, name: &str, texts: [&str; 5]) {
        const IDS: [&str; 5] = [
            "live_simple_0-0-0",
            "live_simple_1-0-1",
            "live_multiple_0-0-0",
            "live_parallel_0-0-0",
            "live_irrelevance_0-0-0",
        ];
        let rows: Vec<Value> = IDS
            .iter()
            .zip(texts)
            .enumerate()
            .map(|(at, (id, text))| {
                json!({"id": id, "result": text, "latency": at + 1, "input_token_count": 10, "output_token_count": 5})
            })
            .collect();
        self.write(name, &lines(&rows));
    }

    fn run(&self, arguments: &[&str]) -> (String, Option<i32>) {
        let output = callsieve()
            .current_dir(self.folder.path())
            .args(["evaluate", "--dataset", "dataset"])
            .args(arguments)
            .output()
            .unwrap();
        (shown(&output), output.status.code())
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let output = callsieve()
            .current_dir(self.folder.path())
            .args(["evaluate", "--dataset", "dataset", "--json"])
            .args(arguments)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", shown(&output));
        serde_json::from_slice(&output.stdout).unwrap()
    }
}

const RIGHT: [&str; 5] = [
    "[tower.ring(bell=1)]",
    "[tower.ring(bell=2, tune='ding')]",
    "ring(bell=3)",
    "[ring(bell=2), ring(bell=1)]",
    "There is no bell.",
];
const WRONG: [&str; 5] =
    ["[tower_ring(bell=1)]", "[tower.ring(bell='2')]", "ring(bell=3", "[ring(bell=2)]", "ring(bell=1"];

fn verdicts(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn tables_fit_80_and_120_columns() {
    let bench = Bench::new();
    bench.results("right.jsonl", RIGHT);
    bench.results("wrong.jsonl", WRONG);
    for columns in ["80", "120"] {
        let output = callsieve()
            .current_dir(bench.folder.path())
            .env("COLUMNS", columns)
            .env("BFCL_VENV", "venv")
            .args(["evaluate", "--dataset", "dataset", "--results", "right.jsonl", "wrong.jsonl"])
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", shown(&output));
        let screen = String::from_utf8(output.stdout).unwrap();
        // A command that is to be copied is one line.
        let lines = screen.lines().filter(|line| !line.starts_with("python3 -m venv "));
        let widest = lines.map(|line| line.chars().count()).max().unwrap();
        assert!(widest <= columns.parse().unwrap(), "{screen}");
        for expected in
            ["live_simple", "100.0 %", "OVERALL", "McNemar", "multi_turn_base", "type_error:simple"]
        {
            assert!(screen.contains(expected), "{expected}: {screen}");
        }
        insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true, snapshot_path => "../snapshots" }, {
            insta::assert_snapshot!(format!("evaluate_{columns}"), screen);
        });
    }
}

#[test]
fn figures_name_what_they_count() {
    let bench = Bench::new();
    bench.results("right.jsonl", RIGHT);
    bench.results("wrong.jsonl", WRONG);
    let all = bench.json(&["--results", "right.jsonl", "wrong.jsonl"]);
    let wrong = &all["systems"][1];
    assert_eq!((&wrong["n"], &wrong["correct"]), (&json!(5), &json!(1)));
    let category = |name: &str| {
        let categories = wrong["categories"].as_array().unwrap();
        categories.iter().find(|of| of["category"] == name).unwrap().clone()
    };
    assert_eq!(category("live_simple")["only_dots_differ"], 1);
    assert_eq!(category("live_irrelevance")["unparsed_calls"], 1);
    assert_eq!(category("live_multiple")["errors"][0]["error_type"], "ast_decoder:decoder_failed");
    assert_eq!(
        category("live_parallel")["errors"][0]["error_type"],
        "parallel_function_checker_no_order:wrong_count"
    );
    let pair = &all["pairs"][0];
    assert_eq!((&pair["only_a"], &pair["only_b"]), (&json!(4), &json!(0)));
    assert!((pair["p"].as_f64().unwrap() - 0.125).abs() < 1e-9);
    let without = bench.json(&["--no-pairs", "--results", "right.jsonl", "wrong.jsonl"]);
    assert_eq!((&without["pairs"], &without["systems"]), (&json!([]), &all["systems"]));
    assert_eq!(all["systems"][0]["latency"]["mean"], 3.0);
    // Public names.
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>().join(" ");
    assert_eq!(keys(&all), "schema_version systems pairs not_scored warnings");
    assert_eq!(
        keys(wrong),
        "name n correct accuracy categories groups format_sensitivity latency package cost input_tokens output_tokens decoding"
    );
    assert_eq!(
        keys(&wrong["categories"][0]),
        "category n correct accuracy interval missing only_dots_differ unparsed_calls error_texts aborts errors"
    );
    assert_eq!(keys(&wrong["groups"][0]), "by name accuracy divides_by");
    assert_eq!(keys(pair), "a b n both only_a only_b neither difference p");
    assert_eq!(all["not_scored"][0]["category"], "multi_turn_base");
}

#[test]
fn underscores_are_expected_on_request() {
    let bench = Bench::new();
    bench.results("wrong.jsonl", WRONG);
    let all = bench.json(&["--results", "wrong.jsonl", "--underscore-to-dot"]);
    assert_eq!(all["systems"][0]["correct"], 2);
}

#[test]
fn verdicts_keep_the_fields_of_their_row_and_number_samples() {
    let bench = Bench::new();
    let rows = [
        json!({"id": "live_multiple_0-0-0", "text": "ring(bell=3)", "sample": 0, "seed": 7}),
        json!({"id": "live_multiple_0-0-0", "text": "mute(bell=3)", "sample": 1}),
    ];
    bench.write("r.jsonl", &lines(&rows));
    let output = callsieve()
        .current_dir(bench.folder.path())
        .args(["evaluate", "--dataset", "dataset", "--results", "r.jsonl", "--verdicts", "-"])
        .output()
        .unwrap();
    let lines = verdicts(&String::from_utf8(output.stdout).unwrap());
    assert_eq!(
        lines[0],
        json!({"id": "live_multiple_0-0-0", "valid": true, "error_type": null, "error": [],
               "decoded": [{"ring": {"bell": 3}}], "sample": 0, "seed": 7})
    );
    assert_eq!(lines[1]["error_type"], "simple_function_checker:wrong_func_name");
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("live_multiple"),
        "the table is on standard error"
    );
}

#[test]
fn results_of_every_form_have_the_same_verdict() {
    let bench = Bench::new();
    let id = "live_multiple_0-0-0";
    let call = json!({"type": "function", "function": {"name": "ring", "arguments": "{\"bell\": 3}"}});
    let body = json!({"choices": [{"message": {"tool_calls": [call]}}], "usage": {"prompt_tokens": 8, "completion_tokens": 2}});
    for row in [
        json!({"id": id, "output": "ring(bell=3)"}),
        json!({"id": id, "result": [{"ring": "{\"bell\": 3}"}]}),
        json!({"id": id, "tool_calls": [call]}),
        json!({"id": "batch_req_1", "custom_id": id, "response": {"status_code": 200, "body": body}, "error": null}),
    ] {
        bench.write("r.jsonl", &lines(std::slice::from_ref(&row)));
        let all = bench.json(&["--results", "r.jsonl"]);
        assert_eq!(all["systems"][0]["correct"], 1, "{row}");
        if row.get("custom_id").is_some() {
            assert_eq!(all["systems"][0]["input_tokens"]["sum"], 8.0);
        }
    }
}

#[test]
fn a_failed_request_is_no_abstention() {
    let bench = Bench::new();
    let row = json!({"custom_id": "live_irrelevance_0-0-0", "response": null, "error": {"code": "expired"}});
    bench.write("r.jsonl", &lines(&[row]));
    let all = bench.json(&["--results", "r.jsonl"]);
    assert_eq!(all["systems"][0]["categories"][0]["errors"][0]["error_type"], "results:no_output");
}

#[test]
fn missing_duplicate_and_unknown_ids_are_named() {
    let bench = Bench::new();
    let row = |id: &str| json!({"id": id, "text": "tower.ring(bell=1)"});
    bench.write("part.jsonl", &lines(&[row("live_simple_0-0-0"), row("live_simple_9-9-9")]));
    let (text, code) = bench.run(&["--results", "part.jsonl"]);
    assert_eq!(code, Some(2), "{text}");
    assert!(
        text.contains("1 of 2 entries of live_simple have no output of part: live_simple_1-0-1"),
        "{text}"
    );
    let (text, code) = bench.run(&["--results", "part.jsonl", "--partial"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("1 id is not in the dataset and not scored: live_simple_9-9-9"), "{text}");
    assert!(text.contains("--partial: 1 entry has no output"), "{text}");
    bench.write("twice.jsonl", &lines(&[row("live_simple_0-0-0"), row("live_simple_0-0-0")]));
    let (text, code) = bench.run(&["--results", "twice.jsonl", "--partial"]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("twice.jsonl:2: \"id\": \"live_simple_0-0-0\" is also in twice.jsonl:1"), "{text}");
}

#[test]
fn min_accuracy_is_a_gate() {
    let bench = Bench::new();
    bench.results("wrong.jsonl", WRONG);
    assert_eq!(bench.run(&["--results", "wrong.jsonl", "--min-accuracy", "0.2"]).1, Some(0));
    let (text, code) = bench.run(&["--results", "wrong.jsonl", "--min-accuracy", "0.5"]);
    assert_eq!(code, Some(1));
    assert!(text.contains("gate failed: wrong: accuracy 0.2000, expected at least 0.5"), "{text}");

    // Outputs of whole categories may be missing because the run that made them ended early.
    bench.write("one.jsonl", &lines(&[json!({"id": "live_multiple_0-0-0", "text": "ring(bell=3)"})]));
    let (text, code) = bench.run(&["--results", "one.jsonl", "--min-accuracy", "0.9"]);
    assert_eq!(code, Some(1), "{text}");
    let expected =
        "gate failed: one: no outputs of live_irrelevance, live_parallel, live_simple; --partial skips them";
    assert!(text.contains(expected), "{text}");
    assert_eq!(bench.run(&["--results", "one.jsonl", "--min-accuracy", "0.9", "--partial"]).1, Some(0));
    let (text, code) = bench.run(&["--compare", "one.jsonl", "wrong.jsonl", "--min-accuracy", "0.9"]);
    assert_eq!(code, Some(2), "{text}");
}

#[test]
fn underscores_can_be_expected_of_one_system() {
    let bench = Bench::new();
    let underscored = [&["[tower_ring(bell=1)]"], &RIGHT[1..]].concat();
    bench.results("dots.jsonl", RIGHT);
    bench.results("lines.jsonl", [underscored[0], "[tower_ring(bell=2)]", RIGHT[2], RIGHT[3], RIGHT[4]]);
    let arguments = ["--results", "dots.jsonl", "lines.jsonl", "--underscore-to-dot=lines"];
    let all = bench.json(&arguments);
    assert_eq!([&all["systems"][0]["correct"], &all["systems"][1]["correct"]], [5, 5]);
    let all = bench.json(&["--results", "dots.jsonl", "lines.jsonl", "--underscore-to-dot"]);
    assert_eq!([&all["systems"][0]["correct"], &all["systems"][1]["correct"]], [3, 5]);
    let (text, code) = bench.run(&["--results", "dots.jsonl", "--underscore-to-dot=dot"]);
    assert_eq!(code, Some(2));
    assert!(text.contains("there is no system \"dot\"\nhint: the results have these: dots"), "{text}");
}

#[test]
fn datasets_that_cannot_be_scored_are_answered_with_the_way_on() {
    let bench = Bench::new();
    bench.write("mt/BFCL_v4_multi_turn_base.json", "{\"id\": \"multi_turn_base_0\"}\n");
    bench.write("open/BFCL_v4_live_simple.json", &lines(&[entry("live_simple_0-0-0", &["ring"])]));
    bench.write(
        "run/dataset/BFCL_v4_live_irrelevance.json",
        &lines(&[entry("live_irrelevance_0-0-0", &["ring"])]),
    );
    bench.write(
        "run/dataset/unverified/BFCL_v4_live_simple.json",
        &lines(&[entry("live_simple_0-ts0-u0", &["ring"])]),
    );
    bench.write(
        "run/dataset/unverified/possible_answer/BFCL_v4_live_simple.json",
        &lines(&[answer("live_simple_0-ts0-u0", &[("ring", 1)])]),
    );
    bench.write("r.jsonl", &lines(&[json!({"id": "live_simple_0-ts0-u0", "text": "ring(bell=1)"})]));
    for (dataset, expected) in [
        ("mt", "hint: `--engine official` scores multi-turn and agentic categories"),
        (
            "open",
            "there is no such file, and open/BFCL_v4_live_simple.json needs one\nhint: a dataset has the ground truth",
        ),
        ("run", "hint: they are of the unverified entries: give --dataset run/dataset/unverified"),
    ] {
        let output = callsieve()
            .current_dir(bench.folder.path())
            .args(["evaluate", "--dataset", dataset, "--results", "r.jsonl"])
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{dataset}");
        assert!(shown(&output).contains(expected), "{dataset}: {}", shown(&output));
    }
}

#[test]
fn score_files_have_the_official_form() {
    let bench = Bench::new();
    bench.results("result/my-model/live/BFCL_v4_live_result.json", WRONG);
    bench.run(&["--results", "result", "--score-dir", "score", "--parquet", "verdicts.parquet"]);
    let text = fs::read_to_string(bench.path("score/my-model/live/BFCL_v4_live_simple_score.json")).unwrap();
    let lines = verdicts(&text);
    assert_eq!(lines[0], json!({"accuracy": 0.0, "correct_count": 0, "total_count": 2}));
    assert_eq!((&lines[1]["id"], &lines[1]["valid"]), (&json!("live_simple_0-0-0"), &json!(false)));
    assert_eq!(lines[1]["error_type"], "simple_function_checker:wrong_func_name");
    // A system with the name of a column, and one that is better.
    bench.results("right, or so.jsonl", RIGHT);
    bench.run(&["--results", "result", "right, or so.jsonl", "--score-dir", "board"]);
    let board = fs::read_to_string(bench.path("board/data_overall.csv")).unwrap();
    let rows: Vec<&str> = board.lines().collect();
    assert!(
        rows[0].starts_with("Rank,Overall Acc,Model,Model Link,Total Cost ($),") && rows.len() == 3,
        "{board}"
    );
    // 10 % of Live, of which live_parallel_multiple is missing and weighs 24; 10 % of half of the irrelevance.
    let live = 4.0 / (4.0 + 24.0);
    let first = format!("1,{:.2}%,\"right, or so\",N/A,", 10.0 * live + 5.0);
    assert!(rows[1].starts_with(&first) && rows[2].starts_with("2,"), "{board}");
    assert!(rows[1].contains(",3.0,1.58,4.8,N/A,"), "{board}");
    assert!(
        rows[1].contains(&format!(",{:.2}%,100.00%,100.00%,100.00%,N/A,0.00%,", 100.0 * live)),
        "{board}"
    );
    let table = callsieve::engine::frame::FrameFile::open(&bench.path("verdicts.parquet"))
        .unwrap()
        .read_all()
        .unwrap();
    assert_eq!(table.height(), 5);
    let row = (0..5).map(|row| table.row_json(row)).find(|row| row["id"] == "live_simple_1-0-1").unwrap();
    assert_eq!(row["error_type"], "type_error:simple");
}

#[test]
fn a_page_shows_the_systems_side_by_side() {
    let bench = Bench::new();
    bench.results("right.jsonl", RIGHT);
    bench.results("<b>wrong.jsonl", WRONG);
    let (text, code) = bench.run(&["--results", "right.jsonl", "<b>wrong.jsonl", "--page", "scores.html"]);
    assert_eq!(code, Some(0), "{text}");
    let page = fs::read_to_string(bench.path("scores.html")).unwrap();
    let expected = [
        "<h1>Scores</h1>",
        "Ranking",
        "id=\"accuracy\"",
        "id=\"outlines\"",
        "id=\"error-types\"",
        "McNemar",
        "live_parallel",
        "multi_turn_base",
        "&lt;b&gt;wrong",
        "type_error:simple",
        "56.6 to 100.0 %",
    ];
    for part in expected {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(
        !page.contains("<b>wrong")
            && !page.contains("<script")
            && page.find("right").unwrap() < page.find("wrong").unwrap()
    );
    let (text, code) = bench.run(&["--results", "right.jsonl", "--page", "right.jsonl"]);
    assert_eq!(code, Some(2), "{text}");
    let (_, code) = bench.run(&["--results", "right.jsonl", "--page", "one.html"]);
    let one = fs::read_to_string(bench.path("one.html")).unwrap();
    assert!(code == Some(0) && !one.contains("McNemar") && !one.contains("id=\"error-types\""), "{one}");
}

#[test]
fn compare_shows_the_entries_that_differ() {
    let bench = Bench::new();
    bench.results("right.jsonl", RIGHT);
    bench.results("wrong.jsonl", WRONG);
    let (text, code) = bench.run(&["--compare", "right.jsonl", "wrong.jsonl"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("5 outputs differ, 4 of them in the verdict"), "{text}");
    assert!(text.contains("▸bell=\"2\""), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

#[test]
fn a_system_of_the_family_of_the_log_is_warned_about() {
    use callsieve::engine::frame::{Values, write_frame};
    let bench = Bench::new();
    bench.write("ingest/.keep", "");
    let models = Values::Text(vec![Some("openai/gpt-4o"), None]);
    write_frame(&bench.path("ingest/requests.parquet"), vec![("model", models)]).unwrap();
    let row = |model: &str| json!({"id": "live_irrelevance_0-0-0", "text": "No bell.", "model": model});
    for (model, is_warned) in [("gpt-5-mini", true), ("qwen3", false)] {
        bench.write("r.jsonl", &lines(&[row(model)]));
        let output = callsieve()
            .current_dir(bench.folder.path())
            .args(["evaluate", "--dataset", ".", "--results", "r.jsonl"])
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", shown(&output));
        let warned = String::from_utf8_lossy(&output.stderr)
            .contains("answers of openai/gpt-4o, a model of the same family");
        assert_eq!(warned, is_warned, "{}", shown(&output));
    }
}

#[test]
fn executable_categories_need_recorded_results() {
    let bench = Bench::new();
    bench.category(
        "exec_simple",
        &[entry("exec_simple_0", &["ring"])],
        &[json!({"id": "exec_simple_0", "ground_truth": ["ring(bell=1)"], "execution_result_type": ["real_time_match"]})],
    );
    let row = json!({"id": "exec_simple_0", "text": "ring(bell=1)"});
    bench.write("r.jsonl", &lines(&[row]));
    bench.write(
        "recorded.jsonl",
        &lines(&[json!({"id": "exec_simple_0", "outputs": [11.9], "expected": [10]})]),
    );
    let all = bench.json(&["--results", "r.jsonl", "--recorded", "recorded.jsonl"]);
    assert_eq!(all["systems"][0]["correct"], 1);
    let all = bench.json(&["--results", "r.jsonl"]);
    assert_eq!(all["systems"][0]["n"], 0);
}

/// Returns the first alternative that is not the mark of an omitted parameter.
fn first(alternatives: &Value) -> Option<Value> {
    let Value::Array(list) = alternatives else { return Some(alternatives.clone()) };
    list.iter().find(|alternative| **alternative != json!("")).map(inner)
}

/// Returns an alternative with the first alternatives of its members.
fn inner(alternative: &Value) -> Value {
    match alternative {
        Value::Object(members) => {
            members.iter().filter_map(|(key, value)| Some((key.clone(), first(value)?))).collect()
        }
        Value::Array(elements) => {
            let element =
                |element: &Value| if element.is_object() { inner(element) } else { element.clone() };
            elements.iter().map(element).collect()
        }
        other => other.clone(),
    }
}

/// Returns a call with the first alternative of each parameter.
fn first_call(call: &Value) -> String {
    let (name, parameters) = call.as_object().unwrap().iter().next().unwrap();
    let arguments = parameters.as_object().unwrap().iter().filter_map(|(key, alternatives)| {
        let value = callsieve::checker::PyValue::from_json(&first(alternatives)?).repr();
        Some(format!("{key}={value}"))
    });
    format!("{name}({})", arguments.collect::<Vec<_>>().join(", "))
}

fn write_first_alternatives(dataset: &Path, category: &str, to: &Path) {
    let path = dataset.join(format!("possible_answer/BFCL_v4_{category}.json"));
    let rows: Vec<Value> = verdicts(&fs::read_to_string(path).unwrap())
        .iter()
        .map(|answer| {
            let calls: Vec<String> =
                answer["ground_truth"].as_array().unwrap().iter().map(first_call).collect();
            json!({"id": answer["id"], "result": format!("[{}]", calls.join(", "))})
        })
        .collect();
    fs::write(to, lines(&rows)).unwrap();
}

#[test]
fn official_ground_truths_pass_as_in_the_official_run() {
    let Some(dataset) = data::path("bfcl-v4-live") else { return };
    let folder = tempfile::tempdir().unwrap();
    for (category, correct, n) in [
        ("live_simple", 256, 258),
        ("live_multiple", 1050, 1053),
        ("live_parallel", 16, 16),
        ("live_parallel_multiple", 24, 24),
    ] {
        let results = folder.path().join(format!("{category}.jsonl"));
        write_first_alternatives(&dataset, category, &results);
        let output = callsieve()
            .args(["evaluate", "--json", "--dataset"])
            .arg(&dataset)
            .arg("--results")
            .arg(&results)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", shown(&output));
        let all: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(
            (&all["systems"][0]["correct"], &all["systems"][0]["n"]),
            (&json!(correct), &json!(n)),
            "{category}"
        );
    }
}

/// Writes a dataset of one parallel entry with the list of entries of format sensitivity.
fn with_formats(bench: &Bench) {
    bench.category(
        "parallel",
        &[entry("parallel_0", &["ring"])],
        &[answer("parallel_0", &[("ring", 1), ("ring", 2)])],
    );
    bench.write("dataset/BFCL_v4_format_sensitivity.json", "{\n  \"parallel\": [\"parallel_0\"]\n}\n");
}

#[test]
fn an_output_of_format_sensitivity_is_read_in_the_format_of_its_id() {
    let bench = Bench::new();
    with_formats(&bench);
    let id = |n: usize, format: &str, tag: &str| {
        format!(
            "format_sensitivity_{n}:ret_fmt={format}&tool_call_tag={tag}&func_doc_fmt=python&prompt_fmt=plaintext&\
             style=classic:parallel_0"
        )
    };
    let json_calls = r#"[{"function": "ring", "parameters": {"bell": 2}}, {"function": "ring", "parameters": {"bell": 1}}]"#;
    let rows = [
        json!({"id": id(0, "python", "True"), "result": "<TOOLCALL>[ring(bell=1), ring(bell=2)]</TOOLCALL>"}),
        json!({"id": id(3, "python", "False"), "result": "[ring(bell=1), ring(bell=2)]"}),
        json!({"id": id(9, "json", "False"), "result": json_calls}),
        json!({"id": id(6, "json", "True"), "result": json_calls}),
    ];
    bench.write("r.jsonl", &lines(&rows));
    let all = bench.json(&["--results", "r.jsonl", "--partial"]);
    let system = &all["systems"][0];
    assert_eq!((&system["n"], &system["categories"][0]["correct"]), (&json!(0), &json!(3)), "{system:#}");
    assert_eq!(system["categories"][0]["errors"][0]["error_type"], "ast_decoder:decoder_failed");
    let formats = &system["format_sensitivity"];
    assert_eq!((&formats["max_delta"], &formats["sd"]), (&json!(1.0), &json!(0.5)), "{formats:#}");
    let (text, _) = bench.run(&["--results", "r.jsonl", "--partial"]);
    assert!(text.contains("Best and worst of 4 configurations: they differ by 100.0 %"), "{text}");
}

#[test]
fn entries_of_v1_have_an_index_and_one_function_without_a_list() {
    let bench = Bench::new();
    let question = json!({"index": "simple_7", "question": "Ring it.", "function": doc("ring")});
    bench.write("v1/gorilla_openfunctions_v1_test_simple.json", &lines(&[question]));
    let answers = lines(&[json!({"ring": {"bell": [1]}})]);
    bench.write("v1/possible_answer/gorilla_openfunctions_v1_test_simple.json", &answers);
    bench.write("r.jsonl", &lines(&[json!({"id": "simple_7", "result": "[ring(bell=1)]"})]));
    let output = callsieve()
        .current_dir(bench.folder.path())
        .args(["evaluate", "--dataset", "v1", "--results", "r.jsonl", "--min-accuracy", "1"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", shown(&output));
}

#[test]
fn answers_of_retired_categories_are_beside_the_folder_of_the_questions() {
    let bench = Bench::new();
    bench.write("old/question/BFCL_v4_exec_simple.json", &lines(&[entry("exec_simple_0", &["ring"])]));
    let truth = json!({"id": "exec_simple_0", "ground_truth": ["ring(bell=1)"], "execution_result_type": ["exact_match"]});
    bench.write("old/possible_answer/BFCL_v4_exec_simple.json", &lines(&[truth]));
    bench.write("recorded.jsonl", &lines(&[json!({"id": "exec_simple_0", "outputs": [1], "expected": [1]})]));
    bench.write("r.jsonl", &lines(&[json!({"id": "exec_simple_0", "result": "[ring(bell=1)]"})]));
    let output = callsieve()
        .current_dir(bench.folder.path())
        .args([
            "evaluate",
            "--dataset",
            "old/question",
            "--results",
            "r.jsonl",
            "--recorded",
            "recorded.jsonl",
        ])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", shown(&output));
    assert!(shown(&output).contains("exec_simple  1        1   100.0 %"), "{}", shown(&output));
}

#[test]
fn what_python_writes_is_read_and_an_answer_twice_is_an_error() {
    let bench = Bench::new();
    let text = fs::read_to_string(bench.path("dataset/BFCL_v4_live_simple.json")).unwrap();
    let first: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    let id = first["id"].as_str().unwrap();
    let row = format!(
        "\u{feff}{{\"id\": \"{id}\", \"result\": \"\\ud800\", \"latency\": NaN, \"input_token_count\": -4}}\n"
    );
    bench.write("python.jsonl", &row);
    let (text, code) = bench.run(&["--results", "python.jsonl", "--partial", "--verdicts", "v.jsonl"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(!text.contains("NaN") && !text.contains("-4"), "{text}");

    let path = "dataset/possible_answer/BFCL_v4_live_simple.json";
    let answers = fs::read_to_string(bench.path(path)).unwrap();
    bench.write(path, &format!("{answers}{}\n", answers.lines().next().unwrap()));
    let (text, code) = bench.run(&["--results", "python.jsonl", "--partial"]);
    assert!(code == Some(2) && text.contains("is also in line") && text.contains("hint: "), "{text}");
}

#[test]
fn an_output_replaces_no_input_and_no_device() {
    let bench = Bench::new();
    bench.results("right.jsonl", RIGHT);
    bench.results("models/one/r.jsonl", RIGHT);
    std::os::unix::fs::symlink("right.jsonl", bench.path("link.jsonl")).unwrap();
    bench.write("prices.toml", "source = \"s\"\nas_of = \"d\"\n[models]\n");
    let before = fs::read(bench.path("right.jsonl")).unwrap();
    for (results, option, output, expected) in [
        ("right.jsonl", "--verdicts", "right.jsonl", "this file is one of the inputs"),
        ("right.jsonl", "--verdicts", "link.jsonl", "this file is one of the inputs"),
        ("right.jsonl", "--parquet", "dataset/BFCL_v4_live_simple.json", "this file is one of the inputs"),
        ("models", "--verdicts", "models/one/r.jsonl", "this file is one of the inputs"),
        ("right.jsonl", "--parquet", "/dev/null", "this is no regular file"),
        ("right.jsonl", "--verdicts", "models/../right.jsonl", "this file is one of the inputs"),
        ("right.jsonl", "--verdicts", "prices.toml", "this file is one of the inputs"),
    ] {
        let (text, code) = bench.run(&["--results", results, "--prices", "prices.toml", option, output]);
        assert_eq!(code, Some(2), "{output}: {text}");
        assert!(text.contains(expected), "{output}: {text}");
    }
    let (text, code) = bench.run(&["--results", "right.jsonl", "--verdicts", "v", "--parquet", "v"]);
    assert!(code == Some(2) && text.contains("two outputs have this name"), "{text}");
    let (text, code) =
        bench.run(&["--results", "right.jsonl", "--verdicts", "v", "--parquet", "models/../v"]);
    assert!(code == Some(2) && text.contains("two outputs have this name"), "{text}");
    assert_eq!(fs::read(bench.path("right.jsonl")).unwrap(), before);

    // A score file that is a result file, and a system whose folder would be another one.
    let score = "scores/right/live/BFCL_v4_live_simple_score.json";
    bench.results(score, RIGHT);
    let kept = fs::read(bench.path(score)).unwrap();
    let (text, code) = bench.run(&["--results", "right.jsonl", score, "--score-dir", "scores"]);
    assert!(code == Some(2) && text.contains("this file is one of the inputs"), "{text}");
    assert_eq!(fs::read(bench.path(score)).unwrap(), kept);
    bench.results("...jsonl", RIGHT);
    let (text, code) = bench.run(&["--results", "...jsonl", "--score-dir", "below/scores"]);
    assert!(code == Some(0) && !bench.path("below/live").exists(), "{text}");

    // A file of a person beside the output stays.
    bench.write("v.jsonl.partial", "mine");
    assert_eq!(bench.run(&["--results", "right.jsonl", "--verdicts", "v.jsonl"]).1, Some(0));
    assert_eq!(fs::read_to_string(bench.path("v.jsonl.partial")).unwrap(), "mine");

    // A pipe is written to; renaming a file over it would remove it, and so it is with devices.
    let pipe = bench.path("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || fs::read_to_string(pipe).unwrap()
    });
    let (text, code) = bench.run(&["--results", "right.jsonl", "--verdicts", "pipe"]);
    assert_eq!(code, Some(0), "{text}");
    assert_eq!(verdicts(&reader.join().unwrap()).len(), 5);
    assert!(std::os::unix::fs::FileTypeExt::is_fifo(&fs::metadata(&pipe).unwrap().file_type()));
}
