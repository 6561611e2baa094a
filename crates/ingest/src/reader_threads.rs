//! The threads before the writing one: all threads check compressed files, one reads and hashes, all parse.
//!
//! They handle each line on its own; work that needs other lines (limits, samples, batch answers) is in `line_sink`. The
//! threads are connected by bounded channels, so that memory holds a few blocks, and each ends when its receiver does.

use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use sha2::{Digest, Sha256};

use crate::any_row::{Reading, rows_of};
use crate::batch::BatchAnswer;
use crate::fate::{Line, LineFate, Record};
use crate::integrity::{self, IntactText};
use crate::known_lists::SentList;
use crate::read::{Block, FileFormat, Limits, ReadError, read_intact_blocks, read_lines_in};
use crate::reasons::ends_file;
use callsieve_bfcl::conversation::Message;
use callsieve_engine::columns::{
    EXTERNAL_ID, FILE, FOLLOWING_MESSAGES, LINE, LOG_FORMAT, MESSAGES, RECORD, RESPONSE, TEXT,
};
use callsieve_engine::context::Cancel;
use callsieve_engine::error::{Error, Result};
use callsieve_engine::fingerprint::hex;
use callsieve_engine::manifest::InputFile;
use callsieve_engine::raw::{DocListRow, LineRow, RequestRow, RowCells, SourcePlace};
use callsieve_privacy as privacy;
use callsieve_text::content_hash::content_hash;

/// A line that was processed as far as possible without other lines.
pub(super) struct Ready {
    /// It is not the first part of its item.
    pub(super) is_further_part: bool,
    /// The number of items of the file that it covers.
    pub(super) n_items: u64,
    pub(super) row: ReadyRow,
}

pub(super) enum ReadyRow {
    Request(Box<RequestRow>, SentList),
    /// A request, with the id by which another line may answer it.
    Batch(String, Box<RequestRow>),
    Answer(SourcePlace, Box<BatchAnswer>),
    Line(LineRow),
}

/// A file of text.
pub(super) struct TextFile<'p> {
    /// Number of the input, from 0.
    pub(super) file: u32,
    pub(super) path: &'p Path,
    pub(super) format: FileFormat,
    /// The bytes of its lines that are read; `None` for all.
    pub(super) bytes: Option<Range<u64>>,
}

/// A file that was read to its end.
pub(super) struct ReadFile {
    pub(super) input: InputFile,
    /// Its items.
    pub(super) n_items: u64,
    /// Its items are identified by number, because a line of it may not be one item.
    pub(super) by_record: bool,
}

/// A block that was read.
pub(super) struct ReadBlock {
    /// Number of the input file, from 0.
    file: u32,
    block: Block,
    /// The bytes of the file, as stored, that were read for it.
    n_bytes: u64,
}

/// Reads and hashes files, block by block.
#[allow(clippy::needless_pass_by_value)] // Dropping the sender is what ends the stream.
pub(super) fn read_files(
    files: &[TextFile<'_>],
    limits: &Limits,
    cancel: &dyn Cancel,
    sender: SyncSender<ReadBlock>,
) -> Result<Vec<ReadFile>> {
    let mut inputs = Vec::with_capacity(files.len());
    // A few files at a time, so that checked files are still in the system's cache when they are read.
    for files in files.chunks(rayon::current_num_threads()) {
        let checked = |text: &TextFile<'_>| {
            let intact = integrity::check(text.path, &|| cancel.is_cancelled());
            intact.map_err(|cause| ReadError::Open { path: text.path.to_owned(), cause })
        };
        let checked: Vec<_> = files.par_iter().map(checked).collect();
        for (file, checked) in files.iter().zip(checked) {
            let intact = checked?.ok_or(Error::Interrupted)?;
            inputs.push(read_file(file, limits, intact, cancel, &sender)?);
        }
    }
    Ok(inputs)
}

fn read_file(
    text: &TextFile<'_>,
    limits: &Limits,
    intact: IntactText,
    cancel: &dyn Cancel,
    sender: &SyncSender<ReadBlock>,
) -> Result<ReadFile> {
    let mut hasher = Sha256::new();
    // The bytes that were read since the last block.
    let n_bytes = Cell::new(0);
    let mut on_bytes = |bytes: &[u8]| {
        hasher.update(bytes);
        n_bytes.set(n_bytes.get() + bytes.len() as u64);
    };
    let cancelled = || cancel.is_cancelled();
    let &TextFile { file, path, format, ref bytes } = text;
    let mut on_block = |block| {
        // The receiver has ended if it had an error, which it reports itself.
        sender.send(ReadBlock { file, block, n_bytes: n_bytes.take() }).map_err(|_| Error::Interrupted)
    };
    let facts = match bytes {
        None => read_intact_blocks(path, format, limits, intact, &cancelled, &mut on_bytes, &mut on_block)?,
        Some(range) => read_lines_in(path, range.clone(), limits, &cancelled, &mut on_bytes, &mut on_block)?,
    };
    let sha256 = hex(&hasher.finalize());
    let input = InputFile { path: path.display().to_string(), sha256, bytes: facts.raw_bytes };
    Ok(ReadFile { input, n_items: facts.n_items, by_record: facts.by_record })
}

/// A block that is being parsed.
pub(super) struct Promise {
    /// Receives the result.
    pub(super) parsed: Receiver<Parsed>,
    /// The bytes of the file, as stored, that were read for the block.
    pub(super) n_bytes: u64,
}

/// The result of a block.
pub(super) enum Parsed {
    /// Its lines.
    Lines(Vec<Ready>),
    /// The number of lines of a block that was not parsed, because the limit was reached.
    PassedOver(u64),
}

/// Parses blocks as they arrive, on all threads. The results are passed on in order, while earlier blocks are written.
///
/// The result must not depend on whether the last lines before the limit were parsed: `LineSink::take` counts both cases
/// equally.
#[allow(clippy::needless_pass_by_value)] // Dropping both ends is what stops the reader and ends the stream.
pub(super) fn parse_blocks(
    reading: &Reading<'_>,
    blocks: Receiver<ReadBlock>,
    wants_no_more: &AtomicBool,
    promises: SyncSender<Promise>,
) {
    rayon::in_place_scope(|scope| {
        for ReadBlock { file, block, n_bytes } in blocks {
            let (keep, parsed) = sync_channel(1);
            // The receiver has ended if it had an error, which it reports itself.
            if promises.send(Promise { parsed, n_bytes }).is_err() {
                return;
            }
            scope.spawn(move |_| {
                let parsed = if wants_no_more.load(Ordering::Relaxed) {
                    Parsed::PassedOver(block.items.iter().map(|item| item.n_items).sum())
                } else {
                    Parsed::Lines(
                        rows_of(&block, reading).into_iter().map(|line| ready(file, line)).collect(),
                    )
                };
                // As above.
                let _ = keep.send(parsed);
            });
        }
    });
}

pub(super) fn ready(file: u32, line: Line) -> Ready {
    Ready { is_further_part: line.part > 0, n_items: line.n_items, row: ready_row(file, line) }
}

fn ready_row(file: u32, line: Line) -> ReadyRow {
    let place = SourcePlace { file, line: line.line, record: line.record };
    let (unreadable, reason, detail) = match line.fate {
        LineFate::Record(mut record) => {
            let (custom_id, list) = (record.custom_id.take(), std::mem::take(&mut record.list));
            let request = Box::new(request(place, *record, &list));
            return match custom_id {
                Some(custom_id) => ReadyRow::Batch(custom_id, request),
                None => ReadyRow::Request(request, list),
            };
        }
        LineFate::Answer(answer) => return ReadyRow::Answer(place, answer),
        LineFate::NoRequest(fault) => (false, fault.reason, fault.detail),
        LineFate::Unreadable(fault) => (true, fault.reason, fault.detail),
    };
    // The detail can quote a key or a role of the line.
    ReadyRow::Line(LineRow {
        place,
        n_lines: line.n_items,
        unreadable,
        ends_file: ends_file(reason),
        reason,
        detail: privacy::masked(&detail),
    })
}

/// The most doc lists of which a thread keeps the hash, and the longest one in bytes.
const KEPT_LISTS: usize = 512;
const LONGEST_KEPT: usize = 16 << 10;

/// Returns the content hash of a doc list. A log repeats its lists, and comparing a text is faster than hashing it.
fn hash_of_docs(functions: &str) -> u128 {
    thread_local! {
        static KEPT: RefCell<FxHashMap<Box<str>, u128>> = RefCell::default();
    }
    if functions.len() > LONGEST_KEPT {
        return content_hash(functions);
    }
    KEPT.with_borrow_mut(|kept| {
        if let Some(&hash) = kept.get(functions) {
            return hash;
        }
        let hash = content_hash(functions);
        if kept.len() == KEPT_LISTS {
            kept.clear();
        }
        kept.insert(functions.into(), hash);
        hash
    })
}

/// Returns the doc list of a request; one that is stored has no cells.
fn doc_list(functions: String, list: &SentList) -> DocListRow {
    let content_key = match *list {
        SentList::Stored(content_key) => return DocListRow { content_key, cells: RowCells::default() },
        SentList::New { .. } => content_hash(&functions),
        SentList::NotLookedUp => hash_of_docs(&functions),
    };
    DocListRow { content_key, cells: RowCells::default().with(TEXT, Some(functions)) }
}

fn request(place: SourcePlace, record: Record, list: &SentList) -> RequestRow {
    let number = |number: u64| i64::try_from(number).ok();
    let json = |messages: &[Message]| serde_json::to_string(messages).expect("messages are plain data");
    let message = |message: Message| serde_json::to_string(&message).expect("a message is plain data");
    let cells = RowCells::default()
        .with(EXTERNAL_ID, record.external_id)
        .with(FILE, Some(i64::from(place.file)))
        .with(LINE, number(place.line))
        .with(RECORD, number(place.record))
        .with(LOG_FORMAT, Some(record.log_format))
        .with(MESSAGES, Some(json(&record.messages)))
        .with(RESPONSE, record.response.map(message))
        .with(
            FOLLOWING_MESSAGES,
            (!record.following_messages.is_empty()).then(|| json(&record.following_messages)),
        );
    RequestRow {
        content_key: record.content_key,
        place,
        time_ms: record.facts.time_ms,
        log_format: record.log_format,
        list: doc_list(record.functions, list),
        joined: None,
        cells: record.facts.into_cells(cells),
    }
}
