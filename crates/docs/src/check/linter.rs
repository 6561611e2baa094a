//! The verdict of the leaderboard's own format script, with the same faults.
//!
//! That script stops at the first fault of a function, so there is at most one per function, and it depends on the
//! order of checks: keys, then each parameter as written (dicts recursively), then required ones, then optional ones.
//! It is stricter than the recipe: a default in the description does not count, an integer is not a float, the
//! allowed values of an array must be arrays, and a tuple cannot have a default, as JSON has no tuples. Deliberately
//! different: the script crashes on allowed values of the type `any`; here they pass.

use std::fmt::Display;

use rustc_hash::FxHashSet;
use serde_json::{Map, Value};

use super::Finding;
use super::rules;
use super::values::expected;
use crate::fix::names::is_keyword;
use crate::fix::values::brief;
use crate::patch::token;
use callsieve_bfcl::types::Type;

/// The first fault that the script reports for a function.
#[derive(Debug, Clone)]
pub struct LinterFault {
    /// The fault; `at` is a pointer from the function on.
    pub finding: Finding,
    /// The declared type that the value does not have; empty for other faults.
    pub kind: &'static str,
}

/// Returns the first fault of a function, if any.
pub fn fault(function: &Value) -> Option<LinterFault> {
    judge(function).err().map(|fault| *fault)
}

type Verdict<T = ()> = Result<T, Box<LinterFault>>;
type Schema = Map<String, Value>;

fn judge(function: &Value) -> Verdict {
    const KEYS: [(&str, &str); 3] = [
        ("name", "schema/missing-name"),
        ("description", "schema/missing-description"),
        ("parameters", "schema/missing-parameters"),
    ];
    const OF_PARAMETERS: [(&str, &str); 3] = [
        ("type", "schema/parameters-type"),
        ("properties", "schema/missing-properties"),
        ("required", "schema/missing-required"),
    ];
    let function = object(function, "schema/not-a-function", "")?;
    exactly(function, "", &KEYS)?;
    let parameters = object(&function["parameters"], "schema/unreadable-parameters", "/parameters")?;
    exactly(parameters, "/parameters", &OF_PARAMETERS)?;
    let at = "/parameters/properties";
    let properties = object(&parameters["properties"], "schema/unreadable-property", at)?;
    members(properties, at)?;
    required_and_optional(properties, &parameters["required"])
}

/// Checks that an object has exactly these keys.
fn exactly(map: &Schema, at: &str, keys: &[(&str, &'static str)]) -> Verdict {
    for (key, code) in keys {
        if !map.contains_key(*key) {
            return fail(code, at, format!("no {key:?}"), format!("{key:?}"));
        }
    }
    match map.keys().find(|key| keys.iter().all(|(known, _)| known != key)) {
        Some(key) => fail("schema/extra-key", at, format!("the key {key:?}"), "no other key"),
        None => Ok(()),
    }
}

fn members(properties: &Schema, at: &str) -> Verdict {
    properties
        .iter()
        .try_for_each(|(name, member)| self::member(name, member, &format!("{at}/{}", token(name))))
}

fn member(name: &str, member: &Value, at: &str) -> Verdict {
    if is_keyword(name) {
        return fail(
            "schema/python-keyword",
            at,
            format!("{name:?}"),
            "a name that is not a keyword of Python",
        );
    }
    let schema = object(member, "schema/unreadable-property", at)?;
    let kind =
        schema.get("type").map_or_else(|| fail("schema/missing-type", at, "no \"type\"", "\"type\""), Ok)?;
    if !schema.contains_key("description") {
        return fail("schema/missing-description", at, "no \"description\"", "\"description\"");
    }
    let kind = known_type(kind, at)?;
    match kind {
        Type::Dict => dict(schema, at)?,
        Type::Array | Type::Tuple => array(schema, at)?,
        _ => without(schema, &["items", "properties"], at)?,
    }
    allowed_values(schema, kind, at)?;
    match schema.get("default") {
        Some(default) if !default.is_null() => {
            of_type(default, kind, "schema/default-type", &format!("{at}/default"))
        }
        _ => Ok(()),
    }
}

fn known_type(kind: &Value, at: &str) -> Verdict<Type> {
    let known = kind.as_str().and_then(Type::named);
    known.map_or_else(
        || {
            fail(
                "schema/type-synonym",
                at,
                brief(kind),
                format!("one of {}", Type::ALL.map(Type::name).join(", ")),
            )
        },
        Ok,
    )
}

fn dict(schema: &Schema, at: &str) -> Verdict {
    if let Some(inner) = schema.get("properties") {
        let at = format!("{at}/properties");
        members(object(inner, "schema/unreadable-property", &at)?, &at)?;
        return without(schema, &["items"], &at);
    }
    match schema.get("additionalProperties") {
        Some(any) if any.get("type").is_some() => Ok(()),
        Some(any) => {
            fail("schema/dict-without-properties", at, brief(any), "additionalProperties with a type")
        }
        None => fail("schema/dict-without-properties", at, "neither", "properties or additionalProperties"),
    }
}

fn array(schema: &Schema, at: &str) -> Verdict {
    let missing = || fail("schema/array-without-items", at, "no \"items\"", "\"items\"");
    let items = schema.get("items").map_or_else(missing, Ok)?;
    let at_items = format!("{at}/items");
    let items = object(items, "schema/items-not-a-schema", &at_items)?;
    let untyped = || fail("schema/missing-type", &at_items, "no \"type\"", "\"type\"");
    known_type(items.get("type").map_or_else(untyped, Ok)?, &at_items)?;
    without(schema, &["properties"], at)
}

fn without(schema: &Schema, keys: &[&str], at: &str) -> Verdict {
    match keys.iter().find(|key| schema.contains_key(**key)) {
        Some(key) => fail("schema/misplaced-key", at, format!("the key {key:?}"), "no such key at this type"),
        None => Ok(()),
    }
}

fn allowed_values(schema: &Schema, kind: Type, at: &str) -> Verdict {
    let at = format!("{at}/enum");
    match schema.get("enum") {
        None => Ok(()),
        Some(Value::Array(choices)) => {
            choices.iter().try_for_each(|choice| of_type(choice, kind, "schema/enum-type", &at))
        }
        Some(other) => fail("schema/enum-as-text", &at, brief(other), "a list"),
    }
}

/// Checks that a value has a type as Python reads JSON, in which no value is a tuple.
fn of_type(value: &Value, kind: Type, code: &'static str, at: &str) -> Verdict {
    if kind == Type::Any || Type::of_value(value) == Some(kind) {
        return Ok(());
    }
    let mut fault = found(code, at, brief(value), expected(kind));
    fault.kind = kind.name();
    Err(Box::new(fault))
}

fn required_and_optional(properties: &Schema, required: &Value) -> Verdict {
    let at = "/parameters/required";
    let Value::Array(required) = required else {
        return fail("schema/required-not-a-list", at, brief(required), "a list");
    };
    for name in required {
        let Some(member) = name.as_str().and_then(|name| properties.get(name)) else {
            return fail("schema/required-without-property", at, brief(name), "a name of `properties`");
        };
        if member.get("default").is_some() {
            return fail("schema/required-with-default", at, brief(name), "no default, as it is required");
        }
    }
    let listed: FxHashSet<&str> = required.iter().filter_map(Value::as_str).collect();
    let is_optional = |name: &String| !listed.contains(name.as_str());
    match properties.iter().find(|(name, member)| is_optional(name) && member.get("default").is_none()) {
        Some((name, _)) => {
            let at = format!("/parameters/properties/{}", token(name));
            fail("schema/optional-without-default", &at, "no \"default\"", "\"default\", or null")
        }
        None => Ok(()),
    }
}

fn object<'v>(value: &'v Value, code: &'static str, at: &str) -> Verdict<&'v Schema> {
    value.as_object().map_or_else(|| fail(code, at, brief(value), "a JSON object"), Ok)
}

fn fail<T>(code: &'static str, at: &str, what: impl Display, expected: impl Display) -> Verdict<T> {
    Err(Box::new(found(code, at, what, expected)))
}

fn found(code: &'static str, at: &str, what: impl Display, expected: impl Display) -> LinterFault {
    let rule = rules::of(code).expect("every code in this file is in the table: the tests cover all of them");
    let (found, expected) = (what.to_string().into(), expected.to_string().into());
    LinterFault { finding: Finding { rule, at: at.to_owned(), found, expected }, kind: "" }
}
