//! The signature of a function: name, description and parameters, read from any supported form.
//!
//! A function in the common form, JSON Schema with known types, is read directly. Any other is read after all fixes,
//! so every form that a fix can convert is supported. A description that a fix copies from the name counts as missing.

use rustc_hash::FxHashSet;
use serde_json::{Map, Value};

use super::combining::SUBSTITUTES;
use super::fix::renames::name_of;
use super::fix::{self, Safety};
use callsieve_bfcl::types::Type;

/// The signature of a function.
#[derive(Debug, Clone, PartialEq)]
pub struct Signature {
    /// The name as sent.
    pub name: String,
    /// The description; empty if there is none.
    pub description: String,
    /// The parameters, in order.
    pub parameters: Vec<Parameter>,
    /// The function has more text under keys that are not read here.
    pub has_more_text: bool,
}

/// One parameter, without its nested schemas.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// The description; empty if there is none.
    pub description: String,
    /// The kind of its value.
    pub kind: ValueKind,
    /// A call must set it.
    pub is_required: bool,
    /// The allowed values, if listed: those of the parameter or of its items.
    pub choices: Vec<String>,
    /// All text of nested schemas: names and descriptions of properties.
    pub inside: String,
}

/// The kind of a parameter's value, as far as a sentence can mention it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ValueKind {
    /// Text.
    Text,
    /// An integer or a fraction.
    Number,
    /// A boolean.
    Flag,
    /// A list.
    List,
    /// An object, or any type.
    Other,
}

/// Returns the signature of each function of a list.
pub fn signatures(functions: &[Value]) -> Vec<Signature> {
    if functions.iter().all(is_plain) {
        return functions.iter().map(|function| signature(function, function)).collect();
    }
    let (fixed, _) = fix::mended(functions, Safety::Unsafe);
    functions.iter().zip(&fixed).map(|(sent, fixed)| signature(sent, fixed)).collect()
}

/// Returns the signature of a function that can be read directly, so that other functions of its list do not matter; `None` if it is
/// read only with those of the list (`signatures`).
pub fn plain_signature(function: &Value) -> Option<Signature> {
    is_plain(function).then(|| signature(function, function))
}

/// Returns true if a function can be read directly: a fix would change only wording and gaps.
fn is_plain(function: &Value) -> bool {
    let Some(parameters) = function.get("parameters").and_then(Value::as_object) else { return false };
    function.get("name").is_some_and(Value::is_string)
        && function.as_object().is_some_and(is_plainly_described)
        && parameters.get("properties").is_some_and(Value::is_object)
        && parameters.get("required").is_none_or(Value::is_array)
        && is_plain_schema(parameters)
}

/// Keys that change the meaning of a schema, in addition to those that refer to other schemas.
const NOT_PLAIN: &[&str] = &["property", "nullable"];

fn is_plain_schema(schema: &Map<String, Value>) -> bool {
    let members = schema.get("properties").and_then(Value::as_object);
    schema.get("type").is_none_or(|word| kind_of_word(word).is_some())
        && schema.get("properties").is_none_or(Value::is_object)
        && is_plainly_described(schema)
        && !NOT_PLAIN.iter().chain(SUBSTITUTES).any(|key| schema.contains_key(*key))
        && schema.get("required").is_none_or(Value::is_array)
        && schema.get("items").is_none_or(|items| items.as_object().is_some_and(is_plain_schema))
        && members.into_iter().flatten().all(|(_, member)| {
            member.as_object().is_some_and(|member| member.contains_key("type") && is_plain_schema(member))
        })
}

/// Returns true if the description is a text or missing, and no title replaces it. A fix fills a blank one with the name,
/// which is no description either.
fn is_plainly_described(map: &Map<String, Value>) -> bool {
    match map.get("description") {
        None | Some(Value::Null) => !map.contains_key("title"),
        Some(Value::String(text)) => !text.trim().is_empty() || !map.contains_key("title"),
        Some(_) => false,
    }
}

/// Keys of a function that hold its name, description and parameters, or technical data without text.
const KNOWN_KEYS: &[&str] = &[
    "name",
    "description",
    "parameters",
    "type",
    "strict",
    "title",
    "returns",
    "response",
    "annotations",
    "_meta",
];

/// The fewest words that count as text under another key.
const MIN_WORDS: usize = 3;

/// Returns true if a function as sent has sentences, lists or objects under keys that are not read.
fn has_more_text(sent: &Value) -> bool {
    let others =
        sent.as_object().into_iter().flatten().filter(|(key, _)| !KNOWN_KEYS.contains(&key.as_str()));
    others.map(|(_, value)| value).any(|value| match value {
        Value::String(text) => text.split_whitespace().count() >= MIN_WORDS,
        Value::Object(map) => !map.is_empty(),
        Value::Array(values) => !values.is_empty(),
        _ => false,
    })
}

/// Returns the signature of a function as sent, read from its readable form.
fn signature(sent: &Value, function: &Value) -> Signature {
    let fixed_name = name_of(function);
    let properties = function.pointer("/parameters/properties").and_then(Value::as_object);
    let required: FxHashSet<&str> = function
        .pointer("/parameters/required")
        .and_then(Value::as_array)
        .map(|names| names.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let parameters = properties.into_iter().flatten().map(|(name, schema)| Parameter {
        name: name.clone(),
        description: described(schema, name),
        kind: kind_of(schema),
        is_required: required.contains(name.as_str()),
        choices: choices(schema),
        inside: inside(schema),
    });
    Signature {
        name: name_of(sent),
        description: described(function, &fixed_name),
        parameters: parameters.collect(),
        has_more_text: has_more_text(sent),
    }
}

/// Returns the description, unless it is the name that a fix filled in.
fn described(schema: &Value, name: &str) -> String {
    let text = schema.get("description").and_then(Value::as_str).unwrap_or_default().trim();
    if text == name.trim() { String::new() } else { text.to_owned() }
}

fn kind_of(schema: &Value) -> ValueKind {
    schema.get("type").and_then(kind_of_word).unwrap_or(ValueKind::Other)
}

/// Type names of JSON Schema and Python that need no fix to be understood.
const COMMON_WORDS: [(&str, Type); 7] = [
    ("str", Type::String),
    ("int", Type::Integer),
    ("number", Type::Float),
    ("double", Type::Float),
    ("bool", Type::Boolean),
    ("list", Type::Array),
    ("object", Type::Dict),
];

/// Returns the kind that a type name means; `None` if a fix has to translate it.
fn kind_of_word(word: &Value) -> Option<ValueKind> {
    let word = word.as_str()?.to_ascii_lowercase();
    let common = || COMMON_WORDS.iter().find(|(common, _)| *common == word).map(|(_, kind)| *kind);
    Type::named(&word).or_else(common).map(|kind| match kind {
        Type::String => ValueKind::Text,
        Type::Integer | Type::Float => ValueKind::Number,
        Type::Boolean => ValueKind::Flag,
        Type::Array | Type::Tuple => ValueKind::List,
        Type::Dict | Type::Any => ValueKind::Other,
    })
}

fn choices(schema: &Value) -> Vec<String> {
    let own = schema.get("enum").or_else(|| schema.pointer("/items/enum")).and_then(Value::as_array);
    let word = |choice: &Value| choice.as_str().map_or_else(|| choice.to_string(), str::to_owned);
    own.into_iter().flatten().map(word).collect()
}

fn inside(schema: &Value) -> String {
    let mut text = String::new();
    let mut left: Vec<&Value> = vec![schema];
    while let Some(schema) = left.pop() {
        let members = schema.get("properties").and_then(Value::as_object);
        for (name, member) in members.into_iter().flatten() {
            let description = member.get("description").and_then(Value::as_str).unwrap_or_default();
            text += &format!("{name} {description} ");
            left.push(member);
        }
        left.extend(schema.get("items"));
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn forms_that_a_fix_converts_have_the_same_signature() {
        let plain = json!({"name": "ring", "description": "Rings a bell.", "parameters": {
            "type": "object", "required": ["bell"], "properties": {
                "bell": {"type": "string", "description": "Which bell.", "enum": ["noon", "storm"]},
                "times": {"type": "number"}}}});
        assert!(is_plain(&plain));
        let read = signatures(std::slice::from_ref(&plain));
        let expected = Signature {
            name: "ring".to_owned(),
            description: "Rings a bell.".to_owned(),
            parameters: vec![
                Parameter {
                    name: "bell".to_owned(),
                    description: "Which bell.".to_owned(),
                    kind: ValueKind::Text,
                    is_required: true,
                    choices: vec!["noon".to_owned(), "storm".to_owned()],
                    inside: String::new(),
                },
                Parameter {
                    name: "times".to_owned(),
                    description: String::new(),
                    kind: ValueKind::Number,
                    is_required: false,
                    choices: vec![],
                    inside: String::new(),
                },
            ],
            has_more_text: false,
        };
        assert_eq!(read, [expected]);
        let per_parameter = json!({"name": "ring", "description": "Rings a bell.", "parameters": {
            "type": "object", "properties": {
                "bell": {"type": "string", "description": "Which bell.", "enum": ["noon", "storm"], "required": true},
                "times": {"type": "number", "required": false}}}});
        assert!(!is_plain(&per_parameter));
        assert_eq!(signatures(&[per_parameter]), read);
    }

    #[test]
    fn a_description_filled_in_by_a_fix_is_still_missing() {
        let read = signatures(&[json!({"name": "ring", "parameters": [{"name": "bell", "type": "string"}]})]);
        assert_eq!((read[0].description.as_str(), read[0].parameters[0].description.as_str()), ("", ""));
    }

    #[test]
    fn a_blank_description_is_missing_unless_a_title_replaces_it() {
        let blank = json!({"name": "ring", "description": " ", "parameters": {"type": "object", "properties": {
            "bell": {"type": "string", "description": ""}}}});
        assert!(is_plain(&blank));
        let (fixed, _) = fix::mended(std::slice::from_ref(&blank), Safety::Unsafe);
        assert_eq!(signature(&blank, &blank), signature(&blank, &fixed[0]));
        let mut titled = blank;
        titled["parameters"]["properties"]["bell"]["title"] = json!("Which bell to ring");
        assert!(!is_plain(&titled));
        assert_eq!(signatures(&[titled])[0].parameters[0].description, "Which bell to ring");
    }

    #[test]
    fn text_under_other_keys_is_detected() {
        let read = |function: Value| signatures(&[function])[0].has_more_text;
        assert!(read(json!({"name": "ring", "functionality": "Rings the noon bell."})));
        assert!(read(json!({"name": "ring", "api_arguments": {"bell": "string: which bell"}})));
        assert!(!read(json!({"name": "ring", "id": "ring", "strict": true})));
    }

    #[test]
    fn each_element_has_a_signature_and_non_functions_have_no_parameters() {
        let read = signatures(&[json!({"name": "a"}), json!({"name": "b", "parameters": "none"}), json!(7)]);
        assert_eq!(read.iter().map(|read| read.name.as_str()).collect::<Vec<_>>(), ["a", "b", ""]);
        assert!(read.iter().all(|read| read.parameters.is_empty()));
    }
}
