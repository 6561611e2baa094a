//! Makes a row of any item: with `rows = "all"`, an item without a request becomes one with the texts that it has.
//!
//! A contamination audit must see every row of a training set: conversations without functions, instructions, plain texts.
//! An item with a request is read as it always is, and `forms` adds what a log does not have: the instruction of Alpaca,
//! earlier turns, the chosen answer. For any other item, `forms` looks up the keys of conversations, texts and function
//! docs, or those that the settings name, and `turns` reads conversations. An item that is blank or not readable stays a line
//! without a row; any other is a row, or a fault if its value cannot be read, so that none is passed over unseen.

mod forms;
mod turns;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::fate::{Line, LineFate, no_request};
use crate::known_lists::KnownLists;
use crate::lenient::json;
use crate::log_formats::Columns;
use crate::log_formats::names::is_read;
use crate::read::{Block, Item, Position};
use crate::reasons::{BLANK_LINE, ItemFault, NOT_JSON, NOT_UTF8};
use crate::record::{header_in_known_case, push_lines, records_of};
use crate::sent_docs;
use callsieve_text::content_hash::content_hash;

/// The items of an input that become rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RowsRead {
    /// Requests for a function call, and doc lists.
    #[default]
    Requests,
    /// Every item that can be read.
    All,
}

/// How items are read.
#[derive(Debug, Clone, Copy)]
pub struct Reading<'a> {
    /// Column names of rows that hold a query and a function string.
    pub columns: &'a Columns,
    /// The items that become rows.
    pub rows: RowsRead,
    /// With [`RowsRead::All`]: the keys of texts, with dots into objects, of every item. Empty: requests are read as
    /// requests, and the usual keys of conversations and instructions hold the texts of others.
    pub text_fields: &'a [String],
    /// The doc lists that need no text any more; without them every record has the text of its list.
    pub known_lists: Option<&'a KnownLists>,
}

impl Reading<'_> {
    /// Returns `true` if a column of this name is read.
    pub fn reads(&self, name: &str) -> bool {
        let names_it = |field: &String| field.split('.').next() == Some(name) || field == name;
        let is_looked_up = || forms::reads(name) || self.text_fields.iter().any(names_it);
        is_read(name, self.columns) || (self.rows == RowsRead::All && is_looked_up())
    }
}

/// Parses the items of a block, in order; there are as many first parts as items.
pub fn rows_of(block: &Block, reading: &Reading<'_>) -> Vec<Line> {
    if reading.rows == RowsRead::All && block.is_text {
        return block.items.iter().map(|item| text_row(block, item)).collect();
    }
    let lines = records_of(block, reading.columns, reading.known_lists);
    if reading.rows == RowsRead::Requests {
        return lines;
    }
    // Keys that a person names are those of the file.
    let known =
        if reading.text_fields.is_empty() { header_in_known_case(block, reading.columns) } else { None };
    let header = known.as_ref().or(block.header.as_deref());
    let mut items = block.items.iter();
    let mut rows = Vec::with_capacity(lines.len());
    for parts in into_items(lines) {
        let Some(first) = parts.first() else { continue };
        let record = first.record;
        let Some(item) = items.find(|item| item.record == record) else {
            rows.extend(parts);
            continue;
        };
        let bytes = item.bytes.as_ref().map_or(&[][..], |range| block.text[range.clone()].trim_ascii());
        let value = |docs: Docs| match header {
            Some(header) => header.row(bytes).ok(),
            None => match (docs, std::str::from_utf8(bytes)) {
                (Docs::Outlined, Ok(text)) => {
                    // A line that is JSON for Python only is read by `json`.
                    let outlined = sent_docs::read(text, reading.columns, reading.known_lists);
                    outlined.map(|(value, _)| value).or_else(|_| json(bytes)).ok()
                }
                _ => json(bytes).ok(),
            },
        };
        let content_key = || content_hash(bytes);
        if matches!(first.fate, LineFate::Unreadable(_))
            && block.header.is_none()
            && !bytes.is_empty()
            && let Some(value) = value(Docs::Whole)
        {
            push_rows(item.position(), content_key(), value, reading, &mut rows);
            continue;
        }
        let may_have_more = block.header.is_some() || forms::may_have_more(bytes);
        rows.extend(completed(parts, reading, may_have_more, content_key, value));
    }
    rows
}

/// Returns the row of a line of plain text.
fn text_row(block: &Block, item: &Item) -> Line {
    let line = |n_items, fate| Line::whole(item.position(), n_items, fate);
    let bytes = match &item.bytes {
        Ok(range) => block.text[range.clone()].trim_ascii(),
        Err(fault) => return line(item.n_items, LineFate::Unreadable(fault.clone())),
    };
    match std::str::from_utf8(bytes) {
        Ok("") => line(item.n_items, no_request(BLANK_LINE, "")),
        Ok(text) => {
            let record =
                forms::record_of_any(item.line, content_hash(bytes), &Value::String(text.to_owned()), &[]);
            line(1, LineFate::Record(Box::new(record)))
        }
        Err(error) => {
            let detail = format!("byte {} of the line", error.valid_up_to());
            line(item.n_items, LineFate::Unreadable(ItemFault::new(NOT_UTF8, detail)))
        }
    }
}

/// Parses a value that may hold several requests, like [`push_lines`].
pub fn push_rows(
    position: Position,
    content_key: u128,
    value: Value,
    reading: &Reading<'_>,
    lines: &mut Vec<Line>,
) {
    if reading.rows == RowsRead::Requests {
        push_lines(position, content_key, value, reading.columns, lines);
        return;
    }
    let mut parts = Vec::with_capacity(1);
    push_lines(position, content_key, value.clone(), reading.columns, &mut parts);
    lines.extend(completed(parts, reading, true, || content_key, |_| Some(value)));
}

/// What of its function docs a value has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Docs {
    /// All.
    Whole,
    /// At least an [outline](sent_docs), which is enough if the docs are known.
    Outlined,
}

/// Splits lines into those of one item each.
fn into_items(lines: Vec<Line>) -> impl Iterator<Item = Vec<Line>> {
    let mut lines = lines.into_iter().peekable();
    std::iter::from_fn(move || {
        let mut parts = vec![lines.next()?];
        while let Some(part) = lines.next_if(|line| line.part > 0) {
            parts.push(part);
        }
        Some(parts)
    })
}

/// Returns the parts of an item, or the row that it becomes if none of them is a request. `may_have_more` is whether a
/// request may have texts that the formats of logs do not have.
fn completed(
    mut parts: Vec<Line>,
    reading: &Reading<'_>,
    may_have_more: bool,
    content_key: impl FnOnce() -> u128,
    value: impl FnOnce(Docs) -> Option<Value>,
) -> Vec<Line> {
    let has_request = parts.iter().any(|part| matches!(part.fate, LineFate::Record(_) | LineFate::Answer(_)));
    if has_request && reading.text_fields.is_empty() {
        if let [Line { fate: LineFate::Record(record), .. }] = &mut parts[..] {
            let docs = if forms::has_no_docs(record) { Docs::Whole } else { Docs::Outlined };
            if (may_have_more || docs == Docs::Whole)
                && let Some(value) = value(docs)
            {
                forms::complete(record, &value);
            }
        }
        return parts;
    }
    let Some((first, value)) = parts.first().zip(value(Docs::Whole)) else { return unseen(parts) };
    let position = Position { line: first.line, record: first.record };
    let n_items = first.n_items;
    let record = forms::record_of_any(position.line, content_key(), &value, reading.text_fields);
    vec![Line::whole(position, n_items, LineFate::Record(Box::new(record)))]
}

/// Makes faults of lines that are neither blank nor a value: such as the events of a stream.
fn unseen(parts: Vec<Line>) -> Vec<Line> {
    let is_passed_over = |fault: &ItemFault| fault.reason != BLANK_LINE;
    let fate = |part: Line| match part.fate {
        LineFate::NoRequest(fault) if is_passed_over(&fault) => {
            Line { fate: LineFate::Unreadable(ItemFault::new(NOT_JSON, fault.detail)), ..part }
        }
        _ => part,
    };
    parts.into_iter().map(fate).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::fate::Record;
    use callsieve_bfcl::conversation::Role;

    fn read(value: Value, text_fields: &[&str]) -> Vec<Line> {
        let text_fields: Vec<String> = text_fields.iter().map(|field| (*field).to_owned()).collect();
        let columns = Columns::default();
        let reading =
            Reading { columns: &columns, rows: RowsRead::All, text_fields: &text_fields, known_lists: None };
        let mut lines = Vec::new();
        push_rows(Position::same(3), 7, value, &reading, &mut lines);
        lines
    }

    fn record(value: Value, text_fields: &[&str]) -> Record {
        let mut lines = read(value, text_fields);
        assert_eq!(lines.len(), 1);
        let LineFate::Record(record) = lines.remove(0).fate else { panic!("expected a row") };
        *record
    }

    fn texts(record: &Record) -> Vec<&str> {
        record.messages.iter().map(|message| message.content.as_str()).collect()
    }

    #[test]
    fn an_item_without_a_request_becomes_a_row_with_its_texts() {
        let cases = [
            (
                json!({"instruction": "Ring it.", "input": "Twice.", "output": "Done."}),
                vec!["Ring it.\n\nTwice."],
            ),
            (
                json!({"Instruction": "Ring it.", "Input": "", "context": "At noon."}),
                vec!["Ring it.\n\nAt noon."],
            ),
            (
                json!({"conversations": [{"from": "human", "value": "Ring."}, {"from": "gpt", "value": "Done."}]}),
                vec!["Ring."],
            ),
            (json!({"text": "Ring the bell."}), vec!["Ring the bell."]),
            (json!("Ring the bell."), vec!["Ring the bell."]),
            (json!({"score": 4}), vec![]),
        ];
        for (value, expected) in cases {
            let record = record(value.clone(), &[]);
            let of_user: Vec<&str> = record
                .messages
                .iter()
                .filter(|message| message.role == Role::User)
                .map(|message| message.content.as_str())
                .collect();
            assert_eq!(of_user, expected, "{value}");
        }
    }

    fn of_user(record: &Record) -> Vec<&str> {
        let messages = record.messages.iter().filter(|message| message.role == Role::User);
        messages.map(|message| message.content.as_str()).collect()
    }

    #[test]
    fn conversations_of_every_form_are_read() {
        let user = || json!({"role": "user", "content": "Ring."});
        let model = || json!({"role": "assistant", "content": "Done."});
        let turns = || json!([user(), model()]);
        for value in [
            turns(),
            json!({"conversations": turns().to_string()}),
            json!({"Messages": [{"role": " User", "content": "Ring."}, {"role": "Assistant", "content": "Done."}]}),
            json!({"dialog": turns()}),
            json!({"items": [{"from": "human", "value": "Ring."}, {"from": "gpt", "value": "Done."}]}),
            json!({"messages": [["user", "Ring."], ["assistant", "Done."]]}),
            json!({"conversation": [{"human": "Ring.", "assistant": "Done."}]}),
            json!({"contents": [{"role": "user", "parts": [{"text": "Ring."}]}, {"role": "model", "parts": [{"text": "Done."}]}]}),
            json!({"contents": [{"parts": [{"text": "Ring."}]}, {"role": "model", "parts": [{"text": "Done."}]}]}),
            json!({"data": {"messages": turns()}}),
            json!({"request": {"body": {"messages": turns()}}}),
            json!({"input": [user()], "output": [model()]}),
            json!({"prompt": [user()], "chosen": [model()], "rejected": [{"role": "assistant", "content": "No."}]}),
            json!({"chosen": turns(), "rejected": [user(), {"role": "assistant", "content": "No."}]}),
            json!({"prompt": "Ring.", "chosen": turns(), "rejected": turns()}),
            json!({"prompt": "Ring.", "chosen": "Done.", "rejected": "No."}),
            json!({"prompt": [user()], "completion": [model()], "label": true}),
            json!({"chosen": "\n\nHuman: Ring.\n\nAssistant: Done.", "rejected": "\n\nHuman: Ring.\n\nAssistant: No."}),
            json!({"chat": "USER: Ring.\n\n\nASSISTANT: Done. <|endoftext|>"}),
            json!({"text": "<s>[INST] Ring. [/INST] Done.</s>"}),
            json!(
                "<|im_start|>system\nBe kind.<|im_end|>\n<|im_start|>user\nRing.<|im_end|>\n<|im_start|>assistant\nDone.<|im_end|>"
            ),
            json!({"Question": "Ring.", "Answer": "Done."}),
            json!({"inputs": "Ring.", "targets": "Done."}),
            json!({"user_prompt": "Ring.", "response": "Done."}),
            json!({"messages": [user(), {"role": "assistant", "content": [{"type": "image_url"}, {"type": "text", "text": "Done."}]}]}),
        ] {
            let record = record(value.clone(), &[]);
            let said = record.messages.iter().chain(&record.response).chain(&record.following_messages);
            let of_model: Vec<&str> = said
                .filter(|message| message.role == Role::Assistant)
                .map(|message| message.content.as_str())
                .collect();
            assert_eq!((of_user(&record), of_model), (vec!["Ring."], vec!["Done."]), "{value}");
        }
    }

    #[test]
    fn texts_next_to_a_conversation_and_earlier_turns_count() {
        for (value, expected) in [
            (
                json!({"messages": [{"role": "user", "content": "Ring."}], "prompt": "Toll."}),
                vec!["Ring.", "Toll."],
            ),
            (json!({"messages": [{"role": "user", "content": "Ring."}], "prompt": "Ring."}), vec!["Ring."]),
            (
                json!({"instruction": "Again.", "input": "", "history": [["Ring.", "Done."], ["Toll.", "Done."]]}),
                vec!["Ring.", "Toll.", "Again."],
            ),
            (json!({"turns": ["Ring.", "Again."]}), vec!["Ring.", "Again."]),
            (json!({"instruction": ["Ring.", "Toll."]}), vec!["Ring.", "Toll."]),
        ] {
            assert_eq!(of_user(&record(value.clone(), &[])), expected, "{value}");
        }
    }

    #[test]
    fn a_call_in_the_parts_of_a_turn_is_kept_without_the_reasoning() {
        let call = r#"{"name": "ring", "arguments": {"times": 2}}"#;
        let parts =
            json!([{"type": "reasoning", "value": "I should ring."}, {"type": "tool_call", "value": call}]);
        let record = record(
            json!({"messages": [{"role": "user", "content": [{"type": "text", "value": "Ring."}]}, {"role": "assistant", "content": parts}]}),
            &[],
        );
        assert_eq!(texts(&record), ["Ring.", call]);
    }

    #[test]
    fn a_request_gets_what_only_training_sets_have() {
        let tools = json!([{"name": "ring", "description": "Rings."}]);
        let alpaca = json!({"instruction": "Ring it.", "input": "Twice.", "output": "Done.", "tools": tools});
        let history =
            json!({"query": "Again.", "response": "Done.", "history": [["Ring.", "Done."]], "tools": tools});
        let chosen = json!({"prompt": [{"role": "user", "content": "Ring."}], "tools": tools,
            "chosen": [{"role": "assistant", "tool_calls": [{"function": {"name": "ring", "arguments": {"times": 2}}}]}]});
        assert_eq!(of_user(&record(alpaca, &[])), ["Ring it.\n\nTwice."]);
        assert_eq!(of_user(&record(history, &[])), ["Ring.", "Again."]);
        let read = record(chosen, &[]);
        assert_eq!(read.response.unwrap().calls[0].name, "ring");
        assert!(read.functions.contains("Rings."));
    }

    #[test]
    fn columns_of_every_form_are_read_in_any_case() {
        let columns = Columns::default();
        let reading = Reading { columns: &columns, rows: RowsRead::All, text_fields: &[], known_lists: None };
        for name in ["Instruction", "dialog", "contents", "chosen", "history", "user_prompt", "messages"] {
            assert!(reading.reads(name), "{name}");
        }
        assert!(!reading.reads("embedding") && !reading.reads("rejected"));
        assert!(!Reading { rows: RowsRead::Requests, ..reading }.reads("dialog"));
    }

    #[test]
    fn calls_of_a_conversation_without_functions_are_kept() {
        let call = json!({"id": "c", "type": "function", "function": {"name": "ring", "arguments": "{\"times\": 2}"}});
        let record = record(
            json!({"id": 5, "messages": [{"role": "user", "content": "Ring."}, {"role": "assistant", "tool_calls": [call]}]}),
            &[],
        );
        assert_eq!(record.external_id.as_deref(), Some("5"));
        assert_eq!(record.messages[1].calls[0].name, "ring");
    }

    #[test]
    fn named_fields_hold_the_texts_of_every_item() {
        let request = json!({"query": "Ring.", "tools": [{"name": "ring", "description": "Rings."}], "meta": {"notes": ["Loud."]}});
        assert_eq!(texts(&record(request.clone(), &["meta.notes.0"])), ["Loud."]);
        let listed =
            json!({"ask": [{"role": "user", "content": "Ring."}], "x": {"texts": [{"text": "Toll."}]}});
        assert_eq!(texts(&record(listed, &["ask", "x.texts"])), ["Ring.", "Toll."]);
        let read = record(request, &[]);
        assert!(read.functions.contains("Rings.") && texts(&read) == ["Ring."]);
    }

    #[test]
    fn an_entry_of_bfcl_keeps_its_functions() {
        let entry = json!({"id": "simple_1", "question": [[{"role": "user", "content": "Ring."}]],
            "function": [{"name": "ring", "description": "Rings.", "parameters": {"type": "dict", "properties": {}}}]});
        let record = record(entry, &[]);
        assert!(texts(&record) == ["Ring."] && record.functions.contains("Rings."));
    }
}
