//! Tests that `Verdict` enforces the rest of the contract: merges, links, decisions, parts.

use super::calls::{drop_row, edit, merge, set_text};
use super::{BAD, Home, Log, Shown, contract, stage_of};
use crate::columns::{LANGUAGE, MESSAGES};
use crate::contract::{Contract, Partition};
use crate::decision::{DecisionKind, Ruling};
use crate::decisions::{DECIDED, read_rulings};
use crate::delta::{COLUMNS, EDITS, FATES, StageManifest, read_edits};
use crate::instance::StageInstance;
use crate::layout::LINKS;
use crate::link::Link;
use crate::verdict::Verdict;
use crate::view::View;
use crate::vocabulary::{RowIx, Safety, TableId};

/// Returns every such refusal.
pub(super) fn refused() -> Vec<Shown> {
    [vec![unforeseen_merge()], of_links_and_decisions(), in_parts()].into_iter().flatten().collect()
}

/// Returns the error of a merge by a stage whose contract allows none.
fn unforeseen_merge() -> Shown {
    let home = Home::new();
    let without = Contract { merges: false, ..contract(TableId::Requests) };
    let wrong = stage_of("wrong", without, |_, out| merge(out, 1, 0));
    let done = home.run(&Log::of(&[0, 0]), &[wrong]);
    Shown::new(
        "a merge that its contract does not allow",
        done,
        "stage wrong: a merge is not in its contract",
    )
}

fn link(score: f64) -> Link {
    let (set, record, method) = ("set".to_owned(), "1".to_owned(), "cosine".to_owned());
    Link {
        object: "query",
        set,
        record,
        method,
        score,
        verdict: None,
        spans: vec![],
        record_spans: vec![],
        group: None,
    }
}

fn keep() -> Ruling {
    Ruling { kind: DecisionKind::Keep, detail: serde_json::Value::Null, refused: None, to_check: None }
}

/// Returns the errors of links, decisions and failures, with and without them in the contract.
fn of_links_and_decisions() -> Vec<Shown> {
    let without = || contract(TableId::Requests);
    let with = || Contract { links: true, decisions: vec![DecisionKind::Keep], ..without() };
    let run = |cause: &'static str, wrong: StageInstance, text: &'static str| {
        Shown::new(cause, Home::new().run(&Log::of(&[0, 0]), &[wrong]), text)
    };
    vec![
        run(
            "a link that its contract does not allow",
            stage_of("wrong", without(), |_, out| out.link(0, &link(0.5))),
            "stage wrong: a link is not in its contract",
        ),
        run(
            "a link of a row that does not exist",
            stage_of("wrong", with(), |_, out| out.link(2, &link(0.5))),
            "stage wrong: row 2 does not exist",
        ),
        run(
            "a link with a score that is no number",
            stage_of("wrong", with(), |_, out| out.link(0, &link(f64::NAN))),
            "stage wrong: a link of row 0 with the score NaN",
        ),
        run(
            "a decision of a kind that its contract does not name",
            stage_of("wrong", without(), move |_, out| out.ruling(0, keep())),
            "stage wrong: a decision keep is not in its contract",
        ),
        run(
            "a decision on a row that does not exist",
            stage_of("wrong", with(), move |_, out| out.ruling(2, keep())),
            "stage wrong: a decision on row 2, which does not exist",
        ),
        run(
            "a failure for a reason that is not a fault",
            stage_of("wrong", with(), |_, out| out.fail(0, &BAD, "no answer")),
            "stage wrong: reason test/bad of a failed row 0 is not a fault",
        ),
    ]
}

#[test]
fn the_verdicts_on_parts_join_to_the_same_verdict_as_without_parts() {
    let contract = Contract {
        partition: Partition::Rows,
        links: true,
        decisions: vec![DecisionKind::Keep],
        ..contract(TableId::Requests)
    };
    let say = |view: &View<'_>, out: &mut Verdict<'_>| {
        // From the last row to the first, which the delta does not show.
        let rows: Vec<RowIx> = view.rows().collect();
        for row in rows.into_iter().rev() {
            out.edit(row, edit(MESSAGES, Safety::Safe))?;
            out.set(row, MESSAGES, format!("other {row}"))?;
            out.set(row, LANGUAGE, "en")?;
            for number in [2, 1] {
                out.ruling(row, Ruling { detail: number.into(), ..keep() })?;
            }
            out.link(row, &link(0.5))?;
            if row != 3 {
                drop_row(out, row)?;
            }
        }
        out.note("all", 1.into());
        Ok(())
    };
    let said = |parts: usize| {
        let home = Home::new();
        home.run_in_parts(parts, &Log::of(&[0; 5]), &[stage_of("says", contract.clone(), say)]).unwrap();
        let step = home.path("stages/01-says");
        let notes = home.folder.manifest::<StageManifest>("stages/01-says").unwrap().unwrap().notes;
        let files =
            [FATES, EDITS, COLUMNS, LINKS, DECIDED].map(|name| std::fs::read(step.join(name)).unwrap());
        (
            files,
            notes,
            read_rulings(&step.join(DECIDED)).unwrap(),
            read_edits(&step.join(EDITS)).unwrap().len(),
        )
    };
    let at_once = said(1);
    let rulings: Vec<(RowIx, &str)> =
        at_once.2.iter().map(|ruling| (ruling.row, ruling.detail.as_str())).collect();
    // By row, and those of one row in the order of the calls.
    assert_eq!(rulings[..3], [(0, "2"), (0, "1"), (1, "2")]);
    assert_eq!((rulings.len(), at_once.3), (10, 5));
    for parts in [2, 3, 9] {
        assert!(said(parts) == at_once, "{parts} parts");
    }
}

/// Returns the errors of invalid verdicts on parts: four requests, judged in two parts of two.
fn in_parts() -> Vec<Shown> {
    let alone = || Contract { partition: Partition::Rows, ..contract(TableId::Requests) };
    let run = |cause: &'static str, wrong: StageInstance, text: &'static str| {
        let home = Home::new();
        let done = home.run_in_parts(2, &Log::of(&[0, 0, 0, 1]), &[wrong]);
        assert!(!home.path("stages/01-wrong").exists(), "{cause}");
        Shown::new(cause, done, text)
    };
    let by_key = Contract { partition: Partition::Key, ..alone() };
    vec![
        run(
            "a fate of a row of another part",
            stage_of("wrong", alone(), |_, out| drop_row(out, 3)),
            "stage wrong: row 3 is judged in another part",
        ),
        run(
            "a cell of a row of another part",
            stage_of("wrong", alone(), |_, out| set_text(out, 3, LANGUAGE)),
            "stage wrong: row 3 is judged in another part",
        ),
        run(
            "an edit of a row of another part",
            stage_of("wrong", alone(), |_, out| out.edit(3, edit(MESSAGES, Safety::Safe))),
            "stage wrong: row 3 is judged in another part",
        ),
        run(
            "a row that does not exist, of a part",
            stage_of("wrong", alone(), |_, out| drop_row(out, 4)),
            "stage wrong: row 4 does not exist",
        ),
        run(
            "a merge into a row that another part drops",
            stage_of("wrong", alone(), |view, out| match view.rows().next() {
                Some(0) => merge(out, 0, 3),
                _ => drop_row(out, 3),
            }),
            "stage wrong: row 0 merged into row 3, which is not kept",
        ),
        run(
            "notes of parts that cannot be joined",
            stage_of("wrong", alone(), |view, out| {
                out.note("first", view.rows().next().into());
                Ok(())
            }),
            "stage wrong: its parts note \"first\" differently, and it does not join them",
        ),
        run(
            "a stage that is cut by keys and has none",
            stage_of("wrong", by_key, |_, _| Ok(())),
            "stage wrong: its contract divides rows by key, and it has no keys",
        ),
    ]
}
