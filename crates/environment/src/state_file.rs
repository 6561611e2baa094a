//! Initial states from the records of a file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::canonical::canonical;
use crate::environment::InitialState;

/// The name of the only state where there is no file.
pub(crate) const DEFAULT_STATE: &str = "default";

/// A JSON or JSONL file with a record for each initial state. Equal states are one, under the name of the first.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StateFile {
    /// The file; for Python, `package:NAME/…` is a file of an installed package.
    pub file: String,
    /// The key of a record with the name of the state; by default `name`. Without it, the position is the name.
    #[serde(default = "default_name")]
    pub name: String,
    /// The key of a record with the content of the state; by default `value`. Without it, the whole record is the content.
    #[serde(default = "default_value")]
    pub value: String,
}

fn default_name() -> String {
    "name".to_owned()
}

fn default_value() -> String {
    "value".to_owned()
}

impl StateFile {
    /// Returns the distinct states of the records. Names stay unique.
    pub(crate) fn states(&self, records: &[Value]) -> Vec<InitialState> {
        let mut seen = std::collections::BTreeSet::new();
        let mut names = std::collections::BTreeSet::new();
        let mut states = Vec::new();
        for (position, record) in records.iter().enumerate() {
            let value = record.get(&self.value).unwrap_or(record);
            if !seen.insert(canonical(value)) {
                continue;
            }
            let mut name = match record.get(&self.name) {
                Some(Value::String(name)) if !name.is_empty() => name.clone(),
                Some(Value::Number(name)) => name.to_string(),
                _ => format!("{}", position + 1),
            };
            while !names.insert(name.clone()) {
                name = format!("{name}-{}", position + 1);
            }
            states.push(InitialState { name, value: value.clone() });
        }
        states
    }
}

/// Returns the only state of an environment that loads none.
pub(crate) fn default_state() -> InitialState {
    InitialState { name: DEFAULT_STATE.to_owned(), value: json!(Map::new()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_states_are_one_and_names_are_unique() {
        let file = StateFile { file: "f".to_owned(), name: "id".to_owned(), value: "config".to_owned() };
        let states = file.states(&[
            json!({"id": "a", "config": {"x": 1, "y": 2}}),
            json!({"id": "b", "config": {"y": 2, "x": 1.0}}),
            json!({"id": "a", "config": {}}),
            json!({"config": 7}),
        ]);
        let names: Vec<&str> = states.iter().map(|state| state.name.as_str()).collect();
        assert_eq!(names, ["a", "a-3", "4"]);
        assert_eq!(states[2].value, 7);
    }
}
