//! Words that fill a template.

use rustc_hash::{FxHashMap, FxHashSet};
use xxhash_rust::xxh3::xxh3_64;

/// The fewest different words at one place of a text that make it a slot.
const FEWEST_WORDS: usize = 5;

/// The most words of a text that is searched for slots; a longer one, such as a message with pasted docs, is its own template.
const MOST_WORDS: usize = 60;

/// The template of a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slotted {
    /// A number, equal for forms of one template.
    pub template: u64,
    /// The word of the form that fills a slot, counted from 0.
    pub slot: Option<usize>,
}

/// Returns for each form its template: a number, equal for forms that are equal but for a word at one place at which at least five
/// different words are.
///
/// Forms are texts without their numbers and names, in any order; the result for a form does not depend on the order.
pub fn with_word_slots(forms: &[&str]) -> Vec<Slotted> {
    let mut words: Vec<Vec<&str>> =
        forms.iter().map(|form| form.split_whitespace().take(MOST_WORDS + 1).collect()).collect();
    for words in words.iter_mut().filter(|words| words.len() > MOST_WORDS) {
        words.clear();
    }
    let mut fillings: FxHashMap<u64, FxHashSet<&str>> = FxHashMap::default();
    for words in &words {
        for (at, word) in words.iter().enumerate() {
            fillings.entry(without(words, at)).or_default().insert(word);
        }
    }
    let number = |(form, words): (&&str, &Vec<&str>)| {
        let slot = (0..words.len())
            .map(|at| (without(words, at), at))
            .map(|(template, at)| (fillings[&template].len(), template, at))
            .filter(|(n_words, ..)| *n_words >= FEWEST_WORDS)
            .max();
        match slot {
            Some((_, template, at)) => Slotted { template, slot: Some(at) },
            None => Slotted { template: xxh3_64(form.as_bytes()), slot: None },
        }
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
        let slotted = with_word_slots(&forms);
        assert_eq!((slotted[0].slot, slotted[5].slot), (Some(2), None));
        let numbers: Vec<u64> = slotted.iter().map(|slotted| slotted.template).collect();
        assert!(numbers[..5].iter().all(|number| *number == numbers[0]));
        assert_ne!(numbers[5], numbers[0]);
        let of_four = with_word_slots(&forms[..4]);
        assert_eq!(of_four.iter().map(|slotted| slotted.template).collect::<FxHashSet<_>>().len(), 4);
        assert_eq!(with_word_slots(&["", " "]).len(), 2);
    }
}
