//! `callsieve report`: prints the results of a finished run, from its folder.

use std::path::PathBuf;

use crate::cli::console::{self, Screen};
use crate::cli::funnel::summary;
use crate::jobs::audit;
use crate::run::open;
use crate::stages::Registry;

/// Arguments of `report`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  callsieve report out/mylog                        the funnel, as at the end of the run
  callsieve report out/mylog --json | jq .recipe    which steps of the recipe ran
  callsieve report out/mylog --html > report.html   the page")]
pub(super) struct ReportArgs {
    /// Run folder.
    run: PathBuf,

    /// Prints all figures as JSON (report.json).
    #[arg(long, group = "form")]
    json: bool,

    /// Prints the dataset card (dataset/README.md).
    #[arg(long, group = "form")]
    markdown: bool,

    /// Prints the HTML page (report.html).
    #[arg(long, group = "form")]
    html: bool,
}

pub(super) fn report(args: &ReportArgs, registry: &Registry) -> anyhow::Result<()> {
    let run = open(&args.run, registry)?;
    if args.json {
        return Ok(console::write_json(&(serde_json::to_string_pretty(&run.report()?)? + "\n"))?);
    }
    let text = if args.markdown {
        run.card()?
    } else if args.html {
        run.page()?
    } else {
        let summary = match audit::read(run.folder())? {
            Some(audit) => super::audit::summary(&args.run, &audit, Screen::of_stdout()),
            None => summary(&run.report()?, Screen::of_stdout()),
        };
        return Ok(console::print_painted(&summary)?);
    };
    Ok(console::print_data(&text)?)
}
