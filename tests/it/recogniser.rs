//! Runs with a recogniser of names and street addresses: a local model of known labels, and a scripted server.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::server::{ReceivedRequest, Reply, Server};
use crate::support::{assert_same_bytes, callsieve, shown, stable_bytes, text_of};
use serde_json::{Value, json};
use tempfile::TempDir;

/// What no file but the raw tables may hold.
const PLANTED: [&str; 6] =
    ["Mira", "Keller", "keller", "Tomas", "5 Old Mill Lane", "mira.keller@quillpost.net"];

/// A log, a pipeline with a recogniser, and a model.
struct Bench {
    folder: TempDir,
}

impl Bench {
    fn new() -> Self {
        let this = Self { folder: tempfile::tempdir().unwrap() };
        fs::write(this.path("log.jsonl"), log()).unwrap();
        #[cfg(feature = "models")]
        callsieve_testkit::tiny_model::write_model(&this.path("model"), false);
        this
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a pipeline whose redaction has this recogniser.
    fn write_pipeline(&self, recogniser: &str) {
        let redaction = ["redact", "redact-docs"]
            .map(|kind| format!("[[stages]]\nkind = \"{kind}\"\nrecogniser = \"{recogniser}\"\n"));
        let others = ["collapse-conversations", "parse-docs", "fix-docs", "draft-answers", "split"]
            .map(|kind| format!("[[stages]]\nkind = \"{kind}\"\n"));
        let text = format!("max_fault_share = 1.0\n{}{}[export]\n", redaction.concat(), others.concat());
        fs::write(self.path("p.toml"), text).unwrap();
    }

    fn command(&self, server: Option<&str>, arguments: &[&str]) -> Command {
        let mut command = callsieve();
        command.current_dir(self.folder.path()).env("CALLSIEVE_CACHE", self.path("caches")).args(arguments);
        if let Some(server) = server {
            command.env("OPENAI_BASE_URL", server).env("OPENAI_API_KEY", "sk-not-a-real-key-83046");
        }
        command
    }

    fn run(&self, server: Option<&str>, out: &str, more: &[&str]) -> (PathBuf, Output) {
        let arguments = [&["run", "p.toml", "log.jsonl", "--out", out][..], more].concat();
        let output = self.command(server, &arguments).output().unwrap();
        assert!(self.path(out).join("report.json").exists(), "{}", shown(&output));
        for planted in PLANTED {
            assert!(!shown(&output).contains(planted), "{}", shown(&output));
        }
        (self.path(out), output)
    }

    fn why(&self, out: &str, row: &str) -> String {
        let output = self.command(None, &["why", "--full", out, row]).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    }
}

/// Returns a log whose answers repeat the names of the messages, with names in a description and in an enumeration.
fn log() -> String {
    let function = json!({"type": "function", "function": {"name": "tomas", "description": "Sends post. Ask Mira Keller for help.",
        "parameters": {"type": "object", "required": ["to"], "properties": {
            "to": {"type": "string", "description": "The person."}, "at": {"type": "string", "description": "The address."},
            "doctor": {"type": "string", "description": "The doctor.", "enum": ["Ingrid", "Jordan"]}}}}});
    let row = |id: &str, query: &str, arguments: &Value| {
        json!({"id": id, "ts": 1_900_000_000, "user": "u1", "request": {"messages": [{"role": "user", "content": query}],
            "tools": [function]}, "response": {"choices": [{"message": {"role": "assistant", "content": null, "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "tomas", "arguments": arguments.to_string()}}]},
            "finish_reason": "tool_calls"}]}})
    };
    let rows = [
        row(
            "one",
            "Ask Mira Keller (mira.keller@quillpost.net) at 5 Old Mill Lane about the weather in Berkeley",
            &json!({"to": "mira keller", "at": "5 Old Mill Lane"}),
        ),
        row("two", "Ask Tomas in May. Tomas knows Jordan", &json!({"to": "Tomas", "doctor": "Jordan"})),
        row("three", "Post a bell to MIRA KELLER, not to Person 4", &json!({"to": "MIRA KELLER"})),
    ];
    rows.map(|row| row.to_string()).join("\n")
}

/// Returns a log whose system prompts name the staff and the assistant.
fn log_with_prompts() -> String {
    let function = json!({"type": "function", "function": {"name": "notify", "description": "Sends a note.",
        "parameters": {"type": "object", "required": ["to"], "properties": {"to": {"type": "string", "description": "The person."}}}}});
    let row = |id: &str, prompt: &str, query: &str| {
        let messages = json!([{"role": "system", "content": prompt}, {"role": "user", "content": query}]);
        let arguments = json!({"to": "Mira Keller"}).to_string();
        json!({"id": id, "ts": 1_900_000_000, "request": {"messages": messages, "tools": [function]},
            "response": {"choices": [{"message": {"role": "assistant", "content": null, "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "notify", "arguments": arguments}}]},
            "finish_reason": "tool_calls"}]}})
    };
    let rows = [
        row(
            "staff",
            "You are the assistant of Dr. Mira Keller. Escalate to Tomas, extension 4417.",
            "Tell Mira Keller, not Tomas, that the bells rest",
        ),
        row(
            "assistant",
            "You are Tomas, the helper of Acme. Escalate to Mira Keller.",
            "Tomas, tell Mira Keller that the bells rang",
        ),
    ];
    rows.map(|row| row.to_string()).join("\n")
}

#[test]
fn staff_in_a_system_prompt_are_found_and_the_assistant_keeps_its_name() {
    let bench = Bench::new();
    fs::write(bench.path("log.jsonl"), log_with_prompts()).unwrap();
    bench.write_pipeline("endpoint:m");
    let server = Server::start(|request, _| recognised(request));
    let arguments = ["run", "p.toml", "log.jsonl", "--out", "out"];
    let output = bench.command(Some(&server.url), &arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", shown(&output));
    let staff = bench.why("out", "staff");
    for wanted in [
        "You are the assistant of Dr. Person 1. Escalate to Person 2, extension 4417.",
        "Tell Person 1, not Person 2, that the bells rest",
        r#""to":"Person 1""#,
    ] {
        assert!(staff.contains(wanted), "no {wanted} in\n{staff}");
    }
    let assistant = bench.why("out", "assistant");
    for wanted in [
        "You are Tomas, the helper of Acme. Escalate to Person 1.",
        "Tomas, tell Person 1 that the bells rang",
        r#""to":"Person 1""#,
    ] {
        assert!(assistant.contains(wanted), "no {wanted} in\n{assistant}");
    }
}

/// Asserts that only the raw tables hold the names. The function that is named like a person keeps its name.
fn assert_no_names(out: &Path) {
    for (name, text) in text_of(out) {
        for planted in PLANTED {
            assert!(!text.contains(planted), "{planted} in {name}");
        }
    }
}

/// The lines that a run with any recogniser shows about the rows.
fn assert_redacted(bench: &Bench, out: &str) {
    let one = bench.why(out, "one");
    for wanted in [
        "Ask Person 1 (user1@example.com) at 1 Example Street about the weather in Berkeley",
        r#""to":"Person 1""#,
        r#""at":"1 Example Street""#,
        "Ask Person 1 for help.",
        "name → Person 1",
        "street-address → 1 Example Street",
    ] {
        assert!(one.contains(wanted), "no {wanted} in\n{one}");
    }
    let two = bench.why(out, "two");
    for wanted in ["Ask Person 2 in May. Person 2 knows Jordan", r#""to":"Person 2""#, r#""doctor":"Jordan""#]
    {
        assert!(two.contains(wanted), "no {wanted} in\n{two}");
    }
    let three = bench.why(out, "three");
    assert!(three.contains("Post a bell to Person 1, not to Person 4"), "{three}");
}

#[cfg(feature = "models")]
#[test]
fn a_local_model_finds_names_in_messages_answers_and_docs() {
    let bench = Bench::new();
    bench.write_pipeline("local:model");
    let (out, output) = bench.run(None, "out1", &["--threads", "1"]);
    assert_no_names(&out);
    assert_redacted(&bench, "out1");
    assert_eq!(output.status.code(), Some(0), "{}", shown(&output));
    let (other, _) = bench.run(None, "out8", &["--threads", "8"]);
    assert_same_bytes(&stable_bytes(&out), &stable_bytes(&other));
    let entries = fs::read_to_string(out.join("dataset/report.md")).unwrap_or_default();
    assert!(!entries.contains("Mira"), "{entries}");
}

#[cfg(feature = "models")]
#[test]
fn redacting_a_redacted_log_changes_nothing() {
    let bench = Bench::new();
    bench.write_pipeline("local:model");
    bench.run(None, "first", &[]);
    let redacted = log()
        .replace("Mira Keller", "Person 1")
        .replace("mira keller", "Person 1")
        .replace("MIRA KELLER", "Person 1")
        .replace("Ask Tomas", "Ask Person 2")
        .replace("Tomas", "Person 2")
        .replace("mira.keller@quillpost.net", "user1@example.com")
        .replace("5 Old Mill Lane", "1 Example Street");
    fs::write(bench.path("log.jsonl"), redacted).unwrap();
    bench.run(None, "second", &[]);
    let diff = bench.command(None, &["diff", "second", "--reason", "privacy/name"]).output().unwrap();
    assert!(!shown(&diff).contains("→"), "{}", shown(&diff));
}

#[test]
fn by_rules_only_street_addresses_are_found() {
    let bench = Bench::new();
    bench.write_pipeline("rules");
    let output = bench.command(None, &["run", "p.toml", "log.jsonl", "--out", "out"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", shown(&output));
    let one = bench.why("out", "one");
    assert!(one.contains("Ask Mira Keller (user1@example.com) at 1 Example Street about"), "{one}");
}

/// The text that a request asks about.
fn asked(request: &ReceivedRequest) -> String {
    request.json()["messages"][1]["content"].as_str().unwrap().to_owned()
}

/// Quotes the names and addresses as a careful person would.
fn recognised(request: &ReceivedRequest) -> Reply {
    let text = asked(request);
    assert!(!text.contains("quillpost"), "only what the rules left is sent: {text}");
    let known = [
        ("Mira Keller", "name"),
        ("Tomas", "name"),
        ("MIRA KELLER", "name"),
        ("5 Old Mill Lane", "street-address"),
    ];
    let is_here = |(quote, _): &&(&str, &str)| text.contains(quote);
    let value = |(quote, kind): &(&str, &str)| json!({"quote": quote, "kind": kind});
    let values: Vec<Value> = known.iter().filter(is_here).map(value).collect();
    reply(&json!({ "values": values }).to_string())
}

fn reply(text: &str) -> Reply {
    let body = json!({"model": "m", "choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 20}});
    Reply::new(200, body.to_string())
}

#[test]
fn a_language_model_is_asked_about_what_the_rules_left_and_each_text_once() {
    let bench = Bench::new();
    bench.write_pipeline("endpoint:m");
    let server = Server::start(|request, _| recognised(request));
    let (out, output) = bench.run(Some(&server.url), "out1", &["--threads", "1"]);
    assert_no_names(&out);
    assert_redacted(&bench, "out1");
    assert!(shown(&output).contains("names and street addresses are still in them"), "{}", shown(&output));
    let mut texts: Vec<String> = server.requests().iter().map(asked).collect();
    let n_asked = texts.len();
    texts.sort();
    texts.dedup();
    assert_eq!(texts.len(), n_asked, "a text is asked about once");
    // Another folder and more threads: the same bytes, and all answers are in the cache.
    let (other, _) = bench.run(Some(&server.url), "out8", &["--threads", "8"]);
    assert_eq!(server.requests().len(), n_asked);
    let [one, other] = [&out, &other].map(|out| stable_bytes(out));
    assert!(one.contains_key(Path::new("dataset/README.md")));
    assert_same_bytes(&one, &other);
}

#[test]
fn plan_says_that_names_are_sent_and_what_it_costs() {
    let bench = Bench::new();
    bench.write_pipeline("endpoint:gpt-4.1-mini");
    let planned = shown(&bench.command(None, &["plan", "p.toml", "log.jsonl"]).output().unwrap());
    assert!(
        planned.contains("sends the texts of requests and doc lists to the language model gpt-4.1-mini"),
        "{planned}"
    );
    let server = Server::start(|_, _| panic!("a plan sends nothing"));
    let arguments = ["plan", "p.toml", "log.jsonl", "--cost", "--json"];
    let output = bench.command(Some(&server.url), &arguments).output().unwrap();
    let cost: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(cost.to_string().contains("\"requests\":4"), "{cost}");
}

#[test]
fn a_request_of_which_a_text_could_not_be_read_is_held_and_redacted_by_the_rules() {
    let bench = Bench::new();
    bench.write_pipeline("endpoint:m");
    // An answer that quotes what is not there, an answer about the list that is no JSON, an error that repeats the text.
    for at in 0..3 {
        let server = Server::start(move |request, _| {
            let text = asked(request);
            match at {
                0 if text.contains("Berkeley") => reply(r#"{"values": [{"quote": "Mara", "kind": "name"}]}"#),
                1 if text.contains("Sends post") => reply("none"),
                2 if text.contains("Berkeley") => Reply::new(400, text),
                _ => recognised(request),
            }
        });
        let name = format!("out{at}");
        let arguments = ["run", "p.toml", "log.jsonl", "--out", &name];
        let output = bench
            .command(Some(&server.url), &arguments)
            .env("CALLSIEVE_CACHE", bench.path(&format!("caches{at}")))
            .output()
            .unwrap();
        assert!(bench.path(&name).join("report.json").exists(), "{}", shown(&output));
        assert!(!shown(&output).contains("Mira"), "{}", shown(&output));
        let held = bench.why(&name, "one");
        assert!(held.contains("privacy/not-read"), "{held}");
        assert!(held.contains("user1@example.com"), "{held}");
        let two = bench.why(&name, "two");
        assert_eq!(two.contains("privacy/not-read"), at == 1, "{two}");
        for (file, text) in text_of(&bench.path(&name)) {
            assert!(!text.contains("mira.keller@quillpost.net"), "{file}");
        }
        // The list is redacted although the request that notes its values is held.
        let docs = fs::read_to_string(bench.path(&name).join("report.json")).unwrap();
        assert!(!docs.contains("Ask Mira Keller for help."), "{docs}");
    }
}

#[test]
fn a_bad_recogniser_is_an_error_before_the_run() {
    let bench = Bench::new();
    for (name, expected) in [
        ("local:nowhere", if cfg!(feature = "models") { "nowhere/config.json" } else { "--features models" }),
        ("local:hub:org/mini", if cfg!(feature = "models") { "org/mini" } else { "--features models" }),
        ("locally", "recogniser must be `off`, `rules`, `local:DIR`"),
        ("endpoint:m", "OPENAI_API_KEY is not set"),
    ] {
        bench.write_pipeline(name);
        let mut command = bench.command(None, &["run", "p.toml", "log.jsonl", "--out", "out"]);
        let output = command
            .env_remove("OPENAI_API_KEY")
            .env_remove("OPENAI_BASE_URL")
            .env("HF_ENDPOINT", "http://127.0.0.1:1")
            .output()
            .unwrap();
        assert!(shown(&output).contains(expected), "{}", shown(&output));
    }
}
