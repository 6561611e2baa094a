use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use serde_json::{Value, json};

use super::memory::{JsonChecker, MemorySource};
use super::*;
use crate::item::{Accept, CategoryCount, Group, Item, Table, tests::booking};
use crate::store::{Reviews, Verdict};

fn row(nth: usize) -> Item {
    let answer = json!([{"book": {"city": ["Oslo"]}}]);
    let possible = [Verdict::Accept, Verdict::Drop, Verdict::Relabel, Verdict::Answer, Verdict::EditDoc];
    Item {
        id: format!("{nth:032x}"),
        was: format!("{nth:064x}"),
        group: Group::new("l", "r", &(nth / 5).to_string(), format!("group {}", nth / 5)),
        possible: possible.to_vec(),
        drafted_answer: Some(answer.clone()),
        accept: Some(Accept::Answer(answer)),
        labels: vec!["relevant".to_owned(), "irrelevant".to_owned()],
        category: Some("simple".to_owned()),
        ..booking("<script>\u{202e}", json!({"seats": 2}))
    }
}

/// Keeps the order of the rows, so that a place is also the number of a row.
struct Rows(Vec<Item>);

impl Source for Rows {
    fn heads(&self) -> Result<Vec<Head>, SourceError> {
        Ok(self.0.iter().map(Head::of).collect())
    }

    fn page(&self, from: usize, count: usize) -> Result<Vec<Item>, SourceError> {
        Ok(self.0.iter().skip(from).take(count).cloned().collect())
    }

    fn categories(&self) -> Vec<CategoryCount> {
        vec![CategoryCount { name: "simple".to_owned(), has: 1, wants: 3 }]
    }
}

fn start_with(folder: &Path, reviewer: &str, rows: Vec<Item>) -> Server {
    let ticks = AtomicUsize::new(0);
    Server::start(Config {
        source: Arc::new(Rows(rows)),
        checker: Arc::new(JsonChecker),
        store: Store::open(folder, reviewer).unwrap(),
        clock: Box::new(move || format!("t{}", ticks.fetch_add(1, Ordering::Relaxed))),
    })
    .unwrap()
}

fn start(folder: &Path, reviewer: &str) -> Server {
    start_with(folder, reviewer, (0..12).map(row).collect())
}

fn stop(server: Server) {
    server.stopper().stop();
    server.wait();
}

/// Sends a request as it is, and returns the status, the headers and the body.
fn send(server: &Server, request: &str) -> (u16, String, String) {
    let mut stream = TcpStream::connect(server.address()).unwrap();
    // The server may answer and close before it has read a large body.
    let _ = stream.write_all(request.as_bytes());
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    let answer = String::from_utf8(answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    (head.split(' ').nth(1).unwrap().parse().unwrap(), head.to_lowercase(), body.to_owned())
}

/// The parts of a request that the guard looks at.
struct Parts {
    host: String,
    cookie: String,
    origin: Option<String>,
    more: String,
}

fn parts(server: &Server) -> Parts {
    let port = server.address().port();
    let token = server.url().split_once("token=").unwrap().1;
    Parts {
        host: format!("127.0.0.1:{port}"),
        cookie: format!("callsieve_review_{port}={token}"),
        origin: Some(format!("http://127.0.0.1:{port}")),
        more: String::new(),
    }
}

fn request(method: &str, path: &str, parts: &Parts, body: &str) -> String {
    let Parts { host, cookie, origin, more } = parts;
    let origin = origin.as_ref().map_or_else(String::new, |origin| format!("Origin: {origin}\r\n"));
    format!(
        "{method} {path} HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\n{origin}{more}Content-Type: application/json\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}

fn call(server: &Server, method: &str, path: &str, body: &Value) -> (u16, Value) {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let (status, _, answer) = send(server, &request(method, path, &parts(server), &body));
    (status, serde_json::from_str(&answer).unwrap_or_default())
}

fn get(server: &Server, path: &str) -> Value {
    let (status, answer) = call(server, "GET", path, &Value::Null);
    assert_eq!(status, 200, "{path}: {answer}");
    answer
}

fn decide(server: &Server, nth: usize, decision: &str, more: Value) -> (u16, Value) {
    let mut body = json!({"id": format!("{nth:032x}"), "was": format!("{nth:064x}"), "decision": decision});
    if let Value::Object(more) = more {
        body.as_object_mut().unwrap().extend(more);
    }
    call(server, "POST", "/api/decide", &body)
}

#[test]
fn the_token_of_the_address_becomes_a_cookie() {
    let folder = tempfile::tempdir().unwrap();
    let server = start(folder.path(), "kim");
    let token = server.url().split_once("token=").unwrap().1.to_owned();
    assert!(token.len() == 32 && token.bytes().all(|byte| byte.is_ascii_hexdigit()), "{token}");
    let no_cookie = Parts { cookie: String::new(), origin: None, ..parts(&server) };
    let (status, head, _) = send(&server, &request("GET", &format!("/?token={token}"), &no_cookie, ""));
    assert_eq!(status, 303);
    assert!(
        head.contains("location: /\r\n") && head.contains("; path=/; httponly; samesite=strict"),
        "{head}"
    );
    let (status, _, body) = send(&server, &request("GET", "/", &parts(&server), ""));
    assert!(status == 200 && body.starts_with("<!DOCTYPE html>"), "{body}");
    stop(server);
}

#[test]
fn each_guard_refuses() {
    let folder = tempfile::tempdir().unwrap();
    let server = start(folder.path(), "kim");
    let own = parts(&server);
    let port = server.address().port();
    let refused: Vec<(&str, &str, &str, Parts)> = vec![
        ("no cookie", "GET", "/", Parts { cookie: String::new(), ..parts(&server) }),
        (
            "wrong token",
            "GET",
            "/api/state",
            Parts { cookie: format!("callsieve_review_{port}={}", "0".repeat(32)), ..parts(&server) },
        ),
        (
            "start of the token",
            "GET",
            "/api/state",
            Parts { cookie: own.cookie[..own.cookie.len() - 1].to_owned(), ..parts(&server) },
        ),
        ("longer token", "GET", "/api/state", Parts { cookie: format!("{}0", own.cookie), ..parts(&server) }),
        (
            "cookie of another port",
            "GET",
            "/api/state",
            Parts { cookie: own.cookie.replace("review_", "review_1"), ..parts(&server) },
        ),
        ("wrong token in the address", "GET", "/?token=0", Parts { cookie: String::new(), ..parts(&server) }),
        (
            "foreign host",
            "GET",
            "/api/state",
            Parts { host: format!("evil.example:{port}"), ..parts(&server) },
        ),
        ("host without port", "GET", "/api/state", Parts { host: "127.0.0.1".to_owned(), ..parts(&server) }),
        (
            "host of another port",
            "GET",
            "/api/state",
            Parts { host: "127.0.0.1:1".to_owned(), ..parts(&server) },
        ),
        (
            "host with a tail",
            "GET",
            "/api/state",
            Parts { host: format!("127.0.0.1:{port}.evil.example"), ..parts(&server) },
        ),
        (
            "two hosts",
            "GET",
            "/api/state",
            Parts { more: format!("Host: 127.0.0.1:{port}\r\n"), ..parts(&server) },
        ),
        (
            "foreign origin",
            "POST",
            "/api/undo",
            Parts { origin: Some("http://evil.example".to_owned()), ..parts(&server) },
        ),
        ("no origin", "POST", "/api/undo", Parts { origin: None, ..parts(&server) }),
        ("null origin", "POST", "/api/undo", Parts { origin: Some("null".to_owned()), ..parts(&server) }),
        (
            "origin of the other name",
            "POST",
            "/api/undo",
            Parts { origin: Some(format!("http://localhost:{port}")), ..parts(&server) },
        ),
        (
            "origin of another port",
            "POST",
            "/api/undo",
            Parts { origin: Some("http://127.0.0.1:1".to_owned()), ..parts(&server) },
        ),
        ("other method", "DELETE", "/api/state", Parts { origin: None, ..parts(&server) }),
        (
            "page of another port",
            "GET",
            "/api/disagreements",
            Parts { more: "Sec-Fetch-Site: same-site\r\n".to_owned(), ..parts(&server) },
        ),
    ];
    for (name, method, path, parts) in refused {
        let (status, head, body) = send(&server, &request(method, path, &parts, ""));
        // Hyper refuses two hosts or none by itself.
        assert!(status == 403 || (name == "two hosts" && status == 400), "{name}: {status}");
        assert!(!body.contains("reviewer") && !head.contains("set-cookie"), "{name}: {head}{body}");
    }
    // The right host, but rebound: the token in the address does not help.
    let token = own.cookie.split_once('=').unwrap().1;
    let rebound = Parts { host: "evil.example".to_owned(), ..parts(&server) };
    assert_eq!(send(&server, &request("GET", &format!("/?token={token}"), &rebound, "")).0, 403);
    let local = Parts {
        host: format!("localhost:{port}"),
        origin: Some(format!("http://localhost:{port}")),
        ..parts(&server)
    };
    assert_eq!(send(&server, &request("GET", "/api/state", &local, "")).0, 200);
    assert_eq!(send(&server, &request("POST", "/api/undo", &local, "")).0, 422);
    stop(server);
}

#[test]
fn bodies_and_methods_are_limited() {
    let folder = tempfile::tempdir().unwrap();
    let server = start(folder.path(), "kim");
    let large = json!({"id": "0", "edit": "answer", "text": "x".repeat(api::MAX_BODY_BYTES)});
    assert_eq!(call(&server, "POST", "/api/check", &large).0, 413);
    let fits = json!({"id": format!("{:032x}", 0), "edit": "answer", "text": "x".repeat(900_000)});
    assert_eq!(call(&server, "POST", "/api/check", &fits).0, 200);
    for path in ["/api/decide", "/api/decide-group", "/api/undo", "/api/check"] {
        assert_eq!(call(&server, "GET", path, &Value::Null).0, 405, "{path}");
    }
    for path in ["/api/state", "/api/item", "/"] {
        assert_eq!(call(&server, "POST", path, &json!({})).0, 405, "{path}");
    }
    assert_eq!(call(&server, "GET", "/etc/passwd", &Value::Null).0, 404);
    assert_eq!(call(&server, "GET", "/api/item?at=x", &Value::Null).0, 400);
    assert_eq!(call(&server, "GET", "/api/item?at=99", &Value::Null).0, 404);
    assert_eq!(call(&server, "POST", "/api/decide", &json!({"id": "x", "other": 1})).0, 400);
    let form =
        request("POST", "/api/decide", &parts(&server), "{}").replace("application/json", "text/plain");
    assert_eq!(send(&server, &form).0, 415);
    stop(server);
    assert!(Reviews::read(folder.path()).unwrap().of("kim").unwrap().lines().is_empty());
}

#[test]
fn every_response_has_the_security_headers() {
    let folder = tempfile::tempdir().unwrap();
    let server = start(folder.path(), "kim");
    let refused = Parts { cookie: String::new(), ..parts(&server) };
    for (path, parts) in
        [("/", parts(&server)), ("/api/state", parts(&server)), ("/none", parts(&server)), ("/", refused)]
    {
        let (_, head, _) = send(&server, &request("GET", path, &parts, ""));
        for header in [
            "content-security-policy: default-src 'none'; script-src 'sha256-",
            "frame-ancestors 'none'",
            "cache-control: no-store",
            "x-content-type-options: nosniff",
            "referrer-policy: no-referrer",
            "x-frame-options: deny",
        ] {
            assert!(head.contains(header), "{path}: {header}\n{head}");
        }
        assert!(!head.contains("unsafe-") && !head.contains("access-control"), "{head}");
    }
    stop(server);
}

#[test]
fn a_decision_is_on_disk_when_it_is_answered_and_the_page_goes_on_after_it() {
    let folder = tempfile::tempdir().unwrap();
    let server = start(folder.path(), "kim");
    let (status, answer) = decide(&server, 0, "drop", json!({"why": " not ours "}));
    assert_eq!(
        (status, &answer["saved"]["seq"], &answer["state"]["next"]),
        (200, &json!(1), &json!(1)),
        "{answer}"
    );
    let line = Reviews::read(folder.path()).unwrap().of("kim").unwrap().lines()[0].clone();
    assert_eq!(
        (line.time.as_str(), line.why.as_deref(), line.decision),
        ("t0", Some("not ours"), Verdict::Drop)
    );
    decide(&server, 1, "accept", Value::Null);
    decide(&server, 2, "skip", Value::Null);
    let state = get(&server, "/api/state");
    assert_eq!((&state["n_decided"], &state["n_skipped"], &state["next"]), (&json!(2), &json!(1), &json!(3)));
    assert_eq!(state["categories"], json!([{"name": "simple", "has": 2, "wants": 3}]));
    stop(server);
    let server = start(folder.path(), "kim");
    let item = get(&server, "/api/item");
    assert_eq!(
        (&item["at"], &item["group_undecided"], &item["decision"]),
        (&json!(3), &json!(2), &Value::Null)
    );
    assert_eq!(get(&server, "/api/item?at=0")["decision"]["why"], "not ours");
    stop(server);
}

#[test]
fn only_possible_decisions_on_the_content_that_was_shown_are_taken() {
    let folder = tempfile::tempdir().unwrap();
    let server = start(folder.path(), "kim");
    let cases = [
        ("edit-query", json!({"text": "x"}), 422),
        ("undo", Value::Null, 422),
        ("relabel", json!({"label": "other"}), 422),
        ("relabel", Value::Null, 422),
        ("answer", Value::Null, 422),
        ("answer", json!({"text": "[{"}), 422),
        ("edit-doc", json!({"text": "[]"}), 422),
        ("drop", json!({"was": "0"}), 409),
        ("drop", json!({"id": "none"}), 404),
        ("drop", json!({"why": "x".repeat(5000)}), 422),
    ];
    for (decision, more, expected) in cases {
        let (status, answer) = decide(&server, 1, decision, more.clone());
        assert_eq!(status, expected, "{decision} {more}: {answer}");
    }
    let (_, answer) = decide(&server, 1, "answer", json!({"text": "[\n{"}));
    assert_eq!(answer["notes"][0]["place"], "line 2, column 1");
    assert_eq!(decide(&server, 1, "answer", json!({"text": "[{\"book\": {\"seats\": [1.50]}}]"})).0, 200);
    assert_eq!(get(&server, "/api/item?at=1")["decision"]["value"], "[{\"book\": {\"seats\": [1.50]}}]");
    stop(server);
}

#[test]
fn a_row_that_changed_is_undecided_again() {
    let folder = tempfile::tempdir().unwrap();
    let server = start(folder.path(), "kim");
    decide(&server, 0, "drop", Value::Null);
    stop(server);
    let mut rows: Vec<Item> = (0..2).map(row).collect();
    rows[0].was = "f".repeat(64);
    let server = start_with(folder.path(), "kim", rows);
    let item = get(&server, "/api/item");
    assert_eq!(
        (&item["at"], &item["is_changed"], &item["decision"]),
        (&json!(0), &json!(true), &Value::Null)
    );
    stop(server);
}

#[test]
fn a_group_is_decided_as_the_person_saw_it() {
    let folder = tempfile::tempdir().unwrap();
    let server = start(folder.path(), "kim");
    decide(&server, 1, "accept", Value::Null);
    let key = get(&server, "/api/item?at=0")["item"]["group"]["key"].as_str().unwrap().to_owned();
    let groups = get(&server, "/api/groups");
    assert_eq!(groups["groups"][0]["n_undecided"], 5);
    let group = get(&server, &format!("/api/groups?key={key}"));
    assert_eq!((&group["n_drop"], &group["rows"][1]["decision"]), (&json!(4), &json!("accept")));
    let body = |n_rows, decision| json!({"group": key, "decision": decision, "n_rows": n_rows, "label": "irrelevant"});
    assert_eq!(call(&server, "POST", "/api/decide-group", &body(5, "drop")).0, 409);
    assert_eq!(call(&server, "POST", "/api/decide-group", &body(4, "accept")).0, 422);
    let (status, answer) = call(&server, "POST", "/api/decide-group", &body(4, "relabel"));
    assert_eq!((status, &answer["n_saved"], &answer["state"]["next"]), (200, &json!(4), &json!(5)));
    assert_eq!(get(&server, "/api/item?at=1")["decision"]["decision"], "accept");
    let (_, answer) = call(&server, "POST", "/api/undo", &json!({}));
    assert_eq!(
        (&answer["n_undone"], &answer["at"], &answer["state"]["n_decided"]),
        (&json!(4), &json!(0), &json!(1))
    );
    stop(server);
}

#[test]
fn two_reviewers_are_blind_until_both_have_decided() {
    let folder = tempfile::tempdir().unwrap();
    let (kim, lee) = (start(folder.path(), "kim"), start(folder.path(), "lee"));
    decide(&kim, 0, "drop", json!({"why": "secret of kim"}));
    decide(&kim, 1, "drop", Value::Null);
    for path in ["/api/item?at=0", "/api/state", "/api/groups", "/api/disagreements"] {
        let answer = get(&lee, path).to_string();
        assert!(!answer.contains("secret") && !answer.contains("\"drop\",\"why\""), "{path}: {answer}");
    }
    decide(&lee, 0, "accept", Value::Null);
    let found = get(&lee, "/api/disagreements");
    assert_eq!(
        (&found["n_rows"], &found["rows"][0]["decisions"][1]["why"]),
        (&json!(1), &json!("secret of kim"))
    );
    assert_eq!(found["agreement"][0]["n_rows"], 1);
    decide(&lee, 0, "drop", Value::Null);
    let line =
        Reviews::read(folder.path()).unwrap().of("lee").unwrap().get(&format!("{:032x}", 0)).unwrap().clone();
    assert!(line.informed);
    stop(kim);
    stop(lee);
}

#[test]
fn an_open_connection_does_not_keep_the_server_from_stopping() {
    let folder = tempfile::tempdir().unwrap();
    let server = start(folder.path(), "kim");
    let idle = TcpStream::connect(server.address()).unwrap();
    let begun = Instant::now();
    stop(server);
    assert!(begun.elapsed() < 2 * STOP_WAIT, "{:?}", begun.elapsed());
    drop(idle);
    Store::open(folder.path(), "kim").unwrap();
}

#[test]
fn duplicate_ids_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let config = Config {
        source: Arc::new(MemorySource::new(vec![row(1), row(1)], Vec::new())),
        checker: Arc::new(JsonChecker),
        store: Store::open(folder.path(), "kim").unwrap(),
        clock: Box::new(String::new),
    };
    assert!(matches!(Server::start(config), Err(ServerError::DuplicateId(_))));
}

#[test]
fn hundred_thousand_rows_stay_fast() {
    let folder = tempfile::tempdir().unwrap();
    let server = start_with(folder.path(), "kim", (0..100_000).map(row).collect());
    let slowest = |requests: &dyn Fn(usize)| {
        let times = (0..5).map(|nth| {
            let begun = Instant::now();
            requests(nth);
            begun.elapsed()
        });
        // The fastest: other programs use the machine, too.
        times.min().unwrap().as_millis()
    };
    let page = slowest(&|nth| drop(get(&server, &format!("/api/item?at={}", 90_000 + nth))));
    let decision = slowest(&|nth| assert_eq!(decide(&server, 50_000 + nth, "drop", Value::Null).0, 200));
    let state = slowest(&|_| drop(get(&server, "/api/state")));
    assert!(page < 50 && decision < 250 && state < 250, "{page} {decision} {state}");
    stop(server);
}

#[test]
fn edited_docs_of_a_list_are_exported_for_the_list() {
    let folder = tempfile::tempdir().unwrap();
    let list = Item { table: Table::DocLists, possible: vec![Verdict::EditDoc], ..row(0) };
    let server = start_with(folder.path(), "kim", vec![list]);
    let functions = "[{\"name\": \"book\"}]";
    assert_eq!(decide(&server, 0, "edit-doc", json!({"text": functions})).0, 200);
    stop(server);
    let export = Reviews::read(folder.path()).unwrap().export(|_| true);
    assert_eq!(export.lines[0]["id"], json!(format!("list:{:032x}", 0)));
    assert_eq!(export.lines[0]["functions"].to_string(), "[{\"name\":\"book\"}]");
}
