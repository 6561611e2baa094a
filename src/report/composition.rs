//! What the kept requests are made of: functions offered, distinct docs and names.

use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;
use serde_json::Value;

use crate::docs::canonical;
use crate::engine::columns::FUNCTIONS;
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
    composition.distinct_functions = functions.len() as u64;
    composition.distinct_names = names.len() as u64;
    Ok(composition)
}
