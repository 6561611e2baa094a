//! The engine: stages judge, the runner acts.
//!
//! Reading order: the words all modules share (`vocabulary`, `fate`, `link`, `decision`, `opinion`), `contract`, `context`
//! and `stage` (what a stage is; `instance` has it in its place in a pipeline, `example` shows a reason on rows), `view`
//! and `verdict` (what it sees and says), `runner`, `cascade`, `conservation`, `decided` and `decisions` (what becomes of
//! it), then what they stand on: `corpus` (tables), `raw tables` and `delta` (their files), `frame` (the door to polars),
//! `background writer` (who writes), `folder` and `marker` (the run folder), `layout`, `disk` and `manifest` (its names, how files
//! get there, what it records), `seal` and `verify` (checksums of its files), `ledger` (all of it in one table), `links`
//! (what was found about rows besides), and `forgotten` (what must not
//! come back). Nothing here changes a finished run; that is for `erasure`.

pub mod background_writer;
pub mod cascade;
pub(crate) mod conservation;
pub mod context;
pub mod contract;
pub mod corpus;
pub mod decided;
pub mod decision;
pub mod decisions;
pub mod delta;
pub mod disk;
pub mod entries;
pub mod error;
pub mod estimate;
pub mod example;
#[cfg(test)]
mod failing;
pub mod fate;
pub mod fingerprint;
pub mod folder;
pub mod foreign;
pub mod forgotten;
pub mod frame;
#[cfg(test)]
pub(crate) mod guards;
pub mod instance;
pub mod layout;
pub mod ledger;
pub mod link;
pub mod links;
pub mod manifest;
mod marker;
pub mod opinion;
mod others;
pub mod part;
pub mod partition;
pub mod raw;
pub mod runner;
pub mod seal;
pub mod services;
pub mod stage;
pub mod verdict;
pub mod verify;
pub mod view;
pub mod vocabulary;
