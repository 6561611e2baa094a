//! A function while its parameters are being collected from the places of a request.
//!
//! Parameters of different places may have one name; the first keeps it, and each other
//! gets its place behind it (`id`, `id_body`), which is noted as a step.

use serde_json::{Map, Value, json};

use super::note;
use crate::docs::parse::step::Step;

/// A function with the parameters found so far.
pub(super) struct FunctionDoc {
    name: String,
    description: Option<String>,
    properties: Map<String, Value>,
    required: Vec<String>,
}

/// One parameter on its way into a function.
pub(super) struct Parameter {
    pub(super) name: String,
    /// Where in a request it goes: `path`, `query`, `body`.
    pub(super) place: String,
    pub(super) is_required: bool,
    pub(super) schema: Map<String, Value>,
}

impl FunctionDoc {
    /// A function without parameters; the first of the texts that says something describes it.
    pub(super) fn new<'t>(name: String, texts: impl IntoIterator<Item = Option<&'t str>>) -> Self {
        let description = texts.into_iter().flatten().find(|text| !text.trim().is_empty());
        Self {
            name,
            description: description.map(str::to_owned),
            properties: Map::new(),
            required: Vec::new(),
        }
    }

    pub(super) fn add(&mut self, parameter: Parameter, steps: &mut Vec<Step>) {
        let Parameter { name, place, is_required, schema } = parameter;
        let name = if self.properties.contains_key(&name) {
            note(steps, Step::PlaceSuffix);
            self.free_name(&format!("{name}_{place}"))
        } else {
            name
        };
        if is_required {
            self.required.push(name.clone());
        }
        self.properties.insert(name, Value::Object(schema));
    }

    fn free_name(&self, name: &str) -> String {
        let numbered = (2..).map(|n| format!("{name}_{n}"));
        let mut names = std::iter::once(name.to_owned()).chain(numbered);
        names.find(|name| !self.properties.contains_key(name)).unwrap_or_default()
    }

    pub(super) fn into_value(self) -> Value {
        let mut function = Map::new();
        function.insert("name".to_owned(), json!(self.name));
        if let Some(description) = self.description {
            function.insert("description".to_owned(), json!(description));
        }
        let parameters = json!({"type": "dict", "properties": self.properties, "required": self.required});
        function.insert("parameters".to_owned(), parameters);
        Value::Object(function)
    }
}
