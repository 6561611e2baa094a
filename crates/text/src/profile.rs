//! The choice of the tokenizer for two texts.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::tokens::{self, AUTO, Tokenizer, UnknownTokenizer};

/// The choice of the tokenizer for two texts. In settings, `"auto"` or a tokenizer's name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Profile {
    /// Google's tokenizer, with which published figures are computed; the Unicode tokenizer if either text
    /// [needs](needs_unicode) it.
    #[default]
    Auto,
    /// Always this tokenizer.
    Always(Tokenizer),
}

impl Profile {
    /// Returns all valid names in settings.
    pub fn names() -> impl Iterator<Item = &'static str> {
        tokens::names()
    }

    /// Returns the default tokenizer.
    pub fn first(self) -> Tokenizer {
        match self {
            Self::Auto => Tokenizer::Rouge,
            Self::Always(tokenizer) => tokenizer,
        }
    }

    /// Returns the tokenizer for two texts.
    pub fn of_pair(self, a: &str, b: &str) -> Tokenizer {
        match self {
            Self::Auto if needs_unicode(a) || needs_unicode(b) => Tokenizer::Unicode,
            _ => self.first(),
        }
    }
}

/// Returns true if Google's tokenizer drops letters of a non-Latin script, or more than half of all letters.
///
/// Such a text would be compared by the small rest: two Chinese queries with the same number would be equal, and so
/// would two Chinese docs, whose keys and names are ASCII. One letter is sufficient, as it may be the only difference.
pub fn needs_unicode(text: &str) -> bool {
    if text.is_ascii() {
        return false;
    }
    let (mut n_letters, mut n_kept) = (0_usize, 0_usize);
    for c in text.chars().filter(|c| c.is_alphabetic()) {
        let is_kept = c.to_lowercase().any(|lower| lower.is_ascii_alphanumeric());
        if !is_kept && !is_latin(c) {
            return true;
        }
        n_letters += 1;
        n_kept += usize::from(is_kept);
    }
    2 * n_kept < n_letters
}

/// Returns true if a letter is in one of Unicode's Latin blocks, or replaces a Latin one in formulas, units or
/// ordinals.
fn is_latin(c: char) -> bool {
    matches!(c,
        '\u{aa}'..='\u{2af}' | '\u{1d00}'..='\u{1dbf}' | '\u{1e00}'..='\u{1eff}'
        | '\u{2071}'..='\u{209c}' | '\u{2100}'..='\u{214f}' | '\u{2c60}'..='\u{2c7f}' | '\u{a720}'..='\u{a7ff}'
        | '\u{ab30}'..='\u{ab6f}' | '\u{fb00}'..='\u{fb06}' | '\u{ff21}'..='\u{ff5a}' | '\u{1d400}'..='\u{1d7ff}')
        // The micro sign is Greek; Google's tokenizer drops it in English texts, too.
        || matches!(c, 'µ' | 'μ' | 'π' | 'Ω' | 'Δ')
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str(AUTO),
            Self::Always(tokenizer) => tokenizer.fmt(f),
        }
    }
}

impl FromStr for Profile {
    type Err = UnknownTokenizer;

    fn from_str(name: &str) -> Result<Self, UnknownTokenizer> {
        if name == AUTO { Ok(Self::Auto) } else { name.parse().map(Self::Always) }
    }
}

impl TryFrom<String> for Profile {
    type Error = UnknownTokenizer;

    fn try_from(name: String) -> Result<Self, UnknownTokenizer> {
        name.parse()
    }
}

impl From<Profile> for String {
    fn from(profile: Profile) -> Self {
        profile.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_in_which_google_drops_words_needs_the_unicode_tokenizer() {
        for (text, needed) in [
            ("Reserve a table at Café Olé", false),
            ("Забронируй 3 места", true),
            ("Get the weather in 北京, please", true),
            ("{\"name\": \"get_weather\", \"description\": \"获取\"}", true),
            ("5 µm and 3 Ω, x², naïve, Đà Nẵng", false),
            ("ｆｕｌｌ", true),
            ("12345 ?!", false),
            ("", false),
            ("１２", false),
            ("\u{212A}", false),
        ] {
            assert_eq!(needs_unicode(text), needed, "{text}");
        }
        assert_eq!(Profile::Auto.of_pair("a", "获取"), Tokenizer::Unicode);
        assert_eq!(Profile::Auto.of_pair("a", "é b"), Tokenizer::Rouge);
        assert_eq!(Profile::Always(Tokenizer::Rouge).of_pair("获取", "获取"), Tokenizer::Rouge);
    }

    #[test]
    fn names_are_parsed() {
        for name in Profile::names() {
            assert_eq!(name.parse::<Profile>().unwrap().to_string(), name);
            let json = serde_json::to_string(name).unwrap();
            assert_eq!(
                serde_json::to_string(&serde_json::from_str::<Profile>(&json).unwrap()).unwrap(),
                json
            );
        }
        assert!("rouge".parse::<Profile>().unwrap_err().to_string().contains("\"auto\""));
    }
}
