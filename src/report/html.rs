//! The page: `report.html`, one file that needs nothing else.
//!
//! No script, no font and no picture from anywhere; the policy in its head forbids them too. `markup` escapes every
//! text, so a query that holds markup is shown and does nothing. Made for 400 to 1,400 pixels, light and dark. The
//! template is this file; figures and words come from `model` and `words`.

use super::funnel::FunnelRow;
use super::markup::{self, Html, all, bar, raw, said, table, tag, text};
use super::model::{Example, Report, SETS, rows_of};
use super::numbers::count;
use super::precision::{self, Shown};
use super::words::{
    COMPARABLE, RECIPE_URL, SCORED, fate_sections, frozen_told, into_left_told, is_redacted, known_limits,
    said as or_unknown, title, unit,
};
use crate::bfcl::category::Category;
use crate::engine::corpus::RowId;

/// The looks.
const STYLE: &str = "
:root { color-scheme: light dark; --ink: #1c2430; --soft: #566070; --paper: #fbfbf9; --card: #ffffff; --line: #dcdfe4;
  --track: #eceef1; --a: #2563a8; --b: #b3631a; --c: #6f7785; --good: #1d6b3d; --bad: #a02a2a; --code: #f0f1f4 }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e7ec; --soft: #a3acba; --paper: #14171c; --card: #1b1f26;
  --line: #333a45; --track: #262c35; --a: #6aa8ea; --b: #e09a55; --c: #8d96a5; --good: #74c795; --bad: #ee8a8a; --code: #262c35 } }
* { box-sizing: border-box }
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, sans-serif }
main { max-width: 1160px; margin: 0 auto; padding: 20px 16px 64px }
h1 { font-size: 1.7rem; line-height: 1.2; margin: .2em 0; overflow-wrap: anywhere }
h2 { font-size: 1.2rem; margin: 2.2em 0 .5em; padding-top: .6em; border-top: 1px solid var(--line) }
h3 { font-size: 1rem; margin: 1.6em 0 .3em }
p, li { max-width: 76ch; overflow-wrap: break-word } .soft { color: var(--soft) } a { color: var(--a) }
code, pre { font: .86em/1.45 ui-monospace, 'DejaVu Sans Mono', monospace } code, .quote { overflow-wrap: break-word }
td.wide code, td.wide .quote { overflow-wrap: anywhere }
pre { background: var(--code); padding: 12px; overflow-x: auto; border-radius: 6px }
.why { user-select: all; background: var(--code); padding: 1px 5px; border-radius: 4px; display: inline-block }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(128px, 1fr)); gap: 8px; margin: 16px 0 }
.tile { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 8px 12px }
.tile b { display: block; font-size: 1.35rem; font-variant-numeric: tabular-nums }
.scroll { overflow-x: auto; border: 1px solid var(--line); border-radius: 8px; background: var(--card); margin: 8px 0 }
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; vertical-align: top; padding: 6px 10px; border-bottom: 1px solid var(--line) }
tr:last-child td { border-bottom: 0 } th { color: var(--soft); font-weight: 600; font-size: .86em }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
td.wide { min-width: 15em } td.mid { min-width: 9em } td.key { white-space: nowrap } td.key code { overflow-wrap: normal }
.small { max-width: 360px }
.good { color: var(--good) } .bad { color: var(--bad) }
.funnel { list-style: none; padding: 0; margin: 12px 0 } .funnel > li { max-width: none; margin: 0 0 14px }
.bars { display: grid; grid-template-columns: 6.6em minmax(60px, 1fr) 10em; gap: 1px 10px; align-items: center; font-size: .86em }
.bars .soft { white-space: nowrap }
.track { background: var(--track); height: 9px; border-radius: 2px; overflow: hidden }
.bar { display: block; height: 100%; min-width: 2px } .a { background: var(--a) } .b { background: var(--b) } .c { background: var(--c) }
.num { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
.two { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(320px, 100%), 1fr)); gap: 8px 24px; align-items: start }
.two .small { max-width: none; min-width: 0 }
@media (max-width: 640px) { .bars { grid-template-columns: 6.4em minmax(40px, 1fr) 9.6em; gap: 1px 6px } th, td { padding: 5px 7px }
  .small { max-width: none }
  .rows table, .rows tbody, .rows tr, .rows td { display: block } .rows thead { display: none }
  .rows tr { padding: 6px 4px; border-bottom: 1px solid var(--line) } .rows tr:last-child { border-bottom: 0 }
  .rows td { border: 0; padding: 2px 7px; text-align: left; white-space: normal; min-width: 0; overflow-wrap: break-word }
  .rows td:empty { display: none } .rows td br:first-child { display: none }
  .rows td::before { content: attr(data-label) ' '; color: var(--soft); font-size: .86em } .rows .why { display: inline } }
";

/// What stands before the title: nothing is loaded and nothing runs; the style stands in the page.
const HEAD: &str = "<!DOCTYPE html>
<html lang=\"en\">
<meta charset=\"utf-8\">
<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">
<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">
";

/// The page of a run; `run` is what commands call its folder.
pub fn page(report: &Report, run: &str) -> String {
    let sections = [
        head(report),
        funnel(report),
        recipe(report),
        entries(report),
        fates(report, run),
        edits(report, run),
        sources(report),
        limits(report),
        rebuild(report),
    ];
    let sections = sections.into_iter().map(|section| tag("section", section));
    let page = [
        raw(HEAD),
        said("title", format!("{}: report", title(report))),
        tag("style", raw(STYLE)),
        tag("main", all(sections)),
    ];
    all(page).into_string() + "\n"
}

fn code(what: &str) -> Html {
    said("code", what)
}

fn soft(what: impl std::fmt::Display) -> Html {
    said("span class=\"soft\"", what)
}

fn number(n: u64) -> Html {
    text(count(n))
}

fn head(report: &Report) -> Html {
    let requests = &report.requests;
    let mut tiles = vec![
        ("requests read", requests.rows),
        ("entries", report.all_entries()),
        ("merged", requests.merged),
        ("held", requests.held),
        ("dropped", requests.dropped),
        ("doc lists kept", report.doc_lists.kept),
    ];
    let seldom = [("frozen entries", report.all_frozen()), ("forgotten", requests.forgotten)];
    tiles.extend(seldom.into_iter().filter(|(_, n)| *n > 0));
    let tile = |(what, n)| tag("div class=\"tile\"", all([tag("b", number(n)), soft(what)]));
    let lines = format!("Lines: {}.", report.lines_told());
    let merged = report.merged_told().map_or_else(String::new, |merged| format!(" Merged: {merged}."));
    let requests = format!(
        "Requests: {}.{merged} {:.1} % of lines and requests left because something went wrong.",
        report.requests_told(),
        100.0 * report.fault_share
    );
    let made =
        format!("Pipeline {}, toolsieve {}, seed {}.", report.pipeline, report.version, report.rebuild.seed);
    all([
        said("h1", title(report)),
        said("p class=\"soft\"", made),
        tag("div class=\"tiles\"", all(tiles.into_iter().map(tile))),
        all(frozen_told(report).map(|frozen| said("p", frozen))),
        tag("p class=\"soft\"", all([text(lines), raw("<br>"), text(requests)])),
    ])
}

fn funnel(report: &Report) -> Html {
    let steps = report.funnel.iter().map(|row| tag("li", step_bars(report, row)));
    all([
        said("h2", "Funnel"),
        said("p", "What was left after each step. All bars are shares of the pairs read: here, and at BFCL."),
        tag("ol class=\"funnel\"", all(steps)),
        said("p class=\"soft\"", format!("{COMPARABLE} Source: {RECIPE_URL}")),
    ])
}

fn step_bars(report: &Report, row: &FunnelRow) -> Html {
    let pairs = report.ingest.records;
    let mut bars =
        vec![bar_of("a", "requests", row.requests, pairs), bar_of("b", "doc lists", row.doc_lists, pairs)];
    if let (Some(bfcl), Some(whole)) = (row.bfcl, report.published_pairs()) {
        bars.push(bar_of("c", &format!("BFCL {}", unit(bfcl.unit)), bfcl.count, whole));
    }
    all([code(&row.step), text(" "), soft(&row.what), tag("div class=\"bars\"", all(bars))])
}

fn bar_of(class: &'static str, what: &str, n: u64, whole: u64) -> Html {
    let percent = super::percent(n, whole).min(100.0);
    let bar = if n > 0 { bar(class, percent) } else { Html::default() };
    all([
        soft(what),
        tag("span class=\"track\"", bar),
        said("span class=\"num\"", format!("{} · {percent:.1} %", count(n))),
    ])
}

fn recipe(report: &Report) -> Html {
    let rows = report.recipe.iter().map(|step| {
        let name = step.status.name();
        let status = if step.status.has_run() {
            said("span class=\"good\"", name)
        } else {
            said("span class=\"bad\"", name)
        };
        let stages = step.stages.iter().map(|stage| all([code(stage), text(" ")]));
        vec![text(step.step), status, all(stages), text(&step.note)]
    });
    let columns: [markup::Column; 4] =
        [("step", "mid"), ("status", "mid"), ("stages", "mid"), ("note", "wide")];
    let others = if report.other_stages.is_empty() {
        Html::default()
    } else {
        let stages = report.other_stages.join(", ");
        said("p class=\"soft\"", format!("Ran too, and no step of the recipe: {stages}."))
    };
    all([said("h2", "Steps of the recipe"), table("rows", &columns, rows), others])
}

fn entries(report: &Report) -> Html {
    let entries = &report.entries;
    let counted = [
        ("tier", &entries.tier),
        ("relevance", &entries.relevance),
        ("basis of category", &entries.category_basis),
        ("language", &entries.language),
    ]
    .map(|(heading, counts)| {
        let rows = counts.iter().map(|(value, n)| vec![code(value), number(*n)]);
        table("small", &[(heading, ""), ("entries", "n")], rows)
    });
    let no_language = if entries.language.is_empty() {
        said("p class=\"soft\"", "No stage of the pipeline told the languages.")
    } else {
        Html::default()
    };
    all([
        said("h2", "Categories, tiers, languages"),
        said("p", shared_lists(report)),
        said("p class=\"soft\"", SCORED),
        tag("div class=\"two\"", all([categories(report), all(counted)])),
        precision(report),
        no_language,
    ])
}

fn precision(report: &Report) -> Html {
    let of_stages = precision::of_stages(report);
    if of_stages.is_empty() {
        return Html::default();
    }
    let shown = of_stages.into_iter().map(|Shown { about, columns, rows }| {
        let columns =
            columns.into_iter().enumerate().map(|(at, name)| (name, if at == 0 { "" } else { "n" }));
        let columns: Vec<markup::Column> = columns.collect();
        let rows = rows.into_iter().map(|row| row.into_iter().map(text).collect());
        all([said("p class=\"soft\"", about), table("rows", &columns, rows)])
    });
    all([said("h3", precision::HEADING), all(shown)])
}

fn shared_lists(report: &Report) -> String {
    let composition = &report.composition;
    let stand_for =
        report.entries.stand_for.map(|n| format!(" They are a sample and stand for {} requests.", count(n)));
    format!(
        "{} entries{} share {} doc lists and offer {} functions: {} distinct ones, {} distinct names.{}",
        count(composition.requests),
        if report.all_frozen() > 0 { " of this run" } else { "" },
        count(composition.doc_lists),
        count(composition.functions_offered),
        count(composition.distinct_functions),
        count(composition.distinct_names),
        stand_for.unwrap_or_default()
    )
}

fn categories(report: &Report) -> Html {
    let of_category = |category: &Category| {
        let [scored, unverified] = SETS.map(|(set, _)| report.entries(set, Some(category.name())));
        let frozen = report.frozen(category.name());
        let cells = || vec![code(category.name()), number(scored), number(unverified), number(frozen)];
        (scored + unverified > 0).then(cells)
    };
    let columns: [markup::Column; 4] =
        [("category", ""), ("scored", "n"), ("unverified", "n"), ("of these frozen", "n")];
    let shown = if report.all_frozen() > 0 { &columns[..] } else { &columns[..3] };
    table("small", shown, Category::ALL.iter().filter_map(of_category))
}

fn fates(report: &Report, run: &str) -> Html {
    let columns: [markup::Column; 4] =
        [("reason", "key"), ("rows", "n"), ("meaning", "wide"), ("example", "wide")];
    let of_action = |(action, heading, meaning): (&'static str, &'static str, String)| {
        let rows = report.told_fates(action).map(|(fate, followed)| {
            let followed = if followed > 0 {
                all([raw("<br>"), soft(format!("+ {} followed", rows_of(followed, fate.other_table())))])
            } else if fate.cascaded {
                all([raw("<br>"), soft("followed")])
            } else if let Some(told) = into_left_told(fate) {
                all([raw("<br>"), soft(told)])
            } else {
                Html::default()
            };
            vec![
                all([code(&fate.reason), raw("<br>"), soft(&fate.stage)]),
                all([text(rows_of(fate.rows, &fate.table)), followed]),
                text(&fate.sentence),
                example(&fate.example, run),
            ]
        });
        let table = table("rows", &columns, rows);
        all([said("h3", heading), said("p class=\"soft\"", meaning), table])
    };
    let lines = if report.line_reasons.is_empty() {
        Html::default()
    } else {
        let rows = report.line_reasons.iter().map(|(reason, n)| vec![code(reason), number(*n)]);
        let table = table("small", &[("reason", ""), ("lines", "n")], rows);
        all([said("h3", "Lines without a request"), table])
    };
    all([
        said("h2", "What was merged, dropped and held"),
        said("p class=\"soft\"", "Each reason with its earliest row; the command tells that row's story."),
        all(fate_sections(report).map(of_action)),
        lines,
    ])
}

fn edits(report: &Report, run: &str) -> Html {
    let columns: [markup::Column; 5] =
        [("reason", "key"), ("safety", ""), ("edits", "n"), ("meaning", "wide"), ("example", "wide")];
    let rows = report.edits.iter().map(|edit| {
        vec![
            all([code(&edit.reason), raw("<br>"), soft(&edit.stage)]),
            text(&edit.safety),
            number(edit.edits),
            text(&edit.sentence),
            example(&edit.example, run),
        ]
    });
    let meaning = "Safe edits say the same in other words, unsafe ones fill a gap with a guess; suggestions were only shown.";
    all([said("h2", "What was edited"), said("p class=\"soft\"", meaning), table("rows", &columns, rows)])
}

fn example(example: &Example, run: &str) -> Html {
    let quoted = example.text.as_ref().map(|quoted| all([said("span class=\"quote\"", quoted), raw("<br>")]));
    let score = match (&example.metric, example.score) {
        (Some(metric), Some(score)) => all([soft(format!("{metric} {score:.3}")), raw("<br>")]),
        _ => Html::default(),
    };
    let ask = match &example.request_id {
        Some(request) => said("code class=\"why\"", format!("toolsieve why {run} {}", RowId::short(request))),
        None => code(RowId::short(&example.row_id)),
    };
    all([quoted.unwrap_or_default(), score, ask])
}

fn sources(report: &Report) -> Html {
    let redaction = if !is_redacted(report) {
        said("p class=\"bad\"", "Not redacted: what the log held of personal data can stand in the dataset.")
    } else if report.redacted.is_empty() {
        said("p", "Redaction ran and found nothing.")
    } else {
        Html::default()
    };
    let redacted = report.redacted.iter().map(|(reason, n)| vec![code(reason), number(*n)]);
    let sets = report.public_sets.iter().map(|set| {
        let status = &set.status;
        let status = if set.checked {
            said("span class=\"good\"", status)
        } else {
            said("span class=\"bad\"", status)
        };
        vec![text(&set.set), status]
    });
    let card = &report.card;
    let people = [
        ("licence of the dataset", or_unknown(&card.licence, "unknown")),
        ("licence of the log", or_unknown(&card.source_licence, "unknown")),
        ("contact", or_unknown(&card.contact, "nobody is named")),
    ];
    let unchecked = if report.public_sets.is_empty() {
        said("p", "No check against a public set is on record: entries can be in one.")
    } else {
        Html::default()
    };
    all([
        said("h2", "Personal data, overlap, licences"),
        redaction,
        unchecked,
        tag(
            "div class=\"two\"",
            all([
                table("small", &[("redacted", ""), ("places", "n")], redacted),
                table("small", &[("public set", ""), ("status", "")], sets),
                table(
                    "small",
                    &[("what", ""), ("said", "")],
                    people.map(|(what, said)| vec![text(what), text(said)]),
                ),
            ]),
        ),
    ])
}

fn limits(report: &Report) -> Html {
    let limits = known_limits(report).into_iter().map(|limit| said("li", limit));
    all([said("h2", "Known limits"), tag("ul", all(limits))])
}

fn rebuild(report: &Report) -> Html {
    let rebuild = &report.rebuild;
    let inputs = rebuild.inputs.iter().map(|input| vec![code(&input.sha256), number(input.bytes)]);
    let files = if rebuild.files.is_empty() {
        Html::default()
    } else {
        said("p", format!("These settings name files that it needs too: {}.", rebuild.files.join(", ")))
    };
    all([
        said("h2", "How to rebuild"),
        said("p", "With the pipeline below in pipeline.toml and these inputs:"),
        said("pre", &rebuild.command),
        table("rows", &[("input, SHA-256", ""), ("bytes", "n")], inputs),
        files,
        tag("details", all([said("summary", "The pipeline as it ran"), said("pre", &rebuild.pipeline)])),
    ])
}
