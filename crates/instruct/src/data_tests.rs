//! The rules on the texts of instructions, over published ones: the 765 solvable queries of `StableToolBench`.
//!
//! They were written by a model and selected by people, so a rule that many of them break is a matter of taste: a profile, no law.

use std::collections::BTreeSet;

use callsieve_testkit::data;
use serde_json::Value;

use crate::text_rules::{meta_talk, named_function, odd_text, placeholder, refusal};

/// The fewest words, and the functions, of the profile `toolbench`.
const MIN_WORDS: usize = 30;
const FUNCTIONS: std::ops::RangeInclusive<usize> = 2..=5;

#[test]
fn the_queries_of_stabletoolbench_break_the_rules_of_their_own_paper() {
    let Some(folder) = data::path("apis/stabletoolbench/solvable_queries/test_instruction") else { return };
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let read = |file: &std::path::PathBuf| -> Vec<Value> {
        serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()
    };
    let queries: Vec<Value> = files.iter().flat_map(read).collect();
    let of = |query: &Value| query["query"].as_str().unwrap().to_owned();
    let names = |query: &Value| -> Vec<String> {
        let apis = query["api_list"].as_array().unwrap();
        apis.iter().map(|api| api["api_name"].as_str().unwrap().to_owned()).collect()
    };
    let count = |rule: &dyn Fn(&Value) -> bool| queries.iter().filter(|query| rule(query)).count();
    let short = count(&|query| of(query).split_whitespace().count() < MIN_WORDS);
    let other_number = count(&|query| {
        let relevant: BTreeSet<String> =
            query["relevant APIs"].as_array().unwrap().iter().map(Value::to_string).collect();
        !FUNCTIONS.contains(&relevant.len())
    });
    let named = count(&|query| named_function(&of(query), names(query).iter().map(String::as_str)).is_some());
    let meta = count(&|query| meta_talk(&of(query)).is_some());
    let with_placeholder = count(&|query| placeholder(&of(query), "").is_some());
    let refusing = count(&|query| refusal(&of(query)).is_some());
    let odd = count(&|query| odd_text(&of(query)).is_some());
    let repeated = queries.len() - queries.iter().map(of).collect::<BTreeSet<String>>().len();
    // The four placeholders are ids `abc123`.
    assert_eq!(
        [queries.len(), short, other_number, named, meta, with_placeholder, refusing, odd, repeated],
        [765, 61, 30, 102, 115, 4, 0, 0, 1]
    );
}
