//! Whether the values of a call can be traced to what the conversation and the docs hold.
//!
//! A verified answer must hold no value that nobody gave: a changed address, a translated name, a made-up date. Traced are
//! values that a text has, and those that can be computed from it: number words, percentages, durations in smaller units
//! (`durations`), times of day (`times`), dates in another form, and relative dates where the text or the log has the day (`dates`), and codes of currencies, languages and countries (`codes`). A value that needs knowledge, such as the code of an
//! airport, is not traced.

mod codes;
mod dates;
mod durations;
mod number_words;
mod options;
mod place;
mod times;

use std::collections::BTreeSet;

use callsieve_bfcl::conversation::Message;
use callsieve_text::words::is_unspaced;
use jiff::civil::Date;
use serde_json::Value;

pub use options::{calls_contradict, calls_invent_a_number, contradicts_enum};
pub use place::place_of;

use codes::begins_word;
use dates::{date_of, dates_in, relative_dates};
use times::times_in;

/// Words of a text that is a name, a place or a phrase; more are a message, which a model words.
const MOST_OF_A_NAME: usize = 4;
/// Letters at the start of a word that an inflected form keeps.
const STEM: usize = 4;
/// The most letters by which an inflected form differs at its end.
const MOST_OF_AN_ENDING: usize = 3;
/// Words that a name has beside those that tell it from others.
const LINKING: &[&str] = &[
    "the", "a", "an", "of", "is", "are", "was", "be", "and", "der", "die", "das", "ein", "eine", "ist",
    "sind", "und", "el", "la", "los", "las", "de", "del", "es", "y", "le", "les", "du", "des", "et", "est",
    "un", "une",
];

/// Digits of an id, such as a telephone number, which is given sign by sign.
const LEAST_OF_AN_ID: usize = 7;
/// Signs of a word with digits that is a code.
const LEAST_OF_A_CODE: usize = 4;
/// The largest number of which floating point holds every digit.
const MOST_EXACT: u64 = 1 << 53;

/// Times that fill a date up.
const FILLERS: [(u32, u32); 2] = [(0, 0), (23, 59)];
/// Factors between a number of a text and a value, with a letter right after the number ("50k"), and with beginnings of the words
/// that tell of them; before a blank, the whole word.
#[rustfmt::skip] // The words of a factor are together.
const FACTORS: &[(f64, &str, &[&str])] = &[
    (0.01, "", PERCENT),
    (100.0, "", PERCENT),
    (100.0, "", &["cent ", "cents ", "centavo", "centimo", "céntimo", "centime", "centesim", "centimet", "cm ", "pence ",
        "penny ", "pennies ", "копе", "øre ", "öre ", "grosz", "kuruş", "paise ", "minor unit", "hundred", "hundert"]),
    (1e3, "k", &["k ", "thousand", "tausend", "mil ", "mille ", "mila ", "тысяч", "тыс ", "ribu ", "千", "천", "kilo", "km ",
        "kg ", "millis", "millim", "millil", "millig", "tonne", "ton ", "tons "]),
    (1e4, "", &["万", "萬", "만"]),
    (1e6, "m", &["million", "millón", "millon", "milhão", "milhões", "milion", "mio ", "mln ", "mn ", "миллион", "млн", "juta ",
        "百万", "百萬", "백만", "megab", "microsec"]),
    (-1.0, "", &["minus", "negativ", "below", "under ", "unter ", "menos ", "moins ", "meno ", "bajo cero", "sous zéro",
        "subzero", "sub-zero", "минус", "마이너스", "マイナス", "零下", "负", "less ", "lower ", "reduce", "decrease", "down ",
        "west", "south", "°w", "°s", "oeste", "ouest", "ovest", "sud ", "süd"]),
];
/// Signs and words for percent.
const PERCENT: &[&str] = &[
    "%",
    "percent",
    "per cent",
    "prozent",
    "por ciento",
    "por cento",
    "pour cent",
    "per cento",
    "procent",
    "процент",
    "yüzde",
    "persen",
    "百分",
    "パーセント",
    "퍼센트",
];

/// What announces an example in a description, in lower case.
const EXAMPLES: &[&str] = &[
    "e.g",
    "for example",
    "for instance",
    "such as",
    "example:",
    "examples:",
    "z. b.",
    "z.b.",
    "p. ej",
    "par exemple",
    "por ejemplo",
    "zum beispiel",
    "例如",
    "比如",
];

/// The texts that a value may come from.
#[derive(Debug, Clone, Default)]
pub struct Trace {
    /// In lower case, one after the other.
    text: String,
    words: BTreeSet<String>,
    numbers: Vec<f64>,
    /// Those that words make.
    spoken: Vec<f64>,
    /// Those without their parts: of "twenty five" only 25.
    spoken_whole: Vec<f64>,
    dates: BTreeSet<Date>,
}

impl Trace {
    /// Returns the trace to the contents, calls and results of messages.
    pub fn of_messages(messages: &[Message]) -> Self {
        let mut trace = Self::default();
        for message in messages {
            trace.add(&message.content);
            message.calls.iter().for_each(|call| trace.add(&call.arguments.to_string()));
        }
        trace
    }

    /// Adds a text.
    pub fn add(&mut self, text: &str) {
        let lower = text.to_lowercase();
        self.words.extend(words(&lower).map(str::to_owned));
        self.numbers.extend(numbers(&lower));
        let spoken = number_words::of_words(&lower);
        let durations = durations::in_smaller_units(&lower);
        add_new(&mut self.spoken, durations.clone());
        add_new(&mut self.spoken_whole, durations);
        add_new(&mut self.spoken, spoken.numbers);
        add_new(&mut self.spoken_whole, spoken.whole);
        self.dates.extend(dates_in(&lower));
        self.text.push_str(&lower);
        self.text.push('\n');
    }

    /// Adds the docs of a function: its names, texts and numbers, but no examples, which nobody asked for.
    pub fn add_docs(&mut self, docs: &Value) {
        match docs {
            Value::String(text) => self.add(&without_examples(text)),
            Value::Number(number) => self.add(&number.to_string()),
            Value::Array(elements) => elements.iter().for_each(|element| self.add_docs(element)),
            Value::Object(members) => {
                for (key, member) in members {
                    self.add(key);
                    // As keys of a schema they hold values; as names of parameters they hold schemas.
                    if !matches!(key.as_str(), "example" | "examples") || member.get("type").is_some() {
                        self.add_docs(member);
                    }
                }
            }
            Value::Null | Value::Bool(_) => {}
        }
    }

    /// Adds the days that words such as "tomorrow" mean, seen from the days of another text.
    pub(crate) fn add_relative_dates_of(&mut self, other: &Self) {
        for &day in &other.dates {
            self.dates.extend(relative_dates(&self.text, day));
        }
    }

    /// Adds the days that words such as "tomorrow" mean, seen from a day, and from those that a text gives as today.
    pub fn add_relative_dates(&mut self, today: Option<Date>) {
        let given: Vec<Date> = self.dates.iter().copied().chain(today).collect();
        for day in given {
            self.dates.extend(relative_dates(&self.text, day));
        }
    }

    /// Returns `true` if a value may come from the text; a part of a number word, such as the "two" of "twenty-two", gives none.
    pub(crate) fn may_give(&self, value: &Value) -> bool {
        if let Some(number) = value.as_f64() {
            return self.has_written(number) || self.spoken_whole.iter().any(|&own| is_same(own, number));
        }
        // Of "Paris, France" the text must give both.
        let lower = value.as_str().unwrap_or_default().to_lowercase();
        let is_name = words(&lower).count() <= MOST_OF_A_NAME && !lower.contains(char::is_numeric);
        let has_word = |word: &str| self.has_word(word) || word.contains(is_unspaced);
        self.has(value) && (!is_name || codes::names(&lower, &self.text) || words(&lower).all(has_word))
    }

    /// Returns `true` if the text gives a single value as it is: a number that is written with digits or words, a date, or every
    /// word of a text.
    pub(crate) fn gives(&self, value: &Value) -> bool {
        match value {
            Value::Number(number) => number.as_f64().is_some_and(|number| self.has_exact_number(number)),
            Value::String(text) => {
                let lower = text.trim().to_lowercase();
                let is_unspaced = lower.contains(is_unspaced);
                let has_word = |word: &str| self.words.contains(word);
                let number = lower.parse().ok().filter(|_| count(&lower, char::is_numeric) < LEAST_OF_AN_ID);
                let time = clock(&lower);
                match (date_of(&lower), number) {
                    _ if lower.is_empty() => false,
                    _ if time.is_some() => time.is_some_and(|(hours, minutes)| self.has_time(hours, minutes)),
                    (Some(date), _) => {
                        let time = time_of(&lower).filter(|time| !FILLERS.contains(time));
                        let has_time = time.is_none_or(|(hours, minutes)| self.has_time(hours, minutes));
                        self.dates.contains(&date) && has_time
                    }
                    (_, Some(number)) => self.has_exact_number(number),
                    _ if is_unspaced => self.text.contains(&lower),
                    _ => words(&lower).all(has_word) && words(&lower).next().is_some(),
                }
            }
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => false,
        }
    }

    /// Returns `true` if every part of a value can be traced. Yes and no need not be.
    pub fn has(&self, value: &Value) -> bool {
        match value {
            Value::Null | Value::Bool(_) => true,
            // An id that floating point cannot hold is compared as digits.
            Value::Number(number) if number.as_u64().is_some_and(|id| id > MOST_EXACT) => {
                holds(&self.text, &number.to_string())
            }
            Value::Number(number) => self.has_number(number.as_f64().unwrap_or_default()),
            Value::String(text) => self.has_text(text),
            Value::Array(elements) => elements.iter().all(|element| self.has(element)),
            Value::Object(members) => members.values().all(|member| self.has(member)),
        }
    }

    fn has_number(&self, number: f64) -> bool {
        self.has_written(number) || self.spoken.iter().any(|&own| is_same(own, number))
    }

    /// Whether digits give a number, or a factor of it that the text speaks of.
    fn has_written(&self, number: f64) -> bool {
        let has = |factor: f64| self.numbers.iter().any(|&own| is_same(own * factor, number));
        has(1.0)
            || FACTORS.iter().any(|(factor, joined, words)| {
                has(*factor)
                    && (begins_word(&self.text, words)
                        || self.has_joined(joined)
                        || *factor < 0.0 && has_minus(&self.text))
            })
    }

    /// Whether letters stand right after a number: "50k".
    fn has_joined(&self, letters: &str) -> bool {
        let is_joined = |word: &String| {
            let bare = word.trim_start_matches(|c: char| c.is_ascii_digit());
            bare.len() < word.len() && bare == letters
        };
        !letters.is_empty() && self.words.iter().any(is_joined)
    }

    fn has_exact_number(&self, number: f64) -> bool {
        self.numbers.iter().chain(&self.spoken_whole).any(|&own| is_same(own, number))
    }

    fn has_text(&self, value: &str) -> bool {
        let lower = value.trim().to_lowercase();
        if let Some((hours, minutes)) = clock(&lower) {
            return self.has_time(hours, minutes);
        }
        if lower.is_empty() || holds(&self.text, &lower) {
            return true;
        }
        if codes::names(&lower, &self.text) {
            return true;
        }
        if let Some(date) = date_of(&lower) {
            return self.dates.contains(&date) && self.has_time_of_day(&lower);
        }
        // A number, or a long one, which is an id or has blanks in another place.
        let (n_digits, n_letters) = (count(&lower, char::is_numeric), count(&lower, char::is_alphabetic));
        let is_long = n_digits >= LEAST_OF_AN_ID && n_digits + n_letters >= LEAST_OF_AN_ID;
        if let (Ok(number), false) = (lower.parse::<f64>(), is_long) {
            return self.has_number(number);
        }
        if is_long && n_letters < n_digits && !lower.contains(['@', ':']) {
            return holds_in_groups(&self.text, &lower);
        }
        // A code, an address or a path is given sign by sign.
        let has_digit = lower.contains(|c: char| c.is_numeric());
        let is_code =
            !lower.contains(char::is_whitespace) && (has_digit || lower.contains(['@', '_', '/', '\\']));
        if is_code || lower.contains(is_unspaced) {
            return false;
        }
        let all: Vec<&str> = words(&lower).collect();
        // Digits are given as they are: all of a number in groups, the codes and years of a sentence.
        let is_given = |word: &&str| {
            let is_number = || word.parse().is_ok_and(|number| self.has_exact_number(number));
            !word.contains(|c: char| c.is_numeric()) || self.words.contains(*word) || is_number()
        };
        let is_short = |word: &&str| n_letters >= n_digits && word.chars().count() < LEAST_OF_A_CODE;
        if !all.iter().all(|word| is_short(word) || is_given(word)) {
            return false;
        }
        if all.len() <= MOST_OF_A_NAME && !has_digit {
            // Of "Paris, France" the user may name the town only.
            let named = lower.split_once(',').filter(|(first, _)| words(first).next().is_some());
            return named.is_some_and(|(first, _)| holds(&self.text, first.trim()))
                || self.has_all_words(&all);
        }
        let n_found = all.iter().filter(|word| self.has_word(word)).count();
        3 * n_found >= 2 * all.len()
    }

    /// Whether all words of a name occur, but for those that every text has.
    fn has_all_words(&self, all: &[&str]) -> bool {
        let mut telling = all.iter().filter(|word| !LINKING.contains(word)).peekable();
        telling.peek().is_some() && telling.all(|word| self.has_word(word))
    }

    /// Whether a word occurs, or an inflected form of it.
    fn has_word(&self, word: &str) -> bool {
        if self.words.contains(word) {
            return true;
        }
        let n_letters = word.chars().count();
        if n_letters <= STEM || word.contains(|c: char| c.is_numeric()) {
            return false;
        }
        let stem: String = word.chars().take((n_letters - 2).max(STEM)).collect();
        let is_inflected = |other: &String| {
            let n_shared = word.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
            other.chars().count() <= n_shared + MOST_OF_AN_ENDING
        };
        let mut alike = self.words.range(stem.clone()..).take_while(|other| other.starts_with(&stem));
        alike.any(is_inflected)
    }

    /// Whether the time of a date with one occurs. Midnight and the last minute only fill a date up, where no time is written.
    fn has_time_of_day(&self, lower: &str) -> bool {
        let Some((hours, minutes)) = time_of(lower) else { return true };
        let is_filler = FILLERS.contains(&(hours, minutes));
        let times = times_in(&self.text);
        times
            .iter()
            .any(|time| (time.hours, time.minutes) == (hours, minutes) && (time.is_written || !is_filler))
            || is_filler && !times.iter().any(|time| time.is_written)
    }

    /// Whether a time of day occurs: 19:30, 7.30 pm, 7 in the evening.
    fn has_time(&self, hours: u32, minutes: u32) -> bool {
        times_in(&self.text).iter().any(|time| (time.hours, time.minutes) == (hours, minutes))
    }
}

/// A description in lower case without its examples: from their announcement to the end of the bracket, the sentence or the line.
fn without_examples(text: &str) -> String {
    let lower = text.to_lowercase();
    let mut kept = String::new();
    let mut rest = lower.as_str();
    while let Some(at) = EXAMPLES.iter().filter_map(|word| rest.find(word)).min() {
        kept.push_str(&rest[..at]);
        kept.push('\n');
        let example = &rest[at..];
        // The points of "e.g." end no sentence.
        let abbreviation =
            EXAMPLES.iter().filter(|word| example.starts_with(**word)).map(|word| word.len()).max();
        let from = abbreviation.unwrap_or_default();
        let begin =
            from + example[from..].len() - example[from..].trim_start_matches(['.', ',', ':', ' ']).len();
        let end = [". ", "\n", ")", ";"].iter().filter_map(|end| example[begin..].find(end)).min();
        rest = end.map_or("", |end| &example[begin + end..]);
    }
    kept + rest
}

/// Whether a text has another one. Digits of it are no part of a longer number; letters begin a word, and only an ending follows
/// them, but nothing after an abbreviation.
fn holds(text: &str, part: &str) -> bool {
    let is_digit = |c: Option<char>| c.is_some_and(char::is_numeric);
    let is_spaced = |c: Option<char>| c.is_some_and(|c| c.is_alphabetic() && !is_unspaced(c));
    let (first, last) = (part.chars().next(), part.chars().next_back());
    text.match_indices(part).any(|(at, _)| {
        let (before, rest) = (text[..at].chars().next_back(), &text[at + part.len()..]);
        let is_inside = is_digit(first) && is_digit(before)
            || is_digit(last) && is_digit(rest.chars().next())
            || is_spaced(first) && is_spaced(before);
        !is_inside && (!is_spaced(last) || is_ending(part, rest))
    })
}

/// Whether the letters after a part of a text are an ending of it: at most three, and of a short word only a plural.
fn is_ending(part: &str, rest: &str) -> bool {
    let end = rest.find(|c: char| !c.is_alphabetic() || is_unspaced(c)).unwrap_or(rest.len());
    let ending = &rest[..end];
    match part.chars().count() {
        0..=2 => ending.is_empty(),
        3..=STEM => matches!(ending, "" | "s" | "es"),
        _ => ending.chars().count() <= MOST_OF_AN_ENDING,
    }
}

/// Whether a number of a text has a minus before it.
fn has_minus(text: &str) -> bool {
    text.match_indices(['-', '−']).any(|(at, sign)| {
        let (before, after) = (&text[..at], &text[at + sign.len()..]);
        after.starts_with(|c: char| c.is_ascii_digit()) && !before.ends_with(char::is_alphanumeric)
    })
}

/// Whether a text has an id, with blanks and signs between groups in other places.
fn holds_in_groups(text: &str, id: &str) -> bool {
    let is_between = |c: &char| matches!(c, ' ' | '\u{a0}' | '\u{202f}' | '-' | '.' | '/' | '(' | ')');
    let bare: Vec<char> = id.chars().filter(|c| !is_between(c)).collect();
    let Some(&first) = bare.first() else { return false };
    text.match_indices(first).any(|(at, _)| {
        let mut rest = text[at..].chars();
        let mut read = rest.by_ref().filter(|c| !is_between(c));
        let is_equal = bare.iter().all(|&c| read.next() == Some(c));
        let is_digit = |c: Option<char>| c.is_some_and(char::is_numeric);
        is_equal && !is_digit(text[..at].chars().next_back()) && !is_digit(rest.next())
    })
}

fn count(text: &str, is_one: fn(char) -> bool) -> usize {
    text.chars().filter(|&c| is_one(c)).count()
}

/// Adds the numbers that a list has not yet.
fn add_new(list: &mut Vec<f64>, numbers: Vec<f64>) {
    for number in numbers {
        if !list.contains(&number) {
            list.push(number);
        }
    }
}

/// Whether two numbers are equal but for the last bits of a product: long ids may differ in one digit only.
fn is_same(one: f64, other: f64) -> bool {
    (one - other).abs() <= 4.0 * f64::EPSILON * other.abs().clamp(1e-3, 1e15)
}

/// The hours and minutes of a time such as `19:30` and `7:30 pm`.
fn clock(text: &str) -> Option<(u32, u32)> {
    let half = ["am", "a.m.", "a.m", "pm", "p.m.", "p.m"].into_iter().find_map(|half| {
        let bare = text.strip_suffix(half)?.trim_end();
        bare.ends_with(|c: char| c.is_ascii_digit()).then_some((bare, half.starts_with('p')))
    });
    let text = half.map_or(text, |(bare, _)| bare);
    let (hours, rest) = match text.split_once(':') {
        Some(parts) => parts,
        None if half.is_some() => (text, "00"),
        None => return None,
    };
    let minutes = rest.split(':').next().filter(|minutes| minutes.len() == 2)?;
    let (hours, minutes): (u32, u32) = (hours.parse().ok()?, minutes.parse().ok()?);
    let is_time = hours < 24
        && minutes < 60
        && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b':')
        && (half.is_none() || (1..=12).contains(&hours));
    let hours = half.map_or(hours, |(_, is_after_noon)| hours % 12 + if is_after_noon { 12 } else { 0 });
    is_time.then_some((hours, minutes))
}

/// The time of a date with one, such as `2026-03-04t15:00:00z`.
fn time_of(lower: &str) -> Option<(u32, u32)> {
    let time = &lower[lower.find(['t', ' '])? + 1..];
    let end = time.find(|c: char| !(c.is_ascii_digit() || c == ':')).unwrap_or(time.len());
    clock(time).or_else(|| clock(&time[..end]))
}

/// The words of a text.
fn words(lower: &str) -> impl Iterator<Item = &str> {
    lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// The numbers of a text, with a comma or a point before the decimals or between thousands.
fn numbers(text: &str) -> Vec<f64> {
    let mut numbers = Vec::new();
    let is_of_number = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | '\'');
    for part in text.split(|c: char| !is_of_number(c)) {
        let part = part.trim_matches(['.', ',', '\'']);
        if part.is_empty() {
            continue;
        }
        let digits: String = part.chars().filter(char::is_ascii_digit).collect();
        numbers.extend(digits.parse::<f64>());
        if let Some(at) = part.rfind(['.', ',']) {
            let whole: String = part[..at].chars().filter(char::is_ascii_digit).collect();
            numbers.extend(format!("{whole}.{}", &part[at + 1..]).parse::<f64>());
        }
    }
    numbers
}

#[cfg(test)]
mod tests {
    use callsieve_bfcl::conversation::Role;
    use serde_json::json;

    use super::*;

    fn trace(text: &str) -> Trace {
        let mut trace = Trace::of_messages(&[Message::text(Role::User, text)]);
        trace.add_relative_dates(None);
        trace
    }

    #[test]
    fn a_value_that_a_text_has_is_traced() {
        let trace = trace(
            "Today is Monday, 17 November 2025. Book Da Luigi for three people tomorrow at 7:30 pm, mail johndoe@web.example, 20 % off 1,250.50 EUR",
        );
        for value in [
            json!("Da Luigi"),
            json!(3),
            json!("2025-11-18"),
            json!("19:30"),
            json!("johndoe@web.example"),
            json!(0.2),
            json!(1250.5),
            json!("2025-11-17"),
            json!(true),
            json!(["EUR", 20]),
            json!({"a": {"b": "luigi"}}),
        ] {
            assert!(trace.has(&value), "{value}");
        }
        for value in [
            json!("john_doe@web.example"),
            json!(4),
            json!("2025-11-19"),
            json!("20:15"),
            json!("Trattoria Roma"),
            json!("R-17"),
            json!("2025-12-17"),
            json!("passwort"),
        ] {
            assert!(!trace.has(&value), "{value}");
        }
    }

    #[test]
    fn an_id_is_given_sign_by_sign() {
        let trace = trace(
            "Chip 276098106234571, tel. 0471 22 90 318, order Q-20815, account BE71 0961 2345 6769, card no. 90071992547409931, \
             about 1.250.000 units for 30 days, call 2 0471 33 10 555",
        );
        for value in [
            json!("276098106234571"),
            json!(276_098_106_234_571_u64),
            json!("0471 22 90 318"),
            json!("04712290318"),
            json!("0471 3310555"),
            json!("Q-20815"),
            json!("20815"),
            json!("BE71096123456769"),
            json!("BE71 0961 2345 6769"),
            json!(90_071_992_547_409_931_u64),
            json!(1_250_000),
            json!("30"),
            json!("order Q-20815 is for 30 days"),
        ] {
            assert!(trace.has(&value), "{value}");
        }
        for value in [
            json!("276098106243571"),
            json!(276_098_106_243_571_u64),
            json!("0471 22 90 381"),
            json!("04712290381"),
            json!("Q-20851"),
            json!("Q-2081"),
            json!("0815"),
            json!("BE71096123456796"),
            json!(90_071_992_547_409_937_u64),
            json!("order Q-20851 is for 30 days"),
        ] {
            assert!(!trace.has(&value), "{value}");
        }
    }

    #[test]
    fn words_of_a_message_may_be_inflected_and_a_translation_is_none() {
        let trace = trace("tell bo that the builds are green, and translate it to French");
        assert!(
            trace.has(&json!("The build is green")) && trace.has(&json!("french")) && trace.has(&json!("FR"))
        );
        assert!(!trace.has(&json!("Die Tests sind grün")) && !trace.has(&json!("上海")));
    }

    #[test]
    fn a_part_of_a_name_gives_no_other_name() {
        for (said, value) in [
            ("a hotel in San Diego", "San Jose"),
            ("ring Anna Meier", "Anna Müller"),
            ("the weather in Bremerhaven", "Bremen"),
            ("ship to Austria", "AU"),
            ("ship to Austria", "Australia"),
            ("ship to Denmark", "DE"),
            ("a table in Paris", "Lyon, France"),
        ] {
            assert!(!trace(said).has(&json!(value)), "{said}: {value}");
        }
        for (said, value) in [
            ("weather in Paris", "Paris, France"),
            ("two cars", "car"),
            ("das Wetter in Münchens Süden", "München"),
            ("ship to Austria", "AT"),
            ("in the city of Porto", "Porto City"),
            ("在上海的酒店", "上海"),
            ("12kg of flour", "kg"),
        ] {
            assert!(trace(said).has(&json!(value)), "{said}: {value}");
        }
    }

    #[test]
    fn a_time_of_day_is_compared_with_its_part_of_the_day() {
        for (said, value) in [
            ("Alarm at 7 pm tonight", "07:00"),
            ("at 12:15 am", "12:15"),
            ("Friday at 9", "21:00"),
            ("set an alarm for 3", "02:30"),
            ("on 2025-10-10 at 3 pm", "2025-10-10T03:17"),
            ("on 2025-10-10 at 3 pm", "2025-10-10T00:00:00"),
            ("at 7 am", "7:00 PM"),
        ] {
            assert!(!trace(said).has(&json!(value)), "{said}: {value}");
        }
        for (said, value) in [
            ("Alarm at 7 pm tonight", "19:00"),
            ("at 12:15 am", "00:15"),
            ("um 8 Uhr abends", "20:00"),
            ("on 2025-10-10 at 3 pm", "2025-10-10T15:00:00Z"),
            ("on 2025-10-10, for 2 people", "2025-10-10T00:00:00"),
            ("at 7 in the evening", "7:00 PM"),
            ("a picture of 16:9", "16:9"),
        ] {
            assert!(trace(said).has(&json!(value)), "{said}: {value}");
        }
    }

    #[test]
    fn docs_give_their_values_and_no_examples() {
        let mut trace = Trace::default();
        trace.add_docs(&json!({"name": "ring", "parameters": {"properties": {
            "tower": {"type": "string", "description": "Which tower, e.g. Northgate. Usually Ulmgate (such as T-1234), else all."},
            "example": {"type": "string", "default": "loud"},
            "times": {"type": "integer", "default": 12, "examples": [7]}}}}));
        for value in [json!("Ulmgate"), json!("loud"), json!(12), json!("tower")] {
            assert!(trace.has(&value), "{value}");
        }
        for value in [json!("Northgate"), json!("T-1234"), json!(7)] {
            assert!(!trace.has(&value), "{value}");
        }
        assert_eq!(without_examples("e.g."), "\n");
        assert_eq!(without_examples("Größe, z.B. İ; 例如"), "größe, \n; \n");
    }

    #[test]
    fn a_factor_needs_its_sign_or_word() {
        for (said, value) in [
            ("Transfer 50 to Anna", json!(5000)),
            ("Transfer 50 to Anna", json!(50_000)),
            ("Transfer 50 to Anna", json!(-50)),
            ("Transfer 50 to Anna", json!(0.5)),
        ] {
            assert!(!trace(said).has(&value), "{said}: {value}");
        }
        for (said, value) in [
            ("Transfer 50k to Anna", json!(50_000)),
            ("50 euros, the amount in cents", json!(5000)),
            ("at -5 degrees", json!(-5)),
            ("5 below zero", json!(-5)),
            ("a discount of 15 percent", json!(0.15)),
            ("预算 3 万", json!(30_000)),
        ] {
            assert!(trace(said).has(&value), "{said}: {value}");
        }
    }
}
