//! Pass rate and pass@k of several attempts at each item.
//!
//! pass@k is the chance that at least one of k attempts passes; the estimator 1 - C(n-c, k) / C(n, k) of n attempts with c passes is
//! unbiased (Chen et al., arXiv 2107.03374). pass^k, the chance that all k pass, is C(c, k) / C(n, k) (tau-bench, arXiv
//! 2406.12045). Both are products of quotients, so large n do not overflow.

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The attempts at one item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempts {
    /// All attempts.
    pub n: usize,
    /// Those that pass; not more than `n`.
    pub passed: usize,
}

/// Why there is no estimate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum AttemptsError {
    /// k attempts are not among n.
    #[error("pass@{k} needs at least {k} attempts, and 1 at least; an item has {n}")]
    TooFew {
        /// The number of attempts of which one shall pass.
        k: usize,
        /// The attempts of the item.
        n: usize,
    },
    /// More passes than attempts.
    #[error("an item has {passed} passes of {n} attempts")]
    TooManyPasses {
        /// The passes of the item.
        passed: usize,
        /// The attempts of the item.
        n: usize,
    },
}

impl Attempts {
    /// Returns the unbiased estimate that at least one of `k` attempts passes, from 0 to 1.
    ///
    /// # Errors
    /// `k` is 0 or more than the attempts, or there are more passes than attempts.
    pub fn pass_at(self, k: usize) -> Result<f64, AttemptsError> {
        self.checked(k)?;
        Ok(1.0 - share_of_draws(self.n - self.passed, self.n, k))
    }

    /// Returns the unbiased estimate that all of `k` attempts pass, from 0 to 1.
    ///
    /// # Errors
    /// As [`Attempts::pass_at`].
    pub fn pass_all(self, k: usize) -> Result<f64, AttemptsError> {
        self.checked(k)?;
        Ok(share_of_draws(self.passed, self.n, k))
    }

    fn checked(self, k: usize) -> Result<(), AttemptsError> {
        let Self { n, passed } = self;
        if passed > n {
            return Err(AttemptsError::TooManyPasses { passed, n });
        }
        if k == 0 || k > n { Err(AttemptsError::TooFew { k, n }) } else { Ok(()) }
    }
}

/// Returns C(part, k) / C(whole, k): the chance that `k` draws without replacement are all of a part.
#[allow(clippy::cast_precision_loss)] // Counts of attempts.
fn share_of_draws(part: usize, whole: usize, k: usize) -> f64 {
    if k > part {
        return 0.0;
    }
    // The shorter of two products that are equal.
    let (draws, rest) = (k, whole - part);
    if draws <= rest {
        (0..draws).map(|drawn| (part - drawn) as f64 / (whole - drawn) as f64).product()
    } else {
        (0..rest).map(|drawn| (whole - k - drawn) as f64 / (whole - drawn) as f64).product()
    }
}

/// Returns the mean of pass@k over items; 0 of none.
///
/// # Errors
/// The error of the first item that has one.
#[allow(clippy::cast_precision_loss)] // A count of items.
pub fn mean_pass_at(items: &[Attempts], k: usize) -> Result<f64, AttemptsError> {
    let estimates: Vec<f64> = items.iter().map(|item| item.pass_at(k)).collect::<Result<_, _>>()?;
    Ok(estimates.iter().sum::<f64>() / items.len().max(1) as f64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn estimates_are_those_of_binomials() {
        let item = Attempts { n: 5, passed: 2 };
        // 1 - C(3,2)/C(5,2) = 0.7 and C(2,2)/C(5,2) = 0.1.
        assert!(
            (item.pass_at(2).unwrap() - 0.7).abs() < 1e-12 && (item.pass_all(2).unwrap() - 0.1).abs() < 1e-12
        );
        assert_eq!((item.pass_at(4), item.pass_all(3)), (Ok(1.0), Ok(0.0)));
        assert_eq!(item.pass_at(6), Err(AttemptsError::TooFew { k: 6, n: 5 }));
        assert_eq!(item.pass_at(0), Err(AttemptsError::TooFew { k: 0, n: 5 }));
        let wrong = Attempts { n: 1, passed: 2 };
        assert_eq!(wrong.pass_at(1), Err(AttemptsError::TooManyPasses { passed: 2, n: 1 }));
        assert!((mean_pass_at(&[item, Attempts { n: 4, passed: 0 }], 2).unwrap() - 0.35).abs() < 1e-12);
        assert_eq!(mean_pass_at(&[], 3), Ok(0.0));
    }

    #[test]
    fn many_attempts_do_not_overflow() {
        let item = Attempts { n: 1_000_000, passed: 1 };
        assert!((item.pass_at(500_000).unwrap() - 0.5).abs() < 1e-9);
        assert!((Attempts { n: 2_000, passed: 1_000 }.pass_at(1_000).unwrap() - 1.0).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn pass_at_one_is_the_share_and_more_attempts_pass_more(n in 1_usize..60, passed in 0_usize..60) {
            let item = Attempts { n, passed: passed.min(n) };
            #[allow(clippy::cast_precision_loss)]
            let share = item.passed as f64 / n as f64;
            prop_assert!((item.pass_at(1).unwrap() - share).abs() < 1e-12);
            for k in 1..n {
                let (one, more) = (item.pass_at(k).unwrap(), item.pass_at(k + 1).unwrap());
                prop_assert!(one <= more + 1e-12 && (0.0..=1.0).contains(&more));
                prop_assert!(item.pass_all(k).unwrap() + 1e-12 >= item.pass_all(k + 1).unwrap());
            }
        }
    }
}
