//! Tests of deltas that were changed after they were written. The checksum detects the change, and the stage runs
//! again. If the checksum was updated too, reading the delta back fails and names the file.

use std::path::Path;

use serde_json::json;

use super::{BAD, FOREIGN, Home, Log, WORSE, drops, stage};
use crate::cascade::NO_REQUEST_LEFT;
use crate::columns::{LANGUAGE, MESSAGES, TIME_MS};
use crate::decision::{DecisionKind, Ruling};
use crate::decisions::{DECIDED, write_rulings};
use crate::delta::{COLUMNS, EDITS, FATES, StoredEdit, write_edits, write_fates};
use crate::error::Error;
use crate::fate::FateEvent;
use crate::forgotten::{self, FORGOTTEN};
use crate::frame::{FrameFile, FrameWriter, Values, write_frame};
use crate::instance::StageInstance;
use crate::layout::FORGOTTEN_FATES;
use crate::vocabulary::{Action, Evidence, Metric, Reason, RowIx, TableId};
use crate::{ledger, runner};

const STEP: &str = "stages/02-judge";

/// Runs on four requests of two lists. The first stage drops request 3, the second merges request 1 into 0 and writes a
/// column.
fn stages() -> [StageInstance; 2] {
    [
        drops("drop", TableId::Requests, 3),
        stage("judge", TableId::Requests, |_, out| {
            out.set(0, LANGUAGE, "en")?;
            out.merge(1, 0, &BAD, Evidence::default())
        }),
    ]
}

const LOG: &[u128] = &[0, 0, 1, 1];

fn finished() -> Home {
    let home = Home::new();
    home.run(&Log::of(LOG), &stages()).unwrap();
    home
}

fn fate(row: RowIx, action: Action, reason: &'static Reason, into: Option<RowIx>) -> FateEvent {
    let (table, evidence) = (TableId::Requests, Evidence::default());
    FateEvent { table, row, action, reason, into, cascaded: false, evidence }
}

/// A change of a file of the second stage, and the error of reading it back.
type Case = (&'static str, Box<dyn Fn(&Path)>, &'static str);

fn fates(cause: &'static str, fates: Vec<FateEvent>, what: &'static str) -> Case {
    (cause, Box::new(move |step| write_fates(&step.join(FATES), &fates).unwrap()), what)
}

/// Changes one column of the fates of rows 1 and 2; `None` leaves it out.
fn column(
    cause: &'static str,
    name: &'static str,
    values: fn() -> Option<Values<'static>>,
    what: &'static str,
) -> Case {
    let damage = move |step: &Path| {
        let path = step.join(FATES);
        write_fates(&path, &[fate(1, Action::Drop, &BAD, None), fate(2, Action::Drop, &BAD, None)]).unwrap();
        let frame = FrameFile::open(&path).unwrap().read_all().unwrap();
        let mut columns = frame.columns(&path).unwrap();
        let at = columns.iter().position(|(found, _)| *found == name).unwrap();
        match values() {
            Some(values) => columns[at].1 = values,
            None => drop(columns.remove(at)),
        }
        write_frame(&path, columns).unwrap();
    };
    (cause, Box::new(damage), what)
}

fn rows(cause: &'static str, n_rows: usize, what: &'static str) -> Case {
    let damage = move |step: &Path| {
        let texts = || Values::Text(vec![None; n_rows]);
        let numbers = Values::Int(vec![None; n_rows]);
        let mut writer = FrameWriter::create(&step.join(COLUMNS));
        let columns = vec![(MESSAGES.name, texts()), (TIME_MS.name, numbers), (LANGUAGE.name, texts())];
        writer.write(columns).unwrap();
        writer.finish().unwrap();
    };
    (cause, Box::new(damage), what)
}

fn cases() -> Vec<Case> {
    cases_of_rows().into_iter().chain(cases_of_cells()).collect()
}

fn cases_of_rows() -> Vec<Case> {
    use Action::{Drop, Hold, Merge};
    vec![
        fates(
            "a row that does not exist",
            vec![fate(4, Drop, &BAD, None)],
            "fates.parquet: a fate of row 4, which does not exist or is not kept",
        ),
        fates(
            "a row that an earlier stage dropped",
            vec![fate(3, Hold, &WORSE, None)],
            "fates.parquet: a fate of row 3, which does not exist or is not kept",
        ),
        fates(
            "two fates of one row",
            vec![fate(1, Drop, &BAD, None), fate(1, Hold, &WORSE, None)],
            "fates.parquet: a second fate of row 1",
        ),
        fates(
            "a reason that the stage does not know",
            vec![fate(0, Drop, &BAD, None), fate(1, Drop, &FOREIGN, None)],
            "fates.parquet: row 1 is not a fate",
        ),
        fates(
            "a leader that does not exist",
            vec![fate(1, Merge, &BAD, Some(4))],
            "fates.parquet: row 1 is merged without a leader that stays kept, or has a leader and is not merged",
        ),
        fates(
            "a leader that an earlier stage dropped",
            vec![fate(1, Merge, &BAD, Some(3))],
            "fates.parquet: row 1 is merged without a leader that stays kept, or has a leader and is not merged",
        ),
        fates(
            "a leader with a fate of its own",
            vec![fate(1, Merge, &BAD, Some(2)), fate(2, Merge, &BAD, Some(1))],
            "fates.parquet: row 1 is merged without a leader that stays kept, or has a leader and is not merged",
        ),
        fates(
            "a row that leads itself",
            vec![fate(1, Merge, &BAD, Some(1))],
            "fates.parquet: row 1 is merged without a leader that stays kept, or has a leader and is not merged",
        ),
        fates(
            "a merge without a leader",
            vec![fate(1, Merge, &BAD, None)],
            "fates.parquet: row 1 is merged without a leader that stays kept, or has a leader and is not merged",
        ),
        fates(
            "a drop with a leader",
            vec![fate(1, Drop, &BAD, Some(0))],
            "fates.parquet: row 1 is merged without a leader that stays kept, or has a leader and is not merged",
        ),
        fates(
            "a list that does not exist",
            vec![FateEvent { table: TableId::DocLists, ..fate(2, Drop, &NO_REQUEST_LEFT, None) }],
            "fates.parquet: a fate of row 2, which does not exist or is not kept",
        ),
    ]
}

fn cases_of_cells() -> Vec<Case> {
    vec![
        column(
            "a table that is none",
            "table",
            || Some(Values::Text(vec![Some("requests"), Some("answers")])),
            "fates.parquet: row 1 is not a fate",
        ),
        column(
            "an action that is none",
            "action",
            || Some(Values::Text(vec![Some("drop"), Some("forget")])),
            "fates.parquet: row 1 is not a fate",
        ),
        column(
            "a fate without a reason",
            "reason",
            || Some(Values::Text(vec![None, Some("test/bad")])),
            "fates.parquet: row 0 is not a fate",
        ),
        column(
            "a fate that may or may not have followed",
            "cascaded",
            || Some(Values::Int(vec![Some(0), None])),
            "fates.parquet: row 1 is not a fate",
        ),
        column(
            "a measure that is none",
            "metric",
            || Some(Values::Text(vec![None, Some("mood")])),
            "fates.parquet: row 1 is not a fate",
        ),
        column(
            "evidence that is no JSON",
            "detail",
            || Some(Values::Text(vec![None, Some("{")])),
            "fates.parquet: row 1 is not a fate",
        ),
        column(
            "rows of another kind",
            "row",
            || Some(Values::Int(vec![Some(1), Some(2)])),
            "fates.parquet: row 0 is not a fate",
        ),
        column("fates without rows", "row", || None, "fates.parquet: the column row of fates is missing"),
        rows("cells of too few rows", 3, "columns.parquet: expected 4 rows, found 3"),
        rows("cells of too many rows", 5, "columns.parquet: expected 4 rows, found 5"),
    ]
}

/// A score that a case needs next to its metric.
const SCORED: &str = "a measure that is none";

#[test]
fn a_damaged_delta_with_a_matching_checksum_is_an_error_that_names_the_file() {
    for (cause, damage, what) in cases() {
        let home = finished();
        damage(&home.path(STEP));
        if cause == SCORED {
            add_scores(&home.path(STEP));
        }
        home.seal(STEP, |_| ());
        let errors = [
            home.run(&Log::of(LOG), &stages()).map(drop).unwrap_err(),
            // Whatever reads a finished run reads its deltas the same way.
            runner::open(home.folder.path(), &home.folder.manifest("ingest").unwrap().unwrap(), &stages())
                .map(drop)
                .unwrap_err(),
        ];
        for error in errors {
            assert!(matches!(error, Error::Damaged { .. }) && !error.is_bug(), "{cause}");
            let (said, hint) = home.short(&error.to_string()).split_once("\nhint: ").map(owned).unwrap();
            assert_eq!(said, format!("{STEP}/{what}"), "{cause}");
            assert!(hint.contains("callsieve verify"), "{cause}");
        }
        assert_eq!(home.warnings(), [""; 0], "{cause}");
    }
}

fn owned((before, after): (&str, &str)) -> (String, String) {
    (before.to_owned(), after.to_owned())
}

fn add_scores(step: &Path) {
    let path = step.join(FATES);
    let frame = FrameFile::open(&path).unwrap().read_all().unwrap();
    let mut columns = frame.columns(&path).unwrap();
    let at = columns.iter().position(|(found, _)| *found == "score").unwrap();
    columns[at].1 = Values::Float(vec![Some(0.5); 2]);
    write_frame(&path, columns).unwrap();
}

#[test]
fn a_stage_with_a_damaged_delta_runs_again_with_a_warning() {
    for (cause, damage, what) in cases() {
        let home = finished();
        damage(&home.path(STEP));
        let outcome = home.run(&Log::of(LOG), &stages()).unwrap();
        assert_eq!(outcome.reused, 2, "{cause}: all but the damaged step");
        let (file, _) = what.split_once(':').unwrap();
        let warnings = home.warnings();
        let [warning] = warnings.as_slice() else { panic!("{cause}: {warnings:?}") };
        assert!(warning.starts_with(&format!("{STEP}/{file} is damaged (")), "{cause}: {warning}");
        assert!(warning.ends_with("): the stage runs again"), "{cause}: {warning}");
        assert_eq!(outcome.corpus.requests.fate(1).unwrap().into, Some(0), "{cause}");
        let whole = home.run(&Log::of(LOG), &stages()).unwrap();
        assert_eq!((whole.reused, home.warnings()), (3, vec![]), "{cause}");
    }
}

#[test]
fn a_delta_is_read_back_as_it_was_written() {
    let home = Home::new();
    let judge = || {
        stage("judge", TableId::Requests, |_, out| {
            out.set(2, TIME_MS, 7_i64)?;
            out.merge(1, 0, &BAD, Evidence::score(Metric::Cosine, 0.5))?;
            out.hold(3, &WORSE, Evidence::detail(serde_json::json!({"found": [1, "two"]})))
        })
    };
    home.run(&Log::of(LOG), &[judge()]).unwrap();
    let again = home.run(&Log::of(LOG), &[judge()]).unwrap();
    assert_eq!(again.reused, 2);
    let cells = again.corpus.requests.read_batch(0, &[TIME_MS]).unwrap();
    assert_eq!([0, 1, 2, 3].map(|at| cells.int(TIME_MS, at)), [None, None, Some(7), None]);
    let path = home.path("stages/01-judge").join(FATES);
    let read = crate::delta::read_fates(&path, &[&BAD, &WORSE]).unwrap();
    let evidence =
        [Evidence::score(Metric::Cosine, 0.5), Evidence::detail(serde_json::json!({"found": [1, "two"]}))];
    let [merge, hold] = evidence;
    let expected = [
        FateEvent { evidence: merge, ..fate(1, Action::Merge, &BAD, Some(0)) },
        FateEvent { evidence: hold, ..fate(3, Action::Hold, &WORSE, None) },
    ];
    assert_eq!(read, expected);
}

#[test]
fn an_event_of_a_row_that_does_not_exist_is_an_error_that_names_the_file() {
    let home = Home::new();
    let corpus = home.run(&Log::of(LOG), &stages()).unwrap().corpus;
    let events = || {
        let judge = &stages()[1];
        ledger::for_each_event(home.folder.path(), 1, judge, &corpus, |_, _| true, |_| Ok(()))
            .map_err(|error| home.short(&error.to_string()))
    };
    assert_eq!(events(), Ok(()));
    let edit = |row| StoredEdit {
        table: TableId::Requests,
        row,
        column: MESSAGES.name.to_owned(),
        reason: BAD.code.to_owned(),
        safety: "safe".to_owned(),
        patch: "[]".to_owned(),
    };
    let edits = home.path(STEP).join(EDITS);
    write_edits(&edits, &[edit(3), edit(4)]).unwrap();
    let error = events().unwrap_err();
    assert!(
        error.starts_with(&format!("{STEP}/edits.parquet: an edit of row 4, which does not exist")),
        "{error}"
    );
    write_edits(&edits, &[]).unwrap();
    let decision = |row| {
        let ruling = Ruling { kind: DecisionKind::Keep, detail: json!({}), refused: None, to_check: None };
        write_rulings(&home.path(STEP).join(DECIDED), TableId::DocLists, &[(row, ruling)]).unwrap();
    };
    decision(1);
    assert_eq!(events(), Ok(()));
    decision(2);
    let error = events().unwrap_err();
    assert!(error.contains(": a decision of row 2, which does not exist"), "{error}");
    let forgotten = |row| {
        write_fates(&home.folder.path().join(FORGOTTEN_FATES), &[fate(row, Action::Drop, &FORGOTTEN, None)])
            .unwrap();
        forgotten::apply(home.folder.path(), &mut corpus.clone(), 2)
            .map_err(|error| home.short(&error.to_string()))
    };
    assert_eq!(forgotten(1), Ok(()));
    let error = forgotten(4).unwrap_err();
    assert!(error.starts_with("forgotten.parquet: a fate of row 4, which does not exist"), "{error}");
}
