//! Parses items to records: one fate for every item, and one for each part of a line with several requests.
//!
//! Parsing is pure, so blocks can be parsed in parallel and put back in order. A record keeps function docs that were
//! sent as text unchanged; docs that were sent as JSON are written compactly, with the original order of keys and
//! digits of numbers (`sent_docs` does that without their values).

use std::ops::Range;

use serde_json::Value;

use crate::batch;
use crate::explain::explain;
use crate::facts::FactFinder;
use crate::fate::{Line, LineFate, Record, no_request};
use crate::known_lists::KnownLists;
use crate::lenient;
use crate::log_formats::names::in_known_case;
use crate::log_formats::{
    Body, Columns, Envelope, FieldPlace, column_mut, request_format_of, trace_format_of,
};
use crate::marks::{cut_mark, missing_text};
use crate::messages::read_system;
use crate::nested_spans::{self, Place};
use crate::path::{Path, at, find, unwrap_json};
use crate::read::{Block, Position};
use crate::reasons::{
    BLANK_LINE, ItemFault, NO_FUNCTIONS, NO_MESSAGES, NOT_JSON, NOT_UTF8, PARTIAL_CONVERSATION, STREAM_CHUNK,
    TRUNCATED, UNKNOWN_LOG_FORMAT,
};
use crate::response::{FINISHED_WITH_ERROR, FIRST_FAILED_STATUS, ParsedResponse, read_response};
use crate::sent_docs::{self, SentDocs, TakenList};
use crate::stream::is_event_stream;
use crate::table::Header;
use crate::transcripts;
use crate::unpack::unpack;
use callsieve_bfcl::conversation::{Message, Role};
use callsieve_text::content_hash::content_hash;
use callsieve_text::small_talk::is_small_talk;

/// Parses the items of a block, in order; there are as many first parts as items.
pub fn records_of(block: &Block, columns: &Columns, known: Option<&KnownLists>) -> Vec<Line> {
    let in_known_case = header_in_known_case(block, columns);
    let read = |range: Range<usize>| {
        let bytes = &block.text[range];
        match &block.header {
            _ if bytes.trim_ascii().is_empty() => Err(no_request(BLANK_LINE, "")),
            None => read_json(bytes, columns, known),
            Some(header) => read_row(bytes, header, in_known_case.as_ref()),
        }
    };
    let mut lines = Vec::with_capacity(block.items.len());
    for item in &block.items {
        let read = match &item.bytes {
            Ok(range) => read(range.clone()),
            Err(fault) => Err(LineFate::Unreadable(fault.clone())),
        };
        match read {
            Ok(read) => push_parts(item.position(), read, columns, &mut lines),
            Err(fate) => lines.push(Line::whole(item.position(), item.n_items, fate)),
        }
    }
    lines
}

/// Returns the header of a table with its names as the log formats write them; `None` if they are.
pub(super) fn header_in_known_case(block: &Block, columns: &Columns) -> Option<Header> {
    let header = block.header.as_ref()?;
    Some(header.with_names(in_known_case(header.names(), columns)?))
}

/// Parses a value that may hold several requests; each becomes a [`Line`], in order.
pub fn push_lines(
    position: Position,
    content_key: u128,
    value: Value,
    columns: &Columns,
    lines: &mut Vec<Line>,
) {
    push_parts(position, ReadItem::of_value(content_key, value), columns, lines);
}

/// The value of an item.
struct ReadItem<'t> {
    content_key: u128,
    value: Value,
    /// The docs of which the value has an outline.
    docs: SentDocs<'t>,
}

impl ReadItem<'_> {
    fn of_value(content_key: u128, value: Value) -> Self {
        Self { content_key, value, docs: SentDocs::default() }
    }
}

fn push_parts(position: Position, item: ReadItem<'_>, columns: &Columns, lines: &mut Vec<Line>) {
    let Position { line, record } = position;
    let mut parts = vec![(item, MAX_PACKS)];
    let first = lines.len();
    let mut places = Vec::new();
    while let Some((ReadItem { content_key, mut value, docs }, packs)) = parts.pop() {
        let place = if packs < MAX_PACKS { Place::of(&value) } else { Place::default() };
        let shaped = shaped(line, content_key, &mut value, docs, columns);
        let may_hold_several = shaped.is_none() && packs > 0;
        if let Some(inner) = may_hold_several.then(|| unpack(&mut value)).flatten() {
            let keyed = |part: Value| (ReadItem::of_value(content_hash(part.to_string()), part), packs - 1);
            parts.extend(inner.into_iter().rev().map(keyed));
            continue;
        }
        // A line has fewer parts than bytes, and fits into memory.
        let part = u32::try_from(lines.len() - first).unwrap_or(u32::MAX);
        let fate = shaped.unwrap_or_else(|| explain(&mut value, columns));
        lines.push(Line { line, record, n_items: 1, part, fate });
        places.push(place);
    }
    if places.len() > 1 {
        nested_spans::mark(&places, &mut lines[first..]);
    }
}

/// The maximum nesting of lines that hold several requests.
const MAX_PACKS: usize = 3;

/// Parses a value that holds at most one request: a row of a table, a record of a public set.
///
/// `content_key` is the hash of the record's own bytes; a caller without the bytes hashes the value that it has.
pub fn record_of_value(line: u64, content_key: u128, mut value: Value, columns: &Columns) -> LineFate {
    let shaped = shaped(line, content_key, &mut value, SentDocs::default(), columns);
    shaped.unwrap_or_else(|| explain(&mut value, columns))
}

/// Returns the fate of a value of a known log format. Without one, the value has its docs again.
fn shaped(
    line: u64,
    content_key: u128,
    value: &mut Value,
    mut docs: SentDocs<'_>,
    columns: &Columns,
) -> Option<LineFate> {
    let is_request = !transcripts::is_sharegpt(value);
    let of_request = if is_request { request_format_of(value, columns) } else { None };
    if of_request.is_none() {
        std::mem::take(&mut docs).put_back(value);
    }
    let of_trace = || if is_request { trace_format_of(value, columns) } else { None };
    let record = match of_request.or_else(of_trace) {
        Some((envelope, body)) => {
            RecordReader { line, content_key, envelope, body, columns }.read(value, docs)
        }
        None => match batch::answer_of(content_key, value) {
            Some(answer) => return Some(LineFate::Answer(Box::new(answer))),
            None => transcripts::record(line, content_key, value, columns)?,
        },
    };
    Some(record.map_or_else(|fate| fate, |record| LineFate::Record(Box::new(record))))
}

fn read_json<'t>(
    bytes: &'t [u8],
    columns: &Columns,
    known: Option<&KnownLists>,
) -> Result<ReadItem<'t>, LineFate> {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text.trim_matches(JSON_SPACE),
        Err(error) => return Err(unreadable(NOT_UTF8, format!("byte {} of the line", error.valid_up_to()))),
    };
    match sent_docs::read(text, columns, known) {
        Ok((value, docs)) => Ok(ReadItem { content_key: content_hash(text), value, docs }),
        Err(_) if is_event_stream(text) => Err(no_request(STREAM_CHUNK, "a server-sent event")),
        Err(_) => match lenient::json(text.as_bytes()) {
            Ok(value) => Ok(ReadItem::of_value(content_hash(text), value)),
            Err(error) => Err(unreadable(NOT_JSON, error.to_string())),
        },
    }
}

const JSON_SPACE: [char; 4] = [' ', '\t', '\r', '\n'];

fn read_row(
    bytes: &[u8],
    header: &Header,
    in_known_case: Option<&Header>,
) -> Result<ReadItem<'static>, LineFate> {
    let value = header.row(bytes).map_err(LineFate::Unreadable)?;
    // The hash includes the column names: equal cells under another header are another record.
    let content_key = content_hash(value.to_string());
    let known = in_known_case.and_then(|header| header.row(bytes).ok());
    Ok(ReadItem::of_value(content_key, known.unwrap_or(value)))
}

fn unreadable(reason: &'static str, detail: String) -> LineFate {
    LineFate::Unreadable(ItemFault::new(reason, detail))
}

fn fate_of(fault: ItemFault) -> LineFate {
    if fault.is_sound() { LineFate::NoRequest(fault) } else { LineFate::Unreadable(fault) }
}

/// Parses one value of a known log format.
struct RecordReader<'a> {
    line: u64,
    content_key: u128,
    envelope: &'static Envelope,
    body: &'static Body,
    columns: &'a Columns,
}

impl RecordReader<'_> {
    fn read(&self, value: &mut Value, docs: SentDocs<'_>) -> Result<Record, LineFate> {
        let Self { line, content_key, envelope, body, columns } = *self;
        let content = at(value, envelope.body).expect("the log format was found in this body");
        if let Some(path) = body.elsewhere.iter().find(|path| at(content, path).is_some()) {
            return Err(no_request(PARTIAL_CONVERSATION, format!("it has {}", path.join("."))));
        }
        let finder = FactFinder { line: value, content, envelope, body_facts: body.facts, columns };
        let (external_id, mut facts) = (finder.external_id(), finder.facts());
        let failed = finder.failed() || facts.status.is_some_and(|status| status >= FIRST_FAILED_STATUS);
        let mut answer =
            if failed { ParsedResponse::finished(FINISHED_WITH_ERROR) } else { self.take_answer(value) };

        let Some(content) = find(value, envelope.body) else {
            return Err(no_request(UNKNOWN_LOG_FORMAT, "a response column contains the request"));
        };
        let TakenList { text: functions, list } = self.take_functions(content, docs)?;
        let mut messages = self.take_messages(content).map_err(fate_of)?;
        if messages.is_empty() {
            return Err(no_request(NO_MESSAGES, "the list is empty"));
        }
        // An envelope holds what was sent to an API; only a bare conversation can include its answer.
        let mut following_messages = Vec::new();
        if body.ends_with_answer && envelope.body.is_empty() && answer == ParsedResponse::default() {
            (answer.message, following_messages) = take_own_answer(&mut messages);
        }
        facts.finish_reason = answer.finish_reason.or(facts.finish_reason);
        let response = answer.message;
        let is_answered = response.is_some() || facts.finish_reason.is_some();
        let custom_id = if is_answered { None } else { batch::custom_id(value, envelope) };
        Ok(Record {
            line,
            content_key,
            external_id,
            log_format: body.name,
            messages,
            functions,
            list,
            response,
            following_messages,
            facts,
            custom_id,
        })
    }

    fn take_answer(&self, value: &mut Value) -> ParsedResponse {
        let Self { envelope, body, columns, .. } = *self;
        // The paths do not go through strings: a model's answer in JSON may contain "body".
        let there =
            |value: &Value, paths: &[Path]| paths.iter().copied().find(|path| at(value, path).is_some());
        let response = if let Some(path) = there(value, envelope.response) {
            find(value, path)
        } else if let Some(path) = at(value, envelope.body).and_then(|content| there(content, body.response))
        {
            find(value, envelope.body).and_then(|content| find(content, path))
        } else if column_mut(value, &columns.response).is_some() {
            column_mut(value, &columns.response)
        } else {
            find(value, CALLS_COLUMN).filter(|cell| is_list_of_calls(cell))
        };
        response.map(|response| read_response(response.take())).unwrap_or_default()
    }

    /// Takes the function docs as text, from the first place that holds more than an empty list.
    fn take_functions(&self, content: &mut Value, mut docs: SentDocs<'_>) -> Result<TakenList, LineFate> {
        let taken = self.body.functions.iter().find_map(|place| {
            let name = place.name(content, self.columns).map(str::to_owned);
            match place.take(content, self.columns)? {
                // A row with a function column is a request whatever the column holds; later stages judge the docs.
                Value::Array(list) if list.is_empty() && !matches!(place, FieldPlace::Functions) => None,
                Value::String(sent) => Some(TakenList::of_text(sent)),
                sent => {
                    let as_sent = name.and_then(|name| docs.take(self.envelope.body, &name));
                    Some(as_sent.unwrap_or_else(|| TakenList::of_text(sent.to_string())))
                }
            }
        });
        let taken = taken.ok_or_else(|| no_request(NO_FUNCTIONS, "the list is empty"))?;
        match cut_mark(&taken.text) {
            Some(mark) => Err(unreadable(TRUNCATED, format!("the function docs hold the mark {mark:?}"))),
            None => Ok(taken),
        }
    }

    fn take_messages(&self, content: &mut Value) -> Result<Vec<Message>, ItemFault> {
        let Self { body, columns, .. } = *self;
        let place = body.messages.iter().find(|place| place.is_in(content, columns));
        let sent = place.and_then(|place| place.take(content, columns)).unwrap_or_default();
        let mut messages = (body.read)(sent)?;
        let system = match body.system.iter().find(|path| at(content, path).is_some()) {
            Some(path) => find(content, path),
            None => column_mut(content, &columns.system),
        };
        if let Some(system) = system {
            messages.insert(0, read_system(system.take())?);
        }
        match missing_text(&messages) {
            Some(fault) => Err(fault),
            None => Ok(messages),
        }
    }
}

/// The column in which xLAM's sets have the right calls. In other sets the column has something else, such as the
/// answers to a question, so only calls are read.
pub(super) const CALLS_COLUMN: Path = &["answers"];

/// Returns whether a cell is a list of calls with names and arguments, as JSON or as its text.
fn is_list_of_calls(cell: &Value) -> bool {
    let parsed = cell.as_str().and_then(unwrap_json);
    let calls = parsed.as_ref().unwrap_or(cell).as_array();
    let is_call =
        |call: &Value| call.get("name").is_some_and(Value::is_string) && call.get("arguments").is_some();
    calls.is_some_and(|calls| !calls.is_empty() && calls.iter().all(is_call))
}

/// Removes the answer and the messages after it from a finished conversation. Returns both.
///
/// The answer is the assistant's last turn, if there is a question before it. If that turn reports the results of
/// calls, or answers a goodbye, the conversation is cut at its decision, like a transcript.
fn take_own_answer(messages: &mut Vec<Message>) -> (Option<Message>, Vec<Message>) {
    let is_own = |message: &Message| message.role == Role::Assistant;
    let Some(before) = messages.iter().rposition(|message| !is_own(message)) else {
        return Default::default();
    };
    let has_answer = before + 1 < messages.len();
    let reports_results = has_answer && messages[before].role == Role::Tool;
    if (reports_results || ends_in_small_talk(messages, before))
        && let Some((asked, response, following_messages)) = transcripts::cut_at_decision(messages)
    {
        *messages = asked;
        return (Some(response), following_messages);
    }
    if !has_answer {
        return Default::default();
    }
    let is_asked = messages[..=before].iter().any(|message| message.role != Role::System);
    (if is_asked { messages.pop() } else { None }, Vec::new())
}

/// Returns `true` if the last message of the user is small talk after an earlier call, and the model only answers it.
/// A call in answer to a goodbye, such as one that hangs up, is a decision of its own.
fn ends_in_small_talk(messages: &[Message], last: usize) -> bool {
    let calls = |message: &Message| message.role == Role::Assistant && !message.calls.is_empty();
    let (before, after) = messages.split_at(last);
    messages[last].role == Role::User
        && before.iter().any(calls)
        && !after.iter().any(calls)
        && is_goodbye(&messages[last].content)
}

/// Phrases that close a conversation although they neither greet nor thank.
const CLOSINGS: &[&str] =
    &["that's all", "thats all", "that's it", "helpful", "eso es todo", "c'est tout", "è tutto"];

/// Returns `true` for small talk, and for the words around it with a phrase that closes. A "yes" decides something.
fn is_goodbye(text: &str) -> bool {
    if is_small_talk(text) {
        return true;
    }
    let lower = text.to_lowercase().replace('\u{2019}', "'");
    CLOSINGS.iter().any(|closing| lower.contains(closing))
        && is_small_talk(&format!("{} thanks", lower.replace("helpful", "")))
}
