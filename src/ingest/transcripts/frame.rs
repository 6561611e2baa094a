//! The tool list that stands in instructions, and the prose that a framework put around it.
//!
//! The list is found between tags, or behind words that announce it, and is taken as the
//! text it is: reading it is the work of `docs`. Tags that are only mentioned hold no list.
//! The prose around it tells a model how to call in that framework's notation and names the
//! tools once more, so it is the framework's and not the application's: it goes with the
//! list. What the application said ahead of the frame or after it stays, word for word.

use std::ops::Range;

use super::tags::{Notation, first_from};

/// A list found in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ToolList {
    /// The list itself.
    list: Range<usize>,
    /// The list with its tags.
    tagged: Range<usize>,
    /// How calls are written in conversations of this frame.
    pub(super) notation: Notation,
}

impl ToolList {
    /// The list as it was written.
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

/// Words that announce a list without tags, and how calls are written after them.
const LEADS: &[(&str, Notation)] = &[
    ("Use them if required", Notation::Tagged),
    ("functions in JSON format that you can invoke", Notation::Bracketed),
];

/// The list a text holds: that of the first tags with one inside, else the one that is announced.
pub(crate) fn tool_list(text: &str) -> Option<ToolList> {
    TAGS.iter().find_map(|(open, close)| between(text, open, close)).or_else(|| announced(text))
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

fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let inside = &text[range.clone()];
    let start = range.start + (inside.len() - inside.trim_start().len());
    start..start + inside.trim().len()
}

/// Where the JSON values that a text starts with end; all of it where they are broken, for then nobody can tell.
fn values_end(text: &str) -> usize {
    let mut end = 0;
    while text[end..].trim_start().starts_with(['[', '{']) {
        let mut values =
            serde_json::Deserializer::from_str(&text[end..]).into_iter::<serde::de::IgnoredAny>();
        match values.next() {
            Some(Ok(_)) => end += values.byte_offset(),
            _ => return text.len(),
        }
        // Some lists of objects have commas and no brackets.
        end += text[end..].strip_prefix(',').map_or(0, |_| 1);
    }
    end
}

/// How the prose of known frames begins.
const OPENERS: &[&str] = &[
    "You are a function calling AI model",
    "You are a deep thinking AI",
    "You are a helpful assistant with access to the following",
    "You are an expert in composing functions",
    "You have access to the following",
    "You may call one or more functions",
    "# Tools",
];

/// What prose after the list speaks of while it still is the frame's.
const MENTIONS: &[&str] = &[
    "<tool_call>",
    "</tool_call>",
    "<tools>",
    "<functioncall>",
    "[TOOL_CALLS]",
    "function call",
    "FunctionCall",
    "MUST be included",
];

/// What is left of instructions without the list and its frame.
///
/// The frame begins where a known one does, else with the first sentence ahead of the list that speaks of calling,
/// else with the list; it ends with the last paragraph after the list that does.
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
