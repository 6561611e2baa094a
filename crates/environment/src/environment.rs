//! The traits of an environment and of an episode.
//!
//! An environment is a set of functions and of initial states. An *episode* starts from one initial state, executes calls
//! in order, and has a state that can be read; nothing that happens in it is seen by another episode. A *program* is a list
//! of calls that runs in an episode of its own.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::call::{Call, Observation, Origin};
use crate::canonical::state_hash;
use crate::error::EnvironmentError;
use crate::value_path::ValuePath;

/// Whether a call of a function can change the state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Effect {
    /// It only reads.
    ReadOnly,
    /// It may write.
    Writes,
}

/// A function of an environment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Function {
    /// `name`, `description`, `parameters` (a JSON Schema of type `object`), and `response` (a JSON Schema) if it is known.
    pub doc: Map<String, Value>,
    /// Whether it can change the state; `None` if nobody says so.
    pub effect: Option<Effect>,
    /// The class in Python whose method it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
}

impl Function {
    /// Returns the name of the function; empty if the doc has none.
    pub fn name(&self) -> &str {
        self.doc.get("name").and_then(Value::as_str).unwrap_or_default()
    }

    /// Returns the parameters by name, each with its schema.
    pub fn parameters(&self) -> impl Iterator<Item = (&str, &Value)> {
        let properties = self.doc.get("parameters").and_then(|schema| schema.get("properties"));
        let members = properties.and_then(Value::as_object).into_iter().flatten();
        members.map(|(name, schema)| (name.as_str(), schema))
    }
}

/// Where values of a parameter can come from.
#[derive(Debug, Clone, PartialEq)]
pub enum ValueSource {
    /// A place of the initial state.
    State {
        /// The place, such as `bookings[*].id`.
        path: ValuePath,
    },
    /// A place of the result of a function that was called before.
    Result {
        /// The name of the function.
        function: String,
        /// The place in its result.
        path: ValuePath,
    },
    /// Listed values.
    Values(Vec<Value>),
    /// Values that it had in calls that were recorded. They say nothing about results that it could be taken from.
    Recorded(Vec<Value>),
}

/// The sources of the values of one parameter.
#[derive(Debug, Clone, PartialEq)]
pub struct ParameterSource {
    /// The name of the function.
    pub function: String,
    /// The name of its parameter.
    pub parameter: String,
    /// Where a value can come from.
    pub source: ValueSource,
}

/// A state in which an episode can start.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InitialState {
    /// The name, unique in the environment.
    pub name: String,
    /// The content, in the form that the environment loads.
    pub value: Value,
}

/// What happened when a program ran.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Execution {
    /// One observation for each call, in order.
    pub observations: Vec<Observation>,
    /// The visible state at the end; `None` if the environment makes no claim on it.
    pub end_state: Option<Value>,
    /// The [`state_hash`] of the state at the end.
    pub state_hash: Option<String>,
}

impl Execution {
    /// Returns an execution, with the hash of its state.
    pub fn new(observations: Vec<Observation>, end_state: Option<Value>) -> Self {
        let state_hash = end_state.as_ref().map(state_hash);
        Self { observations, end_state, state_hash }
    }
}

/// Functions that can be called, and states to start from.
///
/// Many threads may start episodes and run programs at once.
pub trait Environment: Send + Sync {
    /// Returns the name of the environment.
    fn name(&self) -> &str;

    /// Returns where its results come from.
    fn origin(&self) -> Origin;

    /// Returns its functions, each name once, always in the same order.
    fn functions(&self) -> &[Function];

    /// Returns the states in which an episode can start. There is at least one.
    fn initial_states(&self) -> &[InitialState];

    /// Returns where values of parameters can come from, as far as the environment knows.
    fn value_sources(&self) -> Vec<ParameterSource> {
        Vec::new()
    }

    /// Starts an episode.
    ///
    /// # Errors
    /// The environment cannot start: a process, its files, a state that it does not load.
    fn start(&self, state: &InitialState) -> Result<Box<dyn Episode>, EnvironmentError>;

    /// Returns everything that can change a result: the content of files, the command, settings, the versions of packages
    /// and of this code. Equal fingerprints promise equal results, as far as the environment is deterministic.
    fn fingerprint(&self) -> Value;

    /// Returns what a reader of a dataset should know about how its calls were executed, such as
    /// `{"network": "not blocked"}`.
    fn conditions(&self) -> Map<String, Value> {
        Map::new()
    }

    /// Runs a whole program in an episode of its own, with one observation for each call.
    ///
    /// # Errors
    /// The episode cannot start. A call that fails is an observation, and so is an episode that ends too early.
    fn run(&self, state: &InitialState, calls: &[Call]) -> Result<Execution, EnvironmentError> {
        run(self.start(state)?, calls)
    }

    /// Runs a program like [`run`](Self::run), and leaves out the state at the end: its hash is enough to compare programs,
    /// and the state may be most of the work.
    ///
    /// # Errors
    /// As for [`run`](Self::run).
    fn run_to_hash(&self, state: &InitialState, calls: &[Call]) -> Result<Execution, EnvironmentError> {
        let execution = self.run(state, calls)?;
        Ok(Execution { end_state: None, ..execution })
    }

    /// Runs a program as fast as the environment can, for searching among many. What an earlier program left in a process may
    /// show, so a result is only a proposal: [`run`](Self::run) confirms it.
    ///
    /// # Errors
    /// As for [`run`](Self::run).
    fn explore(&self, state: &InitialState, calls: &[Call]) -> Result<Execution, EnvironmentError> {
        self.run_to_hash(state, calls)
    }

    /// Runs a program as far from everything else as the environment can: in newly started processes.
    ///
    /// # Errors
    /// As for [`run`](Self::run).
    fn run_fresh(&self, state: &InitialState, calls: &[Call]) -> Result<Execution, EnvironmentError> {
        self.run(state, calls)
    }
}

/// Runs a whole program in an episode that was just started, and ends it.
///
/// # Errors
/// The episode cannot be read or ended.
pub(crate) fn run(mut episode: Box<dyn Episode>, calls: &[Call]) -> Result<Execution, EnvironmentError> {
    let observations = calls.iter().map(|call| episode.call(call)).collect::<Result<Vec<_>, _>>()?;
    let end_state = episode.state()?;
    episode.stop()?;
    Ok(Execution::new(observations, end_state))
}

/// One running episode.
pub trait Episode: Send {
    /// Executes a call.
    ///
    /// # Errors
    /// The environment itself fails. A call that fails is an observation.
    fn call(&mut self, call: &Call) -> Result<Observation, EnvironmentError>;

    /// Returns the visible state; `None` if the environment makes no claim on it.
    ///
    /// # Errors
    /// The state cannot be read although the environment has one.
    fn state(&mut self) -> Result<Option<Value>, EnvironmentError>;

    /// Returns the [`state_hash`] of the visible state, without the state where the environment can do without it.
    ///
    /// # Errors
    /// As [`state`](Self::state).
    fn state_hash(&mut self) -> Result<Option<String>, EnvironmentError> {
        Ok(self.state()?.as_ref().map(state_hash))
    }

    /// Ends the episode and everything that it started.
    ///
    /// # Errors
    /// A process cannot be ended.
    fn stop(self: Box<Self>) -> Result<(), EnvironmentError>;
}
