//! The values of a TOML file with their lines, and a reader of tables that knows which keys were read.

#![expect(
    clippy::unnecessary_box_returns,
    reason = "faults are large, and every reader returns them in a box"
)]

use std::cell::RefCell;

use serde_json::{Map, Number, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::error::FileFault;

/// A value with its line.
#[derive(Debug, Clone)]
pub(super) struct Located {
    /// The line, from 1.
    pub(super) line: usize,
    pub(super) node: Node,
}

/// The content of a value. A date or time of TOML is its text.
#[derive(Debug, Clone)]
pub(super) enum Node {
    Text(String),
    Number(Number),
    Boolean(bool),
    List(Vec<Located>),
    Table(Vec<(String, Located)>),
}

impl Located {
    /// Returns the value as JSON.
    pub(super) fn json(&self) -> Value {
        match &self.node {
            Node::Text(text) => Value::String(text.clone()),
            Node::Number(number) => Value::Number(number.clone()),
            Node::Boolean(boolean) => Value::Bool(*boolean),
            Node::List(items) => items.iter().map(Self::json).collect(),
            Node::Table(members) => {
                let members = members.iter().map(|(key, value)| (key.clone(), value.json()));
                Value::Object(members.collect::<Map<_, _>>())
            }
        }
    }

    /// Returns the value in words, shortened.
    pub(super) fn found(&self) -> String {
        let text = match &self.node {
            Node::List(items) => return format!("a list of {}", items.len()),
            Node::Table(members) => {
                let keys: Vec<&str> = members.iter().map(|(key, _)| key.as_str()).collect();
                format!(
                    "a table with {}",
                    if keys.is_empty() { "no key".to_owned() } else { keys.join(", ") }
                )
            }
            _ => self.json().to_string(),
        };
        if text.chars().count() <= 80 { text } else { text.chars().take(79).chain(['…']).collect() }
    }
}

/// Reads a text as TOML.
pub(super) fn parse(file: &str, text: &str) -> Result<Located, Box<FileFault>> {
    let starts: Vec<usize> =
        [0].into_iter().chain(text.match_indices('\n').map(|(place, _)| place + 1)).collect();
    let line = |at: usize| starts.partition_point(|start| *start <= at);
    let table = DeTable::parse(text).map_err(|error| {
        let line = error.span().map_or(1, |span| line(span.start));
        let found = error.message().trim_end().replace('\n', "; ");
        fault(file, line, "the file", &found, "TOML", None)
    })?;
    let span = table.span();
    located(file, &line, &Spanned::new(span, DeValue::Table(table.into_inner())))
}

fn fault(
    file: &str,
    line: usize,
    key: &str,
    found: &str,
    expected: &str,
    hint: Option<String>,
) -> Box<FileFault> {
    let [file, key, found, expected] = [file, key, found, expected].map(str::to_owned);
    Box::new(FileFault { file, line, key, found, expected, hint })
}

fn located(
    file: &str,
    line: &dyn Fn(usize) -> usize,
    value: &Spanned<DeValue<'_>>,
) -> Result<Located, Box<FileFault>> {
    let at = line(value.span().start);
    let bad_number = |text: &str| fault(file, at, "a number", text, "a finite number of 64 bits", None);
    let node = match value.get_ref() {
        DeValue::String(text) => Node::Text(text.to_string()),
        DeValue::Integer(integer) => {
            let number = i64::from_str_radix(integer.as_str(), integer.radix());
            Node::Number(number.map_err(|_| bad_number(integer.as_str()))?.into())
        }
        DeValue::Float(float) => {
            let number = float.as_str().parse().ok().and_then(Number::from_f64);
            Node::Number(number.ok_or_else(|| bad_number(float.as_str()))?)
        }
        DeValue::Boolean(boolean) => Node::Boolean(*boolean),
        DeValue::Datetime(datetime) => Node::Text(datetime.to_string()),
        DeValue::Array(items) => {
            Node::List(items.iter().map(|item| located(file, line, item)).collect::<Result<_, _>>()?)
        }
        DeValue::Table(members) => {
            let mut places: Vec<(usize, String, Located)> = Vec::with_capacity(members.len());
            for (key, value) in members {
                let mut value_at = located(file, line, value)?;
                let start = key.span().start;
                // A table of its own starts at its header, which is the line of its key.
                if matches!(value_at.node, Node::Table(_)) {
                    value_at.line = line(start);
                }
                places.push((start, key.get_ref().to_string(), value_at));
            }
            places.sort_by_key(|(start, ..)| *start);
            Node::Table(places.into_iter().map(|(_, key, value)| (key, value)).collect())
        }
    };
    Ok(Located { line: at, node })
}

/// A table of the file while its keys are read.
pub(super) struct Section<'f> {
    file: &'f str,
    /// The place in the file, such as `functions[2].parameters`.
    pub(super) path: String,
    pub(super) line: usize,
    members: &'f [(String, Located)],
    read: RefCell<Vec<&'static str>>,
}

impl<'f> Section<'f> {
    /// Returns a value as a table.
    pub(super) fn of(
        file: &'f str,
        path: impl Into<String>,
        value: &'f Located,
    ) -> Result<Self, Box<FileFault>> {
        let path = path.into();
        match &value.node {
            Node::Table(members) => {
                Ok(Self { file, path, line: value.line, members, read: RefCell::default() })
            }
            _ => Err(fault(file, value.line, &path, &value.found(), "a table", None)),
        }
    }

    pub(super) fn file(&self) -> &'f str {
        self.file
    }

    /// Returns the place of a key.
    pub(super) fn place(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    /// Returns a fault at a key of this table.
    pub(super) fn fault(&self, key: &str, expected: &str, hint: Option<String>) -> Box<FileFault> {
        let value = self.members.iter().find(|(name, _)| name == key).map(|(_, value)| value);
        let found = value.map_or_else(|| "no such key".to_owned(), Located::found);
        let line = value.map_or(self.line, |value| value.line);
        fault(self.file, line, &self.place(key), &found, expected, hint)
    }

    /// Returns a fault at a value below a key.
    pub(super) fn fault_at(
        &self,
        place: &str,
        value: &Located,
        expected: &str,
        hint: Option<String>,
    ) -> Box<FileFault> {
        fault(self.file, value.line, place, &value.found(), expected, hint)
    }

    /// Returns all members, as written. Every key counts as read.
    pub(super) fn members(&self) -> &'f [(String, Located)] {
        self.members
    }

    pub(super) fn get(&self, key: &'static str) -> Option<&'f Located> {
        self.read.borrow_mut().push(key);
        self.members.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    pub(super) fn require(&self, key: &'static str, expected: &str) -> Result<&'f Located, Box<FileFault>> {
        self.get(key).ok_or_else(|| self.fault(key, expected, None))
    }

    pub(super) fn text(&self, key: &'static str) -> Result<&'f str, Box<FileFault>> {
        self.optional_text(key)?.ok_or_else(|| self.fault(key, "a text", None))
    }

    pub(super) fn optional_text(&self, key: &'static str) -> Result<Option<&'f str>, Box<FileFault>> {
        match self.get(key).map(|value| &value.node) {
            None => Ok(None),
            Some(Node::Text(text)) => Ok(Some(text)),
            Some(_) => Err(self.fault(key, "a text", None)),
        }
    }

    pub(super) fn flag(&self, key: &'static str) -> Result<bool, Box<FileFault>> {
        match self.get(key).map(|value| &value.node) {
            None => Ok(false),
            Some(Node::Boolean(flag)) => Ok(*flag),
            Some(_) => Err(self.fault(key, "true or false", None)),
        }
    }

    pub(super) fn number(&self, key: &'static str) -> Result<Option<&'f Number>, Box<FileFault>> {
        match self.get(key).map(|value| &value.node) {
            None => Ok(None),
            Some(Node::Number(number)) => Ok(Some(number)),
            Some(_) => Err(self.fault(key, "a number", None)),
        }
    }

    pub(super) fn list(&self, key: &'static str) -> Result<&'f [Located], Box<FileFault>> {
        match self.get(key).map(|value| &value.node) {
            None => Ok(&[]),
            Some(Node::List(items)) => Ok(items),
            Some(_) => Err(self.fault(key, "a list", None)),
        }
    }

    pub(super) fn table(&self, key: &'static str) -> Result<Option<Section<'f>>, Box<FileFault>> {
        self.get(key).map(|value| Section::of(self.file, self.place(key), value)).transpose()
    }

    /// Checks that every key was read.
    pub(super) fn finish(&self) -> Result<(), Box<FileFault>> {
        let read = self.read.borrow();
        match self.members.iter().find(|(key, _)| !read.contains(&key.as_str())) {
            None => Ok(()),
            Some((key, value)) => {
                let known: Vec<&str> = read.iter().copied().collect();
                let expected = format!("one of the keys {}", known.join(", "));
                let found = format!("the key {key}");
                Err(fault(self.file, value.line, &self.place(key), &found, &expected, nearest(key, &known)))
            }
        }
    }
}

/// Returns a hint with the known word that is most like this one, or with all of them if they are few.
pub(super) fn nearest(word: &str, known: &[&str]) -> Option<String> {
    let scored = known.iter().map(|name| (strsim::jaro_winkler(word, name), *name));
    let best = scored.filter(|(score, _)| *score >= 0.75).max_by(|a, b| a.0.total_cmp(&b.0));
    match best {
        Some((_, name)) => Some(format!("did you mean {name}?")),
        None if !known.is_empty() && known.len() <= 30 => Some(format!("known: {}", known.join(", "))),
        None => None,
    }
}
