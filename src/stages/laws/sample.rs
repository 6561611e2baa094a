//! A run of the live recipe on the sample log, for tests that need the tables between two stages.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use tempfile::TempDir;

use crate::engine::context::{Context, Quiet};
use crate::engine::corpus::Corpus;
use crate::engine::folder::RunFolder;
use crate::engine::instance::{SourceInstance, StageInstance};
use crate::engine::layout::step_name;
use crate::engine::runner::{self, Outcome};
use crate::engine::services::Services;
use crate::pipeline::{Override, Pipeline};
use crate::stages::Registry;

/// The run, without its dataset.
pub(super) struct Sample {
    pub(super) source: SourceInstance,
    pub(super) stages: Vec<StageInstance>,
    pub(super) outcome: Outcome,
    folder: TempDir,
}

impl Sample {
    /// Returns the tables as they were before a stage.
    pub(super) fn before(&self, stage: usize) -> Corpus {
        runner::open(self.folder(), &self.outcome.ingest, &self.stages[..stage]).unwrap()
    }

    /// Returns the run folder.
    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the folder of a stage.
    pub(super) fn step(&self, stage: usize) -> PathBuf {
        self.folder().join("stages").join(step_name(stage, &self.stages[stage].id))
    }
}

/// Runs the recipe on the sample log, or on a random sample of `sample_rows` of its records. Uses the decisions of the
/// sample and only the built-in public set, even if this machine has others.
pub(super) fn sample(sample_rows: Option<u64>) -> Sample {
    let set: Vec<Override> = [
        r#"ingest.inputs=["raw/hosted.jsonl", "raw/openai.jsonl.gz", "raw/anthropic.jsonl", "raw/pairs.csv"]"#,
        "decisions=raw/answers.jsonl",
        "drop-public-overlap.dir=no-such-folder",
        "drop-public-queries.dir=no-such-folder",
    ]
    .map(|setting| setting.parse().unwrap())
    .into();
    let mut set = set;
    set.extend(sample_rows.map(|n| format!("ingest.sample_rows={n}").parse().unwrap()));
    let Pipeline { seed, source, stages, decisions, .. } =
        Pipeline::load(None, &set, &Registry::standard()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let cancel = AtomicBool::new(false);
    let services = Services::default().with_decisions(Arc::clone(&decisions));
    let cx = Context::new(seed, &cancel, &Quiet).with_services(services);
    let outcome =
        runner::run(&RunFolder::take(folder.path()).unwrap(), &*source.source, &stages, &cx).unwrap();
    let sample = Sample { source, stages, outcome, folder };
    // Laws on a sample without rows hold for every stage.
    assert!(sample.before(0).requests.kept() > 0 && sample.before(sample.stages.len()).requests.kept() > 0);
    sample
}
