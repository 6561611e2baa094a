//! Families of messages of the benchmark: those that differ in rare words only, such as the copies of a template.
//!
//! A row that has none of the rare words of two members of a family has the same words of both, at the same places: what is looked up
//! and measured for one holds for the other. So a row is compared with thousands of members through one of them; those with a rare
//! word of the row are found by that word, and are compared by themselves.

use rustc_hash::FxHashMap;

use super::super::words::{Mask, UNKNOWN, Word};
use super::measures::Counts;
use super::text::Text;

/// Fewest members of a family.
const FEWEST: usize = 16;
/// A word is rare if it is in no more messages than these, or than one of so many.
const RARE: usize = 8;
const RARE_ONE_IN: usize = 256;

pub(super) const NO_FAMILY: u32 = u32::MAX;

/// The families of all messages.
#[derive(Debug, Default)]
pub(super) struct Families {
    /// By message: its family, or [`NO_FAMILY`].
    of_text: Vec<u32>,
    n: usize,
    /// By message: the weight of its rare words, if it has a family.
    rare_weight: Vec<u64>,
    /// By word: the members of families that have it, if it is rare.
    having: Vec<Vec<u32>>,
}

/// What a row has of the words that all members of a family have.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct State {
    search: u32,
    /// The words of a member that the row lacks, rare ones too, each as often as it does.
    pub(super) n_missing: usize,
    /// The weight of those that are not rare.
    missing_weight: u64,
    /// The row has all words that are no numbers.
    pub(super) has_plain: bool,
}

/// What is known of a row; reused.
#[derive(Debug, Default)]
pub(super) struct Known {
    search: u32,
    /// By message: the search in which it has a rare word of the row.
    special: Vec<u32>,
    /// By family.
    states: Vec<State>,
}

impl Families {
    pub(super) fn new(texts: &[Text], n_words: usize) -> Self {
        let mut n_texts = vec![0_usize; n_words];
        for (word, ..) in texts.iter().flat_map(|text| &text.distinct) {
            n_texts[*word as usize] += 1;
        }
        let most = RARE.max(texts.len() / RARE_ONE_IN);
        let is_rare = |word: u32| n_texts[word as usize] <= most;
        let mut members: FxHashMap<Vec<u32>, Vec<u32>> = FxHashMap::default();
        for (at, text) in (0..).zip(texts) {
            let mut key = Vec::new();
            set_key(text, |word| !is_rare(word), &mut key);
            members.entry(key).or_default().push(at);
        }
        let mut families: Vec<Vec<u32>> = members.into_values().filter(|list| list.len() >= FEWEST).collect();
        families.sort_unstable();
        let mut this = Self {
            of_text: vec![NO_FAMILY; texts.len()],
            n: families.len(),
            rare_weight: vec![0; texts.len()],
            having: vec![Vec::new(); n_words],
        };
        for (family, members) in (0..).zip(&families) {
            for &at in members {
                this.of_text[at as usize] = family;
                for &(word, weight, times) in &texts[at as usize].distinct {
                    if is_rare(word) {
                        this.having[word as usize].push(at);
                        this.rare_weight[at as usize] += weight * u64::from(times);
                    }
                }
            }
        }
        this
    }

    /// Begins with another row.
    pub(super) fn begin(&self, row: &[u32], known: &mut Known) {
        if self.n == 0 {
            return;
        }
        known.special.resize(known.special.len().max(self.of_text.len()), 0);
        known.states.resize(known.states.len().max(self.n), State::default());
        known.search = known.search.wrapping_add(1);
        if known.search == 0 {
            known.special.fill(0);
            known.states.fill(State::default());
            known.search = 1;
        }
        for word in row.iter().filter(|word| **word != UNKNOWN) {
            for text in &self.having[*word as usize] {
                known.special[*text as usize] = known.search;
            }
        }
    }

    /// Returns the family of a message, if the row has none of its rare words.
    pub(super) fn of(&self, text: u32, known: &Known) -> Option<u32> {
        let family = self.of_text[text as usize];
        (family != NO_FAMILY && known.special[text as usize] != known.search).then_some(family)
    }

    /// Returns what the row has of a family; `text` is a member without a rare word of the row.
    pub(super) fn state(&self, family: u32, text: &Text, of_row: &Counts, known: &mut Known) -> State {
        let state = &mut known.states[family as usize];
        if state.search == known.search {
            return *state;
        }
        *state = State { search: known.search, n_missing: 0, missing_weight: 0, has_plain: true };
        for &(word, weight, times) in &text.distinct {
            let missing = times.saturating_sub(of_row.get(word));
            state.n_missing += missing as usize;
            // A rare word is missing altogether; its weight is that of each member.
            if self.having[word as usize].is_empty() {
                state.missing_weight += weight * u64::from(missing);
            }
            state.has_plain &= missing == 0 || !text.has_plain(word);
        }
        *state
    }

    /// Returns the weight of the words of a member that the row lacks.
    pub(super) fn missing_weight(&self, state: &State, text: u32) -> u64 {
        state.missing_weight + self.rare_weight[text as usize]
    }
}

/// Marks of a word's kind in a key, and of a word that the other side lacks.
const VALUE: u32 = 1 << 31;
const NUMBER: u32 = 1 << 30;
const LACKING: u32 = NUMBER - 1;

/// Sets a key of a message: all that the measures read of it, if the row has only some of its words.
pub(super) fn set_key(text: &Text, has: impl Fn(u32) -> bool, key: &mut Vec<u32>) {
    key.clear();
    key.extend(text.words.iter().map(|word: &Word| {
        let number = if has(word.number) { word.number } else { LACKING };
        let kind = match word.mask {
            Mask::None => 0,
            Mask::Number => VALUE | NUMBER,
            Mask::Name | Mask::Quoted => VALUE,
        };
        number | kind
    }));
    key.push(u32::from(text.is_name));
}
