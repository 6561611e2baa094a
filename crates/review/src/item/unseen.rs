//! Marks arguments whose value occurs nowhere in the conversation.
//!
//! Values that the doc gives itself (`enum`, `default`, `const`), booleans and null need no source. Numbers are compared as
//! numbers, texts without case, marks and spacing. Dates and units that a model converts are marked too: a person decides.

use serde_json::Value;

use super::arguments::{Argument, arguments};
use super::{Item, Mark, quoted};

pub(super) const CODE: &str = "suspicion/unseen-value";
const WEIGHT: u32 = 3;

/// Numbers that are often written as a word, or follow from "a" and "me".
const MOST_COUNTED: f64 = 12.0;
const WORDS: [&str; 13] = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
];

pub(super) fn marks(item: &Item) -> Vec<Mark> {
    let arguments = arguments(item);
    if arguments.is_empty() {
        return Vec::new();
    }
    let conversation = Conversation::new(item);
    let mark = |argument: &Argument| {
        let values: Vec<&&Value> = argument.values.iter().filter(|value| **value != "").collect();
        let is_known =
            values.iter().any(|value| is_of_the_doc(value, argument.schema) || conversation.has(value));
        let shown = values.first().map(|value| value.as_str().map_or_else(|| value.to_string(), quoted));
        let text = format!("{}: {} is nowhere in the conversation", argument.path, shown?);
        (!is_known).then(|| Mark { code: CODE.to_owned(), text, weight: WEIGHT })
    };
    arguments.iter().filter_map(mark).collect()
}

/// The conversation in the forms in which values are looked up.
struct Conversation {
    text: String,
    words: std::collections::BTreeSet<String>,
    numbers: Vec<f64>,
}

impl Conversation {
    fn new(item: &Item) -> Self {
        let mut all = String::new();
        for (_, text) in item.texts() {
            all.push_str(text);
            all.push('\n');
        }
        for call in item.turns().flat_map(|message| &message.calls) {
            all.push_str(&call.arguments.to_string());
            all.push('\n');
        }
        let text = normal(&all);
        let words = text.split(' ').map(str::to_owned).collect();
        Self { numbers: numbers(&all), words, text }
    }

    fn has(&self, value: &Value) -> bool {
        match value {
            Value::Null | Value::Bool(_) => true,
            Value::Number(number) => number.as_f64().is_none_or(|number| self.has_number(number)),
            Value::String(text) => {
                self.text.contains(&normal(text))
                    || text.trim().parse().is_ok_and(|number: f64| self.has_number(number))
            }
            Value::Array(values) => values.iter().all(|value| self.has(value)),
            Value::Object(object) => object.values().all(|value| self.has(value)),
        }
    }

    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Whole and in range.
    fn has_number(&self, number: f64) -> bool {
        let is_word = || {
            let is_count = number.fract() == 0.0 && (0.0..=MOST_COUNTED).contains(&number);
            let word = WORDS.get(number as usize).filter(|_| is_count);
            word.is_some_and(|word| self.words.contains(*word)) || (number - 1.0).abs() < f64::EPSILON
        };
        self.numbers.iter().any(|known| (known - number).abs() <= f64::EPSILON * number.abs()) || is_word()
    }
}

fn is_of_the_doc(value: &Value, schema: Option<&Value>) -> bool {
    let Some(schema) = schema else { return false };
    let is_of_enum = |schema: &Value| schema["enum"].as_array().is_some_and(|all| all.contains(value));
    is_of_enum(schema)
        || is_of_enum(&schema["items"])
        || [&schema["default"], &schema["const"]].iter().any(|known| !known.is_null() && *known == value)
        || value.as_array().is_some_and(|all| {
            !all.is_empty() && all.iter().all(|value| is_of_the_doc(value, schema.get("items")))
        })
}

/// Returns a text in lower case, with one space for everything that is no letter or digit, and one at each end.
fn normal(text: &str) -> String {
    let mut normal = String::with_capacity(text.len() + 2);
    normal.push(' ');
    for c in text.chars() {
        if c.is_alphanumeric() {
            normal.extend(c.to_lowercase());
        } else if !normal.ends_with(' ') {
            normal.push(' ');
        }
    }
    if !normal.ends_with(' ') {
        normal.push(' ');
    }
    normal
}

/// Returns the numbers of a text; a comma between digits separates thousands, or is a decimal sign.
fn numbers(text: &str) -> Vec<f64> {
    let mut found = Vec::new();
    for word in text.split(|c: char| !c.is_ascii_digit() && c != '.' && c != ',' && c != '-') {
        let word = word.trim_end_matches(['.', ',', '-']);
        if word.is_empty() {
            continue;
        }
        let forms = [word.to_owned(), word.replace(',', ""), word.replace(',', "."), word.replace('.', "")];
        found.extend(forms.iter().filter_map(|form| form.parse::<f64>().ok()));
        found.extend(word.split(['.', ',', '-']).filter_map(|part| part.parse::<f64>().ok()));
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::booking;
    use super::super::{Message, Role};
    use super::*;

    fn texts(query: &str, arguments: Value) -> Vec<String> {
        marks(&booking(query, arguments)).into_iter().map(|mark| mark.text).collect()
    }

    #[test]
    fn a_value_without_a_source_is_marked() {
        let found = texts("Two seats to Oslo please", json!({"city": "Hamar", "seats": 40}));
        assert_eq!(
            found,
            [
                "book.city: \"Hamar\" is nowhere in the conversation",
                "book.seats: 40 is nowhere in the conversation"
            ]
        );
    }

    #[test]
    fn values_with_a_source_are_not_marked() {
        let none: [&str; 0] = [];
        assert_eq!(
            texts("Two seats to OSLO, class?", json!({"city": "oslo", "seats": 2, "class": "first"})),
            none
        );
        assert_eq!(texts("for 1,200.50 crowns", json!({"price": 1200.5, "old": "1200.50"})), none);
        assert_eq!(
            texts("on 2026-05-04", json!({"day": "2026-05-04", "now": true, "x": null, "e": ""})),
            none
        );
    }

    #[test]
    fn a_part_of_a_word_is_no_source() {
        assert_eq!(texts("Oslofjord", json!({"city": "Oslo"})).len(), 1);
    }

    #[test]
    fn earlier_results_are_sources_and_any_alternative_is_enough() {
        let mut item = booking("Book it", json!({}));
        item.drafted_answer = Some(json!([{"book": {"city": ["NYC", "New York"], "code": [""]}}]));
        assert_eq!(marks(&item).len(), 1);
        item.earlier.push(Message {
            role: Role::Tool,
            text: "{\"town\": \"new york\"}".to_owned(),
            calls: vec![],
        });
        assert_eq!(marks(&item), []);
    }
}
