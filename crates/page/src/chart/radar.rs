//! Scores of systems on 3 to 12 axes, from 0 at the centre to 100 at the edge.
//!
//! Polygons hide small differences, so the table has all scores. A missing score is a gap in the outline.

use maud::{Markup, html};

use super::drawing::{Drawing, Key, fitted, legend, mark, n, one_line, shape, text, width_of};
use super::scale::place;
use super::{Figure, Unit, WIDTH, class_of, figure};
use crate::table::{self, NamedColumn};

const RADIUS: f64 = 112.0;
const CENTRE: f64 = WIDTH / 2.0;
const LINE: f64 = 17.0;

/// A system.
#[derive(Debug, Clone)]
pub struct System<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its scores, from 0 to 100, in the order of the axes.
    pub scores: Vec<Option<f64>>,
}

/// Returns the radar chart of these axes.
pub fn radar(of: &Figure<'_>, axes: &[&str], systems: &[System<'_>]) -> Markup {
    let keys: Vec<Key<'_>> =
        (0..).zip(systems).map(|(at, system)| (class_of('l', at), true, system.name)).collect();
    let (keys, top) = legend(&keys);
    let centre = top + 22.0 + RADIUS;
    let point = |at: usize, score: f64| {
        let angle = std::f64::consts::TAU * place(at) / place(axes.len().max(1));
        let radius = RADIUS * score.clamp(0.0, 100.0) / 100.0;
        (CENTRE + radius * angle.sin(), centre - radius * angle.cos())
    };
    let ring = |score: f64| outline((0..axes.len()).map(|at| Some(point(at, score))));
    let spokes: String = (0..axes.len())
        .map(|at| point(at, 100.0))
        .map(|(x, y)| format!("M{} {}L{} {}", n(CENTRE), n(centre), n(x), n(y)))
        .collect();
    let names = Names::of(axes, centre + RADIUS + 44.0);
    let marks = html! {
        (keys)
        (shape("grid", &([25.0, 50.0, 75.0, 100.0].map(ring).concat() + &spokes)))
        @for score in [50.0, 100.0] { (text(Some("q"), CENTRE + 3.0, centre - RADIUS * score / 100.0 + 13.0, &Unit::Count.text(score))) }
        @for (at, system) in systems.iter().enumerate() {
            @let points: Vec<_> = scores(system, axes).map(|(axis, score)| score.map(|score| point(axis, score))).collect();
            (shape(&class_of('l', at), &outline(points.iter().copied())))
        }
        @for (at, system) in systems.iter().enumerate() {
            @for (axis, score) in scores(system, axes) {
                @if let Some(score) = score {
                    @let (x, y) = point(axis, score);
                    @let hover = format!("{}, {}: {score:.1}", one_line(system.name), one_line(axes[axis]));
                    (mark(&class_of('f', at), &format!("M{} {}h6v6h-6z", n(x - 3.0), n(y - 3.0)), &hover))
                }
            }
        }
        @for (at, name) in names.at_axes.iter().enumerate() {
            @let (x, y) = point(at, 100.0);
            (text(Some(side(x)), x + (x - CENTRE) / RADIUS * 7.0, y + (y - centre) / RADIUS * 12.0 + 4.0, name))
        }
        (names.below)
    };
    figure(of, &summary(axes, systems), &[Drawing::new(names.bottom, marks)], &behind(axes, systems))
}

/// Returns the score of a system on each axis.
fn scores<'s>(system: &'s System<'_>, axes: &[&str]) -> impl Iterator<Item = (usize, Option<f64>)> + 's {
    let score = |at: usize| system.scores.get(at).copied().flatten().filter(|score| score.is_finite());
    (0..axes.len()).map(move |at| (at, score(at)))
}

/// Returns the class of a text that is next to a place left, above or right of the centre.
fn side(x: f64) -> &'static str {
    if (x - CENTRE).abs() < 1.0 {
        "m q"
    } else if x < CENTRE {
        "e q"
    } else {
        "q"
    }
}

/// Returns the path through these points, closed if none is missing.
fn outline(points: impl Iterator<Item = Option<(f64, f64)>>) -> String {
    let mut points: Vec<_> = points.collect();
    let is_closed = points.iter().all(Option::is_some);
    // The outline goes round, so the last point is next to the first one.
    if !is_closed {
        points.extend(points.first().copied());
    }
    let mut path = String::new();
    let mut is_drawing = false;
    for point in &points {
        if let Some((x, y)) = point {
            path += &format!("{}{} {}", if is_drawing { 'L' } else { 'M' }, n(*x), n(*y));
        }
        is_drawing = point.is_some();
    }
    if is_closed && !path.is_empty() {
        path.push('z');
    }
    path
}

/// The names of axes: next to them if all fit, and otherwise numbers, with a list below.
struct Names {
    at_axes: Vec<String>,
    below: Markup,
    bottom: f64,
}

impl Names {
    fn of(axes: &[&str], below: f64) -> Self {
        let is_long = |name: &&&str| width_of(&one_line(name)) > CENTRE - RADIUS - 8.0;
        if !axes.iter().any(|name| is_long(&name)) {
            let at_axes = axes.iter().map(|name| one_line(name).into_owned()).collect();
            return Self { at_axes, below: Markup::default(), bottom: below - 10.0 };
        }
        let half = axes.len().div_ceil(2);
        let list = html! {
            @for (at, name) in axes.iter().enumerate() {
                @let x = if at < half { 0.0 } else { CENTRE };
                @let name = fitted(&format!("{} {name}", at + 1), CENTRE - 8.0).into_owned();
                (text(None, x, below + LINE * place(at % half), &name))
            }
        };
        Self {
            at_axes: (1..=axes.len()).map(|at| at.to_string()).collect(),
            below: list,
            bottom: below + LINE * place(half),
        }
    }
}

fn summary(axes: &[&str], systems: &[System<'_>]) -> String {
    let means = systems.iter().map(|system| {
        let known: Vec<f64> = scores(system, axes).filter_map(|(_, score)| score).collect();
        let mean = known.iter().sum::<f64>() / place(known.len());
        format!(
            "{} {}",
            one_line(system.name),
            if known.is_empty() { "–".to_owned() } else { format!("{mean:.1}") }
        )
    });
    format!("Scores on {} axes. Means: {}.", axes.len(), means.collect::<Vec<_>>().join(", "))
}

fn behind(axes: &[&str], systems: &[System<'_>]) -> Markup {
    let mut columns = vec![NamedColumn::text("axis")];
    columns.extend(systems.iter().map(|system| NamedColumn::number(system.name)));
    let cell = |system: &System<'_>, at: usize| {
        let (_, score) = scores(system, axes).nth(at)?;
        score.map(|score| format!("{score:.1}"))
    };
    let rows = axes.iter().enumerate().map(|(at, axis)| {
        let cells =
            systems.iter().map(|system| html! { (cell(system, at).unwrap_or_else(|| "–".to_owned())) });
        std::iter::once(html! { (one_line(axis)) }).chain(cells).collect()
    });
    table::behind(&columns, rows.collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIGURE: Figure<'_> = Figure { id: "r", title: "Scores", description: "" };

    #[test]
    fn an_outline_is_closed_unless_a_score_is_missing() {
        let system = |scores: &[Option<f64>]| System { name: "a", scores: scores.to_vec() };
        let axes = ["x", "y", "z", "w"];
        let outline = |scores: &[Option<f64>]| {
            let page = radar(&FIGURE, &axes, &[system(scores)]).into_string();
            page.split("class=\"l1\" d=\"").nth(2).unwrap().split('"').next().unwrap().to_owned()
        };
        assert_eq!(
            outline(&[Some(100.0), Some(100.0), Some(0.0), Some(50.0)]),
            "M180 44L292 156L180 156L124 156z"
        );
        assert_eq!(outline(&[Some(100.0), Some(100.0), None, Some(50.0)]), "M180 44L292 156M124 156L180 44");
        assert_eq!(outline(&[]), "");
    }

    #[test]
    fn long_names_are_listed_below_with_numbers() {
        let axes = ["a", "b", "multiple_parallel_live"];
        let page = radar(&FIGURE, &axes, &[]).into_string();
        assert!(page.contains(">3</text>") && page.contains(">3 multiple_parallel_live</text>"), "{page}");
        let page = radar(&FIGURE, &["a", "b", "c"], &[]).into_string();
        assert!(page.contains(">c</text>") && !page.contains(">3 c</text>"), "{page}");
    }
}
