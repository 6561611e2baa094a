//! Texts, lists and answers that many rows share with many entries: one hit a row, every verdict and every count as for pairs.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::Output;

use crate::support::{callsieve, shown};
use serde_json::{Value, json};
use tempfile::TempDir;

const SHARED: &str = "Look at the log of the harbour office below and name the boats that left before noon, \
    with their berths, as a short list without any other words.";

struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, rows: &[Value]) {
        let text: String = rows.iter().map(|row| format!("{row}\n")).collect();
        fs::write(self.path(name), text).unwrap();
    }

    fn run(&self, arguments: &[&str]) -> Output {
        callsieve().current_dir(self.0.path()).args(arguments).output().unwrap()
    }

    fn done(&self, arguments: &[&str]) -> String {
        let done = self.run(arguments);
        assert_eq!(done.status.code(), Some(0), "{arguments:?}: {}", shown(&done));
        shown(&done)
    }

    /// Audits `train.jsonl` with `bench.jsonl`, and returns the hits and the report.
    fn audit(&self, more: &[&str]) -> (Vec<Value>, Value) {
        self.done(
            &[&["audit", "--train", "train.jsonl", "--bench", "bench.jsonl", "--out", "out"][..], more]
                .concat(),
        );
        (self.hits(), self.report())
    }

    fn hits(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.path("out/hits.jsonl")).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn report(&self) -> Value {
        serde_json::from_slice(&fs::read(self.path("out/audit.json")).unwrap()).unwrap()
    }
}

fn row(id: &str, text: &str) -> Value {
    json!({"id": id, "messages": [{"role": "user", "content": text}, {"role": "assistant", "content": "Done."}]})
}

/// Twelve words that nothing else has.
fn own_words(of: &str, at: usize) -> String {
    let digits =
        |n: usize| -> String { n.to_string().bytes().map(|digit| char::from(digit - b'0' + b'a')).collect() };
    (0..12).map(|word| format!("{of}{}q{}", digits(at), digits(word))).collect::<Vec<_>>().join(" ")
}

fn many(of: &str, n: usize) -> Vec<Value> {
    (0..n).map(|at| row(&format!("{of}{at}"), &format!("{SHARED} {}", own_words(of, at)))).collect()
}

#[test]
fn a_text_that_rows_share_with_many_entries_is_one_hit_a_row() {
    let folder = Folder::new();
    folder.write("bench.jsonl", &many("b", 30));
    let mut rows = many("t", 25);
    rows.push(row("other", "Mow the lawn in narrow stripes before nine."));
    // A copy of an entry shares the text with the others, too.
    rows.push(row("copy", many("b", 30)[7]["messages"][0]["content"].as_str().unwrap()));
    folder.write("train.jsonl", &rows);
    let (hits, report) = folder.audit(&["--suspect", "hold"]);
    assert_eq!(
        report["rows"],
        json!({"clean": 1, "contaminated": 1, "environment": 0, "suspect": 25, "unscorable": 0}),
        "{report}"
    );
    let of = |id: &str| hits.iter().filter(|hit| hit["train_id"] == id).collect::<Vec<_>>();
    let [hit] = &of("t3")[..] else { panic!("{:?}", of("t3")) };
    assert_eq!(
        (&hit["method"], &hit["verdict"], &hit["entries"]),
        (&json!("longest-match"), &json!("suspect"), &json!(30))
    );
    let examples: BTreeSet<&str> =
        hit["examples"].as_array().unwrap().iter().map(|one| one["record"].as_str().unwrap()).collect();
    assert_eq!((examples.len(), hit["examples"][0]["set"].as_str()), (10, Some("bench.jsonl")));
    let bytes = &hit["train_spans"][0]["bytes"];
    assert_eq!((bytes[0].as_u64(), bytes[1].as_u64()), (Some(0), Some(SHARED.len() as u64 - 1)));
    let copy: Vec<(&Value, &Value)> =
        of("copy").iter().map(|hit| (&hit["method"], &hit["entries"])).collect();
    assert_eq!(copy, [(&json!("longest-match"), &json!(29)), (&json!("exact"), &json!(1))]);
    assert_eq!((hits.len(), &report["hits"], &report["pairs"]), (27, &json!(27), &json!(25 * 30 + 29 + 1)));
    // An entry that no hit names counts all the same.
    assert_eq!(
        (&report["total"]["contaminated"], &report["total"]["suspect"]),
        (&json!(1), &json!(29)),
        "{report}"
    );
    assert_eq!(report["methods"], json!({"exact": {"contaminated": 1}, "longest-match": {"suspect": 26}}));
    // `why`, `held` and `verify` read it, and the tables have the number.
    let why = folder.done(&["why", "out", "t3"]).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(why.contains(" and 29 more, longest-match 0.") && why.contains("messages/0/content"), "{why}");
    assert!(folder.done(&["held", "out", "--format", "csv"]).contains("\"\"entries\"\":30"));
    folder.done(&["verify", "out"]);
    // Forgotten rows are gone, and the counts are those of the rows that are left.
    for id in ["copy", "t0", "t1"] {
        folder.done(&["forget", "out", "--id", id]);
    }
    let report = folder.report();
    assert_eq!(
        (&report["total"]["contaminated"], &report["total"]["suspect"]),
        (&json!(0), &json!(30)),
        "{report}"
    );
    assert_eq!(folder.hits().len(), 23);
}

#[test]
fn a_list_of_functions_and_an_answer_that_entries_share_are_one_hit_each() {
    let folder = Folder::new();
    let function = |name: &str| {
        json!({"type": "function", "function": {"name": name, "description": "Moors a boat at a pier of the harbour.",
            "parameters": {"type": "object", "properties": {format!("{name}_pier"): {"type": "string"}, format!("{name}_nights"): {"type": "integer"}}}}})
    };
    let tools = json!([function("moor_boat"), function("free_berth"), function("call_pilot")]);
    let call = |pier: &str| {
        let arguments = json!({"moor_boat_pier": pier, "moor_boat_nights": 3}).to_string();
        json!({"role": "assistant", "content": null, "tool_calls": [{"id": "c", "type": "function",
            "function": {"name": "moor_boat", "arguments": arguments}}]})
    };
    let one = |id: String, of: &str, at: usize, pier: &str| json!({"id": id, "messages": [{"role": "user", "content": own_words(of, at)}, call(pier)], "tools": tools});
    folder
        .write("bench.jsonl", &(0..20).map(|at| one(format!("b{at}"), "b", at, "north")).collect::<Vec<_>>());
    let rows: Vec<Value> =
        (0..15).map(|at| one(format!("t{at}"), "t", at, if at == 4 { "north" } else { "south" })).collect();
    folder.write("train.jsonl", &rows);
    let (hits, report) = folder.audit(&[]);
    let of = |id: &str| -> Vec<(&str, u64)> {
        let of_row = hits.iter().filter(|hit| hit["train_id"] == id);
        of_row.map(|hit| (hit["object"].as_str().unwrap(), hit["entries"].as_u64().unwrap())).collect()
    };
    let of_list = [("function", 20), ("function", 20), ("function", 20), ("functions", 20)];
    assert_eq!(of("t0"), of_list);
    assert_eq!(of("t4"), [&of_list[..], &[("call", 20)]].concat());
    assert_eq!(
        report["total"]["by_object"],
        json!({"call": 20, "function": 20, "functions": 20}),
        "{report}"
    );
    assert_eq!((&report["total"]["contaminated"], &report["rows"]["contaminated"]), (&json!(20), &json!(15)));
}

#[test]
fn entries_with_one_message_and_rows_of_one_template_are_groups() {
    let folder = Folder::new();
    let of_day = |day: usize| format!("What will the weather in Oban be like on day {day} of this year?");
    let bench: Vec<Value> = (0..15)
        .map(|at| row(&format!("same{at}"), "Ring the bell of the harbour tower"))
        .chain((0..40).map(|at| row(&format!("day{at}"), &of_day(at))))
        .collect();
    folder.write("bench.jsonl", &bench);
    let rows = [
        row("equal", "ring the bell of the harbour tower!"),
        row("other", &of_day(99)),
        row("day", &of_day(7)),
        row("inside", "We sail on. Ring the bell of the harbour tower. Then we rest."),
    ];
    folder.write("train.jsonl", &rows);
    let (hits, report) = folder.audit(&[]);
    let of = |id: &str, method: &str| -> Vec<(String, u64)> {
        let of_row = hits.iter().filter(|hit| hit["train_id"] == id && hit["method"] == method);
        of_row
            .map(|hit| (hit["verdict"].as_str().unwrap().to_owned(), hit["entries"].as_u64().unwrap()))
            .collect()
    };
    let sure = |n: u64| vec![("contaminated".to_owned(), n)];
    assert_eq!(of("equal", "exact"), sure(15));
    assert_eq!(of("inside", "contained"), sure(15));
    assert_eq!(of("other", "template"), sure(40));
    assert_eq!((of("day", "template"), of("day", "exact")), (sure(39), sure(1)));
    assert_eq!(report["total"]["contaminated"], 55, "{report}");
    assert!(hits.len() < 40, "{}", hits.len());
}

#[test]
fn a_set_against_itself_has_groups_of_earlier_entries_only() {
    let folder = Folder::new();
    folder.write("bench.jsonl", &many("b", 40));
    folder.done(&["audit", "--train", "bench.jsonl", "--bench", "bench.jsonl", "--out", "out"]);
    let n_of = |id: &str| -> u64 {
        folder
            .hits()
            .iter()
            .filter(|hit| hit["train_id"] == id)
            .map(|hit| hit["entries"].as_u64().unwrap())
            .sum()
    };
    assert_eq!([n_of("b0"), n_of("b1"), n_of("b10"), n_of("b11"), n_of("b39")], [0, 1, 10, 11, 39]);
    let report = folder.report();
    // The last one is before no other.
    assert_eq!(
        (&report["total"]["suspect"], &report["rows"]["suspect"]),
        (&json!(39), &json!(39)),
        "{report}"
    );
}

#[test]
fn the_number_of_threads_and_parts_changes_no_hit_of_a_group() {
    let folder = Folder::new();
    folder.write("bench.jsonl", &many("b", 30));
    folder.write("train.jsonl", &many("t", 40));
    let (hits, report) = folder.audit(&["--threads", "1"]);
    fs::remove_dir_all(folder.path("out")).unwrap();
    assert_eq!(folder.audit(&["--threads", "3"]), (hits.clone(), report.clone()));
    fs::remove_dir_all(folder.path("out")).unwrap();
    let pipeline = concat!(env!("CARGO_MANIFEST_DIR"), "/pipelines/audit.toml");
    let set = "drop-benchmark-overlap.benchmarks=[\"bench.jsonl\"]";
    folder.done(&["run", pipeline, "train.jsonl", "--set", set, "--parts", "3", "--out", "out"]);
    assert_eq!((folder.hits(), folder.report()), (hits, report));
}
