//! The files that a pattern names, such as `logs/**/*.jsonl`.
//!
//! Rows would be missing from a run without a word if a folder were left out, so every folder that the pattern leads into is
//! listed, and what cannot be looked into is an error: a folder without permission, a link to nothing, a link back to a
//! folder that it is in. The walker of the crate `glob` leaves these out, and file names that are not UTF-8. Links are
//! followed; as in a shell, `*` and `**` match no hidden entry.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};

use glob::{MatchOptions, Pattern, PatternError};

use super::Error;
use super::error::refuse;
use crate::folder_entries::{FolderEntry, entries};
use crate::text::os_error::{cause_of, hint_of};

/// Characters that make a text a pattern.
const SIGNS: [char; 3] = ['*', '?', '['];

/// Whether a path has characters of a pattern and is no file of that very name.
pub(super) fn is_pattern(path: &Path) -> bool {
    // A path without permission to read it may be a file of that name.
    let is_absent =
        || path.symlink_metadata().is_err_and(|error| error.kind() != ErrorKind::PermissionDenied);
    path.to_string_lossy().contains(SIGNS) && is_absent()
}

/// Returns the files that a pattern matches, in the order of their names.
///
/// # Errors
/// The pattern is malformed or matches no file, or a folder that it leads through cannot be read.
pub(super) fn matching_files(pattern: &Path) -> Result<Vec<PathBuf>, Error> {
    let shown = pattern.display();
    let (root, parts) = parts(pattern).map_err(|error| {
        Error::Request(format!(
            "input {shown}: the pattern is malformed: {}\nhint: in a pattern `*` matches any characters, `**` any folders, `[ab]` one of a and b",
            error.msg
        ))
    })?;
    let mut walk = Walk { pattern, found: BTreeSet::new() };
    walk.visit(&root, &parts)?;
    if walk.found.is_empty() {
        let hint = match parts.last() {
            Some(PatternPart::Folders) => {
                format!("`**` matches folders; `{shown}/*` names the files in them")
            }
            _ => "check the path with `ls`".to_owned(),
        };
        return refuse(format!("input {shown}: no file matches this pattern\nhint: {hint}"));
    }
    Ok(walk.found.into_iter().collect())
}

/// A part of a pattern, between two separators.
#[derive(Debug, PartialEq)]
enum PatternPart<'p> {
    /// An entry of this name.
    Name(&'p OsStr),
    /// All entries whose names match.
    Names(Pattern),
    /// `**`: any number of folders, or none.
    Folders,
}

/// Returns where a pattern begins, and its parts.
fn parts(pattern: &Path) -> Result<(PathBuf, Vec<PatternPart<'_>>), PatternError> {
    let (mut root, mut parts) = (PathBuf::new(), Vec::new());
    for component in pattern.components() {
        match component {
            Component::Prefix(_) | Component::RootDir => root.push(component),
            Component::CurDir | Component::ParentDir => parts.push(PatternPart::Name(component.as_os_str())),
            Component::Normal(name) => {
                let text = name.to_string_lossy();
                if text == "**" {
                    // Several in a row match what one matches.
                    if parts.last() != Some(&PatternPart::Folders) {
                        parts.push(PatternPart::Folders);
                    }
                } else if text.contains(SIGNS) {
                    parts.push(PatternPart::Names(Pattern::new(&text)?));
                } else {
                    parts.push(PatternPart::Name(name));
                }
            }
        }
    }
    Ok((root, parts))
}

/// A search for the files that match.
struct Walk<'p> {
    pattern: &'p Path,
    found: BTreeSet<PathBuf>,
}

impl Walk<'_> {
    /// Finds the files below a folder that match the rest of the pattern; the path itself, if no part is left.
    fn visit(&mut self, at: &Path, parts: &[PatternPart<'_>]) -> Result<(), Error> {
        // As in a shell, `*` matches no hidden file.
        let options = MatchOptions { require_literal_leading_dot: true, ..MatchOptions::new() };
        let Some((part, rest)) = parts.split_first() else {
            if !place_of(at).is_dir() {
                self.found.insert(at.to_owned());
            }
            return Ok(());
        };
        match part {
            PatternPart::Name(name) => {
                let next = at.join(name);
                match next.symlink_metadata() {
                    Ok(_) => self.visit(&next, rest),
                    Err(error) if is_absent(&error) => Ok(()),
                    Err(error) => Err(self.unreadable("", &next, &error)),
                }
            }
            PatternPart::Names(names) => {
                for entry in self.entries(at)? {
                    let is_named = names.matches_with(&entry.name.to_string_lossy(), options);
                    let path = at.join(&entry.name);
                    if is_named && (rest.is_empty() || self.is_folder(at, &path, entry)?) {
                        self.visit(&path, rest)?;
                    }
                }
                Ok(())
            }
            PatternPart::Folders => {
                self.visit(at, rest)?;
                for entry in self.entries(at)?.into_iter().filter(|entry| !entry.is_hidden()) {
                    let path = at.join(&entry.name);
                    if self.is_folder(at, &path, entry)? {
                        self.visit(&path, parts)?;
                    }
                }
                Ok(())
            }
        }
    }

    /// Returns the entries of a folder; none if it is no folder.
    fn entries(&self, folder: &Path) -> Result<Vec<FolderEntry>, Error> {
        let place = place_of(folder);
        match entries(place) {
            Err(error) if !is_absent(&error) => Err(self.unreadable("the folder ", place, &error)),
            listed => Ok(listed.unwrap_or_default()),
        }
    }

    /// Returns whether an entry of a folder is a folder, or a link to one.
    fn is_folder(&self, parent: &Path, path: &Path, entry: FolderEntry) -> Result<bool, Error> {
        let kind = entry.kind.map_err(|error| self.unreadable("", path, &error))?;
        if !kind.is_symlink() {
            return Ok(kind.is_dir());
        }
        let failed = |error| self.unreadable("the link ", path, &error);
        let target = path.canonicalize().map_err(failed)?;
        let is_around = place_of(parent).canonicalize().is_ok_and(|parent| parent.starts_with(&target));
        if is_around {
            return refuse(format!(
                "input {}: the link {} leads back to a folder that it is in\nhint: remove the link, or name the folders without it",
                self.pattern.display(),
                path.display()
            ));
        }
        Ok(target.is_dir())
    }

    fn unreadable(&self, what: &str, path: &Path, error: &io::Error) -> Error {
        let hint = hint_of(error, path);
        let hint = if hint.is_empty() { "\nhint: remove it, or name the files without it" } else { &hint };
        Error::Request(format!(
            "input {}: {what}{} cannot be read: {}; files that match can be in it{hint}",
            self.pattern.display(),
            path.display(),
            cause_of(error),
        ))
    }
}

/// Returns the folder of a pattern that begins with a name, or another folder as it is.
fn place_of(folder: &Path) -> &Path {
    if folder.as_os_str().is_empty() { Path::new(".") } else { folder }
}

/// Returns whether an error means that the path does not exist.
fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder_with(files: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for name in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            crate::engine::disk::write_atomic(&path, b"").unwrap();
        }
        folder
    }

    fn found(folder: &Path, pattern: &str) -> Vec<String> {
        let found = matching_files(&folder.join(pattern)).unwrap();
        found.iter().map(|path| path.strip_prefix(folder).unwrap().display().to_string()).collect()
    }

    #[test]
    fn a_pattern_matches_names_in_any_folder() {
        let folder =
            folder_with(&["a/x.jsonl", "a/b/x.jsonl", "a/b/y.csv", "a/.h/x.jsonl", "a/.x.jsonl", "c.jsonl"]);
        for (pattern, expected) in [
            ("a/*.jsonl", &["a/x.jsonl"][..]),
            ("*/x.jsonl", &["a/x.jsonl"]),
            ("**/x.jsonl", &["a/b/x.jsonl", "a/x.jsonl"]),
            ("**/**/*.jsonl", &["a/b/x.jsonl", "a/x.jsonl", "c.jsonl"]),
            ("a/**/b/[xy].*", &["a/b/x.jsonl", "a/b/y.csv"]),
            ("a/../?.jsonl", &["a/../c.jsonl"]),
            ("a/.h/*", &["a/.h/x.jsonl"]),
        ] {
            assert_eq!(found(folder.path(), pattern), expected, "{pattern}");
        }
        for (pattern, expected) in [
            ("a/*.tsv", "no file matches"),
            ("x[", "malformed"),
            ("**", "no file matches"),
            ("c.jsonl/*", "no file matches"),
        ] {
            let error = matching_files(&folder.path().join(pattern)).unwrap_err().to_string();
            assert!(error.contains(expected), "{pattern}: {error}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_and_a_link_that_leads_nowhere_or_back_is_named() {
        use std::os::unix::fs::symlink;

        let folder = folder_with(&["logs/a/x.jsonl", "other/y.jsonl"]);
        let at = |name: &str| folder.path().join(name);
        symlink(at("other"), at("logs/o")).unwrap();
        assert_eq!(found(folder.path(), "logs/**/*.jsonl"), ["logs/a/x.jsonl", "logs/o/y.jsonl"]);
        for (target, expected) in [
            (at("logs"), "leads back to a folder that it is in\nhint: "),
            (at("none"), "cannot be read: there is no such file or folder"),
            (at("logs/a/l"), "cannot be read"),
        ] {
            symlink(target, at("logs/a/l")).unwrap();
            for pattern in ["logs/**/*.jsonl", "logs/*/*/*.jsonl"] {
                let error = matching_files(&at(pattern)).unwrap_err().to_string();
                assert!(
                    error.contains(&format!("the link {}", at("logs/a/l").display())),
                    "{pattern}: {error}"
                );
                assert!(error.contains(expected) && error.contains("\nhint: "), "{pattern}: {error}");
            }
            std::fs::remove_file(at("logs/a/l")).unwrap();
        }
        // An entry that does not match and is no folder of the pattern is not opened.
        symlink(at("none"), at("logs/l")).unwrap();
        assert_eq!(found(folder.path(), "logs/a*/*.jsonl"), ["logs/a/x.jsonl"]);
    }

    #[cfg(unix)]
    #[test]
    fn names_that_are_not_utf_8_match_too() {
        use std::os::unix::ffi::OsStrExt as _;

        let folder = folder_with(&["a.jsonl"]);
        let name = folder.path().join(OsStr::from_bytes(b"b\xff.jsonl"));
        crate::engine::disk::write_atomic(&name, b"").unwrap();
        let found = matching_files(&folder.path().join("*.jsonl")).unwrap();
        assert_eq!(found, [folder.path().join("a.jsonl"), name]);
    }
}
