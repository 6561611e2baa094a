//! Texts as sequences of tokens.
//!
//! Google's tokenizer, with which published ROUGE figures are computed, reads only ASCII letters and digits: a Chinese
//! text has no tokens and scores 0 even against itself. The Unicode tokenizer supports every script. A
//! [`Profile`](super::profile::Profile) chooses the tokenizer for two texts.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::words::for_each_part;

/// A way to split a text into tokens. The names are versioned: the result for a name never changes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Tokenizer {
    /// As Google's `rouge-score` 0.1.2 without its stemmer: runs of `a-z0-9` in the lower-cased text.
    #[default]
    #[serde(rename = "rouge-score-v1")]
    Rouge,
    /// As Google's `rouge-score` 0.1.2 with its stemmer: tokens of more than three characters lose their ending by the
    /// Porter stemmer of NLTK.
    #[serde(rename = "rouge-score-stemmed-v1")]
    RougeStemmed,
    /// Words of UAX #29 with a letter or a digit, after NFKC and full case folding, split at punctuation inside a word
    /// as by Google's tokenizer (`don't`, `get_it`). Scripts without spaces between words (Han, Hiragana, Katakana,
    /// Thai, Lao, Khmer, Myanmar) have one token per grapheme.
    #[serde(rename = "unicode-v2")]
    Unicode,
}

impl Tokenizer {
    /// All tokenizers.
    pub const ALL: [Self; 3] = [Self::Rouge, Self::RougeStemmed, Self::Unicode];

    /// Returns the name in settings and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rouge => "rouge-score-v1",
            Self::RougeStemmed => "rouge-score-stemmed-v1",
            Self::Unicode => "unicode-v2",
        }
    }

    /// Calls `f` with each token of the text, in order.
    pub fn for_each_token(self, text: &str, mut f: impl FnMut(&str)) {
        match self {
            Self::Rouge => for_each_ascii_run(text, f),
            Self::RougeStemmed => {
                rougers::Tokenizer::new(true).tokenize(text).iter().for_each(|token| f(token));
            }
            Self::Unicode => for_each_part(text, f),
        }
    }
}

impl fmt::Display for Tokenizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Tokenizer {
    type Err = UnknownTokenizer;

    fn from_str(name: &str) -> Result<Self, UnknownTokenizer> {
        let found = Self::ALL.into_iter().find(|tokenizer| tokenizer.name() == name);
        found.ok_or_else(|| UnknownTokenizer { name: name.to_owned() })
    }
}

/// A name without a tokenizer.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("unknown tokenizer {name:?}, expected {}", expected())]
pub struct UnknownTokenizer {
    /// The name as given.
    pub name: String,
}

/// The name in settings that lets the texts decide.
pub(super) const AUTO: &str = "auto";

/// Returns all valid names in settings.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    std::iter::once(AUTO).chain(Tokenizer::ALL.map(Tokenizer::name))
}

/// Returns the valid names in settings, quoted.
fn expected() -> String {
    let names: Vec<String> = names().map(|name| format!("{name:?}")).collect();
    names.join(", ")
}

fn for_each_ascii_run(text: &str, mut f: impl FnMut(&str)) {
    let lower = if text.is_ascii() { text.to_ascii_lowercase() } else { text.to_lowercase() };
    let bytes = lower.as_bytes();
    let mut at = 0;
    while let Some(start) = bytes[at..].iter().position(u8::is_ascii_alphanumeric).map(|n| at + n) {
        let len = bytes[start..].iter().position(|byte| !byte.is_ascii_alphanumeric());
        at = len.map_or(bytes.len(), |len| start + len);
        f(&lower[start..at]);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::normal::normalise;

    fn tokens(tokenizer: Tokenizer, text: &str) -> Vec<String> {
        let mut tokens = Vec::new();
        tokenizer.for_each_token(text, |token| tokens.push(token.to_owned()));
        tokens
    }

    #[test]
    fn rouge_tokens_are_runs_of_ascii_letters_and_digits() {
        for (text, expected) in [
            ("don't_get-it9", vec!["don", "t", "get", "it9"]),
            ("getUserName {\"a\": 1.5}", vec!["getusername", "a", "1", "5"]),
            ("naïve café", vec!["na", "ve", "caf"]),
            ("获取天气 v2 １２", vec!["v2"]),
            ("\u{0130}stanbul 5\u{212A}", vec!["i", "stanbul", "5k"]),
            (" ,; ", vec![]),
        ] {
            assert_eq!(tokens(Tokenizer::Rouge, text), expected, "{text}");
        }
    }

    #[test]
    fn stems_are_those_of_google_with_its_stemmer() {
        // Computed with rouge-score 0.1.2 and use_stemmer=True.
        let stems =
            tokens(Tokenizer::RougeStemmed, "The skies were dying; ladies booking generically, sing9 oats");
        assert_eq!(stems, ["the", "sky", "were", "die", "ladi", "book", "gener", "sing9", "oat"]);
    }

    #[test]
    fn unicode_tokens_are_words_or_graphemes_by_script() {
        for (text, expected) in [
            ("Don't get_it v1.5!", vec!["don", "t", "get", "it", "v1", "5"]),
            ("Straße STRASSE ＣＡＦÉ", vec!["strasse", "strasse", "café"]),
            ("ΟΔΟΣ οδός", vec!["οδοσ", "οδόσ"]),
            ("获取天气 v2", vec!["获", "取", "天", "气", "v2"]),
            ("東京タワー・ひ", vec!["東", "京", "タ", "ワ", "ー", "ひ"]),
            ("날씨 확인", vec!["날씨", "확인"]),
            ("วันนี้", vec!["วั", "น", "นี้"]),
            ("タ_ab cd_タ", vec!["タ", "ab", "cd", "タ"]),
            // A letter that combines with the preceding character.
            (" \u{1E008}", vec![" \u{1E008}"]),
            ("… — !", vec![]),
        ] {
            assert_eq!(tokens(Tokenizer::Unicode, text), expected, "{text}");
        }
    }

    #[test]
    fn names_are_parsed() {
        for tokenizer in Tokenizer::ALL {
            assert_eq!(tokenizer.to_string().parse(), Ok(tokenizer));
            assert_eq!(serde_json::to_value(tokenizer).unwrap(), tokenizer.name());
        }
        let error = "rouge".parse::<Tokenizer>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "unknown tokenizer \"rouge\", expected \"auto\", \"rouge-score-v1\", \"rouge-score-stemmed-v1\", \"unicode-v2\""
        );
    }

    proptest! {
        #[test]
        fn rouge_tokens_are_those_of_an_independent_implementation(text in "[a-cA-C0-9 _.é天İK\n-]{0,30}|\\PC*") {
            prop_assert_eq!(tokens(Tokenizer::Rouge, &text), rougers::Tokenizer::new(false).tokenize(&text));
        }

        #[test]
        fn words_of_spaced_scripts_are_those_of_an_independent_implementation(
            text in "[a-cA-C0-9 _.,:'éßİΣσςﬁЖж가\n-]{0,30}"
        ) {
            let expected = rougers::Tokenizer::unicode().tokenize(&text);
            let is_sign = |c: char| matches!(c, '_' | '.' | ',' | ':' | '\'');
            let expected: Vec<&str> =
                expected.iter().flat_map(|word| word.split(is_sign)).filter(|part| !part.is_empty()).collect();
            prop_assert_eq!(tokens(Tokenizer::Unicode, &text), expected);
        }

        #[test]
        fn every_text_with_letters_has_unicode_tokens(text in any::<String>()) {
            // A symbol may decompose to letters: 🉐 is 得.
            let has_letters = normalise(&text).contains(char::is_alphanumeric);
            prop_assert_eq!(!tokens(Tokenizer::Unicode, &text).is_empty(), has_letters);
        }
    }
}
