//! Scales: from numbers to coordinates, and the numbers at an axis.

use super::Unit;

/// From numbers to coordinates, both in a range.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale {
    numbers: (f64, f64),
    coordinates: (f64, f64),
}

impl Scale {
    /// Returns the scale of two ranges; a range of one number is mapped to the first coordinate.
    pub(super) fn new(numbers: (f64, f64), coordinates: (f64, f64)) -> Self {
        Self { numbers, coordinates }
    }

    /// Returns the coordinate of a number; numbers outside the range get the nearest coordinate.
    pub(super) fn at(&self, number: f64) -> f64 {
        let (from, to) = self.numbers;
        let share = if to > from { ((number - from) / (to - from)).clamp(0.0, 1.0) } else { 0.0 };
        self.coordinates.0 + share * (self.coordinates.1 - self.coordinates.0)
    }
}

/// Returns round numbers that cover a range, in `steps` steps or a few more.
pub(super) fn ticks(from: f64, to: f64, steps: f64, unit: Unit) -> Vec<f64> {
    let width = if to > from { to - from } else { 1.0 };
    let rough = width / steps;
    let power = 10_f64.powf(rough.log10().floor());
    let step =
        [1.0, 2.0, 5.0, 10.0].map(|digit| digit * power).into_iter().find(|step| *step >= rough * 0.999);
    let mut step = step.unwrap_or(rough);
    if unit == Unit::Count {
        step = step.max(1.0);
    }
    let first = (from / step + 1e-9).floor();
    let last = (to.max(from + step) / step - 1e-9).ceil();
    let mut ticks = Vec::new();
    let mut at = first;
    while at <= last && ticks.len() < 100 {
        ticks.push(at * step);
        at += 1.0;
    }
    ticks
}

/// Returns the text of a tick: as short as the unit allows.
pub(super) fn tick_text(tick: f64, unit: Unit) -> String {
    match unit {
        Unit::Count => unit.text(tick),
        Unit::Percent => format!("{} %", trimmed(&format!("{tick:.1}"))),
        Unit::Number => trimmed(&format!("{tick:.3}")).to_owned(),
    }
}

/// Returns a decimal number without zeros at its end.
pub(super) fn trimmed(number: &str) -> &str {
    let short =
        if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number };
    if short == "-0" { "0" } else { short }
}

/// Returns a count as a number with a fraction.
#[allow(clippy::cast_precision_loss)] // Counts are far below 2^53.
pub(super) fn real(count: u64) -> f64 {
    count as f64
}

/// Returns a place in a list as a number with a fraction.
#[allow(clippy::cast_precision_loss)] // Lists are short.
pub(super) fn place(at: usize) -> f64 {
    at as f64
}

/// Returns the percentage that a part is of a whole; nothing of nothing is 0.
pub(super) fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { 100.0 * real(part) / real(whole) }
}

/// Returns the largest of these numbers, at least 0; numbers that are not finite do not count.
pub(super) fn largest(numbers: impl IntoIterator<Item = f64>) -> f64 {
    numbers.into_iter().filter(|number| number.is_finite()).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_numbers_that_cover_the_range() {
        assert_eq!(ticks(0.0, 100.0, 4.0, Unit::Percent), [0.0, 50.0, 100.0]);
        assert_eq!(ticks(0.0, 7.0, 4.0, Unit::Count), [0.0, 2.0, 4.0, 6.0, 8.0]);
        assert_eq!(ticks(0.0, 0.0, 4.0, Unit::Count), [0.0, 1.0]);
        assert_eq!(ticks(0.0, 1.0, 4.0, Unit::Count), [0.0, 1.0]);
        assert_eq!(ticks(0.0, 1e9, 4.0, Unit::Count), [0.0, 5e8, 1e9]);
        let texts =
            ticks(0.72, 0.98, 4.0, Unit::Number).into_iter().map(|tick| tick_text(tick, Unit::Number));
        assert_eq!(texts.collect::<Vec<_>>(), ["0.7", "0.8", "0.9", "1"]);
    }

    #[test]
    fn a_number_outside_the_range_is_at_its_end() {
        let scale = Scale::new((0.0, 10.0), (100.0, 0.0));
        assert_eq!(
            [-1.0, 0.0, 5.0, 11.0].map(|number| scale.at(number).to_string()),
            ["100", "100", "50", "0"]
        );
        assert!((Scale::new((1.0, 1.0), (3.0, 9.0)).at(1.0) - 3.0).abs() < 1e-9);
    }

    #[test]
    fn ticks_are_short() {
        assert_eq!(
            [(0.5, Unit::Number), (-0.0, Unit::Number), (50.0, Unit::Percent), (1e9, Unit::Count)]
                .map(|(tick, unit)| tick_text(tick, unit)),
            ["0.5", "0", "50 %", "1,000,000,000"]
        );
    }
}
