//! Choosing: the request for the keys of a function's results that nobody needs, and the keys in an answer.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::texts::{Task, Texts};
use callsieve_engine::language_model::{ChatAnswer, ChatRequest};
use callsieve_text::json_answer::object_in;

/// What a model is asked.
pub static KEYS: Task = Task {
    name: "keys",
    prompt: include_str!("../../../../configs/prompts/choose_keys.md"),
    usual_output: 60,
    max_output: 800,
};

/// Returns the request for the keys of a result of a function; `None` if the texts are too long.
pub fn question(function: &Value, result: &Value, model: &str) -> Option<ChatRequest> {
    let texts = Texts::sections(std::slice::from_ref(function), &[("RESULT", &result.to_string())])?;
    let schema = json!({
        "type": "object",
        "properties": {"useless": {"type": "array", "items": {"type": "string"}}},
        "required": ["useless"],
        "additionalProperties": false
    });
    Some(KEYS.question(&texts, &schema, model, 0, 1))
}

/// Reads the keys of an answer. Those that the result does not have are left out.
///
/// # Errors
/// Why the answer cannot be used: it is no such object, or names every key of the result.
pub fn keys_in(answer: &ChatAnswer, result: &Value) -> Result<Vec<String>, &'static str> {
    let object = object_in(&answer.text, answer.is_cut())?;
    let named = object.get("useless").and_then(Value::as_array).ok_or("the answer has no list of keys")?;
    let mut known = BTreeSet::new();
    add_keys(result, &mut known);
    let named: BTreeSet<&str> =
        named.iter().filter_map(Value::as_str).filter(|key| known.contains(*key)).collect();
    if named.len() == known.len() && !known.is_empty() {
        return Err("the answer names every key of the result");
    }
    Ok(named.into_iter().map(str::to_owned).collect())
}

fn add_keys<'v>(value: &'v Value, keys: &mut BTreeSet<&'v str>) {
    match value {
        Value::Array(elements) => elements.iter().for_each(|element| add_keys(element, keys)),
        Value::Object(members) => {
            for (key, member) in members {
                keys.insert(key);
                add_keys(member, keys);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_keys_of_the_result_are_taken_and_never_all() {
        let result = json!({"bells": [{"name": "Big", "hash": "f00"}]});
        let read = |text: &str| keys_in(&ChatAnswer::of_text(text), &result);
        assert_eq!(read(r#"{"useless": ["hash", "picture"]}"#), Ok(vec!["hash".to_owned()]));
        assert_eq!(read(r#"{"useless": []}"#), Ok(Vec::new()));
        assert!(read(r#"{"useless": ["bells", "name", "hash"]}"#).is_err());
        assert!(read("none").is_err());
    }
}
