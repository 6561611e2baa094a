//! The benchmarks of `callsieve audit`: published ones as they are, and the flags of their format.

use std::fs;
use std::path::Path;

use crate::support::{callsieve, shown};
use callsieve_testkit::data;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A category: its name, its entries, and those with a query, functions and calls that can be found.
type Counts = (String, [u64; 4]);

/// A set with its known categories.
type Published = (&'static str, &'static [(&'static str, [u64; 4])]);

fn audit(folder: &TempDir, bench: &Path, more: &[&str]) -> std::process::Output {
    let train = folder.path().join("train.jsonl");
    if !train.exists() {
        let row = json!({"messages": [{"role": "user", "content": "Polish the brass lamps in the hall."}]});
        fs::write(&train, format!("{row}\n")).unwrap();
    }
    let mut command = callsieve();
    command.current_dir(folder.path()).args([
        "audit",
        "--quiet",
        "--train",
        "train.jsonl",
        "--out",
        "out",
        "--bench",
    ]);
    command.arg(bench).args(more).output().unwrap()
}

fn counts(bench: &Path, more: &[&str]) -> Vec<Counts> {
    let folder = tempfile::tempdir().unwrap();
    let done = audit(&folder, bench, more);
    assert!(done.status.success(), "{}", shown(&done));
    let report: Value =
        serde_json::from_slice(&fs::read(folder.path().join("out/audit.json")).unwrap()).unwrap();
    let number = |value: &Value| value.as_u64().unwrap();
    let categories = report["categories"].as_array().unwrap().iter();
    categories
        .map(|category| {
            let of = &category["scorable"];
            let counts = [&category["entries"], &of["query"], &of["functions"], &of["call"]].map(number);
            (category["name"].as_str().unwrap().to_owned(), counts)
        })
        .collect()
}

#[test]
fn the_entries_of_published_benchmarks_are_counted() {
    let sets: [Published; 5] = [
        (
            "bfcl-v2-live",
            &[
                ("v2_live_irrelevance", [875, 872, 871, 0]),
                ("v2_live_multiple", [1037, 1037, 1037, 1012]),
                ("v2_live_parallel", [16, 16, 16, 16]),
                ("v2_live_parallel_multiple", [24, 24, 24, 24]),
                ("v2_live_relevance", [41, 41, 41, 0]),
                ("v2_live_simple", [258, 257, 258, 257]),
            ],
        ),
        (
            "apis/stabletoolbench/solvable_queries",
            &[
                ("G1_category.json", [153, 153, 153, 0]),
                ("G1_instruction.json", [163, 163, 163, 0]),
                ("G1_tool.json", [158, 158, 158, 0]),
                ("G2_category.json", [124, 124, 124, 0]),
                ("G2_instruction.json", [106, 106, 106, 0]),
                ("G3_instruction.json", [61, 61, 61, 0]),
            ],
        ),
        // One of the 264 files is empty; two dialogues call no API of the table.
        (
            "apis/api-bank",
            &[("level-1-given-desc", [213, 213, 212, 208]), ("level-2-toolsearcher", [50, 50, 49, 49])],
        ),
        (
            "apis/seal-tools",
            &[
                ("dev.jsonl", [700, 700, 700, 693]),
                ("test_in_domain.jsonl", [700, 700, 700, 683]),
                ("test_out_domain.jsonl", [654, 654, 654, 648]),
            ],
        ),
        (
            "apis/nestful",
            &[
                ("executable-data.json", [85, 85, 85, 85]),
                ("non-executable-glaive-data.json", [169, 169, 169, 169]),
                ("non-executable-sgd-data.json", [46, 46, 46, 46]),
            ],
        ),
    ];
    for (place, expected) in sets {
        let Some(path) = data::path(place) else { continue };
        let expected: Vec<Counts> =
            expected.iter().map(|(name, counts)| ((*name).to_owned(), *counts)).collect();
        assert_eq!(counts(&path, &[]), expected, "{place}");
    }
}

#[test]
fn columns_with_other_names_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let table = "key,wanted,offer,gold\nn1,Ring the tower bell.,\"def ring(bell: str, times: int):\n    '''Rings.'''\",\"ring(bell='tower', times=2)\"\n";
    fs::write(folder.path().join("mine.csv"), table).unwrap();
    let named = [
        "--bench-format",
        "columns",
        "--bench-column",
        "query=wanted",
        "--bench-column",
        "functions=offer",
        "--bench-column",
        "calls=gold",
        "--bench-column",
        "id=key",
    ];
    assert_eq!(counts(&folder.path().join("mine.csv"), &named), [("mine.csv".to_owned(), [1, 1, 1, 1])]);
    let row = json!({"messages": [{"role": "user", "content": "ring the tower bell"}]});
    fs::write(folder.path().join("train.jsonl"), format!("{row}\n")).unwrap();
    let done = audit(&folder, &folder.path().join("mine.csv"), &named);
    assert!(done.status.success(), "{}", shown(&done));
    let hit: Value = serde_json::from_slice(
        fs::read(folder.path().join("out/hits.jsonl")).unwrap().split(|b| *b == b'\n').next().unwrap(),
    )
    .unwrap();
    assert_eq!((&hit["bench_id"], &hit["method"]), (&json!("n1"), &json!("exact")));
}

#[test]
fn what_is_no_benchmark_of_the_format_is_refused_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let text = "{\"query\": \"Ring.\", \"query_id\": 1, \"api_list\": []}\n{\"query\": 7, \"query_id\": 2, \"api_list\": []}\n";
    fs::write(folder.path().join("G1_query.jsonl"), text).unwrap();
    let path = folder.path().join("G1_query.jsonl");
    for (more, expected) in [
        (
            &[][..],
            "G1_query.jsonl:2: no entry of format toolbench: \"query\": expected a text or a list of texts, found a number",
        ),
        (
            &["--bench-format", "seal-tools"],
            "G1_query.jsonl:1: no entry of format seal-tools: \"calling\": expected a list, found nothing",
        ),
        (
            &["--bench-format", "columns", "--bench-column", "query=text"],
            "G1_query.jsonl:1: no entry of format columns: \"the record\"",
        ),
        (&["--bench-format", "columns"], "--bench-format columns and --bench-column belong together"),
        (&["--bench-column", "query=text"], "--bench-format columns and --bench-column belong together"),
        (&["--bench-format", "toolbnch"], "found \"toolbnch\", expected one of bfcl, toolbench"),
        (&["--bench-format", "columns", "--bench-column", "text"], "expected ROLE=NAME"),
    ] {
        let refused = audit(&folder, &path, more);
        let text = shown(&refused);
        assert!(refused.status.code() == Some(2) && text.contains(expected), "{more:?}: {text}");
    }
    // Any file can be read as rows.
    assert_eq!(counts(&path, &["--bench-format", "rows"]).len(), 1);
}
