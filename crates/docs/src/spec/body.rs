//! The body of a request as parameters.
//!
//! The properties of an object become separate parameters; any other body is one parameter. A required property is a
//! required parameter even if the body as a whole is optional, which flat parameters cannot express. Read-only
//! properties are omitted.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::function::{FunctionDoc, Parameter};
use crate::combining::SUBSTITUTES;
use crate::parse::step::ParseStep;

/// The name of a body that is one parameter.
pub(super) const BODY: &str = "body";

/// A body with its resolved schema.
pub(super) struct Body {
    pub(super) name: String,
    pub(super) description: Option<String>,
    pub(super) is_required: bool,
    pub(super) schema: Map<String, Value>,
}

/// Adds a body to a function.
pub(super) fn add(body: Body, function: &mut FunctionDoc, steps: &mut Vec<ParseStep>) {
    if !has_plain_members(&body.schema) {
        return function.add(whole(body), steps);
    }
    let mut schema = body.schema;
    let required = schema.shift_remove("required").unwrap_or_default();
    let Some(Value::Object(members)) = schema.shift_remove("properties") else { return };
    let required: HashSet<&str> =
        required.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    for (name, member) in members {
        let is_required = required.contains(name.as_str());
        // `true` and other values that are not schemas do not restrict the property.
        let schema = if let Value::Object(schema) = member { schema } else { Map::new() };
        if schema.get("readOnly") != Some(&Value::Bool(true)) {
            function
                .add(Parameter { name, place: BODY.to_owned(), is_member: true, is_required, schema }, steps);
        }
    }
}

/// Returns true if a schema is an object with only properties.
fn has_plain_members(schema: &Map<String, Value>) -> bool {
    let members = schema.get("properties").and_then(Value::as_object);
    let is_combined = SUBSTITUTES.iter().any(|key| schema.contains_key(*key));
    members.is_some_and(|members| !members.is_empty()) && !is_combined
}

fn whole(body: Body) -> Parameter {
    let mut schema = body.schema;
    if let Some(description) = body.description.filter(|text| !text.trim().is_empty()) {
        schema.insert("description".to_owned(), description.into());
    }
    let (place, is_required) = (BODY.to_owned(), body.is_required);
    Parameter { name: body.name, place, is_member: false, is_required, schema }
}
