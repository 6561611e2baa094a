//! Finds user messages of a benchmark in the messages of a training row.
//!
//! The index holds the benchmark's messages as numbered words: whole messages, messages with masked values, and triples of
//! words with their messages. A message of a row is looked up in all three. A message of the benchmark that shares enough
//! rare triples with it is compared word by word with the part of it where they stand.

use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};
use xxhash_rust::xxh3::Xxh3;

use super::hit::{Hit, Method, Object, Verdict};
use super::words::{Mask, UNKNOWN, Vocabulary, Word, n_common};
use crate::text::rouge::f1;

/// Words of a run that the index holds.
const RUN: usize = 3;
/// A run in more messages than this finds none of them; it counts for those found otherwise.
const COMMON: usize = 48;
/// Least weight of the rare runs that a message shares with a row, of all its runs, to be compared.
const MIN_SHARED: f64 = 0.25;
/// Lengths of longer runs whose shares are reported.
const LONGER_RUNS: [(usize, Method); 3] = [(5, Method::Ngram5), (8, Method::Ngram8), (13, Method::Ngram13)];

/// When a message overlaps one of the benchmark. All shares are from 0 to 1.
///
/// A message that stands inside a longer one is contaminated if it is long or rare enough (`contained_weight`). A message of
/// which a part was changed is contaminated if it has at least `min_words` words, all its values (numbers, names, quoted
/// texts) are in the row, and either `words` with `rouge_l` or `words_reordered` with `ngram` is reached. Where a measure
/// reaches its suspect threshold, the row is suspect.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct QueryThresholds {
    /// Least sum of the weights of the words of a message inside a longer one: a word of one message of n weighs ln(1 + n).
    pub contained_weight: f64,
    /// Fewest words of such a message; one with fewer is not looked for.
    pub contained_words: usize,
    /// Fewest plain words of a message whose numbers differ.
    pub template_words: usize,
    /// Fewest words of a message of which a part was changed.
    pub min_words: usize,
    /// Least weighted share of its words, with `rouge_l`.
    pub words: f64,
    /// Least ROUGE-L F1, with `words`.
    pub rouge_l: f64,
    /// Least weighted share of its words in any order, with `ngram`.
    pub words_reordered: f64,
    /// Least weighted share of its word triples, with `words_reordered`.
    pub ngram: f64,
    /// Least weighted share of words for suspect.
    pub words_suspect: f64,
    /// Least ROUGE-L F1 for suspect.
    pub rouge_l_suspect: f64,
    /// Least weighted share of word triples for suspect.
    pub ngram_suspect: f64,
}

impl Default for QueryThresholds {
    fn default() -> Self {
        Self {
            contained_weight: 15.0,
            contained_words: 3,
            template_words: 4,
            min_words: 8,
            words: 0.76,
            rouge_l: 0.8,
            words_reordered: 0.9,
            ngram: 0.4,
            words_suspect: 0.8,
            rouge_l_suspect: 0.75,
            ngram_suspect: 0.6,
        }
    }
}

/// A message of the benchmark.
#[derive(Debug)]
struct Text {
    entry: u32,
    turn: u32,
    words: Vec<Word>,
    numbers: Vec<u32>,
    /// The weight of each of its runs, and their sum.
    weights: Vec<f64>,
    total: f64,
    /// The weight of each of its words, and their sum.
    word_weights: Vec<f64>,
    word_total: f64,
}

/// The messages of a benchmark.
#[derive(Debug, Default)]
pub(super) struct QueryIndex {
    vocabulary: Vocabulary,
    texts: Vec<Text>,
    whole: FxHashMap<u64, Vec<u32>>,
    /// By words with masked numbers, and with masked numbers and names.
    templates: FxHashMap<u64, Vec<u32>>,
    name_templates: FxHashMap<u64, Vec<u32>>,
    /// The texts that have a run, each once, with the number of the run.
    runs: FxHashMap<u64, Vec<(u32, u32)>>,
}

impl QueryIndex {
    /// Adds a message of an entry.
    pub(super) fn add(&mut self, entry: u32, turn: u32, text: &str) {
        let words = self.vocabulary.learn(text);
        if words.is_empty() {
            return;
        }
        let at = u32::try_from(self.texts.len()).expect("a benchmark has fewer than 2^32 messages");
        let numbers: Vec<u32> = words.iter().map(|word| word.number).collect();
        self.whole.entry(hash(&numbers)).or_default().push(at);
        if let Some(key) = template(&words, &[Mask::Number]) {
            self.templates.entry(key).or_default().push(at);
        }
        if let Some(key) = template(&words, &[Mask::Number, Mask::Name, Mask::Quoted]) {
            self.name_templates.entry(key).or_default().push(at);
        }
        let mut seen = FxHashSet::default();
        for (number, run) in (0..).zip(numbers.windows(RUN)) {
            if seen.insert(key(run)) {
                self.runs.entry(key(run)).or_default().push((at, number));
            }
        }
        self.texts.push(Text {
            entry,
            turn,
            words,
            numbers,
            weights: Vec::new(),
            total: 0.0,
            word_weights: Vec::new(),
            word_total: 0.0,
        });
    }

    /// Weighs the runs, after the last message was added.
    #[allow(clippy::cast_precision_loss)] // Counts of messages.
    pub(super) fn weigh(&mut self) {
        let n = self.texts.len() as f64;
        let mut n_texts = vec![0_u32; self.vocabulary.len()];
        for text in &self.texts {
            let distinct: FxHashSet<u32> = text.numbers.iter().copied().collect();
            #[allow(clippy::iter_over_hash_type)] // Counting needs no order.
            for word in distinct {
                n_texts[word as usize] += 1;
            }
        }
        for text in &mut self.texts {
            let weight = |run: &[u32]| (1.0 + n / self.runs[&key(run)].len() as f64).ln();
            text.weights = text.numbers.windows(RUN).map(weight).collect();
            text.total = text.weights.iter().sum();
            let weight = |word: &u32| (1.0 + n / f64::from(n_texts[*word as usize])).ln();
            text.word_weights = text.numbers.iter().map(weight).collect();
            text.word_total = text.word_weights.iter().sum();
        }
    }

    /// The number of different words.
    pub(super) fn n_words(&self) -> usize {
        self.vocabulary.len()
    }

    /// Finds the messages that overlap one of a row, number `turn` of it.
    pub(super) fn find(&self, turn: u32, text: &str, by: &QueryThresholds, hits: &mut Vec<Hit>) {
        let words = self.vocabulary.read(text);
        if words.is_empty() {
            return;
        }
        let numbers: Vec<u32> = words.iter().map(|word| word.number).collect();
        let row = Row { turn, words: &words, numbers: &numbers };
        let mut exact = Vec::new();
        for &at in self.whole.get(&hash(&numbers)).into_iter().flatten() {
            let text = &self.texts[at as usize];
            if text.numbers == numbers {
                exact.push(at);
                hits.push(row.hit(
                    text,
                    Method::Exact,
                    1.0,
                    Verdict::Contaminated,
                    0..words.len(),
                    0..words.len(),
                ));
            }
        }
        self.find_templates(&row, &exact, by, hits);
        self.find_parts(&row, &exact, by, hits);
    }

    fn find_templates(&self, row: &Row<'_>, exact: &[u32], by: &QueryThresholds, hits: &mut Vec<Hit>) {
        let kinds = [
            (&self.templates, Method::Template, &[Mask::Number][..], Verdict::Contaminated),
            (
                &self.name_templates,
                Method::NameTemplate,
                &[Mask::Number, Mask::Name, Mask::Quoted],
                Verdict::Suspect,
            ),
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
                let n_plain = text.words.iter().filter(|word| !masks.contains(&word.mask)).count();
                let verdict = if n_plain >= by.template_words { verdict } else { Verdict::Suspect };
                hits.push(row.hit(text, method, 1.0, verdict, 0..row.words.len(), 0..text.words.len()));
            }
        }
    }

    /// Finds messages that a part of the row's message overlaps.
    fn find_parts(&self, row: &Row<'_>, exact: &[u32], by: &QueryThresholds, hits: &mut Vec<Hit>) {
        let mut shared: FxHashMap<u32, Shared> = FxHashMap::default();
        let mut seen: FxHashSet<(u32, u32)> = FxHashSet::default();
        for (at, run) in row.numbers.windows(RUN).enumerate() {
            if run.contains(&UNKNOWN) {
                continue;
            }
            let Some(texts) = self.runs.get(&key(run)).filter(|texts| texts.len() <= COMMON) else {
                continue;
            };
            for &(text, number) in texts {
                let shared = shared.entry(text).or_default();
                shared.places.push(at);
                if seen.insert((text, number)) {
                    shared.weight += self.texts[text as usize].weights[number as usize];
                }
            }
        }
        let mut candidates: Vec<(u32, Shared)> = shared
            .into_iter()
            .filter(|(text, shared)| {
                !exact.contains(text) && shared.weight >= MIN_SHARED * self.texts[*text as usize].total
            })
            .collect();
        candidates.sort_unstable_by_key(|(text, _)| *text);
        if candidates.is_empty() {
            return;
        }
        let runs: FxHashSet<u64> = row.numbers.windows(RUN).map(key).collect();
        for (text, shared) in candidates {
            self.texts[text as usize].compare(&shared, &runs, row, by, hits);
        }
    }
}

impl Text {
    /// Compares it with the part of a message of a row where they share most.
    fn compare(
        &self,
        shared: &Shared,
        runs: &FxHashSet<u64>,
        row: &Row<'_>,
        by: &QueryThresholds,
        hits: &mut Vec<Hit>,
    ) {
        let n = self.numbers.len();
        let part = shared.part(n, row.numbers.len());
        let inside = &row.numbers[part.clone()];
        let run = longest_run(&self.numbers, inside);
        let mut add = |method: Method, score: f64, verdict: Verdict, at: Range<usize>, of: Range<usize>| {
            hits.push(row.hit(self, method, score, verdict, at, of));
        };
        if run.len == n && n >= by.contained_words {
            let is_sure = self.word_total >= by.contained_weight;
            let verdict = if is_sure { Verdict::Contaminated } else { Verdict::Suspect };
            let start = part.start + run.in_row;
            add(Method::Contained, 1.0, verdict, start..start + n, 0..n);
        }
        let held = self.numbers.windows(RUN).zip(&self.weights).filter(|(run, _)| runs.contains(&key(run)));
        let ngram = held.map(|(_, weight)| weight).sum::<f64>() / self.total;
        let words = self.share_of_words(inside);
        let rouge_l = best_rouge(&self.numbers, inside);
        let is_like = (words >= by.words && rouge_l >= by.rouge_l)
            || (words >= by.words_reordered && ngram >= by.ngram);
        let is_sure = is_like && n >= by.min_words && self.has_values_in(inside);
        let verdict = if is_sure { Verdict::Contaminated } else { Verdict::Suspect };
        for (method, score, suspect) in [
            (Method::Ngram, ngram, by.ngram_suspect),
            (Method::Words, words, by.words_suspect),
            (Method::RougeL, rouge_l, by.rouge_l_suspect),
        ] {
            if is_sure || (score >= suspect && n >= by.min_words) {
                add(method, score, verdict, part.clone(), 0..n);
            }
        }
        for (length, method) in LONGER_RUNS {
            let share = share_of_runs(&self.numbers, inside, length);
            if share >= by.ngram_suspect {
                add(method, share, Verdict::Suspect, part.clone(), 0..n);
            }
        }
    }

    /// Whether a part of a row has all its numbers, names and quoted words.
    fn has_values_in(&self, part: &[u32]) -> bool {
        self.words.iter().filter(|word| word.mask != Mask::None).all(|word| part.contains(&word.number))
    }

    /// Returns the share of its words that a part of a row has, each as often, weighted.
    fn share_of_words(&self, part: &[u32]) -> f64 {
        let mut left: FxHashMap<u32, usize> = FxHashMap::default();
        for word in part {
            *left.entry(*word).or_default() += 1;
        }
        let mut held = 0.0;
        for (word, weight) in self.numbers.iter().zip(&self.word_weights) {
            if let Some(n) = left.get_mut(word).filter(|n| **n > 0) {
                *n -= 1;
                held += weight;
            }
        }
        held / self.word_total
    }
}

/// A message of a row.
struct Row<'a> {
    turn: u32,
    words: &'a [Word],
    numbers: &'a [u32],
}

impl Row<'_> {
    fn hit(
        &self,
        text: &Text,
        method: Method,
        score: f64,
        verdict: Verdict,
        at: Range<usize>,
        of: Range<usize>,
    ) -> Hit {
        Hit {
            entry: text.entry,
            object: Object::Query,
            method,
            score,
            verdict,
            in_row: (self.turn, bytes(self.words, at)),
            in_entry: (text.turn, bytes(&text.words, of)),
        }
    }
}

/// Returns the bytes of some words.
fn bytes(words: &[Word], at: Range<usize>) -> Range<usize> {
    match (words.get(at.start), at.end.checked_sub(1).and_then(|last| words.get(last))) {
        (Some(first), Some(last)) => first.at.start..last.at.end,
        _ => 0..0,
    }
}

/// What a message shares with a row.
#[derive(Debug, Default)]
struct Shared {
    /// The weight of the shared runs.
    weight: f64,
    /// Where they stand in the row, in order.
    places: Vec<usize>,
}

impl Shared {
    /// Returns the part of a row of `n_row` words in which most of the runs stand: a little longer than the message.
    fn part(&self, n: usize, n_row: usize) -> Range<usize> {
        let width = n + n / 2 + RUN;
        let (mut best, mut from) = ((0, 0), 0);
        for (to, &place) in self.places.iter().enumerate() {
            while self.places[from] + width < place + RUN {
                from += 1;
            }
            best = best.max((to + 1 - from, usize::MAX - from));
        }
        let first = self.places[usize::MAX - best.1];
        let last = self.places[usize::MAX - best.1 + best.0 - 1] + RUN;
        // Words before and after the runs may belong to it, too.
        let room = width.saturating_sub(last - first);
        first.saturating_sub(room)..n_row.min(last + room)
    }
}

/// A run of words that two texts share.
#[derive(Debug, Clone, Copy, Default)]
struct SharedRun {
    len: usize,
    in_row: usize,
}

/// Returns the longest run of words of a message that stands in a row.
fn longest_run(text: &[u32], row: &[u32]) -> SharedRun {
    let mut best = SharedRun::default();
    let mut lengths = vec![0_usize; row.len() + 1];
    for &word in text {
        for at in (0..row.len()).rev() {
            lengths[at + 1] = if row[at] == word { lengths[at] + 1 } else { 0 };
            if lengths[at + 1] > best.len {
                best = SharedRun { len: lengths[at + 1], in_row: at + 1 - lengths[at + 1] };
            }
        }
    }
    best
}

/// Returns the share of the runs of this length in a message that a row has; 0 if it is shorter.
#[allow(clippy::cast_precision_loss)] // Counts of words.
fn share_of_runs(text: &[u32], row: &[u32], length: usize) -> f64 {
    if text.len() < length {
        return 0.0;
    }
    let held: FxHashSet<&[u32]> = row.windows(length).collect();
    let n_held = text.windows(length).filter(|run| held.contains(run)).count();
    n_held as f64 / (text.len() + 1 - length) as f64
}

/// Returns the best ROUGE-L F1 of a message with a part of a row: the part is shortened at both ends while that helps.
fn best_rouge(text: &[u32], part: &[u32]) -> f64 {
    let all = n_common(text, part);
    let (whole, n) = (f1(all, text.len(), part.len()), part.len());
    if all == 0 {
        return whole;
    }
    // The shortest end and start that keep all common words.
    let end = first((all..=n).collect::<Vec<_>>().as_slice(), |&end| n_common(text, &part[..end]) == all)
        .unwrap_or(n);
    let starts: Vec<usize> = (0..=end - all).rev().collect();
    let start = first(&starts, |&start| n_common(text, &part[start..end]) == all).unwrap_or(0);
    f1(all, text.len(), end - start).max(whole)
}

/// Returns the first of some numbers that holds; all after it hold, too.
fn first(numbers: &[usize], holds: impl Fn(&usize) -> bool) -> Option<usize> {
    numbers.get(numbers.partition_point(|number| !holds(number))).copied()
}

/// Returns the key of a run of three words; exact for up to 2^21 words.
fn key(run: &[u32]) -> u64 {
    run.iter().fold(0, |key, &word| (key << 21) ^ u64::from(word))
}

fn hash(numbers: &[u32]) -> u64 {
    let mut hasher = Xxh3::new();
    for number in numbers {
        hasher.update(&number.to_le_bytes());
    }
    hasher.digest()
}

/// Returns the key of a message with values of some kinds replaced by marks, neighbours of a kind by one; `None` if it has none.
fn template(words: &[Word], masks: &[Mask]) -> Option<u64> {
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
mod tests {
    use super::*;

    /// Texts of few words, so that many share runs; every seventh repeats an earlier one with a change.
    fn texts(n: usize, seed: u64) -> Vec<String> {
        const WORDS: [&str; 24] = [
            "book", "a", "ferry", "to", "Mull", "at", "9", "the", "tide", "in", "Leith", "on", "Friday",
            "ring", "bell", "3", "times", "please", "show", "me", "all", "boats", "near", "Oban",
        ];
        let mut state = seed;
        let mut next = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(state >> 33).unwrap() % below
        };
        let mut texts: Vec<String> = Vec::new();
        for at in 0..n {
            if at % 7 == 6 {
                let mut words: Vec<String> = texts[next(at)].split(' ').map(str::to_owned).collect();
                let place = next(words.len());
                WORDS[next(WORDS.len())].clone_into(&mut words[place]);
                texts.push(words.join(" "));
                continue;
            }
            let words: Vec<&str> = (0..2 + next(14)).map(|_| WORDS[next(WORDS.len())]).collect();
            texts.push(words.join(" "));
        }
        texts
    }

    fn index(texts: &[String]) -> QueryIndex {
        let mut index = QueryIndex::default();
        for (entry, text) in (0..).zip(texts) {
            index.add(entry, 0, text);
        }
        index.weigh();
        index
    }

    /// Compares a message with every message of the benchmark, without the maps of the index.
    fn found_by_force(index: &QueryIndex, message: &str, by: &QueryThresholds) -> Vec<Hit> {
        let words = index.vocabulary.read(message);
        let numbers: Vec<u32> = words.iter().map(|word| word.number).collect();
        let row = Row { turn: 0, words: &words, numbers: &numbers };
        let runs: FxHashSet<u64> = numbers.windows(RUN).map(key).collect();
        let n_texts_with = |run: &[u32]| {
            index.texts.iter().filter(|text| text.numbers.windows(RUN).any(|own| own == run)).count()
        };
        let mut hits = Vec::new();
        for text in &index.texts {
            if text.numbers == numbers {
                hits.push(row.hit(
                    text,
                    Method::Exact,
                    1.0,
                    Verdict::Contaminated,
                    0..words.len(),
                    0..words.len(),
                ));
                continue;
            }
            let masked = |words: &[Word], masks: &[Mask]| {
                let mut shown: Vec<String> = Vec::new();
                for word in words {
                    let mark = if masks.contains(&word.mask) {
                        format!("{:?}", word.mask)
                    } else {
                        word.number.to_string()
                    };
                    if !masks.contains(&word.mask) || shown.last() != Some(&mark) {
                        shown.push(mark);
                    }
                }
                (words.iter().any(|word| masks.contains(&word.mask)), shown)
            };
            let all = [Mask::Number, Mask::Name, Mask::Quoted];
            for (masks, method) in [(&all[..1], Method::Template), (&all[..], Method::NameTemplate)] {
                let (own, others) = (masked(&words, masks), masked(&text.words, masks));
                if own.0 && own == others {
                    let n_plain = text.words.iter().filter(|word| !masks.contains(&word.mask)).count();
                    let is_sure = method == Method::Template && n_plain >= by.template_words;
                    let verdict = if is_sure { Verdict::Contaminated } else { Verdict::Suspect };
                    hits.push(row.hit(text, method, 1.0, verdict, 0..words.len(), 0..text.words.len()));
                    break;
                }
            }
            let mut shared = Shared::default();
            let mut seen = Vec::new();
            for (at, run) in numbers.windows(RUN).enumerate() {
                if run.contains(&UNKNOWN) || n_texts_with(run) > COMMON {
                    continue;
                }
                if let Some(number) = text.numbers.windows(RUN).position(|own| own == run) {
                    shared.places.push(at);
                    if !seen.contains(&number) {
                        seen.push(number);
                        shared.weight += text.weights[number];
                    }
                }
            }
            if !shared.places.is_empty() && shared.weight >= MIN_SHARED * text.total {
                text.compare(&shared, &runs, &row, by, &mut hits);
            }
        }
        hits
    }

    #[test]
    fn the_index_finds_what_a_comparison_of_all_pairs_finds() {
        let (bench, rows) = (texts(250, 1), texts(250, 2));
        let index = index(&bench);
        let by = QueryThresholds::default();
        let sorted = |mut hits: Vec<Hit>| {
            hits.sort_by_key(|hit| (hit.entry, hit.method));
            hits
        };
        let mut n_hits = 0;
        for message in bench.iter().take(60).chain(&rows) {
            let mut hits = Vec::new();
            index.find(0, message, &by, &mut hits);
            n_hits += hits.len();
            assert_eq!(sorted(hits), sorted(found_by_force(&index, message, &by)), "{message}");
        }
        assert!(n_hits > 100, "{n_hits}");
    }

    #[test]
    fn a_changed_value_or_another_thing_is_no_contamination() {
        let index = index(&[
            "Can you book me a quiet room in Oban for 3 nights from Monday on?".to_owned(),
            "I would like to find a hotel in London near the river".to_owned(),
        ]);
        let surest = |message: &str| {
            let mut hits = Vec::new();
            index.find(0, message, &QueryThresholds::default(), &mut hits);
            hits.into_iter().map(|hit| hit.verdict).max()
        };
        assert_eq!(
            surest("Can you book me a quiet room in Mull for 3 nights from Monday on?"),
            Some(Verdict::Suspect)
        );
        assert_eq!(
            surest("Can you book me a quiet room in Oban for 5 nights from Monday on?"),
            Some(Verdict::Contaminated)
        );
        assert_eq!(surest("I would like to find a hotel in Tokyo near the river"), Some(Verdict::Suspect));
        assert_eq!(surest("I would like to find a doctor"), None);
    }
}
