//! Words and groups of words of a text, as letters without separators.

use super::OriginalPart;
use super::index::Index;

/// Maximum number of bytes between two words of a group.
const MAX_GAP: usize = 3;
/// Maximum number of words of a group.
const MAX_WORDS: usize = 64;
/// Bytes before and after a piece in which a word can announce it.
const NEAR: usize = 32;
/// Minimum number of digits in a longer word.
const LEAST_DIGITS: usize = super::LEAST_DIGITS;

/// Words that announce a piece of a number, in any of a few languages; an ending may follow.
const ANNOUNCING: [&str; 44] = [
    "ending",
    "ends",
    "last",
    "final",
    "first",
    "starting",
    "starts",
    "begin",
    "prefix",
    "suffix",
    "digits",
    "bin",
    "endet",
    "endend",
    "letzte",
    "erste",
    "endziffer",
    "ziffer",
    "stelle",
    "beginn",
    "dernier",
    "premier",
    "terminant",
    "finissant",
    "chiffre",
    "finit",
    "últim",
    "ultim",
    "primer",
    "termin",
    "acab",
    "dígito",
    "cifra",
    "cifre",
    "prime",
    "laatste",
    "eerste",
    "eindig",
    "cijfer",
    "sidste",
    "siste",
    "sista",
    "første",
    "ostatni",
];
/// Signs that stand for the letters left out.
const MASKS: [char; 6] = ['*', '•', '●', '…', '#', '·'];
/// The names of the digits: English, German, French, Spanish, Portuguese, Italian, Dutch.
const DIGITS: [[&str; 10]; 7] = [
    ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"],
    ["null", "eins", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun"],
    ["zéro", "un", "deux", "trois", "quatre", "cinq", "six", "sept", "huit", "neuf"],
    ["cero", "uno", "dos", "tres", "cuatro", "cinco", "seis", "siete", "ocho", "nueve"],
    ["zero", "um", "dois", "três", "quatro", "cinco", "seis", "sete", "oito", "nove"],
    ["zero", "uno", "due", "tre", "quattro", "cinque", "sei", "sette", "otto", "nove"],
    ["nul", "een", "twee", "drie", "vier", "vijf", "zes", "zeven", "acht", "negen"],
];
/// The bytes of the longest of these names.
const LONGEST_NAME: usize = 7;
/// Another name of zero in English.
const OH: &str = "oh";

/// Successive words of a text.
#[derive(Debug, Default)]
pub(super) struct Group {
    /// The first byte, and the byte after the last.
    pub(super) start: usize,
    pub(super) end: usize,
    /// The bytes of each word.
    pub(super) words: Vec<(usize, usize)>,
    /// Their letters and digits, in lower case.
    pub(super) letters: Vec<char>,
    /// The language, if the words are names of digits.
    spoken: Option<usize>,
}

impl Group {
    /// Adds a word of which the letters are not needed.
    pub(super) fn push(&mut self, start: usize, end: usize) {
        self.add((start, end), []);
    }

    fn add(&mut self, (start, end): (usize, usize), new: impl IntoIterator<Item = char>) {
        if self.words.is_empty() {
            self.start = start;
        }
        self.end = end;
        self.words.push((start, end));
        self.letters.extend(new);
    }

    fn cut(&mut self, n_words: usize, n_letters: usize) {
        self.words.truncate(n_words);
        self.letters.truncate(n_letters);
        self.end = self.words.last().map_or(self.start, |word| word.1);
    }

    /// Returns the text of the group with new letters; names of digits become names of the new digits.
    pub(super) fn filled(&self, view: &str, image: &[char]) -> String {
        let Some(language) = self.spoken else {
            return with_letters(&view[self.start..self.end], image.iter().copied());
        };
        let mut text = String::new();
        let mut done = self.start;
        for (&(start, end), digit) in self.words.iter().zip(image) {
            text.push_str(&view[done..start]);
            let digit = digit.to_digit(10).unwrap_or_default() as usize;
            text.push_str(DIGITS[language][digit]);
            done = end;
        }
        text
    }
}

/// Returns the letters and digits of a text, in lower case.
pub(super) fn letters(text: &str) -> Vec<char> {
    text.chars().filter(|c| c.is_alphanumeric()).map(lower).collect()
}

fn lower(c: char) -> char {
    c.to_lowercase().next().unwrap_or(c)
}

/// Visits the first byte of each word, and the byte after its last. A word is letters and digits; signs of a mask before
/// digits (`xxxx6467`) are not part of it.
pub(super) fn each(text: &str, mut visit: impl FnMut(usize, usize)) {
    let mut start = None;
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        if c.is_alphanumeric() {
            start.get_or_insert(at);
        } else if let Some(start) = start.take() {
            let unmasked = text[start..at].trim_start_matches(['x', 'X']);
            let is_masked = !unmasked.is_empty() && unmasked.bytes().all(|byte| byte.is_ascii_digit());
            visit(if is_masked { at - unmasked.len() } else { start }, at);
        }
    }
}

/// Visits the groups of words whose letters are a part of a value, each the longest that is accepted. `accept` returns the
/// part if a group is one.
pub(super) fn each_group<'i>(
    view: &str,
    index: &Index,
    accept: &dyn Fn(&Group) -> Option<OriginalPart<'i>>,
    visit: &mut dyn FnMut(&Group, OriginalPart<'i>),
) {
    let mut words = Vec::new();
    each(view, |start, end| words.push((start, end)));
    let starts = &|letters: &[char]| index.starts(letters);
    let has_digits = index.has_digits();
    let mut at = 0;
    while at < words.len() {
        let rest = &words[at..];
        let first = view[rest[0].0..].chars().next().map_or(' ', lower);
        let written = index.may_start(first).then(|| longest(view, rest, None, starts, accept)).flatten();
        let spoken =
            || longest(view, rest, Some(language_of(view, rest).filter(|_| has_digits)?), starts, accept);
        let found = written.or_else(spoken);
        if let Some((group, part)) = found {
            at += group.words.len();
            visit(&group, part);
        } else {
            if has_digits {
                digits_inside(view, words[at], starts, accept, visit);
            }
            at += 1;
        }
    }
}

/// Returns the longest accepted group that begins with the first of these words.
fn longest<'i>(
    view: &str,
    words: &[(usize, usize)],
    spoken: Option<usize>,
    starts: &dyn Fn(&[char]) -> bool,
    accept: &dyn Fn(&Group) -> Option<OriginalPart<'i>>,
) -> Option<(Group, OriginalPart<'i>)> {
    let mut group = Group { spoken, ..Group::default() };
    let mut best = None;
    for (at, &word) in words.iter().enumerate().take(MAX_WORDS) {
        if at > 0 && word.0 - words[at - 1].1 > MAX_GAP {
            break;
        }
        let text = &view[word.0..word.1];
        match spoken {
            Some(language) => {
                let Some(digit) = digit_named(text, language) else { break };
                group.add(word, [digit]);
            }
            None => group.add(word, text.chars().map(lower)),
        }
        if !starts(&group.letters) {
            break;
        }
        if let Some(part) = accept(&group) {
            best = Some((group.words.len(), group.letters.len(), part));
        }
    }
    let (n_words, n_letters, part) = best?;
    group.cut(n_words, n_letters);
    Some((group, part))
}

/// Visits the runs of digits inside of a word that are a part of a value: `scan6467`.
fn digits_inside<'i>(
    view: &str,
    word: (usize, usize),
    starts: &dyn Fn(&[char]) -> bool,
    accept: &dyn Fn(&Group) -> Option<OriginalPart<'i>>,
    visit: &mut dyn FnMut(&Group, OriginalPart<'i>),
) {
    let bytes = view.as_bytes();
    let mut at = word.0;
    while at < word.1 {
        let length = bytes[at..word.1].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if length >= LEAST_DIGITS && length < word.1 - word.0 {
            let mut group = Group::default();
            group.add((at, at + length), view[at..at + length].chars());
            if starts(&group.letters)
                && let Some(part) = accept(&group)
            {
                visit(&group, part);
            }
        }
        at += length.max(1);
    }
}

/// Returns the language in which these words are names of digits, if there are enough.
fn language_of(view: &str, words: &[(usize, usize)]) -> Option<usize> {
    let is_named = |word: &(usize, usize), language| digit_named(&view[word.0..word.1], language).is_some();
    (0..DIGITS.len()).find(|&language| {
        words.len() >= LEAST_DIGITS && words[..LEAST_DIGITS].iter().all(|word| is_named(word, language))
    })
}

fn digit_named(word: &str, language: usize) -> Option<char> {
    if word.len() > LONGEST_NAME {
        return None;
    }
    let is_ascii = word.is_ascii();
    let is_named = |name: &str| {
        name.len() == word.len()
            && if is_ascii {
                name.eq_ignore_ascii_case(word)
            } else {
                word.chars().flat_map(char::to_lowercase).eq(name.chars())
            }
    };
    let digit = if language == 0 && is_named(OH) {
        0
    } else {
        DIGITS[language].iter().position(|name| is_named(name))?
    };
    char::from_digit(u32::try_from(digit).ok()?, 10)
}

/// Returns true if a word or a mask near the group announces a piece of a number: `ending in 6467`, `**** 6467`.
pub(super) fn announces_piece(view: &str, group: &Group) -> bool {
    let before = &view[view.floor_char_boundary(group.start.saturating_sub(NEAR))..group.start];
    let after = &view[group.end..view.ceil_char_boundary(view.len().min(group.end + NEAR))];
    let is_masked = before.ends_with(['x', 'X']) || before.trim_end_matches([' ', '-']).ends_with(MASKS);
    let announces = |text: &str| {
        text.split(|c: char| !c.is_alphanumeric()).any(|word| {
            let word = word.to_lowercase();
            ANNOUNCING.iter().any(|start| word.starts_with(start))
        })
    };
    is_masked || announces(before) || announces(after)
}

/// Separators inside of numbers and times.
const IN_NUMBERS: [&str; 8] = [".", ",", ":", "'", " ", "\u{a0}", "\u{202f}", "/"];

/// Returns keys of the numbers that a text writes in groups: `12.500`, `18:25`, `2,5`. Zeros at the end do not count, as a
/// call may have another unit.
pub(super) fn joined_numbers(text: &str, words: &[(usize, usize)]) -> Vec<String> {
    let is_number =
        |&(start, end): &(usize, usize)| text[start..end].bytes().all(|byte| byte.is_ascii_digit());
    let mut keys = Vec::new();
    for (at, first) in words.iter().enumerate().filter(|(_, word)| is_number(word)) {
        let mut digits = text[first.0..first.1].to_owned();
        for pair in words[at..].windows(2).take(MAX_GROUPS) {
            if !is_number(&pair[1]) || !IN_NUMBERS.contains(&&text[pair[0].1..pair[1].0]) {
                break;
            }
            digits.push_str(&text[pair[1].0..pair[1].1]);
            keys.extend(number_key(&digits));
        }
    }
    keys
}

/// Groups of a number that are joined.
const MAX_GROUPS: usize = 4;

/// Returns the key of a number in [`joined_numbers`]; `None` if the text has other letters.
pub(super) fn number_key(text: &str) -> Option<String> {
    let digits: String = text.chars().filter(|c| c.is_alphanumeric()).collect();
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| format!("={}", digits.trim_start_matches('0').trim_end_matches('0')))
}

/// Returns the text with other letters and digits.
pub(super) fn with_letters(text: &str, new: impl IntoIterator<Item = char>) -> String {
    let mut new = new.into_iter();
    text.chars().map(|c| if c.is_alphanumeric() { new.next().unwrap_or(c) } else { c }).collect()
}

/// Returns the text with its letters and digits blanked.
pub(super) fn blank(text: &str) -> String {
    let blank = |c: char| match c {
        '0'..='9' => '0',
        c if c.is_alphanumeric() => 'x',
        c => c,
    };
    text.chars().map(blank).collect()
}

/// Returns true for the digits of a year of these two centuries.
pub(super) fn is_year(letters: &[char]) -> bool {
    matches!(letters, ['1', '9', _, _] | ['2', '0', _, _])
}
