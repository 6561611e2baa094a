//! A log file's bytes: read once, shown to the caller as stored, handed on decompressed.
//!
//! Compression is told by the first bytes, never by the name. Damage inside a
//! compressed file is a fault of the data; only a failing disk is an error, and
//! `RawText::is_disk_error` tells the two apart.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;

use crate::ingest::read::Compression;

const RAW_BUFFER_BYTES: usize = 256 * 1024;
const GZIP_MAGIC: &[u8] = &[0x1f, 0x8b];
const ZSTD_MAGIC: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

/// The text of a file as a reader.
pub(super) enum RawText<'a> {
    Plain(Raw<'a>),
    Gzip(Box<MultiGzDecoder<Raw<'a>>>),
    Zstd(zstd::stream::read::Decoder<'static, Raw<'a>>),
}

type Raw<'a> = BufReader<Watched<'a>>;

impl<'a> RawText<'a> {
    /// Opens a file, `-` being standard input; every byte read from it is shown to `on_bytes` once, in order.
    pub(super) fn open(path: &Path, on_bytes: &'a mut dyn FnMut(&[u8])) -> io::Result<Self> {
        let file: Box<dyn Read> =
            if path == Path::new("-") { Box::new(io::stdin().lock()) } else { Box::new(File::open(path)?) };
        let watched = Watched { file, on_bytes, n_bytes: 0, failed: false };
        let mut raw = BufReader::with_capacity(RAW_BUFFER_BYTES, watched);
        let magic = raw.fill_buf()?;
        Ok(if magic.starts_with(GZIP_MAGIC) {
            Self::Gzip(Box::new(MultiGzDecoder::new(raw)))
        } else if magic.starts_with(ZSTD_MAGIC) {
            Self::Zstd(zstd::stream::read::Decoder::with_buffer(raw)?)
        } else {
            Self::Plain(raw)
        })
    }

    pub(super) fn compression(&self) -> Compression {
        match self {
            Self::Plain(_) => Compression::Plain,
            Self::Gzip(_) => Compression::Gzip,
            Self::Zstd(_) => Compression::Zstd,
        }
    }

    /// Whether a failed read was the file's own failure and not damaged data.
    pub(super) fn is_disk_error(&mut self) -> bool {
        self.raw().get_ref().failed
    }

    /// Shows the caller what a decoder left unread and returns the size of the file in bytes.
    pub(super) fn drain(&mut self) -> io::Result<u64> {
        io::copy(self.raw(), &mut io::sink())?;
        Ok(self.raw().get_ref().n_bytes)
    }

    fn raw(&mut self) -> &mut Raw<'a> {
        match self {
            Self::Plain(raw) => raw,
            Self::Gzip(decoder) => decoder.get_mut(),
            Self::Zstd(decoder) => decoder.get_mut(),
        }
    }
}

impl Read for RawText<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(raw) => raw.read(into),
            Self::Gzip(decoder) => decoder.read(into),
            Self::Zstd(decoder) => decoder.read(into),
        }
    }
}

/// A file whose bytes someone else sees too (to hash them, or to move a progress bar).
pub(super) struct Watched<'a> {
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
