//! Tests of names of rows: `why`, `held`, `forget` and decisions mean the same row by the same name, and refuse a name that
//! leads to two. Who writes a log chooses its ids, so one may be the id of another request, or of an entry.

use std::path::PathBuf;
use std::process::Output;

use crate::support::{callsieve, shown};
use callsieve::engine::frame::FrameFile;
use serde_json::{Value, json};

const NOTE: &str = r#"[{"name":"send_note","description":"Sends a note to somebody.","parameters":{"type":"dict","required":["text"],"properties":{"text":{"type":"string","description":"What it says."}}}}]"#;
const PROMPTS: [&str; 3] = [
    "Send a note that the kiln is cold",
    "Please write down that the ferry leaves at six",
    "Note for me: buy candles",
];

/// Without judges, so that every request becomes an entry.
const STAGES: [&str; 8] = [
    "redact",
    "collapse-conversations",
    "parse-docs",
    "merge-exact-docs",
    "merge-near-queries",
    "fix-docs",
    "draft-answers",
    "split",
];

/// A folder with a log of three requests, which have the ids that they are given, and runs of it.
struct Home(tempfile::TempDir);

/// A request of a run: its request id, the entry made from it and its list.
struct Names {
    request: String,
    entry: String,
    list: String,
}

impl Home {
    fn new(ids: [&str; 3]) -> Self {
        let home = Self(tempfile::tempdir().unwrap());
        let stages: Vec<String> =
            STAGES.iter().map(|kind| format!("[[stages]]\nkind = \"{kind}\"\n")).collect();
        let pipeline = format!(
            "name = \"names\"\nmax_fault_share = 1.0\n[ingest]\ninputs = [\"log.jsonl\"]\n{}[export]\n",
            stages.concat()
        );
        std::fs::write(home.path("p.toml"), pipeline).unwrap();
        home.write_log(ids);
        home
    }

    fn write_log(&self, ids: [&str; 3]) {
        let row = |(nth, id): (usize, &str)| {
            let text = PROMPTS[nth].split(' ').next_back().unwrap();
            json!({"id": id, "ts": 1_700_000_000 + nth, "prompt": PROMPTS[nth], "function": NOTE,
                "response": format!("[send_note(text='{text}')]")})
        };
        let lines: Vec<String> = ids.into_iter().enumerate().map(|row_of| row(row_of).to_string()).collect();
        std::fs::write(self.path("log.jsonl"), lines.join("\n") + "\n").unwrap();
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn call(&self, arguments: &[&str]) -> Output {
        callsieve().current_dir(self.0.path()).args(arguments).output().unwrap()
    }

    fn run(&self, out: &str) -> [Names; 3] {
        let output = self.call(&["run", "-q", "p.toml", "--out", out, "--fresh"]);
        assert!(output.status.success(), "{}", shown(&output));
        let frame = FrameFile::open(&self.path(out).join("entries.parquet")).unwrap().read_all().unwrap();
        let entry_of = |row: usize| {
            let cell = |name: &str| frame.texts(name).unwrap().get(row).unwrap().to_owned();
            Names { request: cell("request_id"), entry: cell("id"), list: cell("list_id") }
        };
        let mut names: Vec<Names> = (0..frame.height()).map(entry_of).collect();
        assert_eq!(names.len(), 3);
        let order = |names: &Names| {
            let story = shown(&self.call(&["why", out, &format!("request:{}", names.request)]));
            PROMPTS.iter().position(|prompt| story.contains(prompt)).unwrap()
        };
        names.sort_by_key(order);
        names.try_into().ok().unwrap()
    }

    /// Runs with these decisions; returns the output and the lines that were not applied, with the reason.
    fn decided(&self, decisions: &[Value]) -> (Output, Vec<(u64, String)>) {
        let lines: Vec<String> = decisions.iter().map(ToString::to_string).collect();
        std::fs::write(self.path("decisions.jsonl"), lines.join("\n")).unwrap();
        let output = self.call(&[
            "run",
            "-q",
            "p.toml",
            "--out",
            "decided",
            "--fresh",
            "--decisions",
            "decisions.jsonl",
        ]);
        let report = std::fs::read(self.path("decided").join("report.json")).unwrap_or_default();
        let report: Value = serde_json::from_slice(&report).unwrap_or_default();
        let left = report["notes"]["split"]["decisions_not_applied"].as_array().cloned().unwrap_or_default();
        let left = left
            .iter()
            .map(|left| (left["line"].as_u64().unwrap(), left["why"].as_str().unwrap().to_owned()));
        (output, left.collect())
    }
}

/// What `why` shows: the question of the one request that it shows, or the refusal.
fn question(output: &Output) -> Result<usize, String> {
    let text = shown(output);
    if output.status.code() == Some(2) {
        return Err(text);
    }
    assert_eq!(text.matches("\nstory\n").count(), 1, "{text}");
    Ok(PROMPTS.iter().position(|prompt| text.contains(prompt)).unwrap())
}

#[test]
fn an_id_of_the_log_that_is_another_name_of_another_row_is_refused_by_every_command_and_a_prefix_says_which()
{
    let home = Home::new(["a1", "b2", "c3"]);
    let names = home.run("out");
    let [first, ..] = &names;
    // The second request takes a name of the first.
    for (kind, name, prefixed) in [
        ("entry", first.entry.clone(), format!("entry:{}", first.entry)),
        ("request", first.request.clone(), format!("request:{}", first.request)),
        ("request", first.request[..12].to_owned(), format!("request:{}", &first.request[..12])),
        ("request", first.request[..20].to_uppercase(), format!("request:{}", &first.request[..20])),
        ("place", "log.jsonl:1".to_owned(), "place:log.jsonl:1".to_owned()),
        ("place", "log.jsonl#1".to_owned(), "place:log.jsonl#1".to_owned()),
    ] {
        home.write_log(["a1", &name, "c3"]);
        let again = home.run("out");
        assert_eq!((&again[0].request, &again[0].entry), (&first.request, &first.entry), "{name}");
        let external = format!("external:{name}");
        for call in [
            &["why", "out", &name][..],
            &["held", "out", "--unverified", "--id", &name],
            &["held", "out", "--unverified", "--id", &name, "--decide", "accept"],
            &["forget", "out", "--id", &name],
            &["forget", "out", "--id", &name, "--all"],
        ] {
            let output = home.call(call);
            let text = shown(&output);
            assert_eq!(output.status.code(), Some(2), "{call:?}: {text}");
            for (prefix, row) in [(kind, &again[0]), ("external", &again[1])] {
                let line = text.lines().find(|line| line.starts_with(&format!("  {prefix}:{name}  ")));
                assert!(line.is_some_and(|line| line.contains(&row.request)), "{call:?}: {text}");
            }
            assert!(text.contains("hint: write the prefix as in this list"), "{text}");
        }
        assert_eq!(question(&home.call(&["why", "out", &prefixed])), Ok(0), "{prefixed}");
        assert_eq!(question(&home.call(&["why", "out", &external])), Ok(1), "{external}");
        for (written, row) in [(&prefixed, 0), (&external, 1)] {
            let listed = home.call(&["held", "out", "--unverified", "--id", written, "--format", "jsonl"]);
            let listed = String::from_utf8(listed.stdout).unwrap();
            assert!(
                listed.lines().count() == 1 && listed.contains(&again[row].request),
                "{written}: {listed}"
            );
        }
        let forgotten = shown(&home.call(&["forget", "out", "--id", &external, "--json"]));
        assert!(
            forgotten.contains(&again[1].request) && !forgotten.contains(&again[0].request),
            "{forgotten}"
        );
        let forgotten = shown(&home.call(&["forget", "out", "--id", &prefixed, "--json"]));
        assert!(forgotten.contains(&again[0].request), "{prefixed}: {forgotten}");
        std::fs::remove_dir_all(home.path("out")).unwrap();
    }
    // A list has names, too.
    home.write_log(["a1", &first.list, "c3"]);
    home.run("out");
    let refused = question(&home.call(&["why", "out", &first.list])).unwrap_err();
    assert!(refused.contains(&format!("  list:{}  a list id of list ", first.list)), "{refused}");
    let list = shown(&home.call(&["why", "out", &format!("list:{}", first.list)]));
    assert!(list.starts_with("exit: 0\n--- stdout\nlist "), "{list}");
    let refused = shown(&home.call(&["forget", "out", "--id", &format!("list:{}", first.list)]));
    assert!(refused.contains("and no record\nhint: a doc list goes with its last record"), "{refused}");
}

#[test]
fn a_prefix_is_no_part_of_a_name_and_a_name_with_one_is_found_behind_another() {
    let home = Home::new(["request:7", "b2", "entry:b2"]);
    let names = home.run("out");
    for (written, row) in [("external:request:7", 0), ("b2", 1), ("external:b2", 1), ("external:entry:b2", 2)]
    {
        assert_eq!(question(&home.call(&["why", "out", written])), Ok(row), "{written}");
    }
    for written in ["request:7", "entry:b2", "request:b2", "place:b2", "list:b2"] {
        let refused = question(&home.call(&["why", "out", written])).unwrap_err();
        let hint = format!("; `external:{written}` is the id of the log with this beginning");
        assert!(
            refused.contains(&format!("no row {written} in out\nhint: ")) && refused.contains(&hint),
            "{refused}"
        );
    }
    // The start of two ids is that of neither.
    let common =
        (1..32).rev().map(|n| &names[0].request[..n]).find(|start| names[1].request.starts_with(start));
    if let Some(start) = common.filter(|start| start.len() >= 4) {
        let refused = question(&home.call(&["why", "out", start])).unwrap_err();
        assert!(refused.contains("is the start of 2 request ids"), "{refused}");
    }
}

#[test]
fn a_decision_on_a_name_of_two_rows_is_not_applied_and_one_with_a_prefix_is() {
    let home = Home::new(["a1", "b2", "c3"]);
    let [first, ..] = home.run("out");
    for (name, prefixed) in [
        (first.request.clone(), format!("request:{}", first.request)),
        (first.request[..10].to_owned(), format!("request:{}", &first.request[..10])),
    ] {
        home.write_log(["a1", &name, "c3"]);
        let drop = |id: &str| json!({"id": id, "decision": "drop"});
        let (output, left) = home.decided(&[drop(&name)]);
        let why = "it is a request id and the log's own id, of different rows; write request: or external: before it, or the whole id of the row";
        assert_eq!(left, [(1, why.to_owned())], "{}", shown(&output));
        let rows = || {
            let frame =
                FrameFile::open(&home.path("decided").join("rows.parquet")).unwrap().read_all().unwrap();
            let [ids, fates] = ["request_id", "fate"].map(|name| frame.texts(name).unwrap());
            (0..frame.height())
                .filter(|&row| fates.get(row) == Some("dropped"))
                .map(|row| ids.get(row).unwrap().to_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(rows(), [""; 0]);
        let (_, left) = home.decided(&[drop(&prefixed)]);
        assert_eq!((left, rows()), (vec![], vec![first.request.clone()]));
        let (_, left) = home.decided(&[drop(&format!("external:{name}"))]);
        assert!(left.is_empty() && rows().len() == 1 && rows()[0] != first.request, "{left:?}");
    }
    // Entries are numbered anew by each run, so their ids name no row of the next one.
    for id in [first.entry.clone(), format!("entry:{}", first.entry), "place:log.jsonl:1".to_owned()] {
        let (output, _) =
            home.decided(&[json!({"id": "c3", "decision": "keep"}), json!({"id": id, "decision": "drop"})]);
        let text = shown(&output);
        let fault = format!("decisions decisions.jsonl:2: \"id\": found {}, expected the ", json!(id));
        assert!(output.status.code() == Some(2) && text.contains(&fault), "{text}");
    }
    home.write_log([&first.entry, "b2", "c3"]);
    let (output, left) =
        home.decided(&[json!({"id": format!("external:{}", first.entry), "decision": "drop"})]);
    assert_eq!(left, [], "{}", shown(&output));
}

#[test]
fn answers_that_contradict_each_other_under_two_ids_stop_the_run_and_equal_ones_do_not() {
    let home = Home::new(["a1", "b2", "c3"]);
    let [first, ..] = home.run("out");
    let answer = |id: &str, text: &str| json!({"id": id, "decision": "answer", "ground_truth": [{"send_note": {"text": [text]}}]});
    let start = &first.request[..10];
    let other = json!({"request": start, "ground_truth": [{"send_note": {"text": ["warm"]}}]});
    let (external, request) = (format!("external:{}", "a1"), format!("request:{}", first.request));
    for (rows, lines) in [
        (vec![answer("a1", "cold"), other.clone()], [1, 2]),
        (vec![json!({"id": "b2", "decision": "keep"}), other, answer(&external, "cold")], [2, 3]),
        (vec![answer("a1", "cold"), json!({"id": request, "decision": "drop"})], [1, 2]),
        (
            vec![
                json!({"id": start, "decision": "relabel", "relevance": "irrelevant"}),
                answer("a1", "cold"),
            ],
            [1, 2],
        ),
        (vec![json!({"id": "a1", "decision": "keep"}), json!({"id": external, "decision": "drop"})], [1, 2]),
    ] {
        let (output, _) = home.decided(&rows);
        let text = shown(&output);
        let [earlier, later] = lines.map(|line| format!("decisions.jsonl:{line}"));
        let names_both = text.contains(&format!("decisions {later}: "))
            && text.contains(&format!(" contradicts {earlier} ("));
        assert!(output.status.code() == Some(2) && names_both, "{rows:?}: {text}");
        assert!(!home.path("decided").join("dataset").exists());
    }
    let (output, left) = home.decided(&[answer("a1", "cold"), answer(start, "cold")]);
    assert!(output.status.success(), "{}", shown(&output));
    assert_eq!(left.len(), 1, "the second has nothing left to do");
    assert!(left[0].1.ends_with("decides the same row"), "{left:?}");
    let (output, left) = home.decided(&[json!({"id": "a1", "decision": "keep"}), answer(start, "cold")]);
    assert!(output.status.success() && left.is_empty(), "{}", shown(&output));
    // Two files.
    std::fs::write(home.path("more.jsonl"), answer(start, "warm").to_string()).unwrap();
    std::fs::write(home.path("decisions.jsonl"), answer("a1", "cold").to_string()).unwrap();
    let files = ["--decisions", "more.jsonl", "--decisions", "decisions.jsonl"];
    let output = home.call(&[&["run", "-q", "p.toml", "--out", "decided", "--fresh"], &files[..]].concat());
    let text = shown(&output);
    assert!(text.contains("decisions decisions.jsonl:1: answer contradicts more.jsonl:1 (answer)"), "{text}");
}

#[test]
fn an_id_of_the_log_that_several_requests_have_means_the_one_that_is_kept() {
    let home = Home::new(["a1", "b2", "c3"]);
    // The same request once more, with the same id: it is merged into the first.
    let log = std::fs::read_to_string(home.path("log.jsonl")).unwrap();
    let again = log.lines().next().unwrap().replace("1700000000", "1700000900");
    std::fs::write(home.path("log.jsonl"), format!("{log}{again}\n")).unwrap();
    let (output, left) = home.decided(&[json!({"id": "a1", "decision": "drop"})]);
    assert!(output.status.success() && left.is_empty(), "{left:?} {}", shown(&output));
    let frame = FrameFile::open(&home.path("decided").join("rows.parquet")).unwrap().read_all().unwrap();
    let [reasons, fates] = ["reason", "fate"].map(|name| frame.texts(name).unwrap());
    let of_a_person = (0..frame.height()).filter(|&row| reasons.get(row) == Some("decision/dropped"));
    assert_eq!(of_a_person.map(|row| fates.get(row)).collect::<Vec<_>>(), [Some("dropped")]);
    // Commands that only read show both, and those that act name them.
    let both = shown(&home.call(&["why", "decided", "a1"]));
    assert_eq!(both.matches("\nstory\n").count(), 2, "{both}");
    let refused = shown(&home.call(&["forget", "decided", "--id", "a1"]));
    assert!(refused.contains("a1 is the id of 2 records of decided:\n  "), "{refused}");
}
