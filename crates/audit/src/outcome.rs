//! Writes what an audit found, from a finished run: hits, removed rows, counts, and the statement for a model card.
//!
//! Everything is computed from the links and fates of the run, so it can be written again after rows were forgotten. No
//! text of a training set or benchmark is in these files.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufWriter, Write as _};
use std::path::Path;

use rayon::prelude::*;
use serde::{Deserialize as _, Serialize};
use serde_json::json;

use super::coverage::{GROUPED_NOTE, GroupedEntries};
use super::facts::{BENCHMARK_NOTE, BenchmarkFacts, ITSELF_NOTE, JUDGED_NOTE};
use super::frequent::FREQUENT_NOTE;
use super::hit::{Method, Object, Verdict};
use super::read_rows::{READ_NOTE, ReadOfFile, SHARED_NOTE};
use super::report::{Counted, CountedHit, TrainFile};
use super::shuffle::{CleanShuffle, SHUFFLE_NOTE};
use callsieve_engine::columns::{CONTAMINATION, EXTERNAL_ID, FILE, LINE, RECORD};
use callsieve_engine::context::Cancelled;
use callsieve_engine::corpus::Corpus;
use callsieve_engine::delta::StageManifest;
use callsieve_engine::disk::{create, write_atomic, write_json};
use callsieve_engine::error::{At, Error, Result};
use callsieve_engine::frame::{FrameWriter, Values};
use callsieve_engine::instance::StageInstance;
use callsieve_engine::layout::{AUDIT_REPORT, HITS, HITS_TABLE, REMOVED, STATEMENT, STATEMENT_LATEX};
use callsieve_engine::links::{StoredLink, of_stage_unless};
use callsieve_engine::manifest::InputFile;
use callsieve_engine::raw::{LineStory, read_lines};
use callsieve_engine::vocabulary::{RowIx, TableId};
use callsieve_ingest::reasons::{LINE_TOO_LONG, ends_file};

/// Hits of a group of their table.
const GROUP_ROWS: usize = 1 << 16;
/// Rows whose hits are formatted together.
const BLOCK_ROWS: usize = 1 << 10;

/// A finished run, as an audit reads it.
pub struct Finished<'a> {
    /// The run folder.
    pub folder: &'a Path,
    /// Its inputs, with their paths as given.
    pub inputs: &'a [InputFile],
    /// Its tables after the last stage.
    pub corpus: &'a Corpus,
    /// Its stages.
    pub stages: &'a [StageInstance],
    /// Their manifests.
    pub manifests: &'a [StageManifest],
    /// The stage that compares rows with benchmarks.
    pub stage: usize,
    /// The names of the cleaned sets in the run's dataset, by input; empty if none were written.
    pub cleaned: &'a [String],
    /// Whether the user asked to stop.
    pub cancelled: Cancelled<'a>,
}

impl Finished<'_> {
    fn go_on(&self) -> Result<()> {
        if (self.cancelled)() { Err(Error::Interrupted) } else { Ok(()) }
    }
}

/// Where a row was read.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Place {
    file: usize,
    line: i64,
    record: i64,
    /// Its own id, or its file and line.
    id: String,
}

/// Writes the files of an audit; nothing if the stage knows no benchmark.
///
/// # Errors
/// A file cannot be read or written.
pub fn write(run: &Finished<'_>) -> Result<()> {
    let at = run.stage;
    let Some(facts) = BenchmarkFacts::of(run.manifests[at].notes.get(BENCHMARK_NOTE)) else {
        return Ok(());
    };
    let mut counted = Counted::default();
    let mut train = train_files(run)?;
    let of_itself =
        run.manifests[at].notes.get(ITSELF_NOTE).and_then(|note| BTreeSet::<usize>::deserialize(note).ok());
    let read = ReadOfFile::of_note(run.manifests[at].notes.get(READ_NOTE));
    for (input, file) in train.iter_mut().enumerate() {
        file.is_benchmark = of_itself.as_ref().is_some_and(|inputs| inputs.contains(&input));
        file.read = read.get(&input).copied().unwrap_or_default();
    }
    let links = of_stage_unless(run.folder, at, &run.stages[at], run.corpus, |_, _| true, run.cancelled)?;
    let has_links: BTreeSet<RowIx> = links.iter().map(|link| link.row).collect();
    let mut contaminated_kept = 0;
    let places =
        places(run, (&mut counted, &mut contaminated_kept), &mut train, |row| has_links.contains(&row))?;
    let grouped = GroupedEntries::of_note(run.manifests[at].notes.get(GROUPED_NOTE));
    for (object, verdict, category, entry) in grouped.of_rows(|row| places.contains_key(&row)) {
        counted.add_entry(category, entry, object, verdict);
    }
    let mut by_row: BTreeMap<RowIx, Vec<StoredLink>> = BTreeMap::new();
    for link in links {
        by_row.entry(link.row).or_default().push(link);
    }
    let mut rows: Vec<(&Place, &Vec<StoredLink>)> =
        by_row.iter().filter_map(|(row, links)| Some((places.get(row)?, links))).collect();
    rows.sort_by_key(|(place, _)| (place.file, place.record, &place.id));
    for (_, links) in &rows {
        run.go_on()?;
        let hits: Vec<CountedHit<'_>> = links.iter().filter_map(counted_hit).collect();
        counted.add_hits(&hits);
    }
    let (hits, table) = rayon::join(|| write_hits(run, &rows), || write_table(run, &rows));
    hits.and(table)?;
    write_removed(run, &places)?;
    let mut report = counted.report(&facts, train);
    report.contaminated_kept = contaminated_kept;
    let judged = run.manifests[at].notes.get(JUDGED_NOTE);
    report.judged = judged.and_then(|note| BTreeMap::deserialize(note).ok()).unwrap_or_default();
    let shuffle = run.manifests[at].notes.get(SHUFFLE_NOTE);
    report.clean_shuffle = shuffle.and_then(|note| CleanShuffle::deserialize(note).ok()).unwrap_or_default();
    let frequent = run.manifests[at].notes.get(FREQUENT_NOTE);
    report.frequent_entries = frequent.and_then(|note| Vec::deserialize(note).ok()).unwrap_or_default();
    let shared = run.manifests[at].notes.get(SHARED_NOTE);
    report.shared_texts = shared.and_then(|note| Vec::deserialize(note).ok()).unwrap_or_default();
    write_atomic(&run.folder.join(STATEMENT), report.statement_document().as_bytes())?;
    write_atomic(&run.folder.join(STATEMENT_LATEX), report.statement_latex().as_bytes())?;
    write_json(&run.folder.join(AUDIT_REPORT), &report)
}

fn counted_hit(link: &StoredLink) -> Option<CountedHit<'_>> {
    Some(CountedHit {
        category: &link.set,
        entry: &link.record,
        object: Object::from_name(&link.object)?,
        method: Method::from_name(&link.method)?,
        score: link.score,
        verdict: Verdict::from_name(link.verdict.as_deref()?)?,
        n_entries: link.n_records,
    })
}

/// Returns the training sets, with the counts of lines without a row.
fn train_files(run: &Finished<'_>) -> Result<Vec<TrainFile>> {
    let cleaned = |at: usize| run.cleaned.get(at).map(|name| format!("dataset/{name}"));
    let file = |(at, input): (usize, &InputFile)| TrainFile {
        path: input.path.clone(),
        sha256: input.sha256.clone(),
        cleaned: cleaned(at),
        ..TrainFile::default()
    };
    let mut train: Vec<TrainFile> = run.inputs.iter().enumerate().map(file).collect();
    let is_unreadable = |line: &&LineStory| line.fate == "unreadable";
    for line in read_lines(run.folder)?.iter().filter(is_unreadable) {
        if let Some(file) = train.get_mut(line.file as usize) {
            let n_lines = u64::try_from(line.n_lines).unwrap_or_default();
            file.unreadable += n_lines;
            let is_lost = line.reason == LINE_TOO_LONG || ends_file(&line.reason);
            file.not_copied += if is_lost { n_lines } else { 0 };
        }
    }
    Ok(train)
}

/// Counts all rows, and returns the places of those that are removed or `wanted`.
fn places(
    run: &Finished<'_>,
    (counted, contaminated_kept): (&mut Counted, &mut u64),
    train: &mut [TrainFile],
    wanted: impl Fn(RowIx) -> bool,
) -> Result<BTreeMap<RowIx, Place>> {
    let table = run.corpus.table(TableId::Requests);
    let mut places = BTreeMap::new();
    for batch in 0..table.batches() {
        run.go_on()?;
        let cells = table.read_batch(batch, &[CONTAMINATION, EXTERNAL_ID, FILE, LINE, RECORD])?;
        let start = table.batch(batch).start;
        for row in table.rows_of_batch(batch) {
            let at = row as usize - start;
            // A forgotten row has no cells; a row that an earlier stage dropped has no verdict.
            let Some(file) = cells.int(FILE, at).and_then(|file| usize::try_from(file).ok()) else {
                continue;
            };
            let is_removed = !table.is_kept(row);
            if let Some(verdict) = cells.text(CONTAMINATION, at).and_then(Verdict::from_name) {
                counted.add_row(verdict);
                *contaminated_kept += u64::from(verdict == Verdict::Contaminated && !is_removed);
            }
            if let Some(file) = train.get_mut(file) {
                file.rows += 1;
                file.removed += u64::from(is_removed);
            }
            if is_removed || wanted(row) {
                let line = cells.int(LINE, at).unwrap_or_default();
                let name = || format!("{}:{line}", run.inputs.get(file).map_or("?", |input| &input.path));
                let id = cells.text(EXTERNAL_ID, at).map_or_else(name, str::to_owned);
                places
                    .insert(row, Place { file, line, record: cells.int(RECORD, at).unwrap_or_default(), id });
            }
        }
    }
    Ok(places)
}

/// A hit as it is written, before its places, which are stored as JSON.
#[derive(Serialize)]
struct HitLine<'a> {
    train_id: &'a str,
    train_file: Option<&'a str>,
    line: i64,
    bench_id: &'a str,
    bench_category: &'a str,
    object: &'a str,
    method: &'a str,
    score: f64,
    verdict: Option<&'a str>,
    entries: u32,
}

/// Returns the line of a hit.
fn hit_line(run: &Finished<'_>, place: &Place, link: &StoredLink) -> String {
    let line = HitLine {
        train_id: &place.id,
        train_file: run.inputs.get(place.file).map(|input| input.path.as_str()),
        line: place.line,
        bench_id: &link.record,
        bench_category: &link.set,
        object: &link.object,
        method: &link.method,
        score: link.score,
        verdict: link.verdict.as_deref(),
        entries: link.n_records,
    };
    let line = serde_json::to_string(&line).expect("texts and numbers are JSON");
    let members = line.trim_end_matches('}');
    let group = link.examples.as_ref().map_or(String::new(), |examples| format!(",\"examples\":{examples}"));
    format!("{members},\"train_spans\":{},\"bench_spans\":{}{group}}}\n", link.spans, link.record_spans)
}

fn write_hits(run: &Finished<'_>, rows: &[(&Place, &Vec<StoredLink>)]) -> Result<()> {
    let path = run.folder.join(HITS);
    let mut file = BufWriter::new(create(&path)?);
    let lines = |(place, links): &(&Place, &Vec<StoredLink>)| -> String {
        links.iter().map(|link| hit_line(run, place, link)).collect()
    };
    for rows in rows.chunks(BLOCK_ROWS) {
        run.go_on()?;
        let texts: Vec<String> = rows.par_iter().map(lines).collect();
        texts.iter().try_for_each(|text| file.write_all(text.as_bytes())).at("writing", &path)?;
    }
    file.flush().at("writing", &path)
}

fn write_table(run: &Finished<'_>, rows: &[(&Place, &Vec<StoredLink>)]) -> Result<()> {
    let mut table = FrameWriter::create(&run.folder.join(HITS_TABLE));
    let hits: Vec<(&Place, &StoredLink)> =
        rows.iter().flat_map(|(place, links)| links.iter().map(|link| (*place, link))).collect();
    let mut write = |hits: &[(&Place, &StoredLink)]| {
        run.go_on()?;
        let text = |get: &dyn Fn(&Place, &'_ StoredLink) -> Option<String>| -> Vec<Option<String>> {
            hits.iter().map(|(place, link)| get(place, link)).collect()
        };
        let files = text(&|place, _| Some(run.inputs.get(place.file)?.path.clone()));
        let of_link = |get: fn(&StoredLink) -> &str| {
            Values::Text(hits.iter().map(|(_, link)| Some(get(link))).collect())
        };
        table.write(vec![
            ("train_id", Values::Text(hits.iter().map(|(place, _)| Some(place.id.as_str())).collect())),
            ("train_file", Values::Text(files.iter().map(Option::as_deref).collect())),
            ("line", Values::Int(hits.iter().map(|(place, _)| Some(place.line)).collect())),
            ("bench_id", of_link(|link| &link.record)),
            ("bench_category", of_link(|link| &link.set)),
            ("object", of_link(|link| &link.object)),
            ("method", of_link(|link| &link.method)),
            ("score", Values::Float(hits.iter().map(|(_, link)| Some(link.score)).collect())),
            ("verdict", Values::Text(hits.iter().map(|(_, link)| link.verdict.as_deref()).collect())),
            ("train_spans", of_link(|link| &link.spans)),
            ("bench_spans", of_link(|link| &link.record_spans)),
            ("entries", Values::Int(hits.iter().map(|(_, link)| Some(link.n_records.into())).collect())),
            ("examples", Values::Text(hits.iter().map(|(_, link)| link.examples.as_deref()).collect())),
        ])
    };
    if hits.is_empty() {
        write(&[])?;
    }
    hits.chunks(GROUP_ROWS).try_for_each(&mut write)?;
    table.finish().map(drop)
}

/// Writes the rows that are not in the cleaned sets, with the reason.
fn write_removed(run: &Finished<'_>, places: &BTreeMap<RowIx, Place>) -> Result<()> {
    let table = run.corpus.table(TableId::Requests);
    let mut removed: Vec<(&Place, RowIx)> =
        places.iter().filter(|(row, _)| !table.is_kept(**row)).map(|(row, place)| (place, *row)).collect();
    removed.sort_by_key(|(place, row)| (place.file, place.record, *row));
    let path = run.folder.join(REMOVED);
    let mut file = BufWriter::new(create(&path)?);
    for (place, row) in removed {
        let fate = table.fate(row);
        let line = json!({
            "train_id": place.id,
            "train_file": run.inputs.get(place.file).map(|input| &input.path),
            "line": place.line,
            "action": fate.map(|fate| fate.action.name()),
            "reason": fate.map(|fate| fate.reason.code),
        });
        writeln!(file, "{line}").at("writing", &path)?;
    }
    file.flush().at("writing", &path)
}
