//! How much of a message of the benchmark a message of a row has, word by word. All measures are exact and need no index.

use std::cell::RefCell;
use std::ops::Range;

use rustc_hash::FxHashMap;

use super::super::words::{UNKNOWN, n_common};
use super::text::NGRAMS;

/// The part of a row in which most of a message is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RowWindow {
    /// Its words in the row.
    pub(super) at: Range<usize>,
    /// The weight of the words that it shares with the message, each as often as both have it.
    pub(super) weight: u64,
}

/// Counts of words, by their number; reused for many messages.
#[derive(Debug, Default)]
pub(super) struct Counts {
    n: Vec<u32>,
}

impl Counts {
    /// Makes room for words with numbers below this.
    pub(super) fn reserve(&mut self, n_words: usize) {
        if self.n.len() < n_words {
            self.n.resize(n_words, 0);
        }
    }

    pub(super) fn add(&mut self, words: &[u32]) {
        for &word in words.iter().filter(|word| **word != UNKNOWN) {
            self.n[word as usize] += 1;
        }
    }

    pub(super) fn clear(&mut self, words: &[u32]) {
        for &word in words.iter().filter(|word| **word != UNKNOWN) {
            self.n[word as usize] = 0;
        }
    }

    pub(super) fn get(&self, word: u32) -> u32 {
        self.n[word as usize]
    }
}

/// Returns the words of a row that are compared with a message of `n` words: a little more than it has.
pub(super) fn width(n: usize) -> usize {
    n + n / 2 + 3
}

/// The words of a message as the window over a row counts them; reused for many messages.
#[derive(Debug, Default)]
pub(super) struct Slots {
    /// By word: the number of its slot; 0 for words that the message lacks.
    of_word: Vec<u32>,
    /// By slot: how often the message has the word, how often the window has it, and what the word weighs. The first is that of all
    /// other words, which weigh nothing.
    held: Vec<(u32, u32, u64)>,
}

impl Slots {
    /// Makes room for words with numbers below this.
    fn reserve(&mut self, n_words: usize) {
        if self.of_word.len() < n_words {
            self.of_word.resize(n_words, 0);
        }
    }

    fn of(&self, word: u32) -> usize {
        self.of_word.get(word as usize).copied().unwrap_or_default() as usize
    }
}

/// Finds the first part of a row, as wide as [`width`], whose words weigh most in a message. `weight` is that of a word; `slots` are
/// empty and are left empty.
pub(super) fn best_window(
    text: &[u32],
    row: &[u32],
    weight: impl Fn(u32) -> u64,
    slots: &mut Slots,
) -> RowWindow {
    let width = width(text.len()).min(row.len());
    slots.held.clear();
    slots.held.push((0, 0, 0));
    slots.reserve(
        text.iter().filter(|word| **word != UNKNOWN).map(|word| *word as usize + 1).max().unwrap_or(0),
    );
    for &word in text.iter().filter(|word| **word != UNKNOWN) {
        let slot = &mut slots.of_word[word as usize];
        if *slot == 0 {
            *slot = u32::try_from(slots.held.len()).expect("a message has fewer than 2^32 words");
            slots.held.push((0, 0, weight(word)));
        }
        slots.held[*slot as usize].0 += 1;
    }
    let mut now = 0;
    let mut best = RowWindow { at: 0..width, weight: 0 };
    for (at, &word) in row.iter().enumerate() {
        // Without branches: which words of a row a message has cannot be guessed.
        let slot = slots.of(word);
        let (most, n, weight) = &mut slots.held[slot];
        now += *weight * u64::from(*n < *most);
        *n += 1;
        if at + 1 < width {
            continue;
        }
        let start = at + 1 - width;
        if now > best.weight {
            best = RowWindow { at: start..at + 1, weight: now };
        }
        let slot = slots.of(row[start]);
        let (most, n, weight) = &mut slots.held[slot];
        *n -= 1;
        now -= *weight * u64::from(*n < *most);
    }
    for &word in text.iter().filter(|word| **word != UNKNOWN) {
        slots.of_word[word as usize] = 0;
    }
    best
}

/// Finds the same through the places of the message's words, which are few in a long row; `None` if they are more than `most`.
pub(super) fn best_window_by_places(
    text: &[u32],
    n_row: usize,
    weight: impl Fn(u32) -> u64,
    places: &Places,
    most: usize,
) -> Option<RowWindow> {
    let mut sorted = text.to_vec();
    sorted.sort_unstable();
    // How often the message has each word, how often the window has it, and what the word weighs.
    let mut held: Vec<(usize, usize, u64)> = Vec::new();
    // The places of these words in the row.
    let mut there: Vec<(usize, usize)> = Vec::new();
    for words in sorted.chunk_by(|one, other| one == other).filter(|words| words[0] != UNKNOWN) {
        for at in places.of(words[0]) {
            there.push((at, held.len()));
            if there.len() > most {
                return None;
            }
        }
        held.push((words.len(), 0, weight(words[0])));
    }
    there.sort_unstable();
    let width = width(text.len()).min(n_row);
    let mut best = RowWindow { at: 0..width, weight: 0 };
    // A window weighs most where it ends with a word of the message, or where the row starts.
    let (mut now, mut first) = (0, 0);
    for &(at, word) in &there {
        let start = (at + 1).saturating_sub(width);
        while there[first].0 < start {
            let (times, n, weight) = &mut held[there[first].1];
            *n -= 1;
            now -= *weight * u64::from(*n < *times);
            first += 1;
        }
        let (times, n, weight) = &mut held[word];
        now += *weight * u64::from(*n < *times);
        *n += 1;
        if now > best.weight {
            best = RowWindow { at: start..start + width, weight: now };
        }
    }
    Some(best)
}

/// The runs of words that a message shares with a row.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Runs {
    /// For each word of the message, the length of the longest run from there on that the row has; of long messages the longest of
    /// the lengths in [`NGRAMS`] that it reaches.
    pub(super) lengths: Vec<u32>,
    /// The first of the longest runs: its start in the message, its start in the row, its length.
    pub(super) longest: (usize, usize, usize),
}

/// Where a row has each word; reused for many rows.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// By word: one more than its first place, or 0.
    first: Vec<u32>,
    /// By place: one more than the next with the same word, or 0.
    next: Vec<u32>,
}

impl Places {
    /// Makes room for words with numbers below this.
    pub(super) fn reserve(&mut self, n_words: usize) {
        if self.first.len() < n_words {
            self.first.resize(n_words, 0);
        }
    }

    /// Sets the places of a row; there are none before.
    pub(super) fn set(&mut self, row: &[u32]) {
        self.next.clear();
        self.next.resize(row.len(), 0);
        for (at, &word) in row.iter().enumerate().rev().filter(|(_, word)| **word != UNKNOWN) {
            let place = u32::try_from(at + 1).expect("a message has fewer than 2^32 words");
            self.next[at] = std::mem::replace(&mut self.first[word as usize], place);
        }
    }

    /// Removes the places of a row.
    pub(super) fn clear(&mut self, row: &[u32]) {
        for &word in row.iter().filter(|word| **word != UNKNOWN) {
            self.first[word as usize] = 0;
        }
    }

    /// Whether a word of the row is there for the first time.
    pub(super) fn is_first(&self, word: u32, at: usize) -> bool {
        self.first[word as usize] as usize == at + 1
    }

    /// Returns the places of a word, ascending.
    pub(super) fn of(&self, word: u32) -> impl Iterator<Item = usize> {
        let place = |place: u32| (place > 0).then(|| place as usize - 1);
        std::iter::successors(place(self.first[word as usize]), move |at| place(self.next[*at]))
    }
}

/// Finds the runs of words of a message that a row has, through the places of each word.
pub(super) fn runs_by_places(text: &[u32], n_row: usize, places: &Places) -> Runs {
    BELOW.with_borrow_mut(|below| {
        if below.len() <= n_row {
            below.resize(n_row + 1, (0, 0));
        }
        let found = runs_above(text, below, places);
        // As it was, for the next message: only the places of its words were written.
        text.iter().flat_map(|word| places.of(*word)).for_each(|at| below[at] = (0, 0));
        found
    })
}

thread_local! {
    /// By place of a row: the last word of the message that is there, counted from 1, and the run that starts with it.
    static BELOW: RefCell<Vec<(usize, usize)>> = RefCell::default();
}

fn runs_above(text: &[u32], below: &mut [(usize, usize)], places: &Places) -> Runs {
    let mut found = Runs { lengths: vec![0; text.len()], longest: (0, 0, 0) };
    for (of, &word) in text.iter().enumerate().rev() {
        for at in places.of(word) {
            let (next, length) = below[at + 1];
            let length = if next == of + 2 { length + 1 } else { 1 };
            below[at] = (of + 1, length);
            found.lengths[of] = found.lengths[of].max(u32::try_from(length).unwrap_or(u32::MAX));
            // Of equally long runs the first in the message, then in the row.
            if length > found.longest.2 || (length == found.longest.2 && of < found.longest.0) {
                found.longest = (of, at, length);
            }
        }
    }
    found
}

/// Finds the same by a table of both.
#[cfg(test)]
pub(super) fn runs(text: &[u32], row: &[u32]) -> Runs {
    let mut found = Runs { lengths: vec![0; text.len()], longest: (0, 0, 0) };
    // The run that starts at a word of the message and at each word of the row.
    let mut below = vec![0_u32; row.len() + 1];
    for (of, &word) in text.iter().enumerate().rev() {
        for at in 0..row.len() {
            let length = if row[at] == word { below[at + 1] + 1 } else { 0 };
            below[at] = length;
            if length > found.lengths[of] {
                found.lengths[of] = length;
            }
            // Of equally long runs the first in the message, then in the row.
            let length = length as usize;
            if length > found.longest.2 || (length == found.longest.2 && length > 0 && of < found.longest.0) {
                found.longest = (of, at, length);
            }
        }
    }
    found
}

/// Finds the same in long messages, in time that grows little faster than they do.
///
/// Runs get names after Karp, Miller and Rosenberg: two of the same length have the same name if they have the same words. A name of
/// twice the length is a pair of names.
pub(super) fn runs_of_long(text: &[u32], row: &[u32]) -> Runs {
    let mut found = Runs { lengths: vec![0; text.len()], longest: (0, 0, 0) };
    let mut names = Names::of_words(text, row);
    while names.any() {
        let longer: Vec<(usize, Names)> = NGRAMS
            .iter()
            .filter(|(length, _)| (names.length..2 * names.length).contains(length))
            .map(|&(length, _)| (length, names.of_length(length)))
            .collect();
        for (length, longer) in longer {
            for (known, _) in found.lengths.iter_mut().zip(&longer.text).filter(|(_, name)| **name != NONE) {
                *known = u32::try_from(length).unwrap_or(u32::MAX);
            }
        }
        let doubled = names.of_length(2 * names.length);
        if !doubled.any() {
            break;
        }
        names = doubled;
    }
    if !names.any() {
        return found;
    }
    // The longest is shorter than twice these names.
    let (mut least, mut most) = (names.length, 2 * names.length - 1);
    while least < most {
        let length = (least + most).div_ceil(2);
        if names.of_length(length).any() { least = length } else { most = length - 1 }
    }
    let longest = names.of_length(least);
    if let Some(of) = longest.text.iter().position(|name| *name != NONE)
        && let Some(at) = longest.row.iter().position(|name| *name == longest.text[of])
    {
        found.longest = (of, at, least);
    }
    found
}

/// A run that only one side has.
const NONE: u32 = u32::MAX;

/// The names of all runs of one length, by their first word.
struct Names {
    length: usize,
    text: Vec<u32>,
    row: Vec<u32>,
}

impl Names {
    fn of_words(text: &[u32], row: &[u32]) -> Self {
        let one = |words: &[u32]| words.iter().map(|word| (*word != UNKNOWN).then_some((*word, 0))).collect();
        Self::of_pairs(1, one(text), one(row))
    }

    /// Returns the names of runs of another length, up to twice as long.
    fn of_length(&self, length: usize) -> Self {
        let shift = length - self.length;
        let pairs = |names: &[u32]| {
            let second = names.get(shift..).unwrap_or_default();
            let pair =
                |(one, other): (&u32, &u32)| (*one != NONE && *other != NONE).then_some((*one, *other));
            names.iter().zip(second).map(pair).collect()
        };
        Self::of_pairs(length, pairs(&self.text), pairs(&self.row))
    }

    fn of_pairs(length: usize, text: Vec<Option<(u32, u32)>>, row: Vec<Option<(u32, u32)>>) -> Self {
        let mut names: FxHashMap<(u32, u32), u32> = FxHashMap::default();
        let mut next = 0;
        let named = |pair: Option<(u32, u32)>| {
            pair.map_or(NONE, |pair| {
                *names.entry(pair).or_insert_with(|| {
                    next += 1;
                    next - 1
                })
            })
        };
        let mut text: Vec<u32> = text.into_iter().map(named).collect();
        let known =
            |pair: Option<(u32, u32)>| pair.and_then(|pair| names.get(&pair).copied()).unwrap_or(NONE);
        let row: Vec<u32> = row.into_iter().map(known).collect();
        let mut is_in_row = vec![false; names.len()];
        row.iter().filter(|name| **name != NONE).for_each(|name| is_in_row[*name as usize] = true);
        text.iter_mut()
            .filter(|name| **name != NONE && !is_in_row[**name as usize])
            .for_each(|name| *name = NONE);
        Self { length, text, row }
    }

    fn any(&self) -> bool {
        self.text.iter().any(|name| *name != NONE)
    }
}

/// Returns the weight of the runs of this length in a message that a row has; `sums` are those of the weights of its first words.
pub(super) fn weight_of_runs(runs: &Runs, sums: &[u64], length: usize) -> u64 {
    let runs = runs.lengths.iter().enumerate().filter(|(_, held)| **held as usize >= length);
    runs.map(|(of, _)| sums[of + length] - sums[of]).sum()
}

/// Returns the highest ROUGE-L F1 of a message with any stretch of a part of a row; 0 instead of one below `least`.
///
/// By Dinkelbach's method: the stretch that gains most above the best F1 so far is the next, until none gains.
pub(super) fn best_rouge(text: &[u32], part: &[u32], least: f64) -> f64 {
    let common = n_common(text, part);
    let n = text.len();
    // No stretch has more words in common with the message, or fewer words than these.
    if f1_of((2 * common as u64, (n + common) as u64)) < least {
        return 0.0;
    }
    // Words at its ends that the message lacks are in no best stretch.
    let is_shared = |word: &u32| text.contains(word);
    let Some(from) = part.iter().position(is_shared) else { return 0.0 };
    let to = part.iter().rposition(is_shared).map_or(part.len(), |last| last + 1);
    let part = &part[from..to];
    let mut best = (2 * common as u64, (n + part.len()) as u64);
    loop {
        match gain(text, part, best) {
            Some((common, length)) => best = (2 * common as u64, (text.len() + length) as u64),
            None => return f1_of(best),
        }
    }
}

/// Returns the length of the common subsequence and of the stretch with the highest gain over a fraction; `None` if none gains.
fn gain(text: &[u32], part: &[u32], (above, below): (u64, u64)) -> Option<(usize, usize)> {
    let signed = |n: u64| i64::try_from(n).expect("counts of words");
    let (match_gain, word_cost) = (2 * signed(below), signed(above));
    let least = word_cost * signed(text.len() as u64);
    // The best stretch that ends at each word of the part: its gain, and in the low bits its common words.
    let cost = word_cost << COMMON_BITS;
    let matched = ((match_gain - word_cost) << COMMON_BITS) + 1;
    let mut row = vec![0_i64; part.len() + 1];
    for &word in text {
        let mut diagonal = 0;
        let mut left = 0;
        for (best, &own) in row[1..].iter_mut().zip(part) {
            let up = *best;
            // An empty stretch may start anywhere.
            let mut found = (left - cost).max(up).max(0);
            if own == word {
                found = found.max(diagonal + matched);
            }
            diagonal = up;
            left = found;
            *best = found;
        }
    }
    let best = row.into_iter().max()?;
    let (gained, common) = (best >> COMMON_BITS, best & ((1 << COMMON_BITS) - 1));
    // The gain is that of the common words, less the cost of all words.
    let length = if word_cost == 0 { 1 } else { (match_gain * common - gained) / word_cost };
    (gained > least).then_some((usize::try_from(common).ok()?, usize::try_from(length).ok()?))
}

/// Bits of the common words beside a gain. Gains have the others: messages of less than a million words.
const COMMON_BITS: u32 = 20;

#[allow(clippy::cast_precision_loss)] // Counts of words.
pub(super) fn f1_of((above, below): (u64, u64)) -> f64 {
    above as f64 / below as f64
}
