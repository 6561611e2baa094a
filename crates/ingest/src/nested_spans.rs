//! Finds spans that surround the spans of model calls.
//!
//! Frameworks record a whole run as one span around a span for each call of the model. Both may hold the same question,
//! but the outer one pairs it with the last answer of several calls. So a call is one request, and the span around it
//! is none.

use rustc_hash::FxHashMap;
use serde_json::Value;

use crate::fate::{Line, LineFate, Record, no_request};
use crate::path::{Path, at};
use crate::reasons::SURROUNDING_SPAN;
use callsieve_bfcl::conversation::Role;

/// The operations of the Vercel AI SDK that surround calls of a model; those of the calls end in `.doGenerate`.
const OPERATIONS: &[&str] = &["ai.generateText", "ai.streamText", "ai.generateObject", "ai.streamObject"];

/// The paths of the name of an operation.
const OPERATION: &[Path] =
    &[&["attributes", "ai", "operationId"], &["attributes", "operation", "name"], &["name"]];

/// The attributes with which pydantic-ai records all messages of a run.
const RUNS: &[Path] =
    &[&["attributes", "all_messages_events"], &["attributes", "pydantic_ai", "all_messages"]];

/// The paths of a span's id, and of the id of the span around it.
const IDS: &[Path] = &[&["spanId"], &["span_id"], &["context", "span_id"], &["id"]];
const PARENTS: &[Path] = &[
    &["parentSpanId"],
    &["parent_span_id"],
    &["parentId"],
    &["parent_id"],
    &["parentObservationId"],
    &["parent_observation_id"],
    &["parent_run_id"],
];

/// The maximum number of spans around a span that are looked at.
const MAX_LEVELS: usize = 64;

/// Describes a span without a request of its own that surrounds calls of a model.
pub(super) fn surrounding(line: &Value) -> Option<String> {
    let is_of_sdk = at(line, &["attributes", "ai"]).is_some();
    let mut names = OPERATION.iter().filter_map(|path| at(line, path)?.as_str()?.split(' ').next());
    if let Some(name) = names.find(|name| OPERATIONS.contains(name)).filter(|_| is_of_sdk) {
        let inner = if name.starts_with("ai.stream") { "doStream" } else { "doGenerate" };
        return Some(format!("the span {name} surrounds the spans of its calls, {name}.{inner}"));
    }
    let run = RUNS.iter().find(|path| at(line, path).is_some())?;
    Some(format!("the span of a whole run, with {}", run[1..].join(".")))
}

/// The place of a span among others.
#[derive(Debug, Default)]
pub(super) struct Place {
    id: Option<String>,
    parent: Option<String>,
}

impl Place {
    /// Returns the place of a span, a run or an observation.
    pub(super) fn of(span: &Value) -> Self {
        let word = |paths: &[Path]| {
            let mut found = paths.iter().filter_map(|path| at(span, path)?.as_str());
            found.find(|word| !word.is_empty()).map(str::to_owned)
        };
        Self { id: word(IDS), parent: word(PARENTS) }
    }
}

/// Marks the requests of a line that surround another one with the same question; `places` are those of the lines.
pub(super) fn mark(places: &[Place], lines: &mut [Line]) {
    let ids: FxHashMap<&str, usize> =
        places.iter().enumerate().filter_map(|(at, place)| Some((place.id.as_deref()?, at))).collect();
    let around = |at: usize| places[at].parent.as_deref().and_then(|parent| ids.get(parent).copied());
    let mut surrounding = Vec::new();
    for (inner, line) in lines.iter().enumerate() {
        let LineFate::Record(request) = &line.fate else { continue };
        let outer: Vec<usize> =
            std::iter::successors(around(inner), |at| around(*at)).take(MAX_LEVELS).collect();
        // Of spans in a circle none is around the others.
        if !outer.contains(&inner) {
            surrounding.extend(outer.into_iter().filter(|at| asks_the_same(&lines[*at].fate, request)));
        }
    }
    for at in surrounding {
        let detail = "the span of a call inside it holds the request";
        lines[at].fate = no_request(SURROUNDING_SPAN, detail);
    }
}

/// Returns `true` if a request ends in a question that another one holds too.
fn asks_the_same(outer: &LineFate, inner: &Record) -> bool {
    let LineFate::Record(outer) = outer else { return false };
    let is_users = |message: &&callsieve_bfcl::conversation::Message| message.role == Role::User;
    let asked = outer.messages.iter().rfind(is_users);
    asked.is_some_and(|asked| {
        inner.messages.iter().filter(is_users).any(|message| message.content == asked.content)
    })
}
