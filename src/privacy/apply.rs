//! Replaces what was found: in text, and in the strings, numbers and keys of JSON.
//!
//! A number in JSON stays a number of as many digits. What was replaced is noted by place, never
//! by value: the path in the cell, the bytes in the old string, and the placeholder.

use serde_json::{Map, Number, Value};

use super::numbers::Numbers;
use super::{Found, Kind, Scanner};

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
}

/// Visits the values of a text in order.
pub fn in_text(scanner: &Scanner, text: &str, mut visit: impl FnMut(&Found)) {
    scanner.scan(text).iter().for_each(&mut visit);
}

/// The text with its personal values replaced; `None` where there are none.
pub fn redact_text(scanner: &Scanner, numbers: &Numbers, text: &str) -> Option<(String, Vec<Replaced>)> {
    let mut replaced = Vec::new();
    let new = replace(&scanner.scan(text), numbers, text, "", &mut replaced)?;
    Some((new, replaced))
}

/// Visits the values of a cell that holds JSON, in order.
pub fn in_json(scanner: &Scanner, cell: &str, mut visit: impl FnMut(&Found)) {
    if let Some(value) = worth_reading(scanner, cell) {
        in_value(scanner, value, &mut visit);
    }
}

/// Visits the values of JSON, in order.
pub(super) fn in_value(scanner: &Scanner, mut value: Value, mut visit: impl FnMut(&Found)) {
    walk(scanner, &mut value, &mut String::new(), "", &mut |found, _, _| {
        found.iter().for_each(&mut visit);
        None
    });
}

/// The cell with the personal values of its JSON replaced; `None` where there are none.
pub fn redact_json(scanner: &Scanner, numbers: &Numbers, cell: &str) -> Option<(String, Vec<Replaced>)> {
    redact_value(scanner, numbers, worth_reading(scanner, cell)?)
}

/// The JSON with its personal values replaced; `None` where there are none.
pub(super) fn redact_value(
    scanner: &Scanner,
    numbers: &Numbers,
    mut value: Value,
) -> Option<(String, Vec<Replaced>)> {
    let mut replaced = Vec::new();
    walk(scanner, &mut value, &mut String::new(), "", &mut |found, text, path| {
        replace(found, numbers, text, path, &mut replaced)
    });
    (!replaced.is_empty()).then(|| (value.to_string(), replaced))
}

/// Reads a cell where something may be found: most cells hold nothing, and reading them would cost more than all else.
/// What looks ahead does not know which key a value stands under nor what follows it, so it only asks for the marks that no
/// value is without. Escapes can hide those, so cells with escapes are read.
fn worth_reading(scanner: &Scanner, cell: &str) -> Option<Value> {
    let may_hold = memchr::memchr(b'\\', cell.as_bytes()).is_some() || scanner.may_hold(cell);
    may_hold.then(|| serde_json::from_str(cell).ok()).flatten()
}

fn replace(
    found: &[Found],
    numbers: &Numbers,
    text: &str,
    path: &str,
    replaced: &mut Vec<Replaced>,
) -> Option<String> {
    let mut new = String::new();
    let mut done = 0;
    for value in found {
        let Some(number) = numbers.of(value) else { continue };
        let placeholder = value.stand_in(&text[value.start..value.end], number);
        new.push_str(&text[done..value.start]);
        new.push_str(&placeholder);
        done = value.end;
        let (kind, path) = (value.kind, path.to_owned());
        replaced.push(Replaced { kind, path, start: value.start, end: value.end, placeholder });
    }
    (done > 0).then(|| new + &text[done..])
}

/// Asked for each string, number and key: what was found, the old text, its path. Answers with the new text.
type Visit<'v> = dyn FnMut(&[Found], &str, &str) -> Option<String> + 'v;

/// `key` is what the value stands under: its own key and the one above.
fn walk(scanner: &Scanner, value: &mut Value, path: &mut String, key: &str, visit: &mut Visit<'_>) {
    match value {
        Value::String(text) => {
            let found = scanner.scan_under(key, text);
            if let Some(new) = visited(&found, text, path, visit) {
                *text = new;
            }
        }
        Value::Number(number) => {
            let text = number.to_string();
            let found = scanner.scan_under(key, &text);
            if let Some(new) = visited(&found, &text, path, visit) {
                // Should it be no number any more, a string is better than the old value.
                *value = serde_json::from_str::<Number>(&new).map_or(Value::String(new), Value::Number);
            }
        }
        Value::Array(items) => {
            for (at, item) in items.iter_mut().enumerate() {
                under(path, &at.to_string(), |path| walk(scanner, item, path, key, visit));
            }
        }
        Value::Object(fields) => walk_fields(scanner, fields, path, key, visit),
        Value::Null | Value::Bool(_) => {}
    }
}

/// Asks only where something was found.
fn visited(found: &[Found], text: &str, path: &str, visit: &mut Visit<'_>) -> Option<String> {
    if found.is_empty() { None } else { visit(found, text, path) }
}

fn walk_fields(
    scanner: &Scanner,
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
        let found = scanner.scan(&name);
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
        under(path, &name, |path| walk(scanner, &mut item, path, &key, visit));
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
