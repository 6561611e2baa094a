//! The pipeline of a finished run, read again from its resolved form, with other settings or further stages.

use serde_json::{Map, Value};

use super::{Override, Pipeline, PipelineError};
use crate::stages::Registry;

impl Pipeline {
    /// Reads a pipeline from its resolved form; `file` names it in messages.
    ///
    /// # Errors
    /// It is none of this version, or an override is wrong.
    pub fn from_resolved(
        resolved: &Value,
        file: &str,
        overrides: &[Override],
        registry: &Registry,
    ) -> Result<Self, PipelineError> {
        let wrong =
            |what: String| PipelineError { file: Some(file.to_owned()), line: None, what, hint: None };
        let top: Map<String, Value> = resolved.as_object().into_iter().flatten().map(flat).collect();
        let text = toml::to_string(&toml_of(&Value::Object(top)))
            .map_err(|error| wrong(format!("the pipeline of the run cannot be written as TOML: {error}")))?;
        Self::parse(&text, file, overrides, registry)
    }
}

/// A member of a resolved pipeline as a pipeline file has it: the settings of a stage are beside its kind and id.
fn flat((key, value): (&String, &Value)) -> (String, Value) {
    let ("stages", Value::Array(stages)) = (key.as_str(), value) else {
        return (key.clone(), value.clone());
    };
    let flat = |stage: &Value| {
        let mut table = stage.as_object().cloned().unwrap_or_default();
        let settings = table.shift_remove("settings");
        table.extend(settings.as_ref().and_then(Value::as_object).cloned().unwrap_or_default());
        Value::Object(table)
    };
    (key.clone(), stages.iter().map(flat).collect())
}

/// A JSON value as TOML; `None` for null, which TOML does not know.
fn toml_of(value: &Value) -> Option<toml::Value> {
    Some(match value {
        Value::Null => return None,
        Value::Bool(truth) => toml::Value::Boolean(*truth),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => toml::Value::Integer(whole),
            None => toml::Value::Float(number.as_f64()?),
        },
        Value::String(text) => toml::Value::String(text.clone()),
        Value::Array(elements) => toml::Value::Array(elements.iter().filter_map(toml_of).collect()),
        Value::Object(members) => toml::Value::Table(
            members.iter().filter_map(|(key, member)| Some((key.clone(), toml_of(member)?))).collect(),
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_recipe_is_read_back_from_its_resolved_form() {
        let registry = Registry::standard();
        for (text, name) in [
            (super::super::LIVE, "live"),
            (include_str!("../../pipelines/instructions.toml"), "instructions"),
            (include_str!("../../pipelines/instructions-by-models.toml"), "by models"),
            (include_str!("../../pipelines/collection.toml"), "collection"),
        ] {
            let resolved = Pipeline::parse(text, name, &[], &registry).unwrap().resolved();
            let read = Pipeline::from_resolved(&resolved, name, &[], &registry).unwrap();
            assert_eq!(read.resolved(), resolved, "{name}");
        }
    }

    #[test]
    fn overrides_apply_and_a_form_that_is_none_is_an_error() {
        let registry = Registry::standard();
        let text = include_str!("../../pipelines/instructions.toml");
        let resolved = Pipeline::parse(text, "x", &[], &registry).unwrap().resolved();
        let model =
            Override { id: "annotate".to_owned(), key: "model".to_owned(), value: "\"m\"".to_owned() };
        let read = Pipeline::from_resolved(&resolved, "x", &[model], &registry).unwrap().resolved();
        let stages = read["stages"].as_array().unwrap();
        let annotate = stages.iter().find(|stage| stage["kind"] == "annotate").unwrap();
        assert_eq!(annotate["settings"]["model"], "m");
        assert!(Pipeline::from_resolved(&serde_json::json!({"stages": 3}), "x", &[], &registry).is_err());
    }
}
