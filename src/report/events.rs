//! Counts the fates and edits of a run by reason, as they are in the ledger, with one example each for all writers, and more of
//! them, drawn by the seed, for the page.
//!
//! Events come by stage and in canonical order, so the example of a reason is its earliest row, whatever the order of the
//! files. Examples quote texts only after redaction. Of rows that repeat a public set they quote only the name of the set.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::Value;

use super::end_of_merges;
use super::examples::{self, Draws, Texts};
use super::model::{EditReport, Example, FateReport};
use super::quote;
use super::recipe::{PublicSet, is_redacted, is_redacted_at};
use crate::engine::corpus::{Corpus, RowId};
use crate::engine::decisions::{DECIDE, NOT_APPLIED_NOTE, Note};
use crate::engine::delta::StageManifest;
use crate::engine::error::Result;
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
    draws: Draws,
}

/// Counts of the events of a run.
pub struct Tally<'s> {
    /// Ids of the stages, and the ledger's name for records forgotten after the run.
    ids: Vec<&'s str>,
    /// The table that each stage redacts.
    redacts: Vec<Option<TableId>>,
    stages: &'s [StageManifest],
    /// The seed of the run.
    seed: u64,
    /// Decisions that a stage applied but that did not change the dataset: row and reason.
    without_effect: FxHashSet<(TableId, u128, &'static str)>,
    rows: Vec<Counted>,
}

impl<'s> Tally<'s> {
    /// Counts nothing yet.
    pub fn new(stages: &'s [StageManifest], corpus: &Corpus, seed: u64) -> Self {
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
        Self { ids, redacts, stages, seed, without_effect, rows: Vec::new() }
    }

    /// Counts some events, which come in the order of the ledger.
    pub fn count(&mut self, events: &[Event<'_>]) {
        for run in events.chunk_by(is_alike) {
            // The set of `'static` codes, so that a code of the event can be looked up in it.
            let without_effect: &FxHashSet<(TableId, u128, &str)> = &self.without_effect;
            let has_effect = |event: &&Event<'_>| {
                event.action != DECIDE
                    || !without_effect.contains(&(event.table, event.row_id.0, event.reason))
            };
            let counted: Vec<&Event<'_>> = run.iter().filter(has_effect).collect();
            let (Some(first), n) = (counted.first(), counted.len() as u64) else { continue };
            let at = self.place(first);
            self.rows[at].n += n;
            // Rows that followed from others need no example, and texts are quoted only after redaction.
            if !first.cascaded && is_redacted_at(&self.redacts, self.rows[at].stage) {
                let seed = self.seed;
                for event in counted {
                    self.rows[at].draws.add(seed, event);
                }
            }
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
        // Events of one stage come together, so the search starts at the end.
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
                draws: Draws::default(),
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

    /// Returns the counts, with their reasons explained.
    ///
    /// # Errors
    /// The texts of the examples cannot be read.
    pub(super) fn finish(
        self,
        folder: &Path,
        corpus: &Corpus,
        sets: &[PublicSet],
        registry: &Registry,
    ) -> Result<Events> {
        let stages = self.stages;
        let is_redacted = is_redacted(&self.redacts);
        let drawn = self.rows.iter().flat_map(|row| row.draws.rows().map(|id| (row.table, id)));
        let wanted: FxHashSet<(TableId, u128)> = drawn.filter(|_| is_redacted).collect();
        let texts = Texts::read(folder, corpus, sets, (stages, registry), &wanted)?;
        let mut events = self.into_events(registry, &texts);
        let of_fates = events.fates.iter_mut().map(|fate| &mut fate.examples);
        examples::bounded(of_fates.chain(events.edits.iter_mut().map(|edit| &mut edit.examples)));
        add_requests(&mut events, corpus);
        count_merged_into_not_exported(&mut events.fates, stages, corpus);
        Ok(events)
    }

    fn into_events(mut self, registry: &Registry, texts: &Texts) -> Events {
        let reasons: FxHashMap<&str, &'static Reason> =
            registry.reasons().into_iter().map(|(_, reason)| (reason.code, reason)).collect();
        let mut events = Events::default();
        for counted in std::mem::take(&mut self.rows) {
            let known = reasons.get(counted.reason.as_str()).copied();
            let description =
                known.map(|reason| self.sentence(counted.stage, reason, registry)).unwrap_or_default();
            let stage = self.ids[counted.stage].to_owned();
            let examples = counted.draws.shown(counted.table, &counted.action, &counted.reason, texts);
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
                    examples,
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
                    examples,
                });
            }
        }
        events
    }

    /// The sentence of a reason, under the settings that its stage ran with.
    fn sentence(&self, stage: usize, reason: &'static Reason, registry: &Registry) -> String {
        let of_stage = self.stages.get(stage);
        let sentence = of_stage.and_then(|stage| {
            registry.kind(&stage.kind).map(|kind| (kind.sentence)(&stage.settings, reason))
        });
        sentence.map_or_else(|| reason.sentence.to_owned(), Cow::into_owned)
    }
}

/// Empty for a fate.
fn safety<'e>(event: &Event<'e>) -> &'e str {
    event.edit.map_or("", |edit| edit.safety)
}

/// Whether two events are counted together.
fn is_alike(one: &Event<'_>, other: &Event<'_>) -> bool {
    (one.table, one.stage, one.action, one.reason) == (other.table, other.stage, other.action, other.reason)
        && (one.cascaded, safety(one)) == (other.cascaded, safety(other))
}

/// Names for each example the request that `why` takes.
fn add_requests(events: &mut Events, corpus: &Corpus) {
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
    let wanted: FxHashSet<u128> = of_lists(events).iter().filter_map(|id| RowId::number(id)).collect();
    let mut sent_with: FxHashMap<u128, String> = FxHashMap::default();
    for &request in corpus.requests.in_order() {
        let list = corpus.lists.row_id(corpus.origin[request as usize]).0;
        if wanted.contains(&list) && !sent_with.contains_key(&list) {
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

/// Counts for each merge the rows whose last representative is not kept.
fn count_merged_into_not_exported(fates: &mut [FateReport], stages: &[StageManifest], corpus: &Corpus) {
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
