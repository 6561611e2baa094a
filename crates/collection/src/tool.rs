//! Tools and their functions, as read from a collection.
//!
//! A tool is a service: a `RapidAPI` tool, an API description, an MCP server, a Python module. Its functions have docs as
//! JSON Schema, as written: types and marks in words of other APIs are left to `docs::fix`, which records every change.

use callsieve_docs::spec;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// The place of a tool or a fault.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct Origin {
    /// The path of the file, or the name of a value in memory.
    pub source: String,
    /// The place in it: a JSON pointer (`/3/tools/0`), `line 12`, or empty for the whole source.
    pub at: String,
}

/// One tool, a service, with its functions.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Tool {
    /// The name by which the collection knows the tool.
    pub name: String,
    /// A name for people, if it has another one.
    pub title: Option<String>,
    /// The description; empty if there is none.
    pub description: String,
    /// The category: `Finance`, `Weather`.
    pub category: Option<String>,
    /// The part of a category, or the set of tools, that the collection puts the tool in.
    pub collection: Option<String>,
    /// The host or the base address of its requests.
    pub host: Option<String>,
    /// The licence of the API, if it is stated.
    pub licence: Option<String>,
    /// The functions, in the order of the source.
    pub functions: Vec<Api>,
    /// Where the tool was read.
    pub origin: Origin,
}

/// One function of a tool.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Api {
    /// The legal name, unique in the collection; see `names`.
    pub name: String,
    /// The name as written.
    pub original_name: String,
    /// The HTTP method in capitals.
    pub method: Option<String>,
    /// The path or the address of the request, with its variables as written.
    pub path: Option<String>,
    /// Where its parameters are in a request, in the order of the parameters; empty if the source does not say.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<Input>,
    /// The media type of the body of a request, if it is stated and not JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body_type: Option<String>,
    /// `name` (the legal one), `description`, and `parameters` as JSON Schema.
    pub doc: Map<String, Value>,
    /// The JSON Schema of the response.
    pub response: Option<Value>,
    /// An example of a response.
    pub example: Option<Value>,
    /// What an MCP server states about the effects of the function (`readOnlyHint`, …).
    pub annotations: Option<Value>,
    /// Where the function was read.
    pub origin: Origin,
}

/// Where a parameter is in a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Input {
    /// The parameter of the function.
    pub parameter: String,
    /// The place.
    pub place: Place,
    /// Its name in the request.
    pub name: String,
}

/// A place in a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// A variable of the path.
    Path,
    /// The query.
    Query,
    /// A header.
    Header,
    /// A cookie.
    Cookie,
    /// The whole body.
    Body,
    /// A member of the body: of a JSON object, or a part of a form.
    BodyMember,
}

impl Input {
    /// Returns where an API description has a parameter; `None` if it is at no place that the standards have.
    pub(crate) fn of(input: &spec::Input) -> Option<Self> {
        let place = match input.place.as_str() {
            "path" => Place::Path,
            "query" => Place::Query,
            "header" => Place::Header,
            "cookie" => Place::Cookie,
            "body" | "formData" if input.is_member => Place::BodyMember,
            "body" => Place::Body,
            _ => return None,
        };
        Some(Self { parameter: input.parameter.clone(), place, name: input.name.clone() })
    }
}

impl Api {
    /// Creates a function; a missing description is left out of the doc.
    pub(crate) fn new(name: &str, description: Option<&str>, parameters: Value, origin: Origin) -> Self {
        let mut doc = Map::new();
        doc.insert("name".to_owned(), json!(name));
        if let Some(description) = description.filter(|text| !text.trim().is_empty()) {
            doc.insert("description".to_owned(), json!(description));
        }
        doc.insert("parameters".to_owned(), parameters);
        Self { name: name.to_owned(), original_name: name.to_owned(), doc, origin, ..Self::default() }
    }

    /// Returns the description; empty if there is none.
    pub fn description(&self) -> &str {
        self.doc.get("description").and_then(Value::as_str).unwrap_or_default()
    }

    /// Returns the schema of the parameters.
    pub fn parameters(&self) -> &Value {
        self.doc.get("parameters").unwrap_or(&Value::Null)
    }

    /// Returns the doc with the schema of the response under `response`, as docs of stateful APIs have it.
    pub fn doc_with_response(&self) -> Map<String, Value> {
        let mut doc = self.doc.clone();
        if let Some(response) = &self.response {
            doc.insert("response".to_owned(), response.clone());
        }
        doc
    }

    /// Gives the function its legal name.
    pub(crate) fn rename(&mut self, name: String) {
        self.doc.insert("name".to_owned(), json!(name));
        self.name = name;
    }
}

/// The schema of a response that came without its function, as `ToolBench` publishes them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LooseResponse {
    /// The category, from the name of the folder.
    pub category: Option<String>,
    /// The name of the tool in standard form, from the name of the file.
    pub tool: String,
    /// The name of the function as written.
    pub function: String,
    /// The JSON Schema of the response.
    pub response: Value,
    /// Where it was read.
    pub origin: Origin,
}
