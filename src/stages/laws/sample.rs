//! The sample log and the live recipe in one process, for laws that look at the tables between two stages.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use tempfile::TempDir;

use crate::engine::context::{Context, Quiet};
use crate::engine::corpus::Corpus;
use crate::engine::folder::RunFolder;
use crate::engine::runner::{self, StageInstance};
use crate::ingest::source::Ingest;
use crate::pipeline::{Override, Pipeline};
use crate::stages::Registry;

/// The log as it was read, and what judges it.
pub(super) struct Sample {
    pub(super) ingest: Ingest,
    pub(super) stages: Vec<StageInstance>,
    pub(super) corpus: Corpus,
    /// The run folder, with the ingest step alone.
    pub(super) run: TempDir,
}

/// Reads the sample log, or so many records of it at random. The answers by people are those of the sample, and of
/// public sets only the built-in one is there, whatever this machine has.
pub(super) fn sample(sample_rows: Option<u64>) -> Sample {
    let project = Path::new(env!("CARGO_MANIFEST_DIR"));
    let answers = project.join("raw/answers.jsonl");
    let mut set: Vec<Override> = Vec::new();
    for stage in ["draft-answers", "judge-queries"] {
        set.push(format!("{stage}.answers={answers:?}").parse().unwrap());
    }
    for stage in ["drop-public-overlap", "drop-public-queries"] {
        set.push(format!("{stage}.dir=\"no-such-folder\"").parse().unwrap());
    }
    let Pipeline { seed, mut ingest, stages, .. } =
        Pipeline::load(None, &set, &Registry::standard()).unwrap();
    ingest.sample_rows = sample_rows;
    for input in &mut ingest.inputs {
        *input = project.join(&*input);
    }
    let run = tempfile::tempdir().unwrap();
    let cancel = AtomicBool::new(false);
    let cx = Context::new(seed, &cancel, &Quiet);
    let folder = RunFolder::take(run.path()).unwrap();
    let corpus = runner::run(&folder, &ingest, &[], &cx).unwrap().corpus;
    Sample { ingest, stages, corpus, run }
}
