//! What the judge of relevance decided by the text alone, and what another target precision would decide.
//!
//! One sentence and one table for each stage that judged, for the card and the page alike: the
//! curve of the weights if they have one, otherwise the requests by probability.

use super::model::Report;
use crate::relevance::language_group::LanguageGroup;
use crate::relevance::operating::{Bin, LanguagePoint, OperatingPoint, PointEffect};
use crate::text::figures::{count, counted, share};

/// The heading of the section.
pub(super) const HEADING: &str = "Relevance judged from the text alone";

/// What is shown of one stage: a sentence, and a table with the names of its columns. All columns but the first are
/// numbers.
pub(super) struct Shown {
    pub(super) about: String,
    pub(super) columns: Vec<&'static str>,
    pub(super) rows: Vec<Vec<String>>,
}

/// What each stage of a run decided.
pub(super) fn of_stages(report: &Report) -> Vec<Shown> {
    report.operating_points.iter().filter_map(|(stage, point)| shown(stage, point)).collect()
}

/// What a stage decided; `None` if the text alone judged no request.
fn shown(stage: &str, point: &OperatingPoint) -> Option<Shown> {
    if point.by_text() == 0 {
        return None;
    }
    let used = || LanguageGroup::ALL.into_iter().filter(|languages| point.of(*languages).requests > 0);
    let (columns, rows, hint) = if used().all(|languages| point.of(languages).curve.is_empty()) {
        let columns = vec!["probability", "relevant", "irrelevant", "held"];
        let is_used = |bin: &&Bin| bin.relevant + bin.irrelevant + bin.held > 0;
        let rows = point.bins.iter().filter(is_used).map(bin_cells).collect();
        (columns, rows, "The weights have no precision curve; callsieve calibrate writes one.")
    } else {
        let columns =
            vec!["languages, label, target precision", "threshold", "coverage", "requests", "change"];
        let hint = "The table shows what other target precisions would do. Precision and coverage were measured on \
                    labelled requests of other doc lists, in these languages. Requests: how many requests of this run, held ones included, would get \
                    the label. Change: the difference from this run.";
        let reached = |languages: LanguageGroup| {
            point.of(languages).curve.iter().map(move |reach| reach_cells(languages, reach))
        };
        (columns, used().flat_map(reached).collect(), hint)
    };
    Some(Shown { about: format!("{} {hint}", about(stage, point)), columns, rows })
}

fn about(stage: &str, point: &OperatingPoint) -> String {
    let others = [
        (point.by_answers, "judged by recorded answers"),
        (point.by_rule, "judged low quality by a rule"),
        (point.by_person, "decided by a person"),
    ];
    let others: Vec<String> =
        others.into_iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{} {what}", count(n))).collect();
    let others =
        if others.is_empty() { String::new() } else { format!(" Not included: {}.", others.join(", ")) };
    let target = point
        .precision
        .map_or_else(String::new, |precision| format!(" (target precision {})", share(precision)));
    let used = LanguageGroup::ALL.into_iter().filter(|languages| point.of(*languages).requests > 0);
    let lines: Vec<String> = used.map(|languages| lines(languages, point.of(languages))).collect();
    format!(
        "The stage {stage} judged {} from the text alone{target}: {}.{others}",
        counted(point.by_text(), "request", "requests"),
        lines.join("; ")
    )
}

/// The thresholds in use for queries in some languages.
fn lines(languages: LanguageGroup, point: &LanguagePoint) -> String {
    let relevant = if point.relevant_from > 1.0 {
        "none is relevant".to_owned()
    } else {
        format!("relevant from probability {:.3}", point.relevant_from)
    };
    let irrelevant = if point.irrelevant_to < 0.0 {
        "none is irrelevant".to_owned()
    } else {
        format!("irrelevant up to probability {:.3}", point.irrelevant_to)
    };
    format!("{} in {}, {relevant}, {irrelevant}", count(point.requests), languages.name())
}

fn bin_cells(bin: &Bin) -> Vec<String> {
    let Bin { from, to, relevant, irrelevant, held } = *bin;
    let counts = [relevant, irrelevant, held].map(count);
    [format!("{from:.1} to {to:.1}")].into_iter().chain(counts).collect()
}

fn reach_cells(languages: LanguageGroup, reach: &PointEffect) -> Vec<String> {
    let sign = match reach.additional {
        0 => "",
        more if more > 0 => "+",
        _ => "-",
    };
    vec![
        format!("{}, {}, {}", languages.name(), reach.side.name(), share(reach.precision)),
        format!("{:.3}", reach.threshold),
        share(reach.coverage),
        count(reach.requests),
        format!("{sign}{}", count(reach.additional.unsigned_abs())),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::relevance::measure::Label;

    #[test]
    fn what_another_target_precision_would_decide_is_shown_and_without_a_curve_the_bins() {
        let bin = Bin { from: 0.1, to: 0.2, relevant: 0, irrelevant: 1_200, held: 30 };
        let mut point = OperatingPoint {
            bins: vec![Bin::default(), bin],
            by_rule: 2,
            english: LanguagePoint {
                relevant_from: 1.01,
                irrelevant_to: 0.15,
                requests: 1_200,
                ..LanguagePoint::default()
            },
            other: LanguagePoint {
                relevant_from: 0.9,
                irrelevant_to: -0.01,
                requests: 30,
                ..LanguagePoint::default()
            },
            ..OperatingPoint::default()
        };
        let bins = shown("judge", &point).unwrap();
        assert_eq!(
            bins.about,
            "The stage judge judged 1,230 requests from the text alone: 1,200 in English, none is relevant, irrelevant up to \
             probability 0.150; 30 in other languages, relevant from probability 0.900, none is irrelevant. Not included: 2 \
             judged low quality by a rule. The weights have no precision curve; callsieve calibrate writes one."
        );
        assert_eq!(bins.rows, [["0.1 to 0.2", "0", "1,200", "30"]]);
        let reach = |precision, more| PointEffect {
            side: Label::Irrelevant,
            precision,
            threshold: 0.2,
            coverage: 0.123,
            requests: 1_512,
            additional: more,
        };
        point.english.curve = vec![reach(0.9, 312), reach(0.95, 0), reach(0.99, -1_000)];
        point.other.curve = vec![reach(0.8, 7)];
        let rows = shown("judge", &point).unwrap().rows;
        assert_eq!(rows[3], ["other languages, irrelevant, 80.0 %", "0.200", "12.3 %", "1,512", "+7"]);
        assert_eq!(rows[0], ["English, irrelevant, 90.0 %", "0.200", "12.3 %", "1,512", "+312"]);
        assert_eq!([&*rows[1][4], &*rows[2][4]], ["0", "-1,000"]);
        assert!(shown("judge", &OperatingPoint::default()).is_none());
    }
}
