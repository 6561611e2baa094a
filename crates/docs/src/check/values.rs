//! Defaults and allowed values against the declared type, to the letter.
//!
//! A whole number is no float here and the elements of an array are not its values, as
//! JSON Schema, the official format script and the published audit read them. `fix` is
//! more lenient, since neither breaks an evaluation. Null is a default of any type.

use serde_json::{Map, Value};

use super::Findings;
use crate::fix::values::{brief, brief_list};
use crate::fix::walk::each_schema;
use callsieve_bfcl::types::Type;

pub(super) fn check(functions: &[Value], findings: &mut Findings) {
    each_schema(functions, |site, schema| {
        let kind = schema.get("type").and_then(Value::as_str).and_then(Type::named);
        if let Some(default) = schema.get("default") {
            check_default(&format!("{}/default", site.pointer), default, kind, schema, findings);
        }
        let choices = schema.get("enum").and_then(Value::as_array).into_iter().flatten();
        let wrong = |choice: &&Value| !choice.is_null() && kind.is_some_and(|kind| !is_a(choice, kind));
        if let (Some(choice), Some(kind)) = (choices.into_iter().find(wrong), kind) {
            findings.add("schema/enum-type", format!("{}/enum", site.pointer), brief(choice), expected(kind));
        }
    });
}

fn check_default(
    at: &str,
    default: &Value,
    kind: Option<Type>,
    schema: &Map<String, Value>,
    findings: &mut Findings,
) {
    if default.is_null() {
        findings.add("schema/null-default", at, "null", "");
        return;
    }
    if let Some(kind) = kind.filter(|kind| !is_a(default, *kind)) {
        findings.add("schema/default-type", at, brief(default), expected(kind));
    }
    if let Some(Value::Array(choices)) = schema.get("enum")
        && !choices.iter().any(|choice| equal(choice, default))
    {
        findings.add(
            "schema/default-not-in-enum",
            at,
            brief(default),
            format!("one of {}", brief_list(choices)),
        );
    }
}

/// Whether a value is exactly of a type.
pub(super) fn is_a(value: &Value, kind: Type) -> bool {
    match kind {
        Type::Any => true,
        Type::Tuple => value.is_array(),
        _ => Type::of_value(value) == Some(kind),
    }
}

/// The declared type, in words.
pub(super) fn expected(kind: Type) -> String {
    match kind {
        Type::Float => "a float (1.0, not 1)".to_owned(),
        Type::Array | Type::Integer => format!("an {kind}"),
        _ => format!("a {kind}"),
    }
}

/// Equality of numbers by value: 1 is 1.0.
fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        _ => a == b,
    }
}
