//! Opens a finished run for the commands that read one. A run with damaged files is refused before they are read.

use std::path::Path;

use anyhow::{Context as _, bail};

use crate::engine::corpus::Corpus;
use crate::engine::delta::StageManifest;
use crate::engine::folder::{RunFile, read_manifest, read_run_file};
use crate::engine::payload::IngestManifest;
use crate::engine::runner::{self, StageInstance, step_name};
use crate::engine::verify::check_outcome;
use crate::stages;

/// A finished run.
pub(super) struct OpenRun {
    /// How it was started.
    pub(super) file: RunFile,
    /// What was read.
    pub(super) ingest: IngestManifest,
    /// Its stages, as they ran.
    pub(super) stages: Vec<StageInstance>,
    /// What each stage did.
    pub(super) manifests: Vec<StageManifest>,
    /// Its tables, as they stood at the end.
    pub(super) corpus: Corpus,
}

/// Opens a run folder; takes no lock.
pub(super) fn open(run: &Path) -> anyhow::Result<OpenRun> {
    let file = read_run_file(run)?;
    check_outcome(run, |name| name == "forgotten.parquet" || name.starts_with("dataset/data/"))?;
    let ingest: Option<IngestManifest> = read_manifest(run, "ingest")?;
    let Some(ingest) = ingest else {
        bail!("{}: the run has not read its inputs yet\nhint: run it again", run.display())
    };
    let mut instances = Vec::new();
    let mut manifests = Vec::new();
    let mut upstream = ingest.key.clone();
    for (at, id) in file.steps.iter().enumerate() {
        let manifest: Option<StageManifest> = read_manifest(run, &format!("stages/{}", step_name(at, id)))?;
        let Some(manifest) = manifest else {
            bail!("{}: stage {id} is not finished\nhint: run it again, it goes on from there", run.display())
        };
        if manifest.upstream != upstream {
            bail!(
                "{}: stage {id} stands on another run of the stages before it
hint: run it again, it goes on from there",
                run.display()
            );
        }
        upstream.clone_from(&manifest.key);
        let Some(kind) = stages::kind(&manifest.kind) else {
            bail!("{}: unknown kind of stage {}", run.display(), manifest.kind)
        };
        let (stage, settings) = (kind.rebuild)(manifest.settings.clone())
            .with_context(|| format!("stage {id} of {}", run.display()))?;
        instances.push(StageInstance { id: id.clone(), kind: kind.name, settings, stage });
        manifests.push(manifest);
    }
    let corpus = runner::open(run, &ingest, &instances)?;
    Ok(OpenRun { file, ingest, stages: instances, manifests, corpus })
}
