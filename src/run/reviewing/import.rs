//! Reads a file that people filled in as decisions of one reviewer, as if they were made on the page.
//!
//! Each decision is checked as the page checks it: the row has the content that the person saw, the decision can change the row, an
//! answer fits the docs. If one is refused, all refused ones are named and nothing is read.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use callsieve_review::item::{Accept, Item, Table as ItemTable};
use callsieve_review::server::{Checked, Checker as _, Edit};
use callsieve_review::store::{Draft, Made, Reviews, Verdict};
use serde_json::{Value, json};

use super::checker::RunChecker;
use super::source::{ROWS_AT_ONCE, RunSource};
use super::{Kind, Place};
use crate::decisions::{self, DecisionsError, possible_decisions};
use crate::docs::patch::{PatchOp, apply};
use crate::engine::decision::{Decision, DecisionKind};
use crate::engine::layout::DECISIONS;
use crate::engine::row_names::NamedRow;
use crate::engine::vocabulary::{Action, TableId};
use crate::jobs::Job as _;
use crate::jobs::instruct;
use crate::run::error::refuse;
use crate::run::names::resolve;
use crate::run::review::{LEAST_DIGITS, Noted, Selection, UNVERIFIED};
use crate::run::{Error, OpenRun};
use crate::text::short::shortened;

/// The word of files for a row that is right as it is shown.
const ACCEPT: &str = "accept";

/// The decisions of a file, for the store of a reviewer.
#[derive(Debug)]
#[non_exhaustive]
pub struct ImportedReviews {
    /// The new decisions, in the order of the file.
    pub drafts: Vec<Draft>,
    /// How many decisions a reviewer of the run has made already.
    pub n_made: usize,
    /// Rows with something filled in and no decision.
    pub undecided: Vec<String>,
}

/// The most characters of an answer in a message.
const MAX_SHOWN: usize = 200;

/// A decision of the file, and what is wrong with it.
type Fault = (usize, String);

impl OpenRun {
    /// Reads a file of decisions for a reviewer: what [`export_reviews`](Self::export_reviews) wrote and a person edited, or another file
    /// of decisions. Nothing is written.
    ///
    /// # Errors
    /// The file cannot be read, or holds a decision that is not possible: all of them are named.
    pub fn import_reviews(self, path: &Path, reviewer: &str) -> Result<ImportedReviews, Error> {
        let read = decisions::read(path).or_else(|error| refuse(error.to_string()))?;
        let reviews =
            Reviews::read(&self.folder.join(DECISIONS)).or_else(|error| refuse(error.to_string()))?;
        let made = reviews.made();
        let ids: Vec<&str> = read.all.iter().map(|decision| decision.id.as_str()).collect();
        let named = resolve(&self, &ids, LEAST_DIGITS)?;
        let mut faults: Vec<Fault> = Vec::new();
        let mut by_place: BTreeMap<(TableId, u32), Vec<&Decision>> = BTreeMap::new();
        for (decision, rows) in read.all.iter().zip(&named) {
            match row_of(decision, rows) {
                Ok(row) => by_place.entry((row.table, row.row)).or_default().push(decision),
                Err(fault) => faults.push((decision.line, fault)),
            }
        }
        let noted = self.noted(Selection::Held)?;
        let place = |&(table, row): &(TableId, u32)| Place {
            kind: self.kind_of(table, row, &noted, &made),
            table,
            row,
        };
        let places: Vec<Place> = by_place.keys().map(place).collect();
        let checker = RunChecker::of(&self)?;
        let source = RunSource::new(self, places.clone())?;
        let mut drafts: Vec<(usize, Draft)> = Vec::new();
        for part in places.chunks(ROWS_AT_ONCE) {
            for (place, item) in part.iter().zip(source.items(part)?) {
                for decision in by_place.get(&(place.table, place.row)).into_iter().flatten() {
                    let draft = draft_of(decision, &item);
                    let checked = match made.by(&draft, reviewer) {
                        // It was possible when it was made, and the run may have applied it.
                        Some(_) => check_was(decision, &item),
                        None => check(decision, *place, &item, &checker),
                    };
                    match checked {
                        Ok(()) => drafts.push((decision.line, draft)),
                        Err(fault) => faults.push((decision.line, fault)),
                    }
                }
            }
        }
        drafts.sort_by_key(|(line, _)| *line);
        let (drafts, contradictions) = without_repetitions(drafts);
        faults.extend(contradictions);
        if !faults.is_empty() {
            faults.sort();
            return refuse(DecisionsError::Rows { path: path.to_owned(), faults }.to_string());
        }
        let n_all = drafts.len();
        let drafts: Vec<Draft> = drafts
            .into_iter()
            .map(|(_, draft)| draft)
            .filter(|draft| made.by(draft, reviewer).is_none())
            .collect();
        Ok(ImportedReviews { n_made: n_all - drafts.len(), drafts, undecided: read.undecided })
    }

    /// Why a row would be on the page.
    fn kind_of(&self, table: TableId, row: u32, noted: &Noted, made: &Made) -> Kind {
        let rows = self.corpus.table(table);
        let id = rows.row_id(row);
        let of_item = if table == TableId::Requests { ItemTable::Requests } else { ItemTable::DocLists };
        let is_entry = || {
            table == TableId::Requests && noted.entries.get(&id.0).is_some_and(|(set, _)| set == UNVERIFIED)
        };
        let is_instruction = || {
            table == TableId::Requests && self.job().name() == instruct::Instruct.name() && rows.is_kept(row)
        };
        match rows.fate(row) {
            Some(fate) if fate.action == Action::Hold => Kind::Held,
            _ if is_instruction() => Kind::Kept,
            _ if is_entry() => Kind::Entry,
            Some(_) if !made.has(of_item, &id.to_string()) => Kind::Sampled,
            _ => Kind::Decided,
        }
    }
}

/// Returns the row that a decision is on.
fn row_of(decision: &Decision, rows: &[NamedRow]) -> Result<NamedRow, String> {
    let found = format!("\"id\": found {}", json!(decision.id));
    match rows {
        [row] => Ok(*row),
        [] => Err(format!("{found}, expected the id of a request or a doc list of this run")),
        several => {
            Err(format!("{found}, which {} rows have, expected one of their request ids", several.len()))
        }
    }
}

/// Leaves out decisions that an earlier line makes already; a row with two that differ is a fault.
fn without_repetitions(all: Vec<(usize, Draft)>) -> (Vec<(usize, Draft)>, Vec<Fault>) {
    let (mut kept, mut faults): (Vec<(usize, Draft)>, Vec<Fault>) = (Vec::new(), Vec::new());
    let mut by_row: BTreeMap<(bool, String), usize> = BTreeMap::new();
    for (line, draft) in all {
        let row = (draft.table == ItemTable::Requests, draft.id.clone());
        match by_row.get(&row).map(|at| &kept[*at]) {
            None => {
                by_row.insert(row, kept.len());
                kept.push((line, draft));
            }
            Some((_, first)) if first.decision == draft.decision && first.value == draft.value => {}
            Some((first, _)) => {
                faults.push((
                    line,
                    format!(
                        "\"decision\": found another one than line {first} has for the row, expected one"
                    ),
                ));
            }
        }
    }
    (kept, faults)
}

/// Returns a decision as the page would make it.
fn draft_of(decision: &Decision, item: &Item) -> Draft {
    let verdict = match decision.kind {
        // Accepting is the answer or the label that it stands for; the file has it.
        DecisionKind::Relabel | DecisionKind::Answer if decision.word == ACCEPT => Verdict::Accept,
        DecisionKind::Keep => Verdict::Accept,
        DecisionKind::Drop => Verdict::Drop,
        DecisionKind::Relabel => Verdict::Relabel,
        DecisionKind::Answer => Verdict::Answer,
        DecisionKind::Edit => Verdict::EditDoc,
    };
    let draft = Draft::new(&item.id, item.table, &item.was, verdict);
    let reason = Some(item.reason.code.clone());
    Draft { value: decision.body.clone(), why: decision.why.clone(), reason, ..draft }
}

/// Checks a decision as the page does.
fn check(decision: &Decision, place: Place, item: &Item, checker: &RunChecker) -> Result<(), String> {
    check_was(decision, item)?;
    check_accepted(decision, item)?;
    let words = words_of(place, item);
    if !words.contains(&word_of(decision)) {
        let found = format!("\"decision\": found \"{}\"", decision.word);
        return Err(if words.is_empty() {
            format!("{found} on a row that no decision can change, expected none")
        } else {
            format!("{found}, expected {}", words.join(", "))
        });
    }
    match decision.kind {
        DecisionKind::Answer => {
            let checked = checker.check(item, Edit::Answer, &decision.body.to_string());
            check_valid("ground_truth", &checked, "an answer that fits the functions of the request")
        }
        DecisionKind::Edit => check_edited(decision, item, checker),
        DecisionKind::Keep | DecisionKind::Drop | DecisionKind::Relabel => Ok(()),
    }
}

/// Checks that an accepted answer or label is the one that the row shows.
fn check_accepted(decision: &Decision, item: &Item) -> Result<(), String> {
    let own = match &item.accept {
        _ if decision.word != ACCEPT => return Ok(()),
        Some(Accept::Answer(answer)) => answer.clone(),
        Some(Accept::Label(label)) => Value::from(label.as_str()),
        Some(Accept::Keep) | None => return Err("\"decision\": found \"accept\" on a row without an answer that could be accepted, expected another decision".to_owned()),
    };
    if decision.body == own {
        return Ok(());
    }
    let (found, expected) =
        (shortened(&decision.body.to_string(), MAX_SHOWN), shortened(&own.to_string(), MAX_SHOWN));
    Err(format!(
        "\"decision\": found \"accept\" of {found}, expected that of the row, {expected}: write \"answer\" for another one"
    ))
}

/// Checks that the row has the content that the person saw. Only dropping is decided without it.
fn check_was(decision: &Decision, item: &Item) -> Result<(), String> {
    let needs_reading = decision.kind != DecisionKind::Drop;
    match &decision.was {
        Some(was) if item.was.starts_with(&was.to_ascii_lowercase()) => Ok(()),
        Some(was) => Err(format!(
            "\"was\": found {}, expected {}: the row has changed since it was shown",
            json!(short(was)),
            json!(short(&item.was))
        )),
        None if needs_reading => Err(format!(
            "\"was\": found nothing, expected the digest of the content that was read, for \"{}\"",
            decision.word
        )),
        None => Ok(()),
    }
}

/// The start of a digest, enough to recognise it.
fn short(digest: &str) -> &str {
    digest.get(..12).unwrap_or(digest)
}

/// The word for what a decision does, as [`words_of`] lists them.
fn word_of(decision: &Decision) -> &str {
    match decision.kind {
        DecisionKind::Relabel => decision.body.as_str().unwrap_or_default(),
        kind => kind.name(),
    }
}

/// The decisions that can change a row, as files list them: first whether it can be accepted as it is shown.
pub(super) fn listed_words(place: Place, item: &Item) -> Vec<&str> {
    let mut words = words_of(place, item);
    if matches!(item.accept, Some(Accept::Answer(_) | Accept::Label(_))) {
        words.insert(0, ACCEPT);
    }
    words
}

/// The decisions that can change a row, in the words of decision files.
fn words_of(place: Place, item: &Item) -> Vec<&str> {
    let mut words: Vec<&str> = Vec::new();
    if place.kind == Kind::Held {
        let listed = possible_decisions(place.table, &item.reason.code, item.drafted_answer.is_some());
        // What the page does not offer would leave the row held.
        let is_label = |word: &str| item.labels.iter().any(|label| label == word);
        words.extend(listed.iter().copied().filter(|word| match *word {
            ACCEPT => false,
            "relevant" | "irrelevant" => is_label(word),
            "keep" => item.accept.is_some() || item.labels.iter().any(|label| label == "relevant"),
            _ => true,
        }));
    }
    match &item.accept {
        Some(Accept::Keep) => words.push("keep"),
        Some(Accept::Answer(_)) => words.push("answer"),
        Some(Accept::Label(label)) => words.push(label),
        None => {}
    }
    for verdict in &item.possible {
        match verdict {
            Verdict::Drop => words.push("drop"),
            Verdict::Answer => words.push("answer"),
            Verdict::EditDoc if place.table == TableId::DocLists => words.push("edit"),
            Verdict::Relabel => words.extend(item.labels.iter().map(String::as_str)),
            _ => {}
        }
    }
    // The page edits the functions of a list from any of its requests.
    if place.table == TableId::DocLists && place.kind != Kind::Sampled {
        words.push("edit");
    }
    let mut seen = BTreeSet::new();
    words.retain(|word| seen.insert(*word));
    words
}

/// Checks the functions that an edit of a doc list makes.
fn check_edited(decision: &Decision, item: &Item, checker: &RunChecker) -> Result<(), String> {
    let expected = "functions that a run can use";
    let Some(patch) = decision.body.get("patch") else {
        let functions = decision.body["functions"].to_string();
        return check_valid("functions", &checker.check(item, Edit::EditDoc, &functions), expected);
    };
    let ops: Vec<PatchOp> =
        serde_json::from_value(patch.clone()).map_err(|error| format!("\"patch\": {error}"))?;
    let mut functions: Value = item.functions.iter().map(|function| function.doc.clone()).collect();
    apply(&mut functions, &ops).map_err(|misfit| {
        format!("\"patch\": found an operation that does not fit the functions ({misfit}), expected a patch of them")
    })?;
    check_valid("patch", &checker.check(item, Edit::EditDoc, &functions.to_string()), expected)
}

/// Names what is wrong with an edit.
fn check_valid(key: &str, checked: &Checked, expected: &str) -> Result<(), String> {
    if checked.is_valid() {
        return Ok(());
    }
    let errors = checked.notes.iter().filter(|note| note.is_error);
    let found: Vec<String> = errors
        .map(|note| match &note.place {
            Some(place) => format!("{place}: {}", note.text),
            None => note.text.clone(),
        })
        .collect();
    Err(format!("\"{key}\": {}; expected {expected}", found.join("; ")))
}
