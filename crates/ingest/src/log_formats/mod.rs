//! The tables of log formats.
//!
//! An *envelope* defines the path of a request's body in a line, and its own paths of the response and the facts. A
//! *body* defines the format of an API or a tool. Every envelope is tried with every body, in the order of the tables,
//! and the first pair whose signs all match is the line's log format. `traces` are the bodies of observability tools;
//! they are tried last, on the whole line, after its attributes are nested. Column names come from the pipeline. A new
//! log format is a new entry, not a new branch of code.

pub mod bodies;
pub mod envelopes;
pub mod names;
pub mod traces;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::attributes;
use crate::lookup::Lookup as _;
use crate::path::{Path, become_list, find, find_object, gather, open};
use crate::reasons::ItemFault;
use crate::span_events;
use crate::tools::{self, has_tool_messages};
use bodies::BODIES;
use callsieve_bfcl::conversation::Message;
use envelopes::ENVELOPES;
use traces::TRACES;

/// Column names, most likely first; of several existing ones, the first that is not null is used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Columns {
    /// The query: text, or a list of messages in JSON or Python syntax.
    pub query: Vec<String>,
    /// The function docs, as a string or as JSON.
    pub functions: Vec<String>,
    /// Instructions outside the messages.
    pub system: Vec<String>,
    /// The model's answer.
    pub response: Vec<String>,
    /// The request's id in the log.
    pub id: Vec<String>,
    /// When it was sent.
    pub time: Vec<String>,
    /// The model asked for.
    pub model: Vec<String>,
    /// The user or tenant.
    pub user: Vec<String>,
    /// The app, team or trace that sent it: a word, or a list of words. This and the other facts may be inside objects:
    /// `metadata.app`.
    pub assistant: Vec<String>,
    /// The conversation it belongs to.
    pub session: Vec<String>,
    /// The HTTP status.
    pub status: Vec<String>,
}

impl Default for Columns {
    fn default() -> Self {
        let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        Self {
            query: names(&["query", "prompt", "question", "input", "user_query", "messages"]),
            functions: names(&["function", "functions", "tools", "function_docs"]),
            system: names(&[
                "system",
                "system_prompt",
                "instructions",
                "systemInstruction",
                "system_instruction",
            ]),
            response: names(&["response", "output", "completion", "answer"]),
            id: names(&["id", "request_id", "uuid", "custom_id"]),
            time: names(&["ts", "time", "timestamp", "created_at", "created", "start_time"]),
            model: names(&["model", "model_name"]),
            user: names(&["user", "user_id", "tenant", "tenant_id", "end_user"]),
            assistant: names(&[
                "assistant",
                "app",
                "app_name",
                "application",
                "team_alias",
                "team_id",
                "trace_name",
                "traceName",
                "request_tags",
                "tags",
                "metadata.app",
                "metadata.assistant",
                "metadata.agent",
            ]),
            session: names(&["session", "session_id", "conversation_id", "thread_id"]),
            status: names(&["status", "status_code", "http_status"]),
        }
    }
}

/// The paths of request, response and facts in a line.
#[derive(Debug)]
pub struct Envelope {
    /// The path of the request's body; empty if the line is the body.
    pub body: Path,
    /// The paths of the response; they have precedence over the response columns.
    pub response: &'static [Path],
    /// The paths of facts; they have precedence over their columns.
    pub facts: &'static [(Fact, Path)],
}

/// A fact of a request that is a word, a number or a flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fact {
    /// Its id in the log.
    Id,
    /// When it was sent.
    Time,
    /// The model asked for.
    Model,
    /// The user or tenant.
    User,
    /// The app, team or trace that sent it.
    Assistant,
    /// The conversation it belongs to.
    Session,
    /// The HTTP status.
    Status,
    /// The function that the model has to call.
    ToolChoice,
    /// Whether the model may make several calls at once.
    ParallelCalls,
    /// Whether it may not (Anthropic).
    SerialCalls,
    /// Why the model stopped, if that is outside the response.
    FinishReason,
    /// A status word that can report a failure, in logs without an HTTP status.
    Failed,
    /// An error, of any content: the request failed.
    Error,
}

impl Columns {
    /// Returns the names of all columns.
    pub(crate) fn all(&self) -> impl Iterator<Item = &String> {
        self.functions.iter().chain(self.besides_functions())
    }

    /// Returns the names of the columns that hold something else than function docs.
    pub(crate) fn besides_functions(&self) -> impl Iterator<Item = &String> {
        let Self { functions: _, query, system, response, id, time, model, user, assistant, session, status } =
            self;
        [query, system, response, id, time, model, user, assistant, session, status].into_iter().flatten()
    }

    /// Returns the columns that may hold a fact.
    pub(super) fn of(&self, fact: Fact) -> &[String] {
        match fact {
            Fact::Id => &self.id,
            Fact::Time => &self.time,
            Fact::Model => &self.model,
            Fact::User => &self.user,
            Fact::Assistant => &self.assistant,
            Fact::Session => &self.session,
            Fact::Status => &self.status,
            Fact::ToolChoice
            | Fact::ParallelCalls
            | Fact::SerialCalls
            | Fact::FinishReason
            | Fact::Failed
            | Fact::Error => &[],
        }
    }
}

/// A format of request bodies.
#[derive(Debug)]
pub struct Body {
    /// Its name, which is stored with records.
    pub name: &'static str,
    /// The conditions besides messages and functions.
    pub signs: &'static [Sign],
    /// The paths of strings with JSON that is parsed first.
    pub opened: &'static [Path],
    /// The places of the messages; the first existing one is used.
    pub messages: &'static [FieldPlace],
    /// The places of the function docs; the first existing one is used.
    pub functions: &'static [FieldPlace],
    /// The paths of instructions; they have precedence over their columns.
    pub system: &'static [Path],
    /// The paths of the response; used after those of the envelope and before the response columns.
    pub response: &'static [Path],
    /// The paths of facts; they have precedence over their columns.
    pub facts: &'static [(Fact, Path)],
    /// The paths that exist if a part of the conversation is stored elsewhere.
    pub elsewhere: &'static [Path],
    /// The last message is the answer, if it is the assistant's and the log has no other answer.
    pub ends_with_answer: bool,
    /// The parser of the messages.
    pub read: fn(Value) -> Result<Vec<Message>, ItemFault>,
}

/// The place of messages or functions in a body.
#[derive(Debug, Clone, Copy)]
pub enum FieldPlace {
    /// At a path.
    At(Path),
    /// In the first existing query column.
    Query,
    /// In the first existing function column.
    Functions,
    /// At all values of a path with `*` for "each", concatenated.
    Each(Path),
    /// At all values of several such paths, concatenated in their order.
    EachOf(&'static [Path]),
    /// In an object whose keys are the names of the functions.
    Named(Path),
    /// In messages of the role `tool` that define a tool; the path leads to the messages.
    ToolMessages(Path),
}

/// A condition that a body of a log format must meet.
#[derive(Debug, Clone, Copy)]
pub enum Sign {
    /// The path exists and is not null.
    Has(Path),
    /// The path holds a list, or a string that is one.
    List(Path),
    /// The path holds a list, and one of its objects has the key.
    SomeHas(Path, &'static str),
    /// The path holds a list, and none of its objects has the key.
    NoneHas(Path, &'static str),
}

/// The log format of a line.
pub(super) type LogFormat = (&'static Envelope, &'static Body);

/// Returns the format of a line with the body of a request, as it was sent to an API.
pub(super) fn request_format_of(line: &mut Value, columns: &Columns) -> Option<LogFormat> {
    ENVELOPES.iter().find_map(|envelope| {
        let content = find_object(line, envelope.body)?;
        let body = BODIES.iter().find(|body| body.fits(content, columns))?;
        Some((envelope, body))
    })
}

/// Returns the format of a line of a trace. Its attributes are nested.
pub(super) fn trace_format_of(line: &mut Value, columns: &Columns) -> Option<LogFormat> {
    attributes::nest(line);
    span_events::gather(line);
    let body = TRACES.iter().find(|body| body.fits(line, columns))?;
    Some((&ENVELOPES[0], body))
}

impl Body {
    fn fits(&self, content: &mut Value, columns: &Columns) -> bool {
        for path in self.opened {
            open(content, path);
        }
        let is_there = |places: &[FieldPlace], content: &mut Value| {
            places.iter().any(|place| place.is_in(content, columns))
        };
        self.signs.iter().all(|sign| sign.holds(content))
            && is_there(self.messages, content)
            && is_there(self.functions, content)
    }
}

impl Sign {
    /// Returns `true` if a body meets the condition.
    fn holds(self, body: &mut Value) -> bool {
        match self {
            Self::Has(path) => find(body, path).is_some(),
            Self::List(path) => find(body, path).is_some_and(become_list),
            Self::SomeHas(path, key) => some_has(body, path, key) == Some(true),
            Self::NoneHas(path, key) => some_has(body, path, key) == Some(false),
        }
    }
}

/// Returns whether an object of a list has a key; `None` if there is no list.
fn some_has(body: &mut Value, path: Path, key: &str) -> Option<bool> {
    let list = find(body, path)?.as_array()?;
    Some(list.iter().any(|element| element.field(key).is_some()))
}

impl FieldPlace {
    /// Returns `true` if the place exists in a body.
    pub(super) fn is_in(self, body: &mut Value, columns: &Columns) -> bool {
        match self {
            Self::At(path) => find(body, path).is_some(),
            Self::Query => column_mut(body, &columns.query).is_some(),
            Self::Functions => column_mut(body, &columns.functions).is_some(),
            Self::Each(path) => !gather(body, path).is_empty(),
            Self::EachOf(paths) => paths.iter().any(|path| !gather(body, path).is_empty()),
            Self::Named(path) => find_object(body, path).is_some(),
            Self::ToolMessages(path) => find(body, path).is_some_and(|list| has_tool_messages(list)),
        }
    }

    /// Returns the key of the place if it is a value of the body itself.
    pub(super) fn name<'c>(self, body: &Value, columns: &'c Columns) -> Option<&'c str> {
        match self {
            Self::At(&[name]) => Some(name),
            Self::Functions => column_name(body, &columns.functions),
            _ => None,
        }
    }

    /// Takes the value of the place.
    pub(super) fn take(self, body: &mut Value, columns: &Columns) -> Option<Value> {
        let found = match self {
            Self::At(path) => find(body, path)?,
            Self::Query => column_mut(body, &columns.query)?,
            Self::Functions => column_mut(body, &columns.functions)?,
            Self::Each(path) => return tools::laid_end_to_end(taken(body, path)),
            Self::EachOf(paths) => {
                return tools::laid_end_to_end(paths.iter().flat_map(|path| taken(body, path)).collect());
            }
            Self::Named(path) => return tools::named(find_object(body, path)?.take()),
            Self::ToolMessages(path) => return tools::out_of_messages(find(body, path)?),
        };
        Some(found.take())
    }
}

/// Takes all values of a path.
fn taken(body: &mut Value, path: Path) -> Vec<Value> {
    gather(body, path).into_iter().map(Value::take).collect()
}

/// Returns the first of some columns that exists and is not null.
pub(super) fn column<'v>(object: &'v Value, names: &[String]) -> Option<&'v Value> {
    names.iter().find_map(|name| object.field(name).filter(|value| !value.is_null()))
}

/// Returns like [`column`] a mutable value.
pub(super) fn column_mut<'v>(object: &'v mut Value, names: &[String]) -> Option<&'v mut Value> {
    object.field_mut(column_name(object, names)?)
}

/// Returns the name of the column that [`column`] returns.
fn column_name<'c>(object: &Value, names: &'c [String]) -> Option<&'c str> {
    let exists = |name: &&str| object.field(name).is_some_and(|value| !value.is_null());
    names.iter().map(String::as_str).find(exists)
}

#[cfg(test)]
mod tests {
    use super::bodies::BODY_FACTS;
    use super::*;
    use crate::sent_docs::DOCS;

    /// `sent_docs` relies on this: what is below the keys of a function neither determines the format of a request nor
    /// is a part of it that is not docs.
    #[test]
    fn of_the_docs_of_a_request_only_the_keys_of_its_functions_are_read_elsewhere() {
        let is_docs = |path: Path| path.first().is_some_and(|key| DOCS.contains(key));
        let place = |place: &FieldPlace| match *place {
            FieldPlace::At(path) => Some(path),
            FieldPlace::Query | FieldPlace::Functions => None,
            other => panic!("{other:?}"),
        };
        let paths_of = |facts: &'static [(Fact, Path)]| facts.iter().map(|(_, path)| *path);
        for body in BODIES {
            let signs = body.signs.iter().map(|sign| match *sign {
                Sign::Has(path) | Sign::List(path) | Sign::SomeHas(path, _) | Sign::NoneHas(path, _) => path,
            });
            let docs = body.functions.iter().filter_map(place);
            for path in signs.chain(docs) {
                assert!(!is_docs(path) || path.len() == 1, "{path:?}");
            }
            let others = [body.opened, body.system, body.response, body.elsewhere];
            let others = others.into_iter().flatten().copied();
            for path in others.chain(body.messages.iter().filter_map(place)).chain(paths_of(body.facts)) {
                assert!(!is_docs(path), "{path:?}");
            }
        }
        for envelope in ENVELOPES {
            let of_content = envelope.response.iter().copied().chain(paths_of(envelope.facts));
            for path in of_content.chain([envelope.body]).chain(paths_of(BODY_FACTS)) {
                assert!(!is_docs(path), "{path:?}");
            }
        }
    }
}
