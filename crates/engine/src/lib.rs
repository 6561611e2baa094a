//! The engine: stages judge, the runner acts.
//!
//! Reading order:
//!
//! - shared types: `vocabulary`, `fate`, `link`, `decision`, `opinion`;
//! - the definition of a stage: `contract`, `context` and `stage`; `instance` is a stage at its place in a pipeline,
//!   `example` shows a reason on sample rows; `services`, `language_model` and `rollout` (requests that depend on answers): what a stage
//!   may use besides its rows;
//! - input and output of a stage: `view` and `verdict`; where rows come from and go: `source` and `sink`, whose kinds are in
//!   `kind`;
//! - how verdicts are applied: `runner`, `cascade`, `conservation`, `row_names`, `decided`, `deciding` and `decisions`; `step_keys` says which steps are taken over; `run_parts` does a part of a step beside other processes, and `parts` has its files;
//! - the foundations: `corpus` (tables), `raw` and `delta` (their files), `frame` and `foreign` (tables as
//!   Arrow arrays), `parquet_rows` (ranges of their rows), `parquet_copy` and `parquet_form` (Parquet files that are written again), `background_writer`, `folder` and `marker` (the run folder), `layout` (file names), `disk` (writing files),
//!   `manifest` (what a run records), `seal` and `verify` (checksums), `ledger` (all events in one table), `links`
//!   (records outside the run that rows are near to), and `forgotten` (records that must not come back).
//!
//! No code of this module changes a finished run; `erasure` does.

// Tests write small files to temporary folders, where an interrupted write does no harm.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

pub mod background_writer;
pub mod cascade;
pub mod columns;
pub(crate) mod conservation;
pub mod context;
pub mod contract;
pub mod corpus;
#[cfg(feature = "polars")]
pub mod data_frame;
pub mod decided;
mod deciding;
pub mod decision;
pub mod decisions;
pub mod delta;
pub mod disk;
pub mod division;
pub mod early_sync;
pub mod entries;
pub mod error;
pub mod estimate;
pub mod example;
#[cfg(test)]
mod failing;
pub mod fate;
pub mod fingerprint;
pub mod fixture;
pub mod folder;
pub mod foreign;
mod foreign_files;
pub mod forgotten;
pub mod frame;
#[cfg(test)]
pub(crate) mod guards;
pub mod instance;
pub mod kind;
pub mod language_model;
pub mod layout;
pub mod ledger;
pub mod link;
pub mod links;
pub mod manifest;
pub mod marker;
mod no_run;
pub mod opinion;
pub mod parquet_copy;
mod parquet_form;
mod parquet_rows;
pub mod partition;
pub mod parts;
pub mod raw;
pub mod rollout;
pub mod row_names;
pub mod run_parts;
pub mod runner;
pub mod seal;
pub mod services;
pub mod sink;
pub mod source;
pub mod stage;
mod step_keys;
pub mod verdict;
pub mod verify;
pub mod view;
pub mod vocabulary;
