//! The two collections of a join.

use super::rows::UnitRows;
use crate::Pair;
use crate::vectors::dot;

/// Two collections, or one as both sides.
pub(super) struct Sides<'r, 'v> {
    pub(super) a: &'r UnitRows<'v>,
    /// `None` for a self-join.
    pub(super) b: Option<&'r UnitRows<'v>>,
}

impl<'r, 'v> Sides<'r, 'v> {
    pub(super) fn b(&self) -> &'r UnitRows<'v> {
        self.b.unwrap_or(self.a)
    }

    /// Returns whether a pair is wanted: in a self-join each pair once, and no row with itself.
    pub(super) fn is_wanted(&self, a: u32, b: u32) -> bool {
        self.b.is_some() || a < b
    }

    /// Returns the pair of two rows, if their score is at least the threshold.
    pub(super) fn pair(&self, a: u32, b: u32, threshold: f64) -> Option<Pair> {
        let score = f64::from(dot(self.a.get(a), self.b().get(b)));
        (score >= threshold).then_some(Pair { a, b, score })
    }
}
