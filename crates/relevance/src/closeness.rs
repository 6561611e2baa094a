//! Similarity of the query's vector to those of the functions.

use super::docs::PreparedDocs;
use super::query::PreparedQuery;
use callsieve_similarity::vectors::dot;

/// Names of the features, in the order of [`features`].
pub(super) const NAMES: &[&str] = &["cosine_best", "cosine_mean", "cosine_margin", "cosine_name"];

/// Returns the best and the mean cosine with all text of a function, the difference between the best and the second
/// best, and the best cosine with a name alone.
pub(super) fn features(query: &PreparedQuery, docs: &PreparedDocs) -> Vec<f64> {
    let mut texts: Vec<f64> =
        docs.functions.iter().map(|function| cosine(&query.vector, &function.text_vector)).collect();
    texts.sort_by(|a, b| b.total_cmp(a));
    let names = docs.functions.iter().map(|function| cosine(&query.vector, &function.name_vector));
    let best = texts.first().copied().unwrap_or_default();
    let margin = texts.get(1).map_or(0.0, |next| best - next);
    vec![best.max(0.0), mean(&texts), margin, names.fold(0.0, f64::max)]
}

pub(super) fn cosine(a: &[f32], b: &[f32]) -> f64 {
    f64::from(dot(a, b))
}

/// Returns the mean; 0 for an empty slice.
#[allow(clippy::cast_precision_loss)] // Counts of functions and parameters.
pub(super) fn mean(numbers: &[f64]) -> f64 {
    if numbers.is_empty() { 0.0 } else { numbers.iter().sum::<f64>() / numbers.len() as f64 }
}
