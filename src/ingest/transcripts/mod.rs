//! Transcripts become requests: finished conversations that hold their tools, calls and results as prose.
//!
//! Training sets (`ShareGPT`, Hermes, Glaive, `ToolACE`) and logs of raw prompts write a
//! whole conversation in one line. A request is what was sent before a decision, so
//! `decision` cuts each conversation at one point: ahead of the first calls the model made
//! for something a user said, or ahead of its first answer where it never called. What
//! stands before is the question, the model's turn is the response, and everything after
//! is kept apart as `following_messages`: it shows whether the call worked and is never asked. A
//! prompt that was sent and still waits for the model is no finished conversation: all of
//! it is the question.
//!
//! The tool list goes out of the system text as the text it is; `frame` says what of the
//! system text stays. `marked` reads conversations that are one text, `said` those that
//! are lists, `tags` what both write inside a turn. A line gives one request here too:
//! later decisions of the same conversation stay in `following_messages`.

mod decision;
mod frame;
mod marked;
mod said;
mod tags;
#[cfg(test)]
mod tests;

use serde_json::Value;

use crate::conversation::{Message, Role};
use crate::ingest::facts::FactFinder;
use crate::ingest::fate::{LineFate, Record};
use crate::ingest::log_formats::envelopes::ENVELOPES;
use crate::ingest::log_formats::{Columns, column};
use crate::ingest::messages::read_system;
use crate::ingest::path::{at, find_object};
use crate::ingest::reasons::{Fault, NO_FUNCTIONS, NO_MESSAGES};
use crate::ingest::response::{FINISHED_UNREADABLE, read_response};
use decision::Decided;
use tags::Notation;

/// A conversation as it was written, before it is cut.
#[derive(Debug, Default)]
pub(crate) struct Talk {
    /// The name of its log format.
    log_format: &'static str,
    /// Instructions, the tools' frame included.
    system: Option<String>,
    /// The tool list where it stands beside the conversation.
    beside: Option<String>,
    /// The turns after the instructions, in order.
    turns: Vec<Turn>,
    /// It is of a kind that is sent to a model, so that it may end where the model is asked.
    is_prompt: bool,
}

/// One turn, not yet read: a call that cannot be read matters only where the decision is.
#[derive(Debug)]
struct Turn {
    speaker: Speaker,
    value: Value,
}

/// Who has a turn, and how it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Speaker {
    /// A message of this role: a text or an object with `content`.
    Role(Role),
    /// Calls of the model and nothing else.
    Calls,
}

/// Finds the conversation of a form; a fault where it is of the form and cannot be read.
type Form = fn(&Value, &Columns) -> Option<Result<Talk, Fault>>;

/// Every form a transcript has, in the order they are tried.
const FORMS: &[Form] = &[said::talk, marked::talk];

/// The keys under which a transcript stands.
pub(super) fn names() -> Vec<&'static str> {
    said::TRANSCRIPTS.iter().chain([&said::MESSAGES]).chain(marked::WHOLE).copied().collect()
}

/// Reads a line that no log format of the tables fits; `None` where it is no transcript either.
pub(super) fn record(
    line: u64,
    content_key: u128,
    value: &mut Value,
    columns: &Columns,
) -> Option<Result<Record, LineFate>> {
    let (envelope, talk) = ENVELOPES.iter().find_map(|envelope| {
        let body = find_object(value, envelope.body)?;
        Some((envelope, FORMS.iter().find_map(|form| form(body, columns))?))
    })?;
    let body = at(value, envelope.body)?;
    let finder = FactFinder { line: value, content: body, envelope, body_facts: &[], columns };
    let (external_id, mut facts) = (finder.external_id(), finder.facts());
    let answer = column(value, &columns.response);
    let read = talk.map_err(LineFate::Unreadable).and_then(|mut talk| {
        talk.is_prompt |= answer.is_some();
        let log_format = talk.log_format;
        let (functions, decided) = request_of(talk, answer)?;
        let Decided { messages, response, finish_reason, following_messages } = decided;
        facts.finish_reason = finish_reason;
        Ok(Record {
            line,
            content_key,
            external_id,
            log_format,
            messages,
            functions,
            response,
            following_messages,
            facts,
            custom_id: None,
        })
    });
    Some(read)
}

/// The tool list and the conversation, cut.
fn request_of(talk: Talk, answer: Option<&Value>) -> Result<(String, Decided), LineFate> {
    let system = talk.system.unwrap_or_default();
    let list = frame::tool_list(&system);
    let notation = list.as_ref().map_or(Notation::Tagged, |list| list.notation);
    let instructions = match &list {
        Some(list) => frame::without_frame(&system, list),
        None => system.trim().to_owned(),
    };
    let functions = talk.beside.or_else(|| list.map(|list| list.text(&system).to_owned()));
    let functions = functions.filter(|text| !matches!(text.trim(), "" | "[]" | "null"));
    let Some(functions) = functions else {
        let detail = "the conversation offers none";
        return Err(LineFate::NoRequest(Fault::new(NO_FUNCTIONS, detail)));
    };
    let decided = decision::decide(talk.turns, notation, talk.is_prompt);
    let mut decided = decided.map_err(LineFate::Unreadable)?;
    if decided.messages.is_empty() {
        return Err(LineFate::NoRequest(Fault::new(NO_MESSAGES, "nobody asks anything")));
    }
    if decided.response.is_none() && decided.finish_reason.is_none() {
        (decided.response, decided.finish_reason) =
            answer.map(|answer| beside(answer, notation)).unwrap_or_default();
    }
    if !instructions.is_empty() {
        decided.messages.insert(0, Message::text(Role::System, instructions));
    }
    Ok((functions, decided))
}

/// The answer of a line that keeps it beside the conversation, which then ends with the question.
fn beside(answer: &Value, notation: Notation) -> (Option<Message>, Option<String>) {
    let answer = read_response(answer.clone());
    match answer.message.map(|message| tags::assistant(message, notation)).transpose() {
        Ok(message) => (message, answer.finish_reason),
        Err(_) => (None, Some(FINISHED_UNREADABLE.to_owned())),
    }
}

/// Cuts the messages of a finished conversation at its decision; `None` where nobody asks or the model says nothing.
pub(super) fn cut_at_decision(messages: &[Message]) -> Option<(Vec<Message>, Message, Vec<Message>)> {
    decision::cut_messages(messages)
}

/// Whether a list of messages that other log formats would claim is written as `ShareGPT` writes them.
pub(super) fn is_sharegpt(line: &Value) -> bool {
    line.get(said::MESSAGES).and_then(|list| list.get(0)).is_some_and(|turn| turn.get("from").is_some())
}

/// What people said in a conversation that is one text, and its tool list as it was written.
///
/// For readers that compare with transcripts instead of taking them in; `None` where the record is none.
pub(crate) fn marked_parts(record: &Value) -> Option<(Option<String>, Vec<String>)> {
    let talk = marked::talk(record, &Columns::default())?.ok()?;
    let system = talk.system.unwrap_or_default();
    let functions = frame::tool_list(&system).map(|list| list.text(&system).to_owned());
    let is_user = |turn: &Turn| turn.speaker == Speaker::Role(Role::User);
    let asked = talk.turns.into_iter().filter(is_user).filter_map(|turn| match turn.value {
        Value::String(text) if !text.is_empty() => Some(text),
        _ => None,
    });
    Some((functions, asked.collect()))
}

/// The instructions that stand beside a conversation.
fn system_beside(body: &Value, columns: &Columns) -> Option<Result<String, Fault>> {
    let system = column(body, &columns.system)?.clone();
    Some(read_system(system).map(|message| message.content))
}
