//! All pairs of sequences whose ROUGE-L F1 is above a threshold.
//!
//! The join is exact: every pair above the threshold is reported. Pairs are ordered by the first
//! sequence and then the second, and reported for blocks of rows, so that memory only holds the
//! sequences and the pairs of one block; the order is the same for any number of threads.

use std::ops::ControlFlow;

use rayon::prelude::*;

use super::bitmap::CHUNK_LEN;
use super::index::Index;
use super::spaces::{Layout, Spaces, TextKind};
use super::texts::Texts;
use super::widths::{Row, row};
use crate::{Pair, Stopped};
use callsieve_system::Cancelled;
use callsieve_text::lcs::LcsScratch;
use callsieve_text::rouge::{Threshold, f1};

/// Minimum number of rows in a block: for smaller blocks, indexing the other rows costs more than it saves.
const MIN_BLOCK_LEN: usize = 4_096;
/// Maximum number of blocks of a self-join.
const MAX_BLOCKS: usize = 16;

/// Finds all pairs of one collection, `a` before `b`, and passes them to `take` in blocks of rows.
///
/// # Errors
/// If cancelled, or `take` fails.
///
/// # Panics
/// With more than 2³² texts.
pub fn self_join<E>(
    texts: &Texts,
    threshold: Threshold,
    cancelled: Cancelled<'_>,
    mut take: impl FnMut(&[Pair]) -> Result<(), E>,
) -> Result<(), Stopped<E>> {
    let spaces = Spaces::new(texts, threshold, cancelled).ok_or(Stopped::Cancelled)?;
    let rows: Vec<Row> = (0..texts.len()).map(row).collect();
    let block_len = rows.len().div_ceil(MAX_BLOCKS).max(MIN_BLOCK_LEN);
    for start in (0..rows.len()).step_by(block_len) {
        let others = Layout::of(&spaces, &rows[start..], cancelled).ok_or(Stopped::Cancelled)?;
        let block = &rows[start..rows.len().min(start + block_len)];
        let pairs = pairs_of(&spaces, block, &others, |a, b| a < b, cancelled);
        take(&pairs.ok_or(Stopped::Cancelled)?).map_err(Stopped::Sink)?;
    }
    Ok(())
}

/// Finds all pairs of one of the first `n_first` texts with one of the others, like [`self_join`]; `b` counts from the
/// first of the others.
///
/// # Errors
/// As [`self_join`].
///
/// # Panics
/// With more than 2³² texts, or if `n_first` is more than the number of texts.
pub fn join<E>(
    texts: &Texts,
    n_first: usize,
    threshold: Threshold,
    cancelled: Cancelled<'_>,
    mut take: impl FnMut(&[Pair]) -> Result<(), E>,
) -> Result<(), Stopped<E>> {
    let spaces = Spaces::new(texts, threshold, cancelled).ok_or(Stopped::Cancelled)?;
    let rows: Vec<Row> = (0..texts.len()).map(row).collect();
    let (first, others) = rows.split_at(n_first);
    let others = Layout::of(&spaces, others, cancelled).ok_or(Stopped::Cancelled)?;
    for block in first.chunks(MIN_BLOCK_LEN) {
        let pairs = pairs_of(&spaces, block, &others, |_, _| true, cancelled);
        let mut pairs = pairs.ok_or(Stopped::Cancelled)?;
        for pair in &mut pairs {
            pair.b -= row(n_first);
        }
        take(&pairs).map_err(Stopped::Sink)?;
    }
    Ok(())
}

/// Returns the pairs of some probes with indexed texts, in order; `None` if cancelled.
fn pairs_of(
    spaces: &Spaces<'_>,
    probes: &[Row],
    others: &Layout<'_>,
    is_wanted: impl Fn(Row, Row) -> bool + Sync,
    cancelled: Cancelled<'_>,
) -> Option<Vec<Pair>> {
    let mut pairs = Vec::new();
    for kind in TextKind::ALL {
        let mut probes: Vec<Row> = spaces.of_kind(kind, probes).into_iter().map(|at| probes[at]).collect();
        probes.sort_by_key(|&probe| spaces.n_tokens(probe));
        for index in others.indexes(kind) {
            pairs.append(&mut pairs_in(&probes, index, &is_wanted, cancelled)?);
        }
    }
    pairs.par_sort_unstable_by_key(|pair| (pair.a, pair.b));
    Some(pairs)
}

/// Returns the pairs of some probes with the sequences of one index, in no order.
fn pairs_in(
    probes: &[Row],
    index: &Index<'_>,
    is_wanted: &(impl Fn(Row, Row) -> bool + Sync),
    cancelled: Cancelled<'_>,
) -> Option<Vec<Pair>> {
    let prepared = index.prepared();
    let tiles = probes.par_chunks(CHUNK_LEN).map_init(LcsScratch::new, |scratch, probes| {
        let mut pairs = Vec::new();
        if cancelled() {
            return None;
        }
        let all = index.candidates(probes, |at, b| {
            let a = probes[at];
            let (m, n) = (prepared.n_tokens(a), prepared.n_tokens(b));
            if is_wanted(a, b) {
                let min_lcs = prepared.threshold.min_lcs(m, n);
                let found = prepared.common_at_least(a, b, min_lcs, scratch, cancelled);
                pairs.extend(found.map(|lcs| Pair { a, b, score: f1(lcs, m, n) }));
            }
            if cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        all.is_continue().then_some(pairs)
    });
    Some(tiles.collect::<Option<Vec<_>>>()?.concat())
}
