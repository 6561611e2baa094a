//! `callsieve purge`: replaces the raw text in a finished run with its redacted form.

use std::path::PathBuf;

use serde_json::json;

use crate::cli::console::{self, Painted, Screen, count, counted};
use crate::cli::layout::{Column, Table};
use crate::run::{self, Extent, Touched};
use crate::stages::Registry;

/// Arguments of `purge`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The log itself is not changed. Old files are deleted, but their bytes on disk are not overwritten. \
A later run into the same folder reads the inputs again and stores raw text again.

Examples:
  callsieve purge out/mylog --raw                 raw text is replaced with its redacted form
  callsieve purge out/mylog --raw --everything    raw text is deleted
  callsieve purge out/mylog --raw --json | jq .files"
)]
pub(super) struct PurgeArgs {
    /// Run folder.
    run: PathBuf,

    /// Replaces raw text: messages, responses and doc lists as they were logged.
    #[arg(long, required = true)]
    raw: bool,

    /// Deletes raw text instead, also in a run without redaction. Tables of the stages and the dataset are kept.
    #[arg(long)]
    everything: bool,

    /// Prints the changed files as one JSON object.
    #[arg(long)]
    json: bool,
}

pub(super) fn purge(args: &PurgeArgs, registry: &Registry) -> anyhow::Result<()> {
    let extent = if args.everything { Extent::Everything } else { Extent::Redacted };
    let purged = run::purge(&args.run, extent, registry)?;
    if args.json {
        let purge = json!({"run": args.run, "purged": !purged.files.is_empty(), "files": purged.files});
        console::write_json(&format!("{purge}\n"))?;
    } else {
        console::print_painted(&as_text(&purged.files, Screen::of_stdout()))?;
    }
    if args.everything && !purged.was_redacted {
        console::print_status(
            "note: this run has no redaction: the tables of the stages, the ledger, the lists and the dataset still contain text of the log",
        );
    }
    Ok(())
}

fn as_text(touched: &[Touched], screen: Screen) -> Painted {
    if touched.is_empty() {
        return Painted::new("nothing to do: the run contains no raw text\n");
    }
    let mut table = Table::new([
        Column::text("file"),
        Column::wrapped("cells replaced"),
        Column::number("bytes before"),
        Column::number("bytes after"),
    ]);
    for file in touched {
        table.row([file.file.clone(), what(file), count(file.bytes_before), count(file.bytes_after)]);
    }
    table.fitted(screen)
}

/// Describes what was removed from a file.
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
