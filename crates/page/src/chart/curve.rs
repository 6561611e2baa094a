//! Curves with optional intervals: precision by threshold, scores by size.
//!
//! Curves differ in colour and in dashes. A point whose numbers are not finite is a gap in its curve.

use maud::{Markup, html};

use super::drawing::{Drawing, Key, Plot, fitted, legend, mark, n, one_line, shape, text};
use super::scale::{Scale, tick_text, ticks};
use super::{Figure, Unit, WIDTH, class_of, figure};
use crate::table::{self, NamedColumn};

const HEIGHT: f64 = 190.0;
/// Curves of at most this many points have a dot at each, with its numbers.
const MAX_DOTS: usize = 40;

/// An axis.
#[derive(Debug, Clone, Copy)]
pub struct Axis<'a> {
    /// What it measures.
    pub name: &'a str,
    /// The unit of its numbers.
    pub unit: Unit,
    /// Its first and last number; those of the points if `None`.
    pub range: Option<(f64, f64)>,
}

/// A curve.
#[derive(Debug, Clone)]
pub struct Curve<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its points, from left to right.
    pub points: Vec<Point>,
}

/// A point of a curve.
#[derive(Debug, Clone, Copy)]
pub struct Point {
    /// Where it is.
    pub x: f64,
    /// Its value.
    pub y: f64,
    /// The lower and the upper end of the interval of its value.
    pub interval: Option<(f64, f64)>,
}

impl Point {
    fn is_finite(&self) -> bool {
        self.x.is_finite() && self.y.is_finite()
    }
}

/// Returns the curves.
pub fn curve(of: &Figure<'_>, x: &Axis<'_>, y: &Axis<'_>, curves: &[Curve<'_>]) -> Markup {
    let points = || curves.iter().flat_map(|curve| &curve.points).filter(|point| point.is_finite());
    let values = points().flat_map(|point| {
        let (low, high) = point.interval.unwrap_or((point.y, point.y));
        [point.y, low, high]
    });
    let y_ticks = axis_ticks(y, values, 5.0);
    let x_ticks = axis_ticks(x, points().map(|point| point.x), 5.0);
    let keys: Vec<Key<'_>> =
        (0..).zip(curves).map(|(at, curve)| (class_of('l', at), true, curve.name)).collect();
    let (keys, top) = legend(if curves.len() > 1 { &keys } else { &[] });
    let mut plot = Plot::new(top + 16.0, HEIGHT, &y_ticks, y.unit);
    plot.right -= 8.0;
    let across = plot.horizontal(x_ticks[0], x_ticks[x_ticks.len() - 1]);
    let up = plot.vertical(y_ticks[0], y_ticks[y_ticks.len() - 1]);
    let labels: Vec<_> =
        x_ticks.iter().map(|tick| (across.at(*tick), tick_text(*tick, x.unit).into())).collect();
    let marks = html! {
        (keys)
        (text(Some("q"), 0.0, top + 12.0, &fitted(y.name, WIDTH)))
        (plot.vertical_axis(&up, &y_ticks, y.unit))
        @for (at, curve) in curves.iter().enumerate() { (shape(&format!("band {}", class_of('f', at)), &band(curve, &across, &up))) }
        @for (at, curve) in curves.iter().enumerate() { (shape(&class_of('l', at), &line(curve, &across, &up))) }
        @for (at, curve) in curves.iter().enumerate().filter(|(_, curve)| curve.points.len() <= MAX_DOTS) {
            @for point in curve.points.iter().filter(|point| point.is_finite()) {
                @let hover = format!("{}: {} at {}", one_line(curve.name), y.unit.text(point.y), x.unit.text(point.x));
                (mark(&class_of('f', at), &dot(across.at(point.x), up.at(point.y)), &hover))
            }
        }
        (plot.labels(&labels))
        (text(Some("m q"), f64::midpoint(plot.left, plot.right), plot.bottom + 32.0, &fitted(x.name, WIDTH)))
    };
    let names: Vec<_> = curves.iter().map(|curve| one_line(curve.name)).collect();
    let summary = format!("{} by {}. Curves: {}.", one_line(y.name), one_line(x.name), names.join(", "));
    figure(of, &summary, &[Drawing::new(plot.bottom + 38.0, marks)], &behind(x, y, curves))
}

/// Returns at least two ticks: those of the range of an axis, or of these numbers.
fn axis_ticks(axis: &Axis<'_>, numbers: impl Iterator<Item = f64>, steps: f64) -> Vec<f64> {
    let finite = numbers.filter(|number| number.is_finite());
    let found = finite.fold(None, |range, number| {
        let (from, to) = range.unwrap_or((number, number));
        Some((number.min(from), number.max(to)))
    });
    let (from, to) = axis.range.or(found).unwrap_or((0.0, 1.0));
    ticks(from, to, steps, axis.unit)
}

/// Returns the path of a line, with a gap at each point that is not finite.
fn line(curve: &Curve<'_>, across: &Scale, up: &Scale) -> String {
    let mut path = String::new();
    let mut is_drawing = false;
    for point in &curve.points {
        if point.is_finite() {
            let command = if is_drawing { 'L' } else { 'M' };
            path += &format!("{command}{} {}", n(across.at(point.x)), n(up.at(point.y)));
        }
        is_drawing = point.is_finite();
    }
    path
}

/// Returns the path around the intervals of a curve; empty if fewer than two points have one.
fn band(curve: &Curve<'_>, across: &Scale, up: &Scale) -> String {
    let ends = |point: &Point| {
        let (low, high) = point.interval.filter(|(low, high)| low.is_finite() && high.is_finite())?;
        point.x.is_finite().then(|| (across.at(point.x), up.at(low), up.at(high)))
    };
    let ends: Vec<_> = curve.points.iter().filter_map(ends).collect();
    if ends.len() < 2 {
        return String::new();
    }
    let upper = ends.iter().map(|(x, _, high)| format!("{} {}", n(*x), n(*high)));
    let lower = ends.iter().rev().map(|(x, low, _)| format!("{} {}", n(*x), n(*low)));
    format!("M{}z", upper.chain(lower).collect::<Vec<_>>().join("L"))
}

fn dot(x: f64, y: f64) -> String {
    format!("M{} {}a3 3 0 1 0 6 0a3 3 0 1 0-6 0z", n(x - 3.0), n(y))
}

fn behind(x: &Axis<'_>, y: &Axis<'_>, curves: &[Curve<'_>]) -> Markup {
    let has_intervals = curves.iter().flat_map(|curve| &curve.points).any(|point| point.interval.is_some());
    let mut columns =
        vec![NamedColumn::text("curve"), NamedColumn::number(x.name), NamedColumn::number(y.name)];
    if has_intervals {
        columns.push(NamedColumn::number("interval"));
    }
    let cells = |curve: &Curve<'_>, point: &Point| {
        let interval =
            point.interval.map(|(low, high)| format!("{} to {}", y.unit.text(low), y.unit.text(high)));
        vec![
            html! { (one_line(curve.name)) },
            html! { (x.unit.text(point.x)) },
            html! { (y.unit.text(point.y)) },
            html! { (interval.unwrap_or_default()) },
        ]
    };
    let rows = curves.iter().flat_map(|curve| curve.points.iter().map(|point| cells(curve, point)));
    table::behind(&columns, rows.collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIGURE: Figure<'_> = Figure { id: "c", title: "Precision", description: "" };
    const X: Axis<'_> = Axis { name: "threshold", unit: Unit::Number, range: Some((0.0, 1.0)) };
    const Y: Axis<'_> = Axis { name: "precision", unit: Unit::Percent, range: Some((0.0, 100.0)) };

    fn point(x: f64, y: f64) -> Point {
        Point { x, y, interval: None }
    }

    fn drawn(points: Vec<Point>) -> String {
        curve(&FIGURE, &X, &Y, &[Curve { name: "rule", points }]).into_string()
    }

    #[test]
    fn a_point_without_a_number_is_a_gap() {
        let page = drawn(vec![point(0.0, 50.0), point(0.2, f64::NAN), point(0.4, 60.0), point(0.6, 70.0)]);
        let line = page.split("class=\"l1\" d=\"").nth(1).unwrap().split('"').next().unwrap();
        assert_eq!((line.matches('M').count(), line.matches('L').count()), (2, 1), "{line}");
        assert!(page.contains("<td class=\"n\">–</td>"), "{page}");
    }

    #[test]
    fn intervals_are_a_band_and_a_column() {
        let with = |x, y| Point { interval: Some((y - 5.0, y + 5.0)), ..point(x, y) };
        let page = drawn(vec![with(0.0, 50.0), with(1.0, 60.0)]);
        assert!(page.contains("class=\"band f1\" d=\"M") && page.contains("45.0 % to 55.0 %"), "{page}");
    }

    #[test]
    fn no_points_one_point_and_many_points_are_drawn() {
        for points in [0_u16, 1, 2, 1000] {
            let points = (0..points).map(|at| point(f64::from(at) / 1000.0, f64::from(at) / 10.0)).collect();
            let page = drawn(points);
            assert!(!page.contains("NaN") && !page.contains("inf"), "{page}");
        }
    }
}
