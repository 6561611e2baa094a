//! `callsieve compare`: what differs between two finished runs, and why.

mod text;

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::Ending;
use crate::cli::console::{self, Painted, Screen};
use crate::run;

/// Arguments of `compare`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  callsieve compare out/mylog out/tweak                what a changed setting changed
  callsieve compare out/march out/april --examples 3   with three request ids per difference
  callsieve compare out/a out/b --json | jq .entries   all differences, as one JSON object")]
pub(super) struct CompareArgs {
    /// Run folder of the first run.
    before: PathBuf,

    /// Run folder of the second run.
    after: PathBuf,

    /// Ids shown for each kind of difference.
    #[arg(long, value_name = "N", default_value_t = 0)]
    examples: usize,

    /// Everything, with all ids, as one JSON object.
    #[arg(long)]
    json: bool,

    /// Exits with 1 if the runs differ.
    #[arg(long)]
    exit_code: bool,
}

/// What `compare` prints without a flag.
pub(super) fn summary(before: &Path, after: &Path, compared: &run::Compared) -> Painted {
    let (before, after) = (before.to_owned(), after.to_owned());
    let args = CompareArgs { before, after, examples: 0, json: false, exit_code: false };
    text::text(&args, compared, Screen::of_stdout())
}

pub(super) fn compare(args: &CompareArgs) -> anyhow::Result<Ending> {
    let max_ids = if args.json { usize::MAX } else { args.examples };
    let compared = run::compare(&args.before, &args.after, max_ids)?;
    let comparison = &compared.comparison;
    let printed = if args.json {
        let mut all = json!({"before": args.before, "after": args.after, "differs": comparison.differs()});
        if let (Some(all), Value::Object(found)) = (all.as_object_mut(), serde_json::to_value(comparison)?) {
            all.extend(found);
        }
        console::write_json(&format!("{all}\n"))
    } else {
        console::print_painted(&text::text(args, &compared, Screen::of_stdout()))
    };
    let ending = if args.exit_code && comparison.differs() { Ending::GateFailed } else { Ending::Done };
    Ok(ending.after(printed)?)
}
