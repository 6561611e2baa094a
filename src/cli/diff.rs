//! `toolsieve diff`: the edits of a run, before and after, read off their patches.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::cli::console::{self, count};
use crate::engine::corpus::RowId;
use crate::engine::vocabulary::Safety;
use crate::run::{RowEdit, open, patch_lines};
use crate::stages::Registry;

/// Arguments of `diff`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  toolsieve diff out/live                                  a few edits of each rule
  toolsieve diff out/live --reason schema/type-synonym     all edits of one rule
  toolsieve diff out/live --json | jq .patch               all edits, one a line")]
pub(super) struct DiffArgs {
    /// Run folder.
    run: PathBuf,

    /// Edits for this reason only, all of them.
    #[arg(long, value_name = "CODE")]
    reason: Option<String>,

    /// Edits shown for each reason.
    #[arg(long, value_name = "N", default_value_t = 3)]
    each: usize,

    /// All edits, one JSON object a line.
    #[arg(long)]
    json: bool,
}

pub(super) fn diff(args: &DiffArgs, registry: &Registry) -> anyhow::Result<()> {
    let each = if args.reason.is_some() || args.json { usize::MAX } else { args.each };
    let mut by_reason: BTreeMap<String, Shown> = BTreeMap::new();
    open(&args.run, registry)?.diff(args.reason.as_deref(), |edit| {
        let shown = by_reason.entry(edit.reason.to_owned()).or_default();
        shown.n_edits += 1;
        if shown.n_edits <= each {
            shown.text += &if args.json { as_json(edit) } else { as_text(edit) };
        }
    })?;
    let mut text = String::new();
    for (reason, shown) in &by_reason {
        if args.json {
            text += &shown.text;
            continue;
        }
        text += &format!("{reason}  {} edits\n{}", count(shown.n_edits as u64), shown.text);
        if shown.n_edits > each {
            text += &format!("  … and {} more: --reason {reason}\n", count((shown.n_edits - each) as u64));
        }
    }
    Ok(if args.json { console::give_json(&text) } else { console::print_data(&text) }?)
}

/// The edits of one reason.
#[derive(Default)]
struct Shown {
    n_edits: usize,
    text: String,
}

fn as_json(edit: &RowEdit<'_>) -> String {
    let patch: Value = serde_json::from_str(edit.patch).unwrap_or_default();
    let line = json!({"table": edit.table, "row_id": edit.row_id.to_string(), "stage": edit.stage, "column": edit.column, "reason": edit.reason, "safety": edit.safety, "patch": patch});
    format!("{line}\n")
}

fn as_text(edit: &RowEdit<'_>) -> String {
    let safety =
        if edit.safety == Safety::Safe.name() { String::new() } else { format!("  ({})", edit.safety) };
    format!(
        "  {} {}{safety}\n{}",
        edit.table.name(),
        RowId::short(edit.row_id.digits().as_str()),
        patch_lines(edit.column, edit.patch)
    )
}
