//! Converts signatures of functions to docs.
//!
//! If the only parameter is destructured, or is called `_` as in the prompts of `OpenAI`, its members are the
//! parameters. `JSDoc` fills gaps of the signature.

use std::cell::Cell;
use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::schema::Declared;
use crate::parse::fault::{ParseFault, ParseFaultKind};
use crate::source::found::named;
use callsieve_notation::typescript::{self, Head, Member, Tag, Type};

/// Returns the function with all types resolved.
pub(super) fn doc(
    head: &Head,
    types: &BTreeMap<String, Type>,
    left: &Cell<usize>,
) -> Result<Value, ParseFault> {
    let parameters: Vec<Member> =
        head.parameters.iter().enumerate().map(|(n, parameter)| documented(head, n, parameter)).collect();
    let types = Declared::new(types, left);
    let object = match parameters.as_slice() {
        [only] if only.pattern.is_some() || only.name == "_" => unpacked(head, only, &types),
        all => packed(all, &types),
    };
    let object = object.map_err(|error| {
        let message = format!("function {}: {error}", head.name);
        ParseFault { at: head.at, ..ParseFault::new(ParseFaultKind::SourceCode, message) }
    })?;
    Ok(named(&head.name, &head.comment.description, Value::Object(object)))
}

/// Returns a parameter completed from its `@param` tag.
fn documented(head: &Head, n: usize, parameter: &Member) -> Member {
    let mut parameter = parameter.clone();
    if parameter.pattern.is_some() {
        parameter.name = format!("the {}. parameter", n + 1);
        return parameter;
    }
    if let Some(tag) = head.comment.parameters.get(&parameter.name) {
        take_tag(&mut parameter, tag);
    }
    let prefix = format!("{}.", parameter.name);
    let inner = head.comment.parameters.iter().filter_map(|(name, tag)| {
        let name = name.strip_prefix(&prefix)?;
        Some(from_tag(name, tag))
    });
    let inner: Vec<Member> = inner.collect();
    if !inner.is_empty() && parameter.kind.as_ref().is_none_or(is_any_object) {
        parameter.kind = Some(Type::Object(inner, None));
    }
    parameter
}

/// Returns the members of the only parameter as parameters.
fn unpacked(head: &Head, only: &Member, declared: &Declared<'_>) -> Result<Map<String, Value>, String> {
    let pattern = only.pattern.as_deref().unwrap_or_default();
    let mut object = match &only.kind {
        Some(kind) => declared.for_next_value().schema(kind)?,
        None => packed(pattern, declared)?,
    };
    let Some(Value::Object(mut properties)) = object.remove("properties") else {
        return Err("expected the members of its parameter".to_owned());
    };
    let mut required = object.remove("required").unwrap_or_default();
    for member in pattern {
        let Some(Value::Object(property)) = properties.get_mut(&member.name) else {
            return Err(format!("its parameter has no member {:?}", member.name));
        };
        fill(property, member);
        if let Some(names) = required.as_array_mut().filter(|_| member.is_optional) {
            names.retain(|name| *name != member.name);
        }
    }
    for (name, tag) in &head.comment.parameters {
        let bare = name.rsplit('.').next().unwrap_or(name);
        if let Some(Value::Object(property)) = properties.get_mut(bare) {
            let mut member = Member::default();
            take_tag(&mut member, tag);
            if let Some(kind) = member.kind.as_ref().filter(|_| property.is_empty()) {
                property.extend(declared.for_next_value().schema(kind)?);
            }
            fill(property, &member);
        }
    }
    if only.is_optional {
        required = Value::Array(Vec::new());
    }
    Ok(dict(properties, required))
}

/// Adds a member's texts and default to a schema that does not have them.
fn fill(property: &mut Map<String, Value>, member: &Member) {
    if let Some(description) = &member.description {
        property.entry("description").or_insert_with(|| description.clone().into());
    }
    if let Some(default) = &member.default {
        property.entry("default").or_insert_with(|| default.clone());
    }
}

/// Returns the parameters as declared.
fn packed(parameters: &[Member], declared: &Declared<'_>) -> Result<Map<String, Value>, String> {
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for parameter in parameters {
        if parameter.pattern.is_some() {
            return Err(format!("{} has no name", parameter.name));
        }
        let (schema, is_required) = declared.for_next_value().member(parameter)?;
        if is_required {
            required.push(Value::String(parameter.name.clone()));
        }
        if properties.insert(parameter.name.clone(), Value::Object(schema)).is_some() {
            return Err(format!("a second parameter {:?}", parameter.name));
        }
    }
    Ok(dict(properties, Value::Array(required)))
}

fn dict(properties: Map<String, Value>, required: Value) -> Map<String, Value> {
    Map::from_iter([
        ("type".to_owned(), "dict".into()),
        ("properties".to_owned(), Value::Object(properties)),
        ("required".to_owned(), required),
    ])
}

fn is_any_object(kind: &Type) -> bool {
    matches!(kind, Type::Named(name, _) if name.eq_ignore_ascii_case("object"))
}

fn from_tag(name: &str, tag: &Tag) -> Member {
    let mut member = Member { name: name.to_owned(), ..Member::default() };
    take_tag(&mut member, tag);
    member
}

/// Completes a parameter from its tag.
fn take_tag(parameter: &mut Member, tag: &Tag) {
    if parameter.kind.is_none()
        && let Some(written) = &tag.kind
    {
        parameter.is_optional |= written.ends_with('=');
        parameter.kind = Some(kind(written));
    }
    parameter.is_optional |= tag.is_optional;
    if parameter.description.is_none() && !tag.text.is_empty() {
        parameter.description = Some(tag.text.clone());
    }
    if parameter.default.is_none()
        && let Some(written) = &tag.default
    {
        parameter.default = typescript::default_in_comment(written, parameter.kind.as_ref());
    }
}

/// Returns a type as `JSDoc` writes it; an unreadable one is kept as written.
fn kind(written: &str) -> Type {
    let bare = written.trim_end_matches('=').trim_start_matches(['?', '!', '.']).replace(".<", "<");
    let bare = if bare == "*" { "any" } else { bare.as_str() };
    typescript::type_of(bare).unwrap_or_else(|| Type::Named(written.to_owned(), Vec::new()))
}
