//! Compares two systems on the outputs that both have.

use std::collections::HashMap;

use serde::Serialize;

use super::Row;
use super::figures::float;

/// The outputs of two systems side by side.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Pair {
    /// The first system.
    pub a: String,
    /// The second system.
    pub b: String,
    /// Outputs that both have.
    pub n: usize,
    /// Both are correct.
    pub both: usize,
    /// Only the first is correct.
    pub only_a: usize,
    /// Only the second is correct.
    pub only_b: usize,
    /// Neither is correct.
    pub neither: usize,
    /// The share of the first minus that of the second.
    pub difference: f64,
    /// The two-sided p of `McNemar`'s exact test.
    pub p: f64,
}

impl Pair {
    /// Returns the difference in percent and the p as people read them.
    pub fn shown(&self) -> [String; 2] {
        let p = if self.p < 0.0001 { "<0.0001".to_owned() } else { format!("{:.4}", self.p) };
        [format!("{:+.1} %", 100.0 * self.difference), p]
    }
}

/// Compares two systems by id and sample.
pub(super) fn pair(a: (&str, &[Row<'_>]), b: (&str, &[Row<'_>])) -> Pair {
    let key = |row: &Row<'_>| (row.result.id.clone(), row.result.sample.as_ref().map(ToString::to_string));
    let of_b: HashMap<_, bool> = b.1.iter().map(|row| (key(row), row.scored.valid)).collect();
    let [mut both, mut only_a, mut only_b, mut neither] = [0_usize; 4];
    for row in a.1 {
        match of_b.get(&key(row)).map(|other| (row.scored.valid, *other)) {
            Some((true, true)) => both += 1,
            Some((true, false)) => only_a += 1,
            Some((false, true)) => only_b += 1,
            Some((false, false)) => neither += 1,
            None => {}
        }
    }
    let n = both + only_a + only_b + neither;
    let difference = if n == 0 { 0.0 } else { (float(only_a) - float(only_b)) / float(n) };
    Pair {
        a: a.0.to_owned(),
        b: b.0.to_owned(),
        n,
        both,
        only_a,
        only_b,
        neither,
        difference,
        p: mcnemar(only_a, only_b),
    }
}

/// Returns the two-sided p of `McNemar`'s exact test: the binomial test of the outputs where only one system is correct.
pub fn mcnemar(only_a: usize, only_b: usize) -> f64 {
    let n = only_a + only_b;
    // Logarithms of binomial coefficients, since the coefficients overflow.
    let mut log_choose = 0.0_f64;
    let half = float(n) * std::f64::consts::LN_2;
    let mut sum = (-half).exp();
    for k in 1..=only_a.min(only_b) {
        log_choose += (float(n - k + 1) / float(k)).ln();
        sum += (log_choose - half).exp();
    }
    (2.0 * sum).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p_is_that_of_the_binomial_test() {
        // Reference: scipy.stats.binomtest(k, n, 0.5).pvalue.
        for (a, b, p) in
            [(0, 0, 1.0), (3, 3, 1.0), (1, 9, 0.021_484_375), (0, 5, 0.0625), (40, 70, 0.005_447_4)]
        {
            assert!((mcnemar(a, b) - p).abs() < 2e-5, "{a} {b} {}", mcnemar(a, b));
        }
        assert!(mcnemar(0, 3_000) < 1e-300 && mcnemar(1_500, 1_500) > 0.999);
    }
}
