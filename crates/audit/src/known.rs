//! The functions that a benchmark calls or offers, by name: so the calls of a row are read wherever they stand in a text, and
//! known behind the prefix of a server.

use rustc_hash::FxHashMap;

use super::item::ItemCall;
use callsieve_answers::written::written_calls;
use callsieve_docs::signature::Signature;
use callsieve_text::normal::loose_name;

/// The most orders of parameters that are known of a name.
const MOST_ORDERS: usize = 4;
/// Letters of a name behind a prefix; a shorter one is behind any.
const MIN_LETTERS: usize = 5;
/// The most parts of a name that may be the prefix of a server.
const MOST_PREFIXES: usize = 12;
/// The most bytes of a name.
const MOST_OF_A_NAME: usize = 200;
/// What may stand between the prefix of a server and a name.
const SEPARATORS: &[char] = &['-', '_', '.', '/', ':'];

/// Names of functions in a form that ignores spelling, each with the orders of its parameters.
#[derive(Debug, Default)]
pub(super) struct KnownFunctions {
    orders: FxHashMap<String, Vec<Vec<String>>>,
}

impl KnownFunctions {
    /// Adds a function that is offered.
    pub(super) fn add(&mut self, function: &Signature) {
        self.add_order(&function.name, function.parameters.iter().map(|it| it.name.clone()).collect());
    }

    /// Adds the function of a call; its docs, which come first, know the order of its parameters.
    pub(super) fn add_called(&mut self, call: &ItemCall) {
        if !self.orders.contains_key(&loose_name(&call.name)) {
            self.add_order(&call.name, call.arguments.iter().map(|(name, _)| name.clone()).collect());
        }
    }

    fn add_order(&mut self, name: &str, order: Vec<String>) {
        let name = loose_name(name);
        if name.is_empty() {
            return;
        }
        let orders = self.orders.entry(name).or_default();
        if orders.len() < MOST_ORDERS && !orders.contains(&order) {
            orders.push(order);
        }
    }

    /// Returns the name of a function in the form that ignores spelling: as it is, or without the prefix of a server if only that
    /// is known (`ferries-live_times`).
    pub(super) fn resolve(&self, name: &str) -> String {
        let whole = loose_name(name);
        if self.orders.contains_key(&whole) || name.len() > MOST_OF_A_NAME {
            return whole;
        }
        // What follows a separator is, in this form, the end of the whole name.
        let (mut n_prefixes, mut start) = (0, 0);
        for c in name.chars() {
            if SEPARATORS.contains(&c) {
                let rest = &whole[start..];
                if rest.chars().take(MIN_LETTERS).count() == MIN_LETTERS && self.orders.contains_key(rest) {
                    return rest.to_owned();
                }
                n_prefixes += 1;
                if n_prefixes == MOST_PREFIXES {
                    break;
                }
            } else if c.is_alphanumeric() {
                start += c.to_lowercase().map(char::len_utf8).sum::<usize>();
            }
        }
        whole
    }

    /// Reads the calls of known functions in a text.
    pub(super) fn calls_in(&self, text: &str) -> Vec<ItemCall> {
        let orders = |name: &str| {
            let is_name = name.len() <= MOST_OF_A_NAME;
            is_name.then(|| self.orders.get(&self.resolve(name)).map(Vec::as_slice)).flatten()
        };
        written_calls(text, &orders).iter().filter_map(ItemCall::of_call).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Resolves a name by folding what follows each separator.
    fn resolved(known: &KnownFunctions, name: &str) -> String {
        let whole = loose_name(name);
        if known.orders.contains_key(&whole) || name.len() > MOST_OF_A_NAME {
            return whole;
        }
        let ends = name.char_indices().filter(|(_, c)| SEPARATORS.contains(c)).take(MOST_PREFIXES);
        let mut rests = ends.map(|(at, _)| loose_name(&name[at..]));
        let is_known = |rest: &String| rest.chars().count() >= MIN_LETTERS && known.orders.contains_key(rest);
        rests.find(is_known).unwrap_or(whole)
    }

    proptest! {
        #[test]
        fn a_name_is_known_behind_any_prefix(
            names in prop::collection::vec("[aİßB_]{1,6}", 1..6),
            prefix in "[aİB_./:-]{0,30}",
            at in any::<prop::sample::Index>(),
        ) {
            let mut known = KnownFunctions::default();
            for name in &names {
                known.add_order(name, Vec::new());
            }
            for name in [format!("{prefix}{}", at.get(&names)), format!("{prefix}_{}", at.get(&names)), prefix] {
                prop_assert_eq!(known.resolve(&name), resolved(&known, &name), "{}", name);
            }
        }
    }

    #[test]
    fn a_short_name_is_not_known_behind_a_prefix() {
        let mut known = KnownFunctions::default();
        known.add_order("live_times", Vec::new());
        known.add_order("ring", Vec::new());
        assert_eq!(known.resolve("ferries-live_times"), "livetimes");
        assert_eq!(known.resolve("bells-ring"), "bellsring");
    }
}
