//! The card of a collection: what it holds, what was in the files, and what was left out.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;

use super::counts;
use crate::engine::disk::read_json;
use crate::engine::error::Result;
use crate::text::figures::count;

/// Returns the card, in Markdown.
///
/// # Errors
/// A file of the run cannot be read.
pub(super) fn card(folder: &Path) -> Result<String> {
    let report: Value = read_json(&folder.join("report.json"))?;
    let counts = counts(folder)?.unwrap_or_default();
    let name = report["pipeline"].as_str().unwrap_or("collection");
    let kept =
        report["funnel"].as_array().and_then(|rows| rows.last()?["doc_lists"].as_u64()).unwrap_or_default();
    let mut text = format!(
        "---\npretty_name: \"{name}\"\nlicense: \"unknown\"\ntags:\n- function-calling\n- tool-use\nconfigs:\n- config_name: default\n  data_files: tools.jsonl\n---\n\n# {name}\n\n{} tools of an API collection, read by callsieve {}. Names are legal for language models and unique; docs are JSON Schema as written.\n\n",
        count(kept),
        report["version"].as_str().unwrap_or_default(),
    );
    text += "## What was in the files\n\n| item | in the files | read | lost |\n|---|---:|---:|---:|\n";
    for (item, figures) in counts.as_object().into_iter().flatten().filter(|(_, figures)| figures.is_object())
    {
        let figure = |key: &str| count(figures[key].as_u64().unwrap_or_default());
        let _ = writeln!(text, "| {item} | {} | {} | {} |", figure("source"), figure("read"), figure("lost"));
    }
    let figure = |key: &str| count(counts[key].as_u64().unwrap_or_default());
    let _ = write!(
        text,
        "\n{} names are changed (`names.jsonl` maps them), and {} functions that equal one of another file are joined.\n\n## What was left out\n\n| reason | items |\n|---|---:|\n",
        figure("renamed"),
        figure("merged_functions")
    );
    for (reason, n) in report["line_reasons"].as_object().into_iter().flatten() {
        let _ = writeln!(text, "| `{reason}` | {} |", count(n.as_u64().unwrap_or_default()));
    }
    text += "\n## Files\n\n| file | a line |\n|---|---|\n| `tools.jsonl` | a tool: its names, host, licence, and its functions with method, path, docs and response |\n| `functions.jsonl` | a function as a tool of OpenAI |\n| `names.jsonl` | the legal name of a function, its tool and its own name |\n| `croissant.json` | this page for machines, in the Croissant format |\n\nLicences of APIs are those of their owners.\n";
    Ok(text)
}
