//! Finds known values again, at any place and in any spelling.
//!
//! A recogniser may need a word nearby: `call 07911 812345` has a telephone number, `"to": "07911 812345"` alone does
//! not. So a value found at one place of a run is searched for at all others. A certain value (too long for accidental
//! matches) is known in the whole run; a short password only in its own row. Digits are compared without separators,
//! and telephone numbers with and without their country code.
//!
//! One pass over a run records [`marks`] of each cell (`cell_contents`), so that only cells that may contain a known value are
//! read again. Not included: values that a recogniser finds in any context, such as e-mail addresses.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeSet;

use aho_corasick::AhoCorasick;
use rustc_hash::{FxHashMap, FxHashSet};
use xxhash_rust::xxh3::xxh3_64;

use super::apart::Spans;
use super::run::Run;
use super::runs;
use super::{FoundValue, PrivacyKind, ValueStatus};
use callsieve_text::view::{normal_view, plain};

/// Minimum number of digits of a number that is known in the whole run. Eight digits may also be a date.
const SURE_DIGITS: usize = 9;
/// Maximum number of digits compared.
const MOST_DIGITS: usize = 19;
/// Minimum length of a secret that is known in the whole run, and of the word in it that is searched for.
const SURE_CHARS: usize = 8;
const ANCHOR_CHARS: usize = 4;
/// Minimum length in bytes of a value known in its own row, and of one with only letters: a password `user` would match
/// everywhere.
const LEAST_BYTES: usize = 4;
const LEAST_BYTES_OF_WORD: usize = 6;

/// A value that a recogniser found, with the data to find it again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sighting {
    /// The kind of value.
    pub kind: PrivacyKind,
    /// The normal form.
    pub value: String,
    /// The value as written, without escapes.
    pub written: String,
    /// For a telephone number, the digits of its country code as written; see [`FoundValue::code_digits`].
    pub code_digits: u8,
}

impl Sighting {
    /// Returns the sighting of a value found in `text`.
    pub fn of(found: &FoundValue, text: &str) -> Self {
        Self {
            kind: found.kind,
            value: found.value.clone(),
            written: plain(&text[found.start..found.end]).into_owned(),
            code_digits: found.code_digits,
        }
    }

    /// Returns true if the value is too long for accidental matches.
    pub fn is_sure(&self) -> bool {
        match self.kind {
            PrivacyKind::Key | PrivacyKind::Token => {
                self.written.chars().count() >= SURE_CHARS && anchor(&self.written).is_some()
            }
            PrivacyKind::Name | PrivacyKind::StreetAddress => false,
            // Its digits alone are not the id.
            PrivacyKind::Ssn if self.written.contains(|c: char| c.is_ascii_alphabetic()) => false,
            kind if is_number(kind) => n_digits(&self.written) >= SURE_DIGITS,
            _ => true,
        }
    }

    /// Returns the digit strings with which the number can be written, each with the number of digits of its country
    /// code.
    fn spellings(&self) -> Vec<(String, u8)> {
        let written = digits(&self.written);
        let mut all = vec![(written.clone(), self.code_digits)];
        if self.kind != PrivacyKind::Phone {
            return all;
        }
        let Some(whole) = self.value.strip_prefix('+') else { return all };
        all.push((whole.to_owned(), 0));
        let national = match usize::from(self.code_digits) {
            0 => written.trim_start_matches('0'),
            code => written[code.min(written.len())..].trim_start_matches('0'),
        };
        // With the trunk prefix of North America or Russia, the national form as written is not a suffix of the whole.
        let national =
            if whole.ends_with(national) { national } else { national.get(1..).unwrap_or_default() };
        let Some(code) = whole.strip_suffix(national).filter(|code| (1..=3).contains(&code.len())) else {
            return all;
        };
        let code_digits = u8::try_from(code.len()).unwrap_or_default();
        all[1].1 = code_digits;
        all.push((format!("00{whole}"), code_digits + 2));
        all.push((national.to_owned(), 0));
        let trunk = match code {
            "1" => "1",
            "7" => "8",
            _ => "0",
        };
        if trunk != code {
            all.push((format!("{trunk}{national}"), 0));
        }
        all.retain(|(digits, _)| digits.len() >= SURE_DIGITS.min(written.len()));
        all
    }
}

/// A known number.
#[derive(Debug)]
struct Number {
    kind: PrivacyKind,
    value: String,
    code_digits: u8,
    /// For an IP address, the text with its dots, which has to be equal too.
    exact: Option<String>,
}

/// The known secrets that have a word in common, by the text searched for; see [`spellings_of_secret`].
#[derive(Debug, Default)]
struct Secrets {
    by_text: FxHashMap<String, (PrivacyKind, String)>,
    /// The lengths of the texts with the place of the word in them, the longest text first, so that a part never has
    /// priority over the whole.
    places: BTreeSet<(Reverse<usize>, usize)>,
}

/// The known values of a run.
#[derive(Debug, Default)]
pub struct KnownValues {
    numbers: FxHashMap<String, Number>,
    /// By the word that is searched for.
    secrets: FxHashMap<String, Secrets>,
    marks: rustc_hash::FxHashSet<u32>,
}

impl KnownValues {
    /// Returns the values known from sightings. Numbers with a country code come first, as the country of others is a
    /// guess.
    pub fn of<'s, I: Iterator<Item = &'s Sighting>>(sightings: impl Fn() -> I) -> Self {
        let mut known = Self::default();
        for has_code in [true, false] {
            sightings()
                .filter(|sighting| (sighting.code_digits > 0) == has_code)
                .for_each(|sighting| known.learn(sighting));
        }
        known
    }

    /// Adds a value if it is certain. Of two numbers with a common spelling the first is known, in all spellings of
    /// both.
    fn learn(&mut self, sighting: &Sighting) {
        if !sighting.is_sure() {
            return;
        }
        let Sighting { kind, value, written, .. } = sighting;
        if is_number(*kind) {
            let (kind, value) = match self.canonical(*kind, written) {
                Some((kind, value, _)) => (kind, value.to_owned()),
                None => (*kind, value.clone()),
            };
            for (digits, code_digits) in sighting.spellings() {
                self.marks.insert(mark(digits.as_bytes()));
                let exact = (kind == PrivacyKind::Ipv4).then(|| written.clone());
                let value = value.clone();
                self.numbers.entry(digits).or_insert(Number { kind, value, code_digits, exact });
            }
        } else if matches!(kind, PrivacyKind::Key | PrivacyKind::Token) {
            for written in spellings_of_secret(written) {
                self.learn_secret(sighting, written);
            }
        }
    }

    fn learn_secret(&mut self, sighting: &Sighting, written: String) {
        let Some((anchor, word)) = anchor(&written) else { return };
        self.marks.insert(mark(word.as_bytes()));
        let secrets = self.secrets.entry(word.to_owned()).or_default();
        secrets.places.insert((Reverse(written.len()), anchor));
        secrets.by_text.entry(written).or_insert_with(|| (sighting.kind, sighting.value.clone()));
    }

    /// Returns true if nothing is known.
    pub fn is_empty(&self) -> bool {
        self.marks.is_empty()
    }

    /// Returns true if one of these marks belongs to a known value.
    pub fn has_any(&self, marks: &[u32]) -> bool {
        !self.is_empty() && marks.iter().any(|mark| self.marks.contains(mark))
    }

    /// Returns the kind, the normal form and the digits of the country code under which a number is known: those of the
    /// first one with a common spelling. So a value has one placeholder, whatever the words around it.
    pub fn canonical(&self, kind: PrivacyKind, written: &str) -> Option<(PrivacyKind, &str, u8)> {
        if !is_number(kind) || kind == PrivacyKind::Ipv4 {
            return None;
        }
        let number = self.numbers.get(&digits(&plain(written))).filter(|number| number.exact.is_none())?;
        Some((number.kind, &number.value, number.code_digits))
    }

    /// Returns the known values of a text that do not overlap with those already found.
    pub fn find(&self, text: &str, found: &[FoundValue]) -> Vec<FoundValue> {
        let mut more = Vec::new();
        if self.is_empty() {
            return more;
        }
        let (view, offsets) = normal_view(text);
        let text = &*view;
        let mut spans = Spans::of(found);
        let mut push = |mut value: FoundValue| {
            (value.start, value.end) = offsets.back(value.start, value.end);
            spans.push(value, &mut more);
        };
        if !self.numbers.is_empty() {
            runs::for_each(text, |run| self.find_numbers(text, run, &mut push));
        }
        if !self.secrets.is_empty() {
            words(text, |start, word| {
                let Some(secrets) = self.secrets.get(&*lowered(word)) else { return };
                let secret = secrets.places.iter().find_map(|&(Reverse(length), anchor)| {
                    let from = start.checked_sub(anchor)?;
                    let to = from + length;
                    let secret = secrets.by_text.get(&*lowered(text.get(from..to)?))?;
                    is_whole(text, from, to).then_some((from, to, secret))
                });
                if let Some((from, to, (kind, value))) = secret {
                    push(personal(*kind, from, to, value));
                }
            });
        }
        more
    }

    fn find_numbers(&self, text: &str, run: &Run, push: &mut impl FnMut(FoundValue)) {
        let mut first = 0;
        while first < run.groups.len() {
            let hit = (first..run.groups.len()).rev().find_map(|last| {
                let n_digits = run.n_digits(first, last);
                if !(SURE_DIGITS..=MOST_DIGITS).contains(&n_digits) {
                    return None;
                }
                let number = self.numbers.get(&run.digits(text, first, last))?;
                let (start, end) = (run.groups[first].0, run.groups[last].1);
                let is_same = number.exact.as_ref().is_none_or(|exact| text[start..end] == **exact);
                is_same.then_some((last, start, end, number))
            });
            let Some((last, start, end, number)) = hit else {
                first += 1;
                continue;
            };
            let mut value = personal(number.kind, start, end, &number.value);
            value.code_digits = number.code_digits;
            push(value);
            first = last + 1;
        }
    }
}

/// The values known in only one row: its own values that are not certain.
#[derive(Debug, Default)]
pub struct OwnValues<'a> {
    /// The texts that are searched for, and their values; the first have priority.
    texts: Vec<&'a Sighting>,
    automaton: Option<AhoCorasick>,
}

impl<'a> OwnValues<'a> {
    /// Returns those values that are searched for only in their own row.
    pub fn of(sightings: impl IntoIterator<Item = &'a Sighting>) -> Self {
        let is_own = |sighting: &&Sighting| {
            let is_word = sighting.written.chars().all(char::is_alphabetic);
            let least = if is_word { LEAST_BYTES_OF_WORD } else { LEAST_BYTES };
            !matches!(sighting.kind, PrivacyKind::Name | PrivacyKind::StreetAddress)
                && !sighting.is_sure()
                && sighting.written.len() >= least
        };
        let spelled = |sighting: &'a Sighting| match sighting.kind {
            PrivacyKind::Key | PrivacyKind::Token => spellings_of_secret(&sighting.written),
            _ => vec![sighting.written.to_ascii_lowercase()],
        };
        let (mut texts, mut patterns): (Vec<&Sighting>, Vec<String>) = (Vec::new(), Vec::new());
        let mut seen: FxHashSet<String> = FxHashSet::default();
        for sighting in sightings.into_iter().filter(is_own) {
            for text in spelled(sighting).into_iter().filter(|text| seen.insert(text.clone())) {
                texts.push(sighting);
                patterns.push(text);
            }
        }
        let build = |patterns| AhoCorasick::builder().ascii_case_insensitive(true).build(patterns);
        // It fails only for more letters than a log has.
        let automaton = (!patterns.is_empty()).then(|| build(patterns).ok()).flatten();
        Self { texts, automaton }
    }

    /// Returns true if there are none.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// Returns those values of a text that do not overlap with those already found.
    pub fn find(&self, text: &str, found: &[FoundValue]) -> Vec<FoundValue> {
        let mut more = Vec::new();
        let Some(automaton) = &self.automaton else { return more };
        let (view, offsets) = normal_view(text);
        let mut matches: Vec<(usize, usize, usize)> = automaton
            .find_overlapping_iter(&*view)
            .map(|found| (found.pattern().as_usize(), found.start(), found.end()))
            .filter(|&(_, start, end)| is_whole(&view, start, end))
            .collect();
        matches.sort_unstable();
        let mut spans = Spans::of(found);
        for (at, start, end) in matches {
            let sighting = self.texts[at];
            let (start, end) = offsets.back(start, end);
            let mut value = personal(sighting.kind, start, end, &sighting.value);
            value.code_digits = sighting.code_digits;
            spans.push(value, &mut more);
        }
        more
    }
}

/// Collects the marks of a cell, as hashes: its numbers and its words with both letters and digits. `cell` may be JSON
/// as text.
pub fn marks(cell: &str, marks: &mut Vec<u32>) {
    let (view, _) = normal_view(cell);
    let cell = &*view;
    runs::for_each(cell, |run| {
        for first in 0..run.groups.len() {
            for last in first..run.groups.len() {
                let n_digits = run.n_digits(first, last);
                if n_digits > MOST_DIGITS {
                    break;
                }
                if n_digits >= SURE_DIGITS {
                    marks.push(mark(run.digits(cell, first, last).as_bytes()));
                }
            }
        }
    });
    words(cell, |_, word| marks.push(mark(lowered(word).as_bytes())));
}

/// Returns the spellings in which a secret is searched for: lower case, as written and without surrounding punctuation.
fn spellings_of_secret(written: &str) -> Vec<String> {
    let written = written.to_ascii_lowercase();
    let bare = written.trim_matches(|c: char| !c.is_alphanumeric());
    if bare.len() == written.len() || bare.len() < LEAST_BYTES_OF_WORD {
        return vec![written];
    }
    let bare = bare.to_owned();
    vec![written, bare]
}

/// Returns a word in lower case.
fn lowered(word: &str) -> Cow<'_, str> {
    if word.bytes().any(|byte| byte.is_ascii_uppercase()) {
        Cow::Owned(word.to_ascii_lowercase())
    } else {
        Cow::Borrowed(word)
    }
}

/// Returns a hash, which may collide: it only selects the cells that are read again.
fn mark(bytes: &[u8]) -> u32 {
    #[allow(clippy::cast_possible_truncation)]
    let mark = xxh3_64(bytes) as u32;
    mark
}

/// Visits the words with both letters and digits, with their first byte. An escape (`\n`) is not part of a word, so a
/// JSON cell has the same words as its texts.
fn words(text: &str, mut visit: impl FnMut(usize, &str)) {
    let bytes = text.as_bytes();
    let mut done = 0;
    // Text is mostly letters, so digits are searched for.
    while let Some(digit) = runs::next_digit(bytes, done) {
        let is_part = |byte: &&u8| byte.is_ascii_alphanumeric();
        let start = digit - bytes[done..digit].iter().rev().take_while(is_part).count();
        let end = digit + bytes[digit..].iter().take_while(is_part).count();
        let start = end.min(start + escape_at(bytes, start));
        let word = &bytes[start..end];
        if word.len() >= ANCHOR_CHARS
            && word.iter().any(u8::is_ascii_alphabetic)
            && word.iter().any(u8::is_ascii_digit)
        {
            visit(start, &text[start..end]);
        }
        done = end;
    }
}

/// Returns the number of letters and digits at this byte that form an escape with the backslash before them.
fn escape_at(bytes: &[u8], start: usize) -> usize {
    let n_slashes = bytes[..start].iter().rev().take_while(|&&byte| byte == b'\\').count();
    match bytes[start] {
        _ if n_slashes.is_multiple_of(2) => 0,
        b'u' => 5,
        b'n' | b't' | b'r' | b'f' | b'b' => 1,
        _ => 0,
    }
}

/// Returns the longest word of a secret with both letters and digits, and its start.
fn anchor(written: &str) -> Option<(usize, &str)> {
    let mut longest: Option<(usize, usize)> = None;
    words(written, |start, word| {
        if longest.is_none_or(|(_, length)| word.len() > length) {
            longest = Some((start, word.len()));
        }
    });
    longest.map(|(start, length)| (start, &written[start..start + length]))
}

fn is_number(kind: PrivacyKind) -> bool {
    matches!(kind, PrivacyKind::Phone | PrivacyKind::Card | PrivacyKind::Ssn | PrivacyKind::Ipv4)
}

fn digits(written: &str) -> String {
    written.chars().filter(char::is_ascii_digit).collect()
}

fn n_digits(written: &str) -> usize {
    written.bytes().filter(u8::is_ascii_digit).count()
}

/// Returns true if no letter or digit is directly before or after it.
fn is_whole(text: &str, start: usize, end: usize) -> bool {
    let is_part = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    !is_part(text[..start].chars().next_back()) && !is_part(text[end..].chars().next())
}

fn personal(kind: PrivacyKind, start: usize, end: usize, value: &str) -> FoundValue {
    FoundValue {
        kind,
        start,
        end,
        value: value.to_owned(),
        status: ValueStatus::Personal,
        code_digits: 0,
        piece: None,
    }
}
