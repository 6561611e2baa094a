//! `--part` of `run`, `audit` and `generate`, and `callsieve merge`: one run by several processes.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use clap::Parser as _;

use super::arguments::{command_line, threads};
use super::run::{Resumable, Watching, cancelled_by_signal};
use super::{Cli, Command, Ending};
use crate::cli::console::{self, Console};
use crate::pipeline::Pipeline;
use crate::run::{Options, PartDone, PartsCommand, RunPart, execute_part, parts_command, prepare, quoted};
use crate::stages::Registry;
use crate::text::visible::visible_line;

/// Which part of a run a call does.
#[derive(Debug, Default, clap::Args)]
pub(super) struct PartsArgs {
    /// Does part I of N of the next step, beside other processes that do the other parts; then `callsieve merge` joins them.
    #[arg(long, value_name = "I/N")]
    part: Option<RunPart>,

    /// Set by `callsieve merge`.
    #[arg(skip)]
    merging: Option<Merging>,
}

/// How parts are joined.
#[derive(Debug, Clone)]
struct Merging {
    /// The run folder.
    out: PathBuf,
    until: Option<String>,
    /// The command line of the parts.
    command: Vec<String>,
}

impl PartsArgs {
    /// The run folder: the one whose parts are joined, else `out`.
    pub(super) fn out(&self, out: PathBuf) -> PathBuf {
        self.merging.as_ref().map_or(out, |merging| merging.out.clone())
    }

    /// Whether parts are joined.
    pub(super) fn joins(&self) -> bool {
        self.merging.is_some()
    }

    /// The command line that the run records: that of its parts, else that of this process.
    pub(super) fn command(&self) -> Vec<String> {
        self.merging.as_ref().map_or_else(|| command_line().collect(), |merging| merging.command.clone())
    }

    /// The command line that continues the run after it was stopped.
    pub(super) fn resume(&self, options: &Options) -> String {
        match &self.merging {
            Some(merging) => format!("callsieve merge {}", quoted(&merging.out.display().to_string())),
            None => options.resume_command(),
        }
    }

    /// Does a part of the run, or joins parts and stops before a stage; `None` if the run is to be done to its end.
    pub(super) fn done(
        &self,
        pipeline: &Pipeline,
        out: &Path,
        options: &Options,
        quiet: bool,
    ) -> anyhow::Result<Option<Ending>> {
        let until = self.merging.as_ref().and_then(|merging| merging.until.as_deref());
        if self.part.is_none() && until.is_none() {
            return Ok(None);
        }
        let run = quoted(&out.display().to_string());
        let resume = |error| Resumable::of(error, &self.resume(options));
        let said = if let Some(stage) = until {
            let prepared = prepare(pipeline, out, options)?;
            let watching = Watching { console: Console::new(quiet), cancel: cancelled_by_signal()? };
            prepared.execute_until(stage, &watching).map_err(resume)?;
            format!(
                "run       {run}: all stages before {stage} are done\nnext      the command of the parts again, with --part 1/N to N/N: they judge the rows of {stage}\nthen      `callsieve merge {run}`\n"
            )
        } else if let Some(part) = self.part {
            let watching = Watching { console: Console::new(quiet), cancel: cancelled_by_signal()? };
            let done = execute_part(pipeline, out, part, options, &watching).map_err(resume)?;
            said_of(part, &done, &run)
        } else {
            String::new()
        };
        if !quiet {
            console::print_data(&said)?;
        }
        Ok(Some(Ending::Done))
    }
}

/// What a process did, and what comes next.
fn said_of(part: RunPart, done: &PartDone, run: &str) -> String {
    let merge = format!("`callsieve merge {run}`");
    match done {
        PartDone::Done { step, .. } => {
            format!("part      {part} of {step}, in {run}\nnext      {merge}, when all parts are done\n")
        }
        PartDone::AsBefore(step) => {
            format!(
                "part      {part} of {step} was done before, in {run}\nnext      {merge}, when all parts are done\n"
            )
        }
        PartDone::Undivided { step, why } => {
            format!("part      none: {step} is not divided, because {why}\nnext      {merge}\n")
        }
        PartDone::Finished => format!("part      none: all stages are done, in {run}\nnext      {merge}\n"),
    }
}

/// Arguments of `merge`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The options are those of the parts. The results are the same bytes as those of one process.

Examples:
  callsieve run logs/ --out out/march --part 1/2      the first of two processes
  callsieve run logs/ --out out/march --part 2/2      the second, at the same time or later
  callsieve merge out/march                           when both are done

In three rounds, so that the rows of a slow stage are judged in parts, too:
  callsieve audit --train sft/ --bench bfcl --out out/sft --part 1/2      and 2/2
  callsieve merge out/sft --until drop-benchmark-overlap
  callsieve audit --train sft/ --bench bfcl --out out/sft --part 1/2      and 2/2
  callsieve merge out/sft"
)]
pub(super) struct MergeArgs {
    /// Run folder.
    run: PathBuf,

    /// Stops before this stage, so that processes with --part can judge its rows.
    #[arg(long, value_name = "STAGE")]
    until: Option<String>,

    /// Number of threads, up to 1024 [default: as the parts]
    #[arg(long, value_name = "N", value_parser = threads())]
    threads: Option<u16>,

    /// Prints warnings and errors only.
    #[arg(long, short)]
    quiet: bool,
}

pub(super) fn merge(args: &MergeArgs, registry: &Registry) -> anyhow::Result<Ending> {
    let Some(PartsCommand { arguments, folder }) = parts_command(&args.run)? else {
        let run = visible_line(&args.run.display().to_string()).into_owned();
        console::print_data(&format!("run       {run} is finished: there are no parts to join\n"))?;
        return Ok(Ending::Done);
    };
    let run = in_folder(&args.run, &folder)?;
    let shown = arguments.join(" ");
    let cli = match Cli::try_parse_from(&arguments) {
        Ok(cli) => cli,
        Err(error) => bail!(
            "the command line of the parts cannot be read: `{}`: {}\nhint: join them with the build that did them",
            visible_line(&shown),
            visible_line(error.to_string().lines().next().unwrap_or_default())
        ),
    };
    let merging = Merging { out: run, until: args.until.clone(), command: arguments };
    let parts = PartsArgs { part: None, merging: Some(merging) };
    match cli.command {
        Command::Run(of_parts) => {
            super::run::run(of_parts.merging(parts, args.threads, args.quiet), registry)
        }
        Command::Audit(of_parts) => {
            super::audit::audit(of_parts.merging(parts, args.threads, args.quiet), registry)
        }
        Command::Generate(of_parts) => {
            super::generate::generate(&of_parts.merging(parts, args.threads, args.quiet), registry)
        }
        _ => bail!("the command line of the parts is of no run: `{}`", visible_line(&shown)),
    }
}

/// Goes to the working folder of the parts, where the relative paths of their command line begin. Returns the path of the run from there.
fn in_folder(run: &Path, folder: &Path) -> anyhow::Result<PathBuf> {
    let now = std::env::current_dir().context("looking for the working folder")?;
    if now == folder {
        return Ok(run.to_owned());
    }
    let absolute = std::path::absolute(run).context("looking for the run folder")?;
    std::env::set_current_dir(folder).with_context(|| {
        format!(
            "{}: the working folder of the parts cannot be entered\nhint: relative paths of their command line begin there",
            folder.display()
        )
    })?;
    Ok(absolute)
}
