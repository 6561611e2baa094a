//! Finds the texts, functions and answers of a row by the keys that training sets use, in any case.
//!
//! All texts of the user count, since no key says which of them the model saw. An instruction and its input are one
//! message, as Alpaca's template writes them. Of a preference the chosen answer is read; the rejected one is not.

use std::sync::LazyLock;

use memchr::memchr2;
use memchr::memmem::Finder;
use rustc_hash::FxHashSet;
use serde_json::{Map, Value, json};

use super::turns::{answer, conversation, history, texts};
use crate::facts::Facts;
use crate::fate::Record;
use crate::known_lists::SentList;
use crate::path::unwrap_json;
use crate::transcripts::{is_docs, tool_list};
use callsieve_bfcl::conversation::{Message, Role};
use callsieve_bfcl::entry::Entry;

/// The log format of a row whose texts were looked up.
const TEXTS: &str = "texts";
/// The log format of a row that is an entry of BFCL.
const BFCL_ENTRY: &str = "bfcl-entry";

/// The key of a row's own id.
const ID: &str = "id";
/// Keys of conversations, the surest first; the first that holds one is used.
const CONVERSATIONS: &[&str] = &[
    "messages",
    "conversations",
    "conversation",
    "contents",
    "dialog",
    "dialogue",
    "chat",
    "turns",
    "items",
    "data",
    "prompt",
    "input",
    "inputs",
    "query",
    "question",
    "text",
    "sample",
    "messages_json",
    "responses_create_params.input",
    CHOSEN,
];
/// The key of the better answer of a preference, which may hold the conversation before it.
const CHOSEN: &str = "chosen";
/// Keys of an instruction and of what it is about, which are one message.
const INSTRUCTION: &str = "instruction";
const INSTRUCTION_INPUTS: &[&str] = &["input", "context"];
/// Keys of texts of the user; all that are there count.
const USER_TEXTS: &[&str] = &[
    INSTRUCTION,
    "input",
    "inputs",
    "query",
    "prompt",
    "question",
    "problem",
    "user_prompt",
    "user_query",
    "user_input",
];
/// Keys that hold texts of the user only in a row without a conversation.
const BARE_TEXTS: &[&str] = &["text", "user", "human", "content", "turns", "data", "dialog", "instructions"];
/// Keys of a prompt beside a conversation.
const SYSTEMS: &[&str] = &["system", "system_prompt"];
/// Keys of the speaker of a row that is one turn.
const SPEAKERS: &[&str] = &["role", "from", "speaker"];
/// Keys of turns before the text of the user.
const HISTORY: &str = "history";
/// Keys of function docs in rows without a request.
const FUNCTIONS: &[&str] = &[
    "tools",
    "functions",
    "function",
    "definition",
    "api",
    "code",
    "available_tools",
    "tools_json",
    "chat_template_kwargs.xml_tools",
    "chat_template_kwargs.python_tools",
    "responses_create_params.tools",
    "metadata.tools",
    "extra_info.tools",
];
/// Keys of the answer of a row whose messages do not end with it.
const ANSWERS: &[&str] = &[
    CHOSEN,
    "output",
    "outputs",
    "response",
    "answers",
    "answer",
    "completion",
    "targets",
    "target",
    "ideal",
    "ground_truth",
    "target_json",
    "expected_action",
    "reward_model.ground_truth",
    "tool_call",
];
/// Keys of the answer of a row that has none of these; a label may also be a class or a number, which says nothing.
const SPOKEN: &[&str] = &["assistant", "gpt", "label", "labels"];
/// Keys of the calls of the answer, beside what it says.
const CALLS: &[&str] = &["tool_calls", "function_call", "calls", "expected_tool_calls", "possible_answer"];
/// The key of the call in an object with an answer of each kind.
const CALL_AMONG_ANSWERS: &str = "tool_call";
/// Keys of objects that hold the row.
const WRAPPERS: &[&str] = &[
    "data",
    "request",
    "body",
    "input",
    "row",
    "record",
    "example",
    "sample",
    "conversation",
    "answer_generation",
];
/// Most objects around a row.
const MAX_WRAPPERS: usize = 3;

/// Returns whether a column of this name is looked up.
pub(super) fn reads(name: &str) -> bool {
    let name = name.to_lowercase();
    let keys = [
        CONVERSATIONS,
        USER_TEXTS,
        INSTRUCTION_INPUTS,
        BARE_TEXTS,
        FUNCTIONS,
        ANSWERS,
        SPOKEN,
        CALLS,
        WRAPPERS,
        &[HISTORY, ID],
        SYSTEMS,
        SPEAKERS,
    ];
    let is_first = |key: &&str| key.split('.').next() == Some(name.as_str());
    keys.iter().any(|keys| keys.iter().any(is_first))
}

/// Returns the record of a value of any form. It has no message if the value has no text.
pub(super) fn record_of_any(line: u64, content_key: u128, value: &Value, text_fields: &[String]) -> Record {
    let mut record = Record {
        line,
        content_key,
        external_id: id_of(value),
        log_format: TEXTS,
        messages: Vec::new(),
        functions: String::new(),
        list: SentList::NotLookedUp,
        response: None,
        following_messages: Vec::new(),
        facts: Facts::default(),
        custom_id: None,
    };
    if !text_fields.is_empty() {
        let found = text_fields.iter().filter_map(|field| at(value, field));
        record.messages = found.flat_map(texts).collect();
        return record;
    }
    if let Ok(entry) = Entry::read(value) {
        record.log_format = BFCL_ENTRY;
        record.functions = Value::Array(entry.functions().to_vec()).to_string();
        record.messages = entry.into_messages();
        add_answer(&mut record, value);
        return record;
    }
    match value {
        Value::Object(fields) => read_fields(&mut record, fields, MAX_WRAPPERS),
        Value::String(_) => record.messages = texts(value),
        other => record.messages = conversation(other).unwrap_or_default(),
    }
    record
}

/// Looks up the conversation, the texts, the functions and the answer of a row, or of the object that holds it.
fn read_fields(record: &mut Record, fields: &Map<String, Value>, depth: usize) {
    record.external_id = record.external_id.take().or_else(|| id_of_value(fields.get(ID)?));
    if record.functions.is_empty() {
        record.functions = docs_of(fields).unwrap_or_default();
    }
    let found = CONVERSATIONS.iter().find_map(|key| Some((*key, conversation(&inside(fields, key)?)?)));
    let is_chosen = found.as_ref().is_some_and(|(key, _)| *key == CHOSEN);
    record.messages = found.map(|(_, messages)| messages).unwrap_or_default();
    if record.messages.is_empty() && SPEAKERS.iter().any(|key| fields.get(*key).is_some_and(Value::is_string))
    {
        // One turn a row.
        record.messages = conversation(&Value::Object(fields.clone())).unwrap_or_default();
    }
    let has_conversation = !record.messages.is_empty();
    // An earlier turn of the model is no answer to the last message.
    let is_answered =
        is_chosen || record.messages.last().is_some_and(|message| message.role == Role::Assistant);
    let has_system = record.messages.iter().any(|message| message.role == Role::System);
    let beside = SYSTEMS.iter().find_map(|key| folded(fields, key)?.as_str()).filter(|_| !has_system);
    let system = beside.filter(|text| !text.trim().is_empty()).map(|text| Message::text(Role::System, text));
    let bare = if has_conversation { &[][..] } else { BARE_TEXTS };
    let mut known: FxHashSet<String> =
        record.messages.iter().map(|message| message.content.clone()).collect();
    let new = user_texts(fields, bare).into_iter().filter(|text| known.insert(text.content.clone()));
    record.messages.extend(new);
    add_history(record, fields);
    if let Some(system) = system {
        record.messages.insert(0, system);
    }
    if record.messages.is_empty() && depth > 0 {
        let wrapped = WRAPPERS.iter().find_map(|key| folded(fields, key)?.as_object());
        if let Some(wrapped) = wrapped {
            read_fields(record, wrapped, depth - 1);
        }
    }
    if record.functions.is_empty() {
        record.functions = docs_in_texts(&record.messages).unwrap_or_default();
    }
    if !is_answered && record.response.is_none() {
        add_answer_of(record, fields);
    }
}

/// Returns the function docs of a row: under one of the usual keys, else under any other, else what a usual key holds.
fn docs_of(fields: &Map<String, Value>) -> Option<String> {
    let usual = || FUNCTIONS.iter().filter_map(|key| inside(fields, key).filter(is_something));
    let is_sure = |value: &Value| docs_within(value, 1).is_some();
    // What a model answers may look like a function.
    let is_answer = |key: &str| {
        let mut answers = [ANSWERS, SPOKEN, CALLS].into_iter().flatten();
        answers.any(|answer| answer.split('.').next().is_some_and(|it| it.eq_ignore_ascii_case(key)))
    };
    let other = || {
        let others = fields.iter().filter(|(key, _)| !is_answer(key));
        others.map(|(_, value)| value).find_map(|value| docs_within(value, MOST_LEVELS))
    };
    let docs = usual().find(is_sure).or_else(other).or_else(|| usual().next())?;
    Some(docs.as_str().map_or_else(|| docs.to_string(), str::to_owned))
}

/// Whether a value may hold what somebody says or writes: a text, an object, or a list of these.
fn is_something(value: &Value) -> bool {
    match value {
        Value::Array(list) => list.iter().any(|element| element.is_object() || element.is_string()),
        Value::Object(members) => !members.is_empty(),
        Value::String(text) => !is_nothing(text),
        _ => false,
    }
}

/// Texts of a column without docs, in lower case.
const NOTHING: &[&str] = &["", "[]", "[ ]", "{}", "none", "null", "nan", "n/a", "-"];
/// The bytes of the longest of them; no longer text is one in small letters.
const LONGEST_NOTHING: usize = 4;

fn is_nothing(text: &str) -> bool {
    let text = text.trim();
    text.len() <= LONGEST_NOTHING && NOTHING.contains(&text.to_lowercase().as_str())
}

/// Levels of a value in which function docs are looked for.
const MOST_LEVELS: usize = 4;

/// Returns the first function docs in a value: itself, or inside of it; texts are read as JSON.
fn docs_within(value: &Value, levels: usize) -> Option<Value> {
    let opened = value.as_str().filter(|text| may_be_docs(text)).and_then(unwrap_json);
    let value = opened.as_ref().unwrap_or(value);
    if is_docs(value) && has_schemas(value) {
        return Some(value.clone());
    }
    let levels = levels.checked_sub(1)?;
    match value {
        Value::Array(elements) => elements.iter().find_map(|element| docs_within(element, levels)),
        Value::Object(members) => members.values().find_map(|member| docs_within(member, levels)),
        _ => None,
    }
}

/// Whether the parameters of each function are a schema, not arguments.
fn has_schemas(docs: &Value) -> bool {
    let has_schema = |doc: &Value| {
        let doc = doc.get("function").unwrap_or(doc);
        let schemas = ["parameters", "input_schema", "inputSchema"].iter().filter_map(|key| doc.get(*key));
        schemas.into_iter().any(|schema| schema.get("properties").is_some() || schema.get("type").is_some())
    };
    match docs {
        Value::Array(list) => list.iter().any(has_schema),
        doc => has_schema(doc),
    }
}

/// Whether a text may be JSON of function docs.
fn may_be_docs(text: &str) -> bool {
    text.trim_start().starts_with(['[', '{']) && text.contains("\"name\"") && text.contains("\"parameters\"")
}

/// Returns the value at a path of keys with dots; on the way, texts are read as JSON.
fn inside(fields: &Map<String, Value>, path: &str) -> Option<Value> {
    if let Some(found) = folded(fields, path) {
        return Some(found.clone());
    }
    let (first, rest) = path.split_once('.')?;
    let inner = folded(fields, first)?;
    match inner {
        Value::Object(inner) => self::inside(inner, rest),
        Value::String(text) => self::inside(unwrap_json(text)?.as_object()?, rest),
        _ => None,
    }
}

/// Returns the function docs that stand in the texts of a conversation: as JSON, or as functions of Python.
fn docs_in_texts(messages: &[Message]) -> Option<String> {
    let texts =
        || messages.iter().filter(|message| message.role != Role::Assistant).map(|message| &message.content);
    let listed = |text: &String| tool_list(text).map(|list| list.text(text).to_owned());
    texts()
        .find_map(listed)
        .or_else(|| texts().find_map(|text| defined_in(text).or_else(|| declared_in(text))))
}

/// Returns the functions of Python that a text defines, from the first one to the end of its fence, or of the text.
fn defined_in(text: &str) -> Option<String> {
    let at = text.match_indices("def ").map(|(at, _)| at).find(|at| {
        let before = text[..*at].trim_end_matches([' ', '\t']);
        let before = before.strip_suffix("async").unwrap_or(before).trim_end_matches([' ', '\t']);
        let after = &text[at + "def ".len()..];
        let name = after.find(|c: char| !(c.is_alphanumeric() || c == '_'));
        (before.is_empty() || before.ends_with('\n'))
            && name.is_some_and(|end| end > 0 && after[end..].starts_with('('))
    })?;
    let end = text[at..].find("```").map_or(text.len(), |length| at + length);
    Some(text[at..end].trim_end().to_owned())
}

/// Returns the functions of TypeScript that a text declares, from the first line of a declaration to the end of its fence, or of the
/// text.
fn declared_in(text: &str) -> Option<String> {
    const MARKS: &[&str] =
        &["namespace functions {", "namespace tools {", "declare function ", "export function "];
    let at = MARKS.iter().filter_map(|mark| text.find(mark)).min()?;
    let end = text[at..].find("```").map_or(text.len(), |length| at + length);
    let declared = text[at..end].trim_end();
    // What follows the closing brace of a namespace is prose.
    let close = if declared.starts_with("namespace") { declared.rfind("\n}").map(|at| at + 2) } else { None };
    let close =
        close.or_else(|| declared.rfind('}').map(|at| at + 1)).filter(|_| declared.starts_with("namespace"));
    Some(declared[..close.unwrap_or(declared.len())].to_owned())
}

/// Returns the texts of the user that are no conversation, each once.
fn user_texts(fields: &Map<String, Value>, bare: &[&str]) -> Vec<Message> {
    let joined = instruction(fields);
    let is_joined = |key: &str| joined.as_ref().is_some_and(|(input, _)| key == INSTRUCTION || key == *input);
    let mut found: Vec<Message> = joined.iter().map(|(_, text)| Message::text(Role::User, text)).collect();
    for key in USER_TEXTS.iter().chain(bare).filter(|key| !is_joined(key)) {
        if let Some(value) = folded(fields, key).filter(|value| conversation(value).is_none()) {
            found.extend(texts(value));
        }
    }
    found
}

/// Returns an instruction with what it is about, and the key of that.
fn instruction(fields: &Map<String, Value>) -> Option<(&'static str, String)> {
    let text = |key: &str| folded(fields, key)?.as_str().map(str::trim).filter(|text| !text.is_empty());
    let instruction = text(INSTRUCTION)?;
    let (key, input) = INSTRUCTION_INPUTS.iter().find_map(|key| Some((*key, text(key)?)))?;
    Some((key, format!("{instruction}\n\n{input}")))
}

fn add_history(record: &mut Record, fields: &Map<String, Value>) {
    let earlier = folded(fields, HISTORY).map(history).unwrap_or_default();
    if earlier.is_empty() {
        return;
    }
    let mut messages: Vec<Message> = {
        let known = KnownMessages::of(&record.messages);
        earlier.into_iter().filter(|message| !known.has(message)).collect()
    };
    messages.append(&mut record.messages);
    record.messages = messages;
}

/// Messages, looked up by their texts before they are compared: a row may have thousands.
struct KnownMessages<'a> {
    messages: &'a [Message],
    contents: FxHashSet<&'a str>,
}

impl<'a> KnownMessages<'a> {
    fn of(messages: &'a [Message]) -> Self {
        Self { messages, contents: messages.iter().map(|message| message.content.as_str()).collect() }
    }

    fn has(&self, message: &Message) -> bool {
        self.contents.contains(message.content.as_str()) && self.messages.contains(message)
    }
}

fn add_answer(record: &mut Record, value: &Value) {
    if let Some(fields) = value.as_object() {
        add_answer_of(record, fields);
    }
}

/// Adds the answer of a row: the first message as the response, the others after it. Calls in a column of their own are part of it.
fn add_answer_of(record: &mut Record, fields: &Map<String, Value>) {
    let spoken = || SPOKEN.iter().find_map(|key| inside(fields, key).filter(is_something));
    let found = ANSWERS.iter().find_map(|key| inside(fields, key)).or_else(spoken);
    // An object of several kinds of answers: that with the call.
    let found = found.map(|found| found.get(CALL_AMONG_ANSWERS).cloned().unwrap_or(found));
    let mut said = found.as_ref().map(answer).unwrap_or_default();
    if let Some(calls) = CALLS.iter().find_map(|key| inside(fields, key).filter(is_something)) {
        said.retain(|message| !message.content.trim().is_empty() || !message.calls.is_empty());
        let called = answer_of_calls(&calls);
        let new: Vec<Message> = called.into_iter().filter(|message| !said.contains(message)).collect();
        said.extend(new);
    }
    // An answer may begin with the conversation before it, also with earlier turns of the model.
    let n_repeated = said.iter().zip(&record.messages).take_while(|(one, other)| one == other).count();
    let known = KnownMessages::of(&record.messages);
    let is_new = |message: &Message| message.role == Role::Assistant || !known.has(message);
    let mut messages = said.into_iter().skip(n_repeated).filter(is_new).collect::<Vec<_>>();
    if messages.is_empty() {
        return;
    }
    let first = messages.iter().position(|message| message.role == Role::Assistant);
    record.response = first.map(|first| messages.remove(first));
    record.following_messages = messages;
}

/// Reads the calls of a column: in the form of an API, or as they are written.
fn answer_of_calls(calls: &Value) -> Vec<Message> {
    let list = if calls.is_object() { json!([calls]) } else { calls.clone() };
    let read = answer(&json!({ "tool_calls": list }));
    if read.iter().any(|message| !message.calls.is_empty()) { read } else { answer(calls) }
}

/// Parts of keys of rows that have texts besides those of a request.
const MORE: &[&str] =
    &["nstruction", "istory", "hosen", "round_truth", "xpected_action", "arget_json", "\"tool_call\""];

/// Finds each of [`MORE`]; all of them at once would take longer, byte by byte.
static FIND_MORE: LazyLock<Vec<Finder<'static>>> = LazyLock::new(|| MORE.iter().map(Finder::new).collect());

/// Returns whether [`complete`] may find more in the bytes of a row.
pub(super) fn may_have_more(bytes: &[u8]) -> bool {
    FIND_MORE.iter().any(|part| part.find(bytes).is_some()) || has_other_answer(bytes)
}

/// Whether an object of JSON has a key of [`SPOKEN`] or [`CALLS`] itself. Messages and calls have such keys, too: a row with one
/// inside need not be read again.
fn has_other_answer(bytes: &[u8]) -> bool {
    let (mut at, mut depth) = (0, 0_usize);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                let Some(end) = string_end(bytes, at) else { return false };
                if depth == 1 && is_other_answer(&bytes[at + 1..end]) && is_before_colon(&bytes[end + 1..]) {
                    return true;
                }
                at = end;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
    false
}

fn is_other_answer(key: &[u8]) -> bool {
    [SPOKEN, CALLS].into_iter().flatten().any(|other| other.as_bytes().eq_ignore_ascii_case(key))
}

fn is_before_colon(bytes: &[u8]) -> bool {
    bytes.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b':')
}

/// Returns the place of the quote that closes the string that begins at `at`.
fn string_end(bytes: &[u8], at: usize) -> Option<usize> {
    let mut at = at + 1;
    loop {
        at += memchr2(b'"', b'\\', bytes.get(at..)?)?;
        if bytes[at] == b'"' {
            return Some(at);
        }
        at += 2;
    }
}

/// Returns whether a request has nothing in the place of its function docs.
pub(super) fn has_no_docs(record: &Record) -> bool {
    !matches!(record.list, SentList::Stored(_)) && is_nothing(&record.functions)
}

/// Adds to a request what only training sets have: the instruction before an input, earlier turns, the chosen answer, docs and calls in
/// another column.
pub(super) fn complete(record: &mut Record, value: &Value) {
    let Some(fields) = value.as_object() else { return };
    if has_no_docs(record)
        && let Some(docs) = docs_of(fields)
    {
        (record.functions, record.list) = (docs, SentList::NotLookedUp);
    }
    if let Some((key, joined)) = instruction(fields) {
        let input = folded(fields, key).and_then(Value::as_str).unwrap_or_default();
        let instruction = folded(fields, INSTRUCTION).and_then(Value::as_str).unwrap_or_default();
        let is_half = |message: &&mut Message| {
            message.role == Role::User && [input, instruction].contains(&message.content.as_str())
        };
        if let Some(half) = record.messages.iter_mut().find(is_half) {
            half.content = joined;
        }
    }
    add_history(record, fields);
    let is_open =
        record.response.is_none() && record.following_messages.is_empty() && record.custom_id.is_none();
    let beside = [
        CHOSEN,
        "ground_truth",
        "expected_action",
        "target_json",
        "reward_model.ground_truth",
        "answers.tool_call",
    ];
    if is_open {
        let answer = beside.iter().find_map(|key| inside(fields, key));
        let mut found: Map<String, Value> =
            answer.into_iter().map(|answer| (ANSWERS[0].to_owned(), answer)).collect();
        for key in SPOKEN.iter().chain(CALLS) {
            found.extend(inside(fields, key).map(|value| ((*key).to_owned(), value)));
        }
        add_answer_of(record, &found);
    }
}

/// Returns the value of a key in any case, unless it is null; the key as written goes first.
fn folded<'v>(fields: &'v Map<String, Value>, key: &str) -> Option<&'v Value> {
    let in_any_case = || fields.iter().find(|(own, _)| own.eq_ignore_ascii_case(key)).map(|(_, value)| value);
    fields.get(key).or_else(in_any_case).filter(|value| !value.is_null())
}

fn id_of(value: &Value) -> Option<String> {
    id_of_value(value.get(ID)?)
}

fn id_of_value(id: &Value) -> Option<String> {
    match id {
        Value::String(id) => Some(id.clone()),
        Value::Number(id) => Some(id.to_string()),
        _ => None,
    }
}

/// Returns the value at a path of keys with dots; a key that has the dots itself goes first.
fn at<'v>(value: &'v Value, path: &str) -> Option<&'v Value> {
    if let Some(found) = value.get(path) {
        return Some(found);
    }
    path.split('.').try_fold(value, |value, key| match value {
        Value::Array(list) => list.get(key.parse::<usize>().ok()?),
        other => other.get(key),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers(row: &Value) -> (Vec<String>, Vec<String>) {
        let record = record_of_any(1, 1, row, &[]);
        let said = || record.response.iter().chain(&record.following_messages);
        let calls = said().flat_map(|message| &message.calls).map(|call| call.name.clone()).collect();
        (said().map(|message| message.content.clone()).collect(), calls)
    }

    #[test]
    fn an_answer_in_a_column_is_read_after_earlier_turns_of_the_model() {
        let turn = |role: &str, text: &str| json!({"role": role, "content": text});
        let earlier = [turn("user", "Ring."), turn("assistant", "Done."), turn("user", "Toll.")];
        let with = |key: &str, value: Value| {
            let mut row = json!({ "prompt": earlier });
            row[key] = value;
            row
        };
        let whole: Vec<Value> = earlier.iter().cloned().chain([turn("assistant", "Tolled.")]).collect();
        for (key, value) in [
            ("completion", json!([turn("assistant", "Tolled.")])),
            ("chosen", json!([turn("assistant", "Tolled.")])),
            ("chosen", json!(whole)),
            ("answer", json!("Tolled.")),
            ("reward_model", json!({"ground_truth": "Tolled."})),
            ("Assistant", json!("Tolled.")),
            ("label", json!("Tolled.")),
        ] {
            let row = with(key, value);
            assert_eq!(answers(&row), (vec!["Tolled.".to_owned()], Vec::new()), "{row}");
        }
        let answered = json!({"messages": whole, "answer": "No."});
        assert_eq!(answers(&answered), (Vec::new(), Vec::new()));
    }

    #[test]
    fn calls_in_a_column_of_their_own_are_read_beside_what_is_said() {
        let call = json!({"name": "ring", "arguments": {"times": 2}});
        let of_api = json!({"id": "c", "type": "function", "function": {"name": "ring", "arguments": "{\"times\": 2}"}});
        for (key, value) in [
            ("tool_calls", json!([of_api])),
            ("tool_calls", json!(json!([call]).to_string())),
            ("function_call", call.clone()),
            ("calls", json!([call])),
            ("expected_tool_calls", json!([call])),
        ] {
            let mut row = json!({"query": "Ring.", "response": "At once."});
            row[key] = value.clone();
            let expected = (vec!["At once.".to_owned(), String::new()], vec!["ring".to_owned()]);
            assert_eq!(answers(&row), expected, "{row}");
            row["response"] = json!("");
            assert_eq!(answers(&row), (vec![String::new()], vec!["ring".to_owned()]), "{row}");
        }
        let accepted = json!([{"ring": {"times": [2]}}]);
        let row = json!({"query": "Ring.", "possible_answer": accepted});
        assert_eq!(answers(&row), (vec![accepted.to_string()], Vec::new()));
        let none = (Vec::new(), Vec::new());
        for row in [
            json!({"text": "Ring.", "label": 1}),
            json!({"text": "Ring.", "labels": [0, 2]}),
            json!({"text": "Ring.", "label": true, "tool_calls": [], "calls": "null"}),
        ] {
            assert_eq!(answers(&row), none, "{row}");
        }
    }

    #[test]
    fn a_row_is_read_again_for_an_answer_of_its_own_only() {
        for (row, expected) in [
            (r#"{"query": "a", "tool_calls": []}"#, true),
            (r#"{"Label" : "x"}"#, true),
            (r#"{"messages": [{"role": "assistant", "tool_calls": [{"function_call": 1}]}]}"#, false),
            (r#"{"query": "tool_calls"}"#, false),
            (r#"{"query": "a \" \\", "calls": []}"#, true),
            (r#"[{"calls": []}]"#, false),
            (r#"{"query": "a"#, false),
            (r#"{"query": "a\"#, false),
            ("calls", false),
            ("", false),
        ] {
            assert_eq!(has_other_answer(row.as_bytes()), expected, "{row}");
        }
    }
}
