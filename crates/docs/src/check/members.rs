//! Checks parameters against the list of required ones, and the defaults of optional ones.

use rustc_hash::FxHashSet;
use serde_json::{Map, Value};

use super::Findings;
use crate::fix::required;
use crate::fix::values::{brief, mentions_default};
use crate::fix::walk::{SchemaPlace, Site, each_function, each_parameters, each_schema};

/// The keys of a function, in the official order.
const FUNCTION: [&str; 3] = ["name", "description", "parameters"];

pub(super) fn check(functions: &[Value], findings: &mut Findings) {
    each_function(functions, |at, function| key_order(at, function, findings));
    each_parameters(functions, |site, schema| listed(site, schema, findings));
    let mut names = FxHashSet::default();
    each_schema(functions, |site, schema| {
        match site.place {
            SchemaPlace::Parameters => names = required::names(schema).unwrap_or_default(),
            SchemaPlace::Parameter(name) => parameter(site, name, names.contains(name), schema, findings),
            SchemaPlace::Member(_) if !schema.contains_key("default") && !mentions_default(schema) => {
                findings.add("schema/nested-without-default", site.pointer, "no \"default\"", "");
            }
            _ => {}
        }
        let is_empty = |members: &Value| members.as_object().is_some_and(Map::is_empty);
        if site.place != SchemaPlace::Parameters && schema.get("properties").is_some_and(is_empty) {
            findings.add("schema/empty-dict", site.pointer, "no members", "");
        }
    });
}

fn key_order(at: &str, function: &Map<String, Value>, findings: &mut Findings) {
    let keys: Vec<&str> = function.keys().map(String::as_str).filter(|key| FUNCTION.contains(key)).collect();
    if !keys.is_sorted_by_key(|key| FUNCTION.iter().position(|known| known == key)) {
        findings.add("schema/key-order", at, keys.join(", "), FUNCTION.join(", "));
    }
}

fn listed(site: &Site<'_>, schema: &Map<String, Value>, findings: &mut Findings) {
    let (Some(Value::Array(required)), Some(Value::Object(properties))) =
        (schema.get("required"), schema.get("properties"))
    else {
        return;
    };
    for (n, name) in required.iter().enumerate() {
        if let Some(name) = name.as_str().filter(|name| !properties.contains_key(*name)) {
            let at = format!("{}/required/{n}", site.pointer);
            findings.add(
                "schema/required-without-property",
                at,
                format!("{name:?}"),
                "a name of `properties`",
            );
        }
    }
}

fn parameter(
    site: &Site<'_>,
    name: &str,
    is_required: bool,
    schema: &Map<String, Value>,
    findings: &mut Findings,
) {
    let default = schema.get("default");
    match (is_required, default) {
        (true, Some(default)) => {
            let found = format!("{name:?} is required and has the default {}", brief(default));
            findings.add(
                "schema/required-with-default",
                format!("{}/default", site.pointer),
                found,
                "either required or a default",
            );
        }
        (false, None) if mentions_default(schema) => {
            findings.add("schema/described-default", site.pointer, "a default in the description", "");
        }
        (false, None) => {
            let expected = "\"default\", or a description that states it";
            findings.add(
                "schema/optional-without-default",
                site.pointer,
                format!("{name:?} without a default"),
                expected,
            );
        }
        (true, None) | (false, Some(_)) => {}
    }
}
