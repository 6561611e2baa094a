//! `callsieve report`: prints the results of a finished run, or of two side by side, from their folders.

use std::path::{Path, PathBuf};

use crate::cli::console::{self, Screen};
use crate::cli::funnel::summary;
use crate::jobs::audit;
use crate::report::html::side_by_side::EXAMPLES;
use crate::run::{compare_reports, open};
use crate::stages::Registry;

/// Arguments of `report`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  callsieve report out/mylog                        the funnel, as at the end of the run
  callsieve report out/mylog --json | jq .recipe    which steps of the recipe ran
  callsieve report out/mylog --html > report.html   the page
  callsieve report --compare out/mylog out/tweak --html > compare.html   two runs on one page")]
pub(super) struct ReportArgs {
    /// Run folder.
    #[arg(required_unless_present = "compare", conflicts_with = "compare")]
    run: Option<PathBuf>,

    /// Reports two runs side by side: what is in them, and what changed.
    #[arg(long, num_args = 2, value_names = ["BEFORE", "AFTER"], conflicts_with = "markdown")]
    compare: Vec<PathBuf>,

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
    if let [before, after] = &args.compare[..] {
        return two(args, before, after, registry);
    }
    let path = args.run.as_deref().unwrap_or(Path::new(""));
    let run = open(path, registry)?;
    if args.json {
        return Ok(console::write_json(&(serde_json::to_string_pretty(&run.report()?)? + "\n"))?);
    }
    let text = if args.markdown {
        run.card()?
    } else if args.html {
        run.page()?
    } else {
        let summary = match audit::read(run.folder())? {
            Some(audit) => super::audit::summary(path, &audit, Screen::of_stdout()),
            None => summary(&run.report()?, Screen::of_stdout()),
        };
        return Ok(console::print_painted(&summary)?);
    };
    Ok(console::print_data(&text)?)
}

/// Prints two runs side by side; the screen shows what `callsieve compare` shows.
fn two(args: &ReportArgs, before: &Path, after: &Path, registry: &Registry) -> anyhow::Result<()> {
    let max_ids = match (args.json, args.html) {
        (true, _) => usize::MAX,
        (_, true) => EXAMPLES,
        _ => 0,
    };
    let compared = compare_reports(before, after, max_ids, registry)?;
    if args.json {
        return Ok(console::write_json(&(serde_json::to_string_pretty(&compared.figures())? + "\n"))?);
    }
    if args.html {
        return Ok(console::print_data(&compared.page())?);
    }
    Ok(console::print_painted(&super::compare::summary(before, after, compared.compared()))?)
}
