//! A row of a training set, compared with a benchmark: its hits, its verdict, and its links.
//!
//! Hits of groups have all their entries only here: [`AuditedRow::finish`] keeps a few examples of each.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock};

use crate::benchmark::{Benchmark, verdict};
use crate::coverage::Coverage;
use crate::frequent::BenchMessage;
use crate::hit::{Group, Hit, MOST_SINGLE, Method, Object, Objects, Verdict};
use crate::item::Item;
use crate::judge::Judgement;
use crate::scope::{NO_PHRASES, Scope};
use callsieve_bfcl::conversation::{Message, Role};
use callsieve_cells::TypedCells as _;
use callsieve_engine::columns::{FOLLOWING_MESSAGES, FUNCTIONS, MESSAGES, RESPONSE};
use callsieve_engine::context::Cancelled;
use callsieve_engine::link::{Link, RecordGroup, RecordName, Span};
use callsieve_engine::view::Row;
use callsieve_engine::vocabulary::{ColumnSpec, RowIx};
use rustc_hash::FxHashSet;

/// The field of an entry's user messages in the places of hits: the number is that of the message.
const USER_MESSAGES: &str = "user_messages";
/// The field of an entry's functions.
const FUNCTION: &str = "function";
/// The field of an entry's answer.
const GROUND_TRUTH: &str = "ground_truth";

/// No text.
static NO_TEXTS: LazyLock<FxHashSet<String>> = LazyLock::new(FxHashSet::default);

/// A row with its hits, by entry, object and method.
#[derive(Debug)]
pub struct AuditedRow {
    item: Item,
    hits: Vec<Hit>,
    read: Read,
    is_scorable: bool,
    /// The places of the messages of the user, in order.
    queries: Vec<Span>,
    /// The places of the calls.
    calls: Vec<Span>,
    /// The places of the texts of others.
    texts: Vec<Span>,
}

impl AuditedRow {
    /// Compares a row. If the user asked to stop, not all hits are found.
    pub fn of(row: Row<'_>, compared: &ComparedWith<'_>) -> Self {
        let &ComparedWith { benchmark, of_list, has_function, own, phrases, boilerplate, objects, cancelled } =
            compared;
        let (mut item, mut queries, mut calls, mut texts) =
            (Item::default(), Vec::new(), Vec::new(), Vec::new());
        let mut add = |message: Message, column: ColumnSpec, path: String| {
            let is_shared = || boilerplate.contains(&message.content);
            if objects.has(Object::Call) {
                let found = match message.role {
                    Role::Assistant => benchmark.calls_of(&message),
                    // A template may have both speakers in one message, and a prompt an example of a call.
                    _ if is_shared() => Vec::new(),
                    _ => benchmark.answers_in(&message.content),
                };
                if !found.is_empty() {
                    let part = if message.calls.is_empty() { "/content" } else { "/calls" };
                    calls.push(Span::value(column, path.clone() + part));
                    item.calls.extend(found);
                }
            }
            if message.role == Role::User {
                if objects.has(Object::Query) {
                    queries.push(Span::value(column, path + "/content"));
                    item.queries.push(message.content);
                }
                return;
            }
            if objects.has(Object::Text) && !message.content.trim().is_empty() && !is_shared() {
                texts.push(Span::value(column, path + "/content"));
                item.texts.push(message.content);
            }
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
        let is_own = compared.is_own();
        let mut hits = benchmark.hits_in(&item, Scope { is_left_out: &is_own, phrases, cancelled });
        match own {
            Some(_) => hits.extend(of_list.iter().filter_map(|hit| without(hit, &is_own))),
            None => hits.extend(of_list.iter().cloned()),
        }
        let has_text = item.texts.iter().any(|text| text.contains(char::is_alphanumeric));
        let read = Read {
            queries: has_words,
            docs: has_function && objects.has(Object::Function),
            calls: !item.calls.is_empty(),
            texts: has_text,
        };
        // A text of somebody else alone has no request that could be compared.
        let has_only_texts = read.texts && !objects.has(Object::Query);
        let is_scorable = read.queries || read.docs || read.calls || has_only_texts;
        let mut row = Self { item, hits, read, is_scorable, queries, calls, texts };
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

    /// Adds hits of another method, of entries that are not left out.
    pub fn add(&mut self, hits: Vec<Hit>) {
        self.hits.extend(hits);
        self.sort();
    }

    /// Returns the suspect pairs of messages of a suspect row, each once: number of the row's message, entry, and number of
    /// the entry's message. Of a group it is the pair that its hits name.
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

    /// Adds what a language model says about a suspect pair. If both ask for different things, the other hits of the pair, and of
    /// the group that it stands for, are clean; if the model could not judge, nothing changes.
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
        self.add(vec![Hit { method: Method::Judge, score, verdict, run: 0, group: None, ..found }]);
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

    /// Returns what is kept of the row, and adds the entries of its groups to those of other rows.
    pub fn finish(self, row: RowIx, benchmark: &Benchmark, coverage: &Coverage) -> FinishedRow {
        self.hits.iter().for_each(|hit| coverage.add(row, hit));
        let mut examples: BTreeMap<*const Group, Arc<[RecordName]>> = BTreeMap::new();
        let links = self.hits.iter().map(|hit| {
            let (set, record) = benchmark.place_of(hit.entry);
            let group = hit.group.as_ref().map(|group| RecordGroup {
                n_records: group.n_entries(),
                examples: Arc::clone(
                    examples.entry(Arc::as_ptr(group)).or_insert_with(|| examples_of(group, benchmark)),
                ),
            });
            Link {
                object: hit.object.name(),
                set: set.to_owned(),
                record: record.to_owned(),
                method: hit.method.name().to_owned(),
                score: hit.rounded_score(),
                verdict: Some(hit.verdict.name()),
                spans: self.places(hit),
                record_spans: places_in_entry(hit),
                group,
            }
        });
        FinishedRow {
            links: links.collect(),
            verdict: self.verdict(),
            read: self.read,
            surest: self.surest().map(|hit| Hit { group: None, ..hit.clone() }),
            n_entries: self.surest().map_or(0, Hit::n_entries),
        }
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
            Object::Text => {
                let place = self.texts.get(number).cloned();
                place.map(|span| Span { bytes: Some((bytes.start, bytes.end)), ..span }).into_iter().collect()
            }
        }
    }
}

/// What of a row was read, so that what was not is unscorable, never clean.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)] // One for each kind of object.
pub struct Read {
    /// A message of the user.
    pub queries: bool,
    /// A function doc.
    pub docs: bool,
    /// A call.
    pub calls: bool,
    /// A text of somebody else.
    pub texts: bool,
}

/// What a row is compared with.
#[derive(Clone, Copy)]
pub struct ComparedWith<'a> {
    /// The benchmark.
    pub benchmark: &'a Benchmark,
    /// The hits of the row's doc list, found once for all of its rows.
    pub of_list: &'a [Hit],
    /// The list has a function.
    pub has_function: bool,
    /// The row is this item of the file of a category: this entry and those after it are left out.
    pub own: Option<(u32, u64)>,
    /// Messages of the benchmark that are phrases of the training set: inside longer messages they are clean.
    pub phrases: &'a BTreeSet<BenchMessage>,
    /// Texts that many rows share, such as the prompt of a whole set: they are not compared.
    pub boilerplate: &'a FxHashSet<String>,
    /// The objects that are compared.
    pub objects: Objects,
    /// Whether the user asked to stop.
    pub cancelled: Cancelled<'a>,
}

impl<'a> ComparedWith<'a> {
    /// Returns the comparison with all entries, of a row without functions.
    pub fn all(benchmark: &'a Benchmark, cancelled: Cancelled<'a>) -> Self {
        Self {
            benchmark,
            of_list: &[],
            has_function: false,
            own: None,
            phrases: &NO_PHRASES,
            boilerplate: &NO_TEXTS,
            objects: Objects::default(),
            cancelled,
        }
    }

    /// Returns whether an entry is the row's own, or one after it.
    pub(super) fn is_own(&self) -> impl Fn(u32) -> bool + use<'a> {
        let (benchmark, own) = (self.benchmark, self.own);
        move |entry| own.is_some_and(|(category, record)| benchmark.is_at_or_after(entry, category, record))
    }
}

/// What is kept of a row.
#[derive(Debug)]
pub struct FinishedRow {
    /// Its hits.
    pub links: Vec<Link>,
    /// Its verdict.
    pub verdict: Verdict,
    /// What of it was read.
    pub read: Read,
    /// Its surest hit, without the entries of its group.
    pub surest: Option<Hit>,
    /// The number of these.
    pub n_entries: u32,
}

/// Returns the first entries of a group.
fn examples_of(group: &Group, benchmark: &Benchmark) -> Arc<[RecordName]> {
    let first = group.members().chunk_by(|one, other| one.0 == other.0).map(|members| members[0].0);
    let name = |entry: u32| {
        let (set, record) = benchmark.place_of(entry);
        RecordName { set: set.to_owned(), record: record.to_owned() }
    };
    first.take(MOST_SINGLE).map(name).collect()
}

/// Returns a hit of a doc list without some entries; `None` if it has no other.
fn without(hit: &Hit, is_left_out: impl Fn(u32) -> bool) -> Option<Hit> {
    let Some(group) = &hit.group else { return (!is_left_out(hit.entry)).then(|| hit.clone()) };
    let left = group.members().iter().copied().filter(|(entry, _)| !is_left_out(*entry));
    let group = Group::new(left.collect());
    let &(entry, place) = group.members().first()?;
    let in_entry = (place, 0..0);
    Some(Hit { entry, in_entry, group: (group.n_entries() > 1).then(|| Arc::new(group)), ..hit.clone() })
}

/// Returns the places of a hit in the entry.
fn places_in_entry(hit: &Hit) -> Vec<Span> {
    let span = |column: &str, path: String, bytes| vec![Span { column: column.to_owned(), path, bytes }];
    let (number, bytes) = (hit.in_entry.0, &hit.in_entry.1);
    match hit.object {
        Object::Query | Object::Text => {
            span(USER_MESSAGES, format!("/{number}"), Some((bytes.start, bytes.end)))
        }
        Object::Function => span(FUNCTION, format!("/{number}"), None),
        Object::Functions => span(FUNCTION, String::new(), None),
        Object::Call => span(GROUND_TRUTH, String::new(), None),
    }
}
