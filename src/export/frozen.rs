//! Entries of an earlier dataset that stand in the new one as they are.
//!
//! Their lines are copied byte for byte, questions and answers; new entries go on after
//! their numbers. A dataset whose questions the evaluator of today would not read, or
//! whose answers do not stand beside their questions, is refused: it would be frozen
//! with its faults.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;
use serde::Deserialize;
use serde_json::Value;

use super::earlier::{Earlier, EarlierFile, entry};
use super::row::{EntryCells, table_columns};
use super::set::Set;
use crate::bfcl::category::Category;
use crate::bfcl::ids::Ids;
use crate::engine::entries::EntryOrigin;
use crate::engine::error::{At, Error, Result};
use crate::engine::frame::Frame;

/// An earlier dataset with its Parquet rows.
pub(super) struct Frozen {
    earlier: Earlier,
    tables: Vec<(Set, Frame)>,
}

/// The entries of one category and set; none by default.
#[derive(Default)]
pub(super) struct FrozenFile {
    questions: Vec<u8>,
    answers: Vec<u8>,
    /// Where each entry stands, in the order of `rows`.
    places: Vec<String>,
    /// What the Parquet file says of each entry.
    pub(super) rows: Vec<EntryCells>,
    /// Which record each was made of, as far as that is known.
    pub(super) origins: Vec<EntryOrigin>,
}

#[derive(Deserialize)]
struct AnswerLine {
    id: String,
    ground_truth: Value,
}

impl Frozen {
    pub(super) fn open(path: &Path) -> Result<Self> {
        let earlier = Earlier::open(path)?;
        let mut tables = Vec::new();
        for set in Set::ALL {
            tables.extend(earlier.rows_of(set)?.map(|frame| (set, frame)));
        }
        Ok(Self { earlier, tables })
    }

    /// The entries of one category and set; an empty one where the earlier dataset has none.
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
                    "{}: entry {} has a question without turns, which the evaluator reads no more\nhint: freeze a dataset of the leaderboard's third version or later",
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

    /// Lets new ids go on after these.
    pub(super) fn number(&self, category: Category, ids: &mut Ids<'_>) -> Result<()> {
        for (place, row) in self.places.iter().zip(&self.rows) {
            let id = row[0].as_deref().unwrap_or_default();
            if !ids.follow(category, id) {
                return Err(Error::Setting(format!(
                    "{place}: expected an id of the form live_{}_<number>-<number>-<number>, not {id:?}",
                    category.name()
                )));
            }
        }
        Ok(())
    }

    /// Writes the lines as they are; ends the last one where others follow.
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

/// The lines of a file with their places.
fn lines<'b>(bytes: &'b [u8], path: &Path) -> Result<impl Iterator<Item = (String, &'b str)> + use<'b>> {
    let path: PathBuf = path.to_owned();
    let text = std::str::from_utf8(bytes)
        .map_err(|error| Error::Setting(format!("{}: not UTF-8: {error}", path.display())))?;
    Ok(text.lines().enumerate().map(move |(at, line)| (format!("{}:{}", path.display(), at + 1), line)))
}

/// The answer that stands beside a question.
fn answer(line: Option<(String, &str)>, id: &str, question: &str) -> Result<Value> {
    let Some((place, line)) = line else {
        return Err(Error::Setting(format!("{question}: entry {id} has no answer beside it")));
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

/// The rows of a Parquet file by id.
fn by_id(frame: &Frame) -> FxHashMap<&str, EntryCells> {
    let cell = |name: &str, row| frame.texts(name).and_then(|texts| texts.get(row)).map(str::to_owned);
    let (ids, columns) = (frame.texts("id"), table_columns());
    let cells = |row| columns.iter().map(|name| cell(name, row)).collect();
    (0..frame.height()).filter_map(|row| Some((ids?.get(row)?, cells(row)))).collect()
}

/// What a line alone says.
fn cells(line: &str, category: Category, truth: Option<&Value>) -> EntryCells {
    let read: Value = serde_json::from_str(line).unwrap_or_default();
    let cell = |name: &str| match name {
        "id" => read["id"].as_str().map(str::to_owned),
        "category" => Some(category.name().to_owned()),
        "question" | "function" => Some(read[name].to_string()),
        "ground_truth" => truth.map(Value::to_string),
        _ => None,
    };
    table_columns().into_iter().map(cell).collect()
}
