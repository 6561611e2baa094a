//! `callsieve judge`: verdicts of language models on the solution paths of a run.

use std::path::PathBuf;

use serde_json::Value;

use super::Ending;
use super::annotate::{added_to, pipeline_of};
use super::arguments::{threads, use_threads};
use super::model::ModelArgs;
use super::run::within_cost;
use crate::cli::console::{self, Paint, Painted, Screen, count};
use crate::cli::layout::{Column, Table};
use crate::jobs::instruct::{JudgeOptions, n_solved, solution_ids};
use crate::pipeline::Override;
use crate::stages::annotate::Annotate;
use crate::stages::judge_solutions::{JudgeSolutions, check_human};
use crate::stages::{Registry, Settings as _};
use crate::text::figures::counted;
use crate::text::visible::visible_line;

/// Arguments of `judge`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  callsieve judge out/repair-shop --model gpt-4.1-mini --votes 3
  callsieve judge out/repair-shop --model a --model b --model c               a committee
  callsieve judge out/repair-shop --model a --human read.csv                  agreement with people: id,verdict
  callsieve judge out/repair-shop --model a --against out/other               who does better, in both orders

docs/solutions.md describes the labels and rates, docs/language-models.md the server, its cache and its cost.")]
pub(super) struct JudgeArgs {
    /// Run folder of instructions with solution paths. The verdicts are added to it.
    run: PathBuf,

    /// Language model that judges. May be repeated: then most models decide.
    #[arg(long, value_name = "MODEL", required = true)]
    model: Vec<String>,

    /// Votes of each model on each answer.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=15))]
    votes: Option<u32>,

    /// File with verdicts of people, `id` and `verdict` (solved, unsolved, unsure), with which the judges are compared.
    #[arg(long, value_name = "FILE")]
    human: Option<PathBuf>,

    /// Run folder of other solutions of the same instructions, over which the win rate is counted.
    #[arg(long, value_name = "RUN")]
    against: Option<PathBuf>,

    #[command(flatten)]
    asking: ModelArgs,

    /// Changes a setting, such as judge-solutions.rules=paper. May be repeated.
    #[arg(long, value_name = "ID.KEY=VALUE")]
    set: Vec<Override>,

    /// Number of threads, up to 1024 [default: one per core]
    #[arg(long, value_name = "N", value_parser = threads())]
    threads: Option<u16>,

    /// Prints warnings and errors only.
    #[arg(long, short)]
    quiet: bool,
}

pub(super) fn judge(args: &JudgeArgs, registry: &Registry) -> anyhow::Result<Ending> {
    use_threads(args.threads)?;
    let is_same = |other: &PathBuf| other.canonicalize().ok() == args.run.canonicalize().ok();
    anyhow::ensure!(
        !args.against.as_ref().is_some_and(is_same),
        "--against is the run itself, {}\nhint: name the run folder of other solutions of the same instructions",
        args.run.display()
    );
    let options = JudgeOptions {
        models: args.model.clone(),
        votes: args.votes,
        human: args.human.clone(),
        against: args.against.clone(),
        settings: args.set.clone(),
    };
    let file = pipeline_of(&args.run)?;
    let mut stages = file.pipeline["stages"].as_array().into_iter().flatten();
    anyhow::ensure!(
        stages.any(|stage| stage["kind"] == Annotate::NAME && stage["settings"]["model"].is_string()),
        "{}: the run has no solution paths to judge\nhint: `callsieve annotate {} --model NAME` makes them",
        args.run.display(),
        args.run.display()
    );
    if let Some(human) = &args.human {
        // Before anything of the run is touched.
        let ids = solution_ids(&args.run)?;
        let unknown = check_human(human, &ids)?;
        if let Some(first) = unknown.first() {
            let n = counted(unknown.len() as u64, "verdict is", "verdicts are");
            console::print_status(&format!(
                "warning: {}: {n} on no instruction of the run, the first on \"{}\"",
                visible_line(&human.display().to_string()),
                visible_line(first)
            ));
        }
    }
    let pipeline = options.pipeline(&args.run, &file, registry)?;
    let (run, ending) = added_to(&pipeline, JudgeSolutions::NAME, &args.run, &args.asking, args.quiet)?;
    let Some(figures) = run.report.notes.values().find_map(|notes| notes.get("judged")) else {
        return Ok(within_cost(ending, &run, &args.asking));
    };
    if !args.quiet {
        console::print_painted(&figures_of(figures, Screen::of_stdout()))?;
        let (solved, tried) = n_solved(&args.run)?;
        let line =
            format!("\nsolved    {} of {} instructions that were tried\n", count(solved), count(tried));
        console::print_data(&line)?;
    }
    for (model, votes) in figures["readable"].as_object().into_iter().flatten() {
        let n_unreadable = votes["unreadable"].as_u64().unwrap_or_default();
        if votes["votes"] == 0 && n_unreadable > 0 {
            let (n, model) = (counted(n_unreadable, "vote", "votes"), visible_line(model));
            console::print_status(&format!(
                "warning: {model}: none of {n} could be read, so it decides nothing"
            ));
        }
    }
    let n_judged = figures["n"].as_u64().unwrap_or_default();
    let is_asked = args.asking.over_cost(&run.report).is_none();
    if is_asked && n_judged > 0 && figures["pass_rate"]["without_votes"].as_u64() == Some(n_judged) {
        console::print_status(&format!(
            "gate failed: no verdict on any of {} could be read\nhint: `callsieve why {} ID` shows what the judges wrote; a larger model may follow the format",
            counted(n_judged, "answer", "answers"),
            visible_line(&args.run.display().to_string())
        ));
        return Ok(Ending::GateFailed);
    }
    Ok(within_cost(ending, &run, &args.asking))
}

/// The figures of the judges as text.
fn figures_of(figures: &Value, screen: Screen) -> Painted {
    let mut text = Painted::new("\n");
    let rate = &figures["pass_rate"];
    let mut table = Table::new([Column::text("answers"), Column::number("n"), Column::text("share, 95 %")]);
    let shown = |rate: &Value| {
        let at = |key: &str| rate[key].as_f64().unwrap_or_default() * 100.0;
        format!("{:.1} % ({:.1} to {:.1})", at("share"), at("from"), at("to"))
    };
    let n = |key: &str| rate[key].as_u64().unwrap_or_default().to_string();
    table.row(["pass", &n("passed"), &shown(&rate["if_undecided_fails"])]);
    table.row(["fail", &n("failed"), ""]);
    table.row(["unsure", &n("unsure"), ""]);
    table.row(["tied", &n("tied"), ""]);
    table.row(["no vote", &n("without_votes"), ""]);
    text.append(table.fitted(screen));
    for (key, whom) in [("agreement_with_execution", "execution"), ("agreement_with_people", "people")] {
        let Some(all) = figures[key].as_object().filter(|all| !all.is_empty()) else { continue };
        text.add(Paint::Plain, "\n");
        let mut table = Table::new([
            Column::text(&format!("agrees with {whom}")),
            Column::number("of"),
            Column::text("share, 95 %"),
            Column::text("kappa, 95 %"),
        ]);
        for (model, one) in all {
            let kappa = one["kappa"].as_object().map_or_else(
                || "-".to_owned(),
                |kappa| {
                    // Without the sign of a rounded zero.
                    let at =
                        |key: &str| (kappa[key].as_f64().unwrap_or_default() * 100.0).round() / 100.0 + 0.0;
                    format!("{:.2} ({:.2} to {:.2})", at("value"), at("from"), at("to"))
                },
            );
            let whole = one["agreement"]["whole"].as_u64().unwrap_or_default().to_string();
            table.row([model.as_str(), &whole, &shown(&one["agreement"]), &kappa]);
        }
        text.append(table.fitted(screen));
    }
    if let Some(rate) = figures["win_rate"].as_object() {
        let n = |key: &str| rate[key].as_u64().unwrap_or_default();
        let n_decided = n("wins") + n("losses") + n("ties");
        let halved = match n_decided {
            0 => "-".to_owned(),
            _ => format!("{:.1} %", rate["halved"].as_f64().unwrap_or_default() * 100.0),
        };
        text.add(
            Paint::Plain,
            &format!(
                "\nwin rate  {halved} with ties as halves: {} wins, {} losses, {} ties, {} without an outcome\n",
                n("wins"),
                n("losses"),
                n("ties"),
                n("without_votes")
            ),
        );
    }
    text
}
