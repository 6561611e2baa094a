//! Tests of the comparison with public sets on the program: sets on disk are compared, and missing ones are reported.

use std::path::{Path, PathBuf};

use crate::support::{callsieve, output, shown};
use callsieve::engine::frame::FrameFile;
use callsieve_testkit::data;
use serde_json::{Value, json};

/// A pipeline of the stages that compare, on one log.
struct Compared {
    folder: tempfile::TempDir,
}

impl Compared {
    fn new(requests: &[Value]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let lines: String = requests.iter().map(|request| format!("{request}\n")).collect();
        std::fs::write(folder.path().join("log.jsonl"), lines).unwrap();
        let place = |name: &str| folder.path().join(name).display().to_string();
        let (log, sets) = (place("log.jsonl"), place("sets"));
        let stage = |kind: &str| format!("[[stages]]\nkind = {kind:?}\ndir = {sets:?}\n");
        let pipeline = format!(
            "name = \"compared\"\nmax_fault_share = 1.0\n[ingest]\ninputs = [{log:?}]\n[[stages]]\nkind = \"parse-docs\"\n{}{}",
            stage("drop-public-overlap"),
            stage("drop-public-queries"),
        );
        std::fs::write(place("pipeline.toml"), pipeline).unwrap();
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn add(&self, more: &[&str]) {
        let dir = self.path("sets");
        let added = output(&[&["sets", "add", "--dir", dir.to_str().unwrap()], more].concat());
        assert!(added.status.success(), "{}", shown(&added));
    }

    /// Runs it. Returns the messages, and the log's ids and reasons of dropped rows.
    fn run(&self, more: &[&str]) -> (String, Vec<(String, String)>) {
        let (pipeline, out) = (self.path("pipeline.toml"), self.path("run"));
        let run = callsieve()
            .args(["run", pipeline.to_str().unwrap(), "--out", out.to_str().unwrap()])
            .args(more)
            // No line of the funnel wraps.
            .env("COLUMNS", "200")
            .output()
            .unwrap();
        if !run.status.success() {
            return (shown(&run), Vec::new());
        }
        let rows = FrameFile::open(&out.join("rows.parquet")).unwrap().read_all().unwrap();
        let text = |column: &str, row| rows.texts(column).unwrap().get(row).map(str::to_owned);
        let left = (0..rows.height())
            .filter_map(|row| Some((text("external_id", row)?, text("reason", row)?)))
            .collect::<Vec<_>>();
        (shown(&run), left)
    }

    fn notes(&self) -> Value {
        let path = self.path("run/stages/02-drop-public-overlap/manifest.json");
        serde_json::from_slice::<Value>(&std::fs::read(path).unwrap()).unwrap()["notes"].clone()
    }
}

fn request(id: &str, query: &str, function: &Value) -> Value {
    json!({"id": id, "messages": [{"role": "user", "content": query}], "tools": [function]})
}

fn bell(name: &str, description: &str, parameters: [&str; 2]) -> Value {
    let property = |what: &str| json!({"type": "string", "description": what});
    json!({"name": name, "description": description, "parameters": {"type": "object", "required": parameters,
        "properties": {parameters[0]: property("Which of the bells it is."), parameters[1]: property("For how long.")}}})
}

#[test]
fn the_sets_on_disk_decide_and_a_new_set_is_not_mistaken_for_the_old_state() {
    let long = "Let the smallest bell of the old mill sound for a whole hour tonight";
    let compared = Compared::new(&[
        request(
            "copy",
            "Ring it",
            &bell("ring_mill", "Rings a bell of the old mill for a while.", ["bell", "span"]),
        ),
        request("anew", "Ring it now", &bell("ringMill", "Signal.", ["span", "bell"])),
        request("name", "Ring it then", &bell("ring_mill", "Signal.", ["hour", "day"])),
        request("query", long, &bell("tell", "Tells the hour to whoever asks.", ["hour", "day"])),
        request("own", "Tell it", &bell("tell", "Tells the hour to whoever asks.", ["hour", "day"])),
    ]);
    let (said, left) = compared.run(&[]);
    assert!(left.is_empty(), "{left:?}");
    assert!(said.contains("not compared with nexusraven, firefunctions, anyscale, nous-glaive"), "{said}");
    assert_eq!(said.matches("4 public sets not on disk").count(), 2, "{said}");
    assert!(!said.contains("no overlap with"), "{said}");
    assert_eq!(
        compared.notes()["not_compared"],
        json!(["nexusraven", "firefunctions", "anyscale", "nous-glaive"])
    );

    let file = compared.path("test.jsonl");
    let public = request(
        "p1",
        &format!("{long}!"),
        &bell("ring_mill", "Rings a bell of the old mill for a time.", ["bell", "span"]),
    );
    std::fs::write(&file, public.to_string()).unwrap();
    compared.add(&["anyscale", file.to_str().unwrap()]);
    let (said, left) = compared.run(&[]);
    for line in ["no overlap with 1 of 4 public sets", "no queries of 1 of 4 public sets"] {
        assert!(said.contains(line), "{line}: {said}");
    }
    let expected = [
        ("copy", "overlap/public-function"),
        ("anew", "overlap/public-name"),
        ("query", "overlap/public-query"),
    ];
    let left: Vec<(&str, &str)> = left.iter().map(|(id, reason)| (id.as_str(), reason.as_str())).collect();
    let mut sorted = (left.clone(), expected.to_vec());
    sorted.0.sort_unstable();
    sorted.1.sort_unstable();
    assert_eq!(sorted.0, sorted.1);
    let notes = compared.notes();
    assert_eq!(notes["not_compared"], json!(["nexusraven", "firefunctions", "nous-glaive"]));
    let read = notes["public_sets"].as_array().unwrap().iter().find(|set| set["id"] == "anyscale").unwrap();
    assert_eq!(
        (&read["records"], &read["functions"], &read["unreadable"]),
        (&json!(1), &json!(1), &json!(0))
    );
    // The licence of the set is unknown: only names and records of it are shown.
    let ledger = FrameFile::open(&compared.path("run/ledger.parquet")).unwrap().read_all().unwrap();
    let evidence = ledger.texts("evidence").unwrap();
    let told: Vec<&str> = (0..ledger.height()).filter_map(|row| evidence.get(row)).collect();
    assert!(told.iter().any(|text| text.contains("\"record\":\"p1\"")), "{told:?}");
    assert!(
        told.iter().all(|text| !text.contains("mill for a time") && !text.contains("smallest")),
        "{told:?}"
    );
}

#[test]
fn a_missing_required_set_stops_the_run_and_is_named() {
    let compared =
        Compared::new(&[request("own", "Tell it", &bell("tell", "Tells the hour.", ["hour", "day"]))]);
    let (said, _) = compared.run(&["--set", "drop-public-overlap.missing=error"]);
    // Messages wrap at the width that `COLUMNS` gives.
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.starts_with("exit: 2") && said.contains("callsieve sets add ID FILE…"), "{said}");
    assert!(
        ["nexusraven (http", "firefunctions (", "nous-glaive ("].iter().all(|set| said.contains(set)),
        "{said}"
    );
    for stage in ["drop-public-overlap", "drop-public-queries"] {
        let (said, _) = compared.run(&["--set", &format!("{stage}.sets=[\"nobodys\"]")]);
        assert!(said.starts_with("exit: 2") && said.contains("there is no public set \"nobodys\""), "{said}");
        let (said, _) = compared.run(&["--set", &format!("{stage}.sets=[\"nexusravn\"]")]);
        assert!(said.contains("did you mean \"nexusraven\"?"), "{said}");
    }
    assert!(!compared.path("run").exists(), "it is told before anything is read");
}

#[test]
fn a_set_of_which_nothing_can_be_read_is_not_compared_with() {
    let compared =
        Compared::new(&[request("own", "Tell it", &bell("tell", "Tells the hour.", ["hour", "day"]))]);
    std::fs::create_dir_all(compared.path("sets/anyscale")).unwrap();
    std::fs::write(compared.path("sets/anyscale/odd.jsonl"), "{\"text\": \"x\"}\n").unwrap();
    let only = "drop-public-overlap.sets=[\"anyscale\"]";
    let (said, _) = compared.run(&["--set", only]);
    assert!(said.contains("not compared with anyscale: unreadable: odd.jsonl (odd.jsonl:1: "), "{said}");
    assert_eq!(compared.notes()["not_compared"], json!(["anyscale"]));
    assert!(said.contains("1 public set missing or unreadable"), "{said}");
    let report = std::fs::read_to_string(compared.path("run/report.json")).unwrap();
    assert!(report.contains("not checked: unreadable"), "{report}");
    let (said, _) = compared.run(&["--set", only, "--set", "drop-public-overlap.missing=error"]);
    assert!(said.contains("without any readable record: anyscale: odd.jsonl (odd.jsonl:1: "), "{said}");
}

/// Returns the cells of a table of a run, one map per row.
fn table(path: &Path) -> Vec<Value> {
    let frame = FrameFile::open(path).unwrap().read_all().unwrap();
    (0..frame.height()).map(|row| Value::Object(frame.row_json(row))).collect()
}

/// The page and the history of the row `query`, of a run that compares with a set of this licence.
fn shown_beside(licence: &str, more: &[&str]) -> String {
    let long = "Let the smallest bell of the old mill sound for a whole hour tonight";
    let tell = bell("tell", "Tells the hour to whoever asks.", ["hour", "day"]);
    let ring = bell("ring_mill", "Rings a bell of the old mill for a while.", ["bell", "span"]);
    let compared = Compared::new(&[request("query", long, &tell), request("copy", "Ring it", &ring)]);
    let file = compared.path("test.jsonl");
    let public = bell("ring_mill", "Rings a bell of the old mill for a time.", ["bell", "span"]);
    std::fs::write(&file, request("p1", &format!("{long}, please"), &public).to_string()).unwrap();
    compared.add(&[&["ours", text(&file), "--format", "chat", "--licence", licence], more].concat());
    let pipeline = compared.path("pipeline.toml");
    let stages = std::fs::read_to_string(&pipeline).unwrap().replace("dir = ", "sets = [\"ours\"]\ndir = ");
    // The page quotes texts after redaction only.
    let redacted = "[[stages]]\nkind = \"redact\"\n[[stages]]\nkind = \"redact-docs\"\n[[stages]]\nkind = \"parse-docs\"";
    std::fs::write(&pipeline, stages.replacen("[[stages]]\nkind = \"parse-docs\"", redacted, 1)).unwrap();
    let (_, left) = compared.run(&[]);
    assert_eq!(left.len(), 2, "{left:?}");
    let run = compared.path("run");
    let histories: String = ["query", "copy"].map(|id| program(&["why", text(&run), id])).concat();
    assert!(histories.contains("is near ours p1"), "{histories}");
    let page = std::fs::read_to_string(run.join("report.html")).unwrap();
    assert!(page.contains("<code>ours#p1</code>"), "{page}");
    page + &histories
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn the_record_beside_an_overlap_is_quoted_if_its_licence_allows_any_use() {
    let free = shown_beside("MIT", &[]);
    let marked = "<ins>, please</ins>";
    let query = "the record: Let the smallest bell of the old mill sound for a whole hour tonight, please";
    let function = "the record: ring_mill: Rings a bell of the old mill for a time. (";
    for shown in [marked, query, function, "for a <ins>time</ins>"] {
        assert!(free.contains(shown), "{shown}: {free}");
    }
    for (licence, more) in
        [("unknown", &[][..]), ("CC-BY-NC-4.0", &[]), ("LicenseRef-own", &["--non-commercial"])]
    {
        let named = shown_beside(licence, more);
        assert!(!named.contains("please") && !named.contains("for a time"), "{licence}: {named}");
    }
}

fn program(arguments: &[&str]) -> String {
    shown(&output(arguments))
}

#[test]
fn links_are_sealed_resumed_shown_and_forgotten_with_their_record() {
    let long = "Let the smallest bell of the old mill sound for a whole hour tonight";
    let ring = bell("ring_mill", "Rings a bell of the old mill for a while.", ["bell", "span"]);
    let tell = bell("tell", "Tells the hour to whoever asks.", ["hour", "day"]);
    let compared = Compared::new(&[
        request("copy", "Ring it", &ring),
        request("query", long, &tell),
        request("own", "Tell it", &tell),
    ]);
    let file = compared.path("test.jsonl");
    let public = bell("ring_mill", "Rings a bell of the old mill for a time.", ["bell", "span"]);
    std::fs::write(&file, request("p1", &format!("{long}!"), &public).to_string()).unwrap();
    compared.add(&["anyscale", file.to_str().unwrap()]);
    compared.run(&[]);
    let run = compared.path("run");
    let name = run.to_str().unwrap();
    let (whole, delta) = (run.join("links.parquet"), run.join("stages/02-drop-public-overlap/links.parquet"));

    let links = table(&whole);
    let text = |link: &Value, key: &str| link[key].as_str().unwrap().to_owned();
    let found: Vec<Vec<String>> = links
        .iter()
        .map(|link| ["stage", "table_name", "object", "record", "method"].map(|key| text(link, key)).to_vec())
        .collect();
    let of_lists = ["drop-public-overlap", "doc_lists", "function", "p1"];
    let expected = [
        [&of_lists[..], &["rouge-l-f1"]].concat(),
        [&of_lists[..], &["parameter-jaccard"]].concat(),
        vec!["drop-public-queries", "requests", "query", "p1", "rouge-l-f1"],
    ];
    assert_eq!(found, expected);
    assert_eq!(links[2]["spans"], r#"[{"column":"messages","path":"/0/content"}]"#);
    assert!(links.iter().all(|link| !link.to_string().contains("mill")), "no text of a set: {links:?}");
    let rows = table(&run.join("rows.parquet"));
    let id_of = |external: &str| {
        let row = rows.iter().find(|row| row["external_id"] == external).unwrap();
        text(row, "request_id")
    };
    assert_eq!(text(&links[2], "row_id"), id_of("query"));
    let told = program(&["why", name, "query"]);
    let line =
        "drop-public-queries      link: query messages/0/content is near anyscale p1, rouge-l-f1 1.000";
    assert!(told.contains(line), "{told}");

    // A damaged file is found and written again with the same bytes.
    let before = (std::fs::read(&whole).unwrap(), std::fs::read(&delta).unwrap());
    for (path, at) in [(&whole, "links.parquet"), (&delta, "stages/02-drop-public-overlap/links.parquet")] {
        let mut bytes = std::fs::read(path).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        std::fs::write(path, bytes).unwrap();
        let told = program(&["verify", name]);
        assert!(told.starts_with("exit: 1") && told.contains(at), "{told}");
        compared.run(&[]);
        assert_eq!((std::fs::read(&whole).unwrap(), std::fs::read(&delta).unwrap()), before);
    }
    let (said, _) = compared.run(&[]);
    assert!(said.contains("reused    4 finished steps"), "{said}");
    assert_eq!(std::fs::read(&whole).unwrap(), before.0);

    let forgotten = program(&["forget", name, "--id", "copy"]);
    assert!(forgotten.starts_with("exit: 0"), "{forgotten}");
    let left = table(&whole);
    assert_eq!(left.iter().map(|link| text(link, "object")).collect::<Vec<_>>(), ["query"]);
    assert_eq!(table(&delta), [] as [Value; 0]);
    let told = program(&["verify", name]);
    assert!(told.starts_with("exit: 0"), "{told}");
}

/// Checks that two entries of the official data hold rephrased functions of `NexusRaven`, and no other list does.
#[test]
fn the_two_leaks_of_the_official_release_are_held_and_no_other_list() {
    let places = ["bfcl-v2-live", "public/nexusraven-v2/functions.jsonl"].map(data::path);
    let [Some(live), Some(raven)] = places else { return };
    let mut requests = Vec::new();
    for category in ["simple", "multiple", "parallel", "parallel_multiple", "irrelevance", "relevance"] {
        let text = std::fs::read_to_string(live.join(format!("BFCL_v2_live_{category}.json"))).unwrap();
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let entry: Value = serde_json::from_str(line).unwrap();
            requests
                .push(json!({"id": entry["id"], "messages": entry["question"], "tools": entry["function"]}));
        }
    }
    let compared = Compared::new(&requests);
    compared.add(&["nexusraven", raven.to_str().unwrap()]);
    let (_, left) = compared.run(&[]);
    let mut found: Vec<&str> =
        left.iter().filter(|(_, reason)| reason.starts_with("overlap/")).map(|(id, _)| id.as_str()).collect();
    found.sort_unstable();
    assert_eq!(found, ["live_irrelevance_286-68-0", "live_irrelevance_731-246-0"]);
}
