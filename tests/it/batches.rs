//! Batches of requests to a language model: files, and the batch service of a server.

use std::collections::HashMap;
use std::fs;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::judging::{Bench, KEY, clean_run};
use crate::server::{ReceivedRequest, Reply, Server};
use crate::support::{assert_same_bytes, shown, stable_bytes};
use serde_json::{Value, json};

#[test]
fn a_batch_gives_the_same_dataset_as_the_server() {
    let bench = Bench::new(40);
    let expected = clean_run(&bench, "asked");
    fs::remove_dir_all(bench.path("caches")).unwrap();
    let export = ["batch", "export", "judged.toml", "log.jsonl"];
    let output = bench.command("", &export).env_remove("OPENAI_API_KEY").output().unwrap();
    assert!(output.status.success(), "{}", shown(&output));
    let requests = String::from_utf8(output.stdout).unwrap();
    assert_eq!(requests.lines().count(), 40);
    let mut answers: Vec<String> = requests
        .lines()
        .map(|line| {
            let line: Value = serde_json::from_str(line).unwrap();
            let text = line["body"]["messages"][1]["content"].as_str().unwrap();
            let query = text.lines().find_map(|line| line.strip_prefix("[user] ")).unwrap();
            let (criterion, verdict) = if query.starts_with("Ring") {
                ("function-fits", "relevant")
            } else {
                ("no-function-fits", "irrelevant")
            };
            let text = json!({"reason": "So.", "quote": query, "criterion": criterion, "verdict": verdict}).to_string();
            json!({"custom_id": line["custom_id"], "response": {"status_code": 200, "body": {"model": "gpt-4.1-mini",
                "choices": [{"message": {"content": text}}], "usage": {"prompt_tokens": 9, "completion_tokens": 9}}}})
            .to_string()
        })
        .collect();
    // In another order, in two files, one line of them a failure.
    answers.reverse();
    fs::write(bench.path("a.jsonl"), answers[..10].join("\n")).unwrap();
    let last: Value = serde_json::from_str(&answers[39]).unwrap();
    let failed = json!({"custom_id": last["custom_id"], "response": null, "error": {"message": "expired"}})
        .to_string();
    fs::write(bench.path("b.jsonl"), answers[10..39].join("\n") + "\n" + &failed).unwrap();
    let imported = bench.call("", &["batch", "import", "a.jsonl", "b.jsonl"]);
    assert!(shown(&imported).contains("39 answers into the cache, 1 failed"), "{}", shown(&imported));
    let run = ["run", "judged.toml", "log.jsonl", "--out", "cached", "--cache-only"];
    assert!(bench.call("", &run).status.success());
    // 9 tokens for 0.2 USD and 9 for 0.8 USD each million: the prices of a batch. What was paid is no saving.
    assert!(
        shown(&imported).contains("these answers cost 0.0004 USD at the prices of a batch"),
        "{}",
        shown(&imported)
    );
    let usage = bench.usage("cached");
    assert!((usage["batch_cost"].as_f64().unwrap() - 39.0 * 9e-6).abs() < 1e-9, "{usage}");
    assert!(usage["saved_cost"].is_null(), "{usage}");
    let report = shown(&bench.call("", &["report", "cached"]));
    assert!(report.contains("0.0004 USD paid in batches"), "{report}");
    assert_eq!(bench.usage("cached")["not_sent"], 1);
    fs::write(bench.path("c.jsonl"), &answers[39]).unwrap();
    assert!(bench.call("", &["batch", "import", "c.jsonl"]).status.success());
    assert!(bench.call("", &run).status.success());
    assert_same_bytes(&expected, &stable_bytes(&bench.path("cached")));
}

/// A batch service: files, batches, and what the test does with them.
#[derive(Clone, Default)]
struct BatchService(Arc<Mutex<Served>>);

#[derive(Default)]
struct Served {
    /// Content by number: `file-N`.
    files: Vec<String>,
    /// Batches by number: `batch_N`.
    batches: Vec<Value>,
    /// The next request for a batch is accepted, and its response gets lost.
    loses_response: bool,
    /// Requests that were paid for, by id.
    paid: HashMap<String, usize>,
}

impl BatchService {
    fn start(&self) -> Server {
        let this = self.clone();
        Server::start(move |request, _| this.answer(request))
    }

    fn served(&self) -> std::sync::MutexGuard<'_, Served> {
        self.0.lock().unwrap()
    }

    fn answer(&self, request: &ReceivedRequest) -> Reply {
        assert_eq!(request.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
        let mut served = self.served();
        let parts: Vec<&str> = request.path.split(['/', '?']).filter(|part| !part.is_empty()).collect();
        match (request.body.is_empty(), &parts[..]) {
            (false, ["files"]) => {
                assert!(
                    request.header("content-type").unwrap().starts_with("multipart/form-data; boundary=")
                );
                let content: String =
                    request.body.split_inclusive('\n').filter(|line| line.starts_with('{')).collect();
                assert!(request.body.contains("name=\"purpose\"\r\n\r\nbatch\r\n"), "{}", request.body);
                served.files.push(content);
                Reply::new(
                    200,
                    json!({"id": format!("file-{}", served.files.len() - 1), "object": "file"}).to_string(),
                )
            }
            (false, ["batches"]) => {
                let body = request.json();
                assert_eq!(
                    (&body["endpoint"], &body["completion_window"]),
                    (&json!("/v1/chat/completions"), &json!("24h"))
                );
                let batch = json!({"id": format!("batch_{}", served.batches.len()), "object": "batch", "status": "validating",
                    "input_file_id": body["input_file_id"], "metadata": body["metadata"], "errors": null, "output_file_id": null});
                let file = number(&body["input_file_id"]);
                for line in served.files[file].clone().lines() {
                    let line: Value = serde_json::from_str(line).unwrap();
                    *served.paid.entry(line["custom_id"].as_str().unwrap().to_owned()).or_default() += 1;
                }
                served.batches.push(batch.clone());
                if std::mem::take(&mut served.loses_response) {
                    return Reply::new(200, batch.to_string()).cut(10);
                }
                Reply::new(200, batch.to_string())
            }
            (true, ["batches", id]) if id.starts_with("batch_") => {
                match served.batches.get(number(&json!(id))) {
                    Some(batch) => Reply::new(200, batch.to_string()),
                    None => Reply::new(404, r#"{"error": {"message": "no such batch"}}"#),
                }
            }
            (true, ["batches", ..]) => {
                let data: Vec<&Value> = served.batches.iter().rev().collect();
                Reply::new(200, json!({"object": "list", "data": data, "has_more": false}).to_string())
            }
            (true, ["files", id, "content"]) => Reply::new(200, served.files[number(&json!(id))].clone()),
            other => panic!("{other:?}: {}", request.path),
        }
    }

    /// Ends a batch: answers those of its requests that the test names, reports others as failed, and leaves out the rest.
    fn end(&self, batch: usize, status: &str, outcome: impl Fn(usize) -> Option<bool>) {
        let mut served = self.served();
        let file = number(&served.batches[batch]["input_file_id"]);
        let (mut output, mut errors) = (Vec::new(), Vec::new());
        for (at, line) in served.files[file].lines().enumerate() {
            let line: Value = serde_json::from_str(line).unwrap();
            match outcome(at) {
                Some(true) => output.push(answered(&line)),
                Some(false) => errors.push(
                    json!({"custom_id": line["custom_id"], "response": {"status_code": 400, "body": {"error": {"message": "too long"}}}})
                        .to_string(),
                ),
                None => {}
            }
        }
        output.reverse();
        for (lines, key) in [(output, "output_file_id"), (errors, "error_file_id")] {
            if !lines.is_empty() {
                served.files.push(lines.join("\n") + "\n");
                served.batches[batch][key] = json!(format!("file-{}", served.files.len() - 1));
            }
        }
        served.batches[batch]["status"] = json!(status);
    }
}

/// The number at the end of an id.
fn number(id: &Value) -> usize {
    id.as_str().unwrap().rsplit(['-', '_']).next().unwrap().parse().unwrap()
}

/// The answer to a line of a batch file, under another name of the model.
fn answered(line: &Value) -> String {
    let text = line["body"]["messages"][1]["content"].as_str().unwrap();
    let query = text.lines().find_map(|line| line.strip_prefix("[user] ")).unwrap();
    let (criterion, verdict) = if query.starts_with("Ring") {
        ("function-fits", "relevant")
    } else {
        ("no-function-fits", "irrelevant")
    };
    let text =
        json!({"reason": "So.", "quote": query, "criterion": criterion, "verdict": verdict}).to_string();
    json!({"id": "batch_req_1", "custom_id": line["custom_id"], "error": null, "response": {"status_code": 200, "request_id": "r",
        "body": {"model": "gpt-4.1-mini-2025-04-14", "choices": [{"message": {"content": text}}],
            "usage": {"prompt_tokens": 9, "completion_tokens": 9}}}})
    .to_string()
}

const SUBMIT: [&str; 4] = ["batch", "submit", "judged.toml", "log.jsonl"];

#[test]
fn a_submitted_batch_is_polled_and_gives_the_same_dataset_as_the_server() {
    let bench = Bench::new(40);
    let expected = clean_run(&bench, "asked");
    fs::remove_dir_all(bench.path("caches")).unwrap();
    let service = BatchService::default();
    let server = service.start();
    let call = |arguments: &[&str], code: i32| {
        let output = bench.call(&server.url, arguments);
        assert_eq!(output.status.code(), Some(code), "{}", shown(&output));
        shown(&output)
    };
    // 40 requests in batches of 15.
    let text = call(&[&SUBMIT[..], &["--max-requests", "15"]].concat(), 0);
    assert!(text.contains("batch_2: 10 requests to gpt-4.1-mini") && text.contains("cost at most"), "{text}");
    // Once more: nothing is sent twice, and a run does not ask what is under way.
    let text = call(&SUBMIT, 0);
    assert!(text.contains("40 requests in batches under way before"), "{text}");
    assert_eq!(bench.run(&server, "early", &["--set", "max_fault_share=1"]), Some(0));
    assert_eq!(bench.usage("early")["not_sent"], 40);
    let text = call(&["batch", "poll"], 0);
    assert!(text.contains("batch_0: 15 requests to gpt-4.1-mini: validating, 0 answered"), "{text}");

    // The first is answered, the second has failures and runs out, the third is refused.
    service.end(0, "completed", |_| Some(true));
    service.end(1, "expired", |at| (at < 9).then_some(at > 1));
    {
        let mut served = service.served();
        served.batches[2]["status"] = json!("failed");
        served.batches[2]["errors"] = json!({"data": [{"code": "token_limit_exceeded", "message": "Enqueued token limit", "line": null}]});
    }
    let text = call(&["batch", "poll"], 1);
    for expected in [
        "batch_0: 15 requests to gpt-4.1-mini: completed, 15 answers into the cache, 0.0001 USD\n",
        "batch_1: 15 requests to gpt-4.1-mini: expired, 7 answers into the cache, 2 failed, 6 without an answer, 0.0001 USD\n",
        "batch_1: the request failed: too long",
        "batch_2: 10 requests to gpt-4.1-mini: failed, 0 answers into the cache, 10 without an answer\n",
        "batch_2: Enqueued token limit",
        "hint: `callsieve batch submit` sends requests without an answer again",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    assert!(call(&["batch", "poll"], 0).contains("no batches are under way"));
    // The rest in one batch, waited for.
    let waiting = service.clone();
    let ends = std::thread::spawn(move || {
        while waiting.served().batches.len() < 4 {
            std::thread::sleep(Duration::from_millis(20));
        }
        waiting.end(3, "completed", |_| Some(true));
    });
    let text = call(&[&SUBMIT[..], &["--wait", "--interval", "1"]].concat(), 0);
    ends.join().unwrap();
    assert!(
        text.contains(
            "batch_3: 18 requests to gpt-4.1-mini: completed, 18 answers into the cache, 0.0002 USD"
        ),
        "{text}"
    );
    let run = ["run", "judged.toml", "log.jsonl", "--out", "cached"];
    assert!(bench.call(&server.url, &run).status.success());
    assert_same_bytes(&expected, &stable_bytes(&bench.path("cached")));
    let stats = shown(&bench.call("", &["cache", "stats", "--json"]));
    assert!(stats.contains(r#""gpt-4.1-mini":{"replies":40"#) && !stats.contains("2025-04-14"), "{stats}");
    bench.assert_no_key();
}

#[test]
fn a_submission_that_is_interrupted_pays_for_no_request_twice() {
    let bench = Bench::new(30);
    let service = BatchService::default();
    let server = service.start();
    let submit = |n: usize| {
        let output = bench.call(&server.url, &[&SUBMIT[..], &["--max-requests", "10"]].concat());
        assert_eq!(output.status.code(), Some(0), "{}", shown(&output));
        let served = service.served();
        assert_eq!((served.paid.len(), served.batches.len()), (30, n), "{}", shown(&output));
        assert!(served.paid.values().all(|n| *n == 1), "{:?}", served.paid);
        shown(&output)
    };
    // The server accepted a batch, and its response got lost.
    service.served().loses_response = true;
    let text = submit(3);
    assert!(text.contains("batch_0: 10 requests"), "{text}");
    // It was killed after that, and before it noted the batch: as if the records had no batch yet.
    fs::remove_dir_all(bench.path("caches")).unwrap();
    *service.served() = Served::default();
    for kill_after in 0..12 {
        let mut child = bench
            .command(&server.url, &[&SUBMIT[..], &["--max-requests", "10"]].concat())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let n_files = |service: &BatchService| {
            let served = service.served();
            served.files.len() + served.batches.len()
        };
        let before = n_files(&service);
        while n_files(&service) < before + 1 && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_millis(kill_after));
        let _ = child.kill();
        child.wait().unwrap();
    }
    let output = bench.call(&server.url, &[&SUBMIT[..], &["--max-requests", "10"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", shown(&output));
    let served = service.served();
    assert_eq!(served.paid.len(), 30);
    assert!(served.paid.values().all(|n| *n == 1), "{:?}", served.paid);
}

#[test]
fn a_batch_whose_file_is_missing_or_cut_stays_under_way() {
    let bench = Bench::new(12);
    let service = BatchService::default();
    let server = service.start();
    let call = |arguments: &[&str]| shown(&bench.call(&server.url, arguments));
    call(&SUBMIT);
    service.served().batches[0]["status"] = json!("completed");
    assert!(call(&["batch", "poll"]).contains("completed, without a file of answers yet"));
    service.end(0, "completed", |_| Some(true));
    let whole = service.served().files.last().unwrap().clone();
    *service.served().files.last_mut().unwrap() = whole[..whole.len() / 2 - 5].to_owned();
    let text = call(&["batch", "poll"]);
    assert!(text.contains("ends inside an answer; the next poll looks again"), "{text}");
    // Whole lines, and not all of them: as the server counts.
    let few: String = whole.split_inclusive('\n').take(7).collect();
    *service.served().files.last_mut().unwrap() = few;
    for (counts, is_lacking) in [
        (json!({"total": 12, "completed": 12, "failed": 0}), true),
        (json!({"total": "12", "completed": 12.0, "failed": null}), true),
    ] {
        service.served().batches[0]["request_counts"] = counts;
        let text = call(&["batch", "poll"]);
        assert_eq!(
            text.contains("completed, with files that lack answers; the next poll"),
            is_lacking,
            "{text}"
        );
    }
    let waited = bench.call(&server.url, &["batch", "poll", "--wait", "--interval", "1"]);
    assert_eq!(waited.status.code(), Some(1), "{}", shown(&waited));
    // A server that counts more than were asked does not keep the batch for ever.
    service.served().batches[0]["request_counts"] = json!({"total": 12, "completed": 13});
    // Nothing is submitted, and paid for, again.
    assert!(call(&SUBMIT).contains("in batches under way before"));
    assert_eq!(service.served().batches.len(), 1);
    // A last line without its end is whole.
    *service.served().files.last_mut().unwrap() = whole.trim_end().to_owned();
    let text = call(&["batch", "poll"]);
    assert!(text.contains("12 answers into the cache"), "{text}");
    assert!(call(&["batch", "poll"]).contains("no batches are under way"));
}

#[test]
fn a_batch_service_that_refuses_or_loses_batches_is_reported_with_a_way_on() {
    let bench = Bench::new(20);
    let none = Server::start(|_, _| Reply::new(404, "<html>not here</html>"));
    let output = bench.call(&none.url, &SUBMIT);
    let text = shown(&output);
    assert!(
        output.status.code() == Some(2) && text.contains("hint: the server may have no batch service"),
        "{text}"
    );
    let mut command = bench.command("", &SUBMIT);
    let output = command.env_remove("OPENAI_API_KEY").env_remove("OPENAI_BASE_URL").output().unwrap();
    assert!(
        output.status.code() == Some(2) && shown(&output).contains("OPENAI_API_KEY is not set"),
        "{}",
        shown(&output)
    );

    let service = BatchService::default();
    let server = service.start();
    // 400 tokens of output for 0.8 USD and about 900 of input for 0.2 USD each million.
    let output = bench.call(&server.url, &[&SUBMIT[..], &["--max-cost", "0.004"]].concat());
    let text = shown(&output);
    let n: usize = text.split("batch_0: ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
    assert!((6..12).contains(&n), "{text}");
    assert!(text.contains(&format!("{} requests left out", 20 - n)), "{text}");
    // Another server, and one that lost it.
    let other = Server::start(|_, _| Reply::new(404, r#"{"error": {"message": "no such batch"}}"#));
    let text = shown(&bench.call(&other.url, &["batch", "poll"]));
    assert!(text.contains(&format!("1 batch is under way on {}", server.url)), "{text}");
    service.served().batches.clear();
    let output = bench.call(&server.url, &["batch", "poll"]);
    let text = shown(&output);
    assert!(output.status.code() == Some(1) && text.contains("--forget batch_0 gives it up"), "{text}");
    assert_eq!(bench.call(&server.url, &["batch", "poll", "--forget", "batch_0"]).status.code(), Some(0));
    let text = shown(&bench.call(&server.url, &["batch", "poll"]));
    assert!(text.contains("no batches are under way"), "{text}");
    let text = shown(&bench.call(&server.url, &["batch", "poll", "--forget", "batch_0"]));
    assert!(text.contains("no batch batch_0 is under way\nhint: "), "{text}");
}

#[cfg(unix)]
#[test]
fn a_stopped_wait_leaves_the_batches_running_and_reports_how_to_go_on() {
    let bench = Bench::new(10);
    let service = BatchService::default();
    let server = service.start();
    let child = bench
        .command(&server.url, &[&SUBMIT[..], &["--wait"]].concat())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while service.served().batches.is_empty() {
        std::thread::sleep(Duration::from_millis(10));
    }
    std::thread::sleep(Duration::from_millis(300));
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let text = shown(&output);
    assert!(output.status.code() == Some(130), "{text}");
    assert!(
        text.contains("interrupted")
            && text.contains("hint: batches that were created go on; `callsieve batch poll`"),
        "{text}"
    );
    service.end(0, "completed", |_| Some(true));
    let text = shown(&bench.call(&server.url, &["batch", "poll"]));
    assert!(text.contains("10 answers into the cache"), "{text}");
}
