//! The metadata block of the dataset card: what the Hugging Face hub reads, and what `datasets.load_dataset` loads by.
//!
//! Written by hand, since it is a list of a few keys; texts go in as JSON strings, which are YAML strings.

use std::fmt::Write as _;

use super::model::{Report, SETS};
use super::words::{or_unknown, title};
use crate::text::visible::visible_quoted;

/// A language that was not detected.
const UNKNOWN_LANGUAGE: &str = "und";

/// A text in double quotes, as JSON and YAML both read it; what is not seen is written as an escape.
fn text(text: &str) -> String {
    visible_quoted(&serde_json::Value::from(text).to_string()).into_owned()
}

/// The YAML block.
pub(super) fn metadata(report: &Report) -> String {
    let mut yaml = format!("---\npretty_name: {}\n", text(title(report)));
    let languages = report.entries.language.keys().filter(|code| *code != UNKNOWN_LANGUAGE);
    let languages: String = languages.map(|code| format!("- {}\n", text(code))).collect();
    if !languages.is_empty() {
        let _ = write!(yaml, "language:\n{languages}");
    }
    yaml += &licence(&report.card.licence);
    let _ = write!(yaml, "size_categories:\n- {}\n", size_category(report.all_entries()));
    yaml +=
        "task_categories:\n- text-generation\ntags:\n- function-calling\n- tool-use\n- evaluation\n- bfcl\n";
    let configs = configs(report);
    if !configs.is_empty() {
        yaml += "configs:\n";
    }
    for (at, (name, path)) in configs.iter().enumerate() {
        let default = if at == 0 { "  default: true\n" } else { "" };
        let _ = write!(
            yaml,
            "- config_name: {}\n{default}  data_files:\n  - split: test\n    path: {}\n",
            text(name),
            text(path)
        );
    }
    yaml + "---\n\n"
}

/// The licence by its identifier; the hub has `unknown` for none, and `other` for what is no identifier.
fn licence(said_to_be: &str) -> String {
    let id = or_unknown(said_to_be, "unknown").trim().to_lowercase();
    if id.chars().all(|c| c.is_ascii_alphanumeric() || "-.".contains(c)) {
        return format!("license: {}\n", text(&id));
    }
    format!("license: other\nlicense_name: {}\n", text(said_to_be.trim()))
}

/// The hub's words for how many entries there are.
fn size_category(entries: u64) -> &'static str {
    match entries {
        0..1_000 => "n<1K",
        1_000..10_000 => "1K<n<10K",
        10_000..100_000 => "10K<n<100K",
        100_000..1_000_000 => "100K<n<1M",
        _ => "n>1M",
    }
}

/// The configurations to load, with the file of each.
///
/// Tables only: the loader takes one format a dataset, and the files in the leaderboard's form are no tables.
pub(super) fn configs(report: &Report) -> Vec<(&'static str, String)> {
    let sets = SETS.iter().map(|(set, _)| *set).filter(|set| report.entries(set, None) > 0);
    sets.map(|set| (set, format!("data/{set}.parquet"))).collect()
}
