//! Question files, their answer files, and their lines.
//!
//! A question file is named `BFCL_<version>_<category>.json` and has one JSON object per line; the
//! answer file has the same name in the folder `possible_answer`. Blank lines are skipped, but
//! count in the line numbers, which start at 1.

use std::io;
use std::path::{Path, PathBuf};

use callsieve_checker::Language;

/// The folder of the answer files, relative to the question files.
pub(super) const ANSWERS: &str = "possible_answer";

/// A question file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuestionFile {
    /// The path.
    pub path: PathBuf,
    /// The version, such as `v4`.
    pub version: String,
    /// The category, such as `live_simple`.
    pub category: String,
}

impl QuestionFile {
    /// Returns the question file at a path, if its name is that of a question file.
    pub fn of(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?.strip_suffix(".json")?.strip_prefix("BFCL_")?;
        let (version, category) = name.split_once('_')?;
        Some(Self { path: path.to_owned(), version: version.to_owned(), category: category.to_owned() })
    }

    /// Returns the file name.
    pub fn name(&self) -> String {
        format!("BFCL_{}_{}.json", self.version, self.category)
    }

    /// Returns whether its entries have answers; the relevance categories have none.
    pub fn has_answers(&self) -> bool {
        !self.category.contains("relevance")
    }

    /// Returns whether each entry has one call as its answer.
    pub fn has_one_call(&self) -> bool {
        !self.category.contains("parallel")
    }

    /// Returns whether answers have typed values; those of Java and JavaScript are all text.
    pub fn is_typed(&self) -> bool {
        !self.category.contains("java")
    }

    /// Returns the language of its docs and calls.
    pub fn language(&self) -> Language {
        if self.category.contains("javascript") {
            Language::JavaScript
        } else if self.category.contains("java") {
            Language::Java
        } else {
            Language::Python
        }
    }

    /// Returns the path of its answer file, which may not exist.
    pub fn answers(&self) -> PathBuf {
        self.path.with_file_name(ANSWERS).join(self.name())
    }
}

/// Lists the question files in a folder (not in its subfolders), sorted by name; other files are skipped.
///
/// # Errors
/// If the folder cannot be read.
pub fn in_folder(folder: &Path) -> io::Result<Vec<QuestionFile>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        files.extend(QuestionFile::of(&entry?.path()));
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

/// Iterates over the non-blank lines of a file, with their numbers from 1.
pub fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().map(|(at, line)| (at + 1, line)).filter(|(_, line)| !line.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_version_and_category() {
        let file = QuestionFile::of(Path::new("data/BFCL_v4_live_parallel_multiple.json")).unwrap();
        assert_eq!((file.version.as_str(), file.category.as_str()), ("v4", "live_parallel_multiple"));
        assert_eq!(file.answers(), Path::new("data/possible_answer/BFCL_v4_live_parallel_multiple.json"));
        for other in ["README.md", "BFCL_v4_live_simple_result.jsonl", "live_simple.json", "BFCL_v4.json"] {
            assert_eq!(QuestionFile::of(Path::new(other)), None, "{other}");
        }
    }

    #[test]
    fn blank_lines_are_skipped_but_counted() {
        assert_eq!(lines("a\n\n  \nb").collect::<Vec<_>>(), [(1, "a"), (4, "b")]);
    }
}
