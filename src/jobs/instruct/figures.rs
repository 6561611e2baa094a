//! The figures of an instruction set, which its card and its page show.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::engine::error::{At as _, Result};
use crate::engine::language_model::ModelUsage;
use crate::instruct::record::{TEMPLATE, UNEXECUTED};
use crate::instruct::sink::FOLDERS;
use crate::side_file;
use crate::stages::yields::{PASSED, YIELDS_NOTE, Yields};
use crate::text::figures::count;
use crate::text::visible::visible_line;

/// What the card and the page need of a line of `programs.jsonl`.
#[derive(Deserialize)]
struct Line {
    instruction: String,
    stratum: String,
    tier: String,
    environment: String,
    origin: String,
    state: String,
    wording: String,
    #[serde(default)]
    sample: Option<Value>,
    calls: Vec<Call>,
}

#[derive(Deserialize)]
struct Call {
    name: String,
    arguments: Map<String, Value>,
    references: BTreeMap<String, String>,
}

/// The figures of the lines of `programs.jsonl`.
#[derive(Default)]
pub(super) struct Figures {
    /// The number of instructions.
    pub(super) n: u64,
    /// Those with an argument from an earlier result.
    pub(super) n_dependent: u64,
    /// Those whose calls were not executed.
    pub(super) n_unexecuted: u64,
    /// Those of each model that worded or wrote them; none of templates.
    pub(super) models: BTreeMap<String, u64>,
    /// Models wrote them, not programs.
    pub(super) is_written: bool,
    /// Those of each stratum.
    pub(super) strata: BTreeMap<String, u64>,
    /// Those of each initial state.
    pub(super) states: BTreeMap<String, u64>,
    /// Those of each environment.
    pub(super) environments: BTreeMap<String, u64>,
    /// The first of each stratum: its first message and its calls.
    pub(super) examples: BTreeMap<String, (String, Vec<String>)>,
}

impl Call {
    /// The call as a person writes it, with references instead of values from earlier results.
    fn shown(&self) -> String {
        let argument = |(name, value): (&String, &Value)| match self.references.get(name) {
            Some(place) => format!("{name}={place}"),
            None => format!("{name}={value}"),
        };
        let arguments: Vec<String> = self.arguments.iter().map(argument).collect();
        format!("{}({})", self.name, arguments.join(", "))
    }
}

/// Counts the instructions of a run.
///
/// # Errors
/// A file of the run cannot be read.
pub(super) fn figures(folder: &Path) -> Result<Figures> {
    let mut figures = Figures::default();
    let mut text = String::new();
    let dataset = folder.join("dataset");
    for folder in [dataset.clone()].into_iter().chain(FOLDERS.map(|below| dataset.join(below))) {
        let path = folder.join("programs.jsonl");
        if path.is_file() {
            text += &side_file::read_text(&path).at("reading", &path)?;
        }
    }
    for line in text.lines().filter_map(|line| serde_json::from_str::<Line>(line).ok()) {
        figures.n += 1;
        figures.n_unexecuted += u64::from(line.tier == UNEXECUTED);
        figures.n_dependent += u64::from(line.calls.iter().any(|call| !call.references.is_empty()));
        let calls = || line.calls.iter().map(Call::shown).collect();
        figures.examples.entry(line.stratum.clone()).or_insert_with(|| (line.instruction.clone(), calls()));
        figures.is_written |= line.sample.is_some();
        if line.wording != TEMPLATE {
            *figures.models.entry(line.wording).or_default() += 1;
        }
        *figures.strata.entry(line.stratum).or_default() += 1;
        *figures.states.entry(line.state).or_default() += 1;
        *figures.environments.entry(format!("{} ({})", line.environment, line.origin)).or_default() += 1;
    }
    Ok(figures)
}

/// What the stages that ask language models made of instructions: for each stage, stratum and model, how many were asked for, how
/// many passed, and the reasons of the others, most frequent first.
pub(super) fn yields(report: &Value) -> Vec<Yield> {
    let notes = report["notes"].as_object().into_iter().flatten();
    let of_stage = |(stage, notes): (&String, &Value)| {
        let Yields(strata) = serde_json::from_value(notes[YIELDS_NOTE].clone()).unwrap_or_default();
        let of_model = |(stratum, models): (String, BTreeMap<String, BTreeMap<String, u64>>)| {
            let stage = stage.clone();
            models.into_iter().map(move |(model, outcomes)| {
                let passed = outcomes.get(PASSED).copied().unwrap_or_default();
                let asked = outcomes.values().sum();
                let mut reasons: Vec<(String, u64)> =
                    outcomes.into_iter().filter(|(outcome, _)| outcome != PASSED).collect();
                reasons.sort_by(|one, other| other.1.cmp(&one.1).then(one.0.cmp(&other.0)));
                Yield { stage: stage.clone(), stratum: stratum.clone(), model, asked, passed, reasons }
            })
        };
        strata.into_iter().flat_map(of_model).collect::<Vec<_>>()
    };
    notes.flat_map(of_stage).collect()
}

/// What became of the instructions of a stratum that a model was asked for.
pub(super) struct Yield {
    pub(super) stage: String,
    pub(super) stratum: String,
    pub(super) model: String,
    pub(super) asked: u64,
    pub(super) passed: u64,
    pub(super) reasons: Vec<(String, u64)>,
}

impl Yield {
    /// The reasons in words, most frequent first.
    pub(super) fn reasons_in_words(&self) -> String {
        let of = |(reason, n): &(String, u64)| format!("{reason} {}", count(*n));
        self.reasons.iter().map(of).collect::<Vec<_>>().join(", ")
    }
}

/// US dollars of all stages for an instruction of the set; `None` if no price is known.
pub(super) fn cost_of_one(report: &Value, n: u64) -> Option<f64> {
    let usages = report["language_models"].as_object()?;
    let cost = |usage: &Value| ModelUsage::deserialize(usage).ok()?.cost_of_answers();
    let total = usages.values().filter_map(cost).reduce(|one, other| one + other);
    #[allow(clippy::cast_precision_loss)] // Counts of instructions.
    total.filter(|_| n > 0).map(|total| total / n as f64)
}

/// How calls were executed, in words.
pub(super) fn conditions_in_words(conditions: &Map<String, Value>) -> Vec<String> {
    let in_words = |(condition, is): (&String, &Value)| match (condition.as_str(), is) {
        ("redacted", Value::Null) => "nobody looked for personal values".to_owned(),
        ("redacted", n) => format!("personal values were replaced in {n} instructions"),
        (_, Value::String(is)) => format!("{condition}: {}", visible_line(is)),
        (_, is) => format!("{condition}: {is}"),
    };
    conditions.iter().map(in_words).collect()
}
