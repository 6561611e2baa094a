//! Checks how much of a compressed file is intact, by decompressing it once without keeping the text.
//!
//! A flipped bit is detected only by the checksum at the end of a gzip member or zstd frame, after its text was passed
//! on. So the whole file is checked first, and only the text of intact members (or frames) is passed on. A file that
//! only ends too early is different: its text up to the end is correct. The alternative, to hold the text of a member
//! until its end, does not work: a member may be larger than the memory.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, ErrorKind, Read, Seek as _};
use std::path::Path;

use flate2::bufread::GzDecoder;

use crate::compression::{Compression, RAW_BUFFER_BYTES};

/// The largest supported window of a zstd frame, as a power of two; the window is held in memory.
pub(super) const MAX_WINDOW_LOG: u32 = 29;

/// The extent of the intact text of a file.
#[derive(Debug, Default)]
pub(super) struct IntactText {
    /// The bytes of text before the damage, and a description of it; `None` if there is none.
    damage: Option<(u64, String)>,
}

impl IntactText {
    /// Returns how many of `n_bytes` may be read; an error at the damage.
    pub(super) fn allow(&self, n_bytes: usize) -> io::Result<usize> {
        match &self.damage {
            None => Ok(n_bytes),
            Some((0, what)) => Err(io::Error::new(ErrorKind::InvalidData, what.clone())),
            Some((left, _)) => Ok(usize::try_from(*left).map_or(n_bytes, |left| left.min(n_bytes))),
        }
    }

    /// Subtracts bytes that were read.
    pub(super) fn took(&mut self, n_bytes: usize) {
        if let Some((left, _)) = &mut self.damage {
            *left = left.saturating_sub(n_bytes as u64); // usize is at most 64 bits wide
        }
    }
}

/// Decompresses a file to find how much of it is intact; `None` if cancelled. Inputs that can be read only once are not
/// checked.
pub(super) fn check(path: &Path, cancelled: &dyn Fn() -> bool) -> io::Result<Option<IntactText>> {
    if !path.is_file() {
        return Ok(Some(IntactText::default()));
    }
    let file = File::open(path)?;
    let n_bytes = file.metadata()?.len();
    let mut raw = BufReader::with_capacity(RAW_BUFFER_BYTES, file);
    let compression = Compression::of(raw.fill_buf()?);
    let (mut n_text, mut buffer) = (0, vec![0; RAW_BUFFER_BYTES]);
    loop {
        let start = raw.stream_position()?;
        let decoded = match compression {
            Compression::Plain => return Ok(Some(IntactText::default())),
            Compression::Gzip => decoded(GzDecoder::new(&mut raw), &mut buffer, cancelled),
            Compression::Zstd => {
                zstd::stream::read::Decoder::with_buffer(&mut raw).and_then(|mut decoder| {
                    decoder.window_log_max(MAX_WINDOW_LOG)?;
                    decoded(decoder.single_frame(), &mut buffer, cancelled)
                })
            }
        };
        match decoded {
            Ok(Some(n)) => n_text += n,
            Ok(None) => return Ok(None),
            // Reported when it is read: up to its end the text is correct.
            Err(error) if error.kind() == ErrorKind::UnexpectedEof || is_of_window(&error) => {
                return Ok(Some(IntactText::default()));
            }
            Err(error) => {
                let what = format!("{error}: {start} of {n_bytes} bytes are sound");
                return Ok(Some(IntactText { damage: Some((n_text, what)) }));
            }
        }
        if raw.fill_buf()?.is_empty() {
            return Ok(Some(IntactText::default()));
        }
    }
}

/// Returns the bytes of text in one member; `None` if cancelled.
fn decoded(
    mut member: impl Read,
    buffer: &mut [u8],
    cancelled: &dyn Fn() -> bool,
) -> io::Result<Option<u64>> {
    let mut n_text = 0;
    loop {
        if cancelled() {
            return Ok(None);
        }
        match member.read(buffer) {
            Ok(0) => return Ok(Some(n_text)),
            Ok(n) => n_text += n as u64, // usize is at most 64 bits wide
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Returns `true` if a zstd frame needs a larger window than supported.
pub(super) fn is_of_window(error: &io::Error) -> bool {
    // The library reports this error only by these words.
    error.to_string().contains("requires too much memory")
}

/// Returns the description of a damaged file.
pub(super) fn description_of(error: &io::Error) -> String {
    if is_of_window(error) {
        return format!(
            "it needs a window of more than {} MiB; `zstd --long={MAX_WINDOW_LOG}` writes a supported one",
            1 << (MAX_WINDOW_LOG - 20)
        );
    }
    error.to_string()
}
