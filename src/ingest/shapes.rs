//! The tables: where logs put a request, and what a request looks like.
//!
//! An *envelope* is where the body of a request stands in a line and which paths of
//! its own lead to the response and the facts; a *body* is the API the request was
//! written for. Every envelope is tried with every body, in the order of the tables,
//! and the first pair whose signs all hold is the line's shape. Names of columns
//! come from the pipeline; a new shape is a new entry, not a branch.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::conversation::Message;
use crate::ingest::messages::{read_contents, read_messages, read_query};
use crate::ingest::path::{Path, become_list, find, find_object};
use crate::ingest::reasons::Fault;

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

/// A fact of a request that is a word or a number.
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
}

impl Columns {
    /// The columns that may hold a fact.
    pub(super) fn of(&self, fact: Fact) -> &[String] {
        match fact {
            Fact::Id => &self.id,
            Fact::Time => &self.time,
            Fact::Model => &self.model,
            Fact::User => &self.user,
            Fact::Session => &self.session,
            Fact::Status => &self.status,
        }
    }
}

/// The envelopes, in the order they are tried.
pub const ENVELOPES: &[Envelope] = &[
    Envelope { body: &[], response: &[], facts: &[] },
    Envelope {
        body: &["request", "body"],
        response: &[&["response", "body"]],
        facts: &[(Fact::Status, &["response", "status_code"]), (Fact::Status, &["response", "status"])],
    },
    Envelope {
        body: &["request"],
        response: &[&["response", "body"]],
        facts: &[(Fact::Status, &["response", "status_code"])],
    },
    // Batch input, and gateways that log HTTP as it was.
    Envelope {
        body: &["body"],
        response: &[&["response", "body"]],
        facts: &[(Fact::Id, &["custom_id"]), (Fact::Status, &["response", "status_code"])],
    },
    // Anthropic batch input.
    Envelope { body: &["params"], response: &[], facts: &[(Fact::Id, &["custom_id"])] },
    // Helicone.
    Envelope {
        body: &["request_body"],
        response: &[&["response_body"]],
        facts: &[
            (Fact::Time, &["request_created_at"]),
            (Fact::User, &["request_user_id"]),
            (Fact::Status, &["response_status"]),
        ],
    },
    // LiteLLM spend logs.
    Envelope {
        body: &["proxy_server_request"],
        response: &[],
        facts: &[(Fact::Id, &["request_id"]), (Fact::Time, &["startTime"])],
    },
];

/// Facts that stand in a request's body, whatever the API, where the envelope has none.
pub const BODY_FACTS: &[(Fact, Path)] = &[
    (Fact::Model, &["model"]),
    (Fact::User, &["user"]),
    (Fact::User, &["metadata", "user_id"]),
    (Fact::Session, &["metadata", "session_id"]),
    (Fact::Session, &["conversation_id"]),
];

/// Where a body says which function the model has to call.
pub const TOOL_CHOICE: &[Path] = &[
    &["tool_choice"],
    &["function_call"],
    &["toolConfig", "functionCallingConfig", "mode"],
    &["tool_config", "function_calling_config", "mode"],
];

/// Where a body says whether the model may make several calls at once.
pub const PARALLEL_TOOL_CALLS: Path = &["parallel_tool_calls"];

/// Where a body says that the model may not (Anthropic).
pub const SERIAL_TOOL_CALLS: Path = &["tool_choice", "disable_parallel_tool_use"];

/// What a request looks like.
#[derive(Debug)]
pub struct Body {
    /// Its name: records carry it.
    pub name: &'static str,
    /// What must be there.
    pub signs: &'static [Sign],
    /// Where the messages stand.
    pub messages: Place,
    /// Where the function docs stand.
    pub functions: Place,
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
}

/// Something that must hold for a body to be of a shape.
#[derive(Debug, Clone, Copy)]
pub enum Sign {
    /// The place is there and not null.
    Has(Place),
    /// The place holds a list, or a string that is one.
    List(Place),
    /// The path holds a list, and one of its objects has the key.
    SomeHas(Path, &'static str),
}

/// The bodies, in the order they are tried.
pub const BODIES: &[Body] = &[
    Body {
        name: "anthropic-messages",
        signs: &[Sign::List(MESSAGES), Sign::SomeHas(&["tools"], "input_schema")],
        messages: MESSAGES,
        functions: Place::At(&["tools"]),
        read: read_messages,
    },
    Body {
        name: "openai-chat",
        signs: &[Sign::List(MESSAGES), Sign::Has(Place::At(&["tools"]))],
        messages: MESSAGES,
        functions: Place::At(&["tools"]),
        read: read_messages,
    },
    Body {
        name: "openai-functions",
        signs: &[Sign::List(MESSAGES), Sign::Has(Place::At(&["functions"]))],
        messages: MESSAGES,
        functions: Place::At(&["functions"]),
        read: read_messages,
    },
    Body {
        name: "gemini-contents",
        signs: &[Sign::List(CONTENTS), Sign::Has(Place::At(&["tools"]))],
        messages: CONTENTS,
        functions: Place::At(&["tools"]),
        read: read_contents,
    },
    Body {
        name: "query-functions",
        signs: &[Sign::Has(Place::Query), Sign::Has(Place::Functions)],
        messages: Place::Query,
        functions: Place::Functions,
        read: read_query,
    },
];

const MESSAGES: Place = Place::At(&["messages"]);
const CONTENTS: Place = Place::At(&["contents"]);

/// The shape of a line, if it has one.
pub(super) fn shape_of(line: &mut Value, columns: &Columns) -> Option<(&'static Envelope, &'static Body)> {
    ENVELOPES.iter().find_map(|envelope| {
        let content = find_object(line, envelope.body)?;
        let body = BODIES.iter().find(|body| body.signs.iter().all(|sign| sign.holds(content, columns)))?;
        Some((envelope, body))
    })
}

impl Sign {
    /// Whether the sign holds for a body.
    pub(super) fn holds(self, body: &mut Value, columns: &Columns) -> bool {
        match self {
            Self::Has(place) => place.find(body, columns).is_some(),
            Self::List(place) => place.find(body, columns).is_some_and(become_list),
            Self::SomeHas(path, key) => find(body, path)
                .and_then(|found| found.as_array())
                .is_some_and(|list| list.iter().any(|element| element.get(key).is_some())),
        }
    }
}

impl Place {
    /// What stands there.
    pub(super) fn find<'v>(self, body: &'v mut Value, columns: &Columns) -> Option<&'v mut Value> {
        match self {
            Self::At(path) => find(body, path),
            Self::Query => column_mut(body, &columns.query),
            Self::Functions => column_mut(body, &columns.functions),
        }
    }
}

/// The first of some columns that is there and not null.
pub(super) fn column<'v>(object: &'v Value, names: &[String]) -> Option<&'v Value> {
    names.iter().find_map(|name| object.get(name).filter(|value| !value.is_null()))
}

/// The first of some columns that is there and not null.
pub(super) fn column_mut<'v>(object: &'v mut Value, names: &[String]) -> Option<&'v mut Value> {
    let name = names.iter().find(|name| object.get(name).is_some_and(|value| !value.is_null()))?;
    object.get_mut(name)
}
