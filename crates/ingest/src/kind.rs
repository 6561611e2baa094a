//! Refuses rows in a file of an unknown kind: another ending than those that are read, and text that is no JSON.
//!
//! A log may have any ending, because a line without a request is only counted. Where every item becomes a row, words
//! would become rows. It also finds Parquet in a file that would be read as text. `.txt` is read by `read`: a line a text, or JSON.

use std::io::Read as _;
use std::path::Path;

use crate::compression::Compression;
use crate::integrity::IntactText;
use crate::raw::RawText;
use crate::read::{ReadError, ending};

/// Endings of files whose kind is known, without that of a compression.
const KNOWN: [&str; 7] = ["jsonl", "ndjson", "json", "csv", "tsv", "txt", "parquet"];
/// Bytes in which the first character is looked for.
const PEEK_BYTES: u64 = 64 << 10;

/// The first bytes of a Parquet file.
const PARQUET_MAGIC: &[u8] = b"PAR1";

/// Returns the compression of a file that holds Parquet; `None` for anything else, and for a file that cannot be read.
pub fn compression_of_parquet(path: &Path) -> Option<Compression> {
    let mut ignore = |_: &[u8]| {};
    let mut raw = RawText::open(path, IntactText::default(), &mut ignore).ok()?;
    let mut head = [0; PARQUET_MAGIC.len()];
    raw.read_exact(&mut head).ok()?;
    (head == PARQUET_MAGIC).then(|| raw.compression())
}

/// Checks that the items of a file can be rows.
///
/// # Errors
/// The file has none of the known endings, and its text does not begin with a bracket of JSON; or it cannot be read.
pub fn check_kind(path: &Path) -> Result<(), ReadError> {
    let ending = ending(path);
    // A pipe is read once.
    if ending.as_deref().is_some_and(|ending| KNOWN.contains(&ending)) || !path.is_file() {
        return Ok(());
    }
    let mut ignore = |_: &[u8]| {};
    let raw = RawText::open(path, IntactText::default(), &mut ignore)
        .map_err(|cause| ReadError::Open { path: path.to_owned(), cause })?;
    let mut text = Vec::new();
    // Damage of a compressed file is reported by its reader.
    let _ = raw.take(PEEK_BYTES).read_to_end(&mut text);
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&text).trim_ascii_start();
    match text.first() {
        None | Some(b'{' | b'[') => Ok(()),
        Some(_) => Err(ReadError::UnknownKind { path: path.to_owned(), ending }),
    }
}
