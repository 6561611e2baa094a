//! `toolsieve fix`: function docs of any shape in, BFCL docs and their story out; no run needed.
//!
//! Items are read in blocks, judged in parallel and told in the order of the file, so memory
//! holds one block. A terminal gets a text with the changes, anything else one JSON object
//! an item. An item that cannot be read is told like any other and stops nothing.

mod input;
mod outcome;
mod tally;
mod text;

use std::path::PathBuf;

use anyhow::bail;
use rayon::prelude::*;

use super::Ending;
use crate::console;
use crate::docs::fix::Safety;
use crate::ingest::read::{Block, Limits, ReadError, read_blocks};
use crate::ingest::source::Reading;
use input::Docs;
use outcome::Outcome;
use tally::Tally;

/// Arguments of `fix`.
#[derive(Debug, clap::Args)]
#[allow(clippy::struct_excessive_bools)] // Each is a flag of its own.
#[command(
    after_help = "Input: a file of docs as they are (tools.py, openapi.yaml, tools.json), or JSON lines: docs, or
objects {\"id\": …, \"function\": …} (or \"functions\", \"tools\") with docs as text or as JSON.

Output: one object a line, {\"id\", \"function\": […] or null, \"steps\": […], \"edits\": [{\"reason\",
\"safety\", \"applied\", \"patch\"}], \"faults\": [{\"reason\", \"at\", \"message\"}]}. \"at\" is a byte of the
text or a JSON pointer. Patches that are applied lead, in order, from the docs as read to \"function\".

Exit code 1: docs that cannot be read, or that a run would hold back.

Examples:
  toolsieve fix tools.py                                what would change, for people
  toolsieve fix docs.jsonl > fixed.jsonl                one JSON object a line
  pbpaste | toolsieve fix --json | jq .function         what was copied, as BFCL docs
  toolsieve fix docs.jsonl --diff --safe-only | less    only edits that need no guess"
)]
pub(super) struct FixArgs {
    /// File of function docs; `-` is standard input.
    #[arg(default_value = "-")]
    file: PathBuf,

    /// One JSON object a line, also on a terminal.
    #[arg(long, conflicts_with = "diff")]
    json: bool,

    /// Changes before and after, with their reasons, also off a terminal.
    #[arg(long)]
    diff: bool,

    /// Makes only edits that say the same in BFCL's words; those that fill a gap with a guess are shown.
    #[arg(long)]
    safe_only: bool,

    /// Prints no summary.
    #[arg(long, short)]
    quiet: bool,
}

pub(super) fn fix(args: &FixArgs) -> anyhow::Result<Ending> {
    let allow = if args.safe_only { Safety::Safe } else { Safety::Unsafe };
    if matches!(Reading::of(&args.file), Reading::Parquet) {
        let path = args.file.display();
        bail!(
            "{path}: docs are not read from Parquet\nhint: write the column with the docs as lines of JSON, or give the file to `toolsieve run`"
        );
    }
    let is_text = args.diff || !args.json && console::is_read_by_a_person();
    let shown = if is_text { text::told } else { line };
    let mut tally = Tally::default();
    let limits = Limits::default();
    read_blocks(&args.file, input::format_of(&args.file), &limits, &mut |_| {}, &mut |block| {
        let outcomes = outcomes(&block, args, allow);
        for outcome in &outcomes {
            tally.add(outcome);
        }
        let lines: Vec<String> = outcomes.par_iter().map(shown).collect();
        lines.iter().try_for_each(|line| console::give(line)).map_err(Failed::Write)
    })?;
    if !args.quiet {
        console::talk(tally.summary().trim_end());
    }
    Ok(if tally.is_good() { Ending::Done } else { Ending::GateFailed })
}

/// Why no more was read or written.
#[derive(Debug, thiserror::Error)]
enum Failed {
    #[error("{0}")]
    Read(String),
    #[error("standard output cannot be written: {0}")]
    Write(std::io::Error),
}

impl From<ReadError> for Failed {
    fn from(error: ReadError) -> Self {
        Self::Read(error.to_string())
    }
}

fn outcomes(block: &Block, args: &FixArgs, allow: Safety) -> Vec<Outcome> {
    let docs: Vec<Docs<'_>> =
        block.items.par_iter().flat_map_iter(|item| input::docs_of(block, item, &args.file)).collect();
    docs.into_par_iter().map(|docs| Outcome::of(docs, allow)).collect()
}

fn line(outcome: &Outcome) -> String {
    serde_json::to_string(outcome).expect("an outcome is plain data") + "\n"
}
