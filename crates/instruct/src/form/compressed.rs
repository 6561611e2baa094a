//! Results of calls within a budget of tokens, for models with a short context (ToolLLM, Qin et al., 2023, A.2).

use std::collections::BTreeMap;

use callsieve_collection::compress::{Budget, KeySchema, compress, key_schema};
use callsieve_programs::place::value_at;
use callsieve_programs::program::ResultPath;
use serde_json::Value;

use crate::record::Record;

/// Examples of results by which the keys of a function are judged.
const MOST_EXAMPLES: usize = 100;

/// The key schemas of the functions of a set, and the budget of a result.
pub struct Compression {
    schemas: BTreeMap<String, KeySchema>,
    budget: Budget<'static>,
}

/// Returns a record without the keys of results that nobody needs; `None` if there are none. A key stays where a later call or an
/// answer uses its values.
pub fn without_useless_keys(record: &Record) -> Option<Record> {
    let mut shorter = record.clone();
    for (at, call) in record.calls.iter().enumerate() {
        for key in record.useless_keys.get(&call.name).into_iter().flatten() {
            let mut result = shorter.calls[at].result.clone();
            remove_key(&mut result, key);
            if result != shorter.calls[at].result && has_what_is_used(record, at, &result) {
                shorter.calls[at].result = result;
            }
        }
    }
    (shorter != *record).then_some(shorter)
}

fn remove_key(value: &mut Value, key: &str) {
    match value {
        Value::Array(elements) => elements.iter_mut().for_each(|element| remove_key(element, key)),
        Value::Object(members) => {
            members.remove(key);
            members.values_mut().for_each(|member| remove_key(member, key));
        }
        _ => {}
    }
}

impl Compression {
    /// Prepares to compress the results of these records to so many estimated tokens each.
    pub fn new<'r>(records: impl IntoIterator<Item = &'r Record>, max_tokens: usize) -> Self {
        let mut examples: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
        let calls = records.into_iter().flat_map(|record| &record.calls);
        for call in calls.filter(|call| call.failure.is_none()) {
            let of_function = examples.entry(&call.name).or_default();
            if of_function.len() < MOST_EXAMPLES {
                of_function.push(call.result.clone());
            }
        }
        let schema = |(name, examples): (&str, Vec<Value>)| (name.to_owned(), key_schema(&examples, None));
        Self {
            schemas: examples.into_iter().map(schema).collect(),
            budget: Budget::estimated_tokens(max_tokens),
        }
    }

    /// Returns the record with its results within the budget; `None` if all of them are. A result keeps every value that a
    /// later call or an answer uses, and is left as it is if it could not.
    pub fn of(&self, record: &Record) -> Option<Record> {
        let mut compressed = record.clone();
        for (at, call) in record.calls.iter().enumerate() {
            let schema = self.schemas.get(&call.name).cloned().unwrap_or_default();
            let shorter = compress(&schema, &call.result, &self.budget);
            if shorter != call.result && has_what_is_used(record, at, &shorter) {
                compressed.calls[at].result = shorter;
            }
        }
        (compressed != *record).then_some(compressed)
    }
}

/// Whether a shorter result of a call still has the values that later calls take from it, and those in the answers.
fn has_what_is_used(record: &Record, call: usize, shorter: &Value) -> bool {
    let whole = &record.calls[call].result;
    let references = record.calls.iter().flat_map(|later| later.references.values());
    let places = references.chain(&record.answer_from).filter_map(|place| place.parse::<ResultPath>().ok());
    let mut of_call = places.filter(|place| place.step == call);
    let is_kept = |place: ResultPath| value_at(&place.path, shorter) == value_at(&place.path, whole);
    of_call.all(is_kept) && {
        let is_said = |leaf: &String| record.turns.iter().any(|turn| turn.answer.contains(leaf.as_str()));
        let mut kept = Vec::new();
        add_leaves(shorter, &mut kept);
        let mut all = Vec::new();
        add_leaves(whole, &mut all);
        all.iter().filter(|leaf| is_said(leaf)).all(|leaf| kept.contains(leaf))
    }
}

/// Adds the single values of a value, as an answer has them.
fn add_leaves(value: &Value, leaves: &mut Vec<String>) {
    match value {
        Value::Array(elements) => elements.iter().for_each(|element| add_leaves(element, leaves)),
        Value::Object(members) => members.values().for_each(|member| add_leaves(member, leaves)),
        Value::String(text) => leaves.push(text.clone()),
        Value::Number(number) => leaves.push(number.to_string()),
        Value::Null | Value::Bool(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn record(result: &Value, answer: &str, answer_from: &[&str]) -> Record {
        let call =
            json!({"name": "find", "arguments": {}, "result": result, "references": {}, "provenance": {}});
        serde_json::from_value(json!({
            "instruction": "Find it.", "stratum": "single", "style": "ask", "wording": "template", "tier": "executed",
            "turns": [{"user": "Find it.", "calls": [1], "answer": answer}], "calls": [call], "answer": answer,
            "answer_from": answer_from, "together": false, "offered": ["find"], "environment": "e", "origin": "declared",
            "state": "s", "end_state": null
        }))
        .unwrap()
    }

    #[test]
    fn keys_that_nobody_needs_are_left_out_where_nothing_uses_them() {
        let mut record = record(
            &json!({"name": "Big", "hash": "f00", "more": [{"hash": "f01", "n": 1}]}),
            "It is Big.",
            &["$1.name"],
        );
        assert_eq!(without_useless_keys(&record), None);
        record.useless_keys = [("find".to_owned(), vec!["hash".to_owned(), "name".to_owned()])].into();
        let shorter = without_useless_keys(&record).unwrap();
        assert_eq!(shorter.calls[0].result, json!({"name": "Big", "more": [{"n": 1}]}));
    }

    #[test]
    fn a_result_is_shortened_unless_a_value_of_it_is_used() {
        let long: Vec<Value> = (0..80).map(|n| json!({"id": format!("R-{n:03}"), "note": null})).collect();
        let first = record(&json!({"orders": long}), "The first is R-000.", &["$1.orders[0].id"]);
        let shorter = Compression::new([&first], 40).of(&first).unwrap();
        assert!(shorter.calls[0].result.to_string().len() <= 160, "{}", shorter.calls[0].result);
        assert_eq!(shorter.calls[0].result["orders"][0]["id"], "R-000");
        let last = record(&json!({"orders": long}), "The last is R-079.", &["$1.orders[79].id"]);
        assert_eq!(Compression::new([&last], 40).of(&last), None);
        assert_eq!(Compression::new([&first], 4000).of(&first), None);
    }
}
