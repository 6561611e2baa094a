//! What a run records about the benchmark that its rows were compared with: a note of the stage.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::benchmark::{Benchmark, Thresholds};
use super::hit::{Compared, Method};

/// The name of the note.
pub const BENCHMARK_NOTE: &str = "benchmark";

/// The name of the note about what a language model said of suspect pairs.
pub const JUDGED_NOTE: &str = "judged_pairs";

/// The name of the note about training sets that are files of the benchmark, by the number of their input.
pub const ITSELF_NOTE: &str = "files_of_the_benchmark";

/// The benchmark of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BenchmarkFacts {
    /// Its categories, in the order of their files.
    pub categories: Vec<CategoryFacts>,
    /// Entries that each method cannot find, by method and category; they are too short for it, or have nothing to compare.
    pub unscorable: BTreeMap<String, BTreeMap<String, usize>>,
    /// When what overlaps.
    pub thresholds: Thresholds,
    /// What of the rows was compared.
    #[serde(default = "all_objects")]
    pub objects: Vec<Compared>,
}

fn all_objects() -> Vec<Compared> {
    Compared::ALL.to_vec()
}

/// A category of a benchmark.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CategoryFacts {
    /// Its name.
    pub name: String,
    /// Its file.
    #[serde(default)]
    pub path: String,
    /// The SHA-256 of its file.
    pub sha256: String,
    /// Its entries.
    pub entries: usize,
    /// Entries with a message, functions, or an answer that can be found.
    pub scorable: BTreeMap<String, usize>,
}

impl BenchmarkFacts {
    /// Returns the facts of an open benchmark.
    pub fn of_benchmark(benchmark: &Benchmark) -> Self {
        let mut categories: Vec<CategoryFacts> = benchmark
            .categories
            .iter()
            .map(|category| CategoryFacts {
                name: category.name.clone(),
                path: category.path.display().to_string(),
                sha256: category.sha256.clone(),
                entries: 0,
                scorable: BTreeMap::new(),
            })
            .collect();
        for (entry, scorable) in benchmark.entries.iter().zip(&benchmark.scorable) {
            let counts = &mut categories[entry.category as usize];
            counts.entries += 1;
            let objects =
                [("query", scorable.query), ("functions", scorable.functions), ("call", scorable.call)];
            for (name, is_scorable) in objects {
                *counts.scorable.entry(name.to_owned()).or_default() += usize::from(is_scorable);
            }
        }
        let names: Vec<String> = categories.iter().map(|category| category.name.clone()).collect();
        let unscorable = benchmark.unscorable().into_iter().filter(|found| found.method != Method::Judge);
        let unscorable = unscorable
            .map(|found| {
                (found.method.name().to_owned(), names.iter().cloned().zip(found.by_category).collect())
            })
            .collect();
        Self { categories, unscorable, thresholds: *benchmark.thresholds(), objects: all_objects() }
    }

    /// Returns the facts in a note; `None` if there is none.
    pub fn of(note: Option<&Value>) -> Option<Self> {
        Self::deserialize(note?).ok()
    }

    /// Returns the facts as a note.
    ///
    /// # Panics
    /// Never: counts and names are JSON.
    pub fn to_json(&self) -> Value {
        serde_json::to_value(self).expect("counts and names are JSON")
    }

    /// Returns the number of entries.
    pub fn n_entries(&self) -> usize {
        self.categories.iter().map(|category| category.entries).sum()
    }
}
