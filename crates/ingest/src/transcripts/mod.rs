//! Converts transcripts to requests. Transcripts are finished conversations with tools, calls and results as prose.
//!
//! Training sets (`ShareGPT`, Hermes, Glaive, `ToolACE`) and logs of raw prompts hold a whole conversation in one line.
//! A request ends before a decision of the model, so `decision` splits each conversation at one point: before the
//! model's first calls after a user's message, or before its first answer if it made no call. The part before is the
//! question, the model's turn is the response, and the rest is stored as `following_messages`: it shows whether the
//! call worked and is never part of the question. A prompt that still waits for the model is not finished: all of it is
//! the question.
//!
//! The tool list is removed from the system text and keeps its text; `frame` decides what else is removed. `marked`
//! reads conversations that are one text, `turns` those that are lists, and `tags` the calls and results inside a turn.
//! A line is one request here too: later decisions of the same conversation stay in `following_messages`.

mod decision;
mod frame;
mod marked;
mod tags;
#[cfg(test)]
mod tests;
mod turns;

pub(crate) use frame::{is_docs, tool_list};
use serde_json::Value;

use crate::facts::FactFinder;
use crate::fate::{LineFate, Record};
use crate::known_lists::SentList;
use crate::log_formats::envelopes::ENVELOPES;
use crate::log_formats::{Columns, column};
use crate::messages::read_system;
use crate::path::{at, find_object};
use crate::reasons::{ItemFault, NO_FUNCTIONS, NO_MESSAGES};
use crate::response::{FINISHED_UNREADABLE, read_response};
use callsieve_bfcl::conversation::{Message, Role};
use decision::Decided;
use tags::Notation;

/// A conversation as it was written, before it is split.
#[derive(Debug, Default)]
pub(crate) struct Transcript {
    /// The name of its log format.
    log_format: &'static str,
    /// Instructions, including the frame of the tools.
    system: Option<String>,
    /// The tool list, if it is outside the conversation.
    beside: Option<String>,
    /// The turns after the instructions, in order.
    turns: Vec<Turn>,
    /// It is of a kind that is sent to a model, so it may end before the model's turn.
    is_prompt: bool,
}

/// One turn, not yet parsed: an unreadable call matters only in the decision.
#[derive(Debug)]
struct Turn {
    speaker: Speaker,
    value: Value,
}

/// The role and the form of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Speaker {
    /// A message of this role: a text or an object with `content`.
    Role(Role),
    /// Only calls of the model.
    Calls,
}

/// Finds a conversation of a form; a fault if it has the form and cannot be read.
type Form = fn(&Value, &Columns) -> Option<Result<Transcript, ItemFault>>;

/// The forms of transcripts, in the order in which they are tried.
const FORMS: &[Form] = &[turns::find, marked::find];

/// Returns the keys of transcripts in a line.
pub(super) fn names() -> Vec<&'static str> {
    turns::TRANSCRIPTS.iter().chain([&turns::MESSAGES]).chain(marked::WHOLE).copied().collect()
}

/// Reads a line that matches no log format of the tables; `None` if it is not a transcript either.
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
            list: SentList::NotLookedUp,
            response,
            following_messages,
            facts,
            custom_id: None,
        })
    });
    Some(read)
}

/// Returns the tool list and the split conversation.
fn request_of(talk: Transcript, answer: Option<&Value>) -> Result<(String, Decided), LineFate> {
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
        return Err(LineFate::NoRequest(ItemFault::new(NO_FUNCTIONS, detail)));
    };
    let decided = decision::decide(talk.turns, notation, talk.is_prompt);
    let mut decided = decided.map_err(LineFate::Unreadable)?;
    if decided.messages.is_empty() {
        return Err(LineFate::NoRequest(ItemFault::new(NO_MESSAGES, "there is no question")));
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

/// Returns the answer of a line outside the conversation, which then ends with the question.
fn beside(answer: &Value, notation: Notation) -> (Option<Message>, Option<String>) {
    let answer = read_response(answer.clone());
    match answer.message.map(|message| tags::assistant(message, notation)).transpose() {
        Ok(message) => (message, answer.finish_reason),
        Err(_) => (None, Some(FINISHED_UNREADABLE.to_owned())),
    }
}

/// Splits the messages of a finished conversation at its decision; `None` if there is no question or no answer.
pub(super) fn cut_at_decision(messages: &[Message]) -> Option<(Vec<Message>, Message, Vec<Message>)> {
    decision::cut_messages(messages)
}

/// Returns `true` if a list of messages that also matches other log formats is in the form of `ShareGPT`.
pub(super) fn is_sharegpt(line: &Value) -> bool {
    line.get(turns::MESSAGES).and_then(|list| list.get(0)).is_some_and(|turn| turn.get("from").is_some())
}

/// Returns the users' messages of a conversation that is one text, and its tool list as it was written.
///
/// It is used to compare with transcripts without ingesting them; `None` if the record is not a transcript.
pub fn marked_parts(record: &Value) -> Option<(Option<String>, Vec<String>)> {
    let talk = marked::find(record, &Columns::default())?.ok()?;
    let system = talk.system.unwrap_or_default();
    let functions = frame::tool_list(&system).map(|list| list.text(&system).to_owned());
    let is_user = |turn: &Turn| turn.speaker == Speaker::Role(Role::User);
    let asked = talk.turns.into_iter().filter(is_user).filter_map(|turn| match turn.value {
        Value::String(text) if !text.is_empty() => Some(text),
        _ => None,
    });
    Some((functions, asked.collect()))
}

/// Returns the messages of a conversation that is one text, without its instructions; `None` if it is no conversation.
///
/// Training sets without functions have such texts too, in more grammars than prompts of models.
pub(super) fn messages_of_text(text: &str) -> Option<Vec<Message>> {
    let talk = marked::of_text(text)?;
    let message = |turn: Turn| match (turn.speaker, turn.value) {
        (Speaker::Role(role), Value::String(text)) if !text.is_empty() => Some(Message::text(role, text)),
        _ => None,
    };
    Some(talk.turns.into_iter().filter_map(message).collect())
}

/// Returns the instructions outside a conversation.
fn system_beside(body: &Value, columns: &Columns) -> Option<Result<String, ItemFault>> {
    let system = column(body, &columns.system)?.clone();
    Some(read_system(system).map(|message| message.content))
}
