//! `callsieve why`: shows what happened to one row, from its line in the log to the dataset.

mod program;
mod request;
mod stages;
mod text;

use std::path::PathBuf;

use crate::cli::console::{self, Paint, Painted, Screen};
use crate::cli::layout::{add_changes, paragraph, words};
use crate::run::{Why, open};
use crate::stages::Registry;
use text::Texts;

/// How to name one of several records on a line.
const HINT: &str = "hint: name one record by its number, as in FILE#17";

/// Arguments of `why`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "FILE is the path of an input, or its last part. RECORD is the number of a record in its file, from 1: an element of a JSON array, a row of a table (without the header), or a line of JSON lines. \
A line without a request has no id; use FILE:LINE or FILE#RECORD.

Examples:
  callsieve why out/mylog r0042               by the id in the log
  callsieve why out/mylog 9f3c22              by the start of a request id or of a list id
  callsieve why out/mylog mylog.jsonl:17      by file and line"
)]
pub(super) struct WhyArgs {
    /// Run folder.
    run: PathBuf,

    /// The row: its id in the log, the start of its request id or list id, `FILE:LINE`, `FILE#RECORD`, or the id of an
    /// entry of the dataset. If a name means different rows, `external:`, `request:`, `list:`, `place:` or `entry:` before
    /// it says which.
    row: String,

    /// Shows texts in full.
    #[arg(long)]
    full: bool,

    /// Prints one JSON object, with texts in full.
    #[arg(long)]
    json: bool,
}

pub(super) fn why(args: &WhyArgs, registry: &Registry) -> anyhow::Result<()> {
    let why = crate::run::why(&open(&args.run, registry)?, &args.row)?;
    if args.json {
        return Ok(console::write_json(&format!("{}\n", serde_json::to_string(&why)?))?);
    }
    let text = Texts { is_full: args.full }.text(&why);
    if let Why::Records(_) = why {
        console::print_data(&text)?;
        console::print_status(HINT);
    } else {
        console::print_painted(&painted(&text, Screen::of_stdout()))?;
    }
    Ok(())
}

/// Width of the labels of a story's lines.
const LABEL: usize = 12;

/// The story with colours for changes and the fate. A terminal gets long lines wrapped after their labels.
fn painted(story: &str, screen: Screen) -> Painted {
    let mut text = Painted::default();
    for line in story.split_inclusive('\n') {
        let is_too_wide = screen.is_terminal && line.chars().count() > screen.width;
        match line.split_once(' ') {
            Some(("request" | "list" | "record" | "line", _)) => text.add(Paint::Title, line),
            Some(("fate", rest)) => {
                let word = rest.trim_start().split([' ', ':', '\n']).next().unwrap_or_default();
                let (start, end) = line.split_at(line.len() - rest.trim_start().len() + word.len());
                text.add(Paint::of_fate(word), start);
                text.add(Paint::Plain, end);
            }
            _ if is_too_wide && line.is_char_boundary(LABEL) && !line.starts_with("    ") => {
                let (label, rest) = line.split_at(LABEL);
                text.append(paragraph(label.trim_end(), LABEL, &words(rest.trim_end()), screen));
            }
            _ => add_changes(&mut text, line, screen),
        }
    }
    text
}
