//! Removes entries from a written dataset.
//!
//! A line of a question file is removed together with the line of the same id in the answer file and the row of the
//! Parquet table. The ids of the other entries do not change, so results that were measured on the dataset can still be
//! matched; the official evaluator pairs the two files line by line and accepts gaps in the numbers. A category without
//! entries has no file.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::rewrite::{Touched, remove_rows, rewrite_lines};
use crate::engine::entries::{self, EntryOrigin};
use crate::engine::error::{At, Result};
use crate::export::set::Set;

fn set_of(dataset: &Path, path: &Path) -> Set {
    if path.starts_with(Set::Unverified.folder(dataset)) { Set::Unverified } else { Set::Scored }
}

/// Removes the entries of these requests from the dataset of a run.
///
/// # Errors
/// A file cannot be read or written.
pub fn erase(run: &Path, requests: &BTreeSet<String>) -> Result<Vec<Touched>> {
    let dataset = run.join("dataset");
    let mut touched = Vec::new();
    if !dataset.is_dir() {
        return Ok(touched);
    }
    let files = files_below(&dataset)?;
    let lines: Vec<&PathBuf> =
        files.iter().filter(|path| path.extension().is_some_and(|is| is == "json")).collect();
    let origins = entries::read(run)?;
    for set in Set::ALL {
        let table = set.table(&dataset);
        if !table.is_file() {
            continue;
        }
        // The same id may occur in both sets, for two entries.
        let is_ours = |entry: &&EntryOrigin| {
            entry.set == set.name() && entry.request_id.as_ref().is_some_and(|id| requests.contains(id))
        };
        let entries: BTreeSet<String> =
            origins.iter().filter(is_ours).map(|entry| entry.id.clone()).collect();
        for path in lines.iter().filter(|path| set_of(&dataset, path) == set) {
            touched.push(remove_lines(run, path, &entries)?);
        }
        touched.push(remove_rows(run, &table, "id", &entries)?);
    }
    // Last, because it is needed to find the entries again if this is interrupted.
    if entries::path(run).is_file() {
        touched.push(remove_rows(run, &entries::path(run), "request_id", requests)?);
    }
    touched.retain(|touched| !touched.is_nothing());
    Ok(touched)
}

/// Removes the dataset of a run.
///
/// # Errors
/// A file cannot be removed.
pub fn remove(run: &Path) -> Result<Vec<Touched>> {
    let dataset = run.join("dataset");
    let mut touched = Vec::new();
    if !dataset.is_dir() {
        return Ok(touched);
    }
    for path in files_below(&dataset)? {
        let bytes_before = path.metadata().map_or(0, |facts| facts.len());
        touched.push(Touched { removed: true, bytes_before, ..Touched::of(run, &path) });
    }
    std::fs::remove_dir_all(&dataset).at("removing", &dataset)?;
    Ok(touched)
}

/// A line of an entry; only its id is read.
#[derive(Deserialize)]
struct EntryId {
    id: String,
}

fn remove_lines(run: &Path, path: &Path, entries: &BTreeSet<String>) -> Result<Touched> {
    let mut touched = Touched::of(run, path);
    let keeps =
        |line: &[u8]| serde_json::from_slice(line).ok().is_none_or(|EntryId { id }| !entries.contains(&id));
    let rewritten = rewrite_lines(path, keeps)?;
    touched.rows = rewritten.changes;
    (touched.bytes_before, touched.bytes_after) = (rewritten.before, rewritten.after);
    touched.removed = rewritten.put_in_place_or_remove()?;
    Ok(touched)
}

fn files_below(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).at("reading", &folder)? {
            let path = entry.at("reading", &folder)?.path();
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    files.sort();
    Ok(files)
}
