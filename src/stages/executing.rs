//! What stages share that execute calls: the environment that they name.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};

use crate::engine::error::{Error, Result};
use crate::engine::fingerprint::Fingerprint;
use crate::environment::Environment as System;
use crate::environments::call::{Call, Observation, Origin};
use crate::environments::declared::Declared;
use crate::environments::environment::{Environment, Episode, Function, InitialState};
use crate::environments::error::EnvironmentError;
use crate::instruct::environment::{of_collection, open};

/// Doors that can be opened: the environment of examples.
const DOORS: &str = r#"
name = "doors"
description = "The doors of a house."
[tables.doors]
description = "Doors."
[tables.doors.columns]
id = { type = "string", description = "Number of the door, such as D-1" }
lock = { type = "string", description = "Lock of the door" }
state = { type = "string", enum = ["open", "closed"], description = "State of the door" }
[[functions]]
name = "get_door"
description = "Returns a door with its lock."
operation = "read"
table = "doors"
key = "$id"
missing = "There is no door {id}."
[functions.parameters]
id = { column = "doors.id" }
[functions.result]
id = "$row.id"
lock = "$row.lock"
[[functions]]
name = "set_door"
description = "Opens or closes a door."
operation = "update"
table = "doors"
key = "$id"
missing = "There is no door {id}."
set = { state = "$state" }
columns = ["id", "state"]
[functions.parameters]
id = { column = "doors.id" }
state = { column = "doors.state" }
[[functions]]
name = "find_doors"
description = "Finds doors by their state."
operation = "find"
table = "doors"
where = [{ column = "state", is = "$state" }]
columns = ["id", "lock"]
[functions.parameters]
state = { column = "doors.state" }
[states.start]
description = "All doors are closed."
today = "2026-03-02"
[states.start.rows]
doors = [["D-1", "L-770", "closed"], ["D-2", "L-800", "closed"]]
"#;

/// Opens environments. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(super) struct Executor {
    system: System,
}

/// The name of the small environment of examples.
pub(super) const BUILT_IN: &str = "built-in:doors";

/// The doors, and a function that never returns the same twice.
struct Doors {
    declared: Declared,
    functions: Vec<Function>,
    n_drawn: Arc<AtomicU64>,
}

/// An episode of the doors.
struct Episodes {
    inner: Box<dyn Episode>,
    n_drawn: Arc<AtomicU64>,
}

/// The function that never returns the same twice.
const DRAW: &str = "draw_lots";

impl Doors {
    fn new() -> Result<Self> {
        let declared = Declared::read(BUILT_IN, DOORS).map_err(|fault| Error::Setting(fault.to_string()))?;
        let mut functions = declared.functions().to_vec();
        let doc = json!({"name": DRAW, "description": "Draws lots.", "parameters": {"type": "object", "properties": {}}});
        functions.push(Function {
            doc: doc.as_object().cloned().unwrap_or_default(),
            effect: None,
            class: None,
        });
        Ok(Self { declared, functions, n_drawn: Arc::default() })
    }
}

impl Environment for Doors {
    fn name(&self) -> &str {
        self.declared.name()
    }

    fn origin(&self) -> Origin {
        self.declared.origin()
    }

    fn functions(&self) -> &[Function] {
        &self.functions
    }

    fn initial_states(&self) -> &[InitialState] {
        self.declared.initial_states()
    }

    fn start(&self, state: &InitialState) -> std::result::Result<Box<dyn Episode>, EnvironmentError> {
        Ok(Box::new(Episodes { inner: self.declared.start(state)?, n_drawn: self.n_drawn.clone() }))
    }

    fn fingerprint(&self) -> Value {
        self.declared.fingerprint()
    }
}

impl Episode for Episodes {
    fn call(&mut self, call: &Call) -> std::result::Result<Observation, EnvironmentError> {
        if call.name == DRAW {
            let drawn = self.n_drawn.fetch_add(1, Ordering::Relaxed);
            return Ok(Observation::success(drawn.into(), Origin::Declared));
        }
        self.inner.call(call)
    }

    fn state(&mut self) -> std::result::Result<Option<Value>, EnvironmentError> {
        self.inner.state()
    }

    fn state_hash(&mut self) -> std::result::Result<Option<String>, EnvironmentError> {
        self.inner.state_hash()
    }

    fn stop(self: Box<Self>) -> std::result::Result<(), EnvironmentError> {
        self.inner.stop()
    }
}

impl Executor {
    /// Sets what the program has from its surroundings.
    pub(super) fn set_system(&mut self, system: &System) {
        self.system = system.clone();
    }

    /// Opens the environment of a file, or of the run folder of a collection, whose functions are not executed.
    ///
    /// # Errors
    /// It cannot be opened, or none is named.
    pub(super) fn open(&self, named: Option<&Path>) -> Result<Arc<dyn Environment>> {
        match named {
            None => Err(Error::Setting(
                "the stage executes calls, and no environment is named\nhint: set its environment to that of [ingest]".to_owned(),
            )),
            Some(name) if name.as_os_str() == BUILT_IN => Ok(Arc::new(Doors::new()?)),
            Some(run) if run.is_dir() => of_collection(run),
            Some(file) => open(file, &self.system),
        }
    }

    /// Adds everything of the environment that can change a result to the resume key of a stage.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub(super) fn fingerprint(&self, named: Option<&Path>, fingerprint: &mut Fingerprint) -> Result<()> {
        let environment = self.open(named)?;
        fingerprint.add_part("environment", environment.fingerprint().to_string().as_bytes());
        Ok(())
    }
}

/// Returns the error of an environment as one of a stage.
#[allow(clippy::needless_pass_by_value)] // What `map_err` passes.
pub(super) fn failed(error: EnvironmentError) -> Error {
    Error::Setting(error.to_string())
}
