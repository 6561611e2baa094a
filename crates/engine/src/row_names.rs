//! Names of rows: what a person writes to mean a row, and which rows it means.
//!
//! A name is a request id or a list id, or the start of one, or the log's own id of a request. Who writes a log chooses the
//! last, and may choose one that another row goes by. So all readings of a name are looked for, and where they lead to
//! different rows, nobody guesses: a prefix such as `external:` says which reading is meant. `run::names` adds the names
//! that only a finished run has: entries of its dataset, and places in its inputs.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use super::corpus::{Corpus, RowId};
use super::error::Result;
use super::vocabulary::{ColumnSpec, RowIx, TableId};

/// What a row is named by, in the order in which readings are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NameKind {
    /// The id of an entry of the dataset, or the published id of its request.
    Entry,
    /// A request id, or the start of one.
    Request,
    /// A list id, or the start of one.
    List,
    /// The log's own id of a request.
    External,
    /// A line or a record of an input.
    Place,
}

impl NameKind {
    /// All kinds.
    pub const ALL: [Self; 5] = [Self::Entry, Self::Request, Self::List, Self::External, Self::Place];

    /// The word before the colon of a prefix.
    pub fn word(self) -> &'static str {
        match self {
            Self::Entry => "entry",
            Self::Request => "request",
            Self::List => "list",
            Self::External => "external",
            Self::Place => "place",
        }
    }

    /// What it is called in messages.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Entry => "the id of an entry",
            Self::Request => "a request id",
            Self::List => "a list id",
            Self::External => "the log's own id",
            Self::Place => "a place in the inputs",
        }
    }
}

/// A name as it was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowName<'n> {
    /// The kind that its prefix says; any without a prefix.
    pub kind: Option<NameKind>,
    /// The name without its prefix.
    pub text: &'n str,
}

impl<'n> RowName<'n> {
    /// Reads a name with or without a prefix.
    pub fn read(written: &'n str) -> Self {
        let prefixed = written.split_once(':').and_then(|(word, text)| {
            let kind = NameKind::ALL.into_iter().find(|kind| kind.word() == word)?;
            Some(Self { kind: Some(kind), text }).filter(|_| !text.is_empty())
        });
        prefixed.unwrap_or(Self { kind: None, text: written })
    }

    /// Whether it can be a name of a kind.
    pub fn may_be(self, kind: NameKind) -> bool {
        self.kind.is_none_or(|said| said == kind)
    }

    /// Returns the digits with which a content id must start, if it can be one, or its start.
    pub fn start_of_an_id(self, least_digits: usize) -> Option<String> {
        let is_hex = self.text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let is_start = is_hex && (least_digits..=ID_DIGITS).contains(&self.text.len());
        is_start.then(|| self.text.to_ascii_lowercase())
    }
}

/// The digits of a whole content id.
pub const ID_DIGITS: usize = 32;

/// A row that a name means, by one reading of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct NamedRow {
    /// The reading.
    pub by: NameKind,
    /// The table of the row.
    pub table: TableId,
    /// The row.
    pub row: RowIx,
}

/// Whether a name has readings that lead to different rows.
pub fn is_ambiguous(named: &[NamedRow]) -> bool {
    let rows: BTreeSet<(TableId, RowIx)> = named.iter().map(|named| (named.table, named.row)).collect();
    let kinds: BTreeSet<NameKind> = named.iter().map(|named| named.by).collect();
    rows.len() > 1 && kinds.len() > 1
}

/// Returns the rows that each name means as a content id of at least so many digits, or as the log's own id, which is in
/// the column `own_id`; in the order of the tables.
///
/// # Errors
/// A file of the run folder cannot be read.
pub fn rows_named(
    names: &[RowName<'_>],
    least_digits: usize,
    corpus: &Corpus,
    own_id: ColumnSpec,
) -> Result<Vec<Vec<NamedRow>>> {
    let mut named: Vec<Vec<NamedRow>> = vec![Vec::new(); names.len()];
    let mut by_own_id: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
    for (at, name) in names.iter().enumerate().filter(|(_, name)| name.may_be(NameKind::External)) {
        by_own_id.entry(name.text).or_default().push(at);
    }
    for (table, kind) in [(TableId::Requests, NameKind::Request), (TableId::DocLists, NameKind::List)] {
        let starts = Starts::of(names, kind, least_digits);
        let rows = corpus.table(table);
        let has_own_ids = table == own_id.table && rows.has(own_id) && !by_own_id.is_empty();
        for batch in 0..rows.batches() {
            let cells = if has_own_ids { Some(rows.read_batch(batch, &[own_id])?) } else { None };
            let first = rows.batch(batch).start;
            for row in rows.rows_of_batch(batch) {
                let by_id = starts.of_id(rows.row_id(row)).map(|at| (at, kind));
                let own = cells.as_ref().and_then(|cells| cells.text(own_id, row as usize - first));
                let own = own.and_then(|own| by_own_id.get(own)).into_iter().flatten();
                for (at, by) in by_id.chain(own.map(|&at| (at, NameKind::External))) {
                    named[at].push(NamedRow { by, table, row });
                }
            }
        }
    }
    Ok(named)
}

/// The names that may be starts of content ids, by their length.
struct Starts(BTreeMap<usize, BTreeMap<String, Vec<usize>>>);

impl Starts {
    fn of(names: &[RowName<'_>], kind: NameKind, least_digits: usize) -> Self {
        let mut by_length: BTreeMap<usize, BTreeMap<String, Vec<usize>>> = BTreeMap::new();
        for (at, name) in names.iter().enumerate().filter(|(_, name)| name.may_be(kind)) {
            if let Some(start) = name.start_of_an_id(least_digits) {
                by_length.entry(start.len()).or_default().entry(start).or_default().push(at);
            }
        }
        Self(by_length)
    }

    /// Returns the names that an id starts with.
    fn of_id(&self, id: RowId) -> impl Iterator<Item = usize> {
        let digits = id.digits();
        let names = self.0.iter().filter_map(move |(&length, starts)| starts.get(&digits.as_str()[..length]));
        names.flatten().copied()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::columns::EXTERNAL_ID;
    use crate::fixture;

    fn named(corpus: &Corpus, written: &str) -> Vec<(NameKind, TableId, RowIx)> {
        let rows = rows_named(&[RowName::read(written)], 4, corpus, EXTERNAL_ID).unwrap().remove(0);
        rows.into_iter().map(|named| (named.by, named.table, named.row)).collect()
    }

    #[test]
    fn a_prefix_says_what_a_name_is() {
        let read = |written| (RowName::read(written).kind, RowName::read(written).text);
        assert_eq!(read("r1"), (None, "r1"));
        assert_eq!(read("log.jsonl:7"), (None, "log.jsonl:7"));
        assert_eq!(read("external:"), (None, "external:"));
        for kind in NameKind::ALL {
            let written = format!("{}:a:b", kind.word());
            assert_eq!(RowName::read(&written), RowName { kind: Some(kind), text: "a:b" });
        }
        assert_eq!(RowName::read("0AbC").start_of_an_id(4), Some("0abc".to_owned()));
        for not_a_start in ["abc", "abcg", &"a".repeat(33)] {
            assert_eq!(RowName::read(not_a_start).start_of_an_id(4), None, "{not_a_start}");
        }
    }

    #[test]
    fn every_reading_of_a_name_is_found_and_a_prefix_leaves_one() {
        // The ids of both tables are 1, 2, 3, …
        let id = |number: u128| RowId(number).to_string();
        let list = |_| json!({"text": "a"});
        let tables = json!({"doc_lists": (0..4).map(list).collect::<Vec<_>>(), "requests": [
            {"list": 0, "external_id": "r1"}, {"list": 1, "external_id": id(3)}, {"list": 2, "external_id": id(4)}]});
        let corpus = fixture::corpus(&tables);
        let request = |row| (NameKind::Request, TableId::Requests, row);
        let external = |row| (NameKind::External, TableId::Requests, row);
        let of_list = |row| (NameKind::List, TableId::DocLists, row);
        assert_eq!(named(&corpus, "r1"), [external(0)]);
        assert_eq!(named(&corpus, "external:r1"), [external(0)]);
        assert_eq!(named(&corpus, "request:r1"), []);
        assert_eq!(named(&corpus, &id(3)), [external(1), request(2), of_list(2)]);
        assert_eq!(named(&corpus, &format!("external:{}", id(3))), [external(1)]);
        assert_eq!(named(&corpus, &format!("request:{}", id(3))), [request(2)]);
        assert_eq!(named(&corpus, &format!("list:{}", id(3))), [of_list(2)]);
        assert_eq!(named(&corpus, &id(4)), [external(2), of_list(3)]);
        assert_eq!(named(&corpus, "request:0000"), [request(0), request(1), request(2)]);
        assert_eq!(named(&corpus, "request:000"), [], "too short");
        let rows = |found: &[(NameKind, TableId, RowIx)]| {
            found.iter().map(|&(by, table, row)| NamedRow { by, table, row }).collect::<Vec<_>>()
        };
        assert!(is_ambiguous(&rows(&[external(1), request(2)])));
        assert!(is_ambiguous(&rows(&[request(2), of_list(2)])));
        assert!(!is_ambiguous(&rows(&[request(1), external(1)])), "two readings that lead to one row");
        assert!(!is_ambiguous(&rows(&[external(1), external(2)])), "one reading that leads to two");
    }
}
