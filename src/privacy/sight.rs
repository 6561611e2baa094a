//! What a cell shows when it is looked at alone: values, placeholders, and the marks that say whether to look again once all
//! values of a run are known.
//!
//! Logs repeat themselves: one prompt and its answer stand in row after row. So what a cell shows is kept for its equals.

use std::sync::{Arc, PoisonError, RwLock};

use rustc_hash::FxHashMap;
use xxhash_rust::xxh3::xxh3_128;

use super::apply::{in_json, in_text};
use super::known::{Sighting, marks};
use super::{Found, Kind, Scanner, Standing};

/// Fewest bytes of a cell that is kept: a shorter one is looked at sooner than looked up.
const LEAST_KEPT: usize = 48;
/// Most cells that are kept.
const MOST_KEPT: usize = 1 << 17;

/// How a cell is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CellKind {
    /// As it is.
    Text,
    /// As JSON, text by text.
    Json,
}

/// What a cell shows.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Sight {
    /// Its personal values, in order.
    pub values: Vec<Sighting>,
    /// The kinds and numbers of its placeholders, in order.
    pub taken: Vec<(Kind, u64)>,
    /// What a known value could be recognised by in it; see [`marks`].
    pub marks: Vec<u32>,
}

impl Sight {
    /// What a cell shows; `None` where that is nothing.
    pub fn of(scanner: &Scanner, cell: &str, kind: CellKind) -> Option<Self> {
        let mut sight = Self::default();
        let visit = |found: &Found, text: &str| match found.standing {
            Standing::Personal => sight.values.push(Sighting::of(found, text)),
            Standing::Placeholder(Some(number)) => sight.taken.push((found.kind, number)),
            Standing::Placeholder(None) => {}
        };
        match kind {
            CellKind::Text => in_text(scanner, cell, visit),
            CellKind::Json => in_json(scanner, cell, visit),
        }
        marks(cell, &mut sight.marks);
        (sight != Self::default()).then_some(sight)
    }
}

/// What the cells of a table showed so far. Cells are equal by their 128-bit hash, as rows are.
#[derive(Debug, Default)]
pub struct Repeated(RwLock<FxHashMap<Key, Option<Arc<Sight>>>>);

/// How a cell is read, and its hash.
type Key = (CellKind, u128);

impl Repeated {
    /// What a cell shows, by one scanner; `None` where that is nothing.
    pub fn see(&self, scanner: &Scanner, cell: &str, kind: CellKind) -> Option<Arc<Sight>> {
        let look = || Sight::of(scanner, cell, kind).map(Arc::new);
        if cell.len() < LEAST_KEPT {
            return look();
        }
        let key = (kind, xxh3_128(cell.as_bytes()));
        if let Some(seen) = self.0.read().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return seen.clone();
        }
        let seen = look();
        let mut kept = self.0.write().unwrap_or_else(PoisonError::into_inner);
        // What is repeated is mostly near, so older cells go.
        if kept.len() >= MOST_KEPT {
            kept.clear();
        }
        kept.insert(key, seen.clone());
        seen
    }
}
