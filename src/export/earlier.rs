//! Reads an earlier dataset: a run folder, or any folder of BFCL files.
//!
//! A run folder also has the record that each entry was made from, and the records that were
//! merged into it. A plain folder has questions, functions and answers. Only the live categories
//! are read. Lines are returned unchanged, so that callers can copy them byte for byte.
//! Deliberately absent: the definition of an overlap (`stages::drop_baseline_overlap`), and
//! writing (`sink`).

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::Value;

use super::set::Set;
use crate::bfcl::category::Category;
use crate::bfcl::entry::{Entry, QuestionForm};
use crate::bfcl::files::ANSWERS;
use crate::conversation::Message;
use crate::engine::corpus::RowId;
use crate::engine::entries::{self, EntryOrigin};
use crate::engine::error::{At, Error, Result};
use crate::engine::fingerprint::sha256_of;
use crate::engine::frame::{Frame, FrameFile};
use crate::engine::layout::ENTRIES;
use crate::engine::manifest::{InputFile, read_run_file};

/// The versions of BFCL files, newest first; only the newest of each category is read.
const VERSIONS: [&str; 3] = ["v4", "v3", "v2"];
/// Number of rows of a Parquet file that are read at a time.
const GROUP_ROWS: usize = 1 << 16;

/// An earlier dataset.
#[derive(Debug)]
pub struct Earlier {
    dataset: PathBuf,
    /// `rows.parquet`, if the dataset is in a run folder.
    rows: Option<PathBuf>,
    files: Vec<EarlierFile>,
}

/// The files of one category and set.
#[derive(Debug)]
pub struct EarlierFile {
    /// The set.
    pub set: Set,
    /// The category.
    pub category: Category,
    /// The question file, one entry per line.
    pub questions: PathBuf,
    /// The answer file, on the same lines as the questions.
    pub answers: Option<PathBuf>,
}

/// An entry of an earlier dataset.
#[derive(Debug)]
pub struct EarlierEntry {
    /// Its id.
    pub id: String,
    /// The messages of its only turn.
    pub messages: Vec<Message>,
    /// Whether the messages are not in a list of turns, as in V2.
    pub is_flat: bool,
    /// The functions.
    pub functions: Vec<Value>,
    /// The place, as `file:line`.
    pub place: String,
}

impl Earlier {
    /// Finds the dataset in a run folder, or in a folder of BFCL files.
    ///
    /// # Errors
    /// If there is none.
    pub fn open(path: &Path) -> Result<Self> {
        let in_run = path.join("dataset");
        let is_run = in_run.is_dir();
        let dataset = if is_run { in_run } else { path.to_owned() };
        let mut files = Vec::new();
        for set in Set::ALL {
            let folder = set.folder(&dataset);
            for category in Category::ALL {
                files.extend(find(&folder, set, category)?);
            }
        }
        if files.is_empty() && !is_run {
            let path = path.display();
            return Err(Error::Setting(format!(
                "baseline {path}: found no dataset\nhint: name the folder of a finished run, or a folder with BFCL_v4_live_<category>.json"
            )));
        }
        let rows = if is_run { file_at(path.join("rows.parquet"))? } else { None };
        if rows.is_some() {
            check_ids(path)?;
        }
        Ok(Self { dataset, rows, files })
    }

    /// Returns whether a file of a run folder (by its relative name) is part of an earlier dataset.
    pub fn reads(name: &str) -> bool {
        let is_json = |name: &str| Path::new(name).extension().is_some_and(|end| end == "json");
        let in_dataset = |name: &str| is_json(name) || name.starts_with("data/");
        ["rows.parquet", ENTRIES].contains(&name) || name.strip_prefix("dataset/").is_some_and(in_dataset)
    }

    /// Returns the files of each category and set.
    pub fn files(&self) -> &[EarlierFile] {
        &self.files
    }

    /// Returns every file that is read, with its hash, in a fixed order.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn inputs(&self) -> Result<Vec<InputFile>> {
        let of_files =
            self.files.iter().flat_map(|file| [Some(file.questions.clone()), file.answers.clone()]);
        let tables = Set::ALL.map(|set| file_at(set.table(&self.dataset)));
        let tables = tables.into_iter().collect::<Result<Vec<_>>>()?;
        let origins = self.rows.as_ref().and_then(|rows| Some(entries::path(rows.parent()?)));
        let origins = origins.map_or(Ok(None), file_at)?;
        let paths = of_files.chain(tables).chain([self.rows.clone(), origins]).flatten();
        let input = |path: PathBuf| {
            let bytes = fs::metadata(&path).at("reading", &path)?.len();
            Ok(InputFile { sha256: sha256_of(&path)?, bytes, path: path.display().to_string() })
        };
        paths.map(input).collect()
    }

    /// Visits every entry, file by file.
    ///
    /// # Errors
    /// If a line is not an entry, an id is not unique within its set, or `visit` fails.
    pub fn for_each(&self, mut visit: impl FnMut(&EarlierFile, EarlierEntry) -> Result<()>) -> Result<()> {
        let mut seen: FxHashSet<(Set, String)> = FxHashSet::default();
        for file in &self.files {
            let text = fs::read_to_string(&file.questions).at("reading", &file.questions)?;
            for (at, line) in text.lines().enumerate() {
                let place = format!("{}:{}", file.questions.display(), at + 1);
                let entry = entry(line, place)?;
                if !seen.insert((file.set, entry.id.clone())) {
                    return Err(Error::Setting(format!("{}: duplicate id {}", entry.place, entry.id)));
                }
                visit(file, entry)?;
            }
        }
        Ok(())
    }

    /// Returns the rows of a set's Parquet file; `None` if there is no file.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn rows_of(&self, set: Set) -> Result<Option<Frame>> {
        let path = file_at(set.table(&self.dataset))?;
        path.map(|path| FrameFile::open(&path)?.read_all()).transpose()
    }

    /// Returns the record of each entry; empty if the folder is not a run folder.
    fn origins(&self) -> Result<Vec<EntryOrigin>> {
        match self.dataset.parent().filter(|_| self.rows.is_some()) {
            Some(run) => entries::read(run),
            None => Ok(Vec::new()),
        }
    }

    /// Returns the records of one set's entries by entry id.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn origins_of(&self, set: Set) -> Result<FxHashMap<String, EntryOrigin>> {
        let of_set = self.origins()?.into_iter().filter(|entry| entry.set == set.name());
        Ok(of_set.map(|entry| (entry.id.clone(), entry)).collect())
    }

    /// Returns the entry of each record: of the record it was made from and, with `merged`, of the records that were
    /// merged into that one. Only run folders have records.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn entries_of_records(&self, merged: bool) -> Result<FxHashMap<u128, String>> {
        let origins = self.origins()?;
        let mut entries: FxHashMap<u128, String> =
            origins.into_iter().filter_map(|entry| Some((entry.record()?, entry.id))).collect();
        if let (true, Some(rows)) = (merged, &self.rows) {
            let into = merges(rows)?;
            let entry_of = |record: u128| {
                let mut leader = record;
                // Merge chains have no cycles except in a damaged file.
                for _ in 0..into.len() {
                    let Some(&next) = into.get(&leader) else { break };
                    leader = next;
                }
                Some((record, entries.get(&leader)?.clone()))
            };
            // The result is a map again, so the order does not matter.
            #[allow(clippy::iter_over_hash_type)]
            let found: Vec<(u128, String)> = into.keys().filter_map(|&record| entry_of(record)).collect();
            entries.extend(found);
        }
        Ok(entries)
    }
}

/// Refuses a run whose ids this build cannot compare with its own.
fn check_ids(run: &Path) -> Result<()> {
    read_run_file(run).map(drop).map_err(|error| match error {
        Error::NoRun(_) => Error::Setting(format!(
            "baseline {run}: rows.parquet is there without run.json, so the form of its ids is unknown\nhint: name {run}/dataset, which is compared by its questions and docs",
            run = run.display()
        )),
        other => other,
    })
}

/// Returns, for each merged request of a run, the request it was merged into.
fn merges(rows: &Path) -> Result<FxHashMap<u128, u128>> {
    let file = FrameFile::open(rows)?;
    let mut into = FxHashMap::default();
    for start in (0..file.height()).step_by(GROUP_ROWS) {
        let length = GROUP_ROWS.min(file.height() - start);
        let frame = file.read(start, length, Some(&["request_id", "merged_into"]))?;
        let (Some(ids), Some(leaders)) = (frame.texts("request_id"), frame.texts("merged_into")) else {
            continue;
        };
        for row in 0..frame.height() {
            if let (Some(id), Some(leader)) =
                (ids.get(row).and_then(RowId::number), leaders.get(row).and_then(RowId::number))
            {
                into.insert(id, leader);
            }
        }
    }
    Ok(into)
}

fn find(folder: &Path, set: Set, category: Category) -> Result<Option<EarlierFile>> {
    for version in VERSIONS {
        let name = format!("BFCL_{version}_live_{}.json", category.name());
        let Some(questions) = file_at(folder.join(&name))? else { continue };
        let answers = category.has_answers().then(|| folder.join(ANSWERS).join(name));
        let answers = answers.map_or(Ok(None), file_at)?;
        return Ok(Some(EarlierFile { set, category, questions, answers }));
    }
    Ok(None)
}

/// Returns the path if it is a file, and `None` if nothing is there. Anything else is an error: a pipe would block,
/// and a folder would be ignored silently.
fn file_at(path: PathBuf) -> Result<Option<PathBuf>> {
    match fs::metadata(&path) {
        Ok(found) if found.is_file() => Ok(Some(path)),
        Ok(found) => {
            let what = if found.is_dir() { "a folder" } else { "a pipe or a device" };
            let shown = path.display();
            Err(Error::Setting(format!(
                "baseline {shown}: found {what}, expected a file\nhint: remove it, or use another folder"
            )))
        }
        Err(error) if error.kind() == ErrorKind::NotFound && !path.is_symlink() => Ok(None),
        found => found.at("reading", &path).map(|_| None),
    }
}

/// Reads one line of a question file; `place` is its place in error messages.
///
/// # Errors
/// If the line is not an entry.
pub fn entry(line: &str, place: String) -> Result<EarlierEntry> {
    let wrong = |what: String| Error::Setting(format!("{place}: {what}"));
    let record: Value = serde_json::from_str(line)
        .map_err(|error| wrong(format!("expected an entry with id, question and function: {error}")))?;
    let Some(id) = record.get("id").and_then(Value::as_str) else {
        return Err(wrong("expected an entry with id, question and function, found no id".to_owned()));
    };
    let read = Entry::read(&record).map_err(|fault| wrong(format!("entry {id}: {fault}")))?;
    let Value::Array(functions) = read.function else {
        return Err(wrong(format!("entry {id}: expected a list of functions")));
    };
    let is_flat = read.form == QuestionForm::Messages;
    let is_empty = read.form == QuestionForm::Text || read.turns.iter().all(Vec::is_empty);
    if is_empty {
        return Err(wrong(format!("entry {id}: expected a question of messages with role and content")));
    }
    let (id, functions) = (id.to_owned(), functions.clone());
    Ok(EarlierEntry { id, messages: read.into_messages(), is_flat, functions, place })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_with_and_without_turns_are_read() {
        let read = |question: &str| {
            entry(
                &format!(r#"{{"id": "live_simple_0-0-0", "question": {question}, "function": []}}"#),
                "f:1".into(),
            )
        };
        let nested =
            read(r#"[[{"role": "system", "content": "Be brief."}, {"content": "Ring.", "role": "user"}]]"#)
                .unwrap();
        let flat =
            read(r#"[{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Ring."}]"#)
                .unwrap();
        assert_eq!(nested.messages, flat.messages);
        assert_eq!((nested.is_flat, flat.is_flat, nested.messages.len()), (false, true, 2));
        let error = read(r#"[[{"role": "user"}]]"#).unwrap_err().to_string();
        assert_eq!(
            error,
            "f:1: entry live_simple_0-0-0: \"question\": expected messages with a role and a text as content, found {\"role\":\"user\"}"
        );
    }

    #[test]
    fn a_folder_in_the_place_of_a_file_is_refused() {
        let line = "{\"id\": \"a\", \"question\": [[{\"role\": \"user\", \"content\": \"Ring.\"}]], \"function\": []}\n";
        for name in [
            "BFCL_v4_live_multiple.json",
            "possible_answer/BFCL_v4_live_simple.json",
            "unverified/BFCL_v4_live_relevance.json",
            "data/scored.parquet",
        ] {
            let folder = tempfile::tempdir().unwrap();
            fs::write(folder.path().join("BFCL_v4_live_simple.json"), line).unwrap();
            let read = || Earlier::open(folder.path()).and_then(|earlier| earlier.inputs());
            assert_eq!(read().unwrap().len(), 1);
            fs::create_dir_all(folder.path().join(name)).unwrap();
            let error = read().unwrap_err().to_string();
            assert!(error.contains(name) && error.contains("found a folder, expected a file"), "{error}");
        }
    }

    #[test]
    fn the_newest_version_of_a_category_is_read_and_ids_must_be_unique() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, ids: &[&str]| {
            let line = |id: &&str| {
                format!(
                    "{{\"id\": \"{id}\", \"question\": [[{{\"role\": \"user\", \"content\": \"Ring.\"}}]], \"function\": []}}\n"
                )
            };
            fs::write(folder.path().join(name), ids.iter().map(line).collect::<String>()).unwrap();
        };
        assert!(Earlier::open(folder.path()).unwrap_err().to_string().contains("found no dataset"));
        write("BFCL_v3_live_simple.json", &["old"]);
        write("BFCL_v4_live_simple.json", &["a", "b"]);
        let earlier = Earlier::open(folder.path()).unwrap();
        let ids = |earlier: &Earlier| {
            let mut ids = Vec::new();
            earlier
                .for_each(|_, entry| {
                    ids.push(entry.id);
                    Ok(())
                })
                .map(|()| ids)
        };
        assert_eq!(ids(&earlier).unwrap(), ["a", "b"]);
        assert_eq!(earlier.inputs().unwrap().len(), 1);
        write("BFCL_v4_live_relevance.json", &["b"]);
        let error = ids(&Earlier::open(folder.path()).unwrap()).unwrap_err().to_string();
        assert!(error.ends_with("BFCL_v4_live_relevance.json:1: duplicate id b"), "{error}");
    }
}
