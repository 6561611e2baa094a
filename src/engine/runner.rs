//! Runs a pipeline: the only place where verdicts become facts.
//!
//! For each stage: is it done already under the same key? Then its delta is read back.
//! Otherwise it judges, and the delta is written. Either way the same delta is applied
//! to the tables, what follows for parents and children is worked out, and rows in and
//! rows out are compared before the next stage starts.
//!
//! What happens to the other table is this:
//!
//! | one row | the rows linked to it |
//! |---|---|
//! | list dropped or held | its requests too, for the same reason |
//! | list merged | its requests go to the leader; the list they were sent with stays on record |
//! | last kept request of a list gone | list leaves as [`NO_REQUEST_LEFT`]; held where one of them is held |

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use super::columns::ColumnSpec;
use super::corpus::{Cells, Corpus, Fate};
use super::delta::{
    COLUMNS, EDITS, FATES, Kept, StageManifest, StoredEdit, count_fates, read_fates, write_edits, write_fates,
};
use super::error::{At, Error, Result};
use super::fingerprint::Fingerprint;
use super::folder::{InputFile, RunFolder};
use super::forget;
use super::forgotten::Forgotten;
use super::frame::FrameFile;
use super::payload::{self, IngestCounts, IngestManifest, PayloadWriter};
use super::stage::{Action, Context, Contract, Evidence, Reason, ReasonKind, RowIx, Safety, Stage, TableId};
use super::verdict::{Delta, FateEvent, Verdict};
use super::view::View;

/// A list leaves the working set because none of its requests is kept.
pub static NO_REQUEST_LEFT: Reason = Reason::policy(
    "cascade/no-request-left",
    "Every request that was sent with this doc list has left the working set.",
);

/// Raised when the layout of the run folder or the meaning of a delta changes: nothing older is reused.
const ENGINE_VERSION: u32 = 2;

/// Where rows come from.
pub trait Source: Send + Sync {
    /// Adds the settings that decide what is read, but for the content of the inputs.
    ///
    /// # Errors
    /// A file the settings name cannot be read.
    fn fingerprint(&self, fingerprint: &mut Fingerprint) -> Result<()>;

    /// The inputs with their hashes, for comparing with a run that is done.
    ///
    /// # Errors
    /// An input cannot be read.
    fn inputs(&self) -> Result<Vec<InputFile>>;

    /// Reads every input once.
    ///
    /// # Errors
    /// An input cannot be read to its end, or the user asked to stop. A bad line is never an error.
    fn read(&self, into: &mut PayloadWriter, cx: &Context<'_>) -> Result<Vec<InputFile>>;
}

/// Where kept rows go.
pub trait Sink: Send + Sync {
    /// Its id in messages.
    fn id(&self) -> &str;

    /// The columns it reads.
    fn reads(&self) -> Vec<ColumnSpec>;

    /// Writes the kept rows into an empty folder.
    ///
    /// # Errors
    /// A file cannot be written.
    fn write(&self, corpus: &Corpus, into: &Path, cx: &Context<'_>) -> Result<Exported>;
}

/// What a sink wrote.
#[derive(Debug, Default)]
pub struct Exported {
    /// The requests, each once.
    pub rows: Vec<RowIx>,
    /// How many rows under which heading, for people and the report.
    pub counts: Vec<(String, u64)>,
    /// How many entries of an earlier dataset were kept as they were, under which heading; no rows of this run.
    pub frozen: Vec<(String, u64)>,
}

/// A stage in its place in the pipeline.
pub struct StageInstance {
    /// Its id, unique in the pipeline.
    pub id: String,
    /// The kind's name.
    pub kind: &'static str,
    /// Its settings, defaults and all.
    pub settings: serde_json::Value,
    /// The stage itself.
    pub stage: Box<dyn Stage>,
}

/// A run that is done.
pub struct Outcome {
    /// What was read.
    pub ingest: IngestManifest,
    /// What each stage did.
    pub stages: Vec<StageManifest>,
    /// How many steps were taken over from an earlier run of the same pipeline.
    pub reused: usize,
    /// The tables as they stand.
    pub corpus: Corpus,
    /// What was written.
    pub exported: Option<Exported>,
}

/// The folder name of a stage.
pub fn step_name(at: usize, id: &str) -> String {
    format!("{:02}-{id}", at + 1)
}

/// Runs source, stages and sink in a run folder.
///
/// # Errors
/// See [`Error`]; finished steps stay, so that the same call goes on from there.
pub fn run(
    folder: &RunFolder,
    source: &dyn Source,
    stages: &[StageInstance],
    sink: Option<&dyn Sink>,
    cx: &Context<'_>,
) -> Result<Outcome> {
    let names: Vec<String> = stages.iter().enumerate().map(|(at, stage)| step_name(at, &stage.id)).collect();
    folder.keep_stages(&names)?;
    let (ingest, mut reused) = ingest(folder, source, cx)?;
    let mut corpus = payload::load(folder.path(), &ingest)?;
    let mut manifests: Vec<StageManifest> = Vec::new();
    let mut upstream = ingest.key.clone();
    for (at, instance) in stages.iter().enumerate() {
        if cx.cancelled() {
            return Err(Error::Interrupted);
        }
        let step = format!("stages/{}", names[at]);
        let key = stage_key(instance, &upstream, cx.seed)?;
        let done = folder.manifest::<StageManifest>(&step)?.filter(|manifest| manifest.key == key);
        let manifest = match done {
            Some(manifest) => {
                replay(folder.path(), &step, at, instance, &mut corpus)?;
                reused += 1;
                manifest
            }
            None => {
                judge(folder, &step, at, instance, Keys { own: &key, upstream: &upstream }, &mut corpus, cx)?
            }
        };
        check(&manifest, &corpus)?;
        upstream = key;
        manifests.push(manifest);
    }
    folder.remove_outcome()?;
    let exported = sink.map(|sink| export(folder, sink, &corpus, cx)).transpose()?;
    Ok(Outcome { ingest, stages: manifests, reused, corpus, exported })
}

/// Builds the tables of a finished run as they stood after its last stage.
///
/// # Errors
/// The run folder is damaged or not finished.
pub fn open(run: &Path, ingest: &IngestManifest, stages: &[StageInstance]) -> Result<Corpus> {
    let mut corpus = fold(run, ingest, stages)?;
    forget::apply(run, &mut corpus, stages.len())?;
    Ok(corpus)
}

/// The tables after the last stage, as if nothing had been forgotten since.
pub(super) fn fold(run: &Path, ingest: &IngestManifest, stages: &[StageInstance]) -> Result<Corpus> {
    let mut corpus = payload::load(run, ingest)?;
    for (at, instance) in stages.iter().enumerate() {
        replay(run, &format!("stages/{}", step_name(at, &instance.id)), at, instance, &mut corpus)?;
    }
    Ok(corpus)
}

fn ingest(folder: &RunFolder, source: &dyn Source, cx: &Context<'_>) -> Result<(IngestManifest, usize)> {
    let forgotten = Forgotten::read(folder.path())?;
    let key_of = |inputs: &[InputFile]| -> Result<String> {
        let mut fingerprint = Fingerprint::default();
        fingerprint.version(ENGINE_VERSION);
        fingerprint.part("seed", &cx.seed.to_le_bytes());
        source.fingerprint(&mut fingerprint)?;
        for input in inputs {
            fingerprint.part("input", input.sha256.as_bytes());
        }
        forgotten.fingerprint(&mut fingerprint);
        Ok(fingerprint.finish())
    };
    if let Some(manifest) = folder.manifest::<IngestManifest>("ingest")? {
        cx.progress.begin("compare inputs", None);
        let same = !manifest.purged && manifest.key == key_of(&source.inputs()?)?;
        cx.progress.end(if same { "as before" } else { "changed" });
        if same {
            return Ok((manifest, 1));
        }
    }
    folder.remove_outcome()?;
    let start = Instant::now();
    cx.progress.begin("ingest", None);
    let mut writer = PayloadWriter::new(folder.begin_private("ingest")?, forgotten.clone());
    let inputs = source.read(&mut writer, cx)?;
    let key = key_of(&inputs)?;
    let manifest = writer.finish(key, inputs, start.elapsed().as_secs_f64())?;
    let counts = &manifest.counts;
    let without_row =
        [counts.no_request, counts.unreadable, counts.not_sampled, counts.forgotten, counts.joined];
    let accounted = counts.records + without_row.iter().sum::<u64>();
    if counts.lines != accounted {
        return Err(Error::Conservation {
            at: "ingest".into(),
            what: format!("{} lines, {accounted} fates", counts.lines),
        });
    }
    cx.progress.end(&format!("{} requests, {} doc lists", counts.records, counts.doc_lists));
    Ok((manifest, 0))
}

fn stage_key(instance: &StageInstance, upstream: &str, seed: u64) -> Result<String> {
    let mut fingerprint = Fingerprint::after(upstream);
    fingerprint.part("kind", instance.kind.as_bytes());
    fingerprint.part("id", instance.id.as_bytes());
    fingerprint.part("settings", instance.settings.to_string().as_bytes());
    fingerprint.part("seed", &seed.to_le_bytes());
    instance.stage.fingerprint(&mut fingerprint)?;
    Ok(fingerprint.finish())
}

/// A stage's key and that of the step before.
#[derive(Clone, Copy)]
struct Keys<'a> {
    own: &'a str,
    upstream: &'a str,
}

fn kept(corpus: &Corpus) -> Kept {
    Kept { requests: corpus.requests.kept() as u64, doc_lists: corpus.lists.kept() as u64 }
}

fn judge(
    folder: &RunFolder,
    step: &str,
    at: usize,
    instance: &StageInstance,
    keys: Keys<'_>,
    corpus: &mut Corpus,
    cx: &Context<'_>,
) -> Result<StageManifest> {
    folder.remove_outcome()?;
    let start = Instant::now();
    let contract = instance.stage.contract();
    let before = kept(corpus);
    cx.progress.begin(&instance.id, Some(corpus.table(contract.table).len() as u64));
    let files = folder.begin(step)?;
    let delta = {
        let mut verdict =
            Verdict::new(&instance.id, &contract, corpus.table(contract.table), files.file(COLUMNS));
        instance.stage.judge(&View::new(corpus, &contract), cx, &mut verdict)?;
        verdict.finish()?
    };
    let Delta { mut fates, edits, cells, notes } = delta;
    apply(corpus, &fates, at)?;
    let consequences = cascade(corpus, contract.table);
    apply(corpus, &consequences, at)?;
    fates.extend(consequences);
    let edits: Vec<StoredEdit> = edits
        .into_iter()
        .map(|(row, edit)| StoredEdit {
            table: contract.table,
            row,
            column: edit.column.name.to_owned(),
            reason: edit.reason.code.to_owned(),
            safety: edit.safety.name().to_owned(),
            patch: edit.patch,
        })
        .collect();
    write_fates(&files.file(FATES), &fates)?;
    write_edits(&files.file(EDITS), &edits)?;
    let mut manifest = StageManifest {
        key: keys.own.to_owned(),
        upstream: keys.upstream.to_owned(),
        id: instance.id.clone(),
        kind: instance.kind.to_owned(),
        settings: instance.settings.clone(),
        table: contract.table,
        before,
        after: kept(corpus),
        fates: count_fates(&fates),
        edits: BTreeMap::new(),
        suggestions: BTreeMap::new(),
        notes,
        seconds: start.elapsed().as_secs_f64(),
        bytes: bytes_in(files.path())?,
    };
    for edit in &edits {
        let is_shown = edit.safety == Safety::Suggest.name();
        let counts = if is_shown { &mut manifest.suggestions } else { &mut manifest.edits };
        *counts.entry(edit.reason.clone()).or_default() += 1;
    }
    files.finish(&manifest)?;
    if cells.is_some() {
        add_columns(folder.path(), step, &contract, corpus)?;
    }
    cx.progress.end(&summary(&manifest));
    Ok(manifest)
}

/// Applies the delta of a stage that is done.
pub(super) fn replay(
    run: &Path,
    step: &str,
    at: usize,
    instance: &StageInstance,
    corpus: &mut Corpus,
) -> Result<()> {
    let contract = instance.stage.contract();
    apply(corpus, &read_fates(&run.join(step).join(FATES), &reasons_of(&contract))?, at)?;
    if contract.writes.is_empty() { Ok(()) } else { add_columns(run, step, &contract, corpus) }
}

/// The reasons a stage's delta may name: its own, and what the runner adds.
pub(super) fn reasons_of(contract: &Contract) -> Vec<&'static Reason> {
    contract.reasons.iter().copied().chain([&NO_REQUEST_LEFT]).collect()
}

pub(super) fn add_columns(run: &Path, step: &str, contract: &Contract, corpus: &mut Corpus) -> Result<()> {
    let cells = Cells::File(FrameFile::open(&run.join(step).join(COLUMNS))?);
    corpus.table_mut(contract.table).add_columns(&contract.writes, cells);
    Ok(())
}

fn apply(corpus: &mut Corpus, fates: &[FateEvent], at: usize) -> Result<()> {
    let stage =
        u16::try_from(at).map_err(|_| Error::Setting("more than 65,535 stages in one pipeline".into()))?;
    for &FateEvent { table, row, action, reason, into, .. } in fates {
        corpus.apply(table, row, Fate { action, stage, reason, into });
    }
    if fates.iter().any(|fate| fate.table == TableId::DocLists && fate.action == Action::Merge) {
        corpus.follow_merged_lists();
    }
    Ok(())
}

/// What follows for the other table; see the table at the top.
pub(super) fn cascade(corpus: &Corpus, judged: TableId) -> Vec<FateEvent> {
    let mut follows = Vec::new();
    let mut push = |table, row, action, reason| {
        let evidence = Evidence::default();
        follows.push(FateEvent { table, row, action, reason, into: None, cascaded: true, evidence });
    };
    if judged == TableId::DocLists {
        for (row, &list) in (0..).zip(&corpus.list) {
            if corpus.requests.is_kept(row)
                && let Some(fate) = corpus.lists.fate(list)
            {
                push(TableId::Requests, row, fate.action, fate.reason);
            }
        }
    }
    let mut has_kept = vec![false; corpus.lists.len()];
    let mut has_held = vec![false; corpus.lists.len()];
    for (row, &list) in (0..).zip(&corpus.list) {
        match corpus.requests.fate(row) {
            None => has_kept[list as usize] = true,
            Some(fate) => has_held[list as usize] |= fate.action == Action::Hold,
        }
    }
    for (row, (kept, held)) in (0..).zip(has_kept.into_iter().zip(has_held)) {
        if !kept && corpus.lists.is_kept(row) {
            push(TableId::DocLists, row, if held { Action::Hold } else { Action::Drop }, &NO_REQUEST_LEFT);
        }
    }
    follows
}

/// Rows in and rows out, from two sides: the stage's own counts and the tables.
fn check(manifest: &StageManifest, corpus: &Corpus) -> Result<()> {
    let lost = |table| {
        manifest.fates.iter().filter(|count| count.table == table).map(|count| count.rows).sum::<u64>()
    };
    let after = kept(corpus);
    let sides = [
        (TableId::Requests, manifest.before.requests, after.requests),
        (TableId::DocLists, manifest.before.doc_lists, after.doc_lists),
    ];
    for (table, before, after) in sides {
        if before != after + lost(table) {
            let what =
                format!("{}: {before} before, {after} kept, {} with a fate", table.name(), lost(table));
            return Err(Error::Conservation { at: manifest.id.clone(), what });
        }
    }
    let stray = (0..)
        .zip(&corpus.list)
        .find(|&(row, &list)| corpus.requests.is_kept(row) && !corpus.lists.is_kept(list));
    match stray {
        None => Ok(()),
        Some((row, _)) => {
            let what = format!("request {} is kept, its doc list is not", corpus.requests.row_id(row));
            Err(Error::Conservation { at: manifest.id.clone(), what })
        }
    }
}

fn export(folder: &RunFolder, sink: &dyn Sink, corpus: &Corpus, cx: &Context<'_>) -> Result<Exported> {
    cx.progress.begin(sink.id(), Some(corpus.requests.kept() as u64));
    let files = folder.begin("dataset")?;
    let exported = sink.write(corpus, files.path(), cx)?;
    let mut written = vec![false; corpus.requests.len()];
    for &row in &exported.rows {
        if std::mem::replace(&mut written[row as usize], true) || !corpus.requests.is_kept(row) {
            let what = format!("request {} was written twice or was not kept", corpus.requests.row_id(row));
            return Err(Error::Conservation { at: sink.id().to_owned(), what });
        }
    }
    if exported.rows.len() != corpus.requests.kept() {
        let what = format!("{} requests kept, {} written", corpus.requests.kept(), exported.rows.len());
        return Err(Error::Conservation { at: sink.id().to_owned(), what });
    }
    files.rename()?;
    let frozen: u64 = exported.frozen.iter().map(|(_, entries)| entries).sum();
    let and_frozen = if frozen > 0 { format!(" and {frozen} frozen") } else { String::new() };
    cx.progress.end(&format!("{} entries{and_frozen}", exported.rows.len()));
    Ok(exported)
}

fn summary(manifest: &StageManifest) -> String {
    let mut parts = Vec::new();
    for action in [Action::Merge, Action::Drop, Action::Hold] {
        for table in [TableId::DocLists, TableId::Requests] {
            let rows: u64 = manifest
                .fates
                .iter()
                .filter(|count| count.table == table && count.action == action && !count.cascaded)
                .map(|count| count.rows)
                .sum();
            if rows > 0 {
                let noun = if table == TableId::Requests { "request" } else { "doc list" };
                let plural = if rows == 1 { "" } else { "s" };
                let verb = match action {
                    Action::Merge => "merged",
                    Action::Drop => "dropped",
                    Action::Hold => "held",
                };
                parts.push(format!("{rows} {noun}{plural} {verb}"));
            }
        }
    }
    let edits: u64 = manifest.edits.values().sum();
    if edits > 0 {
        parts.push(format!("{edits} edits"));
    }
    if parts.is_empty() { "nothing to do".to_owned() } else { parts.join(", ") }
}

/// The share of rows that left because something went wrong: lines that could not be read, then requests.
///
/// With `--limit` or `--sample-rows` the lines are those of the whole log and the requests those of the sample, so
/// the two shares are worked out apart.
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

/// Bytes of the files in a folder, not counting folders below it.
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
