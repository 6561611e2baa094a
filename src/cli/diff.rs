//! `toolsieve diff`: the edits of a run, before and after, read off their patches.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::bail;
use serde_json::{Value, json};

use super::open::open;
use crate::console::{self, count};
use crate::engine::corpus::RowId;
use crate::engine::ledger::{Event, for_each_event};
use crate::stages;
use crate::text::short::shortened;

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
    let mut by_reason: BTreeMap<String, Vec<Event>> = BTreeMap::new();
    for (at, stage) in run.stages.iter().enumerate() {
        for_each_event(
            &args.run,
            at,
            stage,
            &run.corpus,
            |_, _| true,
            |events| {
                for event in events.into_iter().filter(|event| event.action == "edit") {
                    if args.reason.as_ref().is_none_or(|reason| *reason == event.reason) {
                        by_reason.entry(event.reason.clone()).or_default().push(event);
                    }
                }
                Ok(())
            },
        )?;
    }
    let each = if args.reason.is_some() { usize::MAX } else { args.each };
    let mut text = String::new();
    for (reason, events) in &by_reason {
        if args.json {
            text += &events.iter().map(|event| format!("{}\n", as_json(event))).collect::<String>();
            continue;
        }
        text += &format!("{reason}  {} edits\n", count(events.len() as u64));
        text += &events.iter().take(each).map(as_text).collect::<String>();
        if events.len() > each {
            text += &format!("  … and {} more: --reason {reason}\n", count((events.len() - each) as u64));
        }
    }
    Ok(console::give(&text)?)
}

fn as_json(event: &Event) -> Value {
    let patch: Value =
        event.patch.as_deref().and_then(|patch| serde_json::from_str(patch).ok()).unwrap_or_default();
    json!({"table": event.table, "row_id": event.row_id, "stage": event.stage, "column": event.column, "reason": event.reason, "safety": event.safety, "patch": patch})
}

fn as_text(event: &Event) -> String {
    let safety = event
        .safety
        .as_deref()
        .filter(|&safety| safety != "safe")
        .map(|safety| format!("  ({safety})"))
        .unwrap_or_default();
    format!(
        "  {} {}{safety}\n{}",
        event.table,
        RowId::short(&event.row_id),
        changes(event.column.as_deref(), event.patch.as_deref().unwrap_or("[]"))
    )
}

/// A patch as lines: what was there, what is there now.
pub(super) fn changes(column: Option<&str>, patch: &str) -> String {
    let ops: Vec<Value> = serde_json::from_str(patch).unwrap_or_default();
    let mut text = String::new();
    let mut before = None;
    for op in &ops {
        let path = op["path"].as_str().unwrap_or_default();
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
            Some("redact") => text += &redacted(column.unwrap_or_default(), op),
            // A key that is moved onto itself goes to the end: only the order of keys changes.
            Some("move") if op["from"] == op["path"] => {}
            Some("move") => text += &format!("    > {} to {path}\n", op["from"].as_str().unwrap_or_default()),
            _ => {}
        }
    }
    match (text.is_empty(), before) {
        // A patch that only tests tells of a finding.
        (true, Some(found)) if ops.len() == 1 => {
            format!("    ? {} {}\n", ops[0]["path"].as_str().unwrap_or_default(), shown(Some(found)))
        }
        (true, _) => "    ~ keys put in order\n".to_owned(),
        (false, _) => text,
    }
}

/// What was replaced where; what it was is on no record.
fn redacted(column: &str, op: &Value) -> String {
    let word = |key: &str| op[key].as_str().unwrap_or_default();
    let path = if word("path").is_empty() { String::new() } else { format!("{} ", word("path")) };
    format!("    ~ {column} {path}{}..{}: {} → {}\n", op["from"], op["to"], word("kind"), word("value"))
}

/// A value, shortened for the eye.
fn shown(value: Option<&Value>) -> String {
    const MAX_CHARS: usize = 160;
    shortened(&value.map(Value::to_string).unwrap_or_default(), MAX_CHARS)
}
