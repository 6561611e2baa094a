//! The table of what can be found in a function: how much it matters, and to whom.
//!
//! What is an error breaks the official evaluator or a rule that the fixer keeps, so no
//! dataset of ours has it. What is a note is wrong too, but the official data has it and
//! nobody can mend it without inventing. A fact is nothing wrong: it is only counted.
//! Sentences of codes that `fix` has stand there, so a fault is told in the same words.

use serde::Serialize;

use crate::docs::fix;

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// To be mended before a dataset is published.
    Error,
    /// Wrong, and also found in the official data.
    Note,
    /// Not wrong; counted only.
    Fact,
}

impl Level {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Note => "note",
            Self::Fact => "fact",
        }
    }
}

/// Whose rule it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum By {
    /// The official evaluator stops at it, or lets no answer pass.
    Evaluator,
    /// The recipe that the leaderboard published asks for it.
    Recipe,
    /// The official format script asks for it.
    Linter,
    /// Every official doc is so.
    Data,
}

impl By {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Evaluator => "evaluator",
            Self::Recipe => "recipe",
            Self::Linter => "linter",
            Self::Data => "data",
        }
    }
}

/// One thing that can be found.
#[derive(Debug)]
pub struct Rule {
    /// The reason code.
    pub code: &'static str,
    /// How much it matters.
    pub level: Level,
    /// Whose rule it is.
    pub by: &'static [By],
    /// What is wrong, in a sentence; none where `fix` has the code and the sentence.
    own: Option<&'static str>,
    /// Functions that it is found in and that it is not found in, as JSON lists; none where `fix` has them.
    pub example: Option<Example>,
}

/// Two lists of functions, as JSON.
#[derive(Debug, Clone, Copy)]
pub struct Example {
    /// A list that the rule is found in.
    pub fires: &'static str,
    /// One that it is not found in.
    pub quiet: &'static str,
}

impl Rule {
    /// What is wrong, in one sentence.
    pub fn what(&self) -> &'static str {
        let of_fix = || fix::rules().find(|rule| rule.code == self.code).map(|rule| rule.what);
        self.own.or_else(of_fix).unwrap_or_default()
    }

    /// A rule of a room that has no fixer.
    pub const fn new(code: &'static str, level: Level, by: &'static [By], what: &'static str) -> Self {
        Self { code, level, by, own: Some(what), example: None }
    }

    const fn shown(mut self, fires: &'static str, quiet: &'static str) -> Self {
        self.example = Some(Example { fires, quiet });
        self
    }

    const fn shared(code: &'static str, level: Level, by: &'static [By]) -> Self {
        Self { code, level, by, own: None, example: None }
    }
}

/// The rule of that code.
pub fn of(code: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.code == code)
}

use By::{Data, Evaluator, Linter, Recipe};
use Level::{Error, Fact, Note};

/// Every rule for functions.
pub static RULES: [Rule; 51] = [
    Rule::new(
        "schema/not-a-function",
        Error,
        &[Evaluator, Linter],
        "An element of the list is no JSON object.",
    )
    .shown(
        r#"["f"]"#,
        r#"[{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {}}}]"#,
    ),
    Rule::new("schema/missing-name", Error, &[Evaluator, Recipe, Linter], "A function has no name.")
    .shown(
        r#"[{"description": "d", "parameters": {"type": "dict", "required": [], "properties": {}}}]"#,
        r#"[{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {}}}]"#,
    ),
    Rule::shared("schema/missing-description", Error, &[Recipe, Linter]),
    Rule::shared("schema/missing-parameters", Error, &[Evaluator, Recipe, Linter]),
    Rule::shared("schema/parameters-as-text", Error, &[Evaluator, Recipe, Linter]),
    Rule::shared("schema/parameters-as-list", Error, &[Evaluator, Recipe, Linter]),
    Rule::shared("schema/flat-parameters", Error, &[Evaluator, Recipe, Linter]),
    Rule::shared("schema/split-parameters", Error, &[Evaluator, Recipe, Linter]),
    Rule::shared("schema/unreadable-parameters", Error, &[Evaluator, Recipe, Linter]),
    Rule::shared("schema/parameters-type", Error, &[Recipe, Linter]),
    Rule::shared("schema/missing-properties", Error, &[Evaluator, Recipe, Linter]),
    Rule::shared("schema/missing-required", Error, &[Evaluator, Recipe, Linter]),
    Rule::shared("schema/required-not-a-list", Error, &[Recipe, Linter]),
    Rule::shared("schema/required-outside-parameters", Error, &[Linter]),
    Rule::shared("schema/required-among-properties", Error, &[Evaluator, Linter]),
    Rule::shared("schema/required-per-parameter", Error, &[Recipe]),
    Rule::shared("schema/required-without-property", Error, &[Evaluator, Linter]),
    Rule::shared("schema/nested-required", Error, &[Data]),
    Rule::shared("schema/missing-type", Error, &[Evaluator, Recipe, Linter]),
    Rule::shared("schema/type-synonym", Error, &[Evaluator, Recipe, Linter]),
    Rule::shared("schema/unknown-type", Error, &[Evaluator, Recipe, Linter]),
    Rule::shared("schema/several-types", Error, &[Evaluator, Recipe, Linter]),
    Rule::shared("schema/nullable-type", Error, &[Evaluator, Recipe, Linter]),
    Rule::shared("schema/combined-schemas", Error, &[Evaluator, Recipe, Linter]),
    Rule::shared("schema/reference", Error, &[Evaluator, Recipe, Linter]),
    Rule::shared("schema/property-as-text", Error, &[Evaluator, Linter]),
    Rule::shared("schema/unreadable-property", Error, &[Evaluator, Linter]),
    Rule::shared("schema/array-without-items", Error, &[Evaluator, Recipe, Linter]),
    Rule::shared("schema/items-not-a-schema", Error, &[Evaluator, Linter]),
    Rule::shared("schema/enum-as-text", Error, &[Linter]),
    Rule::shared("schema/misspelled-key", Error, &[Data]),
    Rule::shared("schema/constraint-keyword", Error, &[Data]),
    Rule::shared("schema/extra-key", Error, &[Data, Linter]),
    Rule::new(
        "schema/misplaced-key",
        Error,
        &[Data, Linter],
        "A value that is no array has items, or one that is no dict has properties.",
    )
    .shown(
        r#"[{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
            "a": {"type": "string", "description": "x", "items": {"type": "string"}}}}}]"#,
        r#"[{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
            "a": {"type": "array", "description": "x", "items": {"type": "string"}}}}}]"#,
    ),
    Rule::shared("schema/python-keyword", Error, &[Evaluator, Linter]),
    Rule::shared("schema/parameter-name", Error, &[Evaluator]),
    Rule::shared("schema/function-name", Error, &[Evaluator]),
    Rule::shared("schema/duplicate-name", Error, &[Evaluator]),
    Rule::new(
        "schema/colliding-name",
        Error,
        &[Evaluator],
        "Two functions of a list have one name where dots are written as underscores.",
    )
    .shown(
        r#"[{"name": "a.b", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {}}},
            {"name": "a_b", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {}}}]"#,
        r#"[{"name": "a.b", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {}}},
            {"name": "a_c", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {}}}]"#,
    ),
    Rule::shared("schema/optional-without-default", Error, &[Recipe, Linter]),
    Rule::shared("schema/dict-without-properties", Note, &[Recipe, Linter]),
    Rule::shared("schema/default-type", Note, &[Linter]),
    Rule::shared("schema/default-not-in-enum", Note, &[Recipe]),
    Rule::shared("schema/enum-type", Note, &[Linter]),
    Rule::shared("schema/required-with-default", Note, &[Linter]),
    Rule::shared("schema/key-order", Note, &[Data]),
    Rule::new("schema/long-name", Note, &[Data], "A function's name is longer than the APIs of models take.")
    .shown(
        r#"[{"name": "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn", "description": "d",
            "parameters": {"type": "dict", "required": [], "properties": {}}}]"#,
        r#"[{"name": "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn", "description": "d",
            "parameters": {"type": "dict", "required": [], "properties": {}}}]"#,
    ),
    Rule::new("schema/empty-dict", Fact, &[], "A dict says that it has no members.")
    .shown(
        r#"[{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
            "a": {"type": "dict", "description": "x", "properties": {}}}}}]"#,
        r#"[{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
            "a": {"type": "dict", "description": "x"}}}}]"#,
    ),
    Rule::new("schema/null-default", Fact, &[], "A default is null: there is none.")
    .shown(
        r#"[{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {
            "a": {"type": "string", "description": "x", "default": null}}}}]"#,
        r#"[{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {
            "a": {"type": "string", "description": "x", "default": ""}}}}]"#,
    ),
    Rule::new(
        "schema/described-default",
        Fact,
        &[Linter],
        "An optional parameter's default stands in its description alone.",
    )
    .shown(
        r#"[{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {
            "a": {"type": "string", "description": "Default is 1."}}}}]"#,
        r#"[{"name": "f", "description": "d", "parameters": {"type": "dict", "required": [], "properties": {
            "a": {"type": "string", "description": "A text."}}}}]"#,
    ),
    Rule::new(
        "schema/nested-without-default",
        Fact,
        &[],
        "A member of a dict says neither that it is required nor what is taken without it.",
    )
    .shown(
        r#"[{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
            "a": {"type": "dict", "description": "x", "properties": {"b": {"type": "string", "description": "x"}}}}}}]"#,
        r#"[{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
            "a": {"type": "dict", "description": "x", "properties": {"b": {"type": "string", "description": "x", "default": null}}}}}}]"#,
    ),
];
