//! What is wrong with a fixed doc and cannot be mended without inventing.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::names::{is_function_name, is_parameter_name};
use super::notation::TYPES;
use super::types::type_of;
use super::walk::{Place, each_function, each_schema};
use super::{Rule, Safety};

/// The rules that only find, in the order they look.
pub(super) static RULES: &[&Rule] = &[
    &UNREADABLE_PARAMETERS,
    &UNREADABLE_PROPERTY,
    &COMBINED_SCHEMAS,
    &UNTRANSLATED_TYPE,
    &DICT_WITHOUT_PROPERTIES,
    &DEFAULT_TYPE,
    &DEFAULT_NOT_IN_ENUM,
    &ENUM_TYPE,
    &REQUIRED_WITH_DEFAULT,
    &ILLEGAL_NAME,
    &DUPLICATE_NAME,
];

static UNREADABLE_PARAMETERS: Rule = Rule {
    code: "schema/unreadable-parameters",
    what: "`parameters` is not a schema and cannot be read as one.",
    why: "Nothing can be called without knowing its parameters.",
    safety: Safety::Suggest,
    fires: r#"{"name": "f", "description": "d", "parameters": "city and date"}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": null}"#,
    judge: |opinion| {
        each_function(opinion.functions, |pointer, function| match function.get("parameters") {
            Some(schema) if schema.get("type").is_some_and(|kind| *kind == "dict") => {}
            Some(value) => {
                opinion.find(format!("{pointer}/parameters"), format!("parameters is {}", brief(value)));
            }
            None => opinion.find(pointer, "the parameters are in a form that is not read"),
        });
    },
};

static UNREADABLE_PROPERTY: Rule = Rule {
    code: "schema/unreadable-property",
    what: "A part of a schema is not what belongs there.",
    why: "Properties and items are schemas, and a description is text.",
    safety: Safety::Suggest,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {"a": 7}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {}}}"#,
    judge: |opinion| {
        each_schema(opinion.functions, |site, schema| {
            let mut find = |key: String, value: &Value| {
                opinion.find(format!("{}/{key}", site.pointer), format!("{key} is {}", brief(value)));
            };
            match schema.get("properties") {
                Some(Value::Object(members)) => {
                    let wrong = members.iter().filter(|(_, member)| !member.is_object());
                    wrong.for_each(|(name, member)| {
                        find(format!("properties/{}", crate::docs::patch::token(name)), member);
                    });
                }
                Some(other) => find("properties".to_owned(), other),
                None => {}
            }
            let wrong = |key: &str, fits: fn(&Value) -> bool| schema.get(key).filter(|value| !fits(value));
            for (key, value) in [
                ("items", wrong("items", Value::is_object)),
                ("description", wrong("description", Value::is_string)),
                ("enum", wrong("enum", Value::is_array)),
            ] {
                if let Some(value) = value {
                    find(key.to_owned(), value);
                }
            }
        });
    },
};

static COMBINED_SCHEMAS: Rule = Rule {
    code: "schema/combined-schemas",
    what: "A schema is put together from others, or refers to one that is not there.",
    why: "BFCL has one schema a value; which one is meant cannot be told.",
    safety: Safety::Suggest,
    fires: r##"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"$ref": "#/nowhere", "description": "x"}}}}"##,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {}}}"#,
    judge: |opinion| {
        each_schema(opinion.functions, |site, schema| {
            for key in ["$ref", "anyOf", "oneOf", "allOf"] {
                if let Some(value) = schema.get(key) {
                    opinion.find(format!("{}/{key}", site.pointer), format!("{key} is {}", brief(value)));
                }
            }
        });
    },
};

static UNTRANSLATED_TYPE: Rule = Rule {
    code: "schema/untranslated-type",
    what: "A type is none of BFCL's eight and no known word for one.",
    why: "The checker stops at it.",
    safety: Safety::Suggest,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"type": "thingummy", "description": "x"}}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"type": "str", "description": "x"}}}}"#,
    judge: |opinion| {
        each_schema(opinion.functions, |site, schema| {
            let known = |kind: &&Value| kind.as_str().is_some_and(|kind| TYPES.contains(&kind));
            if let Some(kind) = schema.get("type").filter(|kind| !known(kind)) {
                opinion.find(format!("{}/type", site.pointer), format!("the type is {}", brief(kind)));
            }
        });
    },
};

static DICT_WITHOUT_PROPERTIES: Rule = Rule {
    code: "schema/dict-without-properties",
    what: "A dict does not say what it holds.",
    why: "The recipe wants its members; they are not made up, and the official data has such dicts.",
    safety: Safety::Suggest,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"type": "dict", "description": "x"}}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"type": "dict", "description": "x", "properties": {}}}}}"#,
    judge: |opinion| {
        each_schema(opinion.functions, |site, schema| {
            if schema.get("type").is_some_and(|kind| *kind == "dict") && !schema.contains_key("properties") {
                opinion.find(site.pointer, "a dict without properties");
            }
        });
    },
};

static DEFAULT_TYPE: Rule = Rule {
    code: "schema/default-type",
    what: "A default is of another type than its parameter.",
    why: "No cast keeps what it says; the official data has such defaults (`\"dontcare\"` for a boolean).",
    safety: Safety::Suggest,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {
        "a": {"type": "boolean", "description": "x", "default": "dontcare"}}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {
        "a": {"type": "float", "description": "x", "default": 1}}}}"#,
    judge: |opinion| {
        each_schema(opinion.functions, |site, schema| {
            if let Some(default) = schema.get("default").filter(|default| !fits(default, schema)) {
                opinion
                    .find(format!("{}/default", site.pointer), format!("the default is {}", brief(default)));
            }
        });
    },
};

static DEFAULT_NOT_IN_ENUM: Rule = Rule {
    code: "schema/default-not-in-enum",
    what: "A default is none of the allowed values.",
    why: "One of the two is wrong and nobody can tell which; the official data has such defaults.",
    safety: Safety::Suggest,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {
        "a": {"type": "string", "description": "x", "enum": ["a", "b"], "default": "c"}}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {
        "a": {"type": "array", "description": "x", "items": {"type": "string"}, "enum": ["a", "b"], "default": ["b"]}}}}"#,
    judge: |opinion| {
        each_schema(opinion.functions, |site, schema| {
            let (Some(default), Some(Value::Array(choices))) = (schema.get("default"), schema.get("enum"))
            else {
                return;
            };
            // An array's enum lists what its elements may be.
            let among = |value: &Value| value.is_null() || choices.contains(value);
            let elements_among = default.as_array().is_some_and(|elements| elements.iter().all(among));
            if !among(default) && !elements_among {
                opinion
                    .find(format!("{}/default", site.pointer), format!("the default is {}", brief(default)));
            }
        });
    },
};

static ENUM_TYPE: Rule = Rule {
    code: "schema/enum-type",
    what: "An allowed value is of another type than its parameter.",
    why: "A call can never give it; the official data has such values.",
    safety: Safety::Suggest,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"type": "boolean", "description": "x", "enum": ["True", "False"]}}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"type": "float", "description": "x", "enum": [1, 2.5]}}}}"#,
    judge: |opinion| {
        each_schema(opinion.functions, |site, schema| {
            let Some(Value::Array(choices)) = schema.get("enum") else { return };
            let items = schema.get("items").and_then(Value::as_object);
            let elements_fit = |choice: &Value| items.is_some_and(|items| fits(choice, items));
            let wrong = choices.iter().find(|choice| !fits(choice, schema) && !elements_fit(choice));
            if let Some(choice) = wrong {
                opinion.find(
                    format!("{}/enum", site.pointer),
                    format!("one of the values is {}", brief(choice)),
                );
            }
        });
    },
};

static REQUIRED_WITH_DEFAULT: Rule = Rule {
    code: "schema/required-with-default",
    what: "A parameter is required and has a default.",
    why: "One of the two is wrong; the official data has a few.",
    safety: Safety::Suggest,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"type": "string", "description": "x", "default": "en"}}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {
        "a": {"type": "string", "description": "x", "default": "en"}}}}"#,
    judge: |opinion| {
        let functions = opinion.functions;
        each_schema(functions, |site, schema| {
            let Place::Parameter(name) = site.place else { return };
            let required = functions[site.function].pointer("/parameters/required").and_then(Value::as_array);
            let listed = required.is_some_and(|required| required.iter().any(|listed| *listed == name));
            if listed && schema.contains_key("default") {
                opinion.find(
                    format!("{}/default", site.pointer),
                    format!("{name:?} is required and has a default"),
                );
            }
        });
    },
};

static ILLEGAL_NAME: Rule = Rule {
    code: "schema/illegal-name",
    what: "A name cannot be used in a call, and the legal one is taken or empty.",
    why: "Which of two things would be meant could no longer be told.",
    safety: Safety::Suggest,
    fires: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a-b", "a_b"], "properties": {
        "a-b": {"type": "string", "description": "x"}, "a_b": {"type": "string", "description": "y"}}}}"#,
    quiet: r#"{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a-b"], "properties": {
        "a-b": {"type": "string", "description": "x"}}}}"#,
    judge: |opinion| {
        let functions = opinion.functions;
        each_function(functions, |pointer, function| {
            let name = function.get("name").and_then(Value::as_str).unwrap_or_default();
            if !is_function_name(name) {
                opinion.find(format!("{pointer}/name"), format!("the function is called {name:?}"));
            }
        });
        each_schema(functions, |site, _| {
            if let Place::Parameter(name) = site.place
                && !is_parameter_name(name)
            {
                opinion.find(site.pointer, format!("the parameter is called {name:?}"));
            }
        });
    },
};

static DUPLICATE_NAME: Rule = Rule {
    code: "schema/duplicate-name",
    what: "Two functions of a list have one name.",
    why: "A call could mean either.",
    safety: Safety::Suggest,
    fires: r#"[{"name": "f", "description": "d"}, {"name": "f", "description": "e"}]"#,
    quiet: r#"[{"name": "f", "description": "d"}, {"name": "g", "description": "d"}]"#,
    judge: |opinion| {
        let mut seen = HashSet::new();
        each_function(opinion.functions, |pointer, function| {
            let name = function.get("name").and_then(Value::as_str).unwrap_or_default();
            if !seen.insert(name) {
                opinion.find(format!("{pointer}/name"), format!("another function is called {name:?} too"));
            }
        });
    },
};

/// Whether a value can stand for a schema's type; null always can, and a whole number is a float.
fn fits(value: &Value, schema: &Map<String, Value>) -> bool {
    let (Some(found), Some(kind)) = (type_of(value), schema.get("type").and_then(Value::as_str)) else {
        return true;
    };
    match kind {
        "any" => true,
        "tuple" => found == "array",
        "float" => found == "float" || found == "integer",
        _ => found == kind || !TYPES.contains(&kind),
    }
}

/// A value short enough for a message.
fn brief(value: &Value) -> String {
    const MAX_CHARS: usize = 60;
    let text = value.to_string();
    match text.char_indices().nth(MAX_CHARS) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}
