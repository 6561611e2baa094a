//! The length of the longest common subsequence of two token sequences.
//!
//! Bit-parallel after Hyyrö (2004): the rows of the classic table become one row of bits, 64 at a time. A common prefix
//! and suffix are counted separately. Long sequences are processed in strips, so memory is bounded for any length.

/// Returns the length of the longest common subsequence of two sequences.
///
/// For many pairs use an [`LcsScratch`].
pub fn lcs(a: &[u32], b: &[u32]) -> usize {
    LcsScratch::new().lcs(a, b)
}

/// Working memory for comparisons, reused for many pairs.
///
/// Token numbers should come from a `Vocabulary`, since memory grows with the largest.
#[derive(Debug, Default)]
pub struct LcsScratch {
    /// The index of each token number's row in the current strip, or [`NO_ROW`].
    row_of: Vec<usize>,
    /// The positions of each distinct token of the strip, one bit each.
    rows: Vec<u64>,
    /// The row of bits of the current comparison: a zero where the common subsequence grew.
    state: Vec<u64>,
    /// The carry of the previous strip for each token of the other side.
    carries: Vec<bool>,
}

const NO_ROW: usize = usize::MAX;

/// Positions of one side per strip; limits the rows to two megabytes.
const STRIP_LEN: usize = 64 * 64;

/// Tokens between two checks if the required length can still be reached.
const TOKENS_PER_CHECK: usize = 64;

impl LcsScratch {
    /// Creates an empty scratch.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the length of the longest common subsequence of two sequences.
    pub fn lcs(&mut self, a: &[u32], b: &[u32]) -> usize {
        self.lcs_at_least(a, b, 0).unwrap_or(0)
    }

    /// Returns the same length, or `None` as soon as it is certain to be below `min_lcs`.
    pub fn lcs_at_least(&mut self, a: &[u32], b: &[u32], min_lcs: usize) -> Option<usize> {
        self.lcs_by_strips(a, b, min_lcs, STRIP_LEN, &|| false)
    }

    /// Like `lcs_at_least`; also returns `None` soon after `cancelled` returns true, as texts of a million tokens take
    /// long.
    pub fn lcs_at_least_unless(
        &mut self,
        a: &[u32],
        b: &[u32],
        min_lcs: usize,
        cancelled: &dyn Fn() -> bool,
    ) -> Option<usize> {
        self.lcs_by_strips(a, b, min_lcs, STRIP_LEN, cancelled)
    }

    fn lcs_by_strips(
        &mut self,
        a: &[u32],
        b: &[u32],
        min_lcs: usize,
        strip_len: usize,
        cancelled: &dyn Fn() -> bool,
    ) -> Option<usize> {
        // A common prefix and a common suffix are part of some longest common subsequence.
        let prefix = a.iter().zip(b).take_while(|(a, b)| a == b).count();
        let (a, b) = (&a[prefix..], &b[prefix..]);
        let suffix = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
        let (a, b) = (&a[..a.len() - suffix], &b[..b.len() - suffix]);
        let mut lcs = prefix + suffix;
        if lcs + a.len().min(b.len()) < min_lcs {
            return None;
        }
        self.carries.clear();
        self.carries.resize(b.len(), false);
        let mut n_left = a.len();
        for strip in a.chunks(strip_len) {
            n_left -= strip.len();
            lcs += self.growth_in_strip(strip, b, min_lcs.saturating_sub(lcs + n_left), cancelled)?;
        }
        Some(lcs)
    }

    /// Returns the growth of the length in a strip, or `None` as soon as it is certain to be below `min_growth`.
    fn growth_in_strip(
        &mut self,
        strip: &[u32],
        other: &[u32],
        min_growth: usize,
        cancelled: &dyn Fn() -> bool,
    ) -> Option<usize> {
        let n_words = strip.len().div_ceil(64);
        self.lay_out(strip, n_words);
        self.state.clear();
        self.state.resize(n_words, u64::MAX);
        let mut n_left = other.len();
        let mut is_within_reach = true;
        for (tokens, carries) in other.chunks(TOKENS_PER_CHECK).zip(self.carries.chunks_mut(TOKENS_PER_CHECK))
        {
            for (&token, carry) in tokens.iter().zip(carries) {
                let row = self.row_of.get(token as usize).copied().unwrap_or(NO_ROW);
                if row != NO_ROW {
                    *carry = advance(&mut self.state, &self.rows[row * n_words..][..n_words], *carry);
                } else if *carry {
                    *carry = carry_through(&mut self.state);
                }
            }
            n_left -= tokens.len();
            is_within_reach = n_zeros(&self.state) + n_left >= min_growth && (n_left == 0 || !cancelled());
            if !is_within_reach {
                break;
            }
        }
        for &token in strip {
            self.row_of[token as usize] = NO_ROW;
        }
        is_within_reach.then(|| n_zeros(&self.state))
    }

    fn lay_out(&mut self, strip: &[u32], n_words: usize) {
        let n_tokens = strip.iter().max().map_or(0, |&token| token as usize + 1);
        if self.row_of.len() < n_tokens {
            self.row_of.resize(n_tokens, NO_ROW);
        }
        self.rows.clear();
        let mut n_rows = 0;
        for (position, &token) in strip.iter().enumerate() {
            let row = &mut self.row_of[token as usize];
            if *row == NO_ROW {
                *row = n_rows;
                n_rows += 1;
                self.rows.resize(n_rows * n_words, 0);
            }
            self.rows[*row * n_words + position / 64] |= 1 << (position % 64);
        }
    }
}

/// Computes one step of Hyyrö's recurrence `V = (V + (V & M)) | (V - (V & M))` over all words.
///
/// Returns the resulting carry.
fn advance(state: &mut [u64], row: &[u64], mut carry: bool) -> bool {
    for (word, bits) in state.iter_mut().zip(row) {
        let matches = *word & bits;
        let (sum, overflow) = word.overflowing_add(matches);
        let (sum, overflow_by_carry) = sum.overflowing_add(u64::from(carry));
        carry = overflow || overflow_by_carry;
        *word = sum | (*word & !matches);
    }
    carry
}

/// Computes the same step for a token without matches: the carry ends at the lowest zero, or is returned.
fn carry_through(state: &mut [u64]) -> bool {
    for word in state {
        if *word != u64::MAX {
            *word |= *word + 1;
            return false;
        }
    }
    true
}

fn n_zeros(state: &[u64]) -> usize {
    state.iter().map(|word| word.count_zeros() as usize).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The classic table, one row at a time.
    fn lcs_by_table(a: &[u32], b: &[u32]) -> usize {
        let mut row = vec![0; b.len() + 1];
        for x in a {
            let mut diagonal = 0;
            for (at, y) in b.iter().enumerate() {
                let above = row[at + 1];
                row[at + 1] = if x == y { diagonal + 1 } else { above.max(row[at]) };
                diagonal = above;
            }
        }
        row[b.len()]
    }

    #[test]
    fn known_lengths() {
        assert_eq!(lcs(&[], &[]), 0);
        assert_eq!(lcs(&[1], &[]), 0);
        assert_eq!(lcs(&[1, 2, 3], &[1, 2, 3]), 3);
        assert_eq!(lcs(&[1, 2, 3], &[3, 2, 1]), 1);
        assert_eq!(lcs(&[1, 2, 3, 4, 5], &[9, 2, 8, 4, 7]), 2);
        assert_eq!(lcs(&[7; 200], &[7; 130]), 130);
    }

    #[test]
    fn a_comparison_ends_once_the_length_is_out_of_reach() {
        let mut scratch = LcsScratch::new();
        assert_eq!(scratch.lcs_at_least(&[1, 2, 3, 4], &[1, 9, 3, 4], 3), Some(3));
        assert_eq!(scratch.lcs_at_least(&[1, 2, 3, 4], &[1, 9, 3, 4], 4), None);
        assert_eq!(scratch.lcs_at_least(&[1, 2, 3, 4], &[], 0), Some(0));
    }

    #[test]
    fn a_cancelled_comparison_ends_at_the_next_check_and_does_not_affect_later_ones() {
        let (a, b): (Vec<u32>, Vec<u32>) = ((0..40_000).collect(), (0..40_000).rev().collect());
        let n_looks = std::cell::Cell::new(0);
        let cancelled = || n_looks.replace(n_looks.get() + 1) >= 3;
        let mut scratch = LcsScratch::new();
        assert_eq!(scratch.lcs_at_least_unless(&a, &b, 0, &cancelled), None);
        assert_eq!(n_looks.get(), 4);
        assert_eq!(scratch.lcs_at_least(&a[..100], &a[50..200], 0), Some(50));
    }

    fn sequence() -> impl Strategy<Value = Vec<u32>> {
        prop_oneof![
            prop::collection::vec(0_u32..4, 0..20),
            prop::collection::vec(0_u32..3, 50..200),
            prop::collection::vec(0_u32..60, 100..300),
        ]
    }

    /// Generates a sequence and a copy with a few changed tokens, so that prefixes and suffixes are shared.
    fn near_copies() -> impl Strategy<Value = (Vec<u32>, Vec<u32>)> {
        (sequence(), prop::collection::vec((any::<prop::sample::Index>(), 0_u32..4), 0..4)).prop_map(
            |(a, changes)| {
                let mut b = a.clone();
                for (at, token) in changes {
                    b.insert(at.index(b.len() + 1), token);
                    b.remove(at.index(b.len()));
                }
                (a, b)
            },
        )
    }

    proptest! {
        #[test]
        fn the_length_is_that_of_the_classic_table(
            (a, b) in prop_oneof![(sequence(), sequence()), near_copies()]
        ) {
            prop_assert_eq!(lcs(&a, &b), lcs_by_table(&a, &b));
        }

        #[test]
        fn earlier_pairs_and_strips_do_not_affect_the_result(
            pairs in prop::collection::vec((sequence(), sequence(), 0_usize..150), 1..12), strip_len in 1_usize..200
        ) {
            let mut scratch = LcsScratch::new();
            for (a, b, min_lcs) in &pairs {
                let expected = lcs_by_table(a, b);
                let wanted = (expected >= *min_lcs).then_some(expected);
                prop_assert_eq!(scratch.lcs_by_strips(a, b, *min_lcs, strip_len, &|| false), wanted);
            }
        }
    }
}
