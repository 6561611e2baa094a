//! Requests that are one although a word differs: one of them has a typing error, or their recorded calls are equal.
//!
//! A typing error is assumed only in a word that no other request of the group and no doc has (`text::typos`), and never
//! against different recorded calls.

use rustc_hash::{FxHashMap, FxHashSet};

use super::ComparedRequest;
use crate::content_hash::content_hash;
use crate::engine::vocabulary::RowIx;
use crate::text::typos::{are_a_typo_apart, is_typo_of_a_free_word};

/// Whether some questions may be a typing error apart: two of them are equal without one word of each, or one has a word more.
///
/// Cheaper than the search for the pairs, and never false where that finds one.
pub(super) fn may_have_some<'r>(mut requests: impl Iterator<Item = &'r ComparedRequest>) -> bool {
    let mut rests: FxHashSet<u128> = FxHashSet::default();
    requests.any(|request| {
        let words = &request.typo_words;
        let of_request: FxHashSet<u128> = words
            .without_each()
            .map(|(_, rest)| content_hash(rest))
            .chain([content_hash(words.joined()), content_hash(words.without_marks().0)])
            .collect();
        let is_shared = of_request.iter().any(|rest| rests.contains(rest));
        rests.extend(of_request);
        is_shared
    })
}

/// Requests of one group in the order in which they lead, with everything that their words are compared with.
pub(super) struct Group<'a> {
    /// All requests of the group that are not equal to an earlier one.
    pub(super) requests: &'a [&'a (RowIx, ComparedRequest)],
    /// The words of the docs of the list.
    pub(super) docs: &'a FxHashSet<String>,
}

/// Questions with the same other words of which all pairs are compared; more are compared if they share all letters but one.
const MOST_COMPARED: usize = 200;

impl Group<'_> {
    /// Returns the pairs of places in the group that are a typing error apart, the earlier one first.
    ///
    /// Only places in `open` are compared.
    pub(super) fn typos(&self, open: &[usize]) -> Vec<(usize, usize)> {
        let mut n_having: FxHashMap<&str, usize> = FxHashMap::default();
        for (_, request) in self.requests {
            // They are sorted.
            let mut words: Vec<&str> = request.typo_words.words().collect();
            words.dedup();
            for word in words {
                *n_having.entry(word).or_default() += 1;
            }
        }
        let is_unknown = |word: &str| n_having.get(word).is_none_or(|n| *n < 2) && !self.docs.contains(word);
        let mut by_rest: FxHashMap<u128, Vec<(usize, &str)>> = FxHashMap::default();
        for &at in open {
            for (word, rest) in self.requests[at].1.typo_words.without_each() {
                by_rest.entry(content_hash(rest)).or_default().push((at, word));
            }
            // A word of grammar with an error is a word more.
            let whole = self.requests[at].1.typo_words.joined();
            by_rest.entry(content_hash(whole)).or_default().push((at, ""));
        }
        let mut pairs: Vec<(usize, usize)> = Vec::new();
        for words in by_rest.into_values().filter(|words| words.len() > 1) {
            let mut add = |(one, a): (usize, &str), (other, b): (usize, &str)| {
                let is_one = match (a, b) {
                    ("", "") => false,
                    ("", word) | (word, "") => is_unknown(word) && is_typo_of_a_free_word(word),
                    (a, b) => (is_unknown(a) || is_unknown(b)) && are_a_typo_apart(a, b),
                };
                if one != other && is_one && self.may_be_one(one, other, [a, b]) {
                    pairs.push((one.min(other), one.max(other)));
                }
            };
            if words.len() <= MOST_COMPARED {
                for (nth, &one) in words.iter().enumerate() {
                    words[nth + 1..].iter().for_each(|&other| add(one, other));
                }
            } else {
                for near in sharing_all_but_one(&words) {
                    add(near.0, near.1);
                }
            }
        }
        self.add_without_marks(open, &mut pairs);
        pairs.sort_unstable();
        pairs.dedup();
        pairs
    }

    /// Adds the pairs of which one question was typed without the marks of the other's letters.
    fn add_without_marks(&self, open: &[usize], pairs: &mut Vec<(usize, usize)>) {
        let mut by_bare: FxHashMap<String, Vec<(usize, bool)>> = FxHashMap::default();
        for &at in open {
            let (bare, has_none) = self.requests[at].1.typo_words.without_marks();
            by_bare.entry(bare).or_default().push((at, has_none));
        }
        for equal in by_bare.into_values().filter(|equal| (2..=MOST_COMPARED).contains(&equal.len())) {
            for (nth, &(one, has_none)) in equal.iter().enumerate() {
                let others =
                    equal[nth + 1..].iter().filter(|(_, other_has_none)| *other_has_none != has_none);
                pairs.extend(
                    others
                        .map(|&(other, _)| (one.min(other), one.max(other)))
                        .filter(|&(one, other)| self.may_be_one(one, other, ["", ""])),
                );
            }
        }
    }

    /// Whether nothing that was recorded keeps two requests apart.
    fn may_be_one(&self, one: usize, other: usize, words: [&str; 2]) -> bool {
        let [one, other] = [one, other].map(|at| &self.requests[at].1);
        if !one.has_context_of(other) {
            return false;
        }
        if one.calls.is_some() && one.calls == other.calls {
            return true;
        }
        let is_value = |request: &ComparedRequest, word: &str| {
            !word.is_empty() && request.values.iter().any(|value| value.contains(word))
        };
        (one.calls.is_none() || other.calls.is_none())
            && !is_value(one, words[0])
            && !is_value(other, words[1])
            && !is_value(one, words[1])
            && !is_value(other, words[0])
    }
}

/// A word, and the place of its request.
type PlacedWord<'w> = (usize, &'w str);

/// Pairs of words that are equal without one letter of each.
fn sharing_all_but_one<'w>(words: &[PlacedWord<'w>]) -> Vec<(PlacedWord<'w>, PlacedWord<'w>)> {
    let mut by_letters: FxHashMap<String, Vec<PlacedWord<'w>>> = FxHashMap::default();
    for &(at, word) in words {
        let mut forms: Vec<String> = vec![word.to_owned()];
        for (from, letter) in word.char_indices() {
            forms.push(format!("{}{}", &word[..from], &word[from + letter.len_utf8()..]));
        }
        forms.sort_unstable();
        forms.dedup();
        for form in forms {
            by_letters.entry(form).or_default().push((at, word));
        }
    }
    let mut pairs = Vec::new();
    for near in by_letters.into_values().filter(|near| (2..=MOST_COMPARED).contains(&near.len())) {
        for (nth, &one) in near.iter().enumerate() {
            pairs.extend(near[nth + 1..].iter().map(|&other| (one, other)));
        }
    }
    pairs
}

/// Whether a query has a value; one of a single character as a word of its own.
fn has_value(query: &str, value: &str) -> bool {
    if value.chars().count() > 1 {
        return query.contains(value);
    }
    query.split(|c: char| !c.is_alphanumeric()).any(|word| word == value)
}

/// Whether two requests with equal recorded calls are one task: both contain a value of the calls.
pub(super) fn share_a_value(one: &ComparedRequest, other: &ComparedRequest) -> bool {
    one.calls.is_some()
        && one.calls == other.calls
        && one.values.iter().any(|value| has_value(&one.query, value) && has_value(&other.query, value))
}
