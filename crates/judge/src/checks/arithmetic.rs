//! Whether a number of the answer follows from numbers of the sources: equal, rounded, counted, converted or computed.
//!
//! Deliberately generous: a wrong suspicion costs a reader's time, and computed values are for a judge to verify.

use super::numbers::Number;
use super::sources::Sources;

/// Most numbers of the sources that are combined in pairs; with more, nearly every small number is a result by chance.
const MAX_OPERANDS: usize = 24;
/// Most dates or times whose distances are computed.
const MAX_DISTANCES: usize = 24;
/// Whole numbers below are not compared with rounded results.
const MIN_ROUNDED: f64 = 10.0;
/// Factors between common units: percent, time, metric prefixes, dozens, pounds, miles, inches, feet.
const FACTORS: [f64; 12] =
    [100.0, 60.0, 3600.0, 24.0, 7.0, 12.0, 1000.0, 1e6, 2.204_622_6, 1.609_344, 2.54, 3.280_84];

/// Returns whether a number has a source. `is_hedged`: a word such as "about" is before it.
pub(super) fn is_grounded(number: &Number, is_hedged: bool, sources: &Sources) -> bool {
    let is_plain = !number.is_percent && !number.is_amount;
    let near = |source: f64| is_near(number, is_hedged, source);
    let near_result = |result: f64| is_near_result(number, is_hedged, result);
    sources.numbers.iter().chain(&sources.sums).any(|source| near(*source))
        || (is_plain && (is_count(number.value, sources) || is_part_of_a_date(number.value, sources)))
        || sources.numbers.iter().any(|source| conversions(*source).into_iter().any(near_result))
        || distances(sources).into_iter().any(near_result)
        || is_computed(number, is_hedged, sources)
}

/// Returns whether a number is a source's value, its absolute value, or either rounded to the written digits.
fn is_near(number: &Number, is_hedged: bool, source: f64) -> bool {
    let (value, source) = (number.value.abs(), source.abs());
    if (value - source).abs() <= 1e-9 * source.max(1.0) {
        return true;
    }
    let is_rounded = source.fract() != 0.0 || number.resolution > 1.0;
    let step = if is_hedged { last_digit(value).max(number.resolution) } else { number.resolution };
    // Cut digits count as rounded.
    (is_rounded || is_hedged) && (value - source).abs() < step * (1.0 + 1e-9)
}

/// Returns whether a number is the result of an operation. A small whole number is near some result by chance, so it must be equal.
fn is_near_result(number: &Number, is_hedged: bool, result: f64) -> bool {
    let is_small = number.resolution >= 1.0 && number.value < MIN_ROUNDED;
    is_near(number, is_hedged, result) && (!is_small || (number.value - result.abs()).abs() < 1e-9)
}

/// Returns the value of the last digit that is not zero: 100 of 1,200.
fn last_digit(value: f64) -> f64 {
    let mut step = 1.0;
    while value != 0.0 && value % (step * 10.0) == 0.0 && step < value {
        step *= 10.0;
    }
    step
}

/// Returns whether a number can count the items of a list, or those of its items that have something in common.
#[allow(clippy::cast_precision_loss)] // A count of items.
fn is_count(value: f64, sources: &Sources) -> bool {
    let most = sources.counts.last().copied().unwrap_or(0);
    value.fract() == 0.0 && value >= 0.0 && value <= most as f64
}

fn is_part_of_a_date(value: f64, sources: &Sources) -> bool {
    let is = |part: u32| (f64::from(part) - value).abs() < f64::EPSILON;
    let in_dates = sources
        .dates
        .iter()
        .any(|date| date.year.is_some_and(is) || date.day.is_some_and(is) || is(date.month));
    in_dates || sources.times.iter().any(|minutes| is(minutes / 60) || is(minutes % 60))
}

fn conversions(source: f64) -> impl IntoIterator<Item = f64> {
    let temperatures = [source * 1.8 + 32.0, (source - 32.0) / 1.8, source - 273.15, source + 273.15];
    let factors = FACTORS.into_iter().flat_map(move |factor| [source * factor, source / factor]);
    factors.chain(temperatures).chain([100.0 - source])
}

/// Returns days between dates, and hours and minutes between times.
#[allow(clippy::cast_precision_loss)] // Days of a calendar.
fn distances(sources: &Sources) -> Vec<f64> {
    let days: Vec<i64> =
        sources.dates.iter().take(MAX_DISTANCES).filter_map(|date| date.day_number()).collect();
    let times: Vec<u32> = sources.times.iter().take(MAX_DISTANCES).copied().collect();
    let days = days.iter().flat_map(|one| days.iter().map(move |other| (one - other).unsigned_abs() as f64));
    // Both ends of a stay count in some answers.
    let days: Vec<f64> = days.flat_map(|days| [days, days + 1.0, days / 7.0]).collect();
    let minutes = times.iter().flat_map(|one| times.iter().map(move |other| f64::from(one.abs_diff(*other))));
    days.into_iter()
        .chain(minutes.flat_map(|minutes| [minutes, minutes / 60.0]))
        .filter(|value| *value > 0.0)
        .collect()
}

/// Returns whether a number is a sum, difference, product, quotient or change in percent of two numbers.
fn is_computed(number: &Number, is_hedged: bool, sources: &Sources) -> bool {
    if sources.numbers.len() > MAX_OPERANDS {
        return false;
    }
    let pairs =
        sources.numbers.iter().flat_map(|one| sources.numbers.iter().map(move |other| (*one, *other)));
    pairs.filter(|(_, other)| *other != 0.0).any(|(one, other)| {
        let ratio = one / other;
        [
            one + other,
            one - other,
            one * other,
            ratio,
            ratio * 100.0,
            (ratio - 1.0) * 100.0,
            f64::midpoint(one, other),
            one * other / 100.0,
        ]
        .into_iter()
        .any(|result| is_near_result(number, is_hedged, result))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::numbers;

    fn number(text: &str) -> Number {
        numbers::number(&text.chars().collect::<Vec<_>>(), 0).unwrap().0
    }

    #[test]
    fn rounded_cut_and_hedged_values_are_near() {
        for (text, is_hedged, source, expected) in [
            ("12.3", false, 12.345, true),
            ("12", false, 12.345, true),
            ("12.34", false, 12.349, true),
            ("13.3", false, 12.345, false),
            ("1,200", true, 1234.0, true),
            ("1,200", false, 1234.0, false),
            ("1.2 million", false, 1_234_567.0, true),
            ("3.2", false, -3.2, true),
            ("13", false, 12.0, false),
        ] {
            assert_eq!(is_near(&number(text), is_hedged, source), expected, "{text} of {source}");
        }
    }

    #[test]
    fn counts_conversions_and_results_are_grounded() {
        let sources = Sources { numbers: vec![0.0, 20.0, 35.0], counts: [4].into(), ..Sources::default() };
        for (text, expected) in
            [("3", true), ("4", true), ("55", true), ("95", true), ("68", true), ("6", false), ("731", false)]
        {
            assert_eq!(is_grounded(&number(text), false, &sources), expected, "{text}");
        }
    }
}
