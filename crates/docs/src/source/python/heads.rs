//! Converts signatures of functions with their docstrings to docs.

use serde_json::{Map, Value, json};

use super::docstring::{self, Docstring};
use super::models::{Models, not_optional};
use crate::parse::fault::ParseFault;
use crate::source::found::{named, too_large};
use callsieve_notation::python::{PyDef, PyDefault, PyParameter};

/// Returns the function that a `def` defines.
pub(super) fn function(def: &PyDef, models: &Models<'_>) -> Result<Value, ParseFault> {
    let names: Vec<&str> = def.parameters.iter().map(|parameter| parameter.name.as_str()).collect();
    let mut doc = docstring::read(def.docstring.as_deref().unwrap_or_default(), &names);
    let parameters = members(&def.parameters, &mut doc, models)?;
    let mut function = named(&def.name, &doc.description, parameters);
    if !def.rest.is_empty() {
        function["rest"] = json!(def.rest);
    }
    Ok(function)
}

/// Returns parameters, or the fields of a model, with their texts in the docstring.
pub(super) fn members(
    parameters: &[PyParameter],
    doc: &mut Docstring,
    models: &Models<'_>,
) -> Result<Value, ParseFault> {
    let mut properties = Map::new();
    let mut required: Vec<&str> = Vec::new();
    for parameter in parameters {
        let may_be_missing =
            parameter.annotation.as_deref().is_some_and(|kind| kind.starts_with("NotRequired["));
        if parameter.default.is_none() && !may_be_missing {
            required.push(&parameter.name);
        }
        let entry = doc.parameters.remove(&parameter.name).unwrap_or_default();
        properties.insert(parameter.name.clone(), property(parameter, entry, models)?);
    }
    Ok(json!({ "type": "dict", "properties": properties, "required": required }))
}

fn property(
    parameter: &PyParameter,
    entry: docstring::DocstringEntry,
    models: &Models<'_>,
) -> Result<Value, ParseFault> {
    let written = parameter.annotation.as_deref().map(|annotation| not_optional(annotation).to_owned());
    let mut property = match written.or(entry.kind) {
        Some(kind) => {
            models.schema(&kind)?.unwrap_or_else(|| Map::from_iter([("type".to_owned(), json!(kind))]))
        }
        None => Map::new(),
    };
    // If signature and docstring disagree, the docstring's own words are kept.
    let agrees = entry.optional.is_none_or(|optional| optional == parameter.default.is_some());
    let text = if agrees { entry.text } else { entry.whole };
    if !text.is_empty() {
        property.insert("description".to_owned(), json!(text));
    }
    property.extend(parameter.schema_keys.clone());
    if let Some(default) = &parameter.default {
        let (key, value) = match (models.value(default), default) {
            (Some(value), _) => ("default", value.clone()),
            (None, PyDefault::Expression(written)) => ("default_expression", json!(written)),
            (None, PyDefault::Literal(_)) => return Err(too_large()),
        };
        property.insert(key.to_owned(), value);
    }
    Ok(Value::Object(property))
}
