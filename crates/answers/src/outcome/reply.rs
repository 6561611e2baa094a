//! Whether a reply to the user reports a success: it uses data of the result that nobody had given before, and denies nothing.

use std::collections::BTreeSet;

use callsieve_bfcl::conversation::{Call, Message};
use callsieve_text::words::is_unspaced;
use serde_json::Value;

use super::result::is_doubtful;
use super::words::{APOLOGIES, has_negation, has_one};

/// Letters of a word that means something.
const MIN_LETTERS: usize = 3;
/// Words of a text that is a name or a phrase: a reply repeats all of it.
const MOST_OF_A_NAME: usize = 4;

/// Returns `true` if a reply apologises or reports a failure.
pub(super) fn admits_failure(reply: &str) -> bool {
    let lower = reply.to_lowercase();
    is_doubtful(&lower) || has_one(&lower, APOLOGIES)
}

/// A value of a result, under its key; elements of lists have none.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Datum {
    pub(super) key: Option<String>,
    pub(super) value: Value,
}

impl Datum {
    /// A result that says no.
    pub(super) fn no() -> Self {
        Self { key: None, value: Value::Bool(false) }
    }

    /// Whether it is a no, or the number 0, of what was asked for nothing, or below it, as codes of errors are.
    pub(super) fn is_nothing(&self) -> bool {
        self.value == Value::Bool(false) || self.value.as_f64().is_some_and(|number| number <= 0.0)
    }

    /// Whether the result only repeats an argument.
    fn is_echo(&self, calls: &[Call]) -> bool {
        let Some(key) = &self.key else { return true };
        calls.iter().any(|call| {
            let arguments = call.arguments.as_object().into_iter().flatten();
            arguments.into_iter().any(|(name, value)| name.to_lowercase() == *key && *value == self.value)
        })
    }
}

/// Returns `true` if a reply uses one of the values of a result that is new, or two that it had, and denies nothing in its
/// first sentence. A number is new under a key of its own: an average may be a number that was given.
pub(super) fn uses(reply: &str, data: &[Datum], before: &[Message], calls: &[Call]) -> bool {
    let lower = reply.to_lowercase().replace("no. ", "nr ");
    if denies(first_sentence(&lower), data) {
        return false;
    }
    let reply = Content::of(&lower);
    let mut known = Content::default();
    for message in before {
        known.add(&message.content.to_lowercase());
    }
    for call in calls {
        known.add(&call.arguments.to_string().to_lowercase());
    }
    let mut n_known = 0;
    data.iter().any(|datum| {
        let used = match &datum.value {
            Value::Number(number) => {
                let forms = number_forms(number.as_f64().unwrap_or_default());
                let is_known = || forms.first().is_some_and(|whole| known.numbers.contains(whole));
                match forms.iter().any(|form| reply.numbers.contains(form)) {
                    false => Used::Not,
                    true if is_known() && datum.is_echo(calls) => Used::Known,
                    true => Used::New,
                }
            }
            Value::String(text) => reply.has(&text.to_lowercase(), &known),
            _ => Used::Not,
        };
        n_known += usize::from(used == Used::Known);
        used == Used::New
    }) || n_known >= 2
}

/// Whether a sentence denies something. A code of the result (wind from "NE 3") and a number ("reservation no R-7") do not.
fn denies(sentence: &str, data: &[Datum]) -> bool {
    if !has_negation(sentence) {
        return false;
    }
    let mut rest = sentence.to_owned();
    for datum in data {
        if let Value::String(text) = &datum.value
            && text.contains(|c: char| c.is_ascii_digit())
        {
            rest = rest.replace(&text.to_lowercase(), ", ");
        }
    }
    let words: Vec<&str> = rest.split_whitespace().collect();
    let is_number = |word: &str| word.contains(|c: char| c.is_ascii_digit() || c == ',');
    let names_number = |at: usize| words[at] == "no" && words.get(at + 1).is_some_and(|next| is_number(next));
    let kept = words.iter().enumerate().filter(|(at, _)| !names_number(*at)).map(|(_, word)| *word);
    has_negation(&kept.collect::<Vec<_>>().join(" "))
}

/// How a reply uses a text.
#[derive(PartialEq, Eq)]
enum Used {
    Not,
    /// It repeats what the conversation had.
    Known,
    New,
}

impl Used {
    fn of(is_used: bool, is_known: bool) -> Self {
        match (is_used, is_known) {
            (false, _) => Self::Not,
            (true, true) => Self::Known,
            (true, false) => Self::New,
        }
    }
}

/// The words and numbers of a text in lower case.
#[derive(Debug, Default)]
struct Content {
    text: String,
    words: BTreeSet<String>,
    /// Their digits, without separators; of decimals also the whole part.
    numbers: BTreeSet<String>,
}

impl Content {
    fn of(lower: &str) -> Self {
        let mut words = Self::default();
        words.add(lower);
        words
    }

    fn add(&mut self, lower: &str) {
        self.text.push_str(lower);
        self.text.push('\n');
        self.words.extend(words_of(lower));
        self.numbers.extend(numbers_of(lower));
    }

    /// How this text uses another one.
    fn has(&self, other: &str, known: &Self) -> Used {
        // An amount: "898.09元".
        let is_amount = other.contains(is_unspaced) && other.chars().filter(|c| !c.is_ascii()).count() <= 1;
        let numbers = if is_amount { numbers_of(other) } else { Vec::new() };
        if !numbers.is_empty() {
            let all_in = |set: &Self| numbers.iter().all(|number| set.numbers.contains(number));
            return Used::of(all_in(self), all_in(known));
        }
        if other.contains(is_unspaced) {
            return Used::of(repeats(&self.text, other), repeats(&known.text, other));
        }
        if let Some(day) = day_of(other) {
            let is_known = known.text.contains(other) || known.numbers.contains(day);
            return Used::of(self.numbers.contains(day), is_known);
        }
        let is_in = |set: &Self, word: &str| set.words.contains(word) || set.numbers.contains(word);
        let all: Vec<String> = words_of(other).collect();
        let new: Vec<&String> = all.iter().filter(|word| !is_in(known, word)).collect();
        let n_used = |words: &[&String]| words.iter().filter(|word| is_in(self, word)).count();
        let is_enough =
            |n_used: usize, n: usize| if n <= MOST_OF_A_NAME { n_used == n } else { 2 * n_used >= n };
        let references: Vec<&String> = all.iter().collect();
        // Of a phrase with a name that the request had, most of the rest is repeated.
        let is_phrase = || {
            let names: Vec<&String> =
                all.iter().filter(|word| is_in(known, word) && word.contains(char::is_alphabetic)).collect();
            let (n_new, n_names) = (n_used(&new), names.len());
            all.len() > MOST_OF_A_NAME
                && n_names >= 2
                && n_used(&names) == n_names
                && 3 * n_new >= 2 * new.len()
        };
        match (all.is_empty(), new.is_empty()) {
            (false, true) if is_enough(n_used(&references), all.len()) => Used::Known,
            (false, false) if is_enough(n_used(&new), new.len()) || is_phrase() => Used::New,
            _ => Used::Not,
        }
    }
}

/// Whether a text repeats another one without spaces: all of it if it is short, else most of its pairs of characters.
fn repeats(text: &str, other: &str) -> bool {
    let signs: Vec<char> = other.chars().filter(|c| c.is_alphanumeric()).collect();
    if signs.len() <= MOST_OF_A_NAME {
        return !signs.is_empty() && text.contains(&signs.iter().collect::<String>());
    }
    let n_found = signs.windows(2).filter(|pair| text.contains(&pair.iter().collect::<String>())).count();
    3 * n_found >= 2 * (signs.len() - 1)
}

/// Returns the words with some meaning of a text in lower case; numbers without zeros before them.
fn words_of(lower: &str) -> impl Iterator<Item = String> + '_ {
    let words = lower.split(|c: char| !c.is_alphanumeric()).map(|word| match word.trim_start_matches('0') {
        "" => word,
        bare if word.bytes().all(|byte| byte.is_ascii_digit()) => bare,
        _ => word,
    });
    words
        .filter(|word| word.chars().count() >= MIN_LETTERS || word.contains(|c: char| c.is_numeric()))
        .map(str::to_owned)
}

/// Returns the digits of each number in a text, with and without its decimals.
pub(super) fn numbers_of(text: &str) -> Vec<String> {
    let mut numbers = Vec::new();
    let signs: Vec<char> = text.chars().collect();
    let mut at = 0;
    while at < signs.len() {
        if !signs[at].is_ascii_digit() {
            at += 1;
            continue;
        }
        let (mut digits, mut whole) = (String::new(), None);
        while at < signs.len() {
            let next_is_digit = signs.get(at + 1).is_some_and(char::is_ascii_digit);
            match signs[at] {
                digit if digit.is_ascii_digit() => digits.push(digit),
                '.' | ',' | '\'' | '\u{a0}' if next_is_digit => {
                    whole.get_or_insert_with(|| digits.clone());
                }
                _ => break,
            }
            at += 1;
        }
        let bare = |digits: &str| {
            let bare = digits.trim_start_matches('0');
            if bare.is_empty() { "0".to_owned() } else { bare.to_owned() }
        };
        numbers.extend(whole.map(|whole| bare(&whole)));
        numbers.push(bare(&digits));
    }
    numbers
}

/// The digits of a number as people write it: exactly, with one decimal, and rounded.
fn number_forms(number: f64) -> Vec<String> {
    let digits = |text: String| {
        let digits: String = text.chars().filter(char::is_ascii_digit).collect();
        let bare = digits.trim_start_matches('0');
        if bare.is_empty() { "0".to_owned() } else { bare.to_owned() }
    };
    let mut forms = vec![digits(format!("{number}"))];
    if number.fract() != 0.0 {
        forms.extend([
            digits(format!("{number:.2}")),
            digits(format!("{number:.1}")),
            digits(format!("{number:.0}")),
        ]);
    }
    forms
}

/// The day of the month in a date such as `2025-11-05`, without a zero before it.
fn day_of(text: &str) -> Option<&str> {
    let date = text.get(..10).filter(|_| text.len() == 10 || text[10..].starts_with(['t', ' ']))?;
    let mut parts = date.split('-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    let is_number = |part: &str, width| part.len() == width && part.bytes().all(|byte| byte.is_ascii_digit());
    (is_number(year, 4) && is_number(month, 2) && is_number(day, 2)).then(|| day.trim_start_matches('0'))
}

/// A text up to the end of its first sentence; a full stop between digits ends none.
fn first_sentence(text: &str) -> &str {
    let text = text.trim_start();
    let end = text.char_indices().find(|(at, c)| {
        let goes_on = text[at + c.len_utf8()..].starts_with(|next: char| next.is_alphanumeric());
        match c {
            '\n' | '。' | '！' | '？' | '।' => true,
            '.' | '!' | '?' => !goes_on,
            _ => false,
        }
    });
    end.map_or(text, |(at, _)| &text[..at])
}
