//! Every fate and edit of a run by reason, counted from the ledger, with one example each.
//!
//! The ledger is read group by group: the few columns that counting needs, and the rest only of groups in which a
//! reason turns up first. Events stand there by stage and in canonical order, so the first of a kind is the earliest
//! row, whatever the order of the files. Texts are quoted in examples only after redaction, and of rows that a public
//! set was found in nothing is quoted but what names the set.

use std::collections::BTreeMap;
use std::path::Path;

use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::Value;

use super::model::{EditReport, Example, FateReport};
use super::quote;
use super::recipe::{is_redacted_at, is_redaction};
use crate::engine::corpus::{Corpus, RowId};
use crate::engine::delta::StageManifest;
use crate::engine::error::{Result, damaged};
use crate::engine::frame::{Frame, FrameFile};
use crate::engine::ledger::FORGET;
use crate::engine::stage::{Reason, TableId};
use crate::stages;

/// Rows of the ledger that are read at a time.
const GROUP_ROWS: usize = 1 << 14;
/// What is counted by.
const KEY_COLUMNS: [&str; 6] = ["table", "stage", "action", "reason", "safety", "cascaded"];
/// What examples are made of.
const EXAMPLE_COLUMNS: [&str; 6] = ["row_id", "into", "score", "metric", "patch", "evidence"];

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

/// What events are alike by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Key<'f> {
    table: &'f str,
    stage: &'f str,
    action: &'f str,
    reason: &'f str,
    safety: &'f str,
    cascaded: bool,
}

/// Counts the ledger of a finished run.
///
/// # Errors
/// The ledger cannot be read or is not one.
pub(super) fn events(run: &Path, stages: &[StageManifest], corpus: &Corpus) -> Result<Events> {
    let path = run.join("ledger.parquet");
    let file = FrameFile::open(&path)?;
    let mut tally = Tally::new(stages);
    for start in (0..file.height()).step_by(GROUP_ROWS) {
        let length = GROUP_ROWS.min(file.height() - start);
        let keys = file.read(start, length, Some(&KEY_COLUMNS))?;
        let new = tally.count(&keys).ok_or_else(|| damaged(&path, "a column of events is missing"))?;
        if !new.is_empty() {
            let cells = file.read(start, length, Some(&EXAMPLE_COLUMNS))?;
            for (row, at) in new {
                tally.rows[at].example = tally.example(&cells, row, at);
            }
        }
    }
    let mut events = tally.into_events();
    ask_about(&mut events, corpus);
    Ok(events)
}

/// One kind of event, being counted.
#[derive(Debug)]
struct Counted {
    table: String,
    stage: usize,
    action: String,
    reason: String,
    safety: String,
    cascaded: bool,
    n: u64,
    example: Example,
}

struct Tally<'s> {
    /// Ids of the stages, and what the ledger calls the forgetting of records after the run.
    ids: Vec<&'s str>,
    kinds: Vec<&'s str>,
    rows: Vec<Counted>,
}

impl<'s> Tally<'s> {
    fn new(stages: &'s [StageManifest]) -> Self {
        let ids = stages.iter().map(|stage| stage.id.as_str()).chain([FORGET]).collect();
        let kinds = stages.iter().map(|stage| stage.kind.as_str()).chain([FORGET]).collect();
        Self { ids, kinds, rows: Vec::new() }
    }

    /// Counts a group of events; gives the rows that are the first of their kind, with their place in `rows`.
    fn count(&mut self, keys: &Frame) -> Option<Vec<(usize, usize)>> {
        let [table, stage, action, reason, safety] =
            ["table", "stage", "action", "reason", "safety"].map(|name| keys.texts(name));
        let (table, stage, action, reason, safety) = (table?, stage?, action?, reason?, safety?);
        let cascaded = keys.ints("cascaded")?;
        // In the order of first occurrence: a map alone would give them in the order of their hashes.
        let mut found: Vec<(Key<'_>, usize, u64)> = Vec::new();
        let mut places: FxHashMap<Key<'_>, usize> = FxHashMap::default();
        for row in 0..keys.height() {
            let key = Key {
                table: table.get(row)?,
                stage: stage.get(row)?,
                action: action.get(row)?,
                reason: reason.get(row)?,
                safety: safety.get(row).unwrap_or_default(),
                cascaded: cascaded.get(row) == Some(1),
            };
            let place = *places.entry(key).or_insert_with(|| {
                found.push((key, row, 0));
                found.len() - 1
            });
            found[place].2 += 1;
        }
        let mut new = Vec::new();
        for (key, row, n) in found {
            let at = self.place(key)?;
            if self.rows[at].n == 0 {
                new.push((row, at));
            }
            self.rows[at].n += n;
        }
        Some(new)
    }

    fn place(&mut self, key: Key<'_>) -> Option<usize> {
        let stage = self.ids.iter().position(|id| *id == key.stage)?;
        let is_it = |row: &Counted| {
            row.stage == stage
                && row.table == key.table
                && row.action == key.action
                && row.reason == key.reason
                && row.safety == key.safety
                && row.cascaded == key.cascaded
        };
        if let Some(at) = self.rows.iter().position(is_it) {
            return Some(at);
        }
        self.rows.push(Counted {
            table: key.table.to_owned(),
            stage,
            action: key.action.to_owned(),
            reason: key.reason.to_owned(),
            safety: key.safety.to_owned(),
            cascaded: key.cascaded,
            n: 0,
            example: Example::default(),
        });
        Some(self.rows.len() - 1)
    }

    fn example(&self, cells: &Frame, row: usize, at: usize) -> Example {
        let text = |name: &str| cells.texts(name)?.get(row).map(str::to_owned);
        let json = |name: &str| serde_json::from_str::<Value>(&text(name)?).ok();
        let counted = &self.rows[at];
        let quoted = if is_redacted_at(&self.kinds, counted.stage) {
            let of_evidence = || quote::evidence(&counted.reason, &json("evidence")?);
            let of_patch = || quote::patch(&json("patch")?);
            of_evidence().or_else(of_patch)
        } else {
            None
        };
        Example {
            row_id: text("row_id").unwrap_or_default(),
            request_id: None,
            into: text("into"),
            metric: text("metric"),
            score: cells.float("score", row),
            text: quoted,
        }
    }

    fn into_events(self) -> Events {
        let reasons: FxHashMap<&str, &'static Reason> =
            stages::reasons().into_iter().map(|(_, reason)| (reason.code, reason)).collect();
        let mut events = Events::default();
        for counted in self.rows {
            let known = reasons.get(counted.reason.as_str());
            let sentence = known.map_or("", |reason| reason.sentence).to_owned();
            let stage = self.ids[counted.stage].to_owned();
            if counted.action == "edit" {
                if is_redaction(self.kinds[counted.stage]) && counted.safety != "suggest" {
                    *events.redacted.entry(counted.reason.clone()).or_default() += counted.n;
                }
                events.edits.push(EditReport {
                    stage,
                    table: counted.table,
                    reason: counted.reason,
                    sentence,
                    safety: counted.safety,
                    edits: counted.n,
                    example: counted.example,
                });
            } else {
                events.fates.push(FateReport {
                    stage,
                    table: counted.table,
                    action: counted.action,
                    kind: known.map(|reason| reason.kind),
                    reason: counted.reason,
                    sentence,
                    cascaded: counted.cascaded,
                    rows: counted.n,
                    example: counted.example,
                });
            }
        }
        events
    }
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
