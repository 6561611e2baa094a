//! Tests that an invalid verdict stops the run, names the stage, and leaves no finished step.

use super::calls::{drop_row, edit, merge, set_text};
use super::{BAD, FOREIGN, Home, Log, Shown, WORSE, contract, drops, stage, stage_of};
use crate::columns::{FUNCTIONS, LANGUAGE, MESSAGES, MODEL, TIME_MS};
use crate::contract::Contract;
use crate::error::Result;
use crate::opinion::Opinion;
use crate::verdict::Verdict;
use crate::vocabulary::{Action, Edit, Evidence, Safety, TableId};

/// Runs a stage on four requests, of which number 1 was dropped before.
fn run(judge: fn(&mut Verdict<'_>) -> Result<()>) -> (Home, Result<()>) {
    let home = Home::new();
    let stages =
        [drops("first", TableId::Requests, 1), stage("wrong", TableId::Requests, move |_, out| judge(out))];
    let done = home.run(&Log::of(&[0, 0, 0, 1]), &stages).map(drop);
    (home, done)
}

/// An invalid verdict: description, call and error.
type Case = (&'static str, fn(&mut Verdict<'_>) -> Result<()>, &'static str);

const FATES: &[Case] = &[
    (
        "a drop for a foreign reason",
        |out| out.drop(0, &FOREIGN, Evidence::default()),
        "stage wrong: reason test/foreign is not in its contract",
    ),
    (
        "a hold for a foreign reason",
        |out| out.hold(0, &FOREIGN, Evidence::default()),
        "stage wrong: reason test/foreign is not in its contract",
    ),
    (
        "a merge for a foreign reason",
        |out| out.merge(0, 2, &FOREIGN, Evidence::default()),
        "stage wrong: reason test/foreign is not in its contract",
    ),
    (
        "a drop of a row that is not kept",
        |out| drop_row(out, 1),
        "stage wrong: drop of row 1, which is not kept",
    ),
    (
        "a hold of a row that is not kept",
        |out| out.hold(1, &BAD, Evidence::default()),
        "stage wrong: hold of row 1, which is not kept",
    ),
    (
        "a merge of a row that is not kept",
        |out| merge(out, 1, 0),
        "stage wrong: merge of row 1, which is not kept",
    ),
    ("a drop of a row that does not exist", |out| drop_row(out, 4), "stage wrong: row 4 does not exist"),
    (
        "a second fate",
        |out| drop_row(out, 2).and_then(|()| out.hold(2, &WORSE, Evidence::default())),
        "stage wrong: a second fate for row 2: test/worse",
    ),
    (
        "the same fate twice",
        |out| drop_row(out, 2).and_then(|()| drop_row(out, 2)),
        "stage wrong: a second fate for row 2: test/bad",
    ),
    ("a merge into itself", |out| merge(out, 2, 2), "stage wrong: row 2 merged into itself"),
    ("a merge into a row that does not exist", |out| merge(out, 2, 4), "stage wrong: row 4 does not exist"),
    (
        "a merge into a row that left before",
        |out| merge(out, 2, 1),
        "stage wrong: row 2 merged into row 1, which is not kept",
    ),
    (
        "a merge into a row that is dropped following_messages",
        |out| merge(out, 2, 3).and_then(|()| drop_row(out, 3)),
        "stage wrong: row 2 merged into row 3, which is not kept",
    ),
    (
        "a merge into a row that was dropped just before",
        |out| drop_row(out, 3).and_then(|()| merge(out, 2, 3)),
        "stage wrong: row 2 merged into row 3, which is not kept",
    ),
    (
        "a merge into a row that is merged itself",
        |out| merge(out, 2, 3).and_then(|()| merge(out, 3, 0)),
        "stage wrong: row 2 merged into row 3, which is not kept",
    ),
    (
        "an opinion that merges, since it names no leader",
        |out| {
            let fate = Some((Action::Merge, &BAD, Evidence::default()));
            out.opinion(2, Opinion { fate, ..Opinion::default() })
        },
        "stage wrong: row 2 merged into no row",
    ),
    (
        "an opinion with a foreign reason",
        |out| out.opinion(2, Opinion::drop(&FOREIGN, Evidence::default())),
        "stage wrong: reason test/foreign is not in its contract",
    ),
];

const CELLS: &[Case] = &[
    (
        "a cell of a column that it does not write",
        |out| set_text(out, 0, MODEL),
        "stage wrong: column model is not in its contract",
    ),
    (
        "a cell of the other table",
        |out| set_text(out, 0, FUNCTIONS),
        "stage wrong: column functions is not in its contract",
    ),
    (
        "a text in a column of numbers",
        |out| set_text(out, 0, TIME_MS),
        "stage wrong: column time_ms cannot hold Text(\"text\")",
    ),
    (
        "a number in a column of texts",
        |out| out.set(0, LANGUAGE, 7_i64),
        "stage wrong: column language cannot hold Int(7)",
    ),
    (
        "a cell of a row that does not exist",
        |out| set_text(out, 4, LANGUAGE),
        "stage wrong: row 4 does not exist",
    ),
    (
        "a cell of a batch that was written",
        |out| out.flush(0).and_then(|()| set_text(out, 3, LANGUAGE)),
        "stage wrong: cell of row 3 set after its batch was written",
    ),
    (
        "a change of what the log said, without an edit",
        |out| set_text(out, 0, MESSAGES),
        "stage wrong: column messages of row 0 changed without an edit",
    ),
    (
        "a change before its edit",
        |out| set_text(out, 0, MESSAGES).and_then(|()| out.edit(0, edit(MESSAGES, Safety::Safe))),
        "stage wrong: column messages of row 0 changed without an edit",
    ),
    (
        "a change with an edit of another row",
        |out| out.edit(2, edit(MESSAGES, Safety::Safe)).and_then(|()| set_text(out, 0, MESSAGES)),
        "stage wrong: column messages of row 0 changed without an edit",
    ),
    (
        "a change with an edit of another column",
        |out| out.edit(0, edit(LANGUAGE, Safety::Safe)).and_then(|()| set_text(out, 0, MESSAGES)),
        "stage wrong: column messages of row 0 changed without an edit",
    ),
    (
        "a change that was only suggested",
        |out| out.edit(0, edit(MESSAGES, Safety::Suggest)).and_then(|()| set_text(out, 0, MESSAGES)),
        "stage wrong: column messages of row 0 changed without an edit",
    ),
    (
        "an opinion that changes what the log said, without an edit",
        |out| out.opinion(0, Opinion::keep().with(MESSAGES, "text")),
        "stage wrong: column messages of row 0 changed without an edit",
    ),
    (
        "an edit for a foreign reason",
        |out| out.edit(0, Edit { reason: &FOREIGN, ..edit(MESSAGES, Safety::Safe) }),
        "stage wrong: reason test/foreign is not in its contract",
    ),
    (
        "an edit of a column that it does not write",
        |out| out.edit(0, edit(MODEL, Safety::Safe)),
        "stage wrong: column model is not in its contract",
    ),
    (
        "an edit of a row that does not exist",
        |out| out.edit(4, edit(MESSAGES, Safety::Safe)),
        "stage wrong: row 4 does not exist",
    ),
    (
        "an opinion with an edit of a column that it does not write",
        |out| out.opinion(0, Opinion { edits: vec![edit(MODEL, Safety::Safe)], ..Opinion::default() }),
        "stage wrong: column model is not in its contract",
    ),
];

/// Returns every refusal, with what it refuses.
pub(super) fn refused() -> Vec<Shown> {
    let mut shown: Vec<Shown> = Vec::new();
    for &(cause, say, text) in FATES.iter().chain(CELLS) {
        let (home, done) = run(say);
        assert!(home.path("stages/01-first").is_dir(), "{cause}");
        assert!(!home.path("stages/02-wrong").exists(), "{cause}");
        shown.push(Shown::new(cause, done, text));
    }
    shown.extend(super::contract::refused());
    shown
}

#[test]
fn invalid_verdicts_are_refused() {
    refused().iter().for_each(Shown::check);
}

#[test]
fn valid_verdicts_pass() {
    let (home, done) = run(|out| {
        // A change with an edit of any kind; a derived cell needs none.
        out.edit(0, edit(MESSAGES, Safety::Safe))?;
        set_text(out, 0, MESSAGES)?;
        out.edit(2, edit(MESSAGES, Safety::Unsafe))?;
        set_text(out, 2, MESSAGES)?;
        set_text(out, 2, LANGUAGE)?;
        out.set(3, TIME_MS, 7_i64)?;
        // Suggestions change nothing.
        out.edit(3, edit(MESSAGES, Safety::Suggest))?;
        out.hold(3, &WORSE, Evidence::default())?;
        merge(out, 2, 0)
    });
    done.unwrap();
    assert!(home.path("stages/02-wrong").is_dir());
}

#[test]
fn a_content_column_that_nobody_wrote_yet_needs_no_edit() {
    let home = Home::new();
    let contract = Contract { writes: vec![FUNCTIONS], ..contract(TableId::DocLists) };
    let [parse, again] =
        ["parse", "again"].map(|id| stage_of(id, contract.clone(), |_, out| set_text(out, 0, FUNCTIONS)));
    let error = home.run(&Log::of(&[0]), &[parse, again]).map(drop).unwrap_err();
    let text = "stage again: column functions of row 0 changed without an edit";
    assert_eq!(error.to_string(), text);
    assert!(home.path("stages/01-parse").is_dir());
}
