//! The exact join: compares all heads, and the rows of pairs that the bound does not reject.
//!
//! A block of rows is compared with all rows from its start on, in tasks that fit in the CPU caches: the panels of a
//! look stay in the cache for all probes of a chunk. Pairs are reported block by block, in order.

use rayon::prelude::*;

use super::bounds::{self, Found, Heads, LOOK_LEN, Probes};
use super::kernel::{N_PANELS, N_PROBES, PANEL_LEN, write_sums};
use super::rows::row;
use super::sides::Sides;
use super::tuning::Tuning;
use crate::{Pair, Stopped};

/// Number of probes in a chunk.
const CHUNK_LEN: usize = 64 * N_PROBES;

/// Maximum number of chunks in a block.
const MAX_CHUNKS: usize = 4;

/// Number of looks in a task.
const N_LOOKS: usize = 8;

/// Target for the maximum number of pairs in a block.
const MAX_PAIRS: f64 = 4e6;

/// Finds all pairs and passes them to `take`, one block of rows at a time.
pub(super) fn join<E>(
    sides: &Sides<'_, '_>,
    threshold: f64,
    cancelled: &(dyn Fn() -> bool + Sync),
    mut take: impl FnMut(&[Pair]) -> Result<(), E>,
) -> Result<(), Stopped<E>> {
    if cancelled() {
        return Err(Stopped::Cancelled);
    }
    let tuning = Tuning::of(sides, threshold);
    let heads_of_a = Heads::of(sides.a, &tuning.dims);
    let heads_of_b = sides.b.map(|rows| Heads::of(rows, &tuning.dims));
    let scan = Scan {
        sides,
        a: &heads_of_a,
        b: heads_of_b.as_ref().unwrap_or(&heads_of_a),
        threshold,
        least: bounds::least(threshold, sides.a.n_dims()),
    };
    let block_len = CHUNK_LEN * n_chunks(sides.b().len(), tuning.share_found);
    for start in (0..sides.a.len()).step_by(block_len) {
        let end = sides.a.len().min(start + block_len);
        let pairs = scan.pairs_of(start, end, cancelled).ok_or(Stopped::Cancelled)?;
        take(&pairs).map_err(Stopped::Sink)?;
    }
    Ok(())
}

/// Returns the number of chunks in a block, so that its pairs fit in memory even if most pairs match.
#[expect(clippy::cast_precision_loss, reason = "an estimate")]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count within bounds")]
fn n_chunks(n_rows: usize, share_found: f64) -> usize {
    let n_pairs_of_chunk = CHUNK_LEN as f64 * n_rows as f64 * share_found;
    ((MAX_PAIRS / n_pairs_of_chunk) as usize).clamp(1, MAX_CHUNKS)
}

/// The data that all tasks of a join share.
struct Scan<'s, 'r, 'v> {
    sides: &'s Sides<'r, 'v>,
    a: &'s Heads,
    b: &'s Heads,
    threshold: f64,
    least: f32,
}

impl Scan<'_, '_, '_> {
    /// Returns the pairs of some rows of `a`, in order; `None` if cancelled.
    fn pairs_of(&self, start: usize, end: usize, cancelled: &(dyn Fn() -> bool + Sync)) -> Option<Vec<Pair>> {
        let probes: Vec<Probes> = (start..end).step_by(N_PROBES).map(|first| self.a.probes(first)).collect();
        let first_look = if self.sides.b.is_some() { 0 } else { start / LOOK_LEN };
        let tasks: Vec<_> = probes
            .chunks(CHUNK_LEN / N_PROBES)
            .flat_map(|chunk| (first_look..self.b.n_looks()).step_by(N_LOOKS).map(move |look| (chunk, look)))
            .collect();
        let found = tasks.into_par_iter().map(|(chunk, first)| {
            let looks = first..self.b.n_looks().min(first + N_LOOKS);
            (!cancelled()).then(|| {
                let mut pairs = Vec::new();
                looks.for_each(|look| self.compare_look(chunk, look, &mut pairs));
                pairs
            })
        });
        let mut pairs = found.collect::<Option<Vec<_>>>()?.concat();
        pairs.par_sort_unstable_by_key(|pair| (pair.a, pair.b));
        Some(pairs)
    }

    /// Compares a chunk of probes with the panels of a look.
    fn compare_look(&self, chunk: &[Probes], look: usize, pairs: &mut Vec<Pair>) {
        let (quads, lengths) = self.b.look(look);
        let mut tile = [[[0; PANEL_LEN]; N_PANELS]; N_PROBES];
        let is_before = |probes: &&Probes| self.sides.b.is_some() || probes.first < (look + 1) * LOOK_LEN;
        for probes in chunk.iter().filter(is_before) {
            write_sums(&probes.quads, &probes.starts, quads, &mut tile);
            let found = bounds::found(&tile, probes, lengths, self.least);
            self.compare(&found, probes.first, look * LOOK_LEN, pairs);
        }
    }

    /// Compares the rows of the pairs that the bound does not reject.
    fn compare(&self, found: &Found, first_a: usize, first_b: usize, pairs: &mut Vec<Pair>) {
        for (probe, &(mut bits)) in found.iter().enumerate() {
            while bits != 0 {
                let at = bits.trailing_zeros() as usize;
                let (a, b) = (row(first_a + probe), row(first_b + at));
                if self.sides.is_wanted(a, b) {
                    pairs.extend(self.sides.pair(a, b, self.threshold));
                }
                bits &= bits - 1;
            }
        }
    }
}
