//! Parameters of other forms as a JSON Schema: maps from names to parameters, and lists of named ones.
//!
//! The inside of a parameter stays as written. Two things change their place, because a schema has another one for them:
//! marks of single parameters as required or optional become the list `required`, and words for a default or for allowed
//! values become `default` and `enum`. Equal names get a number, so that no parameter is lost.

use serde_json::{Map, Value, json};

use crate::fault::FaultKind;
use crate::reading::{Reading, cut};

/// Other words for keys of a parameter, used if the value has the type of the key.
const WORDS: [(&str, &str); 4] = [
    ("default_value", "default"),
    ("allowed_values", "enum"),
    ("possible_values", "enum"),
    ("choices", "enum"),
];

/// A schema under construction.
#[derive(Debug, Default)]
pub(crate) struct Parameters {
    properties: Map<String, Value>,
    required: Vec<String>,
}

/// What a parameter states about itself.
enum Mark {
    Required,
    Optional,
    None,
}

impl Parameters {
    /// Adds a parameter. Returns the name with a number if there is one with that name.
    pub(crate) fn add(
        &mut self,
        name: &str,
        schema: Map<String, Value>,
        is_required: bool,
    ) -> Option<String> {
        let mut free = name.to_owned();
        let mut number = 1;
        while self.properties.contains_key(&free) {
            number += 1;
            free = format!("{name}_{number}");
        }
        if is_required {
            self.required.push(free.clone());
        }
        self.properties.insert(free.clone(), Value::Object(schema));
        (number > 1).then_some(free)
    }

    pub(crate) fn into_schema(self) -> Value {
        json!({"type": "object", "properties": self.properties, "required": self.required})
    }
}

/// Returns a map from names to parameters as a schema. `required` is the list of required names, if the source has one;
/// otherwise the marks of the parameters count: unmarked ones are required if only optional ones are marked, or none is
/// and they have no default.
pub(crate) fn of_map(
    map: &Map<String, Value>,
    required: Option<&[Value]>,
    reading: &mut Reading,
    at: &str,
) -> Value {
    let mut parameters = Parameters::default();
    let read: Vec<_> = map.iter().map(|(name, value)| (name, parameter(value))).collect();
    let says_required = read.iter().any(|(_, (_, mark))| matches!(mark, Mark::Required));
    let says_optional = read.iter().any(|(_, (_, mark))| matches!(mark, Mark::Optional));
    for (name, (schema, mark)) in read {
        let is_required = match (required, mark) {
            (Some(required), _) => required.iter().any(|each| each == name.as_str()),
            (None, Mark::Required) => true,
            (None, Mark::Optional) => false,
            (None, Mark::None) => !says_required && (says_optional || !schema.contains_key("default")),
        };
        let Some(schema) = Some(schema).filter(|_| map[name].is_object() || map[name].is_string()) else {
            let message = format!("parameter {:?} is not an object", cut(name));
            reading.fault(at, FaultKind::UnreadableParameter, message);
            continue;
        };
        parameters.add(name, schema, is_required);
    }
    parameters.into_schema()
}

/// Returns lists of named parameters as a schema, each list with true if its parameters are required; `None` if the
/// marks of the parameters count.
pub(crate) fn of_lists(lists: &[(&Value, Option<bool>)], reading: &mut Reading, at: &str) -> Value {
    let mut parameters = Parameters::default();
    for (list, is_required) in lists {
        for entry in list.as_array().into_iter().flatten() {
            let name = entry.get("name").and_then(Value::as_str).filter(|name| !name.is_empty());
            let Some(name) = name else {
                reading.fault(at, FaultKind::UnreadableParameter, "a parameter has no name");
                continue;
            };
            let (mut schema, mark) = parameter(entry);
            schema.shift_remove("name");
            let is_marked = matches!(mark, Mark::Required)
                || matches!(mark, Mark::None) && !schema.contains_key("default");
            if let Some(other) = parameters.add(name, schema, is_required.unwrap_or(is_marked)) {
                let message =
                    format!("parameter {:?} occurs twice, the second one is {:?}", cut(name), cut(&other));
                reading.fault(at, FaultKind::RepeatedParameter, message);
            }
        }
    }
    parameters.into_schema()
}

/// Returns the schema of a parameter, which may be only a type or a description, and its mark.
fn parameter(value: &Value) -> (Map<String, Value>, Mark) {
    let Value::Object(map) = value else {
        let key = if is_type(value) { "type" } else { "description" };
        return (Map::from_iter([(key.to_owned(), value.clone())]), Mark::None);
    };
    let mut schema = Map::new();
    let mut mark = Mark::None;
    for (key, value) in map {
        match (key.as_str(), value) {
            ("required", Value::Bool(is)) => mark = if *is { Mark::Required } else { Mark::Optional },
            ("optional" | "nullable", Value::Bool(is)) if *is => mark = Mark::Optional,
            ("optional", Value::Bool(_)) => mark = Mark::Required,
            _ => {
                let (key, value) = in_words(map, key, value);
                schema.insert(key, value);
            }
        }
    }
    (schema, mark)
}

fn is_type(value: &Value) -> bool {
    value.as_str().is_some_and(|text| !text.trim().contains(' ') && text.len() <= 20)
}

/// Returns a member with JSON Schema's word for its key.
fn in_words(map: &Map<String, Value>, key: &str, value: &Value) -> (String, Value) {
    let fits = |word: &str| word != "enum" || value.as_array().is_some_and(|values| !values.is_empty());
    let word = WORDS.iter().find(|(other, word)| *other == key && fits(word) && !map.contains_key(*word));
    (word.map_or(key, |(_, word)| word).to_owned(), value.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(value: &Value, required: Option<&[Value]>) -> Value {
        of_map(value.as_object().unwrap(), required, &mut Reading::default(), "")
    }

    #[test]
    fn marks_become_the_list_and_words_become_keywords() {
        let schema = map(
            &json!({"a": {"type": "string", "required": true},
                "b": {"type": "str", "required": false, "default_value": "x", "allowed_values": ["x", "y"]},
                "c": {"allowed_values": [], "possible_values": "many"}}),
            None,
        );
        assert_eq!(
            schema,
            json!({"type": "object", "required": ["a"], "properties": {"a": {"type": "string"},
                "b": {"type": "str", "default": "x", "enum": ["x", "y"]},
                "c": {"allowed_values": [], "possible_values": "many"}}})
        );
    }

    #[test]
    fn unmarked_parameters_are_required_unless_others_are_marked_so() {
        let required = |value: &Value| map(value, None)["required"].clone();
        assert_eq!(required(&json!({"a": {}, "b": {"default": 1}})), json!(["a"]));
        assert_eq!(required(&json!({"a": {}, "b": {"optional": true}})), json!(["a"]));
        assert_eq!(required(&json!({"a": {}, "b": {"required": true}})), json!(["b"]));
        assert_eq!(map(&json!({"a": {}, "b": {}}), Some(&[json!("b")]))["required"], json!(["b"]));
    }

    #[test]
    fn equal_names_get_a_number_and_a_fault() {
        let list = json!([{"name": "id", "type": "NUMBER"}, {"name": "id"}, {"type": "STRING"}]);
        let mut reading = Reading::default();
        let schema = of_lists(&[(&list, Some(true))], &mut reading, "/0");
        assert_eq!(schema["properties"], json!({"id": {"type": "NUMBER"}, "id_2": {}}));
        assert_eq!(schema["required"], json!(["id", "id_2"]));
        let kinds: Vec<_> = reading.faults.iter().map(|fault| fault.kind).collect();
        assert_eq!(kinds, [FaultKind::RepeatedParameter, FaultKind::UnreadableParameter]);
    }

    #[test]
    fn a_text_is_a_type_or_a_description() {
        let schema = map(&json!({"a": "string", "b": "the number of bells", "c": 3}), None);
        let expected = json!({"a": {"type": "string"}, "b": {"description": "the number of bells"}});
        assert_eq!(schema["properties"], expected);
    }
}
