//! Samples lines of a file: the first ones, which are consecutive as logged, and others spread over the file.
//!
//! The others are those with the smallest hashes of their numbers. So sampling needs no count in advance, one pass, and
//! memory only for the sample. The same seed samples the same lines.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::Closeness;
use crate::engine::error::Result;
use crate::engine::foreign::{ForeignFile, ForeignRows, Need, Selection};
use crate::ingest::compression::Compression;
use crate::ingest::log_formats::Columns;
use crate::ingest::log_formats::names::is_read;
use crate::ingest::read::{Block, FileFormat, Item, Limits, Position, ReadError, read_blocks};
use crate::ingest::reasons::{ItemFault, LINE_TOO_LONG, NOT_UTF8};
use crate::ingest::source::Reading;
use crate::ingest::table::Header;

/// The number of lines of one block of the sample; blocks are parsed in parallel.
const BLOCK_LINES: usize = 64;
/// The maximum bytes of each half of a sample, of all files together; a sample of very long lines has fewer lines.
const MAX_HALF_BYTES: usize = 32 << 20;
/// The number of places in a Parquet file at which rows are sampled.
const PARQUET_PLACES: usize = 8;

/// A file and its sample.
#[derive(Debug)]
pub(super) struct Sampled {
    /// Its path, as given.
    pub(super) path: String,
    /// `jsonl`, `json`, `csv`, `tsv` or `parquet`.
    pub(super) format: &'static str,
    /// Its compression.
    pub(super) compression: &'static str,
    /// Its size as stored.
    pub(super) bytes: u64,
    /// The size of its text.
    pub(super) text_bytes: u64,
    /// All its lines.
    pub(super) n_lines: u64,
    /// Its items are identified by number: see [`crate::ingest::read::FileFacts`].
    pub(super) by_record: bool,
    /// The sampled lines, in order.
    pub(super) blocks: Vec<Block>,
}

impl Sampled {
    /// Returns a place in it: `FILE:LINE`, or `FILE#RECORD` if the line is ambiguous.
    pub(super) fn place(&self, at: Position) -> String {
        if self.by_record {
            format!("{}#{}", self.path, at.record)
        } else {
            format!("{}:{}", self.path, at.line)
        }
    }
}

/// The limits of one file's part of the sample.
#[derive(Debug, Clone, Copy)]
struct FileShare {
    rows: usize,
    half_bytes: usize,
    seed: u64,
}

/// Samples lines of some files, at most the same number of each.
pub(super) fn sample(files: &[PathBuf], closeness: Closeness) -> Result<Vec<Sampled>> {
    let part = FileShare {
        rows: closeness.rows.div_ceil(files.len().max(1)),
        half_bytes: MAX_HALF_BYTES / files.len().max(1),
        seed: closeness.seed,
    };
    let of_file = |path: &PathBuf| match Reading::of(path) {
        Reading::Parquet => of_parquet(path, part),
        Reading::Text(format) => of_text(path, format, part),
    };
    files.iter().map(of_file).collect()
}

fn of_text(path: &Path, format: FileFormat, part: FileShare) -> Result<Sampled> {
    let mut sampler = Sampler::new(part);
    let facts = read_blocks(path, format, &Limits::default(), &mut |_| {}, &mut |block| {
        sampler.take_block(&block);
        Ok::<_, ReadError>(())
    })?;
    Ok(Sampled {
        path: path.display().to_string(),
        format: match format {
            FileFormat::Csv { delimiter: b'\t' } => "tsv",
            FileFormat::Csv { .. } => "csv",
            FileFormat::Jsonl => "jsonl",
            FileFormat::Text => "txt",
            FileFormat::Json | FileFormat::Docs => "json",
        },
        compression: match facts.compression {
            Compression::Plain => "plain",
            Compression::Gzip => "gzip",
            Compression::Zstd => "zstd",
        },
        bytes: facts.raw_bytes,
        text_bytes: facts.text_bytes,
        n_lines: facts.n_items,
        by_record: facts.by_record,
        blocks: sampler.blocks(),
    })
}

/// Samples rows of a Parquet file, as lines of JSON.
fn of_parquet(path: &Path, part: FileShare) -> Result<Sampled> {
    let frames = ForeignFile::open(path)?;
    let mut sampler = Sampler::new(FileShare { rows: usize::MAX, ..part });
    // Columns that a run would not read are included: the user may be looking for one of them.
    let columns = Columns::default();
    let selection = frames.select(|name| if is_read(name, &columns) { Need::Read } else { Need::Shown })?;
    let places = places(frames.height(), part.rows);
    for stretch in frames.stretches(&selection) {
        let overlap = |place: &Range<usize>| place.start.max(stretch.start)..place.end.min(stretch.end);
        for rows in places.iter().map(overlap).filter(|rows| !rows.is_empty()) {
            draw_rows(&mut sampler, &frames, &selection, rows)?;
        }
    }
    let bytes = std::fs::metadata(path).map_or(0, |metadata| metadata.len());
    let blocks = sampler.blocks();
    let sampled = |block: &Block| (block.text.len() as u64, block.items.len() as u64);
    let (text, rows) = blocks.iter().map(sampled).fold((0, 0), |(a, b): (u64, u64), (c, d)| (a + c, b + d));
    let n_lines = frames.height() as u64;
    Ok(Sampled {
        path: path.display().to_string(),
        format: "parquet",
        compression: "plain",
        bytes,
        text_bytes: (text * n_lines).checked_div(rows).unwrap_or_default(),
        n_lines,
        by_record: true,
        blocks,
    })
}

fn draw_rows(
    sampler: &mut Sampler,
    frames: &ForeignFile,
    selection: &Selection,
    place: Range<usize>,
) -> Result<()> {
    let rows = frames.read(selection, place.clone())?;
    for row in 0..rows.height() {
        let text = text_of(&rows, row);
        sampler.take(Position::same((place.start + row + 1) as u64), text.as_deref().map(str::as_bytes));
    }
    Ok(())
}

/// Returns a row as a run would read it.
fn text_of(rows: &ForeignRows, row: usize) -> Result<String, ItemFault> {
    let (n_bytes, limit) = (rows.row_bytes(row), Limits::default().max_line_bytes);
    if n_bytes > limit {
        return Err(ItemFault::new(LINE_TOO_LONG, format!("{n_bytes} bytes, the limit is {limit}")));
    }
    let row = rows.row(row);
    match row.fault {
        Some((column, what)) => Err(ItemFault::new(NOT_UTF8, format!("column {column:?}: {what}"))),
        None => Ok(serde_json::Value::Object(row.object).to_string()),
    }
}

/// Returns ranges of rows: the first half of the sample, then the rest at even distances.
fn places(height: usize, rows: usize) -> Vec<Range<usize>> {
    if height <= rows {
        return std::iter::once(0..height).filter(|place| !place.is_empty()).collect();
    }
    let head = rows.div_ceil(2);
    let each = (rows - head) / PARQUET_PLACES;
    let gap = (height - head) / PARQUET_PLACES;
    let others = (1..=PARQUET_PLACES).map(|place| head + place * gap - each).map(|start| start..start + each);
    std::iter::once(0..head).chain(others.filter(|place| !place.is_empty())).collect()
}

/// The lines that were sampled so far.
struct Sampler {
    part: FileShare,
    head_rows: usize,
    other_rows: usize,
    header: Option<Arc<Header>>,
    n_seen: u64,
    head: Vec<SampledLine>,
    head_bytes: usize,
    /// By hash and number.
    others: BTreeMap<(u64, u64), SampledLine>,
    other_bytes: usize,
}

/// A line with its position, and its text or fault.
struct SampledLine {
    at: Position,
    n_items: u64,
    text: Result<Vec<u8>, ItemFault>,
}

impl SampledLine {
    fn len(&self) -> usize {
        self.text.as_ref().map_or(0, Vec::len)
    }
}

impl Sampler {
    fn new(part: FileShare) -> Self {
        let head_rows = part.rows.div_ceil(2);
        Self {
            part,
            head_rows,
            other_rows: part.rows - head_rows,
            header: None,
            n_seen: 0,
            head: Vec::new(),
            head_bytes: 0,
            others: BTreeMap::new(),
            other_bytes: 0,
        }
    }

    fn take_block(&mut self, block: &Block) {
        self.header.clone_from(&block.header);
        for item in &block.items {
            let text = item.bytes.as_ref().map(|range| &block.text[range.clone()]);
            self.take_items(item.position(), item.n_items, text);
        }
    }

    fn take(&mut self, at: Position, text: Result<&[u8], &ItemFault>) {
        self.take_items(at, 1, text);
    }

    fn take_items(&mut self, at: Position, n_items: u64, text: Result<&[u8], &ItemFault>) {
        self.n_seen += n_items;
        let sampled_lines =
            || SampledLine { at, n_items, text: text.map(<[u8]>::to_vec).map_err(ItemFault::clone) };
        if self.head.len() < self.head_rows && self.head_bytes < self.part.half_bytes {
            self.head_bytes += text.map_or(0, <[u8]>::len);
            self.head.push(sampled_lines());
            return;
        }
        let key = (xxh3_64_with_seed(&self.n_seen.to_le_bytes(), self.part.seed), self.n_seen);
        let is_full = self.others.len() >= self.other_rows || self.other_bytes >= self.part.half_bytes;
        if is_full && self.others.last_key_value().is_none_or(|(last, _)| *last < key) {
            return;
        }
        self.other_bytes += text.map_or(0, <[u8]>::len);
        self.others.insert(key, sampled_lines());
        while self.others.len() > self.other_rows.max(1) || self.other_bytes > self.part.half_bytes {
            let Some((_, last)) = self.others.pop_last() else { return };
            self.other_bytes -= last.len();
        }
    }

    /// Returns the lines in the order of the file.
    fn blocks(self) -> Vec<Block> {
        let mut others: Vec<(u64, SampledLine)> =
            self.others.into_iter().map(|((_, number), sampled_lines)| (number, sampled_lines)).collect();
        others.sort_by_key(|(number, _)| *number);
        let mut sampled_lines = self.head;
        sampled_lines.extend(others.into_iter().map(|(_, sampled_lines)| sampled_lines));
        sampled_lines.chunks(BLOCK_LINES).map(|lines| block(lines, self.header.clone())).collect()
    }
}

fn block(lines: &[SampledLine], header: Option<Arc<Header>>) -> Block {
    let mut text: Vec<u8> = Vec::new();
    let mut items = Vec::with_capacity(lines.len());
    for line in lines {
        let start = text.len();
        let bytes = line.text.as_ref().map_err(ItemFault::clone).map(|line| {
            text.extend_from_slice(line);
            start..text.len()
        });
        let Position { line: starts_on, record } = line.at;
        items.push(Item { line: starts_on, record, n_items: line.n_items, bytes });
    }
    Block { text: text.into(), items, header, is_array: false, is_text: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sampled_lines(rows: usize, n_lines: usize, seed: u64) -> Vec<u64> {
        let mut sampler = Sampler::new(FileShare { rows, half_bytes: MAX_HALF_BYTES, seed });
        for line in 1..=n_lines as u64 {
            sampler.take(Position::same(line), Ok(b"{}\n"));
        }
        sampler.blocks().iter().flat_map(|block| block.items.iter().map(|item| item.line)).collect()
    }

    #[test]
    fn half_of_the_lines_are_the_first_and_half_are_spread() {
        let lines = sampled_lines(100, 100_000, 1);
        assert_eq!(lines.len(), 100);
        assert_eq!(lines[..50], (1..=50).collect::<Vec<u64>>());
        assert!(lines.is_sorted() && lines[75] > 20_000 && lines[99] > 80_000, "{lines:?}");
        assert_eq!(lines, sampled_lines(100, 100_000, 1));
        assert_ne!(lines, sampled_lines(100, 100_000, 2));
    }

    #[test]
    fn a_file_of_fewer_lines_is_sampled_whole() {
        assert_eq!(sampled_lines(100, 70, 1), (1..=70).collect::<Vec<u64>>());
        assert_eq!(sampled_lines(1, 3, 1).len(), 1);
    }

    #[test]
    fn rows_of_tables_are_spread() {
        assert_eq!(places(10, 20), vec![Range { start: 0, end: 10 }]);
        assert_eq!(places(0, 20), Vec::<Range<usize>>::new());
        let places = places(10_000, 160);
        assert_eq!(places.iter().map(Range::len).sum::<usize>(), 160);
        assert_eq!((places[0].clone(), places[8].clone()), (0..80, 9_990..10_000));
    }
}
