//! Charts: static SVG with a caption and the table behind it.
//!
//! Every chart is a figure of its own. It needs no script, takes its colours from the style of the page, and is drawn
//! [`WIDTH`] units wide, about as wide as a phone: [`figures()`] puts several into one row of a wide screen, so the text
//! of a chart has almost the same size everywhere. The same data give the same bytes. Texts of the data are shown
//! on one line, with hidden characters escaped; a text that is too long is cut, and the table has all of it. Charts do
//! not judge the data: rounding, totals and the order of rows are the caller's.

pub mod bars;
pub mod curve;
pub mod days;
mod drawing;
pub mod flow;
pub mod heat;
pub mod histogram;
pub mod radar;
mod scale;
pub mod stacked;
#[cfg(test)]
mod tests;

use maud::{Markup, html};

use callsieve_text::figures;

use drawing::{Drawing, n, one_line};

/// The width of a drawing, in its own units; one is about a pixel.
pub const WIDTH: f64 = 360.0;

/// How many series a chart can tell apart; more than these repeat colours.
pub const MAX_SERIES: usize = 6;

/// The name of a chart.
#[derive(Debug, Clone, Copy)]
pub struct Figure<'a> {
    /// The id of its element, unique in the page, without spaces.
    pub id: &'a str,
    /// What it shows, in a few words.
    pub title: &'a str,
    /// What a reader needs to understand it, in a sentence; can be empty.
    pub description: &'a str,
}

/// What the numbers of an axis are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Whole numbers of things.
    Count,
    /// Numbers from 0 to 100.
    Percent,
    /// Other numbers, with at most three decimals.
    Number,
}

impl Unit {
    /// Returns a number of this unit as text; `–` if it is not finite.
    // Counts are positive and far below 2^53.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    pub fn text(self, number: f64) -> String {
        if !number.is_finite() {
            return "–".to_owned();
        }
        match self {
            Self::Count => figures::count(number.round() as u64),
            Self::Percent => figures::percent(number),
            Self::Number => scale::trimmed(&format!("{number:.3}")).to_owned(),
        }
    }
}

/// A row of a chart of counts: its label, and a count for each series.
#[derive(Debug, Clone)]
pub struct Row<'a> {
    /// Its name.
    pub label: &'a str,
    /// Its counts, in the order of the series.
    pub counts: Vec<u64>,
}

/// Returns figures side by side, as many as fit the screen.
pub fn figures(figures: impl IntoIterator<Item = Markup>) -> Markup {
    html! { div.figures { @for figure in figures { (figure) } } }
}

/// Returns a figure of these drawings, which `summary` describes for readers who do not see them.
fn figure(figure: &Figure<'_>, summary: &str, drawings: &[Drawing], table: &Markup) -> Markup {
    debug_assert!(!figure.id.is_empty() && !figure.id.contains(char::is_whitespace), "{:?}", figure.id);
    let ids = |at: usize| match at {
        0 => [format!("{}-t", figure.id), format!("{}-d", figure.id)],
        at => [format!("{}-t{}", figure.id, at + 1), format!("{}-d{}", figure.id, at + 1)],
    };
    let svgs = drawings.iter().enumerate().map(|(at, drawing)| {
        let [title, desc] = ids(at);
        // An image has no links inside for a screen reader, so a drawing with links is a group.
        let role = if drawing.has_links { "group" } else { "img" };
        let is_wide = drawing.width > WIDTH;
        let svg = html! {
            svg role=(role) aria-labelledby=(title) aria-describedby=(desc)
                viewBox=(format!("0 0 {} {}", n(drawing.width), n(drawing.height)))
                width=[is_wide.then(|| n(drawing.width))] {
                title id=(title) {
                    (one_line(figure.title))
                    @if drawings.len() > 1 { ", part " (at + 1) " of " (drawings.len()) }
                }
                desc id=(desc) { @if at == 0 { (one_line(summary)) } @else { "Continues part " (at) "." } }
                (drawing.marks)
            }
        };
        if is_wide {
            html! { div.scroll tabindex="0" role="group" aria-labelledby=(title) { (svg) } }
        } else {
            svg
        }
    });
    html! {
        figure.chart id=(figure.id) {
            figcaption {
                b { (one_line(figure.title)) }
                @if !figure.description.is_empty() { " " span.soft { (one_line(figure.description)) } }
            }
            div.parts { @for svg in svgs { (svg) } }
            details { summary { "Table" } (table) }
        }
        "\n"
    }
}

/// Returns the class of the filling or the line (`kind` is `f` or `l`) of a series.
fn class_of(kind: char, series: usize) -> String {
    format!("{kind}{}", series % MAX_SERIES + 1)
}
