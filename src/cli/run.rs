//! `toolsieve run`: a pipeline from inputs to dataset, and the funnel at the end.

use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context as _;

use super::report::summary;
use super::{Ending, Halfway, PipelineArgs};
use crate::console::{self, Console, count, counted};
use crate::engine::corpus::Corpus;
use crate::engine::delta::StageManifest;
use crate::engine::error::{At as _, Error};
use crate::engine::folder::{
    InputFile, RunFile, RunFolder, create_private, write_atomic, write_json, write_run_file,
};
use crate::engine::ledger;
use crate::engine::partition::Parts;
use crate::engine::payload::IngestManifest;
use crate::engine::runner::{self, Outcome, Sink, StageInstance};
use crate::engine::services::Services;
use crate::engine::stage::{Context, Progress};
use crate::export::earlier::Earlier;
use crate::pipeline::Pipeline;
use crate::report::model::Report;
use crate::report::{Sources, Tally, html, markdown, report};
use crate::text::visible::visible_line;

/// Arguments of `run`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  toolsieve run                                              the live recipe on the sample log
  toolsieve run --input logs/*.jsonl.gz --out out/march      on your own log
  toolsieve run --baseline out/march --out out/april         only what the earlier dataset has not
  toolsieve run my.toml --set merge-near-docs.threshold=0.7  one setting changed; finished steps that do not depend on it are reused")]
pub(super) struct RunArgs {
    #[command(flatten)]
    pipeline: PipelineArgs,

    /// Run folder [default: out/<pipeline name>]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Reads this many records and passes over the rest.
    #[arg(long, value_name = "N", conflicts_with = "sample_rows", value_parser = clap::value_parser!(u64).range(1..))]
    limit: Option<u64>,

    /// Takes this many records at random, the same ones each time.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    sample_rows: Option<u64>,

    /// Removes what an earlier run left in the folder, but for the list of forgotten records.
    #[arg(long)]
    fresh: bool,

    /// Threads for parsing and joins [default: one a core]
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,

    /// Cuts each step into at most this many parts that are judged apart; the bytes are the same.
    #[arg(long, value_name = "N", hide = true, default_value = "1")]
    parts: Parts,

    /// Prints warnings and errors only.
    #[arg(long, short)]
    quiet: bool,
}

pub(super) fn run(args: RunArgs) -> anyhow::Result<Ending> {
    let mut pipeline = super::plan::load(&args.pipeline)?;
    pipeline.ingest.limit = args.limit.or(pipeline.ingest.limit);
    pipeline.ingest.sample_rows = args.sample_rows.or(pipeline.ingest.sample_rows);
    super::plan::check_inputs(&pipeline)?;
    if let Some(threads) = args.threads {
        rayon::ThreadPoolBuilder::new().num_threads(threads.get()).build_global().context("--threads")?;
    }
    let out = args.out.unwrap_or_else(|| Path::new("out").join(&pipeline.name));
    super::plan::check_baselines(&pipeline, Some(&out))?;
    let folder = RunFolder::take(&out)?;
    if args.fresh {
        folder.clear()?;
    }
    spool_pipe(&mut pipeline, &folder)?;
    let cancel = cancelled_by_signal()?;
    let progress = Console::new(args.quiet);
    for warning in &pipeline.warnings {
        progress.warn(warning);
    }
    let services = Services::default().with_decisions(Arc::clone(&pipeline.decisions));
    let cx = Context::new(pipeline.seed, &*cancel, &progress).with_services(services);
    let (outcome, report) = judged(&pipeline, &folder, args.parts, &cx).map_err(Halfway)?;
    let printed = print_summary(&report, &outcome, folder.path());
    let ending = gate(&pipeline, &outcome.ingest, report.fault_share);
    ending.after(printed).with_context(|| {
        let run = folder.path().display();
        format!(
            "the run is complete, but its summary is not printed\nhint: `toolsieve report {run}` prints it"
        )
    })
}

fn print_summary(report: &Report, outcome: &Outcome, folder: &Path) -> io::Result<()> {
    // A table of zeros says less than the sentence at the end.
    let mut text = if outcome.ingest.counts.lines > 0 { summary(report) } else { String::new() };
    if outcome.reused > 0 {
        text += &format!("reused    {} finished steps of an earlier run\n", outcome.reused);
    }
    console::give(&format!("{text}run       {}\n", visible_line(&folder.display().to_string())))
}

/// Set once the user asks to stop.
fn cancelled_by_signal() -> anyhow::Result<Arc<AtomicBool>> {
    let cancel = Arc::new(AtomicBool::new(false));
    let on_signal = Arc::clone(&cancel);
    ctrlc::set_handler(move || on_signal.store(true, Ordering::Relaxed))
        .context("cannot listen for Ctrl-C")?;
    Ok(cancel)
}

/// Runs the pipeline and writes what tells of it. Whatever goes wrong in it, the same call goes on from there.
fn judged(
    pipeline: &Pipeline,
    folder: &RunFolder,
    parts: Parts,
    cx: &Context<'_>,
) -> Result<(Outcome, Report), Error> {
    let mut outcome = runner::run_in_parts(folder, &pipeline.ingest, &pipeline.stages, parts, cx)?;
    // The dataset is written beside what tells of the rows: neither needs the other.
    let sink = pipeline.export.as_ref().map(|export| export as &dyn Sink);
    let written = std::thread::scope(|scope| {
        let (corpus, manifests) = (&outcome.corpus, &outcome.stages);
        let told = scope.spawn(|| tell(&pipeline.stages, folder, corpus, manifests, sink.is_some()));
        let exported = sink.map(|sink| runner::export(folder, sink, corpus, cx)).transpose();
        if exported.is_ok() {
            warn_of_lines(&outcome.ingest, cx.progress);
            cx.progress.begin("ledger", None);
        }
        let events = told.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        Ok((exported?, events?))
    });
    let (exported, events) = match written {
        Ok(written) => written,
        Err(error) => {
            // Tables must not speak of a dataset that is not there.
            folder.remove_outcome()?;
            return Err(error);
        }
    };
    outcome.exported = exported;
    let file = run_file(pipeline, &outcome)?;
    let report = write_report(folder, &outcome, &file, events)?;
    cx.progress.end("ledger, rows, lists, report");
    Ok((outcome, report))
}

/// Whether what came of the run is good enough, and what is not.
fn gate(pipeline: &Pipeline, ingest: &IngestManifest, fault_share: f64) -> Ending {
    let counts = &ingest.counts;
    if counts.records == 0 && (counts.lines > counts.not_sampled || counts.lines == 0) {
        console::talk(&format!("gate failed: no request in {}", counted(counts.lines, "line", "lines")));
        return Ending::GateFailed;
    }
    // How much is missing of a file nobody knows, so no share of it is small enough; who takes any share takes this.
    if !ingest.cut_files.is_empty() && pipeline.max_fault_share < 1.0 {
        for cut in &ingest.cut_files {
            let path = pipeline.ingest.inputs.get(cut.file as usize).map(|path| path.display().to_string());
            let path = path.unwrap_or_default();
            console::talk(&format!("gate failed: {path} was not read to its end: {}", cut.detail));
        }
        return Ending::GateFailed;
    }
    if fault_share > pipeline.max_fault_share {
        console::talk(&format!(
            "gate failed: {:.1} % of lines and requests left because something went wrong, more than the {:.1} % that max_fault_share allows",
            100.0 * fault_share,
            100.0 * pipeline.max_fault_share
        ));
        return Ending::GateFailed;
    }
    Ending::Done
}

/// Lines that gave nothing are told while somebody looks: a damaged file, or columns of other names.
fn warn_of_lines(ingest: &IngestManifest, progress: &dyn Progress) {
    let counts = &ingest.counts;
    let reasons: Vec<String> =
        ingest.line_reasons.iter().map(|(reason, n)| format!("{} {reason}", count(*n))).collect();
    if counts.unreadable > 0 {
        progress.warn(&format!(
            "{} of {} could not be read; lines that gave no request: {}",
            count(counts.unreadable),
            counted(counts.lines, "line", "lines"),
            reasons.join(", ")
        ));
    }
    if counts.records == 0 && !reasons.is_empty() {
        progress.warn(&format!(
            "no request was read from {} ({})\nhint: `toolsieve inspect FILE…` tells what the files hold; if columns have other names, name them, e.g. --set 'ingest.columns.query=[\"text\"]'",
            counted(counts.lines, "line", "lines"),
            reasons.join(", ")
        ));
    }
    if counts.lines == 0 {
        progress.warn("there is nothing in the files");
    }
}

/// Writes what tells the whole run anew, from the steps on disk: when something was taken out of them.
pub(super) fn tell_anew(
    stages: &[StageInstance],
    folder: &RunFolder,
    outcome: &Outcome,
    file: &RunFile,
) -> Result<Report, Error> {
    let events = tell(stages, folder, &outcome.corpus, &outcome.stages, outcome.exported.is_some())?;
    write_report(folder, outcome, file, events)
}

/// Writes ledger and folds; gives what was counted of the events.
fn tell<'s>(
    stages: &[StageInstance],
    folder: &RunFolder,
    corpus: &Corpus,
    manifests: &'s [StageManifest],
    exported: bool,
) -> Result<Tally<'s>, Error> {
    let mut tally = Tally::new(manifests);
    ledger::write(folder, stages, corpus, exported, |events| tally.count(events))?;
    Ok(tally)
}

/// Writes how the run was started, and the report in all its forms; the card goes into the dataset that it tells of.
fn write_report(
    folder: &RunFolder,
    outcome: &Outcome,
    file: &RunFile,
    events: Tally<'_>,
) -> Result<Report, Error> {
    let folder = folder.path();
    let (ingest, stages, corpus) = (&outcome.ingest, &outcome.stages, &outcome.corpus);
    let report = report(&Sources { folder, file, ingest, stages, corpus }, events)?;
    write_json(&folder.join("report.json"), &report)?;
    let page = html::page(&report, &folder.display().to_string());
    write_atomic(&folder.join("report.html"), page.as_bytes())?;
    if outcome.exported.is_some() {
        write_atomic(&folder.join("dataset").join("README.md"), markdown::card(&report).as_bytes())?;
    }
    // Last: it holds the checksums of the others, and says that the run is finished.
    write_run_file(folder, file)?;
    Ok(report)
}

/// Copies standard input, or a pipe that has a name, into the run folder, so that it is read like a file and can be
/// read again. Signals still end the program here: nothing of the run is written yet, and a pipe may never end.
fn spool_pipe(pipeline: &mut Pipeline, folder: &RunFolder) -> anyhow::Result<()> {
    let spooled = folder.spool();
    for input in pipeline.ingest.inputs.iter_mut().filter(|input| super::plan::is_pipe(input)) {
        let mut file = create_private(&spooled)?;
        let reading = || format!("reading {}", input.display());
        if *input == Path::new("-") {
            io::copy(&mut io::stdin().lock(), &mut file).at("copying standard input to", &spooled)?;
        } else {
            let mut pipe = std::fs::File::open(&*input).with_context(reading)?;
            io::copy(&mut pipe, &mut file).with_context(reading)?;
        }
        input.clone_from(&spooled);
    }
    Ok(())
}

fn run_file(pipeline: &Pipeline, outcome: &Outcome) -> Result<RunFile, Error> {
    // A step that was taken over may have read the same bytes under another name.
    let paths = pipeline.ingest.inputs.iter().map(|path| path.display().to_string());
    let inputs =
        outcome.ingest.inputs.iter().cloned().zip(paths).map(|(input, path)| InputFile { path, ..input });
    let mut baselines = Vec::new();
    for path in pipeline.baselines() {
        baselines.extend(Earlier::open(&path)?.inputs()?);
    }
    Ok(RunFile {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        pipeline: pipeline.resolved(),
        seed: pipeline.seed,
        inputs: inputs.collect(),
        baselines,
        steps: pipeline.stages.iter().map(|stage| stage.id.clone()).collect(),
        command: std::env::args().collect(),
    })
}
