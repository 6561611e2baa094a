//! Pictures of an audit: entries by category, rows by object and by method, rows by score.

use maud::Markup;

use super::hit::Verdict;
use super::report::AuditReport;
use callsieve_page::chart::curve::{Axis, Curve, Point, curve};
use callsieve_page::chart::stacked::{Stacked, stacked};
use callsieve_page::chart::{Figure, MAX_SERIES, Row, Unit, figures};

/// Returns the figures that have something to show.
pub(super) fn pictures(report: &AuditReport) -> Markup {
    let all = [entries(report), rows_by(report, Part::Object), rows_by(report, Part::Method), scores(report)];
    figures(all.into_iter().flatten())
}

fn entries(report: &AuditReport) -> Option<Markup> {
    let rows: Vec<Row<'_>> = report
        .categories
        .iter()
        .map(|of| {
            let clean = of.entries.saturating_sub(of.contaminated + of.suspect);
            Row { label: &of.name, counts: [of.contaminated, of.suspect, clean].map(|n| n as u64).to_vec() }
        })
        .collect();
    let chart = Stacked {
        labels_name: "category",
        parts: &["contaminated", "suspect", "nothing found"],
        rows: &rows,
        is_of_shares: true,
    };
    let of = Figure {
        id: "entries",
        title: "Entries of the benchmark",
        description: "Nothing found is not clean where an entry cannot be scored.",
    };
    (!rows.is_empty()).then(|| stacked(&of, &chart))
}

/// By what rows are counted.
#[derive(Clone, Copy)]
enum Part {
    Object,
    Method,
}

fn rows_by(report: &AuditReport, part: Part) -> Option<Markup> {
    let (counts, id, title, labels_name) = match part {
        Part::Object => (&report.objects, "objects", "Rows by what overlaps", "object"),
        Part::Method => (&report.methods, "methods", "Rows by the method that finds them", "method"),
    };
    let of = |by: &std::collections::BTreeMap<String, u64>, verdict: Verdict| {
        by.get(verdict.name()).copied().unwrap_or_default()
    };
    let rows: Vec<Row<'_>> = counts
        .iter()
        .map(|(label, by)| Row {
            label,
            counts: vec![of(by, Verdict::Contaminated), of(by, Verdict::Suspect)],
        })
        .filter(|row| row.counts.iter().any(|n| *n > 0))
        .collect();
    let chart =
        Stacked { labels_name, parts: &["contaminated", "suspect"], rows: &rows, is_of_shares: false };
    let description = "A row is counted for each that finds it.";
    (!rows.is_empty()).then(|| stacked(&Figure { id, title, description }, &chart))
}

#[allow(clippy::cast_precision_loss)] // Rows are far below 2^53.
fn scores(report: &AuditReport) -> Option<Markup> {
    let mut curves: Vec<Curve<'_>> = report
        .curves
        .iter()
        .map(|(name, points)| {
            let points =
                points.iter().map(|point| Point { x: point.threshold, y: point.rows as f64, interval: None });
            Curve { name, points: points.collect() }
        })
        .filter(|curve| curve.points.iter().any(|point| point.y > 0.0))
        .collect();
    let most = |curve: &Curve<'_>| curve.points.iter().map(|point| point.y).fold(0.0, f64::max);
    curves.sort_by(|a, b| most(b).total_cmp(&most(a)).then_with(|| a.name.cmp(b.name)));
    curves.truncate(MAX_SERIES);
    let x = Axis { name: "score of at least", unit: Unit::Number, range: None };
    let y = Axis { name: "rows", unit: Unit::Count, range: None };
    let of = Figure {
        id: "scores",
        title: "Rows by score",
        description: "How many rows would count with another threshold; hits below that of suspect are not in it.",
    };
    (!curves.is_empty()).then(|| curve(&of, &x, &y, &curves))
}

#[cfg(test)]
mod tests {
    use super::super::report::CategoryCounts;
    use super::*;

    #[test]
    fn only_figures_with_something_to_show_are_drawn() {
        let mut report: AuditReport = serde_json::from_value(serde_json::json!({
            "version": "1", "train": [], "categories": [], "total": CategoryCounts::default(), "rows": {},
            "objects": {"query": {"contaminated": 3, "suspect": 1}, "call": {}}, "methods": {}, "agreement": {},
            "curves": {"exact": [{"threshold": 0.5, "rows": 0}]}, "hits": 3, "unscorable": {},
            "clean_shuffle": super::super::shuffle::CleanShuffle::default(), "frequent_entries": [],
            "thresholds": super::super::thresholds::Thresholds::default(),
        }))
        .unwrap();
        let drawn = pictures(&report).into_string();
        assert!(
            drawn.contains("id=\"objects\"") && drawn.contains("query") && !drawn.contains(">call<"),
            "{drawn}"
        );
        assert!(
            ["entries", "methods", "scores"].iter().all(|id| !drawn.contains(&format!("id=\"{id}\""))),
            "{drawn}"
        );
        report.categories = vec![CategoryCounts {
            name: "live".into(),
            entries: 9,
            contaminated: 2,
            ..CategoryCounts::default()
        }];
        assert!(pictures(&report).into_string().contains("id=\"entries\""));
    }
}
