//! `callsieve report`: prints the results of a finished run, or of two side by side, from their folders.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};

use crate::cli::console::{self, Painted, Screen};
use crate::cli::funnel::summary;
use crate::cli::layout::{Column, Table};
use crate::jobs::audit;
use crate::report::html::side_by_side::EXAMPLES;
use crate::report::model::Report;
use crate::run::{compare_reports, open};
use crate::stages::Registry;
use crate::text::figures;
use crate::text::visible::visible_line;

/// Arguments of `report`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  callsieve report out/mylog                        the funnel, as at the end of the run
  callsieve report out/mylog --json | jq .recipe    which steps of the recipe ran
  callsieve report out/mylog --html > report.html   the page
  callsieve report out/mylog --open                 the page, in the browser
  callsieve report --compare out/mylog out/tweak --html > compare.html   two runs on one page")]
pub(super) struct ReportArgs {
    /// Run folder.
    #[arg(required_unless_present = "compare", conflicts_with = "compare")]
    run: Option<PathBuf>,

    /// Reports two runs side by side: what is in them, and what changed.
    #[arg(long, num_args = 2, value_names = ["BEFORE", "AFTER"], conflicts_with = "markdown")]
    compare: Vec<PathBuf>,

    #[command(flatten)]
    form: FormArgs,

    /// Opens the page (report.html in the run folder) in the browser.
    #[arg(long, conflicts_with_all = ["form", "timing", "compare"])]
    open: bool,

    /// Adds what each step took: seconds, memory, bytes on disk; report.json always has them.
    #[arg(long, conflicts_with_all = ["json", "markdown", "compare"])]
    timing: bool,
}

/// What is printed instead of the summary.
#[derive(Debug, clap::Args)]
struct FormArgs {
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
    if args.open {
        return open_page(run.folder());
    }
    if args.form.json {
        return Ok(console::write_json(&(serde_json::to_string_pretty(&run.report()?)? + "\n"))?);
    }
    let text = if args.form.markdown {
        run.card()?
    } else if args.form.html && args.timing {
        run.page_with_timing()?
    } else if args.form.html {
        run.page()?
    } else {
        let mut summary = match audit::read(run.folder())? {
            Some(audit) => super::audit::summary(path, &audit, Screen::of_stdout()),
            None => summary(&run.report()?, Screen::of_stdout()),
        };
        if args.timing {
            summary.append(timing(&run.report()?, Screen::of_stdout()));
        }
        return Ok(console::print_painted(&summary)?);
    };
    Ok(console::print_data(&text)?)
}

/// Opens the page of a run in the browser of the user, and prints its path.
fn open_page(run: &Path) -> anyhow::Result<()> {
    let page = run.join("report.html");
    let shown = visible_line(&page.display().to_string()).into_owned();
    if !page.is_file() {
        bail!("{shown}: there is no page\nhint: `callsieve report {} --html` prints it", run.display());
    }
    opener::open_browser(&page).with_context(|| {
        format!("{shown}: no browser could be started\nhint: open the file by hand, or set BROWSER to the path of one, without arguments")
    })?;
    Ok(console::print_data(&format!("page      {shown}\n"))?)
}

/// Prints two runs side by side; the screen shows what `callsieve compare` shows.
fn two(args: &ReportArgs, before: &Path, after: &Path, registry: &Registry) -> anyhow::Result<()> {
    let max_ids = match (args.form.json, args.form.html) {
        (true, _) => usize::MAX,
        (_, true) => EXAMPLES,
        _ => 0,
    };
    let compared = compare_reports(before, after, max_ids, registry)?;
    if args.form.json {
        return Ok(console::write_json(&(serde_json::to_string_pretty(&compared.figures_json()?)? + "\n"))?);
    }
    if args.form.html {
        return Ok(console::print_data(&compared.page())?);
    }
    Ok(console::print_painted(&super::compare::summary(before, after, compared.compared()))?)
}

/// What each step took, and all of them.
fn timing(report: &Report, screen: Screen) -> Painted {
    let mut table = Table::new([
        Column::text("step"),
        Column::number("time"),
        Column::number("memory"),
        Column::number("at most"),
        Column::number("on disk"),
    ]);
    let memory = |bytes: Option<u64>| bytes.map_or_else(|| "-".to_owned(), figures::bytes);
    for it in &report.timing {
        let time = figures::seconds(it.seconds);
        table.row([
            it.step.clone(),
            time,
            memory(it.memory),
            memory(it.peak_memory),
            figures::bytes(it.bytes),
        ]);
    }
    let all = &report.timing;
    let time = figures::seconds(all.iter().map(|it| it.seconds).sum());
    let peak = memory(all.iter().filter_map(|it| it.peak_memory).max());
    let bytes = figures::bytes(all.iter().map(|it| it.bytes).sum());
    table.row(["all".to_owned(), time, String::new(), peak, bytes]);
    let mut text = Painted::new("\n");
    text.append(table.fitted(screen));
    text
}
