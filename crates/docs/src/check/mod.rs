//! Reports the faults of functions in BFCL's format; changes nothing.
//!
//! `schema` validates against the JSON Schema; `values`, `members` and `names` check what a schema cannot express;
//! `rules` is the table of all findings with their level and source; `linter` judges as the official format script
//! does. Codes are those of `fix` where the fault is the same. `fix` judges a doc on its way into a dataset and leaves
//! harmless forms as they are; this module is strict, so it reports an integer as the default of a float. Faults of
//! questions and answers are found by the crate's `lint` module.

pub mod linter;
mod members;
mod names;
pub mod rules;
mod schema;
mod values;

use std::borrow::Cow;

use serde_json::Value;

use rules::Rule;

pub use schema::SCHEMA;

/// A fault at one place of the functions.
#[derive(Debug, Clone)]
pub struct Finding {
    /// The rule that reports it.
    pub rule: &'static Rule,
    /// The JSON pointer, from the list of functions on.
    pub at: String,
    /// The value at that place.
    pub found: Cow<'static, str>,
    /// The expected value.
    pub expected: Cow<'static, str>,
}

/// Returns all findings of a list of functions, in the order of functions.
///
/// They include rules that only count, see [`rules::Level::Fact`].
pub fn check(functions: &[Value]) -> Vec<Finding> {
    let mut findings = Findings::default();
    schema::check(functions, &mut findings);
    members::check(functions, &mut findings);
    values::check(functions, &mut findings);
    names::check(functions, &mut findings);
    let mut found = findings.found;
    found.sort_by_key(|finding| function_of(&finding.at));
    found
}

/// Returns the index of the function that a pointer leads into.
pub fn function_of(at: &str) -> Option<usize> {
    at.split('/').nth(1)?.parse().ok()
}

/// Collects the findings of all rules.
#[derive(Debug, Default)]
struct Findings {
    found: Vec<Finding>,
}

impl Findings {
    fn add(
        &mut self,
        code: &str,
        at: impl Into<String>,
        found: impl Into<Cow<'static, str>>,
        expected: impl Into<Cow<'static, str>>,
    ) {
        let rule =
            rules::of(code).expect("the code of every finding is in the table: the tests cover all of them");
        let (at, found, expected) = (at.into(), found.into(), expected.into());
        // Two keywords of the schema can report the same fault.
        if !self.found.iter().any(|earlier| earlier.rule.code == rule.code && earlier.at == at) {
            self.found.push(Finding { rule, at, found, expected });
        }
    }
}

#[cfg(test)]
mod tests;
