//! Visits the strings, numbers and keys of JSON in order, each with its place in a conversation.
//!
//! The same JSON is always visited in the same order, so what a first walk found can be given to a second one that
//! replaces it. Which texts hold values is not decided here; see `apply` and `pieces`.

use serde_json::{Map, Number, Value};

use super::FoundValue;
use super::address;
use super::asked::question_before;

/// The key of the text of a message.
pub(super) const CONTENT: &str = "content";
/// The key of the arguments of a call.
const ARGUMENTS: &str = "arguments";
/// The key of the name of a called function.
const NAME: &str = "name";
/// Keys whose value is not text: names of functions, roles, ids. These may equal a word that is a password in the text.
const NOT_TEXT: [&str; 4] = ["name", "role", "id", "call_id"];

/// What a text is in a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// A message of the user or of the application: what an answer is derived from.
    Question,
    /// A message of the model, a result of a call, or any other text.
    Reply,
    /// A text answer of the model, which may be the notation of a call.
    Answer,
    /// An argument of a call, with the number of the call in its cell.
    Argument(usize),
    /// A name of a function, a key, a role or an id.
    Name,
}

/// A string, number or key of JSON.
#[derive(Debug, Clone, Copy)]
pub(super) struct Leaf<'w> {
    /// The string, the number as written, or the key.
    pub(super) text: &'w str,
    /// Its own key and the one above.
    pub(super) key: &'w str,
    /// What it is.
    pub(super) place: Place,
    /// Whether it is a number of JSON.
    pub(super) is_number: bool,
    /// The question of another turn that it answers, if it is short.
    pub(super) asked: Option<&'w str>,
    /// The function of the call whose argument it is.
    pub(super) function: &'w str,
}

/// Finds and replaces the values of leaves.
pub(super) trait Visitor {
    /// Returns the values of a leaf, in order and without overlaps.
    fn find(&mut self, leaf: &Leaf<'_>) -> Vec<FoundValue>;

    /// Returns the new text of a leaf with values; `path` is its JSON pointer, in which a replaced key is given by the
    /// kind of its value.
    fn visit(&mut self, found: &[FoundValue], text: &str, path: &str) -> Option<String>;
}

/// Walks over JSON; `place` is that of texts outside of messages.
pub(super) fn walk(value: &mut Value, place: Place, visitor: &mut dyn Visitor) {
    let mut walker =
        Walker { visitor, path: String::new(), place, asked: None, function: String::new(), n_calls: 0 };
    walker.value(value, "");
}

struct Walker<'v> {
    visitor: &'v mut dyn Visitor,
    path: String,
    place: Place,
    asked: Option<String>,
    function: String,
    n_calls: usize,
}

impl Walker<'_> {
    /// `key` is the path of the value: its own key and the one above.
    fn value(&mut self, value: &mut Value, key: &str) {
        match value {
            Value::String(text) => {
                // An argument `name` is a value.
                let is_name = !matches!(self.place, Place::Argument(_))
                    && key.rsplit(' ').next().is_some_and(|key| NOT_TEXT.contains(&key));
                let place = if is_name { Place::Name } else { self.place };
                if let Some(new) = self.leaf(text, key, place, false) {
                    *text = new;
                }
            }
            Value::Number(number) => {
                let text = number.to_string();
                if let Some(new) = self.leaf(&text, key, self.place, true) {
                    *value = number_of(new);
                }
            }
            Value::Array(items) => self.items(items, key),
            Value::Object(fields) => self.fields(fields, key),
            Value::Null | Value::Bool(_) => {}
        }
    }

    fn leaf(&mut self, text: &str, key: &str, place: Place, is_number: bool) -> Option<String> {
        let is_content = key.rsplit(' ').next() == Some(CONTENT);
        let asked = self.asked.as_deref().filter(|_| is_content);
        let function = &*self.function;
        let found = self.visitor.find(&Leaf { text, key, place, is_number, asked, function });
        if found.is_empty() { None } else { self.visitor.visit(&found, text, &self.path) }
    }

    fn items(&mut self, items: &mut [Value], key: &str) {
        let mut done: Vec<(bool, String)> = Vec::new();
        for (at, item) in items.iter_mut().enumerate() {
            let message = message(item);
            let is_user = message.as_ref().is_some_and(|(role, _)| *role == "user");
            self.asked = if is_user { question_before(&done) } else { None };
            if let Some((role, content)) = message {
                done.push((role == "user", content.to_owned()));
            }
            self.under(&at.to_string(), |walker| walker.value(item, key));
            self.asked = None;
        }
    }

    fn fields(&mut self, fields: &mut Map<String, Value>, key: &str) {
        let before = self.place;
        if let (Place::Question, Some(role)) = (before, fields.get("role").and_then(Value::as_str)) {
            self.place = if matches!(role, "user" | "system") { Place::Question } else { Place::Reply };
        }
        let outer = key.rsplit(' ').next().unwrap_or_default();
        let mut new = Map::with_capacity(fields.len());
        let mut old = std::mem::take(fields);
        let names: Vec<String> = old.keys().cloned().collect();
        let function = old.get(NAME).and_then(Value::as_str).unwrap_or_default().to_owned();
        for name in names {
            let mut item = old.get_mut(&name).map(Value::take).unwrap_or_default();
            let found = self.visitor.find(&Leaf {
                text: &name,
                key: "",
                place: Place::Name,
                is_number: false,
                asked: None,
                function: "",
            });
            let name_now = if found.is_empty() {
                None
            } else {
                let now = key_for_path(&found, &name);
                self.under(&now, |walker| walker.visitor.visit(&found, &name, &walker.path))
            };
            // A placeholder must not replace another one with the same key.
            let name = name_now
                .map_or(name, |now| free_key(now, |key| old.contains_key(key) || new.contains_key(key)));
            let key = if outer.is_empty() { name.clone() } else { format!("{outer} {name}") };
            let place = self.place;
            if name == ARGUMENTS && !matches!(place, Place::Argument(_)) {
                self.place = Place::Argument(self.n_calls);
                self.n_calls += 1;
                self.function.clone_from(&function);
            }
            self.under(&name, |walker| walker.value(&mut item, &key));
            self.place = place;
            if !matches!(place, Place::Argument(_)) {
                self.function.clear();
            }
            new.insert(name, item);
        }
        *fields = new;
        self.place = before;
    }

    fn under<T>(&mut self, step: &str, inner: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.path.len();
        self.path.push('/');
        self.path.push_str(&step.replace('~', "~0").replace('/', "~1"));
        let answer = inner(self);
        self.path.truncate(length);
        answer
    }
}

/// Returns the role and the text of a message.
fn message(value: &Value) -> Option<(&str, &str)> {
    let role = value.get("role")?.as_str()?;
    Some((role, value.get(CONTENT).and_then(Value::as_str).unwrap_or_default()))
}

/// Returns a number of this text. Zeros at the front, which a number cannot have, are left out. If it is no number, a
/// string is better than the old value.
fn number_of(text: String) -> Value {
    let digits = text.trim_start_matches('0');
    let is_whole = text.len() > 1 && text.bytes().all(|byte| byte.is_ascii_digit());
    let number =
        if is_whole && text.starts_with('0') { if digits.is_empty() { "0" } else { digits } } else { &text };
    serde_json::from_str::<Number>(number).map_or(Value::String(text), Value::Number)
}

/// Returns the key, with a number added if it is taken. In the placeholder of an e-mail address the number is a tag, so that the
/// key still has an address.
fn free_key(key: String, is_taken: impl Fn(&str) -> bool) -> String {
    if !is_taken(&key) {
        return key;
    }
    let at = address::at_sign(&key);
    let mut keys = (2_u64..).map(|number| match at {
        Some(at) => format!("{}+{number}{}", &key[..at], &key[at..]),
        None => format!("{key} {number}"),
    });
    keys.find(|key| !is_taken(key)).unwrap_or(key)
}

/// Returns a key for a path, without the values in it.
fn key_for_path(found: &[FoundValue], key: &str) -> String {
    let mut new = String::new();
    let mut done = 0;
    for value in found {
        new.push_str(&key[done..value.start]);
        new.push_str(value.kind.name());
        done = value.end;
    }
    new + &key[done..]
}
