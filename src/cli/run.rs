//! `callsieve run`: a pipeline from inputs to dataset, and the funnel at the end.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context as _;

use super::arguments::{FilterArgs, threads, use_threads};
use super::funnel::summary;
use super::model::ModelArgs;
use super::parts::PartsArgs;
use super::plan::Loaded;
use super::{Ending, PipelineArgs};
use crate::audit::report::AuditReport;
use crate::cli::console::{self, Console, Paint, Painted, Screen};
use crate::engine::division::{BatchRows, Cuts, Parts};
use crate::engine::error::Error as EngineError;
use crate::inspect::look::Look;
use crate::inspect::{Closeness, inspect};
use crate::jobs::audit;
use crate::jobs::gate::FailedGate;
use crate::pipeline::Override;
use crate::run::{Error, Observer, Options, Outcome, RunReport, expand, prepare};
use crate::stages::Registry;
use crate::text::figures::counted;
use crate::text::visible::visible_line;

/// Arguments of `run`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  callsieve run                                  the sample log, into out/sample
  callsieve run mylog.jsonl                      your own log, into out/mylog
  callsieve run logs/ --baseline out/march       all logs in a folder, without known requests")]
pub(super) struct RunArgs {
    #[command(flatten)]
    pipeline: PipelineArgs,

    /// Run folder [default: out/NAME, where NAME is the name of the input]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Reads the first N records only.
    #[arg(long, value_name = "N", conflicts_with = "sample_rows", value_parser = clap::value_parser!(u64).range(1..))]
    limit: Option<u64>,

    /// Reads N random records, the same ones each time.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    sample_rows: Option<u64>,

    #[command(flatten)]
    filter: FilterArgs,

    /// Replaces an earlier run in the folder, whatever its inputs; only the list of forgotten records is kept.
    #[arg(long)]
    fresh: bool,

    /// Does not apply the decisions that people made with `callsieve review` on rows of the run folder.
    #[arg(long)]
    ignore_reviews: bool,

    /// Number of threads, up to 1024 [default: one per core]
    #[arg(long, value_name = "N", value_parser = threads())]
    threads: Option<u16>,

    /// Splits each step into at most this many parts; the dataset is the same.
    #[arg(long, value_name = "N", hide = true, default_value = "1")]
    parts: Parts,

    /// Reads the inputs in batches of at most this many rows; the dataset is the same.
    #[arg(long, value_name = "N", hide = true, default_value_t = Cuts::BATCH_ROWS)]
    batch_rows: BatchRows,

    #[command(flatten)]
    share: PartsArgs,

    #[command(flatten)]
    model: ModelArgs,

    /// Prints warnings and errors only.
    #[arg(long, short)]
    quiet: bool,
}

impl RunArgs {
    /// The same run, whose parts are joined.
    pub(super) fn merging(self, share: PartsArgs, threads: Option<u16>, quiet: bool) -> Self {
        Self { share, threads: threads.or(self.threads), quiet: quiet || self.quiet, fresh: false, ..self }
    }
}

pub(super) fn run(mut args: RunArgs, registry: &Registry) -> anyhow::Result<Ending> {
    use_threads(args.threads)?;
    let of_ingest = |key: &str, n: Option<u64>| {
        n.map(|n| Override { id: "ingest".to_owned(), key: key.to_owned(), value: n.to_string() })
    };
    args.pipeline.set.extend(of_ingest("limit", args.limit));
    args.pipeline.set.extend(of_ingest("sample_rows", args.sample_rows));
    args.pipeline.set.extend(args.filter.overrides()?);
    let Loaded { pipeline, run_name } = super::plan::load(&args.pipeline, registry)?;
    let out = args.share.out(args.out.unwrap_or_else(|| Path::new("out").join(run_name)));
    let options = Options::default().fresh(args.fresh).parts(args.parts).batch_rows(args.batch_rows);
    let options = options.reviews(!args.ignore_reviews);
    let options =
        options.command(args.share.command()).model(args.model.options()?).joins(args.share.joins());
    if let Some(done) = args.share.done(&pipeline, &out, &options, args.quiet)? {
        return Ok(done);
    }
    let prepared = prepare(&pipeline, &out, &options)?;
    // Until here signals end the program: nothing of the run is written yet.
    let watching = Watching { console: Console::new(args.quiet), cancel: cancelled_by_signal()? };
    let resume = |error: Error| match error {
        Error::NoRequest(what) => no_request(&what, pipeline.inputs(), registry),
        error => Resumable::of(error, &args.share.resume(&options)),
    };
    let run = prepared.execute(&watching).map_err(resume)?;
    let audit = audit::read(&run.folder)?;
    let printed = if args.quiet { Ok(()) } else { print_summary(&run, audit.as_ref()) };
    within_cost(ending(&run.outcome), &run, &args.model).after(printed).with_context(|| {
        let run = run.folder.display();
        format!(
            "the run is complete, but its summary could not be printed\nhint: `callsieve report {run}` prints it"
        )
    })
}

/// The error about inputs that are no logs, with what a look into them suggests.
fn no_request(what: &str, inputs: &[PathBuf], registry: &Registry) -> anyhow::Error {
    let error = anyhow::Error::from(Error::NoRequest(what.to_owned()));
    // A pipe can be read only once.
    if !inputs.iter().all(|path| path.exists()) {
        return error;
    }
    let look = expand(inputs)
        .ok()
        .and_then(|found| inspect(&found.files, Closeness::default(), registry.environment().sets()).ok());
    let tells_more = |look: &&Look| look.guessed.is_some() || !look.unreadable.is_empty();
    match look.as_ref().filter(tells_more).and_then(|look| look.hints.first()) {
        Some(hint) => Error::NoRequest(format!("{what}\nhint: {hint}")).into(),
        None => error,
    }
}

pub(super) fn print_summary(run: &RunReport, audit: Option<&AuditReport>) -> io::Result<()> {
    // Without a request the sentence at the end is clearer than a table of zeros.
    let has_requests = run.report.ingest.records > 0;
    let screen = Screen::of_stdout();
    let mut text = if has_requests { summary(&run.report, screen) } else { Painted::default() };
    if let Some(report) = audit {
        text.add(Paint::Plain, "\n");
        text.append(super::audit::summary(&run.folder, report, screen));
    }
    if run.reused > 0 {
        let steps = counted(run.reused as u64, "finished step", "finished steps");
        text.add(Paint::Plain, &format!("reused    {steps} of an earlier run\n"));
    }
    text.add(Paint::Plain, &format!("run       {}\n", visible_line(&run.folder.display().to_string())));
    console::print_painted(&text)
}

pub(super) fn ending(outcome: &Outcome) -> Ending {
    let Outcome::GateFailed(gates) = outcome else { return Ending::Done };
    for gate in gates {
        console::print_status(&format!("gate failed: {gate}"));
    }
    match &gates[..] {
        [FailedGate::TooFewInstructions { .. }] => Ending::TooFew,
        _ => Ending::GateFailed,
    }
}

/// Says so as the last line if the limit of cost was reached, which is then what the command ends with.
pub(super) fn within_cost(ending: Ending, run: &RunReport, asking: &ModelArgs) -> Ending {
    let Some(line) = asking.over_cost(&run.report) else { return ending };
    console::print_status(&line);
    match ending {
        Ending::Done | Ending::TooFew => Ending::OverCost,
        other => other,
    }
}

/// A run that was stopped, with the command that continues it.
#[derive(Debug, thiserror::Error)]
#[error("{error}\nhint: to continue, run {command}")]
pub(super) struct Resumable {
    #[source]
    error: Error,
    command: String,
}

/// A longer command line, such as one of thousands of files, is not repeated.
const MAX_COMMAND_CHARS: usize = 800;

impl Resumable {
    /// The error as it is, unless the run can go on: a bug or a wrong setting would stop it again.
    pub(super) fn of(error: Error, command: &str) -> anyhow::Error {
        match error {
            Error::Halfway(ref inner) if !error.is_bug() && !matches!(inner, EngineError::Setting(_)) => {
                let is_short = command.chars().count() <= MAX_COMMAND_CHARS;
                let command =
                    if is_short { format!("`{command}`") } else { "the same command again".to_owned() };
                Self { error, command }.into()
            }
            error => error.into(),
        }
    }
}

/// Set once the user asks to stop.
pub(super) fn cancelled_by_signal() -> anyhow::Result<Arc<AtomicBool>> {
    let cancel = Arc::new(AtomicBool::new(false));
    let on_signal = Arc::clone(&cancel);
    ctrlc::set_handler(move || on_signal.store(true, Ordering::Relaxed))
        .context("cannot listen for Ctrl-C")?;
    Ok(cancel)
}

/// The console, and Ctrl-C.
pub(super) struct Watching {
    pub(super) console: Console,
    pub(super) cancel: Arc<AtomicBool>,
}

impl Watching {
    /// Returns the console of a command that is cancelled by this flag.
    pub(super) fn new(cancel: Arc<AtomicBool>) -> Self {
        Self { console: Console::new(false), cancel }
    }
}

impl Observer for Watching {
    fn begin(&self, step: &str, rows: Option<u64>) {
        self.console.begin(step, rows);
    }

    fn advance(&self, rows: u64) {
        self.console.advance(rows);
    }

    fn read(&self, bytes: u64, total: u64) {
        self.console.read(bytes, total);
    }

    fn answers(&self, n: u64, of: u64) {
        self.console.answers(n, of);
    }

    fn wait(&self, what: &str) {
        self.console.wait(what);
    }

    fn end(&self, outcome: &str) {
        self.console.end(outcome);
    }

    fn warn(&self, message: &str) {
        self.console.warn(message);
    }

    fn is_cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }
}
