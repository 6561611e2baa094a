//! `callsieve probe`: calls of the functions of a collection, recorded.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;

use anyhow::{anyhow, bail};

use super::Ending;
use super::arguments::command_line;
use super::run::{Resumable, cancelled_by_signal};
use crate::cli::console::{self, Console, Paint, Painted, Screen};
use crate::cli::layout::{Column, Table};
use crate::collection::probe::Verdict;
use crate::engine::error::Error as EngineError;
use crate::jobs::probe::{
    AllowedHost, FunctionOutcome, Method, ProbeOptions, ProbeReport, ProbedFunction, RecordedCall,
    SecretHeader, prepare, preview,
};
use crate::run::{Error, Observer as _, Options};
use crate::text::figures::{count, counted};
use crate::text::visible::visible_line;

/// Arguments of `probe`.
#[derive(Debug, clap::Args)]
#[allow(clippy::struct_excessive_bools)] // Each is a flag.
#[command(after_help = "Examples:
  callsieve probe out/collection --allow api.example.com --dry-run    what would be called
  callsieve probe out/collection --allow api.example.com    GET requests, in out/collection-calls
  callsieve probe out/harbour --allow 127.0.0.1:8080 --header 'X-Api-Key: ENV:HARBOUR_KEY'
  callsieve generate out/collection-calls/recorded.toml     instructions over recorded calls

Parameters have the examples, defaults and listed values of the collection. After Ctrl-C the same command continues. Answers are data of the servers and are not redacted; docs/collections.md describes the files.")]
pub(super) struct ProbeArgs {
    /// The run folder of a collection, of `callsieve collect`.
    #[arg(value_name = "RUN")]
    run: PathBuf,

    /// Host that may be called, such as api.example.com, or 127.0.0.1:8080 for one port. May be repeated; also separated by
    /// commas. No other host is called, not even after a redirect.
    #[arg(long, value_name = "HOST", required = true, value_delimiter = ',')]
    allow: Vec<AllowedHost>,

    /// Methods that may be called, separated by commas. GET and HEAD only read; name others only if your API may be changed.
    #[arg(long, value_name = "METHOD", value_delimiter = ',', default_value = "GET")]
    methods: Vec<Method>,

    /// Header of every request, with a secret from an environment variable, as in the examples. May be repeated. It is sent to
    /// all hosts that are allowed, and is in no file.
    #[arg(long, value_name = "NAME: ENV:VARIABLE")]
    header: Vec<String>,

    /// The most requests in a second (0.01 to 1000)
    #[arg(long, value_name = "N", default_value_t = ProbeOptions::PER_SECOND, value_parser = rate)]
    rate: f64,

    /// The longest time of a request in seconds (0.1 to 600)
    #[arg(long, value_name = "SECONDS", default_value_t = ProbeOptions::TIMEOUT_SECONDS, value_parser = timeout)]
    timeout: f64,

    /// The most bytes of a body; a larger one is not recorded (1 to 64 MiB)
    #[arg(long, value_name = "BYTES", default_value_t = ProbeOptions::MAX_BYTES as u64, value_parser = clap::value_parser!(u64).range(1..=64 << 20))]
    max_bytes: u64,

    /// The most calls of this command; the next one continues.
    #[arg(long, value_name = "N", default_value_t = ProbeOptions::MAX_CALLS as u64, value_parser = clap::value_parser!(u64).range(1..))]
    max_calls: u64,

    /// Folder of the recorded calls [default: RUN-calls]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Lists what would be called, and sends and writes nothing.
    #[arg(long)]
    dry_run: bool,

    /// Calls again what had no answer, or an answer with the status 429 or 5xx.
    #[arg(long, conflicts_with = "fresh")]
    retry: bool,

    /// Removes the recorded calls of the folder first.
    #[arg(long)]
    fresh: bool,

    /// Prints warnings and errors only.
    #[arg(long, short)]
    quiet: bool,
}

fn rate(text: &str) -> Result<f64, String> {
    within(text, 0.01, 1_000.0)
}

fn timeout(text: &str) -> Result<f64, String> {
    within(text, 0.1, 600.0)
}

fn within(text: &str, least: f64, most: f64) -> Result<f64, String> {
    let number: Option<f64> = text.parse().ok().filter(|number| (least..=most).contains(number));
    number.ok_or_else(|| format!("expected a number from {least} to {most}"))
}

pub(super) fn probe(args: &ProbeArgs) -> anyhow::Result<Ending> {
    let options = args.options()?;
    if args.dry_run {
        let listed = preview(&options)?;
        console::print_painted(&planned(&listed, Screen::of_stdout()))?;
        return Ok(Ending::Done);
    }
    let prepared = prepare(&options)?;
    // Until here signals end the program: nothing is sent yet.
    let cancel = cancelled_by_signal()?;
    let stopped = |error| {
        let command = Options::default().command(command_line()).resume_command();
        Resumable::of(Error::Halfway(error), &command)
    };
    let console = Console::new(args.quiet);
    console.begin("probe", None);
    let each = |_: &ProbedFunction| console.advance(1);
    let report = prepared.execute(&each, &|| cancel.load(Ordering::Relaxed)).map_err(stopped)?;
    console.end(&counted(report.calls().count() as u64, "call", "calls"));
    if !args.quiet {
        console::print_painted(&summary(&report, Screen::of_stdout()))?;
    }
    if report.is_interrupted {
        return Err(stopped(EngineError::Interrupted));
    }
    if report.calls().any(RecordedCall::is_answered) {
        return Ok(Ending::Done);
    }
    console::print_status("gate failed: no call was answered");
    Ok(Ending::GateFailed)
}

impl ProbeArgs {
    fn options(&self) -> anyhow::Result<ProbeOptions> {
        let out = self.out.clone().unwrap_or_else(|| calls_folder(&self.run));
        let mut options = ProbeOptions::new(self.run.clone(), out, self.allow.clone());
        options.methods = self.methods.iter().copied().collect();
        // A listing needs no secret.
        if !self.dry_run {
            options.headers = self.header.iter().map(|text| header(text)).collect::<anyhow::Result<_>>()?;
        }
        options.limits.per_second = self.rate;
        options.limits.timeout = Duration::from_secs_f64(self.timeout);
        options.limits.max_bytes = usize::try_from(self.max_bytes)?;
        options.max_calls = usize::try_from(self.max_calls)?;
        (options.retry, options.fresh) = (self.retry, self.fresh);
        Ok(options)
    }
}

/// The folder of the calls of a run: beside it, with its name.
fn calls_folder(run: &Path) -> PathBuf {
    let name = run.file_name().map_or_else(|| "collection".into(), |name| name.to_string_lossy());
    run.with_file_name(format!("{name}-calls"))
}

/// Reads `NAME: ENV:VARIABLE`. No message repeats the text: it may be a secret.
fn header(text: &str) -> anyhow::Result<SecretHeader> {
    const HINT: &str = "hint: the secret is in an environment variable, which is named after ENV:, such as 'Authorization: Bearer ENV:MY_TOKEN'";
    let parts = text.split_once(':').and_then(|(name, value)| {
        let (prefix, variable) = value.split_once("ENV:")?;
        Some((name.trim(), prefix.trim_start(), variable.trim()))
    });
    let is_name = |name: &str| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    let Some((name, prefix, variable)) = parts.filter(|(_, _, variable)| is_name(variable)) else {
        bail!("--header: expected 'NAME: ENV:VARIABLE'\n{HINT}");
    };
    let secret = std::env::var(variable).ok().filter(|secret| !secret.trim().is_empty());
    // A name in small letters may be a secret in the wrong place.
    let named = if variable.contains(|c: char| c.is_ascii_lowercase()) { "after ENV:" } else { variable };
    let secret = secret.ok_or_else(|| anyhow!("--header: the environment variable {named} is not set"))?;
    SecretHeader::new(name, prefix, secret.trim()).map_err(|error| anyhow!("--header: {error}"))
}

/// What would be called.
fn planned(functions: &[ProbedFunction], screen: Screen) -> Painted {
    let mut text = listed(functions, "plan", |_| String::new(), screen);
    let n_planned = functions.iter().filter(|function| function.outcome == FunctionOutcome::Planned).count();
    text.add(
        Paint::Plain,
        &format!(
            "\nplan      {} of {}; nothing was sent\n",
            counted(n_planned as u64, "call", "calls"),
            of_functions(functions)
        ),
    );
    text
}

fn of_functions(functions: &[ProbedFunction]) -> String {
    counted(functions.len() as u64, "function", "functions")
}

/// Every function with what became of it, and what was recorded.
fn summary(report: &ProbeReport, screen: Screen) -> Painted {
    let verdict = |function: &ProbedFunction| {
        let key = (function.planned.tool.clone(), function.planned.function.clone());
        match report.verdicts.get(&key) {
            Some(Verdict::RuleHit(code)) => format!(" ({code})"),
            _ => String::new(),
        }
    };
    let mut text = listed(&report.functions, "outcome", verdict, screen);
    let (all, answered) = (report.calls().count(), report.calls().filter(|call| call.is_answered()).count());
    let mut line = |label: &str, what: &str| text.add(Paint::Plain, &format!("{label:<10}{what}\n"));
    line(
        "\ncalls",
        &format!(
            " {} of {}, {} answered",
            count(all as u64),
            of_functions(&report.functions),
            count(answered as u64)
        ),
    );
    let usable = counted(report.n_usable as u64, "call", "calls");
    let environment = visible_line(&report.environment.display().to_string()).into_owned();
    line("recorded", &format!("{usable} in {environment}"));
    if report.n_usable > 0 && !report.is_interrupted {
        line("", &format!("callsieve generate {environment}"));
    }
    text
}

/// A table with a row for every function.
fn listed(
    functions: &[ProbedFunction],
    last: &str,
    note: impl Fn(&ProbedFunction) -> String,
    screen: Screen,
) -> Painted {
    let columns =
        [Column::text("function"), Column::text("method"), Column::wrapped("address"), Column::wrapped(last)];
    let mut table = Table::new(columns);
    for function in functions {
        let outcome = match &function.outcome {
            FunctionOutcome::Called(call) => call.described() + &note(function),
            FunctionOutcome::Recorded(call) => {
                format!("{}{}, recorded earlier", call.described(), note(function))
            }
            FunctionOutcome::Planned => "would be called".to_owned(),
            FunctionOutcome::NotCalled(not) => format!("not called: {}", not.detail),
        };
        let planned = &function.planned;
        let [method, address] =
            [&planned.method, &planned.address].map(|text| text.as_deref().unwrap_or("-"));
        table.row([planned.function.as_str(), method, address, &outcome]);
    }
    table.fitted(screen)
}
