//! Tests of transcripts of every form, from a line to a request.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::fate::{LineFate, Record};
use crate::log_formats::Columns;
use crate::reasons::{BAD_MESSAGE, NO_FUNCTIONS, NO_MESSAGES};
use crate::record::record_of_value;
use callsieve_bfcl::conversation::{Call, Message, Role};

fn fate_of(value: Value) -> LineFate {
    record_of_value(1, 0, value, &Columns::default())
}

fn record_of(value: Value) -> Record {
    match fate_of(value) {
        LineFate::Record(record) => *record,
        other => panic!("no record: {other:?}"),
    }
}

fn reason_of(value: Value) -> &'static str {
    match fate_of(value) {
        LineFate::NoRequest(fault) | LineFate::Unreadable(fault) => fault.reason,
        other => panic!("no fault: {other:?}"),
    }
}

fn text(role: Role, content: &str) -> Message {
    Message::text(role, content)
}

fn calling(content: &str, calls: &[(&str, Value)]) -> Message {
    let call = |(name, arguments): &(&str, Value)| Call {
        id: None,
        name: (*name).to_owned(),
        arguments: arguments.clone(),
    };
    Message { calls: calls.iter().map(call).collect(), ..text(Role::Assistant, content) }
}

const TOOLS: &str = r#"[{"name": "ring", "parameters": {"bell": {"type": "string"}}}]"#;

/// Asserts that a record is the conversation of every form below: a question, a call, its result, an answer, thanks.
fn assert_is_the_bell(record: &Record, log_format: &str, instructions: &[&str]) {
    assert_eq!(record.log_format, log_format);
    let mut asked: Vec<Message> = instructions.iter().map(|said| text(Role::System, said)).collect();
    asked.push(text(Role::User, "Ring the captain's bell."));
    assert_eq!(record.messages, asked);
    assert_eq!(record.response, Some(calling("", &[("ring", json!({"bell": "captain's"}))])));
    let after = [
        text(Role::Tool, "{\"ok\": true}"),
        text(Role::Assistant, "It rang."),
        text(Role::User, "Thanks!"),
        text(Role::Assistant, "Any time."),
    ];
    assert_eq!(record.following_messages, after);
}

#[test]
fn a_sharegpt_conversation_is_cut_at_its_first_call() {
    let turns = json!([
        {"from": "human", "value": "Ring the captain's bell."},
        {"from": "function_call", "value": "{\"name\": \"ring\", \"arguments\": {\"bell\": \"captain's\"}}"},
        {"from": "observation", "value": "{\"ok\": true}"},
        {"from": "gpt", "value": "It rang."},
        {"from": "human", "value": "Thanks!"},
        {"from": "gpt", "value": "Any time."},
    ]);
    let record =
        record_of(json!({"id": "s1", "conversations": turns, "tools": TOOLS, "system": "Be brief."}));
    assert_is_the_bell(&record, "sharegpt", &["Be brief."]);
    assert_eq!((record.functions.as_str(), record.external_id.as_deref()), (TOOLS, Some("s1")));
    let as_text = record_of(json!({"conversations": turns.to_string(), "tools": TOOLS}));
    assert_is_the_bell(&as_text, "sharegpt", &[]);
    let in_request = record_of(
        json!({"request": {"conversations": turns, "tools": serde_json::from_str::<Value>(TOOLS).unwrap()}}),
    );
    assert_is_the_bell(&in_request, "sharegpt", &[]);
}

#[test]
fn a_conversation_of_roles_is_read_with_the_calls_of_chat_apis() {
    let record = record_of(json!({"tools": TOOLS, "conversations": [
        {"role": "user", "content": "Ring the captain's bell."},
        {"role": "assistant", "content": null, "tool_calls": [
            {"type": "function", "function": {"name": "ring", "arguments": "{\"bell\": \"captain's\"}"}}]},
        {"role": "tool", "content": {"ok": true}},
    ]}));
    assert_eq!(record.log_format, "transcript");
    assert_eq!(record.response, Some(calling("", &[("ring", json!({"bell": "captain's"}))])));
    assert_eq!(record.following_messages, [text(Role::Tool, "{\"ok\":true}")]);
}

#[test]
fn turns_of_the_model_that_follow_one_another_are_one() {
    let record = record_of(json!({"tools": TOOLS, "conversations": [
        {"from": "human", "value": "Ring both."},
        {"from": "gpt", "value": "Which ones?"},
        {"from": "human", "value": "Fore and aft."},
        {"from": "gpt", "value": "So be it."},
        {"from": "function_call", "value": {"name": "ring", "arguments": {"bell": "fore"}}},
        {"from": "function_call", "value": "[{\"name\": \"ring\", \"arguments\": {\"bell\": \"aft\"}}]"},
    ]}));
    let asked = [
        text(Role::User, "Ring both."),
        text(Role::Assistant, "Which ones?"),
        text(Role::User, "Fore and aft."),
    ];
    assert_eq!(record.messages, asked);
    let calls = [("ring", json!({"bell": "fore"})), ("ring", json!({"bell": "aft"}))];
    assert_eq!(record.response, Some(calling("So be it.", &calls)));
    assert_eq!(record.following_messages, []);
}

#[test]
fn a_conversation_without_calls_is_cut_at_its_first_answer() {
    let record = record_of(json!({"tools": TOOLS, "conversations": [
        {"from": "gpt", "value": "Welcome."},
        {"from": "human", "value": "Order me a pizza."},
        {"from": "gpt", "value": "I cannot."},
        {"from": "human", "value": "A pity."},
        {"from": "gpt", "value": "It is."},
    ]}));
    assert_eq!(record.messages, [text(Role::Assistant, "Welcome."), text(Role::User, "Order me a pizza.")]);
    assert_eq!(record.response, Some(text(Role::Assistant, "I cannot.")));
    assert_eq!(record.following_messages.len(), 2);
    let open = record_of(json!({"tools": TOOLS, "conversations": [{"from": "human", "value": "Hello?"}]}));
    assert_eq!((open.response, open.facts.finish_reason), (None, None));
}

#[test]
fn an_unreadable_call_is_neither_an_answer_nor_a_refusal() {
    let record = record_of(json!({"tools": TOOLS, "conversations": [
        {"from": "human", "value": "Ring it."},
        {"from": "gpt", "value": "<tool_call>\nring the bell\n</tool_call>"},
        {"from": "tool", "value": "{}"},
    ]}));
    assert_eq!(record.messages, [text(Role::User, "Ring it.")]);
    assert_eq!((record.response, record.facts.finish_reason.as_deref()), (None, Some("unreadable")));
}

#[test]
fn lines_without_a_request_have_a_reason() {
    let human = json!({"from": "human", "value": "hi"});
    assert_eq!(reason_of(json!({"conversations": [human], "tools": "[]"})), NO_FUNCTIONS);
    assert_eq!(reason_of(json!({"conversations": [human]})), NO_FUNCTIONS);
    assert_eq!(
        reason_of(json!({"conversations": [{"from": "gpt", "value": "x"}], "tools": TOOLS})),
        NO_MESSAGES
    );
    assert_eq!(
        reason_of(json!({"conversations": [{"from": "hero", "value": "x"}], "tools": TOOLS})),
        BAD_MESSAGE
    );
    assert_eq!(reason_of(json!({"conversations": ["hi"], "tools": TOOLS})), BAD_MESSAGE);
    let asked = json!({"messages": [{"role": "user", "content": "say <tools>"}]});
    assert_eq!(reason_of(asked.clone()), NO_FUNCTIONS);
    // The answer beside a request without functions is not a lone one.
    let answer = json!({"choices": [{"message": {"role": "assistant", "content": "hi"}}]});
    assert_eq!(reason_of(json!({"request": asked, "response": answer})), NO_FUNCTIONS);
}

const HERMES: &str = "You are a function calling AI model. You are provided with function signatures within <tools></tools> XML tags. Here they are: <tools> [{'name': 'ring', 'parameters': {}}] </tools> Use this schema: {'title': 'FunctionCall'} For each function call return\n<tool_call>\n{'arguments': <args-dict>, 'name': <function-name>}\n</tool_call>";

fn hermes_turns() -> Value {
    json!([
        {"from": "system", "value": HERMES},
        {"from": "human", "value": "Ring the captain's bell."},
        {"from": "gpt", "value": "<tool_call>\n{'arguments': {'bell': \"captain's\"}, 'name': 'ring'}\n</tool_call>"},
        {"from": "tool", "value": "<tool_response>\n{\"ok\": true}\n</tool_response>\n"},
        {"from": "gpt", "value": "It rang."},
        {"from": "human", "value": "Thanks!"},
        {"from": "gpt", "value": "Any time."},
    ])
}

#[test]
fn hermes_tools_are_removed_from_the_system_text_with_their_frame() {
    let record = record_of(json!({"conversations": hermes_turns()}));
    assert_is_the_bell(&record, "sharegpt", &[]);
    assert_eq!(record.functions, "[{'name': 'ring', 'parameters': {}}]");
    let mut turns = hermes_turns();
    turns[0]["value"] = format!("You serve on a ship.\n\n{HERMES}\n\nNever whistle.").into();
    assert_is_the_bell(
        &record_of(json!({"conversations": turns})),
        "sharegpt",
        &["You serve on a ship.\n\nNever whistle."],
    );
}

#[test]
fn a_turn_may_hold_text_and_several_calls_and_several_results() {
    let one = |bell: &str| {
        format!("<tool_call>\n{{\"name\": \"ring\", \"arguments\": {{\"bell\": \"{bell}\"}}}}\n</tool_call>")
    };
    let record = record_of(json!({"conversations": [
        {"from": "system", "value": HERMES},
        {"from": "human", "value": "Ring both."},
        {"from": "gpt", "value": format!("Both.\n{}\n{}", one("fore"), one("aft"))},
        {"from": "tool", "value": "<tool_response>\n1\n</tool_response>\n<tool_response>\n2\n</tool_response>"},
    ]}));
    let calls = [("ring", json!({"bell": "fore"})), ("ring", json!({"bell": "aft"}))];
    assert_eq!(record.response, Some(calling("Both.", &calls)));
    assert_eq!(record.following_messages, [text(Role::Tool, "1"), text(Role::Tool, "2")]);
}

#[test]
fn a_chat_with_tools_in_its_instructions_is_a_request_too() {
    let record = record_of(json!({
        "messages": [{"role": "system", "content": HERMES}, {"role": "user", "content": "Ring it."}],
        "response": "<tool_call>{\"name\": \"ring\", \"arguments\": {}}</tool_call>", "model": "m",
    }));
    assert_eq!(record.messages, [text(Role::User, "Ring it.")]);
    assert_eq!(record.response, Some(calling("", &[("ring", json!({}))])));
    assert_eq!(record.facts.model.as_deref(), Some("m"));
}

#[test]
fn json_of_docs_in_the_instructions_of_a_logged_request_is_its_tool_list() {
    let doc =
        json!({"name": "ring", "description": "Rings.", "parameters": {"type": "dict", "properties": {}}})
            .to_string();
    let read = |system: &str| {
        let messages =
            json!([{"role": "system", "content": system}, {"role": "user", "content": "Ring it."}]);
        let answer =
            json!({"choices": [{"message": {"role": "assistant", "content": "[ring(bell='noon')]"}}]});
        fate_of(json!({"request": {"messages": messages}, "response": answer}))
    };
    for (system, functions, kept) in [
        (
            format!("You have access to these functions:\n[{doc}]\nReply with [func(a=b)] calls."),
            format!("[{doc}]"),
            "",
        ),
        (
            format!("You are Bo [a sailor].\n\n{doc}\n{doc}"),
            format!("{doc}\n{doc}"),
            "You are Bo [a sailor].",
        ),
        (
            format!("Be kind.\nTools: ```json\n[{doc}]\n```"),
            format!("[{doc}]"),
            "Be kind.\nTools: ```json\n\n```",
        ),
    ] {
        let LineFate::Record(record) = read(&system) else { panic!("{system}") };
        assert_eq!(record.functions, functions);
        let (last, instructions) = record.messages.split_last().unwrap();
        assert_eq!(last, &text(Role::User, "Ring it."));
        assert_eq!(instructions.iter().map(|said| said.content.as_str()).collect::<String>(), kept);
        assert_eq!(record.response, Some(calling("", &[("ring", json!({"bell": "noon"}))])));
    }
    for system in ["Answer as {\"name\": \"…\"}:\n{\"name\": \"Bo\"}", "Known bells:\n[1, 2]", "[[[{{"] {
        assert!(!matches!(read(system), LineFate::Record(_)), "{system}");
    }
}

#[test]
fn a_prompt_that_waits_for_the_model_is_the_question() {
    let call = "<tool_call>\n{\"name\": \"ring\", \"arguments\": {}}\n</tool_call>";
    let sent = json!([{"role": "system", "content": HERMES}, {"role": "user", "content": "Ring it."},
        {"role": "assistant", "content": call}, {"role": "tool", "content": "<tool_response>ok</tool_response>"}]);
    let asked = [text(Role::User, "Ring it."), calling("", &[("ring", json!({}))]), text(Role::Tool, "ok")];
    let record = record_of(json!({"messages": sent, "response": "It rang."}));
    assert_eq!((record.messages, record.response), (asked.to_vec(), Some(text(Role::Assistant, "It rang."))));
    assert_eq!(record.following_messages, []);
    let prompt = format!(
        "<|im_start|>system\n{HERMES}<|im_end|>\n<|im_start|>user\nRing it.<|im_end|>\n<|im_start|>assistant\n{call}<|im_end|>\n<|im_start|>tool\nok<|im_end|>\n<|im_start|>assistant\n"
    );
    let record = record_of(json!({"prompt": prompt, "completion": call}));
    assert_eq!(
        (record.messages, record.response),
        (asked.to_vec(), Some(calling("", &[("ring", json!({}))])))
    );
}

#[test]
fn instructions_of_no_known_frame_keep_their_words() {
    let kept = |system: &str| {
        let record = record_of(json!({"conversations": [
            {"from": "system", "value": system}, {"from": "human", "value": "Ring it."}]}));
        assert_eq!(record.functions, "[{\"name\": \"ring\"}]");
        record.messages[..record.messages.len() - 1]
            .iter()
            .map(|said| said.content.clone())
            .collect::<String>()
    };
    let list = "<tools>[{\"name\": \"ring\"}]</tools>";
    assert_eq!(kept(list), "");
    assert_eq!(
        kept(&format!("You are Bo. Your bells: {list} Be kind.")),
        "You are Bo. Your bells:\n\nBe kind."
    );
    assert_eq!(kept(&format!("You are Bo. Look inside <tools> for bells: {list}")), "You are Bo.");
    assert_eq!(
        kept(&format!("You are Bo.\n\n{list}\nAnswer in <tool_call> tags.\n\nBe kind.")),
        "You are Bo.\n\nBe kind."
    );
}

#[test]
fn sharegpt_turns_under_another_key_and_calls_without_a_closing_tag_are_read() {
    let record = record_of(json!({"tools": TOOLS, "messages": [
        {"from": "human", "value": "Ring both."},
        {"from": "gpt", "value": "Aye. <functioncall> {\"name\": \"a\", \"arguments\": '{}'} <functioncall> {\"name\": \"b\", \"arguments\": {}}"}]}));
    assert_eq!(record.response, Some(calling("Aye.", &[("a", json!({})), ("b", json!({}))])));
}

const GLAIVE_SYSTEM: &str = "SYSTEM: You are a helpful assistant with access to the following functions. Use them if required -\n{\n  \"name\": \"ring\"\n}\n\n{\n  \"name\": \"peal\"\n}\n";
const GLAIVE_CHAT: &str = "USER: Ring the captain's bell.\n\n\nASSISTANT: <functioncall> {\"name\": \"ring\", \"arguments\": '{\"bell\": \"captain's\"}'} <|endoftext|>\n\n\nFUNCTION RESPONSE: {\"ok\": true}\n\n\nASSISTANT: It rang. <|endoftext|>\n\n\nUSER: Thanks!\n\n\nASSISTANT: Any time. <|endoftext|>\n\n\n";

#[test]
fn both_versions_of_glaive_are_read() {
    for value in [
        json!({"system": GLAIVE_SYSTEM, "chat": GLAIVE_CHAT}),
        json!({"sample": format!("{GLAIVE_SYSTEM}\n\n{GLAIVE_CHAT}")}),
    ] {
        let record = record_of(value);
        assert_is_the_bell(&record, "glaive", &[]);
        assert_eq!(record.functions, "{\n  \"name\": \"ring\"\n}\n\n{\n  \"name\": \"peal\"\n}");
    }
    let none = "SYSTEM: You are a helpful assistant, with no access to external functions.";
    assert_eq!(reason_of(json!({"system": none, "chat": GLAIVE_CHAT})), NO_FUNCTIONS);
}

#[test]
fn arguments_in_single_quotes_are_read_whatever_they_hold() {
    let call = |arguments: &str| {
        let chat = format!(
            "USER: u\n\n\nASSISTANT: <functioncall> {{\"name\": \"f\", \"arguments\": '{arguments}'}} <|endoftext|>"
        );
        record_of(json!({"system": GLAIVE_SYSTEM, "chat": chat})).response.unwrap().calls[0].arguments.clone()
    };
    assert_eq!(call("{}"), json!({}));
    assert_eq!(call(r#"{"a": "say \"hi\""}"#), json!({"a": "say \"hi\""}));
    assert_eq!(call(r#"{"a": "it\'s 'so'"}"#), json!({"a": "it's 'so'"}));
    assert_eq!(call(r#"{"a": }"#), json!(r#"{"a": }"#));
}

#[test]
fn toolace_calls_are_read_with_spaces_in_their_names() {
    let system = "You are an expert in composing functions. Here is a list of functions in JSON format that you can invoke:\n[{\"name\": \"Ring Bell\"}]. \nShould you decide to return the function call(s), put it in the format [f(a=1)]\nNO other text MUST be included.";
    let record = |answer: &str| {
        record_of(json!({"system": system, "conversations": [
            {"from": "user", "value": "Ring it."}, {"from": "assistant", "value": answer}]}))
    };
    let read = record("[Ring Bell(bell=\"a (b)\", times=2), v1.peal()]");
    assert_eq!(read.functions, "[{\"name\": \"Ring Bell\"}]");
    assert_eq!(read.messages, [text(Role::User, "Ring it.")]);
    let calls = [("Ring Bell", json!({"bell": "a (b)", "times": 2})), ("v1.peal", json!({}))];
    assert_eq!(read.response, Some(calling("", &calls)));
    assert_eq!(record("None of them fits.").response, Some(text(Role::Assistant, "None of them fits.")));
    let broken = record("[Ring Bell(bell=unknown)]");
    assert_eq!((broken.response, broken.facts.finish_reason.as_deref()), (None, Some("unreadable")));
}

#[test]
fn raw_prompts_of_chat_templates_are_read() {
    let chatml = "<|im_start|>system\nYou are a mate.\n\n# Tools\n\nYou may call one or more functions.\n<tools>\n{\"name\": \"ring\"}\n</tools>\n\nFor each function call use <tool_call></tool_call>.<|im_end|>\n<|im_start|>user\nRing the captain's bell.<|im_end|>\n<|im_start|>assistant\n<tool_call>\n{\"name\": \"ring\", \"arguments\": {\"bell\": \"captain's\"}}\n</tool_call><|im_end|>\n<|im_start|>user\n<tool_response>\n{\"ok\": true}\n</tool_response><|im_end|>\n<|im_start|>assistant\nIt rang.<|im_end|>\n<|im_start|>user\nThanks!<|im_end|>\n<|im_start|>assistant\nAny time.<|im_end|>\n";
    assert_is_the_bell(&record_of(json!({"text": chatml})), "chatml", &["You are a mate."]);
    let mistral = format!(
        "<s>[AVAILABLE_TOOLS] {TOOLS}[/AVAILABLE_TOOLS][INST] Ring the captain's bell.[/INST][TOOL_CALLS] [{{\"name\": \"ring\", \"arguments\": {{\"bell\": \"captain's\"}}}}]</s>[TOOL_RESULTS] {{\"ok\": true}}[/TOOL_RESULTS] It rang.</s>[INST] Thanks![/INST] Any time.</s>"
    );
    let record = record_of(json!({"text": mistral}));
    assert_is_the_bell(&record, "mistral", &[]);
    assert_eq!(record.functions, TOOLS);
}

#[test]
fn texts_with_many_open_tags_are_scanned_once() {
    for tags in ["<tool_call>".repeat(40_000), "<tools>".repeat(40_000)] {
        let system = format!("<tools>[{{\"name\": \"ring\"}}]</tools>{tags}");
        let turns = json!([{"from": "system", "value": system}, {"from": "human", "value": "Ring!"},
            {"from": "gpt", "value": tags}]);
        fate_of(json!({"conversations": turns}));
        fate_of(
            json!({"conversations": [{"from": "system", "value": tags}, {"from": "human", "value": "Ring!"}]}),
        );
    }
}

/// Returns any text, also with marks and tags.
fn any_text() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "USER:",
        "ASSISTANT:",
        "\n",
        "SYSTEM:",
        "<functioncall>",
        "<|endoftext|>",
        "Use them if required -",
        "{",
        "}",
        "[",
        "]",
        "'",
        "\"",
        "\"arguments\": '",
        "<tools>",
        "</tools>",
        "<tool_call>",
        "</tool_call>",
        "(",
        ")",
        "é",
        "\\",
        ",",
        ": ",
        "a",
        "<|im_start|>user\n",
        "[INST]",
        "[TOOL_RESULTS]",
        "[/INST]",
        "you can invoke",
        "null",
        "functions in JSON format that you can invoke",
        "<tool_response>",
        "\n\n",
        "# Tools",
    ]);
    prop::collection::vec(pieces, 0..24).prop_map(|pieces| pieces.concat())
}

/// Returns a possible message of a person: no line begins with a mark, and there is no whitespace at its ends.
fn plain() -> impl Strategy<Value = String> {
    "[a-zé'\"{}.,!?]([a-zA-Zé'\"{}.,!? ]{0,20}[a-zé'\"{}.,!?])?"
}

fn conversation() -> impl Strategy<Value = Vec<(String, String, String, String)>> {
    prop::collection::vec((plain(), plain(), plain(), plain()), 1..4)
}

proptest! {
    #[test]
    fn any_text_is_read_without_a_panic(system in any_text(), chat in any_text(), said in any_text()) {
        for value in [
            json!({"system": system, "chat": format!("USER: {chat}")}),
            json!({"text": chat}),
            json!({"system": format!("Use them if required {system}"), "chat": chat}),
            json!({"tools": TOOLS, "conversations": [
                {"from": "human", "value": "u"}, {"from": "gpt", "value": said}, {"from": "function_call", "value": chat}]}),
            json!({"conversations": [
                {"from": "system", "value": system}, {"from": "human", "value": chat}, {"from": "gpt", "value": said}]}),
        ] {
            fate_of(value);
        }
    }

    #[test]
    fn a_printed_glaive_conversation_reads_back(turns in conversation()) {
        let mut chat = String::new();
        for (asked, argument, result, answer) in &turns {
            let arguments = json!({"a": argument});
            chat += &format!("USER: {asked}\n\n\nASSISTANT: <functioncall> {{\"name\": \"f\", \"arguments\": '{arguments}'}} <|endoftext|>\n\n\nFUNCTION RESPONSE: {result}\n\n\nASSISTANT: {answer} <|endoftext|>\n\n\n");
        }
        assert_reads_back(&record_of(json!({"system": GLAIVE_SYSTEM, "chat": chat})), &turns);
    }

    #[test]
    fn a_printed_hermes_conversation_reads_back(turns in conversation()) {
        let mut list = vec![json!({"from": "system", "value": HERMES})];
        for (asked, argument, result, answer) in &turns {
            let call = json!({"name": "f", "arguments": {"a": argument}});
            list.push(json!({"from": "human", "value": asked}));
            list.push(json!({"from": "gpt", "value": format!("<tool_call>\n{call}\n</tool_call>")}));
            list.push(json!({"from": "tool", "value": format!("<tool_response>\n{result}\n</tool_response>")}));
            list.push(json!({"from": "gpt", "value": answer}));
        }
        assert_reads_back(&record_of(json!({"conversations": list})), &turns);
    }
}

fn assert_reads_back(record: &Record, turns: &[(String, String, String, String)]) {
    let expected: Vec<Message> = turns
        .iter()
        .flat_map(|(asked, argument, result, answer)| {
            [
                text(Role::User, asked),
                calling("", &[("f", json!({"a": argument}))]),
                text(Role::Tool, result),
                text(Role::Assistant, answer),
            ]
        })
        .collect();
    assert_eq!(whole(record), expected);
}

/// Returns question, response and following messages as one conversation.
fn whole(record: &Record) -> Vec<Message> {
    record.messages.iter().chain(&record.response).chain(&record.following_messages).cloned().collect()
}
