//! What a row of a review table shows, read from a finished run: its cells, its entry of the dataset, what stages noted about
//! it, and the answers that they suggest.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use serde_json::{Map, Value, json};

use super::{ReviewRow, Selection};
use crate::answers::alternatives::alternatives;
use crate::answers::called::CallableFunctions;
use crate::answers::recorded::{RecordedAnswer, recorded_answer};
use crate::bfcl::category::Category;
use crate::columns::{
    ANSWER, ANSWER_BASIS, CATEGORY, EXTERNAL_ID, FILE, FINISH_REASON, FLAGS, FUNCTIONS, LINE, MESSAGES,
    RECORD, RELEVANCE, RELEVANCE_BASIS, RESPONSE, STATUS, TEXT,
};
use crate::conversation::{Message, last_user};
use crate::decisions::answer_digest;
use crate::docs::patch::{PatchOp, apply};
use crate::engine::corpus::{BatchCells, RowId, Table};
use crate::engine::frame::FrameFile;
use crate::engine::ledger::for_every_event;
use crate::engine::vocabulary::{Action, ColumnSpec, RowIx, Safety, TableId};
use crate::run::{Error, OpenRun};

/// What the run noted about its rows, by the number of the row's id.
pub(in crate::run) struct Noted {
    /// The entries of the dataset, by request: set and id.
    pub(in crate::run) entries: FxHashMap<u128, (String, String)>,
    /// What stages noted about the rows that they held.
    details: FxHashMap<(TableId, u128), String>,
    /// The suggested changes of answers, by request; none unless they are listed.
    pub(super) suggestions: FxHashMap<u128, SuggestedAnswer>,
}

/// A suggested change of an answer.
pub(super) struct SuggestedAnswer {
    pub(super) reason: String,
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

impl OpenRun {
    /// Reads what the run noted about its rows.
    pub(in crate::run) fn noted(&self, selection: Selection) -> Result<Noted, Error> {
        let suggestions = match selection {
            Selection::Candidates => self.suggestions()?,
            Selection::Held | Selection::Unverified => FxHashMap::default(),
        };
        Ok(Noted { entries: self.entries()?, details: self.details()?, suggestions })
    }

    fn entries(&self) -> Result<FxHashMap<u128, (String, String)>, Error> {
        let path = self.folder.join("entries.parquet");
        let mut entries = FxHashMap::default();
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

    /// Returns rows of a table as they are listed, without decisions.
    pub(in crate::run) fn review_rows(
        &self,
        table: &Table,
        wanted: &[RowIx],
        noted: &Noted,
    ) -> Result<Vec<ReviewRow>, Error> {
        let mut rows: Vec<ReviewRow> =
            wanted.iter().map(|&row| row_without_cells(table, row, noted)).collect();
        if table.id() == TableId::DocLists {
            self.fill_lists(&mut rows, wanted)?;
            return Ok(rows);
        }
        self.fill_requests(&mut rows, wanted)?;
        for (row, &at) in rows.iter_mut().zip(wanted) {
            if let Some(suggestion) = noted.suggestions.get(&table.row_id(at).0) {
                row.reason = Some(suggestion.reason.clone());
                row.ground_truth = suggestion.answer(&row.recorded_answer);
            }
        }
        Ok(rows)
    }

    fn fill_requests(&self, rows: &mut [ReviewRow], wanted: &[RowIx]) -> Result<(), Error> {
        let lists: Vec<RowIx> = wanted.iter().map(|&row| self.corpus.list[row as usize]).collect();
        let functions = self.functions(&lists)?;
        Self::each(&self.corpus.requests, wanted, &REQUEST_COLUMNS, |nth, cells, at| {
            self.fill(&mut rows[nth], cells, at, functions.get(&lists[nth]).cloned().unwrap_or_default());
        })
    }

    fn fill_lists(&self, rows: &mut [ReviewRow], wanted: &[RowIx]) -> Result<(), Error> {
        let functions = self.functions(wanted)?;
        let mut n_held: FxHashMap<RowIx, u64> = FxHashMap::default();
        for (request, &list) in (0..).zip(&self.corpus.list) {
            let fate = self.corpus.requests.fate(request);
            *n_held.entry(list).or_default() +=
                u64::from(fate.is_some_and(|fate| fate.action == Action::Hold));
        }
        for (row, at) in rows.iter_mut().zip(wanted) {
            row.functions = functions.get(at).cloned().unwrap_or_default();
            row.n_requests = n_held.get(at).copied();
        }
        Ok(())
    }

    /// Visits the cells of some rows, a batch at a time: the number of the row among the wanted ones, the cells of its
    /// batch, and its place there.
    pub(in crate::run) fn each(
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
        row.flags = text(cells, FLAGS, at).map(str::to_owned);
        // Of an answer that language models drafted, the models and where its values come from.
        if row.detail.is_none() {
            row.detail = text(cells, ANSWER_BASIS, at).map(str::to_owned);
        }
        row.relevance = text(cells, RELEVANCE, at).map(str::to_owned);
        row.probability = parsed(RELEVANCE_BASIS).and_then(|basis| basis["probability"].as_f64());
        let callable = CallableFunctions::new(functions.as_array().map_or(&[][..], Vec::as_slice));
        let is_offered = |name: &str| callable.has_name(name);
        let (finish_reason, status) = (text(cells, FINISH_REASON, at), int(cells, STATUS, at));
        let recorded = recorded_answer(response.as_ref(), finish_reason, status, is_offered);
        row.recorded_answer =
            parsed(ANSWER).unwrap_or_else(|| ground_truth_form(&recorded, &callable, &functions));
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

/// Ids of a row, and why it is listed.
fn row_without_cells(table: &Table, row: RowIx, noted: &Noted) -> ReviewRow {
    let id = table.row_id(row);
    let entry = noted.entries.get(&id.0).filter(|_| table.id() == TableId::Requests);
    ReviewRow {
        id: id.to_string(),
        table: table.id().name(),
        reason: table.fate(row).map(|fate| fate.reason.code.to_owned()),
        detail: noted.details.get(&(table.id(), id.0)).cloned(),
        entry_id: entry.map(|(_, id)| id.clone()),
        ..ReviewRow::default()
    }
}

const REQUEST_COLUMNS: [ColumnSpec; 14] = [
    EXTERNAL_ID,
    FILE,
    LINE,
    RECORD,
    MESSAGES,
    RESPONSE,
    FINISH_REASON,
    STATUS,
    ANSWER,
    ANSWER_BASIS,
    FLAGS,
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

/// Recorded calls as BFCL ground truth, each value the only alternative; null if there are none. Whether they fit the
/// docs is not checked: a person sees them as they were recorded.
fn ground_truth_form(recorded: &RecordedAnswer, callable: &CallableFunctions, functions: &Value) -> Value {
    let RecordedAnswer::Calls(calls) = recorded else { return Value::Null };
    let call = |call: &crate::conversation::Call| {
        let schemas = callable.only_place_of(call).map(|at| &functions[at]["parameters"]["properties"]);
        let arguments = call.arguments.as_object().into_iter().flatten().map(|(name, value)| {
            let schema = schemas.and_then(|schemas| schemas.get(name));
            (
                name.clone(),
                json!([schema.map_or_else(|| value.clone(), |schema| as_alternative(schema, value))]),
            )
        });
        json!({ call.name.clone(): arguments.collect::<Map<String, Value>>() })
    };
    calls.iter().map(call).collect()
}

/// A value as an alternative: members of a dict list their alternatives in turn. Whatever does not fit the doc stays as it is.
fn as_alternative(schema: &Value, value: &Value) -> Value {
    let written = match value {
        Value::Object(_) | Value::Array(_) => alternatives(schema, true, Some(value)).ok(),
        _ => None,
    };
    written.and_then(|mut list| list.pop()).unwrap_or_else(|| value.clone())
}

/// Evidence without the features of the model, which no person decides by.
fn without_features(evidence: &str) -> String {
    let Ok(Value::Object(mut object)) = serde_json::from_str(evidence) else { return evidence.to_owned() };
    match object.shift_remove("features") {
        Some(_) => Value::Object(object).to_string(),
        None => evidence.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answers::human;
    use crate::conversation::Call;

    #[test]
    fn a_recorded_answer_with_dicts_has_the_form_of_a_ground_truth() {
        let functions = json!([{"name": "ring", "parameters": {"type": "dict", "required": ["bell"], "properties": {
            "bell": {"type": "dict", "properties": {"name": {"type": "string"}, "size": {"type": "integer"}}},
            "times": {"type": "array", "items": {"type": "dict", "properties": {"hour": {"type": "integer"}}}},
            "loud": {"type": "boolean"}}}}]);
        let arguments =
            json!({"bell": {"name": "great"}, "times": [{"hour": 9}, {"hour": 12}], "loud": true});
        let calls = vec![Call { id: None, name: "ring".to_owned(), arguments }];
        let docs = functions.as_array().unwrap();
        let form = |functions: &Value| {
            ground_truth_form(&RecordedAnswer::Calls(calls.clone()), &CallableFunctions::new(docs), functions)
        };
        let expected = json!([{"ring": {"bell": [{"name": ["great"]}], "times": [[{"hour": [9]}, {"hour": [12]}]], "loud": [true]}}]);
        let found = form(&functions);
        assert_eq!(found, expected);
        let calls_found = found.as_array().unwrap();
        human::check_form(calls_found).unwrap();
        assert!(human::carried(calls_found, docs, |name, it| (name.to_owned(), it)).is_ok());
        // Without a doc of the parameter, values are as they were sent.
        assert_eq!(form(&Value::Null)[0]["ring"]["bell"], json!([{"name": "great"}]));
    }
}
