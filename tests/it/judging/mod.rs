//! What the tests of language models in runs share: a log of requests to ring bells, a pipeline that judges them, and a server
//! that judges as a careful person would.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::server::{ReceivedRequest, Reply, Server};
use crate::support::{callsieve, shown, stable_bytes};

pub(crate) const KEY: &str = "sk-not-a-real-key-83046";

pub(crate) const PIPELINE: &str = r#"
name = "judged"
max_fault_share = 0.5

[[stages]]
kind = "redact"

[[stages]]
kind = "redact-docs"

[[stages]]
kind = "collapse-conversations"

[[stages]]
kind = "parse-docs"

[[stages]]
kind = "judge-queries"
judge = "llm"
model = "gpt-4.1-mini"
"#;

/// A log of requests to ring bells, a pipeline that judges them, and a cache of its own.
pub(crate) struct Bench {
    pub(crate) folder: TempDir,
}

impl Bench {
    pub(crate) fn new(n_requests: usize) -> Self {
        let this = Self { folder: tempfile::tempdir().unwrap() };
        let function = json!({"name": "ring_bell", "description": "Rings a bell of the tower.", "parameters": {"type": "dict",
            "required": ["bell"], "properties": {"bell": {"type": "integer", "description": "Its number."}}}});
        let log = (0..n_requests).fold(String::new(), |mut log, n| {
            let text = if n % 3 == 0 { format!("Sing song {n}") } else { format!("Ring bell {n}") };
            writeln!(log, "{}", json!({"query": text, "functions": [function]})).unwrap();
            log
        });
        fs::write(this.path("log.jsonl"), log).unwrap();
        fs::write(this.path("judged.toml"), PIPELINE).unwrap();
        this
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn command(&self, server: &str, arguments: &[&str]) -> Command {
        let mut command = callsieve();
        command.current_dir(self.folder.path()).env("OPENAI_BASE_URL", server).env("OPENAI_API_KEY", KEY);
        command.env("CALLSIEVE_CACHE", self.path("caches")).args(arguments);
        command
    }

    pub(crate) fn call(&self, server: &str, arguments: &[&str]) -> Output {
        let output = self.command(server, arguments).output().unwrap();
        assert!(!shown(&output).contains(KEY), "{}", shown(&output));
        output
    }

    /// Runs into a folder, and returns the exit code.
    pub(crate) fn run(&self, server: &Server, out: &str, more: &[&str]) -> Option<i32> {
        let mut arguments = vec!["run", "judged.toml", "log.jsonl", "--out", out];
        arguments.extend(more);
        let output = self.call(&server.url, &arguments);
        let code = output.status.code();
        assert!(code == Some(0) || code == Some(1) || code == Some(3), "{}", shown(&output));
        code
    }

    pub(crate) fn report(&self, out: &str) -> Value {
        serde_json::from_slice(&fs::read(self.path(out).join("report.json")).unwrap()).unwrap()
    }

    pub(crate) fn usage(&self, out: &str) -> Value {
        self.report(out)["language_models"]["judge-queries"].clone()
    }

    /// Asserts that no file below the folder has the key.
    pub(crate) fn assert_no_key(&self) {
        let mut folders = vec![self.folder.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let bytes = fs::read(&path).unwrap();
                    assert!(memchr_like(&bytes, KEY.as_bytes()).is_none(), "{}", path.display());
                }
            }
        }
    }
}

pub(crate) fn memchr_like(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

/// The query of a request.
pub(crate) fn query(request: &ReceivedRequest) -> String {
    let body = request.json();
    let text = body["messages"][1]["content"].as_str().unwrap();
    text.lines().find_map(|line| line.strip_prefix("[user] ")).unwrap().to_owned()
}

/// Judges as a careful person would.
pub(crate) fn judged(request: &ReceivedRequest) -> Reply {
    assert_eq!(request.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    let query = query(request);
    let (criterion, verdict) = if query.starts_with("Ring") {
        ("function-fits", "relevant")
    } else {
        ("no-function-fits", "irrelevant")
    };
    reply(&json!({"reason": "So.", "quote": query, "criterion": criterion, "verdict": verdict}).to_string())
}

pub(crate) fn reply(text: &str) -> Reply {
    reply_of("gpt-4.1-mini", text)
}

/// A reply of a server that gives its model this name.
pub(crate) fn reply_of(model: &str, text: &str) -> Reply {
    let body = json!({"model": model, "choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1000, "completion_tokens": 100}});
    Reply::new(200, body.to_string())
}

pub(crate) fn clean_run(bench: &Bench, out: &str) -> BTreeMap<PathBuf, Vec<u8>> {
    let server = Server::start(|request, _| judged(request));
    assert_eq!(bench.run(&server, out, &["--concurrency", "1"]), Some(0));
    stable_bytes(&bench.path(out))
}
