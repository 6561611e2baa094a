//! `toolsieve purge`: raw text out of a finished run.

use std::path::PathBuf;

use serde_json::json;

use crate::cli::console::{self, count, counted, table};
use crate::run::{self, Extent, Touched};
use crate::stages::Registry;

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

pub(super) fn purge(args: &PurgeArgs, registry: &Registry) -> anyhow::Result<()> {
    let extent = if args.everything { Extent::Everything } else { Extent::Redacted };
    let purged = run::purge(&args.run, extent, registry)?;
    if args.json {
        let purge = json!({"run": args.run, "purged": !purged.files.is_empty(), "files": purged.files});
        console::give_json(&format!("{purge}\n"))?;
    } else {
        console::print_data(&as_text(&purged.files))?;
    }
    if args.everything && !purged.was_redacted {
        console::print_status(
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
