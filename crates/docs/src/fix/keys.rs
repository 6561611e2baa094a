//! The keys of a function and its schemas in BFCL, aliases of them, and keys that BFCL does not have.
//!
//! For keys that combine schemas see `docs::combining`, for keys that hold parameters `docs::holders`.

use crate::holders::HOLDERS;

/// The keys of a function, in order.
pub(super) const FUNCTION: [&str; 3] = ["name", "description", "parameters"];

/// The keys of `parameters`, in the order in which missing ones are added.
pub(super) const PARAMETERS: [&str; 3] = ["type", "required", "properties"];

/// The keys of any other schema.
pub(super) const SCHEMA: [&str; 6] = ["type", "description", "default", "enum", "items", "properties"];

pub(super) const DEFINITIONS: [&str; 2] = ["$defs", "definitions"];

pub(super) const DESCRIPTION: &str = "description";

/// Aliases of a function's keys.
pub(super) const FUNCTION_ALIASES: [(&str, &str); 3] =
    [("desc", "description"), ("summary", "description"), ("doc", "description")];

/// Aliases of a schema's keys.
pub(super) const SCHEMA_ALIASES: [(&str, &str); 19] = [
    ("type_", "type"),
    ("data_type", "type"),
    ("dataType", "type"),
    ("property", "properties"),
    ("prefixItems", "items"),
    ("desc", "description"),
    ("summary", "description"),
    ("default_value", "default"),
    ("defaultValue", "default"),
    ("enums", "enum"),
    ("choices", "enum"),
    ("allowed_values", "enum"),
    ("allowedValues", "enum"),
    ("possible_values", "enum"),
    ("valid_values", "enum"),
    ("enum_values", "enum"),
    ("options", "enum"),
    ("values", "enum"),
    ("format_", "format"),
];

/// Returns all aliases of a key of a function or a schema.
pub(super) fn aliases() -> impl Iterator<Item = &'static str> {
    FUNCTION_ALIASES.iter().chain(&SCHEMA_ALIASES).map(|(alias, _)| *alias).chain(HOLDERS)
}

/// JSON Schema's constraint keywords and the phrase for each, in the order of phrases in a description.
pub(crate) const PHRASES: [(&str, &str); 14] = [
    ("format", "Format"),
    ("pattern", "Pattern"),
    ("const", "Constant value"),
    ("minimum", "Minimum value"),
    ("min", "Minimum value"),
    ("exclusiveMinimum", "Exclusive minimum value"),
    ("maximum", "Maximum value"),
    ("max", "Maximum value"),
    ("exclusiveMaximum", "Exclusive maximum value"),
    ("multipleOf", "Multiple of"),
    ("minLength", "Minimum length"),
    ("maxLength", "Maximum length"),
    ("minItems", "Minimum items"),
    ("maxItems", "Maximum items"),
];

/// Returns the keywords that become a phrase.
pub(super) fn keywords() -> impl Iterator<Item = &'static str> {
    PHRASES.iter().map(|(keyword, _)| *keyword)
}
