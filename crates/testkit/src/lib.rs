//! What the tests of several crates share. It is a dependency of tests only.
//!
//! [`data`] finds the data that is not part of the repository, [`arbitrary`] makes random JSON, and [`server`] answers
//! requests over HTTP by a script.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    reason = "tests fail by a panic"
)]

pub mod arbitrary;
pub mod data;
pub mod html;
pub mod server;
pub mod tiny_model;
pub mod tools;
