//! The engine: stages judge, the runner acts.
//!
//! Reading order: `vocabulary` (the words all modules share), `contract`, `context` and `stage` (what a stage
//! is; `example` shows a reason on rows), `view` and `verdict` (what it sees and says), `runner`, `cascade` and `conservation` (what becomes of it), then what they stand on:
//! `corpus` (tables), `payload` and `delta` (their files), `frame` (the door to polars), `scribe` (who writes),
//! `folder` and `marker` (the run folder), `layout`, `disk` and `manifest` (its names, how files get there, what it records), `seal` and `verify` (checksums of its files), `ledger` (all of it in one table),
//! `links` (what was found about rows besides), and
//! `forgotten` (what must not come back). Nothing here changes a finished run; that is for `erasure`.

pub mod cascade;
pub(crate) mod conservation;
pub mod context;
pub mod contract;
pub mod corpus;
pub mod decisions;
pub mod delta;
pub mod disk;
pub mod entries;
pub mod error;
pub mod estimate;
pub mod example;
#[cfg(test)]
mod failing;
pub mod fingerprint;
pub mod folder;
pub mod foreign;
pub mod forgotten;
pub mod frame;
#[cfg(test)]
pub(crate) mod guards;
pub mod layout;
pub mod ledger;
pub mod links;
pub mod manifest;
mod marker;
mod others;
pub mod part;
pub mod partition;
pub mod payload;
pub mod runner;
pub mod scribe;
pub mod seal;
pub mod services;
pub mod stage;
pub mod verdict;
pub mod verify;
pub mod view;
pub mod vocabulary;
