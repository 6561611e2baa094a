//! Texts as numbered words with their places, for the comparison of a benchmark with a training set.
//!
//! The vocabulary is that of the benchmark: a word that it lacks can match nothing, so all such words share one number and
//! a training set of any size needs no further memory.

use std::borrow::Cow;
use std::cell::RefCell;
use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};
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
    numbers: FxHashMap<Box<str>, u32>,
    /// Two words with a hyphen between, as people write them without.
    glued: FxHashMap<Box<str>, Glued>,
    /// The words that it has without a hyphen, too.
    glued_words: FxHashSet<u32>,
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
        let found = words(&text.text, |word| {
            if let Some(&number) = self.numbers.get(word) {
                return number;
            }
            let number = u32::try_from(self.numbers.len()).unwrap_or(UNKNOWN);
            self.numbers.insert(word.into(), number);
            if self.glued.contains_key(word) {
                self.glued_words.insert(number);
            }
            number
        });
        for (at, pair) in found.windows(2).enumerate() {
            let [one, other] = [pair[0].at.clone(), pair[1].at.clone()].map(|at| &text.text[at]);
            let is_plain = |word: &str| word.bytes().all(|byte| byte.is_ascii_alphabetic());
            if &text.text[pair[0].at.end..pair[1].at.start] == "-" && is_plain(one) && is_plain(other) {
                let whole = format!("{one}{other}").to_ascii_lowercase();
                self.glued_words.extend(self.numbers.get(whole.as_str()));
                let (length, numbers) = (one.len(), [pair[0].number, pair[1].number]);
                let glued = self.glued.entry(whole.into()).or_insert(Glued {
                    length,
                    numbers,
                    neighbours: Vec::new(),
                });
                // Of two places of a hyphen (`no-table`, `not-able`) the first counts.
                if glued.length == length && glued.neighbours.len() < MOST_NEIGHBOURS {
                    glued.neighbours.push(neighbours(&found, at, at + 1));
                }
            }
        }
        found
    }

    /// Returns the words of another text. A word that the benchmark has only with a hyphen is two, and so is one that it has with a
    /// hyphen between the same words.
    pub(super) fn read(&self, text: &Shown<'_>) -> Vec<Word> {
        let found = words(&text.text, |word| self.numbers.get(word).copied().unwrap_or(UNKNOWN));
        if self.glued.is_empty() {
            return found;
        }
        let mut folded = String::new();
        let mut parts = |at: usize| {
            let word = &found[at];
            if word.number != UNKNOWN && !self.glued_words.contains(&word.number) {
                return None;
            }
            folded.clear();
            folded.push_str(&text.text[word.at.clone()]);
            folded.make_ascii_lowercase();
            let glued = self.glued.get(folded.as_str())?;
            let is_two = word.number == UNKNOWN || glued.neighbours.contains(&neighbours(&found, at, at));
            is_two.then_some((glued.length, glued.numbers))
        };
        // Hardly any text has such a word.
        let Some(first) = (0..found.len()).find(|at| parts(*at).is_some()) else { return found };
        let parts: Vec<Option<(usize, [u32; 2])>> =
            (0..found.len()).map(|at| if at < first { None } else { parts(at) }).collect();
        let split = |(word, parts): (Word, Option<(usize, [u32; 2])>)| match parts {
            None => vec![word],
            Some((length, [one, other])) => {
                let middle = word.at.start + length;
                let second =
                    Word { number: other, at: middle..word.at.end, before: Gap::Inside, ..word.clone() };
                vec![Word { number: one, at: word.at.start..middle, ..word }, second]
            }
        };
        found.into_iter().zip(parts).flat_map(split).collect()
    }

    /// The number of words.
    pub(super) fn len(&self) -> usize {
        self.numbers.len()
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
fn words(text: &str, mut number: impl FnMut(&str) -> u32) -> Vec<Word> {
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
        let mask = if word.contains(|c: char| c.is_numeric()) {
            Mask::Number
        } else if quote.is_some() {
            Mask::Quoted
        } else if !begins_sentence && word.starts_with(char::is_uppercase) && word != "I" {
            Mask::Name
        } else {
            Mask::None
        };
        let key: Cow<'_, str> = if !word.is_ascii() {
            Cow::Owned(normalise(word))
        } else if word.bytes().any(|byte| byte.is_ascii_uppercase()) {
            folded.clear();
            folded.extend(word.chars().map(|c| c.to_ascii_lowercase()));
            Cow::Borrowed(folded.as_str())
        } else {
            Cow::Borrowed(word)
        };
        let before = if is_first { Gap::Strong } else { Gap::of(between, word) };
        last_end = at.end;
        begins_sentence = false;
        found.push(Word { number: number(&key), at, mask, before });
    }
    found
}

/// Returns the places of the words of a text.
fn spans(text: &str) -> Vec<Range<usize>> {
    let mut spans: Vec<Range<usize>> = Vec::with_capacity(text.len() / 5);
    let mut is_after_number = false;
    let mut add = |at: Range<usize>| {
        let is_number = text[at.clone()].bytes().all(|byte| byte.is_ascii_digit());
        match spans.last_mut() {
            // `1.5` and `10,000`.
            Some(last) if is_number && is_after_number && matches!(&text[last.end..at.start], "." | ",") => {
                last.end = at.end;
            }
            _ => spans.push(at),
        }
        is_after_number = is_number;
    };
    let mut start = None;
    if text.is_ascii() {
        for (at, byte) in text.bytes().enumerate() {
            if byte.is_ascii_alphanumeric() {
                start = start.or(Some(at));
            } else if let Some(from) = start.take() {
                add(from..at);
            }
        }
    } else {
        for (at, grapheme) in text.grapheme_indices(true) {
            let is_word = grapheme.starts_with(char::is_alphanumeric);
            let stands_alone = grapheme.starts_with(is_unspaced);
            if (!is_word || stands_alone)
                && let Some(from) = start.take()
            {
                add(from..at);
            }
            if is_word && stands_alone {
                add(at..at + grapheme.len());
            } else if is_word {
                start = start.or(Some(at));
            }
        }
    }
    if let Some(from) = start {
        add(from..text.len());
    }
    spans
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
}
