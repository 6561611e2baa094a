//! Tests of the functions of the library that need no run: `fix`, `pairs` and `check`.

use callsieve::Environment;
use callsieve::fix::{FixError, FixOptions, fix};
use callsieve::lint::{CheckOptions, check_path};
use callsieve::pairs::{FoundPair, Metric, PairsOptions, PairsSink, SkippedRows, pairs};

/// Keeps what is found.
#[derive(Default)]
struct Found {
    pairs: Vec<(String, String)>,
    unreadable: usize,
}

impl PairsSink for Found {
    fn skipped(&mut self, rows: &SkippedRows<'_>) {
        self.unreadable += rows.unreadable.len();
    }

    fn pairs(&mut self, pairs: &[FoundPair<'_>]) -> std::io::Result<()> {
        self.pairs.extend(pairs.iter().map(|pair| (pair.a.to_owned(), pair.b.to_owned())));
        Ok(())
    }
}

#[test]
fn docs_are_fixed_rows_are_paired_and_datasets_are_checked_without_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let docs = at(
        "docs.jsonl",
        "{\"name\": \"ring\", \"description\": \"Rings a bell.\", \"parameters\": {\"type\": \"object\", \"properties\": {}}}\nno docs {\n",
    );
    let mut ids = Vec::new();
    let counts = fix(&FixOptions::new(vec![docs]), |outcomes| {
        ids.extend(outcomes.iter().map(|outcome| outcome.id.to_string()));
        Ok(())
    });
    let counts = counts.unwrap();
    assert_eq!((counts.lists(), counts.changed, counts.unread, counts.is_good()), (2, 1, 1, false));
    assert_eq!(ids, ["\"line 1\"", "\"line 2\""]);
    let unread = fix(&FixOptions::new(vec![folder.path().join("none.json")]), |_| Ok(())).unwrap_err();
    assert!(matches!(unread, FixError::Read(_)), "{unread}");

    let rows = "{\"q\": \"Water the ferns in bay 4\"}\n{\"q\": \"Water all ferns in bay 4\"}\n{\"q\": \"Stop\"}\n{\n";
    let options = PairsOptions::new(at("rows.jsonl", rows), "q".to_owned(), Metric::RougeL);
    let mut found = Found::default();
    let report = pairs(&options, &Environment::default(), &mut found).unwrap();
    assert_eq!((report.n_rows, report.n_unreadable, report.n_found), (3, 1, 1));
    assert_eq!((found.unreadable, &found.pairs[..]), (1, &[("1".to_owned(), "2".to_owned())][..]));

    let docs = at("own.jsonl", "{\"id\": \"a\", \"function\": [{\"name\": \"ring\"}]}\n");
    let checked = check_path(&CheckOptions::new(docs.clone())).unwrap();
    assert_eq!((checked.files.len(), checked.report.n_functions), (1, 1));
    assert!(!checked.findings.is_empty());
    let mut options = CheckOptions::new(docs);
    options.codes.push("schema/enum-typ".to_owned());
    let unknown = check_path(&options).unwrap_err().to_string();
    assert!(unknown.contains("did you mean \"schema/enum-type\"?"), "{unknown}");
}
