//! Texts that are equal but for values: times, numbers, ids, and the names that fill a template.
//!
//! A client that adds the time of day to a system prompt, and a load test that fills one sentence again and again, send
//! different texts that say the same. [`masked`] takes the values out, so that such texts have an equal form.

use std::ops::Range;

use super::calendar::{is_weekday, month_of};

/// The mark in place of a value.
pub const SLOT: &str = "{}";
/// Letters of the longest name of a month.
const LONGEST_MONTH: usize = 10;

/// A text without its values.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Masked {
    /// The text with [`SLOT`] in place of each value.
    pub form: String,
    /// The values, in their order, as written.
    pub values: Vec<String>,
}

/// What counts as a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Values {
    /// Words with a digit, and names of months and weekdays in a text that has a digit.
    Numbers,
    /// Those, quoted texts, and words with a capital inside a sentence.
    NumbersAndNames,
}

/// Takes the values out of a text.
pub fn masked(text: &str, values: Values) -> Masked {
    let has_numbers = text.contains(char::is_numeric);
    if values == Values::Numbers && !has_numbers {
        return Masked { form: text.to_owned(), values: Vec::new() };
    }
    let words = words(text);
    let mut places: Vec<Range<usize>> = Vec::new();
    let is_number = |word: Option<&Range<usize>>| word.is_some_and(|word| has_digit(&text[word.clone()]));
    for (nth, word) in words.iter().enumerate() {
        let written = &text[word.clone()];
        let is_near_number = || is_number(words.get(nth.wrapping_sub(1))) || is_number(words.get(nth + 1));
        let is_value = has_digit(written)
            || (has_numbers && is_of_calendar(written, is_near_number))
            || (values == Values::NumbersAndNames && is_name(text, word));
        if is_value {
            places.push(word.clone());
        }
    }
    if values == Values::NumbersAndNames {
        join_names(text, &mut places);
        put_quotes(text, &mut places);
    }
    let mut masked = Masked::default();
    let mut end = 0;
    for place in places {
        masked.form.push_str(&text[end..place.start]);
        masked.form.push_str(SLOT);
        masked.values.push(text[place.clone()].to_owned());
        end = place.end;
    }
    masked.form.push_str(&text[end..]);
    masked
}

fn has_digit(word: &str) -> bool {
    word.contains(char::is_numeric)
}

/// A weekday, or a month or half of a day beside a number.
fn is_of_calendar(word: &str, is_near_number: impl Fn() -> bool) -> bool {
    if word.chars().nth(LONGEST_MONTH).is_some() {
        return false;
    }
    let lower = word.to_lowercase();
    is_weekday(&lower)
        || (is_near_number() && (month_of(&lower).is_some() || matches!(lower.as_str(), "am" | "pm")))
}

/// A word with a capital that does not begin a sentence, or with a capital inside.
fn is_name(text: &str, word: &Range<usize>) -> bool {
    let written = &text[word.clone()];
    let before =
        text[..word.start].trim_end_matches(|c: char| c.is_whitespace() || matches!(c, '"' | '(' | '\''));
    let begins = before.is_empty()
        || before.ends_with(['.', '!', '?', ':', ';', '\n'])
        || before.len() < word.start && text[before.len()..word.start].contains('\n');
    let is_capital = written.starts_with(char::is_uppercase) && written != "I";
    (is_capital && !begins) || written.chars().skip(1).any(char::is_uppercase)
}

/// Joins values with only a blank between them: a name of two words fills one slot.
fn join_names(text: &str, places: &mut Vec<Range<usize>>) {
    places.dedup_by(|next, before| {
        let is_name = |place: &Range<usize>| !has_digit(&text[place.clone()]);
        let is_one = &text[before.end..next.start] == " " && is_name(before) && is_name(next);
        if is_one {
            before.end = next.end;
        }
        is_one
    });
}

/// Makes each quoted text one value.
fn put_quotes(text: &str, places: &mut Vec<Range<usize>>) {
    const PAIRS: &[(char, char)] =
        &[('"', '"'), ('\u{201c}', '\u{201d}'), ('\u{ab}', '\u{bb}'), ('\u{300c}', '\u{300d}')];
    let mut quotes: Vec<Range<usize>> = Vec::new();
    for &(open, close) in PAIRS {
        let mut from = 0;
        while let Some(start) = text[from..].find(open).map(|at| from + at + open.len_utf8()) {
            let Some(end) = text[start..].find(close).map(|at| start + at) else { break };
            if end > start {
                quotes.push(start..end);
            }
            from = end + close.len_utf8();
        }
    }
    if quotes.is_empty() {
        return;
    }
    quotes.sort_unstable_by_key(|quote| quote.start);
    // A quote inside another.
    quotes.dedup_by(|next, before| next.start < before.end);
    let mut at = 0;
    places.retain(|place| {
        while quotes.get(at).is_some_and(|quote| quote.end <= place.start) {
            at += 1;
        }
        quotes.get(at).is_none_or(|quote| place.end <= quote.start)
    });
    places.extend(quotes);
    places.sort_unstable_by_key(|place| place.start);
}

/// The words of a text: letters and digits, with a sign between two of them.
fn words(text: &str) -> Vec<Range<usize>> {
    let mut words: Vec<Range<usize>> = Vec::new();
    let mut start: Option<usize> = None;
    let mut before = ' ';
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map_or(' ', |(_, c)| *c);
        if c.is_alphanumeric()
            && c.is_ascii() != before.is_ascii()
            && before.is_alphanumeric()
            && is_unlike(before, c)
        {
            // Digits in a text without blanks are a word of their own.
            words.extend(start.take().map(|start| start..at));
        }
        let is_inside = c.is_alphanumeric() || joins(before, c, next);
        match (is_inside, start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                words.push(from..at);
                start = None;
            }
            _ => {}
        }
        before = c;
    }
    words.extend(start.map(|start| start..text.len()));
    words
}

/// A digit beside a letter of another script than Latin.
fn is_unlike(one: char, other: char) -> bool {
    one.is_numeric() != other.is_numeric() && (!one.is_ascii() || !other.is_ascii())
}

/// Whether a sign joins what is around it to one word.
fn joins(before: char, sign: char, after: char) -> bool {
    match sign {
        ',' | ':' => before.is_numeric() && after.is_numeric(),
        '.' | '-' | '/' | '_' | '@' | '+' | '\'' => before.is_alphanumeric() && after.is_alphanumeric(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(text: &str, values: Values) -> String {
        masked(text, values).form
    }

    #[test]
    fn prompts_that_differ_in_the_time_have_one_form() {
        for (one, other) in [
            ("You run lock 4. Now: 2025-11-19 03:00:01.", "You run lock 4. Now: 2025-12-01 17:45:59."),
            ("Today is Friday, 3 May 2024, 5 pm.", "Today is Monday, 12 November 2025, 11 am."),
            ("Heute ist Montag, der 3. März 2025.", "Heute ist Freitag, der 14. Mai 2026."),
            ("现在是2025年3月4日，请回答。", "现在是2026年11月14日，请回答。"),
            ("{\"trace\":\"a3f-99\",\"t\":17}", "{\"trace\":\"b41-07\",\"t\":4}"),
        ] {
            assert_eq!(form(one, Values::Numbers), form(other, Values::Numbers));
            assert_ne!(masked(one, Values::Numbers).values, masked(other, Values::Numbers).values);
        }
    }

    #[test]
    fn prompts_that_say_something_else_have_other_forms() {
        for (one, other) in [
            ("You run lock 4.", "You run gate 4."),
            ("Answer in Dutch. It is 5 o'clock.", "Answer in Danish. It is 5 o'clock."),
            ("March on. Stop.", "May on. Stop."),
            ("It is Monday.", "It is Tuesday."),
        ] {
            assert_ne!(form(one, Values::Numbers), form(other, Values::Numbers));
        }
    }

    #[test]
    fn a_template_is_what_its_fillings_share() {
        for (one, other) in [
            ("Set room 136 to 20.5 degrees", "Set room 7b to 18 degrees"),
            ("book a berth for Sea Wolf on 2025-03-04", "book a berth for Anna on 2026-01-30"),
            ("play \"la mer\" now", "play \"over the hills and far away\" now"),
            ("把房间12调到20度", "把房间305调到18度"),
        ] {
            assert_eq!(form(one, Values::NumbersAndNames), form(other, Values::NumbersAndNames));
        }
        assert_eq!(
            form("Set room 136 to 20.5 degrees", Values::NumbersAndNames),
            "Set room {} to {} degrees"
        );
    }

    proptest::proptest! {
        #[test]
        fn the_values_fill_the_form(text in "[ A-Za-z0-9.:,/\"'“”一二é\n{}-]{0,60}") {
            for values in [Values::Numbers, Values::NumbersAndNames] {
                let masked = masked(&text, values);
                // A text may hold the mark itself; then only the length is certain.
                if !text.contains(SLOT) {
                    let mut filled = masked.form.clone();
                    for value in &masked.values {
                        filled = filled.replacen(SLOT, value, 1);
                    }
                    proptest::prop_assert_eq!(&filled, &text);
                }
            }
        }
    }
}
