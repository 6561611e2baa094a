//! The functions of a whole log, against which the functions of one list are compared.
//!
//! A query that fits a function of another list better than any of its own list is likely to fit none of its own. Words
//! that few functions have say more than words that many have. A log with few functions has no background: all features
//! of it are 0. The functions are sampled by a hash of their names, so the order of a log does not matter.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use serde_json::Value;
use xxhash_rust::xxh3::xxh3_64;

use super::docs::{PreparedDocs, PreparedFunction};
use super::query::PreparedQuery;
use super::words::holds;
use callsieve_docs::signature::signatures;
use callsieve_text::normal::loose_name;

/// Names of the features, in the order of [`features`].
pub(super) const NAMES: &[&str] =
    &["weight_in_docs", "weight_in_best", "weight_elsewhere", "lead", "place", "rise", "weight_of_name"];

/// The minimum number of functions of a background.
const MIN_FUNCTIONS: usize = 20;
/// The maximum number of functions of a background; more are sampled.
const MAX_FUNCTIONS: usize = 300;

/// Selects the functions of a background from any number of lists.
#[derive(Debug, Default)]
pub struct BackgroundSample {
    /// The functions with the smallest hashes of their names; of functions with one name, the one with the smallest hash.
    functions: BTreeMap<(u64, String), (u64, Value)>,
}

impl BackgroundSample {
    /// Adds the functions of a list.
    pub fn add(&mut self, functions: &[Value]) {
        for function in functions {
            let name = loose_name(function.get("name").and_then(Value::as_str).unwrap_or_default());
            let key = (xxh3_64(name.as_bytes()), name);
            let is_full = self.functions.len() >= MAX_FUNCTIONS;
            if is_full && self.functions.last_key_value().is_some_and(|(last, _)| *last < key) {
                continue;
            }
            let content = xxh3_64(function.to_string().as_bytes());
            let known = self.functions.get(&key).map(|(known, _)| *known);
            if known.is_none_or(|known| content < known) {
                self.functions.insert(key, (content, function.clone()));
            }
            if self.functions.len() > MAX_FUNCTIONS {
                self.functions.pop_last();
            }
        }
    }

    /// Adds the functions of another sample.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        for (_, function) in other.functions.into_values() {
            self.add(std::slice::from_ref(&function));
        }
        self
    }
}

/// The functions of a log, by their words.
#[derive(Debug, Default)]
pub struct Background {
    /// The loose names of the functions, in order.
    names: Vec<String>,
    /// The functions that have a word, by the word.
    having: FxHashMap<String, Vec<u16>>,
    /// The sizes by which the scores of functions are divided.
    sizes: Vec<f64>,
}

impl Background {
    /// Prepares the functions of a log; too few of them are no background.
    pub fn new(sample: BackgroundSample) -> Self {
        if sample.functions.len() < MIN_FUNCTIONS {
            return Self::default();
        }
        let mut background = Self::default();
        for ((_, name), (_, function)) in sample.functions {
            let Some(signature) = signatures(std::slice::from_ref(&function)).pop() else { continue };
            let function = PreparedFunction::new(signature);
            let at = u16::try_from(background.names.len()).expect("a sample is small");
            for word in &function.words {
                background.having.entry(word.clone()).or_default().push(at);
            }
            background.names.push(name);
            background.sizes.push(size(&function));
        }
        background
    }

    /// Returns whether there are too few functions to compare with.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Returns how much a word says: the logarithm of one in how many functions has it.
    #[allow(clippy::cast_precision_loss)] // Counts of functions.
    fn weight(&self, word: &str) -> f64 {
        let n_having = self.having.get(word).map_or(0, Vec::len);
        ((1.0 + self.names.len() as f64) / (1.0 + n_having as f64)).ln()
    }
}

fn size(function: &PreparedFunction) -> f64 {
    #[allow(clippy::cast_precision_loss)] // A count of words.
    let n_words = function.words.len() as f64;
    n_words.sqrt()
}

/// Returns how the functions of the list explain the query, compared with the other functions of the log.
pub(super) fn features(query: &PreparedQuery, docs: &PreparedDocs, background: &Background) -> Vec<f64> {
    let none = || vec![0.0; NAMES.len()];
    if background.is_empty() || query.words.is_empty() || docs.functions.is_empty() {
        return none();
    }
    let weights: Vec<f64> = query.words.iter().map(|word| background.weight(word)).collect();
    let all: f64 = weights.iter().sum();
    if all <= 0.0 {
        return none();
    }
    let weighted = |has: &dyn Fn(&str) -> bool| -> f64 {
        let held = query.words.iter().zip(&weights).filter(|(word, _)| has(word));
        held.map(|(_, weight)| weight).sum()
    };
    let own: Vec<String> =
        docs.functions.iter().map(|function| loose_name(&function.signature.name)).collect();
    let mut scores = vec![0.0; background.names.len()];
    for (word, weight) in query.words.iter().zip(&weights) {
        for &at in background.having.get(word).into_iter().flatten() {
            scores[usize::from(at)] += weight;
        }
    }
    let others: Vec<f64> = (0..scores.len())
        .filter(|&at| !own.contains(&background.names[at]))
        .map(|at| scores[at] / background.sizes[at])
        .collect();
    let best_share = docs.functions.iter().map(|f| weighted(&|word| holds(&f.words, word))).fold(0.0, f64::max) / all;
    let best = docs
        .functions
        .iter()
        .map(|f| weighted(&|word| holds(&f.words, word)) / size(f))
        .fold(0.0, f64::max);
    let name = docs
        .functions
        .iter()
        .map(|f| {
            let whole: f64 = f.name_words.iter().map(|word| background.weight(word)).sum();
            let held: f64 = f.name_words.iter().filter(|word| holds(&query.words, word)).map(|word| background.weight(word)).sum();
            if whole > 0.0 { held / whole } else { 0.0 }
        })
        .fold(0.0, f64::max);
    let n = others.len().max(1) as f64;
    let mean = others.iter().sum::<f64>() / n;
    let deviation = (others.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n).sqrt();
    let top = others.iter().copied().fold(0.0, f64::max);
    let n_better = others.iter().filter(|&&other| other > best).count() as f64;
    let elsewhere = weighted(&|word| !holds(&docs.words, word) && background.having.contains_key(word));
    vec![
        weighted(&|word| holds(&docs.words, word)) / all,
        best_share,
        elsewhere / all,
        (best - top) / (best + top).max(f64::MIN_POSITIVE),
        (n_better.ln_1p() - 1.5) / (1.0 + n).ln(),
        if deviation > 0.0 { ((best - mean) / deviation).clamp(-3.0, 8.0) / 4.0 } else { 0.0 },
        name,
    ]
}
