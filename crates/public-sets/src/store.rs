//! The files of sets on disk and their contents. For adding files see `intake`.
//!
//! A set's files are read in the order of their names, each record in the set's format. Unreadable records are counted,
//! and the first few are listed with the reason.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::SetError;
use super::catalogue::{Catalogue, OWN, PublicSet, SAMPLE};
use super::record::SetRecord;
use callsieve_engine::error::At;
use callsieve_engine::fingerprint::{hex, sha256_of};
use callsieve_engine::foreign::{ForeignFile, Need};
use callsieve_ingest::read::{Block, FileFormat, Item, Limits, read_blocks};
use callsieve_text::short::shortened;

/// The records of the built-in set.
pub const SAMPLE_RECORDS: &str = include_str!("../../../configs/callsieve-sample.jsonl");

/// The maximum number of unreadable records that are listed.
const MAX_NAMED: usize = 5;

/// A file of a set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetFile {
    /// Its name in the set's folder.
    pub name: String,
    /// SHA-256 of its bytes.
    pub sha256: String,
    /// Its size.
    pub bytes: u64,
}

/// A record that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unread {
    /// File and line.
    pub record: String,
    /// The reason.
    pub why: String,
}

/// The counts of a set.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// Its files.
    pub files: Vec<SetFile>,
    /// Its records, including unreadable ones.
    pub records: u64,
    /// Its functions, including repeated ones.
    pub functions: usize,
    /// Its queries, including repeated ones.
    pub queries: usize,
    /// Unreadable records.
    pub unreadable: u64,
    /// The first unreadable records.
    pub unread: Vec<Unread>,
}

/// The contents of a set on disk.
#[derive(Debug, Clone, Default)]
pub struct Loaded {
    /// The counts.
    pub summary: Summary,
    /// Each function with the id of its record, in order.
    pub functions: Vec<(String, Value)>,
    /// Each query with the id of its record, in order.
    pub queries: Vec<(String, String)>,
    /// Files and folders in a folder to add that are not part of the set, with the reason.
    pub skipped: Vec<(PathBuf, String)>,
}

impl Loaded {
    /// Appends what was read of further files.
    pub(super) fn append(&mut self, other: Self) {
        let Summary { files, records, functions, queries, unreadable, unread } = other.summary;
        self.summary.files.extend(files);
        self.summary.records += records;
        self.summary.functions += functions;
        self.summary.queries += queries;
        self.summary.unreadable += unreadable;
        let room = MAX_NAMED.saturating_sub(self.summary.unread.len());
        self.summary.unread.extend(unread.into_iter().take(room));
        self.functions.extend(other.functions);
        self.queries.extend(other.queries);
        self.skipped.extend(other.skipped);
    }
}

/// Returns the data files of a set, by name; `None` if it is not on disk. The built-in set has no files.
///
/// # Errors
/// If its folder cannot be read.
pub fn files(catalogue: &Catalogue, set: &PublicSet) -> Result<Vec<PathBuf>, SetError> {
    let folder = catalogue.folder(&set.id);
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut files = Vec::new();
    for entry in std::fs::read_dir(&folder).at("reading", &folder)? {
        let path = entry.at("reading", &folder)?.path();
        // A link that leads nowhere is an error: the set would be compared without it.
        if !is_hidden(&name_of(&path)) && path.metadata().at("reading", &path)?.is_file() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Returns the hashes of the set's files, by name, for a resume key; `None` if it is not on disk.
///
/// # Errors
/// If a file cannot be read.
pub fn hashes(catalogue: &Catalogue, set: &PublicSet) -> Result<Option<Vec<String>>, SetError> {
    if set.id == SAMPLE {
        return Ok(Some(vec![hex(&Sha256::digest(SAMPLE_RECORDS))]));
    }
    let files = files(catalogue, set)?;
    if files.is_empty() {
        return Ok(None);
    }
    let hash = |path: &PathBuf| Ok(format!("{} {}", name_of(path), sha256_once(path)?));
    files.iter().map(hash).collect::<Result<_, SetError>>().map(Some)
}

/// Returns the hash of a file, cached by length and modification time: every stage that compares with a set needs it
/// twice, for its resume key and for the cache of the set.
fn sha256_once(path: &Path) -> Result<String, SetError> {
    static KNOWN: Mutex<BTreeMap<(PathBuf, u64, SystemTime), String>> = Mutex::new(BTreeMap::new());
    let facts = path.metadata().and_then(|facts| Ok((path.to_owned(), facts.len(), facts.modified()?)));
    let Ok(facts) = facts else { return Ok(sha256_of(path)?) };
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(hash) = known().get(&facts) {
        return Ok(hash.clone());
    }
    let hash = sha256_of(path)?;
    known().insert(facts, hash.clone());
    Ok(hash)
}

/// Returns true if a set is on disk, or built in.
///
/// # Errors
/// If its folder cannot be read.
pub fn is_there(catalogue: &Catalogue, set: &PublicSet) -> Result<bool, SetError> {
    Ok(set.id == SAMPLE || !files(catalogue, set)?.is_empty())
}

/// Reads a set; `None` if it is not on disk.
///
/// # Errors
/// If a file cannot be read. An unreadable record is not an error.
pub fn load(catalogue: &Catalogue, set: &PublicSet) -> Result<Option<Loaded>, SetError> {
    let mut loaded = Loaded::default();
    if set.id == SAMPLE {
        for (line, text) in (1..).zip(SAMPLE_RECORDS.lines()) {
            let value: Result<Value, String> = serde_json::from_str(text).map_err(|error| error.to_string());
            loaded.take("built-in", line, value.and_then(|value| (set.format().read)(&value)));
        }
        let sha256 = hex(&Sha256::digest(SAMPLE_RECORDS));
        let bytes = SAMPLE_RECORDS.len() as u64;
        loaded.summary.files.push(SetFile { name: "built-in".to_owned(), sha256, bytes });
        return Ok(Some(loaded));
    }
    let files = files(catalogue, set)?;
    for path in &files {
        loaded.file(set, path)?;
    }
    Ok((!files.is_empty()).then_some(loaded))
}

/// Returns true if a file in a set's folder is not data.
pub(super) fn is_hidden(name: &str) -> bool {
    name == OWN || name.starts_with('.')
}

pub(super) fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

pub(super) fn extension_is(path: &Path, wanted: &str) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(wanted))
}

impl Summary {
    /// Returns true if there are functions or queries to compare with.
    pub fn is_readable(&self) -> bool {
        self.functions > 0 || self.queries > 0
    }

    /// Adds a description of the set to a JSON object: files with their hashes, counts, the first unreadable records.
    pub fn describe(&self, about: &mut Value) {
        about["files"] = json!(self.files);
        about["records"] = json!(self.records);
        about["functions"] = json!(self.functions);
        about["queries"] = json!(self.queries);
        about["unreadable"] = json!(self.unreadable);
        about["unread"] = json!(self.unread);
    }

    /// Returns the files and the error of a set that is not readable.
    pub fn fault(&self) -> String {
        let names: Vec<&str> = self.files.iter().map(|file| file.name.as_str()).collect();
        let why = match self.unread.first() {
            Some(unread) => format!("{}: {}", unread.record, shortened(&unread.why, 160)),
            None if self.records == 0 => "it has no records".to_owned(),
            None => "it has neither functions nor queries".to_owned(),
        };
        format!("{} ({why})", names.join(", "))
    }
}

impl Loaded {
    /// Reads one file by its name: Parquet, Python source, or JSON in any layout.
    pub(super) fn file(&mut self, set: &PublicSet, path: &Path) -> Result<(), SetError> {
        let name = name_of(path);
        if extension_is(path, "parquet") {
            let file = ForeignFile::open(path)?;
            // The format decides which columns to read; undecodable columns are skipped.
            let selection = file.select(|_| Need::Shown)?;
            let limit = Limits::default().max_line_bytes;
            for stretch in file.stretches(&selection) {
                let rows = file.read(&selection, stretch.clone())?;
                for row in 0..rows.height() {
                    let entry = match rows.row_bytes(row) {
                        n_bytes if n_bytes > limit => Err(format!("{n_bytes} bytes, the limit is {limit}")),
                        _ => (set.format().read)(&Value::Object(rows.row(row).object)),
                    };
                    self.take(&name, (stretch.start + row) as u64 + 1, entry);
                }
            }
        } else if extension_is(path, "py") {
            let source = std::fs::read_to_string(path).at("reading", path)?;
            self.take(&name, 1, (set.format().read)(&Value::String(source)));
        } else {
            read_blocks::<SetError>(
                path,
                FileFormat::of(path),
                &Limits::default(),
                &mut |_| {},
                &mut |block| {
                    self.block(set, &name, &block);
                    Ok(())
                },
            )?;
        }
        let bytes = std::fs::metadata(path).at("reading", path)?.len();
        self.summary.files.push(SetFile { name, sha256: sha256_of(path)?, bytes });
        Ok(())
    }

    fn block(&mut self, set: &PublicSet, name: &str, block: &Block) {
        let entries: Vec<(u64, Option<Result<SetRecord, String>>)> =
            block.items.par_iter().map(|item| (item.line, entry(set, block, item))).collect();
        for (line, entry) in entries {
            if let Some(entry) = entry {
                self.take(name, line, entry);
            }
        }
    }

    /// Counts a record, and adds its contents.
    fn take(&mut self, file: &str, line: u64, entry: Result<SetRecord, String>) {
        let summary = &mut self.summary;
        summary.records += 1;
        let place = format!("{file}:{line}");
        match entry {
            Ok(entry) => {
                let id = entry.id.unwrap_or(place);
                summary.functions += entry.functions.len();
                summary.queries += entry.queries.len();
                self.functions.extend(entry.functions.into_iter().map(|function| (id.clone(), function)));
                self.queries.extend(entry.queries.into_iter().map(|query| (id.clone(), query)));
            }
            Err(why) => {
                summary.unreadable += 1;
                if summary.unread.len() < MAX_NAMED {
                    summary.unread.push(Unread { record: place, why });
                }
            }
        }
    }
}

/// Reads one item of a file; `None` for a blank line.
fn entry(set: &PublicSet, block: &Block, item: &Item) -> Option<Result<SetRecord, String>> {
    let bytes = match &item.bytes {
        Ok(range) => &block.text[range.clone()],
        Err(fault) => return Some(Err(format!("{}: {}", fault.reason, fault.detail))),
    };
    if bytes.trim_ascii().is_empty() {
        return None;
    }
    let value = match &block.header {
        Some(header) => header.row(bytes).map_err(|fault| fault.detail),
        None => serde_json::from_slice(bytes).map_err(|error| format!("not JSON: {error}")),
    };
    Some(value.and_then(|value| (set.format().read)(&value)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_link_to_nothing_in_a_set_is_an_error_and_not_a_smaller_set() {
        let folder = tempfile::tempdir().unwrap();
        let set = folder.path().join("anyscale");
        std::fs::create_dir(&set).unwrap();
        std::os::unix::fs::symlink(folder.path().join("gone.jsonl"), set.join("part-2.jsonl")).unwrap();
        let catalogue = Catalogue::open(folder.path()).unwrap();
        let error = files(&catalogue, catalogue.set("anyscale").unwrap()).unwrap_err().to_string();
        assert!(error.contains("part-2.jsonl") && error.contains("no such file"), "{error}");
    }

    #[test]
    fn the_sample_always_exists() {
        let folder = tempfile::tempdir().unwrap();
        let catalogue = Catalogue::open(&folder.path().join("none")).unwrap();
        let sample = load(&catalogue, catalogue.set(SAMPLE).unwrap()).unwrap().unwrap();
        let Summary { records, functions, queries, unreadable, .. } = sample.summary;
        assert_eq!((records, functions, queries, unreadable), (2, 2, 2, 0));
        assert_eq!((sample.functions.len(), sample.queries.len()), (2, 2));
        assert!(load(&catalogue, catalogue.set("anyscale").unwrap()).unwrap().is_none());
    }
}
