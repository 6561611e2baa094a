//! Words for types, and adjectives around them.
//!
//! They come from API collections, Python, TypeScript and hand-written docs. Any other word is not a type.

use callsieve_bfcl::types::Type;

/// Returns the type that a single word names.
pub(super) fn word(text: &str) -> Option<Type> {
    let known = Type::named(text);
    if known.is_some() {
        return known;
    }
    if text.len() > "json_object".len() + 4 {
        return None;
    }
    Some(match text.to_ascii_lowercase().as_str() {
        "string" | "str" | "strings" | "text" | "char" | "character" | "varchar" | "date" | "time"
        | "datetime" | "date-time" | "timestamp" | "uuid" | "guid" | "url" | "uri" | "email" | "enum"
        | "enumeration" | "binary" | "blob" | "bytes" | "base64" | "file" | "path" | "password" => {
            Type::String
        }
        "integer" | "int" | "integers" | "int8" | "int16" | "int32" | "int64" | "uint" | "uint8"
        | "uint16" | "uint32" | "uint64" | "long" | "short" | "bigint" | "smallint" => Type::Integer,
        "float" | "number" | "num" | "double" | "decimal" | "float32" | "float64" | "numeric" | "real" => {
            Type::Float
        }
        "boolean" | "bool" | "flag" => Type::Boolean,
        "array" | "list" | "arraylist" | "readonlyarray" | "set" | "frozenset" | "sequence" | "iterable"
        | "collection" | "vector" => Type::Array,
        "tuple" => Type::Tuple,
        "dict" | "object" | "obj" | "defaultdict" | "ordereddict" | "dictionary" | "json" | "json_object"
        | "map" | "mapping" | "hash" | "hashmap" | "record" | "struct" => Type::Dict,
        "any" | "anything" | "variant" | "mixed" | "unknown" => Type::Any,
        _ => return None,
    })
}

/// Returns a type named by several words.
pub(super) fn phrase(text: &str) -> Option<Type> {
    Some(match text.to_ascii_lowercase().as_str() {
        "json string" | "hex string" | "iso date" | "date string" | "iso string" | "string literal" => {
            Type::String
        }
        "json object" | "key-value pairs" | "plain object" => Type::Dict,
        "json array" => Type::Array,
        "floating point" | "floating-point number" | "floating point number" | "decimal number" => {
            Type::Float
        }
        "whole number" | "integer number" => Type::Integer,
        "true/false" | "true or false" | "true | false" | "yes/no" => Type::Boolean,
        "any type" => Type::Any,
        _ => return None,
    })
}

/// Returns the rest of a type after a narrowing adjective.
pub(super) fn without_adjective(text: &str) -> Option<&str> {
    const ADJECTIVES: [&str; 8] =
        ["a ", "an ", "positive ", "negative ", "non-negative ", "unsigned ", "readonly ", "required "];
    let begins = |start: &&&str| text.get(..start.len()).is_some_and(|text| text.eq_ignore_ascii_case(start));
    ADJECTIVES.iter().find(begins).map(|start| &text[start.len()..])
}

/// Returns the rest of a type that is marked as optional.
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
