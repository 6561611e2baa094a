//! Finds known values again, wherever they stand and however they are spelled.
//!
//! A recogniser may need a word nearby: `call 07911 812345` is a telephone number, `"to": "07911 812345"` alone is not.
//! So what one place of a run shows is looked for in all others. A value that is sure (long enough that nothing else
//! looks like it by chance) is known in the whole run; a short password is known in its own row only. Digits are
//! compared without what separates them, and a telephone number with and without its country code.
//!
//! One pass over a run notes [`marks`] of each cell (`sight`), so that only cells that may hold a known value are read again.
//! Not here: values that a recogniser finds in any surroundings, such as e-mail addresses.

use std::borrow::Cow;

use rustc_hash::FxHashMap;
use xxhash_rust::xxh3::xxh3_64;

use super::run::Run;
use super::runs;
use super::view::{normal_view, plain};
use super::{Found, Kind, Standing};

/// Fewest digits of a number that is known in the whole run. Eight are also a date.
const SURE_DIGITS: usize = 9;
/// Most digits that are compared.
const MOST_DIGITS: usize = 19;
/// Fewest characters of a secret that is known in the whole run, and of the word in it that is looked for.
const SURE_CHARS: usize = 8;
const ANCHOR_CHARS: usize = 4;
/// Fewest bytes of a value that is known in its own row, and of one that is all letters: `user` as a password is everywhere.
const LEAST_BYTES: usize = 4;
const LEAST_BYTES_OF_WORD: usize = 6;

/// A value that a recogniser found, with what is needed to find it again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sighting {
    /// What it is.
    pub kind: Kind,
    /// Its normal form.
    pub value: String,
    /// The value as written, without escapes.
    pub written: String,
    /// For a telephone number: digits of its country code as written; see [`Found::code_digits`].
    pub code_digits: u8,
}

impl Sighting {
    /// What was found in `text`.
    pub fn of(found: &Found, text: &str) -> Self {
        Self {
            kind: found.kind,
            value: found.value.clone(),
            written: plain(&text[found.start..found.end]).into_owned(),
            code_digits: found.code_digits,
        }
    }

    /// Nothing else in a run looks like it by chance.
    pub fn is_sure(&self) -> bool {
        match self.kind {
            Kind::Key | Kind::Token => {
                self.written.chars().count() >= SURE_CHARS && anchor(&self.written).is_some()
            }
            Kind::Name => false,
            kind if is_number(kind) => n_digits(&self.written) >= SURE_DIGITS,
            _ => true,
        }
    }

    /// The digits by which the number can be written, each with those of its country code.
    fn spellings(&self) -> Vec<(String, u8)> {
        let written = digits(&self.written);
        let mut all = vec![(written.clone(), self.code_digits)];
        if self.kind != Kind::Phone {
            return all;
        }
        let Some(whole) = self.value.strip_prefix('+') else { return all };
        all.push((whole.to_owned(), 0));
        let national = match usize::from(self.code_digits) {
            0 => written.trim_start_matches('0'),
            code => written[code.min(written.len())..].trim_start_matches('0'),
        };
        // With the trunk prefix of North America or Russia the national form as written does not end the whole.
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
    kind: Kind,
    value: String,
    code_digits: u8,
    /// An address is the same only with its dots.
    exact: Option<String>,
}

/// A known secret.
#[derive(Debug)]
struct Secret {
    kind: Kind,
    value: String,
    /// As it is looked for; see [`spellings_of_secret`].
    written: String,
    /// Where the word that is looked for begins in it.
    anchor: usize,
}

/// The values that are known in a run.
#[derive(Debug, Default)]
pub struct Known {
    numbers: FxHashMap<String, Number>,
    secrets: FxHashMap<String, Vec<Secret>>,
    marks: rustc_hash::FxHashSet<u32>,
}

impl Known {
    /// What these values make known. A number with its country code is learnt before one without, whose country is a guess.
    pub fn of<'s, I: Iterator<Item = &'s Sighting>>(sightings: impl Fn() -> I) -> Self {
        let mut known = Self::default();
        for has_code in [true, false] {
            sightings()
                .filter(|sighting| (sighting.code_digits > 0) == has_code)
                .for_each(|sighting| known.learn(sighting));
        }
        known
    }

    /// Learns a value, if it is sure. Of two numbers that are spelled alike the first is known, in all spellings of both.
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
                let exact = (kind == Kind::Ipv4).then(|| written.clone());
                let value = value.clone();
                self.numbers.entry(digits).or_insert(Number { kind, value, code_digits, exact });
            }
        } else if matches!(kind, Kind::Key | Kind::Token) {
            for written in spellings_of_secret(written) {
                self.learn_secret(sighting, written);
            }
        }
    }

    fn learn_secret(&mut self, sighting: &Sighting, written: String) {
        let Some((anchor, word)) = anchor(&written) else { return };
        self.marks.insert(mark(word.as_bytes()));
        let secrets = self.secrets.entry(word.to_owned()).or_default();
        if secrets.iter().all(|secret| secret.written != written) {
            secrets.push(Secret { kind: sighting.kind, value: sighting.value.clone(), written, anchor });
            // The longest first, so that a part never wins over the whole.
            secrets.sort_by_key(|secret| std::cmp::Reverse(secret.written.len()));
        }
    }

    /// Nothing is known.
    pub fn is_empty(&self) -> bool {
        self.marks.is_empty()
    }

    /// One of these marks is a known value's.
    pub fn has_any(&self, marks: &[u32]) -> bool {
        !self.is_empty() && marks.iter().any(|mark| self.marks.contains(mark))
    }

    /// The kind, the normal form and the digits of the country code by which a number that was found is known: those of the
    /// first that is spelled alike. So one value has one placeholder, whatever the words around it call it.
    pub fn canonical(&self, kind: Kind, written: &str) -> Option<(Kind, &str, u8)> {
        if !is_number(kind) || kind == Kind::Ipv4 {
            return None;
        }
        let number = self.numbers.get(&digits(&plain(written))).filter(|number| number.exact.is_none())?;
        Some((number.kind, &number.value, number.code_digits))
    }

    /// The known values of a text that are apart from those found already.
    pub fn find(&self, text: &str, found: &[Found]) -> Vec<Found> {
        let mut more = Vec::new();
        if self.is_empty() {
            return more;
        }
        let (view, offsets) = normal_view(text);
        let text = &*view;
        let mut push = |mut value: Found| {
            (value.start, value.end) = offsets.back(value.start, value.end);
            push_apart(found, &mut more, value);
        };
        if !self.numbers.is_empty() {
            runs::for_each(text, |run| self.find_numbers(text, run, &mut push));
        }
        if !self.secrets.is_empty() {
            words(text, |start, word| {
                let known = self.secrets.get(&*lowered(word));
                let secret = known.into_iter().flatten().find_map(|secret| {
                    let from = start.checked_sub(secret.anchor)?;
                    let to = from + secret.written.len();
                    let is_here =
                        text.get(from..to)?.eq_ignore_ascii_case(&secret.written) && is_whole(text, from, to);
                    is_here.then_some((from, secret))
                });
                if let Some((from, secret)) = secret {
                    let to = from + secret.written.len();
                    push(personal(secret.kind, from, to, &secret.value));
                }
            });
        }
        more
    }

    fn find_numbers(&self, text: &str, run: &Run, push: &mut impl FnMut(Found)) {
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

/// The values that are known in one row only: those of its own that are not sure.
#[derive(Debug, Default)]
pub struct OwnValues<'a>(Vec<(&'a Sighting, String)>);

impl<'a> OwnValues<'a> {
    /// Of these values those that are looked for in their own row alone.
    pub fn of(sightings: impl IntoIterator<Item = &'a Sighting>) -> Self {
        let is_own = |sighting: &&Sighting| {
            let is_word = sighting.written.chars().all(char::is_alphabetic);
            let least = if is_word { LEAST_BYTES_OF_WORD } else { LEAST_BYTES };
            sighting.kind != Kind::Name && !sighting.is_sure() && sighting.written.len() >= least
        };
        let spelled = |sighting: &'a Sighting| match sighting.kind {
            Kind::Key | Kind::Token => spellings_of_secret(&sighting.written),
            _ => vec![sighting.written.to_ascii_lowercase()],
        };
        let own = sightings.into_iter().filter(is_own);
        Self(own.flat_map(|sighting| spelled(sighting).into_iter().map(move |it| (sighting, it))).collect())
    }

    /// There are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Those of a text that are apart from those found already.
    pub fn find(&self, text: &str, found: &[Found]) -> Vec<Found> {
        let mut more = Vec::new();
        if self.is_empty() {
            return more;
        }
        let (view, offsets) = normal_view(text);
        let text = &*view.to_ascii_lowercase();
        for (sighting, written) in &self.0 {
            for (start, written) in text.match_indices(written) {
                let end = start + written.len();
                if is_whole(text, start, end) {
                    let (start, end) = offsets.back(start, end);
                    let mut value = personal(sighting.kind, start, end, &sighting.value);
                    value.code_digits = sighting.code_digits;
                    push_apart(found, &mut more, value);
                }
            }
        }
        more
    }
}

/// Notes what a cell could be recognised by, as hashes: the numbers in it and the words that mix letters and digits. `cell` may
/// be JSON as text.
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

/// How a secret is looked for: in small letters, as written and without the punctuation around it, which the next place may lack.
fn spellings_of_secret(written: &str) -> Vec<String> {
    let written = written.to_ascii_lowercase();
    let bare = written.trim_matches(|c: char| !c.is_alphanumeric());
    if bare.len() == written.len() || bare.len() < LEAST_BYTES_OF_WORD {
        return vec![written];
    }
    let bare = bare.to_owned();
    vec![written, bare]
}

/// A word in small letters.
fn lowered(word: &str) -> Cow<'_, str> {
    if word.bytes().any(|byte| byte.is_ascii_uppercase()) {
        Cow::Owned(word.to_ascii_lowercase())
    } else {
        Cow::Borrowed(word)
    }
}

/// A hash that may be another's: it only says which cells are read again.
fn mark(bytes: &[u8]) -> u32 {
    #[allow(clippy::cast_possible_truncation)]
    let mark = xxh3_64(bytes) as u32;
    mark
}

/// Visits the words that mix letters and digits, with the byte at which each begins. An escape (`\n`) is no part of a word,
/// so that a cell of JSON has the words of its texts.
fn words(text: &str, mut visit: impl FnMut(usize, &str)) {
    let bytes = text.as_bytes();
    let mut done = 0;
    // Text is mostly letters, so the digits are looked for.
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

/// Letters and digits at this byte that are an escape with the backslash before it.
fn escape_at(bytes: &[u8], start: usize) -> usize {
    let n_slashes = bytes[..start].iter().rev().take_while(|&&byte| byte == b'\\').count();
    match bytes[start] {
        _ if n_slashes.is_multiple_of(2) => 0,
        b'u' => 5,
        b'n' | b't' | b'r' | b'f' | b'b' => 1,
        _ => 0,
    }
}

/// The longest word of a secret that mixes letters and digits, and where it begins.
fn anchor(written: &str) -> Option<(usize, &str)> {
    let mut longest: Option<(usize, usize)> = None;
    words(written, |start, word| {
        if longest.is_none_or(|(_, length)| word.len() > length) {
            longest = Some((start, word.len()));
        }
    });
    longest.map(|(start, length)| (start, &written[start..start + length]))
}

fn is_number(kind: Kind) -> bool {
    matches!(kind, Kind::Phone | Kind::Card | Kind::Ssn | Kind::Ipv4)
}

fn digits(written: &str) -> String {
    written.chars().filter(char::is_ascii_digit).collect()
}

fn n_digits(written: &str) -> usize {
    written.bytes().filter(u8::is_ascii_digit).count()
}

/// No letter or digit goes on before or after it.
fn is_whole(text: &str, start: usize, end: usize) -> bool {
    let is_part = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    !is_part(text[..start].chars().next_back()) && !is_part(text[end..].chars().next())
}

fn personal(kind: Kind, start: usize, end: usize, value: &str) -> Found {
    Found { kind, start, end, value: value.to_owned(), standing: Standing::Personal, code_digits: 0 }
}

fn push_apart(found: &[Found], more: &mut Vec<Found>, value: Found) {
    let meets = |other: &Found| other.start < value.end && value.start < other.end;
    if !found.iter().chain(more.iter()).any(meets) {
        more.push(value);
    }
}
