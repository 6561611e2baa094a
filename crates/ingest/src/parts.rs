//! The inputs in parts that separate processes read.
//!
//! The bytes of all inputs, one after the other, are divided equally. A border inside a file of lines moves to the next line that
//! begins with a bracket; a file that cannot be read from the middle (compressed, a table, Parquet) belongs to the part in which it
//! begins. A process writes the lines of its part; the one that joins them takes all lines in order, as if it had read them itself, and
//! checks that the inputs still have the bytes that were read.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{SyncSender, sync_channel};

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::compression::Compression;
use crate::encoding::is_utf16;
use crate::input_files::{BytesRead, Extent, InputFiles, Taker};
use crate::known_lists::{KnownLists, SentList};
use crate::line_sink::LineSink;
use crate::read::FileFormat;
use crate::reader_threads::{Parsed, Promise, ReadFile, Ready, ReadyRow};
use crate::source::{Ingest, Reading};
use crate::stored_lines::{LineFile, lines_of, read_frames};
use callsieve_engine::columns::{LINE, RECORD};
use callsieve_engine::context::{Cancel, Context};
use callsieve_engine::error::{At as _, Error, Result, damaged};
use callsieve_engine::fingerprint::hex;
use callsieve_engine::manifest::InputFile;
use callsieve_engine::parts::{FinishedPart, RunPart};
use callsieve_engine::raw::{InputsRead, Intake, RequestRow, RowCells, SourcePlace};
use callsieve_system::side_file;

/// The bytes in which it is seen whether a file has lines.
const HEAD_BYTES: u64 = 1 << 20;
/// The bytes that are searched at a time for the next line.
const SEARCHED_BYTES: usize = 1 << 16;
/// The number of frames that may wait for the one that takes their lines.
const FRAMES_AHEAD: usize = 4;

/// What was read of an input.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct ExtentRead {
    /// Number of the input, from 0.
    file: u32,
    /// Its range of the bytes.
    bytes: Range<u64>,
    /// SHA-256 of that range.
    sha256: String,
    n_items: u64,
    by_record: bool,
}

/// What was read in a part.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct PartFacts {
    extents: Vec<ExtentRead>,
    n_frames: u64,
}

/// Reads a part of the inputs and writes its lines.
pub(super) fn read_part(ingest: &Ingest, part: RunPart, content: &Path, cx: &Context<'_>) -> Result<Value> {
    let extents = extents(&ingest.inputs, part)?;
    let of_extent = |extent: &Extent<'_>| match &extent.bytes {
        Some(bytes) => bytes.end - bytes.start,
        None => size(extent.path),
    };
    let (bytes_read, known_lists) =
        (BytesRead::of_bytes(extents.iter().map(of_extent).sum(), cx), KnownLists::default());
    let files = InputFiles { ingest, cx, bytes_read: &bytes_read, known_lists: &known_lists };
    let mut lines = PartLines {
        file: LineFile::create(content)?,
        known_lists: &known_lists,
        stored: FxHashSet::default(),
        cancel: cx.cancel,
    };
    let read = files.read(&extents, &mut lines)?;
    let n_frames = lines.file.finish()?;
    let of_read = |(extent, read): (&Extent<'_>, ReadFile)| ExtentRead {
        file: extent.file,
        bytes: extent.bytes.clone().unwrap_or(0..read.input.bytes),
        sha256: read.input.sha256,
        n_items: read.n_items,
        by_record: read.by_record,
    };
    let facts = PartFacts { extents: extents.iter().zip(read).map(of_read).collect(), n_frames };
    Ok(serde_json::to_value(facts).expect("facts are plain data"))
}

/// Writes the lines of a part. The text of a doc list is written once.
struct PartLines<'a> {
    file: LineFile,
    known_lists: &'a KnownLists,
    stored: FxHashSet<u128>,
    cancel: &'a dyn Cancel,
}

impl Taker for PartLines<'_> {
    fn take(&mut self, mut line: Ready) -> Result<()> {
        if self.cancel.is_cancelled() {
            return Err(Error::Interrupted);
        }
        let request = match &mut line.row {
            ReadyRow::Request(request, _) | ReadyRow::Batch(_, request) => Some(request),
            ReadyRow::Answer(..) | ReadyRow::Line(_) => None,
        };
        let key = request.map(|request| {
            let key = request.list.content_key;
            if !self.stored.insert(key) {
                request.list.cells = RowCells::default();
            }
            key
        });
        self.file.add(&line)?;
        if let (ReadyRow::Request(_, SentList::New { sent, outline }), Some(key)) = (line.row, key) {
            self.known_lists.add(sent, outline, key);
        }
        Ok(())
    }

    fn pass_over(&mut self, _n_lines: u64) {
        unreachable!("all lines of a part are wanted");
    }
}

fn size(path: &Path) -> u64 {
    path.metadata().map_or(0, |facts| facts.len())
}

/// Returns what a part reads, in the order of the inputs.
fn extents(inputs: &[PathBuf], part: RunPart) -> Result<Vec<Extent<'_>>> {
    let sizes: Vec<u64> = inputs.iter().map(|path| size(path)).collect();
    let own = part.range(sizes.iter().sum());
    let (mut extents, mut start) = (Vec::new(), 0);
    for ((file, path), n_bytes) in (0..).zip(inputs).zip(sizes) {
        let (of_file, begins_here) = (start..start + n_bytes, own.contains(&start));
        start = of_file.end;
        // At the end of all bytes there are only empty files.
        let is_of_last = part.is_last() && of_file.start >= own.end;
        if n_bytes == 0 || own.start <= of_file.start && of_file.end <= own.end {
            if begins_here || is_of_last {
                extents.push(Extent { file, path, bytes: None });
            }
            continue;
        }
        if own.end <= of_file.start || of_file.end <= own.start {
            continue;
        }
        if !has_lines(path).at("reading", path)? {
            if begins_here {
                extents.push(Extent { file, path, bytes: None });
            }
            continue;
        }
        let border = |at: u64| match at.checked_sub(of_file.start) {
            None | Some(0) => Ok(0),
            Some(at) if at >= n_bytes => Ok(n_bytes),
            Some(at) => next_line(path, at, n_bytes).at("reading", path),
        };
        let bytes = border(own.start)?..border(own.end)?;
        if !bytes.is_empty() {
            extents.push(Extent { file, path, bytes: Some(bytes) });
        }
    }
    Ok(extents)
}

/// Whether a file can be read from the middle: plain JSON lines in UTF-8.
fn has_lines(path: &Path) -> io::Result<bool> {
    if !matches!(Reading::of(path), Reading::Text(FileFormat::Jsonl)) {
        return Ok(false);
    }
    let mut head = Vec::new();
    side_file::open(path)?.take(HEAD_BYTES).read_to_end(&mut head)?;
    Ok(Compression::of(&head) == Compression::Plain && !is_utf16(&head) && head.contains(&b'\n'))
}

/// Returns where the next line begins, with a bracket, at or after a byte of a file; its end if no line does.
fn next_line(path: &Path, at: u64, n_bytes: u64) -> io::Result<u64> {
    let mut file = side_file::open(path)?;
    let mut start = at.saturating_sub(1);
    file.seek(SeekFrom::Start(start))?;
    let (mut buffer, mut was_line_end) = (vec![0; SEARCHED_BYTES], false);
    loop {
        let n = match file.read(&mut buffer) {
            Ok(0) => return Ok(n_bytes),
            Ok(n) => n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        for &byte in &buffer[..n] {
            if was_line_end && byte == b'{' {
                return Ok(start.min(n_bytes));
            }
            was_line_end = byte == b'\n';
            start += 1;
        }
    }
}

/// Passes on the lines of all parts.
pub(super) fn join_parts(
    ingest: &Ingest,
    parts: &[FinishedPart],
    into: &mut Intake,
    cx: &Context<'_>,
) -> Result<InputsRead> {
    let facts = parts.iter().map(facts_of).collect::<Result<Vec<PartFacts>>>()?;
    let of_inputs = extents_by_input(&ingest.inputs, &facts)?;
    let known_lists = KnownLists::default();
    let mut sink = LineSink::new(ingest, &known_lists, into, cx)?;
    let is_stopped = AtomicBool::new(false);
    let stopped = || is_stopped.load(std::sync::atomic::Ordering::Relaxed) || cx.cancelled();
    let inputs = std::thread::scope(|scope| {
        let inputs = scope.spawn(|| compared_inputs(&ingest.inputs, &of_inputs, &stopped));
        let mut n_before: FxHashMap<u32, u64> = FxHashMap::default();
        let taken = parts.iter().zip(&facts).try_for_each(|(part, facts)| {
            let taken = take_part(part, facts, &n_before, &mut sink, cx);
            for extent in &facts.extents {
                let n = n_before.entry(extent.file).or_default();
                *n = n.saturating_add(extent.n_items);
            }
            taken
        });
        if taken.is_err() {
            is_stopped.store(true, std::sync::atomic::Ordering::Relaxed);
        }
        let inputs = inputs.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        taken.and(inputs)
    })?;
    let file = |(input, extents): (InputFile, &Vec<&ExtentRead>)| ReadFile {
        input,
        n_items: extents.iter().fold(0, |n, extent| n.saturating_add(extent.n_items)),
        by_record: extents.iter().any(|extent| extent.by_record),
    };
    sink.finish(inputs.into_iter().zip(&of_inputs).map(file).collect())
}

fn facts_of(part: &FinishedPart) -> Result<PartFacts> {
    serde_json::from_value(part.facts.clone()).map_err(|error| damaged(&part.content, error.to_string()))
}

/// Returns the extents of each input, in order: together they are all of its bytes.
fn extents_by_input<'f>(inputs: &[PathBuf], parts: &'f [PartFacts]) -> Result<Vec<Vec<&'f ExtentRead>>> {
    let mut of_inputs: Vec<Vec<&ExtentRead>> = inputs.iter().map(|_| Vec::new()).collect();
    for extent in parts.iter().flat_map(|part| &part.extents) {
        let of_input = of_inputs.get_mut(extent.file as usize);
        of_input.ok_or_else(|| changed("an input", "the parts read more inputs"))?.push(extent);
    }
    for (path, extents) in inputs.iter().zip(&of_inputs) {
        let mut end = 0;
        for extent in extents {
            if extent.bytes.start != end {
                return Err(changed(&path.display().to_string(), "its parts have gaps or overlap"));
            }
            end = extent.bytes.end;
        }
        if extents.is_empty() || end != size(path) {
            return Err(changed(&path.display().to_string(), "it has another size than its parts"));
        }
    }
    Ok(of_inputs)
}

/// Returns the inputs with the hashes of their bytes, which are those that the parts read.
fn compared_inputs(
    inputs: &[PathBuf],
    of_inputs: &[Vec<&ExtentRead>],
    stopped: &(dyn Fn() -> bool + Sync),
) -> Result<Vec<InputFile>> {
    let compared = |(path, extents): (&PathBuf, &Vec<&ExtentRead>)| -> Result<InputFile> {
        let (mut file, mut whole, mut bytes) = (File::open(path).at("reading", path)?, Sha256::new(), 0);
        let mut buffer = vec![0; 1 << 20];
        for extent in extents {
            let (mut left, mut of_extent) = (extent.bytes.end - extent.bytes.start, Sha256::new());
            while left > 0 {
                if stopped() {
                    return Err(Error::Interrupted);
                }
                let n_most = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
                let n = file.read(&mut buffer[..n_most]).at("reading", path)?;
                if n == 0 {
                    break;
                }
                whole.update(&buffer[..n]);
                // The hash of a file that is one extent is that of the extent.
                if extents.len() > 1 {
                    of_extent.update(&buffer[..n]);
                }
                left -= n as u64;
            }
            bytes = extent.bytes.end - left;
            let found = if extents.len() > 1 { of_extent.finalize() } else { whole.clone().finalize() };
            if hex(&found) != extent.sha256 {
                let what = format!("bytes {} to {} are others", extent.bytes.start, extent.bytes.end);
                return Err(changed(&path.display().to_string(), &what));
            }
        }
        Ok(InputFile { path: path.display().to_string(), sha256: hex(&whole.finalize()), bytes })
    };
    inputs.par_iter().zip(of_inputs).map(compared).collect()
}

fn changed(input: &str, what: &str) -> Error {
    Error::Setting(format!(
        "{input}: it was changed since its parts were read: {what}\nhint: remove the folder parts/ of the run, and read all parts again"
    ))
}

/// Takes the lines of a part. Those of a file of which earlier parts read lines are numbered on.
fn take_part(
    part: &FinishedPart,
    facts: &PartFacts,
    n_before: &FxHashMap<u32, u64>,
    sink: &mut LineSink<'_, '_>,
    cx: &Context<'_>,
) -> Result<()> {
    let mut lists = ListTexts::default();
    let (frames_in, frames) = sync_channel::<Vec<u8>>(FRAMES_AHEAD);
    let (promises_in, promises) = sync_channel::<Promise>(FRAMES_AHEAD);
    let fault = std::sync::Mutex::new(None);
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let frames_in: SyncSender<Vec<u8>> = frames_in;
            read_frames(&part.content, |frame| frames_in.send(frame).is_ok())
        });
        scope.spawn(|| decode(frames, promises_in, &fault));
        let mut n_frames = 0;
        let taken = promises.into_iter().try_for_each(|promise| {
            // The sender is dropped where a frame is damaged, which is reported below.
            let Ok(Parsed::Lines(lines)) = promise.parsed.recv() else { return Err(Error::Interrupted) };
            n_frames += 1;
            for mut line in lines {
                if cx.cancelled() {
                    return Err(Error::Interrupted);
                }
                number_on(&mut line, n_before);
                lists.take(line, sink)?;
            }
            Ok(())
        });
        let read = reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        if let Some(what) = fault.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take() {
            return Err(damaged(&part.content, what));
        }
        taken?;
        if read? != n_frames || n_frames != facts.n_frames {
            return Err(damaged(
                &part.content,
                format!("expected {} frames, found {n_frames}", facts.n_frames),
            ));
        }
        Ok(())
    })
}

/// Decodes frames on all threads; what they hold is passed on in order.
#[allow(clippy::needless_pass_by_value)] // Dropping both ends is what stops the reader and ends the stream.
fn decode(
    frames: std::sync::mpsc::Receiver<Vec<u8>>,
    promises: SyncSender<Promise>,
    fault: &std::sync::Mutex<Option<String>>,
) {
    rayon::in_place_scope(|scope| {
        for frame in frames {
            let (keep, parsed) = sync_channel(1);
            if promises.send(Promise { parsed, n_bytes: 0 }).is_err() {
                return;
            }
            scope.spawn(move |_| match lines_of(&frame) {
                // The receiver has ended if it had an error, which it reports itself.
                Ok(lines) => drop(keep.send(Parsed::Lines(lines))),
                Err(what) => *fault.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(what),
            });
        }
    });
}

/// Adds the numbers of the lines before those of its part.
fn number_on(line: &mut Ready, n_before: &FxHashMap<u32, u64>) {
    let on = |place: &mut SourcePlace| {
        let n = n_before.get(&place.file).copied().unwrap_or_default();
        place.line = place.line.saturating_add(n);
        place.record = place.record.saturating_add(n);
        n
    };
    match &mut line.row {
        ReadyRow::Request(request, _) | ReadyRow::Batch(_, request) => {
            if on(&mut request.place) > 0 {
                let number = |number: u64| i64::try_from(number).ok();
                let SourcePlace { line, record, .. } = request.place;
                request.cells.set(LINE, number(line));
                request.cells.set(RECORD, number(record));
            }
        }
        ReadyRow::Answer(place, _) => drop(on(place)),
        ReadyRow::Line(row) => drop(on(&mut row.place)),
    }
}

/// The texts of doc lists of a part that the run has not stored, because the rows that brought them are not among its rows.
#[derive(Default)]
struct ListTexts(FxHashMap<u128, RowCells>);

impl ListTexts {
    fn take(&mut self, mut line: Ready, sink: &mut LineSink<'_, '_>) -> Result<()> {
        let request: Option<&mut Box<RequestRow>> = match &mut line.row {
            ReadyRow::Request(request, _) | ReadyRow::Batch(_, request) => Some(request),
            ReadyRow::Answer(..) | ReadyRow::Line(_) => None,
        };
        let Some(request) = request else { return sink.take(line) };
        let key = request.list.content_key;
        if sink.has_list(key) {
            self.0.remove(&key);
            return sink.take(line);
        }
        if request.list.cells.is_empty() {
            request.list.cells = self.0.get(&key).cloned().unwrap_or_default();
        } else {
            self.0.insert(key, request.list.cells.clone());
        }
        sink.take(line)?;
        if sink.has_list(key) {
            self.0.remove(&key);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(text: &str) -> RunPart {
        text.parse().unwrap()
    }

    /// Returns the text of each part of some files, by which all their bytes are read once.
    fn texts(files: &[(&str, &str)], of: u32) -> Vec<Vec<String>> {
        let folder = tempfile::tempdir().unwrap();
        let paths: Vec<PathBuf> = files.iter().map(|(name, _)| folder.path().join(name)).collect();
        for (path, (_, text)) in paths.iter().zip(files) {
            std::fs::write(path, text).unwrap();
        }
        let text = |extent: &Extent<'_>| {
            let text = std::fs::read_to_string(extent.path).unwrap();
            let range = extent.bytes.clone().map_or(0..text.len(), |bytes| {
                usize::try_from(bytes.start).unwrap()..usize::try_from(bytes.end).unwrap()
            });
            text[range].to_owned()
        };
        (1..=of)
            .map(|number| {
                let own = part(&format!("{number}/{of}"));
                extents(&paths, own).unwrap().iter().map(text).collect()
            })
            .collect()
    }

    #[test]
    fn borders_are_before_lines_that_begin_with_a_bracket() {
        let lines = "{\"a\":1}\n{\"b\":2}\n\n  {\"c\":3}\n{\"d\":4}\n";
        assert_eq!(
            texts(&[("log.jsonl", lines)], 2),
            [["{\"a\":1}\n{\"b\":2}\n\n  {\"c\":3}\n".to_owned()], ["{\"d\":4}\n".to_owned()]]
        );
    }

    #[test]
    fn every_byte_of_every_file_is_in_one_part_and_none_is_cut_that_cannot_be() {
        let lines: String = (0..40).map(|n| format!("{{\"n\": \"{}\"}}\n", "x".repeat(n % 7))).collect();
        let files = [
            ("empty.jsonl", ""),
            ("a.jsonl", lines.as_str()),
            ("table.csv", "query,functions\na,b\nc,d\n"),
            ("one-line.jsonl", "{\"only\": 1}"),
            ("array.json", "[{\"a\": 1},\n{\"b\": 2}]"),
            ("b.ndjson", lines.as_str()),
            ("last.jsonl", ""),
        ];
        let whole: Vec<&str> = files.iter().map(|(_, text)| *text).collect();
        for of in [1, 2, 3, 5, 17, 64, 400] {
            let parts = texts(&files, of);
            assert_eq!(parts.concat().concat(), whole.concat(), "{of} parts");
            let n_empty = parts.iter().flatten().filter(|text| text.is_empty()).count();
            assert_eq!(n_empty, 2, "{of} parts");
            for (name, text) in
                files.iter().filter(|(name, _)| !name.ends_with("son") && !name.ends_with("sonl"))
            {
                assert!(parts.iter().flatten().any(|read| read == text), "{name} is cut into {of} parts");
            }
        }
    }

    #[test]
    fn a_file_is_read_from_the_middle_only_where_its_lines_are_known() {
        let folder = tempfile::tempdir().unwrap();
        let has = |name: &str, bytes: &[u8]| {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            has_lines(&path).unwrap()
        };
        assert!(has("a.jsonl", b"{}\n{}\n") && has("b.ndjson", b"\xef\xbb\xbf{}\r\n{}\n"));
        assert!(!has("c.json", b"{}\n{}\n") && !has("d.csv", b"a\nb\n") && !has("e.jsonl", b"{}\r{}\r"));
        let utf16: Vec<u8> = "{\"a\": 1}\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert!(!has("f.jsonl", &utf16) && !has("g.jsonl", &[0x1f, 0x8b, b'\n']));
    }
}
