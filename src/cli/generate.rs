//! `callsieve generate`: instructions over an environment, by executed programs or by language models.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use callsieve_programs::stratum::Stratum;

use super::Ending;
use super::arguments::{threads, use_threads};
use super::model::ModelArgs;
use super::run::{Resumable, Watching, cancelled_by_signal, ending, print_summary, within_cost};
use crate::cli::console::{self, Console, Paint, Painted, Screen};
use crate::cli::layout::{Column, Table};
use crate::jobs::instruct::{Coverage, GenerateOptions, Way, coverage};
use crate::pipeline::Override;

use crate::report::model::Report;
use crate::report::strata::StratumShare;
use crate::run::{Options, RunReport, prepare};
use crate::stages::Registry;
use crate::stages::yields::{PASSED, YIELDS_NOTE, Yields};
use crate::text::figures::{count, share};

/// Arguments of `generate`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  callsieve generate raw/repair-shop.toml --bindings raw/repair-shop.bindings.toml --accept 500
  callsieve generate my-tools.toml --accept 100 --explain-coverage
  callsieve generate out/my-apis --bindings values.toml          over a collection, with nothing executed
  callsieve generate my-tools.toml --word gpt-4.1-mini           in the words of a language model
  callsieve generate my-tools.toml --by model --model gpt-4.1-mini --max-cost 2
  callsieve why out/my-tools p000042              what an instruction was made of
  callsieve why out/my-tools my-tools.toml#43     why candidate 43 was rejected

An environment is a file of tables and functions; docs/environments.md describes it. Without enough candidates the exit code is 4.
docs/language-models.md describes servers, replies that are kept, and cost.")]
pub(super) struct GenerateArgs {
    /// The environment: a file that declares tables and functions, or that names Python classes, an MCP server or recorded
    /// calls. Or the run folder of a collection, whose functions are used; without --environment nothing is executed.
    #[arg(value_name = "ENVIRONMENT|RUN")]
    over: PathBuf,

    /// The environment that executes the functions of a collection.
    #[arg(long, value_name = "FILE")]
    environment: Option<PathBuf>,

    /// How instructions are made.
    #[arg(long, value_name = "WAY", value_enum, default_value = "programs")]
    by: By,

    /// Language model that puts instructions of programs into the words of a person; kept are those that lead to the same calls.
    #[arg(long, value_name = "MODEL")]
    word: Option<String>,

    /// Language model that writes instructions, with --by model. May be repeated; samples go to the models in turn.
    #[arg(long, value_name = "MODEL")]
    model: Vec<String>,

    #[command(flatten)]
    asking: ModelArgs,

    /// Number of instructions.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..))]
    accept: u64,

    /// The most candidates that are made for them [default: 50 for each instruction, at least 5,000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_candidates: Option<u64>,

    /// Seeds every random choice; the same seed gives the same bytes [default: 1]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// File with sources of values and phrases of functions; see docs/instructions.md.
    #[arg(long, value_name = "FILE")]
    bindings: Option<PathBuf>,

    /// File with templates, for another wording or language [default: built-in English]
    #[arg(long, value_name = "FILE")]
    wording: Option<PathBuf>,

    /// Run folder [default: out/NAME, where NAME is the name of the environment's file]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Lists the functions that no instruction calls, with the parameters that have no values.
    #[arg(long)]
    explain_coverage: bool,

    /// Changes a setting, such as ingest.accept=50 or `merge-near-queries.rouge_l=0.9`. May be repeated.
    #[arg(long, value_name = "ID.KEY=VALUE")]
    set: Vec<Override>,

    /// Replaces an earlier run in the folder.
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

impl GenerateArgs {
    /// The same run, whose parts are joined.
    pub(super) fn merging(self, share: super::parts::PartsArgs, threads: Option<u16>, quiet: bool) -> Self {
        Self { share, threads: threads.or(self.threads), quiet: quiet || self.quiet, fresh: false, ..self }
    }
}

/// How instructions are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum By {
    /// By executing programs in the environment; needs no language model.
    Programs,
    /// By language models, which write requests and calls about samples of functions; the calls are executed.
    Model,
}

pub(super) fn generate(args: &GenerateArgs, registry: &Registry) -> anyhow::Result<Ending> {
    use_threads(args.threads)?;
    let pipeline = args.options()?.pipeline(registry)?;
    let out = args.share.out(args.out.clone().unwrap_or_else(|| run_folder(&args.over)));
    let options =
        Options::default().fresh(args.fresh).command(args.share.command()).joins(args.share.joins());
    let options = options.model(args.asking.options()?);
    if let Some(done) = args.share.done(&pipeline, &out, &options, args.quiet)? {
        return Ok(done);
    }
    let prepared = prepare(&pipeline, &out, &options)?;
    let watching = Watching { console: Console::new(args.quiet), cancel: cancelled_by_signal()? };
    let run =
        prepared.execute(&watching).map_err(|error| Resumable::of(error, &args.share.resume(&options)))?;
    if !args.quiet {
        print_summary(&run, None)?;
    }
    let coverage = coverage(&run.folder)?;
    if let Some(coverage) = &coverage {
        if !args.quiet {
            console::print_painted(&strata(coverage, &run, Screen::of_stdout()))?;
        }
        if args.explain_coverage {
            console::print_painted(&unreached(coverage, Screen::of_stdout()))?;
        }
    }
    if !args.quiet {
        console::print_data(&lost_to_models(&run.report))?;
        let without_results = coverage.as_ref().map_or(&[][..], |coverage| &coverage.without_results);
        console::print_data(&missed_shares(&run.report, without_results))?;
    }
    Ok(within_cost(ending(&run.outcome), &run, &args.asking))
}

/// The run folder of an environment: its name is that of the file, or of the folder of an `environment.toml`. That of a
/// collection is beside it.
fn run_folder(environment: &Path) -> PathBuf {
    if environment.is_dir() {
        let mut name = environment.file_name().unwrap_or_default().to_owned();
        name.push("-instructions");
        return environment.with_file_name(name);
    }
    let stem = environment.file_stem().unwrap_or_default();
    let of_folder = environment.parent().and_then(Path::file_name).filter(|_| stem == "environment");
    Path::new("out").join(of_folder.unwrap_or(stem))
}

impl GenerateArgs {
    /// How instructions are made.
    fn way(&self) -> anyhow::Result<Way> {
        match (self.by, &self.word, &self.model[..]) {
            (By::Programs, None, []) => {
                let asks = self.set.iter().any(|setting| setting.key.contains("model"));
                anyhow::ensure!(
                    asks || !self.asking.limits_cost(),
                    "--max-cost limits what language models cost, and none is asked\nhint: add --word MODEL, or leave out --max-cost"
                );
                Ok(Way::Programs)
            }
            (By::Programs, Some(model), []) => Ok(Way::ProgramsWordedBy(model.clone())),
            (By::Programs, _, [..]) => anyhow::bail!(
                "--model is for --by model, and programs are made without one\nhint: --word MODEL has a model put them into words"
            ),
            (By::Model, Some(_), _) => anyhow::bail!(
                "--word is for programs, and with --by model a model writes the words already\nhint: leave out --word"
            ),
            (By::Model, None, []) => anyhow::bail!(
                "--by model needs the name of a language model, as its server names it\nhint: add --model NAME; OPENAI_BASE_URL names the server"
            ),
            (By::Model, None, models) => {
                let given = [("--bindings", &self.bindings), ("--wording", &self.wording)];
                if let Some((flag, _)) = given.iter().find(|(_, file)| file.is_some()) {
                    anyhow::bail!(
                        "{flag} is for programs, and with --by model a model finds values and words\nhint: leave out {flag}"
                    );
                }
                Ok(Way::Models(models.to_vec()))
            }
        }
    }

    fn options(&self) -> anyhow::Result<GenerateOptions> {
        let over = self.over.clone();
        let of = if over.is_dir() {
            GenerateOptions {
                environment: self.environment.clone(),
                ..GenerateOptions::over_collection(over, self.accept)
            }
        } else {
            anyhow::ensure!(
                self.environment.is_none(),
                "--environment is for the run folder of a collection, and {} is a file\nhint: give one environment, or the folder that `callsieve collect` made",
                over.display()
            );
            GenerateOptions::new(over, self.accept)
        };
        Ok(GenerateOptions {
            way: self.way()?,
            bindings: self.bindings.clone(),
            wording: self.wording.clone(),
            max_candidates: self.max_candidates,
            seed: self.seed,
            settings: self.set.clone(),
            ..of
        })
    }
}

/// Instructions by stratum, and why candidates were rejected.
fn strata(coverage: &Coverage, run: &RunReport, screen: Screen) -> Painted {
    let mut text = Painted::new("\n");
    let mut table =
        Table::new([Column::text("stratum"), Column::number("candidates"), Column::number("accepted")]);
    for (stratum, counts) in &coverage.strata {
        table.row([stratum.name(), &count(counts.drawn), &count(counts.accepted)]);
    }
    text.append(table.fitted(screen));
    if !run.report.line_reasons.is_empty() {
        text.add(Paint::Plain, "\n");
        let mut table = Table::new([Column::text("rejected because"), Column::number("candidates")]);
        for (reason, n) in &run.report.line_reasons {
            table.row([reason.as_str(), &count(*n)]);
        }
        text.append(table.fitted(screen));
    }
    let (reached, all) = (count(coverage.reached as u64), count(coverage.functions as u64));
    let others = if coverage.unreached.is_empty() { "" } else { "; --explain-coverage lists the others" };
    text.add(Paint::Plain, &format!("\nfunctions {reached} of {all} are called{others}\n"));
    for stratum in &coverage.unfilled {
        text.add(
            Paint::Plain,
            &format!("stratum   {} could not be made: no candidate passed\n", stratum.name()),
        );
    }
    text
}

/// The fewest instructions of a stratum of which something is said if none passes a stage.
const MIN_TRIED: u64 = 3;

/// The strata of which nothing passed what a language model did, with the commonest reason: the set lacks them, whatever its size.
fn lost_to_models(report: &Report) -> String {
    let yields = report.notes.iter().filter_map(|(stage, notes)| {
        Some((stage, serde_json::from_value::<Yields>(notes.get(YIELDS_NOTE)?.clone()).ok()?))
    });
    let mut text = String::new();
    for (stage, Yields(strata)) in yields {
        for (stratum, models) in strata {
            let mut outcomes = BTreeMap::<&str, u64>::new();
            for (outcome, n) in models.values().flatten() {
                *outcomes.entry(outcome.as_str()).or_default() += n;
            }
            let tried: u64 = outcomes.values().sum();
            if tried < MIN_TRIED || outcomes.contains_key(PASSED) {
                continue;
            }
            let commonest = outcomes.iter().max_by_key(|(_, n)| **n).map_or("", |(outcome, _)| *outcome);
            text +=
                &format!("stratum   {stratum}: none of {} passed {stage}, most {commonest}\n", count(tried));
        }
    }
    text
}

/// The strata of which the set has far fewer instructions than were asked for. Those `without_results` cannot be made where nothing
/// is executed.
fn missed_shares(report: &Report, without_results: &[Stratum]) -> String {
    let total: u64 = report.strata.iter().map(|stratum| stratum.instructions).sum();
    let names: Vec<&str> = without_results.iter().map(|stratum| stratum.name()).collect();
    let missed = report.strata.iter().filter(|stratum| stratum.is_missed);
    let missed = missed.filter(|stratum| !names.contains(&stratum.stratum.as_str()));
    let line = |stratum: &StratumShare| {
        format!(
            "stratum   {}: {} of {} instructions ({}) instead of {}\n",
            stratum.stratum,
            count(stratum.instructions),
            count(total),
            share(stratum.share),
            share(stratum.wanted)
        )
    };
    let mut text: String = missed.map(line).collect();
    if !names.is_empty() {
        text += &format!("stratum   {}: needs results, and nothing was executed\n", names.join(", "));
    }
    text
}

/// The functions that no instruction calls.
fn unreached(coverage: &Coverage, screen: Screen) -> Painted {
    if coverage.unreached.is_empty() {
        return Painted::default();
    }
    let mut text = Painted::new("\n");
    let mut table = Table::new([Column::text("never called"), Column::wrapped("why")]);
    for function in &coverage.unreached {
        table.row([function.function.as_str(), &function.why()]);
    }
    text.append(table.fitted(screen));
    text
}
