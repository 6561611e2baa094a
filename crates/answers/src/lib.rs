//! Answers to requests, from the log and from people.
//!
//! `recorded` parses the answer of the logged model (`notations` its JSON, `markup` other forms of calls, `attempt` finds calls in none of them, `decline` what prose means, `upstream` errors in its place), `outcome` judges from the following messages
//! whether it worked, `written` reads calls of known functions anywhere in a text, `called` finds the function that a call is of, `traced` finds values that nobody gave, `carry` converts recorded calls to ground truth for the current docs
//! (`fault` lists why that can fail), `human` reads answers that people wrote, and `open_text`
//! finds answers with too many correct values to list.
//! A ground truth from `carry` passes the official checker with its first alternatives as the
//! answer; calls that cannot be written that way are a fault, never a guess. The stages decide
//! which answers are scored.

// Tests write small files to temporary folders, where an interrupted write does no harm.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

pub mod alternatives;
pub mod attempt;
pub mod called;
pub mod carry;
pub mod decline;
mod described;
pub mod fault;
pub mod human;
pub mod markup;
mod notations;
pub mod open_text;
pub mod outcome;
pub mod recorded;
pub mod traced;
mod upstream;
pub mod value;
pub mod written;
