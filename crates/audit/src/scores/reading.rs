//! Reads tables of scores: BFCL's leaderboard, or `model,x,y` with more columns as one likes.
//!
//! Scores are percents (`77.47%`, `77.47`) or, in a column without `%` and without one above 1, shares. An empty cell and
//! `N/A` are no score. Of a leaderboard the pairs of columns and their numbers of questions are known; `--x` and `--y` choose others.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::ScoreError;
use super::strata::{Mode, Size};
use callsieve_engine::fingerprint::hex;
use callsieve_system::side_file;
use callsieve_text::os_error::cause_of;

/// Which columns are compared.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Choice {
    /// The column of the names; `model` or `Model` if `None`.
    pub model: Option<String>,
    /// Columns of x, as many as of y; empty for the usual ones.
    pub x: Vec<String>,
    /// Columns of y.
    pub y: Vec<String>,
    /// Questions behind x: a number, or a column; those of BFCL or the column `n_x` if `None`.
    pub n_x: Option<String>,
    /// Questions behind y.
    pub n_y: Option<String>,
    /// The column of sizes in billions of parameters; `size`, or the name of the model, if `None`.
    pub size: Option<String>,
    /// The column of modes; `mode`, or the name of the model, if `None`.
    pub mode: Option<String>,
}

/// Two columns with the numbers of questions behind them.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PairNames {
    pub(super) x: String,
    pub(super) y: String,
    n: (Option<f64>, Option<f64>),
}

/// A row.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Model {
    pub(super) name: String,
    pub(super) line: u64,
    pub(super) mode: Mode,
    pub(super) size: Size,
    /// Scores in percent, for each pair.
    pub(super) scores: Vec<Option<(f64, f64)>>,
    /// Questions behind them.
    pub(super) questions: Vec<(Option<f64>, Option<f64>)>,
}

/// A table of scores.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Table {
    pub(super) path: PathBuf,
    pub(super) sha256: String,
    pub(super) pairs: Vec<PairNames>,
    pub(super) models: Vec<Model>,
}

/// Columns of BFCL's `data_overall.csv` that ask the same of its own questions and of users', with their numbers.
pub const BFCL_PAIRS: [(&str, &str, f64, f64); 5] = [
    ("Non-Live AST Acc", "Live Acc", 1150.0, 1351.0),
    ("Non-Live Simple AST", "Live Simple AST", 550.0, 258.0),
    ("Non-Live Multiple AST", "Live Multiple AST", 200.0, 1053.0),
    ("Non-Live Parallel AST", "Live Parallel AST", 200.0, 16.0),
    ("Non-Live Parallel Multiple AST", "Live Parallel Multiple AST", 200.0, 24.0),
];

const CHOOSE: &str = "--model, --x and --y name the columns";
const MODELS: [&str; 3] = ["model", "Model", "name"];

impl Table {
    /// Reads a file.
    pub(super) fn read(path: &Path, choice: &Choice) -> Result<Self, ScoreError> {
        let unreadable = |cause: String| ScoreError::Read { path: path.to_owned(), cause };
        let bytes = side_file::read(path).map_err(|error| unreadable(cause_of(&error)))?;
        let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
        let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text);
        let header = reader.headers().map_err(|error| unreadable(error.to_string()))?.clone();
        let head = Header { path, names: header.iter().map(str::to_owned).collect() };
        let pairs = head.pairs(choice)?;
        let rows: Vec<csv::StringRecord> =
            reader.records().collect::<Result<_, _>>().map_err(|error| unreadable(error.to_string()))?;
        let mut table = Self {
            path: path.to_owned(),
            sha256: hex(&<sha2::Sha256 as sha2::Digest>::digest(&bytes)),
            pairs,
            models: Vec::with_capacity(rows.len()),
        };
        let columns = Columns::of(&head, choice, &table.pairs)?;
        let mut lines: BTreeMap<String, u64> = BTreeMap::new();
        for row in &rows {
            let model = columns.model(&head, row, &table.pairs)?;
            if let Some(line) = lines.insert(model.name.clone(), model.line) {
                return Err(head.wrong(
                    model.line,
                    columns.name,
                    "each model once",
                    &format!("{}, as on line {line}", model.name),
                    "keep one of the rows, or name a column with unique values with --model",
                ));
            }
            table.models.push(model);
        }
        let mut marked = Vec::with_capacity(columns.scores.len());
        for &(x, y) in &columns.scores {
            marked.push((is_marked(&head, &rows, x)?, is_marked(&head, &rows, y)?));
        }
        table.make_percents(&marked);
        Ok(table)
    }

    /// Turns columns of shares into percents; those with percent signs are percents.
    fn make_percents(&mut self, marked: &[(bool, bool)]) {
        for (at, &(marked_x, marked_y)) in marked.iter().enumerate() {
            let scores = || self.models.iter().filter_map(|model| model.scores[at]);
            let (top_x, top_y) =
                scores().fold((0.0_f64, 0.0_f64), |top, score| (top.0.max(score.0), top.1.max(score.1)));
            let factor = |top: f64, is_marked: bool| if top <= 1.0 && !is_marked { 100.0 } else { 1.0 };
            for score in self.models.iter_mut().filter_map(|model| model.scores[at].as_mut()) {
                *score = (score.0 * factor(top_x, marked_x), score.1 * factor(top_y, marked_y));
            }
        }
    }
}

/// Returns whether the scores of a column have percent signs.
///
/// # Errors
/// Some have, and another could be a share or a percent.
fn is_marked(head: &Header<'_>, rows: &[csv::StringRecord], at: usize) -> Result<bool, ScoreError> {
    let is_marked = rows.iter().any(|row| row[at].ends_with('%'));
    let is_doubtful = |cell: &str| {
        !cell.ends_with('%') && cell.parse::<f64>().is_ok_and(|score| score > 0.0 && score <= 1.0)
    };
    match rows.iter().find(|row| is_marked && is_doubtful(&row[at])) {
        None => Ok(is_marked),
        Some(row) => Err(head.wrong(
            row.position().map_or(0, csv::Position::line),
            at,
            "a percent sign, as other scores of the column have",
            &row[at],
            "write all scores of the column with % or all without",
        )),
    }
}

/// The names of the columns.
struct Header<'a> {
    path: &'a Path,
    names: Vec<String>,
}

impl Header<'_> {
    fn has(&self, name: &str) -> bool {
        self.names.iter().any(|own| own == name)
    }

    /// Returns the place of a column.
    fn at(&self, name: &str) -> Result<usize, ScoreError> {
        self.place_of(name)?.ok_or_else(|| ScoreError::Header {
            path: self.path.to_owned(),
            column: name.to_owned(),
            found: self.names.join(", "),
            hint: CHOOSE,
        })
    }

    /// Returns the place of a column, if it is there.
    ///
    /// # Errors
    /// Several columns have this name.
    fn place_of(&self, name: &str) -> Result<Option<usize>, ScoreError> {
        match self.names.iter().filter(|own| *own == name).count() {
            0 | 1 => Ok(self.names.iter().position(|own| own == name)),
            found => Err(ScoreError::Repeated { path: self.path.to_owned(), column: name.to_owned(), found }),
        }
    }

    fn wrong(
        &self,
        line: u64,
        column: usize,
        expected: &'static str,
        found: &str,
        hint: &'static str,
    ) -> ScoreError {
        let column = self.names[column].clone();
        let found = callsieve_text::visible::visible_line(found).into_owned();
        ScoreError::Value { path: self.path.to_owned(), line, column, expected, found, hint }
    }

    /// Returns the pairs that are chosen, or those of the simple form or of a leaderboard.
    fn pairs(&self, choice: &Choice) -> Result<Vec<PairNames>, ScoreError> {
        if choice.x.len() != choice.y.len() {
            return Err(ScoreError::Pairs { x: choice.x.len(), y: choice.y.len() });
        }
        let number = |option: &'static str, text: &Option<String>| questions(option, text.as_deref());
        let (n_x, n_y) = (number("--n-x", &choice.n_x)?, number("--n-y", &choice.n_y)?);
        let known = |x: &str, y: &str| BFCL_PAIRS.iter().find(|pair| (pair.0, pair.1) == (x, y));
        let named = |x: &str, y: &str| PairNames {
            x: x.to_owned(),
            y: y.to_owned(),
            n: (
                n_x.or_else(|| known(x, y).map(|pair| pair.2)),
                n_y.or_else(|| known(x, y).map(|pair| pair.3)),
            ),
        };
        if !choice.x.is_empty() {
            return Ok(choice.x.iter().zip(&choice.y).map(|(x, y)| named(x, y)).collect());
        }
        if self.has("x") || !self.has(BFCL_PAIRS[0].0) {
            return Ok(vec![named("x", "y")]);
        }
        let there = BFCL_PAIRS.iter().filter(|pair| self.has(pair.0) && self.has(pair.1));
        Ok(there.map(|pair| named(pair.0, pair.1)).collect())
    }
}

/// The places of the columns.
struct Columns {
    name: usize,
    size: Option<usize>,
    mode: Option<usize>,
    scores: Vec<(usize, usize)>,
    n_x: Option<usize>,
    n_y: Option<usize>,
}

impl Columns {
    fn of(head: &Header<'_>, choice: &Choice, pairs: &[PairNames]) -> Result<Self, ScoreError> {
        let usual = MODELS.iter().find(|name| head.has(name)).copied().unwrap_or(MODELS[0]);
        let optional = |chosen: &Option<String>, usual: &str| match chosen {
            Some(name) => head.at(name).map(Some),
            None => head.place_of(usual),
        };
        let questions = |chosen: &Option<String>, usual: &str| match chosen {
            Some(text) if text.parse::<f64>().is_ok() => Ok(None),
            chosen => optional(chosen, usual),
        };
        Ok(Self {
            name: head.at(choice.model.as_deref().unwrap_or(usual))?,
            size: optional(&choice.size, "size")?,
            mode: optional(&choice.mode, "mode")?,
            scores: pairs
                .iter()
                .map(|pair| Ok((head.at(&pair.x)?, head.at(&pair.y)?)))
                .collect::<Result<_, _>>()?,
            n_x: questions(&choice.n_x, "n_x")?,
            n_y: questions(&choice.n_y, "n_y")?,
        })
    }

    #[allow(clippy::similar_names)] // n_x and n_y are the names of the field.
    fn model(
        &self,
        head: &Header<'_>,
        row: &csv::StringRecord,
        pairs: &[PairNames],
    ) -> Result<Model, ScoreError> {
        let line = row.position().map_or(0, csv::Position::line);
        let name = row[self.name].to_owned();
        if name.is_empty() {
            return Err(head.wrong(line, self.name, "the name of a model", "", CHOOSE));
        }
        let count = |at: Option<usize>| -> Result<Option<f64>, ScoreError> {
            let Some(at) = at.filter(|&at| !is_none(&row[at])) else { return Ok(None) };
            let number = row[at].parse::<f64>().ok().filter(|n| n.is_finite() && *n >= 1.0);
            let hint = "--n-x and --n-y name columns of the numbers of questions";
            number.map(Some).ok_or_else(|| head.wrong(line, at, "a number of questions", &row[at], hint))
        };
        let (n_x, n_y) = (count(self.n_x)?, count(self.n_y)?);
        let mut scores = Vec::with_capacity(pairs.len());
        for &(x, y) in &self.scores {
            let score = |at: usize| {
                score(&row[at])
                    .ok_or_else(|| head.wrong(line, at, "a score from 0 to 100, or N/A", &row[at], CHOOSE))
            };
            scores.push(score(x)?.zip(score(y)?));
        }
        let size = match self.size.filter(|&at| !is_none(&row[at])) {
            None => Size::of_name(&name),
            Some(at) => {
                let text = row[at].trim_end_matches(['b', 'B']);
                let billions = text.parse::<f64>().ok().filter(|n| n.is_finite() && *n > 0.0);
                let hint = "an empty cell leaves the size unknown, or to the name of the model";
                Size::of_billions(billions.ok_or_else(|| {
                    head.wrong(line, at, "a size in billions of parameters", &row[at], hint)
                })?)
            }
        };
        let mode = self
            .mode
            .filter(|&at| !is_none(&row[at]))
            .map_or_else(|| Mode::of_name(&name), |at| Mode::of(&row[at]));
        let questions = pairs.iter().map(|pair| (n_x.or(pair.n.0), n_y.or(pair.n.1))).collect();
        Ok(Model { name, line, mode, size, scores, questions })
    }
}

/// Returns the number of questions that an option gives; `None` if it names a column.
fn questions(option: &'static str, text: Option<&str>) -> Result<Option<f64>, ScoreError> {
    match text.and_then(|text| Some((text, text.parse::<f64>().ok()?))) {
        None => Ok(None),
        Some((_, number)) if number.is_finite() && number >= 1.0 => Ok(Some(number)),
        Some((text, _)) => Err(ScoreError::Questions { option, found: text.to_owned() }),
    }
}

/// Reads a score; the inner `None` is none, the outer one an error.
#[allow(clippy::option_option)]
fn score(cell: &str) -> Option<Option<f64>> {
    if is_none(cell) {
        return Some(None);
    }
    let number = cell.strip_suffix('%').unwrap_or(cell).trim().parse::<f64>().ok()?;
    (0.0..=100.0).contains(&number).then_some(Some(number))
}

fn is_none(cell: &str) -> bool {
    matches!(cell, "" | "N/A" | "n/a" | "NA" | "-")
}
