//! What differs between two finished runs, and why: settings, inputs, figures, rows, entries.
//!
//! Requests are matched by their id, which is a hash of the record, so the same record is
//! the same request in both whatever file it stood in. Entries are matched by the request
//! they were made of, so that another number in an id is told apart from another
//! question. Printing is a matter of `cli`.

mod entries;
mod figures;
mod requests;
mod setup;
#[cfg(test)]
mod tests;

use serde::Serialize;

use super::finished::{Fates, Finished};
use super::model::Merges;
pub use entries::{ChangedEntry, Entries};
pub use figures::{CategoryCount, Left, ReasonCount, Step};
pub use requests::{Move, Requests};
pub use setup::{Difference, InputDifference};

/// Everything that differs between two runs.
#[derive(Debug, Serialize)]
pub struct Comparison {
    /// Settings that differ, in the pipelines as they ran.
    pub settings: Vec<Difference>,
    /// Inputs and baselines that differ by their bytes.
    pub inputs: Vec<InputDifference>,
    /// What was left after each step, in both.
    pub funnel: Vec<Step>,
    /// Fates and edits whose number differs, by stage and reason.
    pub reasons: Vec<ReasonCount>,
    /// Requests by what became of them.
    pub requests: Requests,
    /// Requests that were merged in the first run and in the second, and where they ended.
    pub merges: [Merges; 2],
    /// Entries of the datasets.
    pub entries: Entries,
    /// Entries by set and category, in both.
    pub categories: Vec<CategoryCount>,
}

impl Comparison {
    /// Compares two runs; of each kind of move at most `max_ids` ids are told.
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

    /// Anything differs.
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
