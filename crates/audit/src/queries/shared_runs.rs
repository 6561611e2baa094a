//! Runs of words that messages of the benchmark have in common, and the messages that have each.
//!
//! A run is found by a hash and compared word by word. A text that thousands of messages share has many runs and one list of
//! messages: equal lists are kept once. A run of one message needs no list.

use rustc_hash::FxHashMap;

use super::super::words::UNKNOWN;
use super::text::Text;

/// An odd factor, so that no bit of a word is lost in the hash of a run.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
const NONE: u32 = u32::MAX;

/// The runs of one length of all messages.
#[derive(Debug, Default)]
pub(super) struct SharedRuns {
    /// The number of words of a run.
    length: usize,
    /// By hash: the first run with it.
    first: FxHashMap<u64, u32>,
    runs: Vec<Run>,
    /// The messages of runs of several ones, ascending; each list once.
    lists: Vec<Box<[u32]>>,
}

#[derive(Debug)]
struct Run {
    /// The first message that has it, and its place there.
    text: u32,
    at: u32,
    /// The list of its messages, or [`NONE`] if it is in one.
    list: u32,
    /// Another run with the same hash, or [`NONE`].
    next: u32,
}

/// The messages that have a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Messages {
    /// One.
    One(u32),
    /// Those of a list, by its number.
    List(u32),
}

impl SharedRuns {
    pub(super) fn new(texts: &[Text], length: usize) -> Self {
        let mut this = Self { length, ..Self::default() };
        // The messages after the first of each run.
        let mut others: Vec<(u32, u32)> = Vec::new();
        for (text, at) in (0..).zip(texts) {
            for (place, run) in (0..).zip(at.numbers.windows(length)) {
                if let Some(known) = this.known(hash(run), run, texts) {
                    others.push((known, text));
                } else {
                    this.add(hash(run), text, place);
                }
            }
        }
        others.sort_unstable();
        others.dedup();
        let mut known: FxHashMap<Box<[u32]>, u32> = FxHashMap::default();
        for of_run in others.chunk_by(|one, other| one.0 == other.0) {
            let run = &mut this.runs[of_run[0].0 as usize];
            let mut messages = vec![run.text];
            messages.extend(of_run.iter().map(|(_, text)| *text).filter(|text| *text != run.text));
            if messages.len() > 1 {
                let next = number(this.lists.len());
                run.list = *known.entry(messages.into()).or_insert(next);
                if run.list == next {
                    this.lists.push(Box::default());
                }
            }
        }
        #[allow(clippy::iter_over_hash_type)] // Each list goes to its own place.
        for (messages, list) in known {
            this.lists[list as usize] = messages;
        }
        this
    }

    fn add(&mut self, hash: u64, text: u32, at: u32) {
        let run = number(self.runs.len());
        let next = self.first.insert(hash, run).unwrap_or(NONE);
        self.runs.push(Run { text, at, list: NONE, next });
    }

    /// Returns the number of a run.
    fn known(&self, hash: u64, words: &[u32], texts: &[Text]) -> Option<u32> {
        let mut next = self.first.get(&hash).copied().unwrap_or(NONE);
        while next != NONE {
            let run = &self.runs[next as usize];
            let at = run.at as usize;
            if texts[run.text as usize].numbers[at..at + self.length] == *words {
                return Some(next);
            }
            next = run.next;
        }
        None
    }

    /// Calls `take` with the messages of each run of a row that some have; the same one may come several times.
    pub(super) fn for_each(&self, texts: &[Text], row: &[u32], mut take: impl FnMut(Messages)) {
        if self.first.is_empty() {
            return;
        }
        let last = FACTOR.wrapping_pow(u32::try_from(self.length).unwrap_or(u32::MAX));
        let (mut hash, mut n_known, mut before) = (0_u64, 0, None);
        for (at, &word) in row.iter().enumerate() {
            hash = hash.wrapping_mul(FACTOR).wrapping_add(u64::from(word) + 1);
            if at >= self.length {
                hash = hash.wrapping_sub((u64::from(row[at - self.length]) + 1).wrapping_mul(last));
            }
            n_known = if word == UNKNOWN { 0 } else { n_known + 1 };
            if n_known < self.length {
                continue;
            }
            let Some(known) = self.known(hash, &row[at + 1 - self.length..=at], texts) else { continue };
            let run = &self.runs[known as usize];
            let messages = if run.list == NONE { Messages::One(run.text) } else { Messages::List(run.list) };
            if before != Some(messages) {
                take(messages);
                before = Some(messages);
            }
        }
    }

    /// Returns the messages of a list, ascending.
    pub(super) fn list(&self, list: u32) -> &[u32] {
        &self.lists[list as usize]
    }
}

fn number(n: usize) -> u32 {
    u32::try_from(n).expect("fewer than 2^32 runs of a benchmark")
}

fn hash(run: &[u32]) -> u64 {
    run.iter().fold(0, |hash: u64, &word| hash.wrapping_mul(FACTOR).wrapping_add(u64::from(word) + 1))
}
