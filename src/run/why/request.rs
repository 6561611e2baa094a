//! The history of one request: as sent, the events of each stage for it and its docs, how it was judged, its fate.

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::json_text::JsonText;
use super::model::{Basis, Facts, Judgement, KeptRequest, RequestHistory, RowFate, SentDocs, SentRequest};
use super::stages::{StagesOf, forgotten_events};
use crate::columns::{
    self, ANSWER, ANSWER_BASIS, ASSISTANT, CATEGORY, CATEGORY_BASIS, EXTERNAL_ID, FINISH_REASON, FLAGS,
    FOLLOWING_MESSAGES, JUDGEMENTS, LOG_FORMAT, MESSAGES, MODEL, PARALLEL_TOOL_CALLS, PARSE_STEPS, PROGRAM,
    RELEVANCE, RELEVANCE_BASIS, RESPONSE, SESSION, SOLUTION_FINDINGS, STATUS, TEXT, TIER, TIME_MS,
    TOOL_CHOICE, TRACES, USER,
};
use crate::engine::corpus::BatchCells;
use crate::engine::decision::digest;
use crate::engine::fate::Fate;
use crate::engine::forgotten::FORGOTTEN;
use crate::engine::raw::read_lines;
use crate::engine::vocabulary::{ColumnSpec, RowIx};
use crate::report::end_of_merges;
use crate::run::place::{Place, of_request};
use crate::run::{Error, OpenRun};

/// Returns the history of a request.
///
/// # Errors
/// A file of the run folder cannot be read.
pub(super) fn history(run: &OpenRun, row: RowIx) -> Result<RequestHistory, Error> {
    let request = RequestCells::read(run, row)?;
    let requests = &run.corpus.requests;
    let fate = requests.fate(row);
    // Only the place of a forgotten request is kept.
    let is_forgotten = fate.is_some_and(|fate| fate.reason.code == FORGOTTEN.code);
    let lists = lists_of(run, row);
    Ok(RequestHistory {
        id: requests.row_id(row).to_string(),
        place: of_request(&request.cells, request.at).map(|place| Place::of(run, place)),
        sent: (!is_forgotten).then(|| request.sent()),
        response_from: request.response_from()?,
        docs: if is_forgotten { None } else { Some(docs(run, lists[0])?) },
        stages: StagesOf { run, request: Some(row), lists: &lists }.histories()?,
        forgotten: forgotten_events(run, row)?,
        attempts: request.json(TRACES).filter(|_| !is_forgotten).unwrap_or_default(),
        checked: request.json(SOLUTION_FINDINGS).filter(|_| !is_forgotten).unwrap_or_default(),
        verdicts: request.text(JUDGEMENTS).filter(|_| !is_forgotten).as_deref().map(JsonText::new),
        judgement: request.judgement(),
        fate: fate_of(run, row),
        kept: fate.is_none().then(|| request.kept()),
    })
}

/// The list that a request was sent with, and the lists that it had later.
fn lists_of(run: &OpenRun, row: RowIx) -> Vec<RowIx> {
    let mut lists = vec![run.corpus.origin[row as usize]];
    while let Some(into) = lists.last().and_then(|&list| run.corpus.lists.fate(list)?.into) {
        lists.push(into);
    }
    lists
}

/// The doc list that a request was sent with.
fn docs(run: &OpenRun, list: RowIx) -> Result<SentDocs, Error> {
    let lists = &run.corpus.lists;
    let batch = lists.batch_of(list);
    let cells = lists.read_batch(batch, &[TEXT, PARSE_STEPS])?;
    Ok(sent_docs(run, list, &cells, list as usize - lists.batch(batch).start))
}

/// A doc list as sent, from cells of its text and parser steps.
pub(super) fn sent_docs(run: &OpenRun, list: RowIx, cells: &BatchCells, at: usize) -> SentDocs {
    let text = cells.text(TEXT, at);
    let steps = cells.text(PARSE_STEPS, at).into_iter().flat_map(|steps| steps.split(','));
    SentDocs {
        list_id: run.corpus.lists.row_id(list).to_string(),
        parser_steps: steps.map(str::to_owned).collect(),
        text: text.map(str::to_owned),
        is_purged: text.is_none() && run.ingest.purged,
        digest: text.map(digest),
    }
}

/// How a request ended.
fn fate_of(run: &OpenRun, row: RowIx) -> RowFate {
    let requests = &run.corpus.requests;
    let has_dataset = run.folder.join("dataset").is_dir();
    let sentence = |fate: Fate| {
        let manifest = run.manifests.get(usize::from(fate.stage))?;
        Some((run.registry.kind(&manifest.kind)?.sentence)(&manifest.settings, fate.reason))
    };
    RowFate::of(requests, row, has_dataset, |fate| {
        sentence(fate).unwrap_or_else(|| fate.reason.sentence.into()).into_owned()
    })
}

/// A request with its cells.
struct RequestCells<'a> {
    run: &'a OpenRun,
    row: RowIx,
    cells: BatchCells,
    /// Its place in the batch of the cells.
    at: usize,
}

impl<'a> RequestCells<'a> {
    fn read(run: &'a OpenRun, row: RowIx) -> Result<Self, Error> {
        let requests = &run.corpus.requests;
        let judged = vec![
            ANSWER,
            ANSWER_BASIS,
            FLAGS,
            TIER,
            CATEGORY,
            CATEGORY_BASIS,
            RELEVANCE,
            RELEVANCE_BASIS,
            PROGRAM,
            TRACES,
            SOLUTION_FINDINGS,
            JUDGEMENTS,
        ];
        let mut columns = [columns::from_ingest(), judged].concat();
        columns.retain(|column| column.table == requests.id());
        let batch = requests.batch_of(row);
        let cells = requests.read_batch(batch, &columns)?;
        Ok(Self { run, row, cells, at: row as usize - requests.batch(batch).start })
    }

    fn text(&self, column: ColumnSpec) -> Option<String> {
        self.cells.text(column, self.at).map(str::to_owned)
    }

    fn int(&self, column: ColumnSpec) -> Option<i64> {
        self.cells.int(column, self.at)
    }

    fn json<T: DeserializeOwned>(&self, column: ColumnSpec) -> Option<T> {
        serde_json::from_str(self.cells.text(column, self.at)?).ok()
    }

    fn sent(&self) -> SentRequest {
        let messages: Vec<_> = self.json(MESSAGES).unwrap_or_default();
        SentRequest {
            external_id: self.text(EXTERNAL_ID),
            log_format: self.text(LOG_FORMAT),
            facts: self.facts(),
            // Every request has a message, so without one they were purged.
            is_purged: messages.is_empty() && self.run.ingest.purged,
            messages,
            response: self.json(RESPONSE),
            following_messages: self.json(FOLLOWING_MESSAGES).unwrap_or_default(),
            digest: self.cells.text(MESSAGES, self.at).map(digest),
            program: self.json(PROGRAM),
        }
    }

    fn facts(&self) -> Facts {
        let time = self.int(TIME_MS).and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
        Facts {
            time: time.map(|time| time.to_string()),
            model: self.text(MODEL),
            user: self.text(USER),
            assistant: self.text(ASSISTANT),
            session: self.text(SESSION),
            tool_choice: self.text(TOOL_CHOICE),
            finish_reason: self.text(FINISH_REASON),
            parallel_tool_calls: self.int(PARALLEL_TOOL_CALLS).map(|allowed| allowed != 0),
            status: self.int(STATUS),
        }
    }

    /// The line of the response, if it is another one.
    fn response_from(&self) -> Result<Option<Place>, Error> {
        let own = of_request(&self.cells, self.at);
        if self.run.ingest.counts.joined == 0 {
            return Ok(None);
        }
        let lines = read_lines(&self.run.folder)?;
        let line = lines.into_iter().find(|line| line.into.is_some() && line.into == own);
        Ok(line.map(|line| Place::of(self.run, line.place())))
    }

    fn judgement(&self) -> Option<Judgement> {
        let cell = self.cells.text(RELEVANCE_BASIS, self.at)?;
        let basis = basis(&serde_json::from_str(cell).ok()?);
        Some(Judgement { relevance: self.text(RELEVANCE), basis, cell: JsonText::new(cell) })
    }

    fn kept(&self) -> KeptRequest {
        let requests = &self.run.corpus.requests;
        let went_here = |&&row: &&RowIx| row != self.row && end_of_merges(requests, row) == self.row;
        KeptRequest {
            category: self.text(CATEGORY),
            category_basis: self.text(CATEGORY_BASIS),
            tier: self.text(TIER),
            answer: self.cells.text(ANSWER, self.at).map(JsonText::new),
            answer_basis: self.cells.text(ANSWER_BASIS, self.at).map(JsonText::new),
            flags: self.text(FLAGS),
            n_merged: requests.in_order().iter().filter(went_here).count(),
        }
    }
}

/// What a judgement is based on: a person, a rule, or the text and the answers of the log.
fn basis(cell: &Value) -> Basis {
    let text = |key: &str| cell[key].as_str().map(str::to_owned);
    let number = |key: &str| cell[key].as_f64().unwrap_or_default();
    if let Some(rule) = text("low_quality") {
        Basis::Rule { rule }
    } else if let Some(who) = text("answered_by") {
        Basis::Answer { who }
    } else if let Some(who) = text("labelled_by") {
        Basis::Label { who }
    } else {
        Basis::Text {
            probability: number("probability"),
            by_text: number("by_text"),
            evidence: cell["evidence"].as_object().cloned().unwrap_or_default(),
            grounded_call: cell["grounded_call"] == true,
        }
    }
}
