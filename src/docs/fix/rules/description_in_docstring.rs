//! What a parameter is stands in the description of its function.

use serde_json::{Map, Value};

use crate::docs::fix::keys::DESCRIPTION;
use crate::docs::fix::opinion::{Change, Opinion};
use crate::docs::fix::rule::{Rule, Safety};
use crate::docs::fix::values::is_undescribed;
use crate::docs::fix::walk::each_parameters;
use crate::docs::patch::token;
use crate::docs::source::python::docstring;

pub(super) static RULE: Rule = Rule {
    code: "schema/description-in-docstring",
    what: "A parameter has no description, and the description of its function tells of it.",
    why: "Docs made from Python functions keep the whole docstring in one place. What it says of each parameter is \
          copied to it; the docstring itself stays.",
    safety: Safety::Safe,
    fires: r#"{"name": "f", "description": "Rings.\n\nArgs:\n    a (str): Which bell.", "parameters": {"type": "dict",
        "required": ["a"], "properties": {"a": {"type": "string"}}}}"#,
    quiet: r#"{"name": "f", "description": "Rings a: the bell.", "parameters": {"type": "dict",
        "required": ["a"], "properties": {"a": {"type": "string", "description": "x"}}}}"#,
    judge,
};

fn judge(opinion: &mut Opinion<'_>) {
    let functions = opinion.functions;
    each_parameters(functions, |site, schema| {
        let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return };
        let Some(text) = functions[site.function].get(DESCRIPTION).and_then(Value::as_str) else { return };
        // A text of one line has no block of parameters.
        if !text.contains('\n') || !properties.values().any(is_gap) {
            return;
        }
        for (name, said) in said_of_parameters(text, properties) {
            if let Some(Value::Object(property)) = properties.get(&name)
                && is_undescribed(property)
            {
                let change = Change::at(&format!("{}/properties/{}", site.pointer, token(&name)));
                opinion.change(change.set(property, DESCRIPTION, said));
            }
        }
    });
}

fn is_gap(property: &Value) -> bool {
    property.as_object().is_some_and(is_undescribed)
}

/// What a docstring says of parameters, by name.
fn said_of_parameters(text: &str, properties: &Map<String, Value>) -> Vec<(String, String)> {
    let names: Vec<&str> = properties.keys().map(String::as_str).collect();
    let entries = docstring::read(text, &names).parameters.into_iter();
    entries.map(|(name, entry)| (name, entry.text)).filter(|(_, text)| !text.trim().is_empty()).collect()
}
