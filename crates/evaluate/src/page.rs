//! The page of scores: systems side by side, as pictures with their tables.
//!
//! Systems are ranked by the share of correct outputs. Texts of models stand in examples of errors only, folded.

use std::collections::{BTreeMap, BTreeSet};

use callsieve_page::chart::bars::{Bar, Bars, bars};
use callsieve_page::chart::radar::{System as Outline, radar};
use callsieve_page::chart::stacked::{Stacked, stacked};
use callsieve_page::chart::{Figure, MAX_SERIES, Row as Counts, Unit, figures};
use callsieve_page::sections::{contents, fold, section};
use callsieve_page::table::{Column, NamedColumn, small, wide};
use callsieve_page::{code, document, number, tile};
use callsieve_text::figures::{count, counted, interval, share, wilson};
use callsieve_text::short::shortened;
use maud::{Markup, html};

use super::figures::CategoryFigures;
use super::groups::GroupMean;
use super::{Evaluation, SystemScore};

/// Axes of a radar that can be told apart.
const AXES: std::ops::RangeInclusive<usize> = 3..=12;
/// Error types that have a colour of their own; the rest is one part.
const MOST_TYPES: usize = MAX_SERIES - 1;
/// Characters of an example.
const MOST_CHARS: usize = 200;
/// Categories of V1 beside those of Live.
const BESIDE_LIVE: [(&str, &str); 4] = [
    ("simple_python", "live_simple"),
    ("multiple", "live_multiple"),
    ("parallel", "live_parallel"),
    ("parallel_multiple", "live_parallel_multiple"),
];
/// The older names of a category.
const OLDER: [(&str, &str); 1] = [("simple", "simple_python")];

/// Returns the page of an evaluation.
pub fn page(scores: &Evaluation<'_>) -> String {
    let mut ranked: Vec<&SystemScore<'_>> = scores.systems.iter().collect();
    ranked.sort_by(|a, b| b.accuracy().total_cmp(&a.accuracy()).then_with(|| a.name.cmp(b.name)));
    let sections = [
        ("ranking", "Ranking", Some(ranking(&ranked))),
        ("categories", "Categories", categories(&ranked)),
        ("live", "V1 against Live", against_live(&ranked)),
        ("errors", "Errors", errors(&ranked)),
        ("pairs", "Two systems on the same outputs", pairs(scores)),
        ("not-scored", "Not scored", not_scored(scores)),
    ];
    let shown: Vec<_> =
        sections.into_iter().filter_map(|(id, title, body)| Some((id, title, body?))).collect();
    let titles: Vec<(&str, &str)> = shown.iter().map(|(id, title, _)| (*id, *title)).collect();
    let list = contents(&titles);
    let parts = shown.into_iter().map(|(id, title, body)| section(id, title, body));
    document("Scores", [head(scores), list].into_iter().chain(parts))
}

fn head(scores: &Evaluation<'_>) -> Markup {
    let n: usize = scores.systems.iter().map(|system| system.total().1).sum();
    let names: BTreeSet<&str> =
        scores.systems.iter().flat_map(|system| &system.categories).map(|of| of.category.as_str()).collect();
    html! {
        h1 { "Scores" }
        div.tiles {
            (tile(&count(scores.systems.len() as u64), "systems"))
            (tile(&count(n as u64), "scored outputs"))
            (tile(&count(names.len() as u64), "categories"))
        }
        p.soft {
            "An output is correct as the official evaluator of BFCL decides. Intervals are Wilson's of 95 %; two systems whose "
            "intervals overlap need the table of pairs before one is called better."
        }
        @if !scores.warnings.is_empty() {
            ul { @for warning in &scores.warnings { li { (warning) } } }
        }
    }
}

/// The means that BFCL itself forms.
fn of_bfcl<'s>(system: &'s SystemScore<'_>) -> impl Iterator<Item = &'s GroupMean> {
    system.groups.iter().filter(|group| group.by == "BFCL")
}

fn ranking(ranked: &[&SystemScore<'_>]) -> Markup {
    let mut means: Vec<&str> = Vec::new();
    for group in ranked.iter().flat_map(|system| of_bfcl(system)) {
        if group.accuracy.is_some() && !means.contains(&group.name) {
            means.push(group.name);
        }
    }
    let mut columns = vec![
        Column::number("rank"),
        Column::key("system"),
        Column::number("n"),
        Column::number("correct"),
        Column::number("accuracy"),
        Column::number("95 % interval"),
    ];
    columns.extend(means.iter().map(|name| NamedColumn::number(name)));
    let row = |(at, system): (usize, &&SystemScore<'_>)| {
        let (correct, n) = system.total();
        let figures = [
            number(at as u64 + 1),
            code(system.name),
            number(n as u64),
            number(correct as u64),
            html! { (share(system.accuracy())) },
            html! { (interval(wilson(correct, n))) },
        ];
        let mean = |name: &&str| {
            let group = of_bfcl(system).find(|group| group.name == *name);
            html! { (group.and_then(|group| group.accuracy).map_or_else(|| "–".to_owned(), share)) }
        };
        figures.into_iter().chain(means.iter().map(mean)).collect()
    };
    let all: Vec<Bar<'_>> = ranked
        .iter()
        .map(|system| Bar { label: system.name, value: system.accuracy() * 100.0, second: None, link: None })
        .collect();
    let chart = Bars {
        labels_name: "system",
        values_name: "accuracy",
        second_name: None,
        unit: Unit::Percent,
        bars: &all,
    };
    let of = Figure { id: "accuracy", title: "Correct outputs", description: "Of all categories together." };
    let outlines = outlines(ranked);
    html! {
        (wide(&columns, ranked.iter().enumerate().map(row)))
        (figures(std::iter::once(bars(&of, &chart)).chain(outlines)))
    }
}

/// The first systems as outlines over the categories, or over the means of BFCL if there are more categories than can be read.
fn outlines(ranked: &[&SystemScore<'_>]) -> Option<Markup> {
    type Scores<'s> = Vec<(&'s str, BTreeMap<&'s str, f64>)>;
    let first = &ranked[..ranked.len().min(MAX_SERIES)];
    let by_category: Scores<'_> = first
        .iter()
        .map(|system| {
            (system.name, system.categories.iter().map(|of| (of.category.as_str(), of.accuracy)).collect())
        })
        .collect();
    let by_group: Scores<'_> = first
        .iter()
        .map(|system| {
            let means = of_bfcl(system).filter_map(|group| Some((group.name, group.accuracy?)));
            (system.name, means.collect())
        })
        .collect();
    let (axes, scores) = [by_category, by_group].into_iter().find_map(|scores| {
        let axes: BTreeSet<&str> = scores.iter().flat_map(|(_, of)| of.keys().copied()).collect();
        AXES.contains(&axes.len()).then(|| (axes.into_iter().collect::<Vec<_>>(), scores))
    })?;
    let systems: Vec<Outline<'_>> = scores
        .iter()
        .map(|(name, of)| Outline {
            name,
            scores: axes.iter().map(|axis| of.get(axis).map(|accuracy| accuracy * 100.0)).collect(),
        })
        .collect();
    let description = if ranked.len() > first.len() {
        "The first of the ranking, in percent of correct outputs."
    } else {
        "Percent of correct outputs."
    };
    let of = Figure { id: "outlines", title: "Where systems are strong", description };
    Some(radar(&of, &axes, &systems))
}

fn categories(ranked: &[&SystemScore<'_>]) -> Option<Markup> {
    let mut names: Vec<&str> = Vec::new();
    for of in ranked.iter().flat_map(|system| &system.categories) {
        if !names.contains(&of.category.as_str()) {
            names.push(&of.category);
        }
    }
    let mut columns = vec![Column::key("category")];
    columns.extend(ranked.iter().map(|system| NamedColumn::number(system.name)));
    let cell = |of: Option<&CategoryFigures>| match of {
        None => html! { "–" },
        Some(of) => html! {
            span title=(format!("{} of {}; {}", count(of.correct as u64), count(of.n as u64), interval(of.interval))) {
                (share(of.accuracy))
            }
        },
    };
    let find = |system: &SystemScore<'_>, name: &str| -> Option<usize> {
        system.categories.iter().position(|of| of.category == name)
    };
    let row = |name: &&str| {
        let cells = ranked.iter().map(|system| cell(find(system, name).map(|at| &system.categories[at])));
        std::iter::once(code(name)).chain(cells).collect()
    };
    let of_system = |system: &&SystemScore<'_>| {
        let columns = [
            Column::key("category"),
            Column::number("n"),
            Column::number("correct"),
            Column::number("accuracy"),
            Column::number("95 % interval"),
            Column::number("without an output"),
        ];
        let row = |of: &CategoryFigures| {
            vec![
                code(&of.category),
                number(of.n as u64),
                number(of.correct as u64),
                html! { (share(of.accuracy)) },
                html! { (interval(of.interval)) },
                number(of.missing as u64),
            ]
        };
        fold(system.name, small(&columns, system.categories.iter().map(row)))
    };
    (!names.is_empty()).then(|| {
        html! {
            (wide(&columns, names.iter().map(row)))
            p.soft { "Counts and intervals of each system:" }
            @for system in ranked { (of_system(system)) }
        }
    })
}

/// The accuracy of a category, by its name of today.
fn accuracy(system: &SystemScore<'_>, name: &str) -> Option<f64> {
    let current = |of: &CategoryFigures| {
        let found = OLDER.iter().find(|(older, _)| *older == of.category);
        found.map_or(of.category.as_str(), |(_, today)| today) == name
    };
    system.categories.iter().find(|of| current(of)).map(|of| of.accuracy * 100.0)
}

fn against_live(ranked: &[&SystemScore<'_>]) -> Option<Markup> {
    let charts: Vec<Markup> = ranked
        .iter()
        .take(MAX_SERIES)
        .enumerate()
        .filter_map(|(at, system)| {
            let both = BESIDE_LIVE.iter().filter_map(|(of_v1, live)| {
                let (value, second) = (accuracy(system, of_v1)?, accuracy(system, live)?);
                Some(Bar { label: live.trim_start_matches("live_"), value, second: Some(second), link: None })
            });
            let all: Vec<Bar<'_>> = both.collect();
            let chart = Bars {
                labels_name: "category",
                values_name: "V1",
                second_name: Some("Live"),
                unit: Unit::Percent,
                bars: &all,
            };
            let id = format!("live-{}", at + 1);
            let of = Figure { id: &id, title: system.name, description: "" };
            (!all.is_empty()).then(|| bars(&of, &chart))
        })
        .collect();
    (!charts.is_empty()).then(|| {
        html! {
            p.soft { "Written entries beside those from people's requests. A system that falls much on Live may know the written ones." }
            (figures(charts))
        }
    })
}

fn errors(ranked: &[&SystemScore<'_>]) -> Option<Markup> {
    let mut by_type: BTreeMap<&str, usize> = BTreeMap::new();
    for error in ranked.iter().flat_map(|system| &system.categories).flat_map(|of| &of.errors) {
        *by_type.entry(&error.error_type).or_default() += error.n;
    }
    let mut types: Vec<(&str, usize)> = by_type.into_iter().collect();
    types.sort_by_key(|(name, n)| (std::cmp::Reverse(*n), *name));
    let own: Vec<&str> = types.iter().take(MOST_TYPES).map(|(name, _)| *name).collect();
    let has_others = types.len() > own.len();
    let parts: Vec<&str> = own.iter().copied().chain(has_others.then_some("other types")).collect();
    let rows: Vec<Counts<'_>> = ranked
        .iter()
        .map(|system| {
            let mut counts = vec![0_u64; parts.len()];
            for error in system.categories.iter().flat_map(|of| &of.errors) {
                let at = own.iter().position(|name| *name == error.error_type).unwrap_or(own.len());
                counts[at] += error.n as u64;
            }
            Counts { label: system.name, counts }
        })
        .collect();
    let chart = Stacked { labels_name: "system", parts: &parts, rows: &rows, is_of_shares: false };
    let of = Figure { id: "error-types", title: "Wrong outputs by type", description: "" };
    (!types.is_empty()).then(|| {
        html! {
            (figures([stacked(&of, &chart)]))
            p.soft { "The first output of each type:" }
            @for system in ranked { (examples(system)) }
        }
    })
}

fn examples(system: &SystemScore<'_>) -> Markup {
    let columns = [
        Column::key("category"),
        Column::key("type"),
        Column::number("n"),
        Column::key("first"),
        Column::prose("what the evaluator says"),
    ];
    let all = system.categories.iter().flat_map(|of| of.errors.iter().map(move |error| (of, error)));
    let n: usize = system.categories.iter().flat_map(|of| &of.errors).map(|error| error.n).sum();
    let rows = all.map(|(of, error)| {
        vec![
            code(&of.category),
            code(&error.error_type),
            number(error.n as u64),
            code(&error.example),
            html! { (shortened(&error.message, MOST_CHARS)) },
        ]
    });
    let title = format!("{}: {}", system.name, counted(n as u64, "wrong output", "wrong outputs"));
    html! { @if n > 0 { (fold(&title, wide(&columns, rows))) } }
}

fn pairs(scores: &Evaluation<'_>) -> Option<Markup> {
    let columns = [
        Column::key("A"),
        Column::key("B"),
        Column::number("n"),
        Column::number("both"),
        Column::number("only A"),
        Column::number("only B"),
        Column::number("neither"),
        Column::number("A - B"),
        Column::number("p"),
    ];
    let rows = scores.pairs.iter().filter(|pair| pair.n > 0).map(|pair| {
        let counts = [pair.n, pair.both, pair.only_a, pair.only_b, pair.neither].map(|n| number(n as u64));
        let figures = pair.shown().map(|figure| html! { (figure) });
        [code(&pair.a), code(&pair.b)].into_iter().chain(counts).chain(figures).collect()
    });
    (!scores.pairs.is_empty()).then(|| {
        html! {
            p.soft { "Outputs that both have, by which of them is correct; p is that of McNemar's exact test." }
            (wide(&columns, rows))
        }
    })
}

fn not_scored(scores: &Evaluation<'_>) -> Option<Markup> {
    let columns = [Column::key("category"), Column::prose("reason")];
    let rows = scores.not_scored.iter().map(|(category, reason)| vec![code(category), html! { (reason) }]);
    (!scores.not_scored.is_empty()).then(|| wide(&columns, rows))
}
