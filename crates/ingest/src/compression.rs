//! The compression of a file, detected by its first bytes.

/// The number of bytes that are read at a time.
pub(super) const RAW_BUFFER_BYTES: usize = 256 * 1024;
const GZIP_MAGIC: &[u8] = &[0x1f, 0x8b];
const ZSTD_MAGIC: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

/// The compression of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    /// Not compressed.
    Plain,
    /// gzip, of one member or several.
    Gzip,
    /// Zstandard, of one frame or several.
    Zstd,
}

impl Compression {
    /// Returns the compression of a file with these first bytes.
    pub(super) fn of(first_bytes: &[u8]) -> Self {
        if first_bytes.starts_with(GZIP_MAGIC) {
            Self::Gzip
        } else if first_bytes.starts_with(ZSTD_MAGIC) {
            Self::Zstd
        } else {
            Self::Plain
        }
    }
}
