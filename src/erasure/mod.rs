//! Takes things out of a finished run: the only module that changes files which are written.
//!
//! `purge` takes raw text out of the raw tables, `forget` a record out of all files, and `dataset` its entries out of the
//! dataset; all of them through `rewrite`. What ingest and the opening of a run must know of forgotten records is the
//! engine's (`engine::forgotten`).

pub mod dataset;
pub mod forget;
pub mod purge;
pub mod rewrite;
