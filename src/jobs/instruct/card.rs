//! The card of an instruction set: what it holds, what it was made of, and what was left out.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;

use super::figures::{conditions_in_words, figures};
use super::{conditions, coverage};
use crate::engine::disk::read_json;
use crate::engine::error::Result;
use crate::instruct::form::FORMS;
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
    let _ = write!(
        text,
        "# {name}\n\n{} instructions for function calling, made by programs, with no language model. ",
        count(figures.n)
    );
    if figures.n_unexecuted == 0 {
        let _ = write!(
            text,
            "callsieve {version} called functions of {of}, kept the programs whose calls were proven to be needed, and put them into words by templates.\n\nEvery call was executed twice with the same result. Every argument is in the words of the user or in an earlier result, every value of an answer is in a result. {} of the instructions use an earlier result.\n\n",
            share_of(figures.n_dependent, figures.n),
        );
    } else {
        let _ = write!(
            text,
            "callsieve {version} made calls of functions of {of} that fit their docs, and put them into words by templates.\n\nNothing was executed: there are no results and no answers, and nobody checked that a call does what its doc says. All of them are in `unverified/`.\n\n"
        );
    }
    let _ = write!(text, "## Strata\n\n| stratum | instructions |\n|---|---:|\n");
    for (stratum, n) in &figures.strata {
        let _ = writeln!(text, "| {stratum} | {} |", count(*n));
    }
    let _ = write!(text, "\n## From candidates to instructions\n\n| after | instructions |\n|---|---:|\n");
    let _ =
        writeln!(text, "| candidates | {} |", count(report["ingest"]["lines"].as_u64().unwrap_or_default()));
    for row in report["funnel"].as_array().into_iter().flatten() {
        let (step, n) =
            (row["step"].as_str().unwrap_or_default(), row["requests"].as_u64().unwrap_or_default());
        let _ =
            writeln!(text, "| {step}: {} | {} |", row["description"].as_str().unwrap_or_default(), count(n));
    }
    let _ = write!(text, "\n| rejected because | candidates |\n|---|---:|\n");
    for (reason, n) in report["line_reasons"].as_object().into_iter().flatten() {
        let _ = writeln!(text, "| `{reason}` | {} |", count(n.as_u64().unwrap_or_default()));
    }
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
    let _ = write!(text, "\n## Files\n\n| file | read by |\n|---|---|\n");
    for form in &FORMS {
        let _ = writeln!(text, "| `{}` | {} |", form.file, form.read_by);
    }
    text += "| `bfcl/` | BFCL's evaluator; of Python classes also several turns |\n| `instructions.parquet` | any reader of Parquet; messages, tools and programs are JSON texts |\n";
    text += "\n## Limits\n\nThe language is that of templates, and values are those of the environment and of lists. The results are those of the environment, which is named on every instruction.\n";
    Ok(text)
}

fn front_matter(name: &str, is_unverified: bool) -> String {
    let data = if is_unverified { "unverified/openai.jsonl" } else { "openai.jsonl" };
    format!(
        "---\npretty_name: \"{name}\"\nlicense: \"unknown\"\ntask_categories:\n- text-generation\ntags:\n- function-calling\n- tool-use\n- synthetic\nconfigs:\n- config_name: default\n  data_files: {data}\n---\n\n"
    )
}
