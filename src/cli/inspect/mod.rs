//! `toolsieve inspect`: what a person runs first on an unknown log; writes nothing.

mod text;

use std::path::PathBuf;

use anyhow::bail;

use super::Ending;
use crate::cli::console;
use crate::inspect::look::Look;
use crate::inspect::{Closeness, inspect as look_at};
use crate::stages::Registry;

/// Arguments of `inspect`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "All lines are counted; a sample of them is read as a run would read it. Of the log's texts only
their form is shown, letters as x and digits as 9. Time, memory and disk are estimates.

Exit code 1: no request was found.

Examples:
  toolsieve inspect logs/*.jsonl.gz              what is in there
  toolsieve inspect --rows 20000 log.jsonl       a closer look
  toolsieve inspect --json log.csv | jq .hints   all counts as one JSON object"
)]
pub(super) struct InspectArgs {
    #[command(flatten)]
    pub(super) looked_at: LookArgs,

    /// One JSON object.
    #[arg(long)]
    json: bool,
}

/// What `inspect` and `init` share.
#[derive(Debug, clap::Args)]
pub(super) struct LookArgs {
    /// Files: JSONL, JSON, CSV or TSV, plain, gzip or zstd; Parquet.
    #[arg(required = true, value_name = "FILE")]
    pub(super) files: Vec<PathBuf>,

    /// Lines to look at, in all files together: half from the beginning of each, half from all over it.
    #[arg(long, value_name = "N", default_value_t = 2000, value_parser = at_least_one)]
    rows: usize,

    /// Seeds the draw of lines; the same seed draws the same ones.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    #[arg(long, value_name = "DIR", help = super::sets::DIR_HELP)]
    sets: Option<PathBuf>,
}

impl LookArgs {
    /// Looks at the files.
    pub(super) fn look(&self, registry: &Registry) -> anyhow::Result<Look> {
        if let Some(folder) = self.files.iter().find(|path| path.is_dir()) {
            let folder = folder.display();
            bail!("{folder} is a folder\nhint: name its files, e.g. {folder}/*.jsonl");
        }
        let sets = self.sets.as_deref().unwrap_or(registry.environment().sets());
        Ok(look_at(&self.files, Closeness { rows: self.rows, seed: self.seed }, sets)?)
    }
}

fn at_least_one(text: &str) -> Result<usize, String> {
    let rows: usize = text.parse().map_err(|_| "expected a whole number".to_owned())?;
    if rows == 0 { Err("at least one line is looked at".to_owned()) } else { Ok(rows) }
}

pub(super) fn inspect(args: &InspectArgs, registry: &Registry) -> anyhow::Result<Ending> {
    let look = args.looked_at.look(registry)?;
    let printed = if args.json {
        console::give_json(&format!("{}\n", serde_json::to_string(&look)?))
    } else {
        console::print_data(&text::told(&look))
    };
    let ending = if look.lines.requests == 0 { Ending::GateFailed } else { Ending::Done };
    Ok(ending.after(printed)?)
}
