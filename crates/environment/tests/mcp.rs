//! MCP servers that misbehave: noise, requests, pages, deadlines, exits.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests write small files to temporary folders"
)]
#![cfg(unix)]

mod common;

use std::path::Path;

use callsieve_environment::call::{Call, Failure};
use callsieve_environment::environment::{Effect, Environment};
use callsieve_environment::error::EnvironmentError;
use callsieve_environment::mcp::{Mcp, McpSettings};
use serde_json::{Value, json};

/// A server that does what servers do.
const SERVER: &str = r#"
import json, os, sys, time

def send(message):
    print(json.dumps(message), flush=True)

def ask(method):
    send({"jsonrpc": "2.0", "id": "own", "method": method})
    return json.loads(sys.stdin.readline())

mode = sys.argv[1]
print("Server starts on stdio", flush=True)
count = 0
if os.path.exists("start.json"):
    count = json.load(open("start.json"))["count"]
tools = [{"name": name, "inputSchema": {"type": "object", "properties": {"n": {"type": ["integer", "null"]}}}}
         for name in ["add", "count", "requests", "variables", "wait", "exit", "long", "deep", "error", "refuse", "text"]]
tools[0]["outputSchema"] = {"type": "object", "properties": {"count": {"type": "integer"}}}
tools[0]["annotations"] = {"readOnlyHint": False}
tools[1]["annotations"] = {"readOnlyHint": True}
for line in sys.stdin:
    message = json.loads(line)
    if mode == "silent":
        continue
    if "id" not in message:
        continue
    method, given = message["method"], message.get("params", {})
    answer = {"jsonrpc": "2.0", "id": message["id"]}
    if method == "initialize":
        if mode == "refuse":
            answer["error"] = {"code": -32000, "message": "no licence"}
        else:
            answer["result"] = {"protocolVersion": "2024-11-05", "capabilities": {}, "serverInfo": {}}
    elif method == "tools/list":
        at = int(given.get("cursor", "0"))
        answer["result"] = {"tools": tools[at:at + 4]}
        if mode == "loop":
            answer["result"]["nextCursor"] = "4"
        elif mode == "twice":
            answer["result"] = {"tools": tools[:1] * 2}
        elif at + 4 < len(tools):
            answer["result"]["nextCursor"] = str(at + 4)
    else:
        name = given["name"]
        text = lambda text: {"content": [{"type": "text", "text": text}]}
        if name == "add":
            count += 1
            open("state.json", "w").write(json.dumps({"count": count}))
            print("noise", flush=True)
            send({"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": "noise"}})
            send({"jsonrpc": "2.0", "id": 999, "result": "of another"})
            answer["result"] = dict(text("ignored"), structuredContent={"count": count})
        elif name == "count":
            answer["result"] = text(json.dumps({"count": count}))
        elif name == "requests":
            replies = [ask(method) for method in ["ping", "roots/list", "sampling/createMessage"]]
            answer["result"] = text(json.dumps([reply.get("result", reply.get("error", {}).get("code")) for reply in replies]))
        elif name == "variables":
            answer["result"] = text(json.dumps(sorted(os.environ)))
        elif name == "wait":
            time.sleep(60)
        elif name == "exit":
            print("out of luck", file=sys.stderr)
            sys.exit(1)
        elif name == "long":
            answer["result"] = text("x" * 30000)
        elif name == "deep":
            print('{"jsonrpc": "2.0", "id": %d, "result": {"structuredContent": {"a": %s}}}' % (message["id"], "[" * given["arguments"]["n"] + "]" * given["arguments"]["n"]), flush=True)
            continue
        elif name == "error":
            answer["error"] = {"code": -32602, "message": "n is missing"}
        elif name == "refuse":
            answer["result"] = dict(text("refused"), isError=True)
        else:
            answer["result"] = text("plain")
    send(answer)
"#;

fn settings(folder: &Path, mode: &str, more: &Value) -> Option<McpSettings> {
    callsieve_testkit::tools::python3()?;
    let server = folder.join("server.py");
    std::fs::write(&server, SERVER).unwrap();
    let mut settings = json!({
        "name": "m", "command": ["python3", server, mode], "environment": {"GREETING": "{home}!"}, "state_file": "state.json",
        "start_deadline_ms": 60_000, "call_deadline_ms": 3000, "shutdown_deadline_ms": 100, "max_result_bytes": 20_000,
    });
    settings.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    Some(serde_json::from_value(settings).unwrap())
}

fn open(folder: &Path, mode: &str, more: &Value) -> Option<Result<Mcp, EnvironmentError>> {
    settings(folder, mode, more).map(|settings| Mcp::open(&settings, &common::supervisor()))
}

fn call(name: &str, n: Option<u32>) -> Call {
    let arguments = n.map(|n| ("n".to_owned(), json!(n)));
    Call::new(name, arguments.into_iter().collect())
}

#[test]
fn noise_is_skipped_and_requests_of_the_server_are_answered() {
    let folder = tempfile::tempdir().unwrap();
    let Some(server) = open(folder.path(), "good", &json!({})) else { return };
    let server = server.unwrap();
    assert_eq!(server.functions().len(), 11);
    assert_eq!(server.functions()[0].doc["response"]["properties"]["count"]["type"], "integer");
    assert_eq!(
        server.functions()[0].doc["parameters"]["properties"]["n"]["type"],
        json!(["integer", "null"])
    );
    let effects: Vec<_> = server.functions()[..3].iter().map(|function| function.effect).collect();
    assert_eq!(effects, [Some(Effect::Writes), Some(Effect::ReadOnly), None]);
    let calls = ["add", "count", "requests", "variables", "error", "refuse", "text", "fly"]
        .map(|name| call(name, None));
    let seen = server.run(&server.initial_states()[0], &calls).unwrap();
    let results: Vec<&Value> = seen.observations.iter().map(|seen| &seen.result).collect();
    assert_eq!(*results[0], json!({"count": 1}));
    assert_eq!(*results[1], json!({"count": 1}));
    assert_eq!(*results[2], json!([{}, {"roots": []}, -32601]));
    let variables: Vec<&Value> =
        results[3].as_array().unwrap().iter().filter(|name| *name != "LC_CTYPE").collect();
    // The last ones are set by shells and by wrappers of Python, not by this program.
    let own = ["GREETING", "HOME", "PATH"];
    assert!(own.iter().all(|name| variables.contains(&&json!(name))), "{variables:?}");
    assert!(
        !variables.iter().any(|name| name.as_str().is_some_and(|name| name.contains("CARGO"))),
        "{variables:?}"
    );
    let failures: Vec<_> = seen.observations.iter().map(|seen| seen.failure).skip(4).collect();
    let error = Some(Failure::ErrorResult);
    assert_eq!(failures, [error, error, None, Some(Failure::UnknownFunction)]);
    assert_eq!(
        (results[4], results[5], results[6]),
        (&json!("n is missing"), &json!("refused"), &json!("plain"))
    );
    assert_eq!(seen.end_state, Some(json!({"count": 1})));
    // The greeting twice, three lines of `add`, three requests.
    assert_eq!(server.n_skipped_lines(), 2 + 3 + 3);
}

#[test]
fn a_server_that_fails_has_a_failure_of_its_own_kind() {
    let folder = tempfile::tempdir().unwrap();
    let Some(server) = open(folder.path(), "good", &json!({})) else { return };
    let server = server.unwrap();
    for (name, n, failure, text, goes_on) in [
        ("wait", None, Failure::Timeout, "The call took longer than its deadline.", false),
        ("exit", None, Failure::Crashed, "The server ended. Its last line: out of luck", false),
        ("long", None, Failure::TooLarge, "The answer has too many bytes.", false),
        ("deep", Some(70), Failure::TooDeep, "the value nests deeper than 64 levels", true),
        ("deep", Some(500), Failure::TooDeep, "The answer nests too deep.", true),
    ] {
        let calls = [call("add", None), call(name, n), call("count", None)];
        let seen = server.run(&server.initial_states()[0], &calls).unwrap();
        assert_eq!(
            (seen.observations[1].failure, &seen.observations[1].result),
            (Some(failure), &json!(text)),
            "{name}"
        );
        let after = if goes_on { None } else { Some(Failure::Crashed) };
        assert_eq!(seen.observations[2].failure, after, "{name}");
        assert_eq!(seen.end_state.is_some(), goes_on, "{name}");
    }
}

#[test]
fn what_is_no_server_has_a_reason() {
    let folder = tempfile::tempdir().unwrap();
    let reason = |mode: &str, more: Value| {
        open(folder.path(), mode, &more).map(|opened| opened.err().unwrap().to_string())
    };
    let Some(silent) = reason("silent", json!({"start_deadline_ms": 500})) else { return };
    assert_eq!(silent, "environment m: initialize: The call took longer than its deadline.");
    assert_eq!(reason("refuse", json!({})).unwrap(), "environment m: initialize: no licence");
    assert_eq!(
        reason("loop", json!({})).unwrap(),
        "environment m: tools/list: the pages of tools/list do not end"
    );
    assert_eq!(reason("twice", json!({})).unwrap(), "environment m: tools/list: two tools are called add");
    let nowhere = reason("good", json!({"command": ["nowhere"]})).unwrap();
    assert_eq!(nowhere, "environment m: initialize: The server ended.");
    assert!(reason("good", json!({"state_file": "../x"})).unwrap().contains("../x is not a path below HOME"));
    assert!(reason("good", json!({"state": {"call": "count"}})).unwrap().contains("exclude each other"));
}

#[test]
fn a_used_server_is_kept_only_if_its_state_is_that_of_a_new_one() {
    let folder = tempfile::tempdir().unwrap();
    let states = folder.path().join("states.json");
    std::fs::write(&states, json!([{"name": "five", "value": {"count": 5}}]).to_string()).unwrap();
    let more = json!({
        "states": {"file": states}, "load": {"file": "start.json"}, "reuse": true,
        "state_file": null, "state": {"call": "count"},
    });
    let Some(server) = open(folder.path(), "good", &more) else { return };
    let server = server.unwrap();
    let run = |calls: &[Call]| server.run(&server.initial_states()[0], calls).unwrap();
    // This server keeps its count in memory, so a server that counted is not used again.
    for _ in 0..3 {
        let seen = run(&[call("add", None)]);
        assert_eq!(
            (&seen.observations[0].result, seen.end_state),
            (&json!({"count": 6}), Some(json!({"count": 6})))
        );
        assert_eq!(run(&[call("text", None)]).end_state, Some(json!({"count": 5})));
    }
    let fresh = server.run_fresh(&server.initial_states()[0], &[call("add", None)]).unwrap();
    assert_eq!(fresh, run(&[call("add", None)]));
}
