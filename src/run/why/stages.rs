//! What each stage did with a request and its doc lists, or with a list: events of the ledger, and links.

use std::collections::BTreeMap;

use serde::Serialize;

use super::json_text::JsonText;
use crate::audit::hit::Verdict;
use crate::engine::corpus::RowId;
use crate::engine::ledger::{Event, for_each_event, for_each_forgotten};
use crate::engine::link::{RecordName, Span};
use crate::engine::links::{self, StoredLink};
use crate::engine::vocabulary::{RowIx, Safety, TableId};
use crate::report::records::Records;
use crate::run::{Error, OpenRun, patch_in_words};

/// What one stage did with a row, and with the doc lists of a request.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct StageHistory {
    /// The number of the stage in the pipeline, from 1.
    pub number: usize,
    /// The id of the stage.
    pub id: String,
    /// Fates, then edits, then decisions of people.
    pub events: Vec<RowEvent>,
    /// Records of public sets and benchmarks that the row is near to, the surest first.
    pub links: Vec<NearRecord>,
}

/// One event of the ledger.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RowEvent {
    /// The stage, or `forget`.
    pub stage: String,
    /// The table of the row.
    pub table: TableId,
    /// The id of the row: of the request, or of a doc list that it had.
    pub row_id: String,
    /// `drop`, `merge`, `hold` or `edit`; `suggest` for an edit that was not made, `decide` for a decision of a person, `forget`
    /// for a forgotten row.
    pub action: String,
    /// The code of the reason.
    pub reason: String,
    /// For a merge: the id of the row that it was merged into.
    pub merged_into: Option<String>,
    /// What was measured.
    pub score: Option<Score>,
    /// The event follows from the fate of the doc list of a request, or of the requests of a list.
    pub cascaded: bool,
    /// For an edit: the change.
    pub edit: Option<EditOfRow>,
    /// Other evidence of the reason.
    pub evidence: Option<JsonText>,
}

/// What was measured for a fate, or by one method for a link.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Score {
    /// The metric or method.
    pub metric: String,
    /// Its value.
    pub value: f64,
}

/// The change of an edit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct EditOfRow {
    /// The changed column.
    pub column: String,
    /// `safe`, `unsafe`, or `suggest` for an edit that was not made.
    pub safety: String,
    /// RFC 6902, or one operation `redact`.
    pub patch: JsonText,
    /// The changes in words, one each: `-` before an old value, `+` before a new one. Long values are shortened.
    pub words: Vec<String>,
}

/// A record outside the run, or a group of them, that an object of the row is near to.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct NearRecord {
    /// The table of the row.
    pub table: TableId,
    /// The id of the row: of the request, or of a doc list that it had.
    pub row_id: String,
    /// The kind of object, such as `query` or `function`.
    pub object: String,
    /// The places of the object in the row's cells.
    pub spans: Vec<Span>,
    /// The id of the set or benchmark.
    pub set: String,
    /// The record's id in the set, or its file and line.
    pub record: String,
    /// The number of records that the object is near to in the same way, this one included.
    pub n_records: u32,
    /// Some of them, if there are several.
    pub examples: Vec<RecordName>,
    /// How near it is, by each method that found it.
    pub scores: Vec<Score>,
    /// The surest verdict of these methods; `None` if the stage gives none.
    pub verdict: Option<&'static str>,
    /// The text of the record of a public set; `None` if its licence does not allow that, or the set is not on disk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// The rows whose history is read.
pub(super) struct StagesOf<'a> {
    pub(super) run: &'a OpenRun,
    pub(super) request: Option<RowIx>,
    pub(super) lists: &'a [RowIx],
}

impl StagesOf<'_> {
    /// Returns what each stage did with the rows, without the stages that did nothing.
    ///
    /// # Errors
    /// A file of the run folder cannot be read.
    pub(super) fn histories(&self) -> Result<Vec<StageHistory>, Error> {
        let (run, corpus) = (self.run, &self.run.corpus);
        let list_ids = self.lists.iter().map(|&list| corpus.lists.row_id(list)).collect();
        let functions = run.function_names(&list_ids)?;
        let is_ours = |table, row| match table {
            TableId::Requests => self.request == Some(row),
            TableId::DocLists => self.lists.contains(&row),
        };
        let mut histories = Vec::new();
        for (nth, stage) in run.stages.iter().enumerate() {
            let mut events = Vec::new();
            for_each_event(&run.folder, nth, stage, corpus, is_ours, |found| {
                events.extend(found.iter().map(|event| row_event(event, &functions)));
                Ok(())
            })?;
            let links = near_records(run, &links::of_stage(&run.folder, nth, stage, corpus, is_ours)?);
            if !events.is_empty() || !links.is_empty() {
                histories.push(StageHistory { number: nth + 1, id: stage.id.clone(), events, links });
            }
        }
        add_texts(run, &functions, &mut histories);
        Ok(histories)
    }
}

/// Adds the texts of records of public sets.
fn add_texts(run: &OpenRun, functions: &BTreeMap<RowId, Vec<String>>, histories: &mut [StageHistory]) {
    let links = || histories.iter().flat_map(|history| &history.links);
    let wanted = links().map(|link| (link.set.clone(), link.record.clone())).collect();
    let records = Records::read(&run.manifests, &run.registry, &wanted);
    for link in histories.iter_mut().flat_map(|history| &mut history.links) {
        // The name of the function that is near to the record.
        let place =
            link.spans.first().and_then(|span| span.path.trim_start_matches('/').parse::<usize>().ok());
        let names = RowId::number(&link.row_id).and_then(|id| functions.get(&RowId(id)));
        let name = names.zip(place).and_then(|(names, at)| names.get(at)).map_or("", String::as_str);
        link.text = records.near(&link.set, &link.record, &link.object, name);
    }
}

/// Returns what was forgotten of a request after the run.
pub(super) fn forgotten_events(run: &OpenRun, row: RowIx) -> Result<Vec<RowEvent>, Error> {
    let id = run.corpus.requests.row_id(row);
    let mut forgotten = Vec::new();
    for_each_forgotten(&run.folder, &run.corpus, |events| {
        let of_row = events.iter().filter(|event| event.table == TableId::Requests && event.row_id == id);
        forgotten.extend(of_row.map(|event| row_event(event, &BTreeMap::new())));
        Ok(())
    })?;
    Ok(forgotten)
}

/// `functions` has the names of the functions of doc lists.
fn row_event(event: &Event<'_>, functions: &BTreeMap<RowId, Vec<String>>) -> RowEvent {
    let is_suggested = event.edit.is_some_and(|edit| edit.safety == Safety::Suggest.name());
    let edit = event.edit.map(|edit| {
        // The name of the only function of a list is known from the context.
        let names = functions.get(&event.row_id).filter(|names| names.len() > 1);
        let words = patch_in_words(edit.column, edit.patch, names.map_or(&[], Vec::as_slice));
        EditOfRow {
            column: edit.column.to_owned(),
            safety: edit.safety.to_owned(),
            patch: JsonText::new(edit.patch),
            words: words.lines().map(|line| line.trim_start().to_owned()).collect(),
        }
    });
    RowEvent {
        stage: event.stage.to_owned(),
        table: event.table,
        row_id: event.row_id.to_string(),
        action: if is_suggested { "suggest" } else { event.action }.to_owned(),
        reason: event.reason.to_owned(),
        merged_into: event.into.map(|into| into.to_string()),
        score: event.score.map(|(metric, value)| Score { metric: metric.to_owned(), value }),
        cascaded: event.cascaded,
        edit,
        evidence: event.evidence.map(JsonText::new),
    }
}

/// The links to each record, or group of records, the surest first.
fn near_records(run: &OpenRun, links: &[StoredLink]) -> Vec<NearRecord> {
    // The links of a group may each name another of its records.
    let key = |link: &StoredLink| {
        let object = link.object.clone();
        match &link.examples {
            Some(examples) => (object, examples.clone(), places(link), link.n_records),
            None => (object, link.set.clone(), link.record.to_string(), 1),
        }
    };
    let mut of_records: Vec<Vec<&StoredLink>> = Vec::new();
    let mut known: BTreeMap<_, usize> = BTreeMap::new();
    for link in links {
        let at = *known.entry((link.table, link.row, key(link))).or_insert(of_records.len());
        match of_records.get_mut(at) {
            Some(of_record) => of_record.push(link),
            None => of_records.push(vec![link]),
        }
    }
    of_records.sort_by_key(|links| std::cmp::Reverse(surest(links)));
    of_records.iter().map(|links| near_record(run, links)).collect()
}

/// The places of a link in the row, without the parts of their values.
fn places(link: &StoredLink) -> String {
    spans(link).iter().map(|span| format!("{}{} ", span.column, span.path)).collect()
}

fn spans(link: &StoredLink) -> Vec<Span> {
    serde_json::from_str(&link.spans).unwrap_or_default()
}

/// The surest verdict of the links to one record.
fn surest(links: &[&StoredLink]) -> Option<Verdict> {
    links.iter().filter_map(|link| Verdict::from_name(link.verdict.as_deref()?)).max()
}

/// `links` are those of one object to one record, at least one.
fn near_record(run: &OpenRun, links: &[&StoredLink]) -> NearRecord {
    let link = links[0];
    let score = |link: &&StoredLink| Score { metric: link.method.to_string(), value: link.score };
    NearRecord {
        table: link.table,
        row_id: run.corpus.table(link.table).row_id(link.row).to_string(),
        object: link.object.to_string(),
        spans: spans(link),
        set: link.set.to_string(),
        record: link.record.to_string(),
        n_records: link.n_records,
        examples: link
            .examples
            .as_deref()
            .and_then(|text| serde_json::from_str(text).ok())
            .unwrap_or_default(),
        scores: links.iter().map(score).collect(),
        verdict: surest(links).map(Verdict::name),
        text: None,
    }
}
