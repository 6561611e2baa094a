//! Counts that differ: the funnel by step, reasons by stage, entries by category.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::report::finished::Finished;

/// One step of the funnel; `None` if a run has no such step.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Step {
    /// The step.
    pub step: String,
    /// Kept doc lists and requests in the first run.
    pub before: Option<Counts>,
    /// The same in the second run.
    pub after: Option<Counts>,
}

/// Kept rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Doc lists.
    pub doc_lists: u64,
    /// Requests.
    pub requests: u64,
}

/// Rows and edits of a stage with a reason.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct ReasonCount {
    /// The stage's id.
    pub stage: String,
    /// `requests`, `doc_lists`, or empty for an edit.
    pub table: &'static str,
    /// `drop`, `merge`, `hold`, `edit` or `suggest`.
    pub action: &'static str,
    /// The reason's code.
    pub reason: String,
    /// Rows in the first run, including those that followed from others.
    pub before: u64,
    /// The same in the second run.
    pub after: u64,
}

/// Entries of one set and category.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct CategoryCount {
    /// `scored` or `unverified`.
    pub set: String,
    /// The category.
    pub category: String,
    /// Entries in the first dataset.
    pub before: u64,
    /// The same in the second run.
    pub after: u64,
}

/// Lists the steps of both runs in order. A step that only the first run has comes after the step it followed there.
pub(super) fn funnel(before: &Finished, after: &Finished) -> Vec<Step> {
    let counts = |run: &Finished, step: &str| {
        let row = run.funnel.iter().find(|row| row.step == step)?;
        Some(Counts { doc_lists: row.doc_lists, requests: row.requests })
    };
    let mut steps: Vec<&str> = after.funnel.iter().map(|row| row.step.as_str()).collect();
    let mut place = 0;
    for row in &before.funnel {
        if let Some(at) = steps.iter().position(|step| *step == row.step) {
            place = at + 1;
        } else {
            steps.insert(place, &row.step);
            place += 1;
        }
    }
    steps
        .into_iter()
        .map(|step| Step { step: step.to_owned(), before: counts(before, step), after: counts(after, step) })
        .collect()
}

pub(super) fn reasons(before: &Finished, after: &Finished) -> Vec<ReasonCount> {
    type Key = (usize, String, &'static str, &'static str, String);
    let mut order: Vec<&str> = after.stages.iter().map(|stage| stage.id.as_str()).collect();
    let only_before = before.stages.iter().map(|stage| stage.id.as_str());
    let only_before: Vec<&str> = only_before.filter(|id| !order.contains(id)).collect();
    order.extend(only_before);
    let mut counts: BTreeMap<Key, [u64; 2]> = BTreeMap::new();
    for (side, run) in [before, after].into_iter().enumerate() {
        for stage in &run.stages {
            let place = order.iter().position(|id| *id == stage.id).unwrap_or(order.len());
            let mut add = |table, action, reason: &str, rows: u64| {
                let key = (place, stage.id.clone(), table, action, reason.to_owned());
                counts.entry(key).or_default()[side] += rows;
            };
            for fate in &stage.fates {
                add(fate.table.name(), fate.action.name(), &fate.reason, fate.rows);
            }
            stage.edits.iter().for_each(|(reason, edits)| add("", "edit", reason, *edits));
            stage.suggestions.iter().for_each(|(reason, shown)| add("", "suggest", reason, *shown));
        }
    }
    let differing = counts.into_iter().filter(|(_, [before, after])| before != after);
    differing
        .map(|((_, stage, table, action, reason), [before, after])| ReasonCount {
            stage,
            table,
            action,
            reason,
            before,
            after,
        })
        .collect()
}

pub(super) fn categories(before: &Finished, after: &Finished) -> Vec<CategoryCount> {
    let mut counts: BTreeMap<(&str, &str), [u64; 2]> = BTreeMap::new();
    for (side, run) in [before, after].into_iter().enumerate() {
        // Sums in a sorted map do not depend on the order of reading.
        #[allow(clippy::iter_over_hash_type)]
        for entry in run.entries.values() {
            counts.entry((entry.set, &entry.category)).or_default()[side] += 1;
        }
    }
    let count = |((set, category), [before, after]): ((&str, &str), [u64; 2])| CategoryCount {
        set: set.to_owned(),
        category: category.to_owned(),
        before,
        after,
    };
    counts.into_iter().map(count).collect()
}
