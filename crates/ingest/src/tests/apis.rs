//! Tests of the requests of all APIs, bare and in every envelope, with their responses and facts.

use serde_json::{Value, json};

use super::{call, calling, read, record, record_of, result};
use crate::facts::Facts;
use crate::fate::{Line, LineFate, Record};
use crate::known_lists::SentList;
use crate::log_formats::Columns;
use crate::log_formats::bodies::BODIES;
use crate::log_formats::envelopes::ENVELOPES;
use crate::reasons::{ItemFault, UNKNOWN_LOG_FORMAT};
use crate::record::record_of_value;
use callsieve_bfcl::conversation::{Call, Message, Role};
use callsieve_text::content_hash::content_hash;

/// Returns one request in every body of the tables, all of them saying "hi" to a function `f`.
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
fn every_body_is_read_in_every_envelope_as_an_object_or_a_string() {
    let mut names: Vec<&str> = BODIES.iter().map(|body| body.name).collect();
    names.dedup();
    assert!(bodies().iter().map(|(name, _)| *name).eq(names));
    for (name, body) in bodies() {
        for envelope in ENVELOPES {
            for body in [body.clone(), Value::String(body.to_string())] {
                let line = envelope.body.iter().rev().fold(body, |inner, key| json!({*key: inner}));
                let record = record_of(&line);
                assert_eq!(record.log_format, name, "{line}");
                assert_eq!(record.messages, [Message::text(Role::User, "hi")]);
                assert!(record.functions.starts_with("[{") && record.functions.contains("\"f\""));
            }
        }
    }
}

#[test]
fn the_column_answers_is_an_answer_if_it_is_a_list_of_calls() {
    let line =
        |answers: Value| json!({"id": 1, "query": "hi", "tools": "[{\"name\": \"f\"}]", "answers": answers});
    let calls = r#"[{"name": "f", "arguments": {"a": 1}}]"#;
    let record = record_of(&line(json!(calls)));
    assert_eq!(record.response, Some(Message::text(Role::Assistant, calls)));
    for other in [json!("[]"), json!({"text": ["Oslo"]}), json!("It rains."), json!([{"name": "f"}])] {
        assert_eq!(record_of(&line(other.clone())).response, None, "{other}");
    }
    let mut both = line(json!(calls));
    both["response"] = json!("No.");
    assert_eq!(record_of(&both).response, Some(Message::text(Role::Assistant, "No.")));
}

#[test]
fn a_hosted_row_is_read_whole() {
    let text = r#" {"id": "r1", "ts": 1708905692, "user": "u1", "model": "m", "prompt": "hi", "function": "[ {'name': 'f'}]", "response": "[f()]"} "#;
    let lines = read("log.jsonl", text);
    let expected = Record {
        line: 1,
        content_key: content_hash(text.trim()),
        external_id: Some("r1".to_owned()),
        log_format: "query-functions",
        messages: vec![Message::text(Role::User, "hi")],
        functions: "[ {'name': 'f'}]".to_owned(),
        list: SentList::NotLookedUp,
        response: Some(Message::text(Role::Assistant, "[f()]")),
        facts: Facts {
            time_ms: Some(1_708_905_692_000),
            model: Some("m".to_owned()),
            user: Some("u1".to_owned()),
            ..Facts::default()
        },
        following_messages: Vec::new(),
        custom_id: None,
    };
    assert_eq!(
        lines,
        [Line { line: 1, record: 1, n_items: 1, part: 0, fate: LineFate::Record(Box::new(expected)) }]
    );
}

#[test]
fn an_openai_request_is_read_whole() {
    let record = record_of(&json!({
        "id": 7, "ts": "2024-02-26T00:01:32Z", "status": 200, "tags": ["bells", "night"],
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
        assistant: Some("bells, night".to_owned()),
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
    assert_eq!(record.log_format, "anthropic-messages");
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
fn function_docs_that_were_sent_as_a_string_stay_unchanged() {
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
    assert_eq!(fate, LineFate::NoRequest(ItemFault::new(UNKNOWN_LOG_FORMAT, detail)));
}

#[test]
fn a_responses_request_is_read_with_its_items_and_its_output() {
    let record = record_of(&json!({
        "request": {"model": "m", "instructions": "Be brief.", "tool_choice": {"type": "function", "name": "f"},
            "previous_response_id": null,
            "input": [
                {"role": "user", "content": [{"type": "input_text", "text": "hi"}]},
                {"type": "reasoning", "id": "rs", "summary": []},
                {"type": "function_call", "id": "fc", "call_id": "c1", "name": "f", "arguments": "{\"x\": 1}"},
                {"type": "function_call", "id": "fd", "call_id": "c2", "name": "g", "arguments": "{}"},
                {"type": "function_call_output", "call_id": "c1", "output": "one"},
                {"type": "message", "role": "user", "content": "again"}],
            "tools": [{"type": "function", "name": "f"}, {"type": "web_search"}]},
        "response": {"object": "response", "status": "completed", "output": [
            {"type": "reasoning", "id": "rs", "summary": []},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "So."}]},
            {"type": "function_call", "id": "fe", "call_id": "c3", "name": "f", "arguments": "{\"x\": 2}"}]},
    }));
    let messages = [
        Message::text(Role::System, "Be brief."),
        Message::text(Role::User, "hi"),
        calling("", vec![call(Some("c1"), "f", json!({"x": 1})), call(Some("c2"), "g", json!({}))]),
        result(Some("c1"), "one"),
        Message::text(Role::User, "again"),
    ];
    assert_eq!((record.log_format, &record.messages[..]), ("openai-responses", &messages[..]));
    assert_eq!(record.functions, r#"[{"type":"function","name":"f"},{"type":"web_search"}]"#);
    assert_eq!(record.response, Some(calling("So.", vec![call(Some("c3"), "f", json!({"x": 2}))])));
    assert_eq!(record.facts.tool_choice.as_deref(), Some("function:f"));
    assert_eq!(record.facts.finish_reason.as_deref(), Some("completed"));
}

#[test]
fn a_row_with_an_input_column_and_wrapped_tools_is_not_a_responses_request() {
    let wrapped = json!({"input": "hi", "tools": [{"type": "function", "function": {"name": "f"}}]});
    assert_eq!(record_of(&wrapped).log_format, "query-functions");
}

#[test]
fn the_last_turn_of_a_fine_tune_line_is_its_answer() {
    let tools = json!([{"type": "function", "function": {"name": "f"}}]);
    let said = json!([
        {"role": "system", "content": "s"}, {"role": "user", "content": "hi"},
        {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": "{}"}}]}]);
    let record = record_of(&json!({"messages": said, "tools": tools, "parallel_tool_calls": false}));
    assert_eq!(record.messages, [Message::text(Role::System, "s"), Message::text(Role::User, "hi")]);
    assert_eq!(record.response, Some(calling("", vec![call(Some("c"), "f", json!({}))])));
    let preferred =
        record_of(&json!({"input": {"messages": [{"role": "user", "content": "hi"}], "tools": tools},
        "preferred_output": [{"role": "assistant", "content": "yes"}],
        "non_preferred_output": [{"role": "assistant", "content": "no"}]}));
    assert_eq!(preferred.response, Some(Message::text(Role::Assistant, "yes")));
}

#[test]
fn a_last_turn_stays_if_there_is_another_answer_or_nothing_before_it() {
    let tools = json!([{"type": "function", "function": {"name": "f"}}]);
    let opening = json!([{"role": "system", "content": "s"}, {"role": "assistant", "content": "Yes?"}]);
    assert_eq!(record_of(&json!({"messages": opening, "tools": tools})).messages.len(), 2);
    let begun = json!([{"role": "user", "content": "hi"}, {"role": "assistant", "content": "{"}]);
    for more in [json!({"response": "x"}), json!({"status": 500}), json!({"response": {"error": "x"}})] {
        let mut line = json!({"messages": begun, "tools": tools});
        line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        assert_eq!(record_of(&line).messages.len(), 2, "{line}");
    }
    // Messages that were sent to an API stay as they were sent.
    let sent = json!({"request": {"messages": begun, "tools": tools}});
    assert_eq!(record_of(&sent).messages.len(), 2);
    // Anthropic's prefill is part of the question.
    let prefilled = json!({"messages": begun, "tools": [{"name": "f", "input_schema": {}}]});
    assert_eq!(record_of(&prefilled).messages.len(), 2);
}

#[test]
fn an_older_result_keeps_the_name_of_its_function() {
    let record =
        record_of(&json!({"functions": [{"name": "f"}], "function_call": {"name": "f"}, "messages": [
        {"role": "user", "content": "hi", "name": "anna"},
        {"role": "assistant", "content": null, "function_call": {"name": "f", "arguments": "{\"x\": 1}"}},
        {"role": "function", "name": "f", "content": "7"}]}));
    let messages = [
        Message::text(Role::User, "hi"),
        calling("", vec![call(None, "f", json!({"x": 1}))]),
        Message { name: Some("f".to_owned()), ..result(None, "7") },
    ];
    assert_eq!(record.messages, messages);
    assert_eq!(record.facts.tool_choice.as_deref(), Some("function:f"));
}

#[test]
fn a_bedrock_request_is_read_whole() {
    let request = json!({
        "system": [{"text": "Be brief."}, {"cachePoint": {"type": "default"}}],
        "messages": [
            {"role": "user", "content": [{"text": "hi"}]},
            {"role": "assistant", "content": [{"toolUse": {"toolUseId": "t1", "name": "f", "input": {"x": 1}}}]},
            {"role": "user", "content": [
                {"toolResult": {"toolUseId": "t1", "content": [{"json": {"y": 2}}], "status": "error"}}]}],
        "toolConfig": {"tools": [{"toolSpec": {"name": "f", "inputSchema": {"json": {}}}}], "toolChoice": {"any": {}}}});
    let response = json!({"output": {"message": {"role": "assistant", "content": [
        {"reasoningContent": {"reasoningText": {"text": "hm"}}}, {"text": "So."},
        {"toolUse": {"toolUseId": "t2", "name": "f", "input": {}}}]}}, "stopReason": "tool_use"});
    let messages = [
        Message::text(Role::System, "Be brief."),
        Message::text(Role::User, "hi"),
        calling("", vec![call(Some("t1"), "f", json!({"x": 1}))]),
        Message { is_error: true, ..result(Some("t1"), "{\"y\":2}") },
    ];
    let mut at_once = request.clone();
    at_once.as_object_mut().unwrap().extend(response.as_object().unwrap().clone());
    for line in [
        json!({"requestId": "r", "timestamp": "2024-02-26T00:01:32Z", "modelId": "m",
            "input": {"inputBodyJson": request}, "output": {"outputBodyJson": response}}),
        json!({"id": "r", "ts": 1_708_905_692, "modelId": "m", "request": request, "response": response}),
        json!({"id": "r", "ts": 1_708_905_692, "modelId": "m", "body": at_once, "response": {"body": response}}),
    ] {
        let mut record = record_of(&line);
        record.facts.model.get_or_insert("m".to_owned());
        assert_eq!((record.log_format, record.external_id.as_deref()), ("bedrock-converse", Some("r")));
        assert_eq!(record.messages, messages);
        assert_eq!(record.response, Some(calling("So.", vec![call(Some("t2"), "f", json!({}))])));
        let expected = Facts {
            time_ms: Some(1_708_905_692_000),
            model: Some("m".to_owned()),
            tool_choice: Some("required".to_owned()),
            finish_reason: Some("tool_use".to_owned()),
            ..Facts::default()
        };
        assert_eq!(record.facts, expected);
    }
    assert_eq!(record_of(&at_once).facts.finish_reason.as_deref(), Some("tool_use"));
}

#[test]
fn a_gemini_request_is_read_in_both_spellings() {
    for (system, tools, config, declared, called) in [
        ("systemInstruction", "functionCallingConfig", "toolConfig", "functionDeclarations", "functionCall"),
        (
            "system_instruction",
            "function_calling_config",
            "tool_config",
            "function_declarations",
            "function_call",
        ),
    ] {
        let record = record_of(&json!({
            "request": {system: {"parts": [{"text": "Be brief."}]}, "contents": [{"parts": [{"text": "hi"}]}],
                "tools": [{declared: [{"name": "f"}]}], config: {tools: {"mode": "ANY"}}},
            "response": {"candidates": [{"finishReason": "STOP", "content": {"role": "model", "parts": [
                {called: {"name": "f", "args": {"x": 1}}}]}}]}}));
        assert_eq!(
            record.messages,
            [Message::text(Role::System, "Be brief."), Message::text(Role::User, "hi")]
        );
        assert_eq!(record.response, Some(calling("", vec![call(None, "f", json!({"x": 1}))])));
        assert_eq!(record.facts.tool_choice.as_deref(), Some("required"));
        assert_eq!(record.facts.finish_reason.as_deref(), Some("STOP"));
    }
    let logged = json!({"logging_time": "2024-02-26T00:01:32Z", "full_response": {"candidates": []},
        "full_request": {"contents": [{"role": "user", "parts": [{"text": "hi"}]}], "tools": [{"functionDeclarations": [{"name": "f"}]}]}});
    assert_eq!(record_of(&logged).facts.time_ms, Some(1_708_905_692_000));
}

#[test]
fn a_request_with_a_streamed_or_truncated_answer_is_kept() {
    let events = "data: {\"object\": \"chat.completion.chunk\"}\n\ndata: [DONE]\n\n";
    let anthropic = "event: message_start\ndata: {\"type\": \"message_start\"}\n\n";
    let cut = "{\"choices\": [{... (litellm_truncated 90 chars)";
    for (response, finish_reason) in [
        (json!(events), "stream"),
        (json!(anthropic), "stream"),
        (json!([{"object": "chat.completion.chunk", "choices": []}]), "stream"),
        (json!([{"type": "message_start"}, {"type": "content_block_delta"}]), "stream"),
        (json!(["data: {}", "data: [DONE]"]), "stream"),
        (json!(cut), "truncated"),
        (json!({"choices": [{"message": {}}]}), "unreadable"),
    ] {
        let record = record_of(&json!({"request": bodies()[1].1, "response": response}));
        assert_eq!((record.response, record.facts.finish_reason.as_deref()), (None, Some(finish_reason)));
    }
    let said = "data: none\nI could not find any.";
    let record = record_of(&json!({"request": bodies()[1].1, "response": said}));
    assert_eq!(record.response, Some(Message::text(Role::Assistant, said)));
}

#[test]
fn all_contents_that_googles_library_accepts_are_read() {
    let asked = |contents: Value| {
        let request = json!({"contents": contents, "tools": [{"functionDeclarations": [{"name": "f"}]}],
            "system_instruction": {"parts": {"text": "Be brief."}}});
        record_of(&request).messages
    };
    let expected = [Message::text(Role::System, "Be brief."), Message::text(Role::User, "hi")];
    for contents in [
        json!("hi"),
        json!(["hi"]),
        json!([{"text": "hi"}]),
        json!([{"parts": {"text": "hi"}}]),
        json!({"role": "user", "parts": [{"text": "hi"}]}),
        json!([{"parts": [{"text": "hi"}]}]).to_string().into(),
    ] {
        assert_eq!(asked(contents.clone()), expected, "{contents}");
    }
    let arguments = json!({"model": "gemini-2.0", "contents": "hi", "config": {
        "tools": [{"function_declarations": [{"name": "f"}]}], "system_instruction": "Be brief."}});
    let record = record_of(&arguments);
    assert_eq!((record.log_format, &record.messages[..]), ("gemini-contents", &expected[..]));
}

#[test]
fn a_finished_conversation_is_split_at_the_decision() {
    let asked = json!({"role": "user", "content": "When is high tide?"});
    let calls = json!({"role": "assistant", "tool_calls": [
        {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{\"x\": 1}"}}]});
    let gave = json!({"role": "tool", "tool_call_id": "c", "content": "noon"});
    let final_text = json!({"role": "assistant", "content": "At noon."});
    let record = |messages: Value| record_of(&json!({"messages": messages, "tools": [{"name": "f"}]}));

    let finished = record(json!([asked, calls, gave, final_text]));
    assert_eq!(finished.messages, [Message::text(Role::User, "When is high tide?")]);
    assert_eq!(finished.response, Some(calling("", vec![call(Some("c"), "f", json!({"x": 1}))])));
    assert_eq!(
        finished.following_messages,
        [result(Some("c"), "noon"), Message::text(Role::Assistant, "At noon.")]
    );

    let going_on = record(json!([asked, calls, gave]));
    assert_eq!(
        (going_on.messages.len(), going_on.response, going_on.following_messages),
        (3, None, Vec::new())
    );
    let answered = record(json!([asked, final_text]));
    assert_eq!((answered.messages.len(), answered.following_messages), (1, Vec::new()));
    assert_eq!(answered.response, Some(Message::text(Role::Assistant, "At noon.")));
}

#[test]
fn a_conversation_that_ends_in_a_goodbye_is_split_at_the_decision() {
    let asked = json!({"role": "user", "content": "Book a squash court for six o'clock."});
    let calls = json!({"role": "assistant", "tool_calls": [
        {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{\"hour\": 18}"}}]});
    let gave = json!({"role": "tool", "tool_call_id": "c", "content": "court 4"});
    let booked = json!({"role": "assistant", "content": "Court 4 is yours. Anything else?"});
    let said = |text: &str| json!({"role": "user", "content": text});
    let closing = json!({"role": "assistant", "content": "Have fun!"});
    let hangs_up = json!({"role": "assistant", "tool_calls": [{"id": "d", "function": {"name": "g"}}]});
    let tools = json!([{"name": "f"}, {"name": "g"}]);
    let record = |messages: Value| record_of(&json!({"messages": messages, "tools": tools}));
    let decided = Some(calling("", vec![call(Some("c"), "f", json!({"hour": 18}))]));

    for goodbye in
        ["No, thank you!", "Merci, au revoir", "ok thanks, bye", "No, that’s all.", "Very helpful, thanks"]
    {
        for ending in [vec![closing.clone()], vec![]] {
            let mut messages =
                vec![asked.clone(), calls.clone(), gave.clone(), booked.clone(), said(goodbye)];
            messages.extend(ending);
            let n_following = messages.len() - 2;
            let cut = record(messages.into());
            assert_eq!(cut.messages, [Message::text(Role::User, "Book a squash court for six o'clock.")]);
            assert_eq!((cut.response, cut.following_messages.len()), (decided.clone(), n_following));
        }
    }
    // A real request, a goodbye without an earlier call, and a call in answer to a goodbye stay as they are.
    let going_on = record(json!([asked, calls, gave, booked, said("Thanks, and the sauna too?"), closing]));
    assert_eq!(
        (going_on.messages.len(), going_on.response),
        (5, Some(Message::text(Role::Assistant, "Have fun!")))
    );
    for decides in ["Yes", "No, book court 2", "That's all the time I have, cancel it"] {
        let kept = record(json!([asked, calls, gave, booked, said(decides), closing]));
        assert_eq!((kept.messages.len(), kept.following_messages), (5, Vec::new()), "{decides}");
    }
    let polite = record(json!([asked, booked, said("No, thank you!"), closing]));
    assert_eq!((polite.messages.len(), polite.following_messages), (3, Vec::new()));
    let ended = record(json!([asked, calls, gave, booked, said("Thanks, bye"), hangs_up]));
    assert_eq!((ended.messages.len(), ended.following_messages), (5, Vec::new()));
    // Messages that were sent to an API stay as they were sent.
    let sent = json!({"request": {"messages": [asked, calls, gave, booked, said("Thanks"), closing], "tools": tools}});
    assert_eq!(record_of(&sent).messages.len(), 6);
}
