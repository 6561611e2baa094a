//! A matrix of counts: each cell has its number, and a darker background for a larger one.
//!
//! Backgrounds stay so light that numbers can be read on all of them. A matrix of many columns scrolls by itself.

use maud::{Markup, html};

use callsieve_text::figures::{count, counted};

use super::drawing::{Drawing, fitted, mark, one_line, rectangle, text, width_of};
use super::scale::{largest, place, real};
use super::{Figure, Row, WIDTH, figure};
use crate::table::{self, NamedColumn};

const CELL: f64 = 24.0;
/// The widest column of labels.
const MAX_LABEL: f64 = 130.0;
/// The narrowest column of numbers.
const MIN_COLUMN: f64 = 44.0;

/// Returns the matrix of rows, each with a count for each column; `labels_name` is what the labels of rows are.
pub fn heat(of: &Figure<'_>, labels_name: &str, columns: &[&str], rows: &[Row<'_>]) -> Markup {
    let most = largest(rows.iter().flat_map(|row| &row.counts).map(|n| real(*n)));
    let label =
        rows.iter().map(|row| width_of(&one_line(row.label))).fold(0.0, f64::max).min(MAX_LABEL) + 8.0;
    let widest = rows.iter().flat_map(|row| &row.counts).map(|n| width_of(&count(*n))).fold(0.0, f64::max);
    let shared = (WIDTH - label) / place(columns.len().max(1));
    let column = shared.max(MIN_COLUMN).max(widest + 8.0);
    let top = CELL;
    let x = |at: usize| label + column * place(at);
    let y = |at: usize| top + CELL * place(at);
    let marks = html! {
        @for (at, name) in columns.iter().enumerate() {
            (text(Some("m q"), x(at) + column / 2.0, 15.0, &fitted(name, column - 4.0)))
        }
        @for (down, row) in rows.iter().enumerate() {
            (text(None, 0.0, y(down) + 16.0, &fitted(row.label, label - 8.0)))
            @for (across, (name, n)) in columns.iter().zip(&row.counts).enumerate() {
                @let hover = format!("{}, {}: {}", one_line(row.label), one_line(name), count(*n));
                (mark(shade(real(*n), most), &rectangle(x(across) + 1.0, y(down) + 1.0, column - 2.0, CELL - 2.0), &hover))
                (text(Some("m t"), x(across) + column / 2.0, y(down) + 16.0, &count(*n)))
            }
        }
    };
    let mut headings = vec![NamedColumn::text(labels_name)];
    headings.extend(columns.iter().map(|name| NamedColumn::number(name)));
    let cells = rows.iter().map(|row| {
        let counts = row.counts.iter().map(|n| html! { (count(*n)) });
        std::iter::once(html! { (one_line(row.label)) }).chain(counts).collect()
    });
    let summary = format!(
        "{} and {}; the largest count is {}.",
        counted(rows.len() as u64, "row", "rows"),
        counted(columns.len() as u64, "column", "columns"),
        super::Unit::Count.text(most)
    );
    let drawing = Drawing {
        width: (label + column * place(columns.len())).max(WIDTH),
        ..Drawing::new(y(rows.len()), marks)
    };
    figure(of, &summary, &[drawing], &table::behind(&headings, cells))
}

/// Returns the class of the background of a count.
fn shade(n: f64, most: f64) -> &'static str {
    // Roots, because most counts of a matrix are far below the largest.
    let share = if most > 0.0 { (n / most).sqrt() } else { 0.0 };
    match share {
        _ if n <= 0.0 => "h0",
        ..0.3 => "h1",
        ..0.6 => "h2",
        ..0.85 => "h3",
        _ => "h4",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIGURE: Figure<'_> = Figure { id: "m", title: "Matrix", description: "" };

    #[test]
    fn a_larger_count_has_a_darker_cell() {
        assert_eq!([0.0, 1.0, 20.0, 50.0, 100.0].map(|n| shade(n, 100.0)), ["h0", "h1", "h2", "h3", "h4"]);
    }

    #[test]
    fn many_columns_scroll_by_themselves() {
        let columns = ["c"; 20];
        let rows = [Row { label: "a", counts: vec![1; 20] }];
        let page = heat(&FIGURE, "row", &columns, &rows).into_string();
        assert!(
            page.contains("<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-labelledby=\"m-t\">"),
            "{page}"
        );
        let page = heat(&FIGURE, "row", &columns[..3], &rows).into_string();
        assert!(!page.contains("<div class=\"scroll\" tabindex"), "{page}");
    }
}
