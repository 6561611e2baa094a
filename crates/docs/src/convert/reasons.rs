//! The reason codes of conversion.

use super::Api;

/// A reason code and its meaning.
#[derive(Debug)]
pub struct Reason {
    /// `convert/problem`, stable.
    pub code: &'static str,
    /// The meaning, in one sentence.
    pub what: &'static str,
    /// The API for which the examples are converted.
    pub api: Api,
    /// BFCL functions, as a JSON list, whose conversion has this reason.
    pub fires: &'static str,
    /// BFCL functions, as a JSON list, whose conversion does not have this reason.
    pub quiet: &'static str,
}

/// All reasons.
pub const REASONS: [&Reason; 7] = [
    &RENAMED,
    &TYPE_REPLACED,
    &DEFAULT_IN_DESCRIPTION,
    &ENUM_IN_DESCRIPTION,
    &KEY_LEFT_OUT,
    &REFUSED_NAME,
    &COLLIDING_NAME,
];

pub(super) const RENAMED: Reason = Reason {
    code: "convert/renamed",
    what: "The API allows no dots in names; each becomes an underscore, as in BFCL's own converter.",
    api: Api::OpenAi,
    fires: r#"[{"name": "tide.now", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {}}}]"#,
    quiet: r#"[{"name": "tide_now", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {}}}]"#,
};

pub(super) const TYPE_REPLACED: Reason = Reason {
    code: "convert/type-replaced",
    what: "The API has no such type; it is replaced as in BFCL's own converter.",
    api: Api::OpenAi,
    fires: r#"[{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"type": "tuple", "description": "x", "items": {"type": "integer"}}}}}]"#,
    quiet: r#"[{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"type": "array", "description": "x", "items": {"type": "integer"}}}}}]"#,
};

pub(super) const DEFAULT_IN_DESCRIPTION: Reason = Reason {
    code: "convert/default-in-description",
    what: "Gemini ignores defaults; the description states it, as in BFCL's own converter.",
    api: Api::Gemini,
    fires: r#"[{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {
        "a": {"type": "integer", "description": "x", "default": 10}}}}]"#,
    quiet: r#"[{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {
        "a": {"type": "integer", "description": "x", "default": null}}}}]"#,
};

pub(super) const ENUM_IN_DESCRIPTION: Reason = Reason {
    code: "convert/enum-in-description",
    what: "Gemini accepts only enums of non-empty strings; the description lists others, as in BFCL's own converter.",
    api: Api::Gemini,
    fires: r#"[{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"type": "integer", "description": "x", "enum": [1, 2]}}}}]"#,
    quiet: r#"[{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"type": "string", "description": "x", "enum": ["1", "2"]}}}}]"#,
};

pub(super) const KEY_LEFT_OUT: Reason = Reason {
    code: "convert/key-left-out",
    what: "The API has no such key.",
    api: Api::Gemini,
    fires: r#"[{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"type": "dict", "description": "x", "properties": {}}}}}]"#,
    quiet: r#"[{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
        "a": {"type": "dict", "description": "x", "properties": {"b": {"type": "string", "description": "x"}}}}}}]"#,
};

pub(super) const REFUSED_NAME: Reason = Reason {
    code: "convert/refused-name",
    what: "The API refuses a name: it is too long, or has characters that the API does not allow.",
    api: Api::Anthropic,
    fires: r#"[{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["año"], "properties": {
        "año": {"type": "integer", "description": "x"}}}}]"#,
    quiet: r#"[{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["ano"], "properties": {
        "ano": {"type": "integer", "description": "x"}}}}]"#,
};

pub(super) const COLLIDING_NAME: Reason = Reason {
    code: "convert/colliding-name",
    what: "Two functions of a list have the same name in the API.",
    api: Api::OpenAi,
    fires: r#"[{"name": "a.b", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {}}},
        {"name": "a_b", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {}}}]"#,
    quiet: r#"[{"name": "a.b", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {}}},
        {"name": "a_c", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {}}}]"#,
};
