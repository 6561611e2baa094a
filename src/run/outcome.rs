//! Writes what describes a whole run: ledger, rows, lists, report, page, card and `run.json`.

use std::path::{Path, PathBuf};

use crate::audit;
use crate::audit::outcome::Finished;
use crate::audit::report::AuditReport;
use crate::columns::{FILE, MESSAGES, listed};
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
use crate::export::cleaned;
use crate::export::sink::Form;
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
    let inputs = &outcome.ingest.inputs;
    let exported = outcome.exported.is_some();
    let (corpus, manifests) = (&outcome.corpus, &outcome.stages);
    let events = write_ledger(stages, folder, inputs, corpus, manifests, exported, None)?;
    let audit = write_audit(stages, folder, corpus, manifests, file, exported, None)?;
    write_report(folder, outcome, file, events, audit.as_ref(), registry)
}

/// Writes ledger, rows and lists; returns what was counted of the events.
pub(super) fn write_ledger<'s>(
    stages: &[StageInstance],
    folder: &RunFolder,
    inputs: &[InputFile],
    corpus: &Corpus,
    manifests: &'s [StageManifest],
    exported: bool,
    cancel: Option<&dyn Cancel>,
) -> Result<Tally<'s>, Error> {
    let mut tally = Tally::new(manifests, corpus);
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

/// The last message of the user, without personal values; null where no stage redacts requests, or the text was purged.
fn query(manifests: &[StageManifest]) -> Derived<'static> {
    let is_redacted = manifests.iter().any(|stage| stage.redacts() == Some(TableId::Requests));
    let value = move |cells: &BatchCells, at: usize| {
        let messages = cells.text(MESSAGES, at).filter(|_| is_redacted)?;
        let messages: Vec<Message> = serde_json::from_str(messages).ok()?;
        last_user(&messages).map(|message| message.content.clone())
    };
    Derived { name: "query", reads: MESSAGES, value: Box::new(value) }
}

/// Writes what an audit found; nothing if no stage of the run compares with a benchmark.
pub(super) fn write_audit(
    stages: &[StageInstance],
    folder: &RunFolder,
    corpus: &Corpus,
    manifests: &[StageManifest],
    file: &RunFile,
    exported: bool,
    cancel: Option<&dyn Cancel>,
) -> Result<Option<AuditReport>, Error> {
    let is_cleaned = exported && Form::of_pipeline(&file.pipeline) == Some(Form::AsRead);
    let paths: Vec<PathBuf> = file.inputs.iter().map(|input| PathBuf::from(&input.path)).collect();
    let cleaned = if is_cleaned { cleaned::names(&paths) } else { Vec::new() };
    let run = Finished {
        folder: folder.path(),
        inputs: &file.inputs,
        corpus,
        stages,
        manifests,
        cleaned: &cleaned,
        cancelled: &|| cancel.is_some_and(Cancel::is_cancelled),
    };
    audit::outcome::write(&run)
}

/// Writes how the run was started, and the report in all its forms; the card goes into the dataset that it describes.
pub(super) fn write_report(
    folder: &RunFolder,
    outcome: &Outcome,
    file: &RunFile,
    events: Tally<'_>,
    audit: Option<&AuditReport>,
    registry: &Registry,
) -> Result<Report, Error> {
    let folder = folder.path();
    let (ingest, stages, corpus) = (&outcome.ingest, &outcome.stages, &outcome.corpus);
    let report = report(&Sources { folder, file, ingest, stages, corpus, registry }, events)?;
    write_json(&folder.join("report.json"), &report)?;
    let page = match audit {
        Some(audit) => audit::page::page(audit),
        None => html::page(&report, &folder.display().to_string()),
    };
    write_atomic(&folder.join("report.html"), page.as_bytes())?;
    // Cleaned sets are not described by a card of an evaluation set, but by the statement of the audit.
    if outcome.exported.is_some() && Form::of_pipeline(&file.pipeline) == Some(Form::Bfcl) {
        write_atomic(&folder.join("dataset").join("README.md"), markdown::card(&report).as_bytes())?;
    }
    // Last: it holds the checksums of the others, and says that the run is finished.
    write_run_file(folder, file)?;
    Ok(report)
}
