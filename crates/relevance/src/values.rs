//! The parts of a query that look like parameter values: numbers, dates, quoted text, proper names.

use super::words::{content_words, distinct, log_count};

/// Names of the features, in the order of [`features`].
pub(super) const NAMES: &[&str] = &["numbers", "dates", "quoted", "capitals", "codes"];

/// Numbers that are written as words; sorted.
const NUMBER_WORDS: &[&str] = &[
    "couple", "double", "dozen", "eight", "eleven", "five", "four", "half", "hundred", "million", "nine",
    "one", "seven", "single", "six", "ten", "thirty", "thousand", "three", "twelve", "twenty", "two",
];
/// Words that name a time; sorted.
const DATE_WORDS: &[&str] = &[
    "afternoon",
    "am",
    "april",
    "august",
    "december",
    "evening",
    "february",
    "friday",
    "january",
    "july",
    "june",
    "march",
    "monday",
    "month",
    "morning",
    "noon",
    "november",
    "october",
    "pm",
    "saturday",
    "september",
    "sunday",
    "thursday",
    "today",
    "tomorrow",
    "tonight",
    "tuesday",
    "wednesday",
    "week",
    "year",
    "yesterday",
];

/// Counts of possible values in a query.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Values {
    /// Words with a digit, and numbers as words.
    pub(super) numbers: usize,
    /// Days, months, and numbers in the format of a date.
    pub(super) dates: usize,
    /// Pieces of quoted text.
    pub(super) quoted: usize,
    /// Capitalised words inside a sentence.
    pub(super) capitals: usize,
    /// Links, addresses, and words of digits and letters.
    pub(super) codes: usize,
    /// Content words that are such values, so they need not occur in the docs. Sorted.
    pub(super) words: Vec<String>,
}

impl Values {
    /// Finds the possible values in a query.
    pub(super) fn of(query: &str) -> Self {
        let mut values = Self::default();
        let mut is_start = true;
        for word in query.split_whitespace() {
            let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
            let before = (values.numbers, values.capitals, values.codes);
            values.add(word, bare, is_start);
            if before != (values.numbers, values.capitals, values.codes)
                || bare.starts_with(char::is_uppercase)
            {
                values.words.extend(content_words(word));
            }
            is_start = word.ends_with(['.', '?', '!', ':']);
        }
        values.quoted = query.matches('"').count() / 2
            + query.matches('`').count() / 2
            + query.matches(" '").count()
            + query.matches('“').count();
        values.words = distinct(std::mem::take(&mut values.words));
        values
    }

    fn add(&mut self, word: &str, bare: &str, is_start: bool) {
        let lower = bare.to_lowercase();
        let has_digit = bare.contains(|c: char| c.is_ascii_digit());
        let is_link =
            word.contains("://") || word.starts_with("www.") || bare.contains('@') && bare.contains('.');
        let is_mixed = has_digit && bare.contains(|c: char| c.is_alphabetic() || c == '-' || c == '_');
        self.numbers += usize::from(has_digit || NUMBER_WORDS.binary_search(&lower.as_str()).is_ok());
        self.codes += usize::from(is_link || is_mixed);
        let has_date_format = has_digit && bare.matches(['-', '/']).count() == 2;
        self.dates += usize::from(has_date_format || DATE_WORDS.binary_search(&lower.as_str()).is_ok());
        let is_i = bare == "I" || bare.starts_with("I'");
        self.capitals += usize::from(!is_start && bare.starts_with(char::is_uppercase) && !is_i);
    }

    /// Returns whether there is a possible name, title or code.
    pub(super) fn has_text(&self) -> bool {
        self.quoted + self.capitals + self.codes > 0
    }
}

/// Returns the counts as logarithms.
pub(super) fn features(values: &Values) -> Vec<f64> {
    [values.numbers, values.dates, values.quoted, values.capitals, values.codes].map(log_count).to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_counted_by_kind() {
        let values =
            Values::of("Book two rooms in Bergen on 2024-05-01 for \"Ada L\", mail me: ada@fjord.example");
        assert_eq!(
            (values.numbers, values.dates, values.quoted, values.capitals, values.codes),
            (2, 1, 1, 3, 2)
        );
        assert_eq!(
            Values::of("What is on tomorrow? I'm free"),
            Values { dates: 1, words: vec![], ..Values::of("What") }
        );
    }

    #[test]
    fn tables_are_sorted() {
        assert!(NUMBER_WORDS.is_sorted() && DATE_WORDS.is_sorted());
    }
}
