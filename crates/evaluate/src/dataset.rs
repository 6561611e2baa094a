//! Reads a dataset: question files of any version of the leaderboard with their answer files.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::category::{
    FORMAT_SENSITIVITY, Scoring, format_of_id, of_file_name, of_questions, prompt_configurations, scoring,
};
use super::error::{EvaluateError, Result, unfit, unreadable};
use callsieve_bfcl::files::{ANSWERS, lines};
use callsieve_checker::Language;
use callsieve_checker::decode::OutputFormat;
use callsieve_checker::decode::python_json;
use callsieve_text::short::shortened;

/// A dataset.
#[derive(Debug)]
pub struct Dataset {
    /// The folder or file.
    pub path: PathBuf,
    /// The scored categories, by name.
    pub categories: Vec<Category>,
    /// The categories that are not scored, each with the reason.
    pub not_scored: Vec<(String, &'static str)>,
    /// Differences to what the official evaluator expects.
    pub warnings: Vec<String>,
    places: HashMap<String, (usize, usize)>,
}

/// A category with its entries.
#[derive(Debug)]
pub struct Category {
    /// The name in the file name.
    pub name: String,
    /// The question file.
    pub path: PathBuf,
    /// How outputs are scored.
    pub scoring: Scoring,
    /// The entries, in the order of the file.
    pub entries: Vec<Entry>,
}

/// An entry of a dataset.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The id.
    pub id: String,
    /// The question, as in the file.
    pub question: Arc<Value>,
    /// The functions, as in the file; null in multi-turn and agentic categories.
    pub functions: Arc<Value>,
    /// The ground truth; null in categories without one.
    pub ground_truth: Arc<Value>,
    /// How the results of executable calls are compared, one for each call.
    pub result_types: Value,
    /// The other members of the question, such as the state of services.
    pub more: Map<String, Value>,
}

impl Category {
    /// Returns the format of the calls in an output, and whether they are between tags.
    pub fn format_of(&self, entry: &Entry) -> (OutputFormat, bool) {
        match self.scoring {
            Scoring::Calls(_, Language::Java) => (OutputFormat::Java, false),
            Scoring::Calls(_, Language::JavaScript) => (OutputFormat::JavaScript, false),
            Scoring::Formats => format_of_id(&entry.id).unwrap_or_default(),
            _ => (OutputFormat::Python, false),
        }
    }
}

impl Dataset {
    /// Reads the question files of a folder, of the dataset of a run folder, or one question file. Categories that only
    /// the official package scores are read with `has_package`, and otherwise listed.
    ///
    /// # Errors
    /// If a file cannot be read, a line is no entry, or a scored entry has no ground truth.
    pub fn read(path: &Path, has_package: bool) -> Result<Self> {
        let mut dataset = Self {
            path: path.to_owned(),
            categories: Vec::new(),
            not_scored: Vec::new(),
            warnings: Vec::new(),
            places: HashMap::new(),
        };
        let mut ids_of_formats = None;
        for file in question_files(path)? {
            let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let Some((_, name)) = of_file_name(name) else { continue };
            match scoring(&name) {
                Scoring::NotScored(reason) => dataset.not_scored.push((name, reason)),
                Scoring::Official(reason) if !has_package => dataset.not_scored.push((name, reason)),
                Scoring::Formats => ids_of_formats = Some(file),
                scoring => dataset.add(&file, &name, scoring)?,
            }
        }
        if let Some(file) = ids_of_formats {
            dataset.add_formats(&file)?;
        }
        if dataset.categories.is_empty()
            && let Some((name, reason)) = dataset.not_scored.first()
        {
            let what = format!("no category of the dataset is scored here; {name}: {reason}");
            let hint =
                "`--engine official` scores multi-turn and agentic categories with the package bfcl-eval";
            return Err(unfit(path, what, hint));
        }
        if dataset.categories.is_empty() {
            let hint =
                "question files are named BFCL_<version>_<category>.json, such as BFCL_v4_live_simple.json";
            return Err(unfit(path, "there is no question file of a scored category", hint));
        }
        Ok(dataset)
    }

    /// Returns the entry with an id, as its category and its index.
    pub fn place(&self, id: &str) -> Option<(usize, usize)> {
        self.places.get(id).copied()
    }

    fn add(&mut self, path: &Path, name: &str, scoring: Scoring) -> Result<()> {
        let mut entries = Vec::new();
        let mut lines = Vec::new();
        let has_functions = !matches!(scoring, Scoring::Official(_));
        for (at, (line, value)) in objects(path)?.into_iter().enumerate() {
            entries.push(entry(path, line, value, has_functions, || format!("{name}_{at}"))?);
            lines.push(line);
        }
        if !matches!(scoring, Scoring::Relevance(_)) {
            self.add_answers(path, &mut entries)?;
        }
        let categories = of_questions(name);
        for category in categories {
            let of_category =
                |entry: &Entry| Entry { id: entry.id.replacen(name, category, 1), ..entry.clone() };
            let entries = entries.iter().map(of_category).collect();
            self.push(
                Category { name: (*category).to_owned(), path: path.to_owned(), scoring, entries },
                &lines,
            )?;
        }
        if categories.is_empty() {
            self.push(Category { name: name.to_owned(), path: path.to_owned(), scoring, entries }, &lines)?;
        }
        Ok(())
    }

    fn push(&mut self, category: Category, lines: &[usize]) -> Result<()> {
        for (at, entry) in category.entries.iter().enumerate() {
            if self.places.insert(entry.id.clone(), (self.categories.len(), at)).is_some() {
                return Err(EvaluateError::Line {
                    path: category.path.clone(),
                    line: lines.get(at).copied().unwrap_or(1),
                    what: format!("\"id\": {:?} is in the dataset twice", entry.id),
                    hint: "results are matched by id; give one folder with the files of one version",
                });
            }
        }
        self.categories.push(category);
        Ok(())
    }

    /// Adds the entries of format sensitivity: each listed entry of another category in each prompt configuration.
    fn add_formats(&mut self, path: &Path) -> Result<()> {
        let text = std::fs::read_to_string(path).map_err(|cause| unreadable(path, cause))?;
        let hint = "the file lists ids by category: {\"simple_python\": [\"simple_python_58\"]}";
        let ids: Map<String, Value> = serde_json::from_str(&text)
            .map_err(|fault| unfit(path, format!("expected one JSON object: {fault}"), hint))?;
        let configurations = prompt_configurations();
        let (mut entries, mut n_missing) = (Vec::new(), 0_usize);
        for listed in ids.values().filter_map(Value::as_array) {
            let places = listed.iter().filter_map(|id| self.place(id.as_str()?));
            // They are numbered in the order of their file, not of the list.
            let places: BTreeSet<(usize, usize)> = places.collect();
            n_missing += listed.len() - places.len();
            for (category, at) in places {
                let entry = &self.categories[category].entries[at];
                for configuration in &configurations {
                    let id = format!("format_sensitivity_{}:{configuration}:{}", entries.len(), entry.id);
                    entries.push(Entry { id, ..entry.clone() });
                }
            }
        }
        if n_missing > 0 {
            self.not_scored.push((
                FORMAT_SENSITIVITY.to_owned(),
                "format sensitivity: it uses entries of other categories, whose files are missing here",
            ));
            return Ok(());
        }
        let name = FORMAT_SENSITIVITY.to_owned();
        self.push(Category { name, path: path.to_owned(), scoring: Scoring::Formats, entries }, &[])
    }

    /// Adds the ground truths of the answer file, by id.
    fn add_answers(&mut self, path: &Path, entries: &mut [Entry]) -> Result<()> {
        let answers_path = answers_path(path);
        if entries.iter().all(|entry| !entry.ground_truth.is_null()) {
            return Ok(());
        }
        if !answers_path.try_exists().map_err(|cause| unreadable(&answers_path, cause))? {
            let what = format!("there is no such file, and {} needs one", path.display());
            let hint = "a dataset has the ground truth of each question file in possible_answer, under the same name";
            return Err(unfit(&answers_path, what, hint));
        }
        let answers = objects(&answers_path)?;
        let by_id: HashMap<String, usize> = answers
            .iter()
            .enumerate()
            .filter_map(|(at, (_, answer))| Some((answer.get("id")?.as_str()?.to_owned(), at)))
            .collect();
        if let Some((at, (line, answer))) = answers.iter().enumerate().find(|(at, (_, answer))| {
            answer.get("id").and_then(Value::as_str).is_some_and(|id| by_id.get(id) != Some(at))
        }) {
            let id = answer.get("id").and_then(Value::as_str).unwrap_or_default();
            let other = answers[by_id.get(id).copied().unwrap_or(at)].0;
            return Err(EvaluateError::Line {
                path: answers_path,
                line: *line,
                what: format!("\"id\": {id:?} is also in line {other}"),
                hint: "an entry has one answer; remove one of the two lines",
            });
        }
        let is_by_id = entries.iter().any(|entry| by_id.contains_key(&entry.id));
        if !is_by_id && answers.len() != entries.len() {
            let what = format!("{} answers without ids of the {} entries", answers.len(), entries.len());
            return Err(unfit(&answers_path, what, "answers need the \"id\" of their entry"));
        }
        let mut n_moved = 0_usize;
        for (at, entry) in entries.iter_mut().enumerate() {
            let found = if is_by_id { by_id.get(&entry.id).copied() } else { Some(at) };
            let Some(found) = found else {
                let what = format!("no answer to the entry {:?}", entry.id);
                return Err(unfit(
                    &answers_path,
                    what,
                    "each entry of this category needs a line with its id",
                ));
            };
            n_moved += usize::from(found != at);
            let answer = &answers[found].1;
            entry.ground_truth = Arc::new(ground_truth(answer));
            entry.result_types = answer.get("execution_result_type").cloned().unwrap_or(Value::Null);
        }
        let path = answers_path.display();
        if n_moved > 0 {
            self.warnings.push(format!(
                "{path}: {n_moved} answers are not at the index of their entry; they are matched by id here, by index in \
                 the official evaluator"
            ));
        } else if !is_by_id && !entries.is_empty() {
            self.warnings.push(format!("{path}: no id is that of an entry; answers are matched by index"));
        }
        Ok(())
    }
}

/// Returns the answer file of a question file: in a folder below its folder, or beside it, as retired categories have it.
fn answers_path(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default();
    let usual = path.with_file_name(ANSWERS).join(name);
    let beside = path.parent().and_then(Path::parent).map(|above| above.join(ANSWERS).join(name));
    // What cannot be looked at may be there.
    if usual.try_exists().unwrap_or(true) {
        usual
    } else {
        beside.filter(|beside| beside.exists()).unwrap_or(usual)
    }
}

/// Returns the question files at a path, sorted by name.
fn question_files(path: &Path) -> Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let inner = path.join("dataset");
    let folder = if inner.is_dir() { inner } else { path.to_owned() };
    let listed = std::fs::read_dir(&folder).and_then(|files| files.map(|file| Ok(file?.path())).collect());
    let mut files: Vec<PathBuf> = listed.map_err(|cause| unreadable(&folder, cause))?;
    files.sort();
    Ok(files)
}

/// Returns the objects of a file of JSON lines, with their line numbers.
pub(super) fn objects(path: &Path) -> Result<Vec<(usize, Map<String, Value>)>> {
    let text = if path == Path::new("-") {
        std::io::read_to_string(std::io::stdin())
    } else {
        // Reading a pipe without a writer never ends.
        let is_regular = std::fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir());
        if is_regular && !is_pipe_of_a_shell(path) {
            return Err(unfit(
                path,
                "this is a pipe or a device",
                "give a regular file, or - for standard input",
            ));
        }
        std::fs::read_to_string(path)
    };
    let text = text.map_err(|cause| unreadable(path, cause))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let parsed = lines(text).map(|(line, text)| {
        match serde_json::from_str::<Value>(text).or_else(|fault| of_python(text).ok_or(fault)) {
            Ok(Value::Object(object)) => Ok((line, object)),
            Ok(_) => Err(not_an_object(path, line, "expected a JSON object, found another value".to_owned())),
            Err(fault) => Err(not_an_object(path, line, format!("expected a JSON object: {fault}"))),
        }
    });
    parsed.collect()
}

/// Whether a path is one that a shell makes for `<(command)`.
fn is_pipe_of_a_shell(path: &Path) -> bool {
    path.starts_with("/dev/fd") || path.starts_with("/proc/self/fd")
}

/// Reads what Python's `json` writes and reads, and the standard does not allow: halves of surrogate pairs become U+FFFD,
/// numbers that are not finite become their text.
fn of_python(text: &str) -> Option<Value> {
    python_json(text).ok().map(|value| value.to_json())
}

fn not_an_object(path: &Path, line: usize, what: String) -> EvaluateError {
    EvaluateError::Line { path: path.to_owned(), line, what, hint: "the file needs one JSON object per line" }
}

fn entry(
    path: &Path,
    line: usize,
    mut object: Map<String, Value>,
    has_functions: bool,
    default_id: impl Fn() -> String,
) -> Result<Entry> {
    let mut take = |key: &str| object.shift_remove(key).unwrap_or(Value::Null);
    // Files of V1 have "index" instead, or nothing.
    let id = match (take("id"), take("index")) {
        (Value::String(id), _) | (Value::Null, Value::String(id)) => id,
        (Value::Null, _) => default_id(),
        (other, _) => other.to_string(),
    };
    let functions = match take("function") {
        // Entries of V1 with one function have no list.
        function @ Value::Object(_) => Value::Array(vec![function]),
        functions @ (Value::Array(_) | Value::Null) => functions,
        other => {
            return Err(EvaluateError::Line {
                path: path.to_owned(),
                line,
                what: format!(
                    "\"function\": expected a list of functions, found {}",
                    shortened(&other.to_string(), 60)
                ),
                hint: "`callsieve check` lists the faults of a dataset",
            });
        }
    };
    if functions.is_null() && has_functions {
        return Err(EvaluateError::Line {
            path: path.to_owned(),
            line,
            what: "\"function\": expected a list of functions, found nothing".to_owned(),
            hint: "multi-turn and agentic files are scored by the official package only",
        });
    }
    let ground_truth = take("ground_truth");
    Ok(Entry {
        id,
        question: Arc::new(take("question")),
        functions: Arc::new(functions),
        ground_truth: Arc::new(ground_truth),
        result_types: take("execution_result_type"),
        more: object,
    })
}

/// Returns the ground truth of a line; early files of V1 have the calls as members of the line.
fn ground_truth(answer: &Map<String, Value>) -> Value {
    answer.get("ground_truth").cloned().unwrap_or_else(|| {
        let calls = answer.iter().filter(|(key, _)| *key != "id");
        calls.map(|(name, arguments)| json!({ name: arguments })).collect()
    })
}
