//! Pieces of drawings: coordinates, texts that fit, marks, legends and axes.

use std::borrow::Cow;

use maud::{Markup, html};

use callsieve_text::visible::visible_line;

use super::scale::{Scale, place, tick_text, trimmed};
use super::{Unit, WIDTH};

/// The size of all texts, in units.
pub(super) const TEXT: f64 = 12.0;

/// The longest label at an axis, in units.
const MAX_LABEL: f64 = 120.0;

/// A finished drawing.
pub(super) struct Drawing {
    /// Its width in units; wider than [`WIDTH`] scrolls.
    pub(super) width: f64,
    /// Its height in units.
    pub(super) height: f64,
    /// Whether it has links.
    pub(super) has_links: bool,
    /// Its elements.
    pub(super) marks: Markup,
}

impl Drawing {
    /// Returns a drawing of the usual width, without links.
    pub(super) fn new(height: f64, marks: Markup) -> Self {
        Self { width: WIDTH, height, has_links: false, marks }
    }
}

/// Returns a coordinate with at most one decimal.
pub(super) fn n(coordinate: f64) -> String {
    trimmed(&format!("{coordinate:.1}")).to_owned()
}

/// Returns a text of the data on one line, with hidden characters escaped.
pub(super) fn one_line(text: &str) -> Cow<'_, str> {
    visible_line(text)
}

/// Returns about how wide a text is, in units. Fonts differ, so this is the width of a wide one.
pub(super) fn width_of(text: &str) -> f64 {
    let of = |c: char| match c {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | '(' | ')' | '/' | ' ' | 'I' => 0.37,
        't' | 'f' | 'r' | '-' => 0.42,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 0.95,
        'A'..='Z' => 0.7,
        ' '..='~' | '\u{a0}'..='\u{10ff}' | '–' => 0.62,
        _ => 1.05,
    };
    TEXT * text.chars().map(of).sum::<f64>()
}

/// Returns about how wide a text in bold is.
pub(super) fn bold_width_of(text: &str) -> f64 {
    1.12 * width_of(text)
}

/// Returns as much of a text as fits into a width, with an ellipsis if it is not all.
pub(super) fn fitted(text: &str, width: f64) -> Cow<'_, str> {
    let text = one_line(text);
    if width_of(&text) <= width {
        return text;
    }
    let mut short = String::new();
    let mut used = width_of("…");
    for c in text.chars() {
        used += width_of(c.encode_utf8(&mut [0; 4]));
        if used > width {
            break;
        }
        short.push(c);
    }
    Cow::Owned(short.trim_end().to_owned() + "…")
}

/// Returns a text whose start, middle (`m`) or end (`e`) is at a place.
pub(super) fn text(class: Option<&str>, x: f64, y: f64, text: &str) -> Markup {
    html! { text class=[class] x=(n(x)) y=(n(y)) { (text) } }
}

/// Returns a text that is a link if it has a target.
pub(super) fn linked(link: Option<&str>, shown: &Markup) -> Markup {
    html! { @if let Some(link) = link { a href=(link) { (shown) } } @else { (shown) } }
}

/// Returns a rectangle as a path.
pub(super) fn rectangle(x: f64, y: f64, width: f64, height: f64) -> String {
    let (width, height) = (n(width), n(height));
    format!("M{} {}h{width}v{height}h-{width}z", n(x), n(y))
}

/// Returns a shape that shows a text when a pointer is over it.
pub(super) fn mark(class: &str, path: &str, hover: &str) -> Markup {
    html! { path class=(class) d=(path) { title { (hover) } } }
}

/// Returns a shape without a text.
pub(super) fn shape(class: &str, path: &str) -> Markup {
    html! { path class=(class) d=(path) {} }
}

/// An entry of a legend: the class of its sign, whether that is a line, and its name.
pub(super) type Key<'a> = (String, bool, &'a str);

/// Returns a legend at the top of a drawing, and its height.
pub(super) fn legend(keys: &[Key<'_>]) -> (Markup, f64) {
    const SIGN: f64 = 20.0;
    const LINE: f64 = 18.0;
    let (mut x, mut y) = (0.0, 0.0);
    let mut placed = Vec::new();
    for (class, is_line, name) in keys {
        let name = fitted(name, WIDTH - SIGN);
        let width = SIGN + width_of(&name) + 12.0;
        if x > 0.0 && x + width - 12.0 > WIDTH {
            (x, y) = (0.0, y + LINE);
        }
        let sign =
            if *is_line { format!("M{} {}h14", n(x), n(y + 8.0)) } else { rectangle(x, y + 3.0, 14.0, 10.0) };
        placed.push((class, sign, x + SIGN, y + 12.0, name));
        x += width;
    }
    let marks = html! {
        @for (class, sign, x, y, name) in &placed { (shape(class, sign)) (text(None, *x, *y, name)) }
    };
    (marks, if keys.is_empty() { 0.0 } else { y + LINE + 4.0 })
}

/// The area of a chart with two axes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plot {
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) top: f64,
    pub(super) bottom: f64,
}

impl Plot {
    /// Returns the area below `top` whose vertical axis has these ticks.
    pub(super) fn new(top: f64, height: f64, ticks: &[f64], unit: Unit) -> Self {
        let widest = ticks.iter().map(|tick| width_of(&tick_text(*tick, unit))).fold(0.0, f64::max);
        Self { left: widest + 8.0, right: WIDTH - 6.0, top: top + 8.0, bottom: top + 8.0 + height }
    }

    /// Returns the vertical scale of a range.
    pub(super) fn vertical(&self, from: f64, to: f64) -> Scale {
        Scale::new((from, to), (self.bottom, self.top))
    }

    /// Returns the horizontal scale of a range.
    pub(super) fn horizontal(&self, from: f64, to: f64) -> Scale {
        Scale::new((from, to), (self.left, self.right))
    }

    /// Returns the lines and numbers of the vertical axis.
    pub(super) fn vertical_axis(&self, scale: &Scale, ticks: &[f64], unit: Unit) -> Markup {
        let lines: String = ticks
            .iter()
            .map(|tick| format!("M{} {}H{}", n(self.left), n(scale.at(*tick)), n(self.right)))
            .collect();
        html! {
            (shape("grid", &lines))
            @for tick in ticks {
                (text(Some("e q"), self.left - 6.0, scale.at(*tick) + 4.0, &tick_text(*tick, unit)))
            }
        }
    }

    /// Returns labels below the area, as many as fit; each is centred at its place.
    pub(super) fn labels(&self, labels: &[(f64, Cow<'_, str>)]) -> Markup {
        let widest = labels.iter().map(|(_, label)| width_of(label)).fold(0.0, f64::max).min(MAX_LABEL);
        let gap = match labels {
            [(first, _), .., (last, _)] => (last - first) / place(labels.len() - 1),
            _ => f64::INFINITY,
        };
        // A gap of 0 cannot be divided by; then only the first label is shown.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let every = if gap > 0.1 { ((widest + 3.0) / gap).ceil().max(1.0) as usize } else { labels.len() };
        let mut end = f64::NEG_INFINITY;
        let mut placed = Vec::new();
        for (x, label) in labels.iter().step_by(every.max(1)) {
            let label = fitted(label, MAX_LABEL);
            let half = width_of(&label) / 2.0;
            // A label at the edge is moved into the drawing, where its neighbour can be.
            let x = x.clamp(half, (WIDTH - half).max(half));
            if x - half > end {
                end = x + half + 2.0;
                placed.push(text(Some("m q"), x, self.bottom + 16.0, &label));
            }
        }
        html! { @for label in placed { (label) } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_have_at_most_one_decimal() {
        assert_eq!([0.0, -0.04, 10.0, 1.25, 99.96].map(n), ["0", "0", "10", "1.2", "100"]);
    }

    #[test]
    fn a_long_text_is_cut_where_the_width_ends() {
        assert_eq!(fitted("short", 100.0), "short");
        assert_eq!(fitted("schema/missing-field", 60.0), "schem…");
        assert_eq!(fitted("a\n\u{202e}", 100.0), "a\\n\\u{202e}");
        assert_eq!(fitted("", 0.0), "");
    }

    #[test]
    fn a_rectangle_is_a_closed_path() {
        assert_eq!(rectangle(1.0, 2.0, 3.5, 4.0), "M1 2h3.5v4h-3.5z");
    }

    #[test]
    fn a_legend_wraps_where_the_drawing_ends() {
        let names = ["a name of the data", "another name of the data", "c"];
        let keys: Vec<Key<'_>> = names.iter().map(|name| ("f1".to_owned(), false, *name)).collect();
        assert!(legend(&keys).1 > legend(&keys[..1]).1);
        assert!(legend(&[]).1 < 0.1);
    }
}
