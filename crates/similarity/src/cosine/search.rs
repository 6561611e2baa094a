//! What an approximate search reports about itself.

/// The statistics of an approximate search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Search {
    /// Number of rows in the index.
    pub n_indexed: usize,
    /// Number of rows that are equal to an earlier one of their collection.
    pub n_copies: usize,
    /// Number of rows that did not find themselves and were compared with all.
    pub n_lost: usize,
    /// The maximum number of neighbours in a query.
    pub max_k: usize,
    /// The estimated recall.
    pub recall: Recall,
}

/// The recall on a sample of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Recall {
    /// Number of rows that were compared with all others.
    pub n_rows: usize,
    /// Number of their pairs at or above the threshold.
    pub n_pairs: usize,
    /// Number of those pairs that were reported.
    pub n_found: usize,
}

impl Recall {
    /// Returns the share of reported pairs, from 0 to 1; `None` if the sample has no pairs.
    #[expect(clippy::cast_precision_loss, reason = "pairs of a sample")]
    pub fn share(&self) -> Option<f64> {
        (self.n_pairs > 0).then(|| self.n_found as f64 / self.n_pairs as f64)
    }
}
