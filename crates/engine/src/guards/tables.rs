//! Tests of tables: batches, order, ids, and columns of several versions.

use std::path::Path;

use crate::background_writer::BackgroundWriter;
use crate::columns::{LANGUAGE, MESSAGES, MODEL, TIME_MS};
use crate::contract::Contract;
use crate::corpus::{Cells, Corpus, RowId, Table};
use crate::fate::Fate;
use crate::frame::{Frame, FrameFile, FrameWriter, Held, Values};
use crate::verdict::Verdict;
use crate::vocabulary::{Action, ColumnSpec, RowIx, TableId};

use super::{BAD, WORSE, contract};

/// Requests 0 and 1 in one batch, 2 to 4 in the next, 5 in the last; later rows are earlier in time.
pub(super) fn table() -> Table {
    Table::new(TableId::Requests, (10..16).collect(), vec![5, 4, 3, 2, 1, 0], &[2, 3, 1])
}

/// Writes a file of one column of texts and one of numbers, in the batches of [`table`].
pub(super) fn written(path: &Path, texts: &[Option<&str>; 6], numbers: [Option<i64>; 6]) -> Cells {
    let mut writer = FrameWriter::create(path);
    for rows in [0..2, 2..5, 5..6] {
        let columns = vec![
            (MESSAGES.name, Values::Text(texts[rows.clone()].to_vec())),
            (TIME_MS.name, Values::Int(numbers[rows].to_vec())),
        ];
        writer.write(columns).unwrap();
    }
    writer.finish().unwrap();
    Cells::in_file(FrameFile::open(path).unwrap())
}

fn texts(table: &Table, column: ColumnSpec) -> Vec<Option<String>> {
    let mut found = Vec::new();
    for batch in 0..table.batches() {
        let cells = table.read_batch(batch, &[column]).unwrap();
        found.extend((0..table.batch(batch).len()).map(|at| cells.text(column, at).map(str::to_owned)));
    }
    found
}

fn fate(action: Action, into: Option<RowIx>) -> Fate {
    Fate { action, stage: 0, reason: &BAD, into }
}

fn corpus() -> Corpus {
    let lists = Table::new(TableId::DocLists, vec![1, 2, 3], vec![0, 1, 2], &[3]);
    Corpus {
        requests: table(),
        lists,
        origin: vec![0, 0, 1, 1, 2, 2],
        list: vec![0, 0, 1, 1, 2, 2],
        inputs: [].into(),
    }
}

#[test]
fn rows_are_in_batches_and_in_canonical_order() {
    let table = table();
    assert_eq!((table.len(), table.batches(), table.kept()), (6, 3, 6));
    assert!(!table.is_empty());
    assert_eq!([0, 1, 2].map(|batch| table.batch(batch)), [0..2, 2..5, 5..6]);
    assert_eq!([0, 1, 2, 3, 4, 5].map(|row| table.batch_of(row)), [0, 0, 1, 1, 1, 2]);
    assert_eq!(table.rows_of_batch(1).collect::<Vec<_>>(), [2, 3, 4]);
    assert_eq!(table.in_order(), [5, 4, 3, 2, 1, 0]);
    assert_eq!([0, 1, 5].map(|row| table.position(row)), [5, 4, 0]);
    assert_eq!(table.row_id(3), RowId(13));
}

#[test]
fn an_empty_table_has_one_batch_of_no_rows() {
    let table = Table::new(TableId::DocLists, vec![], vec![], &[0]);
    assert_eq!((table.id(), table.len(), table.batches(), table.kept()), (TableId::DocLists, 0, 1, 0));
    assert!(table.is_empty());
}

#[test]
fn a_row_with_a_fate_is_not_kept() {
    let mut corpus = corpus();
    corpus.apply(TableId::Requests, 3, fate(Action::Hold, None));
    corpus.apply(TableId::DocLists, 0, fate(Action::Drop, None));
    let (requests, lists) = (&corpus.requests, &corpus.lists);
    assert_eq!((requests.kept(), lists.kept()), (5, 2));
    assert_eq!((requests.fate(3), requests.fate(2)), (Some(fate(Action::Hold, None)), None));
    assert!(!requests.is_kept(3) && requests.is_kept(2) && !lists.is_kept(0));
    assert_eq!(requests.kept_of_batch(1), [2, 4]);
    let forgotten = Fate { reason: &WORSE, ..fate(Action::Drop, None) };
    corpus.forget(TableId::Requests, 3, forgotten);
    assert_eq!(corpus.requests.fate(3), Some(forgotten));
}

#[test]
fn requests_of_merged_lists_follow_them_to_the_end() {
    let mut corpus = corpus();
    corpus.apply(TableId::DocLists, 0, fate(Action::Merge, Some(1)));
    corpus.apply(TableId::DocLists, 1, fate(Action::Merge, Some(2)));
    corpus.follow_merged_lists();
    assert_eq!((corpus.list, corpus.origin), (vec![2; 6], vec![0, 0, 1, 1, 2, 2]));
}

#[test]
fn the_newest_version_of_a_cell_is_read_and_an_empty_one_shows_the_version_before() {
    let folder = tempfile::tempdir().unwrap();
    let mut table = table();
    let all = [Some("a"), Some("b"), Some("c"), Some("d"), Some("e"), Some("f")];
    let old = written(&folder.path().join("old"), &all, [Some(1), None, Some(3), Some(4), None, Some(6)]);
    table.add_columns(&[MESSAGES, TIME_MS], old);
    let some = [None, Some("B"), None, Some("D"), None, Some("F")];
    let new = written(&folder.path().join("new"), &some, [None, Some(-2), None, Some(-4), None, None]);
    table.add_columns(&[MESSAGES, TIME_MS], new);
    assert_eq!(texts(&table, MESSAGES), ["a", "B", "c", "D", "e", "F"].map(|text| Some(text.to_owned())));
    let cells = table.read_batch(1, &[TIME_MS, MESSAGES]).unwrap();
    assert_eq!([0, 1, 2].map(|at| cells.int(TIME_MS, at)), [Some(3), Some(-4), None]);
    assert_eq!(cells.text(MESSAGES, 1), Some("D"));
    // A column of another kind is not found.
    assert_eq!((cells.int(MESSAGES, 1), cells.text(TIME_MS, 1)), (None, None));
    assert!(table.has(MESSAGES) && table.has(TIME_MS) && !table.has(MODEL));
}

#[test]
fn a_column_that_only_some_files_hold_is_read_from_those() {
    let folder = tempfile::tempdir().unwrap();
    let mut table = table();
    let all = [Some("a"); 6];
    table.add_columns(&[MESSAGES, TIME_MS], written(&folder.path().join("old"), &all, [Some(1); 6]));
    let languages = (0..6).map(|_| Some("en")).collect();
    let frame = Frame::from_columns(vec![(LANGUAGE.name, Values::Text(languages))]).unwrap();
    // In memory as one batch, while the table has three: only a read of the whole range finds it.
    let mut whole = Table::new(TableId::Requests, (0..6).collect(), (0..6).collect(), &[6]);
    whole.add_columns(&[LANGUAGE], Cells::in_memory(Held::of(frame)));
    assert_eq!(texts(&whole, LANGUAGE), vec![Some("en".to_owned()); 6]);
    // Nobody wrote the model.
    assert_eq!(texts(&table, MODEL), [const { None }; 6]);
    assert!(whole.has(LANGUAGE) && !whole.has(MODEL));
}

#[test]
fn cells_that_do_not_fit_into_memory_are_read_from_their_file() {
    for room in [0, usize::MAX] {
        let folder = tempfile::tempdir().unwrap();
        let (path, background_writer) = (folder.path().join("t"), BackgroundWriter::new(room));
        let mut writer = FrameWriter::create(&path).held_by(&background_writer);
        for rows in [["a", "b"].as_slice(), &["c", "d", "e"], &["f"]] {
            let texts = rows.iter().copied().map(Some).collect();
            writer.write(vec![(MESSAGES.name, Values::Text(texts))]).unwrap();
        }
        let held = writer.finish().unwrap();
        assert_eq!(held.is_whole(), room > 0);
        let mut table = table();
        table.add_columns(&[MESSAGES], Cells::written(held, &path, &background_writer).unwrap());
        assert_eq!(texts(&table, MESSAGES), ["a", "b", "c", "d", "e", "f"].map(|text| Some(text.to_owned())));
    }
}

#[test]
fn ids_are_32_hex_digits() {
    let id = RowId(0x0123_4567_89ab_cdef_0011_2233_4455_66f8);
    let digits = "0123456789abcdef00112233445566f8";
    assert_eq!((id.to_string().as_str(), id.digits().as_str()), (digits, digits));
    assert_eq!(format!("{id:>34}"), format!("  {digits}"));
    assert_eq!(RowId::number(digits), Some(id.0));
    assert_eq!(RowId::number("no id"), None);
    assert_eq!((RowId::short(digits), RowId::short("0123")), ("0123456789ab", "0123"));
}

#[test]
fn cells_that_a_stage_sets_are_written_batch_by_batch() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("columns");
    for room in [0, usize::MAX] {
        let (mut table, background_writer) = (table(), BackgroundWriter::new(room));
        let contract = Contract { writes: vec![LANGUAGE, TIME_MS], ..contract(TableId::Requests) };
        let mut out = Verdict::new("stage", &contract, &table, &path, &background_writer);
        // In any order, as long as the batch is not on disk.
        for row in [4, 0, 5, 2, 1] {
            out.set(row, LANGUAGE, format!("old {row}")).unwrap();
        }
        out.set(4, LANGUAGE, "new 4").unwrap();
        out.flush(0).unwrap();
        for row in [5, 3, 2] {
            out.set(row, TIME_MS, i64::from(row) * 10).unwrap();
        }
        out.flush(1).unwrap();
        out.set(5, LANGUAGE, "new 5").unwrap();
        assert!(out.set(4, TIME_MS, 1_i64).is_err());
        let held = out.finish().unwrap().cells.unwrap();
        let cells = Cells::written(held, &path, &background_writer).unwrap();
        background_writer.wait().unwrap();
        assert_eq!(FrameFile::open(&path).unwrap().height(), 6);
        table.add_columns(&contract.writes, cells);
        let expected = [Some("old 0"), Some("old 1"), Some("old 2"), None, Some("new 4"), Some("new 5")];
        assert_eq!(texts(&table, LANGUAGE), expected.map(|text| text.map(str::to_owned)));
        let numbers: Vec<Option<i64>> = (0..3)
            .flat_map(|batch| {
                let cells = table.read_batch(batch, &[TIME_MS]).unwrap();
                (0..table.batch(batch).len()).map(move |at| cells.int(TIME_MS, at)).collect::<Vec<_>>()
            })
            .collect();
        assert_eq!(numbers, [None, None, Some(20), Some(30), None, Some(50)]);
    }
}

#[test]
fn a_stage_without_rows_writes_a_file_of_its_columns() {
    let folder = tempfile::tempdir().unwrap();
    let (path, background_writer) = (folder.path().join("columns"), BackgroundWriter::default());
    let contract = Contract { writes: vec![LANGUAGE, TIME_MS], ..contract(TableId::Requests) };
    for batches in [&[0][..], &[]] {
        let table = Table::new(TableId::Requests, vec![], vec![], batches);
        Verdict::new("stage", &contract, &table, &path, &background_writer).finish().unwrap();
        background_writer.wait().unwrap();
        let file = FrameFile::open(&path).unwrap();
        assert_eq!(file.height(), 0);
        let frame = file.read_all().unwrap();
        assert_eq!(frame.names().collect::<Vec<_>>(), [LANGUAGE.name, TIME_MS.name]);
    }
    let nothing = Contract { writes: vec![], ..contract.clone() };
    let table = table();
    let delta = Verdict::new("stage", &nothing, &table, &folder.path().join("none"), &background_writer)
        .finish()
        .unwrap();
    assert!(delta.cells.is_none() && !folder.path().join("none").exists());
}
