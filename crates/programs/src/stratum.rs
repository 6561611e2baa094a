//! Strata: the kinds of instructions, and how many of each are wanted.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A kind of instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Stratum {
    /// One call.
    Single,
    /// Two to five calls, of which the last uses the result of an earlier one.
    Chain,
    /// Several calls of one function that do not depend on each other.
    Parallel,
    /// Calls of different functions that do not depend on each other.
    MultipleTools,
    /// A value that the function requires is missing at first: the assistant asks, the user answers.
    MissingParameter,
    /// The function that the last call needs is not offered.
    MissingFunction,
    /// No offered function has to do with the request.
    Irrelevance,
    /// The calls are asked for one after the other, in turns of their own.
    MultiTurn,
    /// The first call fails, another repairs what it lacked, and it is made again.
    ErrorRecovery,
}

impl Stratum {
    /// All strata.
    pub const ALL: [Self; 9] = [
        Self::Single,
        Self::Chain,
        Self::Parallel,
        Self::MultipleTools,
        Self::MissingParameter,
        Self::MissingFunction,
        Self::Irrelevance,
        Self::MultiTurn,
        Self::ErrorRecovery,
    ];

    /// Returns its name in files and settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Single => "single",
            Self::Chain => "chain",
            Self::Parallel => "parallel",
            Self::MultipleTools => "multiple-tools",
            Self::MissingParameter => "missing-parameter",
            Self::MissingFunction => "missing-function",
            Self::Irrelevance => "irrelevance",
            Self::MultiTurn => "multi-turn",
            Self::ErrorRecovery => "error-recovery",
        }
    }

    /// Returns `true` if no call is right, because no offered function does what is asked.
    pub fn has_no_call(self) -> bool {
        matches!(self, Self::MissingFunction | Self::Irrelevance)
    }

    /// Returns `true` if its calls do not depend on each other and are made at once.
    pub fn is_at_once(self) -> bool {
        matches!(self, Self::Parallel | Self::MultipleTools)
    }

    /// Returns `true` if its calls use results, or fail.
    pub fn needs_results(self) -> bool {
        matches!(self, Self::Chain | Self::MultiTurn | Self::ErrorRecovery)
    }

    /// Returns its share if the settings name none: most instructions have one call or a chain.
    fn usual_share(self) -> f64 {
        match self {
            Self::Chain => 0.40,
            Self::Single | Self::MultiTurn => 0.14,
            Self::MultipleTools => 0.08,
            Self::Parallel | Self::MissingParameter => 0.06,
            Self::MissingFunction | Self::Irrelevance => 0.05,
            Self::ErrorRecovery => 0.02,
        }
    }
}

/// The share of each stratum. Shares need not add up to 1; those that are left out are 0.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Shares(pub BTreeMap<Stratum, f64>);

impl Default for Shares {
    fn default() -> Self {
        Self(Stratum::ALL.into_iter().map(|stratum| (stratum, stratum.usual_share())).collect())
    }
}

impl Shares {
    /// Checks that there is a share above 0, and none below.
    ///
    /// # Errors
    /// What is wrong.
    pub fn check(&self) -> Result<(), String> {
        if let Some((stratum, share)) =
            self.0.iter().find(|(_, share)| !(share.is_finite() && **share >= 0.0))
        {
            return Err(format!("strata.{} must be 0 or more, not {share}", stratum.name()));
        }
        if self.0.values().sum::<f64>() > 0.0 {
            Ok(())
        } else {
            Err("strata must have a share above 0".to_owned())
        }
    }

    /// Returns how often each stratum is to be drawn in the next round: those that lack instructions, the more so if few of
    /// their candidates are accepted. A stratum of which nothing was accepted after many candidates gets 0.
    pub fn weights(&self, counts: &BTreeMap<Stratum, Counts>, round: u64) -> Vec<(Stratum, u64)> {
        let total: f64 = self.0.values().sum();
        let accepted: u64 = counts.values().map(|counts| counts.accepted).sum();
        self.0
            .iter()
            .map(|(&stratum, share)| {
                let counts = counts.get(&stratum).copied().unwrap_or_default();
                if counts.is_closed() || *share <= 0.0 {
                    return (stratum, 0);
                }
                #[allow(clippy::cast_precision_loss)] // Far fewer instructions than 2^52.
                let lacks = share / total * (accepted + round) as f64 - counts.accepted as f64;
                #[allow(clippy::cast_precision_loss)]
                let per_accepted = (counts.drawn + 2) as f64 / (counts.accepted + 1) as f64;
                #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // At least 0, and small.
                let weight = (lacks.max(0.0) * per_accepted.min(MOST_PER_ACCEPTED) * 100.0).round() as u64;
                (stratum, weight)
            })
            .collect()
    }
}

/// Candidates for each accepted one that a stratum may take.
const MOST_PER_ACCEPTED: f64 = 40.0;
/// Candidates without an accepted one after which a stratum is closed.
const MOST_IN_VAIN: u64 = 400;

/// The candidates of a stratum so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// How many were drawn.
    pub drawn: u64,
    /// How many were accepted.
    pub accepted: u64,
    /// How many were drawn since the last one was accepted.
    #[serde(skip)]
    pub in_vain: u64,
}

impl Counts {
    /// Returns `true` if no more are drawn, because none of many was accepted: nothing can be made, or nothing new.
    pub fn is_closed(self) -> bool {
        self.in_vain >= MOST_IN_VAIN
    }

    /// Counts a candidate.
    pub fn add(&mut self, is_accepted: bool) {
        self.drawn += 1;
        self.accepted += u64::from(is_accepted);
        self.in_vain = if is_accepted { 0 } else { self.in_vain + 1 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stratum_that_lacks_instructions_is_drawn_more() {
        let shares = Shares(BTreeMap::from([(Stratum::Single, 0.5), (Stratum::Chain, 0.5)]));
        let counts =
            |accepted, drawn| Counts { drawn, accepted, in_vain: if accepted == 0 { drawn } else { 0 } };
        let weights = |single: Counts, chain: Counts| {
            let counts = BTreeMap::from([(Stratum::Single, single), (Stratum::Chain, chain)]);
            shares.weights(&counts, 100).into_iter().map(|(_, weight)| weight).collect::<Vec<_>>()
        };
        // Shares are kept in the order of strata: single, chain.
        assert_eq!(weights(counts(0, 0), counts(0, 0)), [10000, 10000]);
        let [single, chain] = weights(counts(90, 100), counts(10, 100))[..] else { panic!("two strata") };
        assert!(single < chain && single > 0, "{single} {chain}");
        // One without any accepted is closed at last.
        assert_eq!(weights(counts(0, 400), counts(10, 20))[0], 0);
        assert_eq!(weights(counts(500, 500), counts(0, 10))[0], 0);
    }

    #[test]
    fn the_usual_shares_are_those_of_a_whole() {
        let total: f64 = Shares::default().0.values().sum();
        assert!((total - 1.0).abs() < 1e-9);
    }

    #[test]
    fn shares_below_zero_or_without_any_are_refused() {
        let shares = |share: f64| Shares(BTreeMap::from([(Stratum::Single, share)]));
        assert!(shares(1.0).check().is_ok());
        assert_eq!(shares(-1.0).check().unwrap_err(), "strata.single must be 0 or more, not -1");
        assert!(shares(0.0).check().is_err() && shares(f64::NAN).check().is_err());
    }

    #[test]
    fn names_are_those_of_files() {
        for stratum in Stratum::ALL {
            assert_eq!(serde_json::to_value(stratum).unwrap(), stratum.name());
        }
    }
}
