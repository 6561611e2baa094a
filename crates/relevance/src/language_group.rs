//! The two groups of languages that have their own thresholds: English, in which most docs are written, and all others.
//!
//! A query in another language than English shares few words with English docs, so its probabilities mean less.

use callsieve_text::language::{UNDETERMINED, language};
use serde::{Deserialize, Serialize};

/// A group of languages with its own thresholds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LanguageGroup {
    /// English, and short texts of Latin letters whose language is not determined.
    #[default]
    English,
    /// All other languages.
    Other,
}

impl LanguageGroup {
    /// All groups.
    pub const ALL: [Self; 2] = [Self::English, Self::Other];

    /// Returns the group of a text.
    pub fn of(text: &str) -> Self {
        match language(text) {
            "en" => Self::English,
            UNDETERMINED if is_mostly_latin(text) => Self::English,
            _ => Self::Other,
        }
    }

    /// Returns the name of the group for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::English => "English",
            Self::Other => "other languages",
        }
    }

    /// Returns the name of the group in files.
    pub fn key(self) -> &'static str {
        match self {
            Self::English => "english",
            Self::Other => "other",
        }
    }

    /// Returns the group with this name in files.
    pub fn from_key(key: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|group| group.key() == key)
    }
}

/// The last letter of the blocks of Latin letters with marks.
const LAST_LATIN: char = '\u{24f}';

fn is_mostly_latin(text: &str) -> bool {
    let letters = text.chars().filter(|c| c.is_alphabetic());
    let (latin, all) =
        letters.fold((0, 0), |(latin, all), c| (latin + usize::from(c <= LAST_LATIN), all + 1));
    2 * latin >= all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_english_or_of_another_language() {
        for (text, expected) in [
            ("How long does the ferry to Hurtigruten take?", LanguageGroup::English),
            ("ferry bergen", LanguageGroup::English),
            ("", LanguageGroup::English),
            ("Wie lange braucht die Fähre nach Bergen und was kostet sie?", LanguageGroup::Other),
            ("渡轮需要多长时间", LanguageGroup::Other),
            ("паром", LanguageGroup::Other),
        ] {
            assert_eq!(LanguageGroup::of(text), expected, "{text}");
        }
        for group in LanguageGroup::ALL {
            assert_eq!(LanguageGroup::from_key(group.key()), Some(group));
        }
        assert_eq!(LanguageGroup::from_key("klingon"), None);
    }
}
