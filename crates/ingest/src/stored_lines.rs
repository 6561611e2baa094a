//! The lines of a part of the inputs, as a file.
//!
//! A file is a sequence of frames, each of some lines: its length in bytes (8 bytes, little-endian), and so many bytes of postcard, compressed
//! by Zstandard. Names that a build knows (columns, log formats, reasons) are stored as text, once a row.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufReader, BufWriter, Read as _, Write as _};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use crate::batch::BatchAnswer;
use crate::known_lists::SentList;
use crate::reader_threads::{Ready, ReadyRow};
use callsieve_engine::columns;
use callsieve_engine::disk::create_private;
use callsieve_engine::error::{At, Result, damaged};
use callsieve_engine::raw::{DocListRow, LineRow, RequestRow, RowCells, SourcePlace};
use callsieve_engine::vocabulary::{Cell, ColumnSpec};

/// The bytes of lines that a frame has at least, before they are compressed.
const FRAME_BYTES: usize = 1 << 20;
/// Fast: the file is read once and then removed.
const ZSTD_LEVEL: i32 = 1;
/// A frame has one line more than fits, and a line is bounded by `max_line_bytes`.
const MOST_FRAME_BYTES: u64 = 16 << 30;

#[derive(Serialize, Deserialize)]
struct StoredLine<'a> {
    is_further_part: bool,
    n_items: u64,
    #[serde(borrow)]
    row: StoredRow<'a>,
}

#[derive(Serialize, Deserialize)]
enum StoredRow<'a> {
    #[serde(borrow)]
    Request(StoredRequest<'a>),
    #[serde(borrow)]
    Batch(StoredBatch<'a>),
    #[serde(borrow)]
    Answer(StoredAnswer<'a>),
    #[serde(borrow)]
    Line(StoredLineRow<'a>),
}

type Place = (u32, u64, u64);

#[derive(Serialize, Deserialize)]
struct StoredRequest<'a> {
    content_key: u128,
    place: Place,
    time_ms: Option<i64>,
    log_format: &'a str,
    list_key: u128,
    #[serde(borrow)]
    list_cells: StoredCells<'a>,
    #[serde(borrow)]
    cells: StoredCells<'a>,
}

#[derive(Serialize, Deserialize)]
struct StoredBatch<'a> {
    custom_id: &'a str,
    #[serde(borrow)]
    request: StoredRequest<'a>,
}

type StoredCells<'a> = Vec<(&'a str, StoredCell<'a>)>;

#[derive(Serialize, Deserialize)]
enum StoredCell<'a> {
    Text(&'a str),
    Int(i64),
}

#[derive(Serialize, Deserialize)]
struct StoredAnswer<'a> {
    place: Place,
    custom_id: &'a str,
    content_key: u128,
    /// JSON.
    message: Option<Cow<'a, str>>,
    finish_reason: Option<&'a str>,
    status: Option<i64>,
}

#[derive(Serialize, Deserialize)]
struct StoredLineRow<'a> {
    place: Place,
    n_lines: u64,
    unreadable: bool,
    ends_file: bool,
    reason: &'a str,
    detail: &'a str,
}

/// Writes lines.
pub(super) struct LineFile {
    file: BufWriter<File>,
    path: std::path::PathBuf,
    frame: Vec<u8>,
    n_frames: u64,
}

impl LineFile {
    /// Creates a file that only its owner may read.
    ///
    /// # Errors
    /// It cannot be created.
    pub(super) fn create(path: &Path) -> Result<Self> {
        let file = BufWriter::new(create_private(path)?);
        Ok(Self { file, path: path.to_owned(), frame: Vec::new(), n_frames: 0 })
    }

    /// Adds a line.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(super) fn add(&mut self, line: &Ready) -> Result<()> {
        let frame = std::mem::take(&mut self.frame);
        self.frame = postcard::to_extend(&stored(line), frame).expect("a line is plain data");
        if self.frame.len() >= FRAME_BYTES { self.write_frame() } else { Ok(()) }
    }

    fn write_frame(&mut self) -> Result<()> {
        let bytes = zstd::bulk::compress(&self.frame, ZSTD_LEVEL).at("compressing", &self.path)?;
        let head = (bytes.len() as u64).to_le_bytes();
        self.file.write_all(&head).and_then(|()| self.file.write_all(&bytes)).at("writing", &self.path)?;
        self.frame.clear();
        self.n_frames += 1;
        Ok(())
    }

    /// Writes what is left. Returns the number of frames.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(super) fn finish(mut self) -> Result<u64> {
        if !self.frame.is_empty() {
            self.write_frame()?;
        }
        self.file.flush().at("writing", &self.path)?;
        Ok(self.n_frames)
    }
}

/// Reads the frames of a file, still compressed, until `on_frame` wants no more. Returns their number.
///
/// # Errors
/// The file cannot be read, or is damaged.
pub(super) fn read_frames(path: &Path, mut on_frame: impl FnMut(Vec<u8>) -> bool) -> Result<u64> {
    let mut file = BufReader::with_capacity(1 << 20, File::open(path).at("reading", path)?);
    let mut n_frames = 0;
    loop {
        let mut head = Vec::with_capacity(8);
        file.by_ref().take(8).read_to_end(&mut head).at("reading", path)?;
        if head.is_empty() {
            return Ok(n_frames);
        }
        let n_bytes = head.try_into().map(u64::from_le_bytes).ok().filter(|n| *n <= MOST_FRAME_BYTES);
        let n_bytes = n_bytes.ok_or_else(|| damaged(path, "it ends inside a frame"))?;
        let mut frame = Vec::new();
        let n_read = file.by_ref().take(n_bytes).read_to_end(&mut frame).at("reading", path)?;
        if n_read as u64 != n_bytes {
            return Err(damaged(path, "it ends inside a frame"));
        }
        n_frames += 1;
        if !on_frame(frame) {
            return Ok(n_frames);
        }
    }
}

/// Returns the lines of a frame.
///
/// # Errors
/// What is wrong with it.
pub(super) fn lines_of(frame: &[u8]) -> std::result::Result<Vec<Ready>, String> {
    let bytes = zstd::stream::decode_all(frame).map_err(|error| error.to_string())?;
    let (mut rest, mut lines) = (&bytes[..], Vec::new());
    while !rest.is_empty() {
        let (line, after) =
            postcard::take_from_bytes::<StoredLine<'_>>(rest).map_err(|error| error.to_string())?;
        lines.push(line.ready()?);
        rest = after;
    }
    Ok(lines)
}

fn stored(line: &Ready) -> StoredLine<'_> {
    let row = match &line.row {
        ReadyRow::Request(request, _) => StoredRow::Request(stored_request(request)),
        ReadyRow::Batch(custom_id, request) => {
            StoredRow::Batch(StoredBatch { custom_id, request: stored_request(request) })
        }
        ReadyRow::Answer(place, answer) => StoredRow::Answer(stored_answer(*place, answer)),
        ReadyRow::Line(line) => StoredRow::Line(StoredLineRow {
            place: place_of(line.place),
            n_lines: line.n_lines,
            unreadable: line.unreadable,
            ends_file: line.ends_file,
            reason: line.reason,
            detail: &line.detail,
        }),
    };
    StoredLine { is_further_part: line.is_further_part, n_items: line.n_items, row }
}

fn place_of(place: SourcePlace) -> Place {
    (place.file, place.line, place.record)
}

fn stored_request(request: &RequestRow) -> StoredRequest<'_> {
    StoredRequest {
        content_key: request.content_key,
        place: place_of(request.place),
        time_ms: request.time_ms,
        log_format: request.log_format,
        list_key: request.list.content_key,
        list_cells: stored_cells(&request.list.cells),
        cells: stored_cells(&request.cells),
    }
}

fn stored_cells(cells: &RowCells) -> StoredCells<'_> {
    let cell = |(name, cell)| match cell {
        &Cell::Int(number) => (name, StoredCell::Int(number)),
        Cell::Text(text) => (name, StoredCell::Text(text)),
    };
    cells.iter().map(cell).collect()
}

fn stored_answer(place: SourcePlace, answer: &BatchAnswer) -> StoredAnswer<'_> {
    let message = answer.message().map(serde_json::to_string);
    StoredAnswer {
        place: place_of(place),
        custom_id: &answer.custom_id,
        content_key: answer.content_key(),
        message: message.map(|text| text.expect("a message is plain data").into()),
        finish_reason: answer.finish_reason(),
        status: answer.status(),
    }
}

impl StoredLine<'_> {
    fn ready(self) -> std::result::Result<Ready, String> {
        let row = match self.row {
            StoredRow::Request(request) => {
                // What is known of its list is of use to those who parse only.
                ReadyRow::Request(Box::new(request.row()?), SentList::NotLookedUp)
            }
            StoredRow::Batch(StoredBatch { custom_id, request }) => {
                ReadyRow::Batch(custom_id.to_owned(), Box::new(request.row()?))
            }
            StoredRow::Answer(answer) => {
                ReadyRow::Answer(source_place(answer.place), Box::new(answer.answer()?))
            }
            StoredRow::Line(line) => ReadyRow::Line(LineRow {
                place: source_place(line.place),
                n_lines: line.n_lines,
                unreadable: line.unreadable,
                ends_file: line.ends_file,
                reason: known_name(line.reason)?,
                detail: line.detail.to_owned(),
            }),
        };
        Ok(Ready { is_further_part: self.is_further_part, n_items: self.n_items, row })
    }
}

fn source_place((file, line, record): Place) -> SourcePlace {
    SourcePlace { file, line, record }
}

impl StoredRequest<'_> {
    fn row(self) -> std::result::Result<RequestRow, String> {
        Ok(RequestRow {
            content_key: self.content_key,
            place: source_place(self.place),
            time_ms: self.time_ms,
            log_format: known_name(self.log_format)?,
            list: DocListRow { content_key: self.list_key, cells: cells_of(self.list_cells)? },
            joined: None,
            cells: cells_of(self.cells)?,
        })
    }
}

fn cells_of(stored: StoredCells<'_>) -> std::result::Result<RowCells, String> {
    let mut cells = RowCells::default();
    for (name, cell) in stored {
        let column: ColumnSpec =
            columns::source_column(name).ok_or_else(|| format!("the column {name:?} is not known"))?;
        let cell = match cell {
            StoredCell::Text(text) => Cell::Text(text.to_owned()),
            StoredCell::Int(number) => Cell::Int(number),
        };
        cells.set(column, Some(cell));
    }
    Ok(cells)
}

impl StoredAnswer<'_> {
    fn answer(self) -> std::result::Result<BatchAnswer, String> {
        let message = self.message.as_deref().map(serde_json::from_str).transpose();
        let message = message.map_err(|error| format!("a message is not one: {error}"))?;
        let finish_reason = self.finish_reason.map(str::to_owned);
        Ok(BatchAnswer::new(self.custom_id.to_owned(), self.content_key, message, finish_reason, self.status))
    }
}

/// The most names of log formats and reasons; there are some dozens.
const MOST_NAMES: usize = 4096;

/// Returns a name for the rest of the process.
fn known_name(name: &str) -> std::result::Result<&'static str, String> {
    static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = names.get(name) {
        return Ok(known);
    }
    if names.len() == MOST_NAMES {
        return Err("it has too many names of log formats".to_owned());
    }
    let kept: &'static str = name.to_owned().leak();
    names.insert(kept);
    Ok(kept)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::any_row::rows_of;
    use crate::read::{FileFormat, Limits, read_blocks};
    use crate::reader_threads::ready;
    use crate::source::Ingest;

    /// Lines of every kind, as a file.
    fn log() -> String {
        let tool = json!({"type": "function", "function": {"name": "ring", "parameters": {}}});
        let user = json!([{"role": "user", "content": "Ring the bell, \u{1f514}!"}]);
        let request = json!({"messages": user, "tools": [tool], "created": 1_700_000_000});
        let batch = json!({"custom_id": "a", "method": "POST", "url": "/v1", "body": request});
        let message = json!({"role": "assistant", "content": "Done."});
        let response =
            json!({"status_code": 200, "body": {"choices": [{"message": message, "finish_reason": "stop"}]}});
        let answer = json!({"custom_id": "a", "response": response});
        [request.to_string(), batch.to_string(), answer.to_string(), "{oops".to_owned(), "\n\n{}".to_owned()]
            .join("\n")
    }

    fn ready_lines() -> Vec<Ready> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.jsonl");
        std::fs::write(&path, log()).unwrap();
        let (ingest, mut lines) = (Ingest::default(), Vec::new());
        read_blocks::<crate::read::ReadError>(
            &path,
            FileFormat::Jsonl,
            &Limits::default(),
            &mut |_| (),
            &mut |block| {
                lines.extend(rows_of(&block, &ingest.reading()).into_iter().map(|line| ready(7, line)));
                Ok(())
            },
        )
        .unwrap();
        lines
    }

    #[test]
    fn lines_of_every_kind_are_read_back_as_they_were() {
        let (folder, lines) = (tempfile::tempdir().unwrap(), ready_lines());
        let kinds: BTreeSet<&str> = lines
            .iter()
            .map(|line| match line.row {
                ReadyRow::Request(..) => "request",
                ReadyRow::Batch(..) => "batch",
                ReadyRow::Answer(..) => "answer",
                ReadyRow::Line(_) => "line",
            })
            .collect();
        assert_eq!(kinds.len(), 4, "{kinds:?}");
        let path = folder.path().join("lines");
        let mut file = LineFile::create(&path).unwrap();
        for line in &lines {
            file.add(line).unwrap();
        }
        assert_eq!(file.finish().unwrap(), 1);
        let mut read = Vec::new();
        read_frames(&path, |frame| {
            read.extend(lines_of(&frame).unwrap());
            true
        })
        .unwrap();
        let bytes = |lines: &[Ready]| -> Vec<Vec<u8>> {
            lines.iter().map(|line| postcard::to_allocvec(&stored(line)).unwrap()).collect()
        };
        assert_eq!(bytes(&read), bytes(&lines));
    }

    #[test]
    fn a_damaged_file_is_an_error_wherever_it_is_cut_or_changed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lines");
        let mut file = LineFile::create(&path).unwrap();
        for line in &ready_lines() {
            file.add(line).unwrap();
        }
        file.finish().unwrap();
        let whole = std::fs::read(&path).unwrap();
        let read = |bytes: &[u8]| -> std::result::Result<usize, String> {
            std::fs::write(&path, bytes).unwrap();
            let (mut n_lines, mut fault) = (0, None);
            read_frames(&path, |frame| match lines_of(&frame) {
                Ok(lines) => {
                    n_lines += lines.len();
                    true
                }
                Err(what) => {
                    fault = Some(what);
                    false
                }
            })
            .map_err(|error| error.to_string())?;
            fault.map_or(Ok(n_lines), Err)
        };
        let n_lines = read(&whole).unwrap();
        for end in 1..whole.len() {
            assert!(read(&whole[..end]).is_err(), "cut at {end}");
        }
        for at in 0..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 0x10;
            // Zstandard has no checksum here: the manifest of the part has one. A changed frame must only never panic.
            assert!(read(&changed).is_err() || n_lines > 0);
        }
    }
}
