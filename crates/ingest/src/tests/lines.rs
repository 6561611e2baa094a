//! Tests of lines without a request, which have a reason, and of lines with several requests.

use serde_json::{Value, json};

use super::{ROW, outline, read, read_with, record_of};
use crate::fate::LineFate;
use crate::log_formats::Columns;
use crate::read::Limits;
use crate::reasons::*;
use crate::record::record_of_value;
use callsieve_bfcl::conversation::{Message, Role};

#[test]
fn every_reason_fires_on_its_example_and_not_on_the_similar_one() {
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
fn reason_codes_are_unique_and_of_ingest() {
    let mut codes: Vec<&str> = REASONS.iter().map(|reason| reason.code).collect();
    assert!(codes.iter().all(|code| code.starts_with("ingest/")));
    codes.sort_unstable();
    codes.dedup();
    assert_eq!(codes.len(), REASONS.len());
}

/// Returns the reason and the detail of a line without a request.
fn reason_of(line: &Value) -> (&'static str, String) {
    match record_of_value(1, 0, line.clone(), &Columns::default()) {
        LineFate::Record(record) => panic!("a record: {record:?}"),
        LineFate::Answer(answer) => (RESPONSE_WITHOUT_REQUEST, answer.custom_id),
        LineFate::NoRequest(fault) | LineFate::Unreadable(fault) => (fault.reason, fault.detail),
    }
}

#[test]
fn answers_without_requests_are_detected() {
    let message = json!({"role": "assistant", "content": "hi"});
    for line in [
        json!({"object": "chat.completion", "choices": [{"message": message}], "tools": null}),
        json!({"object": "chat.completion", "choices": [{"message": message}], "tools": [{"name": "f"}]}),
        json!({"custom_id": "a", "response": {"status_code": 200, "body": {"choices": []}}}),
        json!({"custom_id": "a", "result": {"type": "succeeded", "message": {"type": "message"}}}),
        json!({"id": "msg", "type": "message", "role": "assistant", "content": [], "stop_reason": "end_turn"}),
        json!({"object": "response", "output": [], "tools": [{"type": "function", "name": "f"}]}),
        json!({"candidates": [{"content": {"parts": []}}]}),
        json!({"output": {"message": message}, "stopReason": "end_turn"}),
    ] {
        assert_eq!(reason_of(&line).0, RESPONSE_WITHOUT_REQUEST, "{line}");
    }
}

#[test]
fn conversations_that_are_stored_elsewhere_are_detected() {
    let tools = json!([{"type": "function", "name": "f"}]);
    for (key, value) in [
        ("previous_response_id", json!("resp_1")),
        ("conversation", json!("conv_1")),
        ("prompt", json!({"id": "pmpt_1"})),
    ] {
        let mut line = json!({"input": "And tomorrow?", "tools": tools});
        line[key] = value;
        assert_eq!(reason_of(&line).0, PARTIAL_CONVERSATION, "{line}");
    }
    let referring = json!({"tools": tools, "input": [{"type": "item_reference", "id": "x"}, {"role": "user", "content": "hi"}]});
    assert_eq!(reason_of(&referring).0, PARTIAL_CONVERSATION);
}

#[test]
fn texts_that_were_not_stored_are_detected() {
    let span = |attributes: Value| json!({"name": "chat", "attributes": attributes});
    for line in [
        json!({"messages": "{}", "proxy_server_request": "{}", "response": "{}"}),
        json!({"messages": {}, "proxy_server_request": null, "request_id": "a", "model_parameters": {}}),
        json!({"messages": "redacted-by-litellm", "model_parameters": {"tools": [{"name": "f"}]}}),
        json!({"messages": [{"role": "user", "content": "redacted-by-litellm"}], "model_parameters": {"tools": [{"name": "f"}]}}),
        json!({"request_id": "a", "signed_body_url": "https://example.com/x", "request_body": null}),
        json!({"request_id": "a", "request_path": "/v1/chat/completions", "request_body": {}}),
        span(json!({"gen_ai.request.model": "m", "gen_ai.tool.definitions": [{"name": "f"}]})),
        span(json!({"llm.model_name": "m"})),
        span(
            json!({"gen_ai.request.model": "m", "gen_ai.output.type": "text", "gen_ai.usage.output_tokens": 9}),
        ),
        span(
            json!({"ai.operationId": "ai.generateText.doGenerate", "ai.model.id": "m", "ai.response.finishReason": "stop"}),
        ),
        json!({"id": "r", "run_type": "llm", "inputs": "{}", "outputs": "{}"}),
        json!({"traceId": "t", "input": null, "name": "chat"}),
    ] {
        assert_eq!(reason_of(&line).0, CONTENT_NOT_STORED, "{line}");
    }
}

#[test]
fn texts_in_attributes_that_no_log_format_reads_are_named() {
    let said = json!([{"role": "user", "content": "Feed the goats"}]);
    for (attributes, detail) in [
        (
            json!({"gen_ai.request.model": "m", "acme.turns": said.to_string()}),
            "no log format reads the attributes acme.turns, beside gen_ai.request.model",
        ),
        (
            json!({"llm.model_name": "m", "acme.llmInput": "Feed the goats"}),
            "no log format reads the attributes acme.llmInput, beside llm.model_name",
        ),
        (
            json!({"http.method": "GET", "http.target": "/goats"}),
            "a line with the attributes http.method, http.target",
        ),
    ] {
        let line = json!({"traceId": "t", "name": "chat", "attributes": attributes});
        assert_eq!(reason_of(&line), (UNKNOWN_LOG_FORMAT, detail.to_owned()));
    }
    let event =
        json!({"body": {"content": "Feed the goats"}, "attributes": {"event.name": "gen_ai.user.message"}});
    assert_eq!(reason_of(&event).0, UNKNOWN_LOG_FORMAT);
    let read = json!({"attributes": {"gen_ai.request.model": "m", "ai.prompt.messages": said.to_string()}});
    assert_eq!(reason_of(&read).0, NO_FUNCTIONS);
}

#[test]
fn truncated_texts_are_detected_and_never_partly_read() {
    let mark = "Once upon... (litellm_truncated 4711 chars) ...the end";
    let body = json!({"messages": [{"role": "user", "content": mark}], "tools": [{"name": "f"}]});
    let docs = json!({"messages": [{"role": "user", "content": "hi"}], "tools": [{"name": "f", "description": mark}]});
    let called = json!({"messages": [{"role": "user", "content": "hi"}, {"role": "assistant",
        "tool_calls": [{"function": {"name": "f", "arguments": {"x": mark}}}]}, {"role": "tool", "content": "1"}], "tools": [{"name": "f"}]});
    for line in [
        body.clone(),
        docs,
        called,
        json!({"messages": "{}", "proxy_server_request": body.to_string()}),
        json!({"messages": "{}", "proxy_server_request": "{\"litellm_truncated\": true}"}),
        json!({"messages": "{}", "proxy_server_request": &body.to_string()[..60]}),
        json!({"attributes": {"gen_ai.input.messages": "[{\"role\": \"user\", \"parts\": [{\"ty", "gen_ai.tool.definitions": "[]"}}),
        json!({"messages": "[truncated by litellm]...", "model_parameters": {"tools": [{"name": "f"}]}}),
    ] {
        assert_eq!(reason_of(&line).0, TRUNCATED, "{line}");
    }
}

#[test]
fn lists_of_tools_without_a_query_are_counted() {
    let tools = json!([{"name": "f", "inputSchema": {}}, {"name": "g", "inputSchema": {}}]);
    for line in [
        json!({"jsonrpc": "2.0", "id": 1, "result": {"tools": tools}}),
        json!({"tools": tools}),
        json!({"harbour": {"tools": [{"name": "f"}]}, "bakery": {"tools": [{"name": "g"}]}}),
    ] {
        let expected = (NO_MESSAGES, "a list of 2 tools without a query".to_owned());
        assert_eq!(reason_of(&line), expected, "{line}");
    }
}

#[test]
fn chunks_of_streams_are_detected_as_json_and_as_events() {
    let text = "data: {\"object\": \"chat.completion.chunk\"}\n\n{\"type\": \"content_block_delta\", \"delta\": {}}\ndata: [DONE]\nevent: ping\n";
    let (lines, _) = read_with("log.jsonl", text.as_bytes(), &Limits::default());
    let expected = [(1, STREAM_CHUNK), (2, BLANK_LINE), (3, STREAM_CHUNK), (4, STREAM_CHUNK), (5, NOT_JSON)];
    assert_eq!(outline(&lines), expected);
}

#[test]
fn different_calls_with_the_same_id_are_all_kept() {
    let call = |city: &str| json!({"id": "", "type": "function", "function": {"name": "f", "arguments": json!({"city": city}).to_string()}});
    for id in ["", "c"] {
        let mut calls = [call("Bern"), call("Basel"), call("Bern")];
        for call in &mut calls {
            call["id"] = json!(id);
        }
        let record =
            record_of(&json!({"messages": [{"role": "user", "content": "hi"}], "tools": [{"name": "f"}],
            "response": {"role": "assistant", "content": null, "tool_calls": calls}}));
        let said: Vec<Value> =
            record.response.unwrap().calls.into_iter().map(|call| call.arguments["city"].clone()).collect();
        // Only equal calls with the same id are one call.
        let expected: &[&str] = if id.is_empty() { &["Bern", "Basel", "Bern"] } else { &["Bern", "Basel"] };
        assert_eq!(said, expected, "{id:?}");
    }
}

#[test]
fn a_response_column_that_contains_the_request_is_detected() {
    let columns = Columns { response: vec!["request".to_owned()], ..Columns::default() };
    let line =
        json!({"request": {"messages": [{"role": "user", "content": "hi"}], "tools": [{"name": "f"}]}});
    let LineFate::NoRequest(fault) = record_of_value(1, 0, line, &columns) else { panic!("it was read") };
    assert_eq!(fault.reason, UNKNOWN_LOG_FORMAT);
}

#[test]
fn an_empty_column_of_attributes_does_not_hide_a_span() {
    let span = json!({"attributes": null, "gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": "hi",
        "llm.request.functions.0.name": "f"});
    assert_eq!(record_of(&span).messages, [Message::text(Role::User, "hi")]);
}

#[test]
fn lines_of_python_and_lines_with_the_comma_of_a_list_are_read() {
    let text = format!(
        "{{'prompt': 'it\\'s', 'function': [], 'user': None}}\n{ROW},\n{ROW} ,\n{{prompt: 1}}\n[1],\n"
    );
    let lines = read("log.jsonl", text);
    let expected = [(1, "record"), (2, "record"), (3, "record"), (4, NOT_JSON), (5, NOT_JSON)];
    assert_eq!(outline(&lines), expected);
}

#[test]
fn a_request_in_an_unknown_wrapper_is_not_mistaken_for_a_list_of_tools() {
    let line =
        json!({"wrapped": {"messages": [{"role": "user", "content": "hi"}], "tools": [{"name": "f"}]}});
    assert_eq!(reason_of(&line), (UNKNOWN_LOG_FORMAT, "an object with the keys wrapped".to_owned()));
    let line = json!({"message": "hi", "tools": [{"name": "f"}]});
    assert_eq!(reason_of(&line).1, "none of query, prompt, question, input, user_query, messages");
}

#[test]
fn a_trace_with_messages_and_no_tools_offers_no_functions() {
    let said = json!([{"role": "user", "content": "hi"}]);
    for line in
        [json!({"attributes": {"gen_ai.input.messages": said}}), json!({"inputs": {"messages": said}})]
    {
        assert_eq!(reason_of(&line).0, NO_FUNCTIONS, "{line}");
    }
}
