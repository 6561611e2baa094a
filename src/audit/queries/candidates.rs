//! Which messages of the benchmark a message of a row may overlap.
//!
//! A message that shares most of its weight with a row has one of its heaviest words there: it is in the list of as many of
//! them as weigh more than it may lack. So is a nearly equal one, whose length is near, too. A run of words is found by its
//! hash, and a message with other numbers by the heaviest of its other words, all of which the row has. No list is cut off,
//! so nothing is missed.

use std::cell::RefCell;

use rustc_hash::FxHashMap;

use super::super::thresholds::QueryThresholds;
use super::super::words::UNKNOWN;
use super::measures::Counts;
use super::text::{Row, Text};

/// Whether two messages are nearly equal as a whole: their ROUGE-L F1 is above 0.8.
pub(super) fn is_near(common: usize, n: usize, n_row: usize) -> bool {
    5 * common > 2 * (n + n_row)
}

/// Whole weights by which a rounded share may be off.
const SLACK: f64 = 2.0;
/// An odd factor, so that no bit of a word is lost in the hash of a run.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// The messages of a benchmark, by what a row must have of them.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    /// By word: the messages whose other words do not weigh enough.
    by_weight: Vec<Vec<u32>>,
    /// By word: the messages whose other words are not enough for a nearly equal one, with their length, the shortest first.
    by_length: Vec<Vec<(u32, u32)>>,
    /// By word: the messages with numbers of which it is the heaviest other word, with all such words.
    by_template: FxHashMap<u32, Vec<Template>>,
    /// By hash: the messages with a run of words, each once.
    by_run: FxHashMap<u64, Vec<u32>>,
    /// Most weight that each message may lack.
    lacking: Vec<u64>,
    run: usize,
}

/// A message that is looked for with other numbers.
#[derive(Debug)]
struct Template {
    text: u32,
    /// Its other words, with how often it has them.
    words: Box<[(u32, u32)]>,
}

/// What is reused from row to row.
#[derive(Debug, Default)]
struct Scratch {
    of_row: Counts,
    counts: [Counts; 2],
    /// The number of the search that saw a message last.
    seen: Vec<[u32; 3]>,
    search: u32,
    found: Vec<u32>,
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

impl Candidates {
    /// Indexes messages, which have their weights.
    pub(super) fn new(texts: &[Text], n_words: usize, by: &QueryThresholds) -> Self {
        let mut this = Self {
            by_weight: vec![Vec::new(); n_words],
            by_length: vec![Vec::new(); n_words],
            run: by.longest_words,
            ..Self::default()
        };
        for (at, text) in (0..).zip(texts) {
            this.lacking.push(lacking(text.total, by.compared()));
            this.add(at, text);
            let words = if text.is_template(by) { text.plain_words() } else { Vec::new() };
            if let Some(&(heaviest, _)) = words.first() {
                this.by_template
                    .entry(heaviest)
                    .or_default()
                    .push(Template { text: at, words: words.into() });
            }
        }
        for list in &mut this.by_length {
            list.sort_unstable();
        }
        this
    }

    fn add(&mut self, at: u32, text: &Text) {
        let n = text.numbers.len();
        let length = u32::try_from(n).unwrap_or(u32::MAX);
        let lacking = self.lacking[at as usize];
        // As many of the heaviest words as a row cannot lack together.
        let (mut weight, mut n_words) = (0, 0);
        for &(word, of_word, times) in &text.distinct {
            if weight <= lacking {
                self.by_weight[word as usize].push(at);
            }
            if n_words <= n - (2 * n / 3 + 1) {
                self.by_length[word as usize].push((length, at));
            }
            weight += of_word * u64::from(times);
            n_words += times as usize;
        }
        for run in text.numbers.windows(self.run) {
            let list = self.by_run.entry(hash(run)).or_default();
            if list.last() != Some(&at) {
                list.push(at);
            }
        }
    }

    /// Gives the messages that may overlap one of a row, in their order, with empty counts for their comparison.
    pub(super) fn find(&self, texts: &[Text], row: &Row<'_>, mut take: impl FnMut(u32, &mut [Counts; 2])) {
        SCRATCH.with_borrow_mut(|scratch| {
            scratch.reset(self.by_weight.len(), texts.len());
            scratch.of_row.add(row.numbers);
            let mut found = std::mem::take(&mut scratch.found);
            self.add_by_words(texts, row, scratch, &mut found);
            self.add_by_runs(row, &mut found);
            scratch.of_row.clear(row.numbers);
            found.sort_unstable();
            found.dedup();
            for &at in &found {
                take(at, &mut scratch.counts);
            }
            found.clear();
            scratch.found = found;
        });
    }

    fn add_by_words(&self, texts: &[Text], row: &Row<'_>, scratch: &mut Scratch, found: &mut Vec<u32>) {
        let n_row = row.numbers.len();
        let lengths =
            [2 * n_row / 3 + 1, (3 * n_row).div_ceil(2) - 1].map(|n| u32::try_from(n).unwrap_or(u32::MAX));
        for &word in row.numbers.iter().filter(|word| **word != UNKNOWN) {
            for &at in &self.by_weight[word as usize] {
                if scratch.sees(at, 0)
                    && has_weight(&texts[at as usize], &scratch.of_row, self.lacking[at as usize])
                {
                    found.push(at);
                }
            }
            for template in self.by_template.get(&word).into_iter().flatten() {
                let is_new = scratch.sees(template.text, 2);
                if is_new && template.words.iter().all(|(word, times)| scratch.of_row.get(*word) >= *times) {
                    found.push(template.text);
                }
            }
            let list = &self.by_length[word as usize];
            let first = list.partition_point(|(n, _)| *n < lengths[0]);
            for &(_, at) in list[first..].iter().take_while(|(n, _)| *n <= lengths[1]) {
                if scratch.sees(at, 1) && has_words(&texts[at as usize], &scratch.of_row, n_row) {
                    found.push(at);
                }
            }
        }
    }

    fn add_by_runs(&self, row: &Row<'_>, found: &mut Vec<u32>) {
        if self.by_run.is_empty() {
            return;
        }
        let last = FACTOR.wrapping_pow(u32::try_from(self.run).unwrap_or(u32::MAX));
        let (mut hash, mut n_known) = (0_u64, 0);
        for (at, &word) in row.numbers.iter().enumerate() {
            hash = hash.wrapping_mul(FACTOR).wrapping_add(u64::from(word) + 1);
            if at >= self.run {
                hash = hash.wrapping_sub((u64::from(row.numbers[at - self.run]) + 1).wrapping_mul(last));
            }
            n_known = if word == UNKNOWN { 0 } else { n_known + 1 };
            if n_known >= self.run {
                found.extend(self.by_run.get(&hash).into_iter().flatten());
            }
        }
    }
}

impl Scratch {
    fn reset(&mut self, n_words: usize, n_texts: usize) {
        for counts in self.counts.iter_mut().chain([&mut self.of_row]) {
            counts.reserve(n_words);
        }
        if self.seen.len() < n_texts {
            self.seen.resize(n_texts, [0; 3]);
        }
        self.search = self.search.wrapping_add(1);
        if self.search == 0 {
            self.seen.fill([0; 3]);
            self.search = 1;
        }
    }

    /// Returns whether this search sees a message for the first time, by one kind of list.
    fn sees(&mut self, at: u32, kind: usize) -> bool {
        std::mem::replace(&mut self.seen[at as usize][kind], self.search) != self.search
    }
}

/// Returns the most weight that a message may lack to be compared.
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Weights of words.
fn lacking(total: u64, compared: f64) -> u64 {
    ((1.0 - compared) * total as f64 + SLACK) as u64
}

/// Whether a row has all but some weight of a message.
fn has_weight(text: &Text, of_row: &Counts, lacking: u64) -> bool {
    let mut left = lacking;
    text.distinct.iter().all(|&(word, weight, times)| {
        let missing = weight * u64::from(times.saturating_sub(of_row.get(word)));
        let is_enough = missing <= left;
        left = left.saturating_sub(missing);
        is_enough
    })
}

/// Whether a row has enough words of a message, in any order, to be nearly equal.
fn has_words(text: &Text, of_row: &Counts, n_row: usize) -> bool {
    let n = text.numbers.len();
    let needed = 2 * (n + n_row) / 5 + 1;
    let Some(mut left) = n.checked_sub(needed) else { return false };
    text.distinct.iter().all(|&(word, _, times)| {
        let missing = times.saturating_sub(of_row.get(word)) as usize;
        let is_enough = missing <= left;
        left = left.saturating_sub(missing);
        is_enough
    })
}

fn hash(run: &[u32]) -> u64 {
    run.iter().fold(0, |hash: u64, &word| hash.wrapping_mul(FACTOR).wrapping_add(u64::from(word) + 1))
}
