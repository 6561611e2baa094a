//! What of a benchmark a row is compared with: all entries but some, with phrases of the training set made clean.

use std::collections::BTreeSet;

use super::frequent::BenchMessage;
use super::hit::{Method, Verdict};
use callsieve_engine::context::Cancelled;

/// The entries that a row is compared with.
#[derive(Clone, Copy)]
pub(super) struct Scope<'a> {
    /// Whether an entry is not compared.
    pub(super) is_left_out: &'a dyn Fn(u32) -> bool,
    /// Messages that are phrases of the training set: inside longer messages they are clean.
    pub(super) phrases: &'a BTreeSet<BenchMessage>,
    /// Whether the user asked to stop; then not all hits are found.
    pub(super) cancelled: Cancelled<'a>,
}

/// No message.
pub(super) static NO_PHRASES: BTreeSet<BenchMessage> = BTreeSet::new();

impl<'a> Scope<'a> {
    /// Returns the scope of all entries.
    pub(super) fn all(cancelled: Cancelled<'a>) -> Self {
        Self { is_left_out: &|_| false, phrases: &NO_PHRASES, cancelled }
    }

    /// Returns what a method says of a message of an entry, if it says `verdict` without regard to phrases.
    pub(super) fn verdict(&self, entry: u32, turn: u32, method: Method, verdict: Verdict) -> Verdict {
        if method != Method::Exact && self.is_phrase(entry, turn) { Verdict::Clean } else { verdict }
    }

    /// Returns whether a message of an entry is a phrase of the training set.
    pub(super) fn is_phrase(&self, entry: u32, turn: u32) -> bool {
        !self.phrases.is_empty() && self.phrases.contains(&(entry, turn))
    }
}
