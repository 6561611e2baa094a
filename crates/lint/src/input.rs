//! The input of `check`: question files, a folder or run of them, or lines of functions.
//!
//! An unreadable line aborts the check with an error that names the file, the line, the key, and
//! what was found and expected, because a result for a part of a dataset would look like one for
//! all of it.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use serde_json::Value;

use callsieve_bfcl::files::{QuestionFile, in_folder, lines};
use callsieve_engine::marker::is_run;
use callsieve_system::folder_entries::entries;
use callsieve_system::side_file;
use callsieve_text::os_error::{cause_of, hint_of};
use callsieve_text::short::shortened;

/// The error for input that cannot be checked.
#[derive(Debug, thiserror::Error)]
pub enum InputError {
    /// A file cannot be read.
    #[error("reading {}: {}{}", path.display(), cause_of(cause), hint_of(cause, path))]
    File {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        cause: io::Error,
    },
    /// A line is not in the expected format.
    #[error("{}:{line}: {what}\nhint: {hint}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What was found and what was expected.
        what: String,
        /// How to continue.
        hint: &'static str,
    },
    /// A folder has no question files, or a file is empty.
    #[error("{}: {what}\nhint: {hint}", path.display())]
    Nothing {
        /// The folder or file.
        path: PathBuf,
        /// What is missing.
        what: &'static str,
        /// How to continue.
        hint: &'static str,
    },
}

/// A parsed file.
#[derive(Debug)]
pub struct InputFile {
    /// The path.
    pub path: PathBuf,
    /// Version and category, if it is a question file.
    pub questions: Option<QuestionFile>,
    /// Its lines.
    pub lines: Vec<Line>,
    /// The lines of its answer file, if there is one.
    pub answers: Option<Vec<Line>>,
    /// Whether it was found in a folder, so that its answer file should be there too.
    pub in_folder: bool,
}

/// A line, parsed as JSON.
#[derive(Debug)]
pub struct Line {
    /// The line number, from 1.
    pub number: usize,
    /// The JSON object.
    pub value: Value,
}

impl Line {
    /// Returns the entry's id; empty if it has none.
    pub fn id(&self) -> String {
        match self.value.get("id") {
            Some(Value::String(id)) => id.clone(),
            Some(Value::Null) | None => String::new(),
            Some(other) => other.to_string(),
        }
    }

    /// Returns the functions, written as a list or as one object.
    pub fn functions(&self) -> &[Value] {
        match self.value.get("function") {
            Some(Value::Array(functions)) => functions,
            Some(function @ Value::Object(_)) => std::slice::from_ref(function),
            _ => &[],
        }
    }
}

impl InputFile {
    /// Returns the label of the file in tables: the category, or the file name.
    pub fn label(&self) -> String {
        match &self.questions {
            Some(file) if self.is_unverified() => format!("unverified {}", file.category),
            Some(file) => file.category.clone(),
            None => self.path.file_name().unwrap_or(self.path.as_os_str()).to_string_lossy().into_owned(),
        }
    }

    /// Returns the path of the answer file, if the file is a question file.
    pub fn answers_path(&self) -> Option<PathBuf> {
        self.questions.as_ref().map(QuestionFile::answers)
    }

    /// Returns whether calls are written in Python, as in all but two categories.
    pub fn is_python(&self) -> bool {
        self.questions.as_ref().is_none_or(QuestionFile::is_typed)
    }

    fn is_unverified(&self) -> bool {
        self.in_folder && self.path.parent().is_some_and(|folder| folder.ends_with("unverified"))
    }
}

/// Reads the files at a path; `-` is standard input, as lines of functions.
///
/// # Errors
/// If a file cannot be read, or a line is not a JSON object with functions.
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
    if files.is_empty() && is_run(path) {
        return Err(InputError::Nothing {
            path: path.to_owned(),
            what: "the run has no dataset to check",
            hint: "`callsieve report` shows what came of the run; a run whose pipeline has no [export] writes no dataset",
        });
    }
    if files.is_empty() && dataset == path {
        let mut paths = Vec::new();
        json_files(path, &mut paths)?;
        files = paths.iter().map(|path| read_file(path, false)).collect::<Result<_, _>>()?;
    }
    if files.is_empty() {
        let hint = "files end in .json, .jsonl or .ndjson; question files are named BFCL_<version>_<category>.json, such as BFCL_v4_live_simple.json";
        return Err(InputError::Nothing { path: dataset, what: "the folder holds no JSON file", hint });
    }
    Ok(files)
}

/// Extensions of source code, which only `fix` reads.
const CODE: [&str; 5] = ["py", "pyi", "ts", "js", "yaml"];

/// Extensions of the files that are read in a folder without question files.
const EXTENSIONS: [&str; 3] = ["json", "jsonl", "ndjson"];

/// Adds the JSON files in a folder and below it, by name. Hidden entries are skipped, and links to folders.
fn json_files(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), InputError> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |cause| InputError::File { path, cause }
    };
    let listed = entries(folder).map_err(failed(folder))?;
    for entry in listed.into_iter().filter(|entry| !entry.is_hidden()) {
        let path = folder.join(&entry.name);
        let is_json = path
            .extension()
            .is_some_and(|found| EXTENSIONS.iter().any(|known| found.eq_ignore_ascii_case(known)));
        if entry.kind.map_err(failed(&path))?.is_dir() {
            json_files(&path, files)?;
        } else if is_json && path.metadata().map_err(failed(&path))?.is_file() {
            files.push(path);
        }
    }
    Ok(())
}

fn read_file(path: &Path, in_folder: bool) -> Result<InputFile, InputError> {
    if in_folder {
        is_file(path)?;
    }
    if let Some(extension) = path.extension().and_then(|found| found.to_str())
        && CODE.iter().any(|known| extension.eq_ignore_ascii_case(known))
    {
        let hint = "`callsieve fix FILE | callsieve check -` converts the functions and checks them";
        let what = "the file is source code, and `check` reads JSON lines";
        return Err(InputError::Nothing { path: path.to_owned(), what, hint });
    }
    let lines = read_lines(path)?;
    let Some(first) = lines.first() else {
        let hint = "each line must be {\"id\": …, \"function\": […]}, or a BFCL question";
        return Err(InputError::Nothing {
            path: path.to_owned(),
            what: "expected lines of JSON, found none",
            hint,
        });
    };
    if let Some(line) = lines.iter().find(|line| !holds_functions(&line.value)) {
        return Err(no_functions(path, line));
    }
    // Any file may contain questions, but only the file name has the version and the category.
    let questions = QuestionFile::of(path).filter(|_| first.value.get("question").is_some());
    let answers_path = questions.as_ref().map(QuestionFile::answers);
    let answers = match answers_path {
        Some(answers) if is_file(&answers)? => Some(read_lines(&answers)?),
        _ => None,
    };
    Ok(InputFile { path: path.to_owned(), questions, lines, answers, in_folder })
}

/// Returns whether a file exists. In a folder only regular files are read, because reading a pipe would block.
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
        Some(other) => (brief(&other.to_string()), "`callsieve fix` reads functions in any format"),
        None if line.value.get("ground_truth").is_some() => {
            ("an answer".to_owned(), "name the question file; its answer file is found automatically")
        }
        None => (
            brief(&keys_of(&line.value)),
            "each line must be {\"id\": …, \"function\": […]}, or a BFCL question; `callsieve fix` converts docs in other formats to such lines",
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
        side_file::read_text(path).map(|read| text = read)
    };
    read.map_err(|cause| InputError::File { path: path.to_owned(), cause })?;
    let line = |(number, line): (usize, &str)| {
        let wrong = |what: String| {
            let hint = if line.starts_with('[') {
                "`callsieve fix FILE | callsieve check -` converts the functions and checks them"
            } else {
                "each line must be one JSON object; `callsieve fix` reads other notations"
            };
            InputError::Line { path: path.to_owned(), line: number, what, hint }
        };
        let value: Value = serde_json::from_str(line)
            .map_err(|error| wrong(format!("expected a JSON object, found {} ({error})", brief(line))))?;
        if !value.is_object() {
            return Err(wrong(format!("expected a JSON object, found {}", brief(line))));
        }
        Ok(Line { number, value })
    };
    lines(text.trim_start_matches('\u{feff}')).map(line).collect()
}

/// Shortens a text for a message.
fn brief(text: &str) -> String {
    const MAX_CHARS: usize = 60;
    shortened(text, MAX_CHARS)
}
