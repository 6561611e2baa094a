//! All pairs of sequences whose ROUGE-L F1 is above a threshold.
//!
//! Exact: every pair is found that comparing all would find. Pairs come in order, by the
//! first sequence and then the second, some rows at a time, so that memory holds the
//! sequences and the pairs of those rows; the order is the same for any number of threads.

use rayon::prelude::*;

use super::bitmap::CHUNK_LEN;
use super::index::{Index, Prepared, Row, row};
use crate::similarity::sequences::Sequences;
use crate::similarity::{Pair, Stopped};
use crate::text::lcs::LcsScratch;
use crate::text::rouge::{Threshold, f1};

/// Rows whose pairs are found together, at least: below that, laying out the others costs more than it saves.
const MIN_BLOCK_LEN: usize = 4_096;
/// Blocks a self-join is cut into, at most.
const MAX_BLOCKS: usize = 16;

/// Finds all pairs of one collection, `a` before `b`, and gives them to `take` some rows at a time.
///
/// # Errors
/// Where `cancelled` says so, which is asked again and again, or where `take` fails.
///
/// # Panics
/// With more than 2³² sequences.
pub fn self_join<E>(
    sequences: &Sequences,
    threshold: Threshold,
    cancelled: &(dyn Fn() -> bool + Sync),
    mut take: impl FnMut(&[Pair]) -> Result<(), E>,
) -> Result<(), Stopped<E>> {
    let prepared = Prepared::new(sequences, threshold);
    let n_rows = row(sequences.len());
    let block_len = sequences.len().div_ceil(MAX_BLOCKS).max(MIN_BLOCK_LEN);
    for start in (0..n_rows).step_by(block_len) {
        let index = Index::of(&prepared, (start..n_rows).collect());
        let block = start..n_rows.min(start.saturating_add(row(block_len)));
        let pairs = pairs_of(&prepared, block.collect(), &index, |a, b| a < b, cancelled);
        take(&pairs.ok_or(Stopped::Cancelled)?).map_err(Stopped::Sink)?;
    }
    Ok(())
}

/// Finds all pairs of a sequence of one collection with one of another, as [`self_join`] does.
///
/// # Errors
/// As [`self_join`].
///
/// # Panics
/// With more than 2³² sequences.
pub fn join<E>(
    a: &Sequences,
    b: &Sequences,
    threshold: Threshold,
    cancelled: &(dyn Fn() -> bool + Sync),
    mut take: impl FnMut(&[Pair]) -> Result<(), E>,
) -> Result<(), Stopped<E>> {
    let both: Sequences = a.iter().chain(b.iter()).collect();
    let prepared = Prepared::new(&both, threshold);
    let n_a = row(a.len());
    let index = Index::of(&prepared, (n_a..row(both.len())).collect());
    for start in (0..n_a).step_by(MIN_BLOCK_LEN) {
        let block = start..n_a.min(start.saturating_add(row(MIN_BLOCK_LEN)));
        let pairs = pairs_of(&prepared, block.collect(), &index, |_, _| true, cancelled);
        let mut pairs = pairs.ok_or(Stopped::Cancelled)?;
        for pair in &mut pairs {
            pair.b -= n_a;
        }
        take(&pairs).map_err(Stopped::Sink)?;
    }
    Ok(())
}

/// The pairs of some probes with what is indexed, in order; nothing where it was called off.
fn pairs_of(
    prepared: &Prepared<'_>,
    mut probes: Vec<Row>,
    index: &Index<'_>,
    is_wanted: impl Fn(Row, Row) -> bool + Sync,
    cancelled: &(dyn Fn() -> bool + Sync),
) -> Option<Vec<Pair>> {
    probes.sort_by_key(|&probe| prepared.n_tokens(probe));
    let tiles = probes.par_chunks(CHUNK_LEN).map_init(LcsScratch::new, |scratch, probes| {
        let mut pairs = Vec::new();
        if cancelled() {
            return None;
        }
        index.candidates(probes, |at, b| {
            let a = probes[at];
            let (m, n) = (prepared.n_tokens(a), prepared.n_tokens(b));
            let found = is_wanted(a, b)
                .then(|| prepared.lcs_at_least(a, b, prepared.threshold.min_lcs(m, n), scratch))
                .flatten();
            pairs.extend(found.map(|lcs| Pair { a, b, score: f1(lcs, m, n) }));
        });
        Some(pairs)
    });
    let mut pairs = tiles.collect::<Option<Vec<_>>>()?.concat();
    pairs.par_sort_unstable_by_key(|pair| (pair.a, pair.b));
    Some(pairs)
}
