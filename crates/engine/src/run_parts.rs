//! Does one part of the next step of a run, beside other processes that do the others.
//!
//! A process looks at the run folder for the first step that is not finished. It reads its part of the inputs, or judges its part of the rows
//! of a stage, and writes only the folder of that part. Nothing here changes a step: a run that [joins](super::runner::Manner::joins)
//! parts does.

use std::io::Write as _;
use std::path::Path;

use super::context::Context;
use super::corpus::Corpus;
use super::decided::Decided;
use super::delta::StageManifest;
use super::disk::create_private;
use super::division::{Parts, StagePart};
use super::error::{At, Result};
use super::folder::Step;
use super::forgotten::Forgotten;
use super::instance::StageInstance;
use super::layout::{INGEST, STAGES, step_name};
use super::manifest::read_manifest;
use super::partition;
use super::parts::{self, CONTENT, PartManifest, RunPart, StoredDelta};
use super::raw::{self, IngestManifest};
use super::runner::{replay, why_undivided};
use super::source::Source;
use super::step_keys::{Drops, has_key, key_of_reading, stage_key};
use super::verdict::Verdict;
use super::view::View;
use super::vocabulary::RowIx;

/// What a process did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PartDone {
    /// Its part of a step.
    Done {
        /// `ingest`, or the id of a stage.
        step: String,
        /// The folder of the step in the run folder: `ingest`, `stages/05-drop-spam`.
        folder: String,
    },
    /// Nothing: its part of this step was already finished.
    AsBefore(String),
    /// Nothing: the next step cannot be divided.
    Undivided {
        /// The step.
        step: String,
        /// Why.
        why: String,
    },
    /// Nothing: all steps are finished.
    Finished,
}

/// Does one part of the next step of the run in a folder.
///
/// # Errors
/// A finished step is damaged, an input cannot be read, or a file cannot be written.
pub fn run_part(
    run: &Path,
    source: &dyn Source,
    stages: &[StageInstance],
    part: RunPart,
    cx: &Context<'_>,
) -> Result<PartDone> {
    let Some(ingest) = read_manifest::<IngestManifest>(run, INGEST)? else {
        return read(run, source, part, cx);
    };
    let mut corpus = raw::load(run, &ingest)?;
    let mut upstream = ingest.key;
    for (at, instance) in stages.iter().enumerate() {
        let step = format!("stages/{}", step_name(at, &instance.id));
        let key = stage_key(instance, &upstream, at + 1 == stages.len(), cx)?;
        let drops = Drops::of(&cx.services.decisions, &corpus)?;
        let done = read_manifest::<StageManifest>(run, &step)?.filter(|done| {
            done.upstream == upstream && has_key(&run.join(&step), done, &key, &drops, instance, false)
        });
        let Some(done) = done else {
            return judge(run, (at, instance), &key, part, &corpus, cx);
        };
        replay(run, &step, at, instance, &mut corpus)?;
        upstream = done.key;
    }
    Ok(PartDone::Finished)
}

/// Reads a part of the inputs.
fn read(run: &Path, source: &dyn Source, part: RunPart, cx: &Context<'_>) -> Result<PartDone> {
    let step = INGEST.to_owned();
    if !source.divides() {
        return Ok(PartDone::Undivided { step, why: "its rows are made, not read from files".to_owned() });
    }
    let key = key_of_reading(source, &Forgotten::read(run)?, cx.seed)?;
    if parts::finished(run, INGEST, part, &key)?.is_some() {
        return Ok(PartDone::AsBefore(step));
    }
    cx.progress.begin(&format!("ingest, part {part}"), None);
    let files = parts::begin(run, INGEST, part)?;
    let read = source.read_part(part, &files.file(CONTENT), cx);
    finish(run, INGEST, files, read.map(|facts| PartManifest { key, part, facts }))?;
    cx.progress.end("read");
    Ok(PartDone::Done { step, folder: INGEST.to_owned() })
}

/// Judges a part of the rows of a stage.
fn judge(
    run: &Path,
    (at, instance): (usize, &StageInstance),
    key: &str,
    part: RunPart,
    corpus: &Corpus,
    cx: &Context<'_>,
) -> Result<PartDone> {
    let (step, id) = (step_name(at, &instance.id), instance.id.clone());
    let contract = instance.stage.contract();
    if let Some(why) = why_undivided(&contract) {
        return Ok(PartDone::Undivided { step: id, why: why.to_owned() });
    }
    if parts::finished(run, &step, part, key)?.is_some() {
        return Ok(PartDone::AsBefore(id));
    }
    instance.stage.prepare();
    let table = corpus.table(contract.table);
    let decided = Decided::of(&cx.services.decisions, corpus, contract.table)?;
    let view = View::new(corpus, &contract).with_decided(&decided);
    let rows = own_rows(instance, &view, part, cx)?;
    cx.progress.begin(&format!("{id}, part {part}"), Some(rows.len() as u64));
    let files = parts::begin(run, &step, part)?;
    let path = files.file(CONTENT);
    let mut verdict = Verdict::on_part(&id, &contract, table, &rows);
    let judged = instance.stage.judge(&view.of_part(&rows), cx, &mut verdict).and_then(|()| {
        let bytes = StoredDelta::of(&verdict.into_part()).bytes();
        create_private(&path)?.write_all(&bytes).at("writing", &path)
    });
    let manifest = PartManifest { key: key.to_owned(), part, facts: serde_json::Value::Null };
    finish(run, &step, files, judged.map(|()| manifest))?;
    cx.progress.end("judged");
    Ok(PartDone::Done { step: id, folder: format!("{STAGES}/{step}") })
}

/// Ends a part. What one that failed has written is removed, so that it does not fill the disk.
fn finish(run: &Path, step: &str, files: Step, done: Result<PartManifest>) -> Result<()> {
    match done {
        Ok(manifest) => parts::finish(run, step, files, &manifest),
        Err(error) => {
            // The first error is the one to tell.
            let _ = files.discard();
            Err(error)
        }
    }
}

/// Returns the rows that a part judges; none if there are fewer groups of rows than parts.
fn own_rows(instance: &StageInstance, view: &View<'_>, part: RunPart, cx: &Context<'_>) -> Result<StagePart> {
    let at = part.number() as usize - 1;
    let n_parts = Parts::new(part.of() as usize).unwrap_or(Parts::MIN);
    let mut cut = partition::cut(&*instance.stage, &instance.id, view, n_parts, cx)?;
    if cut.is_empty() && at == 0 {
        let mut all: Vec<RowIx> = view.rows().collect();
        all.sort_unstable();
        return Ok(StagePart::of(&all, view.len()));
    }
    if at < cut.len() { Ok(cut.swap_remove(at)) } else { Ok(StagePart::of(&[], view.len())) }
}
