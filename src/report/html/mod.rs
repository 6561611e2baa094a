//! The page of a run: `report.html`.
//!
//! This file is the template. Figures and words come from `model` and `words`, the shell and the pieces that other pages
//! have too from `crate::page`, which also escapes every text.

mod examples;
mod next;
mod pictures;
pub mod side_by_side;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use maud::{Markup, html};

use super::asked;
use super::funnel::FunnelRow;
use super::model::{EditReport, Example, FateReport, Report, SETS, rows_of};
use super::precision::{self, Shown};
use super::published::Published;
use super::words::{
    self, COMPARABLE, RECIPE_URL, SCORED, fate_sections, frozen_sentence, is_redacted, known_limits,
    merge_targets, or_unknown, title, unit,
};
use crate::bfcl::category::Category;
use crate::engine::corpus::RowId;
use crate::page::sections::{contents, fold, section};
use crate::page::table::{self, Column};
use crate::page::{Hue, bar, code, document_with_script, judged, number, soft, tile};
use crate::stages::cap_templates::Found;
use crate::text::figures::{self, count};
use crate::text::listed::{MOST_LISTED, unlisted};

/// What the page of a job has instead of the recipe and the entries of a dataset.
pub struct OwnSections {
    /// Its figures: what is counted, and how many.
    pub tiles: Vec<(&'static str, u64)>,
    /// Its sections, between the funnel and the removed rows. Lines without a row are among them.
    pub sections: Vec<Markup>,
}

/// Returns the table of lines without a row, by reason; `things` are what the lines are, and `meaning` explains a reason.
pub fn lines_by_reason(
    report: &Report,
    things: &'static str,
    meaning: impl Fn(&str) -> Option<&'static str>,
) -> Markup {
    let columns = [Column::key("reason"), Column::number(things), Column::prose("meaning")];
    let rows = report
        .line_reasons
        .iter()
        .map(|(reason, n)| vec![code(reason), number(*n), html! { (meaning(reason).unwrap_or_default()) }]);
    table::wide(&columns, rows)
}

/// A section: the id by which links name it, its title, its content.
type Titled = (&'static str, &'static str, Markup);

/// The page of a run; `run` is what commands call its folder.
pub fn page(report: &Report, run: &str, own: Option<OwnSections>) -> String {
    page_of(report, run, own, None)
}

/// The same page with what the steps took on the machine of the run, which differs between equal runs.
pub fn page_with_timing(report: &Report, run: &str, own: Option<OwnSections>) -> String {
    page_of(report, run, own, Some(("timing", "Time and memory", timing(report))))
}

fn page_of(report: &Report, run: &str, own: Option<OwnSections>, last: Option<Titled>) -> String {
    let title = format!("{}: report", title(report));
    let (head, mut sections) = match own {
        None => (head(report, tiles(report)), of_dataset(report, run)),
        Some(OwnSections { tiles, sections }) => {
            (self::head(report, tiles), of_job(report, run, html! { @for section in sections { (section) } }))
        }
    };
    sections.extend(last);
    let titles: Vec<(&str, &str)> = sections.iter().map(|(id, title, _)| (*id, *title)).collect();
    let first = html! { (head) (contents(&titles)) };
    let sections = sections.into_iter().map(|(id, title, body)| section(id, title, body));
    document_with_script(&title, std::iter::once(first).chain(sections))
}

/// The sections of a dataset: what it is and what to do next, then why, then how.
fn of_dataset(report: &Report, run: &str) -> Vec<Titled> {
    vec![
        ("next", "What to do next", next::next(report, run)),
        ("dataset", "What is in the dataset", entries(report)),
        ("funnel", "What happened to the requests", funnel(report)),
        (
            "removed",
            "Merged, dropped and held rows",
            html! {
                (pictures::removed(report)) (fates(report, run)) (lines_without_a_request(report))
            },
        ),
        ("edits", "Edits", edits(report, run)),
        ("log", "The log", html! { (dominance(report)) (pictures::log(report)) (templates(report)) }),
        ("data", "Personal data, overlap, licences", sources(report)),
        ("recipe", "Steps of the recipe", recipe(report)),
        ("limits", "Known limits", limits(report)),
        ("rebuild", "How to rebuild", rebuild(report)),
    ]
}

/// The sections of another job: its own ones between the funnel and the removed rows.
fn of_job(report: &Report, run: &str, own: Markup) -> Vec<Titled> {
    let mut all = vec![("funnel", "What happened to the rows", funnel(report)), ("results", "Results", own)];
    if !report.fates.is_empty() {
        all.push(("removed", "Merged, dropped and held rows", fates(report, run)));
    }
    if !report.edits.is_empty() {
        all.push(("edits", "Edits", edits(report, run)));
    }
    if !report.language_models.is_empty() {
        all.push(("models", "Language models", language_models(report)));
    }
    all.push(("rebuild", "How to rebuild", rebuild(report)));
    all
}

fn text(text: &str) -> Markup {
    html! { (text) }
}

/// The figures of a dataset.
fn tiles(report: &Report) -> Vec<(&'static str, u64)> {
    let requests = &report.requests;
    let mut tiles = vec![
        ("requests read", requests.rows),
        ("scored entries", report.entries("scored", None)),
        ("unverified entries", report.entries("unverified", None)),
        ("held", requests.held),
        ("merged", requests.merged),
        ("dropped", requests.dropped),
        ("doc lists kept", report.doc_lists.kept),
    ];
    let rare = [("frozen entries", report.all_frozen()), ("forgotten", requests.forgotten)];
    tiles.extend(rare.into_iter().filter(|(_, n)| *n > 0));
    tiles
}

fn head(report: &Report, tiles: Vec<(&'static str, u64)>) -> Markup {
    let faults = figures::share(report.fault_share);
    html! {
        h1 { (title(report)) }
        p.soft { "Pipeline " (report.pipeline) ", callsieve " (report.version) ", seed " (report.rebuild.seed) "." }
        div.tiles { @for (what, n) in tiles { (tile(&count(n), what)) } }
        @if let Some(frozen) = frozen_sentence(report) { p { (frozen) } }
        p.soft {
            "Lines: " (report.lines_sum()) "." br;
            "Requests: " (report.requests_sum()) "."
            @if let Some(merged) = report.merged_sum() { " Merged: " (merged) "." }
            " " (faults) " of lines and requests were removed because of faults (unreadable or damaged data)."
        }
    }
}

/// Who or what has most of the requests; nothing if none has.
fn dominance(report: &Report) -> Markup {
    let senders = &report.senders;
    let named =
        |n: u64, one: &'static str, many: &'static str| (n > 0).then(|| figures::counted(n, one, many));
    let all = [named(senders.assistants, "assistant", "assistants"), named(senders.users, "user", "users")];
    let all: Vec<String> = all.into_iter().flatten().collect();
    html! {
        @if !all.is_empty() { p { "The requests are of " (all.join(" and ")) "." } }
        @for found in report.dominance() { p.bad { (found) } }
    }
}

/// Templates that many requests fill; nothing if there is none.
fn templates(report: &Report) -> Markup {
    let found: Vec<Found> =
        report.notes.values().filter_map(Found::of).filter(|it| !it.named.is_empty()).collect();
    let columns = [
        Column::prose("template"),
        Column::number("requests"),
        Column::number("share"),
        Column::number("of a machine"),
        Column::number("dropped"),
    ];
    html! {
        @for found in &found {
            h3 { "Templates" }
            p { (words::templates_sentence(found)) }
            (table::wide(&columns, found.named.iter().map(|it| vec![
                code(&it.template), number(it.requests), text(&figures::share_of(it.requests, found.requests)),
                number(it.of_machines), number(it.dropped),
            ])))
        }
    }
}

fn funnel(report: &Report) -> Markup {
    let is_compared = report.published_pairs().is_some();
    let steps = html! {
        @if is_compared {
            p { "The number of doc lists and requests after each step. Bars are shares of the pairs read: in this run, and in BFCL's." }
        } @else {
            p { "The number of doc lists and requests after each step." }
        }
        ol.funnel { @for row in &report.funnel { li { (step(report, row)) } "\n" } }
        @if is_compared { p.soft { (COMPARABLE) " Source: " (RECIPE_URL) } }
    };
    html! {
        (pictures::funnel(report))
        (fold(if is_compared { "All steps, beside BFCL's" } else { "All steps" }, steps))
    }
}

fn step(report: &Report, row: &FunnelRow) -> Markup {
    let pairs = report.ingest.records;
    html! {
        (code(&row.step)) " " (soft(&row.description))
        div.bars {
            (share(Hue::Blue, "requests", row.requests, pairs))
            (share(Hue::Orange, "doc lists", row.doc_lists, pairs))
            @if let (Some(Published { count, unit: of }), Some(whole)) = (row.bfcl, report.published_pairs()) {
                (share(Hue::Grey, &format!("BFCL {}", unit(of)), count, whole))
            }
        }
    }
}

/// A bar for a part of a whole.
fn share(hue: Hue, name: &str, n: u64, whole: u64) -> Markup {
    let percent = super::percent(n, whole).min(100.0);
    bar(hue, name, (n > 0).then_some(percent), &format!("{} · {}", count(n), figures::percent(percent)))
}

fn recipe(report: &Report) -> Markup {
    let columns =
        [Column::phrase("step"), Column::phrase("status"), Column::phrase("stages"), Column::prose("note")];
    let rows = report.recipe.iter().map(|step| {
        vec![
            text(step.step),
            judged(step.status.has_run(), step.status.name()),
            html! { @for stage in &step.stages { (code(stage)) " " } },
            text(&step.note),
        ]
    });
    let n_run = report.recipe.iter().filter(|step| step.status.has_run()).count();
    html! {
        p { (n_run) " of " (report.recipe.len()) " steps of the recipe ran." }
        (fold("Every step, with its stages", table::wide(&columns, rows)))
        @if !report.other_stages.is_empty() {
            p.soft { "Stages that ran and are not part of the recipe: " (report.other_stages.join(", ")) "." }
        }
    }
}

fn entries(report: &Report) -> Markup {
    let entries = &report.entries;
    let counted = [
        ("tier", &entries.tier),
        ("relevance", &entries.relevance),
        ("basis of category", &entries.category_basis),
        ("language", &entries.language),
    ];
    html! {
        p { (shared_lists(report)) }
        p.soft { (SCORED) }
        (pictures::composition(report))
        (fold("The same as tables", html! {
            div.two {
                (categories(report))
                @for (heading, counts) in counted { (counts_table(heading, "entries", counts)) }
            }
        }))
        (pictures::precision(report))
        (precision(report))
        (language_models(report))
        @if entries.language.is_empty() { p.soft { "No stage of the pipeline detects languages." } }
    }
}

/// How many `things` each name has.
fn counts_table<'c>(
    heading: &'static str,
    things: &'static str,
    counts: impl IntoIterator<Item = (&'c String, &'c u64)>,
) -> Markup {
    let rows = counts.into_iter().map(|(name, n)| vec![code(name), number(*n)]);
    table::small(&[Column::text(heading), Column::number(things)], rows)
}

fn precision(report: &Report) -> Markup {
    let of_stages = precision::of_stages(report);
    let tables = html! {
        @for Shown { about, columns, rows } in &of_stages {
            p.soft { (about) }
            (table::wide(&first_and_numbers(columns), rows.iter().map(|row| row.iter().map(|cell| text(cell)).collect())))
        }
    };
    html! { @if !of_stages.is_empty() { (fold(precision::HEADING, tables)) } }
}

fn language_models(report: &Report) -> Markup {
    html! {
        @if !report.language_models.is_empty() { h3 { (asked::HEADING) } }
        (pictures::costs(report))
        @for (stage, usage) in &report.language_models { p.soft { (asked::sentence(stage, usage)) } }
    }
}

/// Columns of which all but the first are numbers.
fn first_and_numbers(headings: &[&'static str]) -> Vec<Column> {
    let column = |(at, &heading)| if at == 0 { Column::text(heading) } else { Column::number(heading) };
    headings.iter().enumerate().map(column).collect()
}

fn shared_lists(report: &Report) -> String {
    let composition = &report.composition;
    let represented_requests =
        report.entries.represented_requests.map(|n| format!(" They are a sample of {} requests.", count(n)));
    format!(
        "{} entries{} use {} doc lists, with {} functions: {} distinct ones, with {} distinct names.{}",
        count(composition.requests),
        if report.all_frozen() > 0 { " of this run" } else { "" },
        count(composition.doc_lists),
        count(composition.functions_offered),
        count(composition.distinct_functions),
        count(composition.distinct_names),
        represented_requests.unwrap_or_default()
    )
}

fn categories(report: &Report) -> Markup {
    let of_category = |category: &Category| {
        let [scored, unverified] = SETS.map(|(set, _)| report.entries(set, Some(category.name())));
        let frozen = report.frozen(category.name());
        let cells = || vec![code(category.name()), number(scored), number(unverified), number(frozen)];
        (scored + unverified > 0).then(cells)
    };
    let columns = first_and_numbers(&["category", "scored", "unverified", "of these frozen"]);
    let shown = if report.all_frozen() > 0 { &columns[..] } else { &columns[..3] };
    table::small(shown, Category::ALL.iter().filter_map(of_category))
}

fn fates(report: &Report, run: &str) -> Markup {
    let columns =
        [Column::key("reason"), Column::number("rows"), Column::prose("meaning"), Column::prose("example")];
    html! {
        p.soft { "The example of a reason is its earliest row. The command shows the history of that row. Rows counted as followed were removed as a consequence, for example requests whose doc list was dropped." }
        @for (action, heading, meaning) in fate_sections(report) {
            h3 id=(action) { (heading) }
            p.soft { (meaning) }
            (folded_table(&[], &columns, report.shown_fates(action).map(|(fate, followed)| fate_cells(fate, followed, run)).collect()))
            (examples::of_fates(report.shown_fates(action).map(|(fate, _)| fate), run))
        }
    }
}

/// A table that is folded where it is long.
fn folded_table(choices: &[&str], columns: &[Column], rows: Vec<Vec<Markup>>) -> Markup {
    const SHORT: usize = 3;
    match rows.len() {
        0 => html! { p.soft { "None." } },
        n if n <= SHORT => table::wide(columns, rows),
        n => fold(
            &format!("{} reasons with an example each", count(n as u64)),
            table::filtered(choices, columns, rows),
        ),
    }
}

fn lines_without_a_request(report: &Report) -> Markup {
    html! {
        @if !report.line_reasons.is_empty() {
            h3 { "Lines without a request" }
            (counts_table("reason", "lines", &report.line_reasons))
        }
    }
}

fn fate_cells(fate: &FateReport, followed: u64, run: &str) -> Vec<Markup> {
    let about_rows = if followed > 0 {
        Some(format!("+ {} followed", rows_of(followed, fate.other_table())))
    } else if fate.cascaded {
        Some("followed".to_owned())
    } else {
        merge_targets(fate)
    };
    vec![
        reason(&fate.reason, &fate.stage),
        html! {
            (rows_of(fate.rows, &fate.table))
            @if let Some(about) = about_rows { br; (soft(about)) }
        },
        text(&fate.description),
        example(&fate.example, run),
    ]
}

fn edits(report: &Report, run: &str) -> Markup {
    let columns = [
        Column::key("reason"),
        Column::text("safety"),
        Column::number("edits"),
        Column::prose("meaning"),
        Column::prose("example"),
    ];
    let cells = |edit: &EditReport| {
        vec![
            reason(&edit.reason, &edit.stage),
            text(&edit.safety),
            number(edit.edits),
            text(&edit.description),
            example(&edit.example, run),
        ]
    };
    html! {
        p.soft {
            "Safe edits keep the meaning, unsafe edits fill a gap with a guess. Suggested edits were not applied."
        }
        (folded_table(&["safety"], &columns, report.edits.iter().map(cells).collect()))
        (examples::of_edits(&report.edits, run))
    }
}

fn reason(reason: &str, stage: &str) -> Markup {
    html! { (code(reason)) br; (soft(stage)) }
}

fn example(example: &Example, run: &str) -> Markup {
    html! {
        @if let Some(quoted) = &example.text { span.quote { (quoted) } br; }
        @if let (Some(metric), Some(score)) = (&example.metric, example.score) {
            (soft(format!("{metric} {score:.3}"))) br;
        }
        @if let Some(request) = &example.request_id {
            code.why { "callsieve why " (run) " " (RowId::short(request)) }
        } @else {
            (code(RowId::short(&example.row_id)))
        }
    }
}

fn sources(report: &Report) -> Markup {
    // Several stages compare with the same sets.
    let mut seen = BTreeSet::new();
    let once = report.public_sets.iter().filter(|set| seen.insert((&set.set, &set.status)));
    let sets: Vec<Vec<Markup>> =
        once.map(|set| vec![text(&set.set), judged(set.checked, &set.status)]).collect();
    let card = &report.card;
    let people = [
        ("licence of the dataset", or_unknown(&card.licence, "unknown")),
        ("licence of the log", or_unknown(&card.source_licence, "unknown")),
        ("contact", or_unknown(&card.contact, "not given")),
    ];
    html! {
        @if !is_redacted(report) {
            p.bad { "Not redacted: the dataset can contain personal data of the log." }
        } @else if report.redacted.is_empty() {
            p { "Redaction ran and found nothing." }
        }
        @if report.keeps_names() {
            p { "Names of people were not looked for." }
        }
        @if report.public_sets.is_empty() {
            p { "The dataset was not compared with public sets, so its entries can occur in one." }
        }
        (pictures::redacted(report))
        div.two {
            (table::small(&[Column::text("public set"), Column::text("status")], sets))
            (table::small(
                &[Column::text("licence and contact"), Column::text("value")],
                people.map(|(what, value)| vec![text(what), text(value)]),
            ))
        }
    }
}

/// What the steps took: pictures, and disk.
fn timing(report: &Report) -> Markup {
    let columns = [Column::text("step"), Column::number("on disk")];
    let rows = report.timing.iter().map(|it| vec![code(&it.step), html! { (figures::bytes(it.bytes)) }]);
    html! {
        p.soft { "On the machine of the run. A step that a later run reused has the figures of the run that computed it." }
        (pictures::timing(report))
        (fold("Bytes on disk by step", table::small(&columns, rows)))
    }
}

fn limits(report: &Report) -> Markup {
    html! {
        ul { @for limit in known_limits(report) { li { (limit) } "\n" } }
    }
}

fn rebuild(report: &Report) -> Markup {
    let rebuild = &report.rebuild;
    let inputs = rebuild.inputs.iter().take(MOST_LISTED);
    let inputs = inputs.map(|input| vec![code(&input.sha256), number(input.bytes)]);
    html! {
        p { "Save the pipeline below as pipeline.toml and run this command with these inputs:" }
        pre tabindex="0" { (rebuild.command) }
        (table::wide(&[Column::text("input, SHA-256"), Column::number("bytes")], inputs))
        @if let Some(more) = unlisted(rebuild.inputs.len()) {
            p.soft { (more) ", of " (count(rebuild.inputs.len() as u64)) " inputs; report.json lists all." }
        }
        @if !rebuild.files.is_empty() {
            p { "The run also needs the files in these settings: " (rebuild.files.join(", ")) "." }
        }
        @if let Some(reviewed) = rebuild.reviewed_sentence() { p { (reviewed) } }
        details {
            summary { "Pipeline of this run" }
            pre tabindex="0" { (rebuild.pipeline) }
        }
    }
}
