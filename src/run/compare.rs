//! What differs between two finished runs.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use super::error::refuse;
use super::outcome::shown;
use super::{Error, OpenRun, ReviewOptions, open};
use crate::engine::vocabulary::TableId;
use crate::jobs::{Job as _, collect, dataset, job_of};
use crate::report::compare::{Comparison, SideBySide};
use crate::report::finished::{Fates, Finished};
use crate::report::html::side_by_side;
use crate::stages::Registry;

/// Two finished runs and what differs between them.
#[derive(Debug)]
#[non_exhaustive]
pub struct Compared {
    /// The first run.
    pub before: Finished,
    /// The second run.
    pub after: Finished,
    /// What differs.
    pub comparison: Comparison,
}

/// Compares two finished runs: settings, inputs, figures, rows, entries. Up to `max_ids` ids are kept of each kind of
/// difference. Nothing is judged again and no lock is taken.
///
/// # Errors
/// One of them is no finished run, or a file of it is damaged or of another version.
pub fn compare(before: &Path, after: &Path, max_ids: usize) -> Result<Compared, Error> {
    let mut fates = Fates::default();
    let before = Finished::open(before, &mut fates)?;
    let after = Finished::open(after, &mut fates)?;
    let comparison = Comparison::new(&before, &after, &mut fates, max_ids);
    Ok(Compared { before, after, comparison })
}

/// Two finished runs of one job, and what differs between them.
#[derive(Debug)]
pub struct ComparedReports {
    job: &'static str,
    names: [String; 2],
    held: [BTreeMap<String, u64>; 2],
    compared: Compared,
}

impl ComparedReports {
    /// All figures: what `callsieve report --compare --json` prints.
    pub fn figures(&self) -> SideBySide<'_> {
        let Compared { before, after, comparison } = &self.compared;
        let names = self.names.each_ref().map(String::as_str);
        SideBySide::new(self.job, names, [before, after], self.held.each_ref(), comparison)
    }

    /// The figures as JSON; of absolute paths in settings and of inputs only the last part.
    ///
    /// # Errors
    /// The figures are no JSON, which does not happen.
    pub fn figures_json(&self) -> serde_json::Result<Value> {
        let mut figures = serde_json::to_value(self.figures())?;
        for key in ["settings", "inputs"] {
            if let Some(value) = figures.get_mut(key) {
                *value = side_by_side::without_paths(value);
            }
        }
        Ok(figures)
    }

    /// The two runs and what differs between them.
    pub fn compared(&self) -> &Compared {
        &self.compared
    }

    /// The page with both runs side by side.
    pub fn page(&self) -> String {
        side_by_side::page(&self.figures(), self.job == dataset::Dataset.name())
    }
}

/// Reads the reports of two finished runs, as [`compare`] does.
///
/// # Errors
/// As [`compare`]; or the runs are of different jobs, or of one that has no requests.
pub fn compare_reports(
    before: &Path,
    after: &Path,
    max_ids: usize,
    registry: &Registry,
) -> Result<ComparedReports, Error> {
    let compared = compare(before, after, max_ids)?;
    let [of_before, of_after] =
        [&compared.before, &compared.after].map(|run| job_of(&run.file.pipeline).name());
    if of_before != of_after {
        return refuse(format!(
            "{} is a run of the job {of_before}, {} of the job {of_after}: expected two runs of one job\nhint: \
             `callsieve report RUN --html` draws one of them",
            before.display(),
            after.display()
        ));
    }
    if of_before == collect::Collect.name() {
        return refuse(format!(
            "{} and {} are collections: expected runs with requests\nhint: `callsieve compare` lists the settings and \
             counts that differ",
            before.display(),
            after.display()
        ));
    }
    let mut held = [BTreeMap::new(), BTreeMap::new()];
    if of_before == dataset::Dataset.name() {
        for ((path, run), held) in
            [(before, &compared.before), (after, &compared.after)].into_iter().zip(&mut held)
        {
            *held = held_by_category(&open(path, registry)?, run.figures.requests.held)?;
        }
    }
    Ok(ComparedReports { job: of_before, names: [shown(before), shown(after)], held, compared })
}

/// Counts the held requests of a run by category; those that only wait for their doc list are `unknown`.
fn held_by_category(run: &OpenRun, n_held: u64) -> Result<BTreeMap<String, u64>, Error> {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    let rows = run.review(&ReviewOptions::default())?.rows;
    let requests = rows.into_iter().filter(|row| row.table == TableId::Requests.name());
    for category in requests.filter_map(|row| row.category) {
        *counts.entry(category).or_default() += 1;
    }
    let n_known: u64 = counts.values().sum();
    if n_held > n_known {
        counts.insert("unknown".to_owned(), n_held - n_known);
    }
    Ok(counts)
}
