//! Whether the values of a call can be traced to what the conversation and the docs hold.
//!
//! A verified answer must hold no value that nobody gave: a changed address, a translated name, a made-up date. Traced are
//! values that a text has, and those that can be computed from it: number words, percentages, durations in smaller units
//! (`durations`), dates in another form, and relative dates where the text or the log has the day (`dates`), and codes of currencies, languages and countries (`codes`). A value that needs knowledge, such as the code of an
//! airport, is not traced.

mod codes;
mod dates;
mod durations;
mod number_words;
mod options;
mod place;

use std::collections::BTreeSet;

use callsieve_bfcl::conversation::Message;
use callsieve_text::words::is_unspaced;
use jiff::civil::Date;
use serde_json::Value;

pub use options::{calls_contradict, calls_invent_a_number, contradicts_enum};
pub use place::place_of;

use dates::{date_of, dates_in, relative_dates};

/// Words of a text that is a name, a place or a phrase; more are a message, which a model words.
const MOST_OF_A_NAME: usize = 4;
/// Letters at the start of a word that an inflected form keeps.
const STEM: usize = 4;

/// Digits of an id, such as a telephone number, which is given sign by sign.
const LEAST_OF_AN_ID: usize = 7;
/// Signs of a word with digits that is a code.
const LEAST_OF_A_CODE: usize = 4;
/// The largest number of which floating point holds every digit.
const MOST_EXACT: u64 = 1 << 53;

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
                    (Some(date), _) => self.dates.contains(&date),
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

    /// Whether digits give a number, or a factor of it.
    fn has_written(&self, number: f64) -> bool {
        let is = |other: f64| is_same(other, number);
        // Percent, thousands, the 万 of Chinese and Japanese, millions.
        let factors = [1.0, 0.01, 100.0, 1e3, 1e4, 1e6, -1.0];
        self.numbers.iter().any(|&own| factors.iter().any(|factor| is(own * factor)))
    }

    fn has_exact_number(&self, number: f64) -> bool {
        self.numbers.iter().chain(&self.spoken_whole).any(|&own| is_same(own, number))
    }

    fn has_text(&self, value: &str) -> bool {
        let lower = value.trim().to_lowercase();
        if lower.is_empty() || holds(&self.text, &lower) {
            return true;
        }
        if codes::names(&lower, &self.text) {
            return true;
        }
        if let Some(date) = date_of(&lower) {
            return self.dates.contains(&date);
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
        if let Some((hours, minutes)) = clock(&lower) {
            return self.has_time(hours, minutes);
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
        let n_found = all.iter().filter(|word| self.has_word(word)).count();
        if all.len() <= MOST_OF_A_NAME && !has_digit {
            2 * n_found >= all.len() && n_found > 0
        } else {
            3 * n_found >= 2 * all.len()
        }
    }

    /// Whether a word occurs, or an inflected form of it.
    fn has_word(&self, word: &str) -> bool {
        if self.words.contains(word) {
            return true;
        }
        let stem: String = word.chars().take(word.chars().count().saturating_sub(2).max(STEM)).collect();
        let may_inflect = word.chars().count() > STEM && !word.contains(|c: char| c.is_numeric());
        may_inflect && self.words.range(stem.clone()..).next().is_some_and(|next| next.starts_with(&stem))
    }

    /// Whether a time of day occurs: 19:30, 7.30 pm, 7 in the evening.
    fn has_time(&self, hours: u32, minutes: u32) -> bool {
        let has = |number: u32| self.has_number(f64::from(number));
        let spoken = format!("{}", if hours > 12 { hours - 12 } else { hours });
        let with_minutes =
            |hours: &str, sign: char| self.text.contains(&format!("{hours}{sign}{minutes:02}"));
        let noon = hours == 12
            && minutes == 0
            && ["noon", "mittag", "mediodía", "midi", "mezzogiorno"]
                .iter()
                .any(|word| self.text.contains(word));
        let hour = [spoken, hours.to_string()];
        noon || hour
            .iter()
            .any(|hour| with_minutes(hour, ':') || with_minutes(hour, '.') || with_minutes(hour, 'h'))
            || minutes == 0 && (has(hours) || hours > 12 && has(hours - 12))
            || minutes == 30
                && (has(hours) || has(hours + 1) || hours > 12 && (has(hours - 12) || has(hours - 11)))
    }
}

/// Whether a text has another one; digits of it are no part of a longer number.
fn holds(text: &str, part: &str) -> bool {
    let is_digit = |c: Option<char>| c.is_some_and(char::is_numeric);
    let (first, last) = (part.chars().next(), part.chars().next_back());
    text.match_indices(part).any(|(at, _)| {
        let (before, after) = (text[..at].chars().next_back(), text[at + part.len()..].chars().next());
        !(is_digit(first) && is_digit(before) || is_digit(last) && is_digit(after))
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

/// The hours and minutes of a time such as `19:30`.
fn clock(text: &str) -> Option<(u32, u32)> {
    let (hours, rest) = text.split_once(':')?;
    let minutes = rest.split(':').next()?;
    let (hours, minutes) = (hours.parse().ok()?, minutes.parse().ok()?);
    (hours < 24 && minutes < 60 && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b':'))
        .then_some((hours, minutes))
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
}
