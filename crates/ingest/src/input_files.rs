//! Reads the files of the inputs and passes their lines on, in order.
//!
//! One thread reads and hashes, all threads parse blocks, and the calling one takes the lines of earlier blocks in order at the same time.
//! Parquet inputs are rows already and skip the first step. What becomes of a line is decided by its [`Taker`].

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};

use rayon::prelude::*;

use crate::any_row::{self, push_rows};
use crate::fate::{Line, LineFate};
use crate::foreign_rows::object_of;
use crate::known_lists::KnownLists;
use crate::read::{Limits, Position};
use crate::reader_threads::{Parsed, Promise, ReadFile, Ready, TextFile, parse_blocks, read_files, ready};
use crate::source::{Ingest, Reading};
use callsieve_engine::context::{Context, Progress};
use callsieve_engine::error::{Error, Result};
use callsieve_engine::foreign::{ForeignFile, ForeignRows, Need};
use callsieve_engine::manifest::InputFile;
use callsieve_text::content_hash::content_hash;

/// The size of a block: small enough to keep all threads busy, large enough to be worth passing on.
const BLOCK_BYTES: usize = 1 << 20;
/// The number of blocks per thread that may wait between the reading and the parsing threads, and between these and the
/// writing one.
const BLOCKS_AHEAD: usize = 3;
/// The bytes of rows of a Parquet input that are parsed at a time, on all threads.
const PARQUET_BYTES: usize = 16 << 20;

/// How much of the inputs is read and parsed, for the progress of the step.
pub(super) struct BytesRead<'a> {
    progress: &'a dyn Progress,
    read: AtomicU64,
    total: u64,
}

impl<'a> BytesRead<'a> {
    /// Those of whole files.
    pub(super) fn of(inputs: &[PathBuf], cx: &Context<'a>) -> Self {
        let sizes = inputs.iter().map(|path| path.metadata().map_or(0, |facts| facts.len()));
        Self::of_bytes(sizes.sum(), cx)
    }

    /// So many bytes.
    pub(super) fn of_bytes(total: u64, cx: &Context<'a>) -> Self {
        Self { progress: cx.progress, read: AtomicU64::new(0), total }
    }

    pub(super) fn add(&self, bytes: u64) {
        let read = self.read.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.progress.read(read, self.total);
    }
}

/// Receives the lines of the inputs, in order.
pub(super) trait Taker {
    /// Takes a line.
    fn take(&mut self, line: Ready) -> Result<()>;

    /// Counts the lines of a block that was not parsed, because no more were wanted.
    fn pass_over(&mut self, n_lines: u64);

    /// Returns `true` if no more lines are wanted.
    fn wants_no_more(&self) -> bool {
        false
    }
}

/// The whole of an input, or the lines in a range of its bytes.
#[derive(Debug, Clone)]
pub(super) struct Extent<'p> {
    /// Number of the input, from 0.
    pub(super) file: u32,
    pub(super) path: &'p Path,
    /// `None` for the whole file.
    pub(super) bytes: Option<Range<u64>>,
}

impl Extent<'_> {
    fn is_text(&self) -> bool {
        matches!(Reading::of(self.path), Reading::Text(_))
    }
}

/// How the files are read.
#[derive(Clone, Copy)]
pub(super) struct InputFiles<'a, 'c> {
    pub(super) ingest: &'a Ingest,
    pub(super) cx: &'a Context<'c>,
    pub(super) bytes_read: &'a BytesRead<'a>,
    /// The doc lists that the taker has stored.
    pub(super) known_lists: &'a KnownLists,
}

impl InputFiles<'_, '_> {
    /// Reads extents one after the other. Returns what was read of each.
    ///
    /// # Errors
    /// A file cannot be read to its end, the taker has an error, or the user asked to stop.
    pub(super) fn read(&self, extents: &[Extent<'_>], into: &mut dyn Taker) -> Result<Vec<ReadFile>> {
        let mut read = Vec::with_capacity(extents.len());
        for extents in extents.chunk_by(|one, next| one.is_text() && next.is_text()) {
            read.extend(self.consecutive(extents, into)?);
        }
        Ok(read)
    }

    /// Reads a Parquet file, or several consecutive text files.
    fn consecutive(&self, extents: &[Extent<'_>], into: &mut dyn Taker) -> Result<Vec<ReadFile>> {
        let mut texts: Vec<TextFile<'_>> = Vec::with_capacity(extents.len());
        for extent in extents {
            match Reading::of(extent.path) {
                Reading::Parquet => return Ok(vec![self.parquet(extent.file, extent.path, into)?]),
                Reading::Text(format) => texts.push(TextFile {
                    file: extent.file,
                    path: extent.path,
                    format,
                    bytes: extent.bytes.clone(),
                }),
            }
        }
        self.texts(&texts, into)
    }

    /// Reads, parses and writes at the same time, across the borders of files.
    fn texts(&self, files: &[TextFile<'_>], into: &mut dyn Taker) -> Result<Vec<ReadFile>> {
        let limits = Limits { max_line_bytes: self.ingest.max_line_bytes, block_bytes: BLOCK_BYTES };
        let ahead = BLOCKS_AHEAD * rayon::current_num_threads();
        let (blocks_in, blocks) = sync_channel(ahead);
        let (promises_in, promises) = sync_channel(ahead);
        let wants_no_more = AtomicBool::new(into.wants_no_more());
        let reading = any_row::Reading { known_lists: Some(self.known_lists), ..self.ingest.reading() };
        let cancel = self.cx.cancel;
        std::thread::scope(|scope| {
            let reader = scope.spawn(move || read_files(files, &limits, cancel, blocks_in));
            let no_more = &wants_no_more;
            scope.spawn(move || parse_blocks(&reading, blocks, no_more, promises_in));
            let taken = self.take_parsed(promises, &wants_no_more, into);
            if taken.is_err() {
                // Blocks that were read and not parsed yet are not needed.
                wants_no_more.store(true, Ordering::Relaxed);
            }
            let inputs = reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            taken.and(inputs)
        })
    }

    /// Writes parsed blocks in order; ends early only on an error, which also ends parser and reader.
    #[allow(clippy::needless_pass_by_value)] // Dropping the receiver is what stops the others.
    fn take_parsed(
        &self,
        promises: Receiver<Promise>,
        wants_no_more: &AtomicBool,
        into: &mut dyn Taker,
    ) -> Result<()> {
        // The sender is dropped only by a panic, which is reported when the thread is joined.
        let parsed = |promise: Promise| Some((promise.parsed.recv().ok()?, promise.n_bytes));
        for (parsed, n_bytes) in promises.iter().map_while(parsed) {
            self.go_on()?;
            match parsed {
                Parsed::Lines(lines) => lines.into_iter().try_for_each(|line| into.take(line))?,
                Parsed::PassedOver(n_lines) => into.pass_over(n_lines),
            }
            // Not when they are read: most of the time is spent on parsing.
            self.bytes_read.add(n_bytes);
            wants_no_more.store(into.wants_no_more(), Ordering::Relaxed);
        }
        Ok(())
    }

    fn parquet(&self, file: u32, path: &Path, into: &mut dyn Taker) -> Result<ReadFile> {
        let frames = ForeignFile::open(path)?;
        let reading = self.ingest.reading();
        let (n_bytes, mut n_bytes_done) = (path.metadata().map_or(0, |facts| facts.len()), 0);
        let selection = frames.select(|name| if reading.reads(name) { Need::Read } else { Need::No })?;
        for stretch in frames.stretches(&selection) {
            let rows = frames.read(&selection, stretch.clone())?;
            let mut start = 0;
            while start < rows.height() {
                self.go_on()?;
                let end = self.end_of_batch(&rows, start);
                let number = |row: usize| Position::same((stretch.start + row + 1) as u64);
                let read =
                    |row: usize| self.go_on().map(|()| self.parquet_row(file, &rows, row, number(row)));
                let lines: Vec<Vec<Ready>> = (start..end).into_par_iter().map(read).collect::<Result<_>>()?;
                for line in lines.into_iter().flatten() {
                    into.take(line)?;
                }
                start = end;
                let done = share_of_rows(n_bytes, stretch.start + end, frames.height());
                self.bytes_read.add(done - n_bytes_done);
                n_bytes_done = done;
            }
        }
        let input = InputFile::read(path, &|| self.cx.cancelled())?;
        Ok(ReadFile { input, n_items: frames.height() as u64, by_record: true })
    }

    /// Returns the end of the rows that are parsed together; a few bytes of a dictionary can be the cells of many rows.
    fn end_of_batch(&self, rows: &ForeignRows, start: usize) -> usize {
        let mut bytes = 0;
        let is_enough = |row: &usize| {
            let row_bytes = rows.row_bytes(*row);
            // A row that is too long is not decoded.
            bytes += if row_bytes > self.ingest.max_line_bytes { 0 } else { row_bytes };
            bytes >= PARQUET_BYTES
        };
        (start..rows.height()).find(is_enough).map_or(rows.height(), |last| last + 1)
    }

    fn parquet_row(&self, file: u32, rows: &ForeignRows, row: usize, position: Position) -> Vec<Ready> {
        let value = match object_of(rows, row, self.ingest.max_line_bytes) {
            Ok(value) => value,
            Err(fault) => return vec![ready(file, Line::whole(position, 1, LineFate::Unreadable(fault)))],
        };
        let mut lines = Vec::with_capacity(1);
        let content_key = content_hash(value.to_string());
        push_rows(position, content_key, value, &self.ingest.reading(), &mut lines);
        lines.into_iter().map(|line| ready(file, line)).collect()
    }

    /// Returns an error if the user asked to stop.
    fn go_on(&self) -> Result<()> {
        if self.cx.cancelled() { Err(Error::Interrupted) } else { Ok(()) }
    }
}

/// The bytes of a Parquet file that its first rows stand for.
fn share_of_rows(n_bytes: u64, n_rows_done: usize, n_rows: usize) -> u64 {
    let share = u128::from(n_bytes) * n_rows_done as u128 / n_rows.max(1) as u128;
    u64::try_from(share).unwrap_or(n_bytes)
}
