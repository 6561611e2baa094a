//! `toolsieve report`: the report of a finished run, made anew from its folder.

use std::path::PathBuf;

use crate::cli::console::{self, Screen};
use crate::cli::funnel::summary;
use crate::run::open;
use crate::stages::Registry;

/// Arguments of `report`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  toolsieve report out/live                        the funnel, as at the end of the run
  toolsieve report out/live --json | jq .recipe    which steps of the recipe ran
  toolsieve report out/live --html > report.html   the page")]
pub(super) struct ReportArgs {
    /// Run folder.
    run: PathBuf,

    /// Gives all figures as JSON: what is in report.json.
    #[arg(long, group = "form")]
    json: bool,

    /// Gives the dataset card: what is in dataset/README.md.
    #[arg(long, group = "form")]
    markdown: bool,

    /// Gives the page: what is in report.html.
    #[arg(long, group = "form")]
    html: bool,
}

pub(super) fn report(args: &ReportArgs, registry: &Registry) -> anyhow::Result<()> {
    let run = open(&args.run, registry)?;
    if args.json {
        return Ok(console::give_json(&(serde_json::to_string_pretty(&run.report()?)? + "\n"))?);
    }
    let text = if args.markdown {
        run.card()?
    } else if args.html {
        run.page()?
    } else {
        return Ok(console::print_painted(&summary(&run.report()?, Screen::of_stdout()))?);
    };
    Ok(console::print_data(&text)?)
}
