//! Horizontal bars, each below its label and its number, with an optional second value.
//!
//! Labels have the width of the drawing, so reasons and names of tools fit.

use maud::{Markup, html};

use callsieve_text::figures::counted;

use super::drawing::{Drawing, Key, fitted, legend, linked, mark, one_line, rectangle, text, width_of};
use super::scale::largest;
use super::{Figure, Unit, WIDTH, figure};
use crate::table::{self, NamedColumn};

const BAR: f64 = 9.0;
const SECOND: f64 = 5.0;

/// Bars.
#[derive(Debug, Clone, Copy)]
pub struct Bars<'a> {
    /// What the labels are, such as reasons.
    pub labels_name: &'a str,
    /// What the values are, such as requests.
    pub values_name: &'a str,
    /// What the second values are, if there are any.
    pub second_name: Option<&'a str>,
    /// The unit of both values.
    pub unit: Unit,
    /// The bars, from top to bottom.
    pub bars: &'a [Bar<'a>],
}

/// A bar.
#[derive(Debug, Clone, Copy)]
pub struct Bar<'a> {
    /// Its label.
    pub label: &'a str,
    /// Its value, at least 0; NaN is an unknown value.
    pub value: f64,
    /// Its second value.
    pub second: Option<f64>,
    /// The target of a link, such as `#reasons`.
    pub link: Option<&'a str>,
}

/// Returns the bars.
pub fn bars(of: &Figure<'_>, chart: &Bars<'_>) -> Markup {
    let longest = match chart.unit {
        Unit::Percent => 100.0,
        _ => largest(chart.bars.iter().flat_map(|bar| [bar.value, bar.second.unwrap_or(0.0)])),
    };
    let length = |value: f64| {
        if longest > 0.0 && value > 0.0 { (value / longest * WIDTH).clamp(1.0, WIDTH) } else { 0.0 }
    };
    let keys: Vec<Key<'_>> = chart.second_name.map_or_else(Vec::new, |second| {
        vec![("f1".to_owned(), false, chart.values_name), ("f2".to_owned(), false, second)]
    });
    let (keys, mut y) = legend(&keys);
    let mut rows = Vec::new();
    for bar in chart.bars {
        let value = numbers(chart, bar);
        let label = fitted(bar.label, WIDTH - width_of(&value) - 8.0);
        let hover = |name: &str, value: f64| {
            format!("{}, {}: {}", one_line(bar.label), one_line(name), chart.unit.text(value))
        };
        rows.push(html! {
            (linked(bar.link, &text(None, 0.0, y + 12.0, &label)))
            (text(Some("e"), WIDTH, y + 12.0, &value))
            @if length(bar.value) > 0.0 { (mark("f1", &rectangle(0.0, y + 17.0, length(bar.value), BAR), &hover(chart.values_name, bar.value))) }
            @if let (Some(name), Some(second)) = (chart.second_name, bar.second) {
                @if length(second) > 0.0 { (mark("f2", &rectangle(0.0, y + 18.0 + BAR, length(second), SECOND), &hover(name, second))) }
            }
        });
        y += 17.0 + BAR + if chart.second_name.is_some() { SECOND + 1.0 } else { 0.0 } + 7.0;
    }
    let marks = html! { (keys) @for row in rows { (row) } };
    let has_links = chart.bars.iter().any(|bar| bar.link.is_some());
    let drawing = Drawing { has_links, ..Drawing::new(y.max(1.0), marks) };
    figure(of, &summary(chart), &[drawing], &behind(chart))
}

/// Returns the value of a bar, and its second value.
fn numbers(chart: &Bars<'_>, bar: &Bar<'_>) -> String {
    let value = chart.unit.text(bar.value);
    match (chart.second_name, bar.second) {
        (Some(_), Some(second)) => format!("{value} · {}", chart.unit.text(second)),
        _ => value,
    }
}

fn summary(chart: &Bars<'_>) -> String {
    let known = chart.bars.iter().filter(|bar| bar.value.is_finite());
    let most = known.reduce(|most, bar| if bar.value > most.value { bar } else { most });
    let most =
        most.map(|bar| format!(" The longest is {}: {}.", one_line(bar.label), chart.unit.text(bar.value)));
    format!(
        "{} of {}.{}",
        counted(chart.bars.len() as u64, "bar", "bars"),
        chart.values_name,
        most.unwrap_or_default()
    )
}

fn behind(chart: &Bars<'_>) -> Markup {
    let mut columns = vec![NamedColumn::text(chart.labels_name), NamedColumn::number(chart.values_name)];
    columns.extend(chart.second_name.map(NamedColumn::number));
    let rows = chart.bars.iter().map(|bar| {
        let second = bar.second.map(|second| chart.unit.text(second)).unwrap_or_default();
        vec![html! { (one_line(bar.label)) }, html! { (chart.unit.text(bar.value)) }, html! { (second) }]
    });
    table::behind(&columns, rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIGURE: Figure<'_> = Figure { id: "b", title: "Reasons", description: "" };
    const BAR: Bar<'_> = Bar { label: "a/b", value: 1.0, second: None, link: None };

    fn drawn(unit: Unit, second_name: Option<&str>, bars: &[Bar<'_>]) -> String {
        let chart = Bars { labels_name: "reason", values_name: "rows", second_name, unit, bars };
        super::bars(&FIGURE, &chart).into_string()
    }

    #[test]
    fn the_longest_bar_has_the_whole_width_and_a_percentage_its_part() {
        let page = drawn(Unit::Count, None, &[Bar { value: 20.0, ..BAR }, Bar { value: 5.0, ..BAR }]);
        assert!(page.contains("h360v9") && page.contains("h90v9"), "{page}");
        let page = drawn(Unit::Percent, Some("BFCL"), &[Bar { value: 25.0, second: Some(50.0), ..BAR }]);
        assert!(page.contains("h90v9") && page.contains("h180v5"), "{page}");
        assert!(page.contains(">25.0 % · 50.0 %<") && page.contains("<td class=\"n\">50.0 %</td>"), "{page}");
    }

    #[test]
    fn zero_and_unknown_values_have_no_bar() {
        let page = drawn(Unit::Number, None, &[Bar { value: 0.0, ..BAR }, Bar { value: f64::NAN, ..BAR }]);
        assert!(
            !page.contains("<path") && page.contains(">0</text>") && page.contains(">–</text>"),
            "{page}"
        );
    }

    #[test]
    fn a_label_can_be_a_link() {
        let page = drawn(Unit::Count, None, &[Bar { link: Some("#a"), ..BAR }]);
        assert!(page.contains("role=\"group\"") && page.contains("<a href=\"#a\"><text"), "{page}");
    }
}
