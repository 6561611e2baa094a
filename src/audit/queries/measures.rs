//! How much of a message of the benchmark a message of a row has, word by word. All measures are exact and need no index.

use std::ops::Range;

use super::super::words::{UNKNOWN, n_common};

/// The part of a row in which most of a message is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Part {
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

/// Finds the first part of a row, as wide as [`width`], whose words weigh most in a message. `weight` is that of a word,
/// `of_text` counts the words of the message, `of_part` is empty and is left empty.
pub(super) fn part(
    n: usize,
    row: &[u32],
    weight: impl Fn(u32) -> u64,
    of_text: &Counts,
    of_part: &mut Counts,
) -> Part {
    let width = width(n).min(row.len());
    let mut now = 0;
    let mut best = Part { at: 0..width, weight: 0 };
    for (at, &word) in row.iter().enumerate() {
        if word != UNKNOWN && of_text.get(word) > 0 {
            of_part.n[word as usize] += 1;
            if of_part.get(word) <= of_text.get(word) {
                now += weight(word);
            }
        }
        if at + 1 < width {
            continue;
        }
        let start = at + 1 - width;
        if now > best.weight {
            best = Part { at: start..at + 1, weight: now };
        }
        let first = row[start];
        if first != UNKNOWN && of_text.get(first) > 0 {
            if of_part.get(first) <= of_text.get(first) {
                now -= weight(first);
            }
            of_part.n[first as usize] -= 1;
        }
    }
    of_part.clear(row);
    best
}

/// The runs of words that a message shares with a row.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Runs {
    /// For each word of the message, the length of the longest run from there on that the row has.
    pub(super) lengths: Vec<u32>,
    /// The first of the longest runs: its start in the message, its start in the row, its length.
    pub(super) longest: (usize, usize, usize),
}

/// Finds the runs of words of a message that a row has.
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

/// Returns the share of the runs of this length in a message that a row has, weighted by the words of the runs; 0 if it has none.
#[allow(clippy::cast_precision_loss)] // Weights of words, far below 2^53.
pub(super) fn share_of_runs(runs: &Runs, weights: &[u64], length: usize) -> f64 {
    let (mut held, mut total) = (0, 0);
    for (of, words) in weights.windows(length).enumerate() {
        let weight: u64 = words.iter().sum();
        total += weight;
        if runs.lengths[of] as usize >= length {
            held += weight;
        }
    }
    if total == 0 { 0.0 } else { held as f64 / total as f64 }
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
fn f1_of((above, below): (u64, u64)) -> f64 {
    above as f64 / below as f64
}
