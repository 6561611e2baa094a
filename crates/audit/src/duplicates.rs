//! What a benchmark, or two benchmarks read together, share with themselves: equal messages, contradictory labels, near pairs.
//!
//! An audit of a file against itself finds the same row by row; here entries are compared as wholes and counted once. The last
//! message of the user is what an entry asks.

use std::collections::BTreeMap;
use std::convert::Infallible;

use super::benchmark::Benchmark;
use callsieve_engine::context::Cancelled;
use callsieve_similarity::rouge::join::self_join;
use callsieve_similarity::rouge::texts::Texts;
use callsieve_similarity::{Pair, Stopped};
use callsieve_text::profile::Profile;
use callsieve_text::rouge::Threshold;
use callsieve_text::tokens::Tokenizer;

/// What of an entry is compared with that of others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Asked {
    /// The last message of the user.
    pub(super) last: String,
    /// The hash of all messages of the user and of the functions.
    pub(super) request: u128,
    /// The hash of the answer, or of the category of an entry without one.
    pub(super) label: u128,
}

impl Benchmark {
    /// Returns the groups of entries with the same last message of the user, letter by letter; the first of each in order.
    pub fn equal_messages(&self) -> Vec<Vec<u32>> {
        groups(
            (0..)
                .zip(&self.asked)
                .filter(|(_, asked)| !asked.last.is_empty())
                .map(|(entry, asked)| (entry, &asked.last)),
        )
    }

    /// Returns the groups of entries with the same messages and functions.
    pub fn equal_requests(&self) -> Vec<Vec<u32>> {
        groups((0..).zip(&self.asked).map(|(entry, asked)| (entry, asked.request)))
    }

    /// Returns the groups of equal entries whose answers, or categories without answers, differ: no output is right for all.
    pub fn contradictions(&self) -> Vec<Vec<u32>> {
        let label = |entry: u32| self.asked[entry as usize].label;
        let differ = |group: &Vec<u32>| group.iter().any(|entry| label(*entry) != label(group[0]));
        self.equal_requests().into_iter().filter(differ).collect()
    }

    /// Returns the pairs of entries whose last messages have a ROUGE-L F1 above a threshold, equal ones, too; `None` if the user
    /// asked to stop.
    pub fn near_messages(&self, threshold: Threshold, cancelled: Cancelled<'_>) -> Option<Vec<Pair>> {
        let texts: Vec<&str> = self.asked.iter().map(|asked| asked.last.as_str()).collect();
        let texts = Texts::encode(&texts, Profile::Always(Tokenizer::Unicode));
        let mut found = Vec::new();
        let joined = self_join(&texts, threshold, cancelled, |pairs| {
            found.extend_from_slice(pairs);
            Ok::<_, Infallible>(())
        });
        match joined {
            Ok(()) => Some(found),
            Err(Stopped::Cancelled) => None,
            Err(Stopped::Sink(never)) => match never {},
        }
    }
}

/// Returns the entries with the same key, from two on.
fn groups<K: Ord>(keys: impl Iterator<Item = (u32, K)>) -> Vec<Vec<u32>> {
    let mut by_key: BTreeMap<K, Vec<u32>> = BTreeMap::new();
    for (entry, key) in keys {
        by_key.entry(key).or_default().push(entry);
    }
    let mut groups: Vec<Vec<u32>> = by_key.into_values().filter(|group| group.len() > 1).collect();
    groups.sort();
    groups
}
