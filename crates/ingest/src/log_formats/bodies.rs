//! The request bodies of the APIs, and rows of a query and its function docs.
//!
//! Bodies are tried in this order: those with more signs come before those with fewer.

use super::{Body, Fact, FieldPlace, Path, Sign};
use crate::messages::{read_contents, read_messages, read_query};

/// The paths of facts in the body of any API, used if envelope, body and columns have none.
pub const BODY_FACTS: &[(Fact, Path)] = &[
    (Fact::Model, &["model"]),
    (Fact::Model, &["modelId"]),
    (Fact::User, &["user"]),
    (Fact::User, &["metadata", "user_id"]),
    (Fact::User, &["safety_identifier"]),
    (Fact::Session, &["metadata", "session_id"]),
    (Fact::Session, &["conversation_id"]),
    (Fact::ToolChoice, &["tool_choice"]),
    (Fact::ToolChoice, &["function_call"]),
    (Fact::ToolChoice, &["toolConfig", "functionCallingConfig"]),
    (Fact::ToolChoice, &["tool_config", "function_calling_config"]),
    (Fact::ToolChoice, &["toolConfig", "toolChoice"]),
    (Fact::ParallelCalls, &["parallel_tool_calls"]),
    (Fact::SerialCalls, &["tool_choice", "disable_parallel_tool_use"]),
];

/// A body that only defines the places of messages and functions.
pub(super) const PLAIN: Body = Body {
    name: "",
    signs: &[],
    opened: &[],
    messages: &[],
    functions: &[],
    system: &[],
    response: &[],
    facts: &[],
    elsewhere: &[],
    ends_with_answer: false,
    read: read_messages,
};

const MESSAGES: Path = &["messages"];
const CONTENTS: Path = &["contents"];
const TOOLS: Path = &["tools"];

const GEMINI: Body = Body {
    name: "gemini-contents",
    messages: &[FieldPlace::At(CONTENTS)],
    functions: &[FieldPlace::At(TOOLS)],
    read: read_contents,
    ..PLAIN
};

/// The bodies, in the order they are tried.
pub const BODIES: &[Body] = &[
    Body {
        name: "anthropic-messages",
        signs: &[Sign::List(MESSAGES), Sign::SomeHas(TOOLS, "input_schema")],
        messages: &[FieldPlace::At(MESSAGES)],
        functions: &[FieldPlace::At(TOOLS)],
        ..PLAIN
    },
    Body {
        name: "openai-chat",
        signs: &[Sign::List(MESSAGES)],
        messages: &[FieldPlace::At(MESSAGES)],
        functions: &[FieldPlace::At(TOOLS)],
        ends_with_answer: true,
        ..PLAIN
    },
    Body {
        name: "openai-functions",
        signs: &[Sign::List(MESSAGES)],
        messages: &[FieldPlace::At(MESSAGES)],
        functions: &[FieldPlace::At(&["functions"])],
        ends_with_answer: true,
        ..PLAIN
    },
    Body {
        name: "openai-responses",
        // A row with a column `input` has tools of some other form.
        signs: &[Sign::SomeHas(TOOLS, "type"), Sign::NoneHas(TOOLS, "function")],
        messages: &[FieldPlace::At(&["input"])],
        functions: &[FieldPlace::At(TOOLS)],
        elsewhere: &[&["previous_response_id"], &["conversation"], &["prompt", "id"]],
        read: read_query,
        ..PLAIN
    },
    Body { signs: &[Sign::List(CONTENTS)], ..GEMINI },
    Body { signs: &[Sign::Has(CONTENTS), Sign::SomeHas(TOOLS, "functionDeclarations")], ..GEMINI },
    Body { signs: &[Sign::Has(CONTENTS), Sign::SomeHas(TOOLS, "function_declarations")], ..GEMINI },
    // As the arguments of Google's own library.
    Body {
        signs: &[Sign::Has(CONTENTS)],
        functions: &[FieldPlace::At(&["config", "tools"])],
        system: &[&["config", "systemInstruction"], &["config", "system_instruction"]],
        facts: &[
            (Fact::ToolChoice, &["config", "toolConfig", "functionCallingConfig"]),
            (Fact::ToolChoice, &["config", "tool_config", "function_calling_config"]),
        ],
        ..GEMINI
    },
    Body {
        name: "bedrock-converse",
        signs: &[Sign::List(MESSAGES)],
        messages: &[FieldPlace::At(MESSAGES)],
        functions: &[FieldPlace::At(&["toolConfig", "tools"])],
        facts: &[(Fact::FinishReason, &["stopReason"])],
        ..PLAIN
    },
    Body {
        name: "query-functions",
        messages: &[FieldPlace::Query],
        functions: &[FieldPlace::Functions],
        read: read_query,
        ..PLAIN
    },
];
