//! What the outputs of a file cost so far, and whether the next request fits below a limit.
//!
//! The cost of a request is known only from its reply, so it is estimated before: the tokens of the request, and as many tokens of
//! output as it allows, or as the longest one so far had. The limit is passed only if the estimate of the tokens is too low, or an
//! output without a limit is longer than all before. Each request has the price of its model.

use std::collections::BTreeMap;

use super::models::Price;

/// Tokens of an output, before any has arrived.
const FIRST_OUTPUT: u64 = 1000;

/// The cost of the outputs of a file, in US dollars.
#[derive(Debug, Default)]
pub struct Budget {
    most: Option<f64>,
    longest: Option<u64>,
    under_way: BTreeMap<usize, f64>,
    /// The cost of all outputs of the file.
    spent: f64,
    /// The cost of the outputs of this call.
    pub new: f64,
    /// The estimated cost of the next request, if it did not fit and no other has been sent since.
    pub refused: Option<f64>,
}

impl Budget {
    /// Returns a budget of at most so many US dollars, of which nothing is spent.
    pub fn new(most: Option<f64>) -> Self {
        Self { most, ..Self::default() }
    }

    /// Counts the outputs of earlier calls, with these tokens.
    #[must_use]
    pub fn with_earlier(self, price: Option<Price>, tokens: &[Option<(u64, u64, u64)>]) -> Self {
        let longest = tokens.iter().flatten().map(|(_, _, output)| *output).max();
        let cost = |price: Price| tokens.iter().flatten().map(|&(i, c, o)| price.cost(i, c, o)).sum();
        Self { longest, spent: price.map_or(0.0, cost), ..self }
    }

    /// Returns whether a request of so many tokens fits, with those under way, and counts it as one of them. `max_output` is
    /// the longest output that the request allows. Without a price it fits.
    pub fn may_send(&mut self, at: usize, price: Option<Price>, input: u64, max_output: Option<u64>) -> bool {
        let (Some(price), Some(most)) = (price, self.most) else { return true };
        let output = max_output.or(self.longest).unwrap_or(FIRST_OUTPUT);
        let estimate = price.cost(input, 0, output);
        let is_full = self.spent + self.under_way.values().sum::<f64>() + estimate > most;
        self.refused = is_full.then_some(estimate);
        if !is_full {
            self.under_way.insert(at, estimate);
        }
        !is_full
    }

    /// Returns whether no request is under way.
    pub fn is_idle(&self) -> bool {
        self.under_way.is_empty()
    }

    /// Counts what a reply cost; without tokens, if the request failed.
    pub fn arrived(&mut self, at: usize, price: Option<Price>, tokens: Option<(u64, u64, u64)>) {
        self.under_way.remove(&at);
        let Some((input, cached, output)) = tokens else { return };
        self.longest = self.longest.max(Some(output));
        let cost = price.map_or(0.0, |price| price.cost(input, cached, output));
        self.spent += cost;
        self.new += cost;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_under_way_count_with_the_longest_output_so_far() {
        // A dollar for a token of output.
        let price = Some(Price { input: 0.0, output: 1e6, cached: None });
        let mut budget = Budget::new(Some(2500.0));
        assert!(
            budget.may_send(0, price, 3, None)
                && budget.may_send(1, price, 3, None)
                && !budget.may_send(2, price, 3, None)
                && budget.refused.is_some()
        );
        budget.arrived(0, price, Some((3, 0, 100)));
        assert!(budget.may_send(2, price, 3, None) && budget.refused.is_none());
        budget.arrived(1, price, Some((3, 0, 900)));
        budget.arrived(2, price, None);
        // 1,000 dollars are spent, and 900 are estimated for each request.
        assert!((budget.new - 1000.0).abs() < 1e-9);
        assert!(budget.may_send(3, price, 3, None) && !budget.may_send(4, price, 3, None));
    }

    #[test]
    fn rows_of_earlier_calls_count_and_without_a_limit_all_are_sent() {
        let price = Some(Price { input: 1e6, output: 1e6, cached: Some(0.0) });
        let tokens = [Some((100, 50, 10)), None];
        let fits =
            |price, most| Budget::new(most).with_earlier(price, &tokens).may_send(0, price, 10, Some(5));
        assert!(!fits(price, Some(60.0)) && fits(price, Some(76.0)));
        assert!(fits(price, None) && fits(None, Some(0.0)));
    }

    #[test]
    fn each_request_counts_with_the_price_of_its_model() {
        // A dollar, and ten dollars, for a token of output.
        let [cheap, dear] = [1e6, 1e7].map(|output| Some(Price { input: 0.0, output, cached: None }));
        let mut budget = Budget::new(Some(100.0));
        assert!(budget.may_send(0, cheap, 3, Some(5)) && budget.may_send(1, dear, 3, Some(5)));
        budget.arrived(0, cheap, Some((3, 0, 5)));
        budget.arrived(1, dear, Some((3, 0, 5)));
        assert!((budget.new - 55.0).abs() < 1e-9);
        assert!(!budget.may_send(2, dear, 3, Some(5)) && budget.may_send(2, cheap, 3, Some(5)));
    }
}
