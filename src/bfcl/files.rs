//! Question files by name, the answers beside them, and their lines.
//!
//! A question file is called `BFCL_<version>_<category>.json` and holds one JSON object
//! a line; the answers stand under the same name in the folder `possible_answer`. Blank
//! lines are passed over, and lines are counted from 1 with them.

use std::io;
use std::path::{Path, PathBuf};

/// The folder of the answer files, beside the question files.
pub(super) const ANSWERS: &str = "possible_answer";

/// A question file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuestionFile {
    /// Where it lies.
    pub path: PathBuf,
    /// `v4` and the like.
    pub version: String,
    /// `live_simple` and the like.
    pub category: String,
}

impl QuestionFile {
    /// The question file of that path, told by its name.
    pub fn of(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?.strip_suffix(".json")?.strip_prefix("BFCL_")?;
        let (version, category) = name.split_once('_')?;
        Some(Self { path: path.to_owned(), version: version.to_owned(), category: category.to_owned() })
    }

    /// The file as people call it, without its folder.
    pub fn name(&self) -> String {
        format!("BFCL_{}_{}.json", self.version, self.category)
    }

    /// Whether its entries have answers: a category of relevance has none.
    pub fn has_answers(&self) -> bool {
        !self.category.contains("relevance")
    }

    /// Whether each entry is answered by one call.
    pub fn has_one_call(&self) -> bool {
        !self.category.contains("parallel")
    }

    /// Whether answers hold typed values; those of Java and JavaScript are all text.
    pub fn is_typed(&self) -> bool {
        !self.category.contains("java")
    }

    /// Where its answers are, if it has any.
    pub fn answers(&self) -> PathBuf {
        self.path.with_file_name(ANSWERS).join(self.name())
    }
}

/// The question files right inside a folder, sorted by name; other files are passed over.
///
/// # Errors
/// The folder cannot be read.
pub fn in_folder(folder: &Path) -> io::Result<Vec<QuestionFile>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        files.extend(QuestionFile::of(&entry?.path()));
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

/// The lines of a file that are not blank, with their numbers from 1.
pub fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().map(|(at, line)| (at + 1, line)).filter(|(_, line)| !line.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_version_and_category() {
        let file = QuestionFile::of(Path::new("data/BFCL_v4_live_parallel_multiple.json")).unwrap();
        assert_eq!((file.version.as_str(), file.category.as_str()), ("v4", "live_parallel_multiple"));
        assert_eq!(file.answers(), Path::new("data/possible_answer/BFCL_v4_live_parallel_multiple.json"));
        for other in ["README.md", "BFCL_v4_live_simple_result.jsonl", "live_simple.json", "BFCL_v4.json"] {
            assert_eq!(QuestionFile::of(Path::new(other)), None, "{other}");
        }
    }

    #[test]
    fn blank_lines_are_passed_over_and_counted() {
        assert_eq!(lines("a\n\n  \nb").collect::<Vec<_>>(), [(1, "a"), (4, "b")]);
    }
}
