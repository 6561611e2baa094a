//! The keys a function and its schemas have in BFCL, and those that wait for a rule.

/// The keys of a function, in order.
pub(super) const FUNCTION: [&str; 3] = ["name", "description", "parameters"];

/// The keys of `parameters`, in the order they get where one was missing.
pub(super) const PARAMETERS: [&str; 3] = ["type", "required", "properties"];

/// The keys of any other schema.
pub(super) const SCHEMA: [&str; 6] = ["type", "description", "default", "enum", "items", "properties"];

/// Keys that say what nothing else says, so they wait for a rule or a reader.
pub(super) const COMBINING: [&str; 8] = ["$ref", "anyOf", "oneOf", "allOf", "not", "if", "then", "else"];

/// Those of them that stand for other schemas.
pub(super) const STANDING_FOR_OTHERS: &[&str] = COMBINING.split_at(4).0;

pub(super) const DEFINITIONS: [&str; 2] = ["$defs", "definitions"];

pub(super) const DESCRIPTION: &str = "description";
