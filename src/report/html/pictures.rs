//! The pictures of a page: the funnel as a flow, what the dataset is made of, why rows were removed, when requests were sent.

use maud::{Markup, html};

use crate::bfcl::category::Category;
use crate::engine::vocabulary::{Action, TableId};
use crate::page::chart::bars::{Bar, Bars, bars};
use crate::page::chart::curve::{Axis, Curve, Point, curve};
use crate::page::chart::days::days;
use crate::page::chart::flow::{Kind, Leaver, Station, flow};
use crate::page::chart::histogram::{Histogram, Reference, histogram};
use crate::page::chart::stacked::{Stacked, stacked};
use crate::page::chart::{Figure, Row, Unit, figures};
use crate::relevance::measure::Label;
use crate::relevance::operating::OperatingPoint;
use crate::report::distributions::Sizes;
use crate::report::funnel::FunnelRow;
use crate::report::model::{Report, SETS};
use crate::report::percent;
use crate::report::published::{CATEGORIES, LIVE};
use crate::text::figures::count;

/// The actions by which rows leave, with how the flow shows them.
const LEAVES: [(Action, Kind); 3] =
    [(Action::Merge, Kind::Merged), (Action::Drop, Kind::Dropped), (Action::Hold, Kind::Held)];

/// Bars that are drawn at most; the tables of the page have the others.
pub(super) const MOST_BARS: usize = 16;

/// Requests that a step removes for one reason.
pub(super) struct Removed<'r> {
    /// The id of the step.
    pub(super) step: &'r str,
    /// What happens to them.
    pub(super) action: Action,
    /// The reason's code.
    pub(super) reason: &'r str,
    /// How many there are.
    pub(super) rows: u64,
}

/// The funnel: the requests that remain after each step that removes some, and why the others leave.
pub(super) fn funnel(report: &Report) -> Markup {
    let of_requests = report.fates.iter().filter(|fate| fate.table == TableId::Requests.name());
    let removed: Vec<Removed<'_>> = of_requests
        .filter_map(|fate| {
            let action = LEAVES.into_iter().map(|(action, _)| action).find(|it| it.name() == fate.action)?;
            Some(Removed { step: &fate.stage, action, reason: &fate.reason, rows: fate.rows })
        })
        .collect();
    let figure = Figure {
        id: "flow",
        title: "From requests read to requests kept",
        description: "Only steps that remove requests are drawn.",
    };
    flow_of(&figure, "requests", &report.funnel, &removed, Some(target)).unwrap_or_default()
}

/// The flow of a funnel, if a step of it removes rows; `link` is the target of the links of an action.
pub(super) fn flow_of(
    figure: &Figure<'_>,
    things: &str,
    funnel: &[FunnelRow],
    removed: &[Removed<'_>],
    link: Option<fn(Action) -> &'static str>,
) -> Option<Markup> {
    let leavers = |step: &str| {
        let mut all: Vec<Leaver<'_>> = Vec::new();
        for (action, kind) in LEAVES {
            let of_step = removed.iter().filter(|it| it.step == step && it.action == action);
            all.extend(of_step.map(|it| Leaver {
                kind,
                reason: it.reason,
                rows: it.rows,
                link: link.map(|target| target(action)),
            }));
        }
        all.sort_by(|one, other| other.rows.cmp(&one.rows).then(one.reason.cmp(other.reason)));
        all
    };
    let mut stations: Vec<Station<'_>> = Vec::new();
    let mut before = None;
    for row in funnel {
        // Steps that leave every request are in the list of steps.
        if before != Some(row.requests) || stations.is_empty() {
            stations.push(Station { name: &row.step, rows: row.requests, leavers: leavers(&row.step) });
        }
        before = Some(row.requests);
    }
    (stations.len() > 1).then(|| flow(figure, things, &stations))
}

/// The id of the section of an action.
pub(super) fn target(action: Action) -> &'static str {
    match action {
        Action::Merge => "#merge",
        Action::Drop => "#drop",
        Action::Hold => "#hold",
    }
}

/// The categories of the dataset, with what is verified.
fn categories(report: &Report) -> Option<Markup> {
    let rows: Vec<Row<'_>> = Category::ALL
        .iter()
        .map(|category| Row {
            label: category.name(),
            counts: SETS.map(|(set, _)| report.entries(set, Some(category.name()))).to_vec(),
        })
        .filter(|row| row.counts.iter().any(|n| *n > 0))
        .collect();
    let chart = Stacked {
        labels_name: "category",
        parts: &["scored", "unverified"],
        rows: &rows,
        is_of_shares: false,
    };
    let figure = Figure { id: "categories", title: "Entries by category", description: "" };
    (!rows.is_empty()).then(|| stacked(&figure, &chart))
}

/// The shares of the categories, beside those of the published set.
fn shares_of_categories(report: &Report) -> Option<Markup> {
    let of_category = |name: &str| SETS.iter().map(|(set, _)| report.entries(set, Some(name))).sum::<u64>();
    let of_published: u64 = CATEGORIES.iter().map(|(_, n)| n).sum();
    let all: Vec<Bar<'_>> = CATEGORIES
        .iter()
        .map(|(category, n)| Bar {
            label: category.name(),
            value: percent(of_category(category.name()), report.all_entries()),
            second: Some(percent(*n, of_published)),
            link: None,
        })
        .collect();
    let chart = Bars {
        labels_name: "category",
        values_name: "entries",
        second_name: Some(LIVE),
        unit: Unit::Percent,
        bars: &all,
    };
    let figure = Figure { id: "category-shares", title: "Shares of the categories", description: "" };
    (report.all_entries() > 0).then(|| bars(&figure, &chart))
}

/// What the entries are: categories, tiers, languages, and how large they are.
pub(super) fn composition(report: &Report) -> Markup {
    let distributions = &report.distributions;
    let all = [
        ("functions", "Functions of an entry", "entries", "functions", distributions.functions()),
        ("parameters", "Parameters of a function", "functions", "parameters", distributions.parameters()),
        ("words", "Words of a query", "entries", "words", distributions.words()),
    ];
    let mut drawn: Vec<Markup> = categories(report).into_iter().chain(shares_of_categories(report)).collect();
    drawn.extend(all.into_iter().filter_map(|(id, title, things, bins_name, bins)| {
        sizes(&Figure { id, title, description: "" }, (things, bins_name), bins)
    }));
    let named = |id: &'static str, title: &'static str, label: &'static str, of: Vec<(&str, u64)>| {
        named_counts(&Figure { id, title, description: "" }, (label, "entries"), of)
    };
    let entries = &report.entries;
    let has_all = entries.tier.values().sum::<u64>() == report.all_entries();
    let description = if has_all { "" } else { NO_TIER };
    let tiers = Figure { id: "tiers", title: "Entries by tier", description };
    drawn.extend(named_counts(&tiers, ("tier", "entries"), counts(&entries.tier)));
    drawn.extend(named("languages", "Entries by language", "language", counts(&entries.language)));
    html! { @if !drawn.is_empty() { (figures(drawn)) } }
}

/// Why the entries by tier may be fewer than all.
const NO_TIER: &str = "Entries with a scored label and no answer have no tier.";

/// What was read: log formats, and days.
pub(super) fn log(report: &Report) -> Markup {
    let mut drawn: Vec<Markup> = Vec::new();
    let formats = Figure { id: "formats", title: "Requests by log format", description: "" };
    drawn.extend(named_counts(&formats, ("log format", "requests"), counts(&report.log_formats)));
    let by_day = &report.distributions.requests_by_day;
    if by_day.len() > 1 {
        let figure = Figure { id: "days", title: "Requests by day", description: "Days in UTC." };
        drawn.push(days(&figure, "requests", by_day));
    }
    drawn.extend(assistants(report));
    html! { @if !drawn.is_empty() { (figures(drawn)) } }
}

/// The assistants that sent most, with what became of their requests.
fn assistants(report: &Report) -> Option<Markup> {
    let senders = &report.senders;
    let rows: Vec<Row<'_>> = senders
        .largest
        .iter()
        .map(|it| Row { label: &it.name, counts: vec![it.kept, it.merged, it.dropped, it.held] })
        .collect();
    let chart = Stacked {
        labels_name: "assistant",
        parts: &["kept", "merged", "dropped", "held"],
        rows: &rows,
        is_of_shares: false,
    };
    let others = senders.assistants - rows.len() as u64;
    let description = match others {
        0 => "The app, team or trace that the log names, and what became of its requests.".to_owned(),
        n => format!(
            "The app, team or trace that the log names, and what became of its requests. {} more sent fewer.",
            count(n)
        ),
    };
    let figure = Figure { id: "assistants", title: "Requests by assistant", description: &description };
    (!rows.is_empty()).then(|| stacked(&figure, &chart))
}

/// Why rows were removed, and what was replaced.
pub(super) fn removed(report: &Report) -> Markup {
    let mut drawn = Vec::new();
    for (action, id, title) in [
        (Action::Drop, "why-dropped", "Dropped requests by reason"),
        (Action::Hold, "why-held", "Held requests by reason"),
        (Action::Merge, "why-merged", "Merged requests by reason"),
    ] {
        let of = report
            .fates
            .iter()
            .filter(|fate| fate.action == action.name() && fate.table == TableId::Requests.name());
        let of = of.map(|fate| (fate.reason.as_str(), fate.rows)).collect();
        drawn.extend(named_counts(&Figure { id, title, description: "" }, ("reason", "requests"), of));
    }
    html! { @if !drawn.is_empty() { (figures(drawn)) } }
}

/// Places that were redacted, by kind.
pub(super) fn redacted(report: &Report) -> Markup {
    let figure = Figure { id: "redacted", title: "Replaced places by kind", description: "" };
    named_counts(&figure, ("kind", "places"), counts(&report.redacted)).unwrap_or_default()
}

/// What language models cost and saved, by stage, in US dollars.
pub(super) fn costs(report: &Report) -> Markup {
    let all: Vec<Bar<'_>> = report
        .language_models
        .iter()
        .filter_map(|(stage, usage)| {
            Some(Bar { label: stage, value: usage.cost_of_answers()?, second: None, link: None })
        })
        .collect();
    let chart = Bars {
        labels_name: "stage",
        values_name: "US dollars",
        second_name: None,
        unit: Unit::Number,
        bars: &all,
    };
    let figure = Figure {
        id: "costs",
        title: "Cost of language models",
        description: "Replies from the cache count as what they cost when they arrived.",
    };
    html! { @if !all.is_empty() { (bars(&figure, &chart)) } }
}

/// What the steps took on this machine: seconds, and memory in MiB.
pub(super) fn timing(report: &Report) -> Markup {
    #[allow(clippy::cast_precision_loss)] // Bytes of memory are far below 2^52.
    let mebibytes = |bytes: Option<u64>| bytes.map_or(f64::NAN, |bytes| (bytes as f64 / 1_048_576.0).round());
    let bar = |label, value, second| Bar { label, value, second, link: None };
    let seconds: Vec<Bar<'_>> = report.timing.iter().map(|it| bar(&it.step, it.seconds, None)).collect();
    let memory: Vec<Bar<'_>> = report
        .timing
        .iter()
        .map(|it| bar(&it.step, mebibytes(it.memory), it.peak_memory.map(|peak| mebibytes(Some(peak)))))
        .collect();
    let chart = |values_name, second_name, bars| Bars {
        labels_name: "step",
        values_name,
        second_name,
        unit: Unit::Number,
        bars,
    };
    let mut drawn = vec![bars(
        &Figure { id: "seconds", title: "Seconds by step", description: "" },
        &chart("seconds", None, &seconds),
    )];
    if memory.iter().any(|bar| bar.value.is_finite()) {
        let about = "At the end of each step, and the most until then.";
        let figure = Figure { id: "memory", title: "Memory by step", description: about };
        drawn.push(bars(&figure, &chart("MiB", Some("MiB at most"), &memory)));
    }
    figures(drawn)
}

/// The precision of a judge against the share of requests that it decides.
pub(super) fn precision(report: &Report) -> Markup {
    let drawn = report.operating_points.iter().enumerate();
    let drawn: Vec<Markup> =
        drawn.filter_map(|(at, (stage, point))| precision_of(at, stage, point)).collect();
    html! { @if !drawn.is_empty() { (figures(drawn)) } }
}

fn precision_of(at: usize, stage: &str, point: &OperatingPoint) -> Option<Markup> {
    let mut names = Vec::new();
    for (language, of) in [("English", &point.english), ("other languages", &point.other)] {
        for side in Label::ALL {
            let of_side = of.curve.iter().filter(|it| it.side == side);
            let points: Vec<Point> = of_side
                .map(|it| Point { x: it.coverage * 100.0, y: it.precision * 100.0, interval: None })
                .collect();
            names.push((format!("{language}, {}", side.name()), points));
        }
    }
    let curves: Vec<Curve<'_>> = names
        .iter()
        .filter(|(_, points)| points.len() > 1)
        .map(|(name, points)| Curve { name, points: points.clone() })
        .collect();
    let (id, title) = (format!("precision-{at}"), format!("Precision of {stage}"));
    let figure = Figure {
        id: &id,
        title: &title,
        description: "Each point is a target precision, and the share of labelled requests that the text alone decides at it.",
    };
    let axis = |name| Axis { name, unit: Unit::Percent, range: None };
    (!curves.is_empty()).then(|| curve(&figure, &axis("decided"), &axis("precision"), &curves))
}

fn sizes(figure: &Figure<'_>, (things, bins_name): (&str, &str), sizes: Sizes<'_>) -> Option<Markup> {
    let bins = if sizes.bins.is_empty() { Vec::new() } else { sizes.padded() };
    let bins: Vec<(&str, u64)> = bins.iter().map(|bin| (bin.label.as_str(), bin.count)).collect();
    let reference = Some(Reference { name: LIVE, counts: sizes.published });
    let chart = Histogram { things, bins_name, bins: &bins, reference };
    (!bins.is_empty()).then(|| histogram(figure, &chart))
}

fn counts(of: &std::collections::BTreeMap<String, u64>) -> Vec<(&str, u64)> {
    of.iter().map(|(name, n)| (name.as_str(), *n)).collect()
}

/// Bars of the largest counts, largest first; nothing if there are none.
fn named_counts(
    figure: &Figure<'_>,
    (labels_name, values_name): (&str, &str),
    mut of: Vec<(&str, u64)>,
) -> Option<Markup> {
    of.sort_by(|one, other| other.1.cmp(&one.1).then(one.0.cmp(other.0)));
    let rest = of.split_off(of.len().min(MOST_BARS));
    let more = format!("{} others", rest.len());
    let others = (!rest.is_empty()).then(|| (more.as_str(), rest.iter().map(|(_, n)| n).sum()));
    #[allow(clippy::cast_precision_loss)] // Counts of rows are far below 2^52.
    let bar = |(label, n): (_, u64)| Bar { label, value: n as f64, second: None, link: None };
    let all: Vec<Bar<'_>> = of.iter().copied().chain(others).map(bar).collect();
    let chart = Bars { labels_name, values_name, second_name: None, unit: Unit::Count, bars: &all };
    (!all.is_empty()).then(|| bars(figure, &chart))
}
