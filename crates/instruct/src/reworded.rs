//! An instruction in the words of a language model: the same calls, other texts.
//!
//! A wording is used only if it holds every value that the user gives, in a form that reads back to the same value, and none that an
//! earlier call has to find. The provenance of each argument then names its new words.

use std::ops::Range;

use callsieve_answers::traced::place_of;
use callsieve_programs::words::holds_word;
use callsieve_text::language::{UNDETERMINED, language};
use callsieve_text::rouge::rouge_l;
use serde_json::{Value, json};

use crate::record::{CallRecord, Provenance, Record};
use crate::text_rules::{meta_talk, named_function, odd_text, placeholder, refusal};

/// Why a wording is not used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Flaw {
    /// A value of the user is in no form in its turn.
    ValueMissing,
    /// A value is in the text that an earlier call has to find, or that the user gives in a later turn.
    LeakedValue,
    /// It names a function.
    NamesFunction,
    /// It speaks of functions or APIs as such.
    MetaTalk,
    /// It has a placeholder.
    Placeholder,
    /// It refuses, or speaks as an assistant.
    Refusal,
    /// It is longer than a person writes, or has hidden characters.
    OddText,
    /// It is in another language.
    OtherLanguage,
    /// It has the words of the template.
    Unchanged,
}

/// A wording that is not used: why, and what was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Flawed {
    /// Why.
    pub flaw: Flaw,
    /// The turn, the parameter, the words.
    pub detail: Value,
}

/// Returns the values that the user gives in each turn, as the turn has them.
pub fn values_of(record: &Record) -> Vec<Vec<String>> {
    let mut values: Vec<Vec<String>> = vec![Vec::new(); record.turns.len()];
    for provenance in record.calls.iter().flat_map(|call| call.provenance.values()) {
        if let Provenance::Words { turn, words, .. } = provenance
            && let Some(values) = turn.checked_sub(1).and_then(|turn| values.get_mut(turn))
            && !values.contains(words)
        {
            values.push(words.clone());
        }
    }
    // Without calls nothing says what is a value; digits are.
    for (values, turn) in values.iter_mut().zip(&record.turns) {
        if record.calls.is_empty() {
            values.extend(
                turn.user.split_whitespace().map(bare).filter(|word| has_digit(word)).map(str::to_owned),
            );
        }
    }
    values
}

fn bare(word: &str) -> &str {
    word.trim_matches(|sign: char| !sign.is_alphanumeric())
}

fn has_digit(word: &str) -> bool {
    word.contains(|sign: char| sign.is_ascii_digit())
}

/// Returns a record with other texts of the user, one for each turn.
///
/// # Errors
/// Why the texts are not used.
pub fn reworded(record: &Record, texts: &[String]) -> Result<Record, Flawed> {
    let mut new = record.clone();
    for (number, (turn, text)) in (1..).zip(new.turns.iter_mut().zip(texts)) {
        check_text(number, &turn.user, text, &record.offered)?;
        turn.user.clone_from(text);
    }
    if record.turns.iter().zip(texts).all(|(turn, text)| rouge_l(&turn.user, text) >= 1.0) {
        return Err(Flawed { flaw: Flaw::Unchanged, detail: json!(texts) });
    }
    let calls: Vec<CallRecord> = new.calls.clone();
    for (nth, call) in calls.iter().enumerate() {
        for (parameter, value) in &call.arguments {
            let Some(provenance) = call.provenance.get(parameter) else { continue };
            let place =
                || json!({"call": nth + 1, "function": call.name, "argument": parameter, "value": value});
            match provenance {
                Provenance::Words { turn, words, source, .. } => {
                    let text =
                        turn.checked_sub(1).and_then(|turn| texts.get(turn)).map_or("", String::as_str);
                    let Some(at) = place_of(value, words, text) else {
                        return Err(Flawed { flaw: Flaw::ValueMissing, detail: place() });
                    };
                    if is_told_early(record, texts, *turn, value, words) {
                        return Err(Flawed { flaw: Flaw::LeakedValue, detail: place() });
                    }
                    let provenance = of_words(*turn, text, at, source);
                    new.calls[nth].provenance.insert(parameter.clone(), provenance);
                }
                Provenance::Result { .. } if is_leaked(record, texts, value) => {
                    return Err(Flawed { flaw: Flaw::LeakedValue, detail: place() });
                }
                Provenance::Result { .. } | Provenance::Doc { .. } => {}
            }
        }
    }
    if let Some((turn, value)) = lost_digits(record, texts) {
        return Err(Flawed { flaw: Flaw::ValueMissing, detail: json!({"turn": turn, "value": value}) });
    }
    new.instruction = texts.first().cloned().unwrap_or_default();
    Ok(new)
}

/// Returns words of the user as a provenance.
pub fn of_words(turn: usize, text: &str, at: Range<usize>, source: &str) -> Provenance {
    let start = text[..at.start].chars().count();
    let words = text[at].to_owned();
    Provenance::Words { turn, span: [start, start + words.chars().count()], words, source: source.to_owned() }
}

/// Checks the rules on a text of a user. `original` is the text that it replaces.
fn check_text(number: usize, original: &str, text: &str, offered: &[String]) -> Result<(), Flawed> {
    let flawed = |flaw, found: &str| Err(Flawed { flaw, detail: json!({"turn": number, "found": found}) });
    if let Some(what) = odd_text(text).filter(|_| odd_text(original).is_none()) {
        return flawed(Flaw::OddText, what);
    }
    if let Some(words) = refusal(text).filter(|_| refusal(original).is_none()) {
        return flawed(Flaw::Refusal, words);
    }
    let names = offered.iter().map(String::as_str);
    if let Some(name) = named_function(text, names).filter(|name| named_function(original, [*name]).is_none())
    {
        return flawed(Flaw::NamesFunction, name);
    }
    if let Some(words) = meta_talk(text).filter(|words| !original.to_lowercase().contains(words)) {
        return flawed(Flaw::MetaTalk, words);
    }
    if let Some(found) = placeholder(text, original) {
        return flawed(Flaw::Placeholder, found);
    }
    let (own, other) = (language(original), language(text));
    if own != other && own != UNDETERMINED && other != UNDETERMINED {
        return flawed(Flaw::OtherLanguage, other);
    }
    Ok(())
}

/// Whether an earlier turn has a value that the user gives in a later one only.
fn is_told_early(record: &Record, texts: &[String], turn: usize, value: &Value, words: &str) -> bool {
    let earlier = texts.iter().zip(&record.turns).take(turn.saturating_sub(1));
    let has = |text: &str| {
        let is_sign = words.chars().count() < 3;
        !is_sign && place_of(value, words, text).is_some()
    };
    earlier.into_iter().any(|(text, before)| has(text) && !has(&before.user))
}

/// Whether the texts have a value of a result, in any form that reads back to it, that they did not have before.
fn is_leaked(record: &Record, texts: &[String], value: &Value) -> bool {
    let written = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    if written.chars().count() < 3 {
        return false;
    }
    let code = bare_code(&written);
    let is_code = code.chars().filter(char::is_ascii_digit).count() >= 3;
    let has = |text: &str| {
        holds_word(text, &written)
            || place_of(value, "", text).is_some()
            || is_code && bare_code(text).contains(&code)
    };
    let was_there = record.turns.iter().any(|turn| has(&turn.user));
    !was_there && texts.iter().any(|text| has(text))
}

/// The letters and digits of a text, in lower case: `R-2105` and `r 2105` are one code.
fn bare_code(text: &str) -> String {
    text.chars().filter(|sign| sign.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// A word with a digit that a turn lost, where no call says what its values are.
fn lost_digits(record: &Record, texts: &[String]) -> Option<(usize, String)> {
    if !record.calls.is_empty() {
        return None;
    }
    values_of(record).into_iter().zip(texts).enumerate().find_map(|(turn, (values, text))| {
        let is_lost = |value: &String| place_of(&json!(value), value, text).is_none();
        values.into_iter().find(is_lost).map(|value| (turn + 1, value))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> Record {
        serde_json::from_value(json!({
            "instruction": "Open the lock (R-1) and ring that bell twice.", "stratum": "chain", "style": "ask", "wording": "template",
            "tier": "executed", "turns": [{"user": "Open the lock (R-1) and ring that bell 2 times.", "calls": [1, 2], "answer": ""}],
            "calls": [
                {"name": "open_lock", "arguments": {"id": "R-1"}, "result": {"bell": "B-77"}, "references": {},
                 "provenance": {"id": {"from": "words", "turn": 1, "span": [15, 18], "words": "R-1", "source": "bindings"}}},
                {"name": "ring_bell", "arguments": {"bell": "B-77", "times": 2}, "result": null, "references": {"bell": "$1.bell"},
                 "provenance": {"bell": {"from": "result", "path": "$1.bell"},
                                "times": {"from": "words", "turn": 1, "span": [39, 40], "words": "2", "source": "bindings"}}}],
            "answer": "", "answer_from": [], "together": false, "offered": ["open_lock", "ring_bell"], "environment": "e",
            "origin": "declared", "state": "s", "end_state": null
        }))
        .unwrap()
    }

    fn flaw(text: &str) -> Option<Flaw> {
        reworded(&record(), &[text.to_owned()]).err().map(|flawed| flawed.flaw)
    }

    #[test]
    fn a_wording_with_all_values_has_their_new_places() {
        let text = "Hey, could you unlock r-1, then sound its bell two times?";
        let new = reworded(&record(), &[text.to_owned()]).unwrap();
        assert_eq!((new.instruction.as_str(), new.turns[0].user.as_str()), (text, text));
        for call in &new.calls {
            for provenance in call.provenance.values() {
                if let Provenance::Words { turn, span, words, .. } = provenance {
                    assert_eq!(new.said(*turn, *span).as_deref(), Some(words.as_str()));
                }
            }
        }
        assert_eq!(new.calls[1].provenance["times"], of_words(1, text, 47..50, "bindings"));
        assert_eq!(values_of(&record()), [vec!["R-1".to_owned(), "2".to_owned()]]);
    }

    #[test]
    fn a_wording_that_changes_what_is_asked_has_a_flaw() {
        for (text, expected) in [
            ("Unlock R-2 and ring its bell twice, 2 times.", Flaw::ValueMissing),
            ("Unlock R-1 and ring its bell.", Flaw::ValueMissing),
            ("Unlock R-1 and ring bell B-77 2 times.", Flaw::LeakedValue),
            ("Use open_lock on R-1, then ring its bell 2 times.", Flaw::NamesFunction),
            ("With the lock API, unlock R-1, then ring its bell 2 times.", Flaw::MetaTalk),
            ("Unlock R-1 for <your name>, then ring its bell 2 times.", Flaw::Placeholder),
            ("I'm sorry, I cannot open R-1 and ring its bell 2 times.", Flaw::Refusal),
            ("Öffne bitte das Schloss R-1 und läute dann die Glocke 2 mal für mich.", Flaw::OtherLanguage),
            ("Unlock R-1 and\u{200b} then ring its bell 2 times.", Flaw::OddText),
            ("open the lock R-1 and ring that bell 2 times", Flaw::Unchanged),
        ] {
            assert_eq!(flaw(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn a_value_that_is_looked_up_is_told_in_no_form() {
        let mut record = record();
        record.calls[0].result = json!({"bell": "B-7705"});
        record.calls[1].arguments["bell"] = "B-7705".into();
        for form in ["B-7705", "B 7705", "b7705", "B‑7705"] {
            let text = format!("Unlock R-1 and ring {form} 2 times.");
            let found = reworded(&record, &[text]).err().map(|flawed| flawed.flaw);
            assert_eq!(found, Some(Flaw::LeakedValue), "{form}");
        }
    }

    #[test]
    fn a_value_of_a_later_turn_must_not_be_told_before() {
        let mut record = record();
        record.turns = serde_json::from_value(json!([
            {"user": "Open the lock.", "calls": [], "answer": "Which lock?"},
            {"user": "R-123.", "calls": [1], "answer": ""}]))
        .unwrap();
        record.calls.truncate(1);
        record.calls[0].arguments["id"] = "R-123".into();
        record.calls[0].provenance.insert("id".into(), of_words(2, "R-123.", 0..5, "bindings"));
        let of =
            |texts: [&str; 2]| reworded(&record, &texts.map(str::to_owned)).err().map(|flawed| flawed.flaw);
        assert_eq!(of(["I need a lock opened.", "It's R-123."]), None);
        assert_eq!(of(["I need lock R-123 opened.", "It's R-123."]), Some(Flaw::LeakedValue));
    }

    #[test]
    fn without_calls_words_with_digits_stay() {
        let mut record = record();
        record.calls.clear();
        assert_eq!(values_of(&record), [vec!["R-1".to_owned(), "2".to_owned()]]);
        let of = |text: &str| reworded(&record, &[text.to_owned()]).err().map(|flawed| flawed.flaw);
        assert_eq!(of("Unlock R-1, then ring two times."), None);
        assert_eq!(of("Unlock R-3, then ring 2 times."), Some(Flaw::ValueMissing));
    }
}
