//! What the handlers of the official package do with an output (`decode_ast`), by class.
//!
//! Texts are never executed. Where a handler calls `eval`, only literals have a value here; an expression that Python would
//! compute is not decoded.

use serde_json::Value;

use super::{function_gemma, listed, tagged, wrapped};
use crate::decode::{DecodeError, OutputFormat, decode_in, strip};
use crate::mode::Mode;
use crate::value::PyValue;

/// An output as the result file has it.
#[derive(Debug, Clone, Copy)]
pub enum RawOutput<'o> {
    /// A text.
    Text(&'o str),
    /// Anything else.
    Json(&'o Value),
}

/// How outputs become calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Decoder {
    /// Calls in the syntax of the category: the default of models without function calling.
    Prompting,
    /// `[{name: JSON text}]`: the default of models with function calling.
    Calls,
    /// The list of the result file as it is.
    List,
    /// The list of the result file as it is, if all elements are objects.
    ListOfObjects,
    /// The list of the result file as it is; anything else becomes its only element.
    Any,
    /// `[{"tool_name", "parameters"}]`; a text is no call.
    ToolNames,
    /// `[{"name", "arguments"}]`, as JSON of the result file.
    NamedCalls,
    /// As `Prompting`, without the fence `tool_code`.
    ToolCode,
    /// As `Prompting`, without the beginning of a fence `json` or `python`.
    Fenced,
    /// As `Prompting`, between `<TOOLCALL>` and `</TOOLCALL>`; without them no call.
    ToolCallTag,
    /// As `Prompting`, with brackets around the text in any case, and nothing removed.
    Bare,
    /// A JSON list `[{"name", "arguments"}]`, or one such object.
    JsonList,
    /// As `JsonList`, or such values with `;` between them.
    JsonOrSemicolons,
    /// As a JSON list, without fences; what is no JSON is no call.
    FencedJsonList,
    /// A JSON list behind `</think>`, with quotes of both kinds; no call without `</think>`.
    AfterThinking,
    /// Each `{"name", "arguments"}` between lines `<tool_call>` and `</tool_call>`; others are skipped.
    ToolCalls,
    /// A JSON list, or one object, in the first `<tool_call>`.
    FirstToolCall,
    /// An object on the line below each line `<tool_call>`, with quotes of both kinds.
    ToolCallLines,
    /// JSON objects behind each `<function_call>`.
    FunctionCallTags,
    /// A Python or JSON list `[{"name", "parameters"}]`, or such objects with `;` between them.
    PythonTag,
    /// A line with the name and a line with the arguments.
    NameLine,
    /// Python statements between `<|tool_call_start|>` and `<|tool_call_end|>`.
    ToolCallStart,
    /// `call:name{key:value}` between `<start_function_call>` and `<end_function_call>`.
    StartFunctionCall,
}

impl Decoder {
    /// All decoders, the most common ones first.
    pub const ALL: [Self; 23] = [
        Self::Prompting,
        Self::Calls,
        Self::ToolCalls,
        Self::JsonOrSemicolons,
        Self::JsonList,
        Self::FencedJsonList,
        Self::FirstToolCall,
        Self::ToolCallLines,
        Self::FunctionCallTags,
        Self::PythonTag,
        Self::ToolCallStart,
        Self::StartFunctionCall,
        Self::AfterThinking,
        Self::ToolCode,
        Self::Fenced,
        Self::ToolCallTag,
        Self::NameLine,
        Self::ToolNames,
        Self::NamedCalls,
        Self::ListOfObjects,
        Self::List,
        Self::Any,
        Self::Bare,
    ];

    /// Returns the decoder of a class of the package, whose models may use function calling; `None` for a class that is not
    /// known.
    pub(super) fn of_class(class: &str, is_function_calling: bool) -> Option<Self> {
        let (module, _) = class.rsplit_once('.')?;
        Some(match module {
            "api_inference.claude"
            | "api_inference.deepseek"
            | "api_inference.fireworks"
            | "api_inference.functionary"
            | "api_inference.glm"
            | "api_inference.gogoagent"
            | "api_inference.grok"
            | "api_inference.kimi"
            | "api_inference.ling"
            | "api_inference.mistral"
            | "api_inference.nanbeige"
            | "api_inference.novita"
            | "api_inference.openai_completion"
            | "api_inference.openai_response"
            | "api_inference.qwen"
            | "api_inference.writer" => {
                if is_function_calling {
                    Self::Calls
                } else {
                    Self::Prompting
                }
            }
            "api_inference.gemini" => {
                if is_function_calling {
                    Self::Any
                } else {
                    Self::ToolCode
                }
            }
            // These decode texts also where the package lists function calling.
            "api_inference.nvidia"
            | "local_inference.bielik"
            | "local_inference.deepseek_reasoning"
            | "local_inference.gemma"
            | "local_inference.llama"
            | "local_inference.minicpm"
            | "local_inference.qwen" => Self::Prompting,
            "api_inference.cohere" => Self::ToolNames,
            "api_inference.dm_cito" | "api_inference.mining" => Self::NamedCalls,
            "api_inference.gorilla" => Self::Bare,
            "api_inference.nemotron" => Self::ToolCallTag,
            "api_inference.nova" | "local_inference.mistral_fc" => Self::List,
            "local_inference.arch" | "local_inference.granite_3" | "local_inference.phi_fc" => {
                Self::ListOfObjects
            }
            "local_inference.bitagent" => Self::JsonList,
            "local_inference.falcon_fc" => Self::FirstToolCall,
            "local_inference.functiongemma" => Self::StartFunctionCall,
            "local_inference.glm" => Self::NameLine,
            "local_inference.granite" => Self::FunctionCallTags,
            "local_inference.granite_4"
            | "local_inference.nanbeige_fc"
            | "local_inference.pelican_vl_fc"
            | "local_inference.qwen_fc" => Self::ToolCalls,
            "local_inference.hammer" => Self::FencedJsonList,
            "local_inference.llama_3_1" => Self::PythonTag,
            "local_inference.minicpm_fc" => Self::ToolCallStart,
            "local_inference.phi" => Self::Fenced,
            "local_inference.salesforce_llama" | "local_inference.salesforce_qwen" => Self::JsonOrSemicolons,
            "local_inference.think_agent" => Self::AfterThinking,
            "retired.hermes" => Self::ToolCallLines,
            _ => return None,
        })
    }

    /// Returns the name of the decoder in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Prompting => "prompting",
            Self::Calls => "calls",
            Self::List => "list",
            Self::ListOfObjects => "list-of-objects",
            Self::Any => "any",
            Self::ToolNames => "tool-names",
            Self::NamedCalls => "named-calls",
            Self::ToolCode => "tool-code",
            Self::Fenced => "fenced",
            Self::ToolCallTag => "TOOLCALL",
            Self::Bare => "bare",
            Self::JsonList => "json-list",
            Self::JsonOrSemicolons => "json-or-semicolons",
            Self::FencedJsonList => "fenced-json-list",
            Self::AfterThinking => "after-thinking",
            Self::ToolCalls => "tool-calls",
            Self::FirstToolCall => "first-tool-call",
            Self::ToolCallLines => "tool-call-lines",
            Self::FunctionCallTags => "function-call-tags",
            Self::PythonTag => "python-tag",
            Self::NameLine => "name-line",
            Self::ToolCallStart => "tool-call-start",
            Self::StartFunctionCall => "start-function-call",
        }
    }

    /// Decodes an output. `format` and `has_tag` count where the handler uses the syntax of the category.
    ///
    /// # Errors
    /// If the handler raises an exception.
    pub fn decode(
        self,
        mode: Mode,
        output: RawOutput<'_>,
        format: OutputFormat,
        has_tag: bool,
    ) -> Result<PyValue, DecodeError> {
        let text = || match output {
            RawOutput::Text(text) => Ok(text),
            RawOutput::Json(_) => Err(DecodeError::new("TypeError", "the output is no text")),
        };
        let prompting = |text: &str| decode_in(mode, text, format, has_tag);
        match self {
            Self::Calls => listed::calls(output),
            Self::List => listed::list(output, false),
            Self::ListOfObjects => listed::list(output, true),
            Self::Any => Ok(listed::any(output)),
            Self::ToolNames => listed::tool_names(output),
            Self::NamedCalls => listed::named(output),
            Self::Prompting => prompting(text()?),
            Self::ToolCode => prompting(&wrapped::without_tool_code(text()?)),
            Self::Fenced => prompting(wrapped::without_fence(text()?)),
            Self::ToolCallTag => wrapped::in_tag(text()?).map_or_else(|| Ok(no_call()), prompting),
            Self::Bare => wrapped::bare(mode, text()?, format, has_tag),
            Self::JsonList => listed::json_list(text()?),
            Self::JsonOrSemicolons => listed::json_or_semicolons(text()?),
            Self::FencedJsonList => listed::fenced_json_list(text()?),
            Self::AfterThinking => listed::after_thinking(text()?),
            Self::ToolCalls => tagged::tool_calls(text()?),
            Self::FirstToolCall => tagged::first_tool_call(text()?),
            Self::ToolCallLines => tagged::tool_call_lines(text()?),
            Self::FunctionCallTags => tagged::function_call_tags(text()?),
            Self::PythonTag => listed::python_tag(text()?),
            Self::NameLine => tagged::name_line(text()?),
            Self::ToolCallStart => tagged::tool_call_start(mode, text()?),
            Self::StartFunctionCall => function_gemma::decode(text()?),
        }
    }
}

/// Returns an output without a call.
pub(super) fn no_call() -> PyValue {
    PyValue::List(Vec::new())
}

/// Returns a call: a dict with one name.
pub(super) fn call(name: PyValue, arguments: PyValue) -> Result<PyValue, DecodeError> {
    if !name.is_hashable() {
        return Err(DecodeError::new("TypeError", "the name of a function is a list or an object"));
    }
    Ok(PyValue::Dict([(name, arguments)].into_iter().collect()))
}

/// Returns a member of an object (`value[key]`).
pub(super) fn member(value: &PyValue, key: &str) -> Result<PyValue, DecodeError> {
    let members = value.as_dict().ok_or_else(|| DecodeError::new("TypeError", "a call is no object"))?;
    let member = members.get_str(key).cloned();
    member.ok_or_else(|| DecodeError::new("KeyError", format!("a call has no member {key:?}")))
}

/// Returns a call of two members of an object.
pub(super) fn call_of(value: &PyValue, name: &str, arguments: &str) -> Result<PyValue, DecodeError> {
    call(member(value, name)?, member(value, arguments)?)
}

/// Returns a text without what Python's `str.strip` removes.
pub(super) fn stripped(text: &str) -> &str {
    strip(text)
}

#[cfg(test)]
pub(super) fn decoded(decoder: Decoder, text: &str) -> String {
    match decoder.decode(Mode::Official, RawOutput::Text(text), OutputFormat::Python, false) {
        Ok(value) => value.repr(),
        Err(error) => error.exception.to_owned(),
    }
}
