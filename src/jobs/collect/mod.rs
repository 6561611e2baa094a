//! API collections: `pipelines/collection.toml` and pipelines like it.
//!
//! [`CollectOptions::pipeline`] makes the pipeline for files and servers, which [`crate::run::execute`] runs like any other;
//! [`counts`] returns what was in the files and what was read.

mod card;
mod metadata;
mod options;
mod page;

use std::path::Path;

use serde_json::Value;

use super::gate::{FailedGate, RunFacts};
use super::{Job, sink_of};
use crate::engine::error::Result;
use crate::engine::kind::KindSettings as _;
use crate::engine::layout::INGEST;
use crate::engine::manifest::read_manifest;
use crate::engine::raw::IngestManifest;
use crate::instruct::collection::sink::CollectionFiles;
use crate::instruct::collection::source::COUNTS;
use crate::report::croissant::Croissant;
use crate::report::funnel::Wording;
use crate::report::html::OwnSections;
use crate::report::model::Report;
pub use options::{CollectOptions, RECIPE};

/// The job: tools are read from files and servers, and written with legal names.
#[derive(Debug)]
pub struct Collect;

impl Job for Collect {
    fn name(&self) -> &'static str {
        "collect"
    }

    fn is_of(&self, pipeline: &Value) -> bool {
        sink_of(pipeline) == Some(CollectionFiles::NAME)
    }

    fn own_card(&self, folder: &Path) -> Result<Option<String>> {
        card::card(folder).map(Some)
    }

    fn own_metadata(&self, _folder: &Path, report: &Report) -> Result<Option<Croissant>> {
        Ok(Some(metadata::metadata(report)))
    }

    fn own_sections(&self, folder: &Path, report: &Report) -> Result<Option<OwnSections>> {
        page::sections(folder, report).map(Some)
    }

    /// A tool is in several files.
    fn erases_entries(&self) -> bool {
        false
    }

    fn reads_logs(&self) -> bool {
        false
    }

    fn wording(&self) -> Wording {
        Wording {
            read: "tools that were read",
            exported: Some("tools of the collection"),
            has_published: false,
        }
    }

    /// A collection has no requests; it has at least one tool.
    fn gates(&self, run: &RunFacts<'_>) -> Vec<FailedGate> {
        let counts = &run.read.counts;
        if counts.doc_lists > 0 { Vec::new() } else { vec![FailedGate::NoTool { items: counts.lines }] }
    }
}

/// What was in the files of a collection and what was read of it: for each kind of item `source`, `read` and `lost`.
///
/// # Errors
/// The manifest of the ingest step cannot be read.
pub fn counts(run: &Path) -> Result<Option<Value>> {
    let manifest: Option<IngestManifest> = read_manifest(run, INGEST)?;
    Ok(manifest.and_then(|mut manifest| manifest.notes.remove(COUNTS)))
}
