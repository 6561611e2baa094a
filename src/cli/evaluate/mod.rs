//! `callsieve evaluate`: scores the outputs of models as BFCL does.

mod ask;
mod decoding;
mod differences;
mod text;

pub(super) use ask::Unfinished;

use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::ValueEnum;

use super::Ending;
use crate::checker::{Checker, Matching, Mode};
use crate::cli::console::{self, Screen};
use crate::environment::Environment;
use crate::evaluate::dataset::Dataset;
use crate::evaluate::official::{self, Package};
use crate::evaluate::page::page;
use crate::evaluate::{self, Settings, output};
use crate::run::check_output;

/// Arguments of `evaluate`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  callsieve evaluate --dataset bfcl/data --results result/my-model
  callsieve evaluate --dataset out/mylog --results a.jsonl b.jsonl --json
  callsieve evaluate --dataset bfcl/data --compare a.jsonl b.jsonl
  callsieve evaluate --dataset bfcl/data --results result --page scores.html
  callsieve evaluate --dataset out/mylog --ask gpt-4.1-mini --save mini.jsonl

Results: BFCL result files, or folders of them; JSON lines of \"id\" and one of \"text\", \"output\", \"response\", \
\"result\" or \"tool_calls\"; OpenAI batch output. Several outputs of an id are numbered by \"sample\".

Exit codes: 0 scored; 1 the accuracy of a system is less than --min-accuracy; 2 could not start; 3 outputs of --ask are \
missing, those that arrived are kept; 130 interrupted.")]
pub(super) struct EvaluateArgs {
    /// Folder of BFCL question files (V1 to V4) with `possible_answer`, or run folder.
    #[arg(long, value_name = "DIR")]
    dataset: PathBuf,

    /// Result files, or folders of them; each file, or folder of a model, is a system.
    #[arg(long, value_name = "FILE", num_args = 1.., required_unless_present_any = ["compare", "ask"])]
    results: Vec<PathBuf>,

    #[command(flatten)]
    ask: ask::AskArgs,

    /// Shows the entries on which two systems differ, instead of scores.
    #[arg(long, value_names = ["A", "B"], num_args = 2, conflicts_with_all = ["results", "verdicts", "score_dir", "parquet", "min_accuracy"])]
    compare: Vec<PathBuf>,

    /// Writes the verdict on each output as a JSON line; `-` is standard output.
    #[arg(long, value_name = "FILE")]
    verdicts: Option<PathBuf>,

    /// Recorded results of executable calls, as JSON lines; nothing is executed.
    #[arg(long, value_name = "FILE")]
    recorded: Option<PathBuf>,

    /// Expects `_` for `.` in names of functions, for models that cannot write dots; with `=SYSTEM` for that system only, can
    /// be repeated.
    #[arg(long, value_name = "SYSTEM", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    underscore_to_dot: Vec<String>,

    #[command(flatten)]
    decoding: decoding::DecodingArgs,

    /// Rules of the verdicts: those of the official code, or those of its documentation.
    #[arg(long, value_enum, default_value_t = Rules::Official)]
    mode: Rules,

    /// Assignment of outputs to the calls of a parallel entry.
    #[arg(long, value_enum, default_value_t = Assignment::Greedy)]
    matching: Assignment,

    /// What gives the verdicts: this program, or the installed package bfcl-eval, which also scores multi-turn and agentic
    /// categories, and executes the calls of multi-turn ones for --ask.
    #[arg(long, value_enum, default_value_t = Engine::Builtin)]
    engine: Engine,

    /// Scores only the entries that have an output; without it, missing outputs are an error.
    #[arg(long)]
    partial: bool,

    /// Exits with 1 if less than this share of the outputs of a system is correct, from 0 to 1, or if a category of the
    /// dataset has no outputs of it and --partial is not given.
    #[arg(long, value_name = "X", value_parser = share)]
    min_accuracy: Option<f64>,

    /// Writes score files in the form of the official package, and the table of its leaderboard.
    #[arg(long, value_name = "DIR")]
    score_dir: Option<PathBuf>,

    /// Writes the verdicts to a Parquet file.
    #[arg(long, value_name = "FILE")]
    parquet: Option<PathBuf>,

    /// Writes a page that compares the systems: ranking, radar, errors, pairs.
    #[arg(long, value_name = "FILE", conflicts_with = "compare")]
    page: Option<PathBuf>,

    /// Leaves out the comparison of each two systems, which are 5,886 rows for 109 systems.
    #[arg(long)]
    no_pairs: bool,

    /// Prints one JSON object.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Engine {
    /// This program.
    Builtin,
    /// The package bfcl-eval, in a process without network. It executes the calls of multi-turn outputs.
    Official,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Rules {
    /// The official code, including its unexpected verdicts.
    Official,
    /// The documentation of the leaderboard.
    Strict,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Assignment {
    /// Each call takes the first output that matches, as the official code does.
    Greedy,
    /// A maximum matching.
    Maximum,
}

fn share(text: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| "expected a number from 0 to 1".to_owned())?;
    if (0.0..=1.0).contains(&number) { Ok(number) } else { Err("expected a number from 0 to 1".to_owned()) }
}

pub(super) fn evaluate(args: &EvaluateArgs, environment: &Environment) -> anyhow::Result<Ending> {
    let verdicts_on_stdout = args.verdicts.as_deref() == Some(Path::new("-"));
    if verdicts_on_stdout && args.json {
        bail!("--verdicts - and --json both print on standard output\nhint: write the verdicts to a file");
    }
    let mut settings = args.settings(environment)?;
    let outputs = [&args.verdicts, &args.parquet, &args.page].into_iter().flatten();
    let mut outputs: Vec<PathBuf> = outputs.filter(|path| *path != Path::new("-")).cloned().collect();
    let save = args.ask.results();
    for (flag, path) in [
        ("--verdicts", args.verdicts.as_deref().filter(|_| !verdicts_on_stdout)),
        ("--parquet", args.parquet.as_deref()),
        ("--page", args.page.as_deref()),
        ("--score-dir", args.score_dir.as_deref()),
        ("--save", save.as_deref()),
    ] {
        path.map_or(Ok(()), |path| check_output(flag, path, &[]))?;
    }
    output::check_targets(&settings, save.as_deref(), &outputs)?;
    let dataset = || Ok(Dataset::read(&settings.dataset, settings.package.is_some())?);
    let ask::Finished { is_partial, missing } =
        args.ask.ask(dataset, settings.package.as_ref(), &settings.prices, environment)?;
    settings.partial |= is_partial;
    let missing = match missing {
        Some(missing)
            if !args.partial || matches!(missing.downcast_ref(), Some(Unfinished::Interrupted(_))) =>
        {
            return Err(missing);
        }
        missing => missing,
    };
    let inputs = evaluate::read(&settings)?;
    let scores = evaluate::evaluate(&settings, &inputs)?;
    for warning in &scores.warnings {
        console::print_status(&format!("warning: {warning}"));
    }
    if !args.compare.is_empty() {
        let [a, b] = &scores.systems[..] else {
            bail!(
                "--compare: expected two systems, found {}\nhint: give two files, or the folders of two models",
                scores.systems.len()
            );
        };
        let printed = differences::print(args.json, &inputs.dataset, a, b);
        return Ok(Ending::Done.after(printed)?);
    }
    if let Some(directory) = &args.score_dir {
        outputs.extend(output::score_paths(directory, &scores.systems));
        output::check_targets(&settings, save.as_deref(), &outputs)?;
    }
    if let Some(path) = args.verdicts.as_deref().filter(|_| !verdicts_on_stdout) {
        output::write(path, &output::verdict_lines(&scores.systems))?;
    }
    if let Some(directory) = &args.score_dir {
        output::write_scores(directory, &inputs.dataset, &scores.systems)?;
    }
    if let Some(path) = &args.parquet {
        output::write_parquet(path, &inputs.dataset, &scores.systems)?;
    }
    if let Some(path) = &args.page {
        output::write(path, &page(&scores))?;
    }
    let gates = |least| scores.failed_gates(least, &inputs.dataset, settings.partial);
    let failed = args.min_accuracy.map(gates).unwrap_or_default();
    let install = Package::find(environment.bfcl()).is_err().then(|| official::install(environment.bfcl()));
    let shown = || text::text(&scores, settings.partial, install.as_deref(), Screen::of_stdout());
    let printed = if verdicts_on_stdout {
        console::print_long_status(shown().plain().trim_end());
        console::write_json(&output::verdict_lines(&scores.systems))
    } else if args.json {
        console::write_json(&format!("{}\n", output::figures(&scores)))
    } else {
        console::print_painted(&shown())
    };
    for gate in &failed {
        console::print_status(&format!("gate failed: {gate}"));
    }
    let ending = if failed.is_empty() { Ending::Done } else { Ending::GateFailed };
    let ending = ending.after(printed)?;
    missing.map_or(Ok(ending), Err)
}

impl EvaluateArgs {
    fn settings(&self, environment: &Environment) -> anyhow::Result<Settings> {
        let has_own_rules = !matches!((self.mode, self.matching), (Rules::Official, Assignment::Greedy));
        let package = match self.engine {
            Engine::Builtin => None,
            Engine::Official if has_own_rules => bail!(
                "--engine official: the package has no --mode strict and no --matching maximum\nhint: use them with --engine \
                 builtin"
            ),
            Engine::Official => {
                if let Some(option) = self.decoding.not_of_package() {
                    bail!(
                        "--engine official: the package has no {option}\nhint: use it with --engine builtin"
                    );
                }
                Some(Package::find(environment.bfcl())?.with_variables(environment.harmless()))
            }
        };
        Ok(Settings {
            package,
            dataset: self.dataset.clone(),
            results: if self.compare.is_empty() {
                self.ask.results().into_iter().chain(self.results.iter().cloned()).collect()
            } else {
                self.compare.clone()
            },
            prices: self.ask.prices()?,
            prices_file: self.ask.prices_file(),
            recorded: self.recorded.clone(),
            decoding: self.decoding.settings(),
            checker: Checker {
                mode: match self.mode {
                    Rules::Official => Mode::Official,
                    Rules::Strict => Mode::Strict,
                },
                matching: match self.matching {
                    Assignment::Greedy => Matching::Greedy,
                    Assignment::Maximum => Matching::Maximum,
                },
                underscore_to_dot: self.underscore_to_dot.iter().any(String::is_empty),
            },
            underscored: self.underscore_to_dot.iter().filter(|name| !name.is_empty()).cloned().collect(),
            partial: self.partial,
            pairs: !self.no_pairs,
        })
    }
}
