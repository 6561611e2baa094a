//! Writes files: under a temporary name and renamed, synced where a crash must not restore the old version.
//!
//! Writing and removing never follow symbolic links. Only the owner can read files with raw log text (on Unix; on other
//! systems the permissions of the folder apply).

use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::{At, Result, damaged};
use super::layout::{temporary_output, temporary_path};

/// Creates a file, and replaces an existing one; a link is replaced, not followed.
///
/// # Errors
/// The file cannot be created.
pub fn create(path: &Path) -> Result<File> {
    new_file(path, File::options().write(true).create_new(true))
}

/// Creates a file like [`create`] that only its owner may read, because it holds raw log text.
///
/// # Errors
/// The file cannot be created.
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

/// Removes all permissions on a file or folder for everybody except its owner.
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

/// Syncs and renames a file that was written under a temporary name, so that the file it replaces cannot come back
/// after a crash.
///
/// # Errors
/// The file cannot be synced or renamed.
pub fn put_in_place(temporary: &Path, path: &Path) -> Result<()> {
    File::open(temporary).and_then(|file| file.sync_all()).at("writing", temporary)?;
    fs::rename(temporary, path).at("renaming", temporary)?;
    path.parent().map_or(Ok(()), sync_folder)
}

/// Syncs the renames and removals in a folder to disk.
pub(super) fn sync_folder(folder: &Path) -> Result<()> {
    // On other systems a folder cannot be opened like a file; the system syncs its entries.
    if cfg!(unix) {
        // The folder of a bare file name.
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        File::open(folder).and_then(|folder| folder.sync_all()).at("writing", folder)?;
    }
    Ok(())
}

/// Writes a file under a temporary name and renames it.
///
/// # Errors
/// The file cannot be written or renamed.
pub fn write_atomic(path: &Path, bytes: &[u8]) -> Result<()> {
    let temporary = temporary_path(path);
    create(&temporary)?.write_all(bytes).at("writing", &temporary)?;
    fs::rename(&temporary, path).at("renaming", &temporary)
}

/// Writes an output that a person names: a regular file like [`write_atomic`], also at the end of a link; a device or a pipe
/// is written to, and never replaced.
///
/// # Errors
/// The file cannot be written or renamed.
pub fn write_output(path: &Path, bytes: &[u8]) -> Result<()> {
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if fs::metadata(&target).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
        return File::options()
            .write(true)
            .open(&target)
            .and_then(|mut file| file.write_all(bytes))
            .at("writing", path);
    }
    let temporary = temporary_output(&target);
    let written = create(&temporary)
        .and_then(|mut file| file.write_all(bytes).at("writing", path))
        .and_then(|()| fs::rename(&temporary, &target).at("renaming", path));
    if written.is_err() {
        // It may not be there.
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// Writes a file like [`write_atomic`], and syncs it to disk.
///
/// # Errors
/// The file cannot be written or renamed.
pub fn write_durable(path: &Path, bytes: &[u8]) -> Result<()> {
    let temporary = temporary_path(path);
    create(&temporary)?.write_all(bytes).at("writing", &temporary)?;
    put_in_place(&temporary, path)
}

/// Copies a file to the temporary path `temporary`, renames it to `target` and syncs it to disk.
///
/// # Errors
/// A file cannot be read, written or renamed.
pub fn copy_durable(from: &Path, temporary: &Path, target: &Path) -> Result<()> {
    let mut source = File::open(from).at("reading", from)?;
    let mut copy = create(temporary)?;
    std::io::copy(&mut source, &mut copy).at("writing", temporary)?;
    drop(copy);
    put_in_place(temporary, target)
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
/// The file cannot be read, or its content is not as expected.
pub fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T> {
    let bytes = fs::read(path).at("reading", path)?;
    serde_json::from_slice(&bytes).map_err(|error| damaged(path, error))
}

/// Removes a file, a link (not its target) or a folder with its content, if it exists.
pub(super) fn remove(path: &Path) -> Result<()> {
    let removed = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => Err(error),
        // It does not follow links.
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
    };
    removed.at("removing", path)
}

/// Refuses a file in a folder that only another user may open: it must not count as missing.
///
/// # Errors
/// The path cannot be read.
pub fn check_access(path: &Path) -> Result<()> {
    match path.symlink_metadata() {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => Err(error).at("opening", path),
        _ => Ok(()),
    }
}

/// Returns `true` if the path is a symbolic link.
pub(super) fn is_link(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink())
}

/// Returns `true` if the path is a regular file, not a link.
pub(super) fn is_regular(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_file())
}
