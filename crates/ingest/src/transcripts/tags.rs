//! Reads calls and results in the text of a turn.
//!
//! A call is an object with a name and arguments between tags, or in `ToolACE`'s notation a list of Python-like calls
//! that is the whole text. Objects are parsed as JSON, then in Python syntax, then in Glaive's: arguments in single
//! quotes with unescaped apostrophes. The text outside the tags is the message. A tag without a readable call is a
//! fault: a turn with calls must not be mistaken for one without.

use serde_json::Value;

use crate::messages::calls::{as_kept, read_call};
use crate::reasons::{BAD_MESSAGE, ItemFault};
use callsieve_bfcl::conversation::{Call, Message, Role};
use callsieve_notation::python;

/// The notation of calls in a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Notation {
    /// Between tags.
    Tagged,
    /// `[f(a=1), g()]` as the whole text; tags count as well.
    Bracketed,
}

/// Tags around calls. Without a closing tag, the call ends with the text.
const CALLS: &[(&str, &str)] = &[
    ("<tool_call>", "</tool_call>"),
    ("<functioncall>", "<|endoftext|>"),
    ("<function_call>", "</function_call>"),
    ("[TOOL_CALLS]", "[/TOOL_CALLS]"),
];

/// Tags around results.
const RESULTS: &[(&str, &str)] = &[
    ("<tool_response>", "</tool_response>"),
    ("<function_response>", "</function_response>"),
    ("[TOOL_RESULTS]", "[/TOOL_RESULTS]"),
];

/// Reads the calls in the text of a message of the model.
pub(super) fn assistant(message: Message, notation: Notation) -> Result<Message, ItemFault> {
    if notation == Notation::Bracketed && is_bracketed(&message.content) {
        let calls = bracketed(message.content.trim())?;
        return Ok(Message { content: String::new(), calls, ..message });
    }
    let Some(pieces) = pieces(&message.content, CALLS) else { return Ok(message) };
    let mut read = Message { content: String::new(), ..message };
    let mut texts = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Text(text) => texts.push(text.trim()),
            Piece::Tagged(inside) => read.calls.extend(calls_of(Value::String(inside.to_owned()))?),
        }
    }
    texts.retain(|text| !text.is_empty());
    read.content = texts.join("\n");
    Ok(read)
}

/// Splits a message of results into one message per result; any other message is returned unchanged.
pub(super) fn results(message: Message) -> Vec<Message> {
    let Some(pieces) = pieces(&message.content, RESULTS) else { return vec![message] };
    let is_blank = |piece: &Piece<'_>| matches!(piece, Piece::Text(text) if text.trim().is_empty());
    let pieces: Vec<Piece<'_>> = pieces.into_iter().filter(|piece| !is_blank(piece)).collect();
    if pieces.iter().any(|piece| matches!(piece, Piece::Text(_))) {
        return vec![message];
    }
    let result = |piece: &Piece<'_>| match piece {
        Piece::Text(text) | Piece::Tagged(text) => Message::text(Role::Tool, text.trim()),
    };
    match &pieces[..] {
        [one] => vec![Message { call_id: message.call_id.clone(), ..result(one) }],
        several => several.iter().map(result).collect(),
    }
}

/// Reads a turn of calls: an object, a list of objects, or a text that holds either, with or without tags.
pub(super) fn calling(value: Value) -> Result<Message, ItemFault> {
    match value {
        Value::String(text) if pieces(&text, CALLS).is_some() => {
            assistant(Message::text(Role::Assistant, text), Notation::Tagged)
        }
        other => Ok(Message { calls: calls_of(other)?, ..Message::text(Role::Assistant, "") }),
    }
}

fn calls_of(value: Value) -> Result<Vec<Call>, ItemFault> {
    match value {
        Value::Array(list) => list.into_iter().map(call).collect(),
        Value::Object(_) => Ok(vec![call(value)?]),
        Value::String(text) => calls_of_text(&text),
        _ => Err(ItemFault::new(BAD_MESSAGE, "a call that is neither an object nor a list")),
    }
}

fn calls_of_text(text: &str) -> Result<Vec<Call>, ItemFault> {
    let text = text.trim().trim_end_matches(END_OF_TEXT).trim();
    match object_or_list(text) {
        Some(value) => calls_of(value),
        None => Err(ItemFault::new(BAD_MESSAGE, "a call that cannot be read")),
    }
}

/// Tokens that end a turn in the texts of some tokenizers.
pub(super) const END_OF_TEXT: &str = "<|endoftext|>";

fn object_or_list(text: &str) -> Option<Value> {
    let is_made_of = |value: &Value| value.is_object() || value.is_array();
    serde_json::from_str(text)
        .ok()
        .or_else(|| several(text))
        .or_else(|| quoted_arguments(text, |inner| serde_json::from_str(inner).ok().filter(Value::is_object)))
        .or_else(|| python::literal(text).ok())
        .or_else(|| quoted_arguments(text, |inner| Some(inner.into())))
        .filter(is_made_of)
}

/// Reads consecutive objects, since models write several calls into one tag.
fn several(text: &str) -> Option<Value> {
    let values: Result<Vec<Value>, _> = serde_json::Deserializer::from_str(text).into_iter().collect();
    values.ok().filter(|values| values.len() > 1 && values.iter().all(Value::is_object)).map(Value::Array)
}

/// Reads Glaive's call: JSON whose arguments are JSON in single quotes, with apostrophes that are not escaped, or
/// escaped in a way that JSON does not have.
fn quoted_arguments(text: &str, read: impl Fn(&str) -> Option<Value>) -> Option<Value> {
    const KEY: &str = "\"arguments\"";
    let behind = text.find(KEY)? + KEY.len();
    let open = behind + text[behind..].find('\'')?;
    let inner = text.get(open + 1..text.rfind('\'')?)?;
    let after = &text[open + 1 + inner.len() + 1..];
    let mut call: Value = serde_json::from_str(&format!("{}null{after}", &text[..open])).ok()?;
    *call.get_mut("arguments")? = read(inner).or_else(|| read(&inner.replace("\\'", "'")))?;
    Some(call)
}

/// The keys of arguments that occur only in texts.
const ARGUMENTS: &str = "parameters";

fn call(mut value: Value) -> Result<Call, ItemFault> {
    if let Some(fields) = value.as_object_mut()
        && !fields.contains_key("arguments")
        && let Some(arguments) = fields.remove(ARGUMENTS)
    {
        fields.insert("arguments".to_owned(), arguments);
    }
    read_call(value)
}

/// A text, split at its tags.
enum Piece<'t> {
    Text(&'t str),
    Tagged(&'t str),
}

/// Returns the text outside tags and the contents of tags, in order; `None` if there is no tag.
fn pieces<'t>(text: &'t str, tags: &[(&str, &str)]) -> Option<Vec<Piece<'t>>> {
    let all = |tag: &str| text.match_indices(tag).map(|(at, _)| at).collect::<Vec<usize>>();
    // Each kind of tag is searched once, so that a text with many tags is scanned once.
    let places: Vec<(Vec<usize>, Vec<usize>)> =
        tags.iter().map(|(open, close)| (all(open), all(close))).collect();
    let mut opens: Vec<(usize, usize)> = Vec::new();
    for (kind, (here, _)) in places.iter().enumerate() {
        opens.extend(here.iter().map(|&at| (at, kind)));
    }
    opens.sort_unstable();
    opens.first()?;
    let (mut found, mut from) = (Vec::new(), 0);
    for (at, kind) in opens {
        if at < from {
            continue;
        }
        found.push(Piece::Text(&text[from..at]));
        let (start, closing) = (at + tags[kind].0.len(), tags[kind].1.len());
        let close = first_from(&places[kind].1, start);
        let end = close.unwrap_or(text.len());
        // An unclosed tag ends where the next one of its kind begins.
        let again = first_from(&places[kind].0, start).filter(|&next| next < end);
        found.push(Piece::Tagged(&text[start..again.unwrap_or(end)]));
        from = again.unwrap_or_else(|| close.map_or(text.len(), |close| close + closing));
    }
    found.push(Piece::Text(&text[from..]));
    Some(found)
}

/// Returns the first of some ascending positions that is not before `from`.
pub(super) fn first_from(places: &[usize], from: usize) -> Option<usize> {
    places.get(places.partition_point(|&place| place < from)).copied()
}

fn is_bracketed(text: &str) -> bool {
    let text = text.trim();
    text.starts_with('[') && text.ends_with(")]")
}

/// Reads `[f(a=1), g()]`; names may contain spaces, like those of API catalogues.
fn bracketed(text: &str) -> Result<Vec<Call>, ItemFault> {
    let unreadable = || ItemFault::new(BAD_MESSAGE, "a list of calls that cannot be read");
    let mut rest = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).ok_or_else(unreadable)?;
    let mut calls = Vec::new();
    loop {
        let open = rest.find('(').ok_or_else(unreadable)?;
        let close = open + closing(&rest[open..]).ok_or_else(unreadable)?;
        let name = rest[..open].trim();
        let read = python::calls(&format!("f{}", &rest[open..=close])).map_err(|_| unreadable())?;
        let [read] = <[_; 1]>::try_from(read).map_err(|_| unreadable())?;
        if name.is_empty() || name.contains(['[', ']', ',', '\'', '"', '=']) {
            return Err(unreadable());
        }
        calls.push(Call { id: None, name: name.to_owned(), arguments: as_kept(read.arguments.into()) });
        rest = rest[close + 1..].trim_start();
        match rest.strip_prefix(',') {
            Some(more) => rest = more,
            None if rest.is_empty() => return Ok(calls),
            None => return Err(unreadable()),
        }
    }
}

/// Returns the position of the bracket that closes the first one; brackets inside quotes do not count.
fn closing(text: &str) -> Option<usize> {
    let (mut depth, mut quote, mut escaped) = (0_usize, None, false);
    for (at, byte) in text.bytes().enumerate() {
        match (quote, byte) {
            _ if escaped => escaped = false,
            (Some(_), b'\\') => escaped = true,
            (Some(open), byte) if open == byte => quote = None,
            (None, b'\'' | b'"') => quote = Some(byte),
            (None, b'(' | b'[' | b'{') => depth += 1,
            (None, b')' | b']' | b'}') => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}
