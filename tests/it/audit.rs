//! The contamination audit through the command: every kind of overlap, cleaned sets, forms of files, refusals.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::process::Output;

use crate::support::{callsieve, shown};
use serde_json::{Value, json};
use tempfile::TempDir;

const TIDE: &str = "What time is high tide in Leith on Friday, and how high will the water be?";
const FERRY: &str = "Book two seats on the ferry from Oban to Mull at 9:15, near the window.";
const SHORT: &str = "How high?";

/// Functions of the benchmark, in BFCL's form.
fn functions() -> Value {
    json!([
        {"name": "harbour.tide", "description": "Returns the time and height of the next high tide in a harbour.",
            "parameters": {"type": "dict", "required": ["port"], "properties": {
                "port": {"type": "string", "description": "The harbour whose tide is wanted."},
                "weekday": {"type": "string", "description": "The day of the week, in English."}}}},
        {"name": "book_ferry", "description": "Books seats on a ferry between two islands.",
            "parameters": {"type": "dict", "required": ["from_port", "to_port", "seats"], "properties": {
                "from_port": {"type": "string", "description": "Where the ferry leaves."},
                "to_port": {"type": "string", "description": "Where the ferry arrives."},
                "seats": {"type": "integer", "description": "How many seats are booked."}}}},
    ])
}

/// A benchmark of three entries, and a folder for the rest.
struct Bench {
    folder: TempDir,
}

impl Bench {
    fn new() -> Self {
        let this = Self { folder: tempfile::tempdir().unwrap() };
        let functions = functions();
        let entries = [
            json!({"id": "tide-0", "question": [[{"role": "user", "content": TIDE}]], "function": [functions[0]]}),
            json!({"id": "ferry-1", "question": [[{"role": "user", "content": FERRY}]], "function": [functions[1]]}),
            json!({"id": "short-2", "question": [[{"role": "user", "content": SHORT}]], "function": [functions[0]]}),
        ];
        let answers = [
            json!({"id": "tide-0", "ground_truth": [{"harbour.tide": {"port": ["Leith"], "weekday": ["Friday", ""]}}]}),
            json!({"id": "ferry-1", "ground_truth": [{"book_ferry": {"from_port": ["Oban"], "to_port": ["Mull"], "seats": [2]}}]}),
            json!({"id": "short-2", "ground_truth": [{"harbour.tide": {"port": ["Leith"]}}]}),
        ];
        this.write("bench/BFCL_v4_simple_python.json", &lines(&entries));
        this.write("bench/possible_answer/BFCL_v4_simple_python.json", &lines(&answers));
        this
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs::write(self.path(name), text).unwrap();
    }

    fn audit(&self, arguments: &[&str]) -> Output {
        callsieve().current_dir(self.folder.path()).arg("audit").args(arguments).output().unwrap()
    }

    /// Audits a file into a folder, and returns its hits by row.
    fn hits(&self, train: &str, out: &str) -> BTreeMap<String, Vec<Value>> {
        let done = self.audit(&["--train", train, "--bench", "bench", "--out", out]);
        assert_eq!(done.status.code(), Some(0), "{}", shown(&done));
        let text = fs::read_to_string(self.path(&format!("{out}/hits.jsonl"))).unwrap();
        let mut hits: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        for line in text.lines() {
            let hit: Value = serde_json::from_str(line).unwrap();
            hits.entry(hit["train_id"].as_str().unwrap().to_owned()).or_default().push(hit);
        }
        hits
    }

    fn report(&self, out: &str) -> Value {
        serde_json::from_slice(&fs::read(self.path(&format!("{out}/audit.json"))).unwrap()).unwrap()
    }
}

fn lines(values: &[Value]) -> String {
    values.iter().fold(String::new(), |mut text, value| {
        writeln!(text, "{value}").unwrap();
        text
    })
}

/// Functions that nothing of the benchmark has.
fn other() -> Value {
    json!([{"type": "function", "function": {"name": "mow_lawn", "description": "Mows the lawn behind the house.",
        "parameters": {"type": "object", "properties": {"stripes": {"type": "boolean", "description": "In stripes."}}}}}])
}

fn row(id: &str, query: &str, tools: &Value) -> Value {
    json!({"id": id, "messages": [{"role": "user", "content": query}, {"role": "assistant", "content": "Done."}], "tools": tools})
}

/// As `fine-tuning` rows have them.
fn tool(function: &Value) -> Value {
    json!([{"type": "function", "function": function}])
}

/// One row of each kind, with the entry that it overlaps.
fn planted() -> Vec<(&'static str, Option<&'static str>, &'static str, Value)> {
    let functions = functions();
    let mut described = functions[1].clone();
    described["description"] = json!("For trips over the sound; reserves places.");
    for name in ["from_port", "to_port", "seats"] {
        described["parameters"]["properties"][name]["description"] = json!("As the traveller says.");
    }
    let mut renamed = functions[1].clone();
    renamed["name"] = json!("reserve_places");
    let mut called = row("call", "Two of us want to cross.", &other());
    called["messages"][1] = json!({"role": "assistant", "tool_calls": [{"id": "c", "type": "function", "function": {
        "name": "book_ferry", "arguments": "{\"seats\": 2, \"to_port\": \"Mull\", \"from_port\": \"oban\"}"}}]});
    let mut conversation = row("conversation", "Hello there, nice day.", &other());
    let turns = conversation["messages"].as_array_mut().unwrap();
    turns.push(json!({"role": "user", "content": TIDE}));
    turns.push(json!({"role": "assistant", "content": "At noon."}));
    let long = format!(
        "We are four friends on a trip along the coast. {TIDE} Then we would like to find a place for dinner."
    );
    vec![
        ("verbatim", Some("tide-0"), "query", row("verbatim", TIDE, &other())),
        ("case", Some("tide-0"), "query", row("case", &TIDE.to_uppercase().replace('?', " !"), &other())),
        ("numbers", Some("ferry-1"), "query", row("numbers", &FERRY.replace("9:15", "17:40"), &other())),
        (
            "synonyms",
            Some("tide-0"),
            "query",
            row("synonyms", &TIDE.replace("how high will", "how deep will"), &other()),
        ),
        (
            "reordered",
            Some("ferry-1"),
            "query",
            row(
                "reordered",
                "Near the window, book two seats on the ferry from Oban to Mull at 9:15.",
                &other(),
            ),
        ),
        ("embedded", Some("tide-0"), "query", row("embedded", &long, &other())),
        ("short", Some("short-2"), "query", row("short", "how high", &other())),
        ("conversation", Some("tide-0"), "query", conversation),
        ("docs", Some("ferry-1"), "functions", row("docs", "Anything else?", &tool(&functions[1]))),
        ("described", Some("ferry-1"), "function", row("described", "Anything more?", &tool(&described))),
        ("renamed", Some("ferry-1"), "function", row("renamed", "Nothing else?", &tool(&renamed))),
        ("call", Some("ferry-1"), "call", called),
        (
            "clean",
            None,
            "",
            row("clean", "Mow the lawn in stripes before the guests arrive at nine.", &other()),
        ),
        (
            "like",
            None,
            "",
            row("like", "Book two seats in the theatre from row nine on, near the aisle.", &other()),
        ),
    ]
}

#[test]
fn every_kind_of_overlap_is_found_with_its_entry_and_nothing_else_is_contaminated() {
    let bench = Bench::new();
    let planted = planted();
    bench.write("train.jsonl", &lines(&planted.iter().map(|(.., row)| row.clone()).collect::<Vec<_>>()));
    let hits = bench.hits("train.jsonl", "out");
    let contaminated = |id: &str| -> Vec<(&str, &str)> {
        let of =
            hits.get(id).map_or(&[][..], Vec::as_slice).iter().filter(|hit| hit["verdict"] == "contaminated");
        of.map(|hit| (hit["bench_id"].as_str().unwrap(), hit["object"].as_str().unwrap())).collect()
    };
    for (id, entry, object, _) in &planted {
        match entry {
            Some(entry) => assert!(contaminated(id).contains(&(entry, object)), "{id}: {:?}", hits.get(*id)),
            None => assert_eq!(contaminated(id), [], "{id}"),
        }
    }
    // The places are those of the words: of the row in its message, of the entry in its own.
    let embedded = hits["embedded"].iter().find(|hit| hit["method"] == "contained").unwrap();
    let bytes = &embedded["train_spans"][0]["bytes"];
    let (start, end) = (bytes[0].as_u64().unwrap(), bytes[1].as_u64().unwrap());
    let long = planted[5].3["messages"][0]["content"].as_str().unwrap();
    assert_eq!(
        &long[usize::try_from(start).unwrap()..usize::try_from(end).unwrap()],
        TIDE.trim_end_matches('?')
    );
    let turn = &hits["conversation"][0];
    assert_eq!(
        (turn["train_spans"][0]["path"].as_str(), turn["bench_spans"][0]["path"].as_str()),
        (Some("/2/content"), Some("/0"))
    );
    assert_eq!(
        (&hits["case"][0]["bench_category"], &hits["case"][0]["line"]),
        (&json!("v4_simple_python"), &json!(2))
    );
    // The counts add up, and the text of neither side is in the results.
    let report = bench.report("out");
    assert_eq!(
        report["rows"],
        json!({"clean": 2, "contaminated": 12, "environment": 0, "suspect": 0, "unscorable": 0}),
        "{report}"
    );
    assert_eq!((&report["total"]["entries"], &report["total"]["contaminated"]), (&json!(3), &json!(3)));
    assert_eq!(report["train"][0]["removed"], 12);
    for name in ["hits.jsonl", "audit.json", "removed.jsonl", "statement.md", "report.json", "report.html"] {
        let text = fs::read_to_string(bench.path(&format!("out/{name}"))).unwrap();
        assert!(!text.contains("high tide") && !text.contains("Books seats"), "{name}");
    }
    assert!(fs::read_to_string(bench.path("out/statement.md")).unwrap().contains("14 training rows"));
    // The cleaned set has the other rows, byte for byte, and nothing is found in it.
    let cleaned = fs::read_to_string(bench.path("out/dataset/train.jsonl")).unwrap();
    assert_eq!(cleaned, lines(&[planted[12].3.clone(), planted[13].3.clone()]));
    assert!(bench.hits("out/dataset/train.jsonl", "again").is_empty());
    // The same bytes again, into the same folder.
    let before = fs::read(bench.path("out/hits.jsonl")).unwrap();
    bench.hits("train.jsonl", "out");
    assert_eq!(fs::read(bench.path("out/hits.jsonl")).unwrap(), before);
}

#[test]
fn a_row_without_anything_to_compare_is_unscorable_and_stays() {
    let bench = Bench::new();
    let text = "{\"id\": \"empty\", \"messages\": [{\"role\": \"user\", \"content\": \"…\"}]}\n\nnot json\n{\"id\": 7, \"text\": \"Mow the lawn.\"}\n";
    bench.write("odd.jsonl", text);
    assert!(bench.hits("odd.jsonl", "out").is_empty());
    let report = bench.report("out");
    assert_eq!(
        report["rows"],
        json!({"clean": 1, "contaminated": 0, "environment": 0, "suspect": 0, "unscorable": 1}),
        "{report}"
    );
    assert_eq!((&report["train"][0]["rows"], &report["train"][0]["unreadable"]), (&json!(2), &json!(1)));
    assert_eq!(fs::read_to_string(bench.path("out/dataset/odd.jsonl")).unwrap(), text);
}

#[test]
fn sets_of_every_form_are_read_and_cleaned_in_their_form() {
    let bench = Bench::new();
    let clean = "Mow the lawn in stripes.";
    let table = format!("id,text\na,\"{TIDE}\"\nb,{clean}\n");
    bench.write("table.csv", &table);
    let done = bench.audit(&["--train", "table.csv", "--field", "text", "--bench", "bench", "--out", "csv"]);
    assert_eq!(done.status.code(), Some(0), "{}", shown(&done));
    assert_eq!(
        fs::read_to_string(bench.path("csv/dataset/table.csv")).unwrap(),
        format!("id,text\nb,{clean}\n")
    );
    let list = serde_json::to_string_pretty(&json!([
        {"conversations": [{"from": "human", "value": TIDE}, {"from": "gpt", "value": "Noon."}]},
        {"conversations": [{"from": "human", "value": clean}, {"from": "gpt", "value": "Done."}]},
    ]))
    .unwrap();
    bench.write("list.json", &list);
    assert_eq!(bench.hits("list.json", "json").len(), 1);
    let cleaned: Value =
        serde_json::from_slice(&fs::read(bench.path("json/dataset/list.json")).unwrap()).unwrap();
    assert_eq!(cleaned.as_array().unwrap().len(), 1);
    assert_eq!(cleaned[0]["conversations"][0]["value"], clean);
    let instruct = lines(&[
        json!({"instruction": "Answer the question.", "input": TIDE, "output": "Noon."}),
        json!({"prompt": clean}),
    ]);
    let file = fs::File::create(bench.path("instruct.jsonl.gz")).unwrap();
    let mut packed = flate2::write::GzEncoder::new(file, flate2::Compression::default());
    std::io::Write::write_all(&mut packed, instruct.as_bytes()).unwrap();
    packed.finish().unwrap();
    let docs = json!({"definition": "def book_ferry(from_port: str, to_port: str, seats: int):\n    \"\"\"Books.\"\"\"\n"});
    bench.write("docs.jsonl", &lines(&[docs]));
    assert_eq!(bench.hits("docs.jsonl", "docs")["docs.jsonl:1"][0]["method"], "name-parameters");
    assert_eq!(bench.hits("instruct.jsonl.gz", "gz").len(), 1);
    let packed = fs::File::open(bench.path("gz/dataset/instruct.jsonl.gz")).unwrap();
    let cleaned = std::io::read_to_string(flate2::read::GzDecoder::new(packed)).unwrap();
    assert_eq!(cleaned, instruct.lines().nth(1).unwrap().to_owned() + "\n");
}

#[test]
fn a_benchmark_against_itself_shows_each_duplicate_once_and_keeps_the_first() {
    let bench = Bench::new();
    let entry = |id: &str, text: &str, at: usize| json!({"id": id, "question": [[{"role": "user", "content": text}]], "function": [functions()[at]]});
    bench.write(
        "twice/BFCL_v4_live_simple.json",
        &lines(&[entry("a", TIDE, 0), entry("b", FERRY, 1), entry("c", &TIDE.to_lowercase(), 0)]),
    );
    let file = "twice/BFCL_v4_live_simple.json";
    let done = bench.audit(&["--train", file, "--bench", file, "--out", "out"]);
    assert_eq!(done.status.code(), Some(0), "{}", shown(&done));
    let hits = fs::read_to_string(bench.path("out/hits.jsonl")).unwrap();
    let pairs: Vec<(String, String)> = hits
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|hit| hit["object"] == "query")
        .map(|hit| {
            (hit["train_id"].as_str().unwrap().to_owned(), hit["bench_id"].as_str().unwrap().to_owned())
        })
        .collect();
    assert_eq!(pairs, [("c".into(), "a".into())]);
}

#[test]
fn a_copy_of_the_benchmark_under_another_path_is_contaminated_row_by_row() {
    let bench = Bench::new();
    let text = fs::read_to_string(bench.path("bench/BFCL_v4_simple_python.json")).unwrap();
    bench.write("sets/part-3.jsonl", &text);
    let done = bench.audit(&["--train", "sets/part-3.jsonl", "--bench", "bench", "--out", "out"]);
    assert!(!shown(&done).contains("is a file of the benchmark"), "{}", shown(&done));
    assert_eq!(bench.report("out")["rows"]["contaminated"], 3);
    assert_eq!(fs::read_to_string(bench.path("out/dataset/part-3.jsonl")).unwrap(), "");
    let done =
        bench.audit(&["--train", "bench/BFCL_v4_simple_python.json", "--bench", "bench", "--out", "itself"]);
    let text = shown(&done).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("bench/BFCL_v4_simple_python.json is a file of the benchmark"), "{text}");
    assert_eq!(bench.report("itself")["train"][0]["is_benchmark"], true);
    assert!(
        fs::read_to_string(bench.path("itself/statement.md")).unwrap().contains("compared with themselves")
    );
}

#[test]
fn a_message_with_other_numbers_is_found_inside_another_and_example_functions_alone_are_suspect() {
    let bench = Bench::new();
    let dates = "Keep two berths from 2024-05-06 to 2024-06-07 at 19:30 please";
    let dated =
        format!("Hello. {} Thanks a lot", "Keep two berths from 2055-36-37 to 2056-38-39 at 50:61 please.");
    let wrapped = format!("Please {} thanks!", FERRY.replace("9:15", "17:40").replace('.', ","));
    let bmi = json!({"name": "calculate_bmi", "description": "Body mass index.", "parameters": {"type": "object", "properties": {
        "weight": {"type": "number"}, "height": {"type": "number"}}}});
    let mut own = bmi.clone();
    own["description"] = json!("Tells whether somebody eats enough.");
    let mut entry = json!({"id": "bmi", "question": [[{"role": "user", "content": "Am I too heavy at 80 kg and 1.7 m?"}]]});
    entry["function"] = json!([bmi]);
    let mut berths = entry.clone();
    berths["id"] = json!("berths");
    berths["function"] = json!([functions()[1]]);
    berths["question"][0][0]["content"] = json!(dates);
    bench.write("more/BFCL_v4_live_simple.json", &lines(&[entry, berths]));
    bench.write(
        "train.jsonl",
        &lines(&[
            row("wrapped", &wrapped, &other()),
            row("dated", &dated, &other()),
            row("example", "Mow the lawn.", &tool(&own)),
            row("same", "Mow the lawns.", &tool(&bmi)),
        ]),
    );
    let done = bench.audit(&["--train", "train.jsonl", "--bench", "bench", "more", "--out", "out"]);
    assert_eq!(done.status.code(), Some(0), "{}", shown(&done));
    let hits = fs::read_to_string(bench.path("out/hits.jsonl")).unwrap();
    let found: Vec<(String, String, String)> = hits
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|hit| ["template", "name-parameters"].contains(&hit["method"].as_str().unwrap()))
        .map(|hit| ["train_id", "method", "verdict"].map(|key| hit[key].as_str().unwrap().to_owned()).into())
        .collect();
    let expected = [
        ("wrapped", "template", "contaminated"),
        ("dated", "template", "contaminated"),
        ("example", "name-parameters", "suspect"),
        ("same", "name-parameters", "contaminated"),
    ];
    let expected: Vec<(String, String, String)> =
        expected.map(|(id, method, verdict)| (id.into(), method.into(), verdict.into())).into();
    assert_eq!(found, expected);
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let bench = Bench::new();
    let planted = planted();
    bench.write("train.jsonl", &lines(&planted.iter().map(|(.., row)| row.clone()).collect::<Vec<_>>()));
    let hits = |threads: &str| {
        let done = bench.audit(&[
            "--train",
            "train.jsonl",
            "--bench",
            "bench",
            "--out",
            threads,
            "--threads",
            threads,
        ]);
        assert_eq!(done.status.code(), Some(0), "{}", shown(&done));
        fs::read_to_string(bench.path(&format!("{threads}/hits.jsonl"))).unwrap()
    };
    assert_eq!(hits("1"), hits("3"));
}

#[test]
fn the_rate_is_a_gate_and_what_cannot_be_audited_is_refused_with_a_way_on() {
    let bench = Bench::new();
    bench.write("train.jsonl", &lines(&[row("verbatim", TIDE, &other())]));
    let audit = |more: &[&str]| {
        bench.audit(&[&["--train", "train.jsonl", "--bench", "bench", "--out", "out"][..], more].concat())
    };
    assert_eq!(audit(&["--max-rate", "0.5"]).status.code(), Some(0));
    let over = audit(&["--max-rate", "0.3"]);
    assert!(
        over.status.code() == Some(1) && shown(&over).contains("gate failed: 33.3 % of the entries"),
        "{}",
        shown(&over)
    );
    bench.write("mine/notes.txt", "keep");
    bench.write("empty/BFCL_v4_simple_python.json", "");
    bench.write("bad/BFCL_v4_simple_python.json", "{\"id\": \"x\"}\n");
    bench.write("rows.parquet", "PAR1");
    for (arguments, expected) in [
        (&["--train", "train.jsonl", "--bench", "bench", "--out", "mine"][..], "mine"),
        (&["--train", "train.jsonl", "--bench", "empty"], "no entry of a benchmark in empty"),
        (
            &["--train", "train.jsonl", "--bench", "bad"],
            "bad/BFCL_v4_simple_python.json:1: no entry of a benchmark",
        ),
        (
            &["--train", "train.jsonl", "--bench", "nowhere"],
            "benchmark nowhere: found neither a file or folder nor a public set",
        ),
        (
            &["--train", "train.jsonl", "--bench", "nexusraven"],
            "benchmark nexusraven: the public set is not on disk",
        ),
        (&["--train", "nowhere.jsonl", "--bench", "bench"], "nowhere.jsonl"),
        (&["--train", "train.jsonl", "--bench", "bench", "--max-rate", "2"], "from 0 to 1"),
    ] {
        let refused = bench.audit(arguments);
        let text = shown(&refused);
        assert!(refused.status.code() == Some(2) && text.contains(expected), "{arguments:?}: {text}");
    }
    assert_eq!(fs::read_to_string(bench.path("mine/notes.txt")).unwrap(), "keep");
}

#[test]
fn the_pipeline_file_does_what_the_command_does_and_a_run_folder_explains_it() {
    let bench = Bench::new();
    let planted = planted();
    bench.write("train.jsonl", &lines(&planted.iter().map(|(.., row)| row.clone()).collect::<Vec<_>>()));
    bench.hits("train.jsonl", "out");
    let pipeline = concat!(env!("CARGO_MANIFEST_DIR"), "/pipelines/audit.toml");
    let run = |arguments: &[&str]| {
        let done = callsieve().current_dir(bench.folder.path()).args(arguments).output().unwrap();
        assert_eq!(done.status.code(), Some(0), "{arguments:?}: {}", shown(&done));
        shown(&done)
    };
    let set = "drop-benchmark-overlap.benchmarks=[\"bench\"]";
    run(&["run", pipeline, "train.jsonl", "--set", set, "--out", "same"]);
    for name in
        ["hits.jsonl", "removed.jsonl", "audit.json", "statement.md", "dataset/train.jsonl", "links.parquet"]
    {
        let read = |out: &str| fs::read(bench.path(&format!("{out}/{name}"))).unwrap();
        assert_eq!(read("out"), read("same"), "{name}");
    }
    let why = run(&["why", "out", "embedded"]);
    assert!(why.contains("overlap/benchmark-query") && why.contains("tide-0"), "{why}");
    assert!(run(&["verify", "out"]).contains("out"), "nothing is damaged");
    // A person keeps a row that was held, and the cleaned set has it.
    let audit =
        ["audit", "--train", "train.jsonl", "--bench", "bench", "--contaminated", "hold", "--out", "held"];
    run(&audit);
    let held = run(&["held", "held", "--format", "csv"]);
    assert!(held.contains("overlap/benchmark-call") && held.lines().count() > 12, "{held}");
    let keep = json!({"id": "verbatim", "decision": "keep"});
    bench.write("decided.jsonl", &lines(&[keep]));
    run(&[&audit[..], &["--decisions", "decided.jsonl"]].concat());
    let cleaned = fs::read_to_string(bench.path("held/dataset/train.jsonl")).unwrap();
    let ids: Vec<Value> =
        cleaned.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["id"].clone()).collect();
    assert_eq!(ids, ["verbatim", "clean", "like"]);
}

#[test]
fn a_forgotten_record_is_in_no_file_of_the_audit() {
    let bench = Bench::new();
    let rows = [row("first", TIDE, &other()), row("second", "Mow the lawn in narrow stripes.", &other())];
    bench.write("train.jsonl", &lines(&rows));
    bench.hits("train.jsonl", "out");
    for id in ["second", "first"] {
        let done = callsieve()
            .current_dir(bench.folder.path())
            .args(["forget", "out", "--id", id])
            .output()
            .unwrap();
        assert_eq!(done.status.code(), Some(0), "{}", shown(&done));
    }
    for name in ["hits.jsonl", "removed.jsonl", "audit.json"] {
        let text = fs::read_to_string(bench.path(&format!("out/{name}"))).unwrap();
        assert!(!text.contains("\"first\"") && !text.contains("\"second\""), "{name}: {text}");
    }
    let cleaned = bench.path("out/dataset/train.jsonl");
    assert!(!cleaned.exists() || !fs::read_to_string(cleaned).unwrap().contains("Mow"));
}

#[test]
fn parquet_comes_back_as_parquet_with_all_columns() {
    let bench = Bench::new();
    // The table of an earlier audit is a Parquet file of other columns, with a text to compare.
    bench.write(
        "train.jsonl",
        &lines(&[row("verbatim", TIDE, &other()), row("case", &TIDE.to_lowercase(), &other())]),
    );
    bench.hits("train.jsonl", "out");
    fs::copy(bench.path("out/hits.parquet"), bench.path("table.parquet")).unwrap();
    bench.write("ids.jsonl", &lines(&[json!({"id": "v", "train_id": "verbatim"})]));
    let done = bench.audit(&[
        "--train",
        "table.parquet",
        "--field",
        "train_id",
        "--bench",
        "ids.jsonl",
        "--out",
        "parquet",
    ]);
    assert_eq!(done.status.code(), Some(0), "{}", shown(&done));
    let report = bench.report("parquet");
    assert_eq!(report["rows"]["contaminated"], 1, "{report}");
    let bytes = fs::read(bench.path("parquet/dataset/table.parquet")).unwrap();
    assert!(bytes.starts_with(b"PAR1"));
    // The cleaned table has the other rows, and is read again.
    let again = bench.audit(&[
        "--train",
        "parquet/dataset/table.parquet",
        "--field",
        "train_id",
        "--bench",
        "ids.jsonl",
        "--out",
        "again",
    ]);
    assert_eq!(again.status.code(), Some(0), "{}", shown(&again));
    let (before, after) = (bench.report("parquet"), bench.report("again"));
    assert_eq!(after["rows"]["contaminated"], 0);
    assert_eq!(after["train"][0]["rows"].as_u64().unwrap() + 1, before["train"][0]["rows"].as_u64().unwrap());
}

#[test]
fn a_benchmark_may_be_parquet() {
    let bench = Bench::new();
    bench.write("train.jsonl", &lines(&[row("verbatim", TIDE, &other())]));
    bench.hits("train.jsonl", "out");
    // The table of the hits has ids as texts.
    fs::create_dir(bench.path("set")).unwrap();
    fs::copy(bench.path("out/hits.parquet"), bench.path("set/test.parquet")).unwrap();
    bench.write("set/dataset_infos.json", "{\"default\": {\"description\": \"verbatim\"}}");
    bench.write("ids.jsonl", &lines(&[json!({"train_id": "verbatim"}), json!({"train_id": "another one"})]));
    for (benchmark, format) in [("set/test.parquet", "rows"), ("set", "rows")] {
        let arguments =
            ["--train", "ids.jsonl", "--field", "train_id", "--bench", benchmark, "--out", "o", "--fresh"];
        let done = bench.audit(&[&arguments[..], &["--bench-format", format]].concat());
        assert_eq!(done.status.code(), Some(0), "{}", shown(&done));
        let report = bench.report("o");
        assert_eq!(
            (report["rows"]["contaminated"].as_u64(), report["categories"].as_array().unwrap().len()),
            (Some(1), 1)
        );
    }
}

#[test]
fn calls_as_text_are_compared_in_every_form_of_a_row() {
    let bench = Bench::new();
    let call = "[{\"name\": \"book_ferry\", \"arguments\": {\"from_port\": \"Oban\", \"to_port\": \"Mull\", \"seats\": 2}}]";
    let rows = [
        json!({"id": "xlam", "query": "Two of us want to cross.", "tools": other().to_string(), "answers": call}),
        json!({"id": "alpaca", "instruction": "Two of us want to cross.", "output": call}),
        json!({"id": "python", "instruction": "Two of us want to cross.", "output": "book_ferry(from_port='Oban', to_port='Mull', seats=2)"}),
        json!({"id": "sharegpt", "conversations": [{"from": "human", "value": "Two of us."}, {"from": "function_call", "value": call}]}),
        json!({"id": "prose", "instruction": "Two of us want to cross.", "output": "The ferry from Oban to Mull has 2 seats."}),
    ];
    bench.write("calls.jsonl", &lines(&rows));
    let hits = bench.hits("calls.jsonl", "out");
    for id in ["xlam", "alpaca", "python", "sharegpt"] {
        let found = hits.get(id).map_or(&[][..], Vec::as_slice);
        assert!(found.iter().any(|hit| hit["method"] == "call-values"), "{id}: {found:?}");
    }
    assert_eq!(hits.get("prose"), None);
}

#[test]
fn a_set_of_which_nothing_can_be_compared_is_not_called_clean() {
    let bench = Bench::new();
    bench.write("train.jsonl", &lines(&[json!({"id": 1, "note": TIDE}), json!({"id": 2, "note": FERRY})]));
    let done = bench.audit(&["--train", "train.jsonl", "--bench", "bench", "--max-rate", "0"]);
    let text = shown(&done);
    assert!(done.status.code() == Some(1) && text.contains("no row could be compared"), "{text}");
    assert!(text.contains("--field NAME"), "{text}");
    let statement = fs::read_to_string(bench.path("out/audit/statement.md")).unwrap();
    assert!(statement.contains("not measured"), "{statement}");
}

#[test]
fn a_folder_of_other_files_is_a_benchmark_of_its_data_files() {
    let bench = Bench::new();
    bench.write("mine/LICENSE", "All rights reserved.\n");
    bench.write("mine/README.md", "About the set.\n");
    bench.write("mine/data/rows.jsonl", &lines(&[json!({"id": "a", "text": TIDE})]));
    bench.write("train.jsonl", &lines(&[row("verbatim", TIDE, &other())]));
    let done = bench.audit(&["--train", "train.jsonl", "--bench", "mine", "--out", "out"]);
    assert_eq!(done.status.code(), Some(0), "{}", shown(&done));
    let report = bench.report("out");
    let names: Vec<&Value> =
        report["categories"].as_array().unwrap().iter().map(|one| &one["name"]).collect();
    assert_eq!(names, ["rows.jsonl"]);
    assert_eq!(report["rows"]["contaminated"], 1);
}

#[test]
fn a_short_phrase_of_the_training_set_is_clean_and_named_and_a_long_one_contaminated() {
    let bench = Bench::new();
    let many = |id: &str, text: &str| -> Vec<Value> {
        let message = |n: i32| format!("Note {n} on the lawns. {text} Then mow lawn number {n}.");
        (0..30).map(|n| row(&format!("{id}-{n}"), &message(n), &other())).collect()
    };
    let short = "Sharpen the harbour chisels.";
    let rows = [many("phrase", short), many("copies", TIDE), vec![row("equal", short, &other())]].concat();
    bench.write("train.jsonl", &lines(&rows));
    bench.write("short.jsonl", &lines(&[json!({"messages": [{"role": "user", "content": short}]})]));
    let done = bench.audit(&["--train", "train.jsonl", "--bench", "bench", "short.jsonl", "--out", "out"]);
    let text = shown(&done).split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(done.status.code(), Some(0), "{text}");
    assert!(text.contains(" is part of 30 of 61 messages: a phrase of the training set"), "{text}");
    let report = bench.report("out");
    assert_eq!(
        report["rows"],
        json!({"clean": 30, "contaminated": 31, "environment": 0, "suspect": 0, "unscorable": 0}),
        "{report}"
    );
    assert_eq!(report["frequent_entries"].as_array().map(Vec::len), Some(1), "{report}");
}
