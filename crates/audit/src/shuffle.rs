//! The false positives that chance alone gives: messages whose words are shuffled across all of them.
//!
//! A shuffled message has the words of the training set as often, and the length of a real message, but asks nothing that
//! anybody wrote. What the methods call contaminated among such messages is contaminated by chance.

use rayon::prelude::*;
use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::benchmark::{Benchmark, verdict};
use super::hit::Verdict;
use super::item::Item;
use super::scope::Scope;
use callsieve_engine::context::Cancelled;
use callsieve_text::figures::wilson;

/// The name of the note about it.
pub const SHUFFLE_NOTE: &str = "clean_shuffle";

/// The most messages that are shuffled.
pub const MAX_MESSAGES: usize = 2_000;

/// Fewest words, between blanks, of a message that is shuffled. One of a script without blanks would stay as it is.
const FEWEST_WORDS: usize = 3;

/// What was found among shuffled messages.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CleanShuffle {
    /// Shuffled messages.
    pub messages: usize,
    /// Those that are called contaminated.
    pub contaminated: usize,
    /// Those that are called suspect.
    pub suspect: usize,
    /// Wilson 95 % interval of the share that is called contaminated.
    pub interval: (f64, f64),
}

impl CleanShuffle {
    /// Shuffles the words of different messages, and compares them with a benchmark; `None` if the user asked to stop. The same
    /// messages give the same result.
    pub fn of(texts: &[String], benchmark: &Benchmark, cancelled: Cancelled<'_>) -> Option<Self> {
        let compared = shuffled(texts).into_par_iter().with_max_len(1).map(|text| {
            let item = Item { queries: vec![text], ..Item::default() };
            let verdict = verdict(&benchmark.hits_in(&item, Scope::all(cancelled)), true);
            (!cancelled()).then_some(verdict)
        });
        let verdicts: Vec<Verdict> = compared.collect::<Option<_>>()?;
        let n_of = |wanted| verdicts.iter().filter(|verdict| **verdict == wanted).count();
        let (messages, contaminated) = (verdicts.len(), n_of(Verdict::Contaminated));
        let interval = wilson(contaminated, messages);
        Some(Self { messages, contaminated, suspect: n_of(Verdict::Suspect), interval })
    }
}

/// Returns messages of the same lengths, each different text once, with the words of all in another order.
fn shuffled(texts: &[String]) -> Vec<String> {
    let mut seen = FxHashSet::default();
    let messages: Vec<Vec<&str>> = texts
        .iter()
        .filter(|text| seen.insert(text.as_str()))
        .map(|text| text.split_whitespace().collect())
        .filter(|words: &Vec<&str>| words.len() >= FEWEST_WORDS)
        .collect();
    let mut words: Vec<(u64, usize, &str)> = messages
        .iter()
        .flatten()
        .enumerate()
        .map(|(at, word)| (xxh3_64_with_seed(word.as_bytes(), at as u64), at, *word))
        .collect();
    words.sort_unstable();
    let mut rest = words.iter().map(|(_, _, word)| *word);
    messages.iter().map(|message| rest.by_ref().take(message.len()).collect::<Vec<_>>().join(" ")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shuffled_messages_have_all_words_and_the_lengths_of_the_messages() {
        let texts =
            ["Ring the bell.", "Which lamps burn?", "Ring the bell.", "", "哪些灯亮着？"].map(str::to_owned);
        let mixed = shuffled(&texts);
        let lengths: Vec<usize> = mixed.iter().map(|text| text.split_whitespace().count()).collect();
        assert_eq!(lengths, [3, 3]);
        let sorted = |texts: &[String]| {
            let mut words: Vec<String> =
                texts.iter().flat_map(|text| text.split_whitespace().map(str::to_owned)).collect();
            words.sort();
            words
        };
        assert_eq!(sorted(&mixed), sorted(&texts[..2]));
        assert_ne!(mixed, texts[..2]);
        assert_eq!(mixed, shuffled(&texts));
    }
}
