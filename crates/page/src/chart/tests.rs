//! Laws of all charts: a figure with its texts and its table, escaped, repeatable, of any size of data.

use std::collections::{BTreeMap, BTreeSet};

use super::bars::{Bar, Bars, bars};
use super::curve::{Axis, Curve, Point, curve};
use super::days::days;
use super::flow::{Kind, Leaver, Station, flow};
use super::heat::heat;
use super::histogram::{Histogram, Reference, histogram};
use super::radar::{System, radar};
use super::scale::real;
use super::stacked::{Stacked, stacked};
use super::{Figure, Row, Unit};

/// Returns every chart, with this label for all its texts and these counts for all its numbers.
fn all(label: &str, counts: &[u64]) -> Vec<String> {
    let of = |id: &'static str| Figure { id, title: label, description: label };
    let stations = counts.iter().map(|n| Station {
        name: label,
        rows: *n,
        leavers: vec![Leaver { kind: Kind::Held, reason: label, rows: *n, link: None }; 9],
    });
    let bins: Vec<(&str, u64)> = counts.iter().map(|n| (label, *n)).collect();
    let of_bins = Histogram { things: label, bins_name: label, bins: &bins, reference: None };
    let compared = Histogram { reference: Some(Reference { name: label, counts }), ..of_bins };
    let bar = |n: &u64| Bar { label, value: real(*n), second: Some(real(*n)), link: Some("#a") };
    let of_bars: Vec<Bar<'_>> = counts.iter().map(bar).collect();
    let chart = |unit| Bars {
        labels_name: label,
        values_name: label,
        second_name: Some(label),
        unit,
        bars: &of_bars,
    };
    let rows = [Row { label, counts: counts.to_vec() }, Row { label, counts: counts.to_vec() }];
    let parts = vec![label; counts.len()];
    let divided = |is_of_shares| Stacked { labels_name: label, parts: &parts, rows: &rows, is_of_shares };
    let axis = |unit| Axis { name: label, unit, range: None };
    let interval = |n: &u64| Point { x: real(*n), y: real(*n), interval: Some((0.0, real(*n))) };
    let points: Vec<Point> = counts.iter().map(interval).collect();
    let curves = vec![Curve { name: label, points }; 2];
    let by_day: BTreeMap<i32, u64> = (0..).step_by(3).zip(counts.iter().copied()).collect();
    let systems = vec![System { name: label, scores: counts.iter().map(|n| Some(real(*n))).collect() }; 3];
    [
        flow(&of("flow"), label, &stations.collect::<Vec<_>>()),
        histogram(&of("histogram"), &of_bins),
        histogram(&of("compared"), &compared),
        bars(&of("counts"), &chart(Unit::Count)),
        bars(&of("numbers"), &chart(Unit::Number)),
        stacked(&of("sums"), &divided(false)),
        stacked(&of("shares"), &divided(true)),
        curve(&of("curve"), &axis(Unit::Number), &axis(Unit::Percent), &curves),
        days(&of("days"), label, &by_day),
        radar(&of("radar"), &parts, &systems),
        heat(&of("heat"), label, &parts, &rows),
    ]
    .map(maud::Markup::into_string)
    .to_vec()
}

/// Returns data of every size: nothing, zeros, one bin, huge counts, many bins.
fn sizes() -> Vec<Vec<u64>> {
    vec![
        vec![],
        vec![0],
        vec![0, 0, 0],
        vec![7],
        vec![1, 1_000_000_000, 3],
        vec![u64::MAX; 4],
        (0..200).collect(),
    ]
}

#[test]
fn every_figure_has_a_caption_a_title_a_description_and_a_table() {
    for page in all("label", &[3, 0, 5]) {
        let svg = page.matches("<svg ").count();
        assert!(svg > 0 && page.matches("<figure class=\"chart\" id=\"").count() == 1, "{page}");
        assert!(
            page.contains("<figcaption><b>label</b> <span class=\"soft\">label</span></figcaption>"),
            "{page}"
        );
        assert_eq!(
            [page.matches("<title id=\"").count(), page.matches("<desc id=\"").count()],
            [svg; 2],
            "{page}"
        );
        assert_eq!(page.matches(" aria-labelledby=\"").count(), svg, "{page}");
        assert!(
            !page.contains("></desc>") && page.contains("<details><summary>Table</summary><div"),
            "{page}"
        );
        assert!(page.contains("role=\"img\"") != page.contains("<a href"), "{page}");
    }
}

#[test]
fn ids_are_unique_and_every_reference_has_its_id() {
    for counts in sizes() {
        let page = all("label", &counts).concat();
        let ids: Vec<&str> =
            page.split(" id=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
        let unique: BTreeSet<&str> = ids.iter().copied().collect();
        assert_eq!(unique.len(), ids.len(), "{ids:?}");
        for reference in ["aria-labelledby=\"", "aria-describedby=\""] {
            for rest in page.split(reference).skip(1) {
                assert!(unique.contains(rest.split('"').next().unwrap()), "{rest}");
            }
        }
    }
}

#[test]
fn texts_of_the_data_are_escaped() {
    for label in ["<script>&\"</b>", "a\u{202e}\u{7}\n"] {
        for page in all(label, &[3, 1]) {
            assert!(
                !page.contains("<script") && !page.contains("</b> <b>") && !page.contains("\"</"),
                "{page}"
            );
            let svg = page.split("<figcaption>").nth(1).unwrap().split("</figcaption>").nth(1).unwrap();
            let drawn = svg.split("<details>").next().unwrap();
            assert!(!drawn.contains(['\u{202e}', '\u{7}', '\n']), "{drawn}");
        }
    }
}

#[test]
fn data_of_every_size_have_finite_coordinates_of_one_decimal() {
    for counts in sizes() {
        for page in all("a label that is rather long for a chart", &counts) {
            for attribute in [" d=\"", " x=\"", " y=\"", " viewBox=\""] {
                for rest in page.split(attribute).skip(1) {
                    let value = rest.split('"').next().unwrap();
                    let number = |c: char| c.is_ascii_digit() || c == '.' || c == '-';
                    for text in value.split(|c| !number(c)).filter(|text| !text.is_empty()) {
                        let decimals = text.split('.').nth(1).unwrap_or_default().split('-').next().unwrap();
                        assert!(decimals.len() <= 1, "{value}");
                    }
                    assert!(!value.contains("NaN") && !value.contains("inf"), "{value}");
                    assert!(!value.contains("h--") && !value.contains("v-"), "{value}");
                }
            }
        }
    }
}

#[test]
fn the_same_data_give_the_same_bytes() {
    for counts in sizes() {
        assert_eq!(all("label", &counts), all("label", &counts));
    }
}

#[test]
fn no_chart_has_colours_or_styles_of_its_own() {
    for page in all("label", &[3, 1]) {
        for own in ["style=", "fill=", "stroke=", "#fff", "rgb("] {
            assert!(!page.contains(own), "{own}: {page}");
        }
    }
}

/// Returns the luminance of a colour such as `#1c2430`, as WCAG defines it.
fn luminance(colour: &str) -> f64 {
    let part = |at: usize| f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
    let linear = |part: f64| if part <= 0.040_45 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) };
    0.2126 * linear(part(1)) + 0.7152 * linear(part(3)) + 0.0722 * linear(part(5))
}

#[test]
fn colours_stand_out_from_their_background_in_both_schemes() {
    let style = include_str!("../style.css");
    let schemes: Vec<BTreeMap<&str, &str>> = style
        .split(":root {")
        .skip(1)
        .map(|rest| rest.split('}').next().unwrap())
        .map(|rules| rules.split(';').filter_map(|rule| rule.trim().split_once(": ")).collect())
        .collect();
    assert_eq!(schemes.len(), 2);
    let texts = ["--ink", "--soft", "--a", "--good", "--bad"].map(|name| (name, 4.5));
    let marks = ["--b", "--c", "--d", "--e", "--f"].map(|name| (name, 3.0));
    for scheme in schemes {
        for background in ["--paper", "--card"] {
            for (name, least) in texts.into_iter().chain(marks) {
                let [a, b] = [name, background].map(|name| luminance(scheme[name]) + 0.05);
                let contrast = a.max(b) / a.min(b);
                assert!(contrast >= least, "{name} on {background}: {contrast:.2}");
            }
        }
    }
}
