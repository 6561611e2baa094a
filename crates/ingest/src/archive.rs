//! Recognises archives and files of spreadsheets by their first bytes, which would be read as unreadable lines.
//!
//! Compressed files are no archives: gzip and Zstandard are read, see `compression`. A tar archive in one of them is not
//! looked for.

use std::io::Read;

/// A kind of file that has to be unpacked or saved in another format first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Archive {
    /// ZIP.
    Zip,
    /// A workbook of Excel or `OpenDocument`.
    Spreadsheet,
    /// A workbook of old versions of Excel.
    OldSpreadsheet,
    /// TAR.
    Tar,
    /// XZ.
    Xz,
    /// BZIP2.
    Bzip2,
    /// 7z.
    SevenZip,
}

/// Where the magic bytes are, and what they mean.
const MAGIC: [(usize, &[u8], Archive); 7] = [
    (0, b"PK\x03\x04", Archive::Zip),
    (0, b"PK\x05\x06", Archive::Zip),
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", Archive::OldSpreadsheet),
    (257, b"ustar", Archive::Tar),
    (0, b"\xfd7zXZ\0", Archive::Xz),
    (4, b"1AY&SY", Archive::Bzip2),
    (0, b"7z\xbc\xaf\x27\x1c", Archive::SevenZip),
];

/// Names of members at the start of the archives that spreadsheet programs write.
const MEMBERS: [&[u8]; 4] =
    [b"[Content_Types].xml", b"xl/", b"_rels/.rels", b"mimetypeapplication/vnd.oasis"];

/// The bytes that are read: a header of tar.
const HEAD_BYTES: u64 = 512;

impl Archive {
    /// Returns what a file is by its first bytes; `None` for anything else, and for a file that cannot be read.
    pub fn of(file: impl Read) -> Option<Self> {
        let mut head = Vec::new();
        file.take(HEAD_BYTES).read_to_end(&mut head).ok()?;
        let is_at = |at: usize, bytes: &[u8]| head.get(at..).is_some_and(|rest| rest.starts_with(bytes));
        let (_, _, found) = MAGIC.into_iter().find(|(at, bytes, _)| is_at(*at, bytes))?;
        // The name of the first member follows its header of 30 bytes.
        let is_spreadsheet = found == Self::Zip && MEMBERS.iter().any(|name| is_at(30, name));
        Some(if is_spreadsheet { Self::Spreadsheet } else { found })
    }

    /// Returns the name with its article.
    pub fn name(self) -> &'static str {
        match self {
            Self::Zip => "a zip archive",
            Self::Spreadsheet => "a spreadsheet (a zip archive with tables)",
            Self::OldSpreadsheet => "an old file of Microsoft Office",
            Self::Tar => "a tar archive",
            Self::Xz => "compressed with xz",
            Self::Bzip2 => "compressed with bzip2",
            Self::SevenZip => "a 7z archive",
        }
    }

    /// Returns how to make a file that can be read.
    pub fn hint(self) -> &'static str {
        match self {
            Self::Spreadsheet | Self::OldSpreadsheet => {
                "save the table as CSV (UTF-8) in the spreadsheet program"
            }
            Self::Zip => "unpack it, such as with `unzip`, and name the files in it",
            Self::Tar => "unpack it, such as with `tar -xf`, and name the files in it",
            Self::SevenZip => "unpack it, such as with `7z x`, and name the files in it",
            Self::Xz => "unpack it, such as with `xz -dk`; gzip and Zstandard are read as they are",
            Self::Bzip2 => "unpack it, such as with `bzip2 -dk`; gzip and Zstandard are read as they are",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn archives_are_recognised_by_their_first_bytes() {
        let tar = [&[b'x'; 257][..], b"ustar\x0000"].concat();
        let zip = |name: &str| [b"PK\x03\x04", &[0; 26][..], name.as_bytes()].concat();
        for (head, expected) in [
            (zip("log.jsonl"), Some(Archive::Zip)),
            (zip("[Content_Types].xml"), Some(Archive::Spreadsheet)),
            (zip("mimetypeapplication/vnd.oasis.opendocument.spreadsheet"), Some(Archive::Spreadsheet)),
            (tar, Some(Archive::Tar)),
            (b"\xfd7zXZ\0\0".to_vec(), Some(Archive::Xz)),
            (b"BZh91AY&SY".to_vec(), Some(Archive::Bzip2)),
            (b"{\"query\": \"PK\"}".to_vec(), None),
            (b"\x1f\x8b\x08".to_vec(), None),
            (Vec::new(), None),
        ] {
            assert_eq!(Archive::of(&head[..]), expected, "{head:?}");
        }
    }
}
