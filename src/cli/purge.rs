//! `toolsieve purge`: raw text out of a finished run.

use std::path::PathBuf;

use serde_json::json;

use super::Halfway;
use super::open::open;
use crate::console::{self, count, counted, table};
use crate::engine::error::Error;
use crate::engine::folder::{RunFolder, read_run_file};
use crate::engine::purge::{self, Extent};
use crate::engine::rewrite::Touched;
use crate::stages::REDACTION;

/// Arguments of `purge`.
#[derive(Debug, clap::Args)]
#[command(after_help = "The log itself is not touched. Old bytes are unlinked, not overwritten.
A later run into the folder reads the inputs anew, and writes raw text anew.

Examples:
  toolsieve purge out/live --raw                 the payload becomes what redaction left of it
  toolsieve purge out/live --raw --everything    the payload's content cells are emptied, redacted or not
  toolsieve purge out/live --raw --json | jq .files")]
pub(super) struct PurgeArgs {
    /// Run folder.
    run: PathBuf,

    /// Takes out raw text: messages, responses and doc lists as they were logged.
    #[arg(long, required = true)]
    raw: bool,

    /// Empties the content cells wholly, also of a run that was not redacted; what stages and the dataset hold stays.
    #[arg(long)]
    everything: bool,

    /// What was touched, as one JSON object.
    #[arg(long)]
    json: bool,
}

pub(super) fn purge(args: &PurgeArgs) -> anyhow::Result<()> {
    let folder = RunFolder::take_existing(&args.run, "toolsieve purge")?;
    // Told first, since a folder without a finished run has nothing to say about its stages.
    read_run_file(&args.run)?;
    let run = open(&args.run)?;
    folder.remove_partial()?;
    let extent = if args.everything { Extent::Everything } else { Extent::Redacted };
    let touched = purge::purge(&folder, &run.ingest, &run.stages, |kind| REDACTION.contains(&kind), extent)
        .map_err(|error| match error {
        Error::Setting(_) => anyhow::Error::from(error),
        error => Halfway(error).into(),
    })?;
    if args.json {
        let told = json!({"run": args.run, "purged": !touched.is_empty(), "files": touched});
        console::give_json(&format!("{told}\n"))?;
    } else {
        console::give(&as_text(&touched))?;
    }
    if args.everything && run.stages.iter().all(|stage| !REDACTION.contains(&stage.kind)) {
        console::talk(
            "note: nothing was redacted in this run: what stages wrote, the ledger, the lists and the dataset still quote the log",
        );
    }
    Ok(())
}

fn as_text(touched: &[Touched]) -> String {
    if touched.is_empty() {
        return "nothing to do: no raw text is left\n".to_owned();
    }
    let rows: Vec<Vec<String>> = touched
        .iter()
        .map(|file| vec![file.file.clone(), what(file), count(file.bytes_before), count(file.bytes_after)])
        .collect();
    table(&["file", "cells replaced", "bytes before", "bytes after"], &rows, &[2, 3])
}

/// What was taken out of a file, in words.
pub(super) fn what(file: &Touched) -> String {
    let mut parts: Vec<String> =
        file.cells.iter().map(|(column, cells)| format!("{column} {}", count(*cells))).collect();
    if file.rows > 0 {
        parts.push(counted(file.rows, "row", "rows"));
    }
    if file.removed {
        parts.push("removed".to_owned());
    }
    parts.join(", ")
}
