//! `callsieve review`: a page on this machine on which a person decides on rows, and the export and import of decisions.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;

use anyhow::bail;
use callsieve_review::server::{Config, Server};
use callsieve_review::store::{Draft, EXTENSION, Export, History, Line, Reviews, Store, Verdict, check_name};
use clap::ValueEnum;

use super::run::cancelled_by_signal;
use crate::cli::console::{self, count, counted};
use crate::decisions::is_review_export;
use crate::engine::disk::write_atomic;
use crate::engine::layout::DECISIONS;
use crate::run::{Reviewing, ReviewingOptions, check_output, open};
use crate::stages::Registry;
use crate::text::visible::visible_line;

/// How often the command looks whether it is to stop.
const WAIT: Duration = Duration::from_millis(50);

/// The reviewer if the system knows no user.
const REVIEWER: &str = "reviewer";

/// Arguments of `review`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The page is served on 127.0.0.1 only, with a random port and a token in its address. Decisions are on disk before the next row is shown, in decisions/ of the run folder. The next run in that folder applies them.

Examples:
  callsieve review out/mylog                           held rows, then unverified entries
  callsieve review out/mylog --reason relevance        only rows held for a reason of this topic
  callsieve review out/mylog --export decided.jsonl    the decisions of all reviewers as a file for --decisions
  callsieve review out/mylog --export rows.csv         the rows with their decisions, for a spreadsheet
  callsieve review out/mylog --import rows.csv         what a person filled in there"
)]
pub(super) struct ReviewArgs {
    /// Run folder.
    run: PathBuf,

    /// Name of the reviewer, who has a file of decisions of his own [default: your login name]
    #[arg(long, value_name = "NAME")]
    reviewer: Option<String>,

    /// Only rows with this reason, or with a reason of this topic, such as answer.
    #[arg(long, value_name = "CODE")]
    reason: Option<String>,

    /// Only the unverified entries of the dataset.
    #[arg(long, conflicts_with_all = ["reason", "sample"])]
    unverified: bool,

    /// Also N rows of each reason for which rows were dropped or merged, and N instructions that were kept, to look for mistakes; the same ones each time.
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    sample: usize,

    /// Writes the decisions of all reviewers to this file, and shows no page.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["reviewer", "reason", "unverified", "sample"])]
    export: Option<PathBuf>,

    /// Format of the export [default: csv for .csv, label-studio for .json, else jsonl]
    #[arg(long, value_enum, value_name = "FORMAT", requires = "export")]
    format: Option<ExportFormat>,

    /// Adds the decisions of this file to those of the reviewer, and shows no page: what --export wrote and a person filled in.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["export", "reason", "unverified", "sample"])]
    import: Option<PathBuf>,
}

/// A format of exported decisions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ExportFormat {
    /// The decisions, as JSON lines for --decisions.
    Jsonl,
    /// The rows to review with their decisions, as a table.
    Csv,
    /// The same rows as tasks of Label Studio.
    LabelStudio,
}

impl ExportFormat {
    fn of(file: &Path) -> Self {
        match file.extension().unwrap_or_default().to_ascii_lowercase().to_str() {
            Some("csv") => Self::Csv,
            Some("json") => Self::LabelStudio,
            _ => Self::Jsonl,
        }
    }
}

pub(super) fn review(args: &ReviewArgs, registry: &Registry) -> anyhow::Result<()> {
    if let Some(file) = &args.export {
        return export(&args.run, file, args.format.unwrap_or_else(|| ExportFormat::of(file)), registry);
    }
    let reviewer = args.reviewer.clone().unwrap_or_else(login_name);
    check_name(&reviewer)?;
    if let Some(file) = &args.import {
        return import(&args.run, file, &reviewer, registry);
    }
    let options =
        ReviewingOptions { reason: args.reason.clone(), unverified: args.unverified, sample: args.sample };
    let Reviewing { source, checker, n_rows, folder, command } =
        open(&args.run, registry)?.reviewing(&options)?;
    if n_rows == 0 {
        console::print_status(&format!("{}: there is no row to review", args.run.display()));
        return Ok(());
    }
    check_folder(&folder)?;
    let store = Store::open(&folder, &reviewer)?;
    let n_before = n_decided(&folder, &reviewer)?;
    // Signals end the program until here: nothing is written yet.
    let cancel = cancelled_by_signal()?;
    let server = Server::start(Config { source, checker, store, clock: Box::new(now) })?;
    console::print_data(&format!("{}\n", server.url()))?;
    let file = folder.join(format!("{reviewer}.{EXTENSION}"));
    console::print_status(&format!(
        "{} to review as {reviewer}; open the address above in a browser of this machine",
        counted(n_rows as u64, "row", "rows")
    ));
    let file = visible_line(&file.display().to_string()).into_owned();
    console::print_status(&format!("{} in {file}; Ctrl-C stops", decisions(n_before)));
    let stopper = server.stopper();
    while !cancel.load(Ordering::Relaxed) {
        std::thread::sleep(WAIT);
    }
    stopper.stop();
    server.wait();
    let n_decided = n_decided(&folder, &reviewer)?;
    console::print_status(&format!("stopped; {} in {file}", decisions(n_decided)));
    if n_decided > 0 && !command.is_empty() {
        console::print_status(&format!("to apply them, run `{command}`"));
    }
    Ok(())
}

fn now() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

fn check_folder(folder: &Path) -> anyhow::Result<()> {
    if folder.symlink_metadata().is_ok_and(|found| !found.is_dir()) {
        bail!("{}: found a link or a file, expected a folder\nhint: move it elsewhere", folder.display());
    }
    Ok(())
}

fn decisions(n: u64) -> String {
    if n == 0 { "no decisions yet".to_owned() } else { counted(n, "decision", "decisions") }
}

/// The number of rows that a reviewer has decided; skipped ones do not count.
fn n_decided(folder: &Path, reviewer: &str) -> anyhow::Result<u64> {
    let reviews = Reviews::read(folder)?;
    let lines = reviews.of(reviewer).into_iter().flat_map(History::iter);
    Ok(lines.filter(|line| line.decision != Verdict::Skip).count() as u64)
}

/// The name of the user, as far as it can be the name of a file.
fn login_name() -> String {
    let user = ["USER", "LOGNAME", "USERNAME"].into_iter().find_map(|name| std::env::var(name).ok());
    plain_name(&user.unwrap_or_default())
}

fn plain_name(user: &str) -> String {
    let plain: String =
        user.chars().map(|c| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '-' }).collect();
    let plain = plain.trim_matches(['-', '.']);
    if check_name(plain).is_ok() { plain.to_owned() } else { REVIEWER.to_owned() }
}

/// Adds the decisions of a file to those of a reviewer.
fn import(run: &Path, file: &Path, reviewer: &str, registry: &Registry) -> anyhow::Result<()> {
    let opened = open(run, registry)?;
    let folder = opened.folder().join(DECISIONS);
    check_folder(&folder)?;
    // Nobody else writes these decisions from here on.
    let mut store = Store::open(&folder, reviewer)?;
    let read = opened.import_reviews(file, reviewer)?;
    read.undecided.iter().for_each(|undecided| console::print_status(&format!("warning: {undecided}")));
    let n_new = read.drafts.len() as u64;
    if let Some(warning) = replaced(&store, &read.drafts) {
        console::print_status(&format!("warning: {warning}"));
    }
    store.decide_all(read.drafts, &now())?;
    let own =
        visible_line(&folder.join(format!("{reviewer}.{EXTENSION}")).display().to_string()).into_owned();
    console::print_status(&match (n_new, read.n_made) {
        (n, 0) => format!("{} added to {own}", counted(n, "decision", "decisions")),
        (n, made) => {
            format!(
                "{} added to {own}; {} made already",
                counted(n, "decision", "decisions"),
                count(made as u64)
            )
        }
    });
    Ok(())
}

/// What is said of decisions of the reviewer that a file replaces: it may be older than they are.
fn replaced(store: &Store, drafts: &[Draft]) -> Option<String> {
    let earlier = drafts.iter().filter_map(|draft| store.state().get(&draft.id));
    let earlier: Vec<&Line> = earlier.filter(|line| line.decision != Verdict::Skip).collect();
    let first = earlier.first()?;
    let (n, reviewer) = (earlier.len() as u64, store.reviewer());
    Some(format!(
        "the file replaces {} of {reviewer}, the first on {} ({}, {})\nhint: if the file is older than they are, `undo` on the page takes its decisions back",
        counted(n, "earlier decision", "earlier decisions"),
        first.id,
        first.decision.name(),
        first.time,
    ))
}

/// Writes the rows to review with the decisions of all reviewers to a file.
fn export_rows(run: &Path, file: &Path, format: ExportFormat, registry: &Registry) -> anyhow::Result<()> {
    let shown = file.display();
    // Somebody may have filled it in.
    if file.exists() {
        bail!("{shown}: the file exists\nhint: name a new file");
    }
    let opened = open(run, registry)?;
    let exported = opened.export_reviews()?.export;
    let n_decided = exported.lines.len() as u64;
    let text = match format {
        ExportFormat::LabelStudio => opened.label_studio_tasks(&exported)?,
        _ => opened.reviewed_table(&exported)?.csv_file(),
    };
    write_atomic(file, text.as_bytes())?;
    console::print_status(&format!(
        "rows to review written to {shown}, with {}; `callsieve review {} --import {shown}` reads what you fill in",
        decisions(n_decided),
        run.display()
    ));
    print_left_out(&exported);
    Ok(())
}

/// Writes the decisions of all reviewers to a file.
fn export(run: &Path, file: &Path, format: ExportFormat, registry: &Registry) -> anyhow::Result<()> {
    check_output("--export", file, &[])?;
    if format != ExportFormat::Jsonl {
        return export_rows(run, file, format, registry);
    }
    let shown = file.display();
    if file.exists() && !is_review_export(file) {
        bail!("{shown}: the file exists and is no export of decisions\nhint: name a new file");
    }
    let exported = open(run, registry)?.export_reviews()?;
    let (folder, export) = (exported.folder.display().to_string(), exported.export);
    if export.lines.is_empty() && export.disagreements.is_empty() && export.n_outdated == 0 {
        bail!("{folder}: there are no decisions\nhint: `callsieve review {}` shows the rows", run.display());
    }
    let lines: String = export.lines.iter().map(|line| format!("{line}\n")).collect();
    write_atomic(file, lines.as_bytes())?;
    let n_lines = counted(export.lines.len() as u64, "decision", "decisions");
    console::print_status(&format!("{n_lines} written to {shown}; run with --decisions {shown}"));
    print_left_out(&export);
    Ok(())
}

/// Prints which decisions are not in an export.
fn print_left_out(export: &Export) {
    for (n, what) in [
        (export.disagreements.len(), "that reviewers decided differently"),
        (export.n_outdated, "whose content has changed since"),
        (export.unsupported.len(), "with a decision that a run cannot apply"),
    ] {
        if n > 0 {
            console::print_status(&format!("left out: {} {what}", counted(n as u64, "row", "rows")));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_name_becomes_the_name_of_a_file() {
        for (user, expected) in [
            ("kim", "kim"),
            ("Kim Lee", "Kim-Lee"),
            ("DOMAIN\\kim", "DOMAIN-kim"),
            ("", "reviewer"),
            ("..", "reviewer"),
            ("åse", "åse"),
        ] {
            assert_eq!(plain_name(user), expected, "{user}");
        }
    }
}
