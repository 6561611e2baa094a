//! Swagger 2: as `OpenAPI`, but a parameter is its own schema and the body is one of the parameters.

use serde_json::{Map, Value};

use super::body::{self, Body};
use super::openapi::{self, Call, Notation, is_true, name_and_place, string};
use super::{Read, Unreadable};
use crate::parse::step::ParseStep;
use callsieve_notation::allowance::Allowance;

/// Keys of a parameter that do not describe its value.
const NOT_SCHEMA: [&str; 6] =
    ["name", "in", "required", "description", "collectionFormat", "allowEmptyValue"];

const NOTATION: Notation =
    Notation { step: ParseStep::Swagger, security: &["securityDefinitions"], parameter };

/// Returns true if an object is a description of version 2; YAML reads the version as a number.
pub(super) fn is_one(map: &Map<String, Value>) -> bool {
    openapi::has_version(map, "swagger", "2")
}

pub(super) fn functions(map: &Map<String, Value>, steps: &mut Vec<ParseStep>, allowance: &Allowance) -> Read {
    openapi::read(map, &NOTATION, steps, allowance)
}

fn parameter<'s>(call: &mut Call<'s, '_>, parameter: &'s Map<String, Value>) -> Result<(), Unreadable> {
    let (name, place) = name_and_place(parameter)?;
    if place == "body" {
        let schema = parameter.get("schema").map(|schema| call.resolver.schema(schema, call.steps));
        let body = Body {
            name: name.to_owned(),
            description: string(parameter, "description").map(str::to_owned),
            is_required: is_true(parameter, "required"),
            schema: schema.unwrap_or_default(),
        };
        body::add(body, &mut call.function, call.steps);
        return Ok(());
    }
    let own = parameter.iter().filter(|(key, _)| !NOT_SCHEMA.contains(&key.as_str()));
    let schema = own.map(|(key, value)| (key.clone(), value.clone())).collect();
    if place == "formData" {
        let is_file = string(parameter, "type") == Some("file");
        let kind = if is_file { "multipart/form-data" } else { "application/x-www-form-urlencoded" };
        let known = call.function.body_type.take().filter(|_| !is_file);
        call.function.body_type = known.or_else(|| Some(kind.to_owned()));
    }
    call.add(parameter, name, place, schema);
    Ok(())
}
