//! Splits a log file into blocks of items, in one pass and in bounded memory.
//!
//! Every item is returned, as the range of its bytes or as a fault (too long, or truncated at the end of the file).
//! Memory holds one block and at most one item of `max_line_bytes`. Parsing items is pure and can run in parallel: see
//! `record::records_of`.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memchr::memchr_iter;
use serde::de::IgnoredAny;

use crate::buffer::{Lent, Pool, Text};
use crate::compression::Compression;
use crate::integrity::{self, IntactText};
use crate::lenient;
use crate::raw::RawText;
use crate::reasons::{CUT_FILE, ItemFault, LINE_TOO_LONG};
use crate::split::{Cut, LineEnd, Rest, Splitter};
use crate::table::{Header, named_delimiter};
use callsieve_text::os_error::{cause_of, hint_of};

/// Reads a file and passes its blocks to `on_block`, in order.
///
/// `on_bytes` receives the stored bytes of the file, each once and in order, so that hashing needs no second read. The
/// header of a CSV file is not an item.
///
/// # Errors
/// [`ReadError`] if the file cannot be opened or the disk fails, and the errors of `on_block`. Damaged content is never
/// an error but an item of its own.
pub fn read_blocks<E: From<ReadError>>(
    path: &Path,
    format: FileFormat,
    limits: &Limits,
    on_bytes: &mut dyn FnMut(&[u8]),
    on_block: &mut dyn FnMut(Block) -> Result<(), E>,
) -> Result<FileFacts, E> {
    read_blocks_until(path, format, limits, &|| false, on_bytes, on_block)
}

/// Reads like [`read_blocks`] until the user asks to stop, also inside a long item.
///
/// # Errors
/// As [`read_blocks`], and [`ReadError::Stopped`].
pub fn read_blocks_until<E: From<ReadError>>(
    path: &Path,
    format: FileFormat,
    limits: &Limits,
    cancelled: &dyn Fn() -> bool,
    on_bytes: &mut dyn FnMut(&[u8]),
    on_block: &mut dyn FnMut(Block) -> Result<(), E>,
) -> Result<FileFacts, E> {
    let intact = integrity::check(path, cancelled)
        .map_err(|cause| ReadError::Open { path: path.to_owned(), cause })?;
    let intact = intact.ok_or(ReadError::Stopped)?;
    read_intact_blocks(path, format, limits, intact, cancelled, on_bytes, on_block)
}

/// Reads like [`read_blocks_until`] a file that was already checked.
pub(super) fn read_intact_blocks<E: From<ReadError>>(
    path: &Path,
    format: FileFormat,
    limits: &Limits,
    intact: IntactText,
    cancelled: &dyn Fn() -> bool,
    on_bytes: &mut dyn FnMut(&[u8]),
    on_block: &mut dyn FnMut(Block) -> Result<(), E>,
) -> Result<FileFacts, E> {
    let raw = RawText::open(path, intact, on_bytes)
        .map_err(|cause| ReadError::Open { path: path.to_owned(), cause })?;
    let begin = |cutter: &mut Cutter<'_>| {
        cutter.skip_byte_order_mark();
        let first_text = &cutter.text[cutter.seen..];
        let format = format.seen_in(first_text);
        cutter.is_text = format == FileFormat::Text;
        let splitter = format.splitter(first_text);
        let starts_array = first_text.trim_ascii_start().starts_with(b"[");
        cutter.is_array = starts_array && matches!(splitter, Splitter::Values(_));
        (format, splitter)
    };
    read_text(path, raw, limits, &begin, cancelled, on_block)
}

/// Reads like [`read_intact_blocks`] the lines in a range of the bytes of a plain file in UTF-8. Lines are counted from the
/// beginning of the range; where it does not begin the file, its lines begin with a bracket.
pub(super) fn read_lines_in<E: From<ReadError>>(
    path: &Path,
    range: Range<u64>,
    limits: &Limits,
    cancelled: &dyn Fn() -> bool,
    on_bytes: &mut dyn FnMut(&[u8]),
    on_block: &mut dyn FnMut(Block) -> Result<(), E>,
) -> Result<FileFacts, E> {
    let raw = RawText::open_plain(path, range, on_bytes)
        .map_err(|cause| ReadError::Open { path: path.to_owned(), cause })?;
    let begin = |cutter: &mut Cutter<'_>| {
        cutter.skip_byte_order_mark();
        (FileFormat::Jsonl, Splitter::Lines(LineEnd::Feed))
    };
    read_text(path, raw, limits, &begin, cancelled, on_block)
}

/// Splits a text by the format and the splitter that `begin` sees in its first bytes.
fn read_text<E: From<ReadError>>(
    path: &Path,
    mut raw: RawText<'_>,
    limits: &Limits,
    begin: &dyn Fn(&mut Cutter<'_>) -> (FileFormat, Splitter),
    cancelled: &dyn Fn() -> bool,
    on_block: &mut dyn FnMut(Block) -> Result<(), E>,
) -> Result<FileFacts, E> {
    let read_error = |cause| ReadError::Read { path: path.to_owned(), cause };
    let mut cutter = Cutter::new(limits);
    let mut begun = None;
    loop {
        // An item can be longer than any block, so blocks are too rare for this.
        if cancelled() {
            return Err(ReadError::Stopped.into());
        }
        // A damaged file may return text together with the error, so the text is split before the error is handled.
        let filled = cutter.fill(&mut raw);
        let (format, splitter) = begun.get_or_insert_with(|| begin(&mut cutter));
        cutter.cut(splitter, *format);
        if cutter.items_end >= limits.block_bytes {
            on_block(cutter.take_block())?;
        }
        let damage = match filled {
            Ok(0) => None,
            Ok(_) => continue,
            Err(error) if raw.is_disk_error() => return Err(read_error(error).into()),
            Err(error) => Some(RawText::fault(&error)),
        };
        cutter.finish(splitter, *format, damage);
        break;
    }
    if !cutter.items.is_empty() {
        on_block(cutter.take_block())?;
    }
    let compression = raw.compression();
    while raw.skip_stored().map_err(read_error)? > 0 {
        if cancelled() {
            return Err(ReadError::Stopped.into());
        }
    }
    let raw_bytes = raw.n_stored();
    let by_record = begun.as_ref().is_some_and(|(_, splitter)| splitter.may_share_lines());
    let (text_bytes, n_items, is_array) = (cutter.text_bytes, cutter.n_items, cutter.is_array);
    let header = cutter.header.take();
    Ok(FileFacts { compression, raw_bytes, text_bytes, n_items, by_record, is_array, header })
}

/// Why a file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It does not exist, or permission is denied.
    #[error("{}: cannot be opened: {}{}", path.display(), cause_of(cause), hint_of(cause, path))]
    Open {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        cause: std::io::Error,
    },
    /// Reading failed halfway for a reason outside the file.
    #[error("{}: reading failed: {}{}", path.display(), cause_of(cause), hint_of(cause, path))]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        cause: std::io::Error,
    },
    /// The user asked to stop.
    #[error("reading was stopped")]
    Stopped,
    /// Its items cannot be rows: its ending is not known, and its text is no JSON.
    #[error(
        "{}: unknown kind of file: found {} and text that is not JSON, expected .jsonl, .ndjson, .json, .csv, .tsv, .txt or .parquet (text also with .gz or .zst)\nhint: rename the file by what it holds; of a .txt file each line is a text",
        path.display(),
        ending.as_ref().map_or_else(|| "no ending".to_owned(), |ending| format!("the ending .{ending}"))
    )]
    UnknownKind {
        /// The file.
        path: PathBuf,
        /// Its ending, without that of a compression.
        ending: Option<String>,
    },
}

/// How a file is split into items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileFormat {
    /// One JSON value per line.
    Jsonl,
    /// JSON whose first lines determine its layout: one value per line, an array, or pretty-printed values.
    Json,
    /// One text per line, or JSON if the first characters are those of an object or a list.
    Text,
    /// A table with a header.
    Csv {
        /// The separator of cells.
        delimiter: u8,
    },
    /// Function docs: one value per line if the first lines have this layout, else the whole file as one item.
    Docs,
}

impl FileFormat {
    /// Determines the format by the file's name, without the extension of a compression; unknown names are read as
    /// [`FileFormat::Json`].
    pub fn of(path: &Path) -> Self {
        match ending(path).as_deref() {
            Some("jsonl" | "ndjson") => Self::Jsonl,
            Some("txt") => Self::Text,
            Some("csv") => Self::Csv { delimiter: b',' },
            Some("tsv") => Self::Csv { delimiter: b'\t' },
            _ => Self::Json,
        }
    }

    /// Returns the format with the delimiter of the table's header, because many programs write semicolons or tabs into
    /// CSV; JSON in a text file is JSON.
    fn seen_in(self, first_text: &[u8]) -> Self {
        if self == Self::Text && begins_like_json(first_text) {
            return Self::Json;
        }
        let Self::Csv { delimiter } = self else { return self };
        let mut lines = first_text.split(|byte| matches!(byte, b'\n' | b'\r'));
        let header = lines.find(|line| !line.trim_ascii().is_empty()).unwrap_or_default();
        if let Some(named) = named_delimiter(header) {
            return Self::Csv { delimiter: named };
        }
        let others = [b';', b'\t', b',', b'|'].into_iter();
        let seen = std::iter::once(delimiter).chain(others).find(|byte| header.contains(byte));
        Self::Csv { delimiter: seen.unwrap_or(delimiter) }
    }

    fn splitter(self, first_text: &[u8]) -> Splitter {
        let line_end = self.line_end_in(first_text);
        match self {
            Self::Csv { delimiter } => Splitter::rows(delimiter),
            Self::Json if !is_line_by_line(first_text, line_end) => Splitter::values(),
            Self::Docs if !are_docs_line_by_line(first_text) => Splitter::Whole,
            Self::Jsonl | Self::Json | Self::Text | Self::Docs => Splitter::Lines(line_end),
        }
    }

    /// Returns the byte that ends lines: a carriage return only in texts without a line feed. In JSON it is also a blank
    /// between tokens, so there one of the first lines must be a whole value.
    fn line_end_in(self, first_text: &[u8]) -> LineEnd {
        if first_text.contains(&b'\n') || !first_text.contains(&b'\r') {
            return LineEnd::Feed;
        }
        let mut lines = first_text.split(|byte| *byte == b'\r').filter(|line| !line.trim_ascii().is_empty());
        let is_value =
            |line: &[u8]| line.trim_ascii().starts_with(b"{") && lenient::json(line.trim_ascii()).is_ok();
        let is_return = self == Self::Text || lines.by_ref().take(LINES_TRIED).any(is_value);
        if is_return { LineEnd::Return } else { LineEnd::Feed }
    }
}

/// Returns the ending of a file's name in lower case, without the one of a compression.
pub fn ending(path: &Path) -> Option<String> {
    let extension = |path: &Path| path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase());
    match extension(path).as_deref() {
        Some("gz" | "zst") => extension(&path.with_extension("")),
        other => other.map(str::to_owned),
    }
}

/// Returns `true` if the first characters are those of an object, or of a list of objects, lists or texts. Prompts also
/// begin with a bracket: `[INST]`.
fn begins_like_json(first_text: &[u8]) -> bool {
    let mut characters = first_text.iter().filter(|byte| !byte.is_ascii_whitespace());
    match (characters.next(), characters.next()) {
        (Some(b'{'), next) => matches!(next, Some(b'"' | b'\'' | b'}') | None),
        (Some(b'['), next) => matches!(next, Some(b'{' | b'[' | b'"' | b'\'' | b']') | None),
        _ => false,
    }
}

/// Returns `true` if there is one line as far as one can see, or the first that is not blank holds a whole JSON object
/// or list or, where that one is broken, a line after it an object with an id. A lone bracket is the beginning of a
/// pretty-printed value.
fn are_docs_line_by_line(first_text: &[u8]) -> bool {
    let whole = |line: &[u8]| serde_json::from_slice::<serde_json::Value>(line).ok();
    if !first_text.trim_ascii().contains(&b'\n') {
        return true;
    }
    let mut lines = first_text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).filter(|l| !l.is_empty());
    let Some(first) = lines.next().filter(|first| first.len() > 1) else { return false };
    whole(first).is_some_and(|value| value.is_object() || value.is_array())
        || lines.take(DOC_LINES_TRIED).filter_map(whole).any(|value| value.get("id").is_some())
}

const DOC_LINES_TRIED: usize = 16;

/// Returns `true` if one of the first lines holds a whole JSON object; several are looked at, since one may be broken.
fn is_line_by_line(first_text: &[u8], line_end: LineEnd) -> bool {
    let line_end = line_end.byte();
    let text = first_text.trim_ascii_start();
    let is_object = |line: &[u8]| {
        line.trim_ascii_start().starts_with(b"{") && serde_json::from_slice::<IgnoredAny>(line).is_ok()
    };
    let goes_on = !text.contains(&line_end);
    text.starts_with(b"{")
        && (goes_on || text.split(|byte| *byte == line_end).take(LINES_TRIED).any(is_object))
}

const LINES_TRIED: usize = 3;

/// Limits of memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// A block is passed on once its items reach this size.
    pub block_bytes: usize,
    /// A longer item is a fault; higher reads more and may use more memory.
    pub max_line_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { block_bytes: 4 << 20, max_line_bytes: 64 << 20 }
    }
}

/// The facts about a file that was read to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileFacts {
    /// Its compression.
    pub compression: Compression,
    /// Its size as stored.
    pub raw_bytes: u64,
    /// The size of its text.
    pub text_bytes: u64,
    /// The number of items in all its blocks; each gets one fate.
    pub n_items: u64,
    /// Items are identified by number, because a line may hold several or be one of several.
    pub by_record: bool,
    /// It is one JSON array, whose elements are the items.
    pub is_array: bool,
    /// The header, if the file is a table.
    pub header: Option<Arc<Header>>,
}

/// Some items of a file, in its order.
#[derive(Debug)]
pub struct Block {
    /// The bytes the items' ranges point into.
    pub text: Lent,
    /// The items.
    pub items: Vec<Item>,
    /// The header, if the file is a table.
    pub header: Option<Arc<Header>>,
    /// The items are elements of one JSON array.
    pub is_array: bool,
    /// The items are lines of plain text.
    pub is_text: bool,
}

/// One line, table row or JSON value of a file, or several consecutive blank lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// The line it starts on; the first line is 1.
    pub line: u64,
    /// Its number among the items of the file; the first is 1.
    pub record: u64,
    /// The number of items that it covers: there may be more blank lines than fit into memory.
    pub n_items: u64,
    /// Its range in the block's text, or its fault.
    pub bytes: Result<Range<usize>, ItemFault>,
}

impl Item {
    /// Returns its position in the file.
    pub fn position(&self) -> Position {
        Position { line: self.line, record: self.record }
    }
}

/// The position of an item in its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// The line; the first is 1.
    pub line: u64,
    /// Its number among the items of the file; the first is 1. A table's header does not count.
    pub record: u64,
}

impl Position {
    /// Returns the position of an item in a file where items and lines have the same numbers.
    pub fn same(number: u64) -> Self {
        Self { line: number, record: number }
    }
}

/// The text that was read and not yet passed on, and its cuts.
struct Cutter<'a> {
    limits: &'a Limits,
    text: Text,
    pool: Pool,
    items: Vec<Item>,
    /// The end of the last finished item.
    items_end: usize,
    /// The position of the splitter.
    seen: usize,
    /// The first line of the unfinished item.
    line: u64,
    /// The number of bytes and line ends of the unfinished item that were discarded, because it is too long.
    skipped_bytes: usize,
    skipped_lines: u64,
    header: Option<Arc<Header>>,
    /// A line before the header that names the delimiter.
    delimiter_line: Vec<u8>,
    line_end: LineEnd,
    is_array: bool,
    is_text: bool,
    n_items: u64,
    text_bytes: u64,
}

const CHUNK_BYTES: usize = 1 << 20;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

impl<'a> Cutter<'a> {
    fn new(limits: &'a Limits) -> Self {
        // A block, the part of the last chunk that belongs to the next one, and a chunk to read into.
        let pool = Pool::new(limits.block_bytes + 2 * CHUNK_BYTES);
        Self {
            limits,
            text: pool.take(),
            pool,
            items: Vec::new(),
            items_end: 0,
            seen: 0,
            line: 1,
            skipped_bytes: 0,
            skipped_lines: 0,
            header: None,
            delimiter_line: Vec::new(),
            line_end: LineEnd::Feed,
            is_array: false,
            is_text: false,
            n_items: 0,
            text_bytes: 0,
        }
    }

    /// Reads one more chunk; bytes before an error are kept.
    fn fill(&mut self, raw: &mut RawText<'_>) -> std::io::Result<usize> {
        let before = self.text.len();
        let read = self.text.read_more(raw, CHUNK_BYTES);
        self.text_bytes += (self.text.len() - before) as u64; // usize is at most 64 bits wide
        read
    }

    fn skip_byte_order_mark(&mut self) {
        if self.text.starts_with(BYTE_ORDER_MARK) {
            (self.items_end, self.seen) = (BYTE_ORDER_MARK.len(), BYTE_ORDER_MARK.len());
        }
    }

    /// Splits the text that was not split yet.
    fn cut(&mut self, splitter: &mut Splitter, format: FileFormat) {
        self.cut_line_ends(splitter);
        while let Some(cut) = splitter.next_cut(&self.text[self.seen..]) {
            let (Cut::Item(n) | Cut::Gap(n)) = cut;
            self.seen += n;
            self.line_end = splitter.line_end();
            match cut {
                Cut::Item(_) => self.end_item(format),
                Cut::Gap(_) => self.start_next(),
            }
            self.cut_line_ends(splitter);
        }
        self.seen = self.text.len();
        if self.seen - self.items_end > self.limits.max_line_bytes {
            self.skipped_bytes += self.seen - self.items_end;
            self.skipped_lines += self.count_line_ends(&self.text[self.items_end..]);
            self.text.truncate(self.items_end);
            self.seen = self.items_end;
        }
    }

    /// Handles many empty lines at once: a few bytes of a compressed file can be millions of them.
    fn cut_line_ends(&mut self, splitter: &Splitter) {
        let Splitter::Lines(line_end) = splitter else { return };
        if self.seen != self.items_end || self.skipped_bytes > 0 {
            return;
        }
        self.line_end = *line_end;
        let n = self.text[self.seen..].iter().take_while(|byte| **byte == line_end.byte()).count();
        // A single one is handled like any other line.
        if n > 1 {
            self.seen += n;
            self.push_blank(self.items_end..self.seen, n as u64); // usize is at most 64 bits wide
            self.start_next();
        }
    }

    fn end_item(&mut self, format: FileFormat) {
        let mut bytes = self.items_end..self.seen;
        // Concatenated files have byte order marks inside.
        if self.skipped_bytes == 0 && self.text[bytes.clone()].starts_with(BYTE_ORDER_MARK) {
            bytes.start += BYTE_ORDER_MARK.len();
        }
        let n_bytes = self.skipped_bytes + bytes.len();
        if n_bytes > self.limits.max_line_bytes {
            let detail = format!("{n_bytes} bytes, the limit is {}", self.limits.max_line_bytes);
            self.push(Err(ItemFault::new(LINE_TOO_LONG, detail)));
        } else if let (FileFormat::Csv { delimiter }, None) = (format, &self.header) {
            let row = &self.text[bytes];
            if self.delimiter_line.is_empty() && named_delimiter(row).is_some() {
                self.delimiter_line = row.to_vec();
            } else if !row.trim_ascii().is_empty() {
                let before = std::mem::take(&mut self.delimiter_line);
                self.header = Some(Arc::new(Header::read(row, delimiter).after(before)));
            }
        } else if self.text[bytes.clone()].trim_ascii().is_empty() {
            self.push_blank(bytes, 1);
        } else {
            self.push(Ok(bytes));
        }
        self.start_next();
    }

    fn push(&mut self, bytes: Result<Range<usize>, ItemFault>) {
        self.n_items += 1;
        self.items.push(Item { line: self.line, record: self.n_items, n_items: 1, bytes });
    }

    /// Adds blank lines to an item of blank lines right before them, if there is one.
    fn push_blank(&mut self, bytes: Range<usize>, n_lines: u64) {
        let record = self.n_items + 1;
        self.n_items += n_lines;
        if let Some(Item { n_items, bytes: Ok(before), .. }) = self.items.last_mut()
            && self.text[before.clone()].trim_ascii().is_empty()
        {
            // Only the first of them is kept as text.
            *n_items += n_lines;
            return;
        }
        let first = bytes.start..bytes.end.min(bytes.start + 1);
        let bytes = if n_lines > 1 { first } else { bytes };
        self.items.push(Item { line: self.line, record, n_items: n_lines, bytes: Ok(bytes) });
    }

    fn start_next(&mut self) {
        self.line += self.skipped_lines + self.count_line_ends(&self.text[self.items_end..self.seen]);
        self.items_end = self.seen;
        (self.skipped_bytes, self.skipped_lines) = (0, 0);
    }

    /// Handles the text after the last cut; a truncated rest is a fault.
    fn finish(&mut self, splitter: &Splitter, format: FileFormat, damage: Option<ItemFault>) {
        let is_empty = self.skipped_bytes + self.seen == self.items_end;
        match (damage, splitter.rest(is_empty)) {
            (Some(damage), _) => self.push(Err(damage)),
            (None, Rest::Cut(why)) => self.push(Err(ItemFault::new(CUT_FILE, why.to_owned()))),
            (None, Rest::Item) => self.end_item(format),
            (None, Rest::Gap) => {}
        }
    }

    fn count_line_ends(&self, text: &[u8]) -> u64 {
        memchr_iter(self.line_end.byte(), text).count() as u64
    }

    fn take_block(&mut self) -> Block {
        let mut next = self.pool.take();
        self.text.move_end(self.items_end, &mut next);
        let text = self.pool.lend(std::mem::replace(&mut self.text, next));
        (self.items_end, self.seen) = (0, self.text.len());
        Block {
            text,
            items: std::mem::take(&mut self.items),
            header: self.header.clone(),
            is_array: self.is_array,
            is_text: self.is_text,
        }
    }
}
