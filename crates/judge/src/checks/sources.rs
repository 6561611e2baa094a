//! Everything a value of the answer can come from: results, the user's and the system's texts, arguments of calls.
//!
//! Texts of the assistant are no source, with one exception: what the user confirms in the next message. Docs of functions are a
//! source of names only, because their examples are where invented values come from.

use std::collections::BTreeSet;

use callsieve_bfcl::conversation::{Message, Role};
use serde_json::Value as Json;

use super::dates::Date;
use super::lists;
use super::mentions::{Value, mentions};
use super::path::Path;

/// Beginnings of a message that confirms what the assistant wrote, in lower case.
const CONFIRMATIONS: [&str; 13] = [
    "yes",
    "yep",
    "yeah",
    "sure",
    "correct",
    "right",
    "ok",
    "okay",
    "please do",
    "that's",
    "that is",
    "exactly",
    "go ahead",
];
/// Words after which a date need not be written in a source.
const RELATIVE: [&str; 15] = [
    "today",
    "tomorrow",
    "tonight",
    "yesterday",
    "next",
    "last",
    "this week",
    "weekend",
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
];

/// The values of all sources of a path.
#[derive(Default)]
pub(super) struct Sources {
    /// All texts in lower case.
    pub(super) text: String,
    /// The texts without anything but letters and digits.
    pub(super) squeezed: String,
    /// Runs of letters and digits in lower case.
    pub(super) tokens: BTreeSet<String>,
    /// Words in lower case, compound names whole and in parts; also those of docs.
    pub(super) words: BTreeSet<String>,
    pub(super) numbers: Vec<f64>,
    pub(super) dates: Vec<Date>,
    /// Minutes of the day.
    pub(super) times: BTreeSet<u32>,
    /// Sizes of lists, and the number of calls that succeeded.
    pub(super) counts: BTreeSet<usize>,
    /// Sums, means and ranges of lists.
    pub(super) sums: Vec<f64>,
    /// A date of a source is given by its distance from another day.
    pub(super) has_relative_date: bool,
}

impl Sources {
    pub(super) fn of(path: &Path) -> Self {
        let mut sources = Self::default();
        let messages = path.solution.messages;
        for (at, message) in messages.iter().enumerate() {
            sources.add_message(messages, at);
            for call in &message.calls {
                sources.add_text(&call.arguments.to_string());
                sources.add_words(&call.name);
            }
        }
        for doc in path.solution.functions {
            sources.add_words(&doc.to_string());
        }
        sources.counts.insert(path.exchanges.iter().filter(|exchange| exchange.succeeded()).count());
        sources.numbers.sort_by(f64::total_cmp);
        sources.numbers.dedup();
        sources
    }

    /// Adds the text of a message, unless it is one of the assistant that nobody confirmed.
    pub(super) fn add_message(&mut self, messages: &[Message], at: usize) {
        let message = &messages[at];
        if message.role != Role::Assistant || messages.get(at + 1).is_some_and(confirms) {
            self.add_text(&message.content);
        }
    }

    /// The values of one text, without counts and sums of its parts.
    pub(super) fn of_text(content: &str) -> Self {
        let mut sources = Self::default();
        for text in decoded(content) {
            sources.add_decoded(&text);
        }
        sources
    }

    pub(super) fn add_text(&mut self, content: &str) {
        for text in decoded(content) {
            self.add_decoded(&text);
        }
        self.counts.extend(lists::sizes(content));
        self.counts.insert(content.lines().filter(|line| !line.trim().is_empty()).count());
        self.sums.extend(lists::sums(content));
    }

    fn add_decoded(&mut self, text: &str) {
        let folded = text.to_lowercase();
        self.has_relative_date |= RELATIVE.iter().any(|word| folded.contains(word));
        self.squeezed.extend(folded.chars().filter(|c| c.is_alphanumeric()));
        self.squeezed.push(' ');
        self.tokens.extend(folded.split(|c: char| !c.is_alphanumeric()).map(str::to_owned));
        self.text += &folded;
        self.text.push('\n');
        self.add_words(text);
        let chars: Vec<char> = text.chars().collect();
        for mention in mentions(&chars) {
            self.add_value(mention.value);
        }
    }

    fn add_value(&mut self, value: Value) {
        match value {
            Value::Date(dates) => self.dates.extend(dates),
            Value::Time(minutes) => self.times.extend(minutes),
            Value::Number(number) => self.numbers.push(number.value),
            Value::Id(id) => {
                self.dates.extend(Date::of_digits(&id));
                let runs = id.split(|c: char| !c.is_ascii_digit()).filter_map(|run| run.parse::<f64>().ok());
                self.numbers.extend(runs);
                self.tokens.insert(id);
            }
            Value::Url(_) | Value::Email(_) => {}
        }
    }

    fn add_words(&mut self, text: &str) {
        let mut word = String::new();
        let mut before = ' ';
        for c in text.chars() {
            let is_cut = c.is_uppercase() && before.is_lowercase();
            if (!c.is_alphanumeric() || is_cut) && !word.is_empty() {
                self.words.insert(std::mem::take(&mut word));
            }
            if c.is_alphanumeric() {
                word.extend(c.to_lowercase());
            }
            before = c;
        }
        self.words.insert(word);
        self.words.extend(text.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase));
    }
}

fn confirms(message: &Message) -> bool {
    let start: String = message.content.trim_start().chars().take(16).collect::<String>().to_lowercase();
    message.role == Role::User && CONFIRMATIONS.iter().any(|word| start.starts_with(word))
}

/// Returns a text and, if it is JSON, its strings without escapes; JSON inside of strings is decoded as well.
fn decoded(content: &str) -> Vec<String> {
    let mut texts = vec![content.to_owned()];
    let mut open: Vec<Json> = serde_json::from_str(content).into_iter().collect();
    while let Some(value) = open.pop() {
        match value {
            Json::String(text) => {
                open.extend(
                    serde_json::from_str(&text)
                        .ok()
                        .filter(|inner: &Json| inner.is_object() || inner.is_array()),
                );
                if text.contains(['\n', '\t', '"', '\\']) || !text.is_ascii() {
                    texts.push(text);
                }
            }
            Json::Array(items) => open.extend(items),
            Json::Object(entries) => open.extend(entries.into_iter().map(|(_, value)| value)),
            _ => {}
        }
    }
    // Escapes of texts that are cut off, and of Python.
    if content.contains("\\u") || content.contains("\\n") {
        texts.push(without_escapes(content));
    }
    texts
}

/// Replaces `\uXXXX` by its character and other escapes by a space.
fn without_escapes(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        plain += &rest[..at];
        rest = rest[at..].trim_start_matches('\\');
        let code = rest
            .strip_prefix('u')
            .and_then(|code| code.get(..4))
            .and_then(|code| u32::from_str_radix(code, 16).ok());
        if let Some(c) = code.and_then(char::from_u32) {
            plain.push(c);
            rest = &rest[5..];
        } else {
            plain.push(' ');
            rest = rest.strip_prefix(['n', 't', 'r']).unwrap_or(rest);
        }
    }
    plain + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_decoded_in_json_and_in_cut_texts() {
        assert_eq!(without_escapes(r"Cal\u00e9donie\nMole \\u00e9 \u12"), "Calédonie Mole é  u12");
        assert!(decoded(r#"{"a": "{\"b\": \"Mol\u00e9\"}"}"#).contains(&"Molé".to_owned()));
    }
}
