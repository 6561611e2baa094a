//! An environment of recorded calls: a call has the answer that was recorded for it, or none.
//!
//! Arguments are compared as JSON values: the order of keys and the spelling of numbers do not matter. There is no state.
//! If a call was recorded several times, its first answer counts; how many others differ is among the conditions.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use callsieve_text::content_hash::content_hash;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::call::{Call, Failure, Observation, Origin};
use crate::canonical::canonical;
use crate::environment::{Environment, Episode, Function, InitialState, ParameterSource, ValueSource};
use crate::error::EnvironmentError;
use crate::records;
use crate::schema;
use crate::state_file::default_state;

/// Changes with every change of this module that changes a result.
const VERSION: u32 = 1;

/// The most values of a parameter that are a source of further ones.
const MAX_VALUES: usize = 1_000;

/// Settings of an environment of recorded calls. Relative paths start at the folder of the settings file.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecordedSettings {
    /// The name of the environment.
    pub name: String,
    /// A JSON or JSONL file of calls: `{"function", "arguments", "result"}`, and `"error"` in place of the result if the
    /// call failed. `name` is read as `function`.
    pub file: PathBuf,
    /// A JSON or JSONL file of function docs. A function without one has a doc by its recorded calls.
    #[serde(default)]
    pub docs: Option<PathBuf>,
}

/// An environment of recorded calls.
pub struct Recorded {
    name: String,
    functions: Vec<Function>,
    initial_states: Vec<InitialState>,
    answers: Arc<BTreeMap<String, BTreeMap<String, Observation>>>,
    sources: Vec<ParameterSource>,
    n_contradictions: usize,
    fingerprint: Value,
}

impl RecordedSettings {
    /// Makes relative paths start at a folder.
    pub fn start_at(&mut self, folder: &Path) {
        self.file = folder.join(&self.file);
        self.docs = self.docs.as_ref().map(|docs| folder.join(docs));
    }
}

/// A recorded call.
struct Record {
    call: Call,
    answer: Observation,
}

impl Recorded {
    /// Reads the files of the settings.
    ///
    /// # Errors
    /// A file cannot be read, has a fault, or has no call.
    pub fn open(settings: &RecordedSettings) -> Result<Self, EnvironmentError> {
        let lines = records::read(&settings.file)?;
        let read =
            lines.iter().enumerate().map(|(place, record)| Record::read(&settings.file, place + 1, record));
        let read: Vec<Record> = read.collect::<Result<_, _>>()?;
        if read.is_empty() {
            let what = "the file has no recorded call".to_owned();
            return Err(EnvironmentError::Setting { name: settings.name.clone(), what });
        }
        let docs = settings.docs.as_ref().map(|path| records::read(path)).transpose()?.unwrap_or_default();
        let fingerprint = json!({
            "kind": "recorded",
            "version": VERSION,
            "calls": format!("{:032x}", content_hash(canonical(&Value::Array(lines)))),
            "docs": format!("{:032x}", content_hash(canonical(&json!(docs)))),
        });
        let named = docs.iter().filter_map(|doc| Some((doc.get("name")?.as_str()?, doc)));
        let named: BTreeMap<&str, &Value> = named.collect();
        let groups = by_function(&read);
        let functions = groups.iter().map(|group| function(group, &named)).collect();
        let sources = sources(&groups);
        let mut answers: BTreeMap<String, BTreeMap<String, Observation>> = BTreeMap::new();
        let mut n_contradictions = 0;
        for record in read {
            let of_function = answers.entry(record.call.name).or_default();
            match of_function.get(&key(&record.call.arguments)) {
                None => {
                    of_function.insert(key(&record.call.arguments), record.answer);
                }
                Some(first) if *first != record.answer => n_contradictions += 1,
                Some(_) => {}
            }
        }
        let name = settings.name.clone();
        let (initial_states, answers) = (vec![default_state()], Arc::new(answers));
        Ok(Self { name, functions, initial_states, answers, sources, n_contradictions, fingerprint })
    }
}

impl Record {
    fn read(path: &Path, position: usize, record: &Value) -> Result<Self, EnvironmentError> {
        let fault = |key: &str, expected: &str| {
            let found = record.get(key).map_or_else(|| "no such key".to_owned(), Value::to_string);
            let found: String = found.chars().take(80).collect();
            records::fault(path, position, &format!("record {position}: {key}"), &found, expected)
        };
        let name = record.get("function").or_else(|| record.get("name")).and_then(Value::as_str);
        let name = name
            .filter(|name| !name.is_empty())
            .ok_or_else(|| fault("function", "the name of a function"))?;
        let arguments = match record.get("arguments") {
            Some(Value::Object(arguments)) => arguments.clone(),
            None | Some(Value::Null) => Map::new(),
            Some(_) => return Err(fault("arguments", "an object")),
        };
        let result = record.get("result").cloned();
        let answer = match record.get("error").filter(|error| !error.is_null()) {
            Some(error) => {
                let result = result.filter(|result| !result.is_null()).unwrap_or_else(|| error.clone());
                Observation { result, failure: Some(Failure::ErrorResult), origin: Origin::Recorded }
            }
            None => Observation::success(
                result.ok_or_else(|| fault("result", "a result, or an error"))?,
                Origin::Recorded,
            ),
        };
        Ok(Self { call: Call::new(name, arguments), answer })
    }
}

fn key(arguments: &Map<String, Value>) -> String {
    canonical(&Value::Object(arguments.clone()))
}

/// The recorded calls of a function.
type OfFunction<'r> = (&'r str, Vec<&'r Record>);

/// Returns the records by function, in the order of the first calls.
fn by_function(records: &[Record]) -> Vec<OfFunction<'_>> {
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    let mut groups: Vec<OfFunction<'_>> = Vec::new();
    for record in records {
        let name = record.call.name.as_str();
        let place = *places.entry(name).or_insert(groups.len());
        if place == groups.len() {
            groups.push((name, Vec::new()));
        }
        groups[place].1.push(record);
    }
    groups
}

/// Returns a function with its doc in the file, or by what was recorded.
fn function((name, records): &OfFunction<'_>, docs: &BTreeMap<&str, &Value>) -> Function {
    let doc = match docs.get(name) {
        Some(doc) => schema::doc(name, doc),
        None => schema::doc(name, &json!({"parameters": parameters(records)})),
    };
    Function { doc, effect: None, class: None }
}

/// Returns the schema of the arguments of some calls. An argument that every call has is required.
fn parameters(records: &[&Record]) -> Value {
    let mut properties: Map<String, Value> = Map::new();
    for (name, value) in records.iter().flat_map(|record| &record.call.arguments) {
        let own = type_of(value);
        let schema = properties.entry(name.clone()).or_insert_with(|| json!({"type": own}));
        let known = schema["type"].clone();
        if known == "integer" && own == "number" {
            schema["type"] = own.into();
        } else if known != own && !(known == "number" && own == "integer") {
            let mut types = known.as_array().cloned().unwrap_or_else(|| vec![known]);
            if !types.contains(&own.into()) {
                types.push(own.into());
            }
            schema["type"] = types.into();
        }
    }
    let is_in_all = |name: &&String| records.iter().all(|record| record.call.arguments.contains_key(*name));
    let required: Vec<&String> = properties.keys().filter(is_in_all).collect();
    json!({"type": "object", "properties": properties, "required": required})
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_i64() || number.is_u64() => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Returns the recorded values of each parameter.
fn sources(groups: &[OfFunction<'_>]) -> Vec<ParameterSource> {
    let mut sources = Vec::new();
    for (name, records) in groups {
        let mut parameters: Vec<(&str, Vec<Value>, BTreeSet<String>)> = Vec::new();
        for (parameter, value) in records.iter().flat_map(|record| &record.call.arguments) {
            let place = parameters.iter().position(|(known, ..)| known == parameter).unwrap_or_else(|| {
                parameters.push((parameter, Vec::new(), BTreeSet::new()));
                parameters.len() - 1
            });
            let (_, values, seen) = &mut parameters[place];
            if values.len() < MAX_VALUES && seen.insert(canonical(value)) {
                values.push(value.clone());
            }
        }
        for (parameter, values, _) in parameters {
            let (function, parameter) = ((*name).to_owned(), parameter.to_owned());
            sources.push(ParameterSource { function, parameter, source: ValueSource::Recorded(values) });
        }
    }
    sources
}

impl Environment for Recorded {
    fn name(&self) -> &str {
        &self.name
    }

    fn origin(&self) -> Origin {
        Origin::Recorded
    }

    fn functions(&self) -> &[Function] {
        &self.functions
    }

    fn initial_states(&self) -> &[InitialState] {
        &self.initial_states
    }

    fn value_sources(&self) -> Vec<ParameterSource> {
        self.sources.clone()
    }

    fn start(&self, _state: &InitialState) -> Result<Box<dyn Episode>, EnvironmentError> {
        Ok(Box::new(RecordedEpisode { answers: Arc::clone(&self.answers) }))
    }

    fn fingerprint(&self) -> Value {
        self.fingerprint.clone()
    }

    fn conditions(&self) -> Map<String, Value> {
        [("contradicting_answers".to_owned(), self.n_contradictions.into())].into_iter().collect()
    }
}

struct RecordedEpisode {
    answers: Arc<BTreeMap<String, BTreeMap<String, Observation>>>,
}

impl Episode for RecordedEpisode {
    fn call(&mut self, call: &Call) -> Result<Observation, EnvironmentError> {
        let Some(of_function) = self.answers.get(&call.name) else {
            return Ok(Observation::unknown_function(&call.name, Origin::Recorded));
        };
        let missing = || {
            let text = format!("No call of {} with these arguments was recorded.", call.name);
            Observation::failure(Failure::NotRecorded, text, Origin::Recorded)
        };
        Ok(of_function.get(&key(&call.arguments)).cloned().unwrap_or_else(missing))
    }

    fn state(&mut self) -> Result<Option<Value>, EnvironmentError> {
        Ok(None)
    }

    fn stop(self: Box<Self>) -> Result<(), EnvironmentError> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(text: &str) -> Result<Recorded, EnvironmentError> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("calls.jsonl");
        std::fs::write(&file, text).unwrap();
        Recorded::open(&RecordedSettings { name: "r".to_owned(), file, docs: None })
    }

    fn call(recorded: &Recorded, name: &str, arguments: &str) -> (Value, Option<Failure>) {
        let call = Call::new(name, serde_json::from_str(arguments).unwrap());
        let execution = recorded.run(&recorded.initial_states()[0], &[call]).unwrap();
        assert_eq!((execution.end_state, execution.state_hash), (None, None));
        let seen = execution.observations.into_iter().next().unwrap();
        assert_eq!(seen.origin, Origin::Recorded);
        (seen.result, seen.failure)
    }

    const CALLS: &str = r#"
{"function": "find", "arguments": {"city": "Lindau", "max": 2}, "result": ["a"]}
{"function": "find", "arguments": {"max": 2.0, "city": "Lindau"}, "result": ["b"]}
{"name": "find", "arguments": {"city": "Oberdorf"}, "error": "no such town"}
{"function": "now", "result": null}
"#;

    #[test]
    fn a_call_has_its_recorded_answer_or_none() {
        let recorded = open(CALLS).unwrap();
        assert_eq!(call(&recorded, "find", r#"{"max": 2, "city": "Lindau"}"#), (json!(["a"]), None));
        assert_eq!(
            call(&recorded, "find", r#"{"city": "Oberdorf"}"#),
            (json!("no such town"), Some(Failure::ErrorResult))
        );
        assert_eq!(call(&recorded, "now", "{}"), (Value::Null, None));
        assert_eq!(call(&recorded, "find", "{}").1, Some(Failure::NotRecorded));
        assert_eq!(call(&recorded, "fly", "{}").1, Some(Failure::UnknownFunction));
        assert_eq!(recorded.conditions()["contradicting_answers"], 1);
    }

    #[test]
    fn docs_and_sources_come_from_the_calls() {
        let recorded = open(CALLS).unwrap();
        let schema = &recorded.functions()[0].doc["parameters"];
        assert_eq!(
            *schema,
            json!({"type": "object", "properties": {"city": {"type": "string"}, "max": {"type": "number"}}, "required": ["city"]})
        );
        let values = recorded.value_sources().into_iter().next().unwrap().source;
        assert_eq!(values, ValueSource::Recorded(vec![json!("Lindau"), json!("Oberdorf")]));
    }

    #[test]
    fn faults_of_the_file_have_a_place() {
        let fault = |text: &str| open(text).err().unwrap().to_string();
        assert!(
            fault("{\"function\": \"f\", \"result\": 1}\n{\"function\"\n")
                .contains("calls.jsonl:2: a line: found")
        );
        assert!(fault("{\"function\": \"f\"}\n{}").contains(":1: record 1: result: found no such key"));
        assert!(
            fault("{\"function\": \"f\", \"arguments\": 1, \"result\": 1}")
                .contains("arguments: found 1, expected an object")
        );
        assert!(fault("[]").ends_with("the file has no recorded call"));
    }
}
