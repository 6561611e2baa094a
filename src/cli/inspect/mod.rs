//! `callsieve inspect`: shows what an unknown log contains; writes nothing.

mod text;

use std::path::PathBuf;

use super::Ending;
use super::arguments::FilterArgs;
use crate::cli::console::{self, Screen};
use crate::ingest::request_filter::RequestFilter;
use crate::inspect::look::Look;
use crate::inspect::{Closeness, inspect_some as look_at};
use crate::run::{expand, fetched};
use crate::stages::Registry;

/// Arguments of `inspect`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "All lines are counted; a sample of them is read as a run reads it. Only the structure of texts is \
shown: letters as x, digits as 9. Time, memory and disk space of a run are estimates.

Exit codes: 0 requests found; 1 no request found; 2 could not start.

Examples:
  callsieve inspect mylog.jsonl                    what the log contains
  callsieve inspect logs/ --rows 20000             all logs in a folder, with a larger sample
  callsieve inspect logs/ --assistant kitchen      what one assistant asked
  callsieve inspect --json mylog.jsonl | jq .hints"
)]
pub(super) struct InspectArgs {
    #[command(flatten)]
    pub(super) looked_at: LookArgs,

    #[command(flatten)]
    filter: FilterArgs,

    /// Prints one JSON object.
    #[arg(long)]
    json: bool,
}

/// Arguments that `inspect` and `init` share.
#[derive(Debug, clap::Args)]
pub(super) struct LookArgs {
    /// Logs: files (JSON, JSON lines, CSV, TSV, Parquet; also with .gz or .zst), folders, patterns.
    #[arg(required = true, value_name = "PATH")]
    pub(super) files: Vec<PathBuf>,

    /// Number of sampled lines over all files: half from the start of each file, half from random places.
    #[arg(long, value_name = "N", default_value_t = Closeness::default().rows, value_parser = at_least_one)]
    rows: usize,

    /// Seed of the sample; the same seed selects the same lines.
    #[arg(long, value_name = "N", default_value_t = Closeness::default().seed)]
    seed: u64,

    #[arg(long, value_name = "DIR", help = super::sets::DIR_HELP)]
    sets: Option<PathBuf>,
}

impl LookArgs {
    /// Inspects the files; folders and patterns are replaced by the files that they name.
    pub(super) fn look(&self, wanted: &RequestFilter, registry: &Registry) -> anyhow::Result<Look> {
        let found = expand(&fetched(&self.files, registry.environment(), &mut console::print_status)?)?;
        if let Some(skipped) = found.skipped() {
            console::print_status(&format!("warning: {skipped}"));
        }
        let files = found.files;
        let sets = self.sets.as_deref().unwrap_or(registry.environment().sets());
        Ok(look_at(&files, Closeness { rows: self.rows, seed: self.seed }, wanted, sets)?)
    }
}

fn at_least_one(text: &str) -> Result<usize, String> {
    let rows: usize = text.parse().map_err(|_| "expected a whole number".to_owned())?;
    if rows == 0 { Err("expected at least 1".to_owned()) } else { Ok(rows) }
}

pub(super) fn inspect(args: &InspectArgs, registry: &Registry) -> anyhow::Result<Ending> {
    let look = args.looked_at.look(&args.filter.filter()?, registry)?;
    let printed = if args.json {
        console::write_json(&format!("{}\n", serde_json::to_string(&look)?))
    } else {
        console::print_painted(&text::text(&look, Screen::of_stdout()))
    };
    let ending = if look.lines.requests == 0 { Ending::GateFailed } else { Ending::Done };
    Ok(ending.after(printed)?)
}
