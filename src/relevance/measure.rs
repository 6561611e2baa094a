//! How well scores tell relevant from irrelevant, and where to draw the two lines.
//!
//! `thresholds` draws them for one target precision; `curve` does so for each of a fixed set of
//! targets, so that another target can be chosen without a new fit.

use serde::{Deserialize, Serialize};

/// The area under the ROC curve: how often a relevant row has the higher score, a tie counts half.
///
/// From 0 to 1, one half is chance; `None` where one side has no rows.
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

/// Between these a row is not decided. Probabilities from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Thresholds {
    /// From this probability on a row is relevant.
    pub relevant_from: f64,
    /// Up to this one it is irrelevant.
    pub irrelevant_to: f64,
}

/// The widest thresholds at which, of these rows, at least `precision` on each side are right.
///
/// One row of the other side is counted in beforehand, so that a few lucky rows do not set a line. A side that
/// never gets so good decides nothing: its line lies beyond 0 or 1.
pub fn thresholds(scored: &[(f64, bool)], precision: f64) -> Thresholds {
    let mut sorted = scored.to_vec();
    sorted.sort_by(|a, b| b.0.total_cmp(&a.0));
    let relevant = line(&sorted, Label::Relevant, precision);
    sorted.reverse();
    let irrelevant = line(&sorted, Label::Irrelevant, precision);
    Thresholds::apart(relevant.map(|line| line.score), irrelevant.map(|line| line.score))
}

impl Thresholds {
    /// Both lines; a side without one decides nothing, and rows that both sides want are for neither.
    fn apart(relevant_from: Option<f64>, irrelevant_to: Option<f64>) -> Self {
        let relevant_from = relevant_from.unwrap_or(NEVER_RELEVANT);
        let irrelevant_to = irrelevant_to.unwrap_or(NEVER_IRRELEVANT);
        if irrelevant_to >= relevant_from {
            let between = f64::midpoint(irrelevant_to, relevant_from);
            return Self { relevant_from: between, irrelevant_to: between - APART };
        }
        Self { relevant_from, irrelevant_to }
    }

    /// The lines of a curve for a target precision from 0 to 1: on each side the widest whose target is at least that.
    /// Higher decides fewer rows. A side that reaches no such target decides nothing; `None` where neither side does.
    pub fn of_curve(curve: &[Point], precision: f64) -> Option<Self> {
        let line = |side: Label| {
            let good_enough = curve.iter().filter(|point| point.side == side && point.precision >= precision);
            good_enough.min_by(|a, b| a.precision.total_cmp(&b.precision)).map(|point| point.threshold)
        };
        let (relevant, irrelevant) = (line(Label::Relevant), line(Label::Irrelevant));
        (relevant.is_some() || irrelevant.is_some()).then(|| Self::apart(relevant, irrelevant))
    }
}

/// So far apart are two lines at least, so that they are two when they are written with four digits.
pub(super) const APART: f64 = 0.0001;

/// Thresholds that no probability reaches.
const NEVER_RELEVANT: f64 = 1.01;
const NEVER_IRRELEVANT: f64 = -0.01;

/// The last row up to which enough rows have the label.
struct Line {
    score: f64,
    n_decided: usize,
    n_right: usize,
}

#[allow(clippy::cast_precision_loss)] // Counts of rows.
fn line(sorted: &[(f64, bool)], side: Label, precision: f64) -> Option<Line> {
    let (mut n_right, mut n_decided, mut line) = (0_usize, 0_usize, None);
    for ties in sorted.chunk_by(|a, b| a.0.total_cmp(&b.0).is_eq()) {
        n_decided += ties.len();
        n_right += ties.iter().filter(|row| row.1 == side.is_relevant()).count();
        if n_right as f64 >= precision * (n_decided + 1) as f64 {
            line = Some(Line { score: ties[0].0, n_decided, n_right });
        }
    }
    line
}

/// A side of the labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Label {
    /// Some function fits.
    Relevant,
    /// None does.
    Irrelevant,
}

impl Label {
    /// Both sides.
    pub const ALL: [Self; 2] = [Self::Relevant, Self::Irrelevant];

    /// The word in files.
    pub fn name(self) -> &'static str {
        if self.is_relevant() { "relevant" } else { "irrelevant" }
    }

    fn is_relevant(self) -> bool {
        self == Self::Relevant
    }
}

/// The target precisions of a curve.
pub const TARGETS: [f64; 7] = [0.80, 0.85, 0.90, 0.925, 0.95, 0.975, 0.99];

/// The share of the allowed errors that lines keep in reserve: on rows not seen they are a little worse.
const RESERVE: f64 = 0.2;

/// The precision that lines must reach on the rows they are drawn by, so that they reach the target on others.
pub(super) fn with_reserve(target: f64) -> f64 {
    target + RESERVE * (1.0 - target)
}

/// The widest line of one side for a target precision, and what it decides of the rows it was drawn by.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Point {
    /// The side.
    pub side: Label,
    /// The target precision, one of [`TARGETS`].
    pub precision: f64,
    /// The line: relevant from this probability on, or irrelevant up to it.
    pub threshold: f64,
    /// The share of all rows that it decides.
    pub coverage: f64,
    /// The share of the side's own rows that it decides.
    pub recall: f64,
    /// How many rows it decides.
    pub n_decided: u64,
    /// How many of them rightly.
    pub n_right: u64,
}

/// The curve of precision and coverage: a point for each side and target, in the order of [`TARGETS`].
///
/// The rows must have been scored by weights that were fitted on others. A target that a side never reaches has no
/// point. A higher target never decides more.
pub fn curve(scored: &[(f64, bool)]) -> Vec<Point> {
    let mut sorted = scored.to_vec();
    sorted.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut points = points(&sorted, Label::Relevant);
    sorted.reverse();
    points.extend(self::points(&sorted, Label::Irrelevant));
    points
}

/// The points of one side; its own rows come first.
fn points(sorted: &[(f64, bool)], side: Label) -> Vec<Point> {
    let n_side = sorted.iter().filter(|row| row.1 == side.is_relevant()).count();
    let point = |precision: f64| {
        let Line { score, n_decided, n_right } = line(sorted, side, with_reserve(precision))?;
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

/// 0 of nothing.
#[allow(clippy::cast_precision_loss)] // Counts of rows.
fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// How many rows the line of a point decides, and how many of them rightly; the rows may be others than its own.
pub fn decided_by(point: &Point, scored: &[(f64, bool)]) -> (usize, usize) {
    let is_decided = |score: f64| match point.side {
        Label::Relevant => score >= point.threshold,
        Label::Irrelevant => score <= point.threshold,
    };
    let decided = scored.iter().filter(|row| is_decided(row.0));
    decided
        .fold((0, 0), |(n, n_right), row| (n + 1, n_right + usize::from(row.1 == point.side.is_relevant())))
}

/// What thresholds do to some rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Decided {
    /// All rows.
    pub n_rows: usize,
    /// Judged relevant, and how many of them are.
    pub relevant: (usize, usize),
    /// Judged irrelevant, and how many of them are.
    pub irrelevant: (usize, usize),
}

impl Decided {
    /// Judges rows.
    pub fn of(scored: &[(f64, bool)], thresholds: Thresholds) -> Self {
        let mut decided = Self::default();
        for &(score, label) in scored {
            decided.n_rows += 1;
            if score >= thresholds.relevant_from {
                decided.relevant = (decided.relevant.0 + 1, decided.relevant.1 + usize::from(label));
            } else if score <= thresholds.irrelevant_to {
                decided.irrelevant = (decided.irrelevant.0 + 1, decided.irrelevant.1 + usize::from(!label));
            }
        }
        decided
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

    #[test]
    fn lines_are_drawn_where_both_sides_are_still_right() {
        let mut scored: Vec<(f64, bool)> = (0..100).map(|n| (f64::from(n) / 100.0, n >= 50)).collect();
        let found = thresholds(&scored, 0.95);
        let decided = Decided::of(&scored, found);
        assert!(decided.relevant.0 + decided.irrelevant.0 >= 99, "{decided:?}");
        for row in &mut scored {
            row.1 = true;
        }
        assert!(Decided::of(&scored, thresholds(&scored, 0.95)).irrelevant == (0, 0));
        assert_eq!(Decided::of(&[], thresholds(&[], 0.95)), Decided::default());
    }

    #[test]
    fn a_curve_has_a_point_for_each_target_that_a_side_reaches() {
        // The relevant side is pure; one in five of the irrelevant side's rows is relevant.
        let rows = |n: u32, score: f64, one_in: u32| (0..n).map(move |at| (score, at % one_in == 0));
        let scored: Vec<(f64, bool)> = rows(100, 0.9, 1).chain(rows(200, 0.1, 5)).collect();
        let found = curve(&scored);
        let of = |side: Label| found.iter().filter(move |point| point.side == side).collect::<Vec<_>>();
        assert_eq!(of(Label::Relevant).iter().map(|point| point.precision).collect::<Vec<_>>(), TARGETS[..6]);
        let first = of(Label::Relevant)[0];
        assert_eq!((first.threshold, first.n_decided, first.n_right), (0.9, 100, 100));
        assert_eq!(((first.coverage * 300.0).round(), (first.recall * 140.0).round()), (100.0, 100.0));
        assert_eq!(
            of(Label::Irrelevant),
            [] as [&Point; 0],
            "80 % are right, which is not enough for lines that hold on other rows"
        );
        assert_eq!(curve(&[]), []);
    }

    #[test]
    fn lines_of_a_curve_are_those_of_the_next_target_and_a_side_without_one_decides_nothing() {
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
        let lines = |precision| Thresholds::of_curve(&curve, precision);
        assert_eq!(lines(0.9), Some(Thresholds { relevant_from: 0.9, irrelevant_to: NEVER_IRRELEVANT }));
        assert_eq!(lines(0.96), None);
        // At 0.8 both sides want what lies between 0.4 and 0.5.
        let met = lines(0.8).unwrap();
        assert_eq!((met.relevant_from, met.irrelevant_to), (0.45, 0.45 - APART));
    }

    proptest! {
        #[test]
        fn a_higher_target_never_decides_more_and_its_line_is_as_right_as_it_says(
            scored in prop::collection::vec((0_u8..20, any::<bool>()), 0..200)
        ) {
            let scored: Vec<(f64, bool)> = scored.into_iter().map(|(n, label)| (f64::from(n) / 20.0, label)).collect();
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
        fn what_is_decided_is_as_right_as_asked(
            scored in prop::collection::vec((0_u8..20, any::<bool>()), 0..80), precision in 0.6_f64..0.99
        ) {
            let scored: Vec<(f64, bool)> = scored.into_iter().map(|(n, label)| (f64::from(n) / 20.0, label)).collect();
            let found = thresholds(&scored, precision);
            prop_assert!(found.irrelevant_to < found.relevant_from);
            let decided = Decided::of(&scored, found);
            for (n, n_right) in [decided.relevant, decided.irrelevant] {
                let wrong_allowed = (1.0 - precision) * f64::from(u32::try_from(n).unwrap());
                // Where the two sides met, the line between them was moved.
                if found.relevant_from - found.irrelevant_to > 2.0 * APART {
                    prop_assert!(f64::from(u32::try_from(n - n_right).unwrap()) <= wrong_allowed + 1e-9);
                }
            }
        }
    }
}
