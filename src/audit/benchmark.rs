//! Reads benchmarks, and indexes what can be found of their entries.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde_json::Value;
use xxhash_rust::xxh3::xxh3_128;

use super::duplicates::Asked;
use super::functions::DocIndex;
use super::hit::{Hit, Verdict};
use super::item::{Docs, Item, ItemCall};
use super::queries::QueryIndex;
use super::rows::{Fallback, items_of};
pub use super::thresholds::Thresholds;
use super::{AuditError, Result};
use crate::bfcl::entry::Entry;
use crate::bfcl::files::{QuestionFile, in_folder, lines};
use crate::docs::canonical;
use crate::docs::parse::parse;
use crate::engine::fingerprint::sha256_of;
use crate::ingest::log_formats::Columns;
use crate::ingest::read::{Format, Limits, read_blocks};

/// One entry of a benchmark, as hits name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BenchEntry {
    /// Its id.
    pub id: String,
    /// The number of its category in [`Benchmark::categories`].
    pub category: u32,
    /// Its number among the items of its file; the first is 1.
    pub record: u64,
}

/// A category of a benchmark: a question file, or another file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Category {
    /// Its name.
    pub name: String,
    /// Its file.
    pub path: PathBuf,
    /// The SHA-256 of the file.
    pub sha256: String,
}

/// An indexed benchmark.
#[derive(Debug, Default)]
pub struct Benchmark {
    /// Its categories, in the order of their files.
    pub categories: Vec<Category>,
    /// Its entries, in the order of the files.
    pub entries: Vec<BenchEntry>,
    /// What is found of each entry: nothing of an unscorable one.
    pub scorable: Vec<Scorable>,
    pub(super) queries: QueryIndex,
    pub(super) docs: DocIndex,
    pub(super) asked: Vec<Asked>,
    thresholds: Thresholds,
}

/// What of an entry can be found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Scorable {
    /// It has a message with words.
    pub query: bool,
    /// It has a function with a name.
    pub functions: bool,
    /// Its answer has enough arguments.
    pub call: bool,
}

/// Files that are question files of BFCL, and others.
enum File {
    Questions(QuestionFile),
    Other(PathBuf),
}

impl Benchmark {
    /// Reads and indexes files and folders. A folder counts with its question files, or else with all files in it.
    ///
    /// # Errors
    /// A path cannot be read, or no entry is in it.
    pub fn read(
        paths: &[PathBuf],
        columns: &Columns,
        thresholds: Thresholds,
        fallback: &Fallback,
    ) -> Result<Self> {
        let mut benchmark = Self { thresholds, ..Self::default() };
        for path in paths {
            for file in files(path)? {
                match file {
                    File::Questions(file) => benchmark.add_questions(&file)?,
                    File::Other(path) => benchmark.add_other(&path, columns, fallback)?,
                }
            }
        }
        if benchmark.entries.is_empty() {
            let names: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
            return Err(AuditError::NoEntry { paths: names.join(", ") });
        }
        benchmark.queries.weigh(&thresholds.query);
        Ok(benchmark)
    }

    fn add_category(&mut self, name: String, path: &Path) -> Result<u32> {
        let sha256 = sha256_of(path).map_err(|error| AuditError::read(path, std::io::Error::other(error)))?;
        self.categories.push(Category { name, path: path.to_owned(), sha256 });
        Ok(u32::try_from(self.categories.len() - 1).expect("fewer than 2^32 files"))
    }

    fn add_questions(&mut self, file: &QuestionFile) -> Result<()> {
        let text =
            std::fs::read_to_string(&file.path).map_err(|cause| AuditError::read(&file.path, cause))?;
        let category = self.add_category(format!("{}_{}", file.version, file.category), &file.path)?;
        let answers = answers(&file.answers())?;
        for (number, line) in lines(&text) {
            let bad = |found: String| AuditError::Entry { path: file.path.clone(), line: number, found };
            let record: Value =
                serde_json::from_str(line).map_err(|error| bad(format!("not JSON: {error}")))?;
            let id = record["id"].as_str().map_or_else(|| format!("{}:{number}", file.name()), str::to_owned);
            let mut item = Item::default();
            // An entry of the agentic categories names classes instead of functions.
            let entry = match Entry::read(&record) {
                Ok(entry) => entry,
                Err(error) if record.get("question").is_none() => return Err(bad(error.to_string())),
                Err(_) => {
                    let mut with = record.clone();
                    with["function"] = Value::Array(Vec::new());
                    self.add_entry(
                        id,
                        category,
                        number as u64,
                        of_entry(&with).map_err(|error| bad(error.to_string()))?,
                    );
                    continue;
                }
            };
            item.functions = Docs::Read(entry.functions().to_vec());
            item.add(entry.into_messages());
            item.calls = answers
                .get(&id)
                .map(|calls| calls.iter().filter_map(ItemCall::of_ground_truth).collect())
                .unwrap_or_default();
            self.add_entry(id, category, number as u64, item);
        }
        Ok(())
    }

    fn add_other(&mut self, path: &Path, columns: &Columns, fallback: &Fallback) -> Result<()> {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let category = self.add_category(name, path)?;
        let mut read = Vec::new();
        read_blocks(path, Format::of(path), &Limits::default(), &mut |_| {}, &mut |block| {
            read.extend(items_of(&block, columns, fallback));
            Ok::<_, crate::ingest::read::ReadError>(())
        })
        .map_err(AuditError::Input)?;
        for row in read {
            if let Some(item) = row.item {
                let id = row.id.unwrap_or_else(|| {
                    format!("{}:{}", self.categories[category as usize].name, row.position.line)
                });
                self.add_entry(id, category, row.position.record, item);
            }
        }
        Ok(())
    }

    fn add_entry(&mut self, id: String, category: u32, record: u64, item: Item) {
        let entry = u32::try_from(self.entries.len()).expect("fewer than 2^32 entries");
        self.entries.push(BenchEntry { id, category, record });
        let has_words = |text: &String| text.contains(char::is_alphanumeric);
        let mut scorable = Scorable { query: item.queries.iter().any(has_words), ..Scorable::default() };
        for (turn, text) in (0..).zip(&item.queries) {
            self.queries.add(entry, turn, text);
        }
        let functions = match item.functions {
            Docs::None => Vec::new(),
            Docs::Text(text) => parse(&text).map(|parsed| parsed.functions).unwrap_or_default(),
            Docs::Read(functions) => functions,
        };
        self.asked.push(self.asked(&item.queries, &functions, &item.calls, category));
        if !functions.is_empty() {
            self.docs.add_functions(entry, &functions);
            scorable.functions = true;
        }
        scorable.call = self.docs.add_answer(entry, item.calls, &self.thresholds.docs);
        self.scorable.push(scorable);
    }

    fn asked(&self, queries: &[String], functions: &[Value], calls: &[ItemCall], category: u32) -> Asked {
        let request = format!("{}\n{:032x}", serde_json::json!(queries), canonical::key(functions));
        let label = if calls.is_empty() {
            self.categories[category as usize].name.clone()
        } else {
            format!("{calls:?}")
        };
        Asked {
            last: queries.last().cloned().unwrap_or_default(),
            request: xxh3_128(request.as_bytes()),
            label: xxh3_128(label.as_bytes()),
        }
    }

    /// Returns the messages of users that have words: number of the entry, of the message, and the text.
    pub fn messages(&self) -> impl Iterator<Item = (u32, u32, &str)> {
        self.queries.messages()
    }

    /// Returns the category that is read from this file, if the file is part of the benchmark.
    pub fn category_at(&self, path: &Path) -> Option<u32> {
        let own = path.canonicalize().ok()?;
        let at = self
            .categories
            .iter()
            .position(|category| category.path.canonicalize().is_ok_and(|path| path == own));
        at.and_then(|at| u32::try_from(at).ok())
    }

    /// Returns whether an entry is this item of the file of a category.
    pub fn is_entry_at(&self, entry: u32, category: u32, record: u64) -> bool {
        let entry = &self.entries[entry as usize];
        (entry.category, entry.record) == (category, record)
    }

    /// Returns the rule's thresholds.
    pub fn thresholds(&self) -> &Thresholds {
        &self.thresholds
    }

    /// The number of different words of messages, of functions, and of answers that can be found.
    pub fn sizes(&self) -> (usize, usize, usize) {
        let (functions, answers) = self.docs.len();
        (self.queries.n_words(), functions, answers)
    }

    /// Finds the functions that overlap a list. Lists repeat, so a caller may keep the result.
    pub fn hits_of_functions(&self, functions: &[Value]) -> Vec<Hit> {
        self.docs.find_functions(functions, &self.thresholds.docs)
    }

    /// Finds the messages and answers that overlap those of a row.
    pub fn hits_of_messages(&self, item: &Item) -> Vec<Hit> {
        let mut hits = Vec::new();
        for (turn, text) in (0..).zip(&item.queries) {
            self.queries.find(turn, text, &self.thresholds.query, &mut hits);
        }
        self.docs.find_answers(&item.calls, &self.thresholds.docs, &mut hits);
        hits
    }
}

/// Returns the verdict on a row: the surest of its hits.
pub fn verdict(hits: &[Hit], is_scorable: bool) -> Verdict {
    let found = hits.iter().map(|hit| hit.verdict).max();
    found.unwrap_or(if is_scorable { Verdict::Clean } else { Verdict::Unscorable })
}

fn of_entry(record: &Value) -> std::result::Result<Item, crate::bfcl::entry::EntryError> {
    let mut item = Item::default();
    item.add(Entry::read(record)?.into_messages());
    Ok(item)
}

/// Returns the files at a path: question files of a folder, else all files in it, or the file itself.
fn files(path: &Path) -> Result<Vec<File>> {
    let read = |cause| AuditError::read(path, cause);
    if !path.is_dir() {
        std::fs::metadata(path).map_err(read)?;
        return Ok(vec![
            QuestionFile::of(path).map_or_else(|| File::Other(path.to_owned()), File::Questions),
        ]);
    }
    let questions = in_folder(path).map_err(read)?;
    if !questions.is_empty() {
        return Ok(questions.into_iter().map(File::Questions).collect());
    }
    let mut others: Vec<PathBuf> = std::fs::read_dir(path)
        .map_err(read)?
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.is_file())
        .collect();
    others.sort();
    Ok(others.into_iter().map(File::Other).collect())
}

/// Reads the ground truths of an answer file by id; none if there is no such file.
fn answers(path: &Path) -> Result<HashMap<String, Vec<Value>>> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(HashMap::new()),
        Err(cause) => return Err(AuditError::read(path, cause)),
    };
    let mut answers = HashMap::new();
    for (number, line) in lines(&text) {
        let record: Value = serde_json::from_str(line).map_err(|error| AuditError::Entry {
            path: path.to_owned(),
            line: number,
            found: format!("not JSON: {error}"),
        })?;
        if let (Some(id), Some(calls)) = (record["id"].as_str(), record["ground_truth"].as_array()) {
            answers.insert(id.to_owned(), calls.clone());
        }
    }
    Ok(answers)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A benchmark of messages.
    pub(in crate::audit) fn benchmark_of(messages: &[&str]) -> Benchmark {
        let mut benchmark = Benchmark::default();
        benchmark.categories.push(Category {
            name: "messages".to_owned(),
            path: PathBuf::new(),
            sha256: String::new(),
        });
        for (record, message) in (1..).zip(messages) {
            let item = Item { queries: vec![(*message).to_owned()], ..Item::default() };
            benchmark.add_entry(record.to_string(), 0, record, item);
        }
        benchmark.queries.weigh(&benchmark.thresholds.query);
        benchmark
    }
}
