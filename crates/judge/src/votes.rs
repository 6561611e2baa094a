//! Counts of votes and their decision, and rates with intervals.
//!
//! The class with most votes decides. Equal counts are a tie, which stays a class of its own: no coin is flipped. Unreadable replies
//! are counted and are never votes.

use std::collections::BTreeMap;

use callsieve_text::figures::wilson;
use serde::{Deserialize, Serialize};

/// The votes on one item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally<C: Ord> {
    /// The number of votes of each class that has any.
    pub votes: BTreeMap<C, usize>,
    /// The number of unreadable replies.
    pub unreadable: usize,
}

/// What the votes on an item decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decision<C> {
    /// One class has most votes.
    Class(C),
    /// Several classes have most votes.
    Tie,
    /// No reply was readable.
    NoVotes,
}

impl<C: Ord + Copy> Tally<C> {
    /// Returns the counts of some votes; an unreadable reply is an error.
    pub fn of<E>(votes: impl IntoIterator<Item = Result<C, E>>) -> Self {
        let mut tally = Self { votes: BTreeMap::new(), unreadable: 0 };
        for vote in votes {
            match vote {
                Ok(class) => *tally.votes.entry(class).or_default() += 1,
                Err(_) => tally.unreadable += 1,
            }
        }
        tally
    }

    /// Returns the class with most votes.
    pub fn decision(&self) -> Decision<C> {
        let Some(most) = self.votes.values().max() else { return Decision::NoVotes };
        let mut first = self.votes.iter().filter(|(_, votes)| *votes == most);
        match (first.next(), first.next()) {
            (Some((class, _)), None) => Decision::Class(*class),
            _ => Decision::Tie,
        }
    }
}

/// A share of items with its Wilson 95 % interval, from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Rate {
    /// Items of the class.
    pub part: usize,
    /// All items.
    pub whole: usize,
    /// Their quotient; 0 of no items.
    pub share: f64,
    /// The low end of the interval.
    pub from: f64,
    /// The high end of the interval.
    pub to: f64,
}

impl Rate {
    /// Returns the rate of `part` items of `whole`; an interval from 0 to 1 of no items.
    #[allow(clippy::cast_precision_loss)] // Counts of items.
    pub fn of(part: usize, whole: usize) -> Self {
        let (from, to) = wilson(part, whole);
        Self { part, whole, share: part as f64 / whole.max(1) as f64, from, to }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tally(votes: &[u8]) -> Tally<u8> {
        Tally::of(votes.iter().map(|vote| if *vote == 9 { Err(()) } else { Ok(*vote) }))
    }

    #[test]
    fn most_votes_decide_and_equal_counts_are_a_tie() {
        for (votes, expected) in [
            (&[1, 1, 2][..], Decision::Class(1)),
            (&[1, 2, 2, 9, 9, 9], Decision::Class(2)),
            (&[1, 1, 2, 2, 3], Decision::Tie),
            (&[9, 9], Decision::NoVotes),
            (&[], Decision::NoVotes),
        ] {
            assert_eq!(tally(votes).decision(), expected, "{votes:?}");
        }
        assert_eq!(tally(&[1, 9, 9]).unreadable, 2);
    }

    #[test]
    fn rates_have_wilson_intervals() {
        let rate = Rate::of(8, 10);
        assert!(
            (rate.share - 0.8).abs() < 1e-12
                && (rate.from - 0.4902).abs() < 1e-4
                && (rate.to - 0.9433).abs() < 1e-4
        );
        assert_eq!(Rate::of(0, 0), Rate { part: 0, whole: 0, share: 0.0, from: 0.0, to: 1.0 });
    }

    proptest! {
        #[test]
        fn the_order_of_votes_makes_no_difference(mut votes in prop::collection::vec(0_u8..4, 0..12)) {
            let before = tally(&votes);
            votes.reverse();
            prop_assert_eq!(tally(&votes), before);
        }
    }
}
