//! Counts over all docs that were fixed: files, lists and functions, edits and faults by reason.

use std::collections::BTreeMap;

use super::files::Listing;
use super::outcome::Outcome;
use crate::docs::fix::Safety;

/// Counts over all doc lists.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// The files, where there may be several.
    pub files: Option<FileCounts>,
    /// Functions of the lists that were read.
    pub functions: u64,
    /// Lists that needed no edit.
    pub unchanged: u64,
    /// Lists with edits.
    pub changed: u64,
    /// Lists that cannot be read.
    pub unread: u64,
    /// Lists that were read, but that a run would drop or hold, or that the API refuses.
    pub held: u64,
    /// The functions of these lists.
    pub held_functions: u64,
    /// Edits by reason and safety; those that were not made are suggestions.
    pub edits: BTreeMap<(&'static str, Safety), Occurrences>,
    /// What the API cannot express, by reason.
    pub conversions: BTreeMap<&'static str, Occurrences>,
    /// Faults by reason.
    pub faults: BTreeMap<&'static str, Occurrences>,
}

/// Numbers of files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileCounts {
    /// Files that were read, or that could not be.
    pub read: u64,
    /// Files of other types in folders.
    pub skipped: u64,
}

/// How often something occurs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Occurrences {
    /// How often.
    pub times: u64,
    /// In how many lists.
    pub lists: u64,
    last_list: u64,
}

impl Occurrences {
    fn add(&mut self, list: u64) {
        self.times += 1;
        self.lists += u64::from(self.last_list != list);
        self.last_list = list;
    }
}

impl Counts {
    /// Returns no counts yet, of these files.
    pub(super) fn of_files(listing: &Listing) -> Self {
        let counts = FileCounts { read: listing.files.len() as u64, skipped: listing.n_skipped };
        Self { files: listing.is_named().then_some(counts), ..Self::default() }
    }

    /// Counts one list.
    pub(super) fn add(&mut self, outcome: &Outcome) {
        let kind = match (outcome.n_functions, outcome.is_changed()) {
            (None, _) => &mut self.unread,
            (Some(_), true) => &mut self.changed,
            (Some(_), false) => &mut self.unchanged,
        };
        *kind += 1;
        if let Some(n_functions) = outcome.n_functions {
            self.functions += n_functions as u64;
            if !outcome.is_good() {
                self.held += 1;
                self.held_functions += n_functions as u64;
            }
        }
        let list = self.lists();
        for edit in &outcome.edits {
            self.edits.entry((edit.reason, edit.safety)).or_default().add(list);
        }
        for change in outcome.conversions.iter().flatten() {
            self.conversions.entry(change.reason).or_default().add(list);
        }
        for fault in &outcome.faults {
            self.faults.entry(fault.reason).or_default().add(list);
        }
    }

    /// Returns the number of lists.
    pub fn lists(&self) -> u64 {
        self.unchanged + self.changed + self.unread
    }

    /// Returns whether there are lists, and a run would drop or hold none of them, and the API refuses none.
    pub fn is_good(&self) -> bool {
        self.lists() > 0 && self.unread == 0 && self.held == 0
    }
}
