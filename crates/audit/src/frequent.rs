//! Entries of a benchmark that are phrases of a training set: “You are a helpful assistant” in every prompt proves nothing.
//!
//! A short message without numbers, names and quoted texts that is part of many different messages of a training set is a phrase
//! there. Inside longer messages it is clean; an equal message stays what it is. A longer one is no phrase, however often it
//! is there: many prompts around one question are copies of the question.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::benchmark::Benchmark;
use super::hit::{Hit, Method};
use super::item::Item;
use super::scope::Scope;
use callsieve_engine::context::Cancelled;

/// The name of the note about them.
pub const FREQUENT_NOTE: &str = "frequent_entries";

/// Fewest messages of a training set that a phrase is part of.
const MIN_MESSAGES: usize = 20;
/// The same, as one in so many messages.
const ONE_IN: usize = 50;

/// A message of the benchmark: its entry, and its number there.
pub type BenchMessage = (u32, u32);

/// An entry whose message is a phrase of the training set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrequentEntry {
    /// The category.
    pub category: String,
    /// The entry.
    pub id: String,
    /// The messages that it is part of.
    pub messages: usize,
    /// The different messages that were looked at.
    pub of: usize,
}

/// The messages of a benchmark that are phrases of a training set.
#[derive(Debug, Default)]
pub struct Frequent {
    /// The messages.
    pub messages: BTreeSet<BenchMessage>,
    /// Their entries, for the report.
    pub entries: Vec<FrequentEntry>,
}

impl Frequent {
    /// Looks for phrases in the first messages of a training set; `None` if the user asked to stop.
    pub fn of(texts: &[String], benchmark: &Benchmark, cancelled: Cancelled<'_>) -> Option<Self> {
        let distinct: BTreeSet<&str> = texts.iter().map(String::as_str).collect();
        let distinct: Vec<&str> = distinct.into_iter().collect();
        let short = benchmark.short_messages();
        let contained = |text: &&str| -> Option<BTreeSet<BenchMessage>> {
            let item = Item { queries: vec![(*text).to_owned()], ..Item::default() };
            let hits = benchmark.hits_in(&item, Scope::all(cancelled));
            let contained = hits.iter().filter(|hit| hit.method == Method::Contained);
            let contained = contained.flat_map(Hit::entries).filter(|message| short.contains(message));
            (!cancelled()).then(|| contained.collect())
        };
        let parts: Vec<BTreeSet<BenchMessage>> =
            distinct.par_iter().with_max_len(1).map(contained).collect::<Option<_>>()?;
        let mut counts: BTreeMap<BenchMessage, usize> = BTreeMap::new();
        for part in parts.into_iter().flatten() {
            *counts.entry(part).or_default() += 1;
        }
        let fewest = MIN_MESSAGES.max(distinct.len() / ONE_IN);
        counts.retain(|_, n| *n >= fewest);
        let entry = |(&(entry, _), &messages): (&BenchMessage, &usize)| {
            let (category, id) = benchmark.place_of(entry);
            FrequentEntry { category: category.to_owned(), id: id.to_owned(), messages, of: distinct.len() }
        };
        Some(Self { entries: counts.iter().map(entry).collect(), messages: counts.into_keys().collect() })
    }
}
