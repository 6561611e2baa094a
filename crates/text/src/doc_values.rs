//! The values that the docs of functions fix: dates, numbers, quoted words, formats and negations.
//!
//! Docs that differ in one of them may need another answer, however alike they are: the day that is today, a limit, the
//! order of a place. A value that is only an example ("e.g. 2024-05-01") counts by its form.

use super::words::for_each_word;

/// Words that deny, sorted.
const NEGATIONS: &[&str] = &[
    "cannot",
    "except",
    "excluding",
    "kein",
    "keine",
    "nein",
    "neither",
    "never",
    "nicht",
    "no",
    "non",
    "none",
    "nor",
    "not",
    "ohne",
    "pas",
    "sans",
    "sin",
    "unless",
    "without",
];
/// Words for the parts of a place, whose order is a format; sorted.
const PARTS: &[&str] = &[
    "city",
    "code",
    "country",
    "county",
    "day",
    "district",
    "first",
    "last",
    "lat",
    "latitude",
    "lng",
    "lon",
    "longitude",
    "month",
    "name",
    "postcode",
    "province",
    "region",
    "state",
    "street",
    "suburb",
    "town",
    "year",
    "zip",
    "zipcode",
];
/// Names of days and months, sorted.
const CALENDAR: &[&str] = &[
    "april",
    "august",
    "december",
    "february",
    "friday",
    "january",
    "july",
    "june",
    "monday",
    "november",
    "october",
    "saturday",
    "september",
    "sunday",
    "thursday",
    "tuesday",
    "wednesday",
];
/// What announces an example, in lower case.
const EXAMPLES: &[&str] = &[
    "e.g",
    "for example",
    "for instance",
    "such as",
    "example",
    "like ",
    "z. b.",
    "z.b.",
    "p. ej",
    "par exemple",
    "例如",
    "比如",
];
/// Characters after which an example is over.
const ENDS: &[char] = &['\n', ')', ';'];

/// Returns the values of a text, one a line and sorted; equal for texts that fix the same.
pub fn fixed_values(text: &str) -> String {
    let mut values: Vec<String> = Vec::new();
    for line in text.lines() {
        add_values(line, &mut values);
    }
    values.sort_unstable();
    values.dedup();
    values.join("\n")
}

fn add_values(line: &str, values: &mut Vec<String>) {
    let lower = line.to_lowercase().replace('\u{2019}', "'");
    let examples = example_ranges(&lower);
    let is_example = |at: usize| examples.iter().any(|(from, to)| (*from..*to).contains(&at));
    for (at, quoted) in quotes(&lower) {
        values.push(if is_example(at) {
            format!("form {}", form(quoted))
        } else {
            format!("quoted {quoted}")
        });
    }
    let numbers = runs(&lower, |c| c.is_alphanumeric() || matches!(c, '-' | '/' | '.' | ':' | ','));
    for (at, number) in numbers {
        let number = number.trim_end_matches(['-', '/', '.', ':', ',']);
        if number.contains(|c: char| c.is_numeric()) {
            values.push(if is_example(at) {
                format!("form {}", form(number))
            } else {
                format!("number {number}")
            });
        }
    }
    let mut parts: Vec<&str> = Vec::new();
    for (at, word) in runs(&lower, char::is_alphanumeric) {
        if CALENDAR.binary_search(&word).is_ok() {
            if !is_example(at) {
                values.push(format!("day {word}"));
            }
        } else if is_format(line.get(at..).unwrap_or_default(), word) {
            values.push(format!("format {word}"));
        }
        // "City, State": parts one after the other, with a comma between them.
        let follows = lower[..at].trim_end().ends_with(',') || lower[..at].trim_end().ends_with('/');
        if PARTS.binary_search(&word).is_ok() {
            if !follows {
                parts.clear();
            }
            parts.push(word);
            if parts.len() > 1 {
                values.push(format!("order {}", parts.join(" ")));
            }
        } else {
            parts.clear();
        }
    }
    for (at, label) in lower.match_indices("pattern: ") {
        let pattern = line.get(at + label.len()..).and_then(|rest| rest.split_whitespace().next());
        values.extend(pattern.map(|pattern| format!("pattern {}", pattern.trim_end_matches('.'))));
    }
    for_each_word(&lower, |word| {
        let is_contracted = word.ends_with("n't");
        if is_contracted || NEGATIONS.binary_search(&word).is_ok() {
            values.push(format!("no {}", if is_contracted { "not" } else { word }));
        }
    });
}

/// A pattern such as `YYYY-MM-DD` or `HH:MM`.
fn is_format(written: &str, lower: &str) -> bool {
    let written: String = written.chars().take(lower.chars().count()).collect();
    written.len() >= 2
        && written.chars().all(|c| matches!(c, 'Y' | 'M' | 'D' | 'H' | 'S' | 'y' | 'm' | 'd' | 'h' | 's'))
        && written.chars().collect::<std::collections::BTreeSet<char>>().len() == 1
}

/// The runs of some characters in a text, with their places.
fn runs(text: &str, is_inside: impl Fn(char) -> bool) -> Vec<(usize, &str)> {
    let mut runs = Vec::new();
    let mut start = None;
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        match (at < text.len() && is_inside(c), start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                runs.push((from, &text[from..at]));
                start = None;
            }
            _ => {}
        }
    }
    runs
}

/// Quoted parts of at most six words, with their places.
fn quotes(text: &str) -> Vec<(usize, &str)> {
    const PAIRS: &[(char, char)] =
        &[('"', '"'), ('\u{201c}', '\u{201d}'), ('`', '`'), ('\u{300c}', '\u{300d}')];
    const MOST_WORDS: usize = 6;
    let mut found = Vec::new();
    for (open, close) in PAIRS {
        let mut from = 0;
        while let Some(at) = text[from..].find(*open).map(|at| from + at + open.len_utf8()) {
            let Some(length) = text[at..].find(*close) else { break };
            let quoted = text[at..at + length].trim();
            if !quoted.is_empty() && quoted.split_whitespace().count() <= MOST_WORDS {
                found.push((at, quoted));
            }
            from = at + length + close.len_utf8();
        }
    }
    // Apostrophes quote only where a word begins and ends.
    let starts = text
        .match_indices('\'')
        .filter(|(at, _)| !text[..*at].chars().next_back().is_some_and(char::is_alphanumeric));
    for (at, _) in starts {
        let rest = &text[at + 1..];
        let end = rest
            .match_indices('\'')
            .find(|(end, _)| !rest[end + 1..].starts_with(|c: char| c.is_alphanumeric()));
        if let Some((end, _)) = end {
            let quoted = rest[..end].trim();
            if !quoted.is_empty() && quoted.split_whitespace().count() <= MOST_WORDS {
                found.push((at + 1, quoted));
            }
        }
    }
    found
}

/// Where examples are: from their announcement to the end of the bracket or the line.
fn example_ranges(text: &str) -> Vec<(usize, usize)> {
    let starts = EXAMPLES.iter().flat_map(|word| text.match_indices(word).map(|(at, _)| at));
    starts.map(|at| (at, text[at..].find(ENDS).map_or(text.len(), |length| at + length))).collect()
}

/// The form of a value: its digits and letters, whatever they are.
fn form(value: &str) -> String {
    let signs = value.chars().map(|c| {
        if c.is_numeric() {
            '9'
        } else if c.is_alphabetic() {
            'a'
        } else {
            c
        }
    });
    let mut form: String = signs.collect();
    for sign in ["aa", "  "] {
        while form.contains(sign) {
            form = form.replace(sign, &sign[..1]);
        }
    }
    form
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn docs_with_other_values_fix_something_else() {
        for (one, other) in [
            ("Today is Monday, 17 November 2025.", "Today is Saturday, 22 November 2025."),
            ("At most 20 results.", "At most 50 results."),
            ("One of \"metric\" and \"imperial\".", "One of \"metric\" and \"us\"."),
            ("The place, as City, State.", "The place, as City, Country."),
            ("The day, as YYYY-MM-DD.", "The day, as DD-MM-YYYY and YY."),
            ("Includes archived rows.", "Does not include archived rows."),
            ("The date, e.g. 2024-05-01", "The date, e.g. 01.05.2024"),
            ("The code. Pattern: ^[A-Z]+$.", "The code. Pattern: ^[a-z]+$."),
        ] {
            assert_ne!(fixed_values(one), fixed_values(other), "{one}");
        }
    }

    proptest::proptest! {
        #[test]
        fn arbitrary_texts_do_not_panic(text in ".{0,80}", marked in "[İaE.g \"'`“”,CityState0-9\n()]{0,60}") {
            fixed_values(&text);
            fixed_values(&marked);
        }
    }

    #[test]
    fn wording_and_other_examples_fix_nothing() {
        for (one, other) in [
            ("Returns the weather of a city.", "Gives the current weather for the city."),
            ("The place (e.g. San Francisco, CA)", "The place (e.g. Boston, MA)"),
            ("A date, for example 2024-05-01", "A date, such as 2023-11-30"),
            ("It's the user's name", "The name of the user"),
        ] {
            assert_eq!(fixed_values(one), fixed_values(other), "{one}");
        }
        assert!(NEGATIONS.is_sorted() && PARTS.is_sorted() && CALENDAR.is_sorted());
    }
}
