//! The keys a function and its schemas have in BFCL. For those that combine schemas see `docs::combining`.

/// The keys of a function, in order.
pub(super) const FUNCTION: [&str; 3] = ["name", "description", "parameters"];

/// The keys of `parameters`, in the order they get where one was missing.
pub(super) const PARAMETERS: [&str; 3] = ["type", "required", "properties"];

/// The keys of any other schema.
pub(super) const SCHEMA: [&str; 6] = ["type", "description", "default", "enum", "items", "properties"];

pub(super) const DEFINITIONS: [&str; 2] = ["$defs", "definitions"];

pub(super) const DESCRIPTION: &str = "description";
