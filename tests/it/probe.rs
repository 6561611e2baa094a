//! Tests of calls to the functions of a collection, over servers of the own machine: what is called, what is recorded, and what
//! is never sent or written.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use callsieve::collection::probe::{ProbeRules, Verdict, Verdicts, read_log};
use callsieve_testkit::server::{ReceivedRequest, Reply, Server};
use serde_json::{Value, json};

use crate::support::{callsieve, shown};

const SECRET: &str = "sk-5f0e7c1d9a83b264";

/// A folder with a collection of an API description.
struct Bench {
    folder: tempfile::TempDir,
}

/// An operation that has no parameters.
fn operation(id: &str) -> Value {
    json!({"operationId": id, "description": format!("Reads {id} of the boats in the harbour."), "responses": {}})
}

/// A required parameter.
fn parameter(name: &str, place: &str, schema: &Value) -> Value {
    json!({"name": name, "in": place, "required": true, "description": format!("The {name} of the boat."), "schema": schema})
}

fn get(id: &str) -> Value {
    json!({"get": operation(id)})
}

impl Bench {
    fn new(server: &str, paths: &Value) -> Self {
        let bench = Self { folder: tempfile::tempdir().unwrap() };
        let description = json!({"openapi": "3.0.0", "servers": [{"url": server}], "paths": paths,
            "info": {"title": "Harbour", "description": "Boats in a harbour."}});
        std::fs::write(bench.at("harbour.json"), description.to_string()).unwrap();
        let collected = bench.command(&["collect", "harbour.json", "--out", "tools", "--quiet"]);
        assert!(collected.status.success(), "{}", shown(&collected));
        bench
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self, arguments: &[&str]) -> Output {
        callsieve().current_dir(self.folder.path()).args(arguments).output().unwrap()
    }

    /// The command that calls what a server has, without waits.
    fn probe(&self, server: &Server, more: &[&str]) -> Output {
        self.probe_command(server, more).output().unwrap()
    }

    fn probe_command(&self, server: &Server, more: &[&str]) -> Command {
        let mut command = callsieve();
        command.current_dir(self.folder.path()).args(["probe", "tools", "--allow", host(server)]);
        if !more.contains(&"--rate") {
            command.args(["--rate", "1000"]);
        }
        command.env("COLUMNS", "240").args(more);
        command
    }

    fn lines(&self, name: &str) -> Vec<Value> {
        let text = std::fs::read_to_string(self.at("tools-calls").join(name)).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The line of a function in a file.
    fn line(&self, name: &str, function: &str) -> Value {
        let found = self.lines(name).into_iter().find(|line| line["function"] == function);
        found.unwrap_or_else(|| panic!("{name} has no {function}"))
    }

    fn reason(&self, function: &str) -> Value {
        self.line("functions.jsonl", function)["reason"].clone()
    }
}

fn host(server: &Server) -> &str {
    server.url.trim_start_matches("http://")
}

fn paths(server: &Server) -> Vec<String> {
    server.requests().into_iter().map(|request| request.path).collect()
}

fn json_reply(value: &Value) -> Reply {
    Reply::new(200, value.to_string()).header("content-type", "application/json; charset=utf-8")
}

fn boats(_: &ReceivedRequest, _: usize) -> Reply {
    json_reply(&json!({"boats": [{"id": 7, "name": "Möwe"}]}))
}

#[test]
fn only_hosts_and_methods_that_are_named_are_called_and_every_function_has_its_reason() {
    let (server, other) = (Server::start(boats), Server::start(boats));
    let paths_of_api = json!({
        "/boats": {"get": operation("list_boats"), "post": operation("add_boat"), "head": operation("peek_boats")},
        "/boats/{id}": {"get": {"operationId": "get_boat", "description": "Reads one of the boats in the harbour.",
            "parameters": [parameter("id", "path", &json!({"type": "string", "example": "a b/c"})),
                parameter("fields", "query", &json!({"type": "array", "default": ["name", "x&y"]})),
                parameter("X-Berth", "header", &json!({"type": "integer", "minimum": 3}))]}},
        "/berths/{berth}": {"get": {"operationId": "get_berth", "description": "Reads one of the berths in the harbour.",
            "parameters": [parameter("berth", "path", &json!({"type": "string"}))]}},
    });
    let bench = Bench::new(&server.url, &paths_of_api);
    let refused = bench.probe(&other, &[]);
    let text = shown(&refused);
    assert!(
        refused.status.code() == Some(2) && text.contains("no function of tools can be called"),
        "{text}"
    );
    assert!(text.contains("--dry-run") && !bench.at("tools-calls").exists(), "{text}");

    let listed = bench.probe(&server, &["--dry-run"]);
    let text = shown(&listed);
    assert!(listed.status.success() && server.requests().is_empty() && !bench.at("tools-calls").exists());
    for words in
        ["would be called", "the method POST is not allowed", "no value for berth", "2 calls of 5 functions"]
    {
        assert!(text.contains(words), "{words}: {text}");
    }

    let probed = bench.probe(&server, &[]);
    assert!(probed.status.success(), "{}", shown(&probed));
    assert_eq!(paths(&server), ["/boats/a%20b%2Fc?fields=name&fields=x%26y", "/boats"]);
    assert_eq!(server.requests()[0].header("x-berth"), Some("3"));
    let names: Vec<Value> =
        bench.lines("functions.jsonl").iter().map(|line| line["function"].clone()).collect();
    assert_eq!(names, ["add_boat", "get_berth", "get_boat", "list_boats", "peek_boats"]);
    assert_eq!(bench.reason("add_boat"), "method-not-allowed");
    assert_eq!(bench.reason("peek_boats"), "method-not-allowed");
    assert_eq!(bench.reason("get_berth"), "no-value");
    assert_eq!(bench.line("functions.jsonl", "get_boat")["answer"], "HTTP status 200");
    let call = bench.line("calls.jsonl", "get_boat");
    assert_eq!(call["arguments"], json!({"id": "a b/c", "fields": ["name", "x&y"], "X-Berth": 3}));
    assert_eq!(call["result"], json!({"boats": [{"id": 7, "name": "Möwe"}]}));

    // Methods that are named are called as well; what is recorded is not.
    let more = bench.probe(&server, &["--methods", "get,HEAD,POST"]);
    assert!(more.status.success(), "{}", shown(&more));
    assert_eq!(paths(&server)[2..], ["/boats", "/boats"]);
    assert_eq!(bench.line("log.jsonl", "peek_boats")["body"], "");
    assert_eq!(other.requests().len(), 0);
}

#[test]
fn answers_of_every_kind_are_recorded_within_their_limits() {
    let elsewhere = Server::start(boats);
    let to = format!("{}/boats?key=1", elsewhere.url);
    let server = Server::start(move |request, _| match request.path.as_str() {
        "/away" => Reply::new(302, "").header("location", &to),
        "/slow" => {
            std::thread::sleep(Duration::from_secs(5));
            Reply::new(200, "{}")
        }
        "/large" => Reply::new(200, "a".repeat(5_000)),
        "/text" => Reply::new(200, "three boats").header("content-type", "text/plain"),
        "/page" => Reply::new(200, "<html>boats</html>").header("content-type", "text/html"),
        "/binary" => Reply::new(200, [0x89, 0x50, 0xff, 0x00]),
        "/absent" => Reply::new(404, r#"{"error": "no such boat"}"#),
        "/busy" => Reply::new(429, r#"{"message": "slow down"}"#),
        "/broken" => Reply::new(500, "oops"),
        "/cut" => Reply::new(200, "a".repeat(500)).cut(100),
        "/deep" => Reply::new(200, "[".repeat(120) + "7" + &"]".repeat(120)),
        "/hostile" => Reply::new(200, "\u{1b}[2J\u{202e}\u{7}\r\nboats"),
        _ => Reply::new(204, ""),
    });
    let names = [
        "absent", "away", "binary", "broken", "busy", "cut", "deep", "empty", "hostile", "large", "page",
        "slow", "text",
    ];
    let described: serde_json::Map<String, Value> =
        names.iter().map(|name| (format!("/{name}"), get(&format!("{name}_boats")))).collect();
    let bench = Bench::new(&server.url, &Value::Object(described));
    let options = ["--timeout", "1", "--max-bytes", "4000"];
    let probed = bench.probe(&server, &options);
    let text = shown(&probed);
    assert!(probed.status.success(), "{text}");
    assert!(!text.contains(['\u{1b}', '\u{202e}', '\u{7}']), "{text:?}");
    assert_eq!((server.requests().len(), elsewhere.requests().len()), (names.len(), 0));

    let log = |name: &str| bench.line("log.jsonl", &format!("{name}_boats"));
    assert_eq!(
        (&log("away")["status"], &log("away")["redirect"]),
        (&302.into(), &format!("{}/boats", elsewhere.url).into())
    );
    assert_eq!(log("slow")["error"], "no complete answer within 1 s");
    assert_eq!((&log("large")["without_body"], &log("large")["size"]), (&"too-large".into(), &5_000.into()));
    assert_eq!((&log("binary")["without_body"], &log("binary")["size"]), (&"not-text".into(), &4.into()));
    assert_eq!(log("hostile")["body"], "\u{1b}[2J\u{202e}\u{7}\r\nboats");
    assert!(log("cut")["error"].is_string() && log("cut").get("status").is_none());

    // What says nothing on its arguments is no call of the environment.
    let calls = bench.lines("calls.jsonl");
    let recorded: Vec<&str> = calls.iter().map(|call| call["function"].as_str().unwrap()).collect();
    assert_eq!(recorded, ["absent_boats", "deep_boats", "empty_boats", "hostile_boats", "text_boats"]);
    assert_eq!(calls[0]["error"], "HTTP status 404");
    assert_eq!((&calls[2]["result"], &calls[4]["result"]), (&Value::Null, &"three boats".into()));

    // The rules for recorded calls read the log.
    let text = std::fs::read_to_string(bench.at("tools-calls/log.jsonl")).unwrap();
    let read = read_log("log.jsonl", &text);
    assert_eq!((read.probes.len(), read.faults.len()), (names.len(), 0), "{:?}", read.faults);
    assert!(read.probes.iter().filter(|probe| probe.is_answered()).all(|probe| probe.latency_ms.is_some()));
    let verdicts = Verdicts::of(&ProbeRules::built_in(), &read.probes, [("Harbour", "never_called")]);
    let verdict = |name: &str| {
        let found = verdicts.functions.iter().find(|function| function.function == name);
        found.unwrap_or_else(|| panic!("{name}")).verdict.clone()
    };
    let hit = |code: &str| Verdict::RuleHit(code.to_owned());
    assert_eq!(verdict("text_boats"), Verdict::Kept);
    assert_eq!(
        [verdict("slow_boats"), verdict("cut_boats"), verdict("never_called")],
        [(); 3].map(|()| Verdict::NeverAnswered)
    );
    for name in ["absent", "away", "broken", "busy"] {
        assert_eq!(verdict(&format!("{name}_boats")), hit("probe/status"), "{name}");
    }
    assert_eq!((verdict("page_boats"), verdict("empty_boats")), (hit("probe/html"), hit("probe/empty-body")));

    // Only what may have another answer is called again.
    let again = bench.probe(&server, &[&options[..], &["--retry"]].concat());
    assert!(again.status.success(), "{}", shown(&again));
    let mut repeated = paths(&server)[names.len()..].to_vec();
    repeated.sort();
    assert_eq!(repeated, ["/broken", "/busy", "/cut", "/slow"]);
    assert_eq!(bench.lines("log.jsonl").len(), names.len());
}

#[test]
fn a_secret_of_a_header_is_sent_and_is_in_no_file_and_no_message() {
    let server = Server::start(|request, _| {
        let sent = request.header("authorization").unwrap_or_default().to_owned();
        match request.path.as_str() {
            "/echo" => json_reply(&json!({"headers": {"Authorization": sent}, "again": sent, "base64": "x"})),
            "/away" => Reply::new(302, "").header("location", format!("http://{SECRET}.test/{SECRET}")),
            _ => Reply::new(401, format!("wrong key: {sent}")),
        }
    });
    let bench = Bench::new(
        &server.url,
        &json!({"/echo": get("echo_boats"), "/away": get("away_boats"), "/wrong": get("wrong_boats")}),
    );
    let header = ["--header", "Authorization: Bearer ENV:HARBOUR_TOKEN"];
    let probed = bench.probe_command(&server, &header).env("HARBOUR_TOKEN", SECRET).output().unwrap();
    let text = shown(&probed);
    assert!(probed.status.success() && !text.contains("5f0e7c1d9a83b264"), "{text}");
    let sent = format!("Bearer {SECRET}");
    assert!(server.requests().iter().all(|request| request.header("authorization") == Some(&sent)));
    assert_eq!(bench.line("calls.jsonl", "echo_boats")["result"]["again"], "Bearer ***");
    for entry in std::fs::read_dir(bench.at("tools-calls")).unwrap() {
        let path = entry.unwrap().path();
        assert!(!std::fs::read_to_string(&path).unwrap().contains(SECRET), "{}", path.display());
    }
    // The errors about a header repeat neither it nor its value.
    for (header, variable, expected) in [
        (format!("Authorization: {SECRET}"), None, "expected 'NAME: ENV:VARIABLE'"),
        (SECRET.to_owned(), None, "expected 'NAME: ENV:VARIABLE'"),
        (format!("X: ENV:{SECRET}"), None, "expected 'NAME: ENV:VARIABLE'"),
        ("X: ENV:sk5f0e7c1d9a83b264".to_owned(), None, "the environment variable after ENV: is not set"),
        ("X: ENV:HARBOUR_TOKEN".to_owned(), None, "the environment variable HARBOUR_TOKEN is not set"),
        (
            "X: ENV:HARBOUR_TOKEN".to_owned(),
            Some(format!("{SECRET}\n{SECRET}")),
            "characters that cannot be sent",
        ),
        ("X Y: ENV:HARBOUR_TOKEN".to_owned(), Some(SECRET.to_owned()), "characters that cannot be sent"),
    ] {
        let mut command = bench.probe_command(&server, &["--header", &header]);
        command.env_remove("HARBOUR_TOKEN").envs(variable.map(|value| ("HARBOUR_TOKEN", value)));
        let refused = command.output().unwrap();
        let text = shown(&refused);
        assert!(refused.status.code() == Some(2) && text.contains(expected), "{text}");
        assert!(!text.contains("5f0e7c1d9a83b264"), "{text}");
    }
}

#[test]
fn the_same_answers_give_the_same_bytes_in_one_go_or_in_several() {
    let server = Server::start(|request, _| json_reply(&json!({"path": request.path})));
    let described = json!({"/c": get("c_boats"), "/a": get("a_boats"), "/b": get("b_boats")});
    let bench = Bench::new(&server.url, &described);
    for n in 1..=3 {
        let probed = bench.probe(&server, &["--max-calls", "1"]);
        assert!(probed.status.success(), "{}", shown(&probed));
        assert_eq!(server.requests().len(), n);
        let reason = bench.reason("c_boats");
        assert_eq!(reason, if n < 3 { "max-calls".into() } else { Value::Null });
    }
    assert_eq!(paths(&server), ["/a", "/b", "/c"]);
    let whole = bench.probe(&server, &["--out", "whole"]);
    assert!(whole.status.success() && server.requests().len() == 6, "{}", shown(&whole));
    let read = |folder: &str, file: &str| std::fs::read_to_string(bench.at(folder).join(file)).unwrap();
    for file in ["calls.jsonl", "docs.jsonl", "functions.jsonl"] {
        assert_eq!(read("tools-calls", file), read("whole", file), "{file}");
    }
    let timeless = |folder: &str| -> Vec<Value> {
        let lines = read(folder, "log.jsonl");
        let lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let without = |mut line: Value| {
            line.as_object_mut().unwrap().remove("latency_ms").unwrap();
            line
        };
        lines.map(without).collect()
    };
    assert_eq!(timeless("tools-calls"), timeless("whole"));
    // Nothing is left to call, and nothing changes.
    let before = read("whole", "log.jsonl");
    assert!(bench.probe(&server, &["--out", "whole"]).status.success());
    assert_eq!((server.requests().len(), read("whole", "log.jsonl")), (6, before));
    assert!(bench.probe(&server, &["--out", "whole", "--fresh"]).status.success());
    assert_eq!(server.requests().len(), 9);
}

#[test]
fn requests_keep_their_distance() {
    let server = Server::start(boats);
    let bench =
        Bench::new(&server.url, &json!({"/a": get("a_boats"), "/b": get("b_boats"), "/c": get("c_boats")}));
    let start = Instant::now();
    assert!(bench.probe(&server, &["--rate", "5"]).status.success());
    assert!(start.elapsed() >= Duration::from_millis(400) && server.requests().len() == 3);
}

#[cfg(unix)]
#[test]
fn a_stopped_probe_keeps_what_was_recorded_and_continues() {
    let server = Server::start(|request, number| {
        if request.path == "/b" && number == 1 {
            std::thread::sleep(Duration::from_secs(20));
        }
        boats(request, number)
    });
    let described = json!({"/a": get("a_boats"), "/b": get("b_boats"), "/c": get("c_boats")});
    let bench = Bench::new(&server.url, &described);
    let mut command = bench.probe_command(&server, &[]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let start = Instant::now();
    while server.requests().len() < 2 {
        assert!(start.elapsed() < Duration::from_mins(1), "the second call begins");
        std::thread::sleep(Duration::from_millis(20));
    }
    // A second command cannot record in the same folder.
    let locked = bench.probe(&server, &[]);
    assert!(locked.status.code() == Some(2) && shown(&locked).contains("another command records calls"));
    assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap().success());
    let stopped = child.wait_with_output().unwrap();
    let text = shown(&stopped);
    assert_eq!(stopped.status.code(), Some(130), "{text}");
    assert!(text.contains("to continue, run") && text.contains("probe tools --allow"), "{text}");
    assert_eq!(bench.lines("calls.jsonl").len(), 1);
    assert_eq!([bench.reason("b_boats"), bench.reason("c_boats")], ["interrupted", "interrupted"]);
    // A killed command leaves half a line.
    let log = bench.at("tools-calls/log.jsonl");
    let cut = std::fs::read_to_string(&log).unwrap() + r#"{"tool": "Harb"#;
    std::fs::write(&log, cut).unwrap();
    let finished = bench.probe(&server, &[]);
    assert!(finished.status.success(), "{}", shown(&finished));
    assert_eq!(paths(&server), ["/a", "/b", "/b", "/c"]);
    assert_eq!(bench.lines("calls.jsonl").len(), 3);
    // Another broken line is none of ours.
    std::fs::write(&log, "{}\n").unwrap();
    let refused = bench.probe(&server, &[]);
    let text = shown(&refused);
    assert!(refused.status.code() == Some(2) && text.contains("log.jsonl:1: found missing field"), "{text}");
    assert!(text.contains("hint: --fresh"), "{text}");
}

#[test]
fn without_an_answer_the_exit_code_says_so_and_wrong_arguments_are_refused() {
    let server = Server::start(|_, _| Reply::new(200, "a".repeat(50)).cut(1));
    let bench = Bench::new(&server.url, &json!({"/a": get("a_boats")}));
    let probed = bench.probe(&server, &[]);
    assert!(
        probed.status.code() == Some(1) && shown(&probed).contains("no call was answered"),
        "{}",
        shown(&probed)
    );
    assert_eq!(bench.lines("calls.jsonl").len(), 0);
    for (arguments, expected) in [
        (&["probe", "tools"][..], "--allow"),
        (&["probe", "tools", "--allow", "http://a.test"], "expected a host"),
        (&["probe", "tools", "--allow", "*"], "expected a host"),
        (&["probe", "tools", "--allow", "a.test", "--methods", "TRACE"], "expected one of GET"),
        (&["probe", "tools", "--allow", "a.test", "--rate", "0"], "expected a number from 0.01 to 1000"),
        (&["probe", "absent", "--allow", "a.test"], "absent is not the folder of a finished collection"),
        (&["probe", "tools", "--allow", host(&server), "--out", "tools"], "tools is a run folder"),
    ] {
        let refused = bench.command(arguments);
        let text = shown(&refused);
        assert!(refused.status.code() == Some(2) && text.contains(expected), "{arguments:?}: {text}");
    }
}

#[test]
fn recorded_calls_are_an_environment_for_instructions() {
    let server = Server::start(|request, _| match request.path.as_str() {
        "/boats" => {
            json_reply(&json!({"boats": [{"boat_id": "B-7", "name": "Seagull", "berth": "north 4"}]}))
        }
        _ => json_reply(&json!({"boat_id": "B-7", "name": "Seagull", "length": 9.5})),
    });
    let response = |schema: &Value| json!({"200": {"description": "ok", "content": {"application/json": {"schema": schema}}}});
    let text = json!({"type": "string"});
    let described = json!({
        "/boats": {"get": {"operationId": "list_boats", "description": "Lists the boats in the harbour.",
            "responses": response(&json!({"type": "object", "properties": {"boats": {"type": "array",
                "items": {"type": "object", "properties": {"boat_id": text, "name": text, "berth": text}}}}}))}},
        "/boats/{boat_id}": {"get": {"operationId": "get_boat", "description": "Reads one of the boats in the harbour.",
            "parameters": [parameter("boat_id", "path", &json!({"type": "string", "example": "B-7"}))],
            "responses": response(&json!({"type": "object", "properties": {"boat_id": text, "name": text, "length": {"type": "number"}}}))}},
    });
    let bench = Bench::new(&server.url, &described);
    assert!(bench.probe(&server, &[]).status.success());
    let made = bench.command(&[
        "generate",
        "tools-calls/recorded.toml",
        "--accept",
        "3",
        "--max-candidates",
        "400",
        "--out",
        "set",
        "--quiet",
    ]);
    let programs = std::fs::read_to_string(bench.at("set/dataset/programs.jsonl")).unwrap();
    let programs: Vec<Value> = programs.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(!programs.is_empty(), "{}", shown(&made));
    for program in &programs {
        assert_eq!(program["origin"], "recorded");
    }
    let n_before = server.requests().len();
    assert_eq!(n_before, 2, "instructions are made without a call");
    assert!(Path::new(&bench.at("set/report.json")).exists());
}
