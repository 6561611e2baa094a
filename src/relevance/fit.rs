//! Logistic regression by Newton's method, with a penalty on large weights.
//!
//! Small and without dependencies: a few dozen features, some thousand rows. Sums run in
//! row order, so the same rows give the same bits.

/// Newton's method stops when no weight moves by more than this.
const TOLERANCE: f64 = 1e-9;
/// It converges in about ten steps; more mean that it will not.
const MAX_STEPS: usize = 50;
/// Keeps the matrix solvable where rows are told apart for sure.
const MIN_CURVATURE: f64 = 1e-9;

/// A weighted sum of features.
#[derive(Debug, Clone, PartialEq)]
pub struct Linear {
    /// What is there without any feature.
    pub bias: f64,
    /// One weight a feature.
    pub weights: Vec<f64>,
}

impl Linear {
    /// The weighted sum, a log-odds.
    pub fn log_odds(&self, features: &[f64]) -> f64 {
        self.bias + self.weights.iter().zip(features).map(|(weight, x)| weight * x).sum::<f64>()
    }
}

/// The probability of some log-odds.
pub fn logistic(log_odds: f64) -> f64 {
    1.0 / (1.0 + (-log_odds).exp())
}

/// Fits the weights under which the labels are most likely, less `penalty / 2` times the sum of squared weights.
///
/// The penalty counts weights of features scaled to a deviation of one; higher keeps weights smaller. A feature
/// that is the same in all rows gets the weight 0. No rows give no weights.
///
/// # Panics
/// Rows of different lengths, or not one label a row.
pub fn fit(rows: &[&[f64]], labels: &[bool], penalty: f64) -> Linear {
    assert_eq!(rows.len(), labels.len(), "one label a row");
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
        let step = newton_step(&scaled, labels, &weights, penalty);
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

/// Mean and standard deviation of a feature; a constant one has an endless deviation, and so no weight.
#[allow(clippy::cast_precision_loss)] // Counts of rows.
fn scale(rows: &[&[f64]], at: usize) -> (f64, f64) {
    let n_rows = rows.len() as f64;
    let mean = rows.iter().map(|row| row[at]).sum::<f64>() / n_rows;
    let variance = rows.iter().map(|row| (row[at] - mean).powi(2)).sum::<f64>() / n_rows;
    (mean, if variance > f64::EPSILON { variance.sqrt() } else { f64::INFINITY })
}

/// How far Newton's method moves each weight, the bias first.
fn newton_step(rows: &[Vec<f64>], labels: &[bool], weights: &[f64], penalty: f64) -> Vec<f64> {
    let n = weights.len();
    let mut gradient = vec![0.0; n];
    let mut curvature = vec![vec![0.0; n]; n];
    let mut padded = vec![1.0; n];
    for (row, &label) in rows.iter().zip(labels) {
        padded[1..].copy_from_slice(row);
        let log_odds: f64 = padded.iter().zip(weights).map(|(x, weight)| x * weight).sum();
        let probability = logistic(log_odds);
        let error = probability - f64::from(u8::from(label));
        let bend = (probability * (1.0 - probability)).max(MIN_CURVATURE);
        for (i, x) in padded.iter().enumerate() {
            gradient[i] += error * x;
            for (cell, y) in curvature[i][..=i].iter_mut().zip(&padded) {
                *cell += bend * x * y;
            }
        }
    }
    for at in 1..n {
        gradient[at] += penalty * weights[at];
        curvature[at][at] += penalty;
    }
    solve(curvature, gradient)
}

/// Solves `matrix · x = right` by Cholesky; the matrix is symmetric, its lower half is read.
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
        // Of those with 0 one in four is true, of those with 1 three in four; weights hardly held back.
        let rows: Vec<&[f64]> = [[0.0].as_slice(); 4].into_iter().chain([[1.0].as_slice(); 4]).collect();
        let labels = [true, false, false, false, true, true, true, false];
        let linear = fit(&rows, &labels, 1e-12);
        assert!((linear.bias - (1.0_f64 / 3.0).ln()).abs() < 1e-6, "{linear:?}");
        assert!((linear.weights[0] - 9.0_f64.ln()).abs() < 1e-6, "{linear:?}");
    }

    #[test]
    fn a_penalty_holds_weights_back_and_a_constant_feature_has_none() {
        let rows: Vec<Vec<f64>> = (0..40).map(|n| vec![f64::from(n % 2), 7.0]).collect();
        let rows: Vec<&[f64]> = rows.iter().map(Vec::as_slice).collect();
        let labels: Vec<bool> = (0..40).map(|n| n % 2 == 1).collect();
        let (loose, tight) = (fit(&rows, &labels, 0.1), fit(&rows, &labels, 10.0));
        assert!(loose.weights[0] > tight.weights[0] && tight.weights[0] > 0.0, "{loose:?} {tight:?}");
        assert!(loose.weights[1].abs() < 1e-12, "{loose:?}");
    }

    proptest! {
        #[test]
        fn at_the_fit_no_weight_can_move_for_the_better(
            rows in prop::collection::vec((prop::collection::vec(-3.0_f64..3.0, 3), any::<bool>()), 8..60)
        ) {
            let (features, labels): (Vec<Vec<f64>>, Vec<bool>) = rows.into_iter().unzip();
            let slices: Vec<&[f64]> = features.iter().map(Vec::as_slice).collect();
            let fitted = fit(&slices, &labels, 1.0);
            // The sum of the errors is 0 at the fit, for the bias has no penalty.
            let errors: f64 = slices.iter().zip(&labels)
                .map(|(row, &label)| logistic(fitted.log_odds(row)) - f64::from(u8::from(label))).sum();
            prop_assert!(errors.abs() < 1e-6, "{}", errors);
        }
    }
}
