//! Question files, their answer files, and their lines.
//!
//! A question file is named `BFCL_<version>_<category>.json`, in the first release
//! `gorilla_openfunctions_v1_test_<category>.json`, and has one JSON object per line; the
//! answer file has the same name in the folder `possible_answer`. Blank lines are skipped, but
//! count in the line numbers, which start at 1.

use std::io;
use std::path::{Path, PathBuf};

use callsieve_checker::Language;

/// The folder of the answer files, relative to the question files.
pub const ANSWERS: &str = "possible_answer";

/// The beginning of the names of the first release.
const FIRST_RELEASE: &str = "gorilla_openfunctions_v1_test_";

/// The name of a question file, as far as it is known what it means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuestionName<'n> {
    /// The version, such as `v4`.
    pub version: &'n str,
    /// The category as it is in the name, such as `live_simple`.
    pub category: &'n str,
    /// The file is of the first release, which calls some categories by other words.
    pub is_first_release: bool,
}

impl<'n> QuestionName<'n> {
    /// Reads the name of a question file of any version, without its extension.
    pub fn read(stem: &'n str) -> Option<Self> {
        if let Some(category) = stem.strip_prefix(FIRST_RELEASE) {
            return Some(Self { version: "v1", category, is_first_release: true });
        }
        let (version, category) = stem.strip_prefix("BFCL_")?.split_once('_')?;
        Some(Self { version, category, is_first_release: false })
    }
}

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
    /// Returns the question file at a path, if its name is that of a question file; those of the first release are none.
    pub fn of(path: &Path) -> Option<Self> {
        let name = QuestionName::read(path.file_name()?.to_str()?.strip_suffix(".json")?)?;
        let QuestionName { version, category, .. } = name;
        let file = Self { path: path.to_owned(), version: version.to_owned(), category: category.to_owned() };
        (!name.is_first_release).then_some(file)
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
    fn names_of_the_first_release_have_a_category_of_their_own_words() {
        let name = QuestionName::read("gorilla_openfunctions_v1_test_executable_simple").unwrap();
        assert_eq!((name.version, name.category, name.is_first_release), ("v1", "executable_simple", true));
        let path = Path::new("gorilla_openfunctions_v1_test_simple.json");
        assert_eq!(QuestionFile::of(path), None);
    }

    #[test]
    fn blank_lines_are_skipped_but_counted() {
        assert_eq!(lines("a\n\n  \nb").collect::<Vec<_>>(), [(1, "a"), (4, "b")]);
    }
}
