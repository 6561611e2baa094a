//! Counts of the entries in a written dataset, from its tables.
//!
//! Reports and commands that remove entries use these counts, so they match the files.

use std::collections::BTreeMap;
use std::path::Path;

use super::set::Set;
use crate::engine::error::Result;
use crate::engine::frame::FrameFile;

/// The number of entries for each set and category, such as `scored/simple`.
pub struct Counts {
    /// Entries from requests of the run.
    pub made: Vec<(String, u64)>,
    /// Entries of an earlier dataset.
    pub frozen: Vec<(String, u64)>,
}

/// Counts the entries of a run's dataset.
///
/// # Errors
/// If a file cannot be read.
pub fn counts(run: &Path) -> Result<Counts> {
    let mut counts = [BTreeMap::new(), BTreeMap::new()];
    for set in Set::ALL {
        let path = set.table(&run.join("dataset"));
        if !path.is_file() {
            continue;
        }
        let file = FrameFile::open(&path)?;
        let frame = file.read(0, file.height(), Some(&["category", "frozen"]))?;
        let categories = frame.texts("category");
        for row in 0..frame.height() {
            let category = categories.and_then(|cells| cells.get(row)).unwrap_or_default();
            // Of datasets before yes and no had a type, it is 1.
            let is_frozen =
                frame.is_true("frozen", row) || frame.number_text("frozen", row).as_deref() == Some("1");
            *counts[usize::from(is_frozen)].entry(format!("{}/{category}", set.name())).or_default() += 1;
        }
    }
    let [made, frozen] = counts.map(|counts| counts.into_iter().collect());
    Ok(Counts { made, frozen })
}
