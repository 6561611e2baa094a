//! Whether the values of a call can be traced to what the conversation and the docs hold.
//!
//! A verified answer must hold no value that nobody gave: a changed address, a translated name, a made-up date. Traced are
//! values that a text has, and those that can be computed from it: number words, percentages, dates in another form, and
//! relative dates where the text or the log has the day (`dates`), and codes of currencies and languages (`codes`). A value that needs knowledge, such as the code of an
//! airport, is not traced.

mod codes;
mod dates;

use std::collections::BTreeSet;

use callsieve_bfcl::conversation::Message;
use callsieve_text::words::is_unspaced;
use jiff::civil::Date;
use serde_json::Value;

use dates::{date_of, dates_in, relative_dates};

/// Words of a text that is a name, a place or a phrase; more are a message, which a model words.
const MOST_OF_A_NAME: usize = 4;
/// Letters at the start of a word that an inflected form keeps.
const STEM: usize = 4;

/// Number words, with their value. Those of one letter or two are not listed.
#[rustfmt::skip] // The words of a language are together.
const NUMBER_WORDS: &[(&str, u32)] = &[
    ("one", 1), ("single", 1), ("two", 2), ("couple", 2), ("pair", 2), ("both", 2), ("double", 2), ("three", 3),
    ("triple", 3), ("four", 4), ("five", 5), ("six", 6), ("seven", 7), ("eight", 8), ("nine", 9), ("ten", 10),
    ("eleven", 11), ("twelve", 12), ("dozen", 12), ("thirteen", 13), ("fourteen", 14), ("fifteen", 15),
    ("sixteen", 16), ("seventeen", 17), ("eighteen", 18), ("nineteen", 19), ("twenty", 20), ("thirty", 30),
    ("forty", 40), ("fifty", 50), ("sixty", 60), ("seventy", 70), ("eighty", 80), ("ninety", 90), ("hundred", 100),
    ("thousand", 1000), ("first", 1), ("second", 2), ("third", 3), ("once", 1), ("twice", 2), ("ein", 1), ("eine", 1),
    ("einen", 1), ("einer", 1), ("zwei", 2), ("drei", 3), ("vier", 4), ("fünf", 5), ("sechs", 6), ("sieben", 7),
    ("acht", 8), ("neun", 9), ("zehn", 10), ("elf", 11), ("zwölf", 12), ("zwanzig", 20), ("hundert", 100), ("uno", 1),
    ("una", 1), ("dos", 2), ("tres", 3), ("cuatro", 4), ("cinco", 5), ("seis", 6), ("siete", 7), ("ocho", 8),
    ("nueve", 9), ("diez", 10), ("doce", 12), ("veinte", 20), ("cien", 100), ("une", 1), ("deux", 2), ("trois", 3),
    ("quatre", 4), ("cinq", 5), ("sept", 7), ("huit", 8), ("neuf", 9), ("dix", 10), ("douze", 12), ("vingt", 20),
    ("cent", 100), ("due", 2), ("tre", 3), ("quattro", 4), ("cinque", 5), ("sei", 6), ("sette", 7), ("otto", 8),
    ("nove", 9), ("dieci", 10), ("dodici", 12), ("venti", 20), ("cento", 100), ("um", 1), ("uma", 1), ("dois", 2),
    ("duas", 2), ("três", 3), ("quatro", 4), ("sete", 7), ("oito", 8), ("dez", 10), ("doze", 12), ("vinte", 20),
    ("cem", 100), ("twee", 2), ("drie", 3), ("vijf", 5), ("zes", 6), ("zeven", 7), ("negen", 9), ("tien", 10),
    ("twaalf", 12), ("twintig", 20), ("två", 2), ("fyra", 4), ("fem", 5), ("sex", 6), ("sju", 7), ("åtta", 8),
    ("nio", 9), ("tio", 10), ("два", 2), ("две", 2), ("двух", 2), ("три", 3), ("троих", 3), ("четыре", 4),
    ("пять", 5), ("шесть", 6), ("семь", 7), ("восемь", 8), ("девять", 9), ("десять", 10), ("dwa", 2), ("dwie", 2),
    ("trzy", 3), ("cztery", 4), ("pięć", 5), ("sześć", 6), ("iki", 2), ("üç", 3), ("dört", 4), ("beş", 5),
    ("altı", 6), ("दो", 2), ("तीन", 3), ("चार", 4), ("पांच", 5), ("पाँच", 5), ("छह", 6), ("सात", 7), ("आठ", 8),
    ("नौ", 9), ("दस", 10), ("واحد", 1), ("اثنين", 2), ("ثلاثة", 3), ("أربعة", 4), ("خمسة", 5), ("ستة", 6),
];
/// Digits of Chinese and Japanese.
const HAN_DIGITS: &[(char, u32)] = &[
    ('一', 1),
    ('二', 2),
    ('两', 2),
    ('兩', 2),
    ('三', 3),
    ('四', 4),
    ('五', 5),
    ('六', 6),
    ('七', 7),
    ('八', 8),
    ('九', 9),
    ('十', 10),
];

/// The texts that a value may come from.
#[derive(Debug, Clone, Default)]
pub struct Trace {
    /// In lower case, one after the other.
    text: String,
    words: BTreeSet<String>,
    numbers: Vec<f64>,
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
        self.dates.extend(dates_in(&lower));
        self.text.push_str(&lower);
        self.text.push('\n');
    }

    /// Adds the days that words such as "tomorrow" mean, seen from a day, and from those that a text gives as today.
    pub fn add_relative_dates(&mut self, today: Option<Date>) {
        let given: Vec<Date> = self.dates.iter().copied().chain(today).collect();
        for day in given {
            self.dates.extend(relative_dates(&self.text, day));
        }
    }

    /// Returns `true` if every part of a value can be traced. Yes and no need not be.
    pub fn has(&self, value: &Value) -> bool {
        match value {
            Value::Null | Value::Bool(_) => true,
            Value::Number(number) => self.has_number(number.as_f64().unwrap_or_default()),
            Value::String(text) => self.has_text(text),
            Value::Array(elements) => elements.iter().all(|element| self.has(element)),
            Value::Object(members) => members.values().all(|member| self.has(member)),
        }
    }

    fn has_number(&self, number: f64) -> bool {
        let is = |other: f64| (other - number).abs() <= 1e-9 * number.abs().max(1.0);
        // Percent, thousands, the 万 of Chinese and Japanese, millions.
        let factors = [1.0, 0.01, 100.0, 1e3, 1e4, 1e6, -1.0];
        let of_words = NUMBER_WORDS.iter().filter(|(word, _)| self.words.contains(*word)).map(|(_, n)| *n);
        let of_digits = HAN_DIGITS.iter().filter(|(digit, _)| self.text.contains(*digit)).map(|(_, n)| *n);
        self.numbers.iter().any(|&own| factors.iter().any(|factor| is(own * factor)))
            || of_words.chain(of_digits).any(|own| is(f64::from(own)))
    }

    fn has_text(&self, value: &str) -> bool {
        let lower = value.trim().to_lowercase();
        if lower.is_empty() || self.text.contains(&lower) {
            return true;
        }
        if codes::names(&lower, &self.text) {
            return true;
        }
        if let Some(date) = date_of(&lower) {
            return self.dates.contains(&date);
        }
        if let Ok(number) = lower.parse::<f64>() {
            return self.has_number(number);
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
    fn words_of_a_message_may_be_inflected_and_a_translation_is_none() {
        let trace = trace("tell bo that the builds are green, and translate it to French");
        assert!(
            trace.has(&json!("The build is green")) && trace.has(&json!("french")) && trace.has(&json!("FR"))
        );
        assert!(!trace.has(&json!("Die Tests sind grün")) && !trace.has(&json!("上海")));
    }
}
