//! Replaces personal values in instructions over an environment of other people's data, before anything is written.
//!
//! The values are those that the stage `redact` replaces in logs; one value has the same placeholder in the whole set. Names of
//! functions and places stay as they are. A program with a placeholder cannot be executed again.

use std::collections::BTreeSet;

use callsieve_privacy::apply::{Finder, in_json, redact_json};
use callsieve_privacy::known::{KnownValues, Sighting};
use callsieve_privacy::numbers::Numbers;
use callsieve_privacy::{Names, PrivacyKind, Scanner};
use serde_json::{Value, json};

use crate::record::{Provenance, Record};

/// What was found so far.
#[derive(Debug)]
pub struct Redaction {
    scanner: Scanner,
    sightings: Vec<Sighting>,
    /// The kind, the normal form and the spelling of each.
    is_known: BTreeSet<(&'static str, String, String)>,
    known: KnownValues,
    numbers: Numbers,
    /// Records with a replaced value.
    n_redacted: u64,
}

impl Redaction {
    /// Starts with the values of the states from which programs start: they are found in every text of the set.
    pub fn new<'s>(states: impl Iterator<Item = &'s Value>) -> Self {
        let mut redaction = Self {
            scanner: Scanner::new(&PrivacyKind::ALL, None, Names::default()),
            sightings: Vec::new(),
            is_known: BTreeSet::new(),
            known: KnownValues::default(),
            numbers: Numbers::default(),
            n_redacted: 0,
        };
        for state in states {
            redaction.look_at(&state.to_string());
        }
        redaction
    }

    /// Returns the number of records with a replaced value.
    pub fn n_redacted(&self) -> u64 {
        self.n_redacted
    }

    /// Finds the values of JSON, and gives them numbers.
    fn look_at(&mut self, cell: &str) {
        let mut found = Vec::new();
        in_json(&self.scanner, cell, |value, text| {
            if value.is_personal() {
                found.push(Sighting::of(value, text));
            }
        });
        let n_before = self.sightings.len();
        for sighting in found {
            if self.is_known.insert((sighting.kind.name(), sighting.value.clone(), sighting.written.clone()))
            {
                self.sightings.push(sighting);
            }
        }
        if self.sightings.len() == n_before {
            return;
        }
        self.known = KnownValues::of(|| self.sightings.iter());
        for sighting in &self.sightings[n_before..] {
            match self.known.canonical(sighting.kind, &sighting.written) {
                Some((kind, normal, _)) => self.numbers.learn(kind, normal),
                None => self.numbers.learn(sighting.kind, &sighting.value),
            }
        }
    }

    /// Replaces the personal values of a record: in messages, arguments, results, answers and the initial state.
    pub fn redact(&mut self, mut record: Record) -> Record {
        let cell = texts(&record).to_string();
        self.look_at(&cell);
        let finder = Finder::from(&self.scanner).with_known(&self.known);
        let Some((redacted, _)) = redact_json(finder, &self.numbers, &cell) else { return record };
        let redacted: Value = serde_json::from_str(&redacted).unwrap_or_default();
        put(&mut record, redacted);
        record.redacted = true;
        self.n_redacted += 1;
        record
    }
}

/// What is searched, as JSON.
fn texts(record: &Record) -> Value {
    let turns: Vec<Value> = record.turns.iter().map(|turn| json!([turn.user, turn.answer])).collect();
    let words = |provenance: &Provenance| match provenance {
        Provenance::Words { words, .. } => json!(words),
        Provenance::Result { .. } | Provenance::Doc { .. } => Value::Null,
    };
    let calls: Vec<Value> = record
        .calls
        .iter()
        .map(|call| {
            let words: Vec<Value> = call.provenance.values().map(words).collect();
            json!({"arguments": call.arguments, "result": call.result, "words": words})
        })
        .collect();
    let config = record.scenario.as_ref().map(|scenario| &scenario.initial_config);
    json!({"instruction": record.instruction, "turns": turns, "calls": calls, "answer": record.answer, "config": config})
}

/// Puts texts back in their places, and finds the words of arguments again.
fn put(record: &mut Record, mut texts: Value) {
    let text = |value: &mut Value| value.take().as_str().unwrap_or_default().to_owned();
    record.instruction = text(&mut texts["instruction"]);
    record.answer = text(&mut texts["answer"]);
    for (at, turn) in record.turns.iter_mut().enumerate() {
        turn.user = text(&mut texts["turns"][at][0]);
        turn.answer = text(&mut texts["turns"][at][1]);
    }
    for (at, call) in record.calls.iter_mut().enumerate() {
        let of_call = &mut texts["calls"][at];
        if let Value::Object(arguments) = of_call["arguments"].take() {
            call.arguments = arguments;
        }
        call.result = of_call["result"].take();
        for (nth, provenance) in call.provenance.values_mut().enumerate() {
            if let Provenance::Words { turn, span, words, .. } = provenance {
                *words = text(&mut of_call["words"][nth]);
                let message = record.turns.get(*turn - 1).map_or("", |turn| turn.user.as_str());
                *span = nearest(message, words, span[0]).unwrap_or(*span);
            }
        }
    }
    if let (Some(scenario), Value::Object(config)) = (&mut record.scenario, texts["config"].take()) {
        scenario.initial_config = config;
    }
}

/// The span, in characters, of the words in a message that begin nearest to where they began.
fn nearest(message: &str, words: &str, start: usize) -> Option<[usize; 2]> {
    let n_chars = words.chars().count();
    let starts = message.match_indices(words).map(|(at, _)| message[..at].chars().count());
    let found = starts.min_by_key(|at| at.abs_diff(start))?;
    Some([found, found + n_chars])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_has_one_placeholder_in_all_texts_and_the_words_are_found_again() {
        let mail = "ada@locks-and-keys.com";
        let message = format!("Write to {mail} about gate 4, and copy gate 5.");
        let record = json!({
            "instruction": message, "stratum": "single", "style": "ask", "wording": "template", "tier": "executed",
            "turns": [{"user": message, "calls": [1], "answer": format!("Sent to {mail}.")}], "answer": format!("Sent to {mail}."),
            "answer_from": ["$1.to"], "together": false, "offered": ["send"], "environment": "e", "origin": "real",
            "state": "s", "end_state": null,
            "calls": [{"name": "send", "arguments": {"to": mail, "gate": "5"}, "result": {"to": mail, "n": 1}, "references": {},
                "provenance": {
                    "gate": {"from": "words", "turn": 1, "span": [53, 54], "words": "5", "source": "enum"},
                    "to": {"from": "words", "turn": 1, "span": [9, 31], "words": mail, "source": "state:to"}}}],
        });
        let before: Record = serde_json::from_value(record).unwrap();
        let mut redaction = Redaction::new(std::iter::empty());
        let after = redaction.redact(before.clone());
        assert!(after.redacted && !json!(after).to_string().contains("ada@"), "{after:?}");
        let to = after.calls[0].arguments["to"].as_str().unwrap();
        assert_eq!((&after.calls[0].result["to"], after.answer.contains(to)), (&json!(to), true));
        for (name, provenance) in &after.calls[0].provenance {
            let Provenance::Words { turn, span, words, .. } = provenance else { panic!("{provenance:?}") };
            assert_eq!(after.said(*turn, *span).as_deref(), Some(words.as_str()), "{name}");
        }
        assert_eq!(redaction.redact(before).calls[0].arguments["to"], to);
        assert_eq!(redaction.n_redacted(), 2);
    }

    #[test]
    fn a_record_without_personal_values_stays_as_it_is() {
        let record = json!({
            "instruction": "Open gate 4.", "stratum": "single", "style": "ask", "wording": "template", "tier": "executed",
            "turns": [], "answer": "", "answer_from": [], "together": false, "offered": [], "environment": "e",
            "origin": "real", "state": "s", "end_state": "0123456789abcdef0123456789abcdef", "calls": [],
        });
        let record: Record = serde_json::from_value(record).unwrap();
        assert_eq!(Redaction::new(std::iter::empty()).redact(record.clone()), record);
    }
}
