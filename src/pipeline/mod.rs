//! The pipeline file: what to read, which stages in which order, what to write.
//!
//! Typed from end to end: an unknown key is refused with its line and the nearest
//! known key, a stage's contract is checked against the stages before it, and the file
//! as resolved (defaults, flags and all) goes into `run.json`. Nothing here reads data.
//!
//! `file` reads the keys, `draft` holds the tables until they are settings, `order` checks the contracts against one another.

mod draft;
mod file;
mod order;
mod resolved;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::engine::contract::Role;
use crate::engine::decision::Decisions;
use crate::engine::instance::{SinkInstance, SourceInstance, StageInstance};
use crate::engine::kind::{Kind, schema};
use crate::side_file;
use crate::stages::sample::Sample;
use crate::stages::split::Split;
use crate::stages::{Registry, Settings as _};
use crate::text::os_error::{cause_of, hint_of};
use file::PipelineReader;

/// The inputs of the sample, which is in the source tree.
pub const SAMPLE_INPUTS: [&str; 4] =
    ["raw/hosted.jsonl", "raw/openai.jsonl.gz", "raw/anthropic.jsonl", "raw/pairs.csv"];
/// What people decided on rows of the sample.
pub const SAMPLE_DECISIONS: &str = "raw/answers.jsonl";
/// The sample's name, and that of its run folder.
const SAMPLE_NAME: &str = "sample";
/// The default pipeline. It names no inputs.
pub const LIVE: &str = include_str!("../../pipelines/live.toml");
/// The name of the live recipe in messages.
const LIVE_NAME: &str = "pipelines/live.toml (built in)";

const TOP_KEYS: &[&str] =
    &["name", "about", "seed", "max_fault_share", "decisions", "ingest", "baseline", "stages", "export"];
/// Names of sections, which no stage may have as its id.
const SECTIONS: [&str; 3] = ["ingest", "baseline", "export"];
/// The stage that `[baseline]` sets up is put before the first of these if the pipeline does not have it.
const AFTER_OVERLAP: [&str; 2] = [Split::NAME, Sample::NAME];
/// The key that names the kind of a stage or a section.
const KIND: &str = "kind";
const STAGE_KEYS: &[&str] = &[KIND, "id"];

/// What is wrong with a pipeline.
#[derive(Debug, thiserror::Error)]
#[error("{}{what}{}", self.place(), hint.as_ref().map(|hint| format!("\nhint: {hint}")).unwrap_or_default())]
pub struct PipelineError {
    /// The pipeline; `None` if `what` names another file.
    file: Option<String>,
    line: Option<usize>,
    what: String,
    hint: Option<String>,
}

impl PipelineError {
    /// Returns the name of the pipeline; `None` if the fault is not in its text.
    pub fn file(&self) -> Option<&str> {
        self.file.as_deref()
    }

    /// Returns the line of the fault, from 1, if it is known.
    pub fn line(&self) -> Option<usize> {
        self.line
    }

    fn place(&self) -> String {
        let line = self.line.map(|line| format!(":{line}")).unwrap_or_default();
        self.file.as_ref().map(|file| format!("pipeline {file}{line}: ")).unwrap_or_default()
    }
}

/// `--set id.key=value`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Override {
    /// A stage's id, `ingest`, `baseline`, `export`, or empty for the top of the file.
    pub id: String,
    /// The key; a table's key holds dots.
    pub key: String,
    /// TOML; a bare word is a string.
    pub value: String,
}

impl std::str::FromStr for Override {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (place, value) =
            text.split_once('=').ok_or("expected id.key=value, e.g. merge-near-docs.threshold=0.7")?;
        let (id, key) = place.split_once('.').unwrap_or(("", place));
        let [id, key, value] = [id, key, value].map(|part| part.trim().to_owned());
        Ok(Self { id, key, value })
    }
}

/// Settings at the top of the file.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Top {
    /// The pipeline's name: letters, digits, - and _. It names the run folder. Defaults to the name of the file.
    name: String,
    /// What it is for, one sentence.
    about: String,
    /// Seeds every random choice. The same seed gives the same bytes.
    seed: u64,
    /// The largest share of lines and requests, from 0 to 1, that may be lost to faults; with more, the exit code is 1.
    /// Higher accepts more.
    max_fault_share: f64,
    /// Files of decisions by people, which override the stages: one file, or a list of files. A file is a review file of
    /// `callsieve held` (CSV, JSON lines or Parquet) or has one decision per line of JSON.
    decisions: Option<DecisionFiles>,
}

/// One file of decisions, or several.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected the name of a file, or a list of names")]
enum DecisionFiles {
    /// One file.
    One(PathBuf),
    /// Several files, whose decisions apply together.
    Several(Vec<PathBuf>),
}

impl DecisionFiles {
    fn all(self) -> Vec<PathBuf> {
        match self {
            Self::One(file) => vec![file],
            Self::Several(files) => files,
        }
    }
}

impl Default for Top {
    fn default() -> Self {
        Self { name: String::new(), about: String::new(), seed: 1, max_fault_share: 0.25, decisions: None }
    }
}

/// An earlier dataset that the new one must not repeat.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Baseline {
    /// A finished run's folder, or a folder of `BFCL_v4_live_<category>.json`.
    run: PathBuf,
    /// `drop` leaves out the requests that its entries represent; `freeze` also keeps these entries, byte for byte and
    /// with their ids, before the new ones.
    mode: BaselineMode,
}

/// What happens to the entries of the earlier dataset.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum BaselineMode {
    /// They are not written.
    #[default]
    Drop,
    /// They come first in the new dataset.
    Freeze,
}

/// A pipeline, ready to run.
pub struct Pipeline {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub about: String,
    /// The seed.
    pub seed: u64,
    /// See the setting of that name.
    pub max_fault_share: f64,
    /// The files of decisions by people.
    pub decisions_files: Vec<PathBuf>,
    /// What they hold.
    pub decisions: Arc<Decisions>,
    /// What is read.
    pub source: SourceInstance,
    /// The stages in order.
    pub stages: Vec<StageInstance>,
    /// What is written; `None` for a pipeline that only reports.
    pub export: Option<SinkInstance>,
    /// Warnings to show before it runs.
    pub warnings: Vec<String>,
    /// The kinds of stages that it was read with.
    pub(crate) registry: Registry,
}

impl std::fmt::Debug for Pipeline {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Pipeline").field("resolved", &self.resolved()).finish_non_exhaustive()
    }
}

impl Pipeline {
    /// Reads a pipeline file, or the built-in live recipe. Its stages are of the kinds in the registry.
    ///
    /// # Errors
    /// The file cannot be read, or a key or a value in it is wrong.
    pub fn load(
        path: Option<&Path>,
        overrides: &[Override],
        registry: &Registry,
    ) -> Result<Self, PipelineError> {
        let Some(path) = path else { return Self::parse(LIVE, LIVE_NAME, overrides, registry) };
        let file = path.display().to_string();
        let text = side_file::read_text(path).map_err(|error| PipelineError {
            file: Some(file.clone()),
            line: None,
            what: format!("{}{}", cause_of(&error), hint_of(&error, path)),
            hint: None,
        })?;
        Self::parse(&text, &file, overrides, registry)
    }

    /// The built-in live recipe on the sample log, with the decisions that belong to it.
    ///
    /// # Errors
    /// The sample is not in the current folder, or an override is wrong.
    pub fn sample(overrides: &[Override], registry: &Registry) -> Result<Self, PipelineError> {
        if !Path::new(SAMPLE_INPUTS[0]).exists() {
            return Err(PipelineError {
                file: None,
                line: None,
                what: "nothing to read: no log is named, and the sample log is not in this folder".to_owned(),
                hint: Some(
                    "`callsieve run mylog.jsonl` reads a log of your own; the sample is in the source tree of callsieve, in raw/"
                        .to_owned(),
                ),
            });
        }
        let value = |value: &str| toml::Value::from(value).to_string();
        let set =
            |key: &str, text: &str| Override { id: String::new(), key: key.to_owned(), value: value(text) };
        let mut all = vec![set("name", SAMPLE_NAME), set("decisions", SAMPLE_DECISIONS)];
        // The last of several counts.
        all.extend(overrides.iter().cloned());
        let mut pipeline = Self::load(None, &all, registry)?;
        if pipeline.inputs().is_empty() {
            pipeline.set_inputs(SAMPLE_INPUTS.map(PathBuf::from).to_vec())?;
        }
        Ok(pipeline)
    }

    /// Reads a pipeline from its text; `file` names it in messages.
    ///
    /// # Errors
    /// A key or a value in it is wrong.
    pub fn parse(
        text: &str,
        file: &str,
        overrides: &[Override],
        registry: &Registry,
    ) -> Result<Self, PipelineError> {
        PipelineReader { text, file, registry }.pipeline(overrides)
    }

    /// The files that it reads, as people name them: files, folders, patterns.
    pub fn inputs(&self) -> &[PathBuf] {
        self.source.source.files()
    }

    /// Replaces the files that it reads.
    ///
    /// # Errors
    /// The source reads no files that are named for a run.
    pub fn set_inputs(&mut self, inputs: Vec<PathBuf>) -> Result<(), PipelineError> {
        let first = inputs.first().map(|input| format!("{}: ", input.display())).unwrap_or_default();
        self.source = self.source.with_files(inputs).ok_or_else(|| PipelineError {
            file: None,
            line: None,
            what: format!(
                "{first}the pipeline {} reads no files: its source is {}",
                self.name, self.source.kind
            ),
            hint: Some("leave the files out; the settings under [ingest] name what is read".to_owned()),
        })?;
        Ok(())
    }

    /// The earlier datasets it reads, each once: those that requests are held against, and the one that is frozen.
    pub fn baselines(&self) -> Vec<PathBuf> {
        let of_stage = |stage: &StageInstance| {
            let run = stage.settings.get("run").filter(|_| stage.stage.contract().role == Role::Baseline)?;
            run.as_str().map(PathBuf::from)
        };
        let frozen = self.export.iter().flat_map(|export| export.sink.baselines());
        let mut paths: Vec<PathBuf> = self.stages.iter().filter_map(of_stage).chain(frozen).collect();
        paths.sort();
        paths.dedup();
        paths
    }

    /// Returns the whole pipeline: file, defaults and flags.
    pub fn resolved(&self) -> Value {
        self.resolved_with(&self.source)
    }

    /// The same, with the inputs as they are read.
    pub(crate) fn resolved_with(&self, source: &SourceInstance) -> Value {
        let stage =
            |stage: &StageInstance| json!({"id": stage.id, "kind": stage.kind, "settings": stage.settings});
        let default_source = self.registry.sources().first().map(|kind| kind.name);
        let default_sink = self.registry.sinks().first().map(|kind| kind.name);
        let sink = |sink: &SinkInstance| section(sink.kind, &sink.settings, default_sink);
        let mut resolved = json!({
            "name": self.name,
            "about": self.about,
            "seed": self.seed,
            "max_fault_share": self.max_fault_share,
            "ingest": section(source.kind, &source.settings, default_source),
            "stages": self.stages.iter().map(stage).collect::<Vec<_>>(),
            "export": self.export.as_ref().map(sink),
        });
        match &self.decisions_files[..] {
            [] => {}
            [file] => resolved["decisions"] = json!(file),
            files => resolved["decisions"] = json!(files),
        }
        resolved
    }
}

/// The JSON Schema of a pipeline file with these kinds of stages.
pub fn json_schema(registry: &Registry) -> Value {
    let mut top = schema::<Top>();
    let variants: Vec<Value> = registry
        .kinds()
        .iter()
        .map(|kind| {
            let mut schema = schema_of_kind((kind.schema)(), kind.name, kind.summary, false);
            schema["properties"]["id"] = json!({"type": "string", "description": "unique in the pipeline; the kind's name where absent"});
            schema
        })
        .collect();
    top["title"] = "callsieve pipeline".into();
    top["properties"]["ingest"] = schema_of_section(registry.sources());
    top["properties"]["baseline"] = schema::<Baseline>();
    top["properties"]["stages"] = json!({"type": "array", "items": {"oneOf": variants}});
    top["properties"]["export"] = schema_of_section(registry.sinks());
    top
}

/// The settings of a source or a sink with its kind; the kind that a section means without naming one is left out.
fn section(kind: &str, settings: &Value, default: Option<&str>) -> Value {
    let mut section = if Some(kind) == default { json!({}) } else { json!({(KIND): kind}) };
    if let (Some(section), Some(settings)) = (section.as_object_mut(), settings.as_object()) {
        section.extend(settings.clone());
    }
    section
}

/// The JSON Schema of a kind, with its name, which a section that means the default need not have.
fn schema_of_kind(mut schema: Value, name: &str, summary: &str, is_default: bool) -> Value {
    schema["title"] = name.into();
    schema["description"] = summary.into();
    schema["properties"][KIND] = json!({"const": name});
    if !is_default {
        schema["required"] = json!([KIND]);
    }
    schema
}

/// The JSON Schema of a section with one of these kinds. Without a name it is of the first.
fn schema_of_section<I>(kinds: &[Kind<I>]) -> Value {
    let schema =
        |(at, kind): (usize, &Kind<I>)| schema_of_kind((kind.schema)(), kind.name, kind.summary, at == 0);
    let mut schemas: Vec<Value> = kinds.iter().enumerate().map(schema).collect();
    if schemas.len() == 1 { schemas.remove(0) } else { json!({"oneOf": schemas}) }
}
