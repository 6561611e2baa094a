//! Exact search for the leader with the highest cosine.
//!
//! Counts of hashed n-grams are mostly zeros, vectors of models are not; sparse and dense vectors have different
//! bounds. The first block of vectors determines the kind, which only affects the time.

use rayon::prelude::*;

use crate::engine::context::Cancelled;
use crate::similarity::Merge;
use crate::similarity::cosine::join::join;
use crate::similarity::cosine::plan::Plan;
use crate::similarity::cosine::sparse::{self, SparseLeaders};
use crate::similarity::vectors::{Vectors, dot};

/// Minimum number of settled leaders for a join; fewer are compared one by one.
const MIN_JOINED: usize = 2_048;

/// Maximum number of vectors that are compared one by one without an index.
const FEW: usize = 64;

/// The leaders so far.
#[allow(clippy::large_enum_variant)] // There is one.
pub(super) enum Leaders {
    /// Before the first vector.
    Unknown {
        /// The minimum cosine.
        threshold: f64,
    },
    /// Leaders with vectors that are mostly zeros.
    Sparse(SparseLeaders),
    /// Leaders with other vectors, or a few leaders.
    Dense(DenseLeaders),
}

/// A vector that is compared with leaders.
#[allow(clippy::large_enum_variant)] // There are as many as a block has rows, nearly all of one kind.
pub(super) enum Probe<'p> {
    /// A vector that is mostly zeros; `None` if it has a non-finite number.
    Sparse(Option<sparse::Probe<'p>>),
    /// Another vector, and the best leader so far.
    Dense(&'p [f32], Option<Merge>),
}

impl Leaders {
    /// Returns no leaders; `threshold` is the minimum cosine of a match.
    pub(super) fn new(threshold: f64, n_vectors: usize) -> Self {
        if n_vectors <= FEW { Self::Dense(DenseLeaders::new(threshold)) } else { Self::Unknown { threshold } }
    }

    /// Finds the best settled leader of each vector, on all threads; returns `None` if cancelled.
    pub(super) fn probes<'p>(
        &mut self,
        rows: &[&'p [f32]],
        cancelled: Cancelled<'_>,
    ) -> Option<Vec<Probe<'p>>> {
        if let Self::Unknown { threshold } = *self {
            *self = if SparseLeaders::is_for(rows.iter().copied()) {
                Self::Sparse(SparseLeaders::new(threshold))
            } else {
                Self::Dense(DenseLeaders::new(threshold))
            };
        }
        match self {
            Self::Unknown { .. } => Some(Vec::new()),
            Self::Sparse(leaders) => {
                Some(leaders.probes(rows, cancelled)?.into_iter().map(Probe::Sparse).collect())
            }
            Self::Dense(leaders) => {
                let best = leaders.best_settled(rows, cancelled)?;
                Some(rows.iter().zip(best).map(|(row, best)| Probe::Dense(row, best)).collect())
            }
        }
    }

    /// Finds the best of all leaders.
    pub(super) fn best(&self, probe: &mut Probe<'_>) -> Option<Merge> {
        match (self, probe) {
            (Self::Sparse(leaders), Probe::Sparse(Some(probe))) => leaders.best(probe),
            (Self::Dense(leaders), Probe::Dense(row, best)) => leaders.best(row, *best),
            _ => None,
        }
    }

    /// Adds a leader.
    pub(super) fn push(&mut self, leader: usize, probe: &Probe<'_>) {
        match (self, probe) {
            (Self::Sparse(leaders), Probe::Sparse(Some(probe))) => leaders.push(leader, probe),
            (Self::Dense(leaders), Probe::Dense(row, _)) => leaders.push(leader, row),
            _ => {}
        }
    }

    /// Indexes the new leaders, for the search on all threads; returns `None` if cancelled.
    pub(super) fn settle(&mut self, cancelled: Cancelled<'_>) -> Option<()> {
        match self {
            Self::Unknown { .. } => {}
            Self::Sparse(leaders) => leaders.settle(cancelled)?,
            Self::Dense(leaders) => leaders.n_settled = leaders.items.len(),
        }
        Some(())
    }
}

/// Leaders with dense vectors.
pub(super) struct DenseLeaders {
    threshold: f64,
    rows: Vectors,
    /// The item of each row.
    items: Vec<usize>,
    n_settled: usize,
}

impl DenseLeaders {
    fn new(threshold: f64) -> Self {
        Self { threshold, rows: Vectors::default(), items: Vec::new(), n_settled: 0 }
    }

    /// Finds the best settled leader of each row.
    fn best_settled(&self, rows: &[&[f32]], cancelled: Cancelled<'_>) -> Option<Vec<Option<Merge>>> {
        // A join ignores zero rows, which match any row at a threshold of 0.
        if self.n_settled < MIN_JOINED || self.threshold <= 0.0 {
            let of_row = |row: &&[f32]| self.best_of(row, 0..self.n_settled, None, cancelled);
            return rows.par_iter().map(of_row).collect();
        }
        let mut best = vec![None; rows.len()];
        let mut probes = Vectors::default();
        for row in rows {
            probes.push(row);
        }
        let joined = join::<()>(&probes, &self.rows, self.threshold, Plan::Exact, cancelled, |pairs| {
            for pair in pairs {
                let at = pair.a as usize;
                self.improve(&mut best[at], rows[at], pair.b as usize);
            }
            Ok(())
        });
        joined.ok().map(|_| best)
    }

    fn best(&self, row: &[f32], settled: Option<Merge>) -> Option<Merge> {
        self.best_of(row, self.n_settled..self.items.len(), settled, &|| false).flatten()
    }

    #[allow(clippy::option_option)] // The outer `None` means cancelled, the inner one means no leader.
    fn best_of(
        &self,
        row: &[f32],
        leaders: std::ops::Range<usize>,
        mut best: Option<Merge>,
        cancelled: Cancelled<'_>,
    ) -> Option<Option<Merge>> {
        for leader in leaders {
            self.improve(&mut best, row, leader);
        }
        (!cancelled()).then_some(best)
    }

    /// Updates the best leader if this one is at or above the threshold and better: a higher cosine, or an earlier
    /// leader with the same.
    fn improve(&self, best: &mut Option<Merge>, row: &[f32], at: usize) {
        let (leader, score) = (self.items[at], f64::from(dot(row, self.rows.get(at))));
        let is_better = |best: Merge| score > best.score || (score >= best.score && leader < best.leader);
        if score >= self.threshold && best.is_none_or(is_better) {
            *best = Some(Merge { leader, score });
        }
    }

    fn push(&mut self, item: usize, row: &[f32]) {
        self.rows.push(row);
        self.items.push(item);
    }
}
