//! What redaction finds in the two tables: values, placeholders, and marks of possible values; and the numbers of all.

use rustc_hash::{FxHashMap, FxHashSet};

use super::read::Read;
use crate::columns::TEXT;
use crate::engine::context::Context;
use crate::engine::error::Result;
use crate::engine::view::{Parents, View};
use crate::engine::vocabulary::{ColumnSpec, RowIx};
use crate::privacy::apply::Finder;
use crate::privacy::cell_contents::{CellCache, CellKind};
use crate::privacy::declared::DeclaredPhones;
use crate::privacy::known::{KnownValues, Sighting};
use crate::privacy::numbers::Numbers;
use crate::privacy::people::PeopleOf;
use crate::privacy::pieces::words_of_docs;
use crate::privacy::{NotedSpan, PrivacyKind, Scanner};

/// Maximum number of marks kept per row; a row with more is always read again.
const MAX_MARKS: usize = 256;

/// The findings in a table: personal values, placeholders, and marks of possible values.
#[derive(Default)]
pub(in crate::stages) struct TableFindings {
    /// The rows with values or placeholders, in canonical order.
    rows: Vec<RowFindings>,
    at: FxHashMap<RowIx, usize>,
    /// The marks of each row.
    marks: Vec<(RowIx, Vec<u32>)>,
}

/// The parameters that each doc list declares as telephone numbers.
pub(super) type Declared<'a> = Parents<'a, Option<DeclaredPhones>>;

/// Returns the parameters that the doc list of a request declares as telephone numbers.
pub(super) fn declared_for<'d>(declared: &'d Declared<'_>, request: RowIx) -> Option<&'d DeclaredPhones> {
    declared.of_origin(request).and_then(Option::as_ref)
}

/// The values and placeholders of a row.
#[derive(Default)]
struct RowFindings {
    position: u32,
    values: Vec<Sighting>,
    taken: Vec<(PrivacyKind, u64)>,
}

impl TableFindings {
    /// Searches the cells of the kept rows of a view.
    ///
    /// # Errors
    /// If a file cannot be read, or the run is cancelled.
    pub(in crate::stages) fn collect(
        view: &View<'_>,
        cx: &Context<'_>,
        scanner: &Scanner,
        cells: &[(ColumnSpec, CellKind)],
    ) -> Result<Self> {
        Self::collect_declared(view, cx, scanner, cells, None)
    }

    /// Searches the cells of requests, of which the doc lists declare some arguments as telephone numbers.
    ///
    /// # Errors
    /// If a file cannot be read, or the run is cancelled.
    pub(super) fn collect_declared(
        view: &View<'_>,
        cx: &Context<'_>,
        scanner: &Scanner,
        cells: &[(ColumnSpec, CellKind)],
        declared: Option<&Declared<'_>>,
    ) -> Result<Self> {
        let mut rows: Vec<(RowIx, RowFindings)> = Vec::new();
        let mut marks: Vec<(RowIx, Vec<u32>)> = Vec::new();
        let cache = CellCache::default();
        let is_cancelled = || cx.cancelled();
        let finder = Finder::from(scanner).with_cancel(&is_cancelled);
        view.for_each_batch(cx, |batch| {
            let seen = batch.map_rows(|row| {
                let position = view.position(row.ix());
                let (mut seen, mut marks) = (RowFindings { position, ..RowFindings::default() }, Vec::new());
                let finder =
                    finder.with_declared(declared.and_then(|declared| declared_for(declared, row.ix())));
                for &(column, kind) in cells {
                    let Some(cell) = row.text(column) else { continue };
                    if let Some(cell) = cache.contents(finder, cell, kind) {
                        seen.values.extend_from_slice(&cell.values);
                        seen.taken.extend_from_slice(&cell.taken);
                        marks.extend_from_slice(&cell.marks);
                    }
                }
                (row.ix(), seen, in_order(marks))
            })?;
            for (row, seen, of_row) in seen {
                if !seen.values.is_empty() || !seen.taken.is_empty() {
                    rows.push((row, seen));
                }
                if !of_row.is_empty() {
                    marks.push((row, of_row));
                }
            }
            Ok(())
        })?;
        rows.sort_by_key(|(_, seen)| seen.position);
        let at = rows.iter().enumerate().map(|(at, (row, _))| (*row, at)).collect();
        Ok(Self { rows: rows.into_iter().map(|(_, seen)| seen).collect(), at, marks })
    }

    /// Returns all personal values, in canonical order of the rows.
    pub(in crate::stages) fn values(&self) -> impl Iterator<Item = &Sighting> {
        self.rows.iter().flat_map(|row| &row.values)
    }

    fn row(&self, row: RowIx) -> Option<&RowFindings> {
        self.at.get(&row).map(|&at| &self.rows[at])
    }

    /// Returns the personal values of a row.
    pub(super) fn values_of(&self, row: RowIx) -> &[Sighting] {
        self.row(row).map_or(&[], |row| &row.values)
    }

    /// Returns whether the row has values that are only replaced in this row and the rows that depend on it.
    pub(super) fn has_own_values(&self, row: RowIx) -> bool {
        self.values_of(row).iter().any(|value| !value.is_sure())
    }

    /// Returns the placeholders that the log already has in a row; `None` if there are none.
    pub(super) fn placeholders_of(&self, row: RowIx) -> Option<String> {
        let taken = &self.row(row)?.taken;
        (!taken.is_empty()).then(|| placeholder_list(taken.iter().copied()))
    }

    /// Returns whether the row has values or placeholders, or may contain a known value.
    pub(in crate::stages) fn holds(&self, row: RowIx, known: &KnownValues) -> bool {
        let may_hold = || {
            let at = self.marks.binary_search_by_key(&row, |(row, _)| *row).ok()?;
            let marks = &self.marks[at].1;
            Some(marks.len() >= MAX_MARKS || known.has_any(marks))
        };
        self.at.contains_key(&row) || (!known.is_empty() && may_hold().unwrap_or(false))
    }
}

/// Sorts the marks of a row and removes duplicates; keeps at most [`MAX_MARKS`].
fn in_order(mut marks: Vec<u32>) -> Vec<u32> {
    marks.sort_unstable();
    marks.dedup();
    marks.truncate(MAX_MARKS);
    marks.shrink_to_fit();
    marks
}

/// Formats placeholders as `email 7,phone 2`.
fn placeholder_list(placeholders: impl Iterator<Item = (PrivacyKind, u64)>) -> String {
    let words: Vec<String> = placeholders.map(|(kind, number)| format!("{} {number}", kind.name())).collect();
    words.join(",")
}

/// Assigns numbers to the values of all rows, in the order of the rows, after reserving the numbers of the placeholders
/// that the log already has.
pub(in crate::stages) fn assign_numbers(
    tables: &[&TableFindings],
    known: &KnownValues,
    numbers: &mut Numbers,
) {
    for (kind, number) in tables.iter().flat_map(|seen| &seen.rows).flat_map(|row| &row.taken) {
        numbers.take(*kind, *number);
    }
    for value in tables.iter().flat_map(|seen| seen.values()) {
        match known.canonical(value.kind, &value.written) {
            Some((kind, normal, _)) => numbers.learn(kind, normal),
            None => numbers.learn(value.kind, &value.value),
        }
    }
}

/// Reserves the numbers of the placeholders in a cell that [`Redact`] wrote.
pub(in crate::stages) fn reserve_noted(cell: &str, numbers: &mut Numbers) {
    for (kind, number) in cell.split(',').filter_map(|word| word.split_once(' ')) {
        if let (Some(kind), Ok(number)) = (PrivacyKind::from_name(kind), number.parse()) {
            numbers.take(kind, number);
        }
    }
}

/// The findings in doc lists that requests and `redact_docs` need.
pub(super) struct ListFindings {
    lists: FxHashMap<RowIx, ListPlaceholders>,
}

#[derive(Default)]
struct ListPlaceholders {
    /// The kind and number of each value.
    numbers: Vec<(PrivacyKind, u64)>,
    /// The places of the values.
    spans: Vec<NotedSpan>,
    /// The words of a list whose requests have values.
    words: String,
}

impl ListFindings {
    /// Searches the lists that may have values, and reads the words of those in `of_values`, whose requests have some.
    ///
    /// # Errors
    /// If a file cannot be read, or the run is cancelled.
    pub(super) fn of(
        view: &View<'_>,
        cx: &Context<'_>,
        seen: &TableFindings,
        (finder, read): (Finder<'_>, &Read<'_>),
        numbers: &Numbers,
        of_values: &FxHashSet<RowIx>,
    ) -> Result<Self> {
        let mut lists = FxHashMap::default();
        let may_hold = |row: RowIx| finder.known().is_some_and(|known| seen.holds(row, known));
        let is_searched = |row: RowIx| read.is_on() || may_hold(row);
        let wanted = |row: RowIx| view.is_kept(row) && (is_searched(row) || of_values.contains(&row));
        view.stream(cx, wanted, |batch| {
            let found = batch.map_rows(|row| {
                let text = row.text(TEXT).unwrap_or_default();
                let mut placeholders = ListPlaceholders::default();
                if of_values.contains(&row.ix()) {
                    placeholders.words = words_of_docs(text);
                }
                if !is_searched(row.ix()) {
                    return placeholders;
                }
                let people: Option<PeopleOf<'_>> = read.of_list(row.ix());
                for found in finder.with_people(people).find_in_docs(text) {
                    let Some(number) = numbers.of(&found) else { continue };
                    placeholders.numbers.push((found.kind, number));
                    let (start, end, kind) = (found.start, found.end, found.kind);
                    let placeholder = found.stand_in(&text[start..end], number);
                    placeholders.spans.push(NotedSpan { kind, start, end, number, placeholder });
                }
                placeholders
            })?;
            lists.extend(batch.rows().iter().copied().zip(found));
            Ok(())
        })?;
        Ok(Self { lists })
    }

    /// Returns the requests that carry a note for `redact_docs`: the first of each list with values, and the first of
    /// all requests, whose note shows that the lists were searched.
    pub(super) fn noting_requests(&self, view: &View<'_>) -> FxHashSet<RowIx> {
        let mut noted: FxHashSet<RowIx> = FxHashSet::default();
        let has_note = |list: RowIx| self.lists.get(&list).is_some_and(|list| !list.spans.is_empty());
        let first_of_all = view.rows().take(1);
        if self.lists.is_empty() {
            return first_of_all.collect();
        }
        view.rows()
            .filter(|&row| has_note(view.origin_of(row)) && noted.insert(view.origin_of(row)))
            .chain(first_of_all)
            .collect()
    }

    /// Returns the places of the values in a list, as JSON.
    pub(super) fn note_for(&self, list: RowIx) -> String {
        let spans = self.lists.get(&list).map_or(&[][..], |list| &list.spans);
        serde_json::to_string(spans).expect("places and words are JSON")
    }

    /// Returns the words of a list; see [`words_of_docs`].
    pub(super) fn words_of(&self, list: RowIx) -> &str {
        self.lists.get(&list).map_or("", |list| &list.words)
    }

    pub(super) fn numbers_of(&self, list: RowIx) -> &[(PrivacyKind, u64)] {
        self.lists.get(&list).map_or(&[], |list| &list.numbers)
    }
}
