//! Replaces what was found: in text, and in the strings, numbers and keys of JSON.
//!
//! A number in JSON stays a number of as many digits. What was replaced is noted by place, never
//! by value: the path in the cell, the bytes in the old string, and the placeholder.

use serde_json::{Map, Number, Value};

use super::known::{Known, OwnValues};
use super::numbers::Numbers;
use super::{Found, Kind, Scanner};

/// Finds values: by the recognisers, and those that are known.
#[derive(Debug, Clone, Copy)]
pub struct Finder<'a> {
    scanner: &'a Scanner,
    known: Option<&'a Known>,
    own: Option<&'a OwnValues<'a>>,
}

impl<'a> From<&'a Scanner> for Finder<'a> {
    fn from(scanner: &'a Scanner) -> Self {
        Self { scanner, known: None, own: None }
    }
}

impl<'a> Finder<'a> {
    /// Also the values that are known in the whole run.
    #[must_use]
    pub fn with_known(self, known: &'a Known) -> Self {
        Self { known: Some(known), ..self }
    }

    /// Also the values that are known in this row alone.
    #[must_use]
    pub fn with_own(self, own: &'a OwnValues<'a>) -> Self {
        Self { own: (!own.is_empty()).then_some(own), ..self }
    }

    /// The values that are known in the whole run, if any are looked for.
    pub fn known(&self) -> Option<&'a Known> {
        self.known
    }

    /// The values of a text, in order and without overlaps.
    pub fn find(&self, text: &str) -> Vec<Found> {
        self.complete(self.scanner.scan(text), text, false)
    }

    /// The values of a text under a key; see [`Scanner::scan_under`]. A text that is a name, of a function or a key, may hold
    /// a word that is a password elsewhere.
    fn find_under(&self, key: &str, text: &str, is_name: bool) -> Vec<Found> {
        self.complete(self.scanner.scan_under(key, text), text, is_name)
    }

    fn complete(&self, mut found: Vec<Found>, text: &str, is_name: bool) -> Vec<Found> {
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
        if let Some(own) = self.own.filter(|_| !is_name) {
            found.extend(own.find(text, &found));
        }
        if found.len() > before {
            found.sort_by_key(|value| value.start);
        }
        found
    }
}

/// One value that was replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replaced {
    /// What it was.
    pub kind: Kind,
    /// JSON pointer of the string or number in the cell, with replaced keys as they are now; empty for plain text. In the
    /// path of a key that was replaced its kind stands for it.
    pub path: String,
    /// First byte of the value in the old string.
    pub start: usize,
    /// The byte behind it.
    pub end: usize,
    /// What stands there now.
    pub placeholder: String,
    /// The number of the placeholder.
    pub number: u64,
}

/// Visits the values of a text in order, each with the text it is in.
pub fn in_text(scanner: &Scanner, text: &str, mut visit: impl FnMut(&Found, &str)) {
    for found in scanner.scan(text) {
        visit(&found, text);
    }
}

/// The text with its personal values replaced; `None` where there are none.
pub fn redact_text<'a>(
    finder: impl Into<Finder<'a>>,
    numbers: &Numbers,
    text: &str,
) -> Option<(String, Vec<Replaced>)> {
    let mut replaced = Vec::new();
    let new = replace(&finder.into().find(text), numbers, text, "", &mut replaced)?;
    Some((new, replaced))
}

/// The text with placeholders in places that are known; `None` where there are none, or where one is not in the text.
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

/// Visits the values of a cell that holds JSON, in order, each with the text it is in.
pub fn in_json(scanner: &Scanner, cell: &str, visit: impl FnMut(&Found, &str)) {
    if let Some(value) = worth_reading(scanner.into(), cell) {
        in_value(scanner, value, visit);
    }
}

/// Visits the values of JSON, in order, each with the text it is in.
pub(super) fn in_value(scanner: &Scanner, mut value: Value, mut visit: impl FnMut(&Found, &str)) {
    walk(scanner.into(), &mut value, &mut String::new(), "", &mut |found, text, _| {
        for found in found {
            visit(found, text);
        }
        None
    });
}

/// The kinds of the personal values in JSON and their places, as JSON pointers; see [`Replaced::path`].
pub fn places(scanner: &Scanner, value: &Value) -> Vec<(Kind, String)> {
    let mut places = Vec::new();
    walk(scanner.into(), &mut value.clone(), &mut String::new(), "", &mut |found, _, path| {
        let personal = found.iter().filter(|value| value.is_personal());
        places.extend(personal.map(|value| (value.kind, path.to_owned())));
        None
    });
    places
}

/// The cell with the personal values of its JSON replaced; `None` where there are none.
pub fn redact_json<'a>(
    finder: impl Into<Finder<'a>>,
    numbers: &Numbers,
    cell: &str,
) -> Option<(String, Vec<Replaced>)> {
    let finder = finder.into();
    redact_value(finder, numbers, worth_reading(finder, cell)?)
}

/// The JSON with its personal values replaced; `None` where there are none.
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

/// Reads a cell where something may be found: most cells hold nothing, and reading them would cost more than all else.
/// What looks ahead does not know which key a value stands under nor what follows it, so it only asks for the marks that no
/// value is without. Escapes can hide those, so cells with escapes are read, and so are those of rows in which something is
/// known.
fn worth_reading(finder: Finder<'_>, cell: &str) -> Option<Value> {
    let may_hold = finder.known.is_some()
        || finder.own.is_some()
        || memchr::memchr(b'\\', cell.as_bytes()).is_some()
        || finder.scanner.may_hold(cell);
    may_hold.then(|| serde_json::from_str(cell).ok()).flatten()
}

fn replace(
    found: &[Found],
    numbers: &Numbers,
    text: &str,
    path: &str,
    replaced: &mut Vec<Replaced>,
) -> Option<String> {
    let before = replaced.len();
    place(found, numbers, text, path, replaced);
    filled(text, &replaced[before..])
}

/// Notes what goes where.
fn place(found: &[Found], numbers: &Numbers, text: &str, path: &str, replaced: &mut Vec<Replaced>) {
    for value in found {
        let Some(number) = numbers.of(value) else { continue };
        let placeholder = value.stand_in(&text[value.start..value.end], number);
        let (kind, path) = (value.kind, path.to_owned());
        replaced.push(Replaced { kind, path, start: value.start, end: value.end, placeholder, number });
    }
}

/// The text with the placeholders in their places; `None` where there are none.
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

/// Asked for each string, number and key: what was found, the old text, its path. Answers with the new text.
type Visit<'v> = dyn FnMut(&[Found], &str, &str) -> Option<String> + 'v;

/// Keys of what is no text: names of functions, roles, ids. A word that is a password in the text may be any of these.
const NOT_TEXT: [&str; 4] = ["name", "role", "id", "call_id"];

/// `key` is what the value stands under: its own key and the one above.
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
                // Should it be no number any more, a string is better than the old value.
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

/// Asks only where something was found.
fn visited(found: &[Found], text: &str, path: &str, visit: &mut Visit<'_>) -> Option<String> {
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
        // A placeholder that is there already must not take another's place.
        let name =
            name_now.map_or(name, |now| free_key(now, |key| old.contains_key(key) || new.contains_key(key)));
        let key = if outer.is_empty() { name.clone() } else { format!("{outer} {name}") };
        under(path, &name, |path| walk(finder, &mut item, path, &key, visit));
        new.insert(name, item);
    }
    *fields = new;
}

/// The key, with a number behind it where it is taken.
fn free_key(key: String, is_taken: impl Fn(&str) -> bool) -> String {
    if !is_taken(&key) {
        return key;
    }
    let mut keys = (2_u64..).map(|number| format!("{key} {number}"));
    keys.find(|key| !is_taken(key)).unwrap_or(key)
}

/// A key in a path without what was found in it.
fn replace_key(found: &[Found], key: &str) -> String {
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
