//! `OpenAPI` 3.0 and 3.1: one function per operation.
//!
//! The parts shared with Swagger 2 (paths, operations, names) are here too; a `Notation` describes the differences,
//! which are in parameters and bodies.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use serde_json::{Map, Value};

use super::body::{self, BODY, Body};
use super::function::{Function, FunctionDoc, MAX_PARAMETERS, Parameter, TOO_MANY};
use super::schema::Resolver;
use super::{Read, Tally, Unreadable, note};
use crate::parse::step::ParseStep;
use crate::patch::token;
use callsieve_notation::allowance::Allowance;

const METHODS: [&str; 9] = ["get", "put", "post", "delete", "options", "head", "patch", "trace", "query"];

/// Headers that the standard excludes from the parameters.
const NOT_PARAMETERS: [&str; 3] = ["accept", "content-type", "authorization"];

/// The place of parts of a form in version 2.
const FORM_DATA: &str = "formData";

/// Media types of a body, the most preferred first.
const MEDIA: [&str; 5] =
    ["application/json", "+json", "application/x-www-form-urlencoded", "multipart/form-data", "*/*"];

/// How one version of the standard writes the inputs of a call.
pub(super) struct Notation {
    pub(super) step: ParseStep,
    /// The path of the security schemes.
    pub(super) security: &'static [&'static str],
    /// Adds one parameter to a function.
    pub(super) parameter: for<'s> fn(&mut Call<'s, '_>, &'s Map<String, Value>) -> Result<(), Unreadable>,
}

/// A function under construction, with its API description.
pub(super) struct Call<'s, 'c> {
    pub(super) function: FunctionDoc,
    pub(super) resolver: &'c mut Resolver<'s>,
    pub(super) steps: &'c mut Vec<ParseStep>,
}

const NOTATION: Notation =
    Notation { step: ParseStep::OpenApi, security: &["components", "securitySchemes"], parameter };

/// Returns true if an object is a description of version 3; YAML reads the version as a number.
pub(super) fn is_one(map: &Map<String, Value>) -> bool {
    has_version(map, "openapi", "3")
}

pub(super) fn functions(map: &Map<String, Value>, steps: &mut Vec<ParseStep>, allowance: &Allowance) -> Read {
    read(map, &NOTATION, steps, allowance)
}

/// Returns true if an object has paths and the given version of the standard.
pub(super) fn has_version(map: &Map<String, Value>, key: &str, major: &str) -> bool {
    let version = match map.get(key) {
        Some(Value::String(version)) => version.trim().to_owned(),
        Some(Value::Number(version)) => version.to_string(),
        _ => return false,
    };
    let is_major = version.split('.').next() == Some(major);
    is_major && map.get("paths").is_some_and(Value::is_object)
}

/// Returns the functions of a description, in its order.
pub(super) fn read(
    map: &Map<String, Value>,
    notation: &Notation,
    steps: &mut Vec<ParseStep>,
    allowance: &Allowance,
) -> Read {
    note(steps, notation.step);
    let secrets = secrets(map, notation.security);
    let mut resolver = Resolver::new(map);
    let mut tally = Tally::new(allowance);
    let paths = map.get("paths").and_then(Value::as_object).into_iter().flatten();
    for (path, item) in paths.filter(|(path, _)| !path.starts_with("x-")) {
        let item = match resolver.target(item) {
            Ok(item) => item,
            Err(message) => {
                tally.add(|| format!("path {path}"), String::new, Err(message));
                continue;
            }
        };
        for (method, operation) in item.iter().filter(|(key, _)| METHODS.contains(&key.as_str())) {
            let operation = Operation { method, path, item, value: operation, secrets: &secrets };
            let function = operation.function(notation, &mut resolver, steps);
            let name = || format!("operation {} {path}", method.to_uppercase());
            tally.add(name, || format!("/paths/{}/{method}", token(path)), function);
        }
    }
    tally.finish()
}

/// Returns the parameters that only authenticate the caller, by place and name.
fn secrets<'s>(map: &'s Map<String, Value>, path: &[&str]) -> BTreeSet<(&'s str, &'s str)> {
    let schemes = path.iter().try_fold(map, |map, key| map.get(*key)?.as_object());
    let place_and_name =
        |scheme: &'s Value| Some((scheme.get("in")?.as_str()?, scheme.get("name")?.as_str()?));
    schemes.into_iter().flat_map(Map::values).filter_map(place_and_name).collect()
}

/// One operation and its path and method.
struct Operation<'s, 'm> {
    method: &'s str,
    path: &'s str,
    item: &'s Map<String, Value>,
    value: &'s Value,
    secrets: &'m BTreeSet<(&'s str, &'s str)>,
}

impl<'s> Operation<'s, '_> {
    fn function(
        &self,
        notation: &Notation,
        resolver: &mut Resolver<'s>,
        steps: &mut Vec<ParseStep>,
    ) -> Result<Function, Unreadable> {
        let operation = self.value.as_object().ok_or("expected an object")?;
        resolver.next_function();
        let texts = [operation, self.item].map(|map| ["description", "summary"].map(|key| string(map, key)));
        let function = FunctionDoc::new(self.name(operation, steps), texts.into_iter().flatten());
        let mut call = Call { function, resolver, steps };
        for parameter in self.parameters(operation, call.resolver)? {
            (notation.parameter)(&mut call, parameter)?;
        }
        if let Some(value) = operation.get("requestBody") {
            request_body(&mut call, value)?;
        }
        Ok(call.function.finish())
    }

    /// Returns the operation's own name, or one built from method and path.
    fn name(&self, operation: &Map<String, Value>, steps: &mut Vec<ParseStep>) -> String {
        if let Some(id) = string(operation, "operationId").filter(|id| !id.trim().is_empty()) {
            return id.to_owned();
        }
        note(steps, ParseStep::NamedByPath);
        let words = self.path.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        std::iter::once(self.method).chain(words).collect::<Vec<_>>().join("_")
    }

    /// Returns the parameters of the path, each replaced by the operation's parameter with that place and name, then
    /// the others.
    fn parameters(
        &self,
        operation: &'s Map<String, Value>,
        resolver: &Resolver<'s>,
    ) -> Result<Vec<&'s Map<String, Value>>, Unreadable> {
        let mut found: Vec<&'s Map<String, Value>> = Vec::new();
        let mut places = FxHashMap::default();
        let place = |parameter: &'s Map<String, Value>| (string(parameter, "in"), string(parameter, "name"));
        for list in [self.item, operation].map(|map| map.get("parameters")) {
            let Some(list) = list else { continue };
            for parameter in list.as_array().ok_or("`parameters` is not a list")? {
                let parameter =
                    resolver.target(parameter).map_err(|error| format!("a parameter: {error}"))?;
                match places.insert(place(parameter), found.len()) {
                    Some(earlier) => {
                        found[earlier] = parameter;
                        places.insert(place(parameter), earlier);
                    }
                    None => found.push(parameter),
                }
            }
        }
        let is_secret = |parameter: &Map<String, Value>| {
            let at = string(parameter, "in").zip(string(parameter, "name"));
            at.is_some_and(|at| self.secrets.contains(&at))
        };
        found.retain(|parameter| !is_secret(parameter));
        if found.len() >= MAX_PARAMETERS { Err(TOO_MANY.to_owned()) } else { Ok(found) }
    }
}

/// Adds one parameter of version 3.
fn parameter<'s>(call: &mut Call<'s, '_>, parameter: &'s Map<String, Value>) -> Result<(), Unreadable> {
    let (name, place) = name_and_place(parameter)?;
    if place == "header" && NOT_PARAMETERS.contains(&name.to_ascii_lowercase().as_str()) {
        return Ok(());
    }
    let content = || parameter.get("content")?.as_object()?.values().next()?.get("schema");
    let schema = parameter.get("schema").or_else(content);
    let schema = schema.map(|schema| call.resolver.schema(schema, call.steps)).unwrap_or_default();
    call.add(parameter, name, place, schema);
    Ok(())
}

/// Returns name and place of a parameter; both are mandatory.
pub(super) fn name_and_place(parameter: &Map<String, Value>) -> Result<(&str, &str), Unreadable> {
    let name = string(parameter, "name").filter(|name| !name.is_empty()).ok_or("a parameter has no name")?;
    let place = string(parameter, "in").ok_or_else(|| format!("parameter {name:?} has no place (`in`)"))?;
    Ok((name, place))
}

impl Call<'_, '_> {
    /// Adds a parameter with its schema; its own description has priority over that of the schema.
    pub(super) fn add(
        &mut self,
        parameter: &Map<String, Value>,
        name: &str,
        place: &str,
        mut schema: Map<String, Value>,
    ) {
        if let Some(description) = string(parameter, "description").filter(|text| !text.trim().is_empty()) {
            schema.insert("description".to_owned(), description.into());
        }
        let is_required = place == "path" || is_true(parameter, "required");
        let (name, place) = (name.to_owned(), place.to_owned());
        let is_member = place == FORM_DATA;
        self.function.add(Parameter { name, place, is_member, is_required, schema }, self.steps);
    }
}

/// Adds the body of version 3.
fn request_body<'s>(call: &mut Call<'s, '_>, value: &'s Value) -> Result<(), Unreadable> {
    let request = call.resolver.target(value).map_err(|error| format!("the body: {error}"))?;
    let Some(content) = request.get("content").and_then(Value::as_object) else { return Ok(()) };
    let of_kind = |kind: &&str| content.iter().find(|(name, _)| is_media(name, kind));
    let Some((kind, media)) = MEDIA.iter().find_map(of_kind).or_else(|| content.iter().next()) else {
        return Ok(());
    };
    let schema = media.get("schema").map(|schema| call.resolver.schema(schema, call.steps));
    let body = Body {
        name: BODY.to_owned(),
        description: string(request, "description").map(str::to_owned),
        is_required: is_true(request, "required"),
        schema: schema.unwrap_or_default(),
    };
    call.function.body_type = Some(kind.clone()).filter(|kind| !is_json(kind));
    body::add(body, &mut call.function, call.steps);
    Ok(())
}

/// Returns true for the media types of JSON, and for any type.
fn is_json(name: &str) -> bool {
    ["application/json", "+json", "*/*"].iter().any(|kind| is_media(name, kind))
}

fn is_media(name: &str, kind: &str) -> bool {
    let bare = name.split(';').next().unwrap_or_default().trim();
    bare.eq_ignore_ascii_case(kind) || (kind.starts_with('+') && bare.ends_with(kind))
}

/// Returns a member that is text.
pub(super) fn string<'m>(map: &'m Map<String, Value>, key: &str) -> Option<&'m str> {
    map.get(key).and_then(Value::as_str)
}

/// Returns true if a member is true, which may be written as text.
pub(super) fn is_true(map: &Map<String, Value>, key: &str) -> bool {
    match map.get(key) {
        Some(Value::Bool(is_true)) => *is_true,
        Some(Value::String(text)) => text.eq_ignore_ascii_case("true"),
        _ => false,
    }
}
