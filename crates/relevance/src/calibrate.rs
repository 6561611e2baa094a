//! Fits weights and thresholds on labelled requests, and measures them by cross-validation.
//!
//! Requests of one doc list, or of lists with the same function names, are always in the same
//! fold, so the figures show how the weights generalise to other lists. All figures are from
//! folds that neither the weights nor the thresholds were fitted on; the weights that are written
//! are fitted on all requests. The thresholds of a group of languages are chosen on the pooled
//! scores of the folds, as few requests are not in English.

use std::collections::BTreeMap;

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::evidence::{LOWERS, LogEvidence};
use super::fit::{Linear, fit, fit_signed, logistic};
use super::language_group::LanguageGroup;
use super::measure::{
    DecisionCounts, Label, MIN_DISTANCE, Point, Scored, TARGETS, Thresholds, curve, decided_by, roc_auc,
    thresholds, with_reserve,
};
use super::model::{EvidencePart, Model, ModelJudgement, Operating, Side, TextPart};

/// One labelled request.
#[derive(Debug, Clone)]
pub struct LabelledExample {
    /// Its features, in the order of `features::names`.
    pub features: Vec<f64>,
    /// The evidence from recorded answers.
    pub evidence: LogEvidence,
    /// Whether some function fits.
    pub is_relevant: bool,
    /// The group that stays in one fold: the function names of the list, sorted.
    pub group: String,
    /// The category of the benchmark or of the run; empty if there is none.
    pub category: String,
    /// The languages of its query, which have their own thresholds.
    pub languages: LanguageGroup,
    /// The text alone never shows that it is irrelevant; see [`is_barred`](super::bar::is_barred).
    pub is_barred: bool,
}

/// The parameters of a fit.
#[derive(Debug, Clone, Copy)]
pub struct FitPlan {
    /// The minimum share of correct decisions for each label, from 0.5 to 1. Higher decides fewer.
    pub precision: f64,
    /// L2 regularisation strength, see [`fit`].
    pub l2: f64,
    /// The seed of the folds.
    pub seed: u64,
    /// The number of repetitions with other folds.
    pub repeats: u32,
}

/// Measurements on the test folds, over all repeats.
#[derive(Debug, Clone, Default)]
pub struct Findings {
    /// The area under the ROC curve in each test fold.
    pub aucs: Vec<f64>,
    /// The decisions, summed over all repeats.
    pub decided: DecisionCounts,
    /// The decisions for each label and target of the curve, which was computed on the other fold.
    pub targets: Vec<TargetCounts>,
}

/// The decisions of the thresholds for one target precision on unseen rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TargetCounts {
    /// The number of rows that get the label.
    pub n_decided: usize,
    /// The number of them that have the label.
    pub n_right: usize,
}

impl Findings {
    /// Returns the mean area under the ROC curve; `None` if no fold has both labels.
    #[allow(clippy::cast_precision_loss)] // A count of repeats.
    pub fn mean_auc(&self) -> Option<f64> {
        (!self.aucs.is_empty()).then(|| self.aucs.iter().sum::<f64>() / self.aucs.len() as f64)
    }

    fn add(&mut self, other: Self) {
        self.aucs.extend(other.aucs);
        self.decided.add(other.decided);
    }

    fn add_curve(&mut self, scored: &[Scored], curve: &[Point]) {
        self.targets.resize(Label::ALL.len() * TARGETS.len(), TargetCounts { n_decided: 0, n_right: 0 });
        for point in curve {
            let (n_decided, n_right) = decided_by(point, scored);
            if let Some(target) = place(point.side, point.precision).and_then(|at| self.targets.get_mut(at)) {
                target.n_decided += n_decided;
                target.n_right += n_right;
            }
        }
    }

    /// Returns the decisions for a label and target precision; `None` if no curve was tested.
    pub fn at_target(&self, side: Label, precision: f64) -> Option<TargetCounts> {
        self.targets.get(place(side, precision)?).copied()
    }
}

/// Returns the index of a label and a target in [`Findings::targets`].
fn place(side: Label, precision: f64) -> Option<usize> {
    let target = TARGETS.iter().position(|target| target.total_cmp(&precision).is_eq())?;
    Some(TARGETS.len() * usize::from(side == Label::Irrelevant) + target)
}

/// Returns whether a group is in the test fold, for a fit on one fold and a test on the other.
///
/// The result depends only on the group and the seed, so a list is in the same fold of any log.
pub fn is_test_group(group: &str, seed: u64) -> bool {
    // Not the seed of any of the repeats.
    is_first_fold(group, seed.rotate_left(32) ^ u64::MAX)
}

/// Returns whether a group is in the first of two folds.
fn is_first_fold(group: &str, seed: u64) -> bool {
    xxh3_64_with_seed(group.as_bytes(), seed).is_multiple_of(2)
}

/// Number of folds for a test; each is tested with weights and thresholds that were fitted on the others. Many, as the
/// thresholds of other languages than English depend on few requests.
const TEST_FOLDS: u64 = 10;

/// Number of folds for the scores that thresholds are chosen on; each is scored by weights that were fitted on the others.
const SCORE_FOLDS: u64 = 5;

/// Returns the fold of a group, one of some number.
fn fold_of(group: &str, seed: u64, n_folds: u64) -> u64 {
    xxh3_64_with_seed(group.as_bytes(), seed) % n_folds
}

/// A row to fit on.
#[derive(Clone, Copy)]
struct FitRow<'a> {
    features: &'a [f64],
    is_relevant: bool,
    group: &'a str,
    languages: LanguageGroup,
    is_barred: bool,
}

/// The score of a row, and its languages.
type OfLanguages = (Scored, LanguageGroup);

/// Returns the scores of the rows in a group of languages.
fn of_group(scored: &[OfLanguages], wanted: LanguageGroup) -> Vec<Scored> {
    scored.iter().filter(|(_, languages)| *languages == wanted).map(|(row, _)| *row).collect()
}

/// Returns the area under the ROC curve of some rows.
fn auc(scored: impl Iterator<Item = Scored>) -> Option<f64> {
    roc_auc(&scored.map(|row| (row.probability, row.is_relevant)).collect::<Vec<_>>())
}

/// Measurements of the text: of all test rows, and of those of each group of languages.
#[derive(Debug, Clone, Default)]
pub struct TextFindings {
    /// All rows, each judged by the thresholds of its languages.
    pub all: Findings,
    /// English queries.
    pub english: Findings,
    /// Queries in other languages.
    pub other: Findings,
}

impl TextFindings {
    /// Returns the measurements of a group of languages.
    pub fn of(&self, languages: LanguageGroup) -> &Findings {
        match languages {
            LanguageGroup::English => &self.english,
            LanguageGroup::Other => &self.other,
        }
    }

    fn add(&mut self, inner: &[OfLanguages], outer: &[OfLanguages], plan: FitPlan) {
        self.all.aucs.extend(auc(outer.iter().map(|(row, _)| *row)));
        for languages in LanguageGroup::ALL {
            let (inner, outer) = (of_group(inner, languages), of_group(outer, languages));
            let decided = DecisionCounts::of(&outer, plan_thresholds(&inner, plan));
            self.all.decided.add(decided);
            let findings = match languages {
                LanguageGroup::English => &mut self.english,
                LanguageGroup::Other => &mut self.other,
            };
            findings.aucs.extend(auc(outer.iter().copied()));
            findings.decided.add(decided);
            findings.add_curve(&outer, &curve(&inner));
        }
    }
}

/// Fits on all folds but one and tests on that one, for each fold and repeat of the plan; thresholds are chosen on the
/// folds that are fitted on.
fn test(rows: &[FitRow<'_>], plan: FitPlan) -> TextFindings {
    let mut findings = TextFindings::default();
    for split in 0..u64::from(plan.repeats) {
        let seed = plan.seed.wrapping_add(split);
        for fold in 0..TEST_FOLDS {
            let (unseen, known): (Vec<FitRow<'_>>, Vec<FitRow<'_>>) =
                rows.iter().copied().partition(|row| fold_of(row.group, seed, TEST_FOLDS) == fold);
            let (linear, inner) = (fit_rows(&known, plan), unseen_scores(&known, plan, seed));
            findings.add(&inner, &scored(&linear, &unseen), plan);
        }
    }
    findings
}

/// Returns for each row its probability by weights that were fitted on the other folds.
fn unseen_scores(rows: &[FitRow<'_>], plan: FitPlan, seed: u64) -> Vec<OfLanguages> {
    let log_odds = unseen_log_odds(rows, plan, seed).into_iter();
    rows.iter().zip(log_odds).map(|(row, log_odds)| row.scored(log_odds)).collect()
}

/// Returns for each row its log-odds by weights that were fitted on the other folds.
fn unseen_log_odds(rows: &[FitRow<'_>], plan: FitPlan, seed: u64) -> Vec<f64> {
    // Not the seed that selected these rows for a fold.
    let fold_of = |group: &str| fold_of(group, !seed, SCORE_FOLDS);
    let mut log_odds = vec![0.0; rows.len()];
    for fold in 0..SCORE_FOLDS {
        let known: Vec<FitRow<'_>> = rows.iter().copied().filter(|row| fold_of(row.group) != fold).collect();
        let linear = fit_rows(&known, plan);
        for (row, log_odds) in rows.iter().zip(&mut log_odds).filter(|(row, _)| fold_of(row.group) == fold) {
            *log_odds = linear.log_odds(row.features);
        }
    }
    log_odds
}

fn plan_thresholds(scored: &[Scored], plan: FitPlan) -> Thresholds {
    thresholds(scored, with_reserve(plan.precision))
}

fn fit_rows(rows: &[FitRow<'_>], plan: FitPlan) -> Linear {
    let features: Vec<&[f64]> = rows.iter().map(|row| row.features).collect();
    let labels: Vec<bool> = rows.iter().map(|row| row.is_relevant).collect();
    fit(&features, &labels, plan.l2)
}

fn scored(linear: &Linear, rows: &[FitRow<'_>]) -> Vec<OfLanguages> {
    rows.iter().map(|row| row.scored(linear.log_odds(row.features))).collect()
}

impl FitRow<'_> {
    fn scored(&self, log_odds: f64) -> OfLanguages {
        let (probability, is_relevant) = (logistic(log_odds), self.is_relevant);
        (Scored { probability, is_relevant, is_barred: self.is_barred }, self.languages)
    }
}

fn text_rows<'a>(
    examples: &'a [LabelledExample],
    keep: &dyn Fn(usize) -> bool,
    kept: &'a mut Vec<Vec<f64>>,
) -> Vec<FitRow<'a>> {
    let pick = |row: &[f64]| -> Vec<f64> {
        row.iter().enumerate().filter(|(at, _)| keep(*at)).map(|(_, x)| *x).collect()
    };
    kept.extend(examples.iter().map(|example| pick(&example.features)));
    let rows = kept.iter().zip(examples);
    rows.map(|(features, example)| FitRow {
        features,
        is_relevant: example.is_relevant,
        group: &example.group,
        languages: example.languages,
        is_barred: example.is_barred,
    })
    .collect()
}

/// Tests weights of the text on the features that `keep` selects.
pub fn test_text(examples: &[LabelledExample], plan: FitPlan, keep: impl Fn(usize) -> bool) -> TextFindings {
    let mut kept = Vec::new();
    test(&text_rows(examples, &keep, &mut kept), plan)
}

/// Fits the weights of the text on all examples.
pub fn fit_text(examples: &[LabelledExample], plan: FitPlan, fitted_on: String) -> TextPart {
    let mut kept = Vec::new();
    let rows = text_rows(examples, &|_| true, &mut kept);
    let unseen = unseen_scores(&rows, plan, plan.seed);
    let operating = |languages: LanguageGroup| {
        let scored = of_group(&unseen, languages);
        Operating { thresholds: plan_thresholds(&scored, plan), curve: curve(&scored) }
    };
    TextPart {
        fitted_on,
        linear: fit_rows(&rows, plan),
        english: operating(LanguageGroup::English),
        other: operating(LanguageGroup::Other),
    }
}

/// Returns the curve of the text for a group of languages; each example is scored by weights that were fitted on other
/// doc lists.
pub fn text_curve(examples: &[LabelledExample], languages: LanguageGroup, plan: FitPlan) -> Vec<Point> {
    let mut kept = Vec::new();
    let scored = unseen_scores(&text_rows(examples, &|_| true, &mut kept), plan, plan.seed);
    curve(&of_group(&scored, languages))
}

/// Measures weights of the text by category; each example is scored by weights that were fitted on other doc lists.
pub fn text_by_category(examples: &[LabelledExample], plan: FitPlan) -> BTreeMap<String, DecisionCounts> {
    let mut kept = Vec::new();
    let scored = unseen_scores(&text_rows(examples, &|_| true, &mut kept), plan, plan.seed);
    let thresholds = LanguageGroup::ALL.map(|languages| plan_thresholds(&of_group(&scored, languages), plan));
    by_category(examples.iter().zip(&scored).map(|(example, (scored, languages))| {
        let [english, other] = thresholds;
        let thresholds = if *languages == LanguageGroup::English { english } else { other };
        (example, DecisionCounts::of(&[*scored], thresholds))
    }))
}

/// Measures a model by category.
pub fn model_by_category(model: &Model, examples: &[LabelledExample]) -> BTreeMap<String, DecisionCounts> {
    by_category(examples.iter().map(|example| (example, counts_of(model, example, example.evidence))))
}

fn by_category<'e>(
    counted: impl Iterator<Item = (&'e LabelledExample, DecisionCounts)>,
) -> BTreeMap<String, DecisionCounts> {
    let mut categories: BTreeMap<String, DecisionCounts> = BTreeMap::new();
    for (example, counts) in counted.filter(|(example, _)| !example.category.is_empty()) {
        categories.entry(example.category.clone()).or_default().add(counts);
    }
    categories
}

/// Returns what a model decides of one example with some evidence.
fn counts_of(model: &Model, example: &LabelledExample, evidence: LogEvidence) -> DecisionCounts {
    let judged = model.judge(&example.features, evidence, example.languages);
    DecisionCounts::of_one(side_of(&judged, example, evidence), example.is_relevant)
}

/// Returns the decision on one example, which may be barred if the text decides alone.
fn side_of(judged: &ModelJudgement, example: &LabelledExample, evidence: LogEvidence) -> Side {
    match judged.side() {
        Side::Irrelevant if example.is_barred && evidence.is_empty() => Side::Unsure,
        side => side,
    }
}

/// Returns the log-odds of examples by some weights of the text.
pub fn log_odds_by(text: &TextPart, examples: &[LabelledExample]) -> Vec<f64> {
    examples.iter().map(|example| text.linear.log_odds(&example.features)).collect()
}

/// Returns the log-odds of each example's text by weights that were fitted on other doc lists.
pub fn log_odds_unseen(examples: &[LabelledExample], plan: FitPlan) -> Vec<f64> {
    let mut kept = Vec::new();
    unseen_log_odds(&text_rows(examples, &|_| true, &mut kept), plan, plan.seed)
}

/// Fits the weights of the evidence on the examples that have some; `log_odds` are those of their text, to which the
/// weights are added. Thresholds are chosen on the capped probabilities of the model.
pub fn fit_evidence(
    examples: &[LabelledExample],
    log_odds: &[f64],
    text: &TextPart,
    cap: f64,
    plan: FitPlan,
    fitted_on: String,
) -> Model {
    let with_evidence: Vec<(&LabelledExample, f64)> = examples
        .iter()
        .zip(log_odds.iter().copied())
        .filter(|(example, _)| !example.evidence.is_empty())
        .collect();
    let features: Vec<Vec<f64>> =
        with_evidence.iter().map(|(example, _)| example.evidence.features()).collect();
    let labels: Vec<bool> = with_evidence.iter().map(|(example, _)| example.is_relevant).collect();
    let known: Vec<f64> = with_evidence.iter().map(|(_, log_odds)| *log_odds).collect();
    let weights = fit_signed(&features, &labels, &known, LOWERS, plan.l2);
    let evidence =
        EvidencePart { fitted_on, weights, thresholds: Thresholds::NEVER, declined_below: 0.0, cap };
    let mut model = Model { text: text.clone(), evidence };
    // Requests with calls and requests that were only declined must each reach the precision: otherwise the many clear
    // cases of one kind would outweigh the errors of the other.
    let scored_of = |declined: bool, by_text: bool| -> Vec<Scored> {
        let of_kind =
            with_evidence.iter().filter(|(example, _)| (example.evidence.word() == "declined") == declined);
        of_kind
            .map(|(example, log_odds)| {
                let judged = model.judge_log_odds(*log_odds, example.evidence, example.languages);
                let probability = if by_text { judged.by_text } else { judged.probability };
                Scored { probability, is_relevant: example.is_relevant, is_barred: false }
            })
            .collect()
    };
    let kinds = [true, false].map(|declined| {
        let scored = scored_of(declined, false);
        (plan_thresholds(&scored, plan), scored)
    });
    // A kind that never reaches the precision for a label moves the threshold just beyond all of its own scores.
    let scores = |at: usize| kinds[at].1.iter().map(|row| row.probability);
    let from = |at: usize| kinds[at].0.relevant_from.min(scores(at).fold(0.0, f64::max) + MIN_DISTANCE);
    let to = |at: usize| kinds[at].0.irrelevant_to.max(scores(at).fold(1.0, f64::min) - MIN_DISTANCE);
    // Whether a request that was only declined is irrelevant, its text decides.
    let (relevant_from, irrelevant_to) = (from(0).max(from(1)), to(1));
    let by_text = plan_thresholds(&scored_of(true, true), plan).irrelevant_to;
    model.evidence.thresholds =
        Thresholds { relevant_from, irrelevant_to: irrelevant_to.min(relevant_from - MIN_DISTANCE) };
    model.evidence.declined_below = (by_text + MIN_DISTANCE).clamp(0.0, MAX_DECLINED_BELOW);
    model
}

/// A declined request is never irrelevant by that alone if its text speaks for relevant.
const MAX_DECLINED_BELOW: f64 = 0.5;

/// Fits text and evidence on all folds of the groups but one and tests both on that one, for each repeat of the plan; see
/// [`judge_all`] for the parts of the result.
///
/// With `text`, those weights are used and only the evidence is fitted.
pub fn test_model(
    examples: &[LabelledExample],
    text: Option<&TextPart>,
    cap: f64,
    plan: FitPlan,
) -> Vec<(&'static str, Findings)> {
    let mut all: Vec<(&'static str, Findings)> = Vec::new();
    for split in 0..u64::from(plan.repeats) {
        let seed = plan.seed.wrapping_add(split);
        for fold in 0..TEST_FOLDS {
            let (unseen, known): (Vec<LabelledExample>, Vec<LabelledExample>) = examples
                .iter()
                .cloned()
                .partition(|example| fold_of(&example.group, seed, TEST_FOLDS) == fold);
            let (known, unseen) = (&known, &unseen);
            let plan = FitPlan { seed, ..plan };
            let (text, log_odds) = match text {
                Some(text) => (text.clone(), log_odds_by(text, known)),
                None => (fit_text(known, plan, String::new()), log_odds_unseen(known, plan)),
            };
            let model = fit_evidence(known, &log_odds, &text, cap, plan, String::new());
            for (at, (name, found)) in judge_all(&model, unseen).into_iter().enumerate() {
                if all.len() <= at {
                    all.push((name, Findings::default()));
                }
                all[at].1.add(found);
            }
        }
    }
    all
}

/// The parts of the examples, by [`LogEvidence::word`].
const PARTS: &[(&str, &[&str])] = &[
    ("all", &["calls", "declined", "both", "none"]),
    ("calls only", &["calls"]),
    ("declined only", &["declined"]),
    ("calls and declined", &["both"]),
    ("no evidence", &["none"]),
];

/// Measures some weights on examples: on all of them, by their evidence, and by the text alone.
pub fn judge_all(model: &Model, examples: &[LabelledExample]) -> Vec<(&'static str, Findings)> {
    let judged = |name: &'static str, words: &[&str], without_evidence: bool| {
        let mut findings = Findings::default();
        let mut scores = Vec::new();
        for example in examples.iter().filter(|example| words.contains(&example.evidence.word())) {
            let evidence = if without_evidence { LogEvidence::default() } else { example.evidence };
            let judged = model.judge(&example.features, evidence, example.languages);
            scores.push((judged.probability, example.is_relevant));
            let side = side_of(&judged, example, evidence);
            findings.decided.add(DecisionCounts::of_one(side, example.is_relevant));
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
    use crate::evidence::AnswerSignal;
    use crate::features;

    /// Returns examples where one feature separates the labels except for one in ten.
    fn examples() -> Vec<LabelledExample> {
        (0..400_u32)
            .map(|n| {
                let is_relevant = n % 2 == 0;
                let shows = is_relevant != (n % 20 < 2);
                let mut row = vec![0.0; features::names().count()];
                row[0] = f64::from(u8::from(shows));
                row[1] = f64::from(n % 7);
                let mut evidence = LogEvidence::default();
                if n % 4 < 2 {
                    evidence.add(if is_relevant { AnswerSignal::Called } else { AnswerSignal::Declined });
                }
                LabelledExample {
                    features: row,
                    evidence,
                    is_relevant,
                    group: format!("list {}", n / 4),
                    category: String::new(),
                    languages: if n % 40 < 20 { LanguageGroup::English } else { LanguageGroup::Other },
                    is_barred: false,
                }
            })
            .collect()
    }

    const PLAN: FitPlan = FitPlan { precision: 0.85, l2: 1.0, seed: 1, repeats: 3 };

    #[test]
    fn the_informative_feature_gets_the_weight() {
        let examples = examples();
        let auc = |findings: TextFindings| findings.all.mean_auc().unwrap();
        let all = auc(test_text(&examples, PLAN, |_| true));
        assert!((all - 0.9).abs() < 0.03, "{all}");
        assert!(auc(test_text(&examples, PLAN, |at| at == 1)) < 0.6);
        let part = fit_text(&examples, PLAN, "made up".to_owned());
        assert!(part.linear.weights[0] > 1.0 && part.linear.weights[1].abs() < 0.1, "{part:?}");
    }

    #[test]
    fn recorded_answers_improve_the_area() {
        let examples = examples();
        let parts = test_model(&examples, None, 3.0, PLAN);
        let auc = |name| parts.iter().find(|part| part.0 == name).unwrap().1.mean_auc();
        assert!(auc("all") > auc("all, by text alone"), "{parts:?}");
    }

    #[test]
    fn a_curve_is_measured_on_unseen_rows() {
        let examples = examples();
        let part = fit_text(&examples, PLAN, String::new());
        let findings = test_text(&examples, PLAN, |_| true);
        for languages in LanguageGroup::ALL {
            let curve = &part.operating(languages).curve;
            assert_eq!(*curve, text_curve(&examples, languages, PLAN));
            // Nine in ten are right, so no threshold reaches a precision of 0.99.
            assert!(curve.iter().all(|point| point.precision < 0.99), "{curve:?}");
            assert!(curve.iter().any(|point| point.side == Label::Relevant));
            let findings = findings.of(languages);
            let at = findings.at_target(Label::Relevant, 0.8).unwrap();
            assert!(at.n_decided > 0 && at.n_right * 10 >= at.n_decided * 8, "{at:?}");
            assert_eq!(findings.at_target(Label::Relevant, 0.99).unwrap().n_decided, 0);
            assert_eq!(findings.at_target(Label::Relevant, 0.5), None);
        }
        let n_rows = |findings: &Findings| findings.decided.n_rows;
        assert_eq!(n_rows(&findings.all), n_rows(&findings.english) + n_rows(&findings.other));
    }

    #[test]
    fn a_group_of_languages_without_examples_is_never_decided() {
        let mut examples = examples();
        for example in &mut examples {
            example.languages = LanguageGroup::English;
        }
        let part = fit_text(&examples, PLAN, String::new());
        assert_eq!(part.other, Operating { thresholds: Thresholds::NEVER, curve: Vec::new() });
        assert!(part.english.thresholds.relevant_from < 1.0);
    }

    #[test]
    fn the_same_seed_has_the_same_weights() {
        let examples = examples();
        let fitted = || fit_text(&examples, PLAN, String::new());
        assert_eq!(fitted(), fitted());
    }
}
