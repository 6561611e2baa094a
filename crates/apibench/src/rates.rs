//! Counts of matches over the responses of a hub, and their shares.
//!
//! The denominator is the number of all responses, as in the published scripts: unreadable responses count there and nowhere else.

use callsieve_text::figures::wilson;
use serde::Serialize;

use crate::matching::Match;

/// The counts of each kind of match.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Rates {
    /// All responses.
    pub responses: usize,
    /// Responses that use the right API.
    pub correct: usize,
    /// Responses that use another API of the database.
    pub wrong_api: usize,
    /// Responses that use no API of the database.
    pub hallucinated: usize,
    /// Responses that hold no call to match.
    pub unreadable: usize,
}

/// A share of the responses.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Rate {
    /// The share, from 0 to 1; 0 of no responses.
    pub share: f64,
    /// Its Wilson 95 % interval.
    pub interval: (f64, f64),
}

impl Rates {
    /// Counts matches.
    pub fn of<'m>(matches: impl IntoIterator<Item = &'m Match>) -> Self {
        let mut rates = Self::default();
        for found in matches {
            rates.responses += 1;
            *match found {
                Match::Correct { .. } => &mut rates.correct,
                Match::WrongApi { .. } => &mut rates.wrong_api,
                Match::Hallucinated => &mut rates.hallucinated,
                Match::Unreadable(_) => &mut rates.unreadable,
            } += 1;
        }
        rates
    }

    /// Returns the share of correct responses: "functionality accuracy" of the scripts. Higher is better.
    pub fn accuracy(&self) -> Rate {
        self.rate(self.correct)
    }

    /// Returns the share of responses that use no API of the database: "hallucination" of the scripts. Lower is better.
    pub fn hallucination(&self) -> Rate {
        self.rate(self.hallucinated)
    }

    /// Returns the share of responses that use another API of the database. The scripts do not print it.
    pub fn wrong(&self) -> Rate {
        self.rate(self.wrong_api)
    }

    #[allow(clippy::cast_precision_loss)] // Counts of responses.
    fn rate(&self, part: usize) -> Rate {
        Rate { share: part as f64 / self.responses.max(1) as f64, interval: wilson(part, self.responses) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matching::Unreadable;

    #[test]
    fn unreadable_responses_count_in_the_denominator_only() {
        let matches = [
            Match::Correct { entry: 3 },
            Match::Correct { entry: 0 },
            Match::WrongApi { entry: 1 },
            Match::Hallucinated,
            Match::Unreadable(Unreadable::NoApiCall),
        ];
        let rates = Rates::of(&matches);
        assert_eq!(rates, Rates { responses: 5, correct: 2, wrong_api: 1, hallucinated: 1, unreadable: 1 });
        assert!((rates.accuracy().share - 0.4).abs() < 1e-12);
        assert!((rates.hallucination().share - 0.2).abs() < 1e-12);
        assert!((rates.wrong().share - 0.2).abs() < 1e-12);
    }

    #[test]
    fn the_interval_is_that_of_wilson() {
        // 110 of 186, PyTorch Hub's number of questions; the bounds are computed from the formula in Python.
        let rate = Rates { responses: 186, correct: 110, ..Rates::default() }.accuracy();
        assert!((rate.interval.0 - 0.519_597).abs() < 1e-5, "{rate:?}");
        assert!((rate.interval.1 - 0.659_500).abs() < 1e-5, "{rate:?}");
    }

    #[test]
    fn no_responses_have_the_widest_interval() {
        assert_eq!(Rates::default().accuracy(), Rate { share: 0.0, interval: (0.0, 1.0) });
    }
}
