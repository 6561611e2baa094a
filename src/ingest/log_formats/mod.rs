//! The tables: where logs put a request, and what a request looks like.
//!
//! An *envelope* is where the body of a request stands in a line and which paths of
//! its own lead to the response and the facts; a *body* is the API or the tool it was
//! written by. Every envelope is tried with every body, in the order of the tables, and
//! the first pair whose signs all hold is the line's log format. `traces` are bodies of
//! observability tools: they are tried last, on the whole line, once its attributes are
//! nested. Names of columns come from the pipeline; a new log format is a new entry, not a branch.

pub mod bodies;
pub mod envelopes;
pub(crate) mod names;
pub mod traces;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::conversation::Message;
use crate::ingest::attributes;
use crate::ingest::path::{Path, become_list, find, find_object, gather, open};
use crate::ingest::reasons::Fault;
use crate::ingest::tools::{self, has_tool_messages};
use bodies::BODIES;
use envelopes::ENVELOPES;
use traces::TRACES;

/// Names of columns, the likeliest first: of several that are there, the first that is not null counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Columns {
    /// What was asked: text, or a list of messages, be it written as JSON or as Python.
    pub query: Vec<String>,
    /// The function docs, as a string or as JSON.
    pub functions: Vec<String>,
    /// Instructions that stand beside the messages.
    pub system: Vec<String>,
    /// What the model answered.
    pub response: Vec<String>,
    /// The request's id in the log.
    pub id: Vec<String>,
    /// When it came.
    pub time: Vec<String>,
    /// The model asked for.
    pub model: Vec<String>,
    /// The user or tenant.
    pub user: Vec<String>,
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
            session: names(&["session", "session_id", "conversation_id", "thread_id"]),
            status: names(&["status", "status_code", "http_status"]),
        }
    }
}

/// Where a line keeps its request, its response and its facts.
#[derive(Debug)]
pub struct Envelope {
    /// Where the request's body stands; empty where the line is the body.
    pub body: Path,
    /// Where the response stands, ahead of the response columns.
    pub response: &'static [Path],
    /// Where facts stand, ahead of their columns.
    pub facts: &'static [(Fact, Path)],
}

/// A fact of a request that is a word, a number or a flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fact {
    /// Its id in the log.
    Id,
    /// When it came.
    Time,
    /// The model asked for.
    Model,
    /// The user or tenant.
    User,
    /// The conversation it belongs to.
    Session,
    /// The HTTP status.
    Status,
    /// Which function the model has to call.
    ToolChoice,
    /// Whether the model may make several calls at once.
    ParallelCalls,
    /// Whether it may not (Anthropic).
    SerialCalls,
    /// Why the model stopped, where that stands outside the response.
    FinishReason,
    /// A word that says that the request failed, where no HTTP status does.
    Failed,
    /// An error: the request failed, whatever it says.
    Error,
}

impl Columns {
    /// The names of all columns, by what they hold.
    pub(crate) fn all(&self) -> [&[String]; 10] {
        let Self { query, functions, system, response, id, time, model, user, session, status } = self;
        [query, functions, system, response, id, time, model, user, session, status]
    }

    /// The columns that may hold a fact.
    pub(super) fn of(&self, fact: Fact) -> &[String] {
        match fact {
            Fact::Id => &self.id,
            Fact::Time => &self.time,
            Fact::Model => &self.model,
            Fact::User => &self.user,
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

/// What a request looks like.
#[derive(Debug)]
pub struct Body {
    /// Its name: records carry it.
    pub name: &'static str,
    /// What must be there besides messages and functions.
    pub signs: &'static [Sign],
    /// Strings that hold JSON which is looked into before anything else.
    pub opened: &'static [Path],
    /// Where the messages may stand: the first place that is there counts.
    pub messages: &'static [Place],
    /// Where the function docs may stand: the first place that is there counts.
    pub functions: &'static [Place],
    /// Where instructions may stand, ahead of their columns.
    pub system: &'static [Path],
    /// Where the response may stand, after the envelope's places and ahead of the response columns.
    pub response: &'static [Path],
    /// Where facts stand, ahead of their columns.
    pub facts: &'static [(Fact, Path)],
    /// What is there when a part of the conversation is not.
    pub elsewhere: &'static [Path],
    /// A last message of the assistant's is the answer, where the log has no other.
    pub ends_with_answer: bool,
    /// Reads the messages.
    pub read: fn(Value) -> Result<Vec<Message>, Fault>,
}

/// Where something stands in a body.
#[derive(Debug, Clone, Copy)]
pub enum Place {
    /// At a path.
    At(Path),
    /// In the first query column that is there.
    Query,
    /// In the first function column that is there.
    Functions,
    /// At all places that a path with `*` for "each" leads to, laid end to end.
    Each(Path),
    /// In an object whose keys are the functions' names.
    Named(Path),
    /// In messages of the role `tool` that define a tool; the path leads to the messages.
    ToolMessages(Path),
}

/// Something that must hold for a body to be of a log format.
#[derive(Debug, Clone, Copy)]
pub enum Sign {
    /// The path is there and not null.
    Has(Path),
    /// The path holds a list, or a string that is one.
    List(Path),
    /// The path holds a list, and one of its objects has the key.
    SomeHas(Path, &'static str),
    /// The path holds a list, and none of its objects has the key.
    NoneHas(Path, &'static str),
}

/// The log format of a line, if it has one. A line of no common log format gets its attributes nested, if it has some.
pub(super) fn log_format_of(
    line: &mut Value,
    columns: &Columns,
) -> Option<(&'static Envelope, &'static Body)> {
    let common = ENVELOPES.iter().find_map(|envelope| {
        let content = find_object(line, envelope.body)?;
        let body = BODIES.iter().find(|body| body.fits(content, columns))?;
        Some((envelope, body))
    });
    common.or_else(|| {
        attributes::nest(line);
        let body = TRACES.iter().find(|body| body.fits(line, columns))?;
        Some((&ENVELOPES[0], body))
    })
}

impl Body {
    fn fits(&self, content: &mut Value, columns: &Columns) -> bool {
        for path in self.opened {
            open(content, path);
        }
        let is_there =
            |places: &[Place], content: &mut Value| places.iter().any(|place| place.is_in(content, columns));
        self.signs.iter().all(|sign| sign.holds(content))
            && is_there(self.messages, content)
            && is_there(self.functions, content)
    }
}

impl Sign {
    /// Whether the sign holds for a body.
    fn holds(self, body: &mut Value) -> bool {
        match self {
            Self::Has(path) => find(body, path).is_some(),
            Self::List(path) => find(body, path).is_some_and(become_list),
            Self::SomeHas(path, key) => some_has(body, path, key) == Some(true),
            Self::NoneHas(path, key) => some_has(body, path, key) == Some(false),
        }
    }
}

/// Whether an object of a list has a key; `None` where there is no list.
fn some_has(body: &mut Value, path: Path, key: &str) -> Option<bool> {
    let list = find(body, path)?.as_array()?;
    Some(list.iter().any(|element| element.get(key).is_some()))
}

impl Place {
    /// Whether something stands there.
    pub(super) fn is_in(self, body: &mut Value, columns: &Columns) -> bool {
        match self {
            Self::At(path) => find(body, path).is_some(),
            Self::Query => column_mut(body, &columns.query).is_some(),
            Self::Functions => column_mut(body, &columns.functions).is_some(),
            Self::Each(path) => !gather(body, path).is_empty(),
            Self::Named(path) => find_object(body, path).is_some(),
            Self::ToolMessages(path) => find(body, path).is_some_and(|list| has_tool_messages(list)),
        }
    }

    /// Takes what stands there.
    pub(super) fn take(self, body: &mut Value, columns: &Columns) -> Option<Value> {
        let found = match self {
            Self::At(path) => find(body, path)?,
            Self::Query => column_mut(body, &columns.query)?,
            Self::Functions => column_mut(body, &columns.functions)?,
            Self::Each(path) => return tools::laid_end_to_end(gather(body, path)),
            Self::Named(path) => return tools::named(find_object(body, path)?.take()),
            Self::ToolMessages(path) => return tools::out_of_messages(find(body, path)?),
        };
        Some(found.take())
    }
}

/// The first of some columns that is there and not null.
pub(super) fn column<'v>(object: &'v Value, names: &[String]) -> Option<&'v Value> {
    names.iter().find_map(|name| object.get(name).filter(|value| !value.is_null()))
}

/// The same, to be taken out or changed.
pub(super) fn column_mut<'v>(object: &'v mut Value, names: &[String]) -> Option<&'v mut Value> {
    let name = names.iter().find(|name| object.get(name).is_some_and(|value| !value.is_null()))?;
    object.get_mut(name)
}
