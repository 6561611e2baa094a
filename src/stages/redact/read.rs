//! Names and street addresses: reads the texts of both tables with the recogniser until it finds nothing more.
//!
//! Each pass searches every text with what is known so far, and has the recogniser read the texts that are new: at first
//! all, then those in which something was replaced. Equal texts are read once. Texts are read batch by batch, so a log of
//! any size fits in memory.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::json;

use super::findings::{Declared, declared_for};
use super::{JSON, PLAIN, Redact, TableFindings};
use crate::columns::{MESSAGES, TEXT};
use crate::engine::context::Context;
use crate::engine::error::{Error, Result};
use crate::engine::language_model::{ModelUsage, USAGE_NOTE};
use crate::engine::verdict::Verdict;
use crate::engine::view::{Batch, Parents, Row, View};
use crate::engine::vocabulary::RowIx;
use crate::privacy::apply::{Finder, read_json};
use crate::privacy::known::OwnValues;
use crate::privacy::numbers::Numbers;
use crate::privacy::people::{
    AssistantNames, OfferedValues, OwnPeople, People, PeopleOf, Person, Place, Reading, RowReading, Unread,
};
use crate::prompts::recognising::{pieces, places_in, question};
use crate::stages::asking::{ask, usable};

/// Most passes. A recogniser that still finds more is not one of names, and the rows that it finds more in are held.
const MAX_PASSES: usize = 12;
/// Why a row is held that needs more passes.
const ENDLESS: &str = "the recogniser finds more in each reading";
/// Texts that a local model reads at once.
const TEXTS_AT_ONCE: usize = 1024;

/// What a recogniser made of both tables.
pub(super) struct Read<'a> {
    /// Nothing without a recogniser.
    people: Option<People>,
    offered: Option<Parents<'a, OfferedValues>>,
    lists: FxHashMap<RowIx, RowResult>,
    requests: FxHashMap<RowIx, RowResult>,
    /// The values in the order in which they are numbered.
    in_order: Vec<Person>,
}

/// What the last pass found in a row.
#[derive(Default, PartialEq)]
struct RowResult {
    own: OwnPeople,
    failed: Option<String>,
}

impl Read<'_> {
    fn nothing() -> Self {
        Self {
            people: None,
            offered: None,
            lists: FxHashMap::default(),
            requests: FxHashMap::default(),
            in_order: Vec::new(),
        }
    }

    /// Returns whether there is a recogniser.
    pub(super) fn is_on(&self) -> bool {
        self.people.is_some()
    }

    /// Returns the search in the texts of a request.
    pub(super) fn of_request(&self, request: RowIx) -> Option<PeopleOf<'_>> {
        let own = self.requests.get(&request).map(|row| &row.own);
        let offered = self.offered.as_ref().and_then(|offered| offered.of_origin(request));
        self.people.as_ref().map(|people| PeopleOf::new(people).with_own(own).with_offered(offered))
    }

    /// Returns the search in the text of a doc list.
    pub(super) fn of_list(&self, list: RowIx) -> Option<PeopleOf<'_>> {
        let offered = self.offered.as_ref().and_then(|offered| offered.of_list(list));
        self.people.as_ref().map(|people| PeopleOf::new(people).with_offered(offered))
    }

    /// Numbers the values, those of doc lists first.
    pub(super) fn assign_numbers(&self, numbers: &mut Numbers) {
        for person in &self.in_order {
            numbers.learn(person.kind, &person.value);
        }
    }

    /// Returns the requests with a text that could not be read, of their own or of their doc list, and why, in order.
    pub(super) fn failures(&self, view: &View<'_>) -> Vec<(RowIx, &str)> {
        view.rows().filter_map(|row| self.failure(view, row).map(|why| (row, why))).collect()
    }

    /// Returns why a text of a request or of its doc list could not be read; `None` if all were.
    pub(super) fn failure(&self, view: &View<'_>, row: RowIx) -> Option<&str> {
        let own = self.requests.get(&row).and_then(|row| row.failed.as_deref());
        own.or_else(|| self.lists.get(&view.origin_of(row)).and_then(|list| list.failed.as_deref()))
    }
}

impl Redact {
    /// Reads all texts with the recogniser; nothing without one.
    ///
    /// # Errors
    /// A file or the model cannot be read, the language model answers nothing, or the run is cancelled.
    pub(super) fn read<'a>(
        &self,
        view: &View<'a>,
        cx: &Context<'_>,
        finder: Finder<'_>,
        (lists, requests, declared): (&TableFindings, &TableFindings, &Declared<'_>),
        out: &mut Verdict<'_>,
    ) -> Result<Read<'a>> {
        if !self.recogniser.name().is_on() {
            return Ok(Read::nothing());
        }
        let mut reader = CellReader { redact: self, cx, usage: ModelUsage::default() };
        let mut read = Read::nothing();
        read.people = Some(People::new(self.recogniser.name().finds_names()));
        let offered = |list: Row<'_>| OfferedValues::of(list.text(TEXT).unwrap_or_default());
        read.offered = Some(view.parents(cx, offered)?);
        let own_values = |row: RowIx| {
            let list = view.origin_of(row);
            OwnValues::of(requests.values_of(row).iter().chain(lists.values_of(list)))
        };
        for pass in 0.. {
            let in_lists = reader.pass(&mut read, Table::Lists, &view.parent(), |row, people| {
                finder.with_people(Some(people)).find_in_docs(row.text(TEXT).unwrap_or_default());
            })?;
            let in_requests = reader.pass(&mut read, Table::Requests, view, |row, people| {
                let own = own_values(row.ix());
                let declared = declared_for(declared, row.ix());
                let assistant = assistant_of(row);
                let people = people.with_assistant(Some(&assistant));
                let finder = finder.with_own(&own).with_people(Some(people)).with_declared(declared);
                for text in PLAIN.iter().filter_map(|column| row.text(*column)) {
                    finder.find(text);
                }
                for cell in JSON.iter().filter_map(|column| row.text(*column)) {
                    read_json(finder, cell);
                }
            })?;
            read.in_order = [in_lists.people, in_requests.people].concat();
            let people = read.people.as_mut().expect("it was set above");
            let is_new = people.learn(&read.in_order).map_err(Error::Setting)?;
            if !is_new && !in_lists.is_changed && !in_requests.is_changed {
                break;
            }
            if pass == MAX_PASSES {
                for row in in_requests.open.into_iter().chain(
                    in_lists
                        .open
                        .iter()
                        .flat_map(|&list| view.rows().filter(move |&row| view.origin_of(row) == list)),
                ) {
                    read.requests.entry(row).or_default().failed = Some(ENDLESS.to_owned());
                }
                break;
            }
        }
        if let Some(model) = self.recogniser.name().asks() {
            reader.usage.rows = view.rows().count() as u64;
            model.clone_into(&mut reader.usage.model);
            out.note(USAGE_NOTE, json!(reader.usage));
        }
        Ok(read)
    }
}

/// Returns the names that the system prompts of a request give to the assistant.
pub(super) fn assistant_of(request: Row<'_>) -> AssistantNames {
    AssistantNames::of(request.text(MESSAGES).unwrap_or_default())
}

/// The table of a pass.
#[derive(Clone, Copy)]
enum Table {
    Lists,
    Requests,
}

/// What a pass over a table found.
#[derive(Default)]
struct Pass {
    /// The values, in canonical order of their rows.
    people: Vec<Person>,
    /// The rows that had texts to read or have new names.
    open: Vec<RowIx>,
    is_changed: bool,
}

/// Reads texts with the recogniser.
struct CellReader<'r> {
    redact: &'r Redact,
    cx: &'r Context<'r>,
    usage: ModelUsage,
}

impl CellReader<'_> {
    /// Searches the rows of a table, and reads the texts that are new.
    fn pass(
        &mut self,
        read: &mut Read<'_>,
        table: Table,
        view: &View<'_>,
        search: impl Fn(Row<'_>, PeopleOf<'_>) + Sync,
    ) -> Result<Pass> {
        let mut pass = Pass::default();
        // By place in canonical order.
        let mut people: BTreeMap<u32, Vec<Person>> = BTreeMap::new();
        view.for_each_batch(self.cx, |batch: &Batch<'_>| {
            let found = batch.map_rows(|row| {
                let reading = Mutex::new(RowReading::default());
                let known = match table {
                    Table::Lists => read.of_list(row.ix()),
                    Table::Requests => read.of_request(row.ix()),
                };
                if let Some(known) = known {
                    search(row, known.recording(&reading));
                }
                reading.into_inner().unwrap_or_else(PoisonError::into_inner)
            })?;
            let mut unread: Vec<Unread> = Vec::new();
            let mut keys: FxHashSet<u128> = FxHashSet::default();
            for (&row, found) in batch.rows().iter().zip(found) {
                let results = match table {
                    Table::Lists => &mut read.lists,
                    Table::Requests => &mut read.requests,
                };
                let before = results.get(&row);
                let own = match table {
                    Table::Lists => OwnPeople::default(),
                    // Names are only added, so the passes end.
                    Table::Requests => OwnPeople::of(&found.people).with(before.map(|row| &row.own)),
                };
                let result = RowResult { own, failed: found.failed };
                let is_changed = before.unwrap_or(&RowResult::default()) != &result;
                if result != RowResult::default() || before.is_some() {
                    results.insert(row, result);
                }
                if is_changed || !found.unread.is_empty() {
                    pass.open.push(row);
                }
                if !found.people.is_empty() {
                    people.insert(view.position(row), found.people);
                }
                unread.extend(found.unread.into_iter().filter(|text| keys.insert(text.key)));
            }
            let readings = self.readings(&unread)?;
            let known = read.people.as_mut().expect("a pass has people");
            for (text, reading) in unread.iter().zip(readings) {
                known.add_reading(text.key, reading);
            }
            Ok(())
        })?;
        pass.is_changed = !pass.open.is_empty();
        pass.people = people.into_values().flatten().collect();
        Ok(pass)
    }

    fn readings(&mut self, unread: &[Unread]) -> Result<Vec<Reading>> {
        if unread.is_empty() {
            return Ok(Vec::new());
        }
        if let Some(model) = self.redact.recogniser.name().asks() {
            return self.asked(model, unread);
        }
        let Some(model) = self.redact.recogniser.open()? else { return Ok(Vec::new()) };
        let mut readings = Vec::with_capacity(unread.len());
        for some in unread.chunks(TEXTS_AT_ONCE) {
            let texts: Vec<&str> = some.iter().map(|text| text.text.as_str()).collect();
            let places = model.recognise(&texts, &|| self.cx.cancelled())?;
            readings.extend(places.into_iter().map(Reading::Places));
        }
        Ok(readings)
    }

    /// Asks the language model about texts, in pieces.
    fn asked(&mut self, model: &str, unread: &[Unread]) -> Result<Vec<Reading>> {
        let all = unread.iter().map(|text| (text, pieces(&text.text)));
        let rows: Vec<(usize, std::ops::Range<usize>)> = all
            .enumerate()
            .flat_map(|(at, (_, pieces))| pieces.into_iter().map(move |piece| (at, piece)))
            .collect();
        let piece = |(at, bytes): &(usize, std::ops::Range<usize>)| &unread[*at].text[bytes.clone()];
        let mut readings: Vec<std::result::Result<Vec<Place>, String>> = vec![Ok(Vec::new()); unread.len()];
        let usage = ask(
            self.cx,
            model,
            &rows,
            |row| vec![question(piece(row), model)],
            |row, samples, usage| {
                for sample in samples {
                    let read = usable(sample, usage, |answer| places_in(answer, piece(row)));
                    let shifted = |place: Place| Place {
                        start: place.start + row.1.start,
                        end: place.end + row.1.start,
                        ..place
                    };
                    match (&mut readings[row.0], read) {
                        (Ok(places), Ok(new)) => places.extend(new.into_iter().map(shifted)),
                        (reading, Err(why)) => *reading = Err(without_text(&why)),
                        (Err(_), Ok(_)) => {}
                    }
                }
                Ok(())
            },
        )?;
        self.usage.add(&usage);
        let reading = |reading| match reading {
            Ok(places) => Reading::Places(places),
            Err(why) => Reading::Failed(why),
        };
        Ok(readings.into_iter().map(reading).collect())
    }
}

/// Returns what a failure says without the words of the server, which may repeat the text that it got.
fn without_text(why: &str) -> String {
    const STATUS: &str = "HTTP status ";
    let status = why
        .split(STATUS)
        .nth(1)
        .map(|rest| rest.chars().take_while(char::is_ascii_digit).collect::<String>());
    let is_ours =
        ["the answer ", "a quote ", "a value ", "not sent: "].iter().any(|start| why.starts_with(start));
    match status {
        Some(status) => format!("{STATUS}{status}"),
        None if is_ours => why.to_owned(),
        None => "the request failed".to_owned(),
    }
}
