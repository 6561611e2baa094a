//! Columns of lines that no log format fits: what they hold, and which of them could be query and functions.
//!
//! A guess is only taken where more lines become requests with it. It goes by what cells hold
//! (docs that can be read, messages, text of several words) and then by what columns are called.

use std::collections::BTreeMap;

use serde_json::Value;

use super::form::{form, is_plain};
use super::lines::Lines;
use super::look::{Column, Guess};
use super::sample::Sampled;
use crate::docs::parse::parse;
use crate::ingest::log_formats::Columns;
use crate::ingest::read::Block;

/// Lines whose cells are looked into.
const MAX_LINES: usize = 200;
/// Columns that are told.
const MAX_COLUMNS: usize = 24;
/// Characters that are told of a cell.
const FORM_CHARS: usize = 48;
/// Parts of names that say what a column is.
const QUERY_WORDS: [&str; 11] =
    ["quer", "quest", "prompt", "ask", "user", "utter", "instruct", "input", "request", "message", "text"];
const RESPONSE_WORDS: [&str; 7] = ["respon", "answer", "output", "complet", "assistant", "repl", "predict"];

/// What a cell holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Docs,
    Messages,
    Text,
    Word,
    Object,
    List,
    Number,
    Flag,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Docs => "function docs",
            Self::Messages => "messages",
            Self::Text => "text",
            Self::Word => "word",
            Self::Object => "object",
            Self::List => "list",
            Self::Number => "number",
            Self::Flag => "flag",
        }
    }

    fn of(cell: &Value) -> Self {
        match cell {
            Value::Bool(_) | Value::Null => Self::Flag,
            Value::Number(_) => Self::Number,
            Value::String(text) => Self::of_text(text),
            _ if are_messages(cell) => Self::Messages,
            _ if parse(&cell.to_string()).is_ok() => Self::Docs,
            Value::Array(_) => Self::List,
            Value::Object(_) => Self::Object,
        }
    }

    fn of_text(text: &str) -> Self {
        match serde_json::from_str::<Value>(text) {
            Ok(value) if are_messages(&value) => Self::Messages,
            Ok(Value::Number(_)) => Self::Number,
            _ if parse(text).is_ok() => Self::Docs,
            _ if text.trim().contains(char::is_whitespace) => Self::Text,
            _ => Self::Word,
        }
    }
}

fn are_messages(value: &Value) -> bool {
    let is_message = |message: &Value| message.get("role").is_some() && message.get("content").is_some();
    value.as_array().is_some_and(|list| !list.is_empty() && list.iter().all(is_message))
}

/// What is known of a column: how many cells of each kind, and the first cell.
#[derive(Debug, Default)]
struct Cells {
    lines: u64,
    kinds: BTreeMap<Kind, u64>,
    first: Option<Value>,
}

impl Cells {
    fn kind(&self) -> Kind {
        let most = self.kinds.iter().max_by_key(|(kind, n)| (**n, std::cmp::Reverse(**kind)));
        most.map_or(Kind::Flag, |(kind, _)| *kind)
    }
}

/// The columns of lines without a request, the most frequent first.
pub(super) fn seen(sampled: &[Sampled], lines: &Lines, guess: Option<&Guess>) -> Vec<Column> {
    // With a guess few lines are left, and what people want to see is what it was made of.
    let usual;
    let lines = if guess.is_some() {
        usual = Lines::read(sampled, &Columns::default());
        &usual
    } else {
        lines
    };
    let mut columns: Vec<Column> = cells(sampled, lines).into_iter().map(column).collect();
    columns.sort_by_key(|column| std::cmp::Reverse(column.lines));
    columns.truncate(MAX_COLUMNS);
    columns
}

fn column((name, cells): (String, Cells)) -> Column {
    let text = cells.first.as_ref().map(|cell| cell.as_str().map_or_else(|| cell.to_string(), str::to_owned));
    Column {
        name: if is_plain(&name) { name } else { form(&name, FORM_CHARS) },
        lines: cells.lines,
        holds: cells.kind().name(),
        form: form(&text.unwrap_or_default(), FORM_CHARS),
    }
}

/// Whether a column is called by what a cell would hold: a table without a row of names.
pub(super) fn is_data(name: &str) -> bool {
    name.trim_start().starts_with(['{', '['])
}

/// Names under which more lines could be read.
pub(super) fn guess(sampled: &[Sampled], lines: &Lines, usual: &Columns) -> Option<Guess> {
    let cells = cells(sampled, lines);
    if cells.keys().any(|name| is_data(name)) {
        return None;
    }
    let is = |name: &str, words: &[&str]| words.iter().any(|word| name.to_lowercase().contains(word));
    let docs = best(&cells, Kind::Docs, |name| u64::from(is(name, &["func", "tool", "api", "doc"])));
    let functions = known(&cells, &usual.functions).or(docs)?;
    let rank = |name: &str| 2 * u64::from(is(name, &QUERY_WORDS)) + u64::from(!is(name, &RESPONSE_WORDS));
    let is_response = |name: &str| is(name, &RESPONSE_WORDS) && !is(name, &QUERY_WORDS);
    let others: BTreeMap<String, &Cells> = cells
        .iter()
        .filter(|(name, _)| **name != functions)
        .map(|(name, cells)| (name.clone(), cells))
        .collect();
    let query = known(&cells, &usual.query).or_else(|| {
        let asks = |kind| best_of(others.iter().filter(|(name, _)| !is_response(name)), kind, rank);
        asks(Kind::Messages).or_else(|| asks(Kind::Text))
    })?;
    let response = others.keys().find(|name| is_response(name) && !usual.response.contains(name));
    let mut columns = usual.clone();
    let mut new = BTreeMap::new();
    let found = [
        ("query", &mut columns.query, Some(&query)),
        ("functions", &mut columns.functions, Some(&functions)),
        ("response", &mut columns.response, response),
    ];
    for (key, names, name) in found {
        if let Some(name) = name.filter(|name| !names.contains(name)) {
            names.insert(0, name.clone());
            new.insert(key, name.clone());
        }
    }
    (!new.is_empty()).then_some(Guess { columns, new })
}

/// The usual name that is there.
fn known(cells: &BTreeMap<String, Cells>, names: &[String]) -> Option<String> {
    names.iter().find(|name| cells.contains_key(*name)).cloned()
}

fn best(cells: &BTreeMap<String, Cells>, kind: Kind, rank: impl Fn(&str) -> u64) -> Option<String> {
    best_of(cells.iter(), kind, rank)
}

/// The column of that kind that ranks highest, then that most lines have, then the first by name.
fn best_of<'c, C: std::borrow::Borrow<Cells> + 'c>(
    cells: impl Iterator<Item = (&'c String, &'c C)>,
    kind: Kind,
    rank: impl Fn(&str) -> u64,
) -> Option<String> {
    let of_kind = cells.filter(|(_, cells)| (*cells).borrow().kind() == kind);
    let best = of_kind
        .max_by_key(|(name, cells)| (rank(name), (*cells).borrow().lines, std::cmp::Reverse(name.as_str())));
    best.map(|(name, _)| name.clone())
}

/// The cells of lines without a request, by column.
fn cells(sampled: &[Sampled], lines: &Lines) -> BTreeMap<String, Cells> {
    let mut columns: BTreeMap<String, Cells> = BTreeMap::new();
    for &(file, block, item) in lines.left_over.iter().take(MAX_LINES) {
        let Some(Value::Object(row)) = row(&sampled[file].blocks[block], item) else { continue };
        for (name, cell) in row.into_iter().filter(|(_, cell)| !is_nothing(cell)) {
            let cells = columns.entry(name).or_default();
            cells.lines += 1;
            *cells.kinds.entry(Kind::of(&cell)).or_default() += 1;
            cells.first.get_or_insert(cell);
        }
    }
    columns
}

fn is_nothing(cell: &Value) -> bool {
    cell.is_null() || cell.as_str().is_some_and(|text| text.trim().is_empty())
}

fn row(block: &Block, item: usize) -> Option<Value> {
    let bytes = &block.text[block.items[item].bytes.clone().ok()?];
    match &block.header {
        Some(header) => header.row(bytes).ok(),
        None => serde_json::from_slice(bytes).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Closeness;
    use super::super::sample::sample;
    use super::*;

    fn guessed(text: &str) -> Option<BTreeMap<&'static str, String>> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.jsonl");
        std::fs::write(&path, text).unwrap();
        let sampled = sample(&[path], Closeness { rows: 10, seed: 1 }).unwrap();
        let usual = Columns::default();
        guess(&sampled, &Lines::read(&sampled, &usual), &usual).map(Guess::named)
    }

    #[test]
    fn columns_are_guessed_by_what_they_hold() {
        let row = r#"{"n": 1, "note": "seen by the pilot", "ask": "When is high tide?", "api": "[{'name': 'tide'}]", "reply": "tide() is called"}"#;
        let expected = [("functions", "api"), ("query", "ask"), ("response", "reply")];
        let expected = expected.map(|(key, name)| (key, name.to_owned())).into();
        assert_eq!(guessed(&format!("{row}\n{row}\n")), Some(expected));
    }

    #[test]
    fn a_usual_name_is_kept_and_nothing_is_guessed_without_docs() {
        let row = r#"{"prompt": "When is high tide?", "offered": [{"name": "tide", "description": "Tells the tide."}]}"#;
        assert_eq!(guessed(row), Some([("functions", "offered".to_owned())].into()));
        assert_eq!(guessed(r#"{"level": "info", "text": "the server has started"}"#), None);
    }
}
