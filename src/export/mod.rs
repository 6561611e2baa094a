//! Writes datasets in the forms other tools read.
//!
//! Every writer takes entries that are already chosen and sorted, and a place to
//! write to; which rows those are is decided by the stages before, and files are
//! made (beside, then renamed) by the caller. The leaderboard's own form is in `bfcl`;
//! `row` has the columns of the tables, `set` the two sets of a dataset. `card` is what only people
//! can say about a dataset. `written` counts what is in a dataset, `earlier` reads one that is there
//! already.

pub mod card;
pub mod earlier;
mod frozen;
mod row;
pub mod set;
pub mod sink;
pub mod written;
