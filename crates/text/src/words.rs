//! Words in every script.
//!
//! Words are those of UAX #29 with a letter or a digit. In scripts without spaces between words, word boundaries would
//! need a dictionary, so each grapheme is a token.

use unicode_segmentation::UnicodeSegmentation;

use super::normal::fold;

/// Calls `f` with each word of a text, in folded case.
pub fn for_each_word(text: &str, f: impl FnMut(&str)) {
    for_each_word_of_folded(&fold(text), f);
}

/// Calls `f` with each part of a text's words between punctuation inside a word, in folded case.
///
/// UAX #29 keeps an apostrophe, a full stop and a low line inside a word: `don't`, `v1.5`, `get_it`.
pub(super) fn for_each_part(text: &str, mut f: impl FnMut(&str)) {
    for_each_word_of_folded(&fold(text), |word| {
        if word.chars().all(char::is_alphanumeric) {
            return f(word);
        }
        // A mark belongs to its letter, so the text is split into graphemes.
        let mut start = 0;
        for (at, grapheme) in word.grapheme_indices(true) {
            if !grapheme.contains(char::is_alphanumeric) {
                emit_if_any(&word[start..at], &mut f);
                start = at + grapheme.len();
            }
        }
        emit_if_any(&word[start..], &mut f);
    });
}

fn emit_if_any(token: &str, f: &mut impl FnMut(&str)) {
    if !token.is_empty() {
        f(token);
    }
}

fn for_each_word_of_folded(text: &str, mut f: impl FnMut(&str)) {
    let mut emit = |token: &str| {
        if token.contains(char::is_alphanumeric) {
            f(token);
        }
    };
    for word in text.unicode_words() {
        if !word.contains(is_unspaced) {
            emit(word);
            continue;
        }
        let mut start = 0;
        for (at, grapheme) in word.grapheme_indices(true) {
            if grapheme.starts_with(is_unspaced) {
                emit(&word[start..at]);
                emit(grapheme);
                start = at + grapheme.len();
            }
        }
        emit(&word[start..]);
    }
}

/// Returns true if the character's script has no spaces between words. The ranges are whole blocks, as other characters
/// than letters and digits are not tokens.
pub fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{0E00}'..='\u{0EFF}'     // Thai, Lao
        | '\u{1000}'..='\u{109F}'   // Myanmar
        | '\u{1780}'..='\u{17FF}'   // Khmer
        | '\u{2E80}'..='\u{2FDF}'   // Han radicals
        | '\u{3005}'..='\u{3007}' | '\u{3021}'..='\u{3029}' | '\u{3038}'..='\u{303B}' // Han marks, Hangzhou numerals
        | '\u{3041}'..='\u{30FF}' | '\u{31F0}'..='\u{31FF}' // Hiragana, Katakana
        | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' // Han
        | '\u{A9E0}'..='\u{A9FF}' | '\u{AA60}'..='\u{AA7F}' // Myanmar
        | '\u{F900}'..='\u{FAFF}'   // Han
        | '\u{1AFF0}'..='\u{1B16F}' // Kana
        | '\u{20000}'..='\u{3FFFD}' // Han
    )
}
