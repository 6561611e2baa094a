//! Tests of solution paths: a scripted server does the instructions of a run well, badly, in a roundabout way, and not at all.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::judging::{KEY, reply};
use crate::review::Page;
use crate::server::{ReceivedRequest, Reply, Server};
use crate::support::{assert_same_bytes, callsieve, shown, stable_bytes};

const WORKSHOP: &str = "raw/repair-shop.toml";

struct Bench {
    folder: TempDir,
}

impl Bench {
    /// A folder with a run of so many instructions of programs.
    fn with_instructions(accept: &str) -> Self {
        let this = Self { folder: tempfile::tempdir().unwrap() };
        let mut command = callsieve();
        command.args(["generate", WORKSHOP, "--bindings", "raw/repair-shop.bindings.toml", "--quiet"]);
        command.args(["--accept", accept, "--out"]).arg(this.path("run"));
        let made = command.output().unwrap();
        assert!(made.status.success(), "{}", shown(&made));
        this
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self, server: &str) -> std::process::Command {
        let mut command = callsieve();
        command.env("OPENAI_BASE_URL", server).env("OPENAI_API_KEY", KEY);
        command.env("CALLSIEVE_CACHE", self.path("cache"));
        command
    }

    fn annotate(&self, server: &str, more: &[&str]) -> Output {
        let mut command = self.command(server);
        command.arg("annotate").arg(self.path("run")).args(["--model", "m", "--quiet"]).args(more);
        command.output().unwrap()
    }

    fn lines(&self, file: &str) -> Vec<Value> {
        let text = std::fs::read_to_string(self.path("run/dataset").join(file)).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn report(&self) -> Value {
        serde_json::from_slice(&std::fs::read(self.path("run/report.json")).unwrap()).unwrap()
    }
}

/// The programs of a run by the text of the last message of their user, with their number.
type Programs = Arc<BTreeMap<String, (usize, Value)>>;

fn programs(bench: &Bench) -> Programs {
    let all = bench.lines("programs.jsonl");
    let last = |record: &Value| {
        record["turns"].as_array().unwrap().last().unwrap()["user"].as_str().unwrap().to_owned()
    };
    Arc::new(all.into_iter().enumerate().map(|(at, record)| (last(&record), (at, record))).collect())
}

/// A reply with calls of tools.
pub(crate) fn calls(calls: &[(&str, Value)]) -> Reply {
    let calls: Vec<Value> = calls
        .iter()
        .map(|(name, arguments)| json!({"id": "x", "type": "function", "function": {"name": name, "arguments": arguments.to_string()}}))
        .collect();
    let message = json!({"role": "assistant", "content": null, "tool_calls": calls});
    let body = json!({"model": "m", "choices": [{"message": message, "finish_reason": "tool_calls"}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10}});
    Reply::new(200, body.to_string())
}

pub(crate) fn finish(answer: &str) -> Reply {
    calls(&[("Finish", json!({"return_type": "give_answer", "final_answer": answer}))])
}

pub(crate) fn give_up() -> Reply {
    let call = json!({"id": "x", "type": "function", "function": {"name": "Finish", "arguments": "{\"return_type\": \"give_up_and_restart\"}"}});
    let message = json!({"role": "assistant", "content": GIVES_UP, "tool_calls": [call]});
    Reply::new(200, json!({"model": "m", "choices": [{"message": message}]}).to_string())
}

/// What a model says that gives up.
const GIVES_UP: &str = "This leads nowhere.";

/// Does what a program does, one step at a time; some badly, by their number: 1 answers at once, 2 gives up first and then does it,
/// 3 calls a function that there is not, 4 repeats itself; number 5 has no usable reply.
fn step(programs: &Programs, request: &ReceivedRequest) -> Reply {
    let body = request.json();
    let messages = body["messages"].as_array().unwrap();
    let text = |message: &Value| message["content"].as_str().unwrap_or_default().to_owned();
    let at = messages
        .iter()
        .rposition(|message| message["role"] == "user" && programs.contains_key(&text(message)))
        .unwrap();
    let (number, record) = &programs[&text(&messages[at])];
    let after = &messages[at + 1..];
    let made = after
        .iter()
        .filter(|message| message["role"] == "tool" && message["name"] != "no_such_function")
        .count();
    let tried_before = after.last().is_some_and(|message| message["role"] == "user");
    let gold: Vec<usize> = record["turns"].as_array().unwrap().last().unwrap()["calls"]
        .as_array()
        .unwrap()
        .iter()
        .map(|number| usize::try_from(number.as_u64().unwrap()).unwrap() - 1)
        .collect();
    let answer = record["answer"].as_str().unwrap();
    let next = |nth: usize| {
        let call = &record["calls"][gold[nth]];
        calls(&[(call["name"].as_str().unwrap(), call["arguments"].clone())])
    };
    match number % 8 {
        1 => finish("I have done it."),
        2 if !tried_before
            && made == 1
            && !gold.is_empty()
            && after.len() < 4
            && messages.len() == at + 3 =>
        {
            give_up()
        }
        3 if after.is_empty() => calls(&[("no_such_function", json!({}))]),
        4 => calls(&[("count_orders", json!({}))]),
        5 if *number == 5 => Reply::new(200, "{\"choices\": ").cut(5),
        _ if made < gold.len() => next(made),
        _ => finish(answer),
    }
}

fn server(programs: &Programs) -> Server {
    let programs = programs.clone();
    Server::start(move |request, _| step(&programs, request))
}

fn dataset(run: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    stable_bytes(&run.join("dataset"))
}

#[test]
fn a_run_gets_solution_paths_that_execution_judges() {
    let bench = Bench::with_instructions("40");
    let programs = programs(&bench);
    let server = server(&programs);
    let done = bench.annotate(&server.url, &["--method", "dfsdt"]);
    assert!(matches!(done.status.code(), Some(0 | 1 | 4)), "{}", shown(&done));
    let rates: BTreeMap<String, Value> = bench
        .lines("solutions/pass-rates.jsonl")
        .into_iter()
        .map(|line| (line["id"].as_str().unwrap().to_owned(), line))
        .collect();
    assert!(rates.len() >= 35, "{} {}", rates.len(), shown(&done));
    for (number, record) in programs.values() {
        let Some(rate) = rates.get(record["id"].as_str().unwrap()) else {
            assert_eq!(*number, 5, "{record}");
            continue;
        };
        assert_eq!(rate["judged_by"], "execution");
        let expected = match number % 8 {
            // "I have done it" is no refusal either. A call of a function that is not offered is no data to learn from, also if the rest is right.
            1 | 3 | 4 => false,
            _ => true,
        };
        assert_eq!(rate["passed"] == 1, expected, "{number} {rate} {record}");
    }
    // Chosen paths in the forms of training, with the calls that were made and the answer.
    let paths = bench.lines("solutions/openai.jsonl");
    assert!(!paths.is_empty() && paths.len() < rates.len());
    for path in &paths {
        let messages = path["messages"].as_array().unwrap();
        assert_eq!(messages.len(), path["loss_mask"].as_array().unwrap().len());
        assert_eq!(messages.last().unwrap()["role"], "assistant");
        assert!(messages.iter().all(|message| message["role"] != "system"), "{path}");
    }
    let steps = std::fs::read_to_string(bench.path("run/dataset/solutions/toolllama-steps.json")).unwrap();
    let steps: Vec<Value> = serde_json::from_str(&steps).unwrap();
    assert!(steps.len() >= paths.len() && steps[0]["conversations"][0]["from"] == "system", "{}", steps[0]);
    // A step that was given up is rejected where the tree went on, in the words of the other files: none of them has `Finish`.
    let pairs = bench.lines("solutions/preference-pairs.jsonl");
    assert!(pairs.iter().any(|pair| pair["rejected"][0]["content"] == GIVES_UP), "{pairs:?}");
    assert!(pairs.iter().chain(&paths).all(|line| !line.to_string().contains("Finish")), "{pairs:?}");
    // An attempt that a check rejects gives no pairs.
    let passes = |pair: &Value| rates[pair["id"].as_str().unwrap()]["passed"] == 1;
    assert!(pairs.iter().all(passes), "{pairs:?}");
    let page = std::fs::read_to_string(bench.path("run/report.html")).unwrap();
    assert!(page.contains("Solution paths") && page.contains("No attempt passes"));
    let card = std::fs::read_to_string(bench.path("run/dataset/README.md")).unwrap();
    assert!(card.contains("as execution says") && card.contains("searched by m"), "{card}");
    let notes = &bench.report()["notes"]["annotate"];
    assert!(notes["yields"]["single"]["m"]["passed"].as_u64() > Some(0), "{notes}");
    // The instructions themselves are the same.
    let after = dataset(&bench.path("run"));
    let now = std::fs::read_to_string(bench.path("run/dataset/programs.jsonl")).unwrap();
    for (number, record) in programs.values().filter(|(number, _)| *number != 5) {
        assert!(
            now.lines().any(|line| serde_json::from_str::<Value>(line).is_ok_and(|line| line == *record)),
            "{number}"
        );
    }
    // `why` draws the tree.
    let (_, given_up) =
        programs.values().find(|(number, record)| number % 8 == 2 && record["calls"] != json!([])).unwrap();
    let why = bench
        .command(&server.url)
        .arg("why")
        .arg(bench.path("run"))
        .arg(given_up["id"].as_str().unwrap())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&why.stdout);
    assert!(text.contains("attempt 1") && text.contains("Finish"), "{text}");
    let (_, undone) =
        programs.values().find(|(number, record)| number % 8 == 1 && record["calls"] != json!([])).unwrap();
    let why = bench
        .command(&server.url)
        .arg("why")
        .arg(bench.path("run"))
        .arg(undone["id"].as_str().unwrap())
        .output();
    let text = String::from_utf8(why.unwrap().stdout).unwrap();
    for part in ["  missing   ", "  answer    I have done it.", "  fault     solution/no-call"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    // Nothing is asked twice.
    let n_asked = server.requests().len();
    let again = bench.annotate(&server.url, &["--method", "dfsdt", "--cache-only"]);
    assert_eq!(again.status.code(), done.status.code(), "{}", shown(&again));
    assert_eq!(server.requests().len(), n_asked);
    assert_same_bytes(&after, &dataset(&bench.path("run")));
    let mut loud = bench.command(&server.url);
    loud.arg("annotate").arg(bench.path("run")).args(["--model", "m", "--method", "dfsdt", "--cache-only"]);
    let told = loud.output().unwrap();
    assert!(String::from_utf8_lossy(&told.stdout).contains("\nsolved    "), "{}", shown(&told));
}

/// The findings of an attempt whose answer tells nothing.
const LACKS_RESULT: &str = "solution/answer-lacks-result";

#[test]
fn an_answer_without_what_was_asked_for_does_not_pass_and_a_true_one_does() {
    let bench = Bench::with_instructions("60");
    let programs = programs(&bench);
    let known = programs.clone();
    // All calls are right. Every second answer tells something else.
    let server = Server::start(move |request, _| {
        let body = request.json();
        let messages = body["messages"].as_array().unwrap();
        let known_text =
            |message: &Value| known.get(message["content"].as_str().unwrap_or_default()).cloned();
        let at = messages.iter().rposition(|message| known_text(message).is_some()).unwrap();
        let (number, record) = known_text(&messages[at]).unwrap();
        let made = messages[at..].iter().filter(|message| message["role"] == "tool").count();
        let gold = record["turns"].as_array().unwrap().last().unwrap()["calls"].as_array().unwrap();
        match gold.get(made) {
            Some(call) => {
                let call = &record["calls"][usize::try_from(call.as_u64().unwrap()).unwrap() - 1];
                calls(&[(call["name"].as_str().unwrap(), call["arguments"].clone())])
            }
            None if number % 2 == 0 => finish(record["answer"].as_str().unwrap()),
            None if number % 4 == 1 => finish("The shop has 9,871 of these, they say."),
            None => finish("It went well, thank you."),
        }
    });
    let done = bench.annotate(&server.url, &[]);
    assert!(matches!(done.status.code(), Some(0 | 1 | 4)), "{}", shown(&done));
    let number_of: BTreeMap<&str, usize> =
        programs.values().map(|(number, record)| (record["id"].as_str().unwrap(), *number)).collect();
    let mut found = BTreeMap::<(&str, bool), usize>::new();
    for rate in bench.lines("solutions/pass-rates.jsonl") {
        let has = |level: &str| rate[level].as_array().unwrap().contains(&json!(LACKS_RESULT));
        let level = match (has("faults"), has("suspicions")) {
            (true, _) => "fault",
            (false, true) => "suspicion",
            (false, false) => "nothing",
        };
        let is_true = number_of[rate["id"].as_str().unwrap()].is_multiple_of(2);
        *found.entry((level, is_true)).or_default() += 1;
        // A missing function without a refusal is a fault of its own.
        assert_eq!(rate["passed"] == 1, rate["faults"] == json!([]), "{rate}");
        assert!(!is_true || rate["passed"] == 1, "{rate}");
    }
    assert!(!found.contains_key(&("fault", true)) && !found.contains_key(&("suspicion", true)), "{found:?}");
    let of = |level: &'static str| found.get(&(level, false)).copied().unwrap_or_default();
    assert!(of("fault") >= 13 && of("suspicion") >= 5 && of("nothing") <= 3, "{found:?}");
}

/// The part of a conversation after the last message of its user that a program has: the program, and the results until now.
fn of_program<'a>(programs: &'a Programs, messages: &[Value]) -> (usize, &'a Value, usize) {
    let known = |message: &Value| programs.get(message["content"].as_str().unwrap_or_default());
    let at = messages.iter().rposition(|message| known(message).is_some()).unwrap();
    let (number, record) = known(&messages[at]).unwrap();
    let made = messages[at..].iter().filter(|message| message["role"] == "tool").count();
    (*number, record, made)
}

/// The calls of the last turn of a program, from 0.
fn last_calls(record: &Value) -> Vec<usize> {
    let calls = record["turns"].as_array().unwrap().last().unwrap()["calls"].as_array().unwrap();
    calls.iter().map(|number| usize::try_from(number.as_u64().unwrap()).unwrap() - 1).collect()
}

/// The calls of the last turn to whose results no call of it refers.
fn without_lookups(record: &Value) -> Vec<usize> {
    let gold = last_calls(record);
    let is_looked_at = |at: &usize| {
        let start = format!("${}", at + 1);
        gold.iter().any(|call| {
            let mut places = record["calls"][*call]["references"].as_object().unwrap().values();
            places.any(|place| place.as_str().unwrap().split('.').next() == Some(&start))
        })
    };
    gold.iter().copied().filter(|at| !is_looked_at(at)).collect()
}

/// An id of the shop that there is not.
const INVENTED: &str = "S-987";

#[test]
fn guessed_arguments_and_invented_short_ids_do_not_pass() {
    let bench = Bench::with_instructions("60");
    let programs = programs(&bench);
    let known = programs.clone();
    // Every second attempt calls without its lookups; the others add an id to a true answer.
    let server = Server::start(move |request, _| {
        let body = request.json();
        let (number, record, made) = of_program(&known, body["messages"].as_array().unwrap());
        let wanted = if number % 2 == 0 { without_lookups(record) } else { last_calls(record) };
        let answer = record["answer"].as_str().unwrap();
        match wanted.get(made) {
            Some(call) => {
                let call = &record["calls"][*call];
                calls(&[(call["name"].as_str().unwrap(), call["arguments"].clone())])
            }
            None if number % 2 == 0 => finish(answer),
            None => finish(&format!("{answer} See also {INVENTED}.")),
        }
    });
    let done = bench.annotate(&server.url, &[]);
    assert!(matches!(done.status.code(), Some(0 | 1 | 4)), "{}", shown(&done));
    let of_id: BTreeMap<&str, &(usize, Value)> =
        programs.values().map(|of| (of.1["id"].as_str().unwrap(), of)).collect();
    let mut found = BTreeMap::<(&str, bool), usize>::new();
    for rate in bench.lines("solutions/pass-rates.jsonl") {
        let (number, record) = of_id[rate["id"].as_str().unwrap()];
        // Nothing shows what ids look like where no call is right.
        let shows_ids = record["turns"].to_string().contains('-') && !last_calls(record).is_empty();
        let kind = match (number % 2 == 1, without_lookups(record).len() < last_calls(record).len()) {
            (true, _) if shows_ids => "invented",
            (true, _) => "unknown form",
            (false, true) => "guessed",
            (false, false) => "right",
        };
        let is_found = rate["passed"] == 0;
        *found.entry((kind, is_found)).or_default() += 1;
    }
    let expected = [("guessed", true), ("invented", true), ("right", false), ("unknown form", false)];
    assert!(found.keys().eq(&expected) && found[&expected[0]] >= 8 && found[&expected[1]] >= 20, "{found:?}");
}

#[test]
fn judges_are_measured_by_execution_by_people_and_against_another_run() {
    let bench = Bench::with_instructions("24");
    let programs = programs(&bench);
    let known = programs.clone();
    let server = Server::start(move |request, _| {
        let body = request.json();
        let (prompt, text) =
            (body["messages"][0]["content"].to_string(), body["messages"][1]["content"].to_string());
        if prompt.contains("You compare what two assistants did") {
            // It always prefers what is shown first, so its votes cancel out.
            return reply(r#"{"reason": "It comes first.", "verdict": "first"}"#);
        }
        if !prompt.contains("You judge whether an assistant") {
            return step(&known, request);
        }
        if text.contains("I have done it.") && body["model"] == "strict" {
            return reply(
                r#"{"reason": "Nothing was done.", "solvable": "solvable", "verdict": "unsolved"}"#,
            );
        }
        reply(r#"{"reason": "It is done.", "solvable": "solvable", "verdict": "solved"}"#)
    });
    let done = bench.annotate(&server.url, &[]);
    assert!(matches!(done.status.code(), Some(0 | 1 | 4)), "{}", shown(&done));
    copy(&bench.path("run"), &bench.path("other"));
    std::fs::write(bench.path("read.csv"), "id,verdict\np000001,solved\np999999,unsolved\n").unwrap();
    let mut command = bench.command(&server.url);
    command.arg("judge").arg(bench.path("run")).args(["--model", "strict", "--model", "kind", "--human"]);
    command.arg(bench.path("read.csv")).arg("--against").arg(bench.path("other"));
    let judged = command.output().unwrap();
    assert!(matches!(judged.status.code(), Some(0 | 1 | 4)), "{}", shown(&judged));
    let figures = &bench.report()["notes"]["judge-solutions"]["judged"];
    let agreement = |of: &str, model: &str| figures[of][model]["agreement"]["share"].as_f64().unwrap();
    assert!(
        agreement("agreement_with_execution", "strict") > agreement("agreement_with_execution", "kind"),
        "{figures}"
    );
    assert!(figures["agreement_with_people"]["kind"]["only_second"].as_u64() >= Some(1), "{figures}");
    // The same solutions on both sides, and a judge that prefers a place: ties only.
    let rate = &figures["win_rate"];
    assert_eq!(
        (&rate["wins"], &rate["losses"], &rate["halved"]),
        (&json!(0), &json!(0), &json!(0.5)),
        "{rate}"
    );
    let text = String::from_utf8_lossy(&judged.stdout);
    assert!(text.contains("agrees with execution") && text.contains("win rate  50.0 %"), "{text}");
    // People decide where the judges of a kept instruction disagree.
    let page = Page::start(&bench.path("run"), &["--reviewer", "kim"]);
    let n_rows = page.get("/api/state")["n_rows"].as_u64().unwrap();
    let items = (0..n_rows).map(|at| page.item(at));
    let disputed: Vec<Value> = items.filter(|item| item["reason"]["code"] == "judges-disagree").collect();
    assert!(!disputed.is_empty() && disputed.len() < 24, "{n_rows}");
    for item in &disputed {
        let judge = &item["judge"];
        assert_eq!(
            (&judge["model"], &judge["reply"]),
            (&json!("kind, strict"), &json!("kind: pass 1\nstrict: fail 1")),
            "{item}"
        );
        assert!(
            item["evidence"].as_str().unwrap().contains("\"judged_answer\": \"I have done it.\""),
            "{item}"
        );
    }
    page.stop();
    let wrong = bench
        .command(&server.url)
        .arg("judge")
        .arg(bench.path("run"))
        .args(["--model", "m", "--human", "none.csv"])
        .output()
        .unwrap();
    assert!(wrong.status.code() == Some(2) && shown(&wrong).contains("none.csv"), "{}", shown(&wrong));
    for (other, expected) in [("run", "--against is the run itself"), ("cache", "the run has no solutions")] {
        let mut command = bench.command(&server.url);
        command
            .arg("judge")
            .arg(bench.path("run"))
            .args(["--model", "m", "--against"])
            .arg(bench.path(other));
        let refused = command.output().unwrap();
        assert!(
            refused.status.code() == Some(2) && shown(&refused).contains(expected),
            "{}",
            shown(&refused)
        );
    }
    let none = Bench::with_instructions("1");
    let refused =
        none.command(&server.url).arg("judge").arg(none.path("run")).args(["--model", "m"]).output().unwrap();
    assert!(shown(&refused).contains("no solution paths to judge"), "{}", shown(&refused));
    // What is refused leaves the run as it is.
    assert!(bench.path("run/report.json").is_file());
}

#[test]
fn judges_may_reject_answers_whose_calls_are_right() {
    let bench = Bench::with_instructions("12");
    let programs = programs(&bench);
    let known = programs.clone();
    // All calls are right, and the answer of every second attempt at an instruction with an even number has a sentence that is not.
    let server = Server::start(move |request, _| {
        let body = request.json();
        let messages = body["messages"].as_array().unwrap();
        if messages[0].to_string().contains("You judge whether an assistant") {
            let verdict = if messages[1].to_string().contains("the moon") { "unsolved" } else { "solved" };
            return reply(&json!({"reason": "So.", "solvable": "solvable", "verdict": verdict}).to_string());
        }
        let (number, record, made) = of_program(&known, messages);
        let answer = record["answer"].as_str().unwrap();
        match last_calls(record).get(made) {
            Some(call) => {
                let call = &record["calls"][*call];
                calls(&[(call["name"].as_str().unwrap(), call["arguments"].clone())])
            }
            None if number % 2 == 0 => finish(&format!("{answer} We are open on the moon as well.")),
            None => finish(answer),
        }
    });
    let done = bench.annotate(&server.url, &["--attempts", "2"]);
    assert!(matches!(done.status.code(), Some(0 | 1 | 4)), "{}", shown(&done));
    let judge = |more: &[&str]| {
        let mut command = bench.command(&server.url);
        let judged =
            command.arg("judge").arg(bench.path("run")).args(["--model", "m"]).args(more).output().unwrap();
        assert!(matches!(judged.status.code(), Some(0 | 1 | 4)), "{}", shown(&judged));
        bench.lines("solutions/pass-rates.jsonl")
    };
    let is_rejected =
        |rate: &Value| rate["faults"].as_array().unwrap().contains(&json!("solution/judged-unsolved"));
    let measured = judge(&[]);
    assert!(measured.iter().all(|rate| rate["passed"] == 2 && !is_rejected(rate)), "{measured:?}");
    let rejected = judge(&["--set", "judge-solutions.executed=reject"]);
    let number_of: BTreeMap<&str, usize> =
        programs.values().map(|(number, record)| (record["id"].as_str().unwrap(), *number)).collect();
    for rate in &rejected {
        let is_false = number_of[rate["id"].as_str().unwrap()].is_multiple_of(2);
        assert_eq!((is_rejected(rate), rate["passed"] == 0), (is_false, is_false), "{rate}");
        let by = if is_false { "execution and judges" } else { "execution" };
        assert_eq!(rate["judged_by"], by, "{rate}");
    }
    let id = rejected.iter().find(|rate| is_rejected(rate)).unwrap()["id"].as_str().unwrap();
    let why = bench.command(&server.url).arg("why").arg(bench.path("run")).arg(id).output().unwrap();
    assert!(shown(&why).contains("fault     solution/judged-unsolved: judges reject"), "{}", shown(&why));
    assert!(rejected.iter().any(is_rejected) && rejected.len() == 12, "{rejected:?}");
    let restored = judge(&[]);
    assert!(restored.iter().all(|rate| rate["passed"] == 2 && !is_rejected(rate)), "{restored:?}");
    // Without money nothing is decided and no next attempt is an example; with it, the same command goes on.
    let prices = "source = \"test\"\nas_of = \"2026-01-01\"\n[models]\nm = { input = 0.0, output = 0.0 }\nother = { input = 1.0, output = 1.0 }\n";
    std::fs::write(bench.path("prices.toml"), prices).unwrap();
    for (most, code) in [("0", 3), ("0.001", 3), ("5", 0)] {
        let mut command = bench.command(&server.url);
        command.arg("judge").arg(bench.path("run")).args([
            "--model",
            "other",
            "--max-cost",
            most,
            "--prices",
        ]);
        command.arg(bench.path("prices.toml")).args(["--set", "judge-solutions.executed=reject"]);
        let judged = command.output().unwrap();
        assert_eq!(judged.status.code(), Some(code), "{}", shown(&judged));
        let last = String::from_utf8_lossy(&judged.stderr).into_owned();
        assert!(
            code == 0 || last.trim_end().lines().rev().nth(1).unwrap().contains("stopped by --max-cost"),
            "{last}"
        );
    }
    let rejected = bench.lines("solutions/pass-rates.jsonl");
    let examples = bench.lines("solutions/openai.jsonl");
    assert_eq!(examples.len(), rejected.iter().filter(|rate| !is_rejected(rate)).count());
    assert!(!examples.iter().any(|line| line.to_string().contains("the moon")));
}

#[test]
fn a_run_without_replies_or_with_a_wrong_argument_leaves_the_set_as_it_is() {
    let bench = Bench::with_instructions("20");
    let before = dataset(&bench.path("run"));
    let programs = programs(&bench);
    let server = server(&programs);
    let refused = bench.annotate(&server.url, &["--environment", "nothing.toml"]);
    assert_eq!(refused.status.code(), Some(2), "{}", shown(&refused));
    assert!(shown(&refused).contains("nothing.toml"), "{}", shown(&refused));
    assert!(bench.path("run/report.json").is_file() && !bench.path("run/earlier").exists());
    assert_same_bytes(&before, &dataset(&bench.path("run")));
    // Nothing is in the cache, so nothing is known of any instruction.
    let open = bench.annotate(&server.url, &["--cache-only"]);
    assert_eq!(open.status.code(), Some(3), "{}", shown(&open));
    assert!(shown(&open).contains("no instruction has a reply"), "{}", shown(&open));
    assert_same_bytes(&before, &dataset(&bench.path("run/earlier")));
    assert!(server.requests().is_empty());
    // The next run asks.
    let done = bench.annotate(&server.url, &[]);
    assert!(!server.requests().is_empty(), "{}", shown(&done));
    assert!(bench.lines("solutions/pass-rates.jsonl").len() >= 19, "{}", shown(&done));
}

/// Copies a folder with all that is below it.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (path, into) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy(&path, &into);
        } else {
            std::fs::copy(path, into).unwrap();
        }
    }
}

#[test]
fn several_attempts_give_a_rate() {
    let bench = Bench::with_instructions("16");
    let programs = programs(&bench);
    let known = programs.clone();
    // Every second of equal requests is answered at once.
    let asked: Mutex<BTreeMap<String, usize>> = Mutex::default();
    let server = Server::start(move |request, _| {
        let mut asked = asked.lock().unwrap();
        let n = asked.entry(request.json()["messages"].to_string()).or_default();
        *n += 1;
        if n.is_multiple_of(2) { finish("I have nothing to say.") } else { step(&known, request) }
    });
    let done = bench.annotate(&server.url, &["--attempts", "4", "--concurrency", "1"]);
    assert!(matches!(done.status.code(), Some(0 | 1 | 4)), "{}", shown(&done));
    let rates = bench.lines("solutions/pass-rates.jsonl");
    assert!(rates.iter().all(|rate| rate["attempts"] == 4), "{rates:?}");
    assert!(rates.iter().any(|rate| !matches!(rate["pass_rate"].as_f64(), Some(0.0 | 1.0))), "{rates:?}");
}

#[test]
fn functions_that_nothing_executes_are_simulated_and_marked() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let server = Server::start(|request, _| {
        let body = request.json();
        let all = body["messages"].to_string();
        if all.contains("You stand in for a function") {
            return reply(r#"{"error": "", "result": "{\"title\": \"The Bell\", \"pages\": 312}"}"#);
        }
        let seen = body["messages"].as_array().unwrap().iter().any(|message| message["role"] == "tool");
        let name = body["tools"][0]["function"]["name"].as_str().unwrap();
        if seen { finish("It has 312 pages.") } else { calls(&[(name, json!({"isbn": "9780141439471"}))]) }
    });
    let docs = json!([{"type": "function", "function": {"name": "get_book", "description": "Returns a book.",
        "parameters": {"type": "object", "properties": {"isbn": {"type": "string", "description": "Its ISBN.", "example": "9780141439471"}}, "required": ["isbn"]}}}]);
    std::fs::write(path("books.json"), docs.to_string()).unwrap();
    let run = |arguments: &[&str]| {
        let mut command = callsieve();
        command
            .env("OPENAI_BASE_URL", &server.url)
            .env("OPENAI_API_KEY", KEY)
            .env("CALLSIEVE_CACHE", path("cache"));
        command.current_dir(folder.path()).args(arguments).output().unwrap()
    };
    let collected = run(&["collect", "books.json", "--out", "apis", "--quiet"]);
    assert!(collected.status.success(), "{}", shown(&collected));
    let made = run(&["generate", "apis", "--accept", "1", "--out", "made", "--quiet"]);
    assert!(made.status.success(), "{}", shown(&made));
    let refused = run(&["annotate", "made", "--model", "m", "--quiet"]);
    let told = shown(&refused);
    assert!(told.contains("nothing executes the calls of a collection"), "{told}");
    // The same command would fail again, and nothing was touched.
    assert!(refused.status.code() == Some(2) && !told.contains("to continue"), "{told}");
    assert!(path("made/dataset/unverified/programs.jsonl").is_file() && !path("made/earlier").exists());
    let done = run(&["annotate", "made", "--model", "m", "--simulator", "s", "--quiet"]);
    assert!(done.status.success(), "{}", shown(&done));
    let text = std::fs::read_to_string(path("made/dataset/unverified/solutions/pass-rates.jsonl")).unwrap();
    let rate: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert_eq!(
        (&rate["judged_by"], &rate["passed"], &rate["origins"]),
        (&json!("answer"), &json!(1), &json!(["simulated"]))
    );
}

#[test]
fn a_set_stays_what_it_is_where_no_attempt_passes() {
    let bench = Bench::with_instructions("12");
    let before = bench.lines("programs.jsonl");
    let gives_up = Server::start(|_, _| give_up());
    let done = bench.annotate(&gives_up.url, &["--set", "annotate.unsolved=\"drop\""]);
    // None is solved, so all are dropped; no easier ones take their place, and candidates beyond the set are not asked about.
    assert_eq!(done.status.code(), Some(0), "{}", shown(&done));
    assert_eq!(bench.lines("programs.jsonl"), Vec::<Value>::new());
    assert_eq!(bench.report()["language_models"]["annotate"]["rows"], 12);
    assert_eq!(gives_up.requests().len(), 12);
    // A server that is away leaves the set of the run before.
    let again = Bench::with_instructions("12");
    let failed = again.annotate("http://127.0.0.1:9/v1", &["--set", "annotate.attempts=2"]);
    assert_ne!(failed.status.code(), Some(0), "{}", shown(&failed));
    let kept = std::fs::read_to_string(again.path("run/earlier/dataset/programs.jsonl")).unwrap();
    assert_eq!(kept.lines().count(), before.len());
    // Once a run ends here, its own outcome is the only one.
    let done = again.annotate(&gives_up.url, &[]);
    assert!(done.status.success(), "{}", shown(&done));
    assert!(!again.path("run/earlier").exists());
    assert_eq!(again.lines("programs.jsonl").len(), before.len());
}

#[test]
fn a_judge_that_nobody_can_read_and_ids_that_nobody_has_are_told() {
    let bench = Bench::with_instructions("4");
    let programs = programs(&bench);
    let known = programs.clone();
    let server = Server::start(move |request, _| {
        let judges = request.json()["messages"][0]["content"].to_string().contains("You judge whether");
        if judges { reply("Well.") } else { step(&known, request) }
    });
    let done = bench.annotate(&server.url, &[]);
    assert!(matches!(done.status.code(), Some(0 | 1)), "{}", shown(&done));
    let judge = |more: &[&str]| {
        let mut command = bench.command(&server.url);
        command
            .arg("judge")
            .arg(bench.path("run"))
            .args(["--model", "m", "--quiet"])
            .args(more)
            .output()
            .unwrap()
    };
    let human = bench.path("read.csv");
    std::fs::write(&human, "id,verdict\nx1,solved\n").unwrap();
    let n_asked = server.requests().len();
    let refused = judge(&["--human", human.to_str().unwrap()]);
    let told = shown(&refused);
    assert!(told.contains("no id is that of an instruction of the run: \"x1\" in the file"), "{told}");
    assert_eq!(server.requests().len(), n_asked);
    let unread = judge(&[]);
    assert_eq!(unread.status.code(), Some(1), "{}", shown(&unread));
    assert!(shown(&unread).contains("no verdict on any of 4 answers could be read"), "{}", shown(&unread));
}

#[test]
fn a_killed_search_goes_on_in_the_middle_and_gives_the_same_bytes() {
    let bench = Bench::with_instructions("16");
    let programs = programs(&bench);
    let slow = programs.clone();
    let server = Server::start(move |request, _| {
        std::thread::sleep(Duration::from_millis(8));
        step(&slow, request)
    });
    for moment in 0..20_u64 {
        let mut command = bench.command(&server.url);
        command.arg("annotate").arg(bench.path("run")).args([
            "--model",
            "m",
            "--quiet",
            "--method",
            "dfsdt",
            "--concurrency",
            "2",
        ]);
        let mut child =
            command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(120 + 25 * moment));
        let _ = child.kill();
        child.wait().unwrap();
    }
    let done = bench.annotate(&server.url, &["--method", "dfsdt", "--concurrency", "2"]);
    assert!(matches!(done.status.code(), Some(0 | 1 | 4)), "{}", shown(&done));
    let mut asked_for: BTreeMap<String, usize> = BTreeMap::new();
    for request in server.requests() {
        // Those that the server cuts off have no answer that could be kept.
        if !request.body.is_empty() {
            *asked_for.entry(request.json().to_string()).or_default() += 1;
        }
    }
    let cut = |body: &str| {
        programs.iter().any(|(text, (number, _))| *number == 5 && body.contains(&json!(text).to_string()))
    };
    let repeated: usize = asked_for.iter().filter(|(body, _)| !cut(body)).map(|(_, n)| n - 1).sum();
    assert!(repeated <= 20 * 2, "{repeated}");
    let killed = dataset(&bench.path("run"));
    let whole = Bench::with_instructions("16");
    let fresh = self::server(&programs);
    let again = whole.annotate(&fresh.url, &["--method", "dfsdt"]);
    assert_eq!(again.status.code(), done.status.code(), "{}", shown(&again));
    assert_same_bytes(&killed, &dataset(&whole.path("run")));
}

#[test]
fn a_run_that_makes_no_instructions_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("log");
    let made = callsieve().args(["run", "--quiet", "--out"]).arg(&out).output().unwrap();
    assert!(matches!(made.status.code(), Some(0 | 1)), "{}", shown(&made));
    let refused = callsieve().arg("annotate").arg(&out).args(["--model", "m"]).output().unwrap();
    assert!(
        refused.status.code() == Some(2) && shown(&refused).contains("makes no instructions"),
        "{}",
        shown(&refused)
    );
}
