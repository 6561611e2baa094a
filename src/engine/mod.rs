//! The engine: stages judge, the runner acts.
//!
//! Reading order: `stage` (the vocabulary; `example` shows a reason on rows), `columns`, `view` and `verdict` (what a
//! stage sees and says), `runner`, `cascade` and `conservation` (what becomes of it), then what they stand on:
//! `corpus` (tables), `payload` and `delta` (their files), `frame` (the door to polars), `scribe` (who writes),
//! `folder` and `marker` (the run folder), `seal` and `verify` (checksums of its files), `ledger` (all of it in one table),
//! `links` (what was found about rows besides); last,
//! what takes things out of a finished run: `purge`, `forget` and `forgotten`, by `rewrite`.

pub mod cascade;
pub mod columns;
mod conservation;
pub mod corpus;
pub mod decisions;
pub mod delta;
pub mod entries;
pub mod error;
pub mod estimate;
pub mod example;
#[cfg(test)]
mod failing;
pub mod fingerprint;
#[cfg(test)]
pub(crate) mod fixture;
pub mod folder;
pub mod foreign;
pub mod forget;
pub mod forgotten;
pub mod frame;
#[cfg(test)]
pub(crate) mod guards;
pub mod ledger;
pub mod links;
mod marker;
mod others;
pub mod partition;
pub mod payload;
pub mod purge;
pub mod rewrite;
pub mod runner;
pub mod scribe;
pub mod seal;
pub mod services;
pub mod stage;
pub mod verdict;
pub mod verify;
pub mod view;
