//! What stands in a dataset that is written, counted from its tables.
//!
//! Reports and whatever takes entries out count here, so what is told is what is there.

use std::collections::BTreeMap;
use std::path::Path;

use super::set::Set;
use crate::engine::error::Result;
use crate::engine::frame::FrameFile;

/// How many entries stand under each heading, `scored/simple` and so on.
pub struct Counts {
    /// Those made of requests of the run.
    pub made: Vec<(String, u64)>,
    /// Those of an earlier dataset.
    pub frozen: Vec<(String, u64)>,
}

/// Counts the entries of a run's dataset.
///
/// # Errors
/// A file cannot be read.
pub fn counts(run: &Path) -> Result<Counts> {
    let mut counts = [BTreeMap::new(), BTreeMap::new()];
    for set in Set::ALL {
        let path = set.table(&run.join("dataset"));
        if !path.is_file() {
            continue;
        }
        let file = FrameFile::open(&path)?;
        let frame = file.read(0, file.height(), Some(&["category", "frozen"]))?;
        let (categories, frozen) = (frame.texts("category"), frame.ints("frozen"));
        for row in 0..frame.height() {
            let category = categories.and_then(|cells| cells.get(row)).unwrap_or_default();
            let is_frozen = frozen.and_then(|cells| cells.get(row)) == Some(1);
            *counts[usize::from(is_frozen)].entry(format!("{}/{category}", set.name())).or_default() += 1;
        }
    }
    let [made, frozen] = counts.map(|counts| counts.into_iter().collect());
    Ok(Counts { made, frozen })
}
