//! Signs that a YAML text is truncated.
//!
//! YAML has no closing brackets, so most truncated texts are still valid. Only signs that no complete doc has count: a
//! key without a value, or names in `required` whose properties are missing. If the last line is not terminated, the
//! last value is also compared with its siblings. A text truncated within a word, or after a complete line, is not
//! detected.

use std::iter::successors;

use serde_json::{Map, Value};

use callsieve_notation::yaml::Yaml;

/// Keys that define the values of a schema, as `type` does.
const TYPES: [&str; 7] = ["type", "enum", "const", "$ref", "anyOf", "oneOf", "allOf"];
/// Keys under which a function has its parameters.
const PARAMETERS: [&str; 4] = ["parameters", "input_schema", "inputSchema", "function"];

/// Returns what is certainly missing at the end of the text, if anything. `is_ended` is true if anything follows the
/// text, so that its last line is complete.
pub(super) fn missing(yaml: &Yaml, text: &str, is_ended: bool) -> Option<&'static str> {
    // Brackets and the document end marker show that nothing is missing.
    if text.ends_with(['}', ']']) || text.ends_with("\n...") {
        return None;
    }
    if yaml.is_left_open {
        return Some("the text ends where a value is expected");
    }
    if !is_ended && ends_in_word(text) {
        return Some("the text ends in a word where keys are expected");
    }
    let in_a_line = if is_ended { &[][..] } else { &IN_A_LINE };
    let signs = || ALWAYS.iter().chain(in_a_line);
    edge(&yaml.value).find_map(|value| signs().find_map(|(sign, message)| sign(value).then_some(*message)))
}

/// A test of a value at the end of the text, and the message if it is incomplete.
type Sign = (fn(&Value) -> bool, &'static str);

/// Signs that count wherever the text ends.
const ALWAYS: [Sign; 1] = [(lacks_properties, "the text ends before the required properties")];

/// Signs that count only if the text ends within a line.
const IN_A_LINE: [Sign; 3] = [
    (ends_in_unknown_name, "the text ends in a required name without a property"),
    (ends_without_type, "the text ends before the type of its last property"),
    (ends_without_parameters, "the text ends before the parameters of its last function"),
];

/// Returns the values that contain the end of the text, from the outermost to the innermost.
fn edge(value: &Value) -> impl Iterator<Item = &Value> {
    successors(Some(value), |value| match value {
        Value::Array(items) => items.last(),
        Value::Object(map) => map.values().next_back(),
        _ => None,
    })
}

/// Returns true if the last line is one word below a key without a value: the beginning of another key. Printers write
/// a single word on the line of its key.
fn ends_in_word(text: &str) -> bool {
    let mut lines = text.lines().rev().map(str::trim).filter(|line| !line.is_empty());
    let (last, above) = (lines.next(), lines.next());
    last.is_some_and(|line| line.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '$')))
        && above.is_some_and(|line| line.ends_with(':'))
}

fn required(map: &Map<String, Value>) -> impl DoubleEndedIterator<Item = &str> {
    map.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

fn last(map: &Map<String, Value>) -> Option<(&str, &Value)> {
    map.iter().next_back().map(|(key, value)| (key.as_str(), value))
}

/// Returns true if names are required whose properties are missing or truncated.
fn lacks_properties(value: &Value) -> bool {
    let Some(map) = value.as_object() else { return false };
    match (map.get("properties").and_then(Value::as_object), last(map)) {
        (Some(properties), Some(("properties", _))) => {
            required(map).any(|name| !properties.contains_key(name))
        }
        (None, Some(_)) => {
            let is_object = map.get("type").is_some_and(|kind| kind == "object" || kind == "dict");
            is_object && !map.contains_key("properties") && required(map).next().is_some()
        }
        _ => false,
    }
}

/// Returns true if the last required name has no property, for example because it is truncated.
fn ends_in_unknown_name(value: &Value) -> bool {
    let Some(map) = value.as_object() else { return false };
    let properties = map.get("properties").and_then(Value::as_object);
    let is_last = last(map).is_some_and(|(key, _)| key == "required");
    is_last
        && properties.is_some_and(|properties| {
            required(map).next_back().is_some_and(|name| !properties.contains_key(name))
        })
}

/// Returns true if the last property has no type and all others have one.
fn ends_without_type(value: &Value) -> bool {
    let Some(("properties", Value::Object(properties))) = value.as_object().and_then(last) else {
        return false;
    };
    lacks_what_others_have(properties.values(), &TYPES)
}

/// Returns true if the last of several functions has no parameters and all others have them.
fn ends_without_parameters(value: &Value) -> bool {
    let Some(items) = value.as_array() else { return false };
    items.len() > 1
        && items.iter().all(|item| item.get("name").is_some_and(Value::is_string))
        && lacks_what_others_have(items.iter(), &PARAMETERS)
}

fn lacks_what_others_have<'v>(mut values: impl DoubleEndedIterator<Item = &'v Value>, keys: &[&str]) -> bool {
    let lacks =
        |value: &Value| value.as_object().is_none_or(|map| !keys.iter().any(|key| map.contains_key(*key)));
    values.next_back().is_some_and(lacks) && !values.any(lacks)
}

#[cfg(test)]
mod tests {
    use crate::parse::fault::ParseFaultKind;
    use crate::parse::parse;

    const TOOL: &str = "name: ring\ndescription: Rings a bell.\nparameters:\n  type: object\n  properties:\n    bell:\n      type: string\n      description: Which bell.\n    times:\n      description: How often.\n      type: integer\n  required:\n  - bell\n  - times";

    fn is_reported(text: &str) -> bool {
        parse(text)
            .map_or(true, |parsed| parsed.faults.iter().any(|fault| fault.kind == ParseFaultKind::Truncated))
    }

    #[test]
    fn a_complete_text_needs_no_final_newline() {
        assert!(!is_reported(TOOL));
        for text in [
            "name: f\nparameters: {type: object, properties: {a: {type: string}, b: {description: x}}}",
            "name: f\nparameters:\n  type: object\n  properties:\n    a:\n      description: x\n    b:\n      description: y",
            "name: f\ndescription: ''",
            "name: f\ndefault: ~",
            "name: f\nparameters:\n...",
            "```yaml\n- name: f\n  parameters: {}\n- name: g\n  description: Takes none.\n```",
        ] {
            assert!(!is_reported(text), "{text}");
        }
    }

    #[test]
    fn a_text_that_ends_too_early_is_reported() {
        for text in [
            "name: f\nparameters:",
            "name: f\nparameters:\n",
            "name: f\ndescription: |\n",
            "name: f\nenum:\n- a\n-",
            "name: f\nparameters:\n  type: object\n  required: [a, b]\n  properties:\n    a: {type: string}\n    # b is",
            "name: f\nparameters:\n  type: object\n  required:\n  - a\n",
            "name: f\nparameters:\n  type: object\n  properties:\n    bell:\n      type: string\n  required:\n  - be",
            "- name: f\n  parameters: {}\n- name: g\n  description: Take",
            "name: f\ndescription: \"Rin",
        ] {
            assert!(is_reported(text), "{text}");
        }
    }

    #[test]
    fn a_truncated_text_is_unreported_only_if_it_ends_with_a_value() {
        let mut silent = Vec::new();
        for at in 1..TOOL.len() {
            if !is_reported(&TOOL[..at]) {
                let line = TOOL[..at].trim_end().lines().next_back().unwrap();
                let value = line.split_once(": ").map(|(_, value)| value).or(line.trim().strip_prefix("- "));
                assert!(value.is_some_and(|value| !value.is_empty()), "{:?}", &TOOL[..at]);
                silent.push(at);
            }
        }
        assert!(silent.len() < TOOL.len() / 2, "{} of {}", silent.len(), TOOL.len());
    }
}
