//! Tests of one sample of each log format, as vendors document or publish it: exact messages, functions, response,
//! facts.
//!
//! The samples are not part of the project; `callsieve_testkit::data` finds them, or counts the tests as not run.

use serde_json::{Value, json};

use super::{call, calling, read, result};
use crate::facts::Facts;
use crate::fate::{Line, LineFate, Record};
use crate::reasons::*;
use callsieve_bfcl::conversation::{Call, Message, Role};

const ASKED: &str = "What's the weather like in Boston today?";
const MORNING: i64 = 1_737_710_446_847;

/// Returns the lines of a sample, and its JSON values as they were sent.
fn sample(name: &str) -> Option<(Vec<Line>, Vec<Value>)> {
    let bytes = std::fs::read(callsieve_testkit::data::path(&format!("log_samples/{name}"))?).unwrap();
    let text = String::from_utf8_lossy(&bytes);
    let values =
        serde_json::Deserializer::from_str(&text).into_iter::<Value>().map_while(Result::ok).collect();
    Some((read(name, &bytes), values))
}

/// The expected content of a record; functions are given by their place in the sent line.
struct Expected<'a> {
    log_format: &'a str,
    id: Option<&'a str>,
    messages: Vec<Message>,
    functions: &'a str,
    response: Option<Message>,
    facts: Facts,
}

impl Expected<'_> {
    fn check(self, line: &Line, sent: &Value) {
        let LineFate::Record(record) = &line.fate else { panic!("no record: {line:?}") };
        let Record { log_format, external_id, messages, functions, response, facts, .. } = &**record;
        assert_eq!((*log_format, external_id.as_deref()), (self.log_format, self.id));
        assert_eq!(*messages, self.messages);
        assert_eq!(*functions, sent.pointer(self.functions).expect("the functions").to_string());
        assert_eq!(*response, self.response);
        assert_eq!(*facts, self.facts);
    }
}

fn asked(text: &str) -> Vec<Message> {
    vec![Message::text(Role::User, text)]
}

fn boston(id: Option<&str>) -> Message {
    calling("", vec![weather(id, json!({"location": "Boston, MA"}))])
}

fn weather(id: Option<&str>, arguments: Value) -> Call {
    call(id, "get_current_weather", arguments)
}

fn model(name: &str) -> Facts {
    Facts { model: Some(name.to_owned()), ..Facts::default() }
}

fn auto(facts: Facts) -> Facts {
    Facts { tool_choice: Some("auto".to_owned()), ..facts }
}

fn called(facts: Facts) -> Facts {
    Facts { finish_reason: Some("tool_calls".to_owned()), ..facts }
}

fn at(time_ms: i64, facts: Facts) -> Facts {
    Facts { time_ms: Some(time_ms), ..facts }
}

#[test]
fn requests_of_apis_are_read_exactly() {
    let cases = [
        ("01_openai_chat_request.json", "openai-chat", None, "/tools", ASKED, auto(model("gpt-4o"))),
        (
            "03_openai_legacy_functions.json",
            "openai-functions",
            None,
            "/functions",
            ASKED,
            auto(model("gpt-3.5-turbo-0613")),
        ),
        (
            "04_openai_batch_input.jsonl",
            "openai-chat",
            Some("request-1"),
            "/body/tools",
            ASKED,
            auto(model("gpt-4o")),
        ),
        ("08_openai_responses_request.json", "openai-responses", None, "/tools", ASKED, model("gpt-4o")),
        (
            "09_anthropic_request.json",
            "anthropic-messages",
            None,
            "/tools",
            "What is the weather in SF?",
            model("claude-sonnet-5"),
        ),
        (
            "10_anthropic_batch.jsonl",
            "anthropic-messages",
            Some("my-first-request"),
            "/params/tools",
            "What is the weather in SF?",
            model("claude-sonnet-5"),
        ),
    ];
    for (name, log_format, id, functions, text, facts) in cases {
        let Some((lines, sent)) = sample(name) else { return };
        assert_eq!((lines.len(), sent.len()), (1, 1), "{name}");
        Expected { log_format, id, messages: asked(text), functions, response: None, facts }
            .check(&lines[0], &sent[0]);
    }
}

#[test]
fn finished_conversations_are_read_exactly() {
    let Some((lines, sent)) = sample("06_openai_finetune.jsonl") else { return };
    let arguments = json!({"location": "San Francisco, USA", "format": "celsius"});
    Expected {
        log_format: "openai-chat",
        id: None,
        messages: asked("What is the weather in San Francisco?"),
        functions: "/tools",
        response: Some(calling("", vec![weather(Some("call_id"), arguments)])),
        facts: Facts { parallel_tool_calls: Some(false), ..Facts::default() },
    }
    .check(&lines[0], &sent[0]);
    let Some((lines, sent)) = sample("12_gemini_request.json") else { return };
    let mut messages = asked("What is the weather like in Paris right now?");
    messages.push(calling("", vec![weather(None, json!({"location": "Paris, France"}))]));
    messages.push(Message {
        name: Some("get_current_weather".to_owned()),
        ..result(None, "{\"temperature\":18}")
    });
    Expected {
        log_format: "gemini-contents",
        id: None,
        messages,
        functions: "/tools",
        response: None,
        facts: Facts::default(),
    }
    .check(&lines[0], &sent[0]);
}

#[test]
fn an_answer_of_a_batch_waits_for_its_request() {
    let Some((lines, _)) = sample("05_openai_batch_output.jsonl") else { return };
    let [Line { fate: LineFate::Answer(answer), .. }] = &lines[..] else { panic!("{lines:?}") };
    assert_eq!(answer.custom_id, "request-2");
}

#[test]
fn answers_without_a_request_and_lists_of_tools_are_detected() {
    for (name, reason) in [
        ("02_openai_chat_response.json", RESPONSE_WITHOUT_REQUEST),
        ("07_openai_stored_completion.json", RESPONSE_WITHOUT_REQUEST),
        ("11_anthropic_response.json", RESPONSE_WITHOUT_REQUEST),
        ("13_mcp_tools_list.json", NO_MESSAGES),
    ] {
        let Some((lines, _)) = sample(name) else { return };
        let [Line { fate: LineFate::NoRequest(fault), .. }] = &lines[..] else { panic!("{name}: {lines:?}") };
        assert_eq!(fault.reason, reason, "{name}");
        if reason == NO_MESSAGES {
            assert_eq!(fault.detail, "a list of 1 tool without a query");
        }
    }
}

#[test]
fn gateways_are_read_exactly() {
    let Some((lines, sent)) = sample("14_litellm_standard_logging.json") else { return };
    let expected = |log_format, id, functions, facts| Expected {
        log_format,
        id: Some(id),
        messages: asked(ASKED),
        functions,
        response: Some(boston(Some("call_abc123"))),
        facts,
    };
    let facts = || called(auto(model("gpt-4o")));
    let id = "chatcmpl-2299b6a2-82a3-465a-b47c-04e685a2227f";
    expected("litellm-payload", id, "/model_parameters/tools", at(MORNING, facts()))
        .check(&lines[0], &sent[0]);

    let Some((lines, sent)) = sample("15_litellm_spend_log.jsonl") else { return };
    let stored: Value = serde_json::from_str(sent[0]["proxy_server_request"].as_str().unwrap()).unwrap();
    expected("openai-chat", "chatcmpl-2283081b", "/tools", at(MORNING, facts())).check(&lines[0], &stored);
    let LineFate::NoRequest(fault) = &lines[1].fate else { panic!("{:?}", lines[1]) };
    assert_eq!(fault.reason, CONTENT_NOT_STORED);

    let Some((lines, sent)) = sample("18_helicone_export.jsonl") else { return };
    let facts = Facts { status: Some(200), ..at(1_704_067_200_000, facts()) };
    expected("openai-chat", "q", "/request_body/tools", facts).check(&lines[0], &sent[0]);
}

#[test]
fn observations_and_runs_are_read_exactly() {
    let Some((lines, sent)) = sample("16_langfuse_observation.jsonl") else { return };
    let expected = |log_format, id, functions, response, facts| Expected {
        log_format,
        id: Some(id),
        messages: asked(ASKED),
        functions,
        response,
        facts,
    };
    let mini = || model("gpt-4o-mini");
    let answer = Some(boston(Some("call_abc123")));
    expected("langfuse", "obs-1", "/input/tools", answer.clone(), at(1_767_225_600_000, mini()))
        .check(&lines[0], &sent[0]);
    let paris = Some(Message::text(Role::Assistant, "Paris"));
    let attributes = "/metadata/attributes/gen_ai.tool.definitions";
    expected("langfuse", "obs-2", attributes, paris, mini()).check(&lines[1], &sent[1]);
    let definition = sent[2]["tool_definitions"]["get_current_weather"].as_str().unwrap();
    let definition: Value = serde_json::from_str(definition).unwrap();
    let parameters: Value = serde_json::from_str(definition["parameters"].as_str().unwrap()).unwrap();
    let functions = json!([{"name": "get_current_weather", "description": definition["description"], "parameters": parameters}]);
    expected("langfuse", "obs-3", "", None, Facts::default()).check(&lines[2], &functions);

    let Some((lines, sent)) = sample("17_langsmith_run.jsonl") else { return };
    let id = "dc34609e-3eeb-459d-bc2a-6fedb01d2e6e";
    let facts = at(1_728_803_137_170, called(mini()));
    expected("langsmith", id, "/inputs/tools", answer, facts).check(&lines[0], &sent[0]);
    Expected {
        log_format: "langsmith",
        id: Some("run-lc"),
        messages: asked("hi there"),
        functions: "/extra/invocation_params/tools",
        response: Some(Message::text(Role::Assistant, "hello")),
        facts: mini(),
    }
    .check(&lines[1], &sent[1]);
}

#[test]
fn spans_are_read_exactly() {
    let Some((lines, sent)) = sample("19_otel_genai_span.json") else { return };
    let paris = call(Some("call_VSPygqKTWdrhaFErNvMV18Yl"), "get_weather", json!({"location": "Paris"}));
    Expected {
        log_format: "otel-genai",
        id: None,
        messages: asked("Weather in Paris?"),
        functions: "/attributes/gen_ai.tool.definitions",
        response: Some(calling("", vec![paris])),
        facts: Facts { finish_reason: Some("tool_call".to_owned()), ..model("gpt-4") },
    }
    .check(&lines[0], &sent[0]);

    let Some((lines, _)) = sample("20_otlp_json.json") else { return };
    let schema = json!({"type": "object", "properties": {"location": {"type": "string"}}});
    let description = "Get the current weather in a given location";
    let functions = json!([{"name": "get_weather", "description": description, "input_schema": schema}]);
    Expected {
        log_format: "openllmetry",
        id: Some("s1"),
        messages: asked("ping"),
        functions: "",
        response: None,
        facts: Facts::default(),
    }
    .check(&lines[0], &functions);

    let Some((lines, sent)) = sample("21_openinference_flat.json") else { return };
    let tool: Value =
        serde_json::from_str(sent[0]["llm.tools.0.tool.json_schema"].as_str().unwrap()).unwrap();
    Expected {
        log_format: "openinference",
        id: None,
        messages: asked(ASKED),
        functions: "",
        response: Some(boston(None)),
        facts: Facts::default(),
    }
    .check(&lines[0], &json!([tool]));
}

#[test]
fn rows_of_a_query_and_a_function_string_are_read_exactly() {
    let row = |line: &Line| match &line.fate {
        LineFate::Record(record) => {
            assert_eq!(record.log_format, "query-functions");
            assert_eq!((&record.response, &record.facts), (&None, &Facts::default()));
            (record.messages.clone(), record.functions.clone())
        }
        other => panic!("no record: {other:?}"),
    };
    let Some((lines, _)) = sample("25_csv.csv") else { return };
    let paris = "[{'name': 'get_weather', 'description': 'Get weather', 'parameters': {'type': 'object', \
                 'properties': {'city': {'type': 'string'}}, 'required': ['city']}}]";
    assert_eq!(row(&lines[0]), (asked("What is the weather in Paris?"), paris.to_owned()));
    let greet = r#"[{"name": "greet", "description": "Greet", "parameters": {}}]"#;
    assert_eq!(row(&lines[1]), (asked("你好"), greet.to_owned()));

    let Some((lines, _)) = sample("26_jsonl_query_functionstring.jsonl") else { return };
    let paris = "[{'name': 'get_weather', 'parameters': {'city': 'str'}}]";
    assert_eq!(row(&lines[0]), (asked("What is the weather in Paris?"), paris.to_owned()));
    assert_eq!(row(&lines[1]), (asked("Where is my order"), r#"[{"name":"order_status_check"}]"#.to_owned()));
}
