//! Finds user messages of a benchmark in the messages of a training row.
//!
//! The index holds the benchmark's messages as numbered words. A message of a row is looked up whole and with masked values.
//! It is compared word by word with each message of the benchmark of which a part of it has most words by weight, that is
//! nearly equal as a whole, or that shares a long run of words. The maps only leave out what cannot be such a message, so the
//! hits are those of a comparison of all pairs.
//!
//! Equal messages of several entries are compared once. Messages of which the row has the same words (`families`) are measured
//! once (`overlap`), and those with the same result are one group of hits (`found`).

mod align;
mod candidates;
mod chunks;
mod families;
mod found;
mod measures;
mod overlap;
mod shared_runs;
mod text;

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use self::candidates::{Candidate, Candidates};
use self::found::{Finding, Found};
use self::overlap::Measured;
use self::text::{Kinds, Place, Row, Text};
use super::everyday::{is_popular, is_slot_answer, is_small_talk};
use super::hit::{Hit, MOST_SINGLE, Method, Verdict};
use super::scope::Scope;
use super::shown::Shown;
use super::thresholds::QueryThresholds;
use super::words::{Mask, UNKNOWN, Vocabulary, Word, place_in_text};

/// Words of a message that nobody writes by chance.
const TELLING: f64 = 10.0;

/// The kinds of words that a template replaces by a mark.
const NUMBERS: &[Mask] = &[Mask::Number];
const VALUES: &[Mask] = &[Mask::Number, Mask::Name, Mask::Quoted];

/// The messages of a benchmark.
#[derive(Debug, Default)]
pub(super) struct QueryIndex {
    vocabulary: Vocabulary,
    /// Different messages.
    texts: Vec<Text>,
    known: FxHashMap<Box<str>, u32>,
    /// All messages with a word, in order: entry, number of the message, and text.
    messages: Vec<(u32, u32, u32)>,
    /// The weight of each word.
    word_weights: Vec<u64>,
    /// By the numbers of their words.
    whole: FxHashMap<Box<[u32]>, Vec<u32>>,
    /// By words with masked numbers, and with masked numbers and names.
    templates: FxHashMap<Box<[u32]>, Vec<u32>>,
    name_templates: FxHashMap<Box<[u32]>, Vec<u32>>,
    candidates: Candidates,
}

impl QueryIndex {
    /// Adds a message of an entry.
    pub(super) fn add(&mut self, entry: u32, turn: u32, text: &str) {
        let next = number(self.texts.len());
        let at = self.known.get(text).copied().unwrap_or(next);
        if at == next {
            let shown = Shown::of(text);
            let mut words = self.vocabulary.learn(&shown);
            if words.is_empty() {
                return;
            }
            let written = || words.iter().map(|word| &shown.text[word.at.clone()]);
            let plain = words.iter().filter(|word| word.mask != Mask::Number);
            let kinds = Kinds {
                is_small_talk: is_small_talk(written()),
                is_popular: is_popular(written()),
                is_slot_answer: is_slot_answer(plain.map(|word| &shown.text[word.at.clone()])),
            };
            place_in_text(&mut words, &shown);
            self.texts.push(Text::new(text, words, kinds));
            self.known.insert(text.into(), at);
        }
        self.messages.push((entry, turn, at));
    }

    /// Weighs the words and indexes the messages, after the last one was added.
    pub(super) fn weigh(&mut self, by: &QueryThresholds) {
        self.known = FxHashMap::default();
        let of_entries = self.messages.chunk_by(|one, other| one.0 == other.0);
        for messages in of_entries {
            for &(entry, turn, text) in messages {
                let is_conversation = messages.len() > 1;
                self.texts[text as usize].places.push(Place { entry, turn, is_conversation });
            }
        }
        let weights = text::weights(&self.texts, self.vocabulary.len());
        for (at, text) in (0..).zip(&mut self.texts) {
            text.weigh(&weights, self.messages.len());
            self.whole.entry(text.numbers.as_slice().into()).or_default().push(at);
            if let Some(key) = template(&text.words, NUMBERS) {
                self.templates.entry(key.into()).or_default().push(at);
            }
            if let Some(key) = template(&text.words, VALUES) {
                self.name_templates.entry(key.into()).or_default().push(at);
            }
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
        self.messages.iter().map(|&(entry, turn, text)| (entry, turn, &*self.texts[text as usize].content))
    }

    /// Returns a message of an entry, and how much it says, from 0 to 1: that of [`TELLING`] words that no other message has.
    pub(super) fn told(&self, entry: u32, turn: u32) -> Option<(&str, f64)> {
        let at = self.messages.partition_point(|(of, number, _)| (*of, *number) < (entry, turn));
        let (of, number, text) = *self.messages.get(at)?;
        let text = &self.texts[text as usize];
        ((of, number) == (entry, turn)).then(|| (&*text.content, text.unique_words() / TELLING))
    }

    /// Returns the messages that may be phrases of a training set by their number of words: few, and no value among them.
    pub(super) fn short_messages(&self, by: &QueryThresholds) -> BTreeSet<(u32, u32)> {
        let short = self.texts.iter().filter(|text| {
            text.words.len() < by.min_words && text.words.iter().all(|word| word.mask == Mask::None)
        });
        short.flat_map(|text| &text.places).map(|place| (place.entry, place.turn)).collect()
    }

    /// Returns the methods that can find a message, for each message with its entry.
    pub(super) fn scorable(&self, by: &QueryThresholds) -> impl Iterator<Item = (u32, Vec<Method>)> {
        let methods = |text: &Text| (text.places.clone(), text.methods(by));
        let of_texts = self.texts.iter().map(methods);
        of_texts.flat_map(|(places, methods)| {
            places.into_iter().map(move |place| (place.entry, methods.clone())).collect::<Vec<_>>()
        })
    }

    /// Finds the messages that overlap one of a row. If the user asked to stop, not all of them are found.
    pub(super) fn find(&self, message: &Message<'_>, by: &QueryThresholds, hits: &mut Vec<Hit>) {
        let &Message { turn, text, is_conversation, scope } = message;
        let shown = Shown::of(text);
        let mut words = self.vocabulary.read(&shown);
        if words.is_empty() {
            return;
        }
        place_in_text(&mut words, &shown);
        let numbers: Vec<u32> = words.iter().map(|word| word.number).collect();
        let row = Row { turn, is_conversation, is_verbatim: false, words: &words, numbers: &numbers };
        let mut found = Found::new(&self.texts, scope);
        let equal = self.whole.get(&numbers[..]).map_or(&[][..], Vec::as_slice);
        for &at in equal {
            let text = &self.texts[at as usize];
            if text.depends_on_conversation() {
                for place in &text.places {
                    found.add_one(at, *place, &[text.exact(&row, by, place.is_conversation)]);
                }
            } else {
                found.add(at, &[text.exact(&row, by, false)]);
            }
        }
        let templates = self.templates_of(&row, equal, by);
        self.candidates.find(&self.texts, &row, equal, scope.cancelled, |candidates| {
            self.compare(candidates, &templates, &row, scope, by, &mut found);
        });
        found.hits(&row, hits);
    }

    /// Finds the messages that stand word by word in a text of somebody else, whole or a long part of them.
    pub(super) fn find_verbatim(
        &self,
        turn: u32,
        text: &str,
        scope: Scope<'_>,
        by: &QueryThresholds,
        hits: &mut Vec<Hit>,
    ) {
        let shown = Shown::of(text);
        let mut words = self.vocabulary.read(&shown);
        if words.len() < by.contained_words {
            return;
        }
        place_in_text(&mut words, &shown);
        let numbers: Vec<u32> = words.iter().map(|word| word.number).collect();
        let row = Row { turn, is_conversation: true, is_verbatim: true, words: &words, numbers: &numbers };
        let mut found = Found::new(&self.texts, scope);
        self.candidates.find(&self.texts, &row, &[], scope.cancelled, |candidates| {
            self.compare(candidates, &[], &row, scope, by, &mut found);
        });
        found.hits(&row, hits);
    }

    /// Compares a message of a row with the candidates and those with the same template.
    fn compare(
        &self,
        candidates: Candidate<'_>,
        templates: &[(u32, Finding)],
        row: &Row<'_>,
        scope: Scope<'_>,
        by: &QueryThresholds,
        found: &mut Found<'_>,
    ) {
        let Candidate { texts, by_run, lists, family, of_row, places, counts } = candidates;
        let mut measured = Measured::new(row);
        let mut findings: Vec<Finding> = Vec::new();
        let mut compare = |at: u32, is_template: bool, findings: &mut Vec<Finding>| {
            let text = &self.texts[at as usize];
            let overlap = measured.overlap(text, family(at), &self.word_weights, (of_row, places), counts);
            text.compare((row, places), by, overlap, is_template, findings);
            if row.is_verbatim {
                findings.retain(|finding| matches!(finding.method, Method::Contained | Method::LongestMatch));
            }
        };
        let is_there = |text: &Text| text.places.iter().any(|place| !(scope.is_left_out)(place.entry));
        let mut whole = templates.iter().peekable();
        for (n, &at) in texts.iter().enumerate() {
            if n % TEXTS_AT_ONCE == 0 && (scope.cancelled)() {
                return;
            }
            while let Some((only, finding)) = whole.next_if(|(whole, _)| *whole < at) {
                found.add(*only, &[*finding]);
            }
            if !is_there(&self.texts[at as usize]) {
                continue;
            }
            findings.clear();
            findings.extend(whole.next_if(|(whole, _)| *whole == at).map(|(_, finding)| *finding));
            let is_template = findings.first().is_some_and(|finding| finding.method == Method::Template);
            compare(at, is_template, &mut findings);
            found.add(at, &findings);
        }
        whole.for_each(|(only, finding)| found.add(*only, &[*finding]));
        let by_run: Vec<u32> =
            by_run.iter().copied().filter(|at| is_there(&self.texts[*at as usize])).collect();
        let mut compared: Vec<u32> = if by_run.len() <= 2 * MOST_SINGLE {
            by_run.clone()
        } else {
            // The lightest message of a list has the largest share of what all of them have.
            let lightest = |list: &&[u32]| {
                let known = list.iter().copied().filter(|at| by_run.binary_search(at).is_ok());
                known.min_by_key(|at| (self.texts[*at as usize].total, *at))
            };
            lists.iter().filter_map(lightest).collect()
        };
        compared.sort_unstable();
        compared.dedup();
        let mut one_of_each = Vec::with_capacity(compared.len());
        for (n, &at) in compared.iter().enumerate() {
            if n % TEXTS_AT_ONCE == 0 && (scope.cancelled)() {
                return;
            }
            findings.clear();
            compare(at, false, &mut findings);
            match (&findings[..], by_run.len() == compared.len()) {
                (&[finding], false) => one_of_each.push((at, finding)),
                _ => found.add(at, &findings),
            }
        }
        if by_run.len() > compared.len() {
            let rest: Vec<u32> =
                by_run.into_iter().filter(|at| compared.binary_search(at).is_err()).collect();
            found.add_by_run(&rest, &one_of_each);
        }
    }

    /// Returns the messages with the same words but for values, except equal ones, with what is found by that: ascending.
    fn templates_of(&self, row: &Row<'_>, equal: &[u32], by: &QueryThresholds) -> Vec<(u32, Finding)> {
        let kinds = [
            (&self.templates, Method::Template, NUMBERS, Verdict::Contaminated),
            (&self.name_templates, Method::NameTemplate, VALUES, Verdict::Suspect),
        ];
        let mut found: Vec<(u32, Finding)> = Vec::new();
        for (map, method, masks, verdict) in kinds {
            let list = template(row.words, masks).and_then(|key| map.get(&key[..]));
            let Some((list, first)) = list.and_then(|list| Some((list, *list.first()?))) else { continue };
            // All of them have the same plain words. Two messages of values alone, such as two quotations, have nothing in common.
            let n_plain = self.texts[first as usize].n_plain(masks);
            if n_plain == 0 {
                continue;
            }
            let is_sure = n_plain >= by.template_words && !self.texts[first as usize].is_slot_answer();
            let verdict = if is_sure { verdict } else { Verdict::Suspect };
            let n_known = found.len();
            let is_known = |at: u32, found: &[(u32, Finding)]| {
                equal.binary_search(&at).is_ok()
                    || found[..n_known].binary_search_by_key(&at, |(at, _)| *at).is_ok()
            };
            for &at in list {
                if !is_known(at, &found) {
                    found.push((at, self.texts[at as usize].whole(row, method, verdict)));
                }
            }
        }
        found.sort_unstable_by_key(|(at, _)| *at);
        found
    }
}

/// Messages between two looks at whether the user asked to stop.
const TEXTS_AT_ONCE: usize = 16;

/// A message of a row that is looked for.
pub(super) struct Message<'a> {
    /// Its number in the row.
    pub(super) turn: u32,
    pub(super) text: &'a str,
    /// The row has others.
    pub(super) is_conversation: bool,
    pub(super) scope: Scope<'a>,
}

fn number(n: usize) -> u32 {
    u32::try_from(n).expect("a benchmark has fewer than 2^32 messages")
}

/// Returns the key of a message with values of some kinds replaced by marks, neighbours of a kind by one; `None` if it has none.
fn template(words: &[Word], masks: &[Mask]) -> Option<Vec<u32>> {
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
    has_mask.then_some(numbers)
}

#[cfg(test)]
mod tests;
