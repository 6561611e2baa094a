//! The card of an instruction set: what it holds, what it was made of, and what was left out.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;

use super::figures::{Figures, conditions_in_words, cost_of_one, figures, yields};
use super::solutions::Solutions;
use super::{conditions, coverage};
use crate::engine::disk::read_json;
use crate::engine::error::{At as _, Result};
use crate::engine::frame::FrameFile;
use crate::instruct::form::FORMS;
use crate::instruct::sink::{BFCL, FOLDERS, TABLE};
use crate::instruct::solutions::FOLDER as SOLUTIONS;
use crate::report::croissant::CROISSANT;
use crate::report::funnel::EXPORT;
use crate::side_file;
use crate::text::figures::{count, share_of};
use crate::text::visible::visible_line;

/// Initial states that are named.
const MOST_STATES: usize = 10;

/// Returns the card, in Markdown.
///
/// # Errors
/// A file of the run cannot be read.
pub(super) fn card(folder: &Path) -> Result<String> {
    let report: Value = read_json(&folder.join("report.json"))?;
    let figures = figures(folder)?;
    let coverage = coverage(folder)?;
    let name = report["pipeline"].as_str().unwrap_or("instructions");
    let environments: Vec<&str> = figures.environments.keys().map(String::as_str).collect();
    let mut text = front_matter(name, figures.n_unexecuted > 0);
    let of = if environments.is_empty() { "no environment".to_owned() } else { environments.join(", ") };
    let version = report["version"].as_str().unwrap_or_default();
    let by = match figures.models.is_empty() {
        true => "made by programs, with no language model".to_owned(),
        false if figures.is_written => format!("written by {}", models(&figures)),
        false => format!("made by programs and put into words by {}", models(&figures)),
    };
    let _ = write!(text, "# {name}\n\n{} instructions for function calling, {by}. ", count(figures.n));
    let words = if figures.models.is_empty() {
        "put them into words by templates"
    } else {
        "kept the words from which a model made calls with the same results"
    };
    if figures.n_unexecuted == 0 && !figures.is_written {
        let _ = write!(
            text,
            "callsieve {version} called functions of {of}, kept the programs whose calls were proven to be needed, and {words}.\n\nEvery call was executed twice with the same result. Every argument is in the words of the user or in an earlier result, every value of an answer is in a result. {} of the instructions use an earlier result.\n\n",
            share_of(figures.n_dependent, figures.n),
        );
    } else if figures.is_written {
        let _ = write!(
            text,
            "callsieve {version} gave the models samples of functions of {of}, and dropped what broke a rule or did not run. {} of them were executed twice with the same result; the others are in `unverified/`: nothing proves that their calls, or that no call, are right.\n\n",
            count(figures.n - figures.n_unexecuted),
        );
    } else {
        let _ = write!(
            text,
            "callsieve {version} made calls of functions of {of} that fit their docs, and {words}.\n\nNothing was executed: there are no results and no answers, and nobody checked that a call does what its doc says. All of them are in `unverified/`.\n\n"
        );
    }
    let _ = write!(text, "## Strata\n\n| stratum | instructions |\n|---|---:|\n");
    for (stratum, n) in &figures.strata {
        let _ = writeln!(text, "| {stratum} | {} |", count(*n));
    }
    let _ = write!(text, "\n## From candidates to instructions\n\n| after | instructions |\n|---|---:|\n");
    let _ =
        writeln!(text, "| candidates | {} |", count(report["ingest"]["lines"].as_u64().unwrap_or_default()));
    // A step that removes nothing may not have run, as where no model is named.
    let mut before = None;
    for row in report["funnel"].as_array().into_iter().flatten() {
        let (step, n) =
            (row["step"].as_str().unwrap_or_default(), row["requests"].as_u64().unwrap_or_default());
        if before.replace(n) == Some(n) && step != EXPORT {
            continue;
        }
        let _ =
            writeln!(text, "| {step}: {} | {} |", row["description"].as_str().unwrap_or_default(), count(n));
    }
    let _ = write!(text, "\n| rejected because | candidates |\n|---|---:|\n");
    for (reason, n) in report["line_reasons"].as_object().into_iter().flatten() {
        let _ = writeln!(text, "| `{reason}` | {} |", count(n.as_u64().unwrap_or_default()));
    }
    text += &of_models(&report, &figures);
    let solutions = Solutions::of(folder)?.card(&report);
    text += &solutions;
    let _ = write!(text, "\n## Environment\n\n");
    for (environment, n) in &figures.environments {
        let _ = writeln!(text, "- {environment}: {} instructions", count(*n));
    }
    if let Some(conditions) = conditions(folder)? {
        for condition in conditions_in_words(&conditions) {
            let _ = writeln!(text, "- {condition}");
        }
    }
    if let Some(coverage) = coverage {
        let _ = writeln!(text, "- {} of {} functions are called", coverage.reached, coverage.functions);
    }
    let states: Vec<String> =
        figures.states.iter().map(|(state, n)| format!("{} ({})", visible_line(state), count(*n))).collect();
    let more = states.len().saturating_sub(MOST_STATES);
    let _ = writeln!(
        text,
        "- initial states: {}{}",
        states[..states.len().min(MOST_STATES)].join(", "),
        if more > 0 { format!(" and {more} more") } else { String::new() }
    );
    text += &files(&folder.join("dataset"))?;
    let language = if figures.models.is_empty() {
        "The language is that of templates"
    } else {
        "The language is that of the models"
    };
    let results = if figures.n_unexecuted < figures.n {
        "The results are those of the environment, which is named on every instruction."
    } else {
        "There are no results."
    };
    let _ = write!(
        text,
        "\n## Limits\n\n{language}, and values are those of the environment and of lists. {results}\n"
    );
    Ok(text)
}

/// The files of the dataset with their instructions.
fn files(dataset: &Path) -> Result<String> {
    let mut text = "\n## Files\n\n| file | lines | read by |\n|---|---:|---|\n".to_owned();
    let mut row = |file: &str, n: Option<u64>, read_by: &str| {
        let n = n.map_or_else(String::new, count);
        let _ = writeln!(text, "| `{file}` | {n} | {read_by} |");
    };
    for below in [""].into_iter().chain(FOLDERS) {
        let name = |file: &str| if below.is_empty() { file.to_owned() } else { format!("{below}/{file}") };
        for form in &FORMS {
            let path = dataset.join(name(form.file));
            if path.is_file() {
                let lines = side_file::read_text(&path).at("reading", &path)?;
                row(&name(form.file), Some(lines.lines().count() as u64), form.read_by);
            }
        }
        if dataset.join(name(BFCL)).is_dir() {
            row(&name(&format!("{BFCL}/")), None, "BFCL's evaluator; of Python classes also several turns");
        }
        let table = dataset.join(name(TABLE));
        if table.is_file() {
            let n = FrameFile::open(&table)?.height() as u64;
            row(&name(TABLE), Some(n), "any reader of Parquet; messages, tools and programs are JSON texts");
        }
        if dataset.join(name(SOLUTIONS)).is_dir() {
            let forms = "the forms above with the paths of models, pairs for preference training, pass rates, drawn trees";
            row(&name(&format!("{SOLUTIONS}/")), None, forms);
        }
    }
    row(CROISSANT, None, "machines: the tables and this page in the Croissant format");
    Ok(text)
}

/// The models of a set, with their instructions.
fn models(figures: &Figures) -> String {
    let of = |(model, n): (&String, &u64)| format!("{} ({})", visible_line(model), count(*n));
    figures.models.iter().map(of).collect::<Vec<_>>().join(", ")
}

/// What models were asked for, what became of it, and what an instruction cost.
fn of_models(report: &Value, figures: &Figures) -> String {
    let yields = yields(report);
    if yields.is_empty() {
        return String::new();
    }
    let mut text = "\n## What models wrote\n\n| stage | stratum | model | asked | passed | others |\n|---|---|---|---:|---:|---|\n".to_owned();
    for one in &yields {
        let (stage, stratum, model) = (&one.stage, &one.stratum, visible_line(&one.model));
        let _ = writeln!(
            text,
            "| {stage} | {stratum} | {model} | {} | {} | {} |",
            count(one.asked),
            count(one.passed),
            one.reasons_in_words()
        );
    }
    if let Some(cost) = cost_of_one(report, figures.n) {
        let _ = writeln!(
            text,
            "\nAn instruction of the set cost {cost:.4} USD, replies from the cache included."
        );
    }
    text
}

fn front_matter(name: &str, is_unverified: bool) -> String {
    let data = if is_unverified { "unverified/openai.jsonl" } else { "openai.jsonl" };
    format!(
        "---\npretty_name: \"{name}\"\nlicense: \"unknown\"\ntask_categories:\n- text-generation\ntags:\n- function-calling\n- tool-use\n- synthetic\nconfigs:\n- config_name: default\n  data_files: {data}\n---\n\n"
    )
}
