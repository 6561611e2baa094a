//! Tests of `callsieve evaluate --ask --engine official`: conversations with a scripted server, in the services of the package.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::server::{ReceivedRequest, Reply, Server};
use crate::support::{callsieve, shown};
use callsieve_testkit::data;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{lines, verdicts};

const CATEGORIES: [&str; 4] =
    ["multi_turn_base", "multi_turn_miss_func", "multi_turn_miss_param", "multi_turn_long_context"];

/// Ends a turn.
const DONE: &str = "That is all I can do here.";

/// Prints the ground truths of a category by the first message of each entry: for each turn the calls as a text, and as pairs of
/// name and arguments. Arguments without a name, which the decoder of the package drops, get that of the docs.
const TRUTHS: &str = r#"
import ast, glob, json, sys
data, questions, answers = sys.argv[1:]
parameters = {}
for path in sorted(glob.glob(data + "/multi_turn_func_doc/*.json")):
    for doc in map(json.loads, open(path)):
        parameters.setdefault(doc["name"], list(doc["parameters"]["properties"]))
def named(call):
    tree = ast.parse(call, mode="eval").body
    arguments = dict(zip(parameters[tree.func.id], map(ast.literal_eval, tree.args)))
    return tree.func.id, arguments | {keyword.arg: ast.literal_eval(keyword.value) for keyword in tree.keywords}
def text(calls):
    return "[" + ", ".join(name + "(" + ", ".join(f"{k}={v!r}" for k, v in given.items()) + ")" for name, given in calls) + "]"
for question, answer in zip(map(json.loads, open(questions)), map(json.loads, open(answers))):
    turns = [[named(call) for call in turn] for turn in answer["ground_truth"]]
    print(json.dumps({"first": question["question"][0][0]["content"],
                      "turns": [{"text": text(calls), "calls": [[name, json.dumps(given)] for name, given in calls]} for calls in turns]}))
"#;

/// The installed package, and the first entries of its multi-turn categories.
struct Official {
    environment: PathBuf,
    folder: TempDir,
}

impl Official {
    /// Returns the package in `bfcl-venv` of the data folder, with the first entries of a category as the dataset.
    fn new(category: &str, n_entries: usize) -> Option<Self> {
        let this = Self { environment: data::path("bfcl-venv")?, folder: tempfile::tempdir().unwrap() };
        fs::create_dir_all(this.path("dataset/possible_answer")).unwrap();
        for name in [format!("BFCL_v4_{category}.json"), format!("possible_answer/BFCL_v4_{category}.json")] {
            let text = fs::read_to_string(this.data().join(&name)).unwrap();
            let first: String = text.split_inclusive('\n').take(n_entries).collect();
            fs::write(this.path(&format!("dataset/{name}")), first).unwrap();
        }
        Some(this)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The folder of questions in the package.
    fn data(&self) -> PathBuf {
        let libraries = fs::read_dir(self.environment.join("lib")).unwrap();
        let mut found = libraries.map(|library| library.unwrap().path().join("site-packages/bfcl_eval/data"));
        found.find(|path| path.is_dir()).unwrap()
    }

    fn truths(&self, category: &str) -> BTreeMap<String, Value> {
        let mut command = Command::new(self.environment.join("bin/python"));
        command.args(["-I", "-c", TRUTHS]).arg(self.data());
        command.arg(self.path(&format!("dataset/BFCL_v4_{category}.json")));
        command.arg(self.path(&format!("dataset/possible_answer/BFCL_v4_{category}.json")));
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", shown(&output));
        let truths = verdicts(&String::from_utf8(output.stdout).unwrap());
        truths.iter().map(|of| (of["first"].as_str().unwrap().to_owned(), of["turns"].clone())).collect()
    }

    fn command(&self, server: &Server, more: &[&str]) -> Command {
        let mut command = callsieve();
        command.current_dir(self.folder.path()).env("BFCL_VENV", &self.environment);
        command.env("OPENAI_BASE_URL", &server.url).env("OPENAI_API_KEY", "sk-not-a-real-key-52719");
        command.args(["evaluate", "--dataset", "dataset", "--engine", "official", "--ask", "gpt-4.1-mini"]);
        command.args(["--save", "saved.jsonl", "--verdicts", "verdicts.jsonl", "--json"]).args(more);
        command
    }

    fn ask(&self, server: &Server, more: &[&str]) -> (String, Option<i32>) {
        let output = self.command(server, more).output().unwrap();
        (shown(&output), output.status.code())
    }

    fn rows(&self, name: &str) -> Vec<Value> {
        verdicts(&fs::read_to_string(self.path(name)).unwrap())
    }

    /// Returns the output file without the times.
    fn saved_without_latency(&self) -> Vec<Value> {
        let mut rows = self.rows("saved.jsonl");
        for row in &mut rows {
            row["latency"] = Value::Null;
        }
        rows
    }
}

fn message(message: &Value) -> Reply {
    let body = json!({"choices": [{"message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1000, "completion_tokens": 100}});
    Reply::new(200, body.to_string())
}

fn text(text: &str) -> Reply {
    message(&json!({"role": "assistant", "content": text}))
}

fn calls<'c>(calls: impl IntoIterator<Item = (&'c str, &'c str)>) -> Reply {
    let call = |(n, (name, arguments)): (usize, (&str, &str))| json!({"id": format!("call_{n}"), "type": "function", "function": {"name": name, "arguments": arguments}});
    let calls: Vec<Value> = calls.into_iter().enumerate().map(call).collect();
    message(&json!({"role": "assistant", "content": null, "tool_calls": calls}))
}

/// Whether a message has results of calls.
fn is_result(message: &Value) -> bool {
    message["role"] == "tool"
        || message["content"].as_str().is_some_and(|text| text.starts_with("[{'role': 'tool'"))
}

/// Calls what the ground truth has for the turn, at once, and then ends the turn.
fn right(truths: &BTreeMap<String, Value>, request: &ReceivedRequest) -> Reply {
    let body = request.json();
    let messages = body["messages"].as_array().unwrap();
    let of_user: Vec<&Value> =
        messages.iter().filter(|message| message["role"] == "user" && !is_result(message)).collect();
    let turn = &truths[of_user[0]["content"].as_str().unwrap()][of_user.len() - 1];
    let pairs = turn["calls"].as_array().unwrap();
    if is_result(messages.last().unwrap()) || pairs.is_empty() {
        text(DONE)
    } else if body.get("tools").is_some() {
        calls(pairs.iter().map(|call| (call[0].as_str().unwrap(), call[1].as_str().unwrap())))
    } else {
        text(turn["text"].as_str().unwrap())
    }
}

/// Returns the number of steps in all turns of these outputs.
fn n_steps(rows: &[Value]) -> usize {
    let turns = rows.iter().flat_map(|row| row["result"].as_array().unwrap());
    turns.map(|turn| turn.as_array().unwrap().len()).sum()
}

fn scores(text: &str) -> Value {
    let line =
        text.lines().find(|line| line.starts_with("{\"schema_version\"")).unwrap_or_else(|| panic!("{text}"));
    serde_json::from_str(line).unwrap()
}

#[test]
fn ground_truths_of_multi_turn_entries_are_right_in_both_modes() {
    for category in CATEGORIES {
        for mode in ["prompt", "fc"] {
            let Some(official) = Official::new(category, 5) else { return };
            let truths = official.truths(category);
            let server = Server::start(move |request, _| right(&truths, request));
            let (text, code) = official.ask(&server, &["--ask-mode", mode]);
            assert_eq!(code, Some(0), "{category} {mode}: {text}");
            let system = &scores(&text)["systems"][0];
            assert_eq!(
                (&system["correct"], &system["n"]),
                (&json!(5), &json!(5)),
                "{category} {mode}: {text}"
            );
            assert!(text.contains("multi-turn calls executed by bfcl-eval "), "{text}");
            // Each request is a step of some turn.
            let steps = n_steps(&official.rows("saved.jsonl"));
            let requests = server.requests();
            assert_eq!(steps, requests.len());
            assert_eq!(system["latency"]["n"], json!(steps));
            // 0.4 and 1.6 dollars for a million tokens.
            let cost = system["cost"]["usd"].as_f64().unwrap();
            assert!((cost / 0.000_56 - f64::from(u32::try_from(steps).unwrap())).abs() < 1e-6, "{system}");
            if category == "multi_turn_miss_func" {
                functions_are_added_in_their_turn(mode, &requests);
            }
            // Nothing is asked again, and no file of replies remains.
            let (text, code) = official.ask(&server, &["--ask-mode", mode]);
            assert_eq!((code, server.requests().len()), (Some(0), steps), "{text}");
            assert!(!official.path("saved.jsonl.steps").exists());
        }
    }
}

fn functions_are_added_in_their_turn(mode: &str, requests: &[ReceivedRequest]) {
    const UPDATE: &str = "I have updated some more functions you can choose from. What about now?";
    let updates: Vec<Value> = requests
        .iter()
        .map(ReceivedRequest::json)
        .filter(|body| {
            let last = body["messages"].as_array().unwrap().last().unwrap();
            last["role"] == "user" && last["content"].as_str().unwrap().ends_with(UPDATE)
        })
        .collect();
    assert_eq!(updates.len(), 5);
    for body in updates {
        let last =
            body["messages"].as_array().unwrap().last().unwrap()["content"].as_str().unwrap().to_owned();
        if mode == "prompt" {
            assert!(last.starts_with("[{'name': '"), "{last}");
        } else {
            assert_eq!(last, UPDATE);
            let tools = body["tools"].as_array().unwrap();
            // Only those of the first turn have the note on their language.
            let last = tools.last().unwrap()["function"]["description"].as_str().unwrap();
            assert!(!last.contains("Python 3"), "{last}");
        }
    }
}

#[test]
fn a_conversation_that_was_killed_goes_on_where_it_was() {
    for mode in ["prompt", "fc"] {
        let category = "multi_turn_base";
        let Some(official) = Official::new(category, 2) else { return };
        let truths = official.truths(category);
        let whole = Official::new(category, 2).unwrap();
        let of_whole = truths.clone();
        let server = Server::start(move |request, _| right(&of_whole, request));
        let options = ["--ask-mode", mode, "--concurrency", "1"];
        assert_eq!(whole.ask(&server, &options).1, Some(0));
        let n_requests = server.requests().len();

        let of_half = truths.clone();
        let half = Server::start(move |request, number| {
            if number >= 5 {
                std::thread::sleep(Duration::from_mins(10));
            }
            right(&of_half, request)
        });
        let mut command = official.command(&half, &options);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        while half.requests().len() < 6 {
            std::thread::sleep(Duration::from_millis(20));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let path = official.path("saved.jsonl.steps");
        let replies = fs::read_to_string(&path).unwrap();
        // Each reply, and again with what its calls returned.
        assert_eq!(replies.lines().count(), 10, "{replies}");
        assert!(official.rows("saved.jsonl").is_empty());
        // The write of the next reply was cut.
        fs::write(&path, format!("{replies}{{\"id\":\"multi_turn_base_0\",\"requ")).unwrap();

        let rest = Server::start(move |request, _| right(&truths, request));
        let (text, code) = official.ask(&rest, &options);
        assert_eq!((code, rest.requests().len()), (Some(0), n_requests - 5), "{text}");
        assert_eq!(official.saved_without_latency(), whole.saved_without_latency());
        assert!(!path.exists());

        // A file of anything else stays.
        fs::write(&path, "my notes\n").unwrap();
        let (text, code) = official.ask(&rest, &options);
        assert!(code == Some(2) && text.contains("line 1 is no reply of a call with --ask"), "{text}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "my notes\n");
    }
}

#[test]
fn a_conversation_stops_before_it_costs_too_much() {
    let category = "multi_turn_base";
    let Some(official) = Official::new(category, 2) else { return };
    let truths = official.truths(category);
    let server = Server::start(move |request, _| right(&truths, request));
    // A reply costs 0.00056 dollars, and the first request is estimated at 0.0077 because of its docs.
    let (text, code) = official.ask(&server, &["--max-cost", "0.0090", "--concurrency", "1"]);
    let n_requests = server.requests().len();
    assert!(code == Some(3) && (1..8).contains(&n_requests), "{n_requests} {text}");
    assert!(text.contains("2 of 2 outputs are missing: the next request may cost 0.00"), "{text}");
    // What was paid counts.
    let (text, code) = official.ask(&server, &["--max-cost", "0.0090", "--concurrency", "1"]);
    assert_eq!((code, server.requests().len()), (Some(3), n_requests), "{text}");
    let (text, code) = official.ask(&server, &["--max-cost", "1"]);
    assert_eq!(code, Some(0), "{text}");
    let steps = n_steps(&official.rows("saved.jsonl"));
    assert_eq!(server.requests().len(), steps, "{text}");
}

#[test]
fn a_model_that_never_stops_is_ended_as_the_package_does() {
    for (mode, reply) in [("prompt", text as fn(&str) -> Reply), ("fc", |_| calls([("pwd", "{}")]))] {
        let Some(official) = Official::new("multi_turn_base", 1) else { return };
        let server = Server::start(move |_, _| reply("[pwd()]"));
        let (text, code) = official.ask(&server, &["--ask-mode", mode]);
        assert_eq!((code, server.requests().len()), (Some(0), 21), "{text}");
        let row = &official.rows("saved.jsonl")[0];
        let turns = row["result"].as_array().unwrap();
        assert_eq!((turns.len(), turns[0].as_array().unwrap().len()), (1, 21));
        assert_eq!(official.rows("verdicts.jsonl")[0]["error_type"], "multi_turn:force_terminated");
    }
}

#[test]
fn code_in_the_calls_of_a_model_reads_and_writes_nothing() {
    let secret = tempfile::NamedTempFile::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    fs::write(secret.path(), "hunter2").unwrap();
    let secret = secret.path().display().to_string();
    let leak = format!("{secret}.leak");
    let command = format!("cat {secret} > {leak}; cat {secret}");
    let quoted = json!({"command": command, "file": secret}).to_string();
    let read = format!("open('{secret}').read()");
    let texts = vec![
        format!("[inspect.os.system(command='{command}')]"),
        format!("[pwd(x={{'inspect.os.popen': {{'cmd': '{command}'}}}})]"),
        format!("[pwd(x=1 + __import__('os').system('{command}'))]"),
        format!("[echo(content=1 + {read})]"),
        format!("[echo(content={{'{}': {{}}}})]", read.replace('\'', "\\'")),
    ];
    let names: Vec<(String, String)> = vec![
        ("inspect.os.system".to_owned(), quoted.clone()),
        ("inspect.getsource".to_owned(), quoted),
        (format!("{read} or pwd"), "{}".to_owned()),
        ("echo".to_owned(), json!({format!("content={read}, x"): 1}).to_string()),
        (format!("echo(content={read}) or pwd"), "{}".to_owned()),
        ("[open for open in [open]][0]".to_owned(), json!({"file": secret}).to_string()),
    ];
    // Also where the system isolates no process.
    for path in [std::env::var("PATH").unwrap(), "/nowhere".to_owned()] {
        for mode in ["prompt", "fc"] {
            let Some(official) = Official::new("multi_turn_base", 1) else { return };
            let (texts, names) = (texts.clone(), names.clone());
            let (n_attacks, is_calls) = (if mode == "fc" { names.len() } else { texts.len() }, mode == "fc");
            let server =
                Server::start(move |_, number| match (is_calls, texts.get(number), names.get(number)) {
                    (true, _, Some((name, arguments))) => calls([(name.as_str(), arguments.as_str())]),
                    (false, Some(attack), _) => text(attack),
                    _ => text(DONE),
                });
            let output =
                official.command(&server, &["--ask-mode", mode]).env("PATH", &path).output().unwrap();
            let shown = shown(&output);
            assert_eq!(output.status.code(), Some(0), "{shown}");
            assert!(server.requests().len() > n_attacks, "{shown}");
            let sent = server.requests().iter().map(|request| request.body.clone()).collect::<String>();
            assert!(!sent.contains("hunter2"), "{sent}");
            assert!(sent.contains("Error during execution: "), "{sent}");
            // Scoring executes what it is given, as the package does, where the system does not isolate it.
            if path != "/nowhere" {
                assert!(!PathBuf::from(&leak).exists(), "{shown}");
            }
        }
    }
    let _ = fs::remove_file(leak);
}

#[test]
fn categories_that_are_never_asked_are_named_with_the_reason() {
    let Some(official) = Official::new("multi_turn_base", 1) else { return };
    let memory = json!({"id": "memory_0-customer-0", "question": [[{"role": "user", "content": "Who?"}]],
        "involved_classes": [], "scenario": "customer"});
    fs::write(official.path("dataset/BFCL_v4_memory.json"), lines(&[memory])).unwrap();
    let answer = json!({"id": "memory_0-customer-0", "ground_truth": ["Me"]});
    fs::write(official.path("dataset/possible_answer/BFCL_v4_memory.json"), lines(&[answer])).unwrap();
    let server = Server::start(|_, _| text(DONE));
    let (text, code) = official.ask(&server, &["--category", "memory_kv"]);
    assert_eq!((code, server.requests().len()), (Some(2), 0), "{text}");
    assert!(text.contains("memory_kv cannot be asked: its questions are about a memory"), "{text}");
    let (text, code) = official.ask(&server, &[]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("warning: memory_vector is not asked: its questions"), "{text}");
}

/// Writes a Python that ends at each step of a conversation, and finds all outputs wrong.
fn fragile_python(folder: &TempDir) {
    let script = r#"#!/bin/sh
echo '{"version": "9", "network": "none", "files": "read-only"}'
n=0
while read -r line; do
  case "$line" in
    *'"do":"docs"'*) echo "{\"n\": $n, \"functions\": [], \"added\": {}, \"max_steps\": 20}" ;;
    *'"do":"open"'*) echo "{\"n\": $n}" ;;
    *'"do":"step"'*) echo 'no memory' >&2; exit 1 ;;
    *) echo "{\"n\": $n, \"valid\": false, \"error_type\": \"multi_turn:x\", \"error\": [\"no\"]}" ;;
  esac
  n=$((n + 1))
done
"#;
    fs::create_dir_all(folder.path().join("venv/bin")).unwrap();
    let python = folder.path().join("venv/bin/python");
    fs::write(&python, script).unwrap();
    fs::set_permissions(python, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
}

#[test]
fn a_conversation_whose_services_end_twice_is_over_and_needs_the_engine() {
    let folder = tempfile::tempdir().unwrap();
    fragile_python(&folder);
    fs::create_dir_all(folder.path().join("dataset/possible_answer")).unwrap();
    let turn = json!([{"role": "user", "content": "Ring it."}]);
    let question = json!({"id": "multi_turn_base_0", "question": [turn, turn], "involved_classes": []});
    let truth = json!({"id": "multi_turn_base_0", "ground_truth": [["ring()"], ["ring()"]]});
    fs::write(folder.path().join("dataset/BFCL_v4_multi_turn_base.json"), lines(&[question])).unwrap();
    let path = folder.path().join("dataset/possible_answer/BFCL_v4_multi_turn_base.json");
    fs::write(path, lines(&[truth])).unwrap();
    let other = json!({"id": "live_irrelevance_0-0-0", "question": [turn], "function": []});
    fs::write(folder.path().join("dataset/BFCL_v4_live_irrelevance.json"), lines(&[other])).unwrap();
    let server = Server::start(|_, _| text("[ring()]"));
    let ask = |more: &[&str]| {
        let mut command = callsieve();
        command.current_dir(folder.path()).env("BFCL_VENV", "venv").env("OPENAI_BASE_URL", &server.url);
        command.args(["evaluate", "--dataset", "dataset", "--ask", "m", "--save", "saved.jsonl"]);
        let output = command.args(["--category", "multi_turn_base"]).args(more).output().unwrap();
        (shown(&output), output.status.code())
    };
    let (text, code) = ask(&[]);
    assert_eq!((code, server.requests().len()), (Some(2), 0), "{text}");
    assert!(text.contains("hint: `--engine official` asks multi-turn categories"), "{text}");
    let (text, code) = ask(&["--engine", "official"]);
    assert_eq!((code, server.requests().len()), (Some(0), 1), "{text}");
    let row = &verdicts(&fs::read_to_string(folder.path().join("saved.jsonl")).unwrap())[0];
    assert_eq!(
        (&row["result"], &row["environment_error"]),
        (&json!([["[ring()]"]]), &json!("the process ended"))
    );
}
