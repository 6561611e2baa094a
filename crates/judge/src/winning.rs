//! Win rates between two systems on the same items.
//!
//! A path that passes beats one that fails without a judge. All else is judged, each pair in both orders, so that a preference for a
//! position cannot decide: two votes that disagree after the swap are a tie. `ToolEval`'s program shuffles the answers but not their
//! labels, which makes some of its preferences coin flips; here a vote names the position, and positions are mapped back in one
//! place. The law is that exchanging the two systems exchanges wins and losses.

use serde::{Deserialize, Serialize};

use crate::passing::PassLabel;
use crate::verdict::{Unreadable, Verdict};
use crate::votes::{Decision, Rate, Tally};

/// The answer that a judge prefers, by its position in the prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Preference {
    /// The answer that is shown first.
    First,
    /// The answer that is shown second.
    Second,
    /// Neither.
    Tie,
}

impl Verdict for Preference {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("first", Self::First),
        ("a", Self::First),
        ("1", Self::First),
        ("second", Self::Second),
        ("b", Self::Second),
        ("2", Self::Second),
        ("tie", Self::Tie),
    ];
}

/// Two votes on a pair of answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SwappedVotes {
    /// The vote with the candidate first and the reference second.
    pub candidate_first: Result<Preference, Unreadable>,
    /// The vote with the reference first and the candidate second.
    pub reference_first: Result<Preference, Unreadable>,
}

/// The outcome of a pair of answers for the candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// The candidate is better.
    Win,
    /// The reference is better.
    Loss,
    /// Neither.
    Tie,
}

impl SwappedVotes {
    /// Returns the outcome: a win or a loss if both orders agree, else a tie.
    ///
    /// # Errors
    /// The reason of the first unreadable vote: half a pair is no vote.
    pub fn outcome(self) -> Result<Outcome, Unreadable> {
        Ok(match (self.candidate_first?, self.reference_first?) {
            (Preference::First, Preference::Second) => Outcome::Win,
            (Preference::Second, Preference::First) => Outcome::Loss,
            _ => Outcome::Tie,
        })
    }
}

/// An item with the labels of both paths and the votes on them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Comparison {
    /// Whether the candidate's path passes.
    pub candidate: Decision<PassLabel>,
    /// Whether the reference's path passes.
    pub reference: Decision<PassLabel>,
    /// The votes; not needed if one passes and the other fails.
    pub votes: Vec<SwappedVotes>,
}

impl Comparison {
    /// Returns whether the labels decide without votes.
    pub fn is_decided(&self) -> bool {
        self.of_labels().is_some()
    }

    fn of_labels(&self) -> Option<Outcome> {
        match (self.candidate, self.reference) {
            (Decision::Class(PassLabel::Pass), Decision::Class(PassLabel::Fail)) => Some(Outcome::Win),
            (Decision::Class(PassLabel::Fail), Decision::Class(PassLabel::Pass)) => Some(Outcome::Loss),
            _ => None,
        }
    }

    /// Returns the outcome; none without labels that decide and without a readable pair of votes.
    pub fn outcome(&self) -> Option<Outcome> {
        self.of_labels().or_else(|| match self.tally().decision() {
            Decision::Class(outcome) => Some(outcome),
            Decision::Tie => Some(Outcome::Tie),
            Decision::NoVotes => None,
        })
    }

    fn tally(&self) -> Tally<Outcome> {
        Tally::of(self.votes.iter().map(|votes| votes.outcome()))
    }
}

/// The win rate of a candidate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WinRate {
    /// Items that the candidate wins.
    pub wins: usize,
    /// Items that it loses.
    pub losses: usize,
    /// Items that are tied.
    pub ties: usize,
    /// Items without an outcome, which no rate counts.
    pub without_votes: usize,
    /// Wins and losses that labels decided without votes.
    pub decided_by_labels: usize,
    /// Pairs of votes with an unreadable reply, of the items that needed votes.
    pub unreadable: usize,
    /// Wins of all items with an outcome: the raw rate.
    pub raw: Rate,
    /// Wins and half of the ties of all items with an outcome, from 0 to 1; 0 of none.
    pub halved: f64,
    /// The 95 % interval of `halved` from the variance of the three outcomes, from 0 to 1; from 0 to 1 of none.
    pub halved_interval: (f64, f64),
}

/// Returns the win rate over some items.
pub fn win_rate(items: &[Comparison]) -> WinRate {
    let count = |outcome| items.iter().filter(|item| item.outcome() == outcome).count();
    let (wins, losses, ties) =
        (count(Some(Outcome::Win)), count(Some(Outcome::Loss)), count(Some(Outcome::Tie)));
    let (halved, halved_interval) = halved(wins, losses, ties);
    WinRate {
        wins,
        losses,
        ties,
        without_votes: count(None),
        decided_by_labels: items.iter().filter(|item| item.is_decided()).count(),
        unreadable: items.iter().filter(|item| !item.is_decided()).map(|item| item.tally().unreadable).sum(),
        raw: Rate::of(wins, wins + losses + ties),
        halved,
        halved_interval,
    }
}

/// Standard normal quantile of a two-sided 95 % interval.
const Z: f64 = 1.959_963_984_540_054;

/// Returns the mean of 1, 0 and 1/2 over outcomes with a Wilson interval of as many trials as have its variance.
///
/// A tie has less variance than a win or loss, so the trials are n · p(1-p) / variance. Without ties it is the Wilson interval.
#[allow(clippy::cast_precision_loss)] // Counts of items.
fn halved(wins: usize, losses: usize, ties: usize) -> (f64, (f64, f64)) {
    let n = (wins + losses + ties) as f64;
    if n == 0.0 {
        return (0.0, (0.0, 1.0));
    }
    let mean = (wins as f64 + ties as f64 / 2.0) / n;
    // Two more ties keep the variance above zero where all items are ties; the interval is wider for it.
    let variance = (mean * (1.0 - mean) - ties as f64 / (4.0 * (n + 2.0))).max(0.0);
    let trials = if variance > 0.0 { n * (mean * (1.0 - mean) / variance).max(1.0) } else { n };
    let scale = 1.0 + Z * Z / trials;
    let middle = (mean + Z * Z / (2.0 * trials)) / scale;
    let half = Z * (mean * (1.0 - mean) / trials + Z * Z / (4.0 * trials * trials)).sqrt() / scale;
    (mean, ((middle - half).max(0.0), (middle + half).min(1.0)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn preference() -> impl Strategy<Value = Result<Preference, Unreadable>> {
        prop_oneof![
            Just(Ok(Preference::First)),
            Just(Ok(Preference::Second)),
            Just(Ok(Preference::Tie)),
            Just(Err(Unreadable::NoVerdict)),
        ]
    }

    fn label() -> impl Strategy<Value = Decision<PassLabel>> {
        prop_oneof![
            Just(Decision::Class(PassLabel::Pass)),
            Just(Decision::Class(PassLabel::Fail)),
            Just(Decision::Class(PassLabel::Unsure)),
            Just(Decision::Tie),
            Just(Decision::NoVotes),
        ]
    }

    fn comparison() -> impl Strategy<Value = Comparison> {
        let votes = (preference(), preference())
            .prop_map(|(candidate_first, reference_first)| SwappedVotes { candidate_first, reference_first });
        (label(), label(), prop::collection::vec(votes, 0..5))
            .prop_map(|(candidate, reference, votes)| Comparison { candidate, reference, votes })
    }

    fn swapped(item: &Comparison) -> Comparison {
        let swap = |votes: &SwappedVotes| SwappedVotes {
            candidate_first: votes.reference_first,
            reference_first: votes.candidate_first,
        };
        let votes = item.votes.iter().map(swap).collect();
        Comparison { candidate: item.reference, reference: item.candidate, votes }
    }

    proptest! {
        #[test]
        fn exchanging_the_systems_exchanges_wins_and_losses(items in prop::collection::vec(comparison(), 0..12)) {
            let (one, other) = (win_rate(&items), win_rate(&items.iter().map(swapped).collect::<Vec<_>>()));
            prop_assert_eq!((one.wins, one.losses, one.ties), (other.losses, other.wins, other.ties));
            prop_assert_eq!((one.without_votes, one.unreadable), (other.without_votes, other.unreadable));
            if one.wins + one.losses + one.ties > 0 {
                prop_assert!((one.halved + other.halved - 1.0).abs() < 1e-12);
                prop_assert!((one.halved_interval.0 + other.halved_interval.1 - 1.0).abs() < 1e-9);
            }
        }

        #[test]
        fn a_judge_that_always_prefers_a_position_decides_nothing(n in 1_usize..9, is_first in any::<bool>()) {
            let vote = Ok(if is_first { Preference::First } else { Preference::Second });
            let votes = vec![SwappedVotes { candidate_first: vote, reference_first: vote }; n];
            let unsure = Decision::Class(PassLabel::Unsure);
            prop_assert_eq!(Comparison { candidate: unsure, reference: unsure, votes }.outcome(), Some(Outcome::Tie));
        }
    }

    #[test]
    fn labels_decide_before_votes() {
        let (pass, fail) = (Decision::Class(PassLabel::Pass), Decision::Class(PassLabel::Fail));
        let loss =
            SwappedVotes { candidate_first: Ok(Preference::Second), reference_first: Ok(Preference::First) };
        let item = |candidate, reference| Comparison { candidate, reference, votes: vec![loss] };
        let items = [item(pass, fail), item(fail, pass), item(pass, pass), item(fail, fail)];
        assert_eq!(
            items.each_ref().map(|item| item.outcome().unwrap()),
            [Outcome::Win, Outcome::Loss, Outcome::Loss, Outcome::Loss]
        );
        let rate = win_rate(&items);
        assert_eq!((rate.wins, rate.losses, rate.ties, rate.decided_by_labels), (1, 3, 0, 2));
        assert!((rate.halved - 0.25).abs() < 1e-12 && (rate.raw.share - 0.25).abs() < 1e-12);
        // Without ties both intervals are Wilson's.
        assert!((rate.halved_interval.0 - rate.raw.from).abs() < 1e-12);
    }

    #[test]
    fn ties_are_a_class_and_narrow_the_interval() {
        let (with, without) = (halved(30, 10, 60), halved(60, 40, 0));
        assert!((with.0 - without.0).abs() < 1e-12);
        assert!(with.1.1 - with.1.0 < without.1.1 - without.1.0);
        assert_eq!(halved(0, 0, 0), (0.0, (0.0, 1.0)));
    }
}
