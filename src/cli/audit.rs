//! `callsieve audit`: which rows of training sets overlap a benchmark. It runs the pipeline `pipelines/audit.toml`.

use std::path::{Path, PathBuf};

use anyhow::bail;

use super::Ending;
use super::arguments::{threads, use_threads};
use super::layout::{Column, Table};
use super::run::{Resumable, Watching, cancelled_by_signal, ending};
use crate::audit::hit::{Compared, Verdict};
use crate::audit::report::{AuditReport, CategoryCounts};
use crate::cli::console::{self, Console, Paint, Painted, Screen, count};
use crate::engine::layout::{AUDIT_REPORT, HITS, HITS_TABLE, REMOVED, STATEMENT};
use crate::jobs::audit::{AuditOptions, gates, read};
use crate::pipeline::Override;
use crate::run::{Observer as _, Options, fetch_inputs, fetched_benchmarks, prepare};
use crate::stages::Registry;
use crate::stages::drop_benchmark_overlap::OnOverlap;
use crate::text::figures::share_of;
use crate::text::listed::{MOST_LISTED, unlisted};
use crate::text::visible::visible_line;

/// Arguments of `audit`.
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "The audit compares user messages, function docs, the calls of answers and, word by word, all other texts, each by \
several methods. A row is contaminated, suspect or clean, or unscorable if it has nothing to compare; rows that only share the tools of an \
environment, such as those of τ-bench, are \"environment\" and stay.

Results, in the folder of --out, which is a run folder (why, held, report and verify read it):
  hits.jsonl      one line for each overlap of a row with an entry, or with many entries in the same way; also hits.parquet
  removed.jsonl   the rows that are not in the cleaned sets, with the reason
  dataset/        the training sets without them, in the form they came in
  audit.json      counts by category, object and method
  statement.md    a statement for a model card; statement.tex for a paper

Exit codes: 0 done; 1 --max-rate is passed, no row could be compared, or too many lines are unreadable; 2 could not start; 3 stopped, run it again to go on; 130 interrupted.

Examples:
  callsieve audit --train train.jsonl --bench bfcl/data
  callsieve audit --train sft/*.parquet --bench BFCL_v4_live_simple.json --max-rate 0.01
  callsieve audit --train texts.csv --field text --bench bfcl/data --suspect hold --out out/texts"
)]
pub(super) struct AuditArgs {
    #[command(subcommand)]
    command: Option<super::audit_scores::AuditCommand>,

    /// Training sets: files, folders, patterns. JSON lines, JSON, CSV, TSV or Parquet, text also with .gz or .zst.
    #[arg(long, value_name = "PATH", num_args = 1.., required = true)]
    train: Vec<PathBuf>,

    /// Benchmarks: BFCL question files or folders of them, public sets by id, files like training sets, also hf://…
    #[arg(long, value_name = "PATH|SET", num_args = 1.., required = true)]
    bench: Vec<String>,

    #[command(flatten)]
    form: super::audit_bench::BenchArgs,

    /// Run folder of the results [default: out/audit]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Key of a text to compare, with dots into objects, instead of requests. May be repeated.
    #[arg(long, value_name = "NAME")]
    field: Vec<String>,

    /// What is compared, with commas between.
    #[arg(long, value_name = "KINDS", value_delimiter = ',', default_value = "query,docs,calls,texts")]
    objects: Vec<Kind>,

    /// What to do with contaminated rows: drop, hold, or keep them.
    #[arg(long, value_name = "ACTION", default_value = "drop")]
    contaminated: Action,

    /// What to do with suspect rows: drop, hold, or keep them.
    #[arg(long, value_name = "ACTION", default_value = "keep")]
    suspect: Action,

    /// Language model that judges suspect pairs of messages. It gets redacted texts.
    #[arg(long, value_name = "MODEL")]
    judge: Option<String>,

    #[command(flatten)]
    model: super::model::ModelArgs,

    /// Exit code 1 if a larger share of the entries is contaminated, from 0 to 1.
    #[arg(long, value_name = "SHARE")]
    max_rate: Option<f64>,

    /// Sets a setting of the pipeline, such as drop-benchmark-overlap.thresholds.query.min_words=6.
    #[arg(long, value_name = "ID.KEY=VALUE")]
    set: Vec<Override>,

    /// Decisions of people on held rows, as `callsieve held` lists them. May be repeated.
    #[arg(long, value_name = "FILE")]
    decisions: Vec<PathBuf>,

    /// Replaces an earlier audit of other inputs in the folder.
    #[arg(long)]
    fresh: bool,

    /// Number of threads, up to 1024 [default: one per core]
    #[arg(long, value_name = "N", value_parser = threads())]
    threads: Option<u16>,

    #[command(flatten)]
    share: super::parts::PartsArgs,

    /// Prints warnings and errors only.
    #[arg(long, short)]
    quiet: bool,
}

impl AuditArgs {
    /// The same audit, whose parts are joined.
    pub(super) fn merging(self, share: super::parts::PartsArgs, threads: Option<u16>, quiet: bool) -> Self {
        Self { share, threads: threads.or(self.threads), quiet: quiet || self.quiet, fresh: false, ..self }
    }
}

pub(super) fn audit(args: AuditArgs, registry: &Registry) -> anyhow::Result<Ending> {
    if let Some(command) = args.command {
        return super::audit_scores::run(command);
    }
    if args.max_rate.is_some_and(|rate| !(0.0..=1.0).contains(&rate)) {
        bail!("--max-rate: expected a share from 0 to 1");
    }
    use_threads(args.threads)?;
    let mut audited = args.audited();
    audited.benchmarks =
        fetched_benchmarks(&audited.benchmarks, registry.environment(), &mut console::print_status)?;
    let mut pipeline = audited.pipeline(registry)?;
    fetch_inputs(&mut pipeline, &mut console::print_status)?;
    let out = args.share.out(args.out.clone().unwrap_or_else(|| PathBuf::from("out/audit")));
    let options =
        Options::default().fresh(args.fresh).command(args.share.command()).joins(args.share.joins());
    let options = options.model(args.model.options()?);
    if let Some(done) = args.share.done(&pipeline, &out, &options, args.quiet)? {
        return Ok(done);
    }
    let prepared = prepare(&pipeline, &out, &options)?;
    let watching = Watching { console: Console::new(args.quiet), cancel: cancelled_by_signal()? };
    let run =
        prepared.execute(&watching).map_err(|error| Resumable::of(error, &args.share.resume(&options)))?;
    let Some(report) = &read(&run.folder)? else {
        bail!("the pipeline of the audit compares with no benchmark")
    };
    if report.train.iter().any(|file| file.not_copied > 0) {
        let n: u64 = report.train.iter().map(|file| file.not_copied).sum();
        watching.warn(&format!("{} are too long or cut, and are in no cleaned set", lines(n)));
    }
    let of_benchmark: Vec<&str> =
        report.train.iter().filter(|file| file.is_benchmark).map(|file| file.path.as_str()).collect();
    for path in of_benchmark.iter().take(MOST_LISTED) {
        watching.warn(&format!(
            "{} is a file of the benchmark: its rows were compared with those before them, which finds duplicates, not contamination",
            visible_line(path)
        ));
    }
    if let Some(more) = unlisted(of_benchmark.len()) {
        watching.warn(&format!("{more} are files of the benchmark, too; {AUDIT_REPORT} lists all"));
    }
    for entry in report.frequent_entries.iter().take(MOST_LISTED) {
        watching.warn(&format!(
            "the message of {} {} is part of {} of {} messages: a phrase of the training set, which is clean inside longer messages",
            visible_line(&entry.category),
            visible_line(&entry.id),
            count(entry.messages as u64),
            count(entry.of as u64)
        ));
    }
    if let Some(more) = unlisted(report.frequent_entries.len()) {
        watching.warn(&format!("{more} entries are phrases of the training set; {AUDIT_REPORT} lists all"));
    }
    if !args.quiet {
        console::print_painted(&summary(&run.folder, report, Screen::of_stdout()))?;
        if run.reused > 0 {
            console::print_painted(&Painted::new("reused    finished steps of an earlier audit\n"))?;
        }
    }
    for shared in report.shared_texts.iter().take(MOST_LISTED) {
        watching.warn(&format!(
            "a text that {} of {} rows share, such as their prompt, holds the message of {} {} ({}); it was compared once, and no row counts",
            count(shared.rows as u64),
            count(shared.of as u64),
            visible_line(&shared.category),
            visible_line(&shared.id),
            shared.verdict
        ));
    }
    if let Some(more) = unlisted(report.shared_texts.len()) {
        watching.warn(&format!("{more} entries are in texts that many rows share; {AUDIT_REPORT} lists all"));
    }
    let not_read = report.not_read();
    for (file, what) in not_read.iter().take(MOST_LISTED) {
        watching.warn(&format!(
            "{}: {what} found in {}; if there are some in a column that is not read, they were not compared",
            visible_line(&file.path),
            if file.rows == 1 { "its row".to_owned() } else { format!("its {} rows", count(file.rows)) }
        ));
    }
    if let Some(more) = unlisted(not_read.len()) {
        watching.warn(&format!("{more} of such warnings; {AUDIT_REPORT} has what was read of each file"));
    }
    let n_unscorable = report.n_rows_of(Verdict::Unscorable);
    if n_unscorable > 0 && n_unscorable < report.n_rows() {
        watching.warn(&format!(
            "{} of {} rows could not be compared: they have no message of a user, no function and no call that can be read (`contamination` is unscorable in rows.parquet)",
            count(n_unscorable),
            count(report.n_rows())
        ));
    }
    if let Some(gate) = gates(report, args.max_rate) {
        console::print_status(&format!("gate failed: {gate}"));
        return Ok(Ending::GateFailed);
    }
    Ok(ending(&run.outcome))
}

fn lines(n: u64) -> String {
    if n == 1 { "1 line".to_owned() } else { format!("{} lines", count(n)) }
}

impl AuditArgs {
    /// Returns the settings of the flags; those of --set come last.
    fn audited(&self) -> AuditOptions {
        AuditOptions {
            format: self.form.format(),
            columns: self.form.columns(),
            text_fields: self.field.clone(),
            contaminated: self.contaminated.into(),
            suspect: self.suspect.into(),
            objects: self.objects.iter().map(|kind| (*kind).into()).collect(),
            judge: self.judge.clone(),
            decisions: self.decisions.clone(),
            settings: self.set.clone(),
            ..AuditOptions::new(self.train.clone(), self.bench.clone())
        }
    }
}

/// [`Compared`] on the command line.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Kind {
    Query,
    Docs,
    Calls,
    Texts,
}

impl From<Kind> for Compared {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Query => Self::Query,
            Kind::Docs => Self::Docs,
            Kind::Calls => Self::Calls,
            Kind::Texts => Self::Texts,
        }
    }
}

/// [`OnOverlap`] on the command line.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Action {
    Drop,
    Hold,
    Keep,
}

impl From<Action> for OnOverlap {
    fn from(action: Action) -> Self {
        match action {
            Action::Drop => Self::Drop,
            Action::Hold => Self::Hold,
            Action::Keep => Self::Keep,
        }
    }
}

/// The figures of an audit on the screen.
pub(super) fn summary(folder: &Path, report: &AuditReport, screen: Screen) -> Painted {
    let mut table = Table::new([
        Column::text("category"),
        Column::number("entries"),
        Column::number("contaminated"),
        Column::number("query"),
        Column::number("docs"),
        Column::number("call"),
        Column::number("text"),
        Column::number("suspect"),
    ]);
    let mut row = |of: &CategoryCounts| {
        let objects = |name: &str| count(of.by_object.get(name).copied().unwrap_or_default() as u64);
        table.row([
            of.name.clone(),
            count(of.entries as u64),
            format!(
                "{} · {}",
                count(of.contaminated as u64),
                share_of(of.contaminated as u64, of.entries as u64)
            ),
            objects("query"),
            count(of.docs as u64),
            objects("call"),
            objects("text"),
            count(of.suspect as u64),
        ]);
    };
    report.categories.iter().for_each(&mut row);
    if report.categories.len() > 1 {
        row(&report.total);
    }
    let mut text = table.fitted(screen);
    let is_shown = |verdict: &&Verdict| **verdict != Verdict::Environment || report.n_rows_of(**verdict) > 0;
    let verdicts = Verdict::ALL
        .iter()
        .filter(is_shown)
        .map(|verdict| format!("{} {}", count(report.n_rows_of(*verdict)), verdict.name()));
    let out = visible_line(&folder.display().to_string()).into_owned();
    let unreadable: u64 = report.train.iter().map(|file| file.unreadable).sum();
    let also = if unreadable > 0 { format!("; {} cannot be read", lines(unreadable)) } else { String::new() };
    let verdicts = verdicts.collect::<Vec<_>>().join(" + ");
    let judged: Vec<String> =
        report.judged.iter().map(|(name, n)| format!("{} {}", count(*n), name.replace('_', " "))).collect();
    text.add(Paint::Plain, "\n");
    let mut line = |label: &str, what: &str| text.add(Paint::Plain, &format!("{label:<10}{what}\n"));
    line("rows", &format!("{} = {verdicts}{also}", count(report.n_rows())));
    let shuffle = &report.clean_shuffle;
    if shuffle.messages > 0 {
        let n = |n: usize| count(n as u64);
        line(
            "chance",
            &format!(
                "{} of {} messages with shuffled words called contaminated",
                n(shuffle.contaminated),
                n(shuffle.messages)
            ),
        );
    }
    line("hits", &format!("{} in {out}/{HITS} and {HITS_TABLE}", count(report.hits)));
    if !judged.is_empty() {
        line("judged", &format!("suspect pairs: {}", judged.join(", ")));
    }
    line("removed", &format!("{} in {out}/{REMOVED}", count(report.n_removed())));
    line("cleaned", &format!("{out}/dataset"));
    line("report", &format!("{out}/{AUDIT_REPORT}, {STATEMENT}, report.html"));
    text
}
