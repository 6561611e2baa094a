//! Tests of the view of a stage: kept rows in canonical order, and the columns of its contract.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::tables::{table, written};
use super::{BAD, contract};
use crate::columns::{FUNCTIONS, MESSAGES, MODEL, TIME_MS};
use crate::context::{Context, Progress};
use crate::contract::Contract;
use crate::corpus::{Cells, Corpus, RowId, Table};
use crate::error::Error;
use crate::fate::Fate;
use crate::frame::{Frame, Held, Values};
use crate::view::View;
use crate::vocabulary::{Action, Likeness, Reason, RowIx, TableId};

/// Six requests in batches of two, three and one, of three lists of one batch.
struct Tables {
    _folder: tempfile::TempDir,
    corpus: Corpus,
}

impl Tables {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut requests = table();
        let texts = [Some("[0]"), Some("[1]"), Some("[2]"), Some("[3]"), None, Some("[5]")];
        let numbers = [Some(0), Some(10), Some(20), None, Some(40), Some(50)];
        requests.add_columns(&[MESSAGES, TIME_MS], written(&folder.path().join("t"), &texts, numbers));
        let mut lists = Table::new(TableId::DocLists, vec![7, 8, 9], vec![2, 0, 1], &[3]);
        let docs = ["f", "g", "h"].map(Some).to_vec();
        let frame = Frame::from_columns(vec![(FUNCTIONS.name, Values::Text(docs))]).unwrap();
        lists.add_columns(&[FUNCTIONS], Cells::in_memory(Held::of(frame)));
        let origin = vec![0, 0, 1, 1, 2, 2];
        Self {
            _folder: folder,
            corpus: Corpus { requests, lists, list: origin.clone(), origin, inputs: [].into() },
        }
    }

    fn fate(&mut self, table: TableId, row: RowIx, reason: &'static Reason, into: Option<RowIx>) {
        let action = if into.is_some() { Action::Merge } else { Action::Drop };
        self.corpus.apply(table, row, Fate { action, stage: 0, reason, into });
        self.corpus.follow_merged_lists();
    }

    fn view(&self, table: TableId) -> View<'_> {
        let (reads, reads_if_there) = (vec![MESSAGES, FUNCTIONS], vec![TIME_MS, MODEL]);
        View::new(&self.corpus, &Contract { reads, reads_if_there, ..contract(table) })
    }
}

/// Counts the rows that are done.
#[derive(Default)]
struct Counting(AtomicU64);

impl Progress for Counting {
    fn begin(&self, _: &str, _: Option<u64>) {}
    fn advance(&self, rows: u64) {
        self.0.fetch_add(rows, Ordering::Relaxed);
    }
    fn end(&self, _: &str) {}
    fn warn(&self, _: &str) {}
}

/// The result of a visit of all batches: the batch, its rows, and the cells of each row.
type VisitedBatches = Vec<(usize, Vec<RowIx>, Vec<(RowIx, Option<String>, Option<i64>)>)>;

fn visited(view: &View<'_>, wanted: Option<&[RowIx]>) -> (VisitedBatches, u64) {
    let (cancel, progress) = (AtomicBool::new(false), Counting::default());
    let cx = Context::new(0, &cancel, &progress);
    let mut visited = VisitedBatches::new();
    let visit = |batch: &crate::view::Batch<'_>| {
        let cells = batch.map_rows(|row| {
            assert_eq!(row.text(MODEL), None, "declared, and not there");
            (row.ix(), row.text(MESSAGES).map(str::to_owned), row.int(TIME_MS))
        })?;
        for &row in batch.rows() {
            assert_eq!(batch.row(row).ix(), row);
        }
        visited.push((batch.index(), batch.rows().to_vec(), cells));
        Ok(())
    };
    match wanted {
        None => view.for_each_batch(&cx, visit),
        Some(rows) => view.stream(&cx, |row| rows.contains(&row), visit),
    }
    .unwrap();
    (visited, progress.0.into_inner())
}

fn cells(row: RowIx, text: Option<&str>, number: Option<i64>) -> (RowIx, Option<String>, Option<i64>) {
    (row, text.map(str::to_owned), number)
}

#[test]
fn rows_are_the_kept_ones_in_canonical_order() {
    let mut tables = Tables::new();
    tables.fate(TableId::Requests, 4, &BAD, None);
    tables.fate(TableId::DocLists, 0, &BAD, Some(1));
    let view = tables.view(TableId::Requests);
    assert_eq!(view.rows().collect::<Vec<_>>(), [5, 3, 2, 1, 0]);
    assert!(view.is_kept(3) && !view.is_kept(4));
    assert_eq!((view.row_id(3), view.position(3), view.position(5)), (RowId(13), 2, 0));
    assert_eq!((view.list_of(1), view.origin_of(1)), (1, 0));
    assert_eq!((view.list_of(5), view.origin_of(5)), (2, 2));
    // The other table, by either name.
    let lists = tables.view(TableId::DocLists);
    for (of_lists, of_requests) in [(view.parent(), view.children()), (lists.parent(), lists.children())] {
        assert_eq!(of_lists.rows().collect::<Vec<_>>(), [2, 1]);
        assert_eq!((of_lists.row_id(2), of_lists.position(2)), (RowId(9), 0));
        assert_eq!(of_requests.rows().count(), 5);
    }
}

static EQUAL: Reason = Reason::policy("test/equal", "It says the same.").of_likeness(Likeness::Equal);
static NEAR: Reason = Reason::policy("test/near", "It says nearly the same.").of_likeness(Likeness::NearCopy);

#[test]
fn merges_are_followed_as_far_as_the_likeness_allows() {
    let mut tables = Tables::new();
    for (row, reason, into) in [(0, &EQUAL, 1), (1, &NEAR, 2), (4, &BAD, 5)] {
        tables.fate(TableId::Requests, row, reason, Some(into));
    }
    tables.fate(TableId::Requests, 3, &EQUAL, None);
    tables.fate(TableId::DocLists, 2, &NEAR, Some(1));
    let view = tables.view(TableId::Requests);
    let heads = |least| (0..6).map(|row| view.head_of(row, least)).collect::<Vec<_>>();
    let near = [Some(2), Some(2), Some(2), Some(3), None, Some(5)];
    assert_eq!((heads(Likeness::Similar), heads(Likeness::NearCopy)), (near.to_vec(), near.to_vec()));
    assert_eq!(heads(Likeness::Equal), [None, None, Some(2), Some(3), None, Some(5)]);
    let into = |least| [0, 1, 2].map(|list| view.list_merged_into(list, least));
    assert_eq!((into(Likeness::NearCopy), into(Likeness::Equal)), ([None, None, Some(1)], [None; 3]));
}

#[test]
fn batches_hold_the_kept_rows_with_the_cells_of_their_table() {
    let mut tables = Tables::new();
    for row in [1, 5] {
        tables.fate(TableId::Requests, row, &BAD, None);
    }
    let (found, n_rows) = visited(&tables.view(TableId::Requests), None);
    let first = (0, vec![0], vec![cells(0, Some("[0]"), Some(0))]);
    let second = vec![cells(2, Some("[2]"), Some(20)), cells(3, Some("[3]"), None), cells(4, None, Some(40))];
    // Of the last batch no row is kept.
    assert_eq!((found, n_rows), (vec![first, (1, vec![2, 3, 4], second)], 6));
}

#[test]
fn rows_can_be_streamed_whatever_their_fate() {
    let mut tables = Tables::new();
    tables.fate(TableId::Requests, 5, &BAD, None);
    let (found, n_rows) = visited(&tables.view(TableId::Requests), Some(&[1, 5]));
    let first = (0, vec![1], vec![cells(1, Some("[1]"), Some(10))]);
    let last = (2, vec![5], vec![cells(5, Some("[5]"), Some(50))]);
    assert_eq!((found, n_rows), (vec![first, last], 6));
}

#[test]
fn the_parent_is_read_by_its_own_columns() {
    let tables = Tables::new();
    let cancel = AtomicBool::new(false);
    let counting = Counting::default();
    let cx = Context::new(0, &cancel, &counting);
    let mut docs = Vec::new();
    let view = tables.view(TableId::Requests).parent();
    view.for_each_batch(&cx, |batch| {
        docs.extend(batch.map_rows(|row| row.text(FUNCTIONS).map(str::to_owned))?);
        Ok(())
    })
    .unwrap();
    assert_eq!(docs, ["f", "g", "h"].map(|text| Some(text.to_owned())));
}

#[test]
#[should_panic(expected = "column functions is not among those that were declared")]
fn a_column_of_the_other_table_is_not_found() {
    let tables = Tables::new();
    let cancel = AtomicBool::new(false);
    let counting = Counting::default();
    let cx = Context::new(0, &cancel, &counting);
    let _ = tables.view(TableId::Requests).for_each_batch(&cx, |batch| {
        batch.row(batch.rows()[0]).text(FUNCTIONS);
        Ok(())
    });
}

#[test]
fn a_cell_of_json_is_read_as_such() {
    let tables = Tables::new();
    let cancel = AtomicBool::new(false);
    let counting = Counting::default();
    let cx = Context::new(0, &cancel, &counting);
    let mut values: Vec<Option<Vec<u32>>> = Vec::new();
    let visit = |batch: &crate::view::Batch<'_>| {
        values.extend(batch.map_rows(|row| row.json(MESSAGES))?);
        Ok(())
    };
    tables.view(TableId::Requests).for_each_batch(&cx, visit).unwrap();
    assert_eq!(values, [Some(vec![0]), Some(vec![1]), Some(vec![2]), Some(vec![3]), None, Some(vec![5])]);
}

#[test]
fn nothing_more_is_read_or_judged_once_the_user_asked_to_stop() {
    let tables = Tables::new();
    let cancel = AtomicBool::new(false);
    let counting = Counting::default();
    let cx = Context::new(0, &cancel, &counting);
    let view = tables.view(TableId::Requests);
    let mut n_batches = 0;
    let stopped = view.for_each_batch(&cx, |batch| {
        n_batches += 1;
        assert_eq!(batch.map_rows(|row| row.ix())?, [0, 1]);
        cancel.store(true, Ordering::Relaxed);
        Ok(())
    });
    assert!(matches!(stopped, Err(Error::Interrupted)));
    assert_eq!(n_batches, 1, "the next batch is not read");
    cancel.store(false, Ordering::Relaxed);
    let stopped = view.for_each_batch(&cx, |batch| {
        cancel.store(true, Ordering::Relaxed);
        batch.map_rows(|_| panic!("judged")).map(drop)
    });
    assert!(matches!(stopped, Err(Error::Interrupted)));
}
