//! Tests of requests as stored by observability tools.

use serde_json::{Value, json};

use super::{call, calling, outline, read, record, record_of, result};
use crate::facts::Facts;
use crate::fate::{LineFate, Record};
use callsieve_bfcl::conversation::{Message, Role};

const SECOND: i64 = 1_708_905_692_000;

fn tool() -> Value {
    json!({"type": "function", "function": {"name": "f"}})
}

fn hi() -> Value {
    json!({"role": "user", "content": "hi"})
}

/// Asserts the content of the request of every log format here: "hi" to a function `f`, which the model calls.
fn assert_same(record: &Record, log_format: &str, facts: &Facts) {
    assert_eq!(record.log_format, log_format);
    assert_eq!(record.messages, [Message::text(Role::User, "hi")]);
    assert!(record.functions.starts_with("[{") && record.functions.contains("\"f\""), "{}", record.functions);
    let mut response = record.response.clone().expect("a response");
    response.calls.iter_mut().for_each(|call| call.id = None);
    assert_eq!(response, calling("", vec![call(None, "f", json!({"x": 1}))]));
    assert_eq!(record.facts, *facts);
}

fn facts(finish_reason: Option<&str>) -> Facts {
    Facts {
        time_ms: Some(SECOND),
        model: Some("m".to_owned()),
        user: Some("u".to_owned()),
        assistant: None,
        session: Some("s".to_owned()),
        tool_choice: Some("auto".to_owned()),
        parallel_tool_calls: Some(false),
        finish_reason: finish_reason.map(str::to_owned),
        status: None,
    }
}

fn answer() -> Value {
    json!({"role": "assistant", "content": null,
        "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{\"x\": 1}"}}]})
}

fn completion() -> Value {
    json!({"object": "chat.completion", "choices": [{"finish_reason": "tool_calls", "message": answer()}]})
}

#[test]
fn litellm_payloads_and_spend_logs_are_read_whole() {
    let settings = json!({"tools": [tool()], "tool_choice": "auto", "parallel_tool_calls": false});
    for response in [completion(), json!(completion().to_string())] {
        let payload = json!({"id": "i", "status": "success", "startTime": "2024-02-26 00:01:32", "model": "m",
            "messages": [hi()], "end_user": "u", "metadata": {"session_id": "s"}, "model_parameters": settings,
            "response": response});
        assert_same(&record_of(&payload), "litellm-payload", &facts(Some("tool_calls")));
    }
    let mut sent = settings;
    sent["model"] = json!("m");
    sent["messages"] = json!([hi()]);
    for sent in [sent.clone(), json!({"url": "/chat", "body": sent})] {
        let row = json!({"request_id": "i", "startTime": "2024-02-26 00:01:32", "user": "", "end_user": "u",
            "session_id": "s", "messages": "{}", "response": completion().to_string(),
            "proxy_server_request": sent.to_string(), "status": "success"});
        assert_same(&record_of(&row), "openai-chat", &facts(Some("tool_calls")));
        let mut failed = row;
        failed["status"] = json!("failure");
        let failed = record_of(&failed);
        assert_eq!((failed.response, failed.facts.finish_reason.as_deref()), (None, Some("error")));
    }
}

fn langfuse(fields: &Value) -> Value {
    let mut row = json!({"id": "o", "type": "GENERATION", "startTime": "2024-02-26T00:01:32Z", "model": "m",
        "userId": "u", "sessionId": "s", "traceId": "t", "output": answer(),
        "modelParameters": {"tool_choice": "auto", "parallel_tool_calls": false}});
    row.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    row
}

#[test]
fn langfuse_tools_are_found_in_many_places() {
    let defined = json!({"role": "tool", "content": tool()});
    let mut carrying = hi();
    carrying["tools"] = json!([tool()]);
    let named = json!({"f": "{\"description\": \"d\", \"parameters\": \"{\\\"type\\\": \\\"object\\\"}\"}"});
    for fields in [
        json!({"input": {"tools": [tool()], "messages": [hi()]}}),
        json!({"input": json!({"tools": [tool()], "messages": [hi()]}).to_string()}),
        json!({"input": [carrying]}),
        json!({"input": {"messages": [carrying]}}),
        json!({"input": [hi(), defined]}),
        json!({"input": {"messages": [defined, hi()]}}),
        json!({"input": [hi()], "metadata": {"tools": [tool()]}}),
        json!({"input": {"messages": [hi()], "tools": []}, "metadata": {"tools": [tool()]}, "tool_definitions": {}}),
        json!({"input": "hi", "metadata": json!({"tools": [tool()]}).to_string()}),
        json!({"input": [hi()], "metadata": {"attributes": {"gen_ai.tool.definitions": [tool()]}}}),
        json!({"input": [hi()], "metadata": {"attributes": {"gen_ai.tool.definitions": json!([tool()]).to_string()}}}),
        json!({"input": [hi()], "metadata": {"attributes": {"ai.prompt.tools": [tool().to_string()]}}}),
        json!({"input": [hi()], "metadata": {"attributes": {"llm.tools.0.tool.json_schema": tool().to_string()}}}),
        json!({"input": [hi()], "metadata": {"attributes": {
            "model_request_parameters": "{\"function_tools\": [{\"name\": \"f\"}]}"}}}),
        json!({"input": json!([hi()]).to_string(), "tool_definitions": named}),
        json!({"input": [hi()], "toolDefinitions": named.to_string()}),
    ] {
        assert_same(&record_of(&langfuse(&fields)), "langfuse", &facts(None));
    }
}

#[test]
fn langfuse_answers_of_many_forms_are_read() {
    let input = json!({"tools": [tool()], "messages": [hi()]});
    let used = json!({"type": "tool_use", "id": "c", "name": "f", "input": {"x": 1}});
    for (output, finish_reason) in [
        (completion(), Some("tool_calls")),
        (answer(), None),
        (json!(answer().to_string()), None),
        (json!([answer()]), None),
        (json!({"tool_calls": [{"id": "c", "name": "f", "args": {"x": 1}}]}), None),
        (json!({"role": "assistant", "content": [used]}), None),
        (json!([used]), None),
        (json!({"content": "", "additional_kwargs": {"tool_calls": answer()["tool_calls"]}}), None),
    ] {
        let row = langfuse(&json!({"input": input, "output": output}));
        assert_same(&record_of(&row), "langfuse", &facts(finish_reason));
    }
    let said = record_of(&langfuse(&json!({"input": input, "output": "{\"Paris\": 1}"})));
    assert_eq!(said.response, Some(Message::text(Role::Assistant, "{\"Paris\": 1}")));
    let none = record_of(&langfuse(&json!({"input": input, "output": null})));
    assert_eq!(none.response, None);
    let failed = record_of(&langfuse(&json!({"input": input, "level": "ERROR"})));
    assert_eq!((failed.response, failed.facts.finish_reason.as_deref()), (None, Some("error")));
}

#[test]
fn a_plain_langfuse_input_stays_unchanged() {
    for asked in ["hi", "[1, 2]", "{\"a\": 1}"] {
        let row = langfuse(&json!({"input": asked, "metadata": {"tools": [tool()]}}));
        assert_eq!(record_of(&row).messages, [Message::text(Role::User, asked)]);
    }
}

fn constructed(class: &str, kwargs: &Value) -> Value {
    json!({"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", class], "kwargs": kwargs})
}

#[test]
fn langsmith_runs_are_read_in_every_form_of_message() {
    let called = json!({"content": "", "tool_calls": [{"id": "c", "name": "f", "args": {"x": 1}, "type": "tool_call"}]});
    let older = json!({"content": "", "additional_kwargs": {"tool_calls": answer()["tool_calls"]}});
    let params =
        json!({"model_name": "m", "tools": [tool()], "tool_choice": "auto", "parallel_tool_calls": false});
    let generation = |message: Value| json!({"generations": [[{"text": "", "message": message}]]});
    for (messages, outputs, finish_reason) in [
        (json!([hi()]), completion(), Some("tool_calls")),
        (
            json!([[constructed("HumanMessage", &json!({"content": "hi"}))]]),
            generation(constructed("AIMessage", &called)),
            None,
        ),
        (
            json!([[constructed("HumanMessageChunk", &json!({"content": "hi"}))]]),
            generation(json!({"kwargs": older})),
            None,
        ),
        (
            json!([{"type": "human", "data": {"content": "hi"}}]),
            generation(json!({"type": "ai", "data": called})),
            None,
        ),
        (
            json!([{"type": "human", "content": [{"type": "text", "text": "hi"}]}]),
            generation(called.clone()),
            None,
        ),
        (
            json!([hi()]),
            json!({"generations": [[{"generation_info": {"finish_reason": "tool_calls"}, "message": older}]]}),
            Some("tool_calls"),
        ),
    ] {
        let run = json!({"id": "r", "run_type": "llm", "start_time": 1_708_905_692_000_i64, "session_id": "project",
            "inputs": {"messages": messages}, "outputs": outputs,
            "extra": {"invocation_params": params, "metadata": {"thread_id": "s", "user_id": "u"}}});
        assert_same(&record_of(&run), "langsmith", &facts(finish_reason));
        // Bulk exports are tables whose cells are strings.
        let mut row = run.clone();
        for column in ["inputs", "outputs", "extra"] {
            row[column] = json!(run[column].to_string());
        }
        assert_same(&record_of(&row), "langsmith", &facts(finish_reason));
    }
}

#[test]
fn a_langchain_conversation_keeps_results_and_has_no_duplicates() {
    let used = json!([{"type": "tool_use", "id": "c", "name": "f", "input": {"x": 1}}]);
    let messages = json!([[
        constructed("SystemMessage", &json!({"content": "s"})),
        constructed("HumanMessage", &json!({"content": "hi"})),
        constructed(
            "AIMessage",
            &json!({"content": used, "tool_calls": [{"id": "c", "name": "f", "args": {"x": 1}}]})
        ),
        constructed(
            "ToolMessage",
            &json!({"content": "no", "tool_call_id": "c", "name": "f", "status": "error"})
        )
    ]]);
    let record = record_of(
        &json!({"inputs": {"messages": messages, "tools": [tool()]}, "outputs": null, "error": "boom"}),
    );
    let expected = [
        Message::text(Role::System, "s"),
        Message::text(Role::User, "hi"),
        calling("", vec![call(Some("c"), "f", json!({"x": 1}))]),
        Message { is_error: true, name: Some("f".to_owned()), ..result(Some("c"), "no") },
    ];
    assert_eq!(record.messages, expected);
    assert_eq!(record.facts.finish_reason.as_deref(), Some("error"));
}

#[test]
fn helicone_rows_are_read_from_json_and_from_tables() {
    let body = json!({"model": "m", "messages": [hi()], "tools": [tool()], "tool_choice": "auto", "parallel_tool_calls": false});
    let row = json!({"request_id": "q", "request_created_at": "2024-02-26T00:01:32Z", "request_user_id": "u",
        "request_properties": {"Helicone-Session-Id": "s"}, "request_body": body, "response_body": completion()});
    assert_same(&record_of(&row), "openai-chat", &facts(Some("tool_calls")));
    let quoted = body.to_string().replace('"', "\"\"");
    let table = format!("request_id,request_created_at,request_body\nq,2024-02-26T00:01:32Z,\"{quoted}\"\n");
    let read = record(read("log.csv", table).remove(0).fate);
    assert_eq!((read.log_format, read.facts.time_ms, read.response), ("openai-chat", Some(SECOND), None));
}

/// Returns the attributes of one request by three conventions, each with the log format it is read as.
fn spans() -> Vec<(&'static str, Value, Option<&'static str>)> {
    let flat = json!({"gen_ai.request.model": "m", "gen_ai.conversation.id": "s", "user.id": "u",
        "llm.invocation_parameters": "{\"tool_choice\": \"auto\", \"parallel_tool_calls\": false}"});
    let with = |more: Value| {
        let mut attributes = flat.clone();
        attributes.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        attributes
    };
    let input = json!([{"role": "user", "parts": [{"type": "text", "content": "hi"}]}]);
    let output = json!([{"role": "assistant", "finish_reason": "tool_call",
        "parts": [{"type": "tool_call", "id": "c", "name": "f", "arguments": {"x": 1}}]}]);
    let listed = json!([{"role": "user", "content": [{"type": "text", "text": "hi"}]}]);
    let docs =
        json!([json!({"type": "function", "name": "f", "inputSchema": {"type": "object"}}).to_string()]);
    let events = json!([{"event.name": "gen_ai.user.message", "content": "hi", "role": "user"},
        {"event.name": "gen_ai.choice", "index": 0, "message": answer()}]);
    let parameters =
        json!({"function_tools": [{"name": "f", "parameters_json_schema": {}}], "output_tools": []});
    vec![
        (
            "otel-genai",
            with(
                json!({"gen_ai.input.messages": input, "gen_ai.output.messages": output, "gen_ai.tool.definitions": [tool()]}),
            ),
            Some("tool_call"),
        ),
        (
            "otel-genai",
            with(
                json!({"gen_ai.input.messages": input.to_string(), "gen_ai.output.messages": output.to_string(),
                "gen_ai.tool.definitions": json!([tool()]).to_string()}),
            ),
            Some("tool_call"),
        ),
        ("otel-genai", with(json!({"events": events, "model_request_parameters": parameters})), None),
        (
            "otel-genai",
            with(json!({"events": events.to_string(), "model_request_parameters": parameters.to_string()})),
            None,
        ),
        (
            "vercel-ai",
            with(json!({"ai.prompt.messages": listed.to_string(), "ai.prompt.tools": docs,
                "ai.response.finishReason": "tool-calls", "ai.response.text": "",
                "ai.response.toolCalls": "[{\"toolCallId\": \"c\", \"toolName\": \"f\", \"input\": {\"x\": 1}}]"})),
            Some("tool-calls"),
        ),
        (
            "vercel-ai",
            with(
                json!({"ai.prompt": json!({"messages": listed}).to_string(), "ai.prompt.tools": docs.to_string(),
                "ai.response.toolCalls": "[{\"toolCallId\": \"c\", \"toolName\": \"f\", \"args\": \"{\\\"x\\\": 1}\"}]"}),
            ),
            None,
        ),
        (
            "vercel-ai",
            with(json!({"ai.prompt": "hi", "ai.prompt.tools": docs, "ai.finishReason": "tool-calls",
                "ai.result.toolCalls": "[{\"toolCallId\": \"c\", \"toolName\": \"f\", \"args\": {\"x\": 1}}]"})),
            Some("tool-calls"),
        ),
        (
            "openllmetry",
            with(
                json!({"gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": "[{\"type\": \"text\", \"text\": \"hi\"}]",
                "llm.request.functions.0.name": "f", "llm.request.functions.0.parameters": "{\"type\": \"object\"}",
                "gen_ai.completion.0.role": "assistant", "gen_ai.completion.0.finish_reason": "tool_calls",
                "gen_ai.completion.0.tool_calls.0.id": "c", "gen_ai.completion.0.tool_calls.0.name": "f",
                "gen_ai.completion.0.tool_calls.0.arguments": "{\"x\": 1}"}),
            ),
            Some("tool_calls"),
        ),
        (
            "openinference",
            with(json!({"llm.input_messages.0.message.role": "user",
                "llm.input_messages.0.message.contents.0.message_content.type": "text",
                "llm.input_messages.0.message.contents.0.message_content.text": "hi",
                "llm.tools.0.tool.json_schema": tool().to_string(),
                "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "f",
                "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments": "{\"x\": 1}"})),
            None,
        ),
        (
            "openinference",
            with(json!({"llm.input_messages": [{"message.role": "user", "message.content": "hi"}],
                "llm.tools": [{"tool.json_schema": tool().to_string()}],
                "llm.output_messages": [{"message": {"role": "assistant",
                    "tool_calls": [{"tool_call.function.name": "f", "tool_call.function.arguments": "{\"x\": 1}"}]}}]})),
            None,
        ),
    ]
}

/// Returns a value as OTLP's JSON types it.
fn typed(value: &Value) -> Value {
    match value {
        Value::Array(list) => json!({"arrayValue": {"values": list.iter().map(typed).collect::<Vec<_>>()}}),
        Value::Object(_) => json!({"kvlistValue": {"values": pairs(value)}}),
        Value::Number(number) => json!({"intValue": number.to_string()}),
        other => json!({"stringValue": other}),
    }
}

fn pairs(object: &Value) -> Vec<Value> {
    object
        .as_object()
        .unwrap()
        .iter()
        .map(|(key, value)| json!({"key": key, "value": typed(value)}))
        .collect()
}

#[test]
fn spans_are_read_by_every_convention_flat_listed_or_loose() {
    for (log_format, attributes, finish_reason) in spans() {
        let mut loose = attributes.clone();
        loose["start_time"] = json!("2024-02-26T00:01:32Z");
        for span in [
            json!({"spanId": "x", "startTimeUnixNano": "1708905692000000000", "attributes": attributes}),
            json!({"startTimeUnixNano": "1708905692000000000", "attributes": attributes.to_string()}),
            loose,
        ] {
            assert_same(&record_of(&span), log_format, &facts(finish_reason));
        }
    }
    for (log_format, attributes, finish_reason) in spans() {
        let span = json!({"startTimeUnixNano": "1708905692000000000", "attributes": pairs(&attributes)});
        assert_same(&record_of(&span), log_format, &facts(finish_reason));
    }
}

#[test]
fn a_span_keeps_instructions_calls_and_results() {
    let span = json!({"attributes": {
        "gen_ai.system_instructions": [{"type": "text", "content": "Be brief."}],
        "gen_ai.input.messages": [
            {"role": "user", "parts": [{"type": "text", "content": "hi"}]},
            {"role": "assistant", "parts": [{"type": "reasoning", "content": "hm"},
                {"type": "tool_call", "id": "c", "name": "f", "arguments": {"x": 1}}]},
            {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c", "response": {"y": 2}}]}],
        "gen_ai.tool.definitions": [tool()]}});
    let expected = [
        Message::text(Role::System, "Be brief."),
        Message::text(Role::User, "hi"),
        calling("", vec![call(Some("c"), "f", json!({"x": 1}))]),
        result(Some("c"), "{\"y\":2}"),
    ];
    assert_eq!(record_of(&span).messages, expected);
}

#[test]
fn each_span_and_each_run_of_a_line_has_its_own_fate() {
    let (_, attributes, _) = spans().remove(2);
    let span = |id: &str| json!({"spanId": id, "attributes": pairs(&attributes)});
    let other =
        json!({"spanId": "d", "attributes": [{"key": "http.method", "value": {"stringValue": "GET"}}]});
    let line = json!({"resourceSpans": [
        {"scopeSpans": [{"spans": [span("a"), other]}]}, {"scopeSpans": [{"spans": [span("b")]}]}]});
    let lines = read("log.jsonl", format!("{line}\n{line}\n"));
    let expected = [(1, "record"), (1, "ingest/unknown-log-format"), (1, "record")];
    assert_eq!(outline(&lines[..3]), expected);
    assert_eq!(lines.iter().map(|line| line.part).collect::<Vec<_>>(), [0, 1, 2, 0, 1, 2]);
    let keys: Vec<u128> = lines
        .iter()
        .filter_map(|line| match &line.fate {
            LineFate::Record(record) => Some(record.content_key),
            _ => None,
        })
        .collect();
    assert_eq!(keys[..2], keys[2..], "a part is known by its own content");
    assert_ne!(keys[0], keys[1]);

    let run = json!({"inputs": {"messages": [hi()], "tools": [tool()]}});
    for line in [json!({"runs": [run, run]}), json!({"data": [{"runs": [run, run]}]})] {
        assert_eq!(outline(&read("log.jsonl", line.to_string())), [(1, "record"), (1, "record")]);
    }
    let trace =
        json!({"sessionId": "s", "observations": [{"input": [hi()], "metadata": {"tools": [tool()]}}]});
    let observed = record(read("log.json", trace.to_string()).remove(0).fate);
    assert_eq!(observed.facts.session.as_deref(), Some("s"));
}

#[test]
fn a_span_of_the_vercel_sdk_keeps_its_history_its_answer_and_its_metadata() {
    let messages = json!([
        {"role": "system", "content": "Run the orchard."},
        {"role": "user", "content": [{"type": "text", "text": "Is the pear ripe?"}]},
        {"role": "assistant", "content": [
            {"type": "reasoning", "text": "hm"},
            {"type": "tool-call", "toolCallId": "c", "toolName": "f", "input": {"x": 1}}]},
        {"role": "tool", "content": [{"type": "tool-result", "toolCallId": "c", "toolName": "f",
            "output": {"type": "json", "value": {"ripe": true}}}]}]);
    let span = |more: Value| {
        let mut attributes = json!({"ai.operationId": "ai.streamText.doStream", "ai.prompt.messages": messages.to_string(),
            "ai.prompt.tools": ["{\"name\": \"f\"}"], "ai.prompt.toolChoice": "{\"type\": \"tool\", \"toolName\": \"f\"}",
            "ai.model.id": "m", "ai.telemetry.metadata.userId": "u", "ai.telemetry.metadata.sessionId": "s"});
        attributes.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"traceId": "t", "spanId": "x", "attributes": attributes, "status": {"code": 1}})
    };
    let expected = [
        Message::text(Role::System, "Run the orchard."),
        Message::text(Role::User, "Is the pear ripe?"),
        calling("", vec![call(Some("c"), "f", json!({"x": 1}))]),
        Message { name: Some("f".to_owned()), ..result(Some("c"), "{\"ripe\":true}") },
    ];
    let said = Some(Message::text(Role::Assistant, "Yes, it is."));
    for (more, finish_reason) in [
        (
            json!({"ai.response.text": "Yes, it is.", "ai.response.finishReason": "stop", "ai.response.id": "r"}),
            Some("stop"),
        ),
        (json!({"ai.response.text": "Yes, it is.", "ai.response.model": "m"}), None),
    ] {
        let read = record_of(&span(more));
        assert_eq!((&read.messages[..], &read.response), (&expected[..], &said));
        assert_eq!(read.facts.finish_reason.as_deref(), finish_reason);
        let facts = [read.facts.model, read.facts.user, read.facts.session, read.facts.tool_choice];
        assert_eq!(facts.map(Option::unwrap), ["m", "u", "s", "function:f"]);
    }
    let ended = record_of(&span(json!({"ai.response.finishReason": "length", "ai.response.id": "r"})));
    assert_eq!((ended.response, ended.facts.finish_reason.as_deref()), (None, Some("length")));
    let denied = json!([{"role": "tool", "content": [{"type": "tool-result", "toolCallId": "c", "toolName": "f",
        "output": {"type": "error-text", "value": "no ladder"}}]}]);
    let failed = record_of(&span(json!({"ai.prompt.messages": denied.to_string()})));
    assert_eq!((failed.messages[0].content.as_str(), failed.messages[0].is_error), ("no ladder", true));
}

#[test]
fn message_events_keep_instructions_calls_results_and_output_tools() {
    let events = json!([
        {"event.name": "gen_ai.system.message", "content": "Run the orchard.", "role": "system"},
        {"event.name": "gen_ai.user.message", "content": ["Is the", {"kind": "text", "text": "pear ripe?"}]},
        {"event.name": "gen_ai.assistant.message", "role": "assistant", "content": [{"kind": "thinking", "text": "hm"}],
            "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": {"x": 1}}}]},
        {"event.name": "gen_ai.tool.message", "role": "tool", "id": "c", "name": "f", "content": [{"ripe": true}]},
        {"event.name": "gen_ai.choice", "index": 0, "message": {"role": "assistant", "content": "Yes."}},
        {"event.name": "gen_ai.choice", "index": 0, "message": {"role": "assistant", "tool_calls": [
            {"id": "d", "type": "function", "function": {"name": "done", "arguments": "{}"}}]}}]);
    let parameters = json!({"function_tools": [{"name": "f"}], "output_tools": [{"name": "done"}]});
    let span = json!({"attributes": {"gen_ai.operation.name": "chat", "gen_ai.response.finish_reasons": ["tool_call"],
        "events": events.to_string(), "model_request_parameters": parameters.to_string()}});
    let record = record_of(&span);
    let expected = [
        Message::text(Role::System, "Run the orchard."),
        Message::text(Role::User, "Is the\npear ripe?"),
        calling("", vec![call(Some("c"), "f", json!({"x": 1}))]),
        Message { name: Some("f".to_owned()), ..result(Some("c"), "[{\"ripe\":true}]") },
    ];
    assert_eq!(record.messages, expected);
    assert_eq!(record.functions, "[{\"name\":\"f\"},{\"name\":\"done\"}]");
    assert_eq!(record.response, Some(calling("Yes.", vec![call(Some("d"), "done", json!({}))])));
    assert_eq!(record.facts.finish_reason.as_deref(), Some("tool_call"));
    let cut =
        json!({"attributes": {"events": &events.to_string()[..200], "model_request_parameters": parameters}});
    assert_eq!(outline(&read("log.jsonl", cut.to_string())), [(1, "ingest/truncated-by-logger")]);
}

#[test]
fn a_span_around_the_spans_of_calls_is_no_request() {
    let prompt = json!({"prompt": "hi"}).to_string();
    let outer = json!({"spanId": "a", "name": "ai.generateText", "attributes": {
        "ai.operationId": "ai.generateText", "ai.prompt": prompt, "ai.model.id": "m", "ai.response.text": "Done."}});
    let inner = json!({"spanId": "c", "parentSpanId": "b", "attributes": {
        "ai.operationId": "ai.generateText.doGenerate", "ai.prompt.messages": json!([hi()]).to_string(),
        "ai.prompt.tools": [tool()], "ai.response.text": "Done."}});
    let between = json!({"spanId": "b", "parentSpanId": "a", "attributes": {"http.method": "POST"}});
    let mut with_tools = outer.clone();
    with_tools["attributes"]["ai.prompt.tools"] = json!([tool()]);
    let mut other = with_tools.clone();
    other["attributes"]["ai.prompt"] = json!("{\"prompt\": \"Plan my week\"}");

    let surrounding = "ingest/surrounding-span";
    let unknown = "ingest/unknown-log-format";
    let lines = read("log.jsonl", format!("{outer}\n{inner}\n{with_tools}\n"));
    assert_eq!(outline(&lines), [(1, surrounding), (2, "record"), (3, "record")]);
    let fates = |spans: &[&Value]| {
        let line = json!({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]});
        outline(&read("log.jsonl", line.to_string())).into_iter().map(|(_, fate)| fate).collect::<Vec<_>>()
    };
    assert_eq!(fates(&[&outer, &between, &inner]), [surrounding, unknown, "record"]);
    assert_eq!(fates(&[&inner, &with_tools, &between]), ["record", surrounding, unknown]);
    // The call of another agent asks something else, and spans side by side are two requests.
    assert_eq!(fates(&[&other, &between, &inner]), ["record", unknown, "record"]);
    assert_eq!(fates(&[&with_tools, &inner]), ["record", "record"]);
    let mut circle = inner.clone();
    circle["parentSpanId"] = json!("c");
    assert_eq!(fates(&[&circle, &between]), ["record", unknown]);
    let mut parent = inner.clone();
    (parent["spanId"], parent["parentSpanId"]) = (json!("b"), json!("c"));
    assert_eq!(fates(&[&inner, &parent]), ["record", "record"]);
    let run = json!({"name": "agent run", "attributes": {"all_messages_events": "[]", "gen_ai.request.model": "m"}});
    assert_eq!(outline(&read("log.jsonl", run.to_string())), [(1, surrounding)]);
}

#[test]
fn the_users_of_a_gateway_come_before_the_owner_of_its_key() {
    let sent = json!({"messages": [hi()], "tools": [tool()], "user": "shared"});
    let user = |fields: Value| {
        let mut row = json!({"request_id": "i", "user": "owner", "proxy_server_request": sent.to_string()});
        row.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        record_of(&row).facts.user
    };
    assert_eq!(user(json!({"end_user": "guest"})).as_deref(), Some("guest"));
    for fields in [json!({}), json!({"end_user": ""}), json!({"end_user": null})] {
        assert_eq!(user(fields).as_deref(), Some("owner"));
    }
    let row = json!({"input": {"messages": [hi()], "tools": [tool()]}, "provided_model_name": "m"});
    assert_eq!(record_of(&row).facts.model.as_deref(), Some("m"));
}

#[test]
fn the_app_or_team_that_sent_a_request_is_read() {
    let sent = json!({"messages": [hi()], "tools": [tool()]});
    let assistant = |fields: Value, row: Value| {
        let mut row = row;
        row.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        record_of(&row).facts.assistant
    };
    let spend = || json!({"request_id": "i", "proxy_server_request": sent.to_string()});
    let observation = || json!({"input": sent});
    for (fields, row, expected) in [
        (json!({"metadata": {"user_api_key_team_alias": "bells"}, "team_id": "t-1"}), spend(), "bells"),
        (json!({"team_id": "t-1", "request_tags": ["app:x"]}), spend(), "t-1"),
        (json!({"request_tags": "[\"app:x\", \"night\"]"}), spend(), "app:x, night"),
        (json!({"metadata": {"user_api_key_alias": "key of the tower"}}), spend(), "key of the tower"),
        (json!({"trace_name": "ringer"}), observation(), "ringer"),
        (json!({"traceName": "", "tags": ["tower"]}), observation(), "tower"),
    ] {
        assert_eq!(assistant(fields, row).as_deref(), Some(expected));
    }
    assert_eq!(assistant(json!({"tags": []}), observation()), None);
}
