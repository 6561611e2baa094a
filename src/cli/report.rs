//! `toolsieve report`: the report of a finished run, made anew from its folder.

use std::path::PathBuf;

use super::open::open;
use crate::console::{self, count, table};
use crate::export::bfcl::Category;
use crate::report::funnel::EXPORT;
use crate::report::model::Report;
use crate::report::{Sources, html, markdown};

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

pub(super) fn report(args: &ReportArgs) -> anyhow::Result<()> {
    let run = open(&args.run)?;
    let sources = Sources {
        folder: &args.run,
        file: &run.file,
        ingest: &run.ingest,
        stages: &run.manifests,
        corpus: &run.corpus,
    };
    let report = crate::report::report(&sources)?;
    let text = if args.json {
        serde_json::to_string_pretty(&report)? + "\n"
    } else if args.markdown {
        markdown::card(&report)
    } else if args.html {
        html::page(&report, &args.run.display().to_string())
    } else {
        summary(&report)
    };
    Ok(console::give(&text)?)
}

/// The figures of a run for the screen: the funnel, the entries, and where every line and request went.
pub(super) fn summary(report: &Report) -> String {
    let rows: Vec<Vec<String>> = report
        .funnel
        .iter()
        .map(|row| {
            vec![
                row.step.clone(),
                row.what.clone(),
                count(row.doc_lists),
                count(row.requests),
                format!("{:.1}", row.percent),
            ]
        })
        .collect();
    let mut text =
        format!("\n{}", table(&["step", "what is left", "doc lists", "requests", "%"], &rows, &[2, 3, 4]));
    if !report.exported.is_empty() || !report.frozen.is_empty() {
        text += &format!("\n{}", exported(report));
    }
    let ingest = &report.ingest;
    text += &format!(
        "\nlines     {} = {} requests + {} without a request + {} unreadable",
        count(ingest.lines),
        count(ingest.records),
        count(ingest.no_request),
        count(ingest.unreadable)
    );
    if ingest.not_sampled > 0 {
        text += &format!(" + {} passed over", count(ingest.not_sampled));
    }
    if ingest.forgotten > 0 {
        text += &format!(" + {} forgotten", count(ingest.forgotten));
    }
    let requests = &report.requests;
    let has_dataset = report.funnel.last().is_some_and(|row| row.step == EXPORT);
    let kept = if has_dataset { "exported" } else { "kept" };
    text += &format!(
        "\nrequests  {} = {} {kept} + {} merged + {} held + {} dropped\n",
        count(requests.rows),
        count(requests.kept),
        count(requests.merged),
        count(requests.held),
        count(requests.dropped)
    );
    let frozen: u64 = report.frozen.values().sum();
    if frozen > 0 {
        text += &format!("frozen    {} entries of the baseline, as they are\n", count(frozen));
    }
    text
}

/// Entries by category: those that can be scored, since their answer is sure or none is needed, those whose answer is
/// only recorded, and those of an earlier dataset.
fn exported(report: &Report) -> String {
    let of = |set: &str, category: &str| report.exported(set, Some(category));
    let frozen = |category: &str| -> u64 {
        let of_category = |heading: &str| heading.split_once('/').is_some_and(|(_, name)| name == category);
        report.frozen.iter().filter(|(heading, _)| of_category(heading)).map(|(_, n)| n).sum()
    };
    // Without a baseline there is nothing to say about it.
    let n_columns = if report.frozen.is_empty() { 3 } else { 4 };
    let rows: Vec<Vec<String>> = Category::ALL
        .iter()
        .map(|category| category.name())
        .map(|name| (name, [of("scored", name), of("unverified", name), frozen(name)]))
        .filter(|(_, entries)| entries.iter().sum::<u64>() > 0)
        .map(|(name, entries)| {
            [name.to_owned()].into_iter().chain(entries.map(count)).take(n_columns).collect()
        })
        .collect();
    table(&["category", "scored", "only recorded", "frozen"][..n_columns], &rows, &[1, 2, 3])
}
