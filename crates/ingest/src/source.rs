//! The log as the engine's source: its settings, and how it reads files in one pass and in bounded memory.
//!
//! `input_files` reads the files and passes their lines on in order, `line_sink` decides what becomes of a line.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use crate::any_row::{self, RowsRead};
use crate::input_files::{BytesRead, Extent, InputFiles};
use crate::kind::check_kind;
use crate::known_lists::KnownLists;
use crate::line_sink::LineSink;
use crate::log_formats::Columns;
use crate::parts;
use crate::read::{FileFormat, ReadError};
use crate::request_filter::RequestFilter;
use callsieve_engine::columns;
use callsieve_engine::context::Context;
use callsieve_engine::error::{Error, Result};
use callsieve_engine::fingerprint::Fingerprint;
use callsieve_engine::kind::KindSettings;
use callsieve_engine::manifest::InputFile;
use callsieve_engine::parts::{FinishedPart, RunPart};
use callsieve_engine::raw::{InputsRead, Intake};
use callsieve_engine::source::Source;
use callsieve_engine::vocabulary::ColumnSpec;

/// The inputs and how they are read.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Ingest {
    /// Files: JSONL, JSON, CSV or TSV, plain, gzip or zstd; Parquet. `-` is standard input.
    #[serde(serialize_with = "paths_as_text")]
    pub inputs: Vec<PathBuf>,
    /// Longest line that is read, in bytes. A longer one is recorded as unreadable.
    pub max_line_bytes: usize,
    /// Reads this many records and skips the rest.
    pub limit: Option<u64>,
    /// Samples this many records at random; the same seed samples the same ones.
    pub sample_rows: Option<u64>,
    /// Reads only requests of these assistants, as the log names them; of all if the list is empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub assistants: Vec<String>,
    /// Reads only requests since this day or time (UTC).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// Reads only requests until this day or time (UTC); a day counts as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// Column names of rows that hold a query and a function string.
    pub columns: Columns,
    /// The items that become rows: "requests", or "all" that can be read, as a contamination audit needs them.
    pub rows: RowsRead,
    /// With rows = "all": keys of the texts of every item, with dots into objects. Empty: requests are read as requests, and
    /// other items by the usual keys of conversations and instructions.
    pub text_fields: Vec<String>,
}

impl Default for Ingest {
    fn default() -> Self {
        Self {
            inputs: Vec::new(),
            max_line_bytes: 64 << 20,
            limit: None,
            sample_rows: None,
            assistants: Vec::new(),
            since: None,
            until: None,
            columns: Columns::default(),
            rows: RowsRead::default(),
            text_fields: Vec::new(),
        }
    }
}

/// Writes paths as text: file names need not be UTF-8, and what is not becomes U+FFFD.
fn paths_as_text<S: Serializer>(paths: &[PathBuf], serializer: S) -> std::result::Result<S::Ok, S::Error> {
    serializer.collect_seq(paths.iter().map(|path| path.to_string_lossy()))
}

impl Ingest {
    /// Checks that all items of the inputs can be rows, if they are to be.
    fn check_kinds(&self) -> std::result::Result<(), ReadError> {
        let inputs = if self.rows == RowsRead::All { &self.inputs[..] } else { &[] };
        inputs.iter().try_for_each(|path| check_kind(path))
    }

    /// Returns which requests are read.
    pub(super) fn filter(&self) -> Result<RequestFilter> {
        RequestFilter::new(&self.assistants, self.since.as_deref(), self.until.as_deref())
            .map_err(Error::Setting)
    }

    /// Returns how items are read.
    pub(super) fn reading(&self) -> any_row::Reading<'_> {
        any_row::Reading {
            columns: &self.columns,
            rows: self.rows,
            text_fields: &self.text_fields,
            known_lists: None,
        }
    }
}

impl From<ReadError> for Error {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Stopped => Self::Interrupted,
            error => Self::Input(error.to_string()),
        }
    }
}

impl KindSettings for Ingest {
    const NAME: &'static str = "logs";
    const SUMMARY: &'static str = "requests of logs, or all rows of training sets";
}

impl Source for Ingest {
    fn reads_files(&self) -> bool {
        true
    }

    fn files(&self) -> &[PathBuf] {
        &self.inputs
    }

    fn with_files(&self, files: Vec<PathBuf>) -> Option<Arc<dyn Source>> {
        Some(Arc::new(Self { inputs: files, ..self.clone() }))
    }

    fn check(&self) -> Result<()> {
        if self.limit.is_some() && self.sample_rows.is_some() {
            return Err(Error::Setting(
                "limit and sample_rows are both set\nhint: use limit for the first records, or sample_rows for random ones".to_owned(),
            ));
        }
        self.filter()?;
        self.check_kinds().map_err(Error::from)
    }

    fn fingerprint(&self, fingerprint: &mut Fingerprint) -> Result<()> {
        fingerprint.version(17);
        let settings = Self { inputs: Vec::new(), ..self.clone() };
        let settings = serde_json::to_string(&settings).map_err(|error| Error::Setting(error.to_string()))?;
        fingerprint.add_part("settings", settings.as_bytes());
        // The name of a file only determines how it is read.
        for path in &self.inputs {
            fingerprint.add_part("format", format!("{:?}", Reading::of(path)).as_bytes());
        }
        Ok(())
    }

    fn columns(&self) -> Vec<ColumnSpec> {
        columns::from_ingest()
    }

    fn inputs(&self) -> Result<Vec<InputFile>> {
        self.inputs.iter().map(|path| InputFile::read(path, &|| false)).collect()
    }

    fn read(&self, into: &mut Intake, cx: &Context<'_>) -> Result<InputsRead> {
        self.check_kinds()?;
        let (bytes_read, known_lists) = (BytesRead::of(&self.inputs, cx), KnownLists::default());
        let files = InputFiles { ingest: self, cx, bytes_read: &bytes_read, known_lists: &known_lists };
        let mut sink = LineSink::new(self, &known_lists, into, cx)?;
        let extents: Vec<Extent<'_>> =
            (0..).zip(&self.inputs).map(|(file, path)| Extent { file, path, bytes: None }).collect();
        let read = files.read(&extents, &mut sink)?;
        sink.finish(read)
    }

    fn divides(&self) -> bool {
        true
    }

    fn read_part(&self, part: RunPart, content: &Path, cx: &Context<'_>) -> Result<Value> {
        self.check_kinds()?;
        parts::read_part(self, part, content, cx)
    }

    fn join_parts(&self, parts: &[FinishedPart], into: &mut Intake, cx: &Context<'_>) -> Result<InputsRead> {
        parts::join_parts(self, parts, into, cx)
    }
}

/// The reader of a file, by its name.
#[derive(Debug, Clone, Copy)]
pub enum Reading {
    /// Rows of Parquet.
    Parquet,
    /// Items of a text in this format.
    Text(FileFormat),
}

impl Reading {
    /// Returns the reader of a file.
    pub fn of(path: &Path) -> Self {
        let is_parquet = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("parquet"));
        if is_parquet { Self::Parquet } else { Self::Text(FileFormat::of(path)) }
    }
}

/// Names of files that describe a set and hold no row of it: of the `datasets` library, and of the Croissant format.
const SET_FACTS: [&str; 4] =
    ["dataset_infos.json", "dataset_info.json", "dataset_dict.json", "croissant.json"];

/// Returns whether a file of a folder describes a set and is no part of it.
pub fn is_set_facts(path: &Path) -> bool {
    path.file_name().is_some_and(|name| SET_FACTS.iter().any(|known| name.eq_ignore_ascii_case(known)))
}
