//! What the run noted about the rows to review, read once: evidence of fates, merged rows, held requests of doc lists.

use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Map, Value, json};

use super::Place;
use super::item::DECIDED;
use crate::bfcl::category::Category;
use crate::bfcl::ids::Numbers;
use crate::engine::corpus::RowId;
use crate::engine::layout::DECISIONS;
use crate::engine::ledger::{Event, for_every_event};
use crate::engine::vocabulary::{Action, RowIx, TableId};
use crate::report::end_of_merges;
use crate::run::error::refuse;
use crate::run::review::{Noted, Selection, UNVERIFIED};
use crate::run::{Error, OpenRun};
use callsieve_review::item::{CategoryCount, Table as ItemTable};
use callsieve_review::store::{History, Reviews, Verdict};

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
    /// What the rows were on the page for when reviewers decided on them.
    decided: FxHashMap<(TableId, u128), Earlier>,
}

/// Why a row was on the page when a reviewer decided on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Earlier {
    /// The reason code that the row had.
    pub(super) reason: String,
    /// The decision was to keep it.
    pub(super) is_keep: bool,
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
        let with_called_copy = run.with_called_copy()?;
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
        let decided = earlier_reasons(run)?;
        Ok(Self { noted: run.noted(Selection::Held)?, by_row, merged, with_called_copy, waiting, decided })
    }

    /// Returns what a stage noted about the fate of a row; null if it noted nothing.
    pub(super) fn of_row(&self, table: TableId, id: u128) -> Value {
        self.by_row.get(&(table, id)).cloned().unwrap_or_default()
    }

    /// Returns why a row was on the page when a reviewer decided on it last.
    pub(super) fn earlier(&self, table: TableId, id: u128) -> Option<&Earlier> {
        self.decided.get(&(table, id))
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

/// Returns why rows were on the page when reviewers decided on them last. After a run has applied the decision, they have other reasons.
fn earlier_reasons(run: &OpenRun) -> Result<FxHashMap<(TableId, u128), Earlier>, Error> {
    let reviews = Reviews::read(&run.folder.join(DECISIONS)).or_else(|error| refuse(error.to_string()))?;
    let mut earlier = FxHashMap::default();
    for line in reviews.reviewers().filter_map(|name| reviews.of(name)).flat_map(History::lines) {
        let is_own = |reason: &&String| *reason != DECIDED.0 && !reason.starts_with("decision/");
        let (Some(reason), Some(id)) = (line.reason.as_ref().filter(is_own), RowId::number(&line.id)) else {
            continue;
        };
        let table = if line.table == ItemTable::Requests { TableId::Requests } else { TableId::DocLists };
        let is_keep = line.decision == Verdict::Accept && line.value.is_null();
        earlier.insert((table, id), Earlier { reason: reason.clone(), is_keep });
    }
    Ok(earlier)
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
