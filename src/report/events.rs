//! Every fate and edit of a run by reason, counted as the ledger tells them, with one example each.
//!
//! Events come by stage and in canonical order, so the first of a kind is the earliest row, whatever the order of the
//! files. Texts are quoted in examples only after redaction, and of rows that a public set was found in nothing is
//! quoted but what names the set.

use std::borrow::Cow;
use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::Value;

use super::end_of_merges;
use super::model::{EditReport, Example, FateReport};
use super::quote;
use super::recipe::is_redacted_at;
use crate::engine::corpus::{Corpus, RowId};
use crate::engine::decisions::{DECIDE, NOT_APPLIED_NOTE, Note};
use crate::engine::delta::StageManifest;
use crate::engine::ledger::{EDIT, Event, FORGET};
use crate::engine::vocabulary::{Action, Reason, RowIx, Safety, TableId};
use crate::stages::Registry;

/// Fates and edits by reason.
#[derive(Debug, Default)]
pub(super) struct Events {
    /// Fates, in the order of the ledger.
    pub(super) fates: Vec<FateReport>,
    /// Edits, in the order of the ledger.
    pub(super) edits: Vec<EditReport>,
    /// Redacted places by reason.
    pub(super) redacted: BTreeMap<String, u64>,
}

/// One kind of event, being counted.
#[derive(Debug)]
struct Counted {
    table: TableId,
    stage: usize,
    action: String,
    reason: String,
    /// Empty for a fate.
    safety: String,
    cascaded: bool,
    n: u64,
    example: Example,
}

/// The events of a run, being counted.
pub struct Tally<'s> {
    /// Ids of the stages, and what the ledger calls the forgetting of records after the run.
    ids: Vec<&'s str>,
    /// The table that each redacts.
    redacts: Vec<Option<TableId>>,
    stages: &'s [StageManifest],
    /// Decisions without an effect in the end, though a stage applied them: row and reason.
    without_effect: FxHashSet<(TableId, u128, &'static str)>,
    rows: Vec<Counted>,
}

impl<'s> Tally<'s> {
    /// Nothing yet of a run of these stages.
    pub fn new(stages: &'s [StageManifest], corpus: &Corpus) -> Self {
        let ids = stages.iter().map(|stage| stage.id.as_str()).chain([FORGET]).collect();
        let redacts = stages.iter().map(StageManifest::redacts).chain([None]).collect();
        let noted = stages.last().and_then(|last| last.notes.get(NOT_APPLIED_NOTE));
        let row_of = |note: Note| {
            let (table, row) = note.row?;
            let rows = corpus.table(table);
            let id = ((row as usize) < rows.len()).then(|| rows.row_id(row).0)?;
            Some((table, id, note.decision.reason().code))
        };
        let without_effect = Note::all(noted).into_iter().filter_map(row_of).collect();
        Self { ids, redacts, stages, without_effect, rows: Vec::new() }
    }

    /// Counts some events, that come in the order of the ledger.
    pub fn count(&mut self, events: &[Event<'_>]) {
        for run in events.chunk_by(is_alike) {
            let has_effect = |event: &&Event<'_>| {
                event.action != DECIDE
                    || !self
                        .without_effect
                        .iter()
                        .any(|it| *it == (event.table, event.row_id.0, event.reason))
            };
            let Some(first) = run.iter().find(has_effect) else { continue };
            let n = run.iter().filter(has_effect).count() as u64;
            let at = self.place(first);
            self.rows[at].n += n;
        }
    }

    /// Where events like this one are counted.
    fn place(&mut self, event: &Event<'_>) -> usize {
        let is_it = |row: &Counted| {
            row.table == event.table
                && row.action == event.action
                && row.reason == event.reason
                && row.safety == safety(event)
                && row.cascaded == event.cascaded
                && self.ids[row.stage] == event.stage
        };
        // Those of one stage stand together, the last at the end.
        self.rows.iter().rposition(is_it).unwrap_or_else(|| {
            let stage = self.ids.iter().position(|id| *id == event.stage);
            let stage = stage.expect("an event is of a stage of the run");
            self.rows.push(Counted {
                table: event.table,
                stage,
                action: event.action.to_owned(),
                reason: event.reason.to_owned(),
                safety: safety(event).to_owned(),
                cascaded: event.cascaded,
                n: 0,
                example: self.example(event, stage),
            });
            self.rows.len() - 1
        })
    }

    fn example(&self, event: &Event<'_>, stage: usize) -> Example {
        let json = |text: &str| serde_json::from_str::<Value>(text).ok();
        let quoted = if is_redacted_at(&self.redacts, stage) {
            let of_evidence = || quote::evidence(event.reason, &json(event.evidence?)?);
            let of_patch = || quote::patch(&json(event.edit?.patch)?);
            of_evidence().or_else(of_patch)
        } else {
            None
        };
        Example {
            row_id: event.row_id.to_string(),
            request_id: None,
            merged_into: event.into.map(|into| into.to_string()),
            metric: event.score.map(|(metric, _)| metric.to_owned()),
            score: event.score.map(|(_, score)| score),
            text: quoted,
        }
    }

    /// What was counted.
    pub(super) fn finish(self, corpus: &Corpus, registry: &Registry) -> Events {
        let stages = self.stages;
        let mut events = self.into_events(registry);
        ask_about(&mut events, corpus);
        count_into_left(&mut events.fates, stages, corpus);
        events
    }

    fn into_events(mut self, registry: &Registry) -> Events {
        let reasons: FxHashMap<&str, &'static Reason> =
            registry.reasons().into_iter().map(|(_, reason)| (reason.code, reason)).collect();
        let mut events = Events::default();
        for counted in std::mem::take(&mut self.rows) {
            let known = reasons.get(counted.reason.as_str()).copied();
            let description =
                known.map(|reason| self.sentence(counted.stage, reason, registry)).unwrap_or_default();
            let stage = self.ids[counted.stage].to_owned();
            if counted.action == EDIT {
                if self.redacts[counted.stage].is_some() && counted.safety != Safety::Suggest.name() {
                    *events.redacted.entry(counted.reason.clone()).or_default() += counted.n;
                }
                events.edits.push(EditReport {
                    stage,
                    table: counted.table.name().to_owned(),
                    reason: counted.reason,
                    description,
                    safety: counted.safety,
                    edits: counted.n,
                    example: counted.example,
                });
            } else {
                events.fates.push(FateReport {
                    stage,
                    table: counted.table.name().to_owned(),
                    action: counted.action,
                    kind: known.map(|reason| reason.kind),
                    reason: counted.reason,
                    description,
                    cascaded: counted.cascaded,
                    rows: counted.n,
                    merged_into_not_exported: 0,
                    example: counted.example,
                });
            }
        }
        events
    }

    /// What a reason says of the rows for which a stage named it, by the settings that it ran with.
    fn sentence(&self, stage: usize, reason: &'static Reason, registry: &Registry) -> String {
        let of_stage = self.stages.get(stage);
        let told = of_stage.and_then(|stage| {
            registry.kind(&stage.kind).map(|kind| (kind.sentence)(&stage.settings, reason))
        });
        told.map_or_else(|| reason.sentence.to_owned(), Cow::into_owned)
    }
}

/// Empty for a fate.
fn safety<'e>(event: &Event<'e>) -> &'e str {
    event.edit.map_or("", |edit| edit.safety)
}

/// Whether two events are of one kind.
fn is_alike(one: &Event<'_>, other: &Event<'_>) -> bool {
    (one.table, one.stage, one.action, one.reason) == (other.table, other.stage, other.action, other.reason)
        && (one.cascaded, safety(one)) == (other.cascaded, safety(other))
}

/// Names for each example the request to ask `why` about.
fn ask_about(events: &mut Events, corpus: &Corpus) {
    let is_of_lists = |table: &str| table == TableId::DocLists.name();
    let of_lists = |events: &Events| -> FxHashSet<String> {
        let fates = events.fates.iter().map(|fate| (&fate.table, &fate.example));
        let edits = events.edits.iter().map(|edit| (&edit.table, &edit.example));
        fates
            .chain(edits)
            .filter(|(table, _)| is_of_lists(table))
            .map(|(_, example)| example.row_id.clone())
            .collect()
    };
    let asked: FxHashSet<u128> = of_lists(events).iter().filter_map(|id| RowId::number(id)).collect();
    let mut sent_with: FxHashMap<u128, String> = FxHashMap::default();
    for &request in corpus.requests.in_order() {
        let list = corpus.lists.row_id(corpus.origin[request as usize]).0;
        if asked.contains(&list) && !sent_with.contains_key(&list) {
            sent_with.insert(list, corpus.requests.row_id(request).to_string());
        }
    }
    let request_of = |table: &str, id: &str| {
        if is_of_lists(table) { sent_with.get(&RowId::number(id)?).cloned() } else { Some(id.to_owned()) }
    };
    for fate in &mut events.fates {
        fate.example.request_id = request_of(&fate.table, &fate.example.row_id);
    }
    for edit in &mut events.edits {
        edit.example.request_id = request_of(&edit.table, &edit.example.row_id);
    }
}

/// Counts for each merge the rows that end in one which is not kept itself.
fn count_into_left(fates: &mut [FateReport], stages: &[StageManifest], corpus: &Corpus) {
    let mut counts: FxHashMap<(&str, &str, &str), u64> = FxHashMap::default();
    for table in [&corpus.requests, &corpus.lists] {
        for row in (0..).take(table.len()).map(|row: RowIx| row) {
            let merge = table.fate(row).filter(|fate| fate.action == Action::Merge);
            if let Some(fate) = merge.filter(|_| !table.is_kept(end_of_merges(table, row)))
                && let Some(stage) = stages.get(usize::from(fate.stage))
            {
                *counts.entry((table.id().name(), stage.id.as_str(), fate.reason.code)).or_default() += 1;
            }
        }
    }
    for fate in fates.iter_mut().filter(|fate| fate.action == Action::Merge.name()) {
        let key = (fate.table.as_str(), fate.stage.as_str(), fate.reason.as_str());
        fate.merged_into_not_exported = counts.get(&key).copied().unwrap_or_default();
    }
}
