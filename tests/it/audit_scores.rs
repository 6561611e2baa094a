//! `callsieve audit scores` through the command: its output, files and refusals, on made-up leaderboards.

use std::fmt::Write as _;
use std::fs;
use std::process::Output;

use crate::support::{callsieve, shown};
use serde_json::Value;
use tempfile::TempDir;

/// A leaderboard with the columns of BFCL's: 26 models, of which one is far better on the non-live questions.
fn leaderboard() -> String {
    let mut text = "Rank,Overall Acc,Model,Model Link,Non-Live AST Acc,Non-Live Simple AST,Live Acc,Live Simple AST,Organization\n".to_owned();
    for n in 0..24_u32 {
        let (family, mode) = (["Tern", "Skua", "Gannet"][n as usize % 3], ["FC", "Prompt"][n as usize % 2]);
        let size = ["1.5B", "7B", "32B", "8x22B", "Large"][n as usize % 5];
        let x = 55.0 + f64::from(n) * 1.5;
        let y = 4.0 + 0.9 * x + f64::from(n * 5 % 7) - 3.0;
        writeln!(
            text,
            "{},{y:.2}%,{family}-{n}-{size} ({mode}),https://example.com,{x:.2}%,{:.2}%,{y:.2}%,{:.2}%,Made up",
            n + 1,
            x - 4.0,
            y - 6.0
        )
        .unwrap();
    }
    text.push_str("25,50%,Gull-7B (FC),https://example.com,84.00%,80.00%,56.00%,70.00%,Made up\n");
    text.push_str("26,50%,Petrel (Prompt),https://example.com,N/A,80.00%,56.00%,70.00%,Made up\n");
    text
}

struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("board.csv"), leaderboard()).unwrap();
        Self(folder)
    }

    fn run(&self, columns: &str, arguments: &[&str]) -> Output {
        let mut command = callsieve();
        command.current_dir(self.0.path()).env("COLUMNS", columns).args(["audit", "scores"]);
        command.args(arguments).output().unwrap()
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.0.path().join(name)).unwrap()
    }
}

#[test]
fn the_report_fits_80_and_120_columns() {
    let folder = Folder::new();
    for columns in ["80", "120"] {
        let done = folder.run(columns, &["board.csv", "--top", "4"]);
        assert_eq!(done.status.code(), Some(0), "{}", shown(&done));
        let screen = String::from_utf8(done.stdout).unwrap();
        let widest = screen.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(widest <= columns.parse().unwrap(), "{screen}");
        assert!(
            screen.contains("Gull-7B") && screen.contains("consistent with") && !screen.contains("proven"),
            "{screen}"
        );
        insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true, snapshot_path => "../snapshots" }, {
            insta::assert_snapshot!(format!("audit_scores_{columns}"), screen);
        });
    }
}

#[test]
fn all_residuals_are_written_the_same_every_time() {
    let folder = Folder::new();
    let arguments = ["board.csv", "--residuals", "r.csv", "--page", "page.html", "--json"];
    let first = folder.run("80", &arguments);
    assert_eq!(first.status.code(), Some(0), "{}", shown(&first));
    let (csv, page) = (folder.read("r.csv"), folder.read("page.html"));
    let report: Value = serde_json::from_slice(&first.stdout).unwrap();
    let pairs = report["pairs"].as_array().unwrap();
    // Columns that the table does not have are no pairs.
    assert_eq!(
        pairs.iter().map(|pair| pair["x"].as_str().unwrap()).collect::<Vec<_>>(),
        ["Non-Live AST Acc", "Non-Live Simple AST"]
    );
    assert_eq!(
        (&pairs[0]["models"], &pairs[0]["without"], &pairs[0]["low"]),
        (&25.into(), &1.into(), &1.into())
    );
    let lowest = &pairs[0]["residuals"][0];
    assert_eq!(
        (&lowest["model"], &lowest["is_low"], &lowest["line"]),
        (&"Gull-7B (FC)".into(), &true.into(), &26.into())
    );
    assert_eq!(csv.lines().count(), 1 + 25 + 26);
    assert!(page.starts_with("<!DOCTYPE html>") && page.matches("<svg").count() == 2);
    assert_eq!(folder.run("80", &arguments).stdout, first.stdout);
    assert_eq!((folder.read("r.csv"), folder.read("page.html")), (csv, page));
    let other = folder.run("80", &["board.csv", "--residuals", "r.jsonl", "--seed", "2", "--json"]);
    assert_ne!(other.stdout, first.stdout);
    let rows: Vec<Value> =
        folder.read("r.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((rows.len(), &rows[0]["mode"], &rows[0]["size"]), (51, &"fc".into(), &"4-15B".into()));
}

#[test]
fn columns_are_chosen_and_wrong_ones_are_refused() {
    let folder = Folder::new();
    let chosen = [
        "board.csv",
        "--x",
        "Non-Live Simple AST",
        "--y",
        "Live Acc",
        "--n-x",
        "550",
        "--n-y",
        "1351",
        "--json",
    ];
    let done = folder.run("80", &chosen);
    assert_eq!(done.status.code(), Some(0), "{}", shown(&done));
    let report: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!((&report["pairs"][0]["models"], &report["pairs"][0]["n_x"]), (&26.into(), &550.0.into()));
    for (name, text) in [
        ("bad.csv", "model,x,y\na,1,2\nb,good,2\n"),
        ("mixed.csv", "model,x,y\na,50%,2\nb,60,2\nc,0.6,2\n"),
        ("twice.csv", "model,x,y,x\na,1,2,3\nb,2,2,3\n"),
    ] {
        fs::write(folder.0.path().join(name), text).unwrap();
    }
    for (arguments, expected) in [
        (
            &["board.csv", "--x", "Non-Live", "--y", "Live Acc"][..],
            "board.csv:1: no column \"Non-Live\", found Rank, Overall Acc",
        ),
        (&["board.csv", "--x", "Live Acc"], "found 1 of --x and 0 of --y"),
        (&["bad.csv"], "bad.csv:3: column \"x\": expected a score from 0 to 100, or N/A, found \"good\""),
        (
            &["mixed.csv"],
            "mixed.csv:4: column \"x\": expected a percent sign, as other scores of the column have, found \"0.6\"",
        ),
        (&["twice.csv"], "twice.csv:1: found 2 columns \"x\", expected one"),
        (
            &["board.csv", "--n-x", "nan"],
            "--n-x: expected a number of questions, 1 or more, or a column, found \"nan\"",
        ),
        (
            &["board.csv", "--n-y=-3"],
            "--n-y: expected a number of questions, 1 or more, or a column, found \"-3\"",
        ),
        (&["board.csv", "--n-x", "0"], "found \"0\""),
        (&["board.csv", "--n-x", "1e400"], "found \"1e400\""),
        (&["nowhere.csv"], "nowhere.csv: cannot be read"),
        (&["board.csv", "--samples", "5"], "100..=100000"),
    ] {
        let refused = folder.run("80", arguments);
        // Messages wrap at the width of the screen.
        let text = shown(&refused).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(refused.status.code() == Some(2) && text.contains(expected), "{arguments:?}: {text}");
    }
    // The audit itself still wants its files.
    let bare = callsieve().arg("audit").output().unwrap();
    assert!(bare.status.code() == Some(2) && shown(&bare).contains("--train"), "{}", shown(&bare));
}
