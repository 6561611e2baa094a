//! A message of the benchmark, and its comparison with a message of a row.

use std::ops::Range;

use super::super::everyday::is_small_talk;
use super::super::hit::{Hit, Method, Object, Verdict};
use super::super::thresholds::QueryThresholds;
use super::super::words::{Gap, Mask, Word, n_common};
use super::candidates::is_near;
use super::measures::{Counts, best_rouge, part, runs, share_of_runs};

/// Lengths of runs of words whose shares are measured.
const NGRAMS: [(usize, Method); 4] =
    [(3, Method::Ngram), (5, Method::Ngram5), (8, Method::Ngram8), (13, Method::Ngram13)];
/// The whole weight of a word of weight 1; sums of whole numbers do not depend on their order.
const UNIT: f64 = 1e6;

/// A message of the benchmark.
#[derive(Debug)]
pub(super) struct Text {
    pub(super) entry: u32,
    pub(super) turn: u32,
    /// As it is.
    pub(super) content: Box<str>,
    pub(super) words: Vec<Word>,
    pub(super) numbers: Vec<u32>,
    /// The weight of each of its words, and their sum.
    pub(super) weights: Vec<u64>,
    pub(super) total: u64,
    /// The number of messages of the benchmark.
    n_texts: usize,
    /// It has no subject: inside others it proves nothing.
    is_small_talk: bool,
    /// Its entry has others.
    pub(super) is_conversation: bool,
    /// Its different words from the heaviest, with their weight and how often it has them.
    pub(super) distinct: Vec<(u32, u64, u32)>,
}

/// Returns the weight of a word that is in some of n messages: ln(1 + n / some).
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Counts; weights are positive.
fn weight_of(n: usize, n_with: u32) -> u64 {
    ((1.0 + n as f64 / f64::from(n_with)).ln() * UNIT).round() as u64
}

/// A smaller benchmark does not show which words are rare: its messages must weigh as much as in one of so many messages.
const FEWEST_TEXTS: usize = 1000;

/// Returns the weight of each word.
pub(super) fn weights(texts: &[Text], n_words: usize) -> Vec<u64> {
    let mut n_texts = vec![0_u32; n_words];
    for text in texts {
        let mut distinct = text.numbers.clone();
        distinct.sort_unstable();
        distinct.dedup();
        for word in distinct {
            n_texts[word as usize] += 1;
        }
    }
    n_texts.iter().map(|n_with| weight_of(texts.len(), (*n_with).max(1))).collect()
}

impl Text {
    /// Returns a message without weights. It has at least one word.
    pub(super) fn new(entry: u32, turn: u32, text: &str, words: Vec<Word>) -> Self {
        let numbers = words.iter().map(|word| word.number).collect();
        let is_small_talk = is_small_talk(words.iter().map(|word| &text[word.at.clone()]));
        Self {
            entry,
            turn,
            content: text.into(),
            words,
            numbers,
            weights: Vec::new(),
            total: 0,
            n_texts: 0,
            is_small_talk,
            is_conversation: false,
            distinct: Vec::new(),
        }
    }

    /// Weighs its words.
    pub(super) fn weigh(&mut self, weights: &[u64], n_texts: usize) {
        self.n_texts = n_texts;
        self.weights = self.numbers.iter().map(|word| weights[*word as usize]).collect();
        self.total = self.weights.iter().sum();
        let mut sorted = self.numbers.clone();
        sorted.sort_unstable();
        let distinct = sorted.chunk_by(|one, other| one == other);
        let length = |words: &[u32]| u32::try_from(words.len()).unwrap_or(u32::MAX);
        self.distinct = distinct.map(|words| (words[0], weights[words[0] as usize], length(words))).collect();
        self.distinct.sort_by_key(|(word, weight, _)| (u64::MAX - weight, *word));
    }

    /// Whether it weighs at least so many words that no other of at least `fewest` messages has.
    #[allow(clippy::cast_precision_loss)] // Weights of words.
    fn weighs(&self, n_words: f64, fewest: usize) -> bool {
        self.total as f64 >= n_words * weight_of(self.n_texts.max(fewest), 1) as f64
    }

    #[allow(clippy::cast_precision_loss)] // Weights of words.
    fn share(&self, weight: u64) -> f64 {
        weight as f64 / self.total as f64
    }

    /// The number of its words that are of none of these kinds.
    pub(super) fn n_plain(&self, masks: &[Mask]) -> usize {
        self.words.iter().filter(|word| !masks.contains(&word.mask)).count()
    }

    /// Returns the methods that can find it.
    pub(super) fn methods(&self, by: &QueryThresholds) -> Vec<Method> {
        let n = self.words.len();
        let mut methods = vec![Method::Exact];
        if !self.is_small_talk && (n >= by.contained_words || self.weighs(by.sentence_weight, FEWEST_TEXTS)) {
            methods.push(Method::Contained);
        }
        let is_template = |masks: &[Mask]| (1..n).contains(&self.n_plain(masks));
        if is_template(super::NUMBERS) {
            methods.push(Method::Template);
        }
        if is_template(super::VALUES) {
            methods.push(Method::NameTemplate);
        }
        if n >= by.suspect_words {
            methods.extend([Method::Words, Method::RougeL, Method::LongestMatch]);
        }
        methods.extend(
            NGRAMS
                .iter()
                .filter(|(length, _)| n >= *length.max(&by.suspect_words))
                .map(|(_, method)| *method),
        );
        methods
    }

    /// Returns the hit of an equal message.
    pub(super) fn exact(&self, row: &Row<'_>, by: &QueryThresholds) -> Hit {
        // “Thank you!” is a turn of many conversations.
        let is_turn = self.is_small_talk && (self.is_conversation || row.is_conversation);
        let is_sure = self.weighs(by.exact_weight, 1) && !is_turn;
        let verdict = if is_sure { Verdict::Contaminated } else { Verdict::Suspect };
        row.hit(self, Method::Exact, 1.0, verdict, 0..row.words.len(), 0..self.words.len())
    }

    /// Compares it with a message of a row that is not equal. `counts` are empty and are left empty.
    pub(super) fn compare(
        &self,
        row: &Row<'_>,
        by: &QueryThresholds,
        word_weights: &[u64],
        counts: &mut [Counts; 2],
        hits: &mut Vec<Hit>,
    ) {
        let n = self.numbers.len();
        let [of_text, of_part] = counts;
        of_text.add(&self.numbers);
        let part = part(n, row.numbers, |word| word_weights[word as usize], of_text, of_part);
        of_text.clear(&self.numbers);
        let is_compared = self.share(part.weight) >= by.compared();
        let runs = runs(&self.numbers, row.numbers);
        let (of, at, length) = runs.longest;
        let common = n_common(&self.numbers, row.numbers);
        let is_near = is_near(common, n, row.numbers.len());
        // All of its words weigh enough to be compared.
        let contained = if is_compared { self.contained(row, by) } else { None };
        if let Some((start, verdict)) = contained {
            hits.push(row.hit(self, Method::Contained, 1.0, verdict, start..start + n, 0..n));
        } else if let Some((start, verdict)) = self.template_inside(row, by) {
            let is_known = |hit: &Hit| hit.method == Method::Template && self.is_of(hit, row);
            if !hits.iter().any(is_known) {
                hits.push(row.hit(self, Method::Template, 1.0, verdict, start..start + n, 0..n));
            }
        }
        if !is_compared && !is_near && length < by.longest_words {
            return;
        }
        let longest: u64 = self.weights[of..of + length].iter().sum();
        let longest = self.share(longest);
        let is_long_enough = n >= by.suspect_words || is_near;
        if length >= by.longest_words || (longest >= by.longest_suspect && is_long_enough) {
            let mut hit = row.hit(
                self,
                Method::LongestMatch,
                longest,
                Verdict::Suspect,
                at..at + length,
                of..of + length,
            );
            hit.run = u32::try_from(length).unwrap_or(u32::MAX);
            hits.push(hit);
        }
        if !is_compared && !is_near {
            return;
        }
        let inside = &row.numbers[part.at.clone()];
        let words = self.share(part.weight);
        let ngrams = NGRAMS.map(|(length, method)| (method, share_of_runs(&runs, &self.weights, length)));
        let ngram = ngrams[0].1;
        let is_reordered = words >= by.words_reordered && ngram >= by.ngram;
        // A lower value is neither compared nor written.
        let least = if is_reordered { 0.0 } else { by.rouge_l.min(by.rouge_l_suspect) };
        let rouge_l = best_rouge(&self.numbers, inside, least);
        let is_like = is_reordered || (words >= by.words && rouge_l >= by.rouge_l);
        let is_sure = is_like && n >= by.min_words && self.has_values_in(inside);
        let measures = [
            (Method::Ngram, ngram, by.ngram_suspect),
            (Method::Words, words, by.words_suspect),
            (Method::RougeL, rouge_l, by.rouge_l_suspect),
        ];
        for (method, score, suspect) in measures {
            if is_sure || (score >= suspect && is_long_enough) {
                let verdict = if is_sure { Verdict::Contaminated } else { Verdict::Suspect };
                hits.push(row.hit(self, method, score, verdict, part.at.clone(), 0..n));
            }
        }
        for &(method, share) in &ngrams[1..] {
            if share >= by.long_ngram_suspect && is_long_enough {
                hits.push(row.hit(self, method, share, Verdict::Suspect, part.at.clone(), 0..n));
            }
        }
    }

    /// Finds the surest place where all its words are in a row one after the other; of several the first.
    fn contained(&self, row: &Row<'_>, by: &QueryThresholds) -> Option<(usize, Verdict)> {
        let n = self.numbers.len();
        let places = row.numbers.windows(n).enumerate().filter(|(_, words)| *words == self.numbers);
        surest(places.filter_map(|(start, _)| {
            let is_inside = n >= by.contained_words && self.weighs(by.contained_weight, FEWEST_TEXTS);
            let is_sentence = self.is_sentence(row, start) && self.weighs(by.sentence_weight, FEWEST_TEXTS);
            if !self.is_small_talk && (is_inside || is_sentence) {
                return Some((start, Verdict::Contaminated));
            }
            (n >= by.contained_words).then_some((start, Verdict::Suspect))
        }))
    }

    /// Whether the words of a row from `start` on, as many as it has, are whole sentences or lines. A single word or a name must
    /// be between the ends of others.
    fn is_sentence(&self, row: &Row<'_>, start: usize) -> bool {
        let n = self.words.len();
        let after = row.words.get(start + n).map_or(Gap::Strong, |word| word.before);
        let before = row.words[start].before;
        let (open, close) = (before.min(after), before.max(after));
        let is_name = || self.words[1..].iter().all(|word| word.mask == Mask::Name);
        close == Gap::Strong && (open == Gap::Strong || (open == Gap::Weak && !is_name()))
    }

    /// Whether it is looked for with other numbers inside longer messages.
    pub(super) fn is_template(&self, by: &QueryThresholds) -> bool {
        let n_plain = self.n_plain(super::NUMBERS);
        n_plain < self.words.len() && n_plain >= by.template_words
    }

    /// Returns its different words that are no numbers, from the heaviest, with how often it has them.
    pub(super) fn plain_words(&self) -> Vec<(u32, u32)> {
        let is_plain =
            |number: u32| self.words.iter().any(|word| word.number == number && word.mask != Mask::Number);
        self.distinct
            .iter()
            .filter(|(word, ..)| is_plain(*word))
            .map(|(word, _, times)| (*word, *times))
            .collect()
    }

    /// Finds the surest place where all its words are in a row with other numbers; of several the first.
    fn template_inside(&self, row: &Row<'_>, by: &QueryThresholds) -> Option<(usize, Verdict)> {
        let n = self.words.len();
        if !self.is_template(by) {
            return None;
        }
        let is_like = |(own, other): (&Word, &Word)| {
            own.number == other.number || (own.mask == Mask::Number && other.mask == Mask::Number)
        };
        let places =
            row.words.windows(n).enumerate().filter(|(_, words)| self.words.iter().zip(*words).all(is_like));
        surest(places.map(|(start, _)| {
            let is_sure = n >= by.min_words || self.is_sentence(row, start);
            (start, if is_sure { Verdict::Contaminated } else { Verdict::Suspect })
        }))
    }

    /// Whether a hit is of this message and a message of a row.
    fn is_of(&self, hit: &Hit, row: &Row<'_>) -> bool {
        (hit.entry, hit.in_entry.0, hit.in_row.0) == (self.entry, self.turn, row.turn)
    }

    /// Whether a part of a row has all its numbers, names and quoted words.
    fn has_values_in(&self, part: &[u32]) -> bool {
        self.words.iter().filter(|word| word.mask != Mask::None).all(|word| part.contains(&word.number))
    }
}

/// A message of a row.
pub(super) struct Row<'a> {
    pub(super) turn: u32,
    /// The row has other messages.
    pub(super) is_conversation: bool,
    pub(super) words: &'a [Word],
    pub(super) numbers: &'a [u32],
}

impl Row<'_> {
    /// Returns a hit on some of its words.
    pub(super) fn hit(
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
            run: 0,
        }
    }
}

/// Returns the surest of some places; of several the first.
fn surest(places: impl Iterator<Item = (usize, Verdict)>) -> Option<(usize, Verdict)> {
    places.fold(None, |found: Option<(usize, Verdict)>, (start, verdict)| match found {
        Some((_, known)) if known >= verdict => found,
        _ => Some((start, verdict)),
    })
}

/// Returns the bytes of some words.
fn bytes(words: &[Word], at: Range<usize>) -> Range<usize> {
    match (words.get(at.start), at.end.checked_sub(1).and_then(|last| words.get(last))) {
        (Some(first), Some(last)) => first.at.start..last.at.end,
        _ => 0..0,
    }
}
