//! Measures of scores for relevance: the area under the ROC curve, and the choice of thresholds.
//!
//! `thresholds` chooses both thresholds for one target precision; `curve` chooses them for a fixed
//! set of targets, so that another target can be selected without a new fit.

use serde::{Deserialize, Serialize};

use super::model::Side;

/// Returns the area under the ROC curve: the share of pairs in which the relevant row has the higher score. Ties count
/// half.
///
/// From 0 to 1, 0.5 is chance; `None` if one label has no rows.
#[allow(clippy::cast_precision_loss)] // Counts of rows.
pub fn roc_auc(scored: &[(f64, bool)]) -> Option<f64> {
    let mut sorted = scored.to_vec();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut rank_sum = 0.0;
    let mut n_before = 0;
    for ties in sorted.chunk_by(|a, b| a.0.total_cmp(&b.0).is_eq()) {
        let rank = n_before as f64 + f64::midpoint(ties.len() as f64, 1.0);
        rank_sum += ties.iter().filter(|(_, label)| *label).count() as f64 * rank;
        n_before += ties.len();
    }
    let n_relevant = scored.iter().filter(|(_, label)| *label).count() as f64;
    let n_irrelevant = scored.len() as f64 - n_relevant;
    let pairs = n_relevant * n_irrelevant;
    (pairs > 0.0).then(|| (rank_sum - n_relevant * (n_relevant + 1.0) / 2.0) / pairs)
}

/// Thresholds of the probability, from 0 to 1. Rows between the two are not decided.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Thresholds {
    /// A row is relevant at or above this probability.
    pub relevant_from: f64,
    /// A row is irrelevant at or below this probability.
    pub irrelevant_to: f64,
}

/// The score of a row, its label, and whether it is never judged irrelevant.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scored {
    /// The probability that some function fits.
    pub probability: f64,
    /// Whether some function fits.
    pub is_relevant: bool,
    /// The row is held instead of judged irrelevant, so it does not count on that side.
    pub is_barred: bool,
}

impl Scored {
    fn counts_for(&self, side: Label) -> bool {
        side == Label::Relevant || !self.is_barred
    }
}

/// Chooses the widest thresholds at which at least `precision` of the decided rows are right, for each label.
///
/// One additional wrong row is assumed, so that a few lucky rows do not determine a threshold. A label that never
/// reaches the precision is never assigned: its threshold is below 0 or above 1.
pub fn thresholds(scored: &[Scored], precision: f64) -> Thresholds {
    let mut sorted = scored.to_vec();
    sorted.sort_by(|a, b| b.probability.total_cmp(&a.probability));
    let relevant = threshold(&sorted, Label::Relevant, precision);
    sorted.reverse();
    let irrelevant = threshold(&sorted, Label::Irrelevant, precision);
    Thresholds::apart(relevant.map(|row| row.score), irrelevant.map(|row| row.score))
}

impl Thresholds {
    /// Thresholds that no probability reaches.
    pub const NEVER: Self = Self { relevant_from: NEVER_RELEVANT, irrelevant_to: NEVER_IRRELEVANT };

    /// Returns the lower one of two thresholds, for each label.
    #[must_use]
    pub fn lower(self, other: Self) -> Self {
        Self {
            relevant_from: self.relevant_from.min(other.relevant_from),
            irrelevant_to: self.irrelevant_to.min(other.irrelevant_to),
        }
    }

    /// Returns the higher one of two thresholds, for each label.
    #[must_use]
    pub fn higher(self, other: Self) -> Self {
        Self {
            relevant_from: self.relevant_from.max(other.relevant_from),
            irrelevant_to: self.irrelevant_to.max(other.irrelevant_to),
        }
    }

    /// Combines both thresholds. A label without a threshold is never assigned; if the two overlap, both move to the
    /// middle.
    fn apart(relevant_from: Option<f64>, irrelevant_to: Option<f64>) -> Self {
        let relevant_from = relevant_from.unwrap_or(NEVER_RELEVANT);
        let irrelevant_to = irrelevant_to.unwrap_or(NEVER_IRRELEVANT);
        if irrelevant_to >= relevant_from {
            let between = f64::midpoint(irrelevant_to, relevant_from);
            return Self { relevant_from: between, irrelevant_to: between - MIN_DISTANCE };
        }
        Self { relevant_from, irrelevant_to }
    }

    /// Returns the thresholds of a curve for a target precision from 0 to 1: for each label, the widest whose target
    /// is at least that. Higher decides fewer rows. A label that reaches no such target is never assigned; `None` if
    /// neither label does.
    pub fn of_curve(curve: &[Point], precision: f64) -> Option<Self> {
        let threshold = |side: Label| {
            let good_enough = curve.iter().filter(|point| point.side == side && point.precision >= precision);
            good_enough.min_by(|a, b| a.precision.total_cmp(&b.precision)).map(|point| point.threshold)
        };
        let (relevant, irrelevant) = (threshold(Label::Relevant), threshold(Label::Irrelevant));
        (relevant.is_some() || irrelevant.is_some()).then(|| Self::apart(relevant, irrelevant))
    }
}

/// Minimum distance of two thresholds, so that they differ when they are written with four digits.
pub(super) const MIN_DISTANCE: f64 = 0.0001;

/// Thresholds that no probability reaches.
const NEVER_RELEVANT: f64 = 1.01;
const NEVER_IRRELEVANT: f64 = -0.01;

/// The last row up to which enough rows have the label, with the counts up to it.
struct ThresholdRow {
    score: f64,
    n_decided: usize,
    n_right: usize,
}

#[allow(clippy::cast_precision_loss)] // Counts of rows.
fn threshold(sorted: &[Scored], side: Label, precision: f64) -> Option<ThresholdRow> {
    let (mut n_right, mut n_decided, mut last) = (0_usize, 0_usize, None);
    let counted: Vec<Scored> = sorted.iter().filter(|row| row.counts_for(side)).copied().collect();
    for ties in counted.chunk_by(|a, b| a.probability.total_cmp(&b.probability).is_eq()) {
        n_decided += ties.len();
        n_right += ties.iter().filter(|row| row.is_relevant == side.is_relevant()).count();
        if n_right as f64 >= precision * (n_decided + 1) as f64 {
            last = Some(ThresholdRow { score: ties[0].probability, n_decided, n_right });
        }
    }
    last
}

/// A label that the model assigns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Label {
    /// Some function fits.
    Relevant,
    /// No function fits.
    Irrelevant,
}

impl Label {
    /// Both labels.
    pub const ALL: [Self; 2] = [Self::Relevant, Self::Irrelevant];

    /// Returns the name of the label in files.
    pub fn name(self) -> &'static str {
        if self.is_relevant() { "relevant" } else { "irrelevant" }
    }

    fn is_relevant(self) -> bool {
        self == Self::Relevant
    }
}

/// The target precisions of a curve.
pub const TARGETS: [f64; 7] = [0.80, 0.85, 0.90, 0.925, 0.95, 0.975, 0.99];

/// The share of the allowed errors that is kept in reserve, because precision is slightly lower on unseen rows.
const RESERVE: f64 = 0.2;

/// Returns the precision that thresholds must reach on the rows they are chosen on, so that they reach the target on
/// unseen rows.
pub(super) fn with_reserve(target: f64) -> f64 {
    target + RESERVE * (1.0 - target)
}

/// The widest threshold of one label for a target precision, with the counts on the rows it was chosen on.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Point {
    /// The label.
    pub side: Label,
    /// The target precision, one of [`TARGETS`].
    pub precision: f64,
    /// The threshold: relevant at or above this probability, or irrelevant at or below it.
    pub threshold: f64,
    /// The share of all rows that it decides.
    pub coverage: f64,
    /// The share of the rows with this label that it decides.
    pub recall: f64,
    /// The number of rows that it decides.
    pub n_decided: u64,
    /// The number of rows that it decides correctly.
    pub n_right: u64,
}

/// Returns the curve of precision and coverage: a point for each label and target, in the order of [`TARGETS`].
///
/// The weights that scored the rows must have been fitted on other rows. A target that a label never reaches has no
/// point. A higher target never decides more rows.
pub fn curve(scored: &[Scored]) -> Vec<Point> {
    let mut sorted = scored.to_vec();
    sorted.sort_by(|a, b| b.probability.total_cmp(&a.probability));
    let mut points = points(&sorted, Label::Relevant);
    sorted.reverse();
    points.extend(self::points(&sorted, Label::Irrelevant));
    points
}

/// Returns the points of one label; rows that are most likely to have it come first.
fn points(sorted: &[Scored], side: Label) -> Vec<Point> {
    let n_side = sorted.iter().filter(|row| row.is_relevant == side.is_relevant()).count();
    let point = |precision: f64| {
        let ThresholdRow { score, n_decided, n_right } = threshold(sorted, side, with_reserve(precision))?;
        Some(Point {
            side,
            precision,
            threshold: score,
            coverage: share(n_decided, sorted.len()),
            recall: share(n_right, n_side),
            n_decided: n_decided as u64,
            n_right: n_right as u64,
        })
    };
    TARGETS.into_iter().filter_map(point).collect()
}

/// Returns `part / whole`; 0 if `whole` is 0.
#[allow(clippy::cast_precision_loss)] // Counts of rows.
fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// Returns how many rows the threshold of a point decides, and how many of them correctly, on any rows.
pub fn decided_by(point: &Point, scored: &[Scored]) -> (usize, usize) {
    let is_decided = |score: f64| match point.side {
        Label::Relevant => score >= point.threshold,
        Label::Irrelevant => score <= point.threshold,
    };
    let decided = scored.iter().filter(|row| row.counts_for(point.side) && is_decided(row.probability));
    decided.fold((0, 0), |(n, n_right), row| {
        (n + 1, n_right + usize::from(row.is_relevant == point.side.is_relevant()))
    })
}

/// The number of rows that thresholds decide.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DecisionCounts {
    /// All rows.
    pub n_rows: usize,
    /// Rows judged relevant, and how many of them are.
    pub relevant: (usize, usize),
    /// Rows judged irrelevant, and how many of them are.
    pub irrelevant: (usize, usize),
}

impl DecisionCounts {
    /// Counts the decisions of thresholds on some rows.
    pub fn of(scored: &[Scored], thresholds: Thresholds) -> Self {
        let mut decided = Self::default();
        for row in scored {
            let side = if row.probability >= thresholds.relevant_from {
                Side::Relevant
            } else if row.probability <= thresholds.irrelevant_to && !row.is_barred {
                Side::Irrelevant
            } else {
                Side::Unsure
            };
            decided.add(Self::of_one(side, row.is_relevant));
        }
        decided
    }

    /// Counts the decision on one row.
    pub fn of_one(side: Side, is_relevant: bool) -> Self {
        let none = Self { n_rows: 1, ..Self::default() };
        match side {
            Side::Relevant => Self { relevant: (1, usize::from(is_relevant)), ..none },
            Side::Irrelevant => Self { irrelevant: (1, usize::from(!is_relevant)), ..none },
            Side::Unsure => none,
        }
    }

    /// Adds the counts of other rows.
    pub fn add(&mut self, other: Self) {
        self.n_rows += other.n_rows;
        self.relevant = (self.relevant.0 + other.relevant.0, self.relevant.1 + other.relevant.1);
        self.irrelevant = (self.irrelevant.0 + other.irrelevant.0, self.irrelevant.1 + other.irrelevant.1);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_area_is_the_share_of_pairs_in_order() {
        assert_eq!(roc_auc(&[(0.1, false), (0.2, true), (0.3, true)]), Some(1.0));
        assert_eq!(roc_auc(&[(0.2, true), (0.2, false)]), Some(0.5));
        assert_eq!(roc_auc(&[(0.1, true), (0.2, false), (0.3, true), (0.4, false)]), Some(0.25));
        assert_eq!(roc_auc(&[(0.1, true)]), None);
    }

    /// Returns rows with some scores and labels, none of them barred.
    fn rows(scored: impl Iterator<Item = (f64, bool)>) -> Vec<Scored> {
        let row = |(probability, is_relevant)| Scored { probability, is_relevant, is_barred: false };
        scored.map(row).collect()
    }

    #[test]
    fn thresholds_are_the_widest_that_are_still_right() {
        let mut scored = rows((0..100).map(|n| (f64::from(n) / 100.0, n >= 50)));
        let found = thresholds(&scored, 0.95);
        let decided = DecisionCounts::of(&scored, found);
        assert!(decided.relevant.0 + decided.irrelevant.0 >= 99, "{decided:?}");
        for row in &mut scored {
            row.is_relevant = true;
        }
        assert!(DecisionCounts::of(&scored, thresholds(&scored, 0.95)).irrelevant == (0, 0));
        assert_eq!(DecisionCounts::of(&[], thresholds(&[], 0.95)), DecisionCounts::default());
    }

    #[test]
    fn barred_rows_are_never_irrelevant_and_do_not_count_on_that_side() {
        // Of the rows with low scores all relevant ones are barred.
        let scored: Vec<Scored> = (0..200)
            .map(|n| Scored {
                probability: f64::from(n) / 200.0,
                is_relevant: n >= 100 || n % 4 == 0,
                is_barred: n % 4 == 0,
            })
            .collect();
        let found = thresholds(&scored, 0.95);
        assert!(found.irrelevant_to > 0.45, "{found:?}");
        let (n_decided, n_right) = DecisionCounts::of(&scored, found).irrelevant;
        assert!(n_decided >= 70 && n_right == n_decided, "{n_decided} {n_right}");
        let point = curve(&scored).into_iter().find(|point| point.side == Label::Irrelevant).unwrap();
        assert_eq!(decided_by(&point, &scored).0 as u64, point.n_decided);
        let without: Vec<Scored> = scored.iter().map(|row| Scored { is_barred: false, ..*row }).collect();
        assert!(thresholds(&without, 0.95).irrelevant_to < 0.0);
    }

    #[test]
    fn a_curve_has_a_point_for_each_target_that_a_label_reaches() {
        // All rows with a high score are relevant; one in five with a low score is relevant, too.
        let some = |n: u32, score: f64, one_in: u32| (0..n).map(move |at| (score, at % one_in == 0));
        let scored = rows(some(100, 0.9, 1).chain(some(200, 0.1, 5)));
        let found = curve(&scored);
        let of = |side: Label| found.iter().filter(move |point| point.side == side).collect::<Vec<_>>();
        assert_eq!(of(Label::Relevant).iter().map(|point| point.precision).collect::<Vec<_>>(), TARGETS[..6]);
        let first = of(Label::Relevant)[0];
        assert_eq!((first.threshold, first.n_decided, first.n_right), (0.9, 100, 100));
        assert_eq!(((first.coverage * 300.0).round(), (first.recall * 140.0).round()), (100.0, 100.0));
        assert_eq!(
            of(Label::Irrelevant),
            [] as [&Point; 0],
            "80 % are right, which is not enough with the reserve for unseen rows"
        );
        assert_eq!(curve(&[]), []);
    }

    #[test]
    fn a_curve_returns_the_thresholds_of_the_next_target_and_none_for_a_label_without_one() {
        let point = |side, precision, threshold| Point {
            side,
            precision,
            threshold,
            coverage: 0.5,
            recall: 0.5,
            n_decided: 1,
            n_right: 1,
        };
        let curve = [
            point(Label::Relevant, 0.8, 0.4),
            point(Label::Relevant, 0.95, 0.9),
            point(Label::Irrelevant, 0.8, 0.5),
        ];
        let of_curve = |precision| Thresholds::of_curve(&curve, precision);
        assert_eq!(of_curve(0.9), Some(Thresholds { relevant_from: 0.9, irrelevant_to: NEVER_IRRELEVANT }));
        assert_eq!(of_curve(0.96), None);
        // At 0.8 the two labels overlap between 0.4 and 0.5.
        let found = of_curve(0.8).unwrap();
        assert_eq!((found.relevant_from, found.irrelevant_to), (0.45, 0.45 - MIN_DISTANCE));
    }

    proptest! {
        #[test]
        fn a_higher_target_never_decides_more_and_its_threshold_has_the_stated_precision(
            scored in prop::collection::vec((0_u8..20, any::<bool>()), 0..200)
        ) {
            let scored = rows(scored.into_iter().map(|(n, label)| (f64::from(n) / 20.0, label)));
            let found = curve(&scored);
            for pair in found.windows(2).filter(|pair| pair[0].side == pair[1].side) {
                prop_assert!(pair[0].precision < pair[1].precision);
                prop_assert!(pair[0].coverage >= pair[1].coverage && pair[0].recall >= pair[1].recall);
            }
            for point in &found {
                let (n_decided, n_right) = decided_by(point, &scored);
                prop_assert_eq!((n_decided as u64, n_right as u64), (point.n_decided, point.n_right));
                prop_assert!(share(n_right, n_decided) >= point.precision);
            }
        }

        #[test]
        fn decisions_have_the_requested_precision(
            scored in prop::collection::vec((0_u8..20, any::<bool>()), 0..80), precision in 0.6_f64..0.99
        ) {
            let scored = rows(scored.into_iter().map(|(n, label)| (f64::from(n) / 20.0, label)));
            let found = thresholds(&scored, precision);
            prop_assert!(found.irrelevant_to < found.relevant_from);
            let decided = DecisionCounts::of(&scored, found);
            for (n, n_right) in [decided.relevant, decided.irrelevant] {
                let wrong_allowed = (1.0 - precision) * f64::from(u32::try_from(n).unwrap());
                // If the two thresholds overlapped, they were moved to the middle.
                if found.relevant_from - found.irrelevant_to > 2.0 * MIN_DISTANCE {
                    prop_assert!(f64::from(u32::try_from(n - n_right).unwrap()) <= wrong_allowed + 1e-9);
                }
            }
        }
    }
}
