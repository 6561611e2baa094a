//! Writes a page with all charts, of made-up data: `cargo run -p callsieve-page --example gallery > gallery.html`.

use std::collections::BTreeMap;
use std::io::Write as _;

use maud::{Markup, html};

use callsieve_page::chart::bars::{Bar, Bars, bars};
use callsieve_page::chart::curve::{Axis, Curve, Point, curve};
use callsieve_page::chart::days::days;
use callsieve_page::chart::flow::{Kind, Leaver, Station, flow};
use callsieve_page::chart::heat::heat;
use callsieve_page::chart::histogram::{Histogram, Reference, histogram};
use callsieve_page::chart::radar::{System, radar};
use callsieve_page::chart::stacked::{Stacked, stacked};
use callsieve_page::chart::{Figure, Row, Unit, figures};
use callsieve_page::sections::{contents, fold, section};
use callsieve_page::table::{Column, filtered};
use callsieve_page::{code, command, document_with_script, number};

fn main() -> std::io::Result<()> {
    let head = html! {
        h1 { "Charts" }
        p { "All charts, of made-up data." }
        (contents(&[("funnel", "Funnel"), ("composition", "Composition"), ("measures", "Measures"), ("rows", "Rows"), ("rebuild", "How to rebuild")]))
    };
    let sections = [
        head,
        section(
            "funnel",
            "Funnel",
            html! {
                (funnel("flow-15", "From the log to the dataset", 15, 64_517))
                (funnel("flow-25", "A long pipeline with a billion rows", 25, 1_000_000_000))
                (funnel("flow-3", "Three stations", 3, 0))
            },
        ),
        section("composition", "Composition", figures(composition())),
        section("measures", "Measures", figures(measures())),
        section("rows", "Rows", rows()),
        section(
            "rebuild",
            "How to rebuild",
            html! {
                (command("callsieve run pipeline.toml --out out/run"))
                (fold("Pipeline of this run", html! { pre { "[[stage]]\nkind = \"lint\"" } }))
            },
        ),
    ];
    std::io::stdout().lock().write_all(document_with_script("Charts", sections).as_bytes())
}

fn named<'a>(id: &'a str, title: &'a str) -> Figure<'a> {
    Figure { id, title, description: "" }
}

/// The names and reasons of the funnel; longer funnels repeat them.
const STAGES: [(&str, &[(Kind, &str)]); 8] = [
    ("read-log", &[(Kind::Redirected, "no function docs"), (Kind::Dropped, "unreadable line")]),
    (
        "normalise-docs",
        &[
            (Kind::Dropped, "schema/missing-required-parameter-in-nested-object"),
            (Kind::Held, "schema/vague"),
        ],
    ),
    ("merge-exact-docs", &[(Kind::Merged, "merge/exact")]),
    ("merge-near-requests-of-one-doc-list", &[(Kind::Merged, "merge/near-duplicate")]),
    ("redact", &[]),
    (
        "judge-relevance",
        &[
            (Kind::Held, "relevance/unsure"),
            (Kind::Dropped, "relevance/chat"),
            (Kind::Dropped, "relevance/other-language"),
        ],
    ),
    ("cap-templates", &[(Kind::Dropped, "template/machine"), (Kind::Merged, "template/same-values")]),
    (
        "split",
        &[
            (Kind::Redirected, "split/unverified"),
            (Kind::Dropped, "a"),
            (Kind::Dropped, "b"),
            (Kind::Dropped, "c"),
            (Kind::Held, "d"),
        ],
    ),
];

fn funnel(id: &str, title: &str, stations: usize, rows: u64) -> Markup {
    let mut left = rows;
    let station = |at: usize| {
        let (name, reasons) = STAGES[at % STAGES.len()];
        let mut leavers = Vec::new();
        for (place, (kind, reason)) in (0_u64..).zip(reasons) {
            let gone =
                if reason.len() == 1 { left.min(2) } else { left / (3 + 2 * (at as u64 % 5) + 5 * place) };
            left -= gone;
            leavers.push(Leaver { kind: *kind, reason, rows: gone, link: (place == 0).then_some("#rows") });
        }
        Station { name, rows: left, leavers }
    };
    let stations: Vec<Station<'_>> = (0..stations).map(station).collect();
    let description = "Widths are proportional to requests; removed requests leave to the right. Bold numbers are the requests that remain.";
    flow(&Figure { id, title, description }, "requests", &stations)
}

fn composition() -> Vec<Markup> {
    let bins = [
        ("1", 2_310),
        ("2", 1_204),
        ("3", 811),
        ("4", 402),
        ("5-8", 733),
        ("9-16", 240),
        ("17-32", 12),
        ("33+", 0),
    ];
    let few =
        Histogram { things: "entries", bins_name: "functions of an entry", bins: &bins, reference: None };
    let reference = Reference { name: "BFCL v4 live", counts: &[258, 410, 700, 300, 420, 130, 30, 10] };
    let labels: Vec<String> = (0..60).map(|at| (at * 10).to_string()).collect();
    let many: Vec<(&str, u64)> =
        labels.iter().zip(0..).map(|(label, at)| (label.as_str(), 1_000_000 / (at + 7) * (at % 9))).collect();
    let reasons = [
        ("schema/missing-required-parameter-in-nested-object", 1_204.0),
        ("merge/near-duplicate", 811.0),
        ("request/too-short", 12.0),
        ("rare", 0.0),
    ];
    let reasons = reasons.map(|(label, value)| Bar { label, value, second: None, link: Some("#rows") });
    let shares = [
        ("simple", 41.2, 22.0),
        ("multiple", 38.0, 61.3),
        ("parallel", 4.1, 1.4),
        ("irrelevance", 16.7, 15.3),
    ];
    let shares = shares.map(|(label, value, second)| Bar { label, value, second: Some(second), link: None });
    let tiers = [
        ("live_simple", [812, 210, 41, 7]),
        ("live_multiple", [400, 520, 90, 0]),
        ("live_parallel", [31, 12, 0, 0]),
        ("irrelevance", [0, 300, 120, 55]),
    ];
    let tiers = tiers.map(|(label, counts)| Row { label, counts: counts.to_vec() });
    let parts = ["verified by two judges", "verified", "unverified", "held"];
    let divided =
        |is_of_shares| Stacked { labels_name: "category", parts: &parts, rows: &tiers, is_of_shares };
    let matrix: Vec<Row<'_>> = ["English", "German", "Japanese"]
        .iter()
        .zip(1..)
        .map(|(label, at)| Row { label, counts: (0..5).map(|n| 3_000 / (at * at * (n + 1)) - 1).collect() })
        .collect();
    let wide: Vec<Row<'_>> = ["simple", "multiple"]
        .iter()
        .zip(1..)
        .map(|(label, at)| Row { label, counts: (0..14).map(|n| n * n * 997 / at).collect() })
        .collect();
    let names = ["simple", "multiple", "parallel", "irrel.", "relev."];
    vec![
        histogram(&named("h-own", "Functions per entry"), &few),
        histogram(
            &Figure {
                description: "Shares of both sets.",
                ..named("h-two", "Functions per entry, compared")
            },
            &Histogram { reference: Some(reference), ..few },
        ),
        histogram(
            &named("h-many", "Length of requests"),
            &Histogram { bins: &many, bins_name: "characters", ..few },
        ),
        histogram(&named("h-one", "One bin"), &Histogram { bins: &[("all", 1_000_000_000)], ..few }),
        bars(
            &named("b-links", "Reasons"),
            &Bars {
                labels_name: "reason",
                values_name: "requests",
                second_name: None,
                unit: Unit::Count,
                bars: &reasons,
            },
        ),
        bars(
            &named("b-two", "Categories"),
            &Bars {
                labels_name: "category",
                values_name: "this dataset",
                second_name: Some("BFCL v4 live"),
                unit: Unit::Percent,
                bars: &shares,
            },
        ),
        stacked(&named("s-sums", "Tiers by category"), &divided(false)),
        stacked(&named("s-shares", "Tiers by category, shares"), &divided(true)),
        heat(&named("m", "Languages by category"), "language", &names, &matrix),
        heat(&named("m-wide", "A matrix of many columns"), "category", &["turn"; 14], &wide),
    ]
}

fn measures() -> Vec<Markup> {
    let x = Axis { name: "threshold", unit: Unit::Number, range: Some((0.0, 1.0)) };
    let y = Axis { name: "precision", unit: Unit::Percent, range: None };
    let point = |at: u8, slope: f64| {
        let x = f64::from(at) / 10.0;
        let y = 100.0 - slope * (1.0 - x) * (1.0 - x);
        Point { x, y, interval: Some((y - slope / 9.0, (y + slope / 12.0).min(100.0))) }
    };
    let line = |name, slope| Curve { name, points: (0..=10).map(|at| point(at, slope)).collect() };
    let no_interval = |curve: Curve<'static>| Curve {
        points: curve.points.into_iter().map(|point| Point { interval: None, ..point }).collect(),
        ..curve
    };
    let several = [line("relevant", 30.0), line("irrelevant", 45.0), line("held", 66.0)].map(no_interval);
    let mut by_day: BTreeMap<i32, u64> = (0..60)
        .filter(|day| !(20..31).contains(day))
        .map(|day: i32| (20_500 + day, u64::from(day.unsigned_abs()) * 37 % 411 + 90))
        .collect();
    let recent = days(&named("d", "Requests by day"), "requests", &by_day);
    by_day.extend((0..300).map(|day: i32| (20_700 + day, u64::from(day.unsigned_abs()) % 170)));
    let system = |name, scores: &[f64]| System {
        name,
        scores: scores.iter().map(|score| (*score > 0.0).then_some(*score)).collect(),
    };
    let short = ["simple", "multiple", "parallel", "irrel.", "relev."];
    let long = [
        "live_simple",
        "live_multiple",
        "live_parallel",
        "live_parallel_multiple",
        "live_relevance",
        "live_irrelevance",
        "multi_turn_base",
        "multi_turn_long_context",
        "web_search",
        "memory_kv",
        "memory_vector",
        "format",
    ];
    let systems = [
        system("model A", &[88.0, 71.0, 62.0, 90.0, 77.0]),
        system("model B", &[70.0, 80.0, 0.0, 66.0, 81.0]),
        system("a model with a long name", &[51.0, 40.0, 33.0, 95.0, 60.0]),
    ];
    let twelve = [
        system("model A", &[88.0, 71.0, 62.0, 50.0, 77.0, 81.0, 40.0, 33.0, 25.0, 60.0, 64.0, 90.0]),
        system("model B", &[70.0, 80.0, 40.0, 66.0, 81.0, 60.0, 55.0, 20.0, 10.0, 41.0, 30.0, 99.0]),
    ];
    vec![
        curve(
            &Figure {
                description: "The band is the 95 % interval.",
                ..named("c-band", "Precision by threshold")
            },
            &x,
            &y,
            &[line("relevant", 30.0)],
        ),
        curve(&named("c-three", "Three curves"), &x, &y, &several),
        recent,
        days(&named("d-weeks", "Requests by week"), "requests", &by_day),
        radar(&named("r", "Scores by category"), &short, &systems),
        radar(&named("r-12", "Scores on twelve axes"), &long, &twelve),
    ]
}

fn rows() -> Markup {
    let columns =
        [Column::key("stage"), Column::key("reason"), Column::text("assistant"), Column::number("rows")];
    let rows = STAGES
        .iter()
        .flat_map(|(stage, reasons)| reasons.iter().map(move |(kind, reason)| (stage, kind, reason)));
    let cells = rows.zip(0..).map(|((stage, kind, reason), at)| {
        vec![code(stage), code(reason), html! { (kind.name()) }, number(at * at * 31)]
    });
    filtered(&["stage", "assistant"], &columns, cells)
}
