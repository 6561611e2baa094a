//! The figures of two runs next to each other, as they are drawn on one page.

use std::collections::BTreeMap;

use serde::Serialize;

use super::Comparison;
use crate::report::finished::{Figures, Finished};

/// Two runs of one job and what differs between them.
#[derive(Debug, Serialize)]
pub struct SideBySide<'c> {
    /// What the runs are for, such as `dataset`.
    pub job: &'static str,
    /// The first run.
    pub before: Side<'c>,
    /// The second run.
    pub after: Side<'c>,
    /// Whether anything differs.
    pub differs: bool,
    /// What differs.
    #[serde(flatten)]
    pub comparison: &'c Comparison,
    /// Both runs as they were read.
    #[serde(skip)]
    pub(in crate::report) runs: [&'c Finished; 2],
}

/// The figures of one run.
#[derive(Debug, Serialize)]
pub struct Side<'c> {
    /// The run folder, without the folders of this machine.
    pub run: &'c str,
    /// The name of its pipeline.
    pub pipeline: &'c str,
    /// The version of the program that made it.
    pub version: &'c str,
    /// Its seed.
    pub seed: u64,
    /// Held requests by the category that their functions and recorded calls lead to, else `unknown`.
    pub held: &'c BTreeMap<String, u64>,
    /// Figures of `report.json`, by their keys there.
    #[serde(flatten)]
    pub figures: &'c Figures,
}

impl<'c> SideBySide<'c> {
    /// Puts two runs next to each other; `names` are those of their folders.
    pub fn new(
        job: &'static str,
        names: [&'c str; 2],
        [before, after]: [&'c Finished; 2],
        held: [&'c BTreeMap<String, u64>; 2],
        comparison: &'c Comparison,
    ) -> Self {
        Self {
            job,
            before: Side::new(names[0], before, held[0]),
            after: Side::new(names[1], after, held[1]),
            differs: comparison.differs(),
            comparison,
            runs: [before, after],
        }
    }

    /// Both runs, the first one first.
    pub fn sides(&self) -> [&Side<'c>; 2] {
        [&self.before, &self.after]
    }
}

impl<'c> Side<'c> {
    fn new(run: &'c str, of: &'c Finished, held: &'c BTreeMap<String, u64>) -> Self {
        Self {
            run,
            pipeline: of.file.pipeline["name"].as_str().unwrap_or_default(),
            version: &of.file.version,
            seed: of.file.seed,
            held,
            figures: &of.figures,
        }
    }
}
