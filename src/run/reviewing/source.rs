//! Reads the rows to review from the run, some at a time: a row is never held in memory longer than it is shown.
//!
//! Held rows come first, then unverified entries, instructions about which judges disagree, and sampled rows; in each, the most suspicious
//! first, and of an audit those that surprise most.

use callsieve_review::item::{CategoryCount, Item};
use callsieve_review::server::{Head, Source, SourceError};
use rustc_hash::FxHashMap;
use serde_json::Value;

use super::Place;
use super::evidence::Evidence;
use super::item::{Content, item_of};
use crate::columns::{ANSWER, JUDGEMENTS, MESSAGES, PROGRAM, RELEVANCE_BASIS, RESPONSE, TEXT, TRACES};
use crate::conversation::{Message, last_user};
use crate::engine::corpus::BatchCells;
use crate::engine::decision::digest;
use crate::engine::vocabulary::{ColumnSpec, RowIx, TableId};
use crate::instruct::attempt::Attempt;
use crate::instruct::record::Record;
use crate::run::{Error, OpenRun};

/// How many rows are read at once to make their heads.
pub(super) const ROWS_AT_ONCE: usize = 256;

/// The rows to review.
pub(super) struct RunSource {
    run: OpenRun,
    evidence: Evidence,
    /// In the order of the review.
    places: Vec<Place>,
    heads: Vec<Head>,
}

impl RunSource {
    /// Reads the heads of all rows, and sorts them.
    pub(super) fn new(run: OpenRun, mut places: Vec<Place>) -> Result<Self, Error> {
        let evidence = Evidence::read(&run, &places)?;
        // Rows of a batch are read together.
        places.sort_by_key(|place| (place.table, place.row));
        let mut source = Self { run, evidence, places: Vec::new(), heads: Vec::new() };
        let mut with_heads = Vec::with_capacity(places.len());
        for part in places.chunks(ROWS_AT_ONCE) {
            let items = source.items(part)?;
            let with_surprise = items.iter().map(|item| (surprise(item), Head::of(item)));
            with_heads.extend(part.iter().copied().zip(with_surprise));
        }
        with_heads.sort_by(|(one, (one_surprise, one_head)), (other, (other_surprise, other_head))| {
            let order = one.kind.cmp(&other.kind);
            let order = order.then_with(|| other_surprise.total_cmp(one_surprise));
            let order = order.then_with(|| other_head.suspicion.cmp(&one_head.suspicion));
            let order = order.then_with(|| one_head.group.key.cmp(&other_head.group.key));
            order.then_with(|| one_head.id.cmp(&other_head.id))
        });
        (source.places, source.heads) =
            with_heads.into_iter().map(|(place, (_, head))| (place, head)).unzip();
        Ok(source)
    }

    /// The rows, in the order of the review.
    pub(super) fn places(&self) -> &[Place] {
        &self.places
    }

    /// Reads rows as items, in their order.
    pub(super) fn items(&self, places: &[Place]) -> Result<Vec<Item>, Error> {
        let mut items: Vec<Option<Item>> = vec![None; places.len()];
        for id in TableId::ALL {
            let of_table: Vec<(usize, Place)> =
                places.iter().copied().enumerate().filter(|(_, place)| place.table == id).collect();
            let wanted: Vec<RowIx> = of_table.iter().map(|(_, place)| place.row).collect();
            let contents = match id {
                TableId::Requests => self.contents_of_requests(&wanted)?,
                TableId::DocLists => self.contents_of_lists(&wanted)?,
            };
            let rows = self.run.review_rows(self.run.corpus.table(id), &wanted, &self.evidence.noted)?;
            for (((at, place), row), content) in of_table.into_iter().zip(rows).zip(contents) {
                items[at] = Some(item_of(&self.run, &self.evidence, place, &row, &content));
            }
        }
        Ok(items.into_iter().flatten().collect())
    }

    fn contents_of_requests(&self, wanted: &[RowIx]) -> Result<Vec<Content>, Error> {
        let corpus = &self.run.corpus;
        let mut contents: Vec<Content> = wanted.iter().map(|_| Content::default()).collect();
        let columns = [MESSAGES, RESPONSE, RELEVANCE_BASIS, ANSWER, PROGRAM, JUDGEMENTS, TRACES];
        OpenRun::each(&corpus.requests, wanted, &columns, |nth, cells, at| {
            let content = &mut contents[nth];
            content.was = digest(cells.text(MESSAGES, at).unwrap_or_default());
            content.messages = json(cells, MESSAGES, at).unwrap_or_default();
            content.response = json(cells, RESPONSE, at);
            content.basis = json::<Value>(cells, RELEVANCE_BASIS, at).unwrap_or_default();
            if let Some(instruction) = json::<Record>(cells, PROGRAM, at) {
                content.set_instruction(&instruction);
            }
            content.judgements = json(cells, JUDGEMENTS, at);
            if let Some(judgements) = &content.judgements {
                let attempts: Vec<Attempt> = json(cells, TRACES, at).unwrap_or_default();
                let judged = attempts.get(judgements.attempt).and_then(Attempt::answer);
                content.judged_answer = judged.map(str::to_owned);
            }
        })?;
        let lists: Vec<RowIx> = wanted.iter().map(|&row| corpus.list[row as usize]).collect();
        for (content, digest) in contents.iter_mut().zip(OpenRun::digests(&corpus.lists, &lists, TEXT)?) {
            content.list_was = digest;
        }
        let into = |&row: &RowIx| corpus.requests.fate(row).and_then(|fate| fate.into);
        let leaders: Vec<RowIx> = wanted.iter().filter_map(into).collect();
        let queries = self.queries(&leaders)?;
        for (content, row) in contents.iter_mut().zip(wanted) {
            content.leader_query = into(row).and_then(|leader| queries.get(&leader).cloned());
        }
        Ok(contents)
    }

    fn contents_of_lists(&self, wanted: &[RowIx]) -> Result<Vec<Content>, Error> {
        let digests = OpenRun::digests(&self.run.corpus.lists, wanted, TEXT)?;
        let of_lists: Vec<RowIx> =
            wanted.iter().flat_map(|&list| self.evidence.waiting(list).1.iter().copied()).collect();
        let queries = self.queries(&of_lists)?;
        let content = |(&list, was): (&RowIx, String)| {
            let (_, first) = self.evidence.waiting(list);
            let waiting = first.iter().filter_map(|row| queries.get(row).cloned()).collect();
            Content { was, waiting, ..Content::default() }
        };
        Ok(wanted.iter().zip(digests).map(content).collect())
    }

    /// Returns the queries of requests.
    fn queries(&self, rows: &[RowIx]) -> Result<FxHashMap<RowIx, String>, Error> {
        let mut queries = FxHashMap::default();
        OpenRun::each(&self.run.corpus.requests, rows, &[MESSAGES], |nth, cells, at| {
            let messages: Vec<Message> = json(cells, MESSAGES, at).unwrap_or_default();
            queries.extend(last_user(&messages).map(|query| (rows[nth], query.content.clone())));
        })?;
        Ok(queries)
    }
}

/// How much a row of an audit surprises, as `held` sorts them: from 0 to 1, and more for a row without a measure of it. Equal for all rows
/// of other runs.
fn surprise(item: &Item) -> f64 {
    item.evidence["surprise"].as_f64().unwrap_or(f64::INFINITY)
}

fn json<T: serde::de::DeserializeOwned>(cells: &BatchCells, column: ColumnSpec, at: usize) -> Option<T> {
    serde_json::from_str(cells.text(column, at)?).ok()
}

impl Source for RunSource {
    fn heads(&self) -> Result<Vec<Head>, SourceError> {
        Ok(self.heads.clone())
    }

    fn page(&self, from: usize, count: usize) -> Result<Vec<Item>, SourceError> {
        let end = from.saturating_add(count).min(self.places.len());
        let places = self.places.get(from..end).unwrap_or_default();
        self.items(places).map_err(Into::into)
    }

    fn categories(&self) -> Vec<CategoryCount> {
        self.evidence.categories()
    }
}
