//! Removes data from a finished run. This is the only module that changes finished files.
//!
//! `purge` removes raw text from the raw tables, `forget` removes a record from all files, and `dataset` removes its
//! entries from the dataset; all of them use `rewrite`. `engine::forgotten` holds what ingest and the loading of a run
//! need to know of forgotten records.

pub mod dataset;
pub mod forget;
pub mod purge;
pub mod rewrite;
