//! Names a Python call can use: identifiers, dots between them in function names, no keywords.
//!
//! Answers are written as Python calls, so a parameter called `class` could never be
//! given. Every new name is also a `Renamed`, so recorded calls can follow. Where the
//! new name is taken already, nothing is renamed and `illegal_name` tells of it.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value, json};

use super::opinion::{Change, Opinion};
use super::renames::Renamed;
use super::walk::each_parameters;
use crate::docs::patch::token;

/// The words Python keeps for itself.
pub(super) const KEYWORDS: [&str; 35] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def",
    "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is",
    "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
];

/// The longest name of a function that the APIs of models take, in characters.
pub(super) const MAX_NAME_CHARS: usize = 64;

/// Whether a call can name the function.
pub(crate) fn is_function_name(name: &str) -> bool {
    name.split('.').all(is_parameter_name)
}

/// Whether a call can give the parameter.
pub(crate) fn is_parameter_name(name: &str) -> bool {
    is_identifier(name) && !is_keyword(name)
}

pub(crate) fn is_keyword(name: &str) -> bool {
    KEYWORDS.contains(&name)
}

pub(crate) fn is_identifier(name: &str) -> bool {
    name.chars().all(is_word) && name.starts_with(|c: char| !c.is_ascii_digit())
}

pub(super) fn is_word(c: char) -> bool {
    c == '_' || c.is_ascii_digit() || c.is_alphabetic()
}

/// The name with one underscore for each run of what an identifier cannot hold; nothing where nothing is left.
pub(super) fn identifier(name: &str) -> Option<String> {
    let words: Vec<_> = name.split(|c| !is_word(c)).filter(|word| !word.is_empty()).collect();
    let joined = words.join("_");
    let prefix = if joined.starts_with(|c: char| c.is_ascii_digit()) { "_" } else { "" };
    (!joined.is_empty()).then(|| format!("{prefix}{joined}"))
}

/// Renames the parameters that `to` has another name for, in the properties and in the list of required ones.
pub(super) fn rename_parameters(opinion: &mut Opinion<'_>, to: impl Fn(&str) -> Option<String>) {
    each_parameters(opinion.functions, |site, schema| {
        let Some(Value::Object(properties)) = schema.get("properties") else { return };
        let places = places_in_required(schema);
        let mut taken: HashSet<_> = properties.keys().cloned().collect();
        for (name, property) in properties {
            let Some(new) = to(name).filter(|new| taken.insert(new.clone())) else { continue };
            let change = Change::at(site.pointer);
            let change = change.rename(&inside(name), property, &inside(&new));
            let listed = places.get(name.as_str()).into_iter().flatten();
            let change = listed
                .fold(change, |change, n| change.replace(&format!("required/{n}"), &json!(name), json!(new)));
            let renamed = Renamed { function: site.function, parameter: Some(name.clone()), to: new };
            opinion.rename(change, vec![renamed]);
        }
    });
}

/// Where each name stands in the list of required ones.
fn places_in_required(schema: &Map<String, Value>) -> HashMap<&str, Vec<usize>> {
    let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten().enumerate();
    for (n, name) in required.filter_map(|(n, name)| Some((n, name.as_str()?))) {
        places.entry(name).or_default().push(n);
    }
    places
}

pub(super) fn inside(name: &str) -> String {
    format!("properties/{}", token(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_identifiers_with_as_little_change_as_can_be() {
        for (name, expected) in [
            ("Get Weather (v2)", Some("Get_Weather_v2")),
            ("x-api-key", Some("x_api_key")),
            ("9lives", Some("_9lives")),
            ("_private", Some("_private")),
            ("…", None),
        ] {
            assert_eq!(identifier(name).as_deref(), expected, "{name}");
        }
    }
}
