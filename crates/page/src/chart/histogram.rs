//! Counts of bins as columns, next to those of another dataset.
//!
//! With another dataset the columns are shares, because the two have different sizes. For names of categories see
//! [`super::bars`], which has room for them.

use maud::{Markup, html};

use callsieve_text::figures::{count, counted, share_of};

use super::drawing::{Drawing, Plot, fitted, legend, mark, n, one_line, rectangle, text, width_of};
use super::scale::{largest, percent, place, real, ticks};
use super::{Figure, Unit, WIDTH, figure};
use crate::table::{self, NamedColumn};

const HEIGHT: f64 = 150.0;

/// Counts of bins.
#[derive(Debug, Clone, Copy)]
pub struct Histogram<'a> {
    /// What is counted, such as entries.
    pub things: &'a str,
    /// What the labels of bins are, such as functions.
    pub bins_name: &'a str,
    /// The bins, with their counts.
    pub bins: &'a [(&'a str, u64)],
    /// The same bins of another dataset.
    pub reference: Option<Reference<'a>>,
}

/// What another dataset has in the same bins.
#[derive(Debug, Clone, Copy)]
pub struct Reference<'a> {
    /// The name of the dataset.
    pub name: &'a str,
    /// Its counts; bins without one have 0.
    pub counts: &'a [u64],
}

/// Returns the histogram.
pub fn histogram(of: &Figure<'_>, chart: &Histogram<'_>) -> Markup {
    let own: u64 = chart.bins.iter().fold(0, |sum, (_, n)| sum.saturating_add(*n));
    let other = |at: usize| chart.reference.map(|it| it.counts.get(at).copied().unwrap_or(0));
    let other_sum =
        chart.reference.map_or(0, |it| it.counts.iter().fold(0_u64, |sum, n| sum.saturating_add(*n)));
    let unit = if chart.reference.is_some() { Unit::Percent } else { Unit::Count };
    let height = |n: u64, sum: u64| if unit == Unit::Percent { percent(n, sum) } else { real(n) };
    let heights: Vec<(f64, Option<f64>)> = (0..)
        .zip(chart.bins)
        .map(|(at, (_, n))| (height(*n, own), other(at).map(|n| height(n, other_sum))))
        .collect();
    let ticks = ticks(0.0, largest(heights.iter().flat_map(|(a, b)| [*a, b.unwrap_or(0.0)])), 4.0, unit);
    let keys =
        chart.reference.map(|it| [("f1".to_owned(), false, chart.things), ("ref".to_owned(), true, it.name)]);
    let (keys, top) = legend(keys.as_ref().map_or(&[], |keys| &keys[..]));
    let plot = Plot::new(top, HEIGHT, &ticks, unit);
    let scale = plot.vertical(0.0, ticks.last().copied().unwrap_or(1.0));
    let slot = (plot.right - plot.left) / place(chart.bins.len().max(1));
    let gap = (slot * 0.16).min(6.0);
    let left = |at: usize| plot.left + slot * place(at);
    let shown = |n: u64, sum: u64| match unit {
        Unit::Count => count(n),
        _ => format!("{} ({})", count(n), share_of(n, sum)),
    };
    // Numbers above columns: only if there is room for all of them.
    let is_numbered =
        unit == Unit::Count && chart.bins.iter().all(|(_, n)| width_of(&count(*n)) < slot - 2.0);
    let labels: Vec<_> =
        (0..).zip(chart.bins).map(|(at, (label, _))| (left(at) + slot / 2.0, one_line(label))).collect();
    let marks = html! {
        (keys)
        (plot.vertical_axis(&scale, &ticks, unit))
        @for (at, (label, number)) in chart.bins.iter().enumerate() {
            @let (own_height, other_height) = heights[at];
            @let y = scale.at(own_height);
            @let hover = format!("{}: {}", one_line(label), shown(*number, own));
            @if *number > 0 {
                (mark("f1", &rectangle(left(at) + gap / 2.0, y.min(plot.bottom - 1.0), slot - gap, (plot.bottom - y).max(1.0)), &hover))
            }
            @if is_numbered { (text(Some("m"), left(at) + slot / 2.0, y - 3.0, &count(*number))) }
            @if let (Some(height), Some(reference)) = (other_height, chart.reference) {
                @let hover = format!("{}, {}: {}", one_line(reference.name), one_line(label), shown(other(at).unwrap_or(0), other_sum));
                (mark("ref", &format!("M{} {}h{}", n(left(at)), n(scale.at(height)), n(slot)), &hover))
            }
        }
        (plot.labels(&labels))
        (text(Some("m q"), f64::midpoint(plot.left, plot.right), plot.bottom + 32.0, &fitted(chart.bins_name, WIDTH - plot.left)))
    };
    let mut columns = vec![NamedColumn::text(chart.bins_name), NamedColumn::number(chart.things)];
    columns.extend(chart.reference.map(|it| NamedColumn::number(it.name)));
    let rows = chart.bins.iter().enumerate().map(|(at, (label, n))| {
        let mut cells = vec![html! { (one_line(label)) }, html! { (shown(*n, own)) }];
        cells.extend(other(at).map(|n| html! { (shown(n, other_sum)) }));
        cells
    });
    figure(
        of,
        &summary(chart, own),
        &[Drawing::new(plot.bottom + 38.0, marks)],
        &table::behind(&columns, rows),
    )
}

fn summary(chart: &Histogram<'_>, sum: u64) -> String {
    let most = chart.bins.iter().reduce(|most, bin| if bin.1 > most.1 { bin } else { most });
    let most =
        most.map(|(label, n)| format!(" The largest bin is {}, {}.", one_line(label), share_of(*n, sum)));
    let than = chart.reference.map(|it| format!(" Compared with {}.", one_line(it.name)));
    format!(
        "{} {} in {}.{}{}",
        count(sum),
        chart.things,
        counted(chart.bins.len() as u64, "bin", "bins"),
        most.unwrap_or_default(),
        than.unwrap_or_default()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIGURE: Figure<'_> = Figure { id: "h", title: "Functions per entry", description: "" };

    fn drawn(bins: &[(&str, u64)], reference: Option<Reference<'_>>) -> String {
        histogram(&FIGURE, &Histogram { things: "entries", bins_name: "functions", bins, reference })
            .into_string()
    }

    #[test]
    fn columns_are_counts_and_with_another_dataset_shares() {
        let bins = [("1", 30), ("2", 10)];
        let page = drawn(&bins, None);
        assert!(page.contains("<title>1: 30</title>") && page.contains("<td class=\"n\">30</td>"), "{page}");
        let page = drawn(&bins, Some(Reference { name: "BFCL", counts: &[100] }));
        assert!(page.contains("<title>1: 30 (75.0 %)</title>"), "{page}");
        assert!(page.contains("<title>BFCL, 1: 100 (100.0 %)</title>"), "{page}");
        assert!(page.contains("<td class=\"n\">0 (0.0 %)</td>"), "{page}");
    }

    #[test]
    fn a_count_of_0_has_a_number_and_no_column() {
        let page = drawn(&[("1", 0), ("2", 5)], None);
        assert_eq!(page.matches("class=\"f1\"").count(), 1, "{page}");
        assert!(page.contains(">0</text>"), "{page}");
    }

    #[test]
    fn twelve_bins_are_at_most_4_kilobytes() {
        let labels: Vec<String> = (1..=12).map(|n| n.to_string()).collect();
        let bins: Vec<(&str, u64)> =
            labels.iter().zip(1_000..).map(|(label, n)| (label.as_str(), n)).collect();
        let size = drawn(&bins, None).len();
        assert!(size <= 4 * 1024, "{size}");
    }
}
