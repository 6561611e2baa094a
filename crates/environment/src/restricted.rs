//! Some of the functions of an environment.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::call::{Call, Origin};
use crate::environment::{Environment, Episode, Execution, Function, InitialState, ParameterSource};
use crate::error::EnvironmentError;

/// An environment with fewer functions. The others can still be called; they are not listed.
pub struct Restricted {
    whole: Arc<dyn Environment>,
    functions: Vec<Function>,
}

impl Restricted {
    /// Returns an environment with the functions of these names, in its own order.
    pub fn new(whole: Arc<dyn Environment>, names: &BTreeSet<String>) -> Self {
        let is_named = |function: &&Function| names.contains(function.name());
        let functions = whole.functions().iter().filter(is_named).cloned().collect();
        Self { whole, functions }
    }
}

impl Environment for Restricted {
    fn name(&self) -> &str {
        self.whole.name()
    }

    fn origin(&self) -> Origin {
        self.whole.origin()
    }

    fn functions(&self) -> &[Function] {
        &self.functions
    }

    fn initial_states(&self) -> &[InitialState] {
        self.whole.initial_states()
    }

    fn value_sources(&self) -> Vec<ParameterSource> {
        self.whole.value_sources()
    }

    fn start(&self, state: &InitialState) -> Result<Box<dyn Episode>, EnvironmentError> {
        self.whole.start(state)
    }

    fn fingerprint(&self) -> Value {
        let names: Vec<&str> = self.functions.iter().map(Function::name).collect();
        json!({"environment": self.whole.fingerprint(), "functions": names})
    }

    fn conditions(&self) -> Map<String, Value> {
        self.whole.conditions()
    }

    fn run(&self, state: &InitialState, calls: &[Call]) -> Result<Execution, EnvironmentError> {
        self.whole.run(state, calls)
    }

    fn run_to_hash(&self, state: &InitialState, calls: &[Call]) -> Result<Execution, EnvironmentError> {
        self.whole.run_to_hash(state, calls)
    }

    fn explore(&self, state: &InitialState, calls: &[Call]) -> Result<Execution, EnvironmentError> {
        self.whole.explore(state, calls)
    }

    fn run_fresh(&self, state: &InitialState, calls: &[Call]) -> Result<Execution, EnvironmentError> {
        self.whole.run_fresh(state, calls)
    }
}
