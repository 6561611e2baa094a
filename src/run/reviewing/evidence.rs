//! What the run noted about the rows to review, read once: evidence of fates, merged rows, held requests of doc lists.

use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Map, Value, json};

use super::Place;
use crate::bfcl::category::Category;
use crate::bfcl::ids::Numbers;
use crate::columns::RESPONSE;
use crate::conversation::Message;
use crate::engine::ledger::{Event, for_every_event};
use crate::engine::vocabulary::{Action, RowIx, TableId};
use crate::report::end_of_merges;
use crate::run::review::{Noted, Selection, UNVERIFIED};
use crate::run::{Error, OpenRun};
use callsieve_review::item::CategoryCount;

/// What the run noted about the rows to review.
pub(super) struct Evidence {
    pub(super) noted: Noted,
    /// What stages noted about the fates of the rows.
    by_row: FxHashMap<(TableId, u128), Value>,
    /// How many requests were merged into each request.
    merged: FxHashMap<RowIx, u64>,
    /// The requests into which one with a call was merged.
    with_called_copy: FxHashSet<RowIx>,
    /// The held requests of each doc list to review: how many, and the first ones.
    waiting: FxHashMap<RowIx, (u64, Vec<RowIx>)>,
}

/// Most queries of a doc list that are shown.
const MOST_QUERIES: usize = 3;

impl Evidence {
    pub(super) fn read(run: &OpenRun, places: &[Place]) -> Result<Self, Error> {
        let wanted: FxHashSet<(TableId, u128)> = places
            .iter()
            .map(|place| (place.table, run.corpus.table(place.table).row_id(place.row).0))
            .collect();
        let mut by_row = FxHashMap::default();
        for_every_event(&run.folder, &run.stages, &run.corpus, |events| {
            let fates = [Action::Drop, Action::Merge, Action::Hold].map(Action::name);
            for event in events.iter().filter(|event| fates.contains(&event.action)) {
                let key = (event.table, event.row_id.0);
                if wanted.contains(&key) {
                    by_row.insert(key, evidence_of(event));
                }
            }
            Ok(())
        })?;
        let requests = &run.corpus.requests;
        let mut merged: FxHashMap<RowIx, u64> = FxHashMap::default();
        for row in (0..).take(requests.len()) {
            let end = end_of_merges(requests, row);
            *merged.entry(end).or_default() += u64::from(end != row);
        }
        let with_called_copy = with_called_copy(run, &merged)?;
        let lists: FxHashSet<RowIx> =
            places.iter().filter(|place| place.table == TableId::DocLists).map(|place| place.row).collect();
        let mut waiting: FxHashMap<RowIx, (u64, Vec<RowIx>)> = FxHashMap::default();
        for &row in requests.in_order() {
            let list = run.corpus.list[row as usize];
            let is_held = requests.fate(row).is_some_and(|fate| fate.action == Action::Hold);
            if is_held && lists.contains(&list) {
                let (n, first) = waiting.entry(list).or_default();
                *n += 1;
                if first.len() < MOST_QUERIES {
                    first.push(row);
                }
            }
        }
        Ok(Self { noted: run.noted(Selection::Held)?, by_row, merged, with_called_copy, waiting })
    }

    /// Returns what a stage noted about the fate of a row; null if it noted nothing.
    pub(super) fn of_row(&self, table: TableId, id: u128) -> Value {
        self.by_row.get(&(table, id)).cloned().unwrap_or_default()
    }

    /// Returns how many more rows a decision on a row releases.
    pub(super) fn releases(&self, place: Place) -> u64 {
        match place.table {
            TableId::Requests => self.merged.get(&place.row).copied().unwrap_or_default(),
            TableId::DocLists => self.waiting(place.row).0,
        }
    }

    /// Returns whether a request that was merged into this one has an answer, as far as its form shows.
    pub(super) fn has_called_copy(&self, place: Place) -> bool {
        place.table == TableId::Requests && self.with_called_copy.contains(&place.row)
    }

    /// Returns how many held requests wait for a doc list, and the first ones.
    pub(super) fn waiting(&self, list: RowIx) -> (u64, &[RowIx]) {
        self.waiting.get(&list).map_or((0, &[]), |(n, first)| (*n, first.as_slice()))
    }

    /// Returns how many scored entries each category has. Each wants as many as the largest one has.
    pub(super) fn categories(&self) -> Vec<CategoryCount> {
        let category_of = |id: &str| {
            let of = |category: &Category| Numbers::of(&format!("live_{}", category.name()), id).is_some();
            Category::ALL.into_iter().find(of)
        };
        let mut counts: FxHashMap<&'static str, u64> = FxHashMap::default();
        for (_, id) in self.noted.entries.values().filter(|(set, _)| set != UNVERIFIED) {
            if let Some(category) = category_of(id) {
                *counts.entry(category.name()).or_default() += 1;
            }
        }
        let wants = counts.values().copied().max().unwrap_or_default();
        let count = |category: Category| {
            let has = counts.get(category.name()).copied().unwrap_or_default();
            CategoryCount { name: category.name().to_owned(), has, wants }
        };
        Category::ALL.into_iter().map(count).collect()
    }
}

/// The held requests into which one with a call was merged.
fn with_called_copy(run: &OpenRun, merged: &FxHashMap<RowIx, u64>) -> Result<FxHashSet<RowIx>, Error> {
    let requests = &run.corpus.requests;
    let is_held = |row: RowIx| requests.fate(row).is_some_and(|fate| fate.action == Action::Hold);
    let end_of = |row: RowIx| end_of_merges(requests, row);
    let is_copy =
        |&row: &RowIx| end_of(row) != row && merged.contains_key(&end_of(row)) && is_held(end_of(row));
    let copies: Vec<RowIx> = (0..).take(requests.len()).filter(is_copy).collect();
    let mut found = FxHashSet::default();
    OpenRun::each(requests, &copies, &[RESPONSE], |nth, cells, at| {
        let response = cells.text(RESPONSE, at).and_then(|text| serde_json::from_str::<Message>(text).ok());
        // Models write calls as a text, too.
        let is_called = |it: &Message| !it.calls.is_empty() || it.content.trim_start().starts_with('[');
        if response.as_ref().is_some_and(is_called) {
            found.insert(end_of(copies[nth]));
        }
    })?;
    Ok(found)
}

/// The evidence of a fate as one object, without the features of the model, by which no person decides.
fn evidence_of(event: &Event<'_>) -> Value {
    let noted = event.evidence.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    let mut evidence = match noted {
        Value::Object(object) => object,
        Value::Null => Map::new(),
        other => Map::from_iter([("found".to_owned(), other)]),
    };
    evidence.shift_remove("features");
    if let Some((metric, score)) = event.score {
        evidence.insert(metric.to_owned(), json!(score));
    }
    if let Some(into) = event.into {
        evidence.insert("merged_into".to_owned(), json!(into.to_string()));
    }
    if evidence.is_empty() { Value::Null } else { Value::Object(evidence) }
}
