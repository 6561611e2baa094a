//! BFCL's multi-turn entries: instructions over Python classes that the evaluator runs itself.
//!
//! The evaluator makes instances of the classes, executes the calls of each turn of the model and of the ground truth, and
//! compares the states and the results. Calls of the ground truth are Python.

use callsieve_bfcl::files::ANSWERS;
use callsieve_checker::PyValue;
use serde_json::{Value, json};

use crate::record::{CallRecord, Record};

/// A multi-turn category that an instruction set can fill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MultiTurn {
    /// Each turn has calls.
    Base,
    /// A turn lacks a value that is needed; the calls follow when it is given.
    MissingParameter,
}

impl MultiTurn {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Base, Self::MissingParameter];

    /// Returns the name in ids and file names.
    pub fn name(self) -> &'static str {
        match self {
            Self::Base => "multi_turn_base",
            Self::MissingParameter => "multi_turn_miss_param",
        }
    }

    /// Returns the path of the questions, below the folder of BFCL's files.
    pub fn path(self) -> String {
        format!("BFCL_v4_{}.json", self.name())
    }

    /// Returns the path of the answers.
    pub fn answer_path(self) -> String {
        format!("{ANSWERS}/{}", self.path())
    }
}

/// A question and its ground truth.
#[derive(Debug, Clone, PartialEq)]
pub struct MultiTurnEntry {
    /// The category.
    pub category: MultiTurn,
    /// The line of the questions.
    pub question: Value,
    /// The line of the answers.
    pub answer: Value,
}

/// Returns the entry of an instruction, whose id ends with `number`; `None` if it has no call, or if its functions are not
/// methods of Python classes.
pub fn entry(record: &Record, number: u64) -> Option<MultiTurnEntry> {
    let scenario = record.scenario.as_ref().filter(|_| !record.calls.is_empty())?;
    let has_turn_without_call = record.turns.iter().any(|turn| turn.calls.is_empty());
    let category = if has_turn_without_call { MultiTurn::MissingParameter } else { MultiTurn::Base };
    let id = format!("{}_{number}", category.name());
    let users = record.turns.iter().map(|turn| json!([{"role": "user", "content": turn.user}]));
    let path = record.calls.iter().filter_map(|call| {
        let class = scenario.class_of.get(&call.name)?;
        Some(format!("{class}.{}", call.name))
    });
    let calls_of = |numbers: &[usize]| -> Vec<String> {
        numbers.iter().filter_map(|number| record.calls.get(number - 1)).map(python).collect()
    };
    let ground_truth: Vec<Vec<String>> = record.turns.iter().map(|turn| calls_of(&turn.calls)).collect();
    let question = json!({
        "id": id,
        "question": users.collect::<Vec<_>>(),
        "initial_config": scenario.initial_config,
        "path": path.collect::<Vec<_>>(),
        "involved_classes": scenario.involved_classes,
        "excluded_function": scenario.excluded_function,
    });
    Some(MultiTurnEntry { category, question, answer: json!({"id": id, "ground_truth": ground_truth}) })
}

/// A call as Python.
fn python(call: &CallRecord) -> String {
    let arguments: Vec<String> = call
        .arguments
        .iter()
        .map(|(name, value)| format!("{name}={}", PyValue::from_json(value).repr()))
        .collect();
    format!("{}({})", call.name, arguments.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A record over the class `Shop`, with a line for each turn: the message, and the numbers of its calls.
    fn record(turns: &[(&str, &[usize])]) -> Record {
        let turns: Vec<Value> =
            turns.iter().map(|(user, calls)| json!({"user": user, "calls": calls, "answer": ""})).collect();
        let call = |name: &str, arguments: Value| json!({"name": name, "arguments": arguments, "result": null, "references": {}, "provenance": {}});
        let record = json!({
            "instruction": "", "stratum": "multi-turn", "style": "ask", "wording": "template", "tier": "executed",
            "turns": turns, "answer": "", "answer_from": [], "together": false, "offered": ["find"],
            "environment": "shop", "origin": "real", "state": "s", "end_state": null,
            "calls": [call("find", json!({"name": "it's", "n": 2, "open": true})), call("sell", json!({"id": null}))],
            "scenario": {
                "involved_classes": ["Shop"], "initial_config": {"Shop": {"open": true}},
                "excluded_function": ["close"], "class_of": {"find": "Shop", "sell": "Shop"}
            },
        });
        serde_json::from_value(record).unwrap()
    }

    #[test]
    fn calls_are_python_by_turns() {
        let entry = entry(&record(&[("Find it.", &[1]), ("Sell it.", &[2])]), 17).unwrap();
        assert_eq!(entry.category, MultiTurn::Base);
        assert_eq!(
            entry.answer,
            json!({"id": "multi_turn_base_17", "ground_truth": [["find(name=\"it's\", n=2, open=True)"], ["sell(id=None)"]]})
        );
        assert_eq!(entry.question["path"], json!(["Shop.find", "Shop.sell"]));
        assert_eq!(entry.question["initial_config"], json!({"Shop": {"open": true}}));
        assert_eq!(entry.question["question"][1], json!([{"role": "user", "content": "Sell it."}]));
    }

    #[test]
    fn a_turn_without_a_call_makes_another_category() {
        let entry = entry(&record(&[("Find.", &[]), ("A bike.", &[1, 2])]), 3).unwrap();
        assert_eq!(entry.category, MultiTurn::MissingParameter);
        assert_eq!(entry.answer["ground_truth"][0], json!([]));
    }

    #[test]
    fn without_calls_or_classes_there_is_no_entry() {
        let mut of_no_class = record(&[("Find it.", &[1])]);
        of_no_class.scenario = None;
        assert_eq!(entry(&of_no_class, 1), None);
        let mut without_call = record(&[("Find it.", &[])]);
        without_call.calls.clear();
        assert_eq!(entry(&without_call, 1), None);
    }
}
