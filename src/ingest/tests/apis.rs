//! Requests as the APIs take them, bare and in every envelope, with their responses and facts.

use serde_json::{Value, json};
use xxhash_rust::xxh3::xxh3_128;

use super::{call, calling, read, record, record_of, result};
use crate::conversation::{Call, Message, Role};
use crate::ingest::facts::Facts;
use crate::ingest::reasons::{Fault, UNKNOWN_SHAPE};
use crate::ingest::record::{Line, LineFate, Record, record_of_value};
use crate::ingest::shapes::Columns;
use crate::ingest::shapes::bodies::BODIES;
use crate::ingest::shapes::envelopes::ENVELOPES;

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
        ("openai-responses", json!({"input": "hi", "tools": [{"type": "function", "name": "f"}]})),
        (
            "gemini-contents",
            json!({"contents": [{"role": "user", "parts": [{"text": "hi"}]}], "tools": [{"functionDeclarations": [{"name": "f"}]}]}),
        ),
        (
            "bedrock-converse",
            json!({"messages": [{"role": "user", "content": [{"text": "hi"}]}], "toolConfig": {"tools": [{"toolSpec": {"name": "f"}}]}}),
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
    assert_eq!(lines, [Line { line: 1, part: 0, fate: LineFate::Record(Box::new(expected)) }]);
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
