//! The entries on which two systems differ.

use std::collections::HashMap;

use super::{Row, SystemScore};

/// Two outputs of an entry that differ in their verdict or in their calls.
#[derive(Debug)]
pub struct Difference<'e, 'i> {
    /// The output of the first system.
    pub a: &'e Row<'i>,
    /// The output of the second system.
    pub b: &'e Row<'i>,
}

impl Difference<'_, '_> {
    /// Returns whether only one of the outputs is correct.
    pub fn is_decided(&self) -> bool {
        self.a.scored.valid != self.b.scored.valid
    }
}

/// Returns the outputs that differ, in the order of the dataset; outputs that only one system has are skipped.
pub fn differences<'e, 'i>(a: &'e SystemScore<'i>, b: &'e SystemScore<'i>) -> Vec<Difference<'e, 'i>> {
    let key = |row: &Row<'_>| (row.result.id.clone(), row.result.sample.as_ref().map(ToString::to_string));
    let of_b: HashMap<_, &Row<'_>> = b.rows.iter().map(|row| (key(row), row)).collect();
    let both = a.rows.iter().filter_map(|row| Some(Difference { a: row, b: of_b.get(&key(row))? }));
    both.filter(|pair| pair.is_decided() || is_other(pair.a, pair.b)).collect()
}

fn is_other(a: &Row<'_>, b: &Row<'_>) -> bool {
    if a.scored.decoded.is_null() || b.scored.decoded.is_null() {
        a.result.output != b.result.output
    } else {
        a.scored.decoded != b.scored.decoded
    }
}
