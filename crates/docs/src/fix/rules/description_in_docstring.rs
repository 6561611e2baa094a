//! A parameter has no description, but the description of its function describes it.

use serde_json::{Map, Value};

use crate::fix::keys::DESCRIPTION;
use crate::fix::opinion::{Change, Opinion};
use crate::fix::rule::{FixRule, Safety};
use crate::fix::values::is_undescribed;
use crate::fix::walk::each_parameters;
use crate::patch::token;
use crate::source::python::docstring;

pub(super) static RULE: FixRule = FixRule {
    code: "schema/description-in-docstring",
    what: "A parameter has no description, but the description of its function describes it.",
    why: "Docs made from Python functions have the whole docstring in one place. Its text about each parameter is \
          copied to the parameter; the docstring is unchanged.",
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
        // A text of one line has no section of parameters.
        if !text.contains('\n') || !properties.values().any(is_gap) {
            return;
        }
        for (name, said) in described_parameters(text, properties) {
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

/// Returns the texts of a docstring about parameters, by name.
fn described_parameters(text: &str, properties: &Map<String, Value>) -> Vec<(String, String)> {
    let names: Vec<&str> = properties.keys().map(String::as_str).collect();
    let entries = docstring::read(text, &names).parameters.into_iter();
    entries.map(|(name, entry)| (name, entry.text)).filter(|(_, text)| !text.trim().is_empty()).collect()
}
