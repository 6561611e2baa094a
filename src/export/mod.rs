//! Writes datasets in the forms other tools read.
//!
//! Every writer takes entries that are already chosen and sorted, and a place to
//! write to; which rows those are is decided by the stages before, and files are
//! made (beside, then renamed) by the caller. `bfcl` is the leaderboard's own
//! form; `python_json` is the spelling of JSON that form is read and compared in.
//! `erase` takes entries out of a dataset that is written.

pub mod bfcl;
pub mod erase;
pub mod python_json;
pub mod sink;
