//! Writes what describes a whole run: ledger, rows, lists, report, page, card and `run.json`.

use crate::columns::listed;
use crate::engine::corpus::Corpus;
use crate::engine::delta::StageManifest;
use crate::engine::disk::{write_atomic, write_json};
use crate::engine::error::Error;
use crate::engine::folder::RunFolder;
use crate::engine::instance::StageInstance;
use crate::engine::ledger;
use crate::engine::manifest::{RunFile, write_run_file};
use crate::engine::runner::Outcome;
use crate::report::model::Report;
use crate::report::{Sources, Tally, html, markdown, report};
use crate::stages::Registry;

/// Writes it all again from the steps on disk, when something was taken out of them.
pub(super) fn write_again(
    stages: &[StageInstance],
    folder: &RunFolder,
    outcome: &Outcome,
    file: &RunFile,
    registry: &Registry,
) -> Result<Report, Error> {
    let events = write_ledger(stages, folder, &outcome.corpus, &outcome.stages, outcome.exported.is_some())?;
    write_report(folder, outcome, file, events, registry)
}

/// Writes ledger, rows and lists; returns what was counted of the events.
pub(super) fn write_ledger<'s>(
    stages: &[StageInstance],
    folder: &RunFolder,
    corpus: &Corpus,
    manifests: &'s [StageManifest],
    exported: bool,
) -> Result<Tally<'s>, Error> {
    let mut tally = Tally::new(manifests, corpus);
    ledger::write(folder, stages, corpus, &listed(), exported, |events| tally.count(events))?;
    Ok(tally)
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
    let report = report(&Sources { folder, file, ingest, stages, corpus, registry }, events)?;
    write_json(&folder.join("report.json"), &report)?;
    let page = html::page(&report, &folder.display().to_string());
    write_atomic(&folder.join("report.html"), page.as_bytes())?;
    if outcome.exported.is_some() {
        write_atomic(&folder.join("dataset").join("README.md"), markdown::card(&report).as_bytes())?;
    }
    // Last: it holds the checksums of the others, and says that the run is finished.
    write_run_file(folder, file)?;
    Ok(report)
}
