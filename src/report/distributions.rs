//! How large the things of a dataset are: functions of an entry, parameters of a function, words of a query; and when requests were sent.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::published::{FUNCTIONS_OF_ENTRIES, PARAMETERS_OF_FUNCTIONS, WORDS_OF_QUERIES};
use crate::columns::TIME_MS;
use crate::conversation::last_user;
use crate::engine::corpus::Corpus;
use crate::engine::error::Result;
use crate::export::earlier::Earlier;

/// A number of things of one size.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bin {
    /// The sizes of the bin: `3`, `6–10`, `over 50`.
    pub label: String,
    /// How many things have them.
    pub count: u64,
}

/// The distributions of a run. Those of a dataset are empty if the run wrote none.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Distributions {
    /// Entries by the number of their functions.
    pub functions_of_entries: Vec<Bin>,
    /// Offered functions by the number of their parameters at the top level.
    pub parameters_of_functions: Vec<Bin>,
    /// Entries by the number of words of the last message of the user.
    pub words_of_queries: Vec<Bin>,
    /// Requests read by the day on which they were sent, in UTC, as the number of the day since 1970-01-01.
    pub requests_by_day: BTreeMap<i32, u64>,
}

/// The largest size of each bin; one more bin has all above.
const FUNCTIONS: [u64; 8] = [1, 2, 3, 4, 5, 10, 20, 50];
const PARAMETERS: [u64; 8] = [0, 1, 2, 3, 4, 5, 10, 20];
const WORDS: [u64; 7] = [5, 10, 20, 40, 80, 160, 320];

/// Milliseconds of a day.
const DAY_MS: i64 = 86_400_000;

impl Distributions {
    /// Counts the dataset in a run folder, and the requests of its tables.
    ///
    /// # Errors
    /// A file of the run folder cannot be read.
    pub(super) fn of(run: &Path, corpus: &Corpus) -> Result<Self> {
        let (mut functions, mut parameters, mut words) =
            (Counts::new(&FUNCTIONS), Counts::new(&PARAMETERS), Counts::new(&WORDS));
        // A run of another job has no dataset of entries.
        if let Ok(dataset) = Earlier::open(&run.join("dataset")) {
            dataset.for_each(|_, entry| {
                functions.add(entry.functions.len());
                for function in &entry.functions {
                    parameters.add(
                        function["parameters"]["properties"].as_object().map_or(0, serde_json::Map::len),
                    );
                }
                words.add(
                    last_user(&entry.messages).map_or(0, |query| query.content.split_whitespace().count()),
                );
                Ok(())
            })?;
        }
        Ok(Self {
            functions_of_entries: functions.bins(),
            parameters_of_functions: parameters.bins(),
            words_of_queries: words.bins(),
            requests_by_day: by_day(corpus)?,
        })
    }
}

/// Counts of the bins of a distribution.
struct Counts {
    ends: &'static [u64],
    counts: Vec<u64>,
}

impl Counts {
    fn new(ends: &'static [u64]) -> Self {
        Self { ends, counts: vec![0; ends.len() + 1] }
    }

    fn add(&mut self, size: usize) {
        let at = self.ends.partition_point(|end| *end < size as u64);
        self.counts[at] += 1;
    }

    /// The bins up to the last that has something; none if nothing was counted.
    fn bins(self) -> Vec<Bin> {
        let used = n_used(&self.counts);
        (0..used).map(|at| Bin { label: label(self.ends, at), count: self.counts[at] }).collect()
    }
}

/// The number of bins up to the last that has something.
fn n_used(counts: &[u64]) -> usize {
    counts.iter().rposition(|count| *count > 0).map_or(0, |last| last + 1)
}

/// The sizes of a bin.
fn label(ends: &[u64], at: usize) -> String {
    match (at.checked_sub(1).map(|before| ends[before] + 1), ends.get(at)) {
        (None, Some(end)) if *end > 1 => format!("1–{end}"),
        (from, Some(end)) if from.is_none_or(|from| from == *end) => end.to_string(),
        (from, Some(end)) => format!("{}–{end}", from.unwrap_or(1)),
        (from, None) => format!("over {}", from.unwrap_or(1) - 1),
    }
}

/// A distribution of sizes, with the one of the published set.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sizes<'d> {
    /// The bins of the run.
    pub(super) bins: &'d [Bin],
    /// The counts of the published set in the same bins.
    pub(super) published: &'static [u64],
    ends: &'static [u64],
}

impl Sizes<'_> {
    /// The bins of the run, and empty ones up to the last of the published set.
    pub(super) fn padded(&self) -> Vec<Bin> {
        let more = self.bins.len()..n_used(self.published);
        let more = more.map(|at| Bin { label: label(self.ends, at), count: 0 });
        self.bins.iter().cloned().chain(more).collect()
    }
}

impl Distributions {
    /// Entries by the number of their functions.
    pub(super) fn functions(&self) -> Sizes<'_> {
        Sizes { bins: &self.functions_of_entries, published: &FUNCTIONS_OF_ENTRIES, ends: &FUNCTIONS }
    }

    /// Offered functions by the number of their parameters.
    pub(super) fn parameters(&self) -> Sizes<'_> {
        let published = &PARAMETERS_OF_FUNCTIONS;
        Sizes { bins: &self.parameters_of_functions, published, ends: &PARAMETERS }
    }

    /// Entries by the number of words of their queries.
    pub(super) fn words(&self) -> Sizes<'_> {
        Sizes { bins: &self.words_of_queries, published: &WORDS_OF_QUERIES, ends: &WORDS }
    }
}

fn by_day(corpus: &Corpus) -> Result<BTreeMap<i32, u64>> {
    let (requests, mut days) = (&corpus.requests, BTreeMap::new());
    if !requests.has(TIME_MS) {
        return Ok(days);
    }
    for batch in 0..requests.batches() {
        let cells = requests.read_batch(batch, &[TIME_MS])?;
        let times = (0..requests.batch(batch).len()).filter_map(|at| cells.int(TIME_MS, at));
        for day in times.filter_map(|time| i32::try_from(time.div_euclid(DAY_MS)).ok()) {
            *days.entry(day).or_default() += 1;
        }
    }
    Ok(days)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_in_the_bin_that_names_it() {
        let mut counts = Counts::new(&WORDS);
        for size in [0, 5, 6, 10, 321, 1000] {
            counts.add(size);
        }
        let bins = counts.bins();
        let shown: Vec<(&str, u64)> = bins.iter().map(|bin| (bin.label.as_str(), bin.count)).collect();
        assert_eq!(
            shown,
            [
                ("1–5", 2),
                ("6–10", 2),
                ("11–20", 0),
                ("21–40", 0),
                ("41–80", 0),
                ("81–160", 0),
                ("161–320", 0),
                ("over 320", 2)
            ]
        );
        assert!(Counts::new(&FUNCTIONS).bins().is_empty());
        let ours = Distributions { words_of_queries: bins[..2].to_vec(), ..Distributions::default() };
        let padded = ours.words().padded();
        assert_eq!((padded.len(), &*padded[2].label, padded[7].count), (8, "11–20", 0));
        assert_eq!(padded[..2], bins[..2]);
    }
}
