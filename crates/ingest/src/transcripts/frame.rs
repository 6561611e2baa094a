//! Extracts the tool list from instructions, together with the prose that a framework wrote around it.
//!
//! The list is between tags, after words that announce it, or stands alone as JSON of function docs, and keeps its text:
//! `docs` parses it. Tags that are only mentioned hold no list. The prose around the list explains the framework's notation of calls and repeats the tools.
//! It belongs to the framework, not to the application, and is removed with the list. The application's text before and
//! after this frame stays, word for word.

use std::ops::Range;

use serde_json::Value;

use super::tags::{Notation, first_from};

/// A list found in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ToolList {
    /// The list itself.
    list: Range<usize>,
    /// The list with its tags.
    tagged: Range<usize>,
    /// The notation of calls in conversations of this frame.
    pub(super) notation: Notation,
}

impl ToolList {
    /// Returns the list as it was written.
    pub(crate) fn text<'t>(&self, text: &'t str) -> &'t str {
        &text[self.list.clone()]
    }
}

const TAGS: &[(&str, &str)] = &[
    ("<tools>", "</tools>"),
    ("[TOOL_LIST]", "[/TOOL_LIST]"),
    ("[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]"),
    ("<functions>", "</functions>"),
];

/// Words that announce a list without tags, and the notation of calls after them.
const LEADS: &[(&str, Notation)] = &[
    ("Use them if required", Notation::Tagged),
    ("functions in JSON format that you can invoke", Notation::Bracketed),
];

/// Returns the list in a text: that of the first tags with a list inside, else the announced one, else the first JSON value
/// that can only be a list of function docs.
pub(crate) fn tool_list(text: &str) -> Option<ToolList> {
    let tagged = TAGS.iter().find_map(|(open, close)| between(text, open, close));
    tagged.or_else(|| announced(text)).or_else(|| unannounced(text))
}

fn between(text: &str, open: &str, close: &str) -> Option<ToolList> {
    let closes: Vec<usize> = text.match_indices(close).map(|(at, _)| at).collect();
    text.match_indices(open).find_map(|(at, _)| {
        let start = at + open.len();
        let end = first_from(&closes, start).unwrap_or(text.len());
        let list = trimmed(text, start..end);
        let tagged = at..text.len().min(end + close.len());
        text[list.clone()].starts_with(['[', '{']).then_some(ToolList {
            list,
            tagged,
            notation: Notation::Tagged,
        })
    })
}

fn announced(text: &str) -> Option<ToolList> {
    LEADS.iter().find_map(|&(lead, notation)| {
        let behind = text.find(lead)? + lead.len();
        let start = behind + text[behind..].find(['[', '{'])?;
        let list = trimmed(text, start..start + values_end(&text[start..]));
        Some(ToolList { tagged: list.clone(), list, notation })
    })
}

/// Finds function docs as JSON on a line of their own, or after a colon.
fn unannounced(text: &str) -> Option<ToolList> {
    let mut done = 0;
    text.match_indices(['[', '{']).find_map(|(start, _)| {
        let ahead = text[..start].trim_end_matches([' ', '\t']);
        let may_start = ahead.is_empty() || ahead.ends_with(['\n', ':', '`']);
        if start < done || !may_start {
            return None;
        }
        let (end, are_docs) = docs_end(&text[start..]);
        // What was read once is not read again from its middle.
        done = start + end;
        let list = trimmed(text, start..start + end);
        are_docs.then_some(ToolList { tagged: list.clone(), list, notation: Notation::Bracketed })
    })
}

/// Returns the end of the JSON values at the start of a text, and whether all of them are function docs.
fn docs_end(text: &str) -> (usize, bool) {
    let (mut end, mut are_docs) = (0, false);
    while text[end..].trim_start().starts_with(['[', '{']) {
        let mut values = serde_json::Deserializer::from_str(&text[end..]).into_iter::<Value>();
        let Some(Ok(value)) = values.next() else { break };
        if !is_docs(&value) {
            // The first value decides whether this is a list; another one after it is not part of it.
            return if are_docs { (end, true) } else { (end + values.byte_offset(), false) };
        }
        are_docs = true;
        end += values.byte_offset();
        end += text[end..].strip_prefix(',').map_or(0, |_| 1);
    }
    (end, are_docs)
}

/// Whether a value is a function doc or a list of them: objects with a name and parameters, bare or under `function`.
pub(crate) fn is_docs(value: &Value) -> bool {
    let is_doc = |value: &Value| {
        let doc = value.get("function").unwrap_or(value);
        let has_schema = PARAMETERS.iter().any(|key| doc.get(key).is_some_and(Value::is_object));
        doc.get("name").is_some_and(Value::is_string) && has_schema
    };
    match value {
        Value::Array(list) => !list.is_empty() && list.iter().all(is_doc),
        other => is_doc(other),
    }
}

/// The keys of the schema of a function's parameters.
const PARAMETERS: &[&str] = &["parameters", "input_schema", "inputSchema"];

fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let inside = &text[range.clone()];
    let start = range.start + (inside.len() - inside.trim_start().len());
    start..start + inside.trim().len()
}

/// Returns the end of the JSON values at the start of a text; the end of the text if they are invalid.
fn values_end(text: &str) -> usize {
    let mut end = 0;
    while text[end..].trim_start().starts_with(['[', '{']) {
        let mut values =
            serde_json::Deserializer::from_str(&text[end..]).into_iter::<serde::de::IgnoredAny>();
        match values.next() {
            Some(Ok(_)) => end += values.byte_offset(),
            _ => return text.len(),
        }
        // Some lists of objects have commas but no brackets.
        end += text[end..].strip_prefix(',').map_or(0, |_| 1);
    }
    end
}

/// The beginnings of known frames.
const OPENERS: &[&str] = &[
    "You are a function calling AI model",
    "You are a deep thinking AI",
    "You are a helpful assistant with access to the following",
    "You are an expert in composing functions",
    "You have access to the following",
    "You have access to these",
    "You may call one or more functions",
    "# Tools",
];

/// The words of paragraphs after the list that still belong to the frame.
const MENTIONS: &[&str] = &[
    "<tool_call>",
    "</tool_call>",
    "<tools>",
    "<functioncall>",
    "[TOOL_CALLS]",
    "function call",
    "FunctionCall",
    "[func(",
    "[func_name",
    "MUST be included",
];

/// Returns instructions without the list and its frame.
///
/// The frame begins with a known beginning, else with the first sentence before the list that is about calls, else with
/// the list. It ends with the last paragraph after the list that is about calls.
pub(super) fn without_frame(text: &str, found: &ToolList) -> String {
    let (ahead, behind) = (&text[..found.tagged.start], &text[found.tagged.end..]);
    let opener = OPENERS.iter().filter_map(|opener| ahead.find(opener)).min();
    let mention = MENTIONS.iter().filter_map(|mention| ahead.find(mention)).min();
    let start = opener.or_else(|| mention.map(|at| sentence_start(ahead, at))).unwrap_or(ahead.len());
    let last = MENTIONS.iter().filter_map(|mention| behind.rfind(mention)).max();
    let end_of_frame = |last: usize| behind[last..].find("\n\n").map_or(behind.len(), |length| last + length);
    let kept = [&ahead[..start], &behind[last.map_or(0, end_of_frame)..]].map(str::trim);
    kept.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n")
}

fn sentence_start(text: &str, at: usize) -> usize {
    let ends = [". ", "\n"].iter().filter_map(|end| Some(text[..at].rfind(end)? + end.len()));
    ends.max().unwrap_or(0)
}
