//! What `check` is pointed at: question files, a folder or run of them, or lines of functions.
//!
//! What cannot be read stops the check with the file, the line, the key, what was found
//! and what was expected: a verdict on half of a dataset would look like one on all.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::bfcl::files::{QuestionFile, in_folder, lines};
use crate::text::short::shortened;

/// Why nothing could be checked.
#[derive(Debug, thiserror::Error)]
pub enum InputError {
    /// The system did not give the file.
    #[error("reading {}: {cause}\nhint: name a file of functions or questions, or a folder of BFCL_<version>_<category>.json", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// A line is not what it should be.
    #[error("{}:{line}: {what}\nhint: {hint}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What was found and what was expected.
        what: String,
        /// What would help.
        hint: &'static str,
    },
    /// A folder holds nothing to check, or a file nothing at all.
    #[error("{}: {what}\nhint: {hint}", path.display())]
    Nothing {
        /// The folder or file.
        path: PathBuf,
        /// What is missing.
        what: &'static str,
        /// What would help.
        hint: &'static str,
    },
}

/// A file, read.
#[derive(Debug)]
pub struct InputFile {
    /// Where it lies.
    pub path: PathBuf,
    /// What its name says, where it is a question file.
    pub questions: Option<QuestionFile>,
    /// Its lines.
    pub lines: Vec<Line>,
    /// Its answers, where there are any beside it.
    pub answers: Option<Vec<Line>>,
    /// It came with its folder, so its answers should be there too.
    pub in_folder: bool,
}

/// One line, read as JSON.
#[derive(Debug)]
pub struct Line {
    /// Its number, from 1.
    pub number: usize,
    /// What it holds: an object.
    pub value: Value,
}

impl Line {
    /// The entry's id, empty where it has none.
    pub fn id(&self) -> String {
        match self.value.get("id") {
            Some(Value::String(id)) => id.clone(),
            Some(Value::Null) | None => String::new(),
            Some(other) => other.to_string(),
        }
    }

    /// The functions, where they are a list or one object.
    pub fn functions(&self) -> &[Value] {
        match self.value.get("function") {
            Some(Value::Array(functions)) => functions,
            Some(function @ Value::Object(_)) => std::slice::from_ref(function),
            _ => &[],
        }
    }
}

impl InputFile {
    /// What tells the file apart from others in a table: the category, or the name.
    pub fn label(&self) -> String {
        match &self.questions {
            Some(file) if self.is_unverified() => format!("unverified {}", file.category),
            Some(file) => file.category.clone(),
            None => self.path.file_name().unwrap_or(self.path.as_os_str()).to_string_lossy().into_owned(),
        }
    }

    /// Where the answers lie, if there can be any.
    pub fn answers_path(&self) -> Option<PathBuf> {
        self.questions.as_ref().map(QuestionFile::answers)
    }

    /// Whether calls are written in Python, as everywhere but in two categories.
    pub fn is_python(&self) -> bool {
        self.questions.as_ref().is_none_or(QuestionFile::is_typed)
    }

    fn is_unverified(&self) -> bool {
        self.in_folder && self.path.parent().is_some_and(|folder| folder.ends_with("unverified"))
    }
}

/// Reads what a path names; `-` is standard input, as lines of functions.
///
/// # Errors
/// It is not there, or a line is no JSON object with functions.
pub fn read(path: &Path) -> Result<Vec<InputFile>, InputError> {
    if !path.is_dir() {
        return Ok(vec![read_file(path, false)?]);
    }
    let dataset =
        Some(path.join("dataset")).filter(|folder| folder.is_dir()).unwrap_or_else(|| path.to_owned());
    let mut files = Vec::new();
    for folder in [dataset.clone(), dataset.join("unverified")].into_iter().filter(|folder| folder.is_dir()) {
        for file in in_folder(&folder).map_err(|cause| InputError::File { path: folder.clone(), cause })? {
            files.push(read_file(&file.path, true)?);
        }
    }
    if files.is_empty() {
        let hint = "question files are called BFCL_<version>_<category>.json, e.g. BFCL_v4_live_simple.json; a single file may have any name";
        return Err(InputError::Nothing { path: dataset, what: "expected question files, found none", hint });
    }
    Ok(files)
}

fn read_file(path: &Path, in_folder: bool) -> Result<InputFile, InputError> {
    if in_folder {
        is_file(path)?;
    }
    let lines = read_lines(path)?;
    let Some(first) = lines.first() else {
        let hint = "each line is {\"id\": …, \"function\": […]}, or a BFCL question";
        return Err(InputError::Nothing {
            path: path.to_owned(),
            what: "expected lines of JSON, found none",
            hint,
        });
    };
    if let Some(line) = lines.iter().find(|line| !holds_functions(&line.value)) {
        return Err(no_functions(path, line));
    }
    // Any file may hold questions; what the version and the category are only a name says.
    let questions = QuestionFile::of(path).filter(|_| first.value.get("question").is_some());
    let beside = questions.as_ref().map(QuestionFile::answers);
    let answers = match beside {
        Some(answers) if is_file(&answers)? => Some(read_lines(&answers)?),
        _ => None,
    };
    Ok(InputFile { path: path.to_owned(), questions, lines, answers, in_folder })
}

/// Whether a file is there. Of what is found in a folder a pipe would be waited for, so only files are read.
fn is_file(path: &Path) -> Result<bool, InputError> {
    match path.metadata() {
        Ok(found) if !found.is_file() => {
            let cause = io::Error::other("found a folder, a pipe or a device, expected a file");
            Err(InputError::File { path: path.to_owned(), cause })
        }
        found => Ok(found.is_ok()),
    }
}

fn holds_functions(value: &Value) -> bool {
    value
        .get("function")
        .is_some_and(|function| function.is_array() || function.is_object() || function.is_null())
}

fn no_functions(path: &Path, line: &Line) -> InputError {
    let (found, hint) = match line.value.get("function") {
        Some(other) => (brief(&other.to_string()), "`toolsieve fix` reads functions of any form"),
        None if line.value.get("ground_truth").is_some() => {
            ("an answer".to_owned(), "name the question file, the answers beside it are found")
        }
        None => (
            brief(&keys_of(&line.value)),
            "each line is {\"id\": …, \"function\": […]}, or a BFCL question; `toolsieve fix` makes such lines of docs of any other form",
        ),
    };
    let what = format!("\"function\": expected a list of functions, found {found}");
    InputError::Line { path: path.to_owned(), line: line.number, what, hint }
}

fn keys_of(value: &Value) -> String {
    let keys: Vec<&str> =
        value.as_object().into_iter().flat_map(|map| map.keys()).map(String::as_str).collect();
    format!("only the keys {}", keys.join(", "))
}

fn read_lines(path: &Path) -> Result<Vec<Line>, InputError> {
    let mut text = String::new();
    let read = if path == Path::new("-") {
        io::stdin().lock().read_to_string(&mut text).map(drop)
    } else {
        std::fs::read_to_string(path).map(|read| text = read)
    };
    read.map_err(|cause| InputError::File { path: path.to_owned(), cause })?;
    let line = |(number, line): (usize, &str)| {
        let wrong = |what: String| {
            let hint = "each line is one JSON object; `toolsieve fix` reads other notations";
            InputError::Line { path: path.to_owned(), line: number, what, hint }
        };
        let value: Value = serde_json::from_str(line)
            .map_err(|error| wrong(format!("expected a JSON object, found {}: {error}", brief(line))))?;
        if !value.is_object() {
            return Err(wrong(format!("expected a JSON object, found {}", brief(line))));
        }
        Ok(Line { number, value })
    };
    lines(text.trim_start_matches('\u{feff}')).map(line).collect()
}

/// A text short enough for a message.
fn brief(text: &str) -> String {
    const MAX_CHARS: usize = 60;
    shortened(text, MAX_CHARS)
}
