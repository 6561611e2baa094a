//! What a function says of itself: name, description, parameters; read off whatever form it was sent in.
//!
//! The docs are read as `fix` leaves them with all its fixes allowed, so every form that
//! a fix can turn over is understood here too, and nobody reads `parameters` a second
//! way. A gap that such a fix fills with the name counts as a gap here.

use serde_json::Value;

use super::fix::{self, Safety};
use super::fix::renames::name_of;

/// A function as its reader sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct Signature {
    /// The name as it was sent.
    pub name: String,
    /// The description; empty where there is none.
    pub description: String,
    /// The parameters, in order.
    pub parameters: Vec<Parameter>,
}

/// One parameter, without what is inside of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// The description; empty where there is none.
    pub description: String,
    /// What it holds.
    pub kind: ValueKind,
    /// A call must give it.
    pub is_required: bool,
    /// The values it may have, where they are listed: its own, or those of its items.
    pub choices: Vec<String>,
    /// All text inside of it: names and descriptions of members.
    pub inside: String,
}

/// What a parameter holds, as far as it can be looked for in a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueKind {
    /// Text.
    Text,
    /// A whole number or a fraction.
    Number,
    /// Yes or no.
    Flag,
    /// A list.
    List,
    /// An object, or anything.
    Other,
}

/// The signatures of a list of functions, one a function.
pub fn signatures(functions: &[Value]) -> Vec<Signature> {
    let fixed = fix::fix(functions, Safety::Unsafe).functions;
    functions.iter().zip(&fixed).map(|(sent, fixed)| signature(name_of(sent), fixed)).collect()
}

fn signature(name: String, function: &Value) -> Signature {
    let fixed_name = name_of(function);
    let properties = function.pointer("/parameters/properties").and_then(Value::as_object);
    let required: Vec<&str> = function
        .pointer("/parameters/required")
        .and_then(Value::as_array)
        .map(|names| names.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let parameters = properties.into_iter().flatten().map(|(name, schema)| Parameter {
        name: name.clone(),
        description: described(schema, name),
        kind: kind_of(schema),
        is_required: required.contains(&name.as_str()),
        choices: choices(schema),
        inside: inside(schema),
    });
    Signature { description: described(function, &fixed_name), parameters: parameters.collect(), name }
}

/// The description, unless it is only the name that a fix put there.
fn described(schema: &Value, name: &str) -> String {
    let text = schema.get("description").and_then(Value::as_str).unwrap_or_default().trim();
    if text == name.trim() { String::new() } else { text.to_owned() }
}

fn kind_of(schema: &Value) -> ValueKind {
    match schema.get("type").and_then(Value::as_str) {
        Some("string") => ValueKind::Text,
        Some("integer" | "float") => ValueKind::Number,
        Some("boolean") => ValueKind::Flag,
        Some("array" | "tuple") => ValueKind::List,
        _ => ValueKind::Other,
    }
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
