//! Measures of a ranking against the documents that are right, with ties as scikit-learn's `ndcg_score` has them.
//!
//! Documents with equal scores have no order: each measure is its mean over all orders of them. A query without a right document
//! counts as 0.

/// The mean measures of some queries, from 0 to 1.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Measures {
    /// The number of queries.
    pub queries: usize,
    /// NDCG at each of [`CUTS`].
    pub ndcg: [f64; CUTS.len()],
    /// The share of the right documents among the first, at each of [`CUTS`].
    pub recall: [f64; CUTS.len()],
    /// The mean of 1 / the rank of the first right document.
    pub mrr: f64,
}

/// The numbers of first documents that are measured.
pub const CUTS: [usize; 4] = [1, 3, 5, 10];

impl Measures {
    /// Returns the mean over queries: the scores of all documents, and whether each is right.
    #[allow(clippy::cast_precision_loss)] // A count of queries.
    pub fn of<'q>(queries: impl IntoIterator<Item = (&'q [f64], &'q [bool])>) -> Self {
        let mut sum = Self::default();
        for (scores, is_right) in queries {
            let tied = Ties::of(scores, is_right);
            sum.queries += 1;
            for (at, cut) in CUTS.into_iter().enumerate() {
                sum.ndcg[at] += tied.ndcg(cut);
                sum.recall[at] += tied.recall(cut);
            }
            sum.mrr += tied.reciprocal_rank();
        }
        let n = sum.queries.max(1) as f64;
        sum.ndcg.iter_mut().chain(&mut sum.recall).for_each(|value| *value /= n);
        sum.mrr /= n;
        sum
    }
}

/// Returns NDCG of the first `cut` documents: gains of 1 for right ones, with the discount 1 / log2(rank + 1).
pub fn ndcg(scores: &[f64], is_right: &[bool], cut: usize) -> f64 {
    Ties::of(scores, is_right).ndcg(cut)
}

/// Groups of documents with equal scores, from the highest: how many they are, and how many of them are right.
struct Ties(Vec<(usize, usize)>);

#[allow(clippy::cast_precision_loss)] // Counts of documents.
impl Ties {
    fn of(scores: &[f64], is_right: &[bool]) -> Self {
        let mut order: Vec<usize> = (0..scores.len().min(is_right.len())).collect();
        order.sort_by(|one, other| scores[*other].total_cmp(&scores[*one]));
        let groups = order.chunk_by(|one, other| scores[*one].total_cmp(&scores[*other]).is_eq());
        Self(groups.map(|group| (group.len(), group.iter().filter(|at| is_right[**at]).count())).collect())
    }

    fn n_right(&self) -> usize {
        self.0.iter().map(|(_, right)| right).sum()
    }

    fn ndcg(&self, cut: usize) -> f64 {
        let discount = |rank: usize| if rank < cut { 1.0 / (rank as f64 + 2.0).log2() } else { 0.0 };
        let ideal: f64 = (0..self.n_right().min(cut)).map(discount).sum();
        let (mut gained, mut start) = (0.0, 0);
        for &(n, right) in &self.0 {
            if start >= cut {
                break;
            }
            let discounts: f64 = (start..(start + n).min(cut)).map(discount).sum();
            gained += right as f64 / n as f64 * discounts;
            start += n;
        }
        if ideal > 0.0 { gained / ideal } else { 0.0 }
    }

    fn recall(&self, cut: usize) -> f64 {
        let (mut found, mut start) = (0.0, 0);
        for &(n, right) in &self.0 {
            let within = cut.saturating_sub(start).min(n);
            found += right as f64 * within as f64 / n as f64;
            start += n;
        }
        if self.n_right() == 0 { 0.0 } else { found / self.n_right() as f64 }
    }

    /// The mean of 1 / rank of the first right document over all orders of its group.
    fn reciprocal_rank(&self) -> f64 {
        let mut start = 0;
        for &(n, right) in &self.0 {
            if right == 0 {
                start += n;
                continue;
            }
            // The chance that no right document is among those before, and the next is one.
            let (mut mean, mut none_before) = (0.0, 1.0);
            for at in 0..=n - right {
                let is_next = right as f64 / (n - at) as f64;
                mean += none_before * is_next / (start + at + 1) as f64;
                none_before *= 1.0 - is_next;
            }
            return mean;
        }
        0.0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(scores: &[f64], right: &[u8], cut: usize) -> f64 {
        ndcg(scores, &right.iter().map(|it| *it == 1).collect::<Vec<_>>(), cut)
    }

    #[test]
    fn ndcg_is_that_of_scikit_learn() {
        let second = 1.0 / 3.0_f64.log2();
        let (missed, worst) =
            (1.5 / (1.0 + second), (1.0 / 5.0_f64.log2() + 1.0 / 6.0_f64.log2()) / (1.0 + second));
        let tied = (1.0 + second + 0.5) / 3.0;
        for (scores, right, expected) in [
            (&[0.9, 0.1, 0.2, 0.8, 0.3][..], &[1, 0, 0, 1, 0][..], [1.0, 1.0, 1.0]),
            (&[0.9, 0.85, 0.2, 0.8, 0.3], &[1, 0, 0, 1, 0], [1.0, missed, missed]),
            (&[0.1, 0.2, 0.9, 0.8, 0.7], &[1, 1, 0, 0, 0], [0.0, 0.0, worst]),
            (&[0.5, 0.5, 0.5, 0.1, 0.1], &[1, 0, 0, 0, 0], [1.0 / 3.0, tied, tied]),
            (&[0.3, 0.2, 0.1], &[0, 0, 0], [0.0, 0.0, 0.0]),
        ] {
            for (cut, expected) in [1, 3, 5].into_iter().zip(expected) {
                let found = at(scores, right, cut);
                assert!((found - expected).abs() < 1e-9, "{scores:?} {cut}: {found} {expected}");
            }
        }
    }

    proptest! {
        #[test]
        fn ties_are_the_mean_of_all_orders(right in prop::collection::vec(any::<bool>(), 1..6), cut in 1_usize..6) {
            let n = right.len();
            let mut orders: Vec<Vec<usize>> = vec![Vec::new()];
            for at in 0..n {
                orders = orders
                    .into_iter()
                    .flat_map(|order| (0..=order.len()).map(move |place| {
                        let mut longer = order.clone();
                        longer.insert(place, at);
                        longer
                    }))
                    .collect();
            }
            #[allow(clippy::cast_precision_loss)]
            let mean = |measure: &dyn Fn(&[f64]) -> f64| {
                let scores = |order: &Vec<usize>| order.iter().map(|rank| -(*rank as f64)).collect::<Vec<_>>();
                orders.iter().map(|order| measure(&scores(order))).sum::<f64>() / orders.len() as f64
            };
            let tied = vec![0.5; n];
            let of = |scores: &[f64]| Ties::of(scores, &right);
            prop_assert!((of(&tied).ndcg(cut) - mean(&|scores| of(scores).ndcg(cut))).abs() < 1e-9);
            prop_assert!((of(&tied).recall(cut) - mean(&|scores| of(scores).recall(cut))).abs() < 1e-9);
            prop_assert!((of(&tied).reciprocal_rank() - mean(&|scores| of(scores).reciprocal_rank())).abs() < 1e-9);
        }
    }
}
