//! `toolsieve forget`: removes a record from all files of a finished run.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::purge::what;
use crate::cli::console::{self, count, table};
use crate::run::{self, Forget, ForgetReport};
use crate::stages::Registry;

/// Rows named at most in a message.
const MAX_NAMED: usize = 20;

const NOTHING_TO_DO: &str = "nothing to do: the record is forgotten\n";

/// Arguments of `forget`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The log and files outside the run folder are not changed. Old files are deleted, but their bytes on disk are not overwritten.
The run keeps only the file, line and record number of the record. Later runs into the same folder skip it.
Records with the same bytes are removed together. Other steps of the same conversation are other records.

Examples:
  toolsieve forget out/mylog --id 9f3c22a0b17e      by the start of a request id
  toolsieve forget out/mylog --id r0042 --all       all records with this id in the log
  toolsieve forget out/mylog --id r0042 --json | jq .files"
)]
pub(super) struct ForgetArgs {
    /// Run folder.
    run: PathBuf,

    /// The record: its id in the log, its request id, or the start of the request id (at least 12 digits, unique).
    #[arg(long, value_name = "ID")]
    id: String,

    /// Removes all records with this id, if the log has several.
    #[arg(long)]
    all: bool,

    /// Prints the removed records and changed files as one JSON object.
    #[arg(long)]
    json: bool,
}

pub(super) fn forget(args: &ForgetArgs, registry: &Registry) -> anyhow::Result<()> {
    let Some(forgotten) = run::forget(&args.run, Forget { id: &args.id, all: args.all }, registry)? else {
        let nothing = json!({"run": args.run, "requests": [], "files": []});
        let as_json = || console::give_json(&format!("{nothing}\n"));
        return Ok(if args.json { as_json() } else { console::print_data(NOTHING_TO_DO) }?);
    };
    if args.json {
        console::give_json(&format!("{}\n", as_json(args, &forgotten)))?;
    } else {
        console::print_data(&as_text(&forgotten))?;
    }
    if forgotten.is_other {
        console::print_status(&format!(
            "note: an earlier forget that was cut off is finished; a record {} is not there, or no more",
            args.id
        ));
    }
    Ok(())
}

fn as_text(forgotten: &ForgetReport) -> String {
    let n = forgotten.requests.len();
    let mut text = format!("forgotten {n} request{}", if n == 1 { "" } else { "s" });
    let n_lists = forgotten.doc_lists;
    if n_lists > 0 {
        text += &format!(", {n_lists} doc list{}", if n_lists == 1 { "" } else { "s" });
    }
    text.push('\n');
    for request in &forgotten.requests {
        text += &format!("  {} is {} now, read from {}\n", request.was, request.is, request.place);
    }
    let rows: Vec<Vec<String>> =
        forgotten.files.iter().map(|file| vec![file.file.clone(), what(file)]).collect();
    text += &format!("\n{}", table(&["file", "what went"], &rows, &[]));
    text += "made anew: ledger.parquet, rows.parquet, lists.parquet, links.parquet, report.json, report.html, dataset/README.md\n\n";
    let counts = &forgotten.counts;
    text += &format!(
        "requests  {} = {} kept + {} merged + {} held + {} dropped + {} forgotten\n",
        count(counts.rows),
        count(counts.kept),
        count(counts.merged),
        count(counts.held),
        count(counts.dropped),
        count(counts.forgotten)
    );
    for (word, why, ids) in [
        ("held", "whose answer was taken from it", &forgotten.answers_held),
        ("left", "that were merged into it and may say the same", &forgotten.merged_into_them),
    ] {
        if !ids.is_empty() {
            text += &format!("{word}      {} {why}: {}\n", count(ids.len() as u64), named(ids));
        }
    }
    text
}

fn as_json(args: &ForgetArgs, forgotten: &ForgetReport) -> Value {
    let requests: Vec<Value> = forgotten
        .requests
        .iter()
        .map(|request| {
            json!({"was": request.was, "is": request.is, "file": request.file, "line": request.line, "record": request.record})
        })
        .collect();
    json!({"run": args.run, "requests": requests, "doc_lists": forgotten.doc_lists,
        "answers_held": forgotten.answers_held, "merged_into_them": forgotten.merged_into_them,
        "files": forgotten.files, "counts": forgotten.counts})
}

fn named(ids: &[String]) -> String {
    let mut text = ids.iter().take(MAX_NAMED).map(String::as_str).collect::<Vec<_>>().join(" ");
    if ids.len() > MAX_NAMED {
        text += " …";
    }
    text
}
