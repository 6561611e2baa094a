//! `toolsieve why`: one row's story, from the line it was read from to its fate.

use std::path::PathBuf;

use crate::cli::console::{self, Paint, Painted};
use crate::run::{Why, open};
use crate::stages::Registry;

/// How one of several records on a line is named.
const HINT: &str = "hint: name one record by its number, as in FILE#17";

/// Arguments of `why`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "FILE is an input's path, or the end of it. RECORD is the number of a record in its file, from 1: of the element of a JSON array, or of the row of a table, whose header does not count. In JSON lines it is the number of the line.
A line that gave no request has no id; it is found by FILE:LINE or FILE#RECORD.

Examples:
  toolsieve why out/live r0042                    by the log's own id
  toolsieve why out/live 9f3c22                   by the start of a request id, or of a list id
  toolsieve why out/live raw/hosted.jsonl:17      by file and line
  toolsieve why out/live raw/pairs.csv#17         by file and record"
)]
pub(super) struct WhyArgs {
    /// Run folder.
    run: PathBuf,

    /// The row: the log's own id, the start of a request id or of a list id, `FILE:LINE`, `FILE#RECORD`, or the id of an
    /// entry of the dataset.
    row: String,

    /// Shows texts whole.
    #[arg(long)]
    full: bool,
}

pub(super) fn why(args: &WhyArgs, registry: &Registry) -> anyhow::Result<()> {
    match crate::run::why(&open(&args.run, registry)?, &args.row, args.full)? {
        Why::Story(text) => console::print_painted(&painted(&text))?,
        Why::Records(text) => {
            console::print_data(&text)?;
            console::print_status(HINT);
        }
    }
    Ok(())
}

/// The story with colours: changes, and the fate.
fn painted(story: &str) -> Painted {
    let mut text = Painted::default();
    for line in story.split_inclusive('\n') {
        match line.split_once(' ') {
            Some(("request" | "list" | "record" | "line", _)) => text.add(Paint::Title, line),
            Some(("fate", rest)) => {
                let word = rest.trim_start().split([' ', ':', '\n']).next().unwrap_or_default();
                let (start, end) = line.split_at(line.len() - rest.trim_start().len() + word.len());
                text.add(Paint::of_fate(word), start);
                text.add(Paint::Plain, end);
            }
            _ => text.add_changes(line),
        }
    }
    text
}
