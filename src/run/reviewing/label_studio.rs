//! The rows to review as tasks of Label Studio: what a person reads in `data`, the recorded answer as a prediction, and the decision in
//! effect as an annotation; an edit of functions is none. `decisions` reads the tasks back when Label Studio has exported them as JSON.

use std::collections::BTreeMap;

use callsieve_review::item::{Item, Message, Role, Table};
use callsieve_review::store::Export;
use serde_json::{Value, json};

use super::import::listed_words;
use super::source::{ROWS_AT_ONCE, RunSource};
use super::{Place, ReviewingOptions};
use crate::decisions::tasks::{DECISION, GROUND_TRUTH, WHY};
use crate::engine::decision::DecisionKind;
use crate::run::review::ReviewOptions;
use crate::run::{Error, OpenRun};

/// The element of the labelling configuration that annotations are on.
const TO_NAME: &str = "query";

impl OpenRun {
    /// Returns the rows of the page as a JSON array of tasks, in the order of the page, with the decisions on which reviewers agree.
    ///
    /// # Errors
    /// A file of the run is damaged.
    pub fn label_studio_tasks(self, export: &Export) -> Result<String, Error> {
        let decided: BTreeMap<&str, &Value> =
            export.lines.iter().filter_map(|line| Some((line["id"].as_str()?, line))).collect();
        let places = self.places(&ReviewingOptions::default(), &ReviewOptions::default())?;
        let source = RunSource::new(self, places)?;
        let mut tasks = String::from("[");
        for part in source.places().chunks(ROWS_AT_ONCE) {
            for (place, item) in part.iter().zip(source.items(part)?) {
                let separator = if tasks.len() == 1 { "\n" } else { ",\n" };
                tasks += separator;
                tasks += &task(*place, &item, &decided).to_string();
            }
        }
        Ok(tasks + "\n]\n")
    }
}

fn task(place: Place, item: &Item, decided: &BTreeMap<&str, &Value>) -> Value {
    let prefix = if item.table == Table::Requests { "request" } else { "list" };
    let id = format!("{prefix}:{}", item.id);
    let answer = item.drafted_answer.as_ref().map(Value::to_string).unwrap_or_default();
    let mut words = listed_words(place, item);
    words.retain(|word| *word != DecisionKind::Edit.name());
    let functions = item.functions.iter().map(|function| {
        let parameters = &function.doc["parameters"];
        format!("{}: {}\n  parameters: {parameters}", function.name, function.summary)
    });
    let marks = item.marks.iter().map(|mark| mark.text.as_str());
    let data = json!({
        "id": id,
        "was": item.was,
        "table": if item.table == Table::Requests { "requests" } else { "doc_lists" },
        "reason": item.reason.code,
        "sentence": item.reason.sentence,
        "evidence": if item.evidence.is_null() { String::new() } else { item.evidence.to_string() },
        "possible_decisions": words.join(", "),
        "category": item.category,
        "conversation": conversation(item),
        "query": item.query,
        "functions": functions.collect::<Vec<_>>().join("\n"),
        "recorded_answer": answer,
        "suspicious": marks.collect::<Vec<_>>().join("\n"),
    });
    let predicted = (!answer.is_empty()).then(|| text_area(GROUND_TRUTH, &answer));
    let predictions = predicted.map(|result| {
        json!({"model_version": concat!("callsieve ", env!("CARGO_PKG_VERSION")), "result": [result]})
    });
    // The labelling configuration has no place for edited functions.
    let line = decided.get(id.as_str()).filter(|line| line["decision"] != DecisionKind::Edit.name());
    let annotations = line.map(|line| json!({ "result": annotation(line) }));
    json!({
        "data": data,
        "predictions": predictions.into_iter().collect::<Vec<_>>(),
        "annotations": annotations.into_iter().collect::<Vec<_>>(),
    })
}

/// The messages with their authors, as a dialogue.
fn conversation(item: &Item) -> Vec<Value> {
    let message = |author: &str, text: String| json!({"author": author, "text": text});
    let with_calls = |text: &str, calls: &[callsieve_review::item::Call]| {
        let calls = calls.iter().map(|call| format!("{}({})", call.name, call.arguments));
        std::iter::once(text.to_owned())
            .filter(|text| !text.is_empty())
            .chain(calls)
            .collect::<Vec<_>>()
            .join("\n")
    };
    let author = |role: Role| match role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "model",
        Role::Tool => "tool",
    };
    let of = |it: &Message| message(author(it.role), with_calls(&it.text, &it.calls));
    let mut all: Vec<Value> = item.system.iter().map(|text| message("system", text.clone())).collect();
    all.extend(item.earlier.iter().map(of));
    all.push(message("user", item.query.clone()));
    all.extend(item.later.iter().map(of));
    let reply = with_calls(&item.reply.text, &item.reply.calls);
    all.extend((!reply.is_empty()).then(|| message("model", reply)));
    all
}

/// A decision as the results of an annotation.
fn annotation(line: &Value) -> Vec<Value> {
    let word = line["relevance"].as_str().or(line["decision"].as_str()).unwrap_or_default();
    let mut results = vec![
        json!({"from_name": DECISION, "to_name": TO_NAME, "type": "choices", "value": {"choices": [word]}}),
    ];
    if let Some(answer) = line.get("ground_truth") {
        results.push(text_area(GROUND_TRUTH, &answer.to_string()));
    }
    if let Some(why) = line["why"].as_str() {
        results.push(text_area(WHY, why));
    }
    results
}

fn text_area(name: &str, text: &str) -> Value {
    json!({"from_name": name, "to_name": TO_NAME, "type": "textarea", "value": {"text": [text]}})
}
