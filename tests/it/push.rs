//! Datasets are published on the hub: privately, redacted, in one commit. A server on this machine is the hub.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Output;

use base64::Engine as _;
use callsieve_testkit::server::{ReceivedRequest, Reply, Server};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::support::{callsieve, run_sample, shown};

/// How a hub behaves.
#[derive(Clone, Copy, Default)]
struct Behaviour {
    /// The repository exists already; whether it is private.
    exists: Option<bool>,
    /// The storage has all files.
    has_files: bool,
    /// The token may not write.
    refuses: bool,
    /// Uploads are checked at another server.
    verifies_elsewhere: bool,
}

fn hub(behaviour: Behaviour) -> Server {
    hub_with(behaviour, BTreeMap::new())
}

/// A hub whose branch has files with these hashes.
fn hub_with(behaviour: Behaviour, oids: BTreeMap<String, String>) -> Server {
    Server::start(move |request, _| {
        let base = format!("http://{}", request.header("host").unwrap());
        let path = request.path.split('?').next().unwrap();
        match path {
            _ if behaviour.refuses => {
                Reply::new(403, json!({"error": "the token may not write"}).to_string())
            }
            "/api/repos/create" if behaviour.exists.is_some() => Reply::new(409, "{}"),
            "/api/datasets/org/logs" => {
                Reply::new(200, json!({"private": behaviour.exists == Some(true)}).to_string())
            }
            "/api/datasets/org/logs/preupload/main" => {
                let files: Vec<Value> = request.json()["files"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|file| {
                        let path = file["path"].as_str().unwrap();
                        let mode = if path.ends_with(".parquet") { "lfs" } else { "regular" };
                        json!({"path": path, "uploadMode": mode, "shouldIgnore": false, "oid": oids.get(path)})
                    })
                    .collect();
                Reply::new(200, json!({ "files": files }).to_string())
            }
            "/datasets/org/logs.git/info/lfs/objects/batch" => {
                let verify = if behaviour.verifies_elsewhere { "http://127.0.0.1:1" } else { &base };
                let object = |object: &Value| {
                    let oid = object["oid"].as_str().unwrap();
                    let actions = json!({
                        "upload": {"href": format!("{base}/storage/{oid}"), "header": {"x-amz-tag": "7"}},
                        "verify": {"href": format!("{verify}/verify")},
                    });
                    let mut stored = object.clone();
                    if !behaviour.has_files {
                        stored["actions"] = actions;
                    }
                    stored
                };
                let body = request.json();
                let objects: Vec<Value> = body["objects"].as_array().unwrap().iter().map(object).collect();
                Reply::new(200, json!({ "objects": objects }).to_string())
            }
            "/api/datasets/org/logs/commit/main" => {
                Reply::new(200, json!({"commitOid": "0123abcd", "commitUrl": "x"}).to_string())
            }
            "/api/repos/create" | "/verify" => Reply::new(200, "{}"),
            path if path.starts_with("/storage/") => Reply::new(200, ""),
            _ => Reply::new(404, "{}"),
        }
    })
}

fn push(run: &Path, server: &Server, more: &[&str]) -> Output {
    let mut command = callsieve();
    command.env("HF_ENDPOINT", &server.url).env("HF_TOKEN", "hf-x");
    command.args(["push", run.to_str().unwrap(), "org/logs"]).args(more).output().unwrap()
}

fn requests<'r>(all: &'r [ReceivedRequest], path: &str) -> Vec<&'r ReceivedRequest> {
    all.iter().filter(|request| request.path.starts_with(path)).collect()
}

/// The files of a folder by their names.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(below) = folders.pop() {
        for entry in std::fs::read_dir(&below).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
                files.insert(name, std::fs::read(&path).unwrap());
            }
        }
    }
    files
}

#[test]
fn a_dataset_is_one_commit_with_every_byte_in_a_new_private_repository() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    run_sample(&run, &[]);
    let server = hub(Behaviour::default());
    let output = push(&run, &server, &["--message", "The first"]);
    assert!(output.status.success(), "{}", shown(&output));
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(
        said.contains("commit    0123abcd\n") && said.contains("/datasets/org/logs (new, private)\n"),
        "{said}"
    );
    let all = server.requests();
    let made = &requests(&all, "/api/repos/create")[0];
    assert_eq!(
        made.json(),
        json!({"type": "dataset", "organization": "org", "name": "logs", "private": true})
    );
    let commits = requests(&all, "/api/datasets/org/logs/commit/");
    assert_eq!((commits.len(), commits[0].header("content-type")), (1, Some("application/x-ndjson")));
    let lines: Vec<Value> = commits[0].body.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0], json!({"key": "header", "value": {"summary": "The first", "description": ""}}));
    let mut sent = BTreeMap::new();
    for line in &lines[1..] {
        let value = &line["value"];
        let name = value["path"].as_str().unwrap().to_owned();
        let bytes = match line["key"].as_str().unwrap() {
            "file" => {
                base64::engine::general_purpose::STANDARD.decode(value["content"].as_str().unwrap()).unwrap()
            }
            "lfsFile" => {
                let stored = requests(&all, &format!("/storage/{}", value["oid"].as_str().unwrap()));
                assert_eq!((stored[0].method.as_str(), stored[0].header("x-amz-tag")), ("PUT", Some("7")));
                assert_eq!(stored[0].header("authorization"), None, "the storage gets no key");
                assert_eq!(value["size"], stored[0].bytes.len());
                assert_eq!(value["oid"], hex(&Sha256::digest(&stored[0].bytes)));
                stored[0].bytes.clone()
            }
            other => panic!("a line of the kind {other}"),
        };
        sent.insert(name, bytes);
    }
    let expected = files(&run.join("dataset"));
    assert_eq!(sent.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
    assert!(sent == expected);
    let n_large = expected.keys().filter(|name| name.ends_with(".parquet")).count();
    assert_eq!(requests(&all, "/verify").len(), n_large);
    let with_key = all.iter().filter(|request| !request.path.starts_with("/storage/"));
    assert!(with_key.clone().all(|request| request.header("authorization") == Some("Bearer hf-x")));
    // What the storage has is not sent again.
    let server = hub(Behaviour { exists: Some(true), has_files: true, ..Behaviour::default() });
    let output = push(&run, &server, &[]);
    assert!(output.status.success(), "{}", shown(&output));
    assert_eq!(requests(&server.requests(), "/storage/").len(), 0);
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn what_the_branch_has_is_not_committed_again() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    run_sample(&run, &[]);
    let oid = |(name, content): (String, Vec<u8>)| {
        let of_git = || [format!("blob {}\0", content.len()).into_bytes(), content.clone()].concat();
        let is_large = name.ends_with(".parquet");
        let oid = if is_large { hex(&Sha256::digest(&content)) } else { hex(&sha1::Sha1::digest(of_git())) };
        (name, oid)
    };
    let mut oids: BTreeMap<String, String> = files(&run.join("dataset")).into_iter().map(oid).collect();
    let exists = Behaviour { exists: Some(true), ..Behaviour::default() };
    let server = hub_with(exists, oids.clone());
    let output = push(&run, &server, &[]);
    let said = String::from_utf8(output.stdout.clone()).unwrap();
    assert!(
        output.status.success() && said.contains("it has these files already, so nothing was committed"),
        "{}",
        shown(&output)
    );
    assert!(requests(&server.requests(), "/api/datasets/org/logs/commit/").is_empty());
    oids.insert("README.md".to_owned(), "0".repeat(40));
    let server = hub_with(exists, oids);
    assert!(push(&run, &server, &[]).status.success());
    let all = server.requests();
    let commit = &requests(&all, "/api/datasets/org/logs/commit/")[0].body;
    assert!(commit.lines().count() == 2 && commit.contains("\"path\":\"README.md\""), "{commit}");
}

#[test]
fn nothing_is_sent_that_should_not_be_published() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    run_sample(&run, &[]);
    let refused = |server: &Server, run: &Path, more: &[&str]| {
        let output = push(run, server, more);
        assert_eq!(output.status.code(), Some(2), "{}", shown(&output));
        assert_eq!(requests(&server.requests(), "/api/datasets/org/logs/commit").len(), 0);
        String::from_utf8(output.stderr).unwrap()
    };
    let server = hub(Behaviour { exists: Some(false), ..Behaviour::default() });
    let why = refused(&server, &run, &[]);
    assert!(why.contains("this repository is public\nhint: --public says that it may be"), "{why}");
    assert!(push(&run, &server, &["--public"]).status.success());
    let server = hub(Behaviour { refuses: true, ..Behaviour::default() });
    let why = refused(&server, &run, &[]);
    assert!(why.contains("HTTP status 403: the token may not write") && !why.contains("hf-x"), "{why}");
    let server = hub(Behaviour { verifies_elsewhere: true, ..Behaviour::default() });
    let output = push(&run, &server, &[]);
    assert_eq!(output.status.code(), Some(3), "the repository was made: {}", shown(&output));
    assert!(shown(&output).contains("checked by another server"), "{}", shown(&output));
    // Without a token, and for a look at what would be sent, no request is made.
    let server = hub(Behaviour::default());
    let mut command = callsieve();
    command.env("HF_ENDPOINT", &server.url).env_remove("HF_TOKEN");
    let output = command.args(["push", run.to_str().unwrap(), "org/logs"]).output().unwrap();
    assert!(shown(&output).contains("hint: set HF_TOKEN to a token that may write"), "{}", shown(&output));
    let output = push(&run, &server, &["--dry-run"]);
    assert!(shown(&output).contains("data/scored.parquet") && shown(&output).contains("nothing was sent"));
    let why = refused(&server, &run, &["--branch", "a/../b"]);
    assert!(why.contains("this names no branch"), "{why}");
    assert_eq!(server.requests().len(), 0);
    // A file that somebody put there, or a link.
    std::fs::write(run.join("dataset/notes.txt"), "secret").unwrap();
    let why = refused(&server, &run, &[]);
    assert!(why.contains("dataset/notes.txt") && why.contains("move files of your own elsewhere"), "{why}");
    std::fs::remove_file(run.join("dataset/notes.txt")).unwrap();
    // A dataset that somebody changed.
    std::fs::write(run.join("dataset/README.md"), "mine").unwrap();
    let why = refused(&server, &run, &[]);
    assert!(why.contains("README.md"), "{why}");
    // Personal values of the log are in it.
    let raw = folder.path().join("raw-run");
    let pipeline = folder.path().join("raw.toml");
    let recipe = std::fs::read_to_string("pipelines/live.toml").unwrap();
    let without = recipe
        .split("\n[[stages]]")
        .filter(|stage| !stage.contains("kind = \"redact-docs\""))
        .collect::<Vec<_>>()
        .join("\n[[stages]]");
    std::fs::write(&pipeline, without).unwrap();
    run_sample(&raw, &[pipeline.to_str().unwrap(), "raw/hosted.jsonl"]);
    let why = refused(&server, &raw, &[]);
    assert!(
        why.contains("personal values in it were not replaced: its pipeline lacks redact or redact-docs"),
        "{why}"
    );
    assert_eq!(server.requests().len(), 0);
}
