//! Rewrites files of a finished run without some of their cells, rows or lines.
//!
//! Finished files change only here. The row groups of Parquet files keep their borders, so that the batches of all
//! files of a table stay aligned, and one group is in memory at a time. The new file is written under a temporary name
//! and renamed after everything is written, so an interrupted write leaves the old file. The old bytes are unlinked,
//! not overwritten: copies in the file system or in backups are out of reach.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufRead as _, BufReader, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::engine::disk::{create_private, put_in_place};
use crate::engine::error::{At, Result};
use crate::engine::frame::{Columns, Frame, FrameFile, FrameWriter, Values};
use crate::engine::layout::{MANIFEST, temporary_path};
use crate::engine::seal::{FileSum, Files, write_sealed};

/// The cells of one column.
type Texts<'a> = Vec<Option<Cow<'a, str>>>;

/// A mutable row group.
pub struct Group<'a> {
    start: usize,
    height: usize,
    columns: Vec<(&'a str, GroupColumn<'a>)>,
    removed: Vec<bool>,
}

enum GroupColumn<'a> {
    Text(Texts<'a>),
    Int(Vec<Option<i64>>),
    Float(Vec<Option<f64>>),
    /// Row numbers and positions, which are never empty.
    U32(Vec<u32>),
    Bool(Vec<bool>),
}

impl<'a> Group<'a> {
    fn of(frame: &'a Frame, path: &Path, start: usize) -> Result<Self> {
        let columns = frame.columns(path)?.into_iter().map(|(name, values)| {
            let column = match values {
                Values::Text(cells) => {
                    GroupColumn::Text(cells.into_iter().map(|cell| cell.map(Cow::Borrowed)).collect())
                }
                Values::Int(cells) => GroupColumn::Int(cells),
                Values::Float(cells) => GroupColumn::Float(cells),
                Values::U32(cells) => GroupColumn::U32(cells),
                Values::Bool(cells) => GroupColumn::Bool(cells),
            };
            (name, column)
        });
        let height = frame.height();
        Ok(Self { start, height, columns: columns.collect(), removed: vec![false; height] })
    }

    /// Returns the number of the first row in the file.
    pub fn start(&self) -> usize {
        self.start
    }

    /// Returns the number of rows.
    pub fn height(&self) -> usize {
        self.height
    }

    /// Returns a text cell, by the row's index in the group.
    pub fn text(&self, column: &str, at: usize) -> Option<&str> {
        self.columns.iter().find_map(|(name, cells)| match cells {
            GroupColumn::Text(cells) if *name == column => cells[at].as_deref(),
            _ => None,
        })
    }

    /// Returns a row number, by the row's index in the group.
    pub fn u32(&self, column: &str, at: usize) -> Option<u32> {
        self.columns.iter().find_map(|(name, cells)| match cells {
            GroupColumn::U32(cells) if *name == column => Some(cells[at]),
            _ => None,
        })
    }

    /// Sets a text cell. Returns `true` if it changed.
    pub fn set_text(&mut self, column: &str, at: usize, text: Option<String>) -> bool {
        for (name, cells) in &mut self.columns {
            if let (true, GroupColumn::Text(cells)) = (*name == column, cells)
                && cells[at].as_deref() != text.as_deref()
            {
                cells[at] = text.map(Cow::Owned);
                return true;
            }
        }
        false
    }

    /// Empties the cells of a row, except those of some columns; calls `emptied` with the name of each column that had
    /// a value.
    pub fn empty(&mut self, at: usize, but: &[&str], mut emptied: impl FnMut(&str)) {
        for (name, cells) in self.columns.iter_mut().filter(|(name, _)| !but.contains(name)) {
            let held = match cells {
                GroupColumn::Text(cells) => cells[at].take().is_some(),
                GroupColumn::Int(cells) => cells[at].take().is_some(),
                GroupColumn::Float(cells) => cells[at].take().is_some(),
                GroupColumn::U32(_) | GroupColumn::Bool(_) => false,
            };
            if held {
                emptied(name);
            }
        }
    }

    /// Removes a row from the file.
    pub fn remove(&mut self, at: usize) {
        self.removed[at] = true;
    }

    /// Changes the text cells of all columns. Returns the number of changed cells.
    pub fn change_texts(&mut self, change: impl Fn(&str) -> Option<String>) -> u64 {
        let mut changed = 0;
        for (_, cells) in &mut self.columns {
            let GroupColumn::Text(cells) = cells else { continue };
            for cell in cells {
                if let Some(text) = cell.as_deref().and_then(&change) {
                    *cell = Some(Cow::Owned(text));
                    changed += 1;
                }
            }
        }
        changed
    }

    fn columns(&self) -> Columns<'_> {
        let left = |at: &usize| !self.removed[*at];
        let rows = || (0..self.height).filter(left);
        let mut columns = Columns::new();
        for (name, cells) in &self.columns {
            let values = match cells {
                GroupColumn::Text(cells) => Values::Text(rows().map(|at| cells[at].as_deref()).collect()),
                GroupColumn::Int(cells) => Values::Int(rows().map(|at| cells[at]).collect()),
                GroupColumn::Float(cells) => Values::Float(rows().map(|at| cells[at]).collect()),
                GroupColumn::U32(cells) => Values::U32(rows().map(|at| cells[at]).collect()),
                GroupColumn::Bool(cells) => Values::Bool(rows().map(|at| cells[at]).collect()),
            };
            columns.push((*name, values));
        }
        columns
    }
}

/// The changes of a file, or its removal.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize)]
pub struct Touched {
    /// The file, below the run folder.
    pub file: String,
    /// Changed cells, by column.
    pub cells: BTreeMap<String, u64>,
    /// Removed rows or lines.
    pub rows: u64,
    /// The file was removed.
    pub removed: bool,
    /// Its old size.
    pub bytes_before: u64,
    /// Its new size.
    pub bytes_after: u64,
}

impl Touched {
    /// Returns an empty list of changes of a file.
    pub fn of(run: &Path, path: &Path) -> Self {
        let file = path.strip_prefix(run).unwrap_or(path).to_string_lossy().replace('\\', "/");
        Self { file, ..Self::default() }
    }

    /// Counts a changed cell of a column.
    pub fn cell(&mut self, column: &str) {
        *self.cells.entry(column.to_owned()).or_default() += 1;
    }

    /// Returns `true` if nothing was changed or removed.
    pub fn is_nothing(&self) -> bool {
        self.cells.is_empty() && self.rows == 0 && !self.removed
    }
}

/// A file that was rewritten under a temporary name.
#[derive(Debug)]
pub struct Rewritten {
    path: PathBuf,
    temporary: PathBuf,
    /// The number of changed cells or rows.
    pub changes: u64,
    /// The old size of the file.
    pub before: u64,
    /// The new size of the file.
    pub after: u64,
}

impl Rewritten {
    /// Returns the name of the file in its folder.
    fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Returns the temporary path of the new file.
    fn temporary_path(&self) -> &Path {
        &self.temporary
    }

    /// Renames the new file over the old one if it differs, else keeps the old one.
    ///
    /// # Errors
    /// The file cannot be renamed or removed.
    pub fn put_in_place(self) -> Result<()> {
        if self.changes > 0 {
            return put_in_place(&self.temporary, &self.path);
        }
        std::fs::remove_file(&self.temporary).at("removing", &self.temporary)
    }

    /// Works like [`Rewritten::put_in_place`], but removes an empty file. Returns `true` if it was removed.
    ///
    /// # Errors
    /// As [`Rewritten::put_in_place`].
    pub fn put_in_place_or_remove(self) -> Result<bool> {
        if self.changes == 0 || self.after > 0 {
            return self.put_in_place().map(|()| false);
        }
        let path = self.path.clone();
        self.put_in_place()?;
        std::fs::remove_file(&path).at("removing", &path).map(|()| true)
    }
}

/// Replaces files of a finished step by rewritten ones, and updates the manifest.
///
/// The manifest lists the new checksums before the first file is renamed, and the old ones until the last is. `after`
/// is called when all files are replaced, and may return a new manifest.
///
/// # Errors
/// A file cannot be read, written or renamed; the same call then finishes.
pub(super) fn replace_files<M: Serialize>(
    folder: &Path,
    manifest: &M,
    mut files: Files,
    rewritten: Vec<Rewritten>,
    after: impl FnOnce() -> Result<Option<M>>,
) -> Result<()> {
    let path = folder.join(MANIFEST);
    let mut is_changed = files.is_rewriting();
    for file in rewritten.iter().filter(|file| file.changes > 0) {
        files.becomes(&file.name(), FileSum::of_synced(file.temporary_path())?);
        is_changed = true;
    }
    if is_changed {
        write_sealed(&path, manifest, &files)?;
    }
    rewritten.into_iter().try_for_each(Rewritten::put_in_place)?;
    let amended = after()?;
    if is_changed || amended.is_some() {
        files.settle(folder)?;
        write_sealed(&path, amended.as_ref().unwrap_or(manifest), &files)?;
    }
    Ok(())
}

/// Removes the rows of a file of a run whose cell of a column is one of some ids.
///
/// # Errors
/// The file cannot be read or written.
pub fn remove_rows(run: &Path, path: &Path, column: &str, ids: &BTreeSet<String>) -> Result<Touched> {
    let mut touched = Touched::of(run, path);
    let rewritten = rewrite(path, |group| {
        let is_ours = |at: &usize| group.text(column, *at).is_some_and(|id| ids.contains(id));
        let ours: Vec<usize> = (0..group.height()).filter(is_ours).collect();
        for &at in &ours {
            group.remove(at);
        }
        Ok(ours.len() as u64)
    })?;
    touched.rows = rewritten.changes;
    (touched.bytes_before, touched.bytes_after) = (rewritten.before, rewritten.after);
    rewritten.put_in_place()?;
    Ok(touched)
}

/// Rewrites a file of lines with only the lines for which `keeps` returns `true`.
///
/// # Errors
/// A file cannot be read or written.
pub fn rewrite_lines(path: &Path, keeps: impl Fn(&[u8]) -> bool) -> Result<Rewritten> {
    let temporary = temporary_path(path);
    let mut reader = BufReader::new(File::open(path).at("reading", path)?);
    let mut writer = BufWriter::new(create_private(&temporary)?);
    let (mut changes, mut before, mut after) = (0, 0, 0);
    let mut line = Vec::new();
    loop {
        line.clear();
        let length = reader.read_until(b'\n', &mut line).at("reading", path)? as u64;
        if length == 0 {
            break;
        }
        before += length;
        if keeps(&line) {
            after += length;
            writer.write_all(&line).at("writing", &temporary)?;
        } else {
            changes += 1;
        }
    }
    writer.flush().at("writing", &temporary)?;
    copy_rights(path, &temporary)?;
    Ok(Rewritten { path: path.to_owned(), temporary, changes, before, after })
}

/// Copies the permissions of the old file to the new one.
fn copy_rights(path: &Path, temporary: &Path) -> Result<()> {
    let rights = std::fs::metadata(path).at("reading", path)?.permissions();
    std::fs::set_permissions(temporary, rights).at("writing", temporary)
}

/// Rewrites a Parquet file; `change` receives each row group and returns the number of its changes.
///
/// # Errors
/// A file cannot be read or written, or `change` fails.
pub fn rewrite(path: &Path, mut change: impl FnMut(&mut Group<'_>) -> Result<u64>) -> Result<Rewritten> {
    let size = |path: &Path| std::fs::metadata(path).map(|metadata| metadata.len()).at("reading", path);
    let file = FrameFile::open(path)?;
    let temporary = temporary_path(path);
    // Only the owner can read it while it is written; permissions are copied later.
    let mut writer = FrameWriter::create_private(&temporary);
    let mut changes = 0;
    let mut start = 0;
    for length in file.groups() {
        let frame = file.read(start, length, None)?;
        let mut group = Group::of(&frame, path, start)?;
        changes += change(&mut group)?;
        writer.write(group.columns())?;
        start += length;
    }
    writer.finish()?;
    copy_rights(path, &temporary)?;
    let (before, after) = (size(path)?, size(&temporary)?);
    let after = if changes > 0 { after } else { before };
    Ok(Rewritten { path: path.to_owned(), temporary, changes, before, after })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(folder: &Path) -> PathBuf {
        let path = folder.join("t.parquet");
        let mut writer = FrameWriter::create(&path);
        for start in [0_u32, 3] {
            let texts: Vec<String> = (start..start + 3).map(|n| format!("row {n}")).collect();
            writer
                .write(vec![
                    ("text", Values::Text(texts.iter().map(|text| Some(text.as_str())).collect())),
                    ("row", Values::U32((start..start + 3).collect())),
                    ("score", Values::Float(vec![Some(0.5); 3])),
                ])
                .unwrap();
        }
        writer.finish().unwrap();
        path
    }

    #[test]
    fn cells_are_emptied_and_rows_removed_and_the_borders_stay() {
        let folder = tempfile::tempdir().unwrap();
        let path = file(folder.path());
        let mut emptied = Vec::new();
        let rewritten = rewrite(&path, |group| {
            if group.start() == 0 {
                group.empty(1, &["row"], |column| emptied.push(column.to_owned()));
                return Ok(2);
            }
            group.remove(0);
            Ok(1)
        })
        .unwrap();
        assert_eq!((rewritten.changes, emptied), (3, vec!["text".to_owned(), "score".to_owned()]));
        rewritten.put_in_place().unwrap();
        let file = FrameFile::open(&path).unwrap();
        assert_eq!(file.groups(), [3, 2]);
        let frame = file.read_all().unwrap();
        let rows: Vec<_> = (0..5).map(|at| frame.u32s("row").unwrap().get(at).unwrap()).collect();
        let texts: Vec<_> = (0..5).map(|at| frame.texts("text").unwrap().get(at)).collect();
        assert_eq!(rows, [0, 1, 2, 4, 5]);
        assert_eq!(texts, [Some("row 0"), None, Some("row 2"), Some("row 4"), Some("row 5")]);
        assert_eq!(frame.float("score", 1), None);
    }

    #[test]
    fn an_unchanged_file_stays_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = file(folder.path());
        let bytes = std::fs::read(&path).unwrap();
        let rewritten = rewrite(&path, |group| {
            Ok(u64::from(group.set_text("text", 0, group.text("text", 0).map(str::to_owned))))
        })
        .unwrap();
        assert_eq!((rewritten.changes, rewritten.before), (0, rewritten.after));
        rewritten.put_in_place().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), bytes);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_file_without_rows_keeps_its_columns() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.parquet");
        crate::engine::frame::write_frame(&path, vec![("text", Values::Text(vec![]))]).unwrap();
        let rewritten = rewrite(&path, |_| Ok(1)).unwrap();
        rewritten.put_in_place().unwrap();
        let frame = FrameFile::open(&path).unwrap().read_all().unwrap();
        assert_eq!((frame.height(), frame.texts("text").is_some()), (0, true));
    }
}
