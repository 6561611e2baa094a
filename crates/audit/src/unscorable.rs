//! Which entries of a benchmark a method cannot find: what is too short for it is unscorable by it, never clean.

use std::collections::BTreeMap;

use super::benchmark::Benchmark;
use super::embedding::is_long_enough;
use super::hit::Method;

/// The entries that one method cannot find.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unscorable {
    /// The method.
    pub method: Method,
    /// Their number in each category, in the order of [`Benchmark::categories`].
    pub by_category: Vec<usize>,
}

impl Unscorable {
    /// Their number in all categories.
    pub fn total(&self) -> usize {
        self.by_category.iter().sum()
    }
}

impl Benchmark {
    /// Counts the entries that each method cannot find, because they have no message, function or answer for it, or too short ones. A
    /// nearly equal message is found by some methods even if it is short.
    pub fn unscorable(&self) -> Vec<Unscorable> {
        let mut methods: Vec<u32> = vec![0; self.entries.len()];
        let bit = |method: Method| 1_u32 << method as u32;
        for (entry, found) in self.queries.scorable(&self.thresholds().query) {
            methods[entry as usize] |= found.into_iter().map(bit).fold(0, |all, one| all | one);
        }
        for (entry, _, text) in self.messages() {
            if is_long_enough(text, &self.thresholds().cosine) {
                methods[entry as usize] |= bit(Method::Cosine);
            }
        }
        let of_docs: BTreeMap<u32, Vec<Method>> = self.docs.scorable();
        for (entry, found) in of_docs {
            methods[entry as usize] |= found.into_iter().map(bit).fold(0, |all, one| all | one);
        }
        for entry in self.answers.entries() {
            methods[entry as usize] |= bit(Method::CallValues);
        }
        let count = |method: Method| {
            let mut by_category = vec![0; self.categories.len()];
            for (entry, found) in self.entries.iter().zip(&methods) {
                by_category[entry.category as usize] += usize::from(found & bit(method) == 0);
            }
            Unscorable { method, by_category }
        };
        // Environments are no entries, and a model judges what others found.
        Method::ALL.into_iter().filter(|method| *method != Method::Environment).map(count).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::benchmark::tests::benchmark_of;
    use super::*;

    #[test]
    fn entries_that_are_too_short_for_a_method_are_counted() {
        let benchmark = benchmark_of(&[
            "…",
            "hi",
            "Ring it",
            "Ring it 3 times at Oban",
            "one two three four five six seven eight",
        ]);
        let found: BTreeMap<&str, usize> =
            benchmark.unscorable().iter().map(|counts| (counts.method.name(), counts.total())).collect();
        for (method, expected) in [
            ("exact", 1),
            ("contained", 3),
            ("template", 4),
            ("name-template", 4),
            ("ngram", 4),
            ("ngram-5", 4),
            ("ngram-8", 4),
            ("ngram-13", 5),
            ("longest-match", 4),
            ("words", 4),
            ("rouge-l", 4),
            ("cosine", 3),
            ("name-parameters", 5),
            ("parameters-text", 5),
            ("all-functions", 5),
            ("call-values", 5),
        ] {
            assert_eq!(found[method], expected, "{method}");
        }
        assert_eq!(found.len(), Method::ALL.len() - 1);
    }
}
