//! Texts as sequences of tokens, and tokens as small numbers.
//!
//! Google's tokenizer, the default, sees ASCII letters and digits only: a Chinese
//! text has no tokens and scores 0 even against itself. Such a text is cut by the
//! Unicode tokenizer instead, and [`Tokenizer::for_text`] tells which one it was, so
//! that nobody reads that 0 as a finding.

use std::fmt;
use std::str::FromStr;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use unicode_segmentation::UnicodeSegmentation;

use super::normal::fold;

/// How a text is cut into tokens. The names are versioned: what stands under one never changes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Tokenizer {
    /// As Google's `rouge-score` 0.1.2 without its stemmer: runs of `a-z0-9` in the lower-cased text.
    #[default]
    #[serde(rename = "rouge-score-v1")]
    Rouge,
    /// Words of UAX #29 that hold a letter or a digit, after NFKC and lower case. Scripts that put no space
    /// between words (Han, Hiragana, Katakana, Thai, Lao, Khmer, Myanmar) give one token a grapheme.
    #[serde(rename = "unicode-v1")]
    Unicode,
}

/// One letter in so many may be unseen by the ASCII tokenizer: a name with an accent, a currency.
const UNSEEN_SHARE: usize = 5;

impl Tokenizer {
    /// The name in settings and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rouge => "rouge-score-v1",
            Self::Unicode => "unicode-v1",
        }
    }

    /// The tokenizer a text needs: [`Rouge`](Self::Rouge), or [`Unicode`](Self::Unicode) where that one finds
    /// nothing in a text that has letters or digits.
    pub fn for_text(text: &str) -> Self {
        let mut has_letters = false;
        for c in text.chars() {
            if c.to_lowercase().any(|lower| lower.is_ascii_alphanumeric()) {
                return Self::Rouge;
            }
            has_letters |= c.is_alphanumeric();
        }
        if has_letters { Self::Unicode } else { Self::Rouge }
    }

    /// The tokenizer for a short text that a person wrote, such as a query: [`Unicode`](Self::Unicode) as soon
    /// as more than a few of its letters are some that [`Rouge`](Self::Rouge) does not see. Two such texts may
    /// share a number and nothing else, and would be equal by that number alone.
    pub fn for_query(text: &str) -> Self {
        let (mut seen, mut unseen) = (0_usize, 0_usize);
        for c in text.chars().filter(|c| c.is_alphanumeric()) {
            *(if c.is_ascii() { &mut seen } else { &mut unseen }) += 1;
        }
        if unseen * UNSEEN_SHARE > seen + unseen { Self::Unicode } else { Self::Rouge }
    }

    /// Calls `f` with each token of the text, in order.
    pub fn for_each_token(self, text: &str, f: impl FnMut(&str)) {
        match self {
            Self::Rouge => for_each_ascii_run(&text.to_lowercase(), f),
            Self::Unicode => for_each_word(&fold(text), f),
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
        let found = [Self::Rouge, Self::Unicode].into_iter().find(|tokenizer| tokenizer.name() == name);
        found.ok_or_else(|| UnknownTokenizer { name: name.to_owned() })
    }
}

/// A name no tokenizer has.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("unknown tokenizer {name:?}, expected \"rouge-score-v1\" or \"unicode-v1\"")]
pub struct UnknownTokenizer {
    /// The name as given.
    pub name: String,
}

/// Numbers for tokens, in the order they were first seen.
///
/// Numbers of one vocabulary compare; numbers of two do not.
#[derive(Debug, Default)]
pub struct Vocabulary {
    ids: FxHashMap<Box<str>, u32>,
}

impl Vocabulary {
    /// A vocabulary without tokens.
    pub fn new() -> Self {
        Self::default()
    }

    /// Distinct tokens so far; every number is below it.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether no token was seen yet.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// The numbers of a text's tokens, cut by the [tokenizer it needs](Tokenizer::for_text).
    pub fn encode_default(&mut self, text: &str) -> Vec<u32> {
        self.encode(Tokenizer::for_text(text), text)
    }

    /// The numbers of a query's tokens, cut by the [tokenizer for queries](Tokenizer::for_query).
    pub fn encode_query(&mut self, query: &str) -> Vec<u32> {
        self.encode(Tokenizer::for_query(query), query)
    }

    /// The numbers of a text's tokens.
    ///
    /// # Panics
    /// With more than 2³² distinct tokens.
    pub fn encode(&mut self, tokenizer: Tokenizer, text: &str) -> Vec<u32> {
        let mut encoded = Vec::new();
        tokenizer.for_each_token(text, |token| encoded.push(self.id(token)));
        encoded
    }

    fn id(&mut self, token: &str) -> u32 {
        if let Some(&id) = self.ids.get(token) {
            return id;
        }
        let id = u32::try_from(self.ids.len()).expect("no machine holds 2³² distinct tokens");
        self.ids.insert(token.into(), id);
        id
    }
}

fn for_each_ascii_run(text: &str, mut f: impl FnMut(&str)) {
    for run in text.split(|c: char| !c.is_ascii_alphanumeric()) {
        if !run.is_empty() {
            f(run);
        }
    }
}

fn for_each_word(text: &str, mut f: impl FnMut(&str)) {
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

/// Whether the character's script puts no space between words. Whole blocks, since what is neither letter nor
/// digit makes no token.
pub(crate) fn is_unspaced(c: char) -> bool {
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

#[cfg(test)]
mod tests {
    #[test]
    fn queries_that_share_only_a_number_are_not_equal() {
        let mut vocabulary = Vocabulary::new();
        let one = vocabulary.encode_query("请在3号房间浇花");
        let other = vocabulary.encode_query("帮我预订3张电影票");
        assert!(one.len() > 5 && one != other);
        assert_eq!(Tokenizer::for_query("Reserve a table at Café Olé"), Tokenizer::Rouge);
        assert_eq!(Tokenizer::for_query("Забронируй 3 места"), Tokenizer::Unicode);
    }

    use proptest::prelude::*;

    use super::*;

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
    fn unicode_tokens_are_words_or_graphemes_by_script() {
        for (text, expected) in [
            ("Don't get_it v1.5!", vec!["don't", "get_it", "v1.5"]),
            ("Straße ＣＡＦÉ", vec!["straße", "café"]),
            ("获取天气 v2", vec!["获", "取", "天", "气", "v2"]),
            ("東京タワー・ひ", vec!["東", "京", "タ", "ワ", "ー", "ひ"]),
            ("날씨 확인", vec!["날씨", "확인"]),
            ("วันนี้", vec!["วั", "น", "นี้"]),
            ("タ_ab cd_タ", vec!["タ", "_ab", "cd_", "タ"]),
            ("… — !", vec![]),
        ] {
            assert_eq!(tokens(Tokenizer::Unicode, text), expected, "{text}");
        }
    }

    #[test]
    fn a_text_that_google_cannot_see_is_cut_by_the_unicode_tokenizer() {
        assert_eq!(Tokenizer::for_text("get 天气"), Tokenizer::Rouge);
        assert_eq!(Tokenizer::for_text("获取天气"), Tokenizer::Unicode);
        assert_eq!(Tokenizer::for_text("\u{212A}"), Tokenizer::Rouge);
        assert_eq!(Tokenizer::for_text("?!"), Tokenizer::Rouge);
        let mut vocabulary = Vocabulary::new();
        assert_eq!(vocabulary.encode_default("天气 天"), [0, 1, 0]);
        assert_eq!(vocabulary.encode(Tokenizer::Rouge, "天气"), [0_u32; 0]);
    }

    #[test]
    fn numbers_are_given_in_the_order_tokens_are_first_seen() {
        let mut vocabulary = Vocabulary::new();
        assert_eq!(vocabulary.encode_default("a b A"), [0, 1, 0]);
        assert_eq!(vocabulary.encode_default("c b"), [2, 1]);
        assert_eq!(vocabulary.len(), 3);
    }

    #[test]
    fn names_are_read_back() {
        for tokenizer in [Tokenizer::Rouge, Tokenizer::Unicode] {
            assert_eq!(tokenizer.to_string().parse(), Ok(tokenizer));
            assert_eq!(serde_json::to_value(tokenizer).unwrap(), tokenizer.name());
        }
        let error = "rouge".parse::<Tokenizer>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "unknown tokenizer \"rouge\", expected \"rouge-score-v1\" or \"unicode-v1\""
        );
    }

    proptest! {
        #[test]
        fn rouge_tokens_are_those_of_an_independent_implementation(text in "[a-cA-C0-9 _.é天İK\n-]{0,30}|\\PC*") {
            prop_assert_eq!(tokens(Tokenizer::Rouge, &text), rougers::Tokenizer::new(false).tokenize(&text));
        }

        #[test]
        fn every_text_with_letters_has_tokens_under_its_tokenizer(text in any::<String>()) {
            let has_letters = text.contains(char::is_alphanumeric);
            prop_assert_eq!(!Vocabulary::new().encode_default(&text).is_empty(), has_letters);
        }
    }
}
