//! `toolsieve diff`: the edits of a run, before and after, read off their patches.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::bail;
use serde_json::{Value, json};

use super::open::open;
use crate::console::{self, count};
use crate::engine::corpus::RowId;
use crate::engine::ledger::{Change, Event, for_every_event};
use crate::engine::stage::Safety;
use crate::stages;
use crate::text::short::shortened;
use crate::text::visible::visible_line;

/// Arguments of `diff`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  toolsieve diff out/live                                  a few edits of each rule
  toolsieve diff out/live --reason schema/unknown-type     all edits of one rule
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

pub(super) fn diff(args: &DiffArgs) -> anyhow::Result<()> {
    let run = open(&args.run)?;
    if let Some(code) = &args.reason
        && !stages::reasons().iter().any(|(_, reason)| reason.code == code.as_str())
    {
        bail!("there is no reason \"{code}\"\nhint: `toolsieve explain` lists all");
    }
    let each = if args.reason.is_some() || args.json { usize::MAX } else { args.each };
    let mut by_reason: BTreeMap<String, Told> = BTreeMap::new();
    for_every_event(&args.run, &run.stages, &run.corpus, |events| {
        for event in events {
            let Some(edit) = event.edit else { continue };
            if args.reason.as_ref().is_some_and(|reason| reason != event.reason) {
                continue;
            }
            let told = by_reason.entry(event.reason.to_owned()).or_default();
            told.n_edits += 1;
            if told.n_edits <= each {
                told.text += &if args.json { as_json(event, edit) } else { as_text(event, edit) };
            }
        }
        Ok(())
    })?;
    let mut text = String::new();
    for (reason, told) in &by_reason {
        if args.json {
            text += &told.text;
            continue;
        }
        text += &format!("{reason}  {} edits\n{}", count(told.n_edits as u64), told.text);
        if told.n_edits > each {
            text += &format!("  … and {} more: --reason {reason}\n", count((told.n_edits - each) as u64));
        }
    }
    Ok(if args.json { console::give_json(&text) } else { console::give(&text) }?)
}

/// The edits of one reason.
#[derive(Default)]
struct Told {
    n_edits: usize,
    text: String,
}

fn as_json(event: &Event<'_>, edit: Change<'_>) -> String {
    let patch: Value = serde_json::from_str(edit.patch).unwrap_or_default();
    let line = json!({"table": event.table, "row_id": event.row_id.to_string(), "stage": event.stage, "column": edit.column, "reason": event.reason, "safety": edit.safety, "patch": patch});
    format!("{line}\n")
}

fn as_text(event: &Event<'_>, edit: Change<'_>) -> String {
    let safety =
        if edit.safety == Safety::Safe.name() { String::new() } else { format!("  ({})", edit.safety) };
    format!(
        "  {} {}{safety}\n{}",
        event.table.name(),
        RowId::short(event.row_id.digits().as_str()),
        changes(edit.column, edit.patch)
    )
}

/// A patch as lines: what was there, what is there now.
pub(super) fn changes(column: &str, patch: &str) -> String {
    let ops: Vec<Value> = serde_json::from_str(patch).unwrap_or_default();
    let mut text = String::new();
    let mut before = None;
    for op in &ops {
        let path = visible_line(op["path"].as_str().unwrap_or_default());
        match op["op"].as_str() {
            Some("test") => before = Some(&op["value"]),
            Some("remove") => {
                text += &format!("    - {path} {}\n", shown(before.take()));
            }
            Some("add") => {
                text += &format!("    + {path} {}\n", shown(Some(&op["value"])));
            }
            Some("replace") => {
                text += &format!(
                    "    - {path} {}\n    + {path} {}\n",
                    shown(before.take()),
                    shown(Some(&op["value"]))
                );
            }
            Some("redact") => text += &redacted(column, op),
            // A key that is moved onto itself goes to the end: only the order of keys changes.
            Some("move") if op["from"] == op["path"] => {}
            Some("move") => {
                let from = visible_line(op["from"].as_str().unwrap_or_default());
                text += &format!("    > {from} to {path}\n");
            }
            _ => {}
        }
    }
    match (text.is_empty(), before) {
        // A patch that only tests tells of a finding.
        (true, Some(found)) if ops.len() == 1 => {
            let path = visible_line(ops[0]["path"].as_str().unwrap_or_default());
            format!("    ? {path} {}\n", shown(Some(found)))
        }
        (true, _) => "    ~ keys put in order\n".to_owned(),
        (false, _) => text,
    }
}

/// What was replaced where; what it was is on no record.
fn redacted(column: &str, op: &Value) -> String {
    let word = |key: &str| visible_line(op[key].as_str().unwrap_or_default());
    let path = if word("path").is_empty() { String::new() } else { format!("{} ", word("path")) };
    format!("    ~ {column} {path}{}..{}: {} → {}\n", op["from"], op["to"], word("kind"), word("value"))
}

/// A value, shortened for the eye.
fn shown(value: Option<&Value>) -> String {
    const MAX_CHARS: usize = 160;
    shortened(&value.map(Value::to_string).unwrap_or_default(), MAX_CHARS)
}
