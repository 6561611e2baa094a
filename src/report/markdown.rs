//! The dataset card: `dataset/README.md`, with the metadata block that the Hugging Face hub reads.
//!
//! The same bytes for equal runs: no clock, no path, no name of an input. Whatever came from outside (titles, notes,
//! quotes) is escaped, so that it is text and nothing else. Deliberately absent: rows of the dataset.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::asked;
use super::croissant::CROISSANT;
use super::metadata::{configs, metadata};
use super::model::{Example, Report, SETS, rows_of};
use super::precision::{self, Shown};
use super::quote::DECISION;
use super::words::{
    COMPARABLE, RECIPE_URL, SCORED, fate_sections, frozen_sentence, is_redacted, known_limits, merge_targets,
    or_unknown, templates_sentence, title, unit,
};
use crate::bfcl::category::Category;
use crate::stages::cap_templates::{Found, Named};
use crate::text::figures::{count, percent, share_of};
use crate::text::visible::{visible, visible_line};

/// The dataset card.
pub fn card(report: &Report) -> String {
    let sections = [
        about(report),
        load(report),
        funnel(report),
        recipe(report),
        composition(report),
        fates(report),
        templates(report),
        edits(report),
        privacy(report),
        public_sets(report),
        licences(report),
        limits(report),
        rebuild(report),
        citation(report),
    ];
    let title = escaped(title(report));
    format!("{}# {title}\n{}", metadata(report), sections.concat())
}

fn about(report: &Report) -> String {
    let mut text = format!(
        "\nAn evaluation set for function calling in the format of the Berkeley Function Calling Leaderboard (BFCL). \
         callsieve {} made it from a log of requests, by the recipe of [BFCL V2 Live]({RECIPE_URL}).\n\n\
         The log has {} doc–query pairs, the dataset {} entries:\n\n\
         - `scored`: {}. The answer or label is verified, so models can be scored on them.\n\
         - `unverified`: {}. The answer is only that of the logged model or of language models, or the label comes from \
         the text alone. Check them by hand before you score models on them: the logged model gets 100 % on its own \
         answers.\n",
        escaped(&report.version),
        count(report.ingest.records),
        count(report.all_entries()),
        count(report.entries("scored", None)),
        count(report.entries("unverified", None)),
    );
    if let Some(frozen) = frozen_sentence(report) {
        let _ = write!(text, "\n{frozen} The column `frozen` marks them.\n");
    }
    let (lines, requests) = (report.lines_sum(), report.requests_sum());
    let _ = write!(text, "\nCounts of this run:\n\n- Lines: {lines}\n- Requests: {requests}\n");
    if let Some(merged) = report.merged_sum() {
        let _ = writeln!(text, "- Merged: {merged}");
    }
    text
}

fn load(report: &Report) -> String {
    let configs = configs(report);
    let Some((first, _)) = configs.first() else { return String::new() };
    let mut text = "\n## Files\n\n| file | content | entries |\n|---|---|---:|\n".to_owned();
    for (set, path) in &configs {
        let _ = writeln!(
            text,
            "| `{path}` | configuration `{set}`: all categories in one table | {} |",
            count(report.entries(set, None))
        );
    }
    let _ = writeln!(
        text,
        "| `{CROISSANT}` | these tables and this page for machines, in the Croissant format | |"
    );
    let mut a_file = String::new();
    for (set, folder) in SETS {
        for category in Category::ALL {
            let n = report.entries(set, Some(category.name()));
            if n == 0 {
                continue;
            }
            let name = category.name();
            let file = format!("{folder}{}", category.file_name());
            if a_file.is_empty() {
                a_file.clone_from(&file);
            }
            let _ = writeln!(text, "| `{file}` | questions, `{set}`, `{name}` | {} |", count(n));
            if let Some(path) = category.answer_path() {
                let _ =
                    writeln!(text, "| `{folder}{path}` | their answers, in the same order | {} |", count(n));
            }
        }
    }
    let _ = write!(
        text,
        "\n```python\nimport datasets  # tried with 5.2\n\nentries = datasets.load_dataset(\"path/to/this/folder\", \"{first}\", \
         split=\"test\")\nentries = entries.cast_column(\"function\", datasets.Json())  # values instead of text\nsimple = entries.filter(lambda entry: entry[\"category\"] == \"simple\")\n\n# One file in the \
         leaderboard's format:\nquestions = datasets.load_dataset(\"json\", \
         data_files=\"path/to/this/folder/{a_file}\", split=\"train\")\n```\n\nIn the tables, the columns `question`, \
         `function` and `ground_truth` hold JSON as text. BFCL's evaluator reads the other files, with one JSON object per \
         line.\n"
    );
    text
}

fn funnel(report: &Report) -> String {
    let mut text = format!(
        "\n## Funnel\n\nThe number of doc lists and requests after each step, next to the figures that \
         [BFCL published]({RECIPE_URL}) for its own log. Shares are relative to the pairs read.\n\n| step | after this step | doc lists | requests | BFCL V2 Live |\n|---|---|---:|---:|---:|\n"
    );
    for row in &report.funnel {
        let bfcl = row.bfcl.map(|published| {
            let share = share_of(published.count, report.published_pairs().unwrap_or_default());
            format!("{} {} ({share})", count(published.count), unit(published.unit))
        });
        let _ = writeln!(
            text,
            "| `{}` | {} | {} ({}) | {} ({}) | {} |",
            row.step,
            escaped(&row.description),
            count(row.doc_lists),
            share_of(row.doc_lists, report.ingest.records),
            count(row.requests),
            percent(row.percent),
            bfcl.unwrap_or_default()
        );
    }
    text + "\n" + COMPARABLE + "\n"
}

fn recipe(report: &Report) -> String {
    let mut text =
        "\n## Steps of the recipe\n\n| step | status | stages | note |\n|---|---|---|---|\n".to_owned();
    for step in &report.recipe {
        let stages: Vec<String> = step.stages.iter().map(|stage| format!("`{stage}`")).collect();
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} |",
            escaped(step.step),
            step.status.name(),
            stages.join(", "),
            escaped(&step.note)
        );
    }
    if !report.other_stages.is_empty() {
        let stages: Vec<String> = report.other_stages.iter().map(|stage| format!("`{stage}`")).collect();
        let _ = writeln!(text, "\nStages that ran and are not part of the recipe: {}.", stages.join(", "));
    }
    text
}

fn composition(report: &Report) -> String {
    [
        categories(report),
        shared_lists(report),
        tiers(report),
        precision(report),
        language_models(report),
        languages(report),
    ]
    .concat()
}

fn categories(report: &Report) -> String {
    let has_frozen = report.all_frozen() > 0;
    let (frozen, border) = if has_frozen { (" of these frozen |", "---:|") } else { ("", "") };
    let mut text = format!(
        "\n## Categories and tiers\n\n{SCORED}\n\n| category | scored | unverified |{frozen}\n|---|---:|---:|{border}\n"
    );
    for category in Category::ALL {
        let [scored, unverified] = SETS.map(|(set, _)| report.entries(set, Some(category.name())));
        if scored + unverified > 0 {
            let _ = write!(text, "| `{}` | {} | {} |", category.name(), count(scored), count(unverified));
            if has_frozen {
                let _ = write!(text, " {} |", count(report.frozen(category.name())));
            }
            text.push('\n');
        }
    }
    text
}

fn shared_lists(report: &Report) -> String {
    let composition = &report.composition;
    format!(
        "\n{} entries{} use {} doc lists, with {} functions: {} distinct ones, with {} distinct names.\n",
        count(composition.requests),
        if report.all_frozen() > 0 { " of this run" } else { "" },
        count(composition.doc_lists),
        count(composition.functions_offered),
        count(composition.distinct_functions),
        count(composition.distinct_names)
    )
}

fn tiers(report: &Report) -> String {
    let entries = &report.entries;
    let mut text: String = [
        ("Reliability of answers and labels", "tier", &entries.tier),
        ("Relevance of the functions to the request", "relevance", &entries.relevance),
        ("Reasons for categories without answers", "basis", &entries.category_basis),
    ]
    .map(|(heading, first, counts)| counted(heading, first, counts))
    .concat();
    if let Some(represented_requests) = entries.represented_requests {
        let _ = writeln!(
            text,
            "\nThe entries are a sample of {} requests; the column `weight` holds the number that each represents.",
            count(represented_requests)
        );
    }
    text
}

fn precision(report: &Report) -> String {
    let of_stages = precision::of_stages(report);
    if of_stages.is_empty() {
        return String::new();
    }
    let mut text = format!("\n### {}\n", precision::HEADING);
    for Shown { about, columns, rows } in of_stages {
        let border = "---:|".repeat(columns.len() - 1);
        let _ = write!(text, "\n{}\n\n| {} |\n|---|{border}\n", escaped(&about), columns.join(" | "));
        text.extend(rows.iter().map(|row| format!("| {} |\n", row.join(" | "))));
    }
    text
}

fn language_models(report: &Report) -> String {
    if report.language_models.is_empty() {
        return String::new();
    }
    let mut text = format!("\n### {}\n", asked::HEADING);
    for (stage, usage) in &report.language_models {
        let _ = write!(text, "\n{}\n", escaped(&asked::sentence_of_card(stage, usage)));
    }
    text
}

fn languages(report: &Report) -> String {
    let languages = &report.entries.language;
    if languages.is_empty() {
        return "\n## Languages\n\nNo stage of this pipeline detects languages.\n".to_owned();
    }
    let heading = "Language of the last user message (ISO 639; `und`: not detected)";
    format!("\n## Languages\n{}", counted(heading, "language", languages))
}

fn counted(heading: &str, first: &str, counts: &BTreeMap<String, u64>) -> String {
    if counts.is_empty() {
        return String::new();
    }
    let rows: String =
        counts.iter().map(|(value, n)| format!("| {} | {} |\n", escaped(value), count(*n))).collect();
    format!("\n{heading}:\n\n| {first} | entries |\n|---|---:|\n{rows}")
}

fn fates(report: &Report) -> String {
    let mut text = "\n## Merged, dropped and held rows\n\nThe example of a reason is its earliest row, with the measured score or \
                    the evidence. Rows counted as *followed* were removed as a consequence, for example requests whose doc list \
                    was dropped.\n"
        .to_owned();
    for (action, heading, meaning) in fate_sections(report) {
        let fates: Vec<_> = report.shown_fates(action).collect();
        let _ = write!(text, "\n### {heading}\n\n{meaning}\n");
        if fates.is_empty() {
            text += "\nNone.\n";
            continue;
        }
        text += "\n| reason | stage | rows | meaning | example |\n|---|---|---:|---|---|\n";
        for (fate, followed) in fates {
            let followed = match followed {
                0 if fate.cascaded => ", followed".to_owned(),
                0 => merge_targets(fate).map_or_else(String::new, |text| format!(" ({text})")),
                n => format!(" ({} followed)", rows_of(n, fate.other_table())),
            };
            let _ = writeln!(
                text,
                "| `{}` | `{}` | {}{followed} | {} | {} |",
                fate.reason,
                fate.stage,
                rows_of(fate.rows, &fate.table),
                escaped(&fate.description),
                if fate.reason.starts_with(DECISION) { String::new() } else { example(&fate.example) }
            );
        }
    }
    if !report.line_reasons.is_empty() {
        text += "\n### Lines without a request\n\n| reason | lines |\n|---|---:|\n";
        for (reason, n) in &report.line_reasons {
            let _ = writeln!(text, "| `{reason}` | {} |", count(*n));
        }
    }
    text
}

/// Templates that many requests fill; nothing if there is none.
fn templates(report: &Report) -> String {
    let mut text = String::new();
    for found in report.notes.values().filter_map(Found::of).filter(|found| !found.named.is_empty()) {
        let _ = write!(
            text,
            "\n## Templates\n\n{}\n\n| template | requests | share | of a machine | dropped |\n|---|---:|---:|---:|---:|\n",
            templates_sentence(&found)
        );
        for Named { template, requests, of_machines, dropped } in &found.named {
            let (share, template) = (share_of(*requests, found.requests), escaped(template));
            let _ = writeln!(
                text,
                "| {template} | {} | {share} | {} | {} |",
                count(*requests),
                count(*of_machines),
                count(*dropped)
            );
        }
    }
    text
}

fn edits(report: &Report) -> String {
    let mut text = "\n## Edits\n\n`safe` edits keep the meaning, `unsafe` edits fill a gap with a guess. Edits marked `suggest` \
                    were not applied.\n"
        .to_owned();
    if report.edits.is_empty() {
        return text + "\nNone.\n";
    }
    text += "\n| reason | stage | safety | edits | meaning | example |\n|---|---|---|---:|---|---|\n";
    for edit in &report.edits {
        let _ = writeln!(
            text,
            "| `{}` | `{}` | {} | {} | {} | {} |",
            edit.reason,
            edit.stage,
            escaped(&edit.safety),
            count(edit.edits),
            escaped(&edit.description),
            example(&edit.example)
        );
    }
    text
}

/// What the example shows. Its ids are hashes of what was logged and stay out of the card, which is published.
fn example(example: &Example) -> String {
    let score = match (&example.metric, example.score) {
        (Some(metric), Some(score)) => Some(format!("{} {score:.3}", escaped(metric))),
        _ => None,
    };
    let quoted = example.text.as_ref().map(|text| escaped(text));
    [score, quoted].into_iter().flatten().collect::<Vec<_>>().join(": ")
}

fn privacy(report: &Report) -> String {
    let mut text = "\n## Personal data\n".to_owned();
    if !is_redacted(report) {
        text += "\n**Not redacted.** This dataset can contain the names, addresses, numbers and keys of the log. Do not publish \
                 it before you have read it.\n";
    }
    if report.redacted.is_empty() && is_redacted(report) {
        text += "\nRedaction ran and found nothing.\n";
    }
    if !report.redacted.is_empty() {
        text += "\nPlaceholders of the same format replace personal values. A value has the same placeholder everywhere.\n\n| \
                 kind | places |\n|---|---:|\n";
        for (reason, n) in &report.redacted {
            let _ = writeln!(text, "| `{reason}` | {} |", count(*n));
        }
    }
    if is_redacted(report) {
        text += "\nThe rules find values with a known format, such as e-mail addresses. ";
        text += if report.keeps_names() {
            "They do not find names, places or other personal details in free text.\n"
        } else {
            "Names were looked for by a list or a model, which miss some; other personal details in free text stay.\n"
        };
    }
    text
}

fn public_sets(report: &Report) -> String {
    let mut text = "\n## Overlap with public sets\n".to_owned();
    if report.public_sets.is_empty() {
        return text + "\nThis dataset was not compared with public sets, so its entries can occur in one.\n";
    }
    text += "\n| set | licence | status | stage |\n|---|---|---|---|\n";
    for set in &report.public_sets {
        let built_in = if set.built_in { " (built-in sample, not evidence)" } else { "" };
        let (name, licence, status) = (escaped(&set.set), escaped(&set.licence), escaped(&set.status));
        let _ = writeln!(text, "| {name}{built_in} | {licence} | {status} | `{}` |", set.stage);
    }
    text + "\nEntries can occur in a set that was not checked.\n"
}

fn licences(report: &Report) -> String {
    let card = &report.card;
    format!(
        "\n## Licences\n\n| | |\n|---|---|\n| this dataset | {} |\n| source log | {} |\n| contact | {} |\n",
        escaped(or_unknown(&card.licence, "unknown")),
        escaped(or_unknown(&card.source_licence, "unknown")),
        escaped(or_unknown(&card.contact, "not given"))
    )
}

fn limits(report: &Report) -> String {
    let limits: String = known_limits(report).iter().map(|limit| format!("- {limit}\n")).collect();
    format!("\n## Known limits\n\n{limits}")
}

fn rebuild(report: &Report) -> String {
    let rebuild = &report.rebuild;
    let mut text = format!(
        "\n## How to rebuild\n\ncallsieve {}, seed {}. Save the pipeline below as `pipeline.toml` and run:\n\n```sh\n{}\n```\n\n\
         Inputs: {}. The file `run.json` of the run has their checksums; it is private, like the inputs.\n",
        escaped(&rebuild.version),
        rebuild.seed,
        visible_line(&rebuild.command),
        count(rebuild.inputs.len() as u64)
    );
    if !rebuild.files.is_empty() {
        let files: Vec<String> = rebuild.files.iter().map(|file| format!("`{file}`")).collect();
        let _ = writeln!(text, "\nThe run also needs the files in these settings: {}.", files.join(", "));
    }
    if let Some(reviewed) = rebuild.reviewed_sentence() {
        let _ = writeln!(text, "\n{reviewed}");
    }
    let fence = fence(&rebuild.pipeline);
    let _ = write!(text, "\n{fence}toml\n{}\n{fence}\n", rebuild.pipeline.trim_end());
    text
}

/// A fence longer than any run of backticks inside.
fn fence(text: &str) -> String {
    let (mut longest, mut run) = (0, 0);
    for c in text.chars() {
        run = if c == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    "`".repeat((longest + 1).max(3))
}

fn citation(report: &Report) -> String {
    format!(
        "\n## Citing\n\nCite this dataset by its title ({}) and the version of callsieve ({}). The format \
         and the recipe are those of the Berkeley Function Calling Leaderboard: S. G. Patil and others, *The Berkeley \
         Function Calling Leaderboard (BFCL): From Tool Use to Agentic Evaluation of Large Language Models*, ICML 2025, \
         and [BFCL V2 Live]({RECIPE_URL}).\n",
        escaped(title(report)),
        escaped(&report.version)
    )
}

/// Text that Markdown takes for text: one line, every sign of Markdown and HTML escaped, what is not seen written out.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in visible(text).chars() {
        match c {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '#' | '!' | '|' | '~' | '$' | '@' => {
                escaped.push('\\');
                escaped.push(c);
            }
            c if c.is_control() => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_from_outside_stays_text() {
        assert_eq!(
            escaped("a|b\n<script> `x` [y](z) a@b.c"),
            "a\\|b &lt;script&gt; \\`x\\` \\[y\\](z) a\\@b.c"
        );
        assert_eq!(escaped("a\u{202e}b\u{1b}[2K"), "a\\\\u\\{202e\\}b\\\\x1b\\[2K");
        assert_eq!(fence("a ```` b"), "`````");
        assert_eq!(fence("a"), "```");
    }
}
