//! Requests that call functions, recorded calls, and rules that decide which functions work.
//!
//! A log has one call a line. The rules are data (`configs/probe_rules.toml`), and a verdict depends on the log and the
//! rules only, so it can be repeated without calling anything. A function is kept, has never answered, or is dropped by
//! the rule that hit most of its calls. `request` makes the request of a function; the crate `llm` can send it.

mod address;
pub mod body;
pub mod log;
pub mod of_collection;
pub mod recorded;
pub mod request;
pub mod rules;
mod value;
pub mod verdict;

pub use log::{Log, Probe, read_log};
pub use of_collection::{CalledFunctions, read_calls};
pub use recorded::{read_dialogues, read_trees};
pub use request::{Request, Unable, request_of};
pub use rules::{ProbeRules, RulesError};
pub use verdict::{FunctionVerdict, RuleHits, Verdict, Verdicts};

#[cfg(test)]
mod tests;
