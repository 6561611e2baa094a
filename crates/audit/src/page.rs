//! The page of an audit: `report.html`. No text of a training set or benchmark is on it.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::hit::{Method, Verdict};
use super::pictures::pictures;
use super::report::{AuditReport, CategoryCounts, TrainFile};
use callsieve_engine::layout::AUDIT_REPORT;
use callsieve_page::table::{Column, small, wide};
use callsieve_page::{code, document, number, soft, tile};
use callsieve_text::figures::{count, interval, share_of};
use callsieve_text::listed::{MOST_LISTED, unlisted};

/// Returns the page.
pub fn page(report: &AuditReport) -> String {
    let sections = [
        head(report),
        pictures(report),
        files(report),
        categories(report),
        methods(report),
        phrases(report),
        unscorable(report),
        more(report),
    ];
    document("Contamination audit", sections)
}

fn entries(n: usize) -> Markup {
    number(n as u64)
}

fn head(report: &AuditReport) -> Markup {
    let tiles = [("rows", report.n_rows())]
        .into_iter()
        .chain(Verdict::ALL.iter().map(|verdict| (verdict.name(), report.n_rows_of(*verdict))))
        .chain([("removed", report.n_removed())]);
    let chance = &report.clean_shuffle;
    html! {
        h1 { "Contamination audit" }
        p { (report.statement().replace('`', "")) }
        div.tiles { @for (what, n) in tiles { (tile(&count(n), what)) } }
        @if chance.messages > 0 {
            p.soft {
                "By chance: of " (count(chance.messages as u64)) " messages whose words were shuffled across all of them, "
                (count(chance.contaminated as u64)) " are called contaminated and " (count(chance.suspect as u64)) " suspect."
            }
        }
    }
}

fn files(report: &AuditReport) -> Markup {
    let columns = [
        Column::key("training set"),
        Column::number("rows"),
        Column::number("removed"),
        Column::number("with messages"),
        Column::number("docs"),
        Column::number("calls"),
        Column::number("other texts"),
        Column::number("unreadable lines"),
        Column::key("cleaned set"),
    ];
    let row = |file: &TrainFile| {
        vec![
            html! { (code(&file.path)) @if file.is_benchmark { br; (soft("a file of the benchmark: its duplicates")) } },
            number(file.rows),
            number(file.removed),
            number(file.read.queries),
            number(file.read.docs),
            number(file.read.calls),
            number(file.read.texts),
            number(file.unreadable),
            html! { @if let Some(cleaned) = &file.cleaned { (code(cleaned)) } },
        ]
    };
    html! {
        h2 { "Training sets" }
        (wide(&columns, report.train.iter().take(MOST_LISTED).map(row)))
        @if let Some(more) = unlisted(report.train.len()) {
            p.soft { (more) ", of " (count(report.train.len() as u64)) " training sets; " (code(AUDIT_REPORT)) " lists all." }
        }
    }
}

fn categories(report: &AuditReport) -> Markup {
    let columns = [
        Column::key("category"),
        Column::number("entries"),
        Column::number("contaminated"),
        Column::number("95 % interval"),
        Column::number("by message"),
        Column::number("by function doc"),
        Column::number("by calls"),
        Column::number("by other texts"),
        Column::number("suspect"),
    ];
    let row = |of: &CategoryCounts| {
        let by = |name: &str| entries(of.by_object.get(name).copied().unwrap_or_default());
        vec![
            code(&of.name),
            entries(of.entries),
            html! { (entries(of.contaminated)) " · " (share_of(of.contaminated as u64, of.entries as u64)) },
            html! { (interval(of.interval)) },
            by("query"),
            entries(of.docs),
            by("call"),
            by("text"),
            entries(of.suspect),
        ]
    };
    let total = (report.categories.len() > 1).then_some(&report.total);
    html! {
        h2 { "Entries of the benchmark" }
        p.soft { "An entry counts as contaminated if a row is contaminated with it, by one object or by several." }
        (wide(&columns, report.categories.iter().chain(total).map(row)))
    }
}

fn methods(report: &AuditReport) -> Markup {
    let columns = [Column::key("method"), Column::number("contaminated"), Column::number("suspect")];
    let row = |method: &Method| {
        let rows = report.methods.get(method.name())?;
        let of = |verdict: Verdict| number(rows.get(verdict.name()).copied().unwrap_or_default());
        (*method != Method::Environment)
            .then(|| vec![code(method.name()), of(Verdict::Contaminated), of(Verdict::Suspect)])
    };
    html! {
        h2 { "Methods" }
        p.soft { "A row is counted for each method that finds it." }
        (small(&columns, Method::ALL.iter().filter_map(row)))
    }
}

fn phrases(report: &AuditReport) -> Markup {
    let columns = [Column::key("category"), Column::key("entry"), Column::number("messages")];
    html! {
        @if !report.frequent_entries.is_empty() {
            h2 { "Phrases of the training sets" }
            p.soft { "The messages of these entries are part of many different messages. Inside longer messages they are clean." }
            (small(&columns, report.frequent_entries.iter().map(|entry| vec![
                code(&entry.category), code(&entry.id),
                html! { (number(entry.messages as u64)) " of " (number(entry.of as u64)) },
            ])))
        }
    }
}

fn unscorable(report: &AuditReport) -> Markup {
    let columns = [Column::key("method"), Column::number("entries")];
    let total = |by_category: &BTreeMap<String, usize>| entries(by_category.values().sum());
    html! {
        h2 { "Entries that a method cannot find" }
        p.soft { "They are too short for it, or have nothing that it compares. By such a method they are unscorable, which is not clean." }
        (small(&columns, Method::ALL.iter().filter_map(|method| {
            report.unscorable.get(method.name()).map(|found| vec![code(method.name()), total(found)])
        })))
    }
}

fn more(report: &AuditReport) -> Markup {
    html! {
        h2 { "More" }
        p {
            (code("hits.jsonl")) " has the " (count(report.hits)) " overlaps with their places, many entries that overlap a row in the same way as one, " (code("removed.jsonl"))
            " each row that is in no cleaned set with its reason, and " (code("audit.json")) " all counts, thresholds and curves. "
            (code("callsieve why RUN FILE:LINE")) " shows what was found for a row."
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::frequent::FrequentEntry;
    use super::*;

    #[test]
    fn the_page_shows_files_entries_methods_and_phrases_and_escapes_their_names() {
        let counts = |verdict: &str, n: u64| BTreeMap::from([(verdict.to_owned(), n)]);
        let mut report: AuditReport = serde_json::from_value(serde_json::json!({
            "version": "1", "train": [], "categories": [], "total": CategoryCounts::default(), "rows": counts("contaminated", 2),
            "objects": {}, "methods": {"exact": counts("contaminated", 2)}, "agreement": {}, "curves": {}, "hits": 3,
            "unscorable": {"exact": {"a": 4}}, "clean_shuffle": super::super::shuffle::CleanShuffle::default(),
            "frequent_entries": [], "thresholds": super::super::thresholds::Thresholds::default(),
        }))
        .unwrap();
        assert!(!page(&report).contains("Phrases"));
        report.train = vec![TrainFile {
            path: "<b>.jsonl".to_owned(),
            is_benchmark: true,
            rows: 2,
            ..TrainFile::default()
        }];
        let [category, id] = ["cat", "x<y"].map(str::to_owned);
        report.frequent_entries = vec![FrequentEntry { category, id, messages: 30, of: 40 }];
        let page = page(&report);
        for part in ["&lt;b&gt;.jsonl", "a file of the benchmark", "x&lt;y", "30 of 40", ">4</td>"] {
            assert!(page.contains(part), "{part}: {page}");
        }
    }
}
