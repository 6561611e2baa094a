//! The formats of benchmarks: a table of readers, the signs by which a file is recognised, and the files of a path.
//!
//! A folder counts with the question files of BFCL in it, or else with the files in it and below it that have the signs
//! of a format, or else with all files in it as rows. A file without signs is read as rows: any request, conversation
//! or text that a training set may have. [`AnyFormat::of`] finds a format by its name, also those of public sets.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::entry::{BenchError, ReadEntry, Result};
use super::read::{Peek, Reading};
use super::{api_bank, bfcl, columns, nestful, rows, seal_tools, tau_bench, toolbench};
use crate::AuditError;
use callsieve_engine::fingerprint::{Fingerprint, hex, sha256_of};
use callsieve_engine::marker::is_run;
use callsieve_ingest::source::is_set_facts;
use callsieve_public_sets::formats as public;

/// A format of benchmarks.
#[derive(Debug)]
pub struct BenchmarkFormat {
    /// Its name, as `--bench-format` has it.
    pub name: &'static str,
    /// What it reads.
    pub what: &'static str,
    /// Returns whether a file has its signs.
    pub(super) is_of: fn(&Peek<'_>) -> bool,
    /// Reads the entries of a category.
    pub(super) read: fn(&Source, &Reading<'_>) -> Result<Vec<ReadEntry>>,
    /// Returns the files next to a file that may be read with it.
    pub(super) companions: fn(&Path) -> Result<Vec<PathBuf>>,
    /// Whether each file is one entry, so that the files of a folder are a category.
    pub(super) is_entry_a_file: bool,
}

/// The format of question files.
const BFCL: AnyFormat = AnyFormat::Bench(&FORMATS[0]);
/// The format of files without signs.
const ROWS: AnyFormat = AnyFormat::Bench(&FORMATS[7]);

/// All formats with signs, and those without at the end. No file has the signs of two.
pub static FORMATS: [BenchmarkFormat; 8] = [
    BenchmarkFormat {
        name: "bfcl",
        what: "BFCL question files of all versions and categories, with possible_answer and multi_turn_func_doc",
        is_of: |peek| bfcl::is_name(peek.name),
        read: bfcl::read,
        companions: bfcl::companions,
        is_entry_a_file: false,
    },
    BenchmarkFormat {
        name: "toolbench",
        what: "ToolBench and StableToolBench: query, query_id and api_list",
        is_of: toolbench::is_of,
        read: toolbench::read,
        companions: |_| Ok(Vec::new()),
        is_entry_a_file: false,
    },
    BenchmarkFormat {
        name: "api-bank",
        what: "API-Bank dialogues, one a file, with all_apis.csv",
        is_of: api_bank::is_of,
        read: api_bank::read,
        companions: api_bank::companions,
        is_entry_a_file: true,
    },
    BenchmarkFormat {
        name: "seal-tools",
        what: "Seal-Tools: query and calling, with tool.jsonl",
        is_of: seal_tools::is_of,
        read: seal_tools::read,
        companions: seal_tools::companions,
        is_entry_a_file: false,
    },
    BenchmarkFormat {
        name: "nestful",
        what: "NESTFUL: input and a labelled output, with tools or the specification file",
        is_of: nestful::is_of,
        read: nestful::read,
        companions: nestful::companions,
        is_entry_a_file: false,
    },
    BenchmarkFormat {
        name: "tau-bench",
        what: "τ-bench tasks in Python or JSON, τ²-bench tasks in JSON, with the tools folder",
        is_of: tau_bench::is_of,
        read: tau_bench::read,
        companions: tau_bench::companions,
        is_entry_a_file: false,
    },
    BenchmarkFormat {
        name: "columns",
        what: "any file whose columns are named with --bench-column",
        is_of: |_| false,
        read: columns::read,
        companions: |_| Ok(Vec::new()),
        is_entry_a_file: false,
    },
    BenchmarkFormat {
        name: "rows",
        what: "any file that a training set may be",
        is_of: |_| false,
        read: rows::read,
        companions: |_| Ok(Vec::new()),
        is_entry_a_file: false,
    },
];

/// A format by its name: of benchmarks, or of public sets.
#[derive(Debug, Clone, Copy)]
pub enum AnyFormat {
    /// A format of benchmarks.
    Bench(&'static BenchmarkFormat),
    /// A format of public sets, which has no calls.
    Public(&'static public::PublicSetFormat),
}

impl AnyFormat {
    /// Returns the format with a name.
    pub fn of(name: &str) -> Option<Self> {
        let bench = FORMATS.iter().find(|format| format.name == name).map(Self::Bench);
        bench.or_else(|| public::PublicSetFormat::of(name).map(Self::Public))
    }

    /// Returns the names of all formats.
    pub fn names() -> Vec<&'static str> {
        let public = public::FORMATS.iter().map(|format| format.name);
        let mut names: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
        names.extend(public.filter(|name| !FORMATS.iter().any(|format| format.name == *name)));
        names
    }

    fn is_of(self, peek: &Peek<'_>) -> bool {
        match self {
            Self::Bench(format) => (format.is_of)(peek),
            Self::Public(_) => false,
        }
    }

    fn is_entry_a_file(self) -> bool {
        matches!(self, Self::Bench(format) if format.is_entry_a_file)
    }
}

/// A category: files of one format.
#[derive(Debug)]
pub(crate) struct Source {
    /// Its name in results.
    pub(super) name: String,
    /// Its file, or the folder of its files.
    pub(super) path: PathBuf,
    /// Its files, sorted.
    pub(super) files: Vec<PathBuf>,
    format: AnyFormat,
}

impl Source {
    fn of_file(path: &Path, format: AnyFormat) -> Self {
        let file_name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let name = match format {
            AnyFormat::Bench(format) if format.name == "bfcl" => bfcl::category(&file_name),
            _ => file_name,
        };
        Self { name, path: path.to_owned(), files: vec![path.to_owned()], format }
    }

    fn of_folder(folder: &Path, files: Vec<PathBuf>, format: AnyFormat) -> Self {
        let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        Self { name, path: folder.to_owned(), files, format }
    }

    /// Reads its entries.
    pub(super) fn read(&self, reading: &Reading<'_>) -> Result<Vec<ReadEntry>> {
        match self.format {
            AnyFormat::Bench(format) => (format.read)(self, reading),
            AnyFormat::Public(format) => columns::read_public(self, format),
        }
    }

    /// Returns the name of its format.
    pub(super) fn format_name(&self) -> &'static str {
        match self.format {
            AnyFormat::Bench(format) => format.name,
            AnyFormat::Public(format) => format.name,
        }
    }

    /// Returns its files and those that may be read with them, each once and in order.
    pub(super) fn all_files(&self) -> Result<Vec<PathBuf>> {
        let mut all = self.files.clone();
        if let AnyFormat::Bench(format) = self.format {
            for file in &self.files {
                all.extend((format.companions)(file)?);
            }
        }
        all.sort();
        all.dedup();
        Ok(all)
    }

    /// Adds to a resume key what is read of it: the content of exactly the files that its reader may open.
    pub(crate) fn fingerprint(&self, fingerprint: &mut Fingerprint) -> Result<()> {
        fingerprint.add_part("source", self.name.as_bytes());
        fingerprint.add_part("format", self.format_name().as_bytes());
        for path in self.all_files()? {
            let sha256 =
                sha256_of(&path).map_err(|error| AuditError::read(&path, std::io::Error::other(error)))?;
            // A file is read by its name.
            fingerprint.add_part("name", path.file_name().unwrap_or_default().as_encoded_bytes());
            fingerprint.add_part("file", sha256.as_bytes());
        }
        Ok(())
    }

    /// Returns the SHA-256 of its file, or of the names and hashes of its files.
    pub(super) fn sha256(&self) -> Result<String> {
        let of = |path: &Path| {
            sha256_of(path).map_err(|error| AuditError::read(path, std::io::Error::other(error)))
        };
        if let [file] = &self.files[..] {
            return of(file);
        }
        let mut list = String::new();
        for file in &self.files {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            list += &format!("{}  {name}\n", of(file)?);
        }
        Ok(hex(&<sha2::Sha256 as sha2::Digest>::digest(list.as_bytes())))
    }
}

/// The deepest folder that is looked at.
const MAX_DEPTH: usize = 8;
/// Extensions, without compression, of files that may have signs.
const DATA: [&str; 5] = ["json", "jsonl", "ndjson", "parquet", "py"];

/// Returns the categories at a path, in the order of their names.
pub(crate) fn sources(path: &Path, wanted: Option<AnyFormat>) -> Result<Vec<Source>> {
    if !path.is_dir() {
        std::fs::metadata(path).map_err(|cause| AuditError::read(path, cause))?;
        let format = match wanted {
            Some(wanted) => wanted,
            None => format_of(path)?.unwrap_or(ROWS),
        };
        return Ok(vec![Source::of_file(path, format)]);
    }
    let mut found = Vec::new();
    walk(path, wanted, &mut Depth::new(), &mut found)?;
    if found.is_empty() {
        let format = wanted.unwrap_or(ROWS);
        let mut files = Vec::new();
        data_below(path, &mut Depth::new(), &mut files)?;
        if format.is_entry_a_file() {
            return Ok(vec![Source::of_folder(path, files, format)]);
        }
        return Ok(files.iter().map(|path| Source::of_file(path, format)).collect());
    }
    Ok(found)
}

/// The files that are in a benchmark already, by their real paths.
#[derive(Debug, Default)]
pub(crate) struct OpenedFiles(BTreeSet<PathBuf>);

impl OpenedFiles {
    /// Removes files that were given before, under any name, and sources without other files.
    pub(crate) fn new_of(&mut self, sources: Vec<Source>) -> Vec<Source> {
        let left = sources.into_iter().map(|mut source| {
            source.files.retain(|file| self.0.insert(real(file)));
            source
        });
        left.filter(|source| !source.files.is_empty()).collect()
    }
}

fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// The folders above the one that is looked at, and all that were.
struct Depth {
    left: usize,
    seen: BTreeSet<PathBuf>,
}

impl Depth {
    fn new() -> Self {
        Self { left: MAX_DEPTH, seen: BTreeSet::new() }
    }

    /// Looks into the folders among some paths: none that is hidden, the folder of a run, or was seen, as by a link to a
    /// folder above.
    fn below(
        &mut self,
        entries: &[PathBuf],
        mut look: impl FnMut(&Path, &mut Self) -> Result<()>,
    ) -> Result<()> {
        if self.left == 0 {
            return Ok(());
        }
        self.left -= 1;
        for folder in entries.iter().filter(|path| path.is_dir() && !is_hidden(path) && !is_run(path)) {
            if self.seen.insert(real(folder)) {
                look(folder, self)?;
            }
        }
        self.left += 1;
        Ok(())
    }
}

/// Adds the data files in a folder, then those of the folders in it, whatever they hold.
fn data_below(folder: &Path, depth: &mut Depth, found: &mut Vec<PathBuf>) -> Result<()> {
    let entries = listed(folder)?;
    depth.seen.insert(real(folder));
    found.extend(entries.iter().filter(|path| is_data(path)).cloned());
    depth.below(&entries, |folder, depth| data_below(folder, depth, found))
}

/// Adds the files with signs in a folder, then those of the folders in it.
fn walk(folder: &Path, wanted: Option<AnyFormat>, depth: &mut Depth, found: &mut Vec<Source>) -> Result<()> {
    depth.seen.insert(real(folder));
    if wanted.is_none_or(|wanted| matches!(wanted, AnyFormat::Bench(format) if format.name == "bfcl")) {
        let questions = bfcl::in_folder(folder)?;
        if !questions.is_empty() {
            found.extend(questions.iter().map(|path| Source::of_file(path, BFCL)));
            return Ok(());
        }
    }
    let entries = listed(folder)?;
    let mut whole: Vec<(AnyFormat, Vec<PathBuf>)> = Vec::new();
    for path in entries.iter().filter(|path| is_data(path)) {
        let format = match wanted {
            None => format_of(path)?,
            Some(wanted) => Peek::with(path, |peek| wanted.is_of(peek))?.then_some(wanted),
        };
        match format {
            Some(format) if format.is_entry_a_file() => match whole.last_mut() {
                Some((_, files)) => files.push(path.clone()),
                None => whole.push((format, vec![path.clone()])),
            },
            Some(format) => found.push(Source::of_file(path, format)),
            None => {}
        }
    }
    found.extend(whole.into_iter().map(|(format, files)| Source::of_folder(folder, files, format)));
    depth.below(&entries, |folder, depth| walk(folder, wanted, depth, found))
}

/// Returns the format whose signs a file has.
fn format_of(path: &Path) -> Result<Option<AnyFormat>> {
    Peek::with(path, |peek| FORMATS.iter().find(|format| (format.is_of)(peek)).map(AnyFormat::Bench))
}

/// Returns what is in a folder, by name. An entry that cannot be looked at could be a file of the benchmark: it is an error.
pub(super) fn listed(folder: &Path) -> Result<Vec<PathBuf>> {
    let read = |cause| AuditError::read(folder, cause);
    let entries = std::fs::read_dir(folder).map_err(read)?;
    let mut paths = entries
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<std::io::Result<Vec<_>>>()
        .map_err(read)?;
    paths.sort();
    for path in paths.iter().filter(|path| !is_hidden(path)) {
        path.metadata().map_err(|cause| AuditError::read(path, cause))?;
    }
    Ok(paths)
}

pub(super) fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'))
}

fn is_data(path: &Path) -> bool {
    let extension = |path: &Path| path.extension().map(|word| word.to_string_lossy().to_ascii_lowercase());
    let is_packed = matches!(extension(path).as_deref(), Some("gz" | "zst"));
    let bare = if is_packed { path.with_extension("") } else { path.to_owned() };
    path.is_file()
        && !is_hidden(path)
        && !is_set_facts(path)
        && extension(&bare).is_some_and(|word| DATA.contains(&word.as_str()))
}

/// Returns the reader of a name, or an error with all names.
///
/// # Errors
/// If there is no format with this name.
pub fn format_named(name: &str) -> std::result::Result<AnyFormat, BenchError> {
    AnyFormat::of(name)
        .ok_or_else(|| BenchError::Format { name: name.to_owned(), names: AnyFormat::names().join(", ") })
}

/// Returns whether a value is an object with all of these keys.
pub(super) fn has(value: &Value, keys: &[&str]) -> bool {
    value.as_object().is_some_and(|object| keys.iter().all(|key| object.contains_key(*key)))
}
