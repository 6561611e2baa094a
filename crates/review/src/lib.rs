//! A local page on which people decide on rows, and their decisions on disk.
//!
//! [`item`] is what a reviewer sees of a row, with mechanical checks that mark suspicious answers. [`store`] keeps the decisions of
//! each reviewer in a file of JSON lines, compares reviewers, and exports decisions. [`server`] serves the page on this machine only.
//! Nothing here reads a run: the caller passes the rows as a [`server::Source`] and validates edits as a [`server::Checker`].

pub mod item;
pub mod server;
pub mod store;
