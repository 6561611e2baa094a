//! Frozen entries: entries of an earlier dataset that are copied unchanged into the new one.
//!
//! The lines of questions and answers are copied byte for byte; the ids of new entries continue
//! after theirs. A dataset whose questions the current evaluator cannot read, or whose answers do
//! not match its questions line by line, is refused, so that its faults are not frozen.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;
use serde::Deserialize;
use serde_json::Value;

use super::earlier::{Earlier, EarlierFile, entry};
use super::row::{EntryCells, entry_columns};
use super::set::Set;
use crate::bfcl::category::Category;
use crate::bfcl::ids::Ids;
use crate::engine::entries::EntryOrigin;
use crate::engine::error::{At, Error, Result};
use crate::engine::frame::Frame;

/// An earlier dataset with its Parquet rows.
pub(super) struct FrozenDataset {
    earlier: Earlier,
    tables: Vec<(Set, Frame)>,
}

/// The frozen entries of one category and set; empty by default.
#[derive(Default)]
pub(super) struct FrozenFile {
    questions: Vec<u8>,
    answers: Vec<u8>,
    /// The place of each entry, in the order of `rows`.
    places: Vec<String>,
    /// The cells of each entry in the Parquet file.
    pub(super) rows: Vec<EntryCells>,
    /// The record of each entry, as far as known.
    pub(super) origins: Vec<EntryOrigin>,
}

#[derive(Deserialize)]
struct AnswerLine {
    id: String,
    ground_truth: Value,
}

impl FrozenDataset {
    pub(super) fn open(path: &Path) -> Result<Self> {
        let earlier = Earlier::open(path)?;
        let mut tables = Vec::new();
        for set in Set::ALL {
            tables.extend(earlier.rows_of(set)?.map(|frame| (set, frame)));
        }
        Ok(Self { earlier, tables })
    }

    /// Returns the entries of one category and set; may be empty.
    pub(super) fn file(&self, set: Set, category: Category) -> Result<FrozenFile> {
        let of_both = |file: &&EarlierFile| file.set == set && file.category == category;
        let Some(file) = self.earlier.files().iter().find(of_both) else { return Ok(FrozenFile::default()) };
        let questions = fs::read(&file.questions).at("reading", &file.questions)?;
        let answers = match &file.answers {
            Some(path) => fs::read(path).at("reading", path)?,
            None => Vec::new(),
        };
        let mut frozen = FrozenFile { questions, answers, ..FrozenFile::default() };
        let (mut places, mut rows) = (Vec::new(), Vec::new());
        let records = self.earlier.origins_of(set)?;
        let mut origins = Vec::new();
        let mut answer_lines = lines(&frozen.answers, file.answers.as_deref().unwrap_or(&file.questions))?;
        let known = self.tables.iter().find(|(of, _)| *of == set).map(|(_, frame)| by_id(frame));
        let known = known.unwrap_or_default();
        for (place, line) in lines(&frozen.questions, &file.questions)? {
            let read = entry(line, place)?;
            if read.is_flat {
                return Err(Error::Setting(format!(
                    "{}: entry {} has a question without turns, which the evaluator no longer reads\nhint: freeze a dataset of BFCL V3 or later",
                    read.place, read.id
                )));
            }
            let truth = if category.has_answers() {
                Some(answer(answer_lines.next(), &read.id, &read.place)?)
            } else {
                None
            };
            rows.push(match known.get(read.id.as_str()) {
                Some(cells) => cells.clone(),
                None => cells(line, category, truth.as_ref()),
            });
            origins.extend(records.get(&read.id).cloned());
            places.push(read.place);
        }
        if let Some((place, _)) = answer_lines.next() {
            return Err(Error::Setting(format!("{place}: an answer without a question")));
        }
        drop(answer_lines);
        (frozen.places, frozen.rows, frozen.origins) = (places, rows, origins);
        Ok(frozen)
    }
}

impl FrozenFile {
    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Continues the ids of new entries after these.
    pub(super) fn number(&self, category: Category, ids: &mut Ids<'_>) -> Result<()> {
        for (place, row) in self.places.iter().zip(&self.rows) {
            let id = row[0].as_deref().unwrap_or_default();
            if !ids.follow(category, id) {
                return Err(Error::Setting(format!(
                    "{place}: expected an id of the form live_{}_<number>-<number>-<number>, found {id:?}",
                    category.name()
                )));
            }
        }
        Ok(())
    }

    /// Writes the lines unchanged; terminates the last one if others follow.
    pub(super) fn write(
        &self,
        questions: &mut dyn Write,
        answers: &mut dyn Write,
        others_follow: bool,
    ) -> io::Result<()> {
        write_lines(questions, &self.questions, others_follow)?;
        write_lines(answers, &self.answers, others_follow)
    }
}

fn write_lines(out: &mut dyn Write, bytes: &[u8], others_follow: bool) -> io::Result<()> {
    out.write_all(bytes)?;
    let is_open = bytes.last().is_some_and(|&last| last != b'\n');
    if others_follow && is_open { out.write_all(b"\n") } else { Ok(()) }
}

/// Returns the lines of a file with their places.
fn lines<'b>(bytes: &'b [u8], path: &Path) -> Result<impl Iterator<Item = (String, &'b str)> + use<'b>> {
    let path: PathBuf = path.to_owned();
    let text = std::str::from_utf8(bytes)
        .map_err(|error| Error::Setting(format!("{}: not UTF-8: {error}", path.display())))?;
    Ok(text.lines().enumerate().map(move |(at, line)| (format!("{}:{}", path.display(), at + 1), line)))
}

/// Returns the answer on the same line as a question.
fn answer(line: Option<(String, &str)>, id: &str, question: &str) -> Result<Value> {
    let Some((place, line)) = line else {
        return Err(Error::Setting(format!("{question}: entry {id} has no answer on the same line")));
    };
    let read: AnswerLine = serde_json::from_str(line).map_err(|error| {
        Error::Setting(format!("{place}: expected an answer with id and ground_truth: {error}"))
    })?;
    if read.id != id {
        return Err(Error::Setting(format!(
            "{place}: expected the answer of {id}, found that of {}",
            read.id
        )));
    }
    Ok(read.ground_truth)
}

/// Returns the rows of a Parquet file by entry id.
fn by_id(frame: &Frame) -> FxHashMap<&str, EntryCells> {
    let text = |name: &str, row| frame.texts(name).and_then(|texts| texts.get(row)).map(str::to_owned);
    let cell = |name: &str, row| text(name, row).or_else(|| frame.number_text(name, row));
    let (ids, columns) = (frame.texts("id"), entry_columns());
    let cells = |row| columns.iter().map(|column| cell(column.name, row)).collect();
    (0..frame.height()).filter_map(|row| Some((ids?.get(row)?, cells(row)))).collect()
}

/// Returns the cells that follow from the lines of an entry alone.
fn cells(line: &str, category: Category, truth: Option<&Value>) -> EntryCells {
    let read: Value = serde_json::from_str(line).unwrap_or_default();
    let cell = |name: &str| match name {
        "id" => read["id"].as_str().map(str::to_owned),
        "category" => Some(category.name().to_owned()),
        "question" | "function" => Some(read[name].to_string()),
        "ground_truth" => truth.map(Value::to_string),
        _ => None,
    };
    entry_columns().into_iter().map(|column| cell(column.name)).collect()
}
