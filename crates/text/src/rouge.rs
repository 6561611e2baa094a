//! ROUGE-L as a score, and thresholds on it without rounding errors.
//!
//! The score is `2·L / (m + n)` for sequences of `m` and `n` tokens with a longest common subsequence of `L`. At a tie
//! such as 4/5 against 0.8 the floating-point score may be above, equal or below, so thresholds compare integers: a tie
//! is never above. To reproduce figures computed with floats, use [`Comparison::GoogleFloat`].

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::lcs::lcs;
use super::words::for_each_word;

/// Returns the F1 of ROUGE-L, bit for bit as Google's `rouge-score` computes it; 0 if a side is empty.
///
/// `lcs` is the length of the longest common subsequence of sequences of `m` and `n` tokens.
#[expect(clippy::cast_precision_loss, reason = "counts of tokens are far below 2⁵³")]
pub fn f1(lcs: usize, m: usize, n: usize) -> f64 {
    if lcs == 0 || m == 0 || n == 0 {
        return 0.0;
    }
    let precision = lcs as f64 / m as f64;
    let recall = lcs as f64 / n as f64;
    2.0 * precision * recall / (precision + recall)
}

/// A threshold between 0 and 1, as the exact fraction of its decimal digits.
///
/// Higher accepts fewer pairs. In settings it is a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Threshold {
    num: u64,
    den: u64,
    comparison: Comparison,
}

/// The condition for a score to be above a threshold.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Comparison {
    /// The exact fraction is above: ties never are.
    #[default]
    Exact,
    /// The float of `rouge-score` is above: some exact ties are, by rounding.
    GoogleFloat,
}

/// The maximum number of decimals of a threshold.
const MAX_DECIMALS: usize = 9;

impl Threshold {
    /// Returns the same threshold with another comparison.
    #[must_use]
    pub fn compared_by(self, comparison: Comparison) -> Self {
        Self { comparison, ..self }
    }

    /// Returns true if the F1 of two sequences is above the threshold.
    pub fn is_above(self, lcs: usize, m: usize, n: usize) -> bool {
        if self.comparison == Comparison::GoogleFloat {
            return f1(lcs, m, n) > f64::from(self);
        }
        2 * lcs as u128 * u128::from(self.den) > u128::from(self.num) * (m as u128 + n as u128)
    }

    /// Returns the minimum length of a common subsequence with an F1 above the threshold. It may exceed both lengths.
    pub fn min_lcs(self, m: usize, n: usize) -> usize {
        let (floor, is_tie) = ratio(self.num, m as u128 + n as u128, 2 * self.den);
        let is_above = is_tie && self.lets_ties_through() && self.is_above(floor, m, n);
        if is_above { floor } else { floor + 1 }
    }

    /// Returns the maximum number of unmatched tokens of two sequences above the threshold with this total length.
    pub fn most_lacking(self, n_tokens: usize) -> usize {
        // From L > t·s / 2 follows s - 2·L < s·(1 - t).
        let (floor, is_tie) = ratio(self.den - self.num, n_tokens as u128, self.den);
        if is_tie && !self.lets_ties_through() { floor.saturating_sub(1) } else { floor }
    }

    /// Returns the minimum length of a sequence that can be above the threshold with one of `m` tokens.
    ///
    /// It increases with `m`; at a threshold of 1 it exceeds `m`, as no pair is above.
    pub fn shortest(self, m: usize) -> usize {
        // From 2·n·den > num·(m + n), where the shorter sequence is a part of the longer.
        let (floor, is_tie) = ratio(self.num, m as u128, 2 * self.den - self.num);
        if is_tie && self.lets_ties_through() { floor } else { floor + 1 }
    }

    fn lets_ties_through(self) -> bool {
        self.comparison == Comparison::GoogleFloat
    }
}

/// Returns `num · count / den`, rounded down, and true if it is exact.
fn ratio(num: u64, count: u128, den: u64) -> (usize, bool) {
    // Nearly always a 64-bit division suffices, which is much faster.
    if let Some(product) = u64::try_from(count).ok().and_then(|count| num.checked_mul(count)) {
        return (usize::try_from(product / den).unwrap_or(usize::MAX - 1), product.is_multiple_of(den));
    }
    let (product, den) = (u128::from(num) * count, u128::from(den));
    (usize::try_from(product / den).unwrap_or(usize::MAX - 1), product.is_multiple_of(den))
}

/// A number that is not a threshold.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "threshold {given} is not a decimal number between 0 and 1 with at most {MAX_DECIMALS} decimals\nhint: write e.g. 0.7"
)]
pub struct NotAThreshold {
    /// The number as given.
    pub given: String,
}

impl FromStr for Threshold {
    type Err = NotAThreshold;

    fn from_str(text: &str) -> Result<Self, NotAThreshold> {
        let read = || {
            let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
            let is_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
            if whole.is_empty() || !is_digits(whole) || !is_digits(decimals) || decimals.len() > MAX_DECIMALS
            {
                return None;
            }
            let den = 10_u64.pow(u32::try_from(decimals.len()).ok()?);
            let num = format!("{whole}{decimals}").parse().ok()?;
            (num <= den).then_some(Self { num, den, comparison: Comparison::Exact })
        };
        read().map(Self::reduced).ok_or_else(|| NotAThreshold { given: text.to_owned() })
    }
}

impl Threshold {
    fn reduced(self) -> Self {
        let (mut divisor, mut rest) = (self.den, self.num);
        while rest != 0 {
            (divisor, rest) = (rest, divisor % rest);
        }
        Self { num: self.num / divisor, den: self.den / divisor, ..self }
    }
}

impl TryFrom<f64> for Threshold {
    type Error = NotAThreshold;

    /// Uses the shortest decimal that parses to this number: 0.8 is 4/5, whatever its last bits are.
    fn try_from(number: f64) -> Result<Self, NotAThreshold> {
        number.to_string().parse()
    }
}

impl From<Threshold> for f64 {
    /// Returns the number from the settings: dividing two numbers of ten digits rounds to it.
    #[expect(clippy::cast_precision_loss, reason = "both sides are at most ten digits long")]
    fn from(threshold: Threshold) -> Self {
        threshold.num as Self / threshold.den as Self
    }
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f64::from(*self).fmt(f)
    }
}

/// Returns the ROUGE-L F1 of two texts by their words, from 0 to 1; of two texts without words it is 1.
pub fn rouge_l(one: &str, other: &str) -> f64 {
    let mut numbers: BTreeMap<String, u32> = BTreeMap::new();
    let mut words = |text: &str| {
        let mut words: Vec<u32> = Vec::new();
        for_each_word(text, |word| {
            let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
            words.push(*numbers.entry(word.to_owned()).or_insert(next));
        });
        words
    };
    let (one, other) = (words(one), words(other));
    if one.is_empty() && other.is_empty() {
        return 1.0;
    }
    f1(lcs(&one, &other), one.len(), other.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rougers::{RougeScorer, RougeType};

    use super::*;
    use crate::lcs::lcs;
    use crate::tokens::Tokenizer;
    use crate::vocabulary::Vocabulary;

    fn threshold(text: &str) -> Threshold {
        text.parse().unwrap()
    }

    fn fraction(num: u64, den: u64) -> Threshold {
        Threshold { num, den, comparison: Comparison::Exact }
    }

    #[test]
    fn an_empty_side_scores_zero() {
        assert_eq!([f1(0, 0, 0), f1(0, 0, 5), f1(0, 5, 0), f1(0, 3, 3)].map(f64::to_bits), [0; 4]);
        assert!((f1(5, 5, 5) - 1.0).abs() < f64::EPSILON);
    }

    #[test]
    fn scores_are_equal_to_those_of_google() {
        // Computed with rouge-score 0.1.2: rougeL, fmeasure, without and with its stemmer.
        let references = [
            (
                "Ring the bell of the old church at noon",
                "At noon ring the bells of the church",
                [0.588_235_294_117_647_1, 0.705_882_352_941_176_5],
            ),
            ("Naïve café: 3 tables", "naive cafe 3 tables", [0.444_444_444_444_444_5; 2]),
            ("get_user_info(user_id)", "getUserInfo(userId) user info", [0.444_444_444_444_444_5; 2]),
            ("获取天气", "获取天气", [0.0; 2]),
            ("a b c d e", "a b c d f", [0.800_000_000_000_000_2; 2]),
            ("skies were falling generically", "the sky fell generic", [0.0, 0.5]),
        ];
        for (target, prediction, expected) in references {
            for (tokenizer, expected) in [Tokenizer::Rouge, Tokenizer::RougeStemmed].into_iter().zip(expected)
            {
                let mut vocabulary = Vocabulary::new();
                let [a, b] = [target, prediction].map(|text| vocabulary.encode(tokenizer, text));
                assert_eq!(f1(lcs(&a, &b), a.len(), b.len()).to_bits(), f64::to_bits(expected), "{target}");
            }
        }
    }

    #[test]
    fn a_tie_is_not_above_even_if_its_float_is() {
        let t = threshold("0.8");
        // The floats of these two ties are above and below 0.8.
        let (above, below) = (f1(4, 5, 5), f1(6, 8, 7));
        assert!(above > 0.8 && below < 0.8, "{above} {below}");
        assert!(!t.is_above(4, 5, 5) && !t.is_above(6, 8, 7));
        assert!(t.is_above(5, 5, 5) && t.is_above(7, 8, 7));
        let by_float = t.compared_by(Comparison::GoogleFloat);
        assert!(by_float.is_above(4, 5, 5) && !by_float.is_above(6, 8, 7));
        assert_eq!((by_float.min_lcs(5, 5), by_float.min_lcs(8, 7)), (4, 7));
    }

    #[test]
    fn by_floats_the_same_number_of_ties_is_above_four_fifths_as_in_rouge_score() {
        // Counted with rouge-score 0.1.2, over all pairs of lengths up to 400.
        let t = threshold("0.8").compared_by(Comparison::GoogleFloat);
        let lengths = (1..=400_usize).flat_map(|m| (1..=400).map(move |n| (m, n)));
        let ties = lengths.filter(|(m, n)| (2 * (m + n)).is_multiple_of(5));
        let n_above =
            ties.filter(|&(m, n)| 2 * (m + n) / 5 <= m.min(n) && t.is_above(2 * (m + n) / 5, m, n)).count();
        assert_eq!(n_above, 716);
    }

    #[test]
    fn zero_requires_one_common_token_and_one_is_impossible() {
        let (zero, one) = (threshold("0"), threshold("1"));
        assert!(zero.is_above(1, 9, 9) && !zero.is_above(0, 9, 9) && !zero.is_above(0, 0, 0));
        assert!(!one.is_above(9, 9, 9));
        assert_eq!((zero.shortest(9), one.shortest(9)), (1, 10));
        assert_eq!((zero.min_lcs(9, 9), one.min_lcs(9, 9)), (1, 10));
    }

    #[test]
    fn a_threshold_is_the_fraction_of_its_digits() {
        assert_eq!(Threshold::try_from(0.8), Ok(fraction(4, 5)));
        assert_eq!(threshold("0.8500"), fraction(17, 20));
        assert_eq!(threshold("1"), fraction(1, 1));
        assert_eq!(threshold("0.0"), fraction(0, 1));
        assert_eq!(threshold("0.8").to_string(), "0.8");
        assert_eq!(serde_json::from_str::<Threshold>("0.75").unwrap(), threshold("0.75"));
        assert_eq!(serde_json::from_str::<Threshold>("1").unwrap(), threshold("1"));
        assert_eq!(serde_json::to_string(&threshold("0.8")).unwrap(), "0.8");
    }

    #[test]
    fn other_numbers_are_refused() {
        for text in
            ["", ".", ".5", "-0.1", "1.1", "2", "80%", "0.8e0", "NaN", "0.1234567891", "99999999999999999999"]
        {
            let message = text.parse::<Threshold>().unwrap_err().to_string();
            let expected = format!(
                "threshold {text} is not a decimal number between 0 and 1 with at most 9 decimals\nhint: write e.g. 0.7"
            );
            assert_eq!(message, expected);
        }
        assert!(Threshold::try_from(f64::NAN).is_err());
        assert!(serde_json::from_str::<Threshold>("1.5").is_err());
    }

    proptest! {
        #[test]
        fn the_score_has_the_bits_of_an_independent_implementation(
            words in prop::collection::vec("[a-f]", 0..40), other in prop::collection::vec("[a-f]", 0..40)
        ) {
            let (a, b) = (words.join(" "), other.join("-"));
            let mut vocabulary = Vocabulary::new();
            let [a_ids, b_ids] = [&a, &b].map(|text| vocabulary.encode(Tokenizer::Rouge, text));
            let ours = f1(lcs(&a_ids, &b_ids), a_ids.len(), b_ids.len());
            let scorer = RougeScorer::new(["rougeL"], false).unwrap();
            let theirs = scorer.score(&a, &b).get(RougeType::L).unwrap().fmeasure;
            prop_assert_eq!(ours.to_bits(), theirs.to_bits());
        }

        #[test]
        fn the_minimum_lengths_are_the_first_above(
            millis in 0_u32..=1000, m in 1_usize..60, n in 1_usize..60, by_float in any::<bool>()
        ) {
            let exact = Threshold::try_from(f64::from(millis) / 1000.0).unwrap();
            let t = if by_float { exact.compared_by(Comparison::GoogleFloat) } else { exact };
            // Nothing is above a threshold of 1, but as a float an impossible length may seem to be.
            let least = (0..=m + n).find(|&l| t.is_above(l, m, n) && (millis < 1000 || !by_float)).unwrap_or(m + n);
            prop_assert!(t.min_lcs(m, n) == least || (millis == 1000 && t.min_lcs(m, n) >= usize::midpoint(m, n)));
            prop_assert!(t.most_lacking(m + n) >= (m + n).saturating_sub(2 * least));
            let shortest = (0..=m).find(|&n| t.is_above(n, m, n)).unwrap_or(m + 1);
            prop_assert!(t.shortest(m) == shortest || (by_float && t.shortest(m) <= shortest));
        }

        #[test]
        fn a_displayed_threshold_parses_to_the_same_value(nanos in 0_u64..=1_000_000_000) {
            let t = fraction(nanos, 1_000_000_000).reduced();
            prop_assert_eq!(threshold(&t.to_string()), t);
        }
    }
}
