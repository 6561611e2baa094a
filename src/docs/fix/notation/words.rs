//! The words for types, and those around them that say no more than narrow or optional.
//!
//! They are those met in API collections, Python, TypeScript and hand-written docs. A word that is not here names no
//! type.

use super::TYPES;

/// The type that a single word names.
pub(super) fn word(text: &str) -> Option<&'static str> {
    let known = TYPES.iter().find(|kind| **kind == text);
    if known.is_some() {
        return known.copied();
    }
    if text.len() > "json_object".len() + 4 {
        return None;
    }
    Some(match text.to_ascii_lowercase().as_str() {
        "string" | "str" | "strings" | "text" | "char" | "character" | "varchar" | "date" | "time"
        | "datetime" | "date-time" | "timestamp" | "uuid" | "guid" | "url" | "uri" | "email" | "enum"
        | "enumeration" | "binary" | "blob" | "bytes" | "base64" | "file" | "path" | "password" => "string",
        "integer" | "int" | "integers" | "int8" | "int16" | "int32" | "int64" | "uint" | "uint8"
        | "uint16" | "uint32" | "uint64" | "long" | "short" | "bigint" | "smallint" => "integer",
        "float" | "number" | "num" | "double" | "decimal" | "float32" | "float64" | "numeric" | "real" => {
            "float"
        }
        "boolean" | "bool" | "flag" => "boolean",
        "array" | "list" | "arraylist" | "readonlyarray" | "set" | "frozenset" | "sequence" | "iterable"
        | "collection" | "vector" => "array",
        "tuple" => "tuple",
        "dict" | "object" | "obj" | "defaultdict" | "ordereddict" | "dictionary" | "json" | "json_object"
        | "map" | "mapping" | "hash" | "hashmap" | "record" | "struct" => "dict",
        "any" | "anything" | "variant" | "mixed" | "unknown" => "any",
        _ => return None,
    })
}

/// A type of several words.
pub(super) fn phrase(text: &str) -> Option<&'static str> {
    Some(match text.to_ascii_lowercase().as_str() {
        "json string" | "hex string" | "iso date" | "date string" | "iso string" | "string literal" => {
            "string"
        }
        "json object" | "key-value pairs" | "plain object" => "dict",
        "json array" => "array",
        "floating point" | "floating-point number" | "floating point number" | "decimal number" => "float",
        "whole number" | "integer number" => "integer",
        "true/false" | "true or false" | "true | false" | "yes/no" => "boolean",
        "any type" => "any",
        _ => return None,
    })
}

/// What is left of a type behind a word that only narrows it.
pub(super) fn without_adjective(text: &str) -> Option<&str> {
    const ADJECTIVES: [&str; 8] =
        ["a ", "an ", "positive ", "negative ", "non-negative ", "unsigned ", "readonly ", "required "];
    let begins = |start: &&&str| text.get(..start.len()).is_some_and(|text| text.eq_ignore_ascii_case(start));
    ADJECTIVES.iter().find(begins).map(|start| &text[start.len()..])
}

/// What is left of a type that is marked as optional.
pub(super) fn without_optional_mark(text: &str) -> Option<&str> {
    const AFTER: [&str; 7] =
        [", optional", ",optional", "(optional)", "[optional]", " optional", ", nullable", "?"];
    const BEFORE: [&str; 2] = ["optional ", "nullable "];
    let lower = text.to_ascii_lowercase();
    let inner = AFTER
        .iter()
        .find_map(|mark| lower.ends_with(mark).then(|| &text[..text.len() - mark.len()]))
        .or_else(|| BEFORE.iter().find_map(|mark| lower.starts_with(mark).then(|| &text[mark.len()..])))?;
    (!inner.trim().is_empty()).then_some(inner)
}
