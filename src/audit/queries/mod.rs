//! Finds user messages of a benchmark in the messages of a training row.
//!
//! The index holds the benchmark's messages as numbered words. A message of a row is looked up whole and with masked values.
//! It is compared word by word with each message of the benchmark of which a part of it has most words by weight, that is
//! nearly equal as a whole, or that shares a long run of words. The maps only leave out what cannot be such a message, so the
//! hits are those of a comparison of all pairs.

mod candidates;
mod measures;
mod text;

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use self::candidates::Candidates;
use self::text::{Row, Text};
use super::hit::{Hit, Method, Verdict};
use super::thresholds::QueryThresholds;
use super::words::{Mask, UNKNOWN, Vocabulary, Word};
use crate::content_hash::content_hash;

/// The kinds of words that a template replaces by a mark.
const NUMBERS: &[Mask] = &[Mask::Number];
const VALUES: &[Mask] = &[Mask::Number, Mask::Name, Mask::Quoted];

/// The messages of a benchmark.
#[derive(Debug, Default)]
pub(super) struct QueryIndex {
    vocabulary: Vocabulary,
    texts: Vec<Text>,
    /// The weight of each word.
    word_weights: Vec<u64>,
    whole: FxHashMap<u128, Vec<u32>>,
    /// By words with masked numbers, and with masked numbers and names.
    templates: FxHashMap<u128, Vec<u32>>,
    name_templates: FxHashMap<u128, Vec<u32>>,
    candidates: Candidates,
}

impl QueryIndex {
    /// Adds a message of an entry.
    pub(super) fn add(&mut self, entry: u32, turn: u32, text: &str) {
        let words = self.vocabulary.learn(text);
        if words.is_empty() {
            return;
        }
        let at = u32::try_from(self.texts.len()).expect("a benchmark has fewer than 2^32 messages");
        let text = Text::new(entry, turn, text, words);
        self.whole.entry(hash(&text.numbers)).or_default().push(at);
        if let Some(key) = template(&text.words, NUMBERS) {
            self.templates.entry(key).or_default().push(at);
        }
        if let Some(key) = template(&text.words, VALUES) {
            self.name_templates.entry(key).or_default().push(at);
        }
        self.texts.push(text);
    }

    /// Weighs the words, after the last message was added.
    pub(super) fn weigh(&mut self, by: &QueryThresholds) {
        let weights = text::weights(&self.texts, self.vocabulary.len());
        let n_texts = self.texts.len();
        let mut n_messages: FxHashMap<u32, usize> = FxHashMap::default();
        for text in &self.texts {
            *n_messages.entry(text.entry).or_default() += 1;
        }
        for text in &mut self.texts {
            text.is_conversation = n_messages[&text.entry] > 1;
            text.weigh(&weights, n_texts);
        }
        self.word_weights = weights;
        self.candidates = Candidates::new(&self.texts, self.vocabulary.len(), by);
    }

    /// The number of different words.
    pub(super) fn n_words(&self) -> usize {
        self.vocabulary.len()
    }

    /// Returns the messages that have words: entry, number of the message, text.
    pub(super) fn messages(&self) -> impl Iterator<Item = (u32, u32, &str)> {
        self.texts.iter().map(|text| (text.entry, text.turn, &*text.content))
    }

    /// Returns the messages that may be phrases of a training set by their number of words: few, and no value among them.
    pub(super) fn short_messages(&self, by: &QueryThresholds) -> BTreeSet<(u32, u32)> {
        let short = self.texts.iter().filter(|text| {
            text.words.len() < by.min_words && text.words.iter().all(|word| word.mask == Mask::None)
        });
        short.map(|text| (text.entry, text.turn)).collect()
    }

    /// Returns the methods that can find a message, for each message with its entry.
    pub(super) fn scorable(&self, by: &QueryThresholds) -> impl Iterator<Item = (u32, Vec<Method>)> {
        self.texts.iter().map(|text| (text.entry, text.methods(by)))
    }

    /// Finds the messages that overlap one of a row, number `turn` of it. `is_conversation`: the row has others.
    pub(super) fn find(
        &self,
        turn: u32,
        text: &str,
        is_conversation: bool,
        by: &QueryThresholds,
        hits: &mut Vec<Hit>,
    ) {
        let words = self.vocabulary.read(text);
        if words.is_empty() {
            return;
        }
        let numbers: Vec<u32> = words.iter().map(|word| word.number).collect();
        let row = Row { turn, is_conversation, words: &words, numbers: &numbers };
        let mut exact = Vec::new();
        for &at in self.whole.get(&hash(&numbers)).into_iter().flatten() {
            let text = &self.texts[at as usize];
            if text.numbers == numbers {
                exact.push(at);
                hits.push(text.exact(&row, by));
            }
        }
        self.find_templates(&row, &exact, by, hits);
        self.candidates.find(&self.texts, &row, |at, counts| {
            if !exact.contains(&at) {
                self.texts[at as usize].compare(&row, by, &self.word_weights, counts, hits);
            }
        });
    }

    fn find_templates(&self, row: &Row<'_>, exact: &[u32], by: &QueryThresholds, hits: &mut Vec<Hit>) {
        let kinds = [
            (&self.templates, Method::Template, NUMBERS, Verdict::Contaminated),
            (&self.name_templates, Method::NameTemplate, VALUES, Verdict::Suspect),
        ];
        let mut found: Vec<u32> = exact.to_vec();
        for (map, method, masks, verdict) in kinds {
            let Some(key) = template(row.words, masks) else { continue };
            for &at in map.get(&key).into_iter().flatten() {
                let text = &self.texts[at as usize];
                if found.contains(&at) {
                    continue;
                }
                found.push(at);
                let n_plain = text.n_plain(masks);
                // Two messages of values alone, such as two quotations, have nothing in common.
                if n_plain == 0 {
                    continue;
                }
                let verdict = if n_plain >= by.template_words { verdict } else { Verdict::Suspect };
                hits.push(row.hit(text, method, 1.0, verdict, 0..row.words.len(), 0..text.words.len()));
            }
        }
    }
}

fn hash(numbers: &[u32]) -> u128 {
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    content_hash(bytes)
}

/// Returns the key of a message with values of some kinds replaced by marks, neighbours of a kind by one; `None` if it has none.
fn template(words: &[Word], masks: &[Mask]) -> Option<u128> {
    let mut numbers = Vec::with_capacity(words.len());
    let mut has_mask = false;
    for word in words {
        let mark = match masks.iter().position(|mask| *mask == word.mask) {
            // Unknown plain words never match.
            None if word.number == UNKNOWN => return None,
            None => word.number,
            Some(kind) => {
                has_mask = true;
                UNKNOWN - 1 - u32::try_from(kind).unwrap_or(0)
            }
        };
        if mark < UNKNOWN - 8 || numbers.last() != Some(&mark) {
            numbers.push(mark);
        }
    }
    has_mask.then(|| hash(&numbers))
}

#[cfg(test)]
mod tests;
