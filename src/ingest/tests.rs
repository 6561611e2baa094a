//! Whole files, from bytes on disk to fates.

use std::io::Write;
use std::path::Path;

use flate2::Compression as GzipLevel;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use serde_json::{Value, json};
use xxhash_rust::xxh3::xxh3_128;

use crate::conversation::{Call, Message, Role};
use crate::ingest::facts::Facts;
use crate::ingest::read::{Compression, FileFacts, Format, Limits, ReadError, read_blocks};
use crate::ingest::reasons::*;
use crate::ingest::record::{Line, LineFate, Record, record_of_value, records_of};
use crate::ingest::shapes::{BODIES, Columns, ENVELOPES};

const ROW: &str = r#"{"prompt": "hi", "function": "[]"}"#;

/// The fates of a file of this name and content; checks that nothing is lost on the way.
fn read_with(name: &str, content: &[u8], limits: &Limits) -> (Vec<Line>, FileFacts) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(name);
    std::fs::write(&path, content).unwrap();
    let (mut raw, mut lines) = (Vec::new(), Vec::new());
    let facts = read_blocks::<ReadError>(
        &path,
        Format::of(&path),
        limits,
        &mut |bytes| raw.extend_from_slice(bytes),
        &mut |block| {
            lines.extend(records_of(&block, &Columns::default()));
            Ok(())
        },
    );
    let facts = facts.unwrap();
    assert_eq!(raw, content, "every byte of the file is seen once");
    assert_eq!(facts.raw_bytes, content.len() as u64);
    assert_eq!(facts.n_items, lines.len() as u64, "every item has one fate");
    (lines, facts)
}

fn read(name: &str, content: impl AsRef<[u8]>) -> Vec<Line> {
    read_with(name, content.as_ref(), &Limits::default()).0
}

/// Line numbers with what became of the line in one word.
fn outline(lines: &[Line]) -> Vec<(u64, &'static str)> {
    let word = |fate: &LineFate| match fate {
        LineFate::Record(_) => "record",
        LineFate::NoRequest(fault) | LineFate::Unreadable(fault) => fault.reason,
    };
    lines.iter().map(|line| (line.line, word(&line.fate))).collect()
}

fn record(fate: LineFate) -> Record {
    match fate {
        LineFate::Record(record) => *record,
        other => panic!("no record: {other:?}"),
    }
}

fn record_of(value: &Value) -> Record {
    record(record_of_value(1, 0, value.clone(), &Columns::default()))
}

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), GzipLevel::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn every_reason_fires_on_its_example_and_not_on_the_one_beside_it() {
    let limits = Limits { max_line_bytes: 200, ..Limits::default() };
    for reason in REASONS {
        let fired = |example: &Example| {
            let (lines, _) = read_with(example.file, example.text, &limits);
            outline(&lines).iter().any(|(_, word)| *word == reason.code)
        };
        assert!(fired(&reason.fires), "{} does not fire", reason.code);
        assert!(!fired(&reason.passes), "{} fires where it should not", reason.code);
    }
}

#[test]
fn reason_codes_are_unique_and_of_this_room() {
    let mut codes: Vec<&str> = REASONS.iter().map(|reason| reason.code).collect();
    assert!(codes.iter().all(|code| code.starts_with("ingest/")));
    codes.sort_unstable();
    codes.dedup();
    assert_eq!(codes.len(), REASONS.len());
}

/// One request in every body of the tables, all of them saying "hi" to a function `f`.
fn bodies() -> Vec<(&'static str, Value)> {
    let messages = json!([{"role": "user", "content": "hi"}]);
    vec![
        ("anthropic-messages", json!({"messages": messages, "tools": [{"name": "f", "input_schema": {}}]})),
        (
            "openai-chat",
            json!({"messages": messages, "tools": [{"type": "function", "function": {"name": "f"}}]}),
        ),
        ("openai-functions", json!({"messages": messages, "functions": [{"name": "f"}]})),
        (
            "gemini-contents",
            json!({"contents": [{"role": "user", "parts": [{"text": "hi"}]}], "tools": [{"functionDeclarations": [{"name": "f"}]}]}),
        ),
        ("query-functions", json!({"prompt": "hi", "function": "[{\"name\":\"f\"}]"})),
    ]
}

#[test]
fn every_body_is_read_in_every_envelope_be_it_an_object_or_a_string() {
    assert!(bodies().iter().map(|(name, _)| *name).eq(BODIES.iter().map(|body| body.name)));
    for (name, body) in bodies() {
        for envelope in ENVELOPES {
            for body in [body.clone(), Value::String(body.to_string())] {
                let line = envelope.body.iter().rev().fold(body, |inner, key| json!({*key: inner}));
                let record = record_of(&line);
                assert_eq!(record.shape, name, "{line}");
                assert_eq!(record.messages, [Message::text(Role::User, "hi")]);
                assert!(record.functions.starts_with("[{") && record.functions.contains("\"f\""));
            }
        }
    }
}

#[test]
fn a_hosted_row_is_read_whole() {
    let text = r#" {"id": "r1", "ts": 1708905692, "user": "u1", "model": "m", "prompt": "hi", "function": "[ {'name': 'f'}]", "response": "[f()]"} "#;
    let lines = read("log.jsonl", text);
    let expected = Record {
        line: 1,
        content_key: xxh3_128(text.trim().as_bytes()),
        external_id: Some("r1".to_owned()),
        shape: "query-functions",
        messages: vec![Message::text(Role::User, "hi")],
        functions: "[ {'name': 'f'}]".to_owned(),
        response: Some(Message::text(Role::Assistant, "[f()]")),
        facts: Facts {
            time_ms: Some(1_708_905_692_000),
            model: Some("m".to_owned()),
            user: Some("u1".to_owned()),
            ..Facts::default()
        },
    };
    assert_eq!(lines, [Line { line: 1, fate: LineFate::Record(Box::new(expected)) }]);
}

#[test]
fn an_openai_request_is_read_whole() {
    let record = record_of(&json!({
        "id": 7, "ts": "2024-02-26T00:01:32Z", "status": 200,
        "request": {"model": "m", "user": "u", "metadata": {"session_id": "s"}, "tool_choice": "required",
            "parallel_tool_calls": false, "messages": [{"role": "user", "content": "hi"}],
            "tools": [{"type": "function", "function": {"name": "f", "parameters": {"z": 1, "a": 2}}}]},
        "response": {"choices": [{"finish_reason": "tool_calls", "message": {"role": "assistant", "content": null,
            "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": "{}"}}]}}]},
    }));
    let call = Call { id: Some("c".to_owned()), name: "f".to_owned(), arguments: json!({}) };
    assert_eq!(record.external_id.as_deref(), Some("7"));
    let tools = r#"[{"type":"function","function":{"name":"f","parameters":{"z":1,"a":2}}}]"#;
    assert_eq!(record.functions, tools, "the order of keys is kept");
    assert_eq!(record.response, Some(Message { calls: vec![call], ..Message::text(Role::Assistant, "") }));
    let expected = Facts {
        time_ms: Some(1_708_905_692_000),
        model: Some("m".to_owned()),
        user: Some("u".to_owned()),
        session: Some("s".to_owned()),
        tool_choice: Some("required".to_owned()),
        parallel_tool_calls: Some(false),
        finish_reason: Some("tool_calls".to_owned()),
        status: Some(200),
    };
    assert_eq!(record.facts, expected);
}

#[test]
fn an_anthropic_request_keeps_its_instructions_as_the_first_message() {
    let tools = json!([{"type": "web_search_20250305", "name": "w"}, {"name": "f", "input_schema": {"type": "object"}}]);
    let record = record_of(&json!({"custom_id": "b1", "params": {
        "system": [{"type": "text", "text": "Be brief."}], "messages": [{"role": "user", "content": "hi"}],
        "tools": tools, "tool_choice": {"type": "any", "disable_parallel_tool_use": true},
    }}));
    assert_eq!(record.shape, "anthropic-messages");
    assert_eq!(record.external_id.as_deref(), Some("b1"));
    assert_eq!(record.messages, [Message::text(Role::System, "Be brief."), Message::text(Role::User, "hi")]);
    assert_eq!(record.functions, tools.to_string());
    assert_eq!(record.facts.tool_choice.as_deref(), Some("required"));
    assert_eq!(record.facts.parallel_tool_calls, Some(false));
}

#[test]
fn instructions_alone_are_a_request() {
    let record = record_of(&json!({"system": "Sort this.", "messages": [], "tools": [{"name": "f"}]}));
    assert_eq!(record.messages, [Message::text(Role::System, "Sort this.")]);
}

#[test]
fn a_failed_request_is_kept_without_a_response() {
    for failed in [json!({"status": 500, "response": "oops"}), json!({"response": {"error": {"code": 429}}})]
    {
        let mut line = json!({"prompt": "hi", "function": "[]"});
        line.as_object_mut().unwrap().extend(failed.as_object().unwrap().clone());
        let record = record_of(&line);
        assert_eq!((record.response, record.facts.finish_reason.as_deref()), (None, Some("error")));
        assert_eq!(record.facts.status, failed["status"].as_i64());
    }
}

#[test]
fn a_model_that_answers_in_json_keeps_its_text() {
    let answer = r#"{ "status": 500, "body": "x", "error": "none", "id": 1 }"#;
    let record = record_of(&json!({"request": bodies()[1].1, "response": answer}));
    assert_eq!(record.response, Some(Message::text(Role::Assistant, answer)));
    assert_eq!(record.facts.status, None);
}

#[test]
fn a_response_in_an_http_envelope_is_found() {
    let body = json!({"role": "assistant", "content": "Hi"});
    for response in [json!({"status_code": 200, "body": body}), body] {
        let record = record_of(&json!({"custom_id": "x", "body": bodies()[1].1, "response": response}));
        assert_eq!(record.response, Some(Message::text(Role::Assistant, "Hi")));
        assert_eq!(record.facts.status, response["status_code"].as_i64());
    }
}

#[test]
fn function_docs_that_were_sent_as_a_string_stay_untouched() {
    for sent in ["", " [ {'name': \"f\"} ]\n", "{\"b\": 1.50, \"a\": 1e2}", "none"] {
        assert_eq!(record_of(&json!({"query": "hi", "tools": sent})).functions, sent);
    }
    let digits: Value =
        serde_json::from_str(r#"{"query": "hi", "tools": {"b": 1.50, "a": 123456789012345678901234567890}}"#)
            .unwrap();
    assert_eq!(record_of(&digits).functions, r#"{"b":1.50,"a":123456789012345678901234567890}"#);
    let messages = json!({"messages": "[{'role': 'user', 'content': 'hi'}]", "tools": " [{}]"});
    assert_eq!(record_of(&messages).functions, " [{}]");
    assert_eq!(record_of(&messages).messages, [Message::text(Role::User, "hi")]);
}

#[test]
fn columns_of_other_names_come_from_the_pipeline() {
    let columns: Columns = serde_json::from_value(json!({"query": ["ask"], "functions": ["api"]})).unwrap();
    let line = json!({"ask": "hi", "api": "[]", "id": "x"});
    assert_eq!(record(record_of_value(1, 0, line.clone(), &columns)).external_id.as_deref(), Some("x"));
    let fate = record_of_value(1, 0, line, &Columns::default());
    let detail = "an object with the keys ask, api, id";
    assert_eq!(fate, LineFate::NoRequest(Fault::new(UNKNOWN_SHAPE, detail)));
}

#[test]
fn line_numbers_are_exact_with_blank_lines_carriage_returns_and_a_byte_order_mark() {
    let text = format!("\u{feff}{ROW}\r\n\r\n  \n{{\n{ROW}\n\n{ROW}");
    let expected = [
        (1, "record"),
        (2, BLANK_LINE),
        (3, BLANK_LINE),
        (4, NOT_JSON),
        (5, "record"),
        (6, BLANK_LINE),
        (7, "record"),
    ];
    for name in ["log.jsonl", "log.json", "log"] {
        assert_eq!(outline(&read(name, &text)), expected, "{name}");
    }
}

#[test]
fn a_csv_row_starts_on_the_line_where_its_first_cell_does() {
    let text = "\u{feff}\r\nquery,function,id\r\n\"a\r\n\"\"b\"\"\r\n\",[],1\r\n\r\nc,\"[{'n': \"\"x\"\"}]\",2\nd,[]\n\"e\",[],4";
    let lines = read("log.csv", text);
    let expected = [(3, "record"), (6, BLANK_LINE), (7, "record"), (8, RAGGED_ROW), (9, "record")];
    assert_eq!(outline(&lines), expected);
    let LineFate::Record(first) = &lines[0].fate else { panic!("no record") };
    assert_eq!(first.messages, [Message::text(Role::User, "a\r\n\"b\"\r\n")]);
    let LineFate::Record(second) = &lines[2].fate else { panic!("no record") };
    assert_eq!(second.functions, "[{'n': \"x\"}]");
    assert_eq!(outline(&read("log.tsv", "query\tfunction\na,b\t[]\n")), [(2, "record")]);
}

#[test]
fn elements_of_an_array_and_pretty_printed_objects_start_where_they_start() {
    let row: Value = serde_json::from_str(ROW).unwrap();
    let pretty = serde_json::to_string_pretty(&row).unwrap();
    assert_eq!(outline(&read("log.json", &pretty)), [(1, "record")]);
    let objects = format!("\n{pretty}\n{pretty}\n");
    assert_eq!(outline(&read("log.json", objects)), [(2, "record"), (6, "record")]);
    let array = serde_json::to_string_pretty(&json!([row, 7, row])).unwrap();
    assert_eq!(
        outline(&read("log.json.gz", gzip(&array))),
        [(2, "record"), (6, UNKNOWN_SHAPE), (7, "record")]
    );
    assert_eq!(
        outline(&read("log.json", format!("[{ROW},{ROW}"))),
        [(1, "record"), (1, "record"), (1, CUT_FILE)]
    );
}

#[test]
fn compressed_files_are_known_by_their_bytes_and_read_to_their_last_member() {
    let text = format!("{ROW}\n{ROW}\n");
    let gzipped = [gzip(&text), gzip(&text)].concat();
    let frame = zstd::encode_all(text.as_bytes(), 1).unwrap();
    let stored = [frame.clone(), frame].concat();
    for (content, compression) in [(gzipped, Compression::Gzip), (stored, Compression::Zstd)] {
        let (lines, facts) = read_with("log.jsonl", &content, &Limits::default());
        assert_eq!(outline(&lines), [(1, "record"), (2, "record"), (3, "record"), (4, "record")]);
        assert_eq!((facts.compression, facts.text_bytes), (compression, 2 * text.len() as u64));
    }
}

#[test]
fn a_damaged_file_gives_what_stood_before_the_damage() {
    let text = format!("{ROW}\n").repeat(2000);
    let whole = gzip(&text);
    let lines = read("log.jsonl.gz", &whole[..whole.len() - 9]);
    let (last, before) = lines.split_last().unwrap();
    assert!(before.len() > 1000 && before.iter().all(|line| matches!(line.fate, LineFate::Record(_))));
    assert_eq!(outline(std::slice::from_ref(last)), [(before.len() as u64 + 1, CUT_FILE)]);

    let mut trailing = gzip(ROW);
    trailing.extend_from_slice(b"not a gzip member");
    assert_eq!(outline(&read("log.jsonl.gz", trailing)), [(1, CUT_FILE)]);
    assert_eq!(outline(&read("log.jsonl", b"\x28\xb5\x2f\xfd")), [(1, CUT_FILE)]);
}

#[test]
fn a_line_over_the_limit_is_let_go_and_the_next_keeps_its_number() {
    // Longer than a chunk, so that it is let go in several pieces.
    let long = format!("{{\"prompt\": \"{}\"}}", "x".repeat(3 << 20));
    let limits = Limits { max_line_bytes: 1000, ..Limits::default() };
    let (lines, _) = read_with("log.jsonl", format!("{ROW}\n{long}\n{ROW}\n{long}").as_bytes(), &limits);
    assert_eq!(outline(&lines), [(1, "record"), (2, LINE_TOO_LONG), (3, "record"), (4, LINE_TOO_LONG)]);
    let detail = format!("{} bytes, the limit is 1000", long.len() + 1);
    assert_eq!(lines[1].fate, LineFate::Unreadable(Fault::new(LINE_TOO_LONG, detail)));

    let cell = "y\n".repeat(1 << 20);
    let table = format!("prompt,function\na,[]\n\"{cell}\",[]\nb,[]\n");
    let (rows, _) = read_with("log.csv", table.as_bytes(), &limits);
    assert_eq!(outline(&rows), [(2, "record"), (3, LINE_TOO_LONG), (4 + (1 << 20), "record")]);
}

#[test]
fn broken_text_says_at_which_byte() {
    let lines = read("log.jsonl", b"{\"prompt\": \"\xff\"}");
    assert_eq!(lines[0].fate, LineFate::Unreadable(Fault::new(NOT_UTF8, "byte 12 of the line")));
}

#[test]
fn the_size_of_blocks_changes_nothing() {
    let text = format!("{ROW}\n\n{ROW}\n{{\n").repeat(40_000);
    let whole = read("log.jsonl", &text);
    for block_bytes in [1, 100_000] {
        let limits = Limits { block_bytes, ..Limits::default() };
        assert_eq!(read_with("log.jsonl", text.as_bytes(), &limits).0, whole);
    }
}

#[test]
fn an_empty_file_has_no_items() {
    for name in ["a.jsonl", "a.json", "a.csv"] {
        assert_eq!(read(name, ""), []);
        assert_eq!(read(name, "\u{feff}"), []);
    }
    assert_eq!(read("a.csv", "query,function\n"), []);
}

#[test]
fn formats_are_told_by_the_name_under_the_compression() {
    for (name, format) in [
        ("a.jsonl", Format::Jsonl),
        ("a.NDJSON.gz", Format::Jsonl),
        ("a.csv.zst", Format::Csv { delimiter: b',' }),
        ("a.tsv", Format::Csv { delimiter: b'\t' }),
        ("a.json", Format::Json),
        ("a.gz", Format::Json),
        ("a", Format::Json),
    ] {
        assert_eq!(Format::of(Path::new(name)), format, "{name}");
    }
}

#[test]
fn a_file_that_cannot_be_opened_is_an_error_and_so_is_the_callers_refusal() {
    let read = |path: &Path| {
        let refuse = || ReadError::Open { path: "refused".into(), source: std::io::Error::other("x") };
        read_blocks::<ReadError>(path, Format::Jsonl, &Limits::default(), &mut |_| {}, &mut |_| Err(refuse()))
    };
    let dir = tempfile::tempdir().unwrap();
    let missing = dir.path().join("missing.jsonl");
    let error = read(&missing).unwrap_err();
    assert!(error.to_string().starts_with(&format!("{}: cannot be opened: ", missing.display())));
    std::fs::write(&missing, ROW).unwrap();
    assert!(matches!(read(&missing), Err(ReadError::Open { path, .. }) if path == Path::new("refused")));
}

/// Bytes that look enough like a log to get past the first check.
fn loggish() -> impl Strategy<Value = Vec<u8>> {
    let words =
        [ROW, "{", "}", "[", "]", "\"", "\\", ",", ":", "\n", "\r\n", " ", "\"messages\"", "a,b", "'role'"];
    let piece = prop_oneof![
        4 => proptest::sample::select(words.to_vec()).prop_map(|word| word.as_bytes().to_vec()),
        1 => proptest::collection::vec(any::<u8>(), 0..6),
    ];
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

/// JSON made of the words the tables look for.
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
        // A space in front: the file is not taken for a compressed one.
        let lines = [b" ", &bytes[..]].concat();
        let n_lines = lines.split(|byte| *byte == b'\n').count() - usize::from(lines.ends_with(b"\n"));
        let numbers: Vec<u64> = read_with("a.jsonl", &lines, &limits).0.iter().map(|line| line.line).collect();
        prop_assert_eq!(numbers, (1..=n_lines as u64).collect::<Vec<_>>());
    }

    #[test]
    fn no_json_panics_and_no_record_is_without_messages(value in requestish()) {
        if let LineFate::Record(record) = record_of_value(1, 0, value, &Columns::default()) {
            prop_assert!(!record.messages.is_empty());
        }
    }
}
