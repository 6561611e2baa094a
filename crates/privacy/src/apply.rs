//! Replaces values in text, and in the strings, numbers and keys of JSON.
//!
//! A number in JSON stays a number with the same number of digits. Replacements are recorded by place, never by value:
//! the path in the cell, the bytes in the old string, and the placeholder.

use serde_json::Value;

use super::announced::asks_for_phone;
use super::asked::is_answer;
use super::context::says_something;
use super::declared::DeclaredPhones;
use super::known::{KnownValues, OwnValues};
use super::numbers::Numbers;
use super::people::{PeopleOf, descriptions};
use super::pieces::{self, LeafOf, is_date_key, is_number_key};
use super::walk::{CONTENT, Leaf, Place, Visitor, walk};
use super::{Cancelled, FoundValue, PrivacyKind, Scanner};

/// Finds values with the recognisers, known values, and names and street addresses.
#[derive(Clone, Copy)]
pub struct Finder<'a> {
    scanner: &'a Scanner,
    known: Option<&'a KnownValues>,
    own: Option<&'a OwnValues<'a>>,
    people: Option<PeopleOf<'a>>,
    declared: Option<&'a DeclaredPhones>,
    cancelled: Option<Cancelled<'a>>,
}

/// A key that names a telephone number.
const PHONE_KEY: &str = "phone number";
/// Minimum number of words of a text that is read for names: of a message, and of another text, such as an argument. A
/// shorter one does not show whether a name is a person's.
const LEAST_WORDS: usize = 2;
const LEAST_WORDS_OF_VALUE: usize = 4;

impl<'a> From<&'a Scanner> for Finder<'a> {
    fn from(scanner: &'a Scanner) -> Self {
        Self { scanner, known: None, own: None, people: None, declared: None, cancelled: None }
    }
}

impl<'a> Finder<'a> {
    /// Also finds the known values of the whole run.
    #[must_use]
    pub fn with_known(self, known: &'a KnownValues) -> Self {
        Self { known: Some(known), ..self }
    }

    /// Also finds the values known only in this row.
    #[must_use]
    pub fn with_own(self, own: &'a OwnValues<'a>) -> Self {
        Self { own: (!own.is_empty()).then_some(own), ..self }
    }

    /// Also finds names and street addresses.
    #[must_use]
    pub fn with_people(self, people: Option<PeopleOf<'a>>) -> Self {
        Self { people, ..self }
    }

    /// Also reads the arguments that the docs of their function declare as telephone numbers.
    #[must_use]
    pub fn with_declared(self, declared: Option<&'a DeclaredPhones>) -> Self {
        Self { declared, ..self }
    }

    /// Returns a number that is the same for finders with the same declared parameters.
    pub(super) fn declared_id(&self) -> u128 {
        self.declared.map_or(0, DeclaredPhones::id)
    }

    /// Stops early when `cancelled` returns true; what is found then is incomplete.
    #[must_use]
    pub fn with_cancel(self, cancelled: Cancelled<'a>) -> Self {
        Self { cancelled: Some(cancelled), ..self }
    }

    /// Returns whether the caller no longer needs a result.
    pub(super) fn is_cancelled(&self) -> bool {
        self.cancelled.is_some_and(|cancelled| cancelled())
    }

    /// Returns the known values of the whole run, if they are searched for.
    pub fn known(&self) -> Option<&'a KnownValues> {
        self.known
    }

    /// Returns the values of a text, in order and without overlaps.
    pub fn find(&self, text: &str) -> Vec<FoundValue> {
        self.complete(self.scanner.scan_until(&|| self.is_cancelled(), text), text, Use::Value)
    }

    /// Returns the values of the text of a doc list. Names and street addresses are searched for in its descriptions only.
    pub fn find_in_docs(&self, text: &str) -> Vec<FoundValue> {
        let mut found = Self { people: None, ..*self }.find(text);
        let Some(people) = self.people else { return found };
        for description in descriptions(text) {
            let is_inside =
                |value: &&FoundValue| description.start <= value.start && value.end <= description.end;
            let shifted = |value: &FoundValue, by: usize| FoundValue {
                start: value.start.wrapping_add(by),
                end: value.end.wrapping_add(by),
                ..value.clone()
            };
            let start = description.start;
            let mut inside: Vec<FoundValue> =
                found.iter().filter(is_inside).map(|value| shifted(value, start.wrapping_neg())).collect();
            people.complete(&text[description.clone()], &mut inside, true);
            let all: Vec<FoundValue> = inside.iter().map(|value| shifted(value, start)).collect();
            let meets = |value: &FoundValue| {
                found.iter().any(|other| other.start < value.end && value.start < other.end)
            };
            let new: Vec<FoundValue> = all.into_iter().filter(|value| !meets(value)).collect();
            found.extend(new);
        }
        found.sort_by_key(|value| value.start);
        found
    }

    /// Returns the values of a leaf; see [`Scanner::scan_under`]. A name, of a function or a key, may contain a word that
    /// is a password elsewhere.
    pub(super) fn find_in_leaf(&self, leaf: &Leaf<'_>) -> Vec<FoundValue> {
        let Leaf { text, key, place, asked, .. } = *leaf;
        let text_is = if place == Place::Name { Use::Name } else { Use::of(key, text) };
        let asked = asked.filter(|asked| is_answer(text) && says_something(asked));
        let is_declared = || {
            let parameter = key.rsplit(' ').next().unwrap_or_default();
            matches!(place, Place::Argument(_))
                && self.declared.is_some_and(|declared| declared.has(leaf.function, parameter))
        };
        let phone_key = match asked {
            Some(asked) => asks_for_phone(asked).then(|| format!("{asked}, {PHONE_KEY}")),
            None => is_declared().then(|| format!("{key} {PHONE_KEY}")),
        };
        let is_cancelled = || self.is_cancelled();
        let key = phone_key.as_deref().or(asked).unwrap_or(key);
        let mut found = self.scanner.scan_under(&is_cancelled, key, text);
        if place != Place::Name {
            found = self.with_declared_in_text(found, text);
        }
        self.complete(found, text, text_is)
    }

    /// Adds the telephone numbers of declared parameters in a call that is written as text.
    fn with_declared_in_text(&self, mut found: Vec<FoundValue>, text: &str) -> Vec<FoundValue> {
        let Some(declared) = self.declared.filter(|_| text.contains(['=', ':'])) else { return found };
        let is_cancelled = || self.is_cancelled();
        for place in declared.values_in(text) {
            let mut more = self.scanner.scan_under(&is_cancelled, PHONE_KEY, &text[place.clone()]);
            for value in &mut more {
                value.start += place.start;
                value.end += place.start;
            }
            let meets = |value: &FoundValue| {
                found.iter().any(|other| other.start < value.end && value.start < other.end)
            };
            more.retain(|value| !meets(value));
            found.append(&mut more);
        }
        found.sort_by_key(|value| value.start);
        found
    }

    fn complete(&self, mut found: Vec<FoundValue>, text: &str, text_is: Use) -> Vec<FoundValue> {
        if self.is_cancelled() {
            return found;
        }
        let before = found.len();
        if let Some(known) = self.known {
            for value in found.iter_mut().filter(|value| value.is_personal()) {
                let written = &text[value.start..value.end];
                if let Some((kind, normal, code_digits)) = known.canonical(value.kind, written)
                    && (kind, normal) != (value.kind, &value.value)
                {
                    (value.kind, value.code_digits) = (kind, code_digits);
                    normal.clone_into(&mut value.value);
                }
            }
            found.extend(known.find(text, &found));
        }
        if let Some(own) = self.own.filter(|_| text_is != Use::Name) {
            found.extend(own.find(text, &found));
        }
        if found.len() > before {
            found.sort_by_key(|value| value.start);
        }
        if let Some(people) = self.people.filter(|_| text_is != Use::Name) {
            people.complete(text, &mut found, text_is == Use::Prose);
        }
        found
    }
}

/// What a text is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    /// A name of a function or a key.
    Name,
    /// A value.
    Value,
    /// Text that shows by its words whether a name is a person's.
    Prose,
}

impl Use {
    /// Returns the use of a text under a key.
    fn of(key: &str, text: &str) -> Self {
        let is_content = key.rsplit(' ').next() == Some(CONTENT);
        let least = if is_content { LEAST_WORDS } else { LEAST_WORDS_OF_VALUE };
        let is_prose =
            text.split_whitespace().nth(least - 1).is_some() && text.chars().any(char::is_alphabetic);
        // Scripts without spaces have no words to count.
        let is_dense = || text.chars().filter(|&c| u32::from(c) >= 0x0e00).count() >= 2 * least;
        if is_prose || is_dense() { Self::Prose } else { Self::Value }
    }
}

/// One value that was replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replaced {
    /// The kind of value.
    pub kind: PrivacyKind,
    /// JSON pointer of the string or number in the cell, with replaced keys in their new form; empty for plain text. A
    /// replaced key in the path is given by the kind of its value.
    pub path: String,
    /// First byte of the value in the old string.
    pub start: usize,
    /// The byte after the value.
    pub end: usize,
    /// The replacement.
    pub placeholder: String,
    /// The number of the placeholder.
    pub number: u64,
    /// Whether the replacement is a blank, because the placeholder has no such piece; see `pieces`.
    pub is_lost: bool,
}

/// Visits the values of a text in order, each with the text that contains it.
pub fn in_text<'a>(finder: impl Into<Finder<'a>>, text: &str, mut visit: impl FnMut(&FoundValue, &str)) {
    for found in finder.into().find(text) {
        visit(&found, text);
    }
}

/// Returns the text with its personal values replaced; `None` if it has none.
pub fn redact_text<'a>(
    finder: impl Into<Finder<'a>>,
    numbers: &Numbers,
    text: &str,
) -> Option<(String, Vec<Replaced>)> {
    let mut replaced = Vec::new();
    let new = replace(&finder.into().find(text), numbers, text, "", &mut replaced)?;
    Some((new, replaced))
}

/// Returns the text with placeholders at recorded places; `None` if there are none, or if a place is not in the text.
pub fn fill(text: &str, noted: &[Replaced]) -> Option<(String, Vec<Replaced>)> {
    let mut done = 0;
    for value in noted {
        let is_next =
            done <= value.start && value.start < value.end && text.get(value.start..value.end).is_some();
        if !is_next {
            return None;
        }
        done = value.end;
    }
    Some((filled(text, noted)?, noted.to_vec()))
}

/// Visits the values of a cell with JSON, in order, each with the text that contains it.
pub fn in_json<'a>(finder: impl Into<Finder<'a>>, cell: &str, visit: impl FnMut(&FoundValue, &str)) {
    let finder = finder.into();
    if let Some(value) = worth_reading(finder, cell) {
        in_value(finder, value, visit);
    }
}

/// Visits the values of JSON, in order, each with the text that contains it.
pub(super) fn in_value<'a>(
    finder: impl Into<Finder<'a>>,
    mut value: Value,
    mut visit: impl FnMut(&FoundValue, &str),
) {
    each_leaf(finder.into(), &mut value, |found, text, _| {
        for found in found {
            visit(found, text);
        }
        None
    });
}

/// Walks over JSON and calls `visit` for each string, number and key with values: with these, the old text and its path.
/// What it returns is the new text.
fn each_leaf(
    finder: Finder<'_>,
    value: &mut Value,
    visit: impl FnMut(&[FoundValue], &str, &str) -> Option<String>,
) {
    struct EachLeaf<'f, V>(Finder<'f>, V);
    impl<V: FnMut(&[FoundValue], &str, &str) -> Option<String>> Visitor for EachLeaf<'_, V> {
        fn find(&mut self, leaf: &Leaf<'_>) -> Vec<FoundValue> {
            self.0.find_in_leaf(leaf)
        }

        fn visit(&mut self, found: &[FoundValue], text: &str, path: &str) -> Option<String> {
            (self.1)(found, text, path)
        }
    }
    walk(value, Place::Reply, &mut EachLeaf(finder, visit));
}

/// Searches a cell with JSON for names and street addresses, which the finder's search for people records.
pub fn read_json(finder: Finder<'_>, cell: &str) {
    if let Some(mut value) = worth_reading(finder, cell) {
        each_leaf(finder, &mut value, |_, _, _| None);
    }
}

/// Returns the kinds and places of the personal values in JSON, as JSON pointers; see [`Replaced::path`].
pub fn places(scanner: &Scanner, value: &Value) -> Vec<(PrivacyKind, String)> {
    let mut places = Vec::new();
    each_leaf(scanner.into(), &mut value.clone(), |found, _, path| {
        let personal = found.iter().filter(|value| value.is_personal());
        places.extend(personal.map(|value| (value.kind, path.to_owned())));
        None
    });
    places
}

/// Returns the cell with the personal values of its JSON replaced; `None` if it has none.
pub fn redact_json<'a>(
    finder: impl Into<Finder<'a>>,
    numbers: &Numbers,
    cell: &str,
) -> Option<(String, Vec<Replaced>)> {
    let finder = finder.into();
    redact_value(finder, numbers, worth_reading(finder, cell)?)
}

/// Returns the JSON with its personal values replaced; `None` if it has none.
pub(super) fn redact_value<'a>(
    finder: impl Into<Finder<'a>>,
    numbers: &Numbers,
    mut value: Value,
) -> Option<(String, Vec<Replaced>)> {
    let mut replaced = Vec::new();
    each_leaf(finder.into(), &mut value, |found, text, path| {
        replace(found, numbers, text, path, &mut replaced)
    });
    (!replaced.is_empty()).then(|| (value.to_string(), replaced))
}

/// What a cell of a request is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowCell {
    /// Plain text: an id.
    Id,
    /// The messages, as JSON.
    Messages,
    /// The answer, as JSON.
    Answer,
    /// The messages after the answer, as JSON.
    Following,
}

/// Returns the cells of a request with its personal values, and the pieces of these, replaced; `None` for a cell that has
/// none. `docs` has the [words of its doc list](super::pieces::words_of_docs).
pub fn redact_row(
    finder: Finder<'_>,
    numbers: &Numbers,
    cells: &[(RowCell, Option<&str>)],
    docs: &str,
) -> Vec<Option<(String, Vec<Replaced>)>> {
    let mut leaves = Vec::new();
    let mut read: Vec<Option<Value>> = Vec::new();
    let mut n_leaves = Vec::new();
    for &(cell, text) in cells {
        n_leaves.push(leaves.len());
        let Some(text) = text else {
            read.push(None);
            continue;
        };
        if cell == RowCell::Id {
            let (text, found) = (text.to_owned(), finder.find(text));
            leaves.push(LeafOf { text, place: Place::Reply, is_date: false, is_amount: false, found });
            read.push(None);
            continue;
        }
        let mut value = worth_reading(finder, text);
        if let Some(value) = &mut value {
            walk(value, place_of(cell, value), &mut Recorder { finder, leaves: &mut leaves });
        }
        read.push(value);
    }
    let is_personal = |leaf: &LeafOf| leaf.found.iter().any(FoundValue::is_personal);
    if !leaves.iter().any(is_personal) {
        return vec![None; cells.len()];
    }
    if finder.is_cancelled() {
        return vec![None; cells.len()];
    }
    pieces::complete(&mut leaves, numbers, docs);
    n_leaves.push(leaves.len());
    // Most cells have no values and stay as they are.
    let is_changed = |at: usize| leaves[n_leaves[at]..n_leaves[at + 1]].iter().any(is_personal);
    let changed: Vec<bool> = (0..cells.len()).map(is_changed).collect();
    let mut leaves = leaves.into_iter();
    let mut replaced_cells = Vec::new();
    for (at, (&(cell, text), value)) in cells.iter().zip(read).enumerate() {
        if !changed[at] {
            leaves.by_ref().take(n_leaves[at + 1] - n_leaves[at]).for_each(drop);
            replaced_cells.push(None);
            continue;
        }
        let mut replaced = Vec::new();
        let new = match (text, value) {
            (Some(text), _) if cell == RowCell::Id => {
                let found = leaves.next().map(|leaf| leaf.found).unwrap_or_default();
                replace(&found, numbers, text, "", &mut replaced)
            }
            (_, Some(mut value)) => {
                let place = place_of(cell, &value);
                let (leaves, replaced) = (&mut leaves, &mut replaced);
                walk(&mut value, place, &mut Replayer { leaves, numbers, replaced });
                Some(value.to_string())
            }
            _ => None,
        };
        replaced_cells.push(new.filter(|_| !replaced.is_empty()).map(|new| (new, replaced)));
    }
    replaced_cells
}

/// Returns what the texts of a cell are. Beside calls, the text of an answer is prose.
fn place_of(cell: RowCell, value: &Value) -> Place {
    match cell {
        RowCell::Messages => Place::Question,
        RowCell::Answer if value.get("calls").is_none() => Place::Answer,
        RowCell::Id | RowCell::Answer | RowCell::Following => Place::Reply,
    }
}

/// Records the texts of a cell with the values found in them.
struct Recorder<'f, 'l> {
    finder: Finder<'f>,
    leaves: &'l mut Vec<LeafOf>,
}

impl Visitor for Recorder<'_, '_> {
    fn find(&mut self, leaf: &Leaf<'_>) -> Vec<FoundValue> {
        let found = self.finder.find_in_leaf(leaf);
        self.leaves.push(LeafOf {
            // A name is not searched for pieces.
            text: if leaf.place == Place::Name && found.is_empty() {
                String::new()
            } else {
                leaf.text.to_owned()
            },
            place: leaf.place,
            is_date: matches!(leaf.place, Place::Argument(_)) && is_date_key(leaf.key),
            is_amount: leaf.is_number && !is_number_key(leaf.key),
            found,
        });
        Vec::new()
    }

    fn visit(&mut self, _: &[FoundValue], _: &str, _: &str) -> Option<String> {
        None
    }
}

/// Replaces what was recorded, in the same order.
struct Replayer<'r, I> {
    leaves: &'r mut I,
    numbers: &'r Numbers,
    replaced: &'r mut Vec<Replaced>,
}

impl<I: Iterator<Item = LeafOf>> Visitor for Replayer<'_, I> {
    fn find(&mut self, _: &Leaf<'_>) -> Vec<FoundValue> {
        self.leaves.next().map(|leaf| leaf.found).unwrap_or_default()
    }

    fn visit(&mut self, found: &[FoundValue], text: &str, path: &str) -> Option<String> {
        replace(found, self.numbers, text, path, self.replaced)
    }
}

/// Parses a cell if it may contain a value: most cells contain none, and parsing them would take most of the time. The
/// quick check does not know the key of a value or the text after it, so it only looks for marks that every value has.
/// Escapes can hide these, so cells with escapes are always parsed, as are cells of rows with known values.
fn worth_reading(finder: Finder<'_>, cell: &str) -> Option<Value> {
    let may_hold = finder.known.is_some()
        || finder.own.is_some()
        || finder.people.is_some()
        || memchr::memchr(b'\\', cell.as_bytes()).is_some()
        || finder.scanner.may_hold(cell);
    may_hold.then(|| serde_json::from_str(cell).ok()).flatten()
}

fn replace(
    found: &[FoundValue],
    numbers: &Numbers,
    text: &str,
    path: &str,
    replaced: &mut Vec<Replaced>,
) -> Option<String> {
    let before = replaced.len();
    place(found, numbers, text, path, replaced);
    filled(text, &replaced[before..])
}

/// Records the replacements of a string.
fn place(found: &[FoundValue], numbers: &Numbers, text: &str, path: &str, replaced: &mut Vec<Replaced>) {
    for value in found {
        let Some(number) = numbers.of(value) else { continue };
        let placeholder = value.stand_in(&text[value.start..value.end], number);
        let (kind, path) = (value.kind, path.to_owned());
        let is_lost = value.piece.as_ref().is_some_and(|piece| piece.is_lost);
        replaced.push(Replaced {
            kind,
            path,
            start: value.start,
            end: value.end,
            placeholder,
            number,
            is_lost,
        });
    }
}

/// Returns the text with the placeholders inserted; `None` if there are none.
fn filled(text: &str, replaced: &[Replaced]) -> Option<String> {
    let mut new = String::new();
    let mut done = 0;
    for value in replaced {
        new.push_str(&text[done..value.start]);
        new.push_str(&value.placeholder);
        done = value.end;
    }
    (!replaced.is_empty()).then(|| new + &text[done..])
}
