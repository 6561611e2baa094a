//! Checksums of the files of a run.
//!
//! A manifest names each file of its step with length and xxh3-128, and holds a checksum of itself, so a flipped bit in
//! either is found. Files are hashed when their step ends, in the same pass that syncs them to disk. While a finished
//! file is being replaced, its manifest holds both the old and the new checksum, so that an interrupted call never
//! looks like damage. The checksums find accidents; they do not protect against tampering.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use super::disk::{read_json, sync_folder, write_durable};
use super::error::{At, Error, Result, damaged};
use super::layout::MANIFEST;

/// Number of bytes that are read at a time.
const BUFFER: usize = 1 << 18;

/// The keys that a seal adds to a manifest.
const FILES: &str = "files";
const REWRITING: &str = "rewriting";
const CHECKSUM: &str = "checksum";

/// Length and xxh3-128 of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileSum {
    /// Its size.
    pub bytes: u64,
    /// 32 hex digits.
    pub xxh3: String,
}

impl FileSum {
    /// Reads a file once.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn of(path: &Path) -> Result<Self> {
        Self::read(&File::open(path).at("reading", path)?, path)
    }

    /// Reads a file like [`of`](Self::of), and syncs it to disk.
    ///
    /// # Errors
    /// It cannot be read or synced.
    pub fn of_synced(path: &Path) -> Result<Self> {
        let file = File::open(path).at("reading", path)?;
        let sum = Self::read(&file, path)?;
        file.sync_all().at("writing", path)?;
        Ok(sum)
    }

    /// Returns the checksum of bytes that will be written to a file.
    pub fn of_bytes(bytes: &[u8]) -> Self {
        Self { bytes: bytes.len() as u64, xxh3: digits(xxh3_128(bytes)) }
    }

    fn read(mut file: &File, path: &Path) -> Result<Self> {
        let mut hasher = Xxh3::new();
        let mut buffer = vec![0; BUFFER];
        let mut bytes = 0;
        loop {
            match file.read(&mut buffer).at("reading", path)? {
                0 => return Ok(Self { bytes, xxh3: digits(hasher.digest128()) }),
                n => {
                    hasher.update(&buffer[..n]);
                    bytes += n as u64;
                }
            }
        }
    }
}

fn digits(hash: u128) -> String {
    format!("{hash:032x}")
}

/// The files of a step or of a whole run, by their path in its folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Files {
    sums: BTreeMap<String, FileSum>,
    /// The new checksums of files that are being replaced.
    rewriting: BTreeMap<String, FileSum>,
}

/// A fault of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SealFault {
    /// Its path in the checked folder.
    pub file: String,
    /// What kind of fault.
    pub fault: SealFaultKind,
    /// What was found.
    pub detail: String,
}

/// Kinds of faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SealFaultKind {
    /// It was changed after it was written.
    Damaged,
    /// It does not exist.
    Missing,
    /// callsieve did not write it.
    Unexpected,
    /// A command that changes it was interrupted.
    Unfinished,
}

impl SealFaultKind {
    /// Returns the word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Damaged => "damaged",
            Self::Missing => "missing",
            Self::Unexpected => "unexpected",
            Self::Unfinished => "unfinished",
        }
    }
}

impl SealFault {
    /// Returns a fault of a file.
    pub fn new(file: impl Into<String>, fault: SealFaultKind, detail: impl Into<String>) -> Self {
        Self { file: file.into(), fault, detail: detail.into() }
    }

    /// Returns the fault with its path relative to the parent of `folder`.
    #[must_use]
    pub fn below(self, folder: &str) -> Self {
        Self { file: format!("{folder}/{}", self.file), ..self }
    }
}

impl Files {
    /// Computes the checksums of all files in a folder that was just written, with its subfolders, and syncs the files
    /// to disk. The folder's own entries are not synced, because a manifest follows.
    ///
    /// # Errors
    /// A file cannot be read or synced.
    pub(super) fn of_folder(folder: &Path) -> Result<Self> {
        let mut files = Self::default();
        let (names, folders) = names_below(folder)?;
        for name in names {
            let sum = FileSum::of_synced(&folder.join(&name))?;
            files.sums.insert(name, sum);
        }
        folders.iter().try_for_each(|below| sync_folder(&folder.join(below)))?;
        Ok(files)
    }

    /// Computes and syncs like [`of_folder`](Self::of_folder) for some files of a folder, several at a time. Missing
    /// files are skipped.
    ///
    /// # Errors
    /// As [`Files::of_folder`].
    pub(super) fn of_names(folder: &Path, names: Vec<String>) -> Result<Self> {
        let is_there = |name: &String| folder.join(name).is_file();
        let sum = |name: String| FileSum::of_synced(&folder.join(&name)).map(|sum| (name, sum));
        let sums = names.into_par_iter().filter(is_there).map(sum).collect::<Result<_>>()?;
        Ok(Self { sums, rewriting: BTreeMap::new() })
    }

    /// Adds a file.
    pub fn insert(&mut self, name: String, sum: FileSum) {
        self.sums.insert(name, sum);
    }

    /// Returns the recorded checksum of a file.
    pub fn get(&self, name: &str) -> Option<&FileSum> {
        self.sums.get(name)
    }

    /// Returns the names of the files, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.sums.keys().map(String::as_str)
    }

    /// Returns the total length of all files.
    pub fn bytes(&self) -> u64 {
        self.sums.values().map(|sum| sum.bytes).sum()
    }

    /// Keeps only the files whose name is wanted.
    #[must_use]
    pub fn only(mut self, is_wanted: impl Fn(&str) -> bool) -> Self {
        self.sums.retain(|name, _| is_wanted(name));
        self
    }

    /// Returns `true` if some files were being replaced when a call was interrupted.
    pub fn is_rewriting(&self) -> bool {
        !self.rewriting.is_empty()
    }

    /// Records the new checksum of a file; until [`Files::settle`] both the old and the new file are valid.
    pub fn becomes(&mut self, name: &str, sum: FileSum) {
        self.rewriting.insert(name.to_owned(), sum);
    }

    /// Keeps, of each two checksums, the one that matches the file.
    ///
    /// # Errors
    /// Neither matches, or the file cannot be read.
    pub fn settle(&mut self, folder: &Path) -> Result<()> {
        for (name, new) in std::mem::take(&mut self.rewriting) {
            let path = folder.join(&name);
            let found = FileSum::of(&path)?;
            if found == new {
                self.sums.insert(name, new);
            } else if self.sums.get(&name) != Some(&found) {
                return Err(damaged(&path, DIFFERS));
            }
        }
        Ok(())
    }

    /// Returns the faults of the files; each file is read once.
    pub fn faults(&self, folder: &Path) -> Vec<SealFault> {
        let faults = self.sums.par_iter().filter_map(|(name, sum)| {
            let either = [Some(sum), self.rewriting.get(name)];
            let (kind, detail) = fault_of(&folder.join(name), either)?;
            Some(SealFault::new(name.clone(), kind, detail))
        });
        faults.collect()
    }

    /// Returns the files in a folder that are not among these, except its manifest.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub(super) fn unexpected(&self, folder: &Path) -> Result<Vec<SealFault>> {
        let (names, _) = names_below(folder)?;
        let is_new = |name: &String| !self.sums.contains_key(name) && name != MANIFEST;
        Ok(names.into_iter().filter(is_new).map(unexpected).collect())
    }
}

const DIFFERS: &str = "the checksum differs";

/// Returns the fault of a foreign file, or of a temporary file of an interrupted command.
pub(super) fn unexpected(name: String) -> SealFault {
    let is_partial = name.split('/').any(|part| part.ends_with(".partial"));
    let detail = if is_partial { "an interrupted command left it" } else { "callsieve did not write it" };
    SealFault::new(name, SealFaultKind::Unexpected, detail)
}

fn fault_of(path: &Path, sums: [Option<&FileSum>; 2]) -> Option<(SealFaultKind, String)> {
    let found = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Some((SealFaultKind::Missing, "there is no such file".to_owned()));
        }
        Ok(found) if !found.is_file() => {
            return Some((SealFaultKind::Damaged, "not a regular file".to_owned()));
        }
        found => found,
    };
    let mut sums = sums.into_iter().flatten();
    let found = found.at("reading", path).and_then(|found| {
        // A file of another length is not read.
        let is_as_long = sums.clone().any(|sum| sum.bytes == found.len());
        if is_as_long { FileSum::of(path).map(Ok) } else { Ok(Err(found.len())) }
    });
    let what = match found {
        Ok(Ok(found)) if sums.any(|sum| *sum == found) => return None,
        Ok(Ok(_)) => DIFFERS.to_owned(),
        Ok(Err(bytes)) => format!("expected {} bytes, found {bytes}", sums.next()?.bytes),
        Err(Error::File { cause, .. }) => format!("cannot be read: {cause}"),
        Err(error) => error.to_string(),
    };
    Some((SealFaultKind::Damaged, what))
}

/// Returns the files below a folder with `/` in their names, and the folders, both in order. Links count as files.
///
/// # Errors
/// A folder cannot be read.
pub fn names_below(folder: &Path) -> Result<(Vec<String>, Vec<String>)> {
    let (mut names, mut folders) = (Vec::new(), Vec::new());
    let mut open = vec![PathBuf::new()];
    while let Some(below) = open.pop() {
        let at = folder.join(&below);
        for entry in fs::read_dir(&at).at("reading", &at)? {
            let entry = entry.at("reading", &at)?;
            let path = below.join(entry.file_name());
            let parts: Vec<_> = path.iter().map(std::ffi::OsStr::to_string_lossy).collect();
            let name = parts.join("/");
            if entry.file_type().at("reading", &at)?.is_dir() {
                folders.push(name);
                open.push(path);
            } else {
                names.push(name);
            }
        }
    }
    names.sort();
    folders.sort();
    Ok((names, folders))
}

/// A manifest as it was read, with the checksums of the files of its step.
#[derive(Debug)]
pub struct Sealed<M> {
    /// Its content.
    pub value: M,
    /// The files of its step.
    pub files: Files,
    /// It holds a valid checksum of itself. Early builds wrote none.
    pub is_sealed: bool,
}

/// Writes a manifest with the checksums of its files and its own, and syncs it to disk.
///
/// # Errors
/// The file cannot be written.
pub fn write_sealed<M: Serialize>(path: &Path, value: &M, files: &Files) -> Result<()> {
    let fault = |error: serde_json::Error| damaged(path, error);
    let Value::Object(mut object) = serde_json::to_value(value).map_err(fault)? else {
        return Err(damaged(path, "a manifest is a JSON object"));
    };
    for (key, sums) in [(FILES, &files.sums), (REWRITING, &files.rewriting)] {
        if !sums.is_empty() {
            object.insert(key.to_owned(), serde_json::to_value(sums).map_err(fault)?);
        }
    }
    object.insert(CHECKSUM.to_owned(), checksum(&object).into());
    let mut bytes = serde_json::to_vec_pretty(&object).map_err(fault)?;
    bytes.push(b'\n');
    write_durable(path, &bytes)
}

/// Reads a manifest back.
///
/// # Errors
/// It cannot be read, or was changed after it was written.
pub fn read_sealed<M: DeserializeOwned>(path: &Path) -> Result<Sealed<M>> {
    if path.is_dir() {
        return Err(damaged(path, "it is a folder"));
    }
    let mut object: Map<String, Value> = read_json(path)?;
    let sum = object.shift_remove(CHECKSUM);
    if sum.as_ref().is_some_and(|sum| *sum != checksum(&object)) {
        return Err(damaged(path, DIFFERS));
    }
    let fault = |error: serde_json::Error| damaged(path, error);
    let [sums, rewriting] = [FILES, REWRITING].map(|key| match object.shift_remove(key) {
        Some(sums) => serde_json::from_value(sums).map_err(fault),
        None => Ok(BTreeMap::new()),
    });
    let files = Files { sums: sums?, rewriting: rewriting? };
    let value = serde_json::from_value(Value::Object(object)).map_err(fault)?;
    Ok(Sealed { value, files, is_sealed: sum.is_some() })
}

/// Returns the checksum of a manifest without its checksum field; whitespace makes no difference.
fn checksum(object: &Map<String, Value>) -> String {
    let text = serde_json::to_string(object).expect("a JSON object is text");
    digits(xxh3_128(text.as_bytes()))
}

#[cfg(test)]
#[allow(clippy::disallowed_methods)] // Tests damage files.
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_flipped_bit_of_a_manifest_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(MANIFEST);
        let value = json!({"key": "ab", "seconds": 0.1, "counts": [1, 2.50, 1e-7], "notes": {"é": null}});
        let mut files = Files::default();
        files.insert("columns.parquet".to_owned(), FileSum::of_bytes(b"abc"));
        write_sealed(&path, &value, &files).unwrap();
        let whole = fs::read(&path).unwrap();
        let read = read_sealed::<Value>(&path).unwrap();
        assert!(read.is_sealed);
        assert_eq!((read.value, read.files), (value.clone(), files.clone()));
        let mut n_found = 0;
        for bit in 0..whole.len() * 8 {
            let mut bytes = whole.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            fs::write(&path, &bytes).unwrap();
            match read_sealed::<Value>(&path) {
                Err(Error::Damaged { .. }) => n_found += 1,
                // Whitespace that changed into other whitespace, or the key of the checksum itself.
                Ok(read) => assert!(!read.is_sealed || (read.value == value && read.files == files), "{bit}"),
                Err(error) => panic!("{error}"),
            }
        }
        assert!(n_found > whole.len() * 6, "{n_found} of {}", whole.len() * 8);
    }

    #[test]
    #[cfg(unix)]
    fn a_backslash_of_a_name_is_no_folder() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("data")).unwrap();
        fs::write(folder.path().join("data/a\\b"), "").unwrap();
        let (names, folders) = names_below(folder.path()).unwrap();
        assert_eq!((names, folders), (vec!["data/a\\b".to_owned()], vec!["data".to_owned()]));
    }

    #[test]
    fn damaged_missing_and_unexpected_files_are_distinguished() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::create_dir(path("data")).unwrap();
        for name in ["a", "b", "c", "data/d", "e"] {
            fs::write(path(name), format!("content of {name}")).unwrap();
        }
        let files = Files::of_folder(folder.path()).unwrap();
        assert_eq!(files.names().collect::<Vec<_>>(), ["a", "b", "c", "data/d", "e"]);
        assert_eq!(files.faults(folder.path()), []);
        fs::write(path("a"), "content of A").unwrap();
        fs::write(path("b"), "").unwrap();
        fs::remove_file(path("c")).unwrap();
        fs::remove_file(path("e")).unwrap();
        fs::create_dir(path("e")).unwrap();
        fs::write(path("data/new"), "").unwrap();
        fs::write(path("a.partial"), "").unwrap();
        let found: Vec<String> = [files.faults(folder.path()), files.unexpected(folder.path()).unwrap()]
            .concat()
            .into_iter()
            .map(|fault| format!("{} {}: {}", fault.fault.name(), fault.file, fault.detail))
            .collect();
        assert_eq!(
            found,
            [
                "damaged a: the checksum differs",
                "damaged b: expected 12 bytes, found 0",
                "missing c: there is no such file",
                "damaged e: not a regular file",
                "unexpected a.partial: an interrupted command left it",
                "unexpected data/new: callsieve did not write it",
            ]
        );
    }

    #[test]
    fn a_file_that_is_being_replaced_is_valid_before_and_after() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs::write(&path, "old").unwrap();
        let mut files = Files::of_folder(folder.path()).unwrap();
        files.becomes("a", FileSum::of_bytes(b"the new one"));
        assert_eq!(files.faults(folder.path()), []);
        fs::write(&path, "the new one").unwrap();
        assert_eq!(files.faults(folder.path()), []);
        let mut settled = files.clone();
        settled.settle(folder.path()).unwrap();
        assert!(!settled.is_rewriting());
        assert_eq!(settled.faults(folder.path()), []);
        fs::write(&path, "other").unwrap();
        assert_eq!((files.faults(folder.path()).len(), settled.faults(folder.path()).len()), (1, 1));
        assert!(files.settle(folder.path()).is_err());
    }
}
