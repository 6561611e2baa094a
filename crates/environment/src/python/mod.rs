//! An environment of Python classes or functions.
//!
//! `worker.py` runs in a supervised process: it imports the modules once and forks a child for each program, so that
//! nothing of a program is left for the next. `pool` keeps a worker for each thread that runs programs. The hash seed is
//! fixed and `random` is seeded at the fork; a clock or the network may still make results differ from run to run.
//! docs/environments.md has the settings and the JSON forms of values.

mod pool;
mod settings;

use std::sync::{Arc, Mutex, PoisonError};

use serde::Deserialize as _;
use serde_json::{Map, Value, json};

use crate::call::{Call, Failure, Observation, Origin};
use crate::environment::{Environment, Episode, Execution, Function, InitialState};
use crate::error::EnvironmentError;
use crate::process::Supervisor;
use crate::schema;
use crate::state_file::default_state;
use pool::{Pool, Worker};
pub use settings::{ErrorValue, PythonSettings};

/// Changes with every change of this module that changes a result.
const VERSION: u32 = 2;

/// An environment of Python classes or functions.
pub struct Python {
    name: String,
    functions: Vec<Function>,
    initial_states: Vec<InitialState>,
    fingerprint: Value,
    network: &'static str,
    is_fresh: bool,
    pool: Arc<Pool>,
}

impl Python {
    /// Imports the modules of the settings in a worker, and reads docs and states.
    ///
    /// # Errors
    /// The interpreter or the supervisor does not start, a module, class, function or file is missing, or a setting is
    /// out of range.
    pub fn open(settings: &PythonSettings, supervisor: &Supervisor) -> Result<Self, EnvironmentError> {
        settings.check()?;
        let pool = Pool::new(settings, supervisor)?;
        let described = pool.describe()?;
        let list = |key: &str| described.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
        let functions: Vec<Function> = list("functions").iter().map(function).collect();
        if functions.is_empty() {
            return Err(settings.fault("the classes and functions have no public function"));
        }
        let is_known = |name: &str| functions.iter().any(|function| function.name() == name);
        let mut named = settings.error_values.iter().filter_map(|value| value.function.as_deref());
        if let Some(unknown) = named.find(|name| !is_known(name)) {
            return Err(settings.fault(&format!("error_values: there is no function \"{unknown}\"")));
        }
        let initial_states = match &settings.states {
            None => vec![default_state()],
            Some(file) => file.states(&list("states")),
        };
        if initial_states.is_empty() {
            return Err(settings.fault("the file of states has no record"));
        }
        let fact = |key: &str| described.get(key).cloned().unwrap_or_default();
        let fingerprint = json!({
            "kind": "python",
            "version": VERSION,
            "settings": settings.of_results(),
            "python": fact("python"),
            "packages": fact("versions"),
            "files": fact("hashes"),
        });
        Ok(Self {
            name: settings.name.clone(),
            functions,
            initial_states,
            fingerprint,
            network: supervisor.network(settings.network),
            is_fresh: settings.fresh,
            pool: Arc::new(pool),
        })
    }

    fn run_on(
        &self,
        worker: &mut Worker,
        op: &str,
        state: &InitialState,
        calls: &[Call],
    ) -> Result<Execution, EnvironmentError> {
        let named: Vec<Value> = calls.iter().map(|call| json!([call.name, call.arguments])).collect();
        let request = json!({"op": op, "has_program": true, "n_calls": calls.len()});
        let program = json!({"state": state.value, "calls": named});
        let Ok(answer) = worker.ask(&request, Some(&program), calls.len() + 2) else {
            // The worker died with the program; nobody knows during which call.
            let lost = || Observation::failure(Failure::Crashed, "The process ended.", Origin::Real);
            return Ok(Execution::new(calls.iter().map(|_| lost()).collect(), None));
        };
        check(&answer, &self.name, state)?;
        let observed = answer.get("observations").and_then(Value::as_array);
        let observations = observed.into_iter().flatten().map(|one| observation(one.clone())).collect();
        let end_state = answer.get("end").and_then(|end| end.get("state")).filter(|state| !state.is_null());
        Ok(Execution::new(observations, end_state.cloned()))
    }
}

/// Returns an error if the state was not loaded.
fn check(answer: &Value, name: &str, state: &InitialState) -> Result<(), EnvironmentError> {
    match answer.get("error").and_then(Value::as_str) {
        None => Ok(()),
        Some(what) => {
            let (name, state) = (name.to_owned(), state.name.clone());
            Err(EnvironmentError::State { name, state, what: what.to_owned() })
        }
    }
}

/// Reads `{"doc": …, "class": …}`.
fn function(described: &Value) -> Function {
    let doc = &described["doc"];
    let name = doc.get("name").and_then(Value::as_str).unwrap_or_default();
    let class = described["class"].as_str().map(str::to_owned);
    Function { doc: schema::doc(name, doc), effect: None, class }
}

/// Reads `{"result": …, "failure": …}`.
fn observation(mut answer: Value) -> Observation {
    let failure = answer.get("failure").filter(|failure| !failure.is_null());
    let failure = failure.map(|failure| Failure::deserialize(failure).unwrap_or(Failure::Crashed));
    let result = answer.get_mut("result").map(Value::take).unwrap_or_default();
    Observation { result, failure, origin: Origin::Real }
}

impl Environment for Python {
    fn name(&self) -> &str {
        &self.name
    }

    fn origin(&self) -> Origin {
        Origin::Real
    }

    fn functions(&self) -> &[Function] {
        &self.functions
    }

    fn initial_states(&self) -> &[InitialState] {
        &self.initial_states
    }

    fn start(&self, state: &InitialState) -> Result<Box<dyn Episode>, EnvironmentError> {
        let mut worker = self.pool.take(self.is_fresh)?;
        let program = json!({"state": state.value});
        let request = json!({"op": "start", "has_program": true});
        let answer = worker.ask(&request, Some(&program), 1).map_err(|what| self.pool.fault(what))?;
        check(&answer, &self.name, state)?;
        let pool = Arc::clone(&self.pool);
        Ok(Box::new(PythonEpisode { worker: Mutex::new(Some(worker)), pool, is_fresh: self.is_fresh }))
    }

    fn fingerprint(&self) -> Value {
        self.fingerprint.clone()
    }

    fn conditions(&self) -> Map<String, Value> {
        [("network".to_owned(), Value::from(self.network))].into_iter().collect()
    }

    fn run(&self, state: &InitialState, calls: &[Call]) -> Result<Execution, EnvironmentError> {
        if self.is_fresh {
            return self.run_fresh(state, calls);
        }
        let mut worker = self.pool.take(false)?;
        let execution = self.run_on(&mut worker, "run", state, calls);
        self.pool.put_back(worker);
        execution
    }

    fn explore(&self, state: &InitialState, calls: &[Call]) -> Result<Execution, EnvironmentError> {
        let mut worker = self.pool.take(false)?;
        let execution = self.run_on(&mut worker, "explore", state, calls);
        self.pool.put_back(worker);
        execution
    }

    fn run_fresh(&self, state: &InitialState, calls: &[Call]) -> Result<Execution, EnvironmentError> {
        let mut worker = self.pool.take(true)?;
        self.run_on(&mut worker, "run", state, calls)
    }
}

struct PythonEpisode {
    /// `None` after the worker was lost.
    worker: Mutex<Option<Worker>>,
    pool: Arc<Pool>,
    is_fresh: bool,
}

impl PythonEpisode {
    fn ask(&mut self, request: &Value) -> Option<Value> {
        let worker = self.worker.get_mut().unwrap_or_else(PoisonError::into_inner);
        let answer = worker.as_mut()?.ask(request, None, 1);
        if answer.is_err() {
            *worker = None;
        }
        answer.ok()
    }
}

impl Episode for PythonEpisode {
    fn call(&mut self, call: &Call) -> Result<Observation, EnvironmentError> {
        let request = json!({"op": "call", "name": call.name, "arguments": call.arguments});
        let lost = || Observation::failure(Failure::Crashed, "The process ended.", Origin::Real);
        Ok(self.ask(&request).map_or_else(lost, observation))
    }

    fn state(&mut self) -> Result<Option<Value>, EnvironmentError> {
        let answer = self.ask(&json!({"op": "state"}));
        Ok(answer.and_then(|answer| answer.get("state").cloned()).filter(|state| !state.is_null()))
    }

    fn stop(mut self: Box<Self>) -> Result<(), EnvironmentError> {
        let is_stopped = self.ask(&json!({"op": "stop"})).is_some();
        let worker = self.worker.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(worker) = worker.filter(|_| is_stopped && !self.is_fresh) {
            self.pool.put_back(worker);
        }
        Ok(())
    }
}
