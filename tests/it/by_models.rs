//! Tests of instructions that language models word or write, with a scripted server that answers well, badly, and not at all.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::judging::{KEY, reply};
use crate::server::{ReceivedRequest, Reply, Server};
use crate::support::{assert_same_bytes, callsieve, shown, stable_bytes};

const WORKSHOP: &str = "raw/repair-shop.toml";

/// A folder for runs, with a cache of its own.
struct Bench {
    folder: TempDir,
}

impl Bench {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn generate(&self, server: &str, out: &str, more: &[&str]) -> Output {
        let mut command = callsieve();
        command.env("OPENAI_BASE_URL", server).env("OPENAI_API_KEY", KEY);
        command.env("CALLSIEVE_CACHE", self.path("cache"));
        command.args(["generate", WORKSHOP, "--quiet", "--out"]).arg(self.path(out)).args(more);
        command.output().unwrap()
    }

    fn lines(&self, out: &str, file: &str) -> Vec<Value> {
        let text = std::fs::read_to_string(self.path(out).join("dataset").join(file)).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn report(&self, out: &str) -> Value {
        serde_json::from_slice(&std::fs::read(self.path(out).join("report.json")).unwrap()).unwrap()
    }

    /// The rows that are not kept, by reason.
    fn reasons(&self, out: &str) -> BTreeMap<String, u64> {
        let reasons = self.report(out)["requests"]["reasons"].as_object().cloned().unwrap_or_default();
        reasons.into_iter().filter_map(|(code, n)| Some((code, n.as_u64()?))).collect()
    }
}

/// The text of a request to the model.
fn asked(request: &ReceivedRequest) -> (String, String) {
    let body = request.json();
    let text = |at: usize| body["messages"][at]["content"].as_str().unwrap_or_default().to_owned();
    (text(0), text(1))
}

/// Programs by the text of their first turn.
type Programs = Arc<BTreeMap<String, Value>>;

/// Makes the instructions of programs without a model, by which the server knows the right calls.
fn programs(bench: &Bench, accept: &str) -> Programs {
    programs_with(bench, &["--accept", accept])
}

fn programs_with(bench: &Bench, more: &[&str]) -> Programs {
    let plain = bench.generate(
        "http://127.0.0.1:9/v1",
        "plain",
        &[&["--bindings", "raw/repair-shop.bindings.toml"], more].concat(),
    );
    assert!(plain.status.success(), "{}", shown(&plain));
    let all = bench.lines("plain", "programs.jsonl");
    Arc::new(
        all.into_iter().map(|record| (record["instruction"].as_str().unwrap().to_owned(), record)).collect(),
    )
}

/// How the server words a program: by its number, some in a way that a check finds.
fn fault_of(record: &Value) -> usize {
    let number: usize = record["id"].as_str().unwrap().trim_start_matches('p').parse().unwrap();
    number % 7
}

fn texts(record: &Value) -> Vec<String> {
    record["turns"].as_array().unwrap().iter().map(|turn| turn["user"].as_str().unwrap().to_owned()).collect()
}

/// The wording that the server gives a program.
fn worded(record: &Value) -> Vec<String> {
    let mut turns: Vec<String> =
        texts(record).iter().map(|text| format!("Hello there! {text} Thanks a lot.")).collect();
    match fault_of(record) {
        1 => "I'm sorry, I cannot help with that.".clone_into(&mut turns[0]),
        2 => turns[0] += " Use the workshop API for it.",
        3 => turns[0] = format!("For <your name>: {}", turns[0]),
        _ => {}
    }
    turns
}

/// Answers as a careful model would, except where a program has a fault: `4` makes no call, `5` has no answer.
fn answer(programs: &Programs, request: &ReceivedRequest) -> Reply {
    let (prompt, text) = asked(request);
    if prompt.starts_with("You are a person who asks") && text.starts_with("=== MESSAGES ===") {
        let first = text.lines().nth(1).unwrap().trim_start_matches("message_1: ");
        let record = &programs[first];
        if fault_of(record) == 5 {
            return reply("Let me think about it.");
        }
        let messages: serde_json::Map<String, Value> = (1..)
            .zip(worded(record))
            .map(|(n, text): (usize, String)| (format!("message_{n}"), json!(text)))
            .collect();
        return reply(&Value::Object(messages).to_string());
    }
    assert!(prompt.starts_with("You do what a user asks by calls"), "{prompt}");
    let said: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("[user] ")).collect();
    let n_made = text.lines().filter(|line| line.starts_with("[assistant calls] ")).count();
    let record = programs.values().find(|record| worded(record)[0] == said[0]).unwrap();
    let turn = &record["turns"][said.len() - 1];
    let of_turn: Vec<usize> = turn["calls"]
        .as_array()
        .unwrap()
        .iter()
        .map(|number| usize::try_from(number.as_u64().unwrap()).unwrap())
        .collect();
    let left: Vec<Value> = of_turn
        .into_iter()
        .filter(|number| *number > n_made && fault_of(record) != 4)
        .map(|number| {
            let call = &record["calls"][number - 1];
            json!({"name": call["name"], "arguments": call["arguments"].to_string()})
        })
        .collect();
    let calls = if record["together"] == true { left } else { left.into_iter().take(1).collect() };
    reply(&json!({"reason": "So.", "calls": calls}).to_string())
}

fn worded_by_server(programs: &Programs) -> Server {
    let programs = programs.clone();
    Server::start(move |request, _| answer(&programs, request))
}

const WORDED: &[&str] = &[
    "--bindings",
    "raw/repair-shop.bindings.toml",
    "--accept",
    "60",
    "--word",
    "m",
    "--set",
    "word-instructions.over_specified=0",
    "--set",
    "word-instructions.implicit=0",
    "--max-candidates",
    "2000",
];

/// Only the first programs are known to the server, so no more may be asked about.
fn only_once(arguments: &[&'static str]) -> Vec<&'static str> {
    [arguments, &["--set", "merge-near-queries.rouge_l=1.0"]].concat()
}

#[test]
fn words_of_a_model_are_kept_if_they_lead_to_the_same_calls() {
    let bench = Bench::new();
    let programs = programs(&bench, "400");
    let server = worded_by_server(&programs);
    let done = bench.generate(&server.url, "worded", &only_once(WORDED));
    // Replies that cannot be used are faults, and their rows are held.
    assert!(matches!(done.status.code(), Some(0 | 1)), "{}", shown(&done));
    let kept = bench.lines("worded", "programs.jsonl");
    assert!(kept.len() >= 25, "{}: {}", kept.len(), shown(&done));
    for record in &kept {
        assert_eq!(record["wording"], "m");
        assert!(record["person"].is_string());
        let first = record["instruction"].as_str().unwrap();
        assert!(first.starts_with("Hello there! ") && first.ends_with(" Thanks a lot."), "{first}");
        // A program without a call has none from its words either.
        assert!(matches!(fault_of(record), 0 | 6) || record["calls"] == json!([]), "{record}");
        for call in record["calls"].as_array().unwrap() {
            for from in
                call["provenance"].as_object().unwrap().values().filter(|from| from["from"] == "words")
            {
                let turn = usize::try_from(from["turn"].as_u64().unwrap()).unwrap() - 1;
                let [start, end] =
                    [0, 1].map(|at: usize| usize::try_from(from["span"][at].as_u64().unwrap()).unwrap());
                let user = texts(record)[turn].clone();
                assert_eq!(from["words"], user.chars().skip(start).take(end - start).collect::<String>());
            }
        }
    }
    let reasons = bench.reasons("worded");
    for code in [
        "wording/refusal",
        "wording/meta-talk",
        "wording/placeholder",
        "wording/other-calls",
        "wording/no-wording",
    ] {
        assert!(reasons.contains_key(code), "{code}: {reasons:?}");
    }
    // All calls of kept ones have no other meaning in the other forms.
    assert_eq!(bench.lines("worded", "openai.jsonl").len(), kept.len());
    // Everything that was paid for is in the cache, and the same run has the same bytes.
    let n_asked = server.requests().len();
    let again = bench.generate(
        &server.url,
        "again",
        &[&only_once(WORDED)[..], &["--cache-only", "--threads", "1"]].concat(),
    );
    assert!(matches!(again.status.code(), Some(0 | 1)), "{}", shown(&again));
    assert_eq!(server.requests().len(), n_asked);
    assert_same_bytes(&dataset(&bench.path("worded")), &dataset(&bench.path("again")));
}

fn dataset(run: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    stable_bytes(&run.join("dataset"))
}

/// Writes what a model proposes for a sample: instructions that are right, and one of each kind of fault in turn.
fn proposals(text: &str) -> Value {
    let n: usize = text.split("Write ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
    let single = text.contains("Each needs exactly one call.");
    let has = |name: &str| text.contains(&format!("\"name\":\"{name}\""));
    let customer =
        |id: &str| json!({"name": "get_customer", "arguments": json!({"customer_id": id}).to_string()});
    let list = (0..n).map(|nth| match nth % 5 {
        0 if has("get_customer") && single => {
            json!({"request": "Since when is C-1001 a customer of ours?", "calls": [customer("C-1001")]})
        }
        0 => json!({"request": "Tell me about the last visit.", "calls": []}),
        1 => json!({"request": "Look up C-9999 for me, please.", "calls": [customer("C-9999")]}),
        2 => json!({"request": "Look up C-1002 with the customer API.", "calls": [customer("C-1002")]}),
        3 => json!({"request": "Look up our oldest customer.", "calls": [customer("C-1003")]}),
        _ => json!({"request": "Fly to the moon on 3 May.", "calls": [{"name": "fly", "arguments": "{}"}]}),
    });
    json!({ "instructions": list.collect::<Vec<_>>() })
}

/// Makes the call of the first proposal from its words, and none once it is made or where the words are others.
fn called_back(text: &str) -> Reply {
    let is_open = text.contains("C-1001 a customer") && !text.contains("[assistant calls]");
    let call = json!({"name": "get_customer", "arguments": json!({"customer_id": "C-1001"}).to_string()});
    let calls = if is_open { vec![call] } else { Vec::new() };
    reply(&json!({"reason": "So.", "calls": calls}).to_string())
}

const WRITTEN: &[&str] = &[
    "--by",
    "model",
    "--model",
    "m",
    "--accept",
    "4",
    "--max-candidates",
    "300",
    "--set",
    "ingest.kinds={single = 1.0}",
];

#[test]
fn instructions_of_a_model_are_executed_and_each_rule_has_its_reason() {
    let bench = Bench::new();
    let server = Server::start(|request, nth| {
        let (prompt, text) = asked(request);
        if prompt.starts_with("You do what a user asks by calls") {
            return called_back(&text);
        }
        assert!(prompt.starts_with("You write what people say"), "{prompt}");
        match nth % 6 {
            1 => Reply::new(200, "{\"choices\": ").cut(5),
            2 => reply("I'm sorry, but I can't do that."),
            _ => reply(&proposals(&text).to_string()),
        }
    });
    let done = bench.generate(&server.url, "written", WRITTEN);
    // As many as are wanted cannot be made of two requests.
    assert!(matches!(done.status.code(), Some(1 | 4)), "{}", shown(&done));
    let kept = bench.lines("written", "programs.jsonl");
    assert_eq!(kept.len(), 1, "{kept:?} {}", shown(&done));
    let record = &kept[0];
    assert_eq!(
        (&record["wording"], &record["tier"], &record["stratum"]),
        (&json!("m"), &json!("executed"), &json!("single"))
    );
    assert_eq!(record["calls"][0]["result"]["name"], "Celia Ferrer");
    assert_eq!(record["calls"][0]["provenance"]["customer_id"]["words"], "C-1001");
    assert!(record["answer"].as_str().unwrap().contains("2025"), "{record}");
    assert!(record["end_state"].is_string() && record["sample"]["level"] == "i1");
    // Replies that cannot be used are not paid for again when more candidates are made.
    let mut asked_for: BTreeMap<String, usize> = BTreeMap::new();
    for request in server.requests().iter().filter(|request| request.json()["messages"].is_array()) {
        *asked_for.entry(request.json().to_string()).or_default() += 1;
    }
    assert!(asked_for.values().all(|n| *n <= 6), "{:?}", asked_for.values().max());
    let reasons = bench.reasons("written");
    for code in [
        "instruction/meta-talk",
        "instruction/unsaid-value",
        "instruction/unknown-function",
        "instruction/other-kind",
        "instruction/no-reply",
    ] {
        assert!(reasons.contains_key(code), "{code}: {reasons:?}");
    }
    assert!(reasons.contains_key("calls/failed"), "{reasons:?}");
    let yields = &bench.report("written")["notes"]["write-instructions"]["yields"]["single"]["m"];
    assert!(
        yields["passed"].as_u64() > Some(0)
            && yields["instruction/meta-talk"] == reasons["instruction/meta-talk"],
        "{yields}"
    );
}

#[test]
fn what_the_rounds_of_a_set_cost_is_added_up() {
    let bench = Bench::new();
    let server = Server::start(|request, _| {
        let (prompt, text) = asked(request);
        if prompt.starts_with("You do what a user asks by calls") {
            return called_back(&text);
        }
        reply(&proposals(&text).to_string())
    });
    let arguments: Vec<&str> =
        WRITTEN.iter().map(|argument| if *argument == "m" { "gpt-4o" } else { argument }).collect();
    let done = bench.generate(&server.url, "rounds", &arguments);
    assert!(matches!(done.status.code(), Some(1 | 4)), "{}", shown(&done));
    let run: Value =
        serde_json::from_slice(&std::fs::read(bench.path("rounds").join("run.json")).unwrap()).unwrap();
    assert!(run["pipeline"]["ingest"]["spare"].as_u64() > Some(0), "one round was enough");
    let n_asked = |prompt: &str| {
        let requests = server.requests();
        requests.iter().filter(|request| asked(request).0.starts_with(prompt)).count() as u64
    };
    let report = bench.report("rounds");
    for (stage, prompt) in [
        ("write-instructions", "You write what people say"),
        ("translate-back", "You do what a user asks by calls"),
    ] {
        let usage = &report["language_models"][stage];
        assert_eq!(usage["arrived"].as_u64(), Some(n_asked(prompt)), "{stage}: {usage}");
        assert!(usage["cost"].as_f64() > Some(0.0) && usage["saved_cost"].is_null(), "{stage}: {usage}");
    }
    // The next run pays nothing.
    let again = bench.generate(&server.url, "again", &[&arguments[..], &["--cache-only"]].concat());
    assert_eq!(again.status.code(), done.status.code(), "{}", shown(&again));
    let usage = |out: &str| bench.report(out)["language_models"]["write-instructions"].clone();
    let (first, later) = (usage("rounds"), usage("again"));
    assert_eq!((&later["arrived"], &later["cached"]), (&json!(0), &first["arrived"]));
    let rounded = |cost: &Value| (cost.as_f64().unwrap() * 1e9).round();
    assert!((rounded(&later["saved_cost"]) - rounded(&first["cost"])).abs() < 2.0, "{later} {first}");
}

#[test]
fn a_stratum_that_has_far_fewer_than_its_share_is_shown() {
    const SHARES: [&str; 2] = ["--set", "ingest.strata={single = 0.5, parallel = 0.5}"];
    let bench = Bench::new();
    let known = programs_with(&bench, &[&["--accept", "90"], &SHARES[..]].concat());
    // Of parallel calls most are not made when they are translated back.
    let server = Server::start(move |request, _| {
        let (prompt, text) = asked(request);
        let said = text.lines().find_map(|line| line.strip_prefix("[user] "));
        let record = said.and_then(|said| known.values().find(|record| worded(record)[0] == said));
        let is_lost = |record: &Value| {
            record["stratum"] == "parallel" && !record["id"].as_str().unwrap().ends_with("18")
        };
        if prompt.starts_with("You do what a user asks by calls") && record.is_some_and(is_lost) {
            return reply(&json!({"reason": "So.", "calls": []}).to_string());
        }
        // A later round has programs that the server does not know.
        let is_known = text.lines().any(|line| known.contains_key(line.trim_start_matches("message_1: ")));
        if prompt.starts_with("You are a person who asks") && !is_known {
            return reply("Let me think about it.");
        }
        answer(&known, request)
    });
    let mut command = callsieve();
    command.env("OPENAI_BASE_URL", &server.url).env("OPENAI_API_KEY", KEY);
    command.env("CALLSIEVE_CACHE", bench.path("cache"));
    command.args(["generate", WORKSHOP, "--out"]).arg(bench.path("missed")).args(SHARES);
    command.args(["--bindings", "raw/repair-shop.bindings.toml", "--accept", "90", "--word", "m"]);
    command.args(["--set", "word-instructions.over_specified=0", "--set", "word-instructions.implicit=0"]);
    command.args(["--max-candidates", "800"]);
    let done = command.output().unwrap();
    let out = String::from_utf8_lossy(&done.stdout).into_owned();
    let strata = bench.report("missed")["strata"].as_array().cloned().unwrap_or_default();
    let of = |name: &str| strata.iter().find(|stratum| stratum["stratum"] == name).cloned().unwrap();
    let (parallel, single) = (of("parallel"), of("single"));
    assert_eq!((&parallel["wanted"], &parallel["is_missed"]), (&json!(0.5), &json!(true)), "{parallel}");
    assert_eq!(single["is_missed"], false, "{single}");
    let n: u64 = strata.iter().filter_map(|stratum| stratum["instructions"].as_u64()).sum();
    assert_eq!(n, bench.lines("missed", "programs.jsonl").len() as u64);
    let line = out.lines().find(|line| line.starts_with("stratum   parallel: ")).unwrap_or(&out);
    assert!(line.ends_with("instead of 50.0 %"), "{line}");
    assert!(!out.contains("stratum   single: "), "{out}");
}

#[test]
fn a_model_writes_conversations_whose_turns_are_translated_back() {
    const TURNS: [(&str, &str); 2] =
        [("Since when is C-1001 a customer of ours?", "C-1001"), ("And C-1002, since when?", "C-1002")];
    let bench = Bench::new();
    let server = Server::start(|request, _| {
        let (prompt, text) = asked(request);
        let call =
            |id: &str| json!({"name": "get_customer", "arguments": json!({"customer_id": id}).to_string()});
        if prompt.starts_with("You do what a user asks by calls") {
            // The last message of the user is done if its result is there.
            let last = text.rfind("[user] ").map_or("", |at| &text[at..]);
            let (_, id) = TURNS.into_iter().rfind(|(said, _)| last.contains(said)).unwrap();
            let calls = if last.contains("[assistant calls]") { vec![] } else { vec![call(id)] };
            return reply(&json!({"reason": "So.", "calls": calls}).to_string());
        }
        let schema = request.json()["response_format"].to_string();
        assert!(schema.contains("\"then\"") && text.contains("Each is a conversation"), "{text}");
        if !text.contains("\"name\":\"get_customer\"") {
            return reply(r#"{"instructions": []}"#);
        }
        let [first, then] = TURNS.map(|(said, id)| json!({"request": said, "calls": [call(id)]}));
        let whole = json!({"request": first["request"], "calls": first["calls"], "then": [then]});
        reply(&json!({"instructions": [whole]}).to_string())
    });
    let arguments = [
        &["--by", "model", "--model", "m", "--accept", "1", "--max-candidates", "60"][..],
        &["--set", "ingest.kinds={multi-turn = 1.0}"],
    ];
    let done = bench.generate(&server.url, "turns", &arguments.concat());
    assert!(done.status.success(), "{}", shown(&done));
    let kept = bench.lines("turns", "programs.jsonl");
    let record = &kept[0];
    assert_eq!(
        (kept.len(), &record["stratum"], &record["tier"]),
        (1, &json!("multi-turn"), &json!("executed"))
    );
    assert_eq!(texts(record), TURNS.map(|(said, _)| said.to_owned()));
    assert_eq!((&record["turns"][0]["calls"], &record["turns"][1]["calls"]), (&json!([1]), &json!([2])));
    assert!(record["turns"][0]["answer"].as_str().unwrap().contains("2025"), "{record}");
    assert_eq!(record["calls"][1]["provenance"]["customer_id"]["turn"], 2);
}

#[test]
fn a_killed_run_asks_for_nothing_that_it_has() {
    let bench = Bench::new();
    let server = Server::start(|request, _| {
        std::thread::sleep(Duration::from_millis(15));
        let (prompt, text) = asked(request);
        if prompt.starts_with("You do what a user asks by calls") {
            return called_back(&text);
        }
        reply(&proposals(&text).to_string())
    });
    let arguments = [WRITTEN, &["--concurrency", "2"]].concat();
    for moment in 0..20_u64 {
        let mut command = callsieve();
        command.env("OPENAI_BASE_URL", &server.url).env("OPENAI_API_KEY", KEY);
        command.env("CALLSIEVE_CACHE", bench.path("cache"));
        command.args(["generate", WORKSHOP, "--quiet", "--out"]).arg(bench.path("killed")).args(&arguments);
        let mut child =
            command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(150 + 35 * moment));
        let _ = child.kill();
        child.wait().unwrap();
    }
    let done = bench.generate(&server.url, "killed", &arguments);
    assert!(matches!(done.status.code(), Some(1 | 4)), "{}", shown(&done));
    let mut asked_for: BTreeMap<String, usize> = BTreeMap::new();
    for request in server.requests() {
        *asked_for.entry(request.json().to_string()).or_default() += 1;
    }
    let repeated: usize = asked_for.values().map(|n| n - 1).sum();
    assert!(repeated <= 20 * 2, "{repeated}");
    let whole = bench.generate(&server.url, "whole", &arguments);
    assert_eq!(whole.status.code(), done.status.code());
    assert_same_bytes(&dataset(&bench.path("killed")), &dataset(&bench.path("whole")));
}

#[test]
fn what_cannot_be_is_refused_with_a_hint() {
    let bench = Bench::new();
    for (arguments, expected) in [
        (&["--model", "m"][..], "--model is for --by model"),
        (&["--max-cost", "2"], "--max-cost limits what language models cost"),
        (&["--by", "model"], "--by model needs the name of a language model"),
        (&["--by", "model", "--model", "m", "--word", "m"], "--word is for programs"),
        (&["--by", "model", "--model", "m", "--bindings", "b.toml"], "--bindings is for programs"),
        (
            &["--by", "model", "--model", "m", "--set", "ingest.kinds={error-recovery = 1.0}"],
            "is made by programs only",
        ),
        (&["--word", "m", "--set", "word-instructions.personas='none.txt'"], "none.txt"),
    ] {
        let refused = bench.generate("http://127.0.0.1:9/v1", "refused", arguments);
        assert!(
            refused.status.code() == Some(2) && shown(&refused).contains(expected),
            "{arguments:?}: {}",
            shown(&refused)
        );
    }
}
