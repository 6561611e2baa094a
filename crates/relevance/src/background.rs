//! The functions of a whole log, with which the functions of one list are compared.
//!
//! A query that a function of another list explains better than any of its own list is likely to fit none of its own. Words
//! that few functions have say more than words that many have. The functions are sampled by a hash of their names, so
//! neither the order nor the size of a log matters. A log with few functions of other lists is no background: all
//! features are 0, which is usual for a query that a function fits or not.

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
pub(super) const NAMES: &[&str] = &["lead", "rise"];

/// The minimum number of functions of other lists.
const MIN_FUNCTIONS: usize = 20;
/// The maximum number of functions of a background; more are sampled.
const MAX_FUNCTIONS: usize = 300;

/// Selects the functions of a background from any number of lists.
#[derive(Debug, Default)]
pub struct BackgroundSample {
    /// The functions with the smallest hashes of their names; of those with one name, the one with the smallest text.
    functions: BTreeMap<(u64, String), (String, Value)>,
}

impl BackgroundSample {
    /// Adds the functions of a list.
    pub fn add(&mut self, functions: &[Value]) {
        for function in functions {
            let name = loose_name(function.get("name").and_then(Value::as_str).unwrap_or_default());
            let key = (xxh3_64(name.as_bytes()), name);
            let last = self.functions.last_key_value();
            if self.functions.len() >= MAX_FUNCTIONS && last.is_some_and(|(last, _)| *last < key) {
                continue;
            }
            let text = function.to_string();
            if self.functions.get(&key).is_none_or(|(known, _)| text < *known) {
                self.functions.insert(key, (text, function.clone()));
            }
            if self.functions.len() > MAX_FUNCTIONS {
                self.functions.pop_last();
            }
        }
    }
}

/// The functions of a log, by their words.
#[derive(Debug, Default)]
pub struct Background {
    /// The place of each function, by its loose name.
    places: FxHashMap<String, u16>,
    /// The functions that have a word, by the word.
    having: FxHashMap<String, Vec<u16>>,
    /// The numbers by which the weights of a function's words are divided.
    sizes: Vec<f64>,
}

impl Background {
    /// Prepares the functions of a log.
    pub fn new(sample: BackgroundSample) -> Self {
        let mut background = Self::default();
        if sample.functions.len() < MIN_FUNCTIONS {
            return background;
        }
        for ((_, name), (_, function)) in sample.functions {
            let Some(signature) = signatures(std::slice::from_ref(&function)).pop() else { continue };
            let function = PreparedFunction::new(signature);
            let Ok(at) = u16::try_from(background.sizes.len()) else { break };
            background.sizes.push(size(&function));
            background.places.insert(name, at);
            for word in function.words {
                background.having.entry(word).or_default().push(at);
            }
        }
        background
    }

    /// Returns how much a word says: the logarithm of one in how many functions has it.
    #[allow(clippy::cast_precision_loss)] // Counts of functions.
    fn weight(&self, word: &str) -> f64 {
        let n_having = self.having.get(word).map_or(0, Vec::len);
        ((1.0 + self.sizes.len() as f64) / (1.0 + n_having as f64)).ln()
    }

    /// Returns how well each function of other lists explains a query: the weights of the words that they share.
    fn scores(&self, query: &PreparedQuery, weights: &[f64], docs: &PreparedDocs) -> Vec<f64> {
        let mut scores = vec![0.0; self.sizes.len()];
        for (word, weight) in query.words.iter().zip(weights) {
            for &at in self.having.get(word).into_iter().flatten() {
                scores[usize::from(at)] += weight;
            }
        }
        scores.iter_mut().zip(&self.sizes).for_each(|(score, size)| *score /= size);
        let mut own: Vec<u16> =
            docs.functions.iter().filter_map(|function| self.place_of(function)).collect();
        own.sort_unstable();
        own.dedup();
        for at in own.into_iter().rev() {
            scores.swap_remove(usize::from(at));
        }
        scores
    }

    fn place_of(&self, function: &PreparedFunction) -> Option<u16> {
        self.places.get(&function.loose_name).copied()
    }
}

/// Returns the number by which the weights of a function's words are divided, as long docs share words with any query.
#[allow(clippy::cast_precision_loss)] // A count of words.
fn size(function: &PreparedFunction) -> f64 {
    (function.words.len().max(1) as f64).sqrt()
}

/// The usual rise of a query, as measured on labelled requests.
const USUAL_RISE: f64 = 1.3;
/// The limits of a rise in standard deviations, and the number of them that counts as 1.
const RISES: std::ops::RangeInclusive<f64> = -3.0..=8.0;
const RISE_UNIT: f64 = 4.0;

/// Returns how far the best function of the list is ahead of the best of other lists, from -1 to 1, and how far above their
/// mean it is, compared with what is usual.
#[allow(clippy::cast_precision_loss)] // A count of functions.
pub(super) fn features(query: &PreparedQuery, docs: &PreparedDocs, background: &Background) -> Vec<f64> {
    let weights: Vec<f64> = query.words.iter().map(|word| background.weight(word)).collect();
    let others = background.scores(query, &weights, docs);
    if others.len() < MIN_FUNCTIONS || query.words.is_empty() || docs.functions.is_empty() {
        return vec![0.0; NAMES.len()];
    }
    let own = |function: &PreparedFunction| {
        let shared = query.words.iter().zip(&weights).filter(|(word, _)| holds(&function.words, word));
        shared.map(|(_, weight)| weight).sum::<f64>() / size(function)
    };
    let best = docs.functions.iter().map(own).fold(0.0, f64::max);
    let best_other = others.iter().copied().fold(0.0, f64::max);
    let n = others.len() as f64;
    let mean = others.iter().sum::<f64>() / n;
    let deviation = (others.iter().map(|other| (other - mean).powi(2)).sum::<f64>() / n).sqrt();
    let lead = if best + best_other > 0.0 { (best - best_other) / (best + best_other) } else { 0.0 };
    // Without a deviation no other function shares a word with the query, which is usual for other languages than those
    // of the docs; one shared name or number is no rise then.
    let rise = if deviation > 0.0 { (best - mean) / deviation } else { 0.0 };
    vec![lead, rise.clamp(*RISES.start(), *RISES.end()) / RISE_UNIT - USUAL_RISE]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn function(name: &str, description: &str) -> Value {
        json!({"name": name, "description": description, "parameters": {"type": "dict", "required": [], "properties": {}}})
    }

    /// Returns many functions of other kinds.
    fn others() -> Vec<Value> {
        let about = |n: usize| format!("Reads the gauge of basin{n} near pier{n}.");
        (0..25).map(|n| function(&format!("gauge_{n}"), &about(n))).collect()
    }

    fn background(lists: &[&[Value]]) -> Background {
        let mut sample = BackgroundSample::default();
        for list in lists {
            sample.add(list);
        }
        Background::new(sample)
    }

    fn found(query: &str, own: &[Value], background: &Background) -> Vec<f64> {
        features(&PreparedQuery::new(&[query]), &PreparedDocs::new(own), background)
    }

    #[test]
    fn a_query_that_another_list_explains_better_is_behind() {
        let own = [function("bake_bread", "Bakes a loaf of bread.")];
        let background = background(&[&own, &others()]);
        let ahead = found("Bake a loaf of rye bread", &own, &background);
        let behind = found("What does the gauge of basin7 say?", &own, &background);
        assert!(ahead[0] > 0.9 && behind[0] < -0.9, "{ahead:?} {behind:?}");
        assert!(ahead[1] > behind[1], "{ahead:?} {behind:?}");
    }

    #[test]
    fn functions_of_the_own_list_and_small_logs_are_no_background() {
        let own = [function("bake_bread", "Bakes a loaf of bread.")];
        let query = "Bake a loaf of rye bread";
        assert_eq!(found(query, &own, &Background::default()), [0.0, 0.0]);
        assert_eq!(found(query, &own, &background(&[&own, &others()[..10]])), [0.0, 0.0]);
        // All of the log is one list.
        let all = [own.to_vec(), others()].concat();
        assert_eq!(found(query, &all, &background(&[&all])), [0.0, 0.0]);
        assert_eq!(found("?", &own, &background(&[&others()])), [0.0, 0.0]);
    }

    #[test]
    fn the_order_and_repetitions_of_lists_do_not_matter() {
        let own = [function("bake_bread", "Bakes a loaf of bread.")];
        let many: Vec<Value> =
            (0..400).map(|n| function(&format!("tool{n}"), &format!("Does thing{n} with bread."))).collect();
        let changed: Vec<Value> = (0..400).map(|n| function(&format!("tool_{n}"), "Takes it.")).collect();
        let mut reversed = many.clone();
        reversed.reverse();
        let query = "Bake bread with thing17 and thing200";
        let first = found(query, &own, &background(&[&many, &changed]));
        assert_eq!(first, found(query, &own, &background(&[&changed, &many[..200], &reversed, &many])));
        assert_ne!(first, found(query, &own, &background(&[&changed])));
    }
}
