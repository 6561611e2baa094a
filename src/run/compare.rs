//! What differs between two finished runs.

use std::path::Path;

use super::Error;
use crate::report::compare::Comparison;
use crate::report::finished::{Fates, Finished};

/// Two finished runs and what differs between them.
#[derive(Debug)]
#[non_exhaustive]
pub struct Compared {
    /// The first run.
    pub before: Finished,
    /// The second run.
    pub after: Finished,
    /// What differs.
    pub comparison: Comparison,
}

/// Compares two finished runs: settings, inputs, figures, rows, entries. Up to `max_ids` ids are kept of each kind of
/// difference. Nothing is judged again and no lock is taken.
///
/// # Errors
/// One of them is no finished run, or a file of it is damaged or of another version.
pub fn compare(before: &Path, after: &Path, max_ids: usize) -> Result<Compared, Error> {
    let mut fates = Fates::default();
    let before = Finished::open(before, &mut fates)?;
    let after = Finished::open(after, &mut fates)?;
    let comparison = Comparison::new(&before, &after, &mut fates, max_ids);
    Ok(Compared { before, after, comparison })
}
