//! Files of reviewed rows: what `review --export` wrote, a person filled in and `review --import` reads, is what the page would have made.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::review::Page;
use crate::support::{output, run_sample, shown};
use serde_json::{Value, json};

/// Two equal runs: decisions are made in one on the page, and in the other by a file.
struct Runs {
    folder: tempfile::TempDir,
}

impl Runs {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        run_sample(&folder.path().join("page"), &[]);
        run_sample(&folder.path().join("file"), &[]);
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Exports to a new file, whose text is returned.
    fn export(&self, run: &str, name: &str) -> String {
        let (run, file) = (self.path(run), self.path(name));
        let exported = output(&["review", text(&run), "--export", text(&file)]);
        assert!(exported.status.success(), "{}", shown(&exported));
        fs::read_to_string(file).unwrap()
    }

    /// Imports a file into the run `file` as Kim, and returns the exit code and the messages.
    fn import(&self, name: &str) -> (Option<i32>, String) {
        let imported = output(&[
            "review",
            text(&self.path("file")),
            "--reviewer",
            "kim",
            "--import",
            text(&self.path(name)),
        ]);
        let messages = String::from_utf8(imported.stderr).unwrap();
        (imported.status.code(), messages.replace(text(self.folder.path()), "FOLDER"))
    }

    fn forget_imported(&self) {
        fs::remove_dir_all(self.path("file/decisions")).unwrap();
    }

    /// Runs again, and returns the files of the dataset.
    fn dataset(&self, run: &str) -> BTreeMap<PathBuf, Vec<u8>> {
        let run = self.path(run);
        let ended = output(&["run", "--quiet", "--out", text(&run), "--set", crate::support::ANSWERS]);
        assert!(ended.status.success(), "{}", shown(&ended));
        let mut files = crate::support::stable_bytes(&run);
        files.retain(|name, _| name.starts_with("dataset"));
        files
    }
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// The rows of a CSV file.
type Row = BTreeMap<String, String>;

fn rows_of(csv: &str) -> Vec<Row> {
    let mut reader = csv::Reader::from_reader(csv.trim_start_matches('\u{feff}').as_bytes());
    reader.deserialize().map(|row| row.unwrap()).collect()
}

fn write_rows(path: &Path, rows: &[Row]) {
    let mut writer = csv::Writer::from_path(path).unwrap();
    writer.write_record(rows[0].keys()).unwrap();
    for row in rows {
        writer.write_record(row.values()).unwrap();
    }
    writer.flush().unwrap();
}

fn set(row: &mut Row, cells: &[(&str, &str)]) {
    for (key, cell) in cells {
        row.insert((*key).to_owned(), (*cell).to_owned());
    }
}

#[test]
fn what_is_exported_is_imported_as_it_was_decided_on_the_page() {
    let runs = Runs::new();
    let page = Page::start(&runs.path("page"), &["--reviewer", "kim"]);
    (0..70).for_each(|at| page.decide_somehow(at));
    page.stop();
    let decided = runs.export("page", "decided.jsonl");
    let n = decided.lines().count();
    assert!(n > 50, "{decided}");

    // As JSON lines, as a table and as tasks.
    assert_eq!(
        runs.import("decided.jsonl"),
        (Some(0), format!("{n} decisions added to FOLDER/file/decisions/kim.jsonl\n"))
    );
    assert_eq!(decided, runs.export("file", "again.jsonl"));
    assert_eq!(runs.dataset("page"), runs.dataset("file"));
    let own = fs::read(runs.path("file/decisions/kim.jsonl")).unwrap();
    let (code, messages) = runs.import("decided.jsonl");
    assert_eq!(
        (code, messages),
        (Some(0), format!("0 decisions added to FOLDER/file/decisions/kim.jsonl; {n} made already\n"))
    );
    assert_eq!(own, fs::read(runs.path("file/decisions/kim.jsonl")).unwrap(), "nothing is added twice");

    let runs = Runs::new();
    fs::create_dir(runs.path("page/decisions")).unwrap();
    fs::write(runs.path("page/decisions/kim.jsonl"), own).unwrap();
    let table = runs.export("page", "rows.csv");
    assert!(table.len() < 400 * 1024, "{}", table.len());
    let (code, messages) = runs.import("rows.csv");
    assert_eq!(
        (code, messages),
        (Some(0), format!("{n} decisions added to FOLDER/file/decisions/kim.jsonl\n"))
    );
    assert_eq!(decided, runs.export("file", "of-table.jsonl"));
    runs.forget_imported();
    let tasks: Vec<Value> = serde_json::from_str(&runs.export("page", "tasks.json")).unwrap();
    // The table also has the lists that were edited from their requests.
    assert!(tasks.len() > 200 && tasks.len() <= rows_of(&table).len(), "{}", tasks.len());
    let annotated = tasks.iter().filter(|task| task["annotations"] != json!([])).count();
    assert!(tasks[0]["data"]["conversation"].as_array().is_some_and(|it| !it.is_empty()), "{}", tasks[0]);
    let (code, messages) = runs.import("tasks.json");
    assert_eq!(
        (code, messages),
        (Some(0), format!("{annotated} decisions added to FOLDER/file/decisions/kim.jsonl\n"))
    );
    let without_edits = |text: &str| -> Vec<String> {
        text.lines().filter(|line| !line.contains("\"decision\":\"edit\"")).map(str::to_owned).collect()
    };
    assert_eq!(without_edits(&decided), without_edits(&runs.export("file", "of-tasks.jsonl")));
    // What may be filled in is not replaced.
    let refused = output(&["review", text(&runs.path("page")), "--export", text(&runs.path("rows.csv"))]);
    assert!(shown(&refused).contains("the file exists"), "{}", shown(&refused));
}

#[test]
fn a_person_who_fills_in_the_table_decides_as_on_the_page() {
    let runs = Runs::new();
    let mut rows = rows_of(&runs.export("file", "rows.csv"));
    assert!(rows.iter().all(|row| row["decision"].is_empty() && row["was"].len() == 64));
    let page = Page::start(&runs.path("page"), &["--reviewer", "kim"]);
    let n_rows = page.get("/api/state")["n_rows"].as_u64().unwrap();
    let items: Vec<Value> = (0..n_rows).map(|at| page.item(at)).collect();
    // An entry whose answer is accepted, a held request that is dropped, one with a label, one with an answer.
    let is_of = |item: &Value, reason: &str, means: &str| {
        item["reason"]["code"] == reason && item["accept"].as_str().is_some_and(|it| it.starts_with(means))
    };
    let entry = items.iter().find(|item| is_of(item, "unverified", "the drafted answer")).unwrap();
    let label = items.iter().find(|item| is_of(item, "unverified", "the label")).unwrap();
    let unsure: Vec<&Value> =
        items.iter().filter(|item| item["reason"]["code"] == "relevance/unsure").take(2).collect();
    let answered =
        items.iter().filter(|item| is_of(item, "unverified", "the drafted answer")).nth(1).unwrap();
    for (item, decision) in [
        (entry, "accept"),
        (label, "accept"),
        (unsure[0], "drop"),
        (unsure[1], "relabel"),
        (answered, "answer"),
    ] {
        let (status, body) = page.decide(item, decision);
        assert_eq!(status, 200, "{decision}: {body}");
    }
    page.stop();
    let mut fill = |item: &Value, cells: &[(&str, &str)]| {
        let row = rows.iter_mut().find(|row| item["id"] == row["id"].as_str()).unwrap();
        set(row, cells);
    };
    fill(entry, &[("decision", "Accept ")]);
    fill(label, &[("decision", "accept")]);
    fill(unsure[0], &[("decision", "drop")]);
    fill(unsure[1], &[("decision", unsure[1]["labels"][0].as_str().unwrap())]);
    let answer = answered["drafted_answer"].as_str().unwrap();
    fill(answered, &[("decision", "answer"), ("ground_truth", answer)]);
    write_rows(&runs.path("filled.csv"), &rows);
    let (code, messages) = runs.import("filled.csv");
    assert_eq!(
        (code, messages),
        (Some(0), "5 decisions added to FOLDER/file/decisions/kim.jsonl\n".to_owned())
    );
    assert_eq!(runs.export("page", "page.jsonl"), runs.export("file", "file.jsonl"));
    assert_eq!(runs.dataset("page"), runs.dataset("file"));
}

#[test]
fn what_is_not_possible_is_refused_by_line_and_nothing_is_imported() {
    let runs = Runs::new();
    let mut rows = rows_of(&runs.export("file", "rows.csv"));
    let at = |rows: &[Row], is: &dyn Fn(&Row) -> bool| rows.iter().position(is).unwrap();
    let unsure = at(&rows, &|row| row["reason"] == "relevance/unsure");
    let entries: Vec<usize> = (0..rows.len())
        .filter(|&at| !rows[at]["entry_id"].is_empty() && rows[at]["recorded_answer"].len() > 2)
        .collect();
    let overlap = at(&rows, &|row| row["reason"] == "overlap/public-query");
    set(&mut rows[unsure], &[("decision", "drop")]);
    set(&mut rows[overlap], &[("decision", "relevant")]);
    set(&mut rows[entries[0]], &[("decision", "accept"), ("was", "")]);
    set(&mut rows[entries[1]], &[("decision", "accept"), ("was", &"0".repeat(64))]);
    set(&mut rows[entries[2]], &[("decision", "answer"), ("ground_truth", "no_such_function(day=1)")]);
    set(&mut rows[entries[3]], &[("decision", "drop"), ("id", &"0".repeat(32))]);
    set(&mut rows[entries[4]], &[("why", "looks right")]);
    write_rows(&runs.path("filled.csv"), &rows);
    let (code, messages) = runs.import("filled.csv");
    assert_eq!(code, Some(2), "{messages}");
    let lines: Vec<&str> = messages.lines().collect();
    for (row, expected) in [
        (overlap, "\"decision\": found \"relevant\", expected keep, drop"),
        (
            entries[0],
            "\"was\": found nothing, expected the digest of the content that was read, for \"accept\"",
        ),
        (entries[1], "\"was\": found \"000000000000\", expected \""),
        (entries[2], "\"ground_truth\": "),
        (
            entries[3],
            "\"id\": found \"00000000000000000000000000000000\", expected the id of a request or a doc list",
        ),
    ] {
        let found = lines
            .iter()
            .find(|line| line.contains(expected))
            .unwrap_or_else(|| panic!("{expected}: {messages}"));
        // A cell of an earlier row can have several lines.
        let line: usize =
            found.split("filled.csv:").nth(1).unwrap().split(':').next().unwrap().parse().unwrap();
        assert!(line > row, "{found}");
    }
    assert!(messages.contains("does not have") || messages.contains("no_such_function"), "{messages}");
    assert!(lines.last().unwrap().starts_with("hint: nothing was imported; "), "{messages}");
    assert_eq!(lines.len(), 6, "{messages}");
    assert_eq!(fs::read_to_string(runs.path("file/decisions/kim.jsonl")).unwrap_or_default(), "");
    // A file of `held` has no digests: it can drop, but not accept.
    let held = output(&[
        "held",
        text(&runs.path("file")),
        "--unverified",
        "--decide",
        "accept",
        "--out",
        text(&runs.path("held.csv")),
    ]);
    assert!(held.status.success(), "{}", shown(&held));
    let (code, messages) = runs.import("held.csv");
    assert_eq!(code, Some(2));
    assert!(messages.contains("\"was\": found nothing") && messages.contains("and "), "{messages}");
}

#[test]
fn contradictions_unread_labels_and_other_answers_are_refused() {
    let runs = Runs::new();
    let rows = rows_of(&runs.export("file", "rows.csv"));
    let entries: Vec<&Row> = rows
        .iter()
        .filter(|row| !row["entry_id"].is_empty() && row["possible_decisions"].starts_with("accept"))
        .filter(|row| row["recorded_answer"].len() > 2)
        .collect();
    let line = |id: &str, decision: &str, was: Option<&str>| {
        let mut line = json!({"id": id, "decision": decision});
        line.as_object_mut().unwrap().extend(was.map(|was| ("was".to_owned(), json!(was))));
        format!("{line}\n")
    };
    let of = |row: &Row| (row["id"].clone(), format!("request:{}", row["id"]), row["was"].clone());
    let [(unread, ..), (one, same_one, was_one), (two, same_two, was_two)] =
        [of(entries[0]), of(entries[1]), of(entries[2])];
    let lines = [
        line(&unread, "irrelevant", None),
        line(&one, "drop", Some(&was_one)),
        line(&same_one, "irrelevant", Some(&was_one)),
        line(&two, "drop", Some(&was_two)),
        line(&same_two, "drop", Some(&was_two)),
    ];
    fs::write(runs.path("lines.jsonl"), lines.concat()).unwrap();
    let (code, messages) = runs.import("lines.jsonl");
    let found: Vec<&str> = messages.lines().collect();
    assert_eq!((code, found.len()), (Some(2), 3), "{messages}");
    assert!(found[0].contains("lines.jsonl:1: \"was\": found nothing"), "{messages}");
    assert!(
        found[1].contains("lines.jsonl:3: \"decision\": found another one than line 2 has"),
        "{messages}"
    );

    let mut accepted: Vec<Row> = vec![entries[0].clone(), entries[1].clone()];
    set(&mut accepted[0], &[("decision", "accept"), ("ground_truth", "[{\"other\": {}}]")]);
    write_rows(&runs.path("corrected.csv"), &accepted);
    let (code, messages) = runs.import("corrected.csv");
    assert_eq!(code, Some(2), "{messages}");
    assert!(messages.contains("with \"accept\", which takes the recorded answer"), "{messages}");
    set(
        &mut accepted[0],
        &[("ground_truth", ""), ("recorded_answer", "[{\"other\": {}}]"), ("answer_digest", "")],
    );
    write_rows(&runs.path("changed.csv"), &accepted);
    let (code, messages) = runs.import("changed.csv");
    assert_eq!(code, Some(2), "{messages}");
    assert!(messages.contains("expected that of the row"), "{messages}");
}

#[test]
fn a_file_that_replaces_earlier_decisions_says_so() {
    let runs = Runs::new();
    let mut rows = rows_of(&runs.export("file", "rows.csv"));
    let at = rows
        .iter()
        .position(|row| row["possible_decisions"].split(", ").any(|it| it == "irrelevant"))
        .unwrap();
    for (decision, expected) in [("drop", false), ("irrelevant", true), ("irrelevant", false)] {
        set(&mut rows[at], &[("decision", decision)]);
        write_rows(&runs.path("filled.csv"), &rows);
        let (code, messages) = runs.import("filled.csv");
        assert_eq!(code, Some(0), "{messages}");
        let warning = format!(
            "warning: the file replaces 1 earlier decision of kim, the first on {} (drop, ",
            rows[at]["id"]
        );
        assert_eq!(messages.contains(&warning), expected, "{messages}");
    }
}

/// The one row of a table that is to be decided on, decided and imported.
fn decide(run: &Path, file: &Path, is_meant: impl Fn(&Row) -> bool, decision: &str) {
    let exported = output(&["review", text(run), "--export", text(file)]);
    assert!(exported.status.success(), "{}", shown(&exported));
    let mut rows = rows_of(&fs::read_to_string(file).unwrap());
    let row = rows.iter_mut().find(|row| is_meant(row)).unwrap();
    assert!(row["possible_decisions"].split(", ").any(|it| it == decision), "{row:?}");
    set(row, &[("decision", decision)]);
    write_rows(file, &rows);
    let imported = output(&["review", text(run), "--reviewer", "kim", "--import", text(file)]);
    assert!(shown(&imported).contains("1 decision added to "), "{}", shown(&imported));
}

#[test]
fn suspect_rows_of_an_audit_are_decided_and_the_next_audit_applies_it() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let row = |query: &str, name: &str, description: &str| {
        let property = |what: &str| json!({"type": "string", "description": what});
        let functions = json!([{"name": name, "description": description, "parameters": {"type": "dict", "required": ["weight"],
            "properties": {"weight": property("In kilograms."), "height": property("In centimetres.")}}}]);
        json!({"prompt": query, "function": functions.to_string()}).to_string() + "\n"
    };
    let bench =
        row("What is the BMI of a person of 70 kg", "calculate_bmi", "Calculates the body mass index.");
    let train = row("Tell me a joke about boats", "calculate_bmi", "Weight by height squared.")
        + &row("How deep is the snow on the mountain", "snow_depth", "Tells the depth of snow.");
    fs::write(at("bench.jsonl"), bench).unwrap();
    fs::write(at("train.jsonl"), train).unwrap();
    let audit = || {
        let (train, bench, out) = (at("train.jsonl"), at("bench.jsonl"), at("audit"));
        let audit = output(&[
            "audit",
            "--train",
            text(&train),
            "--bench",
            text(&bench),
            "--bench-format",
            "rows",
            "--suspect",
            "hold",
            "--out",
            text(&out),
        ]);
        assert!(audit.status.success(), "{}", shown(&audit));
        fs::read_to_string(out.join("dataset/train.jsonl")).unwrap().lines().count()
    };
    assert_eq!(audit(), 1);
    let page = Page::start(&at("audit"), &["--reviewer", "lee"]);
    let item = page.item(0);
    assert_eq!(
        (&item["job"], &item["reason"]["code"]),
        (&json!("audit"), &json!("overlap/benchmark-suspect"))
    );
    assert_eq!(item["possible"], json!(["accept", "drop"]));
    page.stop();
    decide(&at("audit"), &at("rows.csv"), |row| row["reason"] == "overlap/benchmark-suspect", "keep");
    assert_eq!(audit(), 2);
}

#[test]
fn kept_instructions_are_drawn_and_can_be_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("set");
    let generate = || {
        let bindings = "raw/repair-shop.bindings.toml";
        let made = output(&[
            "generate",
            "raw/repair-shop.toml",
            "--bindings",
            bindings,
            "--accept",
            "12",
            "--out",
            text(&out),
            "--quiet",
        ]);
        assert!(made.status.success(), "{}", shown(&made));
        let report: Value = serde_json::from_slice(&fs::read(out.join("report.json")).unwrap()).unwrap();
        report["requests"].clone()
    };
    assert_eq!(generate()["dropped"], 0);
    let page = Page::start(&out, &["--reviewer", "kim", "--sample", "5"]);
    assert_eq!(page.get("/api/state")["n_rows"], 5);
    let item = page.item(0);
    assert_eq!((&item["job"], &item["reason"]["code"]), (&json!("instructions"), &json!("kept")));
    assert_eq!(item["possible"], json!(["drop"]));
    assert!(!item["query"].as_str().unwrap().is_empty() && item["functions"] != json!([]), "{item}");
    // The answer that the set has is shown, whatever the number of turns.
    assert!((0..5).all(|at| !page.item(at)["reply"]["text"].as_str().unwrap().is_empty()), "{item}");
    assert_eq!(page.decide(&item, "drop").0, 200);
    page.stop();
    let line = json!({"id": item["id"], "was": item["was"], "decision": "relevant"});
    fs::write(folder.path().join("label.jsonl"), format!("{line}\n")).unwrap();
    let label = folder.path().join("label.jsonl");
    let labelled = output(&["review", text(&out), "--reviewer", "lee", "--import", text(&label)]);
    assert!(shown(&labelled).contains("expected drop"), "{}", shown(&labelled));
    let requests = generate();
    // Another one has its place.
    assert_eq!(
        (&requests["reasons"]["decision/dropped"], &requests["kept"]),
        (&json!(1), &json!(12)),
        "{requests}"
    );
}
