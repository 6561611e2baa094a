//! How near the query's vector is to those of the functions.

use super::asked::Asked;
use super::offer::Offer;
use crate::embed::vectors::dot;

/// Names of the features, in the order of [`features`].
pub(super) const NAMES: &[&str] = &["cosine_best", "cosine_mean", "cosine_margin", "cosine_name"];

/// The best and the mean cosine with all text of a function, how far the best is from the next, and the best
/// cosine with a name alone.
pub(super) fn features(asked: &Asked, offer: &Offer) -> Vec<f64> {
    let mut texts: Vec<f64> =
        offer.functions.iter().map(|function| cosine(&asked.vector, &function.text_vector)).collect();
    texts.sort_by(|a, b| b.total_cmp(a));
    let names = offer.functions.iter().map(|function| cosine(&asked.vector, &function.name_vector));
    let best = texts.first().copied().unwrap_or_default();
    let margin = texts.get(1).map_or(0.0, |next| best - next);
    vec![best.max(0.0), mean(&texts), margin, names.fold(0.0, f64::max)]
}

pub(super) fn cosine(a: &[f32], b: &[f32]) -> f64 {
    f64::from(dot(a, b))
}

/// The mean; 0 of nothing.
#[allow(clippy::cast_precision_loss)] // Counts of functions and parameters.
pub(super) fn mean(numbers: &[f64]) -> f64 {
    if numbers.is_empty() { 0.0 } else { numbers.iter().sum::<f64>() / numbers.len() as f64 }
}
