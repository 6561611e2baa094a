//! A row of a training set, compared with a benchmark: its hits, its verdict, and its links.

use std::collections::BTreeSet;

use crate::audit::benchmark::{Benchmark, verdict};
use crate::audit::frequent::BenchMessage;
use crate::audit::hit::{Hit, Method, Object, Verdict};
use crate::audit::item::{Item, calls_of};
use crate::audit::judge::Judgement;
use crate::cells::TypedCells as _;
use crate::columns::{FOLLOWING_MESSAGES, FUNCTIONS, MESSAGES, RESPONSE};
use crate::conversation::{Message, Role};
use crate::engine::link::{Link, Span};
use crate::engine::view::Row;
use crate::engine::vocabulary::ColumnSpec;

/// The field of an entry's user messages in the places of hits: the number is that of the message.
const USER_MESSAGES: &str = "user_messages";
/// The field of an entry's functions.
const FUNCTION: &str = "function";
/// The field of an entry's answer.
const GROUND_TRUTH: &str = "ground_truth";

/// A row with its hits, by entry, object and method.
#[derive(Debug)]
pub struct AuditedRow {
    item: Item,
    hits: Vec<Hit>,
    is_scorable: bool,
    /// The places of the messages of the user, in order.
    queries: Vec<Span>,
    /// The places of the calls.
    calls: Vec<Span>,
}

impl AuditedRow {
    /// Compares a row; the hits of its doc list are found once for all of its rows.
    pub fn of(row: Row<'_>, benchmark: &Benchmark, of_list: &[Hit], has_function: bool) -> Self {
        let (mut item, mut queries, mut calls) = (Item::default(), Vec::new(), Vec::new());
        let mut add = |message: Message, column: ColumnSpec, path: String| match message.role {
            Role::User => {
                queries.push(Span::value(column, path + "/content"));
                item.queries.push(message.content);
            }
            Role::Assistant => {
                let found = calls_of(&message);
                if !found.is_empty() {
                    let part = if message.calls.is_empty() { "/content" } else { "/calls" };
                    calls.push(Span::value(column, path + part));
                    item.calls.extend(found);
                }
            }
            Role::System | Role::Tool => {}
        };
        for (at, message) in row.messages().into_iter().enumerate() {
            add(message, MESSAGES, format!("/{at}"));
        }
        if let Some(response) = row.response() {
            add(response, RESPONSE, String::new());
        }
        for (at, message) in row.following_messages().unwrap_or_default().into_iter().enumerate() {
            add(message, FOLLOWING_MESSAGES, format!("/{at}"));
        }
        let has_words = item.queries.iter().any(|text| text.contains(char::is_alphanumeric));
        let mut hits = benchmark.hits_of_messages(&item);
        hits.extend(of_list.iter().cloned());
        let is_scorable = has_words || has_function || !item.calls.is_empty();
        let mut row = Self { item, hits, is_scorable, queries, calls };
        row.sort();
        row
    }

    fn sort(&mut self) {
        self.hits.sort_by_key(|hit| (hit.entry, hit.object, hit.method, hit.in_row.0));
    }

    /// Returns what is compared of the row.
    pub fn item(&self) -> &Item {
        &self.item
    }

    /// Adds hits of another method.
    pub fn add(&mut self, hits: Vec<Hit>) {
        self.hits.extend(hits);
        self.sort();
    }

    /// Returns the suspect pairs of messages of a suspect row, each once: number of the row's message, entry, and number of
    /// the entry's message.
    pub fn suspect_pairs(&self) -> Vec<(u32, u32, u32)> {
        if self.verdict() != Verdict::Suspect {
            return Vec::new();
        }
        let queries = self.hits.iter().filter(|hit| hit.object == Object::Query);
        let mut pairs: Vec<(u32, u32, u32)> =
            queries.map(|hit| (hit.in_row.0, hit.entry, hit.in_entry.0)).collect();
        pairs.sort_unstable();
        pairs.dedup();
        pairs
    }

    /// Adds what a language model says about a suspect pair. If both ask for different things, the other hits of the pair are
    /// clean; if the model could not judge, nothing changes.
    pub fn judged(&mut self, pair: (u32, u32, u32), judgement: &Judgement) {
        let (score, verdict) = match judgement {
            Judgement::Same(_) => (1.0, Verdict::Contaminated),
            Judgement::Different(_) => (0.0, Verdict::Clean),
            Judgement::CouldNotJudge(_) => return,
        };
        let is_of_pair =
            |hit: &Hit| hit.object == Object::Query && (hit.in_row.0, hit.entry, hit.in_entry.0) == pair;
        let Some(found) = self.hits.iter().find(|hit| is_of_pair(hit)).cloned() else { return };
        if verdict == Verdict::Clean {
            self.hits.iter_mut().filter(|hit| is_of_pair(hit)).for_each(|hit| hit.verdict = verdict);
        }
        self.add(vec![Hit { method: Method::Judge, score, verdict, run: 0, ..found }]);
    }

    /// Leaves out the row's own entry and those after it: the row is item `record` of the file of a category.
    #[must_use]
    pub fn without_itself(mut self, benchmark: &Benchmark, category: u32, record: u64) -> Self {
        self.hits.retain(|hit| !benchmark.is_at_or_after(hit.entry, category, record));
        self
    }

    /// Makes hits clean that are phrases of the training set inside longer messages.
    pub fn lower(&mut self, phrases: &BTreeSet<BenchMessage>) {
        let is_phrase = |hit: &&mut Hit| {
            hit.object == Object::Query
                && hit.method != Method::Exact
                && phrases.contains(&(hit.entry, hit.in_entry.0))
        };
        self.hits.iter_mut().filter(is_phrase).for_each(|hit| hit.verdict = Verdict::Clean);
    }

    /// Returns the verdict on the row: that of its surest hit.
    pub fn verdict(&self) -> Verdict {
        verdict(&self.hits, self.is_scorable)
    }

    /// Returns the surest hit; of several the first by object, the highest score, and method.
    pub fn surest(&self) -> Option<&Hit> {
        self.hits.iter().min_by(|one, other| {
            let by_verdict = other.verdict.cmp(&one.verdict).then(one.object.cmp(&other.object));
            by_verdict.then(other.score.total_cmp(&one.score)).then(one.method.cmp(&other.method))
        })
    }

    /// Returns the hits as links of the row.
    pub fn links<'a>(&'a self, benchmark: &'a Benchmark) -> impl Iterator<Item = Link> + 'a {
        self.hits.iter().map(|hit| {
            let (set, record) = benchmark.place_of(hit.entry);
            Link {
                object: hit.object.name(),
                set: set.to_owned(),
                record: record.to_owned(),
                method: hit.method.name().to_owned(),
                score: hit.rounded_score(),
                verdict: Some(hit.verdict.name()),
                spans: self.places(hit),
                record_spans: places_in_entry(hit),
            }
        })
    }

    /// Returns the places of a hit in the row's cells.
    fn places(&self, hit: &Hit) -> Vec<Span> {
        let (number, bytes) = (hit.in_row.0 as usize, &hit.in_row.1);
        match hit.object {
            Object::Query => {
                let place = self.queries.get(number).cloned();
                place.map(|span| Span { bytes: Some((bytes.start, bytes.end)), ..span }).into_iter().collect()
            }
            Object::Function => vec![Span::value(FUNCTIONS, format!("/{number}"))],
            Object::Functions => vec![Span::value(FUNCTIONS, "")],
            Object::Call => self.calls.clone(),
        }
    }
}

/// Returns the places of a hit in the entry.
fn places_in_entry(hit: &Hit) -> Vec<Span> {
    let span = |column: &str, path: String, bytes| vec![Span { column: column.to_owned(), path, bytes }];
    let (number, bytes) = (hit.in_entry.0, &hit.in_entry.1);
    match hit.object {
        Object::Query => span(USER_MESSAGES, format!("/{number}"), Some((bytes.start, bytes.end))),
        Object::Function => span(FUNCTION, format!("/{number}"), None),
        Object::Functions => span(FUNCTION, String::new(), None),
        Object::Call => span(GROUND_TRUTH, String::new(), None),
    }
}
