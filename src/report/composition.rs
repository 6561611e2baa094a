//! What the kept requests are made of: functions offered, distinct docs and names; tiers, categories, languages.

use std::collections::BTreeMap;

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::columns::{CATEGORY, CATEGORY_BASIS, FUNCTIONS, LANGUAGE, RELEVANCE, TIER, WEIGHT};
use crate::docs::canonical;
use crate::engine::corpus::Corpus;
use crate::engine::error::Result;
use crate::engine::vocabulary::{ColumnSpec, RowIx};
use crate::export::tier::JUDGED;

/// Counts over the kept requests and the lists they have now.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct Composition {
    /// Kept requests.
    pub requests: u64,
    /// Kept doc lists.
    pub doc_lists: u64,
    /// Functions offered, each as often as a request offers it.
    pub functions_offered: u64,
    /// Distinct functions, key order aside.
    pub distinct_functions: u64,
    /// Distinct function names.
    pub distinct_names: u64,
}

/// Counts what is kept.
///
/// # Errors
/// A file of the run folder cannot be read.
pub fn composition(corpus: &Corpus) -> Result<Composition> {
    let mut n_requests: FxHashMap<RowIx, u64> = FxHashMap::default();
    for (row, &list) in (0..).zip(&corpus.list) {
        if corpus.requests.is_kept(row) {
            *n_requests.entry(list).or_default() += 1;
        }
    }
    let mut composition = Composition {
        requests: corpus.requests.kept() as u64,
        doc_lists: corpus.lists.kept() as u64,
        ..Composition::default()
    };
    let mut functions: FxHashSet<u128> = FxHashSet::default();
    let mut names: FxHashSet<String> = FxHashSet::default();
    for batch in 0..corpus.lists.batches() {
        let range = corpus.lists.batch(batch);
        let cells = corpus.lists.read_batch(batch, &[FUNCTIONS])?;
        let keyed = |row: RowIx| {
            let text = cells.text(FUNCTIONS, row as usize - range.start).unwrap_or("[]");
            let list: Vec<Value> = serde_json::from_str(text).unwrap_or_default();
            let name = |function: &Value| function.get("name").and_then(Value::as_str).map(str::to_owned);
            let keyed = list.iter().map(|it| (canonical::key(std::slice::from_ref(it)), name(it)));
            (row, keyed.collect::<Vec<_>>())
        };
        let lists: Vec<(RowIx, Vec<_>)> =
            corpus.lists.kept_of_batch(batch).into_par_iter().map(keyed).collect();
        for (row, list) in lists {
            composition.functions_offered +=
                list.len() as u64 * n_requests.get(&row).copied().unwrap_or_default();
            for (key, name) in list {
                functions.insert(key);
                names.extend(name);
            }
        }
    }
    composition.distinct_functions = functions.len() as u64;
    composition.distinct_names = names.len() as u64;
    Ok(composition)
}

/// The kept requests by what stages wrote about them. A column that no stage of the pipeline writes counts nothing.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Entries {
    /// By reliability of the answer; an entry without an answer counts only if its label is judged from the text alone.
    pub tier: BTreeMap<String, u64>,
    /// By category.
    pub category: BTreeMap<String, u64>,
    /// By why a request is in a category without answers.
    pub category_basis: BTreeMap<String, u64>,
    /// By whether a function fits.
    pub relevance: BTreeMap<String, u64>,
    /// By language of the last user message.
    pub language: BTreeMap<String, u64>,
    /// How many requests the sampled ones represent, rounded; `None` if nothing was sampled.
    pub represented_requests: Option<u64>,
}

/// Columns that [`Entries`] counts by, and the one that it adds up.
const COUNTED: [ColumnSpec; 5] = [TIER, CATEGORY, CATEGORY_BASIS, RELEVANCE, LANGUAGE];

/// Counts the kept requests by the columns that are there.
///
/// # Errors
/// A file of the run folder cannot be read.
pub fn entries(corpus: &Corpus) -> Result<Entries> {
    let requests = &corpus.requests;
    let there = COUNTED.into_iter().chain([WEIGHT]).filter(|column| requests.has(*column));
    let asked: Vec<ColumnSpec> = there.collect();
    // A pipeline without `split` has answers and no categories.
    let has_basis = asked.contains(&CATEGORY_BASIS);
    let mut counts: BTreeMap<&'static str, BTreeMap<String, u64>> = BTreeMap::new();
    let mut weight: Option<f64> = None;
    for batch in 0..requests.batches() {
        let range = requests.batch(batch);
        let kept: Vec<usize> =
            requests.kept_of_batch(batch).into_iter().map(|row| row as usize - range.start).collect();
        if kept.is_empty() || asked.is_empty() {
            continue;
        }
        let cells = requests.read_batch(batch, &asked)?;
        for &column in &asked {
            // The answer of an entry whose category has none is not in the dataset, so its tier is not either; the tier
            // of its label is.
            let is_named = |at: &&usize| {
                column != TIER
                    || !has_basis
                    || cells.text(CATEGORY_BASIS, **at).is_none()
                    || cells.text(TIER, **at) == Some(JUDGED)
            };
            for value in kept.iter().filter(is_named).filter_map(|&at| cells.text(column, at)) {
                if column == WEIGHT {
                    weight = Some(weight.unwrap_or_default() + value.parse().unwrap_or(0.0));
                } else {
                    add(counts.entry(column.name).or_default(), value);
                }
            }
        }
    }
    let mut of = |column: ColumnSpec| counts.remove(column.name).unwrap_or_default();
    let [tier, category, category_basis, relevance, language] = COUNTED.map(&mut of);
    // Rounded, so that the order of adding up does not show.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let represented_requests = weight.map(|weight| weight.round() as u64);
    Ok(Entries { tier, category, category_basis, relevance, language, represented_requests })
}

/// Adds one without making a text for each row.
fn add(counts: &mut BTreeMap<String, u64>, value: &str) {
    match counts.get_mut(value) {
        Some(n) => *n += 1,
        None => {
            counts.insert(value.to_owned(), 1);
        }
    }
}
