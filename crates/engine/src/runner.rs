//! Runs a pipeline. This is the only module that applies verdicts.
//!
//! If a stage is already finished under the same key and its files are unchanged, its delta is read back. Otherwise the
//! stage judges its rows, and its delta is written. In both cases the delta is applied to the tables, the fates that
//! follow for parents and children are added, and rows in and rows out are compared before the next stage starts.
//!
//! See `cascade` for the fates that follow, `conservation` for the comparison, and `partition` for the parts of a step.

use std::path::{Path, PathBuf};
use std::time::Instant;

use serde::de::DeserializeOwned;

use super::background_writer::BackgroundWriter;
use super::cascade::{NO_REQUEST_LEFT, apply};
use super::conservation::{check_export, check_lines, check_stage, kept};
use super::context::Context;
use super::contract::{Contract, Partition};
use super::corpus::{Cells, Corpus};
use super::decided::Decided;
use super::deciding::{decide, notes_of_decisions, warn_of_decisions};
use super::decision::{self, Ruling};
use super::decisions::{DECIDED, write_rulings};
use super::delta::{
    COLUMNS, EDITS, FATES, FateCount, INCOMPLETE_NOTE, StageManifest, StoredEdit, count_edits, count_fates,
    read_fates, write_edits, write_fates,
};
use super::division::Cuts;
use super::entries;
use super::error::{At, Error, Result, damaged};
use super::fate::FateEvent;
use super::folder::{RunFolder, Step};
use super::forgotten::{self, Forgotten};
use super::frame::FrameFile;
use super::instance::StageInstance;
use super::language_model::USAGE_NOTE;
use super::layout::{INGEST, LINKS, MANIFEST, step_name};
use super::links::{StoredLink, write_links};
use super::partition::{self, Joining};
use super::parts::{self, FinishedPart, read_delta};
use super::raw::{self, IngestCounts, IngestManifest, Intake};
use super::seal::{Files, SealFault, SealFaultKind, Sealed};
use super::sink::{Exported, FinishedTables, Sink};
use super::source::Source;
use super::step_keys::{
    Drops, has_key, ingest_key, key_of_failed, key_of_failed_rows, key_of_reading, stage_key,
};
use super::verdict::{Delta, Verdict};
use super::view::View;
use super::vocabulary::{Action, Reason, ReasonKind, RowIx, Safety, TableId};
use callsieve_system::memory::Memory;
use callsieve_text::figures::counted;

/// The maximum bytes of written cells that stay in memory, so that they need not be read back.
const HELD_BYTES: usize = 128 << 20;

/// A finished run.
pub struct Outcome {
    /// The manifest of ingest.
    pub ingest: IngestManifest,
    /// The manifests of the stages.
    pub stages: Vec<StageManifest>,
    /// The number of steps that were reused from an earlier run of the same pipeline.
    pub reused: usize,
    /// The tables after the last stage.
    pub corpus: Corpus,
    /// The export, once it is done; see [`export`].
    pub exported: Option<Exported>,
}

/// Runs source and stages in a run folder. The reports and the dataset of an earlier run are removed.
///
/// # Errors
/// See [`Error`]. Finished steps stay, so that the same call continues from there.
pub fn run(
    folder: &RunFolder,
    source: &dyn Source,
    stages: &[StageInstance],
    cx: &Context<'_>,
) -> Result<Outcome> {
    run_cut(folder, source, stages, Cuts::default(), cx)
}

/// Runs like [`run`], with other sizes of batches and parts.
///
/// # Errors
/// As [`run`].
pub fn run_cut(
    folder: &RunFolder,
    source: &dyn Source,
    stages: &[StageInstance],
    cuts: Cuts,
    cx: &Context<'_>,
) -> Result<Outcome> {
    run_so(folder, source, stages, Manner { cuts, ..Manner::default() }, cx)
}

/// Which work of a run is done now, and how. The results do not depend on it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Manner {
    /// Into what the work is divided.
    pub cuts: Cuts,
    /// This number of stages, the first ones, are taken over also where a service failed for some rows: they are not asked for again, so that
    /// what is added to a run leaves it as it is.
    pub settled: usize,
    /// Joins what separate processes read and judged; see [`parts`].
    pub joins: bool,
    /// Stops before the stage of this number, so that separate processes can judge its parts.
    pub until: Option<usize>,
}

/// Runs like [`run`], in this manner.
///
/// # Errors
/// As [`run`]; and parts that are to be joined are missing, damaged, or of something else.
pub fn run_so(
    folder: &RunFolder,
    source: &dyn Source,
    stages: &[StageInstance],
    manner: Manner,
    cx: &Context<'_>,
) -> Result<Outcome> {
    let background_writer = BackgroundWriter::new(HELD_BYTES);
    run_by(Running { folder, background_writer: &background_writer, cx, manner }, source, stages)
}

/// Runs with a background writer that is used for nothing else.
pub(super) fn run_by(running: Running<'_>, source: &dyn Source, stages: &[StageInstance]) -> Result<Outcome> {
    steps(running, source, stages).map_err(|error| {
        match running.background_writer.wait() {
            // A failed write takes precedence over the error that ended the steps.
            Err(unwritten) if !matches!(unwritten, Error::Interrupted) => unwritten,
            _ => error,
        }
    })
}

/// Reads the inputs and runs all stages. All files are written when it succeeds.
fn steps(running: Running<'_>, source: &dyn Source, stages: &[StageInstance]) -> Result<Outcome> {
    let Running { folder, background_writer, cx, .. } = running;
    let names: Vec<String> = stages.iter().enumerate().map(|(at, stage)| step_name(at, &stage.id)).collect();
    let (ingest, mut corpus, mut reused) = std::thread::scope(|scope| {
        scope.spawn(|| stages.iter().for_each(|instance| instance.stage.prepare()));
        ingest(running, source)
    })?;
    // Before anything of an earlier run is removed.
    for table in TableId::ALL {
        Decided::of(&cx.services.decisions, &corpus, table)?;
    }
    folder.keep_stages(&names)?;
    let mut manifests: Vec<StageManifest> = Vec::new();
    let mut upstream = ingest.key.clone();
    let n_now = running.manner.until.unwrap_or(stages.len());
    for (at, instance) in stages.iter().enumerate().take(n_now) {
        if cx.cancelled() {
            return Err(Error::Interrupted);
        }
        let step = format!("stages/{}", names[at]);
        let is_last = at + 1 == stages.len();
        let key = stage_key(instance, &upstream, is_last, cx)?;
        let drops = Drops::of(&cx.services.decisions, &corpus)?;
        let done = manifest_of::<StageManifest>(running, &step)?
            .filter(|done| is_reusable(running, &step, done, &key, &drops, (at, instance)));
        let manifest = if let Some(Sealed { value: manifest, .. }) = done {
            replay(folder.path(), &step, at, instance, &mut corpus)?;
            reused += 1;
            manifest
        } else {
            let keys = Keys { own: &key, upstream: &upstream };
            let place = StagePosition { at, stages, is_last, before: &manifests };
            judge(running, &step, place, keys, &drops, &mut corpus)?
        };
        check_stage(&manifest, &corpus)?;
        upstream.clone_from(&manifest.key);
        manifests.push(manifest);
    }
    folder.remove_outcome()?;
    warn_of_decisions(&manifests, cx);
    background_writer.wait()?;
    for (manifest, name) in manifests.iter_mut().zip(&names) {
        let written = folder.manifest::<StageManifest>(&format!("stages/{name}"))?;
        let lost = || damaged(folder.path(), format!("the step {name} was written and does not exist"));
        manifest.bytes = written.ok_or_else(lost)?.bytes;
    }
    Ok(Outcome { ingest, stages: manifests, reused, corpus, exported: None })
}

/// Loads the tables of a finished run as they were after its last stage.
///
/// # Errors
/// The run folder is damaged or not finished.
pub fn open(run: &Path, ingest: &IngestManifest, stages: &[StageInstance]) -> Result<Corpus> {
    let mut corpus = fold(run, ingest, stages)?;
    forgotten::apply(run, &mut corpus, stages.len())?;
    Ok(corpus)
}

/// Returns the tables after the last stage, as if nothing had been forgotten since.
///
/// # Errors
/// A file of the run cannot be read.
pub fn fold(run: &Path, ingest: &IngestManifest, stages: &[StageInstance]) -> Result<Corpus> {
    let mut corpus = raw::load(run, ingest)?;
    for (at, instance) in stages.iter().enumerate() {
        replay(run, &format!("stages/{}", step_name(at, &instance.id)), at, instance, &mut corpus)?;
    }
    Ok(corpus)
}

/// The environment of every step of a run.
#[derive(Clone, Copy)]
pub(super) struct Running<'a> {
    pub(super) folder: &'a RunFolder,
    pub(super) background_writer: &'a BackgroundWriter,
    pub(super) cx: &'a Context<'a>,
    pub(super) manner: Manner,
}

/// Reads the inputs, unless the same inputs were already read. The outcome of an earlier run stays until a request is found. Also returns the tables and the number of reused steps.
fn ingest(running: Running<'_>, source: &dyn Source) -> Result<(IngestManifest, Corpus, usize)> {
    let Running { folder, background_writer, cx, manner } = running;
    let forgotten = Forgotten::read(folder.path())?;
    if let Some(Sealed { value: manifest, files, .. }) = manifest_of::<IngestManifest>(running, "ingest")? {
        cx.progress.begin("compare inputs", None);
        let same =
            !manifest.purged && manifest.key == ingest_key(source, &source.inputs()?, &forgotten, cx.seed)?;
        cx.progress.end(if same { "as before" } else { "changed" });
        if same && is_whole(running, "ingest", &files) {
            let corpus = raw::load(folder.path(), &manifest)?;
            return Ok((manifest, corpus, 1));
        }
        if manner.joins && !same && source.divides() && !parts::are_begun_of(folder.path(), INGEST)? {
            return Err(Error::Setting(format!(
                "{}: the inputs, or how they are read, changed since their parts were joined\nhint: begin again in another folder (--out); or remove the folders ingest, stages and parts of this one, and read all parts again",
                folder.path().display()
            )));
        }
    }
    let start = Instant::now();
    cx.progress.begin("ingest", None);
    let (files, columns) = (folder.begin_private("ingest")?, source.columns());
    let mut writer =
        Intake::new(files, &columns, forgotten.clone(), manner.cuts.batch_rows, background_writer);
    let joins = manner.joins && source.divides();
    let read = if joins {
        source.join_parts(&parts_of_reading(folder, source, &forgotten, cx)?, &mut writer, cx)?
    } else {
        source.read(&mut writer, cx)?
    };
    // Checked before the step is finished, because a later run reuses finished steps.
    check_lines(&read, writer.counts())?;
    if writer.counts().has_nothing() && folder.has_finished() {
        return Err(Error::NoRequest(
            "no request was read from the inputs\nhint: check that the log was written to its end".to_owned(),
        ));
    }
    // From here on the outcome of an earlier run would not be that of the rows.
    folder.remove_outcome()?;
    let mut key = ingest_key(source, &read.inputs, &forgotten, cx.seed)?;
    if !read.failed.is_empty() {
        key = key_of_failed(&key, "failed item", read.failed.iter().map(|item| item.to_le_bytes()));
    }
    let (manifest, corpus) = writer.finish(key, read, start.elapsed().as_secs_f64())?;
    if joins {
        remove_joined(running, INGEST)?;
    }
    let counts = &manifest.counts;
    let lists = counted(counts.doc_lists, "doc list", "doc lists");
    // A collection has functions and no requests.
    cx.progress.end(&match counts.records {
        0 => lists,
        records => format!("{}, {lists}", counted(records, "request", "requests")),
    });
    Ok((manifest, corpus, 0))
}

/// Returns the parts of the inputs that separate processes read.
fn parts_of_reading(
    folder: &RunFolder,
    source: &dyn Source,
    forgotten: &Forgotten,
    cx: &Context<'_>,
) -> Result<Vec<FinishedPart>> {
    let key = key_of_reading(source, forgotten, cx.seed)?;
    parts::all(folder.path(), INGEST, &key)?.ok_or_else(|| {
        Error::Setting(format!(
            "{}: no part of the inputs was read\nhint: read them with `--part 1/N` to `--part N/N`, or run without parts",
            folder.path().display()
        ))
    })
}

/// Removes the parts of a step once the step itself is on disk.
fn remove_joined(Running { folder, background_writer, .. }: Running<'_>, step: &str) -> Result<()> {
    let (run, step) = (folder.path().to_owned(), step.to_owned());
    background_writer.push(move || parts::remove_of(&run, &step))
}

/// Returns the manifest of a finished step; a damaged one counts as missing, with a warning.
fn manifest_of<M: DeserializeOwned>(running: Running<'_>, step: &str) -> Result<Option<Sealed<M>>> {
    let folder = running.folder;
    let damage = match folder.sealed::<M>(step) {
        Ok(None) if folder.path().join(step).is_dir() => "there is no such file".to_owned(),
        Err(Error::Damaged { what, .. }) => what,
        Err(Error::File { cause, .. }) => format!("cannot be read: {cause}"),
        found => return found,
    };
    warn_of_damage(running, step, &SealFault::new(MANIFEST, SealFaultKind::Damaged, damage), 0);
    Ok(None)
}

/// Returns `true` if the files of a finished step are unchanged; otherwise warns.
fn is_whole(running: Running<'_>, step: &str, files: &Files) -> bool {
    let faults = files.faults(&running.folder.path().join(step));
    if let Some(first) = faults.first() {
        warn_of_damage(running, step, first, faults.len() - 1);
    }
    faults.is_empty()
}

fn warn_of_damage(Running { folder, cx, .. }: Running<'_>, step: &str, fault: &SealFault, n_more: usize) {
    let path = folder.path().join(step).join(&fault.file);
    let more = if n_more == 0 { String::new() } else { format!(", and {n_more} more of its files") };
    let again = if step == INGEST { "the inputs are read again" } else { "the stage runs again" };
    cx.progress.warn(&format!("{} is damaged ({}){more}: {again}", path.display(), fault.detail));
}

/// Whether a finished step has the key that it would have now, and its files are unchanged.
fn is_reusable(
    running: Running<'_>,
    step: &str,
    done: &Sealed<StageManifest>,
    key: &str,
    drops: &Drops<'_>,
    (at, instance): (usize, &StageInstance),
) -> bool {
    let is_settled = at < running.manner.settled && done.value.notes.contains_key(INCOMPLETE_NOTE);
    let folder = running.folder.path().join(step);
    has_key(&folder, &done.value, key, drops, instance, is_settled) && is_whole(running, step, &done.files)
}

/// The resume keys of a stage and of the step before it.
#[derive(Clone, Copy)]
struct Keys<'a> {
    /// Without the drops of rows that the stage holds.
    own: &'a str,
    upstream: &'a str,
}

/// A stage and its position among the others.
#[derive(Clone, Copy)]
pub(super) struct StagePosition<'a> {
    pub(super) at: usize,
    pub(super) stages: &'a [StageInstance],
    pub(super) is_last: bool,
    /// The manifests of the stages before it.
    pub(super) before: &'a [StageManifest],
}

fn judge(
    running: Running<'_>,
    step: &str,
    place: StagePosition<'_>,
    keys: Keys<'_>,
    drops: &Drops<'_>,
    corpus: &mut Corpus,
) -> Result<StageManifest> {
    let Running { folder, background_writer, cx, .. } = running;
    let instance = &place.stages[place.at];
    folder.remove_outcome()?;
    let start = Instant::now();
    let contract = instance.stage.contract();
    let before = kept(corpus);
    cx.progress.begin(&instance.id, Some(corpus.table(contract.table).len() as u64));
    let of_parts = parts_of_stage(running, (step, keys.own), &contract)?;
    let joins = of_parts.is_some();
    let files = folder.begin(step)?;
    let decided = Decided::of(&cx.services.decisions, corpus, contract.table)?;
    let view = View::new(corpus, &contract).with_decided(&decided);
    let Delta { fates, edits, cells, links, rulings, mut notes } =
        verdict_of(running, instance, (&contract, of_parts), &files.file(COLUMNS), corpus, &view)?;
    let (fates, rulings) = decide(place, &contract, (fates, rulings), (&decided, drops), corpus, cx)?;
    notes.extend(notes_of_decisions(running, place, &rulings, corpus)?);
    let edits: Vec<StoredEdit> =
        edits.into_iter().map(|(row, edit)| StoredEdit::new(contract.table, row, edit)).collect();
    let is_shown = |edit: &StoredEdit| edit.safety == Safety::Suggest.name();
    let mut key = drops.key(keys.own, &fates);
    if notes.contains_key(INCOMPLETE_NOTE) {
        key = key_of_failed_rows(&key, &fates);
    }
    let manifest = StageManifest {
        key,
        upstream: keys.upstream.to_owned(),
        id: instance.id.clone(),
        kind: instance.kind.to_owned(),
        settings: instance.settings.clone(),
        table: contract.table,
        role: contract.role,
        before,
        after: kept(corpus),
        fates: count_fates(&fates),
        edits: count_edits(edits.iter().filter(|edit| !is_shown(edit))),
        suggestions: count_edits(edits.iter().filter(|edit| is_shown(edit))),
        notes,
        seconds: start.elapsed().as_secs_f64(),
        memory: Memory::now(),
        bytes: 0,
    };
    let columns = files.done_file(COLUMNS);
    let links = contract.links.then_some(links);
    write_in_background(background_writer, files, Rest { fates, edits, links, rulings }, manifest.clone())?;
    if joins {
        remove_joined(running, folder_of(step))?;
    }
    if let Some(held) = cells {
        let cells = Cells::written(held, &columns, background_writer)?;
        corpus.table_mut(contract.table).add_columns(&contract.writes, cells);
    }
    cx.progress.end(&summary(&manifest));
    Ok(manifest)
}

/// Returns what separate processes judged of a step; `None` if it is judged here.
fn parts_of_stage(
    Running { folder, manner, .. }: Running<'_>,
    (step, key): (&str, &str),
    contract: &Contract,
) -> Result<Option<Vec<FinishedPart>>> {
    if !manner.joins || why_undivided(contract).is_some() {
        return Ok(None);
    }
    parts::all(folder.path(), folder_of(step), key)
}

/// The name of the folder of a step: `05-drop-spam` of `stages/05-drop-spam`.
pub(super) fn folder_of(step: &str) -> &str {
    step.rsplit_once('/').map_or(step, |(_, name)| name)
}

/// Why separate processes cannot judge the rows of a stage; `None` if they can.
pub(super) fn why_undivided(contract: &Contract) -> Option<&'static str> {
    if contract.partition == Partition::Whole {
        return Some("it compares all rows with each other");
    }
    let asks = contract.sends_rows_out || !contract.asks.is_empty();
    asks.then_some("it asks a service, whose answers and costs one process counts")
}

/// Returns the verdict of a stage on the current tables.
fn verdict_of(
    Running { background_writer, cx, manner, .. }: Running<'_>,
    instance: &StageInstance,
    (contract, of_parts): (&Contract, Option<Vec<FinishedPart>>),
    columns: &Path,
    corpus: &Corpus,
    view: &View<'_>,
) -> Result<Delta> {
    let mut verdict =
        Verdict::new(&instance.id, contract, corpus.table(contract.table), columns, background_writer);
    let stage = &*instance.stage;
    if let Some(parts) = of_parts {
        let mut joining = Joining::default();
        for part in &parts {
            joining.add(read_delta(&part.content, contract)?, &mut verdict)?;
        }
        joining.finish(stage, &mut verdict)?;
        return verdict.finish();
    }
    let cut = partition::cut(stage, &instance.id, view, manner.cuts.parts, cx)?;
    if cut.len() < 2 {
        stage.judge(view, cx, &mut verdict)?;
    } else {
        partition::judge(stage, view, &cut, cx, &mut verdict)?;
    }
    verdict.finish()
}

/// The parts of a delta besides columns.
struct Rest {
    fates: Vec<FateEvent>,
    edits: Vec<StoredEdit>,
    /// The links, if the contract allows them.
    links: Option<Vec<StoredLink>>,
    rulings: Vec<(RowIx, Ruling)>,
}

/// Writes the rest of a delta with the background writer, after its columns, and then counts the bytes for the
/// manifest.
fn write_in_background(
    background_writer: &BackgroundWriter,
    files: Step,
    rest: Rest,
    manifest: StageManifest,
) -> Result<()> {
    background_writer.push(move || {
        let Rest { fates, edits, links, mut rulings } = rest;
        write_fates(&files.file(FATES), &fates)?;
        write_edits(&files.file(EDITS), &edits)?;
        if let Some(links) = links {
            write_links(&files.file(LINKS), &links)?;
        }
        rulings.retain(|(_, ruling)| ruling.refused.is_none());
        if !rulings.is_empty() {
            write_rulings(&files.file(DECIDED), manifest.table, &rulings)?;
        }
        let bytes = bytes_in(files.path())?;
        files.finish(&StageManifest { bytes, ..manifest })
    })
}

/// Applies the delta of a finished stage.
///
/// # Errors
/// A file of the step cannot be read, or is damaged.
pub fn replay(
    run: &Path,
    step: &str,
    at: usize,
    instance: &StageInstance,
    corpus: &mut Corpus,
) -> Result<()> {
    let contract = instance.stage.contract();
    let path = run.join(step).join(FATES);
    let fates = read_fates(&path, &reasons_of(&contract))?;
    check_fates(&fates, corpus).map_err(|what| damaged(&path, what))?;
    apply(corpus, &fates, at)?;
    if contract.writes.is_empty() { Ok(()) } else { add_columns(run, step, &contract, corpus) }
}

/// Checks fates that were read back by the same rules as `Verdict` and the cascade: each belongs to a kept row with no
/// other fate among them, and only merges have a leader, which stays kept.
fn check_fates(fates: &[FateEvent], corpus: &Corpus) -> Result<(), String> {
    let mut has_fate = TableId::ALL.map(|table| vec![false; corpus.table(table).len()]);
    for &FateEvent { table, row, .. } in fates {
        let slot =
            has_fate[table as usize].get_mut(row as usize).filter(|_| corpus.table(table).is_kept(row));
        let Some(slot) = slot else {
            return Err(format!("a fate of row {row}, which does not exist or is not kept"));
        };
        if std::mem::replace(slot, true) {
            return Err(format!("a second fate of row {row}"));
        }
    }
    let stays = |table: TableId, row: RowIx| {
        has_fate[table as usize].get(row as usize) == Some(&false) && corpus.table(table).is_kept(row)
    };
    let is_whole = |fate: &&FateEvent| match (fate.action, fate.into) {
        (Action::Merge, Some(into)) => stays(fate.table, into),
        (_, into) => fate.action != Action::Merge && into.is_none(),
    };
    match fates.iter().find(|fate| !is_whole(fate)) {
        Some(fate) => Err(format!(
            "row {} is merged without a leader that stays kept, or has a leader and is not merged",
            fate.row
        )),
        None => Ok(()),
    }
}

/// Returns the reasons that a stage's delta may use: its own, and those that the runner adds.
pub(super) fn reasons_of(contract: &Contract) -> Vec<&'static Reason> {
    contract.reasons.iter().copied().chain([&NO_REQUEST_LEFT]).chain(decision::reasons()).collect()
}

/// Adds the columns of a finished step to its table.
///
/// # Errors
/// The file cannot be read, or has another number of rows.
pub fn add_columns(run: &Path, step: &str, contract: &Contract, corpus: &mut Corpus) -> Result<()> {
    let path = run.join(step).join(COLUMNS);
    let file = FrameFile::open(&path)?;
    let (found, expected) = (file.height(), corpus.table(contract.table).len());
    if found != expected {
        return Err(damaged(&path, format!("expected {expected} rows, found {found}")));
    }
    corpus.table_mut(contract.table).add_columns(&contract.writes, Cells::in_file(file));
    Ok(())
}

/// Writes the kept rows of a run whose stages are finished.
///
/// # Errors
/// A file cannot be written, or an exported row is not kept.
pub fn export(
    folder: &RunFolder,
    sink: &dyn Sink,
    inputs: &[PathBuf],
    corpus: &Corpus,
    cx: &Context<'_>,
) -> Result<Exported> {
    cx.progress.begin(sink.id(), Some(corpus.requests.kept() as u64));
    let files = folder.begin("dataset")?;
    let exported = sink.write(&FinishedTables { run: folder.path(), inputs, corpus }, files.path(), cx)?;
    check_export(sink.id(), &exported.rows, corpus)?;
    entries::write(folder.path(), &exported.origins)?;
    files.rename()?;
    let frozen: u64 = exported.frozen.iter().map(|(_, entries)| entries).sum();
    let and_frozen = if frozen > 0 { format!(" and {frozen} frozen") } else { String::new() };
    let entries = counted(exported.rows.len() as u64, "entry", "entries");
    cx.progress.end(&format!("{entries}{and_frozen}"));
    Ok(exported)
}

/// Returns one line about the result of a stage.
fn summary(manifest: &StageManifest) -> String {
    let verbs = [(Action::Merge, "merged"), (Action::Drop, "dropped"), (Action::Hold, "held")];
    let nouns = [(TableId::DocLists, "doc list"), (TableId::Requests, "request")];
    let mut parts = Vec::new();
    for ((action, verb), (table, noun)) in verbs.iter().flat_map(|verb| nouns.map(|noun| (*verb, noun))) {
        let is_meant = |count: &&FateCount| count.table == table && count.action == action && !count.cascaded;
        let rows: u64 = manifest.fates.iter().filter(is_meant).map(|count| count.rows).sum();
        if rows > 0 {
            let plural = if rows == 1 { "" } else { "s" };
            parts.push(format!("{rows} {noun}{plural} {verb}"));
        }
    }
    let edits: u64 = manifest.edits.values().sum();
    if edits > 0 {
        let plural = if edits == 1 { "" } else { "s" };
        parts.push(format!("{edits} edit{plural}"));
    }
    let asked = manifest.notes.get(USAGE_NOTE).and_then(|usage| usage["rows"].as_u64()).unwrap_or_default();
    if parts.is_empty() && asked > 0 {
        return format!("a model asked about {}", counted(asked, "row", "rows"));
    }
    if parts.is_empty() { "nothing to do".to_owned() } else { parts.join(", ") }
}

/// Returns the share of rows with faults: lines that could not be read, and requests.
///
/// With `--limit` or `--sample-rows` the lines are those of the whole log and the requests those of the sample, so the
/// two shares are computed separately.
pub fn fault_share(counts: &IngestCounts, corpus: &Corpus) -> f64 {
    let requests = &corpus.requests;
    let is_fault = |row: RowIx| requests.fate(row).is_some_and(|fate| fate.reason.kind == ReasonKind::Fault);
    let faults = requests.in_order().iter().filter(|&&row| is_fault(row)).count() as u64;
    // Counts of rows are far below 2^52, so the division is exact enough.
    #[allow(clippy::cast_precision_loss)]
    let share = |part: u64, whole: u64| if whole == 0 { 0.0 } else { part as f64 / whole as f64 };
    let unreadable = share(counts.unreadable, counts.lines);
    unreadable + (1.0 - unreadable) * share(faults, counts.records)
}

/// Returns the bytes of the files in a folder, without its subfolders.
///
/// # Errors
/// The folder cannot be read.
pub fn bytes_in(folder: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(folder).at("reading", folder)? {
        bytes += entry.and_then(|entry| entry.metadata()).at("reading", folder)?.len();
    }
    Ok(bytes)
}
