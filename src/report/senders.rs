//! Who sent the requests of a run: how many assistants and users there are, what became of the requests of the largest
//! assistants, and which of them, or which template, has most of the requests.
//!
//! Names of assistants are content of the log, so they are listed only after redaction. Names of users are never listed.

use std::cmp::Reverse;

use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;

use super::model::Report;
use crate::columns::{ASSISTANT, USER};
use crate::content_hash::content_hash;
use crate::engine::corpus::Corpus;
use crate::engine::error::Result;
use crate::engine::vocabulary::Action;
use crate::stages::cap_templates::Found;
use crate::text::figures::{count, is_most, share_of};

/// The most assistants that are listed.
const MOST: usize = 20;
/// The most assistants that are counted one by one: gateways also name single traces.
const MOST_COUNTED: usize = 100_000;

/// Who sent the requests.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct Senders {
    /// Requests whose log names an assistant: the app, team or trace that sent them.
    pub with_assistant: u64,
    /// Different assistants.
    pub assistants: u64,
    /// Requests of the assistant that sent most.
    pub of_largest_assistant: u64,
    /// The assistants that sent most, most first; none without redaction.
    pub largest: Vec<Assistant>,
    /// Requests whose log names a user.
    pub with_user: u64,
    /// Different users.
    pub users: u64,
    /// Requests of the user who sent most.
    pub of_largest_user: u64,
}

/// The requests of an assistant.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize)]
pub struct Assistant {
    /// Its name in the log, redacted.
    pub name: String,
    /// All its requests.
    pub requests: u64,
    /// Those that are kept.
    pub kept: u64,
    /// Those that another request represents.
    pub merged: u64,
    /// Those that wait for a decision.
    pub held: u64,
    /// Those that were dropped.
    pub dropped: u64,
}

impl Senders {
    /// Counts the requests of a run; `is_redacted` if their cells are.
    pub(super) fn of(corpus: &Corpus, is_redacted: bool) -> Result<Self> {
        let (requests, mut senders) = (&corpus.requests, Self::default());
        let mut assistants: FxHashMap<String, Assistant> = FxHashMap::default();
        let mut uncounted: FxHashSet<u128> = FxHashSet::default();
        let mut users: FxHashMap<u128, u64> = FxHashMap::default();
        let columns: Vec<_> = [ASSISTANT, USER].into_iter().filter(|column| requests.has(*column)).collect();
        for batch in 0..requests.batches() {
            let cells = requests.read_batch(batch, &columns)?;
            for (at, row) in requests.rows_of_batch(batch).enumerate() {
                if columns.contains(&USER)
                    && let Some(user) = cells.text(USER, at)
                {
                    senders.with_user += 1;
                    *users.entry(content_hash(user)).or_default() += 1;
                }
                if columns.contains(&ASSISTANT)
                    && let Some(name) = cells.text(ASSISTANT, at)
                {
                    senders.with_assistant += 1;
                    if assistants.len() == MOST_COUNTED && !assistants.contains_key(name) {
                        uncounted.insert(content_hash(name));
                        continue;
                    }
                    let assistant = assistants.entry(name.to_owned()).or_default();
                    assistant.requests += 1;
                    *match requests.fate(row).map(|fate| fate.action) {
                        None => &mut assistant.kept,
                        Some(Action::Merge) => &mut assistant.merged,
                        Some(Action::Hold) => &mut assistant.held,
                        Some(Action::Drop) => &mut assistant.dropped,
                    } += 1;
                }
            }
        }
        senders.users = users.len() as u64;
        senders.of_largest_user = users.into_values().max().unwrap_or_default();
        senders.assistants = (assistants.len() + uncounted.len()) as u64;
        let named = assistants.into_iter().map(|(name, counts)| Assistant { name, ..counts });
        let mut largest: Vec<Assistant> = named.collect();
        largest.sort_by(|one, other| {
            Reverse(one.requests).cmp(&Reverse(other.requests)).then_with(|| one.name.cmp(&other.name))
        });
        senders.of_largest_assistant = largest.first().map_or(0, |first| first.requests);
        largest.truncate(if is_redacted { MOST } else { 0 });
        senders.largest = largest;
        Ok(senders)
    }

    /// Whether the log names nobody.
    pub(super) fn is_empty(&self) -> bool {
        self.with_assistant == 0 && self.with_user == 0
    }
}

impl Report {
    /// What a reader should know if one assistant, user or template has most of the requests.
    pub fn dominance(&self) -> Vec<String> {
        let (senders, all) = (&self.senders, self.requests.rows);
        let mut found = Vec::new();
        if senders.assistants > 1 && is_most(senders.of_largest_assistant, all) {
            let share = share_of(senders.of_largest_assistant, all);
            found.push(format!(
                "One of {} assistants sent {share} of the requests. The option --assistant selects those of another.",
                count(senders.assistants)
            ));
        }
        if senders.users > 1 && is_most(senders.of_largest_user, all) {
            let share = share_of(senders.of_largest_user, all);
            found.push(format!("One of {} users sent {share} of the requests.", count(senders.users)));
        }
        for templates in self.notes.values().filter_map(Found::of) {
            let largest = templates.named.iter().map(|named| named.requests - named.dropped).max();
            let largest = largest.filter(|n| is_most(*n, templates.requests - templates.dropped));
            found.extend(largest.map(|n| {
                format!(
                    "One template has {} of the requests that the step cap-templates keeps.",
                    share_of(n, templates.requests - templates.dropped)
                )
            }));
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_more_than_half_of_many_requests_is_dominant() {
        let mut report = Report::default();
        report.requests.rows = 100;
        report.senders = Senders { assistants: 3, of_largest_assistant: 50, users: 2, ..Senders::default() };
        assert!(report.dominance().is_empty());
        report.senders.of_largest_assistant = 51;
        report.senders.of_largest_user = 98;
        let found = report.dominance();
        assert_eq!(
            found,
            [
                "One of 3 assistants sent 51.0 % of the requests. The option --assistant selects those of another.",
                "One of 2 users sent 98.0 % of the requests."
            ]
        );
        // A log of one assistant is of that assistant.
        report.senders.assistants = 1;
        assert_eq!(report.dominance().len(), 1);
    }
}
