//! What an edit of a question must keep: values, language, length, wording.
//!
//! A language model that is asked to correct a text also completes, answers or translates it. Each check compares two texts
//! and, in doubt, refuses the edit: a question that stays as it was is never wrong.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::text::language::language;
use crate::text::normal::normalise;
use crate::text::rouge::rouge_l;
use crate::text::specifics::fixed_points;

/// What an edit changed that it must keep.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Broken {
    /// Values that one of the texts has more often than the other.
    Values(Vec<String>),
    /// The languages of the texts.
    Language(&'static str, &'static str),
    /// The lengths of the texts in characters.
    Length(usize, usize),
    /// ROUGE-L of the texts, from 0 to 1.
    Wording(f64),
}

/// Most characters of an edited text for one of the original.
const MAX_GROWTH: usize = 2;
/// Characters that a short text may grow by in any case.
const FREE_GROWTH: usize = 30;
/// The language of a text that is too short to show it.
const UNDETERMINED: &str = "und";

/// Compares an edited text with its original. `values` are the values of the answer; `min_rouge_l` is from 0 to 1.
pub(super) fn broken(original: &str, edited: &str, values: &[Value], min_rouge_l: f64) -> Option<Broken> {
    let languages = (language(original), language(edited));
    if languages.0 != languages.1 && languages.0 != UNDETERMINED && languages.1 != UNDETERMINED {
        return Some(Broken::Language(languages.0, languages.1));
    }
    let lengths = (original.chars().count(), edited.chars().count());
    if lengths.1 > (lengths.0 * MAX_GROWTH).max(lengths.0 + FREE_GROWTH) || lengths.1 * MAX_GROWTH < lengths.0
    {
        return Some(Broken::Length(lengths.0, lengths.1));
    }
    let changed = changed_values(original, edited, values);
    if !changed.is_empty() {
        return Some(Broken::Values(changed));
    }
    let rouge_l = rouge_l(original, edited);
    (rouge_l < min_rouge_l).then_some(Broken::Wording(rouge_l))
}

/// Returns the values that the two texts do not share, each as often as the other: numbers, codes, names, quoted texts,
/// negations, and values of the answer that the original has.
fn changed_values(original: &str, edited: &str, values: &[Value]) -> Vec<String> {
    let (before, after) = (counted(original), counted(edited));
    let both = literals(original).into_iter().chain(literals(edited));
    let mut changed: Vec<String> = both.filter(|literal| before.get(literal) != after.get(literal)).collect();
    let (normal, normal_edited) = (normalise(original), normalise(edited));
    changed.extend(quoted(original).into_iter().filter(|text| !edited.contains(text.as_str())));
    let mut of_answer = Vec::new();
    for value in values {
        add_texts(value, &mut of_answer);
    }
    changed.extend(of_answer.into_iter().filter(|value| {
        let value = normalise(value);
        normal.contains(&value) && !normal_edited.contains(&value)
    }));
    // Order of the numbers, and the number of negations.
    if fixed_points(original) != fixed_points(edited) && changed.is_empty() {
        changed.push("the order of numbers, or a negation".to_owned());
    }
    changed.sort_unstable();
    changed.dedup();
    changed
}

/// Returns the words of a text in folded case with their counts, without the punctuation around them.
fn counted(text: &str) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for word in text.split_whitespace() {
        *counts.entry(folded(word)).or_insert(0) += 1;
    }
    counts
}

/// Characters around a word that do not belong to it.
const AROUND: &[char] = &[
    '.', ',', ';', ':', '!', '?', '(', ')', '[', ']', '"', '\'', '“', '”', '„', '‘', '’', '«', '»', '`', '…',
    '。', '，', '？', '！', '、',
];

fn folded(word: &str) -> String {
    normalise(word.trim_matches(AROUND))
}

/// Returns the words that are values by their form, in folded case: with a digit or a sign inside, with a capital that does
/// not begin a sentence.
fn literals(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut begins_sentence = true;
    // German nouns have a capital, so a corrected noun would be a new value.
    let has_capital_nouns = language(text) == "de";
    for word in text.split_whitespace() {
        let bare = word.trim_matches(AROUND);
        let mut chars = bare.chars();
        let has_capital_inside = chars.by_ref().skip(1).any(char::is_uppercase);
        let has_capital = bare.starts_with(char::is_uppercase) && !begins_sentence && !has_capital_nouns;
        let has_sign = bare.contains(|c: char| c.is_numeric() || "@/\\_=#$%€£&<>{}+~^|*".contains(c))
            || bare.contains(['.', ':']);
        // `I` and `I'd` are no names.
        let is_pronoun = bare == "I" || bare.starts_with("I'") || bare.starts_with("I’");
        if (has_capital_inside || has_capital || has_sign) && !is_pronoun {
            found.push(folded(word));
        }
        if !bare.is_empty() {
            begins_sentence = word.ends_with(['.', '!', '?', ':', '…']);
        }
    }
    found
}

/// Pairs of quotation marks.
const QUOTES: &[(char, char)] = &[('"', '"'), ('“', '”'), ('„', '“'), ('«', '»'), ('`', '`'), ('「', '」')];

/// Returns the texts between quotation marks.
fn quoted(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for &(open, close) in QUOTES {
        let mut rest = text;
        while let Some((_, behind)) = rest.split_once(open) {
            let Some((inside, after)) = behind.split_once(close) else { break };
            if !inside.trim().is_empty() {
                found.push(inside.to_owned());
            }
            rest = after;
        }
    }
    found
}

fn add_texts(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) if !text.trim().is_empty() => texts.push(text.clone()),
        Value::Number(number) => texts.push(number.to_string()),
        Value::Array(values) => values.iter().for_each(|value| add_texts(value, texts)),
        Value::Object(map) => map.values().for_each(|value| add_texts(value, texts)),
        Value::String(_) | Value::Bool(_) | Value::Null => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(original: &str, edited: &str) -> Option<Broken> {
        broken(original, edited, &[json!([{"book": {"city": ["bergen", "Bergen"], "nights": [3]}}])], 0.5)
    }

    #[test]
    fn corrections_are_accepted() {
        for (original, edited) in [
            ("pls book hotl in bergen for 3 nigts", "Please book a hotel in Bergen for 3 nights."),
            ("what weather tomorow in Oslo", "What will the weather be tomorrow in Oslo?"),
            ("i want know the prise of A-10293", "I want to know the price of A-10293."),
            ("send \"hello  there\" to kim@example.com", "Send \"hello  there\" to kim@example.com."),
            ("wie wird das weter in Kiel morgen", "Wie wird das Wetter in Kiel morgen?"),
            ("dont ring teh bell", "Don't ring the bell."),
            ("明天北京的天气", "明天北京的天气？"),
        ] {
            assert_eq!(check(original, edited), None, "{original}");
        }
    }

    #[test]
    fn a_changed_value_language_length_or_wording_is_refused() {
        let values = |original: &str, edited: &str| {
            assert!(matches!(check(original, edited), Some(Broken::Values(_))), "{original} → {edited}");
        };
        values("book a hotel in bergen for 3 nights", "Book a hotel in Bergen for 4 nights.");
        values("book a hotel in bergen for 3 nights", "Book a hotel in bergn for 3 nights.");
        values("book a hotel in bergen for 3 nights", "Book a hotel in Bergen, Norway, for 3 nights.");
        values("order 2 ropes and 3 hooks", "Order 3 hooks and 2 ropes.");
        values("do not ring the bell", "Ring the bell.");
        values("say \"good nigth\" to all", "Say \"good night\" to all.");
        values("write to kim@example.com", "Write to tim@example.com.");
        values("open notes.txt", "Open notes.md.");
        values("user1 wants a boat", "A user wants a boat.");
        let other = check(
            "wie wird denn morgen das wetter in der stadt, kann man da spazieren gehen",
            "how will the weather be in the city tomorrow, and can one go for a walk there",
        );
        assert!(matches!(other, Some(Broken::Language("de", "en"))), "{other:?}");
        assert!(matches!(check("ring the bell", &"ring the bell ".repeat(8)), Some(Broken::Length(..))));
        let other = check("ring the bell of the tower", "a sound should come out of that building");
        assert!(matches!(other, Some(Broken::Wording(_))), "{other:?}");
    }
}
