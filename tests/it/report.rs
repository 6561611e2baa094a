//! Tests of the report of a finished run in all forms: `report.json`, the dataset card, the page, the screen.

use std::collections::BTreeSet;
use std::path::Path;

use crate::support::{output, run_sample};
use callsieve::engine::frame::FrameFile;
use saphyr_parser::{Event, Parser};
use serde_json::{Value, json};

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

fn report_as(out: &Path, form: &[&str]) -> String {
    let mut arguments = vec!["report", out.to_str().unwrap()];
    arguments.extend(form);
    let output = output(&arguments);
    assert!(output.status.success(), "{}", crate::support::shown(&output));
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the metadata block of a card.
fn metadata(card: &str) -> &str {
    card.strip_prefix("---\n").unwrap().split_once("\n---\n").unwrap().0
}

/// Returns the texts of a YAML document in order; keys and values alike.
fn scalars(yaml: &str) -> Vec<String> {
    Parser::new_from_str(yaml)
        .filter_map(|event| match event.unwrap().0 {
            Event::Scalar(text, ..) => Some(text.into_owned()),
            _ => None,
        })
        .collect()
}

#[test]
fn the_card_of_the_sample_is_complete() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    let card_words = [
        "--set",
        "export.card.title=\"Ferries: a \\\"sample\\\"\"",
        "--set",
        "export.card.licence=Apache-2.0",
        "--set",
        "export.card.source_licence=\"Apache-2.0, written for this project\"",
    ];
    run_sample(&out, &card_words);
    let card = text(&out.join("dataset/README.md"));
    let shown = card.replace(concat!("callsieve ", env!("CARGO_PKG_VERSION")), "callsieve VERSION");
    let shown = shown.replace(concat!("(", env!("CARGO_PKG_VERSION"), ")"), "(VERSION)");
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true, snapshot_path => "../snapshots" }, {
        insta::assert_snapshot!("card", shown);
    });

    let scalars = scalars(metadata(&card));
    let value_of = |key: &str| {
        let at = scalars.iter().position(|scalar| scalar == key).unwrap_or_else(|| panic!("no key {key}"));
        scalars[at + 1].as_str()
    };
    assert_eq!(value_of("pretty_name"), "Ferries: a \"sample\"");
    assert_eq!(value_of("license"), "apache-2.0");
    assert_eq!(value_of("size_categories"), "n<1K");
    let paths: Vec<&String> =
        scalars.iter().zip(&scalars[1..]).filter(|(key, _)| *key == "path").map(|(_, path)| path).collect();
    assert_eq!(paths, ["data/scored.parquet", "data/unverified.parquet"]);
    let dataset = out.join("dataset");
    for file in walk(&dataset).iter().filter(|file| !file.ends_with("README.md")) {
        let name = file.strip_prefix(dataset.to_str().unwrap()).unwrap().trim_start_matches('/');
        assert!(card.contains(&format!("| `{name}` |")), "{name} is told of");
    }
}

fn walk(folder: &Path) -> Vec<String> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files.extend(walk(&path)) } else { files.push(path.display().to_string()) }
    }
    files
}

#[test]
fn every_reason_of_the_ledger_is_in_every_form() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    run_sample(&out, &["--set", "fix-docs.allow_unsafe=false"]);
    let ledger = FrameFile::open(&out.join("ledger.parquet")).unwrap().read_all().unwrap();
    let (reasons, actions) = (ledger.texts("reason").unwrap(), ledger.texts("action").unwrap());
    let found: BTreeSet<&str> = (0..ledger.height()).filter_map(|row| reasons.get(row)).collect();
    assert!(found.len() > 20, "{found:?}");
    let card = text(&out.join("dataset/README.md"));
    let page = text(&out.join("report.html"));
    for reason in &found {
        assert!(card.contains(&format!("`{reason}`")), "{reason} in the card");
        assert!(page.contains(&format!("<code>{reason}</code>")), "{reason} in the page");
    }
    let report: Value = serde_json::from_str(&text(&out.join("report.json"))).unwrap();
    let rows = |list: &str, key: &str| -> u64 {
        report[list].as_array().unwrap().iter().map(|row| row[key].as_u64().unwrap()).sum()
    };
    let n_edits = (0..ledger.height()).filter(|&row| actions.get(row) == Some("edit")).count() as u64;
    assert_eq!(rows("edits", "edits"), n_edits);
    assert_eq!(rows("fates", "rows"), ledger.height() as u64 - n_edits);
    for row in report["fates"].as_array().unwrap().iter().chain(report["edits"].as_array().unwrap()) {
        assert!(row["example"]["request_id"].is_string(), "{row}");
        assert!(!row["description"].as_str().unwrap().is_empty(), "{row}");
    }
}

#[test]
fn nothing_of_the_log_is_quoted_without_redaction() {
    let folder = tempfile::tempdir().unwrap();
    let (out, file) = (folder.path().join("run"), folder.path().join("bare.toml"));
    let bare =
        ["redact", "redact-docs"].iter().fold(callsieve::pipeline::LIVE.to_owned(), |pipeline, kind| {
            pipeline.replace(&format!("[[stages]]\nkind = \"{kind}\"\n"), "")
        });
    std::fs::write(&file, bare).unwrap();
    let file = file.to_str().unwrap();
    let run = output(&["run", file, "raw/hosted.jsonl", "--quiet", "--out", out.to_str().unwrap()]);
    assert!(run.status.success(), "{}", crate::support::shown(&run));
    let report: Value = serde_json::from_str(&text(&out.join("report.json"))).unwrap();
    assert_eq!(report["redacted"], json!({}));
    for row in report["fates"].as_array().unwrap().iter().chain(report["edits"].as_array().unwrap()) {
        assert_eq!(row["example"]["text"], Value::Null, "{row}");
    }
}

#[test]
fn a_finished_run_can_be_reported_again_in_every_form() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    run_sample(&out, &[]);
    assert_eq!(report_as(&out, &["--json"]), text(&out.join("report.json")));
    assert_eq!(report_as(&out, &["--markdown"]), text(&out.join("dataset/README.md")));
    assert_eq!(report_as(&out, &["--html"]), text(&out.join("report.html")));
    let screen = report_as(&out, &[]);
    let again = output(&["run", "--out", out.to_str().unwrap(), "--set", crate::support::ANSWERS]);
    assert!(again.status.success(), "{}", crate::support::shown(&again));
    assert!(String::from_utf8(again.stdout).unwrap().starts_with(&screen));
    let refused = output(&["report", out.to_str().unwrap(), "--json", "--html"]);
    assert_eq!(refused.status.code(), Some(2));
}

#[test]
fn the_card_holds_no_time_no_folder_and_no_name_of_an_input() {
    let folder = tempfile::tempdir().unwrap();
    let card = |name: &str| {
        let home = folder.path().join(name);
        std::fs::create_dir(&home).unwrap();
        for file in ["hosted.jsonl", "answers.jsonl"] {
            let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("raw").join(file);
            std::fs::copy(from, home.join(file)).unwrap();
        }
        let log = home.join(format!("log-of-{name}.jsonl"));
        std::fs::rename(home.join("hosted.jsonl"), &log).unwrap();
        let out = home.join("run");
        let decisions = home.join("answers.jsonl");
        let decisions = decisions.to_str().unwrap();
        run_sample(&out, &["--decisions", decisions, "--input", log.to_str().unwrap()]);
        let card = text(&out.join("dataset/README.md"));
        assert!(!card.contains(folder.path().to_str().unwrap()) && !card.contains("log-of"), "{card}");
        card
    };
    let one = card("one");
    assert_eq!(one, card("two"));
    assert!(one.contains("decisions = \"answers.jsonl\""));
}

#[test]
fn notes_of_a_stage_on_public_sets_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    run_sample(&out, &[]);
    let report: Value = serde_json::from_str(&report_as(&out, &["--json"])).unwrap();
    let sets = report["public_sets"].as_array().unwrap();
    let told = |set: &str| sets.iter().find(|told| told["set"] == set).unwrap();
    assert_eq!(told("callsieve-sample")["status"], "checked");
    assert_eq!(told("nexusraven")["status"], "not on disk");
    assert_eq!(told("nexusraven")["stage"], "drop-public-overlap");
    assert_eq!(report["notes"]["drop-public-overlap"]["not_compared"].as_array().unwrap().len(), 4);
    let card = report_as(&out, &["--markdown"]);
    assert!(card.contains("| nexusraven | unknown | not on disk |"), "{card}");
    assert!(card.contains("not checked: set not on disk"), "the set of our own proves nothing: {card}");
}

#[test]
fn the_fates_of_merged_rows_and_their_methods_are_reported_for_this_run() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    run_sample(&out, &[]);
    let rows = FrameFile::open(&out.join("rows.parquet")).unwrap().read_all().unwrap();
    let cell = |column: &str, row| rows.texts(column).unwrap().get(row).unwrap_or_default();
    let why = |row| {
        let told = output(&["why", out.to_str().unwrap(), cell("request_id", row)]);
        String::from_utf8(told.stdout).unwrap()
    };
    let similar = (0..rows.height()).find(|&row| cell("reason", row) == "query/similar").unwrap();
    let by_spelling = "Another request has a query with similar wording (hashed n-grams).";
    assert!(why(similar).contains(by_spelling), "{}", why(similar));

    let leader = |row| (0..rows.height()).find(|&at| cell("request_id", at) == cell("merged_into", row));
    let is_left = |&row: &usize| leader(row).is_some_and(|leader| cell("fate", leader) == "held");
    let merged = (0..rows.height()).find(is_left).unwrap();
    let id = &cell("merged_into", merged)[..12];
    let line = format!("merged into {id}, which is held: {}", cell("reason", leader(merged).unwrap()));
    assert!(why(merged).contains(&line) && !why(merged).contains("which is exported"), "{}", why(merged));

    let report: Value = serde_json::from_str(&report_as(&out, &["--json"])).unwrap();
    for table in ["requests", "doc_lists"] {
        let fates = report["fates"].as_array().unwrap().iter().filter(|fate| fate["table"] == table);
        let n_left: u64 = fates.map(|fate| fate["merged_into_not_exported"].as_u64().unwrap()).sum();
        assert!(n_left > 0 && report[table]["merged_into_not_exported"] == n_left, "{table}: {n_left}");
    }
    let screen = report_as(&out, &[]);
    let told = screen.lines().find_map(|line| line.strip_prefix("merged    ")).unwrap();
    for form in ["--markdown", "--html"] {
        let form = report_as(&out, &[form]);
        assert!(
            form.contains(&format!("the duplicate is not in the dataset either. Requests: {told}.")),
            "{form}"
        );
        assert!(form.contains(by_spelling) || form.contains(&by_spelling.replace('\'', "&#39;")), "{form}");
    }
    let tiers =
        ["recorded", "judged"].map(|tier| report["entries"]["tier"][tier].as_u64().unwrap_or_default());
    assert_eq!(
        tiers.iter().sum::<u64>(),
        report["exported"].as_object().map_or(0, |exported| {
            let unverified = exported.iter().filter(|(heading, _)| heading.starts_with("unverified/"));
            unverified.map(|(_, n)| n.as_u64().unwrap()).sum::<u64>()
        })
    );
}

#[test]
fn a_pipeline_without_a_dataset_has_a_report_and_no_card() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    let run = output(&[
        "run",
        "pipelines/parse-only.toml",
        "--quiet",
        "--out",
        out.to_str().unwrap(),
        "--input",
        "raw/pairs.csv",
    ]);
    assert!(run.status.success(), "{}", crate::support::shown(&run));
    assert!(!out.join("dataset").exists() && out.join("report.html").is_file());
    let report: Value = serde_json::from_str(&report_as(&out, &["--json"])).unwrap();
    assert_eq!(report["exported"], json!({}));
    assert_eq!(report["entries"]["category"], json!({}));
    assert!(report["requests"]["kept"].as_u64() > Some(0));
}

#[test]
fn what_the_steps_took_is_shown_on_request_and_never_in_the_page_of_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    run_sample(&out, &[]);
    let report: Value = serde_json::from_str(&text(&out.join("report.json"))).unwrap();
    let timing = report["timing"].as_array().unwrap();
    let steps: Vec<&str> = timing.iter().map(|it| it["step"].as_str().unwrap()).collect();
    let figures = |key: &str| -> Vec<u64> { timing.iter().filter_map(|it| it[key].as_u64()).collect() };
    if cfg!(target_os = "linux") {
        let (memory, peaks) = (figures("memory"), figures("peak_memory"));
        assert_eq!((memory.len(), peaks.len()), (steps.len(), steps.len()));
        // The system counts pages of other threads a little late.
        let is_at_most = |one: &u64, other: &u64| *one <= other + (1 << 20);
        assert!(peaks.is_sorted_by(is_at_most), "{peaks:?}");
        assert!(memory.iter().zip(&peaks).all(|(now, peak)| is_at_most(now, peak)), "{timing:?}");
        assert!(memory[0] > 1 << 20, "{memory:?}");
    }
    let screen = report_as(&out, &["--timing"]);
    let plain = report_as(&out, &[]);
    let (summary, table) = screen.split_at(plain.len());
    assert_eq!(summary, plain);
    assert!(steps.iter().all(|step| table.contains(&format!("\n{step} "))), "{table}");
    assert!(table.contains("at most") && table.contains("\nall "), "{table}");
    let page = report_as(&out, &["--html", "--timing"]);
    for id in ["seconds", "memory"] {
        let figure = format!("<figure class=\"chart\" id=\"{id}\">");
        assert!(!text(&out.join("report.html")).contains(&figure), "{id}");
        assert_eq!(page.contains(&figure), id == "seconds" || cfg!(target_os = "linux"), "{id}");
    }
    assert!(page.contains("<a href=\"#timing\">Time and memory</a>"));
}
