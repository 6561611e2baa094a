//! Limits of values as the fix `schema/constraint-keyword` writes them into a description.
//!
//! BFCL has no keys for limits, so fixed docs have them in words: `Maximum value: 100.` Other words are not read.

use jsonschema::Validator;
use serde_json::{Map, Value, json};

use super::fix::keys::PHRASES;

/// Returns the key of the first limit in a description that a value breaks, such as `maximum`; `None` if it keeps all.
///
/// Of a list the elements are not looked at. A pattern that is no regular expression limits nothing.
pub fn broken(description: &str, value: &Value) -> Option<&'static str> {
    limits(description).find(|(key, limit)| breaks(key, limit, value)).map(|(key, _)| key)
}

/// The limits of a description, by key.
fn limits(description: &str) -> impl Iterator<Item = (&'static str, Value)> + '_ {
    PHRASES.iter().filter(|(key, _)| !matches!(*key, "min" | "max" | "format")).filter_map(|(key, words)| {
        let announced = format!("{words}: ");
        let at = description.find(&announced)?;
        let starts_sentence =
            description[..at].trim_end().chars().next_back().is_none_or(|c| ".!?".contains(c));
        let rest = &description[at + announced.len()..];
        // The phrases stand one after the other, and a pattern may have full stops inside.
        let next = PHRASES.iter().filter_map(|(_, words)| rest.find(&format!(". {words}: "))).min();
        let written = &rest[..next.unwrap_or(rest.len())];
        let written = written.strip_suffix('.').unwrap_or(written);
        let limit = match *key {
            "pattern" => Value::from(written),
            "const" => serde_json::from_str(written).unwrap_or_else(|_| written.into()),
            _ => serde_json::from_str::<Value>(written.split(". ").next().unwrap_or_default())
                .ok()
                .filter(Value::is_number)?,
        };
        starts_sentence.then_some((*key, limit))
    })
}

fn breaks(key: &str, limit: &Value, value: &Value) -> bool {
    let mut schema = Map::new();
    schema.insert(key.to_owned(), limit.clone());
    let validator: Option<Validator> = jsonschema::validator_for(&json!(schema)).ok();
    validator.is_some_and(|validator| !validator.is_valid(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fix::{Safety, fix};

    /// The description of a parameter after all fixes.
    fn fixed(schema: &Value) -> String {
        let function = json!({"name": "ring", "description": "Rings a bell.", "parameters": {
            "type": "object", "properties": {"times": schema}, "required": ["times"]}});
        let fixed = fix(&[function], Safety::Safe);
        let functions = Value::Array(fixed.functions);
        functions[0]["parameters"]["properties"]["times"]["description"].as_str().unwrap().to_owned()
    }

    #[test]
    fn the_limits_that_docs_had_are_read_back() {
        for (schema, good, bad, key) in [
            (json!({"type": "integer", "minimum": 1, "maximum": 12}), json!(12), json!(13), "maximum"),
            (json!({"type": "integer", "minimum": 1, "maximum": 12}), json!(1), json!(0), "minimum"),
            (json!({"type": "number", "exclusiveMinimum": 0}), json!(0.1), json!(0), "exclusiveMinimum"),
            (
                json!({"type": "string", "pattern": "^[A-Z]{2}\\.[0-9]+$"}),
                json!("AB.7"),
                json!("ab.7"),
                "pattern",
            ),
            (json!({"type": "string", "maxLength": 3}), json!("abc"), json!("abcd"), "maxLength"),
            (json!({"type": "integer", "multipleOf": 5}), json!(15), json!(16), "multipleOf"),
        ] {
            let mut schema = schema;
            schema["description"] = json!("How often");
            let description = fixed(&schema);
            assert_eq!(broken(&description, &good), None, "{description}");
            assert_eq!(broken(&description, &bad), Some(key), "{description}");
        }
    }

    #[test]
    fn other_words_are_no_limits() {
        for description in
            ["The maximum value: 3 is rare", "Pattern: (", "At most 12", "", "Minimum value: many."]
        {
            assert_eq!(broken(description, &json!(99)), None, "{description}");
            assert_eq!(broken(description, &json!("x")), None, "{description}");
        }
    }
}
