//! Fits weights and lines on labelled requests, and says honestly how good they are.
//!
//! Requests of one doc list, or of lists with the same function names, never stand on
//! both sides of a split: what is learned about one list says nothing about another.
//! Figures come from folds that neither the weights nor the lines have seen; what is
//! written is fitted on everything.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::evidence::Evidence;
use super::fit::{Linear, fit, logistic};
use super::measure::{
    APART, Decided, Label, Point, TARGETS, Thresholds, curve, decided_by, roc_auc, thresholds, with_reserve,
};
use super::model::{Model, Part, evidence_features};

/// One labelled request.
#[derive(Debug, Clone)]
pub struct Example {
    /// Its features, in the order of `features::names`.
    pub features: Vec<f64>,
    /// What the log's answers say.
    pub evidence: Evidence,
    /// Some function fits.
    pub is_relevant: bool,
    /// Requests of one group stay together: the function names of the list, sorted.
    pub group: String,
}

/// How to fit.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    /// The share of decided rows that must be right on each side, from 0.5 to 1. Higher decides fewer.
    pub precision: f64,
    /// Holds weights back, see [`fit`].
    pub l2: f64,
    /// Seed of the folds.
    pub seed: u64,
    /// How many times the folds are drawn.
    pub repeats: u32,
}

/// What was found on the folds not fitted on, over all repeats.
#[derive(Debug, Clone, Default)]
pub struct Findings {
    /// The area under the ROC curve in each split.
    pub aucs: Vec<f64>,
    /// What was decided, all repeats added up.
    pub decided: Decided,
    /// The same for each side and target of a curve that was drawn without these rows.
    pub targets: Vec<AtTarget>,
}

/// What the lines for a target precision decided on rows that neither the weights nor the lines have seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AtTarget {
    /// Judged to be of the side.
    pub n_decided: usize,
    /// How many of them are.
    pub n_right: usize,
}

impl Findings {
    /// The mean area; `None` where no split had both sides.
    #[allow(clippy::cast_precision_loss)] // A count of repeats.
    pub fn mean_auc(&self) -> Option<f64> {
        (!self.aucs.is_empty()).then(|| self.aucs.iter().sum::<f64>() / self.aucs.len() as f64)
    }

    fn hear(&mut self, scored: &[(f64, bool)], lines: Thresholds) {
        self.aucs.extend(roc_auc(scored));
        self.decided.add(Decided::of(scored, lines));
    }

    fn hear_curve(&mut self, scored: &[(f64, bool)], curve: &[Point]) {
        self.targets.resize(Label::ALL.len() * TARGETS.len(), AtTarget { n_decided: 0, n_right: 0 });
        for point in curve {
            let (n_decided, n_right) = decided_by(point, scored);
            if let Some(target) = place(point.side, point.precision).and_then(|at| self.targets.get_mut(at)) {
                target.n_decided += n_decided;
                target.n_right += n_right;
            }
        }
    }

    /// What the lines of a side for a target precision decided; `None` where no curve was tested.
    pub fn at_target(&self, side: Label, precision: f64) -> Option<AtTarget> {
        self.targets.get(place(side, precision)?).copied()
    }
}

/// Where a side and a target stand among [`Findings::targets`].
fn place(side: Label, precision: f64) -> Option<usize> {
    let target = TARGETS.iter().position(|target| target.total_cmp(&precision).is_eq())?;
    Some(TARGETS.len() * usize::from(side == Label::Irrelevant) + target)
}

/// Whether a group is in the first of two folds, for whoever fits on the one fold and tests on the other.
///
/// It depends on the group and the seed alone, so the same list is in the same fold of any log.
pub fn is_set_apart(group: &str, seed: u64) -> bool {
    // Another draw than those of the repeats.
    is_first_half(group, seed.rotate_left(32) ^ u64::MAX)
}

/// Which half of a split a group is in.
fn is_first_half(group: &str, seed: u64) -> bool {
    xxh3_64_with_seed(group.as_bytes(), seed).is_multiple_of(2)
}

/// A row to fit on: features, label, group.
type Row<'a> = (&'a [f64], bool, &'a str);

/// Fits on one fold and tests on the other, as often as the plan says; lines are drawn inside the first fold.
fn test(rows: &[Row<'_>], plan: Plan) -> Findings {
    let mut findings = Findings::default();
    for split in 0..u64::from(plan.repeats) {
        let seed = plan.seed.wrapping_add(split);
        let (first, second): (Vec<Row<'_>>, Vec<Row<'_>>) =
            rows.iter().copied().partition(|(_, _, group)| is_first_half(group, seed));
        for (known, unseen) in [(&first, &second), (&second, &first)] {
            let (linear, inner) = (fit_rows(known, plan), unseen_scores(known, plan, seed));
            let outer = scored(&linear, unseen);
            findings.hear(&outer, lines(&inner, plan));
            findings.hear_curve(&outer, &curve(&inner));
        }
    }
    findings
}

/// Lines are drawn by scores from so many parts, each scored by what was fitted on the others.
const FOLDS: u64 = 5;

/// For each row its probability by weights that were fitted on the parts it is not in, and its label.
fn unseen_scores(rows: &[Row<'_>], plan: Plan, seed: u64) -> Vec<(f64, bool)> {
    let log_odds = unseen_log_odds(rows, plan, seed).into_iter();
    rows.iter().zip(log_odds).map(|((_, label, _), log_odds)| (logistic(log_odds), *label)).collect()
}

/// For each row its log-odds by weights that were fitted on the parts it is not in.
fn unseen_log_odds(rows: &[Row<'_>], plan: Plan, seed: u64) -> Vec<f64> {
    // Another draw than the one that made these rows a fold.
    let fold_of = |group: &str| xxh3_64_with_seed(group.as_bytes(), !seed) % FOLDS;
    let mut log_odds = vec![0.0; rows.len()];
    for fold in 0..FOLDS {
        let known: Vec<Row<'_>> =
            rows.iter().copied().filter(|(_, _, group)| fold_of(group) != fold).collect();
        let linear = fit_rows(&known, plan);
        for (row, log_odds) in rows.iter().zip(&mut log_odds).filter(|(row, _)| fold_of(row.2) == fold) {
            *log_odds = linear.log_odds(row.0);
        }
    }
    log_odds
}

fn lines(scored: &[(f64, bool)], plan: Plan) -> Thresholds {
    thresholds(scored, with_reserve(plan.precision))
}

fn fit_rows(rows: &[Row<'_>], plan: Plan) -> Linear {
    let features: Vec<&[f64]> = rows.iter().map(|(features, _, _)| *features).collect();
    let labels: Vec<bool> = rows.iter().map(|(_, label, _)| *label).collect();
    fit(&features, &labels, plan.l2)
}

fn scored(linear: &Linear, rows: &[Row<'_>]) -> Vec<(f64, bool)> {
    rows.iter().map(|(features, label, _)| (logistic(linear.log_odds(features)), *label)).collect()
}

fn text_rows<'a>(
    examples: &'a [Example],
    keep: &dyn Fn(usize) -> bool,
    kept: &'a mut Vec<Vec<f64>>,
) -> Vec<Row<'a>> {
    let pick = |row: &[f64]| -> Vec<f64> {
        row.iter().enumerate().filter(|(at, _)| keep(*at)).map(|(_, x)| *x).collect()
    };
    kept.extend(examples.iter().map(|example| pick(&example.features)));
    let rows = kept.iter().zip(examples);
    rows.map(|(features, example)| (features.as_slice(), example.is_relevant, example.group.as_str()))
        .collect()
}

/// Tests weights of the text that use only the features for which `keep` holds.
pub fn test_text(examples: &[Example], plan: Plan, keep: impl Fn(usize) -> bool) -> Findings {
    let mut kept = Vec::new();
    test(&text_rows(examples, &keep, &mut kept), plan)
}

/// Fits the part of the text on all examples.
pub fn fit_text(examples: &[Example], plan: Plan, fitted_on: String) -> Part {
    let mut kept = Vec::new();
    let rows = text_rows(examples, &|_| true, &mut kept);
    let unseen = unseen_scores(&rows, plan, plan.seed);
    Part { fitted_on, linear: fit_rows(&rows, plan), thresholds: lines(&unseen, plan), curve: curve(&unseen) }
}

/// The curve of the text: each example is scored by weights that were fitted on other doc lists than its own.
pub fn text_curve(examples: &[Example], plan: Plan) -> Vec<Point> {
    let mut kept = Vec::new();
    curve(&unseen_scores(&text_rows(examples, &|_| true, &mut kept), plan, plan.seed))
}

/// The log-odds that weights of the text give to examples.
pub fn log_odds_by(text: &Part, examples: &[Example]) -> Vec<f64> {
    examples.iter().map(|example| text.linear.log_odds(&example.features)).collect()
}

/// The log-odds that the text of each example gets from weights fitted on other doc lists than its own.
pub fn log_odds_unseen(examples: &[Example], plan: Plan) -> Vec<f64> {
    let mut kept = Vec::new();
    unseen_log_odds(&text_rows(examples, &|_| true, &mut kept), plan, plan.seed)
}

/// Fits the part of the evidence on the examples of which the log says something; `log_odds` are those of their
/// text. Lines are drawn by what the model makes of them, cap and all.
pub fn fit_evidence(
    examples: &[Example],
    log_odds: &[f64],
    text: &Part,
    cap: f64,
    plan: Plan,
    fitted_on: String,
) -> Model {
    let heard: Vec<(&Example, f64)> = examples
        .iter()
        .zip(log_odds.iter().copied())
        .filter(|(example, _)| !example.evidence.is_silent())
        .collect();
    let features: Vec<Vec<f64>> =
        heard.iter().map(|(example, log_odds)| evidence_features(*log_odds, example.evidence)).collect();
    let rows: Vec<Row<'_>> = features
        .iter()
        .zip(&heard)
        .map(|(features, (example, _))| (features.as_slice(), example.is_relevant, example.group.as_str()))
        .collect();
    let linear = fit_rows(&rows, plan);
    let none = Thresholds { relevant_from: 1.0, irrelevant_to: 0.0 };
    let mut model = Model {
        text: text.clone(),
        evidence: Part { fitted_on, linear, thresholds: none, curve: Vec::new() },
        cap,
    };
    // Requests that were called for and those that were only declined must each be right often enough: else the
    // many sure ones of one kind would pay for the errors of the other.
    let line_of = |declined: bool| {
        let of_kind = heard.iter().filter(|(example, _)| (example.evidence.word() == "declined") == declined);
        let scored: Vec<(f64, bool)> = of_kind
            .map(|(example, log_odds)| {
                (model.judge_log_odds(*log_odds, example.evidence).probability, example.is_relevant)
            })
            .collect();
        (lines(&scored, plan), scored)
    };
    let kinds = [line_of(true), line_of(false)];
    // A kind that never gets good enough on a side keeps all of its own off that side, and no more than them.
    let scores = |at: usize| kinds[at].1.iter().map(|(score, _)| *score);
    let from = |at: usize| kinds[at].0.relevant_from.min(scores(at).fold(0.0, f64::max) + APART);
    let to = |at: usize| kinds[at].0.irrelevant_to.max(scores(at).fold(1.0, f64::min) - APART);
    let (relevant_from, irrelevant_to) = (from(0).max(from(1)), to(0).min(to(1)));
    model.evidence.thresholds =
        Thresholds { relevant_from, irrelevant_to: irrelevant_to.min(relevant_from - APART) };
    model
}

/// Fits text and evidence on one fold of the groups and tests both on the other, as often as the plan says; see
/// [`judge_all`] for the parts.
///
/// With `text`, its weights are taken as they are, and only the evidence is fitted.
pub fn test_model(
    examples: &[Example],
    text: Option<&Part>,
    cap: f64,
    plan: Plan,
) -> Vec<(&'static str, Findings)> {
    let mut all: Vec<(&'static str, Findings)> = Vec::new();
    for split in 0..u64::from(plan.repeats) {
        let seed = plan.seed.wrapping_add(split);
        let (first, second): (Vec<Example>, Vec<Example>) =
            examples.iter().cloned().partition(|example| is_first_half(&example.group, seed));
        for (known, unseen) in [(&first, &second), (&second, &first)] {
            let plan = Plan { seed, ..plan };
            let (text, log_odds) = match text {
                Some(text) => (text.clone(), log_odds_by(text, known)),
                None => (fit_text(known, plan, String::new()), log_odds_unseen(known, plan)),
            };
            let model = fit_evidence(known, &log_odds, &text, cap, plan, String::new());
            for (at, (name, found)) in judge_all(&model, unseen).into_iter().enumerate() {
                if all.len() <= at {
                    all.push((name, Findings::default()));
                }
                all[at].1.aucs.extend(found.aucs);
                all[at].1.decided.add(found.decided);
            }
        }
    }
    all
}

/// Parts of some examples, by what the log's answers say.
const PARTS: &[(&str, &[&str])] = &[
    ("all", &["calls", "declined", "both", "none"]),
    ("calls only", &["calls"]),
    ("declined only", &["declined"]),
    ("calls and declined", &["both"]),
    ("no evidence", &["none"]),
];

/// What given weights make of some examples: of all, by what the log's answers say, and by the text alone.
pub fn judge_all(model: &Model, examples: &[Example]) -> Vec<(&'static str, Findings)> {
    let judged = |name: &'static str, words: &[&str], without_evidence: bool| {
        let mut findings = Findings::default();
        let mut scores = Vec::new();
        for example in examples.iter().filter(|example| words.contains(&example.evidence.word())) {
            let evidence = if without_evidence { Evidence::default() } else { example.evidence };
            let judged = model.judge(&example.features, evidence);
            scores.push((judged.probability, example.is_relevant));
            findings
                .decided
                .add(Decided::of(&[(judged.probability, example.is_relevant)], judged.thresholds));
        }
        findings.aucs.extend(roc_auc(&scores));
        (name, findings)
    };
    let mut parts: Vec<_> = PARTS.iter().map(|&(name, words)| judged(name, words, false)).collect();
    parts.push(judged("all, by text alone", PARTS[0].1, true));
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::relevance::evidence::Heard;
    use crate::relevance::features;

    /// Examples that one feature tells apart, but for one in ten.
    fn examples() -> Vec<Example> {
        (0..400_u32)
            .map(|n| {
                let is_relevant = n % 2 == 0;
                let shows = is_relevant != (n % 20 < 2);
                let mut row = vec![0.0; features::names().count()];
                row[0] = f64::from(u8::from(shows));
                row[1] = f64::from(n % 7);
                let mut evidence = Evidence::default();
                if n % 4 < 2 {
                    evidence.add(if is_relevant { Heard::Called } else { Heard::Declined });
                }
                Example { features: row, evidence, is_relevant, group: format!("list {}", n / 4) }
            })
            .collect()
    }

    const PLAN: Plan = Plan { precision: 0.85, l2: 1.0, seed: 1, repeats: 3 };

    #[test]
    fn the_feature_that_tells_is_found_and_the_other_is_not() {
        let examples = examples();
        let auc = |findings: Findings| findings.mean_auc().unwrap();
        let all = auc(test_text(&examples, PLAN, |_| true));
        assert!((all - 0.9).abs() < 0.03, "{all}");
        assert!(auc(test_text(&examples, PLAN, |at| at == 1)) < 0.6);
        let part = fit_text(&examples, PLAN, "made up".to_owned());
        assert!(part.linear.weights[0] > 1.0 && part.linear.weights[1].abs() < 0.1, "{part:?}");
    }

    #[test]
    fn answers_help_where_the_log_has_them() {
        let examples = examples();
        let parts = test_model(&examples, None, 3.0, PLAN);
        let auc = |name| parts.iter().find(|part| part.0 == name).unwrap().1.mean_auc();
        assert!(auc("all") > auc("all, by text alone"), "{parts:?}");
    }

    #[test]
    fn a_curve_is_of_rows_not_fitted_on_and_what_the_lines_decide_there_is_told() {
        let examples = examples();
        let part = fit_text(&examples, PLAN, String::new());
        assert_eq!(part.curve, text_curve(&examples, PLAN));
        // Nine in ten are right, so no line can promise 99 in 100.
        assert!(part.curve.iter().all(|point| point.precision < 0.99), "{:?}", part.curve);
        assert!(part.curve.iter().any(|point| point.side == Label::Relevant));
        let findings = test_text(&examples, PLAN, |_| true);
        let at = findings.at_target(Label::Relevant, 0.8).unwrap();
        assert!(at.n_decided > 0 && at.n_right * 10 >= at.n_decided * 8, "{at:?}");
        assert_eq!(findings.at_target(Label::Relevant, 0.99).unwrap().n_decided, 0);
        assert_eq!(findings.at_target(Label::Relevant, 0.5), None);
    }

    #[test]
    fn the_same_seed_gives_the_same_weights() {
        let examples = examples();
        let fitted = || fit_text(&examples, PLAN, String::new());
        assert_eq!(fitted(), fitted());
    }
}
