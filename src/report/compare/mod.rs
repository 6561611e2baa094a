//! What differs between two finished runs, and why: settings, inputs, figures, rows, entries.
//!
//! Requests are matched by their id, which is a hash of the record, so the same record is the same request in both runs
//! whatever file it was in. Entries are matched by the request they were made from, so that a new number in an id is no
//! new question. `cli` prints the result.

mod entries;
mod figures;
mod requests;
mod setup;
mod side;
#[cfg(test)]
mod tests;

use serde::Serialize;

use super::finished::{Fates, Finished};
use super::model::Merges;
pub use entries::{ChangedEntry, Entries};
pub use figures::{CategoryCount, Counts, ReasonCount, Step};
pub use requests::{Move, Requests};
pub use setup::{Difference, InputDifference};
pub use side::{Side, SideBySide};

/// Everything that differs between two runs.
#[derive(Debug, Serialize)]
pub struct Comparison {
    /// Settings that differ, in the pipelines as they ran.
    pub settings: Vec<Difference>,
    /// Inputs and baselines that differ by their bytes.
    pub inputs: Vec<InputDifference>,
    /// The counts after each step, in both.
    pub funnel: Vec<Step>,
    /// Fates and edits whose number differs, by stage and reason.
    pub reasons: Vec<ReasonCount>,
    /// Requests by their fates.
    pub requests: Requests,
    /// Requests that were merged in the first and in the second run, and what happened to the rows they were merged into.
    pub merges: [Merges; 2],
    /// Entries of the datasets.
    pub entries: Entries,
    /// Entries by set and category, in both.
    pub categories: Vec<CategoryCount>,
}

impl Comparison {
    /// Compares two runs; lists at most `max_ids` ids of each kind of move.
    pub fn new(before: &Finished, after: &Finished, fates: &mut Fates, max_ids: usize) -> Self {
        Self {
            settings: setup::settings(before, after),
            inputs: setup::inputs(before, after),
            funnel: figures::funnel(before, after),
            reasons: figures::reasons(before, after),
            requests: requests::requests(before, after, fates, max_ids),
            merges: [before.merges, after.merges],
            entries: entries::entries(before, after),
            categories: figures::categories(before, after),
        }
    }

    /// Whether anything differs.
    pub fn differs(&self) -> bool {
        let entries = &self.entries;
        !self.settings.is_empty()
            || !self.inputs.is_empty()
            || self.funnel.iter().any(|step| step.before != step.after)
            || !self.reasons.is_empty()
            || self.requests.other_leader > 0
            || !self.requests.moves.is_empty()
            || entries.renumbered > 0
            || !(entries.changed.is_empty() && entries.new.is_empty() && entries.gone.is_empty())
    }
}
