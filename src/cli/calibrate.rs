//! `toolsieve calibrate`: fits the weights of judge-queries on labelled requests, and tells how good they are.
//!
//! Labels come from BFCL files, by category, or from a file for a finished run, whose
//! features and evidence were noted by judge-queries. Figures of what was fitted are of
//! doc lists that were not fitted on. For the text the lines of several target precisions
//! are shown and written too; `judge-queries` chooses among them.

use std::path::PathBuf;

use anyhow::bail;
use clap::ValueEnum;

use super::Ending;
use super::labelled::{Labelled, from_bfcl, from_run};
use crate::console::{self, count, table};
use crate::engine::folder::write_atomic;
use crate::relevance::calibrate::{
    AtTarget, Example, Findings, Plan, fit_evidence, fit_text, is_set_apart, judge_all, log_odds_by,
    log_odds_unseen, test_model, test_text, text_curve,
};
use crate::relevance::features::{FAMILIES, names};
use crate::relevance::measure::{Decided, Label, Point, TARGETS};
use crate::relevance::model::Model;

/// Arguments of `calibrate`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  toolsieve calibrate --bfcl bfcl/data --write weights.toml      weights of the text, from categories
  toolsieve calibrate --run out/live --labels labels.jsonl       weights of the log's answers, from a run
  toolsieve calibrate --run out/live --labels labels.jsonl --test --weights weights.toml")]
pub(super) struct CalibrateArgs {
    /// BFCL question files, or folders of them: irrelevance is irrelevant, all else relevant.
    #[arg(long, value_name = "PATH", num_args = 1..)]
    bfcl: Vec<PathBuf>,

    /// A finished run with a judge-queries stage.
    #[arg(long, value_name = "DIR", requires = "labels", conflicts_with = "bfcl")]
    run: Option<PathBuf>,

    /// Labels for the run: JSONL, {"id": …, "label": "relevant" or "irrelevant"} a line.
    #[arg(long, value_name = "FILE", requires = "run")]
    labels: Option<PathBuf>,

    /// What is fitted [default: text with --bfcl, evidence with --run]
    #[arg(long, value_enum)]
    fit: Option<What>,

    /// Weights to begin with, for the part that is not fitted [default: those built in]
    #[arg(long, value_name = "FILE")]
    weights: Option<PathBuf>,

    /// Fits nothing: tells what the weights make of the labelled requests.
    #[arg(long, conflicts_with = "write")]
    test: bool,

    /// Uses only the doc lists of one half, as the seed draws it: fit on one, test on the other.
    #[arg(long, value_enum)]
    half: Option<Half>,

    /// Share of decided requests that must be right on each side, from 0.5 to 1; higher decides fewer.
    #[arg(long, value_name = "SHARE", default_value_t = 0.95)]
    precision: f64,

    /// The most that the log's answers may add to the log-odds or take from them; lower trusts them less.
    #[arg(long, value_name = "LOG-ODDS", default_value_t = 3.0)]
    cap: f64,

    /// Holds weights back; higher keeps them smaller.
    #[arg(long, value_name = "N", default_value_t = 10.0)]
    penalty: f64,

    /// Draws the halves.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// How many times halves are drawn; each is fitted on once and tested on once.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    splits: u32,

    /// Also tells how well each feature and each family does alone.
    #[arg(long)]
    by_feature: bool,

    /// Writes the weights to this file.
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,
}

/// Which weights are fitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum What {
    /// Those of query and docs.
    Text,
    /// Those of the log's answers.
    Evidence,
    /// First the text's, then the answers'.
    Both,
}

/// A half of the doc lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Half {
    /// The one.
    First,
    /// The other.
    Second,
}

/// Fewest requests of the rarer side that weights are written for.
const FEWEST_OF_A_SIDE: usize = 20;

pub(super) fn calibrate(args: &CalibrateArgs) -> anyhow::Result<()> {
    let plan = checked_plan(args)?;
    let (labelled, what) = labelled(args)?;
    check_sides(&labelled)?;
    let Labelled { examples, by_rule: _, source } = &labelled;
    let is_heard = |example: &Example| !example.evidence.is_silent();
    if what != What::Text && !args.test && !examples.iter().any(is_heard) {
        bail!("{source}: the log's answers say nothing about any of the requests\nhint: --fit text");
    }
    let begin = match &args.weights {
        Some(path) => Model::read(path)?,
        None => Model::embedded().clone(),
    };
    let mut text = told(&labelled);
    if args.test {
        text += &by_evidence(&begin, examples);
        return Ok(console::give(&text)?);
    }
    text += &tested(examples, what, &begin, args.cap, plan);
    if args.by_feature {
        text += &format!("\n{}", by_feature(examples, plan));
    }
    // Written also where nobody reads the figures to their end.
    let printed = Ending::Done.after(console::give(&text));
    if let Some(path) = &args.write {
        check_enough(&labelled)?;
        let model = fitted(examples, what, begin, args.cap, plan, source);
        write_atomic(path, model.to_toml().as_bytes())?;
        console::talk(&format!("weights written to {}", path.display()));
    }
    printed?;
    Ok(())
}

/// The labelled requests, or those of one half, and what is fitted on them.
fn labelled(args: &CalibrateArgs) -> anyhow::Result<(Labelled, What)> {
    let (mut labelled, what) = match (&args.run, &args.labels) {
        (Some(run), Some(labels)) => (from_run(run, labels)?, What::Evidence),
        _ if args.bfcl.is_empty() => {
            bail!("nothing to learn from\nhint: give --bfcl FILES, or --run DIR with --labels FILE")
        }
        _ => (from_bfcl(&args.bfcl)?, What::Text),
    };
    if let Some(half) = args.half {
        let is_meant = |group: &str| is_set_apart(group, args.seed) == (half == Half::First);
        labelled.examples.retain(|example| is_meant(&example.group));
    }
    Ok((labelled, args.fit.unwrap_or(what)))
}

fn n_relevant(examples: &[Example]) -> usize {
    examples.iter().filter(|example| example.is_relevant).count()
}

fn check_sides(Labelled { examples, source, .. }: &Labelled) -> anyhow::Result<()> {
    let n_relevant = n_relevant(examples);
    if n_relevant == 0 || n_relevant == examples.len() {
        bail!("{source}: {n_relevant} of {} requests are relevant; both sides are needed", examples.len());
    }
    Ok(())
}

fn check_enough(Labelled { examples, source, .. }: &Labelled) -> anyhow::Result<()> {
    let n_relevant = n_relevant(examples);
    let n_fewer = n_relevant.min(examples.len() - n_relevant);
    if n_fewer < FEWEST_OF_A_SIDE {
        bail!(
            "{source}: {n_fewer} requests of the rarer side are too few to fit weights on, {FEWEST_OF_A_SIDE} are needed; nothing was written"
        );
    }
    Ok(())
}

/// What there is to learn from.
fn told(Labelled { examples, by_rule, source }: &Labelled) -> String {
    let (n_rows, n_relevant) = (count(examples.len() as u64), count(n_relevant(examples) as u64));
    let by_rule = match by_rule {
        (0, _) => String::new(),
        (n, irrelevant) => format!("low quality by rule: {n}, of them irrelevant {irrelevant}\n"),
    };
    format!("{source}: {n_rows} requests, {n_relevant} relevant\n{by_rule}\n")
}

fn checked_plan(args: &CalibrateArgs) -> anyhow::Result<Plan> {
    if !(0.5..1.0).contains(&args.precision) {
        bail!("--precision must be from 0.5 to below 1, not {}", args.precision);
    }
    for (flag, value) in [("--cap", args.cap), ("--penalty", args.penalty)] {
        if !(value > 0.0 && value.is_finite()) {
            bail!("{flag} must be above 0, not {value}");
        }
    }
    Ok(Plan { precision: args.precision, penalty: args.penalty, seed: args.seed, splits: args.splits })
}

/// The weights, fitted on all examples.
fn fitted(examples: &[Example], what: What, begin: Model, cap: f64, plan: Plan, source: &str) -> Model {
    let n_examples = examples.len();
    let fitted_on = format!("{source}: {n_examples} requests");
    let mut model = begin;
    if what != What::Evidence {
        model.text = fit_text(examples, plan, fitted_on.clone());
    }
    if what != What::Text {
        // Text that was fitted on these examples is too sure of them.
        let log_odds = if what == What::Both {
            log_odds_unseen(examples, plan)
        } else {
            log_odds_by(&model.text, examples)
        };
        model = fit_evidence(examples, &log_odds, &model.text, cap, plan, fitted_on);
    }
    model
}

/// Fitted on one half, tested on the other.
fn tested(examples: &[Example], what: What, begin: &Model, cap: f64, plan: Plan) -> String {
    let mut rows = Vec::new();
    let mut curve = String::new();
    if what != What::Evidence {
        let findings = test_text(examples, plan, |_| true);
        rows.push(row("text alone", &findings));
        curve = format!("\n{}", curve_table(&text_curve(examples, plan), &findings));
    }
    if what != What::Text {
        let text = (what == What::Evidence).then_some(&begin.text);
        for (name, findings) in test_model(examples, text, cap, plan) {
            rows.push(row(name, &findings));
        }
    }
    format!(
        "on doc lists that were not fitted on, {} draws of two halves\n{}{curve}",
        plan.splits,
        figures(&rows)
    )
}

/// The lines of the text for each target precision: what they decide of the requests that they were drawn by, and how
/// much of what they decide in the halves is right.
fn curve_table(curve: &[Point], findings: &Findings) -> String {
    let mut rows = Vec::new();
    for side in Label::ALL {
        for precision in TARGETS {
            let point = curve
                .iter()
                .find(|point| point.side == side && point.precision.total_cmp(&precision).is_eq());
            rows.push(curve_row(side, precision, point, findings.at_target(side, precision)));
        }
    }
    let header = ["text alone", "target", "threshold", "decided", "right", "of all", "of side", "in halves"];
    format!(
        "lines by target precision, by scores of weights fitted on other doc lists\n{}",
        table(&header, &rows, &[1, 2, 3, 4, 5, 6, 7])
    )
}

fn curve_row(side: Label, precision: f64, point: Option<&Point>, tested: Option<AtTarget>) -> Vec<String> {
    let share = |share: f64| format!("{:.1} %", 100.0 * share);
    let drawn = match point {
        Some(point) => [
            format!("{:.4}", point.threshold),
            count(point.n_decided),
            percent_of(point.n_right, point.n_decided),
            share(point.coverage),
            share(point.recall),
        ],
        None => ["-"; 5].map(str::to_owned),
    };
    let tested = tested.map_or("-".to_owned(), |tested| percent(tested.n_right, tested.n_decided));
    [side.name().to_owned(), share(precision)].into_iter().chain(drawn).chain([tested]).collect()
}

/// What weights make of examples, by what the log's answers say.
fn by_evidence(model: &Model, examples: &[Example]) -> String {
    let rows: Vec<Vec<String>> =
        judge_all(model, examples).into_iter().map(|(name, findings)| row(name, &findings)).collect();
    figures(&rows)
}

fn figures(rows: &[Vec<String>]) -> String {
    table(
        &["", "judgements", "AUC", "decided", "relevant", "right", "irrelevant", "right"],
        rows,
        &[1, 2, 3, 4, 5, 6, 7],
    )
}

fn row(name: &str, findings: &Findings) -> Vec<String> {
    let Decided { n_rows, relevant, irrelevant } = findings.decided;
    vec![
        name.to_owned(),
        count(n_rows as u64),
        findings.mean_auc().map_or("-".to_owned(), |auc| format!("{auc:.3}")),
        percent(relevant.0 + irrelevant.0, n_rows),
        count(relevant.0 as u64),
        percent(relevant.1, relevant.0),
        count(irrelevant.0 as u64),
        percent(irrelevant.1, irrelevant.0),
    ]
}

fn percent(part: usize, whole: usize) -> String {
    percent_of(part as u64, whole as u64)
}

#[allow(clippy::cast_precision_loss)] // Counts of requests.
fn percent_of(part: u64, whole: u64) -> String {
    if whole == 0 { "-".to_owned() } else { format!("{:.1} %", 100.0 * part as f64 / whole as f64) }
}

/// How well each feature and each family does without the others.
fn by_feature(examples: &[Example], plan: Plan) -> String {
    let auc = |keep: &dyn Fn(usize) -> bool| {
        test_text(examples, plan, keep).mean_auc().map_or("-".to_owned(), |auc| format!("{auc:.3}"))
    };
    let mut rows = Vec::new();
    let mut at = 0;
    for (family, features) in FAMILIES {
        let range = at..at + features.len();
        rows.push(vec![format!("{family}: all of it"), auc(&|at| range.contains(&at))]);
        for feature in *features {
            rows.push(vec![format!("  {feature}"), auc(&|kept| kept == at)]);
            at += 1;
        }
    }
    debug_assert_eq!(at, names().count(), "every feature belongs to a family");
    table(&["alone", "AUC"], &rows, &[1])
}
