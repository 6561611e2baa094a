//! Writes what describes a whole run: ledger, rows, lists, report, page, card and `run.json`.

use std::path::{Component, Path};

use crate::columns::{FILE, MESSAGES, listed};
use crate::content_hash::content_hash;
use crate::conversation::{Message, last_user};
use crate::engine::context::Cancel;
use crate::engine::corpus::{BatchCells, Corpus};
use crate::engine::delta::StageManifest;
use crate::engine::disk::{write_atomic, write_json};
use crate::engine::error::Error;
use crate::engine::folder::RunFolder;
use crate::engine::instance::StageInstance;
use crate::engine::ledger::{self, Derived, Listed};
use crate::engine::manifest::{InputFile, RunFile, write_run_file};
use crate::engine::runner::Outcome;
use crate::engine::vocabulary::TableId;
use crate::jobs::{FinishedRun, Job, job_of};
use crate::report::croissant::{CROISSANT, of_log};
use crate::report::model::Report;
use crate::report::{Sources, Tally, html, markdown, report};
use crate::stages::Registry;
use crate::text::memo::Memo;

/// Writes it all again from the steps on disk, when something was taken out of them.
pub(super) fn write_again(
    stages: &[StageInstance],
    folder: &RunFolder,
    outcome: &Outcome,
    file: &RunFile,
    registry: &Registry,
) -> Result<Report, Error> {
    let inputs = &outcome.ingest.inputs;
    let exported = outcome.exported.is_some();
    let (corpus, manifests) = (&outcome.corpus, &outcome.stages);
    let events = write_ledger(stages, folder, (inputs, file.seed), corpus, manifests, exported, None)?;
    let run = FinishedRun {
        folder: folder.path(),
        file,
        corpus,
        stages,
        manifests,
        is_exported: exported,
        cancelled: &|| false,
    };
    job_of(&file.pipeline).write(&run)?;
    write_report(folder, outcome, file, events, registry)
}

/// Writes ledger, rows and lists; returns what was counted of the events.
pub(super) fn write_ledger<'s>(
    stages: &[StageInstance],
    folder: &RunFolder,
    (inputs, seed): (&[InputFile], u64),
    corpus: &Corpus,
    manifests: &'s [StageManifest],
    exported: bool,
    cancel: Option<&dyn Cancel>,
) -> Result<Tally<'s>, Error> {
    let mut tally = Tally::new(manifests, corpus, seed);
    let listed = Listed { columns: listed(), of_requests: vec![file_name(inputs), query(manifests)], cancel };
    ledger::write(folder, stages, corpus, &listed, exported, |events| tally.count(events))?;
    Ok(tally)
}

/// The name of the input file of a request, without its folder, so that the table is the same wherever the file is.
fn file_name(inputs: &[InputFile]) -> Derived<'_> {
    let value = |cells: &BatchCells, at: usize| {
        let file = usize::try_from(cells.int(FILE, at)?).ok()?;
        let name = Path::new(&inputs.get(file)?.path).file_name()?;
        Some(name.to_string_lossy().into_owned())
    };
    Derived { name: "file_name", reads: FILE, value: Box::new(value) }
}

/// The last message of the user, without personal values; null if no stage redacts requests, or the text was purged.
fn query(manifests: &[StageManifest]) -> Derived<'static> {
    let is_redacted = manifests.iter().any(|stage| stage.redacts() == Some(TableId::Requests));
    let known = Memo::default();
    let value = move |cells: &BatchCells, at: usize| {
        let messages = cells.text(MESSAGES, at).filter(|_| is_redacted)?;
        known.get_or(content_hash(messages), || {
            let messages: Vec<Message> = serde_json::from_str(messages).ok()?;
            last_user(&messages).map(|message| message.content.clone())
        })
    };
    Derived { name: "query", reads: MESSAGES, value: Box::new(value) }
}

/// Writes how the run was started, and the report in all its forms; the card goes into the dataset that it describes.
pub(super) fn write_report(
    folder: &RunFolder,
    outcome: &Outcome,
    file: &RunFile,
    events: Tally<'_>,
    registry: &Registry,
) -> Result<Report, Error> {
    let folder = folder.path();
    let (ingest, stages, corpus) = (&outcome.ingest, &outcome.stages, &outcome.corpus);
    let job = job_of(&file.pipeline);
    let wording = job.wording();
    let report = report(&Sources { folder, file, ingest, stages, corpus, registry, wording }, events)?;
    write_json(&folder.join("report.json"), &report)?;
    let page = match job.own_page(folder)? {
        Some(page) => page,
        None => page_of_report(job, folder, &report)?,
    };
    write_atomic(&folder.join("report.html"), page.as_bytes())?;
    if outcome.exported.is_some() && job.card_is_in_dataset() {
        let dataset = folder.join("dataset");
        let metadata = match job.own_metadata(folder, &report)? {
            Some(metadata) => metadata,
            None => of_log(&report),
        };
        write_atomic(&dataset.join(CROISSANT), metadata.text(&dataset)?.as_bytes())?;
        let card = job.own_card(folder)?.unwrap_or_else(|| markdown::card(&report));
        write_atomic(&dataset.join("README.md"), card.as_bytes())?;
    }
    // Last: it holds the checksums of the others, and marks the run as finished.
    write_run_file(folder, file)?;
    Ok(report)
}

/// The report as a page, with the sections of the job.
pub(super) fn page_of_report(job: &dyn Job, folder: &Path, report: &Report) -> Result<String, Error> {
    let own = job.own_sections(folder, report)?;
    Ok(html::page(report, &shown(folder), own))
}

/// The same page with what the steps took.
pub(super) fn page_with_timing(job: &dyn Job, folder: &Path, report: &Report) -> Result<String, Error> {
    let own = job.own_sections(folder, report)?;
    Ok(html::page_with_timing(report, &shown(folder), own))
}

/// The folder as commands on the page call it: as it was named, without the folders of this machine.
pub(super) fn shown(folder: &Path) -> String {
    let is_plain = folder.components().all(|part| matches!(part, Component::Normal(_)));
    let name = folder.file_name().map_or(folder, Path::new);
    (if is_plain { folder } else { name }).display().to_string()
}
