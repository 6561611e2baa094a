//! Which messages of the benchmark a message of a row may overlap.
//!
//! A message that shares most of its weight with a row has one of its heaviest words there: it is in the list of as many of
//! them as weigh more than it may lack. So is a nearly equal one, whose length is near, too. A run of words is found by
//! `shared_runs`, and a message with other numbers by the heaviest of its other words, all of which the row has. No list is cut
//! off, so nothing is missed.
//!
//! Messages that share a run with the row and nothing else may be all those with the text of a template: they come apart from the
//! others, and need no comparison one by one.

use std::cell::RefCell;

use rustc_hash::FxHashMap;

use super::super::thresholds::QueryThresholds;
use super::super::words::UNKNOWN;
use super::chunks::Chunks;
use super::families::{Families, Known};
use super::measures::{Counts, Places};
use super::shared_runs::{Messages, SharedRuns};
use super::text::{Row, Text};
use callsieve_engine::context::Cancelled;

/// Whether two messages are nearly equal as a whole: their ROUGE-L F1 is above 0.8.
pub(super) fn is_near(common: usize, n: usize, n_row: usize) -> bool {
    5 * common > 2 * (n + n_row)
}

/// Returns the fewest words that two messages of such lengths have in common if they are nearly equal.
fn needed(n: usize, n_row: usize) -> usize {
    2 * (n + n_row) / 5 + 1
}

/// Whole weights by which a rounded share may be off.
const SLACK: f64 = 2.0;
/// Messages of a list of a run that are compared one by one.
const FEW: usize = 16;
/// Words between two looks at whether the user asked to stop.
const WORDS_AT_ONCE: usize = 64;

/// The messages of a benchmark, by what a row must have of them.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    /// By word: the messages of which it is a heavy one, from that of which a row needs least. The other words of each do not weigh
    /// enough.
    by_weight: Vec<Vec<Heavy>>,
    /// The weight of each word.
    weights: Vec<u64>,
    /// By word: the messages whose other words are not enough for a nearly equal one, with their length, the shortest first.
    by_length: Vec<Vec<(u32, u32)>>,
    /// By word: the messages with numbers of which it is the heaviest other word, with all such words.
    by_template: FxHashMap<u32, Vec<Template>>,
    /// By their heaviest run: the messages that are looked for word by word in texts of others than the user.
    by_heaviest: FxHashMap<[u32; HEAVIEST], Vec<u32>>,
    by_run: SharedRuns,
    families: Families,
    /// By message.
    heads: Vec<Head>,
    /// By message: the least weight of its heavy words that a row must have, in grains, or less.
    least_heavy: Vec<u32>,
}

/// Words of the run by which a message is looked for in a text of somebody else.
pub(super) const HEAVIEST: usize = 3;

/// A message in the list of one of its heavy words. Weights are in [`GRAINS`], so that a long list is short in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Heavy {
    /// The least weight of all words of a row that has enough of the message, or less.
    of_row: u32,
    text: u32,
    /// What all occurrences of the word in the message weigh, or more.
    weight: u32,
}

/// Weight of a grain.
const GRAINS: u64 = 1 << 10;

/// Returns a weight in grains, or more.
fn at_least(weight: u64) -> u32 {
    u32::try_from(weight.div_ceil(GRAINS)).unwrap_or(u32::MAX)
}

/// Returns a weight in grains, or less.
fn at_most(weight: u64) -> u32 {
    u32::try_from(weight / GRAINS).unwrap_or(u32::MAX)
}

/// The share of a message's weight that its heavy words have, if so many are rare: the more of them are known, the fewer messages
/// need a further look.
const HEAVY_SHARE: f64 = 0.7;
/// A word is rare here if it is in no more messages than these, or than one of so many.
const RARE: usize = 64;
const RARE_ONE_IN: usize = 64;

/// Words of a message in its [`Head`].
const OF_HEAD: usize = 4;

/// What is known of a message without a look at it, beside those of others in memory.
#[derive(Debug, Clone, Copy)]
struct Head {
    /// Its heaviest words; a message with fewer has words of no weight.
    words: [u32; OF_HEAD],
    /// How often it has each, or less.
    times: [u8; OF_HEAD],
    /// Most weight that a row may lack.
    lacking: u64,
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
    places: Places,
    /// Where the words of a long row stand together.
    chunks: Chunks,
    counts: Counts,
    /// By kind of list, the number of the search that saw a message last.
    seen: [Vec<u32>; 3],
    /// By message: the weight of its heavy words that the row has, in grains, or more.
    held: Vec<u32>,
    /// The messages with such words, and how many they are; behind them is what is left of earlier rows.
    held_of: Vec<u32>,
    n_held: usize,
    search: u32,
    found: Vec<u32>,
    by_run: Vec<u32>,
    /// What the row has of families.
    known: Known,
}

/// The messages that may overlap one of a row.
pub(super) struct Candidate<'a> {
    /// Those to compare.
    pub(super) texts: &'a [u32],
    /// Those that share a run of words, but neither enough words nor a template.
    pub(super) by_run: &'a [u32],
    /// The lists of the runs of these.
    pub(super) lists: Vec<&'a [u32]>,
    /// Returns the family of a message without a rare word of the row.
    pub(super) family: &'a dyn Fn(u32) -> Option<u32>,
    /// How often the row has each word.
    pub(super) of_row: &'a Counts,
    /// Where the row has each word.
    pub(super) places: &'a Places,
    /// Empty counts for the comparison.
    pub(super) counts: &'a mut Counts,
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

impl Candidates {
    /// Indexes messages, which have their weights.
    pub(super) fn new(texts: &[Text], n_words: usize, by: &QueryThresholds) -> Self {
        let mut this = Self {
            by_weight: vec![Vec::new(); n_words],
            weights: vec![0; n_words],
            by_length: vec![Vec::new(); n_words],
            by_run: SharedRuns::new(texts, by.longest_words),
            families: Families::new(texts, n_words),
            ..Self::default()
        };
        let mut n_texts = vec![0_usize; n_words];
        for (word, ..) in texts.iter().flat_map(|text| &text.distinct) {
            n_texts[*word as usize] += 1;
        }
        let most = RARE.max(texts.len() / RARE_ONE_IN);
        for (at, text) in (0..).zip(texts) {
            this.add(at, text, lacking(text.total, by.compared()), |word| n_texts[word as usize] <= most);
            if text.numbers.len() >= by.min_words
                && let Some(run) = text.heaviest_run()
            {
                this.by_heaviest.entry(run).or_default().push(at);
            }
            let words = if text.is_template(by) { text.plain_words() } else { Vec::new() };
            if let Some(&(heaviest, _)) = words.first() {
                this.by_template
                    .entry(heaviest)
                    .or_default()
                    .push(Template { text: at, words: words.into() });
            }
        }
        this.by_weight.iter_mut().for_each(|list| list.sort_unstable());
        this.by_length.iter_mut().for_each(|list| list.sort_unstable());
        this
    }

    fn add(&mut self, at: u32, text: &Text, lacking: u64, is_rare: impl Fn(u32) -> bool) {
        let n = text.numbers.len();
        let length = u32::try_from(n).unwrap_or(u32::MAX);
        let of_row = at_most(text.total.saturating_sub(lacking));
        // As many of the heaviest words as a row cannot lack together, and rare ones after them.
        let (mut weight, mut heavy, mut n_words) = (0, 0, 0);
        for &(word, of_word, times) in &text.distinct {
            self.weights[word as usize] = of_word;
            let is_next = heavy == weight;
            if weight <= lacking || is_next && is_rare(word) && share_of(weight, text.total) < HEAVY_SHARE {
                let of_text = of_word * u64::from(times);
                let heavy_word = Heavy { of_row, text: at, weight: at_least(of_text) };
                self.by_weight[word as usize].push(heavy_word);
                heavy += of_text;
            }
            if n_words <= n - (2 * n / 3 + 1) {
                self.by_length[word as usize].push((length, at));
            }
            weight += of_word * u64::from(times);
            n_words += times as usize;
        }
        self.heads.push(Head::of(text, lacking));
        self.least_heavy.push(at_most(heavy.saturating_sub(lacking)));
    }

    /// Gives `take` the messages that may overlap one of a row, except the `equal` ones. Both lists of messages are ascending.
    pub(super) fn find(
        &self,
        texts: &[Text],
        row: &Row<'_>,
        equal: &[u32],
        cancelled: Cancelled<'_>,
        take: impl FnOnce(Candidate<'_>),
    ) {
        SCRATCH.with_borrow_mut(|scratch| {
            scratch.reset(self.by_weight.len(), texts.len());
            scratch.of_row.add(row.numbers);
            scratch.places.set(row.numbers);
            scratch.chunks.set(row.numbers, self.by_weight.len());
            self.families.begin(row.numbers, &mut scratch.known);
            let (mut found, mut by_run, mut lists) =
                (std::mem::take(&mut scratch.found), std::mem::take(&mut scratch.by_run), Vec::new());
            if row.is_verbatim {
                self.add_by_heaviest(row, &mut found);
            } else {
                self.add_by_words(texts, row, scratch, cancelled, &mut found);
            }
            self.by_run.for_each(texts, row.numbers, |messages| match messages {
                Messages::One(text) => found.push(text),
                Messages::List(list) if self.by_run.list(list).len() <= FEW => {
                    found.extend_from_slice(self.by_run.list(list));
                }
                Messages::List(list) => lists.push(list),
            });
            found.sort_unstable();
            found.dedup();
            found.retain(|text| equal.binary_search(text).is_err());
            lists.sort_unstable();
            lists.dedup();
            if !lists.is_empty() {
                for &text in found.iter().chain(equal) {
                    scratch.sees(text, 2);
                }
                for list in &lists {
                    let new = self.by_run.list(*list).iter().filter(|text| scratch.sees(**text, 2));
                    by_run.extend(new);
                }
                if !by_run.is_sorted() {
                    by_run.sort_unstable();
                }
            }
            let Scratch { of_row, places, chunks, counts, known, .. } = scratch;
            let lists = lists.iter().map(|list| self.by_run.list(*list)).collect();
            let family = |text: u32| self.families.of(text, known);
            take(Candidate {
                texts: &found,
                by_run: &by_run,
                lists,
                family: &family,
                of_row,
                places,
                counts,
            });
            of_row.clear(row.numbers);
            places.clear(row.numbers);
            chunks.clear(row.numbers);
            found.clear();
            by_run.clear();
            (scratch.found, scratch.by_run) = (found, by_run);
        });
    }

    /// Adds the messages whose heaviest run a row has: all of them that are there word by word.
    fn add_by_heaviest(&self, row: &Row<'_>, found: &mut Vec<u32>) {
        for run in row.numbers.windows(HEAVIEST).filter_map(|run| <[u32; HEAVIEST]>::try_from(run).ok()) {
            found.extend(self.by_heaviest.get(&run).into_iter().flatten());
        }
    }

    fn add_by_words(
        &self,
        texts: &[Text],
        row: &Row<'_>,
        scratch: &mut Scratch,
        cancelled: Cancelled<'_>,
        found: &mut Vec<u32>,
    ) {
        let n_row = row.numbers.len();
        let known = || row.numbers.iter().filter(|word| **word != UNKNOWN);
        let (n_known, weight) =
            (known().count(), at_least(known().map(|word| self.weights[*word as usize]).sum()));
        let lengths =
            [2 * n_row / 3 + 1, (3 * n_row).div_ceil(2) - 1].map(|n| u32::try_from(n).unwrap_or(u32::MAX));
        for (n, &word) in row.numbers.iter().enumerate().filter(|(_, word)| **word != UNKNOWN) {
            if n % WORDS_AT_ONCE == 0 && cancelled() {
                return;
            }
            if !scratch.places.is_first(word, n) {
                continue;
            }
            // No message has more of the row than all of its words.
            let heavy = self.by_weight[word as usize].iter().take_while(|heavy| heavy.of_row <= weight);
            heavy.for_each(|heavy| scratch.hold(heavy));
            for template in self.by_template.get(&word).into_iter().flatten() {
                if scratch.sees(template.text, 0) && self.has_template(template, texts, scratch) {
                    found.push(template.text);
                }
            }
            let list = &self.by_length[word as usize];
            let first = list.partition_point(|(n, _)| *n < lengths[0]);
            let is_near = |n: u32| n <= lengths[1] && needed(n as usize, n_row) <= n_known;
            for &(n, at) in list[first..].iter().take_while(|(n, _)| is_near(*n)) {
                if scratch.sees(at, 1) && self.has_words(at, n as usize, texts, scratch, n_row) {
                    found.push(at);
                }
            }
        }
        let held_of = std::mem::take(&mut scratch.held_of);
        for (n, &at) in held_of[..scratch.n_held].iter().enumerate() {
            if n % WORDS_AT_ONCE == 0 && cancelled() {
                break;
            }
            if scratch.held[at as usize] >= self.least_heavy[at as usize]
                && self.has_weight(at, texts, scratch)
            {
                found.push(at);
            }
        }
        scratch.held_of = held_of;
    }

    /// Whether a row has all but some weight of a message.
    fn has_weight(&self, at: u32, texts: &[Text], scratch: &mut Scratch) -> bool {
        let (text, mut left) = (&texts[at as usize], self.heads[at as usize].lacking);
        if !scratch.chunks.may_have(&text.distinct, text.numbers.len(), left) {
            return false;
        }
        if let Some(family) = self.families.of(at, &scratch.known) {
            let state = self.families.state(family, text, &scratch.of_row, &mut scratch.known);
            return self.families.missing_weight(&state, at) <= left;
        }
        text.distinct.iter().all(|&(word, weight, times)| {
            let missing = weight * u64::from(times.saturating_sub(scratch.of_row.get(word)));
            let is_enough = missing <= left;
            left = left.saturating_sub(missing);
            is_enough
        })
    }

    /// Whether a row has enough words of a message, in any order, to be nearly equal.
    fn has_words(&self, at: u32, n: usize, texts: &[Text], scratch: &mut Scratch, n_row: usize) -> bool {
        let Some(mut left) = n.checked_sub(needed(n, n_row)) else { return false };
        if self.heads[at as usize].n_missing(&scratch.of_row) > left {
            return false;
        }
        let text = &texts[at as usize];
        if let Some(family) = self.families.of(at, &scratch.known) {
            return self.families.state(family, text, &scratch.of_row, &mut scratch.known).n_missing <= left;
        }
        text.distinct.iter().all(|&(word, _, times)| {
            let missing = times.saturating_sub(scratch.of_row.get(word)) as usize;
            let is_enough = missing <= left;
            left = left.saturating_sub(missing);
            is_enough
        })
    }

    /// Whether a row has all words of a message that are no numbers.
    fn has_template(&self, template: &Template, texts: &[Text], scratch: &mut Scratch) -> bool {
        let words = template.words.iter().map(|(word, _)| *word);
        if !scratch.chunks.may_have_all(words, texts[template.text as usize].numbers.len()) {
            return false;
        }
        if let Some(family) = self.families.of(template.text, &scratch.known) {
            let text = &texts[template.text as usize];
            return self.families.state(family, text, &scratch.of_row, &mut scratch.known).has_plain;
        }
        template.words.iter().all(|(word, times)| scratch.of_row.get(*word) >= *times)
    }
}

impl Head {
    fn of(text: &Text, lacking: u64) -> Self {
        let mut head = Self { words: [0; OF_HEAD], times: [0; OF_HEAD], lacking };
        for (at, &(word, _, times)) in text.distinct.iter().take(OF_HEAD).enumerate() {
            head.words[at] = word;
            head.times[at] = u8::try_from(times).unwrap_or(u8::MAX);
        }
        head
    }

    /// Returns how many of its words a row lacks altogether: no more than what the row lacks of the message.
    fn n_missing(&self, of_row: &Counts) -> usize {
        let words = self.words.iter().zip(&self.times);
        words.map(|(word, times)| if of_row.get(*word) == 0 { usize::from(*times) } else { 0 }).sum()
    }
}

impl Scratch {
    fn reset(&mut self, n_words: usize, n_texts: usize) {
        for counts in [&mut self.counts, &mut self.of_row] {
            counts.reserve(n_words);
        }
        self.places.reserve(n_words);
        self.search = self.search.wrapping_add(1);
        for seen in &mut self.seen {
            if seen.len() < n_texts {
                seen.resize(n_texts, 0);
            }
            if self.search == 0 {
                seen.fill(0);
            }
        }
        self.search = self.search.max(1);
        self.held.resize(self.held.len().max(n_texts), 0);
        // One more, for what `hold` writes when all have been seen.
        self.held_of.resize(self.held_of.len().max(n_texts + 1), 0);
        for text in &self.held_of[..std::mem::take(&mut self.n_held)] {
            self.held[*text as usize] = 0;
        }
    }

    /// Counts a heavy word that the row has.
    fn hold(&mut self, heavy: &Heavy) {
        let held = &mut self.held[heavy.text as usize];
        // Without a branch: whether a message is a new one cannot be guessed.
        self.held_of[self.n_held] = heavy.text;
        self.n_held += usize::from(*held == 0);
        *held = held.saturating_add(heavy.weight);
    }

    /// Returns whether this search sees a message for the first time, by one kind of list.
    fn sees(&mut self, at: u32, kind: usize) -> bool {
        std::mem::replace(&mut self.seen[kind][at as usize], self.search) != self.search
    }
}

#[allow(clippy::cast_precision_loss)] // Weights of words.
fn share_of(weight: u64, total: u64) -> f64 {
    weight as f64 / total as f64
}

/// Returns the most weight that a message may lack to be compared.
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Weights of words.
fn lacking(total: u64, compared: f64) -> u64 {
    ((1.0 - compared) * total as f64 + SLACK) as u64
}
