//! Tests of real definitions and API descriptions: the number of functions, and that all are read.
//!
//! The files are in the data folder (`callsieve_testkit::data`).

use callsieve::docs::parse::parse;
use callsieve_testkit::data;
use serde_json::Value;

fn functions(text: &str, step: &str) -> Vec<Value> {
    let beginning: String = text.chars().take(60).collect();
    let parsed = parse(text).unwrap_or_else(|fault| panic!("{beginning}: {fault}"));
    assert!(parsed.steps.iter().any(|found| found.code() == step), "{beginning}: {:?}", parsed.steps);
    assert!(parsed.faults.is_empty(), "{beginning}: {:?}", parsed.faults);
    parsed.functions
}

#[test]
fn every_definition_of_nexus_raven_is_one_function() {
    let Some(text) = data::text("public/nexusraven-v2/functions.jsonl") else { return };
    let mut n_functions = 0;
    for line in text.lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        let definition = record["definition"].as_str().unwrap();
        let read = functions(definition, "python-def");
        assert_eq!(read.len(), 1);
        let block = format!("OPTION:\n<func_start>{}", blocked(definition));
        assert_eq!(functions(&block, "python-def"), read);
        n_functions += read.len();
    }
    assert_eq!(n_functions, 67);
}

/// Returns a definition in the form of prompts, without its body.
fn blocked(definition: &str) -> String {
    let (head, rest) = definition.split_once(":\n").unwrap();
    let rest = rest.trim_start();
    let quote = &rest[..3];
    let end = rest[3..].find(quote).unwrap() + 6;
    format!("{head}<func_end>\n<docstring_start>\n{}\n<docstring_end>", &rest[..end])
}

#[test]
fn every_operation_of_a_description_is_one_function() {
    for (name, n_operations) in [("spotify", 40), ("tmdb", 54)] {
        let Some(text) = data::text(&format!("apis/restgpt/specs/{name}_oas.json")) else { return };
        assert_eq!(functions(&text, "openapi").len(), n_operations, "{name}");
    }
}

#[test]
fn every_api_description_of_a_tool_is_read() {
    for (name, n_tools) in [("eval_real", 11), ("eval_simulated", 10)] {
        let Some(text) = data::text(&format!("public/toolalpaca/data/{name}.json")) else { return };
        let tools: Vec<Value> = serde_json::from_str(&text).unwrap();
        assert_eq!(tools.len(), n_tools);
        for tool in &tools {
            let documentation = tool["Documentation"].as_str().unwrap();
            let description: Value = serde_json::from_str(documentation).unwrap();
            let n_operations = n_operations(&description);
            assert_eq!(functions(documentation, "openapi").len(), n_operations, "{}", tool["Name"]);
            assert_eq!(functions(&tool.to_string(), "openapi").len(), n_operations, "{}", tool["Name"]);
        }
    }
}

fn n_operations(description: &Value) -> usize {
    const METHODS: [&str; 5] = ["get", "put", "post", "delete", "patch"];
    let items = description["paths"].as_object().unwrap().values();
    items
        .flat_map(|item| item.as_object().unwrap().keys())
        .filter(|key| METHODS.contains(&key.as_str()))
        .count()
}

#[test]
fn every_expression_of_api_bank_is_a_signature() {
    let Some(text) = data::text("apis/api-bank/data/all_apis.csv") else { return };
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let mut n_read = 0;
    for record in reader.records() {
        let record = record.unwrap();
        let (class, expression) = (&record[6], &record[8]);
        if expression.is_empty() {
            continue;
        }
        let Ok(read) = parse(expression) else {
            println!("not read: {expression}");
            continue;
        };
        assert_eq!(read.functions[0]["name"], class);
        n_read += 1;
    }
    println!("{n_read} expressions read");
}
