//! Where in a long message of a row the words of a message of the benchmark stand together.
//!
//! A text of thousands of words has most words of nearly every message somewhere, and comparing each of them takes as long as the text
//! is. What counts is a part of one and a half times the message's words. So a long row is cut into overlapping chunks, and a message
//! is compared only if one of them has words of enough weight; a part that does lies in one chunk as a whole, so nothing is missed.

use super::super::words::UNKNOWN;
use super::measures::width;

/// Words from one chunk to the next; a chunk has twice as many.
const STEP: usize = 128;
/// The shortest row that is cut.
const LONG_ROW: usize = 4 * STEP;
/// Chunks whose marks are in one number.
const GROUP: usize = 64;

/// The chunks of a row by word. Empty for a short row.
#[derive(Debug, Default)]
pub(super) struct Chunks {
    /// For each word, a bit for each chunk that has it: as many numbers as there are groups.
    marks: Vec<u64>,
    /// Numbers of a word.
    n_groups: usize,
    /// Their number; 0 for a short row.
    count: usize,
}

impl Chunks {
    /// Marks the words of a row, if it is long; none are marked before.
    pub(super) fn set(&mut self, row: &[u32], n_words: usize) {
        self.count = if row.len() < LONG_ROW { 0 } else { row.len().div_ceil(STEP) };
        self.n_groups = self.count.div_ceil(GROUP);
        let size = n_words * self.n_groups;
        if self.marks.len() < size {
            self.marks.resize(size, 0);
        }
        if self.count == 0 {
            return;
        }
        for (at, &word) in row.iter().enumerate().filter(|(_, word)| **word != UNKNOWN) {
            let chunk = at / STEP;
            for chunk in chunk.saturating_sub(1)..=chunk {
                self.marks[word as usize * self.n_groups + chunk / GROUP] |= 1 << (chunk % GROUP);
            }
        }
    }

    /// Removes the marks of a row.
    pub(super) fn clear(&mut self, row: &[u32]) {
        if self.count > 0 {
            for &word in row.iter().filter(|word| **word != UNKNOWN) {
                let first = word as usize * self.n_groups;
                self.marks[first..first + self.n_groups].fill(0);
            }
        }
    }

    /// Whether a part of the row may have all but some weight of a message of `n` words. `words` are its different words, with
    /// their weight and how often it has them.
    pub(super) fn may_have(&self, words: &[(u32, u64, u32)], n: usize, lacking: u64) -> bool {
        if self.count == 0 || width(n) > STEP {
            return true;
        }
        (0..self.n_groups).any(|group| {
            let count = (self.count - group * GROUP).min(GROUP);
            let mut alive = u64::MAX >> (GROUP - count);
            let mut missing = [0_u64; GROUP];
            for &(word, weight, times) in words {
                let mut absent = alive & !self.marks[word as usize * self.n_groups + group];
                while absent != 0 {
                    let chunk = absent.trailing_zeros() as usize;
                    absent &= absent - 1;
                    missing[chunk] += weight * u64::from(times);
                    if missing[chunk] > lacking {
                        alive &= !(1 << chunk);
                    }
                }
                if alive == 0 {
                    return false;
                }
            }
            true
        })
    }

    /// Whether one part of the row may have all of some words of a message of `n` words.
    pub(super) fn may_have_all(&self, mut words: impl Iterator<Item = u32> + Clone, n: usize) -> bool {
        if self.count == 0 || n > STEP {
            return true;
        }
        (0..self.n_groups).any(|group| {
            let of_word = |word: u32| self.marks[word as usize * self.n_groups + group];
            words.clone().fold(u64::MAX, |alive, word| alive & of_word(word)) != 0
        }) || words.next().is_none()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::measures::{Slots, best_window};
    use super::*;

    fn weight(word: u32) -> u64 {
        1 + u64::from(word) * 7 % 13
    }

    fn distinct(text: &[u32]) -> Vec<(u32, u64, u32)> {
        let mut words = text.to_vec();
        words.sort_unstable();
        let of = |words: &[u32]| (words[0], weight(words[0]), u32::try_from(words.len()).unwrap());
        words.chunk_by(|one, other| one == other).map(of).collect()
    }

    proptest! {
        #[test]
        fn no_message_is_left_out_of_which_a_part_has_enough(
            text in prop::collection::vec(0_u32..40, 1..90),
            row in prop::collection::vec(prop_oneof![9 => 0_u32..400, 1 => Just(UNKNOWN)], 500..9_000),
            (from, lacking) in (0_usize..8_000, 0_u64..300),
        ) {
            let mut row = row;
            let from = from.min(row.len() - 1);
            let until = (from + text.len()).min(row.len());
            row[from..until].copy_from_slice(&text[..until - from]);
            let mut chunks = Chunks::default();
            chunks.set(&row, 400);
            let words = distinct(&text);
            let total: u64 = text.iter().map(|word| weight(*word)).sum();
            let best = best_window(&text, &row, weight, &mut Slots::default());
            if total - best.weight <= lacking {
                prop_assert!(chunks.may_have(&words, text.len(), lacking));
            }
            if until - from == text.len() {
                prop_assert!(chunks.may_have_all(words.iter().map(|(word, ..)| *word), text.len()));
            }
            chunks.clear(&row);
            prop_assert!(chunks.marks.iter().all(|marks| *marks == 0));
        }
    }

    #[test]
    fn words_that_are_far_apart_are_no_part() {
        let mut row = vec![9_u32; 2_000];
        (row[10], row[1_500]) = (1, 2);
        let mut chunks = Chunks::default();
        chunks.set(&row, 10);
        let words = [(1, 5, 1), (2, 5, 1)];
        assert!(!chunks.may_have(&words, 2, 4) && chunks.may_have(&words, 2, 5));
        assert!(!chunks.may_have_all([1, 2].into_iter(), 2) && chunks.may_have_all([1, 9].into_iter(), 2));
        chunks.clear(&row);
        chunks.set(&row[..300], 10);
        assert!(chunks.may_have(&words, 2, 0), "a short row is not cut");
    }
}
