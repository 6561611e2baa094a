//! Writes datasets in the forms other tools read.
//!
//! Every writer takes entries that are already chosen and sorted, and a place to
//! write to; which rows those are is decided by the stages before, and files are
//! made (beside, then renamed) by the caller. `bfcl` is the leaderboard's own
//! form; `python_json` is the spelling of JSON that form is read and compared in.

pub mod bfcl;
pub mod python_json;
pub mod sink;
