//! One divided bar for each row, such as the tiers of each category.

use maud::{Markup, html};

use callsieve_text::figures::{count, counted, share_of};

use super::drawing::{Drawing, Key, fitted, legend, mark, one_line, rectangle, text, width_of};
use super::scale::{largest, real};
use super::{Figure, Row, WIDTH, class_of, figure};
use crate::table::{self, NamedColumn};

const BAR: f64 = 12.0;
/// Space between parts, which keeps neighbours apart without their colours.
const GAP: f64 = 1.5;

/// Divided bars.
#[derive(Debug, Clone, Copy)]
pub struct Stacked<'a> {
    /// What the labels of rows are, such as categories.
    pub labels_name: &'a str,
    /// The names of the parts, in the order from left to right; see [`super::MAX_SERIES`].
    pub parts: &'a [&'a str],
    /// The rows, from top to bottom, with a count for each part.
    pub rows: &'a [Row<'a>],
    /// Whether all bars have the same length, so that parts are shares of their row.
    pub is_of_shares: bool,
}

/// Returns the bars.
pub fn stacked(of: &Figure<'_>, chart: &Stacked<'_>) -> Markup {
    let most = largest(chart.rows.iter().map(|row| real(sum(row))));
    let keys: Vec<Key<'_>> =
        (0..).zip(chart.parts).map(|(at, part)| (class_of('f', at), false, *part)).collect();
    let (keys, mut y) = legend(&keys);
    let mut rows = Vec::new();
    for row in chart.rows {
        let total = sum(row);
        let whole = if chart.is_of_shares { real(total) } else { most };
        let number = count(total);
        rows.push(html! {
            (text(None, 0.0, y + 12.0, &fitted(row.label, WIDTH - width_of(&number) - 8.0)))
            (text(Some("e"), WIDTH, y + 12.0, &number))
            (bar(chart, row, y + 17.0, if whole > 0.0 { WIDTH / whole } else { 0.0 }))
        });
        y += 17.0 + BAR + 8.0;
    }
    let mut columns = vec![NamedColumn::text(chart.labels_name)];
    columns.extend(chart.parts.iter().map(|part| NamedColumn::number(part)));
    let cells = chart.rows.iter().map(|row| {
        let counts = row.counts.iter().map(|n| html! { (count(*n)) });
        std::iter::once(html! { (one_line(row.label)) }).chain(counts).collect()
    });
    let marks = html! { (keys) @for row in rows { (row) } };
    figure(of, &summary(chart), &[Drawing::new(y.max(1.0), marks)], &table::behind(&columns, cells))
}

fn sum(row: &Row<'_>) -> u64 {
    row.counts.iter().fold(0, |sum, n| sum.saturating_add(*n))
}

/// Returns the parts of a bar; a row is `scale` units wide.
fn bar(chart: &Stacked<'_>, row: &Row<'_>, y: f64, scale: f64) -> Markup {
    let total = sum(row);
    let mut x = 0.0;
    let parts = chart.parts.iter().zip(&row.counts).enumerate().map(|(at, (part, n))| {
        let (left, width) = (x, real(*n) * scale);
        x += width;
        let hover =
            format!("{}, {}: {} ({})", one_line(row.label), one_line(part), count(*n), share_of(*n, total));
        let path = rectangle(left, y, (width - GAP).max(0.8), BAR);
        html! { @if *n > 0 { (mark(&class_of('f', at), &path, &hover)) } }
    });
    let parts: Vec<Markup> = parts.collect();
    html! { @for part in parts { (part) } }
}

fn summary(chart: &Stacked<'_>) -> String {
    let parts: Vec<_> = chart.parts.iter().map(|part| one_line(part)).collect();
    let width =
        if chart.is_of_shares { "All bars have the same length." } else { "Bars are as long as their sum." };
    format!("{} of {}. {width}", counted(chart.rows.len() as u64, "bar", "bars"), parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIGURE: Figure<'_> = Figure { id: "s", title: "Tiers", description: "" };

    fn drawn(is_of_shares: bool) -> String {
        let row = |label, counts: &[u64]| Row { label, counts: counts.to_vec() };
        let rows = [row("simple", &[30, 10]), row("multiple", &[0, 20]), row("parallel", &[0, 0])];
        let chart =
            Stacked { labels_name: "category", parts: &["gold", "silver"], rows: &rows, is_of_shares };
        stacked(&FIGURE, &chart).into_string()
    }

    #[test]
    fn a_bar_is_as_long_as_its_sum_or_has_the_whole_width() {
        assert!(drawn(false).contains("h268.5v12") && drawn(false).contains("h178.5v12"), "{}", drawn(false));
        assert!(drawn(true).contains("h268.5v12") && drawn(true).contains("h358.5v12"), "{}", drawn(true));
    }

    #[test]
    fn an_empty_part_is_not_drawn_and_is_in_the_table() {
        let page = drawn(true);
        assert_eq!(page.matches("<title>multiple, ").count(), 1, "{page}");
        assert!(page.contains("<td>multiple</td><td class=\"n\">0</td><td class=\"n\">20</td>"), "{page}");
        assert!(page.contains("<title>simple, gold: 30 (75.0 %)</title>"), "{page}");
    }
}
