//! Converts BFCL functions to the tool definitions of model APIs.
//!
//! `json_schema` writes the JSON Schema of OpenAI, Anthropic and MCP, `gemini` the `OpenAPI` subset of Gemini, and
//! `names` applies each API's rules for names. The APIs can express less than BFCL: every value that changes its
//! meaning or place is a [`Change`], every name that the API refuses is a [`ConversionFault`]. Other words for the same type
//! (`dict`, `object`) are neither. `dialect` reads all of these definitions, and `fix` converts them back.

mod gemini;
mod json_schema;
mod names;
mod reasons;
mod tool;

use serde::Serialize;
use serde_json::Value;

pub use reasons::{REASONS, Reason};

/// The API that receives the tool definitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Api {
    /// OpenAI's chat completions: `{"type": "function", "function": {…}}`.
    OpenAi,
    /// Anthropic's messages: the schema is called `input_schema`.
    Anthropic,
    /// The Model Context Protocol, as `tools/list` returns them: the schema is called `inputSchema`.
    Mcp,
    /// Gemini: one tool with a list of `functionDeclarations`.
    Gemini,
}

impl Api {
    /// All APIs.
    pub const ALL: [Self; 4] = [Self::OpenAi, Self::Anthropic, Self::Mcp, Self::Gemini];

    /// Returns the name of the API on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Mcp => "mcp",
            Self::Gemini => "gemini",
        }
    }
}

/// Tool definitions, with all changes and faults.
#[derive(Debug, Clone, Default)]
pub struct Converted {
    /// The value of `tools` in a request to the API; for MCP, in the result of `tools/list`.
    pub tools: Vec<Value>,
    /// Values that the API cannot express in the same way.
    pub changes: Vec<Change>,
    /// Values that the API refuses.
    pub faults: Vec<ConversionFault>,
}

/// A value that the tool definitions have in another form, or do not have.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Change {
    /// The code of one of [`REASONS`].
    pub reason: &'static str,
    /// The pointer into the list of BFCL functions.
    pub at: String,
    /// The value at that place.
    pub from: Value,
    /// The value in the tool definition; null if it is only in the description or omitted.
    pub to: Value,
}

/// A value that the API refuses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversionFault {
    /// The code of one of [`REASONS`].
    pub reason: &'static str,
    /// The pointer into the list of BFCL functions.
    pub at: String,
    /// The problem, for people.
    pub message: String,
}

/// Converts BFCL functions. Values that are not valid BFCL are passed through unchanged; `fix` reports them.
///
/// ```
/// use serde_json::json;
/// use callsieve_docs::convert::{Api, convert};
///
/// let parameters = json!({"type": "dict", "properties": {}, "required": []});
/// let function = json!({"name": "tide.now", "description": "The tide.", "parameters": parameters});
/// let converted = convert(&[function], Api::Anthropic);
/// assert_eq!(converted.tools[0]["input_schema"]["type"], "object");
/// assert_eq!((converted.changes[0].reason, &converted.changes[0].to), ("convert/renamed", &json!("tide_now")));
/// ```
pub fn convert(functions: &[Value], api: Api) -> Converted {
    let mut story = ChangeLog::default();
    let definitions = functions.iter().enumerate();
    let definitions =
        definitions.map(|(n, function)| tool::definition(function, n, api, &mut story)).collect();
    let tools = tool::framed(definitions, api);
    let mut faults = names::refused(functions, api);
    faults.extend(names::colliding(functions, api));
    Converted { tools, changes: story.changes, faults }
}

/// The changes collected so far.
#[derive(Debug, Default)]
struct ChangeLog {
    changes: Vec<Change>,
}

impl ChangeLog {
    fn add(&mut self, reason: &Reason, at: String, from: &Value, to: Value) {
        self.changes.push(Change { reason: reason.code, at, from: from.clone(), to });
    }
}

#[cfg(test)]
mod tests;
