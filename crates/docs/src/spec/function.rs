//! A function while its parameters are collected from the places of a request.
//!
//! Parameters of different places may have the same name; the first keeps it, and each other gets its place as a suffix
//! (`id`, `id_body`), which is recorded as a step.

use rustc_hash::FxHashMap;
use serde_json::{Map, Value, json};

use super::{Input, note};
use crate::parse::step::ParseStep;

/// The maximum number of parameters of one function; no request has more.
pub(super) const MAX_PARAMETERS: usize = 10_000;

/// The reason for which a function with more is unreadable.
pub(super) const TOO_MANY: &str = "it has more parameters than a request could have";

/// A function with the parameters found so far.
pub(super) struct FunctionDoc {
    name: String,
    description: Option<String>,
    properties: Map<String, Value>,
    required: Vec<String>,
    inputs: Vec<Input>,
    /// The media type of the body, if it has one.
    pub(super) body_type: Option<String>,
    /// The number of uses of each name with a suffix.
    n_uses: FxHashMap<String, usize>,
}

/// One parameter of a function.
pub(super) struct Parameter {
    pub(super) name: String,
    /// The place in the request: `path`, `query`, `body`.
    pub(super) place: String,
    /// It is one of several parts of the body.
    pub(super) is_member: bool,
    pub(super) is_required: bool,
    pub(super) schema: Map<String, Value>,
}

/// A function, with the request that it makes.
pub(super) struct Function {
    pub(super) doc: Value,
    pub(super) inputs: Vec<Input>,
    pub(super) body_type: Option<String>,
}

impl FunctionDoc {
    /// Creates a function without parameters; the first non-empty text is its description.
    pub(super) fn new<'t>(name: String, texts: impl IntoIterator<Item = Option<&'t str>>) -> Self {
        let description = texts.into_iter().flatten().find(|text| !text.trim().is_empty());
        Self {
            name,
            description: description.map(str::to_owned),
            properties: Map::new(),
            required: Vec::new(),
            inputs: Vec::new(),
            body_type: None,
            n_uses: FxHashMap::default(),
        }
    }

    pub(super) fn add(&mut self, parameter: Parameter, steps: &mut Vec<ParseStep>) {
        let Parameter { name: written, place, is_member, is_required, schema } = parameter;
        let name = if self.properties.contains_key(&written) {
            note(steps, ParseStep::PlaceSuffix);
            self.free_name(&format!("{written}_{place}"))
        } else {
            written.clone()
        };
        if is_required {
            self.required.push(name.clone());
        }
        self.inputs.push(Input { parameter: name.clone(), place, name: written, is_member });
        self.properties.insert(name, Value::Object(schema));
    }

    /// Returns the name, or the name with the first free number; each number is tried once.
    fn free_name(&mut self, name: &str) -> String {
        let n_uses = self.n_uses.entry(name.to_owned()).or_default();
        let mut free = name.to_owned();
        loop {
            *n_uses += 1;
            if *n_uses > 1 {
                free = format!("{name}_{n_uses}");
            }
            if !self.properties.contains_key(&free) {
                return free;
            }
        }
    }

    /// Returns the function, and where its parameters are in a request.
    pub(super) fn finish(self) -> Function {
        let mut function = Map::new();
        function.insert("name".to_owned(), json!(self.name));
        if let Some(description) = self.description {
            function.insert("description".to_owned(), json!(description));
        }
        let parameters = json!({"type": "dict", "properties": self.properties, "required": self.required});
        function.insert("parameters".to_owned(), parameters);
        Function { doc: Value::Object(function), inputs: self.inputs, body_type: self.body_type }
    }
}
