//! Replaces values in text, and in the strings, numbers and keys of JSON.
//!
//! A number in JSON stays a number with the same number of digits. Replacements are recorded by place, never by value:
//! the path in the cell, the bytes in the old string, and the placeholder.

use serde_json::{Map, Number, Value};

use super::known::{KnownValues, OwnValues};
use super::numbers::Numbers;
use super::people::{PeopleOf, descriptions};
use super::{FoundValue, PrivacyKind, Scanner};

/// Finds values with the recognisers, known values, and names and street addresses.
#[derive(Debug, Clone, Copy)]
pub struct Finder<'a> {
    scanner: &'a Scanner,
    known: Option<&'a KnownValues>,
    own: Option<&'a OwnValues<'a>>,
    people: Option<PeopleOf<'a>>,
}

/// Minimum number of words of a text that is read for names: of a message, and of another text, such as an argument. A
/// shorter one does not show whether a name is a person's.
const LEAST_WORDS: usize = 2;
const LEAST_WORDS_OF_VALUE: usize = 4;
/// The key of the text of a message.
const CONTENT: &str = "content";

impl<'a> From<&'a Scanner> for Finder<'a> {
    fn from(scanner: &'a Scanner) -> Self {
        Self { scanner, known: None, own: None, people: None }
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

    /// Returns the known values of the whole run, if they are searched for.
    pub fn known(&self) -> Option<&'a KnownValues> {
        self.known
    }

    /// Returns the values of a text, in order and without overlaps.
    pub fn find(&self, text: &str) -> Vec<FoundValue> {
        self.complete(self.scanner.scan(text), text, Use::Value)
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

    /// Returns the values of a text under a key; see [`Scanner::scan_under`]. A text that is a name, of a function or a
    /// key, may contain a word that is a password elsewhere.
    fn find_under(&self, key: &str, text: &str, is_name: bool) -> Vec<FoundValue> {
        let text_is = if is_name { Use::Name } else { Use::of(key, text) };
        self.complete(self.scanner.scan_under(key, text), text, text_is)
    }

    fn complete(&self, mut found: Vec<FoundValue>, text: &str, text_is: Use) -> Vec<FoundValue> {
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
}

/// Visits the values of a text in order, each with the text that contains it.
pub fn in_text(scanner: &Scanner, text: &str, mut visit: impl FnMut(&FoundValue, &str)) {
    for found in scanner.scan(text) {
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
pub fn in_json(scanner: &Scanner, cell: &str, visit: impl FnMut(&FoundValue, &str)) {
    if let Some(value) = worth_reading(scanner.into(), cell) {
        in_value(scanner, value, visit);
    }
}

/// Visits the values of JSON, in order, each with the text that contains it.
pub(super) fn in_value(scanner: &Scanner, mut value: Value, mut visit: impl FnMut(&FoundValue, &str)) {
    walk(scanner.into(), &mut value, &mut String::new(), "", &mut |found, text, _| {
        for found in found {
            visit(found, text);
        }
        None
    });
}

/// Searches a cell with JSON for names and street addresses, which the finder's search for people records.
pub fn read_json(finder: Finder<'_>, cell: &str) {
    if let Some(mut value) = worth_reading(finder, cell) {
        walk(finder, &mut value, &mut String::new(), "", &mut |_, _, _| None);
    }
}

/// Returns the kinds and places of the personal values in JSON, as JSON pointers; see [`Replaced::path`].
pub fn places(scanner: &Scanner, value: &Value) -> Vec<(PrivacyKind, String)> {
    let mut places = Vec::new();
    walk(scanner.into(), &mut value.clone(), &mut String::new(), "", &mut |found, _, path| {
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
    walk(finder.into(), &mut value, &mut String::new(), "", &mut |found, text, path| {
        replace(found, numbers, text, path, &mut replaced)
    });
    (!replaced.is_empty()).then(|| (value.to_string(), replaced))
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
        replaced.push(Replaced { kind, path, start: value.start, end: value.end, placeholder, number });
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

/// Called for each string, number and key with its values, the old text and its path. Returns the new text.
type Visit<'v> = dyn FnMut(&[FoundValue], &str, &str) -> Option<String> + 'v;

/// Keys whose value is not text: names of functions, roles, ids. These may equal a word that is a password in the text.
const NOT_TEXT: [&str; 4] = ["name", "role", "id", "call_id"];

/// `key` is the path of the value: its own key and the one above.
fn walk(finder: Finder<'_>, value: &mut Value, path: &mut String, key: &str, visit: &mut Visit<'_>) {
    match value {
        Value::String(text) => {
            let is_name = key.rsplit(' ').next().is_some_and(|key| NOT_TEXT.contains(&key));
            let found = finder.find_under(key, text, is_name);
            if let Some(new) = visited(&found, text, path, visit) {
                *text = new;
            }
        }
        Value::Number(number) => {
            let text = number.to_string();
            let found = finder.find_under(key, &text, false);
            if let Some(new) = visited(&found, &text, path, visit) {
                // If it is no longer a valid number, a string is better than the old value.
                *value = serde_json::from_str::<Number>(&new).map_or(Value::String(new), Value::Number);
            }
        }
        Value::Array(items) => {
            for (at, item) in items.iter_mut().enumerate() {
                under(path, &at.to_string(), |path| walk(finder, item, path, key, visit));
            }
        }
        Value::Object(fields) => walk_fields(finder, fields, path, key, visit),
        Value::Null | Value::Bool(_) => {}
    }
}

/// Calls `visit` only if there are values.
fn visited(found: &[FoundValue], text: &str, path: &str, visit: &mut Visit<'_>) -> Option<String> {
    if found.is_empty() { None } else { visit(found, text, path) }
}

fn walk_fields(
    finder: Finder<'_>,
    fields: &mut Map<String, Value>,
    path: &mut String,
    key: &str,
    visit: &mut Visit<'_>,
) {
    let outer = key.rsplit(' ').next().unwrap_or_default();
    let mut new = Map::with_capacity(fields.len());
    let mut old = std::mem::take(fields);
    let names: Vec<String> = old.keys().cloned().collect();
    for name in names {
        let mut item = old.get_mut(&name).map(Value::take).unwrap_or_default();
        let found = finder.find_under("", &name, true);
        let name_now = if found.is_empty() {
            None
        } else {
            let now = replace_key(&found, &name);
            under(path, &now, |path| visit(&found, &name, path))
        };
        // A placeholder must not replace another one with the same key.
        let name =
            name_now.map_or(name, |now| free_key(now, |key| old.contains_key(key) || new.contains_key(key)));
        let key = if outer.is_empty() { name.clone() } else { format!("{outer} {name}") };
        under(path, &name, |path| walk(finder, &mut item, path, &key, visit));
        new.insert(name, item);
    }
    *fields = new;
}

/// Returns the key, with a number appended if it is taken.
fn free_key(key: String, is_taken: impl Fn(&str) -> bool) -> String {
    if !is_taken(&key) {
        return key;
    }
    let mut keys = (2_u64..).map(|number| format!("{key} {number}"));
    keys.find(|key| !is_taken(key)).unwrap_or(key)
}

/// Returns a key for a path, without the values in it.
fn replace_key(found: &[FoundValue], key: &str) -> String {
    let mut new = String::new();
    let mut done = 0;
    for value in found {
        new.push_str(&key[done..value.start]);
        new.push_str(value.kind.name());
        done = value.end;
    }
    new + &key[done..]
}

fn under<T>(path: &mut String, step: &str, inner: impl FnOnce(&mut String) -> T) -> T {
    let length = path.len();
    path.push('/');
    path.push_str(&step.replace('~', "~0").replace('/', "~1"));
    let answer = inner(path);
    path.truncate(length);
    answer
}
