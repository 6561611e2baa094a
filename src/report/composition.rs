//! What the kept requests are made of: functions offered, distinct docs and names, categories, languages.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;
use serde_json::Value;

use crate::docs::canonical;
use crate::engine::columns::{CATEGORY, CATEGORY_BASIS, FUNCTIONS, LANGUAGE};
use crate::engine::corpus::Corpus;
use crate::engine::error::Result;
use crate::engine::stage::RowIx;

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
    /// Kept requests by category, where the pipeline splits.
    pub categories: BTreeMap<String, u64>,
    /// Those of the categories without answers by category and why they are there, `category/basis`.
    pub category_bases: BTreeMap<String, u64>,
    /// Kept requests by language, where the pipeline splits.
    pub languages: BTreeMap<String, u64>,
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
        for row in corpus.lists.rows_of_batch(batch).filter(|&row| corpus.lists.is_kept(row)) {
            let text = cells.text(FUNCTIONS, row as usize - range.start).unwrap_or("[]");
            let list: Vec<Value> = serde_json::from_str(text).unwrap_or_default();
            composition.functions_offered +=
                list.len() as u64 * n_requests.get(&row).copied().unwrap_or_default();
            for function in &list {
                functions.insert(canonical::key(std::slice::from_ref(function)));
                names.extend(function.get("name").and_then(Value::as_str).map(str::to_owned));
            }
        }
    }
    count_requests(corpus, &mut composition)?;
    composition.distinct_functions = functions.len() as u64;
    composition.distinct_names = names.len() as u64;
    Ok(composition)
}

/// Counts kept requests by what `split` says of them; without it nothing is counted.
fn count_requests(corpus: &Corpus, composition: &mut Composition) -> Result<()> {
    let requests = &corpus.requests;
    for batch in 0..requests.batches() {
        let start = requests.batch(batch).start;
        let cells = requests.read_batch(batch, &[CATEGORY, CATEGORY_BASIS, LANGUAGE])?;
        for row in requests.rows_of_batch(batch).filter(|&row| requests.is_kept(row)) {
            let text = |column| cells.text(column, row as usize - start);
            let Some(category) = text(CATEGORY) else { continue };
            *composition.categories.entry(category.to_owned()).or_default() += 1;
            if let Some(basis) = text(CATEGORY_BASIS) {
                *composition.category_bases.entry(format!("{category}/{basis}")).or_default() += 1;
            }
            if let Some(language) = text(LANGUAGE) {
                *composition.languages.entry(language.to_owned()).or_default() += 1;
            }
        }
    }
    Ok(())
}
