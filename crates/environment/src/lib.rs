//! Environments: functions that can be called, states to start from, and what each call returns.
//!
//! `environment` has the traits, `call` what goes in and out. `declared` runs tables and operations that a file declares,
//! inside the program; `python` runs modules of Python, `mcp` servers of the Model
//! Context Protocol, `recorded` looks calls up in a file. `unexecuted` knows functions only by their docs. `process` starts what an environment needs, under a supervisor
//! (`supervise`) that ends everything with the program. `value_path` names places in states and results; `canonical` hashes states.
//! An episode is isolated from every other. A call that fails is an observation with its own kind of failure, never an
//! error; every observation names its origin. What an environment returns is outside text: nothing here redacts it.

// Tests write small files to temporary folders, where an interrupted write does no harm.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

pub mod call;
pub mod canonical;
pub mod declared;
pub mod environment;
pub mod error;
#[cfg(unix)]
pub mod mcp;
#[cfg(unix)]
pub mod process;
#[cfg(unix)]
pub mod python;
pub mod recorded;
mod records;
pub mod restricted;
mod schema;
pub mod settings;
pub mod state_file;
#[cfg(unix)]
pub mod supervise;
pub mod unexecuted;
pub mod value_path;
