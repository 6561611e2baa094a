//! Counts by day, on a scale of time: a day without an entry is a gap, and is marked as one.
//!
//! Long times have bins of 7 days, of 28 days or of years, which start on Mondays. A day of 0 is not a gap: it was counted.

use std::collections::BTreeMap;

use maud::{Markup, html};

use callsieve_text::figures::{count, counted};

use super::drawing::{Drawing, Plot, mark, rectangle};
use super::scale::{largest, place, real, ticks};
use super::{Figure, Unit, WIDTH, figure};
use crate::table::{self, NamedColumn};

const HEIGHT: f64 = 120.0;
/// The most bins of days, and of longer times.
const MAX_DAYS: i64 = 120;
const MAX_BINS: i64 = 208;
/// The first Monday after the start of the epoch.
const MONDAY: i64 = 4;

/// Returns the counts of `things` by day; a day is its number since 1 January 1970.
pub fn days(of: &Figure<'_>, things: &str, counts: &BTreeMap<i32, u64>) -> Markup {
    let bins = Bins::of(counts);
    let most = largest(bins.bins.iter().map(|bin| real(bin.count.unwrap_or(0))));
    let ticks = ticks(0.0, most, 3.0, Unit::Count);
    let plot = Plot::new(0.0, HEIGHT, &ticks, Unit::Count);
    let up = plot.vertical(0.0, ticks.last().copied().unwrap_or(1.0));
    let slot = (plot.right - plot.left) / place(bins.bins.len().max(1));
    let slot = slot.min(24.0);
    let at = |index: usize| plot.left + slot * place(index);
    let gap = (slot * 0.15).min(3.0);
    let runs = bins.runs();
    let labels: Vec<_> =
        (0..).zip(&bins.bins).map(|(index, bin)| (at(index) + slot / 2.0, date(bin.from).into())).collect();
    let marks = html! {
        (plot.vertical_axis(&up, &ticks, Unit::Count))
        @for run in &runs {
            @match run {
                Run::Gap { first, bins: n, from, to } => {
                    @let path = rectangle(at(*first), plot.bottom - 5.0, slot * place(*n), 5.0);
                    (mark("gap", &path, &format!("no data: {}", span(*from, *to))))
                }
                Run::Bin { index, bin, count: n } => {
                    @if *n > 0 {
                        @let y = up.at(real(*n)).min(plot.bottom - 1.0);
                        @let hover = format!("{}: {}", span(bin.from, bin.to), count(*n));
                        (mark("f1", &rectangle(at(*index) + gap / 2.0, y, slot - gap, plot.bottom - y), &hover))
                    }
                }
            }
        }
        (plot.labels(&labels))
    };
    let rows = runs.iter().map(|run| match run {
        Run::Gap { from, to, .. } => vec![html! { (span(*from, *to)) }, html! { "no data" }],
        Run::Bin { bin, count: n, .. } => vec![html! { (span(bin.from, bin.to)) }, html! { (count(*n)) }],
    });
    let table = table::behind(&[NamedColumn::text(bins.name()), NamedColumn::number(things)], rows);
    debug_assert!(plot.right <= WIDTH);
    figure(of, &bins.summary(things, counts), &[Drawing::new(plot.bottom + 22.0, marks)], &table)
}

/// The bins from the first day to the last.
struct Bins {
    days: i64,
    bins: Vec<Bin>,
}

#[derive(Clone, Copy)]
struct Bin {
    from: i64,
    to: i64,
    /// The sum of its days; `None` if none of them is known.
    count: Option<u64>,
}

/// A bin with a count, or neighbouring ones without.
enum Run {
    Gap { first: usize, bins: usize, from: i64, to: i64 },
    Bin { index: usize, bin: Bin, count: u64 },
}

impl Bins {
    fn of(counts: &BTreeMap<i32, u64>) -> Self {
        let (Some(first), Some(last)) = (counts.keys().next(), counts.keys().next_back()) else {
            return Self { days: 1, bins: Vec::new() };
        };
        let (first, last) = (i64::from(*first), i64::from(*last));
        let bins_of = |days: i64| (last - start(first, days)) / days + 1;
        let days = if bins_of(1) <= MAX_DAYS {
            1
        } else {
            [7, 28, 364]
                .into_iter()
                .find(|days| bins_of(*days) <= MAX_BINS)
                .unwrap_or(364 * ((last - first) / 364 / MAX_BINS + 1))
        };
        let begin = start(first, days);
        let mut bins: Vec<Bin> = (0..bins_of(days))
            .map(|at| begin + at * days)
            .map(|from| Bin { from, to: from + days - 1, count: None })
            .collect();
        for (day, n) in counts {
            let index =
                usize::try_from((i64::from(*day) - begin) / days).expect("no day is before the first");
            let sum = &mut bins[index].count;
            *sum = Some(sum.unwrap_or(0).saturating_add(*n));
        }
        Self { days, bins }
    }

    fn runs(&self) -> Vec<Run> {
        let mut runs = Vec::new();
        for (index, bin) in self.bins.iter().enumerate() {
            match (bin.count, runs.last_mut()) {
                (Some(count), _) => runs.push(Run::Bin { index, bin: *bin, count }),
                (None, Some(Run::Gap { bins, to, .. })) => (*bins, *to) = (*bins + 1, bin.to),
                (None, _) => runs.push(Run::Gap { first: index, bins: 1, from: bin.from, to: bin.to }),
            }
        }
        runs
    }

    fn name(&self) -> &'static str {
        match self.days {
            1 => "day",
            7 => "week",
            28 => "4 weeks",
            _ => "52 weeks or more",
        }
    }

    fn summary(&self, things: &str, counts: &BTreeMap<i32, u64>) -> String {
        let (Some(first), Some(last)) = (counts.keys().next(), counts.keys().next_back()) else {
            return "No days.".to_owned();
        };
        let sum = counts.values().fold(0_u64, |sum, n| sum.saturating_add(*n));
        let days = u64::from(last.abs_diff(*first)) + 1;
        let gaps = days - counts.len() as u64;
        format!(
            "{} {things} from {}; {} without data. One column is one {}.",
            count(sum),
            span(i64::from(*first), i64::from(*last)),
            counted(gaps, "day", "days"),
            if self.days == 1 { "day".to_owned() } else { format!("span of {} days", self.days) }
        )
    }
}

/// Returns the first day of the bin of a day.
fn start(day: i64, days: i64) -> i64 {
    if days == 1 { day } else { (day - MONDAY).div_euclid(days) * days + MONDAY }
}

fn span(from: i64, to: i64) -> String {
    if from == to { date(from) } else { format!("{} to {}", date(from), date(to)) }
}

/// Returns the date of a day as `2026-03-31`.
fn date(day: i64) -> String {
    // 400 years have the same number of days, so only days within them need the rules of leap years.
    const ERA: i64 = 146_097;
    let is_leap = |year: i64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    // 1 January 1970 is day 135,140 of the era that begins on 1 January 1600.
    let shifted = day + 135_140;
    let mut year = 1600 + 400 * shifted.div_euclid(ERA);
    let mut left = shifted.rem_euclid(ERA);
    let length = |year: i64| if is_leap(year) { 366 } else { 365 };
    while left >= length(year) {
        left -= length(year);
        year += 1;
    }
    let february = if is_leap(year) { 29 } else { 28 };
    let mut month = 1;
    for days in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if left < days {
            break;
        }
        left -= days;
        month += 1;
    }
    format!("{year:04}-{month:02}-{:02}", left + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIGURE: Figure<'_> = Figure { id: "d", title: "Requests by day", description: "" };

    fn drawn(counts: &[(i32, u64)]) -> String {
        days(&FIGURE, "requests", &counts.iter().copied().collect()).into_string()
    }

    #[test]
    fn days_have_their_dates() {
        assert_eq!(
            [0, 59, 789, 11_016, 20_543, -1, 47_540].map(date),
            [
                "1970-01-01",
                "1970-03-01",
                "1972-02-29",
                "2000-02-29",
                "2026-03-31",
                "1969-12-31",
                "2100-02-28"
            ]
        );
        assert_eq!(date(47_541), "2100-03-01");
    }

    #[test]
    fn a_day_without_an_entry_is_a_gap_and_a_day_of_0_is_not() {
        let page = drawn(&[(0, 5), (1, 0), (4, 7)]);
        assert!(page.contains("<title>no data: 1970-01-03 to 1970-01-04</title>"), "{page}");
        assert!(page.contains("<td>1970-01-02</td><td class=\"n\">0</td>"), "{page}");
        assert_eq!(
            (page.matches("class=\"gap\"").count(), page.matches("class=\"f1\"").count()),
            (1, 2),
            "{page}"
        );
        assert!(page.contains("12 requests from 1970-01-01 to 1970-01-05; 2 days without data."), "{page}");
    }

    #[test]
    fn long_times_have_bins_that_start_on_mondays() {
        let of = |last: i32| Bins::of(&BTreeMap::from([(0, 1), (last, 1)]));
        assert_eq!([119, 120, 2_000, 20_000].map(|last| of(last).days), [1, 7, 28, 364]);
        assert_eq!(date(of(120).bins[0].from), "1969-12-29");
        for last in [0, 119, 120, 2_000, 20_000, i32::MAX] {
            assert!(of(last).bins.len() <= 209, "{last}");
        }
        let all = Bins::of(&BTreeMap::from([(i32::MIN, 1), (i32::MAX, 1)]));
        assert!(all.bins.len() <= 209, "{}", all.bins.len());
    }

    #[test]
    fn no_days_are_drawn() {
        assert!(drawn(&[]).contains("No days."));
    }
}
