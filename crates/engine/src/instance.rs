//! The source of a pipeline, a stage at its place, and the sink at the end.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value, json};

use super::sink::Sink;
use super::source::Source;
use super::stage::Stage;

/// The key of the files of a source in its settings.
const INPUTS: &str = "inputs";
/// The key of the rows that a source makes in addition.
const SPARE: &str = "spare";

/// The source of a pipeline, with its settings.
#[derive(Clone)]
pub struct SourceInstance {
    /// The kind's name.
    pub kind: &'static str,
    /// Its settings, defaults included.
    pub settings: Value,
    /// The source itself.
    pub source: Arc<dyn Source>,
}

impl SourceInstance {
    /// Returns the same source with other files; `None` if it [reads none](Source::reads_files).
    pub fn with_files(&self, files: Vec<PathBuf>) -> Option<Self> {
        // Names of files need not be UTF-8; what is not becomes U+FFFD.
        let names: Vec<String> = files.iter().map(|file| file.to_string_lossy().into_owned()).collect();
        let source = self.source.with_files(files)?;
        let mut settings = self.settings.clone();
        settings[INPUTS] = json!(names);
        Some(Self { settings, source, ..*self })
    }
}

impl SourceInstance {
    /// Returns the same source that makes so many rows more than are wanted; `None` if it makes no rows.
    pub fn with_spare(&self, spare: u64) -> Option<Self> {
        let source = self.source.with_spare(spare)?;
        let mut settings = self.settings.clone();
        settings[SPARE] = json!(spare);
        Some(Self { settings, source, ..*self })
    }

    /// Returns the same source that reads this run folder instead of having a pipeline run first; `None` if it names none.
    /// The settings keep the name of the pipeline.
    pub fn with_earlier_run(&self, run: PathBuf) -> Option<Self> {
        let source = self.source.with_earlier_run(run)?;
        Some(Self { source, settings: self.settings.clone(), ..*self })
    }
}

impl std::fmt::Debug for SourceInstance {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SourceInstance")
            .field("kind", &self.kind)
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

/// A stage of a pipeline, with its id and settings.
pub struct StageInstance {
    /// Its id, unique in the pipeline.
    pub id: String,
    /// The kind's name.
    pub kind: &'static str,
    /// Its settings, defaults included.
    pub settings: Value,
    /// The stage itself.
    pub stage: Box<dyn Stage>,
}

/// The sink of a pipeline, with its settings.
#[derive(Clone)]
pub struct SinkInstance {
    /// The kind's name.
    pub kind: &'static str,
    /// What it writes, in a few words.
    pub summary: &'static str,
    /// Its settings, defaults included.
    pub settings: Value,
    /// The sink itself.
    pub sink: Arc<dyn Sink>,
}
