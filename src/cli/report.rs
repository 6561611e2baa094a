//! `toolsieve report`: the report of a finished run, made anew from its folder.

use std::path::PathBuf;

use crate::bfcl::category::Category;
use crate::cli::console::{self, count, table};
use crate::report::model::Report;
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
        summary(&run.report()?)
    };
    Ok(console::print_data(&text)?)
}

/// The figures of a run for the screen: the funnel, the entries, and where every line and request went.
pub(super) fn summary(report: &Report) -> String {
    let rows: Vec<Vec<String>> = report
        .funnel
        .iter()
        .map(|row| {
            vec![
                row.step.clone(),
                row.description.clone(),
                count(row.doc_lists),
                count(row.requests),
                format!("{:.1}", row.percent),
            ]
        })
        .collect();
    let mut text = format!(
        "\n{}",
        table(&["step", "what is left", "doc lists", "requests", "% of read"], &rows, &[2, 3, 4])
    );
    if !report.exported.is_empty() || !report.frozen.is_empty() {
        text += &format!("\n{}", exported(report));
    }
    text += &format!("\nlines     {}\n", report.lines_told());
    text += &format!("requests  {}\n", report.requests_told());
    if let Some(merged) = report.merged_told() {
        text += &format!("merged    {merged}\n");
    }
    let left = report.decisions_not_applied();
    if !left.is_empty() {
        let left: Vec<String> = left.iter().map(|(kind, n)| format!("{} {kind}", count(*n))).collect();
        text += &format!(
            "decisions {} not applied: report.json lists them with line and reason\n",
            left.join(", ")
        );
    }
    let frozen = report.all_frozen();
    if frozen > 0 {
        let (all, made) = (report.all_entries(), report.all_entries() - frozen);
        let [all, made, frozen] = [all, made, frozen].map(count);
        text +=
            &format!("entries   {all} = {made} exported + {frozen} frozen, as they are in the baseline\n");
    }
    text
}

/// Entries by category: those that can be scored, those whose answer or label nobody has verified, and how many of both
/// are of an earlier dataset.
fn exported(report: &Report) -> String {
    let of = |set: &str, category: &str| report.entries(set, Some(category));
    // Without a baseline there is nothing to say about it.
    let n_columns = if report.frozen.is_empty() { 3 } else { 4 };
    let rows: Vec<Vec<String>> = Category::ALL
        .iter()
        .map(|category| category.name())
        .map(|name| (name, [of("scored", name), of("unverified", name), report.frozen(name)]))
        .filter(|(_, entries)| entries.iter().sum::<u64>() > 0)
        .map(|(name, entries)| {
            [name.to_owned()].into_iter().chain(entries.map(count)).take(n_columns).collect()
        })
        .collect();
    table(&["category", "scored", "unverified", "of these frozen"][..n_columns], &rows, &[1, 2, 3])
}
