//! A log that was written by hand, of ferries, berths, boats and a vet, in six languages, with the right decision for each row.
//!
//! Unlike the sample log, no script planted its mistakes, and its truth was written before the first run. Each figure here
//! has a mark below which the test fails.

use std::collections::{BTreeMap, BTreeSet};

use callsieve::engine::frame::FrameFile;
use serde_json::Value;

use crate::support::{output, shown};

/// A row of the truth, with what became of its request.
struct Row {
    id: String,
    class: String,
    wanted: String,
    language: String,
    /// Rows from which it must be kept apart.
    apart_from: Vec<String>,
    group: Option<String>,
    fate: String,
    merged_into: Option<String>,
    reason: String,
    tier: String,
    category: String,
    /// The language that the run found; empty if it did not look.
    found_language: String,
}

impl Row {
    fn is_exported(&self) -> bool {
        self.fate == "exported"
    }

    fn has_verified_answer(&self) -> bool {
        self.is_exported() && self.category != "irrelevance" && self.tier == "outcome"
    }

    fn is_scored_irrelevance(&self) -> bool {
        self.is_exported() && self.category == "irrelevance" && self.tier != "judged"
    }

    fn described(&self) -> String {
        let Self { id, class, wanted, fate, reason, tier, category, language, .. } = self;
        format!("{id} {class} ({language}): wanted {wanted}, found {fate} {reason} {tier} {category}")
    }
}

fn cell<'v>(row: &'v BTreeMap<String, String>, column: &str) -> &'v str {
    row.get(column).map_or("", String::as_str)
}

/// The rows of a Parquet file of a run: the texts by column; cells without one are absent.
fn table(path: &std::path::Path) -> Vec<BTreeMap<String, String>> {
    let frame = FrameFile::open(path).unwrap().read_all().unwrap();
    let row = |at: usize| {
        let text = |name: &str| Some((name.to_owned(), frame.texts(name)?.get(at)?.to_owned()));
        frame.names().filter_map(text).collect()
    };
    (0..frame.height()).map(row).collect()
}

/// Runs the recipe on the log.
fn rows() -> Vec<Row> {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    let ran = output(&["run", "raw/ferries.jsonl.gz", "--out", out.to_str().unwrap(), "--quiet"]);
    assert!(out.join("rows.parquet").is_file(), "{}", shown(&ran));
    let found = table(&out.join("rows.parquet"));
    let ids: BTreeMap<&str, &str> =
        found.iter().map(|row| (cell(row, "request_id"), cell(row, "external_id"))).collect();
    let mut languages: BTreeMap<String, String> = BTreeMap::new();
    for set in ["scored", "unverified"] {
        for row in table(&out.join(format!("dataset/data/{set}.parquet"))) {
            languages.insert(cell(&row, "external_id").to_owned(), cell(&row, "language").to_owned());
        }
    }
    let by_id: BTreeMap<&str, &BTreeMap<String, String>> =
        found.iter().map(|row| (cell(row, "external_id"), row)).collect();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let truth = std::fs::read_to_string("raw/ferries-truth.jsonl").unwrap();
    truth
        .lines()
        .map(|line| {
            let truth: Value = serde_json::from_str(line).unwrap();
            let id = text(&truth["id"]);
            let row = by_id[id.as_str()];
            let of = |column: &str| cell(row, column).to_owned();
            let fate = of("fate");
            Row {
                class: text(&truth["class"]),
                wanted: text(&truth["wanted"]),
                language: text(&truth["language"]),
                apart_from: truth["kept_apart_from"].as_str().map(str::to_owned).into_iter().collect(),
                group: truth["group"].as_str().map(str::to_owned),
                fate: if fate.is_empty() || fate == "kept" { "exported".to_owned() } else { fate },
                merged_into: ids.get(cell(row, "merged_into")).map(|&id| id.to_owned()),
                reason: of("reason"),
                tier: of("tier"),
                category: of("category"),
                found_language: languages.get(&id).cloned().unwrap_or_default(),
                id,
            }
        })
        .collect()
}

/// Asserts that enough rows are right.
fn assert_share<'r>(
    what: &str,
    least: f64,
    rows: impl Iterator<Item = &'r Row>,
    is_right: impl Fn(&Row) -> bool,
) {
    let (mut n_right, mut n) = (0, 0);
    let mut wrong = Vec::new();
    for row in rows {
        n += 1;
        if is_right(row) { n_right += 1 } else { wrong.push(row.described()) }
    }
    let share = f64::from(n_right) / f64::from(n.max(1));
    assert!(n > 0 && share >= least, "{what}: {n_right} of {n}, wanted {least}\n{}", wrong.join("\n"));
}

#[test]
fn a_log_written_by_hand_is_decided_as_a_careful_person_would() {
    let rows = rows();
    let of = |class: &'static str| rows.iter().filter(move |row| row.class == class);
    let wanted = |wanted: &'static str| rows.iter().filter(move |row| row.wanted == wanted);
    // What is scored is true.
    let n_scored = rows.iter().filter(|row| row.has_verified_answer()).count();
    assert!(n_scored >= 95, "{n_scored}");
    assert_share("not scored", 1.0, wanted("not-scored"), |row| {
        !row.has_verified_answer() && !row.is_scored_irrelevance()
    });
    assert_share("plain successes", 0.9, of("plain-success"), Row::has_verified_answer);
    assert_share("all successes", 0.88, wanted("scored-answer"), Row::has_verified_answer);
    // A question with calls before it has no form in BFCL.
    let is_single = |row: &&Row| row.reason != "split/earlier-calls";
    assert_share("declined", 0.8, wanted("scored-irrelevance").filter(is_single), Row::is_scored_irrelevance);
    let is_wanted = |row: &&Row| {
        is_single(row) && ["scored-answer", "exported", "scored-irrelevance"].contains(&row.wanted.as_str())
    };
    assert_share("exported", 0.9, rows.iter().filter(is_wanted), Row::is_exported);
    // Duplicates are one, and what differs is not.
    assert_share("duplicates", 0.9, of("duplicate"), |row| row.fate == "merged");
    assert_share("later steps", 1.0, of("follow-up"), |row| row.fate == "merged");
    assert_share("look-alikes", 1.0, of("look-alike"), |row| {
        row.merged_into.as_ref().is_none_or(|into| !row.apart_from.contains(into))
    });
    assert_share("load test", 0.9, of("load-test"), |row| !row.is_exported());
    let groups: BTreeSet<&String> = rows.iter().filter_map(|row| row.group.as_ref()).collect();
    for group in groups {
        let n = rows.iter().filter(|row| row.group.as_ref() == Some(group) && row.is_exported()).count();
        assert!((1..=3).contains(&n), "{group}: {n}");
    }
    // Languages are right or open, never wrong.
    let has_language = |row: &&Row| !row.found_language.is_empty();
    assert_share("no wrong language", 0.97, rows.iter().filter(has_language), |row| {
        row.found_language == row.language || row.found_language == "und"
    });
    assert_share("languages", 0.77, rows.iter().filter(has_language), |row| {
        row.found_language == row.language
    });
}
