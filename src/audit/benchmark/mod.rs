//! Reads benchmarks, and indexes what can be found of their entries.
//!
//! [`formats`] is the table of readers, with a file for each format; `read` reads records, `entry` is what they become.

mod api_bank;
mod bfcl;
mod columns;
mod entry;
pub mod formats;
mod nestful;
mod read;
mod rows;
mod seal_tools;
mod tau_bench;
mod toolbench;

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::functions::{DocIndex, DocThresholds};
use super::hit::{Hit, Verdict};
use super::item::{Docs, Item};
use super::queries::{QueryIndex, QueryThresholds};
use super::rows::Fallback;
use super::{AuditError, Result};
use crate::docs::parse::parse;
use crate::ingest::log_formats::Columns;
use formats::{AnyFormat, Source, sources};
use read::Reading;

pub use columns::{BenchColumn, BenchColumns};
pub use entry::BenchError;

/// When what overlaps.
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Thresholds {
    /// Of user messages.
    pub query: QueryThresholds,
    /// Of functions and answers.
    pub docs: DocThresholds,
}

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
    queries: QueryIndex,
    docs: DocIndex,
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

/// How the files of benchmarks are read.
#[derive(Debug, Clone, Default)]
pub struct BenchForm {
    /// The format of all files; that of their signs if `None`.
    pub format: Option<AnyFormat>,
    /// The columns of the format `columns`.
    pub columns: BenchColumns,
}

impl Benchmark {
    /// Reads and indexes files and folders, each in the format whose signs it has (see [`formats`]).
    ///
    /// # Errors
    /// A path cannot be read, or no entry is in it.
    pub fn read(
        paths: &[PathBuf],
        columns: &Columns,
        thresholds: Thresholds,
        fallback: &Fallback,
    ) -> Result<Self> {
        Self::read_as(paths, columns, thresholds, fallback, &BenchForm::default())
    }

    /// Reads and indexes files and folders like [`Self::read`], all in one format.
    ///
    /// # Errors
    /// A path cannot be read, or no entry is in it.
    pub fn read_as(
        paths: &[PathBuf],
        columns: &Columns,
        thresholds: Thresholds,
        fallback: &Fallback,
        form: &BenchForm,
    ) -> Result<Self> {
        let mut benchmark = Self { thresholds, ..Self::default() };
        let reading = Reading { columns, fallback, named: &form.columns };
        for path in paths {
            for source in sources(path, form.format)? {
                let category = benchmark.add_category(&source)?;
                for entry in source.read(&reading)? {
                    benchmark.add_entry(entry.id, category, entry.record, entry.item);
                }
            }
        }
        if benchmark.entries.is_empty() {
            let names: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
            return Err(AuditError::NoEntry { paths: names.join(", ") });
        }
        benchmark.queries.weigh();
        Ok(benchmark)
    }

    fn add_category(&mut self, source: &Source) -> Result<u32> {
        let Source { name, path, .. } = source;
        self.categories.push(Category { name: name.clone(), path: path.clone(), sha256: source.sha256()? });
        Ok(u32::try_from(self.categories.len() - 1).expect("fewer than 2^32 files"))
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
        if !functions.is_empty() {
            self.docs.add_functions(entry, &functions);
            scorable.functions = true;
        }
        scorable.call = self.docs.add_answer(entry, item.calls, &self.thresholds.docs);
        self.scorable.push(scorable);
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
        self.docs.find_answers(&item.calls, &mut hits);
        hits
    }
}

/// Returns the verdict on a row: the surest of its hits.
pub fn verdict(hits: &[Hit], is_scorable: bool) -> Verdict {
    let found = hits.iter().map(|hit| hit.verdict).max();
    found.unwrap_or(if is_scorable { Verdict::Clean } else { Verdict::Unscorable })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Writes files into a folder, and returns its categories with their entries.
    pub(super) fn read_files(files: &[(&str, &str)]) -> Result<Vec<(String, Vec<entry::ReadEntry>)>> {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            #[allow(clippy::disallowed_methods)] // Files of a test.
            std::fs::write(path, text).unwrap();
        }
        let (columns, fallback, named) = (Columns::default(), Fallback::default(), BenchColumns::default());
        let reading = Reading { columns: &columns, fallback: &fallback, named: &named };
        let sources = sources(folder.path(), None)?;
        sources.iter().map(|source| Ok((source.name.clone(), source.read(&reading)?))).collect()
    }

    #[test]
    fn every_format_has_its_own_name() {
        let names = AnyFormat::names();
        assert!(names.iter().all(|name| AnyFormat::of(name).is_some()), "{names:?}");
        assert_eq!(names.iter().collect::<std::collections::BTreeSet<_>>().len(), names.len(), "{names:?}");
        let message = formats::format_named("toolbenc").unwrap_err().to_string();
        assert!(
            message.starts_with("--bench-format: found \"toolbenc\", expected one of bfcl, toolbench, "),
            "{message}"
        );
    }

    #[test]
    fn a_folder_without_signs_is_read_as_rows_and_hidden_folders_are_passed_over() {
        let row = "{\"messages\": [{\"role\": \"user\", \"content\": \"Ring.\"}]}";
        let read = read_files(&[("a.jsonl", row), ("b.jsonl", row), (".git/tasks.json", "[]")]).unwrap();
        assert_eq!(
            read.iter().map(|(name, entries)| (name.as_str(), entries.len())).collect::<Vec<_>>(),
            [("a.jsonl", 1), ("b.jsonl", 1)]
        );
    }
}
