//! Finds answers with open text: text that the model composed, with too many correct values to list.
//!
//! Examples are the text of a mail or the words of a search, which a model writes differently each
//! time. A value is closed if its words occur in the conversation or in the function's doc, in any
//! case and with any ending. Numbers, dates and measures are always closed, in any notation. Text
//! without a blank (a path, an address, an identifier) counts as one word, and in scripts without
//! blanks two characters count as one word.
//!
//! A query in a query language (`code`) is open as well, unless the conversation has it as it stands. So is a text that the model words
//! by what its parameter is, a title or a message: "Docking station broken" for "my docking station is broken".
//!
//! Deliberately absent: whether the text is correct, and values of one or two new words, such as a
//! spelt-out abbreviation: those have few correct spellings, which people can list.

mod code;

use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::Value;

use callsieve_bfcl::conversation::Message;
use callsieve_text::words::{for_each_word, is_unspaced};

/// Words for numbers, dates, times and measures.
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

/// Minimum number of letters that two forms of a word share.
const MIN_STEM: usize = 4;
/// Maximum number of letters by which two forms of a word differ at the end.
const MAX_ENDING: usize = 3;
/// Number of characters that count as a word in a script without blanks.
const CHARS_PER_WORD: usize = 2;
/// Words in the names of parameters that take a text which a model words.
#[rustfmt::skip] // The words of a language are together.
const WORDED: &[&str] = &[
    "text", "message", "body", "title", "subject", "summary", "description", "note", "notes", "comment", "comments", "reason",
    "content",
    "titel", "betreff", "nachricht", "notiz", "kommentar", "beschreibung", "grund",
    "texto", "mensaje", "título", "titulo", "asunto", "nota", "comentario", "descripción", "descripcion", "motivo",
    "texte", "titre", "objet", "commentaire", "motif",
];
/// The fewest words of such a text.
const LEAST_WORDED: usize = 3;

/// Returns whether some value of the answer has at least `min_words` new words that are most of its text, or is a title, a message or the
/// like of at least one word less (three or more) in words that no message and no doc has in this order.
///
/// `answer` is BFCL ground truth. A parameter that may be omitted is never open; one with several alternatives is
/// open if all of them are.
pub fn has_open_text(messages: &[Message], functions: &[Value], answer: &[Value], min_words: usize) -> bool {
    let conversation = messages.iter().map(|message| message.content.as_str());
    answer.iter().filter_map(Value::as_object).flatten().any(|(name, parameters)| {
        let values = || parameters.as_object().into_iter().flat_map(|parameters| parameters.values());
        let has_code = |alternatives: &Value| {
            let is_code =
                |text: &str| code::is_code(text) && !conversation.clone().any(|said| said.contains(text));
            are_all_texts_with(alternatives, &is_code)
        };
        if values().any(has_code) {
            return true;
        }
        let doc =
            functions.iter().find(|function| function.get("name").is_some_and(|own| own == name.as_str()));
        let doc = doc.unwrap_or(&Value::Null);
        let least = LEAST_WORDED.max(min_words.saturating_sub(1));
        let mut worded =
            parameters.as_object().into_iter().flatten().filter(|(name, _)| takes_a_wording(name));
        if worded.any(|(_, alternatives)| is_reworded(alternatives, &conversation, doc, least)) {
            return true;
        }
        // Most answers have no text that is long enough, so the known words are not needed.
        if !values().any(|alternatives| is_open(alternatives, &KnownWords::default(), min_words)) {
            return false;
        }
        let mut known = KnownWords::default();
        conversation.clone().for_each(|text| known.add(text));
        known.add_strings(doc);
        values().any(|alternatives| is_open(alternatives, &known, min_words))
    })
}

/// Returns whether a parameter takes a text that a model words, by its name: `ticket_title`, `messageText`.
fn takes_a_wording(name: &str) -> bool {
    let mut cut = String::new();
    for c in name.chars() {
        if c.is_uppercase() && cut.ends_with(char::is_lowercase) {
            cut.push(' ');
        }
        cut.push(c);
    }
    let lower = cut.to_lowercase();
    lower.split(|c: char| !c.is_alphanumeric()).any(|word| WORDED.contains(&word))
}

/// Returns whether all alternatives are texts of some words, beside numbers and dates, that nobody has in this order.
fn is_reworded<'m>(
    alternatives: &Value,
    conversation: &(impl Iterator<Item = &'m str> + Clone),
    doc: &Value,
    least: usize,
) -> bool {
    let is_one = |value: &Value| {
        // Most are too short to have so many words.
        let Some(text) = value.as_str().filter(|text| text.split_whitespace().count() >= least) else {
            return false;
        };
        let own = words(text);
        let n_telling = own.iter().filter(|word| !NOTATION.contains(&word.as_str())).count();
        let is_known = |other: &str| {
            let other = words(other);
            other.windows(own.len().max(1)).any(|run| run == own)
        };
        n_telling >= least
            && !text.contains(is_unspaced)
            && !conversation.clone().any(is_known)
            && !has_text(doc, &is_known)
    };
    alternatives
        .as_array()
        .is_some_and(|alternatives| !alternatives.is_empty() && alternatives.iter().all(is_one))
}

/// Returns whether some text of a doc is of a kind.
fn has_text(doc: &Value, is_of_kind: &dyn Fn(&str) -> bool) -> bool {
    match doc {
        Value::String(text) => is_of_kind(text),
        Value::Array(elements) => elements.iter().any(|element| has_text(element, is_of_kind)),
        Value::Object(members) => members.values().any(|member| has_text(member, is_of_kind)),
        _ => false,
    }
}

/// Returns whether all alternatives of a parameter have a text of a kind, and there is one.
fn are_all_texts_with(alternatives: &Value, is_of_kind: &dyn Fn(&str) -> bool) -> bool {
    fn has(value: &Value, is_of_kind: &dyn Fn(&str) -> bool) -> bool {
        match value {
            Value::String(text) => is_of_kind(text),
            Value::Array(elements) => elements.iter().any(|element| has(element, is_of_kind)),
            Value::Object(members) => members.values().any(|member| are_all_texts_with(member, is_of_kind)),
            _ => false,
        }
    }
    match alternatives.as_array() {
        Some(alternatives) => {
            !alternatives.is_empty() && alternatives.iter().all(|value| has(value, is_of_kind))
        }
        None => has(alternatives, is_of_kind),
    }
}

/// Returns whether all alternatives of a parameter, or of a member of a dict, contain open text.
fn is_open(alternatives: &Value, known: &KnownWords, min_words: usize) -> bool {
    match alternatives.as_array() {
        Some(alternatives) => {
            !alternatives.is_empty()
                && alternatives.iter().all(|value| contains_open_text(value, known, min_words))
        }
        None => contains_open_text(alternatives, known, min_words),
    }
}

fn contains_open_text(value: &Value, known: &KnownWords, min_words: usize) -> bool {
    match value {
        Value::String(text) => known.is_open(text, min_words),
        Value::Array(elements) => {
            let texts: Vec<&str> = elements.iter().filter_map(Value::as_str).collect();
            known.is_open(&texts.join(" "), min_words)
                || elements
                    .iter()
                    .any(|element| !element.is_string() && contains_open_text(element, known, min_words))
        }
        Value::Object(members) => members.values().any(|member| is_open(member, known, min_words)),
        _ => false,
    }
}

/// The words of the conversation and the doc.
#[derive(Debug, Default)]
struct KnownWords {
    words: FxHashSet<String>,
    /// The words by their first letters.
    by_stem: FxHashMap<String, Vec<String>>,
}

impl KnownWords {
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

    /// Returns whether the word is known, in this form or with another ending, or is a word for a number or date.
    fn contains(&self, word: &str) -> bool {
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
        // Counted in characters of a script without blanks; other words count as several.
        let (mut n_all, mut n_new) = (0, 0);
        for part in text.split_whitespace() {
            let words = words(part);
            let n_unspaced = words.iter().filter(|word| word.contains(is_unspaced)).count();
            if n_unspaced > 0 {
                n_all += n_unspaced;
                n_new +=
                    words.iter().filter(|word| word.contains(is_unspaced) && !self.contains(word)).count();
            } else if !words.is_empty() {
                n_all += CHARS_PER_WORD;
                n_new += if words.iter().any(|word| self.contains(word)) { 0 } else { CHARS_PER_WORD };
            }
        }
        n_new >= CHARS_PER_WORD * min_words && n_new * 2 > n_all
    }
}

/// Returns the words of a text that contain a letter, case-folded; the parts of an identifier are separate words.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for_each_word(text, |token| {
        let parts = token.split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '\u{2019}');
        words.extend(parts.filter(|part| part.contains(char::is_alphabetic)).map(str::to_owned));
    });
    words
}

/// Returns the first letters of a word that is long enough to have endings.
fn stem(word: &str) -> Option<&str> {
    let end = word.char_indices().nth(MIN_STEM).map(|(at, _)| at);
    end.or_else(|| (word.chars().count() == MIN_STEM).then_some(word.len())).map(|end| &word[..end])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use callsieve_bfcl::conversation::Role;

    const MIN_WORDS: usize = 4;

    fn is_open_in(query: &str, value: &Value) -> bool {
        is_open_for(query, "words", value)
    }

    fn is_open_for(query: &str, parameter: &str, value: &Value) -> bool {
        let functions = [json!({
            "name": "post_note", "description": "Pins a note to the board of the village hall.",
            "parameters": {"type": "dict", "required": [parameter], "properties": {parameter: {"type": "string"}}},
        })];
        let answer = [json!({"post_note": {parameter: value}})];
        has_open_text(&[Message::text(Role::User, query)], &functions, &answer, MIN_WORDS)
    }

    #[test]
    fn a_text_that_the_model_words_is_open_by_the_name_of_its_parameter() {
        let query = "my docking station is broken since 3 May";
        for name in ["title", "ticket_title", "messageText", "Betreff"] {
            assert!(is_open_for(query, name, &json!(["Docking station broken"])), "{name}");
        }
        for value in [
            json!(["Docking station is broken"]),
            json!(["broken"]),
            json!(["3 May 2026, 7 pm"]),
            json!(["", "Docking station broken"]),
            json!(["the village hall"]),
            json!([]),
        ] {
            assert!(!is_open_for(query, "title", &value), "{value}");
        }
        assert!(!is_open_for(query, "device", &json!(["Docking station broken"])));
    }

    #[test]
    fn text_composed_by_the_model_is_open() {
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
    fn an_address_is_one_word_and_a_spelt_out_name_has_few() {
        assert!(!is_open_in(
            "where is it?",
            &json!(["https://bells.example/tower/harbour-light/opening/hours"])
        ));
        assert!(!is_open_in("4 stars in LA", &json!(["Los Angeles, CA"])));
    }

    #[test]
    fn in_a_script_without_blanks_two_characters_are_a_word() {
        assert!(is_open_in("写一条通知", &json!(["亲爱的敲钟人今晚排练取消"])));
        assert!(!is_open_in("写一条通知", &json!(["广州市"])));
        assert!(!is_open_in("排练今晚取消，敲钟人", &json!(["今晚排练取消，敲钟人。"])));
    }

    #[test]
    fn a_query_that_the_model_wrote_is_open_and_one_that_was_given_is_not() {
        let query = "how many ringers have no rope yet?";
        for value in [
            "SELECT COUNT(*) FROM ringers WHERE rope IS NULL",
            "sum(rate(bells_rung_total{tower=\"north\"}[5m])) by (tower)",
            "MATCH (r:Ringer) WHERE r.rope IS NULL RETURN count(r)",
        ] {
            assert!(is_open_in(query, &json!([value])), "{value}");
            assert!(!is_open_in(&format!("run this: {value} please"), &json!([value])), "{value}");
            assert!(!is_open_in(query, &json!(["", value])));
        }
        for value in ["ringers", "select ringers", "rope (north)", "bells from Ghent", "f(x)"] {
            assert!(!is_open_in(query, &json!([value])), "{value}");
        }
    }

    #[test]
    fn optional_parameters_and_those_with_a_closed_alternative_are_closed() {
        let made_up = "Dear ringers, sadly no practice tonight";
        assert!(!is_open_in("bell", &json!(["", made_up])));
        assert!(!is_open_in("bell", &json!([made_up, "bell"])));
        assert!(!is_open_in("bell", &json!([])));
        assert!(!is_open_in("bell", &json!([3, true, null])));
    }

    /// Checks the answers of the official set, if it is on disk: people wrote them as lists, so none should be open.
    #[test]
    fn no_official_answer_is_open() {
        let Some(folder) = callsieve_testkit::data::path("bfcl-v4-live") else { return };
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
        fn text_with_fewer_new_words_is_never_open(words in proptest::collection::vec("[a-zé'-]{1,9}", 0..MIN_WORDS)) {
            prop_assert!(!is_open_in("", &json!([words.join(" ")])));
        }
    }
}
