//! Texts as numbered words with their places, for the comparison of a benchmark with a training set.
//!
//! The vocabulary is that of the benchmark: a word that it lacks can match nothing, so all such words share one number and
//! a training set of any size needs no further memory.

use std::cell::RefCell;
use std::ops::Range;

use rustc_hash::FxHashMap;
use unicode_segmentation::UnicodeSegmentation as _;

use super::shown::Shown;
use callsieve_text::lcs::LcsScratch;
use callsieve_text::normal::normalise;
use callsieve_text::words::is_unspaced;

/// A word that the benchmark does not have.
pub(super) const UNKNOWN: u32 = u32::MAX;

/// One word of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    /// Its number in the vocabulary, or [`UNKNOWN`].
    pub(super) number: u32,
    /// Its bytes in the text.
    pub(super) at: Range<usize>,
    /// What kind of value it may be.
    pub(super) mask: Mask,
    /// What is between it and the word before.
    pub(super) before: Gap,
}

/// What is between two words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Gap {
    /// A space, or a mark inside a sentence.
    Inside,
    /// A comma or a bracket; or a space, and the next word has a capital: a sentence without a full stop may end here.
    Weak,
    /// The end of a sentence or line; the start of the text.
    Strong,
}

impl Gap {
    fn of(between: &str, next: &str) -> Self {
        if between == " " {
            return if next.starts_with(char::is_uppercase) { Self::Weak } else { Self::Inside };
        }
        // `9:45` and `harbour.tide` are inside a sentence.
        let is_joined = between.len() == 1 || between == "–";
        let mut gap = Self::Inside;
        for c in between.chars() {
            gap = gap.max(match c {
                '.' | ':' | ',' | '-' | '–' if is_joined => Self::Inside,
                ',' | '-' | '–' | '—' | '，' | '、' | '|' | '*' | '(' | ')' | '[' | ']' | '{' | '}' | '<'
                | '>' => Self::Weak,
                '.' | '!' | '?' | ':' | ';' | '\n' | '\r' | '。' | '！' | '？' | '：' | '；' | '…' => {
                    Self::Strong
                }
                // Values are quoted inside sentences.
                _ => Self::Inside,
            });
        }
        // A quotation is inside its sentence.
        let is_blank = !between.is_empty() && between.chars().all(char::is_whitespace);
        if gap == Self::Inside && is_blank && next.starts_with(char::is_uppercase) {
            gap = Self::Weak;
        }
        gap
    }
}

/// The kind of value that a word is by its form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Mask {
    /// A plain word.
    None,
    /// A number, or a word with a digit.
    Number,
    /// A name: a capital inside a sentence.
    Name,
    /// A word between quotation marks.
    Quoted,
}

/// The words of the benchmark, numbered.
#[derive(Debug, Default)]
pub(super) struct Vocabulary {
    known: WordMap,
    /// The number of words.
    n_words: u32,
    glued: Vec<Glued>,
}

/// Two words that the benchmark has with a hyphen between.
#[derive(Debug)]
struct Glued {
    /// The bytes of the first.
    length: usize,
    /// Their numbers.
    numbers: [u32; 2],
    /// The words before and after them, in each text.
    neighbours: Vec<[Option<u32>; 2]>,
}

impl Vocabulary {
    /// Returns the words of a benchmark text, with their places in the text as shown; new ones get the next number.
    pub(super) fn learn(&mut self, text: &Shown<'_>) -> Vec<Word> {
        let found = words(&text.text, |key| {
            let known = self.known.entry(key);
            if known.number == UNKNOWN {
                known.number = self.n_words;
                self.n_words += 1;
            }
            known.number
        });
        for (at, pair) in found.windows(2).enumerate() {
            let [one, other] = [pair[0].at.clone(), pair[1].at.clone()].map(|at| &text.text[at]);
            let is_plain = |word: &str| word.bytes().all(|byte| byte.is_ascii_alphabetic());
            if &text.text[pair[0].at.end..pair[1].at.start] == "-" && is_plain(one) && is_plain(other) {
                let whole = format!("{one}{other}").to_ascii_lowercase();
                let known = self.known.entry(Key::of(&whole));
                if known.glued == NOT_GLUED {
                    known.glued = u32::try_from(self.glued.len()).unwrap_or(NOT_GLUED);
                    let numbers = [pair[0].number, pair[1].number];
                    self.glued.push(Glued { length: one.len(), numbers, neighbours: Vec::new() });
                }
                let Some(glued) = self.glued.get_mut(known.glued as usize) else { continue };
                // Of two places of a hyphen (`no-table`, `not-able`) the first counts.
                if glued.length == one.len() && glued.neighbours.len() < MOST_NEIGHBOURS {
                    glued.neighbours.push(neighbours(&found, at, at + 1));
                }
            }
        }
        found
    }

    /// Returns the words of another text. A word that the benchmark has only with a hyphen is two, and so is one that it has with a
    /// hyphen between the same words.
    pub(super) fn read(&self, text: &Shown<'_>) -> Vec<Word> {
        let (mut at, mut glued) = (0, Vec::new());
        let found = words(&text.text, |key| {
            let known = self.known.get(key);
            if known.glued != NOT_GLUED {
                glued.push((at, known.glued));
            }
            at += 1;
            known.number
        });
        // Hardly any text has such a word.
        if glued.is_empty() {
            return found;
        }
        let is_two = |&(at, glued): &(usize, u32)| {
            let (word, glued) = (&found[at], &self.glued[glued as usize]);
            // Other letters than those of ASCII may be written in several ways.
            text.text[word.at.clone()].is_ascii()
                && (word.number == UNKNOWN || glued.neighbours.contains(&neighbours(&found, at, at)))
        };
        glued.retain(is_two);
        let mut glued = glued.into_iter().peekable();
        let split = |(at, word): (usize, Word)| match glued.next_if(|(of, _)| *of == at) {
            None => vec![word],
            Some((_, glued)) => {
                let Glued { length, numbers: [one, other], .. } = self.glued[glued as usize];
                let middle = word.at.start + length;
                let second =
                    Word { number: other, at: middle..word.at.end, before: Gap::Inside, ..word.clone() };
                vec![Word { number: one, at: word.at.start..middle, ..word }, second]
            }
        };
        found.into_iter().enumerate().flat_map(split).collect()
    }

    /// The number of words.
    pub(super) fn len(&self) -> usize {
        self.n_words as usize
    }
}

/// What the benchmark has of a word.
#[derive(Debug, Clone, Copy)]
struct Known {
    /// The number of the word, or [`UNKNOWN`].
    number: u32,
    /// The place of the two words that it is with a hyphen, or [`NOT_GLUED`].
    glued: u32,
}

const NOT_GLUED: u32 = u32::MAX;

impl Known {
    const NOTHING: Self = Self { number: UNKNOWN, glued: NOT_GLUED };
}

/// What is known of words. Most are so short that the key is a number, which is compared without a look elsewhere in memory.
#[derive(Debug, Default)]
struct WordMap {
    short: FxHashMap<u128, Known>,
    long: FxHashMap<Box<str>, Known>,
}

/// A word in folded case.
#[derive(Debug, Clone, Copy)]
enum Key<'w> {
    /// Its bytes, the first of them lowest, and zeros.
    Short(u128),
    /// One of more bytes.
    Long(&'w str),
}

/// The most bytes of a short word.
const SHORT: usize = size_of::<u128>();

impl<'w> Key<'w> {
    fn of(word: &'w str) -> Self {
        if word.len() > SHORT {
            return Self::Long(word);
        }
        let packed = word.bytes().rev().fold(0, |packed, byte| packed << 8 | u128::from(byte));
        Self::Short(packed)
    }
}

impl WordMap {
    fn get(&self, key: Key<'_>) -> Known {
        let known = match key {
            Key::Short(packed) => self.short.get(&packed),
            Key::Long(word) => self.long.get(word),
        };
        known.copied().unwrap_or(Known::NOTHING)
    }

    fn entry(&mut self, key: Key<'_>) -> &mut Known {
        match key {
            Key::Short(packed) => self.short.entry(packed).or_insert(Known::NOTHING),
            Key::Long(word) => self.long.entry(word.into()).or_insert(Known::NOTHING),
        }
    }
}

/// The most places of a word with a hyphen whose neighbours are known.
const MOST_NEIGHBOURS: usize = 16;

/// Returns the words before one and after another; `None` at the ends of a text.
fn neighbours(words: &[Word], from: usize, to: usize) -> [Option<u32>; 2] {
    [from.checked_sub(1), to.checked_add(1)].map(|at| words.get(at?).map(|word| word.number))
}

/// Makes the places of words those of the text as written.
pub(super) fn place_in_text(words: &mut [Word], text: &Shown<'_>) {
    if text.is_as_written() {
        return;
    }
    for word in words {
        word.at = text.back(word.at.clone());
    }
}

thread_local! {
    static SCRATCH: RefCell<LcsScratch> = RefCell::new(LcsScratch::new());
}

/// Returns the length of the longest common subsequence of two texts. Words that the benchmark lacks are common to none.
pub(super) fn n_common(text: &[u32], row: &[u32]) -> usize {
    SCRATCH.with_borrow_mut(|scratch| {
        if row.contains(&UNKNOWN) {
            let known: Vec<u32> = row.iter().copied().filter(|number| *number != UNKNOWN).collect();
            return scratch.lcs(text, &known);
        }
        scratch.lcs(text, row)
    })
}

/// Reads the words of a text: runs of letters and digits in folded case, numbers with their points and commas; a character
/// of a script without spaces is a word.
fn words(text: &str, mut number: impl FnMut(Key<'_>) -> u32) -> Vec<Word> {
    let spans = spans(text);
    let mut found = Vec::with_capacity(spans.len());
    let mut folded = String::new();
    let (mut begins_sentence, mut quote, mut last_end) = (true, None, 0);
    for at in spans {
        let is_first = found.is_empty();
        let word = &text[at.clone()];
        let between = &text[last_end..at.start];
        // Most words have a space between them.
        if between != " " {
            begins_sentence |= between.contains(['.', '!', '?', ':', '\n']);
            for c in between.chars() {
                quote = match (quote, c) {
                    (None, '"' | '“' | '«' | '`') => Some(c),
                    (Some(_), '"' | '”' | '»' | '`') => None,
                    (same, _) => same,
                };
            }
        }
        let signs = Signs::of(word);
        let mask = if signs.has_digit {
            Mask::Number
        } else if quote.is_some() {
            Mask::Quoted
        } else if !begins_sentence && word.starts_with(char::is_uppercase) && word != "I" {
            Mask::Name
        } else {
            Mask::None
        };
        let key = if let Some(packed) = signs.folded {
            Key::Short(packed)
        } else {
            folded.clear();
            if word.is_ascii() {
                folded.push_str(word);
                folded.make_ascii_lowercase();
            } else {
                folded.push_str(&normalise(word));
            }
            Key::of(&folded)
        };
        let before = if is_first { Gap::Strong } else { Gap::of(between, word) };
        last_end = at.end;
        begins_sentence = false;
        found.push(Word { number: number(key), at, mask, before });
    }
    found
}

/// What a word shows by its bytes.
struct Signs {
    has_digit: bool,
    /// A short word of ASCII in folded case, as a [`Key`].
    folded: Option<u128>,
}

impl Signs {
    fn of(word: &str) -> Self {
        if word.len() > SHORT || !word.is_ascii() {
            return Self { has_digit: word.contains(char::is_numeric), folded: None };
        }
        let (mut has_digit, mut folded) = (false, 0);
        for byte in word.bytes().rev() {
            has_digit |= byte.is_ascii_digit();
            folded = folded << 8 | u128::from(byte.to_ascii_lowercase());
        }
        Self { has_digit, folded: Some(folded) }
    }
}

/// Returns the places of the words of a text.
fn spans(text: &str) -> Vec<Range<usize>> {
    let mut spans = Spans { text, found: Vec::with_capacity(text.len() / 5), is_after_number: false };
    let mut start = None;
    if text.is_ascii() {
        let bytes = text.as_bytes();
        let length = |from: usize, is_word: bool| {
            bytes[from..].iter().take_while(|byte| byte.is_ascii_alphanumeric() == is_word).count()
        };
        let mut at = length(0, false);
        while at < bytes.len() {
            let end = at + length(at, true);
            spans.add(at..end);
            at = end + length(end, false);
        }
    } else {
        for (at, grapheme) in text.grapheme_indices(true) {
            let is_word = grapheme.starts_with(char::is_alphanumeric);
            let stands_alone = grapheme.starts_with(is_unspaced);
            if (!is_word || stands_alone)
                && let Some(from) = start.take()
            {
                spans.add(from..at);
            }
            if is_word && stands_alone {
                spans.add(at..at + grapheme.len());
            } else if is_word {
                start = start.or(Some(at));
            }
        }
    }
    if let Some(from) = start {
        spans.add(from..text.len());
    }
    spans.found
}

/// The places of words that were found.
struct Spans<'t> {
    text: &'t str,
    found: Vec<Range<usize>>,
    /// The last one is digits alone.
    is_after_number: bool,
}

impl Spans<'_> {
    fn add(&mut self, at: Range<usize>) {
        let is_number = self.text.as_bytes()[at.clone()].iter().all(u8::is_ascii_digit);
        match self.found.last_mut() {
            // `1.5` and `10,000`.
            Some(last)
                if is_number
                    && self.is_after_number
                    && matches!(&self.text[last.end..at.start], "." | ",") =>
            {
                last.end = at.end;
            }
            _ => self.found.push(at),
        }
        self.is_after_number = is_number;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<(&str, Mask)> {
        let words = Vocabulary::default().learn(&Shown::of(text));
        words.iter().map(|word| (&text[word.at.clone()], word.mask)).collect()
    }

    #[test]
    fn words_have_their_places_and_kinds() {
        let expected = [
            ("Don", Mask::None),
            ("t", Mask::None),
            ("ring", Mask::None),
            ("in", Mask::None),
            ("Oslo", Mask::Name),
            ("at", Mask::None),
            ("10", Mask::Number),
            ("a1", Mask::Number),
            ("the", Mask::Quoted),
            ("bell", Mask::Quoted),
            ("Now", Mask::None),
        ];
        assert_eq!(read("Don't ring in Oslo at 10, a1 \"the bell\". Now"), expected);
        assert_eq!(
            read("天気 à Lyon").iter().map(|(word, _)| *word).collect::<Vec<_>>(),
            ["天", "気", "à", "Lyon"]
        );
    }

    #[test]
    fn sentences_and_lines_end_between_words() {
        let gaps = |text: &str| {
            Vocabulary::default().learn(&Shown::of(text)).iter().map(|word| word.before).collect::<Vec<_>>()
        };
        let (inside, weak, strong) = (Gap::Inside, Gap::Weak, Gap::Strong);
        assert_eq!(gaps("a b. c"), [strong, inside, strong]);
        assert_eq!(gaps("a, b C\nd"), [strong, weak, weak, strong]);
        assert_eq!(
            gaps("don't say 'a b' twice-over"),
            [strong, inside, inside, inside, inside, inside, inside]
        );
        assert_eq!(gaps("say \"a b\" (c): d"), [strong, inside, inside, weak, strong]);
        assert_eq!(gaps("天。气"), [strong, strong]);
    }

    #[test]
    fn a_number_is_one_word_with_its_points_and_commas() {
        let words = |text: &str| read(text).into_iter().map(|(word, _)| word.to_owned()).collect::<Vec<_>>();
        assert_eq!(words("1.5 km, 10,000.25, 3. 4,a"), ["1.5", "km", "10,000.25", "3", "4", "a"]);
        assert_eq!(words("é 1.5"), ["é", "1.5"]);
    }

    #[test]
    fn case_width_and_unknown_words_do_not_count() {
        let mut vocabulary = Vocabulary::default();
        let learnt: Vec<u32> =
            vocabulary.learn(&Shown::of("Ring the BELL")).iter().map(|word| word.number).collect();
        assert_eq!((learnt, vocabulary.len()), (vec![0, 1, 2], 3));
        let numbers: Vec<u32> =
            vocabulary.read(&Shown::of("ｒｉｎｇ THE gong")).iter().map(|word| word.number).collect();
        assert_eq!(numbers, [0, 1, UNKNOWN]);
    }

    /// The words of a text as they are defined: number, place, kind and gap, each found by itself.
    fn simple(text: &str, known: &[&str]) -> Vec<(u32, Range<usize>, Mask)> {
        let starts = |at: usize| text[at..].graphemes(true).next().unwrap_or_default();
        let is_word = |at: usize| starts(at).starts_with(char::is_alphanumeric);
        let mut spans: Vec<Range<usize>> = Vec::new();
        for (at, grapheme) in text.grapheme_indices(true).filter(|(at, _)| is_word(*at)) {
            let is_alone = grapheme.starts_with(is_unspaced);
            match spans.last_mut() {
                Some(last) if last.end == at && !is_alone && !text[last.clone()].ends_with(is_unspaced) => {
                    last.end = at + grapheme.len();
                }
                _ => spans.push(at..at + grapheme.len()),
            }
        }
        let is_number = |at: &Range<usize>| text[at.clone()].bytes().all(|byte| byte.is_ascii_digit());
        let mut joined: Vec<(Range<usize>, bool)> = Vec::new();
        for at in spans {
            let is_next = is_number(&at);
            match joined.last_mut() {
                Some((last, is_last))
                    if *is_last && is_next && [".", ","].contains(&&text[last.end..at.start]) =>
                {
                    last.end = at.end;
                }
                _ => joined.push((at, is_next)),
            }
        }
        let (mut found, mut is_quoted, mut end) = (Vec::new(), false, 0);
        for (at, _) in joined {
            let (between, word) = (&text[end..at.start], &text[at.clone()]);
            for c in between.chars() {
                is_quoted = if is_quoted { !"\"”»`".contains(c) } else { "\"“«`".contains(c) };
            }
            let is_inside = end > 0 && !between.contains(['.', '!', '?', ':', '\n']);
            let mask = match () {
                () if word.contains(char::is_numeric) => Mask::Number,
                () if is_quoted => Mask::Quoted,
                () if is_inside && word.starts_with(char::is_uppercase) && word != "I" => Mask::Name,
                () => Mask::None,
            };
            let folded = normalise(word);
            let number = known.iter().position(|known| *known == folded);
            end = at.end;
            found.push((number.map_or(UNKNOWN, |at| u32::try_from(at).unwrap()), at, mask));
        }
        found
    }

    proptest::proptest! {
        #[test]
        fn words_are_those_of_the_simple_reading(
            text in r#"([a-zA-ZéßＡ天気0-9٣.,:!?"“”`\n -]|ring|Ring|RING|the great bell of|averyveryverylongword|sixteenbyteslong|I |1,000|3\.5|n\u{303}){0,24}"#
        ) {
            let known = ["ring", "bell", "averyveryverylongword", "sixteenbyteslong", "é", "1,000", "天", "a"];
            let mut vocabulary = Vocabulary::default();
            vocabulary.learn(&Shown::of(&known.join(" ")));
            let found: Vec<_> = words(&text, |key| vocabulary.known.get(key).number)
                .into_iter()
                .map(|word| (word.number, word.at, word.mask))
                .collect();
            proptest::prop_assert_eq!(found, simple(&text, &known));
        }
    }
}
