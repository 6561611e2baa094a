//! Rows that are equal to an earlier one.
//!
//! A graph index only needs each distinct row, and many equal rows would break it, because all their links would be
//! among themselves.

use xxhash_rust::xxh3::xxh3_64;

use super::rows::{UnitRows, row};

/// The distinct rows and their copies.
pub(super) struct Copies {
    firsts: Vec<u32>,
    /// For each row, the first one that is equal; an unfit row has itself.
    first_of: Vec<u32>,
    /// For each fit row, the first one that is equal and the row itself, in order.
    members: Vec<(u32, u32)>,
}

impl Copies {
    pub(super) fn of(rows: &UnitRows<'_>) -> Self {
        let mut first_of: Vec<u32> = (0..row(rows.len())).collect();
        let mut by_hash: Vec<(u64, u32)> =
            first_of.iter().filter(|&&at| rows.is_fit(at)).map(|&at| (hash(rows.get(at)), at)).collect();
        by_hash.sort_unstable();
        for like in by_hash.chunk_by(|(x, _), (y, _)| x == y) {
            for (n_before, &(_, at)) in like.iter().enumerate() {
                let equal = like[..n_before].iter().find(|(_, other)| rows.get(*other) == rows.get(at));
                first_of[at as usize] = equal.map_or(at, |&(_, first)| first);
            }
        }
        let mut members: Vec<_> = by_hash.iter().map(|&(_, at)| (first_of[at as usize], at)).collect();
        members.sort_unstable();
        let firsts = members.iter().filter(|(first, at)| first == at).map(|&(first, _)| first).collect();
        Self { firsts, first_of, members }
    }

    /// Returns the distinct fit rows, in order.
    pub(super) fn firsts(&self) -> &[u32] {
        &self.firsts
    }

    /// Returns the first row that is equal to this one.
    pub(super) fn first_of(&self, row: u32) -> u32 {
        self.first_of[row as usize]
    }

    /// Returns a first row and its copies, in order.
    pub(super) fn equal_to(&self, first: u32) -> impl Iterator<Item = u32> {
        let start = self.members.partition_point(|(other, _)| *other < first);
        self.members[start..].iter().take_while(move |(other, _)| *other == first).map(|&(_, at)| at)
    }

    /// Returns the number of rows that are equal to an earlier one.
    pub(super) fn n_copies(&self) -> usize {
        self.members.len() - self.firsts.len()
    }
}

fn hash(row: &[f32]) -> u64 {
    xxh3_64(bytemuck::must_cast_slice(row))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vectors::Vectors;

    #[test]
    fn a_copy_belongs_to_the_first_equal_row() {
        let vectors = Vectors::new(2, vec![0.6, 0.8, 1.0, 0.0, 0.6, 0.8, 0.0, 0.0, 3.0, 0.0, 0.6, 0.8]);
        let copies = Copies::of(&UnitRows::of(&vectors));
        assert_eq!(copies.firsts(), [0, 1]);
        assert_eq!([0, 1, 2, 4, 5].map(|at| copies.first_of(at)), [0, 1, 0, 1, 0]);
        assert_eq!(copies.equal_to(0).collect::<Vec<_>>(), [0, 2, 5]);
        assert_eq!(copies.equal_to(3).count(), 0);
        assert_eq!(copies.n_copies(), 3);
    }
}
