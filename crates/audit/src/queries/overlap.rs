//! What a message of the benchmark and one of a row have in common, word by word.
//!
//! It depends only on the words of the message that the row has, on their places and kinds: messages that differ in words which the
//! row lacks, such as thousands of copies of a template, are measured once for a row.

use std::cell::{Cell, OnceCell, RefCell};

use rustc_hash::FxHashMap;

use super::super::hit::Verdict;
use super::super::words::{Mask, n_common};
use super::align::{aligned, best_stretch};
use super::candidates::is_near;
use super::families::set_key;
use super::measures::{
    Counts, Places, RowWindow, Slots, best_rouge, best_window, best_window_by_places, runs_by_places,
    runs_of_long, weight_of_runs,
};
use super::text::{NGRAMS, Row, Text};

/// The measures of a message and a message of a row.
#[derive(Debug)]
pub(super) struct Overlap {
    pub(super) window: RowWindow,
    /// The first of the longest runs: its start in the message, its start in the row, its length.
    pub(super) longest: (usize, usize, usize),
    pub(super) longest_weight: u64,
    /// The weight of the runs of each length in [`NGRAMS`] that the row has.
    pub(super) held: [u64; NGRAMS.len()],
    /// Both are nearly equal as wholes.
    pub(super) is_near: bool,
    /// The part has all numbers, names and quoted words.
    pub(super) has_values: bool,
    contained: OnceCell<Option<(usize, Verdict)>>,
    template: OnceCell<Option<(usize, Verdict)>>,
    /// The best ROUGE-L of any value, and of one from the thresholds on.
    rouge_l: [Cell<Option<f64>>; 2],
}

thread_local! {
    static SLOTS: RefCell<Slots> = RefCell::default();
}

/// From so many pairs of words on, two messages are compared through the runs that they share.
const LONG: usize = 1 << 22;

/// The fewest words of a row whose best part is looked for through the places of the message's words, if these are no more than one
/// in so many.
const LONG_ROW: usize = 256;
const ONE_IN: usize = 8;

/// Returns whether two texts are too long for a comparison of all pairs of words.
fn are_long(text: &[u32], row: &[u32]) -> bool {
    text.len().saturating_mul(row.len()) > LONG
}

impl Overlap {
    /// Measures a message. `counts` are empty and are left empty.
    fn of(text: &Text, row: &Row<'_>, word_weights: &[u64], places: &Places, counts: &mut Counts) -> Self {
        let (numbers, n) = (&text.numbers[..], text.numbers.len());
        let of_part = counts;
        let weight = |word: u32| word_weights[word as usize];
        let n_row = row.numbers.len();
        let by_places = if n_row < LONG_ROW {
            None
        } else {
            best_window_by_places(numbers, n_row, weight, places, n_row / ONE_IN)
        };
        let window = by_places.unwrap_or_else(|| {
            SLOTS.with_borrow_mut(|slots| best_window(numbers, row.numbers, weight, slots))
        });
        let is_long = are_long(numbers, row.numbers);
        let runs = if is_long {
            runs_of_long(numbers, row.numbers)
        } else {
            runs_by_places(numbers, row.numbers.len(), places)
        };
        // Of lengths that are too unlike no text is near, however many words both have.
        let common = match is_near(n.min(row.numbers.len()), n, row.numbers.len()) {
            true if is_long => aligned(numbers, row.numbers).len(),
            true => n_common(numbers, row.numbers),
            false => 0,
        };
        let (of, _, length) = runs.longest;
        let inside = &row.numbers[window.at.clone()];
        of_part.add(inside);
        let valued = text.words.iter().filter(|word| word.mask != Mask::None);
        let has_values = valued.into_iter().all(|word| of_part.get(word.number) > 0);
        of_part.clear(inside);
        Self {
            longest: runs.longest,
            longest_weight: text.sums[of + length] - text.sums[of],
            held: NGRAMS.map(|(length, _)| weight_of_runs(&runs, &text.sums, length)),
            is_near: is_near(common, n, row.numbers.len()),
            has_values,
            window,
            contained: OnceCell::new(),
            template: OnceCell::new(),
            rouge_l: [Cell::new(None), Cell::new(None)],
        }
    }

    /// Returns where all words are in the row one after the other.
    pub(super) fn contained(
        &self,
        find: impl FnOnce() -> Option<(usize, Verdict)>,
    ) -> Option<(usize, Verdict)> {
        *self.contained.get_or_init(find)
    }

    /// Returns where all words are in the row one after the other, with other numbers.
    pub(super) fn template(
        &self,
        find: impl FnOnce() -> Option<(usize, Verdict)>,
    ) -> Option<(usize, Verdict)> {
        *self.template.get_or_init(find)
    }

    /// Returns the highest ROUGE-L F1 with a stretch of the part; 0 instead of one below `least`, which depends on `is_any`.
    pub(super) fn rouge_l(&self, text: &[u32], row: &[u32], is_any: bool, least: f64) -> f64 {
        let known = &self.rouge_l[usize::from(is_any)];
        if let Some(known) = known.get() {
            return known;
        }
        let inside = &row[self.window.at.clone()];
        let best = if are_long(text, inside) {
            best_stretch(text.len(), &aligned(text, inside))
        } else {
            best_rouge(text, inside, least)
        };
        known.set(Some(best));
        best
    }
}

/// The messages of the benchmark that were measured with one message of a row.
pub(super) struct Measured<'r> {
    row: &'r Row<'r>,
    /// By family.
    families: FxHashMap<u32, Overlap>,
    /// By the words that the row has.
    known: FxHashMap<Box<[u32]>, Overlap>,
    key: Vec<u32>,
    /// Words of all keys.
    n_words: usize,
}

/// Words of keys that are in memory at once.
const MOST_WORDS: usize = 1 << 20;

impl<'r> Measured<'r> {
    pub(super) fn new(row: &'r Row<'r>) -> Self {
        Self { row, families: FxHashMap::default(), known: FxHashMap::default(), key: Vec::new(), n_words: 0 }
    }

    /// Returns the measures of a message. `family` is that of a message without a rare word of the row; `of_row` counts the words
    /// of the row, `places` are theirs; `counts` are empty and are left empty.
    pub(super) fn overlap(
        &mut self,
        text: &Text,
        family: Option<u32>,
        word_weights: &[u64],
        (of_row, places): (&Counts, &Places),
        counts: &mut Counts,
    ) -> &Overlap {
        let row = self.row;
        if let Some(family) = family {
            return self
                .families
                .entry(family)
                .or_insert_with(|| Overlap::of(text, row, word_weights, places, counts));
        }
        set_key(text, |word| of_row.get(word) > 0, &mut self.key);
        if self.n_words + self.key.len() > MOST_WORDS {
            self.known.clear();
            self.n_words = 0;
        }
        // Looked up first, because an entry of the map needs an owned key.
        if !self.known.contains_key(&self.key[..]) {
            self.n_words += self.key.len();
            let overlap = Overlap::of(text, row, word_weights, places, counts);
            self.known.insert(self.key.as_slice().into(), overlap);
        }
        &self.known[&self.key[..]]
    }
}
