//! A cached set in the form in which it is compared: its functions and queries, by content.
//!
//! Reading a large set and converting its functions takes longer than comparing with it. The result is cached next to
//! the sets, in a file named by the hashes of the set's files and of everything that decides the form. An unreadable
//! cache file is created again, and without write access nothing is cached.

use std::path::{Path, PathBuf};

use rayon::prelude::*;
use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::SetError;
use super::catalogue::{Catalogue, PublicSet, SAMPLE};
use super::form::{self, VERSION};
use super::store::{Loaded, Summary, hashes, load};
use callsieve_docs::{canonical, fix};
use callsieve_engine::fingerprint::Fingerprint;
use callsieve_engine::frame::{FrameFile, Values, write_frame};
use callsieve_similarity::overlap::Function;
use callsieve_text::normal::normalise_query;

/// The folder of the cache, next to the folders of sets.
const FOLDER: &str = ".index";

/// A set in the form in which it is compared.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Indexed {
    /// Counts and faults.
    pub summary: Summary,
    /// Each function with the id of its record; one per spelling.
    pub functions: Vec<(String, Function)>,
    /// Each query in its normal form, with the id of its record.
    pub queries: Vec<(String, String)>,
}

/// The first row of a cache file, with everything that belongs to no function or query.
#[derive(Serialize, Deserialize)]
struct IndexHeader {
    summary: Summary,
    n_functions: usize,
}

/// Returns the set, from the cache or its files; `None` if it is not on disk.
///
/// # Errors
/// If a file of the set cannot be read.
pub fn open(catalogue: &Catalogue, set: &PublicSet) -> Result<Option<Indexed>, SetError> {
    let Some(hashes) = hashes(catalogue, set)? else { return Ok(None) };
    let path = path(catalogue, set, &hashes);
    if let Some(indexed) = FrameFile::open(&path).ok().and_then(|file| Indexed::read(&file)) {
        return Ok(Some(indexed));
    }
    let Some(loaded) = load(catalogue, set)? else { return Ok(None) };
    let indexed = Indexed::of(&loaded);
    if set.id != SAMPLE {
        indexed.keep(&path);
    }
    Ok(Some(indexed))
}

fn path(catalogue: &Catalogue, set: &PublicSet, hashes: &[String]) -> PathBuf {
    let mut key = Fingerprint::default();
    key.add_part("form", &VERSION.to_le_bytes());
    key.add_part("fixes", &fix::VERSION.to_le_bytes());
    key.add_part("set", set.format.as_bytes());
    for hash in hashes {
        key.add_part("file", hash.as_bytes());
    }
    catalogue.dir.join(FOLDER).join(&set.id).join(format!("{}.parquet", key.finish()))
}

impl Indexed {
    fn of(loaded: &Loaded) -> Self {
        // Sets repeat functions in many records; equal spellings are fixed once.
        let mut spellings = FxHashSet::default();
        let distinct: Vec<&(String, Value)> = loaded
            .functions
            .iter()
            .filter(|(_, value)| spellings.insert(canonical::key(std::slice::from_ref(value))))
            .collect();
        let form = |(record, value): &&(String, Value)| (record.clone(), form::function(value));
        Self {
            summary: loaded.summary.clone(),
            functions: distinct.par_iter().map(form).collect(),
            queries: loaded
                .queries
                .par_iter()
                .map(|(record, query)| (record.clone(), normalise_query(query)))
                .collect(),
        }
    }

    /// Writes the cache file and removes the previous one of the set; without write access, the next run creates it
    /// again.
    fn keep(&self, path: &Path) {
        let Some(folder) = path.parent() else { return };
        // Never through a link: its target is not our cache.
        if folder.ancestors().take(2).any(Path::is_symlink) {
            return;
        }
        for outdated in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            if is_index(&outdated.path()) {
                let _ = std::fs::remove_file(outdated.path());
            }
        }
        let written = path.with_extension(format!("{}.tmp", std::process::id()));
        let kept = std::fs::create_dir_all(folder).is_ok()
            && self.write(&written).is_ok()
            && std::fs::rename(&written, path).is_ok();
        if !kept {
            let _ = std::fs::remove_file(&written);
        }
    }

    fn write(&self, path: &Path) -> callsieve_engine::error::Result<()> {
        let about = IndexHeader { summary: self.summary.clone(), n_functions: self.functions.len() };
        let about = serde_json::to_string(&about).expect("a summary can be serialised");
        let parameters: Vec<String> = self
            .functions
            .iter()
            .map(|(_, function)| {
                serde_json::to_string(&function.parameters).expect("names can be serialised")
            })
            .collect();
        let functions = self.functions.iter().zip(&parameters);
        let of_functions = functions.map(|((record, function), parameters)| {
            [record, &function.text, &function.name, parameters].map(|text| Some(text.as_str()))
        });
        let of_queries =
            self.queries.iter().map(|(record, query)| [Some(record.as_str()), Some(query), None, None]);
        let first = [None, Some(about.as_str()), None, None];
        let mut columns: [Vec<Option<&str>>; 4] = Default::default();
        for row in std::iter::once(first).chain(of_functions).chain(of_queries) {
            columns.iter_mut().zip(row).for_each(|(column, cell)| column.push(cell));
        }
        let names = ["record", "text", "name", "parameters"];
        write_frame(path, names.into_iter().zip(columns.map(Values::Text)).collect())
    }

    fn read(file: &FrameFile) -> Option<Self> {
        let frame = file.read_all().ok()?;
        let cells = |name| frame.texts(name);
        let (records, texts) = (cells("record")?, cells("text")?);
        let (names, parameters) = (cells("name")?, cells("parameters")?);
        let about: IndexHeader = serde_json::from_str(texts.get(0)?).ok()?;
        let record_and_text = |row: usize| Some((records.get(row)?.to_owned(), texts.get(row)?.to_owned()));
        let function = |row: usize| {
            let (record, text) = record_and_text(row)?;
            let parameters = serde_json::from_str(parameters.get(row)?).ok()?;
            Some((record, Function { name: names.get(row)?.to_owned(), parameters, text }))
        };
        let first_query = 1 + about.n_functions;
        Some(Self {
            summary: about.summary,
            functions: (1..first_query).map(function).collect::<Option<_>>()?,
            queries: (first_query..frame.height()).map(record_and_text).collect::<Option<_>>()?,
        })
    }
}

/// Returns true if a file has the name of a cache file of [`Indexed::keep`]: 64 hex digits.
fn is_index(path: &Path) -> bool {
    let stem = path.file_name().and_then(|name| name.to_str()).and_then(|name| name.split_once('.'));
    stem.is_some_and(|(key, rest)| {
        let is_ours = rest == "parquet" || rest.ends_with("tmp") || rest.ends_with("partial");
        is_ours && key.len() == 64 && key.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn catalogue(folder: &Path, record: &str) -> Catalogue {
        let set = folder.join("toolace");
        std::fs::create_dir_all(&set).unwrap();
        std::fs::write(set.join("data.jsonl"), record).unwrap();
        Catalogue::open(folder).unwrap()
    }

    #[test]
    fn a_cached_set_is_equal_to_the_original() {
        let none = Catalogue::open(Path::new("no-such-folder")).unwrap();
        let sample = load(&none, none.set(SAMPLE).unwrap());
        let indexed = Indexed::of(&sample.unwrap().unwrap());
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep").join("set.parquet");
        indexed.keep(&path);
        assert_eq!(Indexed::read(&FrameFile::open(&path).unwrap()), Some(indexed));
    }

    #[test]
    fn changed_files_and_damaged_indexes_are_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let opened = |record: &str| {
            let catalogue = catalogue(folder.path(), record);
            open(&catalogue, catalogue.set("toolace").unwrap()).unwrap().unwrap()
        };
        let kept = folder.path().join(FOLDER).join("toolace");
        let indexes = || std::fs::read_dir(&kept).unwrap().map(|file| file.unwrap().path());
        let first = opened("{}\n");
        assert_eq!((first.summary.records, indexes().count()), (1, 1));
        assert_eq!((opened("{}\n{}\n").summary.records, indexes().count()), (2, 1));
        opened("{}\n");
        indexes().for_each(|path| std::fs::write(path, "damaged").unwrap());
        assert_eq!(opened("{}\n"), first);
    }
}
