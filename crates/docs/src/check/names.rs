//! Checks names: valid in a Python call, unique in a list, short enough.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::Findings;
use crate::fix::names::{is_function_name, is_keyword, is_parameter_name};
use crate::fix::walk::{SchemaPlace, each_function, each_schema};

/// The maximum length of a function name in OpenAI's API; no name of the official data is longer.
const MAX_CHARS: usize = 64;

pub(super) fn check(functions: &[Value], findings: &mut Findings) {
    let mut written = HashSet::new();
    let mut underscored = HashMap::new();
    each_function(functions, |at, function| {
        let Some(name) = function.get("name").and_then(Value::as_str).filter(|name| !name.is_empty()) else {
            return;
        };
        let at = format!("{at}/name");
        if !is_function_name(name) {
            findings.add(
                "schema/function-name",
                at.as_str(),
                format!("{name:?}"),
                "identifiers separated by dots",
            );
        }
        if name.chars().count() > MAX_CHARS {
            let found = format!("{} characters", name.chars().count());
            findings.add("schema/long-name", at.as_str(), found, format!("at most {MAX_CHARS} characters"));
        }
        let expected = "a name that no other function of the list has";
        if !written.insert(name) {
            findings.add("schema/duplicate-name", at.as_str(), format!("{name:?} again"), expected);
        } else if let Some(other) = underscored.insert(name.replace('.', "_"), name) {
            findings.add("schema/colliding-name", at.as_str(), format!("{name:?} and {other:?}"), expected);
        }
    });
    each_schema(functions, |site, _| {
        let SchemaPlace::Parameter(name) = site.place else { return };
        if is_keyword(name) {
            findings.add(
                "schema/python-keyword",
                site.pointer,
                format!("{name:?}"),
                "a name that is not a keyword of Python",
            );
        } else if !is_parameter_name(name) {
            findings.add("schema/parameter-name", site.pointer, format!("{name:?}"), "an identifier");
        }
    });
}
