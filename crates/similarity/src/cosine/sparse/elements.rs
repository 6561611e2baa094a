//! Sparse rows and their elements.

use super::bound::Bound;
use crate::cosine::rows;
use crate::vectors::N_LANES;

/// Maximum number of dimensions of a row.
pub(super) const MAX_DIMS: usize = 1 << 16;

/// Rows without their zeros, one after the other.
#[derive(Default)]
pub(super) struct Rows {
    pub(super) dims: Vec<u16>,
    pub(super) values: Vec<f32>,
    pub(super) ends: Vec<usize>,
    pub(super) bounds: Vec<Bound>,
}

impl Rows {
    pub(super) fn push(&mut self, row: &[f32], bound: Bound) -> u32 {
        for (dim, &value) in (0_u16..=u16::MAX).zip(row) {
            if value != 0.0 {
                self.dims.push(dim);
                self.values.push(value);
            }
        }
        let at = self.ends.len();
        self.ends.push(self.dims.len());
        self.bounds.push(bound);
        rows::row(at)
    }

    pub(super) fn get(&self, row: u32) -> (&[u16], &[f32]) {
        let at = row as usize;
        let range = at.checked_sub(1).map_or(0, |before| self.ends[before])..self.ends[at];
        (&self.dims[range.clone()], &self.values[range])
    }

    pub(super) fn elements(&self, row: u32) -> Vec<u32> {
        let (dims, values) = self.get(row);
        dims.iter().zip(values).map(|(&dim, &value)| element(dim.into(), value)).collect()
    }

    /// Returns the same bits as [`dot`](crate::vectors::dot), because the omitted products are zero.
    pub(super) fn dot(&self, row: u32, other: &[f32]) -> f32 {
        let mut sums = [0.0_f32; N_LANES];
        let (dims, values) = self.get(row);
        for (&dim, value) in dims.iter().zip(values) {
            sums[usize::from(dim) % N_LANES] += value * other[usize::from(dim)];
        }
        sums.iter().sum()
    }
}

pub(super) fn element(dim: u32, value: f32) -> u32 {
    2 * dim + u32::from(value < 0.0)
}
