//! By which tokenizer two texts are compared.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::tokens::{Tokenizer, UnknownTokenizer};

/// By which tokenizer two texts are compared. In settings it is `"auto"` or a tokenizer's name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Profile {
    /// By Google's, as everybody's figures are made; by the Unicode tokenizer where either text
    /// [needs](needs_unicode) it.
    #[default]
    Auto,
    /// Always by this one.
    Always(Tokenizer),
}

const AUTO: &str = "auto";

impl Profile {
    /// Every name a setting can have.
    pub fn names() -> impl Iterator<Item = &'static str> {
        std::iter::once(AUTO).chain(Tokenizer::ALL.map(Tokenizer::name))
    }

    /// The tokenizer for texts that need no other.
    pub fn first(self) -> Tokenizer {
        match self {
            Self::Auto => Tokenizer::Rouge,
            Self::Always(tokenizer) => tokenizer,
        }
    }

    /// The tokenizer that two texts are compared by.
    pub fn of_pair(self, a: &str, b: &str) -> Tokenizer {
        match self {
            Self::Auto if needs_unicode(a) || needs_unicode(b) => Tokenizer::Unicode,
            _ => self.first(),
        }
    }
}

/// Whether Google's tokenizer keeps fewer than half of a text's letters.
///
/// Such a text would be compared by what little is left: two Chinese queries that share a number would be equal.
pub fn needs_unicode(text: &str) -> bool {
    if text.is_ascii() {
        return false;
    }
    let (mut n_letters, mut n_kept) = (0_usize, 0_usize);
    for c in text.chars().filter(|c| c.is_alphabetic()) {
        n_letters += 1;
        n_kept += usize::from(c.to_lowercase().any(|lower| lower.is_ascii_alphanumeric()));
    }
    2 * n_kept < n_letters
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
    fn a_text_of_which_google_keeps_less_than_half_needs_the_unicode_tokenizer() {
        for (text, needed) in [
            ("Reserve a table at Café Olé", false),
            ("Забронируй 3 места", true),
            ("获取 ab", false),
            ("获取 a", true),
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
    fn names_are_read_back() {
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
