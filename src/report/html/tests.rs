//! Whatever a log, a card or a pipeline holds is text on the page.

use std::cell::RefCell;

use super::page;
use crate::relevance::operating::{Bin, OperatingPoint};
use crate::report::examples::{Piece, Shown};
use crate::report::funnel::FunnelRow;
use crate::report::model::{EditReport, Example, FateReport, Report};
use crate::report::rebuild::{Input, Rebuild};
use crate::report::recipe::{PublicSet, Status, StepReport};
use crate::report::senders::{Assistant, Senders};
use callsieve_testkit::html::tags;

/// The name of a place as a text that would be a tag, the end of an attribute, or not seen.
fn hostile(place: &str) -> String {
    format!(
        "\u{fe0f}</td><script src=x title='{place}'>alert(\"{place}\")</script> &lt; \" onload=\"x \u{202e}"
    )
}

/// The same, as the page has to show it.
fn shown(place: &str) -> String {
    format!(
        "\\u{{fe0f}}&lt;/td&gt;&lt;script src=x title='{place}'&gt;alert(&quot;{place}&quot;)&lt;/script&gt; &amp;lt; \
         &quot; onload=&quot;x \\u{{202e}}"
    )
}

/// Of these only the first twelve characters are on the page.
const HOSTILE_IDS: [(&str, &str); 2] = [
    ("<i>&\"\u{202e}' r", "&lt;i&gt;&amp;&quot;\\u{202e}' r"),
    ("<i>&\"\u{202e}' s", "&lt;i&gt;&amp;&quot;\\u{202e}' s"),
];

/// Returns a report in which `text` makes every text of the page, from the name of its place.
fn report(text: &dyn Fn(&str) -> String, [request_id, row_id]: [&str; 2]) -> Report {
    let one = |place: &str| [(text(place), 1)].into();
    let example = |of: &str, request_id: Option<&str>| Example {
        row_id: row_id.to_owned(),
        request_id: request_id.map(str::to_owned),
        merged_into: None,
        metric: Some(text(&format!("{of}: metric"))),
        score: Some(0.5),
        text: Some(text(&format!("{of}: quote"))),
    };
    let piece = |place: String, is_different| Piece { text: text(&place), is_different };
    let shown_row = |of: &str| Shown {
        row_id: row_id.to_owned(),
        score: Some((text(&format!("{of}: metric of a row")), 0.5)),
        here: vec![piece(format!("{of}: shared"), false), piece(format!("{of}: only here"), true)],
        beside: vec![piece(format!("{of}: only beside"), true)],
        name: Some(text(&format!("{of}: name"))),
        evidence: Some(text(&format!("{of}: evidence"))),
    };
    let mut report = Report {
        version: text("version"),
        pipeline: text("pipeline"),
        line_reasons: one("reason of lines"),
        other_stages: vec![text("other stage")],
        redacted: one("redacted"),
        ..Report::default()
    };
    report.card.title = text("title");
    report.card.licence = text("licence");
    report.card.source_licence = text("licence of the log");
    report.card.contact = text("contact");
    report.funnel = vec![FunnelRow {
        step: text("step of the funnel"),
        description: text("what is counted"),
        doc_lists: 0,
        requests: 0,
        percent: 0.0,
        bfcl: None,
    }];
    report.recipe = vec![StepReport {
        step: "collect",
        status: Status::Ran,
        stages: vec![text("stage of a step")],
        note: text("note of a step"),
    }];
    report.public_sets = vec![PublicSet {
        stage: String::new(),
        set: text("public set"),
        licence: String::new(),
        may_be_quoted: true,
        built_in: false,
        checked: false,
        status: text("status of a public set"),
    }];
    report.query_vectors = [(String::new(), text("vectors of queries"))].into();
    let bins = vec![Bin { relevant: 1, ..Bin::default() }];
    report.operating_points =
        [(text("stage that judged"), OperatingPoint { bins, ..OperatingPoint::default() })].into();
    report.fates = vec![FateReport {
        stage: text("fate: stage"),
        table: String::new(),
        action: "drop".to_owned(),
        reason: text("fate: reason"),
        description: text("fate: sentence"),
        kind: None,
        cascaded: false,
        rows: 1,
        merged_into_not_exported: 0,
        example: example("fate", Some(request_id)),
        examples: vec![shown_row("fate")],
    }];
    report.edits = vec![EditReport {
        stage: text("edit: stage"),
        table: String::new(),
        reason: text("edit: reason"),
        description: text("edit: sentence"),
        safety: text("edit: safety"),
        edits: 1,
        example: example("edit", None),
        examples: vec![shown_row("edit")],
    }];
    let assistant = Assistant { name: text("assistant"), requests: 1, kept: 1, ..Assistant::default() };
    report.senders = Senders { assistants: 1, largest: vec![assistant], ..Senders::default() };
    report.entries.tier = one("tier");
    report.entries.category_basis = one("basis of category");
    report.entries.relevance = one("relevance");
    report.entries.language = one("language");
    report.rebuild = Rebuild {
        version: String::new(),
        seed: 0,
        command: text("command"),
        inputs: vec![Input { sha256: text("hash of an input"), bytes: 1 }],
        files: vec![text("setting that names a file")],
        reviewed: 1,
        pipeline: text("pipeline as it ran"),
    };
    report
}

#[test]
fn text_from_outside_is_text_in_every_place_of_the_page() {
    let places = RefCell::new(vec![]);
    let text = |place: &str| {
        places.borrow_mut().push(place.to_owned());
        hostile(place)
    };
    let html = page(&report(&text, HOSTILE_IDS.map(|(id, _)| id)), &text("folder of the run"), None);
    let mut expected: Vec<String> = places.borrow().iter().map(|place| shown(place)).collect();
    expected.extend(HOSTILE_IDS.map(|(_, shown)| shown.to_owned()));
    let missing: Vec<&String> = expected.iter().filter(|text| !html.contains(*text)).collect();
    assert!(missing.is_empty() && expected.len() > 30, "not on the page as text: {missing:#?}\n{html}");
    let plain = page(&report(&str::to_owned, ["r", "s"]), "folder of the run", None);
    assert_eq!(tags(&html), tags(&plain), "a text got a tag or an attribute into the page");
}
