//! The normal forms in which two texts are considered equal.

use std::borrow::Cow;

use icu_casemap::CaseMapper;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

/// Returns the text in NFKC and folded case, with each run of whitespace as one space and none at the ends.
pub fn normalise(text: &str) -> String {
    if text.is_ascii() {
        return normalise_ascii(text);
    }
    let folded = fold(text);
    let mut normal = String::with_capacity(folded.len());
    for word in folded.split_whitespace() {
        if !normal.is_empty() {
            normal.push(' ');
        }
        normal.push_str(word);
    }
    normal
}

/// Fast path with the same result: most texts are ASCII and already have normal spacing.
fn normalise_ascii(text: &str) -> String {
    let folded = text.to_ascii_lowercase();
    // The characters below 128 for which `char::is_whitespace` is true.
    let is_blank = |byte: u8| matches!(byte, b'\t'..=b'\r' | b' ');
    let (mut is_even, mut before) = (true, b' ');
    for byte in folded.bytes() {
        is_even &= !(is_blank(byte) && (byte != b' ' || before == b' '));
        before = byte;
    }
    if is_even && !folded.ends_with(' ') {
        return folded;
    }
    let words = folded.split(|c: char| c.is_ascii() && is_blank(c as u8));
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Returns the normal form of a query: [`normalise`], without full stops, question and exclamation marks at its end.
///
/// A query of only such marks keeps them, so that `?` and `!` are different queries.
pub fn normalise_query(text: &str) -> String {
    let mut normal = normalise(text);
    let kept_len = normal.trim_end_matches(['.', '?', '!', ' ']).len();
    if kept_len > 0 {
        normal.truncate(kept_len);
    }
    normal
}

/// Returns a name in a form that ignores spelling: only letters and digits, in lower case. APIs and fixes change dots,
/// underscores and case.
pub fn loose_name(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Returns the text in NFKC and full case folding: `Straße` and `STRASSE` are equal.
///
/// Folding may produce characters that NFKC composes, so NFKC is applied twice.
pub(super) fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let compatible = nfkc(Cow::Borrowed(text));
    nfkc(CaseMapper::new().fold_string(&compatible)).into_owned()
}

/// Returns the text in NFKC; most texts already are, and checking is faster than converting.
fn nfkc(text: Cow<'_, str>) -> Cow<'_, str> {
    match is_nfkc_quick(text.chars()) {
        IsNormalized::Yes => text,
        IsNormalized::No | IsNormalized::Maybe => text.nfkc().collect(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn width_case_and_whitespace_do_not_count() {
        assert_eq!(normalise(" What's\tthe \u{3000} WEATHER\n"), "what's the weather");
        assert_eq!(normalise("Ｗｅａｔｈｅｒ ﬁt ÉTÉ e\u{301}"), "weather fit été é");
        assert_eq!(normalise("ΟΔΟΣ ΣΑΣ Straße"), "οδοσ σασ strasse");
        assert_eq!(normalise(" \n "), "");
    }

    #[test]
    fn a_query_loses_only_the_marks_at_its_end() {
        assert_eq!(normalise_query("Is it 3.5? Or more ?!"), "is it 3.5? or more");
        assert_eq!(normalise_query("Wait…"), "wait");
        assert_eq!(normalise_query("天気は？"), "天気は");
        assert_eq!(normalise_query("?!"), "?!");
        assert_eq!(normalise_query(""), "");
    }

    proptest! {
        #[test]
        fn ascii_is_normalised_like_any_text(text in "[\\x00-\\x7f]*") {
            // A letter that folds only to itself, and is removed again.
            let general = normalise(&format!("{text} é"));
            prop_assert_eq!(normalise(&text), general.trim_end_matches('é').trim_end());
        }

        #[test]
        fn a_normal_form_is_its_own_normal_form(text in any::<String>()) {
            let query = normalise_query(&text);
            prop_assert_eq!(normalise_query(&query), query);
        }
    }
}
