//! Finds answers that hold a text the model made up, so that no list of alternatives could hold every right one.
//!
//! The text of a mail, the words of a search: a model writes them anew each time. A value is
//! closed where its words stand in the conversation or in the function's doc, whatever their
//! case and ending. Numbers, dates and measures never make a value open, in whatever notation.
//! Something without a blank in it (a path, an address, an identifier) counts as one word, and
//! in scripts without blanks two signs count as one.
//!
//! Deliberately absent: whether the text is right, and values of one or two words that stand
//! nowhere, such as a spelt-out abbreviation: those have few right spellings, for people to list.

use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::Value;

use crate::conversation::Message;
use crate::text::words::{for_each_word, is_unspaced};

/// Words that write a number, a date, a time or a measure in another notation.
const NOTATION: &[&str] = &[
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
    "jan",
    "feb",
    "mar",
    "apr",
    "jun",
    "jul",
    "aug",
    "sep",
    "sept",
    "oct",
    "nov",
    "dec",
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
    "mon",
    "tue",
    "wed",
    "thu",
    "fri",
    "sat",
    "sun",
    "am",
    "pm",
    "utc",
    "gmt",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "hundred",
    "thousand",
    "million",
    "celsius",
    "fahrenheit",
    "kelvin",
    "degrees",
    "percent",
    "metres",
    "meters",
    "kilometres",
    "kilometers",
    "feet",
    "inches",
    "miles",
    "pounds",
    "kilograms",
    "grams",
    "litres",
    "liters",
    "seconds",
    "minutes",
    "hours",
    "days",
    "weeks",
    "months",
    "years",
    "usd",
    "eur",
    "dollars",
];

/// Letters that two forms of a word must share at least.
const MIN_STEM: usize = 4;
/// Letters by which two forms of a word may differ at the end.
const MAX_ENDING: usize = 3;
/// Half-words in a word: a sign of a script without blanks is a half.
const HALVES: usize = 2;

/// Whether some value of the answer is a text of at least so many made-up words, which are most of it.
///
/// `answer` is BFCL ground truth. A parameter that may be left out is never open; one with several alternatives is
/// open where all of them are.
pub fn has_open_text(messages: &[Message], functions: &[Value], answer: &[Value], min_words: usize) -> bool {
    let said = messages.iter().map(|message| message.content.as_str());
    answer.iter().filter_map(Value::as_object).flatten().any(|(name, parameters)| {
        let values = || parameters.as_object().into_iter().flat_map(|parameters| parameters.values());
        // Most answers hold no text that is long enough, and need no grounds.
        if !values().any(|alternatives| is_open(alternatives, &Grounds::default(), min_words)) {
            return false;
        }
        let doc =
            functions.iter().find(|function| function.get("name").is_some_and(|own| own == name.as_str()));
        let mut grounds = Grounds::default();
        said.clone().for_each(|text| grounds.add(text));
        grounds.add_strings(doc.unwrap_or(&Value::Null));
        values().any(|alternatives| is_open(alternatives, &grounds, min_words))
    })
}

/// All alternatives of a parameter, or of a member of a dict, hold an open text.
fn is_open(alternatives: &Value, grounds: &Grounds, min_words: usize) -> bool {
    match alternatives.as_array() {
        Some(alternatives) => {
            !alternatives.is_empty() && alternatives.iter().all(|value| holds_open(value, grounds, min_words))
        }
        None => holds_open(alternatives, grounds, min_words),
    }
}

fn holds_open(value: &Value, grounds: &Grounds, min_words: usize) -> bool {
    match value {
        Value::String(text) => grounds.is_open(text, min_words),
        Value::Array(elements) => {
            let texts: Vec<&str> = elements.iter().filter_map(Value::as_str).collect();
            grounds.is_open(&texts.join(" "), min_words)
                || elements
                    .iter()
                    .any(|element| !element.is_string() && holds_open(element, grounds, min_words))
        }
        Value::Object(members) => members.values().any(|member| is_open(member, grounds, min_words)),
        _ => false,
    }
}

/// The words that a value may be made of.
#[derive(Debug, Default)]
struct Grounds {
    words: FxHashSet<String>,
    /// The words by their first letters.
    by_stem: FxHashMap<String, Vec<String>>,
}

impl Grounds {
    fn add(&mut self, text: &str) {
        for word in words(text) {
            if let Some(stem) = stem(&word) {
                self.by_stem.entry(stem.to_owned()).or_default().push(word.clone());
            }
            self.words.insert(word);
        }
    }

    /// Adds all keys and texts inside a doc.
    fn add_strings(&mut self, doc: &Value) {
        match doc {
            Value::String(text) => self.add(text),
            Value::Array(elements) => elements.iter().for_each(|element| self.add_strings(element)),
            Value::Object(members) => {
                for (key, member) in members {
                    self.add(key);
                    self.add_strings(member);
                }
            }
            _ => {}
        }
    }

    /// The word stands there, in this form or with another ending, or is only notation.
    fn hold(&self, word: &str) -> bool {
        let other_form = |other: &String| {
            let shared = word.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
            let (short, long) = (word.chars().count(), other.chars().count());
            let (short, long) = (short.min(long), short.max(long));
            shared + MAX_ENDING >= short && long - short <= MAX_ENDING + 1
        };
        NOTATION.contains(&word)
            || self.words.contains(word)
            || stem(word)
                .and_then(|stem| self.by_stem.get(stem))
                .is_some_and(|words| words.iter().any(other_form))
    }

    fn is_open(&self, text: &str, min_words: usize) -> bool {
        let (mut n_halves, mut n_made_up) = (0, 0);
        for part in text.split_whitespace() {
            let words = words(part);
            let signs = words.iter().filter(|word| word.contains(is_unspaced)).count();
            if signs > 0 {
                n_halves += signs;
                n_made_up +=
                    words.iter().filter(|word| word.contains(is_unspaced) && !self.hold(word)).count();
            } else if !words.is_empty() {
                n_halves += HALVES;
                n_made_up += if words.iter().any(|word| self.hold(word)) { 0 } else { HALVES };
            }
        }
        n_made_up >= HALVES * min_words && n_made_up * 2 > n_halves
    }
}

/// The words of a text that hold a letter, folded; the parts of an identifier are words of their own.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for_each_word(text, |token| {
        let parts = token.split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '\u{2019}');
        words.extend(parts.filter(|part| part.contains(char::is_alphabetic)).map(str::to_owned));
    });
    words
}

/// The first letters of a word that is long enough to have endings.
fn stem(word: &str) -> Option<&str> {
    let end = word.char_indices().nth(MIN_STEM).map(|(at, _)| at);
    end.or_else(|| (word.chars().count() == MIN_STEM).then_some(word.len())).map(|end| &word[..end])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::conversation::Role;

    const MIN_WORDS: usize = 4;

    fn is_open_in(query: &str, value: &Value) -> bool {
        let functions = [json!({
            "name": "post_note", "description": "Pins a note to the board of the village hall.",
            "parameters": {"type": "dict", "required": ["note"], "properties": {"note": {"type": "string"}}},
        })];
        let answer = [json!({"post_note": {"note": value}})];
        has_open_text(&[Message::text(Role::User, query)], &functions, &answer, MIN_WORDS)
    }

    #[test]
    fn a_text_that_the_model_wrote_is_open() {
        let query = "Tell everybody that the bell rehearsal is off";
        assert!(is_open_in(query, &json!(["Dear ringers, sadly tonight's practice has been cancelled."])));
        assert!(is_open_in(query, &json!([["Dear ringers", "sadly no practice tonight"]])));
        assert!(is_open_in(
            query,
            &json!([{"title": ["bell rehearsal"], "body": ["Dear ringers, sadly no practice tonight"]}])
        ));
    }

    #[test]
    fn words_of_the_conversation_and_the_doc_are_closed_in_any_form() {
        let query = "Pin this: RINGERS wanted, ask at the bakery. Signed Håkon";
        assert!(!is_open_in(query, &json!(["Ringer wanted, asked at the bakeries, signed HÅKON"])));
        assert!(!is_open_in(query, &json!(["board notes pinned, village halls"])));
    }

    #[test]
    fn numbers_dates_and_measures_are_closed_in_any_notation() {
        let query = "rehearsal 2024-05-03 19:30, 5'10\" rope";
        assert!(!is_open_in(query, &json!(["Friday, 3 May 2024, 7 30 pm UTC"])));
        assert!(!is_open_in(query, &json!(["five feet ten inches"])));
        assert!(!is_open_in(query, &json!(["03.05.2024 19:30 1 2 3 4 5"])));
    }

    #[test]
    fn an_address_is_one_word_and_a_spelt_out_name_is_few() {
        assert!(!is_open_in(
            "where is it?",
            &json!(["https://bells.example/tower/harbour-light/opening/hours"])
        ));
        assert!(!is_open_in("4 stars in LA", &json!(["Los Angeles, CA"])));
    }

    #[test]
    fn a_script_without_blanks_counts_two_signs_as_a_word() {
        assert!(is_open_in("写一条通知", &json!(["亲爱的敲钟人今晚排练取消"])));
        assert!(!is_open_in("写一条通知", &json!(["广州市"])));
        assert!(!is_open_in("排练今晚取消，敲钟人", &json!(["今晚排练取消，敲钟人。"])));
    }

    #[test]
    fn what_may_be_left_out_or_has_a_closed_alternative_is_closed() {
        let made_up = "Dear ringers, sadly no practice tonight";
        assert!(!is_open_in("bell", &json!(["", made_up])));
        assert!(!is_open_in("bell", &json!([made_up, "bell"])));
        assert!(!is_open_in("bell", &json!([])));
        assert!(!is_open_in("bell", &json!([3, true, null])));
    }

    /// The answers of the official set, where it is at hand: people wrote them as lists, so none should be open.
    #[test]
    fn no_official_answer_is_open() {
        let Some(folder) = crate::test_data::path("bfcl-v4-live") else { return };
        let lines = |path: std::path::PathBuf| -> Vec<Value> {
            let text = std::fs::read_to_string(path).unwrap();
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
        };
        let (mut n, mut open) = (0, Vec::new());
        for category in ["simple", "multiple", "parallel", "parallel_multiple"] {
            let name = format!("BFCL_v4_live_{category}.json");
            let answers = lines(folder.join("possible_answer").join(&name));
            for (question, answer) in lines(folder.join(&name)).iter().zip(answers) {
                let messages: Vec<Message> = serde_json::from_value(question["question"][0].clone()).unwrap();
                let (functions, truth) =
                    (question["function"].as_array().unwrap(), answer["ground_truth"].as_array().unwrap());
                n += 1;
                if has_open_text(&messages, functions, truth, MIN_WORDS) {
                    open.push(question["id"].to_string());
                }
            }
        }
        assert_eq!((n, open), (1351, vec![]));
    }

    proptest! {
        #[test]
        fn a_copy_of_the_conversation_is_never_open(words in proptest::collection::vec("\\PC{1,8}", 1..20), from in 0_usize..20) {
            let value = words[from.min(words.len() - 1)..].join(" ");
            prop_assert!(!is_open_in(&words.join(" "), &json!([value])));
        }

        #[test]
        fn fewer_made_up_words_are_never_open(words in proptest::collection::vec("[a-zé'-]{1,9}", 0..MIN_WORDS)) {
            prop_assert!(!is_open_in("", &json!([words.join(" ")])));
        }
    }
}
