//! Whether the arguments of a recorded call occur in its request.
//!
//! A model that calls a function that does not fit has to invent values. So a call whose required values occur in the
//! conversation shows that the function fits, even if query and docs share no words.

use serde_json::Value;

use super::words::{holds, value_words};
use callsieve_answers::called::CallableFunctions;
use callsieve_bfcl::conversation::Call;
use callsieve_text::normal::loose_name;

/// Returns whether every call is a call of one of the functions, which `callable` has, too, and each of its required values occurs in the text; at
/// least one value must be found. Booleans and enum values need not occur and do not count.
pub fn are_grounded(calls: &[Call], functions: &[Value], callable: &CallableFunctions, text: &str) -> bool {
    let words = value_words(text);
    let mut n_found = 0;
    let all = calls.iter().all(|call| {
        // A single function matches any name, because a merge of docs may have renamed it.
        let place = if functions.len() == 1 { Some(0) } else { callable.place_of(call) };
        let Some(function) = place.and_then(|at| functions.get(at)) else { return false };
        let parameters = &function["parameters"];
        let required = parameters["required"].as_array().map_or(&[][..], Vec::as_slice);
        required.iter().filter_map(Value::as_str).all(|name| {
            // Fixes of the docs may have changed characters in the name.
            let arguments = call.arguments.as_object().into_iter().flatten();
            let mut given =
                arguments.filter(|(given, _)| *given == name || loose_name(given) == loose_name(name));
            let Some((_, value)) = given.next() else { return false };
            if value.is_boolean() || parameters["properties"][name].get("enum").is_some() {
                return true;
            }
            let is_found = is_in(value, &words);
            n_found += usize::from(is_found);
            is_found
        })
    });
    all && n_found > 0
}

/// Returns whether at least half of the words in a value, and in each nested value, are among some words.
fn is_in(value: &Value, words: &[String]) -> bool {
    match value {
        Value::Array(values) => values.iter().all(|value| is_in(value, words)),
        Value::Object(members) => members.values().all(|value| is_in(value, words)),
        Value::Null | Value::Bool(_) => true,
        Value::String(text) => has_half(text, words),
        Value::Number(number) => has_half(&number.to_string(), words),
    }
}

fn has_half(text: &str, words: &[String]) -> bool {
    let own = value_words(text);
    let n_held = own.iter().filter(|word| holds(words, word)).count();
    n_held > 0 && 2 * n_held >= own.len()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn grounded(calls: &[Call], functions: &[Value], text: &str) -> bool {
        are_grounded(calls, functions, &CallableFunctions::new(functions), text)
    }

    #[test]
    fn a_call_is_grounded_if_its_required_values_occur_in_the_request() {
        let functions =
            [json!({"name": "run.command", "description": "Runs it.", "parameters": {"type": "dict",
            "required": ["command", "mode"], "properties": {"command": {"type": "string"},
                "mode": {"type": "string", "enum": ["fast"]}, "times": {"type": "integer"}}}})];
        let call = |name: &str, arguments: Value| Call { id: None, name: name.to_owned(), arguments };
        for (name, arguments, expected) in [
            ("run_command", json!({"command": "dir /b Desktop", "mode": "fast", "times": 9}), true),
            ("run_command", json!({"command": "ls -la /home", "mode": "fast"}), false),
            ("run_command", json!({"command": "dir Desktop"}), false),
            ("run_command", json!({"_command": "dir Desktop", "mode": "fast"}), true),
            ("stop", json!({"command": "dir Desktop", "mode": "fast"}), true),
        ] {
            let calls = [call(name, arguments)];
            let text = "list files using dir Desktop";
            assert_eq!(grounded(&calls, &functions, text), expected, "{calls:?}");
        }
        let two = [functions[0].clone(), json!({"name": "other", "parameters": {"required": []}})];
        let calls = [call("stop", json!({"command": "dir Desktop", "mode": "fast"}))];
        assert!(!grounded(&calls, &two, "list files using dir Desktop"));
        let calls = [call("command_run", json!({"command": "dir Desktop", "mode": "fast"}))];
        assert!(grounded(&calls, &two, "list files using dir Desktop"));
    }

    #[test]
    fn a_call_without_values_is_not_grounded() {
        let functions =
            [json!({"name": "now", "parameters": {"type": "dict", "required": [], "properties": {}}})];
        let calls = [Call { id: None, name: "now".to_owned(), arguments: json!({}) }];
        assert!(!grounded(&calls, &functions, "What time is it now?"));
    }
}
