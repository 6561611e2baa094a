//! An item as the page shows it: nested values as formatted text, because JavaScript would change large numbers and `1.50`.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::item::{Accept, Call, Item, Message};

/// Longest list or object on one line, in characters.
const LINE_CHARS: usize = 76;

/// Returns the item with formatted texts for its nested values.
pub(super) fn view(item: &Item) -> Value {
    let calls = |calls: &[Call]| calls.iter().map(call_text).collect::<Vec<_>>();
    let message = |message: &Message| {
        let text = match (message.role, serde_json::from_str::<Value>(&message.text)) {
            (crate::item::Role::Tool, Ok(value @ (Value::Object(_) | Value::Array(_)))) => pretty(&value),
            _ => message.text.clone(),
        };
        json!({"role": message.role, "text": text, "calls": calls(&message.calls)})
    };
    let messages = |messages: &[Message]| messages.iter().map(message).collect::<Vec<_>>();
    let functions = item.functions.iter().map(|function| {
        json!({
            "name": function.name, "summary": function.summary, "doc": shown(&function.doc),
            "is_concerned": function.is_concerned,
        })
    });
    let docs = match &item.functions[..] {
        [one] if one.doc.is_string() => shown(&one.doc),
        all => pretty(&Value::Array(all.iter().map(|function| function.doc.clone()).collect())),
    };
    let answer = item.drafted_answer.as_ref().map(pretty);
    let accept = item.accept.as_ref().map(|accept| match accept {
        Accept::Keep => "keeps the row".to_owned(),
        Accept::Answer(answer) if Some(answer) == item.drafted_answer.as_ref() => {
            "the drafted answer is right".to_owned()
        }
        Accept::Answer(answer) => format!("this answer is right: {answer}"),
        Accept::Label(label) => format!("the label {label} is right"),
    });
    json!({
        "id": item.id, "table": item.table, "group": item.group, "reason": item.reason, "was": item.was,
        "evidence": if item.evidence.is_null() { Value::Null } else { pretty(&item.evidence).into() },
        "job": item.job, "system": item.system, "earlier": messages(&item.earlier), "query": item.query,
        "later": messages(&item.later),
        "reply": {"text": item.reply.text, "calls": calls(&item.reply.calls)},
        "functions": functions.collect::<Vec<_>>(), "docs": docs, "drafted_answer": answer,
        "answer_to_edit": item.drafted_answer.as_ref().map_or_else(|| pretty(&ground_truth(&item.reply.calls)), pretty),
        "judge": item.judge, "marks": item.marks, "releases": item.releases, "category": item.category,
        "possible": item.possible, "accept": accept, "labels": item.labels,
    })
}

/// Returns a doc as text; one that could not be read is a text already.
fn shown(doc: &Value) -> String {
    doc.as_str().map_or_else(|| pretty(doc), str::to_owned)
}

/// Returns calls as BFCL ground truth, each value the only alternative.
fn ground_truth(calls: &[Call]) -> Value {
    let call = |call: &Call| {
        let arguments = call.arguments.as_object().into_iter().flatten();
        let arguments: serde_json::Map<String, Value> =
            arguments.map(|(name, value)| (name.clone(), json!([value]))).collect();
        json!({ call.name.as_str(): arguments })
    };
    calls.iter().map(call).collect()
}

/// Returns a call as text, with an argument on each line if it is long.
fn call_text(call: &Call) -> String {
    let Some(arguments) = call.arguments.as_object() else {
        return format!("{}({})", call.name, pretty(&call.arguments));
    };
    let parts: Vec<String> =
        arguments.iter().map(|(name, value)| format!("{name}={}", indented(value, 1))).collect();
    let line = format!("{}({})", call.name, parts.join(", "));
    if line.chars().count() <= LINE_CHARS && !line.contains('\n') {
        return line;
    }
    format!("{}(\n  {}\n)", call.name, parts.join(",\n  "))
}

/// Returns JSON in which lists and objects that fit are on one line.
pub(super) fn pretty(value: &Value) -> String {
    indented(value, 0)
}

fn indented(value: &Value, level: usize) -> String {
    let mut text = String::new();
    write(value, level, 2 * level, &mut text);
    text
}

/// Writes a value; `taken` is how many characters of its line are in use.
fn write(value: &Value, level: usize, taken: usize, text: &mut String) {
    if let Some(line) = one_line(value, LINE_CHARS.saturating_sub(taken)) {
        text.push_str(&line);
        return;
    }
    let inner = "  ".repeat(level + 1);
    let (open, close) = if value.is_array() { ('[', ']') } else { ('{', '}') };
    text.push(open);
    let mut separator = "\n";
    for value in value.as_array().into_iter().flatten() {
        let _ = write!(text, "{separator}{inner}");
        write(value, level + 1, inner.len(), text);
        separator = ",\n";
    }
    for (key, value) in value.as_object().into_iter().flatten() {
        let key = Value::from(key.as_str()).to_string();
        let _ = write!(text, "{separator}{inner}{key}: ");
        write(value, level + 1, inner.len() + key.chars().count() + 2, text);
        separator = ",\n";
    }
    let _ = write!(text, "\n{}{close}", "  ".repeat(level));
}

/// Returns a value on one line, if it fits or has nothing inside.
fn one_line(value: &Value, max_chars: usize) -> Option<String> {
    let join = |open: &str, parts: &mut dyn Iterator<Item = Option<String>>, close: &str| {
        let mut line = open.to_owned();
        for (nth, part) in parts.enumerate() {
            let part = part?;
            line.push_str(if nth == 0 { "" } else { ", " });
            line.push_str(&part);
            if line.len() > 4 * max_chars {
                return None;
            }
        }
        line.push_str(close);
        (line.chars().count() <= max_chars || line.len() == 2).then_some(line)
    };
    match value {
        Value::Array(all) => join("[", &mut all.iter().map(|value| one_line(value, max_chars)), "]"),
        Value::Object(all) => {
            let pair = |(key, value): (&String, &Value)| {
                Some(format!("{}: {}", Value::from(key.as_str()), one_line(value, max_chars)?))
            };
            join("{", &mut all.iter().map(pair), "}")
        }
        value => Some(value.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_digits() {
        let value: Value = serde_json::from_str(r#"{"a": 12345678901234567890123, "b": [1.50]}"#).unwrap();
        assert_eq!(pretty(&value), r#"{"a": 12345678901234567890123, "b": [1.50]}"#);
    }

    #[test]
    fn what_does_not_fit_is_on_more_lines_and_stays_json() {
        let long = "x".repeat(70);
        let value = json!([{"name": long, "empty": {}, "list": [1, 2]}]);
        let expected = format!(
            "[\n  {{\n    \"name\": \"{long}\",\n    \"empty\": {{}},\n    \"list\": [1, 2]\n  }}\n]"
        );
        assert_eq!(pretty(&value), expected);
        assert_eq!(serde_json::from_str::<Value>(&expected).unwrap(), value);
    }

    #[test]
    fn a_call_is_on_one_line_if_it_fits() {
        let call = |arguments| call_text(&Call { name: "book".to_owned(), arguments });
        assert_eq!(call(json!({"city": "Oslo", "seats": 2})), "book(city=\"Oslo\", seats=2)");
        assert_eq!(call(json!("not an object")), "book(\"not an object\")");
        let long = "x".repeat(80);
        assert_eq!(call(json!({"a": long, "b": 1})), format!("book(\n  a=\"{long}\",\n  b=1\n)"));
    }
}
