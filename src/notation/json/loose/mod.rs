//! A tolerant reader: JSON5, JavaScript and Python displays, and the slips of people who type them.
//!
//! Everything that strict JSON lacks and that has one meaning is read: comments, bare keys,
//! any quotes, joined strings, trailing commas. So are slips with one meaning (a missing
//! comma, a raw newline, full-width punctuation), slips that only likely have one (a quote
//! inside a string), a cut end and ellipses; each kind is noted, so that the caller
//! knows what a value rests on. Text that only a program can give a meaning (`${…}`, calls,
//! f-strings) is refused outright, and bare words are left to others. Time is linear in the
//! text: looking ahead never crosses the same byte more than a few times. Depth is bounded.

mod blanks;
mod ends;
mod escapes;
mod inner;
mod strings;
mod values;

use serde_json::Value;

use crate::allowance::{Allowance, ELEMENT_BYTES};
use crate::notation::json::marks::plain_mark;
use crate::notation::repeated::Repeated;

/// A text that was read, and what its value rests on.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Loose {
    /// The value; several that stood side by side are a list.
    pub(crate) value: Value,
    pub(crate) notes: Notes,
}

/// What was met on the way; bytes tell where each kind of thing stands first.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Notes {
    /// How many values stood side by side.
    pub(crate) n_values: usize,
    /// Something that Python has and JavaScript does not.
    pub(crate) is_python: bool,
    /// A slip that can only mean one thing.
    pub(crate) slip: Option<usize>,
    /// A slip that most likely means what was read.
    pub(crate) likely: Option<usize>,
    /// What can as well mean something else.
    pub(crate) ambiguous: Option<usize>,
    /// Where the text ends before its brackets or strings do.
    pub(crate) cut: Option<usize>,
    /// `...` in place of a value.
    pub(crate) ellipsis: Option<usize>,
    /// `NaN`, `Infinity` or `undefined`, read as null.
    pub(crate) no_value: Option<usize>,
    /// Keys that stand twice in one object with different values.
    pub(crate) repeated: Vec<Repeated>,
}

impl Notes {
    /// Whether the text is what its writer meant in some notation, without a slip.
    pub(crate) fn is_clean(&self) -> bool {
        [self.slip, self.likely, self.ambiguous, self.cut, self.ellipsis].iter().all(Option::is_none)
    }

    fn is_doubtful(&self) -> bool {
        self.likely.is_some() || self.is_worse_than_likely()
    }

    fn is_worse_than_likely(&self) -> bool {
        self.ambiguous.is_some() || self.cut.is_some() || !self.repeated.is_empty()
    }
}

/// Why a text was not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stop {
    pub(crate) kind: StopKind,
    /// The byte where reading stopped.
    pub(crate) at: usize,
    /// What was found or missing there.
    pub(crate) message: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StopKind {
    /// Not of this grammar; someone else may know better.
    Beyond,
    /// Part of a program: nobody can know the value without running it.
    Program,
    /// Too many brackets inside one another.
    TooDeep,
    /// More values than the allowance has room for.
    TooLarge,
}

/// Reads a whole text.
///
/// # Errors
/// Where it goes beyond what can be read without guessing, or beyond the allowance.
pub(crate) fn read(text: &str, allowance: &Allowance) -> Result<Loose, Stop> {
    let before = allowance.left();
    let mut reader = Reader::new(text, allowance);
    let first = allowance.attempt(|| read_with(&mut reader));
    let is_sure = first.as_ref().is_ok_and(|loose| !loose.notes.is_doubtful());
    if is_sure || !reader.could_mend {
        return first;
    }
    // A quote that was forgotten shifts the meaning of all that follow; perhaps strings end where lines do.
    let between = allowance.left();
    let mut reader = Reader { mends_open_strings: true, ..Reader::new(text, allowance) };
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

/// The value of a text that is JSON5 without a slip, for readers that meet one amid other notation.
pub(crate) fn json5(text: &str) -> Option<Value> {
    let Loose { value, notes } = read(text, &Allowance::of(text)).ok()?;
    (notes.is_clean() && !notes.is_python && notes.n_values == 1 && notes.no_value.is_none()).then_some(value)
}

fn read_with(reader: &mut Reader<'_>) -> Result<Loose, Stop> {
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

/// A place in a text, the brackets open there, and what was met on the way.
struct Reader<'t> {
    text: &'t str,
    at: usize,
    /// The closing brackets still to come.
    open: Vec<char>,
    /// The end of the last list that stood in a list and held lists or objects.
    inner_list_end: Option<usize>,
    /// How many bytes were looked at to find the end of JSON in a string.
    looked_bytes: usize,
    /// Whether a string may end where its closing quote seems to have been forgotten.
    mends_open_strings: bool,
    /// Whether a string was met that might have ended earlier, had that been so.
    could_mend: bool,
    allowance: &'t Allowance,
    notes: Notes,
}

impl<'t> Reader<'t> {
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
        // Nearly all text is ASCII, and a byte is quicker than a decoded character.
        match self.text.as_bytes().get(self.at) {
            Some(byte) if byte.is_ascii() => Some(char::from(*byte)),
            Some(_) => self.rest().chars().next(),
            None => None,
        }
    }

    /// The next character, a full-width punctuation mark as the plain one it stands for.
    fn mark(&self) -> Option<char> {
        self.peek().map(plain_mark)
    }

    /// Steps over the mark that is next; a full-width one is a slip.
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

    /// Takes note that the text ends here, unless all that is missing is the end of a list that a stray bracket opened.
    ///
    /// A list of records has no list of records in it. Where one closes at the very end of the text and
    /// only lists are open, somebody opened it by mistake, and nothing is lost.
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
