//! The input files of a run: files, folders and patterns as people name them, and a name made of them.
//!
//! A folder means every data file in it and below, in the order of their names. Hidden entries are skipped, and so
//! is what callsieve wrote itself: run folders and files of decisions. A pattern (`logs/*.jsonl.gz`) is expanded where the
//! shell has not done so. Pipelines and the command line take the same.

use std::io;
use std::path::{Path, PathBuf};

use super::Error;
use super::error::refuse;
use super::own_files::is_decisions_file;
use super::pattern::{is_pattern, matching_files};
use crate::engine::marker::is_run;
use crate::folder_entries::entries;
use crate::ingest::source::is_set_facts;
use crate::text::figures::counted;
use crate::text::os_error::{cause_of, hint_of};

/// Extensions of files that may hold a log, before `.gz` or `.zst`.
const EXTENSIONS: [&str; 6] = ["json", "jsonl", "ndjson", "csv", "tsv", "parquet"];

/// The files that some paths name.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Expanded {
    /// The files, in order.
    pub files: Vec<PathBuf>,
    /// Run folders in the given folders; their files are no logs.
    pub skipped_runs: Vec<PathBuf>,
    /// Files of decisions in the given folders.
    pub skipped_decisions: Vec<PathBuf>,
    /// Files in the given folders that describe a set, such as `dataset_infos.json`.
    pub skipped_facts: Vec<PathBuf>,
    /// Links to folders in the given folders; they are not followed.
    pub skipped_links: Vec<PathBuf>,
}

impl Expanded {
    /// Returns one line that names what was skipped in the given folders; `None` if nothing was.
    pub fn skipped(&self) -> Option<String> {
        let part = |paths: &[PathBuf], one: &str, several: &str| {
            let first = paths.first()?.display();
            let more = if paths.len() > 1 { ", …" } else { "" };
            Some(format!("{} ({first}{more})", counted(paths.len() as u64, one, several)))
        };
        let parts = [
            part(&self.skipped_runs, "run folder", "run folders"),
            part(&self.skipped_decisions, "file of decisions", "files of decisions"),
            part(&self.skipped_facts, "description of a set", "descriptions of sets"),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        let no_logs = (!parts.is_empty()).then(|| format!("{}: not logs", parts.join(" and ")));
        let links = part(&self.skipped_links, "link to a folder", "links to folders");
        let links = links.map(|links| format!("{links}: not followed"));
        let skipped: Vec<String> = [no_logs, links].into_iter().flatten().collect();
        (!skipped.is_empty()).then(|| format!("skipped {}", skipped.join(", and ")))
    }
}

/// Returns the files that some paths name: folders and patterns are expanded, other paths are returned as they are.
///
/// # Errors
/// A folder is a run folder, holds no data file or cannot be listed, or a pattern is malformed or matches nothing.
pub fn expand(paths: &[PathBuf]) -> Result<Expanded, Error> {
    let mut found = Expanded::default();
    for path in paths {
        if path.is_dir() {
            let shown = path.display();
            if is_run(path) {
                return refuse(format!(
                    "input {shown}: this is a run folder, not a log\nhint: name the log; `callsieve report {shown}` shows the run"
                ));
            }
            let n_before = found.files.len();
            add_folder(path, &mut found)?;
            if found.files.len() == n_before {
                let skipped = found.skipped().map(|skipped| format!("; {skipped}")).unwrap_or_default();
                return refuse(format!(
                    "input {shown}: the folder holds no data file{skipped}\nhint: data files end in {}, those of text also with .gz or .zst; name a file of another type itself",
                    EXTENSIONS.map(|extension| format!(".{extension}")).join(", ")
                ));
            }
        } else if is_pattern(path) {
            found.files.extend(matching_files(path)?);
        } else {
            found.files.push(path.clone());
        }
    }
    Ok(found)
}

/// Adds the data files of a folder and of the folders below it. Links to files are followed, links to folders are not.
fn add_folder(folder: &Path, found: &mut Expanded) -> Result<(), Error> {
    let unreadable = |what: &str, path: &Path, error: &io::Error| {
        Error::Request(format!(
            "input {}: {what}: {}{}",
            path.display(),
            cause_of(error),
            hint_of(error, path)
        ))
    };
    let listed =
        entries(folder).map_err(|error| unreadable("the folder cannot be listed", folder, &error))?;
    for entry in listed.into_iter().filter(|entry| !entry.is_hidden()) {
        let path = folder.join(&entry.name);
        let kind = entry.kind.map_err(|error| unreadable("it cannot be looked at", &path, &error))?;
        if kind.is_symlink() && path.is_dir() {
            found.skipped_links.push(path);
        } else if kind.is_dir() {
            if is_run(&path) {
                found.skipped_runs.push(path);
            } else {
                add_folder(&path, found)?;
            }
        } else if is_data(&path) {
            if is_decisions_file(&path) {
                found.skipped_decisions.push(path);
            } else if is_set_facts(&path) {
                found.skipped_facts.push(path);
            } else {
                found.files.push(path);
            }
        }
    }
    Ok(())
}

/// Whether a file may hold a log, by its name.
pub(super) fn is_data(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let name = name.trim_end_matches(".gz").trim_end_matches(".zst");
    name.rsplit_once('.').is_some_and(|(stem, extension)| !stem.is_empty() && EXTENSIONS.contains(&extension))
}

/// The name of a run of these inputs: that of the file or folder without its extensions, or what the names of several
/// have in common, or else the name of the first. Letters, digits, `-`, `_` and `.` stay, others become `-`.
///
/// `paths` are as people named them, so that a folder gives its own name and not that of its first file.
pub fn run_name(paths: &[PathBuf]) -> String {
    let names: Vec<String> = paths.iter().map(|path| bare_name(path)).collect();
    let Some(first) = names.first() else { return "run".to_owned() };
    let common = names.iter().skip(1).fold(first.as_str(), |common, name| {
        let n_equal = common.chars().zip(name.chars()).take_while(|(one, other)| one == other).count();
        &common[..common.char_indices().nth(n_equal).map_or(common.len(), |(at, _)| at)]
    });
    let common = common.trim_end_matches(|c: char| !c.is_alphanumeric());
    let name = if common.chars().count() >= MIN_COMMON { common } else { first };
    let plain = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    let name: String = name.chars().map(plain).collect();
    let name = name.trim_matches(['-', '.']);
    if name.is_empty() { "run".to_owned() } else { name.to_owned() }
}

/// A shorter common beginning of names is a coincidence.
const MIN_COMMON: usize = 3;

/// A file's name without its extensions, `march` of `logs/march.jsonl.gz`; a folder's name; `stdin` of `-`.
pub(crate) fn bare_name(path: &Path) -> String {
    if path.as_os_str() == "-" {
        return "stdin".to_owned();
    }
    let whole = path.canonicalize();
    let of = if path.is_dir() { whole.as_deref().unwrap_or(path) } else { path };
    let name = of.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    if path.is_dir() {
        return name;
    }
    let mut stem = name.trim_end_matches(".gz").trim_end_matches(".zst");
    for extension in EXTENSIONS {
        stem = stem.strip_suffix(&format!(".{extension}")).unwrap_or(stem);
    }
    stem.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(paths: &[&str]) -> Vec<PathBuf> {
        paths.iter().map(PathBuf::from).collect()
    }

    #[test]
    fn a_run_is_named_after_its_inputs() {
        for (inputs, name) in [
            (&["logs/march.jsonl.gz"][..], "march"),
            (&["march-1.jsonl", "march-2.csv"], "march"),
            (&["a.jsonl", "b.jsonl"], "a"),
            (&["-"], "stdin"),
            (&["v1.2.parquet"], "v1.2"),
            (&["logs/*.jsonl"], "run"),
            (&["my log (1).json"], "my-log--1"),
        ] {
            assert_eq!(run_name(&paths(inputs)), name, "{inputs:?}");
        }
    }

    #[test]
    fn folders_and_patterns_name_their_data_files_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir_all(at("logs/below")).unwrap();
        for name in
            ["logs/b.jsonl", "logs/a.csv.gz", "logs/README.md", "logs/.hidden.jsonl", "logs/below/c.parquet"]
        {
            std::fs::write(at(name), "").unwrap();
        }
        let all = [at("logs/a.csv.gz"), at("logs/b.jsonl"), at("logs/below/c.parquet")];
        assert_eq!(expand(&[at("logs")]).unwrap().files, all);
        assert_eq!(expand(&[at("logs/*.jsonl")]).unwrap().files, [at("logs/b.jsonl")]);
        std::fs::write(at("logs/dataset_infos.json"), "{}").unwrap();
        let found = expand(&[at("logs")]).unwrap();
        assert_eq!(
            (found.files.len(), found.skipped_facts.clone()),
            (3, vec![at("logs/dataset_infos.json")])
        );
        assert!(found.skipped().unwrap().contains("1 description of a set"), "{found:?}");
        assert_eq!(run_name(&[at("logs")]), "logs");
        // A file that has the name of a pattern is that file; one that is not there is for others to report.
        std::fs::write(at("logs/x[1].jsonl"), "").unwrap();
        assert_eq!(
            expand(&[at("logs/x[1].jsonl"), at("none.jsonl")]).unwrap().files,
            [at("logs/x[1].jsonl"), at("none.jsonl")]
        );
        std::fs::create_dir(at("empty")).unwrap();
        for (path, expected) in
            [("empty", "holds no data file"), ("*.tsv", "no file matches"), ("a[", "malformed")]
        {
            assert!(expand(&[at(path)]).unwrap_err().to_string().contains(expected), "{path}");
        }
    }
}
