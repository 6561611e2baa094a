//! `callsieve fix`: function docs of any form in, BFCL docs or another API's tools and their story out; no run needed.
//!
//! Files are read in order, items in blocks; items are judged in parallel and reported in the order of the file, so memory
//! holds one block, or the small files of one batch. A terminal gets a text with the changes, anything else one JSON
//! object an item. An item that cannot be read is reported like any other and stops nothing; so is a file among others.

mod files;
mod input;
mod outcome;
mod tally;
mod text;

use std::io;
use std::path::PathBuf;

use anyhow::bail;
use rayon::prelude::*;

use super::Ending;
use crate::cli::console::{self, Painted};
use crate::docs::convert::Api;
use crate::docs::fix::Safety;
use crate::docs::parse;
use crate::ingest::read::{Block, Limits, ReadError, read_blocks};
use crate::ingest::source::Reading;
use crate::text::os_error::cause_of;
use files::DocFile;
use input::Docs;
use outcome::{Outcome, Settings};
use tally::Tally;

/// Reasons that only `fix` has, each with a sentence.
pub(super) const REASONS: [(&str, &str); 1] =
    [(outcome::UNREADABLE_FILE, "A file or folder, one of several, cannot be read.")];

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
    let listing = files::list(&args.paths)?;
    let allow = if args.safe_only { Safety::Safe } else { Safety::Unsafe };
    let settings = Settings { allow, api: args.form.api() };
    let mut output = Output {
        is_text: args.diff || !args.json && console::is_read_by_a_person(),
        tally: Tally::new(&listing),
    };
    let mut rest = &listing.files[..];
    while !rest.is_empty() {
        let (batch, others) = rest.split_at(files::batch_len(rest));
        if let [file] = batch {
            read(file, settings, &mut |outcomes| output.print(&outcomes))?;
        } else {
            let all: Vec<_> = batch.par_iter().map(|file| outcomes_of(file, settings)).collect();
            all.into_iter().try_for_each(|outcomes| anyhow::Ok(output.print(&outcomes?)?))?;
        }
        rest = others;
    }
    if !args.quiet {
        console::print_long_status(output.tally.summary().trim_end());
    }
    Ok(if output.tally.is_good() { Ending::Done } else { Ending::GateFailed })
}

/// Where outcomes are printed and counted.
struct Output {
    is_text: bool,
    tally: Tally,
}

impl Output {
    fn print(&mut self, outcomes: &[Outcome]) -> io::Result<()> {
        for outcome in outcomes {
            self.tally.add(outcome);
        }
        if self.is_text {
            let texts: Vec<Painted> = outcomes.par_iter().map(text::painted).collect();
            texts.iter().try_for_each(console::print_painted)
        } else {
            let lines: Vec<String> = outcomes.par_iter().map(line).collect();
            lines.iter().try_for_each(|line| console::write_json(line))
        }
    }
}

/// All outcomes of a small file.
fn outcomes_of(file: &DocFile, settings: Settings) -> anyhow::Result<Vec<Outcome>> {
    let mut all = Vec::new();
    read(file, settings, &mut |outcomes| {
        all.extend(outcomes);
        Ok(())
    })?;
    Ok(all)
}

/// Reads a file a block at a time.
///
/// A file that cannot be read is an error where it is the only one, and an outcome like any other where it is not.
fn read(
    file: &DocFile,
    settings: Settings,
    take: &mut dyn FnMut(Vec<Outcome>) -> io::Result<()>,
) -> anyhow::Result<()> {
    match (read_docs(file, settings, take), &file.name) {
        (Ok(()), _) => Ok(()),
        (Err(Failed::Write(error)), _) => Err(error.into()),
        (Err(failed), Some(name)) => {
            Ok(take(vec![Outcome::unreadable(name, failed.problem(), settings.api)])?)
        }
        (Err(Failed::Read(error)), None) => Err(error.into()),
        (Err(failed), None) => bail!(
            "{}: {}\nhint: write the column with the docs as lines of JSON, or give the file to `callsieve run`",
            file.path.display(),
            failed.problem()
        ),
    }
}

fn read_docs(
    file: &DocFile,
    settings: Settings,
    take: &mut dyn FnMut(Vec<Outcome>) -> io::Result<()>,
) -> Result<(), Failed> {
    if let Some(problem) = &file.problem {
        return Err(Failed::Listing(problem.clone()));
    }
    if matches!(Reading::of(&file.path), Reading::Parquet) {
        return Err(Failed::Parquet);
    }
    let limits = Limits::default();
    read_blocks(&file.path, input::format_of(&file.path), &limits, &mut |_| {}, &mut |block| {
        take(outcomes(&block, file, settings)).map_err(Failed::Write)
    })?;
    Ok(())
}

/// Why no more was read or written.
enum Failed {
    Listing(String),
    Parquet,
    Read(ReadError),
    Write(io::Error),
}

impl From<ReadError> for Failed {
    fn from(error: ReadError) -> Self {
        Self::Read(error)
    }
}

impl Failed {
    /// What is wrong with the file, whose name is shown elsewhere.
    fn problem(self) -> String {
        match self {
            Self::Listing(problem) => problem,
            Self::Parquet => "docs are not read from Parquet".to_owned(),
            Self::Read(ReadError::Open { cause, .. }) => format!("cannot be opened: {}", cause_of(&cause)),
            Self::Read(ReadError::Read { cause, .. }) => format!("reading failed: {cause}"),
            Self::Read(error @ (ReadError::UnknownKind { .. } | ReadError::Stopped)) => error.to_string(),
            Self::Write(error) => error.to_string(),
        }
    }
}

fn outcomes(block: &Block, file: &DocFile, settings: Settings) -> Vec<Outcome> {
    let docs: Vec<Docs<'_>> =
        block.items.par_iter().flat_map_iter(|item| input::docs_of(block, item, &file.path)).collect();
    let read = if file.is_python() { parse::parse_python } else { parse::parse };
    docs.into_par_iter().map(|docs| Outcome::of(docs, file.name.clone(), read, settings)).collect()
}

fn line(outcome: &Outcome) -> String {
    serde_json::to_string(outcome).expect("an outcome is plain data") + "\n"
}
