//! Properties for any bytes and any JSON.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{ROW, assert_docs_are_read_like_values, read_with};
use crate::any_row::{Reading, RowsRead, rows_of};
use crate::fate::LineFate;
use crate::log_formats::Columns;
use crate::read::{Block, Item, Limits, Position};
use crate::record::push_lines;

/// Returns bytes that are enough like a log to pass the first check.
fn loggish() -> impl Strategy<Value = Vec<u8>> {
    let words =
        [ROW, "{", "}", "[", "]", "\"", "\\", ",", ":", "\n", "\r\n", " ", "\"messages\"", "a,b", "'role'"];
    let piece = prop_oneof![
        4 => proptest::sample::select(words.to_vec()).prop_map(|word| word.as_bytes().to_vec()),
        1 => proptest::collection::vec(any::<u8>(), 0..6),
    ];
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

/// Returns lines whose functions are lists of objects, most of them requests.
fn requests_with_functions() -> impl Strategy<Value = Value> {
    let function = prop_oneof![
        4 => requestish().prop_map(|doc| json!({"type": "function", "function": doc})),
        2 => (requestish(), requestish()).prop_map(|(doc, schema)| json!({"name": doc, "input_schema": schema})),
        1 => Just(json!({"type": "function", "name": "ring\u{1F514}\u{1}"})),
        1 => requestish(),
    ];
    let functions = proptest::collection::vec(function, 0..4);
    let key = proptest::sample::select(vec!["tools", "functions", "function", "function_docs"]);
    let messages = proptest::sample::select(vec!["messages", "prompt", "contents", "conversations", "input"]);
    let envelope = proptest::sample::select(vec!["", "body", "request", "request_body", "params", "other"]);
    (functions, key, messages, envelope, requestish()).prop_map(
        |(functions, key, messages, envelope, beside)| {
            let turn = json!({"role": "user", "from": "human", "content": "Ring.", "value": "Ring."});
            let mut body = json!({"id": 1, "beside": beside});
            body[messages] = json!([turn]);
            body[key] = functions.into();
            match envelope {
                "" => body,
                "request" => json!({"request": {"body": body}, "tools": [{"name": "other"}]}),
                envelope => json!({"ts": 1.50, envelope: body}),
            }
        },
    )
}

/// Returns JSON with the keys of the tables.
fn requestish() -> impl Strategy<Value = Value> {
    let words = [
        "messages",
        "tools",
        "functions",
        "prompt",
        "role",
        "user",
        "assistant",
        "content",
        "type",
        "text",
        "name",
        "tool_use",
        "tool_result",
        "tool_calls",
        "function",
        "request",
        "response",
        "choices",
        "body",
        "system",
        "id",
        "attributes",
        "gen_ai.prompt.0.role",
        "gen_ai.prompt.0",
        "gen_ai",
        "llm.tools",
        "llm.request.functions.0.name",
        "inputs",
        "extra",
        "input",
        "metadata",
        "kwargs",
        "output",
        "resourceSpans",
        "data",
        "[{'role': 'user'}]",
        "{\"messages\": []}",
    ];
    let word = proptest::sample::select(words.to_vec());
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<f64>().prop_map(Value::from),
        word.clone().prop_map(Value::from)
    ];
    leaf.prop_recursive(5, 60, 5, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            inner.clone().prop_map(|value| Value::String(value.to_string())),
            proptest::collection::vec((word.clone(), inner), 0..5).prop_map(|fields| Value::Object(
                fields.into_iter().map(|(k, v)| (k.to_owned(), v)).collect()
            )),
        ]
    })
}

/// A line that only Python reads has the same answer beside its request as one that is JSON.
#[test]
fn a_line_with_nan_is_completed_like_one_without() {
    let rows = |score: &str| {
        let text = format!(
            r#"{{"score": {score}, "messages": [{{"role": "user", "content": "Ring."}}], "tools": [{{"name": "ring"}}], "ground_truth": "Done."}}"#
        );
        let item = Item { line: 1, record: 1, n_items: 1, bytes: Ok(0..text.len()) };
        let text = text.into_bytes().into();
        let block = Block { text, items: vec![item], header: None, is_array: false, is_text: false };
        let reading = Reading {
            columns: &Columns::default(),
            rows: RowsRead::All,
            text_fields: &[],
            known_lists: None,
        };
        let LineFate::Record(record) = rows_of(&block, &reading).remove(0).fate else { panic!("a row") };
        (record.functions, record.messages, record.response)
    };
    assert_eq!(rows("NaN"), rows("null"));
    assert!(rows("NaN").2.is_some());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn no_bytes_panic_and_every_line_of_jsonl_has_one_fate(bytes in loggish(), block_bytes in 1_usize..200) {
        let limits = Limits { block_bytes, max_line_bytes: 60 };
        for name in ["a.csv", "a.json", "a.jsonl"] {
            read_with(name, &bytes, &limits);
            for magic in [&b"\x1f\x8b\x08\x00"[..], b"\x28\xb5\x2f\xfd"] {
                read_with(name, &[magic, &bytes].concat(), &limits);
            }
        }
        // A space at the start, so that the file is not mistaken for a compressed one.
        let lines = [b" ", &bytes[..]].concat();
        let n_lines = lines.split(|byte| *byte == b'\n').count() - usize::from(lines.ends_with(b"\n"));
        let numbers: Vec<u64> = read_with("a.jsonl", &lines, &limits)
            .0
            .iter()
            .flat_map(|line| line.line..line.line + line.n_items)
            .collect();
        // Without a line feed, a carriage return may end lines: what has one is a rule of its own.
        let has_own_ends = lines.contains(&b'\r') && !lines.contains(&b'\n');
        let n_lines = if has_own_ends { numbers.len() } else { n_lines };
        prop_assert_eq!(numbers, (1..=n_lines as u64).collect::<Vec<_>>());
    }

    #[test]
    fn docs_are_read_as_values_are(value in requests_with_functions()) {
        assert_docs_are_read_like_values(&value.to_string());
        assert_docs_are_read_like_values(&serde_json::to_string_pretty(&value).unwrap());
    }

    #[test]
    fn no_json_panics_and_no_record_is_without_messages(value in requestish()) {
        assert_docs_are_read_like_values(&value.to_string());
        let mut lines = Vec::new();
        push_lines(Position::same(1), 0, value, &Columns::default(), &mut lines);
        prop_assert!(lines.iter().map(|line| line.part as usize).eq(0..lines.len()) && !lines.is_empty());
        for line in lines {
            if let LineFate::Record(record) = line.fate {
                prop_assert!(!record.messages.is_empty());
            }
        }
    }
}
