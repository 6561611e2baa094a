//! How files get onto disk: made new, written beside and renamed, synced where a crash must not bring the old ones back.
//!
//! No link is followed to write or remove. What holds text as it was logged is for its owner alone (on Unix; elsewhere
//! the folder's own rights hold).

use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::{At, Result, damaged};
use super::layout::beside;

/// Makes a new file in place of what has its name; a link there is replaced, not followed.
///
/// # Errors
/// The file cannot be made.
pub fn create(path: &Path) -> Result<File> {
    new_file(path, File::options().write(true).create_new(true))
}

/// The same, for a file that only its owner may read: it holds text as it was logged.
///
/// # Errors
/// The file cannot be made.
pub fn create_private(path: &Path) -> Result<File> {
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    new_file(path, &options)
}

fn new_file(path: &Path, options: &fs::OpenOptions) -> Result<File> {
    match options.open(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            fs::remove_file(path).at("replacing", path)?;
            options.open(path).at("making", path)
        }
        made => made.at("making", path),
    }
}

/// Takes all rights on a file or folder from everybody but its owner.
#[cfg(unix)]
pub(super) fn owner_only(path: &Path, mode: u32) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
#[allow(clippy::unnecessary_wraps)] // The same signature as on Unix.
pub(super) fn owner_only(_path: &Path, _mode: u32) -> std::io::Result<()> {
    Ok(())
}

/// Gives a file that was written beside its place its name, and makes sure that it is on disk: what it replaces
/// must not come back after a crash.
pub(crate) fn put_in_place(beside: &Path, path: &Path) -> Result<()> {
    File::open(beside).and_then(|file| file.sync_all()).at("writing", beside)?;
    fs::rename(beside, path).at("renaming", beside)?;
    path.parent().map_or(Ok(()), sync_folder)
}

/// Makes sure that renames and removals in a folder are on disk.
pub(super) fn sync_folder(folder: &Path) -> Result<()> {
    // Elsewhere a folder cannot be opened like a file; the system keeps its entries.
    if cfg!(unix) {
        // The folder of a bare file name.
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        File::open(folder).and_then(|folder| folder.sync_all()).at("writing", folder)?;
    }
    Ok(())
}

/// Writes a file beside its place and renames it.
///
/// # Errors
/// The file cannot be written or renamed.
pub fn write_atomic(path: &Path, bytes: &[u8]) -> Result<()> {
    let beside = beside(path);
    create(&beside)?.write_all(bytes).at("writing", &beside)?;
    fs::rename(&beside, path).at("renaming", &beside)
}

/// Writes a file like [`write_atomic`], and makes sure that it is on disk.
///
/// # Errors
/// The file cannot be written or renamed.
pub fn write_durable(path: &Path, bytes: &[u8]) -> Result<()> {
    let beside = beside(path);
    create(&beside)?.write_all(bytes).at("writing", &beside)?;
    put_in_place(&beside, path)
}

/// Copies a file to `target` by way of `beside`, and makes sure that the copy is on disk.
///
/// # Errors
/// A file cannot be read, written or renamed.
pub fn copy_durable(from: &Path, beside: &Path, target: &Path) -> Result<()> {
    let mut source = File::open(from).at("reading", from)?;
    let mut copy = create(beside)?;
    std::io::copy(&mut source, &mut copy).at("writing", beside)?;
    drop(copy);
    put_in_place(beside, target)
}

/// Writes a value as indented JSON with a final newline.
///
/// # Errors
/// The file cannot be written.
pub fn write_json<T: Serialize>(path: &Path, value: &T) -> Result<()> {
    let mut bytes = serde_json::to_vec_pretty(value).map_err(|error| damaged(path, error))?;
    bytes.push(b'\n');
    write_atomic(path, &bytes)
}

/// Reads a JSON file of the run folder.
///
/// # Errors
/// The file cannot be read or is not what it should be.
pub fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T> {
    let bytes = fs::read(path).at("reading", path)?;
    serde_json::from_slice(&bytes).map_err(|error| damaged(path, error))
}

/// Removes a file, a link (never what it leads to) or a folder with all that is in it, where there is one.
pub(super) fn remove(path: &Path) -> Result<()> {
    let removed = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => Err(error),
        // It follows no links on its way down.
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
    };
    removed.at("removing", path)
}

/// A link is there, wherever it leads.
pub(super) fn is_link(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink())
}

/// A file is there, and no link to one.
pub(super) fn is_regular(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_file())
}
