//! Logistic regression by Newton's method, with L2 regularisation.
//!
//! Made for a few dozen features and some thousand rows, without dependencies. Sums run in row
//! order, so the same rows always have the same bits as a result.

/// Newton's method stops when no weight moves by more than this.
const TOLERANCE: f64 = 1e-9;
/// Maximum number of steps. Newton's method usually converges in about ten.
const MAX_STEPS: usize = 50;
/// Keeps the matrix solvable if the classes are perfectly separable.
const MIN_CURVATURE: f64 = 1e-9;

/// A weighted sum of features.
#[derive(Debug, Clone, PartialEq)]
pub struct Linear {
    /// The constant term.
    pub bias: f64,
    /// One weight per feature.
    pub weights: Vec<f64>,
}

impl Linear {
    /// Returns the weighted sum, a log-odds.
    pub fn log_odds(&self, features: &[f64]) -> f64 {
        self.bias + self.weights.iter().zip(features).map(|(weight, x)| weight * x).sum::<f64>()
    }
}

/// Converts log-odds to a probability.
pub fn logistic(log_odds: f64) -> f64 {
    1.0 / (1.0 + (-log_odds).exp())
}

/// Fits weights that maximise the log-likelihood of the labels minus `l2 / 2` times the sum of squared weights.
///
/// Features are scaled to a standard deviation of one first; higher `l2` shrinks the weights. A feature with the same
/// value in all rows gets the weight 0. Without rows there are no weights.
///
/// # Panics
/// If rows have different lengths, or the number of labels is not the number of rows.
pub fn fit(rows: &[&[f64]], labels: &[bool], l2: f64) -> Linear {
    assert_eq!(rows.len(), labels.len(), "one label per row");
    let Some(n_features) = rows.first().map(|row| row.len()) else {
        return Linear { bias: 0.0, weights: Vec::new() };
    };
    let scales: Vec<(f64, f64)> = (0..n_features).map(|at| scale(rows, at)).collect();
    let scaled: Vec<Vec<f64>> = rows
        .iter()
        .map(|row| row.iter().zip(&scales).map(|(x, (mean, deviation))| (x - mean) / deviation).collect())
        .collect();
    let mut weights = vec![0.0; n_features + 1];
    for _ in 0..MAX_STEPS {
        let step = newton_step(&scaled, labels, &weights, l2);
        weights.iter_mut().zip(&step).for_each(|(weight, step)| *weight -= step);
        if step.iter().all(|step| step.abs() < TOLERANCE) {
            break;
        }
    }
    let unscaled: Vec<f64> =
        weights[1..].iter().zip(&scales).map(|(weight, (_, deviation))| weight / deviation).collect();
    let moved: f64 = unscaled.iter().zip(&scales).map(|(weight, (mean, _))| weight * mean).sum();
    Linear { bias: weights[0] - moved, weights: unscaled }
}

/// Fits weights that are added to known log-odds, without a bias: each is 0 or has the sign that `lowers` asks for.
///
/// A weight that would have the other sign is 0, and the rest is fitted again.
///
/// # Panics
/// If the numbers of rows, labels and known log-odds differ.
pub fn fit_signed(rows: &[Vec<f64>], labels: &[bool], known: &[f64], lowers: &[bool], l2: f64) -> Vec<f64> {
    assert!(rows.len() == labels.len() && rows.len() == known.len(), "one label and log-odds per row");
    let mut is_free = vec![true; lowers.len()];
    loop {
        let kept: Vec<usize> = (0..lowers.len()).filter(|&at| is_free[at]).collect();
        let chosen: Vec<Vec<f64>> = rows.iter().map(|row| kept.iter().map(|&at| row[at]).collect()).collect();
        let fitted = fit_added(&chosen, labels, known, l2);
        let wrong: Vec<usize> = (0..kept.len())
            .filter(|&at| if lowers[kept[at]] { fitted[at] > 0.0 } else { fitted[at] < 0.0 })
            .collect();
        if wrong.is_empty() {
            let mut weights = vec![0.0; lowers.len()];
            kept.iter().zip(fitted).for_each(|(&at, weight)| weights[at] = weight);
            return weights;
        }
        for at in wrong {
            is_free[kept[at]] = false;
        }
    }
}

/// Fits weights that are added to known log-odds, without a bias.
fn fit_added(rows: &[Vec<f64>], labels: &[bool], known: &[f64], l2: f64) -> Vec<f64> {
    let n_features = rows.first().map_or(0, Vec::len);
    let deviations: Vec<f64> = (0..n_features).map(|at| size(rows, at)).collect();
    let scaled: Vec<Vec<f64>> = rows
        .iter()
        .map(|row| row.iter().zip(&deviations).map(|(x, deviation)| x / deviation).collect())
        .collect();
    let mut weights = vec![0.0; n_features];
    for _ in 0..MAX_STEPS {
        let step = added_step(&scaled, labels, known, &weights, l2);
        weights.iter_mut().zip(&step).for_each(|(weight, step)| *weight -= step);
        if step.iter().all(|step| step.abs() < TOLERANCE) {
            break;
        }
    }
    weights.iter().zip(&deviations).map(|(weight, deviation)| weight / deviation).collect()
}

/// Returns the root mean square of a feature; infinite if it is always 0, so that its weight is 0.
#[allow(clippy::cast_precision_loss)] // Counts of rows.
fn size(rows: &[Vec<f64>], at: usize) -> f64 {
    let mean = rows.iter().map(|row| row[at].powi(2)).sum::<f64>() / rows.len() as f64;
    if mean > f64::EPSILON { mean.sqrt() } else { f64::INFINITY }
}

/// Returns the step of Newton's method for each weight that is added to known log-odds.
fn added_step(rows: &[Vec<f64>], labels: &[bool], known: &[f64], weights: &[f64], l2: f64) -> Vec<f64> {
    let mut sums = Sums::new(weights.len());
    for ((row, &label), known) in rows.iter().zip(labels).zip(known) {
        sums.add(row, label, known + row.iter().zip(weights).map(|(x, weight)| x * weight).sum::<f64>());
    }
    for (at, weight) in weights.iter().enumerate() {
        sums.shrink(at, *weight, l2);
    }
    solve(sums.curvature, sums.gradient)
}

/// Returns mean and standard deviation of a feature; the deviation of a constant is infinite, so that its weight is 0.
#[allow(clippy::cast_precision_loss)] // Counts of rows.
fn scale(rows: &[&[f64]], at: usize) -> (f64, f64) {
    let n_rows = rows.len() as f64;
    let mean = rows.iter().map(|row| row[at]).sum::<f64>() / n_rows;
    let variance = rows.iter().map(|row| (row[at] - mean).powi(2)).sum::<f64>() / n_rows;
    (mean, if variance > f64::EPSILON { variance.sqrt() } else { f64::INFINITY })
}

/// Returns the step of Newton's method for each weight, the bias first.
fn newton_step(rows: &[Vec<f64>], labels: &[bool], weights: &[f64], l2: f64) -> Vec<f64> {
    let mut sums = Sums::new(weights.len());
    let mut padded = vec![1.0; weights.len()];
    for (row, &label) in rows.iter().zip(labels) {
        padded[1..].copy_from_slice(row);
        sums.add(&padded, label, padded.iter().zip(weights).map(|(x, weight)| x * weight).sum());
    }
    for (at, weight) in weights.iter().enumerate().skip(1) {
        sums.shrink(at, *weight, l2);
    }
    solve(sums.curvature, sums.gradient)
}

/// The first and second derivatives of the log-likelihood.
struct Sums {
    gradient: Vec<f64>,
    curvature: Vec<Vec<f64>>,
}

impl Sums {
    fn new(n: usize) -> Self {
        Self { gradient: vec![0.0; n], curvature: vec![vec![0.0; n]; n] }
    }

    /// Adds a row with the log-odds that it has so far.
    fn add(&mut self, row: &[f64], label: bool, log_odds: f64) {
        let probability = logistic(log_odds);
        let error = probability - f64::from(u8::from(label));
        let bend = (probability * (1.0 - probability)).max(MIN_CURVATURE);
        for (i, x) in row.iter().enumerate() {
            self.gradient[i] += error * x;
            for (cell, y) in self.curvature[i][..=i].iter_mut().zip(row) {
                *cell += bend * x * y;
            }
        }
    }

    /// Adds the penalty of a weight.
    fn shrink(&mut self, at: usize, weight: f64, l2: f64) {
        self.gradient[at] += l2 * weight;
        self.curvature[at][at] += l2;
    }
}

/// Solves `matrix · x = right` by Cholesky decomposition; reads the lower half of the symmetric matrix.
fn solve(mut matrix: Vec<Vec<f64>>, mut right: Vec<f64>) -> Vec<f64> {
    let n = right.len();
    for i in 0..n {
        for j in 0..=i {
            let known: f64 = (0..j).map(|k| matrix[i][k] * matrix[j][k]).sum();
            let left = matrix[i][j] - known;
            matrix[i][j] = if i == j { left.max(MIN_CURVATURE).sqrt() } else { left / matrix[j][j] };
        }
    }
    for i in 0..n {
        let known: f64 = (0..i).map(|k| matrix[i][k] * right[k]).sum();
        right[i] = (right[i] - known) / matrix[i][i];
    }
    for i in (0..n).rev() {
        let known: f64 = (i + 1..n).map(|k| matrix[k][i] * right[k]).sum();
        right[i] = (right[i] - known) / matrix[i][i];
    }
    right
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn two_groups_get_the_log_odds_of_their_shares() {
        // One in four rows with 0 is true, and three in four with 1; there is nearly no regularisation.
        let rows: Vec<&[f64]> = [[0.0].as_slice(); 4].into_iter().chain([[1.0].as_slice(); 4]).collect();
        let labels = [true, false, false, false, true, true, true, false];
        let linear = fit(&rows, &labels, 1e-12);
        assert!((linear.bias - (1.0_f64 / 3.0).ln()).abs() < 1e-6, "{linear:?}");
        assert!((linear.weights[0] - 9.0_f64.ln()).abs() < 1e-6, "{linear:?}");
    }

    #[test]
    fn regularisation_shrinks_weights_and_a_constant_feature_has_none() {
        let rows: Vec<Vec<f64>> = (0..40).map(|n| vec![f64::from(n % 2), 7.0]).collect();
        let rows: Vec<&[f64]> = rows.iter().map(Vec::as_slice).collect();
        let labels: Vec<bool> = (0..40).map(|n| n % 2 == 1).collect();
        let (loose, tight) = (fit(&rows, &labels, 0.1), fit(&rows, &labels, 10.0));
        assert!(loose.weights[0] > tight.weights[0] && tight.weights[0] > 0.0, "{loose:?} {tight:?}");
        assert!(loose.weights[1].abs() < 1e-12, "{loose:?}");
    }

    #[test]
    fn weights_that_are_added_have_the_sign_that_is_asked_for() {
        // The known log-odds are 0; the first feature raises the share of true rows from a half to three quarters, and the
        // second is the same.
        let rows: Vec<Vec<f64>> = (0..80).map(|n| vec![f64::from(n / 40), f64::from(n / 40)]).collect();
        let labels: Vec<bool> = (0..80).map(|n| if n < 40 { n % 2 == 0 } else { n % 4 > 0 }).collect();
        let known = vec![0.0; 80];
        let weights = fit_signed(&rows, &labels, &known, &[false, true], 1e-9);
        assert!((weights[0] - 3.0_f64.ln()).abs() < 1e-3 && weights[1].abs() < 1e-12, "{weights:?}");
        let weights = fit_signed(&rows, &labels, &known, &[true, true], 1e-9);
        assert!(weights.iter().all(|weight| weight.abs() < 1e-12), "{weights:?}");
        // What is known already needs no weight.
        let known: Vec<f64> = (0..80).map(|n| if n < 40 { 0.0 } else { 3.0_f64.ln() }).collect();
        let weights = fit_signed(&rows, &labels, &known, &[false, false], 1.0);
        assert!(weights.iter().all(|weight| weight.abs() < 1e-6), "{weights:?}");
    }

    proptest! {
        #[test]
        fn the_errors_of_a_fit_sum_to_zero(
            rows in prop::collection::vec((prop::collection::vec(-3.0_f64..3.0, 3), any::<bool>()), 8..60)
        ) {
            let (features, labels): (Vec<Vec<f64>>, Vec<bool>) = rows.into_iter().unzip();
            let slices: Vec<&[f64]> = features.iter().map(Vec::as_slice).collect();
            let fitted = fit(&slices, &labels, 1.0);
            // The bias is not regularised, so the errors sum to 0.
            let errors: f64 = slices.iter().zip(&labels)
                .map(|(row, &label)| logistic(fitted.log_odds(row)) - f64::from(u8::from(label))).sum();
            prop_assert!(errors.abs() < 1e-6, "{}", errors);
        }
    }
}
