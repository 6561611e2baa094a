//! Reads a file of decisions by people: JSON lines with one decision each, or a review file (see `review`).
//!
//! The form of every line is checked when the file is read, and all faulty lines are named at once, each with the key,
//! what was found and what is expected. Whether a row has the id is for the run to see: see `engine::decisions`. A line
//! `{"request": ID, "ground_truth": […]}` is the decision `answer`. Deliberately absent: what a decision does to a row.

mod keys;
mod possible;
mod review;
mod reviews;
pub mod tasks;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use callsieve_review::store::StoreError;
use serde_json::{Map, Value, json};
use thiserror::Error;

use crate::answers::human::check_form;
use crate::bfcl::category::Category;
use crate::bfcl::ids::Numbers;
use crate::columns::{EXTERNAL_ID, MESSAGES, TEXT};
use crate::docs::patch::{PatchOp, is_pointer};
use crate::engine::decision::{Columns, Decision, DecisionKind, Decisions};
use crate::engine::row_names::{NameKind, RowName};
pub use crate::ingest::archive::Archive;
use crate::notation::levels::{MAX_KEPT, are_within};
use crate::relevance::Relevance;
use crate::side_file;
use crate::text::os_error::{cause_of, hint_of};
use crate::text::short::shortened;
use crate::text::suggestion::similarity;

pub use possible::{OF_AN_ENTRY, UNSURE, decisions_on_held, possible_decisions};
pub use review::answer_digest;
pub use reviews::{Reviewed, is_review_export, read_reviews, with_reviews};

/// Why a file of decisions cannot be used.
#[derive(Debug, Error)]
pub enum DecisionsError {
    /// The file cannot be read.
    #[error("decisions {}: {}{}", path.display(), cause_of(source), hint_of(source, path))]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The file is an archive or compressed.
    #[error("{}: this is {what}, not a file of decisions\nhint: {hint}", path.display())]
    Archive {
        /// The file.
        path: PathBuf,
        /// What it is.
        what: &'static str,
        /// How to make a file that can be read.
        hint: &'static str,
    },
    /// Standard input, which cannot be read a second time.
    #[error(
        "decisions -: standard input cannot be used\nhint: save the decisions as a file: when a run goes on, it reads them again"
    )]
    StandardInput,
    /// Some lines are no decisions.
    #[error("{}", report(path, faults))]
    Lines {
        /// The file.
        path: PathBuf,
        /// The lines, from 1, and what is wrong in each.
        faults: Vec<(usize, String)>,
    },
    /// The decisions of reviewers cannot be read.
    #[error(transparent)]
    Reviews(#[from] StoreError),
    /// Decisions of two files contradict each other.
    #[error(
        "{}{}\nhint: keep the right decision of each two, and leave the cell of the other one empty, or remove its line",
        clashes.iter().take(MOST_NAMED).map(String::as_str).collect::<Vec<_>>().join("\n"),
        more(clashes.len())
    )]
    Contradictions {
        /// The messages, each with both files and lines.
        clashes: Vec<String>,
    },
    /// Some decisions are not possible on the rows of a run.
    #[error("{}\n{ROWS_HINT}", lines_of(path, faults))]
    Rows {
        /// The file.
        path: PathBuf,
        /// The lines, from 1, and what is wrong in each.
        faults: Vec<(usize, String)>,
    },
    /// Some decisions hold personal values that the pipeline replaces.
    #[error("{}\n{PERSONAL_HINT}", lines_of(path, faults))]
    Personal {
        /// The file.
        path: PathBuf,
        /// The lines, from 1, with kinds and places of the values, never the values.
        faults: Vec<(usize, String)>,
    },
}

/// What editors put before the first line.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// How texts in UTF-16 begin.
const UTF_16: [&[u8]; 2] = [b"\xff\xfe", b"\xfe\xff"];
/// How a Parquet file begins.
const PARQUET: &[u8] = b"PAR1";
/// Most lines that a message names.
const MOST_NAMED: usize = 20;
/// Longest value that a message quotes, in characters.
const MOST_QUOTED: usize = 60;
const HINT: &str = r#"hint: a line is {"id": ID, "decision": "keep" | "drop" | "relevant" | "irrelevant" | "answer" | "edit", …}, or a row of `callsieve held`, which may have "accept" too; docs/human-decisions.md has one of each"#;
const TABLE_HINT: &str = "hint: the column decision is empty or has keep, drop, relevant, irrelevant, answer, edit or accept; docs/human-decisions.md explains each";
const ENCODING_HINT: &str =
    "hint: in Excel, choose \"CSV UTF-8\" as the file type; in other programs, choose the encoding UTF-8";
/// The forms of a ground truth, for messages.
const CALLS: &str =
    "calls such as clinic(day=\"Friday\"), or JSON such as [{\"clinic\": {\"day\": [\"Friday\"]}}]";
const ANSWER_HINT: &str = "hint: docs/human-decisions.md has an example of each decision";
const ROWS_HINT: &str = "hint: nothing was imported; `callsieve review RUN --export FILE.csv` writes the rows as they are, with the decisions that each may have";
const PERSONAL_HINT: &str =
    "hint: write each value as the run shows it, with its placeholder; `callsieve why RUN ID` shows the row";

fn report(path: &Path, faults: &[(usize, String)]) -> String {
    let lines = lines_of(path, faults);
    if faults.iter().all(|(_, fault)| fault.contains("UTF-8")) {
        return format!("{lines}\n{ENCODING_HINT}");
    }
    // Messages about an answer give the right form themselves.
    if faults.iter().all(|(_, fault)| fault.contains(CALLS) || fault.contains(review::AS_LISTED)) {
        return format!("{lines}\n{ANSWER_HINT}");
    }
    let hint = if has_extension(path, &["csv", "tsv", "parquet"]) { TABLE_HINT } else { HINT };
    format!("{lines}\n{hint}")
}

fn lines_of(path: &Path, faults: &[(usize, String)]) -> String {
    let path = path.display();
    let lines =
        faults.iter().take(MOST_NAMED).map(|(line, fault)| format!("decisions {path}:{line}: {fault}"));
    format!("{}{}", lines.collect::<Vec<_>>().join("\n"), more(faults.len()))
}

/// How many lines a message does not name.
fn more(n_lines: usize) -> String {
    match n_lines.saturating_sub(MOST_NAMED) {
        0 => String::new(),
        n_more => format!("\nand {n_more} more lines"),
    }
}

/// Refuses decisions of one file with personal values, of which `values` gives kind and place: nothing replaces them later.
///
/// # Errors
/// Decisions hold such values: all of them are named.
pub fn check_personal(
    decisions: &Decisions,
    values: impl Fn(&Decision) -> Vec<(&'static str, String)>,
) -> Result<(), DecisionsError> {
    let fault = |decision: &Decision| {
        let values = values(decision);
        let (kind, place) = values.first()?;
        let place = shortened(place, MOST_QUOTED);
        let more = match values.len() - 1 {
            0 => String::new(),
            n_more => format!(" and {n_more} more"),
        };
        Some((decision.line, format!("{}: found a personal value ({kind}) at {place}{more}", decision.word)))
    };
    let faults: Vec<(usize, String)> = decisions.all.iter().filter_map(fault).collect();
    if faults.is_empty() {
        return Ok(());
    }
    Err(DecisionsError::Personal { path: PathBuf::from(decisions.files.concat()), faults })
}

/// Reads a file of decisions.
///
/// # Errors
/// The file cannot be read, or lines are no decisions or contradict earlier ones: all of them are named.
pub fn read(path: &Path) -> Result<Decisions, DecisionsError> {
    if path.as_os_str() == "-" {
        return Err(DecisionsError::StandardInput);
    }
    let mut all: Vec<Decision> = Vec::new();
    let mut by_id: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    let mut faults = Vec::new();
    let mut undecided = Vec::new();
    let Rows { rows, is_table } = rows_of(path)?;
    for (line, row) in rows {
        let row = row.and_then(|row| {
            let is_of_review = is_table || review::is_review(&row);
            if !is_of_review {
                return Ok(Some((row, None)));
            }
            let filled = review::filled_without_decision(&row);
            undecided.extend(filled.map(|column| {
                format!(
                    "{}:{line}: {column} is filled in, but decision is empty, so the row is not decided",
                    path.display()
                )
            }));
            review::decision_of(row)
        });
        let Some(row) = row.transpose() else { continue };
        let decision = row.and_then(|(row, word)| decision(line, row, word)).and_then(|decision| {
            let earlier = by_id.get(&decision.id).into_iter().flatten();
            let clash = earlier.filter_map(|&at| all.get(at)).find(|earlier| contradict(earlier, &decision));
            clash.map_or(Ok(()), |earlier| Err(clash_of(earlier, &decision)))?;
            Ok(decision)
        });
        match decision {
            Ok(decision) => {
                by_id.entry(decision.id.clone()).or_default().push(all.len());
                all.push(decision);
            }
            Err(fault) => faults.push((line, fault)),
        }
    }
    if !faults.is_empty() {
        return Err(DecisionsError::Lines { path: path.to_owned(), faults });
    }
    let columns = Some(columns());
    let files = vec![path.display().to_string()];
    Ok(Decisions {
        files,
        columns,
        all,
        undecided,
        advice: Some(possible::advice),
        contradict: Some(disagree),
    })
}

/// The columns by which rows are recognised.
fn columns() -> Columns {
    Columns { own_id: EXTERNAL_ID, request: MESSAGES, list: TEXT }
}

/// Reads the ground truth that a person wrote, as JSON or as calls such as `ring(bell="noon")`.
///
/// # Errors
/// What is wrong with it: its form, or a key that it has twice.
pub fn ground_truth(text: &str) -> Result<Vec<Value>, String> {
    let value = review::nested("ground_truth", text)?;
    if serde_json::from_str::<Value>(text).is_ok() {
        keys::check_distinct(text)?;
    }
    let object = Map::from_iter([("ground_truth".to_owned(), value)]);
    match body(DecisionKind::Answer, &object)? {
        (_, Value::Array(calls)) => Ok(calls),
        _ => unreachable!("an answer is a list of calls"),
    }
}

/// Reads the functions that a person wrote.
///
/// # Errors
/// What is wrong with them: their form, or a key that one has twice.
pub fn functions(text: &str) -> Result<Vec<Value>, String> {
    let value = serde_json::from_str(text).map_err(|error| format!("not JSON: {error}"))?;
    keys::check_distinct(text)?;
    let object = Map::from_iter([("functions".to_owned(), value)]);
    let (_, body) = body(DecisionKind::Edit, &object)?;
    Ok(body["functions"].as_array().cloned().unwrap_or_default())
}

/// Whether a file is a review file in which nothing is filled in, so that another one may replace it; an empty file is.
///
/// # Errors
/// The file cannot be read.
pub fn is_blank_review(path: &Path) -> io::Result<bool> {
    match rows_of(path) {
        Ok(Rows { rows, .. }) => Ok(rows.iter().all(|(_, row)| row.as_ref().is_ok_and(review::is_blank))),
        Err(DecisionsError::File { source, .. }) => Err(source),
        Err(_) => Ok(false),
    }
}

/// The rows of a file of decisions.
struct Rows {
    rows: Vec<review::Row>,
    /// The rows are cells of a table, not lines of JSON.
    is_table: bool,
}

fn rows_of(path: &Path) -> Result<Rows, DecisionsError> {
    let file_error = |source| DecisionsError::File { path: path.to_owned(), source };
    // A pipe can be read only once.
    let bytes = side_file::read(path).map_err(file_error)?;
    if let Some(archive) = Archive::of(&bytes[..]) {
        let (path, what, hint) = (path.to_owned(), archive.name(), archive.hint());
        return Err(DecisionsError::Archive { path, what, hint });
    }
    let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&bytes);
    let whole = |what: String| DecisionsError::Lines { path: path.to_owned(), faults: vec![(1, what)] };
    if UTF_16.iter().any(|mark| bytes.starts_with(mark)) {
        return Err(whole("found UTF-16, expected UTF-8; save the file as UTF-8".to_owned()));
    }
    if bytes.starts_with(PARQUET) {
        return Ok(Rows { rows: review::rows_of_parquet(path).map_err(whole)?, is_table: true });
    }
    if has_extension(path, &["csv", "tsv"]) {
        let text = str::from_utf8(bytes).map_err(|error| {
            let line = 1 + bytes.iter().take(error.valid_up_to()).filter(|byte| **byte == b'\n').count();
            let fault = "not UTF-8; save the table as CSV UTF-8".to_owned();
            DecisionsError::Lines { path: path.to_owned(), faults: vec![(line, fault)] }
        })?;
        return Ok(Rows { rows: review::rows_of_csv(text).map_err(whole)?, is_table: true });
    }
    if let Some(rows) = tasks::rows_of(bytes) {
        return Ok(Rows { rows, is_table: true });
    }
    let lines = bytes.split(|byte| *byte == b'\n').enumerate();
    let lines = lines.filter(|(_, text)| !text.trim_ascii().is_empty());
    Ok(Rows { rows: lines.map(|(index, text)| (index + 1, object(text))).collect(), is_table: false })
}

/// Joins the decisions of several files. A decision that an earlier file has too counts once.
///
/// # Errors
/// Decisions of two files on one id contradict each other: all of them are named.
pub fn join(files: Vec<Decisions>) -> Result<Decisions, DecisionsError> {
    let mut joined = Decisions::default();
    let mut by_id: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    let mut clashes = Vec::new();
    for decisions in files {
        let at = joined.files.len();
        joined.files.extend(decisions.files);
        joined.columns = joined.columns.or(decisions.columns);
        joined.advice = joined.advice.or(decisions.advice);
        joined.contradict = joined.contradict.or(decisions.contradict);
        joined.undecided.extend(decisions.undecided);
        for decision in decisions.all {
            let decision = Decision { file: at, ..decision };
            let of_id = by_id.entry(decision.id.clone()).or_default();
            let mut earlier = of_id.iter().filter_map(|&earlier| joined.all.get(earlier));
            let clash = earlier.find(|earlier| earlier.file != at && contradict(earlier, &decision));
            match clash {
                Some(earlier) if is_same(earlier, &decision) => {}
                Some(earlier) => {
                    let [place, later] = [earlier, &decision].map(|it| joined.name_of(it.file, it.line));
                    clashes.push(format!("decisions {later}: {}", clash_with(&place, earlier, &decision)));
                }
                None => {
                    of_id.push(joined.all.len());
                    joined.all.push(decision);
                }
            }
        }
    }
    if clashes.is_empty() { Ok(joined) } else { Err(DecisionsError::Contradictions { clashes }) }
}

/// Whether two decisions on one id do the same.
fn is_same(one: &Decision, other: &Decision) -> bool {
    (one.kind, &one.body, &one.was) == (other.kind, &other.body, &other.was)
}

fn has_extension(path: &Path, extensions: &[&str]) -> bool {
    path.extension()
        .is_some_and(|found| extensions.iter().any(|extension| found.eq_ignore_ascii_case(extension)))
}

/// The object of a JSON line.
fn object(line: &[u8]) -> Result<Map<String, Value>, String> {
    let text = str::from_utf8(line).map_err(|_| "not UTF-8".to_owned())?;
    match serde_json::from_str(text) {
        Ok(Value::Object(object)) => keys::check_distinct(text).map(|()| object),
        Ok(other) => Err(format!("found {}, expected an object", quoted(&other))),
        // The line number is known already; the parser's own is always 1.
        Err(error) => Err(format!("not JSON: {error}").replace(" at line 1 column ", " at column ")),
    }
}

/// Whether two decisions on one id cannot both hold.
fn contradict(one: &Decision, other: &Decision) -> bool {
    use DecisionKind::{Answer, Drop, Relabel};
    let is_irrelevant =
        |decision: &Decision| decision.kind == Relabel && decision.body == Relevance::Irrelevant.name();
    one.kind == other.kind
        || one.kind == Drop
        || other.kind == Drop
        || (is_irrelevant(one) && other.kind == Answer)
        || (one.kind == Answer && is_irrelevant(other))
}

/// Whether two decisions on one row, under two forms of its id, cannot both hold.
fn disagree(one: &Decision, other: &Decision) -> bool {
    contradict(one, other) && (one.kind, &one.body) != (other.kind, &other.body)
}

fn clash_of(earlier: &Decision, later: &Decision) -> String {
    clash_with(&format!("line {}", earlier.line), earlier, later)
}

fn clash_with(place: &str, earlier: &Decision, later: &Decision) -> String {
    if earlier.kind == later.kind && earlier.word == later.word {
        let id = quoted(&json!(later.id));
        return format!("\"id\": found {id} again, which {place} decides already ({})", earlier.word);
    }
    format!(
        "\"decision\": found \"{}\", which contradicts {place} ({}) on the same id",
        later.word, earlier.word
    )
}

fn quoted(value: &Value) -> String {
    shortened(&value.to_string(), MOST_QUOTED)
}

fn expected(key: &str, found: Option<&Value>, expected: &str) -> String {
    let found = found.map_or_else(|| "nothing".to_owned(), quoted);
    format!("\"{key}\": found {found}, expected {expected}")
}

/// Keys that a decision of any kind may have.
const KEYS: [&str; 5] = ["id", "decision", "was", "by", "why"];

/// Reads the keys of a decision; `word` is the word of a review file for it.
fn decision(
    line: usize,
    mut object: Map<String, Value>,
    word: Option<&'static str>,
) -> Result<Decision, String> {
    if let (Some(id), true) = (object.get("id"), object.contains_key("request")) {
        return Err(format!("\"request\": found beside \"id\": {}, expected one of them", quoted(id)));
    }
    if object.contains_key("request") {
        // Answers by people had a form of their own, and files of it are still read.
        let id = object.shift_remove("request").unwrap_or_default();
        object.insert("id".to_owned(), id);
        object.entry("decision").or_insert_with(|| DecisionKind::Answer.name().into());
    }
    let mut word = word;
    if let Some(label) = object.get("decision").and_then(Value::as_str).and_then(Relevance::from_name)
        && label != Relevance::LowQuality
    {
        // As in a review file.
        word = Some(label.name());
        let label = Value::from(label.name());
        object.insert("decision".to_owned(), DecisionKind::Relabel.name().into());
        object.insert("relevance".to_owned(), label);
    }
    if object.get("decision").and_then(Value::as_str) == Some("accept") {
        let how = "`callsieve held RUN --unverified --id ID --decide accept` writes it";
        return Err(format!("\"decision\": found \"accept\" without the answer that is accepted; {how}"));
    }
    let near = |key: &&String| !KEYS.contains(&key.as_str()) && similarity(key, "decision") > 0.9;
    if let Some(key) = object.keys().find(near).filter(|_| !object.contains_key("decision")) {
        return Err(format!("found the key \"{key}\", expected \"decision\""));
    }
    let kinds = "keep, drop, relevant, irrelevant, answer or edit";
    let kind = object.get("decision").and_then(Value::as_str);
    let kind = kind.and_then(|word| DecisionKind::ALL.into_iter().find(|kind| kind.name() == word));
    let kind = kind.ok_or_else(|| expected("decision", object.get("decision"), kinds))?;
    let text_of = |key: &str, what: &str| match object.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if !text.is_empty() => Ok(Some(text.clone())),
        found => Err(expected(key, found, what)),
    };
    let what = "a request id, a list id, or the log's own id of a request";
    let id = text_of("id", what)?.ok_or_else(|| expected("id", None, what))?;
    check_kind(&id, object.get("id"))?;
    let what = "the first 8 hex digits, or more, of the digest that `callsieve why --full` shows";
    let was = text_of("was", what)?;
    let is_digest =
        |was: &String| (8..=64).contains(&was.len()) && was.bytes().all(|b| b.is_ascii_hexdigit());
    if was.as_ref().is_some_and(|was| !is_digest(was)) {
        return Err(expected("was", object.get("was"), what));
    }
    let (by, why) = (text_of("by", "a name")?, text_of("why", "a text")?);
    let (own_keys, body) = body(kind, &object)?;
    if let Some(key) =
        object.keys().find(|key| !KEYS.contains(&key.as_str()) && !own_keys.contains(&key.as_str()))
    {
        let known: Vec<&str> = KEYS.iter().chain(own_keys).copied().collect();
        return Err(format!("found the key \"{key}\", expected {} for {}", known.join(", "), kind.name()));
    }
    let word = word.unwrap_or(kind.name());
    Ok(Decision { file: 0, line, id, kind, word, was, by, why, body })
}

/// Refuses the id of an entry, or what looks like one: entries are numbered anew by every run, so in the next one it may be
/// that of another request.
fn check_kind(id: &str, found: Option<&Value>) -> Result<(), String> {
    let RowName { kind, text } = RowName::read(id);
    let is_entry = |category: &Category| Numbers::of(&format!("live_{}", category.name()), text).is_some();
    match kind {
        Some(NameKind::Entry) => Err(expected("id", found, ENTRY)),
        Some(NameKind::Place) => Err(expected("id", found, "the id of a request or a list")),
        None if Category::ALL.iter().any(is_entry) => Err(expected("id", found, ENTRY)),
        _ => Ok(()),
    }
}

/// What is expected instead of the id of an entry.
const ENTRY: &str = "the request id that `callsieve why RUN entry:ID` shows, since entries are numbered anew by every run, or `external:` before an id of the log";

/// What a kind needs besides, and under which keys.
fn body(kind: DecisionKind, object: &Map<String, Value>) -> Result<(&'static [&'static str], Value), String> {
    match kind {
        DecisionKind::Keep | DecisionKind::Drop => Ok((&[], Value::Null)),
        DecisionKind::Relabel => {
            let found = object.get("relevance");
            let is_label = |word: &&Value| {
                [Relevance::Relevant, Relevance::Irrelevant].iter().any(|label| **word == label.name())
            };
            let label = found.filter(is_label);
            let label =
                label.ok_or_else(|| expected("relevance", found, "\"relevant\" or \"irrelevant\""))?;
            Ok((&["relevance"], label.clone()))
        }
        DecisionKind::Answer => {
            let found = object.get("ground_truth");
            let calls = found.and_then(Value::as_array);
            let calls = calls.ok_or_else(|| expected("ground_truth", found, CALLS))?;
            let calls = with_alternatives(calls);
            check_levels("ground_truth", &calls)?;
            check_form(&calls).map_err(|fault| format!("\"ground_truth\": {fault}; expected {CALLS}"))?;
            Ok((&["ground_truth"], Value::Array(calls)))
        }
        DecisionKind::Edit => edit(object),
    }
}

/// Makes each value that is no list the only alternative of its parameter.
fn with_alternatives(calls: &[Value]) -> Vec<Value> {
    let mut calls = calls.to_vec();
    let parameters = calls.iter_mut().filter_map(Value::as_object_mut).flat_map(|call| call.values_mut());
    for value in parameters.filter_map(Value::as_object_mut).flat_map(|parameters| parameters.values_mut()) {
        if !value.is_array() {
            *value = Value::Array(vec![value.take()]);
        }
    }
    calls
}

/// What people write is kept, so it must not be too deep to be read again.
fn check_levels(key: &str, values: &[Value]) -> Result<(), String> {
    if are_within(values, MAX_KEPT) {
        return Ok(());
    }
    Err(format!("\"{key}\": found lists and objects of more than {MAX_KEPT} levels, expected fewer"))
}

/// New functions, or a patch of those that are there.
fn edit(object: &Map<String, Value>) -> Result<(&'static [&'static str], Value), String> {
    let keys: &'static [&'static str] = &["functions", "patch"];
    match (object.get("functions"), object.get("patch")) {
        (Some(functions), None) => {
            let all = functions.as_array().filter(|all| !all.is_empty() && all.iter().all(Value::is_object));
            let all = all.ok_or_else(|| {
                expected("functions", Some(functions), "a list of at least one function doc")
            })?;
            check_levels("functions", all)?;
            Ok((keys, json!({ "functions": functions })))
        }
        (None, Some(patch)) => {
            let ops = serde_json::from_value::<Vec<PatchOp>>(patch.clone()).map_err(|error| {
                let what = "a list of RFC 6902 operations (test, add, remove, replace, move)";
                format!("{} ({error})", expected("patch", Some(patch), what))
            })?;
            if let Some(path) = ops.iter().flat_map(PatchOp::pointers).find(|path| !is_pointer(path)) {
                let what = "JSON pointers, which are empty or begin with /";
                return Err(format!("\"patch\": found the path {}, expected {what}", quoted(&json!(path))));
            }
            Ok((keys, json!({ "patch": patch })))
        }
        (None, None) => {
            Err(expected("functions", None, "new functions, or \"patch\" with RFC 6902 operations"))
        }
        (Some(_), Some(_)) => Err("found \"functions\" and \"patch\", expected one of them".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read_text(text: &str) -> Result<Decisions, String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        read(file.path()).map_err(|error| {
            let text = error.to_string().replace(&format!("decisions {}:", file.path().display()), "");
            text.replace(&format!("\n{HINT}"), "")
        })
    }

    /// So many lists in one another.
    fn nested(levels: usize) -> String {
        format!("{}1{}", "[".repeat(levels), "]".repeat(levels))
    }

    #[test]
    fn each_kind_is_read_and_the_earlier_form_of_answers_is_one_of_them() {
        let text = concat!(
            "{\"id\": \"r1\", \"decision\": \"keep\", \"by\": \"Kim\", \"why\": \"it asks something\"}\n\n",
            "{\"id\": \"0123456789abcdef\", \"decision\": \"drop\", \"was\": \"89abcdef\"}\n",
            "{\"id\": \"r2\", \"decision\": \"relabel\", \"relevance\": \"irrelevant\"}\n",
            "{\"id\": \"r3\", \"decision\": \"answer\", \"ground_truth\": [{\"f\": {\"a\": [1]}}]}\n",
            "{\"request\": \"r4\", \"ground_truth\": [{\"f\": {}}]}\n",
            "{\"id\": \"l1\", \"decision\": \"edit\", \"functions\": [{\"name\": \"f\"}]}\n",
            "{\"id\": \"l2\", \"decision\": \"edit\", \"patch\": [{\"op\": \"remove\", \"path\": \"/0/x\"}]}\n",
            "{\"id\": \"r1\", \"decision\": \"relabel\", \"relevance\": \"relevant\"}\n",
        );
        let decisions = read_text(text).unwrap().all;
        let found: Vec<(usize, &str, &str)> = decisions
            .iter()
            .map(|decision| (decision.line, decision.id.as_str(), decision.kind.name()))
            .collect();
        let expected = [
            (1, "r1", "keep"),
            (3, "0123456789abcdef", "drop"),
            (4, "r2", "relabel"),
            (5, "r3", "answer"),
            (6, "r4", "answer"),
            (7, "l1", "edit"),
            (8, "l2", "edit"),
            (9, "r1", "relabel"),
        ];
        assert_eq!(found, expected);
        assert_eq!(
            (decisions[0].by.as_deref(), decisions[0].why.as_deref()),
            (Some("Kim"), Some("it asks something"))
        );
        assert_eq!(decisions[1].was.as_deref(), Some("89abcdef"));
        assert_eq!((&decisions[2].body, &decisions[4].body), (&json!("irrelevant"), &json!([{"f": {}}])));
    }

    #[test]
    #[allow(clippy::too_many_lines)] // A table of lines.
    fn a_faulty_line_is_named_with_its_key_what_was_found_and_what_is_expected() {
        let keep = r#"{"id": "a", "decision": "keep"}"#;
        for (text, message) in [
            ("[1]".to_owned(), "1: found [1], expected an object"),
            ("\n{".to_owned(), "2: not JSON: EOF while parsing an object at column 1"),
            (
                r#"{"id": "a", "decision": "keep", "id": "b"}"#.to_owned(),
                "1: duplicate key \"id\"",
            ),
            (
                r#"{"id": "a", "decision": "answer", "ground_truth": [{"f": {"x": [1], "x": [2]}}]}"#.to_owned(),
                "1: duplicate key \"x\"",
            ),
            (
                r#"{"id": "a", "decision": "accept"}"#.to_owned(),
                "1: \"decision\": found \"accept\" without the answer that is accepted; `callsieve held RUN --unverified --id ID --decide accept` writes it",
            ),
            (
                r#"{"id": "a", "decison": "keep"}"#.to_owned(),
                "1: found the key \"decison\", expected \"decision\"",
            ),
            (
                r#"{"id": "a", "request": "b", "decision": "keep"}"#.to_owned(),
                "1: \"request\": found beside \"id\": \"a\", expected one of them",
            ),
            (
                r#"{"id": "a", "decision": "kep"}"#.to_owned(),
                "1: \"decision\": found \"kep\", expected keep, drop, relevant, irrelevant, answer or edit",
            ),
            (
                r#"{"decision": "keep"}"#.to_owned(),
                "1: \"id\": found nothing, expected a request id, a list id, or the log's own id of a request",
            ),
            (
                r#"{"id": "a", "decision": "keep", "relevance": "relevant"}"#.to_owned(),
                "1: found the key \"relevance\", expected id, decision, was, by, why for keep",
            ),
            (
                r#"{"id": "a", "decision": "relabel", "relevance": "low-quality"}"#.to_owned(),
                "1: \"relevance\": found \"low-quality\", expected \"relevant\" or \"irrelevant\"",
            ),
            (
                r#"{"id": "a", "decision": "answer", "ground_truth": [{"f": {"x": []}}]}"#.to_owned(),
                "1: \"ground_truth\": f.x is not a list of at least one alternative; expected calls such as clinic(day=\"Friday\"), or JSON such as [{\"clinic\": {\"day\": [\"Friday\"]}}]\nhint: docs/human-decisions.md has an example of each decision",
            ),
            (
                r#"{"id": "a", "decision": "edit"}"#.to_owned(),
                "1: \"functions\": found nothing, expected new functions, or \"patch\" with RFC 6902 operations",
            ),
            (
                r#"{"id": "a", "decision": "edit", "functions": []}"#.to_owned(),
                "1: \"functions\": found [], expected a list of at least one function doc",
            ),
            (
                r#"{"id": "a", "decision": "edit", "functions": [{}], "patch": []}"#.to_owned(),
                "1: found \"functions\" and \"patch\", expected one of them",
            ),
            (
                r#"{"id": "a", "decision": "keep", "was": "xyz"}"#.to_owned(),
                "1: \"was\": found \"xyz\", expected the first 8 hex digits, or more, of the digest that `callsieve why --full` shows",
            ),
            (
                r#"{"id": "a", "decision": "edit", "patch": [{"op": "add", "path": "x", "value": []}]}"#.to_owned(),
                "1: \"patch\": found the path \"x\", expected JSON pointers, which are empty or begin with /",
            ),
            (
                r#"{"id": "a", "decision": "edit", "patch": [{"op": "move", "from": "/0/x", "path": "0/y"}]}"#.to_owned(),
                "1: \"patch\": found the path \"0/y\", expected JSON pointers, which are empty or begin with /",
            ),
            (
                format!("{{\"id\": \"a\", \"decision\": \"edit\", \"functions\": [{{\"x\": {}}}]}}", nested(111)),
                "1: \"functions\": found lists and objects of more than 112 levels, expected fewer",
            ),
            (
                format!("{{\"id\": \"a\", \"decision\": \"answer\", \"ground_truth\": [{{\"f\": {{\"x\": {}}}}}]}}", nested(110)),
                "1: \"ground_truth\": found lists and objects of more than 112 levels, expected fewer",
            ),
            (format!("{keep}\n{keep}"), "2: \"id\": found \"a\" again, which line 1 decides already (keep)"),
            (
                format!("{keep}\n{{\"id\": \"a\", \"decision\": \"drop\"}}"),
                "2: \"decision\": found \"drop\", which contradicts line 1 (keep) on the same id",
            ),
            (
                "{\"id\": \"a\", \"decision\": \"relabel\", \"relevance\": \"irrelevant\"}\n{\"request\": \"a\", \"ground_truth\": [{\"f\": {}}]}".to_owned(),
                "2: \"decision\": found \"answer\", which contradicts line 1 (relabel) on the same id",
            ),
        ] {
            assert_eq!(read_text(&text).unwrap_err(), message);
        }
        let patch = r#"{"id": "a", "decision": "edit", "patch": [{"op": "add"}]}"#;
        let fault = read_text(patch).unwrap_err();
        let expected = r#"1: "patch": found [{"op":"add"}], expected a list of RFC 6902 operations"#;
        assert!(fault.starts_with(expected), "{fault}");
        let both = read_text("[1]\n{\"id\": \"a\", \"decision\": \"keep\"}\n[2]").unwrap_err();
        assert_eq!(both, "1: found [1], expected an object\n3: found [2], expected an object");
        assert_eq!(
            read_text(&format!("\u{feff}{keep}\r\n")).unwrap().all.len(),
            1,
            "a byte order mark is no text"
        );
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), b"\n{\"id\": \"\xff\"}").unwrap();
        assert!(read(file.path()).unwrap_err().to_string().contains(":2: not UTF-8\n"));
        let stdin = read(Path::new("-")).unwrap_err().to_string();
        assert!(stdin.starts_with("decisions -: standard input cannot be used\nhint: "), "{stdin}");
        let missing = read(Path::new("no/such/file.jsonl")).unwrap_err().to_string();
        assert!(
            missing.starts_with("decisions no/such/file.jsonl: ") && missing.contains("hint: "),
            "{missing}"
        );
    }

    proptest! {
        #[test]
        fn no_line_panics(text in "[\\[\\]{}\":,a-z0-9 \n]{0,60}") {
            let _ = read_text(&text);
        }
    }
}
