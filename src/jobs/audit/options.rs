//! The options of an audit, its pipeline, and what is wrong with its result.

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

use crate::audit::benchmark::formats::format_named;
use crate::audit::benchmark::{BenchColumns, BenchError};
use crate::audit::hit::{Compared, Verdict};
use crate::audit::report::AuditReport;
use crate::pipeline::{Override, Pipeline, PipelineError};
use crate::stages::drop_benchmark_overlap::{DropBenchmarkOverlap, OnOverlap};
use crate::stages::{Registry, Settings as _};
use crate::text::figures::{count, share_of};

/// The recipe. It names no inputs and no benchmark.
pub const RECIPE: &str = include_str!("../../../pipelines/audit.toml");
/// Its name in messages.
const RECIPE_NAME: &str = "pipelines/audit.toml (built in)";
/// The stages before the comparison if a language model judges: what is sent to it is redacted first.
const REDACTION: &str = "[[stages]]\nkind = \"redact\"\n\n[[stages]]\nkind = \"redact-docs\"\n\n";
/// The format of benchmarks whose columns are named.
const COLUMNS: &str = "columns";

/// What is audited, and how.
#[derive(Debug, Clone)]
pub struct AuditOptions {
    /// Training sets: files, folders, patterns.
    pub train: Vec<PathBuf>,
    /// Benchmarks: files, folders, or public sets by id.
    pub benchmarks: Vec<String>,
    /// The format of the benchmarks; `None` recognises it by its signs.
    pub format: Option<String>,
    /// The columns of benchmarks of the format `columns`; empty for others.
    pub columns: BenchColumns,
    /// Keys of texts that are compared instead of requests, with dots into objects.
    pub text_fields: Vec<String>,
    /// What becomes of contaminated rows.
    pub contaminated: OnOverlap,
    /// What becomes of suspect rows.
    pub suspect: OnOverlap,
    /// What of the rows is compared.
    pub objects: Vec<Compared>,
    /// A language model that judges suspect pairs of messages. It gets redacted texts.
    pub judge: Option<String>,
    /// Files of decisions by people.
    pub decisions: Vec<PathBuf>,
    /// Other settings of the pipeline; they win.
    pub settings: Vec<Override>,
}

/// Why there is no pipeline of an audit.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuditError {
    /// There is no such format of benchmarks.
    #[error(transparent)]
    Format(#[from] BenchError),
    /// Columns without the format that has them, or the format without columns.
    #[error(
        "--bench-format columns and --bench-column belong together: found one without the other\nhint: --bench-format columns --bench-column query=prompt"
    )]
    Columns,
    /// A setting is wrong.
    #[error(transparent)]
    Pipeline(#[from] PipelineError),
}

impl AuditOptions {
    /// Returns the audit of training sets against benchmarks: contaminated rows are dropped, suspect ones kept.
    pub fn new(train: Vec<PathBuf>, benchmarks: Vec<String>) -> Self {
        Self {
            train,
            benchmarks,
            format: None,
            columns: BenchColumns::default(),
            text_fields: Vec::new(),
            contaminated: OnOverlap::Drop,
            suspect: OnOverlap::Keep,
            objects: Compared::ALL.to_vec(),
            judge: None,
            decisions: Vec::new(),
            settings: Vec::new(),
        }
    }

    /// Returns the pipeline of the audit.
    ///
    /// # Errors
    /// The format of the benchmarks is unknown or has no columns, or a setting is wrong.
    pub fn pipeline(&self, registry: &Registry) -> Result<Pipeline, AuditError> {
        let mut recipe = RECIPE.to_owned();
        if let Some(at) = recipe.find("[[stages]]").filter(|_| self.judge.is_some()) {
            recipe.insert_str(at, REDACTION);
        }
        let mut pipeline = Pipeline::parse(&recipe, RECIPE_NAME, &self.overrides()?, registry)?;
        pipeline.set_inputs(self.train.clone())?;
        Ok(pipeline)
    }

    fn overrides(&self) -> Result<Vec<Override>, AuditError> {
        let stage = |key: &str, value: toml::Value| over(DropBenchmarkOverlap::NAME, key, value);
        let mut overrides = vec![
            stage("benchmarks", self.benchmarks.clone().into()),
            stage("contaminated", word(self.contaminated)),
            stage("suspect", word(self.suspect)),
        ];
        if self.objects != Compared::ALL {
            let names: Vec<&str> = self.objects.iter().map(|kind| kind.name()).collect();
            overrides.push(stage("objects", names.into()));
        }
        if !self.text_fields.is_empty() {
            overrides.push(over("ingest", "text_fields", self.text_fields.clone()));
            overrides.push(stage("text_fields", self.text_fields.clone().into()));
        }
        if !self.decisions.is_empty() {
            let files = self.decisions.iter().map(|file| file.to_string_lossy().into_owned());
            overrides.push(over("", "decisions", files.collect::<Vec<_>>()));
        }
        overrides.extend(self.judge.iter().map(|model| stage("model", model.as_str().into())));
        if self.columns.is_empty() == (self.format.as_deref() == Some(COLUMNS)) {
            return Err(AuditError::Columns);
        }
        if let Some(format) = &self.format {
            format_named(format)?;
            overrides.push(stage("format", format.as_str().into()));
        }
        let named = self.columns.roles().into_iter().filter(|(_, names)| !names.is_empty());
        overrides.extend(named.map(|(role, names)| stage(&format!("columns.{role}"), names.clone().into())));
        overrides.extend(self.settings.iter().cloned());
        Ok(overrides)
    }
}

fn over(id: &str, key: &str, value: impl Into<toml::Value>) -> Override {
    Override { id: id.to_owned(), key: key.to_owned(), value: value.into().to_string() }
}

fn word(action: OnOverlap) -> toml::Value {
    toml::Value::try_from(action).expect("the name of an action is text")
}

/// Why the result of an audit is not good enough.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub enum AuditGate {
    /// No row has anything that could be compared.
    NothingCompared {
        /// Rows of the training sets.
        rows: u64,
    },
    /// Too many entries of the benchmarks are contaminated.
    Rate {
        /// Contaminated entries.
        contaminated: u64,
        /// All entries.
        entries: u64,
        /// The share that is allowed, from 0 to 1.
        allowed: f64,
    },
}

impl fmt::Display for AuditGate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NothingCompared { rows } => write!(
                f,
                "no row could be compared: no message of a user, no function and no call was found in {}\nhint: --field NAME names the key of the text to compare",
                if *rows == 1 { "1 row".to_owned() } else { format!("{} rows", count(*rows)) }
            ),
            Self::Rate { contaminated, entries, allowed } => write!(
                f,
                "{} of the entries are contaminated, more than --max-rate {allowed}",
                share_of(*contaminated, *entries)
            ),
        }
    }
}

/// Returns what is wrong with the result of an audit; `max_rate` is the largest allowed share of contaminated entries, from
/// 0 to 1.
pub fn gates(report: &AuditReport, max_rate: Option<f64>) -> Option<AuditGate> {
    let n_unscorable = report.n_rows_of(Verdict::Unscorable);
    if n_unscorable > 0 && n_unscorable == report.n_rows() {
        return Some(AuditGate::NothingCompared { rows: n_unscorable });
    }
    let allowed = max_rate.filter(|allowed| report.total.rate > *allowed)?;
    let (contaminated, entries) = (report.total.contaminated as u64, report.total.entries as u64);
    Some(AuditGate::Rate { contaminated, entries, allowed })
}
