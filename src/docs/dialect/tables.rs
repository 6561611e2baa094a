//! What the dialects call things: one row a word.

use crate::docs::parse::step::Step;

/// Keys that lead from an object to the functions it holds.
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

/// Keys under which a frame holds its one function.
pub(super) const FRAMES: &[(&str, Step)] =
    &[("function", Step::Wrapper), ("toolSpec", Step::Bedrock), ("tool", Step::Wrapper)];

/// Other names of a function's keys, taken where the BFCL one is absent; the first that is there counts.
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

/// Keys that sort parameters by their place in a web request.
pub(super) const PLACES: &[&str] =
    &["path_parameters", "query_parameters", "header_parameters", "body_parameters"];

/// Words in keys that speak of what comes back, never of what is given.
pub(super) const ABOUT_ANSWERS: &[&str] = &["output", "response", "return", "result", "answer", "error"];

/// Keys that some put around a schema.
pub(super) const SCHEMA_HOLDERS: &[&str] = &["json", "jsonSchema"];

/// Keys of a schema that stands where the function should be, with what belongs to it.
pub(super) const SCHEMA_PARTS: &[&str] = &["type", "properties", "required", "$defs", "definitions"];

/// Kinds of tools that the server runs itself; their names have a date or nothing after these words.
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

/// Keys by which Gemini switches on a tool of its own.
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
