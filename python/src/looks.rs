//! What needs no run: logs, faults of datasets, scores of models.

use std::path::PathBuf;

use callsieve::checker::{Checker, Matching, Mode};
use callsieve::evaluate::decoding::Decoding;
use callsieve::evaluate::{self as scores, Settings, output};
use callsieve::ingest::request_filter::RequestFilter;
use callsieve::inspect::{Closeness, inspect_some};
use callsieve::lint::{CheckOptions, RuleSet, check_path};
use callsieve::run::expand;
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::environment;
use crate::failure::Failure;
use crate::work::{Stops, work};

/// Shows what is in a sample of logs, as `inspect --json` prints it.
#[pyfunction]
#[pyo3(signature = (paths, *, rows, seed, assistant, since, until))]
pub(crate) fn inspect(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    rows: usize,
    seed: u64,
    assistant: Vec<String>,
    since: Option<String>,
    until: Option<String>,
) -> PyResult<String> {
    let environment = environment(py)?;
    work(py, None, Stops::Unheard, move |_| {
        let wanted = RequestFilter::new(&assistant, since.as_deref(), until.as_deref());
        let wanted = wanted.map_err(|error| Failure::new(&error))?;
        let files = expand(&paths)?.files;
        let look = inspect_some(&files, Closeness { rows, seed }, &wanted, environment.sets())?;
        Ok(serde_json::to_string(&look)?)
    })
}

/// Checks functions or a dataset; the findings are the lines of `check --json`, without those of rules.
#[pyfunction]
#[pyo3(signature = (path, *, rules, rule))]
pub(crate) fn check(py: Python<'_>, path: PathBuf, rules: String, rule: Vec<String>) -> PyResult<String> {
    work(py, None, Stops::Unheard, move |_| {
        let mut options = CheckOptions::new(path);
        options.codes = rule;
        options.rules = match rules.as_str() {
            "bfcl" => RuleSet::Bfcl,
            "official-linter" => RuleSet::OfficialLinter,
            other => {
                return Err(Failure::new(&format!(
                    "unknown rules {other:?}\nhint: the rules are bfcl and official-linter"
                )));
            }
        };
        let checked = check_path(&options)?;
        let finding = |finding: &callsieve::lint::LintFinding| -> Value {
            let by: Vec<&str> = finding.rule.by.iter().map(|by| by.name()).collect();
            json!({
                "file": checked.path_of(finding), "line": finding.line, "id": finding.id,
                "function": finding.function.as_ref().map(|function| &function.name), "at": finding.at,
                "reason": finding.rule.code, "level": checked.level(finding.rule).name(), "by": by,
                "found": finding.found, "expected": finding.expected,
            })
        };
        Ok(Value::Array(checked.findings.iter().map(finding).collect()).to_string())
    })
}

/// How models are scored; the names are those of the flags.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
#[allow(clippy::struct_excessive_bools)] // Each is an argument of its own.
pub(crate) struct EvaluateArguments {
    dataset: PathBuf,
    results: Vec<PathBuf>,
    recorded: Option<PathBuf>,
    underscore_to_dot: bool,
    lenient: bool,
    strip_thinking: bool,
    strict: bool,
    maximum: bool,
    partial: bool,
    pairs: bool,
    verdicts: bool,
}

impl EvaluateArguments {
    fn settings(&self) -> Settings {
        Settings {
            dataset: self.dataset.clone(),
            results: self.results.clone(),
            recorded: self.recorded.clone(),
            checker: Checker {
                mode: if self.strict { Mode::Strict } else { Mode::Official },
                matching: if self.maximum { Matching::Maximum } else { Matching::Greedy },
                underscore_to_dot: self.underscore_to_dot,
            },
            decoding: Decoding {
                is_lenient: self.lenient,
                strips_thinking: self.strip_thinking,
                ..Decoding::default()
            },
            partial: self.partial,
            pairs: self.pairs,
            ..Settings::default()
        }
    }
}

/// Scores the outputs of models, and returns the figures of `evaluate --json` and the verdicts, if they are wanted.
#[pyfunction]
#[pyo3(signature = (arguments))]
pub(crate) fn evaluate(py: Python<'_>, arguments: EvaluateArguments) -> PyResult<(String, Option<String>)> {
    work(py, None, Stops::Unheard, move |_| {
        let settings = arguments.settings();
        let inputs = scores::read(&settings)?;
        let scored = scores::evaluate(&settings, &inputs)?;
        let verdicts = arguments.verdicts.then(|| output::verdict_lines(&scored.systems));
        Ok((output::figures(&scored).to_string(), verdicts))
    })
}
