//! What holds for the writers whatever a run holds: text from outside stays text, and nothing is left out.

use serde_json::json;

use super::examples::{self, Marked, Piece, Shown};
use super::funnel::FunnelRow;
use super::model::{EditReport, Example, FateReport, Report};
use super::published::{Published, Unit};
use super::recipe::{PublicSet, public_sets, steps};
use super::{html, markdown};
use crate::engine::contract::Role;
use crate::engine::delta::{KeptRows, StageManifest};
use crate::engine::vocabulary::TableId;
use crate::public_sets::compared::SETS_NOTE;
use crate::relevance::language_group::LanguageGroup;
use crate::relevance::measure::{Label, Point, Thresholds};
use crate::relevance::model::Operating;
use crate::relevance::operating::{JudgedBy, operating_point};
use crate::stages::{self, Notes};

/// Markup, a table border, a line break, code.
const NASTY: &str = "<script>alert(1)</script> | a\n# b `c` [d](javascript:e) \"f\" 'g'";

fn fate(table: &str, reason: &str, cascaded: bool, rows: u64) -> FateReport {
    FateReport {
        stage: "s".to_owned(),
        table: table.to_owned(),
        action: "drop".to_owned(),
        reason: reason.to_owned(),
        description: NASTY.to_owned(),
        kind: None,
        cascaded,
        rows,
        merged_into_not_exported: 0,
        example: Example {
            row_id: "0123456789abcdef".to_owned(),
            text: Some(NASTY.to_owned()),
            ..Example::default()
        },
        examples: Vec::new(),
    }
}

fn nasty_report() -> Report {
    let mut report = Report { pipeline: "p".to_owned(), version: "0".to_owned(), ..Report::default() };
    report.card.title = NASTY.to_owned();
    report.card.licence = NASTY.to_owned();
    report.card.source_licence = NASTY.to_owned();
    report.card.contact = NASTY.to_owned();
    report.fates = vec![fate("requests", "a/b", false, 1)];
    report.edits = vec![EditReport {
        stage: "s".to_owned(),
        table: "doc_lists".to_owned(),
        reason: "c/d".to_owned(),
        description: NASTY.to_owned(),
        safety: NASTY.to_owned(),
        edits: 1,
        example: Example { text: Some(NASTY.to_owned()), ..Example::default() },
        examples: Vec::new(),
    }];
    report.entries.language.insert(NASTY.to_owned(), 1);
    report.public_sets = vec![PublicSet {
        stage: "s".to_owned(),
        set: NASTY.to_owned(),
        licence: NASTY.to_owned(),
        may_be_quoted: true,
        built_in: false,
        checked: false,
        status: NASTY.to_owned(),
    }];
    report.rebuild.pipeline = format!("about = '''{NASTY} ``` '''");
    report
}

#[test]
fn a_script_in_any_text_is_shown_and_does_not_run() {
    let report = nasty_report();
    let page = html::page(&report, NASTY, None);
    // The only script is that of the page itself.
    assert_eq!(page.matches("<script").count(), 1, "{page}");
    assert!(page.contains("script-src 'sha256-"));
    assert!(page.matches("&lt;script&gt;").count() >= 12, "every text is shown");
    assert!(page.contains("default-src 'none'"));
    let card = markdown::card(&report);
    let (before, after) = card.split_once("\n````toml\n").expect("the fence is longer than what is inside");
    let (_, metadata_and_text) = before.split_at(4);
    let (_, text) = metadata_and_text.split_once("\n---\n").unwrap();
    assert!(!text.contains("<script"), "{text}");
    assert!(!text.replace("\\]", "").contains("](javascript"), "{text}");
    assert!(after.contains("\n````\n"));
    let rows = text.lines().filter(|line| line.contains("alert")).filter(|line| line.starts_with('|'));
    assert!(rows.clone().count() >= 5);
    for row in rows {
        let n_borders = row.matches('|').count() - row.matches("\\|").count();
        assert!((3..=7).contains(&n_borders), "a cell ends where it should: {row}");
    }
}

#[test]
fn followers_are_counted_with_what_they_follow_and_by_themselves_without_it() {
    let report = Report {
        fates: vec![
            fate("requests", "a/b", true, 5),
            fate("doc_lists", "a/b", false, 2),
            fate("doc_lists", "cascade/no-request-left", true, 3),
        ],
        ..Report::default()
    };
    let text: Vec<(&str, u64, u64)> =
        report.shown_fates("drop").map(|(fate, followed)| (&*fate.reason, fate.rows, followed)).collect();
    assert_eq!(text, [("a/b", 2, 5), ("cascade/no-request-left", 3, 0)]);
}

#[test]
fn bars_are_shares_of_the_pairs_read_on_both_sides() {
    let row = |step: &str, requests, bfcl| FunnelRow {
        step: step.to_owned(),
        description: String::new(),
        doc_lists: 0,
        requests,
        percent: 0.0,
        bfcl,
    };
    let published = |count, unit| Some(Published { count, unit });
    let mut report = Report {
        funnel: vec![
            row("ingest", 200, published(1_000, Unit::Requests)),
            row("export", 50, published(30, Unit::Entries)),
        ],
        ..Report::default()
    };
    report.ingest.records = 200;
    let page = html::page(&report, "run", None);
    assert!(page.contains("class=\"bar a\" style=\"width:25.00%\""), "{page}");
    assert!(page.contains("class=\"bar c\" style=\"width:3.00%\""), "{page}");
}

fn stage(kind: &str, settings: serde_json::Value) -> StageManifest {
    let contract = crate::stages::kind(kind).map(|kind| kind.with_defaults().contract());
    StageManifest {
        key: String::new(),
        upstream: String::new(),
        id: kind.to_owned(),
        kind: kind.to_owned(),
        settings,
        table: TableId::Requests,
        role: contract.map_or(Role::Plain, |contract| contract.role),
        before: KeptRows::default(),
        after: KeptRows::default(),
        fates: vec![],
        edits: [].into(),
        suggestions: [].into(),
        seconds: 0.0,
        memory: None,
        bytes: 0,
        notes: [].into(),
    }
}

#[test]
fn every_step_of_the_recipe_says_what_became_of_it() {
    let mut overlap = stage("drop-public-overlap", json!({}));
    let note = json!([{"id": "a", "on_disk": false, "url": "https://example.org", "licence": "unknown"}]);
    overlap.notes.insert(SETS_NOTE.to_owned(), note);
    let sets = public_sets(&overlap);
    let stages = [
        stage("redact", json!({})),
        stage("merge-exact-docs", json!({})),
        overlap,
        stage("draft-answers", json!({"answers": null})),
    ];
    let steps = steps(&stages, &sets, 0);
    let status = |start: &str| steps.iter().find(|step| step.step.starts_with(start)).unwrap().status.name();
    assert_eq!(status("collect"), "ran");
    assert_eq!(status("merge exactly"), "ran");
    assert_eq!(status("remove docs"), "not checked: set not on disk");
    assert_eq!(status("replace sensitive"), "ran in part");
    assert_eq!(status("merge similar docs"), "not run: not in the pipeline");
    assert_eq!(status("enhance"), "not run: not in the pipeline");
    let answers = steps.iter().find(|step| step.step == "write answers").unwrap();
    assert_eq!(answers.status.name(), "ran by rule");
    assert!(answers.note.contains("and got none by people"), "{}", answers.note);
}

#[test]
fn every_entry_that_stands_in_the_folder_is_counted_and_frozen_ones_are_named() {
    let mut report = Report { pipeline: "p".to_owned(), ..Report::default() };
    report.exported.insert("scored/simple".to_owned(), 1);
    report.frozen = [("scored/simple".to_owned(), 1_200), ("unverified/multiple".to_owned(), 5)].into();
    let card = markdown::card(&report);
    for text in [
        "- 1K<n<10K\n",
        "the dataset 1,206 entries:\n\n- `scored`: 1,201.",
        "| 1,201 |\n",
        "| `unverified/BFCL_v4_live_multiple.json` | questions, `unverified`, `multiple` | 5 |",
        "| `simple` | 1,201 | 0 | 1,200 |",
        "1,205 entries are copied unchanged from an earlier dataset (frozen)",
    ] {
        assert!(card.contains(text), "{text}: {card}");
    }
    let page = html::page(&report, "run", None);
    assert!(
        page.contains("<b>1,201</b>")
            && page.contains("<b>5</b>")
            && page.contains("1,205 entries are copied unchanged"),
        "{page}"
    );
    report.frozen.clear();
    assert!(
        !markdown::card(&report).contains("frozen") && !html::page(&report, "run", None).contains("frozen")
    );
}

#[test]
fn the_curve_of_the_judge_stands_near_its_counts_on_card_and_page() {
    let mut report = Report::default();
    let lines = Thresholds { relevant_from: 0.9, irrelevant_to: 0.1 };
    let curve = [Point {
        side: Label::Irrelevant,
        precision: 0.9,
        threshold: 0.2,
        coverage: 0.25,
        recall: 0.5,
        n_decided: 10,
        n_right: 9,
    }];
    let text =
        |probability| JudgedBy::Text { probability, is_barred: false, languages: LanguageGroup::English };
    let english = Operating { thresholds: lines, curve: curve.to_vec() };
    let other = Operating { thresholds: Thresholds::NEVER, curve: Vec::new() };
    let point = operating_point(&[text(0.05), text(0.15), text(0.15)], &english, &other, Some(0.95));
    report.operating_points.insert(NASTY.to_owned(), point);
    let (card, page) = (markdown::card(&report), html::page(&report, "run", None));
    let about = "judged 3 requests from the text alone (target precision 95.0 %): 3 in English, relevant from probability \
                 0.900, irrelevant up to probability 0.100.";
    assert!(card.contains("| English, irrelevant, 90.0 % | 0.200 | 25.0 % | 3 | +2 |\n"), "{card}");
    assert!(
        card.contains("### Relevance judged from the text alone")
            && page.contains("<td class=\"n\" data-label=\"change\">+2"),
        "{page}"
    );
    assert!(page.contains(about), "{page}");
    assert!(page.matches("<script").count() == 1 && !card.contains("<script"), "{page}");
    report.operating_points.clear();
    assert!(!markdown::card(&report).contains("Relevance judged from the text alone"));
}

#[test]
fn forgotten_rows_are_in_the_sums_and_entries_judged_by_rule_in_the_limits() {
    let mut report = Report::default();
    (report.ingest.lines, report.ingest.records, report.ingest.forgotten) = (9, 8, 1);
    (report.requests.rows, report.requests.kept, report.requests.forgotten) = (8, 6, 2);
    report.exported = [("scored/irrelevance".to_owned(), 4), ("unverified/irrelevance".to_owned(), 3)].into();
    report.entries.tier = [("judged".to_owned(), 3)].into();
    assert_eq!(
        report.lines_sum().to_string(),
        "9 = 8 requests + 0 without a request + 0 unreadable + 1 forgotten"
    );
    assert_eq!(report.requests_sum().to_string(), "8 = 6 kept + 0 merged + 0 held + 0 dropped + 2 forgotten");
    (
        report.requests.kept,
        report.requests.merged,
        report.requests.merged_into_not_exported,
        report.requests.held,
    ) = (1, 3, 1, 2);
    assert_eq!(report.requests_sum().to_string(), "8 = 1 kept + 3 merged + 2 held + 0 dropped + 2 forgotten");
    assert_eq!(report.merged_sum().unwrap().to_string(), "3 = 2 into kept + 1 into held or dropped");
    let text = report.merges_sentence();
    assert!(
        text.ends_with("not in the dataset either. Requests: 3 = 2 into kept + 1 into held or dropped."),
        "{text}"
    );
    report.requests.merged_into_not_exported = 0;
    assert!(report.merges_sentence().ends_with("represents each of them."));
    report.requests.merged_into_not_exported = 1;
    for text in [markdown::card(&report), html::page(&report, "run", None)] {
        assert!(text.contains("+ 2 forgotten") && text.contains("+ 1 forgotten"), "{text}");
        assert!(
            text.contains(
                "This run made 4 scored entries of the category irrelevance. Where no person decided"
            ),
            "{text}"
        );
        assert!(
            text.contains(
                "Labels of the tier judged (3) come from the text, or from an answer of the logged model"
            ),
            "{text}"
        );
        assert!(!text.contains("Unverified answers"), "{text}");
    }
}

#[test]
fn a_line_of_the_funnel_says_no_more_than_was_done() {
    let left = |kind: &str, settings| {
        (stages::kind(kind).unwrap().funnel_label)(&settings, &Notes::new()).into_owned()
    };
    let (queries, docs) = ("merge-near-queries", "drop-baseline-overlap");
    for (kind, settings, said) in [
        (queries, json!({}), "similar queries merged (hashed n-grams)"),
        (queries, json!({"cosine": "off"}), "similar queries merged (ROUGE-L)"),
        (queries, json!({"cosine": "off", "rouge_l": "off"}), "equal queries merged"),
        (
            queries,
            json!({"cosine": "off", "rouge_l": "off", "exact": false}),
            "queries not compared: every measure is off",
        ),
        (
            queries,
            json!({"embedder": "local:hub:org/mini"}),
            "similar queries merged (wording or embedding: org/mini)",
        ),
        (docs, json!({}), "no earlier dataset compared"),
        (docs, json!({"run": "out/march"}), "not in the earlier dataset"),
    ] {
        assert_eq!(left(kind, settings), said);
    }
}

#[test]
fn notes_and_limits_say_what_was_compared_here_and_not_what_no_stage_did() {
    let note = |kind: &str, settings| {
        let steps = steps(&[stage(kind, settings)], &[], 0);
        steps.into_iter().find(|step| !step.stages.is_empty()).unwrap().note
    };
    assert!(note("merge-near-queries", json!({})).ends_with("this run compares words and hashed n-grams"));
    assert!(note("merge-near-queries", json!({"cosine": "off"})).ends_with("this run compares words only"));
    let server = json!({"embedder": "endpoint:m"});
    assert!(note("merge-near-queries", server).ends_with("this run compares words and embeddings of m"));
    assert_eq!(note("merge-near-docs", json!({"threshold": 0.6})), "this run merges docs above 0.6");
    assert_eq!(note("merge-near-docs", json!({"threshold": 0.8})), "");
    let absent = steps(&[], &[], 0).into_iter().find(|step| step.step == "merge similar queries").unwrap();
    assert!(!absent.note.contains("this run"), "{}", absent.note);

    let mut report = Report::default();
    let card = markdown::card(&report);
    assert!(!card.contains("drafted answer") && !card.contains("Paraphrases"), "{card}");
    for kind in ["draft-answers", "merge-near-queries"] {
        report.stages.push(super::stage_report(&stage(kind, json!({}))));
    }
    report.query_vectors.insert("merge-near-queries".to_owned(), "hashed n-grams".to_owned());
    let card = markdown::card(&report);
    assert!(card.contains("drafted answer") && card.contains("found by words and spelling"), "{card}");
    report.query_vectors.insert("merge-near-queries".to_owned(), "embeddings of m".to_owned());
    assert!(markdown::card(&report).contains("similar queries by their words and by embeddings of m"));
}

#[test]
fn a_page_of_the_worst_texts_of_all_reasons_has_less_than_a_megabyte() {
    // Entities, escapes of hidden characters, and a mark for every word.
    let nasty = "\"<\u{202e}& ".repeat(44);
    let pieces: Marked =
        nasty.split_inclusive(' ').map(|word| Piece { text: word.to_owned(), is_different: true }).collect();
    let shown = || Shown {
        row_id: "a".repeat(32),
        score: Some(("rouge-l-f1".to_owned(), 0.9)),
        here: pieces.clone(),
        beside: pieces.clone(),
        name: Some("b".repeat(32)),
        evidence: Some(nasty.clone()),
    };
    let registry = crate::stages::Registry::standard();
    let mut report = nasty_report();
    report.fates = registry
        .reasons()
        .into_iter()
        .map(|(_, reason)| {
            let example = Example { text: Some(nasty.chars().take(160).collect()), ..Example::default() };
            let examples = (0..examples::MOST).map(|_| shown()).collect();
            FateReport { example, examples, ..fate("requests", reason.code, false, 1_000_000) }
        })
        .collect();
    let n_reasons = report.fates.len();
    assert!(n_reasons > 100, "{n_reasons}");
    examples::bounded(report.fates.iter_mut().map(|fate| &mut fate.examples));
    let n_examples: usize = report.fates.iter().map(|fate| fate.examples.len()).sum();
    assert!(n_examples > 50, "{n_examples}");
    let size = html::page(&report, "run", None).len();
    assert!(size < 1_000_000, "{size} bytes with {n_examples} examples of {n_reasons} reasons");

    // A few reasons keep all of theirs.
    report.fates.truncate(3);
    report.fates.iter_mut().for_each(|fate| fate.examples = (0..examples::MOST).map(|_| shown()).collect());
    examples::bounded(report.fates.iter_mut().map(|fate| &mut fate.examples));
    assert!(report.fates.iter().all(|fate| fate.examples.len() == examples::MOST));
}
