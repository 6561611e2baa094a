//! `toolsieve audit`: which rows of training sets overlap a benchmark.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::bail;

use super::Ending;
use super::layout::{Column, Table};
use super::run::cancelled_by_signal;
use crate::audit::benchmark::Thresholds;
use crate::audit::hit::Verdict;
use crate::audit::report::{AuditReport, CategoryCounts, REPORT, STATEMENT};
use crate::audit::{CLEANED, HITS, Plan, REMOVED, Watch, audit as audit_files};
use crate::cli::console::{self, Console, Painted, Screen, count};
use crate::run::{Observer as _, expand};
use crate::text::figures::share_of;
use crate::text::visible::visible_line;

/// Arguments of `audit`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The audit compares user messages, function docs, and the calls of answers, each by several methods. A row is contaminated, \
suspect, clean, or unscorable if it has nothing to compare.

Output, in the folder of --out:
  hits.jsonl      one line for each overlap: row, entry, object, method, score, verdict, places
  removed.jsonl   the rows that are not in the cleaned sets
  cleaned/        the training sets without them, in their form
  audit.json      counts by category, object and method
  statement.md    a paragraph for a model card

Exit codes: 0 done; 1 --max-rate is passed; 2 could not start; 130 interrupted.

Examples:
  toolsieve audit --train train.jsonl --bench bfcl/data
  toolsieve audit --train sft/*.jsonl --bench BFCL_v4_live_simple.json --max-rate 0.01
  toolsieve audit --train texts.csv --field text --bench bfcl/data --out out/texts"
)]
pub(super) struct AuditArgs {
    /// Training sets: files, folders, patterns. JSON lines, JSON, CSV or TSV, also with .gz or .zst.
    #[arg(long, value_name = "PATH", num_args = 1.., required = true)]
    train: Vec<PathBuf>,

    /// Benchmarks: BFCL question files or folders of them, or files like training sets.
    #[arg(long, value_name = "PATH", num_args = 1.., required = true)]
    bench: Vec<PathBuf>,

    /// Folder of the results [default: out/audit]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Key of a text to compare, with dots into objects, where rows are no requests. May be repeated
    /// [default: usual keys of conversations and instructions]
    #[arg(long, value_name = "NAME")]
    field: Vec<String>,

    /// Leaves suspect rows out of the cleaned sets, too.
    #[arg(long)]
    drop_suspects: bool,

    /// Exit code 1 if a larger share of the entries is contaminated, from 0 to 1.
    #[arg(long, value_name = "SHARE")]
    max_rate: Option<f64>,

    /// Prints errors only.
    #[arg(long, short)]
    quiet: bool,
}

pub(super) fn audit(args: AuditArgs) -> anyhow::Result<Ending> {
    if args.max_rate.is_some_and(|rate| !(0.0..=1.0).contains(&rate)) {
        bail!("--max-rate: expected a share from 0 to 1");
    }
    let plan = Plan {
        train: expand(&args.train)?.files,
        bench: args.bench,
        out: args.out.unwrap_or_else(|| PathBuf::from("out/audit")),
        fields: args.field,
        drop_suspects: args.drop_suspects,
        thresholds: Thresholds::default(),
    };
    let watching = Watching { console: Console::new(args.quiet), cancel: cancelled_by_signal()? };
    watching.console.begin("audit", None);
    let report = audit_files(&plan, &watching)?;
    watching.console.end(&format!("{} rows", count(report.n_rows())));
    if !args.quiet {
        console::print_painted(&summary(&report, &plan, Screen::of_stdout()))?;
    }
    let is_over = args.max_rate.is_some_and(|rate| report.total.rate > rate);
    if is_over {
        console::print_status(&format!(
            "gate failed: {} of the entries are contaminated, more than --max-rate",
            share_of(report.total.contaminated as u64, report.total.entries as u64)
        ));
    }
    Ok(if is_over { Ending::GateFailed } else { Ending::Done })
}

fn summary(report: &AuditReport, plan: &Plan, screen: Screen) -> Painted {
    let mut table = Table::new([
        Column::text("category"),
        Column::number("entries"),
        Column::number("contaminated"),
        Column::number("rate"),
        Column::number("query"),
        Column::number("functions"),
        Column::number("call"),
        Column::number("suspect"),
    ]);
    let mut row = |of: &CategoryCounts| {
        let objects = |name: &str| count(of.by_object.get(name).copied().unwrap_or_default() as u64);
        table.row([
            of.name.clone(),
            count(of.entries as u64),
            count(of.contaminated as u64),
            share_of(of.contaminated as u64, of.entries as u64),
            objects("query"),
            objects("functions"),
            objects("call"),
            count(of.suspect as u64),
        ]);
    };
    report.categories.iter().for_each(&mut row);
    if report.categories.len() > 1 {
        row(&report.total);
    }
    let mut text = table.fitted(screen);
    let verdicts = Verdict::ALL.iter().map(|verdict| {
        format!("{} {}", count(report.rows.get(verdict.name()).copied().unwrap_or_default()), verdict.name())
    });
    let out = visible_line(&plan.out.display().to_string()).into_owned();
    text.add(
        console::Paint::Plain,
        &format!("\nrows      {} = {}\n", count(report.n_rows()), verdicts.collect::<Vec<_>>().join(" + ")),
    );
    text.add(console::Paint::Plain, &format!("hits      {} in {out}/{HITS}\n", count(report.hits)));
    let removed: u64 = report.train.iter().map(|file| file.removed).sum();
    text.add(
        console::Paint::Plain,
        &format!(
            "removed   {} rows, listed in {out}/{REMOVED}; the others are in {out}/{CLEANED}\n",
            count(removed)
        ),
    );
    text.add(console::Paint::Plain, &format!("report    {out}/{REPORT}, {out}/{STATEMENT}\n"));
    text
}

/// The console, and Ctrl-C.
struct Watching {
    console: Console,
    cancel: Arc<AtomicBool>,
}

impl Watch for Watching {
    fn read(&self, bytes: u64, total: u64) {
        self.console.read(bytes, total);
    }

    fn is_cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }
}
