//! The words of the dialects, one row per word.

use crate::parse::step::ParseStep;

/// Keys that lead from an object to its functions.
pub(super) const CONTAINERS: &[(&[&str], ParseStep)] = &[
    (&["tools"], ParseStep::Container),
    (&["functions"], ParseStep::Container),
    (&["function"], ParseStep::Container),
    (&["result", "tools"], ParseStep::Container),
    (&["toolConfig", "tools"], ParseStep::Bedrock),
    (&["functionSchema", "functions"], ParseStep::Bedrock),
    (&["actionGroups"], ParseStep::Bedrock),
    (&["functionDeclarations"], ParseStep::Gemini),
    (&["function_declarations"], ParseStep::Gemini),
    (&["api_list"], ParseStep::ApiRecord),
];

/// Keys under which a wrapper has its one function.
pub(super) const FRAMES: &[(&str, ParseStep)] = &[
    ("function", ParseStep::Wrapper),
    ("toolSpec", ParseStep::Bedrock),
    ("tool", ParseStep::Wrapper),
    ("data", ParseStep::Haystack),
];

/// Other names of a function's keys, used if the BFCL key is absent; the first one present counts.
pub(super) const ALIASES: &[(&str, &str, ParseStep)] = &[
    ("api_name", "name", ParseStep::ApiRecord),
    ("apiCode", "name", ParseStep::ApiRecord),
    ("name_for_model", "name", ParseStep::ApiRecord),
    ("function_name", "name", ParseStep::ApiRecord),
    ("tool_name", "name", ParseStep::ApiRecord),
    ("api_description", "description", ParseStep::ApiRecord),
    ("functionality", "description", ParseStep::ApiRecord),
    ("description_for_model", "description", ParseStep::ApiRecord),
    ("function_description", "description", ParseStep::ApiRecord),
    ("tool_description", "description", ParseStep::ApiRecord),
    ("input_schema", "parameters", ParseStep::Anthropic),
    ("inputSchema", "parameters", ParseStep::ModelContext),
    ("parameters_json_schema", "parameters", ParseStep::PydanticAi),
    ("parametersJsonSchema", "parameters", ParseStep::Gemini),
    ("parameter_definitions", "parameters", ParseStep::ApiRecord),
    ("input_parameters", "parameters", ParseStep::ApiRecord),
    ("api_arguments", "parameters", ParseStep::ApiRecord),
    ("args_schema", "parameters", ParseStep::ApiRecord),
    ("inputs", "parameters", ParseStep::ApiRecord),
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
