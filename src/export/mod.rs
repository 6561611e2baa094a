//! Writes and reads datasets.
//!
//! `sink` writes the kept requests as a dataset; the stages before it select them, and the caller
//! creates the files under a temporary name. `bfcl` has the format of the leaderboard; `row` has
//! the columns of the tables, `set` the two sets of a dataset, `card` the facts that people
//! provide. `cleaned` writes the kept rows of training sets in the form of their files. `written` counts the entries of a dataset, `earlier` reads an existing one, and
//! `frozen` copies its entries into a new one.

pub mod card;
pub mod cleaned;
pub mod earlier;
mod frozen;
mod row;
pub mod set;
pub mod sink;
pub mod written;
