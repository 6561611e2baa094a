//! How a file is stored, known by its first bytes.

/// Bytes of a file that are read at once.
pub(super) const RAW_BUFFER_BYTES: usize = 256 * 1024;
const GZIP_MAGIC: &[u8] = &[0x1f, 0x8b];
const ZSTD_MAGIC: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

/// How a file is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    /// As it is.
    Plain,
    /// gzip, of one member or several.
    Gzip,
    /// Zstandard, of one frame or several.
    Zstd,
}

impl Compression {
    /// How a file with these first bytes is stored.
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
