//! Random numbers that are the same on every machine and in every build.
//!
//! `SplitMix64` (Steele, Lea and Flood, 2014): a dataset must be made again byte for byte, and random number libraries
//! may change their sequences between releases.

/// A sequence of random numbers.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// Starts the sequence of a seed and a number within it, such as the index of a candidate.
    pub fn new(seed: u64, nth: u64) -> Self {
        let mut random = Self(seed ^ nth.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(17));
        random.next_number();
        random
    }

    /// Returns the next number.
    pub fn next_number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number below `n`; 0 if `n` is 0.
    pub fn below(&mut self, n: usize) -> usize {
        let wide = u128::from(self.next_number()) * n as u128;
        usize::try_from(wide >> 64).unwrap_or(0)
    }

    /// Returns one of the items.
    pub fn one_of<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        let at = self.below(items.len());
        items.get(at)
    }

    /// Returns `true` with a probability of `percent` in 100.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// Returns the index of one of the weights, each with a probability in proportion to it; `None` if all are 0.
    pub fn weighted(&mut self, weights: &[u64]) -> Option<usize> {
        let total: u64 = weights.iter().sum();
        index_at(self.below(usize::try_from(total).ok()?) as u64, weights)
    }

    /// Returns the index of one of the weights for the item `nth` of a sequence; `None` if all are 0.
    ///
    /// Unlike independent draws, the first items of a sequence have nearly the shares of the weights, however few they are: the
    /// points are those of a Weyl sequence with the golden ratio (Knuth, The Art of Computer Programming, 6.4).
    pub fn spread(seed: u64, nth: u64, weights: &[u64]) -> Option<usize> {
        let total: u64 = weights.iter().sum();
        let start = Self::new(seed, 0).next_number();
        let point = start.wrapping_add(nth.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        index_at(u64::try_from((u128::from(point) * u128::from(total)) >> 64).ok()?, weights)
    }

    /// Puts the items in a random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for at in (1..items.len()).rev() {
            items.swap(at, self.below(at + 1));
        }
    }
}

/// The index of the weight in whose part of their sum a point lies.
fn index_at(point: u64, weights: &[u64]) -> Option<usize> {
    let mut left = point;
    weights.iter().position(|&weight| {
        let is_here = left < weight;
        left = left.saturating_sub(weight);
        is_here
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_of_a_seed_never_changes() {
        let mut random = Random::new(0, 0);
        assert_eq!([random.below(1000), random.below(1000), random.below(1000)], [431, 26, 970]);
    }

    #[test]
    fn numbers_are_below_their_limit_and_all_are_drawn() {
        let mut random = Random::new(7, 3);
        let mut seen = [false; 5];
        for _ in 0..200 {
            seen[random.below(5)] = true;
        }
        assert_eq!(seen, [true; 5]);
        assert_eq!(random.below(0), 0);
        assert_eq!(random.one_of::<u8>(&[]), None);
    }

    #[test]
    fn a_weight_of_nothing_is_never_drawn() {
        let mut random = Random::new(1, 1);
        assert!((0..100).all(|_| random.weighted(&[0, 3, 0]) == Some(1)));
        assert_eq!(random.weighted(&[0, 0]), None);
        assert_eq!(random.weighted(&[]), None);
    }

    #[test]
    fn a_shuffle_keeps_all_items() {
        let mut items: Vec<usize> = (0..20).collect();
        Random::new(3, 0).shuffle(&mut items);
        assert_ne!(items, (0..20).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..20).collect::<Vec<_>>());
    }

    #[test]
    fn the_first_items_of_a_sequence_have_the_shares_of_the_weights() {
        for seed in 0..50 {
            let mut counts = [0_u32; 3];
            for nth in 0..20 {
                counts[Random::spread(seed, nth, &[50, 45, 5]).unwrap()] += 1;
            }
            assert!((9..=11).contains(&counts[0]) && (8..=10).contains(&counts[1]), "{counts:?}");
            assert!((0..=2).contains(&counts[2]), "{counts:?}");
        }
        assert_eq!(Random::spread(1, 1, &[0, 0]), None);
    }
}
