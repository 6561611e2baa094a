//! The entries of a folder in the order of their names, without the handle of the folder.
//!
//! Each `DirEntry` keeps its folder open, so a walk that holds them has an open file for every level.

use std::ffi::OsString;
use std::fs::FileType;
use std::io;
use std::path::Path;

/// An entry of a folder.
#[derive(Debug)]
pub struct FolderEntry {
    /// Its name in the folder.
    pub name: OsString,
    /// Its kind, from the list itself: of a folder that may be listed and not entered nothing else is known.
    pub kind: io::Result<FileType>,
}

impl FolderEntry {
    /// Whether its name begins with a dot.
    pub fn is_hidden(&self) -> bool {
        self.name.as_encoded_bytes().starts_with(b".")
    }
}

/// Returns the entries of a folder.
///
/// # Errors
/// The folder cannot be listed to its end.
pub fn entries(folder: &Path) -> io::Result<Vec<FolderEntry>> {
    let entry = |entry: io::Result<std::fs::DirEntry>| {
        entry.map(|entry| FolderEntry { name: entry.file_name(), kind: entry.file_type() })
    };
    let mut entries: Vec<FolderEntry> = folder.read_dir()?.map(entry).collect::<io::Result<_>>()?;
    entries.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(entries)
}
