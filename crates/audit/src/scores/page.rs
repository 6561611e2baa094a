//! The page of a comparison: a scatter for each pair of columns, its groups, and all residuals as a table.
//!
//! The pictures are SVG without scripts; each point has its model and scores as a title, which a pointer shows and a
//! screen reader reads. Shape and colour tell the mode, a ring marks a low residual; the table has the same facts.

use maud::{Markup, html};

use super::strata::Mode;
use super::{FOLLOWS_NOT, PairReport, Residual, ScoreReport};
use callsieve_page::table::{Column, wide};
use callsieve_page::{code, document, soft};

/// The width and height of a picture, in its own units.
const SIDE: f64 = 560.0;
/// Space for axes.
const MARGIN: f64 = 46.0;
/// Steps of the axes, in percent.
const STEP: u8 = 20;

/// Returns the page.
pub fn page(report: &ScoreReport) -> String {
    let head = html! {
        h1 { "Scores on two benchmarks" }
        p { (code(&report.file)) ", SHA-256 " (code(&report.sha256)) }
        p { "Note: " (report.consistent_with) "." }
        p { (soft(format!("Intervals: 95 %, {} bootstrap samples, seed {}.", report.samples, report.seed))) }
    };
    document("Scores on two benchmarks", std::iter::once(head).chain(report.pairs.iter().map(section)))
}

fn section(pair: &PairReport) -> Markup {
    html! {
        h2 { (pair.y) " against " (pair.x) }
        p { (summary(pair)) }
        @if !pair.follows() { p { "Note: " (FOLLOWS_NOT) "." } }
        (scatter(pair))
        h3 { "Groups" }
        (wide(
            &[Column::text("mode"), Column::text("size"), Column::number("models"), Column::number("median residual"), Column::number("low")],
            pair.strata.iter().map(|stratum| vec![
                html! { (stratum.mode.name()) }, html! { (stratum.size.name()) }, html! { (stratum.models) },
                html! { (points(stratum.median_residual)) }, html! { (stratum.low) },
            ]),
        ))
        h3 { "Models" }
        (wide(
            &[Column::text("model"), Column::text("mode"), Column::text("size"), Column::number("x"), Column::number("y"), Column::number("residual"),
                Column::number("95 % interval"), Column::number("z"), Column::number("z in group"), Column::text("")],
            pair.residuals.iter().map(|row| vec![
                html! { (row.model) }, html! { (row.mode.name()) }, html! { (row.size.name()) },
                html! { (format!("{:.1}", row.x)) }, html! { (format!("{:.1}", row.y)) }, html! { (points(row.residual)) },
                html! { (points(row.from)) " to " (points(row.to)) }, html! { (points(row.z)) },
                html! { (row.z_in_stratum.map_or_else(|| "–".to_owned(), points)) }, html! { (mark(row)) },
            ]),
        ))
    }
}

/// Returns what the line and the groups say, in one paragraph.
fn summary(pair: &PairReport) -> String {
    format!(
        "{} models; {} are below y = x, the median gap is {} points. Robust line: {} (slope {:.2} to {:.2}), spread {:.1} points. {} low: z at or below -2, interval below the line.",
        pair.models,
        pair.below_equal,
        points(pair.median_gap),
        pair.line(),
        pair.slope_from,
        pair.slope_to,
        pair.sigma,
        pair.low
    )
}

/// Returns the word for a low residual; a table cell.
pub fn mark(row: &Residual) -> &'static str {
    match (row.is_low, row.is_low_in_stratum) {
        (false, _) => "",
        (true, Some(false)) => "low, not in its group",
        (true, _) => "low",
    }
}

/// Returns a number of percentage points with its sign.
pub fn points(number: f64) -> String {
    let text = format!("{number:+.1}");
    if text == "-0.0" || text == "+0.0" { "0.0".to_owned() } else { text }
}

fn scatter(pair: &PairReport) -> Markup {
    let inner = SIDE - 2.0 * MARGIN;
    let at_x = |percent: f64| MARGIN + inner * percent / 100.0;
    let at_y = |percent: f64| SIDE - MARGIN - inner * percent / 100.0;
    let n = |number: f64| format!("{number:.1}");
    let (from, to) = ends(pair);
    let line_at = |x: f64| pair.intercept + pair.slope * x;
    let ticks: Vec<f64> = (0..=100).step_by(usize::from(STEP)).map(f64::from).collect();
    html! {
        svg role="img" viewBox=(format!("0 0 {SIDE} {SIDE}")) width="100%" style="max-width:620px" font-size="12" fill="currentColor" {
            title { (pair.y) " against " (pair.x) }
            desc { (summary(pair)) }
            @for &tick in &ticks {
                line x1=(n(at_x(tick))) x2=(n(at_x(tick))) y1=(n(at_y(0.0))) y2=(n(at_y(100.0))) stroke="currentColor" stroke-opacity="0.12" {}
                line x1=(n(at_x(0.0))) x2=(n(at_x(100.0))) y1=(n(at_y(tick))) y2=(n(at_y(tick))) stroke="currentColor" stroke-opacity="0.12" {}
                text x=(n(at_x(tick))) y=(n(SIDE - MARGIN + 16.0)) text-anchor="middle" { (tick) }
                text x=(n(MARGIN - 6.0)) y=(n(at_y(tick) + 4.0)) text-anchor="end" { (tick) }
            }
            text x=(n(SIDE / 2.0)) y=(n(SIDE - 10.0)) text-anchor="middle" { "x: " (pair.x) ", %" }
            text x=(n(MARGIN)) y="18" { "y: " (pair.y) ", %" }
            line x1=(n(at_x(0.0))) y1=(n(at_y(0.0))) x2=(n(at_x(100.0))) y2=(n(at_y(100.0))) stroke="currentColor" stroke-opacity="0.6" stroke-dasharray="5 4" {}
            text x=(n(at_x(9.0))) y=(n(at_y(12.0))) text-anchor="end" { "y = x" }
            line x1=(n(at_x(from))) y1=(n(at_y(line_at(from)))) x2=(n(at_x(to))) y2=(n(at_y(line_at(to)))) style="stroke:var(--b)" stroke-width="2" {}
            @for row in &pair.residuals {
                g { title { (format!("{}: x {:.1}, y {:.1}, residual {}, z {}", row.model, row.x, row.y, points(row.residual), points(row.z))) }
                    @if row.is_low { circle cx=(n(at_x(row.x))) cy=(n(at_y(row.y))) r="8" fill="none" style="stroke:var(--bad)" stroke-width="2" {} }
                    (symbol(row.mode, at_x(row.x), at_y(row.y)))
                }
            }
            @for (place, mode) in (0_u8..).zip(Mode::ALL) {
                (symbol(mode, SIDE - MARGIN - 86.0, at_y(16.0) + 18.0 * f64::from(place)))
                text x=(n(SIDE - MARGIN - 76.0)) y=(n(at_y(16.0) + 4.0 + 18.0 * f64::from(place))) { (mode.name()) }
            }
        }
    }
}

/// Returns the point of a model: its shape and colour are those of the mode.
fn symbol(mode: Mode, x: f64, y: f64) -> Markup {
    let n = |number: f64| format!("{number:.1}");
    html! {
        @match mode {
            Mode::Fc => { circle cx=(n(x)) cy=(n(y)) r="4" style="fill:var(--a)" fill-opacity="0.8" {} }
            Mode::Prompt => { rect x=(n(x - 3.6)) y=(n(y - 3.6)) width="7.2" height="7.2" style="fill:var(--b)" fill-opacity="0.8" {} }
            Mode::Unknown => { path d=(format!("M{} {} l4.6 8 h-9.2 z", n(x), n(y - 4.6))) style="fill:var(--c)" fill-opacity="0.9" {} }
        }
    }
}

/// Returns the x between which the line is inside of the picture.
fn ends(pair: &PairReport) -> (f64, f64) {
    if pair.slope == 0.0 {
        return (0.0, 100.0);
    }
    let at = |y: f64| (y - pair.intercept) / pair.slope;
    let (a, b) = (at(0.0), at(100.0));
    (a.min(b).clamp(0.0, 100.0), a.max(b).clamp(0.0, 100.0))
}
