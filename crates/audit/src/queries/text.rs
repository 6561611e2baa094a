//! A message of the benchmark, and its comparison with a message of a row.

use std::ops::Range;

use super::super::hit::{Method, Verdict};
use super::super::thresholds::QueryThresholds;
use super::super::words::{Gap, Mask, Word};
use super::candidates::HEAVIEST;
use super::found::Finding;
use super::measures::Places;
use super::overlap::Overlap;

/// Lengths of runs of words whose shares are measured.
pub(super) const NGRAMS: [(usize, Method); 4] =
    [(3, Method::Ngram), (5, Method::Ngram5), (8, Method::Ngram8), (13, Method::Ngram13)];
/// The whole weight of a word of weight 1; sums of whole numbers do not depend on their order.
const UNIT: f64 = 1e6;

/// A message of the benchmark. Entries with the same message have one.
#[derive(Debug)]
pub(super) struct Text {
    /// The entries that have it.
    pub(super) places: Vec<Place>,
    /// As it is.
    pub(super) content: Box<str>,
    pub(super) words: Vec<Word>,
    pub(super) numbers: Vec<u32>,
    /// The weight of its first words: of none, one, two, and so on.
    pub(super) sums: Vec<u64>,
    pub(super) total: u64,
    /// The weight of all its runs of each length in [`NGRAMS`].
    run_totals: [u64; NGRAMS.len()],
    /// The number of messages of the benchmark.
    n_texts: usize,
    kinds: Kinds,
    /// Its words after the first are all names.
    pub(super) is_name: bool,
    /// Its different words from the heaviest, with their weight and how often it has them.
    pub(super) distinct: Vec<(u32, u64, u32)>,
}

/// What a message is by its words.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kinds {
    /// It has no subject: inside others it proves nothing.
    pub(super) is_small_talk: bool,
    /// Everybody tries a model with it, or it is small talk.
    pub(super) is_popular: bool,
    /// It only answers a question for a value: with another value it is somebody else's answer.
    pub(super) is_slot_answer: bool,
}

/// Where a message of the benchmark is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) entry: u32,
    /// The number of the message in its entry.
    pub(super) turn: u32,
    /// Its entry has others.
    pub(super) is_conversation: bool,
}

/// Returns the weight of a word that is in some of n messages: ln(1 + n / some).
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Counts; weights are positive.
fn weight_of(n: usize, n_with: u32) -> u64 {
    ((1.0 + n as f64 / f64::from(n_with)).ln() * UNIT).round() as u64
}

/// Fewest different words of a message that is not found inside others by chance.
const FEWEST_DIFFERENT: usize = 3;

/// A smaller benchmark does not show which words are rare: its messages must weigh as much as in one of so many messages.
const FEWEST_TEXTS: usize = 1000;

/// Returns the weight of each word. A message of several entries counts for each of them.
pub(super) fn weights(texts: &[Text], n_words: usize) -> Vec<u64> {
    let mut n_with = vec![0_u32; n_words];
    for text in texts {
        let mut distinct = text.numbers.clone();
        distinct.sort_unstable();
        distinct.dedup();
        for word in distinct {
            n_with[word as usize] += text.n_places();
        }
    }
    let n_texts: u32 = texts.iter().map(Text::n_places).sum();
    n_with.iter().map(|n_with| weight_of(n_texts as usize, (*n_with).max(1))).collect()
}

impl Text {
    /// Returns a message without weights. It has at least one word.
    pub(super) fn new(text: &str, words: Vec<Word>, kinds: Kinds) -> Self {
        let numbers = words.iter().map(|word| word.number).collect();
        let is_name = words[1..].iter().all(|word| word.mask == Mask::Name);
        Self {
            places: Vec::new(),
            content: text.into(),
            words,
            numbers,
            sums: Vec::new(),
            total: 0,
            run_totals: [0; NGRAMS.len()],
            n_texts: 0,
            kinds,
            is_name,
            distinct: Vec::new(),
        }
    }

    fn n_places(&self) -> u32 {
        u32::try_from(self.places.len()).expect("a benchmark has fewer than 2^32 messages")
    }

    /// Weighs its words.
    pub(super) fn weigh(&mut self, weights: &[u64], n_texts: usize) {
        self.n_texts = n_texts;
        self.sums = Vec::with_capacity(self.numbers.len() + 1);
        self.total = 0;
        self.sums.push(0);
        for word in &self.numbers {
            self.total += weights[*word as usize];
            self.sums.push(self.total);
        }
        let of_runs = |length: usize| self.sums.windows(length + 1).map(|sums| sums[length] - sums[0]).sum();
        self.run_totals = NGRAMS.map(|(length, _)| of_runs(length));
        let mut sorted = self.numbers.clone();
        sorted.sort_unstable();
        let distinct = sorted.chunk_by(|one, other| one == other);
        let length = |words: &[u32]| u32::try_from(words.len()).unwrap_or(u32::MAX);
        self.distinct = distinct.map(|words| (words[0], weights[words[0] as usize], length(words))).collect();
        self.distinct.sort_by_key(|(word, weight, _)| (u64::MAX - weight, *word));
    }

    /// Returns how many words that no other message has weigh as much as it.
    #[allow(clippy::cast_precision_loss)] // Weights of words.
    pub(super) fn unique_words(&self) -> f64 {
        self.total as f64 / weight_of(self.n_texts.max(FEWEST_TEXTS), 1) as f64
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

    /// Returns the first of its heaviest runs of words; `None` if it is shorter.
    pub(super) fn heaviest_run(&self) -> Option<[u32; HEAVIEST]> {
        let weight = |at: usize| self.sums[at + HEAVIEST] - self.sums[at];
        let starts = 0..(self.numbers.len() + 1).checked_sub(HEAVIEST)?;
        let at = starts.max_by_key(|at| (weight(*at), std::cmp::Reverse(*at)))?;
        self.numbers.get(at..at + HEAVIEST)?.try_into().ok()
    }

    /// Returns the methods that can find it.
    pub(super) fn methods(&self, by: &QueryThresholds) -> Vec<Method> {
        let n = self.words.len();
        let mut methods = vec![Method::Exact];
        if !self.kinds.is_small_talk
            && (n >= by.contained_words || self.weighs(by.sentence_weight, FEWEST_TEXTS))
        {
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

    /// Returns what is found of an equal message, in an entry with or without other messages.
    pub(super) fn exact(&self, row: &Row<'_>, by: &QueryThresholds, is_conversation: bool) -> Finding {
        // “Thank you!” is a turn of many conversations.
        let is_turn = self.kinds.is_small_talk && (is_conversation || row.is_conversation);
        let is_sure = self.weighs(by.exact_weight, 1) && !is_turn && !self.kinds.is_popular;
        self.whole(row, Method::Exact, surely(is_sure))
    }

    /// Returns what a method finds that compares whole messages.
    pub(super) fn whole(&self, row: &Row<'_>, method: Method, verdict: Verdict) -> Finding {
        let (at, of) = ((0, row.words.len()), (0, self.words.len()));
        Finding { method, score: 1.0, verdict, at, of, run: 0 }
    }

    /// Returns whether an equal message is found otherwise in a conversation.
    pub(super) fn depends_on_conversation(&self) -> bool {
        self.kinds.is_small_talk
    }

    /// Adds what the methods find in a message of a row that is not equal. `places` are those of the row's words, `overlap` is what
    /// both have in common, `is_template` says whether both are equal as wholes but for numbers.
    pub(super) fn compare(
        &self,
        (row, places): (&Row<'_>, &Places),
        by: &QueryThresholds,
        overlap: &Overlap,
        is_template: bool,
        findings: &mut Vec<Finding>,
    ) {
        let n = self.numbers.len();
        let window = &overlap.window;
        let is_compared = self.share(window.weight) >= by.compared();
        let (of, at, length) = overlap.longest;
        let is_near = overlap.is_near;
        let mut find = |method, score, verdict, (at, of), run| {
            findings.push(Finding { method, score, verdict, at, of, run });
        };
        // All of its words weigh enough to be compared.
        let contained =
            if is_compared { overlap.contained(|| self.contained(row, places, by)) } else { None };
        if let Some((start, verdict)) = contained {
            find(Method::Contained, 1.0, verdict, ((start, start + n), (0, n)), 0);
        } else if !is_template
            && let Some((start, verdict)) = overlap.template(|| self.template_inside(row, places, by))
        {
            find(Method::Template, 1.0, verdict, ((start, start + n), (0, n)), 0);
        }
        if !is_compared && !is_near && length < by.longest_words {
            return;
        }
        let longest = self.share(overlap.longest_weight);
        let is_long_enough = n >= by.suspect_words || is_near;
        let is_long = length >= by.longest_words || (longest >= by.longest_suspect && is_long_enough);
        if !is_compared && !is_near {
            if is_long {
                let places = ((at, at + length), (of, of + length));
                find(Method::LongestMatch, longest, Verdict::Suspect, places, length);
            }
            return;
        }
        let words = self.share(window.weight);
        let mut ngrams = NGRAMS.map(|(_, method)| (method, 0.0));
        for (at, (_, share)) in ngrams.iter_mut().enumerate() {
            *share = ratio(overlap.held[at], self.run_totals[at]);
        }
        let ngram = ngrams[0].1;
        let is_reordered = words >= by.words_reordered && ngram >= by.ngram;
        // A lower value is neither compared nor written.
        let least = if is_reordered { 0.0 } else { by.rouge_l.min(by.rouge_l_suspect) };
        let rouge_l = overlap.rouge_l(&self.numbers, row.numbers, is_reordered, least);
        let is_like = is_reordered || (words >= by.words && rouge_l >= by.rouge_l);
        let is_sure = is_like && n >= by.min_words && overlap.has_values && !self.kinds.is_popular;
        let inside = ((window.at.start, window.at.end), (0, n));
        for &(method, share) in &ngrams[1..] {
            if share >= by.long_ngram_suspect && is_long_enough {
                find(method, share, Verdict::Suspect, inside, 0);
            }
        }
        if is_long {
            let places = ((at, at + length), (of, of + length));
            find(Method::LongestMatch, longest, Verdict::Suspect, places, length);
        }
        let measures = [
            (Method::Ngram, ngram, by.ngram_suspect),
            (Method::Words, words, by.words_suspect),
            (Method::RougeL, rouge_l, by.rouge_l_suspect),
        ];
        for (method, score, suspect) in measures {
            if is_sure || (score >= suspect && is_long_enough) {
                find(method, score, surely(is_sure), inside, 0);
            }
        }
    }

    /// Whether it has so few different words that inside a longer message it may be there by chance, however rare they are: a name, or
    /// one word several times.
    fn is_word(&self) -> bool {
        self.distinct.len() < FEWEST_DIFFERENT
    }

    /// Finds the surest place where all its words are in a row one after the other; of several the first.
    fn contained(&self, row: &Row<'_>, places: &Places, by: &QueryThresholds) -> Option<(usize, Verdict)> {
        let n = self.numbers.len();
        // In a text of somebody else a short message is a way to say something.
        let fewest = if row.is_verbatim { by.min_words } else { by.contained_words };
        let starts = places.of(self.numbers[0]);
        let places = starts.filter(|start| row.numbers[*start..].starts_with(&self.numbers));
        surest(places.filter_map(|start| {
            let is_inside = n >= fewest && self.weighs(by.contained_weight, FEWEST_TEXTS);
            let is_sentence = self.is_sentence(row, start) && self.weighs(by.sentence_weight, FEWEST_TEXTS);
            if !self.kinds.is_popular && (is_inside || is_sentence && !row.is_verbatim) {
                return Some((start, surely(!self.is_word())));
            }
            (n >= fewest).then_some((start, Verdict::Suspect))
        }))
    }

    /// Whether the words of a row from `start` on, as many as it has, are whole sentences or lines. A single word or a name must
    /// be between the ends of others.
    fn is_sentence(&self, row: &Row<'_>, start: usize) -> bool {
        let n = self.words.len();
        let after = row.words.get(start + n).map_or(Gap::Strong, |word| word.before);
        let before = row.words[start].before;
        let (open, close) = (before.min(after), before.max(after));
        close == Gap::Strong && (open == Gap::Strong || (open == Gap::Weak && !self.is_name))
    }

    /// Whether a message with other values is another one.
    pub(super) fn is_slot_answer(&self) -> bool {
        self.kinds.is_slot_answer
    }

    /// Whether it is looked for with other numbers inside longer messages.
    pub(super) fn is_template(&self, by: &QueryThresholds) -> bool {
        let n_plain = self.n_plain(super::NUMBERS);
        n_plain < self.words.len() && n_plain >= by.template_words
    }

    /// Whether it has this word as another one than a number.
    pub(super) fn has_plain(&self, number: u32) -> bool {
        self.words.iter().any(|word| word.number == number && word.mask != Mask::Number)
    }

    /// Returns its different words that are no numbers, from the heaviest, with how often it has them.
    pub(super) fn plain_words(&self) -> Vec<(u32, u32)> {
        self.distinct
            .iter()
            .filter(|(word, ..)| self.has_plain(*word))
            .map(|(word, _, times)| (*word, *times))
            .collect()
    }

    /// Finds the surest place where all its words are in a row with other numbers; of several the first.
    fn template_inside(
        &self,
        row: &Row<'_>,
        places: &Places,
        by: &QueryThresholds,
    ) -> Option<(usize, Verdict)> {
        let n = self.words.len();
        if !self.is_template(by) {
            return None;
        }
        let is_like = |(own, other): (&Word, &Word)| {
            own.number == other.number || (own.mask == Mask::Number && other.mask == Mask::Number)
        };
        // The first plain word is compared first: a list of numbers is like any other.
        let plain = self.words.iter().position(|word| word.mask != Mask::Number)?;
        let starts = places.of(self.numbers[plain]).filter_map(|at| at.checked_sub(plain));
        let places = starts.filter(|start| {
            let words = row.words.get(*start..start + n);
            words.is_some_and(|words| self.words.iter().zip(words).all(is_like))
        });
        surest(places.map(|start| {
            let is_long = n >= by.min_words || self.is_sentence(row, start);
            (start, surely(is_long && !self.kinds.is_slot_answer && !self.is_word()))
        }))
    }
}

/// A message of a row.
pub(super) struct Row<'a> {
    pub(super) turn: u32,
    /// The row has other messages.
    pub(super) is_conversation: bool,
    /// It is a text of somebody else, of which only parts that are word by word those of the benchmark count.
    pub(super) is_verbatim: bool,
    pub(super) words: &'a [Word],
    pub(super) numbers: &'a [u32],
}

fn surely(is_sure: bool) -> Verdict {
    if is_sure { Verdict::Contaminated } else { Verdict::Suspect }
}

#[allow(clippy::cast_precision_loss)] // Weights of words, far below 2^53.
fn ratio(held: u64, total: u64) -> f64 {
    if total == 0 { 0.0 } else { held as f64 / total as f64 }
}

/// Returns the surest of some places; of several the first.
fn surest(places: impl Iterator<Item = (usize, Verdict)>) -> Option<(usize, Verdict)> {
    places.fold(None, |found: Option<(usize, Verdict)>, (start, verdict)| match found {
        Some((_, known)) if known >= verdict => found,
        _ => Some((start, verdict)),
    })
}

/// Returns the bytes of some words.
pub(super) fn bytes(words: &[Word], (start, end): (usize, usize)) -> Range<usize> {
    match (words.get(start), end.checked_sub(1).and_then(|last| words.get(last))) {
        (Some(first), Some(last)) => first.at.start..last.at.end,
        _ => 0..0,
    }
}
