//! The sample size of each stratum: proportional or equal shares by largest remainder.
//!
//! All arithmetic uses integers, so the same strata get the same sizes on any machine. Each
//! stratum gets at least one row and at most as many as it has; the excess of a small stratum
//! goes to the others. Deliberately absent: which rows are selected (see `draw`).

/// The size and weight of a stratum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Share {
    /// The sample size is proportional to this; at least 1.
    pub(super) weight: u64,
    /// Rows that can be selected; at least 1.
    pub(super) rows: u64,
}

/// Returns the number of seats of each stratum. They add up to `seats`, each is from 1 to the rows of the stratum, and
/// within these bounds they are proportional to the weights. On equal remainders the earlier stratum wins.
///
/// There must be at least as many seats as strata, and no more than rows.
pub(super) fn allocate(shares: &[Share], seats: u64) -> Vec<u64> {
    let mut fixed: Vec<Option<u64>> = vec![None; shares.len()];
    loop {
        let free: Vec<usize> = (0..shares.len()).filter(|&at| fixed[at].is_none()).collect();
        let left = seats - fixed.iter().flatten().sum::<u64>();
        let total: u128 = free.iter().map(|&at| u128::from(shares[at].weight)).sum();
        // The quota multiplied by `total`, so that no division rounds.
        let quota = |at: usize| u128::from(left) * u128::from(shares[at].weight);
        let most = |at: usize| u128::from(shares[at].rows) * total;
        let over: u128 = free.iter().map(|&at| quota(at).saturating_sub(most(at))).sum();
        let under: u128 = free.iter().map(|&at| total.saturating_sub(quota(at))).sum();
        if over == 0 && under == 0 {
            by_largest_remainder(&free, left, total, quota, &mut fixed);
            return fixed.into_iter().flatten().collect();
        }
        // Fix only the side that is further out of bounds: the other quotas change and may then be within bounds.
        for at in free {
            if over >= under && quota(at) > most(at) {
                fixed[at] = Some(shares[at].rows);
            } else if over < under && quota(at) < total {
                fixed[at] = Some(1);
            }
        }
    }
}

fn by_largest_remainder(
    free: &[usize],
    left: u64,
    total: u128,
    quota: impl Fn(usize) -> u128,
    fixed: &mut [Option<u64>],
) {
    let mut n_given = 0;
    for &at in free {
        let whole = u64::try_from(quota(at) / total).expect("a quota is at most the number of seats");
        fixed[at] = Some(whole);
        n_given += whole;
    }
    let mut by_remainder = free.to_vec();
    by_remainder.sort_by_key(|&at| (std::cmp::Reverse(quota(at) % total), at));
    for at in by_remainder.into_iter().take(usize::try_from(left - n_given).unwrap_or(usize::MAX)) {
        fixed[at] = fixed[at].map(|seats| seats + 1);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn seats(shares: &[(u64, u64)], seats: u64) -> Vec<u64> {
        let shares: Vec<Share> = shares.iter().map(|&(weight, rows)| Share { weight, rows }).collect();
        allocate(&shares, seats)
    }

    #[test]
    fn shares_are_in_proportion_and_remainders_go_to_the_largest() {
        assert_eq!(seats(&[(60, 60), (30, 30), (10, 10)], 10), [6, 3, 1]);
        assert_eq!(seats(&[(47, 47), (16, 16), (15, 15), (12, 12), (6, 6), (4, 4)], 10), [4, 2, 1, 1, 1, 1]);
        assert_eq!(seats(&[(1, 9), (1, 9), (1, 9)], 8), [3, 3, 2]);
    }

    #[test]
    fn every_stratum_gets_a_seat_and_none_gets_more_than_its_rows() {
        assert_eq!(seats(&[(1000, 1000), (1, 1), (1, 1)], 10), [8, 1, 1]);
        assert_eq!(seats(&[(1, 2), (1, 100), (1, 100)], 20), [2, 9, 9]);
        assert_eq!(seats(&[(5, 5), (7, 7)], 12), [5, 7]);
        assert_eq!(seats(&[(5, 5), (7, 7)], 2), [1, 1]);
        assert_eq!(seats(&[], 0), [0_u64; 0]);
    }

    proptest! {
        #[test]
        fn seats_add_up_within_bounds_and_close_to_proportional(
            shares in proptest::collection::vec((1_u64..1000, 1_u64..1000), 1..12),
            of_range in 0.0..=1.0_f64,
        ) {
            let shares: Vec<Share> = shares.into_iter().map(|(weight, rows)| Share { weight, rows }).collect();
            let (least, most) = (shares.len() as u64, shares.iter().map(|share| share.rows).sum::<u64>());
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
            let n_seats = least + ((most - least) as f64 * of_range) as u64;
            let seats = allocate(&shares, n_seats);
            prop_assert_eq!(seats.iter().sum::<u64>(), n_seats);
            for (share, &own) in shares.iter().zip(&seats) {
                prop_assert!((1..=share.rows).contains(&own));
            }
            // Relative to its weight, no stratum with spare rows has less than another would have with one seat fewer.
            for (a, &of_a) in shares.iter().zip(&seats) {
                for (b, &of_b) in shares.iter().zip(&seats) {
                    if of_a < a.rows && of_b > 1 {
                        prop_assert!((of_a + 1) * b.weight >= (of_b - 1) * a.weight, "{shares:?} {seats:?}");
                    }
                }
            }
        }
    }
}
