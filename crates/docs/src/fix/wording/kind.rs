//! Reads the type stated in a description: `Latitude, decimal`, `(integer)`, `A number between 0 and 1`, `true/false`.
//!
//! A word for a type counts only where it stands for the value: in brackets, as the beginning of a clause, or after `as`
//! or `must be`. As a part of other words (`decimal separator`, `phone number`) it describes something else. Two
//! different types in one description state none.

use callsieve_bfcl::types::Type;

/// Words for types. Texts count only as a contradiction.
const KINDS: [(&str, Type); 22] = [
    ("whole number", Type::Integer),
    ("natural number", Type::Integer),
    ("integer number", Type::Integer),
    ("integer", Type::Integer),
    ("int", Type::Integer),
    ("count", Type::Integer),
    ("floating point number", Type::Float),
    ("floating-point number", Type::Float),
    ("floating point", Type::Float),
    ("floating-point", Type::Float),
    ("decimal number", Type::Float),
    ("decimal degrees", Type::Float),
    ("decimal", Type::Float),
    ("real number", Type::Float),
    ("float", Type::Float),
    ("number", Type::Float),
    ("true/false", Type::Boolean),
    ("true or false", Type::Boolean),
    ("boolean", Type::Boolean),
    ("bool", Type::Boolean),
    ("string", Type::String),
    ("text", Type::String),
];

/// Words between the beginning of a clause and the word for the type.
const BEFORE: [&str; 9] =
    ["a", "an", "the", "one", "positive", "negative", "non-negative", "single", "optional"];

/// Words after which the type of the value follows.
const LEADS: [&str; 7] = ["as", "be", "is", "in", "to", "either", "type"];

/// How far from a word for a type other words count, so that long texts are read in linear time.
const MAX_NEAR_BYTES: usize = 80;

/// Words before a type that make it one of several ways to write something.
const WAYS: [&str; 6] = ["format", "formats", "notation", "system", "encoding", "style"];

/// Words that go on after the type without changing what it stands for.
const AFTER: [&str; 21] = [
    "between",
    "from",
    "in",
    "value",
    "values",
    "flag",
    "that",
    "which",
    "representing",
    "indicating",
    "specifying",
    "greater",
    "less",
    "larger",
    "smaller",
    "above",
    "below",
    "at",
    "with",
    "for",
    "and",
];

/// Words after `number` that make it a number: without a range, it may be a name (`House number`).
const RANGES: [&str; 8] = ["between", "from", "greater", "less", "larger", "smaller", "above", "below"];

/// Returns the number or boolean type that a description states.
pub(in crate::fix) fn stated(description: &str) -> Option<Type> {
    let lower = description.to_ascii_lowercase();
    let mut found = (0..lower.len())
        .filter(|at| lower.is_char_boundary(*at) && begins_word(&lower[..*at]))
        .filter_map(|at| kind_at(&lower, at))
        .chain(says_count(&lower).then_some(Type::Integer));
    let Some(first) = found.next() else { return says_share(&lower).then_some(Type::Float) };
    (![Type::String, Type::Any].contains(&first) && found.all(|kind| kind == first)).then_some(first)
}

fn begins_word(before: &str) -> bool {
    !before.ends_with(is_part_of_word)
}

fn is_part_of_word(c: char) -> bool {
    c.is_alphanumeric() || ['_', '-', '/', '\''].contains(&c)
}

/// Returns the type that the words at a place state; any type for one of several.
fn kind_at(text: &str, at: usize) -> Option<Type> {
    let (before, rest) = text.split_at(at);
    let (word, kind) = KINDS
        .iter()
        .find(|(word, _)| rest.strip_prefix(word).is_some_and(|after| !after.starts_with(is_part_of_word)))?;
    let after = &rest[word.len()..];
    let is_bare_number = *word == "number";
    let follows = if is_bare_number { &RANGES[..] } else { &AFTER[..] };
    let is_one_of_several = || {
        let near = &before[before.ceil_char_boundary(before.len().saturating_sub(MAX_NEAR_BYTES))..];
        let sentence = &after[..after.floor_char_boundary(MAX_NEAR_BYTES)];
        let sentence = sentence.split(['.', ')', ']']).next().unwrap_or_default();
        last_word(before.trim_end()).is_some_and(|word| ["or", "of"].contains(&word))
            || sentence.starts_with(',') && sentence.contains(" or ")
            || near.split(|c: char| !is_part_of_word(c)).any(|word| WAYS.contains(&word))
    };
    if is_one_of_several() {
        return Some(Type::Any);
    }
    let (is_led, opens) = lead(before);
    // A description that is only the word `Number` is the name of the parameter.
    let is_alone = is_bare_number && before.trim().is_empty();
    let ends = ends_clause(after) && !is_alone;
    let next = first_word(after);
    let counts = word.ends_with(" number") && next == "of";
    let goes_on = *word != "count" && follows.contains(&next) || counts;
    ((is_led || opens) && (ends || goes_on)).then_some(*kind)
}

/// Returns whether a leading word precedes the place, and whether it begins a clause; articles and adjectives are
/// skipped.
fn lead(before: &str) -> (bool, bool) {
    let mut rest = before.trim_end();
    while let Some(word) = last_word(rest).filter(|word| BEFORE.contains(word)) {
        rest = rest[..rest.len() - word.len()].trim_end();
    }
    let opens = rest.is_empty()
        || rest.ends_with(['(', '[', ',', ':', ';', '.', '?', '–', '=', '\n'])
        || rest.ends_with(" -");
    (last_word(rest).is_some_and(|word| LEADS.contains(&word)), opens)
}

fn ends_clause(after: &str) -> bool {
    let after = after.trim_start();
    after.is_empty() || after.starts_with([')', ']', ',', ';', ':', '.', '(', '-', '–', '\n'])
}

fn first_word(text: &str) -> &str {
    text.trim_start().split(|c: char| !is_part_of_word(c)).next().unwrap_or_default()
}

fn last_word(text: &str) -> Option<&str> {
    text.rsplit(|c: char| !is_part_of_word(c)).next().filter(|word| !word.is_empty())
}

/// Returns true if a value is between zero and one, which is a share and no count.
fn says_share(text: &str) -> bool {
    ["between 0 and 1", "from 0 to 1", "between 0.0 and 1.0", "from 0.0 to 1.0"].iter().any(|range| {
        text.split_once(range)
            .is_some_and(|(_, after)| !after.starts_with(|c: char| c.is_alphanumeric() || c == '%'))
    })
}

/// Words after `number of` that show one thing, whose number is a name.
const DETERMINERS: [&str; 8] = ["the", "a", "an", "this", "that", "each", "your", "its"];

/// Adjectives before a count.
const COUNTED: [&str; 8] = ["the", "total", "maximum", "minimum", "max", "min", "a", "exact"];

/// Returns true if the first clause is a count: `Count of pages`, `The number of pages`, `Page count`.
fn says_count(text: &str) -> bool {
    let clause = text.split(['.', ',', ';', '(', '\n']).next().unwrap_or_default().trim();
    let mut words = clause.split_whitespace().skip_while(|word| COUNTED.contains(word));
    let (first, second, third) = (words.next(), words.next(), words.next());
    let counts = |word: &str| word.len() > 2 && word.ends_with('s') || ["people", "children"].contains(&word);
    let is_of = match (first, second, third) {
        (Some("count"), Some("of"), Some(what)) => !DETERMINERS.contains(&what),
        (Some("number"), Some("of"), Some(what)) => !DETERMINERS.contains(&what) && counts(what),
        (Some("count"), None, None) => true,
        _ => false,
    };
    let named = clause.strip_suffix(" count").and_then(|before| last_word(before.trim_end()));
    is_of || named.is_some_and(|before| !DETERMINERS.contains(&before))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_that_stands_for_the_value_is_its_type() {
        for (text, expected) in [
            ("Longitude, decimal", Type::Float),
            ("Longitude (decimal)", Type::Float),
            ("Longitude, decimal (-180; 180)", Type::Float),
            ("Longitude in decimal degrees.", Type::Float),
            ("Share of the bells, number between 0 and 1.", Type::Float),
            ("A number between 0 and 1", Type::Float),
            ("Weight as a float", Type::Float),
            ("Floating point value of the weight", Type::Float),
            ("float", Type::Float),
            ("Loudness between 0 and 1", Type::Float),
            ("Integer number of bells", Type::Integer),
            ("How many bells, count", Type::Integer),
            ("Ring at night? Set to true or false.", Type::Boolean),
            ("How often it rings (integer, 1-5)", Type::Integer),
            ("How often it rings. Must be an integer.", Type::Integer),
            ("A positive whole number", Type::Integer),
            ("Integer between 1 and 5", Type::Integer),
            ("Integer ID of the bell: an integer.", Type::Integer),
            ("Count of bells", Type::Integer),
            ("The total number of bells to ring", Type::Integer),
            ("Bell count", Type::Integer),
            ("count", Type::Integer),
            ("Ring at night: true/false", Type::Boolean),
            ("Ring at night (true or false)", Type::Boolean),
            ("Boolean flag for the night", Type::Boolean),
            ("Ring at night, boolean.", Type::Boolean),
        ] {
            assert_eq!(stated(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn a_word_for_another_thing_is_not_a_type() {
        for text in [
            "",
            "Which bell.",
            "Phone number",
            "Number",
            "Number of the house",
            "House number, with a letter",
            "The decimal separator",
            "Decimal places",
            "Decimal, binary or hexadecimal",
            "Output format: decimal",
            "Loudness between 0 and 10",
            "Decimal separator, one character",
            "Float or sink",
            "Name of the integer field",
            "Kind of field: integer, float or string",
            "One of integer, decimal",
            "String or integer",
            "Integer or decimal",
            "Either a number or a string",
            "An integer as a string",
            "Boolean expression to filter by",
            "Boolean operators are allowed",
            "Account name",
            "Name of the count",
            "Discount code",
            "Number of order",
            "Longitude (text)",
            "Digits of an international number, no spaces",
            "The truth or a dare",
            "Größe – Anzahl",
        ] {
            assert_eq!(stated(text), None, "{text}");
        }
    }
}
