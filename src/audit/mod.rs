//! Audits contamination: which rows of a training set overlap a benchmark, in what, by which method, how surely.
//!
//! The benchmark is indexed once and stays in memory; training sets of any size stream past it in blocks. What is compared
//! are the messages of the user, the function docs, and the calls ([`item`]). Each method says contaminated or suspect by
//! itself ([`hit`]), and the surest hit of a row is its verdict. A row without a hit is clean, one without anything to
//! compare is unscorable, never clean.
//!
//! - `words`, `queries`: messages as numbered words; runs, templates, containment, ROUGE-L.
//! - `functions`: functions by name, parameters and text; answers by their calls.
//! - [`benchmark`] reads and indexes benchmarks, [`rows`] reads training sets, [`report`] counts.

pub mod benchmark;
pub mod duplicates;
pub mod embedding;
mod functions;
pub mod hit;
pub mod item;
pub mod judge;
mod queries;
pub mod report;
pub mod rows;
pub mod thresholds;
pub mod unscorable;
mod words;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use serde_json::json;
use xxhash_rust::xxh3::xxh3_128;

use crate::docs::parse::parse;
use crate::ingest::log_formats::Columns;
use crate::ingest::read::{Block, Format, Limits, ReadError, read_blocks};
use benchmark::{Benchmark, Thresholds, verdict};
use hit::{Hit, Verdict};
use item::{Docs, Item};
use report::{AuditReport, Counted};
use rows::{Fallback, items_of};

pub use thresholds::{DocThresholds, QueryThresholds};

/// Why an audit cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    /// A file cannot be read.
    #[error("{}: cannot be read: {cause}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        cause: io::Error,
    },
    /// A training set cannot be read.
    #[error(transparent)]
    Input(#[from] ReadError),
    /// A line of a benchmark is no entry.
    #[error("{}:{line}: no entry of a benchmark: {found}\nhint: `toolsieve check {}` lists what is wrong with the file", path.display(), path.display())]
    Entry {
        /// The file.
        path: PathBuf,
        /// The line; the first is 1.
        line: usize,
        /// What was found.
        found: String,
    },
    /// A benchmark is empty.
    #[error(
        "no entry of a benchmark in {paths}\nhint: expected BFCL question files, or a file with one request or text a line; --field NAME names the text"
    )]
    NoEntry {
        /// The files.
        paths: String,
    },
    /// An output cannot be written.
    #[error("{}: cannot be written: {cause}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        cause: io::Error,
    },
    /// A training set has a form whose rows cannot be copied.
    #[error("{}: found a Parquet file, expected lines of JSON, a JSON array, CSV or TSV\nhint: write its rows as JSON lines first", path.display())]
    Parquet {
        /// The file.
        path: PathBuf,
    },
    /// The output folder has other files.
    #[error("{}: found {}, which is no file of an audit, expected a new folder or that of an audit\nhint: --out names another folder", path.display(), entry.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What is in it.
        entry: PathBuf,
    },
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
}

type Result<T> = std::result::Result<T, AuditError>;

impl AuditError {
    fn read(path: &Path, cause: io::Error) -> Self {
        Self::Read { path: path.to_owned(), cause }
    }

    fn write(path: &Path) -> impl Fn(io::Error) -> Self {
        let path = path.to_owned();
        move |cause| Self::Write { path: path.clone(), cause }
    }
}

/// What is audited.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// Files of training sets.
    pub train: Vec<PathBuf>,
    /// Files and folders of benchmarks.
    pub bench: Vec<PathBuf>,
    /// The folder of the results.
    pub out: PathBuf,
    /// The keys of texts; empty for the usual ones.
    pub fields: Vec<String>,
    /// Whether suspect rows are left out of the cleaned sets, too.
    pub drop_suspects: bool,
    /// When what overlaps.
    pub thresholds: Thresholds,
}

/// Shows progress and may stop the audit.
pub trait Watch: Sync {
    /// Reports the bytes of the training sets that were read, of all.
    fn read(&self, bytes: u64, total: u64);
    /// Returns whether the user asked to stop.
    fn is_cancelled(&self) -> bool;
}

/// The bytes of a block; all threads have one at a time.
const BLOCK_BYTES: usize = 2 << 20;
/// Blocks that are in memory at once, for each thread.
const BLOCKS_AHEAD: usize = 2;
/// Doc lists whose hits are kept, since lists repeat.
const KEPT_LISTS: usize = 100_000;

/// Audits training sets, and writes hits, cleaned sets and a report into the output folder.
///
/// # Errors
/// A file cannot be read or written, or the user asked to stop.
pub fn audit(plan: &Plan, watch: &dyn Watch) -> Result<AuditReport> {
    check_folder(&plan.out)?;
    let columns = Columns::default();
    let fallback = Fallback { fields: plan.fields.clone() };
    let benchmark = Benchmark::read(&plan.bench, &columns, plan.thresholds, &fallback)?;
    std::fs::create_dir_all(plan.out.join(CLEANED)).map_err(AuditError::write(&plan.out))?;
    let size = |path: &PathBuf| path.metadata().map_or(0, |facts| facts.len());
    let total: u64 = plan.train.iter().map(size).sum();
    let hits_path = plan.out.join(HITS);
    let removed_path = plan.out.join(REMOVED);
    let mut out = Outputs { hits: Output::create(&hits_path)?, removed: Output::create(&removed_path)? };
    let mut counted = Counted::new(&benchmark, plan.drop_suspects);
    let auditor =
        Auditor { benchmark: &benchmark, columns: &columns, fallback: &fallback, lists: Mutex::default() };
    let mut before = 0;
    let names = cleaned_names(&plan.train);
    for (path, name) in plan.train.iter().zip(&names) {
        if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("parquet")) {
            return Err(AuditError::Parquet { path: path.clone() });
        }
        let cleaned = plan.out.join(CLEANED).join(name);
        auditor.file(
            path,
            &cleaned,
            plan,
            &mut out,
            &mut counted,
            &|bytes| watch.read(before + bytes, total),
            watch,
        )?;
        before += size(path);
    }
    out.hits.finish()?;
    out.removed.finish()?;
    let report = counted.report(&benchmark, plan, &names);
    report.write(&plan.out)?;
    Ok(report)
}

/// The folder of the cleaned sets, in the output folder.
pub const CLEANED: &str = "cleaned";
/// The file of the hits.
pub const HITS: &str = "hits.jsonl";
/// The file of the rows that are not in the cleaned sets.
pub const REMOVED: &str = "removed.jsonl";

/// Refuses a folder with files of others.
fn check_folder(out: &Path) -> Result<()> {
    const OWN: [&str; 5] = [CLEANED, HITS, REMOVED, report::REPORT, report::STATEMENT];
    let Ok(entries) = std::fs::read_dir(out) else { return Ok(()) };
    let is_own = |name: &str| OWN.contains(&name.strip_suffix(PARTIAL).unwrap_or(name));
    let foreign = entries.flatten().find(|entry| !entry.file_name().to_str().is_some_and(is_own));
    match foreign {
        None => Ok(()),
        Some(entry) => Err(AuditError::Folder { path: out.to_owned(), entry: entry.file_name().into() }),
    }
}

/// The ending of a file that is not yet whole.
const PARTIAL: &str = ".partial";

/// Returns the names of the cleaned sets: those of the files, numbered where two are equal, without the ending of a compression.
fn cleaned_names(train: &[PathBuf]) -> Vec<String> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let name = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let bare = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst")).unwrap_or(&name).to_owned();
        let n = seen.entry(bare.clone()).or_default();
        *n += 1;
        if *n == 1 { bare } else { format!("{n}-{bare}") }
    };
    train.iter().map(name).collect()
}

/// A file that is written under another name until it is whole.
struct Output {
    path: PathBuf,
    partial: PathBuf,
    file: BufWriter<File>,
}

impl Output {
    fn create(path: &Path) -> Result<Self> {
        let mut partial = path.as_os_str().to_owned();
        partial.push(PARTIAL);
        let partial = PathBuf::from(partial);
        let file = File::create(&partial).map_err(AuditError::write(&partial))?;
        Ok(Self { path: path.to_owned(), partial, file: BufWriter::with_capacity(1 << 20, file) })
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.write_all(bytes).map_err(AuditError::write(&self.partial))
    }

    fn finish(mut self) -> Result<()> {
        self.file.flush().map_err(AuditError::write(&self.partial))?;
        std::fs::rename(&self.partial, &self.path).map_err(AuditError::write(&self.path))
    }
}

struct Outputs {
    hits: Output,
    removed: Output,
}

/// The hits of a doc list, and whether it has a function.
type HitsOfList = (Vec<Hit>, bool);

/// Compares rows with a benchmark.
struct Auditor<'a> {
    benchmark: &'a Benchmark,
    columns: &'a Columns,
    fallback: &'a Fallback,
    /// The hits of doc lists, by the hash of their text.
    lists: Mutex<FxHashMap<u128, Arc<HitsOfList>>>,
}

/// A row with its hits.
struct Audited {
    id: String,
    line: u64,
    record: u64,
    hits: Vec<Hit>,
    verdict: Verdict,
    is_blank: bool,
    is_read: bool,
}

impl Auditor<'_> {
    #[allow(clippy::too_many_arguments)] // The state of one file beside that of the audit.
    fn file(
        &self,
        path: &Path,
        cleaned: &Path,
        plan: &Plan,
        out: &mut Outputs,
        counted: &mut Counted,
        progress: &dyn Fn(u64),
        watch: &dyn Watch,
    ) -> Result<()> {
        let mut cleaned = Cleaned::create(path, cleaned)?;
        let of_itself = self.benchmark.category_at(path);
        let limits = Limits { block_bytes: BLOCK_BYTES, ..Limits::default() };
        let n_blocks = rayon::current_num_threads() * BLOCKS_AHEAD;
        let mut blocks: Vec<Block> = Vec::with_capacity(n_blocks);
        let n_read = Cell::new(0_u64);
        let shown = path.display().to_string();
        counted.begin_file();
        let mut take = |blocks: &mut Vec<Block>| -> Result<()> {
            let audited: Vec<Vec<Audited>> =
                blocks.par_iter().map(|block| self.block(block, &shown, of_itself)).collect();
            for (block, rows) in blocks.iter().zip(audited) {
                let mut items = block.items.iter().peekable();
                for row in rows {
                    let is_kept = match row.verdict {
                        Verdict::Contaminated => false,
                        Verdict::Suspect => !plan.drop_suspects,
                        Verdict::Clean | Verdict::Unscorable => true,
                    };
                    self.write_hits(&row, &shown, out)?;
                    if !is_kept {
                        let line = json!({"train_id": row.id, "train_file": shown, "line": row.line, "verdict": row.verdict});
                        out.removed.write(format!("{line}\n").as_bytes())?;
                    }
                    while items.peek().is_some_and(|item| item.record < row.record) {
                        items.next();
                    }
                    if is_kept && let Some(item) = items.next_if(|item| item.record == row.record) {
                        if let Ok(range) = &item.bytes {
                            cleaned.add(&block.text[range.clone()])?;
                        } else {
                            counted.lost_line();
                        }
                    }
                    if !row.is_blank {
                        counted.add(&row.hits, row.verdict, row.is_read);
                    }
                }
            }
            blocks.clear();
            Ok(())
        };
        read_blocks(
            path,
            Format::of(path),
            &limits,
            &mut |bytes| n_read.set(n_read.get() + bytes.len() as u64),
            &mut |block| {
                if watch.is_cancelled() {
                    return Err(AuditError::Interrupted);
                }
                progress(n_read.get());
                blocks.push(block);
                if blocks.len() == n_blocks {
                    take(&mut blocks)?;
                }
                Ok::<_, AuditError>(())
            },
        )?;
        take(&mut blocks)?;
        progress(n_read.get());
        cleaned.finish()
    }

    fn block(&self, block: &Block, path: &str, of_itself: Option<u32>) -> Vec<Audited> {
        let mut rows = Vec::with_capacity(block.items.len());
        for row in items_of(block, self.columns, self.fallback) {
            let line = row.position.line;
            let id = row.id.unwrap_or_else(|| format!("{path}:{line}"));
            let mut audited = Audited {
                id,
                line,
                record: row.position.record,
                hits: Vec::new(),
                verdict: Verdict::Unscorable,
                is_blank: row.is_blank,
                is_read: row.item.is_some(),
            };
            if let Some(item) = row.item {
                let (mut hits, is_scorable) = self.hits(&item);
                if let Some(category) = of_itself {
                    hits.retain(|hit| !self.benchmark.is_entry_at(hit.entry, category, row.position.record));
                }
                hits.sort_by_key(|hit| (hit.entry, hit.object, hit.method));
                audited.verdict = verdict(&hits, is_scorable);
                audited.hits = hits;
            }
            rows.push(audited);
        }
        rows
    }

    /// Finds the hits of a row, and whether anything of it can be compared.
    fn hits(&self, item: &Item) -> (Vec<Hit>, bool) {
        let mut hits = self.benchmark.hits_of_messages(item);
        let has_words = item.queries.iter().any(|text| text.contains(char::is_alphanumeric));
        let of_list = match &item.functions {
            Docs::None => return (hits, has_words),
            Docs::Read(functions) => {
                Arc::new((self.benchmark.hits_of_functions(functions), !functions.is_empty()))
            }
            Docs::Text(text) => self.hits_of_list(text),
        };
        hits.extend(of_list.0.iter().cloned());
        (hits, has_words || of_list.1)
    }

    fn hits_of_list(&self, text: &str) -> Arc<HitsOfList> {
        let key = xxh3_128(text.as_bytes());
        if let Some(known) = self.lists.lock().ok().and_then(|lists| lists.get(&key).cloned()) {
            return known;
        }
        let functions = parse(text).map(|parsed| parsed.functions).unwrap_or_default();
        let found = Arc::new((self.benchmark.hits_of_functions(&functions), !functions.is_empty()));
        if let Ok(mut lists) = self.lists.lock() {
            if lists.len() >= KEPT_LISTS {
                lists.clear();
            }
            lists.insert(key, Arc::clone(&found));
        }
        found
    }

    fn write_hits(&self, row: &Audited, path: &str, out: &mut Outputs) -> Result<()> {
        for hit in &row.hits {
            let entry = &self.benchmark.entries[hit.entry as usize];
            let span = |(number, bytes): &(u32, std::ops::Range<usize>)| json!({"number": number, "start": bytes.start, "end": bytes.end});
            let line = json!({
                "train_id": row.id,
                "train_file": path,
                "line": row.line,
                "bench_id": entry.id,
                "bench_category": self.benchmark.categories[entry.category as usize].name,
                "object": hit.object,
                "method": hit.method,
                "score": (hit.score * 1e4).round() / 1e4,
                "verdict": hit.verdict,
                "train_span": span(&hit.in_row),
                "bench_span": span(&hit.in_entry),
            });
            out.hits.write(format!("{line}\n").as_bytes())?;
        }
        Ok(())
    }
}

/// A training set without the rows that were removed, in its form.
struct Cleaned {
    out: Output,
    form: Form,
    is_empty: bool,
}

/// How rows are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Lines,
    Array,
}

impl Cleaned {
    fn create(from: &Path, to: &Path) -> Result<Self> {
        let mut cleaned = Self { out: Output::create(to)?, form: Form::Lines, is_empty: true };
        let (first, header) = first_bytes(from).map_err(|cause| AuditError::read(from, cause))?;
        if matches!(Format::of(from), Format::Csv { .. }) {
            cleaned.out.write(&header)?;
        } else if Format::of(from) == Format::Json && first == Some(b'[') {
            cleaned.form = Form::Array;
        }
        Ok(cleaned)
    }

    fn add(&mut self, bytes: &[u8]) -> Result<()> {
        let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        match self.form {
            Form::Array => self.out.write(if self.is_empty { b"[\n" } else { b",\n" })?,
            Form::Lines => {}
        }
        self.is_empty = false;
        self.out.write(bytes)?;
        if self.form == Form::Lines { self.out.write(b"\n") } else { Ok(()) }
    }

    fn finish(mut self) -> Result<()> {
        if self.form == Form::Array {
            self.out.write(if self.is_empty { b"[]\n" } else { b"\n]\n" })?;
        }
        self.out.finish()
    }
}

/// Returns the first byte of a file that is not blank, and its first line with the end.
fn first_bytes(path: &Path) -> io::Result<(Option<u8>, Vec<u8>)> {
    use std::io::{BufRead, BufReader};
    let mut line = Vec::new();
    let file = File::open(path)?;
    let mut reader: Box<dyn BufRead> = match path.extension().and_then(|extension| extension.to_str()) {
        Some("gz") => Box::new(BufReader::new(flate2::read::MultiGzDecoder::new(file))),
        Some("zst") => Box::new(BufReader::new(zstd::Decoder::new(file)?)),
        _ => Box::new(BufReader::new(file)),
    };
    reader.read_until(b'\n', &mut line)?;
    let bare = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&line);
    Ok((bare.trim_ascii().first().copied(), line))
}
