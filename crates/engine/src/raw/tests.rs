//! A source that the engine knows nothing of: columns of its own, and doc lists that come without a request.

use std::sync::atomic::AtomicBool;

use super::{DocListRow, InputsRead, Intake, RequestRow, RowCells, SourcePlace};
use crate::context::{Context, Quiet};
use crate::contract::Contract;
use crate::error::{Error, Result};
use crate::fingerprint::Fingerprint;
use crate::folder::RunFolder;
use crate::instance::StageInstance;
use crate::manifest::{InputFile, read_manifest};
use crate::opinion::Opinion;
use crate::runner::{self, Outcome};
use crate::source::Source;
use crate::stage::{RowStage, Rows};
use crate::view::Row;
use crate::vocabulary::{ColumnKind, ColumnSpec, Evidence, Origin, Reason, RowIx, TableId};

const WORDS: ColumnSpec =
    ColumnSpec::new(TableId::DocLists, "words", ColumnKind::Text, Origin::Source, "what it is made of");
const QUERY: ColumnSpec =
    ColumnSpec::new(TableId::Requests, "query", ColumnKind::Text, Origin::Source, "what is asked");

static EMPTY: Reason = Reason::policy("test/empty", "It holds no words.");
static ALL_OUT: Reason = Reason::policy("test/out", "Every request is out.");

/// Three lists, one of them empty and one of them twice; a request for the last where it is wanted.
#[derive(Default)]
struct Lists {
    with_request: bool,
    stray_column: bool,
}

fn list(words: &str) -> DocListRow {
    DocListRow { content_key: words.len() as u128, cells: RowCells::default().with(WORDS, Some(words)) }
}

fn line(line: u64) -> SourcePlace {
    SourcePlace { file: 0, line, record: line }
}

impl Source for Lists {
    fn fingerprint(&self, _: &mut Fingerprint) -> Result<()> {
        Ok(())
    }

    fn columns(&self) -> Vec<ColumnSpec> {
        if self.with_request { vec![QUERY, WORDS] } else { vec![WORDS] }
    }

    fn inputs(&self) -> Result<Vec<InputFile>> {
        Ok(Vec::new())
    }

    fn read(&self, into: &mut Intake, _: &Context<'_>) -> Result<InputsRead> {
        // The last line first: the order of reading is not that of the log.
        for (nth, words) in [(4, "ring"), (3, "add two"), (2, ""), (1, "ring")] {
            into.doc_list(line(nth), list(words))?;
        }
        if self.with_request {
            let cells = RowCells::default().with(QUERY, Some("Ring the bell"));
            into.request(RequestRow {
                content_key: 1,
                place: line(5),
                list: list("ring"),
                cells,
                ..RequestRow::default()
            })?;
        }
        if self.stray_column {
            let cells = RowCells::default().with(QUERY, Some("?"));
            into.doc_list(line(6), DocListRow { content_key: 99, cells })?;
        }
        let items = 4 + u64::from(self.with_request) + u64::from(self.stray_column);
        Ok(InputsRead { items, ..InputsRead::default() })
    }
}

/// Drops lists without words.
struct DropEmpty;

impl RowStage for DropEmpty {
    type Parent = ();

    fn contract(&self) -> Contract {
        Contract::of(TableId::DocLists).reads([WORDS]).reasons([&EMPTY])
    }

    fn fingerprint(&self, _: &mut Fingerprint) -> Result<()> {
        Ok(())
    }

    fn judge_row(&self, row: Row<'_>, (): &()) -> Opinion {
        match row.text(WORDS) {
            Some("") => Opinion::drop(&EMPTY, Evidence::default()),
            _ => Opinion::keep(),
        }
    }
}

/// Drops every request.
struct DropRequests;

impl RowStage for DropRequests {
    type Parent = ();

    fn contract(&self) -> Contract {
        Contract::of(TableId::Requests).reasons([&ALL_OUT])
    }

    fn fingerprint(&self, _: &mut Fingerprint) -> Result<()> {
        Ok(())
    }

    fn judge_row(&self, _: Row<'_>, (): &()) -> Opinion {
        Opinion::drop(&ALL_OUT, Evidence::default())
    }
}

fn stages() -> Vec<StageInstance> {
    let instance = |kind: &'static str, stage| StageInstance {
        id: kind.to_owned(),
        kind,
        settings: serde_json::Value::Null,
        stage,
    };
    vec![
        instance("drop-empty", Box::new(Rows(DropEmpty)) as Box<_>),
        instance("drop-requests", Box::new(Rows(DropRequests)) as Box<_>),
    ]
}

fn run(folder: &RunFolder, source: &Lists) -> Result<Outcome> {
    let cancel = AtomicBool::new(false);
    runner::run(folder, source, &stages(), &Context::new(0, &cancel, &Quiet))
}

fn kept(outcome: &Outcome) -> Vec<RowIx> {
    let lists = &outcome.corpus.lists;
    lists.in_order().iter().copied().filter(|&row| lists.is_kept(row)).collect()
}

#[test]
fn lists_without_requests_are_judged_and_stay_and_every_line_is_accounted_for() {
    let home = tempfile::tempdir().unwrap();
    let folder = RunFolder::take(&home.path().join("run")).unwrap();
    let outcome = run(&folder, &Lists::default()).unwrap();
    let counts = &outcome.ingest.counts;
    assert_eq!((counts.lines, counts.lists_alone, counts.records, counts.doc_lists), (4, 4, 0, 3));
    // By line: "ring" stands on the first, the empty list on the second, "add two" on the third.
    assert_eq!(outcome.corpus.lists.in_order(), [0, 2, 1]);
    assert_eq!(
        kept(&outcome),
        [0, 1],
        "the empty list is dropped, and nothing follows from there being no request"
    );
    let drops: u64 = outcome.stages.iter().flat_map(|stage| &stage.fates).map(|count| count.rows).sum();
    assert_eq!(drops, 1);

    let again = run(&folder, &Lists::default()).unwrap();
    assert_eq!((again.reused, kept(&again)), (3, kept(&outcome)));
    let ingest = read_manifest(folder.path(), "ingest").unwrap().unwrap();
    let opened = runner::open(folder.path(), &ingest, &stages()).unwrap();
    assert!(opened.lists.has(WORDS) && !opened.requests.has(QUERY));
    let cells = opened.lists.read_batch(0, &[WORDS]).unwrap();
    assert_eq!([0, 1, 2].map(|row| cells.text(WORDS, row)), [Some("ring"), Some("add two"), Some("")]);
}

#[test]
fn only_a_list_that_had_a_request_leaves_with_its_last_one() {
    let home = tempfile::tempdir().unwrap();
    let folder = RunFolder::take(&home.path().join("run")).unwrap();
    let source = Lists { with_request: true, ..Lists::default() };
    let outcome = run(&folder, &source).unwrap();
    let counts = &outcome.ingest.counts;
    assert_eq!((counts.lines, counts.lists_alone, counts.records, counts.doc_lists), (5, 4, 1, 3));
    // The list with a request comes first; the others follow by line.
    assert_eq!(outcome.corpus.lists.in_order(), [0, 2, 1]);
    assert_eq!(kept(&outcome), [1], "\"ring\" left with its request, \"add two\" never had one");
}

#[test]
fn a_cell_of_a_column_that_the_source_did_not_declare_stops_the_run_as_a_bug() {
    let home = tempfile::tempdir().unwrap();
    let folder = RunFolder::take(&home.path().join("run")).unwrap();
    let source = Lists { stray_column: true, ..Lists::default() };
    let error = run(&folder, &source).err().unwrap();
    assert!(matches!(error, Error::Verdict { .. }) && error.is_bug(), "{error}");
    assert!(error.to_string().contains("column query is not declared"), "{error}");
}
