//! Rules for function docs too vague to call, in the order they are tried.
//!
//! The published recipe keeps docs with a name, a description, and a type and a description for each parameter. Types
//! can be inferred and single gaps filled, so a rule here fires only where a reader could not know what to call the
//! function for, or with which values. Each rule prefers missing a bad doc to reporting a good one.

use super::signature::{Parameter, Signature};
use callsieve_text::words::for_each_word;

/// One reason for which a doc is too vague.
#[derive(Debug)]
pub struct QualityRule {
    /// The reason code.
    pub code: &'static str,
    /// The fault, in one sentence.
    pub what: &'static str,
    /// A function on which the rule fires, as JSON.
    pub fires: &'static str,
    /// A function on which the rule does not fire, as JSON.
    pub quiet: &'static str,
    holds: fn(&Signature, Limits) -> bool,
}

/// Limits of the rules.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// The largest accepted share of parameters without a description (0 to 1); higher keeps more docs.
    pub undescribed_share: f64,
    /// The smallest number of parameters to which that share applies.
    pub undescribed_min: usize,
    /// The fewest words of a description if the name is meaningless.
    pub min_description_words: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { undescribed_share: 0.5, undescribed_min: 2, min_description_words: 4 }
    }
}

/// All rules, in the order they are tried.
pub static RULES: [QualityRule; 6] = [
    QualityRule {
        code: "docs/template-text",
        what: "The name or the description contains an unfilled template.",
        fires: r#"{"name": "ring", "description": "Rings the {{ bell.name }} bell.", "parameters": {"type": "dict", "required": [], "properties": {}}}"#,
        quiet: r#"{"name": "ring", "description": "Rings a bell, e.g. {\"times\": 3}.", "parameters": {"type": "dict", "required": [], "properties": {}}}"#,
        holds: |signature, _| has_template(&signature.name) || has_template(&signature.description),
    },
    QualityRule {
        code: "docs/placeholder-description",
        what: "The description is a placeholder.",
        fires: r#"{"name": "ring", "description": "TODO: add description", "parameters": {"type": "dict", "required": [], "properties": {}}}"#,
        quiet: r#"{"name": "add_todo", "description": "Adds a todo to the list.", "parameters": {"type": "dict", "required": [], "properties": {}}}"#,
        holds: |signature, _| is_placeholder(&signature.description),
    },
    QualityRule {
        code: "docs/undescribed",
        what: "Neither the function nor any of its parameters has a description.",
        fires: r#"{"name": "ring_bell", "parameters": {"type": "dict", "required": ["times"], "properties": {"times": {"type": "integer"}}}}"#,
        quiet: r#"{"name": "ring_bell", "parameters": {"type": "dict", "required": ["times"], "properties": {"times": {"type": "integer", "description": "How often the bell rings."}}}}"#,
        holds: |signature, _| {
            signature.description.is_empty() && n_described(signature) == 0 && !signature.has_more_text
        },
    },
    QualityRule {
        code: "docs/meaningless-name",
        what: "The name is meaningless, and the description is too short.",
        fires: r#"{"name": "func1", "description": "A function.", "parameters": {"type": "dict", "required": [], "properties": {}}}"#,
        quiet: r#"{"name": "func1", "description": "Rings the noon bell of the tower.", "parameters": {"type": "dict", "required": [], "properties": {}}}"#,
        holds: |signature, limits| {
            is_meaningless(&signature.name)
                && words(&signature.description).len() < limits.min_description_words
        },
    },
    QualityRule {
        code: "docs/name-as-description",
        what: "The description only repeats the name, and no parameter is described.",
        fires: r#"{"name": "ring_bell", "description": "Ring bell.", "parameters": {"type": "dict", "required": ["n"], "properties": {"n": {"type": "integer"}}}}"#,
        quiet: r#"{"name": "ring_bell", "description": "Rings the noon bell.", "parameters": {"type": "dict", "required": ["n"], "properties": {"n": {"type": "integer"}}}}"#,
        holds: |signature, _| {
            !signature.parameters.is_empty()
                && n_described(signature) == 0
                && repeats_name(signature)
                && !signature.has_more_text
        },
    },
    QualityRule {
        code: "docs/undescribed-parameters",
        what: "Most parameters have no description, and the function's own description neither names them nor is long enough to cover them.",
        fires: r#"{"name": "ring_bell", "description": "Rings a bell.", "parameters": {"type": "dict", "required": ["mode", "n"], "properties": {"mode": {"type": "string"}, "n": {"type": "integer"}}}}"#,
        quiet: r#"{"name": "ring_bell", "description": "Rings a bell.", "parameters": {"type": "dict", "required": ["bell", "n"], "properties": {"bell": {"type": "string"}, "n": {"type": "integer"}}}}"#,
        holds: undescribed_parameters,
    },
];

/// Returns the first rule that a function breaks. Docs with more text in a format of their own are not judged by gaps.
pub fn fault(signature: &Signature, limits: Limits) -> Option<&'static QualityRule> {
    RULES.iter().find(|rule| (rule.holds)(signature, limits))
}

/// Returns the number of parameters with a description or a list of allowed values.
fn n_described(signature: &Signature) -> usize {
    signature.parameters.iter().filter(|parameter| is_described(parameter)).count()
}

fn is_described(parameter: &Parameter) -> bool {
    let description = &parameter.description;
    (!description.is_empty() && !is_placeholder(description)) || !parameter.choices.is_empty()
}

/// From this number of words on, a description is assumed to cover the parameters too.
const LONG_DESCRIPTION: usize = 30;

#[allow(clippy::cast_precision_loss)] // Counts of parameters.
fn undescribed_parameters(signature: &Signature, limits: Limits) -> bool {
    let n_parameters = signature.parameters.len();
    let said = words(&signature.description);
    let is_covered = |parameter: &&Parameter| {
        let name = words(&parameter.name);
        is_described(parameter) || (!name.is_empty() && name.iter().all(|word| said.contains(word)))
    };
    let n_undescribed = n_parameters - signature.parameters.iter().filter(is_covered).count();
    let is_long = || said.len() >= LONG_DESCRIPTION;
    n_parameters >= limits.undescribed_min
        && n_undescribed as f64 > limits.undescribed_share * n_parameters as f64
        && !signature.has_more_text
        && !is_long()
}

/// Returns true for `{{…}}`, `${…}`, `<%…%>` with a name inside.
fn has_template(text: &str) -> bool {
    [("{{", "}}"), ("${", "}"), ("<%", "%>")].iter().any(|(open, close)| {
        text.split(open).skip(1).any(|rest| {
            rest.split_once(close).is_some_and(|(inside, _)| {
                // JSON in an example has quotes before its first colon; a template has a name.
                inside.trim_start().starts_with(|c: char| c.is_alphabetic() || matches!(c, '_' | '\''))
                    && !inside.contains("\":")
            })
        })
    })
}

/// Placeholder descriptions, without case and surrounding punctuation.
const PLACEHOLDERS: &[&str] = &[
    "a description",
    "add description",
    "add description here",
    "description",
    "description goes here",
    "description here",
    "description of the function",
    "enter description",
    "example description",
    "function description",
    "insert description here",
    "n/a",
    "na",
    "no description",
    "no description available",
    "no description provided",
    "none",
    "null",
    "placeholder",
    "some description",
    "string",
    "tba",
    "tbd",
    "test",
    "test description",
    "todo",
    "undefined",
    "xxx",
    "your description here",
];
/// Prefixes that only placeholders have.
const PLACEHOLDER_STARTS: &[&str] = &["todo:", "todo -", "lorem ipsum", "fixme:", "tbd:"];

/// Returns true if a description is a placeholder: `TODO`, `test`, `...`. An empty one is not.
pub fn is_placeholder(description: &str) -> bool {
    let lower = description.trim().to_lowercase();
    let bare = lower.trim_matches(|c: char| !c.is_alphanumeric());
    if lower.is_empty() {
        return false;
    }
    bare.is_empty()
        || PLACEHOLDERS.binary_search(&bare).is_ok()
        || PLACEHOLDER_STARTS.iter().any(|start| bare.starts_with(start))
}

/// Meaningless names, without digits, underscores and case; sorted.
const MEANINGLESS: &[&str] = &[
    "a",
    "abc",
    "api",
    "apifunction",
    "bar",
    "baz",
    "call",
    "callback",
    "demo",
    "dofunction",
    "doit",
    "dosomething",
    "dostuff",
    "dothing",
    "dummy",
    "dummyfunction",
    "example",
    "examplefunction",
    "f",
    "fn",
    "foo",
    "foobar",
    "func",
    "funcname",
    "function",
    "functionname",
    "g",
    "main",
    "method",
    "myfunc",
    "myfunction",
    "mytool",
    "name",
    "newfunction",
    "qux",
    "sample",
    "samplefunction",
    "somefunction",
    "string",
    "stuff",
    "temp",
    "test",
    "testfunc",
    "testfunction",
    "testing",
    "testtool",
    "tmp",
    "tool",
    "toolname",
    "unnamed",
    "untitled",
    "x",
    "xxx",
    "yourfunction",
];

/// Returns true if a name means nothing, whatever its digits, underscores and case: `func1`, `test`.
pub fn is_meaningless(name: &str) -> bool {
    let letters: String = name.chars().filter(|c| c.is_alphabetic()).flat_map(char::to_lowercase).collect();
    letters.is_empty() || MEANINGLESS.binary_search(&letters.as_str()).is_ok()
}

/// Words that add nothing to a name.
const FILLERS: &[&str] = &[
    "a", "an", "api", "by", "for", "from", "function", "in", "is", "of", "that", "the", "this", "to", "tool",
];

fn repeats_name(signature: &Signature) -> bool {
    let name = words(&signature.name);
    let said = words(&signature.description);
    !said.is_empty() && said.iter().all(|word| name.contains(word) || FILLERS.contains(&word.as_str()))
}

/// Returns the lower-case words of a text; names are split at underscores, dots and capitals.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut cut = String::with_capacity(text.len());
    let mut before = ' ';
    for c in text.chars() {
        if before.is_lowercase() && c.is_uppercase() {
            cut.push(' ');
        }
        cut.push(if c == '_' || c == '.' { ' ' } else { c });
        before = c;
    }
    for_each_word(&cut, |token| words.push(token.to_owned()));
    words
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::signature::signatures;

    #[test]
    fn tables_can_be_searched() {
        assert!(PLACEHOLDERS.is_sorted() && MEANINGLESS.is_sorted());
    }

    #[test]
    fn no_rule_fires_on_the_quiet_example_of_another() {
        for rule in &RULES {
            let function: Value = serde_json::from_str(rule.quiet).unwrap();
            let found = fault(&signatures(&[function])[0], Limits::default());
            assert!(found.is_none(), "{}: {:?}", rule.code, found.map(|rule| rule.code));
        }
    }

    #[test]
    fn templates_are_distinguished_from_examples() {
        for template in ["{{ user }}", "${NAME}", "in {{'Korean' if x}}", "<% name %>"] {
            assert!(has_template(template), "{template}");
        }
        for text in ["{{}}", "{{\"a\": 1}}", "costs $5 {a}", "a {b} c", "`{{ \"k\": 2 }}`"] {
            assert!(!has_template(text), "{text}");
        }
    }
}
