//! The arguments that a reviewer judges, and their schemas: those of the drafted answer, or else of the model's calls.

use serde_json::Value;

use super::{Function, Item};

/// An argument of a call, at any depth, with its schema in the doc.
pub(super) struct Argument<'a> {
    /// Its path for people: `book.seats`, `book.guests[0].name`.
    pub(super) path: String,
    /// The values that are right: one of a call, or the alternatives of an answer.
    pub(super) values: Vec<&'a Value>,
    /// Its schema; none if the doc has none.
    pub(super) schema: Option<&'a Value>,
}

/// Returns the arguments of an item.
pub(super) fn arguments(item: &Item) -> Vec<Argument<'_>> {
    let mut found = Vec::new();
    let drafted = item.drafted_answer.as_ref().and_then(Value::as_array);
    if let Some(calls) = drafted {
        for (name, parameters) in calls.iter().filter_map(Value::as_object).flatten() {
            let schema = schema_of(&item.functions, name);
            for (key, alternatives) in parameters.as_object().into_iter().flatten() {
                let path = format!("{name}.{key}");
                let schema = schema.and_then(|schema| schema.get("properties")?.get(key));
                // An empty text among the alternatives means that the argument may be absent.
                let values =
                    alternatives.as_array().map_or_else(|| vec![alternatives], |all| all.iter().collect());
                found.push(Argument { path, values, schema });
            }
        }
        return found;
    }
    for call in &item.reply.calls {
        let schema = schema_of(&item.functions, &call.name);
        push(&call.name, &call.arguments, schema, &mut found);
    }
    found
}

/// Returns the schema of a function's parameters, in the doc of BFCL or of OpenAI.
fn schema_of<'a>(functions: &'a [Function], name: &str) -> Option<&'a Value> {
    let doc = &functions.iter().find(|function| function.name == name)?.doc;
    doc.get("function").unwrap_or(doc).get("parameters")
}

/// Adds the leaves of a value.
fn push<'a>(path: &str, value: &'a Value, schema: Option<&'a Value>, found: &mut Vec<Argument<'a>>) {
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                let schema = schema.and_then(|schema| schema.get("properties")?.get(key));
                push(&format!("{path}.{key}"), value, schema, found);
            }
        }
        Value::Array(values) => {
            let schema = schema.and_then(|schema| schema.get("items"));
            for (at, value) in values.iter().enumerate() {
                push(&format!("{path}[{at}]"), value, schema, found);
            }
        }
        _ => found.push(Argument { path: path.to_owned(), values: vec![value], schema }),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::booking;
    use super::*;

    #[test]
    fn the_drafted_answer_counts_before_the_calls() {
        let mut item = booking("q", json!({"seats": 2, "guests": [{"name": "Kim"}]}));
        let paths = |item: &Item| arguments(item).into_iter().map(|found| found.path).collect::<Vec<_>>();
        assert_eq!(paths(&item), ["book.seats", "book.guests[0].name"]);
        item.drafted_answer = Some(json!([{"book": {"city": ["Oslo", ""]}}]));
        assert_eq!(paths(&item), ["book.city"]);
        let found = arguments(&item);
        assert_eq!(found[0].values, [&json!("Oslo"), &json!("")]);
        assert_eq!(found[0].schema.unwrap()["maxLength"], 9);
    }

    #[test]
    fn the_schema_of_an_openai_doc_is_found() {
        let mut item = booking("q", json!({"seats": 2}));
        item.functions[0].doc = json!({"type": "function", "function": item.functions[0].doc});
        assert_eq!(arguments(&item)[0].schema.unwrap()["maximum"], 6);
    }
}
