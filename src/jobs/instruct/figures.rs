//! The figures of an instruction set, which its card and its page show.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::engine::error::{At as _, Result};
use crate::instruct::record::UNEXECUTED;
use crate::side_file;
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
    for path in ["programs.jsonl", "unverified/programs.jsonl"].map(|file| folder.join("dataset").join(file))
    {
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
        *figures.strata.entry(line.stratum).or_default() += 1;
        *figures.states.entry(line.state).or_default() += 1;
        *figures.environments.entry(format!("{} ({})", line.environment, line.origin)).or_default() += 1;
    }
    Ok(figures)
}

/// How calls were executed, in words.
pub(super) fn conditions_in_words(conditions: &Map<String, Value>) -> Vec<String> {
    let in_words = |(condition, is): (&String, &Value)| match (condition.as_str(), is) {
        ("redacted", Value::Null) => "nobody looked for personal values in the results".to_owned(),
        ("redacted", n) => format!("personal values were replaced in {n} instructions"),
        (_, Value::String(is)) => format!("{condition}: {}", visible_line(is)),
        (_, is) => format!("{condition}: {is}"),
    };
    conditions.iter().map(in_words).collect()
}
