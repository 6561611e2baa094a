//! The page of `callsieve review` through the program: decisions outlive a kill, and the next run in the folder applies them.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use crate::support::{assert_same_bytes, callsieve, output, run_sample, shown, stable_bytes};
use serde_json::{Value, json};

/// A running review.
pub(crate) struct Page {
    child: Child,
    port: u16,
    token: String,
}

impl Page {
    pub(crate) fn start(run: &Path, more: &[&str]) -> Self {
        let mut child = callsieve()
            .args(["review", run.to_str().unwrap()])
            .args(more)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut url).unwrap();
        let (address, token) = url.trim().split_once("/?token=").unwrap_or_else(|| panic!("{url}"));
        let port = address.strip_prefix("http://127.0.0.1:").unwrap().parse().unwrap();
        Self { child, port, token: token.to_owned() }
    }

    fn send(&self, path: &str, body: Option<&Value>, token: &str) -> (u16, String) {
        let (port, body) = (self.port, body.map(Value::to_string));
        let method = if body.is_some() { "POST" } else { "GET" };
        let body = body.unwrap_or_default();
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nOrigin: http://127.0.0.1:{port}\r\nCookie: callsieve_review_{port}={token}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
    }

    pub(crate) fn get(&self, path: &str) -> Value {
        let (status, body) = self.send(path, None, &self.token);
        assert_eq!(status, 200, "{path}: {body}");
        serde_json::from_str(&body).unwrap()
    }

    pub(crate) fn item(&self, at: u64) -> Value {
        self.get(&format!("/api/item?at={at}"))["item"].clone()
    }

    /// Decides on a row; an answer or functions are those that the editor shows.
    pub(crate) fn decide(&self, item: &Value, decision: &str) -> (u16, Value) {
        let mut body = json!({"id": item["id"], "was": item["was"], "decision": decision});
        match decision {
            "relabel" => body["label"] = item["labels"][0].clone(),
            "answer" => body["text"] = item["answer_to_edit"].clone(),
            "edit-doc" => body["text"] = item["docs"].clone(),
            _ => {}
        }
        let (status, body) = self.send("/api/decide", Some(&body), &self.token);
        (status, serde_json::from_str(&body).unwrap_or_default())
    }

    /// Decides on a row in a way that can change it, another one for each row in turn. Returns whether the decision is one of a run.
    pub(crate) fn decide_somehow(&self, at: u64) {
        let item = self.item(at);
        let possible: Vec<&str> =
            item["possible"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        let wanted = possible[usize::try_from(at).unwrap() % possible.len()];
        let (status, body) = self.decide(&item, wanted);
        if status != 200 {
            // The text of the editor need not be an answer that fits the docs.
            assert!(status == 422 && ["answer", "edit-doc"].contains(&wanted), "{at} {wanted}: {body}");
            assert_ne!(body["notes"], json!([]), "{body}");
            assert_eq!(self.decide(&item, "drop").0, 200);
        }
    }

    fn n_decided(&self) -> u64 {
        self.get("/api/state")["n_decided"].as_u64().unwrap()
    }

    /// Stops it as Ctrl-C does, and returns its messages.
    pub(crate) fn stop(self) -> String {
        let signal = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status();
        assert!(signal.unwrap().success());
        let ended = self.child.wait_with_output().unwrap();
        assert!(ended.status.success(), "{}", shown(&ended));
        String::from_utf8(ended.stderr).unwrap()
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

struct Sample {
    folder: tempfile::TempDir,
}

impl Sample {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        run_sample(&folder.path().join("run"), &[]);
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn run(&self) -> PathBuf {
        self.path("run")
    }

    /// Runs again in the folder, with messages.
    fn again(&self, more: &[&str]) -> String {
        let mut arguments = vec!["run", "--out", "RUN", "--set", crate::support::ANSWERS];
        let run = self.run();
        arguments[2] = run.to_str().unwrap();
        arguments.extend(more);
        let ended = output(&arguments);
        assert!(ended.status.success(), "{}", shown(&ended));
        String::from_utf8(ended.stderr).unwrap()
    }

    fn not_applied(&self) -> Value {
        let report = fs::read(self.run().join("report.json")).unwrap();
        let report: Value = serde_json::from_slice(&report).unwrap();
        report["notes"]["split"]["decisions_not_applied"].clone()
    }
}

fn text(output: &Output) -> String {
    shown(output)
}

#[test]
fn decisions_outlive_a_kill_and_the_next_run_applies_them() {
    let sample = Sample::new();
    let before = stable_bytes(&sample.run());
    let page = Page::start(&sample.run(), &["--reviewer", "kim", "--sample", "1"]);
    assert_eq!(page.send("/api/state", None, &"0".repeat(32)).0, 403);
    assert!(page.get("/api/state")["n_rows"].as_u64().unwrap() > 200);
    // Held rows come first.
    let first = page.item(0);
    assert!(first["reason"]["code"].as_str().unwrap().contains('/') && first["query"] != "", "{first}");
    (0..25).for_each(|at| page.decide_somehow(at));
    page.kill();
    let page = Page::start(&sample.run(), &["--reviewer", "kim"]);
    assert_eq!(page.n_decided(), 25);
    assert_eq!(page.get("/api/state")["next"], 25);
    (25..40).for_each(|at| page.decide_somehow(at));
    let messages = page.stop();
    assert!(
        messages.contains("stopped; 40 decisions in ") && messages.contains("callsieve run "),
        "{messages}"
    );
    // Looking changes nothing of the run.
    assert_same_bytes(&before, &stable_bytes(&sample.run()));
    let verified = output(&["verify", sample.run().to_str().unwrap()]);
    assert!(verified.status.success() && !text(&verified).contains("decisions"), "{}", text(&verified));

    let messages = sample.again(&[]);
    assert!(messages.contains("decisions of people in "), "{messages}");
    assert!(sample.not_applied().as_array().is_none_or(Vec::is_empty), "{}", sample.not_applied());
    let decided = stable_bytes(&sample.run());
    assert_ne!(before, decided);
    // Whoever reads the run sees that people decided in it.
    let file: Value = serde_json::from_slice(&fs::read(sample.run().join("run.json")).unwrap()).unwrap();
    assert!(file["reviewed"].as_u64().unwrap() > 0, "{file}");
    for page in ["dataset/README.md", "report.html"] {
        let page = fs::read_to_string(sample.run().join(page)).unwrap();
        assert!(page.contains("decisions that reviewers made on rows of the run folder"), "{page}");
    }
    // What was decided is still listed, for a change of mind.
    let page = Page::start(&sample.run(), &["--reviewer", "kim"]);
    assert_eq!(page.n_decided(), 40);
    page.stop();
    // The same decisions give the same bytes, also from nothing, and a step that did not change is reused.
    sample.again(&["--fresh"]);
    assert_same_bytes(&decided, &stable_bytes(&sample.run()));
    sample.again(&["--ignore-reviews"]);
    assert_same_bytes(&before, &stable_bytes(&sample.run()));

    // The export is a file of decisions that gives the same dataset in another folder.
    let file = sample.path("decided.jsonl");
    let export = || output(&["review", sample.run().to_str().unwrap(), "--export", file.to_str().unwrap()]);
    let exported = export();
    assert!(exported.status.success() && !text(&exported).contains("left out"), "{}", text(&exported));
    assert!(export().status.success(), "an export replaces an export");
    let (other, file_name) = (sample.path("other"), file.to_str().unwrap());
    run_sample(&other, &["--decisions", file_name]);
    // The card names the file.
    let without_card = |mut files: std::collections::BTreeMap<PathBuf, Vec<u8>>| {
        files.remove(Path::new("dataset/README.md"));
        files
    };
    assert_same_bytes(&without_card(decided), &without_card(stable_bytes(&other)));
    // The folder and its export are no contradiction.
    sample.again(&["--decisions", file_name]);
    fs::write(&file, "notes\n").unwrap();
    assert!(text(&export()).contains("no export of decisions"));
    assert_eq!(fs::read_to_string(&file).unwrap(), "notes\n");
}

#[test]
fn what_reviewers_decide_differently_and_changed_rows_do_not_apply() {
    let sample = Sample::new();
    let before = stable_bytes(&sample.run());
    for (reviewer, decision) in [("kim", "drop"), ("lee", "relabel")] {
        let page = Page::start(&sample.run(), &["--reviewer", reviewer, "--reason", "relevance"]);
        assert_eq!(page.decide(&page.item(0), decision).0, 200);
        // Kim decided before Lee did.
        let shown = page.get("/api/disagreements").to_string();
        assert_eq!(shown.contains("kim"), reviewer == "lee", "{shown}");
        page.stop();
    }
    let messages = sample.again(&[]);
    assert!(messages.contains("reviewers decided 1 row in "), "{messages}");
    assert_same_bytes(&before, &stable_bytes(&sample.run()));

    // One of them decides on a row whose content is another one in the next run.
    fs::remove_file(sample.run().join("decisions/lee.jsonl")).unwrap();
    let file = sample.run().join("decisions/kim.jsonl");
    let line = fs::read_to_string(&file).unwrap();
    let mut changed: Value = serde_json::from_str(&line).unwrap();
    changed["was"] = json!("0".repeat(64));
    fs::write(&file, format!("{changed}\n")).unwrap();
    let messages = sample.again(&[]);
    assert!(messages.contains("drop is not applied"), "{messages}");
    assert_eq!(sample.not_applied().as_array().map(Vec::len), Some(1));
    let page = Page::start(&sample.run(), &["--reviewer", "kim"]);
    assert_eq!(page.n_decided(), 0, "it is to be decided again");
    page.stop();
    let exported = output(&[
        "review",
        sample.run().to_str().unwrap(),
        "--export",
        sample.path("e.jsonl").to_str().unwrap(),
    ]);
    assert!(text(&exported).contains("left out: 1 row whose content has changed"), "{}", text(&exported));
}

#[test]
fn hostile_texts_are_data() {
    const HOSTILE: &str = "<script>alert(1)</script>\u{202e}\u{1b}[2J how deep is the snow";
    let folder = tempfile::tempdir().unwrap();
    let functions = json!([{"type": "function", "function": {"name": "latest_reading", "description": HOSTILE,
        "parameters": {"type": "object", "required": ["station"],
            "properties": {"station": {"type": "string", "description": "The station."}}}}}]);
    let lines: String = ["Finse", "Hemsedal", "Geilo"]
        .iter()
        .map(|station| {
            let line = json!({"model": "m", "messages": [{"role": "system", "content": HOSTILE}, {"role": "user",
                "content": format!("{HOSTILE} at {station}?")}], "tools": functions});
            format!("{line}\n")
        })
        .collect();
    let log = folder.path().join("log.jsonl");
    fs::write(&log, lines).unwrap();
    let run = folder.path().join("run");
    let ran = output(&["run", "--quiet", log.to_str().unwrap(), "--out", run.to_str().unwrap()]);
    assert!(run.join("run.json").is_file(), "{}", text(&ran));
    let page = Page::start(&run, &["--reviewer", "kim", "--sample", "3"]);
    let item = page.item(0);
    assert!(item["query"].as_str().unwrap().starts_with(HOSTILE) || item["system"] == HOSTILE, "{item}");
    let (status, html) = page.send("/", None, &page.token);
    assert!(status == 200 && !html.contains("alert(1)") && !html.contains("snow"));
    page.stop();
    // Nothing of it gets to the terminal.
    let exported = output(&[
        "review",
        run.to_str().unwrap(),
        "--export",
        folder.path().join("e.jsonl").to_str().unwrap(),
    ]);
    assert!(text(&exported).contains("there are no decisions"), "{}", text(&exported));
}

#[test]
fn names_that_are_no_files_and_folders_that_are_links_are_refused() {
    let sample = Sample::new();
    let run = sample.run();
    let refused = |more: &[&str]| {
        let ended = output(&[&["review", run.to_str().unwrap()], more].concat());
        assert_eq!(ended.status.code(), Some(2), "{}", text(&ended));
        text(&ended)
    };
    assert!(refused(&["--reviewer", "../kim"]).contains("a name that cannot be used for a file"));
    assert!(refused(&["--reason", "no/such"]).contains("unknown reason"));
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(sample.folder.path(), run.join("decisions")).unwrap();
        assert!(refused(&["--reviewer", "kim"]).contains("found a link"));
        assert!(!sample.path("kim.jsonl").exists());
    }
}
