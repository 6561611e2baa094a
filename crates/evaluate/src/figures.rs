//! Figures of the verdicts on one system: counts by category, intervals, error types, usage.

use std::collections::BTreeMap;

use serde::Serialize;

use super::Row;
use super::dataset::Dataset;
use super::score::ABORT;
pub use callsieve_text::figures::wilson;

/// The figures of one category.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CategoryFigures {
    /// The name.
    pub category: String,
    /// Scored outputs.
    pub n: usize,
    /// Correct outputs.
    pub correct: usize,
    /// Share of correct outputs.
    pub accuracy: f64,
    /// The Wilson 95 % interval of the share.
    pub interval: (f64, f64),
    /// Entries without an output.
    pub missing: usize,
    /// Wrong outputs where only `.` and `_` in the names of functions differ.
    pub only_dots_differ: usize,
    /// Correct abstentions whose text looks like a call.
    pub unparsed_calls: usize,
    /// Correct abstentions whose text is the error of a failed request.
    pub error_texts: usize,
    /// Outputs at which the official evaluator would stop.
    pub aborts: usize,
    /// Wrong outputs by error type.
    pub errors: Vec<ErrorCount>,
}

/// The number of wrong outputs of one type.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ErrorCount {
    /// The error type.
    pub error_type: String,
    /// Outputs.
    pub n: usize,
    /// The id of the first one.
    pub example: String,
    /// Its message.
    pub message: String,
}

/// Mean, standard deviation and 95th percentile of a quantity, and its sum.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spread {
    /// Outputs with a value that is not zero.
    pub n: usize,
    /// The mean.
    pub mean: f64,
    /// The standard deviation of a sample.
    pub sd: f64,
    /// The 95th percentile, interpolated.
    pub p95: f64,
    /// The sum.
    pub sum: f64,
}

/// Returns a count as a float; counts are far below 2^52.
#[allow(clippy::cast_precision_loss)]
pub(super) fn float(n: usize) -> f64 {
    n as f64
}

/// Returns the figures of the categories that have outputs.
pub(super) fn by_category(dataset: &Dataset, rows: &[Row<'_>], partial: &[usize]) -> Vec<CategoryFigures> {
    let mut figures = Vec::new();
    for (at, category) in dataset.categories.iter().enumerate() {
        let of: Vec<&Row<'_>> = rows.iter().filter(|row| row.scored.place.0 == at).collect();
        if of.is_empty() {
            continue;
        }
        let number = |is: fn(&Row<'_>) -> bool| of.iter().filter(|row| is(row)).count();
        let correct = number(|row| row.scored.valid);
        figures.push(CategoryFigures {
            category: category.name.clone(),
            n: of.len(),
            correct,
            accuracy: float(correct) / float(of.len()),
            interval: wilson(correct, of.len()),
            missing: partial.get(at).copied().unwrap_or_default(),
            only_dots_differ: number(|row| row.scored.only_dots_differ),
            unparsed_calls: number(|row| row.scored.is_unparsed_call),
            error_texts: number(|row| row.scored.is_error_text),
            aborts: number(|row| row.scored.error_type.as_deref() == Some(ABORT)),
            errors: errors(&of),
        });
    }
    figures
}

fn errors(rows: &[&Row<'_>]) -> Vec<ErrorCount> {
    let mut by_type: BTreeMap<&str, ErrorCount> = BTreeMap::new();
    for row in rows {
        let Some(error_type) = row.scored.error_type.as_deref() else { continue };
        let message = row.scored.error.first().map(|error| match error.as_str() {
            Some(text) => text.to_owned(),
            None => error.to_string(),
        });
        let count = by_type.entry(error_type).or_insert_with(|| ErrorCount {
            error_type: error_type.to_owned(),
            n: 0,
            example: row.result.id.clone(),
            message: message.unwrap_or_default(),
        });
        count.n += 1;
    }
    let mut counts: Vec<ErrorCount> = by_type.into_values().collect();
    counts.sort_by_key(|count| std::cmp::Reverse(count.n));
    counts
}

/// Returns the spread of the values that are not zero, as the official evaluator counts them.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
pub fn spread(values: impl Iterator<Item = f64>) -> Option<Spread> {
    let mut values: Vec<f64> = values.filter(|value| *value != 0.0 && value.is_finite()).collect();
    values.sort_by(f64::total_cmp);
    let n = float(values.len());
    let (first, last) = (*values.first()?, *values.last()?);
    let sum: f64 = values.iter().sum();
    let mean = sum / n;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let sd = if values.len() > 1 { (squares / (n - 1.0)).sqrt() } else { 0.0 };
    let at = 0.95 * (n - 1.0);
    let below = values.get(at.floor() as usize).copied().unwrap_or(first);
    let above = values.get(at.ceil() as usize).copied().unwrap_or(last);
    Some(Spread { n: values.len(), mean, sd, p95: below + (above - below) * at.fract(), sum })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_those_of_wilson() {
        // Reference: statsmodels.stats.proportion.proportion_confint(8, 10, method="wilson").
        let (low, high) = wilson(8, 10);
        assert!((low - 0.490_162).abs() < 1e-5 && (high - 0.943_318).abs() < 1e-5, "{low} {high}");
        assert!(wilson(10, 10).1 > 0.999_999);
    }

    #[test]
    fn the_percentile_is_interpolated() {
        let spread = spread([1.0, 2.0, 3.0, 0.0].into_iter()).unwrap();
        assert_eq!(spread.n, 3);
        assert!((spread.p95 - 2.9).abs() < 1e-9 && (spread.sd - 1.0).abs() < 1e-9);
    }
}
