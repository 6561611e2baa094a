//! Opens a finished run. A run with damaged files is refused before they are read.

use std::path::{Path, PathBuf};

use super::Error;
use super::error::refuse;
use crate::engine::corpus::Corpus;
use crate::engine::delta::StageManifest;
use crate::engine::instance::StageInstance;
use crate::engine::layout::step_name;
use crate::engine::manifest::{RunFile, read_manifest, read_run_file};
use crate::engine::raw::IngestManifest;
use crate::engine::runner;
use crate::engine::verify::check_outcome;
use crate::jobs::{Job, job_of};
use crate::stages::Registry;

/// A finished run.
pub struct OpenRun {
    /// Its folder.
    pub(super) folder: PathBuf,
    /// The kinds of stages that it is read with.
    pub(super) registry: Registry,
    /// How it was started.
    pub(super) file: RunFile,
    /// What was read.
    pub(super) ingest: IngestManifest,
    /// Its stages, as they ran.
    pub(super) stages: Vec<StageInstance>,
    /// What each stage did.
    pub(super) manifests: Vec<StageManifest>,
    /// Its tables after the last stage.
    pub(super) corpus: Corpus,
}

impl std::fmt::Debug for OpenRun {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenRun").field("folder", &self.folder).finish_non_exhaustive()
    }
}

impl OpenRun {
    /// Its folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// What the run was made for.
    pub fn job(&self) -> &'static dyn Job {
        job_of(&self.file.pipeline)
    }

    /// How it was started: pipeline, inputs, version, command line.
    pub fn file(&self) -> &RunFile {
        &self.file
    }
}

/// Opens a run folder; takes no lock. Each kind of stage that the run has must be in the registry.
///
/// # Errors
/// There is no finished run, a file of it is damaged, or it has a stage of an unknown kind.
pub fn open(run: &Path, registry: &Registry) -> Result<OpenRun, Error> {
    let file = read_run_file(run)?;
    check_outcome(run, |name| name == "forgotten.parquet" || name.starts_with("dataset/data/"))?;
    let ingest: Option<IngestManifest> = read_manifest(run, "ingest")?;
    let Some(ingest) = ingest else {
        return refuse(format!("{}: the run has not read its inputs yet\nhint: run it again", run.display()));
    };
    let mut instances = Vec::new();
    let mut manifests = Vec::new();
    let mut upstream = ingest.key.clone();
    for (at, id) in file.steps.iter().enumerate() {
        let (instance, manifest) = stage(run, at, id, &upstream, registry)?;
        upstream.clone_from(&manifest.key);
        instances.push(instance);
        manifests.push(manifest);
    }
    let corpus = runner::open(run, &ingest, &instances)?;
    Ok(OpenRun {
        folder: run.to_owned(),
        registry: registry.clone(),
        file,
        ingest,
        stages: instances,
        manifests,
        corpus,
    })
}

/// A stage of the run as it ran, after a step with this key.
fn stage(
    run: &Path,
    at: usize,
    id: &str,
    upstream: &str,
    registry: &Registry,
) -> Result<(StageInstance, StageManifest), Error> {
    let shown = run.display();
    let manifest: Option<StageManifest> = read_manifest(run, &format!("stages/{}", step_name(at, id)))?;
    let Some(manifest) = manifest else {
        return refuse(format!(
            "{shown}: stage {id} is not finished\nhint: run it again; it continues from there"
        ));
    };
    if manifest.upstream != upstream {
        return refuse(format!(
            "{shown}: stage {id} was computed from an older result of an earlier stage
hint: run it again; it continues from there"
        ));
    }
    let Some(kind) = registry.kind(&manifest.kind) else {
        return refuse(format!("{shown}: unknown kind of stage {}", manifest.kind));
    };
    let built = (kind.rebuild)(manifest.settings.clone(), registry.environment());
    let (stage, settings) =
        built.map_err(|error| Error::Request(format!("stage {id} of {shown}: {error}")))?;
    Ok((StageInstance { id: id.to_owned(), kind: kind.name, settings, stage }, manifest))
}
