//! The files that `fix` reads: those that are named, and those below the folders that are.
//!
//! A folder is walked in the order of its names, so the output is the same everywhere. Files of other types are
//! skipped and counted; hidden entries and folders of installed code are not looked at. Links to files are followed,
//! links to folders are not, so a walk always ends.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::FixError;
use crate::folder_entries::entries;

/// Extensions of files that may hold function docs, before `.gz` or `.zst`.
const EXTENSIONS: [&str; 13] =
    ["json", "jsonl", "ndjson", "json5", "py", "pyi", "ts", "js", "yaml", "yml", "txt", "csv", "tsv"];

/// Folders of code that is not the user's own.
const INSTALLED: [&str; 2] = ["node_modules", "__pycache__"];

/// Files that are read at the same time: at most so many, and so many bytes.
const BATCH_FILES: usize = 256;
const BATCH_BYTES: u64 = 4 << 20;

/// What was named.
#[derive(Debug, Default)]
pub(super) struct Listing {
    /// The files, in the order they are reported in.
    pub(super) files: Vec<DocFile>,
    /// Files below folders that are of another type.
    pub(super) n_skipped: u64,
}

/// One file.
#[derive(Debug)]
pub(super) struct DocFile {
    pub(super) path: PathBuf,
    /// What it is called in the output, where there may be several files.
    pub(super) name: Option<String>,
    /// Why it cannot be read, where that is known already.
    pub(super) problem: Option<String>,
}

impl DocFile {
    /// Whether its name is that of a Python file.
    pub(super) fn is_python(&self) -> bool {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        let name = name.trim_end_matches(".gz").trim_end_matches(".zst");
        [".py", ".pyi"].iter().any(|ending| name.ends_with(ending))
    }
}

/// The files of some paths. A file that is the only path has no name of its own in the output.
///
/// # Errors
/// Where a folder has no file that may hold function docs.
pub(super) fn list(paths: &[PathBuf]) -> Result<Listing, FixError> {
    let mut listing = Listing::default();
    for path in paths {
        let is_only = paths.len() == 1;
        if path.is_dir() {
            let n_before = listing.files.len();
            listing.walk(path, if is_only { path } else { Path::new("") });
            if listing.files.len() == n_before {
                let extensions = EXTENSIONS.map(|extension| format!(".{extension}")).join(" ");
                return Err(FixError::Input(format!(
                    "{}: no file in this folder has the type of function docs\nhint: those are {extensions}, also \
                     with .gz or .zst; a file of any other type can be named itself",
                    path.display()
                )));
            }
        } else {
            let name = (!is_only).then(|| path.display().to_string());
            listing.files.push(DocFile { path: path.clone(), name, problem: None });
        }
    }
    Ok(listing)
}

impl Listing {
    /// Whether there may be several files, which the output then names.
    pub(super) fn is_named(&self) -> bool {
        self.files.iter().any(|file| file.name.is_some())
    }

    /// Adds the files below a folder, named from `root` on.
    fn walk(&mut self, folder: &Path, root: &Path) {
        let entries = match entries(folder) {
            Ok(entries) => entries,
            Err(error) => {
                let problem = format!("the folder cannot be listed: {error}");
                return self.add(folder.to_owned(), root, Some(problem));
            }
        };
        for entry in entries.into_iter().filter(|entry| !entry.is_hidden()) {
            let path = folder.join(&entry.name);
            let is_folder = match entry.kind {
                Ok(kind) => kind.is_dir(),
                Err(error) => {
                    self.add(path, root, Some(format!("it cannot be looked at: {error}")));
                    continue;
                }
            };
            if is_folder && INSTALLED.iter().any(|name| entry.name == *name) {
                continue;
            }
            // A link that leads nowhere has no metadata; it is reported when it is read.
            let is_file = path.metadata().map_or(true, |metadata| metadata.is_file());
            if is_folder {
                self.walk(&path, root);
            } else if is_file && may_hold_docs(&path) {
                self.add(path, root, None);
            } else {
                self.n_skipped += 1;
            }
        }
    }

    fn add(&mut self, path: PathBuf, root: &Path, problem: Option<String>) {
        let below = path.strip_prefix(root).unwrap_or(&path);
        let shown = if below.as_os_str().is_empty() { &path } else { below };
        let name = Some(shown.display().to_string());
        self.files.push(DocFile { path, name, problem });
    }
}

/// How many of the first files can be read at the same time: small ones together, a large one alone.
pub(super) fn batch_len(files: &[DocFile]) -> usize {
    let mut n_bytes = 0_u64;
    let fits = |file: &&DocFile| {
        n_bytes = n_bytes.saturating_add(bytes_at_most(&file.path));
        n_bytes <= BATCH_BYTES
    };
    files.iter().take(BATCH_FILES).take_while(fits).count().max(1)
}

/// How many bytes the text of a file has at most. A compressed file, or a pipe, can be of any size.
fn bytes_at_most(path: &Path) -> u64 {
    match path.metadata() {
        Ok(metadata) if metadata.is_file() && !is_compressed(path) => metadata.len(),
        Ok(_) => u64::MAX,
        Err(_) if path == Path::new("-") => u64::MAX,
        Err(_) => 0,
    }
}

/// Whether a file begins as gzip or Zstandard does, whatever its name is.
fn is_compressed(path: &Path) -> bool {
    let mut first = [0; 4];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut first));
    read.is_ok() && (first.starts_with(&[0x1f, 0x8b]) || first == [0x28, 0xb5, 0x2f, 0xfd])
}

fn may_hold_docs(path: &Path) -> bool {
    let extension = |path: &Path| path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase());
    let is_packed = matches!(extension(path).as_deref(), Some("gz" | "zst"));
    let bare = if is_packed { path.with_extension("") } else { path.to_owned() };
    extension(&bare).is_some_and(|extension| EXTENSIONS.contains(&extension.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: PathBuf) -> DocFile {
        DocFile { path, name: None, problem: None }
    }

    #[test]
    fn small_files_are_read_together_and_others_alone() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str, bytes: &[u8]| {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            file(path)
        };
        let large = vec![b' '; usize::try_from(BATCH_BYTES).unwrap() + 1];
        let files = [
            at("a.json", b"[]"),
            at("b.json", b"[]"),
            at("c.json", &large),
            at("d.json", &[0x1f, 0x8b, 0, 0]),
            at("e.json", &[0x28, 0xb5, 0x2f, 0xfd]),
            file(folder.path().join("missing.json")),
            at("f.json", b""),
            file("-".into()),
        ];
        let mut batches = Vec::new();
        let mut rest = &files[..];
        while !rest.is_empty() {
            let n = batch_len(rest);
            batches.push(n);
            rest = &rest[n..];
        }
        assert_eq!(batches, [2, 1, 1, 1, 2, 1]);
    }

    #[test]
    fn the_type_of_a_file_is_what_stands_before_the_compression() {
        for name in ["a.json", "b.PY", "c.jsonl.gz", "d.yaml.zst", "e.tar.tsv"] {
            assert!(may_hold_docs(Path::new(name)), "{name}");
        }
        for name in ["a.md", "json", "b.gz", "c.json.bak", "d.tar.gz", "e.parquet"] {
            assert!(!may_hold_docs(Path::new(name)), "{name}");
        }
    }
}
