//! Tasks of Label Studio, as it exports them with annotations: a JSON array of objects with `data` and `annotations`.
//!
//! Each task is a row of a review file. Its decision is a choice called `decision`, the answer and the reason are texts called
//! `ground_truth` and `why`; docs/human-decisions.md has the labelling configuration. A line number of a message is that of the task.

use serde_json::{Map, Value};

use super::review::Row;

/// The names of the choice and of the texts in the labelling configuration.
pub const DECISION: &str = "decision";
/// See [`DECISION`].
pub const GROUND_TRUTH: &str = "ground_truth";
/// See [`DECISION`].
pub const WHY: &str = "why";

/// What a review file has of a task besides the annotation.
const DATA: [&str; 5] = ["id", "was", "table", "recorded_answer", "category"];

/// Returns the rows of a file of tasks; `None` if it is none.
pub(super) fn rows_of(bytes: &[u8]) -> Option<Vec<Row>> {
    if !bytes.trim_ascii_start().starts_with(b"[") {
        return None;
    }
    let tasks: Vec<Map<String, Value>> = serde_json::from_slice(bytes).ok()?;
    let is_task = |task: &Map<String, Value>| task.get("data").is_some_and(Value::is_object);
    tasks
        .iter()
        .all(is_task)
        .then(|| tasks.iter().enumerate().map(|(at, task)| (at + 1, row(task))).collect())
}

fn row(task: &Map<String, Value>) -> Result<Map<String, Value>, String> {
    let given = |key: &str| task["data"].get(key).cloned().unwrap_or_default();
    let mut row: Map<String, Value> = DATA.iter().map(|key| ((*key).to_owned(), given(key))).collect();
    let annotations = match task.get("annotations") {
        None | Some(Value::Null) => &[][..],
        Some(Value::Array(annotations)) => annotations,
        Some(_) => return Err("\"annotations\": found no list, expected a list of annotations".to_owned()),
    };
    let mut filled: Vec<Map<String, Value>> = Vec::new();
    for annotation in annotations.iter().filter(|annotation| annotation["was_cancelled"] != true) {
        let one = filled_in(annotation)?;
        let is_same = |other: &Map<String, Value>| {
            [DECISION, GROUND_TRUTH].iter().all(|key| other.get(*key) == one.get(*key))
        };
        if !one.is_empty() && !filled.iter().any(is_same) {
            filled.push(one);
        }
    }
    if filled.len() > 1 {
        return Err(format!("\"annotations\": found {} that differ, expected one", filled.len()));
    }
    row.insert(DECISION.to_owned(), Value::Null);
    row.extend(filled.into_iter().flatten());
    Ok(row)
}

/// What a person chose and wrote.
fn filled_in(annotation: &Value) -> Result<Map<String, Value>, String> {
    let mut filled = Map::new();
    for result in annotation["result"].as_array().into_iter().flatten() {
        let name = result["from_name"].as_str().unwrap_or_default();
        if ![DECISION, GROUND_TRUTH, WHY].contains(&name) {
            continue;
        }
        let text = Value::from(text_of(name, &result["value"])?);
        if filled.get(name).is_some_and(|other| *other != text) {
            return Err(format!("\"{name}\": found two in one annotation, expected one"));
        }
        filled.insert(name.to_owned(), text);
    }
    Ok(filled)
}

/// The one choice or text of a result.
fn text_of(name: &str, value: &Value) -> Result<String, String> {
    let given = if value["choices"].is_null() { &value["text"] } else { &value["choices"] };
    match given {
        Value::String(text) => Ok(text.clone()),
        Value::Array(all) => match &all[..] {
            [Value::String(one)] => Ok(one.clone()),
            _ => Err(format!("\"{name}\": found {given}, expected one choice or text")),
        },
        _ => Err(format!("\"{name}\": found {given}, expected one choice or text")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::decisions::read;

    fn task(annotations: &Value) -> Value {
        let data = json!({"id": format!("request:{}", "a".repeat(32)), "was": "0".repeat(64), "table": "requests",
            "recorded_answer": "[{\"ring\": {\"times\": [2]}}]", "query": "Ring twice", "category": null});
        json!({"data": data, "annotations": annotations})
    }

    fn choice(word: &str) -> Value {
        json!({"from_name": "decision", "to_name": "query", "type": "choices", "value": {"choices": [word]}})
    }

    #[test]
    fn an_annotated_task_is_a_decision_and_another_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("tasks.json");
        let text =
            json!({"from_name": "ground_truth", "type": "textarea", "value": {"text": ["ring(times=3)"]}});
        let tasks = json!([
            task(&json!([])),
            task(
                &json!([{"result": [choice("drop")], "was_cancelled": true}, {"result": [choice("answer"), text]}])
            ),
        ]);
        std::fs::write(&file, serde_json::to_string_pretty(&tasks).unwrap()).unwrap();
        let read = read(&file).unwrap();
        let found: Vec<(usize, &Value)> = read.all.iter().map(|it| (it.line, &it.body)).collect();
        assert_eq!(found, [(2, &json!([{"ring": {"times": [3]}}]))]);
        assert_eq!(read.all[0].was, Some("0".repeat(64)));
    }

    #[test]
    fn annotations_that_differ_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("tasks.json");
        let differing = task(&json!([{"result": [choice("drop")]}, {"result": [choice("accept")]}]));
        std::fs::write(&file, json!([differing]).to_string()).unwrap();
        let refused = read(&file).unwrap_err().to_string();
        assert!(
            refused.contains("tasks.json:1: \"annotations\": found 2 that differ, expected one"),
            "{refused}"
        );
        let chosen = |choices: Value| json!({"from_name": "decision", "value": {"choices": choices}});
        for (annotations, expected) in [
            (json!({"result": []}), "\"annotations\": found no list"),
            (json!([{"result": [chosen(json!(["drop", "accept"]))]}]), "expected one choice or text"),
            (
                json!([{"result": [choice("drop"), choice("accept")]}]),
                "\"decision\": found two in one annotation",
            ),
            (
                json!([{"result": [choice("answer"), {"from_name": "ground_truth", "value": {"text": [3]}}]}]),
                "\"ground_truth\": found [3]",
            ),
        ] {
            std::fs::write(&file, json!([task(&annotations)]).to_string()).unwrap();
            let refused = read(&file).unwrap_err().to_string();
            assert!(refused.contains(expected), "{refused}");
        }
        let agreed = task(&json!([{"result": [choice("drop")]}, {"result": [choice("drop")]}]));
        std::fs::write(&file, json!([agreed]).to_string()).unwrap();
        assert_eq!(read(&file).unwrap().all.len(), 1);
        assert_eq!(rows_of(b"[1]"), None);
        assert_eq!(rows_of(b"{}"), None);
    }
}
