//! Writes datasets in the forms other tools read.
//!
//! Every writer takes entries that are already chosen and sorted, and a place to
//! write to; which rows those are is decided by the stages before, and files are
//! made (beside, then renamed) by the caller. `bfcl` is the leaderboard's own
//! form, `ids` says what its entries are called, `python_json` is the spelling of JSON
//! that form is read and compared in. `card` is what only people can say about a dataset.
//! `written` counts what stands in a dataset, `earlier` reads one that is there already,
//! `erase` takes entries out of one.

pub mod bfcl;
pub mod card;
pub mod earlier;
pub mod erase;
mod frozen;
pub mod ids;
pub mod python_json;
pub mod sink;
pub mod written;
