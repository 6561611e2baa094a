//! Tasks of τ-bench and τ²-bench: what the simulated user wants, and the actions that are expected of the agent.
//!
//! τ-bench has lists of `Task(instruction=…, actions=[Action(name=…, kwargs={…})])` in `tasks_test.py` and its like, or
//! the same as JSON; its docs are the results of `get_info` in the folder `tools` next to it. Python is read, never run.
//! τ²-bench has `tasks.json`; actions of its user are no calls, and its docs are not in the folder of the data.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::entry::{At, ReadEntry, Result, call_of, functions_of, id_at};
use super::formats::{Source, has, listed};
use super::read::{Peek, Reading, records, text_of};
use crate::item::{Docs, Item};
use callsieve_notation::python;

const FORMAT: &str = "tau-bench";
/// The folder of the docs, next to the tasks.
const TOOLS: &str = "tools";

/// Returns whether a file has tasks.
pub(super) fn is_of(peek: &Peek<'_>) -> bool {
    let is_python = peek.python.as_ref().is_some_and(|text| {
        peek.name.contains("tasks") && text.contains("instruction") && text.contains("actions")
    });
    is_python
        || peek.first_is(|record| {
            has(record, &["instruction", "actions"]) || has(record, &["user_scenario", "evaluation_criteria"])
        })
}

/// Reads the tasks of a file.
pub(super) fn read(source: &Source, _: &Reading<'_>) -> Result<Vec<ReadEntry>> {
    let mut entries = Vec::new();
    for path in &source.files {
        let functions = functions_of(docs(path)?);
        let tasks = if path.extension().is_some_and(|extension| extension == "py") {
            tasks_of_python(path)?
        } else {
            let records = records(path, FORMAT)?.into_iter();
            records.map(|(position, task)| (position.line, task)).collect()
        };
        for ((line, task), record) in tasks.iter().zip(1..) {
            let at = At { path, line: *line, format: FORMAT };
            let mut item = item(task, at)?;
            item.functions = Docs::Read(functions.clone());
            item.has_environment = true;
            let id = id_at(task, "id").unwrap_or_else(|| format!("{}:{record}", source.name));
            entries.push(ReadEntry { id, record, item });
        }
    }
    Ok(entries)
}

/// Returns the texts and calls of a task of either benchmark.
fn item(task: &Value, at: At<'_>) -> Result<Item> {
    let scenario = task.get("user_scenario");
    let (queries, actions) = match scenario {
        None => (vec![at.text(task, "instruction")?.to_owned()], at.list(task, "actions")?),
        Some(scenario) => {
            let actions = task["evaluation_criteria"]["actions"].as_array();
            (wishes(scenario.get("instructions"), at)?, actions.map_or(&[][..], Vec::as_slice))
        }
    };
    let mut item = Item { queries, ..Item::default() };
    for action in actions.iter().filter(|action| action["requestor"] != "user") {
        let arguments = action.get("kwargs").or_else(|| action.get("arguments"));
        let arguments =
            arguments.and_then(Value::as_object).ok_or_else(|| at.wrong("kwargs", "an object", arguments))?;
        item.calls.push(call_of(at.text(action, "name")?, arguments));
    }
    Ok(item)
}

/// Returns what the user of τ²-bench wants: a text, or the reason for the call and the instructions.
fn wishes(instructions: Option<&Value>, at: At<'_>) -> Result<Vec<String>> {
    match instructions {
        Some(Value::String(text)) => Ok(vec![text.clone()]),
        Some(Value::Object(parts)) => {
            let text = |key: &str| parts.get(key)?.as_str().map(str::to_owned);
            Ok(["reason_for_call", "task_instructions"].into_iter().filter_map(text).collect())
        }
        other => Err(at.wrong("instructions", "a text or an object", other)),
    }
}

/// Returns the tasks of a Python file with the lines on which their list begins.
fn tasks_of_python(path: &Path) -> Result<Vec<(u64, Value)>> {
    let text = text_of(path)?;
    let mut tasks = Vec::new();
    let mut fault = None;
    for (offset, literal) in values_after(&as_literals(&text), &["="], b'[') {
        let line = line_of(&text, offset);
        match python::literal(&literal) {
            Ok(Value::Array(list)) if list.iter().any(|task| has(task, &["instruction", "actions"])) => {
                tasks.extend(list.into_iter().map(|task| (line, task)));
            }
            Ok(_) => {}
            Err(error) => fault = fault.or(Some((line_of(&text, offset + error.offset), error.message))),
        }
    }
    match fault {
        Some((line, message)) if tasks.is_empty() => {
            let at = At { path, line, format: FORMAT };
            Err(at.bad("the list of tasks", "literals of Python", message))
        }
        _ => Ok(tasks),
    }
}

/// Returns the files of the tools next to a file of tasks; none if there is no such folder.
pub(super) fn companions(tasks: &Path) -> Result<Vec<PathBuf>> {
    let folder = tasks.with_file_name(TOOLS);
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let is_python =
        |path: &PathBuf| path.is_file() && path.extension().is_some_and(|extension| extension == "py");
    Ok(listed(&folder)?.into_iter().filter(is_python).collect())
}

/// Returns the docs of the tools.
fn docs(tasks: &Path) -> Result<Vec<Value>> {
    let mut docs = Vec::new();
    for path in companions(tasks)? {
        let text = text_of(&path)?;
        let read = values_after(&text, &["return", "="], b'{')
            .into_iter()
            .filter_map(|(_, literal)| python::literal(&literal).ok());
        docs.extend(read.filter(|doc| has(doc, &["type", "function"])));
    }
    Ok(docs)
}

/// Writes the objects of tasks and actions as dicts, at the same bytes.
fn as_literals(text: &str) -> String {
    let mut literals = text.to_owned();
    for (object, dict) in [("Task(", "dict("), ("Action(", "dict  (")] {
        let places: Vec<usize> = text.match_indices(object).map(|(at, _)| at).collect();
        for at in places.into_iter().filter(|&at| is_code(text, at)) {
            literals.replace_range(at..at + object.len(), dict);
        }
    }
    literals
}

/// Returns whether a name begins at a byte, outside of strings: after a bracket or a comma and space.
fn is_code(text: &str, at: usize) -> bool {
    text[..at].trim_end().ends_with(['[', ',', '(']) && text[..at].ends_with([' ', '\n', '\t', '[', ','])
}

/// Returns the bracketed texts that begin with a bracket after one of some words, with their first bytes.
fn values_after(text: &str, words: &[&str], open: u8) -> Vec<(usize, String)> {
    let mut values = Vec::new();
    let mut end = 0;
    for (at, _) in text.match_indices(char::from(open)) {
        let before = text[..at].trim_end_matches([' ', '\t']);
        if at < end || !words.iter().any(|word| before.ends_with(word)) {
            continue;
        }
        if let Some(length) = bracketed(&text.as_bytes()[at..]) {
            values.push((at, text[at..at + length].to_owned()));
            end = at + length;
        }
    }
    values
}

/// Returns the length of the bracket that a text begins with; strings and comments are passed over.
fn bracketed(text: &[u8]) -> Option<usize> {
    let (mut depth, mut at) = (0_usize, 0);
    while at < text.len() {
        match text[at] {
            b'[' | b'{' | b'(' => depth += 1,
            b']' | b'}' | b')' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            b'#' => at += text[at..].iter().position(|&byte| byte == b'\n').unwrap_or(text.len() - at),
            quote @ (b'"' | b'\'') => at += string(&text[at..], quote)? - 1,
            _ => {}
        }
        at += 1;
    }
    None
}

/// Returns the length of the string that a text begins with.
fn string(text: &[u8], quote: u8) -> Option<usize> {
    let long = [quote; 3];
    let mark: &[u8] = if text.starts_with(&long) { &long } else { &long[..1] };
    let mut at = mark.len();
    while at < text.len() {
        if text[at] == b'\\' {
            at += 2;
        } else if text[at..].starts_with(mark) {
            return Some(at + mark.len());
        } else {
            at += 1;
        }
    }
    None
}

fn line_of(text: &str, offset: usize) -> u64 {
    memchr::memchr_iter(b'\n', &text.as_bytes()[..offset.min(text.len())]).count() as u64 + 1
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::benchmark::tests::read_files;

    const TASKS: &str = "from tau_bench.types import Action, Task\n\nTASKS_TEST = [\n    Task(\n        annotator=\"0\",\n        user_id=\"ann_1\",\n        instruction=\"You are Ann. Say: 'Task(a' [, \\\"Action(b\\\".\",\n        actions=[\n            Action(\n                name=\"book\",\n                kwargs={\"ship\": \"Isla\", \"seats\": [{\"row\": 1}]},\n            ),\n            Action(name=\"pay\", kwargs={}),  # the last ]\n        ],\n        outputs=[],\n    ),\n    Task(annotator=\"1\", user_id=\"bo_2\", instruction=\"Two.\", actions=[], outputs=[\"1\"]),\n]\n";
    const TOOL: &str = "class Book(Tool):\n    @staticmethod\n    def invoke(data, ship):\n        data['x'] = {'y': data}\n        return data\n\n    @staticmethod\n    def get_info():\n        return {\n            \"type\": \"function\",\n            \"function\": {\"name\": \"book\", \"description\": \"Books.\", \"parameters\": {\"type\": \"object\", \"properties\": {\"ship\": {\"type\": \"string\", \"description\": \"A {ship}.\"}}}},\n        }\n";

    #[test]
    fn tasks_in_python_are_read_with_their_tools() {
        let read = read_files(&[
            ("envs/ferry/tasks_test.py", TASKS),
            ("envs/ferry/tools/book.py", TOOL),
            ("envs/ferry/data/users.json", "{}"),
        ])
        .unwrap();
        let [(category, entries)] = &read[..] else { panic!("{read:?}") };
        assert_eq!((category.as_str(), entries.len()), ("tasks_test.py", 2));
        let item = &entries[0].item;
        assert_eq!(
            (entries[0].id.as_str(), entries[1].item.queries[0].as_str()),
            ("tasks_test.py:1", "Two.")
        );
        assert_eq!(item.queries, ["You are Ann. Say: 'Task(a' [, \"Action(b\"."]);
        assert_eq!(item.calls.iter().map(|call| call.name.as_str()).collect::<Vec<_>>(), ["book", "pay"]);
        assert_eq!(item.calls[0].arguments[1], ("seats".to_owned(), vec![json!([{"row": 1}])]));
        let Docs::Read(functions) = &item.functions else { panic!("{item:?}") };
        assert_eq!((functions.len(), &functions[0]["name"]), (1, &json!("book")));
    }

    #[test]
    fn what_is_no_literal_is_an_error_with_its_line() {
        let error =
            read_files(&[("tasks_test.py", &TASKS.replace("\"Two.\"", "two()"))]).unwrap_err().to_string();
        assert!(
            error.contains("tasks_test.py:17: no entry of format tau-bench: \"the list of tasks\""),
            "{error}"
        );
    }

    #[test]
    fn tasks_in_json_are_read_of_both_benchmarks() {
        let first = json!([{"annotator": 0, "user_id": "a", "instruction": "One.", "actions": [{"name": "pay", "arguments": {"by": "card"}}]}]);
        let action = |requestor: &str| json!({"action_id": "0_0", "name": "pay", "arguments": {"by": requestor}, "requestor": requestor});
        let second = json!([{"id": "7", "user_scenario": {"persona": null, "instructions": {"domain": "sea", "reason_for_call": "You want to sail.",
            "task_instructions": "Insist.", "known_info": "You are Ann."}}, "evaluation_criteria": {"actions": [action("user"), action("assistant")]}}]);
        let read = read_files(&[("a/tasks.json", &first.to_string()), ("b/tasks.json", &second.to_string())])
            .unwrap();
        let items: Vec<&ReadEntry> = read.iter().flat_map(|(_, entries)| entries).collect();
        assert_eq!(items[0].item.calls[0].arguments, [("by".to_owned(), vec![json!("card")])]);
        assert_eq!(
            (items[1].id.as_str(), &items[1].item.queries[..]),
            ("7", &["You want to sail.".to_owned(), "Insist.".to_owned()][..])
        );
        assert_eq!(items[1].item.calls.len(), 1);
        let error =
            read_files(&[("tasks.json", "[{\"instruction\": \"a\", \"actions\": [{\"name\": \"x\"}]}]")])
                .unwrap_err()
                .to_string();
        assert!(
            error.contains("tasks.json:1:")
                && error.contains("\"kwargs\": expected an object, found nothing"),
            "{error}"
        );
    }
}
