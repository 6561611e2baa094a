//! Pairs proposed by a graph index (HNSW), if comparing all pairs would take too long.
//!
//! A graph misses pairs, and more of them if there are many copies. So it has each distinct row once; each row is
//! queried for its nearest neighbours, and for more as long as the last of them is near enough; rows that do not find
//! themselves are compared with all others. Rows are inserted sequentially, so that two runs build the same graph.
//! The proposals are scored and reported in [`proposed`](super::proposed). Follows Malkov and Yashunin, "Efficient
//! and robust approximate nearest neighbor search using Hierarchical Navigable Small World graphs", 2016.

use hnsw_rs::prelude::{Distance, Hnsw};
use rayon::prelude::*;

use super::copies::Copies;
use super::exact;
use super::plan::Graph;
use super::rows::row;
use super::sides::Sides;
use crate::vectors::dot;

/// Maximum number of layers, more than any number of rows needs.
const MAX_LAYERS: usize = 16;

/// Maximum rounding error of a distance.
const ROUNDING: f64 = 1e-6;

/// The pairs that a graph proposes.
pub(super) struct Proposals {
    /// Pairs of distinct rows, in any order, possibly with duplicates.
    pub(super) pairs: Vec<(u32, u32)>,
    /// The number of rows that did not find themselves and were compared with all.
    pub(super) n_lost: usize,
    /// The maximum number of neighbours in a query.
    pub(super) max_k: usize,
}

/// Builds a graph of `b` and queries it for the neighbours of each row of `a`; returns `None` if cancelled.
pub(super) fn propose(
    sides: &Sides<'_, '_>,
    (a, b): (&Copies, &Copies),
    threshold: f64,
    graph: Graph,
    cancelled: &(dyn Fn() -> bool + Sync),
) -> Option<Proposals> {
    let index = Index::of(sides, b, graph, cancelled)?;
    let farthest = 1.0 - threshold + ROUNDING;
    let of_b = index.query_all(b, |row| row as usize, farthest, cancelled)?;
    let lost: Vec<u32> =
        of_b.iter().filter(|answer| !answer.finds_itself()).map(|answer| answer.row).collect();
    let of_a = match sides.b {
        Some(b) => index.query_all(a, |row| b.len() + row as usize, farthest, cancelled)?,
        None => of_b,
    };
    let mut pairs: Vec<_> =
        of_a.iter().flat_map(|answer| answer.rows.iter().map(|&b| (answer.row, b))).collect();
    compare_with_all(sides, &lost, threshold, cancelled, &mut pairs)?;
    pairs.retain(|&(row, _)| a.first_of(row) == row);
    let max_k = of_a.iter().map(|answer| answer.k).max().unwrap_or(0);
    Some(Proposals { pairs, n_lost: lost.len(), max_k })
}

/// Adds the pairs of some rows of `b` with all rows of `a`.
fn compare_with_all(
    sides: &Sides<'_, '_>,
    lost: &[u32],
    threshold: f64,
    cancelled: &(dyn Fn() -> bool + Sync),
    pairs: &mut Vec<(u32, u32)>,
) -> Option<()> {
    let rows = sides.b().some(lost);
    let with_all = Sides { a: sides.a, b: Some(&rows) };
    let found = exact::join::<()>(&with_all, threshold, cancelled, |found| {
        pairs.extend(found.iter().map(|pair| (pair.a, lost[pair.b as usize])));
        Ok(())
    });
    found.ok()
}

/// The distance of two rows: one minus their cosine. Rows are given by number: first those of `b`, then those of
/// another `a`.
struct ByCosine<'s, 'r, 'v>(&'s Sides<'r, 'v>);

impl ByCosine<'_, '_, '_> {
    fn row(&self, at: usize) -> &[f32] {
        let b = self.0.b();
        at.checked_sub(b.len()).map_or_else(|| b.get(row(at)), |at| self.0.a.get(row(at)))
    }
}

impl Distance<usize> for ByCosine<'_, '_, '_> {
    fn eval(&self, x: &[usize], y: &[usize]) -> f32 {
        // The crate does not accept negative distances, which rounding can cause.
        (1.0 - dot(self.row(x[0]), self.row(y[0]))).max(0.0)
    }
}

/// The neighbours of a row.
struct Neighbours {
    row: u32,
    /// The number of neighbours in the query.
    k: usize,
    /// The rows that are near enough.
    rows: Vec<u32>,
}

impl Neighbours {
    fn finds_itself(&self) -> bool {
        self.rows.contains(&self.row)
    }
}

struct Index<'s, 'r, 'v> {
    rows: Hnsw<'static, usize, ByCosine<'s, 'r, 'v>>,
    graph: Graph,
}

impl<'s, 'r, 'v> Index<'s, 'r, 'v> {
    fn of(
        sides: &'s Sides<'r, 'v>,
        b: &Copies,
        graph: Graph,
        cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Option<Self> {
        let n_rows = b.firsts().len();
        let mut rows = Hnsw::new(graph.m, n_rows, MAX_LAYERS, graph.ef_construction, ByCosine(sides));
        for &row in b.firsts() {
            if cancelled() {
                return None;
            }
            rows.insert((&[row as usize], row as usize));
        }
        rows.set_searching_mode(true);
        Some(Self { rows, graph })
    }

    /// Queries the neighbours of each distinct row.
    fn query_all(
        &self,
        rows: &Copies,
        number: impl Fn(u32) -> usize + Sync,
        farthest: f64,
        cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Option<Vec<Neighbours>> {
        let firsts = rows.firsts().par_iter();
        firsts.map(|&row| (!cancelled()).then(|| self.query(row, number(row), farthest))).collect()
    }

    /// Queries the neighbours of a row: more and more, until the last is too far.
    fn query(&self, queried: u32, number: usize, farthest: f64) -> Neighbours {
        let mut k = self.graph.k;
        loop {
            let mut hits = self.rows.search(&[number], k, self.graph.ef.max(2 * k));
            let n_hits = hits.len();
            hits.retain(|hit| f64::from(hit.distance) <= farthest);
            if hits.len() < k.min(n_hits) || n_hits < k || n_hits == self.rows.get_nb_point() {
                let rows = hits.iter().map(|hit| row(hit.d_id)).collect();
                return Neighbours { row: queried, k, rows };
            }
            k *= 2;
        }
    }
}
