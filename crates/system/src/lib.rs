//! What the program takes from the system: files and folders that people name, the environment, and the wish to stop.
//!
//! `side_file` reads files as a whole, `folder_entries` lists folders, [`environment`] has the folders, servers and keys that the
//! program reads once at its start, `memory` how much the process has. Nothing else of the project reads the environment.

// Tests write small files to temporary folders, where an interrupted write does no harm.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

pub mod environment;
pub mod folder_entries;
pub mod memory;
pub mod side_file;

/// The cancellation check of long-running work that does not depend on a run; `true` stops it and stays `true`.
pub type Cancelled<'a> = &'a (dyn Fn() -> bool + Sync);
