//! Writes the kept rows of the inputs, each in the form of its file: the sink of a contamination audit.
//!
//! Bytes of kept rows are copied and never formatted again; of Parquet, the stored values (see `engine::parquet_copy`). A
//! file that loses no item is copied byte for byte. A line that is no row of the run (blank or unreadable) is
//! copied too, so nothing is lost that was not judged; a forgotten record, and lines that a limit skipped, are not. An
//! input is read a second time, and must have the bytes that the run has read.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{BufWriter, Read as _, Seek as _, Write as _};
use std::path::{Component, Path, PathBuf};
use std::sync::mpsc::sync_channel;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::columns::{FILE, RECORD};
use crate::engine::context::Context;
use crate::engine::contract::Contract;
use crate::engine::corpus::Corpus;
use crate::engine::disk::create;
use crate::engine::early_sync::EarlySync;
use crate::engine::error::{At, Error, Result};
use crate::engine::fingerprint::{hex, sha256_of_rest, sha256_until};
use crate::engine::kind::KindSettings;
use crate::engine::manifest::InputFile;
use crate::engine::parquet_copy::ParquetCopy;
use crate::engine::raw::{LineStory, read_lines};
use crate::engine::sink::{Exported, FinishedTables, Sink};
use crate::engine::view::View;
use crate::engine::vocabulary::{ColumnSpec, TableId};
use crate::ingest::read::{Block, FileFormat, Limits, read_blocks_until};
use crate::ingest::source::Reading;
use crate::ingest::table::Header;

/// The sink. It has no settings.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CleanedSets {}

impl KindSettings for CleanedSets {
    const NAME: &'static str = "as-read";
    const SUMMARY: &'static str = "the kept rows, in the form of their inputs";
}

/// The columns that the sink reads.
const READS: [ColumnSpec; 2] = [FILE, RECORD];
/// The number of columns that are listed if they cannot be copied.
const MAX_UNCOPIED: usize = 20;

/// The fate of lines that must not come back.
const FORGOTTEN: &str = "forgotten";

/// The items of one input that are written.
#[derive(Debug, Default, Clone)]
struct Kept {
    /// By the number of the item, from 1; one of them may hold several rows.
    items: Vec<Item>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Item {
    /// The run has not read it, or must not show it.
    #[default]
    Absent,
    Kept,
    Removed,
}

impl Kept {
    fn set(&mut self, record: u64, item: Item) {
        let at = usize::try_from(record).unwrap_or(usize::MAX);
        if self.items.len() <= at {
            self.items.resize(at + 1, Item::Absent);
        }
        // An item is removed as a whole if one of its rows is.
        if self.items[at] != Item::Removed {
            self.items[at] = item;
        }
    }

    /// Returns `true` if all items that are known are kept.
    fn is_all(&self) -> bool {
        // Items count from 1.
        self.items.iter().skip(1).all(|item| *item == Item::Kept)
    }

    fn has(&self, record: u64) -> bool {
        usize::try_from(record).ok().and_then(|at| self.items.get(at)) == Some(&Item::Kept)
    }
}

impl Sink for CleanedSets {
    fn reads(&self) -> Vec<ColumnSpec> {
        READS.to_vec()
    }

    /// Checks that Parquet files have no columns that cannot be copied. Text always can.
    fn check(&self, inputs: &[PathBuf]) -> Result<()> {
        let mut uncopied = Vec::new();
        for input in inputs.iter().filter(|input| matches!(Reading::of(input), Reading::Parquet)) {
            let shown = input.display();
            match ParquetCopy::open(input) {
                Ok(copy) => uncopied.extend(copy.uncopied().iter().map(|what| format!("{shown}: {what}"))),
                Err(error) => uncopied.push(error.to_string()),
            }
        }
        if uncopied.is_empty() {
            return Ok(());
        }
        let n_more = uncopied.len().saturating_sub(MAX_UNCOPIED);
        uncopied.truncate(MAX_UNCOPIED);
        if n_more > 0 {
            uncopied.push(format!("and {n_more} more"));
        }
        Err(Error::Input(format!(
            "Parquet files that cannot be written again without some of their rows:\n{}\nhint: write them again without these columns, or as JSON lines",
            uncopied.join("\n")
        )))
    }

    fn write(&self, from: &FinishedTables<'_>, into: &Path, cx: &Context<'_>) -> Result<Exported> {
        let FinishedTables { run, inputs, corpus } = *from;
        let kept = kept(inputs.len(), &read_lines(run)?, corpus, cx)?;
        let names = names(inputs);
        for (((path, name), kept), input) in inputs.iter().zip(&names).zip(&kept).zip(corpus.inputs.iter()) {
            if cx.cancelled() {
                return Err(Error::Interrupted);
            }
            let to = into.join(name);
            if let Some(folder) = to.parent() {
                std::fs::create_dir_all(folder).at("making", folder)?;
            }
            match Reading::of(path) {
                Reading::Parquet => copy_parquet(path, &to, kept, input, cx)?,
                Reading::Text(format) => copy_text(path, &to, format, kept, input, cx)?,
            }
        }
        let table = &corpus.requests;
        let rows = table.in_order().iter().copied().filter(|&row| table.is_kept(row)).collect();
        Ok(Exported { rows, ..Exported::default() })
    }
}

/// Returns the items of each input that are written; `lines` are those without a row.
fn kept(n_inputs: usize, lines: &[LineStory], corpus: &Corpus, cx: &Context<'_>) -> Result<Vec<Kept>> {
    let mut kept = vec![Kept::default(); n_inputs];
    for line in lines.iter().filter(|line| line.fate != FORGOTTEN) {
        let first = line.record.and_then(|record| u64::try_from(record).ok()).unwrap_or_default();
        let n_lines = u64::try_from(line.n_lines).unwrap_or_default();
        if let Some(kept) = kept.get_mut(line.file as usize) {
            (first..first + n_lines).for_each(|record| kept.set(record, Item::Kept));
        }
    }
    let view = View::new(corpus, &Contract::of(TableId::Requests).reads(READS));
    view.stream(
        cx,
        |_| true,
        |batch| {
            for &row in batch.rows() {
                let cells = batch.row(row);
                let place = (cells.int(FILE), cells.int(RECORD));
                let (Some(file), Some(record)) = place else { continue };
                let (file, record) = (usize::try_from(file), u64::try_from(record));
                if let (Some(kept), Ok(record)) = (file.ok().and_then(|file| kept.get_mut(file)), record) {
                    let is_kept = corpus.requests.is_kept(row);
                    kept.set(record, if is_kept { Item::Kept } else { Item::Removed });
                }
            }
            Ok(())
        },
    )?;
    Ok(kept)
}

/// Returns the names of the cleaned sets in the dataset: those of the files or, where two are equal, of all files with their
/// folders below the one that they share.
pub fn names(paths: &[PathBuf]) -> Vec<String> {
    let bare: Vec<String> = paths.iter().map(|path| name_of(path.file_name())).collect();
    // Some file systems ignore case.
    let are_distinct = |names: &[String]| {
        let folded: BTreeSet<String> = names.iter().map(|name| name.to_lowercase()).collect();
        folded.len() == names.len()
    };
    if are_distinct(&bare) {
        return bare;
    }
    let whole: Vec<Vec<String>> = paths.iter().map(|path| parts(path)).collect();
    let n_shared = whole.iter().skip(1).fold(whole.first().map_or(0, Vec::len), |n_shared, other| {
        whole[0].iter().zip(other).take(n_shared).take_while(|(one, other)| one == other).count()
    });
    let below = |parts: &Vec<String>| parts[n_shared.min(parts.len().saturating_sub(1))..].join("/");
    let names: Vec<String> = whole.iter().map(below).collect();
    if are_distinct(&names) {
        return names;
    }
    // Names that differ in their case only.
    (1..).zip(names).map(|(number, name)| format!("{number}/{name}")).collect()
}

fn name_of(part: Option<&OsStr>) -> String {
    part.unwrap_or_default().to_string_lossy().into_owned()
}

/// Returns the folders and the name of a file, from the root.
fn parts(path: &Path) -> Vec<String> {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut parts: Vec<String> = Vec::new();
    for part in whole.components() {
        match part {
            Component::Normal(name) => parts.push(name_of(Some(name))),
            Component::ParentDir => drop(parts.pop()),
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
    parts
}

/// Writes the rows of a Parquet file that are kept. The file may have changed since it was read.
fn copy_parquet(from: &Path, to: &Path, kept: &Kept, input: &InputFile, cx: &Context<'_>) -> Result<()> {
    let cancelled = || cx.cancelled();
    let copy = ParquetCopy::open(from).map_err(|error| changed_or(error, from, input, cx))?;
    let keep: Vec<bool> = (1..=copy.height() as u64).map(|record| kept.has(record)).collect();
    if !keep.contains(&false) {
        return copy_bytes(copy.file(), from, to, input, cx);
    }
    let written = copy.write(to, &keep, &cancelled);
    if matches!(written, Err(Error::Interrupted)) {
        return written;
    }
    let mut file = copy.file();
    file.rewind().at("reading", from)?;
    check_unchanged(&sha256_of_rest(&mut file, from, &cancelled)?, from, input)?;
    written
}

/// Returns the error of a changed file if it has changed, else the given one.
fn changed_or(error: Error, path: &Path, input: &InputFile, cx: &Context<'_>) -> Error {
    let found = sha256_until(path, &|| cx.cancelled());
    found.and_then(|found| check_unchanged(&found, path, input)).err().unwrap_or(error)
}

/// Copies a file that loses no row.
fn copy_bytes(mut file: &File, from: &Path, to: &Path, input: &InputFile, cx: &Context<'_>) -> Result<()> {
    file.rewind().at("reading", from)?;
    let (mut out, mut hasher, mut buffer) = (EarlySync::new(create(to)?), Sha256::new(), vec![0; 1 << 20]);
    loop {
        if cx.cancelled() {
            return Err(Error::Interrupted);
        }
        match file.read(&mut buffer).at("reading", from)? {
            0 => {
                out.flush().at("writing", to)?;
                return check_unchanged(&hex(&hasher.finalize()), from, input);
            }
            n => {
                hasher.update(&buffer[..n]);
                out.write_all(&buffer[..n]).at("writing", to)?;
            }
        }
    }
}

/// Checks that a file has the bytes that the run has read.
fn check_unchanged(sha256: &str, path: &Path, input: &InputFile) -> Result<()> {
    if sha256 == input.sha256 {
        return Ok(());
    }
    Err(Error::Input(format!(
        "{}: the file was changed while the run was reading it\nhint: run the same command again when nothing writes to it",
        path.display()
    )))
}

fn copy_text(
    from: &Path,
    to: &Path,
    format: FileFormat,
    kept: &Kept,
    input: &InputFile,
    cx: &Context<'_>,
) -> Result<()> {
    if kept.is_all() && is_all_written(from, format, kept, cx)? {
        return copy_bytes(&File::open(from).at("reading", from)?, from, to, input, cx);
    }
    let mut out = CleanedFile::create(to)?;
    let mut on_block = |block: Block| {
        if cx.cancelled() {
            return Err(Error::Interrupted);
        }
        out.start(block.is_array, block.header.as_deref())?;
        for item in block.items.iter().filter(|item| kept.has(item.record)) {
            if let Ok(range) = &item.bytes {
                // Several blank lines are one item.
                for _ in 0..item.n_items {
                    out.add(&block.text[range.clone()])?;
                }
            }
        }
        cx.progress.advance(block.items.len() as u64);
        Ok::<_, Error>(())
    };
    let cancelled = || cx.cancelled();
    let (facts, sha256) = hashed(|on_bytes| {
        read_blocks_until(from, format, &Limits::default(), &cancelled, on_bytes, &mut on_block)
    });
    let facts = facts?;
    out.start(facts.is_array, facts.header.as_deref())?;
    check_unchanged(&sha256, from, input)?;
    out.finish()
}

/// The pieces of a file that wait to be hashed.
const MAX_WAITING: usize = 8;

/// Runs a reader that passes on all bytes. Returns its result and their hash, which a thread of its own makes.
fn hashed<T>(read: impl FnOnce(&mut dyn FnMut(&[u8])) -> T) -> (T, String) {
    let (sender, receiver) = sync_channel::<Vec<u8>>(MAX_WAITING);
    std::thread::scope(|scope| {
        let hashing = scope.spawn(move || {
            let mut hasher = Sha256::new();
            for bytes in receiver {
                hasher.update(bytes);
            }
            hex(&hasher.finalize())
        });
        let result =
            read(&mut |bytes| sender.send(bytes.to_vec()).expect("the thread ends after the sender"));
        drop(sender);
        (result, hashing.join().expect("hashing bytes does not fail"))
    })
}

/// Returns `true` if every item of a text is kept and has bytes to write; the run may have read only a part of it.
fn is_all_written(from: &Path, format: FileFormat, kept: &Kept, cx: &Context<'_>) -> Result<bool> {
    let mut is_all = true;
    let mut on_block = |block: Block| {
        is_all &= block.items.iter().all(|item| item.bytes.is_ok() && kept.has(item.record));
        if cx.cancelled() { Err(Error::Interrupted) } else { Ok(()) }
    };
    let cancelled = || cx.cancelled();
    read_blocks_until(from, format, &Limits::default(), &cancelled, &mut |_| (), &mut on_block)?;
    Ok(is_all)
}

/// How rows are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// One a line, or several lines each.
    Lines,
    /// The elements of one array.
    Array,
}

/// A set without the rows that were removed, compressed as its input is.
struct CleanedFile {
    path: PathBuf,
    out: Packed,
    /// Known from the first block on.
    form: Option<Form>,
    /// The end of lines that have none, such as the last of a file: that of the lines before.
    line_end: &'static [u8],
    is_empty: bool,
}

/// A file that is written, and its compression.
enum Packed {
    Plain(BufWriter<EarlySync>),
    Gzip(flate2::write::GzEncoder<BufWriter<EarlySync>>),
    Zstd(zstd::Encoder<'static, BufWriter<EarlySync>>),
}

impl Packed {
    fn create(path: &Path) -> Result<Self> {
        let file = BufWriter::with_capacity(1 << 20, EarlySync::new(create(path)?));
        Ok(match path.extension().and_then(|extension| extension.to_str()) {
            Some("gz") => Self::Gzip(flate2::write::GzEncoder::new(file, flate2::Compression::default())),
            Some("zst") => Self::Zstd(zstd::Encoder::new(file, 0).at("making", path)?),
            _ => Self::Plain(file),
        })
    }

    fn finish(self) -> std::io::Result<()> {
        match self {
            Self::Plain(file) => Ok(file),
            Self::Gzip(file) => file.finish(),
            Self::Zstd(file) => file.finish(),
        }?
        .flush()
    }

    fn write_all(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        match self {
            Self::Plain(file) => file.write_all(bytes),
            Self::Gzip(file) => file.write_all(bytes),
            Self::Zstd(file) => file.write_all(bytes),
        }
    }
}

impl CleanedFile {
    fn create(path: &Path) -> Result<Self> {
        Ok(Self {
            path: path.to_owned(),
            out: Packed::create(path)?,
            form: None,
            line_end: b"\n",
            is_empty: true,
        })
    }

    /// Determines the form, and writes the header of a table; later calls do nothing.
    fn start(&mut self, is_array: bool, header: Option<&Header>) -> Result<()> {
        if self.form.is_some() {
            return Ok(());
        }
        self.form = Some(if is_array { Form::Array } else { Form::Lines });
        header.map_or(Ok(()), |header| self.add_line(header.bytes()))
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.out.write_all(bytes).at("writing", &self.path)
    }

    fn add_line(&mut self, bytes: &[u8]) -> Result<()> {
        self.write(bytes)?;
        match bytes.last() {
            Some(b'\n') => self.line_end = b"\n",
            Some(b'\r') => self.line_end = b"\r",
            _ => self.write(self.line_end)?,
        }
        Ok(())
    }

    fn add(&mut self, bytes: &[u8]) -> Result<()> {
        if self.form != Some(Form::Array) {
            return self.add_line(bytes);
        }
        self.write(if self.is_empty { b"[\n" } else { b",\n" })?;
        self.is_empty = false;
        self.write(bytes.strip_suffix(b"\n").unwrap_or(bytes))
    }

    fn finish(mut self) -> Result<()> {
        if self.form == Some(Form::Array) {
            self.write(if self.is_empty { b"[]\n" } else { b"\n]\n" })?;
        }
        self.out.finish().at("writing", &self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_sets_have_one_name_and_folders_are_kept_where_names_repeat() {
        let of = |paths: &[&str]| names(&paths.iter().map(PathBuf::from).collect::<Vec<_>>());
        assert_eq!(of(&["x/a.csv", "y/b.csv"]), ["a.csv", "b.csv"]);
        assert_eq!(
            of(&["s/x/train.jsonl", "s/x/2.jsonl", "s/z/../y/train.jsonl"]),
            ["x/train.jsonl", "x/2.jsonl", "y/train.jsonl"]
        );
        assert_eq!(of(&["a.csv", "y/A.csv"]), ["a.csv", "y/A.csv"]);
        assert_eq!(of(&["x/a.csv", "x/A.csv"]), ["1/a.csv", "2/A.csv"]);
        assert_eq!(of(&["/a.csv"]), ["a.csv"]);
    }
}
