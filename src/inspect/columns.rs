//! Describes the columns of lines without a known log format, and guesses which of them hold query and functions.
//!
//! A guess is used only if it makes requests of more lines. It is based on the content of cells (readable docs,
//! messages, text of several words), then on the names of columns.

use std::collections::BTreeMap;

use serde_json::Value;

use super::form::{form, is_plain};
use super::lines::Lines;
use super::look::{Column, Guess};
use super::sample::Sampled;
use crate::docs::parse::parse;
use crate::ingest::log_formats::Columns;
use crate::ingest::read::Block;

/// The maximum number of lines whose cells are examined.
const MAX_LINES: usize = 200;
/// The maximum number of reported columns.
const MAX_COLUMNS: usize = 24;
/// The maximum number of reported characters of a cell.
const FORM_CHARS: usize = 48;
/// Parts of column names that indicate their content.
const QUERY_WORDS: [&str; 11] =
    ["quer", "quest", "prompt", "ask", "user", "utter", "instruct", "input", "request", "message", "text"];
const RESPONSE_WORDS: [&str; 7] = ["respon", "answer", "output", "complet", "assistant", "repl", "predict"];

/// The kind of content of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum CellKind {
    Docs,
    Messages,
    Text,
    Word,
    Object,
    List,
    Number,
    Flag,
}

impl CellKind {
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

/// The counts of a column's cells by kind, and its first cell.
#[derive(Debug, Default)]
struct Cells {
    lines: u64,
    kinds: BTreeMap<CellKind, u64>,
    first: Option<Value>,
}

impl Cells {
    fn kind(&self) -> CellKind {
        let most = self.kinds.iter().max_by_key(|(kind, n)| (**n, std::cmp::Reverse(**kind)));
        most.map_or(CellKind::Flag, |(kind, _)| *kind)
    }
}

/// Returns the columns of lines without a request, the most frequent first.
pub(super) fn frequent(sampled: &[Sampled], lines: &Lines, guess: Option<&Guess>) -> Vec<Column> {
    // With a guess few lines without a request remain, and people want to see the columns that it is based on.
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

/// Returns `true` if a column name looks like the content of a cell: a table without a header.
pub(super) fn is_data(name: &str) -> bool {
    name.trim_start().starts_with(['{', '['])
}

/// Returns column names with which more lines can be read.
pub(super) fn guess(sampled: &[Sampled], lines: &Lines, usual: &Columns) -> Option<Guess> {
    let cells = cells(sampled, lines);
    if cells.keys().any(|name| is_data(name)) {
        return None;
    }
    let is = |name: &str, words: &[&str]| words.iter().any(|word| name.to_lowercase().contains(word));
    let docs = best(&cells, CellKind::Docs, |name| u64::from(is(name, &["func", "tool", "api", "doc"])));
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
        asks(CellKind::Messages).or_else(|| asks(CellKind::Text))
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

/// Returns the first existing usual name.
fn known(cells: &BTreeMap<String, Cells>, names: &[String]) -> Option<String> {
    names.iter().find(|name| cells.contains_key(*name)).cloned()
}

fn best(cells: &BTreeMap<String, Cells>, kind: CellKind, rank: impl Fn(&str) -> u64) -> Option<String> {
    best_of(cells.iter(), kind, rank)
}

/// Returns the column of a kind with the highest rank, then the most lines, then the first name.
fn best_of<'c, C: std::borrow::Borrow<Cells> + 'c>(
    cells: impl Iterator<Item = (&'c String, &'c C)>,
    kind: CellKind,
    rank: impl Fn(&str) -> u64,
) -> Option<String> {
    let of_kind = cells.filter(|(_, cells)| (*cells).borrow().kind() == kind);
    let best = of_kind
        .max_by_key(|(name, cells)| (rank(name), (*cells).borrow().lines, std::cmp::Reverse(name.as_str())));
    best.map(|(name, _)| name.clone())
}

/// Returns the cells of lines without a request, by column.
fn cells(sampled: &[Sampled], lines: &Lines) -> BTreeMap<String, Cells> {
    let mut columns: BTreeMap<String, Cells> = BTreeMap::new();
    for &(file, block, item) in lines.left_over.iter().take(MAX_LINES) {
        let Some(Value::Object(row)) = row(&sampled[file].blocks[block], item) else { continue };
        for (name, cell) in row.into_iter().filter(|(_, cell)| !is_nothing(cell)) {
            let cells = columns.entry(name).or_default();
            cells.lines += 1;
            *cells.kinds.entry(CellKind::of(&cell)).or_default() += 1;
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
    fn columns_are_guessed_by_their_content() {
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
