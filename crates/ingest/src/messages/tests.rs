//! Tests of messages of every API, and of unreadable ones.

use serde_json::json;

use super::*;
use callsieve_bfcl::conversation::Call;

#[test]
fn openai_messages_are_read_with_their_calls_and_results() {
    let messages = read_messages(json!([
        {"role": "developer", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
        {"role": "assistant", "content": null, "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{\"x\": 1.50}"}},
            {"id": "c2", "type": "function", "function": {"name": "g", "arguments": "{\"x\": "}}]},
        {"role": "tool", "tool_call_id": "c1", "content": "done"},
        {"role": "assistant", "content": "", "function_call": {"name": "h", "arguments": "{}"}},
    ]));
    let call = |id: Option<&str>, name: &str, arguments| Call {
        id: id.map(str::to_owned),
        name: name.to_owned(),
        arguments,
    };
    let arguments = serde_json::from_str("{\"x\": 1.50}").unwrap();
    let expected = vec![
        Message::text(Role::System, "Be brief."),
        Message::text(Role::User, "a\nb"),
        Message {
            calls: vec![call(Some("c1"), "f", arguments), call(Some("c2"), "g", json!("{\"x\": "))],
            ..Message::text(Role::Assistant, "")
        },
        Message { call_id: Some("c1".to_owned()), ..Message::text(Role::Tool, "done") },
        Message { calls: vec![call(None, "h", json!({}))], ..Message::text(Role::Assistant, "") },
    ];
    assert_eq!(messages, Ok(expected));
}

#[test]
fn anthropic_results_come_before_the_text_of_their_turn() {
    let messages = read_messages(json!([
        {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "hm"},
            {"type": "text", "text": "I look."},
            {"type": "tool_use", "id": "t1", "name": "f", "input": {"x": 1}}]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "t1", "is_error": true, "content": [{"type": "text", "text": "no"}]},
            {"type": "text", "text": "Again."}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t2", "content": "yes"}]},
    ]));
    let call = Call { id: Some("t1".to_owned()), name: "f".to_owned(), arguments: json!({"x": 1}) };
    let result = |id: &str, is_error, text: &str| Message {
        call_id: Some(id.to_owned()),
        is_error,
        ..Message::text(Role::Tool, text)
    };
    let expected = vec![
        Message { calls: vec![call], ..Message::text(Role::Assistant, "I look.") },
        result("t1", true, "no"),
        Message::text(Role::User, "Again."),
        result("t2", false, "yes"),
    ];
    assert_eq!(messages, Ok(expected));
}

#[test]
fn gemini_contents_are_read_with_their_calls_and_results() {
    let messages = read_contents(json!([
        {"parts": [{"text": "How high is the tide?"}]},
        {"role": "model", "parts": [
            {"thought": true, "text": "hm"},
            {"functionCall": {"id": "g1", "name": "tide", "args": {"at": "noon"}}, "thoughtSignature": "c2ln"}]},
        {"role": "user", "parts": [{"functionResponse": {"id": "g1", "name": "tide", "response": {"metres": 2}}}]},
        {"role": "model", "parts": [{"text": "Two metres."}]},
    ]));
    let call = Call { id: Some("g1".to_owned()), name: "tide".to_owned(), arguments: json!({"at": "noon"}) };
    let expected = vec![
        Message::text(Role::User, "How high is the tide?"),
        Message { calls: vec![call], ..Message::text(Role::Assistant, "") },
        Message {
            call_id: Some("g1".to_owned()),
            name: Some("tide".to_owned()),
            ..Message::text(Role::Tool, "{\"metres\":2}")
        },
        Message::text(Role::Assistant, "Two metres."),
    ];
    assert_eq!(messages, Ok(expected));
    let image = json!([{"role": "user", "parts": [{"inlineData": {"mimeType": "image/png"}}]}]);
    assert_eq!(read_contents(image).unwrap_err().detail, "a part with \"inlineData\" and no text");
}

#[test]
fn a_query_that_is_a_list_of_messages_becomes_messages() {
    let both = vec![Message::text(Role::System, "s"), Message::text(Role::User, "it's")];
    let json = "[{\"role\": \"system\", \"content\": \"s\"}, {\"role\": \"user\", \"content\": \"it's\"}]";
    let python = " [{'role': 'system', 'content': 's'}, {'role': 'user', 'content': \"it's\"}]\n";
    for query in [json!(json), json!(python), serde_json::from_str(json).unwrap()] {
        assert_eq!(read_query(query), Ok(both.clone()));
    }
    let nested = json!([[{"role": "system", "content": "s"}, {"role": "user", "content": "it's"}]]);
    assert_eq!(read_query(nested), Ok(both));
}

#[test]
fn any_other_query_is_one_unchanged_user_message() {
    for text in
        ["", " hi\n", "[1, 2, 3]", "[]", "[{'role': 'hero'}]", "[{'role': 'user'", "{\"role\": \"user\"}"]
    {
        assert_eq!(read_query(json!(text)), Ok(vec![Message::text(Role::User, text)]));
    }
    assert_eq!(read_query(json!(42)), Ok(vec![Message::text(Role::User, "42")]));
}

#[test]
fn faults_of_messages_name_the_message() {
    let fault = |messages| read_messages(messages).unwrap_err().detail;
    let user = json!({"role": "user", "content": "hi"});
    assert_eq!(fault(json!([user, {"role": "hero"}])), "message 2 has the role \"hero\"");
    assert_eq!(fault(json!([user, {"content": "x"}])), "message 2 has no role");
    assert_eq!(fault(json!(["hi"])), "message 1 is a text, expected an object with role and content");
    assert_eq!(fault(json!([{"role": "assistant", "tool_calls": [{"id": "c"}]}])), "a call without a name");
    assert_eq!(
        fault(json!([{"role": "user", "content": [{"type": "input_audio"}]}])),
        "a part of type \"input_audio\""
    );
}
