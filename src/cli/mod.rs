//! The command line: one file per subcommand.
//!
//! Data goes to standard output, messages go to standard error. Exit codes: 0 done; 1 done,
//! but a gate failed; 2 could not start; 3 stopped before the end or could not print its
//! output, safe to run again; 4 done, but with fewer instructions than wanted; 70 internal error; 130 interrupted. If a reader closes the pipe
//! early, the results until then set the code.

// Doc comments of arguments are help texts for the terminal.
#![allow(rustdoc::invalid_html_tags)]

mod annotate;
mod apibench;
mod arguments;
mod audit;
mod audit_bench;
mod audit_scores;
mod batch;
mod calibrate;
mod check;
mod collect;
mod compare;
pub mod console;
mod deciders;
mod diff;
mod evaluate;
mod explain;
mod fix;
mod forget;
mod funnel;
mod generate;
mod held;
mod init;
mod inspect;
mod judge;
mod layout;
mod model;
mod pairs;
mod parts;
mod plan;
mod probe;
mod progress_lines;
mod project;
mod purge;
mod push;
mod report;
mod retrieve;
mod review;
mod run;
mod sets;
mod stages;
mod verify;
mod why;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::{CommandFactory, Parser, Subcommand};

use self::project::Project;
use crate::environment::{Environment, former_variable};
use crate::pipeline::{Override, json_schema};
use crate::run::Error;
use crate::stages::Registry;
use crate::text::short::shortened;
use crate::text::visible::visible_line;

/// Done, but a gate failed.
const GATE_FAILED: u8 = 1;
/// Could not start.
const NOT_STARTED: u8 = 2;
/// Stopped before the end, or the output could not be printed; safe to run again.
const STOPPED: u8 = 3;
/// Done, but with fewer instructions than are wanted.
const TOO_FEW: u8 = 4;
/// Internal error.
const BUG: u8 = 70;
/// Interrupted.
const INTERRUPTED: u8 = 130;

/// Turns logs of function-calling requests into clean evaluation datasets, and records what happened to each row.
#[derive(Debug, Parser)]
#[command(
    name = "callsieve",
    version,
    max_term_width = 100,
    after_help = "Exit codes: 0 done; 1 done, but a gate failed; 2 could not start; 3 stopped before the end or could not print its output, safe to run again; 4 done, but with fewer instructions than wanted; 70 internal error (please report it); 130 interrupted.\n\nExamples:\n  callsieve inspect mylog.jsonl    what a log contains\n  callsieve run mylog.jsonl        a dataset from the log, in out/mylog\n  callsieve why out/mylog r0042    what happened to one row"
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Shows what a log contains, from a sample of its lines; writes nothing.
    Inspect(inspect::InspectArgs),
    /// Writes a pipeline file with comments, fitted to a log.
    Init(init::InitArgs),
    /// Makes a dataset from logs and prints the funnel: how many rows each step kept.
    Run(run::RunArgs),
    /// Joins what several processes did of a run with `--part`, and runs it to the end.
    Merge(parts::MergeArgs),
    /// Reads the tools of API collections and MCP servers, and gives them legal names.
    Collect(collect::CollectArgs),
    /// Calls the functions of an API collection on hosts that you allow, and records the answers.
    Probe(probe::ProbeArgs),
    /// Finds the functions of an API collection that fit a request, and measures how well that works.
    Retrieve(retrieve::RetrieveArgs),
    /// Makes instructions over an environment by executing programs; needs no language model.
    Generate(generate::GenerateArgs),
    /// Has a language model do the instructions of a run by calls, and keeps its solution paths.
    Annotate(annotate::AnnotateArgs),
    /// Has language models judge the solution paths of a run, and measures the judges by execution.
    Judge(judge::JudgeArgs),
    /// Checks a pipeline without reading the logs: stages, columns, files, settings.
    Plan(plan::PlanArgs),
    /// Submits or writes requests to a language model as batches, and reads the answers.
    Batch(batch::BatchArgs),
    /// Shows, prunes or exports the stored replies of language models.
    Cache(model::CacheArgs),
    /// Shows what happened to one row, from its line in the log to the dataset.
    Why(why::WhyArgs),
    /// Prints the results of a finished run: funnel, JSON, dataset card or HTML page.
    Report(report::ReportArgs),
    /// Converts function docs in any format to the BFCL schema; needs no run.
    Fix(fix::FixArgs),
    /// Shows the edits of a run, before and after.
    Diff(diff::DiffArgs),
    /// Lists held rows, or unverified entries, for people to decide on.
    Held(held::HeldArgs),
    /// Shows held rows and unverified entries on a local page, for people to decide on.
    Review(review::ReviewArgs),
    /// Publishes the dataset of a finished run on the Hugging Face hub, in a private repository.
    Push(push::PushArgs),
    /// Replaces the raw text in a finished run with its redacted form.
    Purge(purge::PurgeArgs),
    /// Removes a record from all files of a finished run.
    Forget(forget::ForgetArgs),
    /// Checks the files of a run folder against their checksums.
    Verify(verify::VerifyArgs),
    /// Checks functions or a dataset against the rules of BFCL; prints one finding per line.
    Check(check::CheckArgs),
    /// Scores the outputs of models on a dataset as BFCL does.
    Evaluate(evaluate::EvaluateArgs),
    /// Scores calls of APIs that models write for the three hubs of the benchmark of Gorilla.
    Apibench(apibench::ApibenchArgs),
    /// Finds the rows of training sets that overlap a benchmark, and writes the sets without them.
    Audit(Box<audit::AuditArgs>),
    /// Finds all near-duplicate pairs within one file or between two.
    Pairs(pairs::PairsArgs),
    /// Compares two finished runs: settings, inputs, counts, rows, entries.
    Compare(compare::CompareArgs),
    /// Lists the kinds of stages with their columns, reasons and settings.
    Stages(stages::StagesArgs),
    /// Lists the public sets that logs are compared with, and adds or removes their files.
    Sets(sets::SetsArgs),
    /// Explains a reason code, with an example that it applies to and one that it does not.
    Explain(explain::ExplainArgs),
    /// Fits the weights of judge-queries on labelled requests and measures them.
    Calibrate(calibrate::CalibrateArgs),
    /// Prints the JSON Schema of pipeline files.
    Schema,
    /// Writes the manual pages of all commands into a folder, or prints one for `man -l -`.
    Man {
        /// Folder of the pages, such as ~/.local/share/man/man1.
        folder: Option<PathBuf>,
    },
    /// Prints a completion script for a shell.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
}

/// Arguments that `run` and `plan` share.
#[derive(Debug, clap::Args)]
struct PipelineArgs {
    /// Logs to read: files, folders, patterns, `-` for standard input. A path that ends in .toml is the pipeline
    /// [default: the sample log in raw/, by the built-in live recipe]
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// Logs to read, like PATH. Both replace the inputs that the pipeline names.
    #[arg(long, value_name = "PATH", num_args = 1..)]
    input: Vec<PathBuf>,

    /// Drops requests that are in an earlier dataset: a run folder, or a folder of BFCL files.
    #[arg(long, value_name = "RUN")]
    baseline: Option<PathBuf>,

    /// Writes the entries of the baseline unchanged before the new ones.
    #[arg(long)]
    freeze: bool,

    /// File with decisions of people, which override the stages: a file of `callsieve held` (CSV, JSON lines or Parquet) with
    /// the column `decision` filled in. May be repeated; the decisions of all files apply.
    #[arg(long, value_name = "FILE")]
    decisions: Vec<PathBuf>,

    /// Changes a setting, such as merge-near-docs.threshold=0.7 or seed=2. May be repeated; `callsieve stages` lists all settings.
    #[arg(long, value_name = "ID.KEY=VALUE")]
    set: Vec<Override>,
}

/// The result of a command that did not fail.
enum Ending {
    Done,
    GateFailed,
    /// The candidates ran out before as many instructions were exported as are wanted.
    TooFew,
    /// The limit of cost was reached, so that requests to language models were not sent; what they would decide is held.
    OverCost,
    /// The arguments are invalid; the message is printed.
    NotStarted,
}

impl Ending {
    /// Returns the result of a command after its output is printed, also if the reader closed the pipe.
    fn after(self, printed: io::Result<()>) -> io::Result<Self> {
        match printed {
            Err(error) if !console::is_closed(&error) => Err(error),
            _ => Ok(self),
        }
    }
}

const PLEASE_REPORT: &str = "internal error in callsieve; please report it with the lines above";

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    ExitCode::from(main_of(std::env::args_os().collect(), supervisor()))
}

/// Runs a command line in a process that another program started, and returns its exit code; call it once a process.
/// `supervisor` is the command line that runs the hidden command `supervise` in that program.
pub fn main_of(arguments: Vec<OsString>, supervisor: Vec<OsString>) -> u8 {
    console::report_panics();
    #[cfg(unix)]
    if arguments.get(1).is_some_and(|argument| argument == SUPERVISE) {
        // Before anything starts a thread: a process with several cannot enter a namespace.
        return callsieve_environment::supervise::main(arguments.into_iter().skip(2));
    }
    let ended = std::panic::catch_unwind(|| {
        let project = match std::env::current_dir() {
            Ok(folder) => Project::near(&folder, &Cli::command)?,
            // A folder that was removed has no project.
            Err(_) => Project::default(),
        };
        let (arguments, added) = project.with_defaults(&arguments, &Cli::command)?;
        arguments::set_command_line(&arguments);
        match Cli::try_parse_from(&arguments) {
            Ok(cli) => run_command(cli.command, supervisor, &project),
            Err(error) => {
                let is_wrong = error.use_stderr();
                let ended = usage(&arguments, error)?;
                if let Some(note) = project.note(&added).filter(|_| is_wrong) {
                    console::print_status(&note);
                }
                Ok(ended)
            }
        }
    });
    // The panic hook has printed the place already.
    let Ok(ended) = ended else {
        console::print_status(PLEASE_REPORT);
        return BUG;
    };
    match ended {
        Ok(Ending::Done) => 0,
        Ok(Ending::GateFailed) => GATE_FAILED,
        Ok(Ending::TooFew) => TOO_FEW,
        Ok(Ending::OverCost) => STOPPED,
        Ok(Ending::NotStarted) => NOT_STARTED,
        Err(error) if of_standard_output(&error).is_some_and(console::is_closed) => 0,
        Err(error) => {
            console::print_status(&format!("error: {}", message(&error)));
            let code = exit_code(&error);
            if code == BUG {
                console::print_status(PLEASE_REPORT);
            }
            code
        }
    }
}

/// The most characters of an argument that an error about the arguments quotes.
const MOST_QUOTED: usize = 300;

/// Prints help, or the error in the arguments.
fn usage(arguments: &[OsString], error: clap::Error) -> anyhow::Result<Ending> {
    // The parser quotes arguments between its colours, so it is given them with control characters made visible.
    let shown: Vec<OsString> = arguments
        .iter()
        .map(|argument| shortened(&visible_line(&argument.to_string_lossy()), MOST_QUOTED).into())
        .collect();
    let error = if shown == arguments { error } else { Cli::try_parse_from(shown).err().unwrap_or(error) };
    console::write_usage(&error.render().ansi().to_string(), error.use_stderr())?;
    Ok(if error.use_stderr() { Ending::NotStarted } else { Ending::Done })
}

/// Returns the message of an error with its causes, then their hints. Many messages contain their cause already.
fn message(error: &anyhow::Error) -> String {
    let (mut text, mut hints) = (String::new(), String::new());
    for cause in error.chain().map(ToString::to_string) {
        let (what, hint) = cause.split_at(cause.find("\nhint: ").unwrap_or(cause.len()));
        if !text.contains(what) {
            text += if text.is_empty() { "" } else { ": " };
            text += what;
        }
        if !hints.contains(hint) {
            hints += hint;
        }
    }
    text + &hints
}

fn run_command(command: Command, supervisor: Vec<OsString>, project: &Project) -> anyhow::Result<Ending> {
    if let Some(what) = former_variable(|name| std::env::var_os(name)) {
        anyhow::bail!("{what}");
    }
    let variable = |name: &str| std::env::var_os(name).or_else(|| project.variable(name));
    let environment = Environment::read(variable).with_supervisor(supervisor);
    let registry = &Registry::standard().in_environment(environment);
    match command {
        Command::Inspect(args) => return inspect::inspect(&args, registry),
        Command::Init(args) => init::init(&args, registry)?,
        Command::Run(args) => return run::run(args, registry),
        Command::Merge(args) => return parts::merge(&args, registry),
        Command::Plan(args) => plan::plan(&args, registry)?,
        Command::Batch(args) => return batch::batch(args, registry),
        Command::Cache(args) => model::cache(&args, registry.environment())?,
        Command::Why(args) => why::why(&args, registry)?,
        Command::Report(args) => report::report(&args, registry)?,
        Command::Fix(args) => return fix::fix(&args),
        Command::Diff(args) => diff::diff(&args, registry)?,
        Command::Held(args) => held::held(args, registry)?,
        Command::Review(args) => review::review(&args, registry)?,
        Command::Push(args) => push::push(args, registry)?,
        Command::Purge(args) => purge::purge(&args, registry)?,
        Command::Forget(args) => forget::forget(&args, registry)?,
        Command::Verify(args) => return verify::verify(&args),
        Command::Check(args) => return check::check(&args),
        Command::Evaluate(args) => return evaluate::evaluate(&args, registry.environment()),
        Command::Apibench(args) => return apibench::apibench(&args),
        Command::Audit(args) => return audit::audit(*args, registry),
        Command::Collect(args) => return collect::collect(&args, registry),
        Command::Probe(args) => return probe::probe(&args),
        Command::Retrieve(args) => return retrieve::retrieve(&args, registry.environment()),
        Command::Generate(args) => return generate::generate(&args, registry),
        Command::Annotate(args) => return annotate::annotate(&args, registry),
        Command::Judge(args) => return judge::judge(&args, registry),
        Command::Pairs(args) => return pairs::pairs(&args, registry),
        Command::Compare(args) => return compare::compare(&args),
        Command::Stages(args) => stages::stages(&args, registry)?,
        Command::Sets(args) => sets::sets(args, registry)?,
        Command::Explain(args) => explain::explain(&args, registry)?,
        Command::Calibrate(args) => calibrate::calibrate(&args, registry)?,
        Command::Schema => console::write_json(&format!("{:#}\n", json_schema(registry)))?,
        Command::Man { folder } => manual(folder.as_deref())?,
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "callsieve", &mut script);
            console::print_data(&String::from_utf8_lossy(&script))?;
        }
    }
    Ok(Ending::Done)
}

/// Writes the manual pages into a folder, or prints that of the program.
fn manual(folder: Option<&Path>) -> anyhow::Result<()> {
    let command = Cli::command();
    let Some(folder) = folder else {
        let mut page = Vec::new();
        clap_mangen::Man::new(command).render(&mut page).context("writing the manual page")?;
        return Ok(console::print_data(&String::from_utf8_lossy(&page))?);
    };
    std::fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
    clap_mangen::generate_to(command, folder)
        .with_context(|| format!("writing manual pages into {}", folder.display()))?;
    let first = folder.join("callsieve.1");
    Ok(console::print_data(&format!(
        "pages     {} and one for each command\nread      man -l {}\n",
        first.display(),
        first.display()
    ))?)
}

/// The hidden command by which this program supervises processes.
const SUPERVISE: &str = "supervise";

/// The command line of the supervisor; none if the path of this program is not known.
fn supervisor() -> Vec<OsString> {
    std::env::current_exe()
        .map_or_else(|_| Vec::new(), |program| vec![program.into_os_string(), SUPERVISE.into()])
}

fn exit_code(error: &anyhow::Error) -> u8 {
    match error.downcast_ref() {
        Some(evaluate::Unfinished::Interrupted(_)) => return INTERRUPTED,
        Some(evaluate::Unfinished::Missing(_)) => return STOPPED,
        None => {}
    }
    match error.chain().find_map(|cause| cause.downcast_ref::<Error>()) {
        Some(error) if error.is_cancelled() => INTERRUPTED,
        Some(Error::Halfway(cause)) if cause.is_bug() => BUG,
        Some(Error::NoRequest(_)) => GATE_FAILED,
        Some(Error::Halfway(_)) => STOPPED,
        _ if of_standard_output(error).is_some() => STOPPED,
        _ => NOT_STARTED,
    }
}

/// Returns the cause that standard output cannot be written, if there is one.
fn of_standard_output(error: &anyhow::Error) -> Option<&io::Error> {
    error.chain().filter_map(|cause| cause.downcast_ref()).find(|cause| console::is_unprinted(cause))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::error::Error;
    use crate::run::Error::Halfway;

    #[test]
    fn a_cause_is_shown_once_and_hints_come_last() {
        let file = Error::File { doing: "reading", path: "a".into(), cause: cause() };
        assert_eq!(message(&file.into()), "reading a: disk on fire");
        let inner = anyhow::anyhow!("b is broken\nhint: repair it");
        assert_eq!(message(&inner.context("opening c")), "opening c: b is broken\nhint: repair it");
        let read = crate::ingest::read::ReadError::Open { path: "d".into(), cause: cause() };
        assert_eq!(message(&read.into()), "d: cannot be opened: disk on fire");
        let plain: io::Result<()> = Err(cause());
        assert_eq!(message(&plain.context("reading e").unwrap_err()), "reading e: disk on fire");
    }

    #[test]
    fn every_internal_error_of_a_run_exits_with_70() {
        // The tests of the engine's guards check that each of them gives one of these.
        let (at, what) = ("split".to_owned(), "1 row is lost".to_owned());
        for error in [
            Error::Verdict { stage: at.clone(), what: what.clone() },
            Error::Conservation { at, what: what.clone() },
            Error::Panic(what),
        ] {
            assert!(error.is_bug());
            assert_eq!(exit_code(&Halfway(error).into()), BUG);
        }
    }

    #[test]
    fn errors_of_the_world_exit_with_other_codes() {
        let full = || Error::File { doing: "writing", path: "a".into(), cause: cause() };
        assert_eq!(exit_code(&Halfway(full()).into()), STOPPED);
        let damaged = crate::engine::error::damaged("a".as_ref(), "half of it is gone");
        assert_eq!(exit_code(&Halfway(damaged).into()), STOPPED);
        assert_eq!(exit_code(&Halfway(Error::Interrupted).into()), INTERRUPTED);
        assert_eq!(exit_code(&full().into()), NOT_STARTED, "before the run began");
    }

    fn cause() -> io::Error {
        io::Error::other("disk on fire")
    }
}
