//! The table of all findings in functions, with their level and source.
//!
//! An error breaks the official evaluator or a rule of the fixer, so no dataset from this program has one. A note is
//! also a fault, but the official data has it and it cannot be fixed without inventing content. A fact is not a fault
//! and is only counted. Codes shared with `fix` use the sentences of `fix`.

use serde::Serialize;

use crate::fix;

/// The severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Has to be fixed before a dataset is published.
    Error,
    /// A fault that the official data also has.
    Note,
    /// Not a fault; only counted.
    Fact,
}

impl Level {
    /// Returns the name of the level.
    pub fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Note => "note",
            Self::Fact => "fact",
        }
    }
}

/// The source of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum By {
    /// The official evaluator fails on it, or accepts no answer.
    Evaluator,
    /// The recipe published by the leaderboard requires it.
    Recipe,
    /// The official format script requires it.
    Linter,
    /// All official docs follow it.
    Data,
}

impl By {
    /// Returns the name of the source.
    pub fn name(self) -> &'static str {
        match self {
            Self::Evaluator => "evaluator",
            Self::Recipe => "recipe",
            Self::Linter => "linter",
            Self::Data => "data",
        }
    }
}

/// A rule that a check reports.
#[derive(Debug)]
pub struct Rule {
    /// The reason code.
    pub code: &'static str,
    /// The severity.
    pub level: Level,
    /// The sources of the rule.
    pub by: &'static [By],
    /// The fault, in one sentence; `None` if `fix` has the code and the sentence.
    own: Option<&'static str>,
    /// Functions, or entries of a dataset, with and without the fault; `None` if `fix` has them or none is printed.
    pub example: Option<Example>,
}

/// Two lists as JSON, of functions, or of entries with their ground truth.
#[derive(Debug, Clone, Copy)]
pub struct Example {
    /// A list in which the rule finds a fault.
    pub fires: &'static str,
    /// A list in which it finds none.
    pub quiet: &'static str,
}

impl Rule {
    /// Returns the fault in one sentence.
    pub fn what(&self) -> &'static str {
        let of_fix = || fix::rules().find(|rule| rule.code == self.code).map(|rule| rule.what);
        self.own.or_else(of_fix).unwrap_or_default()
    }

    /// Creates a rule of a module without a fixer.
    pub const fn new(code: &'static str, level: Level, by: &'static [By], what: &'static str) -> Self {
        Self { code, level, by, own: Some(what), example: None }
    }

    /// Adds an example.
    #[must_use]
    pub const fn shown(mut self, fires: &'static str, quiet: &'static str) -> Self {
        self.example = Some(Example { fires, quiet });
        self
    }

    const fn shared(code: &'static str, level: Level, by: &'static [By]) -> Self {
        Self { code, level, by, own: None, example: None }
    }
}

/// Returns the rule with a code.
pub fn of(code: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.code == code)
}

use By::{Data, Evaluator, Linter, Recipe};
use Level::{Error, Fact, Note};

/// All rules for functions.
pub static RULES: [Rule; 51] = [
    Rule::new(
        "schema/not-a-function",
        Error,
        &[Evaluator, Linter],
        "An element of the list is not a JSON object.",
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
        "A type other than array has items, or a type other than dict has properties.",
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
        "Two functions of a list have the same name once dots are replaced by underscores.",
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
    Rule::new("schema/long-name", Note, &[Data], "A function's name is longer than the APIs of models allow.")
    .shown(
        r#"[{"name": "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn", "description": "d",
            "parameters": {"type": "dict", "required": [], "properties": {}}}]"#,
        r#"[{"name": "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn", "description": "d",
            "parameters": {"type": "dict", "required": [], "properties": {}}}]"#,
    ),
    Rule::new("schema/empty-dict", Fact, &[], "A dict has an empty list of properties.")
    .shown(
        r#"[{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
            "a": {"type": "dict", "description": "x", "properties": {}}}}}]"#,
        r#"[{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
            "a": {"type": "dict", "description": "x"}}}}]"#,
    ),
    Rule::new("schema/null-default", Fact, &[], "A default is null, which means that there is none.")
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
        "The default of an optional parameter is only in its description.",
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
        "A nested property is neither required nor has a default.",
    )
    .shown(
        r#"[{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
            "a": {"type": "dict", "description": "x", "properties": {"b": {"type": "string", "description": "x"}}}}}}]"#,
        r#"[{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["a"], "properties": {
            "a": {"type": "dict", "description": "x", "properties": {"b": {"type": "string", "description": "x", "default": null}}}}}}]"#,
    ),
];
