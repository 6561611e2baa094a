//! How well scores tell relevant from irrelevant, and where to draw the two lines.

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
    let relevant_from = line(&sorted, true, precision).unwrap_or(NEVER_RELEVANT);
    sorted.reverse();
    let irrelevant_to = line(&sorted, false, precision).unwrap_or(NEVER_IRRELEVANT);
    // Rows that both sides want are for neither.
    if irrelevant_to >= relevant_from {
        let between = f64::midpoint(irrelevant_to, relevant_from);
        return Thresholds { relevant_from: between, irrelevant_to: between - APART };
    }
    Thresholds { relevant_from, irrelevant_to }
}

/// So far apart are two lines at least, so that they are two when they are written with four digits.
pub(super) const APART: f64 = 0.0001;

/// Thresholds that no probability reaches.
const NEVER_RELEVANT: f64 = 1.01;
const NEVER_IRRELEVANT: f64 = -0.01;

/// The score of the last row up to which enough rows have the label.
#[allow(clippy::cast_precision_loss)] // Counts of rows.
fn line(sorted: &[(f64, bool)], label: bool, precision: f64) -> Option<f64> {
    let (mut n_right, mut n, mut line) = (0_usize, 1_usize, None);
    for ties in sorted.chunk_by(|a, b| a.0.total_cmp(&b.0).is_eq()) {
        n += ties.len();
        n_right += ties.iter().filter(|row| row.1 == label).count();
        if n_right as f64 >= precision * n as f64 {
            line = Some(ties[0].0);
        }
    }
    line
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

    proptest! {
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
