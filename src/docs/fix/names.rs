//! Names a Python call can use: identifiers, dots between them in function names, no keywords.
//!
//! Answers are written as Python calls, so a parameter called `class` could never be
//! given. Every new name is also a `Rename`, so recorded calls can follow. Where the
//! new name is taken already, nothing is renamed and `findings` tells of it.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::opinion::{Change, Opinion};
use super::renames::Renamed;
use super::walk::each_parameters;
use super::{Rule, Safety};
use crate::docs::patch::token;

/// The words Python keeps for itself.
const KEYWORDS: [&str; 35] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def",
    "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is",
    "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
];

pub(super) static PYTHON_KEYWORD: Rule = Rule {
    code: "schema/python-keyword",
    what: "A parameter is called by a word Python keeps for itself.",
    why: "No Python call can give it. The name gets an underscore in front, as in the official data (`_class`).",
    safety: Safety::Safe,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["class"], "properties": {
        "class": {"type": "string", "description": "x"}}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"type": "dict", "description": "x", "properties": {"class": {"type": "string", "description": "y"}}}}}}"#,
    judge: python_keyword,
};

fn python_keyword(opinion: &mut Opinion<'_>) {
    rename_parameters(opinion, |name| is_keyword(name).then(|| format!("_{name}")));
}

pub(super) static PARAMETER_NAME: Rule = Rule {
    code: "schema/parameter-name",
    what: "A parameter's name is no identifier.",
    why: "No Python call can give it; what an identifier cannot hold becomes an underscore.",
    safety: Safety::Safe,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["x-key"], "properties": {
        "x-key": {"type": "string", "description": "x"}}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["año"], "properties": {
        "año": {"type": "integer", "description": "x"}}}}"#,
    judge: parameter_name,
};

fn parameter_name(opinion: &mut Opinion<'_>) {
    rename_parameters(opinion, |name| if is_identifier(name) { None } else { identifier(name) });
}

pub(super) static FUNCTION_NAME: Rule = Rule {
    code: "schema/function-name",
    what: "A function's name is no identifier, nor identifiers with dots between.",
    why: "No Python call can name it; what a name cannot hold becomes an underscore.",
    safety: Safety::Safe,
    fires: r#"{"name": "Get Weather (v2)", "description": "d"}"#,
    quiet: r#"{"name": "requests.get", "description": "d"}"#,
    judge: function_name,
};

fn function_name(opinion: &mut Opinion<'_>) {
    let functions = opinion.functions;
    let mut taken: HashSet<_> =
        functions.iter().filter_map(|function| function.get("name")?.as_str()).collect();
    let fixed: Vec<_> = functions.iter().map(legal_function_name).collect();
    for (function, to) in fixed.iter().enumerate() {
        let Some((before, to)) = to else { continue };
        if taken.insert(to) {
            let change = Change::at(&format!("/{function}")).replace("name", before, to.as_str());
            opinion.rename(change, vec![Renamed { function, parameter: None, to: to.clone() }]);
        }
    }
}

/// The name of a function and the legal one, where they differ and there is one.
fn legal_function_name(function: &Value) -> Option<(&Value, String)> {
    let before = function.get("name")?;
    let name = before.as_str().filter(|name| !is_function_name(name))?;
    let parts: Vec<_> = name.split('.').filter_map(identifier).collect();
    let parts = parts.into_iter().map(|part| if is_keyword(&part) { format!("_{part}") } else { part });
    let to = parts.collect::<Vec<_>>().join(".");
    (!to.is_empty()).then_some((before, to))
}

/// Whether a call can name the function.
pub(super) fn is_function_name(name: &str) -> bool {
    name.split('.').all(is_parameter_name)
}

/// Whether a call can give the parameter.
pub(super) fn is_parameter_name(name: &str) -> bool {
    is_identifier(name) && !is_keyword(name)
}

fn is_keyword(name: &str) -> bool {
    KEYWORDS.contains(&name)
}

fn is_identifier(name: &str) -> bool {
    name.chars().all(is_word) && name.starts_with(|c: char| !c.is_ascii_digit())
}

fn is_word(c: char) -> bool {
    c == '_' || c.is_ascii_digit() || c.is_alphabetic()
}

/// The name with one underscore for each run of what an identifier cannot hold; nothing where nothing is left.
fn identifier(name: &str) -> Option<String> {
    let words: Vec<_> = name.split(|c| !is_word(c)).filter(|word| !word.is_empty()).collect();
    let joined = words.join("_");
    let prefix = if joined.starts_with(|c: char| c.is_ascii_digit()) { "_" } else { "" };
    (!joined.is_empty()).then(|| format!("{prefix}{joined}"))
}

/// Renames the parameters that `to` has another name for, in the properties and in the list of required ones.
fn rename_parameters(opinion: &mut Opinion<'_>, to: impl Fn(&str) -> Option<String>) {
    each_parameters(opinion.functions, |site, schema| {
        let Some(Value::Object(properties)) = schema.get("properties") else { return };
        let mut taken: HashSet<_> = properties.keys().cloned().collect();
        for (name, property) in properties {
            let Some(new) = to(name).filter(|new| taken.insert(new.clone())) else { continue };
            let change = Change::at(site.pointer);
            let change = change.rename(&inside(name), property, &inside(&new));
            let change = rename_required(change, schema, name, &new);
            let renamed = Renamed { function: site.function, parameter: Some(name.clone()), to: new };
            opinion.rename(change, vec![renamed]);
        }
    });
}

fn rename_required(change: Change, schema: &Map<String, Value>, name: &str, new: &str) -> Change {
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten().enumerate();
    required
        .filter(|(_, listed)| **listed == name)
        .fold(change, |change, (n, before)| change.replace(&format!("required/{n}"), before, json!(new)))
}

fn inside(name: &str) -> String {
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

    #[test]
    fn dots_stay_and_keywords_between_them_are_marked() {
        let legal = |name: &str| legal_function_name(&json!({"name": name})).map(|(_, to)| to);
        assert_eq!(legal("requests.get"), None);
        assert_eq!(legal("a.class"), Some("a._class".to_owned()));
        assert_eq!(legal("a..b c"), Some("a.b_c".to_owned()));
    }
}
