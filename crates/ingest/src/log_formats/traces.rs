//! Requests as stored by observability tools: messages, tools and answer in different places, often as strings.
//!
//! `ingest::attributes` has already nested flat attributes (`gen_ai.prompt.0.role`) and lists of keys and values (OTLP)
//! under `attributes`. `ingest::unpack` splits lines with several spans.

use super::bodies::PLAIN;
use super::{Body, Fact, FieldPlace, Path, Sign};
use crate::attributes::OWN;
use crate::messages::{read_attribute_messages, read_query};

/// The bodies of traces, in the order they are tried.
pub const TRACES: &[Body] = &[
    // LiteLLM's payload for S3, GCS and Datadog.
    Body {
        name: "litellm-payload",
        signs: &[Sign::List(&["messages"]), Sign::Has(&["model_parameters"])],
        opened: &[&["model_parameters"], &["metadata"]],
        messages: &[FieldPlace::At(&["messages"])],
        functions: &[
            FieldPlace::At(&["model_parameters", "tools"]),
            FieldPlace::At(&["model_parameters", "functions"]),
        ],
        facts: &[
            (Fact::Time, &["startTime"]),
            (Fact::User, &["end_user"]),
            (Fact::User, &["metadata", "user_api_key_end_user_id"]),
            (Fact::User, &["metadata", "user_api_key_user_id"]),
            (Fact::Assistant, &["metadata", "user_api_key_team_alias"]),
            (Fact::Assistant, &["metadata", "user_api_key_team_id"]),
            (Fact::Assistant, &["request_tags"]),
            (Fact::Assistant, &["metadata", "user_api_key_alias"]),
            (Fact::Session, &["session_id"]),
            (Fact::Session, &["metadata", "session_id"]),
            (Fact::Session, &["trace_id"]),
            (Fact::ToolChoice, &["model_parameters", "tool_choice"]),
            (Fact::ToolChoice, &["model_parameters", "function_call"]),
            (Fact::ParallelCalls, &["model_parameters", "parallel_tool_calls"]),
            (Fact::Failed, &["status"]),
        ],
        ..PLAIN
    },
    Body {
        name: "langsmith",
        signs: &[Sign::Has(&["inputs"])],
        opened: &[&["inputs"], &["outputs"], &["extra"]],
        messages: &[FieldPlace::At(&["inputs", "messages"]), FieldPlace::At(&["inputs", "input"])],
        functions: &[
            FieldPlace::At(&["inputs", "tools"]),
            FieldPlace::At(&["inputs", "functions"]),
            FieldPlace::At(&["extra", "invocation_params", "tools"]),
            FieldPlace::At(&["extra", "invocation_params", "functions"]),
            FieldPlace::At(&["extra", "options", "tools"]),
        ],
        system: &[&["inputs", "system"], &["inputs", "instructions"]],
        response: &[&["outputs"]],
        facts: &[
            (Fact::Model, &["inputs", "model"]),
            (Fact::Model, &["extra", "invocation_params", "model"]),
            (Fact::Model, &["extra", "invocation_params", "model_name"]),
            (Fact::Model, &["extra", "metadata", "ls_model_name"]),
            (Fact::User, &["extra", "metadata", "user_id"]),
            (Fact::Assistant, &["session_name"]),
            (Fact::Assistant, &["tags"]),
            (Fact::Session, &["extra", "metadata", "session_id"]),
            (Fact::Session, &["extra", "metadata", "thread_id"]),
            (Fact::Session, &["extra", "metadata", "conversation_id"]),
            (Fact::Session, &["thread_id"]),
            (Fact::ToolChoice, &["inputs", "tool_choice"]),
            (Fact::ToolChoice, &["extra", "invocation_params", "tool_choice"]),
            (Fact::ToolChoice, &["extra", "invocation_params", "function_call"]),
            (Fact::ParallelCalls, &["inputs", "parallel_tool_calls"]),
            (Fact::ParallelCalls, &["extra", "invocation_params", "parallel_tool_calls"]),
            (Fact::Error, &["error"]),
        ],
        elsewhere: &[&["inputs", "previous_response_id"]],
        read: read_query,
        ..PLAIN
    },
    // OpenTelemetry's conventions for generative AI.
    Body {
        name: "otel-genai",
        opened: &[INVOCATION, &["attributes", "gen_ai", "output", "messages"]],
        messages: &[FieldPlace::At(&["attributes", "gen_ai", "input", "messages"])],
        functions: SPAN_TOOLS,
        system: &[&["attributes", "gen_ai", "system_instructions"]],
        response: &[&["attributes", "gen_ai", "output", "messages", "0"]],
        facts: SPAN_FACTS,
        read: read_attribute_messages,
        ..PLAIN
    },
    // Before the conventions to which exporters convert it, as not all convert the calls.
    Body {
        name: "vercel-ai",
        messages: &[
            FieldPlace::At(&["attributes", "ai", "prompt", "messages"]),
            FieldPlace::At(&["attributes", "ai", "prompt", "prompt"]),
            FieldPlace::At(&["attributes", "ai", "prompt", OWN]),
        ],
        functions: SPAN_TOOLS,
        system: &[&["attributes", "ai", "prompt", "system"]],
        // The second is that of versions before 3.3.
        response: &[&["attributes", "ai", "response"], &["attributes", "ai", "result"]],
        facts: SPAN_FACTS,
        read: read_attribute_messages,
        ..PLAIN
    },
    Body {
        name: "openllmetry",
        opened: &[INVOCATION],
        messages: &[
            FieldPlace::At(&["attributes", "gen_ai", "prompt", OWN]),
            FieldPlace::At(&["attributes", "gen_ai", "prompt"]),
        ],
        functions: SPAN_TOOLS,
        response: &[&["attributes", "gen_ai", "completion", "0"]],
        facts: SPAN_FACTS,
        read: read_attribute_messages,
        ..PLAIN
    },
    Body {
        name: "openinference",
        opened: &[INVOCATION],
        messages: &[FieldPlace::At(&["attributes", "llm", "input_messages"])],
        functions: SPAN_TOOLS,
        response: &[&["attributes", "llm", "output_messages", "0"]],
        facts: SPAN_FACTS,
        read: read_attribute_messages,
        ..PLAIN
    },
    Body {
        name: "langfuse",
        signs: &[Sign::Has(&["input"])],
        opened: &[&["metadata"], &["modelParameters"]],
        messages: &[
            FieldPlace::At(&["input", "messages"]),
            FieldPlace::At(&["input", "input"]),
            FieldPlace::At(&["input"]),
        ],
        functions: &[
            FieldPlace::At(&["input", "tools"]),
            FieldPlace::At(&["input", "functions"]),
            FieldPlace::Each(&["input", "messages", "*", "tools"]),
            FieldPlace::Each(&["input", "*", "tools"]),
            FieldPlace::ToolMessages(&["input", "messages"]),
            FieldPlace::ToolMessages(&["input"]),
            FieldPlace::At(&["metadata", "tools"]),
            FieldPlace::At(&["metadata", "attributes", "gen_ai", "tool", "definitions"]),
            FieldPlace::Each(&["metadata", "attributes", "ai", "prompt", "tools", "*"]),
            FieldPlace::Each(&["metadata", "attributes", "llm", "tools", "*", "tool", "json_schema"]),
            FieldPlace::EachOf(&[
                &["metadata", "attributes", "model_request_parameters", "function_tools", "*"],
                &["metadata", "attributes", "model_request_parameters", "output_tools", "*"],
            ]),
            FieldPlace::Named(&["tool_definitions"]),
            FieldPlace::Named(&["toolDefinitions"]),
            FieldPlace::At(&["modelParameters", "tools"]),
        ],
        system: &[&["input", "system"], &["input", "instructions"]],
        // The second is that of OpenAI's files for preference tuning, which are of this form too.
        response: &[&["output"], &["preferred_output", "0"]],
        facts: &[
            (Fact::Time, &["startTime"]),
            (Fact::Model, &["providedModelName"]),
            (Fact::Model, &["provided_model_name"]),
            (Fact::User, &["userId"]),
            (Fact::Assistant, &["traceName"]),
            (Fact::Assistant, &["trace_name"]),
            (Fact::Assistant, &["tags"]),
            (Fact::Session, &["sessionId"]),
            (Fact::Session, &["session_id"]),
            (Fact::Session, &["traceId"]),
            (Fact::Session, &["trace_id"]),
            (Fact::ToolChoice, &["input", "tool_choice"]),
            (Fact::ToolChoice, &["modelParameters", "tool_choice"]),
            (Fact::ParallelCalls, &["input", "parallel_tool_calls"]),
            (Fact::ParallelCalls, &["modelParameters", "parallel_tool_calls"]),
            (Fact::Failed, &["level"]),
        ],
        elsewhere: &[&["input", "previous_response_id"]],
        read: read_query,
        ..PLAIN
    },
];

/// The paths of tools in the attributes of a span, for all conventions of messages.
const SPAN_TOOLS: &[FieldPlace] = &[
    FieldPlace::At(&["attributes", "gen_ai", "tool", "definitions"]),
    FieldPlace::At(&["attributes", "gen_ai", "request", "tools"]),
    FieldPlace::Each(&["attributes", "llm", "request", "functions", "*"]),
    FieldPlace::Each(&["attributes", "llm", "tools", "*", "tool", "json_schema"]),
    FieldPlace::At(&["attributes", "llm", "invocation_parameters", "tools"]),
    FieldPlace::Each(&["attributes", "ai", "prompt", "tools", "*"]),
    // pydantic-ai's; the model calls the output tools to give its result.
    FieldPlace::EachOf(&[
        &["attributes", "model_request_parameters", "function_tools", "*"],
        &["attributes", "model_request_parameters", "output_tools", "*"],
        &["attributes", "model_request_parameters", "result_tools", "*"],
        &["model_request_parameters", "function_tools", "*"],
        &["model_request_parameters", "output_tools", "*"],
    ]),
];

/// `OpenInference`'s settings of a call, JSON in a string.
const INVOCATION: Path = &["attributes", "llm", "invocation_parameters"];

const SPAN_FACTS: &[(Fact, Path)] = &[
    (Fact::Id, &["spanId"]),
    (Fact::Id, &["span_id"]),
    (Fact::Id, &["context", "span_id"]),
    (Fact::Time, &["startTimeUnixNano"]),
    (Fact::Time, &["start_time_unix_nano"]),
    (Fact::Time, &["startTime"]),
    (Fact::Model, &["attributes", "gen_ai", "request", "model"]),
    (Fact::Model, &["attributes", "llm", "model_name"]),
    (Fact::Model, &["attributes", "ai", "model", "id"]),
    (Fact::Model, &["attributes", "gen_ai", "response", "model"]),
    (Fact::Model, &["attributes", "ai", "response", "model"]),
    (Fact::User, &["attributes", "user", "id"]),
    (Fact::User, &["attributes", "enduser", "id"]),
    (Fact::User, &["attributes", "llm", "user"]),
    (Fact::User, &["attributes", "ai", "telemetry", "metadata", "userId"]),
    (Fact::User, &["attributes", "ai", "telemetry", "metadata", "user_id"]),
    (Fact::Assistant, &["attributes", "gen_ai", "agent", "name"]),
    (Fact::Assistant, &["attributes", "agent_name"]),
    (Fact::Assistant, &["attributes", "ai", "telemetry", "functionId"]),
    (Fact::Assistant, &["attributes", "service", "name"]),
    (Fact::Session, &["attributes", "gen_ai", "conversation", "id"]),
    (Fact::Session, &["attributes", "session", "id"]),
    (Fact::Session, &["attributes", "ai", "telemetry", "metadata", "sessionId"]),
    (Fact::Session, &["attributes", "ai", "telemetry", "metadata", "session_id"]),
    (Fact::Session, &["attributes", "ai", "telemetry", "metadata", "conversationId"]),
    (Fact::Session, &["attributes", "ai", "telemetry", "metadata", "threadId"]),
    (Fact::Session, &["attributes", "ai", "telemetry", "metadata", "chatId"]),
    (Fact::Session, &["traceId"]),
    (Fact::Session, &["trace_id"]),
    (Fact::Session, &["context", "trace_id"]),
    (Fact::ToolChoice, &["attributes", "gen_ai", "request", "tool_choice"]),
    (Fact::ToolChoice, &["attributes", "llm", "invocation_parameters", "tool_choice"]),
    (Fact::ToolChoice, &["attributes", "ai", "prompt", "toolChoice"]),
    (Fact::ParallelCalls, &["attributes", "llm", "invocation_parameters", "parallel_tool_calls"]),
    (Fact::FinishReason, &["attributes", "gen_ai", "response", "finish_reasons", "0"]),
    (Fact::FinishReason, &["attributes", "ai", "finishReason"]),
    (Fact::Failed, &["status", "code"]),
    (Fact::Failed, &["status_code"]),
];
