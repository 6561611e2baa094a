//! Words that fill a template.

use rustc_hash::{FxHashMap, FxHashSet};
use xxhash_rust::xxh3::xxh3_64;

/// The fewest different words at one place of a text that make it a slot.
const FEWEST_WORDS: usize = 5;

/// Returns for each form a number, equal for forms that are equal but for a word at one place at which at least five
/// different words are.
///
/// Forms are texts without their numbers and names, in any order; the result for a form does not depend on the order.
pub fn with_word_slots(forms: &[&str]) -> Vec<u64> {
    let words: Vec<Vec<&str>> = forms.iter().map(|form| form.split_whitespace().collect()).collect();
    let mut fillings: FxHashMap<u64, FxHashSet<&str>> = FxHashMap::default();
    for words in &words {
        for (at, word) in words.iter().enumerate() {
            fillings.entry(without(words, at)).or_default().insert(word);
        }
    }
    let number = |(form, words): (&&str, &Vec<&str>)| {
        let slot = (0..words.len())
            .map(|at| without(words, at))
            .map(|slot| (fillings[&slot].len(), slot))
            .filter(|(n_words, _)| *n_words >= FEWEST_WORDS)
            .max();
        slot.map_or_else(|| xxh3_64(form.as_bytes()), |(_, slot)| slot)
    };
    forms.iter().zip(&words).map(number).collect()
}

/// The hash of the words without one.
fn without(words: &[&str], at: usize) -> u64 {
    let others = words.iter().enumerate().map(|(other, word)| if other == at { "\u{0}" } else { word });
    xxh3_64(others.collect::<Vec<&str>>().join(" ").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_with_many_words_is_a_slot() {
        let forms = [
            "water the ferns in bay {}",
            "water the roses in bay {}",
            "water the tulips in bay {}",
            "water the lilies in bay {}",
            "water the herbs in bay {}",
            "drain the ferns in bay {}",
        ];
        let numbers = with_word_slots(&forms);
        assert!(numbers[..5].iter().all(|number| *number == numbers[0]));
        assert_ne!(numbers[5], numbers[0]);
        assert_eq!(with_word_slots(&forms[..4]).iter().collect::<FxHashSet<_>>().len(), 4);
        assert_eq!(with_word_slots(&["", " "]).len(), 2);
    }
}
