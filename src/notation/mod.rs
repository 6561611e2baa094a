//! Readers of notations that know nothing of function docs: text into values, each with bounds of its own.
//!
//! `python` reads literals, calls, and heads of functions and classes. What the values mean stands in `docs`,
//! `ingest` and `answers`.

pub mod python;
