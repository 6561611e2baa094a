//! Pairs of questions of which one has a typing error.
//!
//! Two questions that differ in one word are one question if the words are a typing error apart and one of them is a word
//! that nothing else has. Names, codes, numbers and quoted texts are never taken for typing errors: Goa is not Gao.

use unicode_normalization::UnicodeNormalization as _;

use super::specifics::{content_words, free_words};

/// The most words of a question that may have a typing error; a longer text is a document.
const MOST_WORDS: usize = 60;
/// Letters of a word that may have a typing error.
const MIN_LETTERS: usize = 4;
/// Letters of a word whose first letter may be wrong: a meal is no deal.
const MIN_LETTERS_OF_FIRST: usize = 6;
/// Letters of a word that may have two.
const MIN_LETTERS_OF_TWO: usize = 8;

/// The content words of a question, sorted, each with whether it may have a typing error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypoWords(Vec<(String, bool)>);

impl TypoWords {
    /// Reads a question as sent.
    pub fn of(question: &str) -> Self {
        let guarded = guarded_words(question);
        let mut words: Vec<(String, bool)> = content_words(question)
            .into_iter()
            .map(|word| {
                // A word after a direction has it before it.
                let bare = word.rsplit(' ').next().unwrap_or_default();
                let may_be_typo = bare.chars().count() >= MIN_LETTERS
                    && bare.chars().all(char::is_alphabetic)
                    && !guarded.iter().any(|guarded| guarded.starts_with(bare));
                (word, may_be_typo)
            })
            .collect();
        words.sort_unstable();
        if words.len() > MOST_WORDS {
            for (_, may_be_typo) in &mut words {
                *may_be_typo = false;
            }
        }
        Self(words)
    }

    /// Returns the words.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(word, _)| word.as_str())
    }

    /// Returns all of them as one text, as [`without_each`](Self::without_each) has the others.
    pub fn joined(&self) -> String {
        self.words().collect::<Vec<&str>>().join(" ")
    }

    /// Returns all of them without the marks of their letters, and whether they have none as they stand: people leave marks out
    /// where a keyboard lacks them ("prestamo"). Scripts whose marks are vowels are unchanged.
    pub fn without_marks(&self) -> (String, bool) {
        let joined = self.joined();
        let bare: String = joined.nfd().filter(|c| !matches!(c, '\u{300}'..='\u{36f}')).nfc().collect();
        let bare = bare.replace('ł', "l").replace('đ', "d").replace('ø', "o").replace('ı', "i");
        let has_none = bare == joined;
        (bare, has_none)
    }

    /// Returns each word that may have a typing error, with what the question has besides.
    pub fn without_each(&self) -> impl Iterator<Item = (&str, String)> {
        self.0.iter().enumerate().filter(|(_, (_, may_be_typo))| *may_be_typo).map(|(at, (word, _))| {
            let others = self.0.iter().enumerate().filter(|(other, _)| *other != at);
            let others: Vec<&str> = others.map(|(_, (word, _))| word.as_str()).collect();
            (word.as_str(), others.join(" "))
        })
    }
}

/// Words that begin with a capital inside a sentence, or are quoted, in lower case.
fn guarded_words(question: &str) -> Vec<String> {
    let mut guarded = Vec::new();
    let (mut quote, mut starts_sentence) = (None, true);
    for word in question.split_whitespace() {
        let opens = word.chars().next().filter(|c| matches!(c, '"' | '\'' | '`' | '\u{201c}' | '«'));
        quote = quote.or(opens);
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        let is_name = bare.starts_with(char::is_uppercase) && !starts_sentence;
        // A word of capitals or with a capital inside is a code or a name anywhere.
        let is_code = bare.chars().skip(1).any(char::is_uppercase);
        if quote.is_some() || is_name || is_code {
            guarded.push(bare.to_lowercase());
        }
        let closes = |open: char| {
            let close = match open {
                '\u{201c}' => '\u{201d}',
                '«' => '»',
                open => open,
            };
            word.trim_end_matches(['.', ',', '!', '?', ';', ':']).ends_with(close) && word.chars().count() > 1
        };
        quote = quote.filter(|open| !closes(*open));
        starts_sentence = word.ends_with(['.', '!', '?', ':']);
    }
    guarded
}

/// Returns `true` if two words are a typing error apart: one letter is missing, too many, another one, or two have changed
/// places; two errors in long words. In a short word the first letter stays, or changes places with the second.
pub fn are_a_typo_apart(one: &str, other: &str) -> bool {
    let (short, long) = (one.chars().count(), other.chars().count());
    let (short, long) = (short.min(long), short.max(long));
    let most = if short >= MIN_LETTERS_OF_TWO { 2 } else { 1 };
    if one == other || long - short > most || short < MIN_LETTERS {
        return false;
    }
    // A plural, or a word with another ending of grammar, is no typing error.
    let stem = |word: &str, other: &str| {
        word.strip_prefix(other).is_some_and(|end| matches!(end, "s" | "es" | "d" | "r" | "ed"))
    };
    if stem(one, other) || stem(other, one) {
        return false;
    }
    let firsts = |word: &str| word.chars().take(2).collect::<Vec<char>>();
    let (a, b) = (firsts(one), firsts(other));
    let starts_alike = short >= MIN_LETTERS_OF_FIRST || a[0] == b[0] || a[0] == b[1] && a[1] == b[0];
    starts_alike && strsim::osa_distance(one, other) <= most
}

/// Returns `true` for a word that is a typing error away from a word of grammar or courtesy, which means nothing.
pub fn is_typo_of_a_free_word(word: &str) -> bool {
    free_words().iter().any(|free| are_a_typo_apart(free, word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_letter_too_many_missing_wrong_or_in_another_place_is_a_typing_error() {
        for (one, other) in [
            ("weather", "weathr"),
            ("weather", "waether"),
            ("weather", "weatther"),
            ("weather", "weatger"),
            ("restaurant", "resturent"),
            ("orders", "odrers"),
            ("umbrella", "umbrela"),
            ("water", "awter"),
        ] {
            assert!(are_a_typo_apart(one, other), "{one} {other}");
        }
        for (one, other) in [
            ("meal", "deal"),
            ("cat", "car"),
            ("order", "orders"),
            ("book", "booked"),
            ("weather", "whether it"),
            ("paris", "parma"),
            ("same", "same"),
            ("light", "lights"),
        ] {
            assert!(!are_a_typo_apart(one, other), "{one} {other}");
        }
    }

    #[test]
    fn a_word_of_grammar_may_have_an_error_too() {
        assert!(is_typo_of_a_free_word("woudl") && is_typo_of_a_free_word("pleas"));
        assert!(!is_typo_of_a_free_word("water") && !is_typo_of_a_free_word("tiger"));
    }

    #[test]
    fn names_codes_and_quoted_texts_are_guarded() {
        let may = |question: &str| -> Vec<String> {
            TypoWords::of(question).without_each().map(|(word, _)| word.to_owned()).collect()
        };
        assert_eq!(may("Find the cheapest hotel in Goa for Mara"), ["cheapest", "hotel"]);
        assert_eq!(may("search \"blue moon\" and 'sad songs' of today"), ["search", "today"]);
        assert_eq!(may("status of AB12cd and orderID"), ["statu"]);
    }

    #[test]
    fn marks_that_a_keyboard_lacks_are_no_difference() {
        let bare = |text: &str| TypoWords::of(text).without_marks();
        assert_eq!(bare("zrušte mi rezervaci").0, bare("zruste mi rezervaci").0);
        assert!(bare("zruste mi rezervaci").1 && !bare("zrušte mi rezervaci").1);
        assert_eq!(bare("αλλαξε την κρατηση").0, bare("άλλαξε την κράτηση").0);
        assert_ne!(bare("rezervace").0, bare("rezervaci").0);
    }

    #[test]
    fn questions_that_differ_in_one_word_share_the_rest() {
        let (one, other) =
            (TypoWords::of("what is the weather tomorrow"), TypoWords::of("what is the wether tomorrow"));
        let rests = |words: &TypoWords| words.without_each().map(|(_, rest)| rest).collect::<Vec<String>>();
        assert!(rests(&one).iter().any(|rest| rests(&other).contains(rest)));
    }
}
