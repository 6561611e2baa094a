//! `callsieve annotate`: solution paths for the instructions of a finished run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::Ending;
use super::arguments::{command_line, threads, use_threads};
use super::model::ModelArgs;
use super::run::{Resumable, Watching, cancelled_by_signal, ending, print_summary, within_cost};
use crate::cli::console::{self, Console, count};
use crate::engine::instance::StageInstance;
use crate::engine::manifest::{RunFile, read_run_file_or_earlier};
use crate::jobs::instruct::{AnnotateOptions, Instruct, n_solved};
use crate::jobs::{Job as _, job_of};
use crate::pipeline::{Override, Pipeline};
use crate::run::{Options, RunReport, prepare};
use crate::stages::annotate::{Annotate, IN_TEXT_NOTE, NO_REPLY};
use crate::stages::judge_solutions::JudgeSolutions;
use crate::stages::yields::{YIELDS_NOTE, Yields};
use crate::stages::{Registry, Settings as _};
use crate::text::figures::counted;
use crate::text::visible::visible_line;

/// Arguments of `annotate`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  callsieve annotate out/repair-shop --model gpt-4.1-mini                           one path for each instruction
  callsieve annotate out/repair-shop --model gpt-4.1-mini --method dfsdt --max-cost 5
  callsieve annotate out/repair-shop --model qwen --set annotate.protocol=schema    a model without tools
  callsieve annotate out/my-apis-instructions --model big --simulator small         functions that nothing executes
  callsieve why out/repair-shop p000042                                             the tree of an instruction

docs/solutions.md describes searches and what is kept, docs/language-models.md the server, its cache and its cost.")]
pub(super) struct AnnotateArgs {
    /// Run folder of instructions. The attempts are added to it; its other steps are not done again.
    run: PathBuf,

    /// Language model that does the instructions, as its server names it.
    #[arg(long, value_name = "MODEL")]
    model: String,

    /// The environment that executes the calls [default: that of the run]
    #[arg(long, value_name = "FILE")]
    environment: Option<PathBuf>,

    /// Language model that stands in for functions that cannot be executed; its results are marked as simulated.
    #[arg(long, value_name = "MODEL")]
    simulator: Option<String>,

    /// How a search goes on after a path without an answer: one path, further paths, or a depth-first tree.
    #[arg(long, value_name = "METHOD", value_parser = ["react", "react-at-n", "dfsdt"])]
    method: Option<String>,

    /// Attempts at each instruction; their share that passes is its pass rate.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    attempts: Option<u32>,

    #[command(flatten)]
    asking: ModelArgs,

    /// Changes a setting, such as annotate.depth=8. May be repeated.
    #[arg(long, value_name = "ID.KEY=VALUE")]
    set: Vec<Override>,

    /// Number of threads, up to 1024 [default: one per core]
    #[arg(long, value_name = "N", value_parser = threads())]
    threads: Option<u16>,

    /// Prints warnings and errors only.
    #[arg(long, short)]
    quiet: bool,
}

pub(super) fn annotate(args: &AnnotateArgs, registry: &Registry) -> anyhow::Result<Ending> {
    use_threads(args.threads)?;
    let pipeline = args.options().pipeline(&args.run, &pipeline_of(&args.run)?, registry)?;
    let judges: Vec<String> = pipeline.stages.iter().filter_map(judges_of).flatten().collect();
    if !judges.is_empty() && !args.quiet {
        let judges = visible_line(&judges.join(", ")).into_owned();
        console::print_status(&format!(
            "the paths are judged as before, by {judges} (judge-solutions.models)"
        ));
    }
    let (run, ending) = added_to(&pipeline, Annotate::NAME, &args.run, &args.asking, args.quiet)?;
    let counts = Counts::of(&run);
    if !args.quiet {
        console::print_data(&counts.solved(&args.run)?)?;
    }
    if counts.in_text > 0 && !args.quiet {
        console::print_status(&format!(
            "{} in texts without a call of Finish; --set annotate.text_answers=true takes such a text as the answer",
            counted(counts.in_text, "attempt ended", "attempts ended")
        ));
    }
    // The set is whole, and not all of it was tried.
    if counts.without_reply > 0 && matches!(ending, Ending::Done) {
        console::print_status(&format!(
            "{} no attempt, because a request has no reply; the same command asks for what is missing",
            counted(counts.without_reply, "instruction has", "instructions have")
        ));
        return Ok(match within_cost(ending, &run, &args.asking) {
            Ending::Done => Ending::GateFailed,
            other => other,
        });
    }
    Ok(within_cost(ending, &run, &args.asking))
}

/// The language models that a stage has for judges; `None` of other stages.
fn judges_of(instance: &StageInstance) -> Option<Vec<String>> {
    let models = (instance.kind == JudgeSolutions::NAME).then(|| &instance.settings["models"])?.as_array()?;
    Some(models.iter().filter_map(|model| model.as_str().map(str::to_owned)).collect())
}

/// What the stage counted.
#[derive(Default)]
struct Counts {
    tried: u64,
    without_reply: u64,
    /// Attempts without an answer, because the model wrote texts only.
    in_text: u64,
}

impl Counts {
    fn of(run: &RunReport) -> Self {
        let yields = run.report.notes.get(Annotate::NAME).and_then(|notes| notes.get(YIELDS_NOTE));
        let yields = yields.and_then(|yields| serde_json::from_value::<Yields>(yields.clone()).ok());
        let outcomes =
            yields.iter().flat_map(|Yields(strata)| strata.values().flat_map(BTreeMap::values)).flatten();
        let in_text =
            run.report.notes.get(Annotate::NAME).and_then(|notes| notes.get(IN_TEXT_NOTE)?.as_u64());
        let mut counts = Self { in_text: in_text.unwrap_or_default(), ..Self::default() };
        for (outcome, n) in outcomes {
            if outcome == NO_REPLY.code {
                counts.without_reply += n;
            } else {
                counts.tried += n;
            }
        }
        counts
    }

    /// How many of the instructions that were tried have an attempt that passes, with the checks after it.
    fn solved(&self, folder: &Path) -> anyhow::Result<String> {
        let (solved, tried) = (count(n_solved(folder)?.0), count(self.tried));
        Ok(format!("solved    {solved} of {tried} instructions that were tried\n"))
    }
}

/// How a run of instructions was started.
///
/// # Errors
/// There is no run, or it makes no instructions.
pub(super) fn pipeline_of(run: &Path) -> anyhow::Result<RunFile> {
    let file = read_run_file_or_earlier(run)?;
    anyhow::ensure!(
        job_of(&file.pipeline).name() == Instruct.name(),
        "{}: the run makes no instructions\nhint: `callsieve generate` makes them; docs/solutions.md describes the steps",
        run.display()
    );
    let made_of =
        ["environment", "collection"].into_iter().filter_map(|key| file.pipeline["ingest"][key].as_str());
    for path in made_of.filter(|path| !path.is_empty()) {
        anyhow::ensure!(
            Path::new(path).exists(),
            "{path}: the run was made over it, and it is not there\nhint: a relative path is that of the folder in which the run was started; run the command there"
        );
    }
    Ok(file)
}

/// Runs a pipeline that adds stages to a run, from the first of a kind on; those before are not done again.
///
/// # Errors
/// As of a run.
pub(super) fn added_to(
    pipeline: &Pipeline,
    added: &str,
    run: &Path,
    asking: &ModelArgs,
    is_quiet: bool,
) -> anyhow::Result<(RunReport, Ending)> {
    let n_before = pipeline.stages.iter().take_while(|stage| stage.kind != added).count();
    let options = Options::default().adds_after(n_before).command(command_line()).model(asking.options()?);
    let prepared = prepare(pipeline, run, &options)?;
    let watching = Watching { console: Console::new(is_quiet), cancel: cancelled_by_signal()? };
    let run = prepared.execute(&watching).map_err(|error| Resumable::of(error, &options.resume_command()))?;
    if !is_quiet {
        print_summary(&run, None)?;
    }
    let ending = ending(&run.outcome);
    Ok((run, ending))
}

impl AnnotateArgs {
    fn options(&self) -> AnnotateOptions {
        AnnotateOptions {
            model: self.model.clone(),
            environment: self.environment.clone(),
            simulator: self.simulator.clone(),
            method: self.method.clone(),
            attempts: self.attempts,
            settings: self.set.clone(),
        }
    }
}
