//! Reads the bytes of a log file: the caller receives them as stored, and the text decompressed and in UTF-8.
//!
//! Compression is detected by the first bytes, not by the name. Damage inside a compressed file is a fault of the data;
//! only a failing disk is an error, and `RawText::is_disk_error` distinguishes the two. `integrity` checks a compressed
//! file before it is read, because a checksum follows the data it protects: text of a corrupt member is not passed on.
//! `encoding` converts UTF-16.

use std::io::{self, BufRead, BufReader, Read, Seek as _, SeekFrom};
use std::ops::Range;
use std::path::Path;

use flate2::bufread::MultiGzDecoder;

use crate::compression::{Compression, RAW_BUFFER_BYTES};
use crate::encoding::Recoded;
use crate::integrity::{self, IntactText, MAX_WINDOW_LOG};
use crate::reasons::{CUT_FILE, ItemFault, WINDOW_TOO_LARGE};
use callsieve_system::side_file;

/// The text of a file as a reader.
pub(super) struct RawText<'a>(Recoded<Limited<'a>>);

impl<'a> RawText<'a> {
    /// Opens a file; `-` is standard input. Every byte read from it is passed to `on_bytes` once, in order.
    pub(super) fn open(
        path: &Path,
        intact: IntactText,
        on_bytes: &'a mut dyn FnMut(&[u8]),
    ) -> io::Result<Self> {
        let file: Box<dyn Read> = if path == Path::new("-") {
            Box::new(io::stdin().lock())
        } else {
            Box::new(side_file::open(path)?)
        };
        let watched = Watched { file, on_bytes, n_bytes: 0, failed: false };
        let mut raw = BufReader::with_capacity(RAW_BUFFER_BYTES, watched);
        let stored = match Compression::of(raw.fill_buf()?) {
            Compression::Plain => Stored::Plain(raw),
            Compression::Gzip => Stored::Gzip(Box::new(MultiGzDecoder::new(raw))),
            Compression::Zstd => {
                let mut decoder = zstd::stream::read::Decoder::with_buffer(raw)?;
                decoder.window_log_max(MAX_WINDOW_LOG)?;
                Stored::Zstd(decoder)
            }
        };
        Ok(Self(Recoded::new(Limited { stored, intact })))
    }

    /// Opens a range of the bytes of a plain file in UTF-8.
    pub(super) fn open_plain(
        path: &Path,
        range: Range<u64>,
        on_bytes: &'a mut dyn FnMut(&[u8]),
    ) -> io::Result<Self> {
        let mut file = side_file::open(path)?;
        file.seek(SeekFrom::Start(range.start))?;
        let file: Box<dyn Read> = Box::new(file.take(range.end.saturating_sub(range.start)));
        let watched = Watched { file, on_bytes, n_bytes: 0, failed: false };
        let stored = Stored::Plain(BufReader::with_capacity(RAW_BUFFER_BYTES, watched));
        Ok(Self(Recoded::plain(Limited { stored, intact: IntactText::default() })))
    }

    pub(super) fn compression(&self) -> Compression {
        match self.0.inner().stored {
            Stored::Plain(_) => Compression::Plain,
            Stored::Gzip(_) => Compression::Gzip,
            Stored::Zstd(_) => Compression::Zstd,
        }
    }

    /// Returns `true` if a read failed because of the disk, not because of damaged data.
    pub(super) fn is_disk_error(&mut self) -> bool {
        self.raw().get_ref().failed
    }

    /// Returns the fault of damaged data.
    pub(super) fn fault(error: &io::Error) -> ItemFault {
        let reason = if integrity::is_of_window(error) { WINDOW_TOO_LARGE } else { CUT_FILE };
        ItemFault::new(reason, integrity::description_of(error))
    }

    /// Passes some bytes that a decoder did not read to the caller. Returns their number; 0 at the end of the file.
    pub(super) fn skip_stored(&mut self) -> io::Result<usize> {
        let raw = self.raw();
        loop {
            match raw.fill_buf() {
                Ok(bytes) => {
                    let n = bytes.len();
                    raw.consume(n);
                    return Ok(n);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Returns the number of bytes that were read from the file, as they are stored.
    pub(super) fn n_stored(&mut self) -> u64 {
        self.raw().get_ref().n_bytes
    }

    fn raw(&mut self) -> &mut Raw<'a> {
        match &mut self.0.inner_mut().stored {
            Stored::Plain(raw) => raw,
            Stored::Gzip(decoder) => decoder.get_mut(),
            Stored::Zstd(decoder) => decoder.get_mut(),
        }
    }
}

impl Read for RawText<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.0.read(into)
    }
}

type Raw<'a> = BufReader<Watched<'a>>;

/// The decoder of a file.
enum Stored<'a> {
    Plain(Raw<'a>),
    Gzip(Box<MultiGzDecoder<Raw<'a>>>),
    Zstd(zstd::stream::read::Decoder<'static, Raw<'a>>),
}

/// The decoded text, limited to its intact part.
struct Limited<'a> {
    stored: Stored<'a>,
    intact: IntactText,
}

impl Read for Limited<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let n_most = self.intact.allow(into.len())?;
        let into = &mut into[..n_most];
        let read = match &mut self.stored {
            Stored::Plain(raw) => raw.read(into),
            Stored::Gzip(decoder) => decoder.read(into),
            Stored::Zstd(decoder) => decoder.read(into),
        };
        if let Ok(n) = read {
            self.intact.took(n);
        }
        read
    }
}

/// A file whose bytes are also passed to an observer, for hashing or progress.
struct Watched<'a> {
    file: Box<dyn Read>,
    on_bytes: &'a mut dyn FnMut(&[u8]),
    n_bytes: u64,
    failed: bool,
}

impl Read for Watched<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(into);
        match &read {
            Ok(n) => {
                (self.on_bytes)(&into[..*n]);
                self.n_bytes += *n as u64; // usize is at most 64 bits wide
            }
            Err(error) => self.failed = error.kind() != io::ErrorKind::Interrupted,
        }
        read
    }
}
