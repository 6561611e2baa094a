//! Reciprocal rank fusion: joins the scores of several methods by their ranks, so that their scales do not matter.
//!
//! Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion outperforms Condorcet and individual Rank Learning Methods" (SIGIR 2009).

/// The constant of the paper.
const K: f64 = 60.0;

/// Returns for each document the sum of 1 / (60 + rank) over methods; equal scores have their mean rank. `methods` have the same
/// documents.
///
/// # Panics
/// If methods have different numbers of documents.
pub fn fused(methods: &[&[f64]]) -> Vec<f64> {
    let Some(first) = methods.first() else { return Vec::new() };
    let mut sum = vec![0.0; first.len()];
    for scores in methods {
        assert_eq!(scores.len(), sum.len(), "methods score the same documents");
        for (fused, rank) in sum.iter_mut().zip(ranks(scores)) {
            *fused += 1.0 / (K + rank);
        }
    }
    sum
}

/// Returns the rank of each score, from 1; equal ones have the mean of theirs.
#[allow(clippy::cast_precision_loss)] // Ranks.
fn ranks(scores: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|one, other| scores[*other].total_cmp(&scores[*one]));
    let mut ranks = vec![0.0; scores.len()];
    let mut start = 0;
    for tied in order.chunk_by(|one, other| scores[*one].total_cmp(&scores[*other]).is_eq()) {
        let mean = start as f64 + f64::midpoint(tied.len() as f64, 1.0);
        for at in tied {
            ranks[*at] = mean;
        }
        start += tied.len();
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_that_both_methods_like_is_first() {
        let fused = fused(&[&[3.0, 2.0, 1.0], &[0.1, 0.9, 0.2]]);
        assert!(fused[1] > fused[0] && fused[0] > fused[2], "{fused:?}");
        assert_eq!(ranks(&[2.0, 5.0, 2.0, 1.0]), [2.5, 1.0, 2.5, 4.0]);
        assert_eq!(super::fused(&[]), [0.0; 0]);
    }
}
