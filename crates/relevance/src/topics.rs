//! The topics of a text, from a list of topics and their words.
//!
//! The list (`configs/topics.txt`) is general; words that are not in it have no topic.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use super::words::content_words;

/// A set of topics, one bit each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Topics(u128);

impl Topics {
    /// Returns the topics of a text.
    pub(super) fn of(text: &str) -> Self {
        let lexicon = &*LEXICON;
        let mut bits = 0;
        for word in content_words(text) {
            bits |= lexicon.of_word.get(&word).copied().unwrap_or_default();
        }
        if !text.is_ascii() {
            let found = lexicon.unspaced.iter().filter(|(word, _)| text.contains(word.as_str()));
            bits |= found.fold(0, |bits, (_, topic)| bits | topic);
        }
        Self(bits)
    }

    pub(super) fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) fn shared(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(super) fn len(self) -> u32 {
        self.0.count_ones()
    }

    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }
}

struct Lexicon {
    /// The topics of each word stem.
    of_word: FxHashMap<String, u128>,
    /// Words of scripts without blanks between words.
    unspaced: Vec<(String, u128)>,
}

static LEXICON: LazyLock<Lexicon> = LazyLock::new(|| {
    let mut lexicon = Lexicon { of_word: FxHashMap::default(), unspaced: Vec::new() };
    for (at, line) in topic_lines().enumerate() {
        let topic = 1_u128 << at;
        for word in line.split_once(':').map_or("", |(_, words)| words).split_whitespace() {
            if word.chars().next().is_some_and(|c| c >= FIRST_UNSPACED) {
                lexicon.unspaced.push((word.to_owned(), topic));
                continue;
            }
            for stem in content_words(word) {
                *lexicon.of_word.entry(stem).or_default() |= topic;
            }
        }
    }
    lexicon
});

/// The first letter of the blocks with Han, Kana and Hangul.
const FIRST_UNSPACED: char = '\u{3000}';

fn topic_lines() -> impl Iterator<Item = &'static str> {
    let lines = include_str!("../../../configs/topics.txt").lines();
    lines.filter(|line| !line.is_empty() && !line.starts_with('#'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_topics_fit_the_bits_and_are_unique() {
        let names: Vec<&str> = topic_lines().map(|line| line.split(':').next().unwrap()).collect();
        let distinct: std::collections::BTreeSet<&&str> = names.iter().collect();
        assert_eq!(distinct.len(), names.len());
        assert!(names.len() <= 128, "{}", names.len());
        assert!(topic_lines().all(|line| line.split_once(": ").is_some_and(|(_, words)| !words.is_empty())));
    }
}
