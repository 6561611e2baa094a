//! The index of leaders: lists by rare elements, and chunks of bitmaps.

use rayon::prelude::*;

use super::bound::{Bound, slack};
use super::elements::{Rows, element};
use crate::cosine::rows::row;
use crate::rouge::bitmap::{self, CHUNK_LEN, Column};
use crate::rouge::widths::{WIDTHS, width};
use callsieve_system::Cancelled;

/// Some rows with a similar number of elements, with interleaved bitmaps.
pub(super) struct Chunk {
    pub(super) rows: Vec<u32>,
    /// One word of all bitmaps per column.
    pub(super) columns: Vec<Column>,
    pub(super) bound: Bound,
}

impl Chunk {
    pub(super) fn for_rows_like(bound: Bound, threshold: f64) -> Self {
        let allowed = bound.most_lacking(bound, threshold).unwrap_or(0);
        // More words than a row can have elements are useless.
        let n_words = width(usize::try_from(allowed).unwrap_or(usize::MAX)).min(MAX_WORDS);
        Self {
            rows: Vec::with_capacity(CHUNK_LEN),
            columns: vec![[0; CHUNK_LEN]; n_words],
            bound: Bound::default(),
        }
    }

    pub(super) fn push(&mut self, row: u32, rows: &Rows) {
        let mut words = vec![0; self.columns.len()];
        bitmap::draw(&rows.elements(row), &mut words);
        for (column, word) in self.columns.iter_mut().zip(words) {
            column[self.rows.len()] = word;
        }
        self.bound = self.bound.max(rows.bounds[row as usize]);
        self.rows.push(row);
    }
}

/// Maximum number of words in the bitmaps of a chunk.
const MAX_WORDS: usize = 64;

/// The order of elements, the rarest among the first leaders first.
#[derive(Default)]
pub(super) struct Order(Vec<u32>);

impl Order {
    pub(super) fn of(rows: &Rows, n_dims: usize) -> Self {
        let mut n_rows = vec![0_usize; 2 * n_dims];
        for row in 0..row(rows.ends.len()) {
            rows.elements(row).into_iter().for_each(|element| n_rows[element as usize] += 1);
        }
        let mut rarest_first: Vec<u32> = (0..).take(n_rows.len()).collect();
        rarest_first.sort_by_key(|&element| n_rows[element as usize]);
        let mut ranks = vec![0; n_rows.len()];
        (0..).zip(rarest_first).for_each(|(rank, element)| ranks[element as usize] = rank);
        Self(ranks)
    }

    /// Returns the first elements of a row, of which every row with a cosine of at least `least` shares one: each
    /// with its rank in the order and the sum of the squares from it on.
    pub(super) fn first(&self, values: impl Iterator<Item = (u32, f32)>, least: f64) -> Vec<(u32, f32)> {
        let rank = |(dim, value): (u32, f32)| {
            (self.0[element(dim, value) as usize], f64::from(value) * f64::from(value))
        };
        let mut ranked: Vec<(u32, f64)> = values.map(rank).collect();
        ranked.sort_unstable_by_key(|&(rank, _)| rank);
        let mut rest = 0.0;
        for (_, square) in ranked.iter_mut().rev() {
            rest += *square;
            *square = rest;
        }
        let is_near_start = |&(_, rest): &(u32, f64)| rest * MAX_SQUARED >= least * least;
        ranked.into_iter().take_while(is_near_start).map(|(rank, rest)| (rank, rounded_up(rest))).collect()
    }
}

/// Maximum squared length of a row in the lists.
pub(super) const MAX_SQUARED: f64 = 1.001;

#[expect(clippy::cast_possible_truncation, reason = "it is rounded up by more than the conversion loses")]
fn rounded_up(sum: f64) -> f32 {
    (sum * (1.0 + 1e-6)) as f32
}

/// Minimum number of rows for lists; comparing fewer one by one is faster.
pub(super) const MIN_LISTED: usize = 1_024;

/// The cost of a posting, relative to comparing the bitmap of a row.
pub(super) const POSTING_COST: usize = 8;

/// Number of bands: groups of rows with a similar number of elements that share a bound in a search of the lists.
const N_BANDS: usize = 64;

/// For each rare element, the rows that have it near their start.
pub(super) struct Lists {
    /// The start of the postings for each rank, and the end of the last.
    pub(super) starts: Vec<usize>,
    pub(super) postings: Vec<Posting>,
    /// The number of rows in a band.
    pub(super) band_len: usize,
    /// The bound of each band.
    pub(super) bands: Vec<Bound>,
}

/// A row with an element near its start.
#[derive(Clone, Copy, Default)]
pub(super) struct Posting {
    /// The index of the row in the layout.
    pub(super) at: u32,
    /// The sum of its squares from the element on.
    pub(super) rest: f32,
    pub(super) sketch: u64,
}

impl Lists {
    /// Builds the lists; returns `None` if cancelled.
    pub(super) fn of(
        rows: &Rows,
        order: &Order,
        threshold: f64,
        sorted: &[u32],
        cancelled: Cancelled<'_>,
    ) -> Option<Self> {
        let first = |&row: &u32| {
            if cancelled() {
                return None;
            }
            let (dims, values) = rows.get(row);
            let values = dims.iter().zip(values).map(|(&dim, &value)| (u32::from(dim), value));
            let least = threshold - slack(order.0.len() / 2);
            Some((order.first(values, least), sketch(&rows.elements(row))))
        };
        let firsts = sorted.par_iter().map(first).collect::<Option<Vec<_>>>()?;
        let mut starts = vec![0; order.0.len() + 1];
        let ranks = firsts.iter().flat_map(|(first, _)| first).map(|&(rank, _)| rank as usize);
        ranks.for_each(|rank| starts[rank + 1] += 1);
        (1..starts.len()).for_each(|rank| starts[rank] += starts[rank - 1]);
        let mut next = starts.clone();
        let mut postings = vec![Posting::default(); starts.last().copied().unwrap_or(0)];
        for (at, (first, sketch)) in (0..).zip(firsts) {
            for (rank, rest) in first {
                postings[next[rank as usize]] = Posting { at, rest, sketch };
                next[rank as usize] += 1;
            }
        }
        let band_len = sorted.len().div_ceil(N_BANDS);
        let bound = |rows_of_band: &[u32]| {
            let bounds = rows_of_band.iter().map(|&row| rows.bounds[row as usize]);
            bounds.fold(Bound::default(), Bound::max)
        };
        Some(Self { starts, postings, band_len, bands: sorted.chunks(band_len).map(bound).collect() })
    }

    pub(super) fn get(&self, rank: u32) -> &[Posting] {
        &self.postings[self.starts[rank as usize]..self.starts[rank as usize + 1]]
    }
}

/// Returns the bitmap of some elements, folded into one word.
pub(super) fn sketch(elements: &[u32]) -> u64 {
    let mut words = [0; WIDTHS[0].0];
    bitmap::draw(elements, &mut words);
    bitmap::sketch(&words)
}

/// Rows in chunks.
#[derive(Default)]
pub(super) struct Layout {
    pub(super) chunks: Vec<Chunk>,
    /// Lists by rare elements; `None` if they would not be faster.
    pub(super) lists: Option<Lists>,
}

impl Layout {
    /// Builds chunks of rows with a similar number of elements, and lists if there is an order for them. Returns
    /// `None` if cancelled.
    pub(super) fn of(
        rows: &Rows,
        order: Option<&Order>,
        min_listed: usize,
        threshold: f64,
        mut some: Vec<u32>,
        cancelled: Cancelled<'_>,
    ) -> Option<Self> {
        some.sort_unstable_by_key(|&row| (rows.bounds[row as usize].n_elements, row));
        let chunk = |some: &[u32]| {
            let mut chunk = Chunk::for_rows_like(rows.bounds[some[0] as usize], threshold);
            for &row in some {
                chunk.push(row, rows);
            }
            (!cancelled()).then_some(chunk)
        };
        let order = order.filter(|_| some.len() >= min_listed);
        let lists = match order {
            Some(order) => Some(Lists::of(rows, order, threshold, &some, cancelled)?),
            None => None,
        };
        Some(Self { lists, chunks: some.par_chunks(CHUNK_LEN).map(chunk).collect::<Option<_>>()? })
    }

    pub(super) fn push(&mut self, row: u32, rows: &Rows, threshold: f64) {
        if self.chunks.last().is_none_or(|last| last.rows.len() == CHUNK_LEN) {
            self.chunks.push(Chunk::for_rows_like(rows.bounds[row as usize], threshold));
        }
        if let Some(last) = self.chunks.last_mut() {
            last.push(row, rows);
        }
    }

    pub(super) fn row(&self, at: u32) -> u32 {
        self.chunks[at as usize / CHUNK_LEN].rows[at as usize % CHUNK_LEN]
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = u32> {
        self.chunks.iter().flat_map(|chunk| &chunk.rows).copied()
    }

    pub(super) fn len(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.rows.len()).sum()
    }
}
