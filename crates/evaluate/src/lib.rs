//! Scores the outputs of models on a dataset of the leaderboard, as the official evaluator does.
//!
//! - [`category`]: how each category is scored.
//! - [`ask`] asks a model for outputs.
//! - [`dataset`] and [`results`] read the entries and the outputs; [`recorded`] the results of executable calls.
//! - [`decoding`]: how the outputs of each system become calls.
//! - [`score`]: the verdict on one output, by [`callsieve_checker`]; [`official`]: by the official package.
//! - [`figures`], [`groups`], [`paired`]: what is counted, for one system and for two.
//! - `family`: whether a judged model is of the family of a model of the log.
//! - [`output`]: verdict lines, score files, Parquet.
//! - [`differences`]: the entries on which two systems differ.
//!
//! [`evaluate`] does all of it. Nothing of a dataset or an output is executed, except by the official package.

// Tests write small files to temporary folders, where an interrupted write does no harm.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

pub mod ask;
pub mod category;
pub mod dataset;
pub mod decoding;
pub mod differences;
mod error;
mod family;
pub mod figures;
mod gate;
pub mod groups;
pub mod leaderboard;
pub mod official;
pub mod output;
pub mod page;
pub mod paired;
pub mod recorded;
pub mod results;
pub mod score;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::PathBuf;

use rayon::prelude::*;

use callsieve_checker::Checker;
use callsieve_llm::models::{Cost, Models};
use category::FORMAT_SENSITIVITY;
use dataset::Dataset;
use decoding::{Decoding, SystemDecoding};
pub use error::EvaluateError;
use error::{Result, unfit};
use figures::{CategoryFigures, Spread};
pub use gate::FailedGate;
use groups::{FormatSensitivity, GroupMean};
use official::{Facts, Job, Package};
use paired::Pair;
use recorded::Recorded;
use results::{ResultRow, System};
use score::Scored;

/// What is scored, and how.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// The folder of the dataset.
    pub dataset: PathBuf,
    /// Result files, or folders of them.
    pub results: Vec<PathBuf>,
    /// Recorded results of executable calls.
    pub recorded: Option<PathBuf>,
    /// The rules of the checker.
    pub checker: Checker,
    /// The systems of which names of functions have `_` for `.`; all of them with that rule of the checker.
    pub underscored: BTreeSet<String>,
    /// How outputs are decoded.
    pub decoding: Decoding,
    /// The official package, if it gives the verdicts.
    pub package: Option<Package>,
    /// The prices of models.
    pub prices: Models,
    /// The file that they were read from.
    pub prices_file: Option<PathBuf>,
    /// Scores the entries that have an output; without it, a missing output is an error.
    pub partial: bool,
    /// Each two systems are compared on the outputs of both.
    pub pairs: bool,
}

/// Dataset and outputs, before they are scored.
#[derive(Debug)]
pub struct Inputs {
    /// The dataset.
    pub dataset: Dataset,
    /// The systems.
    pub systems: Vec<System>,
    recorded: HashMap<String, Recorded>,
}

/// A scored output.
#[derive(Debug)]
pub struct Row<'i> {
    /// The output.
    pub result: &'i ResultRow,
    /// Its verdict.
    pub scored: Scored,
}

/// The scored outputs of a system and their figures.
#[derive(Debug)]
pub struct SystemScore<'i> {
    /// The name of the system.
    pub name: &'i str,
    /// The scored outputs, in the order of categories and entries.
    pub rows: Vec<Row<'i>>,
    /// The figures by category.
    pub categories: Vec<CategoryFigures>,
    /// The means of groups of categories.
    pub groups: Vec<GroupMean>,
    /// The figures of format sensitivity.
    pub formats: Option<FormatSensitivity>,
    /// Seconds of an output.
    pub latency: Option<Spread>,
    /// Tokens of a prompt.
    pub input_tokens: Option<Spread>,
    /// Tokens of an output.
    pub output_tokens: Option<Spread>,
    /// What the outputs cost, where tokens and prices are known.
    pub cost: Option<Cost>,
    /// The official package, if it gave the verdicts.
    pub package: Option<Facts>,
    /// How the outputs were decoded.
    pub decoding: SystemDecoding,
}

/// The result of an evaluation.
#[derive(Debug)]
pub struct Evaluation<'i> {
    /// The systems, in the order of the arguments.
    pub systems: Vec<SystemScore<'i>>,
    /// Each two systems side by side; none if the settings want none.
    pub pairs: Vec<Pair>,
    /// Categories without a figure, each with the reason.
    pub not_scored: Vec<(String, String)>,
    /// What the user should know about dataset and results.
    pub warnings: Vec<String>,
}

impl SystemScore<'_> {
    /// Returns correct and scored outputs of all categories but format sensitivity, which has the entries of others again.
    pub fn total(&self) -> (usize, usize) {
        let counted = self.categories.iter().filter(|of| of.category != FORMAT_SENSITIVITY);
        counted.fold((0, 0), |(correct, n), of| (correct + of.correct, n + of.n))
    }

    /// Returns the categories that would be scored, and of which the system has no outputs.
    pub fn without_outputs<'d>(&self, dataset: &'d Dataset) -> Vec<&'d str> {
        let has_outputs = |name: &str| self.categories.iter().any(|of| of.category == name);
        let scored = dataset.categories.iter().filter(|category| !category.scoring.is_executable());
        scored.map(|category| category.name.as_str()).filter(|name| !has_outputs(name)).collect()
    }

    /// Returns the share of correct outputs of all categories.
    pub fn accuracy(&self) -> f64 {
        let (correct, n) = self.total();
        if n == 0 { 0.0 } else { figures::float(correct) / figures::float(n) }
    }
}

/// Reads dataset, results and recorded results.
///
/// # Errors
/// If a file cannot be read or is not in a supported format.
pub fn read(settings: &Settings) -> Result<Inputs> {
    let dataset = Dataset::read(&settings.dataset, settings.package.is_some())?;
    let systems = results::read(&settings.results, settings.package.is_some())?;
    let recorded = settings.recorded.as_deref().map(recorded::read).transpose()?.unwrap_or_default();
    Ok(Inputs { dataset, systems, recorded })
}

/// Scores the outputs and counts.
///
/// # Errors
/// If outputs are missing and `partial` is not set, or no id of a system is in the dataset.
pub fn evaluate<'i>(settings: &Settings, inputs: &'i Inputs) -> Result<Evaluation<'i>> {
    let dataset = &inputs.dataset;
    let mut warnings = dataset.warnings.clone();
    let mut systems = Vec::new();
    let names: Vec<&str> = inputs.systems.iter().map(|system| system.name.as_str()).collect();
    let underscored = settings.underscored.iter().map(|name| ("--underscore-to-dot", name));
    let handled = settings.decoding.handlers.keys().map(|name| ("--handler", name));
    if let Some((option, unknown)) =
        underscored.chain(handled).find(|(_, name)| !names.contains(&name.as_str()))
    {
        let hint = format!("the results have these: {}", names.join(", "));
        return Err(unfit(&dataset.path, format!("{option}: there is no system {unknown:?}"), hint));
    }
    let of_log = family::of_log(&dataset.path).unwrap_or_else(|warning| {
        warnings.push(warning);
        BTreeSet::new()
    });
    for system in &inputs.systems {
        warnings.extend(family::warning(system, &of_log));
        let scored = score_system(settings, inputs, system, &mut warnings)?;
        if let Some(facts) = scored.package.as_ref().filter(|facts| facts.version != official::VERSION) {
            warnings.push(format!(
                "the verdicts are those of bfcl-eval {}; this program knows {}",
                facts.version,
                official::VERSION
            ));
        }
        systems.push(scored);
    }
    let mut pairs = Vec::new();
    for (at, a) in systems.iter().enumerate().filter(|_| settings.pairs) {
        for b in &systems[at + 1..] {
            pairs.push(paired::pair((a.name, &a.rows), (b.name, &b.rows)));
        }
    }
    let mut not_scored: Vec<(String, String)> =
        dataset.not_scored.iter().map(|(name, reason)| (name.clone(), (*reason).to_owned())).collect();
    for category in &dataset.categories {
        if systems.iter().any(|system| system.categories.iter().any(|of| of.category == category.name)) {
            continue;
        }
        let reason = if category.scoring.is_executable() && inputs.recorded.is_empty() {
            "executable: no code is executed here; --recorded FILE has recorded results"
        } else {
            "no outputs"
        };
        not_scored.push((category.name.clone(), reason.to_owned()));
    }
    Ok(Evaluation { systems, pairs, not_scored, warnings })
}

fn score_system<'i>(
    settings: &Settings,
    inputs: &'i Inputs,
    system: &'i System,
    warnings: &mut Vec<String>,
) -> Result<SystemScore<'i>> {
    let dataset = &inputs.dataset;
    let (mut known, mut unknown) = (Vec::new(), Vec::new());
    for row in &system.rows {
        match dataset.place(&row.id) {
            Some(place) => known.push((place, row)),
            None => unknown.push(row.id.as_str()),
        }
    }
    if known.is_empty() {
        let example = unknown.first().map_or_else(String::new, |id| format!(", such as {id:?}"));
        let what = format!("no id of the results of {} is in the dataset{example}", system.name);
        let holding = unverified_with(dataset, &unknown, settings);
        let hint = holding.map_or_else(
            || "give the dataset with the version that the results are for".to_owned(),
            |folder| format!("they are of the unverified entries: give --dataset {}", folder.display()),
        );
        return Err(unfit(&dataset.path, what, hint));
    }
    if !unknown.is_empty() {
        warnings.push(format!(
            "{}: {} {} and not scored: {}",
            system.name,
            if unknown.len() == 1 { "1 id is".to_owned() } else { format!("{} ids are", unknown.len()) },
            if unverified_with(dataset, &unknown, settings).is_some() {
                "not in the scored part of the dataset (some are unverified)"
            } else {
                "not in the dataset"
            },
            listed(&unknown)
        ));
    }
    known.sort_by_key(|(place, _)| *place);
    let is_executable = |at: usize| dataset.categories[at].scoring.is_executable();
    known.retain(|((at, _), row)| !is_executable(*at) || inputs.recorded.contains_key(&row.id));
    let missing = missing(settings, dataset, system, &known)?;
    let decoding = settings.decoding.of(system);
    let (verdicts, package) = verdicts(settings, inputs, (system, decoding), &known)?;
    let rows: Vec<Row<'i>> =
        known.iter().zip(verdicts).map(|(&(_, result), scored)| Row { result, scored }).collect();
    warnings.extend(decoding::warning(dataset, system, decoding, &rows));
    let categories = figures::by_category(dataset, &rows, &missing);
    let spread = |get: fn(&ResultRow) -> &[f64]| {
        figures::spread(rows.iter().flat_map(|row| get(row.result).iter().copied()))
    };
    Ok(SystemScore {
        name: &system.name,
        groups: groups::group_means(&categories),
        formats: groups::format_sensitivity(&rows),
        latency: spread(|row| row.latency.numbers()),
        input_tokens: spread(|row| row.input_tokens.numbers()),
        output_tokens: spread(|row| row.output_tokens.numbers()),
        cost: settings.prices.cost(rows.iter().filter_map(|row| row.result.usage(&system.name))),
        categories,
        rows,
        package,
        decoding,
    })
}

/// Returns the verdicts on outputs, in order: those of the package, if there is one, except where nothing is decoded.
fn verdicts(
    settings: &Settings,
    inputs: &Inputs,
    (system, decoding): (&System, SystemDecoding),
    known: &[((usize, usize), &ResultRow)],
) -> Result<(Vec<Scored>, Option<Facts>)> {
    let dataset = &inputs.dataset;
    let underscore_to_dot = settings.checker.underscore_to_dot
        || settings.underscored.contains(&system.name)
        || system.expects_underscores
        || decoding.handler.is_some_and(|handler| handler.underscore_to_dot);
    let checker = Checker { underscore_to_dot, ..settings.checker };
    let score_row = |&(place, result): &((usize, usize), &ResultRow)| {
        let category = &dataset.categories[place.0];
        let recorded = inputs.recorded.get(&result.id);
        score::score(checker, decoding, place, category, &category.entries[place.1], result, recorded)
    };
    let Some(package) = &settings.package else {
        return Ok((known.par_iter().map(score_row).collect(), None));
    };
    let is_recorded = |place: (usize, usize)| dataset.categories[place.0].scoring.is_executable();
    let of_package = known.iter().filter(|(place, _)| !is_recorded(*place));
    let jobs: Vec<Job<'_>> = of_package
        .map(|&(place, row)| {
            let category = &dataset.categories[place.0];
            Job {
                place,
                category,
                entry: &category.entries[place.1],
                row,
                is_calls: system.is_calls,
                decoding,
            }
        })
        .collect();
    let (scored, facts) = package.score(checker, &jobs)?;
    let mut scored = scored.into_iter();
    let verdicts = known.iter().map(|known| {
        if is_recorded(known.0) {
            score_row(known)
        } else {
            scored.next().unwrap_or_else(|| score_row(known))
        }
    });
    Ok((verdicts.collect(), Some(facts)))
}

/// Returns the folder of unverified entries beside a dataset, if it holds one of some ids.
fn unverified_with(dataset: &Dataset, ids: &[&str], settings: &Settings) -> Option<PathBuf> {
    let folders = ["unverified", "dataset/unverified"].map(|name| dataset.path.join(name));
    folders.into_iter().filter(|folder| folder.is_dir()).find(|folder| {
        let other = Dataset::read(folder, settings.package.is_some());
        other.is_ok_and(|other| ids.iter().any(|id| other.place(id).is_some()))
    })
}

/// Returns the number of entries without output in each category that has outputs.
fn missing(
    settings: &Settings,
    dataset: &Dataset,
    system: &System,
    known: &[((usize, usize), &ResultRow)],
) -> Result<Vec<usize>> {
    let present: HashSet<(usize, usize)> = known.iter().map(|(place, _)| *place).collect();
    let mut of_category: BTreeMap<usize, usize> = BTreeMap::new();
    for (category, _) in known.iter().map(|(place, _)| place) {
        *of_category.entry(*category).or_default() += 1;
    }
    let mut counts = vec![0; dataset.categories.len()];
    for &at in of_category.keys() {
        let category = &dataset.categories[at];
        let absent: Vec<&str> = (0..category.entries.len())
            .filter(|entry| !present.contains(&(at, *entry)))
            .map(|entry| category.entries[entry].id.as_str())
            .collect();
        counts[at] = absent.len();
        if absent.is_empty() || settings.partial {
            continue;
        }
        let what = format!(
            "{} of {} entries of {} have no output of {}: {}",
            absent.len(),
            category.entries.len(),
            category.name,
            system.name,
            listed(&absent)
        );
        return Err(unfit(
            &category.path,
            what,
            "add the outputs, or score only the entries that have one with --partial",
        ));
    }
    Ok(counts)
}

/// Lists the first ids.
fn listed(ids: &[&str]) -> String {
    const MAX: usize = 3;
    let first: Vec<&str> = ids.iter().take(MAX).copied().collect();
    let more = if ids.len() > MAX { ", …" } else { "" };
    format!("{}{more}", first.join(", "))
}
