//! How much of a compressed file can be trusted: found out by decompressing it once, keeping nothing.
//!
//! A flipped bit shows in the checksum at the end of a gzip member or of a zstd frame, when its text has long been
//! handed on. So the whole file is checked first, and text is handed on as far as whole members (or frames) are sound.
//! A file that only ends too early is another matter: what stands before its end is right. The road not taken is to
//! hold the text of a member until its end: a member may be larger than any memory.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, ErrorKind, Read, Seek as _};
use std::path::Path;

use flate2::bufread::GzDecoder;

use crate::ingest::compression::{Compression, RAW_BUFFER_BYTES};

/// The largest window of a zstd frame that is read, as a power of two: a window is held in memory.
pub(super) const MAX_WINDOW_LOG: u32 = 29;

/// How far a text is sound.
#[derive(Debug, Default)]
pub(super) struct Soundness {
    /// Bytes of text up to the damage, and what that is; `None` where there is none.
    damage: Option<(u64, String)>,
}

impl Soundness {
    /// How many bytes may be read; an error where the damage begins.
    pub(super) fn allow(&self, n_bytes: usize) -> io::Result<usize> {
        match &self.damage {
            None => Ok(n_bytes),
            Some((0, what)) => Err(io::Error::new(ErrorKind::InvalidData, what.clone())),
            Some((left, _)) => Ok(usize::try_from(*left).map_or(n_bytes, |left| left.min(n_bytes))),
        }
    }

    /// Counts bytes that were read.
    pub(super) fn took(&mut self, n_bytes: usize) {
        if let Some((left, _)) = &mut self.damage {
            *left = left.saturating_sub(n_bytes as u64); // usize is at most 64 bits wide
        }
    }
}

/// Decompresses a file to see how much of it is sound; `None` where that was called off. What can be read only once is
/// not checked.
pub(super) fn check(path: &Path, cancelled: &dyn Fn() -> bool) -> io::Result<Option<Soundness>> {
    if !path.is_file() {
        return Ok(Some(Soundness::default()));
    }
    let file = File::open(path)?;
    let n_bytes = file.metadata()?.len();
    let mut raw = BufReader::with_capacity(RAW_BUFFER_BYTES, file);
    let compression = Compression::of(raw.fill_buf()?);
    let (mut n_text, mut buffer) = (0, vec![0; RAW_BUFFER_BYTES]);
    loop {
        let start = raw.stream_position()?;
        let decoded = match compression {
            Compression::Plain => return Ok(Some(Soundness::default())),
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
            // Told where it is read: up to its end the text is right.
            Err(error) if error.kind() == ErrorKind::UnexpectedEof || is_of_window(&error) => {
                return Ok(Some(Soundness::default()));
            }
            Err(error) => {
                let what = format!("{error}: {start} of {n_bytes} bytes are sound");
                return Ok(Some(Soundness { damage: Some((n_text, what)) }));
            }
        }
        if raw.fill_buf()?.is_empty() {
            return Ok(Some(Soundness::default()));
        }
    }
}

/// Bytes of text in one member; `None` where that was called off.
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

/// Whether a zstd frame needs a larger window than is read.
pub(super) fn is_of_window(error: &io::Error) -> bool {
    // The library tells its faults by these words alone.
    error.to_string().contains("requires too much memory")
}

/// What is wrong with a file, for people.
pub(super) fn told(error: &io::Error) -> String {
    if is_of_window(error) {
        return format!(
            "it needs a window of more than {} MiB; `zstd --long={MAX_WINDOW_LOG}` writes one that is read",
            1 << (MAX_WINDOW_LOG - 20)
        );
    }
    error.to_string()
}
