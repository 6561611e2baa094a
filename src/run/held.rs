//! The rows of a finished run that a person may decide on: what the run held, its unverified entries, or the requests that
//! were answered in several ways.
//!
//! Each row has all that a decision needs, in the order of the columns of a review file (see [`FIELDS`]), and an empty
//! `decision`. `decisions` reads such a file back. All texts are as the run has them at its end, so personal values are
//! placeholders where the pipeline redacts.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::error::refuse;
use super::names::resolve;
use super::{Error, OpenRun};
use crate::answers::recorded::{RecordedAnswer, recorded_answer};
use crate::bfcl::category::Category;
use crate::columns::{
    ANSWER, CATEGORY, EXTERNAL_ID, FILE, FINISH_REASON, FUNCTIONS, LINE, MESSAGES, RECORD, RELEVANCE,
    RELEVANCE_BASIS, RESPONSE, STATUS, TEXT,
};
use crate::conversation::{Message, last_user};
use crate::decisions::{OF_AN_ENTRY, answer_digest, possible_decisions};
use crate::docs::patch::{PatchOp, apply};
use crate::engine::corpus::{BatchCells, RowId, Table};
use crate::engine::frame::FrameFile;
use crate::engine::ledger::for_every_event;
use crate::engine::row_names::NamedRow;
use crate::engine::vocabulary::{Action, ColumnSpec, RowIx, Safety, TableId};
use crate::text::normal::loose_name;
use crate::text::suggestion::did_you_mean;

/// The columns of a review file, in order. The first and the last ones are for people to fill in.
pub const FIELDS: [&str; 23] = [
    "decision",
    "possible_decisions",
    "id",
    "external_id",
    "entry_id",
    "table",
    "reason",
    "detail",
    "file",
    "line",
    "record",
    "question",
    "functions",
    "recorded_answer",
    "category",
    "relevance",
    "probability",
    "ground_truth",
    "patch",
    "by",
    "why",
    "n_requests",
    "answer_digest",
];

/// Digits of an id that are taken for the start of one.
const LEAST_DIGITS: usize = 8;

/// A row to decide on.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ReviewRow {
    /// What a person decides; empty, or what the caller filled in.
    pub decision: String,
    /// The decisions that can change the row, separated by commas.
    pub possible_decisions: String,
    /// The request id or list id: 32 hex digits.
    pub id: String,
    /// The log's own id of a request.
    pub external_id: Option<String>,
    /// The id of an entry of the dataset.
    pub entry_id: Option<String>,
    /// `requests` or `doc_lists`.
    pub table: &'static str,
    /// Why it is held: a reason code. `None` for an entry.
    pub reason: Option<String>,
    /// What the stage noted, JSON.
    pub detail: Option<String>,
    /// The input file.
    pub file: Option<String>,
    /// Line of that file, from 1.
    pub line: Option<i64>,
    /// Number of the record in that file, from 1.
    pub record: Option<i64>,
    /// The last message of the user.
    pub question: Option<String>,
    /// The functions on offer; of a list that cannot be parsed its text.
    pub functions: Value,
    /// The recorded calls in ground-truth form.
    pub recorded_answer: Value,
    /// The BFCL category: the one it has, or the one that functions and recorded calls lead to.
    pub category: Option<String>,
    /// `relevant`, `irrelevant` or `low-quality`.
    pub relevance: Option<String>,
    /// The probability from 0 to 1 that a function fits the request.
    pub probability: Option<f64>,
    /// For an answer by a person; null, or the suggested answer.
    pub ground_truth: Value,
    /// For an RFC 6902 patch of the functions; null.
    pub patch: Value,
    /// Who decided; empty.
    pub by: String,
    /// Why; empty.
    pub why: String,
    /// Of a held doc list: how many held requests it has.
    pub n_requests: Option<u64>,
    /// The digest of `recorded_answer`, by which `accept` notices that another program changed the answer.
    pub answer_digest: Option<String>,
}

/// What is listed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Selection {
    /// The rows that the run held.
    #[default]
    Held,
    /// The unverified entries of the dataset.
    Unverified,
    /// Kept requests of which equal requests have other answers; `ground_truth` has the suggested answer.
    Candidates,
}

/// Which rows are listed.
#[derive(Debug, Clone, Default)]
pub struct Review {
    /// Held rows, or others.
    pub selection: Selection,
    /// Rows held, or listed, for this reason only, or for those of this topic: `answer`, `answer/*`.
    pub reason: Option<String>,
    /// Only these, each by any name that `callsieve why` takes. All where empty.
    pub ids: Vec<String>,
    /// At most so many rows.
    pub limit: Option<usize>,
    /// The decision that is filled in, in the rows that it can change.
    pub decision: String,
}

impl OpenRun {
    /// The number of held doc lists that only wait for their requests: a decision on these decides them too.
    pub fn n_waiting_lists(&self) -> u64 {
        let lists = &self.corpus.lists;
        let is_waiting = |&row: &RowIx| {
            lists.fate(row).is_some_and(|fate| fate.action == Action::Hold && fate.reason.code == WAITING)
        };
        (0..).take(lists.len()).filter(is_waiting).count() as u64
    }

    /// Returns the rows to decide on, requests before doc lists, each in the order of the inputs.
    ///
    /// # Errors
    /// No stage has such a reason, an id is none of a row that would be listed, or a file of the run is damaged.
    pub fn review(&self, review: &Review) -> Result<Vec<ReviewRow>, Error> {
        if let Some(code) = &review.reason
            && !self.registry.reasons().iter().any(|(_, known)| is_of(known.code, code))
            && !is_of(WAITING, code)
        {
            let meant = did_you_mean(code, self.registry.reasons().iter().map(|(_, known)| known.code));
            return refuse(format!(
                "unknown reason \"{code}\"\nhint: {meant}`callsieve explain` lists all codes"
            ));
        }
        let entries = self.entries()?;
        let details = self.details()?;
        let suggestions = if review.selection == Selection::Candidates {
            self.suggestions()?
        } else {
            FxHashMap::default()
        };
        let names: Vec<&str> = review.ids.iter().map(String::as_str).collect();
        let named = if names.is_empty() { Vec::new() } else { resolve(self, &names, LEAST_DIGITS)? };
        let place = |named: &NamedRow| (named.table, named.row);
        let named: Vec<BTreeSet<(TableId, RowIx)>> =
            named.iter().map(|named| named.iter().map(place).collect()).collect();
        let (mut rows, mut places) = (Vec::new(), Vec::new());
        for table in [&self.corpus.requests, &self.corpus.lists] {
            let mut wanted: Vec<RowIx> = (0..)
                .take(table.len())
                .filter(|&row| Self::is_wanted(review, table, row, &entries, &suggestions))
                .collect();
            wanted.sort_by_key(|&row| table.position(row));
            let mut listed = self.rows(table, &wanted, &entries, &details)?;
            for (row, &at) in listed.iter_mut().zip(&wanted) {
                if let Some(suggestion) = suggestions.get(&table.row_id(at).0) {
                    row.reason = Some(suggestion.reason.clone());
                    row.ground_truth = suggestion.answer(&row.recorded_answer);
                }
            }
            rows.extend(listed);
            places.extend(wanted.iter().map(|&row| (table.id(), row)));
        }
        let n_listed =
            |named: &BTreeSet<(TableId, RowIx)>| places.iter().filter(|place| named.contains(place)).count();
        let several = names.iter().zip(&named).find(|(_, named)| n_listed(named) > 1);
        if let (Some((id, _)), false) = (several, review.decision.is_empty()) {
            return refuse(format!(
                "{}: several of the rows that are listed have the id \"{id}\", and the decision would be on all of them\nhint: list them without a decision, and name each by its request id",
                self.folder.display()
            ));
        }
        if let Some((missing, _)) = names.iter().zip(&named).find(|(_, named)| n_listed(named) == 0) {
            let (what, other) = match review.selection {
                Selection::Unverified => ("unverified entry", "without --unverified held rows are listed"),
                Selection::Candidates => {
                    ("row with other answers", "without --candidates held rows are listed")
                }
                Selection::Held => ("held row", "--unverified lists unverified entries"),
            };
            return refuse(format!(
                "{}: no {what} has the id \"{missing}\"\nhint: {other}; `callsieve why {} {missing}` shows what became of it",
                self.folder.display(),
                self.folder.display()
            ));
        }
        let mut is_wanted =
            places.iter().map(|place| named.is_empty() || named.iter().any(|named| named.contains(place)));
        rows.retain(|_| is_wanted.next().unwrap_or_default());
        rows.truncate(review.limit.unwrap_or(usize::MAX));
        for row in &mut rows {
            let possible = possible(row, review.selection);
            row.possible_decisions = possible.join(", ");
            if possible.contains(&review.decision.as_str()) {
                row.decision.clone_from(&review.decision);
            }
        }
        Ok(rows)
    }

    fn is_wanted(
        review: &Review,
        table: &Table,
        row: RowIx,
        entries: &Entries,
        suggestions: &FxHashMap<u128, SuggestedAnswer>,
    ) -> bool {
        if review.selection == Selection::Candidates {
            let suggestion = suggestions.get(&table.row_id(row).0);
            return table.id() == TableId::Requests
                && table.is_kept(row)
                && suggestion
                    .is_some_and(|one| review.reason.as_ref().is_none_or(|code| is_of(&one.reason, code)));
        }
        if review.selection == Selection::Unverified {
            let entry = entries.get(&table.row_id(row).0).filter(|_| table.id() == TableId::Requests);
            return entry.is_some_and(|(set, _)| set == UNVERIFIED);
        }
        table.fate(row).is_some_and(|fate| {
            // A list that waits for its requests is decided with them, unless somebody names it.
            let is_waiting = fate.reason.code == WAITING && review.reason.is_none() && review.ids.is_empty();
            fate.action == Action::Hold
                && !is_waiting
                && review.reason.as_ref().is_none_or(|code| is_of(fate.reason.code, code))
        })
    }

    /// The entries of the dataset by request: set and id.
    fn entries(&self) -> Result<Entries, Error> {
        let path = self.folder.join("entries.parquet");
        let mut entries = Entries::default();
        if !path.exists() {
            return Ok(entries);
        }
        let frame = FrameFile::open(&path)?.read_all()?;
        if let (Some(ids), Some(requests), Some(sets)) =
            (frame.texts("id"), frame.texts("request_id"), frame.texts("set"))
        {
            for row in 0..frame.height() {
                let request = requests.get(row).and_then(RowId::number);
                if let (Some(request), Some(id), Some(set)) = (request, ids.get(row), sets.get(row)) {
                    entries.insert(request, (set.to_owned(), id.to_owned()));
                }
            }
        }
        Ok(entries)
    }

    /// What stages noted about the rows that they held.
    fn details(&self) -> Result<FxHashMap<(TableId, u128), String>, Error> {
        let mut details = FxHashMap::default();
        for_every_event(&self.folder, &self.stages, &self.corpus, |events| {
            for event in events.iter().filter(|event| event.action == Action::Hold.name()) {
                if let Some(evidence) = event.evidence {
                    details.insert((event.table, event.row_id.0), without_features(evidence));
                }
            }
            Ok(())
        })?;
        Ok(details)
    }

    /// The suggested changes of answers, by request.
    fn suggestions(&self) -> Result<FxHashMap<u128, SuggestedAnswer>, Error> {
        let mut suggestions = FxHashMap::default();
        for_every_event(&self.folder, &self.stages, &self.corpus, |events| {
            for event in events {
                if let Some(edit) = event
                    .edit
                    .filter(|edit| edit.column == ANSWER.name && edit.safety == Safety::Suggest.name())
                {
                    let suggestion =
                        SuggestedAnswer { reason: event.reason.to_owned(), patch: edit.patch.to_owned() };
                    suggestions.insert(event.row_id.0, suggestion);
                }
            }
            Ok(())
        })?;
        Ok(suggestions)
    }

    fn rows(
        &self,
        table: &Table,
        wanted: &[RowIx],
        entries: &Entries,
        details: &FxHashMap<(TableId, u128), String>,
    ) -> Result<Vec<ReviewRow>, Error> {
        let is_requests = table.id() == TableId::Requests;
        let functions = if is_requests {
            let lists: Vec<RowIx> = wanted.iter().map(|&row| self.corpus.list[row as usize]).collect();
            self.functions(&lists)?
        } else {
            self.functions(wanted)?
        };
        let mut rows: Vec<ReviewRow> = wanted
            .iter()
            .map(|&row| {
                let id = table.row_id(row);
                ReviewRow {
                    id: id.to_string(),
                    table: table.id().name(),
                    reason: table.fate(row).map(|fate| fate.reason.code.to_owned()),
                    detail: details.get(&(table.id(), id.0)).cloned(),
                    entry_id: entries.get(&id.0).filter(|_| is_requests).map(|(_, id)| id.clone()),
                    ..ReviewRow::default()
                }
            })
            .collect();
        if is_requests {
            Self::each(table, wanted, &REQUEST_COLUMNS, |nth, cells, at| {
                let functions = functions.get(&self.corpus.list[wanted[nth] as usize]);
                self.fill(&mut rows[nth], cells, at, functions.cloned().unwrap_or_default());
            })?;
        } else {
            let mut n_held: FxHashMap<RowIx, u64> = FxHashMap::default();
            for (request, &list) in (0..).zip(&self.corpus.list) {
                let fate = self.corpus.requests.fate(request);
                *n_held.entry(list).or_default() +=
                    u64::from(fate.is_some_and(|fate| fate.action == Action::Hold));
            }
            for (nth, row) in wanted.iter().enumerate() {
                rows[nth].functions = functions.get(row).cloned().unwrap_or_default();
                rows[nth].n_requests = n_held.get(row).copied();
            }
        }
        Ok(rows)
    }

    /// Visits the cells of some rows, a batch at a time: the number of the row among the wanted ones, the cells of its
    /// batch, and its place there.
    fn each(
        table: &Table,
        wanted: &[RowIx],
        columns: &[ColumnSpec],
        mut visit: impl FnMut(usize, &BatchCells, usize),
    ) -> Result<(), Error> {
        // Columns that no stage of the pipeline writes are empty.
        let mut batches: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (nth, &row) in wanted.iter().enumerate() {
            batches.entry(table.batch_of(row)).or_default().push(nth);
        }
        for (batch, rows) in batches {
            let cells = table.read_batch(batch, columns)?;
            let start = table.batch(batch).start;
            for nth in rows {
                visit(nth, &cells, wanted[nth] as usize - start);
            }
        }
        Ok(())
    }

    /// The functions of some doc lists as they are at the end of the run; the text of a list that has none.
    fn functions(&self, lists: &[RowIx]) -> Result<FxHashMap<RowIx, Value>, Error> {
        let mut distinct = lists.to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        let mut functions = FxHashMap::default();
        Self::each(&self.corpus.lists, &distinct, &[FUNCTIONS, TEXT], |nth, cells, at| {
            let parsed = text(cells, FUNCTIONS, at).and_then(|text| serde_json::from_str(text).ok());
            let value = parsed.or_else(|| Some(text(cells, TEXT, at)?.into()));
            functions.insert(distinct[nth], value.unwrap_or_default());
        })?;
        Ok(functions)
    }

    fn fill(&self, row: &mut ReviewRow, cells: &BatchCells, at: usize, functions: Value) {
        let parsed =
            |column| text(cells, column, at).and_then(|text| serde_json::from_str::<Value>(text).ok());
        let messages: Vec<Message> =
            parsed(MESSAGES).and_then(|messages| serde_json::from_value(messages).ok()).unwrap_or_default();
        let response: Option<Message> =
            parsed(RESPONSE).and_then(|response| serde_json::from_value(response).ok());
        let file = int(cells, FILE, at).and_then(|file| usize::try_from(file).ok());
        row.external_id = text(cells, EXTERNAL_ID, at).map(str::to_owned);
        row.file = file.and_then(|file| self.file.inputs.get(file)).map(|input| input.path.clone());
        (row.line, row.record) = (int(cells, LINE, at), int(cells, RECORD, at));
        row.question = last_user(&messages).map(|message| message.content.clone());
        row.relevance = text(cells, RELEVANCE, at).map(str::to_owned);
        row.probability = parsed(RELEVANCE_BASIS).and_then(|basis| basis["probability"].as_f64());
        let is_offered = |name: &str| {
            let names =
                functions.as_array().into_iter().flatten().filter_map(|function| function["name"].as_str());
            let name = loose_name(name);
            names.map(loose_name).any(|offered| offered == name)
        };
        let (finish_reason, status) = (text(cells, FINISH_REASON, at), int(cells, STATUS, at));
        let recorded = recorded_answer(response.as_ref(), finish_reason, status, is_offered);
        row.recorded_answer = parsed(ANSWER).unwrap_or_else(|| ground_truth_form(&recorded));
        row.category = text(cells, CATEGORY, at).map(str::to_owned).or_else(|| {
            if row.relevance.as_deref().is_some_and(|relevance| relevance != "relevant") {
                return Some(Category::Irrelevance.name().to_owned());
            }
            let n_calls = row.recorded_answer.as_array().map_or(0, Vec::len);
            let n_functions = functions.as_array().map_or(0, Vec::len);
            let is_known = n_calls > 0 && n_functions > 0;
            is_known.then(|| Category::of_answer(n_functions, n_calls).name().to_owned())
        });
        row.functions = functions;
        row.answer_digest = Some(&row.recorded_answer).filter(|answer| !answer.is_null()).map(answer_digest);
    }
}

/// Returns the decisions that can change a row that is listed.
fn possible(row: &ReviewRow, selection: Selection) -> &'static [&'static str] {
    let table = if row.table == TableId::DocLists.name() { TableId::DocLists } else { TableId::Requests };
    match (selection, &row.reason) {
        (Selection::Held, Some(reason)) => {
            possible_decisions(table, reason, row.recorded_answer != Value::Null)
        }
        _ => OF_AN_ENTRY,
    }
}

/// Set and id of the entry of a request, by the number of the request id.
type Entries = FxHashMap<u128, (String, String)>;

/// A suggested change of an answer.
struct SuggestedAnswer {
    reason: String,
    /// RFC 6902, JSON text.
    patch: String,
}

impl SuggestedAnswer {
    /// Returns the answer with the change; null if the patch is of another answer.
    fn answer(&self, answer: &Value) -> Value {
        let Ok(patch) = serde_json::from_str::<Vec<PatchOp>>(&self.patch) else { return Value::Null };
        let mut changed = answer.clone();
        if apply(&mut changed, &patch).is_ok() { changed } else { Value::Null }
    }
}

/// The reason of a doc list all of whose requests are held or dropped.
const WAITING: &str = "cascade/no-request-left";

/// The set of unverified entries.
const UNVERIFIED: &str = "unverified";

const REQUEST_COLUMNS: [ColumnSpec; 12] = [
    EXTERNAL_ID,
    FILE,
    LINE,
    RECORD,
    MESSAGES,
    RESPONSE,
    FINISH_REASON,
    STATUS,
    ANSWER,
    CATEGORY,
    RELEVANCE,
    RELEVANCE_BASIS,
];

fn text(cells: &BatchCells, column: ColumnSpec, at: usize) -> Option<&str> {
    cells.text(column, at)
}

fn int(cells: &BatchCells, column: ColumnSpec, at: usize) -> Option<i64> {
    cells.int(column, at)
}

/// Recorded calls as BFCL ground truth, each value the only alternative; null where there are none. Whether they fit the
/// docs is not checked: a person sees them as they were recorded.
fn ground_truth_form(recorded: &RecordedAnswer) -> Value {
    let RecordedAnswer::Calls(calls) = recorded else { return Value::Null };
    let call = |call: &crate::conversation::Call| {
        let arguments = call.arguments.as_object().into_iter().flatten();
        let arguments: Map<String, Value> =
            arguments.map(|(name, value)| (name.clone(), json!([value]))).collect();
        json!({ call.name.clone(): arguments })
    };
    calls.iter().map(call).collect()
}

/// Evidence without the features of the model, which no person decides by.
fn without_features(evidence: &str) -> String {
    let Ok(Value::Object(mut object)) = serde_json::from_str(evidence) else { return evidence.to_owned() };
    match object.shift_remove("features") {
        Some(_) => Value::Object(object).to_string(),
        None => evidence.to_owned(),
    }
}

/// Whether a reason code is the one that is asked for, or one of the topic that is asked for: `answer`, `answer/*`.
fn is_of(code: &str, asked: &str) -> bool {
    let topic = asked.trim_end_matches('*').trim_end_matches('/');
    code == asked || code.split_once('/').is_some_and(|(of, _)| of == topic)
}
