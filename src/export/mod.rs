//! Writes and reads datasets.
//!
//! [`KINDS`] lists the sinks. `bfcl` writes the kept requests as a dataset of BFCL; the stages before it select them, and
//! the caller creates the files under a temporary name. `row` has the columns of its tables, `set` the two sets of a
//! dataset, `tier` what confirms an entry, `card` the facts that people provide. `cleaned` writes the kept rows of
//! training sets in the form of their files. `written` counts the entries of a dataset, `earlier` reads an existing one, and
//! `frozen` copies its entries into a new one.

pub mod bfcl;
pub mod card;
pub mod cleaned;
pub mod earlier;
mod frozen;
pub mod row;
pub mod set;
pub mod tier;
pub mod written;

use crate::engine::kind::SinkKind;

/// The kinds of sinks. A pipeline whose `[export]` names none means the first.
pub static KINDS: [SinkKind; 2] =
    [SinkKind::of::<bfcl::BfclDataset>(), SinkKind::of::<cleaned::CleanedSets>()];
