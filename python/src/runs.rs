//! Pipelines into run folders, and finished runs.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use callsieve::audit::benchmark::BenchColumn;
use callsieve::jobs::audit::{AuditOptions, gates, read};
use callsieve::jobs::instruct::{GenerateOptions, Way};
use callsieve::pipeline::Override;
use callsieve::run::{
    self, ModelOptions, OpenRun, Options, Outcome, fetch_inputs, fetched_benchmarks, run_name,
};
use callsieve::{Pipeline, Registry};
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::environment;
use crate::failure::Failure;
use crate::work::{Stops, Watch, work};

/// What a run may do besides its pipeline.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct RunOptions {
    out: Option<PathBuf>,
    fresh: bool,
    ignore_reviews: bool,
    cache_only: bool,
    max_cost: Option<f64>,
}

impl RunOptions {
    fn options(&self) -> Options {
        let mut model = ModelOptions::default();
        model.cache_only = self.cache_only;
        model.max_cost = self.max_cost;
        Options::default().fresh(self.fresh).reviews(!self.ignore_reviews).model(model)
    }
}

/// Settings as `--set` has them: a place and a value in TOML.
fn overrides(settings: &[(String, String)]) -> Result<Vec<Override>, Failure> {
    let set = settings.iter().map(|(place, value)| format!("{place}={value}").parse());
    set.collect::<Result<_, String>>().map_err(|error| Failure::new(&format!("settings: {error}")))
}

/// Runs a pipeline, and returns where its result is and which gates it failed.
fn executed(pipeline: &Pipeline, out: &Path, options: &RunOptions, watch: &Watch) -> Result<Value, Failure> {
    let run = run::execute(pipeline, out, &options.options(), watch)?;
    let gates = match &run.outcome {
        Outcome::GateFailed(gates) => gates.iter().map(ToString::to_string).collect(),
        _ => Vec::new(),
    };
    Ok(json!({"folder": run.folder, "failed_gates": gates, "reused": run.reused}))
}

/// Runs a pipeline file, or the live recipe, on inputs.
#[pyfunction]
#[pyo3(signature = (inputs, pipeline, settings, options, progress))]
pub(crate) fn run_pipeline(
    py: Python<'_>,
    inputs: Vec<PathBuf>,
    pipeline: Option<PathBuf>,
    settings: Vec<(String, String)>,
    options: RunOptions,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let registry = Registry::standard().in_environment(environment(py)?);
    work(py, progress, Stops::Soon, move |watch| {
        let mut loaded = Pipeline::load(pipeline.as_deref(), &overrides(&settings)?, &registry)?;
        let name = if inputs.is_empty() { loaded.name.clone() } else { run_name(&inputs) };
        if !inputs.is_empty() {
            loaded.set_inputs(inputs)?;
        }
        fetch_inputs(&mut loaded, &mut |_| ())?;
        let out = options.out.clone().unwrap_or_else(|| Path::new("out").join(name));
        Ok(executed(&loaded, &out, &options, watch)?.to_string())
    })
}

/// What is audited, and how; the names are those of the flags.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct AuditArguments {
    train: Vec<PathBuf>,
    bench: Vec<String>,
    bench_format: Option<String>,
    bench_column: Vec<String>,
    field: Vec<String>,
    objects: Option<Vec<String>>,
    contaminated: String,
    suspect: String,
    judge: Option<String>,
    max_rate: Option<f64>,
    settings: Vec<(String, String)>,
}

impl AuditArguments {
    fn options(&self) -> Result<AuditOptions, Failure> {
        let word = |flag: &str, word: &str| {
            let value = Value::from(word);
            serde_json::from_value(value).map_err(|_| {
                Failure::new(&format!("{flag}: unknown word {word:?}\nhint: drop, hold or keep"))
            })
        };
        let mut options = AuditOptions::new(self.train.clone(), self.bench.clone());
        options.format.clone_from(&self.bench_format);
        let columns = self.bench_column.iter().map(|column| Ok(column.parse::<BenchColumn>()?));
        options.columns = columns.collect::<Result<_, Failure>>()?;
        options.text_fields.clone_from(&self.field);
        options.contaminated = word("contaminated", &self.contaminated)?;
        options.suspect = word("suspect", &self.suspect)?;
        options.judge.clone_from(&self.judge);
        options.settings = overrides(&self.settings)?;
        if let Some(objects) = &self.objects {
            let all = options.objects.clone();
            let known = |name: &String| all.iter().find(|kind| kind.name() == name.as_str()).copied();
            let unknown = |name: &String| {
                let names: Vec<&str> = all.iter().map(|kind| kind.name()).collect();
                Failure::new(&format!("objects: unknown kind {name:?}\nhint: {}", names.join(", ")))
            };
            options.objects = objects
                .iter()
                .map(|name| known(name).ok_or_else(|| unknown(name)))
                .collect::<Result<_, _>>()?;
        }
        Ok(options)
    }
}

/// Audits training sets against benchmarks.
#[pyfunction]
#[pyo3(signature = (arguments, options, progress))]
pub(crate) fn audit(
    py: Python<'_>,
    arguments: AuditArguments,
    options: RunOptions,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let registry = Registry::standard().in_environment(environment(py)?);
    work(py, progress, Stops::Soon, move |watch| {
        let mut audited = arguments.options()?;
        audited.benchmarks = fetched_benchmarks(&audited.benchmarks, registry.environment(), &mut |_| ())?;
        let mut pipeline = audited.pipeline(&registry)?;
        fetch_inputs(&mut pipeline, &mut |_| ())?;
        let out = options.out.clone().unwrap_or_else(|| PathBuf::from("out/audit"));
        let mut run = executed(&pipeline, &out, &options, watch)?;
        let report = read(&out)?
            .ok_or_else(|| Failure::new("the pipeline of the audit compares with no benchmark"))?;
        if let (Some(gate), Some(failed)) =
            (gates(&report, arguments.max_rate), run["failed_gates"].as_array_mut())
        {
            failed.push(gate.to_string().into());
        }
        Ok(run.to_string())
    })
}

/// What instructions are made of; the names are those of the flags.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct GenerateArguments {
    over: PathBuf,
    environment: Option<PathBuf>,
    accept: u64,
    max_candidates: Option<u64>,
    seed: Option<u64>,
    bindings: Option<PathBuf>,
    wording: Option<PathBuf>,
    word: Option<String>,
    model: Vec<String>,
    settings: Vec<(String, String)>,
}

impl GenerateArguments {
    fn options(&self) -> Result<GenerateOptions, Failure> {
        let over = self.over.clone();
        let mut options = if over.is_dir() {
            let mut options = GenerateOptions::over_collection(over, self.accept);
            options.environment.clone_from(&self.environment);
            options
        } else if self.environment.is_some() {
            return Err(Failure::new(&format!(
                "an environment is for the run folder of a collection, and {} is a file\nhint: give one environment, or the folder that `callsieve collect` made",
                over.display()
            )));
        } else {
            GenerateOptions::new(over, self.accept)
        };
        options.way = match (&self.word, &self.model[..]) {
            (None, []) => Way::Programs,
            (Some(model), []) => Way::ProgramsWordedBy(model.clone()),
            (None, models) => Way::Models(models.to_vec()),
            (Some(_), _) => {
                return Err(Failure::new(
                    "a model writes the instructions or puts those of programs into words, not both\nhint: leave out `word` or `model`",
                ));
            }
        };
        options.bindings.clone_from(&self.bindings);
        options.wording.clone_from(&self.wording);
        options.max_candidates = self.max_candidates;
        options.seed = self.seed;
        options.settings = overrides(&self.settings)?;
        Ok(options)
    }
}

/// Makes instructions over an environment.
#[pyfunction]
#[pyo3(signature = (arguments, out, options, progress))]
pub(crate) fn generate(
    py: Python<'_>,
    arguments: GenerateArguments,
    out: PathBuf,
    options: RunOptions,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let registry = Registry::standard().in_environment(environment(py)?);
    work(py, progress, Stops::Soon, move |watch| {
        let pipeline = arguments.options()?.pipeline(&registry)?;
        Ok(executed(&pipeline, &out, &options, watch)?.to_string())
    })
}

/// A finished run, whose tables are in memory.
#[pyclass(frozen, module = "callsieve._native")]
pub(crate) struct NativeRun(Arc<OpenRun>);

#[pymethods]
impl NativeRun {
    /// Opens a run folder.
    #[staticmethod]
    fn open(py: Python<'_>, folder: PathBuf) -> PyResult<Self> {
        let registry = Registry::standard().in_environment(environment(py)?);
        work(py, None, Stops::Unheard, move |_| Ok(Self(Arc::new(run::open(&folder, &registry)?))))
    }

    /// Returns the history of a row, as `why --json` prints it.
    fn why(&self, py: Python<'_>, row: String) -> PyResult<String> {
        let run = Arc::clone(&self.0);
        work(py, None, Stops::Unheard, move |_| Ok(serde_json::to_string(&run::why(&run, &row)?)?))
    }

    /// Returns the card of the dataset, in Markdown.
    fn card(&self, py: Python<'_>) -> PyResult<String> {
        let run = Arc::clone(&self.0);
        work(py, None, Stops::Unheard, move |_| Ok(run.card()?))
    }
}
