//! `callsieve fix`: prints the fixed docs and their story, as text with the changes on a terminal, and as one JSON object an item
//! elsewhere.

mod summary;
mod text;

use std::io;
use std::path::PathBuf;

use rayon::prelude::*;

use super::Ending;
use crate::cli::console::{self, Painted};
use crate::docs::convert::Api;
use crate::docs::fix::Safety;
use crate::fix::{FixError, FixOptions, Outcome, fix as fixed};

/// Arguments of `fix`.
#[derive(Debug, clap::Args)]
#[allow(clippy::struct_excessive_bools)] // Each is a flag of its own.
#[command(
    after_help = "Input: files of docs as they are (tools.py, openapi.yaml, tools.json), or JSON lines: docs, or \
objects {\"id\": …, \"function\": …} (or \"functions\", \"tools\") with docs as text or as JSON. In a \
folder, files of these types are read: .json .jsonl .ndjson .json5 .py .pyi .ts .js .yaml .yml .txt \
.csv .tsv, also with .gz or .zst; hidden files, node_modules and __pycache__ are skipped.

Output: one object per line, {\"id\", \"function\": […] or null, \"steps\": […], \"edits\": [{\"reason\", \
\"safety\", \"applied\", \"patch\"}], \"faults\": [{\"reason\", \"at\", \"message\"}]}. \"at\" is a byte of the \
text or a JSON pointer. Patches that are applied lead, in order, from the docs as read to \"function\". \
With several files or a folder, \"file\" comes after \"id\". With --as, \"tools\" replaces \"function\": \
the list that a request to the API takes; \"conversions\": [{\"reason\", \"at\", \"from\", \"to\"}] lists what \
the API cannot express as BFCL does, at pointers into the BFCL functions.

Exit codes: 0 all docs converted; 1 docs that cannot be read, that a run would hold, or that the API \
rejects; 2 could not start.

Examples:
  callsieve fix tools.py                            the changes, on a terminal
  callsieve fix src/tools/ > fixed.jsonl            all files in a folder, as one JSON object per line
  callsieve fix tools.py --as openai | jq .tools    the tools of an API request"
)]
pub(super) struct FixArgs {
    /// Files of function docs, or folders of such files; `-` is standard input.
    #[arg(value_name = "PATH", default_value = "-")]
    paths: Vec<PathBuf>,

    /// Format of the output: BFCL function docs, or the tools of an API.
    #[arg(long = "as", value_name = "FORM", value_enum, default_value_t = Form::Bfcl)]
    form: Form,

    /// Prints one JSON object per line, also on a terminal.
    #[arg(long, conflicts_with = "diff")]
    json: bool,

    /// Prints the changes with their reasons, also to a file or pipe.
    #[arg(long)]
    diff: bool,

    /// Makes only edits that keep the meaning; edits that guess a missing part are shown, not made.
    #[arg(long)]
    safe_only: bool,

    /// Prints no summary.
    #[arg(long, short)]
    quiet: bool,
}

/// What the functions are written as.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Form {
    Bfcl,
    Openai,
    Anthropic,
    Mcp,
    Gemini,
}

impl Form {
    fn api(self) -> Option<Api> {
        match self {
            Self::Bfcl => None,
            Self::Openai => Some(Api::OpenAi),
            Self::Anthropic => Some(Api::Anthropic),
            Self::Mcp => Some(Api::Mcp),
            Self::Gemini => Some(Api::Gemini),
        }
    }
}

pub(super) fn fix(args: &FixArgs) -> anyhow::Result<Ending> {
    let mut options = FixOptions::new(args.paths.clone());
    options.allow = if args.safe_only { Safety::Safe } else { Safety::Unsafe };
    options.api = args.form.api();
    let is_text = args.diff || !args.json && console::is_read_by_a_person();
    let counts =
        fixed(&options, |outcomes| if is_text { print_text(outcomes) } else { print_json(outcomes) });
    let counts = counts.map_err(|error| match error {
        FixError::Write(error) => anyhow::Error::from(error),
        error => error.into(),
    })?;
    if !args.quiet {
        console::print_long_status(summary::summary(&counts).trim_end());
    }
    Ok(if counts.is_good() { Ending::Done } else { Ending::GateFailed })
}

fn print_text(outcomes: &[Outcome]) -> io::Result<()> {
    let texts: Vec<Painted> = outcomes.par_iter().map(text::painted).collect();
    texts.iter().try_for_each(console::print_painted)
}

fn print_json(outcomes: &[Outcome]) -> io::Result<()> {
    let lines: Vec<String> = outcomes.par_iter().map(line).collect();
    lines.iter().try_for_each(|line| console::write_json(line))
}

fn line(outcome: &Outcome) -> String {
    serde_json::to_string(outcome).expect("an outcome is plain data") + "\n"
}
