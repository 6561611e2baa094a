//! Inputs on the Hugging Face hub, `hf://datasets/OWNER/NAME[@REVISION][/PATH]`: downloaded once to the folder of caches.
//!
//! A path is a file or a folder of the dataset; without one, all its data files are meant. The revision is that of the commit which the
//! hub names at the time, so that `run.json` shows which data was read, and a downloaded file is never downloaded again.
//! `HF_ENDPOINT` and `HF_TOKEN` name another server and a key, as for models.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::Error;
use super::error::refuse;
use super::paths::is_data;
use crate::environment::Environment;
use crate::ingest::source::is_set_facts;
use crate::llm::hub::{Hub, Repository, encoded, is_plain};
use crate::pipeline::Pipeline;
use crate::text::figures::counted;

/// How an input on the hub begins.
const SCHEME: &str = "hf://";
/// The part of the hub that has datasets.
pub(super) const DATASETS: &str = "datasets/";
/// The folder of the answers to BFCL question files.
const ANSWERS: &str = "possible_answer";
/// The folder of the docs of BFCL's classes.
const CLASS_DOCS: &str = "multi_turn_func_doc";

const FORM: &str =
    "hint: an input on the hub is hf://datasets/OWNER/NAME, with @REVISION and /PATH if needed";

/// Returns paths with the files of the hub in place of those that name such; `on_download` receives a line for
/// each file that is downloaded.
///
/// # Errors
/// An input on the hub is malformed or not there, the hub cannot be reached, or a file cannot be written.
pub fn fetched(
    paths: &[PathBuf],
    environment: &Environment,
    on_download: &mut dyn FnMut(&str),
) -> Result<Vec<PathBuf>, Error> {
    let mut files = Vec::with_capacity(paths.len());
    for path in paths {
        match path.to_str().and_then(|path| path.strip_prefix(SCHEME)) {
            Some(input) => files.extend(HubInput::of(input)?.download(environment, on_download)?.files),
            None => files.push(path.clone()),
        }
    }
    Ok(files)
}

/// Returns the names of benchmarks with the file or folder in place of those on the hub; `on_download` receives a line for each file
/// that is downloaded. The answers of a BFCL question file come with it.
///
/// # Errors
/// As [`fetched`].
pub fn fetched_benchmarks(
    names: &[String],
    environment: &Environment,
    on_download: &mut dyn FnMut(&str),
) -> Result<Vec<String>, Error> {
    let mut found = Vec::with_capacity(names.len());
    for name in names {
        found.push(match name.strip_prefix(SCHEME) {
            Some(input) => {
                HubInput::of(input)?.download(environment, on_download)?.whole.to_string_lossy().into_owned()
            }
            None => name.clone(),
        });
    }
    Ok(found)
}

/// Downloads the inputs of a pipeline that are on the hub; see [`fetched`].
///
/// # Errors
/// As [`fetched`].
pub fn fetch_inputs(pipeline: &mut Pipeline, on_download: &mut dyn FnMut(&str)) -> Result<(), Error> {
    let files = fetched(pipeline.source.source.files(), pipeline.registry.environment(), on_download)?;
    if files != pipeline.source.source.files()
        && let Some(source) = pipeline.source.with_files(files)
    {
        pipeline.source = source;
    }
    Ok(())
}

/// An input on the hub, as people name it.
#[derive(Debug, PartialEq, Eq)]
struct HubInput<'i> {
    /// All of it after the scheme.
    named: &'i str,
    dataset: Repository<'i>,
    /// A file or a folder; empty for the whole dataset.
    path: &'i str,
}

/// An input that was downloaded.
struct Downloaded {
    /// Its files.
    files: Vec<PathBuf>,
    /// The file or the folder that is named.
    whole: PathBuf,
}

/// The answer of the hub about a revision of a dataset.
#[derive(Deserialize)]
struct Revision {
    sha: String,
    siblings: Vec<Sibling>,
}

#[derive(Deserialize)]
struct Sibling {
    rfilename: String,
}

impl<'i> HubInput<'i> {
    /// Reads an input without its scheme.
    fn of(named: &'i str) -> Result<Self, Error> {
        let parsed = named.strip_prefix(DATASETS).and_then(|rest| {
            let end = rest.match_indices('/').nth(1).map_or(rest.len(), |(at, _)| at);
            let (dataset, path) = (Repository::parse(&rest[..end])?, rest[end..].trim_end_matches('/'));
            Some(Self { named, dataset, path: path.strip_prefix('/').unwrap_or(path) })
        });
        match parsed {
            Some(input) => Ok(input),
            None => refuse(format!("input {SCHEME}{named}: this names no dataset of the hub\n{FORM}")),
        }
    }

    fn refuse<T>(&self, what: &str) -> Result<T, Error> {
        refuse(format!("input {SCHEME}{}: {what}", self.named))
    }

    /// Returns where its files are, downloading those that are not there.
    fn download(
        &self,
        environment: &Environment,
        on_download: &mut dyn FnMut(&str),
    ) -> Result<Downloaded, Error> {
        let failed =
            |error: &dyn std::fmt::Display| Error::Request(format!("input {SCHEME}{}: {error}", self.named));
        let hub = Hub::of(environment).map_err(|error| failed(&error))?;
        let downloader = hub.downloader().map_err(|error| failed(&error))?;
        let (base, Repository { owner, name, revision }) = (hub.base(), self.dataset);
        let dataset = format!("{DATASETS}{owner}/{name}");
        let cache = environment.caches().join("datasets").join(format!("{owner}--{name}"));
        let get = |url: &str, to: &Path| -> Result<bool, Error> {
            // Of this process alone: another one may download the same file.
            let partial = to.with_added_extension(format!("{}.partial", std::process::id()));
            let folder = to.parent().unwrap_or(&cache);
            let in_cache =
                |error: std::io::Error, path: &Path| failed(&format!("{}: {error}", path.display()));
            fs::create_dir_all(folder).map_err(|error| in_cache(error, folder))?;
            let is_there = downloader.get(url, &partial, &|| false).map_err(|error| failed(&error))?;
            if is_there {
                fs::rename(&partial, to).map_err(|error| in_cache(error, to))?;
            }
            Ok(is_there)
        };
        let listed = cache.join(format!("{revision}.json"));
        // The list of a commit never changes.
        let is_known = is_commit(revision) && listed.is_file();
        let url = format!("{base}/api/{dataset}/revision/{revision}");
        if !is_known && !get(&url, &listed)? {
            return self.refuse(&format!(
                "{base} has no such dataset or revision\nhint: check the name; a private dataset needs HF_TOKEN"
            ));
        }
        let text = fs::read_to_string(&listed).map_err(|error| failed(&error))?;
        let Ok(Revision { sha, siblings }) = serde_json::from_str(&text) else {
            return self
                .refuse(&format!("{base} does not list the files of a dataset\nhint: check HF_ENDPOINT"));
        };
        let names: Vec<String> = siblings.into_iter().map(|sibling| sibling.rfilename).collect();
        let wanted: Vec<&str> = self.wanted(&names);
        if !is_plain(&sha) || wanted.iter().any(|name| !is_safe(name)) {
            return self.refuse(&format!("{base} lists a file outside the dataset"));
        }
        if wanted.is_empty() {
            return self.refuse(&format!(
                "the dataset has {}, and none is a data file of this name\nhint: its files are on {base}/{dataset}/tree/{}",
                counted(names.len() as u64, "file", "files"),
                revision
            ));
        }
        let mut files = Vec::with_capacity(wanted.len());
        for name in wanted.iter().copied().chain(self.companions(&names)) {
            let file = cache.join(&sha).join(name);
            if !file.is_file() {
                on_download(&format!("downloading {SCHEME}{dataset}@{sha}/{name}"));
                if !get(&format!("{base}/{dataset}/resolve/{sha}/{}", encoded(name)), &file)? {
                    return self.refuse(&format!("{base} lists {name} and does not have it"));
                }
            }
            files.push(file);
        }
        files.truncate(wanted.len());
        Ok(Downloaded { files, whole: cache.join(&sha).join(self.path) })
    }

    /// Returns the files that a benchmark is read with and that lie outside of what is named: the answers of BFCL question files, next to
    /// them or to their folder, and the docs of classes.
    fn companions<'n>(&self, names: &'n [String]) -> Vec<&'n str> {
        let is_file = names.iter().any(|name| *name == self.path);
        let parent_of = |path: &'i str| path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let folder = if is_file { parent_of(self.path) } else { self.path };
        let is_inside = |name: &str| self.path.is_empty() || !is_file && is_below(name, self.path);
        let is_companion = |name: &str| {
            [folder, parent_of(folder)].into_iter().any(|folder| {
                let Some((kind, file)) = below(name, folder).and_then(|rest| rest.split_once('/')) else {
                    return false;
                };
                let is_named = !is_file || self.path.rsplit('/').next() == Some(file);
                (kind == ANSWERS && is_named || kind == CLASS_DOCS) && !file.contains('/')
            })
        };
        names.iter().map(String::as_str).filter(|name| !is_inside(name) && is_companion(name)).collect()
    }

    /// Returns the files of a dataset that are meant, in order: the named one, or the data files of the folder.
    fn wanted<'n>(&self, names: &'n [String]) -> Vec<&'n str> {
        if let Some(file) = names.iter().find(|name| *name == self.path) {
            return vec![file];
        }
        let is_below = |name: &str| is_below(name, self.path);
        let is_hidden = |name: &str| name.split('/').any(|part| part.starts_with('.'));
        let is_data = |name: &str| is_data(Path::new(name)) && !is_set_facts(Path::new(name));
        let mut wanted: Vec<&str> = names.iter().map(String::as_str).collect();
        wanted.retain(|name| is_below(name) && is_data(name) && !is_hidden(name));
        wanted.sort_unstable();
        wanted
    }
}

/// Returns what a path is called in a folder; the whole dataset is the folder without a name.
fn below<'p>(path: &'p str, folder: &str) -> Option<&'p str> {
    if folder.is_empty() { Some(path) } else { path.strip_prefix(folder)?.strip_prefix('/') }
}

fn is_below(path: &str, folder: &str) -> bool {
    below(path, folder).is_some()
}

/// Whether a revision is a commit, and no branch, which moves.
fn is_commit(revision: &str) -> bool {
    revision.len() == 40 && revision.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Whether the name of a file leads nowhere but into its folder.
fn is_safe(name: &str) -> bool {
    let is_safe = |part: &str| !["", ".", ".."].contains(&part) && !part.contains(['\\', ':', '\0']);
    name.split('/').all(is_safe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_has_an_owner_a_name_and_may_have_revision_and_path() {
        let of = |named: &'static str| {
            let HubInput { dataset, path, .. } = HubInput::of(named).unwrap();
            [dataset.owner, dataset.name, dataset.revision, path]
        };
        assert_eq!(of("datasets/org/set"), ["org", "set", "main", ""]);
        assert_eq!(of("datasets/org/set@v2/data/a b.jsonl"), ["org", "set", "v2", "data/a b.jsonl"]);
        assert_eq!(of("datasets/org/set/data/"), ["org", "set", "main", "data"]);
        for named in [
            "org/set",
            "datasets/set",
            "datasets/../set",
            "datasets/org/se?t",
            "datasets/org/set@",
            "models/o/n",
        ] {
            let error = HubInput::of(named).unwrap_err().to_string();
            assert!(
                error.starts_with(&format!("input hf://{named}: ")) && error.contains("hint: "),
                "{error}"
            );
        }
    }

    #[test]
    fn a_folder_means_its_data_files_and_a_file_itself() {
        let names: Vec<String> = [
            "README.md",
            "b.jsonl",
            "data/2.parquet",
            "data/1.parquet",
            "data2/x.csv",
            ".cache/z.json",
            "dataset_infos.json",
        ]
        .map(str::to_owned)
        .to_vec();
        let wanted = |named: &'static str| HubInput::of(named).unwrap().wanted(&names);
        assert_eq!(wanted("datasets/o/n"), ["b.jsonl", "data/1.parquet", "data/2.parquet", "data2/x.csv"]);
        assert_eq!(wanted("datasets/o/n/data"), ["data/1.parquet", "data/2.parquet"]);
        assert_eq!(wanted("datasets/o/n/README.md"), ["README.md"]);
        assert_eq!(wanted("datasets/o/n/dat"), [""; 0]);
    }

    #[test]
    fn a_question_file_has_its_answers_and_the_docs_of_classes() {
        let names: Vec<String> = [
            "question/a.json",
            "question/b.json",
            "possible_answer/a.json",
            "possible_answer/b.json",
            "multi_turn_func_doc/math.json",
            "question/possible_answer/a.json",
            "old/question/possible_answer/a.json",
        ]
        .map(str::to_owned)
        .to_vec();
        let companions = |named: &'static str| HubInput::of(named).unwrap().companions(&names);
        let docs = "multi_turn_func_doc/math.json";
        let [a, b, next_to] =
            ["possible_answer/a.json", "possible_answer/b.json", "question/possible_answer/a.json"];
        assert_eq!(companions("datasets/o/n/question/a.json"), [a, docs, next_to]);
        assert_eq!(companions("datasets/o/n/question"), [a, b, docs]);
        assert_eq!(companions("datasets/o/n"), [""; 0]);
    }

    #[test]
    fn names_of_files_are_safe() {
        for unsafe_name in ["../x", "a/../b", "/a", "a//b", "C:\\x", "a\\b", "", "."] {
            assert!(!is_safe(unsafe_name), "{unsafe_name}");
        }
        assert!(is_safe("data/a b.jsonl") && is_safe(".x/y"));
    }
}
