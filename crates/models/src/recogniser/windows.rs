//! Windows of a long text: each has as many tokens as a model reads well, and the model sees each token with context.

use std::ops::Range;

/// Most tokens of a window. Models are trained on sentences, and find less in long texts.
const MAX_TOKENS: usize = 128;
/// Tokens that two windows share.
const SHARED: usize = 32;

/// A window of a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Window {
    /// Its tokens.
    pub(super) tokens: Range<usize>,
    /// The tokens whose labels are taken from it: each token's are taken from one window.
    pub(super) own: Range<usize>,
}

/// Cuts a text into windows of at most `most` tokens; `word_of` has the number of the word of each token. A window begins
/// with a word, unless the word is longer than half a window.
pub(super) fn windows(word_of: &[Option<u32>], most: usize) -> Vec<Window> {
    let most = most.clamp(1, MAX_TOKENS);
    let shared = SHARED.min(most / 4);
    let n_tokens = word_of.len();
    let mut windows: Vec<Window> = Vec::new();
    let mut start = 0;
    while start < n_tokens {
        let end = n_tokens.min(start + most);
        let own_start = windows.last().map_or(0, |before: &Window| before.own.end);
        if end == n_tokens {
            windows.push(Window { tokens: start..end, own: own_start..end });
            break;
        }
        let least = start + (most / 2).max(1);
        let begins_word = |&at: &usize| word_of[at].is_none() || word_of[at] != word_of[at - 1];
        let next = (least..=end - shared).rev().find(begins_word).unwrap_or(end - shared);
        // Labels in the shared part are taken from the window that has more context before or after them.
        let middle = next + (end - next) / 2;
        let own_end = (next..=middle).rev().find(begins_word).unwrap_or(middle);
        windows.push(Window { tokens: start..end, own: own_start..own_end });
        start = next;
    }
    windows
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_short_text_is_one_window() {
        assert_eq!(windows(&[Some(0), Some(1)], 128), [Window { tokens: 0..2, own: 0..2 }]);
        assert_eq!(windows(&[], 128), []);
    }

    proptest! {
        #[test]
        fn each_token_is_labelled_once_by_a_window_that_has_it(
            lengths in prop::collection::vec(1_usize..40, 0..60), most in 1_usize..200
        ) {
            let word_of: Vec<Option<u32>> =
                lengths.iter().zip(0..).flat_map(|(&n, word)| std::iter::repeat_n(Some(word), n)).collect();
            let windows = windows(&word_of, most);
            let mut done = 0;
            for window in &windows {
                prop_assert!(window.tokens.len() <= most.min(MAX_TOKENS));
                prop_assert_eq!(window.own.start, done);
                prop_assert!(window.tokens.start <= window.own.start && window.own.end <= window.tokens.end);
                done = window.own.end;
            }
            prop_assert_eq!(done, word_of.len());
        }
    }
}
