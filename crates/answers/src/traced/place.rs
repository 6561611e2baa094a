//! The words of a text that give a value.

use std::ops::Range;

use serde_json::Value;

use super::dates::date_of;
use super::{Trace, clock, codes, words};

/// The most words of a text that give one value, such as the 31st of December 2026 at 9 o'clock.
const MOST_WORDS: usize = 8;
/// The most words of a text in which forms of a value are looked for.
const MOST_IN_TEXT: usize = 400;
/// Signs around a value that do not belong to it.
const AROUND: &[char] = &[
    '.', ',', ';', ':', '!', '?', '(', ')', '[', ']', '"', '\'', '“', '”', '„', '‘', '’', '«', '»', '`', '…',
];

/// Returns the bytes of the first words of a text that give a value: as it is `said`, as it is, or in another form that reads back to
/// the same value (a number in words, a date in another form). The words of a list or an object reach from its first value to its last.
pub fn place_of(value: &Value, said: &str, text: &str) -> Option<Range<usize>> {
    if let Some(at) = whole_words(said, text) {
        return Some(at);
    }
    let parts: Vec<&Value> = match value {
        Value::Array(elements) => elements.iter().collect(),
        Value::Object(members) => members.values().collect(),
        Value::Null | Value::Bool(_) => return None,
        Value::String(own) => return whole_words(own, text).or_else(|| in_another_form(value, text)),
        Value::Number(number) => {
            return whole_words(&number.to_string(), text).or_else(|| in_another_form(value, text));
        }
    };
    let places: Option<Vec<Range<usize>>> = parts.into_iter().map(|part| place_of(part, "", text)).collect();
    let places = places.filter(|places| !places.is_empty())?;
    Some(places.iter().map(|at| at.start).min()?..places.iter().map(|at| at.end).max()?)
}

/// Finds a phrase in any case, with no letter or digit beside it.
fn whole_words(phrase: &str, text: &str) -> Option<Range<usize>> {
    let (phrase, lower) = (phrase.trim(), text.to_lowercase());
    if phrase.is_empty() {
        return None;
    }
    // A letter whose other case has another length would move what is behind it.
    let (hay, needle) = if lower.len() == text.len() {
        (lower.as_str(), phrase.to_lowercase())
    } else {
        (text, phrase.to_owned())
    };
    let is_alone = |at: usize, end: usize| {
        let (before, after) = (hay[..at].chars().next_back(), hay[end..].chars());
        // "12" is no part of "12.5".
        let mut after = after;
        let next = after.next();
        let goes_on =
            next.is_some_and(|c| matches!(c, '.' | ',')) && after.next().is_some_and(|c| c.is_ascii_digit());
        let is_number = needle.ends_with(|c: char| c.is_ascii_digit());
        let is_inside = [before, next].into_iter().flatten().any(char::is_alphanumeric);
        !(is_inside || is_number && goes_on)
    };
    hay.match_indices(&needle).map(|(at, found)| at..at + found.len()).find(|at| {
        is_alone(at.start, at.end) && text.is_char_boundary(at.start) && text.is_char_boundary(at.end)
    })
}

/// Finds the shortest stretch of words that gives a value; of several the first.
fn in_another_form(value: &Value, text: &str) -> Option<Range<usize>> {
    let mut words: Vec<Range<usize>> = Vec::new();
    let mut at = 0;
    for word in text.split_whitespace().take(MOST_IN_TEXT) {
        let start = at + text[at..].find(word)?;
        at = start + word.len();
        words.push(start..at);
    }
    let is_given = |stretch: &Range<usize>| {
        let mut trace = Trace::default();
        trace.add(&text[stretch.clone()]);
        gives(&trace, value)
    };
    if !is_given(&(0..text.len())) {
        return None;
    }
    (1..=MOST_WORDS).find_map(|n| {
        let stretches = words.windows(n).map(|words| words[0].start..words[n - 1].end);
        stretches.map(|stretch| trimmed(text, stretch)).filter(|stretch| !stretch.is_empty()).find(is_given)
    })
}

/// Whether words give a value: in a form that reads back to it, a code without its signs (`C1001` for C-1001), the name of a currency
/// for its code, or the plural of a word.
fn gives(trace: &Trace, value: &Value) -> bool {
    let Some(text) = value.as_str() else { return trace.gives(value) };
    let lower = text.trim().to_lowercase();
    if let Some(time) = time_of_moment(&lower) {
        let day = &lower[..lower.len() - time.len() - 1];
        return trace.gives(&Value::from(day)) && trace.gives(&Value::from(time));
    }
    trace.gives(value)
        || codes::names(&lower, &trace.text)
        || is_bare_code(trace, &lower)
        || is_plural(trace, &lower)
}

/// The hours and minutes of a moment such as `2026-03-04t15:00:00`; `None` at midnight, which people do not say.
fn time_of_moment(lower: &str) -> Option<&str> {
    let time = &lower[lower.find(['t', ' '])? + 1..];
    let is_moment = date_of(lower).is_some() && clock(time).is_some_and(|time| time != (0, 0));
    is_moment.then_some(time)
}

/// Digits of a code from which it is known without its signs.
const LEAST_DIGITS: usize = 3;

fn is_bare_code(trace: &Trace, lower: &str) -> bool {
    let bare: String = lower.chars().filter(|sign| sign.is_alphanumeric()).collect();
    let n_digits = bare.chars().filter(char::is_ascii_digit).count();
    let is_code = n_digits >= LEAST_DIGITS && n_digits < bare.chars().count();
    is_code && !lower.contains(char::is_whitespace) && trace.words.contains(&bare)
}

/// Letters of a word from which its plural is known.
const LEAST_LETTERS: usize = 4;

fn is_plural(trace: &Trace, lower: &str) -> bool {
    let (before, last) = lower.rsplit_once(' ').unwrap_or(("", lower));
    let is_word = last.chars().count() >= LEAST_LETTERS && last.chars().all(char::is_alphabetic);
    is_word
        && words(before).all(|word| trace.words.contains(word))
        && ["s", "es"].iter().any(|end| trace.words.contains(&format!("{last}{end}")))
}

/// Leaves out signs around a stretch.
fn trimmed(text: &str, stretch: Range<usize>) -> Range<usize> {
    let inside = &text[stretch.clone()];
    let left = inside.trim_start_matches(AROUND);
    let start = stretch.start + (inside.len() - left.len());
    start..start + left.trim_end_matches(AROUND).len()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_value_is_found_in_every_form_that_reads_back() {
        let text = "Please book R-20 and r-2007, twenty-five tyres at 12.5 EUR on the 4th of March 2026, for Ada Lovelace.";
        for (value, said, expected) in [
            (json!("R-2007"), "R-2007", Some("r-2007")),
            (json!(25), "25", Some("twenty-five")),
            (json!(12.5), "12.5", Some("12.5")),
            (json!(12), "12", None),
            (json!("2026-03-04"), "March 4, 2026", Some("4th of March 2026")),
            (json!("Ada Lovelace"), "Ada Lovelace", Some("Ada Lovelace")),
            (json!("Ada Byron"), "Ada Byron", None),
            (json!("R-200"), "R-200", None),
            (json!(["R-20", "R-2007"]), "", Some("R-20 and r-2007")),
            (json!(["R-20", "R-1"]), "", None),
            (json!({"id": "R-20", "times": 25}), "", Some("R-20 and r-2007, twenty-five")),
            (json!(true), "", None),
            (json!(true), "please", Some("Please")),
            (json!([]), "", None),
        ] {
            assert_eq!(place_of(&value, said, text).map(|at| &text[at]), expected, "{value}");
        }
    }

    #[test]
    fn codes_currencies_plurals_and_times_are_read_as_people_write_them() {
        let text = "Two helmets for C1001, 20 dollars, on March 4, 2026 at 3 pm.";
        for (value, said, expected) in [
            (json!("helmet"), "", Some("helmets")),
            (json!("hel"), "", None),
            (json!("C-1001"), "", Some("C1001")),
            (json!("C-101"), "", None),
            (json!("USD"), "", Some("dollars")),
            (json!("EUR"), "", None),
            (json!("2026-03-04T15:00:00"), "", Some("March 4, 2026 at 3 pm")),
            (json!("2026-03-04T17:30:00"), "", None),
            (json!("2026-03-04 00:00"), "", Some("March 4, 2026")),
        ] {
            assert_eq!(place_of(&value, said, text).map(|at| &text[at]), expected, "{value}");
        }
    }

    #[test]
    fn letters_whose_other_case_is_longer_move_nothing() {
        let text = "İstanbul, then B-4 at İzmir";
        for value in ["İstanbul", "B-4", "İzmir"] {
            assert_eq!(place_of(&json!(value), value, text).map(|at| &text[at]), Some(value));
        }
    }
}
