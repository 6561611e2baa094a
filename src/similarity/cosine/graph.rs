//! Pairs proposed by a graph of near rows (HNSW), where comparing all of them would take too long.
//!
//! A graph misses pairs, and the more copies there are the more it misses. So equal rows stand in it once; each row is
//! asked for its nearest, and for more as long as the last of them is near enough; rows that do not even find themselves
//! are compared with all others. Rows are inserted one after the other, so that two runs build the same graph. What it
//! proposes is scored and told in [`proposed`](super::proposed). After Malkov and Yashunin, "Efficient and robust
//! approximate nearest neighbor search using Hierarchical Navigable Small World graphs", 2016.

use hnsw_rs::prelude::{Distance, Hnsw};
use rayon::prelude::*;

use super::copies::Copies;
use super::exact;
use super::plan::Graph;
use super::rows::row;
use super::sides::Sides;
use crate::embed::vectors::dot;

/// Layers of a graph, at most; more than any number of rows fills.
const MAX_LAYERS: usize = 16;

/// By how much a distance may be off by rounding.
const ROUNDING: f64 = 1e-6;

/// What a graph proposes.
pub(super) struct Proposals {
    /// Pairs of rows that have no earlier copy, in any order, some of them twice.
    pub(super) pairs: Vec<(u32, u32)>,
    /// How many rows did not find themselves, and were compared with all.
    pub(super) n_lost: usize,
    /// The most neighbours that a row was asked for.
    pub(super) max_k: usize,
}

/// Builds a graph of `b` and asks it for what is near each row of `a`; nothing where it was called off.
pub(super) fn propose(
    sides: &Sides<'_, '_>,
    (a, b): (&Copies, &Copies),
    threshold: f64,
    graph: Graph,
    cancelled: &(dyn Fn() -> bool + Sync),
) -> Option<Proposals> {
    let index = Index::of(sides, b, graph, cancelled)?;
    let farthest = 1.0 - threshold + ROUNDING;
    let of_b = index.ask_all(b, |row| row as usize, farthest, cancelled)?;
    let lost: Vec<u32> =
        of_b.iter().filter(|answer| !answer.finds_itself()).map(|answer| answer.row).collect();
    let of_a = match sides.b {
        Some(b) => index.ask_all(a, |row| b.len() + row as usize, farthest, cancelled)?,
        None => of_b,
    };
    let mut pairs: Vec<_> =
        of_a.iter().flat_map(|answer| answer.rows.iter().map(|&b| (answer.row, b))).collect();
    compare_with_all(sides, &lost, threshold, cancelled, &mut pairs)?;
    pairs.retain(|&(row, _)| a.first_of(row) == row);
    let max_k = of_a.iter().map(|answer| answer.k).max().unwrap_or(0);
    Some(Proposals { pairs, n_lost: lost.len(), max_k })
}

/// Adds the pairs that some rows of `b` have with all of `a`.
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

/// One less the cosine of two rows, which are given by number: those of `b` first, those of another `a` behind them.
struct ByCosine<'s, 'r, 'v>(&'s Sides<'r, 'v>);

impl ByCosine<'_, '_, '_> {
    fn row(&self, at: usize) -> &[f32] {
        let b = self.0.b();
        at.checked_sub(b.len()).map_or_else(|| b.get(row(at)), |at| self.0.a.get(row(at)))
    }
}

impl Distance<usize> for ByCosine<'_, '_, '_> {
    fn eval(&self, x: &[usize], y: &[usize]) -> f32 {
        // The crate refuses distances below zero, which rounding gives.
        (1.0 - dot(self.row(x[0]), self.row(y[0]))).max(0.0)
    }
}

/// What is near a row.
struct Answer {
    row: u32,
    /// How many neighbours it was asked for.
    k: usize,
    /// Rows that are near enough.
    rows: Vec<u32>,
}

impl Answer {
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

    /// What is near each row that has no earlier copy.
    fn ask_all(
        &self,
        rows: &Copies,
        number: impl Fn(u32) -> usize + Sync,
        farthest: f64,
        cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Option<Vec<Answer>> {
        let answers = rows.firsts().par_iter();
        answers.map(|&row| (!cancelled()).then(|| self.ask(row, number(row), farthest))).collect()
    }

    /// What is near a row: more and more neighbours, until the last is too far.
    fn ask(&self, asked: u32, number: usize, farthest: f64) -> Answer {
        let mut k = self.graph.k;
        loop {
            let mut hits = self.rows.search(&[number], k, self.graph.ef.max(2 * k));
            let n_hits = hits.len();
            hits.retain(|hit| f64::from(hit.distance) <= farthest);
            if hits.len() < k.min(n_hits) || n_hits < k || n_hits == self.rows.get_nb_point() {
                let rows = hits.iter().map(|hit| row(hit.d_id)).collect();
                return Answer { row: asked, k, rows };
            }
            k *= 2;
        }
    }
}
