//! `toolsieve forget`: one record out of a finished run, everywhere, for good.

use std::collections::BTreeSet;
use std::path::PathBuf;

use anyhow::bail;
use serde_json::{Value, json};

use super::Halfway;
use super::open::{OpenRun, open};
use super::place::name_and_line;
use super::purge::what;
use super::run::tell_anew;
use super::why::is_forgotten;
use crate::console::{self, count, table};
use crate::engine::columns::EXTERNAL_ID;
use crate::engine::corpus::Corpus;
use crate::engine::error::{Error, damaged};
use crate::engine::folder::{RunFolder, read_run_file};
use crate::engine::forget::{Erasure, with_equal_records};
use crate::engine::forgotten::{ANSWER_FORGOTTEN, Forgotten};
use crate::engine::payload::{self, StoredPlace};
use crate::engine::rewrite::Touched;
use crate::engine::runner::{self, Exported, Outcome, step_name};
use crate::engine::stage::RowIx;
use crate::export::{erase, written};
use crate::report::model::{Fates, Report};

/// The shortest start of a request id that is taken for one: what is forgotten does not come back, and a number of
/// four digits that the log knows as an id may be the start of another record's.
const SHORTEST_PREFIX: usize = 12;
/// Rows named at most in a message.
const MAX_NAMED: usize = 20;

const NOTHING_TO_DO: &str = "nothing to do: the record is forgotten\n";

/// Arguments of `forget`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The log itself is not touched, nor files outside the run folder; old bytes are unlinked, not overwritten.
The row's place stays, with the file, line and record number it was read from. A later run into the folder passes over the record.
Records that are byte for byte the same are forgotten together. Other steps of its conversation are other records.

Examples:
  toolsieve forget out/live --id 9f3c22a0b17e      by the start of a request id
  toolsieve forget out/live --id r0042 --all       every record the log calls so
  toolsieve forget out/live --id r0042 --json | jq .files"
)]
pub(super) struct ForgetArgs {
    /// Run folder.
    run: PathBuf,

    /// The record: the log's own id, a request id, or the start of one that no other shares (12 digits or more).
    #[arg(long, value_name = "ID")]
    id: String,

    /// Every record that the log gave this id, where several have it.
    #[arg(long)]
    all: bool,

    /// What was forgotten and where, as one JSON object.
    #[arg(long)]
    json: bool,
}

pub(super) fn forget(args: &ForgetArgs) -> anyhow::Result<()> {
    // The id must not come to stand in the lock file.
    let folder = RunFolder::take_existing(&args.run, "toolsieve forget")?;
    read_run_file(&args.run)?;
    let run = open(&args.run)?;
    let list = Forgotten::read(&args.run)?;
    let rows = find(&run, args)?;
    if rows.is_empty() && !list.unfinished {
        if is_forgotten(&args.run, &args.id)? {
            let nothing = json!({"run": args.run, "requests": [], "files": []});
            let told = || console::give_json(&format!("{nothing}\n"));
            return Ok(if args.json { told() } else { console::give(NOTHING_TO_DO) }?);
        }
        bail!(
            "no record {} in {}\nhint: give the log's own id, a request id, or the start of one ({SHORTEST_PREFIX} digits or more); `toolsieve why` tells both",
            args.id,
            args.run.display()
        );
    }
    let forgotten = erase_all(&folder, &run, &rows).map_err(Halfway)?;
    if args.json {
        console::give_json(&format!("{}\n", forgotten.as_json(args)))?;
    } else {
        console::give(&forgotten.as_text())?;
    }
    if rows.is_empty() {
        console::talk(&format!(
            "note: an earlier forget that was cut off is finished; a record {} is not there, or no more",
            args.id
        ));
    }
    Ok(())
}

/// The rows that are meant, with those that are byte for byte the same.
fn find(run: &OpenRun, args: &ForgetArgs) -> anyhow::Result<BTreeSet<RowIx>> {
    let requests = &run.corpus.requests;
    let is_hex = args.id.len() >= SHORTEST_PREFIX && args.id.chars().all(|c| c.is_ascii_hexdigit());
    let prefix = args.id.to_ascii_lowercase();
    let by_id = |row: &RowIx| is_hex && requests.row_id(*row).to_string().starts_with(&prefix);
    let list = Forgotten::read(&args.run)?;
    let is_there = |row: &RowIx| !list.is_tombstone(requests.row_id(*row));
    // The log's own id as it was logged, and as redaction left it. It wins over starts of request ids.
    let as_logged = payload::load(&args.run, &run.ingest)?;
    let mut named: BTreeSet<RowIx> = with_external_id(&as_logged, &args.id)?.into_iter().collect();
    named.extend(with_external_id(&run.corpus, &args.id)?);
    let is_by_id = named.is_empty();
    let is_meant = |row: &RowIx| if is_by_id { by_id(row) && is_there(row) } else { named.contains(row) };
    let found: Vec<RowIx> = requests.in_order().iter().copied().filter(is_meant).collect();
    let equal = with_equal_records(requests, &found);
    let is_one_record = found.first().is_none_or(|&first| equal == with_equal_records(requests, &[first]));
    if is_one_record || (args.all && !is_by_id) {
        return Ok(equal);
    }
    let mut names: Vec<String> =
        found.iter().take(MAX_NAMED).map(|&row| format!("  {}", requests.row_id(row))).collect();
    if found.len() > MAX_NAMED {
        names.push(format!("  … and {} more", found.len() - MAX_NAMED));
    }
    let hint = if is_by_id {
        "give more digits of the request id"
    } else {
        "give one of these ids, or forget them all with --all"
    };
    bail!(
        "{} is the id of {} records of {}:\n{}\nhint: {hint}",
        args.id,
        found.len(),
        args.run.display(),
        names.join("\n")
    );
}

fn with_external_id(corpus: &Corpus, wanted: &str) -> Result<Vec<RowIx>, Error> {
    let requests = &corpus.requests;
    let mut found = Vec::new();
    for batch in 0..requests.batches() {
        let cells = requests.read_batch(batch, &[EXTERNAL_ID])?;
        let start = requests.batch(batch).start;
        let has_it = |row: &RowIx| cells.text(EXTERNAL_ID, *row as usize - start) == Some(wanted);
        found.extend(requests.rows_of_batch(batch).filter(has_it));
    }
    Ok(found)
}

/// What was forgotten.
struct Told {
    requests: Vec<Place>,
    lists: usize,
    /// Ids of rows that lost their answer, and of rows that were merged into what was forgotten.
    answers: Vec<String>,
    merged: Vec<String>,
    touched: Vec<Touched>,
    counts: Fates,
}

/// A row of which only the place is left.
struct Place {
    was: String,
    is: String,
    file: String,
    line: i64,
    record: Option<i64>,
    /// File and line or record, for people.
    name: String,
}

fn erase_all(folder: &RunFolder, run: &OpenRun, rows: &BTreeSet<RowIx>) -> Result<Told, Error> {
    let path = folder.path();
    folder.remove_partial()?;
    let rows: Vec<RowIx> = rows.iter().copied().collect();
    let erasure = Erasure::begin(folder, &run.ingest, &run.stages, &rows)?;
    let mut touched = Vec::new();
    if let Some(bytes) = folder.remove_spool()? {
        let spool = Touched::of(path, &folder.spool());
        touched.push(Touched { removed: true, bytes_before: bytes, ..spool });
    }
    touched.extend(erase::erase(path, &erasure.entries)?);
    touched.extend(erasure.clean()?);
    touched.extend(erasure.bury()?);
    touched.sort_by(|one, other| one.file.cmp(&other.file));
    let (report, corpus) = make_anew(folder, run)?;
    // With those that a call that was cut off left behind.
    let has_new_id = |row: &RowIx| corpus.requests.row_id(*row) != run.corpus.requests.row_id(*row);
    let rows: Vec<RowIx> = erasure.requests.iter().copied().filter(has_new_id).collect();
    let was_held = |row: RowIx| {
        run.corpus.requests.fate(row).is_some_and(|fate| fate.reason.code == ANSWER_FORGOTTEN.code)
    };
    let answers = erasure.answers.iter().copied().filter(|&row| !was_held(row));
    let told = Told {
        requests: places(run, &corpus, &rows)?,
        lists: erasure
            .lists
            .iter()
            .filter(|&&list| corpus.lists.row_id(list) != run.corpus.lists.row_id(list))
            .count(),
        answers: answers.map(|row| corpus.requests.row_id(row).to_string()).collect(),
        merged: merged_into(run, &rows),
        touched,
        counts: report.requests,
    };
    erasure.finish()?;
    Ok(told)
}

/// Makes what tells the whole run anew, from what is left of it.
fn make_anew(folder: &RunFolder, run: &OpenRun) -> Result<(Report, Corpus), Error> {
    let corpus = runner::open(folder.path(), &run.ingest, &run.stages)?;
    let kept = corpus.requests.in_order().iter().copied().filter(|&row| corpus.requests.is_kept(row));
    let has_dataset = folder.path().join("dataset").is_dir();
    let counts = written::counts(folder.path())?;
    let exported = has_dataset.then(|| Exported {
        rows: kept.collect(),
        counts: counts.made,
        frozen: counts.frozen,
        ..Exported::default()
    });
    let mut stages = Vec::new();
    for (at, instance) in run.stages.iter().enumerate() {
        let step = format!("stages/{}", step_name(at, &instance.id));
        let manifest = folder.manifest(&step)?;
        stages.push(manifest.ok_or_else(|| damaged(folder.path(), format!("the step {step} is not there")))?);
    }
    let outcome = Outcome { ingest: run.ingest.clone(), stages, reused: 0, corpus, exported };
    let report = tell_anew(&run.stages, folder, &outcome, &run.file)?;
    Ok((report, outcome.corpus))
}

fn places(run: &OpenRun, corpus: &Corpus, rows: &[RowIx]) -> Result<Vec<Place>, Error> {
    let requests = &corpus.requests;
    let mut places = Vec::new();
    for &row in rows {
        let batch = requests.batch_of(row);
        let cells = requests.read_batch(batch, &StoredPlace::COLUMNS)?;
        let place = StoredPlace::of_request(&cells, row as usize - requests.batch(batch).start);
        let file = place.and_then(|place| run.file.inputs.get(usize::try_from(place.file).ok()?));
        places.push(Place {
            was: run.corpus.requests.row_id(row).to_string(),
            is: requests.row_id(row).to_string(),
            file: file.map_or_else(|| "?".to_owned(), |input| input.path.clone()),
            line: place.map_or(0, |place| place.line),
            record: place.and_then(|place| place.record),
            name: name_and_line(run, place),
        });
    }
    Ok(places)
}

/// Rows that these rows stood for: they keep their fate, and may say the same.
fn merged_into(run: &OpenRun, rows: &[RowIx]) -> Vec<String> {
    let requests = &run.corpus.requests;
    let rows: BTreeSet<RowIx> = rows.iter().copied().collect();
    let is_merged = |row: &RowIx| {
        let into = requests.fate(*row).and_then(|fate| fate.into);
        into.is_some_and(|into| rows.contains(&into)) && !rows.contains(row)
    };
    requests
        .in_order()
        .iter()
        .copied()
        .filter(is_merged)
        .map(|row| requests.row_id(row).to_string())
        .collect()
}

impl Told {
    fn as_text(&self) -> String {
        let n = self.requests.len();
        let mut text = format!("forgotten {n} request{}", if n == 1 { "" } else { "s" });
        if self.lists > 0 {
            text += &format!(", {} doc list{}", self.lists, if self.lists == 1 { "" } else { "s" });
        }
        text.push('\n');
        for place in &self.requests {
            text += &format!("  {} is {} now, read from {}\n", place.was, place.is, place.name);
        }
        let rows: Vec<Vec<String>> =
            self.touched.iter().map(|file| vec![file.file.clone(), what(file)]).collect();
        text += &format!("\n{}", table(&["file", "what went"], &rows, &[]));
        text += "made anew: ledger.parquet, rows.parquet, lists.parquet, links.parquet, report.json, report.html, dataset/README.md\n\n";
        let counts = &self.counts;
        text += &format!(
            "requests  {} = {} kept + {} merged + {} held + {} dropped + {} forgotten\n",
            count(counts.rows),
            count(counts.kept),
            count(counts.merged),
            count(counts.held),
            count(counts.dropped),
            count(counts.forgotten)
        );
        if !self.answers.is_empty() {
            text += &format!(
                "held      {} whose answer was taken from it: {}\n",
                count(self.answers.len() as u64),
                named(&self.answers)
            );
        }
        if !self.merged.is_empty() {
            text += &format!(
                "left      {} that were merged into it and may say the same: {}\n",
                count(self.merged.len() as u64),
                named(&self.merged)
            );
        }
        text
    }

    fn as_json(&self, args: &ForgetArgs) -> Value {
        let requests: Vec<Value> = self
            .requests
            .iter()
            .map(|place| {
                json!({"was": place.was, "is": place.is, "file": place.file, "line": place.line, "record": place.record})
            })
            .collect();
        json!({"run": args.run, "requests": requests, "doc_lists": self.lists, "answers_held": self.answers,
            "merged_into_them": self.merged, "files": self.touched, "counts": self.counts})
    }
}

fn named(ids: &[String]) -> String {
    let mut text = ids.iter().take(MAX_NAMED).map(String::as_str).collect::<Vec<_>>().join(" ");
    if ids.len() > MAX_NAMED {
        text += " …";
    }
    text
}
