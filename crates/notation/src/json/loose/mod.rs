//! A tolerant reader: JSON5, JavaScript and Python literals, and typing errors.
//!
//! All unambiguous extensions of JSON are read: comments, bare keys, any quotes, joined strings, trailing commas. So
//! are errors with one meaning (a missing comma, a raw newline, full-width punctuation), errors with one likely meaning
//! (a quote inside a string), truncated texts and ellipses; each kind is recorded, so the caller knows how certain a
//! value is. Text that needs a program to evaluate (`${…}`, calls, f-strings) is refused, and bare words are left to
//! other readers. Time is linear in the text: lookahead never crosses a byte more than a few times. Depth is limited.

mod blanks;
mod ends;
mod escapes;
mod inner;
mod strings;
mod values;

use serde_json::Value;

use crate::allowance::{Allowance, ELEMENT_BYTES};
use crate::json::marks::plain_mark;
use crate::repeated::Repeated;

/// A text that was read, with the features it uses.
#[derive(Debug, Clone, PartialEq)]
pub struct Loose {
    /// The value; several values side by side are a list.
    pub value: Value,
    /// What was unusual.
    pub notes: Notes,
}

/// The features found in the text; offsets are those of the first occurrence.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Notes {
    /// The number of values side by side.
    pub n_values: usize,
    /// Whether a feature of Python that JavaScript does not have was found.
    pub is_python: bool,
    /// An error that can only mean one thing.
    pub slip: Option<usize>,
    /// An error that most likely means what was read.
    pub likely: Option<usize>,
    /// Text that may equally mean something else.
    pub ambiguous: Option<usize>,
    /// The end of a text that ends before its brackets or strings do.
    pub cut: Option<usize>,
    /// `...` in place of a value.
    pub ellipsis: Option<usize>,
    /// `NaN`, `Infinity` or `undefined`, read as null.
    pub no_value: Option<usize>,
    /// Keys that occur twice in one object with different values.
    pub repeated: Vec<Repeated>,
}

impl Notes {
    /// Returns true if the text is valid in some notation, without an error.
    pub fn is_clean(&self) -> bool {
        [self.slip, self.likely, self.ambiguous, self.cut, self.ellipsis].iter().all(Option::is_none)
    }

    fn is_doubtful(&self) -> bool {
        self.likely.is_some() || self.is_worse_than_likely()
    }

    fn is_worse_than_likely(&self) -> bool {
        self.ambiguous.is_some() || self.cut.is_some() || !self.repeated.is_empty()
    }
}

/// The reason for which a text was not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stop {
    /// The kind of fault.
    pub kind: StopKind,
    /// The byte at which reading stopped.
    pub at: usize,
    /// The unexpected or missing text.
    pub message: String,
}

/// Why a text cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopKind {
    /// Outside of this grammar; another reader may support it.
    Beyond,
    /// Part of a program: the value is only known by running it.
    Program,
    /// Too many nested brackets.
    TooDeep,
    /// More values than the allowance covers.
    TooLarge,
}

/// Reads a whole text.
///
/// # Errors
/// If reading it requires a guess, or more than the allowance.
pub fn read(text: &str, allowance: &Allowance) -> Result<Loose, Stop> {
    let before = allowance.left();
    let mut reader = LooseReader::new(text, allowance);
    let first = allowance.attempt(|| read_with(&mut reader));
    let is_sure = first.as_ref().is_ok_and(|loose| !loose.notes.is_doubtful());
    if is_sure || !reader.could_mend {
        return first;
    }
    // A missing quote changes the meaning of all later ones; perhaps strings end at line breaks.
    let between = allowance.left();
    let mut reader = LooseReader { mends_open_strings: true, ..LooseReader::new(text, allowance) };
    match allowance.attempt(|| read_with(&mut reader)) {
        Ok(second) if second.notes.likely.is_some() && !second.notes.is_worse_than_likely() => {
            allowance.give_back(before - between);
            Ok(second)
        }
        _ => {
            allowance.give_back(between - allowance.left());
            first
        }
    }
}

/// Returns the value of a text that is JSON5 without errors, for readers of other notations.
pub fn json5(text: &str) -> Option<Value> {
    let Loose { value, notes } = read(text, &Allowance::of(text)).ok()?;
    (notes.is_clean() && !notes.is_python && notes.n_values == 1 && notes.no_value.is_none()).then_some(value)
}

fn read_with(reader: &mut LooseReader<'_>) -> Result<Loose, Stop> {
    let mut values = Vec::new();
    loop {
        reader.skip_blanks();
        match reader.mark() {
            None => break,
            Some(mark @ (',' | ';')) => reader.step_over(mark),
            Some(mark @ (']' | '}')) if !values.is_empty() => {
                reader.likely();
                reader.step_over(mark);
            }
            Some(_) => {
                reader.take(ELEMENT_BYTES)?;
                values.extend(reader.value()?);
            }
        }
    }
    let mut notes = std::mem::take(&mut reader.notes);
    notes.n_values = values.len();
    match (values.pop(), values.is_empty()) {
        (None, _) => Err(Stop { kind: StopKind::Beyond, at: 0, message: "expected a value".to_owned() }),
        (Some(only), true) => Ok(Loose { value: only, notes }),
        (last, false) => {
            values.extend(last);
            Ok(Loose { value: Value::Array(values), notes })
        }
    }
}

/// A place in a text, with the open brackets and the features found.
struct LooseReader<'t> {
    text: &'t str,
    at: usize,
    /// The closing brackets expected.
    open: Vec<char>,
    /// The end of the last list of lists or objects inside a list.
    inner_list_end: Option<usize>,
    /// The number of bytes searched for the end of JSON in a string.
    looked_bytes: usize,
    /// Whether a string may end where its closing quote seems to be missing.
    mends_open_strings: bool,
    /// Whether a string was read that would have ended earlier under that rule.
    could_mend: bool,
    allowance: &'t Allowance,
    notes: Notes,
}

impl<'t> LooseReader<'t> {
    fn new(text: &'t str, allowance: &'t Allowance) -> Self {
        Self {
            text,
            at: 0,
            open: Vec::new(),
            inner_list_end: None,
            looked_bytes: 0,
            mends_open_strings: false,
            could_mend: false,
            allowance,
            notes: Notes::default(),
        }
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        // Nearly all text is ASCII, and checking a byte is faster than decoding a character.
        match self.text.as_bytes().get(self.at) {
            Some(byte) if byte.is_ascii() => Some(char::from(*byte)),
            Some(_) => self.rest().chars().next(),
            None => None,
        }
    }

    /// Returns the next character, with full-width punctuation as plain punctuation.
    fn mark(&self) -> Option<char> {
        self.peek().map(plain_mark)
    }

    /// Skips the next punctuation mark; a full-width one is an error with one meaning.
    fn step_over(&mut self, mark: char) {
        let Some(found) = self.peek() else { return };
        if found != mark {
            self.slip();
        }
        self.at += found.len_utf8();
    }

    fn eat(&mut self, mark: char) -> bool {
        let is_next = self.mark() == Some(mark);
        if is_next {
            self.step_over(mark);
        }
        is_next
    }

    fn slip(&mut self) {
        self.notes.slip.get_or_insert(self.at);
    }

    fn likely(&mut self) {
        self.notes.likely.get_or_insert(self.at);
    }

    fn ambiguous(&mut self) {
        self.notes.ambiguous.get_or_insert(self.at);
    }

    /// Records that the text ends here, unless only the end of a list opened by a stray bracket is missing.
    ///
    /// A list of records contains no lists of records. If one closes at the very end of the text and only lists are
    /// open, the outer bracket was opened by mistake, and nothing is lost.
    fn cut(&mut self) {
        let is_stray = self.inner_list_end.is_some_and(|end| self.text[end..].trim_end().is_empty())
            && self.open.iter().all(|close| *close == ']');
        if is_stray {
            self.slip();
        } else {
            self.notes.cut.get_or_insert(self.text.len());
        }
    }

    fn beyond(&self, expected: &str) -> Stop {
        let found = self.peek().map_or_else(|| "the end".to_owned(), |c| format!("{c:?}"));
        Stop { kind: StopKind::Beyond, at: self.at, message: format!("expected {expected}, found {found}") }
    }

    fn program(&self, what: &str) -> Stop {
        Stop { kind: StopKind::Program, at: self.at, message: what.to_owned() }
    }
}
