//! The facts by which two finished runs are compared, read from a run folder.
//!
//! Requests and entries are held as numbers and hashes, some tens of bytes each, and the
//! Parquet files are read group by group, so that large runs can be compared on a small
//! machine. Nothing is judged again and no lock is taken.

use std::collections::BTreeMap;
use std::path::Path;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::composition;
use super::distributions::Distributions;
use super::funnel::FunnelRow;
use super::model::{Merges, StageReport, Sum, has_dataset};
use crate::content_hash::content_hash;
use crate::engine::corpus::RowId;
use crate::engine::disk::{check_access, read_json};
use crate::engine::entries;
use crate::engine::error::{Error, Result};
use crate::engine::frame::{Frame, FrameFile};
use crate::engine::manifest::{RunFile, read_run_file};
use crate::engine::verify::check_outcome;
use crate::export::set::Set;

/// Rows of a Parquet file that are looked at together.
const GROUP_ROWS: usize = 4096;

/// A finished run.
#[derive(Debug)]
pub struct Finished {
    /// How it was started.
    pub file: RunFile,
    /// The counts after each step.
    pub funnel: Vec<FunnelRow>,
    /// What each stage did.
    pub stages: Vec<StageReport>,
    /// How many requests were merged, and where they ended.
    pub merges: Merges,
    /// The other figures of its report.
    pub figures: Figures,
    /// The state of each request at the end, by id.
    pub requests: Vec<(u128, RowFate)>,
    /// The entries of its dataset, by the request each was made of; frozen ones of unknown requests by their id.
    pub entries: FxHashMap<u128, EntryFacts>,
}

/// The state of a request at the end of a run; a fate is a number of [`Fates`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowFate {
    /// Fate, stage and reason.
    pub fate: usize,
    /// For a merged request: the one it went into.
    pub into: Option<u128>,
}

/// A fate with who gave it and why.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
pub struct FateWords {
    /// `exported`, `kept`, `merged`, `held`, `dropped`; `absent` where the run has no such request.
    pub fate: String,
    /// The stage's id.
    pub stage: Option<String>,
    /// The reason's code.
    pub reason: Option<String>,
}

/// The word for a request that a run does not have.
const ABSENT: &str = "absent";

impl FateWords {
    /// Of a request that the run does not have.
    pub fn absent() -> Self {
        Self { fate: ABSENT.to_owned(), stage: None, reason: None }
    }

    /// The run has no such request.
    pub fn is_absent(&self) -> bool {
        self.fate == ABSENT
    }
}

/// The fates that occur, each once.
#[derive(Debug, Default)]
pub struct Fates {
    words: Vec<FateWords>,
    numbers: FxHashMap<FateWords, usize>,
}

impl Fates {
    /// The number of a fate.
    pub fn number(&mut self, words: FateWords) -> usize {
        if let Some(&number) = self.numbers.get(&words) {
            return number;
        }
        let number = self.words.len();
        self.words.push(words.clone());
        self.numbers.insert(words, number);
        number
    }

    /// The fate of that number.
    pub fn words(&self, number: usize) -> &FateWords {
        &self.words[number]
    }
}

/// An entry of a dataset; what is long is held as its hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryFacts {
    /// Its id.
    pub id: String,
    /// `scored` or `unverified`.
    pub set: &'static str,
    /// Its category.
    pub category: String,
    /// Hash of the question.
    pub question: u128,
    /// Hash of the functions.
    pub docs: u128,
    /// Hash of the ground truth.
    pub answer: u128,
}

/// Figures of a report that are drawn for two runs side by side, by their keys in `report.json`.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Figures {
    /// Requests by their last fate.
    pub requests: Rows,
    /// Doc lists by their last fate.
    pub doc_lists: Rows,
    /// Entries of this run, by set and category.
    pub exported: BTreeMap<String, u64>,
    /// Entries of an earlier dataset, by set and category.
    pub frozen: BTreeMap<String, u64>,
    /// The kept requests by tier, language and the like.
    pub entries: composition::Entries,
    /// How large the things of the dataset are.
    pub distributions: Distributions,
}

/// Rows by their last fate.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Rows {
    /// All rows.
    pub rows: u64,
    /// Kept to the end.
    pub kept: u64,
    /// Represented by another.
    pub merged: u64,
    /// Held for review.
    pub held: u64,
    /// Dropped.
    pub dropped: u64,
}

impl Figures {
    /// Entries of a set and category, with frozen ones.
    pub fn entries_of(&self, set: &str, category: &str) -> u64 {
        let name = format!("{set}/{category}");
        [&self.exported, &self.frozen].iter().filter_map(|of| of.get(&name)).sum()
    }

    /// Entries of a set, with frozen ones.
    pub fn entries_in(&self, set: &str) -> u64 {
        let of_set = |(name, _): &(&String, &u64)| name.split_once('/').is_some_and(|(of, _)| of == set);
        self.exported.iter().chain(&self.frozen).filter(of_set).map(|(_, n)| n).sum()
    }
}

#[derive(Deserialize)]
struct ReportFile {
    funnel: Vec<FunnelRow>,
    stages: Vec<StageReport>,
    requests: Merges,
}

impl Finished {
    /// Where its merged requests ended; the parts add up to the whole.
    pub fn merges_sum(&self) -> Sum {
        self.merges.sum(has_dataset(&self.funnel))
    }

    /// Reads a finished run; `fates` is shared by the runs that are compared.
    ///
    /// # Errors
    /// It is no run folder, the run is not finished, or another version wrote what this one cannot read.
    pub fn open(run: &Path, fates: &mut Fates) -> Result<Self> {
        check_is_finished(run)?;
        let file = read_run_file(run)?;
        let is_read =
            |name: &str| ["report.json", "rows.parquet"].contains(&name) || name.starts_with("dataset/data/");
        check_outcome(run, is_read)?;
        let of_another = |error| match error {
            Error::Damaged { path, what } => foreign(&path, &file.version, &what),
            other => other,
        };
        let report: ReportFile = read_json(&run.join("report.json")).map_err(of_another)?;
        // Read by itself: serde reads no numbers as keys of a flattened map.
        let figures: Figures = read_json(&run.join("report.json")).map_err(of_another)?;
        let requests = requests(&run.join("rows.parquet"), &file.version, fates)?;
        let mut entries = FxHashMap::default();
        let origins: FxHashMap<(String, String), u128> = entries::read(run)?
            .into_iter()
            .filter_map(|entry| Some((entry.record()?, entry)))
            .map(|(record, entry)| ((entry.set, entry.id), record))
            .collect();
        for set in Set::ALL {
            let path = set.table(&run.join("dataset"));
            if path.is_file() {
                read_entries(&path, set.name(), &file.version, &origins, &mut entries)?;
            }
        }
        let ReportFile { funnel, stages, requests: merges } = report;
        Ok(Self { file, funnel, stages, merges, figures, requests, entries })
    }
}

fn check_is_finished(run: &Path) -> Result<()> {
    let has = |name: &str| run.join(name).exists();
    let shown = run.display();
    if !run.is_dir() {
        return Err(Error::Setting(format!(
            "{shown}: no such run folder\nhint: `callsieve run --out {shown}` makes one"
        )));
    }
    check_access(&run.join("run.json"))?;
    if !["run.json", ".callsieve"].into_iter().any(has) {
        return Err(Error::Setting(format!(
            "{shown} is not a run folder: there is no run.json\nhint: name the folder that `callsieve run` calls \"run\" at its end"
        )));
    }
    if !["run.json", "report.json", "rows.parquet"].into_iter().all(has) {
        return Err(Error::Setting(format!(
            "the run in {shown} is not finished\nhint: run it again; it continues from there"
        )));
    }
    Ok(())
}

fn foreign(path: &Path, version: &str, what: &str) -> Error {
    Error::Setting(format!(
        "{}: {what}; version {version} of callsieve wrote it, this is {}\nhint: run it again with this version, or compare with that one",
        path.display(),
        env!("CARGO_PKG_VERSION")
    ))
}

/// Visits a Parquet file group by group, after making sure that its columns are there.
fn for_each_group(path: &Path, columns: &[&str], version: &str, mut visit: impl FnMut(&Frame)) -> Result<()> {
    let file = FrameFile::open(path)?;
    for start in (0..file.height()).step_by(GROUP_ROWS) {
        let length = GROUP_ROWS.min(file.height() - start);
        let frame = file.read(start, length, Some(columns)).map_err(|error| match error {
            Error::Table { cause, .. } => foreign(path, version, &cause),
            other => other,
        })?;
        if let Some(column) = columns.iter().find(|column| frame.texts(column).is_none()) {
            return Err(foreign(path, version, &format!("expected a column {column} of text")));
        }
        visit(&frame);
    }
    Ok(())
}

fn requests(path: &Path, version: &str, fates: &mut Fates) -> Result<Vec<(u128, RowFate)>> {
    let mut requests = Vec::new();
    for_each_group(path, &["request_id", "fate", "stage", "reason", "merged_into"], version, |frame| {
        let cell = |name: &str, row| frame.texts(name).and_then(|texts| texts.get(row));
        // Neighbours often share their fate, and most fates come from a few stages.
        let mut last: Option<([Option<&str>; 3], usize)> = None;
        for row in 0..frame.height() {
            let words = ["fate", "stage", "reason"].map(|name| cell(name, row));
            let fate = match last {
                Some((same, number)) if same == words => number,
                _ => {
                    let [fate, stage, reason] = words.map(|word| word.map(str::to_owned));
                    fates.number(FateWords { fate: fate.unwrap_or_default(), stage, reason })
                }
            };
            last = Some((words, fate));
            if let Some(id) = cell("request_id", row).and_then(RowId::number) {
                requests.push((id, RowFate { fate, into: cell("merged_into", row).and_then(RowId::number) }));
            }
        }
    })?;
    requests.sort_unstable_by_key(|&(id, _)| id);
    Ok(requests)
}

fn read_entries(
    path: &Path,
    set: &'static str,
    version: &str,
    origins: &FxHashMap<(String, String), u128>,
    entries: &mut FxHashMap<u128, EntryFacts>,
) -> Result<()> {
    let columns = ["id", "category", "question", "function", "ground_truth"];
    for_each_group(path, &columns, version, |frame| {
        let cell = |name: &str, row| frame.texts(name).and_then(|texts| texts.get(row)).unwrap_or_default();
        let hash = |name: &str, row| content_hash(cell(name, row));
        for row in 0..frame.height() {
            let id = cell("id", row).to_owned();
            // A frozen entry of a dataset that is not ours was made of no request that is known.
            let record = origins.get(&(set.to_owned(), id.clone())).copied();
            let key = record.unwrap_or_else(|| content_hash(&id));
            let facts = EntryFacts {
                id,
                set,
                category: cell("category", row).to_owned(),
                question: hash("question", row),
                docs: hash("function", row),
                answer: hash("ground_truth", row),
            };
            entries.insert(key, facts);
        }
    })
}
