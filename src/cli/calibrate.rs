//! `callsieve calibrate`: fits the weights of judge-queries on labelled requests and measures them.
//!
//! Labels come from BFCL files, by category, or from a file for a finished run, whose
//! features and evidence were noted by judge-queries. Figures of what was fitted are of
//! doc lists that were not fitted on. For the text the lines of several target precisions
//! are shown and written too; `judge-queries` chooses among them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::ValueEnum;

use super::Ending;
use crate::cli::console::{self, Console, count, table};
use crate::engine::disk::write_output;
use crate::run::calibrate::{
    Agreement, Alone, Calibration, DecisionCounts, Findings, Fit, FitPlan, Label, Labelled, LanguageCurve,
    Model, Point, RunAgreement, TARGETS, TargetCounts, Tested, agreement,
};
use crate::run::check_output;
use crate::stages::Registry;
use crate::text::figures::{counted, share, share_of};

/// Arguments of `calibrate`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  callsieve calibrate --bfcl bfcl/data --write weights.toml    text weights, from BFCL categories
  callsieve calibrate --run out/mylog --labels labels.jsonl    weights of logged answers, from a run
  callsieve calibrate --run out/mylog --labels labels.jsonl --test --weights weights.toml
  callsieve calibrate --run out/mylog --labels labels.jsonl --agreement    any judge against people")]
pub(super) struct CalibrateArgs {
    /// BFCL question files, or folders of them. The category gives the label: irrelevance is irrelevant, others are relevant.
    #[arg(long, value_name = "PATH", num_args = 1..)]
    bfcl: Vec<PathBuf>,

    /// Folder of a finished run with a judge-queries stage.
    #[arg(long, value_name = "DIR", requires = "labels", conflicts_with = "bfcl")]
    run: Option<PathBuf>,

    /// Labels for the run, as JSON lines: {"id": …, "label": "relevant" or "irrelevant"}.
    #[arg(long, value_name = "FILE", requires = "run")]
    labels: Option<PathBuf>,

    /// Weights to fit [default: text with --bfcl, evidence with --run]
    #[arg(long, value_enum)]
    fit: Option<What>,

    /// File with the weights that are not fitted [default: built-in weights]
    #[arg(long, value_name = "FILE")]
    weights: Option<PathBuf>,

    /// Fits nothing; measures the weights on the labelled requests.
    #[arg(long, conflicts_with = "write")]
    test: bool,

    /// Fits nothing; compares the labels that the run gave, by whatever judge, with those of the file: coverage, precision, kappa.
    #[arg(long, requires = "run", conflicts_with_all = ["write", "test", "fit"])]
    agreement: bool,

    /// Writes how often soft votes of the model were right, for judge-queries.soft_votes: answers that name a criterion and could not be
    /// used.
    #[arg(long, value_name = "FILE", requires = "agreement")]
    soft_votes: Option<PathBuf>,

    /// Uses only one of two folds of the doc lists, chosen by --seed: fit on one, test on the other.
    #[arg(long, value_enum)]
    fold: Option<Fold>,

    /// Share of decided requests that must be correct for each label, from 0.5 to 1; higher decides fewer requests.
    #[arg(long, value_name = "SHARE", default_value_t = 0.95)]
    precision: f64,

    /// Largest change of the log-odds by logged answers; lower trusts logged answers less.
    #[arg(long, value_name = "LOG-ODDS", default_value_t = 3.0)]
    cap: f64,

    /// L2 regularisation strength; higher shrinks the weights.
    #[arg(long, value_name = "N", default_value_t = 30.0)]
    l2: f64,

    /// Seed of the folds.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Number of random splits in ten folds; each fold is tested with weights that were fitted on the others.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    repeats: u32,

    /// Also measures each feature and each family of features alone.
    #[arg(long)]
    by_feature: bool,

    /// Writes the weights to this file.
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,
}

/// Which weights are fitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum What {
    /// Weights of query and docs.
    Text,
    /// Weights of logged answers.
    Evidence,
    /// First text, then evidence.
    Both,
}

/// One of two folds of the doc lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Fold {
    /// First fold.
    First,
    /// Second fold.
    Second,
}

impl From<What> for Fit {
    fn from(what: What) -> Self {
        match what {
            What::Text => Self::Text,
            What::Evidence => Self::Evidence,
            What::Both => Self::Both,
        }
    }
}

pub(super) fn calibrate(args: &CalibrateArgs, registry: &Registry) -> anyhow::Result<()> {
    if let (true, Some(run), Some(labels)) = (args.agreement, &args.run, &args.labels) {
        return compare_labels(run, labels, args.soft_votes.as_deref(), registry);
    }
    if let Some(path) = &args.write {
        let inputs: Vec<PathBuf> = args.bfcl.iter().chain(&args.labels).cloned().collect();
        check_output("--write", path, &inputs)?;
    }
    let plan = checked_plan(args)?;
    let (labelled, fit) = labelled(args, registry)?;
    labelled.check_sides()?;
    if fit != Fit::Text && !args.test {
        labelled.check_evidence()?;
    }
    let begin = match &args.weights {
        Some(path) => Model::read(path)?,
        None => Model::embedded().clone(),
    };
    let calibration = Calibration { labelled: &labelled, fit, begin, cap: args.cap, plan };
    let mut text = heading(&labelled);
    if args.test {
        text += &figures(&calibration.judged());
        text += &categories(&calibration.judged_by_category());
        return Ok(console::print_data(&text)?);
    }
    text += &tested(&calibration.tested(), plan);
    if fit != Fit::Evidence {
        text += &categories(&calibration.tested_by_category());
    }
    if args.by_feature {
        text += &format!("\n{}", by_feature(&calibration.by_feature()));
    }
    // Written even if the reader of standard output stops early.
    let printed = Ending::Done.after(console::print_data(&text));
    if let Some(path) = &args.write {
        write_output(path, calibration.fitted()?.to_toml().as_bytes())?;
        console::print_status(&format!("weights written to {}", path.display()));
    }
    printed?;
    Ok(())
}

/// Compares the labels of a run with those of a file, and writes what was measured of soft votes.
fn compare_labels(
    run: &Path,
    labels: &Path,
    soft_votes: Option<&Path>,
    registry: &Registry,
) -> anyhow::Result<()> {
    if let Some(path) = soft_votes {
        check_output("--soft-votes", path, &[labels.to_owned()])?;
    }
    let found = agreement(run, labels, registry)?;
    let printed =
        Ending::Done.after(console::print_data(&(agreement_table(&found) + &soft_vote_table(&found))));
    if let Some(path) = soft_votes {
        write_output(path, found.measured_soft_votes(run, labels)?.to_toml().as_bytes())?;
        console::print_status(&format!("soft votes written to {}", path.display()));
    }
    printed?;
    Ok(())
}

/// The soft votes on labelled requests, by model and label; empty if there are none.
fn soft_vote_table(found: &RunAgreement) -> String {
    let by_model = found.soft_votes.iter();
    let rows = by_model.flat_map(|(model, labels)| {
        labels.iter().map(move |(label, of)| {
            let in_fold = |fold: usize| percent_of(of.right[fold], of.votes[fold]);
            vec![
                format!("{model}: {label}"),
                count(of.votes.iter().sum()),
                count(of.right.iter().sum()),
                in_fold(0),
                in_fold(1),
                if of.decides() { "yes" } else { "no" }.to_owned(),
            ]
        })
    });
    let rows: Vec<Vec<String>> = rows.collect();
    if rows.is_empty() {
        return String::new();
    }
    let header = ["soft votes for", "votes", "right", "first fold", "second fold", "may decide"];
    format!("\n{}", table(&header, &rows, &[1, 2, 3, 4]))
}

/// The agreement of a run with labels, a row for each group of requests.
fn agreement_table(found: &RunAgreement) -> String {
    let row = |name: &str, of: &Agreement| {
        let part = |part: u64, whole: u64| if whole == 0 { "-".to_owned() } else { share_of(part, whole) };
        vec![
            name.to_owned(),
            count(of.n()),
            part(of.decided(), of.n()),
            part(of.right(), of.decided()),
            part(of.relevant, of.relevant + of.wrong),
            part(of.irrelevant, of.irrelevant + of.missed),
            of.kappa().map_or_else(|| "-".to_owned(), |kappa| format!("{kappa:.3}")),
        ]
    };
    let mut rows = vec![row("all", &found.all)];
    rows.extend(found.by_judge.iter().map(|(judge, of)| row(&format!("judged by {judge}"), of)));
    rows.extend(found.by_category.iter().map(|(category, of)| row(&format!("category {category}"), of)));
    rows.extend(found.by_language.iter().map(|(language, of)| row(&format!("language {language}"), of)));
    let header =
        ["requests", "labelled", "decided", "right", "right if relevant", "right if irrelevant", "kappa"];
    let unused = match found.unused {
        0 => String::new(),
        n => format!("{} of no request that was judged\n", counted(n as u64, "label is", "labels are")),
    };
    let auc = match found.auc {
        Some(auc) => format!(
            "AUC of the rules' probability: {auc:.3}, over {} of the {} labelled requests, {} relevant{}\n",
            count(found.scored.0),
            count(found.all.n()),
            count(found.scored.1),
            if found.scored.0 < found.all.n() { "; the rules gave the others no probability" } else { "" }
        ),
        None => String::new(),
    };
    format!("{}{auc}{unused}", table(&header, &rows, &[1, 2, 3, 4, 5, 6]))
}

/// The labelled requests, or those of one fold, and what is fitted on them.
fn labelled(args: &CalibrateArgs, registry: &Registry) -> anyhow::Result<(Labelled, Fit)> {
    let (mut labelled, fit) = match (&args.run, &args.labels) {
        (Some(run), Some(labels)) => {
            (Labelled::of_run(run, labels, registry, &Console::new(true))?, Fit::Evidence)
        }
        _ if args.bfcl.is_empty() => {
            bail!("no labelled requests\nhint: use --bfcl FILES, or --run DIR with --labels FILE")
        }
        _ => (Labelled::of_bfcl(&args.bfcl)?, Fit::Text),
    };
    if let Some(fold) = args.fold {
        labelled.keep_fold(fold == Fold::First, args.seed);
    }
    Ok((labelled, args.fit.map_or(fit, Fit::from)))
}

/// What there is to learn from.
fn heading(labelled: &Labelled) -> String {
    let source = &labelled.source;
    let (n_rows, n_relevant) = (count(labelled.examples.len() as u64), count(labelled.n_relevant() as u64));
    let by_rule = match labelled.by_rule {
        (0, _) => String::new(),
        (n, irrelevant) => format!("low quality by rule: {n}, of them irrelevant {irrelevant}\n"),
    };
    format!("{source}: {n_rows} requests, {n_relevant} relevant\n{by_rule}\n")
}

fn checked_plan(args: &CalibrateArgs) -> anyhow::Result<FitPlan> {
    if !(0.5..1.0).contains(&args.precision) {
        bail!("--precision must be from 0.5 to below 1, not {}", args.precision);
    }
    for (flag, value) in [("--cap", args.cap), ("--l2", args.l2)] {
        if !(value > 0.0 && value.is_finite()) {
            bail!("{flag} must be above 0, not {value}");
        }
    }
    Ok(FitPlan { precision: args.precision, l2: args.l2, seed: args.seed, repeats: args.repeats })
}

/// Fitted on one fold, tested on the other.
fn tested(tested: &Tested, plan: FitPlan) -> String {
    let curves: String = tested.curves.iter().map(|curve| format!("\n{}", curve_table(curve))).collect();
    format!(
        "cross-validated on unseen doc lists, {} repeats of ten folds\n{}{curves}",
        plan.repeats,
        figures(&tested.parts),
    )
}

/// The lines of the text for each target precision in some languages: what they decide of the requests that they were drawn
/// by, and how much of what they decide in the folds is right.
fn curve_table(of: &LanguageCurve) -> String {
    let mut rows = Vec::new();
    for side in Label::ALL {
        for precision in TARGETS {
            let point = of
                .curve
                .iter()
                .find(|point| point.side == side && point.precision.total_cmp(&precision).is_eq());
            rows.push(curve_row(side, precision, point, of.findings.at_target(side, precision)));
        }
    }
    let header = ["text alone", "target", "threshold", "decided", "right", "of all", "of label", "in folds"];
    let (n_all, n_relevant) = of.n_requests;
    format!(
        "{}: thresholds by target precision,\nfrom weights fitted on other doc lists; {}, {} relevant\n{}",
        of.languages.name(),
        counted(n_all as u64, "request", "requests"),
        count(n_relevant as u64),
        table(&header, &rows, &[1, 2, 3, 4, 5, 6, 7])
    )
}

fn curve_row(
    side: Label,
    precision: f64,
    point: Option<&Point>,
    tested: Option<TargetCounts>,
) -> Vec<String> {
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

fn figures(parts: &[(&str, Findings)]) -> String {
    let rows: Vec<Vec<String>> = parts.iter().map(|(name, findings)| row(name, findings)).collect();
    table(
        &["", "judgements", "AUC", "decided", "relevant", "right", "irrelevant", "right"],
        &rows,
        &[1, 2, 3, 4, 5, 6, 7],
    )
}

fn row(name: &str, findings: &Findings) -> Vec<String> {
    let DecisionCounts { n_rows, relevant, irrelevant } = findings.decided;
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

/// What is decided of each category.
fn categories(counts: &BTreeMap<String, DecisionCounts>) -> String {
    if counts.len() < 2 {
        return String::new();
    }
    let row = |(category, counts): (&String, &DecisionCounts)| {
        let DecisionCounts { n_rows, relevant, irrelevant } = *counts;
        let decided = relevant.0 + irrelevant.0;
        vec![
            category.clone(),
            count(n_rows as u64),
            percent(decided, n_rows),
            count(relevant.0 as u64),
            count(irrelevant.0 as u64),
            percent(relevant.1 + irrelevant.1, decided),
        ]
    };
    let rows: Vec<Vec<String>> = counts.iter().map(row).collect();
    let header = ["category", "requests", "decided", "relevant", "irrelevant", "right"];
    format!("\n{}", table(&header, &rows, &[1, 2, 3, 4, 5]))
}

fn percent(part: usize, whole: usize) -> String {
    percent_of(part as u64, whole as u64)
}

fn percent_of(part: u64, whole: u64) -> String {
    if whole == 0 { "-".to_owned() } else { share_of(part, whole) }
}

/// How well each feature and each family does without the others.
fn by_feature(all: &[Alone]) -> String {
    let row = |alone: &Alone| {
        let name = match alone.feature {
            None => format!("{}: all of it", alone.family),
            Some(feature) => format!("  {feature}"),
        };
        vec![name, alone.auc.map_or("-".to_owned(), |auc| format!("{auc:.3}"))]
    };
    table(&["alone", "AUC"], &all.iter().map(row).collect::<Vec<_>>(), &[1])
}
