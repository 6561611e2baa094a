//! Functions that nothing executes: only their docs are known.
//!
//! A call is accepted if its arguments are those of the doc, and returns nothing; so there is no result to chain on, and no
//! claim about what a call does.

use std::collections::HashMap;
use std::sync::Arc;

use callsieve_text::content_hash::content_hash;
use jsonschema::Validator;
use serde_json::{Value, json};

use crate::call::{Call, Failure, Observation, Origin};
use crate::canonical::canonical;
use crate::environment::{Environment, Episode, Function, InitialState};
use crate::error::EnvironmentError;
use crate::schema;
use crate::state_file::default_state;

/// Changes with every change of this module that changes which calls are accepted.
const VERSION: u32 = 1;

/// An environment of docs.
pub struct Unexecuted {
    name: String,
    functions: Vec<Function>,
    /// The schemas of the arguments by function. A schema that cannot be read accepts none.
    accepted: Arc<HashMap<String, Validator>>,
    states: Vec<InitialState>,
    fingerprint: Value,
}

impl Unexecuted {
    /// Returns the environment of some function docs: `name`, `description`, `parameters` as JSON Schema. Of docs with one
    /// name the first counts.
    pub fn new(name: impl Into<String>, docs: &[Value]) -> Self {
        let mut functions: Vec<Function> = Vec::new();
        let mut accepted = HashMap::new();
        for doc in docs {
            let Some(name) = doc["name"].as_str().filter(|name| !accepted.contains_key(*name)) else {
                continue;
            };
            let function = Function { doc: schema::doc(name, doc), effect: None, class: None };
            if let Ok(validator) = jsonschema::draft202012::new(&function.doc["parameters"]) {
                accepted.insert(name.to_owned(), validator);
                functions.push(function);
            }
        }
        let docs: Vec<&serde_json::Map<String, Value>> =
            functions.iter().map(|function| &function.doc).collect();
        let docs = content_hash(canonical(&json!(docs)));
        let fingerprint = json!({"kind": "unexecuted", "version": VERSION, "docs": format!("{docs:032x}")});
        let (accepted, states) = (Arc::new(accepted), vec![default_state()]);
        Self { name: name.into(), functions, accepted, states, fingerprint }
    }
}

impl Environment for Unexecuted {
    fn name(&self) -> &str {
        &self.name
    }

    fn origin(&self) -> Origin {
        Origin::Unexecuted
    }

    fn functions(&self) -> &[Function] {
        &self.functions
    }

    fn initial_states(&self) -> &[InitialState] {
        &self.states
    }

    fn start(&self, _state: &InitialState) -> Result<Box<dyn Episode>, EnvironmentError> {
        Ok(Box::new(OfDocs(Arc::clone(&self.accepted))))
    }

    fn fingerprint(&self) -> Value {
        self.fingerprint.clone()
    }
}

/// An episode: nothing happens in it.
struct OfDocs(Arc<HashMap<String, Validator>>);

impl Episode for OfDocs {
    fn call(&mut self, call: &Call) -> Result<Observation, EnvironmentError> {
        let Some(accepted) = self.0.get(&call.name) else {
            return Ok(Observation::unknown_function(&call.name, Origin::Unexecuted));
        };
        let arguments = Value::Object(call.arguments.clone());
        let wrong = accepted.iter_errors(&arguments).next();
        Ok(match wrong {
            None => Observation::success(Value::Null, Origin::Unexecuted),
            Some(error) => Observation::failure(Failure::ErrorResult, error.to_string(), Origin::Unexecuted),
        })
    }

    fn state(&mut self) -> Result<Option<Value>, EnvironmentError> {
        Ok(None)
    }

    fn stop(self: Box<Self>) -> Result<(), EnvironmentError> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_accepted_by_the_doc_alone() {
        let doc = |name: &str, parameters: Value| json!({"name": name, "description": "", "parameters": parameters});
        let docs = [
            doc(
                "f",
                json!({"type": "dict", "properties": {"n": {"type": "int", "maximum": 3}}, "required": ["n"]}),
            ),
            doc("f", json!({})),
            doc("broken", json!({"type": "object", "properties": {"n": {"type": 7}}})),
        ];
        let environment = Unexecuted::new("docs", &docs);
        let names: Vec<&str> = environment.functions().iter().map(Function::name).collect();
        assert_eq!(names, ["f"]);
        let called = |name: &str, arguments: Value| {
            let mut episode = environment.start(&environment.initial_states()[0]).unwrap();
            episode.call(&Call::new(name, arguments.as_object().cloned().unwrap())).unwrap().failure
        };
        assert_eq!(called("f", json!({"n": 2})), None);
        assert_eq!(called("f", json!({"n": 4})), Some(Failure::ErrorResult));
        assert_eq!(called("f", json!({})), Some(Failure::ErrorResult));
        assert_eq!(called("broken", json!({})), Some(Failure::UnknownFunction));
    }
}
