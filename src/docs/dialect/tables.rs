//! The words of the dialects, one row per word.

use crate::docs::parse::step::Step;

/// Keys that lead from an object to its functions.
pub(super) const CONTAINERS: &[(&[&str], Step)] = &[
    (&["tools"], Step::Container),
    (&["functions"], Step::Container),
    (&["function"], Step::Container),
    (&["result", "tools"], Step::Container),
    (&["toolConfig", "tools"], Step::Bedrock),
    (&["functionDeclarations"], Step::Gemini),
    (&["function_declarations"], Step::Gemini),
    (&["api_list"], Step::ApiRecord),
];

/// Keys under which a wrapper has its one function.
pub(super) const FRAMES: &[(&str, Step)] =
    &[("function", Step::Wrapper), ("toolSpec", Step::Bedrock), ("tool", Step::Wrapper)];

/// Other names of a function's keys, used if the BFCL key is absent; the first one present counts.
pub(super) const ALIASES: &[(&str, &str, Step)] = &[
    ("api_name", "name", Step::ApiRecord),
    ("apiCode", "name", Step::ApiRecord),
    ("name_for_model", "name", Step::ApiRecord),
    ("function_name", "name", Step::ApiRecord),
    ("tool_name", "name", Step::ApiRecord),
    ("api_description", "description", Step::ApiRecord),
    ("functionality", "description", Step::ApiRecord),
    ("description_for_model", "description", Step::ApiRecord),
    ("function_description", "description", Step::ApiRecord),
    ("tool_description", "description", Step::ApiRecord),
    ("input_schema", "parameters", Step::Anthropic),
    ("inputSchema", "parameters", Step::ModelContext),
    ("parameters_json_schema", "parameters", Step::PydanticAi),
    ("parametersJsonSchema", "parameters", Step::Gemini),
    ("parameter_definitions", "parameters", Step::ApiRecord),
    ("input_parameters", "parameters", Step::ApiRecord),
    ("api_arguments", "parameters", Step::ApiRecord),
    ("args_schema", "parameters", Step::ApiRecord),
    ("inputs", "parameters", Step::ApiRecord),
];

/// Keys that group parameters by their place in a web request.
pub(super) const PLACES: &[&str] =
    &["path_parameters", "query_parameters", "header_parameters", "body_parameters"];

/// Words in keys that describe results, never parameters.
pub(super) const ABOUT_ANSWERS: &[&str] = &["output", "response", "return", "result", "answer", "error"];

/// Keys that may wrap a schema.
pub(super) const SCHEMA_HOLDERS: &[&str] = &["json", "jsonSchema"];

/// Keys of a schema in place of a function, including definitions.
pub(super) const SCHEMA_PARTS: &[&str] = &["type", "properties", "required", "$defs", "definitions"];

/// Kinds of tools that the server runs itself, without the date at the end of a name.
pub(super) const SERVER_KINDS: &[&str] = &[
    "apply_patch",
    "bash",
    "browser_search",
    "code_execution",
    "code_interpreter",
    "computer",
    "computer_use",
    "computer_use_preview",
    "custom",
    "file_search",
    "image_generation",
    "local_shell",
    "mcp",
    "memory",
    "retrieval",
    "shell",
    "str_replace_based_edit_tool",
    "text_editor",
    "tool_search",
    "web_fetch",
    "web_search",
    "web_search_preview",
];

/// Keys with which Gemini switches on its own tools.
pub(super) const SERVER_KEYS: &[&str] = &[
    "codeExecution",
    "code_execution",
    "computerUse",
    "computer_use",
    "enterpriseWebSearch",
    "fileSearch",
    "file_search",
    "googleMaps",
    "google_maps",
    "googleSearch",
    "google_search",
    "googleSearchRetrieval",
    "google_search_retrieval",
    "retrieval",
    "urlContext",
    "url_context",
];
